# Makes inst/extdata/adni-joint*.csv, what vignettes/adni.Rmd reads instead of fitting dynamics and doctors together for
# some ten minutes each. From the package's folder, with the package installed:
#
#   Rscript data-raw/vignette-adni-joint.R [folder to keep fits in]
#
# tests/testthat/test-vignette-adni.R says when it has to be run again.

other <- new.env()
sys.source(file.path("data-raw", "vignette-adni.R"), other)

wanted <- function(dynamics) ibrc::adni_setting(dynamics, full = 0.95)
believed <- function(setting) ibrc::perturb_models(setting, by = 0.1, vary = "both")

# One fit per grouping, kept in `folder` where there is one: a run that was stopped goes on behind it. As many steps as
# the agents' terms take until R-hat is below 1.01 and there are 400 effective draws.
joint_fits <- function(problem, by, folder = NULL, cores = 2) {
  fits <- lapply(by, function(column) {
    file <- if (!is.null(folder)) file.path(folder, paste0("joint-", column, ".rds"))
    if (!is.null(file) && file.exists(file)) return(readRDS(file))
    fit <- ibrc::ibrc(problem$cohort, wanted, believed, problem$prior, list(eta = 0), by = column,
                      dynamics = problem$iohmm, resolution = 20, iter = 24250, warmup = 4000, cores = cores,
                      seed = 1)
    if (!is.null(file)) saveRDS(fit, file)
    fit
  })
  stats::setNames(fits, by)
}

# Rows of all fits, with the grouping beside them.
of_each <- function(fits, read) {
  out <- do.call(rbind, lapply(names(fits), function(by) cbind(by = by, as.data.frame(read(fits[[by]])))))
  rownames(out) <- NULL
  out
}

# Shares of MRIs, seen and replicated, where there are 30 visits or more.
make_checks <- function(fit) {
  do.call(rbind, lapply(c("visit", "belief"), function(type) {
    rows <- as.data.frame(ibrc::pp_data(fit, type, draws = 30, seed = 1))
    rows <- rows[rows$action == "mri" & rows$n >= 30, ]
    data.frame(type = type, group = rows$group, at = if (type == "visit") rows$visit else rows$belief, n = rows$n,
               rows[c("observed", "replicated", "conf.low", "conf.high")])
  }))
}

write_result <- function(table, name) {
  number <- vapply(table, is.double, NA)
  table[number] <- lapply(table[number], signif, 6)
  utils::write.csv(table, file.path("inst", "extdata", paste0("adni-", name, ".csv")), row.names = FALSE, quote = FALSE)
}

if (sys.nframe() == 0) {
  folder <- commandArgs(TRUE)
  fits <- joint_fits(other$vignette_problem(), "over_75", if (length(folder)) folder[1])
  write_result(of_each(fits, generics::tidy), "joint")
  write_result(of_each(fits, ibrc::compare_groups), "joint-contrasts")
  write_result(make_checks(fits$over_75), "joint-checks")
  verdicts <- of_each(fits, function(fit) ibrc::verdict(fit)[c("check", "verdict")])
  write_result(stats::aggregate(verdict ~ by + check, verdicts, function(x) {
    c("ok", "caution", "do not use")[max(match(x, c("ok", "caution", "do not use")))]
  }), "joint-verdicts")
  write_result(other$vignette_inputs("data-raw/vignette-adni-joint.R"), "joint-inputs")
}
