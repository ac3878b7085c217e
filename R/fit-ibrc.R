#' Infer how bounded behaviour looks
#'
#' Draws from the posterior of an agent's parameters given what was observed and
#' done: how flexible, optimistic and adaptive the decision maker looks, under a
#' stated setting and proper priors.
#'
#' Chains and groups share the threads of `cores`. With more than one group and a
#' `future::plan()` other than `"sequential"`, every group runs in a process of that
#' plan instead, on this machine or another, each with `cores` threads (one in forked
#' processes); that needs the package future.apply. Draws are the same either way. Progress
#' and checkpoints then come a round of `refresh` steps at a time, and an interrupt
#' gives back the last whole round.
#'
#' @section Groups with dynamics of their own:
#' Where the course of a disease differs between groups, each may be planned for with its
#' own dynamics: give `setting`, `models` or both as lists named by the groups in `by`
#' (those of several columns are named such as `"female, carrier"`). The
#' settings must have the same states, actions, observations and stop actions, in the same
#' order; dynamics, start, utility and discount may differ. The prior is the same in
#' every group, by default on the scale of the largest utilities. Everything that looks
#' at such a fit, from [augment()][augment.ibrc_fit] to [loo()], plans for each group with
#' its own dynamics. States that were learned apart in each group ([fit_iohmm()]) mean the
#' same only as far as they were ordered alike (its `sort_by`).
#'
#' @section Groups that start differently:
#' Where the patients of one group are sicker from their first visit on, and all else is shared, give the setting starts
#' that differ ([decision_setting()], or [fit_iohmm()] with `start_by`): every trajectory then begins with the belief of
#' its own group of `start_by`, whatever `by` is. With one start for all, decision makers who are the same look more
#' pessimistic, or more optimistic, where the sicker patients are. With `dynamics` and `"joint"` or `"cut"` (see below)
#' starts that were learned are inferred, as all laws are, or drawn. In a setting made from learned dynamics, and with
#' `"none"`, they are held as they were estimated, and intervals do not know of their error: learn them from many more
#' trajectories than are fitted, where there are more. The columns in `start_by` must be in `visits`, and in whatever
#' visits the fit is asked about later.
#'
#' @section Functions of named quantities:
#' `setting` and `models` may be functions of quantities that are not known: what the decision maker takes the accuracy
#' of a test to be, say, or one cost that stands in several entries of the utility. Each of their arguments is then a
#' quantity, inferred where it has a prior ([ibrc_prior()]), held where it is in `fixed`, and else at the default of the
#' function. `models` may also have an argument `setting`, which gets the setting at the same values. For instance
#'
#' ```
#' ibrc(visits, diag_setting(), models = function(setting, accuracy) {
#'   perturb_models(diag_setting(accuracy = accuracy), by = 0.1)
#' }, prior = ibrc_prior(alpha ~ lognormal(0, 1), accuracy ~ beta(14, 6)))
#' ```
#'
#' Functions must return a setting with the same states, actions and observations, and as many models, at all values;
#' they are called for every proposal of a sampler, and should be quick. An error in one ends the run, with the
#' values at which it came up: see that the prior leaves out what the function cannot take. The functions of a
#' fit are called again by whatever looks at its draws; no file holds them, so that [resume()] asks for them.
#'
#' @section Learned dynamics:
#' With `dynamics`, a model from [fit_iohmm()], `setting` is a function of it (such as [adni_setting()], whose first
#' argument it is) or a setting whose laws it replaces, and `models` a function of the setting, such as
#' `function(setting) perturb_models(setting, by = 0.1)`. For a problem of one's own the first is, for instance,
#'
#' ```
#' wanted <- function(dynamics) {
#'   as_setting(dynamics, utility = cbind(wait = c(0, -4), treat = c(-2, -3)), discount = 0.9)
#' }
#' ```
#'
#' whose states, actions and observations are those of the learned model. A setting that is no function must have the
#' same ones, in the same order, and one whose own laws plainly fit the learned states in another order gets a warning:
#' learn the dynamics with `sort_by` of [fit_iohmm()] before you name states.
#'
#' What is done about the dynamics not being known is said by `uncertainty`:
#'
#' * `"joint"`: one posterior of dynamics and agents, from what was seen and what was done together. What people do says
#'   much about the dynamics that they act on, often more than what they saw. It **assumes that the decision
#'   makers know the dynamics**, up to what `models` leaves open. Laws keep the Dirichlet priors of the learned model
#'   ([iohmm_prior()]), what is impossible stays impossible, and groups share them. Chains start about the top of the
#'   posterior and have all its terms, so they take more steps than others: thousands, until laws and agents agree.
#'   States that change places are counted, and the verdict says so. [tidy()][tidy.ibrc_fit] with `"dynamics"` shows
#'   the laws.
#' * `"cut"`: the actions say nothing about the dynamics. Twenty draws of the dynamics ([model_draws()]) are fitted one
#'   by one, with `chains` chains each, and pooled; a summary has the variance within and between them. For
#'   who doubts that the decision makers know the dynamics. `rhat` is that within draws, the worst of them.
#' * `"none"`: held at their estimate. Intervals are then too short, and levels may be far off.
#'
#' Everything that looks at draws of such a fit plans for each draw with its own dynamics, and averages:
#' [predict()][predict.ibrc_fit], [log_lik()], [belief_paths()], [plot_simplex()], [decision_effects()], checks and
#' reports. [project_behavior()] and [profile_likelihood()] hold the laws at their medians, and say so. [kfold()] infers
#' them again; [sensitivity_analysis()] weighs draws; [loo()] is refused for `"cut"`.
#'
#' With a `file`, checkpoints are written as of any fit, from the first step on: they hold the learned model and, for
#' `"joint"`, the visits that it was learned from, coded and without identifiers. [resume()] asks
#' for `setting` and `models` again where they were functions, and gives the same draws. An interrupt while `"joint"`
#' climbs to the top, or `"cut"` draws dynamics, is an error of class `ibrc_error_interrupted`: there are no draws yet.
#' Chains of `"joint"` are one set for all groups, and run in this process whatever the `future::plan()`; those of
#' `"cut"` are spread as groups are, one per draw and group.
#'
#' @section A posterior per person:
#' With the column of identifiers in `by`, every trajectory is a group. A fit keeps no identifiers, so these groups are
#' called `trajectory 1`, `trajectory 2` and so on, in the order in which identifiers first appear in `visits`: that of
#' `who <- unique(visits$id)`, or whatever the column is called. With `by = "id"`, whose row is whose is said by
#' `merge(tidy(fit), data.frame(group = paste("trajectory", seq_along(who)), id = who))`.
#'
#' Functions that take visits as well, such as [augment()][augment.ibrc_fit] and [belief_paths()], then take those that
#' the fit was made from, all of them and in the same order, and need a fit that has kept its data: elsewhere the
#' numbers mean nothing. Where identifiers may stand in the fit, name a copy of their column in the `covariates` of
#' [trajectories()] and group by that. A single person's visits are often few, and the posterior then says little that
#' the prior did not.
#'
#' @section People who differ:
#' With `effects`, every person has an agent of their own. What these agents have in common is inferred together with
#' them. On the left of each formula stands a term of `prior`. On the right stands what the term may differ by: columns
#' among the `covariates` of [trajectories()] that do not change within a trajectory, and random intercepts.
#'
#' ```
#' fit <- ibrc(visits, setting, models, effects = list(optimism ~ arm + age + (1 | clinician), alpha ~ (1 | id)))
#' tidy(fit)                     # the population: coefficients and spreads
#' tidy(fit, effects = "people") # how far each clinician and person is from it
#' ```
#'
#' * **Coefficients.** `optimism` is the optimism of the reference: a person with the first level of each factor, with
#'   every number at its mean, and with a typical clinician. `optimism[armb]` says by how much arm b differs from that.
#'   `optimism[age]` is the change with one year. Numbers are counted from their mean before products are made. So with
#'   `age * arm`, `optimism[armb]` is the difference at the mean age. A number with two values is a flag, however it is
#'   coded, and is counted from the lower one. What stands in the formula is what is centred: `log(age)` at the mean of
#'   the logarithms, `I(age^2)` at the mean of the squares. Centre `age` beforehand if you want its square about the
#'   mean. Terms that are positive differ by factors: coefficients of `alpha` are differences of its logarithm. Numbers,
#'   text, factors and flags may be joined as in [lm()], with `+`, `*`, `:`, `^` and `I()`. They may be changed by
#'   functions of one value, such as `log()`. Make other columns, such as polynomials, beforehand.
#' * **Random intercepts**, `(1 | clinician)`. Levels are drawn from a normal distribution about the reference. Its
#'   standard deviation, `sd(optimism|clinician)`, is inferred. The estimate of a clinician with few visits leans on the
#'   other clinicians. The more clinicians differ, the less certain is a comparison of arms. Write
#'   `(1 | site/clinician)` for clinicians within sites, and `(1 | site) + (1 | year)` for crossed factors. Write
#'   `(1 | id)`, with the column of identifiers, for people. Intercepts of several terms are correlated if their
#'   formulas share a name between the bars, as in `(1 | p | id)`.
#' * **Priors.** The prior of a term is the prior of its reference. A coefficient has a normal prior about 0. It is as
#'   wide as the prior of its term, but at most 1 for logarithms. This width is for one level of a factor, or for one
#'   standard deviation of a number or of a product's column. So the choice of the reference level changes the default
#'   prior slightly: the other levels have a wider one. A spread has a half-normal prior that is half as wide.
#'   Correlations have the prior of Lewandowski, Kurowicka and Joe (2009) with shape 2. You can state other priors of
#'   coefficients and spreads beside those of the terms: `ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1),
#'   optimism[armb] ~ normal(0, 0.3), sd(optimism, clinician) ~ half_normal(0.2))`.
#' * **Cells.** People who are alike in all that the formulas name are one cell, which is solved for once. With 30 cells
#'   or more and up to three terms, log-likelihoods are interpolated between the points of a grid. The grid is made fine
#'   enough beforehand. During the run, interpolated values are compared with exact ones, and the verdict says how far
#'   they were off. See `cells` in [ibrc_control()].
#' * **What is refused.** Random slopes are refused. So are columns that say what other columns say, factors with one
#'   level, and values that are missing or change within a trajectory. `by` cannot be given beside `effects`: it is for
#'   groups that have nothing in common. `visits[!is.na(visits$arm), ]` leaves out the trajectories whose arm is
#'   missing.
#'
#' Files, [resume()], [extend_fit()] and interrupts work as for any fit, and draws do not depend on `cores`. There is
#' one set of chains for all people. It runs in this process whatever the `future::plan()`. With `dynamics`,
#' `uncertainty` means the same as for groups: laws are inferred with the population (`"joint"`), drawn beforehand
#' (`"cut"`) or held (`"none"`). Cells are interpolated only where laws are held. Elsewhere 200 cells or more get a
#' warning.
#'
#' @section Several problems, one decision maker:
#' Who faces several decision problems has one `alpha`, one `optimism`, one `habit` in all of them. Give `setting` as a
#' list named by problem and in `problem` the column, among the `covariates` of [trajectories()], that says which of
#' them a trajectory is of:
#'
#' ```
#' fit <- ibrc(visits, list(easy = diag_setting(accuracy = 0.8), hard = diag_setting(accuracy = 0.6)),
#'             models = function(setting) perturb_models(setting, by = 0.1), problem = "test")
#' pp_check(one_problem(fit, "hard"))
#' ```
#'
#' The problems may differ in everything, states, actions and observations included; `models` is a function of a setting
#' or a list by the same names. Log-likelihoods of a group, or of a cell of `effects`, add up over its problems. All
#' that is inferred or held is shared: an entry of the utility (`utility(state, action)`) has to be in every setting,
#' and with an `action_prior` all settings have the same actions. Discounts are those of the settings unless they are
#' inferred or held. [tidy()][tidy.ibrc_fit], [log_lik()], [loo()], [verdict()] and [predict()][predict.ibrc_fit] (where
#' actions are the same) take such a fit as it is, [behaviour_check()] has a column `problem`; for what looks at one
#' setting take [one_problem()]. Settings per group (`by`), functions of named quantities and `dynamics` are for one
#' problem.
#'
#' @section The sampler:
#' Metropolis-Hastings (Hastings 1970) on the scale on which priors are unbounded. As in
#' adaptive Metropolis (Haario, Saksman and Tamminen 2001) warm-up learns what to propose;
#' after it nothing is learnt. The article "math" of the site has the two moves.
#'
#' Before the chains start, some hundreds of scouts are led from the prior to the posterior by sequential Monte Carlo
#' (Del Moral, Doucet and Jasra 2006): they see long tails, and modes that lie apart, which a few chains can miss while
#' they agree with each other. Where they are too few to show a small mode in its shape, it is looked at more closely
#' (incremental mixture importance sampling, Raftery and Bao 2010). The chains start at some of them, and warm-up learns
#' from all. No scouts are sent where `start` is given, where warm-up is shorter than 100 steps, for more than 8 terms,
#' or without data.
#'
#' Unless `iter` is given, a run goes on until its chains agree: until R-hat is below 1.01 and the bulk and the tails of
#' every term in every group have 400 effective draws. It makes 2,000 steps at least, and at most `max_iter` of
#' [ibrc_control()]. With `uncertainty = "joint"` it makes 8,000 at least, and the laws of the dynamics must be mixed as
#' well: R-hat at most 1.05 and 100 effective draws of each. So must random intercepts be with `effects`.
#' [extend_fit()] goes on with a finished fit.
#'
#' @references Hastings (1970), Monte Carlo sampling methods using Markov chains and their
#'   applications, Biometrika 57. Haario, Saksman and Tamminen (2001), An adaptive
#'   Metropolis algorithm, Bernoulli 7. Del Moral, Doucet and Jasra (2006), Sequential Monte Carlo samplers, Journal of
#'   the Royal Statistical Society B 68. Raftery and Bao (2010), Estimating and projecting trends in HIV/AIDS
#'   generalized epidemics using incremental mixture importance sampling, Biometrics 66. Lewandowski, Kurowicka and Joe
#'   (2009), Generating random correlation matrices based on vines and extended onion method, Journal of Multivariate
#'   Analysis 100.
#'
#' @param visits Trajectories ([trajectories()]).
#' @param setting The setting ([decision_setting()]): what should be wanted. Or a list of
#'   settings, one per group, or one per `problem`; or a function of named quantities that returns a setting (see
#'   below).
#' @param models What the decision maker may believe about the dynamics
#'   ([model_prior()], [perturb_models()]); the setting's own dynamics by default. Optimism is a leaning to some
#'   models over others, so it takes more than one. Or a list of them, one per group; or a function that
#'   returns them (see below).
#' @param prior What is inferred, and its prior ([ibrc_prior()]). By default alpha,
#'   optimism and eta, weakly informative on the scale of the utility, without what is `fixed`, and without
#'   optimism where there is one model only.
#' @param fixed A named list of what is held: any of `alpha`, `beta`, `eta` (or
#'   their inverses), `discount`, `habit` and `action_prior` (probabilities, by name or in the actions' order). What is
#'   neither inferred nor fixed is perfectly rational, but `alpha` must be one or the other; the action prior is then
#'   uniform. The belief prior is constant: a fit has no other.
#' @param by Names of columns, among the `covariates` of [trajectories()]: a posterior for each group. Or the
#'   column of identifiers: a posterior for each trajectory (see below).
#'   Groups stand in the order of a factor's levels, of numbers by size, and of text letter by letter, capitals
#'   first (as in the locale `C`, in every locale); what is missing, blank text included, comes last and is
#'   called `missing`. With
#'   several columns, a group is called by their values with commas between, `female, carrier`. A value that has a
#'   comma and a blank in it then stands in quotes, and so does the text `missing` where there are missing values
#'   beside it: no two groups are merged. Numbers that differ beyond the 15 digits R writes have all their digits; dates
#'   and times that differ and are written the same are refused.
#' @param chains Chains per group.
#' @param iter Steps per chain, warm-up included. `NULL` goes on until the chains agree, see *The sampler*.
#' @param warmup How many of the steps learn what to propose, and are dropped: half of `iter` by default, or the first
#'   1,000 (4,000 where dynamics are inferred with the agents).
#' @param cores Threads to use. Draws do not depend on it. Give no more than there are
#'   idle processors: GNU's OpenMP lets threads that wait keep theirs busy, and on a
#'   full machine two threads can be slower than one. `OMP_WAIT_POLICY=passive` in the
#'   environment, set before R starts, makes them wait quietly.
#' @param seed A number that makes the draws repeatable; `NULL` takes one from the
#'   session's generator, which moves on by one draw. Otherwise the generator is
#'   left as it was. The fit has the one used as its `seed`.
#' @param refresh Show progress every so many steps; 0 for none. By default 200 in
#'   an interactive session.
#' @param file A path to write checkpoints to, every `refresh` steps (every 200 where
#'   no progress is shown) and at the end; [resume()] goes on from it. `NULL` writes
#'   nothing. A path that cannot be written to is an error before anything is computed. If
#'   a later checkpoint fails, because the disk is full, say, a warning says so, the run goes
#'   on and the checkpoint before it stays. A file that is there already is not
#'   touched (see `overwrite` in [ibrc_control()]), nor one that another process is writing to.
#' @param sample_prior `"only"` draws from the prior alone.
#' @param resolution How finely beliefs are told apart, as in [plan_agent()].
#' @param control How it is computed and what is kept: see [ibrc_control()], which has `tolerance`, `interpolate`,
#'   `surprise`, `sampler`, `thin`, `start`, `max_iter`, `keep_data`, `overwrite`, `check` and `cells`. A list of some
#'   of these does as well.
#' @param dynamics Learned dynamics ([fit_iohmm()]) that are not to be taken as known (see below).
#' @param uncertainty What is done about that: `"joint"`, `"cut"` or `"none"`. Without `dynamics` it plays no part.
#' @param effects Formulas that say how terms differ from person to person, such as
#'   `list(optimism ~ age + (1 | site), alpha ~ (1 | id))`: see *People who differ*.
#' @param problem With a list of settings, the column that says which of them a trajectory is of: see *Several problems,
#'   one decision maker*.
#' @param ... Nothing. What stood here in earlier versions and is in [ibrc_control()] now gets an error that says what
#'   to write instead.
#'
#' @return An object of class `ibrc_fit`. To read it, see [summary()][summary.ibrc_fit],
#'   [tidy()][tidy.ibrc_fit] and [as.data.frame()][as.data.frame.ibrc_fit].
#' @seealso [ibrc-package] lists every function of the package by task; `vignette("ibrc")` begins at the
#'   beginning.
#' @family inference
#' @aliases ibrc_fit
#' @export
#' @examples
#' setting <- diag_setting()
#' optimist <- plan_agent(setting, bounded_agent(alpha = 0.5, beta = 1.25), diag_models())
#' visits <- simulate(optimist, nsim = 100, seed = 1)
#' fit <- ibrc(visits, setting, diag_models(),
#'             prior = ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1)),
#'             chains = 2, iter = 400, seed = 1)
#' fit
#' tidy(fit)
#'
#' # Other chains, from where these ended, by the paper's own walk
#' again <- ibrc(visits, setting, diag_models(), fit$prior, chains = 2, iter = 400, seed = 2,
#'               control = ibrc_control(sampler = "paper", start = fit))
#' again$start
ibrc <- function(visits, setting, models = NULL, prior = default_prior(setting), fixed = list(), by = NULL,
                 chains = 4, iter = NULL, warmup = NULL,
                 cores = getOption("ibrc.cores", 1), seed = NULL, refresh = default_refresh(), file = NULL,
                 sample_prior = c("no", "only"), resolution = 100, control = ibrc_control(), dynamics = NULL,
                 uncertainty = c("joint", "cut", "none"), effects = NULL, problem = NULL, ...) {
  refuse_others("ibrc", names(formals()), names(formals(ibrc_control)), ...)
  check_given(visits, setting)
  uncertainty <- check_choice(uncertainty, c("joint", "cut", "none"), "uncertainty")
  if (is.null(dynamics)) need_learned(setting, c(if (!missing(prior)) names(prior), names(fixed)))
  if (is.null(dynamics)) uncertainty <- "none" else if (is.null(problem)) check_dynamics(dynamics, setting) else
    refuse_several_dynamics()
  if (uncertainty != "none") {
    need_visits(dynamics, paste0("uncertainty = \"", uncertainty, "\""), "dynamics")
    refuse_fixed_models(models)
    refuse_same_names(dynamics)
  }
  stated <- if (missing(prior)) list() else split_prior(prior)
  if (length(stated)) prior <- stated$agent
  inverse <- read_inverse(visits, setting, models, prior, fixed, by, missing(prior), dynamics, uncertainty != "none",
                          problem)
  design <- if (is.null(effects)) refuse_effect_priors(stated$effects) else
    read_population(effects, visits, inverse, stated$effects, by)
  if (uncertainty != "none") refuse_still_models(inverse$recipe)
  control <- as_control(control)
  if (uncertainty == "joint" && is.null(iter) && is.null(warmup)) warmup <- joint_warmup
  run <- check_run(chains, iter, warmup, control$thin, cores, refresh, control$max_iter)
  sample_prior <- check_choice(sample_prior, c("no", "only"), "sample_prior")
  lock <- if (!is.null(file)) new_lock(file)
  on.exit(release_lock(lock))
  found <- claim_file(file, lock, control$overwrite)
  inverse <- if (is.null(design)) group_inverse(inverse, visits, by) else group_by_cell(inverse, design)
  n_groups <- nlevels(inverse$group)
  if (is.null(design)) refuse_large_run(run, n_groups, length(inverse$prior)) else
    refuse_large_run(run, if (uncertainty == "cut") cut_draws else 1,
                     population_size(population_shape(design$design, inverse$prior)) +
                       if (uncertainty == "joint") length(inverse$recipe$codec$prior) else 0)
  tell_inverse(inverse, cells = !is.null(design))
  inverse <- build_inverse(inverse, resolution, control, run$cores)
  if (!is.null(design)) inverse$effects <- design$design
  if (uncertainty == "cut") {
    # One seed for the dynamics and for the chains: the fit's.
    seed <- settle_seed(seed)
    inverse <- with_cut(inverse, cut_laws(inverse$recipe, dynamics, seed), run$cores)
    n_groups <- nlevels(inverse$group)
  }
  if (is.null(design)) refuse_many_values(run, n_groups, values_of(inverse))
  if (!is.null(design)) {
    begun <- new_population_run(inverse, run, control, seed, sample_prior == "no", found,
                                if (uncertainty == "joint") dynamics_tree(dynamics))
    return(finish_job(begun$job, begun$chain, file, found = found, check = control$check))
  }
  if (uncertainty == "joint") {
    begun <- new_joint_run(inverse, dynamics, run, control, seed, sample_prior == "no", found)
    return(finish_job(begun$job, begun$chain, file, found = found, check = control$check))
  }
  chain_group <- rep(seq_len(n_groups), each = run$chains)
  evaluator <- inverse_evaluator(inverse, chain_group, run$cores, likelihood = sample_prior == "no")
  run$seed <- settle_seed(seed)
  job <- list(inverse = inverse, evaluator = evaluator, run = run, sampler = control$sampler,
              keep_data = control$keep_data)
  # Another run's file is refused before scouts are sent; where chains begin is not known then.
  if (!is.null(found) && is.null(control$start)) {
    refuse_other_run(found, job_fingerprint(job_to_plain(job)), but = "start")
  }
  start <- if (inherits(control$start, "ibrc_fit")) last_draws(control$start) else control$start
  begun <- begin_chains(evaluator, start, run, control$sampler, evaluator$n_values,
                        apart = n_groups > 1 && can_spread())
  job$run$start <- begun$start
  finish_job(job, begun$chain, file, found = found, check = control$check)
}
