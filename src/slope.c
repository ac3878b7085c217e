#include "slope.h"

#include "threads.h"

void ibrc_slope_fill(const ibrc_process *process, float *entry) {
  const ibrc_table *table = process->table;
  const int U = table->n_actions, M = table->n_models;
  IBRC_PARALLEL_FOR(process->n_threads)
  for (int node = 0; node < table->n_nodes; node++) {
    size_t cell = (size_t)node * (size_t)U, row = cell * (size_t)M;
    for (int u = 0; u < U; u++, cell++) {
      for (int m = 0; m < M; m++, row++) {
        const double flow = process->discount * process->policy[cell] * process->sigma[row];
        for (int i = table->row_start[row]; i < table->row_start[row + 1]; i++) {
          entry[i] = (float)(flow * table->weight[i]);
        }
      }
    }
  }
}

void ibrc_slope_apply(const ibrc_slope *slope, const double *x, double *y) {
  IBRC_PARALLEL_FOR(slope->n_threads)
  for (int node = 0; node < slope->table->n_nodes; node++) {
    y[node] = x[node] - ibrc_slope_dot(slope, node, x);
  }
}
