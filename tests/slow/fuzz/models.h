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

/* The same where the state is seen: of each row what is possible alone. */
static inline ibrc_models take_seen_models(input *in, int n_states, int n_actions, int n_models) {
  const size_t S = (size_t)n_states, rows = S * (size_t)n_actions * (size_t)n_models;
  int *row_start = ints(rows + 1), *to = ints(rows * S), n = 0;
  double *chance = doubles(rows * S);
  row_start[0] = 0;
  for (size_t r = 0; r < rows; r++) {
    const int must_have = take_int(in, 0, n_states - 1);
    double sum = 0.0;
    for (int s = 0; s < n_states; s++) {
      if (s != must_have && take(in) % 2) continue;
      to[n] = s;
      chance[n] = 1e-3 + take_share(in);
      sum += chance[n++];
    }
    for (int i = row_start[r]; i < n; i++) chance[i] /= sum;
    row_start[r + 1] = n;
  }
  ibrc_models models = {.n_states = n_states,
                        .n_actions = n_actions,
                        .n_obs = n_states,
                        .n_models = n_models,
                        .row_start = row_start,
                        .to = to,
                        .chance = chance};
  return models;
}

static inline void free_models(ibrc_models *models) {
  free((void *)(uintptr_t)models->row_start);
  free((void *)(uintptr_t)models->to);
  free((void *)(uintptr_t)models->chance);
  free((void *)(uintptr_t)models->transition);
  free((void *)(uintptr_t)models->emission);
}

#endif
