#' The diagnosis setting of the paper (DIAG)
#'
#' A patient is healthy or diseased. At each visit a doctor either declares a diagnosis,
#' which ends the trajectory, or monitors: the result of a noisy test comes back before the
#' next visit. Monitoring costs 1, a right diagnosis is worth 10, and a wrong one
#' costs 36. After a diagnosis the next patient arrives with a first test result,
#' and is diseased with probability one half.
#'
#' @param accuracy Probability that a test is right, in both directions; for
#'   `diag_models()` one value per model.
#' @param discount How much the next visit counts compared with this one.
#' @param weights Prior weights of the models; equal by default.
#'
#' @return `diag_setting()` returns a setting ([decision_setting()]);
#'   `diag_models()` returns a model prior ([model_prior()]) of doctors' possible
#'   views: tests that are 60, 70 or 80 percent accurate.
#' @family problem statements
#' @references Jarrett, Hüyük and van der Schaar (2021), Inverse Decision
#'   Modeling: Learning Interpretable Representations of Behavior, ICML.
#' @export
#' @examples
#' diag_setting()
#' diag_models()
diag_setting <- function(accuracy = 0.7, discount = 0.95) {
  decision_setting(
    states = diag_names$states,
    actions = diag_names$actions,
    observations = diag_names$observations,
    transition = diag_transition(),
    emission = diag_emission(accuracy),
    utility = cbind(declare_healthy = c(10, -36), declare_diseased = c(-36, 10), monitor = c(-1, -1)),
    discount = discount,
    start = c(0.5, 0.5),
    stop_actions = c("declare_healthy", "declare_diseased")
  )
}

#' @rdname diag_setting
#' @export
diag_models <- function(accuracy = c(0.6, 0.7, 0.8), weights = NULL) {
  if (!is.numeric(accuracy) || length(accuracy) == 0) {
    abort_input("accuracy", "must be one or more numbers from 0 to 1, not ", describe(accuracy), ".")
  }
  # Whole arrays with their names, as a setting has them: a sampler may ask for this at each of its steps.
  transition <- diag_array(diag_transition(), diag_names[c("states", "states")], c("from", "to"))
  models <- lapply(accuracy, function(a) {
    emission <- diag_array(rep(list(diag_emission(a)), length(diag_names$actions)),
                           diag_names[c("states", "observations")], c("to", "observation"))
    list(transition = transition, emission = emission)
  })
  names(models) <- make.unique(paste0("accuracy_", format_plain(accuracy, digits = 15)))
  model_prior(models, weights)
}

diag_names <- list(states = c("healthy", "diseased"), actions = c("declare_healthy", "declare_diseased", "monitor"),
                   observations = c("negative", "positive"))

# One matrix per action, as one array.
diag_array <- function(by_action, over, called) {
  names(over) <- called
  over$action <- diag_names$actions
  array(unlist(by_action, use.names = FALSE), lengths(over, use.names = FALSE), over)
}

diag_transition <- function() {
  next_patient <- matrix(0.5, 2, 2)
  list(declare_healthy = next_patient, declare_diseased = next_patient, monitor = diag(2))
}

diag_emission <- function(accuracy) {
  accuracy <- check_number(accuracy, "accuracy")
  if (accuracy < 0 || accuracy > 1) abort_input("accuracy", "must be from 0 to 1; it is ", format(accuracy), ".")
  rbind(c(accuracy, 1 - accuracy), c(1 - accuracy, accuracy))
}
