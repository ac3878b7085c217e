#include "qlearn.h"

#include <math.h>
#include <stddef.h>

/* Any of n, all alike, from a uniform. */
static int any_of(int n, double u) {
  const int i = (int)(u * n);
  return i < n ? i : n - 1;
}

static double rate_of(const ibrc_qlearn *learner, double tries) {
  const double rate = learner->patience / (learner->patience + tries - 1.0);
  return learner->power == 1.0 ? rate : pow(rate, learner->power);
}

static int next_state(const ibrc_models *models, int state, int action, double u) {
  const size_t row = ibrc_model_row(models, state, action, 0);
  const int first = models->row_start[row], n = models->row_start[row + 1] - first;
  return models->to[first + ibrc_draw(models->chance + first, 1, n, u)];
}

void ibrc_qlearn_run(const ibrc_qlearn *learner, int n_steps, const double *noise, double *weights,
                     double *action_value, double *tries, int *state, int *made) {
  const ibrc_models *models = learner->models;
  const ibrc_temperature *t = &learner->temperature;
  const int U = models->n_actions;
  for (int k = 0; k < n_steps; k++, noise += IBRC_QLEARN_NOISE) {
    double *here = action_value + (size_t)*state * (size_t)U;
    int action;
    if (noise[0] < learner->exploration) {
      action = any_of(U, noise[1]);
    } else {
      ibrc_soft_mean(here, learner->prior, U, t, weights);
      action = ibrc_draw(weights, 1, U, noise[1]);
    }
    const int next = next_state(models, *state, action, noise[2]);
    const double *there = action_value + (size_t)next * (size_t)U;
    const double worth = ibrc_soft_mean(there, learner->prior, U, t, NULL) + learner->bonus;
    const size_t pair = (size_t)*state * (size_t)U + (size_t)action;
    tries[pair] += 1.0;
    const double target = learner->utility[pair] + learner->discount * worth;
    here[action] += rate_of(learner, tries[pair]) * (target - here[action]);
    *made += 1;
    if (*made >= learner->episode) {
      *made = 0;
      *state = any_of(models->n_states, noise[2]);
    } else {
      *state = next;
    }
  }
}
