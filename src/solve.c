#include "solve.h"

#include <float.h>
#include <math.h>

#include "incomplete.h"
#include "krylov.h"

/* How far a Newton step is solved: loosely at first, then with the square of the
 * last improvement, never further than this. */
#define LOOSEST 0.02
#define TIGHTEST 1e-6
/* The same behind incomplete factors, where products are few: what a loose step leaves, often in
 * single places, would cost more steps. */
#define LOOSEST_INCOMPLETE 1e-3
/* Flows below this share of how far a step is solved do not matter to it. */
#define SMALL_FLOW 0.01
/* Newton steps in a row that may fail to shrink the bound. */
#define MOST_WORSE 10

/* next = B value; leaves the policies where the process looks for them. */
typedef void (*backup_step)(const void *context, const double *value, double *next);

typedef struct {
  const ibrc_process *process;
  const ibrc_coarse *coarse;
  ibrc_slope slope;
  double *factors, *work;
  int near; /* 1: many states are seen, and next ones lie near by */
  ibrc_incomplete incomplete;
  ibrc_pause pause;
} newton_context;

static void apply_slope(const void *context, const double *x, double *y) {
  ibrc_slope_apply(&((const newton_context *)context)->slope, x, y);
}

static void apply_coarse(const void *context, const double *x, double *y) {
  const newton_context *c = context;
  ibrc_coarse_correct(c->coarse, &c->slope, c->factors, x, c->work, y);
}

static void apply_written(const void *context, const double *x, double *y) {
  ibrc_incomplete_apply(&((const newton_context *)context)->incomplete, x, y);
}

static void apply_incomplete(const void *context, const double *x, double *y) {
  ibrc_incomplete_solve(&((const newton_context *)context)->incomplete, x, y);
}

static int is_near(const ibrc_table *table, const ibrc_coarse *coarse) {
  return coarse->seen && ibrc_incomplete_fits(table);
}

size_t ibrc_solve_doubles(const ibrc_table *table, const ibrc_coarse *coarse, int n_threads) {
  size_t n = (size_t)table->n_nodes, N = (size_t)coarse->n_coarse;
  return 4 * n + ibrc_krylov_doubles(table->n_nodes) + N * N + N + ibrc_slope_doubles(table) +
         (size_t)n_threads * ibrc_backup_doubles(table) +
         (is_near(table, coarse) ? ibrc_incomplete_doubles(table) : 0);
}

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

/* A step that would come close to the tolerance goes all the way: one product
 * more is less than another step. */
static double step_tolerance(double bound, double last_bound, double tolerance, int incomplete) {
  const double ratio = last_bound > 0.0 ? bound / last_bound : 1.0;
  const double all_the_way = (incomplete ? 0.05 : 0.5) * tolerance / bound;
  double wanted = fmin(incomplete ? LOOSEST_INCOMPLETE : LOOSEST, 0.5 * ratio * ratio);
  if (wanted < 10.0 * all_the_way) wanted = all_the_way;
  return fmin(incomplete ? 0.01 : 0.3, fmax(TIGHTEST, wanted));
}

/* value += the Newton correction of residual (next - value). The middle of the
 * residual is a constant, whose correction is known. */
static int newton_step(newton_context *context, const double *next, double lo, double hi,
                       double tolerance, double *residual, double *correction, double *krylov,
                       double *value) {
  const int n = context->process->table->n_nodes;
  const double middle = (lo + hi) / 2.0, shift = middle / (1.0 - context->process->discount);
  ibrc_linear_system system = {
      .apply = apply_slope, .context = context, .n = n, .pause = context->pause};
  ibrc_slope_fill(context->process, SMALL_FLOW * tolerance, &context->slope);
  if (context->coarse->n_coarse > 0) {
    ibrc_coarse_factor(context->coarse, &context->slope, context->factors);
    system.precondition = apply_coarse;
  }
  if (context->near) {
    ibrc_incomplete_fill(&context->slope, &context->incomplete);
    system.apply = apply_written;
    system.precondition = apply_incomplete;
  }
  for (int i = 0; i < n; i++) residual[i] = next[i] - value[i] - middle;
  int products = ibrc_krylov_solve(&system, residual, tolerance, krylov, correction);
  for (int i = 0; i < n; i++) value[i] += correction[i] + shift;
  return products;
}

/* What rounding can add to values x + shift: an error of one backup, over all visits. */
static double rounding_of(const double *x, int n, double shift, double discount) {
  double most = 0.0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i] + shift));
  return DBL_EPSILON * most / (1.0 - discount);
}

static void copy(double *to, const double *from, int n) {
  for (int i = 0; i < n; i++) to[i] = from[i];
}

static ibrc_solve_report solve(backup_step step, const void *step_context,
                               const ibrc_process *process, const ibrc_coarse *coarse,
                               const ibrc_solve_options *options, double *scratch, double *value,
                               double *shift) {
  const int n = process->table->n_nodes;
  const size_t N = (size_t)coarse->n_coarse;
  const double scale = process->discount / (1.0 - process->discount);
  double *next = scratch, *residual = next + n, *correction = residual + n;
  double *fallback = correction + n; /* B of the best value so far */
  double *krylov = fallback + n, *factors = krylov + ibrc_krylov_doubles(n), *work = factors + N * N;
  newton_context newton = {.process = process,
                           .coarse = coarse,
                           .slope = ibrc_slope_over(process->table, process->n_threads, work + N),
                           .factors = factors,
                           .work = work,
                           .near = is_near(process->table, coarse),
                           .pause = options->pause};
  if (newton.near) {
    newton.incomplete =
        ibrc_incomplete_over(process->table, work + N + ibrc_slope_doubles(process->table));
  }

  ibrc_solve_report report = {.code = IBRC_OK, .bound = INFINITY};
  double best = INFINITY, last = 0.0;
  int plain_left = 0, patience = 4, worse = 0;

  for (;;) {
    double lo, hi;
    ibrc_ask(options->pause);
    step(step_context, value, next);
    report.backups++;
    difference_range(next, value, n, &lo, &hi);
    const double middle = scale * (hi / 2.0 + lo / 2.0);
    const double rounding = rounding_of(next, n, middle, process->discount);
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
    report.products += newton_step(&newton, next, lo, hi,
                                   step_tolerance(bound, last, options->tolerance, newton.near),
                                   residual, correction, krylov, value);
    last = bound;
  }
}

typedef struct {
  const ibrc_table *table;
  const ibrc_problem *problem;
  const ibrc_backup_result *out;
  double *scratch;
  int n_threads;
} optimum_context;

static void optimum_step(const void *context, const double *value, double *next) {
  const optimum_context *c = context;
  ibrc_backup_result out = *c->out;
  out.value = next;
  ibrc_backup(c->table, c->problem, value, c->n_threads, c->scratch, &out);
}

/* Adds `shift` to all of x: are they finite still? */
static int move_all(double *x, size_t n, double shift) {
  int finite = 1;
  for (size_t i = 0; i < n; i++) {
    x[i] += shift;
    finite &= isfinite(x[i]) != 0;
  }
  return finite;
}

ibrc_solve_report ibrc_solve_optimum(const ibrc_table *table, const ibrc_coarse *coarse,
                                     const ibrc_problem *problem, const ibrc_solve_options *options,
                                     int n_threads, double *scratch,
                                     const ibrc_backup_result *out) {
  const ibrc_process process = {.table = table,
                                .policy = out->policy,
                                .sigma = out->sigma,
                                .discount = problem->discount,
                                .n_threads = n_threads};
  const optimum_context context = {
      .table = table, .problem = problem, .out = out, .scratch = scratch, .n_threads = n_threads};
  double shift = 0.0;
  ibrc_solve_report report =
      solve(optimum_step, &context, &process, coarse, options,
            scratch + (size_t)n_threads * ibrc_backup_doubles(table), out->value, &shift);
  /* The last backup was of values lower by shift / gamma: Q and K move along. */
  const size_t cells = (size_t)table->n_nodes * (size_t)table->n_actions;
  const size_t rows = ibrc_table_rows(table);
  const int actions = move_all(out->action_value, cells, shift);
  const int models = move_all(out->model_value, rows, shift);
  /* A value can be finite where an action or a model that it passes over is not. */
  if (!(actions && models) && report.code == IBRC_OK) report.code = IBRC_NOT_FINITE;
  return report;
}

typedef struct {
  const ibrc_process *process;
  const double *gain;
} policy_context;

static void policy_step(const void *context, const double *value, double *next) {
  const policy_context *c = context;
  ibrc_process_expect(c->process, value, next);
  for (int i = 0; i < c->process->table->n_nodes; i++) {
    next[i] = c->gain[i] + c->process->discount * next[i];
  }
}

ibrc_solve_report ibrc_solve_policy(const ibrc_process *process, const ibrc_coarse *coarse,
                                    const double *gain, const ibrc_solve_options *options,
                                    double *scratch, double *value) {
  const policy_context context = {process, gain};
  double shift = 0.0;
  return solve(policy_step, &context, process, coarse, options, scratch, value, &shift);
}
