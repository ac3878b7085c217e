#include "rnn.h"

#include <math.h>
#include <string.h>

#include "threads.h"

/* Trajectories that go through the network side by side: a row of weights is read once for all of
 * them. */
enum { BLOCK = 8 };

typedef struct {
  size_t input, recurrent, gate_bias, dense, dense_bias, output, output_bias, size;
} places;

static places places_of(const ibrc_rnn_shape *s) {
  const size_t gates = 4 * (size_t)s->n_hidden;
  places p = {.input = 0};
  p.recurrent = p.input + (size_t)s->n_inputs * gates;
  p.gate_bias = p.recurrent + (size_t)s->n_hidden * gates;
  p.dense = p.gate_bias + gates;
  p.dense_bias = p.dense + (size_t)s->n_hidden * (size_t)s->n_dense;
  p.output = p.dense_bias + (size_t)s->n_dense;
  p.output_bias = p.output + (size_t)s->n_dense * (size_t)s->n_actions;
  p.size = p.output_bias + (size_t)s->n_actions;
  return p;
}

size_t ibrc_rnn_size(const ibrc_rnn_shape *shape) { return places_of(shape).size; }

/* What is kept of one visit of one trajectory: gates after their functions, cell, its tanh, hidden,
 * dense, law. */
typedef struct {
  size_t gates, cell, bent, hidden, dense, law, size;
} visit_parts;

static visit_parts parts_of(const ibrc_rnn_shape *s) {
  const size_t h = (size_t)s->n_hidden;
  visit_parts v = {.gates = 0};
  v.cell = 4 * h;
  v.bent = v.cell + h;
  v.hidden = v.bent + h;
  v.dense = v.hidden + h;
  v.law = v.dense + (size_t)s->n_dense;
  v.size = v.law + (size_t)s->n_actions;
  return v;
}

/* Slopes of one visit of one trajectory, and those that go back to the visit before. */
static size_t slope_doubles(const ibrc_rnn_shape *s) {
  return 4 * (size_t)s->n_hidden + (size_t)s->n_dense + (size_t)s->n_actions +
         3 * (size_t)s->n_hidden;
}

static size_t turned_doubles(const ibrc_rnn_shape *s) {
  return 4 * (size_t)s->n_hidden * (size_t)s->n_hidden + (size_t)s->n_hidden * (size_t)s->n_dense +
         (size_t)s->n_dense * (size_t)s->n_actions;
}

size_t ibrc_rnn_doubles(const ibrc_rnn_shape *shape, int longest) {
  return BLOCK * ((size_t)longest * parts_of(shape).size + slope_doubles(shape)) +
         turned_doubles(shape);
}

/* out[b] += in[b] W, of `members` vectors that lie `apart` from each other; W [n_in][n_out]. */
IBRC_WIDE static void add_products(const double *w, int n_in, int n_out, const double *in,
                                   size_t in_apart, double *out, size_t out_apart, int members) {
  for (int k = 0; k < n_in; k++, w += n_out) {
    for (int b = 0; b < members; b++) {
      const double x = in[(size_t)b * in_apart + (size_t)k];
      double *restrict to = out + (size_t)b * out_apart;
      const double *restrict row = w;
      IBRC_SIMD
      for (int j = 0; j < n_out; j++) to[j] += x * row[j];
    }
  }
}

/* dW += sum_b in[b] d[b]' */
IBRC_WIDE static void add_outer(double *dw, int n_in, int n_out, const double *in, size_t in_apart,
                                const double *d, size_t d_apart, int members) {
  for (int k = 0; k < n_in; k++, dw += n_out) {
    for (int b = 0; b < members; b++) {
      const double x = in[(size_t)b * in_apart + (size_t)k];
      const double *restrict from = d + (size_t)b * d_apart;
      double *restrict row = dw;
      IBRC_SIMD
      for (int j = 0; j < n_out; j++) row[j] += x * from[j];
    }
  }
}

static void add(double *to, const double *from, int n) {
  for (int j = 0; j < n; j++) to[j] += from[j];
}

static double logistic(double x) { return 1.0 / (1.0 + exp(-x)); }

/* W [rows][columns] into [columns][rows] */
static void turn(const double *w, int rows, int columns, double *out) {
  for (int i = 0; i < rows; i++) {
    const double *row = w + (size_t)i * (size_t)columns;
    for (int j = 0; j < columns; j++) out[(size_t)j * (size_t)rows + (size_t)i] = row[j];
  }
}

/* Turned weights, for going back. */
typedef struct {
  const double *recurrent, *dense, *output;
} turned_weights;

typedef struct {
  const ibrc_rnn_shape *shape;
  const double *weights;
  const ibrc_rnn_data *data;
  places at;
  visit_parts part;
  int members;           /* trajectories side by side, the longest first */
  int which[BLOCK];
  double *kept;          /* [time][member][part.size] */
} block;

static int n_visits(const ibrc_rnn_data *data, int i) {
  return data->first[i + 1] - data->first[i];
}

/* How many of the block have a visit number `time`. */
static int still_there(const block *b, int time) {
  int n = b->members;
  while (n > 0 && n_visits(b->data, b->which[n - 1]) <= time) n--;
  return n;
}

static double *visit_of(const block *b, int time, int member) {
  return b->kept + ((size_t)time * BLOCK + (size_t)member) * b->part.size;
}

static void take_up(block *b, const int *which, int n) {
  b->members = n;
  for (int i = 0; i < n; i++) {
    int at = i;
    const int one = which[i];
    while (at > 0 && n_visits(b->data, b->which[at - 1]) < n_visits(b->data, one)) {
      b->which[at] = b->which[at - 1];
      at--;
    }
    b->which[at] = one;
  }
}

/* What a visit's state comes to from the sums in its gates. */
static void close_gates(double *v, const visit_parts *part, const double *cell_before, int H) {
  double *i = v + part->gates, *f = i + H, *g = f + H, *o = g + H;
  for (int k = 0; k < H; k++) {
    i[k] = logistic(i[k]);
    f[k] = logistic(f[k]);
    g[k] = tanh(g[k]);
    o[k] = logistic(o[k]);
    const double before = cell_before ? cell_before[k] : 0.0;
    v[part->cell + (size_t)k] = f[k] * before + i[k] * g[k];
    v[part->bent + (size_t)k] = tanh(v[part->cell + (size_t)k]);
    v[part->hidden + (size_t)k] = o[k] * v[part->bent + (size_t)k];
  }
}

/* Sums to log probabilities. */
static void close_law(double *law, int n) {
  double most = law[0], sum = 0.0;
  for (int u = 1; u < n; u++) most = law[u] > most ? law[u] : most;
  for (int u = 0; u < n; u++) sum += exp(law[u] - most);
  for (int u = 0; u < n; u++) law[u] -= most + log(sum);
}

static void forward(const block *b) {
  const ibrc_rnn_shape *s = b->shape;
  const int H = s->n_hidden, D = s->n_dense, U = s->n_actions;
  const size_t apart = b->part.size;
  const double *w = b->weights;
  for (int time = 0;; time++) {
    const int n = still_there(b, time);
    if (n == 0) return;
    double *now = visit_of(b, time, 0);
    const double *before = time > 0 ? visit_of(b, time - 1, 0) : NULL;
    for (int m = 0; m < n; m++) {
      const int visit = b->data->first[b->which[m]] + time;
      double *gates = now + (size_t)m * apart + b->part.gates;
      memcpy(gates, w + b->at.gate_bias, 4 * (size_t)H * sizeof(double));
      const int inputs[2] = {b->data->done[visit], b->data->seen[visit]};
      for (int k = 0; k < 2; k++) {
        if (inputs[k] >= 0) add(gates, w + b->at.input + (size_t)inputs[k] * 4 * (size_t)H, 4 * H);
      }
    }
    if (before) {
      add_products(w + b->at.recurrent, H, 4 * H, before + b->part.hidden, apart,
                   now + b->part.gates, apart, n);
    }
    for (int m = 0; m < n; m++) {
      double *v = now + (size_t)m * apart;
      close_gates(v, &b->part, before ? before + (size_t)m * apart + b->part.cell : NULL, H);
      memcpy(v + b->part.dense, w + b->at.dense_bias, (size_t)D * sizeof(double));
      memcpy(v + b->part.law, w + b->at.output_bias, (size_t)U * sizeof(double));
    }
    add_products(w + b->at.dense, H, D, now + b->part.hidden, apart, now + b->part.dense, apart, n);
    for (int m = 0; m < n; m++) {
      double *dense = now + (size_t)m * apart + b->part.dense;
      for (int k = 0; k < D; k++) dense[k] = tanh(dense[k]);
    }
    add_products(w + b->at.output, D, U, now + b->part.dense, apart, now + b->part.law, apart, n);
    for (int m = 0; m < n; m++) close_law(now + (size_t)m * apart + b->part.law, U);
  }
}

/* Slopes of minus the log probability, from the last visit back; `slope` is one member's working
 * space: gates (4H), dense (D), law (U), then hidden, cell (what comes back from the visit after)
 * and hidden of the visit before. */
static double backward(const block *b, const turned_weights *turned, double *slope,
                       double *gradient, double *counted) {
  const ibrc_rnn_shape *s = b->shape;
  const int H = s->n_hidden, D = s->n_dense, U = s->n_actions;
  const size_t apart = b->part.size, away = slope_doubles(s);
  const size_t at_dense = 4 * (size_t)H, at_law = at_dense + (size_t)D,
               at_hidden = at_law + (size_t)U, at_cell = at_hidden + (size_t)H,
               at_before = at_cell + (size_t)H;
  double loss = 0.0;
  int last = 0;
  while (still_there(b, last + 1) > 0) last++;
  memset(slope, 0, BLOCK * away * sizeof(double));
  for (int time = last; time >= 0; time--) {
    const int n = still_there(b, time);
    const double *now = visit_of(b, time, 0);
    const double *before = time > 0 ? visit_of(b, time - 1, 0) : NULL;
    for (int m = 0; m < n; m++) {
      const int action = b->data->action[b->data->first[b->which[m]] + time];
      const double *law = now + (size_t)m * apart + b->part.law;
      double *d = slope + (size_t)m * away;
      for (int u = 0; u < U; u++) {
        d[at_law + (size_t)u] = action < 0 ? 0.0 : exp(law[u]) - (u == action);
      }
      if (action >= 0) {
        loss -= law[action];
        *counted += 1.0;
      }
      memset(d + at_dense, 0, (size_t)D * sizeof(double));
      add(gradient + b->at.output_bias, d + at_law, U);
    }
    add_outer(gradient + b->at.output, D, U, now + b->part.dense, apart, slope + at_law, away, n);
    add_products(turned->output, U, D, slope + at_law, away, slope + at_dense, away, n);
    for (int m = 0; m < n; m++) {
      const double *dense = now + (size_t)m * apart + b->part.dense;
      double *d = slope + (size_t)m * away + at_dense;
      for (int k = 0; k < D; k++) d[k] *= 1.0 - dense[k] * dense[k];
      add(gradient + b->at.dense_bias, d, D);
    }
    add_outer(gradient + b->at.dense, H, D, now + b->part.hidden, apart, slope + at_dense, away, n);
    add_products(turned->dense, D, H, slope + at_dense, away, slope + at_hidden, away, n);
    for (int m = 0; m < n; m++) {
      const double *v = now + (size_t)m * apart;
      const double *i = v + b->part.gates, *f = i + H, *g = f + H, *o = g + H;
      const double *cell_before = before ? before + (size_t)m * apart + b->part.cell : NULL;
      double *d = slope + (size_t)m * away;
      double *d_i = d, *d_f = d_i + H, *d_g = d_f + H, *d_o = d_g + H;
      for (int k = 0; k < H; k++) {
        const double bent = v[b->part.bent + (size_t)k], d_hidden = d[at_hidden + (size_t)k];
        const double d_cell = d[at_cell + (size_t)k] + d_hidden * o[k] * (1.0 - bent * bent);
        d_o[k] = d_hidden * bent * o[k] * (1.0 - o[k]);
        d_i[k] = d_cell * g[k] * i[k] * (1.0 - i[k]);
        d_f[k] = d_cell * (cell_before ? cell_before[k] : 0.0) * f[k] * (1.0 - f[k]);
        d_g[k] = d_cell * i[k] * (1.0 - g[k] * g[k]);
        d[at_cell + (size_t)k] = d_cell * f[k];
      }
      memset(d + at_before, 0, (size_t)H * sizeof(double));
      add(gradient + b->at.gate_bias, d, 4 * H);
      const int visit = b->data->first[b->which[m]] + time;
      const int inputs[2] = {b->data->done[visit], b->data->seen[visit]};
      for (int k = 0; k < 2; k++) {
        if (inputs[k] < 0) continue;
        add(gradient + b->at.input + (size_t)inputs[k] * 4 * (size_t)H, d, 4 * H);
      }
    }
    if (before) {
      add_outer(gradient + b->at.recurrent, H, 4 * H, before + b->part.hidden, apart, slope, away,
                n);
      add_products(turned->recurrent, 4 * H, H, slope, away, slope + at_before, away, n);
    }
    for (int m = 0; m < n; m++) {
      double *d = slope + (size_t)m * away;
      memcpy(d + at_hidden, d + at_before, (size_t)H * sizeof(double));
    }
  }
  return loss;
}

static block new_block(const ibrc_rnn_shape *shape, const double *weights,
                       const ibrc_rnn_data *data, double *scratch) {
  block b = {.shape = shape, .weights = weights, .data = data, .at = places_of(shape),
             .part = parts_of(shape), .kept = scratch};
  return b;
}

void ibrc_rnn_predict(const ibrc_rnn_shape *shape, const double *weights, const ibrc_rnn_data *data,
                      double *scratch, double *log_law) {
  const size_t U = (size_t)shape->n_actions;
  block b = new_block(shape, weights, data, scratch);
  for (int from = 0; from < data->n_trajectories; from += BLOCK) {
    int which[BLOCK], n = 0;
    while (n < BLOCK && from + n < data->n_trajectories) {
      which[n] = from + n;
      n++;
    }
    take_up(&b, which, n);
    forward(&b);
    for (int m = 0; m < n; m++) {
      const int first = data->first[b.which[m]];
      for (int time = 0; time < n_visits(data, b.which[m]); time++) {
        const double *law = visit_of(&b, time, m) + b.part.law;
        memcpy(log_law + (size_t)(first + time) * U, law, U * sizeof(double));
      }
    }
  }
}

double ibrc_rnn_gradient(const ibrc_rnn_shape *shape, const double *weights,
                         const ibrc_rnn_data *data, const int *which, int n_which, double *scratch,
                         double *gradient, double *counted) {
  const int H = shape->n_hidden, D = shape->n_dense, U = shape->n_actions;
  int longest = 1;
  for (int i = 0; i < n_which; i++) {
    const int n = n_visits(data, which[i]);
    longest = n > longest ? n : longest;
  }
  block b = new_block(shape, weights, data, scratch);
  double *slope = scratch + BLOCK * (size_t)longest * b.part.size;
  double *turned = slope + BLOCK * slope_doubles(shape);
  double *turned_dense = turned + 4 * (size_t)H * (size_t)H;
  double *turned_output = turned_dense + (size_t)H * (size_t)D;
  turn(weights + b.at.recurrent, H, 4 * H, turned);
  turn(weights + b.at.dense, H, D, turned_dense);
  turn(weights + b.at.output, D, U, turned_output);
  const turned_weights back = {.recurrent = turned, .dense = turned_dense, .output = turned_output};
  double loss = 0.0;
  *counted = 0.0;
  for (int from = 0; from < n_which; from += BLOCK) {
    const int n = n_which - from < BLOCK ? n_which - from : BLOCK;
    take_up(&b, which + from, n);
    forward(&b);
    loss += backward(&b, &back, slope, gradient, counted);
  }
  return loss;
}

void ibrc_rnn_adam(size_t n, double *weights, double *first, double *second,
                   const double *gradient, double scale, double rate, double step) {
  const double keep = 0.9, keep_square = 0.999, least = 1e-8;
  const double by = 1.0 / (1.0 - pow(keep, step)), by_square = 1.0 / (1.0 - pow(keep_square, step));
  for (size_t k = 0; k < n; k++) {
    const double g = gradient[k] * scale;
    first[k] = keep * first[k] + (1.0 - keep) * g;
    second[k] = keep_square * second[k] + (1.0 - keep_square) * g * g;
    weights[k] -= rate * first[k] * by / (sqrt(second[k] * by_square) + least);
  }
}
