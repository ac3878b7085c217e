#include "rollout.h"

#include "belief.h"
#include "numeric.h"
#include "policy.h"
#include "threads.h"

size_t ibrc_rollout_doubles(const ibrc_rollout *rollout) {
  size_t S = (size_t)rollout->models->n_states, U = (size_t)rollout->plan->n_actions;
  return 3 * S + 2 * U + 2 * (size_t)rollout->plan->n_models +
         ibrc_corners_doubles(rollout->plan->space) + IBRC_GAP_DOUBLES;
}

size_t ibrc_rollout_ints(const ibrc_rollout *rollout) {
  return ibrc_corners_ints(rollout->plan->space) + IBRC_GAP_INTS;
}

ibrc_code ibrc_rollout_run(const ibrc_rollout *rollout, const double *noise, double *doubles,
                             int *ints, int *action, int *observation, int *length) {
  const ibrc_plan *plan = rollout->plan;
  const ibrc_models *environment = rollout->environment;
  const int S = environment->n_states, X = environment->n_obs;
  double *belief = doubles, *step = belief + S, *policy = step + 2 * (size_t)S;
  double *policy_work = policy + plan->n_actions;
  double *sigma = policy_work + plan->n_actions, *sigma_work = sigma + plan->n_models;
  ibrc_corners corners = ibrc_corners_over(plan->space, ints, sigma_work + plan->n_models);
  ibrc_code code = IBRC_OK;

  for (int s = 0; s < S; s++) belief[s] = rollout->belief[s];
  int state = ibrc_draw(rollout->start, 1, S, *noise++);
  *length = 0;
  for (int t = 0; t < rollout->horizon; t++, noise += 3) {
    ibrc_space_locate(plan->space, belief, &corners);
    ibrc_policy_at(plan, &corners, policy_work, policy);
    int u = ibrc_draw(policy, 1, plan->n_actions, noise[0]);
    ibrc_policy_sigma_at(plan, &corners, u, sigma_work, sigma);

    state = ibrc_draw(ibrc_model_transition(environment, u, 0) + state, S, S, noise[1]);
    int x = ibrc_draw(ibrc_model_emission(environment, u, 0) + state, S, X, noise[2]);
    action[t] = u;
    observation[t] = x;
    *length = t + 1;
    if (rollout->stops[u]) break;
    code = ibrc_belief_recognise(rollout->models, sigma, belief, u, x, step, belief);
    if (code != IBRC_OK) break;
  }
  return code;
}
