#include "slope.h"

#include "threads.h"

size_t ibrc_slope_doubles(const ibrc_table *table) {
  return (size_t)table->n_nodes + ibrc_table_rows(table);
}

ibrc_slope ibrc_slope_over(const ibrc_table *table, int n_threads, double *doubles) {
  ibrc_slope slope = {.table = table,
                      .flow = doubles,
                      .rest = doubles + ibrc_table_rows(table),
                      .n_threads = n_threads};
  return slope;
}

void ibrc_slope_fill(const ibrc_process *process, double least, ibrc_slope *slope) {
  const ibrc_table *table = process->table;
  const int U = table->n_actions, M = table->n_models;
  for (int node = 0; node < table->n_nodes; node++) {
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
