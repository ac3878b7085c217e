#include "loglik.h"

#include <math.h>

#include "belief.h"
#include "policy.h"

/* Histories between two pauses: some hundredths of a second. */
#define HISTORIES_AT_ONCE 32768

typedef struct {
  double *beliefs, *step, *row, *work, *sigma;
  ibrc_corners corners;
} workspace;

size_t ibrc_loglik_doubles(const ibrc_history *history, const ibrc_plan *plan,
                         const ibrc_models *models) {
  size_t S = (size_t)models->n_states, U = (size_t)plan->n_actions, M = (size_t)plan->n_models;
  return (size_t)history->n_histories * S + 2 * S + U + (U > M ? U : M) + M +
         ibrc_corners_doubles(plan->space);
}

size_t ibrc_loglik_ints(const ibrc_plan *plan) { return ibrc_corners_ints(plan->space); }

static workspace carve(const ibrc_history *history, const ibrc_plan *plan,
                       const ibrc_models *models, double *doubles, int *ints) {
  const size_t S = (size_t)models->n_states, U = (size_t)plan->n_actions,
               M = (size_t)plan->n_models;
  workspace w;
  w.beliefs = doubles;
  w.step = doubles + (size_t)history->n_histories * S;
  w.row = w.step + 2 * S;
  w.work = w.row + U;
  w.sigma = w.work + (U > M ? U : M);
  w.corners = ibrc_corners_over(plan->space, ints, w.sigma + M);
  return w;
}

/* z_h from its parent's. Returns 0 where it is impossible. */
static int carry_belief(const ibrc_history *history, int h, const ibrc_plan *plan,
                        const ibrc_models *models, workspace *w, double *beliefs) {
  const size_t S = (size_t)models->n_states;
  const double *from = beliefs + (size_t)history->parent[h] * S;
  double *to = beliefs + (size_t)h * S;
  ibrc_code code = IBRC_IMPOSSIBLE_OBSERVATION;
  if (!isnan(from[0])) {
    ibrc_space_locate(plan->space, from, &w->corners);
    ibrc_policy_sigma_at(plan, &w->corners, history->action[h], w->work, w->sigma);
    code = ibrc_belief_recognise(models, w->sigma, from, history->action[h],
                                 history->observation[h], w->step, to);
  }
  if (code == IBRC_OK) return 1;
  for (size_t s = 0; s < S; s++) to[s] = NAN;
  return 0;
}

int ibrc_loglik_beliefs(const ibrc_history *history, const ibrc_plan *plan,
                        const ibrc_models *models, const double *start, double *doubles, int *ints,
                        ibrc_pause pause, double *beliefs) {
  workspace w = carve(history, plan, models, doubles, ints);
  int impossible = 0;
  for (int s = 0; s < models->n_states; s++) beliefs[s] = start[s];
  for (int h = 1; h < history->n_histories; h++) {
    if (h % HISTORIES_AT_ONCE == 0) ibrc_ask(pause);
    impossible += !carry_belief(history, h, plan, models, &w, beliefs);
  }
  return impossible;
}

double ibrc_loglik(const ibrc_history *history, const ibrc_plan *plan, const ibrc_models *models,
                   const double *start, double *doubles, int *ints, ibrc_pause pause,
                   double *log_policy) {
  workspace w = carve(history, plan, models, doubles, ints);
  const int U = plan->n_actions;
  double total = 0.0;
  ibrc_loglik_beliefs(history, plan, models, start, doubles, ints, pause, w.beliefs);
  for (int h = 0; h < history->n_histories; h++) {
    const double *belief = w.beliefs + (size_t)h * (size_t)models->n_states;
    const double *count = history->count + (size_t)h * (size_t)U;
    if (h % HISTORIES_AT_ONCE == 0) ibrc_ask(pause);
    double *row = log_policy ? log_policy + (size_t)h * (size_t)U : w.row;
    if (isnan(belief[0])) {
      for (int u = 0; u < U; u++) row[u] = -INFINITY;
    } else {
      ibrc_space_locate(plan->space, belief, &w.corners);
      ibrc_policy_log_at(plan, &w.corners, w.work, row);
    }
    for (int u = 0; u < U; u++) {
      if (count[u] > 0.0) total += count[u] * row[u];
    }
  }
  return isnan(total) ? -INFINITY : total;
}
