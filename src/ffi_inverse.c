#include <float.h>
#include <math.h>
#include <string.h>

#include "args.h"
#include "evaluator.h"
#include "ffi.h"
#include "history.h"
#include "loglik.h"

/* trajectory, action and observation one per visit, from 0, missing ones -1; scored: 1 where the
 * action counts; start: with which of the starts its trajectory begins, from 0. Returns the tree:
 * start, from 0, of each root, parent, action, observation from 0 (-1: none) per history, count
 * [action, history], and `visit`: the history of each visit, from 1. */
SEXP ffi_history_build(SEXP trajectory, SEXP action, SEXP observation, SEXP scored, SEXP start,
                       SEXP n_actions) {
  const R_xlen_t n = Rf_xlength(trajectory);
  ibrc_visits visits = {.n_visits = (int)n,
                        .n_actions = args_int(n_actions, "n_actions"),
                        .trajectory = args_ints(trajectory, n, "trajectory"),
                        .action = args_ints(action, n, "action"),
                        .observation = args_ints(observation, n, "observation"),
                        .start = args_ints(start, n, "start"),
                        .pause = args_pause};
  const int *counts = args_ints(scored, n, "scored");
  if (n == 0) Rf_error("internal: no visits");
  for (R_xlen_t v = 0; v < n; v++) {
    const int least = counts[v] ? 0 : IBRC_NO_ACTION;
    if (visits.action[v] < least || visits.action[v] >= visits.n_actions) {
      Rf_error("internal: no such action");
    }
    /* -1 is a missing one; NA would be read as a position far outside the emission. */
    if (visits.observation[v] < -1) Rf_error("internal: no such observation");
    if (visits.start[v] < 0) Rf_error("internal: no such start");
    if (visits.start[v] >= visits.n_starts) visits.n_starts = visits.start[v] + 1;
  }
  int *slot = args_alloc_ints(ibrc_history_slots(visits.n_visits));
  int *tree = args_alloc_ints(3 * (size_t)n), *root = args_alloc_ints((size_t)visits.n_starts);

  const char *names[] = {"n_histories", "n_actions", "parent", "action", "observation",
                         "count",       "visit",     "start",  ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 6, Rf_allocVector(INTSXP, n));
  int *history = INTEGER(VECTOR_ELT(out, 6));
  int H = ibrc_history_build(&visits, slot, root, history, tree, tree + n, tree + 2 * n);
  int n_roots = 0;
  for (int i = 0; i < visits.n_starts; i++) n_roots += root[i] >= 0;
  SET_VECTOR_ELT(out, 7, Rf_allocVector(INTSXP, n_roots));
  for (int i = 0; i < visits.n_starts; i++) {
    if (root[i] >= 0) INTEGER(VECTOR_ELT(out, 7))[root[i]] = i;
  }
  SET_VECTOR_ELT(out, 0, Rf_ScalarInteger(H));
  SET_VECTOR_ELT(out, 1, Rf_ScalarInteger(visits.n_actions));
  for (int i = 0; i < 3; i++) {
    SET_VECTOR_ELT(out, 2 + i, Rf_allocVector(INTSXP, H));
    memcpy(INTEGER(VECTOR_ELT(out, 2 + i)), tree + i * n, (size_t)H * sizeof(int));
  }
  SET_VECTOR_ELT(out, 5, Rf_allocMatrix(REALSXP, visits.n_actions, H));
  double *count = REAL(VECTOR_ELT(out, 5));
  memset(count, 0, (size_t)H * (size_t)visits.n_actions * sizeof(double));
  for (R_xlen_t v = 0; v < n; v++) {
    if (counts[v]) count[(size_t)history[v] * (size_t)visits.n_actions + (size_t)visits.action[v]] += 1.0;
    history[v]++;
  }
  UNPROTECT(1);
  return out;
}

/* start [state, start]. Everything a plan says of a tree: the total, log_policy [action, history], the likeliest
 * state (from 1) and its probability at each history, and, if they are asked for, belief
 * [state, history], NaN where a history is impossible; or else NULL. */
SEXP ffi_loglik(SEXP plan_arg, SEXP models_arg, SEXP history_arg, SEXP start, SEXP beliefs) {
  ibrc_models models = args_models(models_arg);
  ibrc_space space = args_space(args_element(plan_arg, "space"));
  ibrc_plan plan = args_plan(plan_arg, &space);
  args_check_models(&models, &plan);
  ibrc_history history = args_history(history_arg, &models);
  int n_starts;
  const double *first = args_starts(start, &models, &n_starts);
  args_check_starts(&history, n_starts);
  double *doubles = args_alloc_doubles(ibrc_loglik_doubles(&history, &plan, &models));
  int *ints = args_alloc_ints(ibrc_loglik_ints(&history, &plan));

  const char *names[] = {"total", "log_policy", "belief", "likeliest", "surest", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 1, Rf_allocMatrix(REALSXP, plan.n_actions, history.n_histories));
  double *belief = NULL;
  if (args_int(beliefs, "beliefs")) {
    SET_VECTOR_ELT(out, 2, Rf_allocMatrix(REALSXP, models.n_states, history.n_histories));
    belief = REAL(VECTOR_ELT(out, 2));
  }
  SET_VECTOR_ELT(out, 3, Rf_allocVector(INTSXP, history.n_histories));
  SET_VECTOR_ELT(out, 4, Rf_allocVector(REALSXP, history.n_histories));
  int *likeliest = INTEGER(VECTOR_ELT(out, 3));
  const ibrc_loglik_result result = {.log_policy = REAL(VECTOR_ELT(out, 1)),
                                     .beliefs = belief,
                                     .likeliest = likeliest,
                                     .surest = REAL(VECTOR_ELT(out, 4))};
  const double total = ibrc_loglik(&history, &plan, &models, first, doubles, ints, args_pause, &result);
  for (int h = 0; h < history.n_histories; h++) {
    likeliest[h] = likeliest[h] < 0 ? NA_INTEGER : likeliest[h] + 1;
  }
  SET_VECTOR_ELT(out, 0, Rf_ScalarReal(total));
  UNPROTECT(1);
  return out;
}

/* Where one vector takes about half a second. */
#define MOST_ENTRIES 4000000
#define MOST_HISTORIES 500000

/* Trees: only those that are asked for, each checked once; the largest of them last. */
static const ibrc_history *take_trees(SEXP trees, const int *tree, int n, const ibrc_world *world,
                                      ibrc_history *histories) {
  const size_t n_trees = (size_t)Rf_xlength(trees);
  for (size_t i = 0; i < n_trees; i++) histories[i].n_histories = 0;
  const ibrc_history *largest = NULL;
  for (int i = 0; i < n; i++) {
    if (tree[i] < 0 || (size_t)tree[i] >= n_trees) Rf_error("internal: no such tree");
    ibrc_history *history = histories + tree[i];
    if (history->n_histories) continue;
    *history = args_history(VECTOR_ELT(trees, tree[i]), &world->models);
    args_check_starts(history, world->n_starts);
    if (!largest || history->n_histories > largest->n_histories) largest = history;
  }
  if (!largest) Rf_error("internal: no tree to look at");
  return largest;
}

/* Laws of worlds, each list(models, weights, start): their models have the sizes of the problem's own. */
static ibrc_world *take_laws(SEXP laws, const ibrc_world *first) {
  const R_xlen_t n = Rf_xlength(laws);
  if (TYPEOF(laws) != VECSXP || n < 1) Rf_error("internal: no laws");
  ibrc_world *worlds = (ibrc_world *)R_alloc((size_t)n, sizeof(ibrc_world));
  for (R_xlen_t i = 0; i < n; i++) {
    SEXP law = VECTOR_ELT(laws, i);
    const ibrc_models models = args_models(args_element(law, "models"));
    if (models.n_states != first->models.n_states || models.n_actions != first->models.n_actions ||
        models.n_obs != first->models.n_obs || models.n_models != first->models.n_models ||
        ibrc_model_seen(&models) != ibrc_model_seen(&first->models)) {
      Rf_error("internal: laws of another size");
    }
    worlds[i] = (ibrc_world){
        .models = models,
        .model_weights = args_nonnegative(args_element(law, "weights"), models.n_models, "weights")};
    worlds[i].start_belief = args_starts(args_element(law, "start"), &models, &worlds[i].n_starts);
    if (worlds[i].n_starts != first->n_starts) Rf_error("internal: laws with other starts");
  }
  return worlds;
}

/* Coarser spaces for the tables. They depend on the numbers of entries; neighbours mostly share
 * one. */
static void add_coarse(const ibrc_space *space, int n_worlds, ibrc_world *worlds) {
  for (int i = 0; i < n_worlds; i++) {
    const ibrc_table *table = &worlds[i].table;
    const double n_entries = table->row_start[ibrc_table_rows(table)];
    const ibrc_space coarse = args_coarser(space, ibrc_coarse_most(n_entries));
    if (i > 0 && coarse.n_nodes == worlds[i - 1].coarse.n_coarse) {
      worlds[i].coarse = worlds[i - 1].coarse;
      continue;
    }
    worlds[i].coarse = (ibrc_coarse){.n_coarse = coarse.n_nodes};
    if (coarse.n_nodes == 0) continue;
    const size_t size = (size_t)space->n_nodes * (size_t)coarse.n_corners;
    int *fine_node = args_alloc_ints((size_t)coarse.n_nodes), *column = args_alloc_ints(size);
    double *weight = args_alloc_doubles(size);
    ibrc_corners corners = args_corners(space);
    ibrc_coarse_map(space, &coarse, &corners, args_alloc_doubles((size_t)space->n_states), fine_node,
                    column, weight);
    worlds[i].coarse = (ibrc_coarse){.n_coarse = coarse.n_nodes,
                                     .n_corners = coarse.n_corners,
                                     .fine_node = fine_node,
                                     .column = column,
                                     .weight = weight};
  }
}

/* Tables of all worlds. Those that take longer than a moment come one after the other, each with all threads. */
static void build_worlds(const ibrc_space *space, int merge, int n_worlds, int n_threads, ibrc_world *worlds) {
  ibrc_table_recipe recipe = {.space = space, .merge_observations = merge, .n_threads = n_threads};
  double most = 0.0;
  for (int i = 0; i < n_worlds; i++) {
    recipe.models = &worlds[i].models;
    const double entries = ibrc_table_most(&recipe);
    if (entries > most) most = entries;
  }
  if (most > 2147483646.0) Rf_error("internal: too many table entries");
  if (most > MOST_ENTRIES) recipe.pause = args_pause;
  const size_t n = (size_t)n_worlds, threads = (size_t)n_threads;
  ibrc_world_storage storage = {.n_rows = (size_t)space->n_nodes * (size_t)worlds[0].models.n_actions *
                                          (size_t)worlds[0].models.n_models,
                                .most_entries = (size_t)most};
  storage.row_start = args_alloc_ints(n * (storage.n_rows + 1));
  storage.column = args_alloc_ints(n * storage.most_entries);
  storage.weight = args_alloc_doubles(n * storage.most_entries);
  storage.surprise = args_alloc_doubles(n * storage.n_rows);
  ibrc_evaluator_tables(&recipe, n_worlds, n_threads, &storage,
                        args_alloc_doubles(threads * ibrc_table_doubles(&recipe)),
                        args_alloc_ints(threads * ibrc_table_ints(&recipe)), worlds);
  add_coarse(space, n_worlds, worlds);
}

/* The world of a problem, whose table is at hand. */
static ibrc_world own_world(SEXP evaluation, const ibrc_space *space) {
  SEXP table = args_element(evaluation, "tables");
  ibrc_world world = {.table = args_table(table),
                      .coarse = args_coarse(table),
                      .models = args_models(args_element(evaluation, "models"))};
  const ibrc_models *models = &world.models;
  if (models->n_actions != world.table.n_actions || models->n_models != world.table.n_models) {
    Rf_error("internal: models of another problem");
  }
  if (space->n_nodes != world.table.n_nodes || space->n_states != models->n_states) {
    Rf_error("internal: a table of another space");
  }
  world.start_belief = args_starts(args_element(evaluation, "start"), models, &world.n_starts);
  return world;
}

/* The worlds of the vectors, `law` of them from 0 where there are `laws`: their tables are built here. */
static ibrc_world *take_worlds(SEXP evaluation, const ibrc_space *space, const ibrc_world *own, int n,
                               int n_threads, const int **law) {
  SEXP laws = args_element(evaluation, "laws");
  *law = args_ints(args_element(evaluation, "law"), n, "law");
  ibrc_world *worlds = take_laws(laws, own);
  const int n_worlds = (int)Rf_xlength(laws);
  for (int i = 0; i < n; i++) {
    if ((*law)[i] < 0 || (*law)[i] >= n_worlds) Rf_error("internal: no such law");
  }
  build_worlds(space, args_int(args_element(evaluation, "merge"), "merge"), n_worlds, n_threads, worlds);
  return worlds;
}

/* parameters [slot, vector], as src/evaluator.h has them; rewards NULL or
 * [cell, vector]; values [node, vector], or [node and last action, vector] if there may be a habit, where each solve
 * starts; which: the tree of each vector, from 0. An evaluation may have `laws`, and the `law` of each vector, from 0,
 * and whether to `merge` observations: tables are then built of them first. Returns log_likelihood, value and code. */
SEXP ffi_evaluate(SEXP evaluation_arg, SEXP parameters, SEXP rewards, SEXP values, SEXP which,
                  SEXP threads) {
  SEXP trees = args_element(evaluation_arg, "histories");
  ibrc_space space = args_space(args_element(evaluation_arg, "space"));
  ibrc_world own = own_world(evaluation_arg, &space);
  const ibrc_table *table = &own.table;
  ibrc_problem problem = args_problem(args_element(evaluation_arg, "problem"), table);
  own.model_weights = problem.model_weights;
  own.surprise = problem.surprise;
  const int n = Rf_ncols(parameters), n_threads = args_threads(threads);
  const size_t nodes = (size_t)table->n_nodes, cells = nodes * (size_t)table->n_actions;
  const size_t n_slots = ibrc_evaluator_slots(table->n_actions);
  const double *parameter = args_doubles(parameters, (R_xlen_t)n_slots * n, "parameters");
  const double *reward =
      Rf_isNull(rewards) ? NULL : args_doubles(rewards, (R_xlen_t)cells * n, "rewards");
  const int remembers = (size_t)Rf_nrows(values) == cells;
  const size_t n_values = remembers ? cells : nodes;
  const double *from = args_doubles(values, (R_xlen_t)n_values * n, "values");
  const int *tree = args_ints(which, n, "which");
  if (TYPEOF(trees) != VECSXP || n < 1) Rf_error("internal: nothing to evaluate");
  ibrc_history *histories = (ibrc_history *)R_alloc((size_t)Rf_xlength(trees), sizeof(ibrc_history));
  const ibrc_history *largest = take_trees(trees, tree, n, &own, histories);
  const int *law = NULL;
  const ibrc_world *worlds = &own;
  if (args_has_element(evaluation_arg, "laws")) {
    worlds = take_worlds(evaluation_arg, &space, &own, n, n_threads, &law);
  }
  const ibrc_history **chosen = (const ibrc_history **)R_alloc((size_t)n, sizeof(*chosen));
  ibrc_vector *vectors = (ibrc_vector *)R_alloc((size_t)n, sizeof(ibrc_vector));

  const char *names[] = {"log_likelihood", "value", "code", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, n));
  SET_VECTOR_ELT(out, 1, Rf_allocMatrix(REALSXP, (int)n_values, n));
  SET_VECTOR_ELT(out, 2, Rf_allocVector(INTSXP, n));
  double *value = REAL(VECTOR_ELT(out, 1));
  memcpy(value, from, n_values * (size_t)n * sizeof(double));
  int most_entries = 0;
  for (int i = 0; i < n; i++) {
    const double *p = parameter + n_slots * (size_t)i;
    chosen[i] = histories + tree[i];
    args_check_nonnegative(p + IBRC_SLOT_ACTION_PRIOR, (size_t)table->n_actions, "action prior");
    const double habit = p[IBRC_SLOT_HABIT];
    if (!(fabs(habit) <= DBL_MAX) || (habit != 0.0 && !remembers)) Rf_error("internal: a habit out of range");
    ibrc_vector vector = {.world = law ? worlds + law[i] : worlds,
                          .alpha = p[IBRC_SLOT_ALPHA],
                          .beta = p[IBRC_SLOT_BETA],
                          .eta = p[IBRC_SLOT_ETA],
                          .discount = p[IBRC_SLOT_DISCOUNT],
                          .habit = habit,
                          .action_prior = p + IBRC_SLOT_ACTION_PRIOR,
                          .reward = reward ? reward + (size_t)i * cells : NULL,
                          .value = value + (size_t)i * n_values};
    vectors[i] = vector;
    const int n_entries = vector.world->table.row_start[ibrc_table_rows(&vector.world->table)];
    if (n_entries > most_entries) most_entries = n_entries;
  }
  ibrc_evaluation evaluation = {
      .space = &space,
      .problem = &problem,
      .remembers = remembers,
      .history = chosen,
      .by_value = args_int(args_element(evaluation_arg, "by_value"), "by_value"),
      .options = {.tolerance = args_double(args_element(evaluation_arg, "tolerance"), "tolerance"),
                  .max_backups = args_int(args_element(evaluation_arg, "max_backups"), "max_backups"),
                  .accept_rounding = 1}};
  /* A solve that takes longer than a moment has all threads to itself, and answers an interrupt. */
  const int one_by_one = most_entries > MOST_ENTRIES || largest->n_histories > MOST_HISTORIES;
  if (one_by_one) evaluation.options.pause = args_pause;
  const size_t n_doubles = ibrc_evaluator_doubles(&evaluation, vectors, n, one_by_one ? n_threads : 1);
  double *doubles = one_by_one ? args_alloc_doubles(n_doubles) : args_kept_doubles((size_t)n_threads * n_doubles);
  const size_t n_ints = ibrc_evaluator_ints(&evaluation, vectors, n);
  int *ints = args_alloc_ints((size_t)n_threads * n_ints);
  ibrc_evaluator_run(&evaluation, n, n_threads, n_doubles, n_ints, doubles, ints, vectors);
  for (int i = 0; i < n; i++) {
    REAL(VECTOR_ELT(out, 0))[i] = vectors[i].log_likelihood;
    INTEGER(VECTOR_ELT(out, 2))[i] = (int)vectors[i].report.code;
  }
  UNPROTECT(1);
  return out;
}
