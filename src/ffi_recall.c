#include <limits.h>
#include <string.h>

#include "args.h"
#include "ffi.h"
#include "recall.h"
#include "rollout.h"

static ibrc_recall take_recall(SEXP learner, const ibrc_models *environment) {
  if (environment->n_models != 1) Rf_error("internal: more than one environment");
  const ibrc_recall recall = ibrc_recall_of(environment->n_actions, environment->n_obs,
                                            args_size(args_element(learner, "memory"), "memory"));
  if (!recall.most) Rf_error("internal: a memory too long to count its histories");
  return recall;
}

static double double_of(SEXP list, const char *name) {
  return args_double(args_element(list, name), name);
}

/* Numbers of histories, as many as there are; each must be one. */
static const double *take_keys(SEXP table, const ibrc_recall *recall, int *n) {
  SEXP key = args_element(table, "key");
  const double *numbers = args_nonnegative(key, Rf_xlength(key), "key");
  if (Rf_xlength(key) > INT_MAX / 4) Rf_error("internal: too many histories");
  *n = (int)Rf_xlength(key);
  for (int i = 0; i < *n; i++) {
    const int sound = numbers[i] < (double)recall->most;
    if (!sound || (double)(uint64_t)numbers[i] != numbers[i]) Rf_error("internal: no history");
  }
  return numbers;
}

static const double *take_noise(SEXP noise, R_xlen_t n) {
  const double *uniform = args_nonnegative(noise, n, "noise");
  for (R_xlen_t i = 0; i < n; i++) {
    if (uniform[i] > 1.0) Rf_error("internal: 'noise' has an entry out of range");
  }
  return uniform;
}

static ibrc_recall_walk take_walk(SEXP list, const ibrc_recall *recall, const ibrc_models *world) {
  const double history = double_of(list, "history");
  ibrc_recall_walk walk = {.state = args_int(args_element(list, "state"), "state"),
                           .visit = args_int(args_element(list, "visit"), "visit")};
  const int sound = walk.state >= 0 && walk.state < world->n_states && walk.visit >= 0 &&
                    history >= 0.0 && history < (double)recall->most;
  if (!sound) Rf_error("internal: nowhere to learn from");
  walk.history = (uint64_t)history;
  return walk;
}

/* Room for the histories known and for as many as can be met; the known ones filled in. */
static ibrc_recall_table make_room(SEXP list, const ibrc_recall *recall, int n_steps) {
  ibrc_recall_table table = {.n = 0};
  const double *key = take_keys(list, recall, &table.n);
  const size_t U = (size_t)recall->n_actions, n = (size_t)table.n;
  const double *action_value =
      args_doubles(args_element(list, "action_value"), (R_xlen_t)(n * U), "action_value");
  const double *tried = args_nonnegative(args_element(list, "tried"), (R_xlen_t)(n * U), "tried");
  /* Most of the numbers are histories; there are never more histories than numbers. */
  double room = (double)table.n + n_steps;
  if (room > (double)recall->most) room = (double)recall->most;
  if (room > INT_MAX / 4) Rf_error("internal: too many histories");
  table.room = table.n > (int)room ? table.n : (int)room;
  table.key = args_alloc_doubles((size_t)table.room);
  table.action_value = args_alloc_doubles((size_t)table.room * U);
  table.tried = args_alloc_doubles((size_t)table.room * U);
  if (n) {
    memcpy(table.key, key, n * sizeof(double));
    memcpy(table.action_value, action_value, n * U * sizeof(double));
    memcpy(table.tried, tried, n * U * sizeof(double));
  }
  return table;
}

static void put_doubles(SEXP list, int at, SEXP vector, const double *from) {
  SET_VECTOR_ELT(list, at, vector);
  if (Rf_xlength(vector)) memcpy(REAL(vector), from, (size_t)Rf_xlength(vector) * sizeof(double));
}

/* learner: list(memory, utility, discount, exploration, initial, episode); start: one law; table:
 * list(key, action_value [action, history], tried likewise); walk: list(state, history, visit);
 * noise: five uniforms per visit. Returns the table and the walk as they are afterwards. */
SEXP ffi_recall_learn(SEXP learner_arg, SEXP environment_arg, SEXP start, SEXP table_arg,
                      SEXP walk_arg, SEXP noise) {
  ibrc_models environment = args_models(environment_arg);
  const ibrc_recall recall = take_recall(learner_arg, &environment);
  const R_xlen_t pairs = (R_xlen_t)environment.n_states * environment.n_actions;
  if (!Rf_isMatrix(noise)) Rf_error("internal: 'noise' is no matrix");
  const int n_steps = Rf_ncols(noise);
  const double *uniform = take_noise(noise, (R_xlen_t)IBRC_RECALL_NOISE * n_steps);
  const ibrc_recall_learner learner = {
      .recall = &recall,
      .environment = &environment,
      .start = args_nonnegative(start, environment.n_states, "start"),
      .utility = args_doubles(args_element(learner_arg, "utility"), pairs, "utility"),
      .discount = double_of(learner_arg, "discount"),
      .exploration = double_of(learner_arg, "exploration"),
      .initial = double_of(learner_arg, "initial"),
      .episode = args_size(args_element(learner_arg, "episode"), "episode")};
  ibrc_recall_walk walk = take_walk(walk_arg, &recall, &environment);
  ibrc_recall_table table = make_room(table_arg, &recall, n_steps);
  int *ints = args_alloc_ints(ibrc_recall_index_ints((size_t)table.room));
  ibrc_recall_learn(&learner, n_steps, uniform, ints, &walk, &table);

  const char *names[] = {"key", "action_value", "tried", "state", "history", "visit", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  put_doubles(out, 0, Rf_allocVector(REALSXP, table.n), table.key);
  put_doubles(out, 1, Rf_allocMatrix(REALSXP, recall.n_actions, table.n), table.action_value);
  put_doubles(out, 2, Rf_allocMatrix(REALSXP, recall.n_actions, table.n), table.tried);
  SET_VECTOR_ELT(out, 3, Rf_ScalarInteger(walk.state));
  SET_VECTOR_ELT(out, 4, Rf_ScalarReal((double)walk.history));
  SET_VECTOR_ELT(out, 5, Rf_ScalarInteger(walk.visit));
  UNPROTECT(1);
  return out;
}

/* learner: list(memory); table: list(key, policy [action, history], otherwise [action]). The rest
 * is that of ffi_rollout(), and so is what is returned. */
SEXP ffi_recall_rollout(SEXP learner, SEXP environment_arg, SEXP start, SEXP table, SEXP which,
                        SEXP stops, SEXP horizon_arg, SEXP noise) {
  ibrc_models environment = args_models(environment_arg);
  const ibrc_recall recall = take_recall(learner, &environment);
  const int horizon = args_size(horizon_arg, "horizon"), U = environment.n_actions;
  if (!Rf_isMatrix(noise)) Rf_error("internal: 'noise' is no matrix");
  const int n = Rf_ncols(noise);
  int n_known, n_starts;
  const double *key = take_keys(table, &recall, &n_known);
  const double *first = args_starts(start, &environment, &n_starts);
  const int *begin = args_ints(which, n, "which");
  for (int i = 0; i < n; i++) {
    if (begin[i] < 0 || begin[i] >= n_starts) Rf_error("internal: no such start");
  }
  int *places = args_alloc_ints(ibrc_recall_index_ints((size_t)n_known));
  const ibrc_recall_index index =
      ibrc_recall_index_over(key, (size_t)n_known, (size_t)n_known, places);
  const ibrc_recall_rollout rollout = {
      .recall = &recall,
      .index = &index,
      .policy = args_nonnegative(args_element(table, "policy"), (R_xlen_t)U * n_known, "policy"),
      .otherwise = args_nonnegative(args_element(table, "otherwise"), U, "otherwise"),
      .environment = &environment,
      .start = first,
      .stops = args_ints(stops, U, "stops"),
      .horizon = horizon};
  const size_t n_noise = ibrc_rollout_noise(horizon), room = (size_t)horizon * (size_t)n;
  if (room > INT_MAX) Rf_error("internal: too many visits at once");
  const double *uniform = take_noise(noise, (R_xlen_t)n_noise * n);
  int *action = args_alloc_ints(room), *observation = args_alloc_ints(room);

  const char *names[] = {"action", "observation", "length", "code", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 2, Rf_allocVector(INTSXP, n));
  SET_VECTOR_ELT(out, 3, Rf_allocVector(INTSXP, n));
  int *length = INTEGER(VECTOR_ELT(out, 2)), *code = INTEGER(VECTOR_ELT(out, 3)), n_visits = 0;
  for (int i = 0; i < n; i++) {
    code[i] = 0; /* nothing surprises who believes nothing */
    length[i] = ibrc_recall_run(&rollout, begin[i], uniform + (size_t)i * n_noise,
                                action + n_visits, observation + n_visits);
    n_visits += length[i];
  }
  SET_VECTOR_ELT(out, 0, Rf_allocVector(INTSXP, n_visits));
  SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, n_visits));
  if (n_visits) {
    memcpy(INTEGER(VECTOR_ELT(out, 0)), action, (size_t)n_visits * sizeof(int));
    memcpy(INTEGER(VECTOR_ELT(out, 1)), observation, (size_t)n_visits * sizeof(int));
  }
  UNPROTECT(1);
  return out;
}
