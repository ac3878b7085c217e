#ifndef IBRC_FUZZ_MODELS_H
#define IBRC_FUZZ_MODELS_H

#include "input.h"
#include "model.h"

/* A set of models whose laws come from the fuzzer, zeros and tiny chances included. */
static inline ibrc_models take_models(input *in, int n_states, int n_actions, int n_obs,
                                      int n_models) {
  const size_t S = (size_t)n_states, pairs = (size_t)n_actions * (size_t)n_models;
  double *transition = doubles(S * S * pairs), *emission = doubles(S * (size_t)n_obs * pairs);
  for (size_t pair = 0; pair < pairs; pair++) {
    for (size_t s = 0; s < S; s++) {
      take_law(in, transition + pair * S * S + s, n_states, n_states);
      take_law(in, emission + pair * S * (size_t)n_obs + s, n_obs, n_states);
    }
  }
  ibrc_models models = {.n_states = n_states,
                        .n_actions = n_actions,
                        .n_obs = n_obs,
                        .n_models = n_models,
                        .transition = transition,
                        .emission = emission};
  return models;
}

static inline void free_models(ibrc_models *models) {
  free((void *)(uintptr_t)models->transition);
  free((void *)(uintptr_t)models->emission);
}

#endif
