# Text from users, in any encoding and locale, and text that is safe to print.

# Turns anything into text. Numbers have a decimal point, whatever options(OutDec = ) says.
as_text <- function(x) {
  if (is.character(x)) return(as.vector(x))
  old <- options(OutDec = ".")
  on.exit(options(old))
  as.character(x)
}

# Text that is marked as UTF-8. Bytes that are valid UTF-8 are read as UTF-8 in every locale, all others as latin1.
as_utf8 <- function(x) {
  x <- as_text(x)
  kind <- Encoding(x)
  if (all(kind == "unknown") && all(validUTF8(x))) {
    Encoding(x) <- "UTF-8"
    return(x)
  }
  x[kind == "latin1"] <- enc2utf8(x[kind == "latin1"])
  raw <- kind != "latin1" & !is.na(x)
  fine <- raw & validUTF8(x)
  marked <- x[fine]
  Encoding(marked) <- "UTF-8"
  x[fine] <- marked
  other <- raw & !fine
  x[other] <- iconv(x[other], "latin1", "UTF-8")
  x
}

# Changes only A to Z to lower case: in a Turkish locale tolower("I") is not "i".
lower_case <- function(x) chartr("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", x)

upper_case <- function(x) chartr("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", x)

# Text without blanks at its ends and without invisible characters. Inner runs of blanks become one blank.
bare_text <- function(x) {
  x <- as_utf8(x)
  odd <- which(!is.na(x) & grepl("[^ -~]", x, useBytes = TRUE))
  without <- "[\\x{AD}\\x{200B}-\\x{200F}\\x{202A}-\\x{202E}\\x{2060}-\\x{2064}\\x{FEFF}]"
  blank <- "[\\t\\r\\n\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}]"
  x[odd] <- gsub(paste0("(*UTF)", without), "", x[odd], perl = TRUE)
  x[odd] <- gsub(paste0("(*UTF)", blank), " ", x[odd], perl = TRUE)
  gsub("^ | $", "", gsub(" +", " ", x))
}

# Sorted by the codes of the letters, which gives the same order in every locale.
sorted_text <- function(x) sort(unique(as_utf8(x)), method = "radix")

# Text for a console. Characters that control a terminal, and those that change the direction of writing, are escaped as
# encodeString() does. No others are.
safe_text <- function(x) {
  text <- as_text(x)
  odd <- grep("[^ -~]", text, useBytes = TRUE)
  marked <- as_utf8(text[odd])
  steering <- "(*UTF)[\\x{1}-\\x{1F}\\x{7F}-\\x{9F}\\x{200E}\\x{200F}\\x{202A}-\\x{202E}\\x{2066}-\\x{2069}]"
  for (i in grep(steering, marked, perl = TRUE)) {
    signs <- strsplit(marked[i], "")[[1]]
    bad <- grep(steering, signs, perl = TRUE)
    code <- utf8ToInt(paste(signs[bad], collapse = ""))
    signs[bad] <- ifelse(code < 0x80, encodeString(signs[bad]), sprintf("\\u%04x", code))
    text[odd[i]] <- paste(signs, collapse = "")
  }
  text
}
