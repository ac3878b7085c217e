#include "rollout.h"

#include <string.h>

#include "environment.h"
#include "numeric.h"
#include "threads.h"
#include "walker.h"

size_t ibrc_rollout_doubles(const ibrc_rollout *rollout) {
  return (size_t)rollout->models->n_states + (size_t)rollout->plan->n_actions +
         ibrc_walker_doubles(rollout->plan) + IBRC_GAP_DOUBLES;
}

size_t ibrc_rollout_ints(const ibrc_rollout *rollout) {
  return ibrc_walker_ints(rollout->plan) + IBRC_GAP_INTS;
}

ibrc_code ibrc_rollout_run(const ibrc_rollout *rollout, int begin, const double *noise,
                           double *doubles, int *ints, int *action, int *observation, int *length) {
  const ibrc_plan *plan = rollout->plan;
  const ibrc_models *environment = rollout->environment;
  const int S = environment->n_states;
  double *belief = doubles + ibrc_walker_doubles(plan), *policy = belief + S;
  ibrc_walker walker = ibrc_walker_over(plan, rollout->models, doubles, ints);
  ibrc_code code = IBRC_OK;
  int sure = -1; /* of a state */

  const size_t at = (size_t)begin * (size_t)S;
  memcpy(belief, rollout->belief + at, (size_t)S * sizeof(double));
  int state = ibrc_draw(rollout->start + at, 1, S, *noise++);
  *length = 0;
  for (int t = 0; t < rollout->horizon; t++, noise += 3) {
    if (sure < 0) {
      ibrc_walker_stand(&walker, belief);
    } else {
      ibrc_walker_stand_in(&walker, sure);
    }
    ibrc_walker_policy(&walker, policy);
    int u = ibrc_draw(policy, 1, plan->n_actions, noise[0]);
    state = ibrc_environment_move(environment, state, u, noise[1]);
    int x = ibrc_environment_show(environment, state, u, noise[2]);
    action[t] = u;
    observation[t] = x;
    *length = t + 1;
    if (rollout->stops[u]) break;
    ibrc_walker_remember(&walker, u);
    code = ibrc_walker_recognise(&walker, u, x, belief, &sure);
    if (code != IBRC_OK) break;
  }
  return code;
}
