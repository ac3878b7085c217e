#ifndef IBRC_IOHMM_BC_H
#define IBRC_IOHMM_BC_H

#include "iohmm.h"
#include "model.h"
#include "status.h"

/* Behaviour cloned from beliefs: a hidden Markov model with actions as inputs (iohmm.h) and, for
 * every action u, a centre mu_u on the plane that beliefs lie on. With z_h the filter at a node h,
 *
 *   pi(u | z) = exp(-kappa |z - mu_u|^2) / sum_v exp(-kappa |z - mu_v|^2)
 *
 *   objective = sum_h through_h log norm_h               what was seen, given what was done
 *             + sum_h sum_u chosen_h(u) log pi(u | z_h)  what was done
 *             + log prior
 *
 * Its slopes come from one pass up the tree and one down: what a belief is worth is handed back
 * from children to parents. With g_c the slope by the filter at a child c of h,
 *
 *   w_c(s') = (g_c(s') - sum_k g_c(k) z_c(k) + through_c) / norm_c
 *   g_h(s)  = sum_u by what was done at h + sum_c sum_s' tau(s'|s,u_c) omega(x_c|u_c,s') w_c(s')
 *
 * Parameters are numbers of any size, in one vector:
 *
 *   start [state], transition [from, to, action], emission [to, observation, action]
 *                             logarithms of weights, of which laws are the shares; a shared
 *                             transition is there once
 *   centres [state, action]   less what takes their sum off 1
 *   log kappa                 one number
 *
 * so that in some directions nothing changes, and slopes have no part along them. */

typedef struct {
  const ibrc_iohmm_tree *tree;   /* its `start` is 0 everywhere; `ends` are not read */
  const double *chosen;          /* [action, node]: how often it was taken there, if it counts */
  const ibrc_iohmm_prior *prior; /* of the laws */
  int n_states, n_actions, n_obs;
  /* Centres are normal about the middle, log kappa about a mean; an sd of infinity is no prior. */
  double centre_sd, log_sharpness_mean, log_sharpness_sd;
  int fixed; /* kappa is not to be moved */
} ibrc_iohmm_bc_task;

typedef struct {
  double objective, seen, chosen; /* log probabilities of what was seen and of what was done */
  ibrc_code code;
} ibrc_iohmm_bc_worth;

size_t ibrc_iohmm_bc_size(const ibrc_iohmm_bc_task *task);    /* of the vector */
size_t ibrc_iohmm_bc_doubles(const ibrc_iohmm_bc_task *task); /* working space of one thread */

/* `parameters`, `slope` [parameter, vector], one thread per vector. Where the code is not
 * IBRC_OK the objective is -infinity, and slopes are 0. */
void ibrc_iohmm_bc_joint(const ibrc_iohmm_bc_task *task, int n, int n_threads, double *doubles,
                         const double *parameters, ibrc_iohmm_bc_worth *worth, double *slope);

/* The same where beliefs [state, node] are given and stay: parameters are centres and log kappa,
 * n_nodes beliefs have their `chosen`, and of the task tree, prior and n_obs are not read. */
void ibrc_iohmm_bc_choice(const ibrc_iohmm_bc_task *task, int n_nodes, const double *beliefs, int n,
                          int n_threads, double *doubles, const double *parameters,
                          ibrc_iohmm_bc_worth *worth, double *slope);
size_t ibrc_iohmm_bc_choice_doubles(const ibrc_iohmm_bc_task *task);

#endif
