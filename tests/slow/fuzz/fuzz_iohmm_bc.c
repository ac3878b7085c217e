#include <string.h>

#include "input.h"
#include "iohmm_bc.h"

/* Cloning from beliefs: the worth of parameters is that of its parts, slopes are finite and, where
 * numbers are moderate, those of the objective; slopes have no part along what changes nothing. */

typedef struct {
  int *parent, *action, *observation, *start, *possible;
  double *through, *chosen, *extra;
} grown;

static grown take_tree(input *in, int n, int U, int X) {
  const size_t room = (size_t)n, pairs = (size_t)(U * X);
  grown g = {ints(room), ints(room), ints(room), ints(room), ints(pairs),
             doubles(room), doubles(room * (size_t)U), doubles(pairs)};
  for (int h = 0; h < n; h++) {
    g.parent[h] = h == 0 || take(in) < 16 ? -1 : take_int(in, 0, h - 1);
    g.action[h] = g.parent[h] < 0 ? -1 : take_int(in, 0, U - 1);
    g.observation[h] = g.parent[h] < 0 ? -1 : take_int(in, -1, X - 1);
    g.start[h] = 0;
    g.through[h] = take(in) % 4;
    for (int u = 0; u < U; u++) g.chosen[h * U + u] = take(in) % 3;
  }
  for (int i = 0; i < U * X; i++) {
    g.possible[i] = i % X == 0 || take(in) > 32;
    g.extra[i] = take_share(in);
  }
  return g;
}

static double worth_of(const ibrc_iohmm_bc_task *task, const double *x, double *slope,
                       ibrc_iohmm_bc_worth *worth) {
  double *room = doubles(ibrc_iohmm_bc_doubles(task));
  ibrc_iohmm_bc_joint(task, 1, 1, room, x, worth, slope);
  free(room);
  return worth->objective;
}

static void check_slopes(const ibrc_iohmm_bc_task *task, const double *x, const double *slope) {
  const size_t size = ibrc_iohmm_bc_size(task);
  const double step = 1e-5;
  double *moved = doubles(size), *unused = doubles(size);
  double norm = 0.0, along = 0.0, value[2];
  ibrc_iohmm_bc_worth worth;
  for (size_t k = 0; k < size; k++) norm += pow(sin((double)k + 1.0), 2.0);
  norm = sqrt(norm);
  for (size_t k = 0; k < size; k++) along += slope[k] * sin((double)k + 1.0) / norm;
  if (task->fixed) along -= slope[size - 1] * sin((double)size) / norm;
  for (int side = 0; side < 2; side++) {
    const double by = side ? step : -step;
    for (size_t k = 0; k < size; k++) moved[k] = x[k] + by * sin((double)k + 1.0) / norm;
    if (task->fixed) moved[size - 1] = x[size - 1];
    value[side] = worth_of(task, moved, unused, &worth);
  }
  must(fabs((value[1] - value[0]) / (2.0 * step) - along) <= 1e-4 * (1.0 + fabs(along)),
       "slopes are those of the objective");
  free(moved);
  free(unused);
}

static void check(const ibrc_iohmm_bc_task *task, const double *x, int moderate) {
  const size_t size = ibrc_iohmm_bc_size(task), S = (size_t)task->n_states;
  double *slope = doubles(size), start = 0.0;
  ibrc_iohmm_bc_worth worth;
  memset(slope, 0, size * sizeof(double));
  worth_of(task, x, slope, &worth);
  if (worth.code == IBRC_OK) {
    must(isfinite(worth.objective) && worth.seen <= 1e-6 && worth.chosen <= 1e-6, "a worth");
    must(worth.objective <= worth.seen + worth.chosen + 1e-6 * (1.0 + fabs(worth.objective)),
         "no prior is above its top");
    double most = 1.0;
    for (size_t k = 0; k < size; k++) {
      must(isfinite(slope[k]), "finite slopes");
      most = fmax(most, fabs(slope[k]));
    }
    for (size_t s = 0; s < S; s++) start += slope[s];
    if (moderate) must(fabs(start) <= 1e-9 * most, "weights of the start together change nothing");
    if (moderate) check_slopes(task, x, slope);
  } else {
    must(worth.objective == -INFINITY, "what cannot be told has no worth");
    for (size_t k = 0; k < size; k++) must(slope[k] == 0.0, "and no slopes");
  }
  free(slope);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  input in = {bytes, size};
  const int S = take_int(&in, 2, 4), U = take_int(&in, 1, 3), X = take_int(&in, 1, 4);
  const int n = take_int(&in, 1, 20), moderate = take(&in) % 4 != 3;
  grown g = take_tree(&in, n, U, X);
  /* What was seen can be. */
  for (int h = 0; h < n && moderate; h++) {
    if (g.observation[h] >= 0) g.possible[g.action[h] * X + g.observation[h]] = 1;
  }
  const ibrc_iohmm_tree tree = {.n_nodes = n,
                                .parent = g.parent,
                                .action = g.action,
                                .observation = g.observation,
                                .start = g.start,
                                .through = g.through};
  const ibrc_iohmm_prior prior = {.start = take_share(&in),
                                  .transition = take_share(&in),
                                  .stay = take_share(&in),
                                  .emission = g.extra,
                                  .possible = g.possible,
                                  .shared = (int)(take(&in) & 1)};
  const ibrc_iohmm_bc_task task = {.tree = &tree,
                                   .chosen = g.chosen,
                                   .prior = &prior,
                                   .n_states = S,
                                   .n_actions = U,
                                   .n_obs = X,
                                   .centre_sd = take(&in) & 1 ? 2.0 : INFINITY,
                                   .log_sharpness_mean = 1.0,
                                   .log_sharpness_sd = take(&in) & 1 ? 1.5 : INFINITY,
                                   .fixed = (int)(take(&in) & 1)};
  const size_t n_parameters = ibrc_iohmm_bc_size(&task);
  double *x = doubles(n_parameters);
  for (size_t k = 0; k < n_parameters; k++) {
    x[k] = moderate ? (double)(int8_t)take(&in) / 64.0 : take_double(&in);
  }
  check(&task, x, moderate);
  free(x);
  free(g.parent);
  free(g.action);
  free(g.observation);
  free(g.start);
  free(g.possible);
  free(g.through);
  free(g.chosen);
  free(g.extra);
  return 0;
}
