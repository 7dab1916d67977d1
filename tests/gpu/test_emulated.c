/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs of the library on a device with other units than requested, with
   tests/gpu/device.c as the device: choices, errors and results.  Run in the build
   folder. */
#define _POSIX_C_SOURCE 200809L

#include "gpu/api/offload.h"
#include "gpu/api/gpu.h"
#include "tests/gpu/model_device.h"

#define AMPERE "ampere/mma.m16n8k16.f32.f16"

static struct bitcut_gemm gemm_named(const char *recipe, const char *unit)
{
    struct bitcut_gemm g =
        gemm_of(bitcut_recipe_find(recipe), unit ? bitcut_unit_find(unit, NULL) : NULL);
    g.m = g.n = g.k = 8;
    return g;
}

/* --- what is chosen --------------------------------------------------------------- */

static const struct {
    const char *device, *recipe, *unit;
    const char *kernel;    /* or NULL                                    */
    const char *method[4]; /* of each product                            */
} choices[] = {
    /* clang-format off */
    { "", "ootomo",   "hopper/mma.m16n8k16.f32.f16",   "gemm.ootomo.f16", { "kernel", "kernel", "kernel" } },
    { "", "legemm",   "hopper/mma.m16n8k16.f32.f16",   NULL, { "native", "native", "native" } },
    { "", "plain",    "hopper/wgmma.m64n256k16.f32.f16", "small.plain.f16", { "kernel" } },
    { "", "plain",    AMPERE,                          NULL, { "tensor" } },
    { "", "tf32x3",   "ampere/mma.m16n8k8.f32.tf32",   NULL, { "tensor", "tensor", "tensor" } },
    { "", "plain",    "volta/mma.m8n8k4.f32.f16",      NULL, { "tensor" } },
    { "", "plain",    "volta/mma.m8n8k4.f16.f16",      NULL, { "cut" } },
    { "", "fp32",     "fma/f32",                       NULL, { "simt" } },
    { "", "markidis", "ideal/rz25",                    NULL, { "steps", "steps", "steps", "steps" } },
    { "", "half-fp8", "hopper/mma.m16n8k16.f32.f16",   NULL, { "cut", "cut", "native" } },
    { "", "half-int8", "hopper/wgmma.m64n8k16.f32.f16", "mixed.half-int8.f16", { "kernel", "kernel", "kernel" } },
    { "", "half-fp8", "hopper/wgmma.m64n8k16.f32.f16", "mixed.half-fp8.f16", { "kernel", "kernel", "kernel" } },
    { "ampere", "plain", "hopper/mma.m16n8k16.f32.f16", NULL, { "cut" } },
    { "ampere", "plain", AMPERE,                       "gemm.plain.f16", { "kernel" } },
    { "adds otherwise", "plain", AMPERE,               NULL, { "cut" } },
    { "adds otherwise", "legemm", "hopper/mma.m16n8k16.f32.f16", NULL, { "native", "native", "native" } },
    /* clang-format on */
};

static bool same_text(const char *x, const char *y)
{
    return x && y ? !strcmp(x, y) : x == y;
}

START_TEST(methods_chosen)
{
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        const struct bitcut_gemm g = gemm_named(choices[i].recipe, choices[i].unit);
        struct bitcut_gemm ran = g;
        char why[BITCUT_TEXT_MAX] = "";
        setenv("DEVICE_FAULT", choices[i].device, 1);
        device_open();
        if (bitcut_gemm_choose(&ran, device, &g, why) != BITCUT_OK)
            ck_abort_msg("row %zu: %s", i, why);
        ck_assert_msg(same_text(ran.kernel, choices[i].kernel), "row %zu: %s", i,
                      ran.kernel ? ran.kernel : "no kernel");
        ck_assert(gpu_units_agree(ran.unit, g.unit));
        ck_assert(ran.promote >= 0 && ran.dropped_term >= 0 && ran.tile_k >= 0 &&
                  ran.order.slices == 1);
        for (size_t t = 0; t < 4; t++) {
            const char *const method = bitcut_gemm_method(device, &g, t);
            ck_assert_msg(same_text(method, choices[i].method[t]), "row %zu, %zu: %s", i,
                          t, method ? method : "none");
        }
        ck_assert_ptr_null(bitcut_gemm_method(device, &g, 4));
        bitcut_device_close(device);
    }
    setenv("DEVICE_FAULT", "", 1);
}
END_TEST

/* The unit that a device has not, by a kernel's recipe: only if it is asked for. */
START_TEST(not_unasked)
{
    struct bitcut_gemm g = gemm_named("feng", NULL);
    device_open();
    ck_assert_int_eq(bitcut_gemm_choose(&g, device, &g, NULL), BITCUT_UNSUPPORTED);
    ck_assert_ptr_null(bitcut_gemm_method(device, &g, 0));
    g.unit = bitcut_unit_find(AMPERE, NULL);
    ck_assert_int_eq(bitcut_gemm_choose(&g, device, &g, NULL), BITCUT_OK);
    bitcut_device_close(device);
}
END_TEST

/* --- refusals --------------------------------------------------------------------- */

#define SPOIL(name, what)                                                                \
    static void name(struct bitcut_gemm *g) { what; }

static uint32_t memory[64 * 8] __attribute__((aligned(256)));

SPOIL(other_parts, g->recipe = bitcut_recipe_find("tf32x3"))
SPOIL(scaled_unit,
      g->unit = bitcut_unit_find("blackwell/tcgen05.m128n8k32.mxf8f6f4.f32.e4m3", NULL))
SPOIL(prepared, g->b.prepared = memory)
SPOIL(no_format, g->a.format = &formats[FORMAT_F64])
SPOIL(short_ld, g->d.ld = 7)
SPOIL(huge, g->m = g->n = (size_t)1 << 27)
SPOIL(long_k, g->k = (size_t)1 << 32)
SPOIL(odd, g->a.at = (const char *)memory + 2)
SPOIL(no_d, g->d.at = NULL)
SPOIL(is_c, (g->c.at = g->d.at, g->c.layout = BITCUT_COLUMN_MAJOR, g->beta = F32_ONE))

static const struct {
    void (*spoil)(struct bitcut_gemm *g);
    bool early; /* before matrices are anywhere */
    const char *why;
} refusals[] = {
    /* clang-format off */
    { other_parts, true,  "recipe tf32x3 has parts in tf32, but " AMPERE " multiplies f16 by f16; choose another unit or split" },
    { scaled_unit, true,  "blackwell/tcgen05.m128n8k32.mxf8f6f4.f32.e4m3 requires block scales: factors of A and of B in ue8m0, one for each line and 32 k, and scaling=unit" },
    { prepared,    true,  "emulation accepts no prepared operands" },
    { no_format,   true,  "A cannot have the format f64" },
    { short_ld,    true,  "D: leading dimension 7 is less than the row length 8" },
    { huge,        true,  "the workspace exceeds the address space" },
    { long_k,      true,  "the workspace exceeds the address space" },
    { odd,         false, "A is not aligned to 4 bytes" },
    { no_d,        false, "D must not be NULL" },
    { is_c,        false, "D and C share memory but differ in leading dimension, stride, layout or format" },
    /* clang-format on */
};

START_TEST(gemms_refused)
{
    device_open();
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        struct bitcut_gemm g = gemm_named("markidis", AMPERE);
        char why[BITCUT_TEXT_MAX] = "";
        gemm_set_dense(&g, memory + 192, 8, 8, 8, memory, memory + 64, memory + 128);
        refusals[i].spoil(&g);
        ck_assert_int_eq(bitcut_gemm_choose(&g, device, &g, NULL),
                         refusals[i].early ? BITCUT_BAD_ARGUMENT : BITCUT_OK);
        ck_assert_int_eq(
            bitcut_gemm_start(NULL, device, &g, memory + 256, 1024, NULL, why),
            BITCUT_BAD_ARGUMENT);
        ck_assert_str_eq(why, refusals[i].why);
    }
    bitcut_device_close(device);
}
END_TEST

START_TEST(no_parts)
{
    struct bitcut_gemm g = gemm_named("markidis", AMPERE);
    char why[BITCUT_TEXT_MAX];
    size_t bytes = 7;
    device_open();
    g.a.at = memory;
    ck_assert_int_eq(bitcut_gemm_prepared_size(&bytes, device, &g, BITCUT_A, why),
                     BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(why, "emulation accepts no prepared operands");
    ck_assert_int_eq(bitcut_gemm_prepare(memory, device, &g, BITCUT_A, NULL, why),
                     BITCUT_BAD_ARGUMENT);
    ck_assert_uint_eq(bytes, 7);
    bitcut_device_close(device);
}
END_TEST

START_TEST(it_breaks)
{
    struct bitcut_gemm g = gemm_named("markidis", AMPERE);
    char why[BITCUT_TEXT_MAX];
    setenv("DEVICE_FAULT", "breaks", 1);
    device_open();
    gemm_set_dense(&g, memory + 192, 8, 8, 8, memory, memory + 64, NULL);
    ck_assert_int_eq(bitcut_gemm_start(NULL, device, &g, memory + 256, 1024, NULL, why),
                     BITCUT_UNSUPPORTED);
    ck_assert_str_eq(why, "emulation: it broke");
    bitcut_device_close(device);
    setenv("DEVICE_FAULT", "", 1);
}
END_TEST

/* --- what is written -------------------------------------------------------------- */

enum { COUNT = 3, M = 5, N = 7, K = 33, ELEMENTS = COUNT * 40 * 40 };

static uint32_t a[ELEMENTS], b[ELEMENTS], c[ELEMENTS], d[ELEMENTS], want[ELEMENTS];

static void fill(uint32_t *to, uint64_t *state)
{
    for (size_t i = 0; i < ELEMENTS; i++) {
        const uint32_t field = (uint32_t)test_between(state, 117, 137);
        to[i] = ((uint32_t)test_bits(state) & 0x807fffff) | field << 23;
        if (!test_between(state, 0, 99)) to[i] = (uint32_t)test_bits(state);
    }
}

/* A matrix of f32, or two of bf16 in the place of one. */
static struct bitcut_matrix matrix_at(uint32_t *at, size_t rows, size_t cols,
                                      uint64_t *state)
{
    const bool down = test_between(state, 0, 1), half = test_between(state, 0, 1);
    struct bitcut_matrix x = { .at = at };
    x.layout = down ? BITCUT_COLUMN_MAJOR : BITCUT_ROW_MAJOR;
    x.format = half ? &formats[FORMAT_BF16] : NULL;
    x.ld = (down ? rows : cols) + (size_t)test_between(state, 0, 3);
    x.stride = (down ? cols : rows) * x.ld + (size_t)test_between(state, 0, 5);
    return x;
}

/* The same matrices by pointers, the last first. */
static void turn_round(const void *each[COUNT], struct bitcut_matrix *x)
{
    for (size_t i = 0; i < COUNT; i++) each[i] = matrix_nth(x, COUNT - 1 - i);
    x->each = each;
    x->at = NULL;
}

static struct bitcut_gemm some_gemm(uint64_t *state)
{
    static const char *const lines[] = {
        "ootomo@a100",
        "legemm@mi210,slices=3",
        "plain@v100,equilibrate",
        "fp32@fma/f32",
        "half-fp8@h100",
        "tf32x3@a100,lanes=2,chunk=8",
        "markidis@mi300",
        "xla-bf16x6@a100,tile-k=16",
        "ootomo@ideal/rz25,promote=2",
        "legemm@h100",
    };
    struct bitcut_gemm g;
    char why[BITCUT_TEXT_MAX];
    bitcut_gemm_init(&g, sizeof g);
    const int row = test_between(state, 0, sizeof lines / sizeof lines[0] - 1);
    if (bitcut_gemm_read(&g, lines[row], why) != BITCUT_OK) ck_abort_msg("%s", why);
    g.count = COUNT;
    g.m = M, g.n = N, g.k = K;
    g.alpha = test_between(state, 0, 1) ? F32_ONE : 0xbf99999a;
    g.beta = test_between(state, 0, 1) ? 0 : 0x40490fdb;
    g.a = matrix_at(a, M, K, state);
    g.b = matrix_at(b, K, N, state);
    g.c = matrix_at(c, M, N, state);
    g.d = matrix_at(d, M, N, state);
    if (!test_between(state, 0, 2)) g.b.stride = 0;
    return g;
}

/* A batch on the device, one GEMM after the other in the memory of one. */
START_TEST(as_emulated)
{
    uint64_t state = test_seed();
    device_open();
    for (int i = 0; i < test_cases(100, 3000); i++) {
        const uint64_t seed = state;
        const void *each[4][COUNT];
        char why[BITCUT_TEXT_MAX] = "";
        size_t bytes = 0;
        struct bitcut_gemm g = some_gemm(&state), ran = g;
        fill(a, &state), fill(b, &state), fill(c, &state), fill(d, &state);
        memcpy(want, d, sizeof d);
        if (test_between(&state, 0, 1)) {
            turn_round(each[0], &g.a), turn_round(each[1], &g.b);
            turn_round(each[2], &g.c), turn_round(each[3], &g.d);
        }
        ck_assert_int_eq(bitcut_gemm_workspace(&bytes, device, &g, why), BITCUT_OK);
        const struct block workspace = block_make(bytes);
        if (bitcut_gemm_start(&ran, device, &g, workspace.at, bytes, NULL, why))
            ck_abort_msg("state %" PRIu64 ": %s", seed, why);
        ck_assert_ptr_null(ran.kernel);
        block_end(&workspace);
        uint32_t *const got = memcpy(malloc(sizeof d), d, sizeof d);
        memcpy(d, want, sizeof d);
        ck_assert_int_eq(bitcut_gemm(NULL, &ran, 1, why), BITCUT_OK);
        for (size_t e = 0; e < ELEMENTS; e++)
            ck_assert_msg(got[e] == d[e], "state %" PRIu64 ": part %zu is %08x, not %08x",
                          seed, e, got[e], d[e]);
        ck_assert_mem_ne(d, want, sizeof d);
        free(got);
    }
    bitcut_device_close(device);
}
END_TEST

/* --- in the emulator's place ------------------------------------------------------ */

static const struct gpu_module *asked;

/* Whether the memory is that of a matrix, from the first element to the last corner. */
static void check_memory(const struct bitcut_matrix *x, size_t rows, size_t cols,
                         struct gpu_memory host)
{
    const size_t bytes = x->format == &formats[FORMAT_BF16] ? 2 : 4;
    const size_t row = x->layout == BITCUT_ROW_MAJOR ? x->ld : 1,
                 col = x->layout == BITCUT_ROW_MAJOR ? 1 : x->ld;
    ck_assert_ptr_eq(host.at, x->at);
    ck_assert_uint_eq(host.bytes, ((rows - 1) * row + (cols - 1) * col + 1) * bytes);
}

static int run_checked(const struct gpu_work *w, const struct gpu_memory host[4],
                       int number, char *fault)
{
    const struct bitcut_gemm *g = &w->gemm;
    check_memory(&g->a, g->m, g->k, host[0]);
    check_memory(&g->b, g->k, g->n, host[1]);
    if (gemm_reads_c(g)) check_memory(&g->c, g->m, g->n, host[2]);
    else ck_assert_uint_eq(host[2].bytes, 0);
    check_memory(&g->d, g->m, g->n, host[3]);
    return asked->gemm(w, host, number, fault);
}

static struct gpu gpu;
static struct gpu_device is;

static void open_offload(struct gpu_offload *on)
{
    struct fault f;
    if (gpu_open_device(&gpu, &is, "cuda", models, &f) != BITCUT_OK)
        ck_abort_msg("%s", f.text);
    gpu_offload_init(on, &gpu, &is);
}

/* GEMMs of host memory, as commands have them computed. */
START_TEST(in_its_place)
{
    uint64_t state = test_seed();
    struct gpu_offload on;
    struct fault f;
    open_offload(&on);
    struct gpu_module checked = *(asked = gpu.module);
    checked.gemm = run_checked;
    gpu.module = &checked;
    for (int i = 0; i < test_cases(100, 3000); i++) {
        const uint64_t seed = state;
        struct bitcut_gemm g = some_gemm(&state);
        struct gemm_plan plan;
        bool took = false;
        fill(a, &state), fill(b, &state), fill(c, &state), fill(d, &state);
        ck_assert_int_eq(gemm_plan_on_unit(&plan, &g, NULL), BITCUT_OK);
        memcpy(want, d, sizeof d);
        for (size_t j = 0; j < COUNT; j++) {
            const struct bitcut_gemm one = gemm_nth(&g, j);
            if (on.offload.run(&took, &one, &plan, &on, &f) != BITCUT_OK)
                ck_abort_msg("state %" PRIu64 ": %s", seed, f.text);
            ck_assert(took);
        }
        uint32_t *const got = memcpy(malloc(sizeof d), d, sizeof d);
        memcpy(d, want, sizeof d);
        ck_assert_int_eq(gemm_run(&g, &(struct gemm_options){ .threads = 1 }, &f),
                         BITCUT_OK);
        ck_assert_msg(!memcmp(got, d, sizeof d), "state %" PRIu64, seed);
        ck_assert_mem_ne(d, want, sizeof d);
        free(got);
        ck_assert_uint_eq(on.runs, COUNT * ((size_t)i + 1));
    }
    gpu.module = asked;
    gpu_close(&gpu);
}
END_TEST

static void stop_after_one(void *context, double done)
{
    *(volatile sig_atomic_t *)context = done >= .5;
}

/* Of a batch the large ones; small ones, and what only the engine does, stay here. */
START_TEST(large_ones)
{
    enum { ROWS = 64, COLS = 256, DEPTH = GEMM_OFFLOAD_MIN / ROWS / COLS, TWO = 2 };
    static uint32_t from[DEPTH * COLS + 1], to[TWO][ROWS * COLS], here[TWO][ROWS * COLS];
    volatile sig_atomic_t stop = 0;
    const struct progress progress = { .stop = &stop,
                                       .report = stop_after_one,
                                       .context = (void *)(uintptr_t)&stop };
    uint64_t state = test_seed();
    struct gpu_offload on;
    struct fault f;
    struct gemm_plan plan;
    open_offload(&on);
    for (size_t i = 0; i < sizeof from / sizeof *from; i++)
        from[i] = (uint32_t)test_bits(&state) % (1 << 23) | 0x3f800000;
    struct bitcut_gemm g =
        gemm_of(bitcut_recipe_find("legemm"), bitcut_unit_find(AMPERE, NULL));
    gemm_set_dense(&g, to[0], ROWS, COLS, DEPTH, from, from, NULL);
    struct gemm_options o = { .threads = 1, .offload = &on.offload };
    g.count = TWO;
    g.b.stride = 1;
    g.d.stride = ROWS * COLS;
    ck_assert_int_eq(gemm_run(&g, &o, &f), BITCUT_OK);
    ck_assert_uint_eq(on.runs, TWO);
    g.d.to = here;
    o.offload = NULL;
    ck_assert_int_eq(gemm_run(&g, &o, &f), BITCUT_OK);
    ck_assert_mem_eq(to, here, sizeof to);

    memset(to, 0, sizeof to);
    g.d.to = to;
    o.offload = &on.offload;
    o.progress = &progress;
    ck_assert_int_eq(gemm_run(&g, &o, &f), BITCUT_UNSUPPORTED);
    ck_assert_str_eq(f.text, "stopped");
    ck_assert_mem_eq(to[0], here[0], sizeof to[0]);
    ck_assert_mem_ne(to[1], here[1], sizeof to[1]);
    ck_assert_uint_eq(on.runs, TWO + 1);

    o.progress = NULL;
    g.k--;
    ck_assert_int_eq(gemm_run(&g, &o, &f), BITCUT_OK);
    g.k++;
    ck_assert_int_eq(gemm_plan_on_unit(&plan, &g, &f), BITCUT_OK);
    plan.faults = &(struct gemm_faults){ 0 };
    ck_assert_int_eq(gemm_run_plan(&g, &plan, &o, &f), BITCUT_OK);
    ck_assert_uint_eq(on.runs, TWO + 1);
    gpu_close(&gpu);
}
END_TEST

DEVICE_TEST_MAIN("emulated", methods_chosen, not_unasked, gemms_refused, no_parts,
                 it_breaks, as_emulated, in_its_place, large_ones)
