# Ctrl-C: how soon does a fit come back, and with what? A child process fits, over
# and over; this one sends it SIGINT at random moments and reads when it returned.
#
#   Rscript tests/slow/interrupt.R [moments] [problem ...]
#
# A problem is "DIAG" or "5,151 nodes", then ", checkpoints", ", groups" (ten of them)
# or ", groups in processes", if any. The first two forms are what is promised; ", deaf" is a
# planted fault, a fit that listens every half second. "dynamics" are learned dynamics and agents together, also with
# ", checkpoints", and "dynamics, climbing" the same before their first step; "people" are people who differ and have a
# habit. Or it is one of the `long_calls` below, which take seconds or minutes, most of them inside C.

source(file.path("tests", "slow", "shared", "promise.R"))
source(file.path("tests", "slow", "shared", "problems.R"))

for (helper in c("helper-random.R", "helper-fits.R", "helper-dynamics.R", "helper-population.R")) {
  source(file.path("tests", "testthat", helper))
}

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
                       control = list(overwrite = TRUE))
      if (fit$interrupted && all(is.finite(unlist(fit$draws)))) paste("draws", dim(fit$draws[[1]])[1]) else "wrong"
    }, ibrc_error_interrupted = function(e) "none 0", interrupt = function(e) "before 0",
    error = function(e) gsub("[[:space:]]+", "_", conditionMessage(e)))
    cat("back", format(c(now(), turn(Sys.getpid())), digits = 20), outcome, "\n")
    if (!is.null(file) && startsWith(outcome, "draws")) cat("file", checkpoint_step(file), "\n")
  }
}

# The same for fits whose chains take a while to begin: interrupted from some steps on or, if `climbing`, from the
# beginning on. `run(moment, file)` fits.
begin_forever <- function(name, run, climbing = FALSE) {
  file <- if (endsWith(name, "checkpoints")) tempfile(fileext = ".ibrc")
  begin <- function() cat("begin", Sys.getpid(), "\n")
  for (moment in seq_len(moments)) {
    if (climbing) begin()
    outcome <- tryCatch({
      fit <- withCallingHandlers(run(moment, file), message = function(m) {
        if (!climbing && startsWith(conditionMessage(m), "step 20 ")) begin()
      })
      if (fit$interrupted && all(is.finite(unlist(fit$draws)))) paste("draws", dim(fit$draws[[1]])[1]) else "wrong"
    }, ibrc_error_interrupted = function(e) "none 0", interrupt = function(e) "before 0",
    error = function(e) gsub("[[:space:]]+", "_", conditionMessage(e)))
    cat("back", format(c(now(), turn(Sys.getpid())), digits = 20), outcome, "\n")
    if (!is.null(file) && startsWith(outcome, "draws")) cat("file", checkpoint_step(file), "\n")
  }
}

# Learned dynamics and agents together.
infer_forever <- function(name) {
  climbing <- endsWith(name, "climbing")
  data <- as.data.frame(ward_visits())
  data$ward <- data$id %% 6
  visits <- trajectories(data, covariates = "ward", setting = clinic_of(clinic_truth()))
  iohmm <- ward_iohmm(transitions = "shared")
  begin_forever(name, climbing = climbing, function(moment, file) {
    ibrc(visits, clinic_of, clinic_step, ward_prior(), list(eta = 0), by = if (climbing) "ward", iter = 2e4,
         warmup = 0, seed = moment, refresh = 20, resolution = 20, file = file, dynamics = iohmm,
         control = list(overwrite = TRUE))
  })
}

# People who differ, and have a habit.
differ_forever <- function(name) {
  begin_forever(name, function(moment, file) {
    fit_people(iter = 2e4, warmup = 0, seed = moment, refresh = 20, file = file, control = list(overwrite = TRUE))
  })
}

fine_plan <- function(resolution, ...) {
  plan_agent(diag_setting(), bounded_agent(0.5, 1.25, 1e-3), diag_models(), resolution, ...)
}

# Each makes what it needs, and returns what is called over and over.
long_calls <- list(
  "a plan, 2 states, resolution 80,000" = function() function() fine_plan(80000),
  "a plan, 3 states, resolution 300" = function() {
    setting <- clinic_setting()
    function() plan_agent(setting, bounded_agent(0.5, 1.25, 1e-3), soften_models(setting, c(0, 0.5)), 300)
  },
  "an account of a plan, resolution 300,000" = function() {
    plan <- fine_plan(300000)
    function() summary(plan)
  },
  "a fit, resolution 300,000" = function() {
    visits <- simulate(fine_plan(100), 100, seed = 1)
    function() {
      fit <- ibrc(visits, diag_setting(), diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)), resolution = 300000,
                  warmup = 0, seed = 1, refresh = 0)
      if (fit$interrupted) stop(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
    }
  },
  "simulate(nsim = 1e5, horizon = 1e4)" = function() {
    plan <- fine_plan(100)
    function() simulate(plan, 1e5, seed = 1, horizon = 1e4)
  },
  "dynamics from 500,000 visits" = function() {
    visits <- simulate(plan_agent(tiger_setting(), bounded_agent(alpha = 20)), 10000, seed = 1, horizon = 50)
    function() fit_iohmm(visits, states = 5, starts = 20, seed = 1, tolerance = 1e-12)
  },
  "a likelihood of 2,000,000 visits" = function() {
    plan <- plan_agent(tiger_setting(), bounded_agent(alpha = 20))
    visits <- simulate(plan, 20000, seed = 1, horizon = 100)
    function() log_lik(plan, visits)
  },
  # A planted fault.
  "a call that is deaf for three seconds" = function() {
    function() {
      until <- Sys.time() + 3
      suspendInterrupts(while (Sys.time() < until) NULL)
      Sys.sleep(0.01)
    }
  }
)

call_forever <- function(name) {
  run <- long_calls[[name]]()
  for (moment in seq_len(moments)) {
    cat("begin", Sys.getpid(), "\n")
    outcome <- tryCatch(repeat run(), interrupt = function(e) "interrupt 0",
                        ibrc_error_interrupted = function(e) "interrupt 0",
                        error = function(e) gsub("[[:space:]]+", "_", conditionMessage(e)))
    cat("back", format(c(now(), turn(Sys.getpid())), digits = 20), outcome, "\n")
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
  if (given[3] %in% names(long_calls)) {
    call_forever(given[3])
  } else if (startsWith(given[3], "dynamics")) {
    suppressMessages(infer_forever(given[3]))
  } else if (startsWith(given[3], "people")) {
    suppressMessages(differ_forever(given[3]))
  } else {
    fit_forever(given[3])
  }
  quit(status = 0)
}
set.seed(8)
names <- if (length(given) > 1) given[-1] else c("DIAG, deaf", "DIAG", "DIAG, checkpoints", "5,151 nodes",
                                                    "5,151 nodes, checkpoints", "dynamics", "dynamics, checkpoints",
                                                    "dynamics, climbing", "people", "people, checkpoints",
                                                    names(long_calls))
for (name in names) {
  rows <- interrupt_at_random(name)
  long <- name %in% names(long_calls)
  soon <- rows$wall <= if (long) 1000 else 250
  figure <- paste0(sum(soon), " of ", nrow(rows), ", median ", round(stats::median(rows$wall)), " ms, longest ",
                   round(max(rows$wall)), " ms; on a processor median ", round(stats::median(rows$own)),
                   " ms, longest ", round(max(rows$own)), " ms")
  if (long) {
    planted <- grepl("deaf", name)
    promise(if (planted) paste0("a planted fault is seen (", name, ")") else
              paste0("long calls answer within a second (", name, ")"),
            if (planted) paste(moments, "interrupts, one answered later than a second at least") else
              paste(moments, "interrupts, all within a second, as an interrupt"),
            figure, if (planted) !all(soon) else all(soon) && all(rows$outcome == "interrupt"))
    next
  }
  if (endsWith(name, "deaf")) {
    promise("a planted fit that listens every half second is seen",
            paste(moments, "interrupts, one answered later than 250 ms at least"), figure, !all(soon))
    next
  }
  promise(paste0("interrupted fits answer within 250 ms (", name, ")"),
          paste(moments, "interrupts, all within 250 ms"), figure, all(soon))
  # Before the first step there are none, which is said by the class of an error.
  wanted <- if (endsWith(name, "climbing")) "none" else "draws"
  promise(paste0(if (wanted == "draws") "interrupted fits return their draws (" else
                   "fits that are interrupted before their first step say so (", name, ")"),
          paste(moments, "interrupts, all"), paste(sum(rows$outcome == wanted), "of", nrow(rows)),
          all(rows$outcome == wanted))
  if (endsWith(name, "checkpoints")) {
    whole <- rows$file_step == rows$draws
    promise(paste0("the checkpoint holds the last step (", name, ")"), paste(moments, "interrupts, all"),
            paste(sum(whole, na.rm = TRUE), "of", nrow(rows)), all(whole))
  }
}
finish()
