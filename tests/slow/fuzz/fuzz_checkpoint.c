#include "checkpoint.h"

#include <string.h>

#include "input.h"

/* The reader of checkpoints. A file of values made up from the input is sound; with any
 * one byte changed, cut short, or with a slip of the pen in a value, it is not. The same
 * file with bytes of its body changed and the length and hash made right again, or a body
 * that is nothing but the input, is sound or not; what is sound is decoded here by a
 * reader that trusts it: it meets nothing that R could not take and ends where the body
 * ends, and a sanitizer sees a step too far. */

enum { HEAD = 12, MOST = 8192 };

typedef struct {
  uint8_t bytes[MOST];
  size_t n;
  int sloppy, slips;
} file;

/* ---- writing --------------------------------------------------------------- */

static void put(file *out, unsigned byte) { out->bytes[out->n++] = (uint8_t)byte; }

static void put_int(file *out, int32_t whole) {
  for (int shift = 0; shift < 32; shift += 8) put(out, (uint32_t)whole >> shift & 0xff);
}

static void put_text(file *out, const char *text) {
  for (; *text; text++) put(out, (uint8_t)*text);
}

static void put_name(file *out, const char *name) {
  put_int(out, (int32_t)strlen(name));
  put_text(out, name);
}

/* Now and then, where the file may have them. */
static int slip(file *out, input *in) {
  if (!out->sloppy || take(in) % 16 != 0) return 0;
  out->slips++;
  return 1;
}

static void put_strings(file *out, input *in, int n) {
  /* From the eighth on they are no text: too long a form, a surrogate, past the last, cut,
   * a byte of the middle. */
  static const char *const known[] = {"", "a", "\xce\xb1", "\xe2\x89\xa0", "\xf0\x9f\x99\x82", "dim", "names",
                                      "\xc0\xaf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", "\xed\xa0\x80",
                                      "\xf4\x90\x80\x80", "\xe2\x89", "\x80"};
  int which[8];
  for (int i = 0; i < n; i++) {
    which[i] = slip(out, in) ? take_int(in, 7, 13) : take_int(in, -1, 6);
    put_int(out, which[i] < 0 ? -1 : (int32_t)strlen(known[which[i]]));
  }
  for (int i = 0; i < n; i++) {
    if (which[i] >= 0) put_text(out, known[which[i]]);
  }
}

static void put_names(file *out, input *in, int n) {
  n += slip(out, in);
  put(out, 4);
  put_int(out, n);
  put_strings(out, in, n);
  put(out, 0);
}

/* n entries as n rows and one column, with names where the input says so. */
static void put_attributes(file *out, input *in, int n) {
  int with = take_int(in, 0, 7), has_dim = with & 1, has_dimnames = has_dim && with & 2;
  int twice = with >> 2 && slip(out, in);
  put(out, (unsigned)(has_dim + has_dimnames + (with >> 2) + twice));
  if (has_dim) {
    int negative = n > 0 && slip(out, in);
    put_name(out, "dim");
    put(out, 2);
    put_int(out, 2);
    put_int(out, negative ? -n : n + slip(out, in));
    put_int(out, negative ? -1 : 1);
    put(out, 0);
  }
  if (has_dimnames) {
    put_name(out, "dimnames");
    put(out, 5);
    int more = slip(out, in);
    put_int(out, 2 + more);
    put_names(out, in, n);
    put(out, 0);
    if (more) put(out, 0);
    put(out, 0);
  }
  for (int i = 0; i < (with >> 2) + twice; i++) {
    put_name(out, "names");
    put_names(out, in, n);
  }
}

/* Lists of one list each: 32 of them are allowed, and more a slip. */
static void put_tower(file *out, input *in) {
  const int height = take_int(in, 28, out->sloppy ? 36 : 32);
  out->slips += height > 32;
  for (int i = 0; i < height; i++) {
    put(out, 5);
    put_int(out, 1);
  }
  for (int i = 0; i <= height; i++) put(out, 0);
}

static void put_value(file *out, input *in, int depth) {
  if (depth == 0 && take(in) % 16 == 0) {
    put_tower(out, in);
    return;
  }
  /* A value of none but leaves takes some 400 bytes. */
  int tag = take_int(in, 0, depth < 4 && out->n < MOST / 8 ? 5 : 4), n = take_int(in, 0, 4);
  put(out, (unsigned)tag);
  if (tag == 0) return;
  put_int(out, n);
  for (int i = 0; i < n; i++) {
    if (tag == 1) put(out, slip(out, in) ? 3 + take(in) % 253 : take(in) % 3);
    if (tag == 2) put_int(out, (int32_t)take_int(in, -30000, 30000));
    if (tag == 3) {
      for (int k = 0; k < 8; k++) put(out, take(in));
    }
    if (tag == 5) put_value(out, in, depth + 1);
  }
  if (tag == 4) put_strings(out, in, n);
  put_attributes(out, in, n);
}

/* Begins and ends a file: head, length, hash. */
static void begin(file *out, int sloppy) {
  out->n = 0;
  out->sloppy = sloppy;
  out->slips = 0;
  put_text(out, "IBRC");
  put_int(out, 1);
  put_int(out, 0);
}

static void seal(file *out) {
  char hash[IBRC_HASH_SIZE + 1];
  const size_t end = out->n;
  out->n = 8;
  put_int(out, (int32_t)(end + IBRC_HASH_SIZE));
  out->n = end;
  ibrc_checkpoint_hash(out->bytes, end, hash);
  put_text(out, hash);
}

/* ---- reading --------------------------------------------------------------- */

typedef struct {
  const uint8_t *at;
} trusting;

/* What R would be given: entries stand at `from` where each has the same size. */
typedef struct {
  int tag;
  size_t n;
  const uint8_t *from;
} value;

static int32_t get_int(const uint8_t *at) {
  return (int32_t)((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
}

static size_t get_length(trusting *in) {
  int32_t length = get_int(in->at);
  must(length >= 0, "a length is one");
  in->at += 4;
  return (size_t)length;
}

static unsigned sum_of = 0;

static void get_bytes(trusting *in, size_t n) {
  for (size_t i = 0; i < n; i++) sum_of += in->at[i];
  in->at += n;
}

/* By code points, where the reader goes by ranges of bytes. */
static void check_text(const uint8_t *at, size_t n) {
  static const uint32_t least[] = {0, 0x1, 0x80, 0x800, 0x10000};
  for (size_t i = 0; i < n;) {
    size_t size = at[i] < 0x80 ? 1 : at[i] >> 5 == 6 ? 2 : at[i] >> 4 == 14 ? 3 : at[i] >> 3 == 30 ? 4 : 0;
    must(size > 0 && size <= n - i, "text is made of characters");
    uint32_t point = size == 1 ? at[i] : at[i] & (0x7fu >> size);
    for (size_t k = 1; k < size; k++) {
      must(at[i + k] >> 6 == 2, "characters are whole");
      point = point << 6 | (at[i + k] & 0x3fu);
    }
    must(point >= least[size] && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff), "a character");
    i += size;
  }
}

static void get_strings(trusting *in, size_t n) {
  const uint8_t *sizes = in->at;
  in->at += 4 * n;
  for (size_t i = 0; i < n; i++) {
    int32_t size = get_int(sizes + 4 * i);
    must(size >= -1, "a size is one");
    if (size <= 0) continue;
    check_text(in->at, (size_t)size);
    get_bytes(in, (size_t)size);
  }
}

static value get_value(trusting *in, int depth, const value *extents);

/* Which of dim, dimnames and names comes next. */
static int get_name(trusting *in) {
  static const char *const known[] = {"dim", "dimnames", "names"};
  size_t n = get_length(in);
  for (int i = 0; i < 3; i++) {
    if (n == strlen(known[i]) && memcmp(in->at, known[i], n) == 0) {
      in->at += n;
      return i;
    }
  }
  must(0, "an attribute that is known");
  return 0;
}

static void get_attributes(trusting *in, value of, int depth) {
  value dim = {.tag = 0};
  int last = -1;
  for (int left = *in->at++; left > 0; left--) {
    int which = get_name(in);
    must(which > last, "attributes in their order");
    last = which;
    value found = get_value(in, depth + 1, which == 1 ? &dim : NULL);
    if (which == 0) {
      double cells = 1.0;
      must(found.tag == 2 && found.n > 0, "extents are whole numbers");
      for (size_t i = 0; i < found.n; i++) {
        must(get_int(found.from + 4 * i) >= 0, "an extent is not negative");
        cells *= get_int(found.from + 4 * i);
      }
      must(cells == (double)of.n, "extents fit");
      dim = found;
    } else if (which == 1) {
      must(dim.n > 0 && found.tag == 5 && found.n == dim.n, "names for every extent");
    } else {
      must(found.tag == 4 && found.n == of.n, "a name for every entry");
    }
  }
}

/* `extents`: a list whose entries have to be NULL or that many names. */
static value get_value(trusting *in, int depth, const value *extents) {
  must(depth <= 32, "nested no deeper than allowed");
  value found = {.tag = *in->at++};
  must(found.tag <= 5, "a tag that is known");
  if (found.tag == 0) return found;
  found.n = get_length(in);
  found.from = in->at;
  if (found.tag == 1) {
    for (size_t i = 0; i < found.n; i++) must(in->at[i] <= 2, "TRUE, FALSE or NA");
    get_bytes(in, found.n);
  }
  if (found.tag == 2) get_bytes(in, 4 * found.n);
  if (found.tag == 3) get_bytes(in, 8 * found.n);
  if (found.tag == 4) get_strings(in, found.n);
  if (found.tag == 5) {
    for (size_t i = 0; i < found.n; i++) {
      value entry = get_value(in, depth + 1, NULL);
      if (!extents || entry.tag == 0) continue;
      must(i < extents->n && entry.tag == 4 && entry.n == (size_t)get_int(extents->from + 4 * i), "names fit");
    }
  }
  get_attributes(in, found, depth);
  return found;
}

/* In storage of its own size. */
static int is_sound(const file *given) {
  uint8_t *exact = malloc(given->n ? given->n : 1);
  if (!exact) abort();
  memcpy(exact, given->bytes, given->n);
  int sound = ibrc_checkpoint_flaw(exact, given->n) == NULL;
  if (sound) {
    trusting in = {exact + HEAD};
    for (int i = 0; i < 3; i++) get_value(&in, 0, NULL);
    must(in.at == exact + given->n - IBRC_HASH_SIZE, "what is sound ends where it says");
  }
  free(exact);
  return sound;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static file made, other;
  input in = {bytes, size};
  const int changes = take_int(&in, 0, 4), at = take_int(&in, 0, 65535), by = take_int(&in, 1, 255);
  begin(&made, 0);
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
  input again = in;
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

  begin(&other, 1);
  for (int i = 0; i < 3; i++) put_value(&other, &again, 0);
  seal(&other);
  must(is_sound(&other) == (other.slips == 0), "slips of the pen are seen, and only those");
  return 0;
}
