#ifndef IBRC_SOLVE_H
#define IBRC_SOLVE_H

#include "backup.h"
#include "coarse.h"
#include "newton.h"
#include "process.h"

/* The fixed point V = B V of a backup B that is a gamma-contraction and moves by
 * gamma c when its argument moves by a constant c: the optimal backup (paper,
 * Theorem 4) or that of given policies (Proposition 3).
 *
 * With lo <= BV - V <= hi, the fixed point lies within gamma/(1-gamma) (hi-lo)/2
 * of BV + gamma/(1-gamma) (hi+lo)/2 (MacQueen 1966): the solver stops when that
 * bound, and what rounding may add to it, meets the tolerance, and returns that
 * midpoint.
 *
 * It goes there by Newton steps on V - BV = 0, whose slope is 1 - gamma P at the policies of the
 * last backup. Each step is solved as far as it pays by GMRES, preconditioned by a coarse
 * correction or, where many states are seen and next ones lie nearby, by incomplete factors. Steps
 * that do not shrink the bound are taken back, and plain backups, which always shrink it, follow
 * before the next one. */

/* remembers: 1 where the last action matters (habit.h) */
size_t ibrc_solve_doubles(const ibrc_table *table, const ibrc_coarse *coarse, int remembers,
                          int n_threads);

size_t ibrc_solve_policy_doubles(const ibrc_process *process, const ibrc_coarse *coarse);

/* The optimum. out->value holds the start on entry (any finite values) and the
 * solution on return; Q, K, pi and sigma must all be given. On failure they are
 * those of the last backup. Where the last action matters, values and pi depend on it. Those that
 * no row reads are left as they were: ibrc_habit_read() computes all of them from Q. */
ibrc_solve_report ibrc_solve_optimum(const ibrc_table *table, const ibrc_coarse *coarse,
                                     const ibrc_problem *problem, const ibrc_solve_options *options,
                                     int n_threads, double *scratch,
                                     const ibrc_backup_result *out);

/* The value of given policies, from the gain of one visit at each node, or pair (process.h). */
ibrc_solve_report ibrc_solve_policy(const ibrc_process *process, const ibrc_coarse *coarse,
                                    const double *gain, const ibrc_solve_options *options,
                                    double *scratch, double *value);

#endif
