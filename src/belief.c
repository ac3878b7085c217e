#include "belief.h"

void ibrc_belief_predict(const ibrc_models *models, int model, const double *belief, int action,
                         double *prediction) {
  int S = models->n_states;
  const double *column = ibrc_model_transition(models, action, model);
  for (int to = 0; to < S; to++, column += S) {
    double sum = 0.0;
    for (int from = 0; from < S; from++) sum += column[from] * belief[from];
    prediction[to] = sum;
  }
}

double ibrc_belief_bayes(const ibrc_models *models, int model, const double *prediction, int action,
                         int observation, double *posterior) {
  int S = models->n_states;
  const double *column =
      ibrc_model_emission(models, action, model) + (size_t)S * (size_t)observation;
  double p = 0.0;
  for (int s = 0; s < S; s++) {
    posterior[s] = column[s] * prediction[s];
    p += posterior[s];
  }
  if (p > 0.0) {
    for (int s = 0; s < S; s++) posterior[s] /= p;
  }
  return p;
}

double ibrc_belief_chance(const ibrc_models *models, const double *sigma, const double *belief,
                          int action, int observation, double *scratch) {
  if (observation == IBRC_NO_OBSERVATION) return 1.0;
  double chance = 0.0;
  for (int m = 0; m < models->n_models; m++) {
    if (!(sigma[m] > 0.0)) continue;
    ibrc_belief_predict(models, m, belief, action, scratch);
    chance += sigma[m] * ibrc_belief_bayes(models, m, scratch, action, observation, scratch);
  }
  return chance;
}

ibrc_code ibrc_belief_recognise(const ibrc_models *models, const double *sigma,
                                const double *belief, int action, int observation, double *scratch,
                                double *next) {
  int S = models->n_states;
  double *prediction = scratch, *total = scratch + S;
  double mass = 0.0;
  for (int s = 0; s < S; s++) total[s] = 0.0;

  for (int m = 0; m < models->n_models; m++) {
    if (!(sigma[m] > 0.0)) continue;
    ibrc_belief_predict(models, m, belief, action, prediction);
    if (observation != IBRC_NO_OBSERVATION &&
        !(ibrc_belief_bayes(models, m, prediction, action, observation, prediction) > 0.0)) {
      continue;
    }
    for (int s = 0; s < S; s++) {
      total[s] += sigma[m] * prediction[s];
      mass += sigma[m] * prediction[s];
    }
  }
  if (!(mass > 0.0)) return IBRC_IMPOSSIBLE_OBSERVATION;
  for (int s = 0; s < S; s++) next[s] = total[s] / mass;
  return IBRC_OK;
}
