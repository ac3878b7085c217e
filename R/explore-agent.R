#' Explore an agent by hand
#'
#' A small gadget: three sliders change an agent's flexibility, optimism and
#' adaptivity. The page shows at once what the agent then does, the path of its beliefs and what its thinking
#' costs. The code that makes the plan shown is on the page, ready to copy.
#'
#' The ends of the sliders are exact limits, not large numbers: flexibility from 0, the
#' action prior, to `Inf`, the best action; optimism from `-Inf`, the worst case, over 0,
#' the neutral view, to `Inf`, the best case; adaptivity up to `Inf`, to which it
#' does not matter how hard the next belief is to foresee ([bounded_agent()]). Between them
#' the steps are round numbers on a scale that
#' follows the range of the utility. The arrow keys move a slider too.
#'
#' The code names `setting` and `models` as the call did, so it runs where they are known. The page and its picture are
#' dark where the browser or the system asks for that.
#'
#' @param setting A setting with two or three states ([decision_setting()]).
#' @param models What the agent may believe about the dynamics ([model_prior()]). By
#'   default [perturb_models()] of the setting, which for [diag_setting()] are the
#'   paper's three, so that optimism has something to choose from; the setting's own
#'   dynamics where there is nothing to perturb.
#' @param resolution Number of steps from 0 to 1 in each belief. By default 100 with two
#'   states and 40 with three.
#' @param observations What is seen along the path of beliefs, visit by visit. By default
#'   three times the last observation that can always be seen, whatever is done short of
#'   ending the trajectory; without any such, no path is drawn.
#' @param actions The actions taken meanwhile, as in [plot()][plot.ibrc_plan].
#' @param launch Run the gadget now? Otherwise it is returned as an app.
#'
#' @return With `launch = FALSE` an app of the package shiny (class `shiny.appobj`): print
#'   it or give it to `shiny::runApp()`. Otherwise, invisibly, the plan shown when "Done" was
#'   pressed ([plan_agent()]), or `NULL` if the gadget was cancelled. Needs the packages
#'   shiny and ggplot2.
#' @family pictures
#' @export
#' @examples
#' if (interactive()) {
#'   plan <- explore_agent()
#'   explore_agent(tiger_setting(), observations = c("hear_left", "hear_left", "hear_right"))
#' }
explore_agent <- function(setting = diag_setting(), models = NULL, resolution = NULL, observations = NULL,
                          actions = NULL, launch = interactive()) {
  written <- list(setting = as_written(substitute(setting), "setting"),
                  models = as_written(substitute(models), "models"))
  check_class(setting, "ibrc_setting", "setting", "decision_setting()")
  n_states <- length(setting$states)
  if (n_states > 3) {
    abort_input("setting", "has ", n_states, " states: plans can be drawn for two or three.")
  }
  launch <- check_flag(launch, "launch")
  if (is.null(resolution)) resolution <- if (n_states == 2) 100 else 40
  if (is.null(models)) {
    can_perturb <- !is_identity(setting$emission) && !is.null(row_units(setting$emission, "emission"))
    models <- if (can_perturb) perturb_models(setting)
    written$models <- if (can_perturb) paste0("perturb_models(", written$setting, ")")
  }
  require_package("shiny", "Exploring an agent")
  require_package("ggplot2", "Exploring an agent")
  problem <- build_problem(setting, models, resolution)
  written$resolution <- number_text(resolution)
  if (is.null(observations)) observations <- usual_observations(problem)
  sliders <- explore_sliders(problem$reward)
  path <- check_observed_path(solve_problem(problem, agent_at(sliders, list())), observations, actions)
  written$plot <- write_plot(path)

  app <- shiny::shinyApp(explore_page(sliders, setting, done = launch),
                         explore_server(problem, sliders, path, written))
  if (!launch) return(app)
  invisible(shiny::runGadget(app, stopOnCancel = FALSE))
}

# Names and lengths are checked now. Whether the observations are possible hangs on what the
# agent does, so that is found out as it is drawn.
check_observed_path <- function(plan, observations, actions) {
  if (is.null(observations)) return(list())
  tryCatch(path_data(plan, observations, actions), ibrc_error_observation = identity)
  path <- list(observations = as.character(observations))
  if (!is.null(actions)) path$actions <- as.character(actions)
  path
}

# The last observation that every model gives a chance in every state after every action that goes on.
usual_observations <- function(problem) {
  going_on <- !problem$setting$actions %in% problem$setting$stop_actions
  if (!any(going_on)) return(NULL)
  if (any(vapply(problem$models$models, function(m) is_identity(m$emission), NA))) return(NULL)
  least <- Reduce(pmin, lapply(problem$models$models, function(m) {
    apply(m$emission[, , going_on, drop = FALSE], 2, min)
  }))
  always <- problem$setting$observations[least > 0]
  if (length(always)) rep(always[length(always)], 3)
}

agent_at <- function(sliders, positions) {
  values <- lapply(sliders, function(slider) slider_value(slider, positions[[slider$name]]))
  do.call(bounded_agent, values)
}

explore_server <- function(problem, sliders, path, written) {
  # Every solve starts from nothing, as plan_agent() does, not from the last: where rounding breaks ties, as in
  # limits, only the same start gives the numbers that the code gives.
  most <- log(max(length(problem$setting$actions), length(problem$setting$observations), n_models(problem$models), 2))
  function(input, output, session) {
    positions <- shiny::reactive(lapply(stats::setNames(nm = names(sliders)), function(name) input[[name]]))
    shown <- shiny::reactive({
      # Where the sliders stand is asked first: a solve that fails must be tried again when they move.
      agent <- agent_at(sliders, positions())
      tryCatch(solve_problem(problem, agent), ibrc_error = function(e) {
        shiny::validate(conditionMessage(e))
      })
    })
    code <- shiny::reactive(write_code(written, sliders, positions()))

    output$picture <- shiny::renderPlot(
      draw_shown(shown(), path, session$clientData$output_picture_width, isTRUE(input$dark)), res = 96,
      bg = "transparent",
      alt = shiny::reactive(describe_shown(shown()))
    )
    output$complexity <- shiny::renderUI(complexity_bars(complexity(shown()), most))
    output$start <- shiny::renderText(start_line(shown()))
    output$code <- shiny::renderText(code())
    shiny::observeEvent(input$done, shiny::stopApp(shown()))
    shiny::observeEvent(input$cancel, shiny::stopApp(NULL))
  }
}

# Whether an observation can follow may hang on the actions that this agent would take.
draw_shown <- function(plan, path, width = 600, dark = FALSE) {
  picture <- tryCatch(do.call(plot_plans, c(list(plan), path)), ibrc_error_observation = function(e) {
    plot(plan) + ggplot2::labs(caption = "No path: these observations cannot follow\nwhat this agent does.")
  })
  picture <- picture + fitting_legend(plan$setting$actions, width)
  if (!dark) return(picture)
  in_the_dark(picture, plan$setting$actions, axes = length(plan$setting$states) == 2 || is_vertices(plan$space))
}

# The same on the dark ground of the page: lighter colours, and light text.
dark_ground <- "#1B1B1B"

in_the_dark <- function(picture, actions, axes) {
  light <- stats::setNames(tinted(action_palette(length(actions)), 0.35), actions)
  for (layer in picture$layers) {
    if (inherits(layer$geom, "GeomText") && is.null(layer$aes_params$colour)) layer$aes_params$colour <- "grey90"
  }
  # ggplot2 says that the colours are new.
  picture <- suppressMessages(picture + ggplot2::scale_colour_manual(
    values = light, limits = actions, labels = as_label, aesthetics = c("colour", "fill")
  ))
  picture <- picture + ggplot2::theme(plot.background = ggplot2::element_rect(fill = dark_ground, colour = NA),
                                      text = ggplot2::element_text(colour = "grey90"))
  if (!axes) return(picture)
  picture + ggplot2::theme(axis.text = ggplot2::element_text(colour = "grey75"),
                           panel.grid.major = ggplot2::element_line(colour = "grey28"))
}

# As many keys in a row as fit into so many pixels, and no more room than that for the rest.
fitting_legend <- function(actions, width) {
  columns <- max(1, floor((width - 30) / (6.2 * max(nchar(actions)) + 35)))
  keys <- function(...) ggplot2::guide_legend(title.position = "top", byrow = TRUE, ...)
  by_action <- keys(ncol = min(columns, length(actions)), order = 1)
  none <- ggplot2::unit(0, "pt")
  list(
    ggplot2::guides(colour = by_action, linetype = by_action, fill = by_action, alpha = keys(nrow = 1, order = 2)),
    ggplot2::theme(legend.box = "vertical", legend.margin = ggplot2::margin(), legend.spacing.y = none,
                   legend.key.height = ggplot2::unit(13, "pt"), plot.caption = ggplot2::element_text(hjust = 0),
                   plot.caption.position = "plot")
  )
}

# "from the start (...): monitor 93%; value 12", as a plan prints it.
start_line <- function(plan) {
  title_case(paste(trimws(format_starts(plan)), collapse = "; "))
}

describe_shown <- function(plan) {
  paste0("Probability of each action at each belief. ", start_line(plan), ".")
}

# How the caller wrote an argument. A value without a name, as from do.call(), goes by the
# argument's own.
as_written <- function(expression, name) {
  if (is.null(expression)) return(NULL)
  if (!is.language(expression)) return(name)
  paste(deparse(expression, width.cutoff = 100), collapse = "\n")
}

write_code <- function(written, sliders, positions) {
  values <- vapply(sliders, function(slider) slider_value(slider, positions[[slider$name]]), 0)
  agent <- write_call("bounded_agent", paste(names(values), "=", number_text_each(values)))
  plan <- write_call("plan_agent", c(written$setting, agent, written$models, paste("resolution =", written$resolution)))
  paste0("plan <- ", plan, "\n", written$plot, "\ncomplexity(plan)")
}

# One argument per line: a narrow viewer shows it whole.
write_call <- function(name, arguments) {
  arguments <- gsub("\n", "\n  ", arguments, fixed = TRUE)
  paste0(name, "(\n  ", paste(arguments, collapse = ",\n  "), "\n)")
}

write_plot <- function(path) {
  arguments <- sprintf("%s = %s", names(path), vapply(path, write_names, ""))
  paste0("plot(", paste(c("plan", arguments), collapse = ", "), ")")
}

write_names <- function(x) {
  if (length(x) > 2 && length(unique(x)) == 1) return(paste0("rep(", deparse(x[1]), ", ", length(x), ")"))
  paste(deparse(x, width.cutoff = 100), collapse = "\n  ")
}
