# Which quantities a name stands for.
quantity_of <- function(term) {
  same <- c(flexibility = "alpha", optimism = "beta", adaptivity = "eta")
  ifelse(term %in% names(same), same[term], term)
}

fixed_words <- function(fixed) paste(names(fixed), "=", vapply(fixed, format, ""), collapse = ", ")
