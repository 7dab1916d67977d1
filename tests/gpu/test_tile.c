/* SPDX-License-Identifier: BSD-3-Clause */
/* The tile model: numbers of the paper, its Table 2, an independent count, and quantities
   that must grow or shrink; and descriptions of GPUs, good and bad. */
#include "analysis/cli/gpu_file.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As data/gpu describes them. */
static struct tile_gpu described(const char *name)
{
    const char *data = getenv("BITCUT_DATA");
    char path[4096];
    struct tile_gpu gpu;
    struct fault f;
    ck_assert_msg(data != NULL, "BITCUT_DATA is not set");
    snprintf(path, sizeof path, "%s/gpu/%s.json", data, name);
    ck_assert_msg(gpu_file_read(&gpu, path, &f) == BITCUT_OK, "%s: %s", path, f.text);
    return gpu;
}

static struct tile_problem cube(uint64_t n) { return (struct tile_problem){ n, n, n }; }

static struct tile_task task_of(const struct tile_gpu *gpu,
                                const struct tile_method *method,
                                struct tile_problem problem)
{
    return (struct tile_task){ .model = &tile_models[TILE_MODEL_LEGEMM],
                               .gpu = *gpu,
                               .method = *method,
                               .problem = problem };
}

static struct tile_choice judged_by(const struct tile_method *method, struct tile tile,
                                    const struct tile_gpu *gpu,
                                    struct tile_problem problem)
{
    const struct tile_task task = task_of(gpu, method, problem);
    struct tile_choice c;
    tile_judge(&c, &tile, NULL, &task);
    return c;
}

static struct tile_choice judged(struct tile tile, const struct tile_gpu *gpu,
                                 struct tile_problem problem)
{
    return judged_by(&tile_legemm, tile, gpu, problem);
}

static void rank(struct tile_choice *choices, const struct tile *tiles, size_t count,
                 const struct tile_gpu *gpu, const struct tile_method *method,
                 struct tile_problem problem)
{
    const struct tile_task task = task_of(gpu, method, problem);
    tile_rank(choices, tiles, NULL, count, &task);
}

/* The usual candidates, ranked. */
static void rank_grid(struct tile_choice choices[TILE_GRID], const struct tile_gpu *gpu,
                      const struct tile_method *method, struct tile_problem problem)
{
    struct tile tiles[TILE_GRID];
    tile_grid(tiles, gpu, method, 2);
    rank(choices, tiles, TILE_GRID, gpu, method, problem);
}

static bool is_tile(const struct tile *t, int m, int n, int k)
{
    return t->m == m && t->n == n && t->k == k;
}

/* --- by hand ---------------------------------------------------------------------- */

/* Equations (12) to (17) for the tiles of Table 2, computed by hand. */
START_TEST(equations)
{
    static const struct {
        const char *gpu;
        struct tile tile;
        uint64_t memory, flops, groups, busiest;
        double tlp, ratio, work_dl, work_cp, busy;
    } rows[] = {
        { "mi210",
          { 128, 128, 32, 4, 2 },
          32768,
          3145728,
          4096,
          40,
          1048576,
          96,
          96,
          64,
          4096.0 / (104 * 40) },
        { "a800",
          { 128, 256, 32, 8, 2 },
          49152,
          6291456,
          2048,
          19,
          524288,
          128,
          176,
          128,
          2048.0 / (108 * 19) },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct tile_gpu gpu = described(rows[i].gpu);
        const struct tile_choice c = judged(rows[i].tile, &gpu, cube(8192));
        ck_assert_int_eq(c.limit, TILE_FITS);
        ck_assert_uint_eq(c.memory, rows[i].memory);
        ck_assert_uint_eq(c.costs.shared, 2 * rows[i].memory);
        ck_assert_uint_eq(c.flops, rows[i].flops);
        ck_assert_uint_eq(c.groups, rows[i].groups);
        ck_assert_uint_eq(c.busiest, rows[i].busiest);
        ck_assert_uint_eq(c.resident, 1);
        ck_assert(c.tlp == rows[i].tlp);
        ck_assert(c.factor[TILE_RATE] == rows[i].ratio);
        ck_assert(c.work_dl == rows[i].work_dl && c.work_cp == rows[i].work_cp);
        ck_assert_uint_eq(c.costs.registers, (uint64_t)rows[i].work_dl);
        ck_assert(c.factor[TILE_BUSY] == rows[i].busy && c.factor[TILE_USEFUL] == 1);
        ck_assert_int_eq(tile_waves(c.tile.m, c.tile.n, &gpu, &tile_legemm),
                         c.tile.waves);
    }
}
END_TEST

/* Table 2, for the paper's shapes and all multiples of 256 as the manual says. */
START_TEST(table_2)
{
    static const struct {
        const char *gpu;
        uint64_t from;
        int m, n, k;
    } rows[] = { { "mi210", 1024, 128, 128, 32 }, { "a800", 1536, 128, 256, 32 } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct tile_gpu gpu = described(rows[i].gpu);
        for (uint64_t n = rows[i].from; n <= 16384; n += 256) {
            const struct tile_problem shapes[] = { { n, n, n },
                                                   { n, 4 * n, n },
                                                   { n, n, 4 * n } };
            for (int s = 0; s < 3; s++) {
                struct tile_choice choices[TILE_GRID];
                rank_grid(choices, &gpu, &tile_legemm, shapes[s]);
                const struct tile *t = &choices[0].tile;
                ck_assert_msg(is_tile(t, rows[i].m, rows[i].n, rows[i].k),
                              "%s, n %d, shape %d: got %dx%dx%d, want %dx%dx%d",
                              rows[i].gpu, (int)n, s, t->m, t->n, t->k, rows[i].m,
                              rows[i].n, rows[i].k);
            }
        }
    }
}
END_TEST

/* What keeps the tiles out that would be better by (15). */
START_TEST(what_decides_table_2)
{
    static const struct {
        const char *gpu;
        struct tile tile;
        enum tile_limit limit;
        uint64_t need, have;
    } rows[] = {
        { "mi210", { 128, 256, 32, 8, 2 }, TILE_SHARED, 98304, 65536 },
        { "mi210", { 128, 256, 16, 8, 2 }, TILE_PIPELINE, 2, 1 },
        { "mi210", { 128, 256, 16, 8, 1 }, TILE_FITS, 0, 0 },
        { "mi210", { 256, 256, 32, 16, 2 }, TILE_SHARED, 131072, 65536 },
        { "a800", { 256, 256, 32, 16, 2 }, TILE_REGISTERS, 161, 128 },
        { "a800", { 256, 256, 32, 8, 2 }, TILE_REGISTERS, 321, 255 },
        { "a800", { 128, 256, 64, 8, 2 }, TILE_SHARED, 196608, 166912 },
        { "h100", { 128, 256, 64, 8, 2 }, TILE_FITS, 0, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct tile_gpu gpu = described(rows[i].gpu);
        const struct tile_choice c = judged(rows[i].tile, &gpu, cube(8192));
        ck_assert_int_eq(c.limit, rows[i].limit);
        ck_assert_uint_eq(c.need, rows[i].need);
        ck_assert_uint_eq(c.have, rows[i].have);
        ck_assert_int_eq(c.reason, c.limit == TILE_FITS ? TILE_BEST : TILE_BY_LIMIT);
    }
}
END_TEST

/* With both accumulators of Algorithm 1, Table 2's tile does not fit an A800. */
START_TEST(two_accumulators)
{
    const struct tile_gpu gpu = described("a800");
    const struct tile tile = { 128, 256, 32, 8, 2 };
    const struct tile_problem problem = cube(8192);
    struct tile_method both = tile_legemm;
    struct tile_choice c, choices[TILE_GRID];
    both.accumulators = 2;
    c = judged_by(&both, tile, &gpu, problem);
    ck_assert_int_eq(c.limit, TILE_REGISTERS);
    ck_assert_uint_eq(c.costs.registers, 304);
    rank_grid(choices, &gpu, &both, problem);
    ck_assert(is_tile(&choices[0].tile, 128, 128, 32));
    both.operands_shared = true; /* (128 128 2) / 128 = 256 registers: one too many */
    c = judged_by(&both, (struct tile){ 128, 128, 32, 4, 2 }, &gpu, problem);
    ck_assert_uint_eq(c.costs.registers, 256);
    ck_assert_int_eq(c.limit, TILE_REGISTERS);
}
END_TEST

/* At 2048 on 108 units, 128/216 of 128 is 256/324 of 96 exactly: the load decides. */
START_TEST(exact_tie)
{
    const struct tile_gpu gpu = described("a800");
    const struct tile tiles[] = { { 128, 128, 32, 4, 2 },
                                  { 256, 128, 32, 8, 2 },
                                  { 128, 256, 32, 8, 2 },
                                  { 64, 64, 32, 4, 2 } };
    struct tile_choice c[4];
    rank(c, tiles, 4, &gpu, &tile_legemm, cube(2048));
    ck_assert(is_tile(&c[0].tile, 256, 128, 32) && c[0].reason == TILE_BEST);
    ck_assert(is_tile(&c[1].tile, 128, 256, 32) && c[1].reason == TILE_BY_ORDER);
    ck_assert(is_tile(&c[2].tile, 128, 128, 32) && c[2].reason == TILE_BY_LOAD);
    ck_assert(is_tile(&c[3].tile, 64, 64, 32) && c[3].reason == TILE_BY_FACTOR);
    ck_assert_int_eq(c[3].by, TILE_RATE);
}
END_TEST

/* A small problem is decided by the units it reaches, one with an edge by padding. */
START_TEST(small_problems)
{
    const struct tile_gpu gpu = described("a800");
    struct tile_choice small[TILE_GRID], edge[2];
    rank_grid(small, &gpu, &tile_legemm, cube(512));
    ck_assert(is_tile(&small[0].tile, 64, 64, 32));
    for (int i = 1; i < TILE_GRID; i++)
        if (is_tile(&small[i].tile, 128, 256, 32))
            ck_assert_int_eq(small[i].by, TILE_BUSY);
    const struct tile tiles[] = { { 128, 128, 32, 4, 2 }, { 64, 128, 32, 4, 2 } };
    const struct tile_problem narrow = { 64, 1 << 20, 64 };
    rank(edge, tiles, 2, &gpu, &tile_legemm, narrow);
    ck_assert(is_tile(&edge[0].tile, 64, 128, 32));
    ck_assert_int_eq(edge[1].by, TILE_USEFUL);
    ck_assert(edge[1].factor[TILE_USEFUL] == 0.5 && edge[0].factor[TILE_USEFUL] == 1);
}
END_TEST

/* The usual candidates are each of their sides with each, once, and m = 32 comes first.
 */
START_TEST(grid)
{
    const struct tile_gpu gpu = described("a100");
    struct tile tiles[TILE_GRID];
    tile_grid(tiles, &gpu, &tile_legemm, 3);
    int i = 0;
    for (int m = 32; m <= 256; m *= 2)
        for (int n = 32; n <= 256; n *= 2)
            for (int k = 16; k <= 64; k *= 2, i++)
                ck_assert(is_tile(&tiles[i], m, n, k) && tiles[i].stages == 3);
    ck_assert_int_eq(i, TILE_GRID);
}
END_TEST

/* --- by counting ------------------------------------------------------------------ */

static int below(uint64_t *state, int n) { return (int)(test_bits(state) % (uint64_t)n); }

static struct tile_gpu random_gpu(uint64_t *s)
{
    return (struct tile_gpu){ .units = 1 + below(s, 150),
                              .registers = 16384 << below(s, 4),
                              .shared = 16384 + below(s, 1 << 18),
                              .shared_reserved = below(s, 2048),
                              .matrix_cores = 1 + below(s, 8),
                              .wave = 32 << below(s, 2),
                              .registers_thread = 127 + 128 * below(s, 4),
                              .waves = 8 + below(s, 64),
                              .groups = 1 + below(s, 32),
                              .group_threads = 256 << below(s, 3),
                              .fragment_m = 8 << below(s, 3),
                              .fragment_n = 8 << below(s, 3),
                              .fragment_k = 8 << below(s, 3) };
}

static struct tile random_tile(uint64_t *s)
{
    return (struct tile){ 8 * (1 + below(s, 32)), 8 * (1 + below(s, 32)),
                          8 * (1 + below(s, 8)), 1 + below(s, 16), 1 + below(s, 4) };
}

static struct tile_problem random_problem(uint64_t *s)
{
    return (struct tile_problem){ 1 + (uint64_t)below(s, 3000),
                                  1 + (uint64_t)below(s, 3000),
                                  1 + (uint64_t)below(s, 3000) };
}

/* Groups that a unit takes, put into it one by one. */
static int groups_that_fit(const struct tile *t, const struct tile_gpu *g)
{
    const int a = t->m * t->k, b = t->k * t->n, threads = t->waves * g->wave;
    const int each = (t->m * t->n + a + b + threads - 1) / threads;
    int shared = g->shared, registers = g->registers, waves = g->waves, groups = 0;
    if (t->m % g->fragment_m || t->n % g->fragment_n || t->k % g->fragment_k) return 0;
    if (t->waves * g->fragment_m * g->fragment_n > t->m * t->n) return 0;
    if (t->stages > 1 && t->k < 2 * g->fragment_k) return 0;
    if (threads > g->group_threads || each >= g->registers_thread) return 0;
    if ((each + 1) * threads > registers) return 0;
    for (; groups < g->groups; groups++) {
        shared -= t->stages * 4 * (a + b) + g->shared_reserved;
        registers -= each * threads;
        waves -= t->waves;
        if (shared < 0 || registers < 0 || waves < 0) break;
    }
    return groups;
}

/* The share of matrix cores that are at work, from the groups given out in turn. */
static double busy_share(const struct tile *t, const struct tile_gpu *g,
                         const struct tile_problem *p, int resident)
{
    int given = 0, most = 0, *unit = calloc((size_t)g->units, sizeof *unit);
    ck_assert(unit != NULL);
    for (uint64_t row = 0; row < p->m; row += (uint64_t)t->m)
        for (uint64_t column = 0; column < p->n; column += (uint64_t)t->n)
            unit[given++ % g->units]++;
    for (int i = 0; i < g->units; i++)
        if (unit[i] > most) most = unit[i];
    free(unit);
    const int waves = (most < resident ? most : resident) * t->waves;
    const double cores = waves < g->matrix_cores ? waves : g->matrix_cores;
    return given * cores / ((double)g->units * most * g->matrix_cores);
}

static double padded(uint64_t n, int by)
{
    return (double)by * ceil((double)n / by) / (double)n;
}

static bool near(double a, double b) { return fabs(a - b) <= 1e-12 * fabs(b); }

static double counted_score(const struct tile *t, const struct tile_gpu *g,
                            const struct tile_problem *p)
{
    const double ratio = 3.0 * t->m * t->n / (2.0 * (t->m + t->n));
    const double computed = padded(p->m, t->m) * padded(p->n, t->n) * padded(p->k, t->k);
    return busy_share(t, g, p, groups_that_fit(t, g)) * ratio / computed;
}

START_TEST(counted)
{
    uint64_t s = test_seed();
    int fits = 0;
    for (int i = 0; i < 3000; i++) {
        const struct tile_gpu g = random_gpu(&s);
        const struct tile t = random_tile(&s);
        const struct tile_problem p = random_problem(&s);
        const struct tile_choice c = judged(t, &g, p);
        const int resident = groups_that_fit(&t, &g);
        const double want = counted_score(&t, &g, &p);
        fits += resident > 0;
        ck_assert_msg((int)c.resident == resident && near(c.score, want),
                      "case %d, %dx%dx%d, %d waves, %d stages: resident %d, want %d; "
                      "score %a, want %a",
                      i, t.m, t.n, t.k, t.waves, t.stages, (int)c.resident, resident,
                      c.score, want);
        ck_assert_int_eq(c.limit == TILE_FITS, resident > 0);
    }
    ck_assert_int_gt(fits, 100);
}
END_TEST

/* A ranking is in order, holds every candidate once, and gives reasons that hold. */
START_TEST(ranking)
{
    enum { COUNT = 40 };
    uint64_t s = test_seed();
    for (int i = 0; i < 300; i++) {
        const struct tile_gpu g = random_gpu(&s);
        const struct tile_problem p = random_problem(&s);
        struct tile tiles[COUNT];
        struct tile_choice c[COUNT];
        int product = 0, ranked = 0;
        for (int j = 0; j < COUNT; j++) {
            tiles[j] = random_tile(&s);
            product += tiles[j].m * tiles[j].n * tiles[j].k;
        }
        rank(c, tiles, COUNT, &g, &tile_legemm, p);
        for (int j = 0; j < COUNT; j++) {
            const double *mine = c[j].factor, *best = c[0].factor;
            ranked += c[j].tile.m * c[j].tile.n * c[j].tile.k;
            if (j) ck_assert(c[j].score <= c[j - 1].score * (1 + 1e-12));
            if (c[j].reason == TILE_BY_LIMIT) ck_assert(c[j].need > c[j].have);
            if (c[j].reason == TILE_BY_LOAD) ck_assert(c[j].work_dl > c[0].work_dl);
            if (c[j].reason == TILE_BY_FACTOR) ck_assert(mine[c[j].by] < best[c[j].by]);
            ck_assert_int_eq(c[j].reason == TILE_BY_LIMIT, c[j].limit != TILE_FITS);
        }
        ck_assert_int_eq(ranked, product);
    }
}
END_TEST

/* --- what must grow or shrink ----------------------------------------------------- */

/* More registers, shared memory or units never make the best worse; transposing the
   problem and the fragment gives the same scores. */
START_TEST(monotonic)
{
    uint64_t s = test_seed();
    for (int i = 0; i < 300; i++) {
        const struct tile_gpu g = random_gpu(&s);
        const struct tile_problem p = random_problem(&s);
        struct tile_gpu more[3] = { g, g, g }, turned = g;
        struct tile_choice best[TILE_GRID], other[TILE_GRID];
        more[0].registers *= 2;
        more[1].shared *= 2;
        more[2].registers_thread *= 2;
        turned.fragment_m = g.fragment_n;
        turned.fragment_n = g.fragment_m;
        rank_grid(best, &g, &tile_legemm, p);
        for (int j = 0; j < 3; j++) {
            rank_grid(other, &more[j], &tile_legemm, p);
            ck_assert_msg(other[0].score >= best[0].score * (1 - 1e-12),
                          "case %d: more of %d made %g of %g", i, j, other[0].score,
                          best[0].score);
        }
        rank_grid(other, &turned, &tile_legemm, (struct tile_problem){ p.n, p.m, p.k });
        for (int j = 0; j < TILE_GRID; j++)
            ck_assert(near(other[j].score, best[j].score) || best[j].score == 0);
    }
}
END_TEST

/* (12) falls and (15) grows with the tile, at the same threads a group. */
START_TEST(opposed)
{
    const struct tile_gpu gpu = described("a100");
    for (int side = 32; side < 256; side *= 2) {
        const struct tile_choice small = judged((struct tile){ side, side, 32, 8, 2 },
                                                &gpu, cube(8192)),
                                 large = judged((struct tile){ 2 * side, side, 32, 8, 2 },
                                                &gpu, cube(8192));
        ck_assert(large.tlp == small.tlp / 2);
        ck_assert(large.factor[TILE_RATE] > small.factor[TILE_RATE]);
        ck_assert(large.work_dl > small.work_dl && large.work_cp == 2 * small.work_cp);
    }
}
END_TEST

/* The largest numbers that the contract allows do not overflow. */
START_TEST(extremes)
{
    const struct tile_gpu one = {
        1, TILE_SIZE_MAX, TILE_SIZE_MAX, 0, 1, 32, 255, 64, 32, 1024, 1, 1, 1, 0, 0, 0
    };
    const struct tile tiles[] = { { 1, 2, 1, 1, 1 },
                                  { 2, 1, 1, 1, 1 },
                                  { 1, 1, 1, 1, 1 } };
    struct tile_choice c[3];
    rank(c, tiles, 3, &one, &tile_legemm, cube(TILE_PROBLEM_MAX));
    ck_assert_int_eq(c[0].reason, TILE_BEST);
    ck_assert(is_tile(&c[0].tile, 1, 2, 1));
    ck_assert_int_eq(c[1].reason, TILE_BY_ORDER);
    ck_assert(is_tile(&c[2].tile, 1, 1, 1) && c[2].reason == TILE_BY_FACTOR);
    ck_assert_uint_eq(c[2].groups, (uint64_t)1 << 62);
    ck_assert(c[2].factor[TILE_BUSY] == 1 && c[2].factor[TILE_USEFUL] == 1);
}
END_TEST

/* --- descriptions ----------------------------------------------------------------- */

#define MOST_FIELDS                                                                      \
    "\"units\": 104, \"registers\": 131072, \"shared\": 65536, \"matrix_cores\": 4, "    \
    "\"wave\": 64, \"registers_thread\": 512, \"waves\": 32, \"groups\": 16, "           \
    "\"group_threads\": 1024, \"fragment_m\": 32, \"fragment_n\": 32"

START_TEST(descriptions)
{
    static const struct {
        const char *text, *fault; /* no fault: the MI210 */
    } rows[] = {
        { "{" MOST_FIELDS ", \"shared_reserved\": 0, \"fragment_k\": 16}", NULL },
        { "{\"what\": [], " MOST_FIELDS ", \"shared_reserved\": 0, \"fragment_k\": 16}",
          NULL },
        { "", "line " },
        { "{", "line " },
        { "[]", "not a JSON object" },
        { "{}", "missing key \"units\"" },
        { "{" MOST_FIELDS "}", "missing key \"shared_reserved\"" },
        { "{" MOST_FIELDS ", \"shared_reserved\": 0}", "missing key \"fragment_k\"" },
        { "{" MOST_FIELDS ", \"shared_reserved\": 0, \"fragment_k\": 16} x", "line " },
        { "{" MOST_FIELDS ", \"shared_reserved\": 0, \"fragment_k\": 0}",
          "\"fragment_k\" is not an integer from 1 to 256" },
        { "{" MOST_FIELDS ", \"shared_reserved\": 0, \"fragment_k\": 257}",
          "\"fragment_k\" is not an integer" },
        { "{" MOST_FIELDS ", \"shared_reserved\": 0, \"fragment_k\": 16.0}",
          "\"fragment_k\" is not an integer" },
        { "{" MOST_FIELDS ", \"shared_reserved\": 0, \"fragment_k\": \"16\"}",
          "\"fragment_k\" is not an integer" },
        { "{" MOST_FIELDS ", \"shared_reserved\": 0, \"fragment_k\": 4294967312}",
          "\"fragment_k\" is not an integer" },
        { "{" MOST_FIELDS ", \"shared_reserved\": 0, \"fragment_k\": 1e400}", "line " },
        { "{" MOST_FIELDS ", \"shared_reserved\": -1, \"fragment_k\": 16}",
          "\"shared_reserved\" is not an integer from 0" },
        { "{" MOST_FIELDS ", \"shared_reserved\": null, \"fragment_k\": 16}",
          "\"shared_reserved\" is not an integer from 0" },
        { "{" MOST_FIELDS ", \"shared_reserved\": 65536, \"fragment_k\": 16}",
          "\"shared_reserved\" must be less than \"shared\"" },
        { "{" MOST_FIELDS ", \"units\": 104, \"shared_reserved\": 0, \"fragment_k\": 16}",
          "line 1: duplicate" },
    };
    const struct tile_gpu mi210 = described("mi210");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tile_gpu gpu = { .units = -1 };
        struct fault f;
        const enum bitcut_status status =
            gpu_file_parse(&gpu, rows[i].text, strlen(rows[i].text), &f);
        if (!rows[i].fault) {
            ck_assert_msg(status == BITCUT_OK, "row %zu: %s", i, f.text);
            ck_assert_int_eq(memcmp(&gpu, &mi210, sizeof gpu), 0);
            continue;
        }
        ck_assert_int_eq(status, BITCUT_BAD_FILE);
        ck_assert_int_eq(gpu.units, -1);
        ck_assert_msg(!strncmp(f.text, rows[i].fault, strlen(rows[i].fault)),
                      "row %zu: got '%s', want '%s'", i, f.text, rows[i].fault);
    }
}
END_TEST

/* Every file in data/gpu is found by its name, can be read, and has a tile that fits. */
START_TEST(kept_descriptions)
{
    static struct data_files files;
    int count = 0;
    ck_assert_int_eq(gpu_files_find(&files, NULL), BITCUT_OK);
    for (const struct table_row *row = files.rows; row->name; row++, count++) {
        const struct tile_gpu gpu = described(row->name);
        struct tile_choice choices[TILE_GRID];
        rank_grid(choices, &gpu, &tile_legemm, cube(4096));
        ck_assert_msg(choices[0].limit == TILE_FITS, "%s: no tile fits", row->name);
    }
    ck_assert_int_ge(count, 5);
    ck_assert(gpu_is_path("./a100") && gpu_is_path("a100.json") && !gpu_is_path("a100"));
    ck_assert(!gpu_is_path("") && !gpu_is_path(".json"));
}
END_TEST

TEST_MAIN("tile", equations, table_2, what_decides_table_2, two_accumulators, exact_tie,
          small_problems, grid, counted, ranking, monotonic, opposed, extremes,
          descriptions, kept_descriptions)
