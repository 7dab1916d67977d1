/* SPDX-License-Identifier: BSD-3-Clause */
/* .npy files: from NumPy, with every type and order built here, and invalid ones. */
#define _XOPEN_SOURCE 700

#include "lib/io/npy.h"
#include "tests/scratch.h"

#include <errno.h>
#include <sys/stat.h>

enum { FILE_MAX = 4096 };

/* Files that NumPy 1.24 wrote, and what is in them. */
static const struct sample {
    const char *what, *bytes;
    size_t size;
    int dims;
    size_t dim[ARRAY_DIMS_MAX];
    int element_bytes;
    bool floating;
    uint64_t value[6];
} samples[] = {
    /* clang-format off */
    { "C order, f4",
      "\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2"
      ", 3), }                                                          \n\x00"
      "\x00\xc0?\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x80\x7f\x01\x00\x00\x00"
      "\x00\x00\x00\x80",
      152, 2, { 2, 3 }, 4, true,
      { 0x3fc00000, 0xc0000000, 0x0, 0x7f800000, 0x1, 0x80000000 } },
    { "Fortran order, big-endian u2",
      "\x93NUMPY\x01\x00v\x00{'descr': '>u2', 'fortran_order': True, 'shape': (2,"
      " 3), }                                                           \n\x00"
      "\x01\x12""4\x00\x02\xff\xff\x00\x03\x00\x06",
      140, 2, { 2, 3 }, 2, false,
      { 0x1, 0x2, 0x3, 0x1234, 0xffff, 0x6 } },
    { "no dimensions, f8",
      "\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': ()"
      ", }                                                              \n\x00"
      "\x00\x00\x00\x00\x00\n\xc0",
      136, 0, { 0 }, 8, true,
      { 0xc00a000000000000 } },
    { "a dimension of 0, u1",
      "\x93NUMPY\x01\x00v\x00{'descr': '|u1', 'fortran_order': False, 'shape': (0"
      ", 4), }                                                          \n",
      128, 2, { 0, 4 }, 1, false,
      { 0 } },
    { "one dimension, f2",
      "\x93NUMPY\x01\x00v\x00{'descr': '<f2', 'fortran_order': False, 'shape': (3"
      ",), }                                                            \n\x00<"
      "\x00\xc0\xff{",
      134, 1, { 3 }, 2, true,
      { 0x3c00, 0xc000, 0x7bff } },
    { "version 2.0, u4",
      "\x93NUMPY\x02\x00t\x00\x00\x00{'descr': '<u4', 'fortran_order': False, 'sh"
      "ape': (1, 2, 1), }                                                     \n"
      "\x01\x00\x00\x00\xef\xbe\xad\xde",
      136, 3, { 1, 2, 1 }, 4, false,
      { 0x1, 0xdeadbeef } },
    { "version 3.0, big-endian u8",
      "\x93NUMPY\x03\x00t\x00\x00\x00{'descr': '>u8', 'fortran_order': False, 'sh"
      "ape': (2,), }                                                          \n"
      "\x00\x00\x00\x00\x00\x00\x00\x01\x01#Eg\x89\xab\xcd\xef",
      144, 1, { 2 }, 8, false,
      { 0x1, 0x123456789abcdef } },
    /* clang-format on */
};

enum { SAMPLES = sizeof samples / sizeof samples[0] };

static void values_check(const struct array *a, const uint64_t *want, const char *what)
{
    for (size_t i = 0; i < a->count; i++)
        ck_assert_msg(array_get(a, i) == want[i],
                      "%s, element %zu: got %#" PRIx64 ", want %#" PRIx64, what, i,
                      array_get(a, i), want[i]);
}

static void shape_check(const struct array *a, int dims, const size_t *dim, int bytes,
                        bool floating, const char *what)
{
    size_t count = 1;
    for (int i = 0; i < dims; i++) count *= dim[i];
    ck_assert_msg(a->dims == dims && a->bytes == bytes && a->floating == floating &&
                      a->count == count &&
                      !memcmp(a->dim, dim, (size_t)dims * sizeof *dim),
                  "%s: %d dimensions, %zu elements of %d bytes, floating %d", what,
                  a->dims, a->count, a->bytes, a->floating);
}

START_TEST(numpy_files)
{
    const struct scratch s = scratch_make();
    for (int i = 0; i < SAMPLES; i++) {
        const struct sample *n = &samples[i];
        struct fault f = { .status = BITCUT_OK, .text = "" };
        struct array a;
        scratch_write(s.path, n->bytes, n->size);
        for (int file = 0; file < 2; file++) {
            const enum bitcut_status status =
                file ? npy_read(&a, s.path, &f)
                     : npy_read_memory(&a, n->bytes, n->size, &f);
            ck_assert_msg(!status, "%s: %s", n->what, f.text);
            shape_check(&a, n->dims, n->dim, n->element_bytes, n->floating, n->what);
            values_check(&a, n->value, n->what);
            array_clear(&a);
        }
    }
    scratch_remove(&s);
}
END_TEST

/* On a little-endian machine what is written is what NumPy writes, byte for byte. */
START_TEST(written_as_numpy_does)
{
    static const int in_c_order[] = { 0, 2, 3, 4 };
    const struct scratch s = scratch_make();
    const uint16_t one = 1;
    if (!*(const unsigned char *)&one) return;
    for (int i = 0; i < 4; i++) {
        const struct sample *n = &samples[in_c_order[i]];
        struct array a;
        size_t size;
        ck_assert(!array_init(&a, n->dims, n->dim, n->element_bytes, n->floating, NULL));
        for (size_t k = 0; k < a.count; k++) array_set(&a, k, n->value[k]);
        ck_assert_int_eq(npy_write(s.path, &a, NULL), BITCUT_OK);
        unsigned char *bytes = scratch_read(s.path, &size);
        ck_assert_msg(size == n->size, "%s: got %zu bytes, want %zu", n->what, size,
                      n->size);
        for (size_t k = 0; k < size; k++)
            ck_assert_msg(bytes[k] == (unsigned char)n->bytes[k],
                          "%s, byte %zu: got %02x, want %02x", n->what, k, bytes[k],
                          (unsigned char)n->bytes[k]);
        free(bytes);
        array_clear(&a);
    }
    scratch_remove(&s);
}
END_TEST

/* --- files built here --------------------------------------------------------------- */

/* Magic string, version, length of the header, and the header. */
static size_t header_put(unsigned char *to, int major, int minor, const char *header,
                         size_t length)
{
    const int length_bytes = major == 1 ? 2 : 4;
    memcpy(to, "\x93NUMPY", 6);
    to[6] = (unsigned char)major;
    to[7] = (unsigned char)minor;
    for (int i = 0; i < length_bytes; i++) to[8 + i] = (unsigned char)(length >> 8 * i);
    memcpy(to + 8 + length_bytes, header, strlen(header));
    return 8 + (size_t)length_bytes + strlen(header);
}

/* Element k in C order, of the shape, as element of the file in Fortran order. */
static size_t fortran_index(size_t k, int dims, const size_t *dim)
{
    size_t index[ARRAY_DIMS_MAX], at = 0;
    for (int i = dims; i-- > 0; k /= dim[i]) index[i] = k % dim[i];
    for (int i = dims; i-- > 0;) at = at * dim[i] + index[i];
    return at;
}

static void element_put(unsigned char *to, uint64_t bits, int bytes, bool big)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (unsigned char)(bits >> 8 * (big ? bytes - 1 - i : i));
}

static bool host_is_big(void)
{
    const uint16_t one = 1;
    return !*(const unsigned char *)&one;
}

struct shape {
    int dims;
    size_t dim[ARRAY_DIMS_MAX];
};

static const struct shape shapes[] = {
    { 0, { 0 } },       { 1, { 1 } },       { 1, { 7 } },
    { 1, { 0 } },       { 2, { 3, 4 } },    { 2, { 1, 5 } },
    { 2, { 0, 0 } },    { 3, { 4, 0, 3 } }, { 3, { 2, 3, 4 } },
    { 8, { 2, 1, 3, 1, 2, 1, 2, 2 } },      { 2, { 130, 67 } },
};

/* A random array in a file of type `type`, read back. */
static void built_check(const char *type, const struct shape *h, bool fortran, int major,
                        uint64_t *state)
{
    const char *name = type + (strchr("<>=|", *type) != NULL);
    const bool big = *type == '>' || (*type != '<' && host_is_big());
    const int bytes = name[1] - '0';
    char header[256], shape[128] = "", what[512];
    size_t count = 1;
    for (int i = 0; i < h->dims; i++) {
        sprintf(shape + strlen(shape), "%zu,", h->dim[i]);
        count *= h->dim[i];
    }
    sprintf(header, "{'fortran_order': %s, 'shape': (%s), 'descr': '%s'}\n",
            fortran ? "True" : "False", shape, type);
    snprintf(what, sizeof what, "version %d, %s", major, header);

    unsigned char *file = malloc(FILE_MAX + 8 * count);
    uint64_t *value = malloc(8 * count + 1);
    ck_assert(file && value);
    const size_t start = header_put(file, major, 0, header, strlen(header));
    for (size_t k = 0; k < count; k++) {
        const size_t at = fortran ? fortran_index(k, h->dims, h->dim) : k;
        value[k] = test_bits(state) & UINT64_MAX >> (64 - 8 * bytes);
        element_put(file + start + at * (size_t)bytes, value[k], bytes, big);
    }
    struct array a;
    struct fault f = { .status = BITCUT_OK, .text = "" };
    ck_assert_msg(!npy_read_memory(&a, file, start + count * (size_t)bytes, &f), "%s: %s",
                  what, f.text);
    shape_check(&a, h->dims, h->dim, bytes, *name == 'f', what);
    values_check(&a, value, what);
    array_clear(&a);
    free(value);
    free(file);
}

START_TEST(every_type_order_and_version)
{
    static const char *const types[] = {
        "<f2", ">f2", "=f2", "f2", "<f4", ">f4", "=f4", "f4",  "<f8", ">f8", "=f8", "f8",
        "<u2", ">u2", "=u2", "u2", "<u4", ">u4", "=u4", "u4",  "<u8", ">u8", "=u8", "u8",
        "<u1", ">u1", "=u1", "u1", "|u1", "<V1", "|V1", "<V2", ">V2",
    };
    uint64_t state = test_seed();
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
        for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
            for (int major = 1; major <= 3; major++)
                for (int fortran = 0; fortran < 2; fortran++)
                    built_check(types[t], &shapes[i], fortran, major, &state);
}
END_TEST

/* Numbers alone: of integers it is not known what they are. */
/* What a tensor's element types are; other readers of .npy refuse some of them. */
START_TEST(tensor_types)
{
    static const struct {
        const char *descr;
        int bytes, format; /* -1: encodings of a format that the file does not name */
        bool encodings;    /* whether an array of encodings may have this type      */
    } rows[] = {
        { "<f2", 2, FORMAT_F16, true },   { "<f4", 4, FORMAT_F32, true },
        { "<f8", 8, FORMAT_F64, true },   { "|u1", 1, -1, true },
        { "<u2", 2, -1, true },           { "<u4", 4, -1, true },
        { "<u8", 8, -1, true },           { "|V1", 1, -1, true },
        { "<V1", 1, -1, true },           { "<V2", 2, -1, true },
        { "|V2", 2, -1, true },           { "<f1", 1, FORMAT_E5M2, false },
        { "|i1", 1, FORMAT_S8, false },   { "<i4", 4, FORMAT_S32, false },
        { "<i2", 2, FORMAT_S16, false },
        { "bfloat16", 2, FORMAT_BF16, false },
        { "float8_e4m3fn", 1, FORMAT_E4M3, false },
        { "float8_e5m2", 1, FORMAT_E5M2, false },
        { "float8_e4m3fnuz", 1, FORMAT_E4M3FNUZ, false },
        { "float8_e5m2fnuz", 1, FORMAT_E5M2FNUZ, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned char file[FILE_MAX] = { 0 };
        char header[200];
        struct tensor t;
        struct array a;
        struct stream s;
        struct fault f = { .text = "" };
        snprintf(header, sizeof header,
                 "{'descr': '%s', 'fortran_order': False, 'shape': (2, 3)}", rows[i].descr);
        size_t size = header_put(file, 1, 0, header, strlen(header));
        file[size] = 1;
        size += 6 * (size_t)rows[i].bytes;
        ck_assert_int_eq(stream_open_memory(&s, file, size, NULL), BITCUT_OK);
        ck_assert_msg(!npy_read_tensor(&t, &s, &f), "%s: %s", header, f.text);
        stream_close(&s);
        ck_assert_int_eq(t.array.bytes, rows[i].bytes);
        ck_assert_uint_eq(array_get(&t.array, 0), 1);
        ck_assert_msg(t.format == (rows[i].format < 0 ? NULL : &formats[rows[i].format]),
                      "%s is %s", header, t.format ? t.format->name : "without a format");
        ck_assert_ptr_nonnull(strstr(rows[i].descr, t.type));
        tensor_clear(&t);
        const enum bitcut_status status = npy_read_memory(&a, file, size, &f);
        ck_assert_int_eq(status, rows[i].encodings ? BITCUT_OK : BITCUT_BAD_FILE);
        if (!status) array_clear(&a);
    }
}
END_TEST

/* The longest header that an array can have. */
START_TEST(long_header)
{
    static const size_t dim[] = { 0, 10, 10, 10, 10, 10, 10, 1000000000000 };
    const struct scratch s = scratch_make();
    struct array a, b;
    size_t size;
    ck_assert(!array_init(&a, ARRAY_DIMS_MAX, dim, 8, true, NULL));
    ck_assert_int_eq(npy_write(s.path, &a, NULL), BITCUT_OK);
    free(scratch_read(s.path, &size));
    ck_assert_uint_eq(size, 128);
    ck_assert_int_eq(npy_read(&b, s.path, NULL), BITCUT_OK);
    shape_check(&b, ARRAY_DIMS_MAX, dim, 8, true, "long header");
    array_clear(&a);
    array_clear(&b);
    scratch_remove(&s);
}
END_TEST

START_TEST(round_trips)
{
    static const struct {
        int bytes;
        bool floating;
    } types[] = { { 2, true },  { 4, true },  { 8, true }, { 1, false },
                  { 2, false }, { 4, false }, { 8, false } };
    const struct scratch s = scratch_make();
    uint64_t state = test_seed();
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
        for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
            const struct shape *h = &shapes[i];
            struct array a, b;
            size_t size;
            ck_assert(!array_init(&a, h->dims, h->dim, types[t].bytes, types[t].floating,
                                  NULL));
            for (size_t k = 0; k < a.count; k++) array_set(&a, k, test_bits(&state));
            ck_assert_int_eq(npy_write(s.path, &a, NULL), BITCUT_OK);
            ck_assert_int_eq(scratch_files(&s, 0), 1);
            free(scratch_read(s.path, &size));
            ck_assert_uint_eq((size - a.count * (size_t)a.bytes) % 64, 0);
            ck_assert_int_eq(npy_read(&b, s.path, NULL), BITCUT_OK);
            shape_check(&b, a.dims, a.dim, a.bytes, a.floating, "written");
            ck_assert_int_eq(memcmp(a.data, b.data, a.count * (size_t)a.bytes), 0);
            array_clear(&a);
            array_clear(&b);
        }
    scratch_remove(&s);
}
END_TEST

/* Headers that NumPy would not write, but Python reads as the same dictionary. */
START_TEST(unusual_headers)
{
    static const char *const headers[] = {
        "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3)}",
        "{\"descr\": \"<u2\", \"fortran_order\": False, \"shape\": (2, 3), }",
        "{'shape':(2,3),'fortran_order':False,'descr':'<u2'}",
        " \t\n\r\f{ 'shape' :\n( 2 ,\t3 , ) , 'fortran_order':False , 'descr':'<u2' , } ",
        "{'descr': '<u2', 'fortran_order': False, 'shape': (2L, 3L), }",
        "{'descr': '<u2', 'fortran_order': False, 'shape': (02, 0000000000000000000003)}",
    };
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        static const size_t dim[] = { 2, 3 };
        static const uint64_t value[] = { 1, 2, 3, 4, 5, 6 };
        unsigned char file[FILE_MAX];
        struct array a;
        struct fault f = { .status = BITCUT_OK, .text = "" };
        const size_t start = header_put(file, 1, 0, headers[i], strlen(headers[i]));
        for (size_t k = 0; k < 6; k++) element_put(file + start + 2 * k, k + 1, 2, false);
        ck_assert_msg(!npy_read_memory(&a, file, start + 12, &f), "%s: %s", headers[i],
                      f.text);
        shape_check(&a, 2, dim, 2, false, headers[i]);
        values_check(&a, value, headers[i]);
        array_clear(&a);
    }
}
END_TEST

/* --- broken files ------------------------------------------------------------------- */

/* Reading these bytes, from memory and from a file, fails with BITCUT_BAD_FILE and one
   line that holds `fragment`; the array is left alone. */
static void refused(const void *bytes, size_t size, const char *fragment,
                    const char *what)
{
    const struct scratch s = scratch_make();
    scratch_write(s.path, bytes, size);
    for (int file = 0; file < 2; file++) {
        struct array a = { .dims = 99 };
        struct fault f = { .status = BITCUT_OK, .text = "" };
        const enum bitcut_status status =
            file ? npy_read(&a, s.path, &f) : npy_read_memory(&a, bytes, size, &f);
        ck_assert_msg(status == BITCUT_BAD_FILE && f.status == status,
                      "%s: status %d, %s", what, status, f.text);
        ck_assert_msg(strstr(f.text, fragment) && !strchr(f.text, '\n'),
                      "%s: got '%s', want '%s'", what, f.text, fragment);
        ck_assert_int_eq(a.dims, 99);
    }
    scratch_remove(&s);
}

START_TEST(broken_beginnings)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *fragment;
    } rows[] = {
        { "", 0, "shorter than 8 bytes" },
        { "\x93NUMPY\x01", 7, "shorter than 8 bytes" },
        { "\x93NUMPX\x01\0\0\0", 10, "does not start with" },
        { "PK\x03\x04\x14\0\0\0\0\0\0\0", 12, "does not start with" },
        { "\x93NUMPY\0\0\0\0\0\0", 12, "version 0.0" },
        { "\x93NUMPY\x01\x01\0\0\0\0", 12, "version 1.1" },
        { "\x93NUMPY\x04\0\0\0\0\0", 12, "version 4.0" },
        { "\x93NUMPY\xff\0\0\0\0\0", 12, "version 255.0" },
        { "\x93NUMPY\x01\0", 8, "truncated" },
        { "\x93NUMPY\x01\0\x01", 9, "truncated" },
        { "\x93NUMPY\x02\0\x01\0\0", 11, "truncated" },
        { "\x93NUMPY\x01\0\0\0", 10, "expected '{'" },
        { "\x93NUMPY\x01\0\x02\0{", 11, "the header should have 2 bytes, but only 1" },
        { "\x93NUMPY\x02\0\xff\xff\xff\xff{}", 14, "the header should have 4294967295 bytes" },
        { "\x93NUMPY\x03\0\0\0\0\x80{}", 14, "the header should have 2147483648 bytes" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        refused(rows[i].bytes, rows[i].size, rows[i].fragment, rows[i].fragment);
}
END_TEST

#define ORDER "'fortran_order': False, "

/* Headers before 24 bytes of data. */
START_TEST(broken_headers)
{
    static const struct {
        const char *header, *fragment;
    } rows[] = {
        { "", "expected '{' at character 0" },
        { "[]", "expected '{' at character 0" },
        { "{", "expected a key at character 1" },
        { "{}", "missing key 'descr'" },
        { "{,}", "expected a key at character 1" },
        { "{'descr': '<f4', 'shape': (6,)}", "missing key 'fortran_order'" },
        { "{'descr': '<f4', " ORDER "}", "missing key 'shape'" },
        { "{" ORDER "'shape': (6,)}", "missing key 'descr'" },
        { "{'descr': '<f4', " ORDER ORDER "'shape': (6,)}", "duplicate key 'fortran_order'" },
        { "{'x': 1, 'descr': '<f4', " ORDER "'shape': (6,)}", "unknown key 'x'" },
        { "{'': 1}", "unknown key ''" },
        { "{'des\ncr': 1}", "unknown key 'des?cr'" },
        { "{'Descr': 1}", "unknown key 'Descr'" },
        { "{descr: '<f4'}", "expected a key at character 1" },
        { "{'descr", "expected a key" },
        { "{'descr\"", "expected a key" },
        { "{'de\\x73cr': '<f4'}", "expected a key" },
        { "{'a key that is longer than any key can be': 1}", "expected a key" },
        { "{'descr' '<f4'}", "expected ':' at character 9" },
        { "{'descr': '<f4' 'shape': (6,)}", "expected ',' or '}' at character 16" },
        { "{'descr': '<f4',, 'shape': (6,)}", "expected a key at character 16" },
        { "{'descr': '<f4', " ORDER "'shape': (6,)", "expected ',' or '}'" },
        { "{'descr': '<f4', " ORDER "'shape': (6,)} x", "expected the end" },
        { "{'descr': '<f4', " ORDER "'shape': (6,)}}", "expected the end" },
        { "{'descr': '|O', " ORDER "'shape': (3,)}", "'|O' (Python objects)" },
        { "{'descr': 'O', " ORDER "'shape': (3,)}", "'O' (Python objects)" },
        { "{'descr': '<c8', " ORDER "'shape': (3,)}", "'<c8' (complex numbers)" },
        { "{'descr': '<i4', " ORDER "'shape': (6,)}", "(signed integers)" },
        { "{'descr': '|b1', " ORDER "'shape': (24,)}", "(booleans)" },
        { "{'descr': '|V3', " ORDER "'shape': (8,)}", "(raw bytes)" },
        { "{'descr': '|S4', " ORDER "'shape': (6,)}", "(byte strings)" },
        { "{'descr': '<U1', " ORDER "'shape': (6,)}", "(character strings)" },
        { "{'descr': '<M8[ns]', " ORDER "'shape': (3,)}", "(dates)" },
        { "{'descr': '<m8[ns]', " ORDER "'shape': (3,)}", "(durations)" },
        { "{'descr': '<f16', " ORDER "'shape': (1,)}", "'<f16' (an unknown type)" },
        { "{'descr': '<f1', " ORDER "'shape': (24,)}", "'<f1' (an unknown type)" },
        { "{'descr': '', " ORDER "'shape': (6,)}", "'' (an unknown type)" },
        { "{'descr': '<', " ORDER "'shape': (6,)}", "'<' (an unknown type)" },
        { "{'descr': '<<f4', " ORDER "'shape': (6,)}", "'<<f4' (an unknown type)" },
        { "{'descr': '<f4 ', " ORDER "'shape': (6,)}", "'<f4 ' (an unknown type)" },
        { "{'descr': '|f4', " ORDER "'shape': (6,)}", "'|f4'" },
        { "{'descr': [('a', '<f4')], " ORDER "'shape': (6,)}", "unsupported structured element type" },
        { "{'descr': ('<f4', (2,)), " ORDER "'shape': (3,)}", "expected an element type" },
        { "{'descr': 4, " ORDER "'shape': (6,)}", "expected an element type" },
        { "{'descr': '<f4', 'fortran_order': 0, 'shape': (6,)}", "True or False" },
        { "{'descr': '<f4', 'fortran_order': true, 'shape': (6,)}", "True or False" },
        { "{'descr': '<f4', 'fortran_order': Tru", "expected True or False" },
        { "{'descr': '<f4', 'fortran_order': Falsey, 'shape': (6,)}", "',' or '}'" },
        { "{'descr': '<f4', " ORDER "'shape': 6}", "a shape in parentheses" },
        { "{'descr': '<f4', " ORDER "'shape': [6]}", "a shape in parentheses" },
        { "{'descr': '<f4', " ORDER "'shape': (6)}", "',' in a shape of one" },
        { "{'descr': '<f4', " ORDER "'shape': (,)}", "expected a dimension" },
        { "{'descr': '<f4', " ORDER "'shape': (6", "expected ',' or ')'" },
        { "{'descr': '<f4', " ORDER "'shape': (", "expected a dimension" },
        { "{'descr': '<f4', " ORDER "'shape': (2 3)}", "expected ',' or ')'" },
        { "{'descr': '<f4', " ORDER "'shape': (6.0,)}", "expected ',' or ')'" },
        { "{'descr': '<f4', " ORDER "'shape': (0x6,)}", "expected ',' or ')'" },
        { "{'descr': '<f4', " ORDER "'shape': (None,)}", "expected a dimension" },
        { "{'descr': '<f4', " ORDER "'shape': (-6,)}",
          "a dimension must not be negative" },
        { "{'descr': '<f4', " ORDER "'shape': (-1, -6)}",
          "a dimension must not be negative" },
        { "{'descr': '<f4', " ORDER "'shape': (99999999999999999999,)}", "too large" },
        { "{'descr': '<f4', " ORDER "'shape': (18446744073709551616,)}", "too large" },
        { "{'descr': '<f4', " ORDER "'shape': (18446744073709551615,)}", "address space" },
        { "{'descr': '<f4', " ORDER "'shape': (4294967296, 4294967296)}", "address space" },
        { "{'descr': '<f8', " ORDER "'shape': (2305843009213693952,)}", "address space" },
        { "{'descr': '<f4', " ORDER "'shape': (0, 4294967296, 4294967296)}", "address space" },
        { "{'descr': '|u1', " ORDER "'shape': (1,1,1,1,1,1,1,1,24)}", "more than 8" },
        { "{'descr': '<f4', " ORDER "'shape': (7,)}", "28 bytes of data, but 24" },
        { "{'descr': '<f4', " ORDER "'shape': (7,)}", "truncated" },
        { "{'descr': '<f4', " ORDER "'shape': (5,)}", "the file has trailing data" },
        { "{'descr': '<f4', " ORDER "'shape': ()}", "the file has trailing data" },
        { "{'descr': '<f4', " ORDER "'shape': (0,)}", "the file has trailing data" },
        { "{'descr': '<f8', 'fortran_order': True, 'shape': (1000000, 1000000)}",
          "8000000000000 bytes of data, but 24" },
        { "{'descr': '|u1', " ORDER "'shape': (9223372036854775807,)}", "truncated" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned char file[FILE_MAX] = { 0 };
        const char *header = rows[i].header;
        const size_t size = header_put(file, 1, 0, header, strlen(header));
        refused(file, size + 24, rows[i].fragment, header);
    }
}
END_TEST

/* A zero byte is neither a blank nor part of a string. */
START_TEST(zero_bytes)
{
    unsigned char file[FILE_MAX] = { 0 };
    size_t size = header_put(file, 1, 0, "{'descr': '<f4', " ORDER "'shape': (0,)}x", 99);
    file[8] = (unsigned char)(size - 10);
    file[size - 1] = 0;
    refused(file, size, "expected the end", "zero byte at the end");
    size = header_put(file, 1, 0, "{'descrx': '<f4', " ORDER "'shape': (0,)}", 99);
    file[8] = (unsigned char)(size - 10);
    file[10 + 7] = 0;
    refused(file, size, "expected a key", "zero byte in a key");
}
END_TEST

/* A good file cut anywhere, or with a byte too many. */
START_TEST(cut_files)
{
    for (int i = 0; i < SAMPLES; i++) {
        unsigned char file[256];
        struct array a;
        memcpy(file, samples[i].bytes, samples[i].size);
        file[samples[i].size] = 0;
        for (size_t size = 0; size < samples[i].size + 2; size++) {
            if (size == samples[i].size) continue;
            ck_assert_msg(npy_read_memory(&a, file, size, NULL) == BITCUT_BAD_FILE,
                          "%s: %zu of %zu bytes are read", samples[i].what, size,
                          samples[i].size);
        }
    }
}
END_TEST

/* --- files that cannot be used ------------------------------------------------------ */

START_TEST(unreadable)
{
    const struct scratch s = scratch_make();
    struct array a = { .dims = 99 };
    struct fault f;
    ck_assert_int_eq(npy_read(&a, s.path, &f), BITCUT_UNSUPPORTED);
    ck_assert_str_eq(f.text, strerror(ENOENT));
    ck_assert_int_eq(npy_read(&a, s.folder, &f), BITCUT_UNSUPPORTED);
    ck_assert_str_eq(f.text, "not a regular file");
    ck_assert_int_eq(mkfifo(s.path, 0600), 0); /* must not wait for a writer */
    ck_assert_int_eq(npy_read(&a, s.path, &f), BITCUT_UNSUPPORTED);
    ck_assert_str_eq(f.text, "not a regular file");
    ck_assert_int_eq(remove(s.path), 0);

    const bool super = geteuid() == 0;
    scratch_write(s.path, samples[0].bytes, samples[0].size);
    ck_assert_int_eq(chmod(s.path, 0), 0);
    ck_assert_int_eq(chmod(s.folder, 0755), 0);
    ck_assert(!super || seteuid(65534) == 0);
    ck_assert_int_eq(npy_read(&a, s.path, &f), BITCUT_UNSUPPORTED);
    ck_assert_str_eq(f.text, strerror(EACCES));
    ck_assert(!super || seteuid(0) == 0);
    ck_assert_int_eq(a.dims, 99);
    scratch_remove(&s);
}
END_TEST

START_TEST(unwritable)
{
    const size_t dim = 3;
    const struct scratch s = scratch_make();
    struct array a;
    struct fault f;
    ck_assert(!array_init(&a, 1, &dim, 4, true, NULL));
    ck_assert_int_eq(npy_write("no-such-folder/file", &a, &f), BITCUT_UNSUPPORTED);
    ck_assert_str_eq(f.text, strerror(ENOENT));
    scratch_limit(136); /* in the middle of the data */
    ck_assert_int_eq(npy_write(s.path, &a, &f), BITCUT_UNSUPPORTED);
    scratch_limit(RLIM_INFINITY);
    ck_assert_str_eq(f.text, strerror(EFBIG));
    ck_assert_int_eq(scratch_files(&s, 0), 0);
    array_clear(&a);
    ck_assert(!array_init(&a, 1, &dim, 1, true, NULL));
    ck_assert_int_eq(npy_write(s.path, &a, &f), BITCUT_BAD_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(f.text, "no floating-point type of one byte"));
    array_clear(&a);
    ck_assert_int_eq(scratch_files(&s, 0), 0);
    scratch_remove(&s);
}
END_TEST

TEST_MAIN("npy", numpy_files, written_as_numpy_does, every_type_order_and_version,
          long_header, tensor_types, round_trips, unusual_headers, broken_beginnings, broken_headers,
          zero_bytes, cut_files, unreadable, unwritable)
