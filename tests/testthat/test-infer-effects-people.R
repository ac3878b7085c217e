test_that("what is said of effects without effects, or beside groups, is refused before any work", {
  visits <- people_visits(per = 4, n = 4)
  expect_refused(refuse_effect_priors(list("optimism[age]" = 1)), "prior", "`effects`")
  expect_null(refuse_effect_priors(list()))
  expect_refused(read_population(list(optimism ~ arm), visits, list(), list(), "arm"), "by", "two ways")
})

test_that("cells are groups that no column names", {
  inverse <- group_by_cell(list(by = "arm"), list(cell = factor(c("cell 1", "cell 2"))))
  expect_identical(levels(inverse$group), c("cell 1", "cell 2"))
  expect_null(inverse$by)
})
