# The axes that terms have in every picture: prices on a logarithmic one with their own numbers, the others on a linear
# one, with a line where 0 means something.

is_log_term <- function(terms) terms %in% names(price_inverses)

# Where values of a term stand on its axis.
axis_position <- function(value, term) {
  logged <- rep_len(is_log_term(term), length(value))
  value[logged] <- log10(value[logged])
  value
}

# The scale of an axis in panels of some terms; `scale` is ggplot2's for x or y. Where terms of both kinds stand side by
# side, it is the linear one, and log_panels() changes that of the others.
scale_terms <- function(scale, terms) {
  if (!all(is_log_term(terms))) return(scale(n.breaks = 4))
  scale(breaks = log_breaks, labels = log_labels)
}

# Facets in which the panels of some terms have a logarithmic axis. `facet`: ggplot2's; `axis`: "x" or "y"; `column`:
# the variable of the facets that tells panels apart; `logged`: its values in panels that are logarithmic.
log_panels <- function(facet, axis, column, logged) {
  number <- c(x = "SCALE_X", y = "SCALE_Y")[[axis]]
  ggplot2::ggproto(NULL, facet, init_scales = function(self, layout, x_scale = NULL, y_scale = NULL, params) {
    scales <- ggplot2::ggproto_parent(facet, self)$init_scales(layout, x_scale, y_scale, params)
    for (i in if (length(scales[[axis]])) unique(layout[[number]][as.character(layout[[column]]) %in% logged])) {
      scales[[axis]][[i]]$breaks <- log_breaks
      scales[[axis]][[i]]$labels <- log_labels
    }
    scales
  })
}

# Round values on a logarithmic axis, about five of them, as positions.
log_breaks <- function(range) {
  span <- diff(range)
  if (!all(is.finite(range)) || span <= 0) return(range)
  if (span < 0.7) {
    round <- pretty(10^range, 4)
    return(log10(round[round > 0]))
  }
  powers <- seq(floor(range[1]), ceiling(range[2]), by = max(1, ceiling(span / 6)))
  if (span > 3) return(powers)
  sort(c(outer(log10(if (span > 1.5) c(1, 3) else c(1, 2, 5)), powers, `+`)))
}

log_labels <- function(at) vapply(10^at, format_plain, "", digits = 2)

# Terms that may lie on either side of 0, and what they are at 0.
zero_terms <- c(optimism = "the neutral view", habit = "no habit")

zero_colour <- "grey30"

has_zero <- function(terms) terms %in% names(zero_terms)

# Where lines at 0 go: `panels` are the titles of those of `terms`.
zero_rows <- function(terms, panels) {
  data.frame(panel = factor(panels[has_zero(terms)], levels = panels), at = rep(0, sum(has_zero(terms))))
}

# "Thin line: optimism 0, the neutral view."
zero_words <- function(terms) {
  shown <- intersect(terms, names(zero_terms))
  if (length(shown)) paste0("Thin line: ", paste0(shown, " 0, ", zero_terms[shown], collapse = "; "), ".")
}
