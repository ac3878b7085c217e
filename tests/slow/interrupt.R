# Ctrl-C: how soon does a fit come back, and with what? A child process fits, over
# and over; this one sends it SIGINT at random moments and reads when it returned.
#
#   Rscript tests/slow/interrupt.R [moments] [problem ...]
#
# A problem is "DIAG" or "5,151 nodes", then ", checkpoints", ", groups" (ten of them)
# or ", groups in processes", if any. The first two forms are what is promised; ", deaf" is a
# planted fault, a fit that listens every half second.

source(file.path("tests", "slow", "shared", "promise.R"))
source(file.path("tests", "slow", "shared", "problems.R"))

moments <- argument(1, 20L)
now <- function() as.numeric(Sys.time())

# Seconds that a process has had on a processor: on a busy machine an answer may have
# to wait for its turn, which says nothing of the package. NA where it is not told.
turn <- function(pid) {
  told <- tryCatch(suppressWarnings(readLines(file.path("/proc", pid, "schedstat"))), error = function(e) "NA")
  as.numeric(strsplit(told, " ")[[1]][1]) / 1e9
}

# ---- the child -------------------------------------------------------------------

# Says when a fit begins and, once interrupted, when it is back and what it brought. No
# warm-up, so that there are draws from the third step on.
fit_forever <- function(name) {
  problem <- problem_of(if (startsWith(name, "DIAG")) "DIAG" else "clinic")
  file <- if (endsWith(name, "checkpoints")) tempfile(fileext = ".ibrc")
  by <- if (grepl("groups", name)) "group"
  if (endsWith(name, "in processes")) future::plan("multisession", workers = 2)
  from <- asNamespace("ibrc")
  if (endsWith(name, "deaf")) {
    from <- altered_package("sampler_step", function(...) {
      until <- Sys.time() + 0.5
      suspendInterrupts(while (Sys.time() < until) NULL)
      own("sampler_step")(...)
    })
  }
  for (moment in seq_len(moments)) {
    cat("begin", Sys.getpid(), "\n")
    outcome <- tryCatch({
      fit <- from$ibrc(problem$visits, problem$setting, problem$models, problem$prior, by = by, iter = 2e4,
                       warmup = 0, seed = moment, refresh = if (is.null(file)) 0 else 20, file = file,
                       overwrite = TRUE)
      if (fit$interrupted && all(is.finite(unlist(fit$draws)))) paste("draws", dim(fit$draws[[1]])[1]) else "wrong"
    }, ibrc_error_interrupted = function(e) "none 0", interrupt = function(e) "before 0",
    error = function(e) gsub("[[:space:]]+", "_", conditionMessage(e)))
    cat("back", format(c(now(), turn(Sys.getpid())), digits = 20), outcome, "\n")
    if (!is.null(file) && startsWith(outcome, "draws")) cat("file", checkpoint_step(file), "\n")
  }
}

checkpoint_step <- function(file) {
  tryCatch(own("read_checkpoint")(file)$contents$chain$state$iteration, error = conditionMessage)
}

# ---- the parent ------------------------------------------------------------------

interrupt_at_random <- function(name) {
  command <- paste("Rscript", shQuote(file.path("tests", "slow", "interrupt.R")), moments, "child", shQuote(name),
                   "2>/dev/null")
  child <- pipe(command, "r")
  on.exit(close(child))
  checked <- endsWith(name, "checkpoints")
  # Ten groups take ten times as long to begin.
  slower <- if (grepl("groups", name)) 10 else 1
  rows <- lapply(seq_len(moments), function(moment) {
    begun <- scan(text = readLines(child, 1), what = "", quiet = TRUE)
    stopifnot(begun[1] == "begin")
    Sys.sleep(stats::runif(1, 0.3, 2) * slower)
    sent <- c(now(), turn(begun[2]))
    tools::pskill(as.integer(begun[2]), tools::SIGINT)
    back <- scan(text = readLines(child, 1), what = "", quiet = TRUE)
    stopifnot(back[1] == "back")
    step <- if (checked && back[4] == "draws") sub("^file ", "", readLines(child, 1)) else NA
    took <- 1000 * (as.numeric(back[2:3]) - sent)
    data.frame(wall = took[1], own = took[2], outcome = back[4], draws = as.integer(back[5]),
               file_step = suppressWarnings(as.integer(step)))
  })
  do.call(rbind, rows)
}

given <- commandArgs(TRUE)
if (length(given) > 1 && given[2] == "child") {
  fit_forever(given[3])
  quit(status = 0)
}
set.seed(8)
names <- if (length(given) > 1) given[-1] else c("DIAG, deaf", "DIAG", "DIAG, checkpoints", "5,151 nodes",
                                                    "5,151 nodes, checkpoints")
for (name in names) {
  rows <- interrupt_at_random(name)
  soon <- rows$wall <= 250
  figure <- paste0(sum(soon), " of ", nrow(rows), ", median ", round(stats::median(rows$wall)), " ms, longest ",
                   round(max(rows$wall)), " ms; on a processor median ", round(stats::median(rows$own)),
                   " ms, longest ", round(max(rows$own)), " ms")
  if (endsWith(name, "deaf")) {
    promise("a planted fit that listens every half second is seen",
            paste(moments, "interrupts, one answered later than 250 ms at least"), figure, !all(soon))
    next
  }
  promise(paste0("interrupted fits answer within 250 ms (", name, ")"),
          paste(moments, "interrupts, all within 250 ms"), figure, all(soon))
  promise(paste0("interrupted fits return their draws (", name, ")"), paste(moments, "interrupts, all"),
          paste(sum(rows$outcome == "draws"), "of", nrow(rows)), all(rows$outcome == "draws"))
  if (endsWith(name, "checkpoints")) {
    whole <- rows$file_step == rows$draws
    promise(paste0("the checkpoint holds the last step (", name, ")"), paste(moments, "interrupts, all"),
            paste(sum(whole, na.rm = TRUE), "of", nrow(rows)), all(whole))
  }
}
finish()
