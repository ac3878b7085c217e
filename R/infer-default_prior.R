# Prices are in units of utility, so the range R of the utility sets their scale, and priors follow a
# change of its units. (The worth of a belief is left out: the range of a function is not known.)
#
# alpha: at 2 R choices are nearly random, at R / 10,000 all but ties are settled. The central 95% of
# lognormal(log(R / 200), 3) goes from R / 70,000 to 1.8 R: 0.0006 to 82 on DIAG, where R is 46 and the
# paper's agents have 0.001 to 10.
# eta: it weighs the surprise of a visit, of the order of 1 nat, against its utility, so the same range
# goes from no effect to one as large as the utility's own; the paper's agents have 0.001 to 75.
# optimism: signed, and 0 is neutral, so its prior is centred there rather than stated on beta. Models
# differ in value by some 5% of R on DIAG; normal(0, 50 / R) has its central 95% within 98 / R of neutral,
# where nine tenths of the belief are on one of three models. On DIAG that is 2.1 to either side; the
# paper's agents have 0.8 and -1.3.
#
# habit: log odds, in no units of utility. It is inferred where a prior names it, and 0 otherwise; normal(0, 1) is a
# sound choice, with its central 95% at odds of 1 to 7 either way.
#
# `without`: quantities (alpha, beta, eta) that are not to be inferred.
default_prior <- function(setting, without = character()) {
  spread <- diff(range(setting$utility))
  if (spread == 0) {
    abort_input("prior", "is needed: every action is worth the same in every state of this setting, ",
                "so that its utility sets no scale for a default.")
  }
  default <- function(term, distribution, args) {
    label <- paste0(distribution, "(", paste(as_text(signif(args, 3)), collapse = ", "), ")")
    new_prior_entry(term, distribution, args, label = label)
  }
  price <- c(meanlog = log(spread / 200), sdlog = 3)
  entries <- list(
    alpha = default("alpha", "lognormal", price),
    beta = default("optimism", "normal", c(mean = 0, sd = 50 / spread)),
    eta = default("eta", "lognormal", price)
  )
  left <- setdiff(names(entries), without)
  if (!length(left)) {
    abort_input("prior", "is needed: what is inferred by default is held by `fixed`, or without effect.")
  }
  new_ibrc_prior(entries[left])
}

# What a default prior leaves out: what is held, and optimism if there is only one model, which leaves no choice.
not_inferred <- function(fixed, models) {
  c(if (is.list(fixed)) quantity_of(names(fixed)), if (is_one_model(models)) "beta")
}

is_one_model <- function(models) {
  if (is_group_list(models)) return(all(vapply(models, is_one_model, NA)))
  is.null(models) || inherits(models, "ibrc_models") && n_models(models) == 1
}

# A prior of optimism without any effect gives a warning; by default optimism is left out, with a message.
tell_one_model <- function(prior, models, fixed, by_default) {
  if (!is_one_model(models) || "beta" %in% quantity_of(names(fixed))) return(invisible())
  if (by_default) {
    message("Optimism is not inferred: it needs more than one model of the dynamics. To infer it, give `models`, ",
            "such as perturb_models(setting).")
  } else if ("beta" %in% quantity_of(prior_terms(prior))) {
    warn("one_model", "`models` holds one model of the dynamics, so there is nothing to be optimistic about: ",
         "the posterior of ", intersect(c("optimism", "beta"), prior_terms(prior)), " will be its prior. ",
         "Give several, such as perturb_models(setting), or leave it out of `prior`.")
  }
}

# `quantities`: what a recipe holds besides the agent's parameters.
check_prior <- function(prior, setting, fixed, quantities = character()) {
  if (!is.null(prior)) check_class(prior, "ibrc_prior", "prior", "ibrc_prior()")
  prior <- validate_ibrc_prior(prior, setting)
  if (!is.list(fixed) || length(fixed) && is.null(names(fixed))) {
    abort_input("fixed", "must be a named list, such as list(eta = 0), not ", describe(fixed), ".")
  }
  known <- parameter_terms()
  unknown <- setdiff(names(fixed), c(known, quantities))
  if (length(unknown)) {
    abort_input("fixed", "names unknown ", enumerate(unknown), "; there are ", enumerate(known, 9), ".")
  }
  both <- intersect(quantity_of(names(fixed)), quantity_of(prior_terms(prior)))
  if (length(both)) abort_input("fixed", "holds ", enumerate(both), ", which `prior` infers: do one or the other.")
  if (!"alpha" %in% quantity_of(c(names(fixed), prior_terms(prior)))) {
    abort_input("prior", "or `fixed` must say what alpha (or flexibility) is: a perfectly flexible agent gives ",
                "probability 0 to all but the best action.")
  }
  agent <- do.call(bounded_agent, fixed[!names(fixed) %in% c("discount", quantities)])
  action_prior_of(agent, setting)
  if (!is.null(fixed$discount)) check_discount(fixed$discount, "fixed")
  prior
}
