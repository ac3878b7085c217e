#include "vertices.h"

static void be_sure(double *belief, int n_states, int state) {
  for (int s = 0; s < n_states; s++) belief[s] = 0.0;
  belief[state] = 1.0;
}

static void node_belief(const ibrc_space *space, int node, double *belief) {
  be_sure(belief, space->n_states, node);
}

static int vertex(const ibrc_space *space, int state) {
  (void)space;
  return state;
}

/* A belief that is sure of a state costs no more than to find it. */
static void locate(const ibrc_space *space, const double *belief, ibrc_corners *corners) {
  corners->n = 0;
  for (int s = 0; s < space->n_states; s++) {
    if (!(belief[s] > 0.0)) continue;
    if (belief[s] == 1.0) corners->n = 0;
    corners->node[corners->n] = s;
    corners->weight[corners->n++] = belief[s];
    if (belief[s] == 1.0) return;
  }
}

static void round_belief(const ibrc_space *space, double *belief) {
  int likeliest = 0;
  for (int s = 1; s < space->n_states; s++) {
    if (belief[s] > belief[likeliest]) likeliest = s;
  }
  be_sure(belief, space->n_states, likeliest);
}

static size_t coarser_layout(const ibrc_space *space, double most_nodes) {
  (void)space;
  (void)most_nodes;
  return 0;
}

/* States have no order: it is all of them, or none. */
static ibrc_space coarser(const ibrc_space *space, double most_nodes, int *layout) {
  (void)layout;
  ibrc_space out = *space;
  if (space->n_nodes > most_nodes) out.n_nodes = 0;
  return out;
}

double ibrc_vertices_count(int n_states, int resolution) {
  (void)resolution;
  return n_states;
}

size_t ibrc_vertices_layout(int n_states, int resolution) {
  (void)n_states;
  (void)resolution;
  return 0;
}

ibrc_space ibrc_vertices_space(int n_states, int resolution, int *layout) {
  static const ibrc_space_kind kind = {.node = node_belief,
                                       .vertex = vertex,
                                       .locate = locate,
                                       .round = round_belief,
                                       .coarser_layout = coarser_layout,
                                       .coarser = coarser};
  ibrc_space space = {.n_states = n_states,
                      .n_nodes = n_states,
                      .n_corners = n_states,
                      .kind = &kind,
                      .resolution = resolution,
                      .layout = layout};
  return space;
}
