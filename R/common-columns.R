# Users bring columns of many classes. They are made plain once, before anything else reads them. Other packages keep
# information beside the values: levels that mean missing, codes that mean missing, whole numbers stored in the bits of
# doubles. is.na(), match() and as.numeric() do not see it, or see it only while that package is loaded.

# A column of numbers, text, dates or a factor whose missing values are NA.
plain_column <- function(x) {
  if (is_integer64(x)) return(integer64_column(x))
  if (is.factor(x)) return(plain_factor(x))
  if (inherits(x, c("haven_labelled", "labelled"))) return(plain_labelled(x))
  if (inherits(x, "POSIXlt")) return(as.POSIXct(x))
  if (is.character(x)) as_utf8(x) else x
}

# addNA() turns missing values into a level, and is.na() does not see such a level.
plain_factor <- function(x) {
  if (anyNA(levels(x))) x <- factor(x, levels = levels(x)[!is.na(levels(x))], exclude = NA)
  marked <- as_utf8(levels(x))
  if (!anyDuplicated(marked)) levels(x) <- marked
  x
}

# Values of haven and similar packages: codes that stand for missing become NA, and labels are dropped.
# `labels = TRUE` puts the label in place of each code that has one.
plain_labelled <- function(x, labels = FALSE) {
  value <- as.vector(unclass(x))
  lost <- value %in% attr(x, "na_values")
  span <- attr(x, "na_range")
  if (length(span) == 2) lost <- lost | !is.na(value) & value >= span[1] & value <= span[2]
  value[lost] <- NA
  known <- attr(x, "labels")
  if (!labels || is.null(names(known))) return(if (is.character(value)) as_utf8(value) else value)
  label <- as_utf8(names(known))[match(value, as.vector(unclass(known)))]
  ifelse(is.na(label) | is.na(value), as_text(value), label)
}

# ---- whole numbers of 64 bits, which the package bit64 keeps in the bits of doubles ----

is_integer64 <- function(x) inherits(x, "integer64") && is.double(x)

# Numbers if a double can hold all of them, otherwise text.
integer64_column <- function(x) {
  text <- integer64_text(x)
  number <- as.numeric(text)
  if (all(abs(number) < whole_limit, na.rm = TRUE)) number else text
}

# Their decimal digits, worked out without the package bit64.
integer64_text <- function(x) {
  bytes <- writeBin(as.vector(unclass(x)), raw(), endian = "little")
  word <- readBin(bytes, "integer", 2 * length(x), size = 4, endian = "little")
  # R reads a word in which only the sign bit is set as a missing integer.
  word <- ifelse(is.na(word), 2^31, word + ifelse(word < 0, 2^32, 0))
  low <- word[c(TRUE, FALSE)]
  high <- word[c(FALSE, TRUE)]
  lost <- low == 0 & high == 2^31
  negative <- high >= 2^31
  high <- ifelse(negative, 2^32 - high - (low > 0), high)
  low <- ifelse(negative, (2^32 - low) %% 2^32, low)
  # high * 2^32 + low, written with one million as the base: 2^32 is 4294 967296.
  first <- floor(high / 1e6)
  second <- high %% 1e6
  ones <- second * 967296 + low
  millions <- first * 967296 + second * 4294 + floor(ones / 1e6)
  rest <- first * 4294 + floor(millions / 1e6)
  digits <- sprintf("%.0f%06.0f%06.0f", rest, millions %% 1e6, ones %% 1e6)
  text <- paste0(ifelse(negative, "-", ""), sub("^0+(?=[0-9])", "", digits, perl = TRUE))
  text[lost] <- NA
  text
}

# ---- identifiers ----

# Up to here, doubles can tell one whole number from the next.
whole_limit <- 2^53

# A column of identifiers: plain, and never numbers that a double cannot hold.
plain_ids <- function(x) if (is_integer64(x)) integer64_text(x) else plain_column(x)

# Missing, or nothing but blanks.
is_lost <- function(x) {
  lost <- is.na(x)
  if (!is.character(x) && !is.factor(x)) return(lost)
  values <- if (is.factor(x)) levels(x) else unique(x[!lost])
  lost | as.character(x) %in% values[!nzchar(bare_text(values))]
}

# Rows whose numbers are so large that rounding may have changed them.
rounded_rows <- function(x) {
  if (!is.double(x) || is.object(x)) return(integer())
  which(is.finite(x) & abs(x) >= whole_limit)
}

# A whole number from 1 for each identifier, in order of first appearance. Classes are dropped first, because match()
# would compare dates and times by the text that they print as.
id_codes <- function(x) {
  if (inherits(x, "POSIXlt")) x <- as.POSIXct(x)
  key <- if (is.factor(x) || is_integer64(x)) id_text(x) else as.vector(unclass(x))
  match(key, unique(key))
}

# Identifiers as text, without loss.
id_text <- function(x) {
  if (is_integer64(x)) return(integer64_text(x))
  if (!is.numeric(x) || is.factor(x)) return(as_utf8(x))
  exact_text(as.vector(unclass(x)))
}

# The number with the fewest digits that still give exactly this number.
exact_text <- function(x) {
  text <- sprintf("%.15g", x)
  given <- which(is.finite(x))
  longer <- given[as.numeric(text[given]) != x[given]]
  text[longer] <- sprintf("%.17g", x[longer])
  whole <- given[x[given] == round(x[given]) & abs(x[given]) < whole_limit]
  # Adding 0 turns -0 into 0, so that both are written alike.
  text[whole] <- sprintf("%.0f", x[whole] + 0)
  text[is.na(x)] <- NA
  text
}

# Values that look the same to a reader but differ for R. Returns their rows, except those of the form that comes first.
lookalike_rows <- function(x) {
  if (!is.character(x) && !is.factor(x)) return(integer())
  values <- if (is.factor(x)) levels(x)[tabulate(x, nlevels(x)) > 0] else unique(x[!is.na(x)])
  bare <- bare_text(values)
  again <- values[duplicated(bare) & nzchar(bare)]
  if (!length(again)) return(integer())
  which(as.character(x) %in% again)
}

lookalike_advice <- "Take them out, with trimws() or gsub(), so that what is the same is written the same."
