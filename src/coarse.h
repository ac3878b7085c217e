#ifndef IBRC_COARSE_H
#define IBRC_COARSE_H

#include "lattice.h"
#include "slope.h"

/* A second, much coarser lattice that tells a solver about the slow part of a
 * residual. With I the interpolation from coarse to fine nodes, R the reading at
 * the coarse nodes and A = 1 - gamma P, a residual r is answered by
 *
 *   r + I A_c^-1 R gamma P r,     A_c = 1 - gamma R P I
 *
 * that is, one plain backup's worth and a coarse correction of what it leaves.
 * gamma R P I has row sums gamma < 1, so A_c is an M-matrix and needs no pivots. */

typedef struct {
  int n_coarse;         /* 0: the lattice has no useful coarser one */
  int n_corners;        /* entries an interpolation row may have: n_states */
  const int *fine_node; /* [coarse node]: where it lies in the fine lattice */
  const int *column;    /* [fine node][corner] */
  const double *weight; /* [fine node][corner], padded with 0 */
} ibrc_coarse;

/* The resolution whose factorisation costs little beside a backup of n_entries
 * table entries, or 0. */
int ibrc_coarse_resolution(int n_states, int resolution, double n_entries);

/* Fills the three arrays; `belief` is scratch of n_states. */
void ibrc_coarse_map(const ibrc_lattice *fine, const ibrc_lattice *coarse, ibrc_locator *locator,
                     double *belief, int *fine_node, int *column, double *weight);

/* A_c = L U in place, row-major n_coarse by n_coarse. */
void ibrc_coarse_factor(const ibrc_coarse *coarse, const ibrc_slope *slope, double *factors);

/* `work` is scratch of n_coarse. */
void ibrc_coarse_correct(const ibrc_coarse *coarse, const ibrc_slope *slope, const double *factors,
                         const double *residual, double *work, double *corrected);

#endif
