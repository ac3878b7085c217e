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
 * with z_h carried along the tree of histories by the agent's own recognition, from the start of
 * each root (`start` [state, start]); where the action is missing, by ibrc_walker_recognise_any().
 * Where the plan has a habit, pi is that after the action that led to h; a root has no last action,
 * and neither has a history after a missing one. An observation that no model with weight can
 * produce makes everything after it, and so the whole, -Inf. */

size_t ibrc_loglik_doubles(const ibrc_history *history, const ibrc_plan *plan,
                           const ibrc_models *models);
size_t ibrc_loglik_ints(const ibrc_history *history, const ibrc_plan *plan);

/* What to keep; NULL: it is not wanted. */
typedef struct {
  double *log_policy; /* [history][action]: log pi(u | z_h), whether taken or not */
  double *beliefs;    /* [history][state]: z_h, NaN where a history is impossible */
  int *likeliest;     /* [history]: the state that z_h gives most to, -1 where it is impossible */
  double *surest;     /* [history]: how much, with likeliest */
} ibrc_loglik_result;

/* The total, never NaN. */
double ibrc_loglik(const ibrc_history *history, const ibrc_plan *plan, const ibrc_models *models,
                   const double *start, double *doubles, int *ints, ibrc_pause pause,
                   const ibrc_loglik_result *out);

#endif
