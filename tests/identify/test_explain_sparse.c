/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut_explain() on GEMMs with a 2:4 sparse A: the GEMM that it names gives D bit for
   bit, another D has no explanation, and candidates with faults of k and of rows give D of
   the GEMM whose matrices have the fault. */
#include "analysis/identify/hypothesis.h"
#include "lib/gemm/sparsity.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

enum { M = 24, N = 20, K = 192, COUNT = 2 };

/* A GEMM, or a batch, with A in each form: with zeros, whole, and kept elements alone. */
struct run {
    uint32_t thin[COUNT * M * K], whole[COUNT * M * K], kept[COUNT * M * K / 2],
        b[COUNT * K * N], bias[N], d[COUNT * M * N], again[COUNT * M * N];
    uint8_t at[COUNT * M * K / 2];
    struct bitcut_gemm g;
    char line[200];
};

static uint32_t number(uint64_t *random)
{
    return (uint32_t)(test_bits(random) & 0x80700000) |
           (uint32_t)test_between(random, 124, 127) << 23;
}

static void draw_a(struct run *r, uint64_t *random)
{
    memset(r->thin, 0, sizeof r->thin);
    for (size_t i = 0; i < COUNT * M * K; i++) r->whole[i] = number(random);
    for (size_t four = 0; four < COUNT * M * K / 4; four++) {
        uint8_t *const at = r->at + 2 * four;
        at[0] = (uint8_t)test_between(random, 0, 2);
        at[1] = (uint8_t)test_between(random, at[0] + 1, 3);
        for (int p = 0; p < 2; p++)
            r->kept[2 * four + p] = r->thin[4 * four + at[p]] = r->whole[4 * four + at[p]];
    }
}

static const char *const lines[] = {
    "plain@hopper/wgmma.m64n8k16.f32.f16",  "plain@ampere/mma.m16n8k16.f32.f16",
    "plain@hopper/wgmma.m64n8k32.f32.e4m3", "plain@ampere/mma.m16n8k16.f32.f16,slices=2,tile=48",
    "plain@ampere/mma.m16n8k16.f32.f16,promote=2", "fp32@fma/f32",
    "fp32@fma/f32,lanes=4",                  "ootomo@ampere/mma.m16n8k16.f32.f16",
    "plain@ampere/mma.m16n8k16.f32.f16,tile=32,slices=3",
};

enum { LINES = sizeof lines / sizeof *lines };

static void make(struct run *r, int which, uint64_t *random)
{
    const int form = test_between(random, 0, 2);
    char why[BITCUT_TEXT_MAX] = "";
    struct bitcut_gemm *const g = &r->g;
    draw_a(r, random);
    for (size_t i = 0; i < COUNT * K * N; i++) r->b[i] = number(random);
    for (size_t i = 0; i < N; i++) r->bias[i] = number(random);
    snprintf(r->line, sizeof r->line, "%s", lines[which]);
    bitcut_gemm_init(g, sizeof *g);
    ck_assert_msg(bitcut_gemm_read(g, r->line, why) == BITCUT_OK, "%s: %s", r->line, why);
    g->m = M, g->n = N, g->k = K;
    g->count = test_between(random, 0, 3) ? 1 : COUNT;
    g->a = (struct bitcut_matrix){ .at = form == 0   ? r->thin
                                         : form == 1 ? r->whole
                                                     : r->kept,
                                   .stride = form < 2 ? M * K : M * K / 2 };
    g->sparsity = form < 2 ? BITCUT_SPARSE_A : BITCUT_COMPRESSED_A;
    if (form)
        g->positions = (struct bitcut_matrix){ .at = r->at,
                                               .format = bitcut_format_find("u8"),
                                               .stride = M * K / 2 };
    g->b = (struct bitcut_matrix){ .at = r->b, .stride = K * N };
    g->d = (struct bitcut_matrix){ .to = r->d, .stride = M * N };
    if (!test_between(random, 0, 2)) g->bias.at = r->bias;
    ck_assert_msg(bitcut_gemm(NULL, g, 0, why) == BITCUT_OK, "%s: %s", r->line, why);
}

static struct bitcut_explanation explained(struct bitcut_gemm *found, const struct run *r,
                                           double effort)
{
    const struct bitcut_explain_options o = { .size = sizeof o, .effort = effort };
    struct bitcut_explanation e = { .size = sizeof e };
    struct bitcut_gemm g = r->g;
    char why[BITCUT_TEXT_MAX] = "";
    g.recipe = NULL, g.unit = NULL, g.promote = BITCUT_UNSET, g.tile_k = BITCUT_UNSET;
    g.order = (struct bitcut_order){ .slices = 0 };
    bitcut_gemm_init(found, sizeof *found);
    const enum bitcut_status status = bitcut_explain(&e, found, &g, &o, 0, why);
    ck_assert_msg(status == BITCUT_OK, "%s: %s", r->line, why);
    return e;
}

START_TEST(finds_what_ran)
{
    static struct run r;
    uint64_t random = test_seed();
    for (int i = 0; i < test_cases(6 * LINES, 20 * LINES); i++) {
        struct bitcut_gemm found;
        char why[BITCUT_TEXT_MAX] = "";
        make(&r, i % LINES, &random);
        const struct bitcut_explanation e = explained(&found, &r, 1);
        ck_assert_msg(e.found && e.runs && !e.differ, "%s: %s", r.line, e.text);
        memset(r.again, 0, sizeof r.again);
        found.d.to = r.again;
        ck_assert_msg(bitcut_gemm(NULL, &found, 0, why) == BITCUT_OK, "%s: %s", r.line, why);
        ck_assert_msg(!memcmp(r.again, r.d, r.g.count * M * N * sizeof *r.d), "%s: another D: %s",
                      r.line, e.text);
        if (i % 3) continue;
        r.d[(size_t)test_between(&random, 0, M * N - 1)] ^= 0x8000;
        ck_assert_msg(!explained(&found, &r, 0.1).found, "%s: a changed D", r.line);
    }
}
END_TEST

/* --- candidates ------------------------------------------------------------------- */

/* The candidate of a plain GEMM on a sparse A of one GEMM, and the block of all of D. */
struct sample {
    struct problem q;
    struct block block;
    struct space space;
    struct candidate x;
};

static void sample_make(struct sample *s, struct run *r)
{
    size_t row[M], col[N];
    struct fault f;
    for (size_t i = 0; i < M; i++) row[i] = i;
    for (size_t j = 0; j < N; j++) col[j] = j;
    s->q = (struct problem){ .a = { .rows = M, .cols = K, .at = r->thin, .kept = r->at },
                             .b = { .rows = K, .cols = N, .at = r->b },
                             .d = { .rows = M, .cols = N, .at = r->d },
                             .format = bitcut_format_find("f32"),
                             .alpha = 0x3f800000 };
    ck_assert_int_eq(block_take(&s->block, &s->q, row, M, col, N, &f), BITCUT_OK);
    s->space = explain_space_of(&s->block);
    candidate_clean(&s->x, &s->space);
    s->x.gemm.recipe = bitcut_recipe_find("plain");
    s->x.gemm.unit = bitcut_unit_find("ampere/mma.m16n8k16.f32.f16", NULL);
    s->x.unit = *s->x.gemm.unit;
    ck_assert_int_eq(gemm_plan_on_unit(&s->x.plan, &s->x.gemm, &f), BITCUT_OK);
}

/* D of the candidate; the fault is no hypothesis: false. */
static bool candidate_d(uint32_t *d, const struct sample *s)
{
    const struct gemm_options one = { .threads = 1 };
    return candidate_run(d, &s->x, &s->space, &s->block, &one, NULL) == BITCUT_OK;
}

/* D of a GEMM of the public interface: row i of A is row line[i], and its k are those
   `count` of `four`, by fours. */
static void statement(uint32_t *d, const struct run *r, const size_t *line, const size_t *four,
                      size_t count)
{
    static uint32_t a[M * 2 * K], b[2 * K * N];
    static uint8_t at[M * K];
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.recipe = bitcut_recipe_find("plain");
    g.unit = bitcut_unit_find("ampere/mma.m16n8k16.f32.f16", NULL);
    g.m = M, g.n = N, g.k = 4 * count;
    for (size_t f = 0; f < count; f++) {
        for (size_t i = 0; i < M; i++) {
            memcpy(a + i * g.k + 4 * f, r->thin + line[i] * K + 4 * four[f], 4 * sizeof *a);
            memcpy(at + i * g.k / 2 + 2 * f, r->at + line[i] * K / 2 + 2 * four[f], 2);
        }
        memcpy(b + 4 * f * N, r->b + 4 * four[f] * N, 4 * N * sizeof *b);
    }
    g.a.at = a, g.b.at = b, g.d.to = d;
    g.sparsity = BITCUT_SPARSE_A;
    g.positions = (struct bitcut_matrix){ .at = at, .format = bitcut_format_find("u8") };
    ck_assert_int_eq(bitcut_gemm(NULL, &g, 1, NULL), BITCUT_OK);
}

static struct spot next_row(const struct candidate *x, const struct extent *e, size_t line, size_t k)
{
    (void)x;
    return (struct spot){ (line + 1) % e->lines, k };
}

static size_t reversed(const struct candidate *x, size_t p, size_t k)
{
    (void)x;
    return k - 1 - p;
}

static size_t fours_reversed(const struct candidate *x, size_t p, size_t k)
{
    (void)x;
    return k - 4 - p / 4 * 4 + p % 4;
}

START_TEST(faults_move_fours)
{
    static struct run r;
    uint64_t random = test_seed() + 1;
    for (int turn = test_cases(5, 50); turn; turn--) {
        struct sample s;
        size_t line[M], four[2 * K / 4], count = 0;
        const size_t first = (size_t)test_between(&random, 0, K / 4 - 2),
                     end = (size_t)test_between(&random, (int)first + 1, K / 4 - 1);
        make(&r, 1, &random);
        sample_make(&s, &r);
        for (size_t i = 0; i < M; i++) line[i] = i;
        switch (turn % 5) {
        case 0:
            s.x.lost = (struct k_range){ 4 * first, 4 * end };
            for (size_t f = 0; f < K / 4; f++)
                if (f < first || f >= end) four[count++] = f;
            break;
        case 1:
            s.x.twice = (struct k_range){ 4 * first, 4 * end };
            for (size_t f = 0; f < end; f++) four[count++] = f;
            for (size_t f = first; f < K / 4; f++) four[count++] = f;
            break;
        case 2:
            s.x.spot[BITCUT_A] = next_row;
            for (size_t i = 0; i < M; i++) line[i] = (i + 1) % M;
            for (size_t f = 0; f < K / 4; f++) four[count++] = f;
            break;
        case 3:
            s.x.k_at = fours_reversed;
            for (size_t f = K / 4; f--;) four[count++] = f;
            break;
        default:
            for (size_t f = 0; f < K / 4; f++) four[count++] = f;
        }
        statement(r.again, &r, line, four, count);
        ck_assert(candidate_d(r.d, &s));
        for (size_t i = 0; i < M * N; i++)
            ck_assert_msg(r.d[i] == r.again[i], "fault %d, output %zu: %08x, want %08x", turn % 5, i,
                          r.d[i], r.again[i]);
        s.x.k_at = reversed; /* tears fours apart */
        ck_assert(!candidate_d(r.d, &s));
        s.x.k_at = NULL;
        s.x.twice = (struct k_range){ 0, 0 };
        s.x.lost = (struct k_range){ 3, 7 };
        ck_assert(!candidate_d(r.d, &s));
        block_clear(&s.block);
    }
}
END_TEST

TEST_MAIN("explain_sparse", finds_what_ran, faults_move_fours)
