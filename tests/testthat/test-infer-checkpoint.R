local_folder <- function(frame = parent.frame()) withr::local_tempdir(.local_envir = frame)
local_path <- function(frame = parent.frame()) file.path(local_folder(frame), "fit.ibrc")
write_raw <- function(bytes, path) writeBin(as.raw(bytes), path)
all_files <- function(folder) list.files(folder, all.files = TRUE, no.. = TRUE)
# identical() to the sign of zeros, and NA apart from NaN.
expect_same <- function(x, y) expect_true(identical(x, y, num.eq = FALSE, single.NA = TRUE))

parts <- c(data = "d1", model = "m1", prior = "p1", settings = "s1")

special_values <- list(
  draws = array(c(0.1, -0, Inf, -Inf, NA, NaN, 5e-324, pi), c(2, 2, 2), list(NULL, c("alpha", NA), NULL)),
  seed = c(10403L, NA, -.Machine$integer.max), done = c(a = TRUE, b = FALSE, c = NA), none = NULL,
  text = c("", NA, "NA", "\u03b1\u2260"), empty = list(), named = structure(list(), names = character(0)),
  zero = matrix(0, 0, 3), nested = list(list(1L, list(numeric(0), character(0), logical(0), integer(0))))
)

random_value <- function(depth) {
  n <- sample(0:4, 1)
  x <- switch(sample(if (depth < 24) 6 else 5, 1),
    sample(c(TRUE, FALSE, NA), n, TRUE),
    sample(c(NA, -5:5), n, TRUE),
    sample(c(NA, NaN, Inf, -Inf, 0, -0, 1 / 3, -1e300), n, TRUE),
    sample(c(NA, "", "a", "b c", "\u00e9\u03b2", strrep("x", 300)), n, TRUE),
    NULL,
    lapply(seq_len(n), function(i) random_value(depth + 1))
  )
  if (length(x) == 4 && stats::runif(1) < 0.5) {
    x <- array(x, sample(list(c(2L, 2L), 4L, c(1L, 4L, 1L)), 1)[[1]])
    if (stats::runif(1) < 0.7) dimnames(x) <- lapply(dim(x), function(k) if (k > 1) letters[seq_len(k)])
  } else if (!is.null(x) && stats::runif(1) < 0.4) {
    names(x) <- sample(c("a", "", "\u03b7", NA), length(x), TRUE)
  }
  x
}

# A file with another body, made to look whole.
reseal <- function(bytes) {
  bytes <- utils::head(bytes, -16)
  bytes[9:12] <- writeBin(length(bytes) + 16L, raw(), endian = "little")
  c(bytes, charToRaw(hash_of(bytes)))
}

# What comes of reading these bytes: "whole", or the reason of the refusal. Any
# other condition is passed on and fails the test.
outcome_of <- function(bytes, path, fingerprint = NULL) {
  unlink(path) # some file systems flush a file that is emptied and filled again
  write_raw(bytes, path)
  tryCatch({
    read_checkpoint(path, fingerprint)
    "whole"
  }, ibrc_error_file = function(e) e$reason)
}

test_that("every type comes back as it was, to the bit, and random numbers are left alone", {
  path <- local_path()
  write_checkpoint(path, special_values, parts)
  read <- read_checkpoint(path, parts)
  expect_same(read$contents, special_values)
  expect_identical(read$fingerprint, parts)
  expect_identical(read$version, as.character(utils::packageVersion("ibrc")))
  with_seed(1, for (i in 1:20) {
    contents <- lapply(1:20, random_value)
    before <- .Random.seed
    write_checkpoint(path, contents, "abc")
    expect_same(read_checkpoint(path, "abc")$contents, contents)
    expect_identical(.Random.seed, before)
  })
  expect_identical(all_files(dirname(path)), "fit.ibrc")
})

test_that("a file is decoded again only where it is another", {
  path <- local_path()
  write_checkpoint(path, 1, "abc")
  read <- read_checkpoint(path)
  marked <- c(read, mark = TRUE)
  expect_true(read_checkpoint(path, before = marked)$mark)
  write_checkpoint(path, 2, "abc")
  again <- read_checkpoint(path, before = marked)
  expect_null(again$mark)
  expect_identical(again$contents, 2)
})

test_that("a value that was encoded before is written as it is", {
  path <- local_path()
  for (x in list(special_values, NULL, 1:3)) {
    write_checkpoint(path, list(a = x, b = encoded(x)), "abc")
    expect_same(read_checkpoint(path)$contents, list(a = x, b = x))
  }
})

test_that("what cannot be kept whole is not written", {
  path <- local_path()
  deep <- NULL
  for (i in 1:40) deep <- list(deep)
  for (x in list(factor("a"), quote(a + b), mean, globalenv(), 1i, deep, Sys.time())) {
    expect_error(write_checkpoint(path, list(x), "abc"), "internal")
  }
  for (x in list(NULL, 1, character(0), NA_character_, c("a", "b"), c(a = "x", a = "y"))) {
    expect_error(write_checkpoint(path, list(1), x), "internal")
  }
  expect_false(file.exists(path))
})

test_that("a file that is cut, longer, changed in one bit or foreign is refused", {
  path <- local_path()
  bytes <- encode_checkpoint(list(a = 1.5, b = c("t", NA)), c(data = "1"))
  expect_identical(outcome_of(bytes, path), "whole")
  cut <- function(n) outcome_of(bytes[seq_len(n)], path)
  expect_false("whole" %in% vapply(seq_along(bytes) - 1, cut, ""))
  for (n in c(1, 16, 1000)) expect_identical(outcome_of(c(bytes, raw(n)), path), "damaged")
  flip <- function(at, bit) outcome_of(replace(bytes, at, xor(bytes[at], as.raw(2^bit))), path)
  expect_false("whole" %in% outer(seq_along(bytes), 0:7, Vectorize(flip)))
  noise <- with_seed(2, replicate(200, as.raw(sample(0:255, sample(2000, 1), TRUE))))
  expect_setequal(vapply(noise, outcome_of, "", path), "format")
  expect_setequal(vapply(noise, function(x) outcome_of(c(bytes[1:8], x), path), ""), "damaged")
})

test_that("a file made to look whole is read or refused, and never does more", {
  path <- local_path()
  draws <- matrix(1:4, 2, dimnames = list(NULL, c("u", "v")))
  bytes <- encode_checkpoint(list(a = draws, b = "text", c = list(NA)), c(data = "1"))
  body <- seq(13, length(bytes) - 16)
  outcomes <- with_seed(3, replicate(600, {
    at <- sample(body, sample(3, 1))
    changed <- replace(bytes, at, as.raw(sample(c(0:6, 255, 127, 128), length(at), TRUE)))
    outcome_of(reseal(changed), path)
  }))
  expect_setequal(outcomes, c("whole", "damaged", "version"))
  cut <- vapply(body - 1, function(n) outcome_of(reseal(c(bytes[seq_len(n)], raw(16))), path), "")
  expect_setequal(cut, "damaged")
  expect_identical(outcome_of(reseal(c(utils::head(bytes, -16), raw(17))), path), "damaged")
})

test_that("what is sound and what is not is the twin's opinion too", {
  changed <- function(bytes) {
    bytes <- utils::head(bytes, -16)
    for (k in seq_len(sample(2, 1))) {
      at <- sample(13:length(bytes), 1)
      bytes <- switch(sample(4, 1, prob = c(4, 4, 1, 1)),
        replace(bytes, at, as.raw(sample(c(0:6, 16, 100, 110, 127, 128, 195, 237, 240, 255), 1))),
        replace(bytes, at, as.raw(sample(0:255, 1))),
        bytes[-at],
        append(bytes, bytes[sample(13:length(bytes), 1)], at)
      )
    }
    reseal(c(bytes, raw(16)))
  }
  with_seed(5, {
    wholes <- lapply(1:20, function(i) encode_checkpoint(lapply(1:3, random_value), c(data = "1")))
    wholes <- c(wholes, list(encode_checkpoint(special_values, parts)))
    cases <- c(wholes, unlist(lapply(1:100, function(i) lapply(wholes, changed)), recursive = FALSE))
  })
  sound <- vapply(cases, function(bytes) is.null(flaw_of(bytes)), NA)
  expect_identical(sound, vapply(cases, twin_is_sound, NA))
  expect_true(all(sound[seq_along(wholes)]))
  # Enough of both for the comparison to mean something, and what is sound can be decoded.
  expect_gt(min(table(sound)), 200)
  decode <- function(bytes) {
    from <- rawConnection(utils::tail(utils::head(bytes, -16), -12))
    on.exit(close(from))
    for (i in 1:3) decode_value(from)
    length(readBin(from, "raw", 1))
  }
  expect_identical(unique(vapply(cases[sound], decode, 0L)), 0L)
})

test_that("no length in a file is believed before it is checked", {
  path <- local_path()
  whole <- function(x) writeBin(as.integer(x), raw(), endian = "little")
  start <- utils::head(encode_checkpoint(NULL, "abc"), -17)
  forged <- function(...) outcome_of(reseal(c(start, as.raw(c(...)), raw(16))), path)
  expect_identical(forged(0), "whole")
  for (tag in 1:5) for (n in c(.Machine$integer.max, 1e8, -1, NA)) {
    expect_identical(forged(tag, whole(n), 0), "damaged")
  }
  expect_identical(forged(4, whole(c(2, .Machine$integer.max, .Machine$integer.max)), 0), "damaged")
  expect_identical(forged(4, whole(c(1, -2)), 0), "damaged")
  expect_identical(forged(4, whole(c(1, 1)), 0, 0), "damaged")
  expect_identical(forged(4, whole(c(1, 1)), 0xff, 0), "damaged")
  expect_setequal(vapply(6:255, forged, "", whole(0), 0), "damaged")
  expect_identical(forged(rep(c(5, whole(1)), 1000), 0, raw(1000)), "damaged")
  attribute <- function(name, value) c(whole(nchar(name)), charToRaw(name), encoded(value))
  vector <- c(3, whole(2), writeBin(c(1, 2), raw(), endian = "little"))
  expect_identical(forged(vector, 1, attribute("dim", 2L)), "whole")
  for (bad in list(attribute("dim", 3L), attribute("dim", c(-1L, -2L)), attribute("dim", NA_integer_),
                   attribute("dim", 2), attribute("names", "a"), attribute("class", "a"),
                   attribute("names", list("a", "b")), attribute("dimnames", list("a")))) {
    expect_identical(forged(vector, 1, bad), "damaged")
  }
  expect_identical(forged(vector, 2, attribute("dim", 2L), attribute("dimnames", list("a"))), "damaged")
  expect_identical(outcome_of(c(start[1:8], whole(.Machine$integer.max), raw(100)), path), "damaged")
})

test_that("another format, version or fingerprint is refused by name", {
  path <- local_path()
  bytes <- encode_checkpoint(1, parts)
  expect_identical(outcome_of(reseal(replace(bytes, 5, as.raw(1))), path), "format")
  version <- unclass(utils::packageVersion("ibrc"))[[1]]
  bump <- function(at) paste(replace(version, at, version[at] + 1L), collapse = ".")
  expect_identical(outcome_of(encode_checkpoint(1, parts, bump(1)), path), "version")
  expect_identical(outcome_of(encode_checkpoint(1, parts, bump(2)), path), "version")
  expect_identical(outcome_of(encode_checkpoint(1, parts, bump(3)), path), "whole")
  expect_identical(outcome_of(encode_checkpoint(1, parts, NA_character_), path), "version")
  expect_identical(outcome_of(bytes, path, rev(parts)), "whole")
  for (part in names(parts)) {
    error <- expect_error(read_checkpoint(path, replace(parts, part, "other")), paste("other", part),
                          class = "ibrc_error_file")
    expect_identical(error$parts, part)
    expect_identical(error$argument, "file")
  }
  expect_error(read_checkpoint(path, c(data = "d2", prior = "p2")), "data, model, prior and settings")
  expect_error(read_checkpoint(path, c(parts, extra = "x")), "other extra", class = "ibrc_error_file")
  write_checkpoint(path, 1, "abc")
  expect_error(read_checkpoint(path, "abd"), "other input", class = "ibrc_error_file")
  expect_error(read_checkpoint(path, parts), class = "ibrc_error_file")
})

test_that("a fingerprint is that of the value, not of its making", {
  x <- structure(1:4, names = letters[1:4], note = "n")
  y <- structure(1:4, note = "n", names = letters[1:4])
  expect_identical(fingerprint_of(x), fingerprint_of(y))
  expect_match(fingerprint_of(x), "^[0-9a-f]{16}$")
  expect_identical(fingerprint_of(c(0, NaN)), fingerprint_of(c(-0, 0 / 0)))
  expect_identical(fingerprint_of(NA_real_), fingerprint_of(NA_real_ + 1))
  expect_identical(fingerprint_of(function(a) a + 1), fingerprint_of(function(a)   a+1)) # nolint
  kinds <- list(NULL, NA, 1L, 1, "1", list(), list(1), list(list(1)), c(a = 1), NaN, NA_real_, "", "NA",
                NA_character_, matrix(1), factor("a"), "a", function(a) a, function(a) -a, function(b) b, sum,
                ~a, quote(a), list(a = 1), list(1, NULL), data.frame(a = 1), c("ab", "c"), c("a", "bc"),
                1 + 2^-52)
  expect_identical(anyDuplicated(vapply(kinds, fingerprint_of, "")), 0L)
  expect_error(fingerprint_of(list(globalenv())), "internal")
  # Known answers: the hash of no byte and of one, and one that holds on all machines.
  expect_identical(hash_of(raw(0)), "cbf29ce484222325")
  expect_identical(hash_of(charToRaw("ab"), 1), "af63dc4c8601ec8c")
  expect_identical(fingerprint_of(list(a = 1:3, b = c(0.1, NA), c = "\u03b1")), "0b4998a67666d6ea")
})

test_that("a path that leads nowhere is an error that says so", {
  folder <- local_folder()
  for (path in list(NULL, 1, NA_character_, "", c("a", "b"))) {
    expect_error(write_checkpoint(path, 1, "abc"), class = "ibrc_error_input")
    expect_error(read_checkpoint(path), class = "ibrc_error_input")
  }
  expect_error(write_checkpoint(folder, 1, "abc"), "is a folder", class = "ibrc_error_file")
  expect_error(read_checkpoint(folder), "is a folder", class = "ibrc_error_file")
  lost <- file.path(folder, "lost", "fit.ibrc")
  expect_error(write_checkpoint(lost, 1, "abc"), "its folder exists", class = "ibrc_error_file")
  expect_error(read_checkpoint(lost), "does not exist", class = "ibrc_error_file")
  expect_error(write_checkpoint(file.path(folder, strrep("a", 300)), 1, "abc"), class = "ibrc_error_file")
  expect_length(all_files(folder), 0)
})

test_that("odd names, links and permissions are kept", {
  skip_on_os("windows")
  folder <- local_folder()
  path <- file.path(folder, "a [1]*.\\E?.ibrc")
  write_checkpoint(path, 1, "abc")
  write_checkpoint(path, 2, "abc")
  expect_identical(read_checkpoint(path)$contents, 2)
  Sys.chmod(path, "0640", use_umask = FALSE)
  file.symlink(path, file.path(folder, "link"))
  write_checkpoint(file.path(folder, "link"), 3, "abc")
  expect_identical(Sys.readlink(file.path(folder, "link")), path)
  expect_identical(read_checkpoint(path)$contents, 3)
  expect_identical(format(file.mode(path)), "640")
  pipe <- file.path(folder, "pipe")
  skip_if(system2("mkfifo", shQuote(pipe), stdout = FALSE, stderr = FALSE) != 0, "no pipes here")
  expect_error(write_checkpoint(pipe, 1, "abc"), class = "ibrc_error_file")
  expect_error(read_checkpoint(pipe), class = "ibrc_error_file")
  expect_setequal(all_files(folder), c(basename(path), "link", "pipe"))
})

test_that("a write that fails leaves the old file and nothing else", {
  path <- local_path()
  write_checkpoint(path, "old", "abc")
  expect_error(replace_whole(path, raw(9), function(from, to) "no"), "untouched", class = "ibrc_error_file")
  expect_error(replace_whole(path, raw(9), function(from, to) stop("halt")), "halt")
  expect_type(.Call(ffi_file_write, path, raw(3)), "character")
  expect_type(.Call(ffi_file_replace, paste0(path, ".lost"), path, dirname(path)), "character")
  expect_identical(read_checkpoint(path)$contents, "old")
  expect_identical(all_files(dirname(path)), "fit.ibrc")
})

test_that("an interrupt waits until the part is gone", {
  skip_without_signals()
  path <- local_path()
  held <- FALSE
  slow <- function(from, to) {
    send_interrupt()
    linger()
    held <<- file.exists(from)
    replace_file(from, to)
  }
  expect_true(is_interrupted(replace_whole(path, encode_checkpoint(1, "abc"), slow)))
  expect_true(held)
  expect_identical(read_checkpoint(path)$contents, 1)
  expect_identical(all_files(dirname(path)), "fit.ibrc")
})

test_that("whether a path can be written to is asked without a trace", {
  path <- local_path()
  check_writable(path)
  expect_length(all_files(dirname(path)), 0)
  write_checkpoint(path, 1, "abc")
  bytes <- readBin(path, "raw", 1e4)
  check_writable(path)
  expect_identical(readBin(path, "raw", 1e4), bytes)
  expect_identical(all_files(dirname(path)), "fit.ibrc")
  # Nothing lies below a file.
  for (bad in c(file.path(path, "fit.ibrc"), file.path(dirname(path), "lost", "fit.ibrc"))) {
    error <- expect_error(check_writable(bad), "could not be written", class = "ibrc_error_file")
    expect_identical(error$reason, "write")
  }
})

test_that("a read-only folder or file is an error", {
  skip_on_os("windows")
  folder <- local_folder()
  path <- file.path(folder, "fit.ibrc")
  write_checkpoint(path, "old", "abc")
  Sys.chmod(folder, "0500")
  withr::defer(Sys.chmod(folder, "0700"))
  skip_if(file.access(folder, 2) == 0, "this user may write everywhere")
  expect_error(write_checkpoint(path, "new", "abc"), "untouched", class = "ibrc_error_file")
  Sys.chmod(folder, "0700")
  Sys.chmod(path, "0400")
  expect_error(write_checkpoint(path, "new", "abc"), "read-only", class = "ibrc_error_file")
  expect_identical(read_checkpoint(path)$contents, "old")
})

test_that("what killed processes leave is removed once it is old, and nothing else", {
  folder <- local_folder()
  names <- c("fit.ibrc.1a2b.part", "fit.ibrc.77.part", "fit.ibrc.mine.part", "my.fit.ibrc.1a.part",
             "fitxibrc.1a.part")
  for (name in names) write_raw(1, file.path(folder, name))
  Sys.setFileTime(file.path(folder, names[-2]), Sys.time() - 7200)
  write_checkpoint(file.path(folder, "fit.ibrc"), 1, "abc")
  expect_setequal(list.files(folder), c("fit.ibrc", names[-1]))
})

test_that("fifty kills at random moments leave a whole file each", {
  skip_on_cran()
  skip_on_os("windows")
  path <- local_path()
  write_checkpoint(path, list(0, numeric(20000)), parts)
  last <- moved <- 0
  for (wait in with_seed(4, stats::runif(50, 0, 0.05))) {
    before <- file.mtime(path)
    job <- parallel::mcparallel(repeat {
      last <- last + 1
      write_checkpoint(path, list(last, rep(last, 20000)), parts)
    }, silent = TRUE)
    # From the first write on, however long a process takes to begin.
    patience <- Sys.time() + 10
    while (file.mtime(path) == before && Sys.time() < patience) Sys.sleep(0.002)
    Sys.sleep(wait)
    tools::pskill(job$pid, tools::SIGKILL)
    suppressWarnings(parallel::mccollect(job))
    contents <- read_checkpoint(path, parts)$contents
    expect_true(contents[[1]] >= last && identical(contents[[2]], rep(contents[[1]], 20000)))
    moved <- moved + (contents[[1]] > last)
    last <- contents[[1]]
  }
  # The kills fell among writes, not before them.
  expect_gt(moved, 10)
})

test_that("a disk that takes only a part of the file is an error", {
  skip_on_cran()
  skip_on_os("windows")
  path <- local_path()
  write_checkpoint(path, "old", "abc")
  # A limit on the size of files stands for a full disk.
  script <- withr::local_tempfile(fileext = ".R")
  code <- bquote({
    namespace <- loadNamespace("ibrc", lib.loc = .(dirname(getNamespaceInfo("ibrc", "path"))))
    write <- function() namespace$write_checkpoint(.(path), list(numeric(1e6)), "abc")
    tryCatch(write(), ibrc_error_file = function(e) cat(e$reason))
  })
  writeLines(deparse(code), script)
  run <- paste(shQuote(file.path(R.home("bin"), "Rscript")), shQuote(script))
  command <- shQuote(paste("trap '' XFSZ; ulimit -f 64;", run))
  said <- suppressWarnings(system2("sh", c("-c", command), stdout = TRUE, stderr = FALSE))
  skip_if(length(said) == 0, "no limit can be set here")
  expect_identical(said, "write")
  expect_identical(read_checkpoint(path)$contents, "old")
  expect_identical(all_files(dirname(path)), "fit.ibrc")
})
