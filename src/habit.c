#include "habit.h"

#include <math.h>
#include <string.h>

void ibrc_habit_priors(const double *prior, const int *ends, int n_actions, double habit, double *after) {
  /* The larger of the two is 1, so nothing overflows. */
  const double same = habit > 0.0 ? 1.0 : exp(habit), other = habit > 0.0 ? exp(-habit) : 1.0;
  for (int last = 0; last < n_actions; last++, after += n_actions) {
    double sum = 0.0;
    for (int u = 0; u < n_actions; u++) {
      after[u] = prior[u] * (u == last ? same : other);
      sum += after[u];
    }
    /* Nor has habit an effect where nothing else is possible, or the last action is not. */
    if ((ends && ends[last]) || !(sum > 0.0) || !(prior[last] > 0.0)) {
      memcpy(after, prior, (size_t)n_actions * sizeof(double));
      continue;
    }
    for (int u = 0; u < n_actions; u++) after[u] /= sum;
  }
}

/* Q and pi of some nodes, [action][node]. */
#define AT_ONCE IBRC_BACKUP_NODES

size_t ibrc_habit_doubles(int n_actions) { return (2 * (size_t)n_actions + 1) * AT_ONCE; }

static void read_some(const double *Q, const double *prior, const ibrc_temperature *alpha, int n,
                      size_t U, double *scratch, double *value, double *policy) {
  double *weights = scratch + U * AT_ONCE, *mean = weights + U * AT_ONCE;
  if (!value && !policy) return;
  ibrc_soft_means(Q, AT_ONCE, prior, (int)U, n, alpha, mean, policy ? weights : NULL);
  if (value) memcpy(value, mean, (size_t)n * sizeof(double));
  for (size_t u = 0; policy && u < U; u++) {
    for (size_t i = 0; i < (size_t)n; i++) policy[i * U + u] = weights[u * AT_ONCE + i];
  }
}

void ibrc_habit_read(const ibrc_problem *problem, const double *action_value, int n_nodes,
                     int n_actions, double *scratch, const ibrc_habit_reading *out) {
  const size_t U = (size_t)n_actions, nodes = (size_t)n_nodes;
  for (int first = 0; first < n_nodes; first += AT_ONCE) {
    const int n = n_nodes - first < AT_ONCE ? n_nodes - first : AT_ONCE;
    const size_t cell = (size_t)first * U;
    for (size_t u = 0; u < U; u++) {
      for (size_t i = 0; i < (size_t)n; i++) scratch[u * AT_ONCE + i] = action_value[cell + i * U + u];
    }
    read_some(scratch, problem->action_prior, &problem->alpha, n, U, scratch,
              out->value ? out->value + first : NULL, out->policy ? out->policy + cell : NULL);
    for (size_t last = 0; last < U; last++) {
      read_some(scratch, problem->after + last * U, &problem->alpha, n, U, scratch,
                out->value_after ? out->value_after + last * nodes + first : NULL,
                out->policy_after ? out->policy_after + last * nodes * U + cell : NULL);
    }
  }
}

size_t ibrc_pairs_ints(const ibrc_table *table) {
  const size_t U = (size_t)table->n_actions;
  return U * (3 * (size_t)table->n_nodes + (size_t)ibrc_backup_blocks(table));
}

/* Marks what the rows of a node read, and returns how many pairs were not marked before. */
static size_t mark_read(const ibrc_table *table, size_t node, int *place) {
  const size_t U = (size_t)table->n_actions, M = (size_t)table->n_models;
  size_t n_new = 0;
  for (size_t u = 0, first = node * U * M; u < U; u++, first += M, place += table->n_nodes) {
    for (int i = table->row_start[first]; i < table->row_start[first + M]; i++) {
      int *mark = place + table->column[i];
      n_new += *mark < 0;
      *mark = 0;
    }
  }
  return n_new;
}

#define FAR_APART 16

/* place[l * n_nodes + j] = 0 where a row reads V(j, l), and -1 elsewhere. Where nearly all are read, a
 * few more cost less than leaving them out does: all are 0. Nodes are looked at far from one another
 * first, as those nearby read much the same, and no further than until that is known. */
static void find_read(const ibrc_table *table, int *place) {
  const size_t nodes = (size_t)table->n_nodes, n = nodes * (size_t)table->n_actions;
  size_t n_read = 0;
  memset(place, -1, n * sizeof(int));
  for (size_t first = 0; first < FAR_APART; first++) {
    for (size_t node = first; node < nodes; node += FAR_APART) {
      n_read += mark_read(table, node, place);
      if (8 * n_read < 7 * n) continue;
      memset(place, 0, n * sizeof(int));
      return;
    }
  }
}

ibrc_pairs ibrc_pairs_over(const ibrc_table *table, int *ints) {
  const size_t nodes = (size_t)table->n_nodes, U = (size_t)table->n_actions;
  const size_t blocks = (size_t)ibrc_backup_blocks(table);
  ibrc_pairs pairs = {.at = ints,
                      .node = ints + U * nodes,
                      .place = ints + 2 * U * nodes,
                      .wanted = ints + 3 * U * nodes};
  memset(pairs.wanted, 0, U * blocks * sizeof(int));
  find_read(table, pairs.place);
  for (size_t last = 0, at = 0; last < U; last++) {
    for (size_t node = 0; node < nodes; node++, at++) {
      if (pairs.place[at] < 0) continue;
      pairs.wanted[last * blocks + node / IBRC_BACKUP_NODES] = 1;
      pairs.at[pairs.n] = (int)at;
      pairs.node[pairs.n] = (int)node;
      pairs.place[at] = pairs.n++;
    }
  }
  return pairs;
}
