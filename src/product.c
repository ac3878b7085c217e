#include "product.h"

#include "threads.h"

#ifdef __GNUC__
#define LANES 2
#else
#define LANES 1
#endif
#define WAY plain
#define FOR_WAY
#include "product_tile.h"

#ifdef IBRC_HAS_AVX2
#define LANES 4
#define WAY avx2
#define FOR_WAY IBRC_FOR_AVX2
#include "product_tile.h"
#endif

void ibrc_product(ibrc_way way, const ibrc_factors *factors) {
#ifdef IBRC_HAS_AVX2
  if (way == IBRC_AVX2) {
    product_avx2(factors);
    return;
  }
#endif
  (void)way;
  product_plain(factors);
}
