#ifndef IBRC_PLAN_H
#define IBRC_PLAN_H

#include "numeric.h"
#include "space.h"

/* A solved problem, read only: what an agent does and believes at every node, and what it
 * takes to say the same between nodes (policy.h). */

typedef struct {
  const ibrc_space *space;
  int n_actions, n_models;
  int by_value; /* 1: interpolate values, 0: interpolate policies */
  ibrc_temperature alpha, beta;
  const double *action_prior;  /* [action] */
  const double *model_weights; /* [model] */
  const double *action_value;  /* [node][action] */
  const double *model_value;   /* [node][action][model] */
  const double *policy;        /* [node][action] */
  const double *sigma;         /* [node][action][model] */
} ibrc_plan;

#endif
