#include <string.h>

#include "args.h"
#include "ffi.h"
#include "qlearn.h"

static double number(SEXP list, const char *name) {
  return args_double(args_element(list, name), name);
}

static ibrc_qlearn read_learner(SEXP learner, const ibrc_models *models) {
  const R_xlen_t U = models->n_actions, pairs = U * models->n_states;
  if (!ibrc_model_seen(models) || models->n_models != 1) {
    Rf_error("internal: learning is from one model in which the state is seen");
  }
  ibrc_qlearn q = {.models = models,
                   .utility = args_doubles(args_element(learner, "utility"), pairs, "utility"),
                   .prior = args_nonnegative(args_element(learner, "prior"), U, "prior"),
                   .temperature = ibrc_temperature_from(number(learner, "temperature")),
                   .bonus = number(learner, "bonus"),
                   .discount = number(learner, "discount"),
                   .exploration = number(learner, "exploration"),
                   .patience = number(learner, "patience"),
                   .power = number(learner, "power"),
                   .episode = args_size(args_element(learner, "episode"), "episode")};
  if (!(q.patience > 0.0) || !(q.power >= 0.0)) Rf_error("internal: no such learning rate");
  return q;
}

/* Uniforms, below 1: states and actions are counted off by them. */
static const double *take_noise(SEXP noise, R_xlen_t n) {
  const double *uniform = args_nonnegative(noise, n, "noise");
  for (R_xlen_t i = 0; i < n; i++) {
    if (!(uniform[i] < 1.0)) Rf_error("internal: 'noise' has an entry out of range");
  }
  return uniform;
}

/* progress: list(action_value, tries, both [action, state]; state, from 0; made), as this returns
 * it. noise: uniforms, three per step; as many steps are made. */
SEXP ffi_qlearn(SEXP learner, SEXP models_arg, SEXP progress, SEXP noise) {
  args_pause();
  ibrc_models models = args_models(models_arg);
  ibrc_qlearn q = read_learner(learner, &models);
  const R_xlen_t pairs = (R_xlen_t)models.n_states * models.n_actions, n_noise = Rf_xlength(noise);
  const double *uniforms = take_noise(noise, n_noise);
  const double *from = args_doubles(args_element(progress, "action_value"), pairs, "action_value");
  const double *tries = args_nonnegative(args_element(progress, "tries"), pairs, "tries");
  int state = args_int(args_element(progress, "state"), "state");
  int made = args_int(args_element(progress, "made"), "made");
  if (n_noise % IBRC_QLEARN_NOISE != 0) Rf_error("internal: noise of a part of a step");
  if (state < 0 || state >= models.n_states || made < 0) Rf_error("internal: no such state");

  const char *names[] = {"action_value", "tries", "state", "made", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_allocMatrix(REALSXP, models.n_actions, models.n_states));
  SET_VECTOR_ELT(out, 1, Rf_allocMatrix(REALSXP, models.n_actions, models.n_states));
  memcpy(REAL(VECTOR_ELT(out, 0)), from, (size_t)pairs * sizeof(double));
  memcpy(REAL(VECTOR_ELT(out, 1)), tries, (size_t)pairs * sizeof(double));
  ibrc_qlearn_run(&q, (int)(n_noise / IBRC_QLEARN_NOISE), uniforms,
                  args_alloc_doubles((size_t)models.n_actions), REAL(VECTOR_ELT(out, 0)),
                  REAL(VECTOR_ELT(out, 1)), &state, &made);
  SET_VECTOR_ELT(out, 2, Rf_ScalarInteger(state));
  SET_VECTOR_ELT(out, 3, Rf_ScalarInteger(made));
  UNPROTECT(1);
  return out;
}
