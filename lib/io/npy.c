/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/io/npy.h"

#include "lib/io/output.h"
#include "lib/io/stream.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Magic string and version.  The length of the header follows in 2 or 4 bytes. */
enum { MAGIC_BYTES = 6, PREFIX_BYTES = 8, ALIGNMENT = 64, LENGTH_MAX = 1 << 16 };

static const unsigned char magic[MAGIC_BYTES + 1] = "\x93NUMPY";

/* The versions that are read.  All have minor number 0. */
static const struct version {
    int major;
    int length_bytes; /* of the header's length, little-endian */
} versions[] = { { 1, 2 }, { 2, 4 }, { 3, 4 }, { 0, 0 } };

/* Element types.  Of two types with the same number of bytes, the first is written.
   NumPy saves the types of ml_dtypes as bytes without a type: bfloat16 as '<V2', the
   types of 8 bits as '|V1' or '<V1', and float8_e5m2 as '<f1', which NumPy itself does
   not read.  Programs that write headers themselves, such as TensorStore, have the names
   of ml_dtypes instead.

   Sources: github.com/jax-ml/ml_dtypes, issues 41 and 216. */
static const struct element {
    const char *name;
    int bytes;
    bool floating;
    bool tensor; /* only tensors have this type, not arrays of encodings */
    const struct bitcut_format *format; /* see struct tensor */
} elements[] = {
    /* clang-format off */
    { "f2", 2, true,  false, &formats[FORMAT_F16] },
    { "f4", 4, true,  false, &formats[FORMAT_F32] },
    { "f8", 8, true,  false, &formats[FORMAT_F64] },
    { "u1", 1, false, false, NULL },
    { "u2", 2, false, false, NULL },
    { "u4", 4, false, false, NULL },
    { "u8", 8, false, false, NULL },
    { "V1", 1, false, false, NULL },
    { "V2", 2, false, false, NULL },
    { "f1", 1, false, true,  &formats[FORMAT_E5M2] },
    { "i1", 1, false, true,  &formats[FORMAT_S8] },
    { "i2", 2, false, true,  &formats[FORMAT_S16] },
    { "i4", 4, false, true,  &formats[FORMAT_S32] },
    { "bfloat16",        2, false, true, &formats[FORMAT_BF16] },
    { "float8_e4m3fn",   1, false, true, &formats[FORMAT_E4M3] },
    { "float8_e5m2",     1, false, true, &formats[FORMAT_E5M2] },
    { "float8_e4m3fnuz", 1, false, true, &formats[FORMAT_E4M3FNUZ] },
    { "float8_e5m2fnuz", 1, false, true, &formats[FORMAT_E5M2FNUZ] },
    { NULL, 0, false, false, NULL },
    /* clang-format on */
};

/* The element types that a caller accepts, and the advice for other types. */
struct npy_taken {
    bool tensors; /* whether the types of tensors are accepted */
    const char *words;
};

static const struct npy_taken encodings = { false, "f2, f4, f8, u1, u2, u4 or u8" };

static const struct npy_taken tensors = {
    true, "f4, f2, f8, i1, i2, i4 or u1 (NumPy: astype('f4')), or encodings: u1, u2, u4, "
          "V1 or V2"
};

/* Names of other element types, by the letter of their kind. */
static const struct kind {
    char letter;
    const char *what;
} kinds[] = {
    { 'O', "Python objects" },   { 'c', "complex numbers" }, { 'i', "signed integers" },
    { 'b', "booleans" },         { 'V', "raw bytes" },       { 'S', "byte strings" },
    { 'u', "unsigned integers" },
    { 'U', "character strings" }, { 'M', "dates" },          { 'm', "durations" },
    { 0, "an unknown type" },
};

/* The contents of a header. */
struct header {
    const struct element *element;
    bool swapped; /* whether the bytes of an element are not in the order of this
                     machine                                                 */
    bool fortran; /* whether the first index varies fastest                  */
    int dims;
    size_t dim[ARRAY_DIMS_MAX];
};

static bool host_is_little(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one;
}

/* --- the header: a Python dictionary ---------------------------------------------- */

/* The parser's position in the text of a header. */
struct cursor {
    const char *start, *at, *end;
    const struct npy_taken *taken;
    struct fault *fault;
};

static void blanks_skip(struct cursor *c)
{
    while (c->at < c->end && *c->at && strchr(" \t\n\r\f", *c->at)) c->at++;
}

/* Whether the next character that is not a blank is `wanted`.  The character is not
   consumed. */
static bool next_is(struct cursor *c, char wanted)
{
    blanks_skip(c);
    return c->at < c->end && *c->at == wanted;
}

static bool take(struct cursor *c, char wanted)
{
    const bool found = next_is(c, wanted);
    c->at += found;
    return found;
}

static bool word_take(struct cursor *c, const char *word)
{
    const size_t n = strlen(word);
    blanks_skip(c);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0) return false;
    c->at += n;
    return true;
}

static enum bitcut_status expected(const struct cursor *c, const char *what)
{
    return fault_set(c->fault, BITCUT_BAD_FILE, "header: expected %s at character %td",
                     what, c->at - c->start);
}

enum { STRING_MAX = 32 };

/* A quoted string without escapes; no header needs an escape. */
static enum bitcut_status string_parse(char text[STRING_MAX], struct cursor *c,
                                       const char *what)
{
    const char quote = next_is(c, '"') ? '"' : '\'';
    if (!take(c, quote)) return expected(c, what);
    const char *close = memchr(c->at, quote, (size_t)(c->end - c->at));
    const size_t n = close ? (size_t)(close - c->at) : 0;
    if (!close || n >= STRING_MAX || memchr(c->at, '\\', n) || memchr(c->at, 0, n))
        return expected(c, what);
    memcpy(text, c->at, n);
    text[n] = 0;
    c->at = close + 1;
    return BITCUT_OK;
}

static enum bitcut_status element_unsupported(const char *type, const char *name,
                                              const struct cursor *c)
{
    const struct kind *kind = kinds;
    while (kind->letter && kind->letter != *name) kind++;
    return fault_set(c->fault, BITCUT_BAD_FILE,
                     "unsupported element type '%s' (%s); expected %s", type, kind->what,
                     c->taken->words);
}

static enum bitcut_status element_parse(struct header *h, struct cursor *c)
{
    char type[STRING_MAX];
    if (next_is(c, '['))
        return fault_set(c->fault, BITCUT_BAD_FILE,
                         "unsupported structured element type; expected %s",
                         c->taken->words);
    const enum bitcut_status status = string_parse(type, c, "an element type");
    if (status) return status;

    const char order = *type && strchr("<>=|", *type) ? *type : '=';
    const char *name = type + (*type == order);
    const struct element *element = elements;
    while (element->name && strcmp(element->name, name) != 0) element++;
    if (!element->name || (element->tensor && !c->taken->tensors) ||
        (order == '|' && element->bytes != 1 && *name != 'V'))
        return element_unsupported(type, name, c);
    h->element = element;
    h->swapped = order == (host_is_little() ? '>' : '<');
    return BITCUT_OK;
}

static enum bitcut_status order_parse(struct header *h, struct cursor *c)
{
    h->fortran = word_take(c, "True");
    if (h->fortran || word_take(c, "False")) return BITCUT_OK;
    return expected(c, "True or False");
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static enum bitcut_status dimension_parse(size_t *dim, struct cursor *c)
{
    if (next_is(c, '-'))
        return fault_set(c->fault, BITCUT_BAD_FILE, "a dimension must not be negative");
    if (c->at == c->end || !is_digit(*c->at)) return expected(c, "a dimension");
    size_t value = 0;
    for (; c->at < c->end && is_digit(*c->at); c->at++) {
        const size_t digit = (size_t)(*c->at - '0');
        if (!size_multiply(&value, value, 10) || value > SIZE_MAX - digit)
            return fault_set(c->fault, BITCUT_BAD_FILE, "a dimension is too large");
        value += digit;
    }
    if (c->at < c->end && *c->at == 'L') c->at++; /* suffix of Python 2 long integers */
    *dim = value;
    return BITCUT_OK;
}

/* A tuple: "()", "(3,)", "(3, 4)", "(3, 4,)"; "(3)" would be a number. */
static enum bitcut_status shape_parse(struct header *h, struct cursor *c)
{
    if (!take(c, '(')) return expected(c, "a shape in parentheses");
    bool comma = true;
    h->dims = 0;
    while (!take(c, ')')) {
        if (!comma) return expected(c, "',' or ')'");
        if (h->dims == ARRAY_DIMS_MAX)
            return fault_set(c->fault, BITCUT_BAD_FILE, "more than %d dimensions",
                             ARRAY_DIMS_MAX);
        const enum bitcut_status status = dimension_parse(&h->dim[h->dims], c);
        if (status) return status;
        h->dims++;
        comma = take(c, ',');
    }
    return h->dims == 1 && !comma ? expected(c, "',' in a shape of one") : BITCUT_OK;
}

static const struct key {
    const char *name;
    enum bitcut_status (*parse)(struct header *h, struct cursor *c);
} keys[] = {
    { "descr", element_parse },
    { "fortran_order", order_parse },
    { "shape", shape_parse },
};

enum { KEYS = sizeof keys / sizeof keys[0] };

/* Parse one `key: value`.  `seen` says which keys came before. */
static enum bitcut_status entry_parse(struct header *h, bool seen[KEYS], struct cursor *c)
{
    char name[STRING_MAX];
    enum bitcut_status status = string_parse(name, c, "a key");
    if (status) return status;
    int key = 0;
    while (key < KEYS && strcmp(keys[key].name, name) != 0) key++;
    if (key == KEYS)
        return fault_set(c->fault, BITCUT_BAD_FILE, "header: unknown key '%s'", name);
    if (seen[key])
        return fault_set(c->fault, BITCUT_BAD_FILE, "header: duplicate key '%s'", name);
    seen[key] = true;
    if (!take(c, ':')) return expected(c, "':'");
    return keys[key].parse(h, c);
}

static enum bitcut_status header_parse(struct header *h, struct cursor *c)
{
    bool seen[KEYS] = { false };
    bool comma = true;
    if (!take(c, '{')) return expected(c, "'{'");
    while (!take(c, '}')) {
        if (!comma) return expected(c, "',' or '}'");
        const enum bitcut_status status = entry_parse(h, seen, c);
        if (status) return status;
        comma = take(c, ',');
    }
    blanks_skip(c);
    if (c->at != c->end) return expected(c, "the end");
    for (int i = 0; i < KEYS; i++)
        if (!seen[i])
            return fault_set(c->fault, BITCUT_BAD_FILE, "header: missing key '%s'",
                             keys[i].name);
    return BITCUT_OK;
}

/* --- reading ---------------------------------------------------------------------- */

/* Read the length of the header from the start of `s`.  *left becomes the number of bytes
   after it. */
static enum bitcut_status length_read(uint32_t *length, uint64_t *left, struct stream *s,
                                      struct fault *f)
{
    unsigned char prefix[PREFIX_BYTES], bytes[4] = { 0 };
    if (s->size < PREFIX_BYTES)
        return fault_set(f, BITCUT_BAD_FILE, "not an .npy file: shorter than %d bytes",
                         PREFIX_BYTES);
    enum bitcut_status status = stream_read(prefix, sizeof prefix, s, f);
    if (status) return status;
    if (memcmp(prefix, magic, MAGIC_BYTES) != 0)
        return fault_set(f, BITCUT_BAD_FILE, "not an .npy file: it does not start with "
                         "\\x93NUMPY");
    const struct version *v = versions;
    while (v->major && (v->major != prefix[6] || prefix[7] != 0)) v++;
    if (!v->major)
        return fault_set(f, BITCUT_BAD_FILE,
                         "unsupported .npy version %d.%d; expected 1.0, 2.0 or 3.0",
                         prefix[6], prefix[7]);
    status = stream_read(bytes, (size_t)v->length_bytes, s, f);
    if (status) return status;
    *length = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
              (uint32_t)bytes[3] << 24;
    *left = s->size - PREFIX_BYTES - (uint64_t)v->length_bytes;
    return BITCUT_OK;
}

/* Read the header.  *left becomes the number of bytes after it. */
static enum bitcut_status header_read(struct header *h, uint64_t *left, struct stream *s,
                                      const struct npy_taken *taken, struct fault *f)
{
    uint32_t length = 0;
    enum bitcut_status status = length_read(&length, left, s, f);
    if (status) return status;
    if (length > *left)
        return fault_set(f, BITCUT_BAD_FILE, "the header should have %" PRIu32
                         " bytes, but only %" PRIu64 " follow", length, *left);
    if (length > LENGTH_MAX)
        return fault_set(f, BITCUT_BAD_FILE, "the header is longer than %d bytes",
                         LENGTH_MAX);
    *left -= length;
    char *text = memory_allocate(length, 1);
    if (!text) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the header");
    status = stream_read(text, length, s, f);
    if (!status) {
        struct cursor c = { text, text, text + length, taken, f };
        status = header_parse(h, &c);
    }
    free(text);
    return status;
}

/* Check the size of the data against the `left` bytes of the file. */
static enum bitcut_status size_check(const struct header *h, uint64_t left,
                                     struct fault *f)
{
    size_t bytes = (size_t)h->element->bytes;
    bool empty = false;
    for (int i = 0; i < h->dims; i++) {
        if (h->dim[i] == 0) empty = true;
        else if (!size_multiply(&bytes, bytes, h->dim[i]))
            return fault_set(f, BITCUT_BAD_FILE,
                             "the array is larger than the address space");
    }
    if (empty) bytes = 0;
    if (bytes == left) return BITCUT_OK;
    return fault_set(
        f, BITCUT_BAD_FILE,
        "the shape requires %zu bytes of data, but %" PRIu64 " follow the header: %s",
        bytes, left,
        bytes > left ? "the file is truncated" : "the file has trailing data");
}

/* A position in an array that is traversed in Fortran order. */
struct walk {
    size_t offset; /* in C order, in elements */
    size_t index[ARRAY_DIMS_MAX], stride[ARRAY_DIMS_MAX];
};

static void walk_init(struct walk *w, const struct array *a)
{
    size_t stride = 1;
    *w = (struct walk){ 0 };
    for (int i = a->dims; i-- > 0; stride *= a->dim[i]) w->stride[i] = stride;
}

static void walk_next(struct walk *w, const struct array *a)
{
    for (int i = 0; i < a->dims; i++) {
        w->offset += w->stride[i];
        if (++w->index[i] < a->dim[i]) return;
        w->index[i] = 0;
        w->offset -= w->stride[i] * a->dim[i];
    }
}

/* Read the data of a Fortran array in pieces, so that no second array is needed. */
static enum bitcut_status transposed_read(struct array *a, struct stream *s,
                                          struct fault *f)
{
    unsigned char piece[8 * 1024];
    const size_t bytes = (size_t)a->bytes, room = sizeof piece / bytes;
    struct walk w;
    walk_init(&w, a);
    for (size_t done = 0, n; done < a->count; done += n) {
        n = a->count - done < room ? a->count - done : room;
        const enum bitcut_status status = stream_read(piece, n * bytes, s, f);
        if (status) return status;
        for (size_t i = 0; i < n; i++, walk_next(&w, a))
            memcpy((unsigned char *)a->data + w.offset * bytes, piece + i * bytes, bytes);
    }
    return BITCUT_OK;
}

static uint64_t bytes_reversed(uint64_t x, int bytes)
{
    uint64_t y = 0;
    for (int i = 0; i < bytes; i++, x >>= 8) y = y << 8 | (x & 0xff);
    return y;
}

/* *type becomes the type of the elements. */
static enum bitcut_status array_read(struct array *a, const struct element **type,
                                     struct stream *s, const struct npy_taken *taken,
                                     struct fault *f)
{
    struct header h;
    uint64_t left = 0;
    enum bitcut_status status = header_read(&h, &left, s, taken, f);
    if (!status) status = size_check(&h, left, f);
    if (status) return status;

    struct array new;
    status = array_init(&new, h.dims, h.dim, h.element->bytes, h.element->floating, f);
    if (status) return status;
    status = h.fortran ? transposed_read(&new, s, f)
                       : stream_read(new.data, new.count * (size_t)new.bytes, s, f);
    if (status) {
        array_clear(&new);
        return status;
    }
    for (size_t i = 0; h.swapped && i < new.count; i++)
        array_set(&new, i, bytes_reversed(array_get(&new, i), new.bytes));
    *a = new;
    *type = h.element;
    return BITCUT_OK;
}

enum bitcut_status npy_read(struct array *a, const char *path, struct fault *f)
{
    const struct element *type;
    struct stream s;
    enum bitcut_status status = stream_open(&s, path, f);
    if (status) return status;
    status = array_read(a, &type, &s, &encodings, f);
    stream_close(&s);
    return status;
}

enum bitcut_status npy_read_tensor(struct tensor *t, struct stream *s, struct fault *f)
{
    const struct element *type;
    struct array a;
    const enum bitcut_status status = array_read(&a, &type, s, &tensors, f);
    if (status) return status;
    *t = (struct tensor){ .array = a, .format = type->format };
    snprintf(t->type, sizeof t->type, "%s", type->name);
    return BITCUT_OK;
}

enum bitcut_status npy_read_memory(struct array *a, const void *bytes, size_t size,
                                   struct fault *f)
{
    const struct element *type;
    struct stream s;
    enum bitcut_status status = stream_open_memory(&s, bytes, size, f);
    if (status) return status;
    status = array_read(a, &type, &s, &encodings, f);
    stream_close(&s);
    return status;
}

/* --- writing ---------------------------------------------------------------------- */

/* The header of every array has the same size.  ARRAY_DIMS_MAX dimensions whose product
   is a size_t have at most 27 digits, and everything else has at most 80 characters. */
enum { HEADER_BYTES = 2 * ALIGNMENT, LENGTH_AT = PREFIX_BYTES };
enum { DICTIONARY_AT = LENGTH_AT + 2, DICTIONARY_BYTES = HEADER_BYTES - DICTIONARY_AT };

static const struct element *element_of(const struct array *a)
{
    const struct element *e = elements;
    while (e->name && (e->bytes != a->bytes || e->floating != a->floating ||
                       (*e->name == 'i') != a->integers))
        e++;
    return e->name ? e : NULL;
}

/* The header of `a` up to its data, as NumPy pads it. */
static void header_write(unsigned char header[HEADER_BYTES], const struct array *a,
                         const struct element *e)
{
    const char order = e->bytes == 1 ? '|' : host_is_little() ? '<' : '>';
    char shape[DICTIONARY_BYTES] = "", dictionary[HEADER_BYTES];
    int n = 0;
    for (int i = 0; i < a->dims; i++)
        n += snprintf(shape + n, sizeof shape - (size_t)n, "%s%zu", i ? ", " : "",
                      a->dim[i]);
    n = snprintf(dictionary, sizeof dictionary,
                 "{'descr': '%c%s', 'fortran_order': False, 'shape': (%s%s), }", order,
                 e->name, shape, a->dims == 1 ? "," : "");
    assert(n < DICTIONARY_BYTES);

    memset(header, ' ', HEADER_BYTES);
    memcpy(header, magic, MAGIC_BYTES);
    header[MAGIC_BYTES] = 1;
    header[MAGIC_BYTES + 1] = 0;
    header[LENGTH_AT] = DICTIONARY_BYTES;
    header[LENGTH_AT + 1] = 0;
    memcpy(header + DICTIONARY_AT, dictionary, (size_t)n);
    header[HEADER_BYTES - 1] = '\n';
}

enum bitcut_status npy_write(const char *path, const struct array *a, struct fault *f)
{
    const struct element *e = element_of(a);
    if (!e)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "NumPy has no floating-point type of one byte");
    unsigned char header[HEADER_BYTES];
    header_write(header, a, e);
    struct output o;
    const enum bitcut_status status = output_open(&o, path, f);
    if (status) return status;
    fwrite(header, 1, sizeof header, o.file); /* output_commit() reports failures */
    fwrite(a->data, (size_t)a->bytes, a->count, o.file);
    return output_commit(&o, f);
}
