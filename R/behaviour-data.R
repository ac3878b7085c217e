#' A synthetic cohort in the columns of ADNIMERGE
#'
#' Visits of 1,600 made-up patients, drawn by this package: three hidden
#' states, half-yearly visits at which a doctor orders an MRI or not, doctors who are
#' boundedly rational in a known way ([adni_like_truth()]). No number in it comes from a patient. Reading it
#' takes the same call as reading ADNI's own table, [read_adni()].
#'
#' The table is as untidy as registries are: visits were missed, ratings, diagnoses and
#' genotypes are missing, some visits were entered twice and some scans were made between
#' visits. Diagnoses follow the hidden state, but for some errors.
#'
#' @format A data frame with one row per visit and the columns
#' \describe{
#'   \item{RID}{Patient, a number from 900,001 on: ADNI has none that are so large.}
#'   \item{VISCODE}{Visit: `bl`, `m06`, `m12`, ...}
#'   \item{DX}{Diagnosis: `NL`, `MCI`, `Dementia`, or a change such as `MCI to Dementia`; empty where missing.}
#'   \item{CDRSB}{Clinical dementia rating, sum of boxes, 0 to 18.}
#'   \item{Hippocampus}{Hippocampal volume in cubic millimetres; missing where no MRI was made.}
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
