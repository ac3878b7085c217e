# Every entry that R may call in the package's C code, with the garbage collector run at
# each allocation: what is not protected is lost at once. Each answer must be that of a
# quiet run, bit for bit. Vectors have 100 entries or more wherever the entry allows it,
# so that each is a block of its own, and a sanitizer sees it freed (sanitize.sh runs this
# file as well). A call that forgets to protect comes first: torture that leaves it its
# answer would prove nothing.
#
#   Rscript tests/slow/gctorture.R

source(file.path("tests", "slow", "shared", "promise.R"))

# ---- a planted fault ------------------------------------------------------------

planted <- function() {
  folder <- tempfile("planted")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  writeLines(c(
    "#include <Rinternals.h>",
    "static SEXP filled(double with) {",
    "  SEXP x = Rf_allocVector(REALSXP, 1000);",
    "  for (int i = 0; i < 1000; i++) REAL(x)[i] = with;",
    "  return x;",
    "}",
    "SEXP forgets(void) {",
    "  SEXP lost = filled(1.0);",
    "  for (int k = 0; k < 20; k++) filled(2.0);",
    "  return Rf_ScalarReal(REAL(lost)[500]);",
    "}"), file.path(folder, "planted.c"))
  script <- file.path(folder, "planted.R")
  library <- file.path(folder, paste0("planted", .Platform$dynlib.ext))
  writeLines(c(sprintf("dyn.load(%s)", deparse(library)), "gctorture(TRUE)", "x <- .Call(\"forgets\")",
               "gctorture(FALSE)", "cat(x)"), script)
  old <- setwd(folder)
  made <- system2(file.path(R.home("bin"), "R"), c("CMD", "SHLIB", "planted.c"), stdout = FALSE, stderr = FALSE)
  setwd(old)
  if (made != 0) return("not compiled")
  said <- suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), script, stdout = TRUE, stderr = FALSE))
  if (length(said) == 0) "the process died" else said
}
said <- planted()
promise("a planted vector without protection is lost", "another answer than 1, or none", said,
        !said %in% c("1", "not compiled"))

# ---- arguments ------------------------------------------------------------------

setting <- diag_setting()
models <- diag_models()
plan <- plan_agent(setting, bounded_agent(0.5, 1.25, 1e-3), models)
stack <- own("stack_models")(plan$models)
nodes <- plan$tables$n_nodes
set.seed(1)
n <- 150L
share <- stats::runif(n)
beliefs <- rbind(share, 1 - share, deparse.level = 0)
action <- rep_len(0:2, n)
observation <- rep_len(c(0L, 1L, -1L), n)
visits <- simulate(plan, 200, seed = 1)
coded <- own("code_visits")(visits, setting)
tree <- own("build_histories")(coded, setting)
batch <- list(tables = plan$tables, models = stack, problem = plan$problem, histories = list(tree),
              space = plan$space, by_value = 1L, start = unname(setting$start), tolerance = 1e-8,
              max_backups = 1000L)
parameters <- cbind(c(0.5, 1.25, 1e-3, 0.95, 1, 1 / 3, 1 / 3, 1 / 3), c(0.6, -0.75, 1e-3, 0.95, 0, 0.2, 0.3, 0.5))

# The same where the state is seen, in a walk along 120 rooms.
rooms <- 120L
steps <- data.frame(from = rep(seq_len(rooms), 2), to = c(seq_len(rooms), c(seq_len(rooms)[-1], 1L)), action = 1L,
                    probability = 0.5)
names_of <- paste0("room", seq_len(rooms))
hall <- decision_setting(names_of, "on", names_of, steps, "identity", matrix(sin(seq_len(rooms))), discount = 0.9)
walk <- plan_agent(hall, bounded_agent(1))
rows_of_hall <- own("stack_models")(walk$models)

# The model behind the plan serves as an input-output model.
words <- list(actions = setting$actions, observations = setting$observations)
nodes_seen <- own("iohmm_tree")(coded, words)
truth <- own("stack_models")(own("own_model")(setting))
laws <- c(truth[c("n_states", "n_actions", "n_obs", "n_models")],
          list(start = c(0.4, 0.6), transition = truth$transition, emission = truth$emission))
prior <- list(start = 0.1, transition = 0.1, stay = 0, emission = rep(0.1, 6), possible = rep(1L, 6), shared = 0L)
cloning <- c(truth[c("n_states", "n_actions", "n_obs")],
             list(tree = nodes_seen, chosen = matrix(1, 3, nodes_seen$n_nodes), prior = prior, centre_sd = 3,
                  log_sharpness_mean = 2, log_sharpness_sd = 3, fixed = 0L))
states <- vapply(nodes_seen$leaf, function(h) {
  depth <- 0
  while (h >= 0) {
    h <- nodes_seen$parent[h + 1]
    depth <- depth + 1
  }
  depth
}, 0)

# Learners: one that sees the room it is in, and one that remembers two visits.
tried_hall <- list(utility = as.vector(hall$utility), prior = 1, temperature = 0, bonus = 0, discount = 0.9,
                   exploration = 0.5, patience = 10, power = 1, episode = 10L)
learned_hall <- list(action_value = matrix(0, 1, rooms), tries = matrix(0, 1, rooms), state = 0L, made = 0L)
remembers <- list(memory = 2L, utility = unname(setting$utility), discount = 0.95, exploration = 0.5, initial = 0,
                  episode = 10L)
nothing_met <- list(key = numeric(), action_value = matrix(0, 3, 0), tried = matrix(0, 3, 0), state = 0L, history = 0,
                    visit = 0L)
recalled <- list(key = c(0, 1, 2), policy = matrix(1 / 3, 3, 3), otherwise = rep(1 / 3, 3))

# Two recurrent networks of 163 weights, and trajectories of five visits.
layers <- c(7L, 3L, 4L, 3L)
shown <- list(first = seq.int(0L, n, by = 5L), done = rep_len(-1:3, n), seen = rep_len(c(-1L, 4:6), n),
              action = rep_len(-1:2, n))
weights <- matrix(stats::rnorm(2 * 163), 163)
networks <- list(weights = weights, first = 0 * weights, second = 0 * weights)

path <- tempfile("gctorture")
bytes <- as.raw(rep_len(0:255, 1000))
# Text in bytes by other text of the same length.
sub_raw <- function(bytes, from, to) {
  at <- grepRaw(from, bytes, fixed = TRUE)
  replace(bytes, at + seq_len(nchar(to)) - 1, charToRaw(to))
}

calls <- list(
  ffi_space_count = list(plan$space),
  ffi_space_nodes = list(plan$space),
  ffi_space_locate = list(plan$space, beliefs),
  ffi_table_build = list(stack, plan$space, 1L, 1L),
  ffi_table_expect = list(plan$tables, stats::runif(nodes)),
  ffi_soft_mean = list(stats::rnorm(n), rep(1 / n, n), 0.7),
  ffi_backup = list(plan$tables, plan$problem, stats::rnorm(nodes), 2L, 1L),
  ffi_solve = list(plan$tables, plan$problem, numeric(nodes), 1e-8, 1000L, 1L),
  ffi_policy_value = list(plan$tables, plan$problem, plan$solution$policy, plan$solution$sigma, 1e-8, 1000L, 1L),
  ffi_policy = list(plan, beliefs, rep(-1L, ncol(beliefs))),
  ffi_sigma = list(plan, beliefs, action),
  ffi_recognise = list(plan, stack, beliefs, action, observation),
  ffi_rollout = list(plan, stack, truth, c(0.5, 0.5), c(0.5, 0.5), integer(n), c(1L, 1L, 0L), 10L,
                     matrix(stats::runif(31 * n), 31), 1L),
  ffi_occupancy = list(plan$tables, plan$solution$policy, plan$solution$sigma, 0.95, rep(1 / nodes, nodes), 1e-10),
  ffi_terms = list(plan$tables, plan$problem, plan$solution$policy, plan$solution$sigma),
  ffi_history_build = list(coded$trajectory, coded$action, coded$observation,
                           as.integer(coded$scored), integer(length(coded$scored)), 3L),
  ffi_loglik = list(plan, stack, tree, c(0.5, 0.5), 1L),
  ffi_evaluate = list(batch, parameters, NULL, matrix(0, 3 * nodes, 2), c(0L, 0L), 1L),
  ffi_policy_after = list(plan$tables, replace(plan$problem, "habit", 1), plan$solution$action_value),
  ffi_file_write = list(path, bytes),
  ffi_file_replace = list(path, paste0(path, ".new"), dirname(path)),
  ffi_file_hash = list(bytes, 1000),
  # The name of a name: known only to who has walked over all before it.
  ffi_file_flaw = list(sealed(sub_raw(own("encode_checkpoint")(c(a = 1, b = 2), "abc"), "names", "nonos"))),
  ffi_file_plain = list(path),
  ffi_process_runs = list(Sys.getpid()),
  ffi_threads = list(),
  ffi_iohmm_expect = list(nodes_seen, laws),
  ffi_iohmm_em = list(nodes_seen, lapply(laws, function(x) if (length(x) > 1) matrix(x) else x), prior, NA_real_, 5L,
                      1L, 1e-8, 1L),
  ffi_iohmm_sample = list(nodes_seen, laws, nodes_seen$leaf, stats::runif(sum(states))),
  ffi_qlearn = list(tried_hall, rows_of_hall, learned_hall, stats::runif(3 * n)),
  ffi_unroll_forward = list(rows_of_hall, hall$utility, 0.9, 0.5, numeric(rooms), 5L),
  ffi_unroll_reverse = list(rows_of_hall, hall$utility, 0.9, 0.5, matrix(stats::rnorm(3 * rooms), rooms),
                            rep(1 / rooms, rooms), matrix(stats::rnorm(rooms))),
  ffi_recall_learn = list(remembers, truth, c(0.5, 0.5), nothing_met, nothing_met, matrix(stats::runif(5 * n), 5)),
  ffi_recall_rollout = list(remembers, truth, c(0.5, 0.5), recalled, integer(n), c(1L, 1L, 0L), 10L,
                            matrix(stats::runif(31 * n), 31)),
  ffi_rnn_bend = list(stats::rnorm(n), 2L),
  ffi_rnn_predict = list(layers, weights[, 1], shown, 2L),
  ffi_rnn_gradient = list(layers, weights[, 1], shown, 0:9, 1L, 2L),
  ffi_rnn_train = list(layers, networks, c(0, 0), shown, rep_len(0:29, 5 * 3 * 2), 5L, 0.01, 1L, 2L),
  ffi_iohmm_bc_joint = list(cloning, matrix(stats::rnorm(66), 33), 1L),
  ffi_iohmm_bc_choice = list(cloning, matrix(0.5, 2, nodes_seen$n_nodes), stats::rnorm(7), 1L)
)

# ---- all of them ----------------------------------------------------------------

registered <- unlist(regmatches(text <- readLines(file.path("src", "init.c")), gregexpr("ENTRY\\(ffi_\\w+", text)))
registered <- sub("ENTRY(", "", registered, fixed = TRUE)
promise("every entry of init.c is called", "all, and no other",
        paste(length(intersect(names(calls), registered)), "of", length(registered)),
        setequal(names(calls), registered))

# Entries that read the dynamics or a space, where the state is seen.
seen <- list(
  ffi_space_count = list(walk$space),
  ffi_space_nodes = list(walk$space),
  ffi_space_locate = list(walk$space, matrix(hall$start)),
  ffi_table_build = list(rows_of_hall, walk$space, 1L, 1L),
  ffi_policy = list(walk, NULL, rep(-1L, walk$space$n_nodes)),
  ffi_sigma = list(walk, NULL, rep(0L, rooms)),
  ffi_recognise = list(walk, rows_of_hall, matrix(hall$start), 0L, 3L),
  ffi_rollout = list(walk, rows_of_hall, rows_of_hall, unname(hall$start), unname(hall$start), integer(20), 0L, 10L,
                     matrix(stats::runif(31 * 20), 31), 1L),
  ffi_recall_learn = list(modifyList(remembers, list(utility = hall$utility)), rows_of_hall, unname(hall$start),
                          list(key = numeric(), action_value = matrix(0, 1, 0), tried = matrix(0, 1, 0)),
                          nothing_met, matrix(stats::runif(5 * n), 5)),
  ffi_recall_rollout = list(remembers, rows_of_hall, unname(hall$start),
                            list(key = 0, policy = matrix(1), otherwise = 1), integer(20), 0L, 10L,
                            matrix(stats::runif(31 * 20), 31))
)

# A quiet run may not leave a file that the next one meets.
call_entry <- function(name, torture, arguments = calls[[name]]) {
  if (name == "ffi_file_write") unlink(path)
  if (name == "ffi_file_replace") writeBin(bytes, path)
  entry <- own(name)
  call <- as.call(c(list(as.name(".Call"), entry), unname(arguments)))
  gctorture(torture)
  out <- eval(call)
  gctorture(FALSE)
  out
}

longest <- function(x) if (is.list(x)) max(0, vapply(x, longest, 0)) else length(x)
rows <- do.call(rbind, lapply(intersect(names(calls), registered), function(name) {
  quiet <- call_entry(name, FALSE)
  data.frame(entry = name, same = identical(call_entry(name, TRUE), quiet),
             longest = max(longest(calls[[name]]), longest(quiet)))
}))
unlink(c(path, paste0(path, ".new")))
same <- vapply(names(seen), function(name) {
  identical(call_entry(name, TRUE, seen[[name]]), call_entry(name, FALSE, seen[[name]]))
}, NA)
promise("and so they are where the state is seen", "identical for every entry", paste(sum(same), "of", length(same)),
        all(same))
promise("answers under torture are those of a quiet run", "identical for every entry",
        paste(sum(rows$same), "of", nrow(rows)), all(rows$same))
if (!all(rows$same)) cat("not the same:", rows$entry[!rows$same], "\n")
short <- rows$entry[rows$longest < 100]
promise("vectors have 100 entries or more", "all but four entries that take none",
        paste(nrow(rows) - length(short), "of", nrow(rows), "entries"),
        all(short %in% c("ffi_file_replace", "ffi_file_plain", "ffi_process_runs", "ffi_threads")))
finish()
