#include "iohmm.h"

#include <math.h>
#include <string.h>

#include "threads.h"

/* omega(x | u, .) at a node, or NULL where nothing was seen. */
static const double *seen_at(const ibrc_iohmm_tree *tree, const ibrc_models *model, int h) {
  if (tree->observation[h] < 0) return NULL;
  return ibrc_model_emission(model, tree->action[h], 0) +
         (size_t)tree->observation[h] * (size_t)model->n_states;
}

ibrc_code ibrc_iohmm_forward(const ibrc_iohmm_tree *tree, const ibrc_models *model,
                             const double *start, double *filter, double *norm, double *log_lik,
                             int *where) {
  const size_t S = (size_t)model->n_states;
  double total = 0.0;
  *log_lik = -INFINITY;
  for (int h = 0; h < tree->n_nodes; h++) {
    double *here = filter + (size_t)h * S;
    norm[h] = 1.0;
    if (tree->parent[h] < 0) {
      memcpy(here, start + (size_t)tree->start[h] * S, S * sizeof(double));
      continue;
    }
    const double *from = filter + (size_t)tree->parent[h] * S;
    const double *column = ibrc_model_transition(model, tree->action[h], 0);
    const double *seen = seen_at(tree, model, h);
    double sum = 0.0;
    for (size_t to = 0; to < S; to++, column += S) {
      double p = 0.0;
      for (size_t s = 0; s < S; s++) p += from[s] * column[s];
      here[to] = seen ? p * seen[to] : p;
      sum += here[to];
    }
    if (!(sum > 0.0)) {
      *where = h;
      return isnan(sum) ? IBRC_NOT_FINITE : IBRC_IMPOSSIBLE_OBSERVATION;
    }
    norm[h] = sum;
    for (size_t s = 0; s < S; s++) here[s] /= sum;
    total += tree->through[h] * log(sum);
  }
  *log_lik = total;
  return isfinite(total) ? IBRC_OK : IBRC_NOT_FINITE;
}

void ibrc_iohmm_clear(const ibrc_models *size, const ibrc_iohmm_laws *counts) {
  const size_t S = (size_t)size->n_states, U = (size_t)size->n_actions, X = (size_t)size->n_obs;
  memset(counts->start, 0, S * (size_t)counts->n_starts * sizeof(double));
  memset(counts->transition, 0, S * S * U * sizeof(double));
  memset(counts->emission, 0, S * X * U * sizeof(double));
}

/* A state that is hardly possible has a future that may grow without bound, with weight 0: keep it
 * a finite number. */
static double bounded(double x) { return x < 1e290 ? x : 1e290; }

void ibrc_iohmm_backward(const ibrc_iohmm_tree *tree, const ibrc_models *model,
                         const double *filter, const double *norm, double *future,
                         const ibrc_iohmm_laws *counts) {
  const size_t S = (size_t)model->n_states, X = (size_t)model->n_obs;
  ibrc_iohmm_clear(model, counts);
  for (int h = 0; h < tree->n_nodes; h++) {
    for (size_t s = 0; s < S; s++) future[(size_t)h * S + s] = tree->ends[h];
  }
  for (int h = tree->n_nodes - 1; h >= 0; h--) {
    const double *here = filter + (size_t)h * S;
    double *mine = future + (size_t)h * S;
    for (size_t s = 0; s < S; s++) mine[s] = bounded(mine[s]);
    if (tree->parent[h] < 0) {
      double *begun = counts->start + (size_t)tree->start[h] * S;
      for (size_t s = 0; s < S; s++) begun[s] += here[s] * mine[s];
      continue;
    }
    const size_t u = (size_t)tree->action[h], up = (size_t)tree->parent[h] * S;
    const double *seen = seen_at(tree, model, h), *from = filter + up;
    const double *column = ibrc_model_transition(model, (int)u, 0);
    double *count = counts->transition + u * S * S, *back = future + up;
    for (size_t to = 0; to < S; to++, column += S, count += S) {
      /* Not times 1 / norm: that overflows where both probabilities are tiny. */
      const double weight = bounded(bounded((seen ? seen[to] : 1.0) / norm[h]) * mine[to]);
      for (size_t s = 0; s < S; s++) {
        back[s] += column[s] * weight;
        count[s] += from[s] * weight;
      }
    }
    if (seen) {
      double *shown = counts->emission + (u * X + (size_t)tree->observation[h]) * S;
      for (size_t s = 0; s < S; s++) shown[s] += here[s] * mine[s];
    }
  }
  /* Every count of a move contains its probability as a factor. */
  const size_t moves = S * S * (size_t)model->n_actions;
  for (size_t i = 0; i < moves; i++) counts->transition[i] *= model->transition[i];
}

/* One law from its counts: entries `stride` apart; where possible is NULL all are. */
static void normalise(const double *count, const double *extra, const int *possible, size_t stride,
                      size_t n, double *law) {
  double sum = 0.0, open = 0.0;
  for (size_t i = 0; i < n; i++) {
    const int may = !possible || possible[i];
    law[i * stride] = may ? count[i * stride] + extra[i] : 0.0;
    sum += law[i * stride];
    open += may;
  }
  for (size_t i = 0; i < n; i++) {
    const int may = !possible || possible[i];
    if (may) law[i * stride] = sum > 0.0 ? law[i * stride] / sum : 1.0 / open;
  }
}

/* Counts of a shared matrix are those of all actions together. */
static void pool_actions(size_t cells, size_t n_actions, double *transition) {
  for (size_t i = 0; i < cells; i++) {
    for (size_t u = 1; u < n_actions; u++) transition[i] += transition[u * cells + i];
    for (size_t u = 1; u < n_actions; u++) transition[u * cells + i] = transition[i];
  }
}

void ibrc_iohmm_maximise(const ibrc_models *size, const ibrc_iohmm_prior *prior,
                         const ibrc_iohmm_laws *counts, const ibrc_iohmm_laws *laws) {
  const size_t S = (size_t)size->n_states, U = (size_t)size->n_actions, X = (size_t)size->n_obs;
  for (int g = 0; g < counts->n_starts; g++) {
    const double *count = counts->start + (size_t)g * S;
    double *law = laws->start + (size_t)g * S, sum = 0.0;
    for (size_t s = 0; s < S; s++) sum += count[s] + prior->start;
    for (size_t s = 0; s < S; s++) law[s] = sum > 0.0 ? (count[s] + prior->start) / sum : 1.0 / (double)S;
  }
  if (prior->shared) pool_actions(S * S, U, counts->transition);
  for (size_t u = 0; u < U; u++) {
    for (size_t from = 0; from < S; from++) {
      const double *count = counts->transition + u * S * S + from;
      double *law = laws->transition + u * S * S + from, sum = 0.0;
      for (size_t to = 0; to < S; to++) {
        law[to * S] = count[to * S] + prior->transition + (to == from ? prior->stay : 0.0);
        sum += law[to * S];
      }
      for (size_t to = 0; to < S; to++) {
        law[to * S] = sum > 0.0 ? law[to * S] / sum : 1.0 / (double)S;
      }
    }
    for (size_t s = 0; s < S; s++) {
      normalise(counts->emission + u * S * X + s, prior->emission + u * X, prior->possible + u * X,
                S, X, laws->emission + u * S * X + s);
    }
  }
}

/* a log p, where nothing is added also at p = 0. */
static double weighed(double a, double p) { return a > 0.0 ? a * log(p) : 0.0; }

double ibrc_iohmm_log_prior(const ibrc_models *model, const double *start, int n_starts,
                            const ibrc_iohmm_prior *prior) {
  const size_t S = (size_t)model->n_states, U = (size_t)model->n_actions, X = (size_t)model->n_obs;
  double total = 0.0;
  for (size_t i = 0; i < S * (size_t)n_starts; i++) total += weighed(prior->start, start[i]);
  for (size_t u = 0; u < U; u++) {
    const double *transition = ibrc_model_transition(model, (int)u, 0);
    const double *emission = ibrc_model_emission(model, (int)u, 0);
    for (size_t i = 0; i < S * S && (u == 0 || !prior->shared); i++) {
      const double stay = i % S == i / S ? prior->stay : 0.0;
      total += weighed(prior->transition + stay, transition[i]);
    }
    for (size_t i = 0; i < S * X; i++) {
      const size_t x = u * X + i / S;
      if (prior->possible[x]) total += weighed(prior->emission[x], emission[i]);
    }
  }
  return total;
}

size_t ibrc_iohmm_doubles(const ibrc_iohmm_task *task) {
  const size_t S = (size_t)task->n_states, U = (size_t)task->n_actions, X = (size_t)task->n_obs;
  return (size_t)task->tree->n_nodes * (2 * S + 1) + S * (size_t)task->n_starts + S * S * U + S * X * U +
         IBRC_GAP_DOUBLES;
}

static void climb_on(const ibrc_iohmm_task *task, double *doubles, ibrc_iohmm_climb *climb) {
  const size_t S = (size_t)task->n_states, nodes = (size_t)task->tree->n_nodes;
  const ibrc_models model = {.n_states = task->n_states,
                             .n_actions = task->n_actions,
                             .n_obs = task->n_obs,
                             .n_models = 1,
                             .transition = climb->laws.transition,
                             .emission = climb->laws.emission};
  double *filter = doubles, *future = filter + nodes * S, *norm = future + nodes * S;
  ibrc_iohmm_laws counts = {.n_starts = task->n_starts, .start = norm + nodes};
  counts.transition = counts.start + S * (size_t)task->n_starts;
  counts.emission = counts.transition + S * S * (size_t)task->n_actions;
  int where;
  climb->steps = climb->converged = 0;
  for (int i = 0; i < task->n_steps; i++) {
    climb->code = ibrc_iohmm_forward(task->tree, &model, climb->laws.start, filter, norm,
                                     &climb->log_lik, &where);
    if (climb->code != IBRC_OK) return;
    const double now =
        climb->log_lik + ibrc_iohmm_log_prior(&model, climb->laws.start, task->n_starts, task->prior);
    climb->trace[climb->steps++] = now;
    const double gain = now - climb->previous;
    climb->previous = now;
    if (gain < -1e-9 * (1.0 + fabs(now))) {
      climb->code = IBRC_LIKELIHOOD_FELL;
      return;
    }
    if (gain <= task->tolerance) {
      climb->converged = 1;
      return;
    }
    if (task->last && i == task->n_steps - 1) return;
    ibrc_iohmm_backward(task->tree, &model, filter, norm, future, &counts);
    ibrc_iohmm_maximise(&model, task->prior, &counts, &climb->laws);
  }
}

void ibrc_iohmm_em(const ibrc_iohmm_task *task, int n_climbs, int n_threads, double *doubles,
                   ibrc_iohmm_climb *climbs) {
  const size_t n_doubles = ibrc_iohmm_doubles(task);
  IBRC_PARALLEL_EACH(n_threads)
  for (int i = 0; i < n_climbs; i++) {
    climb_on(task, doubles + (size_t)ibrc_thread_number() * n_doubles, climbs + i);
  }
}
