#include <string.h>

#include "args.h"
#include "ffi.h"
#include "iohmm.h"

/* Trees come as list(n_nodes, parent, action, observation, start, through, ends), laws as
 * list(n_states, n_actions, n_obs, n_models = 1, start, transition, emission) with as many laws of the
 * first state as `start` [state, start] has numbers for, priors as
 * list(start, transition, stay, emission [observation, action], possible, shared). */

static ibrc_iohmm_tree read_tree(SEXP tree, const ibrc_models *size, int n_starts) {
  const int n = args_size(args_element(tree, "n_nodes"), "n_nodes");
  ibrc_iohmm_tree t = {.n_nodes = n,
                       .parent = args_ints(args_element(tree, "parent"), n, "parent"),
                       .action = args_ints(args_element(tree, "action"), n, "action"),
                       .observation = args_ints(args_element(tree, "observation"), n, "observation"),
                       .start = args_ints(args_element(tree, "start"), n, "start"),
                       .through = args_doubles(args_element(tree, "through"), n, "through"),
                       .ends = args_doubles(args_element(tree, "ends"), n, "ends")};
  args_check_tree(t.n_nodes, t.parent, t.action, t.observation, size, 1, 1, 0);
  for (int h = 0; h < n; h++) {
    if (t.parent[h] < 0 && (t.start[h] < 0 || t.start[h] >= n_starts)) {
      Rf_error("internal: no such start");
    }
  }
  return t;
}

/* The laws of hidden states. */
static ibrc_models read_laws(SEXP laws) {
  ibrc_models model = args_models(laws);
  if (ibrc_model_seen(&model)) Rf_error("internal: laws of states that are seen");
  return model;
}

static ibrc_iohmm_prior read_prior(SEXP prior, const ibrc_models *size) {
  const R_xlen_t pairs = (R_xlen_t)size->n_obs * size->n_actions;
  ibrc_iohmm_prior p = {.start = args_double(args_element(prior, "start"), "start"),
                        .transition = args_double(args_element(prior, "transition"), "transition"),
                        .stay = args_double(args_element(prior, "stay"), "stay"),
                        .emission = args_doubles(args_element(prior, "emission"), pairs, "emission"),
                        .possible = args_ints(args_element(prior, "possible"), pairs, "possible"),
                        .shared = args_int(args_element(prior, "shared"), "shared")};
  return p;
}

/* start, transition and emission as elements `first`, `first` + 1, `first` + 2. */
static ibrc_iohmm_laws open_laws(SEXP out, int first, const ibrc_models *size, int n_starts) {
  const R_xlen_t S = size->n_states, U = size->n_actions, X = size->n_obs;
  SET_VECTOR_ELT(out, first, Rf_allocVector(REALSXP, S * n_starts));
  SET_VECTOR_ELT(out, first + 1, Rf_allocVector(REALSXP, S * S * U));
  SET_VECTOR_ELT(out, first + 2, Rf_allocVector(REALSXP, S * X * U));
  ibrc_iohmm_laws laws = {.n_starts = n_starts,
                          .start = REAL(VECTOR_ELT(out, first)),
                          .transition = REAL(VECTOR_ELT(out, first + 1)),
                          .emission = REAL(VECTOR_ELT(out, first + 2))};
  return laws;
}

/* All that laws say of a tree: log_lik, filter [state, node], smooth (expected
 * numbers of trajectories) [state, node], expected counts; code and, where an
 * observation is impossible, its node from 1. */
SEXP ffi_iohmm_expect(SEXP tree_arg, SEXP laws_arg) {
  ibrc_models model = read_laws(laws_arg);
  int n_starts;
  const double *start = args_starts(args_element(laws_arg, "start"), &model, &n_starts);
  ibrc_iohmm_tree tree = read_tree(tree_arg, &model, n_starts);
  const size_t cells = (size_t)tree.n_nodes * (size_t)model.n_states;
  double *norm = args_alloc_doubles((size_t)tree.n_nodes);
  int where = -1;

  const char *names[] = {"log_lik",    "filter",   "smooth", "start",
                         "transition", "emission", "code",   "where", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, 1));
  SET_VECTOR_ELT(out, 1, Rf_allocMatrix(REALSXP, model.n_states, tree.n_nodes));
  SET_VECTOR_ELT(out, 2, Rf_allocMatrix(REALSXP, model.n_states, tree.n_nodes));
  double *filter = REAL(VECTOR_ELT(out, 1)), *smooth = REAL(VECTOR_ELT(out, 2));
  ibrc_iohmm_laws counts = open_laws(out, 3, &model, n_starts);
  ibrc_code code = ibrc_iohmm_forward(&tree, &model, start, filter, norm,
                                      REAL(VECTOR_ELT(out, 0)), &where);
  if (code == IBRC_OK) {
    ibrc_iohmm_backward(&tree, &model, filter, norm, smooth, &counts);
    for (size_t i = 0; i < cells; i++) smooth[i] *= filter[i];
  } else {
    for (size_t i = 0; i < cells; i++) filter[i] = smooth[i] = NA_REAL;
    ibrc_iohmm_clear(&model, &counts);
  }
  SET_VECTOR_ELT(out, 6, Rf_ScalarInteger((int)code));
  SET_VECTOR_ELT(out, 7, Rf_ScalarInteger(where + 1));
  UNPROTECT(1);
  return out;
}

/* laws hold start [state and start, climb], transition and emission [cell, climb]; previous [climb].
 * Returns the same after up to n_steps steps of EM, trace [step, climb] (NA where not
 * taken), steps, converged and code. */
SEXP ffi_iohmm_em(SEXP tree_arg, SEXP laws_arg, SEXP prior_arg, SEXP previous, SEXP n_steps,
                  SEXP last, SEXP tolerance, SEXP threads) {
  ibrc_models size = args_model_sizes(laws_arg);
  const int n = (int)Rf_xlength(previous), n_threads = args_threads(threads);
  int n_starts;
  args_starts(args_element(laws_arg, "start"), &size, &n_starts);
  if (n < 1 || n_starts % n != 0) Rf_error("internal: laws of other climbs");
  n_starts /= n;
  ibrc_iohmm_tree tree = read_tree(tree_arg, &size, n_starts);
  ibrc_iohmm_prior prior = read_prior(prior_arg, &size);
  ibrc_iohmm_task task = {.tree = &tree,
                          .prior = &prior,
                          .n_states = size.n_states,
                          .n_actions = size.n_actions,
                          .n_obs = size.n_obs,
                          .n_starts = n_starts,
                          .n_steps = args_size(n_steps, "n_steps"),
                          .last = args_int(last, "last"),
                          .tolerance = args_double(tolerance, "tolerance")};
  const double *before = args_doubles(previous, n, "previous");
  const R_xlen_t S = size.n_states, U = size.n_actions, X = size.n_obs;
  const R_xlen_t width[] = {S * n_starts, S * S * U, S * X * U};
  const char *law[] = {"start", "transition", "emission"};

  const char *names[] = {"start", "transition", "emission",  "previous", "log_lik",
                         "trace", "steps",      "converged", "code",     ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  double *to[3];
  for (int i = 0; i < 3; i++) {
    const double *from = args_doubles(args_element(laws_arg, law[i]), width[i] * n, law[i]);
    SET_VECTOR_ELT(out, i, Rf_allocMatrix(REALSXP, (int)width[i], n));
    to[i] = REAL(VECTOR_ELT(out, i));
    memcpy(to[i], from, (size_t)width[i] * (size_t)n * sizeof(double));
  }
  for (int i = 3; i < 5; i++) SET_VECTOR_ELT(out, i, Rf_allocVector(REALSXP, n));
  SET_VECTOR_ELT(out, 5, Rf_allocMatrix(REALSXP, task.n_steps, n));
  for (int i = 6; i < 9; i++) SET_VECTOR_ELT(out, i, Rf_allocVector(INTSXP, n));
  double *trace = REAL(VECTOR_ELT(out, 5));
  for (R_xlen_t i = 0; i < (R_xlen_t)task.n_steps * n; i++) trace[i] = NA_REAL;

  ibrc_iohmm_climb *climbs = (ibrc_iohmm_climb *)R_alloc((size_t)n, sizeof(ibrc_iohmm_climb));
  for (int i = 0; i < n; i++) {
    ibrc_iohmm_climb climb = {.laws = {.n_starts = n_starts,
                                       .start = to[0] + i * width[0],
                                       .transition = to[1] + i * width[1],
                                       .emission = to[2] + i * width[2]},
                              .previous = before[i],
                              .trace = trace + (R_xlen_t)i * task.n_steps,
                              .log_lik = R_NegInf};
    climbs[i] = climb;
  }
  double *doubles = args_alloc_doubles((size_t)n_threads * ibrc_iohmm_doubles(&task));
  ibrc_iohmm_em(&task, n, n_threads, doubles, climbs);
  for (int i = 0; i < n; i++) {
    REAL(VECTOR_ELT(out, 3))[i] = climbs[i].previous;
    REAL(VECTOR_ELT(out, 4))[i] = climbs[i].log_lik;
    INTEGER(VECTOR_ELT(out, 6))[i] = climbs[i].steps;
    INTEGER(VECTOR_ELT(out, 7))[i] = climbs[i].converged;
    INTEGER(VECTOR_ELT(out, 8))[i] = (int)climbs[i].code;
  }
  UNPROTECT(1);
  return out;
}

/* leaf [trajectory]: the node where it ends, from 0; noise: one uniform per state of a path.
 * Returns path (states from 0, trajectories one after the other), the counts along
 * it, log_lik and code. */
SEXP ffi_iohmm_sample(SEXP tree_arg, SEXP laws_arg, SEXP leaf_arg, SEXP noise_arg) {
  ibrc_models model = read_laws(laws_arg);
  int n_starts;
  const double *start = args_starts(args_element(laws_arg, "start"), &model, &n_starts);
  ibrc_iohmm_tree tree = read_tree(tree_arg, &model, n_starts);
  const R_xlen_t n = Rf_xlength(leaf_arg);
  const int *leaf = args_ints(leaf_arg, n, "leaf");
  int *length = args_alloc_ints((size_t)n);
  R_xlen_t total = 0;
  for (R_xlen_t i = 0; i < n; i++) {
    if (leaf[i] < 0 || leaf[i] >= tree.n_nodes) Rf_error("internal: no such node");
    length[i] = 0;
    for (int h = leaf[i]; h >= 0; h = tree.parent[h]) length[i]++;
    total += length[i];
  }
  const double *noise = args_doubles(noise_arg, total, "noise");
  double *filter = args_alloc_doubles((size_t)tree.n_nodes * (size_t)model.n_states);
  double *norm = args_alloc_doubles((size_t)tree.n_nodes);
  double *chance = args_alloc_doubles((size_t)model.n_states);
  int where = -1;

  const char *names[] = {"log_lik", "start", "transition", "emission", "path", "code", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, 1));
  ibrc_iohmm_laws counts = open_laws(out, 1, &model, n_starts);
  SET_VECTOR_ELT(out, 4, Rf_allocVector(INTSXP, total));
  int *path = INTEGER(VECTOR_ELT(out, 4));
  ibrc_code code = ibrc_iohmm_forward(&tree, &model, start, filter, norm,
                                      REAL(VECTOR_ELT(out, 0)), &where);
  if (code == IBRC_OK) {
    ibrc_iohmm_sample(&tree, &model, filter, leaf, length, (int)n, noise, chance, path, &counts);
  } else {
    for (R_xlen_t i = 0; i < total; i++) path[i] = NA_INTEGER;
    ibrc_iohmm_clear(&model, &counts);
  }
  SET_VECTOR_ELT(out, 5, Rf_ScalarInteger((int)code));
  UNPROTECT(1);
  return out;
}
