#ifndef IBRC_CELL_H
#define IBRC_CELL_H

#include <stddef.h>

#include "wide.h"

/* What a network does with each of many numbers, several at once: the cells of long short-term
 * memory, their slopes, and steps of Adam. */

/* to += from */
void ibrc_add(ibrc_way way, double *to, const double *from, size_t n);

/* to = the sum of four, and the same number added to four. */
void ibrc_sum_four(ibrc_way way, double *to, const double *a, const double *b, const double *c,
                   const double *d, size_t n);
void ibrc_add_to_four(ibrc_way way, double *a, double *b, double *c, double *d, const double *from,
                      size_t n);

/* Each of n numbers by 1 / (1 + exp(-x)), or by tanh. */
void ibrc_logistic_each(ibrc_way way, double *x, size_t n);
void ibrc_tanh_each(ibrc_way way, double *x, size_t n);

/* One visit of n cells. `gates` [4 n] comes with the sums i, f, g, o, and is left with what
 * sigma, sigma, tanh and sigma make of them; then
 *   cell = f cell_before + i g,   bent = tanh(cell),   hidden = o bent. */
void ibrc_cell_forward(ibrc_way way, int n, double *gates, const double *cell_before, double *cell,
                       double *bent, double *hidden);

/* The way back. `gates` comes as it was left, and is left with the slopes of the sums; `d_hidden`
 * and
 * `d_cell` are slopes of this visit. The slopes for the cells of the visit before are added to
 * `d_before`. */
void ibrc_cell_backward(ibrc_way way, int n, double *gates, const double *cell_before,
                        const double *bent, const double *d_hidden, const double *d_cell,
                        double *d_before);

/* d *= 1 - bent^2: slopes before a tanh from those after it. */
void ibrc_tanh_back(ibrc_way way, double *d, const double *bent, size_t n);

/* One step of Adam, down the gradient times `scale`: first and second moments decay by 0.9 and
 * 0.999;
 * `step` counts from 1. The gradient is left multiplied by the scale, with no entry beyond 1e150.
 * */
void ibrc_adam(ibrc_way way, size_t n, double *weights, double *first, double *second,
               double *gradient, double scale, double rate, double step);

#endif
