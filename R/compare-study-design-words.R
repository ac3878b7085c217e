# What a design says of itself.

#' @export
format.ibrc_study_design <- function(x, ...) {
  groups <- names(x$agents)
  c("The design of a study",
    paste0("  groups        ", listing(paste0(groups, " (", x$patients, ")")), " patients, up to ",
           plural(x$horizon, "visit"), " each"),
    paste0("  differences   ", stated_words(x)),
    if (!is.null(x$clusters)) paste0("  clusters      ", cluster_words(x)),
    if (!is.null(x$confounder)) {
      paste0("  confounder    ", x$confounder$name, ", mean ",
             paste(vapply(drop(x$confounder$chances %*% x$confounder$values), format_number, ""), collapse = ", "),
             " by group; one unit more shifts ", named_words(x$confounder$effect, " by "))
    },
    if (!is.null(x$prior)) paste0("  inferred      ", listing(names(x$prior)),
                                  if (length(x$fixed)) paste0("; held: ", fixed_words(x$fixed))),
    paste0("  fit           ", fit_words(x), ", ", level_text(x$conf.level), " intervals"),
    held_elsewhere(x))
}

# Prices that the agents have, but that the fit holds at other values.
held_elsewhere <- function(design) {
  if (is.null(design$prior)) return(NULL)
  held <- setdiff(names(price_inverses), quantity_of(names(design$prior)))
  lines <- lapply(held, function(price) {
    taken <- price_from(price, design$fixed)
    own <- unique(vapply(design$agents, term_of, 0, price))
    if (any(own != taken)) {
      bullet(paste0("Agents have ", price, " = ", listing(vapply(own, format_number, "")), ", and the fit holds it at ",
                    format_number(taken), "."))
    }
  })
  unlist(lines)
}

#' @export
print.ibrc_study_design <- function(x, ...) {
  writeLines(format(x))
  invisible(x)
}

named_words <- function(x, between = " ") {
  paste(term_words(names(x)), vapply(x, format_number, ""), sep = between, collapse = ", ")
}

stated_words <- function(design) {
  if (length(design$agents) == 1) return("there is one group")
  truth <- contrast_truth(design$agents, union(design_terms(design), stated_terms(design)))
  at <- which(truth != 0 | is.na(truth), arr.ind = TRUE)
  if (!nrow(at)) return("none")
  listing(paste(term_words(rownames(truth)[at[, 1]]), vapply(truth[at], format_number, ""), "in",
                colnames(truth)[at[, 2]]))
}

term_words <- function(term) ifelse(on_log(term), paste("log", term), term)

cluster_words <- function(design) {
  clusters <- design$clusters
  paste0(clusters$n, if (clusters$crossed) " that all groups share" else " in each group", ", column ", clusters$name,
         if (length(clusters$spread)) paste0("; sd of ", named_words(clusters$spread)))
}

fit_words <- function(design) {
  if (is.function(design$fit)) return("a function")
  effects <- design$more$effects
  how <- if (is.null(effects)) "by group" else
    paste("of", paste(vapply(if (is.list(effects)) effects else list(effects), deparse1, ""), collapse = ", "))
  paste0(c(mode = "mode ", profile = "mode ", posterior = "posterior ")[[design$fit]], how,
         if (design$fit == "profile") ", with its profile")
}
