setting <- diag_setting()
rows <- data.frame(id = c(1, 1, 2), time = c(1, 2, 1), action = "monitor", observation = "positive")
topic_of <- function(call) tryCatch(call, ibrc_error = function(e) e$topic)

test_that("an error says which help page to read, on a line of its own", {
  skip_if_not(length(help_topics()) > 0, "installed without help")
  error <- expect_error(bounded_agent(alpha = "a"), "See [?]bounded_agent[.]$", class = "ibrc_error_input")
  expect_identical(error$topic, "bounded_agent")
  expect_no_match(error$message, "See")
  expect_match(conditionMessage(error), "\n", fixed = TRUE)
  expect_output(print(error), "See ?bounded_agent.", fixed = TRUE)
})

test_that("the page is that of the function the user called, not of those that it calls", {
  skip_if_not(length(help_topics()) > 0, "installed without help")
  plan <- plan_agent(setting, bounded_agent(1), resolution = 5)
  visits <- trajectories(rows)
  prior <- ibrc_prior(alpha ~ lognormal(0, 1))
  # plan_agent() and bounded_agent() refuse these, called by ibrc().
  expect_identical(suppressWarnings(topic_of(ibrc(visits, setting, NULL, prior, resolution = -1))), "ibrc")
  expect_identical(topic_of(ibrc(visits, setting, NULL, prior, fixed = list(eta = "a"))), "ibrc")
  # Arguments of one call that are calls themselves.
  expect_identical(topic_of(ibrc(visits, setting, NULL, ibrc_prior(alpha ~ lognormal(0, -1)))), "ibrc_prior")
  expect_identical(topic_of(plan_agent(setting, bounded_agent(alpha = "a"))), "bounded_agent")
  # Under lapply(), do.call() and functions of others.
  expect_identical(topic_of(lapply("a", bounded_agent)), "bounded_agent")
  expect_identical(topic_of(do.call(bounded_agent, list(alpha = "a"))), "bounded_agent")
  expect_identical(topic_of((function(...) diag_setting(...))(discount = 2)), "diag_setting")
  # Methods of generics, ours and others'.
  expect_identical(topic_of(plot(plan, nonsense = 1)), "plot.ibrc_plan")
  expect_identical(topic_of(simulate(plan, -1)), "simulate.ibrc_plan")
  expect_identical(topic_of(value(1)), "plan_agent")
  expect_identical(topic_of(as_setting(1)), "as_setting")
})

test_that("callers are found, whatever frames name as their parents", {
  ours <- c(FALSE, TRUE, FALSE, FALSE)
  expect_true(called_from(4, c(0, 1, 2, 3), ours))
  expect_false(called_from(4, c(0, 1, 2, 1), ours))
  expect_false(called_from(2, c(0, 1, 2, 3), ours))
  # Its own parent, as under rlang::eval_tidy(), and a later one.
  expect_true(called_from(4, c(0, 1, 2, 4), ours))
  expect_false(called_from(4, c(0, 1, 1, 4), ours))
  expect_false(called_from(1, c(3, 1, 2, 4), ours))
})

test_that("an object of the wrong kind leads to what makes it, and wrong rows to the data", {
  skip_if_not(length(help_topics()) > 0, "installed without help")
  expect_identical(topic_of(ibrc(rows, setting)), "trajectories")
  expect_identical(topic_of(plan_agent(1, bounded_agent(1))), "decision_setting")
  visits <- trajectories(transform(rows, action = "wait"))
  expect_identical(topic_of(ibrc(visits, setting)), "trajectories")
})

test_that("no page is named that is not there", {
  expect_null(topic_of(abort_input("x", "is wrong.")))
  expect_null(topic_of(abort_input("x", "is wrong.", topic = "abort_input")))
  local_replacement("help_topics", function() character())
  error <- expect_error(bounded_agent(alpha = "a"), class = "ibrc_error_input")
  expect_null(error$topic)
  expect_no_match(conditionMessage(error), "See")
})

test_that("all that users call can be named", {
  skip_if_not(length(help_topics()) > 0, "installed without help")
  namespace <- asNamespace("ibrc")
  package <- parseNamespaceFile("ibrc", dirname(system.file(package = "ibrc")))
  for (name in package$exports) {
    f <- get(name, namespace)
    if (is.function(f)) expect_true(name %in% public_name(f, namespace), label = name)
    expect_true(name %in% help_topics(), label = name)
  }
  expect_length(public_name(abort, namespace), 0)
  expect_length(public_name(check_names, namespace), 0)
})

test_that("an argument that is left out is named by every function", {
  namespace <- asNamespace("ibrc")
  is_required <- function(default) is.name(default) && !nzchar(default)
  for (name in getNamespaceExports(namespace)) {
    f <- get(name, namespace)
    if (!is.function(f) || !identical(environment(f), namespace)) next
    required <- setdiff(names(Filter(is_required, formals(f))), "...")
    if (!length(required)) next
    error <- expect_error(f(), "must be given", class = "ibrc_error_input", info = name)
    expect_identical(error$argument, required[1], info = name)
    if (length(help_topics())) expect_identical(error$topic, name, info = name)
  }
  expect_identical(expect_error(update_belief(1, c(0.5, 0.5)), class = "ibrc_error_input")$argument, "action")
})
