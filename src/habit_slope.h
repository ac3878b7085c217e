#ifndef IBRC_HABIT_SLOPE_H
#define IBRC_HABIT_SLOPE_H

#include "coarse.h"
#include "habit.h"
#include "incomplete.h"

/* The slope gamma P of a backup that remembers the last action, on pairs (l, j):
 *
 *   (gamma P x)(l, z) = sum_u pi(u | z, l) e(z, u),   e(z, u) = gamma sum_m sigma(m | z, u) sum_j W_{u,m}(z, j) x(u, j)
 *
 * so that products with W are those of a slope without memory. As there (slope.h), rows that
 * matter to no pair are left out, and the flow that a pair loses by this stays at the pair. Short
 * rows are written out: those of each (z, u), or, where nearly every node has one pair, those of
 * each pair, times pi.
 *
 * The slow part of a residual is nearly the same after any last action. So a slope over nodes
 * alone, in which each last action is as frequent as after a few visits at one belief, treats that
 * part by coarse nodes (coarse.h) or incomplete factors (incomplete.h). Its answer is added at all pairs
 * of a node. */

typedef struct {
  const ibrc_table *table;
  const ibrc_coarse *coarse;
  ibrc_pairs pairs;
  double *share;    /* [row]: gamma sigma, 0 where left out */
  const double *policy; /* [last][node][action]: pi(u | z, l) */
  double *rest;     /* [pair]: gamma less its flows */
  double *expected; /* [action][node]: e */
  double *laid;     /* [last][node]: x, where rows are not written out */
  double *standing; /* [node][action]: what is done at a node, whatever was done before */
  double *answer;   /* [node]: what is added to its pairs */
  int whole;        /* 1: there are all pairs */
  double *chance;   /* [last][action][node]: pi(u | z, l), 0 where there is no pair */
  ibrc_slope alone; /* over nodes */
  int near;         /* 1: incomplete factors, 0: coarse nodes, if there are any */
  ibrc_incomplete incomplete;
  double *factors, *work; /* of the coarse nodes */
  double *weight;         /* [entry]: written out, or NULL */
  int *column;            /* [entry]: a pair */
  int *start;             /* [cell], or [pair]; and the number of entries last */
  int by_pair;            /* 1: written out by pairs */
  int *pair_of;           /* [coarse node]: its first pair, or -1 */
  int n_threads;
} ibrc_habit_slope;

size_t ibrc_habit_slope_doubles(const ibrc_table *table, const ibrc_coarse *coarse);
ibrc_habit_slope ibrc_habit_slope_over(const ibrc_table *table, const ibrc_coarse *coarse,
                                       int n_threads, double *doubles);

/* policy_after [last][node][action] of the pairs. */
void ibrc_habit_slope_fill(ibrc_habit_slope *slope, const double *policy_after, const double *sigma,
                           double discount, double least);

/* On [pair]: y = x - gamma P x, and what stands in for its inverse. */
void ibrc_habit_slope_apply(const ibrc_habit_slope *slope, const double *x, double *y);
int ibrc_habit_slope_corrects(const ibrc_habit_slope *slope); /* 0: nothing does */
void ibrc_habit_slope_correct(const ibrc_habit_slope *slope, const double *x, double *y);

#endif
