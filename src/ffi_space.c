#include "args.h"
#include "ffi.h"

/* Nodes or beliefs between two pauses. */
#define NODES_AT_ONCE 262144

SEXP ffi_space_count(SEXP space) { return Rf_ScalarReal(args_space_count(space)); }

/* [state, node] */
SEXP ffi_space_nodes(SEXP space_arg) {
  ibrc_space space = args_space(space_arg);
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, space.n_states, space.n_nodes));
  double *beliefs = REAL(out);
  for (int node = 0; node < space.n_nodes; node++) {
    if (node % NODES_AT_ONCE == 0) args_pause();
    ibrc_space_node(&space, node, beliefs + (size_t)node * (size_t)space.n_states);
  }
  UNPROTECT(1);
  return out;
}

/* beliefs [state, belief]; returns node (from 1) and weight, both
 * [corner, belief], unused corners node 1 with weight 0. */
SEXP ffi_space_locate(SEXP space_arg, SEXP beliefs) {
  ibrc_space space = args_space(space_arg);
  const int n_beliefs = Rf_ncols(beliefs), n_corners = space.n_corners;
  const double *z = args_nonnegative(beliefs, (R_xlen_t)space.n_states * n_beliefs, "beliefs");
  ibrc_corners corners = args_corners(&space);

  const char *names[] = {"node", "weight", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_allocMatrix(INTSXP, n_corners, n_beliefs));
  SET_VECTOR_ELT(out, 1, Rf_allocMatrix(REALSXP, n_corners, n_beliefs));
  int *node = INTEGER(VECTOR_ELT(out, 0));
  double *weight = REAL(VECTOR_ELT(out, 1));
  for (int b = 0; b < n_beliefs; b++, z += space.n_states) {
    if (b % NODES_AT_ONCE == 0) args_pause();
    ibrc_space_locate(&space, z, &corners);
    for (int k = 0; k < n_corners; k++) {
      *node++ = k < corners.n ? corners.node[k] + 1 : 1;
      *weight++ = k < corners.n ? corners.weight[k] : 0.0;
    }
  }
  UNPROTECT(1);
  return out;
}
