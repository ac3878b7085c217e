# Draws the two pictures of README.md into man/figures/, with the package that is installed; about two minutes.
#
#   make install && R_LIBS=_build/library Rscript tools/readme.R

library(ibrc)

# Small enough to load at once, large enough to read at a width of 8 cm.
most_bytes <- 60000
draw <- function(name, picture, height) {
  file <- file.path("man", "figures", paste0("README-", name, ".png"))
  dir.create(dirname(file), showWarnings = FALSE, recursive = TRUE)
  ggplot2::ggsave(file, picture, width = 12, height = height, units = "cm", dpi = 160, bg = "white")
  stopifnot(file.size(file) <= most_bytes)
  cat(file, file.size(file), "bytes\n")
}

# The doctor of "Ten lines", neutral and optimistic, over three positive tests.
neutral <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), diag_models())
optimist <- update(neutral, bounded_agent(alpha = 0.5, optimism = 0.8))
draw("plans", plot_plans(list(neutral = neutral, optimist = optimist), observations = rep("positive", 3)), 6.5)

# The age groups of the synthetic cohort, as in the article "adni".
cohort <- read_adni(adni_like)
ratings <- c("cdr_normal", "cdr_questionable", "cdr_severe")
iohmm <- fit_iohmm(cohort, states = 3, starts = 20, transitions = "shared",
                   sort_by = function(seen) match(sub("_mri.*", "", seen), ratings),
                   names = c("normal", "mci", "dementia"), seed = 1)
setting <- adni_setting(iohmm)
fit <- ibrc(cohort, setting, perturb_models(setting, by = 0.1, vary = "both"),
            ibrc_prior(alpha ~ lognormal(-1, 1), optimism ~ normal(0, 1)), by = "over_75", resolution = 20,
            chains = 2, iter = 1200, seed = 1)
print(compare_groups(fit), digits = 2)
draw("groups", plot_groups(fit), 6)
