# The table behind read_adni(): a file or a data frame, its eight columns found under
# their names in any case.

adni_table <- function(file) {
  if (is.data.frame(file)) {
    if (nrow(file) == 0) abort("data", "`file` has no rows.", argument = "file")
    at <- find_adni_columns(names(file))
    for (column in names(file)[at]) check_column(file, column, "file")
    return(stats::setNames(lapply(at, function(i) file[[i]]), adni_columns))
  }
  if (!is.character(file) || length(file) != 1 || is.na(file)) {
    abort_input("file", "must be the path of a CSV file or a data frame, not ", describe(file), ".")
  }
  read_adni_file(file)
}

# The position of each column; all that are not there are named at once.
find_adni_columns <- function(given) {
  at <- lapply(adni_columns, function(column) {
    exact <- which(given == column)
    if (length(exact)) exact else which(tolower(given) == tolower(column))
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

# Messages name the argument, not the path: paths can have names of people in them.
abort_table_file <- function(...) abort("file", "`file` ", ..., argument = "file")

read_adni_file <- function(path) {
  if (!file.exists(path)) abort_table_file("does not exist.")
  if (dir.exists(path)) abort_table_file("is a folder, not a CSV file.")
  refuse_no_text(path)
  header <- read_header(path)
  wanted <- find_adni_columns(header)
  classes <- rep("NULL", length(header))
  classes[wanted] <- "character"
  table <- tryCatch(
    utils::read.csv(path, header = FALSE, skip = 1, col.names = header, colClasses = classes, check.names = FALSE,
                    na.strings = character(), fill = FALSE, strip.white = TRUE, blank.lines.skip = TRUE),
    error = refuse_rows, warning = refuse_rows
  )
  if (nrow(table) == 0) abort_table_file("has a header and no rows.")
  # Columns come in the order of the file.
  stats::setNames(as.list(table)[rank(wanted)], adni_columns)
}

# What R says of rows that cannot be read may have the path in it: only the line is told.
refuse_rows <- function(condition) {
  said <- conditionMessage(condition)
  line <- regmatches(said, regexpr("line [0-9]+", said))
  abort_table_file("cannot be read as a CSV: ",
                   if (length(line)) paste0("after the header, ", line, " has more or fewer cells than the header.")
                   else "its quotes or cells do not fit together.")
}

# Workbooks, pictures and the like have zero bytes; text has not.
refuse_no_text <- function(path) {
  start <- tryCatch({
    connection <- gzfile(path, "rb")
    on.exit(close(connection))
    readBin(connection, "raw", 4096)
  }, error = function(e) abort_table_file("cannot be read."), warning = function(w) abort_table_file("cannot be read."))
  if (!length(start)) abort_table_file("is empty.")
  if (any(start == as.raw(0))) {
    abort_table_file("is not a CSV: it is not text. Save a workbook as CSV first.")
  }
}

read_header <- function(path) {
  line <- readLines(path, n = 1, warn = FALSE)
  bytes <- charToRaw(line)
  # A mark that some programs put before the first name.
  mark <- as.raw(c(0xef, 0xbb, 0xbf))
  if (length(bytes) >= 3 && all(bytes[1:3] == mark)) bytes <- bytes[-(1:3)]
  line <- iconv(rawToChar(bytes), to = "ASCII", sub = "?")
  if (!grepl(",", line, fixed = TRUE)) {
    other <- c(semicolons = ";", tabs = "\t")
    other <- names(other)[vapply(other, grepl, NA, x = line, fixed = TRUE)]
    abort_table_file("is not a CSV: its first line has no commas.",
                     if (length(other)) paste0(" It has ", other[1], "; save it with commas."))
  }
  trimws(suppressWarnings(scan(text = line, what = "", sep = ",", quote = "\"", quiet = TRUE)))
}
