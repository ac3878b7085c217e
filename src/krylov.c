#include "krylov.h"

#include <math.h>

#define BASIS IBRC_KRYLOV_BASIS

size_t ibrc_krylov_reals(int n) { return (size_t)(BASIS + 2) * (size_t)n; }

static double dot(const double *a, const double *b, int n) {
  double even = 0.0, odd = 0.0;
  int i = 0;
  for (; i + 1 < n; i += 2) {
    even += a[i] * b[i];
    odd += a[i + 1] * b[i + 1];
  }
  if (i < n) even += a[i] * b[i];
  return even + odd;
}

static void add_scaled(double *y, double scale, const double *x, int n) {
  for (int i = 0; i < n; i++) y[i] += scale * x[i];
}

/* Brings column j of the Hessenberg matrix into triangular form by the rotations
 * found so far and one more, and carries the right-hand side along. */
static void rotate(double column[BASIS + 1], int j, double *cosine, double *sine, double *rhs) {
  for (int k = 0; k < j; k++) {
    double upper = cosine[k] * column[k] + sine[k] * column[k + 1];
    column[k + 1] = cosine[k] * column[k + 1] - sine[k] * column[k];
    column[k] = upper;
  }
  double length = hypot(column[j], column[j + 1]);
  cosine[j] = length > 0.0 ? column[j] / length : 1.0;
  sine[j] = length > 0.0 ? column[j + 1] / length : 0.0;
  column[j] = length;
  rhs[j + 1] = -sine[j] * rhs[j];
  rhs[j] *= cosine[j];
}

int ibrc_krylov_solve(const ibrc_linear_system *system, const double *b, double tolerance,
                      double *scratch, double *x) {
  const int n = system->n;
  double *basis = scratch, *work = scratch + (size_t)(BASIS + 1) * (size_t)n;
  double hessenberg[BASIS][BASIS + 1], cosine[BASIS], sine[BASIS], rhs[BASIS + 1], y[BASIS];

  for (int i = 0; i < n; i++) x[i] = 0.0;
  const double size = sqrt(dot(b, b, n));
  if (!(size > 0.0)) return 0;
  for (int i = 0; i < n; i++) basis[i] = b[i] / size;
  rhs[0] = size;

  int j = 0;
  while (j < BASIS) {
    const double *from = basis + (size_t)j * (size_t)n;
    double *next = basis + (size_t)(j + 1) * (size_t)n, *column = hessenberg[j];
    if (system->precondition) {
      system->precondition(system->context, from, work);
      from = work;
    }
    system->apply(system->context, from, next);
    for (int k = 0; k <= j; k++) {
      const double *q = basis + (size_t)k * (size_t)n;
      column[k] = dot(next, q, n);
      add_scaled(next, -column[k], q, n);
    }
    double rest = sqrt(dot(next, next, n));
    column[j + 1] = rest;
    rotate(column, j, cosine, sine, rhs);
    j++;
    /* Nothing new in A's image: the answer is in the subspace. */
    if (fabs(rhs[j]) <= tolerance * size || !(rest > 0.0)) break;
    for (int i = 0; i < n; i++) next[i] /= rest;
  }

  for (int k = j - 1; k >= 0; k--) {
    double sum = rhs[k];
    for (int i = k + 1; i < j; i++) sum -= hessenberg[i][k] * y[i];
    y[k] = hessenberg[k][k] != 0.0 ? sum / hessenberg[k][k] : 0.0;
  }
  double *combined = system->precondition ? work : x;
  for (int i = 0; i < n; i++) combined[i] = 0.0;
  for (int k = 0; k < j; k++) add_scaled(combined, y[k], basis + (size_t)k * (size_t)n, n);
  if (system->precondition) system->precondition(system->context, work, x);
  return j;
}
