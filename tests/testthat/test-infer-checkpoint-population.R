# Populations as a checkpoint has them, checked apart from files.

visits <- people_visits(per = 4, n = 4)
inverse <- people_inverse(visits = visits)
run <- list(chains = 2L, iter = 60L, max_iter = 80L, warmup = 30L, thin = 2L, cores = 1L, refresh = 0L, seed = 1L,
            spacing = NULL)
job <- list(inverse = inverse, evaluator = population_evaluator(inverse, 2, 1L), run = run, sampler = "adaptive",
            keep_data = TRUE)
plain <- job_to_plain(job)

refuses <- function(code) expect_error(held_fit(code), class = "ibrc_error_checkpoint")
refuses_effects <- function(held, label = NULL) {
  error <- tryCatch(held_fit(check_held_effects(replace(plain, "effects", list(held)))), error = identity)
  expect_s3_class(error, "ibrc_error_checkpoint")
}

test_that("a design comes back from lists and vectors, also through a file", {
  designs <- list(
    inverse$effects, design_of(list(optimism ~ 1))$design, design_of(list(optimism ~ (1 | site / clinician)))$design,
    design_of(list(alpha ~ arm * age + I(age > 55), optimism ~ log(age) + I(arm == "a") + (1 | id)))$design,
    design_of(list(optimism ~ age + (1 | site)),
              stated = unclass(ibrc_prior(optimism[age] ~ student_t(4, 0, 1),
                                          sd(optimism, site) ~ exponential(3))))$design
  )
  for (design in designs) {
    held <- effects_to_plain(design)
    expect_identical(effects_from_plain(held, people_prior()), design)
    path <- withr::local_tempfile()
    write_checkpoint(path, held, "abc")
    expect_identical(read_checkpoint(path)$contents, held)
  }
  expect_identical(job_to_plain(job_from_plain(plain)), plain)
  expect_no_error(check_held_effects(plain))
  expect_no_error(check_held_effects(plain[names(plain) != "effects"]))
})

test_that("formulas are text that reads as it was, whatever stands in it", {
  for (formula in list(optimism ~ 1, optimism ~ a + b:c + (d + e)^2, optimism ~ I(a / 3 - 1e-3) * `odd name`,
                       optimism ~ I(a == "x \" y") + (1 | p | site) + (1 | a:b:`c d`),
                       optimism ~ (1 | a / b), optimism ~ a - 1 + log(pmax(b, 0.1)), optimism ~ I(-a) + I(b > -1))) {
    one <- read_effect(formula)
    expect_identical(read_effect(text_formula(formula_text(one))), one, label = deparse(formula))
  }
})

test_that("nothing of a formula in a file is run", {
  mark <- withr::local_tempfile()
  for (code in c("file.create(MARK)", "I(file.create(MARK))", "log(eval(parse(text = \"file.create(MARK)\")))",
                 "(function() file.create(MARK))()", "base::file.create(MARK)", "I({file.create(MARK); age})")) {
    code <- gsub("MARK", deparse(mark), code, fixed = TRUE)
    held <- plain$effects
    for (text in c(paste("optimism ~", code), paste("optimism ~ age +", code), code, paste0(code, "; optimism ~ age"),
                   paste0("optimism ~ (1 | ", code, ")"), paste0("`~`(optimism, ", code, ")"), paste(code, "~ age"))) {
      held$formulas[[1]]$text <- text
      refuses_effects(held)
    }
  }
  expect_false(file.exists(mark))
  for (text in c("", "optimism ~", "~ age", "optimism ~ age; 1", "optimism <- age", "x", strrep("(", 2e4),
                 "optimism ~ nobody")) {
    refuses_effects(replace(plain$effects, "formulas", list(change_at(plain$effects$formulas, c(1, 1), text))))
  }
})

test_that("every part of a design is looked at", {
  # One of three changes; tests/slow/damage.R makes them all.
  changes <- changed_contents(plain$effects)
  found <- lapply(changes[seq(1, length(changes), by = 3)], function(change) {
    held <- change_at(plain$effects, change$at, change$new)
    outcome <- tryCatch({
      held_fit(check_held_effects(change_at(plain, match("effects", names(plain)), held)))
      "taken"
    }, ibrc_error_checkpoint = function(e) "refused", error = function(e) conditionMessage(e))
    data.frame(way = change$way, what = change$what, outcome = outcome)
  })
  found <- do.call(rbind, found)
  expect_gt(nrow(found), 200)
  expect_true(all(found$outcome %in% c("refused", "taken")), label = toString(unique(found$outcome)))
  # Levels could be others, other priors are priors, and a mean can be another: all else is held by the rest.
  taken <- found[found$outcome == "taken", ]
  expect_true(all(grepl("levels|factors|prior|centre", taken$way)), label = toString(unique(taken$way)))
  expect_lt(nrow(taken), 0.2 * nrow(found))
})

test_that("a design agrees with the visits and terms beside it", {
  held <- plain$effects
  changes <- list(
    function(x) change_at(x, c(2, 1), x$matrices[[1]][-1, ]), function(x) change_at(x, c(2, 1), x$matrices[[1]] * 2),
    function(x) replace(x, "matrices", list(rev(x$matrices))), function(x) replace(x, "factors", list(x$factors[-1])),
    function(x) change_at(x, c(3, 1, 2), rep(1L, length(x$factors[[1]]$level))),
    function(x) change_at(x, c(3, 1, 2), rev(x$factors[[1]]$level)[-1]),
    function(x) replace(x, "prior", list(x$prior[-1])), function(x) replace(x, "prior", list(rev(x$prior)))
  )
  for (change in changes) refuses_effects(change(held))
  refuses(check_held_effects(replace(plain, "group_levels", list(rev(plain$group_levels)))))
  refuses(check_held_effects(replace(plain, "sampler", list("paper"))))
  refuses(check_held_effects(c(plain[names(plain) != "effects"], list(effects = NULL))))
  fits <- c(alpha = 0.25, optimism = 0.125)
  expect_no_error(check_held_spacing(fits, inverse$prior, TRUE))
  for (spacing in list(unname(fits), rev(fits), -fits, fits * 0, fits * 10, fits[1], c(alpha = NA, optimism = 0.1), "x",
                       list(0.1), 1L)) {
    refuses(check_held_spacing(spacing, inverse$prior, TRUE))
  }
  refuses(check_held_spacing(fits, inverse$prior, FALSE))
})

# ---- states ---------------------------------------------------------------------------------------------------------

shape <- job$evaluator$population
# As a file has it.
settled_chain <- function(chain) replace(chain, "state", list(with_fresh(chain$state)))
chain_at <- local({
  places <- some_places(shape, 2)
  chain <- population_start(places, matrix(0, job$evaluator$agent$space$n_nodes, 2 * shape$n_cells), job$evaluator,
                            streams_from_seed(1L, 2), run$warmup, run$iter, run$thin)
  chains <- list(chain)
  for (step in seq_len(run$iter)) chains[[step + 1]] <- chain <- population_step(chain, job$evaluator)
  function(step) settled_chain(chains[[step + 1]])
})
accepts <- function(chain, of = job) {
  tryCatch({
    check_held_population(chain, of)
    TRUE
  }, error = function(e) FALSE)
}

test_that("a state is accepted after every step, also as it comes back from a file", {
  for (step in c(0, 1, 2, 5, 6, 7, 14, 15, 16, 24, 29, 30, 31, 32, 45, 60)) {
    chain <- chain_at(step)
    expect_true(accepts(chain), label = paste("step", step))
    expect_identical(chain_from_plain(chain_to_plain(chain)), chain)
  }
  grown <- chain_at(60)
  grown$state <- population_grow(grown$state, 80)
  expect_true(accepts(grown))
  grown$state <- population_grow(grown$state, 81)
  expect_false(accepts(grown))
})

test_that("every field of a state is in the table, or is looked at apart", {
  fields <- names(chain_at(1)$state)
  expect_setequal(fields, c(names(population_fields), population_apart))
  for (step in c(20, 50)) for (field in fields) {
    chain <- chain_at(step)
    whole <- chain$state
    chain$state <- whole[names(whole) != field]
    expect_false(accepts(chain), label = paste("without", field))
    for (value in list("x", -1, NA_real_, list(1), whole[[field]][-1], NULL)) {
      if (identical(value, whole[[field]])) next
      # No checks are made without interpolation, and of nothing nothing can be left out.
      if (!length(whole[[field]]) && !length(value)) next
      chain$state <- replace(whole, field, list(value))
      expect_false(accepts(chain), label = paste(step, field))
    }
  }
  chain$state <- c(whole, list(more = 1))
  expect_false(accepts(chain))
})

test_that("a state that no step leaves is refused", {
  whole <- chain_at(50)
  with <- function(..., from = whole) {
    changes <- list(...)
    for (field in names(changes)) from$state[field] <- changes[field]
    accepts(from)
  }
  state <- whole$state
  expect_true(with(level_scale = state$level_scale))
  expect_false(with(iteration = 52L))
  expect_false(with(frozen = FALSE))
  expect_false(with(thin = 1L))
  expect_false(with(b = state$b + 0.01))
  expect_false(with(u = state$u * 1.01))
  expect_false(with(s = state$s - 0.01))
  expect_false(with(log_density = state$log_density + 0.1))
  expect_false(with(log_likelihood = state$log_likelihood[, rev(seq_len(shape$n_cells))]))
  expect_false(with(level_shape = rev(state$level_shape)))
  expect_false(with(level_shape = lapply(state$level_shape, `-`)))
  expect_false(with(laws = rev(state$laws)))
  expect_false(with(laws = change_at(state$laws, c(1, 3), 2 * state$laws[[1]]$inverse)))
  expect_false(with(laws = change_at(state$laws, c(1, 5), 1)))
  expect_false(with(laws = change_at(state$laws, c(2, 4), 0)))
  expect_false(with(n_accepted = state$n_accepted + 30))
  expect_false(with(accepted = state$accepted + 1.5))
  expect_false(with(errors = 0.1))
  # An error may be Inf, and nothing else that is no number.
  expect_true(population_kinds$error(c(0.1, Inf), 2, 0))
  for (wrong in list(-Inf, NA_real_, NaN, "Inf", list(Inf), NULL)) expect_false(population_kinds$error(wrong, 1, 0))
  expect_false(with(recent = state$kept))
  expect_false(with(kept = state$kept[-1]))
  expect_false(with(kept = replace(state$kept, 10, state$kept[9])))
  # Draws that were moved, whose densities were not: each tenth of them is solved for again.
  expect_false(with(kept = lapply(state$kept, function(x) replace(x, 1, x[1] + 1))))
  expect_false(with(streams = state$streams[c(1, 1, 1)]))
  learning <- chain_at(20)
  expect_false(with(level_sums = NULL, from = learning))
  more <- lapply(learning$state$level_sums, function(x) replace(x, "n", list(x$n + 1)))
  expect_false(with(level_sums = more, from = learning))
  expect_false(with(recent = rev(learning$state$recent), from = learning))
  moved <- whole
  moved$value <- whole$value * 1e6
  expect_false(accepts(moved))
  moved$value <- whole$value[-1, ]
  expect_false(accepts(moved))
})

test_that("likelihoods are those of the visits that stand beside them", {
  other <- job
  other$evaluator$agent$batch$histories <- rev(other$evaluator$agent$batch$histories)
  expect_false(accepts(chain_at(50), other))
})

# ---- with laws ------------------------------------------------------------------------------------------------------

test_that("laws of a population are accepted as chains leave them, and refused where no chain would", {
  of_doctors <- doctor_inverse()
  run <- list(chains = 2L, iter = 14L, max_iter = 14L, warmup = 8L, thin = 1L, cores = 1L, refresh = 0L, seed = 1L,
              spacing = NULL)
  evaluator <- population_evaluator(of_doctors, 2, 1L, tree = dynamics_tree(ward_iohmm(transitions = "shared")))
  own <- list(inverse = of_doctors, evaluator = evaluator, run = run, sampler = "adaptive", keep_data = TRUE)
  plain <- job_to_plain(own)
  expect_identical(plain$dynamics$uncertainty, "joint")
  expect_no_error(check_held_effects(plain))
  refuses(check_held_effects(change_at(plain, c("run", "spacing"), c(alpha = 0.1, optimism = 0.1))))
  laws <- evaluator$population
  at <- some_places(laws, 2)
  d <- stats::qlogis(pmin(of_doctors$recipe$codec$estimate, 0.9))
  at$d <- rbind(d, d + 0.1, deparse.level = 0)
  at$top <- list(theta = c(d, 0, 0), covariance = diag(9) / 10)
  chain <- population_start(at, matrix(0, evaluator$agent$n_values, 12), evaluator, streams_from_seed(1L, 2), 8, 14)
  chains <- list(chain)
  for (step in 1:14) chains[[step + 1]] <- settled_chain(chain <- population_step(chain, evaluator))
  for (step in c(0, 1, 5, 7, 8, 9, 14)) {
    expect_true(accepts(chains[[step + 1]], own), label = paste("step", step))
    expect_identical(chain_from_plain(chain_to_plain(chains[[step + 1]])), chains[[step + 1]])
  }
  with <- function(from, ...) {
    changes <- list(...)
    for (field in names(changes)) from$state[field] <- changes[field]
    accepts(from, own)
  }
  for (whole in chains[c(6, 13)]) {
    state <- whole$state
    expect_true(with(whole, d = state$d))
    expect_false(with(whole, d = state$d + 0.01))
    expect_false(with(whole, d = state$d[, -1]))
    expect_false(with(whole, seen = state$seen + 0.1))
    expect_false(with(whole, seen = state$seen * 0))
    expect_false(with(whole, walks = list()))
    expect_false(with(whole, walks = rev(state$walks)))
    for (block in names(state$walks)) for (part in names(state$walks[[block]])) {
      if (part == "points") next
      other <- change_at(state$walks, c(block, part), "x")
      expect_false(with(whole, walks = other), label = part)
    }
    expect_false(with(whole, walks = change_at(state$walks, c("laws", "inverse"), 2 * state$walks[[1]]$inverse)))
    expect_false(with(whole, walks = change_at(state$walks, c("together", "turn"), 1)))
  }
  expect_false(with(chains[[6]], walks = change_at(chains[[6]]$state$walks, c("laws", "recent"),
                                                   chains[[6]]$state$walks[[1]]$recent[-1])))
})
