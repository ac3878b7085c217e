#include "iohmm_bc.h"

#include <math.h>
#include <string.h>

#include "threads.h"

/* ---- laws and logarithms of weights ------------------------------------------------------- */

/* Shares of exp(x) over what is possible (NULL: all); entries `stride` apart. */
static void to_law(const double *x, const int *possible, size_t stride, size_t n, double *law) {
  double most = -INFINITY, sum = 0.0;
  for (size_t i = 0; i < n; i++) {
    if ((!possible || possible[i]) && x[i * stride] > most) most = x[i * stride];
  }
  for (size_t i = 0; i < n; i++) {
    law[i * stride] = !possible || possible[i] ? exp(x[i * stride] - most) : 0.0;
    sum += law[i * stride];
  }
  for (size_t i = 0; i < n; i++) law[i * stride] /= sum;
}

/* From slopes by a law to those by the logarithms of its weights, with those of a prior
 * sum_i extra_i log law_i; adds the prior to *total. */
static void to_slope(const double *law, const double *by_law, const double *extra, size_t stride,
                     size_t n, double *total, double *slope) {
  double mean = 0.0, counts = 0.0;
  for (size_t i = 0; i < n; i++) {
    mean += law[i * stride] * by_law[i * stride];
    counts += extra[i * stride];
    if (extra[i * stride] > 0.0) *total += extra[i * stride] * log(law[i * stride]);
  }
  for (size_t i = 0; i < n; i++) {
    const size_t at = i * stride;
    slope[at] = law[at] * (by_law[at] - mean - counts) + extra[at];
  }
}

/* The laws that parameters stand for, slopes by them and pseudo-counts, all of one shape: start
 * [state], transition [from, to, matrix] with one matrix per action or one for all, emission
 * [to, observation, action]. */
typedef struct {
  double *start, *transition, *emission;
} laws;

static size_t n_matrices(const ibrc_iohmm_bc_task *task) {
  return task->prior->shared ? 1 : (size_t)task->n_actions;
}

static size_t laws_size(const ibrc_iohmm_bc_task *task) {
  const size_t S = (size_t)task->n_states, U = (size_t)task->n_actions, X = (size_t)task->n_obs;
  return S + S * S * n_matrices(task) + S * X * U;
}

static laws laws_in(const ibrc_iohmm_bc_task *task, double *room) {
  const size_t S = (size_t)task->n_states;
  laws l = {.start = room, .transition = room + S};
  l.emission = l.transition + S * S * n_matrices(task);
  return l;
}

static void read_laws(const ibrc_iohmm_bc_task *task, const double *parameters, laws l) {
  const size_t S = (size_t)task->n_states, U = (size_t)task->n_actions, X = (size_t)task->n_obs;
  const double *transition = parameters + S, *emission = transition + S * S * n_matrices(task);
  to_law(parameters, NULL, 1, S, l.start);
  for (size_t s = 0; s < S; s++) {
    for (size_t m = 0; m < n_matrices(task); m++) {
      to_law(transition + m * S * S + s, NULL, S, S, l.transition + m * S * S + s);
    }
    for (size_t u = 0; u < U; u++) {
      to_law(emission + u * S * X + s, task->prior->possible + u * X, S, X,
             l.emission + u * S * X + s);
    }
  }
}

static void read_extra(const ibrc_iohmm_bc_task *task, laws extra) {
  const size_t S = (size_t)task->n_states, U = (size_t)task->n_actions, X = (size_t)task->n_obs;
  const ibrc_iohmm_prior *prior = task->prior;
  for (size_t s = 0; s < S; s++) extra.start[s] = prior->start;
  for (size_t i = 0; i < S * S * n_matrices(task); i++) {
    const size_t cell = i % (S * S);
    extra.transition[i] = prior->transition + (cell % S == cell / S ? prior->stay : 0.0);
  }
  for (size_t i = 0; i < U * X * S; i++) {
    extra.emission[i] = prior->possible[i / S] ? prior->emission[i / S] : 0.0;
  }
}

/* Slopes by logarithms of weights; returns the log prior. */
static double law_slopes(const ibrc_iohmm_bc_task *task, laws l, laws by, laws extra, laws slope) {
  const size_t S = (size_t)task->n_states, U = (size_t)task->n_actions, X = (size_t)task->n_obs;
  double total = 0.0;
  to_slope(l.start, by.start, extra.start, 1, S, &total, slope.start);
  for (size_t s = 0; s < S; s++) {
    for (size_t m = 0; m < n_matrices(task); m++) {
      const size_t at = m * S * S + s;
      to_slope(l.transition + at, by.transition + at, extra.transition + at, S, S, &total,
               slope.transition + at);
    }
    for (size_t u = 0; u < U; u++) {
      const size_t at = u * S * X + s;
      to_slope(l.emission + at, by.emission + at, extra.emission + at, S, X, &total,
               slope.emission + at);
    }
  }
  return total;
}

/* ---- what was done --------------------------------------------------------------------------- */

/* Room for one rule: centres and scores [state, action]; scores at a belief, shares of their
 * exponentials, and how much more often than expected actions were taken [action]. */
static size_t rule_doubles(const ibrc_iohmm_bc_task *task) {
  return (2 * (size_t)task->n_states + 3) * (size_t)task->n_actions;
}

/* Adds the log prior and the log probability of what was done, and their slopes by centres and
 * log kappa (set) and, unless NULL, by beliefs (set). */
static void choose(const ibrc_iohmm_bc_task *task, int n_nodes, const double *beliefs,
                   const double *parameters, double *room, ibrc_iohmm_bc_worth *worth,
                   double *slope, double *by_belief) {
  const size_t S = (size_t)task->n_states, U = (size_t)task->n_actions;
  const double log_sharpness = parameters[S * U], sharpness = exp(log_sharpness);
  double *centre = room, *score = centre + S * U, *at = score + S * U, *share = at + U;
  double *over = share + U;
  double by_sharpness = 0.0, log_prior = 0.0;
  /* -kappa |z - mu|^2 is linear in a belief, up to a number that is the same for all actions: its
   * values at the states are enough. */
  for (size_t u = 0; u < U; u++) {
    double mean = 0.0, square = 0.0;
    for (size_t s = 0; s < S; s++) mean += parameters[u * S + s] / (double)S;
    for (size_t s = 0; s < S; s++) {
      const double c = parameters[u * S + s] - mean + 1.0 / (double)S;
      centre[u * S + s] = c;
      square += c * c;
    }
    for (size_t s = 0; s < S; s++) {
      score[u * S + s] = sharpness * (2.0 * centre[u * S + s] - square);
    }
    over[u] = 0.0;
  }
  memset(slope, 0, (S * U + 1) * sizeof(double));
  if (by_belief) memset(by_belief, 0, (size_t)n_nodes * S * sizeof(double));
  for (size_t h = 0; h < (size_t)n_nodes; h++) {
    const double *taken = task->chosen + h * U, *z = beliefs + h * S;
    double count = 0.0, most = -INFINITY, sum = 0.0;
    for (size_t u = 0; u < U; u++) count += taken[u];
    if (!(count > 0.0)) continue;
    for (size_t u = 0; u < U; u++) {
      at[u] = 0.0;
      for (size_t s = 0; s < S; s++) at[u] += z[s] * score[u * S + s];
      if (at[u] > most) most = at[u];
    }
    for (size_t u = 0; u < U; u++) sum += share[u] = exp(at[u] - most);
    const double log_sum = most + log(sum);
    for (size_t u = 0; u < U; u++) {
      if (taken[u] > 0.0) worth->chosen += taken[u] * (at[u] - log_sum);
      const double more = taken[u] - count * share[u] / sum;
      over[u] += more;
      by_sharpness += more * at[u];
      for (size_t s = 0; s < S; s++) slope[u * S + s] += more * z[s];
      if (!by_belief) continue;
      for (size_t s = 0; s < S; s++) by_belief[h * S + s] += more * score[u * S + s];
    }
  }
  const double centre_weight = 1.0 / (task->centre_sd * task->centre_sd);
  /* Beliefs and centres sum to 1, so that slopes by a centre sum to 0: it stays on its plane. */
  for (size_t i = 0; i < S * U; i++) {
    const double off = centre[i] - 1.0 / (double)S;
    slope[i] = 2.0 * sharpness * (slope[i] - over[i / S] * centre[i]) - centre_weight * off;
    log_prior -= 0.5 * centre_weight * off * off;
  }
  if (!task->fixed) {
    const double weight = 1.0 / (task->log_sharpness_sd * task->log_sharpness_sd);
    const double off = log_sharpness - task->log_sharpness_mean;
    log_prior -= 0.5 * weight * off * off;
    slope[S * U] = by_sharpness - weight * off;
  }
  worth->objective += log_prior + worth->chosen;
}

/* Where the objective cannot be computed it is -infinity. */
static void settle(ibrc_iohmm_bc_worth *worth, double *slope, size_t n) {
  int finite = isfinite(worth->objective);
  for (size_t i = 0; i < n; i++) finite = finite && isfinite(slope[i]);
  if (worth->code == IBRC_OK && !finite) worth->code = IBRC_NOT_FINITE;
  if (worth->code == IBRC_OK) return;
  worth->objective = worth->seen = worth->chosen = -INFINITY;
  memset(slope, 0, n * sizeof(double));
}

size_t ibrc_iohmm_bc_choice_doubles(const ibrc_iohmm_bc_task *task) {
  return rule_doubles(task) + IBRC_GAP_DOUBLES;
}

void ibrc_iohmm_bc_choice(const ibrc_iohmm_bc_task *task, int n_nodes, const double *beliefs, int n,
                          int n_threads, double *doubles, const double *parameters,
                          ibrc_iohmm_bc_worth *worth, double *slope) {
  const size_t size = (size_t)task->n_states * (size_t)task->n_actions + 1;
  const size_t room = ibrc_iohmm_bc_choice_doubles(task);
  IBRC_PARALLEL_EACH(n_threads)
  for (int i = 0; i < n; i++) {
    const ibrc_iohmm_bc_worth none = {.code = IBRC_OK};
    const size_t at = (size_t)i * size;
    worth[i] = none;
    choose(task, n_nodes, beliefs, parameters + at, doubles + (size_t)ibrc_thread_number() * room,
           worth + i, slope + at, NULL);
    settle(worth + i, slope + at, size);
  }
}

/* ---- both -------------------------------------------------------------------------------------- */

/* Hands slopes by beliefs back from children to parents, and collects those by laws. `model` has a
 * transition for every action, `by` as many as there are matrices. */
static void hand_back(const ibrc_iohmm_bc_task *task, const ibrc_models *model,
                      const double *filter, const double *norm, double *by_belief, laws by) {
  const ibrc_iohmm_tree *tree = task->tree;
  const size_t S = (size_t)task->n_states, X = (size_t)task->n_obs;
  for (int h = tree->n_nodes - 1; h >= 0; h--) {
    const double *here = filter + (size_t)h * S;
    const double *mine = by_belief + (size_t)h * S;
    if (tree->parent[h] < 0) {
      for (size_t s = 0; s < S; s++) by.start[s] += mine[s];
      continue;
    }
    const size_t up = (size_t)tree->parent[h] * S, u = (size_t)tree->action[h];
    const double *from = filter + up, *column = ibrc_model_transition(model, (int)u, 0);
    const size_t shown = tree->observation[h] < 0
                             ? 0
                             : (u * X + (size_t)tree->observation[h]) * S;
    const double *seen = tree->observation[h] < 0 ? NULL : model->emission + shown;
    double *move = by.transition + (task->prior->shared ? 0 : u * S * S), *back = by_belief + up;
    double mean = 0.0;
    for (size_t s = 0; s < S; s++) mean += mine[s] * here[s];
    for (size_t to = 0; to < S; to++, column += S, move += S) {
      double weight = (mine[to] - mean + tree->through[h]) / norm[h];
      if (seen) {
        double p = 0.0;
        for (size_t s = 0; s < S; s++) p += from[s] * column[s];
        by.emission[shown + to] += weight * p;
        weight *= seen[to];
      }
      for (size_t s = 0; s < S; s++) {
        move[s] += weight * from[s];
        back[s] += weight * column[s];
      }
    }
  }
}

size_t ibrc_iohmm_bc_size(const ibrc_iohmm_bc_task *task) {
  return laws_size(task) + (size_t)task->n_states * (size_t)task->n_actions + 1;
}

size_t ibrc_iohmm_bc_doubles(const ibrc_iohmm_bc_task *task) {
  const size_t S = (size_t)task->n_states, U = (size_t)task->n_actions;
  return 3 * laws_size(task) + S * S * U + rule_doubles(task) +
         (size_t)task->tree->n_nodes * (2 * S + 1) + IBRC_GAP_DOUBLES;
}

static void evaluate(const ibrc_iohmm_bc_task *task, double *room, const double *parameters,
                     ibrc_iohmm_bc_worth *worth, double *slope) {
  const size_t S = (size_t)task->n_states, U = (size_t)task->n_actions, size = laws_size(task);
  const size_t nodes = (size_t)task->tree->n_nodes;
  const laws l = laws_in(task, room), by = laws_in(task, room + size),
             extra = laws_in(task, room + 2 * size);
  double *transition = room + 3 * size, *rule = transition + S * S * U;
  double *filter = rule + rule_doubles(task), *by_belief = filter + nodes * S;
  double *norm = by_belief + nodes * S;
  const ibrc_models model = {.n_states = task->n_states,
                             .n_actions = task->n_actions,
                             .n_obs = task->n_obs,
                             .n_models = 1,
                             .transition = transition,
                             .emission = l.emission};
  int where;
  read_laws(task, parameters, l);
  read_extra(task, extra);
  for (size_t u = 0; u < U; u++) {
    memcpy(transition + u * S * S, l.transition + (task->prior->shared ? 0 : u * S * S),
           S * S * sizeof(double));
  }
  worth->code =
      ibrc_iohmm_forward(task->tree, &model, l.start, filter, norm, &worth->seen, &where);
  if (worth->code != IBRC_OK) return;
  worth->objective = worth->seen;
  choose(task, task->tree->n_nodes, filter, parameters + size, rule, worth, slope + size,
         by_belief);
  memset(by.start, 0, size * sizeof(double));
  hand_back(task, &model, filter, norm, by_belief, by);
  worth->objective += law_slopes(task, l, by, extra, laws_in(task, slope));
}

void ibrc_iohmm_bc_joint(const ibrc_iohmm_bc_task *task, int n, int n_threads, double *doubles,
                         const double *parameters, ibrc_iohmm_bc_worth *worth, double *slope) {
  const size_t size = ibrc_iohmm_bc_size(task), room = ibrc_iohmm_bc_doubles(task);
  IBRC_PARALLEL_EACH(n_threads)
  for (int i = 0; i < n; i++) {
    const ibrc_iohmm_bc_worth none = {.code = IBRC_OK};
    const size_t at = (size_t)i * size;
    worth[i] = none;
    evaluate(task, doubles + (size_t)ibrc_thread_number() * room, parameters + at, worth + i,
             slope + at);
    settle(worth + i, slope + at, size);
  }
}
