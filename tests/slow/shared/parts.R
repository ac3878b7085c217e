# What long studies share: each part of one is kept once it is done, so that a study that was stopped goes on behind
# it. Parts lie beside what scripts printed, by a hash of the sources, and go when the study has come to its end.

parts_folder <- function(study) {
  file.path("tests", "slow", "kept", paste0(study, "-", Sys.getenv("IBRC_SOURCES", "by-hand")))
}

# `work` of each of the tasks, a named list, over future::plan() where there is one; it returns a data frame.
in_parts <- function(study, tasks, work) {
  folder <- parts_folder(study)
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  files <- file.path(folder, paste0(names(tasks), ".csv"))
  rows <- getFromNamespace("spread", "ibrc")(Map(list, task = tasks, file = files), function(one) {
    if (!file.exists(one$file)) {
      utils::write.csv(work(one$task), paste0(one$file, ".part"), row.names = FALSE)
      file.rename(paste0(one$file, ".part"), one$file)
    }
    utils::read.csv(one$file, check.names = FALSE)
  })
  do.call(rbind, unname(rows))
}

# For the end of a study; by hand, parts stay.
drop_parts <- function(study) {
  if (nzchar(Sys.getenv("IBRC_SOURCES"))) unlink(parts_folder(study), recursive = TRUE)
}
