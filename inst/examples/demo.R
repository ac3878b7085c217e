# What `make demo` runs: the six agents of the paper's Figure 2, planned, printed
# and drawn, two simulated clinics fitted and compared, and age groups of a synthetic cohort
# in ADNI's columns. Usage: Rscript demo.R [output folder]

library(ibrc)
options(width = 110)
output <- commandArgs(TRUE)
output <- if (length(output)) output[1] else "demo-output"
dir.create(output, showWarnings = FALSE, recursive = TRUE)

cat("\n== A doctor monitors a patient, or declares a diagnosis (DIAG)\n\n")
setting <- diag_setting()
print(setting)

cat("\n== Six agents, one parameter moved at a time\n\n")
agents <- list(
  "Very flexible (alpha = 0.001)" = bounded_agent(alpha = 1e-3, beta = 1e3, eta = 1e-3),
  "Optimistic (beta = 1.25)" = bounded_agent(alpha = 0.5, beta = 1.25, eta = 1e-3),
  "Adaptive (eta = 0.001)" = bounded_agent(alpha = 0.5, beta = 1e3, eta = 1e-3),
  "Inflexible (alpha = 10)" = bounded_agent(alpha = 10, beta = 1e3, eta = 1e-3),
  "Pessimistic (beta = -0.75)" = bounded_agent(alpha = 0.5, beta = -0.75, eta = 1e-3),
  "Non-adaptive (eta = 75)" = bounded_agent(alpha = 0.5, beta = 1e3, eta = 75)
)
plans <- list()
plans[[1]] <- plan_agent(setting, agents[[1]], diag_models())
for (i in seq_along(agents)[-1]) plans[[i]] <- update(plans[[1]], agents[[i]])
names(plans) <- names(agents)

# The belief that the patient is diseased after one, two and three positive
# tests, and what each agent then does.
tests <- rep("positive", 3)
table <- do.call(rbind, lapply(names(plans), function(name) {
  path <- subset(plans_data(plans[[name]], tests), part == "path")
  declares <- policy(plans[[name]], path[setting$states])[, "declare_diseased"]
  data.frame(
    agent = name, start = path$diseased[1], positive = path$diseased[2], positive_2 = path$diseased[3],
    positive_3 = path$diseased[4], declares_at_2 = declares[3], declares_at_3 = declares[4]
  )
}))
table[-1] <- round(table[-1], 3)
cat("Belief that the patient is diseased over three positive tests, and the\n",
    "probability of declaring it after two and after three:\n\n", sep = "")
print(table, row.names = FALSE)

cat("\n== One plan read closely\n\n")
print(summary(plans[["Optimistic (beta = 1.25)"]]))

cat("\n== Two clinics see 500 patients each: one neutral, one optimistic\n\n")
neutral <- plans[["Adaptive (eta = 0.001)"]]
optimist <- plans[["Optimistic (beta = 1.25)"]]
north <- as.data.frame(simulate(neutral, nsim = 500, seed = 1))
south <- transform(as.data.frame(simulate(optimist, nsim = 500, seed = 2)), id = id + 500)
visits <- rbind(cbind(north, clinic = "north"), cbind(south, clinic = "south"))
visits <- trajectories(visits, covariates = "clinic", setting = setting)
print(visits)

cat("\n== How flexible and optimistic does each clinic look?\n\n")
prior <- ibrc_prior(alpha ~ lognormal(0, 2), optimism ~ normal(0, 1))
print(prior)
fit <- ibrc(visits, setting, diag_models(), prior, fixed = list(eta = 1e-3), by = "clinic", seed = 1, cores = 2)
cat("\n")
print(fit)
cat("\nThe posterior as a data frame, tidy(fit):\n\n")
print(tidy(fit), digits = 3, row.names = FALSE)
cat("\nThe clinics compared, compare_groups(fit):\n\n")
print(compare_groups(fit), digits = 3, row.names = FALSE)

cat("\n== A cohort in ADNI's columns (made up): who is in it\n\n")
cohort <- read_adni(adni_like)
print(flow(cohort))

cat("\n== Its hidden course, learned from the visits\n\n")
ratings <- c("cdr_normal", "cdr_questionable", "cdr_severe")
iohmm <- fit_iohmm(cohort, states = 3, starts = 5, transitions = "shared", names = c("normal", "mci", "dementia"),
                   sort_by = function(seen) match(sub("_mri.*", "", seen), ratings), seed = 1)
print(round(iohmm$transition[, , "mri"], 2))

cat("\n== Do doctors order MRIs for patients over 75 as they do for others?\n\n")
ordering <- adni_setting(iohmm)
ages <- ibrc(cohort, ordering, perturb_models(ordering, by = 0.1, vary = "both"),
             ibrc_prior(alpha ~ lognormal(-1, 1), optimism ~ normal(0, 1)), by = "over_75", resolution = 20,
             chains = 2, iter = 1000, seed = 1, cores = 2)
contrasts <- compare_groups(ages)
print(contrasts, digits = 3, row.names = FALSE)
optimism <- contrasts[contrasts$term == "optimism", ]
truth <- adni_like_truth()
put_in <- 1 / truth$agents$over_75$beta - 1 / truth$agents$up_to_75$beta
sentence <- sprintf(paste(
  "Optimism of doctors of patients over 75, less that of the others: %.2f (95%% of the posterior: %.2f to %.2f);",
  "%.2f was put in. The interval takes the learned dynamics as known: what that hides is in the article \"adni\" of",
  "the site."
), optimism$estimate, optimism$conf.low, optimism$conf.high, put_in)
cat("\n", paste0(strwrap(sentence, 100), "\n"), sep = "")

if (requireNamespace("ggplot2", quietly = TRUE)) {
  save <- function(name, picture, width, height) {
    file <- file.path(output, name)
    ggplot2::ggsave(file, picture, width = width, height = height, dpi = 150, bg = "white")
    cat("  ", file, "\n", sep = "")
  }
  cat("\nDrawn in\n")
  save("figure2.png", plot_plans(plans, tests, columns = 3), 10, 6.5)
  save("posterior.png", plot(fit), 8, 4)
  save("groups.png", plot_groups(ages), 8, 4)
} else {
  cat("\nInstall the package ggplot2 to have the agents and the posteriors drawn.\n")
}
