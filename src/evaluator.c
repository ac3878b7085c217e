#include "evaluator.h"

#include <math.h>
#include <string.h>

#include "habit.h"
#include "threads.h"

/* Policies and values of one solve, and prior policies by the last action. */
static size_t result_doubles(const ibrc_table *table, int remembers) {
  const size_t U = (size_t)table->n_actions, cells = (size_t)table->n_nodes * U;
  return 2 * (cells + ibrc_table_rows(table)) + (remembers ? (U - 1) * cells + U * U : 0);
}

/* The plan that a solve of `problem` leads to; without a result, its sizes. */
static ibrc_plan plan_over(const ibrc_evaluation *evaluation, const ibrc_table *table,
                           const ibrc_problem *problem, const ibrc_backup_result *result) {
  ibrc_plan plan = {.space = evaluation->space,
                    .n_actions = table->n_actions,
                    .n_models = table->n_models,
                    .by_value = evaluation->by_value,
                    .alpha = problem->alpha,
                    .beta = problem->beta,
                    .action_prior = problem->action_prior,
                    .after = problem->after,
                    .model_weights = problem->model_weights};
  if (result) {
    plan.action_value = result->action_value;
    plan.model_value = result->model_value;
    plan.policy = result->policy;
    plan.sigma = result->sigma;
  }
  return plan;
}

size_t ibrc_evaluator_doubles(const ibrc_evaluation *evaluation, const ibrc_vector *vectors, int n_vectors,
                              int n_threads) {
  size_t most = 0;
  for (int i = 0; i < n_vectors; i++) {
    const ibrc_world *world = vectors[i].world;
    /* Neighbours often have a world in common. */
    const int same = i > 0 && world == vectors[i - 1].world;
    const ibrc_plan plan = plan_over(evaluation, &world->table, evaluation->problem, NULL);
    /* The likelihood comes after the solve, in the same place. */
    const size_t solve = same ? 0 : ibrc_solve_doubles(&world->table, &world->coarse,
                                                       evaluation->remembers, n_threads);
    const size_t loglik = ibrc_loglik_doubles(evaluation->history[i], &plan, &world->models);
    const size_t needed =
        result_doubles(&world->table, evaluation->remembers) + (solve > loglik ? solve : loglik);
    if (needed > most) most = needed;
  }
  return most + IBRC_GAP_DOUBLES;
}

size_t ibrc_evaluator_ints(const ibrc_evaluation *evaluation, const ibrc_vector *vectors, int n_vectors) {
  size_t most = 0;
  for (int i = 0; i < n_vectors; i++) {
    const ibrc_plan plan = plan_over(evaluation, &vectors[i].world->table, evaluation->problem, NULL);
    const size_t needed = ibrc_loglik_ints(evaluation->history[i], &plan);
    if (needed > most) most = needed;
  }
  return most + IBRC_GAP_INTS;
}

void ibrc_evaluator_tables(const ibrc_table_recipe *recipe, int n_worlds, int n_threads,
                           const ibrc_world_storage *storage, double *doubles, int *ints,
                           ibrc_world *worlds) {
  const size_t n_doubles = ibrc_table_doubles(recipe), n_ints = ibrc_table_ints(recipe);
  const int each = recipe->pause ? n_threads : 1;
  if (recipe->pause) n_threads = 1;
  IBRC_PARALLEL_EACH(n_threads)
  for (int i = 0; i < n_worlds; i++) {
    const size_t thread = recipe->pause ? 0 : (size_t)ibrc_thread_number(), at = (size_t)i;
    ibrc_world *world = worlds + i;
    ibrc_table_recipe own = *recipe;
    own.models = &world->models;
    own.n_threads = each;
    int *row_start = storage->row_start + at * (storage->n_rows + 1);
    int *column = storage->column + at * storage->most_entries;
    double *weight = storage->weight + at * storage->most_entries;
    double *surprise = storage->surprise + at * storage->n_rows;
    ibrc_table_build(&own, doubles + thread * n_doubles, ints + thread * n_ints, row_start, column,
                     weight, surprise);
    world->table = (ibrc_table){.n_nodes = recipe->space->n_nodes,
                                .n_actions = world->models.n_actions,
                                .n_models = world->models.n_models,
                                .row_start = row_start,
                                .column = column,
                                .weight = weight};
    world->surprise = surprise;
  }
}

static void evaluate_one(const ibrc_evaluation *evaluation, const ibrc_history *history,
                         int n_threads, double *doubles, int *ints, ibrc_vector *vector) {
  const ibrc_world *world = vector->world;
  const ibrc_table *table = &world->table;
  const size_t cells = (size_t)table->n_nodes * (size_t)table->n_actions;
  const size_t rows = ibrc_table_rows(table);
  ibrc_problem problem = *evaluation->problem;
  problem.alpha = ibrc_temperature_from(vector->alpha);
  problem.beta = ibrc_temperature_from(vector->beta);
  problem.eta = vector->eta;
  problem.discount = vector->discount;
  problem.action_prior = vector->action_prior;
  problem.model_weights = world->model_weights;
  problem.surprise = world->surprise;
  if (vector->reward) problem.reward = vector->reward;
  problem.after = NULL;

  const size_t lasts = evaluation->remembers ? (size_t)table->n_actions : 1;
  double *scratch = doubles + result_doubles(table, evaluation->remembers);
  if (vector->habit != 0.0) {
    double *after = scratch - lasts * lasts;
    ibrc_habit_priors(vector->action_prior, problem.ends, table->n_actions, vector->habit, after);
    problem.after = after;
  }
  ibrc_backup_result result = {.value = vector->value,
                               .action_value = doubles,
                               .model_value = doubles + cells,
                               .sigma = doubles + cells + rows,
                               .policy = doubles + cells + 2 * rows};
  vector->report = ibrc_solve_optimum(table, &world->coarse, &problem, &evaluation->options,
                                      n_threads, scratch, &result);
  /* Without a habit it does not matter what was done last. */
  for (size_t last = 1; last < lasts && !problem.after; last++) {
    memcpy(vector->value + last * (size_t)table->n_nodes, vector->value,
           (size_t)table->n_nodes * sizeof(double));
  }
  vector->log_likelihood = -INFINITY;
  if (vector->report.code != IBRC_OK) return;
  ibrc_plan plan = plan_over(evaluation, table, &problem, &result);
  const ibrc_loglik_result total_alone = {.log_policy = NULL};
  vector->log_likelihood =
      ibrc_loglik(history, &plan, &world->models, world->start_belief, scratch, ints,
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
