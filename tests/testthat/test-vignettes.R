# The map of the package, the site's index and the vignettes: what they name is there,
# and what is there they name.

source_file <- function(...) {
  path <- file.path("..", "..", ...)
  if (!file.exists(path)) skip("not in the folder of sources")
  path
}

# ---- the map -------------------------------------------------------------------

help_pages <- function() tools::Rd_db("ibrc")

page_aliases <- function(pages) {
  lapply(pages, function(page) {
    tags <- vapply(page, attr, "", "Rd_tag")
    vapply(page[tags == "\\alias"], function(x) as.character(x[[1]]), "")
  })
}

# The help page that an alias leads to.
page_of <- function(names, pages) {
  aliases <- page_aliases(pages)
  page <- rep(names(aliases), lengths(aliases))
  page[match(names, unlist(aliases))]
}

links_in <- function(x) {
  if (!is.list(x)) return(NULL)
  own <- if (identical(attr(x, "Rd_tag"), "\\link")) {
    text <- paste(unlist(x), collapse = "")
    option <- attr(x, "Rd_option")
    target <- if (is.null(option)) text else sub("^=", "", as.character(option))
    data.frame(shown = sub("[(][)]$", "", text), target = target)
  }
  rbind(own, do.call(rbind, lapply(x, links_in)))
}

# The links of the package page, one data frame per section.
map_sections <- function(pages) {
  page <- pages[["ibrc-package.Rd"]]
  sections <- page[vapply(page, attr, "", "Rd_tag") == "\\section"]
  names(sections) <- vapply(sections, function(section) paste(unlist(section[[1]]), collapse = ""), "")
  Filter(Negate(is.null), lapply(sections, function(section) links_in(section[[2]])))
}

test_that("every export is in the map, under a name that leads to its own help page", {
  pages <- help_pages()
  map <- do.call(rbind, map_sections(pages))
  exports <- getNamespaceExports("ibrc")
  expect_equal(setdiff(exports, map$shown), character())
  expect_false(anyNA(page_of(map$target, pages)))
  # What is shown without being a method's help is the page of that name.
  plain <- map$shown == map$target
  expect_equal(setdiff(map$shown[plain], c(exports, "adni_like")), character())
})

test_that("?ibrc and the map lead to each other", {
  pages <- help_pages()
  expect_true("ibrc" %in% links_in(pages[["ibrc-package.Rd"]])$target)
  expect_true("ibrc-package" %in% links_in(pages[["ibrc.Rd"]])$target)
})

test_that("the site's reference has the groups of the map and no others", {
  pages <- help_pages()
  lines <- readLines(source_file("_pkgdown.yml"))
  from <- which(lines == "reference:")
  next_key <- grep("^[a-z]", lines)
  lines <- lines[(from + 1):min(next_key[next_key > from] - 1, length(lines))]
  title <- grepl("^- title: ", lines)
  entry <- grepl("^  - ", lines)
  group <- sub("^- title: ", "", lines[title])[cumsum(title)][entry]
  name <- sub("^  - ", "", lines[entry])
  index <- split(page_of(name, pages), factor(group, unique(group)))
  expect_identical(index[["The map"]], "ibrc-package.Rd")
  index[["The map"]] <- NULL
  map <- lapply(map_sections(pages), function(section) unique(page_of(section$target, pages)))
  expect_identical(lapply(index, sort), lapply(map, sort))
})

# ---- vignettes -----------------------------------------------------------------

vignette_lines <- function() {
  paths <- list.files(source_file("vignettes"), "[.]Rmd$", full.names = TRUE)
  stats::setNames(lapply(paths, readLines, encoding = "UTF-8", warn = FALSE), basename(paths))
}

test_that("files and vignettes that vignettes name exist", {
  for (name in names(vignettes <- vignette_lines())) {
    text <- vignettes[[name]]
    files <- unlist(regmatches(text, gregexpr("`(src|R|tests|inst|data-raw)/[A-Za-z0-9_./-]+`", text)))
    files <- unique(gsub("`", "", files))
    expect_equal(files[!file.exists(file.path("..", "..", files))], character())
    named <- unlist(regmatches(text, gregexpr("vignette\\(\"[a-z]+\"\\)", text)))
    named <- unique(gsub("vignette\\(\"|\"\\)", "", named))
    expect_equal(setdiff(named, sub("[.]Rmd$", "", names(vignettes))), character())
  }
})

test_that("every chunk of a vignette that draws has an alternative text", {
  draws <- "(^|[^_[:alnum:]])(plot(_[a-z]+)?|pp_check|ggplot|ggplot2::ggplot)[(]"
  for (name in names(vignettes <- vignette_lines())) {
    text <- vignettes[[name]]
    open <- grep("^```[{]r", text)
    chunks <- lapply(open, function(i) text[i:min(which(seq_along(text) > i & text == "```"))])
    drawing <- vapply(chunks, function(chunk) any(grepl(draws, chunk)), NA)
    kept <- !grepl("include = FALSE|eval = FALSE", text[open])
    options <- vapply(chunks, function(chunk) {
      paste(c(chunk[1], grep("^#[|]", chunk, value = TRUE)), collapse = " ")
    }, "")
    expect_equal(options[drawing & kept & !grepl("fig.alt", options)], character())
  }
})

test_that("the costs that vignette(\"scale\") shows are those of its script", {
  costs <- utils::read.csv(stored_file("bench", "scale.csv"))
  expect_setequal(costs$topic, c("resolution", "models", "patients", "groups"))
  expect_true(all(costs$step_ms > 0))
  lattice <- costs[costs$topic == "resolution", ]
  states <- as.integer(sub(" states", "", lattice$problem))
  expect_equal(lattice$nodes, choose(lattice$size + states - 1, states - 1))
  first <- !duplicated(costs[c("topic", "problem")])
  start <- costs$step_ms[first][cumsum(first)]
  expect_equal(costs$relative, costs$step_ms / start, tolerance = 0.02)
})

test_that("the script behind vignette(\"scale\") still writes such costs", {
  skip_if_not(Sys.getenv("IBRC_EXTENDED_TESTS") == "1")
  stored <- utils::read.csv(stored_file("bench", "scale.csv"))
  path <- withr::local_tempfile(fileext = ".csv")
  script <- stored_file("bench", "scale.R")
  withr::local_envvar(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep))
  system2(file.path(R.home("bin"), "Rscript"), c(shQuote(script), shQuote(path)), stdout = FALSE)
  again <- utils::read.csv(path)
  sizes <- c("topic", "problem", "size", "nodes", "plan_mb", "visits")
  expect_equal(again[sizes], stored[sizes])
  # Processor time is steadier than the clock, and still no constant.
  expect_lt(stats::median(abs(log(again$relative / stored$relative))), log(1.5))
})
