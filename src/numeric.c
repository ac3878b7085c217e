#include "numeric.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

/* Below this spread of exponents both series hold to the last bit; above it
 * the plain logarithm loses less than 1e-14 of the spread. */
#define SERIES_LIMIT 0.01
/* Below this one, the soft mean is the mean to the last bit. */
#define AVERAGE_LIMIT 1e-18

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

static double average(const double *x, const double *prior, int n, double *weights) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    if (prior[i] > 0.0) sum += prior[i] * x[i];
    if (weights) weights[i] = prior[i];
  }
  return sum;
}

/* The mean of what lies close to `from`. */
static double average_near(const double *x, const double *prior, int n, double from,
                           double *weights) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    if (prior[i] > 0.0) sum += prior[i] * (x[i] - from);
    if (weights) weights[i] = prior[i];
  }
  return from + sum;
}

static double extreme(const double *x, const double *prior, int n, double best, double *weights) {
  if (weights) {
    double mass = 0.0;
    for (int i = 0; i < n; i++) {
      weights[i] = x[i] == best ? prior[i] : 0.0;
      mass += weights[i];
    }
    for (int i = 0; i < n; i++) weights[i] /= mass;
  }
  return best;
}

/* Every exponent (x - best) / t is <= 0, so nothing overflows. Where all are
 * close to 0 (a temperature large beside the spread of x), the sum is formed
 * as its small difference from 1, so that t log(sum) keeps its precision. */
double ibrc_soft_mean(const double *x, const double *prior, int n, const ibrc_temperature *t,
                      double *weights) {
  if (t->kind == IBRC_AVERAGE) return average(x, prior, n, weights);

  int first = 0;
  while (first < n - 1 && !(prior[first] > 0.0)) first++;
  double largest = x[first], smallest = x[first];
  for (int i = first + 1; i < n; i++) {
    if (!(prior[i] > 0.0)) continue;
    if (x[i] > largest) largest = x[i];
    if (x[i] < smallest) smallest = x[i];
  }
  if (t->kind == IBRC_LARGEST) return extreme(x, prior, n, largest, weights);
  if (t->kind == IBRC_SMALLEST) return extreme(x, prior, n, smallest, weights);

  const double inverse = t->inverse;
  const double best = inverse > 0.0 ? largest : smallest;
  const double spread = (largest - smallest) * fabs(inverse);
  /* Exponents that small may have lost their digits. */
  if (spread <= AVERAGE_LIMIT) return average_near(x, prior, n, best, weights);

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
