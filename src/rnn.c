#include "rnn.h"

#include <math.h>
#include <string.h>

#include "cell.h"
#include "product.h"
#include "rnn_layout.h"
#include "shared.h"
#include "threads.h"

typedef struct {
  ibrc_way way;
  const ibrc_rnn_shape *shape;
  const double *weights;
  ibrc_rnn_places at;
  ibrc_rnn_rows row;
  ibrc_rnn_spread spread;
  const ibrc_rnn_data *data;
  double *lanes; /* where the space of the first lane begins */
} network;

static network new_network(ibrc_way way, const ibrc_rnn_shape *shape, const double *weights,
                           const ibrc_rnn_data *data, const ibrc_rnn_space *space) {
  network net = {.way = way, .shape = shape, .weights = weights, .data = data,
                 .at = ibrc_rnn_places_of(shape), .row = ibrc_rnn_rows_of(shape)};
  net.lanes = ibrc_rnn_lay_spread(shape, space, &net.spread);
  ibrc_rnn_spread_out(shape, weights, &net.spread);
  return net;
}

typedef enum { ANEW, ADD } manner;

/* out [rows][n_out] = in [rows][n_in] W, or += */
static void pass(const network *net, manner add, int rows, int n_in, int n_out, const double *in,
                 size_t in_row, const double *w, size_t w_row, double *out, size_t out_row) {
  const ibrc_factors f = {.n_rows = rows, .n_inner = n_in, .n_columns = n_out, .add = add == ADD, .left = in,
                          .left_row = in_row, .left_step = 1, .right = w, .right_row = w_row,
                          .out = out, .out_row = out_row};
  ibrc_product(net->way, &f);
}

/* dW [n_in][n_out] = in' d, or +=, over so many rows of both */
static void collect(const network *net, manner add, int rows, int n_in, int n_out, const double *in,
                    size_t in_row, const double *d, size_t d_row, double *dw) {
  const ibrc_factors f = {.n_rows = n_in, .n_inner = rows, .n_columns = n_out, .add = add == ADD, .left = in,
                          .left_row = 1, .left_step = in_row, .right = d, .right_row = d_row,
                          .out = dw, .out_row = (size_t)n_out};
  ibrc_product(net->way, &f);
}

/* `rows` copies of one row. */
static void repeat(const double *from, int n, int rows, double *out, size_t apart) {
  for (int i = 0; i < rows; i++, out += apart) memcpy(out, from, (size_t)n * sizeof(double));
}

static void add_rows(const network *net, const double *rows, int n, size_t apart, int n_columns,
                     double *sum) {
  for (int i = 0; i < n; i++) ibrc_add(net->way, sum, rows + (size_t)i * apart, (size_t)n_columns);
}

/* Sums to log probabilities. */
static void close_law(double *law, int n) {
  double most = law[0], sum = 0.0;
  for (int u = 1; u < n; u++) most = law[u] > most ? law[u] : most;
  for (int u = 0; u < n; u++) sum += exp(law[u] - most);
  for (int u = 0; u < n; u++) law[u] -= most + log(sum);
}

/* The node that a carrier of a visit is. */
static size_t node_of(const ibrc_shared *s, int visit, int carrier) {
  return (size_t)(s->visit[visit] + carrier - s->carried[visit]);
}

/* Where the row of an input begins among all weights. */
static size_t input_at(const network *net, int input) {
  return net->at.input + (size_t)input * 4 * (size_t)net->shape->n_hidden;
}

/* Memory, visit by visit. */
static void remember(const network *net, const ibrc_shared *s, const ibrc_rnn_slice *p) {
  const int H = net->shape->n_hidden;
  const size_t gates = net->row.gates, hidden = net->row.hidden, width = 4 * (size_t)H;
  for (int t = 0; t < s->n_visits; t++) {
    for (int n = s->visit[t]; n < s->visit[t + 1]; n++) {
      double *sums = p->gates + (size_t)n * gates;
      const size_t at = (size_t)n * hidden;
      const double *before = p->nothing;
      const double *passed = p->nothing;
      if (t > 0) {
        before = p->cell + node_of(s, t - 1, s->from[n]) * hidden;
        passed = p->passed + (size_t)s->from[n] * gates;
      }
      ibrc_sum_four(net->way, sums, net->weights + net->at.gate_bias,
                    s->done[n] < 0 ? p->nothing : net->weights + input_at(net, s->done[n]),
                    s->seen[n] < 0 ? p->nothing : net->weights + input_at(net, s->seen[n]), passed,
                    width);
      ibrc_cell_forward(net->way, H, sums, before, p->cell + at, p->bent + at, p->hidden + at);
    }
    const int first = s->carried[t], n = s->carried[t + 1] - first;
    if (n == 0) continue;
    double *carried = p->carried + (size_t)first * hidden, *passed = p->passed + (size_t)first * gates;
    memcpy(carried, p->hidden + (size_t)s->visit[t] * hidden, (size_t)n * hidden * sizeof(double));
    pass(net, ANEW, n, H, 4 * H, carried, hidden, net->spread.recurrent, gates, passed, gates);
  }
}

static void forward(const network *net, const ibrc_shared *s, const ibrc_rnn_slice *p) {
  const int H = net->shape->n_hidden, D = net->shape->n_dense, U = net->shape->n_actions;
  const ibrc_rnn_rows row = net->row;
  memset(p->nothing, 0, row.gates * sizeof(double));
  remember(net, s, p);
  repeat(net->weights + net->at.dense_bias, D, s->n_nodes, p->dense, row.dense);
  pass(net, ADD, s->n_nodes, H, D, p->hidden, row.hidden, net->spread.dense, row.dense, p->dense,
       row.dense);
  for (int n = 0; n < s->n_nodes; n++) {
    ibrc_tanh_each(net->way, p->dense + (size_t)n * row.dense, (size_t)D);
  }
  repeat(net->weights + net->at.output_bias, U, s->n_nodes, p->law, row.law);
  pass(net, ADD, s->n_nodes, D, U, p->dense, row.dense, net->spread.output, row.law, p->law,
       row.law);
  for (int n = 0; n < s->n_nodes; n++) close_law(p->law + (size_t)n * row.law, U);
}

/* How often each action that counts was taken at each node. */
static void count_actions(const network *net, const ibrc_shared *s, int members,
                          const ibrc_rnn_slice *p) {
  memset(p->d_law, 0, (size_t)s->n_nodes * net->row.law * sizeof(double));
  for (int m = 0, place = 0; m < members; m++) {
    const int first = net->data->first[s->order[m]], last = net->data->first[s->order[m] + 1];
    for (int visit = first; visit < last; visit++, place++) {
      const int action = net->data->action[visit];
      if (action >= 0) p->d_law[(size_t)s->node[place] * net->row.law + (size_t)action] += 1.0;
    }
  }
}

/* Loss, and slopes of the scores from how often each action was taken. */
static double open_law(const network *net, const ibrc_shared *s, const ibrc_rnn_slice *p,
                       double *counted) {
  const int U = net->shape->n_actions;
  double loss = 0.0;
  for (int n = 0; n < s->n_nodes; n++) {
    const double *law = p->law + (size_t)n * net->row.law;
    double *d = p->d_law + (size_t)n * net->row.law, here = 0.0;
    for (int u = 0; u < U; u++) {
      if (d[u] > 0.0) loss -= d[u] * law[u];
      here += d[u];
    }
    for (int u = 0; here > 0.0 && u < U; u++) d[u] = here * exp(law[u]) - d[u];
    *counted += here;
  }
  return loss;
}

/* From the laws back to what was remembered, of all nodes at once. */
static void layers_back(const network *net, manner add, const ibrc_shared *s,
                        const ibrc_rnn_slice *p) {
  const int H = net->shape->n_hidden, D = net->shape->n_dense, U = net->shape->n_actions;
  const int n = s->n_nodes;
  const ibrc_rnn_rows row = net->row;
  add_rows(net, p->d_law, n, row.law, U, p->gradient + net->at.output_bias);
  collect(net, add, n, D, U, p->dense, row.dense, p->d_law, row.law, p->gradient + net->at.output);
  pass(net, ANEW, n, U, D, p->d_law, row.law, net->spread.output_turned, row.dense, p->d_dense,
       row.dense);
  for (int k = 0; k < n; k++) {
    const size_t at = (size_t)k * row.dense;
    ibrc_tanh_back(net->way, p->d_dense + at, p->dense + at, (size_t)D);
  }
  add_rows(net, p->d_dense, n, row.dense, D, p->gradient + net->at.dense_bias);
  collect(net, add, n, H, D, p->hidden, row.hidden, p->d_dense, row.dense,
          p->gradient + net->at.dense);
  pass(net, ANEW, n, D, H, p->d_dense, row.dense, net->spread.dense_turned, row.hidden, p->d_hidden,
       row.hidden);
}

/* Slopes of the sums at one node, for itself and for who it goes on from. */
static void node_back(const network *net, const ibrc_shared *s, const ibrc_rnn_slice *p, int t, int n) {
  const size_t width = 4 * (size_t)net->shape->n_hidden, hidden = net->row.hidden;
  const size_t at = (size_t)n * hidden;
  const size_t before = t > 0 ? node_of(s, t - 1, s->from[n]) * hidden : 0;
  double *d = p->gates + (size_t)n * net->row.gates;
  ibrc_cell_backward(net->way, net->shape->n_hidden, d, t > 0 ? p->cell + before : p->nothing,
                     p->bent + at, p->d_hidden + at, p->d_cell + at,
                     t > 0 ? p->d_cell + before : p->nobody);
  ibrc_add_to_four(net->way, p->gradient + net->at.gate_bias,
                   s->done[n] < 0 ? p->nobody : p->gradient + input_at(net, s->done[n]),
                   s->seen[n] < 0 ? p->nobody : p->gradient + input_at(net, s->seen[n]),
                   t > 0 ? p->passed + (size_t)s->from[n] * net->row.gates : p->nobody, d, width);
}

/* From the last visit to the first. */
static void memory_back(const network *net, manner add, const ibrc_shared *s,
                        const ibrc_rnn_slice *p) {
  const int H = net->shape->n_hidden;
  const ibrc_rnn_rows row = net->row;
  memset(p->passed, 0, (size_t)s->n_carriers * row.gates * sizeof(double));
  memset(p->d_cell, 0, (size_t)s->n_nodes * row.hidden * sizeof(double));
  memset(p->nobody, 0, row.gates * sizeof(double));
  for (int t = s->n_visits - 1; t >= 0; t--) {
    const int first = s->carried[t], n = s->carried[t + 1] - first;
    if (n > 0) {
      pass(net, ADD, n, 4 * H, H, p->passed + (size_t)first * row.gates, row.gates,
           net->spread.recurrent_turned, row.hidden,
           p->d_hidden + (size_t)s->visit[t] * row.hidden, row.hidden);
    }
    for (int k = s->visit[t]; k < s->visit[t + 1]; k++) node_back(net, s, p, t, k);
  }
  collect(net, add, s->n_carriers, H, 4 * H, p->carried, row.hidden, p->passed, row.gates,
          p->gradient + net->at.recurrent);
}

/* ---- batches --------------------------------------------------------------------------------- */

void ibrc_rnn_predict(ibrc_way way, const ibrc_rnn_shape *shape, const double *weights,
                      const ibrc_rnn_data *data, const int *which, int n_which,
                      const ibrc_rnn_space *space, double *log_law) {
  const size_t U = (size_t)shape->n_actions;
  const network net = new_network(way, shape, weights, data, space);
  ibrc_rnn_slice p;
  ibrc_rnn_lay_slice(shape, &space->room, net.lanes, &p);
  ibrc_shared s = ibrc_shared_new(space->room.members, space->room.visits, space->ints);
  for (int from = 0, to, visits; from < n_which; from = to) {
    to = ibrc_rnn_slice_end(data, which, n_which, from, &visits);
    ibrc_shared_build(&s, data, which + from, to - from);
    forward(&net, &s, &p);
    for (int m = 0, place = 0; m < to - from; m++) {
      const int first = data->first[s.order[m]], last = data->first[s.order[m] + 1];
      for (int visit = first; visit < last; visit++, place++) {
        memcpy(log_law + (size_t)visit * U, p.law + (size_t)s.node[place] * net.row.law,
               U * sizeof(double));
      }
    }
  }
}

typedef struct {
  double loss, counted;
} lane_sums;

/* Every slice whose number leaves `lane` over. */
static lane_sums run_lane(const network *net, const int *which, int n_which, int lane, int lanes,
                          const ibrc_rnn_space *space, const ibrc_rnn_slice *p, int *ints) {
  ibrc_shared s = ibrc_shared_new(space->room.members, space->room.visits, ints);
  lane_sums sums = {.loss = 0.0, .counted = 0.0};
  memset(p->gradient, 0, net->at.recurrent * sizeof(double));
  memset(p->gradient + net->at.gate_bias, 0, (net->at.dense - net->at.gate_bias) * sizeof(double));
  memset(p->gradient + net->at.dense_bias, 0, (net->at.output - net->at.dense_bias) * sizeof(double));
  memset(p->gradient + net->at.output_bias, 0, (net->at.size - net->at.output_bias) * sizeof(double));
  manner add = ANEW;
  int slice = 0, visits;
  for (int from = 0, to; from < n_which; from = to, slice++) {
    to = ibrc_rnn_slice_end(net->data, which, n_which, from, &visits);
    if (slice % lanes != lane) continue;
    ibrc_shared_build(&s, net->data, which + from, to - from);
    forward(net, &s, p);
    count_actions(net, &s, to - from, p);
    sums.loss += open_law(net, &s, p, &sums.counted);
    layers_back(net, add, &s, p);
    memory_back(net, add, &s, p);
    add = ADD;
  }
  return sums;
}

double ibrc_rnn_gradient(ibrc_way way, const ibrc_rnn_shape *shape, const double *weights,
                         const ibrc_rnn_data *data, const int *which, int n_which, int threads,
                         const ibrc_rnn_space *space, double *gradient, double *counted) {
  const network net = new_network(way, shape, weights, data, space);
  ibrc_rnn_turn(shape, weights, &net.spread);
  ibrc_rnn_room here = {.lanes = 0};
  ibrc_rnn_make_room(&here, data, which, n_which);
  const int lanes = here.lanes;
  ibrc_rnn_slice p[IBRC_RNN_LANES];
  lane_sums sums[IBRC_RNN_LANES] = {{0.0, 0.0}};
  double *next = net.lanes;
  for (int lane = 0; lane < lanes; lane++) {
    next = ibrc_rnn_lay_slice(shape, &space->room, next, &p[lane]);
  }
  const size_t ints = lanes > 0 ? ibrc_rnn_ints(&space->room) / (size_t)space->room.lanes : 0;
  if (lanes == 0) memset(gradient, 0, net.at.size * sizeof(double));
  p[0].gradient = gradient;
  if (lanes > 1 && threads > 1) {
    IBRC_PARALLEL_EACH(threads)
    for (int lane = 0; lane < lanes; lane++) {
      sums[lane] = run_lane(&net, which, n_which, lane, lanes, space, &p[lane],
                            space->ints + (size_t)lane * ints);
    }
  } else {
    for (int lane = 0; lane < lanes; lane++) {
      sums[lane] = run_lane(&net, which, n_which, lane, lanes, space, &p[lane], space->ints);
    }
  }
  for (int lane = 1; lane < lanes; lane++) {
    ibrc_add(way, gradient, p[lane].gradient, net.at.size);
    sums[0].loss += sums[lane].loss;
    sums[0].counted += sums[lane].counted;
  }
  *counted = sums[0].counted;
  return sums[0].loss;
}
