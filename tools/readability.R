# Words per sentence on every page of the site: README, articles and help. Long sentences stop readers, above all those
# whose first language is another one. Printed by `make site`, and by itself:
#
#   Rscript tools/readability.R

# Prose of Markdown, one element per paragraph or list item: code, tables, formulas, headings and HTML are left out.
markdown_prose <- function(lines) {
  if (length(lines) && lines[1] == "---") lines <- lines[-seq_len(which(lines == "---")[2])]
  fence <- grepl("^ *```", lines)
  lines <- lines[!fence & cumsum(fence) %% 2 == 0]
  lines <- gsub("\\$\\$.+?\\$\\$", "", lines, perl = TRUE)
  display <- grepl("^\\$\\$", lines)
  lines <- lines[!display & cumsum(display) %% 2 == 0]
  lines[grepl("^(#|\\||<|!\\[)", lines)] <- ""
  begins <- !nzchar(trimws(lines)) | grepl("^ *([*-]|[0-9]+[.]) ", lines)
  text <- unlist(lapply(split(lines, cumsum(begins)), paste, collapse = " "), use.names = FALSE)
  text <- gsub("`[^`]*`", "code", text)
  text <- gsub("\\$[^$]+\\$", "symbol", text)
  text <- gsub("\\]\\([^)]*\\)", "]", text)
  trimws(sub("^ *([*-]|[0-9]+[.]) ", "", text))
}

# Prose of a help page: what it says, without usage and examples.
help_prose <- function(file) {
  skipped <- c("\\usage", "\\examples", "\\alias", "\\name", "\\title", "\\keyword", "\\references", "\\seealso",
               "\\concept", "\\author", "\\preformatted", "\\tabular", "\\deqn", "COMMENT")
  words <- function(part) {
    tag <- c(attr(part, "Rd_tag"), "")[1]
    if (tag %in% skipped) return("\n\n")
    if (tag %in% c("\\code", "\\verb", "\\eqn")) return("code")
    if (!is.list(part)) return(as.character(part))
    if (tag == "\\item" && length(part) == 2) part <- part[[2]]
    if (tag == "\\section") part <- part[[2]]
    inside <- unlist(lapply(part, words))
    if (tag %in% c("", "\\code", "\\link", "\\emph", "\\strong")) inside else c("\n\n", inside, "\n\n")
  }
  text <- paste(unlist(lapply(tools::parse_Rd(file), words)), collapse = "")
  trimws(gsub("\\s+", " ", strsplit(text, "\n[ \t]*\n")[[1]]))
}

# A sentence ends at a full stop or a question mark before a space; what has fewer than three words is no sentence.
sentence_lengths <- function(prose) {
  prose <- gsub("\\b(e[.]g|i[.]e|etc|vs|Fig|Eq|et al)[.]", "\\1", prose)
  sentences <- unlist(strsplit(as.character(prose), "(?<=[.?!])[\")*_]*\\s+", perl = TRUE))
  words <- lengths(regmatches(sentences, gregexpr("[[:alnum:]][[:alnum:]'\u2019.,-]*", sentences)))
  words[words > 2]
}

page_readability <- function(folder = ".") {
  markdown <- c(file.path(folder, "README.md"), Sys.glob(file.path(folder, "vignettes", "*.Rmd")))
  help <- Sys.glob(file.path(folder, "man", "*.Rd"))
  prose <- c(lapply(markdown, function(file) markdown_prose(readLines(file, encoding = "UTF-8", warn = FALSE))),
             lapply(help, help_prose))
  lengths <- lapply(prose, sentence_lengths)
  middle <- function(f) vapply(lengths, function(n) if (length(n)) as.numeric(f(n)) else NA_real_, 0)
  pages <- data.frame(page = basename(c(markdown, help)), sentences = lengths(lengths), words = round(middle(mean), 1),
                      longest = middle(max))
  pages[order(-pages$words), ]
}

if (sys.nframe() == 0L) {
  pages <- page_readability()
  cat("Words per sentence, on average and in the longest, by page\n")
  print(pages, row.names = FALSE)
}
