#include "krylov.h"

#include <math.h>

#include "threads.h"

#define BASIS IBRC_KRYLOV_BASIS

size_t ibrc_krylov_doubles(int n) { return (size_t)(BASIS + 2) * (size_t)n; }

/* Sums run in four lanes, so that additions need not wait for one another. */
static double dot(const double *a, const double *b, int n) {
  double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
  int i = 0;
  for (; i + 3 < n; i += 4) {
    s0 += a[i] * b[i];
    s1 += a[i + 1] * b[i + 1];
    s2 += a[i + 2] * b[i + 2];
    s3 += a[i + 3] * b[i + 3];
  }
  for (; i < n; i++) s0 += a[i] * b[i];
  return (s0 + s1) + (s2 + s3);
}

IBRC_WIDE
static void add_scaled(double *y, double scale, const double *x, int n) {
  IBRC_SIMD
  for (int i = 0; i < n; i++) y[i] += scale * x[i];
}

/* Takes out of x what lies along four orthonormal vectors: one pass measures, one
 * subtracts. */
IBRC_WIDE
static void remove_four(const double *q0, const double *q1, const double *q2, const double *q3,
                        int n, double *x, double *length) {
  double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
  for (int i = 0; i < n; i++) {
    const double xi = x[i];
    s0 += q0[i] * xi;
    s1 += q1[i] * xi;
    s2 += q2[i] * xi;
    s3 += q3[i] * xi;
  }
  IBRC_SIMD
  for (int i = 0; i < n; i++) {
    x[i] -= (s0 * q0[i] + s1 * q1[i]) + (s2 * q2[i] + s3 * q3[i]);
  }
  length[0] = s0;
  length[1] = s1;
  length[2] = s2;
  length[3] = s3;
}

/* Makes `next` orthogonal to the first `count` vectors of the basis. */
static void orthogonalise(const double *basis, int count, int n, double *next, double *column) {
  const size_t stride = (size_t)n;
  int k = 0;
  for (; k + 3 < count; k += 4) {
    const double *q = basis + (size_t)k * stride;
    remove_four(q, q + stride, q + 2 * stride, q + 3 * stride, n, next, column + k);
  }
  for (; k < count; k++) {
    const double *q = basis + (size_t)k * stride;
    column[k] = dot(next, q, n);
    add_scaled(next, -column[k], q, n);
  }
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
  double hessenberg[BASIS][BASIS + 1], cosine[BASIS], sine[BASIS], rhs[BASIS + 1], y[BASIS] = {0.0};

  for (int i = 0; i < n; i++) x[i] = 0.0;
  const double size = sqrt(dot(b, b, n));
  if (!(size > 0.0)) return 0;
  for (int i = 0; i < n; i++) basis[i] = b[i] / size;
  rhs[0] = size;

  int j = 0;
  while (j < BASIS) {
    const double *from = basis + (size_t)j * (size_t)n;
    double *next = basis + (size_t)(j + 1) * (size_t)n, *column = hessenberg[j];
    ibrc_ask(system->pause);
    if (system->precondition) {
      system->precondition(system->context, from, work);
      from = work;
    }
    system->apply(system->context, from, next);
    orthogonalise(basis, j + 1, n, next, column);
    double rest = sqrt(dot(next, next, n));
    column[j + 1] = rest;
    rotate(column, j, cosine, sine, rhs);
    j++;
    /* Nothing new in A's image: the answer is in the subspace. */
    if (fabs(rhs[j]) <= tolerance * size || !(rest > 0.0)) break;
    const double inverse = 1.0 / rest;
    for (int i = 0; i < n; i++) next[i] *= inverse;
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
