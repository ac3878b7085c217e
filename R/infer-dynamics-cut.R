# Draws of learned dynamics without the actions: problems of their own, one per draw and group, whose fits are pooled
# when they are done (fit-dynamics.R).

# How many draws of the dynamics, and sweeps between them.
cut_draws <- 20L
cut_thin <- 100L

# `laws` as fractions, [draw, term], and how many independent draws they are worth.
cut_laws <- function(recipe, iohmm, seed) {
  if (length(recipe$inferred)) {
    abort_input("uncertainty", "= \"cut\" cannot go with quantities that are inferred; there is ",
                enumerate(recipe$inferred), ".")
  }
  drawn <- tryCatch(withCallingHandlers(
    model_draws(iohmm, n = cut_draws, thin = cut_thin, seed = seed),
    ibrc_warning_effective = function(w) invokeRestart("muffleWarning")
  ), interrupt = function(condition) {
    abort("interrupted", "The run was interrupted before its first step, while it drew dynamics: there are no draws ",
          "to return.")
  })
  laws <- vapply(drawn$models, function(model) fractions_of(recipe$codec, model), numeric(length(recipe$at)))
  list(laws = unname(t(matrix(laws, length(recipe$at)))), effective = min(attr(drawn, "effective")$effective))
}

# One problem per row of fractions, on the lattice of another.
problems_at_laws <- function(recipe, fractions, like, cores = 1L) {
  lapply(seq_len(nrow(fractions)), function(k) {
    world <- world_at(recipe, recipe$held, recipe_dynamics(recipe, fractions[k, ]))
    problem <- build_problem(world$setting, world$models, like$resolution, like$interpolate, like$surprise,
                             cores = cores)
    # A worth of beliefs may be known by its values alone (resume()).
    if (!setting_varies(recipe)) problem$reward <- like$reward
    problem
  })
}

# The inverse problem with a group for each draw of the dynamics and group of `whole`, draw after draw; `cut` has what
# it was made of. `drawn`: as cut_laws() gives it. Chains of a population have their draws themselves.
with_cut <- function(whole, drawn, cores) {
  if (!is.null(whole$effects)) return(c(whole, list(cut = c(list(whole = whole), drawn))))
  problems <- problems_at_laws(whole$recipe, drawn$laws, whole$problem, cores)
  n_draws <- nrow(drawn$laws)
  n_groups <- length(whole$histories)
  names <- paste0(rep(levels(whole$group), n_draws), " (draw ", rep(seq_len(n_draws), each = n_groups), ")")
  out <- whole
  out["recipe"] <- list(NULL)
  out$problems <- stats::setNames(problems[rep(seq_len(n_draws), each = n_groups)], names)
  out$problem <- problems[[1]]
  out$histories <- rep(whole$histories, n_draws)
  out$actions <- rep(whole$actions, n_draws)
  of_draw <- n_groups * rep(seq_len(n_draws) - 1L, each = length(whole$group))
  out$group <- factor(names[as.integer(whole$group) + of_draw], levels = names)
  out$cut <- c(list(whole = whole), drawn)
  out
}
