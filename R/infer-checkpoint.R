# Checkpoints: a sampler's state in a file that is either whole or refused. All
# numbers are little-endian, lengths are 32-bit.
#
#   file     "IBRC", format, length of the file; version of the package,
#            fingerprint, contents (each a value); hash of all that, 16 digits
#   value    tag (a byte), length, entries, number of attributes (a byte), then
#            for each (dim, dimnames, names, in this order) its name and its
#            value; NULL is its tag alone
#   entries  logical: a byte, 2 for NA; integer: 4 bytes; double: 8 bytes;
#            character: the sizes in bytes, -1 for NA, then UTF-8; list: values
#
# Nothing in a file is ever evaluated. A fingerprint is the hash of the same encoding, without anything that does not
# change a value's meaning.

checkpoint_magic <- charToRaw("IBRC")
checkpoint_format <- 2L
checkpoint_head_size <- 12
checkpoint_hash_size <- 16
checkpoint_depth <- 32
value_tags <- c("NULL" = 0, logical = 1, integer = 2, double = 3, character = 4, list = 5)

# `fingerprint` says what the contents belong to: one hash, or one for each part,
# named such as data, model, prior and settings.
write_checkpoint <- function(path, contents, fingerprint) {
  replace_whole(check_path(path), encode_checkpoint(contents, fingerprint))
  invisible(path)
}

# `before`: what was read from the same path a moment ago; it is not decoded again if it is still there.
read_checkpoint <- function(path, fingerprint = NULL, before = NULL) {
  bytes <- read_whole(check_path(path))
  seal <- utils::tail(bytes, checkpoint_hash_size)
  if (!is.null(before) && identical(seal, before$seal)) return(before)
  flaw <- flaw_of(bytes)
  if (!is.null(flaw)) refuse_damaged(flaw)
  from <- rawConnection(bytes)
  on.exit(close(from))
  readBin(from, "raw", checkpoint_head_size)
  version <- decode_value(from)
  check_version(version)
  found <- decode_value(from)
  check_fingerprint(found, fingerprint)
  list(contents = decode_value(from), fingerprint = found, version = version, seal = seal)
}

# Equal for values that are identical() to each other, on every machine. Functions and formulas count by their code, not
# by the data that they may have captured.
fingerprint_of <- function(x) hash_of(encoded(x, canonical = TRUE))
hash_of <- function(bytes, n = length(bytes)) .Call(ffi_file_hash, bytes, as.numeric(n))

# ---- encoding -----------------------------------------------------------------

encode_checkpoint <- function(contents, fingerprint, version = getNamespaceVersion("ibrc")[[1]]) {
  if (!is_fingerprint(fingerprint)) stop("internal: not a fingerprint")
  # Room for both ends is made together with the rest: joining them on later would copy everything.
  ends <- c(checkpoint_head_size, checkpoint_hash_size)
  bytes <- if (utils::object.size(contents) < 2^31) encoded(version, fingerprint, contents, ends = ends)
  size <- length(bytes)
  if (size == 0 || size >= 2^31) refuse_checkpoint("write", "cannot hold 2 GB. Keep fewer iterations.")
  head <- writeBin(as.integer(c(checkpoint_format, size)), raw(), endian = "little")
  bytes[seq_len(ends[1])] <- c(checkpoint_magic, head)
  bytes[size - ends[2] + seq_len(ends[2])] <- charToRaw(hash_of(bytes, size - ends[2]))
  bytes
}

encoded <- function(..., canonical = FALSE, ends = c(0, 0)) {
  out <- rawConnection(raw(ends[1]), "ab")
  on.exit(close(out))
  for (x in list(...)) encode_value(x, out, canonical)
  writeBin(raw(ends[2]), out)
  rawConnectionValue(out)
}

encode_value <- function(x, out, canonical, depth = 0) {
  if (depth > checkpoint_depth) stop("internal: nested too deeply to be encoded")
  if (canonical && (is.function(x) || is.language(x))) {
    x <- structure(deparse(x, 500L, control = c("keepNA", "keepInteger", "digits17")), class = "code")
  }
  type <- typeof(x)
  # Bytes are those of a value that was encoded before.
  if (type == "raw") return(writeBin(x, out))
  if (!type %in% names(value_tags)) stop("internal: cannot encode a value of type ", type)
  writeBin(as.raw(value_tags[[type]]), out)
  if (is.null(x)) return(invisible())
  entries <- as.vector(unclass(x))
  write_wholes(length(entries), out)
  switch(type,
    logical = writeBin(as.raw(ifelse(is.na(entries), 2L, entries)), out),
    integer = write_wholes(entries, out),
    double = writeBin(if (canonical) plain_doubles(entries) else entries, out, endian = "little"),
    list = for (entry in entries) encode_value(entry, out, canonical, depth + 1),
    character = write_strings(entries, out)
  )
  encode_attributes(attributes(x), out, canonical, depth)
}

# In the order of their names, whatever the order in which they were set.
encode_attributes <- function(x, out, canonical, depth) {
  given <- names(x)
  if (length(given) > 1) given <- sort(given, method = "radix")
  unknown <- setdiff(given, c("dim", "dimnames", "names"))
  if (length(unknown) && !canonical) stop("internal: cannot encode the attribute ", unknown[1])
  writeBin(as.raw(length(given)), out)
  for (name in given) {
    write_strings(name, out)
    encode_value(x[[name]], out, canonical, depth + 1)
  }
}

write_wholes <- function(x, out) writeBin(as.integer(x), out, endian = "little")

write_strings <- function(x, out) {
  x <- enc2utf8(x)
  if (!all(validUTF8(x))) stop("internal: cannot encode text that is not valid")
  size <- ifelse(is.na(x), -1L, nchar(x, "bytes"))
  write_wholes(size, out)
  writeBin(charToRaw(paste(x[size > 0], collapse = "")), out)
}

# One bit pattern for each value: NaN and NA have many, and zero has two.
plain_doubles <- function(x) {
  lost <- is.na(x)
  x[lost] <- ifelse(is.nan(x[lost]), NaN, NA_real_)
  x[which(x == 0)] <- 0
  x
}

# ---- decoding -----------------------------------------------------------------

# What is wrong with the bytes of a file, or NULL. src/checkpoint.c walks over all of them before any is decoded, so
# that the rest of this section may trust them.
flaw_of <- function(bytes) .Call(ffi_file_flaw, bytes)

decode_value <- function(from) {
  tag <- as.integer(readBin(from, "raw", 1))
  if (tag == value_tags[["NULL"]]) return(NULL)
  n <- read_wholes(from, 1)
  x <- switch(names(value_tags)[match(tag, value_tags)],
    logical = c(FALSE, TRUE, NA)[as.integer(readBin(from, "raw", n)) + 1L],
    integer = read_wholes(from, n),
    double = readBin(from, "double", n, endian = "little"),
    character = read_strings(from, n),
    list = lapply(seq_len(n), function(i) decode_value(from))
  )
  for (i in seq_len(as.integer(readBin(from, "raw", 1)))) {
    name <- read_strings(from, 1)
    attr(x, name) <- decode_value(from)
  }
  x
}

read_wholes <- function(from, n) readBin(from, "integer", n, endian = "little")

read_strings <- function(from, n) {
  size <- read_wholes(from, n)
  width <- pmax(size, 0)
  start <- cumsum(width) - width
  bytes <- readBin(from, "raw", sum(width))
  x <- vapply(seq_len(n), function(i) rawToChar(bytes[start[i] + seq_len(width[i])]), "")
  Encoding(x) <- "UTF-8"
  x[size < 0] <- NA
  x
}

# ---- files --------------------------------------------------------------------

# `reason` is one word: read, format, damaged, version, fingerprint, exists, locked; or path and write, where the
# checkpoint itself is not at fault.
refuse_checkpoint <- function(reason, ..., parts = NULL) {
  kind <- if (reason %in% c("path", "write")) "file" else c("checkpoint", "file")
  abort(kind, "`file` ", ..., argument = "file", fields = list(reason = reason, parts = parts))
}

refuse_damaged <- function(why) {
  refuse_checkpoint("damaged", "is damaged or cut short: ", why, ". Use a copy of it, or fit anew.")
}

check_path <- function(path) {
  if (!is.character(path) || length(path) != 1 || is.na(path) || !nzchar(path)) {
    abort_input("file", "must be the path of one file, such as \"fit.ibrc\", not ", describe(path), ".")
  }
  if (dir.exists(path)) refuse_checkpoint("path", "is a folder. Name a file in it, such as \"fit.ibrc\".")
  # A link stays a link: what it points to is read and replaced.
  normalizePath(path.expand(path), winslash = "/", mustWork = FALSE)
}

# The file becomes `bytes`, or stays as it was. Tests give a `replace` that fails.
replace_whole <- function(path, bytes, replace = replace_file) {
  force(bytes)
  write_part(path, bytes, function(part) {
    if (file.exists(path)) Sys.chmod(part, file.mode(path), use_umask = FALSE)
    replace(part, path)
  })
  remove_leftovers(path)
}

# Refuses a path where `size` bytes cannot be written, while there is nothing to lose yet.
check_writable <- function(path, size = 0) {
  path <- check_path(path)
  write_part(path, raw(size), function(part) NULL)
}

# `bytes` in a new file beside `path`, which `use(part)` may put in its place. The part is removed afterwards, whatever
# happened. Interrupts are held back, as one could come just before the part is removed.
write_part <- function(path, bytes, use) {
  failed <- function(why) {
    refuse_checkpoint("write", "could not be written (", why, "); what was there before is untouched. See ",
                      "that its folder exists and may be written to, and that the disk has room.")
  }
  if (file.exists(path) && file.access(path, 2) != 0) failed("it is read-only")
  # tempfile() leaves R's random numbers alone, and its names differ by process.
  part <- tryCatch(tempfile(paste0(basename(path), "."), dirname(path), ".part"),
                   error = function(e) failed(conditionMessage(e)))
  write <- function() {
    on.exit(unlink(part, expand = FALSE))
    why <- .Call(ffi_file_write, part, bytes)
    if (is.null(why)) use(part) else why
  }
  why <- suspendInterrupts(write())
  if (!is.null(why)) failed(why)
}

replace_file <- function(from, to) .Call(ffi_file_replace, from, to, dirname(to))

# A process that is killed leaves the part that it was writing. Writing takes seconds, so a part that is an hour older
# than the file belongs to nobody.
remove_leftovers <- function(path) {
  beside <- list.files(dirname(path), all.files = TRUE, full.names = TRUE)
  name <- paste0("^\\Q", basename(path), "\\E\\.[0-9a-f]+\\.part$")
  parts <- beside[grepl(name, basename(beside), perl = TRUE, useBytes = TRUE)]
  unlink(parts[which(file.mtime(path) - 3600 > file.mtime(parts))], expand = FALSE)
}

# The bytes of a file. Its length stands at its beginning and is read from the same opening, since another process may
# replace the file.
read_whole <- function(path) {
  # Devices and pipes, which may never end, have no size either.
  if (!isTRUE(file.size(path) > 0)) refuse_checkpoint("read", "does not exist or is empty. Check its name.")
  connection <- tryCatch(suppressWarnings(file(path, "rb")), error = function(e) {
    refuse_checkpoint("read", "cannot be opened. See that you may read it.")
  })
  on.exit(close(connection))
  head <- readBin(connection, "raw", checkpoint_head_size)
  if (!identical(head[1:4], checkpoint_magic)) {
    refuse_checkpoint("format", "is not a checkpoint. Name a file that a fit has written.")
  }
  if (length(head) < checkpoint_head_size) refuse_damaged("it ends too early")
  said <- readBin(head[5:12], "integer", 2, endian = "little")
  if (!identical(said[1], checkpoint_format)) {
    refuse_checkpoint("format", "is in another format. Use the version of ibrc that wrote it, or fit anew.")
  }
  # The stated length may be damaged: no more memory is taken than there are bytes.
  parts <- list(head)
  while (length(parts[[length(parts)]]) && isTRUE(sum(lengths(parts)) <= said[2])) {
    parts[[length(parts) + 1]] <- readBin(connection, "raw", 2^20)
  }
  do.call(c, parts)
}

# Versions that differ only in the last number are compatible.
check_version <- function(version) {
  if (!is.character(version) || length(version) != 1) refuse_damaged("it names no version")
  known <- getNamespaceVersion("ibrc")[[1]]
  begins <- sub("^([0-9]+[.][0-9]+).*", "\\1", c(version, known))
  if (!identical(begins[1], begins[2])) {
    refuse_checkpoint("version", "was written by version ", version, " of ibrc, and this is ", known,
                      ". Use the version that wrote it, or fit anew.")
  }
}

parts_of <- function(x) if (is.null(names(x))) rep("input", length(x)) else names(x)
is_fingerprint <- function(x) is.character(x) && length(x) > 0 && !anyNA(x) && !anyDuplicated(parts_of(x))

# `wanted` is NULL where the caller does the comparison.
check_fingerprint <- function(found, wanted) {
  if (!is_fingerprint(found)) refuse_damaged("it does not say what it belongs to")
  if (is.null(wanted)) return(invisible())
  names(found) <- parts_of(found)
  names(wanted) <- parts_of(wanted)
  parts <- union(names(found), names(wanted))
  parts <- parts[!(found[parts] == wanted[parts]) %in% TRUE]
  if (length(parts)) {
    refuse_checkpoint("fingerprint", "was written with other ", enumerate(parts, quote = ""),
                      ". Give what was given then, or choose another `file`.", parts = parts)
  }
}
