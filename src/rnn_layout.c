#include "rnn_layout.h"

#include <stdint.h>
#include <string.h>

#include "product.h"
#include "shared.h"
#include "threads.h"

enum { MOST_MEMBERS = 32, MOST_VISITS = 2048, LINE = 8 };

ibrc_rnn_places ibrc_rnn_places_of(const ibrc_rnn_shape *s) {
  const size_t gates = 4 * (size_t)s->n_hidden;
  ibrc_rnn_places p = {.input = 0};
  p.recurrent = p.input + (size_t)s->n_inputs * gates;
  p.gate_bias = p.recurrent + (size_t)s->n_hidden * gates;
  p.dense = p.gate_bias + gates;
  p.dense_bias = p.dense + (size_t)s->n_hidden * (size_t)s->n_dense;
  p.output = p.dense_bias + (size_t)s->n_dense;
  p.output_bias = p.output + (size_t)s->n_dense * (size_t)s->n_actions;
  p.size = p.output_bias + (size_t)s->n_actions;
  return p;
}

size_t ibrc_rnn_size(const ibrc_rnn_shape *shape) { return ibrc_rnn_places_of(shape).size; }

ibrc_rnn_rows ibrc_rnn_rows_of(const ibrc_rnn_shape *s) {
  ibrc_rnn_rows r = {.gates = ibrc_row(4 * s->n_hidden), .hidden = ibrc_row(s->n_hidden),
                     .dense = ibrc_row(s->n_dense), .law = ibrc_row(s->n_actions)};
  return r;
}

/* ---- slices ---------------------------------------------------------------------------------- */

int ibrc_rnn_slice_end(const ibrc_rnn_data *data, const int *which, int n_which, int from,
                       int *visits) {
  int to = from;
  *visits = 0;
  while (to < n_which && to - from < MOST_MEMBERS) {
    const int more = data->first[which[to] + 1] - data->first[which[to]];
    if (to > from && *visits + more > MOST_VISITS) break;
    *visits += more;
    to++;
  }
  return to;
}

void ibrc_rnn_make_room(ibrc_rnn_room *room, const ibrc_rnn_data *data, const int *which,
                        int n_which) {
  int slices = 0, visits;
  for (int from = 0, to; from < n_which; from = to, slices++) {
    to = ibrc_rnn_slice_end(data, which, n_which, from, &visits);
    room->members = to - from > room->members ? to - from : room->members;
    room->visits = visits > room->visits ? visits : room->visits;
  }
  const int lanes = slices < IBRC_RNN_LANES ? slices : IBRC_RNN_LANES;
  room->lanes = lanes > room->lanes ? lanes : room->lanes;
}

/* ---- working space --------------------------------------------------------------------------- */

size_t ibrc_rnn_doubles(const ibrc_rnn_shape *s, const ibrc_rnn_room *room) {
  const ibrc_rnn_rows row = ibrc_rnn_rows_of(s);
  const size_t H = (size_t)s->n_hidden, D = (size_t)s->n_dense, U = (size_t)s->n_actions;
  const size_t weights = H * (row.gates + row.dense) + D * row.law + 4 * H * row.hidden +
                         D * row.hidden + U * row.dense;
  const size_t each = 2 * row.gates + 6 * row.hidden + 2 * row.dense + 2 * row.law;
  const size_t lane = (size_t)room->visits * each + 2 * row.gates + ibrc_rnn_size(s) + LINE;
  return weights + (size_t)room->lanes * lane + LINE;
}

size_t ibrc_rnn_ints(const ibrc_rnn_room *room) {
  return (size_t)room->lanes *
         (ibrc_shared_ints(room->members, room->visits) + (size_t)IBRC_GAP_INTS);
}

static double *take(double **next, size_t rows, size_t row) {
  double *taken = *next;
  *next += rows * row;
  return taken;
}

static double *first_line(double *x) {
  const size_t line = LINE * sizeof(double), over = (uintptr_t)x % line;
  return over == 0 ? x : x + (line - over) / sizeof(double);
}

double *ibrc_rnn_lay_spread(const ibrc_rnn_shape *s, const ibrc_rnn_space *space,
                            ibrc_rnn_spread *w) {
  const ibrc_rnn_rows row = ibrc_rnn_rows_of(s);
  const size_t H = (size_t)s->n_hidden, D = (size_t)s->n_dense, U = (size_t)s->n_actions;
  double *next = first_line(space->doubles);
  w->recurrent = take(&next, H, row.gates);
  w->dense = take(&next, H, row.dense);
  w->output = take(&next, D, row.law);
  w->recurrent_turned = take(&next, 4 * H, row.hidden);
  w->dense_turned = take(&next, D, row.hidden);
  w->output_turned = take(&next, U, row.dense);
  return next;
}

double *ibrc_rnn_lay_slice(const ibrc_rnn_shape *s, const ibrc_rnn_room *room, double *next,
                           ibrc_rnn_slice *p) {
  const ibrc_rnn_rows row = ibrc_rnn_rows_of(s);
  const size_t nodes = (size_t)room->visits;
  p->gates = take(&next, nodes, row.gates);
  p->passed = take(&next, nodes, row.gates);
  double **const hidden[] = {&p->cell, &p->bent, &p->hidden, &p->carried, &p->d_hidden, &p->d_cell};
  for (int k = 0; k < 6; k++) *hidden[k] = take(&next, nodes, row.hidden);
  p->dense = take(&next, nodes, row.dense);
  p->d_dense = take(&next, nodes, row.dense);
  p->law = take(&next, nodes, row.law);
  p->d_law = take(&next, nodes, row.law);
  p->nothing = take(&next, 1, row.gates);
  p->nobody = take(&next, 1, row.gates);
  p->gradient = take(&next, ibrc_rnn_size(s) / LINE + 1, LINE);
  return next;
}

/* ---- weights --------------------------------------------------------------------------------- */

/* W [rows][columns] into rows that stand apart. */
static void spread_out(const double *w, int rows, int columns, size_t apart, double *out) {
  for (int i = 0; i < rows; i++, w += columns, out += apart) {
    memcpy(out, w, (size_t)columns * sizeof(double));
    memset(out + columns, 0, (apart - (size_t)columns) * sizeof(double));
  }
}

void ibrc_rnn_spread_out(const ibrc_rnn_shape *s, const double *weights, const ibrc_rnn_spread *w) {
  const ibrc_rnn_places at = ibrc_rnn_places_of(s);
  const ibrc_rnn_rows row = ibrc_rnn_rows_of(s);
  const int H = s->n_hidden, D = s->n_dense, U = s->n_actions;
  spread_out(weights + at.recurrent, H, 4 * H, row.gates, w->recurrent);
  spread_out(weights + at.dense, H, D, row.dense, w->dense);
  spread_out(weights + at.output, D, U, row.law, w->output);
}

/* The same turned, by lines of a cache, which are written as a whole. */
static void turn(const double *w, int rows, int columns, size_t apart, double *out) {
  const size_t below = (size_t)columns;
  for (int from = 0; from < (int)apart; from += LINE) {
    double *line = out + from;
    const int left_over = rows - from < 0 ? 0 : rows - from, here = left_over < LINE ? left_over : LINE;
    for (int j = 0; j < columns; j++, line += apart) {
      const double *top = w + (size_t)from * below + j;
      for (int i = 0; i < here; i++) line[i] = top[(size_t)i * below];
      for (int i = here; i < LINE; i++) line[i] = 0.0;
    }
  }
}

void ibrc_rnn_turn(const ibrc_rnn_shape *s, const double *weights, const ibrc_rnn_spread *w) {
  const ibrc_rnn_places at = ibrc_rnn_places_of(s);
  const ibrc_rnn_rows row = ibrc_rnn_rows_of(s);
  const int H = s->n_hidden, D = s->n_dense, U = s->n_actions;
  turn(weights + at.recurrent, H, 4 * H, row.hidden, w->recurrent_turned);
  turn(weights + at.dense, H, D, row.hidden, w->dense_turned);
  turn(weights + at.output, D, U, row.dense, w->output_turned);
}
