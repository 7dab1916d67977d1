/* The library's batches of small GEMMs on a GPU, with tests/device_batch.c as the device:
   every bit against whole GEMMs of the emulator, nothing else written, and every refusal.
   Run in the build folder. */
#define _POSIX_C_SOURCE 200809L

#include "lib/fma.h"
#include "lib/round.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct bitcut_cuda *cuda;

static void device_open(void)
{
    char why[BITCUT_TEXT_MOST] = "";
    setenv("BITCUT_MODULES", "tests/.libs", 1);
    if (bitcut_cuda_open(&cuda, why) != BITCUT_OK) ck_abort_msg("%s", why);
}

/* --- matrices in memory ----------------------------------------------------------- */

enum { COUNT_MOST = 5 };

/* Matrices of a batch, with what lies between and around them. */
struct stored {
    uint16_t *memory, *copy, *at;
    size_t elements; /* in memory */
    size_t ld, stride;
    bool transposed;
    uint16_t *each[COUNT_MOST]; /* where matrices are */
};

static size_t below(uint64_t *state, size_t n) { return (size_t)(test_bits(state) % n); }

/* f16 values around 1; one in 32 is any encoding. */
static uint16_t some_value(uint64_t *state)
{
    const uint64_t bits = test_bits(state);
    if (bits % 32 == 0) return (uint16_t)(bits >> 32);
    return (uint16_t)((bits >> 8 & 0x83ff) | (15 - 4 + bits % 9) << 10);
}

enum layout { APART, SIDE_BY_SIDE, SAME, LAYOUTS };

static struct stored store(uint64_t *state, size_t rows, size_t cols, size_t count,
                           bool transposed, enum layout layout)
{
    const size_t offset = below(state, 9), gap = below(state, 3);
    const size_t row = transposed ? rows : cols, height = transposed ? cols : rows;
    struct stored x = { .ld = row + gap, .transposed = transposed };
    if (layout == SIDE_BY_SIDE) x.stride = row, x.ld = count * row + gap;
    if (layout == APART) x.stride = height * x.ld + below(state, 5);
    x.elements = offset + count * x.stride + height * x.ld + 1;
    x.memory = malloc(x.elements * sizeof *x.memory);
    x.copy = malloc(x.elements * sizeof *x.copy);
    ck_assert(x.memory && x.copy);
    for (size_t i = 0; i < x.elements; i++) x.memory[i] = some_value(state);
    memcpy(x.copy, x.memory, x.elements * sizeof *x.copy);
    x.at = x.memory + offset;
    for (size_t i = 0; i < COUNT_MOST; i++) x.each[i] = x.at + i * x.stride;
    return x;
}

/* The same with the matrices in another order. */
static void turn_round(struct stored *x, size_t count)
{
    for (size_t i = 0; i < count; i++) x->each[i] = x->at + (count - 1 - i) * x->stride;
}

static void discard(struct stored *x)
{
    free(x->copy);
    free(x->memory);
}

static size_t place(const struct stored *x, size_t matrix, size_t i, size_t j)
{
    return (size_t)(x->each[matrix] - x->memory) +
           (x->transposed ? j * x->ld + i : i * x->ld + j);
}

static uint32_t widened(uint16_t x)
{
    return (uint32_t)bitcut_format_convert(&formats[FORMAT_F32], &roundings[ROUND_RN],
                                           &formats[FORMAT_F16], x);
}

static uint16_t narrowed(uint32_t x)
{
    if ((x & 0x7fffffff) > 0x7f800000) return 0x7fff;
    return (uint16_t)bitcut_format_convert(&formats[FORMAT_F16], &roundings[ROUND_RN],
                                           &formats[FORMAT_F32], x);
}

/* A matrix as it was stored, row-major FP32 without gaps. */
static uint32_t *original(const struct stored *x, size_t matrix, size_t rows, size_t cols)
{
    uint32_t *to = malloc((rows * cols + 1) * sizeof *to);
    ck_assert(to != NULL);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            to[i * cols + j] = widened(x->copy[place(x, matrix, i, j)]);
    return to;
}

/* --- a batch and what it should be ------------------------------------------------ */

struct trial {
    struct bitcut_cuda_hgemm g;
    size_t count;
    struct stored a, b, c, d;
    bool in_place; /* D is C */
};

static const size_t sizes[] = { 0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 64 };
static const uint32_t scalars[] = { F32_ONE, 0, 0x80000000, 0x40490fdb, 0xbf99999a };
static const char *const kernels[] = { NULL, NULL, "batch.mma.64", "batch.fma.64" };

#define PICK(state, table) (table)[below(state, sizeof(table) / sizeof(table)[0])]

static void by_pointers(struct trial *t)
{
    for (struct stored *s = &t->a; s <= &t->d; s++) turn_round(s, t->count);
    t->g.a = (struct bitcut_cuda_matrices){ .each = (const void *const *)t->a.each,
                                            .ld = t->a.ld,
                                            .transposed = t->a.transposed };
    t->g.b.each = (const void *const *)t->b.each;
    t->g.d = NULL;
    t->g.each_d = (void *const *)t->d.each;
    if (!t->g.c) return;
    t->g.c = NULL;
    t->g.each_c = (const void *const *)(t->in_place ? t->d.each : t->c.each);
}

static struct trial trial_make(uint64_t *state)
{
    const size_t m = PICK(state, sizes), n = PICK(state, sizes), k = PICK(state, sizes);
    struct trial t = { .count = below(state, COUNT_MOST + 1) };
    const size_t held = t.count + 1;
    t.a = store(state, m, k, held, below(state, 2), below(state, LAYOUTS));
    t.b = store(state, k, n, held, below(state, 2), below(state, LAYOUTS));
    t.c = store(state, m, n, held, false, below(state, LAYOUTS));
    t.d = store(state, m, n, held, false, below(state, SAME));
    t.in_place = below(state, 2);
    const struct stored *c = t.in_place ? &t.d : &t.c;
    t.g = (struct bitcut_cuda_hgemm){
        .kernel = PICK(state, kernels),
        .m = m,
        .n = n,
        .k = k,
        .alpha = PICK(state, scalars),
        .beta = PICK(state, scalars),
        .a = { t.a.at, t.a.stride, NULL, t.a.ld, t.a.transposed },
        .b = { t.b.at, t.b.stride, NULL, t.b.ld, t.b.transposed },
        .c = c->at,
        .ldc = c->ld,
        .stride_c = c->stride,
        .d = t.d.at,
        .ldd = t.d.ld,
        .stride_d = t.d.stride,
    };
    if (!(t.g.beta & 0x7fffffff)) { /* is not read */
        t.g.c = below(state, 2) ? (const char *)t.a.memory + 1 : NULL;
        t.g.ldc = 0;
        t.g.stride_c = SIZE_MAX;
    }
    if (below(state, 2)) by_pointers(&t);
    return t;
}

static void trial_end(struct trial *t)
{
    discard(&t->d);
    discard(&t->c);
    discard(&t->b);
    discard(&t->a);
}

/* Write the bits that D_i must have into the copy of D's memory. */
static void expect(struct trial *t, size_t i)
{
    char name[BITCUT_TEXT_MOST], unit[BITCUT_TEXT_MOST];
    const struct bitcut_cuda_hgemm *g = &t->g;
    uint32_t *a = original(&t->a, i, g->m, g->k), *b = original(&t->b, i, g->k, g->n),
             *c = original(t->in_place ? &t->d : &t->c, i, g->m, g->n);
    ck_assert_int_eq(bitcut_hgemm_cuda_kernel(name, unit, cuda, g, NULL), BITCUT_OK);
    const char *recipe = strcmp(unit, "fma/f32") ? "plain" : "fp32";
    struct bitcut_gemm x;
    bitcut_gemm_init(&x, sizeof x);
    x.recipe = bitcut_recipe_find(recipe);
    x.unit = bitcut_unit_find(unit, NULL);
    x.m = g->m, x.n = g->n, x.k = g->k;
    x.alpha = g->alpha, x.beta = g->beta;
    x.a.at = a, x.b.at = b, x.c.at = c, x.d.to = c;
    ck_assert_int_eq(bitcut_gemm(NULL, &x, 1, NULL), BITCUT_OK);
    for (size_t r = 0; r < g->m; r++)
        for (size_t s = 0; s < g->n; s++)
            t->d.copy[place(&t->d, i, r, s)] = narrowed(c[r * g->n + s]);
    free(c);
    free(b);
    free(a);
}

static void check_unchanged(const struct stored *x, const char *name)
{
    for (size_t i = 0; i < x->elements; i++)
        if (x->memory[i] != x->copy[i])
            ck_abort_msg("%s, element %zu: got %04x, want %04x", name, i, x->memory[i],
                         x->copy[i]);
}

START_TEST(agrees_with_emulator)
{
    uint64_t state = test_seed();
    device_open();
    for (int i = 0; i < test_cases(300, 3000); i++) {
        char why[BITCUT_TEXT_MOST] = "";
        struct trial t = trial_make(&state);
        if (bitcut_hgemm_cuda_batch(cuda, &t.g, t.count, NULL, why) != BITCUT_OK)
            ck_abort_msg("trial %d: %s", i, why);
        for (size_t at = 0; at < t.count; at++) expect(&t, at);
        check_unchanged(&t.d, "D");
        check_unchanged(&t.a, "A");
        check_unchanged(&t.b, "B");
        if (!t.in_place) check_unchanged(&t.c, "C");
        trial_end(&t);
    }
    bitcut_cuda_close(cuda);
}
END_TEST

/* --- which kernel ----------------------------------------------------------------- */

static const struct {
    const char *device;
    size_t m, n, k;
    const char *kernel, *unit;
} choices[] = {
    /* clang-format off */
    { "",        3,  3,  3, "batch.tiny.3", "hopper/mma.m16n8k16.f32.f16" },
    { "",        4,  3,  3, "batch.mma.16", "hopper/mma.m16n8k16.f32.f16" },
    { "",        4,  3, 17, "batch.mma.64", "hopper/mma.m16n8k16.f32.f16" },
    { "",        4, 17,  3, "batch.mma.64", "hopper/mma.m16n8k16.f32.f16" },
    { "ampere", 17,  3,  3, "batch.old.64", "ampere/mma.m16n8k16.f32.f16" },
    /* clang-format on */
};

START_TEST(kernels_chosen)
{
    char name[BITCUT_TEXT_MOST], unit[BITCUT_TEXT_MOST];
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        const struct bitcut_cuda_hgemm g = { .m = choices[i].m,
                                             .n = choices[i].n,
                                             .k = choices[i].k };
        setenv("DEVICE_FAULT", choices[i].device, 1);
        device_open();
        ck_assert_int_eq(bitcut_hgemm_cuda_kernel(name, unit, cuda, &g, NULL), BITCUT_OK);
        ck_assert_str_eq(name, choices[i].kernel);
        ck_assert_str_eq(unit, choices[i].unit);
        bitcut_cuda_close(cuda);
    }
}
END_TEST

/* --- refusals --------------------------------------------------------------------- */

/* A call that is good before it is spoiled. */
struct call {
    struct bitcut_cuda_hgemm g;
    size_t count;
};

static const size_t huge = (size_t)1 << 63; /* bytes of so many elements do not fit */
static const void *const pointers[3];

#define SPOIL(name, what)                                                                \
    static void name(struct call *x) { what; }

SPOIL(unknown_kernel, x->g.kernel = "batch.mma")
SPOIL(old_kernel, x->g.kernel = "batch.old.64")
SPOIL(big_kernel, x->g.kernel = "batch.big.64")
SPOIL(small_kernel, (x->g.kernel = "batch.mma.16", x->g.k = 17))
SPOIL(large_m, x->g.m = 65)
SPOIL(huge_n, x->g.n = SIZE_MAX)
SPOIL(short_a, x->g.a.ld--)
SPOIL(short_a_turned, (x->g.a.transposed = true, x->g.m = 13, x->g.a.ld = 12))
SPOIL(short_b, x->g.b.ld--)
SPOIL(short_c, x->g.ldc--)
SPOIL(short_d, x->g.ldd--)
SPOIL(huge_lda, x->g.a.ld = huge)
SPOIL(largest_lda, (x->g.m = 2, x->g.a.ld = SIZE_MAX))
SPOIL(huge_ldd, x->g.ldd = huge)
SPOIL(huge_stride_a, x->g.a.stride = huge)
SPOIL(huge_stride_c, x->g.stride_c = huge)
SPOIL(huge_count, x->count = SIZE_MAX)
SPOIL(no_a, x->g.a.at = NULL)
SPOIL(no_b, x->g.b.at = NULL)
SPOIL(no_c, x->g.c = NULL)
SPOIL(no_d, x->g.d = NULL)
SPOIL(odd_b, x->g.b.at = (const char *)x->g.b.at + 1)
SPOIL(odd_pointers, x->g.a.each = (const void *const *)((const char *)pointers + 2))
SPOIL(one_d, x->g.stride_d = 0)
SPOIL(overlapping_d, x->g.stride_d--)
SPOIL(crossing_d, (x->g.stride_d = x->g.n, x->g.ldd = 3 * x->g.n - 1))
SPOIL(wide_c, (x->g.c = x->g.d, x->g.ldc++))
SPOIL(wide_each_c,
      (x->g.each_c = pointers, x->g.each_d = (void *const *)pointers, x->g.ldc++))
SPOIL(other_stride_c, (x->g.c = x->g.d, x->g.stride_c++))

static const struct refusal {
    void (*spoil)(struct call *x);
    enum bitcut_status status;
    const char *why;
} refusals[] = {
    /* clang-format off */
    { unknown_kernel, BITCUT_BAD_ARGUMENT, "there is no kernel batch.mma" },
    { old_kernel,     BITCUT_CANNOT,       "Models cannot run batch.old.64" },
    { big_kernel,     BITCUT_CANNOT,       "Models cannot run batch.big.64" },
    { small_kernel,   BITCUT_BAD_ARGUMENT, "batch.mma.16 takes m, n and k up to 16" },
    { large_m,        BITCUT_BAD_ARGUMENT, "batch.fma.64 takes m, n and k up to 64" },
    { huge_n,         BITCUT_BAD_ARGUMENT, "batch.fma.64 takes m, n and k up to 64" },
    { short_a,        BITCUT_BAD_ARGUMENT, "A: leading dimension 10 is below the row length, 11" },
    { short_a_turned, BITCUT_BAD_ARGUMENT, "A: leading dimension 12 is below the row length, 13" },
    { short_b,        BITCUT_BAD_ARGUMENT, "B: leading dimension 4 is below the row length, 5" },
    { short_c,        BITCUT_BAD_ARGUMENT, "C: leading dimension 4 is below the row length, 5" },
    { short_d,        BITCUT_BAD_ARGUMENT, "D: leading dimension 4 is below the row length, 5" },
    { huge_lda,       BITCUT_BAD_ARGUMENT, "A does not fit any memory" },
    { largest_lda,    BITCUT_BAD_ARGUMENT, "A does not fit any memory" },
    { huge_ldd,       BITCUT_BAD_ARGUMENT, "D does not fit any memory" },
    { huge_stride_a,  BITCUT_BAD_ARGUMENT, "A does not fit any memory" },
    { huge_stride_c,  BITCUT_BAD_ARGUMENT, "C does not fit any memory" },
    { huge_count,     BITCUT_BAD_ARGUMENT, "A does not fit any memory" },
    { no_a,           BITCUT_BAD_ARGUMENT, "A is missing" },
    { no_b,           BITCUT_BAD_ARGUMENT, "B is missing" },
    { no_c,           BITCUT_BAD_ARGUMENT, "C is missing" },
    { no_d,           BITCUT_BAD_ARGUMENT, "D is missing" },
    { odd_b,          BITCUT_BAD_ARGUMENT, "B is not aligned to 2 bytes" },
    { odd_pointers,   BITCUT_BAD_ARGUMENT, "A is not aligned to 8 bytes" },
    { one_d,          BITCUT_BAD_ARGUMENT, "the matrices of D overlap" },
    { overlapping_d,  BITCUT_BAD_ARGUMENT, "the matrices of D overlap" },
    { crossing_d,     BITCUT_BAD_ARGUMENT, "the matrices of D overlap" },
    { wide_c,         BITCUT_BAD_ARGUMENT, "D is C with another leading dimension" },
    { wide_each_c,    BITCUT_BAD_ARGUMENT, "D is C with another leading dimension" },
    { other_stride_c, BITCUT_BAD_ARGUMENT, "D is C with another stride" },
    /* clang-format on */
};

START_TEST(calls_refused)
{
    enum { M = 6, N = 5, K = 11, COUNT = 3, FILL = 0xa5a5 };
    static const uint16_t a[COUNT * M * K], b[COUNT * K * N], c[COUNT * M * N];
    uint16_t d[COUNT * M * N];
    char why[BITCUT_TEXT_MOST];
    device_open();
    memset(d, FILL & 0xff, sizeof d);
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        struct call x = { { .m = M,
                            .n = N,
                            .k = K,
                            .alpha = F32_ONE,
                            .beta = F32_ONE,
                            .a = { .at = a, .ld = K, .stride = M * K },
                            .b = { .at = b, .ld = N, .stride = K * N },
                            .c = c,
                            .ldc = N,
                            .stride_c = M * N,
                            .d = d,
                            .ldd = N,
                            .stride_d = M * N },
                          COUNT };
        refusals[i].spoil(&x);
        snprintf(why, sizeof why, "%s", "");
        ck_assert_int_eq(bitcut_hgemm_cuda_batch(cuda, &x.g, x.count, NULL, why),
                         refusals[i].status);
        ck_assert_str_eq(why, refusals[i].why);
        ck_assert_int_eq(bitcut_hgemm_cuda_batch(cuda, &x.g, x.count, NULL, NULL),
                         refusals[i].status);
        for (size_t e = 0; e < COUNT * M * N; e++) ck_assert_uint_eq(d[e], FILL);
    }
    bitcut_cuda_close(cuda);
}
END_TEST

/* Matrices of D side by side, without a gap. */
START_TEST(calls_taken)
{
    enum { M = 2, N = 3, COUNT = 3 };
    const uint16_t ones[] = { 0x3c00, 0x3c00, 0x3c00 };
    uint16_t d[COUNT * M * N] = { 0 };
    char why[BITCUT_TEXT_MOST] = "";
    const struct bitcut_cuda_hgemm g = { .m = M,
                                         .n = N,
                                         .k = 1,
                                         .alpha = F32_ONE,
                                         .a = { .at = ones, .ld = 1 },
                                         .b = { .at = ones, .ld = N },
                                         .d = d,
                                         .ldd = COUNT * N,
                                         .stride_d = N };
    device_open();
    if (bitcut_hgemm_cuda_batch(cuda, &g, COUNT, NULL, why)) ck_abort_msg("%s", why);
    for (int i = 0; i < COUNT * M * N; i++) ck_assert_uint_eq(d[i], ones[0]);
    bitcut_cuda_close(cuda);
}
END_TEST

START_TEST(device_fails)
{
    const uint16_t one = 0x3c00;
    uint16_t d;
    char why[BITCUT_TEXT_MOST];
    const struct bitcut_cuda_hgemm g = { .m = 1,
                                         .n = 1,
                                         .k = 1,
                                         .alpha = F32_ONE,
                                         .a = { .at = &one, .ld = 1 },
                                         .b = { .at = &one, .ld = 1 },
                                         .d = &d,
                                         .ldd = 1 };
    setenv("DEVICE_FAULT", "breaks", 1);
    device_open();
    ck_assert_int_eq(bitcut_hgemm_cuda_batch(cuda, &g, 1, NULL, why), BITCUT_CANNOT);
    ck_assert_str_eq(why, "batch.tiny.3: it broke");
    bitcut_cuda_close(cuda);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { agrees_with_emulator, kernels_chosen, calls_refused,
                                   calls_taken,          device_fails,   NULL };
    if (access("tests/.libs/bitcut-cuda.so", F_OK) == 0) return test_run("batch", tests);
    puts("1..0 # SKIP no shared library");
    return 0;
}
