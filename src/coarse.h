#ifndef IBRC_COARSE_H
#define IBRC_COARSE_H

#include "slope.h"
#include "space.h"

/* A second, much coarser space that tells a solver about the slow part of a
 * residual. With I the interpolation from coarse to fine nodes, R the reading at
 * the coarse nodes and A = 1 - gamma P, a residual r is answered by
 *
 *   r + I A_c^-1 R gamma P r,     A_c = 1 - gamma R P I
 *
 * that is, the result of one plain backup plus a coarse correction of what it leaves.
 * gamma R P I has row sums gamma < 1, so A_c is an M-matrix and needs no pivots. */

typedef struct {
  int n_coarse;         /* 0: the space has no useful coarser one */
  int n_corners;        /* entries of an interpolation row, at most */
  int seen;             /* 1: nodes are the states, which are seen, and no lattice */
  const int *fine_node; /* [coarse node]: where it lies in the fine space */
  const int *column;    /* [fine node][corner] */
  const double *weight; /* [fine node][corner], padded with 0 */
} ibrc_coarse;

/* How many nodes a coarse space may have if its factorisation is to cost little compared with a
 * backup of n_entries table entries. */
double ibrc_coarse_most(double n_entries);

/* Fills the three arrays; `corners` fit both spaces, `belief` is scratch of n_states. */
void ibrc_coarse_map(const ibrc_space *fine, const ibrc_space *coarse, ibrc_corners *corners,
                     double *belief, int *fine_node, int *column, double *weight);

/* A_c = L U in place, row-major n_coarse by n_coarse. */
void ibrc_coarse_factor(const ibrc_coarse *coarse, const ibrc_slope *slope, double *factors);

/* A_c^-1 of `work` [coarse node], in place, and its value at a node. */
void ibrc_coarse_solve(const ibrc_coarse *coarse, const double *factors, double *work);
static inline double ibrc_coarse_at(const ibrc_coarse *coarse, const double *work, int node) {
  const size_t C = (size_t)coarse->n_corners;
  const int *column = coarse->column + (size_t)node * C;
  const double *weight = coarse->weight + (size_t)node * C;
  double sum = weight[0] * work[column[0]] + weight[1] * work[column[1]];
  for (size_t k = 2; k < C; k++) sum += weight[k] * work[column[k]];
  return sum;
}

/* `work` is scratch of n_coarse. */
void ibrc_coarse_correct(const ibrc_coarse *coarse, const ibrc_slope *slope, const double *factors,
                         const double *residual, double *work, double *corrected);

#endif
