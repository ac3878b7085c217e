#ifndef IBRC_ARGS_H
#define IBRC_ARGS_H

#define R_NO_REMAP
#include <Rinternals.h>

#include "backup.h"
#include "coarse.h"
#include "history.h"
#include "model.h"
#include "plan.h"
#include "process.h"
#include "space.h"
#include "table.h"

/* R values into kernel structs. Every type, length and range is checked here, once. A failed check
 * is a mistake in the package's own R code, so the message is for its developers. Views stay valid
 * as long as the R values are protected. The numbers inside a table, which only ffi_table_build()
 * makes, are not checked: looking at each would cost as much as using it. */

const double *args_doubles(SEXP x, R_xlen_t n, const char *name);
const int *args_ints(SEXP x, R_xlen_t n, const char *name);
double args_double(SEXP x, const char *name);
int args_int(SEXP x, const char *name);
int args_size(SEXP x, const char *name); /* at least 1 */
const double *args_nonnegative(SEXP x, R_xlen_t n, const char *name);
void args_check_nonnegative(const double *x, size_t n, const char *name);
SEXP args_element(SEXP list, const char *name);
int args_has_element(SEXP list, const char *name);

/* Storage for kernels: freed by R when the call returns. */
double *args_alloc_doubles(size_t n);
int *args_alloc_ints(size_t n);

/* The same for a call that a sampler makes thousands of times: up to 8 MB of storage are kept from
 * call to call. Taking and freeing them anew would cost a tenth of the work. Only one kernel at a
 * time may use it. */
double *args_kept_doubles(size_t n);
void args_free_kept(void);

/* Spaces come as list(kind, n_states, ...): R/problem-space.R makes them. */
ibrc_space args_space(SEXP space);
ibrc_space args_coarser(const ibrc_space *space, double most_nodes);
ibrc_corners args_corners(const ibrc_space *space);
double args_space_count(SEXP space); /* its nodes, however many */
ibrc_models args_models(SEXP models); /* laws, or rows where the state is seen */
ibrc_models args_model_sizes(SEXP models); /* of one model, without its laws */
ibrc_table args_table(SEXP table);
ibrc_coarse args_coarse(SEXP table);
/* Prior policies by the last action are computed here, where there is a habit. */
ibrc_problem args_problem(SEXP problem, const ibrc_table *table);
/* policy [action, node], or [action, node, none and last]; the first form is used whatever was done
 * last, where the
 * process is to remember it. */
ibrc_process args_process(const ibrc_table *table, SEXP policy, SEXP sigma, double discount, int remembers,
                          int n_threads);
/* Its links are computed here. */
ibrc_history args_history(SEXP history, const ibrc_models *models);
/* Start beliefs [state, start]; the length says how many there are. A tree must have no others. */
const double *args_starts(SEXP start, const ibrc_models *models, int *n_starts);
void args_check_starts(const ibrc_history *history, int n_starts);
/* Parents come before their children, and the first `n_roots` nodes are roots (if `more`, others
 * may be roots too).
 * Each other node was reached by an action (from `least_action`) and an observation (or none) of
 * the models. */
void args_check_tree(int n, const int *parent, const int *action, const int *observation,
                     const ibrc_models *models, int n_roots, int more, int least_action);
ibrc_plan args_plan(SEXP plan, const ibrc_space *space);
void args_check_models(const ibrc_models *models, const ibrc_plan *plan); /* one problem's? */

/* Answers an interrupt, and then does not return. For kernels that hold nothing, outside of
 * parallel
 * regions. Meanwhile R may call this package again, so kept storage must not be in use. */
void args_pause(void);

/* The number of threads to use, after a fork never more than one. */
int args_threads(SEXP threads);
void args_after_fork(void);

#endif
