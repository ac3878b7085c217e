#' A synthetic cohort in the columns of ADNIMERGE
#'
#' Visits of 1,600 made-up patients, drawn by this package. There are three hidden
#' states. At half-yearly visits a doctor orders an MRI or not. The doctors are
#' boundedly rational in a known way ([adni_like_truth()]). No number in the table comes from a patient. It is
#' read by the same call as ADNI's own table, [read_adni()].
#'
#' The table is as untidy as registries are: visits were missed; ratings, diagnoses and
#' genotypes are missing; some visits were entered twice; and some scans were made between
#' visits. Diagnoses follow the hidden state, with some errors.
#'
#' @format A data frame with one row per visit and the columns
#' \describe{
#'   \item{RID}{Patient, a number from 900,001 on. ADNI has no numbers that large.}
#'   \item{VISCODE}{Visit: `bl`, `m06`, `m12`, ...}
#'   \item{DX}{Diagnosis: `NL`, `MCI`, `Dementia`, or a change such as `MCI to Dementia`; empty if missing.}
#'   \item{CDRSB}{Clinical dementia rating, sum of boxes, 0 to 18.}
#'   \item{Hippocampus}{Hippocampal volume in cubic millimetres; missing if no MRI was made.}
#'   \item{AGE}{Age at baseline, in years.}
#'   \item{APOE4}{Copies of the APOE4 allele: 0, 1 or 2.}
#'   \item{PTGENDER}{`Female` or `Male`.}
#' }
#' @source Simulated; the script is `data-raw/adni_like.R` in the package's repository.
#' @family clinical tables
#' @examples
#' head(adni_like)
#' read_adni(adni_like)
#' @docType data
#' @keywords datasets
#' @usage adni_like
#' @name adni_like
NULL

#' What is true of the synthetic cohort
#'
#' The dynamics, the doctors' views of them, and the doctors themselves behind
#' [adni_like]. This is what a method that is tried on it should find.
#'
#' The doctors of patients up to 75 and those of patients over 75 differ in optimism and in
#' nothing else. APOE4 and sex make no difference to the course of the patients or to the doctors.
#'
#' A plan sees the bonus only at the nodes of its lattice. A bonus that begins at a bound then becomes a ramp from the
#' last node within the bound to the next node beyond it. The resolution of the plans is
#' therefore part of the truth. With a finer one the same visits look less optimistic in
#' both groups, although the difference between the groups keeps its sign.
#'
#' @return A list:
#'   * `setting`: the setting ([adni_setting()]) with the true dynamics of three states.
#'   * `models`: what the doctors may believe about the dynamics. It is a model prior of nine models: each law as it is,
#'     or 10 percentage points up or down, in all combinations.
#'   * `agents`: a list of two agents ([bounded_agent()]), `up_to_75` and `over_75`.
#'   * `resolution`: the resolution of their plans ([plan_agent()]). You should fit with it as well.
#'   * `by`: the one column that makes a difference.
#'   * `same`: the columns that make none.
#' @family clinical tables
#' @export
#' @examples
#' truth <- adni_like_truth()
#' truth$setting
#' truth$agents$over_75
adni_like_truth <- function() {
  states <- c("normal", "mci", "dementia")
  course <- rbind(c(0.92, 0.07, 0.01), c(0.05, 0.83, 0.12), c(0, 0.05, 0.95))
  rating <- rbind(c(0.70, 0.27, 0.03), c(0.25, 0.60, 0.15), c(0.04, 0.31, 0.65))
  volume <- rbind(c(0.04, 0.21, 0.75), c(0.16, 0.68, 0.16), c(0.80, 0.17, 0.03))
  setting <- adni_setting(list(
    states = states, actions = adni_actions, observations = adni_observations(),
    transition = list(no_mri = course, mri = course), emission = adni_emission(rating, volume),
    start = c(0.35, 0.45, 0.20)
  ))
  list(
    setting = setting,
    models = perturb_models(setting, by = 0.1, vary = "both"),
    agents = list(up_to_75 = bounded_agent(alpha = 0.3, optimism = 1),
                  over_75 = bounded_agent(alpha = 0.3, optimism = 0.2)),
    resolution = 20,
    by = "over_75", same = c("apoe4", "sex")
  )
}

# Rating and volume are independent given the state; without an MRI there is no volume.
adni_emission <- function(rating, volume) {
  cross <- function(result) {
    t(vapply(seq_len(nrow(rating)), function(state) as.vector(result[state, ] %o% rating[state, ]),
             numeric(length(adni_cdr) * length(adni_mri))))
  }
  list(no_mri = cross(cbind(1, 0 * volume)), mri = cross(cbind(0, volume)))
}
