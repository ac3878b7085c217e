# The table behind read_adni(): a file or a data frame. Its eight columns are found by
# their names, in upper or lower case.

adni_table <- function(file) {
  if (is.data.frame(file)) {
    if (nrow(file) == 0) abort("data", "`file` has no rows.", argument = "file")
    at <- find_adni_columns(names(file))
    for (column in names(file)[at]) check_column(file, column, "file")
    return(stats::setNames(lapply(adni_columns, function(column) {
      plain_adni_column(file[[at[match(column, adni_columns)]]], column)
    }), adni_columns))
  }
  if (!is.character(file) || length(file) != 1 || is.na(file)) {
    abort_input("file", "must be the path of a CSV file or a data frame, not ", describe(file), ".")
  }
  read_adni_file(file)
}

# If codes come with labels, the label says what a code means: 1 may stand for a woman.
plain_adni_column <- function(x, column) {
  if (column == "RID") return(plain_ids(x))
  named <- column %in% c("VISCODE", "DX", "PTGENDER")
  if (named && inherits(x, c("haven_labelled", "labelled"))) plain_labelled(x, labels = TRUE) else plain_column(x)
}

# The position of each column. One error names all columns that are not there.
find_adni_columns <- function(given) {
  at <- lapply(adni_columns, function(column) {
    exact <- which(given == column)
    if (length(exact)) exact else which(lower_case(bare_text(given)) == lower_case(column))
  })
  lost <- adni_columns[lengths(at) == 0]
  if (length(lost)) {
    abort("data", "The table has no column ", enumerate(lost, most = Inf), "; it needs ",
          enumerate(adni_columns, most = Inf), ".", argument = "file", fields = list(columns = lost))
  }
  twice <- adni_columns[lengths(at) > 1]
  if (length(twice)) {
    abort("data", "The table has more than one column ", enumerate(twice, most = Inf), ".",
          argument = "file", fields = list(columns = twice))
  }
  unlist(at)
}

# Messages name the argument, not the path, because paths can contain names of people.
abort_table_file <- function(...) abort("file", "`file` ", ..., argument = "file")

read_adni_file <- function(path) {
  if (!file.exists(path)) abort_table_file("does not exist.")
  if (dir.exists(path)) abort_table_file("is a folder, not a CSV file.")
  lines <- file_lines(path)
  header <- read_header(lines[1])
  wanted <- find_adni_columns(header)
  lines <- check_lines(lines[-1], length(header))
  if (!length(lines)) abort_table_file("has a header and no rows.")
  classes <- rep("NULL", length(header))
  classes[wanted] <- "character"
  table <- tryCatch(
    utils::read.csv(text = lines, header = FALSE, col.names = header, colClasses = classes, check.names = FALSE,
                    na.strings = character(), fill = FALSE, strip.white = TRUE, encoding = "UTF-8"),
    error = refuse_cells, warning = refuse_cells
  )
  if (nrow(table) != length(lines)) refuse_cells()
  # Columns are read in the order of the file.
  stats::setNames(as.list(table)[rank(wanted)], adni_columns)
}

# R's own message about rows that cannot be read may contain the path.
refuse_cells <- function(condition) {
  abort_table_file("cannot be read as a CSV: its quotes or cells do not fit together.")
}

# The lines of a text file, compressed or not, in UTF-8. Any kind of line ending is accepted.
file_lines <- function(path) {
  bytes <- tryCatch(file_bytes(path), error = function(e) abort_table_file("cannot be read."),
                    warning = function(w) abort_table_file("cannot be read."))
  if (!length(bytes)) abort_table_file("is empty.")
  starts <- function(...) length(bytes) >= ...length() && all(bytes[seq_len(...length())] == as.raw(c(...)))
  # Byte order marks that some programs write before the first name.
  if (starts(0xff, 0xfe) || starts(0xfe, 0xff)) {
    bytes <- iconv(list(bytes), "UTF-16", "UTF-8", toRaw = TRUE)[[1]]
    if (is.null(bytes)) abort_table_file("is not a CSV: it starts like UTF-16 text but is not.")
  } else {
    if (any(bytes == as.raw(0))) abort_table_file("is not a CSV: it is not text. Save a workbook as CSV first.")
    if (starts(0xef, 0xbb, 0xbf)) bytes <- bytes[-(1:3)]
  }
  lines <- strsplit(rawToChar(with_line_feeds(bytes)), "\n", fixed = TRUE, useBytes = TRUE)[[1]]
  first <- which(nzchar(lines))[1]
  if (is.na(first)) abort_table_file("is empty.")
  as_utf8(lines[first:length(lines)])
}

# Changes line endings of Windows and of the old Macintosh into plain line feeds.
with_line_feeds <- function(bytes) {
  returns <- which(bytes == as.raw(0x0d))
  if (!length(returns)) return(bytes)
  bytes[returns] <- as.raw(0x0a)
  # The second byte of a pair. There is none after the last byte.
  pair <- returns[returns < length(bytes)] + 1L
  pair <- setdiff(pair[bytes[pair] == as.raw(0x0a)], returns)
  if (length(pair)) bytes[-pair] else bytes
}

file_bytes <- function(path) {
  connection <- gzfile(path, "rb")
  on.exit(close(connection))
  pieces <- list()
  repeat {
    piece <- readBin(connection, "raw", 1e7)
    if (!length(piece)) break
    pieces <- c(pieces, list(piece))
  }
  unlist(pieces)
}

# Checks that every line that is not empty has as many cells as the header. A quote that is not closed in its own line
# would swallow all lines up to the next quote, and the patients in them.
check_lines <- function(lines, n_cells) {
  number <- grep("[^ \t]", lines, useBytes = TRUE)
  lines <- lines[number]
  quotes <- count_sign("\"", lines)
  open <- number[quotes %% 2 == 1]
  if (length(open)) {
    refuse_lines(open, "a quote that is not closed before the line ends.",
                 " Close it or remove it; a cell cannot extend over several lines here.")
  }
  cells <- count_sign(",", gsub("\"[^\"]*\"", "", lines, perl = TRUE, useBytes = TRUE)) + 1
  uneven <- number[cells != n_cells]
  if (length(uneven)) refuse_lines(uneven, "more or fewer cells than the header.")
  lines
}

count_sign <- function(sign, lines) {
  nchar(lines, type = "bytes") - nchar(gsub(sign, "", lines, fixed = TRUE, useBytes = TRUE), type = "bytes")
}

refuse_lines <- function(rows, what, ...) {
  abort("file", "`file` cannot be read as a CSV: after the header, line", if (length(rows) > 1) "s", " ",
        enumerate(rows, quote = ""), if (length(rows) > 1) " have " else " has ", what, ...,
        argument = "file", rows = rows)
}

read_header <- function(line) {
  if (!grepl(",", line, fixed = TRUE)) {
    other <- c(semicolons = ";", tabs = "\t")
    other <- names(other)[vapply(other, grepl, NA, x = line, fixed = TRUE)]
    abort_table_file("is not a CSV: its first line has no commas.",
                     if (length(other)) paste0(" It has ", other[1], "; save it with commas."))
  }
  if (count_sign("\"", line) %% 2 == 1) {
    abort_table_file("cannot be read as a CSV: its first line has a quote that is not closed.")
  }
  bare_text(scan(text = line, what = "", sep = ",", quote = "\"", quiet = TRUE, na.strings = character(),
                 encoding = "UTF-8"))
}
