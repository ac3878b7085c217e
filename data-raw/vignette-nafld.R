# Makes vignettes/nafld/*.csv, what vignettes/nafld.Rmd reads instead of fitting for half an hour. From the package's
# folder, with the package installed:
#
#   Rscript data-raw/vignette-nafld.R [folder to keep fits in] [names of fits, or "wishes"]
#
# With names, only these are made and kept; without, the files are written.
# tests/testthat/test-vignette-nafld.R says when it has to be run again.

shared <- new.env()
sys.source(file.path("inst", "bench", "shared", "accuracy.R"), shared)
problem_text <- file.path("vignettes", "nafld", "problem.R")
sys.source(problem_text, environment())
sys.source(file.path("data-raw", "shared", "kept.R"), environment())

# ---- fits --------------------------------------------------------------------------------------------------------

# Who a fit is of, what is wanted (a setting, or a function of the cost), whether there is habit, and formulas.
# `alpha_of`: alpha is held at its median in that fit, as three terms of so many people take long to interpolate.
# `alpha`: it is held there, as the costs of all people can grow with it. `steps`: after warm-up, 1,000 where nothing is
# said.
plans <- list(
  alike = list(people = "some", wanted = "stated", habit = FALSE),
  alike_habit = list(people = "some", wanted = "stated", habit = TRUE),
  adjusted = list(people = "some", wanted = "stated", habit = TRUE, alpha_of = "alike_habit",
                  effects = list(optimism ~ who + age + sex + bmi, habit ~ who + age + sex + bmi), steps = 8000),
  cost_no_habit = list(people = "few", wanted = "cost", habit = FALSE, alpha = 2,
                       effects = list(cost ~ who + age + sex + (1 | id)), steps = 16000),
  cost_people = list(people = "few", wanted = "cost", habit = TRUE, alpha = 2,
                     effects = list(cost ~ who + age + sex + (1 | id), habit ~ who), steps = 16000)
)

prior_of <- function(plan) {
  entries <- c(if (is.null(plan$alpha_of) && is.null(plan$alpha)) list(alpha ~ lognormal(0, 1)),
               if (plan$wanted == "cost") list(cost ~ normal(1, 2)) else list(optimism ~ normal(0, 10)),
               if (plan$habit) list(habit ~ normal(0, 1)))
  do.call(ibrc::ibrc_prior, entries)
}

# A run that was stopped goes on from its checkpoint.
make_fit <- function(plan, problem, fixed = list(), file = NULL) {
  visits <- problem[[plan$people]]
  stated <- plan$wanted == "stated"
  setting <- if (stated) problem$setting else problem$by_cost
  models <- if (stated) problem$models
  steps <- if (is.null(plan$steps)) 1000 else plan$steps
  # Fewer scouts are sent, of whom each asks about all people.
  warmup <- if (is.null(plan$effects)) 600 else max(400, steps / 8)
  used <- system.time(fit <- if (!is.null(file) && file.exists(file)) {
    if (stated) ibrc::resume(file, check = FALSE) else ibrc::resume(file, check = FALSE, setting = setting)
  } else {
    ibrc::ibrc(visits, setting, models, prior_of(plan), fixed, effects = plan$effects, chains = 2,
               iter = steps + warmup, warmup = warmup, seed = 1, resolution = 10, refresh = 50, file = file,
               control = list(thin = max(2, steps / 1000), check = FALSE))
  })
  list(fit = fit, seconds = sum(used[c("user.self", "sys.self")]))
}

# ---- what is kept of them ----------------------------------------------------------------------------------------

run_of <- function(name, kept) {
  fit <- kept$fit
  terms <- generics::tidy(fit)
  data.frame(fit = name, people = sum(fit$group_sizes), visits = sum(fit$n_visits),
             cells = if (is.null(fit$effects)) 1 else length(fit$effects$cells), seconds = kept$seconds,
             worst_rhat = max(terms$rhat), fewest_effective = min(terms$ess_bulk),
             verdict = as.character(max(kept$verdict$verdict)))
}

table_of <- function(name, table, columns) {
  table <- as.data.frame(table)
  for (column in setdiff(columns, names(table))) table[[column]] <- NA
  table[columns] <- lapply(table[columns], function(x) if (is.factor(x)) as.character(x) else x)
  cbind(fit = name, table[columns], row.names = NULL)
}

contrasts_of <- function(name, kept) {
  if (is.null(kept$fit$effects)) return(NULL)
  columns <- c("term", "factor", "group", "reference", "estimate", "conf.low", "conf.high", "probability", "verdict")
  pieces <- lapply(c(TRUE, FALSE), function(adjusted) {
    cbind(table_of(name, ibrc::compare_groups(kept$fit, adjusted = adjusted), columns), adjusted = adjusted)
  })
  do.call(rbind, pieces)
}

# The likeliest agent of cases and of controls: under the stated wish for all people, and for some of them under others.
other_wishes <- function(problem) {
  wishes <- c(list(stated = problem$setting), problem$others)
  cases <- rbind(data.frame(people = "visits", wish = "stated"), data.frame(people = "some", wish = names(wishes)))
  cases <- merge(cases, data.frame(habit = c(FALSE, TRUE)))
  pieces <- Map(function(people, wish, habit) {
    visits <- problem[[people]]
    mode <- ibrc::ibrc_mode(visits, wishes[[wish]], problem$believed(wishes[[wish]]),
                            prior_of(list(wanted = "stated", habit = habit)), by = "who", conf.level = NULL, starts = 2,
                            seed = 1, resolution = 10)
    table <- as.data.frame(generics::tidy(mode))[c("term", "group", "estimate")]
    cbind(people = if (people == "visits") "all" else people, wish = wish, habit = habit, table,
          log_lik = sum(as.numeric(stats::logLik(mode))) / nrow(visits), row.names = NULL)
  }, cases$people, cases$wish, cases$habit)
  do.call(rbind, unname(pieces))
}

# ---- files -------------------------------------------------------------------------------------------------------

nafld_inputs <- function(files = c(script = file.path("data-raw", "vignette-nafld.R"), problem = problem_text,
                                   panel = file.path("inst", "bench", "shared", "accuracy.R"))) {
  sums <- vapply(files, function(file) {
    text <- tempfile()
    on.exit(unlink(text))
    writeLines(readLines(file), text, sep = "\n")
    unname(tools::md5sum(text))
  }, "")
  data.frame(what = names(sums), is = unname(sums))
}

write_result <- function(table, name) {
  utils::write.csv(stored_digits(table), file.path("vignettes", "nafld", paste0(name, ".csv")), row.names = FALSE)
}

if (sys.nframe() == 0) {
  arguments <- commandArgs(TRUE)
  folder <- if (length(arguments)) arguments[1]
  problem <- kept("problem", folder, function() nafld_problem(shared$nafld_visits()))
  wanted <- if (length(arguments) > 1) arguments[-1] else names(plans)
  if ("wishes" %in% wanted) kept("wishes", folder, function() other_wishes(problem))
  wanted <- setdiff(wanted, "wishes")
  one_fit <- function(name) {
    plan <- plans[[name]]
    kept(name, folder, function() {
      if (!is.null(plan$alpha_of)) plan$alpha <- stats::coef(one_fit(plan$alpha_of)$fit)[["alpha"]]
      fixed <- if (is.null(plan$alpha)) list() else list(alpha = plan$alpha)
      message("== ", name)
      make_fit(plan, problem, fixed, if (!is.null(folder)) file.path(folder, paste0(name, ".run")))
    })
  }
  fits <- lapply(stats::setNames(nm = wanted), function(name) {
    one <- one_fit(name)
    message("checking ", name)
    fit <- kept(paste0(name, "-checked"), folder, function() ibrc::add_verdict(one$fit))
    list(fit = fit, seconds = one$seconds, verdict = as.data.frame(ibrc::verdict(fit)))
  })
  if (length(arguments) < 2) {
    all_of <- function(part) do.call(rbind, Map(part, names(fits), fits))
    estimates <- c("term", "estimate", "conf.low", "conf.high", "rhat", "ess_bulk", "contraction")
    write_result(all_of(run_of), "runs")
    write_result(all_of(function(name, one) table_of(name, generics::tidy(one$fit), estimates)), "estimates")
    write_result(all_of(function(name, one) {
      table_of(name, one$verdict, c("check", "term", "seen", "verdict"))
    }), "verdicts")
    write_result(all_of(contrasts_of), "contrasts")
    # Of many cells the verdict has the worst of it; all would take long.
    checks <- kept("checks", folder, function() {
      all_of(function(name, one) {
        if (!is.null(one$fit$effects)) return(NULL)
        table_of(name, ibrc::behaviour_check(one$fit), c("statistic", "visits", "p.value", "gap"))
      })
    })
    write_result(checks, "checks")
    write_result(kept("wishes", folder, function() other_wishes(problem)), "wishes")
    write_result(nafld_inputs(), "inputs")
  }
}
