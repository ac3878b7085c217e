#ifndef IBRC_ELEMENTARY_H
#define IBRC_ELEMENTARY_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Exponentials and logarithms without calls, branches or tables, so that a compiler computes
 * several at once in a loop marked IBRC_SIMD. Their errors are below two units in the last place
 * (tests/testthat/test-numeric.R compares soft means that use them with R's own), 0 and 1 are
 * exact, tiny results lose digits gradually as they must, and NaN stays NaN. */

static inline double ibrc_bits_double(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline uint64_t ibrc_double_bits(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* ln 2 in two parts: whole numbers up to 2^20 times the first are exact. */
#define IBRC_LN2_HIGH 6.93147180369123816490e-01
#define IBRC_LN2_LOW 1.90821492927058770002e-10
#define IBRC_LOG2_E 1.44269504088896340736
/* 1.5 * 2^52: added to a number, it leaves the nearest whole number in the last bits. */
#define IBRC_TO_WHOLE 6755399441055744.0
#define IBRC_EXPONENT_SHIFT 52
#define IBRC_EXPONENT_BIAS 1023

/* exp(x) and, where that is close to 1, its small difference from 1 with all its digits. */
typedef struct {
  double value;
  double less_one;
} ibrc_exponential;

#if FLT_EVAL_METHOD == 0

/* 2^k for a whole number k from -1022 to 1023. */
static inline double ibrc_two_to(double k) {
  const uint64_t exponent = ibrc_double_bits(k + IBRC_TO_WHOLE) + IBRC_EXPONENT_BIAS;
  return ibrc_bits_double(exponent << IBRC_EXPONENT_SHIFT);
}

/* With x = k ln 2 + r, |r| <= ln(2) / 2, exp(x) = 2^k (1 + p). */
static inline double ibrc_whole_part(double x) {
  return (x * IBRC_LOG2_E + IBRC_TO_WHOLE) - IBRC_TO_WHOLE;
}

/* p = exp(r) - 1 = r + r^2 (1/2 + r/6 + ...): the polynomial in brackets is the closest one of its
 * degree, to 4e-17. */
static inline double ibrc_exp_rest(double x, double k) {
  const double r = (x - k * IBRC_LN2_HIGH) - k * IBRC_LN2_LOW;
  double p = 2.5100472505694996e-08;
  p = p * r + 2.7620201591031547e-07;
  p = p * r + 2.7557268276905696e-06;
  p = p * r + 2.4801521057868204e-05;
  p = p * r + 0.00019841269863171557;
  p = p * r + 0.0013888888917367081;
  p = p * r + 0.008333333333330039;
  p = p * r + 0.041666666666623824;
  p = p * r + 0.16666666666666669;
  p = p * r + 0.5000000000000001;
  return r + r * r * p;
}

/* For x from -760 to 0: below -746, exp(x) is 0. 2^k comes in two factors, as it may be no normal
 * number. */
static inline ibrc_exponential ibrc_exp(double x) {
  const double k = ibrc_whole_part(x), p = ibrc_exp_rest(x, k);
  const double half = (0.5 * k + IBRC_TO_WHOLE) - IBRC_TO_WHOLE;
  const double power = ibrc_two_to(half), rest = ibrc_two_to(k - half), two_to_k = power * rest;
  const ibrc_exponential e = {.value = (power + power * p) * rest,
                              .less_one = two_to_k * p + (two_to_k - 1.0)};
  return e;
}

/* The same for x from -700 to 0, where all are normal numbers. */
static inline ibrc_exponential ibrc_exp_normal(double x) {
  const double k = ibrc_whole_part(x), p = ibrc_exp_rest(x, k), two_to_k = ibrc_two_to(k);
  const ibrc_exponential e = {.value = two_to_k + two_to_k * p,
                              .less_one = two_to_k * p + (two_to_k - 1.0)};
  return e;
}

/* sqrt(x) for normal and finite x >= 0, where C's own may set errno and so goes one by one; 0 is
 * exact, and less than any normal number gives some number below 1e-150. Two steps towards
 * 1 / sqrt(x), each of which has three times the digits of the one before, begin at halved and turned
 * bits, 3.5% off at most; Newton's step to the root doubles them once more. */
static inline double ibrc_root(double x) {
  double y = ibrc_bits_double(UINT64_C(0x5fe6eb50c7b537a9) - (ibrc_double_bits(x) >> 1));
  double z = x * y * y;
  y = y * (1.875 + z * (0.375 * z - 1.25));
  z = x * y * y;
  y = y * (1.875 + z * (0.375 * z - 1.25));
  const double root = x * y;
  return root + 0.5 * y * (x - root * root);
}

/* log(sum) for 0 < sum < 2^900, where less_one = sum - 1 has more digits if it is small. With
 * sum = 2^k m and m between sqrt(1/2) and sqrt(2), log m = 2 artanh(s), s = (m - 1) / (m + 1),
 * and artanh(s) = s + s z (1/3 + z/5 + ...), z = s^2: again the closest polynomial, to 5e-18. */
static inline double ibrc_log(double sum, double less_one) {
  const uint64_t half_root = UINT64_C(0x3fe6a09e667f3bcd); /* sqrt(1/2) */
  const uint64_t fraction = UINT64_C(0x000fffffffffffff);
  /* Times 2^64 it is a normal number. The exponent, measured from sqrt(1/2), is then k + 64, and
   * 1024 more keeps it positive. */
  const uint64_t bits =
      ibrc_double_bits(sum * 0x1p64) - half_root + (UINT64_C(1024) << IBRC_EXPONENT_SHIFT);
  const double m = ibrc_bits_double((bits & fraction) + half_root);
  const double exponent = ibrc_bits_double(bits >> IBRC_EXPONENT_SHIFT | ibrc_double_bits(0x1p52));
  const double k = exponent - (0x1p52 + 1024.0 + 64.0);
  const double near_one = k == 0.0 ? 1.0 : 0.0;
  const double f = (m - 1.0) + near_one * (less_one - (sum - 1.0));
  const double s = f / (2.0 + f), z = s * s;
  double p = 0.07308903576708663;
  p = p * z + 0.07665805861027504;
  p = p * z + 0.09091446216268435;
  p = p * z + 0.11111105544689748;
  p = p * z + 0.14285714313126918;
  p = p * z + 0.19999999999949444;
  p = p * z + 0.3333333333333335;
  const double log_m = 2.0 * s + 2.0 * s * (z * p);
  /* The last difference is 0, or NaN where the sum is not finite: its bits would not show it. */
  return k * IBRC_LN2_HIGH + (log_m + k * IBRC_LN2_LOW) + (sum - sum);
}

#else /* Intermediate results have more digits than in memory: the code above would not be exact. */

static inline ibrc_exponential ibrc_exp(double x) {
  const ibrc_exponential e = {.value = exp(x), .less_one = expm1(x)};
  return e;
}

static inline ibrc_exponential ibrc_exp_normal(double x) { return ibrc_exp(x); }

static inline double ibrc_root(double x) { return sqrt(x); }

static inline double ibrc_log(double sum, double less_one) {
  return sum > 0.7 && sum < 1.4 ? log1p(less_one) : log(sum);
}

#endif

/* 1 / (1 + exp(-x)) for |x| <= 700 and tanh(x) for |x| <= 350, from exponentials of numbers that
 * are not positive: neither end loses digits. Callers check the range in a separate loop: with a
 * branch inside, compilers do not compute several of these at once. */
static inline double ibrc_logistic(double x) {
  const double e = ibrc_exp_normal(-fabs(x)).value;
  return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

static inline double ibrc_tanh(double x) {
  const double e = ibrc_exp_normal(-2.0 * fabs(x)).less_one;
  return copysign(e / (2.0 + e), x);
}

#endif
