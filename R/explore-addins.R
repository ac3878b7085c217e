# What RStudio's Addins call (inst/rstudio/addins.dcf): functions without arguments that ask for what they need.

explore_addin <- function(from = globalenv()) {
  known <- named_objects("ibrc_setting", from)
  if (!length(known)) return(explore_agent())
  name <- choose_name(known, "Which setting?")
  if (is.null(name)) return(invisible())
  # Its name stands in the code that the explorer shows.
  eval(call("explore_agent", as.name(name)), list2env(list(explore_agent = explore_agent), parent = from))
}

report_addin <- function(from = globalenv()) {
  known <- named_objects("ibrc_fit", from)
  if (!length(known)) {
    abort_input("fit", "is missing: there is no fit in the workspace. Make one with ibrc(), or read one with ",
                "readRDS().", topic = "ibrc_report")
  }
  name <- choose_name(known, "Which fit?")
  if (is.null(name)) return(invisible())
  file <- ask_file()
  if (!length(file) || !nzchar(file)) return(invisible())
  if (!grepl("[.](html?|docx)$", file, ignore.case = TRUE)) file <- paste0(file, ".html")
  ibrc_report(get(name, from), file = file)
}

named_objects <- function(class, from) {
  Filter(function(name) inherits(get(name, from), class), ls(from, sorted = TRUE))
}

# The only one, or the one that is picked; NULL if none is.
choose_name <- function(known, title) {
  if (length(known) == 1) return(known)
  picked <- utils::menu(known, title = title)
  if (picked > 0) known[picked]
}

# Where the report goes. Nothing is written without a path that the user named.
ask_file <- function() tryCatch(file.choose(new = TRUE), error = function(e) "")
