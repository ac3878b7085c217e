#include "process.h"

#include "threads.h"

/* A probability below this cannot change a sum of doubles. */
#define NEGLIGIBLE 1e-17

static double expect_at(const ibrc_process *process, int node, const double *x) {
  const ibrc_table *table = process->table;
  const int U = table->n_actions, M = table->n_models;
  size_t cell = (size_t)node * (size_t)U, row = cell * (size_t)M;
  double sum = 0.0;
  for (int u = 0; u < U; u++, cell++) {
    const double p = process->policy[cell];
    for (int m = 0; m < M; m++, row++) {
      const double flow = p * process->sigma[row];
      if (flow > NEGLIGIBLE) sum += flow * ibrc_table_dot(table, row, x);
    }
  }
  return sum;
}

void ibrc_process_expect(const ibrc_process *process, const double *x, double *expected) {
  IBRC_PARALLEL_FOR(process->n_threads)
  for (int node = 0; node < process->table->n_nodes; node++) {
    expected[node] = expect_at(process, node, x);
  }
}

void ibrc_process_push(const ibrc_process *process, const double *mass, double *pushed) {
  const ibrc_table *table = process->table;
  const int U = table->n_actions, M = table->n_models;
  for (int node = 0; node < table->n_nodes; node++) pushed[node] = 0.0;
  for (int node = 0; node < table->n_nodes; node++) {
    if (mass[node] == 0.0) continue;
    for (int u = 0; u < U; u++) {
      const size_t cell = (size_t)node * (size_t)U + (size_t)u;
      for (int m = 0; m < M; m++) {
        const size_t row = cell * (size_t)M + (size_t)m;
        const double flow = process->policy[cell] * process->sigma[row];
        if (flow <= NEGLIGIBLE) continue;
        const double moved = mass[node] * flow;
        for (int i = table->row_start[row]; i < table->row_start[row + 1]; i++) {
          pushed[table->column[i]] += moved * table->weight[i];
        }
      }
    }
  }
}

void ibrc_process_terms(const ibrc_process *process, const ibrc_problem *problem,
                        const ibrc_terms *out) {
  const int U = process->table->n_actions, M = process->table->n_models;
  for (int node = 0; node < process->table->n_nodes; node++) {
    const size_t cell = (size_t)node * (size_t)U;
    const double *pi = process->policy + cell;
    double utility = 0.0, specification = 0.0, recognition = 0.0;
    for (int u = 0; u < U; u++) {
      if (!(pi[u] > 0.0)) continue;
      const size_t row = (cell + (size_t)u) * (size_t)M;
      const double *sigma = process->sigma + row;
      double surprise = 0.0;
      for (int m = 0; m < M; m++) surprise += sigma[m] * problem->surprise[row + (size_t)m];
      utility += pi[u] * problem->reward[cell + (size_t)u];
      specification += pi[u] * ibrc_divergence(sigma, problem->model_weights, M);
      recognition -= pi[u] * surprise;
    }
    out->utility[node] = utility;
    out->decision[node] = ibrc_divergence(pi, problem->action_prior, U);
    out->specification[node] = specification;
    out->recognition[node] = recognition;
  }
}

void ibrc_process_gain(const ibrc_terms *terms, const ibrc_problem *problem, int n_nodes,
                       double *gain) {
  const double alpha = problem->alpha.kind == IBRC_AVERAGE ? 0.0 : problem->alpha.value;
  const double beta = problem->beta.kind == IBRC_AVERAGE ? 0.0 : problem->beta.value;
  for (int node = 0; node < n_nodes; node++) {
    gain[node] = terms->utility[node] - alpha * terms->decision[node] -
                 beta * terms->specification[node] - problem->eta * terms->recognition[node];
  }
}
