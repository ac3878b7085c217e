#include "incomplete.h"

/* Fewer nodes than this are solved quickly without factors, and longer rows would cost more than
 * they save
 * (entries of all rows of a node, on average). */
#define FEWEST_NODES 256
#define LONGEST_ROW 64

/* A few nodes are looked at, each with a few of its entries; this share of the nodes that follow
 * those must also follow the node itself. */
#define LOOKED_AT 24
#define LOOKED_AT_ENTRIES 16
#define LEAST_SHARED 0.25

/* Entries of all rows of a node, which stand together. */
static int first_entry(const ibrc_table *table, int node) {
  return table->row_start[(size_t)node * (size_t)table->n_actions * (size_t)table->n_models];
}

static int can_follow(const ibrc_table *table, int node, int other) {
  const int end = first_entry(table, node + 1);
  for (int i = first_entry(table, node); i < end; i++) {
    if (table->column[i] == other) return 1;
  }
  return 0;
}

static int is_near(const ibrc_table *table) {
  double shared = 0.0, all = 0.0;
  for (int k = 0; k < LOOKED_AT; k++) {
    const int node = (int)((double)table->n_nodes * (k + 0.5) / LOOKED_AT);
    const int first = first_entry(table, node), end = first_entry(table, node + 1);
    for (int i = first; i < end && i < first + LOOKED_AT_ENTRIES; i++) {
      const int next = table->column[i];
      for (int j = first_entry(table, next); j < first_entry(table, next + 1); j++) {
        shared += can_follow(table, node, table->column[j]);
        all += 1.0;
      }
    }
  }
  return shared >= LEAST_SHARED * all;
}

int ibrc_incomplete_fits(const ibrc_table *table) {
  const size_t n = (size_t)table->n_nodes;
  const size_t n_entries = (size_t)table->row_start[ibrc_table_rows(table)];
  return n >= FEWEST_NODES && n_entries <= LONGEST_ROW * n && is_near(table);
}

/* One entry for each of the table's, and the diagonal. */
static size_t most_entries(const ibrc_table *table) {
  return (size_t)table->row_start[ibrc_table_rows(table)] + (size_t)table->n_nodes;
}

static size_t doubles_for_ints(size_t n) { return (n * sizeof(int)) / sizeof(double) + 1; }

/* Rows are short: an entry moves up past the larger ones. */
static void sort_columns(int *column, int n) {
  for (int i = 1; i < n; i++) {
    const int c = column[i];
    int j = i;
    for (; j > 0 && column[j - 1] > c; j--) column[j] = column[j - 1];
    column[j] = c;
  }
}

/* The entries of one node, from `at` on; returns where the next begins. */
static int lay_node(const ibrc_table *table, int node, int at, ibrc_incomplete *out) {
  const int first = first_entry(table, node), end = first_entry(table, node + 1);
  int count = 1;
  int *column = out->column + at, *place = out->place;
  column[0] = node;
  place[node] = at;
  for (int i = first; i < end; i++) {
    const int to = table->column[i];
    if (place[to] >= at) continue;
    place[to] = at;
    column[count++] = to;
  }
  sort_columns(column, count);
  for (int k = 0; k < count; k++) place[column[k]] = at + k;
  for (int i = first; i < end; i++) out->into[i] = place[table->column[i]];
  out->diagonal[node] = place[node];
  return at + count;
}

size_t ibrc_incomplete_doubles(const ibrc_table *table) {
  const size_t n = (size_t)table->n_nodes, most = most_entries(table);
  return 2 * most + doubles_for_ints(2 * most + 3 * n + 1);
}

/* The first and the last column of every row between which elimination stays: new entries appear in
 * a row as far to the right as the rows reach by which it is reduced. 0: there is no room for them.
 * */
static int find_bands(const ibrc_table *table, size_t room, int *left, int *right) {
  size_t taken = 0;
  for (int node = 0; node < table->n_nodes; node++) {
    const int end = first_entry(table, node + 1);
    int low = node, high = node;
    for (int i = first_entry(table, node); i < end; i++) {
      const int to = table->column[i];
      if (to < low) low = to;
      if (to > high) high = to;
    }
    if (taken + (size_t)(high - low) >= room) return 0;
    for (int k = low; k < node; k++) {
      if (right[k] > high) high = right[k];
    }
    taken += (size_t)(high - low) + 1;
    if (taken > room) return 0;
    left[node] = low;
    right[node] = high;
  }
  return 1;
}

/* All entries of a band: with them the factors leave nothing out. */
static int lay_band(const ibrc_table *table, int node, int low, int high, int at,
                    ibrc_incomplete *out) {
  const int end = first_entry(table, node + 1);
  for (int to = low; to <= high; to++) out->column[at + to - low] = to;
  for (int i = first_entry(table, node); i < end; i++) out->into[i] = at + table->column[i] - low;
  out->diagonal[node] = at + node - low;
  return at + high - low + 1;
}

ibrc_incomplete ibrc_incomplete_over(const ibrc_table *table, double *doubles) {
  const size_t n = (size_t)table->n_nodes, most = most_entries(table);
  int *ints = (int *)(doubles + 2 * most), at = 0;
  ibrc_incomplete incomplete = {.n = table->n_nodes,
                                .start = ints,
                                .diagonal = ints + n + 1,
                                .place = ints + 2 * n + 1,
                                .column = ints + 3 * n + 1,
                                .into = ints + 3 * n + 1 + most,
                                .weight = doubles,
                                .factor = doubles + most};
  /* Bands stand, until each is laid, where the diagonal and places will. */
  int *left = incomplete.diagonal, *right = incomplete.place;
  const int in_bands = find_bands(table, most, left, right);
  for (size_t i = 0; i < n && !in_bands; i++) incomplete.place[i] = -1;
  for (int node = 0; node < table->n_nodes; node++) {
    incomplete.start[node] = at;
    at = in_bands ? lay_band(table, node, left[node], right[node], at, &incomplete)
                  : lay_node(table, node, at, &incomplete);
  }
  incomplete.start[n] = at;
  return incomplete;
}

/* Eliminates, row by row, what stands before the diagonal; new entries where A has none are
 * left out. */
static void factor_rows(ibrc_incomplete *f) {
  int *place = f->place;
  for (int i = 0; i < f->start[f->n]; i++) f->factor[i] = f->weight[i];
  for (int i = 0; i < f->n; i++) place[i] = -1;
  for (int node = 0; node < f->n; node++) {
    const int first = f->start[node], end = f->start[node + 1];
    for (int i = first; i < end; i++) place[f->column[i]] = i;
    for (int i = first; i < f->diagonal[node]; i++) {
      const int pivot = f->column[i];
      const double ratio = f->factor[i] / f->factor[f->diagonal[pivot]];
      f->factor[i] = ratio;
      for (int k = f->diagonal[pivot] + 1; k < f->start[pivot + 1]; k++) {
        const int at = place[f->column[k]];
        if (at >= first) f->factor[at] -= ratio * f->factor[k];
      }
    }
  }
}

void ibrc_incomplete_fill(const ibrc_slope *slope, ibrc_incomplete *incomplete) {
  const ibrc_table *table = slope->table;
  double *weight = incomplete->weight;
  for (int i = 0; i < incomplete->start[incomplete->n]; i++) weight[i] = 0.0;
  for (int node = 0; node < incomplete->n; node++) {
    weight[incomplete->diagonal[node]] = 1.0 - slope->rest[node];
    const size_t end = ibrc_slope_begin(slope, node + 1);
    for (size_t row = ibrc_slope_begin(slope, node); row < end; row++) {
      const double flow = slope->flow[row];
      if (!(flow > 0.0)) continue;
      for (int i = table->row_start[row]; i < table->row_start[row + 1]; i++) {
        weight[incomplete->into[i]] -= flow * table->weight[i];
      }
    }
  }
  factor_rows(incomplete);
}

void ibrc_incomplete_apply(const ibrc_incomplete *a, const double *x, double *y) {
  for (int node = 0; node < a->n; node++) {
    y[node] = ibrc_sparse_dot(a->column, a->weight, a->start[node], a->start[node + 1], x);
  }
}

void ibrc_incomplete_solve(const ibrc_incomplete *f, const double *x, double *y) {
  for (int node = 0; node < f->n; node++) {
    y[node] = x[node] - ibrc_sparse_dot(f->column, f->factor, f->start[node], f->diagonal[node], y);
  }
  for (int node = f->n - 1; node >= 0; node--) {
    const double sum =
        ibrc_sparse_dot(f->column, f->factor, f->diagonal[node] + 1, f->start[node + 1], y);
    y[node] = (y[node] - sum) / f->factor[f->diagonal[node]];
  }
}
