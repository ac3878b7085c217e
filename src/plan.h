#ifndef IBRC_PLAN_H
#define IBRC_PLAN_H

#include "numeric.h"
#include "space.h"

/* A solved problem, read only: what an agent does and believes at every node, and what is needed to
 * compute the same between nodes (policy.h). */

#define IBRC_NO_LAST (-1)

typedef struct {
  const ibrc_space *space;
  int n_actions, n_models;
  int by_value; /* 1: interpolate values, 0: interpolate policies */
  ibrc_temperature alpha, beta;
  const double *action_prior;  /* [action] */
  const double *after;         /* [last][action]: the same by the last action, or NULL: habit is 0 */
  const double *model_weights; /* [model] */
  const double *action_value;  /* [node][action] */
  const double *model_value;   /* [node][action][model] */
  const double *policy;        /* [node][action]; not read where the last action matters */
  const double *sigma;         /* [node][action][model] */
} ibrc_plan;

#endif
