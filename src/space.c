#include "space.h"

#include <string.h>

#include "lattice.h"
#include "vertices.h"

static const ibrc_space_maker makers[] = {
    {.name = "lattice",
     .count = ibrc_lattice_count,
     .layout = ibrc_lattice_layout,
     .make = ibrc_lattice_space},
    {.name = "vertices",
     .count = ibrc_vertices_count,
     .layout = ibrc_vertices_layout,
     .make = ibrc_vertices_space},
};

const ibrc_space_maker *ibrc_space_find(const char *kind) {
  for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
    if (strcmp(makers[i].name, kind) == 0) return makers + i;
  }
  return NULL;
}
