#' Infer what was wanted instead
#'
#' Bayesian inverse reinforcement learning is the reverse of inverse bounded rational control. The decision maker is
#' assumed to be rational except for a known flexibility, and the utility is inferred. It is the same call, [ibrc()],
#' with entries of the utility as the only free terms.
#'
#' `irl_prior()` states a normal prior for every entry of the utility of the stop actions, such as what a right and a
#' wrong diagnosis are worth. The price `alpha` has to be held (`fixed = list(alpha = 0.5)`), because behaviour shows
#' utilities only in units of it.
#'
#' @param setting The setting ([decision_setting()]).
#' @param sd Standard deviation of each entry's prior, in units of the utility. By
#'   default 10/46 of the range of the setting's utility, which is 10 for DIAG.
#' @param ... Further formulas for [ibrc_prior()], such as `eta ~ lognormal(0, 2)`.
#' @param mean Mean of each entry's prior.
#' @param entries Which entries: a data frame with columns `state` and `action`. By
#'   default every state with every stop action.
#' @return An `ibrc_prior`, see [ibrc_prior()].
#' @family inference
#' @export
#' @examples
#' setting <- diag_setting()
#' irl_prior(setting)
#' irl_prior(setting, sd = 20, entries = data.frame(state = "healthy", action = "monitor"))
irl_prior <- function(setting, sd = NULL, ..., mean = 0, entries = NULL) {
  check_given(setting)
  check_class(setting, "ibrc_setting", "setting", "decision_setting()")
  if (is.null(sd)) sd <- default_utility_sd(setting)
  sd <- check_positive(sd, "sd")
  mean <- check_finite_number(mean, "mean")
  entries <- check_entries(entries, setting)
  label <- paste0("normal(", as_text(signif(mean, 3)), ", ", as_text(signif(sd, 3)), ")")
  free <- Map(function(state, action) {
    new_prior_entry(utility_name(state, action), "normal", c(mean = mean, sd = sd), label = label,
                    state = state, action = action)
  }, entries$state, entries$action)
  more <- if (...length()) unclass(ibrc_prior(...))
  validate_ibrc_prior(new_ibrc_prior(unname(c(free, more))), setting)
}

default_utility_sd <- function(setting) {
  spread <- diff(range(setting$utility))
  if (spread == 0) {
    abort_input("sd", "is needed: every action is worth the same in every state of this setting, ",
                "so its utility sets no scale for a default.")
  }
  spread * 10 / 46
}

utility_name <- function(state, action) paste0("utility[", state, ",", action, "]")

check_entries <- function(entries, setting) {
  if (is.null(entries)) {
    if (!length(setting$stop_actions)) {
      abort_input("entries", "is needed: the setting has no stop actions, whose utility would be the default.")
    }
    return(expand.grid(state = setting$states, action = setting$stop_actions, stringsAsFactors = FALSE))
  }
  if (!is.data.frame(entries) || !all(c("state", "action") %in% names(entries)) || nrow(entries) == 0) {
    abort_input("entries", "must be a data frame with columns `state` and `action`, not ",
                describe(entries), ".")
  }
  data.frame(state = as.character(entries$state), action = as.character(entries$action))
}
