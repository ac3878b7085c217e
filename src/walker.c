#include "walker.h"

#include <math.h>
#include <string.h>

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
      .last = IBRC_NO_LAST,
      .corners = ibrc_corners_over(plan->space, ints + plan->n_actions, work + work_doubles(plan)),
      .known = ints,
      .sigma = doubles,
      .work = work};
  return walker;
}

static void forget(ibrc_walker *walker) {
  for (int u = 0; u < walker->plan->n_actions; u++) walker->known[u] = 0;
}

void ibrc_walker_stand(ibrc_walker *walker, const double *belief) {
  walker->belief = belief;
  walker->state = -1;
  ibrc_space_locate(walker->plan->space, belief, &walker->corners);
  forget(walker);
}

void ibrc_walker_stand_in(ibrc_walker *walker, int state) {
  ibrc_walker_stand_at(walker, ibrc_space_vertex(walker->plan->space, state));
  walker->state = state;
}

void ibrc_walker_stand_at(ibrc_walker *walker, int node) {
  walker->belief = NULL;
  walker->state = -1;
  ibrc_corners_at(&walker->corners, node);
  forget(walker);
}

void ibrc_walker_policy(ibrc_walker *walker, double *policy) {
  ibrc_policy_at(walker->plan, &walker->corners, walker->last, walker->work, policy);
}

const double *ibrc_walker_sigma(ibrc_walker *walker, int action) {
  double *sigma = walker->sigma + (size_t)action * (size_t)walker->plan->n_models;
  if (!walker->known[action]) {
    ibrc_policy_sigma_at(walker->plan, &walker->corners, action, walker->work, sigma);
    walker->known[action] = 1;
  }
  return sigma;
}

/* p_m(x|z,u) where the state is seen. */
static double seen_chance(const ibrc_walker *walker, int model, int action, int next) {
  const ibrc_models *models = walker->models;
  if (!walker->belief) return ibrc_model_chance(models, walker->state, next, action, model);
  double chance = 0.0;
  for (int s = 0; s < models->n_states; s++) {
    const double share = walker->belief[s];
    if (share > 0.0) chance += share * ibrc_model_chance(models, s, next, action, model);
  }
  return chance;
}

/* Whether a state can come next. */
static int can_follow(const ibrc_walker *walker, int action, const double *sigma, int next) {
  for (int m = 0; m < walker->models->n_models; m++) {
    if (sigma[m] > 0.0 && seen_chance(walker, m, action, next) > 0.0) return 1;
  }
  return 0;
}

static double chance_of(ibrc_walker *walker, int action, int observation) {
  const double *sigma = ibrc_walker_sigma(walker, action);
  if (observation == IBRC_NO_OBSERVATION) return 1.0;
  if (!ibrc_model_seen(walker->models)) {
    return ibrc_belief_chance(walker->models, sigma, walker->belief, action, observation,
                              walker->work);
  }
  double chance = 0.0;
  for (int m = 0; m < walker->models->n_models; m++) {
    if (sigma[m] > 0.0) chance += sigma[m] * seen_chance(walker, m, action, observation);
  }
  return chance;
}

ibrc_code ibrc_walker_recognise(ibrc_walker *walker, int action, int observation, double *next,
                                int *state) {
  const ibrc_models *models = walker->models;
  const double *sigma = ibrc_walker_sigma(walker, action), *from = walker->belief;
  *state = -1;
  if (ibrc_model_seen(models) && observation != IBRC_NO_OBSERVATION) {
    if (!can_follow(walker, action, sigma, observation)) return IBRC_IMPOSSIBLE_OBSERVATION;
    *state = observation;
    return IBRC_OK;
  }
  if (!from) {
    for (int s = 0; s < models->n_states; s++) next[s] = s == walker->state;
    from = next;
  }
  return ibrc_belief_recognise(models, sigma, from, action, observation, walker->work, next);
}

ibrc_code ibrc_walker_recognise_any(ibrc_walker *walker, const double *log_policy,
                                    const int *stops, int observation, double *scratch,
                                    double *next, int *state) {
  const int S = walker->plan->space->n_states, U = walker->plan->n_actions;
  double *mean = scratch, *log_weight = scratch + S, most = -INFINITY, mass = 0.0;
  *state = -1;
  /* By logarithms: what was seen may need an action that was almost impossible. */
  for (int u = 0; u < U; u++) {
    log_weight[u] = -INFINITY;
    if (stops[u]) continue;
    log_weight[u] = log_policy[u] + log(chance_of(walker, u, observation));
    if (log_weight[u] > most) most = log_weight[u];
  }
  if (most == -INFINITY) return IBRC_IMPOSSIBLE_OBSERVATION;
  if (ibrc_model_seen(walker->models) && observation != IBRC_NO_OBSERVATION) {
    *state = observation;
    return IBRC_OK;
  }
  for (int s = 0; s < S; s++) mean[s] = 0.0;
  for (int u = 0; u < U; u++) {
    const double weight = exp(log_weight[u] - most);
    if (!(weight > 0.0)) continue;
    ibrc_code code = ibrc_walker_recognise(walker, u, observation, next, state);
    if (code != IBRC_OK) return code;
    for (int s = 0; s < S; s++) mean[s] += weight * next[s];
    mass += weight;
  }
  for (int s = 0; s < S; s++) next[s] = mean[s] / mass;
  return IBRC_OK;
}

size_t ibrc_walkers_doubles(const ibrc_plan *plan) {
  const int most = plan->n_actions > plan->n_models ? plan->n_actions : plan->n_models;
  return ibrc_policy_many_doubles(plan, IBRC_WALKERS) + (size_t)most * IBRC_WALKERS;
}

static void corners_of(ibrc_walker *const *walkers, int n_walkers, const ibrc_corners **corners) {
  for (int k = 0; k < n_walkers; k++) corners[k] = &walkers[k]->corners;
}

/* Those that did the same last, one group after the other. */
static void log_policy_after(ibrc_walker *const *walkers, int n_walkers, double *scratch,
                             double *log_policy) {
  const ibrc_corners *corners[IBRC_WALKERS];
  const ibrc_plan *plan = walkers[0]->plan;
  const size_t U = (size_t)plan->n_actions;
  double *found = scratch + ibrc_policy_many_doubles(plan, IBRC_WALKERS);
  int who[IBRC_WALKERS];
  for (int last = IBRC_NO_LAST; last < plan->n_actions; last++) {
    int n_some = 0;
    for (int k = 0; k < n_walkers; k++) {
      if (walkers[k]->last != last) continue;
      who[n_some] = k;
      corners[n_some++] = &walkers[k]->corners;
    }
    if (n_some == 0) continue;
    ibrc_policy_log_many(plan, corners, n_some, last, scratch, found);
    for (int i = 0; i < n_some; i++) {
      memcpy(log_policy + (size_t)who[i] * U, found + (size_t)i * U, U * sizeof(double));
    }
  }
}

void ibrc_walkers_log_policy(ibrc_walker *const *walkers, int n_walkers, double *scratch,
                             double *log_policy) {
  const ibrc_corners *corners[IBRC_WALKERS];
  if (n_walkers == 0) return;
  if (walkers[0]->plan->after) {
    log_policy_after(walkers, n_walkers, scratch, log_policy);
    return;
  }
  corners_of(walkers, n_walkers, corners);
  ibrc_policy_log_many(walkers[0]->plan, corners, n_walkers, IBRC_NO_LAST, scratch, log_policy);
}

void ibrc_walkers_know_sigma(ibrc_walker *const *walkers, int n_walkers, int action,
                             double *scratch) {
  const ibrc_corners *corners[IBRC_WALKERS];
  if (n_walkers == 0) return;
  const ibrc_plan *plan = walkers[0]->plan;
  const size_t M = (size_t)plan->n_models;
  double *sigma = scratch + ibrc_policy_many_doubles(plan, IBRC_WALKERS);
  corners_of(walkers, n_walkers, corners);
  ibrc_policy_sigma_many(plan, corners, n_walkers, action, scratch, sigma);
  for (int k = 0; k < n_walkers; k++, sigma += M) {
    memcpy(walkers[k]->sigma + (size_t)action * M, sigma, M * sizeof(double));
    walkers[k]->known[action] = 1;
  }
}
