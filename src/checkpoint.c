#include "checkpoint.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { HEAD_SIZE = 12, DEEPEST = 32, N_VALUES = 3 };
enum { TAG_NULL, TAG_LOGICAL, TAG_INTEGER, TAG_DOUBLE, TAG_CHARACTER, TAG_LIST };

static const char *const too_long = "a length in it is more than there is";
static const char *const no_length = "a length in it is not possible";
static const char *const no_text = "text in it is not valid";
static const char *const no_fit = "it holds an attribute that does not fit its value";

void ibrc_checkpoint_hash(const unsigned char *bytes, size_t n, char hash[IBRC_HASH_SIZE + 1]) {
  uint64_t state = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < n; i++) state = (state ^ bytes[i]) * UINT64_C(0x100000001b3);
  (void)snprintf(hash, IBRC_HASH_SIZE + 1, "%08x%08x", (unsigned int)(state >> 32),
                 (unsigned int)(state & UINT64_C(0xffffffff)));
}

/* ---- bytes ----------------------------------------------------------------- */

/* `flaw` is the first flaw found; a reader with a flaw returns nothing more. */
typedef struct {
  const unsigned char *at;
  size_t left;
  const char *flaw;
} reader;

/* NULL, as for every reader below, if there is a flaw. */
static const unsigned char *take(reader *in, size_t n, size_t size) {
  if (in->flaw) return NULL;
  if (n > in->left / size) {
    in->flaw = too_long;
    return NULL;
  }
  const unsigned char *taken = in->at;
  in->at += n * size;
  in->left -= n * size;
  return taken;
}

static int32_t int_at(const unsigned char *at) {
  uint32_t bits = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
  return bits <= INT32_MAX ? (int32_t)bits : (int32_t)(bits - INT32_MAX - 1) + INT32_MIN;
}

static int take_byte(reader *in) {
  const unsigned char *byte = take(in, 1, 1);
  return byte ? *byte : 0;
}

static size_t take_length(reader *in) {
  const unsigned char *at = take(in, 1, 4);
  if (!at) return 0;
  int32_t length = int_at(at);
  if (length < 0) {
    in->flaw = no_length;
    return 0;
  }
  return (size_t)length;
}

/* ---- text ------------------------------------------------------------------ */

/* Bytes of the UTF-8 character that begins here: 0 if there is none, or a zero byte. */
static size_t character_size(const unsigned char *at, size_t left) {
  const unsigned char first = at[0];
  if (first >= 0x01 && first <= 0x7f) return 1;
  size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || left < size) return 0;
  for (size_t i = 1; i < size; i++) {
    if ((at[i] & 0xc0) != 0x80) return 0;
  }
  /* Longer than necessary, a surrogate, or past the last character. */
  if (first == 0xe0 && at[1] < 0xa0) return 0;
  if (first == 0xed && at[1] > 0x9f) return 0;
  if (first == 0xf0 && at[1] < 0x90) return 0;
  if (first == 0xf4 && at[1] > 0x8f) return 0;
  return size;
}

static int is_text(const unsigned char *at, size_t n) {
  while (n > 0) {
    size_t size = character_size(at, n);
    if (size == 0) return 0;
    at += size;
    n -= size;
  }
  return 1;
}

/* Their sizes, -1 for NA, then their bytes. */
static void walk_strings(reader *in, size_t n) {
  const unsigned char *sizes = take(in, n, 4);
  for (size_t i = 0; i < n && !in->flaw; i++) {
    int32_t size = int_at(sizes + 4 * i);
    if (size < -1) {
      in->flaw = no_length;
    } else if (size > 0) {
      const unsigned char *text = take(in, (size_t)size, 1);
      if (text && !is_text(text, (size_t)size)) in->flaw = no_text;
    }
  }
}

/* One string that is `wanted`. */
static int take_name(reader *in, const char *wanted) {
  const size_t n = strlen(wanted);
  if (in->flaw || in->left < 4 + n) return 0;
  if (int_at(in->at) != (int32_t)n || memcmp(in->at + 4, wanted, n) != 0) return 0;
  take(in, 4 + n, 1);
  return 1;
}

/* ---- values ---------------------------------------------------------------- */

typedef struct {
  int tag;
  size_t n;
  const unsigned char *entries;
} value;

/* Values are nested, no deeper than DEEPEST. NOLINTBEGIN(misc-no-recursion) */

static value walk_value(reader *in, int depth);
static void walk_attributes(reader *in, value of, int depth);

/* NULL, 0 entries, is its tag alone. */
static value take_head(reader *in, int depth) {
  value found = {.tag = TAG_NULL};
  if (depth > DEEPEST && !in->flaw) in->flaw = "its values are nested too deeply";
  found.tag = take_byte(in);
  if (found.tag > TAG_LIST && !in->flaw) in->flaw = "it holds a value of an unknown kind";
  if (found.tag != TAG_NULL) found.n = take_length(in);
  found.entries = in->at;
  return found;
}

static void walk_logicals(reader *in, size_t n) {
  const unsigned char *entries = take(in, n, 1);
  for (size_t i = 0; i < n && !in->flaw; i++) {
    if (entries[i] > 2) in->flaw = "it holds a value that is not possible";
  }
}

/* One extent each; their product is the number of entries. */
static void walk_dim(reader *in, size_t n, value *dim, int depth) {
  *dim = walk_value(in, depth);
  if (in->flaw) return;
  int fits = dim->tag == TAG_INTEGER && dim->n > 0;
  double cells = 1.0;
  for (size_t i = 0; fits && i < dim->n; i++) {
    int32_t extent = int_at(dim->entries + 4 * i);
    if (extent < 0) fits = 0;
    cells *= extent;
  }
  if (!fits || cells != (double)n) in->flaw = no_fit;
}

/* A list with an entry for each extent: NULL, or as many names. */
static void walk_dimnames(reader *in, value dim, int depth) {
  value names = take_head(in, depth);
  if (!in->flaw && (names.tag != TAG_LIST || dim.n == 0 || names.n != dim.n)) in->flaw = no_fit;
  for (size_t i = 0; i < names.n && !in->flaw; i++) {
    value entry = walk_value(in, depth + 1);
    if (in->flaw || entry.tag == TAG_NULL) continue;
    if (entry.tag != TAG_CHARACTER || entry.n != (size_t)int_at(dim.entries + 4 * i)) in->flaw = no_fit;
  }
  walk_attributes(in, names, depth);
}

static void walk_names(reader *in, size_t n, int depth) {
  value names = walk_value(in, depth);
  if (!in->flaw && (names.tag != TAG_CHARACTER || names.n != n)) in->flaw = no_fit;
}

/* Each at most once, in the order of their names. */
static void walk_attributes(reader *in, value of, int depth) {
  int left = take_byte(in);
  value dim = {.tag = TAG_NULL};
  if (left > 0 && take_name(in, "dim")) {
    walk_dim(in, of.n, &dim, depth + 1);
    left--;
  }
  if (left > 0 && take_name(in, "dimnames")) {
    walk_dimnames(in, dim, depth + 1);
    left--;
  }
  if (left > 0 && take_name(in, "names")) {
    walk_names(in, of.n, depth + 1);
    left--;
  }
  if (left > 0 && !in->flaw) in->flaw = no_fit;
}

static value walk_value(reader *in, int depth) {
  value found = take_head(in, depth);
  if (in->flaw || found.tag == TAG_NULL) return found;
  switch (found.tag) {
    case TAG_LOGICAL: walk_logicals(in, found.n); break;
    case TAG_INTEGER: take(in, found.n, 4); break;
    case TAG_DOUBLE: take(in, found.n, 8); break;
    case TAG_CHARACTER: walk_strings(in, found.n); break;
    default:
      for (size_t i = 0; i < found.n && !in->flaw; i++) walk_value(in, depth + 1);
  }
  walk_attributes(in, found, depth);
  return found;
}

/* NOLINTEND(misc-no-recursion) */

/* ---- files ----------------------------------------------------------------- */

const char *ibrc_checkpoint_flaw(const unsigned char *bytes, size_t n) {
  if (n < HEAD_SIZE + IBRC_HASH_SIZE) return "it ends too early";
  int32_t said = int_at(bytes + 8);
  if (said < 0 || (size_t)said != n) return "it is not as long as it was written";
  const size_t end = n - IBRC_HASH_SIZE;
  char hash[IBRC_HASH_SIZE + 1];
  ibrc_checkpoint_hash(bytes, end, hash);
  if (memcmp(hash, bytes + end, IBRC_HASH_SIZE) != 0) return "its bytes are not those that were written";
  reader in = {.at = bytes + HEAD_SIZE, .left = end - HEAD_SIZE};
  for (int i = 0; i < N_VALUES; i++) walk_value(&in, 0);
  if (!in.flaw && in.left > 0) in.flaw = "it holds more than was written";
  return in.flaw;
}
