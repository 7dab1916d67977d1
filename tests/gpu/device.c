/* SPDX-License-Identifier: BSD-3-Clause */
/* A module without a GPU: the models stand in for a device, so that `bitcut record`,
   `bitcut verify --kernel`, `bitcut bench gpu` and the library's own calls are tested
   everywhere.  Each instruction computes by the unit that its `what` names; a kernel by
   the emulator, or from parts that were prepared or are of two formats by its terms, one
   instruction after the other; and so does what the device emulates, unless the module is
   HONEST.  The device's memory is the host's.

   DEVICE_FAULT in the environment makes it misbehave; see device_fault.c.  DEVICE_DUMP
   names a file that gets A, B, C and D of the last batch, DEVICE_ORDER one that gets a
   line for every run that is timed. */
#define _POSIX_C_SOURCE 200809L

#include "tests/gpu/device_parts.h"

#include <stdio.h>
#include <stdlib.h>

#ifndef INTERFACE
#define INTERFACE GPU_INTERFACE
#endif

enum {
    ALL = 1 << GPU_PLAIN | 1 << GPU_A_REGISTERS | 1 << GPU_NEGATE_A | 1 << GPU_NEGATE_B |
          1 << GPU_SCALE_D_0
};

/* Architectures, and sets of them. */
enum { OLD = 1, NEW = 2, BOTH = OLD | NEW };

const struct gpu_architecture model_architectures[] = {
    { "m80", "the older", "ampere", OLD }, { "m90", "the newer", "hopper", NEW }, { 0 }
};

static const struct gpu_instruction mma[] = {
    /* clang-format off */
    { "mma.m16n8k16.f32.f16",     "hopper/mma.m16n8k16.f32.f16",     16, 8, 16, 2, 2, 4, BOTH, 1, NULL },
    { "mma.m16n8k8.f32.tf32",     "hopper/mma.m16n8k8.f32.tf32",     16, 8,  8, 4, 4, 4, BOTH, 1, NULL },
    { "mma.m16n8k32.f32.e4m3",    "hopper/mma.m16n8k32.f32.e4m3",    16, 8, 32, 1, 1, 4, NEW,  1, NULL },
    { "mma.m8n8k4.f64.f64",       "hopper/mma.m8n8k4.f64.f64",        8, 8,  4, 8, 8, 8, BOTH, 1, NULL },
    { "mma.m16n8k16.f32.f16.f16", "hopper/mma.m16n8k16.f32.f16",     16, 8, 16, 2, 2, 4, BOTH, 1, NULL },
    { "mma.m16n8k8.f32.bf16",     "hopper/mma.m16n8k8.f32.bf16",     16, 8,  8, 2, 2, 4, OLD,  1, NULL },
    { 0 }
    /* clang-format on */
};

static const struct gpu_instruction wgmma[] = {
    /* clang-format off */
    { "wgmma.m64n8k16.f32.f16",   "hopper/wgmma.m64n8k16.f32.f16",   64, 8, 16, 2, 2, 4, NEW, ALL, NULL },
    { 0 }
    /* clang-format on */
};

/* --- kernels ---------------------------------------------------------------------- */

#define MMA   "mma.m16n8k16.f32.f16"
#define TF32  "mma.m16n8k8.f32.tf32"
#define WGMMA "wgmma.m64n8k16.f32.f16"

#define CORRECTED                                                                        \
    3,                                                                                   \
    {                                                                                    \
        { 1, 0, 1, 0 }, { 0, 1, 1, 0 }, { 0, 0, 0, 0 }                                   \
    }
#define COPIES                                                                           \
    3,                                                                                   \
    {                                                                                    \
        { 1, 2, 1, 0 }, { 2, 1, 1, 0 }, { 0, 0, 0, 0 }                                   \
    }
#define FOUR(HIGHEST)                                                                    \
    4,                                                                                   \
    {                                                                                    \
        { HIGHEST, HIGHEST, 0, 0 }, { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 0, 0 }       \
    }
#define THREE                                                                            \
    3,                                                                                   \
    {                                                                                    \
        { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 0, 0 }                                   \
    }
#define ONE                                                                              \
    1,                                                                                   \
    {                                                                                    \
        {                                                                                \
            0, 0, 0, 0                                                                   \
        }                                                                                \
    }

/* What rows have in common.  BYTES: of what a block loads for one k, and reads. */
#define PARTS(FORMAT, N, TERMS, PROMOTE, BYTES)                                          \
    .what = "", .matrices = FORMAT_F32, .format = FORMAT_##FORMAT,                       \
    .program = { N, TERMS, PROMOTE }, .threads = 32, .registers = 32, .cluster_m = 1,    \
    .cluster_n = 1, .load_bytes = BYTES, .read_bytes = BYTES
#define TILE(M, N, K, STAGES) .tile_m = M, .tile_n = N, .tile_k = K, .stages = STAGES
#define ON(SET, SLICES)       .architectures = SET, .slices_most = SLICES
#define SMALL(FORMAT, SIZE, PRODUCTS, WARPS, STAGES, BYTES, SET)                         \
    .what = "", .matrices = FORMAT_F16, .format = FORMAT_##FORMAT,                       \
    .program = { 1, ONE, 0 }, .products = PRODUCTS, .warps = WARPS, .stages = STAGES,    \
    .threads = 128, .shared_bytes = BYTES, .cluster_m = 1, .cluster_n = 1,               \
    .size_most = SIZE, ON(SET, 1)

/* The liars do not what they describe; with HONEST there are none, and no two kernels of
   a recipe but of plain. */
static const struct gpu_kernel gemms[] = {
/* clang-format off */
#ifndef HONEST
    { .name = "vary.ootomo.f16",   .recipe = "ootomo",   .instruction = MMA,  PARTS(F16, 2, CORRECTED, 4, 96), TILE(16, 8, 16, 1), ON(BOTH, 3), .slices_together = 3 },
#endif
    { .name = "gemm.ootomo.f16",   .recipe = "ootomo",   .instruction = MMA,  PARTS(F16, 2, CORRECTED, 1, 96), TILE(16, 8, 16, 1), ON(BOTH, 3) },
    { .name = "gemm.tf32x3.tf32",  .recipe = "tf32x3",   .instruction = TF32, PARTS(TF32, 2, THREE, 0, 192),   TILE(16, 8, 8, 1),  ON(BOTH, 1) },
#ifndef HONEST
    { .name = "gemm.markidis.f16", .recipe = "markidis", .instruction = MMA,  PARTS(F16, 2, FOUR(1), 0, 96),   TILE(16, 8, 16, 1), ON(BOTH, 1) },
#endif
    { .name = "old.plain.f16",     .recipe = "plain",    .instruction = MMA,  PARTS(F16, 1, ONE, 0, 144),      TILE(64, 8, 16, 2), ON(OLD, 1) },
    { .name = "big.plain.f16",     .recipe = "plain",    .instruction = MMA,  PARTS(F16, 1, ONE, 0, 48),       TILE(16, 8, 16, 1), ON(BOTH, 1), .shared_bytes = 65537 },
#ifndef HONEST
    { .name = "small.plain.f16",   .recipe = "plain",    .instruction = WGMMA, PARTS(F16, 1, ONE, 0, 48),      TILE(16, 8, 16, 1), ON(NEW, 1), .size_most = 32 },
#endif
    { .name = "gemm.plain.f16",    .recipe = "plain",    .instruction = MMA,  PARTS(F16, 1, ONE, 0, 48),       TILE(16, 8, 16, 1), ON(BOTH, 1) },
#ifndef HONEST
    { .name = "gemm.plain.tf32",   .recipe = "plain",    .instruction = TF32, PARTS(TF32, 1, ONE, 0, 96),      TILE(16, 8, 8, 1),  ON(BOTH, 1) },
    { .name = "mixed.half-fp8.f16", .recipe = "half-fp8", .instruction = WGMMA, PARTS(F16, 3, COPIES, 4, 96), .low_format = FORMAT_E4M3, TILE(64, 8, 32, 1), ON(NEW, 3) },
    { .name = "mixed.half-int8.f16", .recipe = "half-int8", .instruction = WGMMA, PARTS(F16, 3, COPIES, 4, 96), .low_format = FORMAT_S8, TILE(64, 8, 32, 1), ON(NEW, 3) },
    { .name = "liar.legemm.f16",   .recipe = "legemm",   .instruction = MMA,  PARTS(F16, 2, CORRECTED, 0, 96), TILE(16, 8, 16, 1), ON(BOTH, 1) },
    { .name = "liar.markidis.f16", .recipe = "markidis", .instruction = MMA,  PARTS(F16, 2, FOUR(0), 0, 96),   TILE(16, 8, 16, 1), ON(BOTH, 1) },
    { .name = "liar.noname.f16",   .recipe = "noname",   .instruction = MMA,  PARTS(F16, 1, ONE, 0, 48),       TILE(16, 8, 16, 1), ON(BOTH, 1) },
    { .name = "liar.half-fp8.f16", .recipe = "half-fp8", .instruction = WGMMA, PARTS(F16, 3, COPIES, 4, 96), .low_format = FORMAT_E5M2, TILE(64, 8, 32, 1), ON(NEW, 1) },
    { .name = "narrow.markidis.f16", .recipe = "markidis", .instruction = WGMMA, PARTS(F16, 2, FOUR(1), 0, 96), TILE(2, 16, 16, 1), ON(NEW, 8), .side_most = 2, .chain_clocks = 360 },
    { .name = "liar.plain.f16",    .recipe = "plain",    .instruction = MMA,  PARTS(F16, 1, ONE, 0, 48), .low_format = FORMAT_E4M3, TILE(16, 8, 16, 1), ON(BOTH, 1) },
#endif
    { 0 }
    /* clang-format on */
};

static const struct gpu_kernel fast[] = {
/* clang-format off */
#ifdef HONEST
    { .name = "fast.plain.f16.large", .recipe = "plain", .instruction = MMA, PARTS(F16, 1, ONE, 0, 128), TILE(32, 32, 16, 2), ON(NEW, 1) },
    { .name = "fast.plain.f16.small", .recipe = "plain", .instruction = MMA, PARTS(F16, 1, ONE, 0, 48),  TILE(16, 8, 16, 2),  ON(NEW, 1) },
#endif
    { 0 }
    /* clang-format on */
};

enum { LARGE = 4 }; /* the row that peers compute by */

static const struct gpu_kernel batches[] = {
    /* clang-format off */
    { .name = "batch.tiny.3", .recipe = "plain", .instruction = MMA, SMALL(F16,  3, 4, 1, 0,     0, BOTH) },
    { .name = "batch.mma.16", .recipe = "plain", .instruction = MMA, SMALL(F16, 16, 2, 1, 1,  1024, BOTH) },
    { .name = "batch.old.64", .recipe = "plain", .instruction = MMA, SMALL(F16, 64, 1, 1, 1,     0, OLD)  },
    { .name = "batch.big.64", .recipe = "plain", .instruction = MMA, SMALL(F16, 64, 1, 4, 2, 65537, BOTH) },
    { .name = "batch.mma.64", .recipe = "plain", .instruction = MMA, SMALL(F16, 64, 1, 4, 2,  4096, BOTH) },
    { .name = "batch.fma.64", .recipe = "fp32",                      SMALL(F32, 64, 1, 1, 0,     0, BOTH) },
    { 0 }
    /* clang-format on */
};

static const struct gpu_family families[] = {
    { "mma", "", mma, NULL },       { "wgmma", "", wgmma, NULL },
    { "fast", "", NULL, fast },     { "gemm", "", NULL, gemms },
    { "batch", "", NULL, batches }, { 0 }
};

/* By what units are emulated. */
const struct gpu_multiplier model_multipliers[] = { { MMA, NEW }, { TF32, NEW }, { 0 } };

_Static_assert(sizeof model_multipliers / sizeof model_multipliers[0] <= MULTIPLIERS_MAX,
               "room for what is known of each");

/* --- peers ------------------------------------------------------------------------ */

static const struct gpu_kernel singles = { .recipe = "fp32",
                                           .matrices = FORMAT_F32,
                                           .format = FORMAT_F32,
                                           .program = { 1, ONE, 0 } };

#ifdef HONEST
enum { OOTOMO = 0, PLAIN = 4 }; /* rows of gemms */
#else
enum { OOTOMO = 1, PLAIN = 7 };
#endif

#define OWN(LIKE, NS)                                                                    \
    &(const struct peer_own) { LIKE, NS }

const struct gpu_peer model_peers[] = {
    /* clang-format off */
    { "sgemm",    "", FORMAT_F32, false, NULL,       GPU_PEER_SINGLE, OWN(&singles, 12) },
    { "falls",    "", FORMAT_F32, false, NULL,       GPU_PEER,        OWN(&singles, 11) },
    { "fails",    "", FORMAT_F32, false, NULL,       GPU_PEER,        OWN(NULL, 1) },
    { "hgemm",    "", FORMAT_F32, false, "half",     GPU_PEER_HALF,   OWN(&gemms[PLAIN], 1) },
    { "three",    "", FORMAT_F32, false, "halfhalf", GPU_PEER,        OWN(&gemms[OOTOMO], 3) },
    { "strided",  "", FORMAT_F16, false, NULL,       GPU_PEER,        OWN(&batches[LARGE], 12) },
    { "pointers", "", FORMAT_F16, true,  NULL,       GPU_PEER,        OWN(&batches[LARGE], 18) },
    { "fails",    "", FORMAT_F16, true,  NULL,       GPU_PEER,        OWN(NULL, 1) },
    { 0 }
    /* clang-format on */
};

/* --- the device ------------------------------------------------------------------- */

enum { DEVICES = 2 };

static int describe(struct gpu_device *to, int device, char *fault)
{
    const struct device_fault *wanted = model_fault();
    if (wanted->no_device || device >= DEVICES) {
        snprintf(fault, GPU_FAULT_MAX, "%s",
                 wanted->no_device ? wanted->no_device : "there are two");
        return 1;
    }
    if (!wanted->architecture) {
        snprintf(fault, GPU_FAULT_MAX, "Models is of no architecture known");
        return 1;
    }
    *to = (struct gpu_device){ .number = device,
                               .driver = "1.2",
                               .runtime = "none",
                               .architecture = wanted->architecture,
                               .architectures = wanted->architecture->bit,
                               .shared_bytes = 1 << 16,
                               .units = 8,
                               .unit_registers = 1 << 10,
                               .unit_threads = 32,
                               .wave = 32,
                               .unit_blocks = 1,
                               .unit_shared = 1 << 16,
                               .products = 64,
                               .shared_rate = 64,
                               .cache_rate = 4 };
    snprintf(to->name, sizeof to->name, "%s", device ? "More models" : "Models");
    return 0;
}

/* The host's memory is the device's. */
static int reaches(const void *at, int device, char *fault)
{
    (void)at;
    (void)device;
    snprintf(fault, GPU_FAULT_MAX, "is far away");
    return model_has_fault("far memory");
}

/* `count` elements of `bytes` as 64-bit encodings, some bits flipped, others kept. */
static uint64_t *widen(const void *from, size_t count, int bytes, uint64_t flip,
                       uint64_t keep)
{
    const unsigned char *byte = from;
    uint64_t *to = calloc(count, sizeof *to);
    for (size_t i = 0; to && i < count; i++) {
        for (int b = 0; b < bytes; b++)
            to[i] |= (uint64_t)byte[i * (size_t)bytes + (size_t)b] << (8 * b);
        to[i] = (to[i] ^ flip) & keep;
    }
    return to;
}

static void narrow(void *to, const uint64_t *from, size_t count, int bytes)
{
    for (size_t i = 0; i < count; i++)
        for (int b = 0; b < bytes; b++)
            ((unsigned char *)to)[i * (size_t)bytes + (size_t)b] =
                (unsigned char)(from[i] >> (8 * b));
}

static uint64_t sign(int bytes) { return UINT64_C(1) << (8 * bytes - 1); }

static int compute_fragments(const struct gpu_batch *batch,
                             const struct gpu_instruction *i, enum gpu_variant variant)
{
    const size_t m = (size_t)i->m, n = (size_t)i->n, k = (size_t)i->k;
    const size_t outputs = batch->count * m * n;
    const struct bitcut_unit *unit = bitcut_unit_find(i->what, NULL);
    uint64_t *a = widen(batch->a, batch->count * m * k, i->a_bytes,
                        variant == GPU_NEGATE_A ? sign(i->a_bytes) : 0, UINT64_MAX);
    uint64_t *b = widen(batch->b, batch->count * k * n, i->b_bytes,
                        variant == GPU_NEGATE_B ? sign(i->b_bytes) : 0, UINT64_MAX);
    uint64_t *c = widen(batch->c, outputs, i->c_bytes, 0,
                        variant == GPU_SCALE_D_0 ? 0 : UINT64_MAX);
    const bool good = unit && a && b && c &&
                      bitcut_mma(c, unit, batch->count, m, n, k, a, b, c, 1) == BITCUT_OK;
    if (good) narrow(batch->d, c, outputs, i->c_bytes);
    free(c);
    free(b);
    free(a);
    return good ? 0 : 1;
}

static void dump(const struct gpu_batch *batch, const struct gpu_instruction *i)
{
    const char *path = getenv("DEVICE_DUMP");
    FILE *file = path ? fopen(path, "wb") : NULL;
    const size_t m = (size_t)i->m, n = (size_t)i->n, k = (size_t)i->k;
    if (!file) return;
    fwrite(batch->a, (size_t)i->a_bytes, batch->count * m * k, file);
    fwrite(batch->b, (size_t)i->b_bytes, batch->count * k * n, file);
    fwrite(batch->c, (size_t)i->c_bytes, batch->count * m * n, file);
    fwrite(batch->d, (size_t)i->c_bytes, batch->count * m * n, file);
    fclose(file);
}

static int run(const struct gpu_batch *batch, const struct gpu_instruction *instruction,
               enum gpu_variant variant, int device, char *fault)
{
    const struct device_fault *wanted = model_fault_on(device);
    struct gpu_batch copy = *batch;
    snprintf(fault, GPU_FAULT_MAX, "%s", wanted->no_run ? wanted->no_run : "impossible");
    if (wanted->no_run || compute_fragments(batch, instruction, variant) != 0) return 1;
    if (wanted->spoil) wanted->spoil(&copy, instruction);
    dump(batch, instruction);
    return 0;
}

extern const struct gpu_module bitcut_gpu_module;
const struct gpu_module bitcut_gpu_module = { .interface = INTERFACE,
                                              .name = "models",
                                              .what = "no GPU at all",
                                              .architectures = model_architectures,
                                              .families = families,
                                              .describe = describe,
                                              .run = run,
                                              .parts = model_parts,
                                              .split = model_split,
                                              .gemm = model_gemm,
                                              .prepare = model_prepare,
                                              .workspace = model_workspace,
                                              .start = model_start,
                                              .reaches = reaches,
#ifndef HONEST
                                              .multipliers = model_multipliers,
                                              .methods = (1u << CHAIN_METHODS) - 1,
                                              .claim = model_claim,
                                              .sums = model_sums,
#endif
                                              .fp64_kernels = model_fp64_kernels,
                                              .fp64 = model_fp64,
                                              .fp64_workspace = model_fp64_workspace,
                                              .fp64_start = model_fp64_start,
                                              .attention_kernels =
                                                  model_attention_kernels,
                                              .attention = model_attention,
                                              .timer = &model_timer,
                                              .streams = &model_streams };
