#include <string.h>

#include "args.h"
#include "belief.h"
#include "ffi.h"
#include "rollout.h"
#include "threads.h"
#include "walker.h"

/* A walker that reads a plan at one belief after the other. */
typedef struct {
  ibrc_space space;
  ibrc_plan plan;
  ibrc_walker walker;
  const double *beliefs; /* NULL: every node in turn */
  int n_beliefs;
} reader;

static void open_reader(SEXP plan, const ibrc_models *models, SEXP beliefs, reader *r) {
  r->space = args_space(args_element(plan, "space"));
  r->plan = args_plan(plan, &r->space);
  if (models) args_check_models(models, &r->plan);
  r->walker = ibrc_walker_over(&r->plan, models, args_alloc_doubles(ibrc_walker_doubles(&r->plan)),
                               args_alloc_ints(ibrc_walker_ints(&r->plan)));
  r->beliefs = NULL;
  r->n_beliefs = r->space.n_nodes;
  if (Rf_isNull(beliefs)) return;
  r->n_beliefs = Rf_ncols(beliefs);
  if (Rf_nrows(beliefs) != r->space.n_states) Rf_error("internal: beliefs of another space");
  r->beliefs =
      args_nonnegative(beliefs, (R_xlen_t)r->space.n_states * r->n_beliefs, "beliefs");
}

/* Beliefs between two pauses. */
#define BELIEFS_AT_ONCE 32768

static void read_belief(reader *r, int b) {
  if (b % BELIEFS_AT_ONCE == 0) args_pause();
  if (r->beliefs) {
    ibrc_walker_stand(&r->walker, r->beliefs + (size_t)b * (size_t)r->space.n_states);
  } else {
    ibrc_walker_stand_at(&r->walker, b);
  }
}

static void check_action(const reader *r, int action) {
  if (action < 0 || action >= r->plan.n_actions) Rf_error("internal: no such action");
}

/* [action, belief]; beliefs NULL: at every node; last: what was done before, one per belief from 0, -1: nothing */
SEXP ffi_policy(SEXP plan, SEXP beliefs, SEXP last) {
  reader r;
  open_reader(plan, NULL, beliefs, &r);
  const int *before = args_ints(last, r.n_beliefs, "last");
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, r.plan.n_actions, r.n_beliefs));
  for (int b = 0; b < r.n_beliefs; b++) {
    if (before[b] != IBRC_NO_LAST) check_action(&r, before[b]);
    read_belief(&r, b);
    ibrc_walker_remember(&r.walker, before[b]);
    ibrc_walker_policy(&r.walker, REAL(out) + (size_t)b * (size_t)r.plan.n_actions);
  }
  UNPROTECT(1);
  return out;
}

/* [model, belief]; beliefs NULL: at every node; action: one per belief, from 0 */
SEXP ffi_sigma(SEXP plan, SEXP beliefs, SEXP action) {
  reader r;
  open_reader(plan, NULL, beliefs, &r);
  const int *actions = args_ints(action, r.n_beliefs, "action");
  const size_t M = (size_t)r.plan.n_models;
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, r.plan.n_models, r.n_beliefs));
  for (int b = 0; b < r.n_beliefs; b++) {
    check_action(&r, actions[b]);
    read_belief(&r, b);
    memcpy(REAL(out) + (size_t)b * M, ibrc_walker_sigma(&r.walker, actions[b]), M * sizeof(double));
  }
  UNPROTECT(1);
  return out;
}

/* beliefs [state, belief], action and observation one per belief from 0, a missing
 * observation -1. Returns the next beliefs and a code for each. */
SEXP ffi_recognise(SEXP plan, SEXP models_arg, SEXP beliefs, SEXP action, SEXP observation) {
  reader r;
  ibrc_models models = args_models(models_arg);
  open_reader(plan, &models, beliefs, &r);
  if (!r.beliefs) Rf_error("internal: no beliefs");
  const size_t S = (size_t)models.n_states;
  const int *u = args_ints(action, r.n_beliefs, "action");
  const int *x = args_ints(observation, r.n_beliefs, "observation");

  const char *names[] = {"belief", "code", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_allocMatrix(REALSXP, models.n_states, r.n_beliefs));
  SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, r.n_beliefs));
  double *next = REAL(VECTOR_ELT(out, 0));
  int *code = INTEGER(VECTOR_ELT(out, 1));
  memcpy(next, r.beliefs, S * (size_t)r.n_beliefs * sizeof(double));
  for (int b = 0; b < r.n_beliefs; b++) {
    check_action(&r, u[b]);
    if (x[b] < IBRC_NO_OBSERVATION || x[b] >= models.n_obs) Rf_error("internal: no such observation");
    read_belief(&r, b);
    double *to = next + (size_t)b * S;
    int state;
    code[b] = (int)ibrc_walker_recognise(&r.walker, u[b], x[b], to, &state);
    for (size_t s = 0; state >= 0 && s < S; s++) to[s] = s == (size_t)state;
  }
  UNPROTECT(1);
  return out;
}

/* start and belief [state, start]; which: how each trajectory begins, from 0; noise
 * [1 + 3 * horizon, trajectory]. Returns length and code of each trajectory, and action and
 * observation of each visit, from 0, trajectories one after the other. */
SEXP ffi_rollout(SEXP plan_arg, SEXP models_arg, SEXP environment_arg, SEXP start, SEXP belief,
                 SEXP which, SEXP stops, SEXP horizon_arg, SEXP noise, SEXP threads) {
  ibrc_models models = args_models(models_arg), environment = args_models(environment_arg);
  ibrc_space space = args_space(args_element(plan_arg, "space"));
  ibrc_plan plan = args_plan(plan_arg, &space);
  const int horizon = args_size(horizon_arg, "horizon"), n = Rf_ncols(noise);
  args_check_models(&models, &plan);
  if (environment.n_states != models.n_states || environment.n_actions != models.n_actions ||
      environment.n_obs != models.n_obs) {
    Rf_error("internal: an environment of another problem");
  }
  int n_starts, n_beliefs;
  const int *begin = args_ints(which, n, "which");
  const double *first = args_starts(start, &environment, &n_starts);
  const double *believed = args_starts(belief, &models, &n_beliefs);
  if (n_beliefs != n_starts) Rf_error("internal: first beliefs for other starts");
  for (int i = 0; i < n; i++) {
    if (begin[i] < 0 || begin[i] >= n_starts) Rf_error("internal: no such start");
  }
  ibrc_rollout rollout = {.plan = &plan,
                          .models = &models,
                          .environment = &environment,
                          .start = first,
                          .belief = believed,
                          .stops = args_ints(stops, models.n_actions, "stops"),
                          .horizon = horizon};
  const size_t n_noise = ibrc_rollout_noise(horizon);
  const double *uniform = args_doubles(noise, (R_xlen_t)n_noise * n, "noise");
  const int n_threads = args_threads(threads);
  const size_t n_doubles = ibrc_rollout_doubles(&rollout), n_ints = ibrc_rollout_ints(&rollout);
  double *doubles = args_alloc_doubles((size_t)n_threads * n_doubles);
  int *ints = args_alloc_ints((size_t)n_threads * n_ints);

  const size_t room = (size_t)horizon * (size_t)n;
  int *action = args_alloc_ints(room), *observation = args_alloc_ints(room);

  const char *names[] = {"action", "observation", "length", "code", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 2, Rf_allocVector(INTSXP, n));
  SET_VECTOR_ELT(out, 3, Rf_allocVector(INTSXP, n));
  int *length = INTEGER(VECTOR_ELT(out, 2)), *code = INTEGER(VECTOR_ELT(out, 3));

  IBRC_PARALLEL_FOR(n_threads)
  for (int i = 0; i < n; i++) {
    const size_t thread = (size_t)ibrc_thread_number(), at = (size_t)i * (size_t)horizon;
    code[i] = (int)ibrc_rollout_run(&rollout, begin[i], uniform + (size_t)i * n_noise,
                                    doubles + thread * n_doubles, ints + thread * n_ints,
                                    action + at, observation + at, length + i);
  }
  R_xlen_t n_visits = 0;
  for (int i = 0; i < n; i++) n_visits += length[i];
  for (int part = 0; part < 2; part++) {
    SET_VECTOR_ELT(out, part, Rf_allocVector(INTSXP, n_visits));
    int *to = INTEGER(VECTOR_ELT(out, part));
    const int *from = part == 0 ? action : observation;
    for (int i = 0; i < n; to += length[i], i++) {
      memcpy(to, from + (size_t)i * (size_t)horizon, (size_t)length[i] * sizeof(int));
    }
  }
  UNPROTECT(1);
  return out;
}
