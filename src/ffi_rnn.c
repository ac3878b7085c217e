#include <string.h>

#include "args.h"
#include "cell.h"
#include "ffi.h"
#include "rnn.h"
#include "threads.h"

/* Shapes come as c(n_inputs, n_hidden, n_dense, n_actions), data as list(first, done, seen, action)
 * with -1 for what is not there. `way` is the widest way through loops that may be taken (wide.h): 0 is
 * the plain one. */

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

static ibrc_way read_way(SEXP way) {
  const int most = args_int(way, "way"), widest = (int)ibrc_widest_way();
  if (most < 0) Rf_error("internal: no such way");
  return (ibrc_way)(most < widest ? most : widest);
}

static ibrc_rnn_data read_data(SEXP data, const ibrc_rnn_shape *shape) {
  SEXP first = args_element(data, "first");
  const int n = (int)Rf_xlength(first) - 1;
  if (n < 1) Rf_error("internal: no trajectories");
  ibrc_rnn_data d = {.n_trajectories = n, .first = args_ints(first, n + 1, "first")};
  if (d.first[0] != 0) Rf_error("internal: `first` begins elsewhere");
  for (int i = 0; i < n; i++) {
    if (d.first[i + 1] <= d.first[i]) Rf_error("internal: a trajectory without visits");
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
  if (n < 1) Rf_error("internal: no trajectories");
  for (R_xlen_t i = 0; i < n; i++) {
    if (which[i] < 0 || which[i] >= n_trajectories) Rf_error("internal: no such trajectory");
  }
}

static ibrc_rnn_space new_space(const ibrc_rnn_shape *shape, const ibrc_rnn_room *room) {
  ibrc_rnn_space space = {.room = *room};
  space.doubles = args_alloc_doubles(ibrc_rnn_doubles(shape, room));
  space.ints = args_alloc_ints(ibrc_rnn_ints(room));
  return space;
}

/* logistic and tanh of many numbers, as the network takes them. */
SEXP ffi_rnn_bend(SEXP x, SEXP way_arg) {
  const R_xlen_t n = Rf_xlength(x);
  const double *given = args_doubles(x, n, "x");
  const ibrc_way way = read_way(way_arg);
  const char *names[] = {"logistic", "tanh", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  for (int k = 0; k < 2; k++) {
    SET_VECTOR_ELT(out, k, Rf_allocVector(REALSXP, n));
    memcpy(REAL(VECTOR_ELT(out, k)), given, (size_t)n * sizeof(double));
  }
  ibrc_logistic_each(way, REAL(VECTOR_ELT(out, 0)), (size_t)n);
  ibrc_tanh_each(way, REAL(VECTOR_ELT(out, 1)), (size_t)n);
  UNPROTECT(1);
  return out;
}

/* log p [action, visit]. */
SEXP ffi_rnn_predict(SEXP shape_arg, SEXP weights_arg, SEXP data_arg, SEXP way_arg) {
  const ibrc_rnn_shape shape = read_shape(shape_arg);
  const double *weights = args_doubles(weights_arg, (R_xlen_t)ibrc_rnn_size(&shape), "weights");
  const ibrc_rnn_data data = read_data(data_arg, &shape);
  const int n = data.n_trajectories;
  int *which = args_alloc_ints((size_t)n);
  for (int i = 0; i < n; i++) which[i] = i;
  ibrc_rnn_room room = {.lanes = 0};
  ibrc_rnn_make_room(&room, &data, which, n);
  room.lanes = 1;
  const ibrc_rnn_space space = new_space(&shape, &room);
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, shape.n_actions, data.first[n]));
  ibrc_rnn_predict(read_way(way_arg), &shape, weights, &data, which, n, &space, REAL(out));
  UNPROTECT(1);
  return out;
}

/* loss, number of actions that count, gradient. */
SEXP ffi_rnn_gradient(SEXP shape_arg, SEXP weights_arg, SEXP data_arg, SEXP which_arg,
                      SEXP threads_arg, SEXP way_arg) {
  const ibrc_rnn_shape shape = read_shape(shape_arg);
  const R_xlen_t size = (R_xlen_t)ibrc_rnn_size(&shape), n = Rf_xlength(which_arg);
  const double *weights = args_doubles(weights_arg, size, "weights");
  const ibrc_rnn_data data = read_data(data_arg, &shape);
  const int *which = args_ints(which_arg, n, "which");
  check_which(which, n, data.n_trajectories);
  ibrc_rnn_room room = {.lanes = 0};
  ibrc_rnn_make_room(&room, &data, which, (int)n);
  const ibrc_rnn_space space = new_space(&shape, &room);
  const char *names[] = {"loss", "counted", "gradient", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 2, Rf_allocVector(REALSXP, size));
  double counted = 0.0;
  const double loss =
      ibrc_rnn_gradient(read_way(way_arg), &shape, weights, &data, which, (int)n,
                        args_threads(threads_arg), &space, REAL(VECTOR_ELT(out, 2)), &counted);
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

/* All that steps of training read, and where they leave what comes of them. */
typedef struct {
  ibrc_way way;
  ibrc_rnn_shape shape;
  ibrc_rnn_data data;
  size_t size;
  int n_steps, n_batch;
  const int *batches;               /* [network][step][member] */
  const double *steps;              /* [network]: taken before */
  double rate;
  double *weights, *first, *second; /* [network][size] */
  double *loss;                     /* [network][step] */
} training;

static void train_network(const training *t, int network, int threads, const ibrc_rnn_space *space,
                          double *gradient) {
  const size_t from = (size_t)network * t->size;
  for (int step = 0; step < t->n_steps; step++) {
    const size_t at = (size_t)network * (size_t)t->n_steps + (size_t)step;
    double counted = 0.0;
    const double loss =
        ibrc_rnn_gradient(t->way, &t->shape, t->weights + from, &t->data,
                          t->batches + at * (size_t)t->n_batch, t->n_batch, threads, space, gradient,
                          &counted);
    const double share = counted > 0.0 ? 1.0 / counted : 0.0;
    t->loss[at] = loss * share;
    ibrc_adam(t->way, t->size, t->weights + from, t->first + from, t->second + from, gradient, share,
              t->rate, t->steps[network] + step + 1.0);
  }
}

/* One thread per network; more threads than networks share out the batch of one network at a time. */
static void train_networks(const training *t, int n_networks, int threads) {
  ibrc_rnn_room room = {.lanes = 0};
  for (int k = 0; k < n_networks * t->n_steps; k++) {
    ibrc_rnn_make_room(&room, &t->data, t->batches + (size_t)k * (size_t)t->n_batch, t->n_batch);
  }
  const int within = threads > n_networks ? threads : 1, workers = within > 1 ? 1 : threads;
  const size_t needed = ibrc_rnn_doubles(&t->shape, &room), ints = ibrc_rnn_ints(&room) + IBRC_GAP_INTS;
  const size_t each = needed + t->size + IBRC_GAP_DOUBLES;
  double *doubles = args_kept_doubles(each * (size_t)workers);
  int *counts = args_alloc_ints(ints * (size_t)workers);
  IBRC_PARALLEL_EACH(workers)
  for (int k = 0; k < n_networks; k++) {
    const size_t worker = (size_t)ibrc_thread_number();
    const ibrc_rnn_space space = {.room = room, .doubles = doubles + worker * each,
                                  .ints = counts + worker * ints};
    train_network(t, k, within, &space, space.doubles + needed);
  }
}

/* Some steps of Adam for several networks. `networks`: list(weights, first, second), each
 * [size, network]; `steps` [network]: taken before; `batches` [trajectory, step, network]; the mean loss
 * per action of each step comes back as `loss` [step, network]. */
SEXP ffi_rnn_train(SEXP shape_arg, SEXP networks, SEXP steps_arg, SEXP data_arg, SEXP batches_arg,
                   SEXP n_batch_arg, SEXP rate_arg, SEXP threads_arg, SEXP way_arg) {
  training t = {.way = read_way(way_arg), .shape = read_shape(shape_arg)};
  t.size = ibrc_rnn_size(&t.shape);
  const R_xlen_t n_networks = Rf_xlength(steps_arg), n_batches = Rf_xlength(batches_arg);
  t.steps = args_doubles(steps_arg, n_networks, "steps");
  t.data = read_data(data_arg, &t.shape);
  t.n_batch = args_size(n_batch_arg, "n_batch");
  t.n_steps = (int)(n_batches / (n_networks > 0 ? n_networks : 1) / t.n_batch);
  if (n_networks < 1 || t.n_steps < 1 || (R_xlen_t)t.n_steps * t.n_batch * n_networks != n_batches) {
    Rf_error("internal: batches of another size");
  }
  t.batches = args_ints(batches_arg, n_batches, "batches");
  check_which(t.batches, n_batches, t.data.n_trajectories);
  t.rate = args_double(rate_arg, "rate");
  const char *names[] = {"weights", "first", "second", "loss", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  t.weights = copy_state(networks, names[0], (R_xlen_t)t.size, n_networks, out, 0);
  t.first = copy_state(networks, names[1], (R_xlen_t)t.size, n_networks, out, 1);
  t.second = copy_state(networks, names[2], (R_xlen_t)t.size, n_networks, out, 2);
  SET_VECTOR_ELT(out, 3, Rf_allocMatrix(REALSXP, t.n_steps, (int)n_networks));
  t.loss = REAL(VECTOR_ELT(out, 3));
  train_networks(&t, (int)n_networks, args_threads(threads_arg));
  UNPROTECT(1);
  return out;
}
