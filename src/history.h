#ifndef IBRC_HISTORY_H
#define IBRC_HISTORY_H

#include <stddef.h>

#include "pause.h"

/* The tree of distinct histories. A trajectory is (u_0, x_1), (u_1, x_2), ...: its
 * first visit stands at a root, and visit t + 1 at the child of visit t's history
 * by (u_t, x_{t+1}). Trajectories that share a beginning share its histories, so
 * that beliefs and policies are worked out once for all of them. Parents come
 * before their children. An action may be missing: it was taken, but nobody knows which it was.
 *
 * Beliefs may start differently from one trajectory to the next: there is one root for each
 * start that occurs, the roots come first, and the tree says which start each root has. The tree
 * does not know what the starts are. */

#define IBRC_NO_ACTION (-1) /* and so there is no last one (IBRC_NO_LAST of plan.h) */

typedef struct {
  int n_histories;
  int n_actions;
  int n_roots;
  int n_unseen;           /* histories after a missing observation, the roots among them */
  const int *start;       /* [root]: with which of the starts it begins */
  const int *parent;      /* [history]; a root's is -1 */
  const int *action;      /* [history]: the action that led here, -1 if missing; a root's is -1 */
  const int *observation; /* [history]: what was seen then, -1 if missing */
  const double *count;    /* [history][action]: how often each action was taken here, and counts */
  const int *stops;       /* [action]: 1 ends a trajectory, so that no history can follow; NULL if no
                             action is missing */
  const int *first_child, *next_sibling; /* [history]; -1: none */
} ibrc_history;

/* Fills the last two from the parents. */
void ibrc_history_link(int n_histories, const int *parent, int *first_child, int *next_sibling);

/* Coded visits: trajectories one after the other, visits in order. */
typedef struct {
  int n_visits;
  int n_actions;
  int n_starts;
  const int *start;       /* [visit]: how its trajectory starts, from 0; read at first visits */
  const int *trajectory;  /* [visit]: its number, equal for visits of one trajectory */
  const int *action;      /* [visit], from 0, -1 if missing */
  const int *observation; /* [visit], from 0, -1 if missing */
  ibrc_pause pause;       /* now and then */
} ibrc_visits;

/* Slots of the table that finds a child: scratch for the builder. */
size_t ibrc_history_slots(int n_visits);

/* Fills history[visit] and, for each history found, parent, action, observation
 * (room for n_visits each); root[start]: the history that begins so, or -1. Roots are in the
 * order of their starts. `slot` is scratch. Returns the number of histories. */
int ibrc_history_build(const ibrc_visits *visits, int *slot, int *root, int *history, int *parent,
                       int *action, int *observation);

#endif
