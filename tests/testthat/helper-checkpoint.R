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

# ---- contents that were changed ---------------------------------------------------------

# Ways into a value, as positions: to itself and to all that lies in it. Of a long list of alike values, the first
# and the last few.
ways_into <- function(x, way = integer()) {
  if (!is.list(x) || !length(x)) return(list(way))
  places <- if (length(x) > 40) c(1:3, length(x) - 2:0) else seq_along(x)
  c(list(way), unlist(lapply(places, function(i) ways_into(x[[i]], c(way, i))), recursive = FALSE))
}

way_text <- function(x, way) {
  words <- character()
  for (i in way) {
    words <- c(words, if (is.null(names(x))) i else names(x)[i])
    x <- x[[i]]
  }
  paste(words, collapse = "$")
}

value_at <- function(x, way) {
  for (i in way) x <- x[[i]]
  x
}

# NULL stays an element.
change_at <- function(x, way, new) {
  if (!length(way)) return(new)
  x[way[1]] <- list(change_at(x[[way[1]]], way[-1], new))
  x
}

# What somebody might put in the place of a value, by what is wrong with it.
changes_of <- function(x) {
  out <- list(none = NULL, nothing = list(), text = "x", number = 7, "true" = TRUE)
  if (is.null(x)) return(out[-1])
  keep <- function(new) {
    attributes(new) <- attributes(x)
    new
  }
  n <- length(x)
  out$longer <- c(x, x[n])
  if (n) out$shorter <- x[-n]
  if (n > 1) out$reversed <- keep(rev(unname(x)))
  if (!is.null(names(x))) {
    out$renamed <- stats::setNames(x, rev(names(x)))
    out$nameless <- unname(x)
  }
  if (!is.null(dim(x))) {
    out$flat <- as.vector(x)
    out$turned <- array(as.vector(x), rev(dim(x)))
  }
  if (is.list(x) || !n) return(out)
  numbers <- list(NA, -1L, 0L, 1e6, 2e9, -Inf, NaN, 1e308, 0.5)
  some <- if (is.numeric(x)) numbers else if (is.logical(x)) list(NA, !x[1]) else list(NA, "", "y")
  for (value in some) {
    value <- suppressWarnings(as.vector(value, typeof(x)))
    label <- format(value)
    out[[paste("all", label)]] <- keep(rep(value, n))
    out[[paste("last", label)]] <- keep(replace(x, n, value))
  }
  if (is.numeric(x)) {
    out$negative <- keep(-x)
    out$next_one <- keep(x + as.vector(1, typeof(x)))
    out$other_type <- keep(if (is.integer(x)) as.double(x) else suppressWarnings(as.integer(x)))
  }
  out
}

# All changes of all values: a list of (way, what, contents).
changed_contents <- function(contents) {
  unlist(lapply(ways_into(contents), function(way) {
    x <- value_at(contents, way)
    changes <- changes_of(x)
    changes <- changes[!vapply(changes, identical, NA, x) & !duplicated(changes)]
    lapply(names(changes), function(what) {
      list(way = way_text(contents, way), what = what, new = changes[what][[1]], at = way)
    })
  }), recursive = FALSE)
}

# A checkpoint in whose contents one thing is another. `honest`: with the fingerprint of what it holds now, where it
# can be had.
write_changed <- function(path, held, change, honest, from = asNamespace("ibrc")) {
  contents <- change_at(held$contents, change$at, change$new)
  fingerprint <- held$fingerprint
  if (honest) {
    fingerprint <- tryCatch(
      suppressWarnings(from$contents_fingerprint(contents$job, contents$chain)),
      error = function(e) held$fingerprint
    )
  }
  unlink(path)
  from$write_checkpoint(path, contents, fingerprint)
}

# What resume() makes of it: "refused", "fit" for one that can be read, "broken" for one that cannot, or an error's
# class. One that takes too long is ended. `given`: the functions that the fit was given.
outcome_of_change <- function(path, from = asNamespace("ibrc"), seconds = 20, given = list()) {
  setTimeLimit(elapsed = seconds, transient = TRUE)
  on.exit(setTimeLimit())
  tryCatch({
    fit <- suppressWarnings(suppressMessages(resume_with(path, given, from)))
    sound <- all(is.finite(unlist(fit$draws))) && all(is.finite(fit$log_posterior)) && !fit$interrupted &&
      identical(unname(dim(fit$draws[[1]])[2:3]), c(fit$run$chains, length(fit$prior))) &&
      (is.null(fit$population) || all(is.finite(fit$population$draws))) &&
      is.character(format(fit)) && is.finite(sum(fit$acceptance))
    if (sound) "fit" else "broken"
  }, ibrc_error_checkpoint = function(e) "refused", error = function(e) {
    paste(class(e)[1], strtrim(gsub("[[:space:]]+", " ", conditionMessage(e)), 60))
  })
}

resume_with <- function(path, given, from = asNamespace("ibrc")) do.call(from$resume, c(list(path, refresh = 0), given))

# Checkpoints of small runs of every kind: where they stand, the draws that they are taken up to, and the functions
# that they ask for.
checkpoint_kinds <- function(folder, from = asNamespace("ibrc")) {
  setting <- diag_setting()
  models <- diag_models()
  visits <- as.data.frame(simulate(plan_agent(setting, bounded_agent(alpha = 0.5), models, 10), 40, seed = 1))
  visits$sex <- c("f", "m")[1 + visits$id %% 2]
  visits <- trajectories(visits, covariates = "sex", setting = setting)
  prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))
  other <- setting
  other$start[] <- c(0.3, 0.7)
  # The checkpoint that is there when a step is shown is that of the step shown before.
  kept_at <- function(step, every, ..., problem = setting, iter = 240, of = prior) {
    path <- file.path(folder, "kind.ibrc")
    kept <- file.path(folder, "kept.ibrc")
    unlink(c(path, kept))
    fit <- withCallingHandlers(
      from$ibrc(visits, problem, models, of, chains = 2, iter = iter, seed = 5, resolution = 10, refresh = every,
                file = path, ...),
      message = function(m) {
        if (startsWith(conditionMessage(m), paste("step", step + every, ""))) file.copy(path, kept)
        invokeRestart("muffleMessage")
      }, warning = function(w) invokeRestart("muffleWarning")
    )
    held <- from$read_checkpoint(if (file.exists(kept)) kept else path)
    unlink(c(path, kept))
    list(held = held, draws = fit$draws)
  }
  costs <- ibrc_prior(alpha ~ lognormal(0, 1), utility(healthy, monitor) ~ uniform(-3, 0),
                      discount ~ normal(0.9, 0.2, lower = 0, upper = 0.99))
  exact <- people_kinds(folder, c(12, 27), "exact", from)
  list("at its start" = kept_at(0, 20, iter = 20), "in early warm-up" = kept_at(40, 20),
       "with a mixture" = kept_at(100, 50), "near its end" = kept_at(220, 10),
       "finished" = kept_at(40, 40, iter = 40),
       "of two groups" = kept_at(150, 50, problem = list(f = setting, m = other), by = "sex"),
       "by the paper's walk" = kept_at(30, 10, iter = 40, of = costs, control = list(sampler = "paper")),
       "of the prior alone" = kept_at(110, 55, sample_prior = "only", iter = 220),
       "of dynamics in warm-up" = dynamics_kinds(folder, from)[[1]],
       "of dynamics and agents" = dynamics_kinds(folder, from)[[2]],
       "of draws of the dynamics" = dynamics_kinds(folder, from)[[3]],
       "of a population in warm-up" = exact[[1]], "of a population" = exact[[2]],
       "of a population that is interpolated" = people_kinds(folder, 27, "interpolated", from)[[1]])
}

# People who differ, by two factors, one of which ties two terms: of one run at each of these steps.
people_kinds <- function(folder, steps, cells, from) {
  path <- file.path(folder, "kind.ibrc")
  kept <- file.path(folder, paste0("kept", steps, ".ibrc"))
  unlink(c(path, kept))
  fit <- withCallingHandlers(
    from$ibrc(people_visits(per = 5, n = 4), diag_setting(), diag_models(), people_prior(), effects = tied_effects(),
              chains = 2, iter = 30, warmup = 15, seed = 5, resolution = 5, refresh = 1, file = path,
              control = list(cells = cells, check = FALSE)),
    message = function(m) {
      now <- startsWith(conditionMessage(m), paste("step", steps + 1, ""))
      if (any(now)) file.copy(path, kept[now])
      invokeRestart("muffleMessage")
    }, warning = function(w) invokeRestart("muffleWarning")
  )
  out <- lapply(kept, function(at) list(held = from$read_checkpoint(at), draws = fit$draws))
  unlink(c(path, kept))
  out
}

# The same with learned dynamics: of one run twice, and of draws of them.
dynamics_kinds <- function(folder, from) {
  cached(paste("dynamics_kinds", folder), {
    short_climb(environment())
    given <- list(setting = clinic_of, models = clinic_step)
    kept_of <- function(steps, ...) {
      path <- file.path(folder, "kind.ibrc")
      kept <- file.path(folder, paste0("kept", steps, ".ibrc"))
      fit <- withCallingHandlers(
        from$ibrc(ward_visits(), clinic_of, clinic_step, ibrc_prior(alpha ~ lognormal(0, 1)),
                  list(eta = 0, optimism = 0.5), chains = 2, iter = 30, warmup = 15, seed = 5, resolution = 5,
                  refresh = 1, file = path, dynamics = ward_iohmm(transitions = "shared"), ...),
        message = function(m) {
          now <- startsWith(conditionMessage(m), paste("step", steps + 1, ""))
          if (any(now)) file.copy(path, kept[now])
          invokeRestart("muffleMessage")
        }, warning = function(w) invokeRestart("muffleWarning")
      )
      out <- lapply(kept, function(at) list(held = from$read_checkpoint(at), draws = fit$draws, given = given))
      unlink(c(path, kept))
      out
    }
    c(kept_of(c(12, 27), by = "ward"), kept_of(25, uncertainty = "cut"))
  })
}
