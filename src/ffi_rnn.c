#include <string.h>

#include "args.h"
#include "ffi.h"
#include "rnn.h"
#include "threads.h"

/* Shapes come as c(n_inputs, n_hidden, n_dense, n_actions), data as list(first, done, seen, action)
 * with -1 for what is not there. */

enum { MOST_UNITS = 4096 };

static ibrc_rnn_shape read_shape(SEXP shape) {
  const int *n = args_ints(shape, 4, "shape");
  for (int k = 0; k < 4; k++) {
    if (n[k] < 1 || n[k] > MOST_UNITS) Rf_error("internal: a layer of no size");
  }
  ibrc_rnn_shape s = {.n_inputs = n[0], .n_hidden = n[1], .n_dense = n[2], .n_actions = n[3]};
  return s;
}

static void check_codes(const int *x, int n, int below, const char *name) {
  for (int i = 0; i < n; i++) {
    if (x[i] < -1 || x[i] >= below) Rf_error("internal: `%s` is out of range", name);
  }
}

static ibrc_rnn_data read_data(SEXP data, const ibrc_rnn_shape *shape, int *longest) {
  SEXP first = args_element(data, "first");
  const int n = (int)Rf_xlength(first) - 1;
  if (n < 1) Rf_error("internal: no trajectories");
  ibrc_rnn_data d = {.n_trajectories = n, .first = args_ints(first, n + 1, "first")};
  *longest = 1;
  if (d.first[0] != 0) Rf_error("internal: `first` begins elsewhere");
  for (int i = 0; i < n; i++) {
    if (d.first[i + 1] <= d.first[i]) Rf_error("internal: a trajectory without visits");
    const int length = d.first[i + 1] - d.first[i];
    if (length > *longest) *longest = length;
  }
  const int visits = d.first[n];
  d.done = args_ints(args_element(data, "done"), visits, "done");
  d.seen = args_ints(args_element(data, "seen"), visits, "seen");
  d.action = args_ints(args_element(data, "action"), visits, "action");
  check_codes(d.done, visits, shape->n_inputs, "done");
  check_codes(d.seen, visits, shape->n_inputs, "seen");
  check_codes(d.action, visits, shape->n_actions, "action");
  return d;
}

static void check_which(const int *which, R_xlen_t n, int n_trajectories) {
  for (R_xlen_t i = 0; i < n; i++) {
    if (which[i] < 0 || which[i] >= n_trajectories) Rf_error("internal: no such trajectory");
  }
}

/* log p [action, visit]. */
SEXP ffi_rnn_predict(SEXP shape_arg, SEXP weights_arg, SEXP data_arg) {
  const ibrc_rnn_shape shape = read_shape(shape_arg);
  const double *weights = args_doubles(weights_arg, (R_xlen_t)ibrc_rnn_size(&shape), "weights");
  int longest;
  const ibrc_rnn_data data = read_data(data_arg, &shape, &longest);
  double *scratch = args_alloc_doubles(ibrc_rnn_doubles(&shape, longest));
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, shape.n_actions, data.first[data.n_trajectories]));
  ibrc_rnn_predict(&shape, weights, &data, scratch, REAL(out));
  UNPROTECT(1);
  return out;
}

/* loss, number of actions that count, gradient. */
SEXP ffi_rnn_gradient(SEXP shape_arg, SEXP weights_arg, SEXP data_arg, SEXP which_arg) {
  const ibrc_rnn_shape shape = read_shape(shape_arg);
  const R_xlen_t size = (R_xlen_t)ibrc_rnn_size(&shape), n = Rf_xlength(which_arg);
  const double *weights = args_doubles(weights_arg, size, "weights");
  int longest;
  const ibrc_rnn_data data = read_data(data_arg, &shape, &longest);
  const int *which = args_ints(which_arg, n, "which");
  check_which(which, n, data.n_trajectories);
  double *scratch = args_alloc_doubles(ibrc_rnn_doubles(&shape, longest));
  const char *names[] = {"loss", "counted", "gradient", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 2, Rf_allocVector(REALSXP, size));
  double *gradient = REAL(VECTOR_ELT(out, 2)), counted = 0.0;
  memset(gradient, 0, (size_t)size * sizeof(double));
  const double loss =
      ibrc_rnn_gradient(&shape, weights, &data, which, (int)n, scratch, gradient, &counted);
  SET_VECTOR_ELT(out, 0, Rf_ScalarReal(loss));
  SET_VECTOR_ELT(out, 1, Rf_ScalarReal(counted));
  UNPROTECT(1);
  return out;
}

/* Entry k of `out`: a copy of what `networks` has under this name, [size, network]. */
static double *copy_state(SEXP networks, const char *name, R_xlen_t size, R_xlen_t n_networks,
                          SEXP out, int k) {
  const double *given = args_doubles(args_element(networks, name), size * n_networks, name);
  SET_VECTOR_ELT(out, k, Rf_allocMatrix(REALSXP, (int)size, (int)n_networks));
  double *state = REAL(VECTOR_ELT(out, k));
  memcpy(state, given, (size_t)(size * n_networks) * sizeof(double));
  return state;
}

/* Some steps of Adam for several networks, one thread per network. `networks`: list(weights, first,
 * second), each [size, network]; `steps` [network]: taken before; `batches` [trajectory, step,
 * network]; the mean loss per action of each step comes back as `loss` [step, network]. */
SEXP ffi_rnn_train(SEXP shape_arg, SEXP networks, SEXP steps_arg, SEXP data_arg, SEXP batches_arg,
                   SEXP n_batch_arg, SEXP rate_arg, SEXP threads_arg) {
  const ibrc_rnn_shape shape = read_shape(shape_arg);
  const R_xlen_t size = (R_xlen_t)ibrc_rnn_size(&shape), n_networks = Rf_xlength(steps_arg);
  const double *steps = args_doubles(steps_arg, n_networks, "steps");
  int longest;
  const ibrc_rnn_data data = read_data(data_arg, &shape, &longest);
  const int n_batch = args_size(n_batch_arg, "n_batch");
  const int threads = args_size(threads_arg, "threads");
  const R_xlen_t n_batches = Rf_xlength(batches_arg);
  const R_xlen_t per_network = n_batches / (n_networks > 0 ? n_networks : 1);
  const int n_steps = (int)(per_network / n_batch);
  if (n_networks < 1 || n_steps < 1 || (R_xlen_t)n_steps * n_batch * n_networks != n_batches) {
    Rf_error("internal: batches of another size");
  }
  const int *batches = args_ints(batches_arg, n_batches, "batches");
  check_which(batches, n_batches, data.n_trajectories);
  const double rate = args_double(rate_arg, "rate");
  const char *names[] = {"weights", "first", "second", "loss", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  double *weights = copy_state(networks, names[0], size, n_networks, out, 0);
  double *first = copy_state(networks, names[1], size, n_networks, out, 1);
  double *second = copy_state(networks, names[2], size, n_networks, out, 2);
  SET_VECTOR_ELT(out, 3, Rf_allocMatrix(REALSXP, n_steps, (int)n_networks));
  double *losses = REAL(VECTOR_ELT(out, 3));
  const size_t each = ibrc_rnn_doubles(&shape, longest) + (size_t)size + IBRC_GAP_DOUBLES;
  double *space = args_alloc_doubles(each * (size_t)n_networks);
  const int n = (int)n_networks;
  IBRC_PARALLEL_EACH(threads)
  for (int k = 0; k < n; k++) {
    double *scratch = space + each * (size_t)k;
    double *gradient = scratch + each - (size_t)size - IBRC_GAP_DOUBLES;
    for (int step = 0; step < n_steps; step++) {
      double counted = 0.0;
      memset(gradient, 0, (size_t)size * sizeof(double));
      const int *which = batches + ((size_t)k * (size_t)n_steps + (size_t)step) * (size_t)n_batch;
      const size_t from = (size_t)k * (size_t)size;
      const double loss = ibrc_rnn_gradient(&shape, weights + from, &data, which, n_batch, scratch,
                                            gradient, &counted);
      const double share = counted > 0.0 ? 1.0 / counted : 0.0;
      losses[(size_t)k * (size_t)n_steps + (size_t)step] = loss * share;
      ibrc_rnn_adam((size_t)size, weights + from, first + from, second + from, gradient, share,
                    rate, steps[k] + step + 1.0);
    }
  }
  UNPROTECT(1);
  return out;
}
