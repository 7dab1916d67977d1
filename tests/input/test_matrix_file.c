/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices of every format from files of every kind.  tests/corpus/archive has files of
   NumPy 1.24 and PyTorch 1.13; float8.pt there, and tests/corpus/safetensors, were
   written by hand as PyTorch 2.1 and safetensors write them. */
#define _XOPEN_SOURCE 700

#include "lib/input/matrix_file.h"
#include "lib/io/npy.h"
#include "lib/number/round.h"
#include "tests/archive.h"
#include "tests/mutation.h"
#include "tests/scratch.h"

#include <errno.h>

static const struct matrix_request plain = { .format_option = "--format-a",
                                             .shape_option = "--shape-a" };

/* The matrix of most files: element (i, j) is 4 (i - 2) + j. */
static double value(size_t i, size_t j) { return 4 * ((double)i - 2) + (double)j; }

static const char *corpus(const char *name)
{
    static char path[4096];
    const char *const source = getenv("srcdir");
    snprintf(path, sizeof path, "%s/tests/corpus/%s", source ? source : ".", name);
    return path;
}

static const struct bitcut_format *format(int which)
{
    return which < 0 ? NULL : &formats[which];
}

/* --- the files of other programs -------------------------------------------------- */

static const struct sample {
    const char *name;
    int asked, found; /* formats; -1: none */
    double offset;    /* of all elements */
    size_t repeated;  /* rows that are the same; 0: 1 */
} samples[] = {
    { "archive/two.npz:a", -1, FORMAT_F32, 0, 0 },
    { "archive/two.npz:b", -1, FORMAT_F16, 0, 0 }, /* in Fortran order */
    { "archive/two.npz:b.npy", -1, FORMAT_F16, 0, 0 },
    { "archive/two.npz:a", FORMAT_BF16, FORMAT_BF16, 0, 0 },
    { "archive/deflated.npz", -1, FORMAT_F32, 0, 40 },
    { "archive/deflated.npz:a", FORMAT_E4M3, FORMAT_E4M3, 0, 40 },
    { "archive/tensor.pt", -1, FORMAT_F32, 0, 0 },
    { "archive/state.pt", -1, FORMAT_BF16, 0, 0 },
    { "archive/state.pt:w", FORMAT_F32, FORMAT_F32, 0, 0 },
    { "archive/float8.pt", -1, FORMAT_E4M3, 0, 0 },
    { "archive/dict.pt:transposed", -1, FORMAT_F32, 0, 0 },
    { "archive/dict.pt:part", -1, FORMAT_F32, 0, 0 },
    { "archive/dict.pt:double", -1, FORMAT_F32, 0, 0 },
    { "archive/dict.pt:double", FORMAT_F64, FORMAT_F64, 0, 0 },
    { "archive/dict.pt:half", -1, FORMAT_F16, 0, 0 },
    { "archive/dict.pt:int8", -1, FORMAT_S8, 0, 0 },
    { "archive/dict.pt:int", -1, FORMAT_S32, 0, 0 },
    { "archive/dict.pt:int", FORMAT_S8, FORMAT_S8, 0, 0 },
    { "archive/dict.pt:byte", FORMAT_S8, FORMAT_S8, 8, 0 },
    { "archive/dict.pt:byte", -1, FORMAT_U8, 8, 0 },
    { "archive/dict.pt:param", -1, FORMAT_F32, 0, 0 },
    { "archive/dict.pt:deep/x", -1, FORMAT_F32, 0, 0 },
    { "safetensors/one.safetensors", -1, FORMAT_F32, 0, 0 },
    { "safetensors/types.safetensors:f32", -1, FORMAT_F32, 0, 0 },
    { "safetensors/types.safetensors:f16", -1, FORMAT_F16, 0, 0 },
    { "safetensors/types.safetensors:bf16", -1, FORMAT_BF16, 0, 0 },
    { "safetensors/types.safetensors:e4m3", -1, FORMAT_E4M3, 0, 0 },
    { "safetensors/types.safetensors:f64", -1, FORMAT_F32, 0, 0 },
    { "safetensors/types.safetensors:i8", -1, FORMAT_S8, 0, 0 },
    { "safetensors/types.safetensors:i32", -1, FORMAT_S32, 0, 0 },
    { "safetensors/types.safetensors:u8", -1, FORMAT_U8, 8, 0 },
};

static uint64_t encoding(const struct encoded_matrix *m, size_t i)
{
    switch (format_bytes(m->format)) {
    case 1: return ((const uint8_t *)m->at)[i];
    case 2: return ((const uint16_t *)m->at)[i];
    case 4: return ((const uint32_t *)m->at)[i];
    default: return ((const uint64_t *)m->at)[i];
    }
}

START_TEST(other_programs)
{
    for (size_t s = 0; s < sizeof samples / sizeof samples[0]; s++) {
        const struct sample *const x = &samples[s];
        struct matrix_request r = plain;
        struct encoded_matrix m;
        struct matrix f32;
        struct fault f = { .text = "" };
        const size_t same = x->repeated ? x->repeated : 1;
        r.format = format(x->asked);
        ck_assert_msg(!matrix_file_read(&m, corpus(x->name), &r, &f), "%s: %s", x->name,
                      f.text);
        ck_assert_msg(m.format == format(x->found), "%s is %s", x->name, m.format->name);
        ck_assert(m.rows == 6 * same && m.cols == 4);
        ck_assert_ptr_eq(encoded_view(&m).format, m.format);
        for (size_t i = 0; i < m.rows * m.cols; i++) {
            const double want = value(i / 4 / same, i % 4) + x->offset;
            ck_assert_msg(format_to_double(m.format, encoding(&m, i)) == want,
                          "%s, element %zu: %#" PRIx64 ", want %g", x->name, i,
                          encoding(&m, i), want);
        }
        ck_assert_int_eq(encoded_f32(&f32, &m, &f), BITCUT_OK);
        ck_assert_ptr_eq(f32.format, x->found == FORMAT_F32 ? NULL : format(x->found));
        const uint64_t last = f32.at[f32.rows * 4 - 1];
        ck_assert(format_to_double(&formats[FORMAT_F32], last) ==
                  value(5, 3) + x->offset);
        matrix_clear(&f32);
    }
}
END_TEST

START_TEST(refused_files)
{
    static const struct {
        const char *name, *fragment;
    } rows[] = {
        { "archive/two.npz",
          "several arrays; expected FILE:NAME, with a name such as: a, b" },
        { "archive/two.npz:c", "no array of this name" },
        { "archive/two.npz:", "no array of this name" },
        { "archive/deflated.npz:../a", "no array of this name" },
        { "archive/dict.pt", "several tensors or none" },
        { "archive/dict.pt:epoch", "no tensor of this name" },
        { "archive/dict.pt:long", "unsupported element type 'LongStorage'" },
        { "archive/tensor.pt:a", "one tensor without a name" },
        { "archive/expanded.pt", "more elements than its storage" },
        { "archive/module.pt", "torch.nn.modules.linear.Linear is not read" },
        { "safetensors/types.safetensors", "several tensors" },
        { "mtx/array.mtx:a", "the file has no members; omit ':a'" },
        { "npy/f4.npy:a", "the file has no members; omit ':a'" },
        { "npy/f8-scalar.npy", "expected a 2-D array, found 0-D" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct encoded_matrix m = { .rows = 99 };
        struct fault f = { .text = "" };
        ck_assert_msg(matrix_file_read(&m, corpus(rows[i].name), &plain, &f) != BITCUT_OK,
                      "%s is read", rows[i].name);
        ck_assert_msg(strstr(f.text, rows[i].fragment), "%s: %s", rows[i].name, f.text);
        ck_assert_uint_eq(m.rows, 99);
    }
}
END_TEST

/* --- formats ---------------------------------------------------------------------- */

/* A .npy file of 1 x `count` elements of a type, whose bytes are in `data`. */
static size_t npy_make(unsigned char *to, const char *type, size_t count,
                       const void *data, size_t bytes)
{
    const int length = snprintf(
        (char *)to + 10, 200,
        "{'descr': '%s', 'fortran_order': False, 'shape': (1, %zu)}", type, count);
    memcpy(to, "\x93NUMPY\x01\0", 8);
    to[8] = (unsigned char)length, to[9] = 0;
    memcpy(to + 10 + length, data, bytes);
    return 10 + (size_t)length + bytes;
}

/* Elements of type `type` with an option: the format and encoding of the result, or the
   message.  All values here are little-endian. */
static const struct formatted {
    const char *type;
    int bytes;
    uint64_t element;
    int asked, found;
    uint64_t encoding;
    const char *message;
} formatted[] = {
    { "<u2", 2, 0x3fc0, FORMAT_BF16, FORMAT_BF16, 0x3fc0, NULL },
    { "<V2", 2, 0x3fc0, FORMAT_BF16, FORMAT_BF16, 0x3fc0, NULL },
    { "|V2", 2, 0x3fc0, FORMAT_BF16, FORMAT_BF16, 0x3fc0, NULL },
    { ">u2", 2, 0xc03f, FORMAT_BF16, FORMAT_BF16, 0x3fc0, NULL },
    { "<u2", 2, 0x3e00, FORMAT_F16, FORMAT_F16, 0x3e00, NULL },
    { "|V1", 1, 0x38, FORMAT_E4M3, FORMAT_E4M3, 0x38, NULL },
    { "|u1", 1, 0x0f, FORMAT_E2M1, FORMAT_E2M1, 0x0f, NULL },
    { "<u4", 4, 1, FORMAT_F32, FORMAT_F32, 1, NULL },
    { "bfloat16", 2, 0x3fc0, -1, FORMAT_BF16, 0x3fc0, NULL },
    { "<f1", 1, 0x3c, -1, FORMAT_E5M2, 0x3c, NULL },
    { "|i1", 1, 0x80, -1, FORMAT_S8, 0x80, NULL },
    { "|u1", 1, 0xff, -1, FORMAT_U8, 0xff, NULL },
    { "|u1", 1, 0x80, FORMAT_S8, FORMAT_S8, 0x80, NULL },
    { "<i2", 2, 0x8000, -1, FORMAT_S16, 0x8000, NULL },
    { "<i4", 4, 0xff, FORMAT_U8, FORMAT_U8, 0xff, NULL },
    { "|i1", 1, 0x80, FORMAT_F16, FORMAT_F16, 0xd800, NULL },
    { "<f4", 4, 0x3fc00000, FORMAT_BF16, FORMAT_BF16, 0x3fc0, NULL },
    { "<f4", 4, 0x3fc00000, FORMAT_F16, FORMAT_F16, 0x3e00, NULL },
    { "<f4", 4, 0x7f800000, FORMAT_F16, FORMAT_F16, 0x7c00, NULL },
    { "<f4", 4, 0x7fffffff, FORMAT_F16, FORMAT_F16, 0x7e00, NULL },
    { "<f4", 4, 0x80000000, FORMAT_E4M3, FORMAT_E4M3, 0x80, NULL },
    { "<f4", 4, 0xc3000000, FORMAT_S8, FORMAT_S8, 0x80, NULL },
    { "<f2", 2, 0x3e00, FORMAT_F32, FORMAT_F32, 0x3fc00000, NULL },
    { "<f8", 8, 0x3ff8000000000000, -1, FORMAT_F32, 0x3fc00000, NULL },
    { "<f8", 8, 0x3ff8000000000001, FORMAT_F64, FORMAT_F64, 0x3ff8000000000001, NULL },
    { "<u2", 2, 1, -1, 0, 0,
      "elements of type u2: a matrix takes f4, f2 or f8; convert numbers "
      "(NumPy: astype('f4')), or give --format-a if they are encodings" },
    { "<u4", 4, 1, -1, 0, 0, "or give --format-a if they are encodings" },
    { "<V2", 2, 1, -1, 0, 0,
      "elements of type V2 have no format; give --format-a, such as bf16" },
    { "|V1", 1, 1, -1, 0, 0, "such as e4m3 for float8_e4m3fn of ml_dtypes" },
    { "<u2", 2, 1, FORMAT_E4M3, 0, 0,
      "type u2 have 2 bytes, but an encoding of e4m3 has 1" },
    { "|u1", 1, 0x10, FORMAT_E2M1, 0, 0,
      "element [0, 0], 0x10, is not an encoding of e2m1" },
    { "<f4", 4, 0x3fc00001, FORMAT_BF16, 0, 0,
      "is not a value of bf16; --format-a must name" },
    { "<f4", 4, 0x47800000, FORMAT_F16, 0, 0,
      "element [0, 0], 65536, is not a value of f16" },
    { "<f4", 4, 0x7f800000, FORMAT_E4M3, 0, 0, "inf, is not a value of e4m3" },
    { "<f4", 4, 0x80000000, FORMAT_S8, 0, 0, "-0, is not a value of s8" },
    { "<f4", 4, 0x43000000, FORMAT_S8, 0, 0, "128, is not a value of s8" },
    { "|i1", 1, 0xff, FORMAT_U8, 0, 0, "-1, is not a value of u8" },
    { "<i4", 4, 0x100, FORMAT_U8, 0, 0, "256, is not a value of u8" },
    { "<f8", 8, 0x3ff8000000000001, -1, 0, 0,
      "element [0, 0] is not an FP32 value; convert the "
      "array to f4 (NumPy: astype('f4'))" },
    { "<c8", 8, 0, -1, 0, 0, "complex numbers" },
};

START_TEST(every_format)
{
    const struct scratch s = scratch_make();
    for (size_t i = 0; i < sizeof formatted / sizeof formatted[0]; i++) {
        const struct formatted *const x = &formatted[i];
        unsigned char file[300], data[8];
        struct matrix_request r = plain;
        struct encoded_matrix m = { .rows = 99 };
        struct fault f = { .text = "" };
        for (int k = 0; k < 8; k++) data[k] = (unsigned char)(x->element >> 8 * k);
        scratch_write(s.path, file, npy_make(file, x->type, 1, data, (size_t)x->bytes));
        r.format = format(x->asked);
        const enum bitcut_status status = matrix_file_read(&m, s.path, &r, &f);
        if (x->message) {
            ck_assert_int_eq(status, BITCUT_BAD_FILE);
            ck_assert_msg(strstr(f.text, x->message), "%s: %s", x->type, f.text);
            ck_assert_uint_eq(m.rows, 99);
            continue;
        }
        ck_assert_msg(!status, "%s, row %zu: %s", x->type, i, f.text);
        ck_assert_msg(m.format == format(x->found) && encoding(&m, 0) == x->encoding,
                      "%s, row %zu: %s %#" PRIx64, x->type, i, m.format->name,
                      encoding(&m, 0));
        encoded_clear(&m);
    }
    scratch_remove(&s);
}
END_TEST

/* The message names the first element that is no value of the format. */
START_TEST(first_element)
{
    const struct scratch s = scratch_make();
    struct matrix_request r = plain;
    struct encoded_matrix m;
    struct fault f = { .text = "" };
    struct array a;
    const size_t dim[] = { 5, 70 };
    r.format = &formats[FORMAT_BF16];
    ck_assert(!array_init(&a, 2, dim, 4, true, NULL));
    for (size_t i = 0; i < a.count; i++)
        array_set(&a, i, i >= 2 * 70 + 33 ? 0x3f800001 : 0x3f800000);
    ck_assert(!npy_write(s.path, &a, NULL));
    ck_assert_int_eq(matrix_file_read(&m, s.path, &r, &f), BITCUT_BAD_FILE);
    ck_assert_msg(strstr(f.text, "element [2, 33], 1.00000012,"), "%s", f.text);
    array_clear(&a);
    scratch_remove(&s);
}
END_TEST

/* What encoded_write() writes is read as the same encodings, for every format. */
START_TEST(round_trips)
{
    const struct scratch s = scratch_make();
    uint64_t state = test_seed();
    for (const struct bitcut_format *x = formats; x->name; x++) {
        char path[80];
        struct matrix_request r = plain;
        struct encoded_matrix m, back;
        struct fault f = { .text = "" };
        ck_assert(!encoded_init(&m, 9, 7, x, NULL));
        for (size_t i = 0; i < 63; i++) {
            const uint64_t bits = test_bits(&state) >> (64 - x->bits) >> x->pad << x->pad;
            switch (format_bytes(x)) {
            case 1: ((uint8_t *)m.at)[i] = (uint8_t)bits; break;
            case 2: ((uint16_t *)m.at)[i] = (uint16_t)bits; break;
            case 4: ((uint32_t *)m.at)[i] = (uint32_t)bits; break;
            default: ((uint64_t *)m.at)[i] = bits;
            }
            if (format_decode(x, bits).kind == NUMBER_NAN) i--; /* another one */
        }
        snprintf(path, sizeof path, "%s/m.npy", s.folder);
        ck_assert(!encoded_write(path, &m, &f));
        r.format = x;
        ck_assert_msg(!matrix_file_read(&back, path, &r, &f), "%s: %s", x->name, f.text);
        ck_assert(back.rows == 9 && back.cols == 7 && back.format == x);
        ck_assert_msg(!memcmp(m.at, back.at, 63 * (size_t)format_bytes(x)), "%s",
                      x->name);
        encoded_clear(&back);
        snprintf(path, sizeof path, "%s/m.mtx", s.folder);
        const bool fits = format_holds(&formats[FORMAT_F32], x);
        const enum bitcut_status status = encoded_write(path, &m, &f);
        if (fits) {
            ck_assert_msg(!status && !matrix_file_read(&back, path, &r, &f), "%s: %s",
                          x->name, f.text);
            ck_assert_msg(!memcmp(m.at, back.at, 63 * (size_t)format_bytes(x)), "%s",
                          x->name);
            encoded_clear(&back);
        } else ck_assert_int_eq(status, BITCUT_BAD_ARGUMENT);
        encoded_clear(&m);
    }
    scratch_remove(&s);
}
END_TEST

/* --- raw files and names ---------------------------------------------------------- */

START_TEST(raw_files)
{
    const struct scratch s = scratch_make();
    const unsigned char bytes[] = { 0x80, 0x3f, 0, 0xc0, 1, 0, 2, 0, 3, 0, 4, 0 };
    struct matrix_request r = plain;
    struct encoded_matrix m;
    struct fault f = { .text = "" };
    scratch_write(s.path, bytes, sizeof bytes);
    ck_assert_int_eq(matrix_file_read(&m, s.path, &r, &f), BITCUT_BAD_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(f.text, "unknown kind of matrix file"));
    r.has_shape = true;
    r.dims = 2, r.dim[0] = 2, r.dim[1] = 3;
    ck_assert_int_eq(matrix_file_read(&m, s.path, &r, &f), BITCUT_BAD_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(f.text, "--shape-a requires --format-a"));
    r.format = &formats[FORMAT_BF16];
    ck_assert_int_eq(matrix_file_read(&m, s.path, &r, &f), BITCUT_OK);
    ck_assert(m.rows == 2 && m.cols == 3 && m.format == r.format);
    ck_assert_uint_eq(encoding(&m, 0), 0x3f80);
    ck_assert_uint_eq(encoding(&m, 1), 0xc000);
    encoded_clear(&m);
    static const struct {
        size_t rows, cols;
    } wrong[] = {
        { 2, 2 }, { 3, 3 }, { 0, 0 }, { SIZE_MAX, SIZE_MAX }, { SIZE_MAX / 2, 2 }
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        r.dim[0] = wrong[i].rows, r.dim[1] = wrong[i].cols;
        ck_assert_int_eq(matrix_file_read(&m, s.path, &r, &f), BITCUT_BAD_FILE);
        ck_assert_ptr_nonnull(strstr(f.text, "do not make the 12 bytes"));
    }
    r.dim[0] = 6, r.dim[1] = 4;
    ck_assert_int_eq(matrix_file_read(&m, corpus("archive/tensor.pt"), &r, &f),
                     BITCUT_BAD_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(f.text, "a shape of its own; omit --shape-a"));
    scratch_remove(&s);
}
END_TEST

/* The first bytes decide, whatever the name; a name with ':' may be that of a file. */
START_TEST(names)
{
    const struct scratch s = scratch_make();
    static const char *const kinds[] = { "archive/tensor.pt", "npy/f4.npy",
                                         "mtx/array.mtx", "safetensors/one.safetensors" };
    char path[100];
    struct encoded_matrix m;
    struct fault f = { .text = "" };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t size;
        unsigned char *const bytes = scratch_read(corpus(kinds[i]), &size);
        snprintf(path, sizeof path, "%s/a.npz:b", s.folder);
        scratch_write(path, bytes, size);
        ck_assert_msg(!matrix_file_read(&m, path, &plain, &f), "%s: %s", kinds[i],
                      f.text);
        encoded_clear(&m);
        free(bytes);
    }
    ck_assert_int_eq(matrix_file_read(&m, "", &plain, &f), BITCUT_UNSUPPORTED);
    ck_assert_int_eq(matrix_file_read(&m, ":", &plain, &f), BITCUT_UNSUPPORTED);
    ck_assert_int_eq(matrix_file_read(&m, "nowhere.npz:a", &plain, &f),
                     BITCUT_UNSUPPORTED);
    ck_assert_str_eq(f.text, strerror(ENOENT));
    ck_assert_int_eq(matrix_file_read(&m, s.folder, &plain, &f), BITCUT_UNSUPPORTED);
    scratch_write(s.path, "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.",
                  15);
    ck_assert_int_eq(matrix_file_read(&m, s.path, &plain, &f), BITCUT_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(f.text, "before version 1.6"));
    scratch_write(s.path, "", 0);
    ck_assert_int_eq(matrix_file_read(&m, s.path, &plain, &f), BITCUT_BAD_ARGUMENT);
    snprintf(path, sizeof path, "%s/x.bin", s.folder);
    scratch_write(path, "1234", 4);
    ck_assert_int_eq(matrix_file_read(&m, path, &plain, &f), BITCUT_BAD_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(f.text, "give --shape-a ROWSxCOLUMNS and --format-a"));
    scratch_remove(&s);
}
END_TEST

/* --- PyTorch archives with other members than they should have -------------------- */

static const char tensor_pickle[] =
    "\x80\x02"
    "ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\nFloatStorage\n"
    "X\x01\0\0\0"
    "0X\x03\0\0\0cpuK\x18tQK\0K\x06K\x04\x86K\x04K\x01\x86\x89"
    "ccollections\nOrderedDict\n)RtR.";

/* Places in that pickle: the offset, the sizes and strides, and the number of elements.
 */
enum { AT_COUNT = 84, AT_OFFSET = 88, AT_ROWS = 90, AT_STRIDE = 95 };

START_TEST(torch_archives)
{
    static const struct {
        int at, to; /* a byte of the pickle; 0: none */
        const char *order, *storage;
        size_t size;
        const char *message; /* NULL: read */
    } rows[] = {
        { 0, 0, "little", "t/data/0", 96, NULL },
        { 0, 0, NULL, "t/data/0", 96, NULL },
        { 0, 0, "big", "t/data/0", 96, "unsupported byte order" },
        { 0, 0, "", "t/data/0", 96, "unsupported byte order" },
        { 0, 0, "little", "t/data/1", 96, "'t/data/0': not in the file" },
        { 0, 0, "little", "data/0", 96, "'t/data/0': not in the file" },
        { 0, 0, "little", "t/data/0", 92, "should have 96 bytes, but its member has 92" },
        { AT_COUNT, 23, "little", "t/data/0", 92, "more elements than its storage" },
        { AT_OFFSET, 1, "little", "t/data/0", 96, "lies outside its storage" },
        { AT_STRIDE, 5, "little", "t/data/0", 96, "lies outside its storage" },
        { AT_STRIDE, 0xff, "little", "t/data/0", 96, "lies outside its storage" },
        { AT_STRIDE, 3, "little", "t/data/0", 96, NULL },
        { AT_ROWS, 7, "little", "t/data/0", 96, "more elements than its storage" },
        { AT_ROWS, 5, "little", "t/data/0", 96, NULL },
        { AT_ROWS, 0, "little", "t/data/0", 96, NULL },
        { AT_ROWS, 0, "little", "t/data/9", 96, NULL },
    };
    const struct scratch s = scratch_make();
    float data[24];
    for (int i = 0; i < 24; i++) data[i] = (float)i;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct archive *const a = archive_make(false);
        struct encoded_matrix m;
        struct fault f = { .text = "" };
        char pickle[sizeof tensor_pickle - 1];
        memcpy(pickle, tensor_pickle, sizeof pickle);
        if (rows[i].at) pickle[rows[i].at] = (char)rows[i].to;
        archive_add(a, "t/data.pkl", pickle, sizeof pickle, i % 2);
        if (rows[i].order)
            archive_add(a, "t/byteorder", rows[i].order, strlen(rows[i].order), false);
        archive_add(a, rows[i].storage, data, rows[i].size, i % 2);
        archive_end(a, "");
        scratch_write(s.path, a->bytes, a->size);
        const enum bitcut_status status = matrix_file_read(&m, s.path, &plain, &f);
        free(a);
        if (rows[i].message) {
            ck_assert_msg(status == BITCUT_BAD_FILE && strstr(f.text, rows[i].message),
                          "row %zu: %s", i, f.text);
            continue;
        }
        ck_assert_msg(!status, "row %zu: %s", i, f.text);
        const size_t stride = rows[i].at == AT_STRIDE ? (size_t)rows[i].to : 4;
        for (size_t k = 0; k < m.rows * m.cols; k++)
            ck_assert(format_to_double(m.format, encoding(&m, k)) ==
                      (double)(k / 4 * stride + k % 4));
        encoded_clear(&m);
    }
    scratch_remove(&s);
}
END_TEST

/* --- changed files ---------------------------------------------------------------- */

START_TEST(changed)
{
    const struct scratch s = scratch_make();
    uint64_t state = test_seed();
    const int rounds = test_cases(1500, 300000),
              count = sizeof samples / sizeof samples[0];
    int read = 0;
    for (int i = 0; i < rounds; i++) {
        const struct sample *const x = &samples[i % count];
        char name[100], member[140];
        struct matrix_request r = plain;
        struct encoded_matrix m;
        struct fault f = { .text = "" };
        size_t size, bytes;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(x->name, ":"), x->name);
        unsigned char *const from = scratch_read(corpus(name), &size), *const to =
                                                                           mutation_make(
                                                                               &bytes,
                                                                               from, size,
                                                                               &state);
        scratch_write(s.path, to, bytes);
        snprintf(member, sizeof member, "%s%s", s.path, x->name + strlen(name));
        r.format = format(x->asked);
        const enum bitcut_status status = matrix_file_read(&m, member, &r, &f);
        if (status) mutation_refused(status, &f, x->name, i);
        else encoded_clear(&m);
        read += status == BITCUT_OK;
        free(from);
        free(to);
    }
    printf("# %d of %d changed files were read\n", read, rounds);
    scratch_remove(&s);
}
END_TEST

TEST_MAIN("matrix_file", other_programs, refused_files, every_format, first_element,
          round_trips, raw_files, names, torch_archives, changed)
