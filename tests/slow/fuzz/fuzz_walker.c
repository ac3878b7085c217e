#include <string.h>

#include "belief.h"
#include "habit.h"
#include "loglik.h"
#include "models.h"
#include "policy.h"

/* The likelihood of a tree, as the walker carries beliefs along it, against every history
 * taken by itself from the root on, each belief located anew: the same policies, beliefs and
 * total to the last bit; impossible histories are so for both. */

typedef struct {
  ibrc_plan plan;
  ibrc_space space;
  ibrc_models models;
  int *layout;
  double *prior, *after, *weights, *action_value, *model_value, *policy, *sigma;
} agent;

static double *take_rows(input *in, size_t n_rows, int n, int law) {
  double *x = doubles(n_rows * (size_t)n);
  for (size_t r = 0; r < n_rows; r++) {
    if (law) take_law(in, x + r * (size_t)n, n, 1);
    for (int i = 0; !law && i < n; i++) x[r * (size_t)n + (size_t)i] = 4.0 * take_share(in) - 2.0;
  }
  return x;
}

static void take_agent(input *in, int S, int seen, agent *a) {
  const int U = take_int(in, 1, 3), M = take_int(in, 1, 3), most[] = {0, 0, 9, 4, 3};
  const int resolution = seen ? 1 : take_int(in, 1, most[S]);
  const ibrc_space_maker *maker = ibrc_space_find(seen ? "vertices" : "lattice");
  a->models = seen ? take_seen_models(in, S, U, M) : take_models(in, S, U, take_int(in, 1, 4), M);
  a->layout = ints(maker->layout(S, resolution));
  a->space = maker->make(S, resolution, a->layout);
  const size_t cells = (size_t)a->space.n_nodes * (size_t)U;
  a->prior = take_rows(in, 1, U, 1);
  a->after = NULL;
  if (take(in) & 1) {
    a->after = doubles((size_t)U * (size_t)U);
    ibrc_habit_priors(a->prior, NULL, U, 8.0 * take_share(in) - 4.0, a->after);
    for (int u = 0; u < U; u++) must_be_law(a->after + u * U, U, 1e-12, "a prior after an action is a law");
  }
  a->weights = take_rows(in, 1, M, 1);
  a->action_value = take_rows(in, (size_t)a->space.n_nodes, U, 0);
  a->model_value = take_rows(in, cells, M, 0);
  a->policy = take_rows(in, (size_t)a->space.n_nodes, U, 1);
  a->sigma = take_rows(in, cells, M, 1);
  ibrc_plan plan = {.space = &a->space,
                    .n_actions = U,
                    .n_models = M,
                    .by_value = take(in) & 1,
                    .alpha = ibrc_temperature_from(0.1 + take_share(in)),
                    .beta = ibrc_temperature_from(0.1 - take_share(in)),
                    .action_prior = a->prior,
                    .after = a->after,
                    .model_weights = a->weights,
                    .action_value = a->action_value,
                    .model_value = a->model_value,
                    .policy = a->policy,
                    .sigma = a->sigma};
  a->plan = plan;
}

static void free_agent(agent *a) {
  free(a->layout);
  free(a->prior);
  free(a->after);
  free(a->weights);
  free(a->action_value);
  free(a->model_value);
  free(a->policy);
  free(a->sigma);
  free_models(&a->models);
}

typedef struct {
  ibrc_history history;
  int *parent, *action, *observation, *first_child, *next_sibling, *stops, start[2];
  double *count;
} tree;

static void take_tree(input *in, const ibrc_models *models, tree *t) {
  const int n = take_int(in, 1, 24);
  const size_t room = (size_t)n;
  t->parent = ints(room);
  t->action = ints(room);
  t->observation = ints(room);
  t->first_child = ints(room);
  t->next_sibling = ints(room);
  t->stops = ints((size_t)models->n_actions);
  t->count = doubles(room * (size_t)models->n_actions);
  for (int u = 0; u < models->n_actions; u++) t->stops[u] = take(in) % 4 == 0;
  const int n_roots = n > 1 && take(in) % 2 ? 2 : 1;
  t->start[0] = take(in) % 2;
  t->start[1] = 1 - t->start[0];
  int n_unseen = 0;
  for (int h = 0; h < n; h++) {
    const int is_root = h < n_roots;
    t->parent[h] = is_root ? -1 : take_int(in, 0, h - 1);
    t->action[h] = is_root ? -1 : take_int(in, 0, models->n_actions - 1);
    if (take(in) % 8 == 0) t->action[h] = IBRC_NO_ACTION;
    t->observation[h] = is_root ? -1 : take_int(in, -1, models->n_obs - 1);
    n_unseen += t->observation[h] < 0;
    for (int u = 0; u < models->n_actions; u++) {
      t->count[(size_t)h * (size_t)models->n_actions + (size_t)u] = take(in) % 3;
    }
  }
  ibrc_history_link(n, t->parent, t->first_child, t->next_sibling);
  ibrc_history history = {.n_histories = n,
                          .n_actions = models->n_actions,
                          .n_roots = n_roots,
                          .n_unseen = n_unseen,
                          .start = t->start,
                          .parent = t->parent,
                          .action = t->action,
                          .observation = t->observation,
                          .count = t->count,
                          .stops = t->stops,
                          .first_child = t->first_child,
                          .next_sibling = t->next_sibling};
  t->history = history;
}

static void free_tree(tree *t) {
  free(t->parent);
  free(t->action);
  free(t->observation);
  free(t->first_child);
  free(t->next_sibling);
  free(t->stops);
  free(t->count);
}

/* At one belief by itself. */
static void log_policy_at(const agent *a, const ibrc_corners *corners, int last, double *log_policy) {
  double *work = doubles(ibrc_policy_many_doubles(&a->plan, 1));
  ibrc_policy_log_many(&a->plan, &corners, 1, last, work, log_policy);
  free(work);
}

static void sigma_at(const agent *a, const ibrc_corners *corners, int action, double *sigma) {
  double *work = doubles(ibrc_policy_many_doubles(&a->plan, 1)), alone[3];
  ibrc_policy_sigma_many(&a->plan, &corners, 1, action, work, sigma);
  ibrc_policy_sigma_at(&a->plan, corners, action, work, alone);
  for (int m = 0; m < a->plan.n_models; m++) {
    must(fabs(alone[m] - sigma[m]) <= 1e-12, "one sigma is one of many");
  }
  free(work);
}

/* The next belief where it is not known what was done, from `belief`, which lies at the corners. */
static int belief_after_any(const agent *a, const int *stops, int last, int observation,
                            const ibrc_corners *corners, double *scratch, double *belief) {
  const int S = a->space.n_states, U = a->plan.n_actions;
  double log_policy[3], sigma[3][3], weight[3], next[4], mean[4] = {0.0};
  double most = -INFINITY, mass = 0.0;
  log_policy_at(a, corners, last, log_policy);
  for (int u = 0; u < U; u++) {
    sigma_at(a, corners, u, sigma[u]);
    const double chance =
        ibrc_belief_chance(&a->models, sigma[u], belief, u, observation, scratch);
    weight[u] = stops[u] ? -INFINITY : log_policy[u] + log(chance);
    most = fmax(most, weight[u]);
  }
  if (most == -INFINITY) return 0;
  for (int u = 0; u < U; u++) {
    const double share = exp(weight[u] - most);
    if (!(share > 0.0)) continue;
    must(ibrc_belief_recognise(&a->models, sigma[u], belief, u, observation, scratch, next) ==
             IBRC_OK,
         "what has a chance can be recognised");
    for (int s = 0; s < S; s++) mean[s] += share * next[s];
    mass += share;
  }
  for (int s = 0; s < S; s++) belief[s] = mean[s] / mass;
  return 1;
}

/* The belief at `h`, all the way from the start; 0 where it is impossible. */
static int belief_by_itself(const agent *a, const tree *t, int h, const double *start,
                            ibrc_corners *corners, double *scratch, double *belief) {
  const ibrc_models *models = &a->models;
  if (t->parent[h] < 0) {
    const size_t at = (size_t)t->start[h] * (size_t)models->n_states;
    memcpy(belief, start + at, (size_t)models->n_states * sizeof(double));
    return 1;
  }
  if (!belief_by_itself(a, t, t->parent[h], start, corners, scratch, belief)) return 0;
  double sigma[3];
  ibrc_space_locate(&a->space, belief, corners);
  if (t->action[h] == IBRC_NO_ACTION) {
    const int before = t->action[t->parent[h]];
    return belief_after_any(a, t->stops, before, t->observation[h], corners, scratch, belief);
  }
  sigma_at(a, corners, t->action[h], sigma);
  return ibrc_belief_recognise(models, sigma, belief, t->action[h], t->observation[h], scratch,
                               belief) == IBRC_OK;
}

static void check(const agent *a, const tree *t, const double *start) {
  const int U = a->plan.n_actions, S = a->space.n_states, H = t->history.n_histories;
  const size_t cells = (size_t)H * (size_t)U, numbers = (size_t)H * (size_t)S;
  double *work = doubles(ibrc_loglik_doubles(&t->history, &a->plan, &a->models));
  int *more = ints(ibrc_loglik_ints(&t->history, &a->plan));
  int *likeliest = ints((size_t)H), *corner_ints = ints(ibrc_corners_ints(&a->space));
  double *log_policy = doubles(cells), *beliefs = doubles(numbers), *surest = doubles((size_t)H);
  double *corner_doubles = doubles(ibrc_corners_doubles(&a->space));
  double *belief = doubles((size_t)S), *scratch = doubles(2 * (size_t)S), row[3];
  const ibrc_loglik_result all = {
      .log_policy = log_policy, .beliefs = beliefs, .likeliest = likeliest, .surest = surest};
  const ibrc_loglik_result none = {.log_policy = NULL};
  const double total =
      ibrc_loglik(&t->history, &a->plan, &a->models, start, work, more, NULL, &all);
  must(ibrc_loglik(&t->history, &a->plan, &a->models, start, work, more, NULL, &none) == total,
       "the total is the total");
  ibrc_corners corners = ibrc_corners_over(&a->space, corner_ints, corner_doubles);
  /* The total is a sum in the order in which histories are looked at: children after all that
   * stood before their parent. */
  int *order = ints((size_t)H), n_order = t->history.n_roots;
  for (int h = 0; h < n_order; h++) order[h] = h;
  for (int k = 0; k < n_order; k++) {
    int child = t->first_child[order[k]];
    for (; child >= 0; child = t->next_sibling[child]) order[n_order++] = child;
  }
  must(n_order == H, "every history is looked at");
  double sum = 0.0;
  for (int k = 0; k < H; k++) {
    const int h = order[k];
    double part = 0.0;
    const double *found = beliefs + (size_t)h * (size_t)S;
    const int possible = belief_by_itself(a, t, h, start, &corners, scratch, belief);
    must(possible == !isnan(found[0]) && possible == (likeliest[h] >= 0), "possible for both");
    for (int u = 0; u < U; u++) row[u] = -INFINITY;
    if (possible) {
      must(memcmp(found, belief, (size_t)S * sizeof(double)) == 0, "the same belief");
      must(surest[h] == belief[likeliest[h]], "as sure as the belief");
      for (int s = 0; s < S; s++) must(belief[s] <= surest[h], "and of the likeliest");
      ibrc_space_locate(&a->space, belief, &corners);
      log_policy_at(a, &corners, t->action[h], row);
    }
    for (int u = 0; u < U; u++) {
      const double count = t->count[(size_t)h * (size_t)U + (size_t)u];
      must(row[u] == log_policy[(size_t)h * (size_t)U + (size_t)u], "the same policy");
      if (count > 0.0) part += count * row[u];
    }
    sum += part;
  }
  must(isnan(sum) ? total == -INFINITY : total == sum, "the same sum");
  free(work);
  free(more);
  free(order);
  free(likeliest);
  free(corner_ints);
  free(log_policy);
  free(beliefs);
  free(surest);
  free(corner_doubles);
  free(belief);
  free(scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  input in = {bytes, size};
  const int S = take_int(&in, 2, 4), seen = take(&in) & 1;
  agent a;
  tree t;
  take_agent(&in, S, seen, &a);
  take_tree(&in, &a.models, &t);
  double *start = doubles(2 * (size_t)S);
  for (int g = 0; g < 2; g++) take_law(&in, start + g * S, S, 1);
  check(&a, &t, start);
  free(start);
  free_tree(&t);
  free_agent(&a);
  return 0;
}
