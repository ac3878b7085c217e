#ifndef IBRC_HABIT_H
#define IBRC_HABIT_H

#include "backup.h"

/* A prior policy that remembers the last action l (none at a first visit):
 *
 *   pi~(u | l) ~ pi~(u) exp(kappa [u = l])
 *   V(z, l)    = alpha log sum_u pi~(u | l) exp(Q(z,u) / alpha)
 *   Q(z, u)    = r + beta log sum_m sigma~ exp((eta H + gamma sum_j W_{u,m}(z,j) V(j, u)) / beta)
 *
 * The rows W are those of kappa = 0, each of which reads one block of values: V is
 * [last][node]. V without a last action matters only to readers of a plan. */

/* pi~(. | l) for each l: after [last][action]. Behind an action that ends a trajectory (ends [action],
 * or NULL: none does) comes a first visit, which has no last action. */
void ibrc_habit_priors(const double *prior, const int *ends, int n_actions, double habit, double *after);

/* Values and policies by Q [node][action]: where there is no last action, value [node] and policy
 * [node][action]; after each, value_after [last][node] and policy_after [last][node][action]. NULL:
 * not wanted. scratch: ibrc_habit_doubles(). */
size_t ibrc_habit_doubles(int n_actions);
typedef struct {
  double *value, *policy, *value_after, *policy_after;
} ibrc_habit_reading;
void ibrc_habit_read(const ibrc_problem *problem, const double *action_value, int n_nodes,
                     int n_actions, double *scratch, const ibrc_habit_reading *out);

/* Pairs (l, j) that some row reads: no other value depends on V elsewhere. Where an action begins
 * anew, next beliefs are few, and so are its pairs. Where nearly all are read, all are pairs. */
typedef struct {
  int n;
  int *at;     /* [pair]: l * n_nodes + j */
  int *node;   /* [pair]: j */
  int *place;  /* [l * n_nodes + j]: which pair it is, or -1 */
  int *wanted; /* [last][block of the backup]: does it hold one? */
} ibrc_pairs;

size_t ibrc_pairs_ints(const ibrc_table *table);
ibrc_pairs ibrc_pairs_over(const ibrc_table *table, int *ints);

#endif
