#include "table.h"

#include <math.h>

#include "belief.h"
#include "threads.h"

#define SAME_BELIEF 1e-10
/* Multiplications between two pauses, about, on each thread: some hundredths of a second. */
#define WORK_AT_ONCE 1e6
/* Rows are copied much faster than they are built. */
#define STATES_AT_ONCE 8192

typedef struct {
  double *node_belief, *prediction, *landing, *mass, *entry;
  int *slot, *column;
  ibrc_corners corners;
} workspace;

/* Entries that a row may have: the corners of every observation. */
static size_t most_entries(const ibrc_table_recipe *recipe) {
  return (size_t)recipe->models->n_obs * (size_t)recipe->space->n_corners;
}

/* Where the state is seen a row is that of the transitions, and no space is needed. */
size_t ibrc_table_doubles(const ibrc_table_recipe *recipe) {
  if (ibrc_model_seen(recipe->models)) return 0;
  size_t S = (size_t)recipe->models->n_states, X = (size_t)recipe->models->n_obs;
  return 2 * S + X * S + X + most_entries(recipe) + ibrc_corners_doubles(recipe->space) +
         IBRC_GAP_DOUBLES;
}

size_t ibrc_table_ints(const ibrc_table_recipe *recipe) {
  if (ibrc_model_seen(recipe->models)) return 0;
  return most_entries(recipe) + (size_t)recipe->space->n_nodes + ibrc_corners_ints(recipe->space) +
         IBRC_GAP_INTS;
}

static workspace carve(const ibrc_table_recipe *recipe, double *doubles, int *ints) {
  size_t S = (size_t)recipe->models->n_states, X = (size_t)recipe->models->n_obs;
  workspace w;
  w.node_belief = doubles;
  w.prediction = doubles + S;
  w.landing = doubles + 2 * S;
  w.mass = w.landing + X * S;
  w.entry = w.mass + X;
  w.column = ints;
  w.slot = w.column + most_entries(recipe);
  w.corners = ibrc_corners_over(recipe->space, w.slot + recipe->space->n_nodes,
                                w.entry + most_entries(recipe));
  return w;
}

static int same_belief(const double *a, const double *b, int n) {
  for (int s = 0; s < n; s++) {
    if (fabs(a[s] - b[s]) > SAME_BELIEF) return 0;
  }
  return 1;
}

/* The distinct next beliefs of one (belief, action, model) and their masses. */
static int find_atoms(const ibrc_table_recipe *recipe, workspace *w, int action, int model) {
  const ibrc_models *models = recipe->models;
  int S = models->n_states, n_atoms = 0;
  const double *shown = ibrc_model_emission(models, action, model);
  ibrc_belief_predict(models, model, w->node_belief, action, w->prediction);
  for (int x = 0; x < models->n_obs; x++, shown += S) {
    double *posterior = w->landing + (size_t)n_atoms * (size_t)S;
    const double p = ibrc_belief_weigh(shown, w->prediction, S, posterior);
    if (!(p > 0.0)) continue;
    int atom = n_atoms;
    if (recipe->merge_observations) {
      for (atom = 0; atom < n_atoms; atom++) {
        if (same_belief(w->landing + (size_t)atom * (size_t)S, posterior, S)) break;
      }
    }
    if (atom == n_atoms) {
      w->mass[n_atoms++] = p;
    } else {
      w->mass[atom] += p;
    }
  }
  return n_atoms;
}

/* One row: its entries in w->column and w->entry. w->slot is -1 everywhere
 * between rows. Returns the number of entries. */
static int build_row(const ibrc_table_recipe *recipe, workspace *w, int action, int model,
                     double *entropy) {
  int S = recipe->models->n_states, n_entries = 0;
  int n_atoms = find_atoms(recipe, w, action, model);
  double surprise = 0.0;
  for (int atom = 0; atom < n_atoms; atom++) {
    double mass = w->mass[atom];
    surprise -= mass * log(mass);
    ibrc_space_locate(recipe->space, w->landing + (size_t)atom * (size_t)S, &w->corners);
    for (int k = 0; k < w->corners.n; k++) {
      int j = w->corners.node[k];
      if (w->slot[j] < 0) {
        w->slot[j] = n_entries;
        w->column[n_entries] = j;
        w->entry[n_entries++] = 0.0;
      }
      w->entry[w->slot[j]] += mass * w->corners.weight[k];
    }
  }
  for (int i = 0; i < n_entries; i++) w->slot[w->column[i]] = -1;
  *entropy = surprise;
  return n_entries;
}

/* Both passes visit the same rows: with row_count they count, with row_start they store. Counting
 * first lets the caller allocate only what is needed. */
static void visit_slice(const ibrc_table_recipe *recipe, int first, int end, double *doubles, int *ints,
                        int *row_count, const int *row_start, int *column, double *weight,
                        double *entropy) {
  const int U = recipe->models->n_actions, M = recipe->models->n_models;
  const size_t n_doubles = ibrc_table_doubles(recipe), n_ints = ibrc_table_ints(recipe);

  IBRC_PARALLEL_FOR(recipe->n_threads)
  for (int z = first; z < end; z++) {
    const size_t thread = (size_t)ibrc_thread_number();
    workspace w = carve(recipe, doubles + thread * n_doubles, ints + thread * n_ints);
    ibrc_space_node(recipe->space, z, w.node_belief);
    size_t row = (size_t)z * (size_t)U * (size_t)M;
    for (int u = 0; u < U; u++) {
      for (int m = 0; m < M; m++, row++) {
        double surprise;
        int n_entries = build_row(recipe, &w, u, m, &surprise);
        if (row_count) row_count[row] = n_entries;
        if (!row_start) continue;
        entropy[row] = surprise;
        for (int i = 0; i < n_entries; i++) {
          column[row_start[row] + i] = w.column[i];
          weight[row_start[row] + i] = w.entry[i];
        }
      }
    }
  }
}

/* Predictions, Bayes steps, and comparisons of what they lead to. */
static double node_work(const ibrc_table_recipe *recipe) {
  const double S = recipe->models->n_states, X = recipe->models->n_obs;
  const double compared = recipe->merge_observations ? X / 32.0 : 0.0;
  return (double)recipe->models->n_actions * recipe->models->n_models * S * (S + X * (1.0 + compared));
}

/* The row of a certain state: what it leads to is certain as well. */
static void copy_row(const ibrc_table_recipe *recipe, size_t from, size_t row, int *row_count,
                     const int *row_start, int *column, double *weight, double *entropy) {
  const ibrc_models *models = recipe->models;
  const int first = models->row_start[from], n = models->row_start[from + 1] - first;
  if (row_count) row_count[row] = n;
  if (!row_start) return;
  double surprise = 0.0;
  for (int i = 0; i < n; i++) {
    const double chance = models->chance[first + i];
    column[row_start[row] + i] = ibrc_space_vertex(recipe->space, models->to[first + i]);
    weight[row_start[row] + i] = chance;
    surprise -= chance * log(chance);
  }
  entropy[row] = surprise;
}

static void copy_rows(const ibrc_table_recipe *recipe, int *row_count, const int *row_start,
                      int *column, double *weight, double *entropy) {
  const ibrc_models *models = recipe->models;
  const int U = models->n_actions, M = models->n_models;
  for (int s = 0; s < models->n_states; s++) {
    size_t row = (size_t)ibrc_space_vertex(recipe->space, s) * (size_t)U * (size_t)M;
    if (s % STATES_AT_ONCE == 0) ibrc_ask(recipe->pause);
    for (int u = 0; u < U; u++) {
      for (int m = 0; m < M; m++, row++) {
        copy_row(recipe, ibrc_model_row(models, s, u, m), row, row_count, row_start, column, weight,
                 entropy);
      }
    }
  }
}

static void visit_rows(const ibrc_table_recipe *recipe, double *doubles, int *ints, int *row_count,
                       const int *row_start, int *column, double *weight, double *entropy) {
  if (ibrc_model_seen(recipe->models)) {
    copy_rows(recipe, row_count, row_start, column, weight, entropy);
    return;
  }
  const int n_nodes = recipe->space->n_nodes;
  const size_t n_ints = ibrc_table_ints(recipe);
  const double most = recipe->n_threads * WORK_AT_ONCE / node_work(recipe);
  const int slice = most < 1.0 ? 1 : most < n_nodes ? (int)most : n_nodes;

  for (int thread = 0; thread < recipe->n_threads; thread++) {
    workspace w = carve(recipe, doubles, ints + (size_t)thread * n_ints);
    for (int j = 0; j < n_nodes; j++) w.slot[j] = -1;
  }
  for (int first = 0; first < n_nodes;) {
    const int end = n_nodes - first > slice ? first + slice : n_nodes;
    visit_slice(recipe, first, end, doubles, ints, row_count, row_start, column, weight, entropy);
    ibrc_ask(recipe->pause);
    first = end;
  }
}

void ibrc_table_count(const ibrc_table_recipe *recipe, double *doubles, int *ints, int *row_count) {
  visit_rows(recipe, doubles, ints, row_count, NULL, NULL, NULL, NULL);
}

void ibrc_table_fill(const ibrc_table_recipe *recipe, double *doubles, int *ints, const int *row_start,
                     int *column, double *weight, double *entropy) {
  visit_rows(recipe, doubles, ints, NULL, row_start, column, weight, entropy);
}

/* Observations that some state can give after an action, in one model. */
static int n_possible(const ibrc_models *models, int action, int model) {
  const double *emission = ibrc_model_emission(models, action, model);
  int n = 0;
  for (int x = 0; x < models->n_obs; x++, emission += models->n_states) {
    int s = 0;
    while (s < models->n_states && !(emission[s] > 0.0)) s++;
    n += s < models->n_states;
  }
  return n;
}

double ibrc_table_most(const ibrc_table_recipe *recipe) {
  const ibrc_models *models = recipe->models;
  if (ibrc_model_seen(models)) {
    return models->row_start[(size_t)models->n_states * (size_t)models->n_actions * (size_t)models->n_models];
  }
  double per_node = 0.0;
  for (int m = 0; m < models->n_models; m++) {
    for (int u = 0; u < models->n_actions; u++) {
      per_node += fmin((double)n_possible(models, u, m) * recipe->space->n_corners, recipe->space->n_nodes);
    }
  }
  return per_node * recipe->space->n_nodes;
}

static void sum_counts(const ibrc_table_recipe *recipe, int *row_start) {
  const size_t rows = (size_t)recipe->space->n_nodes * (size_t)recipe->models->n_actions *
                      (size_t)recipe->models->n_models;
  row_start[0] = 0;
  for (size_t r = 0; r < rows; r++) row_start[r + 1] += row_start[r];
}

/* Rows one after the other, each at the end of the last: half the work of two passes. */
static void append_rows(const ibrc_table_recipe *recipe, double *doubles, int *ints, int *row_start,
                        int *column, double *weight, double *entropy) {
  const int U = recipe->models->n_actions, M = recipe->models->n_models;
  workspace w = carve(recipe, doubles, ints);
  for (int j = 0; j < recipe->space->n_nodes; j++) w.slot[j] = -1;
  size_t row = 0;
  row_start[0] = 0;
  for (int z = 0; z < recipe->space->n_nodes; z++) {
    ibrc_space_node(recipe->space, z, w.node_belief);
    for (int u = 0; u < U; u++) {
      for (int m = 0; m < M; m++, row++) {
        const int n_entries = build_row(recipe, &w, u, m, entropy + row);
        const int first = row_start[row];
        for (int i = 0; i < n_entries; i++) {
          column[first + i] = w.column[i];
          weight[first + i] = w.entry[i];
        }
        row_start[row + 1] = first + n_entries;
      }
    }
  }
}

void ibrc_table_build(const ibrc_table_recipe *recipe, double *doubles, int *ints, int *row_start,
                      int *column, double *weight, double *entropy) {
  if (!recipe->pause && !ibrc_model_seen(recipe->models)) {
    append_rows(recipe, doubles, ints, row_start, column, weight, entropy);
    return;
  }
  ibrc_table_count(recipe, doubles, ints, row_start + 1);
  sum_counts(recipe, row_start);
  ibrc_table_fill(recipe, doubles, ints, row_start, column, weight, entropy);
}
