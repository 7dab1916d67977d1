/* SPDX-License-Identifier: BSD-3-Clause */
/* Units that a device emulates compared with the emulator, every bit: all units, recipes,
   random splits and orders.  The device is tests/gpu/device.c, or, with DEVICE_MODULES
   set, the device of a module in that folder; then it prints how many outputs each method
   computed. */
#define _POSIX_C_SOURCE 200809L

#include "emu/gemm.h"
#include "gpu/api/choose.h"
#include "gpu/emulate/emulation.h"
#include "lib/base/clock.h"
#include "lib/base/size.h"
#include "tests/gpu/any_device.h"

#include <math.h>

/* --- values ------------------------------------------------------------------------- */

/* What the elements of a matrix are: exponents around one, and how often something rare.
 */
struct values {
    int low, high, zeros, specials; /* 1 in so many, 0: never */
};

static const struct values kinds[] = {
    { -3, 3, 0, 0 },   { -14, 2, 20, 0 },  { -36, 16, 9, 0 },    { -126, 127, 9, 400 },
    { -8, 4, 0, 40 },  { -1, 0, 2, 0 },    { -149, -100, 9, 0 }, { 0, 15, 0, 0 },
    { -40, 40, 0, 0 }, { -3, 3, 0, 3000 }, { -12, 12, 4, 0 },    { 0, 0, 0, 0 },
};

static uint32_t some_value(uint64_t *rng, const struct values *v)
{
    static const uint32_t special[] = { 0x7f800000, 0x7fc12345, 0x7f800001, 0x7f7fffff,
                                        1 };
    const uint64_t bits = test_bits(rng);
    const uint32_t sign = (uint32_t)(bits >> 63) << 31;
    if (v->zeros && bits % (unsigned)v->zeros == 0) return sign;
    if (v->specials && (bits >> 8) % (unsigned)v->specials == 0)
        return special[bits >> 32 & 0xff ? (bits >> 32) % 5 : 0] | sign;
    const int e = test_between(rng, v->low, v->high);
    const uint32_t fraction = (uint32_t)(bits >> 16) & 0x7fffff;
    /* Half of the values are of few bits, so that sums tie and cancel. */
    const uint32_t kept = bits >> 62 & 1 ? fraction & 0x700000 : fraction;
    if (e < -126) return sign | (kept | 0x800000) >> (-126 - e);
    return sign | (uint32_t)(e + 127) << 23 | kept;
}

/* A is zero from some k on, so that what is left of a sum is scaled down tile after tile.
 */
static void end_early(const struct bitcut_matrix *x, void *at, size_t count, size_t k)
{
    const size_t bytes = (size_t)format_bytes(x->format);
    for (size_t i = 0; i < count; i++)
        if ((x->layout == BITCUT_ROW_MAJOR ? i % x->ld : i / x->ld) >= k)
            memset((char *)at + i * bytes, 0, bytes);
}

static void fill(struct bitcut_matrix *x, void *to, size_t count, uint64_t *rng,
                 const struct values *v)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t e = bitcut_format_convert(
            x->format, &roundings[ROUND_RN], &formats[FORMAT_F32], some_value(rng, v));
        memcpy((char *)to + i * (size_t)format_bytes(x->format), &e,
               (size_t)format_bytes(x->format));
    }
    x->at = to;
}

/* --- GEMMs -------------------------------------------------------------------------- */

enum { SIDE_MAX = 200, K_MAX = 700, ROOM = (K_MAX + 8) * (SIDE_MAX + 8) * 4 };

static int pick(uint64_t *rng, int n) { return test_between(rng, 0, n - 1); }

static size_t count_rows(const char *const *name, size_t size)
{
    size_t n = 0;
    while (*(const char *const *)((const char *)name + n * size)) n++;
    return n;
}

/* The recipe on the unit, varied; false: it does not run there. */
static bool vary(struct bitcut_gemm *g, uint64_t *rng)
{
    static const int promotes[] = {
        BITCUT_UNSET, BITCUT_UNSET, BITCUT_UNSET, 0, 1, 3, 8
    };
    static const int tiles[] = { BITCUT_UNSET, BITCUT_UNSET, BITCUT_UNSET, 0, 32, 64 };
    struct gemm_plan plan;
    g->promote = promotes[pick(rng, 7)];
    g->tile_k = tiles[pick(rng, 6)];
    g->dropped_term = pick(rng, 3) - 1;
    g->equilibrate = pick(rng, 4) == 0;
    g->scale = pick(rng, 4) ? BITCUT_UNSET : pick(rng, 14);
    if (pick(rng, 3) == 0) {
        g->order.slices = 1 + pick(rng, 4);
        g->order.lanes = 1 + pick(rng, 3);
        g->order.chunk = 16 * pick(rng, 3);
        g->order.tile = 32 * pick(rng, 3);
        g->order.partial_first = pick(rng, 2);
        g->order.cut = 64 * pick(rng, 2);
        g->order.balance_tail = pick(rng, 3) ? 0 : 1 + pick(rng, 40);
        g->order.reduction = (enum bitcut_reduction)pick(rng, 3);
        if (pick(rng, 3) == 0)
            g->order.partial_format = &formats[pick(rng, 2) ? FORMAT_F16 : FORMAT_BF16];
    }
    if (pick(rng, 6) == 0)
        g->split_a =
            &splits[pick(rng, (int)count_rows(&splits[0].name, sizeof splits[0]))];
    if (pick(rng, 6) == 0) g->split_b = g->split_a;
    if (pick(rng, 2)) g->alpha = some_value(rng, &kinds[0]);
    if (pick(rng, 3) == 0) g->beta = some_value(rng, &kinds[pick(rng, 5)]);
    return gemm_plan_on_unit(&plan, g, NULL) == BITCUT_OK;
}

/* Whether devices emulate it: units of processors alone and integers they do not. */
static bool is_emulated(const struct bitcut_gemm *g, const struct bitcut_unit *u)
{
    struct unit_rule rule;
    struct gemm_plan plan;
    return unit_rule_make(&rule, u) && gemm_plan_on_unit(&plan, g, NULL) == BITCUT_OK &&
           !split_is_fixed(&plan.split_a) && !split_is_fixed(&plan.split_b);
}

/* What of it fits the unit. */
static bool pose(struct bitcut_gemm *g, const struct bitcut_recipe *r,
                 const struct bitcut_unit *u, uint64_t *rng)
{
    struct gemm_plan plan;
    for (int i = 0; i < 4; i++) {
        *g = gemm_of(r, u);
        if (vary(g, rng)) return true;
    }
    *g = gemm_of(r, u);
    return gemm_plan_on_unit(&plan, g, NULL) == BITCUT_OK;
}

static struct bitcut_matrix place(uint64_t *rng, size_t rows, size_t cols, bool wide)
{
    static const int narrow[] = { FORMAT_F16, FORMAT_BF16, FORMAT_E4M3, FORMAT_E5M2,
                                  FORMAT_TF32 };
    struct bitcut_matrix x = { .layout = (enum bitcut_layout)pick(rng, 2) };
    const size_t line = x.layout == BITCUT_ROW_MAJOR ? cols : rows;
    x.ld = (line ? line : 1) + (size_t)pick(rng, 3);
    x.format = &formats[pick(rng, 4) || wide ? FORMAT_F32 : narrow[pick(rng, 5)]];
    return x;
}

static size_t lines_of(const struct bitcut_matrix *x, size_t rows, size_t cols)
{
    return x->layout == BITCUT_ROW_MAJOR ? rows : cols;
}

/* --- comparing ---------------------------------------------------------------------- */

static struct {
    uint64_t gemms, outputs, differ;
} counts[CHAIN_METHODS + 1];

static void describe_difference(const struct gpu_work *w, const char *got,
                                const char *want, size_t elements, int bytes)
{
    char line[BITCUT_GEMM_MAX] = "";
    size_t at = 0;
    while (at < elements &&
           !memcmp(got + at * (size_t)bytes, want + at * (size_t)bytes, (size_t)bytes))
        at++;
    if (bitcut_gemm_write(line, &w->gemm) != BITCUT_OK) strcpy(line, "GEMM without a line");
    uint64_t x = 0, y = 0;
    memcpy(&x, got + at * (size_t)bytes, (size_t)bytes);
    memcpy(&y, want + at * (size_t)bytes, (size_t)bytes);
    printf("# %s, %s, %zu x %zu x %zu, element %zu (ld %zu, %s): %" PRIx64
           ", not %" PRIx64 "\n",
           line, gpu_work_method(w, (size_t)w->plan.terms - 1), w->gemm.m, w->gemm.n,
           w->gemm.k, at, w->gemm.d.ld, w->gemm.d.layout ? "down" : "across", x, y);
    fflush(stdout);
}

/* Run it on both sides; false: they differ. */
static bool check(struct bitcut_gemm *g, uint64_t *rng, size_t m, size_t n, size_t k,
                  const struct values *v)
{
    static char a[ROOM], b[ROOM], c[ROOM], got[ROOM], want[ROOM];
    struct gpu_work w;
    struct fault f;
    g->m = m, g->n = n, g->k = k;
    g->a = place(rng, m, k, false), g->b = place(rng, k, n, false);
    g->c = place(rng, m, n, true), g->d = place(rng, m, n, false);
    const size_t in_a = lines_of(&g->a, m, k) * g->a.ld,
                 in_b = lines_of(&g->b, k, n) * g->b.ld,
                 in_c = lines_of(&g->c, m, n) * g->c.ld,
                 in_d = lines_of(&g->d, m, n) * g->d.ld;
    fill(&g->a, a, in_a, rng, v);
    if (pick(rng, 4) == 0) end_early(&g->a, a, in_a, k / 8);
    fill(&g->b, b, in_b, rng, pick(rng, 2) ? v : &kinds[0]);
    fill(&g->c, c, in_c, rng, v);
    const size_t bytes = in_d * (size_t)format_bytes(g->d.format);
    memset(got, 0x5a, bytes);
    memset(want, 0x5a, bytes);
    g->d.to = want;
    if (gemm_run(g, &(struct gemm_options){ 0 }, &f) != BITCUT_OK)
        ck_abort_msg("%s", f.text);
    g->d.to = got;
    if (gpu_work_choose(&w, &gpu, &on, g, &f) != BITCUT_OK) ck_abort_msg("%s", f.text);
    const bool reads_c = gemm_reads_c(g);
    const struct gpu_memory memory[4] = {
        { a, in_a * (size_t)format_bytes(g->a.format) },
        { b, in_b * (size_t)format_bytes(g->b.format) },
        { reads_c ? c : NULL, reads_c ? in_c * (size_t)format_bytes(g->c.format) : 0 },
        { got, bytes }
    };
    if (gpu_work_run(&w, memory, &gpu, &on, &f) != BITCUT_OK) ck_abort_msg("%s", f.text);
    const bool same = !memcmp(got, want, bytes);
    for (int i = 0; i < w.plan.accumulators; i++) {
        const int method =
            gpu_work_emulates(&w) ? (int)w.emulation.method[i] : CHAIN_METHODS;
        counts[method].gemms++;
        counts[method].outputs += m * n;
        counts[method].differ += !same;
    }
    if (!same) describe_difference(&w, got, want, in_d, format_bytes(g->d.format));
    return same;
}

static void print_counts(void)
{
    static const char *const names[] = { "steps",  "simt",   "cut",
                                         "tensor", "native", "kernel" };
    for (int i = 0; i <= CHAIN_METHODS; i++)
        printf("# %s: %" PRIu64 " chains, %" PRIu64 " outputs, %" PRIu64
               " GEMMs differ\n",
               names[i], counts[i].gemms, counts[i].outputs, counts[i].differ);
}

START_TEST(emulates)
{
    open_device();
    uint64_t rng = test_seed();
    /* The models compute by the emulator: with them it is only what is chosen. */
    const int cases = test_cases(48, getenv("DEVICE_MODULES") ? INT32_MAX : 2000);
    const char *const only = getenv("BITCUT_UNITS");
    const double end = seconds_now() + seconds_most();
    int all = 0, recipe_count = 0, wrong = 0;
    while (units[all].name) all++;
    while (recipes[recipe_count].name) recipe_count++;
    for (int i = 0; i < cases && wrong < 20 && seconds_now() < end;) {
        struct bitcut_gemm g;
        const struct bitcut_unit *u = &units[pick(&rng, all)];
        const struct bitcut_recipe *r =
            &recipes[pick(&rng, 2) ? 0 : pick(&rng, recipe_count)];
        if ((only && !strstr(u->name, only)) || !pose(&g, r, u, &rng) ||
            !is_emulated(&g, u))
            continue;
        const bool small = pick(&rng, 3);
        const size_t m = (size_t)pick(&rng, small ? 40 : SIDE_MAX),
                     n = (size_t)pick(&rng, small ? 40 : SIDE_MAX);
        const size_t k = (size_t)pick(&rng, small ? 100 : K_MAX);
        wrong += !check(&g, &rng, m, n, k,
                        &kinds[pick(&rng, (int)(sizeof kinds / sizeof kinds[0]))]);
        i++;
    }
    print_counts();
    gpu_close(&gpu);
    ck_assert_int_eq(wrong, 0);
}
END_TEST

int main(void)
{
    const TTest *const list[] = { emulates, NULL };
    if (!getenv("DEVICE_MODULES") && access("tests/.libs/bitcut-cuda.so", F_OK)) {
        puts("1..0 # SKIP needs the shared library: configure without --disable-shared");
        return 0;
    }
    return test_run("emulation on a device", list);
}
