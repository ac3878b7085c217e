#ifndef IBRC_VERTICES_H
#define IBRC_VERTICES_H

#include "space.h"

/* The space of a setting in which the state is seen: one node per state, at which that state
 * is certain. A belief between them, such as what is known before the first visit, is a
 * mixture of the states that have weight in it. There is no resolution, and no layout. */

double ibrc_vertices_count(int n_states, int resolution);
size_t ibrc_vertices_layout(int n_states, int resolution);
ibrc_space ibrc_vertices_space(int n_states, int resolution, int *layout);

#endif
