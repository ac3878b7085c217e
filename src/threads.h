#ifndef IBRC_THREADS_H
#define IBRC_THREADS_H

#include <stdlib.h> /* __GLIBC__ */

/* OpenMP where the compiler has it, else one thread. Every parallel
 * loop writes disjoint results, so an answer never depends on the number of
 * threads. A region inside another costs time even with one thread: code inside a region shares its
 * work by parts and opens no region of its own for a single part. */

/* Added to each thread's working space: threads that write to one cache line, or to
 * two that are fetched together, wait for each other. */
enum { IBRC_GAP_DOUBLES = 16, IBRC_GAP_INTS = 32 };

/* Where a part of n things begins, of so many parts. */
static inline int ibrc_part_begin(int n, int part, int n_parts) {
  return (int)((long long)n * part / n_parts);
}

#ifdef _OPENMP
#include <omp.h>
#define IBRC_PRAGMA(words) _Pragma(#words)
#define IBRC_PARALLEL_FOR(n) \
  IBRC_PRAGMA(omp parallel for num_threads(n) schedule(static) if (n > 1))
/* For work of uneven length. */
#define IBRC_PARALLEL_EACH(n) \
  IBRC_PRAGMA(omp parallel for num_threads(n) schedule(dynamic, 1) if (n > 1))
/* A loop of which several rounds may go on at once in one processor. */
#define IBRC_SIMD IBRC_PRAGMA(omp simd)
static inline int ibrc_thread_number(void) { return omp_get_thread_num(); }
static inline int ibrc_threads_available(void) {
  int processors = omp_get_num_procs(), limit = omp_get_thread_limit();
  return processors < limit ? processors : limit;
}
#else
#define IBRC_PARALLEL_FOR(n) (void)(n);
#define IBRC_PARALLEL_EACH(n) (void)(n);
#define IBRC_SIMD
static inline int ibrc_thread_number(void) { return 0; }
static inline int ibrc_threads_available(void) { return 1; }
#endif

/* Before a function with such loops: it is compiled twice, for any processor and for those that do
 * four rounds at once, where compiler and system can choose between the two when the package is
 * loaded. Both do the same operations in the same order, none of them fused, so no answer depends
 * on the choice. Sanitizers cannot use it: they are not ready that early. */
#if defined(_OPENMP) && defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && \
    defined(__gnu_linux__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) &&      \
    !defined(__SANITIZE_THREAD__)
#define IBRC_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define IBRC_WIDE
#endif

#endif
