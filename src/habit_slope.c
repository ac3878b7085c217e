#include "habit_slope.h"

#include "threads.h"

static size_t doubles_for_ints(size_t n) { return (n * sizeof(int)) / sizeof(double) + 1; }

static int is_near(const ibrc_table *table, const ibrc_coarse *coarse) {
  return coarse->seen && ibrc_incomplete_fits(table);
}

/* Room for what is written out: a quarter more than the table has, for nodes with several pairs. */
static size_t room_to_write(const ibrc_table *table) {
  const size_t written = ibrc_slope_written(table);
  return written + written / 4;
}

size_t ibrc_habit_slope_doubles(const ibrc_table *table, const ibrc_coarse *coarse) {
  const size_t n = (size_t)table->n_nodes, U = (size_t)table->n_actions, N = (size_t)coarse->n_coarse;
  const size_t written = room_to_write(table);
  return doubles_for_ints(ibrc_pairs_ints(table)) + doubles_for_ints(N) + ibrc_table_rows(table) + n * U * (U + 4) + n +
         ibrc_slope_doubles(table) + N * N + N +
         (is_near(table, coarse) ? ibrc_incomplete_doubles(table) : 0) + written +
         (written > 0 ? doubles_for_ints(written) + doubles_for_ints(n * U + 1) : 0);
}

/* The next so many doubles. */
static double *take(double **doubles, size_t n) {
  double *taken = *doubles;
  *doubles += n;
  return taken;
}

static int *take_ints(double **doubles, size_t n) { return (int *)take(doubles, doubles_for_ints(n)); }

static size_t entries_by_pair(const ibrc_habit_slope *slope) {
  const ibrc_table *table = slope->table;
  const size_t rows = (size_t)table->n_actions * (size_t)table->n_models;
  size_t sum = 0;
  for (int k = 0; k < slope->pairs.n; k++) {
    const size_t row = (size_t)slope->pairs.node[k] * rows;
    sum += (size_t)(table->row_start[row + rows] - table->row_start[row]);
  }
  return sum;
}

static int first_pair(const ibrc_habit_slope *slope, int node) {
  for (int last = 0; last < slope->table->n_actions; last++) {
    const int pair = slope->pairs.place[last * slope->table->n_nodes + node];
    if (pair >= 0) return pair;
  }
  return -1;
}

ibrc_habit_slope ibrc_habit_slope_over(const ibrc_table *table, const ibrc_coarse *coarse,
                                       int n_threads, double *doubles) {
  const size_t n = (size_t)table->n_nodes, U = (size_t)table->n_actions, N = (size_t)coarse->n_coarse;
  const size_t written = room_to_write(table);
  ibrc_habit_slope slope = {
      .table = table, .coarse = coarse, .near = is_near(table, coarse), .n_threads = n_threads};
  slope.pairs = ibrc_pairs_over(table, take_ints(&doubles, ibrc_pairs_ints(table)));
  slope.share = take(&doubles, ibrc_table_rows(table));
  slope.rest = take(&doubles, n * U);
  slope.expected = take(&doubles, n * U);
  slope.laid = take(&doubles, n * U);
  slope.standing = take(&doubles, n * U);
  slope.answer = take(&doubles, n);
  slope.chance = take(&doubles, n * U * U);
  slope.whole = (size_t)slope.pairs.n == n * U;
  slope.alone = ibrc_slope_over(table, n_threads, take(&doubles, ibrc_slope_doubles(table)));
  slope.alone.weight = NULL; /* coarse nodes and factors read its flows */
  slope.factors = take(&doubles, N * N);
  slope.work = take(&doubles, N);
  if (slope.near) {
    slope.incomplete = ibrc_incomplete_over(table, take(&doubles, ibrc_incomplete_doubles(table)));
  }
  if (written > 0) {
    slope.weight = take(&doubles, written);
    slope.column = take_ints(&doubles, written);
    slope.start = take_ints(&doubles, n * U + 1);
    slope.by_pair = !slope.near && entries_by_pair(&slope) <= written;
  }
  slope.pair_of = take_ints(&doubles, N);
  for (size_t a = 0; a < N; a++) slope.pair_of[a] = first_pair(&slope, coarse->fine_node[a]);
  return slope;
}

/* pi at a pair. */
static inline const double *chance_at(const ibrc_habit_slope *slope, size_t at) {
  return slope->policy + at * (size_t)slope->table->n_actions;
}

/* standing(u) = sum_l w(l) pi(u | l) over the pairs of a node, with w(l) from the mean of pi over
 * them: what is done after two visits at a belief. */
static void find_standing(ibrc_habit_slope *slope, int node) {
  const int n = slope->table->n_nodes, U = slope->table->n_actions;
  double *standing = slope->standing + (size_t)node * (size_t)U, *first = slope->expected;
  double sum = 0.0;
  for (int u = 0; u < U; u++) first[u] = standing[u] = 0.0;
  for (int last = 0, at = node; last < U; last++, at += n) {
    if (slope->pairs.place[at] < 0) continue;
    const double *chance = chance_at(slope, (size_t)at);
    for (int u = 0; u < U; u++) first[u] += chance[u];
  }
  for (int last = 0, at = node; last < U; last++, at += n) {
    if (slope->pairs.place[at] < 0) continue;
    const double *chance = chance_at(slope, (size_t)at);
    for (int u = 0; u < U; u++) standing[u] += first[last] * chance[u];
    sum += first[last];
  }
  for (int u = 0; u < U; u++) standing[u] = sum > 0.0 ? standing[u] / sum : 1.0 / (double)U;
}

/* Writes out a row, times its share, and returns where the next one begins. */
static int write_row(const ibrc_habit_slope *slope, size_t row, double share, const int *place, int at) {
  const ibrc_table *table = slope->table;
  for (int i = table->row_start[row]; i < table->row_start[row + 1]; i++, at++) {
    slope->weight[at] = share * table->weight[i];
    slope->column[at] = place[table->column[i]];
  }
  return at;
}

/* pi one action after the other, and 0 where there is no pair. */
static void lay_chances(ibrc_habit_slope *slope) {
  const size_t U = (size_t)slope->table->n_actions, nodes = (size_t)slope->table->n_nodes;
  double *to = slope->chance;
  for (size_t last = 0, at = 0; last < U; last++, to += U * nodes) {
    for (size_t node = 0; node < nodes; node++, at++) {
      const int is_pair = slope->pairs.place[at] >= 0;
      const double *from = chance_at(slope, at);
      for (size_t u = 0; u < U; u++) to[u * nodes + node] = is_pair ? from[u] : 0.0;
    }
  }
}

/* most [action][node]: the largest probability of an action after any last action. */
IBRC_WIDE
static void find_most(const ibrc_habit_slope *slope, double *most) {
  const int U = slope->table->n_actions, cells = slope->table->n_nodes * U;
  const double *chance = slope->chance;
  for (int cell = 0; cell < cells; cell++) most[cell] = 0.0;
  for (int last = 0; last < U; last++, chance += cells) {
    IBRC_SIMD
    for (int cell = 0; cell < cells; cell++) most[cell] = chance[cell] > most[cell] ? chance[cell] : most[cell];
  }
}

/* Shares of all rows that matter; kept [action][node]: how much of gamma they make up. */
static void take_shares(ibrc_habit_slope *slope, const double *sigma, double discount, double least,
                        const double *most, double *kept) {
  const size_t nodes = (size_t)slope->table->n_nodes, U = (size_t)slope->table->n_actions;
  const size_t M = (size_t)slope->table->n_models;
  int at = 0;
  for (size_t node = 0, row = 0; node < nodes; node++) {
    for (size_t u = 0; u < U; u++) {
      const double likely = most[u * nodes + node];
      double sum = 0.0;
      if (slope->weight) slope->start[node * U + u] = at;
      for (size_t m = 0; m < M; m++, row++) {
        const double share = discount * sigma[row];
        slope->share[row] = share * likely < least ? 0.0 : share;
        sum += slope->share[row];
        if (slope->weight && slope->share[row] > 0.0) {
          at = write_row(slope, row, share, slope->pairs.place + u * nodes, at);
        }
      }
      kept[u * nodes + node] = sum;
    }
  }
  if (slope->weight) slope->start[nodes * U] = at;
}

/* What is left of gamma at each pair. */
IBRC_WIDE
static void find_rest(ibrc_habit_slope *slope, double discount, const double *kept) {
  const int U = slope->table->n_actions, n = slope->table->n_nodes;
  const double *chance = slope->chance;
  double *rest = slope->rest, *flow = slope->laid;
  for (int last = 0; last < U; last++, flow += n) {
    for (int node = 0; node < n; node++) flow[node] = 0.0;
    for (int u = 0; u < U; u++, chance += n) {
      const double *of_action = kept + (size_t)u * (size_t)n;
      IBRC_SIMD
      for (int node = 0; node < n; node++) flow[node] += chance[node] * of_action[node];
    }
  }
  flow = slope->laid;
  for (int k = 0; k < slope->pairs.n; k++) rest[k] = discount - flow[slope->pairs.at[k]];
}

/* Everything at once, pair by pair. */
static void fill_pairs(ibrc_habit_slope *slope, const double *sigma, double discount, double least) {
  const size_t nodes = (size_t)slope->table->n_nodes, U = (size_t)slope->table->n_actions;
  const size_t M = (size_t)slope->table->n_models;
  int at = 0;
  for (int k = 0; k < slope->pairs.n; k++) {
    const double *policy = chance_at(slope, (size_t)slope->pairs.at[k]);
    size_t row = (size_t)slope->pairs.node[k] * U * M;
    double rest = discount;
    slope->start[k] = at;
    for (size_t u = 0; u < U; u++) {
      for (size_t m = 0; m < M; m++, row++) {
        const double flow = discount * policy[u] * sigma[row];
        if (flow < least || !(flow > 0.0)) continue;
        rest -= flow;
        at = write_row(slope, row, flow, slope->pairs.place + u * nodes, at);
      }
    }
    slope->rest[k] = rest;
  }
  slope->start[slope->pairs.n] = at;
}

/* A coarse node is treated like its first pair. */
static void stand_at_pairs(ibrc_habit_slope *slope) {
  const size_t U = (size_t)slope->table->n_actions;
  for (int a = 0; a < slope->coarse->n_coarse; a++) {
    const int pair = slope->pair_of[a];
    double *standing = slope->standing + (size_t)slope->coarse->fine_node[a] * U;
    for (size_t u = 0; u < U; u++) {
      standing[u] = pair < 0 ? 0.0 : chance_at(slope, (size_t)slope->pairs.at[pair])[u];
    }
  }
}

int ibrc_habit_slope_corrects(const ibrc_habit_slope *slope) {
  return slope->near || slope->coarse->n_coarse > 0;
}

static void fill_coarse(ibrc_habit_slope *slope, const ibrc_process *alone, double least) {
  const ibrc_coarse *coarse = slope->coarse;
  if (slope->by_pair) stand_at_pairs(slope);
  for (int a = 0; a < coarse->n_coarse; a++) {
    if (!slope->by_pair) find_standing(slope, coarse->fine_node[a]);
    ibrc_slope_fill_node(alone, least, coarse->fine_node[a], &slope->alone);
  }
  ibrc_coarse_factor(coarse, &slope->alone, slope->factors);
}

void ibrc_habit_slope_fill(ibrc_habit_slope *slope, const double *policy_after, const double *sigma,
                           double discount, double least) {
  const ibrc_process alone = {.table = slope->table,
                              .policy = slope->standing,
                              .sigma = sigma,
                              .discount = discount,
                              .n_threads = slope->n_threads};
  double *most = slope->laid, *kept = slope->expected;
  slope->policy = policy_after;
  if (slope->near) {
    for (int node = 0; node < slope->table->n_nodes; node++) find_standing(slope, node);
    ibrc_slope_fill(&alone, least, &slope->alone);
    ibrc_incomplete_fill(&slope->alone, &slope->incomplete);
  } else if (slope->coarse->n_coarse > 0) {
    fill_coarse(slope, &alone, least);
  }
  if (slope->by_pair) {
    fill_pairs(slope, sigma, discount, least);
  } else {
    lay_chances(slope);
    find_most(slope, most);
    take_shares(slope, sigma, discount, least, most, kept);
    find_rest(slope, discount, kept);
  }
}

/* Where rows are not written out, they read x by node. */
static const double *lay(const ibrc_habit_slope *slope, const double *x) {
  if (slope->weight || slope->whole) return x;
  for (int k = 0; k < slope->pairs.n; k++) slope->laid[slope->pairs.at[k]] = x[k];
  return slope->laid;
}

/* e(z, u), of x as it is laid. */
static inline double expect(const ibrc_habit_slope *slope, size_t cell, size_t u, const double *x) {
  if (slope->weight) {
    return ibrc_sparse_dot(slope->column, slope->weight, slope->start[cell], slope->start[cell + 1], x);
  }
  const size_t M = (size_t)slope->table->n_models;
  const double *next = x + u * (size_t)slope->table->n_nodes;
  double sum = 0.0;
  for (size_t row = cell * M; row < (cell + 1) * M; row++) {
    if (slope->share[row] > 0.0) sum += slope->share[row] * ibrc_table_dot(slope->table, row, next);
  }
  return sum;
}

static void expect_at(const ibrc_habit_slope *slope, const double *x, int first, int end) {
  const size_t U = (size_t)slope->table->n_actions, nodes = (size_t)slope->table->n_nodes;
  for (size_t node = (size_t)first; node < (size_t)end; node++) {
    for (size_t u = 0; u < U; u++) slope->expected[u * nodes + node] = expect(slope, node * U + u, u, x);
  }
}

/* y = (1 - rest) x - sum_u pi e */
IBRC_WIDE
static void mix_whole(const ibrc_habit_slope *slope, const double *x, double *y) {
  const int U = slope->table->n_actions, n = slope->table->n_nodes;
  const double *chance = slope->chance, *rest = slope->rest;
  for (int last = 0; last < U; last++, x += n, y += n, rest += n) {
    const double *e = slope->expected;
    IBRC_SIMD
    for (int node = 0; node < n; node++) y[node] = (1.0 - rest[node]) * x[node] - chance[node] * e[node];
    chance += n;
    e += n;
    for (int u = 1; u < U; u++, chance += n, e += n) {
      IBRC_SIMD
      for (int node = 0; node < n; node++) y[node] -= chance[node] * e[node];
    }
  }
}

static void mix_pairs(const ibrc_habit_slope *slope, const double *x, double *y) {
  const size_t U = (size_t)slope->table->n_actions, nodes = (size_t)slope->table->n_nodes;
  for (int k = 0; k < slope->pairs.n; k++) {
    const double *chance = chance_at(slope, (size_t)slope->pairs.at[k]);
    const double *e = slope->expected + slope->pairs.node[k];
    double sum = 0.0;
    for (size_t u = 0; u < U; u++) sum += chance[u] * e[u * nodes];
    y[k] = (1.0 - slope->rest[k]) * x[k] - sum;
  }
}

static double expect_pair(const ibrc_habit_slope *slope, int pair, const double *x) {
  if (pair < 0) return 0.0;
  return ibrc_sparse_dot(slope->column, slope->weight, slope->start[pair], slope->start[pair + 1], x);
}

void ibrc_habit_slope_apply(const ibrc_habit_slope *slope, const double *x, double *y) {
  const int n_nodes = slope->table->n_nodes, parts = slope->n_threads;
  if (slope->by_pair) {
    for (int k = 0; k < slope->pairs.n; k++) {
      y[k] = (1.0 - slope->rest[k]) * x[k] - expect_pair(slope, k, x);
    }
    return;
  }
  const double *laid = lay(slope, x);
  if (parts == 1) {
    expect_at(slope, laid, 0, n_nodes);
  } else {
    IBRC_PARALLEL_FOR(parts)
    for (int part = 0; part < parts; part++) {
      expect_at(slope, laid, ibrc_part_begin(n_nodes, part, parts), ibrc_part_begin(n_nodes, part + 1, parts));
    }
  }
  if (slope->whole) {
    mix_whole(slope, x, y);
  } else {
    mix_pairs(slope, x, y);
  }
}

/* What a plain backup makes of x, as it is laid out, at a node, whatever came last. */
static double expect_standing(const ibrc_habit_slope *slope, int node, const double *x) {
  const size_t U = (size_t)slope->table->n_actions, cell = (size_t)node * U;
  double sum = 0.0;
  for (size_t u = 0; u < U; u++) sum += slope->standing[cell + u] * expect(slope, cell + u, u, x);
  return sum;
}

/* y = x + answer */
IBRC_WIDE
static void add_whole(const ibrc_habit_slope *slope, const double *answer, const double *x, double *y) {
  const int n = slope->table->n_nodes;
  for (int last = 0; last < slope->table->n_actions; last++, x += n, y += n) {
    IBRC_SIMD
    for (int node = 0; node < n; node++) y[node] = x[node] + answer[node];
  }
}

void ibrc_habit_slope_correct(const ibrc_habit_slope *slope, const double *x, double *y) {
  const ibrc_coarse *coarse = slope->coarse;
  const int n = slope->table->n_nodes;
  const double *laid = lay(slope, x);
  double *answer = slope->answer;
  if (slope->near) {
    for (int node = 0; node < n; node++) answer[node] = expect_standing(slope, node, laid);
    ibrc_incomplete_solve(&slope->incomplete, answer, answer);
  } else {
    for (int a = 0; a < coarse->n_coarse; a++) {
      slope->work[a] = slope->by_pair ? expect_pair(slope, slope->pair_of[a], x)
                                      : expect_standing(slope, coarse->fine_node[a], laid);
    }
    ibrc_coarse_solve(coarse, slope->factors, slope->work);
    for (int node = 0; node < n; node++) answer[node] = ibrc_coarse_at(coarse, slope->work, node);
  }
  if (slope->whole) {
    add_whole(slope, answer, x, y);
  } else {
    for (int k = 0; k < slope->pairs.n; k++) y[k] = x[k] + answer[slope->pairs.node[k]];
  }
}
