/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of FP64 GEMMs on a device, compared with their schemes, bit for bit.  The device
   is tests/gpu/device.c, or, with DEVICE_MODULES set, the device of a module in that
   folder. */
#define _POSIX_C_SOURCE 200809L

#include "analysis/verify/fp64_trial.h"
#include "gpu/api/offload.h"
#include "lib/number/rand.h"
#include "tests/gpu/any_device.h"

static struct recorder recorder(void)
{
    open_device();
    return (struct recorder){ .gpu = gpu, .device = on };
}

/* A kernel whose name begins with "liar" does not compute its scheme. */
static bool lies(const struct gpu_fp64_kernel *k) { return !strncmp(k->name, "liar", 4); }

START_TEST(all_kernels)
{
    const struct recorder r = recorder();
    const struct gpu_fp64_kernel *k = NULL;
    int tried = 0, wrong = 0;
    while ((k = gpu_fp64_next(&gpu, k))) {
        const struct fp64_trial trial = { .recorder = &r,
                                          .kernel = k,
                                          .threads = 2,
                                          .seed = test_seed(),
                                          .shard = SHARD_ALL };
        struct kernel_result found;
        struct bitcut_gemm gemm;
        struct fault f;
        if (gpu_fp64_gemm(&gemm, k, &on, &f) != BITCUT_OK) {
            ck_assert_int_eq(f.status, BITCUT_UNSUPPORTED);
            wrong++;
            continue;
        }
        if (fp64_trial_run(&found, &trial, NULL, &f) != BITCUT_OK)
            ck_abort_msg("%s", f.text);
        if (!lies(k) && found.mismatches)
            ck_abort_msg("%s: %zu of %zu differ, first (%zu, %zu) of %zu x %zu x %zu, %s: "
                         "want %s, got %s",
                         k->name, found.mismatches, found.compared, found.first.at[0],
                         found.first.at[1], found.first.shape.m, found.first.shape.n,
                         found.first.shape.k, found.first.input, found.first.bits.model,
                         found.first.bits.other);
        ck_assert(!lies(k) || found.mismatches);
        ck_assert_uint_gt(found.compared, 100000);
        printf("# %s: %zu outputs\n", k->name, found.compared);
        tried++;
    }
    ck_assert_int_gt(tried, 1);
    if (!getenv("DEVICE_MODULES")) ck_assert_int_eq(wrong, 2);
    gpu_close(&gpu);
}
END_TEST

/* 1 x 1 with k = 2. */
static struct bitcut_gemm dot(const double *a, const double *b, double *d)
{
    const struct bitcut_format *const f64 = &formats[FORMAT_F64];
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.scheme = bitcut_scheme_find("ozimmu-ef");
    g.parts = 8;
    g.m = g.n = 1, g.k = 2;
    g.alpha_f64 = 2;
    g.a = (struct bitcut_matrix){ .at = a, .format = f64 };
    g.b = (struct bitcut_matrix){ .at = b, .format = f64 };
    g.d = (struct bitcut_matrix){ .to = d, .format = f64 };
    return g;
}

START_TEST(times)
{
    const struct recorder r = recorder();
    const double a[] = { 3, 5 }, b[] = { 0.5, -7 };
    double d = 0, milliseconds[3] = { 0 };
    const struct bitcut_gemm g = dot(a, b, &d);
    struct gpu_fp64 w;
    struct fault f;
    ck_assert_int_eq(gpu_fp64_choose(&w, &r.gpu, &r.device, &g, &f), BITCUT_OK);
    ck_assert_int_eq(gpu_fp64_run(&w, milliseconds, 3, &r.gpu, &r.device, &f), BITCUT_OK);
    ck_assert_double_eq(d, -67);
    for (int i = 0; i < 3; i++) ck_assert_double_gt(milliseconds[i], 0);
    gpu_close(&gpu);
}
END_TEST

#define VARY(name, what)                                                                 \
    static void name(struct bitcut_gemm *g) { what; }

VARY(no_parts, g->parts = 0)
VARY(many_parts, g->parts = 19)
VARY(large_k, g->k = ((size_t)1 << 29) + 1)
VARY(slices, g->order.slices = 2)
VARY(narrow_a, g->a.format = &formats[FORMAT_F32])
VARY(narrow_c, (g->beta_f64 = 1, g->c.format = &formats[FORMAT_F16]))
VARY(prepared, g->b.prepared = g)
VARY(pointers, g->a.each = (const void *const *)g)
VARY(other_unit, g->unit = bitcut_unit_find("ampere/mma.m16n8k32.s32.s8", NULL))
VARY(other_format, g->unit = bitcut_unit_find("hopper/mma.m16n8k16.f32.f16", NULL))
VARY(other_scheme, g->scheme = bitcut_scheme_find("gemmul8"))
VARY(no_kernel, g->kernel = "none")
VARY(like_unit, g->unit = bitcut_unit_find("hopper/mma.m16n8k32.s32.s8", NULL))
VARY(unread_c, g->c.format = &formats[FORMAT_F16])
VARY(one_slice, g->order.slices = 1)

static const struct {
    const char *name;
    void (*vary)(struct bitcut_gemm *g);
    enum bitcut_status status;
} variations[] = {
    { "no parts", no_parts, BITCUT_BAD_ARGUMENT },
    { "too many parts", many_parts, BITCUT_BAD_ARGUMENT },
    { "too large a k", large_k, BITCUT_BAD_ARGUMENT },
    { "slices of k", slices, BITCUT_BAD_ARGUMENT },
    { "A in f32", narrow_a, BITCUT_BAD_ARGUMENT },
    { "C in f16", narrow_c, BITCUT_BAD_ARGUMENT },
    { "a prepared B", prepared, BITCUT_BAD_ARGUMENT },
    { "pointers", pointers, BITCUT_BAD_ARGUMENT },
    { "no such kernel", no_kernel, BITCUT_BAD_ARGUMENT },
    { "another unit", other_unit, BITCUT_UNSUPPORTED },
    { "a unit of other parts", other_format, BITCUT_UNSUPPORTED },
    { "a scheme without a kernel", other_scheme, BITCUT_UNSUPPORTED },
    { "a unit with the same sums", like_unit, BITCUT_OK },
    { "a C that is not read", unread_c, BITCUT_OK },
    { "one slice", one_slice, BITCUT_OK },
};

START_TEST(refused)
{
    const struct recorder r = recorder();
    for (size_t i = 0; i < sizeof variations / sizeof *variations; i++) {
        struct bitcut_gemm g = dot(NULL, NULL, NULL);
        struct gpu_fp64 w;
        struct fault f;
        variations[i].vary(&g);
        ck_assert_msg(gpu_fp64_choose(&w, &r.gpu, &r.device, &g, &f) ==
                          variations[i].status,
                      "%s", variations[i].name);
    }
    gpu_close(&gpu);
}
END_TEST

/* --- in place of the emulator ----------------------------------------------------- */

enum { M = 13, N = 7, K = 300, COUNT = 2 };

/* Any layout, gaps, factors, batches and slices of k. */
static const struct {
    enum bitcut_layout a, b, c, d;
    size_t gap;
    double alpha, beta;
    int slices;
} taken[] = {
    { 0, 0, 0, 0, 0, 1, 0, 0 },
    { 1, 1, 0, 1, 0, -0.3, 0, 1 },
    { 0, 1, 1, 0, 3, 0.7, -1.1, 2 },
    { 1, 0, 1, 1, 5, 1, 1, 3 },
};

static struct bitcut_matrix matrix(double *at, enum bitcut_layout layout, size_t rows,
                                   size_t cols, size_t gap)
{
    const size_t length = layout == BITCUT_ROW_MAJOR ? cols : rows;
    return (struct bitcut_matrix){ .to = at,
                                   .format = &formats[FORMAT_F64],
                                   .layout = layout,
                                   .ld = length + gap,
                                   .stride = 4096 };
}

/* The emulator's D, and that of the device in its place. */
START_TEST(offloaded)
{
    static double data[4][COUNT * 4096], there[COUNT * 4096];
    const struct recorder r = recorder();
    struct gpu_offload offload;
    struct rng random = rng_start(test_seed(), 3);
    gpu_offload_init(&offload, &r.gpu, &r.device);
    for (size_t i = 0; i < 3 * COUNT * 4096; i++)
        data[i / (COUNT * 4096)][i % (COUNT * 4096)] =
            (double)(int64_t)rng_bits(&random) * 0x1p-63;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        const struct gemm_options here = { .threads = 2 },
                                  by_device = { .offload = &offload.offload };
        const size_t gap = taken[i].gap, runs = offload.runs;
        struct bitcut_gemm g = dot(NULL, NULL, NULL);
        char why[BITCUT_TEXT_MAX];
        memset(data[3], 0, sizeof data[3]);
        memset(there, 0, sizeof there);
        g.unit = bitcut_unit_find("hopper/mma.m16n8k32.s32.s8", NULL);
        g.m = M, g.n = N, g.k = K, g.count = COUNT;
        g.alpha_f64 = taken[i].alpha, g.beta_f64 = taken[i].beta;
        g.order.slices = taken[i].slices;
        g.a = matrix(data[0], taken[i].a, M, K, gap);
        g.b = matrix(data[1], taken[i].b, K, N, gap);
        g.c = matrix(data[2], taken[i].c, M, N, gap);
        g.d = matrix(data[3], taken[i].d, M, N, gap);
        ck_assert_int_eq(gemm_call(NULL, &g, &here, why), BITCUT_OK);
        g.d.to = there;
        ck_assert_int_eq(gemm_call(NULL, &g, &by_device, why), BITCUT_OK);
        ck_assert_uint_eq(offload.runs - runs,
                          COUNT * (size_t)(taken[i].slices > 1 ? taken[i].slices : 1));
        ck_assert_int_eq(memcmp(there, data[3], sizeof there), 0);
    }
    gpu_close(&gpu);
}
END_TEST

/* Jobs whose sums the kernel does not have stay on the emulator. */
START_TEST(not_offloaded)
{
    const struct recorder r = recorder();
    const double a[] = { 3, 5 }, b[] = { 0.5, -7 };
    double d = 0;
    struct gpu_offload offload;
    gpu_offload_init(&offload, &r.gpu, &r.device);
    const struct gemm_options options = { .offload = &offload.offload };
    for (int i = 0; i < 2; i++) {
        struct bitcut_gemm g = dot(a, b, &d);
        g.scheme = bitcut_scheme_find(i ? "gemmul8" : "fp64");
        g.unit = bitcut_unit_find(i ? "hopper/mma.m16n8k32.s32.s8" : "fma/f64", NULL);
        g.parts = BITCUT_UNSET;
        ck_assert_int_eq(gemm_call(NULL, &g, &options, NULL), BITCUT_OK);
        ck_assert_double_eq(d, -67);
    }
    ck_assert_uint_eq(offload.runs, 0);
    gpu_close(&gpu);
}
END_TEST

int main(void)
{
    const TTest *const list[] = { all_kernels, times,         refused,
                                  offloaded,   not_offloaded, NULL };
    if (!getenv("DEVICE_MODULES") && access("tests/.libs/bitcut-cuda.so", F_OK)) {
        puts("1..0 # SKIP needs the shared library: configure without --disable-shared");
        return 0;
    }
    return test_run("FP64 kernels on a device", list);
}
