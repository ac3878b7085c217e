press <- function() {
  send_interrupt()
  linger()
}

test_that("what comes to its end drops an interrupt, and gives its value", {
  skip_without_signals()
  expect_true(is_interrupted(press()))
  expect_false(is_interrupted(undisturbed(press())))
  expect_identical(undisturbed({
    press()
    7
  }), 7)
})

test_that("an interrupt waits for whoever hears a message, and comes after it", {
  skip_without_signals()
  heard <- FALSE
  hear <- function(condition) {
    press()
    heard <<- TRUE
    invokeRestart("muffleMessage")
  }
  expect_true(is_interrupted(withCallingHandlers({
    tell(message("now"))
    linger()
  }, message = hear)))
  expect_true(heard)
})
