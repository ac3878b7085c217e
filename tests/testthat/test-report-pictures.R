# Many small clinics; 70 of them have three terms, whose panels need most room, and 200 have one.
crowd_visits <- function(n_groups) {
  plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), diag_models(), resolution = 10)
  data <- as.data.frame(simulate(plan, 2 * n_groups, seed = 1))
  data$clinic <- sprintf("clinic %03d", (data$id + 1) %/% 2)
  trajectories(data, covariates = "clinic")
}

crowd_fit <- function(n_groups) {
  prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1), eta ~ exponential(1))
  if (n_groups > 100) prior <- ibrc_prior(alpha ~ lognormal(0, 1))
  cached(paste0("crowd_fit_", n_groups), {
    fit <- suppressWarnings(ibrc(
      crowd_visits(n_groups), diag_setting(), diag_models(), prior, by = "clinic", chains = 2, iter = 20, seed = 1,
      resolution = 10
    ))
    # Pictures are looked at here, not hundreds of groups one by one.
    fit$checks <- unchecked_rows(fit)
    fit
  })
}

pictures_of <- function(section) Filter(function(part) part$kind == "picture", section)

test_that("as many groups share a picture as half of the tallest holds", {
  expect_lte(rows_in_picture(1), 20)
  for (n in 1:20) expect_lte((1 + 0.75 * rows_in_picture(n)) * n, max(tallest_picture / 2, 2.5 * n))
})

test_that("one picture per page has the rows of its groups, in their order, and those of no group", {
  data <- data.frame(group = factor(c("b", "a", NA, "c", "b"), levels = c("c", "b", "a")), x = 1:5)
  seen <- picture_pages(data, 2, function(rows, shown) list(x = rows$x, shown = shown))
  expect_identical(seen, list(list(x = 3:4, shown = "c"), list(x = c(1L, 2L, 3L, 5L), shown = c("b", "a"))))
  expect_identical(picture_pages(data["x"], 2, function(rows, shown) rows$x), list(1:5))
})

test_that("no picture is larger than a device can draw, and sections take pictures in lists", {
  picture <- report_picture(NULL, "alt", height = 500)
  expect_identical(picture$height, tallest_picture)
  section <- new_report_section(report_text("a"), list(picture, picture), NULL, report_list("b"))
  expect_identical(vapply(section, `[[`, "", "kind"), c("text", "picture", "picture", "list"))
})

test_that("where traces of all groups are too many, those of the worst are drawn", {
  fit <- list(draws = list(a = 1, b = 2, c = 3, d = 4))
  table <- data.frame(group = rep(c("a", "b", "c", "d"), each = 2), rhat = c(1, 1.3, 1, 1, NA, 1.1, 1, NA))
  expect_identical(worst_groups(fit, table, 2), c("a", "c"))
  expect_identical(worst_groups(fit, table, 4), c("a", "b", "c", "d"))
})

test_that("a report on many groups has pictures that can be drawn and read", {
  skip_on_cran()
  skip_if_not_installed("ggplot2")
  for (n_groups in if (Sys.getenv("IBRC_EXTENDED_TESTS") == "1") c(70, 200) else 70) {
    fit <- crowd_fit(n_groups)
    sections <- suppressWarnings(report_sections(fit, crowd_visits(n_groups), patients = 9, draws = 2))
    pictures <- unlist(lapply(sections, pictures_of), recursive = FALSE)
    expect_lte(max(vapply(pictures, `[[`, 0, "height")), tallest_picture / 2 + 2)
    # Every group has its row once, and its panel once in each check.
    drawn <- function(section) lapply(pictures_of(sections[[section]]), function(part) part$plot$data)
    expect_identical(unlist(lapply(drawn("groups"), function(data) levels(droplevels(data$group)))), names(fit$draws))
    checked <- unlist(lapply(drawn("predictive"), function(data) unique(as.character(data$group))))
    expect_true(all(table(checked) == 4))
    # The last of each, and the tallest, can be drawn.
    for (part in c(lapply(sections[c("groups", "checks", "predictive", "paths")], function(s) rev(pictures_of(s))[[1]]),
                   pictures[which.max(vapply(pictures, `[[`, 0, "height"))])) {
      file <- withr::local_tempfile(fileext = ".png")
      suppressMessages(ggplot2::ggsave(file, part$plot, width = part$width, height = part$height, dpi = 20))
      expect_gt(file.size(file), 1000)
    }
    expect_length(pictures_of(sections$posterior), 0)
    expect_length(pictures_of(sections$paths), 2)
    expect_identical(unlist(lapply(drawn("paths"), function(data) sub(" [(].*", "", unique(as.character(data$panel))))),
                     paste("Patient", 1:9))
  }
})

test_that("groups on several pictures share the scale of one", {
  skip_if_not_installed("ggplot2")
  fit <- crowd_fit(70)
  data <- groups_data(fit)
  heights <- function(...) {
    plot <- draw_groups(data, fit, names(fit$prior), ...)
    ridges <- plot$layers[[2]]$data
    ridges$height[ridges$group == "clinic 001" & ridges$term == "alpha"]
  }
  expect_identical(heights(names(fit$draws)[1:3]), heights())
})
