#ifndef IBRC_MODEL_H
#define IBRC_MODEL_H

#include <stddef.h>

/* Const views of the dynamics an agent may believe in (paper: tau, omega and
 * the support of sigma-tilde).
 *
 *   transition  tau(s'|s,u)    [from, to, action, model],        first index fastest
 *   emission    omega(x'|u,s') [to, observation, action, model], first index fastest
 *
 * so that a column over `from` (or `to`) is contiguous in both. One model is a
 * set with n_models = 1. */

typedef struct {
  int n_states, n_actions, n_obs, n_models;
  const double *transition;
  const double *emission;
} ibrc_models;

static inline const double *ibrc_model_transition(const ibrc_models *models, int action,
                                                  int model) {
  size_t size = (size_t)models->n_states * (size_t)models->n_states;
  return models->transition + size * ((size_t)model * (size_t)models->n_actions + (size_t)action);
}

static inline const double *ibrc_model_emission(const ibrc_models *models, int action, int model) {
  size_t size = (size_t)models->n_states * (size_t)models->n_obs;
  return models->emission + size * ((size_t)model * (size_t)models->n_actions + (size_t)action);
}

#endif
