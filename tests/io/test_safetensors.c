/* SPDX-License-Identifier: BSD-3-Clause */
/* Safetensors files made here, every type, and malformed ones. */
#include "lib/io/safetensors.h"
#include "tests/mutation.h"

enum { FILE_MAX = 4096, DATA = 96 };

/* The length of a header, the header, and 96 bytes of data: 0, 1, 2, ... */
static size_t file_make(unsigned char *to, const char *header)
{
    const size_t length = strlen(header);
    for (int i = 0; i < 8; i++) to[i] = (unsigned char)(length >> 8 * i);
    memcpy(to + 8, header, length);
    for (int i = 0; i < DATA; i++) to[8 + length + (size_t)i] = (unsigned char)i;
    return 8 + length + DATA;
}

static enum bitcut_status read(struct tensor *t, const void *bytes, size_t size,
                               const char *name, struct fault *f)
{
    struct stream s;
    ck_assert_int_eq(stream_open_memory(&s, bytes, size, NULL), BITCUT_OK);
    const enum bitcut_status status = safetensors_read(t, &s, name, f);
    stream_close(&s);
    return status;
}

START_TEST(types)
{
    static const struct {
        const char *type;
        int bytes, format; /* -1: none */
    } rows[] = { { "F64", 8, FORMAT_F64 },       { "F32", 4, FORMAT_F32 },
                 { "F16", 2, FORMAT_F16 },       { "BF16", 2, FORMAT_BF16 },
                 { "F8_E4M3", 1, FORMAT_E4M3 },  { "F8_E5M2", 1, FORMAT_E5M2 },
                 { "F8_E8M0", 1, FORMAT_UE8M0 }, { "I8", 1, FORMAT_S8 },
                 { "I32", 4, FORMAT_S32 },       { "U8", 1, -1 },
                 { "I16", 2, FORMAT_S16 } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned char file[FILE_MAX];
        char header[200];
        struct tensor t;
        struct fault f = { .text = "" };
        const size_t bytes = (size_t)rows[i].bytes;
        snprintf(header, sizeof header,
                 "{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
                 "\"y/z\":{\"dtype\":\"%s\",\"shape\":[2,3],\"data_offsets\":[8,%zu]}}",
                 rows[i].type, 8 + 6 * bytes);
        const size_t size = file_make(file, header);
        ck_assert(safetensors_begins(file, 16, size));
        ck_assert_msg(!read(&t, file, size, "y/z", &f), "%s: %s", rows[i].type, f.text);
        ck_assert(t.array.dims == 2 && t.array.dim[0] == 2 && t.array.dim[1] == 3);
        ck_assert_int_eq(t.array.bytes, rows[i].bytes);
        ck_assert(t.format == (rows[i].format < 0 ? NULL : &formats[rows[i].format]));
        ck_assert_str_eq(t.type, rows[i].type);
        for (size_t k = 0; k < 6; k++) { /* little-endian bytes 8, 9, 10, ... */
            uint64_t want = 0;
            for (size_t b = bytes; b-- > 0;) want = want << 8 | (8 + k * bytes + b);
            ck_assert_uint_eq(array_get(&t.array, k), want);
        }
        tensor_clear(&t);
    }
}
END_TEST

#define ONE(TYPE, SHAPE, OFFSETS)                                                        \
    "{\"x\":{\"dtype\":" TYPE ",\"shape\":" SHAPE ",\"data_offsets\":" OFFSETS "}}"

START_TEST(only_tensor)
{
    unsigned char file[FILE_MAX];
    struct tensor t;
    size_t size =
        file_make(file, "{\"__metadata__\":{\"format\":\"pt\"},\"x\":{\"dtype\":"
                        "\"U8\",\"shape\":[],\"data_offsets\":[5,6]}}   ");
    ck_assert_int_eq(read(&t, file, size, NULL, NULL), BITCUT_OK);
    ck_assert(t.array.dims == 0 && t.array.count == 1);
    ck_assert_uint_eq(array_get(&t.array, 0), 5);
    tensor_clear(&t);
    size = file_make(file, ONE("\"F32\"", "[0,7]", "[96,96]"));
    ck_assert_int_eq(read(&t, file, size, NULL, NULL), BITCUT_OK);
    ck_assert_uint_eq(t.array.count, 0);
    tensor_clear(&t);
}
END_TEST

START_TEST(refusals)
{
    static const struct {
        const char *header, *name, *fragment;
    } rows[] = {
        { "", NULL, "header: " },
        { "[]", NULL, "not a JSON object" },
        { "{", NULL, "header: " },
        { "{\"x\":1,\"x\":2}", NULL, "header: duplicate object key" },
        { "{} x", NULL, "header: end of file expected" },
        { "{}", NULL, "the file has no tensors" },
        { "{\"x\":1}", NULL, "no \"dtype\"" },
        { "{\"x\":{},\"y\":{}}", NULL,
          "several tensors; expected FILE:NAME, with a name "
          "such as: x, y" },
        { "{\"x\":{}}", "z",
          "no tensor of this name; expected FILE:NAME, with a name such "
          "as: x" },
        { "{\"__metadata__\":{}}", "__metadata__", "no tensor of this name" },
        { ONE("1", "[1]", "[0,4]"), NULL, "no \"dtype\"" },
        { ONE("\"F4\"", "[1]", "[0,4]"), NULL, "unsupported element type 'F4'" },
        { ONE("\"I64\"", "[1]", "[0,8]"), NULL, "unsupported element type 'I64'" },
        { ONE("\"F32\"", "1", "[0,4]"), NULL, "no \"shape\"" },
        { ONE("\"F32\"", "[1,1,1,1,1,1,1,1,1]", "[0,4]"), NULL,
          "more than 8 dimensions" },
        { ONE("\"F32\"", "[-1]", "[0,4]"), NULL, "a dimension is not a size" },
        { ONE("\"F32\"", "[1.0]", "[0,4]"), NULL, "a dimension is not a size" },
        { ONE("\"F32\"", "[4611686018427387904]", "[0,4]"), NULL, "address space" },
        { ONE("\"F32\"", "[0,9223372036854775807,9]", "[0,0]"), NULL, "address space" },
        { ONE("\"F32\"", "[1]", "[0]"), NULL, "no \"data_offsets\" of two sizes" },
        { ONE("\"F32\"", "[1]", "[-1,3]"), NULL, "no \"data_offsets\" of two sizes" },
        { ONE("\"F32\"", "[1]", "[4,0]"), NULL, "lie outside" },
        { ONE("\"F32\"", "[1]", "[96,100]"), NULL, "bytes 96 to 100 lie outside the 96" },
        { ONE("\"F32\"", "[1]", "[9223372036854775800,9223372036854775804]"), NULL,
          "lie outside" },
        { ONE("\"F32\"", "[3]", "[0,8]"), NULL,
          "the shape requires 12 bytes, but the tensor has 8" },
        { ONE("\"F32\"", "[1]", "[0,8]"), NULL,
          "the shape requires 4 bytes, but the tensor has 8" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned char file[FILE_MAX];
        struct tensor t = { .type = "unset" };
        struct fault f = { .text = "" };
        const size_t size = file_make(file, rows[i].header);
        ck_assert_msg(read(&t, file, size, rows[i].name, &f) == BITCUT_BAD_FILE,
                      "%s is read", rows[i].header);
        ck_assert_msg(strstr(f.text, rows[i].fragment) && !strchr(f.text, '\n'),
                      "%s: got '%s', want '%s'", rows[i].header, f.text,
                      rows[i].fragment);
        ck_assert_str_eq(t.type, "unset");
    }
}
END_TEST

START_TEST(lengths)
{
    static const struct {
        uint64_t length;
        size_t size;
        const char *fragment;
    } rows[] = { { 2, 7, "truncated" },
                 { 3, 10, "the header should have 3 bytes, but only 2 follow" },
                 { UINT64_MAX, 10, "should have 18446744073709551615 bytes" },
                 { 1 << 26 | 1, 16 + (1 << 26), "longer than 2^26" } };
    unsigned char *const file = calloc(1, 16 + (1 << 26));
    ck_assert(file != NULL);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tensor t;
        struct fault f = { .text = "" };
        for (int k = 0; k < 8; k++) file[k] = (unsigned char)(rows[i].length >> 8 * k);
        ck_assert_int_eq(read(&t, file, rows[i].size, NULL, &f), BITCUT_BAD_FILE);
        ck_assert_msg(strstr(f.text, rows[i].fragment), "row %zu: %s", i, f.text);
    }
    free(file);
}
END_TEST

START_TEST(changed)
{
    unsigned char file[FILE_MAX];
    uint64_t state = test_seed();
    const size_t size = file_make(
        file, "{\"__metadata__\":{\"a\":\"b\"},\"x\":{\"dtype\":\"F16\",\"shape\":"
              "[4,6],\"data_offsets\":[0,48]},\"y\":{\"dtype\":\"F8_E5M2\","
              "\"shape\":[6,8],\"data_offsets\":[48,96]}}");
    const int rounds = test_cases(20000, 1000000);
    int done = 0;
    for (int i = 0; i < rounds; i++) {
        struct tensor t;
        struct fault f = { .text = "" };
        size_t bytes;
        unsigned char *const other = mutation_make(&bytes, file, size, &state);
        if (bytes) {
            const enum bitcut_status status =
                read(&t, other, bytes, i % 2 ? "y" : "x", &f);
            if (status) mutation_refused(status, &f, "safetensors", i);
            else {
                ck_assert(t.array.count * (size_t)t.array.bytes < bytes);
                tensor_clear(&t);
                done++;
            }
        }
        free(other);
    }
    printf("# %d of %d changed files were read\n", done, rounds);
}
END_TEST

TEST_MAIN("safetensors", types, only_tensor, refusals, lengths, changed)
