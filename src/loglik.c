#include "loglik.h"

#include <math.h>
#include <string.h>

#include "walker.h"

/* Histories between two pauses: some hundredths of a second. */
#define HISTORIES_AT_ONCE 32768

size_t ibrc_loglik_doubles(const ibrc_history *history, const ibrc_plan *plan) {
  const size_t S = (size_t)plan->space->n_states, U = (size_t)plan->n_actions;
  return (size_t)history->n_histories * S + 2 * U + S + ibrc_walker_doubles(plan);
}

size_t ibrc_loglik_ints(const ibrc_plan *plan) { return ibrc_walker_ints(plan); }

/* Carries the belief of `h`, where the walker stands, to its children. */
static void carry_beliefs(const ibrc_history *history, int h, ibrc_walker *walker,
                          const double *log_policy, double *scratch, double *beliefs) {
  const size_t S = (size_t)walker->plan->space->n_states;
  for (int child = history->first_child[h]; child >= 0; child = history->next_sibling[child]) {
    const int action = history->action[child], observation = history->observation[child];
    double *to = beliefs + (size_t)child * S;
    ibrc_code code = action == IBRC_NO_ACTION
                         ? ibrc_walker_recognise_any(walker, log_policy, history->stops,
                                                     observation, scratch, to)
                         : ibrc_walker_recognise(walker, action, observation, to);
    if (code != IBRC_OK) to[0] = NAN;
  }
}

/* Nobody gets to `h`, nor to what follows. */
static void leave_out(const ibrc_history *history, int h, size_t n_states, double *beliefs) {
  for (size_t s = 0; s < n_states; s++) beliefs[(size_t)h * n_states + s] = NAN;
  for (int child = history->first_child[h]; child >= 0; child = history->next_sibling[child]) {
    beliefs[(size_t)child * n_states] = NAN;
  }
}

double ibrc_loglik(const ibrc_history *history, const ibrc_plan *plan, const ibrc_models *models,
                   const double *start, double *doubles, int *ints, ibrc_pause pause,
                   double *log_policy, double *beliefs) {
  const size_t S = (size_t)plan->space->n_states;
  const int U = plan->n_actions;
  double *one_row = doubles + ibrc_walker_doubles(plan);
  double *scratch = one_row + U, total = 0.0;
  double *carried = beliefs ? beliefs : scratch + S + U;
  ibrc_walker walker = ibrc_walker_over(plan, models, doubles, ints);
  memcpy(carried, start, S * sizeof(double));
  for (int h = 0; h < history->n_histories; h++) {
    const double *belief = carried + (size_t)h * S, *count = history->count + (size_t)h * (size_t)U;
    double *row = log_policy ? log_policy + (size_t)h * (size_t)U : one_row;
    if (h % HISTORIES_AT_ONCE == 0) ibrc_ask(pause);
    if (isnan(belief[0])) {
      leave_out(history, h, S, carried);
      for (int u = 0; u < U; u++) row[u] = -INFINITY;
    } else {
      ibrc_walker_stand(&walker, belief);
      ibrc_walker_log_policy(&walker, row);
      carry_beliefs(history, h, &walker, row, scratch, carried);
    }
    for (int u = 0; u < U; u++) {
      if (count[u] > 0.0) total += count[u] * row[u];
    }
  }
  return isnan(total) ? -INFINITY : total;
}
