#ifndef IBRC_WALKER_H
#define IBRC_WALKER_H

#include "model.h"
#include "plan.h"
#include "space.h"
#include "status.h"

/* One agent on its way, a step at a time:
 *
 *   stand      where the belief z lies in the plan's space
 *   remember   what it did last, where that matters
 *   policy     what it does there, pi(.|z)
 *   sigma      what it believes of the dynamics when it takes u, sigma(.|z,u)
 *   recognise  what it believes once it has seen x, z'
 *
 * A belief is located once, and sigma is computed once per action, however much is asked. */

typedef struct {
  const ibrc_plan *plan;
  const ibrc_models *models; /* NULL: it reads the plan, and takes no step */
  const double *belief;      /* where it stands, or NULL: */
  int state;                 /* it is sure of this one */
  int last;                  /* what it did before it came here, or IBRC_NO_LAST */
  ibrc_corners corners;
  int *known;    /* [action]: is sigma? */
  double *sigma; /* [action][model] */
  double *work;
} ibrc_walker;

/* Storage of one walker, and a walker over it. */
size_t ibrc_walker_doubles(const ibrc_plan *plan);
size_t ibrc_walker_ints(const ibrc_plan *plan);
ibrc_walker ibrc_walker_over(const ibrc_plan *plan, const ibrc_models *models, double *doubles,
                             int *ints);

/* The belief has to stay until the walker stands elsewhere. */
void ibrc_walker_stand(ibrc_walker *walker, const double *belief);
/* Where the state is seen, an agent that is sure of one needs no numbers. */
void ibrc_walker_stand_in(ibrc_walker *walker, int state);
/* At a node, to read the plan there; no step goes on from it. */
void ibrc_walker_stand_at(ibrc_walker *walker, int node);

/* Until it remembers something else. */
static inline void ibrc_walker_remember(ibrc_walker *walker, int last) { walker->last = last; }

void ibrc_walker_policy(ibrc_walker *walker, double *policy);
const double *ibrc_walker_sigma(ibrc_walker *walker, int action);

/* The next belief: *state, if the state was seen, or else -1 and `next`. The walker stays
 * where it is; `next` may be its own belief: then it has to stand anew. Fails, and leaves
 * `next`, as ibrc_belief_recognise() does. */
ibrc_code ibrc_walker_recognise(ibrc_walker *walker, int action, int observation, double *next,
                                int *state);

/* The same where nobody knows which action it took: the mean over those that do not stop,
 *
 *   z' = sum_u w(u) z'(u, x) / sum_u w(u),   w(u) = pi(u|z) sum_m sigma(m|z,u) p_m(x|z,u)
 *
 * log_policy: log pi(.|z). scratch: n_states + n_actions. `next` is not where it stands. */
ibrc_code ibrc_walker_recognise_any(ibrc_walker *walker, const double *log_policy,
                                    const int *stops, int observation, double *scratch,
                                    double *next, int *state);

/* Several walkers of one plan, up to a limit; answers to them are computed together. */
enum { IBRC_WALKERS = 32 };

size_t ibrc_walkers_doubles(const ibrc_plan *plan);
/* log pi(.|z) [walker][action]. scratch: ibrc_walkers_doubles(). */
void ibrc_walkers_log_policy(ibrc_walker *const *walkers, int n_walkers, double *scratch,
                             double *log_policy);
/* Lets each of them know its sigma(.|z,u). */
void ibrc_walkers_know_sigma(ibrc_walker *const *walkers, int n_walkers, int action,
                             double *scratch);

#endif
