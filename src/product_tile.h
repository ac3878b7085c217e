/* The product of product.h for vectors of LANES doubles: product.c includes this once for each kind
 * of processor, with names that end in WAY and functions that begin with FOR_WAY. */

#define JOIN_(name, way) name##_##way
#define JOIN(name, way) JOIN_(name, way)
#define VECTOR JOIN(vector, WAY)
#define LOOSE JOIN(loose, WAY)

#if LANES > 1
typedef double VECTOR __attribute__((vector_size(8 * LANES)));
/* One in memory, wherever it stands. */
typedef double LOOSE __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
#else
typedef double VECTOR;
typedef double LOOSE;
#endif

#define EACH_1(f) f(0)
#define EACH_2(f) EACH_1(f) f(1)
#define EACH_3(f) EACH_2(f) f(2)
#define EACH_4(f) EACH_3(f) f(3)
#define EACH_5(f) EACH_4(f) f(4)
#define EACH_6(f) EACH_5(f) f(5)

#define BEGIN(r) VECTOR sum_##r##_0 = {0.0}, sum_##r##_1 = {0.0};
#define MULTIPLY(r)                                  \
  {                                                  \
    const double x = left[(size_t)(r) * p->left_row]; \
    sum_##r##_0 += x * right_0;                      \
    sum_##r##_1 += x * right_1;                      \
  }
#define KEEP(r) sums[r][0] = sum_##r##_0, sums[r][1] = sum_##r##_1;

#define TILE(rows)                                                                             \
  FOR_WAY static void JOIN(tile_##rows, WAY)(const ibrc_factors *p, const double *left,        \
                                             const double *right, VECTOR(*sums)[2]) {          \
    EACH_##rows(BEGIN)                                                                         \
    for (int k = 0; k < p->n_inner; k++, left += p->left_step, right += p->right_row) {        \
      const VECTOR right_0 = *(const LOOSE *)right, right_1 = *(const LOOSE *)(right + LANES); \
      EACH_##rows(MULTIPLY)                                                                    \
    }                                                                                          \
    EACH_##rows(KEEP)                                                                          \
  }

TILE(1)
TILE(2)
TILE(3)
TILE(4)
TILE(5)
TILE(6)

/* The sums of some rows, less what sticks out, into or onto the result. */
FOR_WAY static void JOIN(finish, WAY)(const ibrc_factors *p, int rows, int columns,
                                      VECTOR (*sums)[2], double *out) {
  for (int i = 0; i < rows; i++, out += p->out_row) {
    if (columns == 2 * LANES) {
      LOOSE *to = (LOOSE *)out;
      if (p->add) {
        sums[i][0] += to[0];
        sums[i][1] += to[1];
      }
      to[0] = sums[i][0];
      to[1] = sums[i][1];
    } else {
      const double *sum = (const double *)sums[i];
      for (int j = 0; j < columns; j++) out[j] = p->add ? out[j] + sum[j] : sum[j];
    }
  }
}

/* Strips of columns one after the other; rows in parts as equal as can be, of six at most. */
FOR_WAY static void JOIN(product, WAY)(const ibrc_factors *p) {
  void (*const tiles[])(const ibrc_factors *, const double *, const double *, VECTOR (*)[2]) = {
      JOIN(tile_1, WAY), JOIN(tile_2, WAY), JOIN(tile_3, WAY),
      JOIN(tile_4, WAY), JOIN(tile_5, WAY), JOIN(tile_6, WAY)};
  const int parts = (p->n_rows + 5) / 6;
  for (int j = 0; j < p->n_columns; j += 2 * LANES) {
    const int left_over = p->n_columns - j, columns = left_over < 2 * LANES ? left_over : 2 * LANES;
    for (int part = 0; part < parts; part++) {
      const int i = ibrc_part_begin(p->n_rows, part, parts);
      const int rows = ibrc_part_begin(p->n_rows, part + 1, parts) - i;
      VECTOR sums[6][2];
      tiles[rows - 1](p, p->left + (size_t)i * p->left_row, p->right + j, sums);
      JOIN(finish, WAY)(p, rows, columns, sums, p->out + (size_t)i * p->out_row + j);
    }
  }
}

#undef JOIN_
#undef JOIN
#undef VECTOR
#undef LOOSE
#undef EACH_1
#undef EACH_2
#undef EACH_3
#undef EACH_4
#undef EACH_5
#undef EACH_6
#undef BEGIN
#undef MULTIPLY
#undef KEEP
#undef TILE
#undef LANES
#undef WAY
#undef FOR_WAY
