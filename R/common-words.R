# Lists, counts and numbers as text, for messages and printed lines.

# Gives "a", "b" and "c". It shows at most `most` of them, then says how many more there are.
enumerate <- function(x, most = 5, quote = "\"") {
  if (!length(x)) return("none")
  shown <- paste0(quote, safe_text(utils::head(x, most)), quote)
  more <- length(x) - length(shown)
  if (more > 0) shown <- c(shown, paste(more, "more"))
  if (length(shown) < 2) return(shown)
  paste(paste(utils::head(shown, -1), collapse = ", "), "and", utils::tail(shown, 1))
}

plural <- function(n, one, many = paste0(one, "s")) {
  paste(format(n, big.mark = big_mark(), scientific = FALSE, trim = TRUE), if (n == 1) one else many)
}

# A number for a sentence, with a decimal point whatever options(OutDec) says.
format_number <- function(x, digits = 3) format(signif(x, digits), trim = TRUE, digits = digits, decimal.mark = ".")

# Names on a console line: long lists are cut.
listing <- function(x, most = 8) {
  if (length(x) > most) x <- c(utils::head(x, most - 1), paste("and", length(x) - most + 1, "more"))
  paste(safe_text(x), collapse = ", ")
}

# The sign between thousands. It is never the one that options(OutDec = ",") uses as the decimal point.
big_mark <- function() if (identical(getOption("OutDec"), ",")) " " else ","

# format() with a decimal point whatever options(OutDec = ) says: for names, and for text beside sprintf().
format_plain <- function(x, ...) format(x, ..., trim = TRUE, decimal.mark = ".")

# Writes 100000 as "100,000".
format_count <- function(n) format(n, big.mark = big_mark(), scientific = FALSE, trim = TRUE)

format_bytes <- function(bytes) {
  if (bytes < 1000) return(plural(round(bytes), "byte"))
  units <- c("kB", "MB", "GB", "TB", "PB")
  power <- min(floor(log10(bytes) / 3), length(units))
  paste(format(round(bytes / 1000^power, 1), big.mark = big_mark(), scientific = FALSE), units[power])
}

# What an interval in a picture is: "Points and lines: median and 95% interval."
interval_words <- function(marks, conf.level, centre = "median") {
  paste0(marks, ": ", centre, " and ", if (length(conf.level)) paste0(level_text(conf.level), " "), "interval.")
}

# 0.95 as "95%": never rounded to a level that was not asked for.
level_text <- function(conf.level) paste0(format_plain(100 * conf.level, digits = 7), "%")

# The limits of an interval are called by their share, where it is known: "2.5%" and "97.5%".
interval_titles <- function(conf.level) {
  if (is.null(conf.level)) return(c("Lower", "Upper"))
  paste0(format_plain(50 + c(-50, 50) * conf.level), "%")
}

# R-hat has four places wherever it is shown: 1.0096 is below 1.01, and 1.010 would not look so.
rhat_text <- function(rhat) ifelse(is.finite(rhat), sprintf("%.4f", rhat), "unknown")

# Effective draws are rounded down wherever they are shown: 399.6 of them are not the 400 that are asked for. Where they
# are not known, there are too few draws to tell.
draws_text <- function(effective) ifelse(is.na(effective), "too few", format_count(floor(effective)))

contraction_text <- function(contraction) sprintf("%.2f", contraction)

# A probability with as many digits as draws can speak for: never 0 or 1.
chance_text <- function(p) {
  ifelse(p > 0.999, "> 0.999", ifelse(p < 0.001, "< 0.001", sprintf("%.3f", p)))
}

# Numbers of a column, each with so many digits that count: 3.1 as "3.10", 12345.6 as "12,346", 0.0000012 as "1.2e-06".
digits_text <- function(x, digits = 3) {
  plain <- formatC(x, digits = digits, format = "fg", flag = "#", big.mark = big_mark(), decimal.mark = ".")
  plain <- sub("\\.$", "", trimws(plain))
  extreme <- !is.na(x) & x != 0 & (abs(x) < 1e-3 | abs(x) >= 1e7)
  plain[extreme] <- vapply(x[extreme], format_number, "", digits)
  plain[!is.na(x) & x == 0] <- "0"
  plain
}
