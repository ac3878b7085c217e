# Draws the two pictures of README.md into man/figures/, with the package that is installed; a quarter of an hour and
# more, or a minute where the folder has the fit that data-raw/vignette-adni-joint.R keeps.
#
#   make install && R_LIBS=_build/library Rscript tools/readme.R [folder]

library(ibrc)

# Small enough to load at once, large enough to read at a width of 8 cm.
most_bytes <- 60000
draw <- function(name, picture, height) {
  file <- file.path("man", "figures", paste0("README-", name, ".png"))
  dir.create(dirname(file), showWarnings = FALSE, recursive = TRUE)
  ggplot2::ggsave(file, picture, width = 12, height = height, units = "cm", dpi = 160, bg = "white")
  # Few colours: help pages, and so these pictures, are part of what is installed.
  if (nzchar(Sys.which("pngquant"))) system2("pngquant", c("--force", "--ext", ".png", "32", file))
  stopifnot(file.size(file) <= most_bytes)
  cat(file, file.size(file), "bytes\n")
}

# The doctor of "Ten lines", neutral and optimistic, over three positive tests.
neutral <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), diag_models())
optimist <- update(neutral, bounded_agent(alpha = 0.5, optimism = 0.8))
draw("plans", plot_plans(list(neutral = neutral, optimist = optimist), observations = rep("positive", 3)), 6.5)

# The age groups of the synthetic cohort, with the dynamics and the doctors inferred together: the fit of the article
# "adni".
joint <- new.env()
sys.source(file.path("data-raw", "vignette-adni-joint.R"), joint)
folder <- commandArgs(TRUE)
fit <- joint$joint_fits(joint$other$vignette_problem(), "over_75", if (length(folder)) folder[1])$over_75
print(compare_groups(fit), digits = 2)
draw("groups", plot_groups(fit), 6)
