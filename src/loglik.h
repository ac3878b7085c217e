#ifndef IBRC_LOGLIK_H
#define IBRC_LOGLIK_H

#include "history.h"
#include "model.h"
#include "pause.h"
#include "plan.h"

/* The likelihood of behaviour under a plan (paper, Equation 25):
 *
 *   log L = sum_n sum_t log pi(u_t | z_t) = sum_h sum_u count(h, u) log pi(u | z_h)
 *
 * with z_h carried along the tree of histories by the agent's own recognition; where it is not
 * known what was done, by ibrc_walker_recognise_any(). An
 * observation that no model with weight can produce makes what follows it, and so
 * the whole, -Inf. */

size_t ibrc_loglik_doubles(const ibrc_history *history, const ibrc_plan *plan);
size_t ibrc_loglik_ints(const ibrc_plan *plan);

/* The total, never NaN. With `log_policy` not NULL ([history][action]) every log pi(u | z_h)
 * is kept there, whether taken or not; with `beliefs` not NULL ([history][state]) every z_h,
 * NaN where a history is impossible. */
double ibrc_loglik(const ibrc_history *history, const ibrc_plan *plan, const ibrc_models *models,
                   const double *start, double *doubles, int *ints, ibrc_pause pause,
                   double *log_policy, double *beliefs);

#endif
