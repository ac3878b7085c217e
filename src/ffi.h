#ifndef IBRC_FFI_H
#define IBRC_FFI_H

#define R_NO_REMAP
#include <Rinternals.h>

/* The entries that R calls, by file. Nodes, actions, models and observations are
 * counted from 0 here and from 1 in R: R subtracts. */

/* ffi_space.c */
SEXP ffi_space_count(SEXP space);
SEXP ffi_space_nodes(SEXP space);
SEXP ffi_space_locate(SEXP space, SEXP beliefs);

/* ffi_table.c */
SEXP ffi_table_build(SEXP models, SEXP space, SEXP merge, SEXP threads);
SEXP ffi_table_expect(SEXP table, SEXP x);

/* ffi_plan.c */
SEXP ffi_soft_mean(SEXP x, SEXP prior, SEXP temperature);
SEXP ffi_backup(SEXP table, SEXP problem, SEXP value, SEXP repeats, SEXP threads);
SEXP ffi_solve(SEXP table, SEXP problem, SEXP start, SEXP tolerance, SEXP max_backups,
               SEXP threads);
SEXP ffi_policy_value(SEXP table, SEXP problem, SEXP policy, SEXP sigma, SEXP tolerance,
                  SEXP max_backups, SEXP threads);

/* ffi_behaviour.c */
SEXP ffi_policy(SEXP plan, SEXP beliefs, SEXP last);
SEXP ffi_sigma(SEXP plan, SEXP beliefs, SEXP action);
SEXP ffi_recognise(SEXP plan, SEXP models, SEXP beliefs, SEXP action, SEXP observation);
SEXP ffi_rollout(SEXP plan, SEXP models, SEXP environment, SEXP start, SEXP belief, SEXP which,
                 SEXP stops, SEXP horizon, SEXP noise, SEXP threads);

/* ffi_occupancy.c */
SEXP ffi_policy_after(SEXP table, SEXP problem, SEXP action_value);
SEXP ffi_occupancy(SEXP table, SEXP policy, SEXP sigma, SEXP discount, SEXP start, SEXP tolerance);
SEXP ffi_terms(SEXP table, SEXP problem, SEXP policy, SEXP sigma);

/* ffi_inverse.c */
SEXP ffi_history_build(SEXP trajectory, SEXP action, SEXP observation, SEXP scored, SEXP start,
                       SEXP n_actions);
SEXP ffi_loglik(SEXP plan, SEXP models, SEXP history, SEXP start, SEXP beliefs);
SEXP ffi_evaluate(SEXP evaluation, SEXP parameters, SEXP rewards, SEXP values, SEXP which,
                  SEXP threads);

/* ffi_iohmm.c */
SEXP ffi_iohmm_expect(SEXP tree, SEXP laws);
SEXP ffi_iohmm_em(SEXP tree, SEXP laws, SEXP prior, SEXP previous, SEXP n_steps, SEXP last,
                  SEXP tolerance, SEXP threads);
SEXP ffi_iohmm_sample(SEXP tree, SEXP laws, SEXP leaf, SEXP noise);

/* ffi_unroll.c */
SEXP ffi_unroll_forward(SEXP models, SEXP utility, SEXP discount, SEXP alpha, SEXP value,
                        SEXP n_steps);
SEXP ffi_unroll_reverse(SEXP models, SEXP utility, SEXP discount, SEXP alpha, SEXP values,
                        SEXP slope, SEXP weights);

/* ffi_recall.c */
SEXP ffi_recall_learn(SEXP learner, SEXP environment, SEXP start, SEXP table, SEXP walk,
                      SEXP noise);
SEXP ffi_recall_rollout(SEXP learner, SEXP environment, SEXP start, SEXP table, SEXP which,
                        SEXP stops, SEXP horizon, SEXP noise);

/* ffi_qlearn.c */
SEXP ffi_qlearn(SEXP learner, SEXP models, SEXP progress, SEXP noise);

/* ffi_file.c */
SEXP ffi_file_write(SEXP path, SEXP bytes);
SEXP ffi_file_replace(SEXP from, SEXP to, SEXP folder);
SEXP ffi_file_hash(SEXP bytes, SEXP count);
SEXP ffi_file_flaw(SEXP bytes);
SEXP ffi_file_plain(SEXP path);
SEXP ffi_process_runs(SEXP process);

/* ffi_threads.c */
SEXP ffi_threads(void);

/* ffi_rnn.c */
SEXP ffi_rnn_bend(SEXP x, SEXP way);
SEXP ffi_rnn_predict(SEXP shape, SEXP weights, SEXP data, SEXP way);
SEXP ffi_rnn_gradient(SEXP shape, SEXP weights, SEXP data, SEXP which, SEXP threads, SEXP way);
SEXP ffi_rnn_train(SEXP shape, SEXP networks, SEXP steps, SEXP data, SEXP batches, SEXP n_batch,
                   SEXP rate, SEXP threads, SEXP way);

/* ffi_iohmm_bc.c */
SEXP ffi_iohmm_bc_joint(SEXP task, SEXP parameters, SEXP threads);
SEXP ffi_iohmm_bc_choice(SEXP task, SEXP beliefs, SEXP parameters, SEXP threads);

#endif
