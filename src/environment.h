#ifndef IBRC_ENVIRONMENT_H
#define IBRC_ENVIRONMENT_H

#include "model.h"
#include "numeric.h"

/* What really happens, one model, drawn by inversion of uniforms that are given as data. */

static inline int ibrc_environment_move(const ibrc_models *environment, int state, int action,
                                        double noise) {
  if (!ibrc_model_seen(environment)) {
    const int S = environment->n_states;
    return ibrc_draw(ibrc_model_transition(environment, action, 0) + state, S, S, noise);
  }
  const size_t row = ibrc_model_row(environment, state, action, 0);
  const int first = environment->row_start[row], n = environment->row_start[row + 1] - first;
  return environment->to[first + ibrc_draw(environment->chance + first, 1, n, noise)];
}

/* What is seen of the new state after the action. */
static inline int ibrc_environment_show(const ibrc_models *environment, int state, int action,
                                        double noise) {
  if (ibrc_model_seen(environment)) return state;
  return ibrc_draw(ibrc_model_emission(environment, action, 0) + state, environment->n_states,
                   environment->n_obs, noise);
}

#endif
