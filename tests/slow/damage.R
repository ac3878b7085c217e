# Checkpoints that were cut or changed: a file cut at every length, and with one bit changed
# in every byte, is refused with a classed error. So is one in whose contents something was
# changed and which was then sealed again; with its fingerprint made right as well it is
# refused, or holds a fit, if another. Each is taken to resume(), as a user would; a
# crash would end this script. Run by `make trust`, which names the sources, it goes on where it
# was stopped; outcomes on other sources are not taken over, as one field may be held to less there.
#
#   Rscript tests/slow/damage.R

source(file.path("tests", "slow", "shared", "promise.R"))
source(file.path("tests", "slow", "shared", "small.R"))
source(file.path("tests", "slow", "shared", "parts.R"))
for (helper in c("helper-random.R", "helper-fits.R", "helper-dynamics.R", "helper-population.R",
                 "helper-checkpoint.R")) {
  source(file.path("tests", "testthat", helper))
}

# ---- a package that does not look (in a process of its own, which may crash) ------------------

# An outcome a line, as they come.
given <- commandArgs(TRUE)
if (length(given) > 1 && given[1] == "planted") {
  blind <- altered_package("held_job", function(held, given) own("job_from_plain")(held$contents$job))
  kind <- readRDS(given[2])
  set.seed(7)
  for (change in sample(changed_contents(kind$held$contents), 150)) {
    write_changed(given[3], kind$held, change, honest = FALSE)
    cat(outcome_of_change(given[3], blind), "\n", sep = "")
  }
  quit(status = 0)
}

folder <- tempfile("damage")
dir.create(folder)

# ---- what is kept of a run that is stopped ------------------------------------------------------

under_trust <- nzchar(Sys.getenv("IBRC_SOURCES"))
parts <- if (under_trust) parts_folder("damage") else folder
dir.create(parts, showWarnings = FALSE)

# The data frame that `work` returns, which is done once.
kept_part <- function(name, work) {
  file <- part_files(parts, name)
  if (!file.exists(file)) write_part(part_lines(work), file)
  utils::read.csv(file, colClasses = "character")
}

# The rows that `rows_of` returns for so many things at a time.
kept_parts <- function(name, things, size, rows_of) {
  chunks <- split(things, ceiling(seq_along(things) / size))
  rows <- Map(function(chunk, i) kept_part(paste0(name, "-", i), rows_of(chunk)), chunks, seq_along(chunks))
  do.call(rbind, unname(rows))
}

# ---- a checkpoint in the middle of a run that goes on for a few steps ---------------------------

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
  tryCatch(if (identical(take(path), wanted)) "same" else "different", ibrc_error_checkpoint = function(e) "refused",
           error = function(e) "error")
}

cut_outcomes <- function(lengths, take, wanted) {
  vapply(lengths, function(n) outcome_of(bytes[seq_len(n)], take, wanted), "")
}

# `bits`: which of each byte.
flip_outcomes <- function(places, bits, take, wanted) {
  mapply(function(at, bit) outcome_of(replace(bytes, at, xor(bytes[at], as.raw(2^bit))), take, wanted), places, bits)
}

bits_of <- function(places) sample(0:7, length(places), replace = TRUE)

table_of <- function(outcomes) table(factor(outcomes, c("refused", "error", "same", "different")))
say <- function(counts) paste0("of ", sum(counts), " files ", paste(counts, names(counts), collapse = ", "))
all_refused <- function(counts) counts[["refused"]] == sum(counts)

# ---- the package ------------------------------------------------------------------

set.seed(6)
take <- function(path) suppressMessages(resume(path, refresh = 0)$draws)
cut <- kept_parts("cut", seq_along(bytes) - 1, 4000, function(lengths) {
  data.frame(outcome = cut_outcomes(lengths, take, unbroken$draws))
})
cut <- table_of(cut$outcome)
promise("a checkpoint cut at any length is refused", "every length, all refused", say(cut), all_refused(cut))
bits <- bits_of(bytes)
flipped <- kept_parts("flipped", seq_along(bytes), 4000, function(places) {
  data.frame(outcome = flip_outcomes(places, bits[places], take, unbroken$draws))
})
flipped <- table_of(flipped$outcome)
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
counts <- table_of(cut_outcomes(length(bytes) - seq_len(100), trust, contents))
promise("a planted reader that does not look at the length is seen", "100 cuts, not all refused", say(counts),
        !all_refused(counts))
places <- sample(length(bytes), 400)
counts <- table_of(flip_outcomes(places, bits_of(places), trust, contents))
promise("a planted reader that does not look at the hash is seen",
        "400 changed bytes, one read as something else at least", say(counts), counts[["different"]] > 0)

# ---- contents changed, sealed again -------------------------------------------------------

kinds <- checkpoint_kinds(folder)

# A file may rightly ask for a million steps, of which these chains need more than anybody waits for here: such a run is
# ended.
patience <- 20
is_long_run <- function(change) {
  change$way == "job$run$max_iter" && is.numeric(change$new) && identical(as.numeric(change$new), 1e6)
}

outcomes_of_changes <- function(kind, changes, honest, from = asNamespace("ibrc")) {
  outcomes <- vapply(changes, function(change) {
    write_changed(path, kind$held, change, honest)
    took <- system.time(outcome <- outcome_of_change(path, from, patience, kind$given))[["elapsed"]]
    if (is_long_run(change) && took >= patience && !outcome %in% c("refused", "fit", "broken")) "ended" else outcome
  }, "")
  data.frame(way = vapply(changes, `[[`, "", "way"), what = vapply(changes, `[[`, "", "what"), outcome = outcomes)
}

count_changes <- function(rows) {
  named <- c("refused", "fit", "ended", "broken")
  odd <- rows[!rows$outcome %in% named[1:3], ]
  cat(sprintf("  %s, %s: %s\n", odd$way, odd$what, odd$outcome), sep = "")
  table(factor(ifelse(rows$outcome %in% named, rows$outcome, "error"), c(named, "error")))
}

for (name in names(kinds)) {
  kind <- kinds[[name]]
  changes <- changed_contents(kind$held$contents)
  # All of them for a long run, for groups that have all of their own, for dynamics and for people who differ; of the
  # others a share.
  in_full <- name %in% c("near its end", "of two groups", "of dynamics and agents", "of a population")
  set.seed(6)
  if (!in_full) changes <- sample(changes, 200)
  counts_of <- function(honest) {
    part <- paste(c(if (honest) "honest", strsplit(name, "[^a-z]+")[[1]]), collapse = "-")
    count_changes(kept_parts(part, changes, 300, function(some) outcomes_of_changes(kind, some, honest)))
  }
  asked <- function(what) paste0(if (in_full) "every kind of change of every field, " else "200 changes, ", what)
  counts <- counts_of(honest = FALSE)
  promise(paste0("a checkpoint ", name, ", changed in any field and sealed again, is refused"),
          asked("all refused"), say(counts), all_refused(counts))
  counts <- counts_of(honest = TRUE)
  promise(paste0("a checkpoint ", name, ", changed so and with a fingerprint made right, is refused or holds a fit"),
          asked(paste("all refused with a class of their own, or fits that can be read, or a run to a million steps",
                      "that was ended")),
          say(counts), sum(counts[c("refused", "fit", "ended")]) == sum(counts))
}

kind <- kinds[["near its end"]]
saveRDS(kind, file.path(folder, "kind.rds"))
outcomes <- suppressWarnings(system2("Rscript", shQuote(c(file.path("tests", "slow", "damage.R"), "planted",
                                                          file.path(folder, c("kind.rds", "planted.ibrc")))),
                                     stdout = TRUE, stderr = FALSE, timeout = 600))
promise("a planted resume() that does not look at what a file holds is seen",
        "150 changes, a crash or one that is not refused at least",
        paste0(length(outcomes), " of 150 files read before a crash or the end, ", sum(outcomes == "refused"),
               " refused, ", sum(outcomes == "fit"), " fits"), length(outcomes) < 150 || any(outcomes != "refused"))
unsigned <- altered_package("check_held_fingerprint", function(found, wanted) NULL)
counts <- count_changes(outcomes_of_changes(kind, sample(changed_contents(kind$held$contents), 100), FALSE, unsigned))
promise("a planted resume() that does not look at the fingerprint is seen", "100 changes, one fit at least",
        say(counts), counts[["fit"]] > 0)
unlink(folder, recursive = TRUE)
if (under_trust && broken == 0) {
  unlink(list.files(kept_folder, "^damage-[0-9a-f]{12}$", full.names = TRUE), recursive = TRUE)
}
finish()
