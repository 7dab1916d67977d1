/* SPDX-License-Identifier: BSD-3-Clause */
/* The approximate functions against results of an NVIDIA H200 (data/mufu): samples of all
   functions, and digests of blocks of arguments, with BITCUT_LONG of all arguments.
   Their errors, by MPFR, are within those that the manual states.  BITCUT_DATA names the
   data folder. */
#include "emu/mufu.h"
#include "emu/mufu_polynomial.h"

#include "lib/io/npy.h"
#include "lib/number/bits.h"
#include "tests/test.h"

#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLE_BITS = 12,
    SAMPLES = 1 << SAMPLE_BITS,
    SHORT = 1 << 16,
    FUNCTIONS = 25,
    BLOCKS = 256, /* of each function of 32 bits */
    BLOCKS_MAX = FUNCTIONS * BLOCKS,
    NAME_SIZE = 40
};

/* A line of digests.tsv. */
struct block {
    char name[NAME_SIZE];
    uint32_t first, count;
    uint64_t digest;
};

static struct block blocks[BLOCKS_MAX];
static int block_count;

static void path_of(char path[4096], const char *file)
{
    const char *const data = getenv("BITCUT_DATA");
    snprintf(path, 4096, "%s/mufu/%s", data ? data : "data", file);
}

static void read_blocks(void)
{
    char path[4096], line[256];
    path_of(path, "digests.tsv");
    FILE *const file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s", path);
    while (fgets(line, sizeof line, file)) {
        struct block *const b = &blocks[block_count];
        if (line[0] == '#') continue;
        ck_assert_int_lt(block_count++, BLOCKS_MAX);
        ck_assert_int_eq(4, sscanf(line, "%39s %" SCNx32 " %" SCNu32 " %" SCNx64, b->name,
                                   &b->first, &b->count, &b->digest));
    }
    fclose(file);
}

/* The output function of SplitMix64. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* A name of digests.tsv: a row of the table, or the instruction for pairs of its values.
 */
struct recorded {
    const struct bitcut_function *row;
    bool pairs;
    uint16_t of_half[SHORT]; /* the results of the row, for pairs */
};

static void find_recorded(struct recorded *r, const char *name)
{
    char single[NAME_SIZE];
    const size_t length = strlen(name);
    snprintf(single, sizeof single, "%s", name);
    r->pairs = length > 2 && !strcmp(name + length - 2, "x2");
    if (r->pairs) single[length - 2] = 0;
    r->row = bitcut_function_find(single);
    ck_assert_msg(r->row != NULL, "no function %s", single);
    for (uint32_t x = 0; r->pairs && x < SHORT; x++)
        r->of_half[x] = (uint16_t)mufu(r->row, x);
}

/* The result for an argument of 32 bits, as mufu.cu records it. */
static uint32_t result(const struct recorded *r, uint32_t x)
{
    if (r->pairs) return (uint32_t)r->of_half[x >> 16] << 16 | r->of_half[x & 0xffff];
    if (r->row->format->bits == 64)
        return (uint32_t)(mufu(r->row, (uint64_t)x << 32) >> 32);
    return (uint32_t)mufu(r->row, x);
}

static uint64_t digest_of(const struct recorded *r, const struct block *b)
{
    uint64_t digest = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        const uint32_t x = b->first + i;
        digest += mix((uint64_t)x << 32 | result(r, x));
    }
    return digest;
}

/* Compare `count` blocks of a function. */
static void check_blocks(const struct recorded *r, const struct block *b, int count)
{
    uint64_t digest[BLOCKS];
    ck_assert_int_le(count, BLOCKS);
#pragma omp parallel for schedule(dynamic)
    for (int j = 0; j < count; j++) digest[j] = digest_of(r, &b[j]);
    for (int j = 0; j < count; j++)
        ck_assert_msg(digest[j] == b[j].digest,
                      "%s, %" PRIu32 " arguments from %08" PRIx32 ": digest %016" PRIx64
                      ", recorded %016" PRIx64,
                      b[j].name, b[j].count, b[j].first, digest[j], b[j].digest);
}

/* Whether two instructions compute the same function, in other formats or without .ftz.
 */
static bool same_function(const char *name, const char *other)
{
    const size_t length = strcspn(name, ".") + 1;
    return !strncmp(name, other, length);
}

/* The blocks of one function that are compared: with BITCUT_LONG all of them; else that
   of 0.5 <= x < 2, in which most polynomials have all of their segments, and with
   BITCUT_WHOLE another one; with BITCUT_BRIEF none, except of functions of 2^16
   arguments. */
static void check_function(const struct block *b, int count, bool first, uint64_t *rng)
{
    static struct recorded r;
    enum { NEAR_ONE = 0x3f };
    if (count > 1 && test_step(2) > 1) return;
    if (count > 1 && !first && !test_whole()) return;
    find_recorded(&r, b->name);
    if (count == 1 || test_long()) {
        check_blocks(&r, b, count);
        return;
    }
    check_blocks(&r, &b[NEAR_ONE], 1);
    if (test_whole()) check_blocks(&r, &b[test_between(rng, 0, count - 1)], 1);
}

START_TEST(digests_are_those_of_the_device)
{
    uint64_t rng = test_seed();
    int functions_found = 0;
    const char *last = "";
    read_blocks();
    for (int i = 0, n; i < block_count; i += n, functions_found++) {
        const char *const name = blocks[i].name;
        for (n = 1; i + n < block_count && !strcmp(name, blocks[i + n].name); n++)
            continue;
        ck_assert_msg(n == 1 || n == BLOCKS, "%s: %d blocks", name, n);
        check_function(&blocks[i], n, !same_function(name, last), &rng);
        last = name;
    }
    ck_assert_int_eq(functions_found, FUNCTIONS);
}
END_TEST

START_TEST(samples_are_those_of_the_device)
{
    static struct recorded r;
    char path[4096];
    struct array samples;
    struct fault f;
    read_blocks();
    path_of(path, "samples.npy");
    ck_assert_msg(npy_read(&samples, path, &f) == BITCUT_OK, "%s: %s", path, f.text);
    const uint32_t *want = samples.data;
    const char *last = "";
    for (int i = 0; i < block_count; i++) {
        if (!strcmp(last, blocks[i].name) || blocks[i].count <= SHORT) continue;
        last = blocks[i].name;
        find_recorded(&r, last);
        if (r.pairs) continue;
        for (uint32_t k = 0; k < SAMPLES; k++, want++) {
            const uint32_t x =
                k << (32 - SAMPLE_BITS) | (uint32_t)(mix(k) >> (32 + SAMPLE_BITS));
            const uint32_t y = result(&r, x);
            ck_assert_msg(y == *want,
                          "%s of %08" PRIx32 ": %08" PRIx32 ", recorded %08" PRIx32, last,
                          x, y, *want);
        }
    }
    ck_assert_uint_eq((size_t)(want - (const uint32_t *)samples.data), samples.count);
    array_clear(&samples);
}
END_TEST

/* Every row is recorded. */
START_TEST(rows_have_records)
{
    read_blocks();
    for (const struct bitcut_function *f = functions; f->name; f++) {
        bool found = false;
        for (int i = 0; i < block_count; i++) found |= !strcmp(blocks[i].name, f->name);
        ck_assert_msg(found, "%s has no digest", f->name);
    }
}
END_TEST

/* The truncated square by its rows: each set bit i of r adds r 2^i, cut below 2^18. */
START_TEST(squares)
{
    for (uint32_t r = 0; r < 1u << 17; r++) {
        uint32_t sum = 0;
        for (int i = 0; i < 17; i++)
            if (r >> i & 1) sum += r >> (18 - i);
        ck_assert_uint_eq(mufu_square(r), sum >> 1);
    }
}
END_TEST

/* --- errors ----------------------------------------------------------------------- */

static int reciprocal(mpfr_t y, mpfr_srcptr x, mpfr_rnd_t rounding)
{
    return mpfr_ui_div(y, 1, x, rounding);
}

enum measure { ULP, ABSOLUTE, RELATIVE };

/* The largest error of a function for first <= x <= last, as the manual states it. */
struct limit {
    const char *name;
    uint32_t first, last;
    int (*exact)(mpfr_t, mpfr_srcptr, mpfr_rnd_t);
    enum measure measure;
    double error;
};

static const struct limit limits[] = {
    { "ex2.approx.ftz.f32", 0x3f800000, 0x3fffffff, mpfr_exp2, ULP, 1.39 },
    { "ex2.approx.ftz.f32", 0xbf800000, 0xbfffffff, mpfr_exp2, ULP, 2.06 },
    { "rcp.approx.ftz.f32", 0x3f800000, 0x3fffffff, reciprocal, ULP, 0.98 },
    { "rsqrt.approx.ftz.f32", 0x3f800000, 0x407fffff, mpfr_rec_sqrt, ULP, 1.52 },
    { "sqrt.approx.ftz.f32", 0x3f800000, 0x407fffff, mpfr_sqrt, ULP, 0.95 },
    { "lg2.approx.ftz.f32", 0x3f000000, 0x3fffffff, mpfr_log2, ABSOLUTE, 0x1.ddp-23 },
    { "sin.approx.f32", 0x3e000000, 0x40490fdb, mpfr_sin, ABSOLUTE, 0x1.bdp-22 },
    { "cos.approx.f32", 0x3e000000, 0x40490fdb, mpfr_cos, ABSOLUTE, 0x1.bdp-22 },
    { "tanh.approx.f32", 0x3b800000, 0x40ffffff, mpfr_tanh, ULP, 134 },
    { "tanh.approx.f32", 0x3b800000, 0x40ffffff, mpfr_tanh, RELATIVE, 0x1.84p-17 },
    { "tanh.approx.f32", 0x3b000000, 0x3b7fffff, mpfr_tanh, RELATIVE, 0x1.6ap-18 },
};

static double error_of(const struct limit *l, const struct bitcut_function *f, uint32_t x)
{
    mpfr_t exact, argument;
    mpfr_init2(exact, 80);
    mpfr_init2(argument, 24);
    mpfr_set_flt(argument, float_of_bits(x), MPFR_RNDN);
    l->exact(exact, argument, MPFR_RNDN);
    const double value = mpfr_get_d(exact, MPFR_RNDN);
    mpfr_sub_d(exact, exact, value_of_float((uint32_t)mufu(f, x)), MPFR_RNDN);
    const double error = fabs(mpfr_get_d(exact, MPFR_RNDN));
    mpfr_clear(exact);
    mpfr_clear(argument);
    switch (l->measure) {
    case ULP: return error / format_ulp(&formats[FORMAT_F32], value);
    case RELATIVE: return error / fabs(value);
    default: return error;
    }
}

START_TEST(errors_are_within_limits)
{
    uint64_t rng = test_seed();
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        const struct limit *const l = &limits[i];
        const struct bitcut_function *const f = bitcut_function_find(l->name);
        const int cases = test_cases(20000, 2000000);
        for (int c = 0; c < cases; c++) {
            const uint32_t x =
                l->first + (uint32_t)(test_bits(&rng) % (l->last - l->first + 1));
            const double error = error_of(l, f, x);
            ck_assert_msg(error <= l->error, "%s of %08" PRIx32 ": error %g, limit %g",
                          l->name, x, error, l->error);
        }
    }
}
END_TEST

/* --- calls ------------------------------------------------------------------------ */

/* The library's call takes arrays of each size of elements, also in place; and refuses.
 */
START_TEST(arrays)
{
    for (const struct bitcut_function *f = functions; f->name; f++) {
        union {
            uint16_t two[3];
            uint32_t four[3];
            uint64_t eight[3];
        } x = { .eight = { 0 } };
        const int bits = f->format->bits;
        const uint64_t one = bits == 64                          ? 0x3ff0000000000000u
                             : bits == 32                        ? 0x3f800000
                             : f->format == &formats[FORMAT_F16] ? 0x3c00
                                                                 : 0x3f80;
        for (int i = 0; i < 3; i++) {
            if (bits == 64) x.eight[i] = i == 1 ? one : 0;
            else if (bits == 32) x.four[i] = i == 1 ? (uint32_t)one : 0;
            else x.two[i] = i == 1 ? (uint16_t)one : 0;
        }
        ck_assert_int_eq(bitcut_function_apply(&x, f, &x, 3), BITCUT_OK);
        for (int i = 0; i < 3; i++) {
            const uint64_t y = bits == 64   ? x.eight[i]
                               : bits == 32 ? x.four[i]
                                            : x.two[i];
            ck_assert_msg(y == mufu(f, i == 1 ? one : 0), "%s: element %d", f->name, i);
        }
        ck_assert_int_eq(bitcut_function_apply(NULL, f, NULL, 0), BITCUT_OK);
        ck_assert_int_eq(bitcut_function_apply(NULL, f, &x, 1), BITCUT_BAD_ARGUMENT);
        ck_assert_int_eq(bitcut_function_apply(&x, f, NULL, 1), BITCUT_BAD_ARGUMENT);
    }
    ck_assert_int_eq(bitcut_function_apply(NULL, NULL, NULL, 0), BITCUT_BAD_ARGUMENT);
    ck_assert_ptr_null(bitcut_function_find("ex2"));
    ck_assert_ptr_null(bitcut_function_find(NULL));
}
END_TEST

TEST_MAIN("mufu", digests_are_those_of_the_device, samples_are_those_of_the_device,
          rows_have_records, squares, errors_are_within_limits, arrays)
