#ifndef IBRC_RNN_H
#define IBRC_RNN_H

#include <stddef.h>

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

/* Working space for trajectories of at most so many visits. */
size_t ibrc_rnn_doubles(const ibrc_rnn_shape *shape, int longest);

/* log p of every action [visit][action] of all trajectories. */
void ibrc_rnn_predict(const ibrc_rnn_shape *shape, const double *weights, const ibrc_rnn_data *data,
                      double *scratch, double *log_law);

/* Minus the log probability of the actions that count in some trajectories, and its gradient,
 * which is added to `gradient`. Returns the first; `counted` gets the number of actions. */
double ibrc_rnn_gradient(const ibrc_rnn_shape *shape, const double *weights,
                         const ibrc_rnn_data *data, const int *which, int n_which, double *scratch,
                         double *gradient, double *counted);

/* One step of Adam, down the gradient: first and second moments decay by 0.9 and 0.999; `step`
 * counts from 1. */
void ibrc_rnn_adam(size_t n, double *weights, double *first, double *second,
                   const double *gradient, double scale, double rate, double step);

#endif
