# What tests draw goes nowhere: without this, R leaves an Rplots.pdf beside them.
withr::local_options(device = function(...) grDevices::pdf(NULL, ...), .local_envir = testthat::teardown_env())
