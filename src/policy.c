#include "policy.h"

#include <math.h>
#include <stddef.h>

/* sum_j w_j values[node_j * stride + offset + (0 .. n-1)] */
static void blend(const double *values, const ibrc_corners *corners, size_t stride, size_t offset,
                  int n, double *out) {
  for (int i = 0; i < n; i++) out[i] = 0.0;
  for (int k = 0; k < corners->n; k++) {
    const double *at = values + (size_t)corners->node[k] * stride + offset;
    for (int i = 0; i < n; i++) out[i] += corners->weight[k] * at[i];
  }
}

void ibrc_policy_at(const ibrc_plan *plan, const ibrc_corners *corners, double *scratch,
                    double *policy) {
  const int U = plan->n_actions;
  if (plan->by_value) {
    blend(plan->action_value, corners, (size_t)U, 0, U, scratch);
    ibrc_soft_mean(scratch, plan->action_prior, U, &plan->alpha, policy);
  } else {
    blend(plan->policy, corners, (size_t)U, 0, U, policy);
  }
}

/* x less its best: beside a value, alpha log(sum) may be less than rounding. */
static void measure_from_best(double *x, const double *prior, int n, int largest) {
  double best = largest ? -INFINITY : INFINITY;
  for (int i = 0; i < n; i++) {
    if (prior[i] > 0.0 && (largest ? x[i] > best : x[i] < best)) best = x[i];
  }
  for (int i = 0; i < n; i++) x[i] -= best;
}

void ibrc_policy_log_at(const ibrc_plan *plan, const ibrc_corners *corners, double *scratch,
                        double *log_policy) {
  const int U = plan->n_actions;
  if (plan->by_value && plan->alpha.kind == IBRC_SOFT) {
    blend(plan->action_value, corners, (size_t)U, 0, U, scratch);
    measure_from_best(scratch, plan->action_prior, U, plan->alpha.inverse > 0.0);
    const double mean = ibrc_soft_mean(scratch, plan->action_prior, U, &plan->alpha, NULL);
    for (int u = 0; u < U; u++) {
      /* Rounding over a small alpha must not make a probability more than 1. */
      log_policy[u] = plan->action_prior[u] > 0.0
                          ? fmin(0.0, log(plan->action_prior[u]) +
                                          (scratch[u] - mean) * plan->alpha.inverse)
                          : -INFINITY;
    }
    return;
  }
  ibrc_policy_at(plan, corners, scratch, log_policy);
  for (int u = 0; u < U; u++) log_policy[u] = log(log_policy[u]);
}

void ibrc_policy_sigma_at(const ibrc_plan *plan, const ibrc_corners *corners, int action,
                          double *scratch, double *sigma) {
  const int M = plan->n_models;
  const size_t stride = (size_t)plan->n_actions * (size_t)M, offset = (size_t)action * (size_t)M;
  if (plan->by_value) {
    blend(plan->model_value, corners, stride, offset, M, scratch);
    ibrc_soft_mean(scratch, plan->model_weights, M, &plan->beta, sigma);
  } else {
    blend(plan->sigma, corners, stride, offset, M, sigma);
  }
}
