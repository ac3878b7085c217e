# The caller's random numbers, after a fit, a failed call and an interrupt: as ?ibrc has it, a
# fit without a seed moves the session's generator on by one draw, and else nothing does.
#
#   Rscript tests/slow/generator.R

source(file.path("tests", "slow", "shared", "promise.R"))
source(file.path("tests", "slow", "shared", "small.R"))

# What is done, by name: with a seed or NULL, by the functions of `from`. Those that are
# interrupted get a real signal when they say that they have come to a step, and
# then have steps enough left for R to notice.
bad_start <- data.frame(alpha = -1, optimism = 0)
missing_folder <- file.path(tempdir(), "missing", "fit.ibrc")
uses <- list(
  "fit" = function(from, seed) small_fit(from, iter = 40, seed = seed),
  "fit with a file" = function(from, seed) small_fit(from, iter = 40, seed = seed, file = tempfile(fileext = ".ibrc")),
  "interrupt" = function(from, seed) small_fit(from, iter = 4000, seed = seed, refresh = 2100),
  "interrupt in warm-up" = function(from, seed) small_fit(from, iter = 4000, seed = seed, refresh = 100),
  "bad argument" = function(from, seed) small_fit(from, iter = 40, seed = seed, control = list(thin = 0)),
  "bad start" = function(from, seed) small_fit(from, iter = 40, seed = seed, control = list(start = bad_start)),
  "missing folder" = function(from, seed) small_fit(from, iter = 40, seed = seed, file = missing_folder)
)
outcomes <- c("fit" = "fit", "fit with a file" = "fit", "interrupt" = "interrupted fit",
              "interrupt in warm-up" = "ibrc_error_interrupted", "bad argument" = "ibrc_error_input",
              "bad start" = "ibrc_error_input", "missing folder" = "ibrc_error_file")

begin <- function(session) {
  if (session == "other kinds") set.seed(3, "Wichmann-Hill", "Box-Muller", "Rejection")
  else set.seed(3, "Mersenne-Twister", "Inversion", "Rejection")
  if (session == "nothing drawn") rm(".Random.seed", envir = globalenv())
}

state_of_session <- function() {
  list(seed = get0(".Random.seed", envir = globalenv(), inherits = FALSE), kinds = RNGkind())
}

# What came of a use, and whether the session stands as it may: as before where a seed is
# given; else on by one draw, or after a failure as before.
look <- function(from, use, session, seed) {
  begin(session)
  before <- state_of_session()
  signals <- if (startsWith(use, "interrupt")) 1 else 0
  seen <- suspendInterrupts(observe(allowInterrupts(uses[[use]](from, seed)), function(step) {
    if (signals > 0) tools::pskill(Sys.getpid(), tools::SIGINT)
    signals <<- 0
  }))
  after <- state_of_session()
  begin(session)
  if (is.null(seed)) stats::runif(1)
  moved <- state_of_session()
  came <- if (!is.null(seen$error)) class(seen$error)[1] else if (seen$value$interrupted) "interrupted fit" else "fit"
  right <- identical(after, moved) || is.null(seen$value) && identical(after, before)
  data.frame(use, session, seed = !is.null(seed), as_wanted = came == outcomes[[use]], right)
}

# Where nothing was drawn, a fit without a seed begins at one that nobody knows.
look_at_all <- function(from) {
  sessions <- c("ordinary", "other kinds", "nothing drawn")
  cases <- expand.grid(use = names(uses), session = sessions, seed = c(TRUE, FALSE), stringsAsFactors = FALSE)
  cases <- cases[cases$seed | cases$session != "nothing drawn", ]
  rows <- Map(function(use, session, seed) look(from, use, session, if (seed) 5), cases$use, cases$session, cases$seed)
  do.call(rbind, rows)
}

rows <- look_at_all(asNamespace("ibrc"))
promise("fits, failures and interrupts come about as they should", "all",
        paste(sum(rows$as_wanted), "of", nrow(rows)), all(rows$as_wanted))
promise("the caller's generator stands as documented after fits, failures and interrupts", "all",
        paste(sum(rows$right), "of", nrow(rows)), all(rows$right))
for (name in unique(rows$use[!rows$right])) cat("not after:", name, "\n")

careless <- altered_package("keep_random_state", function(code) code)
rows <- look_at_all(careless)
promise("a planted generator that is not put back is seen", "one case at least",
        paste(sum(!rows$right), "of", nrow(rows)), !all(rows$right))
greedy <- altered_package("settle_seed", function(seed = NULL) {
  if (is.null(seed)) stats::runif(1)
  own("settle_seed")(seed)
})
rows <- look_at_all(greedy)
promise("a planted second draw is seen", "one case at least", paste(sum(!rows$right), "of", nrow(rows)),
        !all(rows$right))
finish()
