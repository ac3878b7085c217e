# The same answers in every locale. What a locale does is settled when R starts, so that each
# has a process of its own.

locales <- c("C", "en_US.UTF-8", "tr_TR.UTF-8", "de_DE.UTF-8")

known_locales <- function() {
  if (.Platform$OS.type != "unix") return(character())
  there <- tryCatch(suppressWarnings(system2("locale", "-a", stdout = TRUE, stderr = FALSE)), error = function(e) "")
  plain <- function(x) tolower(gsub("-", "", x))
  locales[plain(locales) %in% plain(there)]
}

# What `script` leaves in `answer`, from an R that was started in a locale.
in_locale <- function(locale, script) {
  code <- tempfile(fileext = ".R")
  result <- tempfile(fileext = ".rds")
  on.exit(unlink(c(code, result)))
  writeLines(c("library(ibrc)", script, sprintf("saveRDS(answer, \"%s\")", result)), code)
  withr::local_envvar(LC_ALL = locale, LANG = locale, LANGUAGE = "en", R_LIBS = paste(.libPaths(), collapse = ":"))
  said <- system2(file.path(R.home("bin"), "Rscript"), c("--no-save", code), stdout = TRUE, stderr = TRUE)
  if (!file.exists(result)) stop(paste(c("no answer", said), collapse = "\n"))
  readRDS(result)
}

script <- '
header <- "rid,viscode,dx,cdrsb,hippocampus,age,apoe4,ptgender"
lines <- c("i1,BL,MCI,0.5,6642.1,71,0,MALE", "I1,bl,Dementia,3,,80,1,Female", "\\u00e91,bl,NL to MCI,0,,,,",
           "ID,bl,DEMENTIA,0,5000,60,2,F", "id,bl,mci,1,NONE,MISSING,N/A,m")
path <- tempfile(fileext = ".csv")
writeBin(charToRaw(enc2utf8(paste(c(header, lines), collapse = "\\n"))), path)
file <- read_adni(path)
table <- read.csv(text = c(header, lines[-3]), colClasses = "character")
setting <- diag_setting()
plan <- plan_agent(setting, bounded_agent(0.5), diag_models(), resolution = 10)
data <- as.data.frame(simulate(plan, 60, seed = 1))
words <- c("b", "B", "a", "\\u00c4", "i", "I")
data$clinic <- words[data$id %% 6 + 1]
data$team <- ifelse(data$id %% 2 == 0, "Zebra", "ant")
data[c("action", "observation")] <- lapply(data[c("action", "observation")], as.character)
visits <- trajectories(data, covariates = c("clinic", "team"))
prior <- ibrc_prior(alpha ~ lognormal(0, 1))
fit <- suppressWarnings(ibrc(visits, setting, diag_models(), prior, by = c("team", "clinic"), chains = 2, iter = 20,
                             seed = 1, resolution = 10))
complaints <- character()
compared <- withCallingHandlers(compare_groups(fit), warning = function(w) {
  complaints <<- c(complaints, conditionMessage(w))
})
mode <- suppressWarnings(ibrc_mode(visits, setting, diag_models(), prior, by = "team", seed = 1, resolution = 10))
learned <- fit_iohmm(visits, 2, starts = 1, seed = 1)
panel <- panel_trajectories(data.frame(who = 1:6, day = 0, marker = words, assay = rev(words)), "who", "day", "marker",
                            "assay")
odd <- tryCatch(trajectories(transform(data, action = sub("m", "M", action)), setting = setting),
                error = conditionMessage)
as_code <- function(x) lapply(enc2utf8(as.character(x)), utf8ToInt)
answer <- list(
  file = lapply(as.data.frame(file), as_code), table = lapply(as.data.frame(read_adni(table)), as_code),
  groups = as_code(names(fit$draws)), draws = unname(fit$draws), sizes = unname(fit$group_sizes),
  compared = as_code(c(as.character(compared$reference), as.character(compared$group))),
  estimates = compared[c("estimate", "conf.low", "conf.high", "probability")],
  mode = unname(unlist(lapply(coef(mode), unname))), words = as_code(c(learned$actions, learned$observations)),
  laws = unname(c(learned$start, learned$transition, learned$emission)), levels = as_code(levels(panel$observation)),
  panel = as_code(panel$observation), told = odd, shown = format(visits)[1:3], complaints = complaints
)
'

test_that("what is read, grouped, fitted and said is the same in every locale", {
  skip_on_cran()
  there <- known_locales()
  skip_if(length(there) < 2, "fewer than two of the locales are there")
  answers <- lapply(stats::setNames(there, there), in_locale, script)
  for (locale in there[-1]) expect_identical(answers[[locale]], answers[[1]], label = locale)
  text <- function(codes) vapply(codes, intToUtf8, "")
  one <- answers[[1]]
  expect_identical(one$complaints, character())
  # And it is right: nobody lost, capitals before small letters, letters with signs last.
  expect_identical(text(one$file$RID), c("i1", "I1", "\u00e91", "ID", "id"))
  expect_identical(text(one$file$diagnosis), c("mci", "dementia", "mci", "dementia", "mci"))
  expect_identical(text(one$file$sex), c("male", "female", "missing", "female", "male"))
  expect_identical(text(one$groups), c(paste("Zebra,", c("a", "b", "i")), paste("ant,", c("B", "I", "\u00c4"))))
  expect_match(one$told, "only in capitals, blanks or signs")
})
