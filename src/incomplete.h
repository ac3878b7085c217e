#ifndef IBRC_INCOMPLETE_H
#define IBRC_INCOMPLETE_H

#include <stddef.h>

#include "slope.h"

/* A = 1 - gamma P written out, for nodes that are many observed states with few next states each,
 * and
 * factors L U of it that have entries only where A has: incomplete (Meijerink and van der Vorst
 * 1977). A is an M-matrix, so the factors exist and need no pivots. Where next states lie nearby,
 * little is left out, and L U tells a solver about slow parts of a residual that products with A
 * would find one state at a time. Where all next states have numbers close to the state's own,
 * the whole band is kept, and L U is A. */

typedef struct {
  int n;
  int *start;     /* [node], and the number of entries last */
  int *diagonal;  /* [node]: which entry stands on the diagonal */
  int *column;    /* [entry], rising within a row */
  int *place;     /* [node]: scratch */
  int *into;      /* [entry of the table]: which entry of A it adds to */
  double *weight; /* [entry] of A */
  double *factor; /* [entry] of L below the diagonal (whose own is 1), of U from it on */
} ibrc_incomplete;

/* Whether factors are worth while for such a table. Rows must be short, and what follows the next
 * state must be among what may follow this one: the factors know nothing of chance connections
 * among thousands of states. */
int ibrc_incomplete_fits(const ibrc_table *table);

/* Doubles that hold it, and one laid out over them, with its entries: they are the same for all
 * policies. */
size_t ibrc_incomplete_doubles(const ibrc_table *table);
ibrc_incomplete ibrc_incomplete_over(const ibrc_table *table, double *doubles);

/* Writes A out for the policies of a slope and factors it. */
void ibrc_incomplete_fill(const ibrc_slope *slope, ibrc_incomplete *incomplete);

/* y = A x, and y = U^-1 L^-1 x, of which y may be x */
void ibrc_incomplete_apply(const ibrc_incomplete *incomplete, const double *x, double *y);
void ibrc_incomplete_solve(const ibrc_incomplete *incomplete, const double *x, double *y);

#endif
