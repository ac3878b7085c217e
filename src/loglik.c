#include "loglik.h"

#include <math.h>
#include <string.h>

#include "walker.h"

/* Histories between two pauses: some hundredths of a second. */
#define HISTORIES_AT_ONCE 32768

/* What is known at each history. */
typedef struct {
  double *row;  /* beliefs [row][state], as far as they are needed */
  int *state;   /* [history]: the state that is certain, or */
  int *place;   /* [history]: its row */
  int n_rows;
} knowledge;

enum { IN_ROW = -1, IMPOSSIBLE = -2 };

/* Whoever has just seen the state needs no row. */
static size_t most_rows(const ibrc_history *history, const ibrc_models *models) {
  return (size_t)(ibrc_model_seen(models) ? history->n_unseen : history->n_histories);
}

size_t ibrc_loglik_doubles(const ibrc_history *history, const ibrc_plan *plan,
                           const ibrc_models *models) {
  const size_t S = (size_t)models->n_states, U = (size_t)plan->n_actions;
  return most_rows(history, models) * S + 2 * U + S + ibrc_walker_doubles(plan);
}

size_t ibrc_loglik_ints(const ibrc_history *history, const ibrc_plan *plan) {
  return 2 * (size_t)history->n_histories + ibrc_walker_ints(plan);
}

/* Carries what is known at `h`, where the walker stands, to its children. */
static void carry_on(const ibrc_history *history, int h, ibrc_walker *walker,
                     const double *log_policy, double *scratch, knowledge *known) {
  const size_t S = (size_t)walker->models->n_states;
  for (int child = history->first_child[h]; child >= 0; child = history->next_sibling[child]) {
    const int action = history->action[child], observation = history->observation[child];
    double *to = known->row + (size_t)known->n_rows * S;
    int state;
    ibrc_code code = action == IBRC_NO_ACTION
                         ? ibrc_walker_recognise_any(walker, log_policy, history->stops,
                                                     observation, scratch, to, &state)
                         : ibrc_walker_recognise(walker, action, observation, to, &state);
    known->state[child] = code == IBRC_OK ? state : IMPOSSIBLE;
    if (known->state[child] == IN_ROW) known->place[child] = known->n_rows++;
  }
}

/* Nobody gets to `h`, nor to what follows. */
static void leave_out(const ibrc_history *history, int h, knowledge *known) {
  for (int child = history->first_child[h]; child >= 0; child = history->next_sibling[child]) {
    known->state[child] = IMPOSSIBLE;
  }
}

static void copy_belief(const knowledge *known, int h, size_t n_states, double *belief) {
  if (known->state[h] == IN_ROW) {
    memcpy(belief, known->row + (size_t)known->place[h] * n_states, n_states * sizeof(double));
    return;
  }
  const double others = known->state[h] == IMPOSSIBLE ? NAN : 0.0;
  for (size_t s = 0; s < n_states; s++) belief[s] = others;
  if (known->state[h] >= 0) belief[known->state[h]] = 1.0;
}

static void find_likeliest(const knowledge *known, int h, size_t n_states, int *likeliest,
                           double *surest) {
  *likeliest = known->state[h] >= 0 ? known->state[h] : -1;
  *surest = known->state[h] >= 0 ? 1.0 : NAN;
  if (known->state[h] != IN_ROW) return;
  const double *belief = known->row + (size_t)known->place[h] * n_states;
  size_t most = 0;
  for (size_t s = 1; s < n_states; s++) {
    if (belief[s] > belief[most]) most = s;
  }
  *likeliest = (int)most;
  *surest = belief[most];
}

double ibrc_loglik(const ibrc_history *history, const ibrc_plan *plan, const ibrc_models *models,
                   const double *start, double *doubles, int *ints, ibrc_pause pause,
                   const ibrc_loglik_result *out) {
  const size_t S = (size_t)models->n_states;
  const int U = plan->n_actions, H = history->n_histories;
  ibrc_walker walker = ibrc_walker_over(plan, models, doubles, ints);
  double *one_row = doubles + ibrc_walker_doubles(plan), *scratch = one_row + U, total = 0.0;
  knowledge known = {.row = scratch + S + U, .state = ints + ibrc_walker_ints(plan)};
  known.place = known.state + H;
  for (int h = 0; h < history->n_roots; h++) {
    memcpy(known.row + (size_t)h * S, start + (size_t)history->start[h] * S, S * sizeof(double));
    known.state[h] = IN_ROW;
    known.place[h] = known.n_rows++;
  }
  for (int h = 0; h < H; h++) {
    const double *count = history->count + (size_t)h * (size_t)U;
    double *row = out->log_policy ? out->log_policy + (size_t)h * (size_t)U : one_row;
    if (h % HISTORIES_AT_ONCE == 0) ibrc_ask(pause);
    if (known.state[h] == IMPOSSIBLE) {
      for (int u = 0; u < U; u++) row[u] = -INFINITY;
      leave_out(history, h, &known);
    } else {
      if (known.state[h] == IN_ROW) {
        ibrc_walker_stand(&walker, known.row + (size_t)known.place[h] * S);
      } else {
        ibrc_walker_stand_in(&walker, known.state[h]);
      }
      ibrc_walker_log_policy(&walker, row);
      carry_on(history, h, &walker, row, scratch, &known);
    }
    if (out->beliefs) copy_belief(&known, h, S, out->beliefs + (size_t)h * S);
    if (out->likeliest) find_likeliest(&known, h, S, out->likeliest + h, out->surest + h);
    for (int u = 0; u < U; u++) {
      if (count[u] > 0.0) total += count[u] * row[u];
    }
  }
  return isnan(total) ? -INFINITY : total;
}
