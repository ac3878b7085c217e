# A model prior as the kernels read it: the laws of all its models in one vector each.

# Numbers of states, observations and actions.
model_size <- function(model) {
  if (is_by_rows(model$transition)) model$transition$size[c(1, 1, 2)] else dim(model$emission)
}

setting_size <- function(setting) lengths(setting[c("states", "observations", "actions")], use.names = FALSE)

stack_size <- function(size, n_models) {
  list(n_states = size[1], n_actions = size[3], n_obs = size[2], n_models = n_models)
}

# The models as the kernels read them: stacked arrays or, if the state is seen, rows.
stack_models <- function(models) {
  size <- model_size(models$models[[1]])
  stack <- stack_size(size, length(models$models))
  if (all_seen(models)) return(c(stack, stack_rows(lapply(models$models, `[[`, "transition"))))
  laws <- lapply(models$models, dense_model)
  c(stack, list(transition = unlist(lapply(laws, `[[`, "transition"), use.names = FALSE),
                emission = unlist(lapply(laws, `[[`, "emission"), use.names = FALSE)))
}

# stack_models() for models that have not yet been brought into the arrays of their setting. Functions of the package
# return arrays that already have its sizes and names. For those this is quick, because a sampler asks at each step.
valid_stack <- function(models, setting) {
  laws <- quick_laws(models$models, setting)
  seen <- has_observation_per_state(setting) && all(laws$emission == 0 | laws$emission == 1)
  if (is.null(laws) || seen) return(stack_models(validate_ibrc_models(models, setting)))
  c(stack_size(setting_size(setting), length(models$models)), laws)
}

# The same for several worlds, list(setting, models), of which only the numbers differ: together they take hardly longer
# than one. Where the state is seen in some, and where anything is unusual, each is looked at by itself.
valid_stacks <- function(worlds) {
  setting <- worlds[[1]]$setting
  models <- lapply(worlds, function(world) world$models$models)
  n_models <- unique(lengths(models))
  laws <- if (length(n_models) == 1 && !has_observation_per_state(setting)) {
    quick_laws(unlist(models, recursive = FALSE, use.names = FALSE), setting)
  }
  if (is.null(laws)) return(lapply(worlds, function(world) valid_stack(world$models, world$setting)))
  laws <- lapply(laws, matrix, ncol = length(worlds))
  stack <- stack_size(setting_size(setting), n_models)
  lapply(seq_along(worlds), function(i) {
    c(stack, list(transition = laws$transition[, i], emission = laws$emission[, i]))
  })
}

has_observation_per_state <- function(setting) length(setting$states) == length(setting$observations)

# Together with models in which the state is hidden, a model by rows has to be written out in full.
dense_model <- function(model) {
  if (!is_by_rows(model$transition)) return(model)
  size <- model$transition$size
  list(transition = array_of_rows(model$transition, NULL, NULL), emission = array(diag(size[1]), size[c(1, 1, 2)]))
}
