#ifndef IBRC_WIDE_H
#define IBRC_WIDE_H

/* Three ways through the loops of product.c and cell.c. The plain one is compiled for any
 * processor.
 * The others are for processors that multiply and add four (AVX2 with FMA) or eight (AVX-512)
 * numbers at once, and round products and sums together. The package asks at run time what the
 * processor has. So answers differ in their last digits from one kind of processor to another, but
 * not from run to run nor by the number of threads.
 *
 * Not on Windows, where compilers do not keep the stack aligned as these want it. */

typedef enum { IBRC_PLAIN, IBRC_AVX2, IBRC_AVX512 } ibrc_way;

#if defined(__GNUC__) && defined(__x86_64__) && !defined(_WIN32)
#define IBRC_HAS_WAYS
#define IBRC_FOR_AVX2 __attribute__((target("avx2,fma")))
#define IBRC_FOR_AVX512 __attribute__((target("avx512f,avx2,fma")))
static inline ibrc_way ibrc_widest_way(void) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return IBRC_PLAIN;
  return __builtin_cpu_supports("avx512f") ? IBRC_AVX512 : IBRC_AVX2;
}
#else
static inline ibrc_way ibrc_widest_way(void) { return IBRC_PLAIN; }
#endif

#ifdef __GNUC__
#define IBRC_INLINE static inline __attribute__((always_inline))
#else
#define IBRC_INLINE static inline
#endif

#endif
