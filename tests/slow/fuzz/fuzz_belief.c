#include "belief.h"
#include "models.h"

/* Recognition, many steps long: a belief stays a belief, or the observation is called
 * impossible, and then nothing was written; the chances of the observations sum to 1;
 * a belief may be updated in place with the same result. */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  input in = {bytes, size};
  const int S = take_int(&in, 2, 5), U = take_int(&in, 1, 3), seen = take(&in) % 4 == 0;
  const int X = seen ? S : take_int(&in, 1, 5);
  const int M = take_int(&in, 1, 3), steps = take_int(&in, 1, 30);
  ibrc_models models =
      seen ? take_seen_models(&in, S, U, M) : take_models(&in, S, U, X, M);
  double *belief = doubles((size_t)S), *next = doubles((size_t)S), *scratch = doubles(2 * (size_t)S);
  double *sigma = doubles((size_t)M), *posterior = doubles((size_t)S);
  take_law(&in, belief, S, 1);
  for (int t = 0; t < steps; t++) {
    const int u = take_int(&in, 0, U - 1), x = take_int(&in, IBRC_NO_OBSERVATION, X - 1);
    take_law(&in, sigma, M, 1);
    for (int m = 0; m < M; m++) {
      double total = 0.0;
      ibrc_belief_predict(&models, m, belief, u, scratch);
      must_be_law(scratch, S, 1e-9, "a prediction is a belief");
      for (int seen = 0; seen < X; seen++) {
        double p = ibrc_belief_bayes(&models, m, scratch, u, seen, posterior);
        must(p >= 0.0 && p <= 1.0 + 1e-9, "a chance is from 0 to 1");
        if (p > 0.0) must_be_law(posterior, S, 1e-9, "a posterior is a belief");
        total += p;
      }
      must(fabs(total - 1.0) <= 1e-9, "chances of observations sum to 1");
    }
    for (int s = 0; s < S; s++) next[s] = -7.0;
    ibrc_code code = ibrc_belief_recognise(&models, sigma, belief, u, x, scratch, next);
    if (code != IBRC_OK) {
      must(code == IBRC_IMPOSSIBLE_OBSERVATION, "the only way to fail");
      must(x != IBRC_NO_OBSERVATION, "nothing seen is always possible");
      for (int s = 0; s < S; s++) must(next[s] == -7.0, "left as it was");
      continue;
    }
    must_be_law(next, S, 1e-12, "recognition gives a belief");
    ibrc_belief_recognise(&models, sigma, belief, u, x, scratch, belief);
    for (int s = 0; s < S; s++) must(belief[s] == next[s], "in place, the same");
  }
  free_models(&models);
  free(belief);
  free(next);
  free(scratch);
  free(sigma);
  free(posterior);
  return 0;
}
