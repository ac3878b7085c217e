# Makes inst/extdata/accuracy-*.csv, what vignettes/accuracy.Rmd reads instead of fitting all methods in five folds.
# From the package's folder, with the package installed:
#
#   Rscript data-raw/vignette-accuracy.R [folder to keep what is done in]
#
# tests/testthat/test-vignette-accuracy.R says when it has to be run again.

tables <- new.env()
sys.source(file.path("inst", "bench", "shared", "accuracy.R"), tables)
other <- new.env()
sys.source(file.path("data-raw", "vignette-adni.R"), other)
sys.source(file.path("data-raw", "shared", "kept.R"), environment())

# The action whose areas are stored, and what is left out of the tables, as each fold of it takes minutes.
scored <- c(adni = "mri", pbc = "chol", nafld = "lipids", diag = "monitor")
left_out <- list(adni = character(), pbc = "joint_po_irl", diag = character(),
                 nafld = c("joint_iohmm_bc", "po_irl", "joint_po_irl"))

# One call per table; folds that are done stay in `folder`.
cross_validated <- function(data, folder) {
  methods <- tables[[paste0(data, "_methods")]]()
  methods <- methods[!names(methods) %in% left_out[[data]]]
  file <- if (!is.null(folder)) file.path(folder, paste0("cv-", data, ".folds"))
  ibrc::cross_validate(tables[[paste0(data, "_visits")]](), methods, file = file, refresh = 1)
}

scores_of <- function(data, crossed) {
  scores <- as.data.frame(generics::accuracy(crossed, action = scored[[data]], reference = "ibrc"))
  cbind(data = data, scores[setdiff(names(scores), c("action", "note"))])
}

# The reliability curves, and precision at 41 places of recall.
curves_of <- function(crossed, methods) {
  reliability <- ibrc::accuracy_data(crossed, "reliability", action = "mri", bins = 8)
  precision <- ibrc::accuracy_data(crossed, "precision_recall", action = "mri")
  at <- seq(0, 1, 0.025)
  pieces <- lapply(methods, function(method) {
    mine <- precision[precision$method == method, ]
    said <- reliability[reliability$method == method, ]
    height <- stats::approx(mine$recall, mine$precision, at, rule = 2, ties = "ordered")$y
    rbind(data.frame(type = "reliability", method = method, x = said$said, y = said$seen, visits = said$visits),
          data.frame(type = "precision_recall", method = method, x = at, y = height, visits = NA))
  })
  do.call(rbind, pieces)
}

# What the source of the two tasks knows is known here as well: the sharpness of the rule.
imitation_methods <- function() {
  clone <- function(joint) {
    force(joint)
    function(visits) {
      ibrc::fit_iohmm_bc(visits, 2, joint = joint, sharpness = 10, transitions = "shared", starts = 5, refresh = 0)
    }
  }
  methods <- tables$diag_methods()[c("ibrc", "logistic_3", "rnn", "po_irl")]
  c(methods, list(iohmm_bc = clone(FALSE), joint_iohmm_bc = clone(TRUE)))
}

imitated <- function(task, runs = 5, nsim = 100) {
  study <- ibrc::imitation_study(ibrc::interpole_task(task), imitation_methods(), runs = runs, nsim = nsim, refresh = 1)
  cbind(task = task, as.data.frame(study))
}

# The table, the script, and the data and methods it shares.
accuracy_inputs <- function(script = "data-raw/vignette-accuracy.R", shared = "inst/bench/shared/accuracy.R") {
  out <- other$vignette_inputs(script)
  rbind(out, data.frame(what = "shared", is = other$vignette_inputs(shared)$is[3]))
}

write_result <- function(table, name) {
  utils::write.csv(stored_digits(table), file.path("inst", "extdata", paste0("accuracy-", name, ".csv")), row.names = FALSE,
                   quote = FALSE)
}

if (sys.nframe() == 0) {
  folder <- commandArgs(TRUE)
  folder <- if (length(folder)) folder[1]
  crossed <- lapply(stats::setNames(nm = names(left_out)), function(data) {
    kept(paste0("cv-", data), folder, function() cross_validated(data, folder))
  })
  write_result(do.call(rbind, Map(scores_of, names(crossed), crossed)), "scores")
  write_result(curves_of(crossed$adni, c("ibrc", "rnn", "joint_iohmm_bc", "po_irl")), "curves")
  studies <- lapply(c("diag", "bias"), function(task) kept(paste0("study-", task), folder, function() imitated(task)))
  write_result(do.call(rbind, studies), "imitation")
  write_result(accuracy_inputs(), "inputs")
}
