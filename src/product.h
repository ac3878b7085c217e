#ifndef IBRC_PRODUCT_H
#define IBRC_PRODUCT_H

#include <stddef.h>

#include "wide.h"

/* out = left right, or out += left right, for matrices as small as the layers of a network. The
 * entry (i, k) of `left` stands at left[i * left_row + k * left_step], so that a matrix and its
 * transpose cost the same; rows of the other two stand side by side. Rows of `right` must be
 * readable up to ibrc_row(n_columns), whatever stands there.
 *
 * Six rows by two vectors of the result stay in registers while the inner index goes on: numbers
 * are read once for many multiplications. The sum of an entry runs in the order of that index; it
 * does not depend on which rows stand beside it. */
typedef struct {
  int n_rows, n_inner, n_columns;
  int add; /* 0: what stands in `out` is forgotten */
  const double *left;
  size_t left_row, left_step;
  const double *right;
  size_t right_row;
  double *out;
  size_t out_row;
} ibrc_factors;

void ibrc_product(ibrc_way way, const ibrc_factors *factors);

/* How far rows of n entries should stand apart: whole cache lines, as many as the widest vectors
 * read, and an odd number of them. With a power of two, entries of one column would all compete for
 * the same few places of a cache. */
static inline size_t ibrc_row(int n) { return 8 * (((size_t)n + 15) / 16 * 2 | 1); }

#endif
