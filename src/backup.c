#include "backup.h"

#include "threads.h"

size_t ibrc_backup_doubles(const ibrc_table *table) {
  size_t U = (size_t)table->n_actions, M = (size_t)table->n_models;
  return U + U * M + IBRC_GAP_DOUBLES;
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

static void backup_nodes(const ibrc_table *table, const ibrc_problem *problem, const double *value,
                         int first, int end, double *scratch, const ibrc_backup_result *out) {
  for (int node = first; node < end; node++) {
    backup_node(table, problem, value, node, scratch, out);
  }
}

void ibrc_backup(const ibrc_table *table, const ibrc_problem *problem, const double *value,
                 int n_threads, double *scratch, const ibrc_backup_result *out) {
  const int n_nodes = table->n_nodes;
  const size_t n_doubles = ibrc_backup_doubles(table);
  if (n_threads == 1) {
    backup_nodes(table, problem, value, 0, n_nodes, scratch, out);
    return;
  }
  IBRC_PARALLEL_FOR(n_threads)
  for (int part = 0; part < n_threads; part++) {
    backup_nodes(table, problem, value, ibrc_part_begin(n_nodes, part, n_threads),
                 ibrc_part_begin(n_nodes, part + 1, n_threads), scratch + (size_t)part * n_doubles, out);
  }
}
