# What the slopes of a joint IOHMM cost, beside finite differences of its objective, on 1,564 trajectories with 100
# parameters. Needs clock.R. Differences are of the same kernel, which works out slopes each time; forward passes alone,
# the least that an objective needs, would make them about six times cheaper.

race_iohmm_bc <- function(visits = read_adni(adni_like)) {
  dynamics <- fit_iohmm(visits, 3, starts = 1, prior = 0.5, seed = 1)
  words <- own("learned_words")(visits)
  problem <- own("cloning_problem")(dynamics, own("learned_visits")(visits, words), words,
                                    list(centre_sd = 3, sharpness_sd = 3))
  at <- c(own("to_weights")(dynamics, problem), 1:6 / 7, log(5))
  joint <- function(x) call("ffi_iohmm_bc_joint", problem$task, x, 1L)
  differences <- function() {
    vapply(seq_along(at), function(k) {
      step <- replace(numeric(length(at)), k, 1e-5)
      (joint(at + step)$objective - joint(at - step)$objective) / 2e-5
    }, 0)
  }
  times <- race(list(slopes = function() joint(at), differences = differences))
  data.frame(task = "joint IOHMM, objective and gradient", visits = nrow(visits), parameters = length(at),
             ms = 1000 * middle(times[, 1]), differences_ms = 1000 * middle(times[, 2]),
             ratio = middle(times[, 2] / times[, 1]), gap = signif(max(abs(joint(at)$slope - differences())), 2))
}
