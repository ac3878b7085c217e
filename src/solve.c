#include "solve.h"

#include <math.h>

#include "habit_slope.h"
#include "incomplete.h"

/* What the slope of a backup is made of, at policies that the backup left. */
typedef struct {
  const ibrc_process *process;
  const ibrc_coarse *coarse;
  const void *backup; /* the context of the backup itself */
  ibrc_slope slope;
  double *factors, *work;
  int near; /* 1: many states are seen, and next ones lie nearby */
  ibrc_incomplete incomplete;
} slope_context;

static void apply_slope(const void *context, const double *x, double *y) {
  ibrc_slope_apply(&((const slope_context *)context)->slope, x, y);
}

static void apply_coarse(const void *context, const double *x, double *y) {
  const slope_context *c = context;
  ibrc_coarse_correct(c->coarse, &c->slope, c->factors, x, c->work, y);
}

static void apply_written(const void *context, const double *x, double *y) {
  ibrc_incomplete_apply(&((const slope_context *)context)->incomplete, x, y);
}

static void apply_incomplete(const void *context, const double *x, double *y) {
  ibrc_incomplete_solve(&((const slope_context *)context)->incomplete, x, y);
}

static void prepare_slope(void *context, double least) {
  slope_context *c = context;
  ibrc_slope_fill(c->process, least, &c->slope);
  if (c->coarse->n_coarse > 0) ibrc_coarse_factor(c->coarse, &c->slope, c->factors);
  if (c->near) ibrc_incomplete_fill(&c->slope, &c->incomplete);
}

static int is_near(const ibrc_table *table, const ibrc_coarse *coarse) {
  return coarse->seen && ibrc_incomplete_fits(table);
}

static size_t slope_doubles(const ibrc_table *table, const ibrc_coarse *coarse) {
  const size_t N = (size_t)coarse->n_coarse;
  return N * N + N + ibrc_slope_doubles(table) +
         (is_near(table, coarse) ? ibrc_incomplete_doubles(table) : 0);
}

static slope_context slope_over(const ibrc_process *process, const ibrc_coarse *coarse,
                                const void *backup, double *scratch) {
  const size_t N = (size_t)coarse->n_coarse;
  double *work = scratch + N * N;
  slope_context context = {.process = process,
                           .coarse = coarse,
                           .backup = backup,
                           .slope = ibrc_slope_over(process->table, process->n_threads, work + N),
                           .factors = scratch,
                           .work = work,
                           .near = is_near(process->table, coarse)};
  if (context.near) {
    context.incomplete =
        ibrc_incomplete_over(process->table, work + N + ibrc_slope_doubles(process->table));
  }
  return context;
}

static ibrc_newton newton_over(slope_context *context,
                               void (*backup)(const void *, const double *, double *)) {
  ibrc_newton newton = {.n = context->process->table->n_nodes,
                        .discount = context->process->discount,
                        .incomplete = context->near,
                        .context = context,
                        .backup = backup,
                        .prepare = prepare_slope,
                        .apply = context->near ? apply_written : apply_slope};
  if (context->coarse->n_coarse > 0) newton.precondition = apply_coarse;
  if (context->near) newton.precondition = apply_incomplete;
  return newton;
}

typedef struct {
  const ibrc_table *table;
  const ibrc_problem *problem;
  const ibrc_backup_result *out;
  double *scratch;
  int n_threads;
} optimum_context;

static void back_up(const optimum_context *c, const double *value, double *next, const int *wanted) {
  ibrc_backup_result out = *c->out;
  out.value = next;
  out.wanted = wanted;
  ibrc_backup(c->table, c->problem, value, c->n_threads, c->scratch, &out);
}

static void optimum_step(const void *context, const double *value, double *next) {
  back_up(((const slope_context *)context)->backup, value, next, NULL);
}

/* The same on pairs: those that rows read, one after the other. */
typedef struct {
  const optimum_context *optimum;
  ibrc_habit_slope slope;
  double *from, *to; /* [last][node] */
} habit_context;

static void lay_out(const ibrc_pairs *pairs, const double *x, double *laid) {
  for (int k = 0; k < pairs->n; k++) laid[pairs->at[k]] = x[k];
}

static void gather(const ibrc_pairs *pairs, const double *laid, double *x) {
  for (int k = 0; k < pairs->n; k++) x[k] = laid[pairs->at[k]];
}

static void habit_step(const void *context, const double *value, double *next) {
  const habit_context *c = context;
  if (c->slope.whole) {
    back_up(c->optimum, value, next, c->slope.pairs.wanted);
    return;
  }
  lay_out(&c->slope.pairs, value, c->from);
  back_up(c->optimum, c->from, c->to, c->slope.pairs.wanted);
  gather(&c->slope.pairs, c->to, next);
}

static void prepare_habit(void *context, double least) {
  habit_context *c = context;
  const optimum_context *optimum = c->optimum;
  ibrc_habit_slope_fill(&c->slope, optimum->out->policy, optimum->out->sigma,
                        optimum->problem->discount, least);
}

static void apply_habit(const void *context, const double *x, double *y) {
  ibrc_habit_slope_apply(&((const habit_context *)context)->slope, x, y);
}

static void correct_habit(const void *context, const double *x, double *y) {
  ibrc_habit_slope_correct(&((const habit_context *)context)->slope, x, y);
}

/* `scratch`: that of the slope, then 3 [last][node], then that of the steps. */
static ibrc_solve_report solve_habit(const optimum_context *optimum, const ibrc_coarse *coarse,
                                     const ibrc_solve_options *options, double *scratch,
                                     double *shift) {
  const ibrc_table *table = optimum->table;
  const size_t blocks = (size_t)table->n_nodes * (size_t)table->n_actions;
  habit_context context = {.optimum = optimum,
                           .slope = ibrc_habit_slope_over(table, coarse, optimum->n_threads, scratch)};
  context.from = scratch + ibrc_habit_slope_doubles(table, coarse);
  context.to = context.from + blocks;
  double *value = context.to + blocks;
  const ibrc_pairs *pairs = &context.slope.pairs;
  const ibrc_newton newton = {
      .n = pairs->n,
      .discount = optimum->problem->discount,
      .context = &context,
      .backup = habit_step,
      .prepare = prepare_habit,
      .apply = apply_habit,
      .precondition = ibrc_habit_slope_corrects(&context.slope) ? correct_habit : NULL};
  gather(pairs, optimum->out->value, value);
  ibrc_solve_report report = ibrc_newton_solve(&newton, options, value + blocks, value, shift);
  lay_out(pairs, value, optimum->out->value);
  return report;
}

size_t ibrc_solve_doubles(const ibrc_table *table, const ibrc_coarse *coarse, int remembers,
                          int n_threads) {
  const size_t backups = (size_t)n_threads * ibrc_backup_doubles(table);
  const size_t blocks = (size_t)table->n_nodes * (size_t)table->n_actions;
  if (!remembers) return backups + slope_doubles(table, coarse) + ibrc_newton_doubles(table->n_nodes);
  return backups + ibrc_habit_slope_doubles(table, coarse) + 3 * blocks + ibrc_newton_doubles((int)blocks);
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

static ibrc_solve_report solve_plain(const optimum_context *optimum, const ibrc_coarse *coarse,
                                     const ibrc_solve_options *options, double *scratch,
                                     double *shift) {
  const ibrc_process process = {.table = optimum->table,
                                .policy = optimum->out->policy,
                                .sigma = optimum->out->sigma,
                                .discount = optimum->problem->discount,
                                .n_threads = optimum->n_threads};
  slope_context context = slope_over(&process, coarse, optimum, scratch);
  const ibrc_newton newton = newton_over(&context, optimum_step);
  return ibrc_newton_solve(&newton, options, scratch + slope_doubles(optimum->table, coarse),
                           optimum->out->value, shift);
}

ibrc_solve_report ibrc_solve_optimum(const ibrc_table *table, const ibrc_coarse *coarse,
                                     const ibrc_problem *problem, const ibrc_solve_options *options,
                                     int n_threads, double *scratch,
                                     const ibrc_backup_result *out) {
  const optimum_context optimum = {
      .table = table, .problem = problem, .out = out, .scratch = scratch, .n_threads = n_threads};
  double shift = 0.0, *rest = scratch + (size_t)n_threads * ibrc_backup_doubles(table);
  ibrc_solve_report report = problem->after ? solve_habit(&optimum, coarse, options, rest, &shift)
                                            : solve_plain(&optimum, coarse, options, rest, &shift);
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

static void evaluate(const policy_context *c, const double *value, double *next) {
  const size_t size = ibrc_process_size(c->process);
  ibrc_process_expect(c->process, value, next);
  for (size_t i = 0; i < size; i++) next[i] = c->gain[i] + c->process->discount * next[i];
}

static void policy_step(const void *context, const double *value, double *next) {
  evaluate(((const slope_context *)context)->backup, value, next);
}

/* Of pairs, whose policies do not change from step to step. */
static void pairs_step(const void *context, const double *value, double *next) {
  evaluate(context, value, next);
}

static void prepare_nothing(void *context, double least) {
  (void)context;
  (void)least;
}

static void apply_pairs(const void *context, const double *x, double *y) {
  const ibrc_process *process = ((const policy_context *)context)->process;
  const size_t size = ibrc_process_size(process);
  ibrc_process_expect(process, x, y);
  for (size_t i = 0; i < size; i++) y[i] = x[i] - process->discount * y[i];
}

size_t ibrc_solve_policy_doubles(const ibrc_process *process, const ibrc_coarse *coarse) {
  return slope_doubles(process->table, coarse) + ibrc_newton_doubles((int)ibrc_process_size(process));
}

ibrc_solve_report ibrc_solve_policy(const ibrc_process *process, const ibrc_coarse *coarse,
                                    const double *gain, const ibrc_solve_options *options,
                                    double *scratch, double *value) {
  policy_context policy = {.process = process, .gain = gain};
  double shift = 0.0;
  slope_context context = slope_over(process, coarse, &policy, scratch);
  ibrc_newton newton = newton_over(&context, policy_step);
  if (process->after) {
    newton = (ibrc_newton){.n = (int)ibrc_process_size(process),
                           .discount = process->discount,
                           .context = &policy,
                           .backup = pairs_step,
                           .prepare = prepare_nothing,
                           .apply = apply_pairs};
  }
  return ibrc_newton_solve(&newton, options, scratch + slope_doubles(process->table, coarse), value,
                           &shift);
}
