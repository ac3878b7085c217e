# The checks of a fit take longer than the small fits of most tests: those that look at a verdict ask for them.
options(ibrc.check = FALSE)
