#ifndef IBRC_PROCESS_H
#define IBRC_PROCESS_H

#include "backup.h"
#include "table.h"

/* The belief process under given policies (paper, Section 4.1): at node z the
 * agent acts by pi(u|z), expects what sigma(m|z,u) and W say, and so
 *
 *   (P x)(z) = sum_u pi(u|z) sum_m sigma(m|z,u) sum_j W_{u,m}(z,j) x(j)
 *
 * P is the Markov matrix M of the lattice and gamma P the slope of a backup at
 * its own policies.
 *
 * Where what is done depends on the last action as well (habit.h), the process is one of
 * pairs: x and masses are [1 + last][node], with those without a last action first. */

typedef struct {
  const ibrc_table *table;
  const double *policy; /* [node][action] */
  const double *after;  /* [last][node][action], or NULL: the last action does not matter */
  const double *sigma;  /* [row] */
  double discount;
  int n_threads;
} ibrc_process;

/* How many nodes there are, or pairs. */
static inline size_t ibrc_process_size(const ibrc_process *process) {
  const size_t blocks = process->after ? 1 + (size_t)process->table->n_actions : 1;
  return blocks * (size_t)process->table->n_nodes;
}

/* P x */
void ibrc_process_expect(const ibrc_process *process, const double *x, double *expected);

/* P' x: where a mass over nodes stands one visit later. */
void ibrc_process_push(const ibrc_process *process, const double *mass, double *pushed);

/* What one visit at each node brings and costs: expected reward, and the three
 * divergences KL(pi || pi~), E KL(sigma || sigma~) and E KL(rho || rho~), nats. */
typedef struct {
  double *utility;
  double *decision;
  double *specification;
  double *recognition;
} ibrc_terms;

void ibrc_process_terms(const ibrc_process *process, const ibrc_problem *problem,
                        const ibrc_terms *out);

/* The reward of one visit net of its costs. A limit (an infinite temperature)
 * plays its prior, and so has no cost. */
void ibrc_process_gain(const ibrc_terms *terms, const ibrc_problem *problem, size_t size,
                       double *gain);

#endif
