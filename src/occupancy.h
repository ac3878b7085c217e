#ifndef IBRC_OCCUPANCY_H
#define IBRC_OCCUPANCY_H

#include "pause.h"
#include "process.h"
#include "status.h"

/* How often, discounted, each belief is held (paper, Lemma 1): the fixed point
 * of mu = (1 - gamma) rho_0 + gamma P' mu, a distribution over nodes, or over pairs. */

size_t ibrc_occupancy_doubles(const ibrc_process *process);

/* `start` is rho_0 on the nodes, or pairs. Stops when the recursion moves mu by less than
 * tolerance in total variation. Returns IBRC_NOT_CONVERGED after max_cycles. */
ibrc_code ibrc_occupancy(const ibrc_process *process, const double *start, double tolerance,
                         int max_cycles, ibrc_pause pause, double *scratch, double *occupancy);

#endif
