#ifndef IBRC_BELIEF_H
#define IBRC_BELIEF_H

#include "model.h"
#include "status.h"

/* One step of a belief z under action u.
 *
 *   prediction   q_m(s') = sum_s tau_m(s'|s,u) z(s)
 *   Bayes step   p_m(x') = sum_s' omega_m(x'|u,s') q_m(s')
 *                z'_m(s') = omega_m(x'|u,s') q_m(s') / p_m(x')
 *   recognition  z' = sum_m sigma(m) z'_m over models with p_m(x') > 0,
 *                renormalised (the mean of the paper's rho); without an
 *                observation, sum_m sigma(m) q_m. */

#define IBRC_NO_OBSERVATION (-1)

void ibrc_belief_predict(const ibrc_models *models, int model, const double *belief, int action,
                         double *prediction);

/* Returns p(x') and, where it is positive, the posterior. `shown` [state]: omega(x'|u,s'). */
static inline double ibrc_belief_weigh(const double *shown, const double *prediction, int n_states,
                                       double *posterior) {
  double p = 0.0;
  for (int s = 0; s < n_states; s++) {
    posterior[s] = shown[s] * prediction[s];
    p += posterior[s];
  }
  if (p > 0.0) {
    for (int s = 0; s < n_states; s++) posterior[s] /= p;
  }
  return p;
}

/* The same for an observation by its number. */
double ibrc_belief_bayes(const ibrc_models *models, int model, const double *prediction, int action,
                         int observation, double *posterior);

/* How likely the observation is to an agent that gives the models weights sigma:
 * sum_m sigma(m) p_m(x'); 1 without an observation. scratch: n_states. */
double ibrc_belief_chance(const ibrc_models *models, const double *sigma, const double *belief,
                          int action, int observation, double *scratch);

/* scratch: 2 * n_states. `next` may be `belief` itself. An observation that no
 * model with weight can produce is IBRC_IMPOSSIBLE_OBSERVATION; `next` is then
 * left as it was. */
ibrc_code ibrc_belief_recognise(const ibrc_models *models, const double *sigma,
                                const double *belief, int action, int observation, double *scratch,
                                double *next);

#endif
