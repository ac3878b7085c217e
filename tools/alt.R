# Words for pictures on the built site, for those who cannot see them. Articles have words for theirs; pictures that
# examples draw on reference pages get them here. Used by tools/site.R.

# Lines of the reference page of `topic`: "Picture 1 made by the examples of plot_groups: Draw groups side by side".
# The place that pkgdown keeps for a logo goes: there is none.
with_alt <- function(text, topic) {
  text <- gsub("<img src=\"\" class=\"logo\" alt=\"\">", "", text, fixed = TRUE)
  heading <- regmatches(text, regexpr("<h1[^>]*>.*?</h1>", text, perl = TRUE))
  title <- gsub("\"", "&quot;", gsub("<[^>]*>", "", c(heading, "")[1]), fixed = TRUE)
  words <- paste0("Picture \\2 made by the examples of ", topic, ": ", gsub("\\", "\\\\", title, fixed = TRUE))
  gsub("(<img src=\"[^\"]*-([0-9]+)[.]png\" )alt=\"\"", paste0("\\1alt=\"", words, "\""), text)
}

write_alt <- function(folder) {
  for (page in list.files(folder, "[.]html$", recursive = TRUE, full.names = TRUE)) {
    text <- readLines(page, encoding = "UTF-8", warn = FALSE)
    writeLines(with_alt(text, sub("[.]html$", "", basename(page))), page, useBytes = TRUE)
  }
}

# Pictures without words: the page, and how the picture begins.
without_alt <- function(folder) {
  said <- "^( [a-z-]+=\"[^\"]*\")* alt=\"[^\"]*[^\" ][^\"]*\""
  found <- lapply(list.files(folder, "[.]html$", recursive = TRUE), function(page) {
    text <- paste(readLines(file.path(folder, page), encoding = "UTF-8", warn = FALSE), collapse = " ")
    pictures <- strsplit(paste0(text, " "), "<img", fixed = TRUE)[[1]][-1]
    mute <- pictures[!grepl(said, pictures)]
    if (length(mute)) paste0(page, ": <img", substr(mute, 1, 60))
  })
  as.character(unlist(found))
}
