/* A module without a GPU: the models stand in for a device, so that `bitcut record`,
   `bitcut verify --kernel`, `bitcut bench gpu` and the library's own calls are tested
   everywhere.  Each instruction computes by the unit that its `what` names; a kernel by
   the emulator, or from words that were prepared or are of two formats by its terms, one
   instruction after the other; and so does what the device emulates, unless the module is
   HONEST.  The device's memory is the host's.

   DEVICE_FAULT in the environment makes it misbehave; see `faults`.  DEVICE_DUMP names a
   file that gets A, B, C and D of the last batch, DEVICE_ORDER one that gets a line for
   every run that is timed. */
#define _POSIX_C_SOURCE 200809L

#include "gpu/module.h"
#include "lib/bits.h"
#include "lib/exact/exact_sums.h"
#include "tests/lib/model_stream.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef INTERFACE
#define INTERFACE GPU_INTERFACE
#endif

enum {
    ALL = 1 << GPU_PLAIN | 1 << GPU_A_REGISTERS | 1 << GPU_NEGATE_A | 1 << GPU_NEGATE_B |
          1 << GPU_SCALE_D_0
};

/* Architectures, and sets of them. */
enum { OLD = 1, NEW = 2, BOTH = OLD | NEW };

static const struct gpu_architecture architectures[] = {
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
#define E4M3  "wgmma.m64n8k32.f32.e4m3"

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
#define WORDS(FORMAT, N, TERMS, PROMOTE, BYTES)                                          \
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

/* The liars do not what they say; with HONEST there are none, and no two kernels of a
   recipe but of plain. */
static const struct gpu_kernel gemms[] = {
/* clang-format off */
#ifndef HONEST
    { .name = "vary.ootomo.f16",   .recipe = "ootomo",   .instruction = MMA,  WORDS(F16, 2, CORRECTED, 4, 96), TILE(16, 8, 16, 1), ON(BOTH, 3), .slices_together = 3 },
#endif
    { .name = "gemm.ootomo.f16",   .recipe = "ootomo",   .instruction = MMA,  WORDS(F16, 2, CORRECTED, 1, 96), TILE(16, 8, 16, 1), ON(BOTH, 3) },
    { .name = "gemm.tf32x3.tf32",  .recipe = "tf32x3",   .instruction = TF32, WORDS(TF32, 2, THREE, 0, 192),   TILE(16, 8, 8, 1),  ON(BOTH, 1) },
#ifndef HONEST
    { .name = "gemm.markidis.f16", .recipe = "markidis", .instruction = MMA,  WORDS(F16, 2, FOUR(1), 0, 96),   TILE(16, 8, 16, 1), ON(BOTH, 1) },
#endif
    { .name = "old.plain.f16",     .recipe = "plain",    .instruction = MMA,  WORDS(F16, 1, ONE, 0, 144),      TILE(64, 8, 16, 2), ON(OLD, 1) },
    { .name = "big.plain.f16",     .recipe = "plain",    .instruction = MMA,  WORDS(F16, 1, ONE, 0, 48),       TILE(16, 8, 16, 1), ON(BOTH, 1), .shared_bytes = 65537 },
#ifndef HONEST
    { .name = "small.plain.f16",   .recipe = "plain",    .instruction = WGMMA, WORDS(F16, 1, ONE, 0, 48),      TILE(16, 8, 16, 1), ON(NEW, 1), .size_most = 32 },
#endif
    { .name = "gemm.plain.f16",    .recipe = "plain",    .instruction = MMA,  WORDS(F16, 1, ONE, 0, 48),       TILE(16, 8, 16, 1), ON(BOTH, 1) },
#ifndef HONEST
    { .name = "gemm.plain.tf32",   .recipe = "plain",    .instruction = TF32, WORDS(TF32, 1, ONE, 0, 96),      TILE(16, 8, 8, 1),  ON(BOTH, 1) },
    { .name = "mixed.half-fp8.f16", .recipe = "half-fp8", .instruction = WGMMA, WORDS(F16, 3, COPIES, 4, 96), .low_format = FORMAT_E4M3, TILE(64, 8, 32, 1), ON(NEW, 3) },
    { .name = "liar.legemm.f16",   .recipe = "legemm",   .instruction = MMA,  WORDS(F16, 2, CORRECTED, 0, 96), TILE(16, 8, 16, 1), ON(BOTH, 1) },
    { .name = "liar.markidis.f16", .recipe = "markidis", .instruction = MMA,  WORDS(F16, 2, FOUR(0), 0, 96),   TILE(16, 8, 16, 1), ON(BOTH, 1) },
    { .name = "liar.noname.f16",   .recipe = "noname",   .instruction = MMA,  WORDS(F16, 1, ONE, 0, 48),       TILE(16, 8, 16, 1), ON(BOTH, 1) },
    { .name = "liar.half-fp8.f16", .recipe = "half-fp8", .instruction = WGMMA, WORDS(F16, 3, COPIES, 4, 96), .low_format = FORMAT_E5M2, TILE(64, 8, 32, 1), ON(NEW, 1) },
    { .name = "liar.plain.f16",    .recipe = "plain",    .instruction = MMA,  WORDS(F16, 1, ONE, 0, 48), .low_format = FORMAT_E4M3, TILE(16, 8, 16, 1), ON(BOTH, 1) },
#endif
    { 0 }
    /* clang-format on */
};

static const struct gpu_kernel fast[] = {
/* clang-format off */
#ifdef HONEST
    { .name = "fast.plain.f16.large", .recipe = "plain", .instruction = MMA, WORDS(F16, 1, ONE, 0, 128), TILE(32, 32, 16, 2), ON(NEW, 1) },
    { .name = "fast.plain.f16.small", .recipe = "plain", .instruction = MMA, WORDS(F16, 1, ONE, 0, 48),  TILE(16, 8, 16, 2),  ON(NEW, 1) },
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
static const struct gpu_multiplier multipliers[] = { { MMA, NEW },
                                                     { TF32, NEW },
                                                     { 0 } };

/* --- faults ----------------------------------------------------------------------- */

/* Change the lowest bit of the last element of the batch. */
static void flip_last(struct gpu_batch *batch, const struct gpu_instruction *i)
{
    const size_t outputs = batch->count * (size_t)i->m * (size_t)i->n;
    ((unsigned char *)batch->d)[(outputs - 1) * (size_t)i->c_bytes] ^= 1;
}

/* The same, but in no first batch. */
static void flip_later(struct gpu_batch *batch, const struct gpu_instruction *i)
{
    static int batches_run;
    if (++batches_run > 1) flip_last(batch, i);
}

/* Be interrupted while the second batch runs. */
static void interrupt(struct gpu_batch *batch, const struct gpu_instruction *i)
{
    static int batches_run;
    (void)batch;
    (void)i;
    if (++batches_run == 2) raise(SIGTERM);
}

static size_t bytes_of(const struct bitcut_matrix *x)
{
    return (size_t)x->format->bits / 8;
}

/* Matrix i. */
static char *matrix_of(const struct bitcut_matrix *x, size_t i)
{
    return x->each ? (char *)(uintptr_t)x->each[i]
                   : (char *)(uintptr_t)x->at + i * x->stride * bytes_of(x);
}

static char *element_of(const struct bitcut_matrix *x, size_t matrix, size_t i, size_t j)
{
    const size_t at = x->layout == BITCUT_COLUMN_MAJOR ? j * x->ld + i : i * x->ld + j;
    return matrix_of(x, matrix) + at * bytes_of(x);
}

/* The lowest bit of the last output of a batch is wrong. */
static void flip_output(const struct bitcut_gemm *g)
{
    if (g->m && g->n) *element_of(&g->d, g->count - 1, g->m - 1, g->n - 1) ^= 1;
}

/* It is from the third k-step of 16 on. */
static void flip_from_step(const struct bitcut_gemm *g)
{
    if (g->k > 32) flip_output(g);
}

static void flip_transposed(const struct bitcut_gemm *g)
{
    if (g->b.layout == BITCUT_COLUMN_MAJOR) flip_output(g);
}

static void flip_down(const struct bitcut_gemm *g)
{
    if (g->d.layout == BITCUT_COLUMN_MAJOR) flip_output(g);
}

static void flip_crossed(const struct bitcut_gemm *g)
{
    if ((g->beta & 0x7fffffff) && g->c.layout != g->d.layout) flip_output(g);
}

static void flip_in_batch(const struct bitcut_gemm *g)
{
    if (g->count > 1) flip_output(g);
}

static void flip_in_place(const struct bitcut_gemm *g)
{
    if (g->c.at == g->d.at) flip_output(g);
}

static void flip_by_pointers(const struct bitcut_gemm *g)
{
    if (g->d.each) flip_output(g);
}

static void flip_large(const struct bitcut_gemm *g)
{
    if (g->n > 8) flip_output(g);
}

/* The last row of each GEMM is not computed. */
static void forget_row(const struct bitcut_gemm *g)
{
    for (size_t e = 0; e < g->count && g->m; e++)
        for (size_t j = 0; j < g->n; j++)
            memset(element_of(&g->d, e, g->m - 1, j), 0, bytes_of(&g->d));
}

static void put_zero(const struct bitcut_gemm *g, size_t element)
{
    memset(matrix_of(&g->d, g->count - 1) + element * bytes_of(&g->d), 0,
           bytes_of(&g->d));
}

/* Lines of a matrix of D in memory, and their length. */
static size_t lines_of(const struct bitcut_gemm *g)
{
    return g->d.layout == BITCUT_COLUMN_MAJOR ? g->n : g->m;
}

static size_t length_of(const struct bitcut_gemm *g)
{
    return g->d.layout == BITCUT_COLUMN_MAJOR ? g->m : g->n;
}

/* There is a line too many. */
static void write_behind(const struct bitcut_gemm *g)
{
    if (g->d.stride > lines_of(g) * g->d.ld) put_zero(g, lines_of(g) * g->d.ld);
}

/* A line is one element too long. */
static void write_gap(const struct bitcut_gemm *g)
{
    if (lines_of(g) > 1 && g->d.ld > length_of(g)) put_zero(g, length_of(g));
}

#define NEWER &architectures[1]

static const struct device_fault {
    const char *name;
    const struct gpu_architecture *architecture; /* of the device, NULL: unknown */
    const char *no_device, *no_run;
    void (*spoil)(struct gpu_batch *batch, const struct gpu_instruction *i);
    void (*spoil_gemm)(const struct bitcut_gemm *g);
} faults[] = {
    { "", NEWER, NULL, NULL, NULL, NULL },
    { "absent", NEWER, "nobody is there", NULL, NULL, NULL },
    { "ampere", &architectures[0], NULL, NULL, NULL, NULL },
    { "future", NULL, NULL, NULL, NULL, NULL },
    { "hot", NEWER, NULL, NULL, NULL, NULL },
    { "capped", NEWER, NULL, NULL, NULL, NULL },
    { "full", NEWER, NULL, NULL, NULL, NULL },
    { "no board", NEWER, NULL, NULL, NULL, NULL },
    { "settles", NEWER, NULL, NULL, NULL, NULL },
    { "breaks", NEWER, NULL, "it broke", NULL, NULL },
    { "flips", NEWER, NULL, NULL, flip_last, flip_output },
    { "second flips", NEWER, NULL, NULL, flip_last, flip_output },
    { "flips later", NEWER, NULL, NULL, flip_later, flip_from_step },
    { "flips transposed", NEWER, NULL, NULL, NULL, flip_transposed },
    { "flips down", NEWER, NULL, NULL, NULL, flip_down },
    { "flips crossed", NEWER, NULL, NULL, NULL, flip_crossed },
    { "flips batches", NEWER, NULL, NULL, NULL, flip_in_batch },
    { "flips in place", NEWER, NULL, NULL, NULL, flip_in_place },
    { "flips by pointers", NEWER, NULL, NULL, NULL, flip_by_pointers },
    { "flips large", NEWER, NULL, NULL, NULL, flip_large },
    { "flips low words", NEWER, NULL, NULL, NULL, NULL },
    { "forgets a row", NEWER, NULL, NULL, NULL, forget_row },
    { "writes behind", NEWER, NULL, NULL, NULL, write_behind },
    { "writes gap", NEWER, NULL, NULL, NULL, write_gap },
    { "interrupts", NEWER, NULL, NULL, interrupt, NULL },
    { "no library", NEWER, NULL, NULL, NULL, NULL },
    { "large is fast", NEWER, NULL, NULL, NULL, NULL },
    { "peer is small", NEWER, NULL, NULL, NULL, NULL },
    { "peer tires", NEWER, NULL, NULL, NULL, NULL },
    { "far memory", NEWER, NULL, NULL, NULL, NULL },
    { "adds otherwise", NEWER, NULL, NULL, NULL, NULL },
    { "starts slowly", NEWER, NULL, NULL, NULL, NULL },
    { "launches nothing", NEWER, NULL, NULL, NULL, NULL },
};

static const struct device_fault *fault_wanted(void)
{
    const char *name = getenv("DEVICE_FAULT");
    for (size_t i = 0; name && i < sizeof faults / sizeof faults[0]; i++)
        if (!strcmp(faults[i].name, name)) return &faults[i];
    return &faults[0];
}

/* What is wrong with one of the devices: "second ..." spares the first. */
static const struct device_fault *fault_on(int device)
{
    const struct device_fault *wanted = fault_wanted();
    return device == 0 && !strncmp(wanted->name, "second", 6) ? &faults[0] : wanted;
}

static bool has_fault(const char *name) { return !strcmp(fault_wanted()->name, name); }

/* Whether the faults of GEMMs are the kernel's: DEVICE_FAULTY names it, or nothing. */
static bool is_faulty(const struct gpu_kernel *k)
{
    const char *const name = getenv("DEVICE_FAULTY");
    return !name || (k->name && !strcmp(k->name, name));
}

/* Why nothing can be run; 0: it can. */
static int refuse(char *fault)
{
    const char *why = fault_wanted()->no_run;
    snprintf(fault, GPU_FAULT_MOST, "%s", why ? why : "impossible");
    return why != NULL;
}

/* --- the device ------------------------------------------------------------------- */

enum { DEVICES = 2 };

static int describe(struct gpu_device *to, int device, char *fault)
{
    const struct device_fault *wanted = fault_wanted();
    if (wanted->no_device || device >= DEVICES) {
        snprintf(fault, GPU_FAULT_MOST, "%s",
                 wanted->no_device ? wanted->no_device : "there are two");
        return 1;
    }
    if (!wanted->architecture) {
        snprintf(fault, GPU_FAULT_MOST, "Models is of no architecture known");
        return 1;
    }
    *to = (struct gpu_device){ .number = device,
                               .driver = "1.2",
                               .runtime = "none",
                               .architecture = wanted->architecture,
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
    snprintf(fault, GPU_FAULT_MOST, "is far away");
    return has_fault("far memory");
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
    const struct device_fault *wanted = fault_on(device);
    struct gpu_batch copy = *batch;
    snprintf(fault, GPU_FAULT_MOST, "%s", wanted->no_run ? wanted->no_run : "impossible");
    if (wanted->no_run || compute_fragments(batch, instruction, variant) != 0) return 1;
    if (wanted->spoil) wanted->spoil(&copy, instruction);
    dump(batch, instruction);
    return 0;
}

/* --- numbers ---------------------------------------------------------------------- */

static float f32(uint64_t encoding)
{
    const uint32_t bits = (uint32_t)encoding;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t encoding_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return isnan(x) ? 0x7fffffff : bits;
}

/* An element, of f32 or f16, as FP32. */
static uint32_t load(const struct bitcut_matrix *x, size_t matrix, size_t i, size_t j)
{
    uint32_t bits = 0;
    memcpy(&bits, element_of(x, matrix, i, j), bytes_of(x));
    return (uint32_t)bitcut_format_convert(bitcut_format_find("f32"),
                                           bitcut_rounding_find("rn"), x->format, bits);
}

static void store(const struct bitcut_matrix *x, size_t matrix, size_t i, size_t j,
                  float v)
{
    const uint64_t nan = x->format->bits == 16 ? 0x7fff : 0x7fffffff;
    const uint64_t bits =
        isnan(v) ? nan
                 : bitcut_format_convert(x->format, bitcut_rounding_find("rn"),
                                         bitcut_format_find("f32"), encoding_of(v));
    memcpy(element_of(x, matrix, i, j), &bits, bytes_of(x));
}

/* --- words ------------------------------------------------------------------------ */

/* An operand: `lines` rows of A, or columns of B, of k elements. */
struct operand {
    const struct bitcut_matrix *matrix;
    const struct bitcut_split *split;
    bool equilibrate, columns;
    int target; /* t of lib/equilibrate.h */
    size_t lines, k;
};

static struct operand operand_of(const struct gpu_work *w, enum bitcut_operand which)
{
    const struct bitcut_gemm *g = &w->gemm;
    const struct gemm_plan *p = &w->plan;
    return which == BITCUT_A
               ? (struct operand){ &g->a, &p->split_a, p->equilibrate, false, p->target,
                                   g->m,  g->k }
               : (struct operand){ &g->b, &p->split_b, p->equilibrate, true, p->target,
                                   g->n,  g->k };
}

static size_t run_of(size_t k)
{
    return (k + GPU_WORDS_RUN - 1) / GPU_WORDS_RUN * GPU_WORDS_RUN;
}

static size_t word_bytes(const struct operand *x, size_t word)
{
    return (size_t)x->split->word[word].format->bits / 8;
}

/* Bytes of all words before this one. */
static size_t word_begin(const struct operand *x, size_t word)
{
    size_t bytes = 0;
    for (size_t i = 0; i < word; i++) bytes += x->lines * run_of(x->k) * word_bytes(x, i);
    return bytes;
}

static size_t only_words(const struct operand *x)
{
    return word_begin(x, (size_t)x->split->words);
}

static size_t words_of(const struct operand *x)
{
    return only_words(x) + (x->equilibrate ? x->lines * sizeof(float) : 0);
}

static size_t words(const struct gpu_work *w, enum bitcut_operand which)
{
    const struct operand x = operand_of(w, which);
    return words_of(&x);
}

static uint32_t value(const struct operand *x, size_t matrix, size_t i, size_t p)
{
    return x->columns ? load(x->matrix, matrix, p, i) : load(x->matrix, matrix, i, p);
}

/* The exponent that takes the largest magnitude, of line i, to [2^t, 2^(t+1)). */
static int exponent_of(const struct operand *x, const void *of, size_t i)
{
    float magnitude;
    int exponent;
    if (!x->equilibrate) return 0;
    memcpy(&magnitude, (const char *)of + only_words(x) + i * sizeof magnitude,
           sizeof magnitude);
    frexpf(magnitude, &exponent);
    return magnitude > 0 ? x->target + 1 - exponent : 0;
}

static void put_largest(void *to, const struct operand *x, size_t matrix, size_t i)
{
    float largest = 0;
    for (size_t p = 0; p < x->k; p++) {
        const float magnitude = fabsf(f32(value(x, matrix, i, p)));
        if (isfinite(magnitude)) largest = fmaxf(largest, magnitude);
    }
    memcpy((char *)to + only_words(x) + i * sizeof largest, &largest, sizeof largest);
}

static char *word_at(const void *of, const struct operand *x, size_t word, size_t line,
                     size_t p)
{
    return (char *)(uintptr_t)of + word_begin(x, word) +
           (line * run_of(x->k) + p) * word_bytes(x, word);
}

static void make_words(void *to, const struct operand *x, size_t matrix)
{
    for (size_t i = 0; i < x->lines; i++) {
        if (x->equilibrate) put_largest(to, x, matrix, i);
        const int exponent = exponent_of(x, to, i);
        for (size_t p = 0; p < run_of(x->k); p++) {
            uint64_t word[SPLIT_WORDS_MOST] = { 0 };
            if (p < x->k)
                bitcut_split_apply(
                    word, x->split,
                    exponent ? encoding_of(ldexpf(f32(value(x, matrix, i, p)), exponent))
                             : value(x, matrix, i, p));
            for (size_t j = 0; j < (size_t)x->split->words; j++)
                memcpy(word_at(to, x, j, i, p), &word[j], word_bytes(x, j));
        }
    }
}

static int prepare(void *to, const struct gpu_work *w, enum bitcut_operand which,
                   int device, void *stream, char *fault)
{
    const struct operand x = operand_of(w, which);
    (void)device;
    (void)stream;
    if (refuse(fault)) return 1;
    make_words(to, &x, 0);
    return 0;
}

/* If asked to flip, high words that are NaN have another payload, or of words of two
   formats the last word of the first value is another. */
static int split(void *to, const struct gpu_work *w, enum bitcut_operand which,
                 int device, char *fault)
{
    const bool flip = fault_on(device)->spoil_gemm == flip_output;
    const struct operand x = operand_of(w, which);
    if (prepare(to, w, which, device, NULL, fault)) return 1;
    for (size_t i = 0; flip && i < x.lines * run_of(x.k); i++) {
        uint16_t *const word = (uint16_t *)to + i;
        if (*word == 0x7e00) *word = 0x7e01;
    }
    const size_t last = (size_t)x.split->words - 1;
    if (has_fault("flips low words") && word_bytes(&x, last) == 1)
        *word_at(to, &x, last, 0, 0) ^= 1;
    return 0;
}

/* --- whole GEMMs ------------------------------------------------------------------ */

/* One of a batch: its words, and m x n sums in each accumulator. */
struct one {
    const struct gpu_work *work;
    const struct bitcut_unit *unit[RECIPE_TERMS_MOST]; /* of each term, ...            */
    size_t k_of[RECIPE_TERMS_MOST];                    /* ... and k of its instruction */
    struct operand x[2];
    const void *words[2];
    size_t matrix, step; /* step: the largest of these k */
    size_t unpromoted;   /* instructions of accumulator 0 since it was promoted */
    uint64_t *sum[RECIPE_ACCUMULATORS_MOST], *fragment[2];
    float *promoted, *total;
};

static const struct bitcut_unit *unit_of(const struct gpu_kernel *kernel)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", kernel->instruction ? "hopper/" : "fma/f32",
             kernel->instruction ? kernel->instruction : "");
    return bitcut_unit_find(name, NULL);
}

/* What the term's instructions are on: words of a second format have one of their own. */
static const struct bitcut_unit *unit_of_term(const struct gpu_kernel *kernel,
                                              struct recipe_term term)
{
    return kernel->low_format && (term.a || term.b)
               ? bitcut_unit_find("hopper/" E4M3, NULL)
               : unit_of(kernel);
}

/* `count` elements from p on of word `word`, of all lines. */
static void load_fragment(struct one *o, int which, size_t word, size_t p, size_t count)
{
    const struct operand *x = &o->x[which];
    for (size_t i = 0; i < x->lines; i++)
        for (size_t e = 0; e < count; e++) {
            uint64_t bits = 0;
            if (p + e < x->k)
                memcpy(&bits, word_at(o->words[which], x, word, i, p + e),
                       word_bytes(x, word));
            o->fragment[which][which ? e * x->lines + i : i * count + e] = bits;
        }
}

static void promote(struct one *o)
{
    const size_t outputs = o->x[0].lines * o->x[1].lines;
    for (size_t i = 0; i < outputs; i++) o->promoted[i] += f32(o->sum[0][i]);
    memset(o->sum[0], 0, outputs * sizeof *o->sum[0]);
    o->unpromoted = 0;
}

/* One instruction of a term. */
static void do_instruction(struct one *o, int t, size_t p)
{
    const struct gpu_program *const program = &o->work->kernel->program;
    const struct recipe_term term = program->term[t];
    uint64_t *const d = o->sum[term.accumulator];
    load_fragment(o, 0, (size_t)term.a, p, o->k_of[t]);
    load_fragment(o, 1, (size_t)term.b, p, o->k_of[t]);
    bitcut_mma(d, o->unit[t], 1, o->x[0].lines, o->x[1].lines, o->k_of[t], o->fragment[0],
               o->fragment[1], d, 1);
    if (term.accumulator == 0 && program->promote &&
        ++o->unpromoted == (size_t)program->promote)
        promote(o);
}

static void do_step(struct one *o, size_t p)
{
    for (int t = 0; t < o->work->kernel->program.terms; t++)
        for (size_t done = 0; done < o->step; done += o->k_of[t])
            do_instruction(o, t, p + done);
}

/* k-steps [from, to), folded and added to the slices before. */
static void do_slice(struct one *o, size_t from, size_t to, bool first)
{
    const bool promotes = o->work->kernel->program.promote;
    const size_t outputs = o->x[0].lines * o->x[1].lines;
    for (int c = 0; c < RECIPE_ACCUMULATORS_MOST; c++)
        memset(o->sum[c], 0, outputs * sizeof *o->sum[c]);
    memset(o->promoted, 0, outputs * sizeof *o->promoted);
    o->unpromoted = 0;
    for (size_t s = from; s < to; s++) do_step(o, s * o->step);
    if (o->unpromoted) promote(o);
    for (size_t i = 0; i < outputs; i++) {
        float v = 0;
        for (int c = RECIPE_ACCUMULATORS_MOST - 1; c >= 0; c--)
            v = fmaf(v, ldexpf(1, -o->work->plan.scale),
                     c == 0 && promotes ? o->promoted[i] : f32(o->sum[c][i]));
        o->total[i] = first ? v : o->total[i] + v;
    }
}

static void do_outputs(const struct one *o)
{
    const struct bitcut_gemm *g = &o->work->gemm;
    for (size_t i = 0; i < g->m; i++)
        for (size_t j = 0; j < g->n; j++) {
            float v =
                ldexpf(o->total[i * g->n + j], -exponent_of(&o->x[0], o->words[0], i) -
                                                   exponent_of(&o->x[1], o->words[1], j));
            v *= f32(g->alpha);
            if (g->beta & 0x7fffffff)
                v = fmaf(f32(g->beta), f32(load(&g->c, o->matrix, i, j)), v);
            store(&g->d, o->matrix, i, j, v);
        }
}

static void compute_one(struct one *o)
{
    const size_t steps = (o->x[0].k + o->step - 1) / o->step;
    const size_t slices = (size_t)o->work->plan.order.slices;
    const size_t each = (steps + slices - 1) / slices;
    do_slice(o, 0, each < steps ? each : steps, true);
    for (size_t s = each; s < steps; s += each)
        do_slice(o, s, s + each < steps ? s + each : steps, false);
    do_outputs(o);
}

static void *zeros(size_t count, size_t bytes) { return calloc(count + 1, bytes); }

/* The units of the terms, and the k-step. */
static bool find_units(struct one *o, const struct gpu_kernel *kernel)
{
    int m, n, k;
    for (int t = 0; t < kernel->program.terms; t++) {
        o->unit[t] = unit_of_term(kernel, kernel->program.term[t]);
        if (!o->unit[t]) return false;
        bitcut_unit_shape(&m, &n, &k, o->unit[t]);
        o->k_of[t] = (size_t)k;
        if (o->step < o->k_of[t]) o->step = o->k_of[t];
    }
    return true;
}

/* Room for the sums of a GEMM. */
static bool one_init(struct one *o, const struct gpu_work *w)
{
    const size_t outputs = w->gemm.m * w->gemm.n;
    *o = (struct one){ .work = w,
                       .x = { operand_of(w, BITCUT_A), operand_of(w, BITCUT_B) } };
    if (!find_units(o, w->kernel)) return false;
    for (int c = 0; c < RECIPE_ACCUMULATORS_MOST; c++)
        o->sum[c] = zeros(outputs, sizeof *o->sum[c]);
    for (int i = 0; i < 2; i++)
        o->fragment[i] = zeros(o->x[i].lines * o->step, sizeof *o->fragment[i]);
    o->promoted = zeros(outputs, sizeof *o->promoted);
    o->total = zeros(outputs, sizeof *o->total);
    return true;
}

static void one_clear(struct one *o)
{
    free(o->total);
    free(o->promoted);
    for (int i = 0; i < 2; i++) free(o->fragment[i]);
    for (int c = 0; c < RECIPE_ACCUMULATORS_MOST; c++) free(o->sum[c]);
}

/* Words of A and of B, unless prepared; and slices, to have something there. */
struct parts {
    size_t words[2], slices; /* of a GEMM */
};

static struct parts parts_of(const struct gpu_work *w)
{
    const struct bitcut_gemm *g = &w->gemm;
    const size_t slices = (size_t)w->plan.order.slices;
    return (struct parts){ { g->a.words ? 0 : words(w, BITCUT_A),
                             g->b.words ? 0 : words(w, BITCUT_B) },
                           slices > 1 ? slices * g->m * g->n * sizeof(float) : 0 };
}

static size_t bytes_for(const struct gpu_work *w)
{
    const struct parts parts = parts_of(w);
    return w->gemm.count * (parts.words[0] + parts.words[1] + parts.slices);
}

enum { EMULATION_BYTES = 320 }; /* of one GEMM; nothing is read there */

/* Kernels that read matrices as they are need nothing there. */
static size_t workspace(const struct gpu_work *w)
{
    if (gpu_work_emulates(w)) return EMULATION_BYTES;
    return w->kernel->matrices == FORMAT_F32 ? bytes_for(w) : 0;
}

/* GEMMs of a batch work side by side. */
static void compute_all(struct one *o, char *at)
{
    const struct gpu_work *w = o->work;
    const struct parts parts = parts_of(w);
    for (o->matrix = 0; o->matrix < w->gemm.count; o->matrix++) {
        for (int i = 0; i < 2; at += parts.words[i++]) {
            const struct bitcut_matrix *m = o->x[i].matrix;
            if (!m->words) make_words(at, &o->x[i], o->matrix);
            o->words[i] =
                m->words ? (const char *)m->words + o->matrix * m->words_stride : at;
        }
        if (parts.slices) memset(at, 0xff, parts.slices);
        at += parts.slices;
        compute_one(o);
    }
}

/* Whether what is emulated comes with all that a device is told of it, one GEMM. */
static bool is_told(const struct gpu_work *w)
{
    const struct gpu_emulation *e = &w->emulation;
    return w->gemm.count == 1 && e->k_step == w->plan.k_step && e->rule[0].k > 0 &&
           e->a.words == w->plan.split_a.words && e->b.words == w->plan.split_b.words &&
           (w->gemm.a.ld || !w->gemm.k) && w->gemm.b.ld && w->gemm.d.ld &&
           w->gemm.a.format && w->gemm.b.format && w->gemm.d.format;
}

/* Rows of the program are not those of the library that this module calls. */
static struct bitcut_split own_split(const struct bitcut_split *s)
{
    struct bitcut_split to = *s;
    for (int i = 0; i < s->words; i++)
        to.word[i].format = bitcut_format_find(s->word[i].format->name);
    return to;
}

static struct bitcut_matrix own_matrix(const struct bitcut_matrix *x)
{
    struct bitcut_matrix to = *x;
    if (x->format) to.format = bitcut_format_find(x->format->name);
    return to;
}

/* By the emulator. */
static enum bitcut_status emulate(const struct gpu_work *w)
{
    const struct gpu_kernel *k = w->kernel;
    const bool kernel = !gpu_work_emulates(w);
    const struct bitcut_split split_a = own_split(&w->plan.split_a),
                              split_b = own_split(&w->plan.split_b);
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.recipe = bitcut_recipe_find(kernel ? k->recipe : w->plan.recipe->name);
    g.unit = kernel ? unit_of(k) : bitcut_unit_find(bitcut_unit_name(w->gemm.unit), NULL);
    if (!g.recipe || (!kernel && !is_told(w))) return BITCUT_CANNOT;
    g.split_a = &split_a;
    g.split_b = &split_b;
    g.low_low = kernel ? k->program.terms > g.recipe->terms : w->plan.low_low;
    g.promote = kernel ? k->program.promote : w->plan.promote;
    if (!kernel) g.tile_k = w->plan.tile_k;
    g.equilibrate = w->plan.equilibrate;
    g.order = w->plan.order;
    if (g.order.sums) g.order.sums = bitcut_format_find(g.order.sums->name);
    g.count = w->gemm.count;
    g.m = w->gemm.m;
    g.n = w->gemm.n;
    g.k = w->gemm.k;
    g.alpha = w->gemm.alpha;
    g.beta = w->gemm.beta;
    g.a = own_matrix(&w->gemm.a);
    g.b = own_matrix(&w->gemm.b);
    g.c = own_matrix(&w->gemm.c);
    g.d = own_matrix(&w->gemm.d);
    return bitcut_gemm(NULL, &g, 1, NULL);
}

/* Word by word. */
static bool compute(const struct gpu_work *w, void *at)
{
    struct one o;
    if (!one_init(&o, w)) return false;
    compute_all(&o, at);
    one_clear(&o);
    return true;
}

/* NULL: the stream is a small number, as of a test that needs none. */
static struct model_stream *model_of(void *stream)
{
    return (uintptr_t)stream < 4096 ? NULL : stream;
}

/* Starts that wait on a stream, of which nothing is computed: as many as it has room for,
   each of which may take the host some time. */
enum { QUEUE = 64, SLOW_MICROSECONDS = 200 };

static int enqueue(struct model_stream *s, char *fault)
{
    const struct timespec slow = { 0, 1000L * SLOW_MICROSECONDS };
    snprintf(fault, GPU_FAULT_MOST, "the queue is full");
    if (has_fault("starts slowly")) nanosleep(&slow, NULL);
    return ++s->starts > QUEUE;
}

static int start(const struct gpu_work *w, void *at, int device, void *stream,
                 char *fault)
{
    const size_t slices = (size_t)w->plan.order.slices;
    const bool by_words = w->gemm.a.words || w->gemm.b.words || w->kernel->low_format;
    const struct device_fault *wanted = fault_on(device);
    struct model_stream *const s = model_of(stream);
    if (refuse(fault)) return 1;
    if (workspace(w) && w->gemm.count > GPU_COUNT_MOST / slices) return 1;
    if (!w->gemm.count || !w->gemm.m || !w->gemm.n) return 0;
    if (s && s->idle) return enqueue(s, fault);
    model_unlock(s);
    if (s) s->starts++, memset(at, 0xa5, workspace(w));
    const bool good = by_words ? compute(w, at) : emulate(w) == BITCUT_OK;
    if (good && wanted->spoil_gemm && is_faulty(w->kernel)) wanted->spoil_gemm(&w->gemm);
    model_lock(s);
    return !good;
}

/* --- streams of a program --------------------------------------------------------- */

static int stream_device(int *number, char *fault)
{
    const char *const named = getenv("MODEL_DEVICE");
    (void)fault;
    *number = named ? atoi(named) : 0;
    return 0;
}

static _Thread_local uint64_t captured; /* by the stream that was asked last, or 0 */

static int stream_ask(struct gpu_stream *to, void *stream, char *fault)
{
    const struct model_stream *const s = stream;
    snprintf(fault, GPU_FAULT_MOST, "no such stream");
    if (!s) return 1;
    captured = s->capture;
    *to = (struct gpu_stream){ s->capture ? 0 : s->id, s->capture };
    return 0;
}

/* What would wait or allocate ends a program that captures a graph. */
static struct model_stream *running(void *stream)
{
    struct model_stream *const s = stream;
    if (s->capture) abort();
    return s;
}

static int stream_reserve(void **at, size_t bytes, void *stream, char *fault)
{
    struct model_stream *const s = running(stream);
    const size_t from = (s->used + 255) / 256 * 256;
    snprintf(fault, GPU_FAULT_MOST, "out of memory");
    if (s->full || bytes > s->bytes - from) return 1;
    s->reserved++;
    s->used = from + bytes;
    *at = s->memory + from;
    return 0;
}

static int stream_release(void *at, void *stream, char *fault)
{
    (void)at;
    (void)fault;
    running(stream)->released++;
    return 0;
}

static int stream_mark(void **mark, void *stream, char *fault)
{
    (void)fault;
    *mark = stream;
    running(stream)->marks++;
    return 0;
}

static int stream_passed(int *yes, void *mark, char *fault)
{
    (void)fault;
    *yes = !((const struct model_stream *)mark)->behind;
    return 0;
}

static int stream_copy(const struct gpu_copy *x, int to_host, void *stream, char *fault)
{
    struct model_stream *const s = running(stream);
    (void)to_host;
    (void)fault;
    s->copies++;
    model_unlock(s);
    for (size_t i = 0; i < x->lines; i++)
        memcpy((char *)x->to + i * x->to_pitch, (const char *)x->from + i * x->from_pitch,
               x->bytes);
    model_lock(s);
    return 0;
}

static int stream_repeat(const struct gpu_copy *x, void *stream, char *fault)
{
    (void)fault;
    model_unlock(stream);
    for (size_t i = 0; i < x->lines; i++)
        memcpy((char *)x->to + i * x->to_pitch, x->from, x->bytes);
    model_lock(stream);
    return 0;
}

static const struct gpu_streams streams = { stream_device,  stream_ask,  stream_reserve,
                                            stream_release, stream_mark, stream_passed,
                                            stream_copy,    stream_repeat };

/* What it says of its instructions, and whether that is so: finding out waits,
   the first time. */
static int claim(int device, int multiplier, char *fault)
{
    static atomic_bool known[sizeof multipliers / sizeof multipliers[0]];
    (void)device;
    if (captured && !known[multiplier]) abort();
    known[multiplier] = true;
    snprintf(fault, GPU_FAULT_MOST, "%s adds otherwise",
             multipliers[multiplier].instruction);
    return has_fault("adds otherwise");
}

/* On the host's memory. */
static int gemm(const struct gpu_work *w, const struct gpu_memory memory[4], int device,
                char *fault)
{
    void *at = zeros(workspace(w), 1);
    (void)memory;
    const int status = start(w, at, device, NULL, fault);
    free(at);
    return status;
}

/* --- timing ----------------------------------------------------------------------- */

/* The kernel that a peer computes by, and its nanoseconds a product; of small GEMMs a
   GEMM. */
struct peer_own {
    const struct gpu_kernel *like; /* NULL: it fails */
    double ns;
};

enum { KERNEL_NS = 6, SPLIT_NS = 2, ENTRANTS_MOST = 64 };
enum { WATTS = 700, WATTS_MOST = 1000, MHZ = 1980, LOW_MHZ = 1500 };

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

static const struct gpu_peer peers[] = {
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

static int sessions;

/* A session notes how often each entrant ran. */
struct gpu_session {
    struct bitcut_gemm gemm;
    int device;
    size_t bytes; /* of an element */
    char *a, *b, *d;
    struct gpu_entrant entrant[ENTRANTS_MOST];
    int runs[ENTRANTS_MOST], entrants;
    int strided;                /* runs of that peer */
    struct model_stream stream; /* for starts by others */
    void *workspace;
};

/* `bytes` bytes: the `given` at `from`, over and over. */
static char *repeated(const char *from, size_t given, size_t bytes)
{
    char *to = zeros(bytes, 1);
    for (size_t i = 0; to && from && i < bytes; i++) to[i] = from[i % given];
    return to;
}

static struct bitcut_matrix dense(void *at, const struct bitcut_format *format,
                                  size_t rows, size_t columns)
{
    return (struct bitcut_matrix){
        .at = at, .format = format, .ld = columns, .stride = rows * columns
    };
}

static int session_begin(struct gpu_session **session, struct gpu_library *library,
                         const struct bitcut_gemm *g, size_t distinct, int device,
                         char *fault)
{
    struct gpu_session *s = calloc(1, sizeof *s);
    const struct bitcut_format *f = g->a.format;
    snprintf(fault, GPU_FAULT_MOST, "no memory");
    if (!s) return 1;
    s->device = device;
    s->bytes = (size_t)f->bits / 8;
    const size_t a = g->m * g->k * s->bytes, b = g->k * g->n * s->bytes;
    s->a = repeated(g->a.at, distinct * a, g->count * a);
    s->b = repeated(g->b.at, distinct * b, g->count * b);
    s->d = zeros(g->count * g->m * g->n, s->bytes);
    s->gemm = *g;
    s->gemm.alpha = 0x3f800000;
    s->gemm.beta = 0;
    s->gemm.a = dense(s->a, f, g->m, g->k);
    s->gemm.b = dense(s->b, f, g->k, g->n);
    s->gemm.c = (struct bitcut_matrix){ 0 };
    s->gemm.d = dense(s->d, f, g->m, g->n);
    s->stream = (struct model_stream){ .open = true, .idle = true };
    library->here = !has_fault("no library");
    snprintf(library->text, GPU_TEXT_MOST, library->here ? "Peers 1.0" : "none: lost");
    sessions++;
    *session = s;
    return s->a && s->b && s->d ? 0 : 1;
}

static void session_end(struct gpu_session *s)
{
    free(s->workspace);
    free(s->d);
    free(s->b);
    free(s->a);
    free(s);
}

static int runs_before(struct gpu_session *s, const struct gpu_entrant *e)
{
    int i = 0;
    while (i < s->entrants &&
           (s->entrant[i].kernel != e->kernel || s->entrant[i].peer != e->peer ||
            s->entrant[i].part != e->part))
        i++;
    if (i == ENTRANTS_MOST) return 0;
    if (i == s->entrants) s->entrant[s->entrants++] = *e;
    return s->runs[i]++;
}

/* Runs after each other take 2 % less than its time, its time, and 2 % more; as long as
   the device settles, one, two and three times it. */
static double jitter(struct gpu_session *s, const struct gpu_entrant *e)
{
    const int turn = runs_before(s, e) % 3;
    return has_fault("settles") ? 1 + turn : 1 + (turn - 1) * 0.02;
}

static double large_milliseconds(const struct gpu_session *s, const struct gpu_entrant *e)
{
    const struct bitcut_gemm *g = &s->gemm;
    const double products = (double)(g->count * g->m * g->n * g->k);
    const double words_made = (double)(g->count * (g->m + g->n) * g->k);
    const struct peer_own *own = e->peer ? e->peer->own : NULL;
    const bool split_too = e->part != GPU_PRODUCT && (e->kernel || e->peer->split);
    const bool slow =
        e->kernel && !strstr(e->kernel->name, "large") && has_fault("large is fast");
    const double product = e->part == GPU_SPLIT ? 0
                           : own                ? own->ns
                                                : KERNEL_NS * (slow ? 2 : 1);
    return 1e-6 * (product * products + (split_too ? SPLIT_NS * words_made : 0));
}

/* By pointers a kernel takes twice as long. */
static double small_milliseconds(const struct gpu_session *s, const struct gpu_entrant *e)
{
    const struct peer_own *own = e->peer ? e->peer->own : NULL;
    const double ns = own ? own->ns : KERNEL_NS * (e->pointers ? 2 : 1);
    return 1e-6 * ns * (double)s->gemm.count;
}

/* Whether the peer at strides does not run: large ones, or again. */
static bool is_refused(struct gpu_session *s, const struct gpu_entrant *e)
{
    return e->peer && !strcmp(e->peer->name, "strided") &&
           ((has_fault("peer is small") && s->gemm.n > 8) ||
            (has_fault("peer tires") && s->strided++ > 0));
}

/* What the entrant computes; a peer that has no split reads numbers as they are. */
static int compute_entrant(struct gpu_session *s, const struct gpu_entrant *e,
                           char *fault)
{
    const struct peer_own *own = e->peer ? e->peer->own : NULL;
    struct gpu_work w = { .kernel = own ? own->like : e->kernel,
                          .gemm = s->gemm,
                          .plan = e->plan };
    if (e->emulation) w.emulation = *e->emulation;
    if (own && !w.plan.split_a.words) {
        w.plan.split_a = *bitcut_split_find(s->bytes == 2 ? "half" : "f32");
        w.plan.split_b = w.plan.split_a;
    }
    if (own) w.plan.order.slices = 1;
    if (own && (!own->like || is_refused(s, e))) {
        snprintf(fault, GPU_FAULT_MOST, "not supported");
        return 1;
    }
    return own ? emulate(&w) != BITCUT_OK : gemm(&w, NULL, s->device, fault);
}

/* Under load, of large ones: at its time, but slower where something holds it back, of
   which peers have more. */
static struct gpu_measurement loaded(double ms, const struct gpu_entrant *e,
                                     const struct gpu_loop *loop)
{
    const bool hot = has_fault("hot"), capped = has_fault("capped");
    const double slower = hot || capped          ? e->kernel ? 1.25 : 1.5
                          : has_fault("settles") ? 2
                                                 : 1;
    struct gpu_measurement x = { .milliseconds = ms * slower,
                                 .board_watts_most = WATTS_MOST,
                                 .megahertz = hot || capped ? LOW_MHZ : MHZ,
                                 .reads = loop->reads,
                                 .at_power = capped ? loop->reads : hot,
                                 .at_heat = hot ? loop->reads : 0 };
    x.board_millijoules = WATTS * x.milliseconds;
    if (has_fault("no board")) x = (struct gpu_measurement){ .milliseconds = ms };
    if (has_fault("full")) x.reads = 0, x.board_watts_most = WATTS;
    return x;
}

/* DEVICE_ORDER names a file that gets who ran, and how often before it was timed. */
static void note_run(const struct gpu_entrant *e, const struct gpu_loop *loop)
{
    const char *path = getenv("DEVICE_ORDER");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file) return;
    fprintf(file, "%s.%d %d %d %d\n", e->kernel ? e->kernel->name : e->peer->name,
            (int)e->part, loop->warm, loop->repeats, loop->reads);
    fclose(file);
}

static int session_run(struct gpu_measurement *measurement, struct gpu_session *s,
                       const struct gpu_entrant *e, const struct gpu_loop *loop,
                       char *fault)
{
    const bool small = s->bytes == 2;
    const double ms =
        loop->repeats * (small ? small_milliseconds(s, e) : large_milliseconds(s, e));
    note_run(e, loop);
    memset(s->d, 0xff, s->gemm.count * s->gemm.m * s->gemm.n * s->bytes);
    if (fault_wanted()->spoil == interrupt && sessions == 2 && e->part == GPU_SPLIT)
        raise(SIGTERM);
    if (e->part != GPU_SPLIT && compute_entrant(s, e, fault) != 0) return 1;
    *measurement = !small && loop->warm > 1
                       ? loaded(ms, e, loop)
                       : (struct gpu_measurement){
                             .milliseconds = small ? ms : ms * jitter(s, e),
                             .megahertz = MHZ,
                         };
    return 0;
}

static int session_read(void *to, struct gpu_session *s, size_t i, size_t rows,
                        char *fault)
{
    const size_t row = s->gemm.n * s->bytes;
    (void)fault;
    memcpy(to, s->d + i * row, rows * row);
    return 0;
}

/* For starts by others; by pointers there is one of each. */
static int session_place(struct gpu_place *to, struct gpu_session *s,
                         const struct gpu_entrant *e, char *fault)
{
    struct gpu_work w = { .kernel = e->kernel, .gemm = s->gemm, .plan = e->plan };
    const size_t bytes = workspace(&w);
    snprintf(fault, GPU_FAULT_MOST, "no memory");
    free(s->workspace);
    s->workspace = aligned_alloc(GPU_ALIGNMENT,
                                 bytes / GPU_ALIGNMENT * GPU_ALIGNMENT + GPU_ALIGNMENT);
    if (e->pointers) {
        static const void *each[3];
        each[0] = s->a, each[1] = s->b, each[2] = s->d;
        w.gemm.a = (struct bitcut_matrix){ .each = &each[0], .format = s->gemm.a.format };
        w.gemm.b = (struct bitcut_matrix){ .each = &each[1], .format = s->gemm.b.format };
        w.gemm.d = (struct bitcut_matrix){ .each = &each[2], .format = s->gemm.d.format };
    }
    *to = (struct gpu_place){ w.gemm, s->workspace, bytes, &s->stream };
    return s->workspace ? 0 : 1;
}

/* Takes half as long as a slow start. */
static int session_start_empty(struct gpu_session *s, char *fault)
{
    const struct timespec slow = { 0, 500L * SLOW_MICROSECONDS };
    snprintf(fault, GPU_FAULT_MOST, "nothing cannot be launched");
    if (has_fault("starts slowly")) nanosleep(&slow, NULL);
    return has_fault("launches nothing") || ++s->stream.starts > QUEUE;
}

static int session_wait(struct gpu_session *s, char *fault)
{
    (void)fault;
    s->stream.starts = 0;
    return 0;
}

/* Sums of exact references, as lib/exact/dgemm.h has them. */
static int sums(const struct exact_sums_to *to, size_t m, size_t n, size_t k,
                const uint32_t *a, const uint32_t *b, int device, char *fault)
{
    (void)device;
    if (refuse(fault)) return 1;
    for (size_t at = 0; at < m * n; at++) {
        double high = 0, low = 0, size = 0, squares = 0;
        for (size_t p = 0; p < k; p++) {
            const double x = value_of_float(a[at / n * k + p]);
            const double y = value_of_float(b[p * n + at % n]);
            const double sum = fma(x, y, high), z = sum - high;
            low += (high - (sum - z)) + fma(x, y, -z);
            high = sum;
            size = fma(fabs(x), fabs(y), size);
            squares += sum * sum;
        }
        if (to->high) to->high[at] = high;
        if (to->low) to->low[at] = low;
        if (to->size) to->size[at] = size;
        if (to->squares) to->squares[at] = squares;
    }
    if (to->low && m * n && has_fault("flips")) to->low[0] += to->size[0];
    return 0;
}

static const struct gpu_timer timer = { peers,        session_begin, session_run,
                                        session_read, session_place, session_start_empty,
                                        session_wait, session_end };

extern const struct gpu_module bitcut_gpu_module;
const struct gpu_module bitcut_gpu_module = { .interface = INTERFACE,
                                              .name = "models",
                                              .what = "no GPU at all",
                                              .architectures = architectures,
                                              .families = families,
                                              .describe = describe,
                                              .run = run,
                                              .words = words,
                                              .split = split,
                                              .gemm = gemm,
                                              .prepare = prepare,
                                              .workspace = workspace,
                                              .start = start,
                                              .reaches = reaches,
#ifndef HONEST
                                              .multipliers = multipliers,
                                              .methods = (1u << CHAIN_METHODS) - 1,
                                              .claim = claim,
                                              .sums = sums,
#endif
                                              .timer = &timer,
                                              .streams = &streams };
