test_that("functions that do nothing but put laws into a setting are told by what they are", {
  bonus <- certainty_bonus(2, 0.8)
  cost <- 1
  for (f in list(
    adni_setting, function(d) adni_setting(d, full = 0.95), function(d) ibrc::adni_setting(mri_cost = -(-cost), d),
    function(d) {
      as_setting(d, cbind(wait = c(0, 0), test = c(-1, -cost)), 0.9, belief_utility = certainty_bonus(2, 0.8))
    }
  )) expect_true(puts_laws(f))
  for (f in list(
    clinic_of, function(d, bonus = 2) adni_setting(d, certainty = bonus), function(d) adni_setting(bend(d)),
    function(d) adni_setting(d, above = d$start[[1]]), function(d) adni_setting(d, above = get("d")$start[[1]]),
    function(d) adni_setting(d, certainty = d), function(d) other(d), function(d) d, function() 1,
    function(d) {
      d$emission <- pmin(d$emission, 0.95)
      adni_setting(d)
    },
    local({
      adni_setting <- function(...) NULL
      function(d) adni_setting(d)
    })
  )) expect_false(puts_laws(f))
})

test_that("only a function that is a single call of perturb_models() is taken for it", {
  by <- 0.2
  for (f in list(clinic_step, function(setting) perturb_models(setting, by), function(setting) {
    ibrc::perturb_models(vary = "both", setting)
  })) expect_true(takes_step(f))
  for (f in list(
    NULL, own_model(diag_setting()), sum, perturb_models, function(setting) soften_models(setting, 0.5),
    function(setting, by) perturb_models(setting, by), function(d) perturb_models(d),
    function(setting) perturb_models(setting, by = setting$discount / 9), function(setting) {
      setting$emission <- setting$emission^2
      perturb_models(setting)
    },
    local({
      perturb_models <- function(...) NULL
      function(setting) perturb_models(setting)
    })
  )) expect_false(takes_step(f))
})
