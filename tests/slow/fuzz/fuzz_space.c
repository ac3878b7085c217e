#include "input.h"
#include "space.h"

/* Interpolation: corners are nodes, each once; weights are >= 0, sum to 1
 * and give the belief back; a node is located at itself. Beliefs come as a user may
 * have them, with a sum that is 1 but for rounding. */

static void check_node(const ibrc_space *space, ibrc_corners *corners, int node) {
  const int S = space->n_states;
  double *belief = doubles((size_t)S);
  ibrc_space_node(space, node, belief);
  must_be_law(belief, S, 1e-12, "a node is a belief");
  ibrc_space_locate(space, belief, corners);
  must(corners->n == 1 && corners->node[0] == node && corners->weight[0] == 1.0,
       "a node lies at itself");
  free(belief);
}

static void check_vertex(const ibrc_space *space, int state) {
  double *belief = doubles((size_t)space->n_states);
  const int node = ibrc_space_vertex(space, state);
  must(node >= 0 && node < space->n_nodes, "a vertex is a node");
  ibrc_space_node(space, node, belief);
  for (int s = 0; s < space->n_states; s++) must(belief[s] == (s == state), "a vertex is its state");
  free(belief);
}

static void check_belief(const ibrc_space *space, ibrc_corners *corners, const double *belief) {
  const int S = space->n_states;
  double *at = doubles((size_t)S), *back = doubles((size_t)S);
  ibrc_space_locate(space, belief, corners);
  must(corners->n >= 1 && corners->n <= space->n_corners, "no more corners than a belief may have");
  must_be_law(corners->weight, corners->n, 1e-12, "weights are a law");
  for (int s = 0; s < S; s++) back[s] = 0.0;
  for (int k = 0; k < corners->n; k++) {
    must(corners->node[k] >= 0 && corners->node[k] < space->n_nodes, "a corner is a node");
    for (int j = 0; j < k; j++) must(corners->node[j] != corners->node[k], "each corner once");
    ibrc_space_node(space, corners->node[k], at);
    for (int s = 0; s < S; s++) {
      must(fabs(at[s] - belief[s]) <= 1.0 / space->resolution + 1e-9, "corners are neighbours");
      back[s] += corners->weight[k] * at[s];
    }
  }
  for (int s = 0; s < S; s++) must(fabs(back[s] - belief[s]) <= 1e-9, "weights give the belief back");
  for (int s = 0; s < S; s++) back[s] = belief[s];
  ibrc_space_round(space, back);
  ibrc_space_locate(space, back, corners);
  must(corners->n == 1, "what is rounded is a node");
  free(at);
  free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  input in = {bytes, size};
  const int S = take_int(&in, 2, 7), most[] = {0, 0, 2000, 120, 30, 15, 10, 8};
  const int seen = take(&in) % 4 == 0, n = seen ? 1 : take_int(&in, 1, most[S]);
  const ibrc_space_maker *maker = ibrc_space_find(seen ? "vertices" : "lattice");
  must(!ibrc_space_find("sphere"), "no kind that there is not");
  int *layout = ints(maker->layout(S, n));
  ibrc_space space = maker->make(S, n, layout);
  must(space.n_nodes == (int)maker->count(S, n), "as many nodes as were counted");
  int *more = ints(ibrc_corners_ints(&space));
  double *work = doubles(ibrc_corners_doubles(&space)), *belief = doubles((size_t)S);
  ibrc_corners corners = ibrc_corners_over(&space, more, work);
  take_law(&in, belief, S, 1);
  check_belief(&space, &corners, belief);
  check_node(&space, &corners, take_int(&in, 0, 65535) % space.n_nodes);
  check_vertex(&space, take_int(&in, 0, S - 1));
  free(belief);
  free(work);
  free(more);
  free(layout);
  return 0;
}
