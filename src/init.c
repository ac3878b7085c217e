#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

#include "args.h"
#include "ffi.h"

#if defined(_OPENMP) && !defined(_WIN32)
#include <pthread.h>
#endif

#define ENTRY(name, arity) {#name, (DL_FUNC)(void (*)(void))&name, arity}

static const R_CallMethodDef entries[] = {
    ENTRY(ffi_space_count, 1), ENTRY(ffi_space_nodes, 1), ENTRY(ffi_space_locate, 2),
    ENTRY(ffi_table_build, 4), ENTRY(ffi_table_expect, 2), ENTRY(ffi_soft_mean, 3),
    ENTRY(ffi_backup, 5), ENTRY(ffi_solve, 6), ENTRY(ffi_policy_value, 7), ENTRY(ffi_policy, 3),
    ENTRY(ffi_sigma, 3), ENTRY(ffi_recognise, 5), ENTRY(ffi_rollout, 10), ENTRY(ffi_occupancy, 6),
    ENTRY(ffi_terms, 4), ENTRY(ffi_policy_after, 3), ENTRY(ffi_history_build, 6),
    ENTRY(ffi_loglik, 5), ENTRY(ffi_evaluate, 6),
    ENTRY(ffi_file_write, 2), ENTRY(ffi_file_replace, 3), ENTRY(ffi_file_hash, 2),
    ENTRY(ffi_file_plain, 1), ENTRY(ffi_process_runs, 1), ENTRY(ffi_file_flaw, 1),
    ENTRY(ffi_threads, 0), ENTRY(ffi_iohmm_expect, 2), ENTRY(ffi_iohmm_em, 8),
    ENTRY(ffi_iohmm_sample, 4), ENTRY(ffi_qlearn, 4), ENTRY(ffi_unroll_forward, 6),
    ENTRY(ffi_unroll_reverse, 7), ENTRY(ffi_recall_learn, 6), ENTRY(ffi_recall_rollout, 8),
    ENTRY(ffi_rnn_bend, 2), ENTRY(ffi_rnn_predict, 4), ENTRY(ffi_rnn_gradient, 6),
    ENTRY(ffi_rnn_train, 9), ENTRY(ffi_iohmm_bc_joint, 3), ENTRY(ffi_iohmm_bc_choice, 4),
    {NULL, NULL, 0}};

attribute_visible void R_init_ibrc(DllInfo *dll) {
  R_registerRoutines(dll, NULL, entries, NULL, NULL);
  R_useDynamicSymbols(dll, FALSE);
  R_forceSymbols(dll, TRUE);
#if defined(_OPENMP) && !defined(_WIN32)
  pthread_atfork(NULL, NULL, args_after_fork);
#endif
}

attribute_visible void R_unload_ibrc(DllInfo *dll) {
  (void)dll;
  args_free_kept();
}
