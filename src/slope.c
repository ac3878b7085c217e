#include "slope.h"

#include "threads.h"

static double sum_of(const float *x, int n) {
  double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
  int i = 0;
  for (; i + 3 < n; i += 4) {
    a += (double)x[i];
    b += (double)x[i + 1];
    c += (double)x[i + 2];
    d += (double)x[i + 3];
  }
  for (; i < n; i++) a += (double)x[i];
  return (a + b) + (c + d);
}

void ibrc_slope_fill(const ibrc_process *process, float *entry, double *rest) {
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
    const int begin = table->row_start[row - (size_t)U * (size_t)M];
    rest[node] = process->discount - sum_of(entry + begin, table->row_start[row] - begin);
  }
}

void ibrc_slope_apply(const ibrc_slope *slope, const double *x, double *y) {
  IBRC_PARALLEL_FOR(slope->n_threads)
  for (int node = 0; node < slope->table->n_nodes; node++) {
    y[node] = (1.0 - slope->rest[node]) * x[node] - ibrc_slope_dot(slope, node, x);
  }
}
