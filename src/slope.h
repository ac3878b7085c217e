#ifndef IBRC_SLOPE_H
#define IBRC_SLOPE_H

#include "process.h"
#include "table.h"

/* The slope gamma P of a backup at its own policies, for Newton steps: the rows of
 * the table, each times its flow gamma pi(u|z) sigma(m|z,u). A step is solved only to a
 * stated share, and a backup judges its result. So rows whose flow is too small to matter to
 * the step are left out: often most of them, where the agent is sure. The flow that a node
 * loses by this stays at the node, since 1 - gamma may be small compared with it.
 *
 * Where rows are short and the table is small enough to stay close to the processor, those that
 * are left are written out, times their flow, one node after the other: a product then is one
 * pass over them. A large table would only be fetched twice. */

typedef struct {
  const ibrc_table *table;
  double *flow;   /* [row]: 0 where left out */
  double *rest;   /* [node]: gamma less its flows */
  double *weight; /* [entry]: written out, or NULL */
  int *column;    /* [entry] */
  int *start;     /* [node], and the number of entries last */
  int n_threads;
} ibrc_slope;

/* How many entries of a table are written out: all, or none. */
size_t ibrc_slope_written(const ibrc_table *table);

/* Doubles that hold a slope, and a slope laid out over them. */
size_t ibrc_slope_doubles(const ibrc_table *table);
ibrc_slope ibrc_slope_over(const ibrc_table *table, int n_threads, double *doubles);

/* Flows below `least` are left out. */
void ibrc_slope_fill(const ibrc_process *process, double least, ibrc_slope *slope);
/* The same of one node alone, of which nothing is written out. */
void ibrc_slope_fill_node(const ibrc_process *process, double least, int node, ibrc_slope *slope);

/* The rows of a node. */
static inline size_t ibrc_slope_begin(const ibrc_slope *slope, int node) {
  return (size_t)node * (size_t)slope->table->n_actions * (size_t)slope->table->n_models;
}

/* (gamma P x)(node), but for the rest */
static inline double ibrc_slope_dot(const ibrc_slope *slope, int node, const double *x) {
  if (slope->weight) {
    return ibrc_sparse_dot(slope->column, slope->weight, slope->start[node], slope->start[node + 1], x);
  }
  const size_t end = ibrc_slope_begin(slope, node + 1);
  double sum = 0.0;
  for (size_t row = ibrc_slope_begin(slope, node); row < end; row++) {
    if (slope->flow[row] > 0.0) sum += slope->flow[row] * ibrc_table_dot(slope->table, row, x);
  }
  return sum;
}

/* y = x - gamma P x */
void ibrc_slope_apply(const ibrc_slope *slope, const double *x, double *y);

#endif
