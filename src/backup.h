#ifndef IBRC_BACKUP_H
#define IBRC_BACKUP_H

#include <stddef.h>

#include "numeric.h"
#include "table.h"

/* One application of the boundedly rational backup (paper, Theorem 4):
 *
 *   K(z,u,m) = eta H_m(z,u) + gamma sum_j W_{u,m}(z,j) V(j)
 *   Q(z,u)   = r(z,u) + beta log sum_m sigma~(m) exp(K / beta)
 *   (BV)(z)  = alpha log sum_u pi~(u) exp(Q / alpha)
 *
 * and the policies it implies (Theorem 5): pi ~ pi~ exp(Q / alpha), sigma ~
 * sigma~ exp(K / beta). Node-major: r, Q, pi are [node][action]; H, K, sigma
 * are [node][action][model], the rows of the table. Where the prior policy remembers
 * the last action (habit.h), values are [last][node]. */

typedef struct {
  ibrc_temperature alpha, beta;
  double eta, discount;
  const double *action_prior;  /* [action], sum 1 */
  const double *after;         /* [last][action]: the same by the last action, or NULL: habit is 0 */
  const int *ends;             /* [action]: 1 if a trajectory ends with it, or NULL: none does */
  const double *model_weights; /* [model], sum 1 */
  const double *reward;        /* [node][action] */
  const double *surprise;      /* [row]: H, with the belief prior if there is one */
} ibrc_problem;

typedef struct {
  double *value;        /* [node]; by the last action, [last][node] */
  double *action_value; /* [node][action], or NULL */
  double *model_value;  /* [row], or NULL */
  double *policy;       /* [node][action], or NULL; by the last action, [last][node][action] */
  double *sigma;        /* [row], or NULL */
  const int *wanted;    /* by the last action, [last][block]: are values and policies? NULL: all are */
} ibrc_backup_result;

/* The number of nodes that are backed up together with their soft means, and of blocks of them. */
#define IBRC_BACKUP_NODES IBRC_SOFT_AT_ONCE
static inline int ibrc_backup_blocks(const ibrc_table *table) {
  return table->n_nodes / IBRC_BACKUP_NODES + (table->n_nodes % IBRC_BACKUP_NODES != 0);
}

/* How many blocks of values there are: one for each last action where it matters. */
static inline size_t ibrc_problem_lasts(const ibrc_problem *problem, const ibrc_table *table) {
  return problem->after ? (size_t)table->n_actions : 1;
}

/* Working space of one thread. */
size_t ibrc_backup_doubles(const ibrc_table *table);

void ibrc_backup(const ibrc_table *table, const ibrc_problem *problem, const double *value,
                 int n_threads, double *scratch, const ibrc_backup_result *out);

#endif
