secret <- paste0("name-", 101:112)
visits <- do.call(rbind, lapply(1:12, function(i) {
  n <- c(1, 2, 5)[i %% 3 + 1]
  data.frame(who = secret[i], when = seq_len(n),
             did = rep(c("wait", "treat"), length.out = n), saw = c("low", "high")[i %% 2 + 1])
}))
visits$did[2] <- NA
visits <- suppressWarnings(trajectories(visits, id = "who", time = "when", action = "did", observation = "saw"))

test_that("the data are the visits, longest first, without who they are of", {
  data <- visits_data(visits)
  expect_named(data, c("patient", "visit", "action", "observation"))
  expect_identical(nrow(data), nrow(visits))
  expect_identical(attr(data, "of"), 12L)
  lengths <- tabulate(data$patient)
  expect_identical(lengths, rep(c(5L, 2L, 1L), each = 4))
  expect_identical(sort(table(as.character(data$action), useNA = "always")),
                   sort(table(as.character(visits$did), useNA = "always")), ignore_attr = TRUE)
  expect_false(any(grepl("name-", unlist(lapply(data, as.character)))))
  # Alike stand together: of the longest, those who saw the same.
  first <- data[data$visit == 1 & data$patient <= 4, ]
  expect_lte(sum(diff(as.integer(first$observation)) != 0), 1)
})

test_that("no more patients are drawn than asked for, of all lengths", {
  data <- visits_data(visits, patients = 3)
  expect_identical(max(data$patient), 3L)
  expect_identical(tabulate(data$patient), c(5L, 2L, 1L))
  expect_identical(attr(data, "of"), 12L)
  expect_identical(visits_data(visits, 3), data)
})

test_that("the picture has one row per patient and says how many there are", {
  skip_if_not_installed("ggplot2")
  picture <- plot(visits, patients = 3)
  built <- expect_silent(ggplot2::ggplot_build(picture))
  expect_identical(nrow(built$data[[1]]), 8L)
  expect_identical(picture$labels$y, "3 of 12 patients")
  expect_identical(plot(visits)$labels$y, "12 patients")
  expect_match(plot(visits)$labels$caption, "Grey: missing.", fixed = TRUE)
  colours <- ggplot2::ggplot_build(plot(visits))$data[[1]]$fill
  expect_setequal(colours, c(action_palette(2), "grey85"))
  expect_setequal(ggplot2::ggplot_build(plot(visits, "observation"))$data[[1]]$fill, action_palette(2))
  expect_false(any(grepl("name-", unlist(lapply(picture$data, as.character)))))
  expect_match(ggplot2::get_alt_text(picture), "3 patients, one row each")
  expect_silent(ggplot2::ggplot_build(plot(read_adni(adni_like), "observation", patients = 500)))
})

test_that("what cannot be drawn is refused", {
  expect_error(visits_data(as.data.frame(visits)), "trajectories", class = "ibrc_error_input")
  expect_error(visits_data(visits, 0), "patients", class = "ibrc_error_input")
  expect_error(visits_data(visits, 501), "500", class = "ibrc_error_input")
  expect_error(plot(visits, "colour"), "type", class = "ibrc_error_input")
  expect_error(plot(visits, other = 1), class = "ibrc_error_input")
  lost <- visits["did"]
  if (inherits(lost, "ibrc_trajectories")) expect_error(plot(lost), class = "ibrc_error")
})
