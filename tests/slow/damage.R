# Checkpoints that were cut or changed: a file cut at every length, and with one bit changed
# in every byte, is refused with a classed error. Each is taken to resume(), as a user
# would; a crash would end this script.
#
#   Rscript tests/slow/damage.R

source(file.path("tests", "slow", "shared", "promise.R"))
source(file.path("tests", "slow", "shared", "small.R"))

# A checkpoint in the middle of a run that goes on for a few steps.
folder <- tempfile("damage")
dir.create(folder)
path <- file.path(folder, "fit.ibrc")
kept <- file.path(folder, "kept.ibrc")
unbroken <- observe(small_fit(asNamespace("ibrc"), iter = 30, file = path, refresh = 10), function(step) {
  if (step == 20) file.copy(path, kept)
})$value
bytes <- bytes_of(kept)
contents <- own("read_checkpoint")(kept)$contents
step <- contents$chain$state$iteration
promise("the file under test is a checkpoint in mid-run, and whole",
        "saved before step 30, and resumed to the draws of an unbroken fit",
        paste0(length(bytes), " bytes, at step ", step, " of 30"),
        step < 30 && identical(resumed_draws(kept), unbroken$draws))

# What comes of such a file: "refused"; "same" or "different" if it was accepted; "error" if
# that has no class, or another.
outcome_of <- function(bytes, take, wanted) {
  unlink(path) # some file systems flush a file that is emptied and filled again
  writeBin(bytes, path)
  tryCatch(if (identical(take(path), wanted)) "same" else "different", ibrc_error_file = function(e) "refused",
           error = function(e) "error")
}

cut_outcomes <- function(lengths, take, wanted) {
  table_of(vapply(lengths, function(n) outcome_of(bytes[seq_len(n)], take, wanted), ""))
}

flip_outcomes <- function(places, take, wanted) {
  bits <- sample(0:7, length(places), replace = TRUE)
  table_of(mapply(function(at, bit) {
    outcome_of(replace(bytes, at, xor(bytes[at], as.raw(2^bit))), take, wanted)
  }, places, bits))
}

table_of <- function(outcomes) table(factor(outcomes, c("refused", "error", "same", "different")))
say <- function(counts) paste0("of ", sum(counts), " files ", paste(counts, names(counts), collapse = ", "))
all_refused <- function(counts) counts[["refused"]] == sum(counts)

# ---- the package ------------------------------------------------------------------

set.seed(6)
take <- function(path) suppressMessages(resume(path, refresh = 0)$draws)
cut <- cut_outcomes(seq_along(bytes) - 1, take, unbroken$draws)
promise("a checkpoint cut at any length is refused", "every length, all refused", say(cut), all_refused(cut))
flipped <- flip_outcomes(seq_along(bytes), take, unbroken$draws)
promise("a checkpoint with a bit changed in any byte is refused", "every byte, at least 2,000, all refused",
        say(flipped), all_refused(flipped) && sum(flipped) >= 2000)

# ---- a reader that trusts its bytes -----------------------------------------------------

# It makes number and hash right instead of looking at them, and takes what is missing for
# zeros, as a file has them whose last block was lost. What it reads is not run: a changed
# number of steps may be a billion.
trusting <- altered_package("read_whole", function(path) {
  found <- readBin(path, "raw", file.size(path))
  sealed(c(found, raw(length(bytes) - length(found))))
})
trust <- function(path) trusting$read_checkpoint(path)$contents
# Cuts that leave zeros where a value stood are met as no value; a cut hash is not missed.
counts <- cut_outcomes(length(bytes) - seq_len(100), trust, contents)
promise("a planted reader that does not look at the length is seen", "100 cuts, not all refused", say(counts),
        !all_refused(counts))
counts <- flip_outcomes(sample(length(bytes), 400), trust, contents)
promise("a planted reader that does not look at the hash is seen",
        "400 changed bytes, one read as something else at least", say(counts), counts[["different"]] > 0)
unlink(folder, recursive = TRUE)
finish()
