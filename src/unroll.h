#ifndef IBRC_UNROLL_H
#define IBRC_UNROLL_H

#include <stddef.h>

#include "model.h"
#include "numeric.h"

/* A differentiable planner: N soft backups in a row where the state is seen, and their derivatives
 * by reverse mode (paper, Table 2: the differentiable planner; section 2 of the forward problem
 * with one model and eta = 0). With V_0 given,
 *
 *   Q_k(s,u) = r(s,u) + gamma sum_s' tau(s'|s,u) V_{k-1}(s')
 *   V_k(s)   = alpha log sum_u exp(Q_k(s,u) / alpha) / |U|
 *   pi(u|s)  = exp(Q_N(s,u) / alpha) / sum_v exp(Q_N(s,v) / alpha)
 *
 * Values are [state, step], action values [state, action], states fastest; transitions are rows
 * [from, action], and whatever is per transition has their order. Nothing has an entry per
 * pair of states. */

typedef struct {
  const ibrc_models *dynamics; /* rows of one model */
  const double *utility;       /* r [state, action] */
  const double *prior;         /* [action]: uniform */
  double discount;             /* gamma */
  ibrc_temperature alpha;      /* soft: greater than 0 and finite */
} ibrc_unroll;

/* Backs up n_steps >= 1 times. values[0] [state] is given; fills values[1], ..., values[n_steps]
 * and the action values of the last. */
void ibrc_unroll_forward(const ibrc_unroll *planner, int n_steps, double *values,
                         double *action_value);

/* Derivatives of one number by all that it depends on; `alpha` and `discount` are one entry
 * each. */
typedef struct {
  double *utility;    /* [state, action] */
  double *transition; /* [entry], each taken as free */
  double *discount;
  double *alpha;
} ibrc_unroll_gradient;

static inline size_t ibrc_unroll_doubles(const ibrc_unroll *planner) {
  return (size_t)planner->dynamics->n_states * (3 * (size_t)planner->dynamics->n_actions + 1);
}

/* Goes back over n_steps >= 1 backups. `values` holds V before each of them, [state, n_steps]. On
 * entry `slope` [state] is the derivative by V after the last; on return that by V before the
 * first. Adds to the gradient what these steps contribute. `weights` [state, action], where it is
 * not NULL, adds sum(weights * log pi) of the last step to what is differentiated. */
void ibrc_unroll_reverse(const ibrc_unroll *planner, int n_steps, const double *values,
                         const double *weights, double *scratch, double *slope,
                         const ibrc_unroll_gradient *gradient);

#endif
