# A cohort: trajectories that were selected from a clinical table, and the account of
# the selection. The account has only counts, and never names a patient.

new_ibrc_cohort <- function(visits, log, cuts) {
  structure(visits, class = c("ibrc_cohort", class(visits)), flow = log, cuts = cuts)
}

# Rows have to pass one condition after another. After each, the number of rows left is recorded.
# `who`: one identifier per row of the table, NA if it is missing.
start_sieve <- function(who) {
  note_step(list(who = who, row = seq_along(who), log = NULL), "read", "rows of the table")
}

# `keep`: one logical for each row that is still there.
sieve_rows <- function(sieve, keep, step, reason) {
  sieve$row <- sieve$row[keep]
  note_step(sieve, step, reason)
}

note_step <- function(sieve, step, reason) {
  who <- sieve$who[sieve$row]
  sieve$log <- rbind(sieve$log, data.frame(
    step = step, reason = reason, patients = length(unique(who[!is.na(who)])), visits = length(who)
  ))
  sieve
}

refuse_empty_cohort <- function(sieve) {
  if (length(sieve$row)) return(invisible())
  emptied <- which(sieve$log$visits == 0)[1]
  abort("data", "No visit is left: the last of ", plural(sieve$log$visits[1], "row"), " were dropped at the step \"",
        sieve$log$reason[emptied], "\".", argument = "data", fields = list(flow = sieve$log))
}

# The rows to keep if several stand for one visit: the most complete one, or the first of those.
keep_best_row <- function(visit, incompleteness) {
  best <- order(visit, incompleteness)
  keep <- logical(length(visit))
  keep[best[!duplicated(visit[best])]] <- TRUE
  keep
}

# TRUE up to the first gap among the rows of an identifier. Its rows stand together and in order.
before_first_gap <- function(who, gap) {
  first <- !duplicated(who)
  gap <- gap & !first
  cumulated <- cumsum(gap)
  cumulated == cumulated[which(first)[cumsum(first)]]
}

#' @export
as.data.frame.ibrc_cohort <- function(x, ...) {
  attr(x, "flow") <- NULL
  attr(x, "cuts") <- NULL
  NextMethod()
}

#' @export
format.ibrc_cohort <- function(x, ...) {
  log <- attr(x, "flow")
  out <- NextMethod()
  if (is.null(log) || is.null(attr(x, "roles"))) return(out)
  c(out, paste0("  selected from ", plural(log$patients[1], "patient"), " with ", plural(log$visits[1], "row"),
                ": see flow()"))
}
