#include "unroll.h"

#include <string.h>

static size_t n_pairs(const ibrc_unroll *planner) {
  return (size_t)planner->dynamics->n_states * (size_t)planner->dynamics->n_actions;
}

/* The expected value of what follows a row. */
static double expected(const ibrc_models *dynamics, size_t row, const double *value) {
  double sum = 0.0;
  for (int i = dynamics->row_start[row]; i < dynamics->row_start[row + 1]; i++) {
    sum += dynamics->chance[i] * value[dynamics->to[i]];
  }
  return sum;
}

/* One step: Q and V, and the policy unless it is NULL. */
static void back_up(const ibrc_unroll *planner, const double *value, double *action_value,
                    double *next, double *policy) {
  const int S = planner->dynamics->n_states, U = planner->dynamics->n_actions;
  const size_t pairs = n_pairs(planner);
  for (size_t row = 0; row < pairs; row++) {
    action_value[row] =
        planner->utility[row] + planner->discount * expected(planner->dynamics, row, value);
  }
  ibrc_soft_means(action_value, (size_t)S, planner->prior, U, S, &planner->alpha, next, policy);
}

void ibrc_unroll_forward(const ibrc_unroll *planner, int n_steps, double *values,
                         double *action_value) {
  const size_t S = (size_t)planner->dynamics->n_states;
  for (int k = 0; k < n_steps; k++) {
    back_up(planner, values + (size_t)k * S, action_value, values + (size_t)(k + 1) * S, NULL);
  }
}

/* Of one state: `by_action` [action], entries S apart, becomes the derivative by its action values,
 * given that by its value; returns the derivative by alpha with action values held. */
static double through_choice(const ibrc_unroll *planner, const double *action_value, double value,
                             const double *policy, double slope, double *by_action) {
  const size_t S = (size_t)planner->dynamics->n_states, U = (size_t)planner->dynamics->n_actions;
  double mean = 0.0; /* of V - Q, so that large values that differ little keep their digits */
  for (size_t u = 0; u < U; u++) {
    by_action[u * S] = slope * policy[u * S];
    mean += policy[u * S] * (value - action_value[u * S]);
  }
  return slope * mean * planner->alpha.inverse;
}

/* The same for sum(weights * log policy), added to what is there. */
static double through_policy(const ibrc_unroll *planner, const double *action_value, double value,
                             const double *policy, const double *weights, double *by_action) {
  const size_t S = (size_t)planner->dynamics->n_states, U = (size_t)planner->dynamics->n_actions;
  const double inverse = planner->alpha.inverse;
  double total = 0.0, mean = 0.0, sum = 0.0;
  for (size_t u = 0; u < U; u++) {
    total += weights[u * S];
    mean += policy[u * S] * (value - action_value[u * S]);
  }
  for (size_t u = 0; u < U; u++) {
    by_action[u * S] += (weights[u * S] - total * policy[u * S]) * inverse;
    sum += weights[u * S] * ((value - action_value[u * S]) - mean);
  }
  return sum * inverse * inverse;
}

/* From derivatives by Q to those by what Q is made of. */
static void through_backup(const ibrc_unroll *planner, const double *value, const double *by_action,
                           double *slope, const ibrc_unroll_gradient *gradient) {
  const ibrc_models *dynamics = planner->dynamics;
  const size_t pairs = n_pairs(planner);
  memset(slope, 0, (size_t)dynamics->n_states * sizeof(double));
  for (size_t row = 0; row < pairs; row++) {
    const double by = by_action[row], by_next = planner->discount * by;
    gradient->utility[row] += by;
    *gradient->discount += by * expected(dynamics, row, value);
    for (int i = dynamics->row_start[row]; i < dynamics->row_start[row + 1]; i++) {
      gradient->transition[i] += by_next * value[dynamics->to[i]];
      slope[dynamics->to[i]] += by_next * dynamics->chance[i];
    }
  }
}

void ibrc_unroll_reverse(const ibrc_unroll *planner, int n_steps, const double *values,
                         const double *weights, double *scratch, double *slope,
                         const ibrc_unroll_gradient *gradient) {
  const size_t S = (size_t)planner->dynamics->n_states, pairs = n_pairs(planner);
  double *action_value = scratch, *policy = action_value + pairs, *by_action = policy + pairs;
  double *next = by_action + pairs;
  for (int k = n_steps - 1; k >= 0; k--) {
    const double *value = values + (size_t)k * S;
    back_up(planner, value, action_value, next, policy);
    for (size_t s = 0; s < S; s++) {
      *gradient->alpha += through_choice(planner, action_value + s, next[s], policy + s, slope[s],
                                         by_action + s);
      if (weights && k == n_steps - 1) {
        *gradient->alpha += through_policy(planner, action_value + s, next[s], policy + s,
                                           weights + s, by_action + s);
      }
    }
    through_backup(planner, value, by_action, slope, gradient);
  }
}
