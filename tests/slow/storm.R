# A storm of interrupts: a child process fits, and goes on from its file whenever it was
# stopped, while this one sends it SIGINT every 50 ms for a minute (of the child's own time:
# on a busy machine it would not come to its first step).
#
#   Rscript tests/slow/storm.R [seconds]

source(file.path("tests", "slow", "shared", "promise.R"))
source(file.path("tests", "slow", "shared", "small.R"))

seconds <- argument(1, 60L)
package <- asNamespace("ibrc")

# ---- faults ----------------------------------------------------------------------

# Each with the time it takes for an interrupt to find it.
dawdle <- function(steps = 2e6) for (i in seq_len(steps)) i
planted <- list(
  torn = altered_package("replace_whole", function(path, bytes, ...) {
    file <- file(path, "wb")
    on.exit(close(file))
    writeBin(bytes[1:1000], file)
    dawdle()
    writeBin(bytes[-(1:1000)], file)
  }),
  parts = altered_package("replace_whole", function(path, bytes, ...) {
    part <- tempfile("fit.ibrc.", dirname(path), ".part")
    writeBin(bytes, part)
    dawdle()
    file.rename(part, path)
  }),
  seeds = altered_package("keep_random_state", function(code) {
    seed <- get0(".Random.seed", envir = globalenv(), inherits = FALSE)
    value <- force(code)
    dawdle()
    assign(".Random.seed", seed, envir = globalenv())
    value
  }),
  draws = altered_package("finish_job", function(job, chain, file, stands = NULL, ...) {
    if (!is.null(stands)) chain$state$scale[] <- 0.1
    own("finish_job")(job, chain, file, stands, ...)
  })
)
faults <- c(torn = "file written in place", parts = "part left by an interrupt",
            seeds = "generator left as an interrupt found it", draws = "scale forgotten by resume()")

# ---- the child ---------------------------------------------------------------------

# Odd fits have a seed of their own, even ones take it from the session.
fit_again <- function(from, round, path) {
  small_fit(from, iter = 120, seed = if (round %% 2 == 1) 5, file = path, refresh = 5)
}

# How the generator may stand afterwards: as it did, or, where a fit has taken its seed
# from it, on by one draw.
seeds_after <- function(takes_one) {
  before <- .Random.seed
  if (!takes_one) return(list(before))
  stats::runif(1)
  after <- .Random.seed
  assign(".Random.seed", before, envir = globalenv())
  list(before, after)
}

# Until a file `stop` appears, and then to the end of the fit under way.
weather <- function(from, folder) {
  path <- file.path(folder, "fit.ibrc")
  counts <- c(calls = 0, interrupts = 0, fits = 0, moved = 0, torn = 0, parts = 0, seeds = 0, draws = 0, errors = 0)
  add <- function(what, n = 1) counts[what] <<- counts[what] + n
  set.seed(1)
  unbroken <- lapply(1:2, function(round) suppressMessages(fit_again(package, round, NULL)$draws))
  cat(Sys.getpid(), "\n")
  round <- 1
  step <- -1
  bytes <- NULL
  set.seed(1)
  repeat {
    last <- file.exists(file.path(folder, "stop"))
    resumes <- file.exists(path)
    allowed <- seeds_after(!resumes && round %% 2 == 0)
    out <- tryCatch(
      allowInterrupts(suppressMessages(if (resumes) from$resume(path) else fit_again(from, round, path))),
      interrupt = function(e) "interrupt", ibrc_error_interrupted = function(e) "interrupt", error = conditionMessage
    )
    whole <- inherits(out, "ibrc_fit") && !out$interrupted
    add("calls")
    add("interrupts", inherits(out, "ibrc_fit") && out$interrupted || identical(out, "interrupt"))
    failed <- is.character(out) && out != "interrupt"
    add("errors", failed)
    add("seeds", !any(vapply(allowed, identical, NA, .Random.seed)))
    add("parts", length(litter(folder, c("fit.ibrc", "stop"))) > 0)
    unlink(file.path(folder, litter(folder, c("fit.ibrc", "stop"))))
    if (file.exists(path) && !identical(bytes_of(path), bytes)) {
      now <- tryCatch(own("read_checkpoint")(path)$contents$chain$state$iteration, error = function(e) NA)
      add("torn", is.na(now))
      add("moved", !is.na(now) && now > step)
      if (is.na(now)) unlink(path) else step <- now
    }
    if (whole) {
      add("fits")
      add("draws", !identical(out$draws, unbroken[[(round - 1) %% 2 + 1]]))
      unlink(path)
      round <- round + 1
    }
    bytes <- bytes_of(path)
    if (is.null(bytes)) step <- -1
    # A fit that takes its seed from the session finds it as the unbroken one did.
    if (is.null(bytes)) set.seed(1)
    if (last && (whole || failed)) break
  }
  counts
}

given <- commandArgs(TRUE)
if (length(given) > 1 && given[2] == "child") {
  from <- if (given[3] == "none") package else planted[[given[3]]]
  suspendInterrupts({
    counts <- weather(from, given[4])
    cat(names(counts), "\n", counts, "\n")
  })
  quit(status = 0)
}

# ---- the parent --------------------------------------------------------------------

# Until a process has had so many seconds on a processor, or as many have gone by where that
# is not told.
let_run <- function(pid, seconds) {
  had <- function() {
    told <- tryCatch(suppressWarnings(readLines(file.path("/proc", pid, "schedstat"))), error = function(e) "NA")
    as.numeric(strsplit(told, " ")[[1]][1]) / 1e9
  }
  end <- had() + seconds
  if (is.na(end)) return(Sys.sleep(seconds))
  while (isTRUE((left <- end - had()) > 0)) Sys.sleep(max(left, 0.001))
}

storm <- function(fault, seconds) {
  folder <- tempfile("storm")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  child <- pipe(paste("Rscript", shQuote(file.path("tests", "slow", "storm.R")), 0, "child", fault, shQuote(folder),
                      "2>/dev/null"), "r")
  pid <- as.integer(readLines(child, 1))
  sent <- 0
  for (i in seq_len(seconds / 0.05)) {
    let_run(pid, 0.05)
    sent <- sent + tools::pskill(pid, tools::SIGINT)
  }
  file.create(file.path(folder, "stop"))
  said <- scan(text = readLines(child), what = "", quiet = TRUE)
  close(child)
  half <- length(said) %/% 2
  c(stats::setNames(as.numeric(said[-seq_len(half)]), said[seq_len(half)]), sent = sent)
}

counts <- storm("none", seconds)
calm <- function(what) counts[[what]] == 0
named <- function(what) paste0(what, " (", counts[["sent"]], " interrupts, one every 50 ms of its own time)")
promise(named("draws are those of an undisturbed fit"), "every fit, bit for bit, moved on more than 10 times",
        paste0(counts[["fits"]] - counts[["draws"]], " of ", counts[["fits"]], " fits, moved on ", counts[["moved"]],
               " times in ", counts[["calls"]], " calls"),
        calm("draws") && counts[["fits"]] > 0 && counts[["moved"]] > 10)
promise(named("interrupts end a call as such, never in another error"), "more than 10 interrupts, 0 errors",
        paste(counts[["interrupts"]], "interrupts,", counts[["errors"]], "errors"),
        calm("errors") && counts[["interrupts"]] > 10)
promise(named("no file is torn"), "0", paste(counts[["torn"]], "of", counts[["calls"]]), calm("torn"))
promise(named("no temporary file is left"), "0", paste(counts[["parts"]], "of", counts[["calls"]]), calm("parts"))
promise(named("the caller's generator stands as documented"), "0 not",
        paste(counts[["seeds"]], "of", counts[["calls"]], "not"), calm("seeds"))
for (fault in names(planted)) {
  counts <- storm(fault, 6)
  promise(paste("a planted", faults[[fault]], "is seen"), "6 s of interrupts, once at least",
          paste(counts[[fault]], "of", counts[["calls"]]), counts[[fault]] > 0)
}
finish()
