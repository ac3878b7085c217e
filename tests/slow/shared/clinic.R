# A clinic of two states: laws from their Dirichlet priors, behaviour under them, the dynamics learned from it, and a
# joint fit. Utilities do not tell the states apart, so neither does anything that is ranked: the agent's terms.
clinic_of <- function(dynamics) {
  decision_setting(dynamics$states, dynamics$actions, dynamics$observations, dynamics$transition, dynamics$emission,
                   cbind(wait = c(0, 0), test = c(-1, -1)), certainty_bonus(2, 0.8), 0.9, dynamics$start)
}

# soften_models(setting, c(0, 0.5)) without its checks, which would be half the time of a study: a chain asks for models
# at each of its steps.
clinic_models <- function(setting) {
  laws <- setting[c("transition", "emission")]
  softened <- list(transition = soften_half(laws$transition, clinic_even$transition),
                   emission = soften_half(laws$emission, clinic_even$emission))
  structure(class = "ibrc_models",
            list(models = list(softened_0.0 = laws, softened_0.5 = softened),
                 weights = c(softened_0.0 = 0.5, softened_0.5 = 0.5)))
}
clinic_even <- list(transition = array(0.5, c(2, 2, 2)), emission = array(0, c(2, 4, 2)))
clinic_even$emission[, 1:2, 1] <- clinic_even$emission[, 3:4, 2] <- 0.5

# Where a probability has become 0 to the machine, fewer outcomes are possible.
soften_half <- function(law, even) {
  if (!all((law > 0) == (even > 0))) even <- own("even_rows")(law)
  0.5 * law + 0.5 * even
}

clinic_laws <- function(counts) {
  rows <- function(n, a) dirichlet_draws(n, a)
  emission <- array(0, c(2, 4, 2))
  for (s in 1:2) {
    emission[s, 1:2, 1] <- rows(1, c(1, 1) + counts)
    emission[s, 3:4, 2] <- rows(1, c(1, 1) + counts)
  }
  moves <- rbind(rows(1, c(5, 1) + counts), rows(1, c(1, 5) + counts))
  list(states = c("one", "two"), actions = c("wait", "test"), observations = c("calm", "bad", "neg", "pos"),
       transition = array(rep(moves, 2), c(2, 2, 2)), emission = emission, start = rows(1, c(1, 1) + counts)[1, ])
}

# The log-likelihood of what was seen, given what was done, in plain R.
seen_under <- function(visits, laws) {
  total <- 0
  actions <- match(visits$action, laws$actions)
  seen <- match(visits$observation, laws$observations)
  for (rows in split(seq_len(nrow(visits)), visits$id)) {
    belief <- laws$start
    for (i in rows) {
      belief <- as.vector(belief %*% laws$transition[, , actions[i]]) * laws$emission[, seen[i], actions[i]]
      total <- total + log(sum(belief))
      belief <- belief / sum(belief)
    }
  }
  total
}

# The same at draws of a fit; `held`: its laws if it has inferred none.
seen_at_draws <- function(fit, visits, held) {
  if (is.null(fit$dynamics)) return(rep(seen_under(visits, unshared(held)), n_draws))
  vectors <- own("laws_at")(fit, own("spaced_draws")(fit, n_draws))
  apply(vectors, 1, function(one) seen_under(visits, unshared(own("dynamics_at")(fit$recipe$codec, one))))
}

# Laws that learned dynamics share between actions, for each of them.
unshared <- function(laws) {
  if (length(dim(laws$transition)) == 2) laws$transition <- array(laws$transition, c(2, 2, 2))
  laws
}

learned_clinic <- function(visits, laws, counts, seed) {
  zeros <- rbind(wait = c(TRUE, TRUE, FALSE, FALSE), test = c(FALSE, FALSE, TRUE, TRUE))
  fit_iohmm(visits, 2, starts = 4, transitions = "shared", names = laws$states, actions = laws$actions,
            observations = laws$observations, zeros = zeros, seed = seed,
            prior = iohmm_prior(counts, counts, counts, stay = 4))
}

local({
  setting <- clinic_of(clinic_laws(1))
  stopifnot(identical(clinic_models(setting), soften_models(setting, c(0, 0.5))))
})
