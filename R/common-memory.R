# A request that does not fit into the machine is refused before any work, and the message shows the arithmetic. A
# count with one zero too many is then an error at once, instead of a session that dies hours later.

# Stops unless `bytes` fit into what the session may use. `...` says what needs them, with its counts, such as
# "`nsim` = 1,000 of 50 visits is up to 50,000 visits". `advice` says what to change.
refuse_too_large <- function(bytes, argument, ..., advice = "ask for less") {
  limit <- memory_limit()
  if (bytes <= limit) return(invisible(bytes))
  abort("memory", ..., ", ", format_bytes(bytes), "; this session may use about ", format_bytes(limit), ": ", advice,
        ", or say with options(ibrc.memory = ) how many GB it may use.",
        argument = argument, fields = list(bytes = bytes, limit = limit))
}

# The same for a data frame of `n` rows of `each` bytes, including the copies that are made on the way.
refuse_many_rows <- function(n, each, argument, ..., advice) {
  most <- .Machine$integer.max
  if (n > most && n * each <= memory_limit()) {
    abort("memory", ..., "; a table has at most ", format_count(most), " rows: ", advice, ".", argument = argument,
          fields = list(bytes = n * each))
  }
  refuse_too_large(n * each, argument, ..., advice = advice)
}

# Assumed where the memory of the machine cannot be found out.
usual_memory <- 16e9

# Bytes that the session may still use: what the user allows, or what the machine has free.
memory_limit <- function(allowed = getOption("ibrc.memory"), folder = "/") {
  if (!is.null(allowed)) {
    if (!is.numeric(allowed) || length(allowed) != 1 || is.na(allowed) || allowed <= 0) {
      abort_input("ibrc.memory", "is an option of this session and must be a number of GB, more than 0.",
                  topic = "ibrc-package")
    }
    return(allowed * 1e9)
  }
  min(machine_memory(file.path(folder, "proc/meminfo")), container_memory(file.path(folder, "sys/fs/cgroup")))
}

# Linux says in a file what is available, in kB.
machine_memory <- function(file) {
  told <- grep("^MemAvailable:", read_quietly(file), value = TRUE)
  kb <- suppressWarnings(as.numeric(gsub("[^0-9]", "", told)))
  if (length(kb) == 1 && is.finite(kb)) kb * 1024 else usual_memory
}

# A container may be allowed less than its machine has; "max" means that it has no such limit. What it already uses is
# not subtracted, because the system also counts files there that were read once.
container_memory <- function(folder) {
  told <- lapply(file.path(folder, c("memory.max", "memory/memory.limit_in_bytes")), read_quietly)
  bytes <- suppressWarnings(as.numeric(unlist(told)))
  min(Inf, bytes[!is.na(bytes)])
}

read_quietly <- function(file) {
  if (!file.exists(file)) return(character())
  tryCatch(suppressWarnings(readLines(file)), error = function(e) character())
}

# Cuts a vector into pieces of at most `most` entries, as equal in length as possible. Returns a list of vectors.
in_pieces <- function(x, most) {
  n <- ceiling(length(x) / most)
  unname(split(x, ceiling(seq_along(x) * n / length(x))))
}
