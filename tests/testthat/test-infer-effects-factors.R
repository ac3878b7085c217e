test_that("intercepts know their levels, nested, crossed and joined", {
  nested <- design_of(list(optimism ~ (1 | site / clinician)))$design
  expect_named(nested$factors, c("site", "site:clinician"))
  expect_identical(nested$factors$site$levels, c("east", "north", "south"))
  expect_identical(nested$factors[[2]]$levels[1:2], c("east:c2", "east:c5"))
  # Levels of the second lie within those of the first.
  expect_identical(sub(":.*", "", nested$factors[[2]]$levels[nested$factors[[2]]$level]),
                   nested$factors$site$levels[nested$factors$site$level])
  expect_identical(nested$spreads$label, c("sd(optimism|site)", "sd(optimism|site:clinician)"))
  crossed <- design_of(list(optimism ~ (1 | site) + (1 | age)))$design
  expect_identical(crossed$factors$age$levels, c("50", "60", "70"))
  expect_identical(design_of(list(optimism ~ (1 | site:age)))$design$factors[[1]]$levels[1:3],
                   c("east:50", "east:60", "east:70"))
})

test_that("levels that are written alike stay apart", {
  colons <- altered(function(x) transform(x, a = ifelse(arm == "a", "x:y", "x"), b = ifelse(arm == "a", "z", "y:z")))
  expect_identical(design_of(list(optimism ~ (1 | a:b)), colons)$design$factors[[1]]$levels,
                   c("x:\"y:z\"", "\"x:y\":z"))
  close <- altered(function(x) transform(x, a = ifelse(arm == "a", 0.3, 0.1 + 0.2)))
  expect_identical(length(design_of(list(optimism ~ (1 | a)), close)$design$factors[[1]]$levels), 2L)
})

test_that("ties are of two terms or more by one factor", {
  tied <- design_of(list(optimism ~ (1 | p | clinician), alpha ~ (1 | p | clinician)))$design
  expect_identical(tied$ties, data.frame(label = "cor(alpha,optimism|clinician)", factor = 1L, first = 1L, second = 2L))
  expect_identical(tied$factors[[1]]$terms, 1:2)
  # Both have intercepts, and neither is tied.
  free <- design_of(list(optimism ~ (1 | clinician), alpha ~ (1 | clinician)))$design
  expect_identical(nrow(free$ties), 0L)
  expect_identical(free$factors[[1]]$terms, 1:2)
  expect_refused(design_of(list(optimism ~ (1 | p | clinician), alpha ~ (1 | clinician))), "effects",
                 "one formula only")
  expect_refused(design_of(list(optimism ~ (1 | p | clinician), alpha ~ (1 | q | clinician))), "effects", "two names")
})

test_that("factors that put the same people together are refused, and both are named", {
  more <- altered(function(x) {
    x$`site:arm` <- paste(x$clinician, x$age)
    transform(x, own = paste("of", id), place = toupper(site), check.names = FALSE)
  })
  refused <- function(formula, pattern) expect_refused(design_of(list(formula), more), "effects", pattern)
  refused(optimism ~ (1 | site:arm) + (1 | `site:arm`), "two meanings, of columns \"site\" and \"arm\" and of column")
  refused(optimism ~ (1 | site:arm) + (1 | arm:site), "of site:arm and of arm:site for optimism, which put the same")
  refused(optimism ~ (1 | id) + (1 | own), "of id and of own for optimism")
  refused(optimism ~ (1 | site) + (1 | arm) + (1 | place), "of site and of place")
  refused(optimism ~ (1 | clinician / own) + (1 | id), "of clinician:own and of id")
  # In two formulas as well, since both are one factor.
  expect_refused(design_of(list(optimism ~ (1 | site:arm), alpha ~ (1 | `site:arm`)), more), "effects", "two meanings")
  # The spreads of two terms are told apart.
  apart <- design_of(list(optimism ~ (1 | site), alpha ~ (1 | place)), more)$design
  expect_identical(apart$spreads$label, c("sd(optimism|site)", "sd(alpha|place)"))
  expect_no_error(design_of(list(optimism ~ (1 | site / clinician) + (1 | id))))
})
