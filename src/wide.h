#ifndef IBRC_WIDE_H
#define IBRC_WIDE_H

/* Two ways through the loops of product.c and cell.c. The plain one is compiled for any processor.
 * The other is for those with AVX2 and FMA, which do four multiplications and additions at once and
 * round them together; whether this processor is one of them is asked when the package runs. So
 * answers differ in their last digits from one way to the other, and never on one machine.
 *
 * Not on Windows, where compilers do not keep the stack aligned as AVX wants it. */

typedef enum { IBRC_PLAIN, IBRC_AVX2 } ibrc_way;

#if defined(__GNUC__) && defined(__x86_64__) && !defined(_WIN32)
#define IBRC_HAS_AVX2
#define IBRC_FOR_AVX2 __attribute__((target("avx2,fma")))
static inline ibrc_way ibrc_widest_way(void) {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? IBRC_AVX2 : IBRC_PLAIN;
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
