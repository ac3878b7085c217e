#include "checkpoint.h"

#include <string.h>

#include "input.h"

/* The reader of checkpoints. A file of values made up from the input is sound; with any
 * one byte changed, or cut short, it is not. The same file with bytes of its body changed
 * and the length and hash made right again, or a body that is nothing but the input, is
 * sound or not; what is sound is decoded here by a reader that trusts it: it has to end
 * where the body ends, and a sanitizer sees a step too far. */

enum { HEAD = 12, MOST = 4096 };

typedef struct {
  uint8_t bytes[MOST];
  size_t n;
} file;

/* ---- writing --------------------------------------------------------------- */

static void put(file *out, unsigned byte) { out->bytes[out->n++] = (uint8_t)byte; }

static void put_whole(file *out, int32_t whole) {
  for (int shift = 0; shift < 32; shift += 8) put(out, (uint32_t)whole >> shift & 0xff);
}

static void put_text(file *out, const char *text) {
  for (; *text; text++) put(out, (uint8_t)*text);
}

static void put_name(file *out, const char *name) {
  put_whole(out, (int32_t)strlen(name));
  put_text(out, name);
}

static void put_strings(file *out, input *in, int n) {
  static const char *const known[] = {"", "a", "\xce\xb1", "\xe2\x89\xa0", "\xf0\x9f\x99\x82", "dim", "names"};
  int which[8];
  for (int i = 0; i < n; i++) {
    which[i] = take_whole(in, -1, 6);
    put_whole(out, which[i] < 0 ? -1 : (int32_t)strlen(known[which[i]]));
  }
  for (int i = 0; i < n; i++) {
    if (which[i] >= 0) put_text(out, known[which[i]]);
  }
}

static void put_names(file *out, input *in, int n) {
  put(out, 4);
  put_whole(out, n);
  put_strings(out, in, n);
  put(out, 0);
}

/* n entries as n rows and one column, with names where the input says so. */
static void put_attributes(file *out, input *in, int n) {
  int with = take_whole(in, 0, 7), has_dim = with & 1, has_dimnames = has_dim && with & 2;
  put(out, (unsigned)(has_dim + has_dimnames + (with >> 2)));
  if (has_dim) {
    put_name(out, "dim");
    put(out, 2);
    put_whole(out, 2);
    put_whole(out, n);
    put_whole(out, 1);
    put(out, 0);
  }
  if (has_dimnames) {
    put_name(out, "dimnames");
    put(out, 5);
    put_whole(out, 2);
    put_names(out, in, n);
    put(out, 0);
    put(out, 0);
  }
  if (with >> 2) {
    put_name(out, "names");
    put_names(out, in, n);
  }
}

static void put_value(file *out, input *in, int depth) {
  /* A value of none but leaves takes some 300 bytes. */
  int tag = take_whole(in, 0, depth < 4 && out->n < MOST / 4 ? 5 : 4), n = take_whole(in, 0, 4);
  put(out, (unsigned)tag);
  if (tag == 0) return;
  put_whole(out, n);
  for (int i = 0; i < n; i++) {
    if (tag == 1) put(out, take(in) % 3);
    if (tag == 2) put_whole(out, (int32_t)take_whole(in, -30000, 30000));
    if (tag == 3) {
      for (int k = 0; k < 8; k++) put(out, take(in));
    }
    if (tag == 5) put_value(out, in, depth + 1);
  }
  if (tag == 4) put_strings(out, in, n);
  put_attributes(out, in, n);
}

/* Begins and ends a file: head, length, hash. */
static void begin(file *out) {
  out->n = 0;
  put_text(out, "IBRC");
  put_whole(out, 1);
  put_whole(out, 0);
}

static void seal(file *out) {
  char hash[IBRC_HASH_SIZE + 1];
  const size_t end = out->n;
  out->n = 8;
  put_whole(out, (int32_t)(end + IBRC_HASH_SIZE));
  out->n = end;
  ibrc_checkpoint_hash(out->bytes, end, hash);
  put_text(out, hash);
}

/* ---- reading --------------------------------------------------------------- */

typedef struct {
  const uint8_t *at;
} trusting;

static size_t get_length(trusting *in) {
  size_t length = (size_t)in->at[0] | (size_t)in->at[1] << 8 | (size_t)in->at[2] << 16 | (size_t)in->at[3] << 24;
  in->at += 4;
  return length;
}

static unsigned sum_of = 0;

static void get_bytes(trusting *in, size_t n) {
  for (size_t i = 0; i < n; i++) sum_of += in->at[i];
  in->at += n;
}

static void get_strings(trusting *in, size_t n) {
  size_t total = 0;
  for (size_t i = 0; i < n; i++) {
    size_t size = get_length(in);
    total += size == UINT32_MAX ? 0 : size;
  }
  for (size_t i = 0; i < total; i++) must(in->at[i] != 0, "text has no zero byte");
  get_bytes(in, total);
}

static void get_value(trusting *in, int depth) {
  must(depth <= 32, "nested no deeper than allowed");
  int tag = *in->at++;
  must(tag <= 5, "a tag that is known");
  if (tag == 0) return;
  size_t n = get_length(in);
  if (tag == 1) get_bytes(in, n);
  if (tag == 2) get_bytes(in, 4 * n);
  if (tag == 3) get_bytes(in, 8 * n);
  if (tag == 4) get_strings(in, n);
  if (tag == 5) {
    for (size_t i = 0; i < n; i++) get_value(in, depth + 1);
  }
  for (int left = *in->at++; left > 0; left--) {
    get_strings(in, 1);
    get_value(in, depth + 1);
  }
}

/* In storage of its own size. */
static int is_sound(const file *given) {
  uint8_t *exact = malloc(given->n ? given->n : 1);
  if (!exact) abort();
  memcpy(exact, given->bytes, given->n);
  int sound = ibrc_checkpoint_flaw(exact, given->n) == NULL;
  if (sound) {
    trusting in = {exact + HEAD};
    for (int i = 0; i < 3; i++) get_value(&in, 0);
    must(in.at == exact + given->n - IBRC_HASH_SIZE, "what is sound ends where it says");
  }
  free(exact);
  return sound;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static file made, other;
  input in = {bytes, size};
  const int changes = take_whole(&in, 0, 4), at = take_whole(&in, 0, 65535), by = take_whole(&in, 1, 255);
  begin(&made);
  if (changes == 0) {
    for (size_t i = 0; i < in.left && made.n < MOST - IBRC_HASH_SIZE; i++) put(&made, in.bytes[i]);
    seal(&made);
    is_sound(&made);
    return 0;
  }
  uint8_t where[4][2];
  for (int i = 0; i < 4; i++) {
    where[i][0] = (uint8_t)take(&in);
    where[i][1] = (uint8_t)take(&in);
  }
  for (int i = 0; i < 3; i++) put_value(&made, &in, 0);
  seal(&made);
  must(is_sound(&made), "a file as it is written is sound");

  other = made;
  /* What stands first is the caller's to read. */
  const size_t place = 8 + (size_t)at % (made.n - 8);
  other.bytes[place] = (uint8_t)(other.bytes[place] ^ by);
  must(!is_sound(&other), "a changed byte shows");
  other = made;
  other.n = (size_t)at % made.n;
  must(!is_sound(&other), "a cut shows");

  other = made;
  other.n -= IBRC_HASH_SIZE;
  for (int i = 0; i < changes; i++) {
    const size_t body = HEAD + ((size_t)where[i][0] * 257 + (size_t)where[i][1] * 31) % (other.n - HEAD);
    other.bytes[body] = where[i][1] & 1 ? (uint8_t)(where[i][1] >> 1) : (uint8_t)(where[i][1] % 7);
  }
  seal(&other);
  is_sound(&other);
  return 0;
}
