# The code keeps to the style that .lintr states, everywhere: 0 lints; and its help, news
# and vignettes are spelt as a dictionary and inst/WORDLIST have it. First a file with a
# lint of each kind: a linter that passes it over would prove nothing.
#
#   Rscript tests/slow/lint.R

source(file.path("tests", "slow", "shared", "promise.R"))
if (!requireNamespace("lintr", quietly = TRUE) || !requireNamespace("spelling", quietly = TRUE)) {
  cat("Style and spelling are read by the R packages lintr and spelling.\n")
  quit(status = 77)
}

folders <- c("R", "tests", "inst", "data-raw", "vignettes", "tools")

lints_of <- function(files) {
  found <- lapply(files, function(file) as.data.frame(lintr::lint(file, cache = FALSE)))
  do.call(rbind, found)
}

# ---- planted lints ------------------------------------------------------------------

# The linter that must see it, and the line it is in.
planted <- c(
  assignment_linter = "x = 1",
  object_name_linter = "aName <- 1",
  object_name_linter = "some.name <- 1",
  trailing_whitespace_linter = "y <- 2 ",
  line_length_linter = paste0("z <- \"", strrep("z", 120), "\""),
  infix_spaces_linter = "x<-1",
  commas_linter = "c(1 ,2)",
  no_tab_linter = "\tx <- 1",
  T_and_F_symbol_linter = "x <- T",
  seq_linter = "for (i in 1:length(x)) i",
  vector_logic_linter = "if (x & y) x",
  unreachable_code_linter = "f <- function() {\n  return(1)\n  2\n}",
  todo_comment_linter = "# TODO: this",
  brace_linter = "if (x) {\n  y\n} else z"
)
# Names that are none of the house's own are fine.
fine <- c("print.ibrc_thing <- function(x) x", "f <- function(conf.level, V, RID) V", "f <- function() { x <- 1; x }")

folder <- tempfile("lint")
dir.create(folder)
invisible(file.copy(".lintr", folder))
seen <- vapply(seq_along(planted), function(i) {
  file <- file.path(folder, "planted.R")
  writeLines(planted[[i]], file)
  names(planted)[i] %in% lints_of(file)$linter
}, NA)
file <- file.path(folder, "fine.R")
writeLines(fine, file)
promise("planted lints are seen, each by its linter", "all",
        paste0(sum(seen), " of ", length(planted), if (!all(seen)) paste0(", not ", toString(names(planted)[!seen]))),
        all(seen))
quiet <- lints_of(file)
promise("names that are the paper's, ADNI's or methods are no lints", "0 lints", paste(NROW(quiet), "lints"),
        NROW(quiet) == 0)
unlink(folder, recursive = TRUE)

# ---- the code -----------------------------------------------------------------------

files <- list.files(folders, "[.](R|Rmd)$", recursive = TRUE, full.names = TRUE)
found <- lints_of(files)
for (i in seq_len(NROW(found))) {
  cat(sprintf("%s:%d %s: %s\n", found$filename[i], found$line_number[i], found$linter[i], found$message[i]))
}
promise("no lints", "0, in more than 100 files",
        paste0(NROW(found), " in ", length(files), " files of ", paste0(folders, "/", collapse = ", ")),
        NROW(found) == 0 && length(files) > 100)

# ---- words --------------------------------------------------------------------------

# A word that no dictionary has, in a copy of what there is to read.
folder <- tempfile("words")
dir.create(folder)
invisible(file.copy(c("DESCRIPTION", "NEWS.md", "inst", "man", "vignettes"), folder, recursive = TRUE))
cat("\nA sentense.\n", file = file.path(folder, "NEWS.md"), append = TRUE)
planted <- spelling::spell_check_package(folder)$word
unlink(folder, recursive = TRUE)
promise("a planted word is found", "'sentense' among the words", toString(planted), "sentense" %in% planted)
unknown <- spelling::spell_check_package(".")
if (nrow(unknown)) print(unknown)
promise("no unknown words", "0 words", paste(nrow(unknown), "words"), nrow(unknown) == 0)
finish()
