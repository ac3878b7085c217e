# What the columns of an ADNI table say, read from numbers, text or factors. Each reader
# returns its values, NA where the table has none, with the attribute "unreadable":
# the rows that have something that is neither a value nor a missing code.

adni_columns <- c("RID", "VISCODE", "DX", "CDRSB", "Hippocampus", "AGE", "APOE4", "PTGENDER")

# -4: passed over, -1: known to be missing.
missing_numbers <- c(-4, -1)
missing_texts <- c("", "na", "n/a", "nan", "null", "none", ".", "missing", "unknown")

# Plain lower case, without quotes and outer blanks; NA for the codes of missing.
plain_text <- function(x) {
  text <- iconv(as.character(x), to = "ASCII", sub = "?")
  text <- tolower(trimws(gsub("[\"']", "", text)))
  text[text %in% missing_texts] <- NA
  number <- suppressWarnings(as.numeric(text))
  text[number %in% missing_numbers] <- NA
  text
}

# Numbers between bounds. "<200" and ">1700" stand for their bound.
read_measure <- function(x, least, most) {
  text <- if (is.numeric(x)) x else sub("^[<>]=?[[:space:]]*", "", plain_text(x))
  value <- suppressWarnings(as.numeric(text))
  value[value %in% missing_numbers] <- NA
  given <- !is.na(text) & !text %in% missing_numbers
  value[!is.na(value) & (value < least | value > most | !is.finite(value))] <- NA
  structure(value, unreadable = which(given & is.na(value)))
}

# One of a few levels by the text that stands for it.
read_level <- function(x, known) {
  text <- plain_text(x)
  level <- unname(known[text])
  structure(level, unreadable = which(!is.na(text) & is.na(level)))
}

# "bl" is month 0, "m06", "m6" and "m006" are month 6. Other codes are no month.
read_month <- function(x) {
  text <- plain_text(x)
  month <- rep(NA_real_, length(text))
  month[text %in% c("bl", "m0", "m00")] <- 0
  coded <- grepl("^m[0-9]{1,4}$", text)
  month[coded] <- as.numeric(sub("^m", "", text[coded]))
  month
}

# "MCI to Dementia": the diagnosis now is the last one named.
read_diagnosis <- function(x) {
  known <- c(nl = "normal", cn = "normal", normal = "normal", smc = "normal", mci = "mci", emci = "mci",
             lmci = "mci", dementia = "dementia", ad = "dementia")
  read_level(sub(".*[[:space:]]to[[:space:]]+", "", plain_text(x)), known)
}

read_sex <- function(x) {
  read_level(x, c(female = "female", f = "female", "2" = "female", male = "male", m = "male", "1" = "male"))
}

# Carriers have one or two copies; not known is never a carrier.
read_apoe4 <- function(x) {
  copies <- read_measure(x, 0, 2)
  level <- ifelse(copies > 0, "carrier", "non_carrier")
  structure(as.vector(level), unreadable = attr(copies, "unreadable"))
}

read_rid <- function(x) {
  if (is.numeric(x)) {
    x <- as.vector(x)
    x[!is.finite(x) | x %in% missing_numbers] <- NA
    return(x)
  }
  text <- trimws(gsub("[\"']", "", iconv(as.character(x), to = "ASCII", sub = "byte")))
  text[is.na(plain_text(text))] <- NA
  utils::type.convert(text, as.is = TRUE)
}

read_adni_codes <- function(table) {
  read <- list(
    cdr = read_measure(table$CDRSB, 0, 18), hippocampus = read_measure(table$Hippocampus, 1, 1e5),
    age = read_measure(table$AGE, 1, 130), apoe4 = read_apoe4(table$APOE4), sex = read_sex(table$PTGENDER),
    diagnosis = read_diagnosis(table$DX)
  )
  columns <- c(cdr = "CDRSB", hippocampus = "Hippocampus", age = "AGE", apoe4 = "APOE4", sex = "PTGENDER",
               diagnosis = "DX")
  warn_unreadable(stats::setNames(lapply(read, attr, "unreadable"), columns[names(read)]))
  data.frame(rid = read_rid(table$RID), month = read_month(table$VISCODE), lapply(read, as.vector))
}

warn_unreadable <- function(rows) {
  rows <- rows[lengths(rows) > 0]
  if (!length(rows)) return(invisible())
  said <- vapply(names(rows), function(column) {
    paste0(column, " (", if (length(rows[[column]]) == 1) "row " else "rows ",
           enumerate(rows[[column]], quote = ""), ")")
  }, "")
  warn("unreadable", "Values that could not be read count as missing: ", paste(said, collapse = "; "), ".")
}
