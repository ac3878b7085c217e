# Dozens of groups: one row per group, with a column for each term or quantity, instead of one row for each of both.

is_crowd <- function(fit) length(fit$draws) > most_colours && !has_population(fit)

# `group`, `column`, `text` and `verdict` have one entry per row of a long table.
wide_by_group <- function(group, column, text, verdict) {
  out <- data.frame(Group = unique(group))
  for (one in unique(column)) {
    mine <- column == one
    out[[one]] <- text[mine][match(out$Group, group[mine])]
  }
  worst <- vapply(out$Group, function(one) max(match(verdict[group == one], verdict_levels)), 0L)
  out$Verdict <- verdict_levels[worst]
  out
}

# "0.55 (0.35 to 0.84)" of the rows of a table.
interval_text <- function(table) {
  number <- function(x) vapply(x, format_number, "")
  paste0(number(table$estimate), " (", number(table$conf.low), " to ", number(table$conf.high), ")")
}

crowd_terms <- function(table) wide_by_group(table$group, table$term, interval_text(table), table$verdict)

crowd_contrasts <- function(table) {
  wide_by_group(table$group, paste0(table$term, " (", table$scale, "), P(larger)"),
                paste0(interval_text(table), ", ", chance_text(table$probability)), table$verdict)
}

crowd_chains <- function(table, said) {
  wide_by_group(table$group, table$term, paste0(said$verdict, ", R-hat ", rhat_text(table$rhat), ", ESS ",
                                                draws_text(pmin(table$ess_bulk, table$ess_tail))), table$verdict)
}

# What the data say of each term, and in which groups: one sentence per term and answer.
crowd_identified <- function(said) {
  unlist(lapply(unique(said$term), function(term) {
    mine <- said[said$term == term, ]
    vapply(unique(as.character(mine$verdict)), function(one) {
      groups <- mine$group[mine$verdict == one]
      paste0(term, " is ", one, " in ", plural(length(groups), "group"),
             if (length(groups) < nrow(mine)) paste0(": ", listing(groups)), ".")
    }, "", USE.NAMES = FALSE)
  }))
}

# ---- effects --------------------------------------------------------------------------------

# More groups than this would take minutes.
most_effect_groups <- 60

# Of each place the action that is the likeliest over all groups, visits until a decision, and the cost as a share.
crowd_quantities <- function(effects) {
  rows <- as.data.frame(effects)
  rows <- rows[is.na(rows$reference), ]
  probable <- rows[rows$quantity == "probability", ]
  chosen <- unlist(lapply(unique(probable$at), function(at) {
    mean <- tapply(probable$estimate[probable$at == at], probable$action[probable$at == at], mean)
    paste("probability", at, names(mean)[which.max(mean)])
  }))
  place <- paste(rows$quantity, rows$at, rows$action)
  rows <- rows[place %in% utils::head(chosen, 3) | rows$quantity %in% c("visits", "cost_share"), ]
  rows$called <- ifelse(rows$quantity == "probability", paste0(place_words(rows$at), ", ", as_label(rows$action)),
                        unname(effect_titles[rows$quantity]))
  rows
}

crowd_effects_table <- function(rows) {
  text <- vapply(seq_len(nrow(rows)), function(i) with_interval(rows[i, ]), "")
  wide_by_group(rows$group, rows$called, text, rows$verdict)
}

# From which group to which it goes, one sentence per quantity.
crowd_effects_words <- function(rows) {
  vapply(unique(rows$called), function(one) {
    mine <- rows[rows$called == one & !is.na(rows$estimate), ]
    if (!nrow(mine)) return(paste0(safe_text(one), ": not known in any group."))
    number <- function(x) effect_number(x, mine$quantity[1])
    low <- mine[which.min(mine$estimate), ]
    high <- mine[which.max(mine$estimate), ]
    paste0(safe_text(one), ": from ", number(low$estimate), " in ", safe_text(low$group), " to ", number(high$estimate),
           " in ", safe_text(high$group), "; half of the groups are below ", number(stats::median(mine$estimate)), ".")
  }, "", USE.NAMES = FALSE)
}
