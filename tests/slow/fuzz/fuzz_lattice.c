#include "input.h"
#include "lattice.h"

/* Interpolation: corners are nodes of the lattice, each once; weights are >= 0, sum to 1
 * and give the belief back; a node is located at itself. Beliefs come as a user may
 * have them, with a sum that is 1 but for rounding. */

static void check_node(const ibrc_lattice *lattice, ibrc_locator *locator, int node) {
  const int S = lattice->n_states;
  double *belief = doubles((size_t)S), *weight = doubles((size_t)S);
  int *corner = ints((size_t)S);
  ibrc_lattice_node(lattice, node, belief);
  must_be_law(belief, S, 1e-12, "a node is a belief");
  int n = ibrc_lattice_locate(lattice, belief, locator, corner, weight);
  must(n == 1 && corner[0] == node && weight[0] == 1.0, "a node lies at itself");
  free(belief);
  free(weight);
  free(corner);
}

static void check_belief(const ibrc_lattice *lattice, ibrc_locator *locator, const double *belief) {
  const int S = lattice->n_states;
  double *weight = doubles((size_t)S), *at = doubles((size_t)S), *back = doubles((size_t)S);
  int *corner = ints((size_t)S);
  int n = ibrc_lattice_locate(lattice, belief, locator, corner, weight);
  must(n >= 1 && n <= S, "as many corners as states at most");
  must_be_law(weight, n, 1e-12, "weights are a law");
  for (int s = 0; s < S; s++) back[s] = 0.0;
  for (int k = 0; k < n; k++) {
    must(corner[k] >= 0 && corner[k] < lattice->n_nodes, "a corner is a node");
    for (int j = 0; j < k; j++) must(corner[j] != corner[k], "each corner once");
    ibrc_lattice_node(lattice, corner[k], at);
    for (int s = 0; s < S; s++) {
      must(fabs(at[s] - belief[s]) <= 1.0 / lattice->resolution + 1e-9, "corners are neighbours");
      back[s] += weight[k] * at[s];
    }
  }
  for (int s = 0; s < S; s++) must(fabs(back[s] - belief[s]) <= 1e-9, "weights give the belief back");
  free(weight);
  free(at);
  free(back);
  free(corner);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  input in = {bytes, size};
  const int S = take_int(&in, 2, 7), most[] = {0, 0, 2000, 120, 30, 15, 10, 8};
  const int n = take_int(&in, 1, most[S]);
  int *offset = ints((size_t)(S - 1) * (size_t)(n + 1));
  ibrc_lattice lattice = ibrc_lattice_make(S, n, offset);
  ibrc_locator locator = {
      .tail = ints((size_t)S), .order = ints((size_t)S), .fraction = doubles((size_t)S)};
  double *belief = doubles((size_t)S);
  take_law(&in, belief, S, 1);
  check_belief(&lattice, &locator, belief);
  check_node(&lattice, &locator, take_int(&in, 0, 65535) % lattice.n_nodes);
  free(belief);
  free(locator.tail);
  free(locator.order);
  free(locator.fraction);
  free(offset);
  return 0;
}
