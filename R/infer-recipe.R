# Recipes: a setting, or what may be believed about it, as functions of named quantities. Quantities are inferred as
# terms of the prior, or held. Each point has its own world, whose tables are built inside the batch.
#
#   setting, models   functions, or the objects themselves; `models` may be NULL
#   takes             list(setting, models): the quantities that each is called with
#   inferred, held    names of quantities that are terms of the prior; a list of those that `fixed` holds
#   like              a setting and models as returned at a first point, which all others have to resemble
#   codec, at         with learned dynamics: how their laws and terms belong together (infer-dynamics.R), and the
#                     fractions that are used unless others are given. `setting` is then a function of them first of
#                     all, or a setting whose laws they replace
#   plain             with learned dynamics: whether `setting` puts laws into a setting and does nothing else with them
#   follows           whether `models` differ where the laws of the setting do
#   step              how far `models` are from these laws, where that is all that they do: perturb_models()'s
#                     by, vary and apart
#
# A world is list(setting, models), both as a user's functions returned them, and checked.

is_recipe <- function(setting, models) is.function(setting) || is.function(models)

# The quantities that a function takes: its arguments, without those that the package itself gives.
quantities_of <- function(f, argument, given = NULL) {
  if (!is.function(f)) return(list(all = character(), needed = character()))
  if (is.primitive(f)) abort_input(argument, "must be a function with named arguments, such as function(accuracy) ....")
  arguments <- formals(f)
  needed <- vapply(arguments, function(one) is.name(one) && !nzchar(as.character(one)), NA)
  names <- setdiff(names(arguments), c("...", given))
  list(all = setdiff(names, parameter_terms()), needed = setdiff(names(arguments)[needed], c("...", given)))
}

# `inferred`: terms of the prior that are not parameters of an agent; `fixed`: what is held, including quantities.
# `given`: the argument of `setting` that takes learned dynamics.
read_recipe <- function(setting, models, inferred, fixed, given = NULL) {
  if (!is_recipe(setting, models) && is.null(given)) {
    if (length(inferred)) refuse_unknown_term(inferred[1])
    return(NULL)
  }
  if (!is.null(given)) need_dynamics_argument(setting)
  if (is_group_list(setting) || is_group_list(models)) {
    which <- if (is_group_list(setting)) "setting" else "models"
    other <- setdiff(c("setting", "models"), which)
    abort_input(which, "cannot be a list, one per group, where `", other, "` is a function: give a list of both. For ",
                "several problems that each person meets, say by `problem` which column names them.")
  }
  of <- list(setting = quantities_of(setting, "setting", given), models = quantities_of(models, "models", "setting"))
  used <- unique(c(of$setting$all, of$models$all))
  stray <- setdiff(inferred, used)
  if (length(stray)) {
    abort_input(stray[1], "has a prior, but neither `setting` nor `models` is a function of it",
                if (length(used)) paste0("; they are functions of ", enumerate(used)), ".")
  }
  held <- fixed[intersect(names(fixed), used)]
  for (name in names(held)) {
    if (!is.numeric(held[[name]]) || !length(held[[name]]) || any(!is.finite(held[[name]]))) {
      abort_input("fixed", "must hold finite numbers for ", enumerate(name), ", not ", describe(held[[name]]), ".")
    }
  }
  for (argument in names(of)) {
    lost <- setdiff(of[[argument]]$needed, c(inferred, names(held)))
    if (length(lost)) refuse_lost_quantity(argument, lost[1])
  }
  known <- c(inferred, names(held))
  list(setting = setting, models = models, takes = lapply(of, function(one) intersect(one$all, known)),
       takes_setting = is.function(models) && "setting" %in% names(formals(models)),
       inferred = inferred, held = held)
}

need_dynamics_argument <- function(setting) {
  if (!is.function(setting) || is.primitive(setting) || length(formals(setting))) return(invisible())
  abort_input("setting", "must take the learned dynamics as its first argument, as in function(dynamics) ",
              "decision_setting(dynamics$states, ...).")
}

refuse_unknown_term <- function(term) {
  abort_input(term, "is not a term that can be inferred; there are ", enumerate(parameter_terms(), most = Inf),
              " and utility(state, action). If `setting` or `models` is a function, its arguments can be too.")
}

refuse_lost_quantity <- function(argument, name) {
  if (name %in% parameter_terms()) {
    abort_input(argument, "is a function of `", name, "`, which is a parameter of the agent: call the argument ",
                "something else, or give it a default.")
  }
  abort_input(argument, "is a function of `", name, "`, which is neither inferred nor held: state a prior, such as ",
              name, " ~ beta(8, 2), name it in `fixed`, or give the argument a default.")
}

# Terms of a prior that are not parameters of an agent.
quantity_terms <- function(prior) {
  if (!inherits(prior, "ibrc_prior")) return(character())
  setdiff(names(prior), c(parameter_terms(), utility_names(prior), simplex_names(prior)))
}
utility_names <- function(prior) names(Filter(function(entry) !is.null(entry$state), unclass(prior)))
simplex_names <- function(prior) names(Filter(function(entry) !is.null(entry$simplex), unclass(prior)))

# With the world at the middle of the prior, which all others must resemble, and a check at a second point.
open_recipe <- function(recipe, prior) {
  own <- unclass(prior)[recipe$inferred]
  values <- function(p) recipe_values(recipe, quantity_quantiles(own, p), own)
  middle <- values(0.5)
  recipe$like <- world_at(recipe, middle, recipe_dynamics(recipe))
  recipe$seen <- all_seen(validate_ibrc_models(recipe$like$models, recipe$like$setting))
  nearby <- if (!is.null(recipe$codec)) {
    stats::plogis(stats::qlogis(recipe$at) + rep_len(c(0.3, -0.2, 0.1), length(recipe$at)))
  }
  other <- world_at(recipe, values(0.4), recipe_dynamics(recipe, nearby))
  recipe$follows <- models_follow(recipe, middle, nearby, other)
  recipe$plain <- !is.null(recipe$codec) && puts_laws(recipe$setting) &&
    only_laws_differ(recipe$like$setting, other$setting, recipe_dynamics(recipe, nearby))
  recipe$step <- step_of_recipe(recipe, nearby)
  recipe
}

# One row. If nearly all the mass of a prior is at the ends of its range, R itself warns about its middle.
quantity_quantiles <- function(prior, p) {
  for (name in names(prior)) {
    tryCatch(prior_quantile(prior[name], p), warning = function(w) {
      abort_input(name, "has a prior that lies at the ends of its range, so its middle cannot be computed: ",
                  "state one that says more, such as ", name, " ~ beta(1, 1).")
    })
  }
  prior_quantile(prior, p)
}

# Whether models differ where laws do. `other`: the world at other values, with laws nearby.
models_follow <- function(recipe, middle, nearby, other) {
  if (is.null(recipe$codec) || is.null(recipe$models) || !length(nearby)) return(TRUE)
  if (!recipe$takes_setting) return(FALSE)
  if (length(recipe$inferred)) other <- world_at(recipe, middle, recipe_dynamics(recipe, nearby))
  numbers <- function(world) unlist(list(valid_stack(world$models, world$setting), world$models$weights))
  before <- numbers(recipe$like)
  after <- numbers(other)
  length(before) != length(after) || max(abs(before - after)) > 1e-12
}

# Quantities by name, from one row of natural values.
recipe_values <- function(recipe, natural, prior) {
  if (!length(recipe$inferred)) return(recipe$held)
  at <- match(recipe$inferred, names(prior))
  c(stats::setNames(as.list(natural[1, at]), recipe$inferred), recipe$held)
}

# Learned dynamics at a row of fractions, NULL where there are none.
recipe_dynamics <- function(recipe, fractions = NULL) {
  if (is.null(recipe$codec)) return(NULL)
  if (is.null(fractions)) fractions <- recipe$at
  # Exact to the last digit, where they are held.
  if (identical(fractions, recipe$codec$estimate)) return(recipe$codec$iohmm)
  dynamics_at(recipe$codec, vectors_of(recipe$codec, matrix(fractions, 1))[1, ])
}

# Whether a setting equals another with these laws in it. Then the function need not be called at every step.
only_laws_differ <- function(like, setting, dynamics) {
  close <- function(a, b) identical(dim(a), dim(b)) && max(abs(a - b)) < 1e-9
  same_laws <- all(vapply(law_names, function(law) close(setting[[law]], dynamics[[law]]), NA))
  others <- setdiff(union(names(like), names(setting)), c(law_names, "belief_utility", "start_share"))
  nodes <- diag(length(like$states))
  nodes <- rbind(nodes, 0.8 * nodes + 0.2 / nrow(nodes), 0.3 * nodes + 0.7 / nrow(nodes))
  colnames(nodes) <- like$states
  same_laws && identical(unclass(like)[others], unclass(setting)[others]) &&
    identical(belief_utility_at(like, nodes), belief_utility_at(setting, nodes))
}

# Models that are a step away from the laws of a setting need not be asked for either.
# `nearby`: fractions of other laws. What is made here must be the same there as what the function returns.
step_of_recipe <- function(recipe, nearby) {
  step <- recipe$like$models$step
  if (!isTRUE(recipe$plain) || !length(nearby) || recipe$seen || !takes_step(recipe$models) || step$apart) return(NULL)
  expected <- law_of(world_at(recipe, list(), recipe_dynamics(recipe, nearby)), recipe, list())
  recipe$step <- step
  recipe$vectors <- vectors_of(recipe$codec, matrix(nearby, 1))
  if (identical(stepped_laws(recipe, 1L), list(expected))) step
}

# What the function returned when the recipe was opened, should a variable that it uses have changed since then: all
# that is made of a fit is to know the same models as its chains.
step_models <- function(recipe, setting) {
  out <- perturb_models(setting, recipe$step$by, recipe$step$vary)
  # Where a law has become certain there are fewer models, which check_world() refuses.
  if (n_models(out) == n_models(recipe$like$models)) out$weights <- recipe$like$models$weights
  out
}

# `dynamics`: learned dynamics, which `setting` is a function of; where it only takes their laws, these are enough.
world_at <- function(recipe, values, dynamics = NULL) {
  setting <- recipe$setting
  if (isTRUE(recipe$plain)) {
    setting <- recipe$like$setting
    setting[law_names] <- dynamics[law_names]
  } else if (is.function(setting)) {
    setting <- ask_recipe(setting, c(if (!is.null(dynamics)) list(dynamics), values[recipe$takes$setting]), "setting",
                          values)
  } else if (!is.null(dynamics)) {
    setting[law_names] <- dynamics[law_names]
  }
  if (!inherits(setting, "ibrc_setting")) {
    abort_input("setting", "must return a setting, as from decision_setting(); ", at_values(values), "it returned ",
                describe(setting), ".")
  }
  models <- if (is.null(recipe$step)) recipe$models else function(setting) step_models(recipe, setting)
  if (is.function(models)) {
    models <- ask_recipe(models, c(if (recipe$takes_setting) list(setting = setting), values[recipe$takes$models]),
                         "models", values)
  } else if (is.null(models)) {
    models <- own_model(setting)
  }
  if (!inherits(models, "ibrc_models")) {
    abort_input("models", "must return a model prior, as from model_prior(); ", at_values(values), "it returned ",
                describe(models), ".")
  }
  check_world(list(setting = setting, models = models), recipe, values)
}

# An error in the user's own function says at which values it came up.
ask_recipe <- function(f, arguments, argument, values) {
  tryCatch(do.call(f, arguments), error = function(e) {
    abort_input(argument, "is a function that failed ", at_values(values), "with the message: ",
                shortened(plain_words(e)))
  })
}

# R's own messages may contain everything that a function was called with.
longest_message <- 300

shortened <- function(message) {
  message <- as_utf8(message)
  if (nchar(message) > longest_message) paste0(substr(message, 1, longest_message), " ...") else message
}

at_values <- function(values) {
  if (!length(values)) return("")
  paste0("at ", paste(names(values), "=", vapply(values, function(x) {
    paste(format(x, digits = 4, trim = TRUE), collapse = ", ")
  }, ""), collapse = ", "), " ")
}

# Only numbers may differ from point to point.
check_world <- function(world, recipe, values) {
  if (is.null(recipe$like)) return(world)
  # Laws that were put into a setting leave the rest as it was.
  if (!isTRUE(recipe$plain)) check_setting_like(world$setting, recipe$like$setting, values)
  n_models <- length(recipe$like$models$weights)
  if (length(world$models$weights) != n_models) {
    abort_input("models", "must return as many models at all values; ", at_values(values), "there are ",
                length(world$models$weights), ", and at the middle of the prior ", n_models, ".")
  }
  world
}

check_setting_like <- function(setting, like, values) {
  for (part in c("states", "actions", "observations", "stop_actions")) {
    if (!identical(setting[[part]], like[[part]])) {
      abort_input("setting", "must return the same ", sub("_", " ", part), " at all values, in the same order; ",
                  at_values(values), "they differ from those at the middle of the prior.")
    }
  }
  start <- setting$start
  if (!identical(setting$start_by, like$start_by) || !identical(start_groups(setting), start_groups(like))) {
    abort_input("setting", "must return starts of the same groups (`start_by`) at all values, in the same order; ",
                at_values(values), "they differ from those at the middle of the prior.")
  }
  rows <- if (is.matrix(start)) start else matrix(start, 1)
  if (!is.numeric(start) || ncol(rows) != length(setting$states) || !isTRUE(all(start >= 0)) ||
      any(abs(rowSums(rows) - 1) > sum_tolerance)) {
    abort_input("setting", "must return a setting whose `start` are probabilities; ", at_values(values),
                "they are not.")
  }
  if (!is.numeric(setting$utility) || !all(is.finite(setting$utility))) {
    abort_input("setting", "must return a setting whose `utility` is finite; ", at_values(values), "it is not.")
  }
}

# What kernels read of a world, in the form of build_problem().
law_of <- function(world, recipe, values, stack = valid_stack(world$models, world$setting)) {
  if (!is.null(stack$row_start) != recipe$seen) {
    abort_input("models", "must let the state be seen at all values or at none; ", at_values(values),
                "it is not as at the middle of the prior.")
  }
  weights <- unname(world$models$weights)
  if (!is.null(recipe$tilt)) {
    weights[recipe$tilt] <- 2 * weights[recipe$tilt]
    weights <- weights / sum(weights)
  }
  list(models = stack, weights = weights, start = kernel_starts(world$setting))
}

# law_of() of models that are a step away from laws in these rows of recipe$vectors; NULL where anything is unusual.
stepped_laws <- function(recipe, which) {
  if (is.null(recipe$step)) return(NULL)
  like <- recipe$like
  dynamics <- lapply(which, function(i) laws_from(recipe$codec, recipe$vectors[i, ]))
  stacks <- stepped_stacks(dynamics, recipe$step, length(like$models$weights))
  if (is.null(stacks)) return(NULL)
  Map(function(dynamics, stack) {
    like$setting$start <- dynamics$start
    law_of(like, recipe, list(), stack)
  }, dynamics, stacks)
}

# The worlds of many rows of natural values: laws and, for a setting that is a function, rewards [cell, row] and
# discounts. `utility_of(utility, row)` puts inferred entries in.
worlds_of <- function(recipe, natural, prior, space, utility_of = NULL) {
  n <- nrow(natural)
  # Rows with the same dynamics, and without their own quantities, share a world.
  which <- if (!is.null(recipe$codec)) natural[, ncol(natural)]
  first <- if (is.null(recipe$codec) || length(recipe$inferred)) seq_len(n) else match(which, which)
  distinct <- match(first, unique(first)) - 1L
  stepped <- stepped_laws(recipe, which[unique(first)])
  if (!is.null(stepped)) return(list(laws = stepped, law = distinct))
  rewards <- discount <- NULL
  from_vector <- if (isTRUE(recipe$plain)) laws_from else dynamics_at
  values <- lapply(unique(first), function(i) recipe_values(recipe, natural[i, , drop = FALSE], prior))
  worlds <- Map(function(i, values) {
    dynamics <- if (!is.null(recipe$codec)) from_vector(recipe$codec, recipe$vectors[which[i], ])
    world <- world_at(recipe, values, dynamics)
    if (setting_varies(recipe)) {
      setting <- world$setting
      mine <- base::which(first == i)
      rewards <<- cbind(rewards, vapply(mine, function(row) {
        if (!is.null(utility_of)) setting$utility <- utility_of(setting$utility, row)
        as.vector(t(reward_at_nodes(setting, space)))
      }, numeric(space$n_nodes * length(setting$actions))))
      discount <<- c(discount, rep(setting$discount, length(mine)))
    }
    world
  }, unique(first), values)
  laws <- Map(law_of, worlds, list(recipe), values, valid_stacks(worlds))
  order <- order(first)
  if (!is.null(rewards)) rewards[, order] <- rewards
  if (!is.null(discount)) discount[order] <- discount
  list(laws = laws, law = distinct, rewards = rewards, discount = discount)
}

# Whether the utility may differ from point to point.
setting_varies <- function(recipe) is.function(recipe$setting) && !isTRUE(recipe$plain)

# The problem at one row of natural values, made from `problem`, which is that at the middle of the prior. Fractions of
# learned laws are in the columns of their names.
recipe_problem <- function(recipe, natural, prior, problem) {
  terms <- names(recipe$codec$prior)
  fractions <- if (length(terms) && all(terms %in% colnames(natural))) natural[1, terms]
  world <- world_at(recipe, recipe_values(recipe, natural, prior), recipe_dynamics(recipe, fractions))
  out <- build_problem(world$setting, world$models, problem$resolution, problem$interpolate, problem$surprise)
  # A worth of beliefs may be known only by its values (resume()).
  if (!setting_varies(recipe)) out$reward <- problem$reward
  out
}
