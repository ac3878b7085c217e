# The architecture, held by a test. The first word of a file's name in R/ is its room, and rooms stand in one
# line: nothing on the left knows what stands to its right. Between files no calls go round in a circle. Who
# calls whom is read from the code with codetools; methods that R finds by class are not seen.

rooms <- c("common", "problem", "plan", "behaviour", "iohmm", "infer", "read", "verdict", "fit", "learn", "compare",
           "plot", "report", "explore")

skip_without_sources <- function() {
  skip_if_not_installed("codetools")
  skip_if_not(dir.exists("../../R"), "the sources are not here")
}

# Which file defines a name.
definitions <- function(files) {
  found <- lapply(files, function(file) {
    defined <- Filter(function(line) is.call(line) && identical(line[[1]], as.name("<-")) && is.name(line[[2]]),
                      as.list(parse(file, keep.source = FALSE)))
    names <- vapply(defined, function(line) as.character(line[[2]]), "")
    stats::setNames(rep(basename(file), length(names)), names)
  })
  unlist(unname(found))
}

# What a function calls or hands on, and what those in a list do.
names_used <- function(x) {
  if (is.primitive(x)) return(character())
  if (is.function(x)) return(codetools::findGlobals(x))
  if (is.list(x)) unique(unlist(lapply(x, names_used)))
}

# One row per call from one file to another.
file_calls <- function(owner, namespace) {
  rows <- lapply(names(owner), function(name) {
    used <- intersect(names_used(get(name, namespace)), names(owner))
    used <- used[owner[used] != owner[[name]]]
    data.frame(from = rep(owner[[name]], length(used)), to = unname(owner[used]), by = rep(name, length(used)),
               uses = used)
  })
  do.call(rbind, rows)
}

# Those of the package, looked for once.
calls_of_package <- function() {
  cached("calls_of_package", file_calls(definitions(list.files("../../R", "[.]R$", full.names = TRUE)),
                                        asNamespace("ibrc")))
}

# Files that are on a circle of calls.
on_circle <- function(calls) {
  files <- unique(c(calls$from, calls$to))
  reach <- matrix(FALSE, length(files), length(files), dimnames = list(files, files))
  reach[as.matrix(calls[c("from", "to")])] <- TRUE
  for (via in files) reach <- reach | outer(reach[, via], reach[via, ], `&`)
  files[diag(reach)]
}

room_of <- function(file) sub("[-.].*", "", file)

calls_in_words <- function(calls) sprintf("%s: %s() uses %s of %s", calls$from, calls$by, calls$uses, calls$to)

test_that("every file stands in a room, no room knows one to its right, and no calls go round in a circle", {
  skip_without_sources()
  files <- setdiff(list.files("../../R", "[.]R$", full.names = TRUE), "../../R/ibrc-package.R")
  expect_identical(setdiff(room_of(basename(files)), rooms), character())
  owner <- definitions(files)
  expect_gt(length(owner), 500)
  expect_identical(names(owner)[duplicated(names(owner))], character())
  calls <- calls_of_package()
  expect_gt(nrow(calls), 500)
  back <- match(room_of(calls$from), rooms) < match(room_of(calls$to), rooms)
  expect_identical(calls_in_words(calls[back, ]), character())
  expect_identical(on_circle(calls), character())
})

test_that("every file has tests under its own name", {
  skip_without_sources()
  files <- setdiff(list.files("../../R", "[.]R$"), "ibrc-package.R")
  expect_identical(setdiff(paste0("test-", files), list.files(".", "^test-")), character())
})

# tools/trust.R takes studies of fits for valid when only these files change.
test_that("no fit knows the framework's planners and inverse planners", {
  skip_without_sources()
  skip_if_not(file.exists("../../tools/trust.R"), "the tools are not here")
  lines <- as.list(parse("../../tools/trust.R", keep.source = FALSE))
  wanted <- Filter(function(line) is.call(line) && identical(line[[2]], as.name("not_fits")), lines)[[1]]
  framework <- eval(wanted[[3]])
  calls <- calls_of_package()
  to_framework <- grepl(framework, file.path("R", calls$to))
  from_framework <- grepl(framework, file.path("R", calls$from))
  fits <- room_of(calls$from) %in% rooms[seq_len(match("fit", rooms))]
  expect_identical(calls_in_words(calls[fits & to_framework & !from_framework, ]), character())
})

test_that("a call back and a circle would be seen", {
  skip_if_not_installed("codetools")
  namespace <- list2env(list(first = function(x) second(x), second = function(x) third(x), third = function(x) x,
                             table = list(one = function(x) first(x))))
  owner <- c(first = "plan-a.R", second = "plan-b.R", third = "infer-c.R", table = "plan-b.R")
  calls <- file_calls(owner, namespace)
  expect_identical(calls$uses, c("second", "third", "first"))
  expect_setequal(on_circle(calls), c("plan-a.R", "plan-b.R"))
  expect_identical(match(room_of(calls$from), rooms) < match(room_of(calls$to), rooms), c(FALSE, TRUE, FALSE))
  expect_identical(on_circle(calls[-3, ]), character())
})

test_that("no helper of the tests hides a function of the package", {
  helpers <- list.files(test_path(), "^helper.*[.]R$", full.names = TRUE)
  defined <- unlist(lapply(helpers, function(file) {
    vapply(parse(file, keep.source = FALSE), function(line) {
      if (is.call(line) && identical(line[[1]], quote(`<-`)) && is.name(line[[2]])) as.character(line[[2]]) else ""
    }, "")
  }))
  expect_identical(intersect(defined, ls(asNamespace("ibrc"), all.names = TRUE)), character())
})
