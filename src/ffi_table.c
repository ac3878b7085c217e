#include "args.h"
#include "ffi.h"

/* A named list that args_table() and args_coarse() read back. */
SEXP ffi_table_build(SEXP models_arg, SEXP space_arg, SEXP merge, SEXP threads) {
  ibrc_models models = args_models(models_arg);
  ibrc_space space = args_space(space_arg);
  if (space.n_states != models.n_states || (ibrc_model_seen(&models) && space.n_nodes != space.n_states)) {
    Rf_error("internal: models of another space");
  }
  ibrc_table_recipe recipe = {.models = &models,
                              .space = &space,
                              .merge_observations = args_int(merge, "merge"),
                              .n_threads = args_threads(threads),
                              .pause = args_pause};
  size_t n_threads = (size_t)recipe.n_threads, S = (size_t)models.n_states;
  size_t rows = (size_t)space.n_nodes * (size_t)models.n_actions * (size_t)models.n_models;
  double *doubles = args_alloc_doubles(n_threads * ibrc_table_doubles(&recipe));
  int *ints = args_alloc_ints(n_threads * ibrc_table_ints(&recipe));

  const char *names[] = {"n_corners",   "n_nodes",       "n_actions",     "n_models",
                         "row_start",   "column",        "weight",        "entropy",
                         "coarse_node", "coarse_column", "coarse_weight", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_ScalarInteger(space.n_corners));
  SET_VECTOR_ELT(out, 1, Rf_ScalarInteger(space.n_nodes));
  SET_VECTOR_ELT(out, 2, Rf_ScalarInteger(models.n_actions));
  SET_VECTOR_ELT(out, 3, Rf_ScalarInteger(models.n_models));

  /* Counts land one place late, so that their running sum is row_start. */
  SET_VECTOR_ELT(out, 4, Rf_allocVector(INTSXP, (R_xlen_t)rows + 1));
  int *row_start = INTEGER(VECTOR_ELT(out, 4));
  row_start[0] = 0;
  ibrc_table_count(&recipe, doubles, ints, row_start + 1);
  double n_entries = 0.0;
  for (size_t r = 0; r < rows; r++) {
    n_entries += row_start[r + 1];
    if (n_entries > 2147483646.0) Rf_error("internal: too many table entries");
    row_start[r + 1] += row_start[r];
  }
  SET_VECTOR_ELT(out, 5, Rf_allocVector(INTSXP, row_start[rows]));
  SET_VECTOR_ELT(out, 6, Rf_allocVector(REALSXP, row_start[rows]));
  SET_VECTOR_ELT(out, 7, Rf_allocVector(REALSXP, (R_xlen_t)rows));
  ibrc_table_fill(&recipe, doubles, ints, row_start, INTEGER(VECTOR_ELT(out, 5)),
                  REAL(VECTOR_ELT(out, 6)), REAL(VECTOR_ELT(out, 7)));

  ibrc_space coarse = args_coarser(&space, ibrc_coarse_most(n_entries));
  const size_t size = coarse.n_nodes > 0 ? (size_t)space.n_nodes * (size_t)coarse.n_corners : 0;
  SET_VECTOR_ELT(out, 8, Rf_allocVector(INTSXP, coarse.n_nodes));
  SET_VECTOR_ELT(out, 9, Rf_allocVector(INTSXP, (R_xlen_t)size));
  SET_VECTOR_ELT(out, 10, Rf_allocVector(REALSXP, (R_xlen_t)size));
  if (coarse.n_nodes > 0) {
    ibrc_corners corners = args_corners(&space);
    ibrc_coarse_map(&space, &coarse, &corners, args_alloc_doubles(S), INTEGER(VECTOR_ELT(out, 8)),
                    INTEGER(VECTOR_ELT(out, 9)), REAL(VECTOR_ELT(out, 10)));
  }
  UNPROTECT(1);
  return out;
}

/* sum_j W(row, j) x(j) for every row, [model, action, node] */
SEXP ffi_table_expect(SEXP table_arg, SEXP x) {
  ibrc_table table = args_table(table_arg);
  const double *values = args_doubles(x, table.n_nodes, "x");
  SEXP out = PROTECT(Rf_alloc3DArray(REALSXP, table.n_models, table.n_actions, table.n_nodes));
  double *expected = REAL(out);
  for (size_t row = 0; row < ibrc_table_rows(&table); row++) {
    expected[row] = ibrc_table_dot(&table, row, values);
  }
  UNPROTECT(1);
  return out;
}
