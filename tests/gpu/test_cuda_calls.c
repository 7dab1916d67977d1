/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of the library on a device, with tests/gpu/device.c as the device: the selected
   kernels, parts in two formats, and the list of devices.  Run in the build folder. */
#define _POSIX_C_SOURCE 200809L

#include "emu/gemm.h"
#include "tests/gpu/model_device.h"

#define DOES_NOT(RECIPE) "no kernel for recipe " RECIPE " on Models supports: "

/* --- which kernel ----------------------------------------------------------------- */

static const struct {
    const char *device, *recipe, *split, *on;
    int promote, dropped_term;
    bool any_promotion;
    int slices;
    size_t m;
    bool small;
    const char *kernel, *unit; /* kernel: NULL: none, and unit is why */
} choices[] = {
#define OPEN -1, -1, false
#define MMA  "mma.m16n8k16.f32.f16"
    /* clang-format off */
    { "",       "ootomo", NULL,       NULL, OPEN,         0, 8,   false, "gemm.ootomo.f16",  "hopper/" MMA },
    { "",       "ootomo", "halfhalf", NULL, OPEN,         3, 8,   false, "gemm.ootomo.f16",  "hopper/" MMA },
    { "",       "ootomo", NULL,       NULL, 4, -1, false, 0, 8,   false, "vary.ootomo.f16",  "hopper/" MMA },
    { "",       "ootomo", NULL,       NULL, 1, 0, false,  0, 8,   false, "gemm.ootomo.f16",  "hopper/" MMA },
    { "",       "ootomo", NULL,       NULL, -1, -1, true, 0, 8,   false, "vary.ootomo.f16",  "hopper/" MMA },
    { "",       "ootomo", NULL,       NULL, 2, -1, false, 0, 8,   false, NULL, DOES_NOT("ootomo") "promotion every 2 instructions (supported: every 4, every 1)" },
    { "",       "ootomo", NULL,       NULL, -1, 1, false, 0, 8,   false, NULL, DOES_NOT("ootomo") "the low*low term (supported: left out)" },
    { "",       "plain",  NULL,       NULL, OPEN,         0, 32,  false, "small.plain.f16",  "hopper/wgmma.m64n8k16.f32.f16" },
    { "",       "markidis", NULL,     NULL, OPEN,         0, 2,   false, "narrow.markidis.f16", "hopper/wgmma.m64n8k16.f32.f16" },
    { "",       "markidis", NULL,     "hopper/" MMA, OPEN, 8, 2,  false, "narrow.markidis.f16", "hopper/wgmma.m64n8k16.f32.f16" },
    { "",       "markidis", NULL,     NULL, OPEN,         0, 3,   false, "gemm.markidis.f16",  "hopper/" MMA },
    { "ampere", "markidis", NULL,     NULL, OPEN,         0, 2,   false, "gemm.markidis.f16",  "ampere/" MMA },
    { "",       "plain",  NULL,       "hopper/" MMA, OPEN, 0, 32, false, "small.plain.f16",  "hopper/wgmma.m64n8k16.f32.f16" },
    { "",       "plain",  NULL,       NULL, OPEN,         0, 33,  false, "gemm.plain.f16",   "hopper/" MMA },
    { "",       "plain",  "half",     NULL, OPEN,         1, 8,   false, "small.plain.f16",  "hopper/wgmma.m64n8k16.f32.f16" },
    { "",       "plain",  "tf32",     NULL, OPEN,         1, 8,   false, "gemm.plain.tf32",  "hopper/mma.m16n8k8.f32.tf32" },
    { "ampere", "plain",  NULL,       NULL, OPEN,         0, 8,   false, "gemm.plain.f16",   "ampere/" MMA },
    { "ampere", "plain",  NULL,       NULL, OPEN,         0, 512, false, "old.plain.f16",    "ampere/" MMA },
    { "ampere", "tf32x3", NULL,       NULL, OPEN,         0, 8,   false, "gemm.tf32x3.tf32", "ampere/mma.m16n8k8.f32.tf32" },
    { "",       "plain",  NULL,       NULL, OPEN,         0, 3,   true,  "batch.mma.16",     "hopper/" MMA },
    { "",       "plain",  NULL,       NULL, OPEN,         0, 17,  true,  "batch.mma.64",     "hopper/" MMA },
    { "ampere", "plain",  NULL,       NULL, OPEN,         0, 17,  true,  "batch.old.64",     "ampere/" MMA },
    { "",       "plain",  NULL,       NULL, OPEN,         0, 65,  true,  NULL, DOES_NOT("plain") "65 x 8 x 8 (supported: m, n and k up to 64)" },
    { "",       "half-fp8", NULL,     NULL, OPEN,         0, 8,   false, "mixed.half-fp8.f16", "hopper/wgmma.m64n8k16.f32.f16" },
    { "",       "half-fp8", "half-e4m3", NULL, OPEN,      3, 8,   false, "mixed.half-fp8.f16", "hopper/wgmma.m64n8k16.f32.f16" },
    { "",       "half-int8", NULL,    NULL, OPEN,         3, 8,   false, "mixed.half-int8.f16", "hopper/wgmma.m64n8k16.f32.f16" },
    { "",       "half-int8", "half-e4m3", NULL, OPEN,     0, 8,   false, NULL, DOES_NOT("half-int8") "split half-e4m3 (supported: parts of split half-s8)" },
    { "",       "half-fp8", NULL,     NULL, 1, -1, false, 0, 8,   false, NULL, DOES_NOT("half-fp8") "promotion every 1 instructions (supported: every 4)" },
    { "",       "half-fp8", "half-e5m2", NULL, OPEN,      0, 8,   false, NULL, DOES_NOT("half-fp8") "split half-e5m2 (supported: parts of split half-e4m3)" },
    { "ampere", "half-fp8", NULL,     NULL, OPEN,         0, 8,   false, NULL, "no kernel for recipe half-fp8 runs on Models" },
    { "",       "fp32",   NULL,       NULL, OPEN,         0, 8,   true,  "batch.fma.64",     "fma/f32" },
    { "",       "fp32",   NULL,       NULL, OPEN,         0, 8,   false, NULL, "no kernel implements recipe fp32; see bitcut list kernels" },
    /* clang-format on */
};

START_TEST(kernels_chosen)
{
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        const struct bitcut_format *f =
            &formats[choices[i].small ? FORMAT_F16 : FORMAT_F32];
        char why[BITCUT_TEXT_MAX] = "";
        struct bitcut_gemm g;
        bitcut_gemm_init(&g, sizeof g);
        g.recipe = bitcut_recipe_find(choices[i].recipe);
        g.split_a = g.split_b = bitcut_split_find(choices[i].split);
        g.unit = choices[i].on ? bitcut_unit_find(choices[i].on, NULL) : NULL;
        g.promote = choices[i].promote;
        g.dropped_term = choices[i].dropped_term;
        g.any_promotion = choices[i].any_promotion;
        g.order.slices = choices[i].slices;
        g.m = choices[i].m;
        g.n = g.k = 8;
        g.a.format = g.b.format = g.c.format = g.d.format = f;
        setenv("DEVICE_FAULT", choices[i].device, 1);
        device_open();
        ck_assert_str_eq(bitcut_device_name(device), "Models");
        const enum bitcut_status status = bitcut_gemm_choose(&g, device, &g, why);
        if (!choices[i].kernel) {
            ck_assert_int_ne(status, BITCUT_OK);
            ck_assert_str_eq(why, choices[i].unit);
        } else {
            if (status != BITCUT_OK) ck_abort_msg("row %zu: %s", i, why);
            ck_assert_str_eq(g.kernel, choices[i].kernel);
            ck_assert_str_eq(bitcut_unit_name(g.unit), choices[i].unit);
        }
        bitcut_device_close(device);
    }
}
END_TEST

/* Parts are made for a kernel that accepts them, also where another one computes a narrow
   D; a GEMM with parts is computed by the former. */
START_TEST(narrow_prepared)
{
    static const char any[256] __attribute__((aligned(256)));
    char why[BITCUT_TEXT_MAX] = "";
    size_t bytes = 0;
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    setenv("DEVICE_FAULT", "", 1);
    device_open();
    g.recipe = bitcut_recipe_find("markidis");
    g.m = 2, g.n = g.k = 8;
    ck_assert_msg(!bitcut_gemm_prepared_size(&bytes, device, &g, BITCUT_B, why), "%s",
                  why);
    ck_assert_uint_gt(bytes, 0);
    g.kernel = "narrow.markidis.f16";
    ck_assert_int_eq(bitcut_gemm_prepared_size(&bytes, device, &g, BITCUT_B, why),
                     BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(why, "narrow.markidis.f16 accepts no prepared operands");
    g.kernel = NULL;
    g.b.prepared = any;
    ck_assert_int_eq(bitcut_gemm_choose(&g, device, &g, why), BITCUT_OK);
    ck_assert_str_eq(g.kernel, "gemm.markidis.f16");
    bitcut_device_close(device);
}
END_TEST

/* Slices of k of a kernel that takes up to three, on 8 multiprocessors: its clusters add
   them, or a second launch, which is worth it for a longer k. */
static const struct {
    size_t count, m, k;
    int slices;
    bool any_slices, turned_c, turned_d;
    int ran;
} slices[] = {
    /* clang-format off */
    { 1,   16,     2048, 0, false, false, false, 1 },
    { 1,   16,     2048, 0, true,  false, false, 3 },
    { 1,   16,     2048, 1, true,  false, false, 3 },
    { 1,   16,     2048, 2, true,  false, false, 2 },
    { 1,   16,       32, 0, true,  false, false, 1 },
    { 1,   16,      128, 0, true,  true,  false, 1 },
    { 1,   16,      128, 0, true,  false, true,  1 },
    { 1,   16,     2048, 0, true,  true,  false, 3 },
    { 1,   16,     2048, 0, true,  false, true,  3 },
    { 1,   16 * 4, 2048, 0, true,  false, false, 2 },
    { 1,   16 * 8, 2048, 0, true,  false, false, 1 },
    { 133, 16,     2048, 0, true,  false, false, 1 },
    /* clang-format on */
};

START_TEST(slices_chosen)
{
    setenv("DEVICE_FAULT", "", 1);
    device_open();
    for (size_t i = 0; i < sizeof slices / sizeof slices[0]; i++) {
        struct bitcut_gemm g;
        bitcut_gemm_init(&g, sizeof g);
        g.recipe = bitcut_recipe_find("ootomo");
        g.promote = 4;
        g.beta = F32_ONE;
        g.count = slices[i].count;
        g.m = slices[i].m, g.n = 8, g.k = slices[i].k;
        g.order.slices = slices[i].slices;
        g.any_slices = slices[i].any_slices;
        g.c.layout = slices[i].turned_c ? BITCUT_COLUMN_MAJOR : BITCUT_ROW_MAJOR;
        g.d.layout = slices[i].turned_d ? BITCUT_COLUMN_MAJOR : BITCUT_ROW_MAJOR;
        ck_assert_int_eq(bitcut_gemm_choose(&g, device, &g, NULL), BITCUT_OK);
        ck_assert_msg(g.order.slices == slices[i].ran && !g.any_slices,
                      "row %zu: %d slices, not %d", i, g.order.slices, slices[i].ran);
    }
    bitcut_device_close(device);
}
END_TEST

/* --- parts of two formats --------------------------------------------------------- */

#define VARY(name, what)                                                                 \
    static void name(struct bitcut_split *x) { what; }

VARY(as_it_is, (void)x)
VARY(high_rounding, x->part[0].rounding = &roundings[ROUND_RZ])
VARY(low_rounding, x->part[1].rounding = x->part[2].rounding = &roundings[ROUND_RZ])
VARY(other_scale, x->scale = 3)
VARY(one_rounding, x->part[2].rounding = &roundings[ROUND_RZ])
VARY(high_format, x->part[0].format = &formats[FORMAT_BF16])
VARY(residual_format, x->part[1].format = &formats[FORMAT_E5M2])
VARY(copy_format, x->part[2].format = &formats[FORMAT_E5M2])
VARY(levels, (x->part[1].level = 0, x->part[2].level = 1))
VARY(no_copy, x->part[2].copy = false)

/* The split of the recipe varied, for A and B alike, and for one of them. */
static const struct {
    const char *name;
    void (*vary)(struct bitcut_split *x);
    bool taken;
} variations[] = {
    { "as it is", as_it_is, true },
    { "high rounding", high_rounding, true },
    { "low rounding", low_rounding, true },
    { "scale", other_scale, true },
    { "rounding of one low part", one_rounding, false },
    { "format of the high part", high_format, false },
    { "format of the residual", residual_format, false },
    { "format of the copy", copy_format, false },
    { "levels", levels, false },
    { "no copy", no_copy, false },
};

/* With a variation for A, for B or for both; why it is not taken.  A device remembers
   splits by their place, so each has its own. */
static enum bitcut_status choose_split(char why[BITCUT_TEXT_MAX],
                                       const struct bitcut_split *a,
                                       const struct bitcut_split *b)
{
    struct bitcut_gemm g, to;
    bitcut_gemm_init(&g, sizeof g);
    bitcut_gemm_init(&to, sizeof to);
    g.kernel = "mixed.half-fp8.f16";
    g.m = g.n = g.k = 8;
    g.split_a = a;
    g.split_b = b;
    device_open();
    const enum bitcut_status status = bitcut_gemm_choose(&to, device, &g, why);
    bitcut_device_close(device);
    return status;
}

/* A kernel of parts of two formats takes those that its recipe's split makes, with any
   roundings and scale. */
START_TEST(parts_of_two_formats)
{
    for (size_t i = 0; i < sizeof variations / sizeof variations[0]; i++) {
        const enum bitcut_status want =
            variations[i].taken ? BITCUT_OK : BITCUT_BAD_ARGUMENT;
        const char *const name = variations[i].name;
        struct bitcut_split own = splits[SPLIT_HALF_E4M3];
        char why[BITCUT_TEXT_MAX] = "";
        own.name = "own";
        variations[i].vary(&own);
        ck_assert_msg(choose_split(why, &own, &own) == want, "%s: %s", name, why);
        if (want == BITCUT_OK) continue;
        ck_assert_str_eq(
            why, "mixed.half-fp8.f16 requires the parts of split half-e4m3, not own");
        ck_assert_msg(choose_split(why, &own, NULL) == want, "%s, of A", name);
        ck_assert_msg(choose_split(why, NULL, &own) == want, "%s, of B", name);
    }
}
END_TEST

/* --- devices ---------------------------------------------------------------------- */

START_TEST(devices_refused)
{
    static const struct {
        const char *name, *modules, *fault;
        enum bitcut_status status;
        const char *why;
    } refused[] = {
        { "cuda", "nowhere", "", BITCUT_UNSUPPORTED,
          "no GPU backend: bitcut-cuda.so not found in nowhere (built only "
          "with nvcc; BITCUT_MODULES sets another folder)" },
        { "cuda", models, "absent", BITCUT_UNSUPPORTED, "no device: nobody is there" },
        { "cuda:2", models, "", BITCUT_UNSUPPORTED, "no device: there are two" },
        { "cuda", models, "future", BITCUT_UNSUPPORTED,
          "no device: Models is of no architecture known" },
        { "hip", models, "", BITCUT_UNSUPPORTED,
          "no GPU backend: bitcut-hip.so not found in tests/.libs (built only with an "
          "AMD "
          "clang; BITCUT_MODULES sets another folder)" },
        { "cuda:m99", models, "", BITCUT_BAD_ARGUMENT,
          "unknown device \"cuda:m99\"; use cpu, cuda, cuda:1, ... (see bitcut list "
          "devices)" },
        { "cpu:1", models, "", BITCUT_UNSUPPORTED, "no device: device 1 does not exist" },
        { "gpu", models, "", BITCUT_BAD_ARGUMENT,
          "unknown device \"gpu\"; use cpu, cuda, cuda:1, ... (see bitcut list "
          "devices)" },
        { "cuda:", models, "", BITCUT_BAD_ARGUMENT,
          "unknown device \"cuda:\"; use cpu, cuda, cuda:1, ... (see bitcut list "
          "devices)" },
        { "cuda:1x", models, "", BITCUT_BAD_ARGUMENT,
          "unknown device \"cuda:1x\"; use cpu, cuda, cuda:1, ... (see bitcut list "
          "devices)" },
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        char why[BITCUT_TEXT_MAX];
        setenv("BITCUT_MODULES", refused[i].modules, 1);
        setenv("DEVICE_FAULT", refused[i].fault, 1);
        device = NULL;
        ck_assert_int_eq(bitcut_device_open(&device, refused[i].name, why),
                         refused[i].status);
        ck_assert_str_eq(why, refused[i].why);
        ck_assert_int_eq(bitcut_device_open(&device, refused[i].name, NULL),
                         refused[i].status);
        ck_assert_ptr_null(device);
    }
    bitcut_device_close(NULL);
}
END_TEST

START_TEST(devices_numbered)
{
    setenv("BITCUT_MODULES", models, 1);
    ck_assert_int_eq(bitcut_device_open(&device, "cuda:1", NULL), BITCUT_OK);
    ck_assert_str_eq(bitcut_device_name(device), "More models");
    bitcut_device_close(device);
}
END_TEST

/* The first of an architecture. */
START_TEST(devices_by_architecture)
{
    char why[BITCUT_TEXT_MAX];
    setenv("BITCUT_MODULES", models, 1);
    ck_assert_int_eq(bitcut_device_open(&device, "cuda:m90", NULL), BITCUT_OK);
    ck_assert_str_eq(bitcut_device_name(device), "Models");
    bitcut_device_close(device);
    ck_assert_int_eq(bitcut_device_open(&device, "cuda:m80", why), BITCUT_UNSUPPORTED);
    ck_assert_str_eq(why, "no device has architecture m80");
}
END_TEST

START_TEST(device_fails)
{
    uint32_t one = F32_ONE, d;
    char why[BITCUT_TEXT_MAX];
    struct bitcut_gemm g = ones(1, &one, &d);
    const struct block workspace = block_make(256);
    setenv("DEVICE_FAULT", "breaks", 1);
    device_open();
    g.recipe = bitcut_recipe_find("plain");
    ck_assert_int_eq(bitcut_gemm_start(NULL, device, &g, workspace.at, 256, NULL, why),
                     BITCUT_UNSUPPORTED);
    ck_assert_str_eq(why, "small.plain.f16: it broke");
    g.a.format = g.b.format = g.d.format = &formats[FORMAT_F16];
    ck_assert_int_eq(bitcut_gemm_start(NULL, device, &g, NULL, 0, NULL, why),
                     BITCUT_UNSUPPORTED);
    ck_assert_str_eq(why, "batch.tiny.3: it broke");
    block_end(&workspace);
    bitcut_device_close(device);
}
END_TEST

/* What bitcut_plan_make() and bitcut_plan_start() refuse. */
START_TEST(plans_refused)
{
    uint32_t one = F32_ONE, d = 0;
    char why[BITCUT_TEXT_MAX];
    struct bitcut_gemm g = ones(1, &one, &d);
    struct bitcut_plan *plan = NULL;
    const struct block workspace = block_make(512);
    size_t bytes;
    setenv("DEVICE_FAULT", "", 1);
    device_open();
    ck_assert_int_eq(bitcut_plan_make(NULL, device, &g, why), BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(why, "device, name and result must not be NULL");
    ck_assert_int_eq(bitcut_plan_make(&plan, NULL, &g, why), BITCUT_BAD_ARGUMENT);
    ck_assert_int_eq(bitcut_plan_make(&plan, device, NULL, why), BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(why, "the GEMM must not be NULL");
    g.promote = 2;
    ck_assert_int_eq(bitcut_plan_make(&plan, device, &g, why), BITCUT_BAD_ARGUMENT);
    ck_assert_ptr_null(plan);
    g.promote = BITCUT_UNSET;
    ck_assert_int_eq(bitcut_plan_make(&plan, device, &g, NULL), BITCUT_OK);
    ck_assert_int_eq(bitcut_gemm_workspace(&bytes, device, &g, NULL), BITCUT_OK);
    const struct {
        void *d;
        const void *a;
        char *workspace;
        size_t bytes;
        const char *why;
    } refused[] = {
        { &d, &one, (char *)workspace.at, bytes - 1, "the workspace has" },
        { &d, &one, NULL, bytes, "workspace must not be NULL" },
        { &d, &one, (char *)workspace.at + 4, bytes, "workspace is not aligned to 256" },
        { &d, NULL, (char *)workspace.at, bytes, "A" },
        { NULL, &one, (char *)workspace.at, bytes, "D" },
        { &d, (char *)&one + 1, (char *)workspace.at, bytes, "A" },
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        ck_assert_int_eq(bitcut_plan_start(plan, refused[i].d, refused[i].a, &one, NULL,
                                           refused[i].workspace, refused[i].bytes, NULL,
                                           why),
                         BITCUT_BAD_ARGUMENT);
        ck_assert_msg(!strncmp(why, refused[i].why, strlen(refused[i].why)), "%s", why);
    }
    bitcut_plan_free(plan);
    bitcut_plan_free(NULL);
    block_end(&workspace);
    bitcut_device_close(device);
}
END_TEST

/* A plan does not ask the device about addresses; bitcut_gemm_start() does. */
START_TEST(plans_trust)
{
    uint32_t one = F32_ONE, d = 0;
    char why[BITCUT_TEXT_MAX];
    struct bitcut_gemm g = ones(1, &one, &d);
    struct bitcut_plan *plan = NULL;
    const struct block workspace = block_make(4096);
    size_t bytes;
    setenv("DEVICE_FAULT", "far memory", 1);
    device_open();
    ck_assert_int_eq(bitcut_gemm_workspace(&bytes, device, &g, NULL), BITCUT_OK);
    ck_assert_int_eq(bitcut_gemm_start(NULL, device, &g, workspace.at, bytes, NULL, why),
                     BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(why, "A is far away");
    ck_assert_int_eq(bitcut_plan_make(&plan, device, &g, NULL), BITCUT_OK);
    ck_assert_int_eq(
        bitcut_plan_start(plan, &d, &one, &one, NULL, workspace.at, bytes, NULL, why),
        BITCUT_OK);
    ck_assert_uint_eq(d, F32_ONE);
    bitcut_plan_free(plan);
    block_end(&workspace);
    bitcut_device_close(device);
}
END_TEST

DEVICE_TEST_MAIN("cuda calls", kernels_chosen, narrow_prepared, slices_chosen, parts_of_two_formats,
                 plans_refused, plans_trust, devices_refused, devices_numbered,
                 devices_by_architecture, device_fails)
