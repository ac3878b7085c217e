#ifndef IBRC_FUZZ_INPUT_H
#define IBRC_FUZZ_INPUT_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* What the harnesses share: values drawn from the fuzzer's bytes, exact storage (a
 * sanitizer sees one entry too far), and invariants that say what broke. Bytes that
 * are spent read as 0, so every input is a case. */

typedef struct {
  const uint8_t *bytes;
  size_t left;
} input;

static inline unsigned take(input *in) {
  if (in->left == 0) return 0;
  in->left--;
  return *in->bytes++;
}

/* From least to most, both included. */
static inline int take_int(input *in, int least, int most) {
  unsigned two = take(in) << 8;
  two |= take(in);
  return least + (int)(two % (unsigned)(most - least + 1));
}

/* Below n, by all of the bytes: unlike what is taken from one of them, nothing that the
 * fuzzer, which keeps what does most, can make more frequent. */
static inline unsigned lot(const uint8_t *bytes, size_t size, unsigned n) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 16777619u;
  return (hash >> 8) % n;
}

/* 0 to 1: often an end, a tidy share, or a number that is hardly there. */
static inline double take_share(input *in) {
  static const double special[] = {0.0,    1.0,   0.5,    1e-12,  1e-300, 5e-324,
                                   1e-310, 0.25,  1e-150, 1e-16,  0.1,    1.0 - 1e-16};
  unsigned kind = take(in);
  if (kind < 128) return special[kind % (sizeof special / sizeof *special)];
  return take_int(in, 0, 65535) / 65535.0;
}

/* Any size and sign; no NaN and no infinity. */
static inline double take_double(input *in) {
  int power = take_int(in, -30, 30);
  double sign = take(in) & 1 ? -1.0 : 1.0;
  return sign * take_share(in) * pow(10.0, (double)power / 3.0);
}

/* A temperature, limits and both signs of zero included. */
static inline double take_temperature(input *in) {
  static const double special[] = {0.0, -0.0, INFINITY, -INFINITY, 1e-308, -1e300, 1e-3, 1.0};
  unsigned kind = take(in);
  return kind < 128 ? special[kind % 8] : take_double(in);
}

/* Zeros and ones of the law kept; sums to 1 but for rounding. Entries `stride` apart. */
static inline void take_law(input *in, double *p, int n, int stride) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += p[(size_t)i * (size_t)stride] = take_share(in);
  for (int i = 0; i < n; i++) {
    double *at = p + (size_t)i * (size_t)stride;
    *at = sum > 0.0 ? *at / sum : 1.0 / n;
  }
}

static inline double *doubles(size_t n) {
  double *x = malloc(n * sizeof(double));
  if (!x) abort();
  return x;
}

static inline int *ints(size_t n) {
  int *x = malloc(n * sizeof(int));
  if (!x) abort();
  return x;
}

static inline void must(int kept, const char *what) {
  if (kept) return;
  fprintf(stderr, "broken: %s\n", what);
  abort();
}

/* Entries from 0 to 1 that sum to 1. NaN fails every comparison. */
static inline void must_be_law(const double *p, int n, double tolerance, const char *what) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    must(p[i] >= 0.0 && p[i] <= 1.0 + tolerance, what);
    sum += p[i];
  }
  must(fabs(sum - 1.0) <= tolerance, what);
}

#endif
