#ifndef IBRC_CHECKPOINT_H
#define IBRC_CHECKPOINT_H

#include <stddef.h>

/* Checkpoints as bytes that anybody may have changed. R/infer-checkpoint.R describes and writes the
 * format, and decodes the bytes that were found to be sound here. */

enum { IBRC_HASH_SIZE = 16 };

/* 64-bit FNV-1a in hexadecimal digits, and a zero. Each step is a bijection of the state,
 * so that a change of a single byte always shows. */
void ibrc_checkpoint_hash(const unsigned char *bytes, size_t n, char hash[IBRC_HASH_SIZE + 1]);

/* NULL for a file that can be decoded; else what is wrong with it, to follow "it is
 * damaged or cut short: ". No length is believed before the bytes are there. */
const char *ibrc_checkpoint_flaw(const unsigned char *bytes, size_t n);

#endif
