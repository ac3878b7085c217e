#ifndef IBRC_RNN_H
#define IBRC_RNN_H

#include <stddef.h>

#include "wide.h"

/* A recurrent network that predicts the next action: one layer of long short-term memory, a dense
 * layer, a softmax. What goes in at a visit is what was done and seen at the one before, each as
 * the number of an input that is 1 (or none). With h and c the state after the visit before,
 *
 *   (i, f, g, o) = x Wx + h Wh + b          each n_hidden long
 *   c' = sigma(f) c + sigma(i) tanh(g)      h' = sigma(o) tanh(c')
 *   d  = tanh(h' Wd + bd)                   p  = softmax(d Wo + bo)
 *
 * All weights stand in one vector, in this order and by rows: Wx [n_inputs][4 n_hidden],
 * Wh [n_hidden][4 n_hidden], b, Wd [n_hidden][n_dense], bd, Wo [n_dense][n_actions], bo. */

typedef struct {
  int n_inputs, n_hidden, n_dense, n_actions;
} ibrc_rnn_shape;

/* Visits of trajectories one after the other: those of trajectory i are first[i] to
 * first[i + 1] - 1. */
typedef struct {
  int n_trajectories;
  const int *first;  /* [trajectory + 1] */
  const int *done;   /* [visit]: input for the action before, -1 if there is none */
  const int *seen;   /* [visit]: input for the observation before, -1 if there is none */
  const int *action; /* [visit]: what was done, -1 if it does not count */
} ibrc_rnn_data;

size_t ibrc_rnn_size(const ibrc_rnn_shape *shape); /* of the vector of weights */

/* Trajectories go through the network in slices: some consecutive trajectories, visit by visit side
 * by side. Slices depend only on lengths. Slices in turn belong to lanes. Each lane adds up its own
 * gradient, and then the lanes are added up in their order: threads share out lanes, and sums do
 * not depend on which thread does which. */
typedef struct {
  int members, visits; /* of the largest slice */
  int lanes;
} ibrc_rnn_room;

/* Makes room for these, too. Begin with an empty one. */
void ibrc_rnn_make_room(ibrc_rnn_room *room, const ibrc_rnn_data *data, const int *which,
                        int n_which);

/* Working space for so much. */
typedef struct {
  ibrc_rnn_room room;
  double *doubles;
  int *ints;
} ibrc_rnn_space;

size_t ibrc_rnn_doubles(const ibrc_rnn_shape *shape, const ibrc_rnn_room *room);
size_t ibrc_rnn_ints(const ibrc_rnn_room *room);

/* log p of every action of some trajectories, [visit][action] in the order of all visits. */
void ibrc_rnn_predict(ibrc_way way, const ibrc_rnn_shape *shape, const double *weights,
                      const ibrc_rnn_data *data, const int *which, int n_which,
                      const ibrc_rnn_space *space, double *log_law);

/* Minus the log probability of the actions that count in some trajectories; fills its gradient, and
 * `counted` with the number of actions. */
double ibrc_rnn_gradient(ibrc_way way, const ibrc_rnn_shape *shape, const double *weights,
                         const ibrc_rnn_data *data, const int *which, int n_which, int threads,
                         const ibrc_rnn_space *space, double *gradient, double *counted);

#endif
