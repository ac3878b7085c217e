test_that("round numbers are those of a ruler, ends included, and as they are printed", {
  expect_identical(round_numbers(0.1, 10, 1), c(0.1, 0.15, 0.2, 0.3, 0.5, 0.8, 1, 1.5, 2, 3, 5, 8, 10))
  expect_identical(round_numbers(0.02, 0.5, 1), c(0.02, 0.03, 0.05, 0.08, 0.1, 0.15, 0.2, 0.3, 0.5))
  for (scale in 10^(-3:3)) {
    numbers <- round_numbers(0.01, 100, scale)
    expect_length(numbers, 25)
    expect_identical(as.numeric(format(numbers, digits = 2, scientific = TRUE)), numbers)
    steps <- diff(log10(numbers))
    expect_true(all(steps > 0.09 & steps < 0.23))
  }
})

test_that("the scale is a power of ten that follows the range of the utility", {
  expect_identical(slider_scale(c(-36, 10)), 1)
  expect_identical(slider_scale(c(0, 4.6)), 10)
  expect_identical(slider_scale(1e5 * c(-36, 10)), 1e-5)
  expect_identical(slider_scale(7), 1)
})

test_that("each slider starts at a position of its own, with the words of that agent", {
  for (reward in list(c(-36, 10), c(0, 1), c(0, 1e4))) {
    sliders <- explore_sliders(reward)
    for (slider in sliders) {
      expect_true(slider$start %in% seq_along(slider$values))
      agent <- do.call(bounded_agent, stats::setNames(list(slider_value(slider, NULL)), slider$name))
      expect_identical(slider$words[slider$start], agent_words(agent)[[slider$price]])
    }
    expect_identical(slider_value(sliders$optimism, NULL), 0)
    expect_identical(slider_value(sliders$adaptivity, NULL), Inf)
    expect_equal(slider_value(sliders$flexibility, NULL), 2 * slider_scale(reward))
  }
})

test_that("numbers are written out, never in powers of ten", {
  expect_identical(number_text(1e-5), "0.00001")
  expect_identical(number_text(2e6), "2000000")
  expect_identical(number_text(-0.15), "-0.15")
  expect_identical(number_text(-Inf), "-Inf")
})
