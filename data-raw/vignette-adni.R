# Makes inst/extdata/adni-*.csv, what vignettes/adni.Rmd reads instead of fitting for a
# quarter of an hour. From the package's folder, with the package installed:
#
#   Rscript data-raw/vignette-adni.R
#
# tests/testthat/test-vignette-adni.R says when it has to be run again.

# What the vignette does before it fits, and what is true.
vignette_problem <- function() {
  truth <- ibrc::adni_like_truth()
  cohort <- ibrc::read_adni(ibrc::adni_like)
  iohmm <- learn_dynamics(cohort, "shared")
  learned <- ibrc::adni_setting(iohmm)
  list(
    cohort = cohort, truth = truth, iohmm = iohmm,
    prior = ibrc::ibrc_prior(alpha ~ lognormal(-1, 1), optimism ~ normal(0, 1)),
    dynamics = list(
      learned = list(setting = learned, models = ibrc::perturb_models(learned, by = 0.1, vary = "both")),
      true = truth[c("setting", "models")]
    )
  )
}

learn_dynamics <- function(cohort, transitions) {
  ratings <- c("cdr_normal", "cdr_questionable", "cdr_severe")
  ibrc::fit_iohmm(cohort, states = 3, starts = 20, transitions = transitions,
                  sort_by = function(seen) match(sub("_mri.*", "", seen), ratings),
                  names = c("normal", "mci", "dementia"), seed = 1)
}

# The bonus at 20 nodes a side, written into the setting: it rises from 0.9 to 0.95.
with_ramp <- function(setting, from = 0.9, to = 0.95, worth = 2.5) {
  setting$belief_utility <- function(beliefs, action) {
    surest <- apply(beliefs, 1, max)
    worth * pmin(pmax((surest - from) / (to - from), 0), 1)
  }
  setting
}

# The likeliest optimism and alpha of either age group: one row.
likeliest <- function(problem, setting, models, resolution = 20, starts = 2) {
  mode <- ibrc::ibrc_mode(problem$cohort, setting, models, problem$prior, estimate = "mle", by = "over_75",
                          conf.level = NULL, resolution = resolution, starts = starts, seed = 1)
  table <- generics::tidy(mode)
  at <- function(term, group) table$estimate[table$term == term & table$group == group]
  data.frame(
    alpha_up_to_75 = at("alpha", "up_to_75"), alpha_over_75 = at("alpha", "over_75"),
    optimism_up_to_75 = at("optimism", "up_to_75"), optimism_over_75 = at("optimism", "over_75"),
    log_lik = as.numeric(stats::logLik(mode))
  )
}

# Posteriors by age, by sex and by APOE4: a row a contrast of optimism, and a row a group.
make_contrasts <- function(problem, chains = 4, iter = 2000) {
  cases <- expand.grid(by = c("over_75", "sex", "apoe4"), dynamics = names(problem$dynamics), stringsAsFactors = FALSE)
  fits <- Map(function(by, dynamics) {
    world <- problem$dynamics[[dynamics]]
    ibrc::ibrc(problem$cohort, world$setting, world$models, problem$prior, by = by, resolution = 20,
               chains = chains, iter = iter, seed = 1)
  }, cases$by, cases$dynamics)
  rows <- function(read) {
    out <- do.call(rbind, lapply(seq_along(fits), function(i) {
      cbind(by = cases$by[i], dynamics = cases$dynamics[i], read(fits[[i]]))
    }))
    rownames(out) <- NULL
    out
  }
  list(contrasts = rows(ibrc::compare_groups), groups = rows(generics::tidy))
}

# What the resolution of the lattice does, to a bonus that jumps and to one that rises.
make_resolutions <- function(problem, resolutions = c(20, 40, 100)) {
  cases <- expand.grid(resolution = resolutions, bonus = c("jump", "ramp"), dynamics = names(problem$dynamics),
                       stringsAsFactors = FALSE)
  rows <- Map(function(resolution, bonus, dynamics) {
    world <- problem$dynamics[[dynamics]]
    setting <- if (bonus == "ramp") with_ramp(world$setting) else world$setting
    cbind(dynamics = dynamics, bonus = bonus, resolution = resolution,
          likeliest(problem, setting, world$models, resolution))
  }, cases$resolution, cases$bonus, cases$dynamics)
  do.call(rbind, unname(rows))
}

# What the dynamics do: those learned, those that are true, draws from what the data leave open.
make_dynamics <- function(problem, draws = 12) {
  one <- function(name, laws) {
    setting <- ibrc::adni_setting(laws)
    cbind(dynamics = name, likeliest(problem, setting, ibrc::perturb_models(setting, by = 0.1, vary = "both")))
  }
  parts <- c("states", "actions", "observations", "transition", "emission", "start")
  drawn <- ibrc::model_draws(problem$iohmm, n = draws, seed = 1)$models
  rows <- c(
    list(one("learned", problem$iohmm), one("true", problem$truth$setting[parts])),
    lapply(drawn, function(laws) {
      one("draw", c(problem$iohmm[c("states", "actions", "observations")], laws[c("transition", "emission", "start")]))
    })
  )
  do.call(rbind, unname(rows))
}

# What the model prior does: optimism leans between the models that there are.
make_priors <- function(problem) {
  setting <- problem$dynamics$learned$setting
  models <- list(
    perturb_models = problem$dynamics$learned$models,
    soften_models = ibrc::soften_models(setting, mix = c(0, 0.5)),
    model_draws = ibrc::model_draws(problem$iohmm, n = 9, seed = 1)
  )
  rows <- lapply(names(models), function(name) cbind(models = name, likeliest(problem, setting, models[[name]])))
  do.call(rbind, rows)
}

# What the results rest on: the package, the table, and this script.
vignette_inputs <- function(script) {
  file <- tempfile(fileext = ".csv")
  on.exit(unlink(file))
  utils::write.csv(ibrc::adni_like, file, row.names = FALSE, eol = "\n")
  text <- tempfile()
  on.exit(unlink(text), add = TRUE)
  writeLines(readLines(script), text, sep = "\n")
  data.frame(
    what = c("version", "table", "script"),
    is = c(as.character(utils::packageVersion("ibrc")), unname(tools::md5sum(c(file, text))))
  )
}

if (sys.nframe() == 0) {
  write <- function(table, name) {
    number <- vapply(table, is.double, NA)
    table[number] <- lapply(table[number], signif, 6)
    utils::write.csv(table, file.path("inst", "extdata", paste0("adni-", name, ".csv")), row.names = FALSE,
                     quote = FALSE)
    message(name, ": ", round(proc.time()[["elapsed"]]), " s")
  }
  problem <- vignette_problem()
  write(make_priors(problem), "priors")
  write(make_dynamics(problem), "dynamics")
  long <- make_contrasts(problem)
  write(long$contrasts, "contrasts")
  write(long$groups, "groups")
  write(make_resolutions(problem), "resolutions")
  write(vignette_inputs("data-raw/vignette-adni.R"), "inputs")
}
