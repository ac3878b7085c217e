# Files made up for the reader of checkpoints: bytes of a whole one changed, cut, doubled
# or moved, as they are and with the length and hash made right again, so that what lies
# behind those is met as well. The reader gives a value or refuses with its own class of
# error, quickly and without a warning; a file that was not made right again is always
# refused.
#
#   Rscript tests/slow/files.R [files] [seed]

source(file.path("tests", "slow", "shared", "promise.R"))

files <- argument(1, 10000L)
set.seed(argument(2, 1L))

contents <- list(
  draws = array(stats::rnorm(24), c(2, 3, 4), list(NULL, c("alpha", "beta", "eta"), NULL)), seed = 1:6,
  names = c("\u03b1", NA, ""), flags = c(TRUE, NA), nothing = NULL, matrix = matrix(1:4, 2),
  nested = list(list(list(a = 1)), "text"), empty = list(numeric(0), character(0)), odd = c(NaN, NA, -Inf, -0)
)
encode <- own("encode_checkpoint")
read <- own("read_checkpoint")
hash <- own("hash_of")
whole <- encode(contents, c(data = hash(as.raw(1)), model = hash(as.raw(2))))
path <- tempfile(fileext = ".ibrc")
writeBin(whole, path)
stopifnot(identical(read(path)$contents, contents))

odd_bytes <- as.raw(c(0, 1, 2, 3, 4, 5, 127, 128, 254, 255))

change <- function(bytes) {
  n <- length(bytes)
  if (n == 0) return(bytes)
  at <- sample.int(n, 1)
  to <- min(n, at + sample.int(40, 1) - 1L)
  switch(sample.int(7, 1),
    replace(bytes, at, as.raw(sample.int(256, 1) - 1L)),
    replace(bytes, at, sample(odd_bytes, 1)),
    replace(bytes, at:min(n, at + 3L), sample(odd_bytes, min(n, at + 3L) - at + 1L, TRUE)),
    bytes[seq_len(at)],
    bytes[-(at:to)],
    append(bytes, bytes[at:to], sample.int(n, 1)),
    append(bytes, sample(odd_bytes, 4, TRUE), at)
  )
}

outcome <- function(bytes, reader = read) {
  writeBin(bytes, path)
  tryCatch({
    reader(path)
    "read"
  }, ibrc_error_file = function(e) "refused", warning = function(e) paste("warning:", conditionMessage(e)),
  error = function(e) paste("error:", conditionMessage(e)))
}

# A reader whose refusals have no class.
coarse <- altered_package("refuse_damaged", function(why) stop(why))
told <- vapply(1:20, function(i) outcome(change(whole), coarse$read_checkpoint), "")
promise("files: a planted refusal without a class is seen", "one at least",
        paste(sum(startsWith(told, "error")), "of", length(told)),
        any(startsWith(told, "error")))

said <- character(files)
seal <- logical(files)
slowest <- 0
for (i in seq_len(files)) {
  bytes <- whole
  for (k in seq_len(sample.int(4, 1))) bytes <- change(bytes)
  seal[i] <- stats::runif(1) < 0.8
  if (seal[i]) bytes <- sealed(bytes)
  if (identical(bytes, whole)) seal[i] <- TRUE
  took <- system.time(said[i] <- outcome(bytes), gcFirst = FALSE)[["elapsed"]]
  slowest <- max(slowest, took)
  if (!said[i] %in% c("read", "refused")) cat(said[i], ": ", paste(bytes, collapse = ""), "\n", sep = "")
}
unlink(path)
counts <- function(x) paste0(sum(x == "read"), " read, ", sum(x == "refused"), " refused of ", length(x))
promise("files: a file made up and sealed is read or refused", paste(files, "files in all, nothing else, and both met"),
        counts(said[seal]),
        all(said[seal] %in% c("read", "refused")) && any(said[seal] == "read") && any(said[seal] == "refused"))
promise("files: a file made up and not sealed is refused", "all", counts(said[!seal]),
        any(!seal) && all(said[!seal] == "refused"))
promise("files: none takes long", "each below 5 s", paste(format(slowest, digits = 2), "s"), slowest < 5)
finish()
