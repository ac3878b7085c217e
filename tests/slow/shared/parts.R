# What long studies share: each part of one is kept once it is done, so that a study that was stopped goes on behind it.
# Parts lie beside what scripts printed. They are in a folder named by a hash of the sources while the study runs, and
# in one file, NAME.parts, when it has come to its end, or when what it has done is put away for long.
#
# Parts of other sources are not lost either. Some of them are run again (two of each call of in_parts(), or one in
# 25 where that is more). If every one comes out the same to the last digit, seeds and draws are what they were, and
# the other parts are taken over; if one does not, none is. The table says which studies stand on such parts.

kept_folder <- file.path("tests", "slow", "kept")

sources_now <- function() Sys.getenv("IBRC_SOURCES", "by-hand")

parts_folder <- function(study, sources = sources_now()) file.path(kept_folder, paste0(study, "-", sources))

part_files <- function(folder, names) file.path(folder, paste0(names, ".csv"))

# `work` of each of the tasks, a named list, over future::plan() where there is one; it returns a data frame.
in_parts <- function(study, tasks, work) {
  folder <- parts_folder(study)
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  spread <- getFromNamespace("spread", "ibrc")
  files <- part_files(folder, names(tasks))
  older <- older_parts(study, names(tasks)[!file.exists(files)])
  if (length(older)) {
    again <- names(older)[unique(round(seq(1, length(older), length.out = max(2, length(older) / 25))))]
    same <- spread(again, function(name) identical(part_lines(work(tasks[[name]])), older[[name]]))
    if (all(unlist(same))) for (name in names(older)) write_part(older[[name]], part_files(folder, name))
    said <- paste0(names(tasks)[1], " to ", names(tasks)[length(tasks)], ": ", length(again), " of ", length(older),
                   " parts of other sources run again")
    cat(study, " ", said, ": ", if (all(unlist(same))) "all the same, the rest are taken over" else
      paste(sum(!unlist(same)), "differ, none is taken over"), ": shown\n", sep = "")
  }
  rows <- spread(Map(list, task = tasks, file = files), function(one) {
    if (!file.exists(one$file)) write_part(part_lines(work(one$task)), one$file)
    utils::read.csv(one$file, check.names = FALSE)
  })
  do.call(rbind, unname(rows))
}

part_lines <- function(rows) {
  connection <- textConnection(NULL, "w")
  on.exit(close(connection))
  utils::write.csv(rows, connection, row.names = FALSE)
  textConnectionValue(connection)
}

# Whole or not at all, whenever it is stopped.
write_part <- function(lines, file) {
  writeLines(lines, paste0(file, ".part"))
  file.rename(paste0(file, ".part"), file)
}

# The lines of those of the parts that other sources have left, by name; the latest where there are several.
older_parts <- function(study, names) {
  if (!nzchar(Sys.getenv("IBRC_SOURCES")) || !length(names)) return(list())
  pattern <- paste0("^", study, "-[0-9a-f]{12}$")
  folders <- setdiff(list.files(kept_folder, pattern, full.names = TRUE), parts_folder(study))
  for (folder in folders[order(file.mtime(folders), decreasing = TRUE)]) {
    here <- names[file.exists(part_files(folder, names))]
    if (length(here)) return(sapply(here, function(name) readLines(part_files(folder, name)), simplify = FALSE))
  }
  ended <- read_ended(study)
  ended[intersect(names, names(ended))]
}

# One file of all parts: a line "part NAME" before the lines of each.
ended_file <- function(study) file.path(kept_folder, paste0(study, ".parts"))

read_ended <- function(study) {
  if (!file.exists(ended_file(study))) return(list())
  lines <- readLines(ended_file(study))
  begins <- startsWith(lines, "part ")
  parts <- split(lines[!begins], cumsum(begins)[!begins])
  stats::setNames(parts, sub("^part ", "", lines[begins]))
}

# For the end of a study; by hand, parts stay where they are.
end_parts <- function(study) {
  if (!nzchar(Sys.getenv("IBRC_SOURCES"))) return(invisible())
  files <- sort(list.files(parts_folder(study), "[.]csv$", full.names = TRUE), method = "radix")
  lines <- lapply(files, function(file) c(paste("part", sub("[.]csv$", "", basename(file))), readLines(file)))
  write_part(unlist(lines), ended_file(study))
  unlink(list.files(kept_folder, paste0("^", study, "-[0-9a-f]{12}$"), full.names = TRUE), recursive = TRUE)
}
