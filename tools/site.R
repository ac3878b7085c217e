# Builds the site into site/ from what is installed: reference, vignettes, news.
# Any warning on the way is a failure, and so is an unknown word, a dead link or a picture without words for it.
#
#   Rscript tools/site.R

destination <- "site"
heard <- character()
hear <- function(w) {
  # Examples whose package is not on this machine are left out: nothing is wrong.
  if (startsWith(conditionMessage(w), "@examplesIf condition")) message("site: ", conditionMessage(w))
  else heard <<- c(heard, conditionMessage(w))
  invokeRestart("muffleWarning")
}

# ---- words ---------------------------------------------------------------------

if (requireNamespace("spelling", quietly = TRUE)) {
  unknown <- spelling::spell_check_package(".")
  if (nrow(unknown)) {
    print(unknown)
    stop("words that neither the dictionary nor inst/WORDLIST knows")
  }
} else {
  message("site: no package 'spelling' here, so words are not checked")
}

# ---- pages ---------------------------------------------------------------------

# To find the files that a vignette uses, rmarkdown hands its source to pandoc, code and
# all, which then takes every `a$b <- c$d` for mathematics and complains. That pass makes no
# page, and is made to keep quiet; what pages give rise to is heard.
hush_pandoc <- function() {
  pandoc <- Sys.which("pandoc")
  if (.Platform$OS.type != "unix" || !nzchar(pandoc)) return(invisible())
  shim <- file.path(tempfile("pandoc"), "pandoc")
  dir.create(dirname(shim))
  writeLines(c("#!/bin/sh", "case \"$*\" in *pagetitle=PREVIEW*) quiet=--quiet ;; *) quiet= ;; esac",
               paste("exec", shQuote(pandoc), "$quiet \"$@\"")), shim)
  Sys.chmod(shim, "755")
  Sys.setenv(RSTUDIO_PANDOC = dirname(shim))
}
hush_pandoc()

# Left alone: a folder that is not of this script's making.
if (dir.exists(destination) && !file.exists(file.path(destination, "pkgdown.yml")) &&
    length(list.files(destination, all.files = TRUE, no.. = TRUE))) {
  stop("site/ exists and was not built here: move it away")
}
unlink(destination, recursive = TRUE)

# pkgdown asks CRAN whether the package is there; that is no page of ours, and there
# may be no way to it.
options(repos = c(CRAN = "https://cloud.r-project.org"), pkgdown.internet = FALSE)
withCallingHandlers(
  pkgdown::build_site(".", preview = FALSE, new_process = FALSE, install = FALSE, devel = FALSE,
                      override = list(destination = destination)),
  warning = hear
)

# README.md links to the vignettes as they lie in the repository; on the site they are articles.
home <- file.path(destination, "index.html")
text <- readLines(home, encoding = "UTF-8")
text <- gsub("href=\"vignettes/([A-Za-z0-9_-]+)[.]Rmd\"", "href=\"articles/\\1.html\"", text)
writeLines(text, home, useBytes = TRUE)

# pkgdown ends a paragraph of the section Value where a line of the source ends in code.
for (page in Sys.glob(file.path(destination, "reference", "*.html"))) {
  text <- paste(readLines(page, encoding = "UTF-8"), collapse = "\n")
  value <- regexpr("(?s)<h2 id=\"value\">.*?(?=<h2|$(?!\n))", text, perl = TRUE)
  if (value < 0) next
  regmatches(text, value) <- gsub("(</code>|</a>|</em>)</p>\\s*<p>", "\\1 ", regmatches(text, value))
  writeLines(text, page, useBytes = TRUE)
}

# ---- formulas ------------------------------------------------------------------

writing <- new.env()
sys.source(file.path("tools", "formulas.R"), writing)
writing$write_formulas(destination)

# ---- pictures ------------------------------------------------------------------

describing <- new.env()
sys.source(file.path("tools", "alt.R"), describing)
describing$write_alt(destination)
mute <- describing$without_alt(destination)
if (length(mute)) {
  writeLines(c("", mute))
  stop("pictures without alternative text")
}

# ---- sentences -----------------------------------------------------------------

reading <- new.env()
sys.source(file.path("tools", "readability.R"), reading)
cat("\nWords per sentence, on average and in the longest, by page\n")
print(reading$page_readability(), row.names = FALSE)

if (length(heard)) {
  writeLines(c("", "site: warnings", unique(heard)))
  quit(status = 1)
}
