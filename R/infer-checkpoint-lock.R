# One process at a time writes to a checkpoint. It locks the checkpoint with a small file beside it that names the
# process and its machine. A process that is killed leaves its lock behind. On the same machine that lock stops nobody,
# since there one can see that the process is gone.

lock_title <- "A checkpoint of the R package ibrc is being written."

# What a lock will be; take_lock() makes it. Between the two the caller arranges its release.
new_lock <- function(path) {
  path <- paste0(check_path(path), ".lock")
  # A name for this run: tempfile() gives another one every time and does not touch R's random numbers.
  run <- basename(tempfile("run"))
  list(path = path, run = run,
       text = c(lock_title, paste0(c("process ", "machine ", "began ", "run "), c(process_marks(), run))))
}

# The runs of this session that have a lock, in `names`: a message handler can begin a run within a run. (They are not
# variables of their own, as R never forgets the name of a variable.)
locked_runs <- new.env(parent = emptyenv())
locked_runs$names <- character()

# The system reuses the number of a process after it has ended. Together with the time at which it began, the number is
# unique, where the system tells this time (Linux).
process_marks <- function() {
  machine <- Sys.info()[["nodename"]]
  c(Sys.getpid(), if (is.null(machine)) "" else machine, process_began(Sys.getpid()))
}

process_began <- function(process) {
  read <- function(path) tryCatch(suppressWarnings(readLines(path, 1)), error = function(e) character())
  stat <- read(file.path("/proc", process, "stat"))
  # The name of a program, in brackets, may contain blanks and brackets.
  fields <- strsplit(sub(".*[)] ", "", stat), " ")
  if (!length(fields) || length(fields[[1]]) < 20) return("")
  # It may have ended although the process that started it has not asked for its result yet.
  if (fields[[1]][1] %in% c("Z", "X")) return("ended")
  paste(c(fields[[1]][20], read("/proc/sys/kernel/random/boot_id")), collapse = " ")
}

# Refuses if another process, or another run of this one, has the lock.
take_lock <- function(lock) {
  suspendInterrupts({
    for (attempt in 1:5) {
      why <- .Call(ffi_file_write, lock$path, charToRaw(paste0(lock$text, "\n", collapse = "")))
      if (is.null(why)) {
        locked_runs$names <- c(locked_runs$names, lock$run)
        return(invisible())
      }
      there <- read_lock(lock$path)
      if (is.null(there)) next
      if (is_held(there)) refuse_locked(lock$path, there)
      if (remove_stale(lock$path, there) && length(there)) say_stale(there)
    }
    abort("file", "`file` could not be locked (", why, ": \"", basename(lock$path), "\"). See that its folder may be ",
          "written to, and that the disk has room.", argument = "file", fields = list(reason = "write"))
  })
}

# NULL is no lock.
release_lock <- function(lock) {
  if (is.null(lock)) return(invisible())
  suspendInterrupts({
    if (identical(lock_lines(lock$path), lock$text)) unlink(lock$path, expand = FALSE)
    locked_runs$names <- setdiff(locked_runs$names, lock$run)
  })
  invisible()
}

# NULL if there is none. The process that makes a lock writes into it a moment later: an empty lock is given that time.
read_lock <- function(path, patience = 1) {
  until <- Sys.time() + patience
  repeat {
    lines <- lock_lines(path)
    if (is.null(lines) || length(lines) >= 4 || length(lines) && lines[1] != lock_title) return(lines)
    if (Sys.time() > until) return(lines)
    Sys.sleep(0.05)
  }
}

lock_lines <- function(path) {
  if (!file.exists(path)) return(NULL)
  tryCatch(suppressWarnings(readLines(path, 5, warn = FALSE)), error = function(e) NULL)
}

lock_process <- function(lines) suppressWarnings(as.integer(sub("^process ", "", lines[2])))

is_own_run <- function(lines) {
  length(lines) == 5 && lock_process(lines) %in% Sys.getpid() &&
    sub("^run ", "", lines[5]) %in% locked_runs$names
}

# Whether a lock is stale: never finished, of a process that has ended, or of this process but of none of its runs.
is_held <- function(lines) {
  if (length(lines) && lines[1] != lock_title) return(TRUE)
  process <- lock_process(lines)
  if (length(lines) < 4 || is.na(process) || process < 1) return(FALSE)
  mine <- process_marks()
  if (lines[3] != paste0("machine ", mine[2])) return(TRUE)
  if (process == mine[1]) return(is_own_run(lines))
  if (!.Call(ffi_process_runs, process)) return(FALSE)
  began <- process_began(process)
  !nzchar(began) || lines[4] == paste0("began ", began)
}

# It is renamed first: if somebody else has just removed it and made their own lock, that one is put back.
remove_stale <- function(path, lines) {
  aside <- tempfile(paste0(basename(path), "."), dirname(path), ".part")
  if (!suppressWarnings(file.rename(path, aside))) return(FALSE)
  if (!identical(lock_lines(aside), lines)) {
    file.rename(aside, path)
    return(FALSE)
  }
  unlink(aside, expand = FALSE)
  TRUE
}

say_stale <- function(lines) {
  process <- lock_process(lines)
  if (is.na(process) || process == Sys.getpid()) return(invisible())
  message("The process that was writing to `file` (", process, ") has ended without finishing: its lock is taken over.")
}

refuse_locked <- function(path, lines) {
  if (lines[1] != lock_title) {
    refuse_checkpoint("locked", "cannot be locked: \"", basename(path), "\" beside it is a file of another kind. ",
                      "Choose another `file`.")
  }
  if (is_own_run(lines)) {
    refuse_checkpoint("locked", "is being written by another fit of this session. Wait until that has ended, ",
                      "or choose another `file`.")
  }
  here <- lines[3] == paste0("machine ", process_marks()[2])
  refuse_checkpoint("locked", "is being written by another process (", lock_process(lines),
                    if (!here) paste0(" on ", enumerate(sub("^machine ", "", lines[3]))), "). ",
                    "Wait until it has ended, or choose another `file`.",
                    if (!here) paste0(" If it has ended, delete \"", basename(path), "\"."))
}
