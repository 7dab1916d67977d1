/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults, and the memory of matrices and arrays. */
#include "lib/base/status.h"
#include "lib/gemm/matrix.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

/* Under AddressSanitizer too, an allocation that is too large is to fail. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }

START_TEST(status_texts)
{
    for (int i = BITCUT_OK; i <= BITCUT_NO_MEMORY; i++) {
        const char *text = bitcut_status_text((enum bitcut_status)i);
        ck_assert_msg(text && *text, "status %d has no text", i);
        for (int j = 0; j < i; j++)
            ck_assert_str_ne(text, bitcut_status_text((enum bitcut_status)j));
    }
    ck_assert_str_eq(bitcut_status_text((enum bitcut_status)99), "unknown status");
}
END_TEST

START_TEST(fault_texts)
{
    struct fault f = { .status = BITCUT_OK, .text = "" };
    ck_assert_int_eq(fault_set(NULL, BITCUT_UNSUPPORTED, "x"), BITCUT_UNSUPPORTED);
    ck_assert_int_eq(fault_set(&f, BITCUT_BAD_FILE, "row %d", 7), BITCUT_BAD_FILE);
    ck_assert_int_eq(f.status, BITCUT_BAD_FILE);
    ck_assert_str_eq(f.text, "row 7");
    fault_set(&f, BITCUT_BAD_FILE, "'%s'", "a\nb\tc\x1b[1m\x7f \xc3\xa9 \xc2\x9b \x9b");
    ck_assert_str_eq(f.text, "'a?b?c?[1m? \xc3\xa9 ? ?'");
}
END_TEST

START_TEST(fault_text_is_cut)
{
    struct fault f;
    char text[2 * sizeof f.text];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    fault_set(&f, BITCUT_UNSUPPORTED, "%s", text);
    ck_assert_uint_eq(strlen(f.text), sizeof f.text - 1);
    ck_assert_int_eq(strncmp(f.text, text, sizeof f.text - 1), 0);
    for (size_t at = sizeof f.text - 4; at < sizeof f.text; at++) {
        text[at] = 0; /* a character of three bytes begins here */
        fault_set(&f, BITCUT_UNSUPPORTED, "%s\xe2\x82\xac", text);
        text[at] = 'x';
        ck_assert_uint_eq(strlen(f.text), at + 3 < sizeof f.text ? at + 3 : at);
        ck_assert_ptr_null(strchr(f.text, '?'));
    }
}
END_TEST

START_TEST(products)
{
    static const struct {
        size_t a, b, product;
        bool fits;
    } rows[] = {
        { 0, 0, 0, true },
        { 0, SIZE_MAX, 0, true },
        { SIZE_MAX, 0, 0, true },
        { SIZE_MAX, 1, SIZE_MAX, true },
        { 1, SIZE_MAX, SIZE_MAX, true },
        { SIZE_MAX / 2, 2, SIZE_MAX - 1, true },
        { SIZE_MAX / 2 + 1, 2, 0, false },
        { 2, SIZE_MAX / 2 + 1, 0, false },
        { SIZE_MAX, SIZE_MAX, 0, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t product = 12345;
        const bool fits = size_multiply(&product, rows[i].a, rows[i].b);
        const size_t want = rows[i].fits ? rows[i].product : 12345;
        ck_assert_msg(fits == rows[i].fits && product == want,
                      "%zu * %zu: got %d %zu, want %d %zu", rows[i].a, rows[i].b, fits,
                      product, rows[i].fits, want);
    }
}
END_TEST

START_TEST(places)
{
    static const char at[1];
    static const struct {
        const void *at;
        size_t rows, cols, ld, size;
        bool holds;
    } rows[] = {
        { NULL, 0, SIZE_MAX, SIZE_MAX, 8, true },
        { NULL, SIZE_MAX, 0, 0, 8, true },
        { NULL, 1, 1, 1, 1, false },
        { at, 1, 1, 0, 1, false },
        { at, 1, SIZE_MAX, SIZE_MAX, 1, true },
        { at, 1, SIZE_MAX / 4, SIZE_MAX, 4, true },
        { at, 1, SIZE_MAX / 4 + 1, SIZE_MAX, 4, false },
        { at, 2, 1, SIZE_MAX - 1, 1, true },
        { at, 2, 1, SIZE_MAX, 1, false },
        { at, SIZE_MAX, SIZE_MAX, SIZE_MAX, 1, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_msg(memory_holds(rows[i].at, rows[i].rows, rows[i].cols, rows[i].ld,
                                   rows[i].size) == rows[i].holds,
                      "row %zu", i);
}
END_TEST

START_TEST(allocations)
{
    ck_assert_ptr_null(memory_allocate(SIZE_MAX / 2, 4));
    ck_assert_ptr_null(memory_allocate(SIZE_MAX / 8, 4));
    void *none = memory_allocate(0, 4), *some = memory_allocate(3, 4);
    ck_assert_ptr_nonnull(none);
    ck_assert_ptr_nonnull(some);
    memset(some, 1, 12);
    free(none);
    free(some);
}
END_TEST

START_TEST(matrices)
{
    struct matrix m = { .rows = 7, .cols = 8 };
    struct fault f;
    ck_assert_int_eq(matrix_init(&m, SIZE_MAX, 2, &f), BITCUT_NO_MEMORY);
    ck_assert_int_eq(matrix_init(&m, SIZE_MAX / 16, 2, &f), BITCUT_NO_MEMORY);
    ck_assert(m.rows == 7 && m.cols == 8 && !m.at);
    ck_assert_ptr_nonnull(strstr(f.text, "not enough memory"));
    ck_assert_int_eq(matrix_init(&m, 3, 5, &f), BITCUT_OK);
    ck_assert(m.rows == 3 && m.cols == 5 && m.at);
    memset(m.at, 1, 15 * sizeof *m.at);
    matrix_clear(&m);
    ck_assert(m.rows == 0 && m.cols == 0 && !m.at);
    ck_assert_int_eq(matrix_init(&m, 0, 5, &f), BITCUT_OK);
    matrix_clear(&m);
}
END_TEST

START_TEST(array_counts)
{
    static const struct {
        int dims;
        size_t dim[3], count;
        enum bitcut_status status;
    } rows[] = {
        { 0, { 0 }, 1, BITCUT_OK },
        { 1, { 0 }, 0, BITCUT_OK },
        { 1, { 9 }, 9, BITCUT_OK },
        { 3, { 2, 3, 4 }, 24, BITCUT_OK },
        { 3, { 2, 0, 4 }, 0, BITCUT_OK },
        { 2, { SIZE_MAX, 2 }, 0, BITCUT_NO_MEMORY },
        { 3, { SIZE_MAX, 2, 0 }, 0, BITCUT_NO_MEMORY },
        { 3, { 0, SIZE_MAX, 2 }, 0, BITCUT_NO_MEMORY },
        { 1, { SIZE_MAX / 4 }, 0, BITCUT_NO_MEMORY },
        { 2, { 0, SIZE_MAX / 4 }, 0, BITCUT_NO_MEMORY },
        { 1, { SIZE_MAX / 16 }, 0, BITCUT_NO_MEMORY },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct array a = { .dims = 99 };
        const enum bitcut_status status =
            array_init(&a, rows[i].dims, rows[i].dim, 8, false, NULL);
        ck_assert_msg(status == rows[i].status, "row %zu: status %d", i, status);
        if (status) {
            ck_assert_int_eq(a.dims, 99);
            continue;
        }
        ck_assert(a.dims == rows[i].dims && a.count == rows[i].count && a.data);
        ck_assert_int_eq(memcmp(a.dim, rows[i].dim, (size_t)a.dims * sizeof *a.dim), 0);
        for (size_t k = 0; k < a.count; k++) ck_assert_uint_eq(array_get(&a, k), 0);
        array_clear(&a);
        ck_assert(a.dims == 0 && !a.data);
    }
}
END_TEST

/* Every width keeps its low bits and no element touches another. */
START_TEST(array_elements)
{
    uint64_t state = test_seed();
    const size_t dim = 50;
    for (int bytes = 1; bytes <= 8; bytes *= 2) {
        const uint64_t mask = UINT64_MAX >> (64 - 8 * bytes);
        uint64_t want[50];
        struct array a;
        ck_assert_int_eq(array_init(&a, 1, &dim, bytes, bytes > 1, NULL), BITCUT_OK);
        ck_assert(a.bytes == bytes && a.floating == (bytes > 1));
        for (size_t i = 0; i < dim; i++)
            array_set(&a, i, want[i] = test_bits(&state));
        for (size_t i = 0; i < dim; i++)
            ck_assert_msg(array_get(&a, i) == (want[i] & mask),
                          "%d bytes, element %zu: got %#" PRIx64 ", want %#" PRIx64,
                          bytes, i, array_get(&a, i), want[i] & mask);
        array_clear(&a);
    }
}
END_TEST

TEST_MAIN("status", status_texts, fault_texts, fault_text_is_cut, products, places,
          allocations, matrices, array_counts, array_elements)
