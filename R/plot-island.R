# Why an agent that is paid for being sure may not ask for a test where it knows least: a patch in the middle of the
# belief simplex, which captions explain in numbers.

# A sentence where the setting has two actions, three states and a bonus for being sure, and where among beliefs under
# which no state is likelier than not both actions are found; else NULL. `beliefs`: one row per piece of the ground;
# `action`: the likeliest there; `area`: of the piece.
island_words <- function(setting, beliefs, action, area = 1) {
  bonus <- setting$belief_utility
  if (length(setting$states) != 3 || length(setting$actions) != 2 || setting$fully_observed ||
        !inherits(bonus, "ibrc_certainty_bonus")) return(NULL)
  above <- attr(bonus, "above")
  open <- apply(beliefs, 1, max) < 0.5
  chance <- lapply(setting$actions, function(one) chance_to_be_sure(setting, beliefs[open, , drop = FALSE], one, above))
  action <- as.character(action)[open]
  area <- rep_len(area, nrow(beliefs))[open]
  # The action that tells more is the test.
  tells <- vapply(chance, function(one) stats::weighted.mean(one, area), 0)
  test <- setting$actions[which.max(tells)]
  other <- setdiff(setting$actions, test)
  share <- sum(area[action == other]) / sum(area)
  if (!is.finite(share) || share < 0.05 || share > 0.95) return(NULL)
  gain <- chance[[which.max(tells)]] - chance[[which.min(tells)]]
  raised <- vapply(c(other, test), function(one) {
    stats::weighted.mean(gain[action == one], area[action == one])
  }, 0)
  if (raised[1] >= raised[2]) return(NULL)
  test <- paste0("\"", as_label(test), "\"")
  paste0("Patch of \"", as_label(other), "\" in the middle: there one ", test, " raises the chance to be more than ",
         percent_text(above), " sure by ", sprintf("%.2f", raised[1]), " on average; where ", test, " is chosen, by ",
         sprintf("%.2f", raised[2]), ".")
}

# How probable it is, under the setting, that after one action the likeliest state has more than `above`.
chance_to_be_sure <- function(setting, beliefs, action, above) {
  ahead <- unname(as.matrix(beliefs)) %*% matrix_of(setting$transition, action)
  seen <- matrix_of(setting$emission, action)
  chance <- numeric(nrow(ahead))
  for (observation in seq_len(ncol(seen))) {
    joint <- ahead * rep(seen[, observation], each = nrow(ahead))
    total <- rowSums(joint)
    sure <- apply(joint, 1, max) > above * total + certainty_slack
    chance <- chance + ifelse(total > 0 & sure, total, 0)
  }
  chance
}

# The pieces of a ground that simplex_data() gives: centre, area and action of each.
ground_pieces <- function(ground, states) {
  piece <- interaction(ground$panel, ground$piece, drop = TRUE)
  at <- simplex_xy(as.matrix(ground[states]))
  area <- vapply(split(at, piece), polygon_area, 0)
  centre <- rowsum(as.matrix(ground[states]), piece, reorder = TRUE) / as.vector(table(piece))
  list(beliefs = centre, action = ground$action[match(levels(piece), piece)], area = unname(area))
}

polygon_area <- function(at) {
  after <- c(seq_len(nrow(at))[-1], 1)
  abs(sum(at$x * at$y[after] - at$x[after] * at$y)) / 2
}
