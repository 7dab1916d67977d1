/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs of integers: bitcut_gemm() compared with a statement of its own, for every unit of
   integers, random sizes, slices and lanes, alpha, beta, C, bias, starts, and results that
   stay integers or become FP32. */
#include "emu/unit.h"
#include "lib/bitcut.h"
#include "lib/number/bits.h"
#include "lib/number/rand.h"
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 9, DEPTH = 160 };

/* A GEMM, its operands as numbers, and what it has. */
struct problem {
    struct bitcut_gemm g;
    uint16_t a[SIDE * DEPTH], b[DEPTH * SIDE]; /* encodings, one after the other */
    int32_t c[SIDE * SIDE], bias[SIDE], d[SIDE * SIDE];
    float fc[SIDE * SIDE], fbias[SIDE], fa[SIDE], fb[SIDE];
    long alpha, beta;
};

static long clip(long v, long low, long high) { return v > high ? high : v < low ? low : v; }

static long wrap(long v, int bits, bool with_sign)
{
    const long all = 1L << bits;
    long x = v % all;
    if (x < 0) x += all;
    return with_sign && x >= all / 2 ? x - all : x;
}

static bool limits(const struct bitcut_unit *u)
{
    static const char *const limited[] = { "-sat", "usds.", "ssds.", "suds." };
    for (size_t i = 0; i < sizeof limited / sizeof limited[0]; i++)
        if (strstr(u->name, limited[i])) return true;
    return false;
}

static long s32(const struct bitcut_unit *u, long v)
{
    return limits(u) ? clip(v, INT32_MIN, INT32_MAX) : wrap(v, 32, true);
}

/* The format of operand 0 or 1 by the unit's name: ".s32.s8", ".s32.u8.s8". */
static const char *operand_of(const struct bitcut_unit *u, int operand)
{
    const char *const first = strstr(u->name, ".s32.") + 5, *const second = strchr(first, '.');
    return operand && second ? second + 1 : first;
}

static long number(const struct bitcut_unit *u, int operand, const void *x, size_t at)
{
    const char *const format = operand_of(u, operand);
    if (!strncmp(format, "s16", 3)) return ((const int16_t *)x)[at];
    return *format == 's' ? (long)((const int8_t *)x)[at] : (long)((const uint8_t *)x)[at];
}

/* Products from k number `from` to before `to` added to v by instructions. */
static long chain(const struct problem *x, size_t i, size_t j, size_t from, size_t to, long v)
{
    const struct bitcut_unit *const u = x->g.unit;
    const bool pairs = strstr(u->name, "vpmaddubsw") != NULL;
    for (size_t k = from; k < to; k += (size_t)u->k) {
        long sum = v, pair = 0;
        for (size_t p = k; p < k + (size_t)u->k; p++) {
            const long product = p < to && p < x->g.k
                                     ? number(u, 0, x->a, i * x->g.k + p) *
                                           number(u, 1, x->b, p * x->g.n + j)
                                     : 0;
            pair += product;
            if (!pairs) sum += product;
            else if ((p - k) % 2) sum += clip(pair, INT16_MIN, INT16_MAX), pair = 0;
        }
        v = s32(u, sum);
    }
    return v;
}

/* The sum over k: equal slices of whole instructions, the first ones one longer, added in
   ascending order. */
static long sum_of(const struct problem *x, size_t i, size_t j)
{
    const struct bitcut_gemm *const g = &x->g;
    const size_t step = (size_t)g->unit->k, steps = (g->k + step - 1) / step;
    const size_t slices = g->order.slices ? (size_t)g->order.slices : 1;
    long start = 0, all = 0;
    if (g->start == BITCUT_START_C || g->start == BITCUT_START_SLICE_C)
        start = wrap(x->beta * x->c[i * g->n + j], 32, true);
    if (g->start == BITCUT_START_BIAS || g->start == BITCUT_START_SLICE_BIAS)
        start = x->bias[g->bias_rows ? i : j];
    const bool within = g->start == BITCUT_START_C || g->start == BITCUT_START_BIAS;
    size_t at = 0;
    const size_t each = (steps + slices - 1) / slices;
    for (size_t s = 0; s < slices && (at < steps || !s); s++) {
        const size_t end = at + each < steps ? at + each : steps;
        long v = chain(x, i, j, at * step, end * step, s == 0 && within ? start : 0);
        if (s == 0 && !within) v = s32(g->unit, v + start);
        all = s ? s32(g->unit, all + v) : v;
        at = end;
    }
    return all;
}

/* The sum of (a - zero_a) (b - zero_b), less the sum of a b. */
static long zeros(const struct problem *x, size_t i, size_t j)
{
    const struct bitcut_gemm *const g = &x->g;
    __int128 all = 0;
    for (size_t p = 0; p < g->k; p++) {
        const long a = number(g->unit, 0, x->a, i * g->k + p),
                   b = number(g->unit, 1, x->b, p * g->n + j);
        all += (__int128)(a - g->zero_a) * (b - g->zero_b) - (__int128)(a * b);
    }
    return (long)((unsigned __int128)all & 0xffffffff);
}

static bool from_c(const struct bitcut_gemm *g)
{
    return g->start == BITCUT_START_C || g->start == BITCUT_START_SLICE_C;
}

static bool from_bias(const struct bitcut_gemm *g)
{
    return g->start == BITCUT_START_BIAS || g->start == BITCUT_START_SLICE_BIAS;
}

static bool has_step(const struct bitcut_gemm *g, int step)
{
    return memchr(g->epilogue, step, sizeof g->epilogue) != NULL;
}

/* An output that stays an integer. */
static long integer_output(const struct problem *x, size_t i, size_t j)
{
    const struct bitcut_gemm *const g = &x->g;
    const struct bitcut_format *const f = g->d.format;
    const bool u8 = f == bitcut_format_find("u8");
    const int bits = u8 ? 8 : f == bitcut_format_find("s8") ? 8 : f == bitcut_format_find("s16") ? 16 : 32;
    long v = wrap(x->alpha * wrap(sum_of(x, i, j) + zeros(x, i, j), 32, true), 32, true);
    if (x->beta && !from_c(g)) v = wrap(v + x->beta * x->c[i * g->n + j], 32, true);
    if (g->bias.at && !from_bias(g)) v = wrap(v + x->bias[g->bias_rows ? i : j], 32, true);
    if (has_step(g, BITCUT_STEP_ZERO_D)) v = wrap(v + g->zero_d, 32, true);
    if (has_step(g, BITCUT_STEP_RELU) && v < 0) v = 0;
    if (has_step(g, BITCUT_STEP_SATURATE))
        v = u8 ? clip(v, 0, 255) : clip(v, -(1L << (bits - 1)), (1L << (bits - 1)) - 1);
    return wrap(v, bits, !u8);
}

/* An output that becomes FP32: factors, alpha, beta C, bias; then perhaps a byte. */
static double float_output(const struct problem *x, size_t i, size_t j)
{
    const struct bitcut_gemm *const g = &x->g;
    float v = (float)wrap(sum_of(x, i, j) + zeros(x, i, j), 32, true);
    if (g->scale_a.at.at || g->scale_b.at.at) {
        const float a = g->scale_a.at.at ? x->fa[i] : 1, b = g->scale_b.at.at ? x->fb[j] : 1;
        const float both = a * b;
        v = v * both;
    }
    v = float_of_bits(g->alpha) * v;
    if (x->beta) v = fmaf((float)x->beta, x->fc[i * g->n + j], v);
    if (g->bias.at) v = v + x->fbias[g->bias_rows ? i : j];
    const bool first = memchr(g->epilogue, BITCUT_STEP_ROUND, 3) == NULL;
    if (has_step(g, BITCUT_STEP_ZERO_D) && first) v = v + (float)g->zero_d;
    if (g->d.format == bitcut_format_find("f32")) return v;
    const bool u8 = g->d.format == bitcut_format_find("u8");
    double r = nearbyint((double)v);
    if (has_step(g, BITCUT_STEP_ZERO_D) && !first) r = (double)((float)r + (float)g->zero_d);
    if (has_step(g, BITCUT_STEP_SATURATE))
        return u8 ? fmin(fmax(r, 0), 255) : fmin(fmax(r, -128), 127);
    return (double)wrap((long)r, 8, !u8);
}

static long drawn(struct rng *rng, long least, long most)
{
    return least + (long)rand_below(rng_bits(rng), (uint64_t)(most - least + 1));
}

static int append(struct bitcut_gemm *g, int at, int step)
{
    g->epilogue[at] = (unsigned char)step;
    return at + 1;
}

static void fill(struct problem *x, const struct bitcut_unit *u, bool becomes_float,
                 struct rng *rng)
{
    static const char *const names[] = { "s32", "s8", "u8", "s16" };
    struct bitcut_gemm *const g = &x->g;
    bitcut_gemm_init(g, sizeof *g);
    g->recipe = bitcut_recipe_find("plain");
    g->unit = u;
    g->m = (size_t)drawn(rng, 1, SIDE), g->n = (size_t)drawn(rng, 1, SIDE);
    g->k = (size_t)drawn(rng, 0, DEPTH);
    const bool large = drawn(rng, 0, 1);
    for (size_t i = 0; i < SIDE * DEPTH; i++) {
        const uint64_t r = rng_bits(rng);
        x->a[i] = large && r >> 32 & 1 ? (r >> 33 & 1 ? 0xffff : 0x8080) : (uint16_t)r;
        x->b[i] = large && r >> 34 & 1 ? (r >> 35 & 1 ? 0x7f7f : 0x8000) : (uint16_t)(r >> 16);
    }
    for (size_t i = 0; i < SIDE * SIDE; i++) {
        x->c[i] = (int32_t)(rng_bits(rng) >> drawn(rng, 32, 60));
        x->fc[i] = (float)drawn(rng, -99999, 99999) / 8;
    }
    for (size_t i = 0; i < SIDE; i++) {
        x->bias[i] = (int32_t)(rng_bits(rng) >> drawn(rng, 32, 60)) * (drawn(rng, 0, 1) ? -1 : 1);
        x->fbias[i] = (float)drawn(rng, -99999, 99999) / 64;
        x->fa[i] = (float)drawn(rng, 1, 4000) / 65536, x->fb[i] = (float)drawn(rng, 1, 300) / 1024;
    }
    g->a = (struct bitcut_matrix){ .at = x->a, .format = u->a };
    g->b = (struct bitcut_matrix){ .at = x->b, .format = u->b };
    g->d = (struct bitcut_matrix){ .to = x->d, .format = bitcut_format_find(names[drawn(rng, 0, 3)]) };
    g->order.slices = (int)drawn(rng, 0, 3);
    if (drawn(rng, 0, 1)) g->zero_a = (int32_t)(rng_bits(rng) >> drawn(rng, 32, 60));
    if (drawn(rng, 0, 1)) g->zero_b = (int32_t)(rng_bits(rng) >> drawn(rng, 32, 60));
    x->beta = drawn(rng, -2, 2);
    g->beta = bits_of_float((float)x->beta);
    g->bias_rows = drawn(rng, 0, 1);
    const bool bias = drawn(rng, 0, 1);
    if (becomes_float) {
        const bool is_short = drawn(rng, 0, 1);
        g->alpha = bits_of_float((float)drawn(rng, -99, 99) / 16);
        g->c = (struct bitcut_matrix){ .at = x->fc };
        if (bias) g->bias = (struct bitcut_matrix){ .at = x->fbias };
        if (drawn(rng, 0, 1)) g->scale_a = (struct bitcut_scales){ .at = { .at = x->fa }, .lines = 1 };
        if (drawn(rng, 0, 1)) g->scale_b = (struct bitcut_scales){ .at = { .at = x->fb }, .lines = 1 };
        g->d.format = bitcut_format_find(is_short ? names[drawn(rng, 1, 2)] : "f32");
        int at = append(g, 0, BITCUT_STEP_FLOAT);
        at = append(g, at, BITCUT_STEP_FUSED);
        const bool zero = drawn(rng, 0, 1), first = drawn(rng, 0, 1);
        if (zero) g->zero_d = (int32_t)drawn(rng, -130, 260);
        if (zero && (first || !is_short)) at = append(g, at, BITCUT_STEP_ZERO_D);
        if (is_short) at = append(g, at, BITCUT_STEP_ROUND);
        if (zero && !first && is_short) at = append(g, at, BITCUT_STEP_ZERO_D);
        if (is_short && drawn(rng, 0, 1)) append(g, at, BITCUT_STEP_SATURATE);
        return;
    }
    x->alpha = drawn(rng, -3, 3);
    g->alpha = bits_of_float((float)x->alpha);
    g->c = (struct bitcut_matrix){ .at = x->c, .format = bitcut_format_find("s32") };
    if (bias) g->bias = (struct bitcut_matrix){ .at = x->bias, .format = bitcut_format_find("s32") };
    g->start = (enum bitcut_start)drawn(rng, 0, 4);
    if (from_bias(g) && !bias) g->start = BITCUT_START_ZERO;
    int at = append(g, 0, BITCUT_STEP_FUSED);
    if (drawn(rng, 0, 1)) {
        g->zero_d = (int32_t)(rng_bits(rng) >> drawn(rng, 32, 60));
        if (g->zero_d) at = append(g, at, BITCUT_STEP_ZERO_D);
    }
    if (drawn(rng, 0, 1)) at = append(g, at, BITCUT_STEP_RELU);
    if (drawn(rng, 0, 1)) append(g, at, BITCUT_STEP_SATURATE);
}

static double output(const struct problem *x, size_t at)
{
    const char *const f = x->g.d.format->name;
    return !strcmp(f, "f32")   ? (double)((const float *)(const void *)x->d)[at]
           : !strcmp(f, "s32") ? x->d[at]
           : !strcmp(f, "s16") ? ((const int16_t *)(const void *)x->d)[at]
           : !strcmp(f, "u8")  ? ((const uint8_t *)(const void *)x->d)[at]
                               : ((const int8_t *)(const void *)x->d)[at];
}

static struct problem x;

static void check_unit(const struct bitcut_unit *u, bool becomes_float, struct rng *rng)
{
    char why[BITCUT_TEXT_MAX];
    fill(&x, u, becomes_float, rng);
    ck_assert_msg(bitcut_gemm(NULL, &x.g, 1, why) == BITCUT_OK, "%s: %s", u->name, why);
    for (size_t at = 0; at < x.g.m * x.g.n; at++) {
        const size_t i = at / x.g.n, j = at % x.g.n;
        const double want = becomes_float ? float_output(&x, i, j)
                                          : (double)integer_output(&x, i, j);
        ck_assert_msg(output(&x, at) == want, "%s, k %zu, D[%zu, %zu] in %s: %.17g, want %.17g",
                      u->name, x.g.k, i, j, x.g.d.format->name, output(&x, at),
                      want);
    }
}

static void check_all(bool becomes_float, uint64_t stream)
{
    struct rng rng = rng_start(test_seed(), stream);
    for (const struct bitcut_unit *u = units; u->name; u++)
        for (int c = 0; strstr(u->name, ".s32.") && c < test_cases(60, 1000); c++)
            check_unit(u, becomes_float, &rng);
}

START_TEST(integers) { check_all(false, 0); }
END_TEST
START_TEST(floats) { check_all(true, 1); }
END_TEST

/* Sums that leave the range of s32: long lines of the largest operands, from C. */
START_TEST(overflow)
{
    static uint16_t a[1 << 17], b[1 << 17];
    const struct bitcut_format *const s32_format = bitcut_format_find("s32");
    const int step = test_step(8);
    uint64_t at = test_seed();
    for (const struct bitcut_unit *u = units; u->name; u++) {
        struct bitcut_gemm g;
        int32_t d = 0, c = 2147483000;
        char why[BITCUT_TEXT_MAX];
        if (!strstr(u->name, ".s32.") || at++ % (uint64_t)step) continue;
        for (size_t i = 0; i < sizeof a / sizeof a[0]; i++) {
            a[i] = u->a->bits == 16 ? 0x8000 : u->a == bitcut_format_find("u8") ? 0xffff : 0x8080;
            b[i] = u->b->bits == 16 ? 0x8000 : u->b == bitcut_format_find("u8") ? 0xffff : 0x8080;
        }
        const long most_a = number(u, 0, a, 0), most_b = number(u, 1, b, 0);
        for (int start = 0; start < 3; start++) /* 2: two slices */
            for (size_t k = 256; k <= sizeof a / sizeof a[0]; k *= 16) {
                bitcut_gemm_init(&g, sizeof g);
                g.recipe = bitcut_recipe_find("plain");
                g.unit = u, g.m = g.n = 1, g.k = k;
                g.a = (struct bitcut_matrix){ .at = a, .format = u->a };
                g.b = (struct bitcut_matrix){ .at = b, .format = u->b };
                g.c = (struct bitcut_matrix){ .at = &c, .format = s32_format };
                g.d = (struct bitcut_matrix){ .to = &d, .format = s32_format };
                g.beta = start == 1 ? 0x3f800000 : 0;
                g.start = start == 1 ? BITCUT_START_C : BITCUT_START_ZERO;
                g.order.slices = start == 2 ? 2 : 1;
                ck_assert_msg(bitcut_gemm(NULL, &g, 1, why) == BITCUT_OK, "%s: %s", u->name, why);
                const size_t slice = start == 2 ? k / 2 : k;
                long each = most_a * most_b, want = start == 1 ? c : 0;
                if (strstr(u->name, "vpmaddubsw")) each = -16384; /* half of a pair */
                for (size_t p = 0; p < slice; p += (size_t)u->k)
                    want = s32(u, want + (long)u->k * each);
                if (start == 2) want = s32(u, want + want);
                ck_assert_msg(d == want, "%s, k %zu, start %d: %d, want %ld", u->name, k, start,
                              d, want);
            }
    }
}
END_TEST

/* What sums of integers do not have is refused with a line. */
START_TEST(refused)
{
    struct rng rng = rng_start(test_seed(), 2);
    char why[BITCUT_TEXT_MAX];
    const struct bitcut_unit *const u = bitcut_unit_find("ampere/mma.m16n8k32.s32.s8", NULL);
#define REFUSED(change, said)                                                            \
    do {                                                                                 \
        fill(&x, u, false, &rng);                                                        \
        x.g.start = BITCUT_START_ZERO;                                                   \
        change;                                                                          \
        ck_assert(bitcut_gemm(NULL, &x.g, 1, why) == BITCUT_BAD_ARGUMENT);               \
        ck_assert_msg(strstr(why, said), "%s, not: %s", why, said);                      \
    } while (0)
    REFUSED(x.g.promote = 1, "sums of integers are exact");
    REFUSED(x.g.tile_k = 32, "sums of integers are exact");
    REFUSED(x.g.sum_rounding = bitcut_rounding_find("rz"), "sums of integers are exact");
    REFUSED(x.g.order.partial_format = bitcut_format_find("f16"), "sums of integers are exact");
    REFUSED(x.g.a.format = bitcut_format_find("u8"), "A has the format u8, but the unit multiplies s8");
    REFUSED(x.g.alpha = 0x3f000000, "alpha and beta of sums of integers must be integers");
    REFUSED((x.g.c.format = NULL, x.g.beta = 0x3f800000), "C cannot have the format f32");
    REFUSED(x.g.epilogue[0] = BITCUT_STEP_CLAMP, "step clamp of the epilogue");
    REFUSED((x.g.d.format = bitcut_format_find("s32"), x.g.epilogue[0] = BITCUT_STEP_FLOAT),
            "D in s32 requires sums that stay integers");
    REFUSED((x.g.unit = bitcut_unit_find("fma/f32", NULL), x.g.d.format = bitcut_format_find("s8"),
             x.g.epilogue[0] = 0),
            "D cannot have the format s8");
    REFUSED((x.g.unit = bitcut_unit_find("fma/f32", NULL), x.g.d.format = NULL,
             x.g.epilogue[0] = BITCUT_STEP_FLOAT),
            "the sums are no integers");
    REFUSED(x.g.recipe = bitcut_recipe_find("ootomo"), "");
#undef REFUSED
}
END_TEST

TEST_MAIN("gemm_integer", integers, floats, overflow, refused)
