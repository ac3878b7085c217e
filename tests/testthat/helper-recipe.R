# DIAG with what may be believed of its accuracy, and a cost, as quantities.
models_around <- function(accuracy) {
  model_prior(lapply(accuracy + c(-0.1, 0, 0.1), function(p) {
    p <- min(max(p, 0.02), 0.98)
    list(transition = diag_setting()$transition, emission = diag_setting(accuracy = p)$emission)
  }))
}
costly_clinic <- function(cost) {
  setting <- diag_setting()
  setting$utility[, "monitor"] <- -cost
  setting$discount <- 0.9 + cost / 100
  setting
}

recipe_visits <- function(n = 60) {
  cached(paste("recipe_visits", n), simulate(plan_agent(diag_setting(), bounded_agent(0.5, 1.25), diag_models()), n,
                                             seed = 1))
}
recipe_prior <- function() ibrc_prior(alpha ~ lognormal(0, 1), accuracy ~ beta(14, 6))

# An inverse problem as ibrc() makes it.
recipe_inverse <- function(setting, models, prior, fixed = list(), resolution = 25, surprise = "belief") {
  visits <- recipe_visits()
  inverse <- read_inverse(visits, setting, models, prior, fixed, NULL, FALSE)
  build_inverse(group_inverse(inverse, visits, NULL), resolution, ibrc_control(1e-11, surprise = surprise), 1L)
}

# Every vector of a batch by itself, each with its own problem.
one_by_one <- function(inverse, theta) {
  natural <- prior_natural(inverse$prior, theta)
  vapply(seq_len(nrow(theta)), function(i) {
    plan <- plan_at(inverse, natural[i, , drop = FALSE])
    ends <- read_histories(plan, inverse$histories[[1]], FALSE)
    ends$total
  }, 0)
}
