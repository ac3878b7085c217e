#include "lattice.h"

#include <math.h>

/* A tail sum this close to a whole number (in units of the lattice) is that
 * number: rounding in a belief must not create neighbours of weight 1e-15. */
#define WHOLE 1e-11

double ibrc_lattice_count(int n_states, int resolution) {
  double count = 1.0;
  for (int i = 1; i < n_states; i++) count = count * ((double)resolution + i) / i;
  return floor(count + 0.5);
}

/* What each tail sum of a coordinate adds. */
static const int *offset_of(const ibrc_space *space, int coordinate) {
  return space->layout + (size_t)coordinate * ((size_t)space->resolution + 1);
}

/* The largest y from 0 to `most` with offset[y] <= rest; offset[0] = 0, and it rises. */
static int last_within(const int *offset, int most, int rest) {
  int low = 0, high = most;
  while (low < high) {
    const int middle = high - (high - low) / 2;
    if (offset[middle] <= rest) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

static void node_belief(const ibrc_space *space, int node, double *belief) {
  const int d = space->n_states - 1, n = space->resolution;
  int rest = node, above = n;
  for (int i = 0; i < d; i++) {
    const int *offset = offset_of(space, i);
    const int y = last_within(offset, above, rest);
    rest -= offset[y];
    belief[i] = (double)(above - y) / n;
    above = y;
  }
  belief[d] = (double)above / n;
}

static int vertex(const ibrc_space *space, int state) {
  int number = 0;
  for (int i = 0; i < state; i++) number += offset_of(space, i)[space->resolution];
  return number;
}

/* A tail sum, in units of the lattice: the whole number below it, and what is left. */
static inline double split_tail(double y, int n, int *tail) {
  double below = y < n ? (double)(int)y : (double)n, part = y - below;
  if (part < WHOLE) part = 0.0;
  if (part > 1.0 - WHOLE) {
    part = 0.0;
    below += 1.0;
  }
  if (below >= n) {
    below = n;
    part = 0.0;
  }
  *tail = (int)below;
  return part;
}

/* What locate() finds, for three states and without loops: most of what building a table takes. */
static void locate_among_three(const ibrc_space *space, const double *belief, ibrc_corners *corners) {
  const int n = space->resolution;
  const int *offset = space->layout; /* of the first coordinate; the second counts by one */
  int first, second;
  double y = n * belief[2];
  const double part_2 = split_tail(y, n, &second);
  y += n * belief[1];
  const double part_1 = split_tail(y, n, &first);
  const int number = offset[first] + second;
  const double most = part_1 < part_2 ? part_2 : part_1, least = part_1 < part_2 ? part_1 : part_2;
  int count = 1;

  corners->node[0] = number;
  corners->weight[0] = 1.0 - most;
  if (most > 0.0) {
    const int step = offset[first + (part_1 > 0.0)] - offset[first];
    if (most > least) {
      corners->node[count] = number + (part_1 < part_2 ? 1 : step);
      corners->weight[count++] = most - least;
    }
    if (least > 0.0) {
      corners->node[count] = number + step + 1;
      corners->weight[count++] = least;
    }
  }
  corners->n = count;
}

static void locate(const ibrc_space *space, const double *belief, ibrc_corners *corners) {
  if (space->n_states == 3) {
    locate_among_three(space, belief, corners);
    return;
  }
  const int d = space->n_states - 1, n = space->resolution;
  int *tail = corners->ints, *order = corners->ints + d, count = 0;
  double *fraction = corners->doubles;

  double y = 0.0;
  int n_inner = 0; /* coordinates strictly between whole numbers */
  for (int i = d - 1; i >= 0; i--) {
    y += n * belief[i + 1];
    fraction[i] = split_tail(y, n, tail + i);
  }

  /* Sort by falling fraction; among equals the earlier coordinate steps first,
   * which keeps the tail sums in order. */
  for (int i = 0; i < d; i++) {
    if (fraction[i] == 0.0) continue;
    int k = n_inner++;
    while (k > 0 && fraction[order[k - 1]] < fraction[i]) {
      order[k] = order[k - 1];
      k--;
    }
    order[k] = i;
  }

  int number = 0;
  for (int i = 0; i < d; i++) number += offset_of(space, i)[tail[i]];

  double level = 1.0;
  for (int k = 0;; k++) {
    double next = k < n_inner ? fraction[order[k]] : 0.0;
    if (level > next) {
      corners->node[count] = number;
      corners->weight[count++] = level - next;
    }
    if (k == n_inner) break;
    int i = order[k];
    const int *offset = offset_of(space, i) + tail[i];
    number += offset[1] - offset[0];
    level = next;
  }
  corners->n = count;
}

/* Tail sums, scaled and rounded, stay in order: so they name a node. */
static void round_belief(const ibrc_space *space, double *belief) {
  const int n = space->resolution;
  double tail = 0.0, whole_before = 0.0;
  for (int i = space->n_states - 1; i >= 1; i--) {
    tail += belief[i];
    double whole = floor(tail * n + 0.5);
    belief[i] = (whole - whole_before) / n;
    whole_before = whole;
  }
  belief[0] = (n - whole_before) / n;
}

static int coarser_resolution(const ibrc_space *space, double most_nodes) {
  int coarse = 0;
  while (coarse < space->resolution &&
         ibrc_lattice_count(space->n_states, coarse + 1) <= most_nodes) {
    coarse++;
  }
  return coarse;
}

static size_t coarser_layout(const ibrc_space *space, double most_nodes) {
  const int resolution = coarser_resolution(space, most_nodes);
  return resolution > 0 ? ibrc_lattice_layout(space->n_states, resolution) : 0;
}

static ibrc_space coarser(const ibrc_space *space, double most_nodes, int *layout) {
  const int resolution = coarser_resolution(space, most_nodes);
  if (resolution > 0) return ibrc_lattice_space(space->n_states, resolution, layout);
  ibrc_space none = *space;
  none.n_nodes = 0;
  return none;
}

size_t ibrc_lattice_layout(int n_states, int resolution) {
  return ((size_t)n_states - 1) * ((size_t)resolution + 1);
}

/* With d = S - 1 coordinates, y_1 is preceded by C(y_1 + d - 1, d) nodes, then
 * y_2 by C(y_2 + d - 2, d - 1) among those that share y_1, and so on: each
 * column of Pascal's triangle is the running sum of the next. */
ibrc_space ibrc_lattice_space(int n_states, int resolution, int *layout) {
  static const ibrc_space_kind kind = {.node = node_belief,
                                       .vertex = vertex,
                                       .locate = locate,
                                       .round = round_belief,
                                       .coarser_layout = coarser_layout,
                                       .coarser = coarser};
  const int d = n_states - 1, width = resolution + 1;
  for (int y = 0; y < width; y++) layout[(size_t)(d - 1) * (size_t)width + (size_t)y] = y;
  for (int i = d - 2; i >= 0; i--) {
    int *here = layout + (size_t)i * (size_t)width;
    const int *next = here + width;
    here[0] = 0;
    for (int y = 1; y < width; y++) here[y] = here[y - 1] + next[y];
  }
  ibrc_space space = {.n_states = n_states,
                      .n_nodes = (int)ibrc_lattice_count(n_states, resolution),
                      .n_corners = n_states,
                      .n_ints = 2 * (size_t)d,
                      .n_doubles = (size_t)d,
                      .kind = &kind,
                      .resolution = resolution,
                      .layout = layout};
  return space;
}
