# What the columns of an ADNI table say, read from numbers, text or factors. Each reader
# returns its values, NA where the table has none, with the attributes "unreadable", the
# rows that have something that is neither a value nor a missing code, and "given", how
# many rows have anything.

adni_columns <- c("RID", "VISCODE", "DX", "CDRSB", "Hippocampus", "AGE", "APOE4", "PTGENDER")

# -4: passed over, -1: known to be missing.
missing_numbers <- c(-4, -1)
missing_texts <- c("", "na", "n/a", "n.a.", "#n/a", "<na>", "nan", "null", "none", ".", "-", "missing", "unknown")

# Plain lower case, without quotes and outer blanks; NA for the codes of missing.
plain_text <- function(x) {
  text <- lower_case(bare_text(gsub("[\"']", "", as_utf8(x))))
  text[is_missing_code(text)] <- NA
  text
}

# `text`: in lower case.
is_missing_code <- function(text) {
  text %in% missing_texts | parse_numbers(text, "[.]", ",") %in% missing_numbers
}

new_reading <- function(value, given) {
  structure(value, unreadable = which(given & is.na(value)), given = sum(given))
}

# Numbers between bounds. "<200" and ">1700" stand for their bound.
read_measure <- function(x, least, most) {
  if (!is.numeric(x)) {
    text <- sub(bound_sign, "", plain_text(x))
    return(new_reading(read_numbers(text, least, most), !is.na(text)))
  }
  value <- as.numeric(x)
  value[value %in% missing_numbers] <- NA
  given <- !is.na(value)
  value[given & (value < least | value > most)] <- NA
  new_reading(value, given)
}

# One of a few levels by the text that stands for it.
read_level <- function(x, known) {
  text <- plain_text(x)
  level <- unname(known[text])
  new_reading(level, !is.na(text))
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

# Screening, telephone and unscheduled visits and the like have codes of their own, which name no month.
other_visits <- "^(sc.*|f|nv|init|tau|reg|rg|uns[0-9]*|v[0-9]+|y[0-9]+|[0-9]_.*)$"

unreadable_months <- function(x) {
  text <- plain_text(x)
  list(rows = which(!is.na(text) & is.na(read_month(x)) & !grepl(other_visits, text)), given = sum(!is.na(text)))
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
  level <- ifelse(copies == 0, "non_carrier", ifelse(copies %in% 1:2, "carrier", NA))
  new_reading(as.vector(level), seq_along(copies) %in% attr(copies, "unreadable") | !is.na(copies))
}

# Identifiers are text: "0123" is not "123". Numbers become the text of all their digits. Once those that look the same
# are refused, blanks and signs that cannot be seen may go without making one patient of two.
read_rid <- function(x) {
  if (is.object(x) && !is.factor(x)) {
    abort_input("file", "must have identifiers (\"RID\") that are text or numbers, not ", describe_column(x), ".")
  }
  large <- rounded_rows(x)
  if (length(large)) abort_rounded_ids(large, "file", "RID")
  text <- if (is.numeric(x)) ifelse(is.finite(x), id_text(x), NA) else unquoted_text(x)
  refuse_lookalikes(text, "file", "RID", topic = "read_adni")
  text <- bare_text(text)
  text[is_missing_code(lower_case(text))] <- NA
  text
}

# Without outer blanks and the one pair of quotes that may stand around the whole.
unquoted_text <- function(x) {
  trimmed <- function(text) gsub("^[ \t\r\n]+|[ \t\r\n]+$", "", text)
  text <- trimmed(as_utf8(x))
  first <- substr(text, 1, 1)
  enclosed <- which(first %in% c("\"", "'") & nchar(text) > 1 & endsWith(text, first))
  text[enclosed] <- trimmed(substr(text[enclosed], 2, nchar(text[enclosed]) - 1))
  text
}

# Measures whose values are not between these are read as something else than they are: a volume in cubic
# centimetres, a code for missing.
read_adni_codes <- function(table) {
  read <- list(
    CDRSB = read_measure(table$CDRSB, 0, 18), Hippocampus = read_measure(table$Hippocampus, 1000, 1e5),
    AGE = read_measure(table$AGE, 1, 130), APOE4 = read_apoe4(table$APOE4), PTGENDER = read_sex(table$PTGENDER),
    DX = read_diagnosis(table$DX)
  )
  month <- unreadable_months(table$VISCODE)
  judge_unreadable(c(lapply(read, attr, "unreadable"), list(VISCODE = month$rows)),
                   c(vapply(read, attr, 0L, "given"), month$given), "file")
  names(read) <- c("cdr", "hippocampus", "age", "apoe4", "sex", "diagnosis")
  data.frame(rid = read_rid(table$RID), month = read_month(table$VISCODE), lapply(read, as.vector))
}
