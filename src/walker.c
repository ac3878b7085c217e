#include "walker.h"

#include <math.h>

#include "belief.h"
#include "policy.h"

/* Room for a policy, a sigma, or a step of a belief. */
static size_t work_doubles(const ibrc_plan *plan) {
  size_t U = (size_t)plan->n_actions, M = (size_t)plan->n_models;
  size_t step = 2 * (size_t)plan->space->n_states, reading = U > M ? U : M;
  return step > reading ? step : reading;
}

size_t ibrc_walker_doubles(const ibrc_plan *plan) {
  return (size_t)plan->n_actions * (size_t)plan->n_models + work_doubles(plan) +
         ibrc_corners_doubles(plan->space);
}

size_t ibrc_walker_ints(const ibrc_plan *plan) {
  return (size_t)plan->n_actions + ibrc_corners_ints(plan->space);
}

ibrc_walker ibrc_walker_over(const ibrc_plan *plan, const ibrc_models *models, double *doubles,
                             int *ints) {
  double *work = doubles + (size_t)plan->n_actions * (size_t)plan->n_models;
  ibrc_walker walker = {
      .plan = plan,
      .models = models,
      .corners = ibrc_corners_over(plan->space, ints + plan->n_actions, work + work_doubles(plan)),
      .known = ints,
      .sigma = doubles,
      .work = work};
  return walker;
}

void ibrc_walker_stand(ibrc_walker *walker, const double *belief) {
  walker->belief = belief;
  ibrc_space_locate(walker->plan->space, belief, &walker->corners);
  for (int u = 0; u < walker->plan->n_actions; u++) walker->known[u] = 0;
}

void ibrc_walker_policy(ibrc_walker *walker, double *policy) {
  ibrc_policy_at(walker->plan, &walker->corners, walker->work, policy);
}

void ibrc_walker_log_policy(ibrc_walker *walker, double *log_policy) {
  ibrc_policy_log_at(walker->plan, &walker->corners, walker->work, log_policy);
}

const double *ibrc_walker_sigma(ibrc_walker *walker, int action) {
  double *sigma = walker->sigma + (size_t)action * (size_t)walker->plan->n_models;
  if (!walker->known[action]) {
    ibrc_policy_sigma_at(walker->plan, &walker->corners, action, walker->work, sigma);
    walker->known[action] = 1;
  }
  return sigma;
}

ibrc_code ibrc_walker_recognise(ibrc_walker *walker, int action, int observation, double *next) {
  return ibrc_belief_recognise(walker->models, ibrc_walker_sigma(walker, action), walker->belief,
                               action, observation, walker->work, next);
}

ibrc_code ibrc_walker_recognise_any(ibrc_walker *walker, const double *log_policy,
                                    const int *stops, int observation, double *scratch,
                                    double *next) {
  const int S = walker->plan->space->n_states, U = walker->plan->n_actions;
  double *mean = scratch, *log_weight = scratch + S, most = -INFINITY, mass = 0.0;
  /* By logarithms: what was seen may need an action that was next to impossible. */
  for (int u = 0; u < U; u++) {
    log_weight[u] = -INFINITY;
    if (stops[u]) continue;
    const double chance = ibrc_belief_chance(walker->models, ibrc_walker_sigma(walker, u),
                                             walker->belief, u, observation, walker->work);
    log_weight[u] = log_policy[u] + log(chance);
    if (log_weight[u] > most) most = log_weight[u];
  }
  if (most == -INFINITY) return IBRC_IMPOSSIBLE_OBSERVATION;
  for (int s = 0; s < S; s++) mean[s] = 0.0;
  for (int u = 0; u < U; u++) {
    const double weight = exp(log_weight[u] - most);
    if (!(weight > 0.0)) continue;
    ibrc_code code = ibrc_walker_recognise(walker, u, observation, next);
    if (code != IBRC_OK) return code;
    for (int s = 0; s < S; s++) mean[s] += weight * next[s];
    mass += weight;
  }
  for (int s = 0; s < S; s++) next[s] = mean[s] / mass;
  return IBRC_OK;
}
