#include "backup.h"

#include "threads.h"

#define NODES_AT_ONCE IBRC_BACKUP_NODES

/* Working space: K of all rows; K and sigma of one action [model][slot], with the soft means of
 * K; Q and pi [action][node]; what soft means of Q share. */
size_t ibrc_backup_doubles(const ibrc_table *table) {
  size_t U = (size_t)table->n_actions, M = (size_t)table->n_models;
  return NODES_AT_ONCE * (U * M + 2 * M + 1 + 2 * U) + ibrc_soft_terms_doubles(table->n_actions) +
         IBRC_GAP_DOUBLES;
}

/* Lays K of one action, M numbers every `stride`, side by side: [model][slot]. An action that
 * begins anew has the same K at neighbouring nodes: they share a slot, and one soft mean serves
 * all of them. Returns the number of slots; slot[node] is the slot of a node. */
static int share_slots(const double *K, size_t stride, int n_nodes, size_t M, double *by_model,
                       int *slot) {
  int n_slots = 0;
  for (int i = 0; i < n_nodes; i++, K += stride) {
    size_t same = 0;
    if (i > 0) {
      while (same < M && K[same] == (K - stride)[same]) same++;
    }
    if (i == 0 || same < M) {
      for (size_t m = 0; m < M; m++) by_model[m * NODES_AT_ONCE + (size_t)n_slots] = K[m];
      n_slots++;
    }
    slot[i] = n_slots - 1;
  }
  return n_slots;
}

/* out[i * stride + k] = in[k][slot[i]] for k < n */
static void deal_out(const double *in, const int *slot, int n_nodes, size_t n, size_t stride,
                     double *out) {
  for (size_t k = 0; k < n; k++, in += NODES_AT_ONCE) {
    for (int i = 0; i < n_nodes; i++) out[(size_t)i * stride + k] = in[slot[i]];
  }
}

static void backup_block(const ibrc_table *table, const ibrc_problem *problem, const double *value,
                         int first, int n_nodes, double *scratch, const ibrc_backup_result *out) {
  const size_t U = (size_t)table->n_actions, M = (size_t)table->n_models;
  const size_t cell = (size_t)first * U, row = cell * M;
  double *by_model = scratch, *sigma = by_model + M * NODES_AT_ONCE;
  double *mean = sigma + M * NODES_AT_ONCE, *Q = mean + NODES_AT_ONCE;
  double *policy = Q + U * NODES_AT_ONCE;
  double *terms = policy + U * NODES_AT_ONCE;
  double *K = out->model_value ? out->model_value + row : terms + ibrc_soft_terms_doubles((int)U);
  /* The distance between the values of one last action and those of the next. */
  const size_t apart = problem->after ? (size_t)table->n_nodes : 0;
  const size_t n_blocks = (size_t)ibrc_backup_blocks(table);
  int slot[NODES_AT_ONCE];

  for (size_t r = 0, end = (size_t)n_nodes * U * M; r < end;) {
    for (size_t u = 0; u < U; u++) {
      const double *next = value + u * apart;
      for (size_t m = 0; m < M; m++, r++) {
        K[r] = problem->eta * problem->surprise[row + r] +
               problem->discount * ibrc_table_dot(table, row + r, next);
      }
    }
  }
  for (size_t u = 0; u < U; u++) {
    double *Q_u = Q + u * NODES_AT_ONCE;
    const double *reward = problem->reward + cell + u;
    const int n_slots = share_slots(K + u * M, U * M, n_nodes, M, by_model, slot);
    ibrc_soft_means(by_model, NODES_AT_ONCE, problem->model_weights, (int)M, n_slots,
                    &problem->beta, mean, out->sigma ? sigma : NULL);
    for (int i = 0; i < n_nodes; i++) Q_u[i] = reward[(size_t)i * U] + mean[slot[i]];
    if (out->sigma) deal_out(sigma, slot, n_nodes, M, U * M, out->sigma + row + u * M);
  }
  for (int i = 0; i < n_nodes; i++) slot[i] = i;
  const double *of = problem->action_prior;
  if (problem->after) ibrc_soft_terms(Q, NODES_AT_ONCE, of, (int)U, n_nodes, &problem->alpha, terms);
  for (size_t last = 0; last < ibrc_problem_lasts(problem, table); last++) {
    const size_t at = last * (size_t)table->n_nodes;
    double *value_at = out->value + at + first, *policy_at = out->policy ? policy : NULL;
    if (out->wanted && !out->wanted[last * n_blocks + (size_t)first / NODES_AT_ONCE]) continue;
    if (problem->after) {
      ibrc_soft_means_by_terms(terms, of, Q, NODES_AT_ONCE, problem->after + last * U, (int)U, n_nodes,
                               &problem->alpha, value_at, policy_at);
    } else {
      ibrc_soft_means(Q, NODES_AT_ONCE, of, (int)U, n_nodes, &problem->alpha, value_at, policy_at);
    }
    if (out->policy) deal_out(policy, slot, n_nodes, U, U, out->policy + at * U + cell);
  }
  if (out->action_value) deal_out(Q, slot, n_nodes, U, U, out->action_value + cell);
}

/* Blocks begin at the same nodes whatever the number of threads. */
static void backup_blocks(const ibrc_table *table, const ibrc_problem *problem, const double *value,
                          int first, int end, double *scratch, const ibrc_backup_result *out) {
  for (int block = first; block < end; block++) {
    const int node = block * NODES_AT_ONCE, left = table->n_nodes - node;
    const int some = left < NODES_AT_ONCE ? left : NODES_AT_ONCE;
    backup_block(table, problem, value, node, some, scratch, out);
  }
}

void ibrc_backup(const ibrc_table *table, const ibrc_problem *problem, const double *value,
                 int n_threads, double *scratch, const ibrc_backup_result *out) {
  const int n_blocks = ibrc_backup_blocks(table);
  const size_t n_doubles = ibrc_backup_doubles(table);
  if (n_threads == 1) {
    backup_blocks(table, problem, value, 0, n_blocks, scratch, out);
    return;
  }
  IBRC_PARALLEL_FOR(n_threads)
  for (int part = 0; part < n_threads; part++) {
    backup_blocks(table, problem, value, ibrc_part_begin(n_blocks, part, n_threads),
                  ibrc_part_begin(n_blocks, part + 1, n_threads), scratch + (size_t)part * n_doubles,
                  out);
  }
}
