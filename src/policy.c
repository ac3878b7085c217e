#include "policy.h"

#include <math.h>
#include <stddef.h>

/* sum_j w_j values[node_j * stride + offset + (0 .. n-1)], entries `apart` from each other */
static void blend(const double *values, const ibrc_corners *corners, size_t stride, size_t offset,
                  int n, size_t apart, double *out) {
  const double *first = values + (size_t)corners->node[0] * stride + offset;
  for (int i = 0; i < n; i++) out[(size_t)i * apart] = corners->weight[0] * first[i];
  for (int k = 1; k < corners->n; k++) {
    const double *at = values + (size_t)corners->node[k] * stride + offset;
    for (int i = 0; i < n; i++) out[(size_t)i * apart] += corners->weight[k] * at[i];
  }
}

/* pi~ after what was done last. */
static const double *prior_after(const ibrc_plan *plan, int last) {
  if (!plan->after || last == IBRC_NO_LAST) return plan->action_prior;
  return plan->after + (size_t)last * (size_t)plan->n_actions;
}

/* sum_j w_j pi(.|j, last): of nodes their Q is known. */
static void blend_after(const ibrc_plan *plan, const ibrc_corners *corners, const double *prior,
                        double *scratch, double *policy) {
  const int U = plan->n_actions;
  for (int u = 0; u < U; u++) policy[u] = 0.0;
  for (int k = 0; k < corners->n; k++) {
    const double *Q = plan->action_value + (size_t)corners->node[k] * (size_t)U;
    ibrc_soft_mean(Q, prior, U, &plan->alpha, scratch);
    for (int u = 0; u < U; u++) policy[u] += corners->weight[k] * scratch[u];
  }
}

void ibrc_policy_at(const ibrc_plan *plan, const ibrc_corners *corners, int last, double *scratch,
                    double *policy) {
  const int U = plan->n_actions;
  if (plan->by_value) {
    blend(plan->action_value, corners, (size_t)U, 0, U, 1, scratch);
    ibrc_soft_mean(scratch, prior_after(plan, last), U, &plan->alpha, policy);
  } else if (plan->after) {
    blend_after(plan, corners, prior_after(plan, last), scratch, policy);
  } else {
    blend(plan->policy, corners, (size_t)U, 0, U, 1, policy);
  }
}

void ibrc_policy_sigma_at(const ibrc_plan *plan, const ibrc_corners *corners, int action,
                          double *scratch, double *sigma) {
  const int M = plan->n_models;
  const size_t stride = (size_t)plan->n_actions * (size_t)M, offset = (size_t)action * (size_t)M;
  if (plan->by_value) {
    blend(plan->model_value, corners, stride, offset, M, 1, scratch);
    ibrc_soft_mean(scratch, plan->model_weights, M, &plan->beta, sigma);
  } else {
    blend(plan->sigma, corners, stride, offset, M, 1, sigma);
  }
}

/* Entries and weights, one action or model after the other, and the means. */
size_t ibrc_policy_many_doubles(const ibrc_plan *plan, int n_beliefs) {
  const int most = plan->n_actions > plan->n_models ? plan->n_actions : plan->n_models;
  return (2 * (size_t)most + 1) * (size_t)n_beliefs;
}

/* x less its best, [entry][belief]: compared with a value, alpha log(sum) may be less than
 * rounding. */
static void measure_from_best(double *x, const double *prior, int n, int n_beliefs, int largest,
                              double *best) {
  for (int b = 0; b < n_beliefs; b++) best[b] = largest ? -INFINITY : INFINITY;
  for (int i = 0; i < n; i++) {
    const double *x_i = x + (size_t)i * (size_t)n_beliefs;
    if (!(prior[i] > 0.0)) continue;
    for (int b = 0; b < n_beliefs; b++) {
      if (largest ? x_i[b] > best[b] : x_i[b] < best[b]) best[b] = x_i[b];
    }
  }
  for (int i = 0; i < n; i++) {
    double *x_i = x + (size_t)i * (size_t)n_beliefs;
    for (int b = 0; b < n_beliefs; b++) x_i[b] -= best[b];
  }
}

static void log_by_value(const ibrc_plan *plan, const ibrc_corners *const *corners, int n_beliefs,
                         const double *prior, double *x, double *log_policy) {
  const int U = plan->n_actions;
  const size_t apart = (size_t)n_beliefs;
  double *mean = x + (size_t)U * apart;
  for (int b = 0; b < n_beliefs; b++) {
    blend(plan->action_value, corners[b], (size_t)U, 0, U, apart, x + b);
  }
  measure_from_best(x, prior, U, n_beliefs, plan->alpha.inverse > 0.0, mean);
  ibrc_soft_means(x, apart, prior, U, n_beliefs, &plan->alpha, mean, NULL);
  for (int u = 0; u < U; u++, x += apart) {
    const double log_prior = log(prior[u]);
    const int possible = prior[u] > 0.0;
    for (int b = 0; b < n_beliefs; b++) {
      const double log_p = log_prior + (x[b] - mean[b]) * plan->alpha.inverse;
      /* Rounding over a small alpha must not make a probability more than 1. */
      log_policy[b * U + u] = !possible ? -INFINITY : log_p < 0.0 ? log_p : 0.0;
    }
  }
}

void ibrc_policy_log_many(const ibrc_plan *plan, const ibrc_corners *const *corners, int n_beliefs,
                          int last, double *scratch, double *log_policy) {
  const int U = plan->n_actions;
  if (plan->by_value && plan->alpha.kind == IBRC_SOFT) {
    log_by_value(plan, corners, n_beliefs, prior_after(plan, last), scratch, log_policy);
    return;
  }
  for (int b = 0; b < n_beliefs; b++, log_policy += U) {
    ibrc_policy_at(plan, corners[b], last, scratch, log_policy);
    for (int u = 0; u < U; u++) log_policy[u] = log(log_policy[u]);
  }
}

void ibrc_policy_sigma_many(const ibrc_plan *plan, const ibrc_corners *const *corners, int n_beliefs,
                            int action, double *scratch, double *sigma) {
  const int M = plan->n_models;
  const size_t stride = (size_t)plan->n_actions * (size_t)M, offset = (size_t)action * (size_t)M;
  const size_t apart = (size_t)n_beliefs;
  double *weights = scratch + (size_t)M * apart, *mean = weights + (size_t)M * apart;
  if (!plan->by_value) {
    for (int b = 0; b < n_beliefs; b++, sigma += M) {
      blend(plan->sigma, corners[b], stride, offset, M, 1, sigma);
    }
    return;
  }
  for (int b = 0; b < n_beliefs; b++) {
    blend(plan->model_value, corners[b], stride, offset, M, apart, scratch + b);
  }
  ibrc_soft_means(scratch, apart, plan->model_weights, M, n_beliefs, &plan->beta, mean, weights);
  for (int b = 0; b < n_beliefs; b++, sigma += M) {
    for (int m = 0; m < M; m++) sigma[m] = weights[(size_t)m * apart + (size_t)b];
  }
}
