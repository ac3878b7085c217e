test_that("what does not fit is refused with its arithmetic, and what fits is not", {
  withr::local_options(ibrc.memory = 8)
  expect_identical(refuse_too_large(8e9, "iter", "nothing"), 8e9)
  error <- expect_error(
    refuse_too_large(19.2e9, "iter", "`iter` = ", format_count(1e8), " would keep ", plural(2.4e9, "number"),
                     advice = "raise `thin`"),
    class = "ibrc_error_memory"
  )
  expect_identical(error$message, paste(
    "`iter` = 100,000,000 would keep 2,400,000,000 numbers, 19.2 GB; this session may use about 8 GB: raise `thin`,",
    "or say with options(ibrc.memory = ) how many GB it may use."
  ))
  expect_identical(error[c("argument", "bytes", "limit")], list(argument = "iter", bytes = 19.2e9, limit = 8e9))
  withr::local_options(ibrc.memory = Inf)
  expect_identical(refuse_too_large(1e300, "iter", "nothing"), 1e300)
})

test_that("the option is what the user says, and a wrong one is said", {
  expect_identical(memory_limit(0.5), 5e8)
  for (wrong in list("8", 0, -1, NA_real_, c(1, 2), numeric())) {
    error <- expect_error(memory_limit(wrong), class = "ibrc_error_input")
    expect_identical(error$argument, "ibrc.memory")
  }
})

test_that("without one the machine is asked, and the container on it", {
  folder <- withr::local_tempdir()
  expect_identical(memory_limit(NULL, folder), usual_memory)
  dir.create(file.path(folder, "proc"))
  told <- function(...) writeLines(c(...), file.path(folder, "proc/meminfo"))
  told("MemTotal:       24000000 kB", "MemAvailable:    8000000 kB")
  expect_identical(memory_limit(NULL, folder), 8e6 * 1024)
  dir.create(file.path(folder, "sys/fs/cgroup/memory"), recursive = TRUE)
  writeLines("max", file.path(folder, "sys/fs/cgroup/memory.max"))
  expect_identical(memory_limit(NULL, folder), 8e6 * 1024)
  writeLines("2147483648", file.path(folder, "sys/fs/cgroup/memory.max"))
  expect_identical(memory_limit(NULL, folder), 2^31)
  writeLines("9223372036854771712", file.path(folder, "sys/fs/cgroup/memory/memory.limit_in_bytes"))
  expect_identical(memory_limit(NULL, folder), 2^31)
  # An older kernel, or something that is not understood.
  unlink(file.path(folder, "sys"), recursive = TRUE)
  told("MemTotal:       24000000 kB")
  expect_identical(memory_limit(NULL, folder), usual_memory)
  told("MemAvailable: unknown")
  expect_identical(memory_limit(NULL, folder), usual_memory)
  expect_gt(memory_limit(NULL), 1e6)
})

test_that("bytes and counts are said as people say them", {
  expect_identical(format_bytes(1), "1 byte")
  expect_identical(format_bytes(2e9), "2 GB")
  expect_identical(format_bytes(1234567), "1.2 MB")
  expect_identical(format_bytes(4e18), "4,000 PB")
  expect_identical(format_count(1e5), "100,000")
})
