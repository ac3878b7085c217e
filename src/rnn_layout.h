#ifndef IBRC_RNN_LAYOUT_H
#define IBRC_RNN_LAYOUT_H

#include <stddef.h>

#include "rnn.h"

/* Where things of a network (rnn.h) stand in memory. */

enum { IBRC_RNN_LANES = 8 }; /* at most */

/* In the vector of weights, and in the gradient. */
typedef struct {
  size_t input, recurrent, gate_bias, dense, dense_bias, output, output_bias, size;
} ibrc_rnn_places;

ibrc_rnn_places ibrc_rnn_places_of(const ibrc_rnn_shape *shape);

/* How far rows stand apart in working space, as products want it. */
typedef struct {
  size_t gates, hidden, dense, law;
} ibrc_rnn_rows;

ibrc_rnn_rows ibrc_rnn_rows_of(const ibrc_rnn_shape *shape);

/* Matrices of weights with rows so far apart, and turned ones for going back. */
typedef struct {
  double *recurrent, *dense, *output, *recurrent_turned, *dense_turned, *output_turned;
} ibrc_rnn_spread;

/* Finds them a place in working space; returns where it goes on. */
double *ibrc_rnn_lay_spread(const ibrc_rnn_shape *shape, const ibrc_rnn_space *space,
                            ibrc_rnn_spread *spread);

/* Fill the first three from weights, and the others. */
void ibrc_rnn_spread_out(const ibrc_rnn_shape *shape, const double *weights,
                         const ibrc_rnn_spread *spread);
void ibrc_rnn_turn(const ibrc_rnn_shape *shape, const double *weights,
                   const ibrc_rnn_spread *spread);

/* Where the slice ends that begins at `from`: so many trajectories, and no more visits than fit into
 * a cache unless one trajectory has more. */
int ibrc_rnn_slice_end(const ibrc_rnn_data *data, const int *which, int n_which, int from,
                       int *visits);

/* One row for each node of a slice (shared.h), or for each carrier. What goes back takes the place of
 * what came forward where that is not needed any more. */
typedef struct {
  double *gates;   /* [node][4 hidden]: gates; back: slopes of their sums */
  double *passed;  /* [carrier][4 hidden]: hidden times recurrent weights; back: the sum of the slopes of
                      all that go on from it */
  double *cell, *bent, *hidden; /* [node][hidden] */
  double *carried;              /* [carrier][hidden]: hidden, once more */
  double *d_hidden, *d_cell;    /* [node][hidden] */
  double *dense, *d_dense;      /* [node][dense] */
  double *law, *d_law;          /* [node][action]: log p; back: how often each action was taken, then
                                   slopes */
  double *nothing, *nobody;     /* [4 hidden]: zeros, for what there is not, and a row for slopes that
                                   nobody needs */
  double *gradient;
} ibrc_rnn_slice;

double *ibrc_rnn_lay_slice(const ibrc_rnn_shape *shape, const ibrc_rnn_room *room, double *next,
                           ibrc_rnn_slice *slice);

#endif
