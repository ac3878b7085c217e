#include "slope.h"

#include "threads.h"

size_t ibrc_slope_reals(const ibrc_table *table) {
  return (size_t)table->n_nodes + ibrc_table_rows(table);
}

ibrc_slope ibrc_slope_over(const ibrc_table *table, int n_threads, double *reals) {
  ibrc_slope slope = {table, reals, reals + ibrc_table_rows(table), n_threads};
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

void ibrc_slope_apply(const ibrc_slope *slope, const double *x, double *y) {
  IBRC_PARALLEL_FOR(slope->n_threads)
  for (int node = 0; node < slope->table->n_nodes; node++) {
    y[node] = (1.0 - slope->rest[node]) * x[node] - ibrc_slope_dot(slope, node, x);
  }
}
