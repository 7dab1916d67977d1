/* The library's GEMMs on a GPU, with tests/device.c as the device: what it computes word
   by word against the emulator's whole GEMM, nothing else written, and every refusal.
   Run in the build folder. */
#define _POSIX_C_SOURCE 200809L

#include "emu/gemm.h"
#include "lib/fma.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char models[] = "tests/.libs";

static struct bitcut_cuda *cuda;

static void device_open(void)
{
    char why[BITCUT_TEXT_MOST] = "";
    setenv("BITCUT_MODULES", models, 1);
    if (bitcut_cuda_open(&cuda, why) != BITCUT_OK) ck_abort_msg("%s", why);
}

/* --- matrices in memory ----------------------------------------------------------- */

/* Matrices of a batch, with what lies between their rows and a few elements before. */
struct stored {
    uint32_t *memory, *copy, *at;
    size_t count; /* of elements in memory */
    size_t ld, stride;
    bool transposed;
};

static size_t below(uint64_t *state, size_t n) { return (size_t)(test_bits(state) % n); }

/* FP32 values around 1; one in 64 is any encoding. */
static uint32_t some_value(uint64_t *state)
{
    const uint64_t bits = test_bits(state);
    if (bits % 64 == 0) return (uint32_t)(bits >> 32);
    return (uint32_t)((bits >> 8 & 0x807fffff) | (127 - 6 + bits % 13) << 23);
}

enum layout { APART, SIDE_BY_SIDE, SAME, LAYOUTS };

static struct stored store(uint64_t *state, size_t rows, size_t cols, size_t batch,
                           bool transposed, enum layout layout)
{
    const size_t offset = below(state, 4), gap = below(state, 4);
    const size_t row = transposed ? rows : cols, height = transposed ? cols : rows;
    struct stored x = { .ld = row + gap, .transposed = transposed };
    if (layout == SIDE_BY_SIDE) x.stride = row, x.ld = batch * row + gap;
    if (layout == APART) x.stride = height * x.ld + below(state, 5);
    x.count = offset + batch * x.stride + height * x.ld;
    x.memory = malloc((x.count + 1) * sizeof *x.memory);
    x.copy = malloc((x.count + 1) * sizeof *x.copy);
    ck_assert(x.memory && x.copy);
    for (size_t i = 0; i < x.count; i++) x.memory[i] = some_value(state);
    memcpy(x.copy, x.memory, x.count * sizeof *x.copy);
    x.at = x.memory + offset;
    return x;
}

static void discard(struct stored *x)
{
    free(x->copy);
    free(x->memory);
}

static size_t place(const struct stored *x, size_t batch, size_t i, size_t j)
{
    return batch * x->stride + (x->transposed ? j * x->ld + i : i * x->ld + j);
}

/* Matrix `batch` as it was stored, row-major without gaps. */
static uint32_t *original(const struct stored *x, size_t batch, size_t rows, size_t cols)
{
    uint32_t *to = malloc((rows * cols + 1) * sizeof *to);
    const uint32_t *from = x->copy + (x->at - x->memory);
    ck_assert(to != NULL);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) to[i * cols + j] = from[place(x, batch, i, j)];
    return to;
}

/* --- device memory of a GEMM ------------------------------------------------------ */

/* Bytes aligned to 256 before a guard, which nobody may write. */
struct block {
    unsigned char *at;
    size_t bytes;
};

enum { GUARD = 64, FILL = 0xa5 };

static struct block block_make(size_t bytes)
{
    struct block x = { NULL, bytes };
    const size_t whole = (bytes + GUARD + 255) / 256 * 256;
    ck_assert((x.at = aligned_alloc(256, whole)) != NULL);
    memset(x.at, FILL, bytes + GUARD);
    return x;
}

static void block_end(const struct block *x)
{
    for (size_t i = 0; i < GUARD; i++) ck_assert_uint_eq(x->at[x->bytes + i], FILL);
    free(x->at);
}

/* --- a GEMM and what it should be ------------------------------------------------- */

struct trial {
    struct bitcut_cuda_gemm g;
    size_t batch;
    struct stored a, b, c, d;
    bool in_place; /* D is C */
};

/* The GEMMs that the device has, a row each. */
static const struct {
    const char *recipe, *split, *kernel;
    int slices_most;
} rows[] = {
    { "ootomo", NULL, NULL, 3 },          { "ootomo", "markidis", NULL, 3 },
    { NULL, NULL, "vary.ootomo.f16", 3 }, { "tf32x3", NULL, NULL, 1 },
    { "plain", NULL, NULL, 1 },           { "plain", "tf32", NULL, 1 },
    { "markidis", NULL, NULL, 1 },        { "plain", NULL, "gemm.plain.f16", 1 },
    { NULL, NULL, "gemm.plain.tf32", 1 },
};

static const size_t sizes[] = { 0, 1, 2, 5, 15, 16, 17, 31, 33, 40, 66 };
static const uint32_t scalars[] = { F32_ONE, 0, 0x80000000, 0x40490fdb, 0xbf99999a };

#define PICK(state, table) (table)[below(state, sizeof(table) / sizeof(table)[0])]

static struct trial trial_make(uint64_t *state)
{
    struct trial t = { .batch = below(state, 3) ? 1 : below(state, 4) };
    const size_t row = below(state, sizeof rows / sizeof rows[0]), held = t.batch + 1;
    const size_t m = PICK(state, sizes), n = PICK(state, sizes), k = PICK(state, sizes);
    t.a = store(state, m, k, held, below(state, 2), below(state, LAYOUTS));
    t.b = store(state, k, n, held, below(state, 2), below(state, LAYOUTS));
    t.c = store(state, m, n, held, false, below(state, LAYOUTS));
    t.d = store(state, m, n, held, false, below(state, SAME));
    t.g = (struct bitcut_cuda_gemm){
        .recipe = rows[row].recipe ? bitcut_recipe_find(rows[row].recipe) : NULL,
        .split = rows[row].split ? bitcut_split_find(rows[row].split) : NULL,
        .kernel = rows[row].kernel,
        .slices = (int)below(state, (size_t)rows[row].slices_most + 1),
        .equilibrate = below(state, 2),
        .m = m,
        .n = n,
        .k = k,
        .alpha = PICK(state, scalars),
        .beta = PICK(state, scalars),
        .a = { t.a.at, t.a.ld, t.a.transposed, t.a.stride, NULL, 0 },
        .b = { t.b.at, t.b.ld, t.b.transposed, t.b.stride, NULL, 0 },
        .d = t.d.at,
        .ldd = t.d.ld,
        .stride_d = t.d.stride,
    };
    t.in_place = below(state, 2);
    t.g.c = t.in_place ? t.d.at : t.c.at;
    t.g.ldc = t.in_place ? t.d.ld : t.c.ld;
    t.g.stride_c = t.in_place ? t.d.stride : t.c.stride;
    if (t.g.beta & 0x7fffffff) return t;
    t.g.c = below(state, 2) ? (const char *)t.a.memory + 1 : NULL; /* is not read */
    t.g.ldc = 0;
    t.g.stride_c = SIZE_MAX;
    return t;
}

static void trial_end(struct trial *t)
{
    discard(&t->d);
    discard(&t->c);
    discard(&t->b);
    discard(&t->a);
}

/* What the emulator is to compute. */
static struct bitcut_gemm model_of(const struct trial *t)
{
    char name[BITCUT_TEXT_MOST], unit[BITCUT_TEXT_MOST];
    ck_assert_int_eq(bitcut_gemm_cuda_kernel(name, unit, cuda, &t->g, NULL), BITCUT_OK);
    const char *recipe = strchr(name, '.') + 1;
    char row[BITCUT_TEXT_MOST];
    snprintf(row, sizeof row, "%.*s", (int)strcspn(recipe, "."), recipe);
    struct bitcut_gemm g = gemm_of(bitcut_recipe_find(row), bitcut_unit_find(unit, NULL));
    if (!strcmp(name, "vary.ootomo.f16")) g.promote = 4;
    g.split_a = g.split_b = t->g.split;
    g.order.slices = t->g.slices;
    g.equilibrate = t->g.equilibrate;
    g.alpha = t->g.alpha;
    g.beta = t->g.beta;
    return g;
}

/* Put what D should be, with C as stored, into t->d.copy. */
static void expect(struct trial *t)
{
    const size_t m = t->g.m, n = t->g.n, k = t->g.k;
    struct bitcut_gemm g = model_of(t);
    for (size_t e = 0; e < t->batch; e++) {
        uint32_t *a = original(&t->a, e, m, k), *b = original(&t->b, e, k, n);
        uint32_t *c = original(t->in_place ? &t->d : &t->c, e, m, n);
        uint32_t *d = t->d.copy + (t->d.at - t->d.memory) + e * t->d.stride;
        struct fault f;
        gemm_set_dense(&g, d, m, n, k, a, b, c);
        g.d.ld = t->d.ld;
        if (gemm_run(&g, &(struct gemm_options){ .threads = 1 }, &f) != BITCUT_OK)
            ck_abort_msg("%s", f.text);
        free(c);
        free(b);
        free(a);
    }
}

/* Prepare an operand for the whole batch. */
static struct block prepare(const struct trial *t, enum bitcut_operand which,
                            struct bitcut_cuda_operand *to)
{
    size_t bytes = 1;
    struct bitcut_cuda_gemm g = t->g;
    ck_assert_int_eq(bitcut_gemm_cuda_words(&bytes, cuda, &g, which, NULL), BITCUT_OK);
    ck_assert_uint_eq(bytes % 256, 0);
    const size_t copies = to->stride && t->batch ? t->batch : 1;
    struct block x = block_make(copies * bytes);
    for (size_t e = 0; e < copies; e++) {
        struct bitcut_cuda_operand *from = which == BITCUT_A ? &g.a : &g.b;
        from->at = (const uint32_t *)to->at + e * to->stride;
        from->words = cuda; /* not read */
        ck_assert_int_eq(
            bitcut_gemm_cuda_prepare(x.at + e * bytes, cuda, &g, which, NULL, NULL),
            BITCUT_OK);
    }
    *to = (struct bitcut_cuda_operand){ .words = x.at,
                                        .words_stride = to->stride ? bytes : 0 };
    return x;
}

static void check_same(const struct stored *x, const struct trial *t, const char *name)
{
    for (size_t i = 0; i < x->count; i++)
        if (x->memory[i] != x->copy[i])
            ck_abort_msg("%s[%zu] %08" PRIx32 ", not %08" PRIx32
                         ": m %zu n %zu k %zu batch %zu slices %d ld %zu stride %zu",
                         name, i, x->memory[i], x->copy[i], t->g.m, t->g.n, t->g.k,
                         t->batch, t->g.slices, x->ld, x->stride);
}

static void check_trial(struct trial *t, bool prepare_a, bool prepare_b, size_t at_a_time)
{
    char why[BITCUT_TEXT_MOST] = "";
    struct block a = block_make(0), b = block_make(0);
    size_t bytes = 1;
    expect(t);
    if (prepare_a) free(a.at), a = prepare(t, BITCUT_A, &t->g.a);
    if (prepare_b) free(b.at), b = prepare(t, BITCUT_B, &t->g.b);
    ck_assert_int_eq(bitcut_gemm_cuda_workspace(&bytes, cuda, &t->g, NULL), BITCUT_OK);
    bytes *= at_a_time;
    const struct block workspace = block_make(bytes);
    const enum bitcut_status status =
        t->batch == 1 ? bitcut_gemm_cuda(cuda, &t->g, workspace.at, bytes, NULL, why)
                      : bitcut_gemm_cuda_batch(cuda, &t->g, t->batch, workspace.at, bytes,
                                               NULL, why);
    if (status != BITCUT_OK) ck_abort_msg("%s", why);
    block_end(&workspace);
    block_end(&b);
    block_end(&a);
    check_same(&t->a, t, "A");
    check_same(&t->b, t, "B");
    check_same(&t->c, t, "C");
    check_same(&t->d, t, "D");
}

START_TEST(agrees_with_emulator)
{
    uint64_t state = test_seed();
    device_open();
    for (int i = 0; i < test_cases(150, 3000); i++) {
        struct trial t = trial_make(&state);
        check_trial(&t, below(&state, 3) == 0, below(&state, 3) == 0,
                    1 + below(&state, 3));
        trial_end(&t);
    }
    bitcut_cuda_close(cuda);
}
END_TEST

/* The device spoils the last output of all that is started at a time. */
START_TEST(batches_go_together)
{
    enum { BATCH = 5 };
    uint32_t a[BATCH], b[BATCH], d[BATCH];
    struct bitcut_cuda_gemm g = { .recipe = bitcut_recipe_find("ootomo"),
                                  .m = 1,
                                  .n = 1,
                                  .k = 1,
                                  .alpha = F32_ONE,
                                  .a = { .at = a, .ld = 1, .stride = 1 },
                                  .b = { .at = b, .ld = 1, .stride = 1 },
                                  .d = d,
                                  .ldd = 1,
                                  .stride_d = 1 };
    size_t bytes = 0;
    for (int i = 0; i < BATCH; i++) a[i] = b[i] = F32_ONE;
    setenv("DEVICE_FAULT", "flips", 1);
    device_open();
    ck_assert_int_eq(bitcut_gemm_cuda_workspace(&bytes, cuda, &g, NULL), BITCUT_OK);
    for (size_t room = 1; room <= BATCH + 1; room++) {
        const struct block workspace = block_make(room * bytes);
        ck_assert_int_eq(bitcut_gemm_cuda_batch(cuda, &g, BATCH, workspace.at,
                                                room * bytes, NULL, NULL),
                         BITCUT_OK);
        for (size_t i = 0; i < BATCH; i++)
            ck_assert_uint_eq(d[i] != F32_ONE, (i + 1) % room == 0 || i + 1 == BATCH);
        block_end(&workspace);
    }
    bitcut_cuda_close(cuda);
    unsetenv("DEVICE_FAULT");
}
END_TEST

/* More than a device takes at a time, by one GEMM and by slices. */
START_TEST(batches_are_parted)
{
    enum { BATCH = 66000 };
    static uint32_t d[BATCH];
    uint32_t one = F32_ONE;
    for (int slices = 1; slices <= 3; slices += 2) {
        struct bitcut_cuda_gemm g = { .recipe = bitcut_recipe_find("ootomo"),
                                      .slices = slices,
                                      .m = 1,
                                      .n = 1,
                                      .k = 1,
                                      .alpha = F32_ONE,
                                      .a = { .at = &one, .ld = 1 },
                                      .b = { .at = &one, .ld = 1 },
                                      .d = d,
                                      .ldd = 1,
                                      .stride_d = 1 };
        const size_t count = BATCH / (size_t)slices;
        size_t bytes = 0;
        device_open();
        ck_assert_int_eq(bitcut_gemm_cuda_workspace(&bytes, cuda, &g, NULL), BITCUT_OK);
        const struct block workspace = block_make(count * bytes);
        memset(d, 0xff, sizeof d);
        ck_assert_int_eq(bitcut_gemm_cuda_batch(cuda, &g, count, workspace.at,
                                                count * bytes, NULL, NULL),
                         BITCUT_OK);
        for (size_t i = 0; i < BATCH; i++)
            ck_assert_uint_eq(d[i], i < count ? F32_ONE : UINT32_MAX);
        block_end(&workspace);
        bitcut_cuda_close(cuda);
    }
}
END_TEST

/* Column-major A, B and D: D^T = B^T A^T, with the bits of that GEMM. */
START_TEST(column_major)
{
    enum { M = 6, N = 5, K = 20 };
    uint64_t state = test_seed();
    uint32_t a[M * K], b[K * N], d[M * N], want[N * M];
    char name[BITCUT_TEXT_MOST], unit[BITCUT_TEXT_MOST];
    struct bitcut_cuda_gemm g = { .recipe = bitcut_recipe_find("ootomo"),
                                  .m = N,
                                  .n = M,
                                  .k = K,
                                  .alpha = F32_ONE,
                                  .a = { .at = b, .ld = K },
                                  .b = { .at = a, .ld = M },
                                  .d = d,
                                  .ldd = M };
    size_t bytes = 0;
    device_open();
    for (int i = 0; i < M * K; i++) a[i] = some_value(&state);
    for (int i = 0; i < K * N; i++) b[i] = some_value(&state);
    ck_assert_int_eq(bitcut_gemm_cuda_kernel(name, unit, cuda, &g, NULL), BITCUT_OK);
    ck_assert_int_eq(bitcut_gemm_cuda_workspace(&bytes, cuda, &g, NULL), BITCUT_OK);
    const struct block workspace = block_make(bytes);
    ck_assert_int_eq(bitcut_gemm_cuda(cuda, &g, workspace.at, bytes, NULL, NULL),
                     BITCUT_OK);
    struct bitcut_gemm model = gemm_of(g.recipe, bitcut_unit_find(unit, NULL));
    gemm_set_dense(&model, want, N, M, K, b, a, NULL);
    ck_assert_int_eq(bitcut_gemm(NULL, &model, 1, NULL), BITCUT_OK);
    ck_assert_mem_eq(d, want, sizeof d);
    block_end(&workspace);
    bitcut_cuda_close(cuda);
}
END_TEST

/* --- which kernel ----------------------------------------------------------------- */

static const struct {
    const char *device, *recipe, *split;
    int slices;
    size_t m;
    const char *kernel, *unit;
} choices[] = {
    /* clang-format off */
    { "",       "ootomo", NULL,       0, 8,  "gemm.ootomo.f16",  "hopper/mma.m16n8k16.f32.f16" },
    { "",       "ootomo", "halfhalf", 3, 8,  "gemm.ootomo.f16",  "hopper/mma.m16n8k16.f32.f16" },
    { "",       "plain",  NULL,       0, 32, "small.plain.f16",  "hopper/wgmma.m64n8k16.f32.f16" },
    { "",       "plain",  NULL,       0, 33, "gemm.plain.f16",   "hopper/mma.m16n8k16.f32.f16" },
    { "",       "plain",  "half",     1, 8,  "small.plain.f16",  "hopper/wgmma.m64n8k16.f32.f16" },
    { "",       "plain",  "tf32",     1, 8,  "gemm.plain.tf32",  "hopper/mma.m16n8k8.f32.tf32" },
    { "ampere", "plain",  NULL,       0, 8,  "gemm.plain.f16",   "ampere/mma.m16n8k16.f32.f16" },
    { "ampere", "plain",  NULL,       0, 512, "old.plain.f16",   "ampere/mma.m16n8k16.f32.f16" },
    { "ampere", "tf32x3", NULL,       0, 8,  "gemm.tf32x3.tf32", "ampere/mma.m16n8k8.f32.tf32" },
    /* clang-format on */
};

START_TEST(kernels_chosen)
{
    char name[BITCUT_TEXT_MOST], unit[BITCUT_TEXT_MOST];
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        const char *split = choices[i].split;
        const struct bitcut_cuda_gemm g = {
            .recipe = bitcut_recipe_find(choices[i].recipe),
            .split = split ? bitcut_split_find(split) : NULL,
            .slices = choices[i].slices,
            .m = choices[i].m,
            .n = 8,
            .k = 8,
        };
        setenv("DEVICE_FAULT", choices[i].device, 1);
        device_open();
        ck_assert_str_eq(bitcut_cuda_device(cuda), "Models");
        ck_assert_int_eq(bitcut_gemm_cuda_kernel(name, unit, cuda, &g, NULL), BITCUT_OK);
        ck_assert_str_eq(name, choices[i].kernel);
        ck_assert_str_eq(unit, choices[i].unit);
        bitcut_cuda_close(cuda);
    }
}
END_TEST

/* --- refusals --------------------------------------------------------------------- */

/* A call that is good before it is spoiled. */
struct call {
    struct bitcut_cuda_gemm g;
    size_t batch;
    char *workspace;
    size_t bytes;
};

static const size_t huge = (size_t)1 << 62; /* bytes of so many elements do not fit */

#define SPOIL(name, what)                                                                \
    static void name(struct call *x) { what; }

SPOIL(no_recipe, x->g.recipe = NULL)
SPOIL(no_kernel_row, x->g.recipe = bitcut_recipe_find("fp32"))
SPOIL(unknown_kernel, x->g.kernel = "gemm.ootomo")
SPOIL(other_recipe, x->g.kernel = "gemm.plain.f16")
SPOIL(old_kernel, (x->g.recipe = NULL, x->g.kernel = "old.plain.f16"))
SPOIL(big_kernel, (x->g.recipe = NULL, x->g.kernel = "big.plain.f16"))
SPOIL(liar, (x->g.recipe = NULL, x->g.kernel = "liar.legemm.f16"))
SPOIL(low_liar, (x->g.recipe = NULL, x->g.kernel = "liar.markidis.f16"))
SPOIL(small_kernel, (x->g.recipe = NULL, x->g.kernel = "small.plain.f16", x->g.k = 33))
SPOIL(one_word, x->g.split = bitcut_split_find("half"))
SPOIL(other_words, x->g.split = bitcut_split_find("tf32tf32"))
SPOIL(no_words,
      (x->g.recipe = bitcut_recipe_find("plain"), x->g.split = bitcut_split_find("f32")))
SPOIL(mixed_scales, (x->g.recipe = bitcut_recipe_find("tf32x3"),
                     x->g.split = bitcut_split_find("halfhalf")))
SPOIL(negative_slices, x->g.slices = -1)
SPOIL(many_slices, x->g.slices = 4)
SPOIL(short_a, x->g.a.ld--)
SPOIL(short_a_turned, (x->g.a.transposed = true, x->g.m = 13, x->g.a.ld = 12))
SPOIL(short_b, x->g.b.ld--)
SPOIL(short_c, x->g.ldc--)
SPOIL(short_d, x->g.ldd--)
SPOIL(huge_a, (x->g.m = huge))
SPOIL(huge_b, (x->g.m = 0, x->g.n = huge))
SPOIL(huge_slices, (x->g.m = x->g.n = (size_t)1 << 30, x->g.slices = 3))
SPOIL(huge_lda, x->g.a.ld = huge)
SPOIL(largest_lda, (x->g.m = 2, x->g.a.ld = SIZE_MAX))
SPOIL(huge_ldd, x->g.ldd = huge)
SPOIL(no_a, x->g.a.at = NULL)
SPOIL(no_b, x->g.b.at = NULL)
SPOIL(no_c, x->g.c = NULL)
SPOIL(no_d, x->g.d = NULL)
SPOIL(odd_b, x->g.b.at = (const char *)x->g.b.at + 2)
SPOIL(wide_c, (x->g.c = x->g.d, x->g.ldc++))
SPOIL(odd_words, x->g.a.words = x->workspace + 128)
SPOIL(odd_words_stride, (x->g.a.words = x->workspace, x->g.a.words_stride = 128))
SPOIL(huge_stride_a, (x->batch = 9, x->g.a.stride = huge))
SPOIL(huge_stride_b, (x->batch = 9, x->g.b.stride = huge))
SPOIL(huge_stride_c, (x->batch = 9, x->g.stride_c = huge))
SPOIL(huge_stride_d, (x->batch = 9, x->g.stride_d = huge))
SPOIL(huge_stride_words,
      (x->batch = 9, x->g.a.words = x->workspace, x->g.a.words_stride = huge))
SPOIL(one_d, (x->batch = 2, x->g.stride_d = 0))
SPOIL(overlapping_d, (x->batch = 2, x->g.stride_d--))
SPOIL(crossing_d, (x->batch = 3, x->g.stride_d = x->g.n, x->g.ldd = 3 * x->g.n - 1))
SPOIL(other_stride_c, (x->batch = 2, x->g.c = x->g.d, x->g.stride_c++))
SPOIL(small_workspace, x->bytes--)
SPOIL(no_workspace, x->workspace = NULL)
SPOIL(odd_workspace, x->workspace += 128)

static const struct refusal {
    void (*spoil)(struct call *x);
    enum bitcut_status status;
    const char *why;
} refusals[] = {
    /* clang-format off */
    { no_recipe,         BITCUT_BAD_ARGUMENT, "neither recipe nor kernel" },
    { no_kernel_row,     BITCUT_CANNOT,       "there is no kernel for recipe fp32" },
    { unknown_kernel,    BITCUT_BAD_ARGUMENT, "there is no kernel gemm.ootomo" },
    { other_recipe,      BITCUT_BAD_ARGUMENT, "gemm.plain.f16 computes recipe plain, not ootomo" },
    { old_kernel,        BITCUT_CANNOT,       "Models cannot run old.plain.f16" },
    { big_kernel,        BITCUT_CANNOT,       "Models cannot run big.plain.f16" },
    { liar,              BITCUT_CANNOT,       "liar.legemm.f16 does not compute recipe legemm" },
    { low_liar,          BITCUT_CANNOT,       "liar.markidis.f16 does not compute recipe markidis" },
    { small_kernel,      BITCUT_BAD_ARGUMENT, "small.plain.f16 takes m, n and k up to 32" },
    { one_word,          BITCUT_BAD_ARGUMENT, "recipe ootomo needs more words than half has" },
    { other_words,       BITCUT_BAD_ARGUMENT, "gemm.ootomo.f16 takes 2 words of f16, not 2 of tf32" },
    { no_words,          BITCUT_BAD_ARGUMENT, "kernels have no words of f32" },
    { mixed_scales,      BITCUT_BAD_ARGUMENT, "recipe tf32x3 adds words of different scale; use a split with s = 0" },
    { negative_slices,   BITCUT_BAD_ARGUMENT, "gemm.ootomo.f16 takes 1 to 3 slices of k" },
    { many_slices,       BITCUT_BAD_ARGUMENT, "gemm.ootomo.f16 takes 1 to 3 slices of k" },
    { short_a,           BITCUT_BAD_ARGUMENT, "A: leading dimension 10 is below the row length, 11" },
    { short_a_turned,    BITCUT_BAD_ARGUMENT, "A: leading dimension 12 is below the row length, 13" },
    { short_b,           BITCUT_BAD_ARGUMENT, "B: leading dimension 4 is below the row length, 5" },
    { short_c,           BITCUT_BAD_ARGUMENT, "C: leading dimension 4 is below the row length, 5" },
    { short_d,           BITCUT_BAD_ARGUMENT, "D: leading dimension 4 is below the row length, 5" },
    { huge_a,            BITCUT_BAD_ARGUMENT, "the workspace does not fit any memory" },
    { huge_b,            BITCUT_BAD_ARGUMENT, "the workspace does not fit any memory" },
    { huge_slices,       BITCUT_BAD_ARGUMENT, "the workspace does not fit any memory" },
    { largest_lda,       BITCUT_BAD_ARGUMENT, "A does not fit any memory" },
    { huge_lda,          BITCUT_BAD_ARGUMENT, "A does not fit any memory" },
    { huge_ldd,          BITCUT_BAD_ARGUMENT, "D does not fit any memory" },
    { no_a,              BITCUT_BAD_ARGUMENT, "A is missing" },
    { no_b,              BITCUT_BAD_ARGUMENT, "B is missing" },
    { no_c,              BITCUT_BAD_ARGUMENT, "C is missing" },
    { no_d,              BITCUT_BAD_ARGUMENT, "D is missing" },
    { odd_b,             BITCUT_BAD_ARGUMENT, "B is not aligned to 4 bytes" },
    { wide_c,            BITCUT_BAD_ARGUMENT, "D is C with another leading dimension" },
    { odd_words,         BITCUT_BAD_ARGUMENT, "A: not aligned to 256 bytes" },
    { odd_words_stride,  BITCUT_BAD_ARGUMENT, "A: the stride of words is no multiple of 256 below 2^64" },
    { huge_stride_a,     BITCUT_BAD_ARGUMENT, "A does not fit any memory" },
    { huge_stride_b,     BITCUT_BAD_ARGUMENT, "B does not fit any memory" },
    { huge_stride_c,     BITCUT_BAD_ARGUMENT, "C does not fit any memory" },
    { huge_stride_d,     BITCUT_BAD_ARGUMENT, "D does not fit any memory" },
    { huge_stride_words, BITCUT_BAD_ARGUMENT, "A: the stride of words is no multiple of 256 below 2^64" },
    { one_d,             BITCUT_BAD_ARGUMENT, "the matrices of D overlap" },
    { overlapping_d,     BITCUT_BAD_ARGUMENT, "the matrices of D overlap" },
    { crossing_d,        BITCUT_BAD_ARGUMENT, "the matrices of D overlap" },
    { other_stride_c,    BITCUT_BAD_ARGUMENT, "D is C with another stride" },
    { small_workspace,   BITCUT_BAD_ARGUMENT, "a workspace of 2815 bytes, not of 2816" },
    { no_workspace,      BITCUT_BAD_ARGUMENT, "workspace: missing" },
    { odd_workspace,     BITCUT_BAD_ARGUMENT, "workspace: not aligned to 256 bytes" },
    /* clang-format on */
};

START_TEST(calls_refused)
{
    enum { M = 6, N = 5, K = 11 };
    static const uint32_t a[M * K], b[K * N], c[M * N];
    uint32_t d[M * N];
    char why[BITCUT_TEXT_MOST];
    const struct block workspace = block_make(4096);
    device_open();
    memset(d, FILL, sizeof d);
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        struct call x = { { .recipe = bitcut_recipe_find("ootomo"),
                            .m = M,
                            .n = N,
                            .k = K,
                            .alpha = F32_ONE,
                            .beta = F32_ONE,
                            .a = { .at = a, .ld = K },
                            .b = { .at = b, .ld = N },
                            .c = c,
                            .ldc = N,
                            .stride_c = M * N,
                            .d = d,
                            .ldd = N,
                            .stride_d = M * N },
                          1,
                          (char *)workspace.at,
                          0 };
        snprintf(why, sizeof why, "%s", "");
        ck_assert_int_eq(bitcut_gemm_cuda_workspace(&x.bytes, cuda, &x.g, why),
                         BITCUT_OK);
        ck_assert_str_eq(why, "");
        refusals[i].spoil(&x);
        ck_assert_int_eq(
            bitcut_gemm_cuda_batch(cuda, &x.g, x.batch, x.workspace, x.bytes, NULL, why),
            refusals[i].status);
        ck_assert_str_eq(why, refusals[i].why);
        ck_assert_int_eq(
            bitcut_gemm_cuda_batch(cuda, &x.g, x.batch, x.workspace, x.bytes, NULL, NULL),
            refusals[i].status);
        for (size_t e = 0; e < M * N; e++) ck_assert_uint_eq(d[e], 0xa5a5a5a5);
        for (size_t e = 0; e < 4096; e++) ck_assert_uint_eq(workspace.at[e], FILL);
    }
    block_end(&workspace);
    bitcut_cuda_close(cuda);
}
END_TEST

/* Words that cannot be prepared. */
/* Matrices of D as near as they may be, and what is empty, wherever it is. */
START_TEST(calls_taken)
{
    enum { M = 2, N = 3, BATCH = 3 };
    const uint32_t a[M] = { F32_ONE, F32_ONE }, b[N] = { F32_ONE, F32_ONE, F32_ONE };
    uint32_t d[BATCH * M * N];
    char why[BITCUT_TEXT_MOST] = "";
    struct bitcut_cuda_gemm g = { .recipe = bitcut_recipe_find("ootomo"),
                                  .m = M,
                                  .n = N,
                                  .k = 1,
                                  .alpha = F32_ONE,
                                  .a = { .at = a, .ld = 1 },
                                  .b = { .at = b, .ld = N },
                                  .d = d,
                                  .ldd = BATCH * N,
                                  .stride_d = N };
    const struct block workspace = block_make(4096);
    device_open();
    memset(d, FILL, sizeof d);
    if (bitcut_gemm_cuda_batch(cuda, &g, BATCH, workspace.at, 4096, NULL, why))
        ck_abort_msg("%s", why);
    for (int i = 0; i < BATCH * M * N; i++) ck_assert_uint_eq(d[i], F32_ONE);
    g.m = 0;
    g.beta = F32_ONE;
    g.d = NULL;
    g.ldc = N;
    if (bitcut_gemm_cuda_batch(cuda, &g, BATCH, workspace.at, 4096, NULL, why))
        ck_abort_msg("%s", why);
    bitcut_cuda_close(cuda);
    block_end(&workspace);
}
END_TEST

START_TEST(words_refused)
{
    static const uint32_t a[6 * 11];
    struct bitcut_cuda_gemm g = { .recipe = bitcut_recipe_find("ootomo"),
                                  .m = 6,
                                  .n = 5,
                                  .k = 11,
                                  .a = { .at = a, .ld = 11, .words = a } };
    char why[BITCUT_TEXT_MOST];
    const struct block words = block_make(4096);
    device_open();
    static const struct {
        size_t offset, ld;
        bool there;
        const char *why;
    } refused[] = {
        { 0, 10, true, "A: leading dimension 10 is below the row length, 11" },
        { 0, 11, false, "A is missing" },
        { 64, 11, true, "words: not aligned to 256 bytes" },
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        g.a.at = refused[i].there ? a : NULL;
        g.a.ld = refused[i].ld;
        ck_assert_int_eq(bitcut_gemm_cuda_prepare(words.at + refused[i].offset, cuda, &g,
                                                  BITCUT_A, NULL, why),
                         BITCUT_BAD_ARGUMENT);
        ck_assert_str_eq(why, refused[i].why);
    }
    g.a.at = a;
    ck_assert_int_eq(bitcut_gemm_cuda_prepare(NULL, cuda, &g, BITCUT_A, NULL, why),
                     BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(why, "words: missing");
    ck_assert_uint_eq(words.at[64], FILL);
    block_end(&words);
    bitcut_cuda_close(cuda);
}
END_TEST

/* --- no device -------------------------------------------------------------------- */

START_TEST(devices_refused)
{
    static const struct {
        const char *modules, *fault, *why;
    } refused[] = {
        { "nowhere", "",
          "no GPU backend: bitcut-cuda.so is not in nowhere (built only "
          "where nvcc is found; BITCUT_MODULES names another folder)" },
        { models, "absent", "no device: nobody is there" },
        { models, "future",
          "Models has compute capability 99.0, of no architecture known" },
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        char why[BITCUT_TEXT_MOST];
        setenv("BITCUT_MODULES", refused[i].modules, 1);
        setenv("DEVICE_FAULT", refused[i].fault, 1);
        cuda = NULL;
        ck_assert_int_eq(bitcut_cuda_open(&cuda, why), BITCUT_CANNOT);
        ck_assert_str_eq(why, refused[i].why);
        ck_assert_int_eq(bitcut_cuda_open(&cuda, NULL), BITCUT_CANNOT);
        ck_assert_ptr_null(cuda);
    }
    bitcut_cuda_close(NULL);
}
END_TEST

START_TEST(device_fails)
{
    uint32_t one = F32_ONE, d;
    char why[BITCUT_TEXT_MOST];
    const struct bitcut_cuda_gemm g = { .recipe = bitcut_recipe_find("plain"),
                                        .m = 1,
                                        .n = 1,
                                        .k = 1,
                                        .alpha = F32_ONE,
                                        .a = { .at = &one, .ld = 1 },
                                        .b = { .at = &one, .ld = 1 },
                                        .d = &d,
                                        .ldd = 1 };
    const struct block workspace = block_make(256);
    setenv("DEVICE_FAULT", "breaks", 1);
    device_open();
    ck_assert_int_eq(bitcut_gemm_cuda(cuda, &g, workspace.at, 256, NULL, why),
                     BITCUT_CANNOT);
    ck_assert_str_eq(why, "small.plain.f16: it broke");
    block_end(&workspace);
    bitcut_cuda_close(cuda);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { agrees_with_emulator,
                                   batches_go_together,
                                   batches_are_parted,
                                   column_major,
                                   kernels_chosen,
                                   calls_refused,
                                   calls_taken,
                                   words_refused,
                                   devices_refused,
                                   device_fails,
                                   NULL };
    if (access("tests/.libs/bitcut-cuda.so", F_OK) == 0) return test_run("cuda", tests);
    puts("1..0 # SKIP no shared library");
    return 0;
}
