#include "args.h"
#include "ffi.h"

/* Nodes or beliefs between two pauses. */
#define NODES_AT_ONCE 262144

SEXP ffi_lattice_count(SEXP n_states, SEXP resolution) {
  return Rf_ScalarReal(ibrc_lattice_count(args_int(n_states, "n_states"),
                                          args_int(resolution, "resolution")));
}

/* [state, node] */
SEXP ffi_lattice_nodes(SEXP n_states, SEXP resolution) {
  ibrc_lattice lattice =
      args_lattice(args_int(n_states, "n_states"), args_int(resolution, "resolution"));
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, lattice.n_states, lattice.n_nodes));
  double *beliefs = REAL(out);
  for (int node = 0; node < lattice.n_nodes; node++) {
    if (node % NODES_AT_ONCE == 0) args_pause();
    ibrc_lattice_node(&lattice, node, beliefs + (size_t)node * (size_t)lattice.n_states);
  }
  UNPROTECT(1);
  return out;
}

/* beliefs [state, belief]; returns node (from 1) and weight, both
 * [corner, belief], unused corners node 1 with weight 0. */
SEXP ffi_lattice_locate(SEXP beliefs, SEXP resolution) {
  const int n_states = Rf_nrows(beliefs), n_beliefs = Rf_ncols(beliefs);
  const double *z = args_nonnegative(beliefs, (R_xlen_t)n_states * n_beliefs, "beliefs");
  ibrc_lattice lattice = args_lattice(n_states, args_int(resolution, "resolution"));
  ibrc_locator locator = args_locator(n_states);

  const char *names[] = {"node", "weight", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_allocMatrix(INTSXP, n_states, n_beliefs));
  SET_VECTOR_ELT(out, 1, Rf_allocMatrix(REALSXP, n_states, n_beliefs));
  int *node = INTEGER(VECTOR_ELT(out, 0));
  double *weight = REAL(VECTOR_ELT(out, 1));
  for (int b = 0; b < n_beliefs; b++, z += n_states, node += n_states, weight += n_states) {
    if (b % NODES_AT_ONCE == 0) args_pause();
    int n = ibrc_lattice_locate(&lattice, z, &locator, node, weight);
    for (int k = 0; k < n; k++) node[k]++;
    for (int k = n; k < n_states; k++) {
      node[k] = 1;
      weight[k] = 0.0;
    }
  }
  UNPROTECT(1);
  return out;
}
