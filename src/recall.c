#include "recall.h"

#include "environment.h"

/* Whole numbers that a double holds exactly. */
#define MOST_HISTORIES 9007199254740992.0

ibrc_recall ibrc_recall_of(int n_actions, int n_obs, int memory) {
  ibrc_recall recall = {.n_actions = n_actions,
                        .n_obs = n_obs,
                        .base = (uint64_t)n_actions * (uint64_t)n_obs + 1,
                        .most = 1};
  for (int k = 0; k < memory && recall.most; k++) {
    const int fits = (double)recall.most * (double)recall.base <= MOST_HISTORIES;
    recall.most = fits ? recall.most * recall.base : 0;
  }
  return recall;
}

/* ---- where histories stand ---- */

size_t ibrc_recall_index_ints(size_t n_histories) {
  size_t n = 16;
  while (n < 2 * n_histories) n *= 2;
  return n;
}

/* The place of a history, or the free one where it would stand. */
static size_t place_of(const ibrc_recall_index *index, uint64_t history) {
  const uint64_t mixed = (history + 1) * UINT64_C(0x9e3779b97f4a7c15);
  size_t at = (size_t)(mixed >> 32) & index->mask;
  while (index->place[at] >= 0 && index->key[index->place[at]] != (double)history) {
    at = (at + 1) & index->mask;
  }
  return at;
}

ibrc_recall_index ibrc_recall_index_over(const double *key, size_t n, size_t room, int *ints) {
  const size_t places = ibrc_recall_index_ints(room);
  ibrc_recall_index index = {.key = key, .place = ints, .mask = places - 1};
  for (size_t i = 0; i < places; i++) ints[i] = -1;
  for (size_t i = 0; i < n; i++) ints[place_of(&index, (uint64_t)key[i])] = (int)i;
  return index;
}

int ibrc_recall_find(const ibrc_recall_index *index, uint64_t history) {
  return index->place[place_of(index, history)];
}

int ibrc_recall_longest(const ibrc_recall *recall, const ibrc_recall_index *index,
                        uint64_t history) {
  for (uint64_t ends = recall->most;; ends /= recall->base) {
    const int row = ibrc_recall_find(index, history % ends);
    if (row >= 0 || ends == 1) return row;
  }
}

/* ---- learning ---- */

static double largest(const double *x, int n) {
  double best = x[0];
  for (int i = 1; i < n; i++) best = x[i] > best ? x[i] : best;
  return best;
}

/* One of those that are best, each as likely. */
static int one_of_best(const double *x, int n, double noise) {
  const double best = largest(x, n);
  int count = 0;
  for (int i = 0; i < n; i++) count += x[i] == best;
  int which = (int)(noise * count);
  if (which >= count) which = count - 1;
  for (int i = 0; i < n; i++) {
    if (x[i] == best && which-- == 0) return i;
  }
  return 0;
}

/* The row of a history, which is made where there is none yet. */
static int row_of(const ibrc_recall_learner *learner, const ibrc_recall_index *index,
                  uint64_t history, ibrc_recall_table *table) {
  const size_t at = place_of(index, history);
  if (index->place[at] >= 0) return index->place[at];
  const int row = table->n++, U = learner->recall->n_actions;
  index->place[at] = row;
  table->key[row] = (double)history;
  for (int u = 0; u < U; u++) {
    table->action_value[(size_t)row * (size_t)U + (size_t)u] = learner->initial;
    table->tried[(size_t)row * (size_t)U + (size_t)u] = 0.0;
  }
  return row;
}

static void learn_from_visit(const ibrc_recall_learner *learner, const ibrc_recall_index *index,
                             const double *noise, ibrc_recall_walk *walk,
                             ibrc_recall_table *table) {
  const int S = learner->environment->n_states, U = learner->recall->n_actions;
  if (walk->visit == 0 || walk->visit >= learner->episode) {
    walk->state = ibrc_draw(learner->start, 1, S, noise[0]);
    walk->history = 0;
    walk->visit = 0;
  }
  const size_t row = (size_t)row_of(learner, index, walk->history, table) * (size_t)U;
  double *worth = table->action_value + row;
  int u = (int)(noise[2] * U);
  if (u >= U) u = U - 1;
  if (noise[1] >= learner->exploration) u = one_of_best(worth, U, noise[2]);
  const double reward = learner->utility[(size_t)u * (size_t)S + (size_t)walk->state];
  walk->state = ibrc_environment_move(learner->environment, walk->state, u, noise[3]);
  const int x = ibrc_environment_show(learner->environment, walk->state, u, noise[4]);
  walk->history = ibrc_recall_after(learner->recall, walk->history, u, x);
  walk->visit++;
  const int next = ibrc_recall_find(index, walk->history);
  const double later = next < 0
                           ? learner->initial
                           : largest(table->action_value + (size_t)next * (size_t)U, U);
  const double before = table->tried[row + (size_t)u]++;
  const double rate = 1.0 / (1.0 + (1.0 - learner->discount) * before);
  worth[u] += rate * (reward + learner->discount * later - worth[u]);
}

void ibrc_recall_learn(const ibrc_recall_learner *learner, int n_steps, const double *noise,
                       int *ints, ibrc_recall_walk *walk, ibrc_recall_table *table) {
  const ibrc_recall_index index =
      ibrc_recall_index_over(table->key, (size_t)table->n, (size_t)table->room, ints);
  for (int k = 0; k < n_steps; k++) {
    learn_from_visit(learner, &index, noise + (size_t)k * IBRC_RECALL_NOISE, walk, table);
  }
}

/* ---- behaviour ---- */

int ibrc_recall_run(const ibrc_recall_rollout *rollout, int begin, const double *noise, int *action,
                    int *observation) {
  const ibrc_models *environment = rollout->environment;
  const int S = environment->n_states, U = rollout->recall->n_actions;
  uint64_t history = 0;
  int state = ibrc_draw(rollout->start + (size_t)begin * (size_t)S, 1, S, *noise++);
  for (int t = 0; t < rollout->horizon; t++, noise += 3) {
    const int row = ibrc_recall_longest(rollout->recall, rollout->index, history);
    const double *policy =
        row < 0 ? rollout->otherwise : rollout->policy + (size_t)row * (size_t)U;
    const int u = ibrc_draw(policy, 1, U, noise[0]);
    state = ibrc_environment_move(environment, state, u, noise[1]);
    const int x = ibrc_environment_show(environment, state, u, noise[2]);
    action[t] = u;
    observation[t] = x;
    if (rollout->stops[u]) return t + 1;
    history = ibrc_recall_after(rollout->recall, history, u, x);
  }
  return rollout->horizon;
}
