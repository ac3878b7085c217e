#include "cell.h"

#include <math.h>

#include "elementary.h"
#include "threads.h"

/* Each loop is written once and compiled for all ways. */

#ifdef IBRC_HAS_WAYS
#define ALL_WAYS(kind, name, parameters, arguments)                               \
  static void name##_plain parameters { name##_loop arguments; }                  \
  IBRC_FOR_AVX2 static void name##_avx2 parameters { name##_loop arguments; }     \
  IBRC_FOR_AVX512 static void name##_avx512 parameters { name##_loop arguments; } \
  kind ibrc_##name(ibrc_way way, UNPACK parameters) {                             \
    if (way == IBRC_AVX512) {                                                     \
      name##_avx512 arguments;                                                    \
    } else if (way == IBRC_AVX2) {                                                \
      name##_avx2 arguments;                                                      \
    } else {                                                                      \
      name##_plain arguments;                                                     \
    }                                                                             \
  }
#else
#define ALL_WAYS(kind, name, parameters, arguments)   \
  kind ibrc_##name(ibrc_way way, UNPACK parameters) { \
    (void)way;                                        \
    name##_loop arguments;                            \
  }
#endif
#define UNPACK(...) __VA_ARGS__

IBRC_INLINE void add_loop(double *restrict to, const double *restrict from, size_t n) {
  IBRC_SIMD
  for (size_t k = 0; k < n; k++) to[k] += from[k];
}
ALL_WAYS(void, add, (double *to, const double *from, size_t n), (to, from, n))

IBRC_INLINE void sum_four_loop(double *restrict to, const double *a, const double *b,
                              const double *c, const double *d, size_t n) {
  IBRC_SIMD
  for (size_t k = 0; k < n; k++) to[k] = (a[k] + b[k]) + (c[k] + d[k]);
}
ALL_WAYS(void, sum_four,
         (double *to, const double *a, const double *b, const double *c, const double *d, size_t n),
         (to, a, b, c, d, n))

/* Two of them may be the same row. */
IBRC_INLINE void add_to_four_loop(double *a, double *b, double *c, double *d,
                                 const double *restrict from, size_t n) {
  IBRC_SIMD
  for (size_t k = 0; k < n; k++) {
    a[k] += from[k];
    b[k] += from[k];
    c[k] += from[k];
    d[k] += from[k];
  }
}
ALL_WAYS(void, add_to_four,
         (double *a, double *b, double *c, double *d, const double *from, size_t n),
         (a, b, c, d, from, n))

/* Into the range of elementary.h; NaN stays. */
IBRC_INLINE void bound_loop(double *x, size_t n, double most) {
  IBRC_SIMD
  for (size_t k = 0; k < n; k++) {
    const double low = x[k] < -most ? -most : x[k];
    x[k] = low > most ? most : low;
  }
}

IBRC_INLINE void logistic_each_loop(double *x, size_t n) {
  bound_loop(x, n, 700.0);
  IBRC_SIMD
  for (size_t k = 0; k < n; k++) x[k] = ibrc_logistic(x[k]);
}
ALL_WAYS(void, logistic_each, (double *x, size_t n), (x, n))

IBRC_INLINE void tanh_each_loop(double *x, size_t n) {
  bound_loop(x, n, 350.0);
  IBRC_SIMD
  for (size_t k = 0; k < n; k++) x[k] = ibrc_tanh(x[k]);
}
ALL_WAYS(void, tanh_each, (double *x, size_t n), (x, n))

IBRC_INLINE void tanh_back_loop(double *restrict d, const double *restrict bent, size_t n) {
  IBRC_SIMD
  for (size_t k = 0; k < n; k++) d[k] *= 1.0 - bent[k] * bent[k];
}
ALL_WAYS(void, tanh_back, (double *d, const double *bent, size_t n), (d, bent, n))

IBRC_INLINE void renew_loop(int n, const double *gates, const double *before, double *restrict cell,
                           double *restrict bent) {
  const double *i = gates, *f = i + n, *g = f + n;
  IBRC_SIMD
  for (int k = 0; k < n; k++) bent[k] = cell[k] = f[k] * before[k] + i[k] * g[k];
}
ALL_WAYS(static void, renew,
         (int n, const double *gates, const double *before, double *cell, double *bent),
         (n, gates, before, cell, bent))

IBRC_INLINE void let_out_loop(int n, const double *o, const double *bent, double *restrict hidden) {
  IBRC_SIMD
  for (int k = 0; k < n; k++) hidden[k] = o[k] * bent[k];
}
ALL_WAYS(static void, let_out, (int n, const double *o, const double *bent, double *hidden),
         (n, o, bent, hidden))

void ibrc_cell_forward(ibrc_way way, int n, double *gates, const double *cell_before, double *cell,
                      double *bent, double *hidden) {
  const size_t units = (size_t)n;
  double *g = gates + 2 * units, *o = g + units;
  ibrc_logistic_each(way, gates, 2 * units);
  ibrc_tanh_each(way, g, units);
  ibrc_logistic_each(way, o, units);
  ibrc_renew(way, n, gates, cell_before, cell, bent);
  ibrc_tanh_each(way, bent, units);
  ibrc_let_out(way, n, o, bent, hidden);
}

IBRC_INLINE void cell_backward_loop(int n, double *gates, const double *restrict before,
                                   const double *restrict bent, const double *restrict d_hidden,
                                   const double *restrict d_cell, double *restrict d_before) {
  double *restrict i = gates, *restrict f = i + n, *restrict g = f + n, *restrict o = g + n;
  IBRC_SIMD
  for (int k = 0; k < n; k++) {
    const double at = d_cell[k] + d_hidden[k] * o[k] * (1.0 - bent[k] * bent[k]);
    const double in = i[k], keep = f[k], add = g[k], out = o[k];
    o[k] = d_hidden[k] * bent[k] * out * (1.0 - out);
    i[k] = at * add * in * (1.0 - in);
    f[k] = at * before[k] * keep * (1.0 - keep);
    g[k] = at * in * (1.0 - add * add);
    d_before[k] += at * keep;
  }
}
ALL_WAYS(void, cell_backward,
         (int n, double *gates, const double *cell_before, const double *bent,
          const double *d_hidden, const double *d_cell, double *d_before),
         (n, gates, cell_before, bent, d_hidden, d_cell, d_before))

IBRC_INLINE void adam_loop(size_t n, double *restrict weights, double *restrict first,
                           double *restrict second, double *restrict gradient, double scale,
                           double rate, double step) {
  const double keep = 0.9, keep_square = 0.999, least = 1e-8;
  const double by = rate / (1.0 - pow(keep, step)), by_square = 1.0 / (1.0 - pow(keep_square, step));
  IBRC_SIMD
  for (size_t k = 0; k < n; k++) gradient[k] *= scale;
  bound_loop(gradient, n, 1e150); /* its square is finite */
  IBRC_SIMD
  for (size_t k = 0; k < n; k++) {
    const double g = gradient[k];
    first[k] = keep * first[k] + (1.0 - keep) * g;
    second[k] = keep_square * second[k] + (1.0 - keep_square) * g * g;
    weights[k] -= by * first[k] / (ibrc_root(second[k] * by_square) + least);
  }
}
ALL_WAYS(void, adam,
         (size_t n, double *weights, double *first, double *second, double *gradient, double scale,
          double rate, double step),
         (n, weights, first, second, gradient, scale, rate, step))
