#include "backup.h"
#include "habit.h"
#include "models.h"
#include "policy.h"
#include "solve.h"

/* Tables, one backup at any temperature, and a solve: rows of the table are laws over
 * nodes, entropies lie from 0 to log n_obs; values lie between the least and the largest
 * of what they average, policies are laws; a solve ends in values that a backup leaves
 * where they are, or says that it has not. */

typedef struct {
  ibrc_space space;
  ibrc_table table;
  ibrc_coarse coarse;
  int *layout, *row_start, *column, *fine_node, *coarse_column;
  double *weight, *entropy, *coarse_weight;
} tables;

static void build_coarse(tables *t, double n_entries) {
  const double most = ibrc_coarse_most(n_entries);
  const int S = t->space.n_states;
  int *layout = ints(ibrc_space_coarser_layout(&t->space, most));
  ibrc_space coarse = ibrc_space_coarser(&t->space, most, layout);
  must(coarse.n_nodes >= 0 && coarse.n_nodes <= t->space.n_nodes, "a coarser space is coarser");
  const size_t size = (size_t)t->space.n_nodes * (size_t)coarse.n_corners;
  t->fine_node = ints((size_t)coarse.n_nodes);
  t->coarse_column = ints(size);
  t->coarse_weight = doubles(size);
  ibrc_coarse made = {
      .fine_node = t->fine_node, .column = t->coarse_column, .weight = t->coarse_weight};
  if (coarse.n_nodes > 0) {
    int *more = ints(ibrc_corners_ints(&t->space));
    double *work = doubles(ibrc_corners_doubles(&t->space)), *belief = doubles((size_t)S);
    ibrc_corners corners = ibrc_corners_over(&t->space, more, work);
    ibrc_coarse_map(&t->space, &coarse, &corners, belief, t->fine_node, t->coarse_column,
                    t->coarse_weight);
    made.n_coarse = coarse.n_nodes;
    made.n_corners = coarse.n_corners;
    for (int k = 0; k < coarse.n_nodes; k++) {
      must(t->fine_node[k] >= 0 && t->fine_node[k] < t->space.n_nodes, "a coarse node is a node");
    }
    for (int node = 0; node < t->space.n_nodes; node++) {
      must_be_law(t->coarse_weight + (size_t)node * (size_t)coarse.n_corners, coarse.n_corners,
                  1e-12, "coarse weights are a law");
    }
    free(belief);
    free(work);
    free(more);
  }
  free(layout);
  t->coarse = made;
}

static tables build(const ibrc_models *models, int resolution, int merge) {
  const ibrc_space_maker *maker = ibrc_space_find(ibrc_model_seen(models) ? "vertices" : "lattice");
  tables t;
  t.layout = ints(maker->layout(models->n_states, resolution));
  t.space = maker->make(models->n_states, resolution, t.layout);
  const size_t rows =
      (size_t)t.space.n_nodes * (size_t)models->n_actions * (size_t)models->n_models;
  ibrc_table_recipe recipe = {
      .models = models, .space = &t.space, .merge_observations = merge, .n_threads = 1};
  double *work = doubles(ibrc_table_doubles(&recipe));
  int *more = ints(ibrc_table_ints(&recipe));
  t.row_start = ints(rows + 1);
  t.row_start[0] = 0;
  ibrc_table_count(&recipe, work, more, t.row_start + 1);
  for (size_t r = 0; r < rows; r++) t.row_start[r + 1] += t.row_start[r];
  t.column = ints((size_t)t.row_start[rows]);
  t.weight = doubles((size_t)t.row_start[rows]);
  t.entropy = doubles(rows);
  ibrc_table_fill(&recipe, work, more, t.row_start, t.column, t.weight, t.entropy);
  for (size_t r = 0; r < rows; r++) {
    const int from = t.row_start[r], n = t.row_start[r + 1] - from;
    must(n >= 1, "a row has an entry");
    must_be_law(t.weight + from, n, 1e-9, "a row is a law");
    for (int i = from; i < from + n; i++) {
      must(t.column[i] >= 0 && t.column[i] < t.space.n_nodes, "a column is a node");
    }
    must(t.entropy[r] >= -1e-9 && t.entropy[r] <= log(models->n_obs) + 1e-9, "an entropy");
  }
  ibrc_table table = {.n_nodes = t.space.n_nodes,
                      .n_actions = models->n_actions,
                      .n_models = models->n_models,
                      .row_start = t.row_start,
                      .column = t.column,
                      .weight = t.weight};
  t.table = table;
  build_coarse(&t, t.row_start[rows]);
  free(work);
  free(more);
  return t;
}

static void free_tables(tables *t) {
  free(t->layout);
  free(t->row_start);
  free(t->column);
  free(t->fine_node);
  free(t->coarse_column);
  free(t->weight);
  free(t->entropy);
  free(t->coarse_weight);
}

/* `mean` lies between the least and the largest x with weight, but for the rounding of
 * numbers of that size; the new weights are a law. */
static void check_soft(const double *x, const double *prior, const double *weights, int n,
                       double mean, double size) {
  double least = INFINITY, most = -INFINITY;
  for (int i = 0; i < n; i++) {
    if (!(prior[i] > 0.0)) {
      must(weights[i] == 0.0, "what the prior rules out stays out");
      continue;
    }
    least = fmin(least, x[i]);
    most = fmax(most, x[i]);
    size = fmax(size, fabs(x[i]));
  }
  must(mean >= least - 1e-12 * size && mean <= most + 1e-12 * size, "a mean lies within");
  must_be_law(weights, n, 1e-9, "a policy is a law");
}

static void check_backup(const tables *t, const ibrc_problem *problem, double size,
                         const ibrc_backup_result *out) {
  const int U = t->table.n_actions, M = t->table.n_models;
  for (int node = 0; node < t->table.n_nodes; node++) {
    const size_t cell = (size_t)node * (size_t)U;
    check_soft(out->action_value + cell, problem->action_prior, out->policy + cell, U,
               out->value[node], size);
    for (int u = 0; u < U; u++) {
      const size_t row = (cell + (size_t)u) * (size_t)M;
      check_soft(out->model_value + row, problem->model_weights, out->sigma + row, M,
                 out->action_value[cell + (size_t)u] - problem->reward[cell + (size_t)u], size);
    }
  }
}

/* `size`: the largest number that goes in. */
static void check_solve(const tables *t, const ibrc_problem *problem, ibrc_backup_result *out,
                        double size, double *again) {
  const ibrc_solve_options options = {
      .tolerance = 1e-6, .max_backups = 300, .accept_rounding = 1};
  double *scratch = doubles(ibrc_solve_doubles(&t->table, &t->coarse, 0, 1));
  ibrc_solve_report report =
      ibrc_solve_optimum(&t->table, &t->coarse, problem, &options, 1, scratch, out);
  must(report.backups <= options.max_backups, "no more backups than allowed");
  if (report.code == IBRC_OK) {
    ibrc_backup_result plain = {.value = again};
    double *more = doubles(ibrc_backup_doubles(&t->table));
    const double most = size / (1.0 - problem->discount);
    ibrc_backup(&t->table, problem, out->value, 1, more, &plain);
    for (int i = 0; i < t->table.n_nodes; i++) {
      must(fabs(again[i] - out->value[i]) <= 2.0 * report.bound + 1e-14 * most + 1e-300,
           "solved is solved");
    }
    check_backup(t, problem, most, out);
    free(more);
  } else {
    must(report.code == IBRC_NOT_CONVERGED || report.code == IBRC_NOT_FINITE, "a code it may have");
  }
  free(scratch);
}

/* The same where the last action matters: means lie within, policies are laws, and what is solved
 * is left where it is by a backup. */
static void check_habit(const tables *t, const ibrc_problem *without, double habit, double size) {
  const size_t nodes = (size_t)t->table.n_nodes, U = (size_t)t->table.n_actions, pairs = nodes * U;
  const size_t rows = ibrc_table_rows(&t->table);
  double *after = doubles(U * U), *again = doubles(pairs), *again_policy = doubles(pairs * U);
  ibrc_problem problem = *without;
  ibrc_habit_priors(problem.action_prior, problem.ends, (int)U, habit, after);
  problem.after = after;
  ibrc_backup_result out = {.value = doubles(pairs),
                            .action_value = doubles(pairs),
                            .model_value = doubles(rows),
                            .policy = doubles(pairs * U),
                            .sigma = doubles(rows)};
  for (size_t i = 0; i < pairs; i++) out.value[i] = 0.0;
  const ibrc_solve_options options = {
      .tolerance = 1e-6, .max_backups = 300, .accept_rounding = 1};
  double *scratch = doubles(ibrc_solve_doubles(&t->table, &t->coarse, 1, 1));
  ibrc_solve_report report =
      ibrc_solve_optimum(&t->table, &t->coarse, &problem, &options, 1, scratch, &out);
  if (report.code == IBRC_OK) {
    const double most = size / (1.0 - problem.discount);
    double *reading = doubles(ibrc_habit_doubles((int)U)), *more = doubles(ibrc_backup_doubles(&t->table));
    const ibrc_habit_reading all = {.value_after = out.value, .policy_after = out.policy};
    ibrc_habit_read(&problem, out.action_value, t->table.n_nodes, (int)U, reading, &all);
    for (size_t i = 0; i < pairs; i++) {
      check_soft(out.action_value + i % nodes * U, after + i / nodes * U, out.policy + i * U, (int)U,
                 out.value[i], most);
    }
    ibrc_backup_result plain = {.value = again, .policy = again_policy};
    ibrc_backup(&t->table, &problem, out.value, 1, more, &plain);
    for (size_t i = 0; i < pairs; i++) {
      must(fabs(again[i] - out.value[i]) <= 4.0 * report.bound + 1e-13 * most + 1e-300,
           "solved is solved, with a habit too");
    }
    free(reading);
    free(more);
  } else {
    must(report.code == IBRC_NOT_CONVERGED || report.code == IBRC_NOT_FINITE, "a code it may have");
  }
  free(after);
  free(again);
  free(again_policy);
  free(scratch);
  free(out.value);
  free(out.action_value);
  free(out.model_value);
  free(out.policy);
  free(out.sigma);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  input in = {bytes, size};
  const int S = take_int(&in, 2, 4), U = take_int(&in, 1, 3), seen = take(&in) % 4 == 0;
  const int X = seen ? S : take_int(&in, 1, 3);
  const int M = take_int(&in, 1, 2), most[] = {0, 0, 12, 5, 3};
  const int resolution = take_int(&in, 1, most[S]), merge = take_int(&in, 0, 1);
  /* A solve costs as much as hundreds of backups. */
  const int solves = lot(bytes, size, 32) == 0;
  ibrc_models models =
      seen ? take_seen_models(&in, S, U, M) : take_models(&in, S, U, X, M);
  tables t = build(&models, resolution, merge);
  const size_t nodes = (size_t)t.table.n_nodes, cells = nodes * (size_t)U, rows = cells * (size_t)M;
  double *prior = doubles((size_t)U), *weights = doubles((size_t)M), *reward = doubles(cells);
  double *value = doubles(nodes), *scratch = doubles(ibrc_backup_doubles(&t.table)), *again = doubles(nodes);
  take_law(&in, prior, U, 1);
  take_law(&in, weights, M, 1);
  double largest = 0.0;
  for (size_t i = 0; i < cells; i++) largest = fmax(largest, fabs(reward[i] = take_double(&in)));
  for (size_t i = 0; i < nodes; i++) largest = fmax(largest, fabs(value[i] = take_double(&in)));
  ibrc_problem problem = {.alpha = ibrc_temperature_from(take_temperature(&in)),
                          .beta = ibrc_temperature_from(take_temperature(&in)),
                          .eta = take_double(&in),
                          .discount = take_int(&in, 0, 999) / 1000.0,
                          .action_prior = prior,
                          .model_weights = weights,
                          .reward = reward,
                          .surprise = t.entropy};
  ibrc_backup_result out = {.value = doubles(nodes),
                            .action_value = doubles(cells),
                            .model_value = doubles(rows),
                            .policy = doubles(cells),
                            .sigma = doubles(rows)};
  ibrc_backup(&t.table, &problem, value, 1, scratch, &out);
  largest = fmax(fmax(largest, fabs(problem.eta) * log(X)), 1e-300);
  check_backup(&t, &problem, largest, &out);
  for (size_t i = 0; i < nodes; i++) out.value[i] = value[i];
  if (solves) check_solve(&t, &problem, &out, largest, again);
  if (solves) check_habit(&t, &problem, 12.0 * take_share(&in) - 6.0, largest);
  free_tables(&t);
  free_models(&models);
  free(prior);
  free(weights);
  free(reward);
  free(value);
  free(scratch);
  free(again);
  free(out.value);
  free(out.action_value);
  free(out.model_value);
  free(out.policy);
  free(out.sigma);
  return 0;
}
