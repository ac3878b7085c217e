# The problem of the article "nafld", shared with data-raw/vignette-nafld.R: who there is, how HDL moves, and what is
# wanted.
# `panel`: nafld_visits() of inst/bench/shared/accuracy.R.

# Who was a case, and what may differ between cases and controls beside it. Who is in no matched set is left out.
nafld_people <- function(panel) {
  panel <- as.data.frame(panel)
  person <- survival::nafld1[match(panel$id, survival::nafld1$id), ]
  panel$who <- factor(ifelse(person$case.id == person$id, "case", "control"), c("control", "case"))
  panel$sex <- factor(ifelse(person$male == 1, "male", "female"))
  # In whole decades: people of one decade share their plans, and there are few of them to work out.
  panel$age <- round(person$age / 10)
  classes <- c("below 25", "25 to 30", "30 to 35", "35 and more")
  bmi <- as.character(cut(person$bmi, c(0, 25, 30, 35, Inf), classes, right = FALSE))
  panel$bmi <- factor(ifelse(is.na(bmi), "unknown", bmi), c(classes, "unknown"))
  panel[!is.na(panel$who), ]
}

as_visits <- function(panel) {
  ibrc::trajectories(panel, id = "id", time = "year", action = "action", observation = "observation",
                     covariates = c("who", "age", "sex", "bmi"))
}

learn_hdl <- function(visits) {
  classes <- c("hdl_low", "hdl_none", "hdl_middle", "hdl_high")
  ibrc::fit_iohmm(visits, states = 3, transitions = "shared", prior = 1, names = c("low", "middle", "high"),
                  sort_by = function(seen) match(seen, classes), seed = 1)
}

# A test costs `cost`. In a year in which HDL is low it is worth `worth` to have tested, half of it if it is in between.
lipid_setting <- function(dynamics, worth = 2, cost = 1) {
  utility <- cbind(no_lipids = c(low = 0, middle = 0, high = 0), lipids = worth * c(1, 0.5, 0) - cost)
  ibrc::as_setting(dynamics, utility = utility, discount = 0.95)
}

# The same for any cost: called for every plan, so that nothing is made anew but the utility.
cost_setting <- function(setting) {
  function(cost) {
    setting$utility[, "lipids"] <- setting$utility[, "lipids"] + 1 - cost
    setting
  }
}

# To be sure of the class of HDL, whichever it is.
knowing_setting <- function(dynamics, worth = 2) {
  utility <- cbind(no_lipids = c(low = 0, middle = 0, high = 0), lipids = c(-1, -1, -1))
  ibrc::as_setting(dynamics, utility = utility, discount = 0.95,
                   belief_utility = ibrc::certainty_bonus(worth, above = 0.8, full = 0.9))
}

# What may be believed: HDL stays as it is more often, as often, or less often than it does.
believed <- function(setting) ibrc::perturb_models(setting, by = 0.1, vary = "transition")

# People drawn at random, as chains over all of them take long; few of these for the fits with an intercept each.
some_people <- function(panel, n, seed = 20) {
  set.seed(seed)
  panel[panel$id %in% sample(unique(panel$id), n), ]
}

nafld_problem <- function(panel) {
  people <- nafld_people(panel)
  visits <- as_visits(people)
  dynamics <- learn_hdl(visits)
  setting <- lipid_setting(dynamics)
  some <- some_people(people, 2000)
  few <- some_people(some, 500)
  list(visits = visits, some = as_visits(some), few = as_visits(few), dynamics = dynamics, setting = setting,
       models = believed(setting), believed = believed, by_cost = cost_setting(setting),
       others = list(worth_1.5 = lipid_setting(dynamics, 1.5), worth_3 = lipid_setting(dynamics, 3),
                     worth_4 = lipid_setting(dynamics, 4), knowing = knowing_setting(dynamics)))
}
