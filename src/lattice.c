#include "lattice.h"

#include <math.h>
#include <stddef.h>

/* A tail sum this close to a whole number (in units of the lattice) is that
 * number: rounding in a belief must not grow neighbours of weight 1e-15. */
#define WHOLE 1e-11

double ibrc_lattice_count(int n_states, int resolution) {
  double count = 1.0;
  for (int i = 1; i < n_states; i++) count = count * ((double)resolution + i) / i;
  return floor(count + 0.5);
}

/* With d = S - 1 coordinates, y_1 is preceded by C(y_1 + d - 1, d) nodes, then
 * y_2 by C(y_2 + d - 2, d - 1) among those that share y_1, and so on: each
 * column of Pascal's triangle is the running sum of the next. */
ibrc_lattice ibrc_lattice_make(int n_states, int resolution, int *offset) {
  int d = n_states - 1, width = resolution + 1;
  for (int y = 0; y < width; y++) offset[(size_t)(d - 1) * (size_t)width + (size_t)y] = y;
  for (int i = d - 2; i >= 0; i--) {
    int *here = offset + (size_t)i * (size_t)width;
    const int *next = here + width;
    here[0] = 0;
    for (int y = 1; y < width; y++) here[y] = here[y - 1] + next[y];
  }
  ibrc_lattice lattice = {.n_states = n_states,
                          .resolution = resolution,
                          .n_nodes = (int)ibrc_lattice_count(n_states, resolution),
                          .offset = offset};
  return lattice;
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

void ibrc_lattice_node(const ibrc_lattice *lattice, int node, double *belief) {
  int d = lattice->n_states - 1, n = lattice->resolution;
  int rest = node, above = n;
  for (int i = 0; i < d; i++) {
    const int *offset = lattice->offset + (size_t)i * (size_t)(n + 1);
    const int y = last_within(offset, above, rest);
    rest -= offset[y];
    belief[i] = (double)(above - y) / n;
    above = y;
  }
  belief[d] = (double)above / n;
}

int ibrc_lattice_locate(const ibrc_lattice *lattice, const double *belief, ibrc_locator *locator,
                        int *node, double *weight) {
  int d = lattice->n_states - 1, n = lattice->resolution, count = 0;
  int *tail = locator->tail, *order = locator->order;
  double *fraction = locator->fraction;

  double y = 0.0;
  int n_inner = 0; /* coordinates strictly between whole numbers */
  for (int i = d - 1; i >= 0; i--) {
    y += n * belief[i + 1];
    double below = floor(y), part = y - below;
    if (part < WHOLE) part = 0.0;
    if (part > 1.0 - WHOLE) {
      part = 0.0;
      below += 1.0;
    }
    if (below >= n) {
      below = n;
      part = 0.0;
    }
    tail[i] = (int)below;
    fraction[i] = part;
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
  for (int i = 0; i < d; i++) number += lattice->offset[(size_t)i * (size_t)(n + 1) + (size_t)tail[i]];

  double level = 1.0;
  for (int k = 0;; k++) {
    double next = k < n_inner ? fraction[order[k]] : 0.0;
    if (level > next) {
      node[count] = number;
      weight[count++] = level - next;
    }
    if (k == n_inner) break;
    int i = order[k];
    const int *offset = lattice->offset + (size_t)i * (size_t)(n + 1) + tail[i];
    number += offset[1] - offset[0];
    level = next;
  }
  return count;
}
