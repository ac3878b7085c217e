# One row per visit in ADNI's columns; what is not said is an ordinary visit.
adni_row <- function(RID, VISCODE, CDRSB = "0", Hippocampus = NA, DX = "CN", AGE = "70", APOE4 = "0",
                     PTGENDER = "Female") {
  data.frame(RID, VISCODE, DX, CDRSB, Hippocampus = as.character(Hippocampus), AGE, APOE4, PTGENDER)
}

adni_rows <- function(...) do.call(rbind, list(...))

# Patient, month, what was done and what was seen, as one line per visit.
adni_lines <- function(cohort) {
  paste(cohort$RID, cohort$month, cohort$action, cohort$observation)
}

adni_file <- function(lines, frame = parent.frame()) {
  path <- withr::local_tempfile(fileext = ".csv", .local_envir = frame)
  writeLines(lines, path)
  path
}
