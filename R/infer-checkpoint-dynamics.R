# Learned dynamics in a checkpoint: how they are written, and how they are checked before they are used (see
# infer-checkpoint-contents.R).
#
#   dynamics   NULL, or list(uncertainty, iohmm, tree, laws, effective): how their uncertainty is treated; the learned
#              model without its visits, in lists and vectors; "joint": the visits that it was learned from, as a tree;
#              "cut": fractions of laws, [draw, term], and how many independent draws they are worth

dynamics_to_plain <- function(job) {
  cut <- job$inverse$cut
  recipe <- if (is.null(cut)) job$inverse$recipe else cut$whole$recipe
  if (is.null(recipe$codec)) return(NULL)
  joint <- job$evaluator$joint
  list(uncertainty = if (!is.null(joint)) "joint" else if (!is.null(cut)) "cut" else "none",
       iohmm = iohmm_to_plain(recipe$codec$iohmm), tree = joint$tree, laws = cut$laws,
       effective = cut$effective)
}

# Without the visits, and without classes.
iohmm_to_plain <- function(iohmm) {
  out <- unclass(without_visits(iohmm))
  out <- out[names(out) != "coded"]
  out$prior <- unclass(out$prior)
  for (table in c("starts", "candidates")) out[[table]] <- as.list(out[[table]])
  out
}

iohmm_from_plain <- function(plain) {
  plain$prior <- structure(plain$prior, class = "ibrc_iohmm_prior")
  for (table in c("starts", "candidates")) {
    plain[[table]] <- structure(plain[[table]], class = "data.frame",
                                row.names = .set_row_names(length(plain[[table]][[1]])))
  }
  without_visits(structure(plain, class = "ibrc_iohmm"))
}

# ---- what is held ---------------------------------------------------------------------------------------------------

check_held_dynamics <- function(plain) {
  held <- plain$dynamics
  if (is.null(held)) return(invisible())
  must(has_names(held, c("uncertainty", "iohmm", "tree", "laws", "effective")), "dynamics")
  must(is_choice(held$uncertainty, c("joint", "cut", "none")) && !is.null(plain$recipe), "dynamics")
  iohmm <- held$iohmm
  check_held_iohmm(iohmm)
  for (part in c("states", "actions", "observations")) {
    must(identical(iohmm[[part]], plain$setting[[part]]), "names of the dynamics")
  }
  codec <- new_codec(iohmm_from_plain(iohmm))
  must(is.null(held$tree) == (held$uncertainty != "joint"), "visits of the dynamics")
  if (held$uncertainty == "joint") {
    must(plain$sampler == "adaptive", "sampler")
    check_held_nodes(held$tree, iohmm)
  }
  what <- "draws of the dynamics"
  if (held$uncertainty != "cut") return(must(is.null(held$laws) && is.null(held$effective), what))
  must(is_finite(held$laws, c(cut_draws, length(codec$prior))) && all(held$laws > 0 & held$laws < 1), what)
  must(is_reals(held$effective, 1) && (is.na(held$effective) || held$effective > 0 && held$effective < Inf), what)
}

# The groups of the chains of a run, and the terms that they have. With dynamics these are not the groups of `by`, or
# not the terms of the prior. Chains of a population belong to all its cells.
held_chains <- function(plain) {
  prior <- new_ibrc_prior(plain$prior)
  n_groups <- if (is.null(plain$effects)) length(plain$histories) else 1L
  held <- plain$dynamics
  if (identical(held$uncertainty, "joint")) {
    groups <- if (is.null(plain$effects)) plain$group_levels else lone_group
    prior <- joint_prior(new_codec(iohmm_from_plain(held$iohmm)), prior, groups)
    n_groups <- 1L
  }
  if (identical(held$uncertainty, "cut")) n_groups <- n_groups * nrow(held$laws)
  list(group = rep(seq_len(n_groups), each = plain$run$chains), prior = prior)
}

# ---- a learned model ------------------------------------------------------------------------------------------------

# What fit_iohmm() returns, without its visits. One row per field says whether `x` can be that field in the model `m`. A
# new field there needs a row here; those of `iohmm_optional` may be missing.
iohmm_fields <- list(
  states = function(x, m) is_text(x) && length(x) > 0 && !anyDuplicated(x),
  actions = function(x, m) is_text(x) && length(x) > 0 && !anyDuplicated(x),
  observations = function(x, m) is_text(x) && length(x) > 0 && !anyDuplicated(x),
  start = function(x, m) is_start_law(x, m) && sums_to_one(if (is.matrix(x)) rowSums(x) else sum(x)),
  transition = function(x, m) is_law(x, moves_of(m)) && sums_to_one(apply(x, c(1, 3), sum)),
  emission = function(x, m) is_law(x, shows_of(m)) && sums_to_one(apply(x, c(1, 3), sum)),
  log_lik = function(x, m) is_amount(x, -Inf),
  objective = function(x, m) is_amount(x, -Inf),
  trace = function(x, m) is.numeric(x) && is_bare(x) && !anyNA(x),
  converged = function(x, m) is_flag(x),
  starts = function(x, m) is_columns(x, starts_columns),
  candidates = function(x, m) is_columns(x, candidates_columns) && sum(x$chosen) == 1,
  counts = function(x, m) {
    has_names(x, c("start", "transition", "emission")) && is_start_law(x$start, m) &&
      is_law(x$transition, moves_of(m)) && is_law(x$emission, shows_of(m))
  },
  n_parameters = function(x, m) is_amount(x),
  possible = function(x, m) {
    is.logical(x) && is_bare(x, c("dim", "dimnames")) && has_labels(x, pairs_of(m)) && isTRUE(all(rowSums(x) > 0))
  },
  prior = function(x, m) is_pseudo_counts(x, m),
  shared = function(x, m) is_flag(x),
  scores = function(x, m) is.null(x) || is_scores(x, m),
  run = function(x, m) has_names(x, c("starts", "tolerance", "max_iter", "cores")) && all(vapply(x, is_amount, NA)),
  n_trajectories = function(x, m) is_amount(x, 1),
  n_visits = function(x, m) is_amount(x, 1),
  n_seen = function(x, m) is_amount(x),
  start_by = function(x, m) is_text(x) && length(x) > 0 && !anyDuplicated(x),
  start_share = function(x, m) is_shares(x, rownames(m$start)),
  choices = function(x, m) is_law(x, m[c("states", "actions")])
)
iohmm_optional <- c("start_by", "start_share")
# The columns of its tables, and their types.
starts_columns <- c(states = "integer", start = "integer", log_lik = "double", objective = "double",
                    iterations = "integer", converged = "logical")
candidates_columns <- c(states = "integer", log_lik = "double", n_parameters = "double", AIC = "double", BIC = "double",
                        trajectories = "integer", visits = "integer", reached = "integer", starts = "integer",
                        converged = "logical", chosen = "logical")

moves_of <- function(m) m[c("states", "states", "actions")]
shows_of <- function(m) m[c("states", "observations", "actions")]
pairs_of <- function(m) m[c("actions", "observations")]

# The first part of a learned model, in lists and vectors, that fit_iohmm() would not have returned like this, or NULL.
iohmm_flaw <- function(iohmm) {
  if (!is.list(iohmm) || !is_bare(iohmm, "names") || anyDuplicated(names(iohmm))) return("parts")
  stray <- setdiff(names(iohmm), names(iohmm_fields))
  lost <- setdiff(names(iohmm_fields), c(iohmm_optional, names(iohmm)))
  if (length(c(stray, lost))) return(c(stray, lost)[1])
  # Names of states, actions and observations come first, since everything else depends on them.
  for (field in intersect(names(iohmm_fields), names(iohmm))) {
    if (!isTRUE(iohmm_fields[[field]](iohmm[[field]], iohmm))) return(field)
  }
  impossible <- rep(t(!iohmm$possible), each = length(iohmm$states))
  if (is.matrix(iohmm$start) != has_starts(iohmm)) return("start")
  if (any(iohmm$emission[impossible] != 0)) return("emission")
  first <- as.vector(iohmm$transition[, , 1])
  if (iohmm$shared && !is_near(as.vector(iohmm$transition), rep(first, length(iohmm$actions)))) return("transition")
}

check_held_iohmm <- function(iohmm) {
  flaw <- iohmm_flaw(iohmm)
  must(is.null(flaw), paste(gsub("_", " ", flaw), "of the dynamics"))
}

# A run with learned dynamics that were changed by hand could not be resumed: this is said before the run begins.
refuse_changed_iohmm <- function(iohmm, argument) {
  flaw <- tryCatch(iohmm_flaw(iohmm_to_plain(iohmm)), error = function(e) "parts")
  if (!is.null(flaw)) abort_input(argument, "is not as fit_iohmm() returned it: its `", flaw, "` cannot be used.")
}

# Numbers, 0 or more, in an array with these dimension names.
is_law <- function(x, over) {
  is.double(x) && is_bare(x, c("dim", "dimnames")) && has_labels(x, over) && all(is.finite(x) & x >= 0)
}

has_labels <- function(x, over) identical(unname(dimnames(x)), unname(over)) && identical(dim(x), unname(lengths(over)))

is_start_law <- function(x, m) {
  if (is.matrix(x)) return(is_law(x, list(rownames(x), m$states)) && is_text(rownames(x)))
  is.double(x) && is_bare(x, "names") && identical(names(x), m$states) && all(is.finite(x) & x >= 0)
}

sums_to_one <- function(x) all(abs(x - 1) < 1e-6)
is_amount <- function(x, least = 0) {
  is.numeric(x) && is_bare(x, "names") && length(x) == 1 && isTRUE(x >= least && abs(x) < Inf)
}

# Whether a table has these columns with these types.
is_columns <- function(x, types) {
  has_names(x, names(types)) && length(unique(lengths(x))) == 1 && length(x[[1]]) > 0 &&
    identical(vapply(x, typeof, ""), types) && all(vapply(x, function(one) is_bare(one) && !anyNA(one), NA))
}

is_pseudo_counts <- function(x, m) {
  has_names(x, c("start", "transition", "stay", "emission")) &&
    all(vapply(x[c("start", "transition", "stay")], is_amount, NA)) && is.numeric(x$emission) &&
    is_bare(x$emission, c("dim", "dimnames")) && has_labels(x$emission, pairs_of(m)) &&
    all(is.finite(x$emission) & x$emission >= 0)
}

is_scores <- function(x, m) {
  is.double(x) && is_bare(x, "names") && identical(names(x), m$observations) && !any(is.infinite(x)) && !all(is.na(x))
}

# ---- the visits that it was learned from ----------------------------------------------------------------------------

# A tree as iohmm_tree() makes it, with the ends: parents before children, no two children alike, and numbers of
# trajectories that add up from where they end.
check_held_nodes <- function(tree, iohmm) {
  what <- "visits of the dynamics"
  must(has_names(tree, c("n_nodes", "parent", "action", "observation", "start", "through", "ends", "leaf")), what)
  n <- length(tree$parent)
  must(n > 1 && identical(tree$n_nodes, n), what)
  must(is_wholes(tree$parent, -1, n - 2, n) && all(tree$parent < seq_len(n) - 1L), what)
  root <- tree$parent == -1
  must(is_wholes(tree$action, -1, length(iohmm$actions) - 1, n) && all((tree$action == -1) == root), what)
  must(is_wholes(tree$observation, -1, length(iohmm$observations) - 1, n) && all(tree$observation[root] == -1), what)
  n_starts <- if (has_starts(iohmm)) nrow(iohmm$start) else 1L
  must(is_wholes(tree$start, -1, n_starts - 1, n) && all((tree$start == -1) != root), what)
  must(!anyDuplicated(tree$start[root]), what)
  must(!anyDuplicated(do.call(cbind, tree[c("parent", "action", "observation", "start")])), what)
  seen <- tree$observation >= 0
  must(all(iohmm$possible[cbind(tree$action[seen], tree$observation[seen]) + 1L]), what)
  must(is_wholes(tree$leaf, 0, n - 1) && length(tree$leaf) > 0 && !any(root[tree$leaf + 1L]), what)
  must(identical(tree$ends, as.numeric(tabulate(tree$leaf + 1L, n))), what)
  must(identical(tree$through, ends_below(tree)) && all(tree$through > 0), what)
  must(iohmm$n_trajectories == length(tree$leaf), what)
  must(iohmm$n_visits == sum(tree$through) - length(tree$leaf), what)
}

# How many trajectories end at each node or below it.
ends_below <- function(tree) {
  out <- tree$ends
  for (node in rev(which(tree$parent >= 0))) {
    above <- tree$parent[node] + 1L
    out[above] <- out[above] + out[node]
  }
  out
}
