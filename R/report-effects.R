# The section that a report leads with: what decision makers do, in sentences, a picture and a table.

# Draws of all groups together, and trajectories for each: a report is not to take minutes for them.
report_effect_draws <- 400
report_effect_trajectories <- 400
# For each of dozens of groups.
crowd_effect_draws <- 20

effects_section <- function(report) {
  fit <- report$fit
  crowd <- is_crowd(fit)
  if (length(fit$draws) > if (has_population(fit)) most_shrunken else most_effect_groups) {
    return(new_report_section(report_text("There are too many ", if (has_population(fit)) "cells" else "groups",
                                          " to tell here what is done in each: ",
                                          "decision_effects() has it.")))
  }
  draws <- max(2, min(report$draws, if (crowd) crowd_effect_draws else
    ceiling(report_effect_draws / length(fit$draws))))
  effects <- tryCatch(decision_effects(fit, draws = draws, nsim = report_effect_trajectories, refresh = 0),
                      ibrc_error = identity)
  if (inherits(effects, "error")) {
    return(new_report_section(report_text("What decision makers do could not be worked out: ", effects$message)))
  }
  rows <- if (crowd) crowd_quantities(effects)
  new_report_section(
    report_list(paste0(verdict_headline(report$verdict), "."), class = report_class(worst_of(report$verdict$verdict))),
    report_text(effects_headline(attr(effects, "of")), "."),
    report_list(if (crowd) crowd_effects_words(rows) else format(effects)),
    if (!crowd) effects_pictures(effects),
    if (crowd) report_table(crowd_effects_table(rows), "What decision makers do in each group") else
      report_table(effects_table(effects), effects_title(effects)),
    report_text(if (crowd) "decision_effects() has more quantities, and differences between groups. " else
      paste0(rational_words, " "), "Visits, counts and costs are simulated, ", report_effect_trajectories,
      " trajectories for each draw.")
  )
}

effects_pictures <- function(effects) {
  lapply(c("probability", "course"), function(type) {
    data <- effects_data(effects, type)
    report_picture(draw_effects(data, type, effects_caption(effects, type)), effects_alt(data, type),
                   height = effects_height(data, type))
  })
}

# Inches: every group has its line beside every label.
effects_height <- function(rows, type) {
  panels <- nlevels(rows$panel)
  lines <- nlevels(rows$label) * (if (type == "course") 1 else max(1, nlevels(rows$group) / 2))
  down <- if (type == "course") ceiling(panels / 3) else grDevices::n2mfrow(panels)[2]
  1.3 + down * (0.6 + 0.3 * lines)
}
