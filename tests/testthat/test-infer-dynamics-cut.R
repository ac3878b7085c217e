test_that("each draw of the dynamics has problems of its own, draw after draw", {
  whole <- ward_inverse()
  local_replacement("cut_draws", 3L)
  drawn <- cut_laws(whole$recipe, ward_iohmm(transitions = "shared"), 1)
  laws <- drawn$laws
  expect_identical(dim(laws), c(3L, length(whole$recipe$at)))
  expect_true(all(laws > 0 & laws < 1))
  expect_gt(drawn$effective, 0)
  expect_identical(cut_laws(whole$recipe, ward_iohmm(transitions = "shared"), 1), drawn)
  many <- with_cut(whole, drawn, 1L)
  expect_identical(levels(many$group), paste0(c("east", "west"), " (draw ", rep(1:3, each = 2), ")"))
  expect_identical(tabulate(many$group), rep(30L, 6))
  expect_identical(many$histories[3:4], whole$histories)
  setting <- many$problems[[5]]$setting
  by_hand <- dynamics_at(whole$recipe$codec, vectors_of(whole$recipe$codec, laws[3, , drop = FALSE])[1, ])
  expect_identical(setting$emission, by_hand$emission)
  expect_identical(many$problems[[5]]$tables, many$problems[[6]]$tables)
  expect_false(identical(many$problems[[4]]$tables, many$problems[[5]]$tables))
  expect_identical(many$cut, c(list(whole = whole), drawn))
})

test_that("quantities to infer, and an interrupt, end it before it begins", {
  recipe <- ward_inverse()$recipe
  recipe$inferred <- "bonus"
  expect_refused(cut_laws(recipe, ward_iohmm(transitions = "shared"), 1), "uncertainty", "quantities")
  local_replacement("model_draws", function(...) {
    stop(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
  })
  expect_error(cut_laws(ward_inverse()$recipe, ward_iohmm(), 1), "first step", class = "ibrc_error_interrupted")
})
