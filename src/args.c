#include "args.h"

#include <R_ext/Utils.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "habit.h"
#include "threads.h"

static int forked = 0;

void args_after_fork(void) { forked = 1; }

void args_pause(void) { R_CheckUserInterrupt(); }

int args_threads(SEXP threads) {
  int wanted = args_int(threads, "threads");
  /* OpenMP's own threads do not survive a fork: a child works alone. */
  if (forked || wanted < 1) return 1;
  int most = ibrc_threads_available();
  return wanted < most ? wanted : most;
}

static void check_length(SEXP x, R_xlen_t n, const char *name) {
  if (Rf_xlength(x) == n) return;
  Rf_error("internal: '%s' has length %.0f, not %.0f", name, (double)Rf_xlength(x), (double)n);
}

const double *args_doubles(SEXP x, R_xlen_t n, const char *name) {
  if (TYPEOF(x) != REALSXP) Rf_error("internal: '%s' is not a double vector", name);
  check_length(x, n, name);
  return REAL_RO(x);
}

const int *args_ints(SEXP x, R_xlen_t n, const char *name) {
  if (TYPEOF(x) != INTSXP) Rf_error("internal: '%s' is not an integer vector", name);
  check_length(x, n, name);
  return INTEGER_RO(x);
}

double args_double(SEXP x, const char *name) { return args_doubles(x, 1, name)[0]; }

int args_int(SEXP x, const char *name) { return args_ints(x, 1, name)[0]; }

/* A negative number, cast to a size, would be larger than any size. */
int args_size(SEXP x, const char *name) {
  const int n = args_int(x, name);
  if (n < 1) Rf_error("internal: '%s' is not a size", name);
  return n;
}

void args_check_nonnegative(const double *x, size_t n, const char *name) {
  for (size_t i = 0; i < n; i++) {
    if (!(x[i] >= 0.0 && x[i] <= DBL_MAX)) Rf_error("internal: '%s' has an entry out of range", name);
  }
}

/* Spaces are looked up by belief: one that is not finite has no place there. */
const double *args_nonnegative(SEXP x, R_xlen_t n, const char *name) {
  const double *values = args_doubles(x, n, name);
  args_check_nonnegative(values, (size_t)n, name);
  return values;
}

static R_xlen_t find_element(SEXP list, const char *name) {
  if (TYPEOF(list) != VECSXP) Rf_error("internal: no list to take '%s' from", name);
  SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  for (R_xlen_t i = 0; i < Rf_xlength(names); i++) {
    if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0) return i;
  }
  return -1;
}

int args_has_element(SEXP list, const char *name) { return find_element(list, name) >= 0; }

SEXP args_element(SEXP list, const char *name) {
  const R_xlen_t i = find_element(list, name);
  if (i < 0) Rf_error("internal: no element '%s'", name);
  return VECTOR_ELT(list, i);
}

static int int_element(SEXP list, const char *name) {
  return args_int(args_element(list, name), name);
}

static int size_element(SEXP list, const char *name) {
  return args_size(args_element(list, name), name);
}

/* Sizes whose product is more than any vector holds would wrap round to a small number. */
static size_t product(size_t a, size_t b) {
  if ((double)a * (double)b > (double)R_XLEN_T_MAX) Rf_error("internal: sizes that no vector has");
  return a * b;
}

static double double_element(SEXP list, const char *name) {
  return args_double(args_element(list, name), name);
}

static const double *doubles_element(SEXP list, const char *name, size_t n) {
  return args_doubles(args_element(list, name), (R_xlen_t)n, name);
}

static const int *ints_element(SEXP list, const char *name, size_t n) {
  return args_ints(args_element(list, name), (R_xlen_t)n, name);
}

double *args_alloc_doubles(size_t n) { return (double *)R_alloc(n ? n : 1, sizeof(double)); }

int *args_alloc_ints(size_t n) { return (int *)R_alloc(n ? n : 1, sizeof(int)); }

/* 0 where a sanitizer or valgrind is to see where the storage of every call ends. */
#ifndef IBRC_MOST_KEPT
#define IBRC_MOST_KEPT ((size_t)1 << 20)
#endif

static SEXP kept = NULL;

void args_free_kept(void) {
  if (kept) R_ReleaseObject(kept);
  kept = NULL;
}

double *args_kept_doubles(size_t n) {
  if (n > IBRC_MOST_KEPT) return args_alloc_doubles(n);
  if (!kept || (size_t)Rf_xlength(kept) < n) {
    args_free_kept();
    SEXP taken = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)(n ? n : 1)));
    R_PreserveObject(taken);
    UNPROTECT(1);
    kept = taken;
  }
  return REAL(kept);
}

static const ibrc_space_maker *maker_of(SEXP space) {
  SEXP kind = args_element(space, "kind");
  if (TYPEOF(kind) != STRSXP || Rf_xlength(kind) != 1) Rf_error("internal: a space of no kind");
  const ibrc_space_maker *maker = ibrc_space_find(CHAR(STRING_ELT(kind, 0)));
  if (!maker) Rf_error("internal: a space of an unknown kind");
  return maker;
}

double args_space_count(SEXP space) {
  return maker_of(space)->count(size_element(space, "n_states"), size_element(space, "resolution"));
}

ibrc_space args_space(SEXP space) {
  const ibrc_space_maker *maker = maker_of(space);
  const int n_states = size_element(space, "n_states"), resolution = size_element(space, "resolution");
  if (n_states < 2) Rf_error("internal: no space of that size");
  if (maker->count(n_states, resolution) > 2147483646.0) Rf_error("internal: too many nodes");
  return maker->make(n_states, resolution, args_alloc_ints(maker->layout(n_states, resolution)));
}

ibrc_space args_coarser(const ibrc_space *space, double most_nodes) {
  int *layout = args_alloc_ints(ibrc_space_coarser_layout(space, most_nodes));
  return ibrc_space_coarser(space, most_nodes, layout);
}

ibrc_corners args_corners(const ibrc_space *space) {
  return ibrc_corners_over(space, args_alloc_ints(ibrc_corners_ints(space)),
                           args_alloc_doubles(ibrc_corners_doubles(space)));
}

ibrc_models args_model_sizes(SEXP models) {
  ibrc_models m = {.n_states = size_element(models, "n_states"),
                   .n_actions = size_element(models, "n_actions"),
                   .n_obs = size_element(models, "n_obs"),
                   .n_models = 1};
  return m;
}

/* Where the state is seen: transitions by rows. */
static void take_rows(SEXP models, size_t rows, ibrc_models *m) {
  if (m->n_obs != m->n_states) Rf_error("internal: states that cannot all be seen");
  m->row_start = ints_element(models, "row_start", rows + 1);
  int sound = m->row_start[0] == 0;
  for (size_t r = 0; r < rows; r++) sound &= m->row_start[r] < m->row_start[r + 1];
  if (!sound) Rf_error("internal: not the rows of a transition");
  const size_t n = (size_t)m->row_start[rows];
  m->to = ints_element(models, "to", n);
  m->chance = doubles_element(models, "chance", n);
  args_check_nonnegative(m->chance, n, "chance");
  for (size_t r = 0; r < rows; r++) {
    int before = -1;
    for (int i = m->row_start[r]; i < m->row_start[r + 1]; before = m->to[i++]) {
      sound &= m->to[i] > before && m->to[i] < m->n_states;
    }
  }
  if (!sound) Rf_error("internal: states that do not follow each other in a row");
}

ibrc_models args_models(SEXP models) {
  ibrc_models m = args_model_sizes(models);
  m.n_models = size_element(models, "n_models");
  const size_t rows = product(product((size_t)m.n_states, (size_t)m.n_actions), (size_t)m.n_models);
  if (args_has_element(models, "row_start")) {
    take_rows(models, rows, &m);
    return m;
  }
  const size_t n_transition = product(rows, (size_t)m.n_states), n_emission = product(rows, (size_t)m.n_obs);
  m.transition = doubles_element(models, "transition", n_transition);
  m.emission = doubles_element(models, "emission", n_emission);
  args_check_nonnegative(m.transition, n_transition, "transition");
  args_check_nonnegative(m.emission, n_emission, "emission");
  return m;
}

ibrc_table args_table(SEXP table) {
  ibrc_table t = {.n_nodes = size_element(table, "n_nodes"),
                  .n_actions = size_element(table, "n_actions"),
                  .n_models = size_element(table, "n_models")};
  size_t rows = product(product((size_t)t.n_nodes, (size_t)t.n_actions), (size_t)t.n_models);
  t.row_start = ints_element(table, "row_start", rows + 1);
  if (t.row_start[0] != 0 || t.row_start[rows] < 0) Rf_error("internal: not the rows of a table");
  t.column = ints_element(table, "column", (size_t)t.row_start[rows]);
  t.weight = doubles_element(table, "weight", (size_t)t.row_start[rows]);
  return t;
}

ibrc_coarse args_coarse(SEXP table) {
  int n_nodes = size_element(table, "n_nodes");
  SEXP nodes = args_element(table, "coarse_node");
  ibrc_coarse c = {.fine_node = args_ints(nodes, Rf_xlength(nodes), "coarse_node")};
  if (Rf_xlength(nodes) > n_nodes) Rf_error("internal: more coarse nodes than nodes");
  c.n_coarse = (int)Rf_xlength(nodes);
  c.n_corners = c.n_coarse > 0 ? size_element(table, "n_corners") : 0;
  /* A lattice has fewer corners than nodes. */
  c.seen = size_element(table, "n_corners") == n_nodes;
  size_t size = product((size_t)n_nodes, (size_t)c.n_corners);
  c.column = ints_element(table, "coarse_column", size);
  c.weight = doubles_element(table, "coarse_weight", size);
  return c;
}

/* Actions that end a trajectory; NULL for plans that were saved before they mattered to kernels. */
static const int *take_ends(SEXP problem, int n_actions) {
  return args_has_element(problem, "ends") ? ints_element(problem, "ends", (size_t)n_actions) : NULL;
}

/* pi~ by the last action; NULL without a habit, and for plans that were saved before habit existed.
 * */
static const double *take_habit(SEXP problem, const double *prior, const int *ends, int n_actions) {
  const double habit = args_has_element(problem, "habit") ? double_element(problem, "habit") : 0.0;
  if (!(fabs(habit) <= DBL_MAX)) Rf_error("internal: a habit that is not finite");
  if (habit == 0.0) return NULL;
  double *after = args_alloc_doubles(product((size_t)n_actions, (size_t)n_actions));
  ibrc_habit_priors(prior, ends, n_actions, habit, after);
  return after;
}

ibrc_problem args_problem(SEXP problem, const ibrc_table *table) {
  size_t cells = (size_t)table->n_nodes * (size_t)table->n_actions;
  ibrc_problem p = {
      .alpha = ibrc_temperature_from(double_element(problem, "alpha")),
      .beta = ibrc_temperature_from(double_element(problem, "beta")),
      .eta = double_element(problem, "eta"),
      .discount = double_element(problem, "discount"),
      .action_prior = doubles_element(problem, "action_prior", (size_t)table->n_actions),
      .model_weights = doubles_element(problem, "model_weights", (size_t)table->n_models),
      .reward = doubles_element(problem, "reward", cells),
      .surprise = doubles_element(problem, "surprise", ibrc_table_rows(table))};
  p.ends = take_ends(problem, table->n_actions);
  p.after = take_habit(problem, p.action_prior, p.ends, table->n_actions);
  return p;
}

ibrc_process args_process(const ibrc_table *table, SEXP policy, SEXP sigma, double discount, int remembers,
                          int n_threads) {
  const size_t U = (size_t)table->n_actions, cells = product((size_t)table->n_nodes, U);
  const size_t by_last = product(cells, U + 1);
  const int is_by_last = Rf_xlength(policy) == (R_xlen_t)by_last;
  ibrc_process process = {.table = table,
                          .policy = args_doubles(policy, (R_xlen_t)(is_by_last ? by_last : cells), "policy"),
                          .sigma = args_doubles(sigma, (R_xlen_t)ibrc_table_rows(table), "sigma"),
                          .discount = discount,
                          .n_threads = n_threads};
  if (is_by_last) process.after = process.policy + cells;
  if (!remembers || is_by_last) return process;
  double *same = args_alloc_doubles(product(cells, U));
  for (size_t last = 0; last < U; last++) memcpy(same + last * cells, process.policy, cells * sizeof(double));
  process.after = same;
  return process;
}

/* Kernels follow a tree's numbers without checks: every tree is checked here first. */
void args_check_tree(int n, const int *parent, const int *action, const int *observation,
                     const ibrc_models *models, int n_roots, int more, int least_action) {
  int sound = n_roots >= 1 && n_roots <= n;
  for (int h = 0; h < n; h++) {
    if (h < n_roots || (more && parent[h] == -1)) {
      sound &= parent[h] == -1;
      continue;
    }
    sound &= parent[h] >= 0 && parent[h] < h && action[h] >= least_action &&
             action[h] < models->n_actions && observation[h] >= -1 && observation[h] < models->n_obs;
  }
  if (!sound) Rf_error("internal: not a tree of visits");
}

ibrc_history args_history(SEXP history, const ibrc_models *models) {
  ibrc_history h = {.n_histories = size_element(history, "n_histories"),
                    .n_actions = size_element(history, "n_actions")};
  const size_t n = (size_t)h.n_histories, cells = product(n, (size_t)h.n_actions);
  if (h.n_actions != models->n_actions) Rf_error("internal: a tree with other actions");
  h.parent = ints_element(history, "parent", n);
  h.action = ints_element(history, "action", n);
  h.observation = ints_element(history, "observation", n);
  h.count = doubles_element(history, "count", cells);
  if (args_has_element(history, "stops")) h.stops = ints_element(history, "stops", (size_t)h.n_actions);
  SEXP start = args_element(history, "start");
  if (Rf_xlength(start) > h.n_histories) Rf_error("internal: more roots than histories");
  h.n_roots = (int)Rf_xlength(start);
  h.start = args_ints(start, h.n_roots, "start");
  args_check_tree(h.n_histories, h.parent, h.action, h.observation, models, h.n_roots, 0,
                  h.stops ? IBRC_NO_ACTION : 0);
  args_check_nonnegative(h.count, cells, "count");
  for (size_t i = 0; i < n; i++) h.n_unseen += h.observation[i] < 0;
  for (int i = 0; i < h.n_roots; i++) {
    if (h.observation[i] >= 0) Rf_error("internal: a tree whose root has seen something");
  }
  int *links = args_alloc_ints(2 * n);
  ibrc_history_link(h.n_histories, h.parent, links, links + n);
  h.first_child = links;
  h.next_sibling = links + n;
  return h;
}

const double *args_starts(SEXP start, const ibrc_models *models, int *n_starts) {
  const R_xlen_t n = Rf_xlength(start);
  if (n < 1 || n % models->n_states != 0) Rf_error("internal: start beliefs of other states");
  *n_starts = (int)(n / models->n_states);
  return args_nonnegative(start, n, "start");
}

void args_check_starts(const ibrc_history *history, int n_starts) {
  for (int i = 0; i < history->n_roots; i++) {
    if (history->start[i] < 0 || history->start[i] >= n_starts) Rf_error("internal: no such start");
  }
}

ibrc_plan args_plan(SEXP plan, const ibrc_space *space) {
  SEXP problem = args_element(plan, "problem"), solution = args_element(plan, "solution");
  ibrc_plan p = {.space = space,
                 .n_actions = (int)Rf_xlength(args_element(problem, "action_prior")),
                 .n_models = (int)Rf_xlength(args_element(problem, "model_weights"))};
  if (p.n_actions < 1 || p.n_models < 1) Rf_error("internal: a plan without actions or models");
  size_t cells = product((size_t)space->n_nodes, (size_t)p.n_actions);
  size_t rows = product(cells, (size_t)p.n_models);
  p.by_value = int_element(plan, "by_value");
  p.alpha = ibrc_temperature_from(double_element(problem, "alpha"));
  p.beta = ibrc_temperature_from(double_element(problem, "beta"));
  p.action_prior = doubles_element(problem, "action_prior", (size_t)p.n_actions);
  p.after = take_habit(problem, p.action_prior, take_ends(problem, p.n_actions), p.n_actions);
  p.model_weights = doubles_element(problem, "model_weights", (size_t)p.n_models);
  p.action_value = doubles_element(solution, "action_value", cells);
  p.model_value = doubles_element(solution, "model_value", rows);
  p.policy = doubles_element(solution, "policy", cells);
  p.sigma = doubles_element(solution, "sigma", rows);
  return p;
}

void args_check_models(const ibrc_models *models, const ibrc_plan *plan) {
  if (models->n_states != plan->space->n_states || models->n_actions != plan->n_actions ||
      models->n_models != plan->n_models) {
    Rf_error("internal: models of another problem");
  }
}
