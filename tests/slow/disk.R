# Disks that are full, folders that are read-only or vanish, files that are damaged.
#
#   Rscript tests/slow/disk.R
#
# A full disk is a tmpfs of 256 kB in a name space of its own, where the system has such, and
# a limit on the size of files: neither needs to be root. Read-only folders
# stop everybody but root, who becomes nobody for them.

source(file.path("tests", "slow", "shared", "promise.R"))
source(file.path("tests", "slow", "shared", "small.R"))

for (helper in c("helper-fits.R", "helper-dynamics.R")) source(file.path("tests", "testthat", helper))

package <- asNamespace("ibrc")
script <- file.path("tests", "slow", "disk.R")

# ---- faults ----------------------------------------------------------------------

# Each of them is what a plainer program would do, and what must notice it.
noticed_by <- c("write in place" = "checkpoint before intact", "run given up" = "no draws lost",
                "silent failure" = "said at a later one", "part left behind" = "nothing left at a later one")
planted <- list(
  "write in place" = altered_package("replace_whole", function(path, bytes, ...) writeBin(bytes, path)),
  "run given up" = altered_package("checkpoint_writer", function(file, job, stands = NULL) {
    function(chain) {
      own("save_checkpoint")(file, job, chain)
      chain$state$iteration
    }
  }),
  "silent failure" = altered_package("warn", function(...) NULL),
  "part left behind" = altered_package("unlink", function(...) 0L)
)

# ---- a full disk (in a process of its own) -------------------------------------------

# Room for two pages: a part of a checkpoint goes in. `fill` and `clear` take effect at once.
disk_of <- function(kind, folder) {
  filler <- file.path(folder, "filler")
  limit <- function(size) system2("prlimit", c("--pid", Sys.getpid(), paste0("--fsize=", size, ":")))
  if (kind == "limit") {
    return(list(why = "File too large", fill = function() limit(8192), clear = function() limit("unlimited")))
  }
  list(why = "No space left on device", clear = function() unlink(filler), fill = function() {
    free <- as.numeric(system2("df", c("--output=avail", "-B4096", shQuote(folder)), stdout = TRUE)[2])
    system2("dd", c("if=/dev/zero", paste0("of=", shQuote(filler)), "bs=4096", paste0("count=", free - 2)),
            stderr = FALSE)
  })
}

# Dynamics and agents together, in as many steps.
joint_fit <- function(from, ...) {
  from$ibrc(ward_visits(), clinic_of, clinic_step, ibrc_prior(alpha ~ lognormal(0, 1)), list(eta = 0, optimism = 0.5),
            chains = 2, iter = 200, warmup = 100, seed = 5, resolution = 5,
            dynamics = ward_iohmm(transitions = "shared"), ...)
}

# What must hold, by name. `fit` makes fits, and resume() is to be `given` this again.
full_disk <- function(from, folder, disk, fit = small_fit, given = list()) {
  path <- file.path(folder, "fit.ibrc")
  go_on <- function(from) do.call(from$resume, c(list(path), given))
  unbroken <- suppressWarnings(fit(package))$draws
  disk$fill()
  first <- observe(fit(from, file = path, refresh = 20))
  left_first <- litter(folder, "filler")
  disk$clear()
  unlink(file.path(folder, left_first))

  before <- NULL
  later <- observe(fit(from, file = path, refresh = 20), function(step) {
    if (step != 100) return()
    before <<- bytes_of(path)
    disk$fill()
  })
  left_later <- litter(folder, c("filler", "fit.ibrc"))
  after <- bytes_of(path)
  while_full <- observe(go_on(from))
  disk$clear()
  resumed <- observe(go_on(package))$value$draws
  unlink(file.path(folder, c(left_later, "fit.ibrc")))

  # Room again before the end.
  again <- observe(fit(from, file = path, refresh = 20), function(step) {
    if (step == 60) disk$fill()
    if (step == 140) disk$clear()
  })
  disk$clear()
  at_end <- tryCatch(own("read_checkpoint")(path)$contents$chain$state$iteration, error = function(e) NA)
  unlink(file.path(folder, litter(folder)))
  c("refused at the first" = is_refusal(first$error, disk$why), "nothing left at the first" = !length(left_first),
    "said at a later one" = length(later$warnings) == 1 && grepl(disk$why, later$warnings) &&
      grepl("step 80", later$warnings),
    "no draws lost" = identical(later$value$draws, unbroken),
    "checkpoint before intact" = length(before) > 0 && identical(after, before),
    "resumes to the same draws" = identical(resumed, unbroken), "nothing left at a later one" = !length(left_later),
    "resume refused while full" = is_refusal(while_full$error, disk$why),
    "goes on with room" = identical(again$value$draws, unbroken) && length(again$warnings) == 1 && at_end %in% 200L)
}

# ---- folders (in a process that is not root's) ------------------------------------------

# Problems built and chains begun before the refusal.
work_before <- function(from, path) {
  work <- 0
  counted <- from
  for (name in c("build_problem", "begin_chains")) {
    counted <- local({
      real <- from[[name]]
      altered_package(name, function(...) {
        work <<- work + 1
        real(...)
      }, counted)
    })
  }
  seen <- observe(small_fit(counted, file = path))
  c(refused = is_refusal(seen$error, "could not be written"), work = work)
}

refused_folders <- function(from) {
  base <- tempfile("folder")
  dir.create(file.path(base, "read-only"), recursive = TRUE)
  file.create(file.path(base, "file"))
  Sys.chmod(file.path(base, "read-only"), "0500")
  on.exit(Sys.chmod(file.path(base, "read-only"), "0700"))
  # The superuser would be let in.
  root <- file.access(file.path(base, "read-only"), 2) == 0
  folders <- c(if (!root) "read-only", "file", "missing")
  paths <- file.path(base, folders, "fit.ibrc")
  rows <- vapply(paths, function(path) work_before(from, path), c(refused = 0, work = 0))
  list(folders = folders, refused = sum(rows["refused", ]), work = sum(rows["work", ]),
       left = length(litter(base, c("file", "read-only"))) + length(litter(file.path(base, "read-only"))))
}

vanishing_folder <- function(from) {
  base <- tempfile("vanish")
  folder <- file.path(base, "here")
  gone <- file.path(base, "gone")
  dir.create(folder, recursive = TRUE)
  unbroken <- small_fit(package)$draws
  before <- NULL
  seen <- observe(small_fit(from, file = file.path(folder, "fit.ibrc"), refresh = 20), function(step) {
    if (step != 100) return()
    before <<- bytes_of(file.path(folder, "fit.ibrc"))
    file.rename(folder, gone)
  })
  path <- file.path(gone, "fit.ibrc")
  c("said" = length(seen$warnings) == 1 && grepl("No such file or directory", seen$warnings),
    "no draws lost" = identical(seen$value$draws, unbroken),
    "checkpoint intact" = length(before) > 0 && identical(bytes_of(path), before),
    "resumes to the same draws" = identical(resumed_draws(path), unbroken),
    "nothing left" = !length(c(litter(base, "gone"), litter(gone, "fit.ibrc"))))
}

# ---- children ------------------------------------------------------------------------

given <- commandArgs(TRUE)
if (length(given) > 0 && given[1] == "disk") {
  disk <- disk_of(given[2], given[3])
  told <- lapply(c(list(real = package), planted), full_disk, given[3], disk)
  told$joint <- full_disk(package, given[3], disk, joint_fit, list(setting = clinic_of, models = clinic_step))
  saveRDS(told, given[4])
  quit(status = 0)
}
if (length(given) > 0 && given[1] == "folder") {
  # Nor is a lock the first to meet the folder.
  unchecked <- altered_package("take_lock", function(lock) NULL,
                               altered_package("check_writable", function(path, ...) NULL))
  saveRDS(list(refused = refused_folders(package), unchecked = refused_folders(unchecked),
               vanished = vanishing_folder(package), given_up = vanishing_folder(planted[["run given up"]])), given[2])
  quit(status = 0)
}

# What a child saved, started by `how`, which may be nothing. NULL if it could not.
ask_child <- function(how, ...) {
  folder <- tempfile("ask")
  dir.create(folder)
  # Nobody has to get in.
  Sys.chmod(c(dirname(folder), folder), "0777", use_umask = FALSE)
  result <- file.path(folder, "result.rds")
  command <- c(how, file.path(R.home("bin"), "Rscript"), script, ..., result)
  system2("env", shQuote(command), stdout = FALSE, stderr = FALSE)
  if (file.exists(result)) readRDS(result)
}

say <- function(checks) {
  if (all(checks)) return(paste(length(checks), "of", length(checks)))
  paste("not", names(checks)[!checks], collapse = ", ")
}

disk <- tempfile("disk")
dir.create(disk)
is_root <- identical(system("id -u", intern = TRUE), "0")
in_tmpfs <- c("unshare", if (!is_root) c("--user", "--map-root-user"), "--mount", "sh", "-c",
              "mount -t tmpfs -o size=256k none \"$1\" && shift && exec \"$@\"", "sh", disk)
in_limit <- c("sh", "-c", "trap '' XFSZ && exec \"$@\"", "sh")
kinds <- list("tmpfs of 256 kB" = ask_child(in_tmpfs, "disk", "tmpfs", disk),
              "limit on the size of files" = ask_child(in_limit, "disk", "limit", disk))
for (kind in names(Filter(is.null, kinds))) not_run(paste0("a full disk (", kind, ")"), "cannot be had here")
kinds <- Filter(Negate(is.null), kinds)
if (!length(kinds)) {
  cat("No disk can be filled here: that needs unshare or prlimit.\n")
  quit(status = 77)
}
for (kind in names(kinds)) {
  told <- kinds[[kind]]
  checks <- told$real
  first <- grepl("first", names(checks))
  named <- function(what) paste0(what, " (", kind, ")")
  promise(named("a disk that is full at the first checkpoint is a classed error, and nothing is left"),
          "every check holds", say(checks[first]), all(checks[first]))
  promise(named("a disk that is full later is a warning that says so; draws and the checkpoint before are kept"),
          "every check holds", say(checks[!first]), all(checks[!first]))
  promise(named("a full disk is met in the same way by a fit of dynamics and agents together"), "every check holds",
          say(told$joint), all(told$joint))
  for (fault in names(planted)) {
    promise(named(paste0("a planted ", fault, " is seen")), paste0("the check '", noticed_by[[fault]], "' fails"),
            say(told[[fault]]), !told[[fault]][[noticed_by[[fault]]]])
  }
}

# Root becomes nobody; where that is not possible, what stops nobody is left out.
told <- ask_child(c("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"), "folder")
if (is.null(told)) told <- ask_child(character(), "folder")
figure <- function(told) {
  paste0(told$refused, " of ", length(told$folders), " (", paste(told$folders, collapse = ", "), "), after ", told$work,
         " tables and starts")
}
holds <- function(told) told$refused == length(told$folders) && told$work == 0 && told$left == 0
promise("a folder that cannot be written to is a classed error before any work",
        "every folder refused, no tables and no start before", figure(told$refused),
        holds(told$refused))
promise("a planted check that comes late is seen", "not every folder refused before any work", figure(told$unchecked),
        !holds(told$unchecked))
promise("a folder that vanishes in mid-run is a warning; draws and the checkpoint are kept", "every check holds",
        say(told$vanished), all(told$vanished))
promise("a planted run given up there is seen", "a check fails", say(told$given_up), !all(told$given_up))
finish()
