# Turns `effects` and visits into cells, which are then the groups of an inverse problem. ibrc() and ibrc_mode() share
# this.

refuse_effect_priors <- function(stated) {
  if (!length(stated)) return(NULL)
  abort_input("prior", "has ", enumerate(names(stated)), ", a prior of an effect: say in `effects` what it is an ",
              "effect of, as in effects = list(optimism ~ age).")
}

# Makes the checks that take no time. Returns the design and the cell of each trajectory.
read_population <- function(effects, visits, inverse, stated, by) {
  if (!is.null(by)) {
    abort_input("by", "and `effects` are two ways to let groups differ: name the columns of `by` in the formulas, ",
                "as in effects = list(alpha ~ ", by[1], ", optimism ~ ", by[1], ").")
  }
  new_design(read_effects(effects, inverse$prior), visits, inverse$coded, inverse$prior, stated)
}

# Cells take the place of groups. It is normal that a cell has few visits.
group_by_cell <- function(inverse, design) {
  inverse$group <- design$cell
  inverse["by"] <- list(NULL)
  inverse
}
