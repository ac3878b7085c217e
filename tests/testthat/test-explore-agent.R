# Code as it stands on the page, run where only the package and `known` objects are.
run_code <- function(code, known = list()) {
  home <- list2env(known, parent = asNamespace("ibrc"))
  eval(parse(text = code), home)
  home$plan
}

position_of <- function(slider, value) match(value, slider$values)

test_that("sliders have exact limits at their ends and round numbers between", {
  sliders <- explore_sliders(c(-36, 10))
  expect_named(sliders, c("flexibility", "optimism", "adaptivity"))
  for (slider in sliders) {
    expect_false(is.unsorted(slider$values, strictly = TRUE))
    # What is printed is what is used.
    expect_identical(as.numeric(number_text_each(slider$values)), slider$values)
    expect_length(slider$words, length(slider$values))
  }
  expect_identical(range(sliders$flexibility$values), c(0, Inf))
  expect_identical(sliders$optimism$values, -rev(sliders$optimism$values))
  expect_identical(range(sliders$optimism$values), c(-Inf, Inf))
  expect_identical(slider_value(sliders$optimism, NULL), 0)
  expect_identical(max(sliders$adaptivity$values), Inf)
  expect_gt(min(sliders$adaptivity$values), 0)
  expect_match(sliders$optimism$words[1], "worst case")
  expect_match(sliders$flexibility$words[1], "action prior")
  # The paper's agents are on the way.
  expect_true(2 %in% sliders$flexibility$values)
  expect_true(all(c(0.8, -0.8) %in% sliders$optimism$values))
  expect_true(1000 %in% sliders$adaptivity$values)
})

test_that("sliders follow the unit of the utility", {
  one <- explore_sliders(c(-36, 10))
  cents <- explore_sliders(100 * c(-36, 10))
  expect_equal(cents$flexibility$values, one$flexibility$values / 100)
  expect_equal(cents$optimism$values, one$optimism$values / 100)
  expect_identical(cents$flexibility$start, one$flexibility$start)
  # A utility that is the same everywhere has no unit.
  expect_identical(explore_sliders(c(3, 3)), one)
})

test_that("positions that are not there are the first one shown", {
  slider <- explore_sliders(c(0, 46))$flexibility
  for (nowhere in list(NULL, 0, 1e6, 2.5, NA, "one", c(1, 2))) expect_identical(slider_value(slider, nowhere), 2)
  expect_identical(slider_value(slider, length(slider$values)), Inf)
})

test_that("the sliders move the plan, and the code on the page makes the same plan", {
  skip_if_not_installed("shiny")
  skip_if_not_installed("ggplot2")
  app <- explore_agent(launch = FALSE)
  expect_s3_class(app, "shiny.appobj")
  sliders <- explore_sliders(c(-36, 10))
  shiny::testServer(app, {
    expect_equal(shown()$agent[c("alpha", "beta", "eta")], list(alpha = 0.5, beta = Inf, eta = 0))
    # The last has ties that only rounding breaks: equal numbers need an equal way there.
    for (agent in list(c(2, 0.8, 1000), c(Inf, -Inf, 0.01), c(0, Inf, Inf))) {
      session$setInputs(flexibility = position_of(sliders$flexibility, agent[1]),
                        optimism = position_of(sliders$optimism, agent[2]),
                        adaptivity = position_of(sliders$adaptivity, agent[3]))
      direct <- plan_agent(diag_setting(), bounded_agent(flexibility = agent[1], optimism = agent[2],
                                                         adaptivity = agent[3]), perturb_models(diag_setting()))
      copied <- run_code(output$code)
      expect_identical(copied$agent, direct$agent)
      expect_identical(policy(shown()), policy(direct))
      expect_identical(copied$solution, direct$solution)
      table <- complexity(direct)
      for (number in c(table$nats, table$cost)) {
        expect_match(output$complexity$html, paste0(">", fixed_text(number), "<"), fixed = TRUE)
      }
    }
  })
})

test_that("the picture is Figure 2 of the plan shown, and is put into words", {
  skip_if_not_installed("shiny")
  skip_if_not_installed("ggplot2")
  plan <- plan_agent(diag_setting(), bounded_agent(0.5), diag_models())
  drawn <- ggplot2::ggplot_build(draw_shown(plan, list(observations = rep("positive", 3))))
  expect_identical(drawn$data, ggplot2::ggplot_build(plot(plan, observations = rep("positive", 3)))$data)
  shiny::testServer(explore_agent(launch = FALSE), {
    first <- output$picture
    expect_match(first$alt, "monitor 100%", fixed = TRUE)
    session$setInputs(flexibility = 1)
    expect_match(output$picture$alt, "monitor 33%", fixed = TRUE)
    expect_false(identical(output$picture$src, first$src))
    expect_match(output$start, "From the start (healthy 0.5, diseased 0.5)", fixed = TRUE)
  })
})

test_that("a legend takes as many rows as its width asks for", {
  skip_if_not_installed("ggplot2")
  columns <- function(width) fitting_legend(diag_setting()$actions, width)[[1]]$colour$ncol
  expect_identical(vapply(c(100, 380, 900), columns, 0), c(1, 2, 3))
})

test_that("settings, models and paths of the caller's own are in the code by the names they have there", {
  skip_if_not_installed("shiny")
  skip_if_not_installed("ggplot2")
  mine <- tiger_setting()
  views <- soften_models(mine, c(0, 0.4))
  heard <- c("hear_left", NA, "hear_right")
  app <- explore_agent(mine, views, resolution = 20, observations = heard, actions = "listen", launch = FALSE)
  shiny::testServer(app, {
    session$setInputs(optimism = 1)
    expect_match(output$code, "plot(plan, observations = c(\"hear_left\", NA, \"hear_right\"), actions = \"listen\")",
                 fixed = TRUE)
    copied <- run_code(output$code, list(mine = mine, views = views))
    expect_identical(copied$agent$beta, -0)
    expect_identical(1 / copied$agent$beta, -Inf)
    expect_identical(copied$models, shown()$models)
    expect_identical(copied$resolution, 20L)
    expect_close(value(copied), value(shown()), 1e-7)
  })
  # A value that has no name goes by the argument's.
  shiny::testServer(do.call(explore_agent, list(setting = mine, models = views, launch = FALSE)), {
    expect_equal(value(run_code(output$code, list(setting = mine, models = views))), value(shown()))
  })
})

test_that("three states have a simplex, and what is certain is not perturbed", {
  skip_if_not_installed("shiny")
  skip_if_not_installed("ggplot2")
  three <- with_seed(2, random_setting(3, zeros = 0))
  shiny::testServer(explore_agent(three, launch = FALSE), {
    session$setInputs(flexibility = 12, optimism = 20)
    expect_identical(shown()$resolution, 40L)
    expect_length(shown()$models$weights, 3)
    expect_match(output$picture$src, "^data:image/png")
    copied <- run_code(output$code, list(three = three))
    expect_close(complexity(copied)$nats, complexity(shown())$nats, 1e-6)
    # Path and all: the last observation is always possible.
    expect_match(output$code, "rep(\"x4\", 3)", fixed = TRUE)
  })
  seen <- decision_setting(c("a", "b"), c("stay", "go"), c("a", "b"), list(stay = diag(2), go = diag(2)[2:1, ]),
                           "identity", cbind(stay = c(1, 0), go = c(0, 0)), discount = 0.9, start = c(0.5, 0.5))
  shiny::testServer(explore_agent(seen, launch = FALSE), {
    expect_length(shown()$models$weights, 1)
    expect_equal(value(run_code(output$code, list(seen = seen))), value(shown()))
    expect_false(grepl("observations", output$code))
  })
})

test_that("on a dark page the picture is dark, with lighter colours of the same actions", {
  skip_if_not_installed("ggplot2")
  plan <- plan_agent(diag_setting(), bounded_agent(0.5), diag_models(), resolution = 20)
  light <- draw_shown(plan, list(observations = "positive"))
  dark <- expect_silent(draw_shown(plan, list(observations = "positive"), dark = TRUE))
  expect_identical(dark$theme$plot.background$fill, dark_ground)
  expect_false(identical(light$theme$plot.background$fill, dark_ground))
  luminance <- function(colours) colSums(grDevices::col2rgb(colours) * c(0.2126, 0.7152, 0.0722))
  lines <- function(picture) ggplot2::ggplot_build(picture)$data[[1]]
  expect_equal(lines(light)[c("x", "y")], lines(dark)[c("x", "y")])
  expect_true(all(luminance(unique(lines(dark)$colour)) > luminance(unique(lines(light)$colour))))
  # A simplex has no axes, in the dark either, and its corners can be read.
  three <- plan_agent(with_seed(2, random_setting(3)), bounded_agent(alpha = 0.5), resolution = 8)
  picture <- draw_shown(three, list(), dark = TRUE)
  expect_s3_class(picture$theme$axis.text, "element_blank")
  expect_identical(unique(ggplot2::ggplot_build(picture)$data[[3]]$colour), "grey90")
})

test_that("the page follows the reader's wish for dark, and tells the server", {
  read <- function(name) paste(readLines(system.file("explore", name, package = "ibrc")), collapse = "\n")
  expect_match(read("explore.css"), "prefers-color-scheme: dark", fixed = TRUE)
  expect_match(read("explore.css"), paste0("--ground: ", dark_ground), fixed = TRUE)
  expect_match(read("explore.js"), "getValue: function () { return dark.matches; }", fixed = TRUE)
  skip_if_not_installed("shiny")
  page <- as.character(explore_page(explore_sliders(diag_setting()$utility), diag_setting(), done = FALSE))
  expect_match(page, "id=\"dark\" class=\"ibrc-ground\"", fixed = TRUE)
})

test_that("observations that this agent's actions rule out leave the path out and say so", {
  skip_if_not_installed("ggplot2")
  cohort <- adni_like_truth()$setting
  plan <- plan_agent(cohort, bounded_agent(flexibility = 2), resolution = 10)
  expect_null(usual_observations(plan))
  # Possible after an MRI alone.
  only_mri <- cohort$observations[colSums(cohort$emission[, , "no_mri"]) == 0][1]
  refused <- draw_shown(update(plan, bounded_agent(flexibility = 2, action_prior = c(no_mri = 1, mri = 0))),
                        list(observations = only_mri))
  expect_match(refused$labels$caption, "No path")
  expect_no_match(draw_shown(plan, list(observations = only_mri, actions = "mri"))$labels$caption, "No path")
})

test_that("a solve that fails is said on the page, and the next one goes on", {
  skip_if_not_installed("shiny")
  skip_if_not_installed("ggplot2")
  app <- explore_agent(launch = FALSE)
  start <- explore_sliders(c(-36, 10))$flexibility$start
  real <- solve_problem
  fails <- FALSE
  local_replacement("solve_problem", function(...) if (fails) abort("convergence", "It stopped early.") else real(...))
  shiny::testServer(app, {
    before <- output$start
    fails <<- TRUE
    session$setInputs(flexibility = 5)
    expect_error(output$start, "It stopped early", class = "validation")
    expect_error(output$complexity, "It stopped early", class = "validation")
    fails <<- FALSE
    session$setInputs(flexibility = start)
    expect_identical(output$start, before)
  })
})

test_that("the page names its controls for those who cannot see it", {
  skip_if_not_installed("shiny")
  page <- as.character(explore_page(explore_sliders(c(-36, 10)), diag_setting(), done = TRUE))
  for (name in c("flexibility", "optimism", "adaptivity")) {
    expect_match(page, sprintf("<label for=\"%s\">", name), fixed = TRUE)
    expect_match(page, sprintf("id=\"%s\"", name), fixed = TRUE)
  }
  expect_match(page, "aria-valuetext=\"0, neutral about the dynamics\"", fixed = TRUE)
  expect_match(page, "id=\"done\"", fixed = TRUE)
  page <- as.character(explore_page(explore_sliders(c(-36, 10)), diag_setting(), done = FALSE))
  expect_false(grepl("id=\"done\"", page, fixed = TRUE))
})

test_that("what cannot be explored is refused", {
  expect_error(explore_agent(1), class = "ibrc_error_input")
  expect_error(explore_agent(with_seed(1, random_setting(4))), "4 states", class = "ibrc_error_input")
  expect_error(explore_agent(launch = NA), "`launch`", class = "ibrc_error_input")
  # As where shiny is not installed.
  look <- require_package
  local_replacement("require_package", function(package, purpose) look(paste0("no.", package), purpose))
  expect_error(explore_agent(launch = FALSE), "needs the package 'no.shiny'", class = "ibrc_error_package")
})

test_that("models, resolutions and paths that do not fit are refused", {
  skip_if_not_installed("shiny")
  skip_if_not_installed("ggplot2")
  expect_error(explore_agent(models = 1, launch = FALSE), "`models`", class = "ibrc_error_input")
  expect_error(explore_agent(resolution = 0.5, launch = FALSE), "`resolution`", class = "ibrc_error_input")
  expect_error(explore_agent(observations = "maybe", launch = FALSE), "`observations`", class = "ibrc_error_input")
  expect_error(explore_agent(actions = "wait", launch = FALSE), "`actions`", class = "ibrc_error_input")
  expect_error(explore_agent(observations = rep("positive", 3), actions = c("monitor", "monitor"), launch = FALSE),
               "`actions`", class = "ibrc_error_input")
})

test_that("in a browser, sliders move the picture, and what is copied gives the numbers shown", {
  skip_if_not_installed("shiny")
  skip_if_not_installed("ggplot2")
  skip_without_browser()
  app <- start_r("options(browser = function(url) NULL); print(explore_agent(launch = TRUE))",
                 "Listening on (http://[0-9.:]+)")
  browser <- open_browser(app$ready, width = 400, height = 1000)
  idle <- "!document.documentElement.classList.contains('shiny-busy')"
  code <- "document.getElementById('code').textContent"
  drawn <- paste0("document.querySelector('", c("#picture img", ".ibrc-bars"), "') !== null")
  wait_until(browser, paste(c(drawn, idle), collapse = " && "))
  first <- ask(browser, "document.querySelector('#picture img').src")
  expect_match(first, "^data:image/png")

  # A hand faster than the drawing: the latest position counts.
  press(browser, "#adaptivity", strrep(keys[["left"]], 12))
  press(browser, "#optimism", strrep(keys[["left"]], 3))
  press(browser, "#flexibility", keys[["end"]])
  expect_identical(ask(browser, "document.getElementById('flexibility_number').textContent"), "Inf")
  expect_match(ask(browser, "document.getElementById('optimism').getAttribute('aria-valuetext')"), "-0.05, pessimistic")
  moved <- paste0(code, ".includes('", c("flexibility = Inf", "optimism = -0.05", "adaptivity = 15\\n"), "')")
  wait_until(browser, paste(c(moved, idle), collapse = " && "))
  expect_false(identical(ask(browser, "document.querySelector('#picture img').src"), first))
  # Nothing sticks out of a narrow viewer.
  expect_identical(ask(browser, "document.documentElement.scrollWidth - document.documentElement.clientWidth"), "0")

  # Copied by the button and pasted by the keyboard.
  click(browser, "#copy")
  wait_until(browser, "document.getElementById('copy_status').textContent === 'Copied'")
  ask(browser, "document.body.appendChild(Object.assign(document.createElement('textarea'), {id: 'pasted'}))")
  press(browser, "#pasted", paste0(keys[["control"]], "v"))
  pasted <- ask(browser, "document.getElementById('pasted').value")
  expect_identical(pasted, ask(browser, code))
  table <- complexity(run_code(pasted))
  numbers <- "Array.from(document.querySelectorAll('.ibrc-%s')).map(x => x.textContent).join(' ')"
  expect_identical(ask(browser, sprintf(numbers, "nats")), paste(fixed_text(table$nats), collapse = " "))
  expect_identical(ask(browser, sprintf(numbers, "cost")), paste(fixed_text(table$cost), collapse = " "))

  # The same where the page may not write to the clipboard itself.
  ask(browser, "Object.defineProperty(navigator, 'clipboard', {value: undefined}) && (pasted.value = '')")
  wait_until(browser, "document.getElementById('copy_status').textContent === ''")
  click(browser, "#copy")
  wait_until(browser, "document.getElementById('copy_status').textContent === 'Copied'")
  press(browser, "#pasted", paste0(keys[["control"]], "v"))
  expect_identical(ask(browser, "pasted.value"), pasted)

  # Done hands the plan back to R, which prints it.
  click(browser, "#done")
  said <- readLines(app$program)
  expect_match(said, "adaptivity +15 ", all = FALSE)
})

test_that("names come back from the code as they are, whatever is in them", {
  odd <- c("`touch x` $(touch x)\" ' \\ \n</script>", "b'); file.create('x'); c('", "c")
  for (names in list(odd, odd[c(1, 1, 1)], odd[2])) {
    call <- parse(text = write_plot(list(observations = names)))
    expect_length(call, 1)
    expect_identical(setdiff(all.names(call[[1]]), c("rep", "c")), c("plot", "plan"))
    expect_identical(eval(call[[1]]$observations), names)
  }
})
