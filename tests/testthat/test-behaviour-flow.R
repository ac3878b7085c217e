# A cohort with these counts after each step.
cohort_of <- function(patients, visits) {
  n <- length(patients)
  log <- data.frame(step = paste0("s", seq_len(n)), reason = paste("reason", seq_len(n)),
                    patients = as.integer(patients), visits = as.integer(visits))
  last <- c(patients[n], visits[n])
  data <- data.frame(id = c(seq_len(last[1]), rep(1, last[2] - last[1])), action = "a", observation = "b")
  new_ibrc_cohort(new_ibrc_trajectories(data, "id", NULL, "action", "observation"), log, NULL)
}

test_that("the flow says what is left and what each step took", {
  out <- flow(cohort_of(c(20, 18, 18, 11), c(90, 70, 64, 31)))
  expect_s3_class(out, c("ibrc_flow", "data.frame"), exact = TRUE)
  expect_named(out, c("step", "reason", "patients", "visits", "dropped_patients", "dropped_visits"))
  expect_identical(out$dropped_patients, c(0L, 2L, 0L, 7L))
  expect_identical(out$dropped_visits, c(0L, 20L, 6L, 33L))
  expect_identical(out$patients - c(out$dropped_patients[-1], 0L), c(18L, 18L, 11L, 11L))
  expect_error(flow(1), class = "ibrc_error_input")
  expect_error(flow(data.frame()), class = "ibrc_error_input")
  for (bad in list(-1, 1, 2.5, NA, "5")) {
    expect_error(flow(cohort_of(c(9, 9), c(9, 9)), suppress = bad), class = "ibrc_error_input")
  }
})

test_that("rows taken from a cohort are a step of their own", {
  cohort <- cohort_of(c(20, 11), c(90, 31))
  part <- flow(cohort[cohort$id <= 6, ])
  expect_identical(part$step, c("s1", "s2", "subset"))
  expect_identical(part$dropped_patients[3], 5L)
  expect_identical(part$visits[3], sum(cohort$id <= 6))
  expect_error(flow(cohort["id"]), class = "ibrc_error_input")
  expect_null(attr(as.data.frame(cohort), "flow"))
  expect_output(print(cohort), "selected from 20 patients with 90 rows")
  expect_output(print(cohort["id"]), "id")
})

# Every table of parts that agrees with what is published: shown counts are as shown,
# "<k" is from 1 to k - 1 and ">=k" is k or more.
possible_parts <- function(left, least) {
  marks <- hide_small_counts(left, least)
  n <- length(left)
  parts <- c(-diff(left), left[n])
  mark <- c(marks$taken[-1], marks$left[n])
  top <- max(left) + least
  choices <- lapply(seq_along(parts), function(i) {
    if (is.na(mark[i])) parts[i] else if (grepl(">", mark[i])) least:top else seq_len(least - 1)
  })
  tables <- as.matrix(expand.grid(choices))
  total <- t(apply(tables[, rev(seq_len(n)), drop = FALSE], 1, cumsum))[, rev(seq_len(n)), drop = FALSE]
  for (k in seq_len(n)) if (is.na(marks$left[k])) {
    fits <- total[, k] == left[k]
    tables <- tables[fits, , drop = FALSE]
    total <- total[fits, , drop = FALSE]
  }
  list(tables = tables, parts = parts, mark = mark, left = marks$left)
}

test_that("no small count is shown, and none can be worked out from the others", {
  least <- 3
  tried <- with_seed(4, unique(rbind(
    as.matrix(expand.grid(0:4, 0:4, 0:6, 1:3)),
    cbind(sample(0:2, 60, TRUE), sample(0:8, 60, TRUE), sample(0:2, 60, TRUE), sample(1:9, 60, TRUE))
  )))
  tried <- tried[with_seed(5, sample(nrow(tried), 150)), ]
  suppressed <- 0
  for (i in seq_len(nrow(tried))) {
    left <- unname(rev(cumsum(rev(tried[i, ]))))
    out <- possible_parts(left, least)
    small <- out$parts > 0 & out$parts < least
    if (any(small != (!is.na(out$mark) & out$mark == "<3"))) fail(paste("not marked:", toString(left)))
    shown <- left[is.na(out$left)]
    if (any(shown > 0 & shown < least)) fail(paste("shown:", toString(left)))
    for (j in which(small)) {
      suppressed <- suppressed + 1
      if (!setequal(unique(out$tables[, j]), seq_len(least - 1))) fail(paste("can be worked out:", toString(left)))
    }
  }
  expect_gt(suppressed, 100)
})

test_that("no more is suppressed than it takes", {
  plain <- hide_small_counts(c(100L, 90L, 80L), 5)
  expect_true(all(is.na(unlist(plain))))
  expect_true(all(is.na(unlist(hide_small_counts(c(100L, 98L, 80L), NULL)))))
  # 2 hide behind the 18 of the next step; the counts before and after stay.
  one <- hide_small_counts(c(100L, 98L, 80L, 60L), 5)
  expect_identical(one$taken, c(NA, "<5", ">=5", NA))
  expect_identical(one$left, c(NA, "*", NA, NA))
  # At the end what is left hides them.
  last <- hide_small_counts(c(100L, 90L, 87L), 5)
  expect_identical(last$taken, c(NA, NA, "<5"))
  expect_identical(last$left, c(NA, NA, ">=5"))
})

test_that("suppressed counts are not in the result, and print as marks", {
  cohort <- cohort_of(c(100, 98, 80, 60), c(500, 490, 480, 400))
  out <- flow(cohort, suppress = 5)
  expect_identical(out$dropped_patients, c(0L, NA, NA, 20L))
  expect_identical(out$patients, c(100L, NA, 80L, 60L))
  expect_false(any(unlist(c(out[-(1:2)], attr(out, "marks"))) %in% c("2", "18", "98")))
  expect_snapshot(out)
  expect_snapshot(flow(cohort))
  expect_output(print(out[2, ]), "*", fixed = TRUE)
  expect_output(print(out["step"]), "s1")
})

test_that("a step that dropped nothing has no box, and is named below", {
  out <- flow(cohort_of(c(100, 100, 80), c(500, 500, 400)))
  boxes <- flow_data(out)
  expect_identical(boxes$step, c("s1", "s3", "s3"))
  expect_identical(boxes$y[boxes$kind == "kept"], c(0, -1))
  # Where the count is hidden it may be anything.
  expect_identical(sum(flow_data(flow(cohort_of(c(100, 98, 80), c(500, 500, 400)), suppress = 5))$kind == "kept"), 3L)
  skip_if_not_installed("ggplot2")
  picture <- plot(out)
  expect_identical(picture$labels$caption, "Nothing was dropped for: reason 2.")
  expect_null(plot(flow(cohort_of(c(100, 80), c(500, 400))))$labels$caption)
  # A box is as large as its text: drawn as a label, not as a tile.
  geoms <- vapply(picture$layers, function(layer) class(layer$geom)[1], "")
  expect_identical(sum(geoms == "GeomLabel"), 2L)
})

test_that("the picture has one box per step and one for what it dropped", {
  out <- flow(cohort_of(c(100, 98, 80, 60), c(500, 490, 480, 400)), suppress = 5)
  boxes <- flow_data(out)
  expect_named(boxes, c("step", "kind", "label", "x", "y"))
  expect_identical(as.vector(table(boxes$kind)[c("kept", "dropped")]), c(4L, 3L))
  expect_match(boxes$label[boxes$kind == "dropped"][1], "reason 2\npatients: <5\nvisits: 10", fixed = TRUE)
  expect_false(is.unsorted(rev(boxes$y[boxes$kind == "kept"])))
  expect_error(flow_data(1), class = "ibrc_error_input")
  skip_if_not_installed("ggplot2")
  built <- ggplot2::ggplot_build(plot(out))
  expect_identical(vapply(built$data, nrow, 0L), c(3L, 3L, 4L, 3L))
  expect_error(plot(out, colour = 3), class = "ibrc_error_input")
})

test_that("a flow that lost columns, or its marks, prints what is left of it", {
  out <- flow(cohort_of(c(20, 18), c(90, 70)))
  expect_output(print(out[c("step", "patients")]), "s1 +20")
  hidden <- flow(cohort_of(c(20, 18), c(90, 70)), suppress = 5)
  attr(hidden, "marks") <- NULL
  expect_identical(flow_text(hidden)$dropped_patients, c("0", "*"))
})
