#' Draw visits
#'
#' One row per patient and one tile per visit, coloured by what was done or by what was seen. Patients with the most
#' visits are on top; among those with as many, patients with the same sequence stand together. No identifier is shown,
#' nor is it in the data behind the picture.
#'
#' Where there are more patients than `patients`, those drawn are evenly spaced in that order, so that the picture has
#' about the same mixture of sequences as the data. The axis says how many are drawn, of how many.
#'
#' Each row is what happened to one person: treat the picture as individual data, and look at the rules of your data
#' before you publish it.
#'
#' @param x,visits Visits ([trajectories()], [read_adni()], [panel_trajectories()]).
#' @param type What the colour of a tile is: the `"action"` of the visit, or the `"observation"` that followed it.
#' @param patients How many patients to draw at most, up to 500.
#' @param ... Not used.
#' @return A `ggplot` object; it needs the package ggplot2. Its alternative text says what is drawn. `visits_data()`
#'   returns the data frame behind it, one row per visit that is drawn: `patient` (a number, from the top), `visit` (the
#'   first is 1), `action` and `observation`, factors. Its attribute `"of"` is the number of all patients.
#' @family pictures
#' @export
#' @examples
#' plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), diag_models(), resolution = 20)
#' visits <- simulate(plan, nsim = 60, seed = 1)
#' head(visits_data(visits, patients = 20), 3)
#' if (requireNamespace("ggplot2", quietly = TRUE)) plot(visits)
#' if (requireNamespace("ggplot2", quietly = TRUE)) plot(visits, "observation", patients = 20)
plot.ibrc_trajectories <- function(x, type = c("action", "observation"), patients = 50, ...) {
  check_unused(...)
  type <- check_choice(type, c("action", "observation"), "type")
  check_visits(x, "x")
  data <- visits_data(x, patients)
  require_package("ggplot2", "Drawing visits")
  draw_sequences(data, type)
}

# More rows than that are not told apart.
most_rows <- 500

#' @rdname plot.ibrc_trajectories
#' @export
visits_data <- function(visits, patients = 50) {
  check_given(visits)
  check_visits(visits)
  patients <- check_count(patients, "patients", most = most_rows)
  visits <- plain_visits(visits)
  roles <- attr(visits, "roles")
  who <- id_codes(visits[[roles$id]])
  visit <- stats::ave(seq_along(who), who, FUN = seq_along)
  action <- as_known(visits[[roles$action]])
  observation <- as_known(visits[[roles$observation]])
  codes <- paste(ifelse(is.na(action), 0L, as.integer(action)), ifelse(is.na(observation), 0L, as.integer(observation)))
  sequence <- vapply(split(sprintf("%08s", codes), who), paste, "", collapse = "")
  first <- order(-tabulate(who), sequence, method = "radix")
  chosen <- first[unique(round(seq(1, length(first), length.out = min(patients, length(first)))))]
  row <- match(who, chosen)
  drawn <- order(row, visit)
  drawn <- drawn[!is.na(row[drawn])]
  structure(data.frame(patient = row[drawn], visit = visit[drawn], action = action[drawn],
                       observation = observation[drawn]), of = length(first))
}

# A column as a factor: its own levels, or its values in a fixed order.
as_known <- function(x) {
  if (is.factor(x)) return(factor(as_utf8(x), as_utf8(levels(x))))
  factor(as_utf8(x), sorted_text(x))
}

draw_sequences <- function(data, type) {
  data$shown <- data[[type]]
  n <- max(data$patient)
  of <- attr(data, "of")
  height <- if (n > 150) 1 else 0.86
  lost <- sum(is.na(data$shown))
  ggplot2::ggplot(data, ggplot2::aes(.data$visit, .data$patient, fill = .data$shown)) +
    ggplot2::geom_tile(width = 0.92, height = height) +
    scale_visits(levels(data$shown)) +
    ggplot2::scale_x_continuous(breaks = function(range) visit_breaks(range), expand = ggplot2::expansion(add = 0.2)) +
    ggplot2::scale_y_reverse(breaks = NULL, expand = ggplot2::expansion(add = 0.4)) +
    ggplot2::labs(x = "Visit", y = if (n < of) paste0(format_count(n), " of ", plural(of, "patient")) else
      plural(n, "patient"), fill = c(action = "Action", observation = "Seen next")[[type]],
      caption = in_lines(paste0("One row per patient.", if (lost) " Grey: missing.")), alt = visits_alt(data, type)) +
    theme_ibrc() +
    ggplot2::theme(panel.grid = ggplot2::element_blank()) +
    if (nlevels(data$shown) > 6) ggplot2::theme(legend.text = ggplot2::element_text(size = 6),
                                                legend.key.size = ggplot2::unit(8, "pt"))
}

scale_visits <- function(known) {
  ggplot2::scale_fill_manual(values = named_palette(known), limits = known, labels = as_label, na.value = "grey85",
                             guide = if (length(known) > 6)
                               ggplot2::guide_legend(ncol = 2, title.position = "top") else
                               keys_in_lines(known, title.position = "top"))
}

# What the picture shows, for who cannot see it.
visits_alt <- function(data, type) {
  share <- sort(table(data[[type]]), decreasing = TRUE) / nrow(data)
  paste0("Sequences of ", type, "s of ", plural(max(data$patient), "patient"), ", one row each, with up to ",
         plural(max(data$visit), "visit"), ". Of the visits drawn: ",
         listing(paste0(as_label(names(share)), " ", percent_text(as.vector(share)))), ".")
}
