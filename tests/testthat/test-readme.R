# README.md, in the folder of sources: what it points to is there.

readme <- function() {
  path <- file.path("..", "..", "README.md")
  if (!file.exists(path)) skip("not in the folder of sources")
  readLines(path, encoding = "UTF-8")
}

found_in <- function(text, pattern) unlist(regmatches(text, gregexpr(pattern, text, perl = TRUE)))

# Lines between ```r and ```, one block per element.
code_blocks <- function(text) {
  fence <- startsWith(text, "```")
  opens <- which(fence)[c(TRUE, FALSE)]
  closes <- which(fence)[c(FALSE, TRUE)]
  blocks <- Map(function(from, to) text[seq_len(to - from - 1) + from], opens, closes)
  blocks[text[opens] == "```r"]
}

# Calls of a function, wherever they stand in some code.
calls_of <- function(code, name) {
  found <- list()
  look <- function(part) {
    if (is.call(part) && identical(part[[1]], as.name(name))) found[[length(found) + 1]] <<- part
    if (!is.call(part) && !is.expression(part)) return(invisible())
    for (one in as.list(part)) if (!missing(one)) look(one)
  }
  look(code)
  found
}

source_code <- function(...) {
  path <- file.path("..", "..", ...)
  if (!file.exists(path)) skip("not in the folder of sources")
  parse(text = gsub("ibrc::", "", readLines(path, encoding = "UTF-8"), fixed = TRUE), keep.source = FALSE)
}

test_that("what it says of the cohort was found by the very calls that it shows, and so in the vignette", {
  shown <- code_blocks(readme())
  shown <- parse(text = unlist(shown[vapply(shown, function(block) any(grepl("over_75", block)), NA)]),
                 keep.source = FALSE)
  made <- source_code("data-raw", "vignette-adni-joint.R")
  arguments <- function(code, name) {
    call <- calls_of(code, name)
    expect_length(call, 1)
    as.list(match.call(get(name), call[[1]]))[-1]
  }
  fitted <- arguments(made, "ibrc")
  same <- c("fixed", "iter", "warmup", "resolution", "seed", "cores", "chains", "uncertainty", "control")
  path <- file.path("..", "..", "vignettes", "adni.Rmd")
  lines <- readLines(path, encoding = "UTF-8")
  from <- grep("^```[{]r joint, eval = FALSE", lines)
  to <- from + which(lines[-seq_len(from)] == "```")[1]
  chunk <- parse(text = lines[(from + 1):(to - 1)], keep.source = FALSE)
  for (code in list(shown, chunk)) {
    mine <- arguments(code, "ibrc")
    expect_setequal(names(mine), names(fitted))
    expect_identical(mine[setdiff(intersect(same, names(mine)), "cores")],
                     fitted[setdiff(intersect(same, names(mine)), "cores")])
    expect_identical(mine$by, "over_75")
  }
  learned <- arguments(source_code("data-raw", "vignette-adni.R"), "fit_iohmm")
  mine <- arguments(shown, "fit_iohmm")
  learned$transitions <- "shared"
  expect_identical(mine[sort(names(mine))], learned[sort(names(learned))])
  for (name in c("ratings", "wanted", "believed")) {
    value <- function(code) {
      set <- Filter(function(call) identical(call[[2]], as.name(name)), calls_of(code, "<-"))
      paste(deparse(set[[1]][[3]]), collapse = " ")
    }
    expect_identical(value(shown), value(if (name == "ratings") source_code("data-raw", "vignette-adni.R") else made))
  }
})

test_that("help and news say when learned starts are held, and when not", {
  news <- paste(readLines(file.path("..", "..", if (file.exists("../../NEWS.md")) "NEWS.md" else skip("no sources"))),
                collapse = " ")
  expect_match(news, "held as estimated, unless the +dynamics are inferred")
  help <- paste(sub("^#' ?", "", readLines(file.path("..", "..", "R", "fit-ibrc.R"))), collapse = " ")
  expect_match(help, "starts that were learned are inferred, as all laws are, or drawn")
})

test_that("its pictures are there, small, and described", {
  text <- readme()
  pictures <- found_in(text, "<img [^>]*>")
  expect_length(pictures, 2)
  files <- sub(".*src=\"([^\"]*)\".*", "\\1", pictures)
  expect_match(files, "^man/figures/README-.*[.]png$")
  paths <- file.path("..", "..", files)
  expect_true(all(file.exists(paths)))
  expect_true(all(file.size(paths) <= 60000))
  described <- sub(".*alt=\"([^\"]*)\".*", "\\1", pictures)
  expect_true(all(nchar(described) > 80 & described != pictures))
})

test_that("it leads to every vignette, and to no file that is not there", {
  text <- readme()
  links <- gsub("[]()]", "", found_in(text, "\\]\\([^)#:]*\\)"))
  expect_identical(links[!file.exists(file.path("..", "..", links))], character())
  vignettes <- list.files(file.path("..", "..", "vignettes"), "[.]Rmd$")
  expect_identical(setdiff(file.path("vignettes", vignettes), links), character())
})

test_that("functions that it names are there", {
  named <- unique(sub("[(]$", "", found_in(readme(), "(?<![\\w.:$])[a-z][a-z_.]*_[a-z_.]*[(]")))
  expect_gt(length(named), 40)
  expect_identical(setdiff(named, c(getNamespaceExports("ibrc"), "as_draws_df")), character())
})

test_that("its first blocks of code run, and its own problem fits a few rows", {
  text <- readme()
  blocks <- code_blocks(text)
  for (block in blocks) expect_no_error(parse(text = block))
  skip_if_not_installed("ggplot2")
  mine <- function(word) which(vapply(blocks, function(block) any(grepl(word, block, fixed = TRUE)), NA))
  here <- new.env()
  eval(parse(text = blocks[[mine("neutral  <- plan_agent")]]), here)
  expect_s3_class(here$visits, "ibrc_trajectories")

  here$my_data <- data.frame(
    patient = rep(1:10, each = 3), day = as.Date("2024-01-11") + c(0, 30, 61),
    done = factor(rep(c("wait", "treat", "wait"), 10)), seen = c("positive", NA, "negative"),
    clinic = rep(c("north", "south"), each = 15)
  )
  eval(parse(text = blocks[[mine("screening <- ")]]), here)
  own <- blocks[[mine("my_data")]]
  own <- sub("seed = 1)", "seed = 1, iter = 20, resolution = 10)", own, fixed = TRUE)
  suppressWarnings(eval(parse(text = own[!grepl("ibrc_report", own)]), here))
  expect_identical(prior_terms(here$fit$prior), c("alpha", "optimism"))
  expect_identical(names(here$fit$draws), c("north", "south"))

  # And with laws that are learned from rows that show something.
  plan <- plan_agent(here$screening, bounded_agent(0.7), perturb_models(here$screening), 10)
  data <- as.data.frame(simulate(plan, 40, seed = 2, horizon = 5))
  data$clinic <- c("north", "south")[1 + data$id %% 2]
  here$visits <- trajectories(data, covariates = "clinic", setting = here$screening)
  own <- blocks[[mine("as_setting(dynamics")]]
  fits <- cumsum(startsWith(own, "joint <- ")) > 0
  own[!fits] <- sub("seed = 1)$", "seed = 1, max_iter = 2000)", own[!fits])
  own[fits] <- sub("seed = 1)$", "seed = 1, iter = 10, resolution = 5, chains = 1)", own[fits])
  suppressWarnings(eval(parse(text = own), here))
  expect_identical(here$joint$problem$setting$states, c("well", "ill"))
  expect_identical(here$joint$dynamics$uncertainty, "joint")

  # Formulas, with the columns that the text keeps.
  people <- as.data.frame(simulate(plan, 150, seed = 3, horizon = 8))
  people <- transform(people, clinic = paste("clinic", id %% 5), sex = c("f", "m")[1 + id %% 2], age = 50 + id %% 7)
  here$visits <- trajectories(people, covariates = c("clinic", "sex", "age"), setting = here$screening)
  own <- blocks[[mine("(1 | clinic)")]]
  own <- sub("seed = 1,", "seed = 1, iter = 20, resolution = 5, chains = 2,", own, fixed = TRUE)
  withr::local_pdf(NULL)
  utils::capture.output(suppressWarnings(eval(parse(text = own), here)))
  expect_setequal(names(coef(here$differing)), c("alpha", "optimism", "habit", "optimism[sexm]", "optimism[age]",
                                                 "sd(optimism|clinic)"))
  # A setting of which it takes the rest does as well.
  expect_silent(check_dynamics(here$learned, here$screening))
})
