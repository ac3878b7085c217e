# Reads numbers from text, in the forms that tables have.

# A few unreadable values are slips. Above this share of a column's values they are more than that.
most_unreadable <- 0.05

# A decimal point as in "6642.1", or a decimal comma as in "6642,1". The other sign, a blank or an apostrophe may stand
# between thousands. The column as a whole decides which of the two it uses: the one under which more of its
# values are numbers between `least` and `most`. If both do equally well but give different numbers (a column with
# "6,642" and nothing else), values that could be either are not read. Returns numbers, and NA where there are none.
read_numbers <- function(text, least = -Inf, most = Inf) {
  text <- gsub("(*UTF)(?<=[0-9])['\\x{2019} ](?=[0-9]{3}(?![0-9]))", "", bare_text(text), perl = TRUE)
  within <- function(value) {
    value[!is.na(value) & (value < least | value > most)] <- NA
    value
  }
  point <- within(parse_numbers(text, "[.]", ","))
  # Without any comma, the column is written as R writes numbers.
  if (!any(grepl(",", text, fixed = TRUE))) return(point)
  comma <- within(parse_numbers(text, ",", "[.]"))
  readable <- c(sum(!is.na(point)), sum(!is.na(comma)))
  if (readable[1] > readable[2]) return(point)
  if (readable[1] < readable[2]) return(comma)
  point[is.na(comma) | point != comma] <- NA
  point
}

parse_numbers <- function(text, decimal, thousands) {
  whole <- paste0("([0-9]+|[1-9][0-9]{0,2}(", thousands, "[0-9]{3})+)")
  form <- paste0("^[+-]?(", whole, "(", decimal, "[0-9]*)?|", decimal, "[0-9]+)([eE][+-]?[0-9]+)?$")
  out <- rep(NA_real_, length(text))
  fits <- grepl(form, text)
  out[fits] <- as.numeric(sub(decimal, ".", gsub(thousands, "", text[fits])))
  out
}

# "<200" and ">1700": the sign, and the number behind it.
bound_sign <- "^[<>]=?[[:space:]]*"

# `rows`: the rows of the values that cannot be read, by column. `given`: how many values each column has. A few such
# values give a warning, more of them an error.
judge_unreadable <- function(rows, given, argument) {
  share <- ifelse(given > 0, lengths(rows) / given, 0)
  lost <- share > most_unreadable
  if (any(lost)) {
    said <- paste0("\"", names(rows)[lost], "\": ", percent_text(share[lost]), " of its values, ",
                   vapply(rows[lost], row_words, ""))
    abort("data", "Too many values cannot be read (column ", paste(said, collapse = "; column "), "). At most ",
          percent_text(most_unreadable), " of a column may be unreadable; those count as missing, with a warning. ",
          "Where there is no value, leave the cell empty or write NA; write numbers as in 6642.1.",
          argument = argument, rows = sort(unique(unlist(rows[lost]))),
          fields = list(columns = names(rows)[lost], share = unname(share[lost])))
  }
  rows <- rows[lengths(rows) > 0]
  if (!length(rows)) return(invisible())
  said <- paste0(names(rows), " (", vapply(rows, row_words, ""), ")")
  warn("unreadable", "Values that could not be read count as missing: ", paste(said, collapse = "; "), ".")
}

row_words <- function(rows) paste(if (length(rows) == 1) "row" else "rows", enumerate(rows, quote = ""))

percent_text <- function(share) {
  percent <- ifelse(share < 0.1, signif(100 * share, 2), round(100 * share))
  paste0(vapply(percent, format_plain, ""), "%")
}

# Wilson's interval of shares, each of `n`.
wilson_ends <- function(share, n, level = 0.95) {
  z2 <- stats::qnorm((1 + level) / 2)^2
  middle <- (share + z2 / (2 * n)) / (1 + z2 / n)
  half <- sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n^2))) / (1 + z2 / n)
  list(low = pmax(middle - half, 0), high = pmin(middle + half, 1))
}
