#include "evaluate.h"

#include <math.h>

#include "threads.h"

/* Policies and values of one solve. */
static size_t result_reals(const ibrc_table *table) {
  return 2 * ((size_t)table->n_nodes * (size_t)table->n_actions + ibrc_table_rows(table));
}

static ibrc_plan plan_of(const ibrc_evaluation *evaluation, const ibrc_problem *problem,
                         const ibrc_backup_result *result) {
  ibrc_plan plan = {evaluation->lattice,  evaluation->table->n_actions, evaluation->table->n_models,
                    evaluation->by_value, problem->alpha,               problem->beta,
                    problem->action_prior, problem->model_weights,      NULL,
                    NULL,                 NULL,                         NULL};
  if (result) {
    plan.action_value = result->action_value;
    plan.model_value = result->model_value;
    plan.policy = result->policy;
    plan.sigma = result->sigma;
  }
  return plan;
}

size_t ibrc_evaluate_reals(const ibrc_evaluation *evaluation, const ibrc_history *largest,
                           int n_threads) {
  ibrc_plan plan = plan_of(evaluation, evaluation->problem, NULL);
  return result_reals(evaluation->table) +
         ibrc_solve_reals(evaluation->table, evaluation->coarse, n_threads) +
         ibrc_loglik_reals(largest, &plan, evaluation->models) + IBRC_GAP_REALS;
}

size_t ibrc_evaluate_wholes(const ibrc_evaluation *evaluation) {
  return ibrc_loglik_wholes(evaluation->models) + IBRC_GAP_WHOLES;
}

static void evaluate_one(const ibrc_evaluation *evaluation, const ibrc_history *history,
                         int n_threads, double *reals, int *wholes, ibrc_vector *vector) {
  const ibrc_table *table = evaluation->table;
  const size_t cells = (size_t)table->n_nodes * (size_t)table->n_actions;
  const size_t rows = ibrc_table_rows(table);
  ibrc_problem problem = *evaluation->problem;
  problem.alpha = ibrc_temperature_from(vector->alpha);
  problem.beta = ibrc_temperature_from(vector->beta);
  problem.eta = vector->eta;
  problem.discount = vector->discount;
  if (vector->reward) problem.reward = vector->reward;

  ibrc_backup_result result = {vector->value, reals, reals + cells, reals + cells + rows,
                               reals + 2 * cells + rows};
  double *scratch = reals + result_reals(table);
  vector->report = ibrc_solve_optimum(table, evaluation->coarse, &problem, &evaluation->options,
                                      n_threads, scratch, &result);
  vector->log_likelihood = -INFINITY;
  if (vector->report.code != IBRC_OK) return;
  ibrc_plan plan = plan_of(evaluation, &problem, &result);
  vector->log_likelihood = ibrc_loglik(history, &plan, evaluation->models,
                                       evaluation->start_belief, scratch, wholes,
                                       evaluation->options.pause, NULL);
}

void ibrc_evaluate(const ibrc_evaluation *evaluation, int n_vectors, int n_threads, size_t n_reals,
                   double *reals, int *wholes, ibrc_vector *vectors) {
  const size_t n_wholes = ibrc_evaluate_wholes(evaluation);
  if (evaluation->options.pause) {
    for (int i = 0; i < n_vectors; i++) {
      evaluate_one(evaluation, evaluation->history[i], n_threads, reals, wholes, vectors + i);
    }
    return;
  }
  IBRC_PARALLEL_EACH(n_threads)
  for (int i = 0; i < n_vectors; i++) {
    const size_t thread = (size_t)ibrc_thread_number();
    evaluate_one(evaluation, evaluation->history[i], 1, reals + thread * n_reals,
                 wholes + thread * n_wholes, vectors + i);
  }
}
