#include <string.h>

#include "args.h"
#include "ffi.h"
#include "habit.h"
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
 * and sigma of the same shapes, in this order at the head of `list`; with `lasts` > 1, value [node, last] and policy
 * [action, node, last]. */
static ibrc_backup_result alloc_result(SEXP list, const ibrc_table *table, int lasts) {
  SET_VECTOR_ELT(list, 0, lasts > 1 ? Rf_allocMatrix(REALSXP, table->n_nodes, lasts)
                                    : Rf_allocVector(REALSXP, table->n_nodes));
  SET_VECTOR_ELT(list, 1, Rf_allocMatrix(REALSXP, table->n_actions, table->n_nodes));
  SET_VECTOR_ELT(list, 2,
                 Rf_alloc3DArray(REALSXP, table->n_models, table->n_actions, table->n_nodes));
  SET_VECTOR_ELT(list, 3, lasts > 1
                              ? Rf_alloc3DArray(REALSXP, table->n_actions, table->n_nodes, lasts)
                              : Rf_allocMatrix(REALSXP, table->n_actions, table->n_nodes));
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
  const size_t lasts = ibrc_problem_lasts(&problem, &table), n = (size_t)table.n_nodes * lasts;
  const double *start = args_doubles(value_arg, (R_xlen_t)n, "value");
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
  ibrc_backup_result result = alloc_result(out, &table, (int)lasts);
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

/* Solves from `start`, [node, last] where there is a habit; `after` is then the values by the last action, and value
 * and policy are those at a first visit. Otherwise it is NULL. */
SEXP ffi_solve(SEXP table_arg, SEXP problem_arg, SEXP start, SEXP tolerance, SEXP max_backups,
               SEXP threads) {
  ibrc_table table = args_table(table_arg);
  ibrc_coarse coarse = args_coarse(table_arg);
  ibrc_problem problem = args_problem(problem_arg, &table);
  ibrc_solve_options options = {.tolerance = args_double(tolerance, "tolerance"),
                                .max_backups = args_int(max_backups, "max_backups"),
                                .pause = args_pause};
  const int remembers = problem.after != NULL;
  const size_t nodes = (size_t)table.n_nodes, n = nodes * ibrc_problem_lasts(&problem, &table);
  const double *from = args_doubles(start, (R_xlen_t)n, "start");
  int n_threads = args_threads(threads);
  double *scratch = args_alloc_doubles(ibrc_solve_doubles(&table, &coarse, remembers, n_threads));

  const char *names[] = {RESULT_NAMES, REPORT_NAMES, "after", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  const ibrc_backup_result first = alloc_result(out, &table, 1);
  ibrc_backup_result result = first;
  if (remembers) {
    SET_VECTOR_ELT(out, 9, Rf_allocMatrix(REALSXP, table.n_nodes, table.n_actions));
    result.value = REAL(VECTOR_ELT(out, 9));
    result.policy = args_alloc_doubles(n * (size_t)table.n_actions);
  }
  memcpy(result.value, from, n * sizeof(double));
  ibrc_solve_report report =
      ibrc_solve_optimum(&table, &coarse, &problem, &options, n_threads, scratch, &result);
  if (remembers) {
    const ibrc_habit_reading reading = {
        .value = first.value, .policy = first.policy, .value_after = result.value};
    ibrc_habit_read(&problem, result.action_value, table.n_nodes, table.n_actions,
                    args_alloc_doubles(ibrc_habit_doubles(table.n_actions)), &reading);
  }
  set_report(out, 5, &report);
  UNPROTECT(1);
  return out;
}

/* policy and sigma as args_process() takes them. The value at each node; with a habit, [node, none and last]. */
SEXP ffi_policy_value(SEXP table_arg, SEXP problem_arg, SEXP policy, SEXP sigma, SEXP tolerance,
                  SEXP max_backups, SEXP threads) {
  ibrc_table table = args_table(table_arg);
  ibrc_coarse coarse = args_coarse(table_arg);
  ibrc_problem problem = args_problem(problem_arg, &table);
  ibrc_solve_options options = {.tolerance = args_double(tolerance, "tolerance"),
                                .max_backups = args_int(max_backups, "max_backups"),
                                .pause = args_pause};
  const ibrc_process process = args_process(&table, policy, sigma, problem.discount,
                                            problem.after != NULL, args_threads(threads));
  if (process.after && !problem.after) Rf_error("internal: a policy by the last action, and no habit");
  const size_t n = ibrc_process_size(&process);
  double *scratch = args_alloc_doubles(ibrc_solve_policy_doubles(&process, &coarse));
  double *store = args_alloc_doubles(5 * n), *gain = store + 4 * n;
  ibrc_terms terms = {.utility = store,
                      .decision = store + n,
                      .specification = store + 2 * n,
                      .recognition = store + 3 * n};
  ibrc_process_terms(&process, &problem, &terms);
  ibrc_process_gain(&terms, &problem, n, gain);

  const char *names[] = {"value", REPORT_NAMES, ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, (R_xlen_t)n));
  double *value = REAL(VECTOR_ELT(out, 0));
  memset(value, 0, n * sizeof(double));
  ibrc_solve_report report = ibrc_solve_policy(&process, &coarse, gain, &options, scratch, value);
  set_report(out, 1, &report);
  UNPROTECT(1);
  return out;
}
