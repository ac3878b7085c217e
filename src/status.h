#ifndef IBRC_STATUS_H
#define IBRC_STATUS_H

/* What can go wrong inside a kernel. Kernels never raise: they return a code. */

typedef enum {
  IBRC_OK = 0,
  IBRC_NOT_CONVERGED,          /* budget spent before the tolerance was met */
  IBRC_NOT_FINITE,             /* a NaN or an infinity appeared in a value */
  IBRC_IMPOSSIBLE_OBSERVATION, /* no model with weight gives the observation */
  IBRC_LIKELIHOOD_FELL         /* a step of EM lost more than rounding */
} ibrc_code;

#endif
