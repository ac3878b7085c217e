#' Read an ADNI table
#'
#' Reads the visits of the Alzheimer's Disease Neuroimaging Initiative from its table
#' ADNIMERGE, or from the TADPOLE tables D1 and D2 that have the same columns, and makes
#' trajectories of them. At each half-yearly visit an MRI was ordered or not. Then
#' a clinical rating was seen, and the MRI if there was one. The data are not
#' part of this package: ADNI gives them to those who apply. [adni_like] is a
#' synthetic table with the same columns.
#'
#' @section What is needed:
#' The columns `RID`, `VISCODE`, `DX`, `CDRSB`, `Hippocampus`, `AGE`, `APOE4` and
#' `PTGENDER`, in any order and in upper or lower case. Other columns are not read. Rows may
#' be in any order. Empty cells, `NA`, `N/A`, `#N/A`, `NaN`, `null`, `none`, `missing`, `unknown`, a
#' single dot or dash, and the codes -1 and -4 are missing. A number in
#' quotes is a number, and a bound such as `<200` stands for 200. Numbers may be written with a decimal comma, or with
#' signs between thousands (`6642,1`, `6,642.1`), as long as the column as a whole leaves no doubt which is meant.
#' Ages are from 1 to 130, CDR-SB from 0 to 18, volumes from 1,000 to 100,000 cubic millimetres, and copies of
#' APOE4 0, 1 or 2. Anything else that is not a
#' value also counts as missing, with a warning that names the rows, if it is at most
#' 5% of the values of a column. If it is more, the table is refused. Otherwise a column that is read wrongly
#' would become a column of missing values.
#'
#' Identifiers are text: `0123` and `123` are two patients, and no digit of a long one is lost. One pair of quotes
#' around an identifier does not count, and blanks around it are taken away. Quotes elsewhere count, so that `O'Brien`
#' and `OBrien` are two patients. Identifiers that differ from others only in blanks or in invisible characters are
#' refused, and the error names their rows. In a data frame identifiers may be text, a factor, numbers or `integer64`.
#' Numbers of 2^53 or more are refused, because R cannot tell such numbers apart.
#'
#' A file is a CSV with commas between cells, one line for each row, in UTF-8, UTF-16 or latin1. It is refused if a
#' quote is not closed in its own line, or if a line has more or fewer cells than the header; the error names the line.
#'
#' @section Which visits are kept:
#' The steps are, in this order:
#' * rows that name a patient and a month (`bl`, `m06`, `m12`, also `m6` and `m006`; codes such as `sc`, `f`, `nv` and
#'   `uns1` name none);
#' * months that are multiples of six;
#' * one row per visit: the first with both a CDR-SB and a hippocampal volume, or else the first with a CDR-SB, or else
#'   the first;
#' * visits with a CDR-SB;
#' * patients with a baseline visit;
#' * each patient's visits up to the first one that was missed.
#'
#' [flow()] has the counts.
#'
#' @section What was done and seen:
#' The action is `mri` if a hippocampal volume is present, otherwise `no_mri`. The
#' observation combines the CDR-SB with the volume. The CDR-SB is `cdr_normal` (0), `cdr_questionable` (above 0, up
#' to 2.5) or `cdr_severe` (above 2.5). The volume is `mri_none`, `mri_low`,
#' `mri_average` (within half a standard deviation of the mean, ends included) or
#' `mri_high`. This gives 12 observations, such as `cdr_normal_mri_none`: 3 are possible
#' without an MRI and 9 with one. What is seen comes after what is done: the
#' decision of a visit rests on the visits before it.
#'
#' @param file The path of a CSV file, compressed or not, or a data frame.
#' @param mean,sd Mean and standard deviation of the hippocampal volume in the
#'   population; `"data"` takes those of the visits that are kept.
#' @param stable_diagnosis `TRUE` also leaves out patients whose diagnosis ever
#'   goes back to a milder one (dementia, mild cognitive impairment, normal) between visits
#'   that are kept. Missing diagnoses are ignored. The paper has no such step.
#' @param age_cut The age that splits the cohort, in years.
#'
#' @return A cohort: trajectories ([trajectories()]) with the columns `RID` (text), `month`,
#'   `action`, `observation` and the covariates `over_75` (`up_to_75`, `over_75`;
#'   named after `age_cut`), `apoe4` (`non_carrier`, `carrier`), `sex` (`female`, `male`)
#'   and `diagnosis` (`normal`, `mci`, `dementia`: at baseline), and `age` in years, a number, for `effects` of [ibrc()]
#'   (`NA` if the table has none). Age, APOE4 and sex are the first values that the table
#'   has for the patient, in order of the visits. `missing` is a level of its own in each factor, and never
#'   counts as a carrier. The attribute `"cuts"` has the cut points that were used.
#' @seealso [adni_setting()] for a setting with its utilities, [panel_trajectories()] for
#'   other tables.
#' @family clinical tables
#' @export
#' @examples
#' cohort <- read_adni(adni_like)
#' cohort
#' flow(cohort)
#' table(cohort$over_75, cohort$action)
read_adni <- function(file, mean = 6642, sd = 1225, stable_diagnosis = FALSE, age_cut = 75) {
  check_given(file)
  stable_diagnosis <- check_flag(stable_diagnosis, "stable_diagnosis")
  age_cut <- check_positive(age_cut, "age_cut")
  if (!identical(mean, "data")) mean <- check_positive(mean, "mean")
  if (!identical(sd, "data")) sd <- check_positive(sd, "sd")
  table <- read_adni_codes(adni_table(file))
  sieve <- select_adni(table, stable_diagnosis)
  refuse_empty_cohort(sieve)
  kept <- table[sieve$row, ]
  cuts <- list(cdr = c(0, 2.5), mri = volume_cuts(kept$hippocampus, mean, sd))
  patients <- adni_patients(table, kept, age_cut)
  at <- match(kept$rid, patients$rid)
  visits <- data.frame(
    RID = kept$rid, month = kept$month,
    action = factor(adni_actions[1 + !is.na(kept$hippocampus)], levels = adni_actions),
    observation = factor(adni_seen(kept, cuts), levels = adni_observations()),
    patients[at, -1, drop = FALSE]
  )
  rownames(visits) <- NULL
  visits <- new_ibrc_trajectories(visits, "RID", "month", "action", "observation", names(patients)[-1])
  new_ibrc_cohort(validate_ibrc_trajectories(visits), sieve$log, cuts)
}

adni_interval <- 6

select_adni <- function(table, stable_diagnosis) {
  sieve <- start_sieve(table$rid)
  left <- function(column) table[[column]][sieve$row]
  sieve <- sieve_rows(sieve, !is.na(left("rid")) & !is.na(left("month")), "visit",
                      "no patient or no month")
  sieve <- sieve_rows(sieve, left("month") %% adni_interval == 0, "schedule", "visit off the 6-monthly schedule")
  sieve$row <- sieve$row[order(match(left("rid"), table$rid), left("month"))]
  # Complete visits come first: rating and volume, then rating alone, then anything.
  incompleteness <- ifelse(is.na(left("cdr")), 2, is.na(left("hippocampus")) + 0)
  visit <- interaction_code(match(left("rid"), table$rid), left("month"))
  sieve <- sieve_rows(sieve, keep_best_row(visit, incompleteness), "duplicate", "another row for the same visit")
  sieve <- sieve_rows(sieve, !is.na(left("cdr")), "cdr", "no CDR-SB at the visit")
  started <- left("rid") %in% left("rid")[left("month") == 0]
  sieve <- sieve_rows(sieve, started, "baseline", "patient without a baseline visit")
  skipped <- c(FALSE, diff(left("month")) != adni_interval)[seq_along(sieve$row)]
  sieve <- sieve_rows(sieve, before_first_gap(left("rid"), skipped), "gap", "visit after one that was missed")
  if (stable_diagnosis) {
    reverting <- unique(left("rid")[reverts(left("rid"), left("diagnosis"))])
    sieve <- sieve_rows(sieve, !left("rid") %in% reverting, "diagnosis", "patient whose diagnosis goes back")
  }
  sieve
}

# One whole number for each distinct pair of numbers.
interaction_code <- function(a, b) {
  pair <- complex(real = match(a, a), imaginary = match(b, b))
  match(pair, pair)
}

# Rows at which a patient's diagnosis is milder than the last one known.
reverts <- function(who, diagnosis) {
  stage <- match(diagnosis, c("normal", "mci", "dementia"))
  known <- which(!is.na(stage))
  back <- rep(FALSE, length(who))
  if (length(known) < 2) return(back)
  same <- who[known[-1]] == who[known[-length(known)]]
  back[known[-1]] <- same & diff(stage[known]) < 0
  back
}

# The volumes between which a hippocampus is of average size.
volume_cuts <- function(volume, mean, sd) {
  volume <- volume[!is.na(volume)]
  if (identical(mean, "data")) {
    if (length(volume) < 1) abort_input("mean", "= \"data\" needs a hippocampal volume among the visits kept.")
    mean <- base::mean(volume)
  }
  if (identical(sd, "data")) {
    if (length(unique(volume)) < 2) {
      abort_input("sd", "= \"data\" needs two different hippocampal volumes among the visits kept.")
    }
    sd <- stats::sd(volume)
  }
  mean + c(-0.5, 0.5) * sd
}

adni_seen <- function(kept, cuts) {
  rating <- findInterval(kept$cdr, cuts$cdr, left.open = TRUE) + 1
  size <- 2 + (kept$hippocampus >= cuts$mri[1]) + (kept$hippocampus > cuts$mri[2])
  size[is.na(size)] <- 1
  paste(adni_cdr[rating], adni_mri[size], sep = "_")
}

# One row per patient, with the groups to which the patient belongs.
adni_patients <- function(table, kept, age_cut) {
  rid <- unique(kept$rid)
  # The first values in the order of visits. Rows without a month come last.
  ordered <- table[order(table$month), ]
  first_known <- function(column) {
    known <- ordered[!is.na(ordered[[column]]), ]
    known[[column]][match(rid, known$rid)]
  }
  level <- function(x, levels) {
    factor(ifelse(is.na(x), "missing", x), levels = c(levels, "missing"))
  }
  over <- paste0("over_", format_plain(age_cut))
  up_to <- paste0("up_to_", format_plain(age_cut))
  out <- data.frame(rid = rid)
  out[[over]] <- level(ifelse(first_known("age") > age_cut, over, up_to), c(up_to, over))
  out$apoe4 <- level(first_known("apoe4"), c("non_carrier", "carrier"))
  out$sex <- level(first_known("sex"), c("female", "male"))
  baseline <- kept[kept$month == 0, ]
  out$diagnosis <- level(baseline$diagnosis[match(rid, baseline$rid)], c("normal", "mci", "dementia"))
  out$age <- first_known("age")
  out
}
