# The twin of src/checkpoint.c in plain R: whether the bytes of a checkpoint can be
# decoded. It makes each value as it goes and asks of that what C asks of the bytes.

twin_is_sound <- function(bytes) {
  n <- length(bytes)
  if (n < 28 || !identical(readBin(bytes[9:12], "integer", endian = "little"), n)) return(FALSE)
  if (!identical(bytes[n - 15:0], charToRaw(hash_of(bytes, n - 16)))) return(FALSE)
  from <- new.env()
  from$bytes <- bytes[seq_len(n - 16)]
  from$at <- 12
  tryCatch({
    for (i in 1:3) twin_decode(from, 0)
    from$at == n - 16
  }, twin_flaw = function(e) FALSE)
}

twin_must <- function(kept) {
  if (!isTRUE(kept)) stop(structure(class = c("twin_flaw", "error", "condition"), list(message = "", call = NULL)))
}

twin_take <- function(from, type, n, size) {
  twin_must(n * size <= length(from$bytes) - from$at)
  taken <- from$bytes[from$at + seq_len(n * size)]
  from$at <- from$at + n * size
  if (type == "raw") as.integer(taken) else readBin(taken, type, n, endian = "little")
}

twin_strings <- function(from, n) {
  size <- twin_take(from, "integer", n, 4)
  twin_must(all(size >= -1))
  x <- vapply(size, function(width) {
    bytes <- twin_take(from, "raw", max(width, 0), 1)
    twin_must(all(bytes > 0))
    rawToChar(as.raw(bytes))
  }, "")
  twin_must(all(validUTF8(x)))
  x[size < 0] <- NA
  x
}

twin_decode <- function(from, depth) {
  twin_must(depth <= 32)
  tag <- twin_take(from, "raw", 1, 1)
  twin_must(tag <= 5)
  if (tag == 0) return(NULL)
  n <- twin_take(from, "integer", 1, 4)
  twin_must(n >= 0)
  x <- switch(tag,
    twin_take(from, "raw", n, 1),
    twin_take(from, "integer", n, 4),
    twin_take(from, "double", n, 8),
    twin_strings(from, n),
    {
      twin_must(n <= length(from$bytes) - from$at)
      lapply(seq_len(n), function(i) twin_decode(from, depth + 1))
    }
  )
  if (tag == 1) {
    twin_must(all(x <= 2))
    x <- c(FALSE, TRUE, NA)[x + 1L]
  }
  known <- c("dim", "dimnames", "names")
  for (i in seq_len(twin_take(from, "raw", 1, 1))) {
    name <- match(twin_strings(from, 1), known)
    twin_must(!is.na(name))
    value <- twin_decode(from, depth + 1)
    twin_must(switch(known[name],
      dim = is.integer(value) && length(value) > 0 && all(value >= 0) && prod(value) == length(x),
      dimnames = is.list(value) && length(dim(x)) > 0 && length(value) == length(dim(x)) &&
        all(mapply(function(one, extent) is.null(one) || (is.character(one) && length(one) == extent), value, dim(x))),
      names = is.character(value) && length(value) == length(x)
    ))
    attr(x, known[name]) <- value
    known[seq_len(name)] <- NA # none comes twice, and the order is theirs
  }
  x
}
