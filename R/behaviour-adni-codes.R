# Reads the columns of an ADNI table from numbers, text or factors. Each reader
# returns its values, with NA where the table has none, and two attributes: "unreadable", the
# rows with something that is neither a value nor a code for missing, and "given", the number of
# rows that are not empty.

adni_columns <- c("RID", "VISCODE", "DX", "CDRSB", "Hippocampus", "AGE", "APOE4", "PTGENDER")

# ADNI's codes: -4 means passed over, -1 means known to be missing.
missing_numbers <- c(-4, -1)
missing_texts <- c("", "na", "n/a", "n.a.", "#n/a", "<na>", "nan", "null", "none", ".", "-", "missing", "unknown")

# Text in plain lower case, without quotes and without blanks at its ends. Codes for missing become NA.
plain_text <- function(x) {
  text <- lower_case(bare_text(gsub("[\"']", "", as_utf8(x))))
  text[is_missing_code(text)] <- NA
  text
}

# `text` is in lower case.
is_missing_code <- function(text) {
  text %in% missing_texts | parse_numbers(text, "[.]", ",") %in% missing_numbers
}

new_reading <- function(value, given) {
  structure(value, unreadable = which(given & is.na(value)), given = sum(given))
}

# Numbers between two bounds. "<200" and ">1700" stand for the number behind the sign.
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

# One of a few levels, found by the text that stands for it.
read_level <- function(x, known) {
  text <- plain_text(x)
  level <- unname(known[text])
  new_reading(level, !is.na(text))
}

# "bl" is month 0; "m06", "m6" and "m006" are month 6. Other codes do not name a month.
read_month <- function(x) {
  text <- plain_text(x)
  month <- rep(NA_real_, length(text))
  month[text %in% c("bl", "m0", "m00")] <- 0
  coded <- grepl("^m[0-9]{1,4}$", text)
  month[coded] <- as.numeric(sub("^m", "", text[coded]))
  month
}

# Screening, telephone, unscheduled and similar visits have codes of their own, which do not name a month.
other_visits <- "^(sc.*|f|nv|init|tau|reg|rg|uns[0-9]*|v[0-9]+|y[0-9]+|[0-9]_.*)$"

unreadable_months <- function(x) {
  text <- plain_text(x)
  list(rows = which(!is.na(text) & is.na(read_month(x)) & !grepl(other_visits, text)), given = sum(!is.na(text)))
}

# In "MCI to Dementia", the present diagnosis is the one named last.
read_diagnosis <- function(x) {
  known <- c(nl = "normal", cn = "normal", normal = "normal", smc = "normal", mci = "mci", emci = "mci",
             lmci = "mci", dementia = "dementia", ad = "dementia")
  read_level(sub(".*[[:space:]]to[[:space:]]+", "", plain_text(x)), known)
}

read_sex <- function(x) {
  read_level(x, c(female = "female", f = "female", "2" = "female", male = "male", m = "male", "1" = "male"))
}

# Carriers have one or two copies. A patient whose copies are not known never counts as a carrier.
read_apoe4 <- function(x) {
  copies <- read_measure(x, 0, 2)
  level <- ifelse(copies == 0, "non_carrier", ifelse(copies %in% 1:2, "carrier", NA))
  new_reading(as.vector(level), seq_along(copies) %in% attr(copies, "unreadable") | !is.na(copies))
}

# Identifiers are text: "0123" is not "123". Numbers become text with all their digits. Identifiers that only look the
# same are refused first. After that, blanks and invisible characters can be removed without merging two patients.
read_rid <- function(x) {
  if (is.object(x) && !is.factor(x)) {
    abort_input("file", "must have identifiers (\"RID\") that are text or numbers, not ", describe_column(x), ".")
  }
  large <- rounded_rows(x)
  if (length(large)) abort_rounded_ids(large, "file", "RID")
  text <- if (is.numeric(x)) ifelse(is.finite(x), id_text(x), NA) else unquoted_text(x)
  refuse_lookalikes(text, "file", "RID", topic = "read_adni")
  if (!is.numeric(x)) refuse_part_quoted(as_utf8(x), text)
  text <- bare_text(text)
  text[is_missing_code(lower_case(text))] <- NA
  text
}

# Text without a pair of quotes around the whole.
unquoted_text <- function(x) gsub("^([ \t\r\n]*)([\"'])(.*)\\2([ \t\r\n]*)$", "\\1\\3\\4", as_utf8(x))

# One identifier with quotes and without them, or with other quotes, may be two patients.
refuse_part_quoted <- function(given, unquoted) {
  named <- !is.na(given) & !is_missing_code(lower_case(bare_text(unquoted)))
  rows <- which(named & given != given[match(unquoted, unquoted)])
  if (length(rows)) {
    abort_rows(rows, "file", "column RID has identifiers that differ from others only in quotes",
               advice = "Write what is the same in the same way.", topic = "read_adni")
  }
}

# A measure outside these bounds is not what the column should hold: it may be a volume in cubic centimetres, or a code
# for missing.
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
