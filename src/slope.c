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

/* sum_j (gamma P)_ij (x_i - x_j) for i = node */
static double lag(const ibrc_slope *slope, int node, const double *x) {
  int i = ibrc_slope_begin(slope, node);
  const int end = ibrc_slope_begin(slope, node + 1);
  const int *column = slope->table->column;
  const float *entry = slope->entry;
  const double here = x[node];
  double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
  for (; i + 3 < end; i += 4) {
    a += (double)entry[i] * (here - x[column[i]]);
    b += (double)entry[i + 1] * (here - x[column[i + 1]]);
    c += (double)entry[i + 2] * (here - x[column[i + 2]]);
    d += (double)entry[i + 3] * (here - x[column[i + 3]]);
  }
  for (; i < end; i++) a += (double)entry[i] * (here - x[column[i]]);
  return (a + b) + (c + d);
}

void ibrc_slope_apply(const ibrc_slope *slope, const double *x, double *y) {
  IBRC_PARALLEL_FOR(slope->n_threads)
  for (int node = 0; node < slope->table->n_nodes; node++) {
    y[node] = (1.0 - slope->discount) * x[node] + lag(slope, node, x);
  }
}
