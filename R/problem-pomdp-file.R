# Reads a file in Cassandra's .POMDP format, in three passes: tokens; statements
# (a word of the format, a colon, and all that follows up to the next such word);
# a model. The words of the format are reserved. Statements can therefore be separated before any of
# them is interpreted, and an error in one of them can name its line.

entry_words <- c("T", "O", "R")
preamble_words <- c("discount", "values", "states", "actions", "observations", "start")
reserved_words <- c(entry_words, preamble_words, "uniform", "identity", "reset", "reward", "cost",
                    "include", "exclude")

# How many cells of transition and emission a file may ask for: 400 MB.
most_cells <- 5e7

# A list with what decision_setting() takes, and the line where the discount is or
# should be.
read_pomdp_file <- function(path) {
  statements <- pomdp_statements(pomdp_tokens(pomdp_lines(path)))
  last_line <- max(statements[[length(statements)]]$lines)
  model <- pomdp_preamble(statements, last_line)
  states <- model$states
  actions <- model$actions
  entries <- function(word) Filter(function(statement) statement$word == word, statements)

  model$transition <- pomdp_probabilities(
    entries("T"), list(action = actions, "start state" = states, "end state" = states), model$start, last_line
  )
  seen <- entries("O")
  if (is.null(model$observations)) {
    if (length(seen)) {
      abort_file(seen[[1]]$line, "\"O:\" needs a list \"observations:\" at the beginning of the file.")
    }
    # A Markov decision process: its rewards do not depend on an observation, so one observation stands for all.
    emission <- array(1, c(length(states), 1, length(actions)))
    over <- list(action = actions, "start state" = states, "end state" = states)
    model$observations <- states
    model$emission <- "identity"
  } else {
    over <- list(action = actions, "start state" = states, "end state" = states,
                 observation = model$observations)
    emission <- model$emission <- pomdp_probabilities(seen, over[c(1, 3, 4)], NULL, last_line)
  }
  rewards <- lapply(entries("R"), pomdp_reward, over = over)
  model$utility <- model$sign * pomdp_utility(unlist(rewards, recursive = FALSE), model$transition, emission)
  model
}

# Tokens --------------------------------------------------------------------------------------------

pomdp_lines <- function(path) {
  bytes <- tryCatch(suppressWarnings(readBin(path, "raw", file.size(path))), error = function(e) NULL)
  if (is.null(bytes)) abort_input("x", "is a file that cannot be read: \"", path, "\".")
  if (identical(utils::head(bytes, 3), as.raw(c(0xef, 0xbb, 0xbf)))) bytes <- bytes[-(1:3)]
  # Comments may hold any byte. Bytes outside plain ASCII are replaced by a stand-in,
  # which is still refused outside comments.
  bytes[!as.integer(bytes) %in% c(9:10, 12:13, 32:126)] <- as.raw(1)
  strsplit(gsub("\r\n?", "\n", rawToChar(bytes)), "\n", fixed = TRUE)[[1]]
}

pomdp_tokens <- function(lines) {
  lines <- sub("#.*", "", lines)
  name <- "[A-Za-z][A-Za-z0-9_.-]*+"
  # This also matches text that only begins as a number, such as 2nd, so that it can be refused as a whole.
  number <- "(?:[+-][ \t]*)?\\.?[0-9](?:(?<=[eE])[+-]|[A-Za-z0-9_.])*+"
  found <- regmatches(lines, gregexpr(paste0(name, "|", number, "|[:*]|[^[:space:]]"), lines, perl = TRUE))
  text <- unlist(found)
  line <- rep(seq_along(lines), lengths(found))
  if (!length(text)) abort_file(max(1, length(lines)), "the file ends without any content.")

  kind <- rep("unknown", length(text))
  kind[grepl("^[A-Za-z]", text)] <- "name"
  kind[text %in% reserved_words] <- "reserved"
  kind[text == ":"] <- "colon"
  kind[text == "*"] <- "star"
  is_number <- grepl("^([+-][ \t]*)?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?$", text)
  kind[is_number] <- "number"
  value <- rep(NA_real_, length(text))
  value[is_number] <- as.numeric(gsub("[ \t]", "", text[is_number]))

  bad <- which(kind == "unknown" | is_number & !is.finite(value))[1]
  if (!is.na(bad)) refuse_token(text[bad], is_number[bad], line[bad])
  list(text = text, kind = kind, value = value, line = line)
}

refuse_token <- function(text, is_number, line) {
  if (is_number) abort_file(line, quoted(text), " is too large a number.")
  if (grepl("[0-9]", text)) {
    abort_file(line, quoted(text), " is neither a number nor a name; names begin with a letter.")
  }
  if (text == "\001") abort_file(line, "a character outside plain ASCII can only stand in a comment.")
  abort_file(line, quoted(text), " has no meaning here.")
}

# Statements ----------------------------------------------------------------------------------------

# Each statement is a list: the word, its line, whether `start` includes or excludes, the lines
# that it covers, and its tokens after the colon.
pomdp_statements <- function(tokens) {
  first <- which(tokens$text %in% c(entry_words, preamble_words))
  if (!length(first) || first[1] > 1) {
    abort_file(tokens$line[1], "a file begins with \"discount:\", \"values:\", \"states:\", \"actions:\" or ",
               "\"observations:\", not with ", quoted(tokens$text[1]), ".")
  }
  last <- c(first[-1] - 1L, length(tokens$text))
  Map(function(from, to) pomdp_statement(tokens, from, to), first, last)
}

pomdp_statement <- function(tokens, from, to) {
  word <- tokens$text[from]
  turned <- word == "start" && from < to && tokens$text[from + 1] %in% c("include", "exclude")
  colon <- from + if (turned) 2L else 1L
  if (colon > to || tokens$text[colon] != ":") {
    abort_file(tokens$line[min(colon, to)],
               "expected a colon after ", quoted(tokens$text[min(colon - 1, to)]),
               if (colon <= to) paste0(", not ", quoted(tokens$text[colon])),
               ". (\"", word, "\" is a word of the format and cannot be a name.)")
  }
  rest <- seq.int(colon + 1L, length.out = to - colon)
  list(word = word, line = tokens$line[from], mode = if (turned) tokens$text[from + 1] else "",
       lines = tokens$line[c(from, to)],
       body = list(text = tokens$text[rest], kind = tokens$kind[rest], value = tokens$value[rest],
                   line = tokens$line[rest]))
}

# The preamble --------------------------------------------------------------------------------------

pomdp_preamble <- function(statements, last_line) {
  words <- vapply(statements, `[[`, "", "word")
  line <- vapply(statements, `[[`, 0L, "line")
  first_entry <- match(TRUE, words %in% entry_words, nomatch = length(words) + 1L)
  late <- which(words %in% preamble_words & seq_along(words) > first_entry)
  if (length(late)) {
    abort_file(line[late[1]], "\"", words[late[1]], ":\" must come before every \"T:\", \"O:\" or \"R:\".")
  }
  twice <- which(duplicated(words) & words %in% preamble_words)
  if (length(twice)) {
    abort_file(line[twice[1]], "\"", words[twice[1]], ":\" was already given in line ",
               line[match(words[twice[1]], words)], ".")
  }
  given <- stats::setNames(statements[words %in% preamble_words], words[words %in% preamble_words])
  lost <- setdiff(c("values", "states", "actions"), names(given))
  end_line <- c(line, last_line)[first_entry]
  if (length(lost)) abort_file(end_line, "expected \"", lost[1], ":\" before here.")
  sets <- lapply(given[intersect(c("states", "actions", "observations"), names(given))], pomdp_set)
  check_cells(sets, given)
  sets <- lapply(sets, function(set) if (is.numeric(set)) format_positions(set) else set)
  if (length(sets$states) < 2) abort_file(given$states$line, "there must be at least two states.")
  list(states = sets$states, actions = sets$actions, observations = sets$observations,
       discount = pomdp_discount(given$discount),
       discount_line = if (is.null(given$discount)) end_line else given$discount$line,
       sign = pomdp_sign(given$values), start = pomdp_start(given$start, sets$states))
}

# States, actions and observations without names are called by their numbers.
format_positions <- function(n) format(seq_len(n) - 1, scientific = FALSE, trim = TRUE)

# Even a file of three lines can ask for more memory than there is.
check_cells <- function(sets, given) {
  size <- vapply(sets, function(set) if (is.numeric(set)) set else as.numeric(length(set)), 0)
  cells <- size[["states"]] * size[["actions"]] * (size[["states"]] + sum(size["observations"], na.rm = TRUE))
  if (cells > most_cells) {
    line <- given[[names(size)[which.max(size)]]]$line
    abort("memory", "`x` states, in line ", line, ", a problem of ", format(cells, digits = 3),
          " probabilities; at most ", format(most_cells), " can be read.",
          argument = "x", rows = line)
  }
}

# Names, or how many there are.
pomdp_set <- function(statement) {
  body <- statement$body
  label <- paste0("\"", statement$word, ":\"")
  if (!length(body$text)) {
    abort_file(statement$lines[2], "expected names after ", label, ", or how many there are.")
  }
  if (body$kind[1] == "number") {
    if (length(body$text) > 1) {
      abort_file(body$line[2], "expected nothing more after the number of ", statement$word, ", not ",
                 quoted(body$text[2]), ".")
    }
    if (!grepl("^[0-9]+$", body$text) || body$value < 1) {
      abort_file(body$line, "the number of ", statement$word, " must be whole and at least 1.")
    }
    return(body$value)
  }
  bad <- which(body$kind != "name")[1]
  if (!is.na(bad)) abort_file(body$line[bad], quoted(body$text[bad]), " cannot be a name in ", label, ".")
  twice <- which(duplicated(body$text))[1]
  if (!is.na(twice)) abort_file(body$line[twice], quoted(body$text[twice]), " is twice in ", label, ".")
  body$text
}

pomdp_discount <- function(statement) {
  if (is.null(statement)) return(NULL)
  value <- pomdp_numbers(statement$body, 1, statement$lines[2], "\"discount:\"")
  if (value < 0 || value > 1) abort_file(statement$body$line, "the discount must be from 0 to 1.")
  value
}

pomdp_sign <- function(statement) {
  found <- statement$body$text
  if (length(found) != 1 || !found %in% c("reward", "cost")) {
    abort_file(statement$lines[2], "expected \"reward\" or \"cost\" after \"values:\".")
  }
  if (found == "cost") -1 else 1
}

pomdp_start <- function(statement, states) {
  n_states <- length(states)
  body <- statement$body
  if (is.null(statement) || statement$mode == "" && identical(body$text, "uniform")) {
    return(rep(1 / n_states, n_states))
  }
  if (!length(body$text)) {
    abort_file(statement$lines[2],
               "expected a state after \"", trimws(paste("start", statement$mode)), ":\".")
  }
  # One whole number is a state, because there are at least two states and one probability would not be enough.
  listed <- nzchar(statement$mode) || all(body$kind == "name") ||
    length(body$text) == 1 && grepl("^[0-9]+$", body$text)
  start <- if (listed) {
    start_among(statement, states)
  } else {
    pomdp_numbers(body, n_states, statement$lines[2], "\"start:\"", most = 1)
  }
  if (abs(sum(start) - 1) > file_tolerance) {
    abort_file(statement$line, "the probabilities of \"start:\" must sum to 1; they sum to ",
               format(sum(start), digits = 7), ".")
  }
  start / sum(start)
}

# Gives the same probability to each state that is listed, or to each that is not listed.
start_among <- function(statement, states) {
  body <- statement$body
  chosen <- unlist(lapply(seq_along(body$text), function(i) pomdp_positions(body, i, states, "state")))
  if (statement$mode == "exclude") chosen <- setdiff(seq_along(states), chosen)
  if (!length(chosen)) abort_file(statement$line, "\"start exclude:\" leaves no state to start in.")
  start <- as.numeric(seq_along(states) %in% chosen)
  start / sum(start)
}
