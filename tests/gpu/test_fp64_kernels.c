/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of FP64 GEMMs on a device, compared with their schemes, bit for bit.  The device
   is tests/gpu/device.c, or, with DEVICE_MODULES set, the device of a module in that
   folder. */
#define _POSIX_C_SOURCE 200809L

#include "analysis/verify/fp64_trial.h"
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

START_TEST(limits_and_times)
{
    const struct recorder r = recorder();
    const double a[] = { 3, 5 }, b[] = { 0.5, -7 };
    double d = 0, times[3] = { 0 };
    struct gpu_fp64 g = { .kernel = gpu_fp64_next(&gpu, NULL),
                          .parts = 8,
                          .m = 1,
                          .n = 1,
                          .k = 2,
                          .alpha = 2,
                          .a = a,
                          .b = b,
                          .d = &d };
    struct fault f;
    ck_assert_int_eq(gpu_fp64_run(&g, times, 3, &r.gpu, &r.device, &f), BITCUT_OK);
    ck_assert_double_eq(d, -67);
    for (int i = 0; i < 3; i++) ck_assert_double_gt(times[i], 0);
    for (int i = 0; i < 2; i++) {
        g.parts = i ? g.kernel->parts_most + 1 : 0;
        ck_assert_int_eq(gpu_fp64_run(&g, NULL, 0, &r.gpu, &r.device, &f),
                         BITCUT_BAD_ARGUMENT);
    }
    g.parts = 8, g.k = g.kernel->size_most + 1;
    ck_assert_int_eq(gpu_fp64_run(&g, NULL, 0, &r.gpu, &r.device, &f),
                     BITCUT_BAD_ARGUMENT);
    gpu_close(&gpu);
}
END_TEST

int main(void)
{
    const TTest *const list[] = { all_kernels, limits_and_times, NULL };
    if (!getenv("DEVICE_MODULES") && access("tests/.libs/bitcut-cuda.so", F_OK)) {
        puts("1..0 # SKIP needs the shared library: configure without --disable-shared");
        return 0;
    }
    return test_run("FP64 kernels on a device", list);
}
