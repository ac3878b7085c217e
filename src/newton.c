#include "newton.h"

#include <float.h>
#include <math.h>

/* How far a Newton step is solved: loosely at first, then with the square of the
 * last improvement, never further than this. */
#define LOOSEST 0.02
#define TIGHTEST 1e-6
/* The same with incomplete factors, where products are few: a loose step leaves errors, often in
 * single places, that would cost more steps. */
#define LOOSEST_INCOMPLETE 1e-3
/* Flows below this share of a step's tolerance do not matter to it. */
#define SMALL_FLOW 0.01
/* Newton steps in a row that may fail to shrink the bound. */
#define MOST_WORSE 10

size_t ibrc_newton_doubles(int n) { return 4 * (size_t)n + ibrc_krylov_doubles(n); }

static void difference_range(const double *a, const double *b, int n, double *lo, double *hi) {
  double least = a[0] - b[0], most = least;
  for (int i = 1; i < n; i++) {
    double d = a[i] - b[i];
    if (d < least) least = d;
    if (d > most) most = d;
    /* NaN compares false: fold it in so that it is seen. */
    if (d != d) least = most = d;
  }
  *lo = least;
  *hi = most;
}

/* A step that would come close to the tolerance goes all the way: one more product costs less than
 * another step. */
static double step_tolerance(double bound, double last_bound, double tolerance, int incomplete) {
  const double ratio = last_bound > 0.0 ? bound / last_bound : 1.0;
  const double all_the_way = (incomplete ? 0.05 : 0.5) * tolerance / bound;
  double wanted = fmin(incomplete ? LOOSEST_INCOMPLETE : LOOSEST, 0.5 * ratio * ratio);
  if (wanted < 10.0 * all_the_way) wanted = all_the_way;
  return fmin(incomplete ? 0.01 : 0.3, fmax(TIGHTEST, wanted));
}

/* value += the Newton correction of residual (next - value). The middle of the
 * residual is a constant, whose correction is known. */
static int newton_step(const ibrc_newton *newton, ibrc_pause pause, const double *next, double lo,
                       double hi, double tolerance, double *residual, double *correction,
                       double *krylov, double *value) {
  const int n = newton->n;
  const double middle = (lo + hi) / 2.0, shift = middle / (1.0 - newton->discount);
  const ibrc_linear_system system = {.apply = newton->apply,
                                     .precondition = newton->precondition,
                                     .context = newton->context,
                                     .n = n,
                                     .pause = pause};
  newton->prepare(newton->context, SMALL_FLOW * tolerance);
  for (int i = 0; i < n; i++) residual[i] = next[i] - value[i] - middle;
  int products = ibrc_krylov_solve(&system, residual, tolerance, krylov, correction);
  for (int i = 0; i < n; i++) value[i] += correction[i] + shift;
  return products;
}

/* What rounding can add to values x + shift: an error of one backup, over all visits. */
static double rounding_of(const double *x, int n, double shift, double discount) {
  double most = 0.0;
  for (int i = 0; i < n; i++) {
    const double size = fabs(x[i] + shift);
    most = size > most ? size : most;
  }
  return DBL_EPSILON * most / (1.0 - discount);
}

static void copy(double *to, const double *from, int n) {
  for (int i = 0; i < n; i++) to[i] = from[i];
}

ibrc_solve_report ibrc_newton_solve(const ibrc_newton *newton, const ibrc_solve_options *options,
                                    double *scratch, double *value, double *shift) {
  const int n = newton->n;
  const double scale = newton->discount / (1.0 - newton->discount);
  double *next = scratch, *residual = next + n, *correction = residual + n;
  double *fallback = correction + n; /* B of the best value so far */
  double *krylov = fallback + n;

  ibrc_solve_report report = {.code = IBRC_OK, .bound = INFINITY};
  double best = INFINITY, last = 0.0;
  int plain_left = 0, patience = 4, worse = 0;

  for (;;) {
    double lo, hi;
    ibrc_ask(options->pause);
    newton->backup(newton->context, value, next);
    report.backups++;
    difference_range(next, value, n, &lo, &hi);
    const double middle = scale * (hi / 2.0 + lo / 2.0);
    const double rounding = rounding_of(next, n, middle, newton->discount);
    const double bound = scale * (hi / 2.0 - lo / 2.0) + rounding;
    if (!isfinite(bound) || !isfinite(middle)) {
      report.code = IBRC_NOT_FINITE;
      return report;
    }
    report.bound = bound;
    if (bound <= options->tolerance || (options->accept_rounding && bound <= 4.0 * rounding)) {
      *shift = middle;
      for (int i = 0; i < n; i++) value[i] = next[i] + *shift;
      return report;
    }
    /* Where rounding is all that is left, more backups will not help. */
    const int hopeless = rounding > options->tolerance && bound <= 4.0 * rounding;
    if (report.backups >= options->max_backups || hopeless) {
      report.code = IBRC_NOT_CONVERGED;
      report.bound = fmin(bound, best);
      return report;
    }
    if (bound < best) {
      best = bound;
      worse = 0;
      copy(fallback, next, n);
    } else if (plain_left == 0 && ++worse > MOST_WORSE) {
      worse = 0;
      copy(value, fallback, n);
      plain_left = patience;
      patience *= 2;
      last = 0.0;
      continue;
    }
    if (plain_left > 0) {
      plain_left--;
      copy(value, next, n);
      continue;
    }
    report.products += newton_step(newton, options->pause, next, lo, hi,
                                   step_tolerance(bound, last, options->tolerance, newton->incomplete),
                                   residual, correction, krylov, value);
    last = bound;
  }
}
