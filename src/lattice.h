#ifndef IBRC_LATTICE_H
#define IBRC_LATTICE_H

#include "space.h"

/* The belief lattice: all compositions of `resolution` n into n_states parts,
 * divided by n. A node is known by its tail sums y_i = n (z_i + ... + z_{S-1}),
 * i = 1..S-1, with n >= y_1 >= ... >= y_{S-1} >= 0, and nodes are numbered in
 * lexicographic order of (y_1, ..., y_{S-1}). With two states, node k is the
 * belief (1 - k/n, k/n).
 *
 * Between nodes the Freudenthal triangulation (Lovejoy 1991) gives at most
 * n_states corners, on faces and vertices too. The layout is [coordinate][tail sum
 * 0..n]: what that tail sum adds to the number of a node. */

/* Number of nodes, as a double so that it cannot overflow. */
double ibrc_lattice_count(int n_states, int resolution);

/* Two states or more, over a layout of so many ints. */
size_t ibrc_lattice_layout(int n_states, int resolution);
ibrc_space ibrc_lattice_space(int n_states, int resolution, int *layout);

#endif
