#ifndef IBRC_NUMERIC_H
#define IBRC_NUMERIC_H

#include <stddef.h>

/* Soft averages at a signed temperature t (paper: alpha and beta):
 *
 *   soft mean     t log sum_i w_i exp(x_i / t)
 *   soft weights  w_i exp(x_i / t) / sum_j w_j exp(x_j / t)
 *
 * for weights w >= 0 with sum 1. The limits are exact: t = +-Inf is the mean
 * under w, t = +0 the largest and t = -0 the smallest x with w > 0, ties shared
 * in proportion to w. */

typedef enum { IBRC_SOFT, IBRC_AVERAGE, IBRC_LARGEST, IBRC_SMALLEST } ibrc_softness;

typedef struct {
  ibrc_softness kind;
  double value;
  double inverse;
} ibrc_temperature;

/* Reads the sign of a zero. A value whose inverse overflows counts as that zero,
 * and one whose inverse loses digits as infinite. */
ibrc_temperature ibrc_temperature_from(double value);

/* Many soft means under one prior at one temperature, computed together. The i-th entry of the
 * g-th stands at x[i * stride + g], and so do the weights (not filled if NULL); one mean does not
 * depend on the others. */
void ibrc_soft_means(const double *x, size_t stride, const double *prior, int n, int count,
                     const ibrc_temperature *t, double *means, double *weights);

/* The same for several priors in turn. What they share, the exponentials, comes first: terms, for at
 * most so many means, under the prior `of`. A prior under which something else is possible has its
 * means worked out anew. Both ways do the same operations. */
#define IBRC_SOFT_AT_ONCE 64
size_t ibrc_soft_terms_doubles(int n);
void ibrc_soft_terms(const double *x, size_t stride, const double *of, int n, int count,
                     const ibrc_temperature *t, double *terms);
void ibrc_soft_means_by_terms(const double *terms, const double *of, const double *x, size_t stride,
                              const double *prior, int n, int count, const ibrc_temperature *t,
                              double *means, double *weights);

/* Returns one soft mean of n entries side by side; fills `weights` (n of them) unless it is NULL. */
double ibrc_soft_mean(const double *x, const double *prior, int n, const ibrc_temperature *t,
                      double *weights);

/* Kullback-Leibler divergence sum p log(p / q), 0 log 0 = 0, in nats. */
double ibrc_divergence(const double *p, const double *q, int n);

/* Inversion: the first category whose cumulated probability exceeds u, never one of
 * probability 0, and the last possible one if rounding leaves none. p need not sum to 1;
 * its entries stand `stride` apart. */
int ibrc_draw(const double *p, int stride, int n, double u);

#endif
