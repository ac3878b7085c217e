#ifndef IBRC_NEWTON_H
#define IBRC_NEWTON_H

#include <stddef.h>

#include "krylov.h"
#include "pause.h"
#include "status.h"

/* The fixed point V = B V of a backup B that is a gamma-contraction and moves by gamma c when its
 * argument moves by a constant c, by Newton steps on V - BV = 0: solve.h says how far and why.
 * solve.c defines B and its slope. */

typedef struct {
  double tolerance;
  int max_backups;
  int accept_rounding; /* 1: where rounding alone misses the tolerance, stop there */
  ibrc_pause pause;    /* between backups, and between products inside a Newton step */
} ibrc_solve_options;

typedef struct {
  ibrc_code code;
  int backups;  /* applications of B */
  int products; /* of P with a vector, inside the Newton steps */
  double bound; /* the MacQueen bound reached */
} ibrc_solve_report;

typedef struct {
  int n;           /* of unknowns */
  double discount; /* gamma */
  int incomplete;  /* 1: behind incomplete factors, where products are few */
  void *context;   /* of all that follows */
  /* next = B value; leaves the policies where `prepare` looks for them. */
  void (*backup)(const void *context, const double *value, double *next);
  /* 1 - gamma P at these policies, to be applied, and what stands in for its inverse; flows below
   * `least` do not matter. */
  void (*prepare)(void *context, double least);
  ibrc_linear_map apply, precondition; /* precondition may be NULL */
} ibrc_newton;

size_t ibrc_newton_doubles(int n);

/* `value` holds the start on entry; *shift is what was added last to all of it. */
ibrc_solve_report ibrc_newton_solve(const ibrc_newton *newton, const ibrc_solve_options *options,
                                    double *scratch, double *value, double *shift);

#endif
