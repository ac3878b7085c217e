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

#ifdef IBRC_HAS_WAYS
#define LANES 4
#define WAY avx2
#define FOR_WAY IBRC_FOR_AVX2
#include "product_tile.h"

#define LANES 8
#define WAY avx512
#define FOR_WAY IBRC_FOR_AVX512
#include "product_tile.h"
#endif

void ibrc_product(ibrc_way way, const ibrc_factors *factors) {
#ifdef IBRC_HAS_WAYS
  if (way == IBRC_AVX512) {
    product_avx512(factors);
  } else if (way == IBRC_AVX2) {
    product_avx2(factors);
  } else {
    product_plain(factors);
  }
#else
  (void)way;
  product_plain(factors);
#endif
}
