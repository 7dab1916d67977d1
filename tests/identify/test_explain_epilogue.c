/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut_explain() on GEMMs with a bias, factors, starts and steps: the epilogue that it
   names gives D bit for bit, and wrong information explains nothing. */
#include "lib/bitcut.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 40, N = 24, K = 128, BLOCK = 64, LINES = 40 };

/* Operands that a list of steps needs, or may have. */
enum { ALPHA = 1, C = 2, BIAS = 4, LINE = 8, BLOCKS = 16, SCALE_D = 32, LIMITS = 64 };

static const struct list {
    const char *steps;
    unsigned needs, takes;
} lists[] = {
    { "fused", 0, ALPHA | C | BIAS | LINE | BLOCKS },
    { "fused-relu", 0, ALPHA | C | BIAS | LINE | BLOCKS },
    { "fused+clamp", LIMITS, ALPHA | C | BIAS | LINE },
    { "fused+scale-d", SCALE_D, ALPHA | C | BIAS | LINE },
    { "cublaslt", ALPHA | C, BLOCKS },
    { "cublaslt-bias", BIAS, ALPHA | C },
    { "cublaslt-rows", LINE, ALPHA | C },
    { "cublaslt-rows-bias", LINE | BIAS, ALPHA | C },
    { "cublaslt-tensors", LINE, ALPHA | C },
    { "cublaslt-fp8", LINE | SCALE_D, ALPHA | C },
    { "layer", BIAS, 0 },
    { "alpha+round+bias", BIAS, ALPHA },
    { "scales+alpha+round+bias+relu", BIAS | LINE, ALPHA },
    { "addmm-apart", ALPHA, C },
    { "round+c", C, 0 },
    { "alpha+round+c", C, ALPHA },
    { "bias+round+c", BIAS | C, 0 },
    { "c+alpha+bias", BIAS | C, ALPHA },
    { "alpha+c-apart+bias", BIAS | C, ALPHA },
    { "scale-b+scale-a+bias", BIAS | LINE, 0 },
    { "round+scales+bias", BIAS | LINE, 0 },
    { "round+scale-a+round+scale-b", LINE, 0 },
};

enum { LISTS = sizeof lists / sizeof *lists };

static const char *const units[] = {
    "ampere/mma.m16n8k16.f32.f16",
    "ampere/mma.m16n8k16.f32.bf16",
    "volta/mma.m8n8k4.f32.f16",
    "hopper/wgmma.m64n8k32.f32.e4m3",
};

static const char *const results[] = { "f32", "f16", "bf16", "e4m3" };

static const char *const scalings[] = { "operand", "promoted", "promoted-apart",
                                        "promoted-turns", "promoted-turns-b" };

/* A GEMM with room for all operands. */
struct run {
    uint32_t a[M * K], b[K * N], c[M * N], bias[LINES], scale_a[M * K / BLOCK],
        scale_b[N * K / BLOCK], d[M * N], again[M * N];
    struct bitcut_gemm g;
    unsigned has;
    const char *format; /* of D */
    char line[300];
};

/* FP32 encodings of 4 significant bits, from 2^low up to 2^high. */
static void fill(uint32_t *x, size_t count, int low, int high, uint64_t *random)
{
    for (size_t i = 0; i < count; i++)
        x[i] = (uint32_t)(test_bits(random) & 0x80700000) |
               (uint32_t)test_between(random, 127 + low, 126 + high) << 23;
}

/* The same with all bits, and positive. */
static void fill_factors(uint32_t *x, size_t count, uint64_t *random)
{
    for (size_t i = 0; i < count; i++)
        x[i] = (uint32_t)(test_bits(random) & 0x7fffff) |
               (uint32_t)test_between(random, 126, 127) << 23;
}

static bool draw(uint64_t *random, int of) { return !test_between(random, 0, of - 1); }

/* The start and the scaling of a list that leaves them open. */
static void add_places(struct run *r, const struct list *l, uint64_t *random)
{
    static const char *const starts[] = { "c", "slice-c", "bias", "slice-bias" };
    const bool fused = !strncmp(l->steps, "fused", 5);
    char *const end = r->line + strlen(r->line);
    if (r->has & BLOCKS)
        snprintf(end, 60, ",scaling=%s",
                 scalings[test_between(random, draw(random, 4) ? 0 : 1, 4)]);
    const bool of_bias = r->has & BIAS && (!(r->has & C) || draw(random, 2));
    if (fused && (r->has & (C | BIAS)) && draw(random, 2))
        snprintf(r->line + strlen(r->line), 60, ",start=%s",
                 starts[2 * of_bias + test_between(random, 0, 1)]);
}

static void set_operands(struct run *r, uint64_t *random)
{
    struct bitcut_gemm *const g = &r->g;
    g->m = M, g->n = N, g->k = K;
    g->a.at = r->a, g->b.at = r->b, g->d.to = r->d;
    g->alpha = r->has & ALPHA ? 0x3f333333 : 0x3f800000;
    if (r->has & C) g->beta = draw(random, 2) ? 0x3fa66666 : 0x3f800000, g->c.at = r->c;
    if (r->has & BIAS) g->bias.at = r->bias, g->bias_rows = draw(random, 3);
    if (r->has & (LINE | BLOCKS)) {
        const size_t depth = r->has & BLOCKS ? BLOCK : 0;
        g->scale_a = (struct bitcut_scales){ { .at = r->scale_a }, 1, depth };
        g->scale_b = (struct bitcut_scales){ { .at = r->scale_b }, draw(random, 2), depth };
    }
    if (r->has & SCALE_D) g->scale_d = 0x40490fdb;
    if (r->has & LIMITS) g->clamp_low = 0xbf000000, g->clamp_high = 0x3f99999a;
}

/* A random GEMM with these steps that the emulator runs, and its D. */
static bool make(struct run *r, const struct list *l, uint64_t *random)
{
    char why[BITCUT_TEXT_MAX] = "";
    r->has = l->needs | (l->takes & (unsigned)test_bits(random));
    if (r->has & BLOCKS) r->has &= ~(unsigned)LINE;
    snprintf(r->line, sizeof r->line, "plain@%s,epilogue=%s", units[test_between(random, 0, 3)],
             l->steps);
    if (draw(random, 4) || (r->has & BLOCKS && draw(random, 2)))
        strcat(r->line, draw(random, 2) ? ",promote=2" : ",promote=1");
    else if (draw(random, 6)) strcat(r->line, ",slices=2,tile=64");
    add_places(r, l, random);
    fill(r->a, M * K, -3, 1, random);
    fill(r->b, K * N, -3, 1, random);
    fill(r->c, M * N, -1, 2, random);
    fill(r->bias, LINES, -1, 2, random);
    fill_factors(r->scale_a, M * K / BLOCK, random);
    fill_factors(r->scale_b, N * K / BLOCK, random);
    bitcut_gemm_init(&r->g, sizeof r->g);
    ck_assert_msg(bitcut_gemm_read(&r->g, r->line, why) == BITCUT_OK, "%s: %s", r->line, why);
    set_operands(r, random);
    r->format = results[draw(random, 3) ? 0 : test_between(random, 0, 3)];
    r->g.d.format = bitcut_format_find(r->format);
    memset(r->d, 0, sizeof r->d);
    return bitcut_gemm(NULL, &r->g, 0, why) == BITCUT_OK;
}

/* What explain says of r->g without its variations; with its steps if they are told. */
static struct bitcut_explanation explained(struct bitcut_gemm *found, const struct run *r,
                                           bool told, double seconds)
{
    const struct bitcut_explain_options o = { .size = sizeof o, .seconds = seconds };
    struct bitcut_explanation e = { .size = sizeof e };
    struct bitcut_gemm g = r->g;
    char why[BITCUT_TEXT_MAX] = "";
    if (!told) {
        memset(g.epilogue, 0, sizeof g.epilogue);
        g.start = BITCUT_START_ZERO;
        g.scaling = BITCUT_SCALING_EPILOGUE;
    }
    bitcut_gemm_init(found, sizeof *found);
    const enum bitcut_status status = bitcut_explain(&e, found, &g, &o, 0, why);
    ck_assert_msg(status == BITCUT_OK, "%s: %s", r->line, why);
    return e;
}

static void check_found(struct run *r, bool told)
{
    struct bitcut_gemm found;
    char why[BITCUT_TEXT_MAX] = "";
    const struct bitcut_explanation e = explained(&found, r, told, 600);
    /* Some steps on alpha and C alone are faults, which no GEMM has. */
    const bool is_fault = !(r->has & ~(unsigned)(ALPHA | C)) && e.fault;
    ck_assert_msg(e.found && (e.runs || is_fault) && !e.differ, "%s (%s, has %u, told %d): %s", r->line,
                  r->format, r->has, told, e.text);
    if (!e.runs) return;
    memset(r->again, 0, sizeof r->again);
    found.d.to = r->again;
    ck_assert_msg(bitcut_gemm(NULL, &found, 0, why) == BITCUT_OK, "%s: %s", r->line, why);
    ck_assert_msg(!memcmp(r->again, r->d, sizeof r->d), "%s: another D: %s", r->line, e.text);
}

/* The first operand of the GEMM that has one, moved by one line; false: there is none. */
static bool mislead(struct run *r)
{
    const size_t biases = r->g.bias_rows ? M : N;
    uint32_t *const x = r->has & BIAS             ? r->bias
                        : r->has & (LINE | BLOCKS) ? r->scale_a
                        : r->has & C              ? r->c
                                                  : NULL;
    const size_t count = x == r->bias ? biases : x == r->c ? M * N
                         : r->has & BLOCKS                 ? M * K / BLOCK
                                                           : M;
    if (!x) return false;
    const uint32_t first = x[0];
    memmove(x, x + 1, (count - 1) * sizeof *x);
    x[count - 1] = first;
    return true;
}

START_TEST(finds_what_ran)
{
    static struct run r;
    uint64_t random = test_seed();
    int ran = 0, misled = 0;
    for (int i = 0; i < test_cases(8 * LISTS, 40 * LISTS); i++) {
        struct bitcut_gemm found;
        if (!make(&r, &lists[i % LISTS], &random)) continue;
        ran++;
        for (int told = 0; told < 2; told++)
            if (test_in_turn(i, told)) check_found(&r, told);
        if (i % 4 || !mislead(&r)) continue;
        misled++;
        const struct bitcut_explanation e = explained(&found, &r, i % 8, 1);
        ck_assert_msg(!e.found, "%s, misled: %s", r.line, e.text);
    }
    ck_assert(ran && (misled || getenv("BITCUT_BRIEF"))); /* brief: few are drawn */
    printf("# %d GEMMs explained, %d misled\n", ran, misled);
}
END_TEST

/* A bias that was not given is named next to factors and a C that were. */
START_TEST(names_what_lacks)
{
    static struct run r;
    uint64_t random = test_seed();
    for (int i = 0; i < test_cases(16, 64); i++) {
        struct bitcut_gemm found;
        do {
            if (!make(&r, &lists[0], &random)) r.has = 0;
        } while (!(r.has & BIAS) || !(r.has & (LINE | BLOCKS)) || r.g.epilogue[1] ||
                 r.has & (LIMITS | SCALE_D) || r.g.start || !strcmp(r.format, "e4m3"));
        r.g.bias.at = NULL;
        const struct bitcut_explanation e = explained(&found, &r, true, 0.1);
        ck_assert_msg(!e.found && strstr(e.text, "a bias was not given"), "%s: %s", r.line,
                      e.text);
    }
}
END_TEST

static int compare_doubles(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static double value(uint32_t x)
{
    float v;
    memcpy(&v, &x, sizeof v);
    return v;
}

/* The median distance of a D of M x N from A B + bias + beta C, in u |A||B|. */
static double distance(const struct run *r, const uint32_t *d)
{
    static double all[M * N];
    for (size_t at = 0; at < M * N; at++) {
        const size_t i = at / N, j = at % N;
        const double bias = value(r->bias[j]), c = value(r->g.beta) * value(r->c[at]);
        double exact = bias + c, size = fabs(bias) + fabs(c);
        for (size_t p = 0; p < K; p++) {
            const double one = value(r->a[i * K + p]) * value(r->b[p * N + j]);
            exact += one, size += fabs(one);
        }
        all[at] = ldexp(fabs(value(d[at]) - exact) / size, 24);
    }
    qsort(all, M * N, sizeof *all, compare_doubles);
    return (all[M * N / 2] + all[M * N / 2 - 1]) / 2;
}

/* Two results of a GEMM with a bias and C: both are explained, every difference is counted,
   and their distances are from the value with the bias. */
START_TEST(two_results)
{
    static const char *const ways[][2] = {
        { "plain@ampere/mma.m16n8k16.f32.f16", "plain@ampere/mma.m16n8k16.f32.f16,slices=2,tile=64" },
        { "plain@ampere/mma.m16n8k16.f32.f16", "plain@volta/mma.m8n8k4.f32.f16" },
        { "plain@ampere/mma.m16n8k16.f32.f16", "plain@ampere/mma.m16n8k16.f32.f16,promote=1" },
    };
    static struct run r;
    uint64_t random = test_seed() + 1;
    for (int i = 0; i < test_cases(6, 30); i++) {
        const struct bitcut_explain_options o = { .size = sizeof o };
        struct bitcut_explanation e[2] = { { .size = sizeof *e }, { .size = sizeof *e } };
        struct bitcut_result_pair pair = { .size = sizeof pair };
        char why[BITCUT_TEXT_MAX] = "";
        size_t differ = 0;
        for (int which = 0; which < 2; which++) {
            const struct bitcut_gemm before = r.g;
            bitcut_gemm_init(&r.g, sizeof r.g);
            ck_assert_int_eq(bitcut_gemm_read(&r.g, ways[i % 3][which], why), BITCUT_OK);
            r.has = BIAS | C;
            if (!which) {
                fill(r.a, M * K, -3, 1, &random);
                fill(r.b, K * N, -3, 1, &random);
                fill(r.c, M * N, -1, 2, &random);
                fill(r.bias, LINES, -1, 2, &random);
                set_operands(&r, &random);
                r.g.bias_rows = false;
            } else {
                const struct bitcut_gemm way = r.g;
                r.g = before;
                r.g.unit = way.unit, r.g.order = way.order, r.g.promote = way.promote;
                r.g.tile_k = way.tile_k;
                r.g.d.to = r.again;
            }
            ck_assert_msg(bitcut_gemm(NULL, &r.g, 1, why) == BITCUT_OK, "%s", why);
        }
        r.g.recipe = NULL, r.g.unit = NULL, r.g.order = (struct bitcut_order){ .slices = 0 };
        r.g.promote = r.g.tile_k = BITCUT_UNSET;
        r.g.d.to = r.d;
        const struct bitcut_matrix second = { .at = r.again };
        ck_assert_msg(bitcut_explain_pair(&pair, (struct bitcut_explanation *[]){ &e[0], &e[1] }, NULL,
                                          &r.g, &second, &o, 0, why) == BITCUT_OK,
                      "%s", why);
        for (size_t at = 0; at < M * N; at++) differ += r.d[at] != r.again[at];
        ck_assert_msg(e[0].found && e[1].found, "%s; %s", e[0].text, e[1].text);
        ck_assert_uint_eq(pair.differ, differ);
        for (int which = 0; which < 2; which++) {
            const double want = distance(&r, which ? r.again : r.d);
            ck_assert_msg(fabs(pair.error[which] - want) <= 0.05 * want + 1e-6, "%g, want %g",
                          pair.error[which], want);
        }
    }
}
END_TEST

TEST_MAIN("explain_epilogue", finds_what_ran, names_what_lacks, two_results)
