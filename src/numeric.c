#include "numeric.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "elementary.h"
#include "threads.h"
#include "wide.h"

/* Below this spread of exponents both series hold to the last bit; above it
 * the plain logarithm loses less than 1e-14 of the spread. */
#define SERIES_LIMIT 0.01
/* Below this one, the soft mean is the mean to the last bit. */
#define AVERAGE_LIMIT 1e-18
/* Only at a temperature as large as this can exponents lose their digits. */
#define LARGE_TEMPERATURE 1e100
/* Below this, exponentials are 0. */
#define LOWEST_EXPONENT (-760.0)
#define AT_ONCE IBRC_SOFT_AT_ONCE

ibrc_temperature ibrc_temperature_from(double value) {
  ibrc_temperature t = {.kind = IBRC_SOFT, .value = value, .inverse = 1.0 / value};
  if (isinf(value) || fabs(t.inverse) < DBL_MIN) {
    t.kind = IBRC_AVERAGE;
  } else if (isinf(t.inverse)) {
    t.kind = signbit(value) ? IBRC_SMALLEST : IBRC_LARGEST;
  }
  return t;
}

/* expm1(x) for |x| <= SERIES_LIMIT. */
static inline double expm1_series(double x) {
  return x * (1.0 +
              x / 2.0 *
                  (1.0 + x / 3.0 * (1.0 + x / 4.0 * (1.0 + x / 5.0 * (1.0 + x / 6.0)))));
}

/* log1p(x) for |x| <= SERIES_LIMIT. */
static inline double log1p_series(double x) {
  return x *
         (1.0 -
          x * (1.0 / 2 -
               x * (1.0 / 3 -
                    x * (1.0 / 4 -
                         x * (1.0 / 5 - x * (1.0 / 6 - x * (1.0 / 7 - x * (1.0 / 8))))))));
}

/* Limits, one at a time; entries stand `stride` apart. */

static double average(const double *x, const double *prior, int n, size_t stride, double *weights) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    const size_t at = (size_t)i * stride;
    if (prior[i] > 0.0) sum += prior[i] * x[at];
    if (weights) weights[at] = prior[i];
  }
  return sum;
}

/* The mean of what lies close to `from`. */
static double average_near(const double *x, const double *prior, int n, size_t stride, double from) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    if (prior[i] > 0.0) sum += prior[i] * (x[(size_t)i * stride] - from);
  }
  return from + sum;
}

static double find_extreme(const double *x, const double *prior, int n, size_t stride, int largest) {
  int first = 0;
  while (first < n - 1 && !(prior[first] > 0.0)) first++;
  double best = x[(size_t)first * stride];
  for (int i = first + 1; i < n; i++) {
    const double x_i = x[(size_t)i * stride];
    if (prior[i] > 0.0 && (largest ? x_i > best : x_i < best)) best = x_i;
  }
  return best;
}

static double extreme(const double *x, const double *prior, int n, size_t stride, double best,
                      double *weights) {
  double mass = 0.0;
  if (!weights) return best;
  for (int i = 0; i < n; i++) {
    const size_t at = (size_t)i * stride;
    weights[at] = x[at] == best ? prior[i] : 0.0;
    mass += weights[at];
  }
  for (int i = 0; i < n; i++) weights[(size_t)i * stride] /= mass;
  return best;
}

/* What the functions below share is part of each of their versions (IBRC_WIDE). */

IBRC_INLINE void find_best(const double *x, size_t stride, const double *prior, int n, int count,
                           int largest, double *best) {
  const double sign = largest ? 1.0 : -1.0;
  int first = 0;
  while (first < n - 1 && !(prior[first] > 0.0)) first++;
  for (int g = 0; g < count; g++) best[g] = x[(size_t)first * stride + (size_t)g];
  for (int i = first + 1; i < n; i++) {
    const double *x_i = x + (size_t)i * stride;
    if (!(prior[i] > 0.0)) continue;
    IBRC_SIMD
    for (int g = 0; g < count; g++) best[g] = sign * x_i[g] > sign * best[g] ? x_i[g] : best[g];
  }
}

/* Every exponent (x - best) / t is <= 0, so nothing overflows. */
IBRC_INLINE void scale(const double *x, const double *best, double inverse, int count,
                       double *exponent) {
  IBRC_SIMD
  for (int g = 0; g < count; g++) {
    const double scaled = (x[g] - best[g]) * inverse;
    exponent[g] = scaled < LOWEST_EXPONENT ? LOWEST_EXPONENT : scaled; /* NaN stays */
  }
}

/* What soft means add up before they take the logarithm. Where all exponents are close to 0 (a
 * temperature large beside the spread of x), the sum counts as its small difference from 1, so
 * that t log(sum) keeps its precision. */
typedef struct {
  double sum[AT_ONCE];      /* sum_i w_i exp((x_i - best) / t) */
  double less_one[AT_ONCE]; /* the same less 1, with all its digits */
} soft_sums;

IBRC_INLINE void finish(const double *x, size_t stride, const double *prior, int n, int count,
                        const ibrc_temperature *t, const double *best, const soft_sums *sums,
                        double *means, double *weights) {
  const double temperature = t->value;
  IBRC_SIMD
  for (int g = 0; g < count; g++) {
    means[g] = best[g] + temperature * ibrc_log(sums->sum[g], sums->less_one[g]);
  }
  for (int g = 0; fabs(temperature) > LARGE_TEMPERATURE && g < count; g++) {
    if (sums->less_one[g] > -AVERAGE_LIMIT) means[g] = average_near(x + g, prior, n, stride, best[g]);
  }
  for (int i = 0; weights && i < n; i++) {
    double *weight = weights + (size_t)i * stride;
    IBRC_SIMD
    for (int g = 0; g < count; g++) weight[g] /= sums->sum[g];
  }
}

IBRC_WIDE
static void soft_block(const double *x, size_t stride, const double *prior, int n, int count,
                       const ibrc_temperature *t, double *means, double *weights) {
  double best[AT_ONCE], exponent[AT_ONCE], unwanted[AT_ONCE];
  soft_sums sums;

  find_best(x, stride, prior, n, count, t->inverse > 0.0, best);
  for (int g = 0; g < count; g++) sums.sum[g] = sums.less_one[g] = 0.0;
  for (int i = 0; i < n; i++) {
    const size_t at = (size_t)i * stride;
    const double prior_i = prior[i];
    double *terms = weights ? weights + at : unwanted;
    if (!(prior_i > 0.0)) {
      for (int g = 0; g < count; g++) terms[g] = 0.0;
      continue;
    }
    scale(x + at, best, t->inverse, count, exponent);
    IBRC_SIMD
    for (int g = 0; g < count; g++) {
      const ibrc_exponential e = ibrc_exp(exponent[g]);
      terms[g] = prior_i * e.value;
      sums.sum[g] += prior_i * e.value;
      sums.less_one[g] += prior_i * e.less_one;
    }
  }
  finish(x, stride, prior, n, count, t, best, &sums, means, weights);
}

/* The same in two parts, of which the first is done once for several priors. Its terms: best [g],
 * exp((x_i - best) / t) [i][g], and those less 1 [i][g]. */
IBRC_WIDE
static void fill_terms(const double *x, size_t stride, const double *prior, int n, int count,
                       const ibrc_temperature *t, double *terms) {
  double exponent[AT_ONCE], *best = terms;
  find_best(x, stride, prior, n, count, t->inverse > 0.0, best);
  for (int i = 0; i < n; i++) {
    double *value = terms + (1 + (size_t)i) * AT_ONCE, *less_one = value + (size_t)n * AT_ONCE;
    if (!(prior[i] > 0.0)) continue;
    scale(x + (size_t)i * stride, best, t->inverse, count, exponent);
    IBRC_SIMD
    for (int g = 0; g < count; g++) {
      const ibrc_exponential e = ibrc_exp(exponent[g]);
      value[g] = e.value;
      less_one[g] = e.less_one;
    }
  }
}

IBRC_WIDE
static void weigh_terms(const double *terms, const double *x, size_t stride, const double *prior,
                        int n, int count, const ibrc_temperature *t, double *means,
                        double *weights) {
  double unwanted[AT_ONCE];
  soft_sums sums;
  for (int g = 0; g < count; g++) sums.sum[g] = sums.less_one[g] = 0.0;
  for (int i = 0; i < n; i++) {
    const double *value = terms + (1 + (size_t)i) * AT_ONCE, *less_one = value + (size_t)n * AT_ONCE;
    const double prior_i = prior[i];
    double *weighed = weights ? weights + (size_t)i * stride : unwanted;
    if (!(prior_i > 0.0)) {
      for (int g = 0; g < count; g++) weighed[g] = 0.0;
      continue;
    }
    IBRC_SIMD
    for (int g = 0; g < count; g++) {
      weighed[g] = prior_i * value[g];
      sums.sum[g] += prior_i * value[g];
      sums.less_one[g] += prior_i * less_one[g];
    }
  }
  finish(x, stride, prior, n, count, t, terms, &sums, means, weights);
}

size_t ibrc_soft_terms_doubles(int n) { return (1 + 2 * (size_t)n) * AT_ONCE; }

void ibrc_soft_terms(const double *x, size_t stride, const double *prior, int n, int count,
                     const ibrc_temperature *t, double *terms) {
  if (t->kind == IBRC_SOFT) fill_terms(x, stride, prior, n, count, t, terms);
}

/* Is the same possible under both? */
static int shares_support(const double *prior, const double *other, int n) {
  int same = 1;
  for (int i = 0; i < n; i++) same &= (prior[i] > 0.0) == (other[i] > 0.0);
  return same;
}

void ibrc_soft_means_by_terms(const double *terms, const double *of, const double *x, size_t stride,
                              const double *prior, int n, int count, const ibrc_temperature *t,
                              double *means, double *weights) {
  if (t->kind == IBRC_SOFT && shares_support(prior, of, n)) {
    weigh_terms(terms, x, stride, prior, n, count, t, means, weights);
  } else {
    ibrc_soft_means(x, stride, prior, n, count, t, means, weights);
  }
}

void ibrc_soft_means(const double *x, size_t stride, const double *prior, int n, int count,
                     const ibrc_temperature *t, double *means, double *weights) {
  const int soft = t->kind == IBRC_SOFT, at_once = soft ? AT_ONCE : 1;
  for (int g = 0; g < count; g += at_once) {
    const double *x_g = x + g;
    double *weights_g = weights ? weights + g : NULL;
    if (soft) {
      const int some = count - g < at_once ? count - g : at_once;
      soft_block(x_g, stride, prior, n, some, t, means + g, weights_g);
    } else if (t->kind == IBRC_AVERAGE) {
      means[g] = average(x_g, prior, n, stride, weights_g);
    } else {
      const double best = find_extreme(x_g, prior, n, stride, t->kind == IBRC_LARGEST);
      means[g] = extreme(x_g, prior, n, stride, best, weights_g);
    }
  }
}

/* The functions of the library are the faster ones for a single mean; its precision close to an
 * average comes from series. */
double ibrc_soft_mean(const double *x, const double *prior, int n, const ibrc_temperature *t,
                      double *weights) {
  if (t->kind == IBRC_AVERAGE) return average(x, prior, n, 1, weights);
  const double largest = find_extreme(x, prior, n, 1, 1);
  if (t->kind == IBRC_LARGEST) return extreme(x, prior, n, 1, largest, weights);
  const double smallest = find_extreme(x, prior, n, 1, 0);
  if (t->kind == IBRC_SMALLEST) return extreme(x, prior, n, 1, smallest, weights);

  const double inverse = t->inverse;
  const double best = inverse > 0.0 ? largest : smallest;
  const double spread = (largest - smallest) * fabs(inverse);
  /* Exponents that small may have lost their digits. */
  if (spread <= AVERAGE_LIMIT) {
    if (weights) memcpy(weights, prior, (size_t)n * sizeof(double));
    return average_near(x, prior, n, 1, best);
  }

  if (spread <= SERIES_LIMIT) {
    double excess = 0.0;
    for (int i = 0; i < n; i++) {
      if (!(prior[i] > 0.0)) {
        if (weights) weights[i] = 0.0;
        continue;
      }
      double e = expm1_series((x[i] - best) * inverse);
      excess += prior[i] * e;
      if (weights) weights[i] = prior[i] * (1.0 + e);
    }
    if (weights) {
      for (int i = 0; i < n; i++) weights[i] /= 1.0 + excess;
    }
    return best + t->value * log1p_series(excess);
  }

  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    double term = 0.0;
    if (prior[i] > 0.0) {
      term = x[i] == best ? prior[i] : prior[i] * exp((x[i] - best) * inverse);
    }
    sum += term;
    if (weights) weights[i] = term;
  }
  if (weights) {
    for (int i = 0; i < n; i++) weights[i] /= sum;
  }
  return best + t->value * log(sum);
}

/* (1 + t) log(1 + t) - t >= 0 for t >= -1, to full relative precision near 0. */
static double excess_log(double t) {
  if (fabs(t) > SERIES_LIMIT) return t > -1.0 ? (1.0 + t) * log1p(t) - t : 1.0;
  return t * t *
         (1.0 / 2 -
          t * (1.0 / 6 -
               t * (1.0 / 12 -
                    t * (1.0 / 20 - t * (1.0 / 30 - t * (1.0 / 42 - t * (1.0 / 56)))))));
}

/* sum q ((1 + t) log(1 + t) - t) with t = p / q - 1: the same sum for p and q of
 * equal mass, and no term below 0. A price of 1e12 then multiplies a divergence
 * of 1e-24 that is right, not one of 1e-16 that is rounding. */
double ibrc_divergence(const double *p, const double *q, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    if (q[i] > 0.0) {
      sum += q[i] * excess_log((p[i] - q[i]) / q[i]);
    } else if (p[i] > 0.0) {
      return INFINITY;
    }
  }
  return sum;
}

int ibrc_draw(const double *p, int stride, int n, double u) {
  const double *at = p;
  double total = 0.0, sum = 0.0;
  int last = 0;
  for (int i = 0; i < n; i++, at += stride) total += *at;
  at = p;
  for (int i = 0; i < n; i++, at += stride) {
    if (!(*at > 0.0)) continue;
    sum += *at;
    last = i;
    if (sum > u * total) break;
  }
  return last;
}
