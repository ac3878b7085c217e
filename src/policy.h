#ifndef IBRC_POLICY_H
#define IBRC_POLICY_H

#include "plan.h"

/* Policies between nodes. With corner nodes j and weights w of a belief,
 *
 *   by value    pi ~ pi~ exp(sum_j w_j Q(j,.) / alpha),   sigma likewise from K
 *   by policy   pi = sum_j w_j pi(.|j),                   sigma likewise
 *
 * `last`: what was done at the visit before, or IBRC_NO_LAST; pi~ remembers it where the plan has a
 * habit (habit.h). */

/* `scratch`: n_actions, or n_models. */
void ibrc_policy_at(const ibrc_plan *plan, const ibrc_corners *corners, int last, double *scratch,
                    double *policy);
void ibrc_policy_sigma_at(const ibrc_plan *plan, const ibrc_corners *corners, int action,
                          double *scratch, double *sigma);

/* At many beliefs, whose soft means are worked out together: one does not depend on the others.
 * log pi [belief][action], by value without the underflow of pi itself, -Inf where pi is 0; and
 * sigma [belief][model] of one action. `scratch`: ibrc_policy_many_doubles(). */
size_t ibrc_policy_many_doubles(const ibrc_plan *plan, int n_beliefs);
void ibrc_policy_log_many(const ibrc_plan *plan, const ibrc_corners *const *corners, int n_beliefs,
                          int last, double *scratch, double *log_policy);
void ibrc_policy_sigma_many(const ibrc_plan *plan, const ibrc_corners *const *corners, int n_beliefs,
                            int action, double *scratch, double *sigma);

#endif
