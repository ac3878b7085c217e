#include "process.h"

#include "threads.h"

/* A probability below this cannot change a sum of doubles. */
#define NEGLIGIBLE 1e-17

/* pi at a node, or at a pair, and what is read of x after each action. */
static const double *policy_at(const ibrc_process *process, size_t place) {
  const size_t n = (size_t)process->table->n_nodes, U = (size_t)process->table->n_actions;
  return place < n ? process->policy + place * U : process->after + (place - n) * U;
}

static size_t next_block(const ibrc_process *process, int action) {
  return process->after ? ((size_t)action + 1) * (size_t)process->table->n_nodes : 0;
}

static double expect_at(const ibrc_process *process, size_t place, const double *x) {
  const ibrc_table *table = process->table;
  const int U = table->n_actions, M = table->n_models;
  const double *policy = policy_at(process, place);
  size_t row = place % (size_t)table->n_nodes * (size_t)U * (size_t)M;
  double sum = 0.0;
  for (int u = 0; u < U; u++) {
    const double p = policy[u], *next = x + next_block(process, u);
    for (int m = 0; m < M; m++, row++) {
      const double flow = p * process->sigma[row];
      if (flow > NEGLIGIBLE) sum += flow * ibrc_table_dot(table, row, next);
    }
  }
  return sum;
}

void ibrc_process_expect(const ibrc_process *process, const double *x, double *expected) {
  const int size = (int)ibrc_process_size(process);
  IBRC_PARALLEL_FOR(process->n_threads)
  for (int place = 0; place < size; place++) {
    expected[place] = expect_at(process, (size_t)place, x);
  }
}

/* What one visit moves: all that stands at a node leaves by the same rows. */
static void push_node(const ibrc_process *process, size_t node, const double *mass, double *pushed) {
  const ibrc_table *table = process->table;
  const size_t U = (size_t)table->n_actions, M = (size_t)table->n_models;
  const size_t size = ibrc_process_size(process);
  for (size_t u = 0; u < U; u++) {
    double leaving = 0.0, *to = pushed + next_block(process, (int)u);
    for (size_t place = node; place < size; place += (size_t)table->n_nodes) {
      leaving += mass[place] * policy_at(process, place)[u];
    }
    for (size_t m = 0; m < M; m++) {
      const size_t row = (node * U + u) * M + m;
      const double moved = leaving * process->sigma[row];
      if (moved == 0.0) continue;
      for (int i = table->row_start[row]; i < table->row_start[row + 1]; i++) {
        to[table->column[i]] += moved * table->weight[i];
      }
    }
  }
}

static void push_pairs(const ibrc_process *process, const double *mass, double *pushed) {
  const size_t size = ibrc_process_size(process);
  for (size_t place = 0; place < size; place++) pushed[place] = 0.0;
  for (size_t node = 0; node < (size_t)process->table->n_nodes; node++) {
    push_node(process, node, mass, pushed);
  }
}

void ibrc_process_push(const ibrc_process *process, const double *mass, double *pushed) {
  const ibrc_table *table = process->table;
  const int U = table->n_actions, M = table->n_models;
  if (process->after) {
    push_pairs(process, mass, pushed);
    return;
  }
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
  const size_t nodes = (size_t)process->table->n_nodes;
  for (size_t place = 0; place < ibrc_process_size(process); place++) {
    const size_t cell = place % nodes * (size_t)U;
    const double *pi = policy_at(process, place);
    const double *prior =
        place < nodes ? problem->action_prior : problem->after + (place / nodes - 1) * (size_t)U;
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
    out->utility[place] = utility;
    out->decision[place] = ibrc_divergence(pi, prior, U);
    out->specification[place] = specification;
    out->recognition[place] = recognition;
  }
}

void ibrc_process_gain(const ibrc_terms *terms, const ibrc_problem *problem, size_t size,
                       double *gain) {
  const double alpha = problem->alpha.kind == IBRC_AVERAGE ? 0.0 : problem->alpha.value;
  const double beta = problem->beta.kind == IBRC_AVERAGE ? 0.0 : problem->beta.value;
  for (size_t place = 0; place < size; place++) {
    gain[place] = terms->utility[place] - alpha * terms->decision[place] -
                  beta * terms->specification[place] - problem->eta * terms->recognition[place];
  }
}
