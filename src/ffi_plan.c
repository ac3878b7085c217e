#include <string.h>

#include "args.h"
#include "ffi.h"
#include "solve.h"

/* One soft mean of a vector, or those of the rows of a matrix, which are worked out together. */
SEXP ffi_soft_mean(SEXP x, SEXP prior, SEXP temperature) {
  const R_xlen_t n = Rf_xlength(prior), count = Rf_isMatrix(x) ? Rf_nrows(x) : 1;
  ibrc_temperature t = ibrc_temperature_from(args_double(temperature, "temperature"));
  const char *names[] = {"mean", "weights", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, count));
  SET_VECTOR_ELT(out, 1, Rf_duplicate(x));
  const double *entries = args_doubles(x, n * count, "x"), *law = args_doubles(prior, n, "prior");
  double *mean = REAL(VECTOR_ELT(out, 0)), *weights = REAL(VECTOR_ELT(out, 1));
  if (Rf_isMatrix(x)) {
    ibrc_soft_means(entries, (size_t)count, law, (int)n, (int)count, &t, mean, weights);
  } else {
    *mean = ibrc_soft_mean(entries, law, (int)n, &t, weights);
  }
  UNPROTECT(1);
  return out;
}

/* value, action_value [action, node], model_value [model, action, node], policy
 * and sigma of the same shapes, in this order at the head of `list`. */
static ibrc_backup_result alloc_result(SEXP list, const ibrc_table *table) {
  SET_VECTOR_ELT(list, 0, Rf_allocVector(REALSXP, table->n_nodes));
  SET_VECTOR_ELT(list, 1, Rf_allocMatrix(REALSXP, table->n_actions, table->n_nodes));
  SET_VECTOR_ELT(list, 2,
                 Rf_alloc3DArray(REALSXP, table->n_models, table->n_actions, table->n_nodes));
  SET_VECTOR_ELT(list, 3, Rf_allocMatrix(REALSXP, table->n_actions, table->n_nodes));
  SET_VECTOR_ELT(list, 4,
                 Rf_alloc3DArray(REALSXP, table->n_models, table->n_actions, table->n_nodes));
  ibrc_backup_result out = {.value = REAL(VECTOR_ELT(list, 0)),
                            .action_value = REAL(VECTOR_ELT(list, 1)),
                            .model_value = REAL(VECTOR_ELT(list, 2)),
                            .policy = REAL(VECTOR_ELT(list, 3)),
                            .sigma = REAL(VECTOR_ELT(list, 4))};
  return out;
}

#define RESULT_NAMES "value", "action_value", "model_value", "policy", "sigma"

/* One backup with everything it yields. With repeats > 0, the values alone are
 * backed up that many times first: plain value iteration, for the benchmark. */
SEXP ffi_backup(SEXP table_arg, SEXP problem_arg, SEXP value_arg, SEXP repeats, SEXP threads) {
  ibrc_table table = args_table(table_arg);
  ibrc_problem problem = args_problem(problem_arg, &table);
  const double *start = args_doubles(value_arg, table.n_nodes, "value");
  size_t n = (size_t)table.n_nodes;
  int n_threads = args_threads(threads), n_repeats = args_int(repeats, "repeats");
  double *scratch = args_alloc_doubles((size_t)n_threads * ibrc_backup_doubles(&table));
  double *from = args_alloc_doubles(n), *to = args_alloc_doubles(n);
  memcpy(from, start, n * sizeof(double));
  for (int k = 0; k < n_repeats; k++) {
    ibrc_backup_result plain = {.value = to};
    ibrc_backup(&table, &problem, from, n_threads, scratch, &plain);
    args_pause();
    double *swap = from;
    from = to;
    to = swap;
  }
  const char *names[] = {RESULT_NAMES, ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  ibrc_backup_result result = alloc_result(out, &table);
  ibrc_backup(&table, &problem, from, n_threads, scratch, &result);
  UNPROTECT(1);
  return out;
}

/* Writes the report at places first, first + 1, ... of `list`. */
#define REPORT_NAMES "code", "backups", "products", "bound"
static void set_report(SEXP list, int first, const ibrc_solve_report *report) {
  SET_VECTOR_ELT(list, first, Rf_ScalarInteger((int)report->code));
  SET_VECTOR_ELT(list, first + 1, Rf_ScalarInteger(report->backups));
  SET_VECTOR_ELT(list, first + 2, Rf_ScalarInteger(report->products));
  SET_VECTOR_ELT(list, first + 3, Rf_ScalarReal(report->bound));
}

SEXP ffi_solve(SEXP table_arg, SEXP problem_arg, SEXP start, SEXP tolerance, SEXP max_backups,
               SEXP threads) {
  ibrc_table table = args_table(table_arg);
  ibrc_coarse coarse = args_coarse(table_arg);
  ibrc_problem problem = args_problem(problem_arg, &table);
  ibrc_solve_options options = {.tolerance = args_double(tolerance, "tolerance"),
                                .max_backups = args_int(max_backups, "max_backups"),
                                .pause = args_pause};
  const double *from = args_doubles(start, table.n_nodes, "start");
  int n_threads = args_threads(threads);
  double *scratch = args_alloc_doubles(ibrc_solve_doubles(&table, &coarse, n_threads));

  const char *names[] = {RESULT_NAMES, REPORT_NAMES, ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  ibrc_backup_result result = alloc_result(out, &table);
  memcpy(result.value, from, (size_t)table.n_nodes * sizeof(double));
  ibrc_solve_report report =
      ibrc_solve_optimum(&table, &coarse, &problem, &options, n_threads, scratch, &result);
  set_report(out, 5, &report);
  UNPROTECT(1);
  return out;
}

SEXP ffi_policy_value(SEXP table_arg, SEXP problem_arg, SEXP policy, SEXP sigma, SEXP tolerance,
                  SEXP max_backups, SEXP threads) {
  ibrc_table table = args_table(table_arg);
  ibrc_coarse coarse = args_coarse(table_arg);
  ibrc_problem problem = args_problem(problem_arg, &table);
  ibrc_solve_options options = {.tolerance = args_double(tolerance, "tolerance"),
                                .max_backups = args_int(max_backups, "max_backups"),
                                .pause = args_pause};
  size_t n = (size_t)table.n_nodes, rows = ibrc_table_rows(&table);
  int n_threads = args_threads(threads);
  ibrc_process process = {
      .table = &table,
      .policy = args_doubles(policy, (R_xlen_t)(n * (size_t)table.n_actions), "policy"),
      .sigma = args_doubles(sigma, (R_xlen_t)rows, "sigma"),
      .discount = problem.discount,
      .n_threads = n_threads};
  double *scratch = args_alloc_doubles(ibrc_solve_doubles(&table, &coarse, n_threads));
  double *store = args_alloc_doubles(5 * n), *gain = store + 4 * n;
  ibrc_terms terms = {.utility = store,
                      .decision = store + n,
                      .specification = store + 2 * n,
                      .recognition = store + 3 * n};
  ibrc_process_terms(&process, &problem, &terms);
  ibrc_process_gain(&terms, &problem, table.n_nodes, gain);

  const char *names[] = {"value", REPORT_NAMES, ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, table.n_nodes));
  double *value = REAL(VECTOR_ELT(out, 0));
  memset(value, 0, n * sizeof(double));
  ibrc_solve_report report = ibrc_solve_policy(&process, &coarse, gain, &options, scratch, value);
  set_report(out, 1, &report);
  UNPROTECT(1);
  return out;
}
