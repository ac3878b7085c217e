test_that("the table has the paper's rows, in its order, with what each allows for", {
  table <- decision_models()
  expect_identical(table$model, c(
    "BC-IL", "Subj. BC-IL", "Det. DM-IL", "Stoc. DM-IL", "Det. IRL", "Stoc. IRL", "Subj. IRL", "RS-IRL",
    "Det. PO-IRL", "Stoc. PO-IRL", "Subj. PO-IRL", "ME-IRL", "Subj. ME-IRL", "Inverse bounded rational control"
  ))
  expect_named(table, c("model", "title", "controllable", "observable", "purposeful", "subjective", "stochastic",
                        "uncertain_knowledge", "decision_complexity", "specification_complexity",
                        "recognition_complexity", "planner", "inverse", "reference"))
  allows <- as.matrix(table[3:11])
  expect_type(allows, "logical")
  expect_true(all(table$controllable))
  expect_identical(table$model[table$observable],
                   c("BC-IL", "Subj. BC-IL", "Det. PO-IRL", "Stoc. PO-IRL", "Subj. PO-IRL",
                     utils::tail(table$model, 1)))
  expect_identical(table$model[!table$purposeful], table$model[1:4])
  expect_identical(table$model[!table$stochastic], c("Det. DM-IL", "Det. IRL", "RS-IRL", "Det. PO-IRL"))
  expect_identical(table$model[table$subjective],
                   c("Subj. BC-IL", "Subj. IRL", "RS-IRL", "Subj. PO-IRL", "Subj. ME-IRL", table$model[14]))
  expect_identical(table$model[table$uncertain_knowledge], c("RS-IRL", table$model[14]))
  expect_identical(table$model[table$decision_complexity], c("ME-IRL", "Subj. ME-IRL", table$model[14]))
  expect_identical(which(table$specification_complexity), 14L)
  expect_identical(which(table$recognition_complexity), 14L)
})

test_that("titles spell abbreviations out, and every row has a reference with a year", {
  table <- decision_models()
  expect_false(any(grepl("IRL|IL\\b|Subj|Det\\.|Stoc", table$title)))
  expect_match(table$reference, "[(](19|20)[0-9]{2}[)]$", all = TRUE)
  expect_identical(anyDuplicated(table$title), 0L)
})

test_that("functions that it names are exported", {
  table <- decision_models()
  expect_identical(setdiff(c(table$planner, table$inverse), getNamespaceExports("ibrc")), character())
})
