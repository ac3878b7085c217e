#ifndef IBRC_RECALL_H
#define IBRC_RECALL_H

#include <stddef.h>
#include <stdint.h>

#include "model.h"

/* Q-learning on the last visits, for a learner that knows nothing of hidden states (paper, Table 2:
 * the model-free POMDP learner). A history h is what was done and seen at the last `memory` visits,
 * fewer at the start. With reward r after action u at h, and h' what is remembered next,
 *
 *   Q(h,u) <- Q(h,u) + rate (r + gamma max_v Q(h',v) - Q(h,u)),
 *   rate = 1 / (1 + (1 - gamma) (n - 1))
 *
 * the n-th time that u is tried at h. Uniforms are given as data.
 *
 * A history has a number: its visits are digits from 1 to |U||X| in base |U||X| + 1, the last
 * visit last; 0 is the start. Numbers stay below 2^53, so that R can hold them. */

typedef struct {
  int n_actions, n_obs;
  uint64_t base; /* |U||X| + 1 */
  uint64_t most; /* base^memory: numbers stay below it */
} ibrc_recall;

/* most = 0 where the numbers would be too large. */
ibrc_recall ibrc_recall_of(int n_actions, int n_obs, int memory);

/* What is remembered after one more visit. */
static inline uint64_t ibrc_recall_after(const ibrc_recall *recall, uint64_t history, int action,
                                         int observation) {
  const uint64_t visit = (uint64_t)action * (uint64_t)recall->n_obs + (uint64_t)observation + 1;
  return history % (recall->most / recall->base) * recall->base + visit;
}

/* Where histories stand in a table, by their number: open addressing over a power of two of
 * places, of which at least every other one stays free. */
typedef struct {
  const double *key; /* [history] */
  int *place;        /* [mask + 1]: a row, or -1 */
  size_t mask;
} ibrc_recall_index;

size_t ibrc_recall_index_ints(size_t n_histories);
ibrc_recall_index ibrc_recall_index_over(const double *key, size_t n, size_t room, int *ints);
int ibrc_recall_find(const ibrc_recall_index *index, uint64_t history); /* -1: not there */

/* The row of the longest end of a history that is in the table, -1 where not even the start is. */
int ibrc_recall_longest(const ibrc_recall *recall, const ibrc_recall_index *index,
                        uint64_t history);

/* What is learned: the first n of `room` rows are filled. */
typedef struct {
  int n, room;
  double *key;          /* [history] */
  double *action_value; /* [action, history] */
  double *tried;        /* [action, history]: how often */
} ibrc_recall_table;

/* Where learning stands. */
typedef struct {
  int state;        /* which the learner does not see */
  int visit;        /* since it started afresh; 0: it is about to */
  uint64_t history;
} ibrc_recall_walk;

typedef struct {
  const ibrc_recall *recall;
  const ibrc_models *environment; /* what happens: one model */
  const double *start;            /* [state] */
  const double *utility;          /* [state, action] */
  double discount;
  double exploration; /* share of visits at which any action is taken */
  double initial;     /* what is not yet tried counts as worth */
  int episode;        /* visits after which it starts afresh */
} ibrc_recall_learner;

/* Uniforms of a visit: state to start in, whether to explore, action, next state, observation. */
#define IBRC_RECALL_NOISE 5

/* Needs room for n_steps more histories than there are, or for all that there can be. `ints`:
 * ibrc_recall_index_ints(room). */
void ibrc_recall_learn(const ibrc_recall_learner *learner, int n_steps, const double *noise,
                       int *ints, ibrc_recall_walk *walk, ibrc_recall_table *table);

/* Behaviour by a table of policies. */
typedef struct {
  const ibrc_recall *recall;
  const ibrc_recall_index *index;
  const double *policy;    /* [action, history] */
  const double *otherwise; /* [action]: where nothing is known */
  const ibrc_models *environment;
  const double *start; /* [state, start] */
  const int *stops;    /* [action]: 1 ends the trajectory */
  int horizon;
} ibrc_recall_rollout;

/* As ibrc_rollout_run(), from the same noise; returns the number of visits. */
int ibrc_recall_run(const ibrc_recall_rollout *rollout, int begin, const double *noise, int *action,
                    int *observation);

#endif
