#ifndef IBRC_TABLE_H
#define IBRC_TABLE_H

#include <stddef.h>

#include "model.h"
#include "pause.h"
#include "space.h"

/* What a backup needs of the dynamics, built once per (setting, models,
 * space). A row is a (node z, action u, model m), numbered
 * (z * n_actions + u) * n_models + m, and holds
 *
 *   W_{u,m}(z, j)  probability of moving to node j: Bayes steps of every
 *                  possible observation, interpolated; >= 0, sum 1
 *   H_m(z, u)      entropy of the next belief, in nats: observations that lead
 *                  to one belief (max-norm 1e-10) are one atom, unless each
 *                  observation counts by itself
 *
 * Where the state is seen, nodes are states, and W is the transition itself. */

typedef struct {
  int n_nodes, n_actions, n_models;
  const int *row_start; /* [row], and the number of entries last */
  const int *column;    /* [entry] */
  const double *weight; /* [entry] */
} ibrc_table;

static inline size_t ibrc_table_rows(const ibrc_table *table) {
  return (size_t)table->n_nodes * (size_t)table->n_actions * (size_t)table->n_models;
}

typedef struct {
  const ibrc_models *models;
  const ibrc_space *space;
  int merge_observations; /* 1: surprise about beliefs, 0: about observations */
  int n_threads;
  ibrc_pause pause; /* between slices of nodes */
} ibrc_table_recipe;

/* Working space of one thread. */
size_t ibrc_table_doubles(const ibrc_table_recipe *recipe);
size_t ibrc_table_ints(const ibrc_table_recipe *recipe);

/* row_count[row]: how many entries each row will hold. */
void ibrc_table_count(const ibrc_table_recipe *recipe, double *doubles, int *ints, int *row_count);

/* Fills a table whose row_start is known. */
void ibrc_table_fill(const ibrc_table_recipe *recipe, double *doubles, int *ints, const int *row_start,
                     int *column, double *weight, double *entropy);

/* The most entries that a table of these models can have. */
double ibrc_table_most(const ibrc_table_recipe *recipe);

/* Counts and fills at once, into arrays that hold so many: row_start [row, and one more]. */
void ibrc_table_build(const ibrc_table_recipe *recipe, double *doubles, int *ints, int *row_start,
                      int *column, double *weight, double *entropy);

/* sum weight[i] x[column[i]] over i from `i` to before `end`. Four running sums hide the latency of
 * an addition. */
static inline double ibrc_sparse_dot(const int *column, const double *weight, int i, int end,
                                     const double *x) {
  double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
  for (; i + 3 < end; i += 4) {
    a += weight[i] * x[column[i]];
    b += weight[i + 1] * x[column[i + 1]];
    c += weight[i + 2] * x[column[i + 2]];
    d += weight[i + 3] * x[column[i + 3]];
  }
  if (i + 1 < end) {
    a += weight[i] * x[column[i]];
    b += weight[i + 1] * x[column[i + 1]];
    i += 2;
  }
  if (i < end) c += weight[i] * x[column[i]];
  return (a + b) + (c + d);
}

/* sum_j W(row, j) x(j) */
static inline double ibrc_table_dot(const ibrc_table *table, size_t row, const double *x) {
  return ibrc_sparse_dot(table->column, table->weight, table->row_start[row],
                         table->row_start[row + 1], x);
}

#endif
