#include <limits.h>
#include <string.h>

#include "args.h"
#include "ffi.h"
#include "iohmm_bc.h"

/* Tasks come as list(n_states, n_actions, n_obs, chosen [action, node], centre_sd,
 * log_sharpness_mean, log_sharpness_sd, fixed) and, where dynamics are learned too, tree (n_nodes,
 * parent, action, observation, through) and prior (as in ffi_iohmm.c). */

enum { MOST_WORDS = 65536 };

static ibrc_models read_sizes(SEXP task) {
  const ibrc_models size = args_model_sizes(task);
  if (size.n_states > MOST_WORDS || size.n_actions > MOST_WORDS || size.n_obs > MOST_WORDS) {
    Rf_error("internal: more states, actions or observations than there can be");
  }
  return size;
}

static void check_sd(double sd) {
  if (!(sd > 0.0)) Rf_error("internal: a prior without a width");
}

static ibrc_iohmm_bc_task read_task(SEXP task, int n_nodes) {
  const ibrc_models size = read_sizes(task);
  ibrc_iohmm_bc_task t = {
      .n_states = size.n_states,
      .n_actions = size.n_actions,
      .n_obs = size.n_obs,
      .chosen = args_nonnegative(args_element(task, "chosen"), (R_xlen_t)n_nodes * size.n_actions, "chosen"),
      .centre_sd = args_double(args_element(task, "centre_sd"), "centre_sd"),
      .log_sharpness_mean = args_double(args_element(task, "log_sharpness_mean"), "log_sharpness_mean"),
      .log_sharpness_sd = args_double(args_element(task, "log_sharpness_sd"), "log_sharpness_sd"),
      .fixed = args_int(args_element(task, "fixed"), "fixed")};
  check_sd(t.centre_sd);
  check_sd(t.log_sharpness_sd);
  return t;
}

static ibrc_iohmm_tree read_tree(SEXP tree, const ibrc_models *size, int n) {
  int *start = args_alloc_ints((size_t)n);
  memset(start, 0, (size_t)n * sizeof(int));
  ibrc_iohmm_tree t = {.n_nodes = n,
                       .parent = args_ints(args_element(tree, "parent"), n, "parent"),
                       .action = args_ints(args_element(tree, "action"), n, "action"),
                       .observation = args_ints(args_element(tree, "observation"), n, "observation"),
                       .start = start,
                       .through = args_nonnegative(args_element(tree, "through"), n, "through")};
  args_check_tree(n, t.parent, t.action, t.observation, size, 1, 1, 0);
  return t;
}

static ibrc_iohmm_prior read_prior(SEXP prior, const ibrc_models *size) {
  const R_xlen_t pairs = (R_xlen_t)size->n_obs * size->n_actions;
  ibrc_iohmm_prior p = {.start = args_double(args_element(prior, "start"), "start"),
                        .transition = args_double(args_element(prior, "transition"), "transition"),
                        .stay = args_double(args_element(prior, "stay"), "stay"),
                        .emission = args_nonnegative(args_element(prior, "emission"), pairs, "emission"),
                        .possible = args_ints(args_element(prior, "possible"), pairs, "possible"),
                        .shared = args_int(args_element(prior, "shared"), "shared")};
  for (int u = 0; u < size->n_actions; u++) {
    int open = 0;
    for (int x = 0; x < size->n_obs; x++) open |= p.possible[(R_xlen_t)u * size->n_obs + x];
    if (!open) Rf_error("internal: nothing can be seen after an action");
  }
  return p;
}

/* How many vectors there are. */
static int n_vectors(SEXP parameters, size_t size) {
  const R_xlen_t all = Rf_xlength(parameters);
  if (all < 1 || all % (R_xlen_t)size != 0 || all / (R_xlen_t)size > 1000000) {
    Rf_error("internal: parameters of another size");
  }
  return (int)(all / (R_xlen_t)size);
}

/* objective, seen, chosen, code [vector], with room for slope [parameter, vector]. */
static SEXP open_worths(int size, int n) {
  const char *names[] = {"objective", "seen", "chosen", "code", "slope", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  for (int i = 0; i < 3; i++) SET_VECTOR_ELT(out, i, Rf_allocVector(REALSXP, n));
  SET_VECTOR_ELT(out, 3, Rf_allocVector(INTSXP, n));
  SET_VECTOR_ELT(out, 4, Rf_allocMatrix(REALSXP, size, n));
  memset(REAL(VECTOR_ELT(out, 4)), 0, (size_t)size * (size_t)n * sizeof(double));
  UNPROTECT(1);
  return out;
}

static void fill_worths(SEXP out, const ibrc_iohmm_bc_worth *worth, int n) {
  for (int i = 0; i < n; i++) {
    REAL(VECTOR_ELT(out, 0))[i] = worth[i].objective;
    REAL(VECTOR_ELT(out, 1))[i] = worth[i].seen;
    REAL(VECTOR_ELT(out, 2))[i] = worth[i].chosen;
    INTEGER(VECTOR_ELT(out, 3))[i] = (int)worth[i].code;
  }
}

/* parameters [parameter, vector]: logarithms of weights, centres, log sharpness. */
SEXP ffi_iohmm_bc_joint(SEXP task_arg, SEXP parameters_arg, SEXP threads) {
  const ibrc_models size = read_sizes(task_arg);
  SEXP tree_arg = args_element(task_arg, "tree");
  const int n_nodes = args_size(args_element(tree_arg, "n_nodes"), "n_nodes");
  const ibrc_iohmm_tree tree = read_tree(tree_arg, &size, n_nodes);
  const ibrc_iohmm_prior prior = read_prior(args_element(task_arg, "prior"), &size);
  ibrc_iohmm_bc_task task = read_task(task_arg, n_nodes);
  task.tree = &tree;
  task.prior = &prior;
  const size_t n_parameters = ibrc_iohmm_bc_size(&task);
  const int n = n_vectors(parameters_arg, n_parameters), n_threads = args_threads(threads);
  const double *parameters = args_doubles(parameters_arg, (R_xlen_t)n_parameters * n, "parameters");
  ibrc_iohmm_bc_worth *worth = (ibrc_iohmm_bc_worth *)R_alloc((size_t)n, sizeof(ibrc_iohmm_bc_worth));
  double *doubles = args_alloc_doubles((size_t)n_threads * ibrc_iohmm_bc_doubles(&task));
  SEXP out = PROTECT(open_worths((int)n_parameters, n));
  ibrc_iohmm_bc_joint(&task, n, n_threads, doubles, parameters, worth, REAL(VECTOR_ELT(out, 4)));
  fill_worths(out, worth, n);
  UNPROTECT(1);
  return out;
}

/* parameters [parameter, vector]: centres, log sharpness; beliefs [state, node]. */
SEXP ffi_iohmm_bc_choice(SEXP task_arg, SEXP beliefs_arg, SEXP parameters_arg, SEXP threads) {
  const ibrc_models size = read_sizes(task_arg);
  const R_xlen_t cells = Rf_xlength(beliefs_arg);
  if (cells < 1 || cells % size.n_states != 0 || cells / size.n_states > INT_MAX) {
    Rf_error("internal: beliefs of other states");
  }
  const int n_nodes = (int)(cells / size.n_states);
  const double *beliefs = args_nonnegative(beliefs_arg, cells, "beliefs");
  const ibrc_iohmm_bc_task task = read_task(task_arg, n_nodes);
  const size_t n_parameters = (size_t)size.n_states * (size_t)size.n_actions + 1;
  const int n = n_vectors(parameters_arg, n_parameters), n_threads = args_threads(threads);
  const double *parameters = args_doubles(parameters_arg, (R_xlen_t)n_parameters * n, "parameters");
  ibrc_iohmm_bc_worth *worth = (ibrc_iohmm_bc_worth *)R_alloc((size_t)n, sizeof(ibrc_iohmm_bc_worth));
  double *doubles = args_alloc_doubles((size_t)n_threads * ibrc_iohmm_bc_choice_doubles(&task));
  SEXP out = PROTECT(open_worths((int)n_parameters, n));
  ibrc_iohmm_bc_choice(&task, n_nodes, beliefs, n, n_threads, doubles, parameters, worth,
                       REAL(VECTOR_ELT(out, 4)));
  fill_worths(out, worth, n);
  UNPROTECT(1);
  return out;
}
