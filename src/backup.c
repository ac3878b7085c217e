#include "backup.h"

#include "threads.h"

size_t ibrc_backup_reals(const ibrc_table *table) {
  size_t U = (size_t)table->n_actions, M = (size_t)table->n_models;
  return U + U * M;
}

static void backup_node(const ibrc_table *table, const ibrc_problem *problem, const double *value,
                        int node, double *scratch, const ibrc_backup_result *out) {
  const int U = table->n_actions, M = table->n_models;
  const size_t cell = (size_t)node * (size_t)U, row = cell * (size_t)M;
  double *Q = out->action_value ? out->action_value + cell : scratch;
  double *K = out->model_value ? out->model_value + row : scratch + U;

  for (int u = 0; u < U; u++) {
    const size_t first = (size_t)u * (size_t)M;
    double *K_u = K + first;
    for (int m = 0; m < M; m++) {
      const size_t r = row + first + (size_t)m;
      K_u[m] = problem->eta * problem->surprise[r] +
               problem->discount * ibrc_table_dot(table, r, value);
    }
    Q[u] = problem->reward[cell + (size_t)u] +
           ibrc_soft_mean(K_u, problem->model_weights, M, &problem->beta,
                          out->sigma ? out->sigma + row + first : NULL);
  }
  out->value[node] = ibrc_soft_mean(Q, problem->action_prior, U, &problem->alpha,
                                    out->policy ? out->policy + cell : NULL);
}

void ibrc_backup(const ibrc_table *table, const ibrc_problem *problem, const double *value,
                 int n_threads, double *scratch, const ibrc_backup_result *out) {
  const size_t n_reals = ibrc_backup_reals(table);
  IBRC_PARALLEL_FOR(n_threads)
  for (int node = 0; node < table->n_nodes; node++) {
    backup_node(table, problem, value, node, scratch + (size_t)ibrc_thread_number() * n_reals, out);
  }
}
