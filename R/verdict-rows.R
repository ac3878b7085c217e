# Rows of a verdict: one per check, with what was seen and asked.

verdict_levels <- c("ok", "caution", "do not use")

# One row, or several: arguments are recycled.
verdict_rows <- function(check, seen, asked, verdict, advice = "", term = NA_character_, group = NA_character_) {
  data.frame(check = check, term = term, group = group, seen = seen, asked = asked,
             verdict = factor(verdict, levels = verdict_levels, ordered = TRUE),
             advice = ifelse(verdict == "ok", "", advice))
}

# The worst of some rows; "ok" of none.
worst_of <- function(verdict) {
  factor(verdict_levels[max(1L, as.integer(verdict))], levels = verdict_levels, ordered = TRUE)
}

# The worst that is said of a term in a group: by rows of its own, and by those that concern all.
verdict_for <- function(rows, term, group) {
  mine <- (is.na(rows$term) | same_quantity(rows$term, term)) & (is.na(rows$group) | rows$group %in% group)
  as.character(worst_of(rows$verdict[mine]))
}

row_labels <- function(rows, grouped) {
  label <- ifelse(is.na(rows$term), "", rows$term)
  group <- safe_text(ifelse(is.na(rows$group) | !grouped, "", rows$group))
  ifelse(nzchar(label) & nzchar(group), paste0(label, " (", group, ")"), paste0(label, group))
}

# "Verdict: caution (whole, assumed)".
verdict_headline <- function(rows) {
  worst <- worst_of(rows$verdict)
  if (worst == "ok") return("Verdict: ok")
  at_fault <- unique(rows$check[rows$verdict == worst])
  paste0("Verdict: ", worst, " (", paste(at_fault, collapse = ", "), ")")
}
