test_that("a design says what it is", {
  confounder <- list(name = "severity", chances = c(0.2, 0.6), effect = list(optimism = 0.2))
  said <- format(small_design(clusters = c(clinician = 10), spread = c(optimism = 0.3), confounder = confounder,
                              fixed = list(eta = 0.1)))
  expect_match(said, "reference (30), other (30) patients", fixed = TRUE, all = FALSE)
  expect_match(said, "optimism -0.5 in other", fixed = TRUE, all = FALSE)
  expect_match(said, "10 in each group, column clinician; sd of optimism 0.3", fixed = TRUE, all = FALSE)
  expect_match(said, "severity, mean 0.2, 0.6 by group; one unit more shifts optimism by 0.2", fixed = TRUE,
               all = FALSE)
  expect_match(said, "alpha, optimism; held: eta = 0.1", fixed = TRUE, all = FALSE)
  expect_output(print(small_design(effect = list(optimism = 0))), "differences   none")
  # What is held at other than the truth is said.
  expect_match(said, "Agents have eta = 0, and the fit holds it at 0.1", all = FALSE)
  expect_no_match(format(small_design()), "Agents have")
})

test_that("all that groups differ in is said, inferred or not", {
  said <- function(...) gsub(" +", " ", paste(format(small_design(...)), collapse = " "))
  expect_match(said(agents = bounded_agent(0.5, eta = 1), effect = list(eta = 0.5)), "differences log eta 0.5 in other")
  expect_match(said(effect = list(beta = 0.1), agents = bounded_agent(0.5, beta = 2), prior = NULL, fit = count_visits),
               "log beta 0.1 in other")
  expect_match(said(effect = list(optimism = 0)), "differences none")
})
