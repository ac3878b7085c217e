#ifndef IBRC_ROLLOUT_H
#define IBRC_ROLLOUT_H

#include <stddef.h>

#include "model.h"
#include "plan.h"
#include "status.h"

/* Behaviour from noise that is given as data: states and observations come from
 * the environment, actions from the plan's policy at beliefs that the agent
 * carries by its own recognition. A trajectory reads 1 + 3 * horizon uniforms:
 * the first state, then action, next state and observation of each visit, each
 * turned by inversion. It ends after a stop action or at the horizon. */

typedef struct {
  const ibrc_plan *plan;
  const ibrc_models *models;      /* what the agent believes in */
  const ibrc_models *environment; /* what happens: one model */
  const double *start;            /* [state, start]: laws of the first state */
  const double *belief;           /* [state, start]: the agent's first beliefs */
  const int *stops;               /* [action]: 1 ends the trajectory */
  int horizon;
} ibrc_rollout;

size_t ibrc_rollout_doubles(const ibrc_rollout *rollout);
size_t ibrc_rollout_ints(const ibrc_rollout *rollout);

static inline size_t ibrc_rollout_noise(int horizon) { return 1 + 3 * (size_t)horizon; }

/* One trajectory that begins as `begin` says. Fills action[] and observation[] (horizon entries)
 * and *length. An observation that no model with weight can produce ends the trajectory. */
ibrc_code ibrc_rollout_run(const ibrc_rollout *rollout, int begin, const double *noise,
                           double *doubles, int *ints, int *action, int *observation, int *length);

#endif
