# How a model of learned rewards (learn-po_irl.R) is printed and put into tables, and whether it can be used.

# One row per term of draws [iteration, chain, term]. There is no warning about few draws, because the verdict says so.
po_irl_table <- function(draws, prior_sd, conf.level = 0.95) {
  out <- suppressWarnings(draws_summary(draws, conf.level))
  names(out)[names(out) == "ess"] <- "ess_bulk"
  out$ess_tail <- suppressWarnings(apply(draws, 3, posterior::ess_tail))
  out$contraction <- 1 - out$std.error^2 / prior_sd^2
  rownames(out) <- NULL
  out
}

# ---- the verdict ---------------------------------------------------------------------------------------------------

po_irl_verdict <- function(object, coded) {
  rows <- rbind(po_irl_settled(object), if (!is.null(object$laws)) suppressWarnings(po_irl_mixed(object)),
                suppressWarnings(po_irl_apart(object)), po_irl_behaves(object, coded))
  rownames(rows) <- NULL
  rows
}

more_steps <- function(object) paste0("fit again with iter = ", 2L * object$run$iter)

po_irl_settled <- function(object) {
  table <- po_irl_table(object$gains, object$gain_sd)
  least <- pmin(table$ess_bulk, table$ess_tail)
  scarce <- !is.finite(table$rhat) | is.na(least) | least < 100
  rough <- is.finite(table$rhat) & table$rhat > 1.01
  short <- is.na(least) | least < 400
  bad <- scarce | rough & (table$rhat > 1.05 | short)
  verdict_rows("settled", paste0("R-hat ", rhat_text(table$rhat), ", ", draws_text(least),
                                 " effective draws"), "R-hat below 1.01, 400 effective draws",
               ifelse(bad, "do not use", ifelse(rough | short, "caution", "ok")),
               paste0("The chains have not settled in ", table$term, ": ", more_steps(object),
                      ifelse(bad, ", and do not report it.", ".")), table$term)
}

# Laws, as fractions. The verdict of ibrc() asks the same of them.
po_irl_mixed <- function(object) {
  rhat <- apply(object$laws, 3, posterior::rhat)
  least <- pmin(apply(object$laws, 3, posterior::ess_bulk), apply(object$laws, 3, posterior::ess_tail))
  bad <- is.na(rhat) | rhat > most_law_rhat | is.na(least) | least < least_law_draws
  verdict_rows("whole", paste0("laws of the dynamics: R-hat up to ", rhat_text(max(rhat)), ", ",
                               draws_text(min(least)), " effective draws or more"),
               paste("R-hat of every law at most", most_law_rhat, "and", least_law_draws, "effective draws"),
               if (any(bad)) "caution" else "ok",
               paste0("The chains do not agree on the dynamics: ", more_steps(object), "."))
}

po_irl_apart <- function(object) {
  asked <- paste0("chains whose mean log densities are within ", least_gap[["units"]], " of each other, or ",
                  least_gap[["errors"]], " Monte Carlo errors")
  if (ncol(object$log_density) < 2) {
    return(verdict_rows("whole", "one chain, which cannot be compared with others", asked, "caution",
                        "One chain cannot show what it has missed: fit with chains = 4."))
  }
  gap <- chain_gaps(object$log_density)
  apart <- abs(gap$gap) > least_gap[["units"]] & abs(gap$gap) > least_gap[["errors"]] * gap$error
  verdict_rows("whole", paste0("chains up to ", format_number(max(abs(gap$gap)), 2), " apart in mean log density"),
               asked, if (any(apart)) "do not use" else "ok",
               "A chain stays apart from the others: fit again with another `seed` and more steps.")
}

po_irl_behaves <- function(object, coded) {
  scored <- which(coded$scored)
  action <- coded$action[scored] + 1L
  learned <- mean(log(action_law_of(object, coded)[cbind(scored, action)]))
  plain <- mean(log(count_shares(coded$action[scored], length(object$words$actions))[action]))
  verdict_rows("behaves", paste0("mean log score ", format_number(learned, 4), ", of action frequencies ",
                                 format_number(plain, 4)), "a better score than action frequencies have",
               if (learned > plain) "ok" else "caution",
               "It predicts no better than how often each action was taken: its rewards explain nothing.")
}

# ---- print and tables ----------------------------------------------------------------------------------------------

#' @export
format.ibrc_po_irl <- function(x, ...) {
  size <- dim(x$gains)
  table <- po_irl_table(x$gains, x$gain_sd)
  advice <- x$verdict$advice[x$verdict$verdict == worst_of(x$verdict$verdict) & nzchar(x$verdict$advice)]
  c("Rewards learned from behaviour, for a planner that is rational except for noisy choices",
    paste0("  dynamics      ", switch(x$source, joint = "inferred together with the rewards",
                                      learned = "learned first, then fixed", setting = "those of the setting, fixed"),
           ", ", plural(length(x$setting$states), "state")),
    paste0("  rewards       ", dim(x$rewards)[3], " with prior normal(0, ", format_plain(x$sd),
           ") in units of the temperature, ", size[3], " of them after shaping"),
    paste0("  draws         ", plural(size[2], "chain"), " of ", format_count(size[1]), ", R-hat up to ",
           rhat_text(max(table$rhat)), ", ",
           draws_text(min(table$ess_bulk, table$ess_tail)), " effective draws or more",
           if (x$interrupted) ", interrupted"),
    taught_words(x$taught),
    verdict_headline(x$verdict),
    if (length(advice)) paste0("  ", utils::head(unique(advice), 3)))
}

#' @export
tidy.ibrc_po_irl <- function(x, conf.level = 0.95, ...) {
  check_unused(...)
  conf.level <- check_level(conf.level)
  out <- rbind(po_irl_table(x$gains, x$gain_sd, conf.level), po_irl_table(x$rewards, x$sd, conf.level))
  place <- expand.grid(state = x$setting$states, action = x$setting$actions, stringsAsFactors = FALSE)
  place <- place[c(seq_len(nrow(place))[-seq_along(x$setting$states)], seq_len(nrow(place))), ]
  # Rewards are drawn from gains, and are only as reliable as the worst of them.
  all <- as.character(worst_of(x$verdict$verdict))
  own <- vapply(out$term, function(term) {
    about <- is.na(x$verdict$term) | x$verdict$term == term
    as.character(worst_of(x$verdict$verdict[about]))
  }, "", USE.NAMES = FALSE)
  out <- cbind(out["term"], place, out[-1], verdict = ifelse(grepl("^gain", out$term), own, all))
  rownames(out) <- NULL
  out
}

#' @export
glance.ibrc_po_irl <- function(x, ...) {
  check_unused(...)
  table <- po_irl_table(x$gains, x$gain_sd)
  data.frame(dynamics = x$source, states = length(x$setting$states), parameters = dim(x$gains)[3] + n_laws(x),
             chains = dim(x$gains)[2], draws = prod(dim(x$gains)[1:2]), rhat = max(table$rhat),
             ess = min(table$ess_bulk, table$ess_tail), verdict = as.character(worst_of(x$verdict$verdict)),
             interrupted = x$interrupted, trajectories = x$taught$trajectories, visits = x$taught$visits,
             scored = x$taught$scored)
}

#' @export
as_draws.ibrc_po_irl <- function(x, ...) {
  parts <- x[c("gains", "rewards", if (!is.null(x$laws)) "laws")]
  size <- dim(x$gains)[1:2]
  terms <- unlist(lapply(parts, function(draws) dimnames(draws)[[3]]), use.names = FALSE)
  posterior::as_draws_array(array(unlist(parts), c(size, length(terms)), list(NULL, NULL, terms)))
}
