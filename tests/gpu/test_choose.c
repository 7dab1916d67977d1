/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice of a kernel by the tile model: by hand, again by counting tiles on units,
   and by relations between choices. */
#include "gpu/api/choose.h"
#include "lib/number/round.h"
#include "tests/test.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct gpu_architecture only = { "sm_90a", "", "hopper", 1 };

/* An H200, and kernels of gpu/cuda/gemm_sm90.cu as their rows are. */
static const struct gpu_device h200 = { .architecture = &only,
                                        .architectures = 1,
                                        .shared_bytes = 232448,
                                        .units = 132,
                                        .unit_registers = 65536,
                                        .unit_threads = 2048,
                                        .wave = 32,
                                        .unit_blocks = 32,
                                        .unit_shared = 233472,
                                        .block_shared = 1024,
                                        .products = 2048,
                                        .shared_rate = 320,
                                        .cache_rate = 38 };

/* By wgmma: 128 x n. */
static struct gpu_kernel hopper(int terms, int parts, int bytes, int n, int k, int stages)
{
    const int load = parts * (128 + n) * bytes, read = terms * 2 * (64 + n) * bytes;
    return (struct gpu_kernel){ .name = "hopper",
                                .recipe = "legemm",
                                .instruction = "wgmma",
                                .matrices = FORMAT_F32,
                                .format = bytes == 4 ? FORMAT_TF32 : FORMAT_F16,
                                .program = { .parts = parts, .terms = terms },
                                .tile_m = 128,
                                .tile_n = n,
                                .tile_k = k,
                                .stages = stages,
                                .threads = 384,
                                .shared_bytes = stages * load * k,
                                .registers = 168,
                                .cluster_m = 2,
                                .cluster_n = 1,
                                .load_bytes = load,
                                .read_bytes = read,
                                .slices_most = 16,
                                .architectures = only.bit };
}

/* Three terms of two 16-bit parts. */
static struct gpu_kernel three(int n, int k, int stages)
{
    return hopper(3, 2, 2, n, k, stages);
}

/* A module with rows of three(). */
enum { ROWS = 4 };
static struct gpu_kernel kernels[ROWS + 1];
static const struct gpu_family families[] = { { "three", "", NULL, kernels }, { 0 } };
static const struct gpu_module module = { .families = families };
static const struct gpu gpu = { &module, NULL };

static void rows_set(void)
{
    kernels[0] = three(192, 32, 5);
    kernels[1] = three(128, 64, 3);
    kernels[2] = three(64, 64, 4);
    kernels[3] = three(64, 64, 4);
    kernels[3].program.promote = 4;
}

static struct bitcut_gemm sizes(size_t m, size_t n, size_t k)
{
    return (struct bitcut_gemm){ .m = m, .n = n, .k = k, .order.slices = 1 };
}

/* A kernel that is the only one of its module. */
static struct tile_choice judged(struct gpu_kernel kernel, struct bitcut_gemm gemm)
{
    const struct gpu_kernel alone[] = { kernel, { 0 } };
    const struct gpu_family family[] = { { "alone", "", NULL, alone }, { 0 } };
    const struct gpu_module one = { .families = family };
    const struct gpu g = { &one, NULL };
    struct gpu_choice c[GPU_CHOICES_MAX];
    ck_assert_uint_eq(gpu_kernel_rank(c, &g, &h200, alone, &gemm), 1);
    return c->judged;
}

static bool near(double a, double b) { return fabs(a - b) <= 1e-12 * fabs(b); }

/* --- by hand ---------------------------------------------------------------------- */

/* 128 x 128 x 64 at n = 1024: 4 x 8 tiles of a cluster on 66; a step has 1536 clocks of
   products, 64 (1024 + 2304) bytes through shared memory, 64 768 from the cache. */
START_TEST(by_hand)
{
    const struct tile_choice c = judged(three(128, 64, 3), sizes(1024, 1024, 1024));
    const double step = 1536 + 665.6, end = 65536 / 38.0;
    ck_assert(c.groups == 32 && c.busiest == 1 && c.resident == 1 && c.steps == 16);
    ck_assert(c.products_clocks == 1536 && near(c.shared_clocks, 665.6) &&
              near(c.cache_clocks, 49152 / 38.0));
    ck_assert(near(c.factor[TILE_BUSY], 32.0 / 66) && c.factor[TILE_USEFUL] == 1);
    ck_assert(near(c.factor[TILE_RATE], 16 * 1536 / (16 * step + end)));
    ck_assert(near(c.score, c.factor[TILE_BUSY] * c.factor[TILE_RATE]));
}
END_TEST

/* Loads that take longer than multiplications bound the step; with one stage both add. */
START_TEST(bounds)
{
    struct gpu_kernel kernel = three(64, 64, 4);
    kernel.program.terms = 1;
    const double end = 4 * 128 * 64 / 38.0, load = 64 * 640 / 38.0, multiply = 256;
    const struct tile_choice ahead = judged(kernel, sizes(256, 64, 64));
    kernel.stages = 1;
    const struct tile_choice plainly = judged(kernel, sizes(256, 64, 64));
    ck_assert(near(ahead.factor[TILE_RATE], multiply / (load + end)));
    ck_assert(near(plainly.factor[TILE_RATE],
                   multiply / (multiply + ahead.shared_clocks + load + end)));
    kernel.format = FORMAT_TF32;
    ck_assert(judged(kernel, sizes(256, 64, 64)).products_clocks == 2 * multiply);
}
END_TEST

/* Blocks of a unit by each of its limits; their ends hide behind each other. */
START_TEST(residents)
{
    static const struct {
        int threads, registers, shared;
        double resident;
    } rows[] = {
        { 128, 32, 0, 16 },    { 32, 32, 0, 32 },        { 128, 128, 0, 4 },
        { 128, 32, 49152, 4 }, { 128, 32, 76800, 3 },    { 384, 168, 200000, 1 },
        { 256, 255, 1024, 1 }, { 1024, 255, 232448, 1 }, { 128, 0, 0, 16 },
        { 0, 0, 0, 32 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct gpu_kernel kernel = three(64, 64, 4);
        kernel.threads = rows[i].threads;
        kernel.registers = rows[i].registers;
        kernel.shared_bytes = rows[i].shared;
        const struct tile_choice c = judged(kernel, sizes(256 * 66 * 5, 64, 64));
        const double end = 4 * 128 * 64 / 38.0,
                     step = c.products_clocks + c.shared_clocks;
        ck_assert_msg((double)c.resident == rows[i].resident,
                      "row %zu: %g blocks, not %g", i, (double)c.resident,
                      rows[i].resident);
        ck_assert(near(c.factor[TILE_RATE],
                       5 * c.products_clocks /
                           (5 * step + ceil(5 / (double)c.resident) * end)));
    }
}
END_TEST

/* --- by counting ------------------------------------------------------------------ */

static size_t below(uint64_t *state, size_t n) { return (size_t)(test_bits(state) % n); }

/* Slices that a cluster has, if all blocks are at most 132, or 102 in clusters of three
   and more. */
static int counted_together(const struct gpu_kernel *k, const struct bitcut_gemm *g)
{
    size_t blocks = 0;
    for (size_t i = 0; i < g->m; i += (size_t)k->tile_m)
        for (size_t j = 0; j < g->n; j += (size_t)k->tile_n) blocks++;
    const size_t most = g->order.slices == 2 ? 132 : 102;
    const bool has = g->order.slices <= k->slices_together;
    return has && blocks * (size_t)g->order.slices <= most ? g->order.slices : 1;
}

/* Clocks of the busiest unit, to which tiles are given in turn. */
static double counted_clocks(const struct gpu_kernel *k, const struct bitcut_gemm *g)
{
    const int together = counted_together(k, g);
    const int units = h200.units / (k->cluster_m * k->cluster_n * together);
    const size_t steps = g->k / (size_t)k->tile_k + (g->k % (size_t)k->tile_k != 0);
    const size_t slices =
        (size_t)g->order.slices < steps ? (size_t)g->order.slices : steps;
    const double bytes = k->load_bytes + k->read_bytes;
    const double products = k->program.terms * k->tile_m * k->tile_n / 2048.0;
    const double b = k->tile_n / (double)k->cluster_m + k->tile_m / (double)k->cluster_n;
    const double load = k->program.parts * 2 * b / 38;
    const double end = 4.0 * k->tile_m * k->tile_n / 38 / together +
                       (together > 1 ? 3500 + k->tile_m * k->tile_n * (together - 1) *
                                                  0.5 / together
                                     : 0);
    int tiles[132] = { 0 }, given = 0;
    for (size_t part = 0; part < g->count * (together > 1 ? 1 : slices); part++)
        for (size_t i = 0; i < g->m; i += (size_t)(k->cluster_m * k->tile_m))
            for (size_t j = 0; j < g->n; j += (size_t)(k->cluster_n * k->tile_n))
                tiles[given++ % units]++;
    const double step = fmax(products + bytes / 320, load) * k->tile_k;
    return tiles[0] * (ceil((double)steps / (double)slices) * step + end);
}

START_TEST(counted)
{
    uint64_t s = test_seed();
    for (int i = 0; i < 3000; i++) {
        struct gpu_kernel k = three(16 * (1 + (int)below(&s, 16)), 64, 2);
        struct bitcut_gemm g =
            sizes(1 + below(&s, 5000), 1 + below(&s, 5000), 1 + below(&s, 5000));
        k.cluster_m = 1 + (int)below(&s, 4);
        k.cluster_n = 1 + (int)below(&s, 3);
        if (below(&s, 4) == 0) k.cluster_m = k.cluster_n = 1;
        if (k.cluster_m * k.cluster_n == 1) k.slices_together = (int)below(&s, 9);
        g.order.slices = 1 + (int)below(&s, 16);
        g.count = 1 + below(&s, 5);
        if (below(&s, 2)) g.m = 1 + g.m % 600, g.n = 1 + g.n % 600;
        const int cluster = k.cluster_m * k.cluster_n * counted_together(&k, &g);
        const struct tile_choice c = judged(k, g);
        const double peak = 2048.0 * (h200.units / cluster) * cluster;
        const double want = 3.0 * (double)g.count * (double)g.m * (double)g.n *
                            (double)g.k / (peak * counted_clocks(&k, &g));
        ck_assert_msg(near(c.score, want),
                      "case %d: %zu of m %zu n %zu k %zu slices %d, 128x%d, cluster "
                      "%d x %d: "
                      "%a, not %a",
                      i, g.count, g.m, g.n, g.k, g.order.slices, k.tile_n, k.cluster_m,
                      k.cluster_n, c.score, want);
    }
}
END_TEST

/* --- which is chosen -------------------------------------------------------------- */

static int chosen_n(struct bitcut_gemm gemm)
{
    struct gpu_choice c[GPU_CHOICES_MAX];
    ck_assert_uint_eq(gpu_kernel_rank(c, &gpu, &h200, &kernels[0], &gemm), 3);
    ck_assert(c[0].judged.score >= c[1].judged.score &&
              c[1].judged.score >= c[2].judged.score);
    return c[0].kernel->tile_n;
}

/* As an H200 timed them: the tile that fills the machine, then the one that moves less.
 */
START_TEST(shapes)
{
    static const struct {
        size_t m, n, k;
        int tile_n;
    } rows[] = {
        { 1024, 1024, 1024, 64 },  { 1280, 1280, 1280, 128 }, { 1536, 1536, 1536, 192 },
        { 2048, 2048, 2048, 128 }, { 3072, 3072, 3072, 192 }, { 4096, 4096, 4096, 128 },
        { 8192, 8192, 8192, 192 },
    };
    rows_set();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_int_eq(chosen_n(sizes(rows[i].m, rows[i].n, rows[i].k)),
                         rows[i].tile_n);
    struct bitcut_gemm sliced = sizes(1024, 1024, 8192);
    sliced.order.slices = 2;
    ck_assert_int_eq(chosen_n(sizes(1024, 1024, 8192)), 64);
    ck_assert_int_eq(chosen_n(sliced), 128); /* 64 tiles of a cluster */
    ck_assert_int_gt(chosen_n(sizes(0, 0, 0)), 0);
    ck_assert_int_gt(chosen_n(sizes(SIZE_MAX, SIZE_MAX, SIZE_MAX)), 0);
}
END_TEST

/* Only kernels of the same bits, that fit and take the sizes; ties keep the order. */
START_TEST(candidates)
{
    struct gpu_choice c[GPU_CHOICES_MAX];
    struct bitcut_gemm g = sizes(100, 100, 100);
    rows_set();
    ck_assert_uint_eq(gpu_kernel_rank(c, &gpu, &h200, &kernels[3], &g), 1);
    ck_assert_ptr_eq(c[0].kernel, &kernels[3]);
    kernels[3].program.promote = 0;
    ck_assert_uint_eq(gpu_kernel_rank(c, &gpu, &h200, &kernels[0], &g), 4);
    ck_assert(c[0].kernel == &kernels[2] && c[1].kernel == &kernels[3]);
    kernels[2].size_most = 99;
    ck_assert_uint_eq(gpu_kernel_rank(c, &gpu, &h200, &kernels[0], &g), 3);
    kernels[3].shared_bytes = h200.shared_bytes + 1;
    ck_assert_uint_eq(gpu_kernel_rank(c, &gpu, &h200, &kernels[0], &g), 2);
    kernels[1].architectures = ~only.bit;
    ck_assert_uint_eq(gpu_kernel_rank(c, &gpu, &h200, &kernels[0], &g), 1);
    g.order.slices = 17;
    ck_assert_uint_eq(gpu_kernel_rank(c, &gpu, &h200, &kernels[0], &g), 0);
}
END_TEST

/* A device whose rates are known is judged by clocks, another by LE-GEMM's score, which
   counts no clusters: 3 128 64 / (2 (128 + 64)) operations a byte, on 64 of 132 units. */
START_TEST(models)
{
    struct gpu_choice c[GPU_CHOICES_MAX];
    const struct bitcut_gemm g = sizes(1024, 512, 64);
    struct gpu_device plain = h200;
    plain.products = plain.shared_rate = plain.cache_rate = 0;
    rows_set();
    ck_assert_ptr_eq(gpu_model(&h200), &tile_models[TILE_MODEL_CLOCKS]);
    ck_assert_ptr_eq(gpu_model(&plain), &tile_models[TILE_MODEL_LEGEMM]);
    ck_assert_uint_eq(gpu_kernel_rank(c, &gpu, &plain, &kernels[0], &g), 3);
    for (int i = 0; i < 3; i++) {
        if (c[i].kernel != &kernels[2]) continue;
        ck_assert_uint_eq(c[i].judged.groups, 64);
        ck_assert(near(c[i].judged.score, 64.0 / 132 * (128 * 64 * 3.0 / (2 * 192))));
    }
    struct gpu_choice same[GPU_CHOICES_MAX];
    ck_assert_uint_eq(gpu_kernel_rank_by(same, &tile_models[TILE_MODEL_LEGEMM], &gpu,
                                         &h200, &kernels[0], &g),
                      3);
    for (int i = 0; i < 3; i++)
        ck_assert(same[i].kernel == c[i].kernel &&
                  same[i].judged.score == c[i].judged.score);
}
END_TEST

/* Whatever says another value of D. */
START_TEST(alike)
{
    const struct gpu_kernel x = three(64, 64, 4);
    struct gpu_kernel y[] = { x, x, x, x, x, x, x, x, x, x };
    y[0].recipe = "ootomo";
    y[1].instruction = "mma";
    y[2].format = FORMAT_BF16;
    y[3].program.parts = 3;
    y[4].program.terms = 4;
    y[5].program.promote = 1;
    y[6].program.term[2].b = 1;
    y[7].program.term[0].accumulator = 1;
    y[8].matrices = FORMAT_F16;
    y[9].side_most = 8;
    ck_assert(gpu_kernel_alike(&x, &x));
    for (int i = 0; i < 10; i++)
        ck_assert_msg(!gpu_kernel_alike(&x, &y[i]), "change %d is overlooked", i);
    const struct gpu_kernel other = three(192, 32, 5);
    ck_assert(gpu_kernel_alike(&x, &other));
}
END_TEST

/* --- slices of k, and narrow matrices -------------------------------------------------
 */

/* ootomo by wgmma in tiles of 128 x 128 without clusters, and in registers for a narrow
   D, as gpu/cuda/gemm_sm90.cu and gemv_sm90.cu have them. */
static void ootomo_set(void)
{
    struct gpu_kernel k = three(128, 64, 3);
    k.name = "wide";
    k.recipe = "ootomo";
    k.instruction = "wgmma.m64n8k16.f32.f16";
    k.program = (struct gpu_program){
        2, 3, { { 1, 0, 1, 0 }, { 0, 1, 1, 0 }, { 0, 0, 0, 0 } }, 1
    };
    k.cluster_m = 1;
    k.slices_most = 65535;
    k.slices_together = 8;
    kernels[0] = kernels[1] = k;
    kernels[1].name = "narrow";
    kernels[1].instruction = "mma.m16n8k16.f32.f16";
    kernels[1].slices_most = 64;
    kernels[1].slices_together = 0;
    kernels[1].tile_m = 8;
    kernels[1].tile_n = 32;
    kernels[1].side_most = 64;
    kernels[1].chain_clocks = 360;
    kernels[2] = (struct gpu_kernel){ 0 };
}

static struct bitcut_gemm ootomo(size_t m, size_t n, size_t k, bool any)
{
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.recipe = bitcut_recipe_find("ootomo");
    g.m = m, g.n = n, g.k = k;
    g.any_slices = any;
    return g;
}

/* A narrow D takes no split pass, and four slices in each block of clusters that occupy
   all multiprocessors; another D so many that its tiles do, if this is worth the launch
   that adds them: the fastest number on an H200 (data/h200/slices.jsonl), or one
   near it. */
START_TEST(sliced)
{
    static const struct {
        size_t m, n, k;
        const char *kernel;
        int least, most; /* slices */
    } rows[] = {
        /* clang-format off */
        { 1,    4096,  4096,  "narrow", 4,   4 },
        { 4096, 1,     4096,  "narrow", 4,   4 },
        { 8,    32000, 4096,  "narrow", 4,   4 },
        { 1,    1024,  4096,  "narrow", 12,  12 },
        { 8,    8,     65536, "narrow", 64,  64 },
        { 1,    2048,  2048,  "narrow", 8,   8 },
        { 1,    512,   512,   "narrow", 16,  16 },
        { 1,    256,   256,   "narrow", 8,   8 },
        { 1,    32,    100,   "narrow", 4,   4 },
        { 1,    1,     1,     "narrow", 1,   1 },
        { 9,    4096,  4096,  "narrow", 4,   4 },
        { 16,   4096,  4096,  "narrow", 4,   4 },
        { 32,   1024,  1024,  "narrow", 4,   4 },
        { 24,   24,    65536, "narrow", 64,  64 },
        { 64,   4096,  4096,  "wide",   2,   4 },
        { 65,   65,    512,   "wide",   1,   8 },
        { 128,  128,   65536, "wide",   66,  132 },
        { 256,  256,   32768, "wide",   16,  33 },
        { 512,  512,   60000, "wide",   4,   8 },
        { 512,  512,   8192,  "wide",   4,   8 },
        { 2048, 128,   8192,  "wide",   4,   8 },
        { 100,  1000,  5000,  "wide",   8,   16 },
        { 256,  256,   256,   "wide",   1,   1 },
        { 512,  512,   512,   "wide",   1,   4 },
        { 1024, 1024,  1024,  "wide",   1,   2 },
        { 8192, 8192,  8192,  "wide",   1,   1 },
        { 128,  128,   64,    "wide",   1,   1 },
        { 0,    128,   65536, "narrow", 1,   64 },
        { 128,  128,   0,     "wide",   1,   1 },
        /* clang-format on */
    };
    ootomo_set();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int any = 0; any < 2; any++) {
            const struct bitcut_gemm g = ootomo(rows[i].m, rows[i].n, rows[i].k, any);
            struct gpu_work w;
            struct fault f = { 0 };
            ck_assert_msg(gpu_work_choose(&w, &gpu, &h200, &g, &f) == BITCUT_OK,
                          "row %zu: %s", i, f.text);
            ck_assert_str_eq(w.kernel->name, rows[i].kernel);
            const int slices = w.plan.order.slices;
            ck_assert_msg(any ? rows[i].least <= slices && slices <= rows[i].most
                              : slices == 1,
                          "row %zu: %d slices", i, slices);
        }
}
END_TEST

/* What a narrow kernel does not do, another does, with the bits of the same unit. */
START_TEST(narrow_or_not)
{
    static const struct {
        const char *what, *kernel;
    } rows[] = { { "nothing", "narrow" },     { "equilibrate", "wide" },
                 { "prepared", "wide" },      { "split", "wide" },
                 { "unit of mma", "narrow" }, { "unit of wgmma", "narrow" },
                 { "unit of an A100", NULL }, { "scale", "narrow" },
                 { "slices of wide", "wide" } };
    ootomo_set();
    for (int i = 0; i < 9; i++) {
        struct bitcut_gemm g = ootomo(8, 4096, 8192, false);
        struct gpu_work w;
        struct fault f = { 0 };
        const char *const units[] = { "hopper/mma.m16n8k16.f32.f16",
                                      "hopper/wgmma.m64n8k16.f32.f16",
                                      "ampere/mma.m16n8k16.f32.f16" };
        g.equilibrate = i == 1;
        if (i == 2) g.b.prepared = &g;
        if (i == 3) g.low = &roundings[ROUND_RZ];
        if (i >= 4 && i <= 6) g.unit = bitcut_unit_find(units[i - 4], NULL);
        if (i == 7) g.scale = 9;
        if (i == 8) g.order.slices = 65;
        const enum bitcut_status status = gpu_work_choose(&w, &gpu, &h200, &g, &f);
        ck_assert_msg((status == BITCUT_OK) == (rows[i].kernel != NULL), "%s: %s",
                      rows[i].what, f.text);
        if (rows[i].kernel)
            ck_assert_msg(!strcmp(w.kernel->name, rows[i].kernel), "%s: %s", rows[i].what,
                          w.kernel->name);
    }
}
END_TEST

/* --- against exhaustive tuning ----------------------------------------------------- */

/* A kernel that was timed: its bits, as far as its name says them, and its time. */
struct timing {
    char recipe[24], format[8];
    int promote;
    size_t n;
    double score, ms;
};

enum { TIMINGS_MAX = 1000 };

/* A line of data/h200/tiles.jsonl; false for a kernel of another family. */
static bool timing_read(struct timing *t, const json_t *line)
{
    int columns, depth, stages;
    const char *name = json_string_value(json_object_get(line, "name"));
    *t = (struct timing){ .promote = -1 };
    ck_assert(name != NULL);
    if (sscanf(name, "sm90.%23[^.].%7[^.].128x%dx%d.%d.promote%d", t->recipe, t->format,
               &columns, &depth, &stages, &t->promote) < 5)
        return false;
    const struct bitcut_recipe *r = bitcut_recipe_find(t->recipe);
    ck_assert(r != NULL);
    const int bytes = strcmp(t->format, "tf32") ? 2 : 4;
    t->n = (size_t)json_integer_value(json_object_get(line, "n"));
    t->ms = json_real_value(json_object_get(line, "ms"));
    t->score =
        judged(hopper(r->terms + r->keeps_dropped_term, r->split ? r->split->parts : 1,
                      bytes, columns, depth, stages),
               sizes(t->n, t->n, t->n))
            .score;
    return true;
}

static bool same_bits(const struct timing *x, const struct timing *y)
{
    return !strcmp(x->recipe, y->recipe) && !strcmp(x->format, y->format) &&
           x->promote == y->promote && x->n == y->n;
}

static size_t timings_read(struct timing t[TIMINGS_MAX])
{
    char path[4096];
    json_error_t error;
    json_t *line;
    size_t count = 0;
    const char *data = getenv("BITCUT_DATA");
    ck_assert_msg(data != NULL, "BITCUT_DATA is not set");
    snprintf(path, sizeof path, "%s/h200/tiles.jsonl", data);
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s: cannot be read", path);
    while ((line = json_loadf(file, JSON_DISABLE_EOF_CHECK, &error))) {
        ck_assert_uint_lt(count, TIMINGS_MAX);
        count += timing_read(&t[count], line);
        json_decref(line);
    }
    fclose(file);
    return count;
}

/* The chosen tile is at most 5 % slower than the fastest of all that were timed. */
START_TEST(timed)
{
    static struct timing t[TIMINGS_MAX];
    const size_t count = timings_read(t);
    ck_assert_uint_gt(count, 300);
    for (size_t i = 0; i < count; i++) {
        const struct timing *best = &t[i], *chosen = &t[i];
        for (size_t j = 0; j < count; j++) {
            if (!same_bits(&t[i], &t[j])) continue;
            if (t[j].ms < best->ms) best = &t[j];
            if (t[j].score > chosen->score) chosen = &t[j];
        }
        ck_assert_msg(best->ms >= 0.95 * chosen->ms,
                      "%s.%s, promote %d, n %zu: chosen %g ms, best %g ms", t[i].recipe,
                      t[i].format, t[i].promote, t[i].n, chosen->ms, best->ms);
    }
}
END_TEST

TEST_MAIN("choose", by_hand, bounds, residents, counted, shapes, candidates, models,
          alike, sliced, narrow_or_not, timed)
