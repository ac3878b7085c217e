# What scripts behind the site's articles share: long results that are kept on the way, and tables that are stored.

# From `folder` where it is there already.
kept <- function(name, folder, make) {
  file <- if (!is.null(folder)) file.path(folder, paste0(name, ".rds"))
  if (!is.null(file) && file.exists(file)) return(readRDS(file))
  out <- make()
  if (!is.null(file)) saveRDS(out, file)
  out
}

# Numbers with the four digits that are stored.
stored_digits <- function(table) {
  number <- vapply(table, is.double, NA)
  table[number] <- lapply(table[number], signif, 4)
  table
}
