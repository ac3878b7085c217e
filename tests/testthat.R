library(testthat)
library(ibrc)

test_check("ibrc")
