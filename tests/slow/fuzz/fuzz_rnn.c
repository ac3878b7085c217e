#include <string.h>

#include "cell.h"
#include "input.h"
#include "rnn.h"

/* The recurrent network: what it predicts are laws, the same for a trajectory alone as among
 * others; the loss is that of these laws; where weights are moderate, slopes are those of the loss;
 * and the first step of Adam goes down, by no more than its rate. */

static ibrc_rnn_space new_space(const ibrc_rnn_shape *shape, const ibrc_rnn_data *data,
                                const int *which, int n) {
  ibrc_rnn_space space = {.room = {.lanes = 0}};
  ibrc_rnn_make_room(&space.room, data, which, n);
  space.doubles = doubles(ibrc_rnn_doubles(shape, &space.room));
  space.ints = ints(ibrc_rnn_ints(&space.room));
  return space;
}

static void free_space(const ibrc_rnn_space *space) {
  free(space->doubles);
  free(space->ints);
}

static double *predicted(ibrc_way way, const ibrc_rnn_shape *shape, const double *weights,
                         const ibrc_rnn_data *data) {
  const int n = data->n_trajectories;
  int *which = ints((size_t)n);
  for (int i = 0; i < n; i++) which[i] = i;
  const ibrc_rnn_space space = new_space(shape, data, which, n);
  double *out = doubles((size_t)data->first[n] * (size_t)shape->n_actions);
  ibrc_rnn_predict(way, shape, weights, data, which, n, &space, out);
  free_space(&space);
  free(which);
  return out;
}

static double loss_of(ibrc_way way, const ibrc_rnn_shape *shape, const double *weights,
                      const ibrc_rnn_data *data, const int *which, int n, double *gradient,
                      double *counted) {
  const ibrc_rnn_space space = new_space(shape, data, which, n);
  const double loss =
      ibrc_rnn_gradient(way, shape, weights, data, which, n, 1, &space, gradient, counted);
  free_space(&space);
  return loss;
}

/* `rounding`: how far from each other two sums of the last layer may be. */
static void check_laws(ibrc_way way, const ibrc_rnn_shape *shape, const double *weights,
                       const ibrc_rnn_data *data, const double *log_law, double rounding) {
  const size_t U = (size_t)shape->n_actions;
  double *law = doubles(U);
  for (int visit = 0; visit < data->first[data->n_trajectories]; visit++) {
    for (size_t u = 0; u < U; u++) law[u] = exp(log_law[(size_t)visit * U + u]);
    must_be_law(law, shape->n_actions, rounding, "a law of actions");
  }
  free(law);
  for (int i = 0; i < data->n_trajectories; i++) {
    const int from = data->first[i], n = data->first[i + 1] - from, ends[2] = {0, n};
    const ibrc_rnn_data alone = {1, ends, data->done + from, data->seen + from,
                                 data->action + from};
    double *again = predicted(way, shape, weights, &alone);
    must(memcmp(again, log_law + (size_t)from * U, (size_t)n * U * sizeof(double)) == 0,
         "alone, the same is predicted");
    free(again);
  }
}

static void check_slopes(ibrc_way way, const ibrc_rnn_shape *shape, const double *weights,
                         const ibrc_rnn_data *data, const int *which, int n,
                         const double *gradient) {
  const size_t size = ibrc_rnn_size(shape);
  const double step = 1e-5;
  double *moved = doubles(size), *unused = doubles(size);
  double norm = 0.0, along = 0.0, loss[2], counted;
  for (size_t k = 0; k < size; k++) norm += pow(sin((double)k + 1.0), 2.0);
  norm = sqrt(norm);
  for (size_t k = 0; k < size; k++) along += gradient[k] * sin((double)k + 1.0) / norm;
  for (int side = 0; side < 2; side++) {
    const double by = side ? step : -step;
    for (size_t k = 0; k < size; k++) moved[k] = weights[k] + by * sin((double)k + 1.0) / norm;
    loss[side] = loss_of(way, shape, moved, data, which, n, unused, &counted);
  }
  must(fabs((loss[1] - loss[0]) / (2.0 * step) - along) <= 1e-5 * (1.0 + fabs(along)),
       "slopes are those of the loss");
  free(moved);
  free(unused);
}

static void check_adam(ibrc_way way, size_t size, const double *weights, double *gradient) {
  const double rate = 0.01;
  double *moved = doubles(size), *first = doubles(size), *second = doubles(size);
  memcpy(moved, weights, size * sizeof(double));
  memset(first, 0, size * sizeof(double));
  memset(second, 0, size * sizeof(double));
  ibrc_adam(way, size, moved, first, second, gradient, 1.0, rate, 1.0);
  for (size_t k = 0; k < size; k++) {
    const double by = moved[k] - weights[k], slack = 1e-15 * fabs(weights[k]);
    must(fabs(by) <= rate * (1.0 + 1e-9) + slack, "no step beyond the rate");
    must(by * gradient[k] <= 0.0, "down the slope");
  }
  free(moved);
  free(first);
  free(second);
}

static void check(ibrc_way way, const ibrc_rnn_shape *shape, const double *weights,
                  const ibrc_rnn_data *data, const int *which, int n, int moderate) {
  const size_t size = ibrc_rnn_size(shape), U = (size_t)shape->n_actions;
  double most = 1.0, loss = 0.0, n_actions = 0.0, counted = -1.0;
  for (size_t k = 0; k < size; k++) most = fmax(most, fabs(weights[k]));
  const double rounding = 1e-12 * most;
  double *gradient = doubles(size), *log_law = predicted(way, shape, weights, data);
  check_laws(way, shape, weights, data, log_law, rounding);
  for (int i = 0; i < n; i++) {
    for (int visit = data->first[which[i]]; visit < data->first[which[i] + 1]; visit++) {
      if (data->action[visit] < 0) continue;
      loss -= log_law[(size_t)visit * U + (size_t)data->action[visit]];
      n_actions += 1.0;
    }
  }
  const double found = loss_of(way, shape, weights, data, which, n, gradient, &counted);
  must(counted == n_actions, "every action counts once");
  must(fabs(found - loss) <= 1e-9 * (1.0 + fabs(loss)), "the loss is that of the laws");
  for (size_t k = 0; k < size; k++) must(isfinite(gradient[k]), "finite slopes");
  if (moderate) check_slopes(way, shape, weights, data, which, n, gradient);
  check_adam(way, size, weights, gradient);
  free(gradient);
  free(log_law);
}

/* From -1 to n - 1. */
static int take_code(input *in, int n) { return (int)(take(in) % (unsigned)(n + 1)) - 1; }

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  input in = {bytes, size};
  const ibrc_rnn_shape shape = {.n_inputs = take_int(&in, 1, 6), .n_hidden = take_int(&in, 1, 6),
                                .n_dense = take_int(&in, 1, 10), .n_actions = take_int(&in, 1, 4)};
  /* Few trajectories mostly, which take a quarter of the time; more than a slice holds now and then. */
  const int many = lot(bytes, size, 8) == 0, moderate = (int)(take(&in) % 4) != 3;
  const int n = take_int(&in, 1, many ? 40 : 6), n_which = take_int(&in, 0, many ? 80 : 12);
  const size_t n_weights = ibrc_rnn_size(&shape);
  int *first = ints((size_t)n + 1), *which = ints((size_t)n_which + 1);
  first[0] = 0;
  for (int i = 0; i < n; i++) first[i + 1] = first[i] + 1 + (int)(take(&in) % 6);
  for (int i = 0; i < n_which; i++) which[i] = (int)(take(&in) % (unsigned)n);
  const size_t visits = (size_t)first[n];
  int *done = ints(visits), *seen = ints(visits), *action = ints(visits);
  for (size_t i = 0; i < visits; i++) {
    done[i] = take_code(&in, shape.n_inputs);
    seen[i] = take_code(&in, shape.n_inputs);
    action[i] = take_code(&in, shape.n_actions);
  }
  double *weights = doubles(n_weights);
  for (size_t k = 0; k < n_weights; k++) {
    weights[k] = moderate ? (double)(int8_t)take(&in) / 64.0 : take_double(&in);
  }
  const ibrc_rnn_data data = {n, first, done, seen, action};
  const ibrc_way widest = ibrc_widest_way(), way = (ibrc_way)(take(&in) % 3);
  check(way < widest ? way : widest, &shape, weights, &data, which, n_which, moderate);
  free(first);
  free(which);
  free(done);
  free(seen);
  free(action);
  free(weights);
  return 0;
}
