#include "args.h"
#include "ffi.h"
#include "occupancy.h"

#define MOST_CYCLES 1000

SEXP ffi_occupancy(SEXP table_arg, SEXP policy, SEXP sigma, SEXP discount, SEXP start,
                   SEXP tolerance) {
  ibrc_table table = args_table(table_arg);
  R_xlen_t cells = (R_xlen_t)table.n_nodes * table.n_actions;
  ibrc_process process = {.table = &table,
                          .policy = args_doubles(policy, cells, "policy"),
                          .sigma = args_doubles(sigma, cells * table.n_models, "sigma"),
                          .discount = args_double(discount, "discount"),
                          .n_threads = 1};
  const double *first = args_doubles(start, table.n_nodes, "start");
  double *scratch = args_alloc_doubles(ibrc_occupancy_doubles(&table));

  const char *names[] = {"occupancy", "code", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, table.n_nodes));
  ibrc_code code = ibrc_occupancy(&process, first, args_double(tolerance, "tolerance"), MOST_CYCLES,
                                  args_pause, scratch, REAL(VECTOR_ELT(out, 0)));
  SET_VECTOR_ELT(out, 1, Rf_ScalarInteger((int)code));
  UNPROTECT(1);
  return out;
}

/* utility, decision, specification, recognition: what one visit at each node
 * brings and costs. */
SEXP ffi_terms(SEXP table_arg, SEXP problem_arg, SEXP policy, SEXP sigma) {
  ibrc_table table = args_table(table_arg);
  ibrc_problem problem = args_problem(problem_arg, &table);
  R_xlen_t cells = (R_xlen_t)table.n_nodes * table.n_actions;
  ibrc_process process = {.table = &table,
                          .policy = args_doubles(policy, cells, "policy"),
                          .sigma = args_doubles(sigma, cells * table.n_models, "sigma"),
                          .discount = problem.discount,
                          .n_threads = 1};
  const char *names[] = {"utility", "decision", "specification", "recognition", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  for (int i = 0; i < 4; i++) SET_VECTOR_ELT(out, i, Rf_allocVector(REALSXP, table.n_nodes));
  ibrc_terms terms = {.utility = REAL(VECTOR_ELT(out, 0)),
                      .decision = REAL(VECTOR_ELT(out, 1)),
                      .specification = REAL(VECTOR_ELT(out, 2)),
                      .recognition = REAL(VECTOR_ELT(out, 3))};
  ibrc_process_terms(&process, &problem, &terms);
  UNPROTECT(1);
  return out;
}
