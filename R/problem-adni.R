#' The ADNI setting of the paper
#'
#' The decision is whether to order an MRI at each half-yearly visit of a patient who may be
#' developing dementia. Each MRI costs 1. Being more than 90 percent sure of the
#' patient's state is worth 2.5 per visit. States and dynamics are not stated but
#' learned: they come from an input-output hidden Markov model of the visits.
#'
#' @param iohmm The learned dynamics: a model from `fit_iohmm()`, or any list with
#'   `states`, `actions` (`"no_mri"` and `"mri"`, in either order), `observations`,
#'   `transition` `[from, to, action]`, `emission` `[to, observation, action]` and
#'   `start` (with starts that differ also `start_by`), in any form that [decision_setting()] takes.
#' @param mri_cost What an MRI costs, 0 or more.
#' @param certainty,above,full What certainty is worth per visit; the probability of a state above which the doctor
#'   counts as certain; and the probability from which all of it is paid ([certainty_bonus()]). In the paper the bonus
#'   jumps. With `full = 0.95` it rises in a line, and the answer depends less on the lattice of beliefs.
#' @param discount How much the next visit counts compared with this one.
#' @return A setting ([decision_setting()]).
#' @seealso [read_adni()] for the visits, [adni_like] for a cohort to try it on.
#' @family problem statements
#' @references Jarrett, Hüyük and van der Schaar (2021), Inverse Decision
#'   Modeling: Learning Interpretable Representations of Behavior, ICML.
#' @export
#' @examples
#' # Dynamics written down by hand, in the form that a fitted model has
#' truth <- adni_like_truth()
#' parts <- c("states", "actions", "observations", "transition", "emission", "start")
#' adni_setting(truth$setting[parts], mri_cost = 2)
adni_setting <- function(iohmm, mri_cost = 1, certainty = 2.5, above = 0.9, discount = 0.95, full = above) {
  check_given(iohmm)
  needed <- c("states", "actions", "observations", "transition", "emission", "start")
  if (!is.list(iohmm) || is.data.frame(iohmm)) {
    abort_input("iohmm", "must be a learned model, or a list with ", enumerate(needed, most = 6), ", not ",
                describe(iohmm), ".")
  }
  lost <- needed[!needed %in% names(iohmm)]
  if (length(lost)) abort_input("iohmm", "has no element ", enumerate(lost, most = 6), ".")
  actions <- check_names(iohmm$actions, "iohmm$actions")
  if (!setequal(actions, adni_actions)) {
    abort_input("iohmm", "must have the actions ", enumerate(adni_actions), ", not ", enumerate(actions), ".")
  }
  mri_cost <- check_finite_number(mri_cost, "mri_cost")
  if (mri_cost < 0) abort_input("mri_cost", "must be 0 or more: it is subtracted; it is ", format(mri_cost), ".")
  certainty <- check_finite_number(certainty, "certainty")
  bonus <- certainty_bonus(certainty, above, full)
  states <- check_names(iohmm$states, "iohmm$states")
  utility <- matrix(rep(-mri_cost * (actions == "mri"), each = length(states)), length(states),
                    dimnames = list(states, actions))
  setting <- decision_setting(
    states = states, actions = actions, observations = iohmm$observations,
    transition = iohmm$transition, emission = iohmm$emission, utility = utility,
    belief_utility = bonus, discount = discount, start = iohmm$start,
    start_by = iohmm$start_by
  )
  setting$start_share <- iohmm$start_share
  if (inherits(iohmm, "ibrc_iohmm")) mark_learned(setting) else setting
}

# The names that read_adni() gives to what was done and seen.
adni_actions <- c("no_mri", "mri")
adni_cdr <- c("cdr_normal", "cdr_questionable", "cdr_severe")
adni_mri <- c("mri_none", "mri_low", "mri_average", "mri_high")

# Every combination of two classes; the second class changes fastest.
cross_labels <- function(first, second) {
  paste(rep(first, each = length(second)), second, sep = "_")
}

adni_observations <- function() cross_labels(adni_cdr, adni_mri)
