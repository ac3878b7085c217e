#ifndef IBRC_IOHMM_H
#define IBRC_IOHMM_H

#include "model.h"
#include "status.h"

/* Input-output hidden Markov models. A trajectory starts in s_0 ~ start; at visit t
 * action u_t is taken, the state moves and what is seen comes from the new state:
 *
 *   s_{t+1} ~ tau(. | s_t, u_t),   x_{t+1} ~ omega(. | u_t, s_{t+1})
 *
 * Actions are inputs: they carry no likelihood. A missing observation is summed over.
 *
 * Trajectories are read as a tree of nodes: a root before anything was seen, a child
 * for each distinct (u, x) after its parent. What was filtered at a node is the same for
 * all trajectories through it, and their expected counts add up, so one pass up
 * and one down the tree serve them all:
 *
 *   filter_h(s')  = omega(x|u,s') sum_s tau(s'|s,u) filter_p(s) / norm_h
 *   future_h(s)   = ends_h + sum_c sum_s' tau(s'|s,u_c) omega(x_c|u_c,s') future_c(s') / norm_c
 *   log L         = sum_h through_h log norm_h
 *
 * over parents p and children c; filter_h(s) future_h(s) is the expected number of
 * trajectories through h that are in s there. Parents come before their children. A
 * tree may have several roots: one per trajectory gives smoothed states of each. There may be
 * several laws of the first state, for groups of trajectories that share all else: a root says
 * which of them is its own. */

typedef struct {
  int n_nodes;
  const int *parent;      /* [node]; a root's is -1 */
  const int *action;      /* [node]: the action that led here */
  const int *observation; /* [node]: what was seen then, -1 if missing */
  const int *start;       /* [node]: which law of the first state; read at roots */
  const double *through;  /* [node]: trajectories that pass or end here */
  const double *ends;     /* [node]: trajectories that end here */
} ibrc_iohmm_tree;

/* Laws, or expected counts of the same shape, in the memory order of model.h. */
typedef struct {
  int n_starts;
  double *start;      /* [state, start] */
  double *transition; /* [from, to, action] */
  double *emission;   /* [to, observation, action] */
} ibrc_iohmm_laws;

/* What a maximisation adds to the counts, and where it may put probability. A law p
 * has prior density proportional to prod p^extra. Nothing here depends on the number
 * of a state, so that states can be renumbered. */
typedef struct {
  double start, transition, stay; /* `stay` is added to each tau(s|s,u) */
  const double *emission;         /* [observation, action] */
  const int *possible;            /* [observation, action]; 0: always exactly zero */
  int shared;                     /* one transition matrix for every action */
} ibrc_iohmm_prior;

/* Fills filter [state, node] and norm [node]. An observation that cannot happen ends
 * the pass at its node, which goes to *where. */
ibrc_code ibrc_iohmm_forward(const ibrc_iohmm_tree *tree, const ibrc_models *model,
                             const double *start, double *filter, double *norm, double *log_lik,
                             int *where);

/* After a forward pass: fills future [state, node] and the expected counts. */
void ibrc_iohmm_backward(const ibrc_iohmm_tree *tree, const ibrc_models *model,
                         const double *filter, const double *norm, double *future,
                         const ibrc_iohmm_laws *counts);

/* The laws that are likeliest given the counts. A row without counts spreads evenly
 * over what is possible. */
void ibrc_iohmm_maximise(const ibrc_models *size, const ibrc_iohmm_prior *prior,
                         const ibrc_iohmm_laws *counts, const ibrc_iohmm_laws *laws);

double ibrc_iohmm_log_prior(const ibrc_models *model, const double *start, int n_starts,
                            const ibrc_iohmm_prior *prior);

/* A climb by EM: some more steps from where it stands. A step appraises the laws and
 * then improves them, unless the gain since the last step was within the tolerance
 * or this is the last step of the whole budget: then the laws stay. */
typedef struct {
  ibrc_iohmm_laws laws; /* from on entry, to on return */
  double previous;      /* log L + log prior of the step before; NaN at the first */
  double *trace;        /* [step]: log L + log prior of the laws that the step began with */
  double log_lik;       /* without the prior, at the last step */
  int steps;            /* taken in this call */
  int converged;
  ibrc_code code; /* IBRC_LIKELIHOOD_FELL if a step lost more than rounding */
} ibrc_iohmm_climb;

typedef struct {
  const ibrc_iohmm_tree *tree;
  const ibrc_iohmm_prior *prior;
  int n_states, n_actions, n_obs, n_starts;
  int n_steps, last; /* `last`: the budget ends with this call */
  double tolerance;
} ibrc_iohmm_task;

/* Working space of one thread. */
size_t ibrc_iohmm_doubles(const ibrc_iohmm_task *task);

/* One thread per climb. */
void ibrc_iohmm_em(const ibrc_iohmm_task *task, int n_climbs, int n_threads, double *doubles,
                   ibrc_iohmm_climb *climbs);

/* All counts 0; `size` gives the dimensions. */
void ibrc_iohmm_clear(const ibrc_models *size, const ibrc_iohmm_laws *counts);

/* Draws each trajectory's hidden path given what was seen, after a forward pass
 * (forward filtering, backward sampling). `leaf` [trajectory] is the node where it ends;
 * paths of `length` [trajectory] states stand one after the other, first state first, and
 * read one uniform per state. `chance` is scratch [state]. Fills path and the counts of
 * what happened along the paths. (iohmm_sample.c) */
void ibrc_iohmm_sample(const ibrc_iohmm_tree *tree, const ibrc_models *model, const double *filter,
                       const int *leaf, const int *length, int n_trajectories,
                       const double *noise, double *chance, int *path,
                       const ibrc_iohmm_laws *counts);

#endif
