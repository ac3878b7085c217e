# Means of a term over the cohort [draw, level], person by person.
standardised <- function(fit, visits, set) {
  people <- first_visits(visits)
  b <- raw_coefficients(fit)
  u <- raw_intercepts(fit)
  centre <- function(label) fit$effects$coefficients$centre[fit$effects$coefficients$label == label]
  vapply(c("f", "m"), function(level) {
    each <- vapply(seq_len(nrow(people)), function(i) {
      man <- (if (set) level else people$sex[i]) == "m"
      exp(b[, "alpha"] + b[, "alpha[age]"] * (people$age[i] - centre("alpha[age]")) + b[, "alpha[sexm]"] * man +
            b[, "alpha[age:sexm]"] * (people$age[i] - centre("alpha[age]")) * man)
    }, numeric(nrow(b)))
    if (!set) each <- each[, people$sex == level]
    rowMeans(each)
  }, numeric(nrow(b)))
}

test_that("adjusted contrasts are those of the cohort with the factor set, draw by draw", {
  fit <- differing_fit()
  table <- compare_groups(fit)
  expect_named(table, c("term", "factor", "group", "reference", "scale", "estimate", "conf.low", "conf.high",
                        "probability", "verdict"))
  expect_identical(paste(table$term, table$factor, table$group, table$reference),
                   c("optimism arm b a", "optimism arm c a", "optimism sex m f", "alpha sex m f"))
  b <- raw_coefficients(fit)
  # Without products and on its own scale a contrast is a coefficient.
  same <- c("optimism[armb]", "optimism[armc]", "optimism[sexm]")
  expect_equal(table$estimate[1:3], apply(b[, same], 2, stats::median), ignore_attr = TRUE)
  expect_equal(table$probability[3], mean(b[, "optimism[sexm]"] > 0))
  expect_identical(table$scale, c("difference", "difference", "difference", "ratio"))
  means <- standardised(fit, differing_visits(), set = TRUE)
  ratio <- means[, "m"] / means[, "f"]
  expect_equal(unlist(table[4, c("estimate", "conf.low", "conf.high", "probability")]),
               c(stats::median(ratio), stats::quantile(ratio, c(0.025, 0.975)), mean(ratio > 1)), ignore_attr = TRUE)
  crude <- standardised(fit, differing_visits(), set = FALSE)
  expect_equal(compare_groups(fit, adjusted = FALSE)$estimate[4], stats::median(crude[, "m"] / crude[, "f"]))
})

test_that("a contrast that is confounded is adjusted", {
  # Men are old, and age alone matters.
  fit <- differing_fit()
  draws <- fit$population$draws
  draws[, , "alpha[sexm]"] <- 0
  draws[, , "alpha[age:sexm]"] <- 0
  fit$population$draws <- draws
  people <- first_visits(differing_visits())
  size <- fit$group_sizes
  old <- cell_covariates(fit$effects)$sex == "m"
  # Cells as if all men were twice as inflexible as all women, by age.
  for (i in seq_along(fit$draws)) fit$draws[[i]][, , "alpha"] <- if (old[i]) 2 else 1
  expect_equal(compare_groups(fit)$estimate[4], 1)
  expect_equal(compare_groups(fit, adjusted = FALSE)$estimate[4], 2)
})

test_that("what is not adjusted is no contrast of the very clinicians who came", {
  fit <- differing_fit()
  b <- raw_coefficients(fit)
  u <- raw_intercepts(fit)
  people <- first_visits(differing_visits())
  crude <- compare_groups(fit, adjusted = FALSE)
  men <- function(arm) mean(people$sex[people$arm == arm] == "m")
  # Clinicians lie within arms: none of their intercepts is in the difference of arms.
  known <- b[, "optimism[armb]"] + b[, "optimism[sexm]"] * (men("b") - men("a"))
  expect_close(unlist(crude[1, c("estimate", "conf.low", "conf.high")]), stats::quantile(known, c(0.5, 0.025, 0.975)))
  # Women and men have the same clinicians, whose intercepts stay.
  u_of <- function(sex) rowMeans(u[, match(people$clinician[people$sex == sex], paste0("c", 1:6))])
  arms <- function(sex) {
    b[, "optimism[armb]"] * mean(people$arm[people$sex == sex] == "b") +
      b[, "optimism[armc]"] * mean(people$arm[people$sex == sex] == "c")
  }
  expect_close(crude$estimate[3], stats::median(b[, "optimism[sexm]"] + arms("m") - arms("f") + u_of("m") - u_of("f")))
  expect_match(attr(crude, "said"), "intercepts (clinician within arm) are averaged over the whole", fixed = TRUE)
  expect_no_match(attr(crude, "said"), "within sex")
  expect_no_match(attr(compare_groups(fit), "said"), "whole cohort")
})

test_that("with nothing else to adjust for, both ways are one, on any scale", {
  fit <- cached("nested_alpha", fit_differing(list(alpha ~ arm + (1 | clinician)), iter = 60))
  for (scale in c("ratio", "difference")) {
    expect_close(unlist(compare_groups(fit, scale = scale, adjusted = FALSE)[6:9]),
                 unlist(compare_groups(fit, scale = scale)[6:9]), 1e-8)
  }
  personal <- cached("nested_people", fit_differing(list(alpha ~ sex + (1 | clinician) + (1 | id)),
                                                   differing_visits(3, 3), iter = 40))
  crude <- compare_groups(personal, adjusted = FALSE)
  expect_match(attr(crude, "said"), "id within sex", fixed = TRUE)
  # People in turn, but each with the clinicians of his or her group.
  b <- raw_coefficients(personal)
  u <- raw_intercepts(personal)
  people <- first_visits(differing_visits(3, 3))
  mean_of <- function(sex) {
    mine <- which(people$sex == sex)
    each <- lapply(mine, function(i) {
      clinician <- match(people$clinician[i], paste0("c", 1:3))
      rowMeans(exp(b[, "alpha"] + b[, "alpha[sexm]"] * (sex == "m") + u[, clinician] + u[, 3 + seq_len(nrow(people))]))
    })
    Reduce(`+`, each) / length(mine)
  }
  expect_close(crude$estimate, stats::median(mean_of("m") / mean_of("f")), 1e-8)
})

test_that("references, scales and joint probabilities are those asked for", {
  fit <- differing_fit()
  all <- compare_groups(fit, reference = "all", joint = TRUE)
  expect_identical(nrow(all), 5L)
  b <- raw_coefficients(fit)
  means <- standardised(fit, differing_visits(), set = TRUE)
  held <- cbind(b[, "optimism[armb]"], b[, "optimism[armc]"], b[, "optimism[armc]"] - b[, "optimism[armb]"],
                b[, "optimism[sexm]"], log(means[, "m"] / means[, "f"]))
  right <- sweep(held, 2, sign(apply(held, 2, stats::median)), "*") > 0
  expect_equal(attr(all, "joint"), mean(rowSums(right) == 5))
  expect_null(attr(compare_groups(fit), "joint"))
  turned <- compare_groups(fit, reference = c(arm = "c"))
  expect_identical(turned$reference, c("c", "c", "f", "f"))
  expect_equal(compare_groups(fit, reference = "b")$estimate[1], -compare_groups(fit)$estimate[1])
  expect_identical(compare_groups(fit, scale = "difference")$scale[4], "difference")
  said <- paste(capture_output_lines(print(all)), collapse = " ")
  expect_match(said, "5 contrasts were looked at; the probability that all")
  expect_match(paste(capture_output_lines(print(compare_groups(fit))), collapse = " "), "joint = TRUE")
  expect_null(attributes(as.data.frame(all))$joint)
})

test_that("several contrasts of groups are counted as well", {
  joint <- compare_groups(clinic_fit(), joint = TRUE)
  draws <- clinic_fit()$draws
  alpha <- draws$south[, , "alpha"] > draws$north[, , "alpha"]
  optimism <- draws$south[, , "optimism"] > draws$north[, , "optimism"]
  expect_equal(attr(joint, "joint"), mean(alpha & optimism == (joint$estimate[2] > 0)))
  expect_output(print(joint), "2 contrasts were looked at")
})

test_that("what has no levels is refused, and what is no level", {
  fit <- differing_fit()
  expect_refused(compare_groups(personal_fit(), reference = "x"), "reference", "sex")
  none <- fit
  none$effects$formulas <- list(alpha = learn_formula(read_effect(alpha ~ age), list(columns = list(age = 1:3), n = 3)))
  none$effects$matrices$alpha <- cbind("(Intercept)" = 1, age = -1:1)
  expect_refused(compare_groups(none), "fit", "no factor")
  expect_refused(compare_groups(fit, reference = "z"), "reference", "by name")
  expect_refused(compare_groups(fit, reference = c(site = "a")), "reference")
  expect_refused(compare_groups(fit, reference = c(arm = "z")), "reference")
  expect_refused(compare_groups(fit, reference = c(arm = "a", arm = "b")), "reference", "more than one")
  expect_refused(compare_groups(fit, reference = 1), "reference")
  expect_refused(compare_groups(fit, adjusted = NA), "adjusted")
  expect_refused(compare_groups(fit, joint = "yes"), "joint")
  expect_refused(compare_groups(fit, scale = "ratio"), "scale", "changes sign")
})

test_that("the verdict on a contrast is about its coefficients", {
  fit <- differing_fit()
  expect_setequal(factor_coefficients(fit$effects, "alpha", "sex"), c("alpha[sexm]", "alpha[age:sexm]"))
  rows <- verdict_rows("identified", "seen", "asked", c("ok", "do not use"), "advice",
                       c("optimism[armb]", "optimism[sexm]"))
  expect_identical(effect_verdict(rows, fit, "optimism", c("optimism[armb]", "optimism[armc]")), "ok")
  expect_identical(effect_verdict(rows, fit, "optimism", "optimism[sexm]"), "do not use")
  expect_identical(effect_verdict(rows, fit, "optimism"), "do not use")
  expect_identical(effect_verdict(rows, fit, "alpha"), "ok")
  spread <- verdict_rows("identified", "seen", "asked", "caution", "advice", "sd(optimism|clinician)")
  expect_identical(effect_verdict(spread, fit, "optimism", "optimism[sexm]"), "caution")
})
