#include "args.h"

#include <R_ext/Utils.h>
#include <string.h>

#include "threads.h"

static int forked = 0;

void args_after_fork(void) { forked = 1; }

void args_pause(void) { R_CheckUserInterrupt(); }

int args_threads(SEXP threads) {
  int wanted = args_whole(threads, "threads");
  /* OpenMP's own threads do not survive a fork: a child works alone. */
  if (forked || wanted < 1) return 1;
  int most = ibrc_threads_available();
  return wanted < most ? wanted : most;
}

const double *args_reals(SEXP x, R_xlen_t n, const char *name) {
  if (TYPEOF(x) != REALSXP) Rf_error("internal: '%s' is not a double vector", name);
  if (n >= 0 && Rf_xlength(x) != n) {
    Rf_error("internal: '%s' has length %.0f, not %.0f", name, (double)Rf_xlength(x), (double)n);
  }
  return REAL_RO(x);
}

const int *args_wholes(SEXP x, R_xlen_t n, const char *name) {
  if (TYPEOF(x) != INTSXP) Rf_error("internal: '%s' is not an integer vector", name);
  if (n >= 0 && Rf_xlength(x) != n) {
    Rf_error("internal: '%s' has length %.0f, not %.0f", name, (double)Rf_xlength(x), (double)n);
  }
  return INTEGER_RO(x);
}

double args_real(SEXP x, const char *name) { return args_reals(x, 1, name)[0]; }

int args_whole(SEXP x, const char *name) { return args_wholes(x, 1, name)[0]; }

SEXP args_element(SEXP list, const char *name) {
  if (TYPEOF(list) != VECSXP) Rf_error("internal: no list to take '%s' from", name);
  SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  for (R_xlen_t i = 0; i < Rf_xlength(names); i++) {
    if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0) return VECTOR_ELT(list, i);
  }
  Rf_error("internal: no element '%s'", name);
}

static int whole_element(SEXP list, const char *name) {
  return args_whole(args_element(list, name), name);
}

static double real_element(SEXP list, const char *name) {
  return args_real(args_element(list, name), name);
}

static const double *reals_element(SEXP list, const char *name, size_t n) {
  return args_reals(args_element(list, name), (R_xlen_t)n, name);
}

static const int *wholes_element(SEXP list, const char *name, size_t n) {
  return args_wholes(args_element(list, name), (R_xlen_t)n, name);
}

double *args_alloc_reals(size_t n) { return (double *)R_alloc(n ? n : 1, sizeof(double)); }

int *args_alloc_wholes(size_t n) { return (int *)R_alloc(n ? n : 1, sizeof(int)); }

/* 0 where a sanitizer or valgrind is to see the ends of every call's storage. */
#ifndef IBRC_MOST_KEPT
#define IBRC_MOST_KEPT ((size_t)1 << 20)
#endif

static SEXP kept = NULL;

void args_free_kept(void) {
  if (kept) R_ReleaseObject(kept);
  kept = NULL;
}

double *args_kept_reals(size_t n) {
  if (n > IBRC_MOST_KEPT) return args_alloc_reals(n);
  if (!kept || (size_t)Rf_xlength(kept) < n) {
    args_free_kept();
    SEXP taken = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)(n ? n : 1)));
    R_PreserveObject(taken);
    UNPROTECT(1);
    kept = taken;
  }
  return REAL(kept);
}

ibrc_lattice args_lattice(int n_states, int resolution) {
  if (n_states < 2 || resolution < 1) Rf_error("internal: no lattice of that size");
  if (ibrc_lattice_count(n_states, resolution) > 2147483646.0) Rf_error("internal: too many nodes");
  int *offset = args_alloc_wholes((size_t)(n_states - 1) * ((size_t)resolution + 1));
  return ibrc_lattice_make(n_states, resolution, offset);
}

ibrc_locator args_locator(int n_states) {
  ibrc_locator locator = {args_alloc_wholes((size_t)n_states), args_alloc_wholes((size_t)n_states),
                          args_alloc_reals((size_t)n_states)};
  return locator;
}

ibrc_models args_models(SEXP models) {
  ibrc_models m = {whole_element(models, "n_states"), whole_element(models, "n_actions"),
                   whole_element(models, "n_obs"), whole_element(models, "n_models"), NULL, NULL};
  size_t stack = (size_t)m.n_states * (size_t)m.n_actions * (size_t)m.n_models;
  m.transition = reals_element(models, "transition", stack * (size_t)m.n_states);
  m.emission = reals_element(models, "emission", stack * (size_t)m.n_obs);
  return m;
}

ibrc_table args_table(SEXP table) {
  ibrc_table t = {whole_element(table, "n_nodes"), whole_element(table, "n_actions"),
                  whole_element(table, "n_models"), NULL, NULL, NULL};
  size_t rows = ibrc_table_rows(&t);
  t.row_start = wholes_element(table, "row_start", rows + 1);
  t.column = wholes_element(table, "column", (size_t)t.row_start[rows]);
  t.weight = reals_element(table, "weight", (size_t)t.row_start[rows]);
  return t;
}

ibrc_coarse args_coarse(SEXP table) {
  int n_nodes = whole_element(table, "n_nodes");
  SEXP nodes = args_element(table, "coarse_node");
  ibrc_coarse c = {0, 0, args_wholes(nodes, -1, "coarse_node"), NULL, NULL};
  c.n_coarse = (int)Rf_xlength(nodes);
  c.n_corners = c.n_coarse > 0 ? whole_element(table, "n_states") : 0;
  size_t size = (size_t)n_nodes * (size_t)c.n_corners;
  c.column = wholes_element(table, "coarse_column", size);
  c.weight = reals_element(table, "coarse_weight", size);
  return c;
}

ibrc_problem args_problem(SEXP problem, const ibrc_table *table) {
  size_t cells = (size_t)table->n_nodes * (size_t)table->n_actions;
  ibrc_problem p;
  p.alpha = ibrc_temperature_from(real_element(problem, "alpha"));
  p.beta = ibrc_temperature_from(real_element(problem, "beta"));
  p.eta = real_element(problem, "eta");
  p.discount = real_element(problem, "discount");
  p.action_prior = reals_element(problem, "action_prior", (size_t)table->n_actions);
  p.model_weights = reals_element(problem, "model_weights", (size_t)table->n_models);
  p.reward = reals_element(problem, "reward", cells);
  p.surprise = reals_element(problem, "surprise", ibrc_table_rows(table));
  return p;
}

ibrc_history args_history(SEXP history) {
  ibrc_history h = {whole_element(history, "n_histories"), whole_element(history, "n_actions"),
                    NULL, NULL, NULL, NULL};
  size_t n = (size_t)h.n_histories;
  h.parent = wholes_element(history, "parent", n);
  h.action = wholes_element(history, "action", n);
  h.observation = wholes_element(history, "observation", n);
  h.count = reals_element(history, "count", n * (size_t)h.n_actions);
  return h;
}

ibrc_plan args_plan(SEXP plan, const ibrc_lattice *lattice) {
  SEXP problem = args_element(plan, "problem"), solution = args_element(plan, "solution");
  ibrc_plan p;
  p.lattice = lattice;
  p.n_actions = (int)Rf_xlength(args_element(problem, "action_prior"));
  p.n_models = (int)Rf_xlength(args_element(problem, "model_weights"));
  size_t cells = (size_t)lattice->n_nodes * (size_t)p.n_actions;
  size_t rows = cells * (size_t)p.n_models;
  p.by_value = whole_element(plan, "by_value");
  p.alpha = ibrc_temperature_from(real_element(problem, "alpha"));
  p.beta = ibrc_temperature_from(real_element(problem, "beta"));
  p.action_prior = reals_element(problem, "action_prior", (size_t)p.n_actions);
  p.model_weights = reals_element(problem, "model_weights", (size_t)p.n_models);
  p.action_value = reals_element(solution, "action_value", cells);
  p.model_value = reals_element(solution, "model_value", rows);
  p.policy = reals_element(solution, "policy", cells);
  p.sigma = reals_element(solution, "sigma", rows);
  return p;
}
