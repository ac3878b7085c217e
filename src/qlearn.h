#ifndef IBRC_QLEARN_H
#define IBRC_QLEARN_H

#include "model.h"
#include "numeric.h"

/* Tabular Q-learning where the state is seen, from noise that is given as data. At state s an
 * action u is tried, s' follows, and
 *
 *   Q(s, u) <- Q(s, u) + rate_n(s,u) (utility(s, u) + discount V(s') - Q(s, u))
 *   V(s)     = soft mean of Q(s, .) at the temperature, plus a bonus
 *
 * The n-th try of a pair counts by rate_n = (patience / (patience + n - 1))^power. At temperature 0
 * without a bonus this is Watkins' Q-learning; with the bonus alpha log(number of actions), V is
 * alpha log sum exp(Q / alpha): soft Q-learning in its entropy form.
 *
 * With probability `exploration` the action is any, all alike, else it follows the soft policy of
 * the present values. After `episode` steps the next state is any, all alike: exploring starts.
 *
 * A step reads three uniforms: whether to explore, the action, and what comes next. Where an
 * episode ends, the last of them also says where the next one starts. */

#define IBRC_QLEARN_NOISE 3

typedef struct {
  const ibrc_models *models; /* one model, by rows */
  const double *utility;     /* [state][action] */
  const double *prior;       /* [action]: all alike */
  ibrc_temperature temperature;
  double bonus, discount, exploration, patience, power;
  int episode;
} ibrc_qlearn;

/* Updates action_value and tries, both [state][action], the state, and how many steps of its
 * episode were made: a run that is cut anywhere goes on as if it was not. weights: scratch,
 * [action]. */
void ibrc_qlearn_run(const ibrc_qlearn *learner, int n_steps, const double *noise, double *weights,
                     double *action_value, double *tries, int *state, int *made);

#endif
