#include <string.h>

#include "iohmm.h"
#include "models.h"

/* Forward and backward on a tree, then EM: filters are laws, expected counts are finite,
 * >= 0 and as many as there were starts, moves and sightings; no step of EM loses
 * likelihood; what it ends with are laws, with zeros where nothing is possible. */

/* Laws of the first state. */
#define STARTS 2

typedef struct {
  ibrc_iohmm_tree tree;
  int *parent, *action, *observation, *start;
  double *through, *ends;
} grown;

static grown take_tree(input *in, int U, int X) {
  const int n = take_int(in, 1, 40);
  const size_t room = (size_t)n;
  grown g = {.parent = ints(room),
             .action = ints(room),
             .observation = ints(room),
             .start = ints(room),
             .through = doubles(room),
             .ends = doubles(room)};
  for (int h = 0; h < n; h++) {
    g.parent[h] = h == 0 || take(in) < 16 ? -1 : take_int(in, 0, h - 1);
    g.action[h] = g.parent[h] < 0 ? -1 : take_int(in, 0, U - 1);
    g.observation[h] = g.parent[h] < 0 ? -1 : take_int(in, -1, X - 1);
    g.ends[h] = take(in) % 4;
    g.start[h] = g.parent[h] < 0 ? take_int(in, 0, STARTS - 1) : -1;
  }
  for (int h = 0; h < n; h++) g.through[h] = g.ends[h];
  for (int h = n - 1; h >= 0; h--) {
    if (g.parent[h] >= 0) g.through[g.parent[h]] += g.through[h];
  }
  ibrc_iohmm_tree tree = {.n_nodes = n,
                          .parent = g.parent,
                          .action = g.action,
                          .observation = g.observation,
                          .start = g.start,
                          .through = g.through,
                          .ends = g.ends};
  g.tree = tree;
  return g;
}

static void must_sum(const double *x, size_t n, double wanted, const char *what) {
  double sum = 0.0;
  for (size_t i = 0; i < n; i++) {
    must(x[i] >= 0.0 && isfinite(x[i]), what);
    sum += x[i];
  }
  must(fabs(sum - wanted) <= 1e-6 * (1.0 + wanted), what);
}

/* The kernel keeps futures below 1e290: a state that is less likely than this before
 * what is seen later, and the likelier one after it, may lose its count. So may one whose
 * chance together with what is seen is below the smallest normal number, and has lost
 * its digits. */
#define HARDLY 1e-280

static void check_passes(const grown *g, const ibrc_models *model, const double *start) {
  const size_t S = (size_t)model->n_states, U = (size_t)model->n_actions, X = (size_t)model->n_obs;
  const size_t nodes = (size_t)g->tree.n_nodes;
  double *filter = doubles(nodes * S), *future = doubles(nodes * S), *norm = doubles(nodes), log_lik;
  ibrc_iohmm_laws counts = {.n_starts = STARTS,
                            .start = doubles(S * STARTS),
                            .transition = doubles(S * S * U),
                            .emission = doubles(S * X * U)};
  int where = -1;
  double starts = 0.0, moves = 0.0, sightings = 0.0, least = 1.0;
  if (ibrc_iohmm_forward(&g->tree, model, start, filter, norm, &log_lik, &where) == IBRC_OK) {
    must(isfinite(log_lik) && log_lik <= 1e-6, "a log-likelihood");
    for (size_t h = 0; h < nodes; h++) {
      must_be_law(filter + h * S, (int)S, 1e-9, "a filter is a law");
      least = fmin(least, norm[h]);
      for (size_t s = 0; s < S; s++) {
        if (filter[h * S + s] > 0.0) least = fmin(least, filter[h * S + s] * fmin(norm[h], 1.0));
      }
      if (g->parent[h] < 0) starts += g->through[h];
      if (g->parent[h] >= 0) moves += g->through[h];
      if (g->observation[h] >= 0) sightings += g->through[h];
    }
    ibrc_iohmm_backward(&g->tree, model, filter, norm, future, &counts);
    for (size_t i = 0; i < nodes * S; i++) must(isfinite(future[i]), "a future is a number");
    if (least > HARDLY) {
      must_sum(counts.start, S * STARTS, starts, "counts of starts");
      must_sum(counts.transition, S * S * U, moves, "counts of moves");
      must_sum(counts.emission, S * X * U, sightings, "counts of sightings");
    }
  } else {
    must(where > 0 && where < g->tree.n_nodes, "where it was impossible");
    must(log_lik == -INFINITY, "impossible is impossible");
  }
  free(filter);
  free(future);
  free(norm);
  free(counts.start);
  free(counts.transition);
  free(counts.emission);
}

static void check_laws(const ibrc_models *size, const ibrc_iohmm_prior *prior,
                       const ibrc_iohmm_laws *laws) {
  const int S = size->n_states, X = size->n_obs;
  double *row = doubles((size_t)(S > X ? S : X));
  for (int g = 0; g < STARTS; g++) must_be_law(laws->start + g * S, S, 1e-9, "a law of the start");
  for (int u = 0; u < size->n_actions; u++) {
    for (int s = 0; s < S; s++) {
      for (int to = 0; to < S; to++) row[to] = laws->transition[(u * S + to) * S + s];
      must_be_law(row, S, 1e-9, "a law of moves");
      for (int x = 0; x < X; x++) {
        row[x] = laws->emission[(u * X + x) * S + s];
        must(prior->possible[u * X + x] || row[x] == 0.0, "impossible stays impossible");
      }
      must_be_law(row, X, 1e-9, "a law of sightings");
    }
  }
  free(row);
}

static void check_climb(input *in, const grown *g, const ibrc_models *size, double *start,
                        double *transition, double *emission) {
  const int U = size->n_actions, X = size->n_obs;
  double *extra = doubles((size_t)(U * X)), trace[8];
  int *possible = ints((size_t)(U * X));
  for (int i = 0; i < U * X; i++) {
    possible[i] = i % X == 0 || take(in) > 32;
    extra[i] = possible[i] ? take_share(in) : 0.0;
  }
  ibrc_iohmm_prior prior = {.start = take_share(in),
                            .transition = take_share(in),
                            .stay = take_share(in),
                            .emission = extra,
                            .possible = possible};
  ibrc_iohmm_task task = {.tree = &g->tree,
                          .prior = &prior,
                          .n_states = size->n_states,
                          .n_actions = U,
                          .n_obs = X,
                          .n_starts = STARTS,
                          .n_steps = 8,
                          .last = take(in) & 1,
                          .tolerance = 1e-6};
  ibrc_iohmm_climb climb = {
      .laws = {.n_starts = STARTS, .start = start, .transition = transition, .emission = emission},
      .previous = NAN,
      .trace = trace};
  /* The first maximisation puts the laws where the prior allows them. */
  double *work = doubles(ibrc_iohmm_doubles(&task));
  task.n_steps = 1;
  task.last = 0;
  ibrc_iohmm_em(&task, 1, 1, work, &climb);
  if (climb.code == IBRC_OK) check_laws(size, &prior, &climb.laws);
  climb.previous = NAN;
  task.n_steps = 8;
  if (climb.code == IBRC_OK) ibrc_iohmm_em(&task, 1, 1, work, &climb);
  must(climb.code != IBRC_LIKELIHOOD_FELL, "no step of EM loses likelihood");
  must(climb.steps >= 0 && climb.steps <= 8, "no more steps than allowed");
  if (climb.code == IBRC_OK) check_laws(size, &prior, &climb.laws);
  free(work);
  free(extra);
  free(possible);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  input in = {bytes, size};
  const int S = take_int(&in, 2, 4), U = take_int(&in, 1, 3), X = take_int(&in, 1, 4);
  ibrc_models model = take_models(&in, S, U, X, 1);
  double *start = doubles((size_t)(S * STARTS));
  for (int g = 0; g < STARTS; g++) take_law(&in, start + g * S, S, 1);
  grown g = take_tree(&in, U, X);
  check_passes(&g, &model, start);
  /* The laws are the harness's own storage. */
  check_climb(&in, &g, &model, start, (double *)(uintptr_t)model.transition,
              (double *)(uintptr_t)model.emission);
  free_models(&model);
  free(start);
  free(g.parent);
  free(g.action);
  free(g.observation);
  free(g.start);
  free(g.through);
  free(g.ends);
  return 0;
}
