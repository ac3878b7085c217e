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
 * are [node][action][model], the rows of the table. */

typedef struct {
  ibrc_temperature alpha, beta;
  double eta, discount;
  const double *action_prior;  /* [action], sum 1 */
  const double *model_weights; /* [model], sum 1 */
  const double *reward;        /* [node][action] */
  const double *surprise;      /* [row]: H, with the belief prior if there is one */
} ibrc_problem;

typedef struct {
  double *value;        /* [node] */
  double *action_value; /* [node][action], or NULL */
  double *model_value;  /* [row], or NULL */
  double *policy;       /* [node][action], or NULL */
  double *sigma;        /* [row], or NULL */
} ibrc_backup_result;

/* Working space of one thread. */
size_t ibrc_backup_doubles(const ibrc_table *table);

void ibrc_backup(const ibrc_table *table, const ibrc_problem *problem, const double *value,
                 int n_threads, double *scratch, const ibrc_backup_result *out);

#endif
