# The table of parameters: what an agent has, and what a posterior can be about. Priors, agents, the evaluator, the
# glue to C, summaries, reports and help read it. A new parameter needs a row here and a test; an argument of
# bounded_agent() (R/problem-agent.R); its value where it is held (parameter_places() and plan_at(),
# R/infer-evaluator.R); and a field in `ibrc_problem` (src/backup.h), which src/evaluator.c and src/ffi_inverse.c fill.
#
#   name, inverse   its name, and the name of 1 / it (NA: it has none)
#   per             "agent": one number; "action": one probability per action, which sum to 1
#   support         its possible values when inferred: "positive", "unit" (from 0 to less than 1), "real", "simplex"
#   rational        its value for the perfectly rational agent; NA: the setting's own value, or uniform
#   slot            where its numbers begin in a vector that src/evaluator.h reads; a parameter per "action" takes one
#                   place for each action, and stands last
#   unit            what it is counted in, for tables; `inverse_unit` is that of the inverse
#   meaning         its meaning in a sentence; `inverse_meaning` is that of the inverse
parameters <- list(
  alpha = list(
    inverse = "flexibility", per = "agent", support = "positive", rational = 0, slot = 1L,
    unit = "utility", inverse_unit = "1 / utility",
    meaning = paste("Price of deliberating. Near 0 the best action is always taken; the larger it is, the closer to",
                    "choosing at random."),
    inverse_meaning = "1 / alpha. The larger it is, the more surely the best action is taken; 0 is choosing at random."
  ),
  beta = list(
    inverse = "optimism", per = "agent", support = "positive", rational = Inf, slot = 2L,
    unit = "utility", inverse_unit = "1 / utility",
    meaning = "Price of leaving the neutral view. Small and positive is optimistic, small and negative pessimistic.",
    inverse_meaning = paste("1 / beta. Above 0 it leans to dynamics under which its plan pays, below 0 to the others;",
                            "0 is neutral.")
  ),
  eta = list(
    inverse = "adaptivity", per = "agent", support = "positive", rational = 0, slot = 3L,
    unit = "utility per nat", inverse_unit = "nats / utility",
    meaning = "Above 0, actions after which the next belief is hard to foresee look better than they are; not so at 0.",
    inverse_meaning = "1 / eta. The larger it is, the less it matters how hard the next belief is to foresee."
  ),
  discount = list(
    inverse = NA_character_, per = "agent", support = "unit", rational = NA_real_, slot = 4L,
    unit = "per visit", inverse_unit = NA_character_,
    meaning = "How much the next visit counts compared with this one.", inverse_meaning = NA_character_
  ),
  habit = list(
    inverse = NA_character_, per = "agent", support = "real", rational = 0, slot = 5L,
    unit = "log odds", inverse_unit = NA_character_,
    meaning = paste("How much more likely the last action is to be repeated, as log odds, before deliberating.",
                    "Below 0 it is avoided."),
    inverse_meaning = NA_character_
  ),
  action_prior = list(
    inverse = NA_character_, per = "action", support = "simplex", rational = NA_real_, slot = 6L,
    unit = "probability", inverse_unit = NA_character_,
    meaning = "What is done without deliberating: the probability of this action then.",
    inverse_meaning = NA_character_
  )
)

# One column of the table, by name.
parameter_column <- function(column) vapply(parameters, function(one) one[[column]], parameters[[1]][[column]])

# The prices: parameters that have an inverse, and what it is called.
price_inverses <- local({
  inverse <- parameter_column("inverse")
  inverse[!is.na(inverse)]
})

# Every name that a term can have. The name of a price is followed by that of its inverse.
parameter_terms <- function() {
  unlist(lapply(names(parameters), function(name) c(name, stats::na.omit(parameters[[name]]$inverse))),
         use.names = FALSE)
}

# The quantity that a name stands for: "alpha" for "flexibility".
quantity_of <- function(term) {
  at <- match(term, price_inverses)
  ifelse(is.na(at), sub("\\[.*", "", term), names(price_inverses)[at])
}

# Do two terms stand for the same quantity? Probabilities of one simplex do. Arguments are recycled as usual.
same_quantity <- function(term, other) {
  simplex <- names(parameters)[parameter_column("support") == "simplex"]
  term == other | quantity_of(term) == quantity_of(other) & quantity_of(other) %in% simplex
}

# What a term means. An entry of the utility is not a parameter of the agent, and neither is a quantity of a recipe.
meaning_of <- function(term) {
  found <- parameters[[quantity_of(term)]]
  if (is.null(found) && grepl("^utility[[(]", term)) return("Worth of an action in a state.")
  if (is.null(found)) return("A quantity that the setting, or what is believed about it, depends on.")
  if (term %in% price_inverses) found$inverse_meaning else found$meaning
}

# What a term is counted in; "" for a quantity of a recipe, which its author knows.
unit_of <- function(term) {
  found <- parameters[[quantity_of(term)]]
  if (is.null(found)) return(if (grepl("^utility[[(]", term)) "utility" else "")
  if (term %in% price_inverses) found$inverse_unit else found$unit
}

# An agent's price, from the price itself or from its inverse. The value in `rational` if neither is given.
price_from <- function(name, values) {
  inverse <- price_inverses[[name]]
  if (!is.null(values[[name]])) return(values[[name]])
  if (!is.null(values[[inverse]])) return(1 / values[[inverse]])
  parameters[[name]]$rational
}

fixed_words <- function(fixed) {
  value <- function(x) {
    if (length(x) == 1) return(format(x))
    paste0("(", paste0(if (!is.null(names(x))) paste0(names(x), " "), format(x, digits = 3, trim = TRUE),
                       collapse = ", "), ")")
  }
  paste(names(fixed), "=", vapply(fixed, value, ""), collapse = ", ")
}
