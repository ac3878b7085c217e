#include "iohmm.h"
#include "numeric.h"

/* From the leaf upwards: p(s_t | s_{t+1}, all that was seen) is proportional to
 * filter_t(s_t) tau(s_{t+1} | s_t, u_t). */
static void draw_path(const ibrc_iohmm_tree *tree, const ibrc_models *model, const double *filter,
                      int leaf, int length, const double *noise, double *chance, int *path,
                      const ibrc_iohmm_laws *counts) {
  const size_t S = (size_t)model->n_states, X = (size_t)model->n_obs;
  int h = leaf, t = length - 1;
  path[t] = ibrc_draw(filter + (size_t)h * S, 1, (int)S, noise[t]);
  for (; t > 0; t--, h = tree->parent[h]) {
    const size_t u = (size_t)tree->action[h], to = (size_t)path[t];
    const double *from = filter + (size_t)tree->parent[h] * S;
    const double *column = ibrc_model_transition(model, (int)u, 0) + to * S;
    if (tree->observation[h] >= 0) {
      counts->emission[(u * X + (size_t)tree->observation[h]) * S + to] += 1.0;
    }
    for (size_t s = 0; s < S; s++) chance[s] = from[s] * column[s];
    path[t - 1] = ibrc_draw(chance, 1, (int)S, noise[t - 1]);
    counts->transition[(u * S + to) * S + (size_t)path[t - 1]] += 1.0;
  }
  counts->start[(size_t)tree->start[h] * S + (size_t)path[0]] += 1.0;
}

void ibrc_iohmm_sample(const ibrc_iohmm_tree *tree, const ibrc_models *model, const double *filter,
                       const int *leaf, const int *length, int n_trajectories,
                       const double *noise, double *chance, int *path,
                       const ibrc_iohmm_laws *counts) {
  ibrc_iohmm_clear(model, counts);
  for (int i = 0; i < n_trajectories; i++) {
    draw_path(tree, model, filter, leaf[i], length[i], noise, chance, path, counts);
    noise += length[i];
    path += length[i];
  }
}
