# Rows of a verdict: one per check, with what was seen and asked.

verdict_levels <- c("ok", "caution", "do not use")

# One row, or several: arguments are recycled.
verdict_rows <- function(check, seen, asked, verdict, advice = "", term = NA_character_, group = NA_character_) {
  rows <- data.frame(check = check, term = term, group = group, seen = seen, asked = asked,
                     verdict = factor(verdict, levels = verdict_levels, ordered = TRUE), advice = advice)
  rows$advice[rows$verdict == "ok"] <- ""
  rows
}

# The worst of some rows; "ok" if there are none.
worst_of <- function(verdict) {
  factor(verdict_levels[max(1L, as.integer(verdict))], levels = verdict_levels, ordered = TRUE)
}

# The worst verdict on a term in a group: from its own rows, and from those that concern all.
verdict_for <- function(rows, term, group) {
  mine <- (is.na(rows$term) | same_quantity(rows$term, term)) & (is.na(rows$group) | rows$group %in% group)
  as.character(worst_of(rows$verdict[mine]))
}

row_labels <- function(rows, grouped) {
  label <- ifelse(is.na(rows$term), "", rows$term)
  group <- safe_text(ifelse(is.na(rows$group) | !grouped, "", rows$group))
  ifelse(nzchar(label) & nzchar(group), paste0(label, " (", group, ")"), paste0(label, group))
}

# "0.25 standard deviations".
deviations_words <- function(size) {
  said <- format_number(size, 2)
  paste(said, if (said == "1") "standard deviation" else "standard deviations")
}

# "Verdict: caution (whole, assumed)".
verdict_headline <- function(rows) {
  worst <- worst_of(rows$verdict)
  if (worst == "ok") return("Verdict: ok")
  at_fault <- unique(rows$check[rows$verdict == worst])
  paste0("Verdict: ", worst, " (", paste(at_fault, collapse = ", "), ")")
}

# Advice with its own number after what it is about.
counted_pattern <- "[{][}] [(]([0-9][0-9, ]*|NA)[)]"

# One sentence for rows that differ only in what they are about and in such a number: `advice` has {n} for it, `each`
# the rows themselves.
said_of_all <- function(advice, each, label) {
  label <- unique(label)
  counts <- unique(regmatches(each, regexpr(counted_pattern, each)))
  counts <- sub(counted_pattern, "\\1", counts)
  size <- as.numeric(gsub("[^0-9]", "", counts))
  if (length(counts) > 1) counts <- paste(unique(counts[c(which.min(size), which.max(size))]), collapse = " to ")
  if (length(label) > 1) {
    advice <- sub("its interval is", "their intervals are", advice, fixed = TRUE)
    advice <- sub("its interval", "their intervals", advice, fixed = TRUE)
  }
  if (length(counts)) advice <- sub("{n}", counts, advice, fixed = TRUE)
  gsub("{}", listing(label), advice, fixed = TRUE)
}
