#ifndef IBRC_KRYLOV_H
#define IBRC_KRYLOV_H

#include <stddef.h>

#include "pause.h"

/* One cycle of GMRES (Saad and Schultz 1986), preconditioned from the right:
 * the x in a growing subspace that makes |b - A x| least, from x = 0. */

typedef void (*ibrc_linear_map)(const void *context, const double *x, double *y);

typedef struct {
  ibrc_linear_map apply;        /* y = A x */
  ibrc_linear_map precondition; /* y = M^-1 x, or NULL */
  const void *context;
  int n;
  ibrc_pause pause; /* between products */
} ibrc_linear_system;

#define IBRC_KRYLOV_BASIS 40

size_t ibrc_krylov_doubles(int n);

/* Stops when |b - A x| <= tolerance |b| or the basis is full. Returns the number
 * of products with A. */
int ibrc_krylov_solve(const ibrc_linear_system *system, const double *b, double tolerance,
                      double *scratch, double *x);

#endif
