#include "belief.h"

/* The same sums in the same order, over possible entries only. */
static void predict_by_rows(const ibrc_models *models, int model, const double *belief, int action,
                            double *prediction) {
  for (int s = 0; s < models->n_states; s++) prediction[s] = 0.0;
  for (int from = 0; from < models->n_states; from++) {
    if (!(belief[from] > 0.0)) continue;
    const size_t row = ibrc_model_row(models, from, action, model);
    for (int i = models->row_start[row]; i < models->row_start[row + 1]; i++) {
      prediction[models->to[i]] += models->chance[i] * belief[from];
    }
  }
}

void ibrc_belief_predict(const ibrc_models *models, int model, const double *belief, int action,
                         double *prediction) {
  if (ibrc_model_seen(models)) {
    predict_by_rows(models, model, belief, action, prediction);
    return;
  }
  int S = models->n_states;
  const double *column = ibrc_model_transition(models, action, model);
  for (int to = 0; to < S; to++, column += S) {
    double sum = 0.0;
    for (int from = 0; from < S; from++) sum += column[from] * belief[from];
    prediction[to] = sum;
  }
}

/* Prediction and Bayes step in one, where the state is not seen: the same sums in the same order. */
static inline double step_unseen(const ibrc_models *models, int model, const double *belief,
                                 int action, int observation, double *posterior) {
  const int S = models->n_states;
  const double *transition = ibrc_model_transition(models, action, model);
  const double *emission = ibrc_model_emission(models, action, model) + (size_t)S * (size_t)observation;
  double p = 0.0;
  for (int to = 0; to < S; to++, transition += S) {
    double prediction = 0.0;
    for (int from = 0; from < S; from++) prediction += transition[from] * belief[from];
    posterior[to] = emission[to] * prediction;
    p += posterior[to];
  }
  if (p > 0.0) {
    for (int s = 0; s < S; s++) posterior[s] /= p;
  }
  return p;
}

/* An agent that has seen the state is sure of it. */
static double see_state(const double *prediction, int n_states, int state, double *posterior) {
  const double p = prediction[state];
  for (int s = 0; s < n_states; s++) posterior[s] = 0.0;
  if (p > 0.0) posterior[state] = 1.0;
  return p;
}

double ibrc_belief_bayes(const ibrc_models *models, int model, const double *prediction, int action,
                         int observation, double *posterior) {
  int S = models->n_states;
  if (ibrc_model_seen(models)) return see_state(prediction, S, observation, posterior);
  const double *column =
      ibrc_model_emission(models, action, model) + (size_t)S * (size_t)observation;
  return ibrc_belief_weigh(column, prediction, S, posterior);
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

static inline double step(const ibrc_models *models, int model, const double *belief, int action,
                          int observation, double *posterior) {
  if (!ibrc_model_seen(models)) {
    return step_unseen(models, model, belief, action, observation, posterior);
  }
  ibrc_belief_predict(models, model, belief, action, posterior);
  return see_state(posterior, models->n_states, observation, posterior);
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
    if (observation == IBRC_NO_OBSERVATION) {
      ibrc_belief_predict(models, m, belief, action, prediction);
    } else if (!(step(models, m, belief, action, observation, prediction) > 0.0)) {
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
