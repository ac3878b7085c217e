# Cross-validation of fits whose dynamics were inferred. With agents and dynamics together, one refit per fold has all
# groups, since these share the dynamics. Only decisions are left out: what was seen of everybody still tells about the
# dynamics. With draws of the dynamics that know nothing of the actions, every refit is made under each of them. Both
# give what run_refits() gives for the rows of `refits`.

refit_with_dynamics <- function(fit, folds, refits, run, draws) {
  if (is_cut(fit)) cut_refits(fit, folds, refits, run, draws) else joint_refits(fit, folds, refits, run, draws)
}

# Before any work.
check_dynamics_refits <- function(fit, refits, start) {
  if (start == "fit") {
    abort_input("start", "= \"fit\" cannot be used with inferred dynamics: chains of a refit begin by themselves.")
  }
  if (!is_cut(fit) && any(refits$fitted == 0)) {
    abort_input("folds", "leave nobody of a group in. All groups are fitted together with the dynamics, and ",
                "each group needs a trajectory. Take fewer folds, or pool groups.")
  }
}

# ---- together ------------------------------------------------------------------------------------------------------

joint_refits <- function(fit, folds, refits, run, draws) {
  rows <- unname(split(seq_len(nrow(refits)), refits$fold))
  pieces <- lapply(rows, function(mine) joint_piece(fit, folds, refits[mine, ], run, draws))
  found <- run_refits(pieces, run$refresh, run_joint_refit)
  results <- vector("list", nrow(refits))
  results[unlist(rows)] <- unlist(found, recursive = FALSE)
  results
}

# What a process needs: everybody in all groups, except those left out.
joint_piece <- function(fit, folds, refits, run, draws) {
  left_out <- folds %in% refits$fold
  kept <- !left_out & !is.na(folds)
  run$seed <- refits$seed[1]
  fitted <- lapply(seq_along(fit$draws), function(g) part_of_group(fit, g, kept))
  groups <- names(fit$draws)
  inverse <- c(fit[c("problem", "recipe", "prior", "fixed", "tolerance", "by")],
               list(problems = NULL, histories = lapply(fitted, `[[`, "tree"), actions = lapply(fitted, `[[`, "action"),
                    group = factor(groups[fit$trajectory_group[kept]], levels = groups)))
  list(inverse = inverse, tree = fit$dynamics$tree, run = run, sampler = fit$sampler, draws = draws,
       left_out = lapply(refits$group, function(g) c(part_of_group(fit, g, left_out), list(group = g))))
}

run_joint_refit <- function(piece) {
  run <- piece$run
  evaluator <- joint_evaluator(piece$inverse, piece$tree, run$chains, run$cores)
  begun <- begin_jointly(list(inverse = piece$inverse, evaluator = evaluator, run = replace(run, "refresh", 0L),
                              sampler = piece$sampler, keep_data = FALSE))
  chain <- run_piece(list(chain = begun$chain, evaluator = begun$job$evaluator, until = run$iter))
  chain$interrupted <- FALSE
  fit <- new_joint_fit(chain, begun$job)
  lapply(piece$left_out, function(left_out) judge_left_out(fit, left_out, piece$draws, left_out$group))
}

# ---- one draw of the dynamics after the other ------------------------------------------------------------------------

cut_refits <- function(fit, folds, refits, run, draws) {
  problems <- problems_of_cut(fit, run$cores)
  n <- length(problems)
  if (!is.null(draws)) draws <- run$chains * max(1L, ceiling(draws / n / run$chains))
  pieces <- lapply(seq_len(nrow(refits)), function(i) {
    piece <- refit_piece(fit, folds, refits[i, ], run, "prior", draws)
    piece["recipe"] <- list(NULL)
    seeds <- with_stream(streams_from_seed(refits$seed[i])[[1]], sample.int(.Machine$integer.max, n))
    lapply(seq_len(n), function(k) {
      piece$problem <- problems[[k]]
      piece$run$seed <- seeds[k]
      piece
    })
  })
  found <- run_refits(unlist(pieces, recursive = FALSE), run$refresh)
  lapply(unname(split(found, rep(seq_len(nrow(refits)), each = n))), pool_refits)
}

# Draws of the dynamics have equal weights. The worst of them says whether chains agree.
pool_refits <- function(found) {
  of <- function(what) vapply(found, `[[`, 0, what)
  list(elpd = log_mean_exp(do.call(rbind, lapply(found, `[[`, "elpd"))), rhat = max(of("rhat")),
       ess_bulk = sum(of("ess_bulk")), ess_tail = sum(of("ess_tail")), mcse = sqrt(sum(of("mcse")^2)) / length(found))
}
