#ifndef IBRC_EVALUATOR_H
#define IBRC_EVALUATOR_H

#include "loglik.h"
#include "plan.h"
#include "solve.h"

/* A batch of parameter vectors, each solved from a start of its own and then
 * given its log-likelihood; one thread per vector, so that no answer depends on the
 * number of threads. Where the options have a pause, vectors come one after the
 * other instead, each with all threads. */

/* What an agent believes in, and the table made of it. Where dynamics are inferred, vectors
 * have worlds of their own, in the same space and of the same sizes. */
typedef struct {
  ibrc_table table;
  ibrc_coarse coarse;
  ibrc_models models;
  const double *model_weights; /* [model] */
  const double *surprise;      /* [row] */
  const double *start_belief;  /* [state, start]: a tree says which */
  int n_starts;
} ibrc_world;

typedef struct {
  const ibrc_space *space;
  const ibrc_problem *problem; /* what the vectors have in common */
  int remembers; /* 1: values are [last][node] (habit.h), of vectors without a habit too */
  const ibrc_history *const *history; /* [vector]: whose behaviour */
  int by_value;
  ibrc_solve_options options;
} ibrc_evaluation;

/* Where the parameters of a vector stand when they come in one row of numbers: the slots of the
 * table of parameters in R. The action prior takes as many as there are actions. */
enum { IBRC_SLOT_ALPHA, IBRC_SLOT_BETA, IBRC_SLOT_ETA, IBRC_SLOT_DISCOUNT, IBRC_SLOT_HABIT,
       IBRC_SLOT_ACTION_PRIOR };

static inline size_t ibrc_evaluator_slots(int n_actions) {
  return (size_t)IBRC_SLOT_ACTION_PRIOR + (size_t)n_actions;
}

/* One vector: prices, discount, habit, action prior, and rewards [node][action] (the problem's own
 * if
 * NULL). `value` holds the start on entry and the solution on return. */
typedef struct {
  const ibrc_world *world;
  double alpha, beta, eta, discount, habit;
  const double *action_prior; /* [action], sum 1 */
  const double *reward;
  double *value;
  double log_likelihood; /* -Inf where the solve fails */
  ibrc_solve_report report;
} ibrc_vector;

/* Working space for any one of the vectors, when this many threads work on it. */
size_t ibrc_evaluator_doubles(const ibrc_evaluation *evaluation, const ibrc_vector *vectors, int n_vectors,
                              int n_threads);
size_t ibrc_evaluator_ints(const ibrc_evaluation *evaluation, const ibrc_vector *vectors, int n_vectors);

/* Tables of worlds, one thread per world: `recipe` says everything except whose models and how many
 * threads. The arrays
 * of world i begin at i times what one world may need: rows + 1 ints and ibrc_table_most() entries,
 * as many doubles,
 * and rows of surprise. Fills `table` and `surprise`; scratch is that of ibrc_table_doubles() and
 * ibrc_table_ints() for each thread. */
typedef struct {
  size_t n_rows, most_entries;
  int *row_start, *column;
  double *weight, *surprise;
} ibrc_world_storage;

void ibrc_evaluator_tables(const ibrc_table_recipe *recipe, int n_worlds, int n_threads,
                           const ibrc_world_storage *storage, double *doubles, int *ints,
                           ibrc_world *worlds);

/* n_doubles, n_ints: as much as each thread has for its own. */
void ibrc_evaluator_run(const ibrc_evaluation *evaluation, int n_vectors, int n_threads,
                        size_t n_doubles, size_t n_ints, double *doubles, int *ints,
                        ibrc_vector *vectors);

#endif
