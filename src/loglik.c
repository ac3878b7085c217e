#include "loglik.h"

#include <math.h>
#include <string.h>

#include "walker.h"

/* Histories between two pauses: some hundredths of a second. */
#define HISTORIES_AT_ONCE 32768

/* What is known at each history. Histories that are known and not yet looked at wait in a queue: a
 * parent comes before its children, so those at its head can be looked at together. */
typedef struct {
  double *row; /* beliefs [row][state], as far as they are needed */
  int *state;  /* [history]: the state that is certain, or */
  int *place;  /* [history]: its row */
  int *queue;  /* [history] */
  int n_rows, n_queued;
} knowledge;

enum { IN_ROW = -1, IMPOSSIBLE = -2 };

/* Those that are looked at together, and the walkers that stand at the possible ones. */
typedef struct {
  ibrc_walker walker[IBRC_WALKERS];
  ibrc_walker *standing[IBRC_WALKERS];
  int at[IBRC_WALKERS];  /* [standing]: the history */
  int n_standing;
  double *log_policy;    /* [standing][action] */
  int *wanted;           /* [standing][action]: is sigma? */
  double *step, *policy; /* scratch of one step, and of them all */
} party;

/* An agent that has just seen the state needs no row. */
static size_t most_rows(const ibrc_history *history, const ibrc_models *models) {
  return (size_t)(ibrc_model_seen(models) ? history->n_unseen : history->n_histories);
}

size_t ibrc_loglik_doubles(const ibrc_history *history, const ibrc_plan *plan,
                           const ibrc_models *models) {
  const size_t S = (size_t)models->n_states, U = (size_t)plan->n_actions;
  return IBRC_WALKERS * (ibrc_walker_doubles(plan) + U) + ibrc_walkers_doubles(plan) + S + U +
         most_rows(history, models) * S;
}

size_t ibrc_loglik_ints(const ibrc_history *history, const ibrc_plan *plan) {
  return IBRC_WALKERS * (ibrc_walker_ints(plan) + (size_t)plan->n_actions) +
         3 * (size_t)history->n_histories;
}

/* Lays both out over the working space. */
static void lay_out(const ibrc_history *history, const ibrc_plan *plan, const ibrc_models *models,
                    double *doubles, int *ints, party *together, knowledge *known) {
  const size_t S = (size_t)models->n_states, U = (size_t)plan->n_actions;
  for (int k = 0; k < IBRC_WALKERS; k++) {
    together->walker[k] = ibrc_walker_over(plan, models, doubles, ints);
    doubles += ibrc_walker_doubles(plan);
    ints += ibrc_walker_ints(plan);
  }
  together->log_policy = doubles;
  together->policy = together->log_policy + IBRC_WALKERS * U;
  together->step = together->policy + ibrc_walkers_doubles(plan);
  together->wanted = ints;
  known->row = together->step + S + U;
  known->state = ints + IBRC_WALKERS * U;
  known->place = known->state + history->n_histories;
  known->queue = known->place + history->n_histories;
  known->n_rows = known->n_queued = 0;
}

static void set_out(const ibrc_history *history, const double *start, size_t n_states,
                    knowledge *known) {
  for (int h = 0; h < history->n_roots; h++) {
    memcpy(known->row + (size_t)h * n_states, start + (size_t)history->start[h] * n_states,
           n_states * sizeof(double));
    known->state[h] = IN_ROW;
    known->place[h] = known->n_rows++;
    known->queue[known->n_queued++] = h;
  }
}

/* `h` is impossible, and so is what follows. */
static void leave_out(const ibrc_history *history, int h, knowledge *known) {
  for (int child = history->first_child[h]; child >= 0; child = history->next_sibling[child]) {
    known->state[child] = IMPOSSIBLE;
    known->queue[known->n_queued++] = child;
  }
}

/* Places walkers at those histories that are possible. */
static void stand_at(const ibrc_history *history, const int *histories, int n_histories,
                     size_t n_states, const knowledge *known, party *together) {
  together->n_standing = 0;
  for (int k = 0; k < n_histories; k++) {
    const int h = histories[k], state = known->state[h];
    if (state == IMPOSSIBLE) continue;
    ibrc_walker *walker = together->walker + k;
    if (state == IN_ROW) {
      ibrc_walker_stand(walker, known->row + (size_t)known->place[h] * n_states);
    } else {
      ibrc_walker_stand_in(walker, state);
    }
    ibrc_walker_remember(walker, history->action[h]);
    together->at[together->n_standing] = h;
    together->standing[together->n_standing++] = walker;
  }
}

/* Computes the policies, and what each walker believes under the actions that lead on. */
static void look_ahead(const ibrc_history *history, int n_actions, party *together) {
  ibrc_walker *some[IBRC_WALKERS];
  int *wanted = together->wanted;
  memset(wanted, 0, (size_t)(together->n_standing * n_actions) * sizeof(int));
  for (int k = 0; k < together->n_standing; k++, wanted += n_actions) {
    int child = history->first_child[together->at[k]];
    for (; child >= 0; child = history->next_sibling[child]) {
      const int action = history->action[child];
      if (action != IBRC_NO_ACTION) {
        wanted[action] = 1;
      } else {
        for (int u = 0; u < n_actions; u++) wanted[u] |= !history->stops[u];
      }
    }
  }
  ibrc_walkers_log_policy(together->standing, together->n_standing, together->policy,
                          together->log_policy);
  for (int u = 0; u < n_actions; u++) {
    int n_some = 0;
    for (int k = 0; k < together->n_standing; k++) {
      if (together->wanted[k * n_actions + u]) some[n_some++] = together->standing[k];
    }
    ibrc_walkers_know_sigma(some, n_some, u, together->policy);
  }
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
    known->queue[known->n_queued++] = child;
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

/* Keeps what is wanted of a history; its part of the total. log_policy: NULL where impossible. */
static double account_for(const ibrc_history *history, int h, size_t n_states,
                          const knowledge *known, const double *log_policy,
                          const ibrc_loglik_result *out) {
  const int U = history->n_actions;
  const size_t at = (size_t)h * (size_t)U;
  double total = 0.0;
  for (int u = 0; u < U; u++) {
    const double log_p = log_policy ? log_policy[u] : -INFINITY;
    if (out->log_policy) out->log_policy[at + (size_t)u] = log_p;
    if (history->count[at + (size_t)u] > 0.0) total += history->count[at + (size_t)u] * log_p;
  }
  if (out->beliefs) copy_belief(known, h, n_states, out->beliefs + (size_t)h * n_states);
  if (out->likeliest) find_likeliest(known, h, n_states, out->likeliest + h, out->surest + h);
  return total;
}

double ibrc_loglik(const ibrc_history *history, const ibrc_plan *plan, const ibrc_models *models,
                   const double *start, double *doubles, int *ints, ibrc_pause pause,
                   const ibrc_loglik_result *out) {
  const size_t S = (size_t)models->n_states;
  const int U = plan->n_actions;
  party together;
  knowledge known;
  double total = 0.0;
  int since_pause = HISTORIES_AT_ONCE;
  lay_out(history, plan, models, doubles, ints, &together, &known);
  set_out(history, start, S, &known);
  for (int first = 0; first < known.n_queued;) {
    const int waiting = known.n_queued - first;
    const int some = waiting < IBRC_WALKERS ? waiting : IBRC_WALKERS;
    const int *histories = known.queue + first;
    const double *row = together.log_policy;
    if (since_pause >= HISTORIES_AT_ONCE) {
      ibrc_ask(pause);
      since_pause = 0;
    }
    stand_at(history, histories, some, S, &known, &together);
    look_ahead(history, U, &together);
    for (int k = 0, standing = 0; k < some; k++) {
      const int h = histories[k];
      if (known.state[h] == IMPOSSIBLE) {
        leave_out(history, h, &known);
        total += account_for(history, h, S, &known, NULL, out);
        continue;
      }
      carry_on(history, h, together.standing[standing++], row, together.step, &known);
      total += account_for(history, h, S, &known, row, out);
      row += U;
    }
    first += some;
    since_pause += some;
  }
  return isnan(total) ? -INFINITY : total;
}
