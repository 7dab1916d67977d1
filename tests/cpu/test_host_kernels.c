/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole GEMMs on the matrix units of this processor, with AMX even where it is missing
   (tests/cpu/amx_signal.h), compared with the emulator: random sizes, layouts, positions,
   orders, splits, batches, parts and floating-point modes of the caller.  Only D is
   written. */
#include "gpu/api/gpu.h"
#include "gpu/cpu/host_code.h"
#include "gpu/cpu/host_module.h"
#include "gpu/cpu/host_units.h"
#include "gpu/module/layout.h"
#include "lib/base/threads.h"
#include "lib/gemm/plan.h"
#include "tests/cpu/amx_signal.h"
#include "tests/test.h"

#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if HOST_HAS_CODE

/* --- matrices --------------------------------------------------------------------- */

/* What elements are; half of all problems have the first. */
enum values { NEAR_ONE, OF_ALL_SIZES, ANYTHING, VALUES };

static uint32_t value(enum values values, uint64_t *state)
{
    static const uint32_t special[] = { 0x00000000, 0x80000000, 0x7f800000, 0xff800000,
                                        0x7f7fffff, 0xff7fffff, 0x00000001, 0x807fffff,
                                        0x7fc00000, 0x7f800001, 0xffffffff, 0x00800000,
                                        0x7f7f7fff, 0x7f7f8000, 0x33800000, 0x3f808000 };
    const uint32_t bits = (uint32_t)test_bits(state);
    if (values == NEAR_ONE) return 0x3e000000 ^ (bits & 0x81ffffff);
    if (values == ANYTHING && !test_between(state, 0, 40)) return special[bits % 16];
    if (values == ANYTHING) return 0x3e000000 ^ (bits & 0x87ffffff);
    return (bits & 0x7f800000) == 0x7f800000 ? 0 : bits;
}

/* The elements of all matrices of a batch, on a few more bytes than they need. */
static uint32_t *elements_make(const struct bitcut_matrix *x, size_t lines, size_t count,
                               enum values values, uint64_t *state)
{
    const size_t all = (count - 1) * x->stride + lines * x->ld + 64;
    uint32_t *const at = malloc(all * sizeof *at);
    ck_assert_ptr_nonnull(at);
    for (size_t i = 0; i < all; i++) at[i] = value(values, state);
    return at;
}

static size_t lines_of(const struct bitcut_matrix *x, size_t rows, size_t cols)
{
    return x->layout == BITCUT_COLUMN_MAJOR ? cols : rows;
}

/* A layout, and gaps between lines and between matrices. */
static struct bitcut_matrix some_matrix(size_t rows, size_t cols, uint64_t *state)
{
    struct bitcut_matrix x = { .layout = test_between(state, 0, 1) ? BITCUT_COLUMN_MAJOR
                                                                   : BITCUT_ROW_MAJOR };
    x.ld = lines_of(&x, cols, rows);
    if (!x.ld || test_between(state, 0, 1)) x.ld += (size_t)test_between(state, 1, 20);
    x.stride = lines_of(&x, rows, cols) * x.ld + (size_t)test_between(state, 0, 3);
    return x;
}

/* --- GEMMs ------------------------------------------------------------------------ */

/* A GEMM, and what it reads and writes. */
struct problem {
    struct bitcut_gemm gemm;
    uint32_t *a, *b, *c, *d; /* C may be D */
    size_t d_bytes;
};

/* Up to so many, mostly more than half of that. */
static size_t some_size(int most, uint64_t *state)
{
    return (size_t)test_between(state, test_between(state, 0, 3) ? most / 2 : 0, most);
}

/* By the number of the case: several areas down or across, several runs of k, or a few
   blocks; slices as far as more than there are steps. */
static void sizes_set(struct bitcut_gemm *g, int number, uint64_t *state)
{
    static const struct {
        int m, n, k, count, slices;
    } most[] = {
        /* clang-format off */
        { 300,   9,   9, 1,  8 },
        {   9, 300,   9, 1,  8 },
        {  18,  18, 450, 1,  3 },
        {  40,  40, 100, 1, 80 },
        {  40,  40,  30, 3, 80 },
        {  80,  80,  16, 1, 80 },
        /* clang-format on */
    };
    const size_t i = (size_t)number % (sizeof most / sizeof *most);
    g->m = some_size(most[i].m, state);
    g->n = some_size(most[i].n, state);
    g->k = some_size(most[i].k, state);
    g->count = (size_t)test_between(state, 1, most[i].count);
    g->order.slices =
        test_between(state, 0, 1) ? 1 : test_between(state, 1, most[i].slices);
}

static void numbers_set(struct bitcut_gemm *g, enum values values, uint64_t *state)
{
    static const uint32_t special[] = { 0x00000000, 0x80000000, 0x00000003, 0x7f000000 };
    static const uint32_t usual[] = { 0x3f800000, 0xbf800000, 0x3e99999a, 0x40400000 };
    const bool odd = !test_between(state, 0, 3);
    g->alpha = (odd ? special : usual)[test_between(state, 0, 3)];
    g->beta =
        (odd || test_between(state, 0, 1) ? special : usual)[test_between(state, 0, 3)];
    if (values == ANYTHING && !test_between(state, 0, 7)) g->beta = 0x7fc00001;
    g->equilibrate = test_between(state, 0, 1);
    if (!test_between(state, 0, 2)) g->high = bitcut_rounding_find("rz");
    if (g->recipe != bitcut_recipe_find("plain") && !test_between(state, 0, 2))
        g->low = bitcut_rounding_find("rn-daz");
    if (g->recipe == bitcut_recipe_find("bf16x9") && !test_between(state, 0, 2))
        g->scale = test_between(state, 0, 16);
}

static struct problem problem_make(const struct gpu_kernel *k, int number,
                                   uint64_t *state)
{
    const enum values values = (enum values)(test_between(state, 0, VALUES) % VALUES);
    struct problem p;
    struct bitcut_gemm *const g = &p.gemm;
    bitcut_gemm_init(g, sizeof *g);
    g->recipe = bitcut_recipe_find(k->recipe);
    sizes_set(g, number, state);
    numbers_set(g, values, state);
    g->a = some_matrix(g->m, g->k, state);
    g->b = some_matrix(g->k, g->n, state);
    g->c = some_matrix(g->m, g->n, state);
    g->d = some_matrix(g->m, g->n, state);
    p.a = elements_make(&g->a, lines_of(&g->a, g->m, g->k), g->count, values, state);
    p.b = elements_make(&g->b, lines_of(&g->b, g->k, g->n), g->count, values, state);
    p.c = elements_make(&g->c, lines_of(&g->c, g->m, g->n), g->count, values, state);
    p.d = elements_make(&g->d, lines_of(&g->d, g->m, g->n), g->count, values, state);
    p.d_bytes =
        ((g->count - 1) * g->d.stride + lines_of(&g->d, g->m, g->n) * g->d.ld + 64) *
        sizeof *p.d;
    if (!test_between(state, 0, 3)) g->a.stride = 0;
    if (!test_between(state, 0, 3)) g->b.stride = 0;
    const size_t moved = (size_t)test_between(state, 0, 16);
    g->a.at = p.a + moved, g->b.at = p.b + moved % 3;
    g->c.at = p.c + moved, g->d.to = p.d + moved;
    if (test_between(state, 0, 1)) g->c = g->d;
    return p;
}

static void problem_clear(struct problem *p)
{
    free(p->a);
    free(p->b);
    free(p->c);
    free(p->d);
}

/* --- there ------------------------------------------------------------------------ */

static const struct gpu host = { &host_module, NULL };

/* Memory of that many bytes and a line behind them, all ones. */
static char *memory_make(size_t bytes)
{
    const size_t all = (bytes / GPU_ALIGNMENT + 2) * GPU_ALIGNMENT;
    char *const at = aligned_alloc(GPU_ALIGNMENT, all);
    ck_assert_ptr_nonnull(at);
    return memset(at, 0xff, all);
}

/* Nothing is written behind them. */
static void memory_end(char *at, size_t bytes)
{
    for (int i = 0; i < GPU_ALIGNMENT; i++)
        ck_assert_int_eq((signed char)at[bytes + i], -1);
    free(at);
}

/* Parts of an operand, which then reads them in place of its matrices. */
static char *parts_prepare(struct gpu_work *w, enum bitcut_operand which, size_t *bytes)
{
    struct bitcut_matrix *const m = which == BITCUT_A ? &w->gemm.a : &w->gemm.b;
    const struct operand o = operand_of(w, which);
    const size_t stride = prepared_stride(&o), own = host_module.parts(w, which);
    *bytes = (w->gemm.count - 1) * stride + own;
    char *const at = memory_make(*bytes);
    for (size_t i = 0; i < w->gemm.count; i++) {
        struct gpu_work one = *w;
        char fault[GPU_FAULT_MAX];
        one.gemm = gemm_nth(&w->gemm, i);
        ck_assert_int_eq(
            host_module.prepare(at + i * stride, &one, which, 0, NULL, fault), 0);
    }
    *m = (struct bitcut_matrix){ .prepared = at, .prepared_stride = m->stride ? stride : 0 };
    return at;
}

/* D by the kernel, from parts that are prepared or not, in a mode of the caller's. */
static void compute_there(struct gpu_work *w, uint64_t *state)
{
    char fault[GPU_FAULT_MAX], *parts[2] = { NULL };
    size_t bytes[2];
    fenv_t before;
    fegetenv(&before);
    const int threads = threads_limit(test_between(state, 1, 5));
    const int mode = test_host_mode(test_between(state, 0, 7));
    for (int i = 0; i < 2; i++)
        if (!test_between(state, 0, 2))
            parts[i] = parts_prepare(w, i ? BITCUT_B : BITCUT_A, &bytes[i]);
    const size_t needed = host_module.workspace(w);
    char *const workspace = memory_make(needed);
    ck_assert_int_eq(host_module.start(w, workspace, 0, NULL, fault), 0);
    ck_assert_int_eq(fegetround(), mode);
    fesetenv(&before);
    threads_limit(threads);
    memory_end(workspace, needed);
    for (int i = 0; i < 2; i++)
        if (parts[i]) memory_end(parts[i], bytes[i]);
}

static void try_kernel(const struct gpu_kernel *k, const struct gpu_device *device,
                       int number, uint64_t *state)
{
    const uint64_t from = *state;
    struct problem p = problem_make(k, number, state);
    uint32_t *const got = memcpy(malloc(p.d_bytes), p.d, p.d_bytes);
    struct gpu_work w;
    struct fault f;
    char why[BITCUT_TEXT_MAX];
    ck_assert_msg(gpu_work_make(&w, &p.gemm, k, device, &f) == BITCUT_OK, "%s", f.text);
    const size_t moved = (size_t)((uint32_t *)w.gemm.d.to - p.d);
    if (w.gemm.c.at == w.gemm.d.at) w.gemm.c.at = got + moved;
    w.gemm.d.to = got + moved;
    compute_there(&w, state);
    p.gemm.unit = w.gemm.unit;
    ck_assert_msg(bitcut_gemm(NULL, &p.gemm, 1, why) == BITCUT_OK, "%s", why);
    for (size_t i = 0; i < p.d_bytes / sizeof *got; i++)
        ck_assert_msg(got[i] == p.d[i],
                      "%s, state %" PRIu64
                      ", %zu of %zu x %zu x %zu in %d slices: element "
                      "%zu behind D is %08x, not %08x",
                      k->name, from, p.gemm.count, p.gemm.m, p.gemm.n, p.gemm.k,
                      p.gemm.order.slices, i - moved, got[i], p.d[i]);
    free(got);
    problem_clear(&p);
}

/* --- tests ------------------------------------------------------------------------ */

/* With what is before and behind the tiles of AMX, by vectors that no handler executes. */
static unsigned units_here(void)
{
    char why_not[GPU_FAULT_MAX];
    unsigned here = host_units(why_not, &host_system) & ON_AVX512_BF16;
    if (__builtin_cpu_supports("avx512f") && amx_runs(ON_AMX_BF16)) here |= ON_AMX_BF16;
    return here;
}

START_TEST(like_the_emulator)
{
    const struct gpu_device device = { .architecture = host_architectures,
                                       .architectures = units_here(),
                                       .name = "processor" };
    const struct gpu_kernel *k = NULL;
    uint64_t state = test_seed();
    int kernels = 0;
    while ((k = gpu_kernel_next(&host, k))) {
        const int cases =
            k->architectures & ON_AMX_BF16 ? test_cases(12, 1000) : test_cases(36, 5000);
        if (!gpu_kernel_fits(&device, k)) continue;
        for (int i = 0; i < cases; i++) try_kernel(k, &device, i, &state);
        kernels++;
    }
    if (!kernels) printf("# skipped: no unit is here\n");
}
END_TEST

TEST_MAIN("host_kernels", like_the_emulator)

#else

START_TEST(nothing) {}
END_TEST

TEST_MAIN("host_kernels", nothing)

#endif
