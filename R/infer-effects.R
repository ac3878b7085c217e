# Effects are formulas that say how the terms of agents differ from person to person: `optimism ~ age + (1 | site)`. On
# the left stands a term that is inferred. On the right stand random intercepts, and columns of the visits that do not
# change within a trajectory. This file reads the formulas; infer-effects-design.R applies them to visits.
#
# A formula that was read is a list of three:
#
#   term     the term on the left
#   fixed    a formula without random intercepts and without an environment
#   random   one entry per random intercept, with `columns` and `tie`. An intercept that is nested or crossed, a:b, has
#            several columns. `tie` is the name under which intercepts of several terms are correlated,
#            `(1 | tie | site)`, or NA.

read_effects <- function(effects, prior) {
  if (inherits(effects, "formula")) effects <- list(effects)
  if (!is.list(effects) || !length(effects) || !all(vapply(effects, inherits, NA, "formula"))) {
    abort_input("effects", "must be a list of formulas, such as list(optimism ~ age + (1 | site)), not ",
                describe(effects), ".")
  }
  read <- lapply(effects, read_effect)
  terms <- vapply(read, `[[`, "", "term")
  if (anyDuplicated(terms)) {
    abort_input("effects", "has more than one formula for ", enumerate(terms[duplicated(terms)]),
                ": join them into one.")
  }
  refuse_other_terms(terms, prior)
  stats::setNames(read, terms)
}

# The term on the left must be inferred, and it must be a single number.
refuse_other_terms <- function(terms, prior) {
  possible <- Filter(function(entry) is.null(entry$simplex), unclass(prior))
  unknown <- setdiff(terms, names(possible))
  if (!length(unknown)) return(invisible())
  one <- unknown[1]
  other <- c(price_inverses[one], names(price_inverses)[match(one, price_inverses)])
  other <- intersect(stats::na.omit(other), names(possible))
  if (quantity_of(one) %in% names(parameters)[parameter_column("support") == "simplex"]) {
    abort_input("effects", "has a formula for ", enumerate(one), ", which is not inferred as one number: ",
                "probabilities of actions cannot have effects. Fit groups of people with `by` to let them differ.")
  }
  abort_input("effects", "has a formula for ", enumerate(one), ", which is not inferred",
              if (length(other)) paste0(" under that name: the prior has `", other, "`. Write ", other, " ~ instead.")
              else paste0("; `prior` has ", enumerate(names(possible)), ". Give it a prior, such as ibrc_prior(",
                          prior_example(one), ")",
                          if (quantity_of(one) == "beta") {
                            ", and `models` to lean between, such as perturb_models(setting): of one it says nothing"
                          }, "."))
}

# A prior that ibrc_prior() takes.
prior_example <- function(term) {
  support <- parameters[[term]]$support
  left <- sub("^utility\\[(.*),(.*)\\]$", "utility(\\1, \\2)", if (term == "utility") "utility[state,action]" else term)
  paste(left, "~", switch(if (is.null(support)) "real" else support, positive = "lognormal(0, 1)",
                          unit = "uniform(0.8, 0.99)", "normal(0, 1)"))
}

# utility(healthy, monitor) on the left is the term that ibrc_prior() calls so.
left_term <- function(left) {
  if (is.call(left) && identical(left[[1]], quote(utility))) return(read_utility_term(left)$term)
  if (is.name(left)) as.character(left)
}

read_effect <- function(formula) {
  term <- if (length(formula) == 3) left_term(formula[[2]])
  if (is.null(term)) {
    abort_input("effects", "must have one term on the left of each ~, as in optimism ~ age; ",
                expression_text(formula), if (length(formula) == 3) " has something else there." else " has none.")
  }
  parts <- sum_parts(formula[[3]])
  bars <- vapply(parts, is_bar, NA)
  random <- unlist(lapply(parts[bars], read_bar), recursive = FALSE)
  twice <- duplicated(lapply(random, `[[`, "columns"))
  if (any(twice)) {
    abort_input("effects", "has the random intercept of ", factor_name(random[[which(twice)[1]]]$columns),
                " twice in the formula of ", term, ": write it once.")
  }
  fixed <- parts[!bars]
  if (any(vapply(fixed, is_bar, NA, sign = "||"))) {
    abort_input("effects", "takes random intercepts with one bar, as in (1 | site), not ||.")
  }
  for (part in fixed) refuse_long_not(part)
  if (any(vapply(fixed, function(part) "|" %in% all.names(part), NA))) {
    abort_input("effects", "has a bar that stands in no brackets of its own: write (1 | site), added to the others ",
                "by +.")
  }
  for (part in fixed) refuse_functions(part, term)
  right <- if (length(fixed)) Reduce(function(a, b) call("+", a, b), fixed) else 1
  list(term = term, fixed = plain_formula(right), random = random)
}

# To R, !flag + age is !(flag + age).
refuse_long_not <- function(part) {
  if (!is.call(part) || !identical(part[[1]], quote(`!`)) || !is.call(part[[2]])) return(invisible())
  if (!identical(part[[2]][[1]], quote(`+`))) return(invisible())
  abort_input("effects", "has ", expression_text(part), ", where ! is about all that follows: put brackets around it, ",
              "as in (!flag) + age.")
}

# A formula may call its own signs, and functions that turn one value into one value. There are two reasons to refuse
# all others. The columns that poly() or cut() make for a person depend on who else is in the table. And formulas may
# come from files (infer-checkpoint-population.R), which must not be able to run anything.
formula_signs <- c("+", "-", "*", "/", "^", ":", "(")
formula_functions <- c(formula_signs, "%in%", "I", "==", "!=", "<", "<=", ">", ">=", "!", "&", "log", "log2", "log10",
                       "log1p", "exp", "sqrt", "abs", "pmin", "pmax", "round", "floor", "ceiling")

# `within` a function, signs calculate.
refuse_functions <- function(part, term, within = FALSE) {
  if (identical(part, quote(.))) {
    abort_input("effects", "has a dot in the formula of ", term, ", which would be all columns: name those you mean.")
  }
  if (is.name(part)) return(invisible())
  refuse <- function(...) abort_input("effects", "has ", expression_text(part), " in the formula of ", term, ": ", ...)
  if (!is.call(part)) {
    if (is_value(part) && (within || is.numeric(part) && part %in% 0:1)) return(invisible())
    if (is_value(part)) refuse("name columns there. What is calculated stands in I(), as in I(age / 10).")
    abort_input("effects", "has ", describe(part), " in the formula of ", term, ": name columns there.")
  }
  called <- if (is.name(part[[1]])) as.character(part[[1]]) else expression_text(part[[1]])
  if (!called %in% formula_functions) {
    refuse("a formula may use log(), log2(), log10(), log1p(), exp(), sqrt(), abs(), pmin(), pmax(), round(), ",
           "floor(), ceiling(), I() and comparisons, as in I(arm %in% c(\"a\", \"b\")). Make other columns beforehand.")
  }
  if (called == "%in%") {
    if (!within) refuse("write I() around it.")
    # Values of a column would be those of whoever else is in the table.
    if (!are_values(part[[3]])) refuse("on the right of %in% stand values, as in c(\"a\", \"b\").")
    return(refuse_functions(part[[2]], term, within))
  }
  # A sequence would be recycled: who gets which number would depend on the order of rows.
  if (within && called == ":") refuse("within a function, : makes a sequence. Write * for a product.")
  if (!within && called == "^" && length(part) == 3 && is_value(part[[3]])) return(refuse_functions(part[[2]], term))
  for (argument in as.list(part)[-1]) refuse_functions(argument, term, within || !called %in% formula_signs)
  if (!within && !called %in% formula_signs && !length(all.vars(part))) refuse("it names no column.")
}

is_value <- function(x) is.atomic(x) && length(x) == 1 && !is.object(x) && !is.na(x)

# "a", -1 or c("a", "b").
are_values <- function(x) {
  if (!is.call(x)) return(is_value(x))
  if (!list(x[[1]]) %in% c(quote(c), quote(`-`))) return(FALSE)
  all(vapply(as.list(x)[-1], are_values, NA))
}

# Splits a + b + (c | d) into a list of its parts.
sum_parts <- function(right) {
  if (is.call(right) && identical(right[[1]], quote(`+`)) && length(right) == 3) {
    return(c(sum_parts(right[[2]]), sum_parts(right[[3]])))
  }
  list(right)
}

is_bar <- function(part, sign = "|") {
  is.call(part) && identical(part[[1]], quote(`(`)) && is.call(part[[2]]) && identical(part[[2]][[1]], as.name(sign))
}

# (1 | site), (1 | tie | site), (1 | site/clinician), (1 | site:year)
read_bar <- function(part) {
  inside <- part[[2]]
  tie <- NA_character_
  slope <- inside[[2]]
  if (is.call(slope) && identical(slope[[1]], quote(`|`))) {
    if (!is.name(slope[[3]])) {
      abort_input("effects", "must have a plain name between two bars, as in (1 | p | site); ", expression_text(part),
                  " has another.")
    }
    tie <- as.character(slope[[3]])
    slope <- slope[[2]]
  }
  if (!identical(slope, 1)) {
    abort_input("effects", "takes random intercepts, such as (1 | site), and no random slopes: ", expression_text(part),
                " has one. Give people of different kinds a factor of their own, or leave the slope fixed.")
  }
  lapply(group_factors(inside[[3]], part), function(columns) {
    if (anyDuplicated(columns)) {
      abort_input("effects", "has the column ", enumerate(columns[duplicated(columns)][1]), " twice in ",
                  expression_text(part), ": name it once.")
    }
    list(columns = columns, tie = tie)
  })
}

# a/b stands for two factors: a, and b within a.
group_factors <- function(what, part) {
  if (is.name(what)) return(list(as.character(what)))
  joined <- is.call(what) && length(what) == 3
  if (joined && identical(what[[1]], quote(`/`))) {
    left <- group_factors(what[[2]], part)
    right <- group_factors(what[[3]], part)
    return(c(left, lapply(right, function(columns) c(left[[length(left)]], columns))))
  }
  if (joined && identical(what[[1]], quote(`:`))) {
    return(list(c(group_factors(what[[2]], part)[[1]], group_factors(what[[3]], part)[[1]])))
  }
  abort_input("effects", "must name columns on the right of a bar, with : or / between several; ",
              expression_text(part), " has something else.")
}

factor_name <- function(columns) paste(columns, collapse = ":")

# This formula keeps nothing of the session that it was made in. The functions in it are those of base R.
plain_formula <- function(right) structure(call("~", right), class = "formula", .Environment = baseenv())

# ---- priors of effects -----------------------------------------------------------------------------------------------

# Is an entry of a prior about effects? Those are coefficients, optimism[age], and spreads, sd(optimism|site).
is_effect_term <- function(term) {
  base <- sub("\\[.*", "", term)
  grepl("^sd\\(.*[|].*\\)$", term) | grepl("\\[.*\\]$", term) & !base %in% c("utility", "action_prior")
}

split_prior <- function(prior) {
  if (!inherits(prior, "ibrc_prior")) return(list(agent = prior, effects = list()))
  about <- is_effect_term(names(prior))
  if (all(about)) abort_input("prior", "has no term to infer beside those of effects.")
  list(agent = new_ibrc_prior(unname(unclass(prior)[!about])), effects = unclass(prior)[about])
}

coefficient_term <- function(term, name) ifelse(name == "(Intercept)", term, paste0(term, "[", name, "]"))
spread_term <- function(term, factor) paste0("sd(", term, "|", factor, ")")
tie_term <- function(a, b, factor) paste0("cor(", a, ",", b, "|", factor, ")")

# How far apart two people may well be, on the scale that the sampler works on. That is the width of the term's prior.
# On a logarithmic scale it is at most 1, which is a factor of 2.7.
effect_scale <- function(entry) {
  spread <- unconstrained_sd(entry)
  if (entry$scale == "identity") spread else min(spread, 1)
}

default_effect <- function(term, distribution, scale) {
  args <- if (distribution == "normal") c(mean = 0, sd = scale) else c(sd = scale)
  label <- paste0(distribution, "(", paste(as_text(signif(args, 3)), collapse = ", "), ")")
  new_prior_entry(term, distribution, args, label = label)
}

# The priors of all spreads, and of all coefficients except intercepts. The prior of an intercept is that of its term.
# `stated` holds the priors that ibrc_prior() was given.
effect_priors <- function(coefficients, spreads, stated) {
  wanted <- c(coefficients$label[!coefficients$intercept], spreads$label)
  unknown <- setdiff(names(stated), wanted)
  if (length(unknown)) {
    abort_input("prior", "has ", enumerate(unknown), ", which no formula of `effects` has; there are ",
                enumerate(wanted, most = 20), ".")
  }
  slopes <- which(!coefficients$intercept)
  made <- c(
    lapply(slopes, function(i) default_effect(coefficients$label[i], "normal", coefficients$scale[i])),
    lapply(seq_len(nrow(spreads)), function(i) default_effect(spreads$label[i], "half_normal", spreads$scale[i] / 2))
  )
  names(made) <- wanted
  made[names(stated)] <- stated
  for (label in spreads$label) {
    if (made[[label]]$lower != 0 || made[[label]]$upper != Inf) {
      abort_input(label, "needs a prior on all positive numbers, such as half_normal(0.5).")
    }
  }
  for (label in coefficients$label[slopes]) {
    if (made[[label]]$scale != "identity") {
      abort_input(label, "needs a prior on all numbers, such as normal(0, 1): a coefficient may have either sign.")
    }
  }
  if (length(made)) new_ibrc_prior(unname(made)) else list()
}
