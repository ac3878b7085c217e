#include "evaluator.h"

#include <math.h>

#include "threads.h"

/* Policies and values of one solve. */
static size_t result_doubles(const ibrc_table *table) {
  return 2 * ((size_t)table->n_nodes * (size_t)table->n_actions + ibrc_table_rows(table));
}

/* The plan that a solve of `problem` leads to; without a result, its sizes. */
static ibrc_plan plan_over(const ibrc_evaluation *evaluation, const ibrc_problem *problem,
                           const ibrc_backup_result *result) {
  ibrc_plan plan = {.space = evaluation->space,
                    .n_actions = evaluation->table->n_actions,
                    .n_models = evaluation->table->n_models,
                    .by_value = evaluation->by_value,
                    .alpha = problem->alpha,
                    .beta = problem->beta,
                    .action_prior = problem->action_prior,
                    .model_weights = problem->model_weights};
  if (result) {
    plan.action_value = result->action_value;
    plan.model_value = result->model_value;
    plan.policy = result->policy;
    plan.sigma = result->sigma;
  }
  return plan;
}

size_t ibrc_evaluator_doubles(const ibrc_evaluation *evaluation, int n_vectors, int n_threads) {
  ibrc_plan plan = plan_over(evaluation, evaluation->problem, NULL);
  /* The likelihood comes after the solve, in the same place. */
  size_t most = ibrc_solve_doubles(evaluation->table, evaluation->coarse, n_threads);
  for (int i = 0; i < n_vectors; i++) {
    const size_t needed = ibrc_loglik_doubles(evaluation->history[i], &plan, evaluation->models);
    if (needed > most) most = needed;
  }
  return result_doubles(evaluation->table) + most + IBRC_GAP_DOUBLES;
}

size_t ibrc_evaluator_ints(const ibrc_evaluation *evaluation, int n_vectors) {
  ibrc_plan plan = plan_over(evaluation, evaluation->problem, NULL);
  size_t most = 0;
  for (int i = 0; i < n_vectors; i++) {
    const size_t needed = ibrc_loglik_ints(evaluation->history[i], &plan);
    if (needed > most) most = needed;
  }
  return most + IBRC_GAP_INTS;
}

static void evaluate_one(const ibrc_evaluation *evaluation, const ibrc_history *history,
                         int n_threads, double *doubles, int *ints, ibrc_vector *vector) {
  const ibrc_table *table = evaluation->table;
  const size_t cells = (size_t)table->n_nodes * (size_t)table->n_actions;
  const size_t rows = ibrc_table_rows(table);
  ibrc_problem problem = *evaluation->problem;
  problem.alpha = ibrc_temperature_from(vector->alpha);
  problem.beta = ibrc_temperature_from(vector->beta);
  problem.eta = vector->eta;
  problem.discount = vector->discount;
  problem.action_prior = vector->action_prior;
  if (vector->reward) problem.reward = vector->reward;

  ibrc_backup_result result = {.value = vector->value,
                               .action_value = doubles,
                               .model_value = doubles + cells,
                               .policy = doubles + cells + rows,
                               .sigma = doubles + 2 * cells + rows};
  double *scratch = doubles + result_doubles(table);
  vector->report = ibrc_solve_optimum(table, evaluation->coarse, &problem, &evaluation->options,
                                      n_threads, scratch, &result);
  vector->log_likelihood = -INFINITY;
  if (vector->report.code != IBRC_OK) return;
  ibrc_plan plan = plan_over(evaluation, &problem, &result);
  const ibrc_loglik_result total_alone = {.log_policy = NULL};
  vector->log_likelihood =
      ibrc_loglik(history, &plan, evaluation->models, evaluation->start_belief, scratch, ints,
                  evaluation->options.pause, &total_alone);
}

void ibrc_evaluator_run(const ibrc_evaluation *evaluation, int n_vectors, int n_threads,
                        size_t n_doubles, size_t n_ints, double *doubles, int *ints,
                        ibrc_vector *vectors) {
  if (evaluation->options.pause) {
    for (int i = 0; i < n_vectors; i++) {
      evaluate_one(evaluation, evaluation->history[i], n_threads, doubles, ints, vectors + i);
    }
    return;
  }
  IBRC_PARALLEL_EACH(n_threads)
  for (int i = 0; i < n_vectors; i++) {
    const size_t thread = (size_t)ibrc_thread_number();
    evaluate_one(evaluation, evaluation->history[i], 1, doubles + thread * n_doubles,
                 ints + thread * n_ints, vectors + i);
  }
}
