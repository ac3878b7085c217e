#ifndef IBRC_SHARED_H
#define IBRC_SHARED_H

#include <stddef.h>

#include "rnn.h"

/* What trajectories of a batch have in common. Those that began in the same way are in the same
 * state, so that each distinct beginning, called a node here, goes through the network once for all
 * of them. (history.h has the tree of all patients' histories; this one is made anew for every
 * batch, in an order that suits products of matrices.)
 *
 * Nodes stand visit by visit: those of visit t from visit[t] to visit[t + 1] - 1. Those that go on
 * come first among them, and have numbers of their own over all visits: the `carrier`s carried[t]
 * to
 * carried[t + 1] - 1 are the first nodes of visit t. */
typedef struct {
  int n_visits, n_nodes, n_carriers;
  int *visit;    /* [visit + 1] */
  int *carried;  /* [visit + 1] */
  int *from;     /* [node]: the carrier it goes on from; -1 at a first visit */
  int *done;     /* [node]: inputs, as in ibrc_rnn_data */
  int *seen;
  int *order;    /* [member]: trajectories, the longest first */
  int *node;     /* of all visits of the first of them, then of the next, ... */
  int *at, *first_child, *next; /* working space */
} ibrc_shared;

/* Room for so many members with so many visits in all. */
size_t ibrc_shared_ints(int members, int visits);
ibrc_shared ibrc_shared_new(int members, int visits, int *space);

void ibrc_shared_build(ibrc_shared *shared, const ibrc_rnn_data *data, const int *which,
                       int members);

#endif
