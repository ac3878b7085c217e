#ifndef IBRC_LATTICE_H
#define IBRC_LATTICE_H

/* The belief lattice: all compositions of `resolution` n into n_states parts,
 * divided by n. A node is known by its tail sums y_i = n (z_i + ... + z_{S-1}),
 * i = 1..S-1, with n >= y_1 >= ... >= y_{S-1} >= 0, and nodes are numbered in
 * lexicographic order of (y_1, ..., y_{S-1}). With two states, node k is the
 * belief (1 - k/n, k/n).
 *
 * Between nodes the Freudenthal triangulation (Lovejoy 1991) gives at most
 * n_states weights, all >= 0 and with sum 1; a linear function of the belief is
 * reproduced exactly, on faces and vertices too. Resolution 1 has the vertices
 * alone: the lattice of a fully observed setting. */

typedef struct {
  int n_states;
  int resolution;
  int n_nodes;
  const int *offset; /* [coordinate][tail sum 0..n]: what it adds to the number */
} ibrc_lattice;

/* Working space to locate one belief: n_states entries in each array. */
typedef struct {
  int *tail;
  int *order;
  double *fraction;
} ibrc_locator;

/* Number of nodes, as a double so that it cannot overflow. */
double ibrc_lattice_count(int n_states, int resolution);

/* `offset` is storage for (n_states - 1) * (resolution + 1) integers. */
ibrc_lattice ibrc_lattice_make(int n_states, int resolution, int *offset);

/* The belief at a node. */
void ibrc_lattice_node(const ibrc_lattice *lattice, int node, double *belief);

/* Fills node[] and weight[] (n_states entries at most) and returns how many. */
int ibrc_lattice_locate(const ibrc_lattice *lattice, const double *belief, ibrc_locator *locator,
                        int *node, double *weight);

#endif
