/* SPDX-License-Identifier: BSD-3-Clause */
/* Explaining results of integers: each rule, stated here again, on random matrices of
   random shapes, as integers and as FP32 values; and matrices that no rule gives. */
#include "analysis/identify/integers.h"
#include "lib/base/size.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "lib/number/rand.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE = 24, DEPTH = 96 };

struct data {
    size_t m, n, k;
    int32_t a[SIDE * DEPTH], b[DEPTH * SIDE], d[SIDE * SIDE];
};

static long clip(long v, long low, long high) { return v > high ? high : v < low ? low : v; }

static long low_bits(long v, int bits, bool with_sign)
{
    const long all = 1L << bits;
    long x = v % all;
    if (x < 0) x += all;
    return with_sign && x >= all / 2 ? x - all : x;
}

/* Sums of an output: products p[0], p[1], ... of k. */
static long plain_sum(const long *p, size_t k)
{
    long s = 0;
    while (k--) s += p[k];
    return s;
}

static long sum_of_pairs(const long *p, size_t k)
{
    long s = 0;
    for (size_t i = 0; i < k; i += 2)
        s += clip(p[i] + (i + 1 < k ? p[i + 1] : 0), -32768, 32767);
    return s;
}

static long sum_of_wrapped_pairs(const long *p, size_t k)
{
    long s = 0;
    for (size_t i = 0; i < k; i += 2)
        s += low_bits(p[i] + (i + 1 < k ? p[i + 1] : 0), 16, true);
    return s;
}

static long sum_in_16_bits(const long *p, size_t k)
{
    long s = 0;
    for (size_t i = 0; i < k; i += 2)
        s = clip(s + clip(p[i] + (i + 1 < k ? p[i + 1] : 0), -32768, 32767), -32768, 32767);
    return s;
}

/* The value of an element after it was read wrongly. */
static long same(long x) { return x; }
static long as_signed(long x) { return x > 127 ? x - 256 : x; }
static long as_unsigned(long x) { return x < 0 ? x + 256 : x; }
static long lowered(long x) { return x - 128; }
static long raised(long x) { return x + 128; }

static long whole(long v) { return v; }
static long byte(long v) { return low_bits(v, 8, true); }
static long unsigned_byte(long v) { return low_bits(v, 8, false); }
static long word(long v) { return low_bits(v, 16, true); }
static long limited_byte(long v) { return clip(v, -128, 127); }
static long limited_unsigned_byte(long v) { return clip(v, 0, 255); }
static long limited_word(long v) { return clip(v, -32768, 32767); }

static const struct kind {
    int a, b; /* formats */
    long (*read_a)(long), (*read_b)(long);
    long (*sum)(const long *, size_t);
    long (*result)(long);
    int d; /* format of D */
    const char *said;
} kinds[] = {
    /* clang-format off */
    { FORMAT_S8, FORMAT_S8, same, same, plain_sum, whole, FORMAT_S32, "D is the exact product:" },
    { FORMAT_U8, FORMAT_S8, same, same, plain_sum, whole, FORMAT_S32, "D is the exact product:" },
    { FORMAT_S8, FORMAT_S8, same, same, plain_sum, byte, FORMAT_S8, "D is the exact product modulo 2^8 (s8):" },
    { FORMAT_U8, FORMAT_U8, same, same, plain_sum, unsigned_byte, FORMAT_U8, "D is the exact product modulo 2^8 (u8):" },
    { FORMAT_S8, FORMAT_S8, same, same, plain_sum, word, FORMAT_S16, "D is the exact product modulo 2^16 (s16):" },
    { FORMAT_S8, FORMAT_U8, same, same, plain_sum, limited_byte, FORMAT_S8, "D is the exact product, saturated at 8 bits (s8):" },
    { FORMAT_U8, FORMAT_S8, same, same, plain_sum, limited_unsigned_byte, FORMAT_U8, "D is the exact product, saturated at 8 bits (u8):" },
    { FORMAT_U8, FORMAT_S8, same, same, plain_sum, limited_word, FORMAT_S32, "D is the exact product, saturated at 16 bits (s16):" },
    { FORMAT_U8, FORMAT_S8, same, same, sum_of_pairs, whole, FORMAT_S32, "saturate at 16 bits before they are added (VPMADDUBSW, without VNNI):" },
    { FORMAT_S8, FORMAT_U8, same, same, sum_of_pairs, byte, FORMAT_S8, "VPMADDUBSW, without VNNI) modulo 2^8 (s8):" },
    { FORMAT_U8, FORMAT_S8, same, same, sum_of_wrapped_pairs, whole, FORMAT_S32, "taken modulo 2^16 before they are added:" },
    { FORMAT_U8, FORMAT_S8, same, same, sum_in_16_bits, whole, FORMAT_S16, "VPMADDUBSW and VPADDSW):" },
    { FORMAT_U8, FORMAT_S8, as_signed, same, plain_sum, whole, FORMAT_S32, "with A, u8, read as s8:" },
    { FORMAT_S8, FORMAT_U8, same, as_signed, plain_sum, whole, FORMAT_S32, "with B, u8, read as s8:" },
    { FORMAT_S8, FORMAT_S8, as_unsigned, same, plain_sum, whole, FORMAT_S32, "with A, s8, read as u8:" },
    { FORMAT_U8, FORMAT_S8, lowered, same, plain_sum, whole, FORMAT_S32, "with A less 128:" },
    { FORMAT_S8, FORMAT_S8, raised, same, plain_sum, whole, FORMAT_S32, "with A plus 128" },
    { FORMAT_U8, FORMAT_S8, as_signed, same, plain_sum, limited_byte, FORMAT_S8, ", saturated at 8 bits (s8), with A, u8, read as s8:" },
    /* clang-format on */
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static int32_t draw(int format, struct rng *rng)
{
    const int32_t x = (int32_t)(rng_bits(rng) & 255);
    return format == FORMAT_U8 ? x : x - 128;
}

static void fill(struct data *x, const struct kind *kind, struct rng *rng)
{
    x->m = 12 + rand_below(rng_bits(rng), SIDE - 11);
    x->n = 13 + rand_below(rng_bits(rng), SIDE - 12);
    x->k = 26 + rand_below(rng_bits(rng), DEPTH - 25);
    for (size_t i = 0; i < x->m * x->k; i++) x->a[i] = draw(kind->a, rng);
    for (size_t i = 0; i < x->k * x->n; i++) x->b[i] = draw(kind->b, rng);
    for (size_t i = 0; i < x->m; i++)
        for (size_t j = 0; j < x->n; j++) {
            long p[DEPTH];
            for (size_t q = 0; q < x->k; q++)
                p[q] = kind->read_a(x->a[i * x->k + q]) * kind->read_b(x->b[q * x->n + j]);
            x->d[i * x->n + j] = (int32_t)kind->result(kind->sum(p, x->k));
        }
}

static const struct explain_options options = { .samples = 4096, .seconds = 1, .seed = 1 };

/* Explain as integers. */
static void explain(struct explanation *e, struct data *x, const struct kind *kind)
{
    const struct integer_problem integers = {
        .a = { x->m, x->k, x->a, &formats[kind->a] },
        .b = { x->k, x->n, x->b, &formats[kind->b] },
        .d = { x->m, x->n, x->d, &formats[kind->d] }
    };
    const struct problem q = { .alpha = F32_ONE, .integers = &integers };
    ck_assert_int_eq(explain_run(e, &q, &options, NULL), BITCUT_OK);
}

static struct matrix values(size_t rows, size_t cols, const int32_t *from)
{
    uint32_t *const at = malloc(rows * cols * sizeof *at);
    for (size_t i = 0; i < rows * cols; i++) at[i] = bits_of_float((float)from[i]);
    return (struct matrix){ .rows = rows, .cols = cols, .at = at };
}

/* Explain FP32 values. */
static void explain_f32(struct explanation *e, struct data *x)
{
    struct problem q = { .a = values(x->m, x->k, x->a),
                         .b = values(x->k, x->n, x->b),
                         .d = values(x->m, x->n, x->d),
                         .format = &formats[FORMAT_F32],
                         .alpha = F32_ONE };
    ck_assert_int_eq(explain_run(e, &q, &options, NULL), BITCUT_OK);
    matrix_clear(&q.a);
    matrix_clear(&q.b);
    matrix_clear(&q.d);
}

static struct data data;
static struct explanation e;

START_TEST(rules)
{
    struct rng rng = rng_start(test_seed(), 0);
    for (int i = 0; i < KINDS; i++)
        for (int c = 0; c < test_cases(40, 400); c++) {
            fill(&data, &kinds[i], &rng);
            explain(&e, &data, &kinds[i]);
            ck_assert_msg(e.answer.found && strstr(e.answer.text, kinds[i].said),
                          "%s, not: %s", e.answer.text, kinds[i].said);
            ck_assert_uint_eq(e.answer.compared, data.m * data.n);
            ck_assert(!e.answer.fault == (kinds[i].sum == plain_sum && kinds[i].result == whole &&
                                          kinds[i].read_a == same && kinds[i].read_b == same));
        }
}
END_TEST

/* Signs are seen from the values. */
START_TEST(values_of_f32)
{
    struct rng rng = rng_start(test_seed(), 1);
    for (int i = 0; i < KINDS; i++) {
        fill(&data, &kinds[i], &rng);
        if (kinds[i].sum == plain_sum && kinds[i].result == whole && kinds[i].read_a == same &&
            kinds[i].read_b == same)
            continue; /* the exact product is one of many GEMMs */
        explain_f32(&e, &data);
        ck_assert_msg(e.of_integers && strstr(e.answer.text, kinds[i].said), "%s, not: %s",
                      e.answer.text, kinds[i].said);
        explain_clear(&e);
    }
}
END_TEST

/* One changed output is counted; noise, and few outputs, are not explained. */
START_TEST(not_explained)
{
    struct rng rng = rng_start(test_seed(), 2);
    for (int i = 0; i < KINDS; i++) {
        fill(&data, &kinds[i], &rng);
        data.d[rand_below(rng_bits(&rng), data.m * data.n)] ^= 1;
        explain(&e, &data, &kinds[i]);
        ck_assert(!e.answer.found);
        for (size_t at = 0; at < data.m * data.n; at++) data.d[at] = draw(FORMAT_S8, &rng);
        explain(&e, &data, &kinds[i]);
        ck_assert_msg(!e.answer.found, "%s", e.answer.text);
        fill(&data, &kinds[5], &rng);
        data.m = 3, data.n = 1, data.k = 40;
        memset(data.d, 127, sizeof data.d); /* ends of a range */
        for (int at = 0; at < 3; at++) data.d[at] = 127;
        explain(&e, &data, &kinds[5]);
        ck_assert_msg(!e.answer.found, "%s", e.answer.text);
    }
}
END_TEST

TEST_MAIN("integers", rules, values_of_f32, not_explained)
