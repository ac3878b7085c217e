#include "args.h"
#include "ffi.h"
#include "habit.h"
#include "occupancy.h"

#define MOST_CYCLES 1000

/* What is done at a first visit and after each action, [action, node, none and last], by the values of actions
 * [action, node]; NULL without a habit. */
SEXP ffi_policy_after(SEXP table_arg, SEXP problem_arg, SEXP action_value) {
  ibrc_table table = args_table(table_arg);
  ibrc_problem problem = args_problem(problem_arg, &table);
  if (!problem.after) return R_NilValue;
  const R_xlen_t cells = (R_xlen_t)table.n_nodes * table.n_actions;
  SEXP out = PROTECT(Rf_alloc3DArray(REALSXP, table.n_actions, table.n_nodes, table.n_actions + 1));
  const ibrc_habit_reading reading = {.policy = REAL(out), .policy_after = REAL(out) + cells};
  ibrc_habit_read(&problem, args_doubles(action_value, cells, "action_value"), table.n_nodes,
                  table.n_actions, args_alloc_doubles(ibrc_habit_doubles(table.n_actions)), &reading);
  UNPROTECT(1);
  return out;
}

/* policy and sigma as args_process() takes them; start [node], of first visits. Returns the occupancy of nodes, or, of
 * a policy by the last action, of pairs [node, none and last]. */
SEXP ffi_occupancy(SEXP table_arg, SEXP policy, SEXP sigma, SEXP discount, SEXP start,
                   SEXP tolerance) {
  ibrc_table table = args_table(table_arg);
  const ibrc_process process =
      args_process(&table, policy, sigma, args_double(discount, "discount"), 0, 1);
  const double *first = args_doubles(start, table.n_nodes, "start");
  const size_t size = ibrc_process_size(&process);
  double *scratch = args_alloc_doubles(ibrc_occupancy_doubles(&process));
  double *mass = args_alloc_doubles(size);
  for (size_t i = 0; i < size; i++) mass[i] = i < (size_t)table.n_nodes ? first[i] : 0.0;

  const char *names[] = {"occupancy", "code", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, (R_xlen_t)size));
  ibrc_code code = ibrc_occupancy(&process, mass, args_double(tolerance, "tolerance"), MOST_CYCLES,
                                  args_pause, scratch, REAL(VECTOR_ELT(out, 0)));
  SET_VECTOR_ELT(out, 1, Rf_ScalarInteger((int)code));
  UNPROTECT(1);
  return out;
}

/* utility, decision, specification, recognition: what one visit at each node, or pair,
 * brings and costs. */
SEXP ffi_terms(SEXP table_arg, SEXP problem_arg, SEXP policy, SEXP sigma) {
  ibrc_table table = args_table(table_arg);
  ibrc_problem problem = args_problem(problem_arg, &table);
  const ibrc_process process = args_process(&table, policy, sigma, problem.discount, 0, 1);
  if (process.after && !problem.after) Rf_error("internal: a policy by the last action, and no habit");
  const R_xlen_t size = (R_xlen_t)ibrc_process_size(&process);
  const char *names[] = {"utility", "decision", "specification", "recognition", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  for (int i = 0; i < 4; i++) SET_VECTOR_ELT(out, i, Rf_allocVector(REALSXP, size));
  ibrc_terms terms = {.utility = REAL(VECTOR_ELT(out, 0)),
                      .decision = REAL(VECTOR_ELT(out, 1)),
                      .specification = REAL(VECTOR_ELT(out, 2)),
                      .recognition = REAL(VECTOR_ELT(out, 3))};
  ibrc_process_terms(&process, &problem, &terms);
  UNPROTECT(1);
  return out;
}
