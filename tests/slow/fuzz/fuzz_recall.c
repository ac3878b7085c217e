#include <string.h>

#include "models.h"
#include "recall.h"

/* Q-learning on the last visits: numbers of histories are those of their visits, each history has
 * one row and is found there, by its longest end as well; every visit is one trial; values stay
 * within what utilities allow; a run is the same however it is cut. Behaviour takes only what
 * the policy of the right row allows. */

typedef struct {
  int visit[8]; /* from 1, the last one last */
  int length;
} plain;

static void remember(plain *h, int memory, int visit) {
  if (h->length == memory) {
    memmove(h->visit, h->visit + 1, (size_t)(memory - 1) * sizeof(int));
    h->length--;
  }
  h->visit[h->length++] = visit;
}

/* Of its last n visits. */
static uint64_t number_of(const ibrc_recall *recall, const plain *h, int n) {
  uint64_t number = 0;
  for (int i = h->length - n; i < h->length; i++) number = number * recall->base + (uint64_t)h->visit[i];
  return number;
}

static int row_by_looking(const double *key, int n, uint64_t number) {
  for (int i = 0; i < n; i++) {
    if (key[i] == (double)number) return i;
  }
  return -1;
}

static int longest_by_looking(const ibrc_recall *recall, const double *key, int n, const plain *h) {
  for (int length = h->length; length >= 0; length--) {
    const int row = row_by_looking(key, n, number_of(recall, h, length));
    if (row >= 0) return row;
  }
  return -1;
}

static ibrc_recall_table empty_table(int room, int U) {
  const size_t n = (size_t)room, cells = n * (size_t)U;
  ibrc_recall_table table = {
      .n = 0, .room = room, .key = doubles(n), .action_value = doubles(cells), .tried = doubles(cells)};
  return table;
}

static void free_table(ibrc_recall_table *table) {
  free(table->key);
  free(table->action_value);
  free(table->tried);
}

static void learn(const ibrc_recall_learner *learner, int n, const double *noise,
                  ibrc_recall_walk *walk, ibrc_recall_table *table) {
  int *places = ints(ibrc_recall_index_ints((size_t)table->room));
  ibrc_recall_learn(learner, n, noise, places, walk, table);
  free(places);
}

static void check_table(const ibrc_recall_learner *learner, const ibrc_recall_table *table, int n) {
  const int U = learner->recall->n_actions, S = learner->environment->n_states;
  int *places = ints(ibrc_recall_index_ints((size_t)table->n));
  const ibrc_recall_index index =
      ibrc_recall_index_over(table->key, (size_t)table->n, (size_t)table->n, places);
  double most = 0.0, trials = 0.0;
  for (int i = 0; i < S * U; i++) most = fmax(most, fabs(learner->utility[i]));
  most = most / (1.0 - learner->discount) * (1.0 + 1e-9);
  for (int i = 0; i < table->n; i++) {
    must(table->key[i] < (double)learner->recall->most, "a number of a history");
    must(ibrc_recall_find(&index, (uint64_t)table->key[i]) == i, "each history has its own row");
    must(row_by_looking(table->key, table->n, (uint64_t)table->key[i]) == i, "and but one");
    for (int u = 0; u < U; u++) {
      trials += table->tried[i * U + u];
      must(fabs(table->action_value[i * U + u]) <= most + 1e-300, "no value beyond utilities");
    }
  }
  must(trials == (double)n, "every visit is a trial");
  free(places);
}

static void check_behaviour(input *in, const ibrc_recall_learner *learner, int memory,
                            const ibrc_recall_table *table) {
  const ibrc_recall *recall = learner->recall;
  const int U = recall->n_actions, horizon = take_int(in, 1, 12), n = table->n;
  double *policy = doubles((size_t)n * (size_t)U), *otherwise = doubles((size_t)U);
  double *noise = doubles(1 + 3 * (size_t)horizon);
  int *places = ints(ibrc_recall_index_ints((size_t)n)), *stops = ints((size_t)U);
  int *action = ints((size_t)horizon), *observation = ints((size_t)horizon);
  for (int i = 0; i < n; i++) take_law(in, policy + i * U, U, 1);
  take_law(in, otherwise, U, 1);
  for (int u = 0; u < U; u++) stops[u] = take(in) % 4 == 0;
  for (int i = 0; i < 1 + 3 * horizon; i++) noise[i] = take_int(in, 0, 65535) / 65536.0;
  const ibrc_recall_index index = ibrc_recall_index_over(table->key, (size_t)n, (size_t)n, places);
  const ibrc_recall_rollout rollout = {.recall = recall,
                                       .index = &index,
                                       .policy = policy,
                                       .otherwise = otherwise,
                                       .environment = learner->environment,
                                       .start = learner->start,
                                       .stops = stops,
                                       .horizon = horizon};
  const int length = ibrc_recall_run(&rollout, 0, noise, action, observation);
  must(length >= 1 && length <= horizon, "some visits");
  plain h = {.length = 0};
  uint64_t history = 0;
  for (int t = 0; t < length; t++) {
    const int row = longest_by_looking(recall, table->key, n, &h);
    must(history == number_of(recall, &h, h.length), "a history is its visits");
    must(ibrc_recall_longest(recall, &index, history) == row, "the longest end that is known");
    must(action[t] >= 0 && action[t] < U, "an action");
    must(observation[t] >= 0 && observation[t] < recall->n_obs, "an observation");
    must((row < 0 ? otherwise : policy + row * U)[action[t]] > 0.0, "what the policy allows");
    must(!stops[action[t]] == (t < length - 1) || t == horizon - 1, "a stop ends it");
    history = ibrc_recall_after(recall, history, action[t], observation[t]);
    remember(&h, memory, action[t] * recall->n_obs + observation[t] + 1);
  }
  free(policy);
  free(otherwise);
  free(noise);
  free(places);
  free(stops);
  free(action);
  free(observation);
}

static void check_learning(const ibrc_recall_learner *learner, int n, const double *noise,
                           ibrc_recall_table *table) {
  const size_t U = (size_t)learner->recall->n_actions;
  ibrc_recall_walk walk = {.state = 0}, other = {.state = 0};
  ibrc_recall_table again = empty_table(n, (int)U);
  const int cut = n / 3;
  learn(learner, n, noise, &walk, table);
  learn(learner, cut, noise, &other, &again);
  learn(learner, n - cut, noise + (size_t)cut * IBRC_RECALL_NOISE, &other, &again);
  const size_t rows = (size_t)table->n;
  must(again.n == table->n && other.state == walk.state && other.visit == walk.visit &&
           other.history == walk.history,
       "cut, it ends in the same place");
  must(memcmp(again.key, table->key, rows * sizeof(double)) == 0 &&
           memcmp(again.tried, table->tried, rows * U * sizeof(double)) == 0 &&
           memcmp(again.action_value, table->action_value, rows * U * sizeof(double)) == 0,
       "cut, the same is learned");
  must(walk.visit >= 1 && walk.visit <= learner->episode, "within an episode");
  check_table(learner, table, n);
  free_table(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  input in = {bytes, size};
  const int S = take_int(&in, 2, 4), U = take_int(&in, 1, 3), memory = take_int(&in, 1, 5);
  const int n = take_int(&in, 1, 60);
  ibrc_models world = take(&in) & 1 ? take_seen_models(&in, S, U, 1)
                                    : take_models(&in, S, U, take_int(&in, 1, 3), 1);
  const ibrc_recall recall = ibrc_recall_of(U, world.n_obs, memory);
  must(recall.most > 0, "a memory of that length fits");
  must(ibrc_recall_of(U + 1, world.n_obs, 54).most == 0, "one of any length does not");
  double *utility = doubles((size_t)S * (size_t)U), *start = doubles((size_t)S);
  double *noise = doubles((size_t)n * IBRC_RECALL_NOISE);
  double least = INFINITY, most = -INFINITY;
  for (int i = 0; i < S * U; i++) {
    utility[i] = take_double(&in);
    least = fmin(least, utility[i]);
    most = fmax(most, utility[i]);
  }
  take_law(&in, start, S, 1);
  for (int i = 0; i < n * IBRC_RECALL_NOISE; i++) noise[i] = take_int(&in, 0, 65535) / 65535.0;
  const double discount = 0.999 * take_share(&in);
  const ibrc_recall_learner learner = {.recall = &recall,
                                       .environment = &world,
                                       .start = start,
                                       .utility = utility,
                                       .discount = discount,
                                       .exploration = take_share(&in),
                                       .initial = (least + most) / 2.0 / (1.0 - discount),
                                       .episode = take_int(&in, 1, 20)};
  ibrc_recall_table table = empty_table(n, U);
  check_learning(&learner, n, noise, &table);
  check_behaviour(&in, &learner, memory, &table);
  free_table(&table);
  free(utility);
  free(start);
  free(noise);
  free_models(&world);
  return 0;
}
