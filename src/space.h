#ifndef IBRC_SPACE_H
#define IBRC_SPACE_H

#include <stddef.h>

/* A space of beliefs: finitely many nodes, the belief at each of them, and where any belief lies
 * between them. It is the only place that knows how beliefs are laid out; all others ask it. Nodes
 * are numbered from 0.
 *
 * A belief z lies at up to n_corners nodes with weights that are >= 0, sum to 1 and give
 * the belief back, so that a linear function of the belief is reproduced exactly:
 *
 *   z = sum_k weight_k node_k,     f(z) ~ sum_k weight_k f(node_k)
 *
 * A kind of space is a file that fills in the functions of ibrc_space_kind, and a line in
 * space.c, which knows them by name. */

typedef struct ibrc_space ibrc_space;

/* Where a belief lies: n corners. `ints` and `doubles` are scratch for the search. */
typedef struct {
  int n;
  int *node;
  double *weight;
  int *ints;
  double *doubles;
} ibrc_corners;

typedef struct {
  void (*node)(const ibrc_space *space, int node, double *belief);
  int (*vertex)(const ibrc_space *space, int state);
  void (*locate)(const ibrc_space *space, const double *belief, ibrc_corners *corners);
  void (*round)(const ibrc_space *space, double *belief);
  size_t (*coarser_layout)(const ibrc_space *space, double most_nodes);
  ibrc_space (*coarser)(const ibrc_space *space, double most_nodes, int *layout);
} ibrc_space_kind;

struct ibrc_space {
  int n_states;
  int n_nodes;
  int n_corners;            /* of one belief, at most */
  size_t n_ints, n_doubles; /* scratch to locate one belief */
  const ibrc_space_kind *kind;
  int resolution;    /* these two are for the kind alone; the storage of */
  const int *layout; /* its layout belongs to whoever made the space */
};

/* How a space of some kind is made: its number of nodes, as a double so that it cannot
 * overflow; and, for two states or more and as many nodes as an int holds, the space itself
 * over a layout of so many ints. */
typedef struct {
  const char *name;
  double (*count)(int n_states, int resolution);
  size_t (*layout)(int n_states, int resolution);
  ibrc_space (*make)(int n_states, int resolution, int *layout);
} ibrc_space_maker;

/* By name; NULL: there is no such kind. */
const ibrc_space_maker *ibrc_space_find(const char *kind);

/* The belief at a node. */
static inline void ibrc_space_node(const ibrc_space *space, int node, double *belief) {
  space->kind->node(space, node, belief);
}

/* The node at which a state is certain. */
static inline int ibrc_space_vertex(const ibrc_space *space, int state) {
  return space->kind->vertex(space, state);
}

/* Storage for corners, and corners laid out over it. */
static inline size_t ibrc_corners_ints(const ibrc_space *space) {
  return (size_t)space->n_corners + space->n_ints;
}
static inline size_t ibrc_corners_doubles(const ibrc_space *space) {
  return (size_t)space->n_corners + space->n_doubles;
}
static inline ibrc_corners ibrc_corners_over(const ibrc_space *space, int *ints, double *doubles) {
  ibrc_corners corners = {.node = ints,
                          .weight = doubles,
                          .ints = ints + space->n_corners,
                          .doubles = doubles + space->n_corners};
  return corners;
}

/* At a node itself. */
static inline void ibrc_corners_at(ibrc_corners *corners, int node) {
  corners->n = 1;
  corners->node[0] = node;
  corners->weight[0] = 1.0;
}

/* Fills n, node and weight. */
static inline void ibrc_space_locate(const ibrc_space *space, const double *belief,
                                     ibrc_corners *corners) {
  space->kind->locate(space, belief, corners);
}

/* Moves a belief to that of a node nearby. */
static inline void ibrc_space_round(const ibrc_space *space, double *belief) {
  space->kind->round(space, belief);
}

/* The finest space of that kind, this one among them, with at most so many nodes, over a
 * layout of so many ints. It has 0 nodes where there is none. */
static inline size_t ibrc_space_coarser_layout(const ibrc_space *space, double most_nodes) {
  return space->kind->coarser_layout(space, most_nodes);
}
static inline ibrc_space ibrc_space_coarser(const ibrc_space *space, double most_nodes,
                                            int *layout) {
  return space->kind->coarser(space, most_nodes, layout);
}

#endif
