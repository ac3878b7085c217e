#include <string.h>

#include "models.h"
#include "qlearn.h"

/* Q-learning where the state is seen: every step is one trial, values stay within what utilities (and
 * the bonus) allow, and a run is the same however it is cut. */

typedef struct {
  double *action_value, *tries;
  int state, made;
} progress;

static progress at_first(size_t pairs) {
  progress p = {.action_value = doubles(pairs), .tries = doubles(pairs)};
  memset(p.action_value, 0, pairs * sizeof(double));
  memset(p.tries, 0, pairs * sizeof(double));
  return p;
}

static void learn(const ibrc_qlearn *learner, int n, const double *noise, progress *p) {
  double *weights = doubles((size_t)learner->models->n_actions);
  ibrc_qlearn_run(learner, n, noise, weights, p->action_value, p->tries, &p->state, &p->made);
  free(weights);
}

static void check(const ibrc_qlearn *learner, int n, const double *noise) {
  const size_t pairs = (size_t)learner->models->n_states * (size_t)learner->models->n_actions;
  progress whole = at_first(pairs), parts = at_first(pairs);
  double most = 0.0, trials = 0.0;
  const int cut = n / 3;
  learn(learner, n, noise, &whole);
  learn(learner, cut, noise, &parts);
  learn(learner, n - cut, noise + (size_t)cut * IBRC_QLEARN_NOISE, &parts);
  must(whole.state == parts.state && whole.made == parts.made, "cut, it ends in the same place");
  must(memcmp(whole.action_value, parts.action_value, pairs * sizeof(double)) == 0 &&
           memcmp(whole.tries, parts.tries, pairs * sizeof(double)) == 0,
       "cut, the same is learned");
  must(whole.state >= 0 && whole.state < learner->models->n_states, "a state");
  must(whole.made >= 0 && whole.made < learner->episode, "within an episode");
  for (size_t i = 0; i < pairs; i++) {
    trials += whole.tries[i];
    most = fmax(most, fabs(learner->utility[i]));
  }
  must(trials == (double)n, "every step is a trial");
  most = (most + learner->discount * fabs(learner->bonus)) / (1.0 - learner->discount);
  for (size_t i = 0; i < pairs; i++) {
    must(fabs(whole.action_value[i]) <= most * (1.0 + 1e-9) + 1e-300, "no value beyond utilities");
  }
  free(whole.action_value);
  free(whole.tries);
  free(parts.action_value);
  free(parts.tries);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  input in = {bytes, size};
  const int S = take_int(&in, 2, 5), U = take_int(&in, 1, 4), n = take_int(&in, 1, 80);
  ibrc_models models = take_seen_models(&in, S, U, 1);
  const size_t pairs = (size_t)S * (size_t)U;
  double *utility = doubles(pairs), *prior = doubles((size_t)U);
  double *noise = doubles((size_t)n * IBRC_QLEARN_NOISE);
  for (int u = 0; u < U; u++) prior[u] = 1.0 / U;
  for (size_t i = 0; i < pairs; i++) utility[i] = take_double(&in);
  for (int i = 0; i < n * IBRC_QLEARN_NOISE; i++) noise[i] = take_int(&in, 0, 65535) / 65535.0;
  const ibrc_qlearn learner = {.models = &models,
                               .utility = utility,
                               .prior = prior,
                               .temperature = ibrc_temperature_from(take_temperature(&in)),
                               .bonus = take_double(&in),
                               .discount = 0.999 * take_share(&in),
                               .exploration = take_share(&in),
                               .patience = 1e-3 + fabs(take_double(&in)),
                               .power = take_share(&in),
                               .episode = take_int(&in, 1, 20)};
  check(&learner, n, noise);
  free(utility);
  free(prior);
  free(noise);
  free_models(&models);
  return 0;
}
