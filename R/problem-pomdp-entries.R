# The entries T:, O: and R: of a .POMDP file. Each names an action and perhaps
# states and an observation, joined by colons. It then gives one number, a row, a
# matrix, or a word that stands for one of these. For the parts that it does not name, it gives all values.

# Where in `over` (a named list of sets) an entry points, as one vector of positions for
# each part; and the tokens that hold its values.
pomdp_entry <- function(statement, over) {
  body <- statement$body
  n_tokens <- length(body$text)
  n_parts <- 1
  while (2 * n_parts <= n_tokens && body$text[2 * n_parts] == ":") n_parts <- n_parts + 1
  if (n_parts > length(over)) {
    abort_file(body$line[2 * n_parts - 2], "\"", statement$word, ":\" takes at most ",
               paste(names(over), collapse = " : "), ".")
  }
  if (2 * n_parts - 1 > n_tokens) {
    abort_file(statement$lines[2], "expected ", article(names(over)[n_parts]), " in \"", statement$word,
               ":\".")
  }
  at <- lapply(seq_len(n_parts), function(i) pomdp_positions(body, 2L * i - 1L, over[[i]], names(over)[i]))
  list(at = at, n_parts = n_parts, given = lapply(body, `[`, -seq_len(2 * n_parts - 1)),
       word = statement$word, parts = names(over)[seq_len(n_parts)],
       line = statement$line, last_line = statement$lines[2])
}

# For messages only. Arguments are evaluated lazily, so that it costs nothing for entries without an error.
entry_label <- function(entry) paste0("\"", entry$word, ":\" of ", paste(entry$parts, collapse = " : "))

article <- function(noun) paste(if (grepl("^[aeiou]", noun)) "an" else "a", noun)

# The positions that token `i` stands for: by name, by number from 0, or `*` for all.
pomdp_positions <- function(tokens, i, set, what) {
  text <- tokens$text[i]
  at <- switch(tokens$kind[i],
    star = seq_along(set),
    name = match(text, set),
    number = if (grepl("^[0-9]+$", text) && tokens$value[i] < length(set)) tokens$value[i] + 1 else NA,
    abort_file(tokens$line[i], "expected ", article(what), ", not ", quoted(text), ".")
  )
  if (anyNA(at)) {
    abort_file(tokens$line[i], quoted(text), " is not ", article(what), "; there ",
               if (length(set) == 1) "is " else "are ", enumerate(set),
               if (tokens$kind[i] == "number") ", numbered from 0", ".")
  }
  at
}

# Exactly `n` numbers. They are probabilities if there is a `most`. `words` could stand here too, and the
# caller has already dealt with them.
pomdp_numbers <- function(tokens, n, last_line, where, most = Inf, words = character()) {
  expected <- function() {
    paste("expected", paste(c(plural(n, "number"), words), collapse = " or "), "in", where)
  }
  n_given <- length(tokens$text)
  bad <- which(tokens$kind != "number")[1]
  if (!is.na(bad)) {
    abort_file(tokens$line[bad], expected(), ", not ", quoted(tokens$text[bad]), ".")
  }
  if (n_given != n) {
    abort_file(if (n_given > n) tokens$line[n + 1] else last_line, expected(), "; found ", n_given, ".")
  }
  bad <- which(tokens$value > most | most < Inf & tokens$value < 0)[1]
  if (!is.na(bad)) {
    abort_file(tokens$line[bad], "a probability must be from 0 to 1; found ", tokens$text[bad], ".")
  }
  tokens$value
}

# T: and O: as an array [row, column, action]. `over` names actions, rows, columns.
pomdp_probabilities <- function(statements, over, start, last_line) {
  size <- lengths(over, use.names = FALSE)[c(2, 3, 1)]
  out <- array(0, size)
  set_in <- matrix(0L, size[1], size[3])
  for (statement in statements) {
    entry <- pomdp_entry(statement, over)
    actions <- entry$at[[1]]
    rows <- if (entry$n_parts > 1) entry$at[[2]] else seq_len(size[1])
    columns <- if (entry$n_parts > 2) entry$at[[3]] else seq_len(size[2])
    out[rows, columns, actions] <- pomdp_block(entry, length(rows), size, start)
    set_in[rows, actions] <- entry$line
  }
  total <- apply(out, c(1, 3), sum)
  off <- which(abs(total - 1) > file_tolerance, arr.ind = TRUE)
  if (nrow(off)) {
    line <- set_in[off[1, , drop = FALSE]]
    where <- paste0("action ", quoted(over[[1]][off[1, 2]]), " and ", names(over)[2], " ",
                    quoted(over[[2]][off[1, 1]]))
    if (line == 0) {
      abort_file(last_line, "the file ends without ", names(over)[3], " probabilities for ", where, ".")
    }
    abort_file(line, "the ", names(over)[3], " probabilities for ", where, " must sum to 1; they sum to ",
               format(total[off[1, , drop = FALSE]], digits = 7), ".")
  }
  sweep(out, c(1, 3), total, "/")
}

# The values that one T: or O: gives to its rows and columns, column by column. Words stand for
# rows or matrices. Only T: has a start to go back to.
pomdp_block <- function(entry, n_rows, size, start) {
  given <- entry$given
  square <- size[1] == size[2]
  words <- c(if (entry$n_parts < 3) c("uniform", if (!is.null(start)) "reset"),
             if (entry$n_parts == 1 && square) "identity")
  if (length(given$text) && given$text[1] %in% words) {
    if (length(given$text) > 1) {
      abort_file(given$line[2], "expected nothing more after ", quoted(given$text[1]), ", not ",
                 quoted(given$text[2]), ".")
    }
    return(switch(given$text,
      uniform = 1 / size[2],
      reset = rep(start, each = n_rows),
      identity = as.vector(diag(size[1]))
    ))
  }
  n_numbers <- c(size[1] * size[2], size[2], 1)[entry$n_parts]
  value <- pomdp_numbers(given, n_numbers, entry$last_line, entry_label(entry), most = 1,
                         words = sprintf("\"%s\"", words))
  switch(entry$n_parts,
    as.vector(matrix(value, size[1], size[2], byrow = TRUE)),
    rep(value, each = n_rows),
    value
  )
}

# One R: as a list of rewards, each with the positions to which it applies. Without
# observations, each end state has one column.
pomdp_reward <- function(statement, over) {
  entry <- pomdp_entry(statement, over)
  n_states <- length(over[["end state"]])
  n_columns <- length(over$observation)
  fewest <- if (n_columns) 2 else 1
  if (entry$n_parts < fewest) {
    abort_file(entry$last_line, "\"R:\" needs a start state after the action where there are observations.")
  }
  free <- lengths(over, use.names = FALSE)[seq_along(over) > entry$n_parts]
  value <- pomdp_numbers(entry$given, prod(free), entry$last_line, entry_label(entry))
  ends <- if (entry$n_parts > 2) entry$at[[3]] else seq_len(n_states)
  columns <- if (n_columns == 0) 1L else if (entry$n_parts > 3) entry$at[[4]] else seq_len(n_columns)
  reward <- function(starts, value) {
    list(actions = entry$at[[1]], starts = starts, ends = ends, columns = columns, value = value,
         everywhere = length(value) == 1 && length(ends) == n_states && length(columns) == max(1, n_columns))
  }
  if (entry$n_parts == 1) {
    value <- matrix(value, n_states, n_states, byrow = TRUE)
    return(lapply(seq_len(n_states), function(s) reward(s, value[s, ])))
  }
  # A row applies to every end state that is named. A matrix is given row by row.
  if (n_columns && entry$n_parts == 3) value <- rep(value, each = length(ends))
  if (n_columns && entry$n_parts == 2) value <- as.vector(matrix(value, n_states, n_columns, byrow = TRUE))
  list(reward(entry$at[[2]], value))
}

# What an action in a state is worth, averaged over where it leads and what is seen
# there. Later rewards replace earlier ones.
pomdp_utility <- function(rewards, transition, emission) {
  n_states <- dim(transition)[1]
  n_actions <- dim(transition)[3]
  holds <- rep(list(integer()), n_states * n_actions)
  for (k in seq_along(rewards)) {
    cells <- as.vector(outer(rewards[[k]]$starts, (rewards[[k]]$actions - 1) * n_states, "+"))
    before <- if (rewards[[k]]$everywhere) list(integer()) else holds[cells]
    holds[cells] <- lapply(before, c, k)
  }
  utility <- matrix(0, n_states, n_actions)
  for (cell in which(lengths(holds) > 0)) {
    s <- (cell - 1) %% n_states + 1
    a <- (cell - 1) %/% n_states + 1
    chosen <- rewards[holds[[cell]]]
    utility[cell] <- if (length(chosen) == 1 && chosen[[1]]$everywhere) {
      chosen[[1]]$value
    } else {
      worth <- matrix(0, n_states, dim(emission)[2])
      for (reward in chosen) worth[reward$ends, reward$columns] <- reward$value
      expected_reward(transition[s, , a], matrix(emission[, , a], n_states), worth)
    }
  }
  utility
}

abort_file <- function(line, ...) {
  abort_input("x", "has an error in line ", line, ": ", ..., rows = as.integer(line))
}

quoted <- function(text) paste0("\"", if (nchar(text) > 30) paste0(strtrim(text, 30), "...") else text, "\"")

# The solver that the format comes from accepts rows that miss 1 by 0.00001, and
# files are written accordingly. The same is accepted here, and a little more for rounding.
file_tolerance <- 1e-5 + 1e-9

# The average of `worth` [end state, observation]. What cannot happen does not count,
# even if it is worth -Inf.
expected_reward <- function(reached, emission, worth) {
  weight <- reached * emission
  possible <- weight > 0
  sum(weight[possible] * worth[possible])
}
