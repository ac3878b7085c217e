#include "coarse.h"

#include <math.h>

#define FEWEST_COARSE 16.0
/* N^3 / 3 operations to factor, at most this share of a pass over the table. */
#define FACTOR_SHARE 0.42

double ibrc_coarse_most(double n_entries) {
  return fmax(FEWEST_COARSE, cbrt(3.0 * FACTOR_SHARE * n_entries));
}

void ibrc_coarse_map(const ibrc_space *fine, const ibrc_space *coarse, ibrc_corners *corners,
                     double *belief, int *fine_node, int *column, double *weight) {
  for (int k = 0; k < coarse->n_nodes; k++) {
    ibrc_space_node(coarse, k, belief);
    ibrc_space_round(fine, belief);
    ibrc_space_locate(fine, belief, corners);
    fine_node[k] = corners->node[0];
  }
  for (int node = 0; node < fine->n_nodes; node++) {
    ibrc_space_node(fine, node, belief);
    ibrc_space_locate(coarse, belief, corners);
    for (int k = 0; k < coarse->n_corners; k++, column++, weight++) {
      *column = k < corners->n ? corners->node[k] : 0;
      *weight = k < corners->n ? corners->weight[k] : 0.0;
    }
  }
}

/* Adds -gamma (R P I) for one coarse node to its row. */
static void subtract_expected(const ibrc_coarse *coarse, const ibrc_slope *slope, int node,
                              double *row) {
  const int C = coarse->n_corners;
  const ibrc_table *table = slope->table;
  for (size_t from = ibrc_slope_begin(slope, node); from < ibrc_slope_begin(slope, node + 1); from++) {
    if (!(slope->flow[from] > 0.0)) continue;
    for (int i = table->row_start[from]; i < table->row_start[from + 1]; i++) {
      const size_t at = (size_t)table->column[i] * (size_t)C;
      const double mass = slope->flow[from] * table->weight[i];
      for (int k = 0; k < C; k++) {
        row[coarse->column[at + (size_t)k]] -= mass * coarse->weight[at + (size_t)k];
      }
    }
  }
}

void ibrc_coarse_factor(const ibrc_coarse *coarse, const ibrc_slope *slope, double *factors) {
  const size_t N = (size_t)coarse->n_coarse;
  for (size_t a = 0; a < N; a++) {
    double *row = factors + a * N;
    for (size_t b = 0; b < N; b++) row[b] = 0.0;
    row[a] = 1.0 - slope->rest[coarse->fine_node[a]];
    subtract_expected(coarse, slope, coarse->fine_node[a], row);
  }
  for (size_t a = 0; a < N; a++) {
    const double *pivot = factors + a * N;
    for (size_t b = a + 1; b < N; b++) {
      double *row = factors + b * N;
      if (row[a] == 0.0) continue;
      const double ratio = row[a] / pivot[a];
      row[a] = ratio;
      for (size_t c = a + 1; c < N; c++) row[c] -= ratio * pivot[c];
    }
  }
}

void ibrc_coarse_solve(const ibrc_coarse *coarse, const double *factors, double *work) {
  const int N = coarse->n_coarse;
  for (int a = 0; a < N; a++) {
    const double *row = factors + (size_t)a * (size_t)N;
    double sum = work[a];
    for (int b = 0; b < a; b++) sum -= row[b] * work[b];
    work[a] = sum;
  }
  for (int a = N - 1; a >= 0; a--) {
    const double *row = factors + (size_t)a * (size_t)N;
    for (int b = a + 1; b < N; b++) work[a] -= row[b] * work[b];
    work[a] /= row[a];
  }
}

void ibrc_coarse_correct(const ibrc_coarse *coarse, const ibrc_slope *slope, const double *factors,
                         const double *residual, double *work, double *corrected) {
  const int N = coarse->n_coarse, C = coarse->n_corners;
  for (int a = 0; a < N; a++) work[a] = ibrc_slope_dot(slope, coarse->fine_node[a], residual);
  ibrc_coarse_solve(coarse, factors, work);
  const int *column = coarse->column;
  const double *weight = coarse->weight;
  for (int node = 0; node < slope->table->n_nodes; node++, column += C, weight += C) {
    double sum = residual[node] + weight[0] * work[column[0]] + weight[1] * work[column[1]];
    for (int k = 2; k < C; k++) sum += weight[k] * work[column[k]];
    corrected[node] = sum;
  }
}
