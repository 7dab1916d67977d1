/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of the library on a device that are refused, each for one reason, and calls that
   are accepted, with tests/gpu/device.c as the device.  Run in the build folder. */
#define _POSIX_C_SOURCE 200809L

#include "tests/gpu/model_device.h"

#define DOES_NOT(RECIPE) "no kernel for recipe " RECIPE " on Models supports: "
#define MMA              "mma.m16n8k16.f32.f16"

/* A call that is good before it is spoiled. */
struct call {
    struct bitcut_gemm g;
    char *workspace;
    size_t bytes;
};

static const size_t huge = (size_t)1 << 62; /* bytes of so many elements do not fit */
static const void *const pointers[3];

#define SPOIL(name, what)                                                                \
    static void name(struct call *x) { what; }

/* Small GEMMs of f16 matrices. */
static void make_small(struct call *x, const char *kernel)
{
    static const struct bitcut_format *const f16 = &formats[FORMAT_F16];
    x->g.recipe = NULL;
    x->g.kernel = kernel;
    x->g.a.format = x->g.b.format = x->g.c.format = x->g.d.format = f16;
}

SPOIL(no_recipe, x->g.recipe = NULL)
SPOIL(old_struct, x->g.size = 8)
SPOIL(new_struct, x->g.size++)
SPOIL(no_kernel_row, x->g.recipe = bitcut_recipe_find("feng"))
SPOIL(unknown_kernel, x->g.kernel = "gemm.ootomo")
SPOIL(other_recipe, x->g.kernel = "gemm.plain.f16")
SPOIL(kernel_and_unit, (x->g.kernel = "gemm.ootomo.f16",
                        x->g.unit = bitcut_unit_find("hopper/" MMA, NULL)))
SPOIL(old_kernel, (x->g.recipe = NULL, x->g.kernel = "old.plain.f16"))
SPOIL(big_kernel, (x->g.recipe = NULL, x->g.kernel = "big.plain.f16"))
SPOIL(liar, (x->g.recipe = NULL, x->g.kernel = "liar.legemm.f16"))
SPOIL(low_liar, (x->g.recipe = NULL, x->g.kernel = "liar.markidis.f16"))
SPOIL(no_row, (x->g.recipe = NULL, x->g.kernel = "liar.noname.f16"))
SPOIL(small_kernel, (x->g.recipe = NULL, x->g.kernel = "small.plain.f16", x->g.k = 33))
SPOIL(one_part, x->g.split_a = x->g.split_b = bitcut_split_find("half"))
SPOIL(one_part_of_b, x->g.split_b = bitcut_split_find("half"))
SPOIL(other_parts, x->g.split_a = x->g.split_b = bitcut_split_find("tf32tf32"))
SPOIL(mixed_parts, x->g.split_a = x->g.split_b = bitcut_split_find("half-e4m3"))
SPOIL(unmixed_parts, (x->g.recipe = bitcut_recipe_find("half-fp8"),
                      x->g.split_a = x->g.split_b = bitcut_split_find("halfhalf")))
SPOIL(other_mixed_b, (x->g.recipe = bitcut_recipe_find("half-fp8"),
                      x->g.split_b = bitcut_split_find("half-e5m2")))
SPOIL(plain_liar, (x->g.recipe = NULL, x->g.kernel = "liar.plain.f16"))
SPOIL(mixed_liar, (x->g.recipe = NULL, x->g.kernel = "liar.half-fp8.f16"))
SPOIL(no_parts, (x->g.recipe = bitcut_recipe_find("plain"),
                 x->g.split_a = x->g.split_b = bitcut_split_find("f32")))
SPOIL(mixed_scales, (x->g.recipe = bitcut_recipe_find("tf32x3"),
                     x->g.split_a = x->g.split_b = bitcut_split_find("halfhalf")))
SPOIL(stochastic_high, x->g.high = bitcut_rounding_find("sr"))
SPOIL(stochastic_low, x->g.low = bitcut_rounding_find("sr"))
SPOIL(sum_rounding, x->g.sum_rounding = bitcut_rounding_find("rn"))
SPOIL(negative_seed, x->g.round_seed = -1)
SPOIL(negative_slices, x->g.order.slices = -1)
SPOIL(many_slices, x->g.order.slices = 4)
SPOIL(tiles, x->g.tile_k = 32)
SPOIL(lanes, x->g.order.lanes = 2)
SPOIL(partial_first, x->g.order.partial_first = true)
SPOIL(cut, (x->g.order.slices = 2, x->g.order.cut = 16))
SPOIL(negative_cut, x->g.order.cut = -1)
SPOIL(sums, x->g.order.partial_format = &formats[FORMAT_F16])
SPOIL(stored_sums, (x->g.order.slices = 2, x->g.order.partial_store = true,
                    x->g.order.partial_format = &formats[FORMAT_BF16]))
SPOIL(unrolled, (x->g.order.lanes = 2, x->g.order.unroll = 8))
SPOIL(unrolled_plain, (x->g.recipe = bitcut_recipe_find("plain"), x->g.order.lanes = 2,
                       x->g.order.unroll = 8))
SPOIL(negative_unroll, x->g.order.unroll = -1)
SPOIL(lane_twice, (x->g.order.lanes = 2, x->g.order.lane_order[0] = 1,
                   x->g.order.lane_order[1] = 1))
SPOIL(unsigned_sums, x->g.order.partial_format = &formats[FORMAT_UE8M0])
SPOIL(halve, (x->g.order.slices = 2, x->g.order.balance_tail = 16))
SPOIL(negative_halve, x->g.order.balance_tail = -1)
SPOIL(long_tiles, (x->g.order.slices = 2, x->g.order.tile = 32))
SPOIL(long_mixed_tiles, (x->g.recipe = bitcut_recipe_find("half-fp8"),
                         x->g.order.slices = 2, x->g.order.tile = 33))
SPOIL(halves, (x->g.order.slices = 3, x->g.order.reduction = BITCUT_HALVES))
SPOIL(tree, (x->g.order.slices = 2, x->g.order.reduction = BITCUT_TREE))
SPOIL(short_a, x->g.a.ld--)
SPOIL(short_a_turned, (x->g.a.layout = BITCUT_COLUMN_MAJOR, x->g.m = 13, x->g.a.ld = 12))
SPOIL(short_b, x->g.b.ld--)
SPOIL(short_c, x->g.c.ld--)
SPOIL(short_d, x->g.d.ld--)
SPOIL(huge_a, (x->g.m = huge))
SPOIL(huge_b, (x->g.m = 0, x->g.n = huge))
SPOIL(huge_slices, (x->g.m = x->g.n = (size_t)1 << 30, x->g.order.slices = 3))
SPOIL(huge_lda, x->g.a.ld = huge)
SPOIL(largest_lda, (x->g.m = 2, x->g.a.ld = SIZE_MAX))
SPOIL(huge_ldd, x->g.d.ld = huge)
SPOIL(no_a, x->g.a.at = NULL)
SPOIL(no_b, x->g.b.at = NULL)
SPOIL(no_c, x->g.c.at = NULL)
SPOIL(no_d, x->g.d.at = NULL)
SPOIL(odd_b, x->g.b.at = (const char *)x->g.b.at + 2)
SPOIL(other_format, x->g.b.format = &formats[FORMAT_F16])
SPOIL(all_bf16, x->g.a.format = x->g.b.format = x->g.c.format = x->g.d.format =
                    &formats[FORMAT_BF16])
SPOIL(by_pointers_too, x->g.a.each = pointers)
SPOIL(wide_c, (x->g.c.at = x->g.d.at, x->g.c.ld++))
SPOIL(turned_c,
      (x->g.c.at = x->g.d.at, x->g.c.layout = BITCUT_COLUMN_MAJOR, x->g.c.ld = x->g.m))
SPOIL(odd_parts, x->g.a.prepared = x->workspace + 128)
SPOIL(odd_parts_stride, (x->g.a.prepared = x->workspace, x->g.a.prepared_stride = 128))
SPOIL(huge_stride_a, (x->g.count = 9, x->g.a.stride = huge))
SPOIL(huge_stride_b, (x->g.count = 9, x->g.b.stride = huge))
SPOIL(huge_stride_c, (x->g.count = 9, x->g.c.stride = huge))
SPOIL(huge_stride_d, (x->g.count = 9, x->g.d.stride = huge))
SPOIL(huge_stride_parts,
      (x->g.count = 9, x->g.a.prepared = x->workspace, x->g.a.prepared_stride = huge))
SPOIL(one_d, (x->g.count = 2, x->g.d.stride = 0))
SPOIL(overlapping_d, (x->g.count = 2, x->g.d.stride--))
SPOIL(crossing_d, (x->g.count = 3, x->g.d.stride = x->g.n, x->g.d.ld = 3 * x->g.n - 1))
SPOIL(other_stride_c, (x->g.count = 2, x->g.c.at = x->g.d.at, x->g.c.stride++))
SPOIL(small_workspace, x->bytes--)
SPOIL(no_workspace, x->workspace = NULL)
SPOIL(odd_workspace, x->workspace += 128)
SPOIL(old_batch, make_small(x, "batch.old.64"))
SPOIL(big_batch, make_small(x, "batch.big.64"))
SPOIL(small_batch, (make_small(x, "batch.mma.16"), x->g.k = 17))
SPOIL(large_m, (make_small(x, "batch.fma.64"), x->g.m = 65))
SPOIL(huge_n, (make_small(x, "batch.fma.64"), x->g.n = SIZE_MAX))
SPOIL(sliced_batch, (make_small(x, "batch.mma.64"), x->g.order.slices = 2))
SPOIL(scaled_batch, (make_small(x, "batch.mma.64"), x->g.equilibrate = true))
SPOIL(flushed_batch,
      (make_small(x, "batch.mma.64"), x->g.high = bitcut_rounding_find("rn-ftz")))
SPOIL(prepared_batch, (make_small(x, "batch.mma.64"), x->g.a.prepared = x->workspace))
SPOIL(odd_pointers, (make_small(x, "batch.mma.64"),
                     x->g.a.each = (const void *const *)((const char *)pointers + 2)))
SPOIL(odd_f16, (make_small(x, "batch.mma.64"), x->g.b.at = (const char *)x->g.b.at + 1))
SPOIL(wide_each_c,
      (make_small(x, "batch.mma.64"), x->g.c.each = x->g.d.each = pointers, x->g.c.ld++))
SPOIL(overlapping_f16, (make_small(x, "batch.mma.64"), x->g.count = 2, x->g.d.stride--))

#define PARTS_STRIDE "A: the stride of prepared operands must be a multiple of 256 below 2^64"
#define D_IS_C                                                                           \
    "D and C share memory but differ in leading dimension, stride, layout or format"
#define OVERLAP "the stride of D is too small: its matrices overlap"
#define K_ASCENDING(RECIPE)                                                              \
    DOES_NOT(RECIPE) "this order of k (supported: ascending, in slices of whole k-steps)"

static const struct refusal {
    void (*spoil)(struct call *x);
    enum bitcut_status status;
    const char *why;
} refusals[] = {
    /* clang-format off */
    { no_recipe,         BITCUT_BAD_ARGUMENT, "a recipe or a kernel is required" },
    { old_struct,        BITCUT_BAD_ARGUMENT, "the GEMM has size 8, which this library does not know: call bitcut_gemm_init() first" },
    { new_struct,        BITCUT_BAD_ARGUMENT, NULL },
    { no_kernel_row,     BITCUT_UNSUPPORTED,       "no kernel implements recipe feng; see bitcut list kernels" },
    { unknown_kernel,    BITCUT_BAD_ARGUMENT, "unknown kernel \"gemm.ootomo\"" },
    { other_recipe,      BITCUT_BAD_ARGUMENT, "gemm.plain.f16 computes recipe plain, not ootomo" },
    { kernel_and_unit,   BITCUT_BAD_ARGUMENT, "unit and kernel cannot be combined" },
    { old_kernel,        BITCUT_UNSUPPORTED,       "old.plain.f16 does not run on Models" },
    { big_kernel,        BITCUT_UNSUPPORTED,       "big.plain.f16 does not run on Models" },
    { liar,              BITCUT_UNSUPPORTED,       "liar.legemm.f16 does not have the terms of recipe legemm" },
    { low_liar,          BITCUT_UNSUPPORTED,       "liar.markidis.f16 does not have the terms of recipe markidis" },
    { no_row,            BITCUT_UNSUPPORTED,       "liar.noname.f16 refers to an unknown recipe: noname" },
    { small_kernel,      BITCUT_BAD_ARGUMENT, "small.plain.f16 supports m, n and k up to 32" },
    { one_part,          BITCUT_BAD_ARGUMENT, "recipe ootomo needs more parts than split half has" },
    { one_part_of_b,     BITCUT_BAD_ARGUMENT, "recipe ootomo needs more parts than split half has" },
    { other_parts,       BITCUT_BAD_ARGUMENT, DOES_NOT("ootomo") "split tf32tf32 (supported: 2 parts in f16)" },
    { mixed_parts,       BITCUT_BAD_ARGUMENT, DOES_NOT("ootomo") "split half-e4m3 (supported: 2 parts in f16)" },
    { unmixed_parts,     BITCUT_BAD_ARGUMENT, "recipe half-fp8 needs more parts than split halfhalf has" },
    { other_mixed_b,     BITCUT_BAD_ARGUMENT, DOES_NOT("half-fp8") "split half-e5m2 (supported: parts of split half-e4m3)" },
    { mixed_liar,        BITCUT_UNSUPPORTED,       "liar.half-fp8.f16 does not have the parts of recipe half-fp8" },
    { plain_liar,        BITCUT_UNSUPPORTED,       "liar.plain.f16 does not have the parts of recipe plain" },
    { no_parts,          BITCUT_BAD_ARGUMENT, DOES_NOT("plain") "split f32 (supported: 1 parts in f16, 1 parts in tf32)" },
    { mixed_scales,      BITCUT_BAD_ARGUMENT, "recipe tf32x3 adds parts of different scale; choose a split with scale 0" },
    { stochastic_high,   BITCUT_UNSUPPORTED,  "devices do not round by rule sr; use the emulator" },
    { stochastic_low,    BITCUT_UNSUPPORTED,  "devices do not round by rule sr; use the emulator" },
    { negative_seed,     BITCUT_BAD_ARGUMENT, "round_seed must not be negative" },
    { negative_slices,   BITCUT_BAD_ARGUMENT, "counts must not be negative" },
    { sum_rounding,      BITCUT_UNSUPPORTED,  "devices round sums as the unit does (sum-rounding); use the emulator" },
    { stored_sums,       BITCUT_UNSUPPORTED,  "devices do not round only the stored sums of slices (partial-store); use the emulator" },
    { unrolled,          BITCUT_BAD_ARGUMENT, "unroll requires a recipe whose only accumulator can start from a sum, such as plain; ootomo has another one" },
    { unrolled_plain,    BITCUT_UNSUPPORTED,  "devices do not add remaining k to a sum of lanes (unroll); use the emulator" },
    { negative_unroll,   BITCUT_BAD_ARGUMENT, "counts must not be negative" },
    { lane_twice,        BITCUT_BAD_ARGUMENT, "lane_order must list each of the lanes 0 to lanes - 1 once, at most 16 lanes" },
    { halves,            BITCUT_UNSUPPORTED,  K_ASCENDING("ootomo") },
    { many_slices,       BITCUT_BAD_ARGUMENT, DOES_NOT("ootomo") "4 slices of k (supported: 1 to 3)" },
    { tiles,             BITCUT_BAD_ARGUMENT, DOES_NOT("ootomo") "tiles of k = 32 (supported: none)" },
    { lanes,             BITCUT_UNSUPPORTED,       K_ASCENDING("ootomo") },
    { sums,              BITCUT_UNSUPPORTED,       K_ASCENDING("ootomo") },
    { partial_first,        BITCUT_UNSUPPORTED,       K_ASCENDING("ootomo") },
    { cut,               BITCUT_UNSUPPORTED,       K_ASCENDING("ootomo") },
    { unsigned_sums,     BITCUT_BAD_ARGUMENT, "partial sums of k cannot be stored in ue8m0" },
    { negative_cut,      BITCUT_BAD_ARGUMENT, "counts must not be negative" },
    { halve,             BITCUT_UNSUPPORTED,       K_ASCENDING("ootomo") },
    { negative_halve,    BITCUT_BAD_ARGUMENT, "counts must not be negative" },
    { long_tiles,        BITCUT_UNSUPPORTED,       K_ASCENDING("ootomo") },
    { long_mixed_tiles,  BITCUT_UNSUPPORTED,       K_ASCENDING("half-fp8") },
    { tree,              BITCUT_UNSUPPORTED,       K_ASCENDING("ootomo") },
    { short_a,           BITCUT_BAD_ARGUMENT, "A: leading dimension 10 is less than the row length 11" },
    { short_a_turned,    BITCUT_BAD_ARGUMENT, "A: leading dimension 12 is less than the column length 13" },
    { short_b,           BITCUT_BAD_ARGUMENT, "B: leading dimension 4 is less than the row length 5" },
    { short_c,           BITCUT_BAD_ARGUMENT, "C: leading dimension 4 is less than the row length 5" },
    { short_d,           BITCUT_BAD_ARGUMENT, "D: leading dimension 4 is less than the row length 5" },
    { huge_a,            BITCUT_BAD_ARGUMENT, DOES_NOT("ootomo") "4611686018427387904 x 5 x 11 (supported: sizes that fit in memory)" },
    { huge_b,            BITCUT_BAD_ARGUMENT, DOES_NOT("ootomo") "0 x 4611686018427387904 x 11 (supported: sizes that fit in memory)" },
    { huge_slices,       BITCUT_BAD_ARGUMENT, DOES_NOT("ootomo") "1073741824 x 1073741824 x 11 (supported: sizes that fit in memory)" },
    { largest_lda,       BITCUT_BAD_ARGUMENT, "A exceeds the address space" },
    { huge_lda,          BITCUT_BAD_ARGUMENT, "A exceeds the address space" },
    { huge_ldd,          BITCUT_BAD_ARGUMENT, "D exceeds the address space" },
    { no_a,              BITCUT_BAD_ARGUMENT, "A must not be NULL" },
    { no_b,              BITCUT_BAD_ARGUMENT, "B must not be NULL" },
    { no_c,              BITCUT_BAD_ARGUMENT, "C must not be NULL" },
    { no_d,              BITCUT_BAD_ARGUMENT, "D must not be NULL" },
    { odd_b,             BITCUT_BAD_ARGUMENT, "B is not aligned to 4 bytes" },
    { other_format,      BITCUT_BAD_ARGUMENT, DOES_NOT("ootomo") "matrices of several formats (supported: all in f32)" },
    { all_bf16,          BITCUT_UNSUPPORTED,       "no kernel implements recipe ootomo for matrices in bf16; use f32 (or f16 for small matrices)" },
    { by_pointers_too,   BITCUT_BAD_ARGUMENT, DOES_NOT("ootomo") "pointers to matrices (supported: matrices at strides)" },
    { wide_c,            BITCUT_BAD_ARGUMENT, D_IS_C },
    { turned_c,          BITCUT_BAD_ARGUMENT, D_IS_C },
    { odd_parts,         BITCUT_BAD_ARGUMENT, "A is not aligned to 256 bytes" },
    { odd_parts_stride,  BITCUT_BAD_ARGUMENT, PARTS_STRIDE },
    { huge_stride_a,     BITCUT_BAD_ARGUMENT, "A exceeds the address space" },
    { huge_stride_b,     BITCUT_BAD_ARGUMENT, "B exceeds the address space" },
    { huge_stride_c,     BITCUT_BAD_ARGUMENT, "C exceeds the address space" },
    { huge_stride_d,     BITCUT_BAD_ARGUMENT, "D exceeds the address space" },
    { huge_stride_parts, BITCUT_BAD_ARGUMENT, PARTS_STRIDE },
    { one_d,             BITCUT_BAD_ARGUMENT, OVERLAP },
    { overlapping_d,     BITCUT_BAD_ARGUMENT, OVERLAP },
    { crossing_d,        BITCUT_BAD_ARGUMENT, OVERLAP },
    { other_stride_c,    BITCUT_BAD_ARGUMENT, D_IS_C },
    { small_workspace,   BITCUT_BAD_ARGUMENT, "the workspace has 1407 bytes; required: 1408" },
    { no_workspace,      BITCUT_BAD_ARGUMENT, "workspace must not be NULL" },
    { odd_workspace,     BITCUT_BAD_ARGUMENT, "workspace is not aligned to 256 bytes" },
    { old_batch,         BITCUT_UNSUPPORTED,       "batch.old.64 does not run on Models" },
    { big_batch,         BITCUT_UNSUPPORTED,       "batch.big.64 does not run on Models" },
    { small_batch,       BITCUT_BAD_ARGUMENT, "batch.mma.16 supports m, n and k up to 16" },
    { large_m,           BITCUT_BAD_ARGUMENT, "batch.fma.64 supports m, n and k up to 64" },
    { huge_n,            BITCUT_BAD_ARGUMENT, "batch.fma.64 supports m, n and k up to 64" },
    { sliced_batch,      BITCUT_BAD_ARGUMENT, "batch.mma.64 supports 1 to 1 slices of k" },
    { scaled_batch,      BITCUT_BAD_ARGUMENT, "batch.mma.64 does not support equilibration" },
    { flushed_batch,     BITCUT_BAD_ARGUMENT, "batch.mma.64 reads values exactly; roundings that flush or saturate are not supported" },
    { prepared_batch,    BITCUT_BAD_ARGUMENT, "batch.mma.64 accepts no prepared operands" },
    { odd_pointers,      BITCUT_BAD_ARGUMENT, "A is not aligned to 8 bytes" },
    { odd_f16,           BITCUT_BAD_ARGUMENT, "B is not aligned to 2 bytes" },
    { wide_each_c,       BITCUT_BAD_ARGUMENT, D_IS_C },
    { overlapping_f16,   BITCUT_BAD_ARGUMENT, OVERLAP },
    /* clang-format on */
};

enum { M = 6, N = 5, K = 11 };

static struct bitcut_gemm good_gemm(const uint32_t *a, const uint32_t *b,
                                    const uint32_t *c, uint32_t *d)
{
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.recipe = bitcut_recipe_find("ootomo");
    g.m = M;
    g.n = N;
    g.k = K;
    g.beta = F32_ONE;
    g.a = (struct bitcut_matrix){ .at = a, .ld = K };
    g.b = (struct bitcut_matrix){ .at = b, .ld = N };
    g.c = (struct bitcut_matrix){ .at = c, .ld = N, .stride = M * N };
    g.d = (struct bitcut_matrix){ .to = d, .ld = N, .stride = M * N };
    return g;
}

START_TEST(calls_refused)
{
    static const uint32_t a[M * K], b[K * N], c[M * N];
    uint32_t d[M * N];
    char why[BITCUT_TEXT_MAX];
    const struct block workspace = block_make(4096);
    device_open();
    memset(d, FILL, sizeof d);
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        struct call x = { good_gemm(a, b, c, d), (char *)workspace.at, 0 };
        snprintf(why, sizeof why, "%s", "");
        ck_assert_int_eq(bitcut_gemm_workspace(&x.bytes, device, &x.g, why), BITCUT_OK);
        ck_assert_str_eq(why, "");
        refusals[i].spoil(&x);
        const enum bitcut_status status =
            bitcut_gemm_start(NULL, device, &x.g, x.workspace, x.bytes, NULL, why);
        if (status != refusals[i].status)
            ck_abort_msg("row %zu: %s: %s", i, bitcut_status_text(status), why);
        if (refusals[i].why) ck_assert_str_eq(why, refusals[i].why);
        ck_assert_int_eq(
            bitcut_gemm_start(NULL, device, &x.g, x.workspace, x.bytes, NULL, NULL),
            refusals[i].status);
        for (size_t e = 0; e < M * N; e++) ck_assert_uint_eq(d[e], 0xa5a5a5a5);
        for (size_t e = 0; e < 4096; e++) ck_assert_uint_eq(workspace.at[e], FILL);
    }
    block_end(&workspace);
    bitcut_device_close(device);
}
END_TEST

/* A place for what ran is of a size that a library had; it is written as far as that. */
START_TEST(places_refused)
{
    static const uint32_t a[M * K], b[K * N], c[M * N];
    uint32_t d[M * N];
    char why[BITCUT_TEXT_MAX];
    const struct bitcut_gemm g = good_gemm(a, b, c, d);
    struct bitcut_gemm ran = { .size = 0 };
    device_open();
    ck_assert_int_eq(bitcut_gemm_choose(&ran, device, &g, why), BITCUT_BAD_ARGUMENT);
    ck_assert_int_eq(bitcut_gemm_choose(NULL, device, &g, why), BITCUT_BAD_ARGUMENT);
    ck_assert_int_eq(bitcut_gemm_choose(&ran, NULL, &g, why), BITCUT_BAD_ARGUMENT);
    ck_assert_int_eq(bitcut_gemm_workspace(NULL, device, &g, why), BITCUT_BAD_ARGUMENT);
    ck_assert_ptr_null(ran.kernel);
    bitcut_device_close(device);
}
END_TEST

/* The device does not reach the memory. */
START_TEST(memory_refused)
{
    static const uint32_t a[M * K], b[K * N], c[M * N];
    uint32_t d[M * N];
    char why[BITCUT_TEXT_MAX];
    const struct block workspace = block_make(4096);
    struct bitcut_gemm g = good_gemm(a, b, c, d);
    setenv("DEVICE_FAULT", "far memory", 1);
    device_open();
    ck_assert_int_eq(bitcut_gemm_start(NULL, device, &g, workspace.at, 4096, NULL, why),
                     BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(why, "A is far away");
    ck_assert_int_eq(bitcut_gemm_prepare(workspace.at, device, &g, BITCUT_B, NULL, why),
                     BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(why, "B is far away");
    g.k = 0;
    g.beta = 0;
    ck_assert_int_eq(bitcut_gemm_start(NULL, device, &g, workspace.at, 4096, NULL, why),
                     BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(why, "D is far away");
    g.m = 0;
    ck_assert_int_eq(bitcut_gemm_start(NULL, device, &g, NULL, 0, NULL, why), BITCUT_OK);
    bitcut_device_close(device);
    unsetenv("DEVICE_FAULT");
    block_end(&workspace);
}
END_TEST

/* Matrices of D as near as they may be, and what is empty, wherever it is. */
START_TEST(calls_taken)
{
    enum { ROWS = 2, COLUMNS = 3, BATCH = 3 };
    const uint32_t one[COLUMNS] = { F32_ONE, F32_ONE, F32_ONE };
    uint32_t d[BATCH * ROWS * COLUMNS];
    char why[BITCUT_TEXT_MAX] = "";
    struct bitcut_gemm g = ones(BATCH, one, d);
    const struct block workspace = block_make(4096);
    g.m = ROWS;
    g.n = COLUMNS;
    g.d.ld = BATCH * COLUMNS;
    g.d.stride = COLUMNS;
    device_open();
    memset(d, FILL, sizeof d);
    if (bitcut_gemm_start(NULL, device, &g, workspace.at, 4096, NULL, why))
        ck_abort_msg("%s", why);
    for (int i = 0; i < BATCH * ROWS * COLUMNS; i++) ck_assert_uint_eq(d[i], F32_ONE);
    g.m = 0;
    g.beta = F32_ONE;
    g.d.at = NULL;
    if (bitcut_gemm_start(NULL, device, &g, workspace.at, 4096, NULL, why))
        ck_abort_msg("%s", why);
    bitcut_device_close(device);
    block_end(&workspace);
}
END_TEST

/* Parts that cannot be prepared. */
START_TEST(parts_refused)
{
    static const uint32_t a[M * K];
    struct bitcut_gemm g = good_gemm(a, NULL, NULL, NULL);
    char why[BITCUT_TEXT_MAX];
    const struct block parts = block_make(4096);
    static const struct {
        size_t offset, ld;
        bool there;
        const char *why;
    } refused[] = {
        { 0, 10, true, "A: leading dimension 10 is less than the row length 11" },
        { 0, 11, false, "A must not be NULL" },
        { 64, 11, true, "parts is not aligned to 256 bytes" },
    };
    g.a.prepared = a;
    device_open();
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        g.a.at = refused[i].there ? a : NULL;
        g.a.ld = refused[i].ld;
        ck_assert_int_eq(bitcut_gemm_prepare(parts.at + refused[i].offset, device, &g,
                                             BITCUT_A, NULL, why),
                         BITCUT_BAD_ARGUMENT);
        ck_assert_str_eq(why, refused[i].why);
    }
    g.a.at = a;
    ck_assert_int_eq(bitcut_gemm_prepare(NULL, device, &g, BITCUT_A, NULL, why),
                     BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(why, "parts must not be NULL");
    ck_assert_uint_eq(parts.at[64], FILL);
    block_end(&parts);
    bitcut_device_close(device);
}
END_TEST

DEVICE_TEST_MAIN("cuda refused", calls_refused, places_refused, memory_refused,
                 calls_taken, parts_refused)
