#ifndef IBRC_MODEL_H
#define IBRC_MODEL_H

#include <stddef.h>

/* Const views of the dynamics an agent may believe in (paper: tau, omega and
 * the support of sigma-tilde). One model is a set with n_models = 1.
 *
 *   transition  tau(s'|s,u)    [from, to, action, model],        first index fastest
 *   emission    omega(x'|u,s') [to, observation, action, model], first index fastest
 *
 * so that a column over `from` (or `to`) is contiguous in both.
 *
 * Where the state itself is seen, in every model, both are NULL: observation x is state x,
 * and transitions are kept by rows [from, action, model], first index fastest, with what is
 * possible alone. */

typedef struct {
  int n_states, n_actions, n_obs, n_models;
  const double *transition;
  const double *emission;
  const int *row_start; /* [row], and the number of entries last */
  const int *to;        /* [entry]: the next state, rising within a row */
  const double *chance; /* [entry]: > 0, summing to 1 within a row */
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

static inline int ibrc_model_seen(const ibrc_models *models) { return models->emission == NULL; }

static inline size_t ibrc_model_row(const ibrc_models *models, int from, int action, int model) {
  return ((size_t)model * (size_t)models->n_actions + (size_t)action) * (size_t)models->n_states +
         (size_t)from;
}

/* tau(to|from,u) where the state is seen. */
static inline double ibrc_model_chance(const ibrc_models *models, int from, int to, int action,
                                       int model) {
  const size_t row = ibrc_model_row(models, from, action, model);
  int low = models->row_start[row], high = models->row_start[row + 1];
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (models->to[middle] < to) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < models->row_start[row + 1] && models->to[low] == to ? models->chance[low] : 0.0;
}

#endif
