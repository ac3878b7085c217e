# What people read: plain words in all texts, and numbers in README.md that come from somewhere.

source_path <- function(...) {
  path <- file.path("..", "..", ...)
  if (!all(file.exists(path))) skip("not in the folder of sources")
  path
}

lines_of <- function(...) readLines(source_path(...), encoding = "UTF-8", warn = FALSE)

tool <- function(name) {
  made <- new.env()
  sys.source(source_path("tools", name), made)
  made
}

# ---- phrases -------------------------------------------------------------------

# "a row a visit" is short for "one row per visit", and stops readers. In code, help, vignettes and README.md, across
# lines.
doubled <- "\\b[Aa]n? [a-z-]+ an? [a-z-]+\\b"

one_line <- function(file) {
  text <- readLines(file, encoding = "UTF-8", warn = FALSE)
  gsub("\\s+", " ", paste(sub("^\\s*(#+'?|[*-] )\\s?", "", text), collapse = " "))
}

test_that("no text says \"a row a visit\"", {
  files <- c(list.files(source_path(c("R", "man", "vignettes")), "[.](R|Rd|Rmd)$", full.names = TRUE),
             source_path("README.md"))
  expect_gt(length(files), 300)
  for (file in files) {
    text <- one_line(file)
    found <- regmatches(text, gregexpr(doubled, text, perl = TRUE))[[1]]
    expect_identical(found, character(), label = basename(file))
  }
  for (odd in c("a row a visit", "A column a state", "an argument a line")) expect_match(odd, doubled, perl = TRUE)
  for (even in c("one row per visit", "a row of a visit", "2.5 a visit")) expect_no_match(even, doubled, perl = TRUE)
})

# Other words for deliberating and departing that texts once had beside those of the glossary.
test_that("what is shown of a plan says what the glossary says", {
  files <- c(list.files(source_path(c("R", "man", "vignettes")), "[.](R|Rd|Rmd)$", full.names = TRUE),
             source_path("README.md"))
  for (file in files) expect_no_match(one_line(file), "(cost|price) of deciding|strays", label = basename(file))
  glossary <- one_line(source_path("vignettes", "glossary.Rmd"))
  expect_match(glossary, "price of deliberating", fixed = TRUE)
  expect_match(glossary, "How far the agent departs from a prior", fixed = TRUE)
  plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), resolution = 10)
  expect_identical(account(plan)$item[2], "cost of deliberating")
  expect_output(print(summary(plan)), "How far it departs from its priors", fixed = TRUE)
})

# A class that is a reserved word comes from roxygen2 as `function`, in quotes.
test_that("pkgdown can read the usage of every method", {
  for (file in list.files(source_path("man"), "[.]Rd$", full.names = TRUE)) {
    expect_no_match(one_line(file), "\\\\method\\{[^}]*\\}\\{`", label = basename(file))
  }
  expect_match("\\method{print}{`function`}(x)", "\\\\method\\{[^}]*\\}\\{`")
})

test_that("words per sentence are counted as a reader would", {
  count <- tool("readability.R")
  page <- c("---", "title: \"x\"", "---", "# Title", "One two three four. Five six `code(a, b)` eight?", "",
            "| a | table |", "```r", "x <- 1 # not prose at all", "```", "* An item of five words.", "$$", "a = b",
            "$$", "$$ a = b $$", "Words before $x + y$ and", "after it.")
  expect_identical(count$sentence_lengths(count$markdown_prose(page)), c(4L, 4L, 5L, 6L))
  help <- withr::local_tempfile(fileext = ".Rd", lines = c(
    "\\name{x}", "\\title{A title}", "\\usage{x(a)}", "\\description{Four words are here.}",
    "\\arguments{\\item{a}{This is \\code{one} more.}}", "\\examples{x(1) and other words}"
  ))
  expect_identical(count$sentence_lengths(count$help_prose(help)), c(4L, 4L))
})

test_that("every picture on the site has words for it", {
  alt <- tool("alt.R")
  folder <- withr::local_tempdir()
  page <- file.path(folder, "draw_it.html")
  writeLines(c("<html><body><img src=\"\" class=\"logo\" alt=\"\"><h1>Draw <code>it</code> &amp; \"say\" \u03b1</h1>",
               "<p><img src=\"draw_it-2.png\" alt=\"\" width=\"7\"><img src=\"a-1.png\" alt=\"Own words\"></p>",
               "</body></html>"), page, useBytes = TRUE)
  expect_length(alt$without_alt(folder), 2)
  alt$write_alt(folder)
  expect_identical(alt$without_alt(folder), character())
  expect_match(readLines(page, encoding = "UTF-8")[2], fixed = TRUE, paste0(
    "alt=\"Picture 2 made by the examples of draw_it: Draw it &amp; &quot;say&quot; \u03b1\" width=\"7\"><img ",
    "src=\"a-1.png\" alt=\"Own words\">"
  ))
  writeLines("<html><body><img src=\"logo.svg\"></body></html>", file.path(folder, "other.html"))
  expect_match(alt$without_alt(folder), "^other.html: <img")
})

test_that("formulas on the site need no script from elsewhere", {
  skip_if(!nzchar(Sys.which("pandoc")), "pandoc is not here")
  folder <- withr::local_tempdir()
  page <- file.path(folder, "page.html")
  writeLines(c("<!-- mathjax --><script src=\"x.js\"></script><script src=\"y.js\"></script><script>other()</script>",
               "<p>Of \\(\\tau(s\\mid u)\\) and \\(a &lt;", "b\\).</p><pre>f(\"\\\\(x\\\\)\")</pre>",
               "<span>\\[\\alpha\\]</span> $$\\gamma^h$$ \u03b2"), page, useBytes = TRUE)
  tool("formulas.R")$write_formulas(folder)
  text <- paste(readLines(page, encoding = "UTF-8"), collapse = "\n")
  expect_length(gregexpr("<math", text)[[1]], 4)
  expect_length(gregexpr("overflow-x", text)[[1]], 2)
  for (kept in c("<mi>\u03c4</mi>", "<mo>&lt;</mo>", "f(\"\\\\(x\\\\)\")", "<script>other()</script>", "\u03b2")) {
    expect_match(text, kept, fixed = TRUE)
  }
  expect_no_match(text, "mathjax|[.]js|[$][$]")
})

test_that("README and articles keep to short sentences", {
  pages <- tool("readability.R")$page_readability(source_path("."))
  articles <- pages[grepl("md$", pages$page), ]
  expect_gt(nrow(articles), 12)
  expect_identical(articles$page[articles$words > 20], character())
  expect_setequal(grep("Rd$", pages$page, value = TRUE), basename(list.files(source_path("man"), "[.]Rd$")))
})

# ---- README.md -----------------------------------------------------------------

between_marks <- function(text, mark) {
  from <- grep(paste0("^<!-- ", mark, ":"), text)
  to <- from + which(text[-seq_len(from)] == "<!-- end -->")[1]
  text[seq(from + 1, to - 1)]
}

said <- function() gsub("\\s+", " ", paste(lines_of("README.md"), collapse = " "))

test_that("README's tables are those of the files behind them", {
  text <- lines_of("README.md")
  write <- tool("readme-text.R")
  expect_identical(between_marks(text, "planning"), write$planning_text(source_path("inst", "bench", "planning.csv")))
  expect_identical(between_marks(text, "accuracy"),
                   write$accuracy_text(source_path("inst", "extdata", "accuracy-scores.csv")))
})

test_that("README says of planning what was measured", {
  figures <- utils::read.csv(source_path("inst", "bench", "planning.csv"))
  of <- function(topic) figures$value[figures$topic == topic]
  expect_match(said(), sprintf("%g to %g plain backups from nothing, and %g to %g from the plan", min(of("cold")),
                               max(of("cold")), min(of("warm")), max(of("warm"))), fixed = TRUE)
  expect_match(said(), sprintf("Plain iteration takes %g to %g.", of("plain_least"), of("plain_most")), fixed = TRUE)
  expect_match(said(), sprintf("over %s times as fast", format(of("twin"), big.mark = ",")), fixed = TRUE)
  expect_match(said(), sprintf("cost %g plain backups", of("evaluation")), fixed = TRUE)
  expect_match(said(), sprintf("cost %g times as much for 64 times the patients", of("patients")), fixed = TRUE)
})

test_that("benchmarks keep their figures by topic, and those that README.md shows are all there", {
  clock <- new.env()
  sys.source(source_path("inst", "bench", "shared", "clock.R"), clock)
  file <- withr::local_tempfile(fileext = ".csv")
  clock$keep("cold", c("a", "b"), c(1, 2), c(3, 4), NA)
  expect_false(file.exists(file))
  clock$keep("cold", c("a", "b"), c(1, 2), c(3, 4), file)
  clock$keep("warm", "a", 1, 5, file)
  clock$keep("cold", "a", 1, 6, file)
  expect_identical(utils::read.csv(file)[c("topic", "value")], data.frame(topic = c("warm", "cold"), value = 5:6))
  scripts <- unlist(lapply(c("forward.R", "inverse.R"), function(name) lines_of("inst", "bench", name)))
  kept <- sub(".*\\bkeep\\(\"([a-z_]+)\".*", "\\1", grep("\\bkeep\\(\"", scripts, value = TRUE))
  expect_setequal(kept, utils::read.csv(source_path("inst", "bench", "planning.csv"))$topic)
})

test_that("README says of the cohort what was put in and found", {
  rows <- utils::read.csv(source_path("inst", "extdata", "adni-joint.csv"))
  contrast <- utils::read.csv(source_path("inst", "extdata", "adni-joint-contrasts.csv"))
  number <- function(x) gsub("-", "\u2212", sprintf("%.2f", x), fixed = TRUE)
  interval <- function(row) sprintf("%s (%s to %s)", number(row$estimate), number(row$conf.low), number(row$conf.high))
  row <- function(term, group) interval(rows[rows$by == "over_75" & rows$term == term & rows$group == group, ])
  between <- interval(contrast[contrast$by == "over_75" & contrast$term == "optimism", ])
  text <- lines_of("README.md")
  expect_true(sprintf("| optimism found | %s | %s | %s |", row("optimism", "up_to_75"), row("optimism", "over_75"),
                      between) %in% text)
  expect_true(sprintf("| \u03b1 found | %s | %s | |", row("alpha", "up_to_75"), row("alpha", "over_75")) %in% text)
  agents <- adni_like_truth()$agents
  put_in <- 1 / c(agents$up_to_75$beta, agents$over_75$beta)
  expect_true(sprintf("| optimism put in | %g | %g | %s |", put_in[1], put_in[2],
                      gsub("-", "\u2212", format(diff(put_in)))) %in% text)
  expect_true(sprintf("| \u03b1 put in | %g | %g | |", agents$up_to_75$alpha, agents$over_75$alpha) %in% text)
  expect_true(all(rows$rhat < 1.01 & rows$ess_bulk > 400 & rows$ess_tail > 400))
  verdicts <- utils::read.csv(source_path("inst", "extdata", "adni-joint-verdicts.csv"))
  expect_identical(as.character(max(factor(verdicts$verdict, c("ok", "caution", "do not use"), ordered = TRUE))),
                   "caution")
  expect_match(said(), "The verdict is `caution`", fixed = TRUE)
})

test_that("README's reasons for priors are right", {
  alpha <- stats::qlnorm(c(0.5, 0.025, 0.975), -1, 1)
  expect_match(said(), do.call(sprintf, c(list("median %.2f; 95%% from %.2f to %.2f"), alpha)), fixed = TRUE)
  gain <- alpha * log(9)
  expect_match(said(), sprintf("by it: %.2f to %.1f.", gain[2], gain[3]), fixed = TRUE)
  expect_match(said(), sprintf("gets %.1f times the weight", exp(2)), fixed = TRUE)
})

test_that("README says of the verdict what was counted", {
  kept <- lines_of("tests", "slow", "kept", "verdict.txt")
  counted <- function(start) {
    line <- grep(start, kept, fixed = TRUE, value = TRUE)[1]
    sub(".*: ([0-9]+) of 100.*", "\\1", line)
  }
  right <- counted("Behaves: fits to behaviour that the model can produce")
  wrong <- counted("Behaves: fits to behaviour that it cannot produce")
  expect_match(said(), sprintf("flagged %s of the 100 wrong ones and %s of the 100 right ones", wrong, right),
               fixed = TRUE)
})

test_that("README and the article on ADNI say how often intervals held the truth, as it was counted", {
  kept <- lines_of("tests", "slow", "kept", "cohorts.txt")
  names <- paste(c("difference", "optimism", "optimism", "alpha", "alpha"),
                 c("over_75", "up_to_75", "over_75", "up_to_75", "over_75"))
  known <- grep("^Planted fault: learned dynamics that are taken as known", kept, value = TRUE)
  held <- vapply(names, function(name) sub(paste0(".*", name, " ([0-9]+).*"), "\\1", known), "", USE.NAMES = FALSE)
  together <- vapply(names, function(name) {
    line <- grep(paste("joint: coverage of", name), kept, fixed = TRUE, value = TRUE)
    sub(".*: ([0-9]+) of 16 .*", "\\1", line)
  }, "", USE.NAMES = FALSE)
  article <- gsub("\\s+", " ", paste(lines_of("vignettes", "adni.Rmd"), collapse = " "))
  fewest <- sub(".*fewest effective draws ([0-9]+).*", "\\1", grep("joint: chains", kept, value = TRUE))
  expect_match(article, paste(fewest, "effective draws or more"), fixed = TRUE)
  for (text in list(said(), article)) {
    expect_match(text, "On 16 fresh cohorts like this one|on 16 fresh cohorts, simulated like this one")
    from <- regexpr("held the true difference in optimism.*?(\\(`make trust|[.] That)", text, perl = TRUE)
    counts <- regmatches(text, from)
    counts <- unlist(regmatches(counts, gregexpr("(?<=in |and )[0-9]+", counts, perl = TRUE)))
    expect_identical(counts, c(held, together))
  }
  # What README says of the fit in its picture is what is stored of it.
  contrasts <- utils::read.csv(source_path("inst", "extdata", "adni-joint-contrasts.csv"))
  optimism <- contrasts[contrasts$term == "optimism", ]
  size <- sprintf("%.2f", -c(optimism$estimate, optimism$conf.high, optimism$conf.low))
  size <- sprintf("by %s (95%% of the posterior from %s to %s; 0.8 was put in)", size[1], size[2], size[3])
  expect_match(said(), size, fixed = TRUE)
  expect_match(said(), paste0("The verdict on this fit is `", optimism$verdict, "`"), fixed = TRUE)
})

test_that("README's printed fit is what its lines print", {
  text <- lines_of("README.md")
  write <- tool("readme-text.R")
  shown <- between_marks(text, "fit")
  expect_identical(shown[c(1, length(shown))], c("```text", "```"))
  row <- function(term) {
    words <- strsplit(trimws(grep(paste0("^ *", term, " "), shown, value = TRUE)[1]), " +")[[1]]
    list(numbers = as.numeric(words[2:4]), verdict = words[5])
  }
  here <- new.env(parent = globalenv())
  here$plot_plans <- function(...) NULL
  eval(parse(text = write$readme_code(text, "neutral  <- plan_agent")), here)
  lines <- write$readme_code(text, "fit <- ibrc(visits, setting, models, fixed")
  here$ibrc <- function(...) ibrc::ibrc(..., refresh = 0, iter = 1000, control = ibrc_control(check = FALSE))
  eval(parse(text = lines[lines != "fit"]), here)
  found <- tidy(here$fit)
  # A shorter run, without the checks: the same posterior, to its own noise.
  for (term in c("alpha", "optimism")) {
    numbers <- unlist(found[found$term == term, c("estimate", "conf.low", "conf.high")], use.names = FALSE)
    expect_equal(row(term)$numbers, numbers, tolerance = 0.06, label = term)
    expect_identical(row(term)$verdict, "caution")
  }
  expect_true(row("alpha")$numbers[2] < 0.5 && 0.5 < row("alpha")$numbers[3])
  expect_true(row("optimism")$numbers[2] < 0.8 && 0.8 < row("optimism")$numbers[3])
  checks <- function(check) grep(paste0("^ *", check, " +"), shown, value = TRUE)
  for (check in c("settled", "whole", "behaves", "identified")) expect_match(checks(check), paste0(check, " +ok"))
  expect_match(checks("assumed"), "caution")
  skip_if_not(Sys.getenv("IBRC_EXTENDED_TESTS") == "1")
  withr::local_options(ibrc.check = TRUE)
  withr::with_dir(source_path("."), expect_identical(shown, write$fit_text()))
})

test_that("README's code fits the page, has its explanations in the text, and its draws are seeded", {
  text <- lines_of("README.md")
  fence <- which(startsWith(text, "```"))
  inside <- unlist(Map(seq, fence[c(TRUE, FALSE)] + 1, fence[c(FALSE, TRUE)] - 1))
  expect_identical(text[inside][nchar(text[inside]) > 100], character())
  opens <- fence[c(TRUE, FALSE)]
  code <- unlist(Map(seq, opens + 1, fence[c(FALSE, TRUE)] - 1)[text[opens] == "```r"])
  expect_identical(text[code][nchar(text[code]) > 84], character())
  expect_identical(grep("#", text[code], value = TRUE), character())
  calls <- parse(text = text[code])
  random <- c("ibrc", "fit_iohmm", "simulate", "cross_validate")
  seeded <- function(call) {
    if (!is.call(call)) return(TRUE)
    own <- !(is.name(call[[1]]) && as.character(call[[1]]) %in% random) || "seed" %in% names(call)
    own && all(vapply(as.list(call)[-1], seeded, NA))
  }
  expect_true(all(vapply(as.list(calls), seeded, NA)))
})

# ---- version, news, glossary, get started ----------------------------------------

test_that("NEWS begins with the version of DESCRIPTION, and each version is there once", {
  version <- read.dcf(source_path("DESCRIPTION"))[, "Version"]
  heads <- grep("^# ", lines_of("NEWS.md"), value = TRUE)
  expect_identical(heads[1], paste("# ibrc", version))
  expect_identical(anyDuplicated(heads), 0L)
  expect_match(heads, "^# ibrc [0-9.]+$")
  expect_match(lines_of("cran-comments.md")[1], version, fixed = TRUE)
})

test_that("files for people who contribute, and long articles, stay out of the built package", {
  ignored <- lines_of(".Rbuildignore")
  out <- c("CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "cran-comments.md", "vignettes/troubleshooting.Rmd",
           "vignettes/adnimerge.Rmd")
  source_path(out)
  for (file in out) expect_true(any(vapply(ignored, grepl, NA, file, perl = TRUE)), label = file)
  expect_false(any(vapply(ignored, grepl, NA, "vignettes/glossary.Rmd", perl = TRUE)))
  site <- lines_of("_pkgdown.yml")
  for (name in c("ibrc", "glossary", "adnimerge", "troubleshooting")) {
    expect_true(paste("  -", name) %in% site, label = name)
  }
})

test_that("the glossary has every parameter under its name, and the numbers in it are right", {
  text <- lines_of("vignettes", "glossary.Rmd")
  rows <- strsplit(grep("^[|]", text, value = TRUE), " *[|] *")
  head <- vapply(rows, function(row) identical(row[2], "Symbol"), NA)
  expect_identical(rows[[which(head)[1]]], c("", "Symbol", "Name", "Unit", "In words", "In the clinic", "In the code"))
  code <- vapply(rows, function(row) gsub("`", "", row[length(row)]), "")
  expect_identical(setdiff(parameter_terms(), code), character())
  unit <- vapply(rows, `[`, "", 4)
  expect_identical(unit[match("optimism", code)], "1 / utility")
  for (name in names(parameters)) {
    if (name != "discount") expect_match(unit[match(name, code)], sub(" .*", "", parameters[[name]]$unit), label = name)
  }
  plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5, optimism = 0.8), diag_models(), resolution = 40)
  believed <- sum(model_weights(plan, c(0.5, 0.5), "monitor") * c(0.6, 0.7, 0.8))
  expect_match(text, sprintf("70%% accurate, acted on as if %.0f%%", 100 * believed), all = FALSE)
  expect_match(text, sprintf("a year from now counts %.2f", 0.95^2), all = FALSE)
  expect_match(text, sprintf("1 nat is %.2f bits", 1 / log(2)), all = FALSE)
})

test_that("Get started prints the fit, R-hat, the check and the verdict before it speaks of an answer", {
  text <- lines_of("vignettes", "ibrc.Rmd")
  lines <- c("^fit$", "\"rhat\"", "^pp_check[(]", "^verdict[(]fit", "^compare_groups[(]fit", "^South is")
  at <- vapply(lines, function(line) {
    found <- grep(line, text)
    if (length(found)) found[1] else NA_integer_
  }, 0L)
  expect_false(anyNA(at))
  expect_false(is.unsorted(at))
})
