truth <- adni_like_truth()
setting <- truth$setting

test_that("the chance to be sure is that of every observation added up", {
  belief <- c(0.2, 0.5, 0.3)
  ahead <- drop(belief %*% setting$transition[, , "mri"])
  expected <- 0
  for (seen in setting$observations) {
    joint <- ahead * setting$emission[, seen, "mri"]
    if (sum(joint) > 0 && max(joint) / sum(joint) > 0.9) expected <- expected + sum(joint)
  }
  expect_gt(expected, 0)
  expect_equal(chance_to_be_sure(setting, rbind(belief, belief), "mri", 0.9), rep(expected, 2))
})

test_that("a patch without tests in the middle is explained by what one test does there", {
  plan <- plan_agent(setting, truth$agents$over_75, truth$models, resolution = 20)
  beliefs <- simplex_centres(20)
  likeliest <- setting$actions[max.col(policy(plan, beliefs))]
  said <- island_words(setting, beliefs, likeliest)
  expect_match(said, "Patch of \"no mri\" in the middle: there one \"mri\" raises the chance", fixed = TRUE)
  middle <- apply(beliefs, 1, max) < 0.5
  gain <- chance_to_be_sure(setting, beliefs, "mri", 0.9) - chance_to_be_sure(setting, beliefs, "no_mri", 0.9)
  for (one in setting$actions) {
    expect_match(said, sprintf("by %.2f", mean(gain[middle & likeliest == one])), fixed = TRUE)
  }
  # Where the test is always asked for, and where nothing is paid for being sure, there is nothing to explain.
  expect_null(island_words(setting, beliefs, rep("mri", nrow(beliefs))))
  plain <- setting
  plain$belief_utility <- NULL
  expect_null(island_words(plain, beliefs, likeliest))
  expect_null(island_words(diag_setting(), cbind(0.5, 0.5), "monitor"))
  skip_if_not_installed("ggplot2")
  expect_match(gsub("\n", " ", plot(plan)$labels$caption), "Patch of \"no mri\" in the middle", fixed = TRUE)
})

test_that("pieces of a ground have their area", {
  expect_equal(polygon_area(data.frame(x = c(0, 1, 1, 0), y = c(0, 0, 2, 2))), 2)
  ground <- data.frame(panel = "p", piece = rep(1:2, each = 3), s1 = c(1, 0, 0, 1, 0.5, 0.5),
                       s2 = c(0, 1, 0, 0, 0.5, 0), s3 = c(0, 0, 1, 0, 0, 0.5), action = rep(c("a", "b"), each = 3))
  pieces <- ground_pieces(ground, c("s1", "s2", "s3"))
  expect_equal(pieces$area, sqrt(3) / c(4, 16))
  expect_equal(unname(pieces$beliefs[1, ]), rep(1 / 3, 3))
  expect_identical(pieces$action, c("a", "b"))
})
