library(testthat)
library(ibrc)

# A check has a few minutes: it runs what machines may differ in, kernels and the rooms up to behaviour, and what is
# read and written. `make test` runs everything.
quick <- paste0("^(common|problem|plan|behaviour|iohmm)-|^(args|backup|draws|habit|hand-solved|numeric|twins|",
                "unscored|fit-ibrc|infer-(checkpoint|distributions|mode|sampler)|read-loglik)$")
everything <- identical(Sys.getenv("NOT_CRAN"), "true")
test_check("ibrc", filter = if (!everything) quick)
