# Replicates of a designed study: spread over processes, with progress, a file that is written after each round, and an
# interrupt that keeps what is finished. Every replicate has its own random stream, whatever runs beside it.
#
# A job has `design`, `cells` (one row per kind of study: patients, and whether groups differ), `slots` (one row per
# term and group), `replicates`, `contrast`, `truths` and `seed`. Piece i is cell (i - 1) %% n + 1 of replicate (i - 1)
# %/% n + 1: further replicates come after the others, which stay as they were.

# So many studies, none of which could be analysed, say it of the others: new_replicated_study() then tells why.
enough_failures <- 10

run_replicates <- function(job, file, refresh) {
  n <- nrow(job$cells) * job$replicates
  results <- vector("list", n)
  fingerprint <- fingerprint_of(c(unclass(job$design), job[c("cells", "contrast", "truths", "seed")]))
  if (!is.null(file)) {
    lock <- new_lock(file)
    on.exit(release_lock(lock))
    take_lock(lock)
    results <- replicates_kept(file, fingerprint, results, nrow(job$slots))
  }
  streams <- streams_from_seed(job$seed, n)
  asked <- results[seq_len(n)]
  # Those that an earlier call made beyond these stay in the file.
  save <- function(asked) {
    results[seq_len(n)] <- asked
    if (!is.null(file)) write_checkpoint(file, replicates_to_plain(results, job$contrast), fingerprint)
  }
  began <- Sys.time()
  first <- count_filled(asked)
  any_ran <- first > 0
  fill_in_rounds(asked, function(i, over) replicate_piece(i, job, streams), run_replicate, save,
                 function(asked, these) {
    done <- count_filled(asked)
    if (refresh > 0) say_rounds("study", done, n, began, first)
    any_ran <<- any_ran || !all(vapply(asked[these], function(one) could_not_run(one$failure), NA))
    any_ran || done < enough_failures
  })
}

# What a process needs for one study.
replicate_piece <- function(i, job, streams) {
  cell <- job$cells[(i - 1) %% nrow(job$cells) + 1, ]
  design <- resize_design(job$design, cell$patients, "patients")
  if (cell$effect == "none") design <- null_design(design)
  list(design = design, slots = job$slots, contrast = job$contrast, truths = job$truths, stream = streams[[i]])
}

# Truth, estimate and interval of every slot. Failures and warnings are kept in words.
run_replicate <- function(piece) {
  began <- proc.time()[["elapsed"]]
  slots <- piece$slots
  none <- rep(NA_real_, nrow(slots))
  out <- list(truth = none, estimate = none, conf.low = none, conf.high = none, settled = NA, failure = NA_character_,
              warning = NA_character_)
  heard <- function(w) {
    if (!inherits(w, "ibrc_warning") && is.na(out$warning)) out$warning <<- conditionMessage(w)
    invokeRestart("muffleWarning")
  }
  with_stream(piece$stream, withCallingHandlers(tryCatch({
    design <- piece$design
    if (piece$truths == "prior") design$agents <- draw_agents(design)
    truth <- if (piece$contrast) contrast_truth(design$agents, unique(slots$term)) else
      level_truth(design$agents, unique(slots$term))
    out$truth <- truth[cbind(slots$term, slots$group)]
    found <- suppressMessages(analyse_visits(draw_visits(design), design, piece$contrast))
    at <- match(paste(slots$term, slots$group), paste(found$rows$term, found$rows$group))
    if (all(is.na(at))) {
      stop("the analysis has no row of ", enumerate(unique(slots$term), quote = ""), " for the group ",
           enumerate(unique(slots$group)))
    }
    for (column in c("estimate", "conf.low", "conf.high")) out[[column]] <- as.numeric(found$rows[[column]])[at]
    out$settled <- found$settled
    if (!piece$contrast) out$truth <- centred_truth(design, found$centre, truth)[cbind(slots$term, slots$group)]
    lost <- is.na(out$estimate) | is.na(out$conf.low) | is.na(out$conf.high)
    if (any(lost)) out$failure <- paste("no interval of", enumerate(unique(slots$term[lost]), quote = ""))
  }, error = function(e) out$failure <<- study_failure(e)), warning = heard))
  # A truth at a limit has no logarithm. R tells NaN from NA; tables need not.
  out[1:4] <- lapply(out[1:4], function(x) replace(x, is.nan(x), NA))
  c(out, seconds = proc.time()[["elapsed"]] - began)
}

# A study that could not be run, in words. One that ran may be without an interval, which is a failure of another kind.
not_run <- "not run: "

study_failure <- function(e) {
  paste0(not_run, trimws(gsub("\\s+", " ", plain_words(e))))
}

could_not_run <- function(failure) startsWith(failure, not_run) %in% TRUE

# Levels [term, group] at the values of the confounder at which the fit has them.
centred_truth <- function(design, centre, truth) {
  for (term in intersect(names(centre), rownames(truth))) {
    truth[term, ] <- level_truth(lapply(design$agents, shift_agent, design$confounder$effect * centre[[term]]), term)
  }
  truth
}

# Agents whose inferred terms are drawn from the prior. Where groups are fitted apart each has draws of its own. Where
# they are terms of a formula all have those of the first, and in terms that differ a coefficient on top.
draw_agents <- function(design) {
  n <- length(design$agents)
  theta <- prior_draw(design$prior, n)
  if (!is.null(design$more$effects)) {
    theta <- theta[rep(1, n), , drop = FALSE]
    for (term in differing_terms(design)) {
      entry <- default_effect(term, "normal", effect_scale(design$prior[[term]]))
      at <- match(term, names(design$prior))
      theta[-1, at] <- theta[-1, at] + prior_draw(list(entry), n - 1)
    }
  }
  drawn <- prior_natural(design$prior, theta)
  for (g in seq_along(design$agents)) {
    for (term in names(design$prior)) design$agents[[g]] <- with_term(design$agents[[g]], term, drawn[g, term])
  }
  design$agents
}

# ---- its file ----------------------------------------------------------------------------------------------------

slot_numbers <- c("truth", "estimate", "conf.low", "conf.high")

# Columns of all finished replicates: a file of many small lists would be slow to write.
# `contrast`: for whoever takes the file for a fit.
replicates_to_plain <- function(results, contrast) {
  done <- which(!vapply(results, is.null, NA))
  column <- function(name) unlist(lapply(results[done], `[[`, name))
  names <- c(slot_numbers, "settled", "failure", "warning", "seconds")
  c(list(done = done), lapply(stats::setNames(names, names), column), list(contrast = contrast))
}

# The replicates of an earlier call with the same design, sizes and seed, also if it had fewer or more of them: those
# beyond what is asked now stay in the file. One that could not be run is tried again.
replicates_kept <- function(file, fingerprint, results, n_slots) {
  if (!file.exists(file)) {
    check_writable(file)
    return(results)
  }
  kept <- read_checkpoint(file, fingerprint)$contents
  n <- if (is.list(kept)) length(kept$done)
  fine <- is.list(kept) && is.integer(kept$done) && all(kept$done > 0 & kept$done <= most_at_once) &&
    !anyDuplicated(kept$done) &&
    all(vapply(kept[slot_numbers], function(x) is.double(x) && length(x) == n * n_slots, NA)) &&
    is.logical(kept$settled) && is.character(kept$failure) && is.character(kept$warning) && is.double(kept$seconds) &&
    all(lengths(kept[c("settled", "failure", "warning", "seconds")]) == n)
  if (!fine) refuse_damaged("it does not hold replicates of this design")
  for (i in which(!could_not_run(kept$failure))) {
    mine <- (i - 1) * n_slots + seq_len(n_slots)
    results[[kept$done[i]]] <- c(lapply(kept[slot_numbers], `[`, mine),
                                 lapply(kept[c("settled", "failure", "warning", "seconds")], `[[`, i))
  }
  results
}

# ---- what came of it -----------------------------------------------------------------------------------------------

# One row per replicate that is done and slot.
replicate_table <- function(job, results) {
  done <- which(!vapply(results, is.null, NA))
  n <- nrow(job$slots)
  at <- rep((done - 1) %% nrow(job$cells) + 1, each = n)
  column <- function(name, each = 1) rep(unlist(lapply(results[done], `[[`, name)), each = each)
  numbers <- lapply(stats::setNames(slot_numbers, slot_numbers), column)
  data.frame(
    job$cells[at, ], replicate = rep((done - 1L) %/% nrow(job$cells) + 1L, each = n),
    job$slots[rep(seq_len(n), length(done)), ], numbers, settled = column("settled", n),
    failure = column("failure", n), warning = column("warning", n), seconds = column("seconds", n), row.names = NULL
  )
}

# An analysis that runs in none of the studies of one size is not one that finds nothing.
refuse_none_run <- function(each, patients) {
  key <- paste(each$patients, each$effect)
  for (rows in split(each, factor(key, unique(key)))) {
    if (!all(could_not_run(rows$failure))) next
    n <- length(unique(rows$replicate))
    abort("study", if (n == 1) "The study" else paste("None of the", n, "studies"), " with ",
          size_words(rows$patients[1], patients), if (rows$effect[1] == "none") " and no effect",
          " could ", if (n == 1) "not ", "be analysed. The first said: ",
          as_sentence(substring(rows$failure[1], nchar(not_run) + 1)))
  }
}

as_sentence <- function(text) paste0(text, if (!grepl("[.!?]$", text)) ".")

warn_interrupted <- function(run) {
  if (!run$interrupted) return(invisible())
  warn("interrupted", "Interrupted after ", sum(!vapply(run$results, is.null, NA)), " of ",
       plural(length(run$results), "study", "studies"), ": the finished part is returned. With `file`, the same call ",
       "goes on.")
}
