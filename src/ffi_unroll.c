#include <limits.h>
#include <string.h>

#include "args.h"
#include "ffi.h"
#include "unroll.h"

/* Dynamics of one model in which the state is seen, and what comes with them. The uniform prior is
 * made here. */
static ibrc_unroll take_planner(const ibrc_models *dynamics, SEXP utility, SEXP discount,
                                SEXP alpha) {
  if (!ibrc_model_seen(dynamics) || dynamics->n_models != 1) {
    Rf_error("internal: not the rows of one model");
  }
  const int U = dynamics->n_actions;
  const R_xlen_t pairs = (R_xlen_t)dynamics->n_states * U;
  double *prior = args_alloc_doubles((size_t)U);
  for (int u = 0; u < U; u++) prior[u] = 1.0 / U;
  ibrc_unroll planner = {.dynamics = dynamics,
                         .utility = args_doubles(utility, pairs, "utility"),
                         .prior = prior,
                         .discount = args_double(discount, "discount"),
                         .alpha = ibrc_temperature_from(args_double(alpha, "alpha"))};
  return planner;
}

/* Steps between two looks at whether the user wants to stop. */
static int steps_at_once(const ibrc_models *dynamics) {
  const size_t rows = (size_t)dynamics->n_states * (size_t)dynamics->n_actions;
  const int entries = dynamics->row_start[rows];
  return entries > 1000000 ? 1 : 1 + 1000000 / (1 + entries);
}

/* value: V before the first step. Returns the values [state, n_steps + 1], that one first, and
 * the last action values [state, action]. */
SEXP ffi_unroll_forward(SEXP models, SEXP utility, SEXP discount, SEXP alpha, SEXP value,
                        SEXP n_steps) {
  ibrc_models dynamics = args_models(models);
  ibrc_unroll planner = take_planner(&dynamics, utility, discount, alpha);
  const int n = args_size(n_steps, "n_steps"), at_once = steps_at_once(&dynamics);
  const size_t S = (size_t)dynamics.n_states;
  const double *first = args_doubles(value, dynamics.n_states, "value");
  if (n == INT_MAX) Rf_error("internal: 'n_steps' is out of range");

  const char *names[] = {"values", "action_value", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_allocMatrix(REALSXP, dynamics.n_states, n + 1));
  SET_VECTOR_ELT(out, 1, Rf_allocMatrix(REALSXP, dynamics.n_states, dynamics.n_actions));
  double *values = REAL(VECTOR_ELT(out, 0)), *action_value = REAL(VECTOR_ELT(out, 1));
  memcpy(values, first, S * sizeof(double));
  for (int done = 0; done < n;) {
    const int now = n - done < at_once ? n - done : at_once;
    ibrc_unroll_forward(&planner, now, values + (size_t)done * S, action_value);
    done += now;
    args_pause();
  }
  UNPROTECT(1);
  return out;
}

/* values: V before each step, [state, step]; slope: the derivative by V after the last; weights: on
 * the last step's log policy, [state, action], or NULL. */
SEXP ffi_unroll_reverse(SEXP models, SEXP utility, SEXP discount, SEXP alpha, SEXP values,
                        SEXP slope, SEXP weights) {
  ibrc_models dynamics = args_models(models);
  ibrc_unroll planner = take_planner(&dynamics, utility, discount, alpha);
  if (!Rf_isMatrix(values) || Rf_ncols(values) < 1) Rf_error("internal: 'values' is no matrix");
  const int n = Rf_ncols(values), at_once = steps_at_once(&dynamics);
  const size_t S = (size_t)dynamics.n_states, pairs = S * (size_t)dynamics.n_actions;
  const double *before = args_doubles(values, (R_xlen_t)S * n, "values");
  const double *after = args_doubles(slope, (R_xlen_t)S, "slope");
  const double *wanted =
      Rf_isNull(weights) ? NULL : args_doubles(weights, (R_xlen_t)pairs, "weights");
  double *scratch = args_alloc_doubles(ibrc_unroll_doubles(&planner));

  const char *names[] = {"utility", "transition", "discount", "alpha", "slope", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_allocMatrix(REALSXP, dynamics.n_states, dynamics.n_actions));
  SET_VECTOR_ELT(out, 1, Rf_allocVector(REALSXP, dynamics.row_start[pairs]));
  SET_VECTOR_ELT(out, 2, Rf_ScalarReal(0.0));
  SET_VECTOR_ELT(out, 3, Rf_ScalarReal(0.0));
  SET_VECTOR_ELT(out, 4, Rf_allocVector(REALSXP, (R_xlen_t)S));
  ibrc_unroll_gradient gradient = {.utility = REAL(VECTOR_ELT(out, 0)),
                                   .transition = REAL(VECTOR_ELT(out, 1)),
                                   .discount = REAL(VECTOR_ELT(out, 2)),
                                   .alpha = REAL(VECTOR_ELT(out, 3))};
  double *back = REAL(VECTOR_ELT(out, 4));
  memset(gradient.utility, 0, pairs * sizeof(double));
  memset(gradient.transition, 0, (size_t)dynamics.row_start[pairs] * sizeof(double));
  memcpy(back, after, S * sizeof(double));
  for (int left = n; left > 0;) {
    const int now = left < at_once ? left : at_once;
    left -= now;
    ibrc_unroll_reverse(&planner, now, before + (size_t)left * S, left + now == n ? wanted : NULL,
                        scratch, back, &gradient);
    args_pause();
  }
  UNPROTECT(1);
  return out;
}
