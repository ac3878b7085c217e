# What the sliders of explore_agent() stand for: positions from 1, each an exact
# value of a parameter, ends included.

# Round numbers at nearly equal steps of a logarithmic scale. Rounded again, so that
# the number printed is the number used.
round_numbers <- function(from, to, scale) {
  numbers <- outer(c(1, 1.5, 2, 3, 5, 8), 10^seq(floor(log10(from)), ceiling(log10(to))))
  numbers <- numbers[numbers > from * (1 - 1e-9) & numbers < to * (1 + 1e-9)]
  signif(numbers * scale, 2)
}

# Prices are in the unit of the utility, so their inverses shrink as utilities grow: by
# powers of ten from where they suit DIAG, whose utilities span 46.
slider_scale <- function(reward) {
  span <- diff(range(reward))
  if (span > 0) 10^round(log10(46 / span)) else 1
}

explore_sliders <- function(reward) {
  scale <- slider_scale(reward)
  degree <- round_numbers(0.02, 5, scale)
  list(
    flexibility = new_slider("flexibility", "alpha", c(0, round_numbers(0.01, 100, scale), Inf), start = 2 * scale,
                             ends = c("its action prior", "the best action")),
    optimism = new_slider("optimism", "beta", c(-Inf, -rev(degree), 0, degree, Inf), start = 0,
                          ends = c("worst case", "neutral", "best case")),
    adaptivity = new_slider("adaptivity", "eta", c(round_numbers(0.01, 1000, scale), Inf), start = Inf,
                            ends = c("hardly adaptive", "perfectly adaptive"))
  )
}

new_slider <- function(name, price, values, start, ends) {
  words <- vapply(values, function(v) agent_words(do.call(bounded_agent, stats::setNames(list(v), name)))[[price]], "")
  list(name = name, price = price, values = values, start = match(signif(start, 2), values), ends = ends,
       words = words)
}

# A position that is not there, as before the page has said any, is the first one shown.
slider_value <- function(slider, position) {
  at <- match(position, seq_along(slider$values))
  if (length(at) != 1 || is.na(at)) at <- slider$start
  slider$values[at]
}

number_text <- function(x) format_plain(x, digits = 15, scientific = FALSE)
