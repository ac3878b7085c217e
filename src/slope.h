#ifndef IBRC_SLOPE_H
#define IBRC_SLOPE_H

#include "process.h"
#include "table.h"

/* The slope gamma P of a backup at its own policies, for Newton steps: the rows
 * of one node stand next to each other in the table, so P needs no columns of its
 * own, only an entry's weight times gamma pi(u|z) sigma(m|z,u). Single precision
 * is enough for entries: a Newton step is never solved to more than 1e-6, and its
 * result is judged by a backup in double precision. What their rounding takes from
 * a row's sum, gamma, is kept beside them and stays at the node: 1 - gamma may be
 * small beside it. */

typedef struct {
  const ibrc_table *table;
  const float *entry;  /* as many as the table has */
  const double *rest;  /* [node]: gamma less the sum of its entries */
  int n_threads;
} ibrc_slope;

void ibrc_slope_fill(const ibrc_process *process, float *entry, double *rest);

/* Where the entries of a node begin, and those of the next. */
static inline int ibrc_slope_begin(const ibrc_slope *slope, int node) {
  const size_t rows = (size_t)slope->table->n_actions * (size_t)slope->table->n_models;
  return slope->table->row_start[(size_t)node * rows];
}

/* (gamma P x)(node), but for the rest */
static inline double ibrc_slope_dot(const ibrc_slope *slope, int node, const double *x) {
  int i = ibrc_slope_begin(slope, node);
  const int end = ibrc_slope_begin(slope, node + 1);
  const int *column = slope->table->column;
  const float *entry = slope->entry;
  double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
  for (; i + 3 < end; i += 4) {
    a += (double)entry[i] * x[column[i]];
    b += (double)entry[i + 1] * x[column[i + 1]];
    c += (double)entry[i + 2] * x[column[i + 2]];
    d += (double)entry[i + 3] * x[column[i + 3]];
  }
  for (; i < end; i++) a += (double)entry[i] * x[column[i]];
  return (a + b) + (c + d);
}

/* y = x - gamma P x */
void ibrc_slope_apply(const ibrc_slope *slope, const double *x, double *y);

#endif
