#include "slope.h"

#include "threads.h"

/* The most entries that are written out, so that they stay in a processor's cache; and the most
 * entries of a row, on average: longer rows are fast without this. */
#define MOST_WRITTEN 65536
#define SHORT_ROW 6

size_t ibrc_slope_written(const ibrc_table *table) {
  const size_t n_rows = ibrc_table_rows(table), n_entries = (size_t)table->row_start[n_rows];
  return n_entries <= MOST_WRITTEN && n_entries <= SHORT_ROW * n_rows ? n_entries : 0;
}

/* Doubles that have room for so many ints. */
static size_t doubles_for_ints(size_t n) { return (n * sizeof(int)) / sizeof(double) + 1; }

size_t ibrc_slope_doubles(const ibrc_table *table) {
  const size_t n = (size_t)table->n_nodes, written = ibrc_slope_written(table);
  return n + ibrc_table_rows(table) + written +
         (written > 0 ? doubles_for_ints(written) + doubles_for_ints(n + 1) : 0);
}

ibrc_slope ibrc_slope_over(const ibrc_table *table, int n_threads, double *doubles) {
  const size_t n = (size_t)table->n_nodes, written = ibrc_slope_written(table);
  ibrc_slope slope = {.table = table,
                      .flow = doubles,
                      .rest = doubles + ibrc_table_rows(table),
                      .n_threads = n_threads};
  if (written > 0) {
    slope.weight = slope.rest + n;
    slope.column = (int *)(slope.weight + written);
    slope.start = (int *)(slope.weight + written + doubles_for_ints(written));
  }
  return slope;
}

/* Writes out a row, times its flow, and returns where the next one begins. */
static int write_row(const ibrc_slope *slope, size_t row, int at) {
  const ibrc_table *table = slope->table;
  const double flow = slope->flow[row];
  if (!(flow > 0.0)) return at;
  for (int i = table->row_start[row]; i < table->row_start[row + 1]; i++, at++) {
    slope->weight[at] = flow * table->weight[i];
    slope->column[at] = table->column[i];
  }
  return at;
}

void ibrc_slope_fill(const ibrc_process *process, double least, ibrc_slope *slope) {
  const ibrc_table *table = process->table;
  const int U = table->n_actions, M = table->n_models;
  int at = 0;
  for (int node = 0; node < table->n_nodes; node++) {
    size_t cell = (size_t)node * (size_t)U, row = cell * (size_t)M;
    double rest = process->discount;
    if (slope->weight) slope->start[node] = at;
    for (int u = 0; u < U; u++, cell++) {
      for (int m = 0; m < M; m++, row++) {
        const double flow = process->discount * process->policy[cell] * process->sigma[row];
        slope->flow[row] = flow < least ? 0.0 : flow;
        rest -= slope->flow[row];
        if (slope->weight) at = write_row(slope, row, at);
      }
    }
    slope->rest[node] = rest;
  }
  if (slope->weight) slope->start[table->n_nodes] = at;
}

void ibrc_slope_fill_node(const ibrc_process *process, double least, int node, ibrc_slope *slope) {
  const int U = process->table->n_actions, M = process->table->n_models;
  size_t cell = (size_t)node * (size_t)U, row = cell * (size_t)M;
  double rest = process->discount;
  for (int u = 0; u < U; u++, cell++) {
    for (int m = 0; m < M; m++, row++) {
      const double flow = process->discount * process->policy[cell] * process->sigma[row];
      slope->flow[row] = flow < least ? 0.0 : flow;
      rest -= slope->flow[row];
    }
  }
  slope->rest[node] = rest;
}

static void apply_at(const ibrc_slope *slope, const double *x, int first, int end, double *y) {
  for (int node = first; node < end; node++) {
    y[node] = (1.0 - slope->rest[node]) * x[node] - ibrc_slope_dot(slope, node, x);
  }
}

void ibrc_slope_apply(const ibrc_slope *slope, const double *x, double *y) {
  const int n_nodes = slope->table->n_nodes, parts = slope->n_threads;
  if (parts == 1) {
    apply_at(slope, x, 0, n_nodes, y);
    return;
  }
  IBRC_PARALLEL_FOR(parts)
  for (int part = 0; part < parts; part++) {
    apply_at(slope, x, ibrc_part_begin(n_nodes, part, parts), ibrc_part_begin(n_nodes, part + 1, parts), y);
  }
}
