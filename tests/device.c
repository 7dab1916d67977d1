/* A module without a GPU: the models stand in for a device, so that `bitcut record`,
   `bitcut verify --kernel`, `bitcut bench gpu` and the library's own calls are tested
   everywhere.  Each instruction computes by the unit that its `what` names.  On the
   host's memory a kernel computes by its recipe on the unit of its instruction; on the
   device's, which is the host's too, by its terms from words, one instruction after the
   other.

   DEVICE_FAULT in the environment makes it misbehave; see `faults`.  DEVICE_DUMP names a
   file that gets A, B, C and D of the last batch. */
#define _POSIX_C_SOURCE 200809L

#include "lib/bitcut.h"
#include "tests/device.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef INTERFACE
#define INTERFACE GPU_INTERFACE
#endif

enum {
    ALL = 1 << GPU_PLAIN | 1 << GPU_A_REGISTERS | 1 << GPU_NEGATE_A | 1 << GPU_NEGATE_B |
          1 << GPU_SCALE_D_0
};

static const struct gpu_instruction mma[] = {
    /* clang-format off */
    { "mma.m16n8k16.f32.f16",     "hopper/mma.m16n8k16.f32.f16",     16, 8, 16, 2, 2, 4, 80,  0, 1, NULL },
    { "mma.m16n8k8.f32.tf32",     "hopper/mma.m16n8k8.f32.tf32",     16, 8,  8, 4, 4, 4, 80,  0, 1, NULL },
    { "mma.m16n8k32.f32.e4m3",    "hopper/mma.m16n8k32.f32.e4m3",    16, 8, 32, 1, 1, 4, 89,  0, 1, NULL },
    { "mma.m8n8k4.f64.f64",       "hopper/mma.m8n8k4.f64.f64",        8, 8,  4, 8, 8, 8, 80,  0, 1, NULL },
    { "mma.m16n8k16.f32.f16.f16", "hopper/mma.m16n8k16.f32.f16",     16, 8, 16, 2, 2, 4, 80,  0, 1, NULL },
    { "mma.m16n8k8.f32.bf16",     "hopper/mma.m16n8k8.f32.bf16",     16, 8,  8, 2, 2, 4, 80, 89, 1, NULL },
    { 0 }
    /* clang-format on */
};

static const struct gpu_instruction wgmma[] = {
    /* clang-format off */
    { "wgmma.m64n8k16.f32.f16",   "hopper/wgmma.m64n8k16.f32.f16",   64, 8, 16, 2, 2, 4, 90, 90, ALL, NULL },
    { 0 }
    /* clang-format on */
};

#define CORRECTED                                                                        \
    {                                                                                    \
        { 1, 0, 1 }, { 0, 1, 1 }, { 0, 0, 0 }                                            \
    }
#define ONE                                                                              \
    {                                                                                    \
        {                                                                                \
            0, 0, 0                                                                      \
        }                                                                                \
    }

/* The liars do not what they say; with HONEST there are none, and no two kernels of a
   recipe but of plain. */
static const struct gpu_kernel gemms[] = {
    /* clang-format off */
#ifndef HONEST
    { "vary.ootomo.f16", "another promotion", "ootomo", "mma.m16n8k16.f32.f16", GPU_F16,
      { 2, 3, CORRECTED, 4 }, 16, 8, 16, 1, 32, 0, 32, 1, 96, 96, 3, 0, 80, 0, NULL, NULL },
#endif
    { "gemm.ootomo.f16", "", "ootomo", "mma.m16n8k16.f32.f16", GPU_F16,
      { 2, 3, CORRECTED, 1 }, 16, 8, 16, 1, 32, 0, 32, 1, 96, 96, 3, 0, 80, 0, NULL, NULL },
    { "gemm.tf32x3.tf32", "", "tf32x3", "mma.m16n8k8.f32.tf32", GPU_TF32,
      { 2, 3, { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 0 } }, 0 }, 16, 8, 8, 1, 32, 0, 32, 1, 192, 192, 1, 0, 80, 0, NULL, NULL },
#ifndef HONEST
    { "gemm.markidis.f16", "", "markidis", "mma.m16n8k16.f32.f16", GPU_F16,
      { 2, 4, { { 1, 1, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 0 } }, 0 }, 16, 8, 16, 1, 32, 0, 32, 1, 96, 96, 1, 0, 80, 0, NULL, NULL },
#endif
    { "old.plain.f16", "for other devices", "plain", "mma.m16n8k16.f32.f16", GPU_F16,
      { 1, 1, ONE, 0 }, 64, 8, 16, 2, 32, 0, 32, 1, 144, 144, 1, 0, 80, 89, NULL, NULL },
    { "big.plain.f16", "for larger devices", "plain", "mma.m16n8k16.f32.f16", GPU_F16,
      { 1, 1, ONE, 0 }, 16, 8, 16, 1, 32, 65537, 32, 1, 48, 48, 1, 0, 80, 0, NULL, NULL },
#ifndef HONEST
    { "small.plain.f16", "for small sizes", "plain", "wgmma.m64n8k16.f32.f16", GPU_F16,
      { 1, 1, ONE, 0 }, 16, 8, 16, 1, 32, 0, 32, 1, 48, 48, 1, 32, 90, 90, NULL, NULL },
#endif
    { "gemm.plain.f16", "", "plain", "mma.m16n8k16.f32.f16", GPU_F16,
      { 1, 1, ONE, 0 }, 16, 8, 16, 1, 32, 0, 32, 1, 48, 48, 1, 0, 80, 0, NULL, NULL },
#ifndef HONEST
    { "gemm.plain.tf32", "", "plain", "mma.m16n8k8.f32.tf32", GPU_TF32,
      { 1, 1, ONE, 0 }, 16, 8, 8, 1, 32, 0, 32, 1, 96, 96, 1, 0, 80, 0, NULL, NULL },
    { "liar.legemm.f16", "", "legemm", "mma.m16n8k16.f32.f16", GPU_F16,
      { 2, 3, CORRECTED, 0 }, 16, 8, 16, 1, 32, 0, 32, 1, 96, 96, 1, 0, 80, 0, NULL, NULL },
    { "liar.markidis.f16", "", "markidis", "mma.m16n8k16.f32.f16", GPU_F16,
      { 2, 4, { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 0 } }, 0 }, 16, 8, 16, 1, 32, 0, 32, 1, 96, 96, 1, 0, 80, 0, NULL, NULL },
    { "liar.noname.f16", "", "noname", "mma.m16n8k16.f32.f16", GPU_F16,
      { 1, 1, ONE, 0 }, 16, 8, 16, 1, 32, 0, 32, 1, 48, 48, 1, 0, 80, 0, NULL, NULL },
#endif
    { 0 }
    /* clang-format on */
};

#ifdef HONEST
static const struct gpu_kernel fast[] = {
    /* clang-format off */
    { "fast.plain.f16.large", "", "plain", "mma.m16n8k16.f32.f16", GPU_F16,
      { 1, 1, ONE, 0 }, 32, 32, 16, 2, 32, 0, 32, 1, 128, 128, 1, 0, 90, 0, NULL, NULL },
    { "fast.plain.f16.small", "", "plain", "mma.m16n8k16.f32.f16", GPU_F16,
      { 1, 1, ONE, 0 }, 16, 8, 16, 2, 32, 0, 32, 1, 48, 48, 1, 0, 90, 0, NULL, NULL },
    { 0 }
    /* clang-format on */
};
#else
static const struct gpu_kernel fast[] = { { 0 } };
#endif

static const struct gpu_family families[] = { { "mma", "", mma, NULL },
                                              { "wgmma", "", wgmma, NULL },
                                              { "fast", "", NULL, fast },
                                              { "gemm", "", NULL, gemms },
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
    static int batches;
    if (++batches > 1) flip_last(batch, i);
}

/* Be interrupted while the second batch runs. */
static void interrupt(struct gpu_batch *batch, const struct gpu_instruction *i)
{
    static int batches;
    (void)batch;
    (void)i;
    if (++batches == 2) raise(SIGTERM);
}

/* The lowest bit of the last output of a GEMM is wrong. */
static void flip_output(const struct gpu_gemm *g)
{
    if (g->m && g->n) g->d[(g->m - 1) * g->ldd + g->n - 1] ^= 1;
}

/* It is from the third k-step of 16 on. */
static void flip_from_step(const struct gpu_gemm *g)
{
    if (g->k > 32) flip_output(g);
}

/* It is where B is transposed. */
static void flip_transposed(const struct gpu_gemm *g)
{
    if (!g->b.across) flip_output(g);
}

/* It is where there are more GEMMs. */
static void flip_in_batch(const struct gpu_gemm *g)
{
    if (g->count > 1) flip_output(g);
}

/* It is where D is C. */
static void flip_in_place(const struct gpu_gemm *g)
{
    if (g->c == g->d) flip_output(g);
}

/* A column is one element too long. */
static void write_behind(const struct gpu_gemm *g)
{
    if (g->stride_d > g->m * g->ldd) g->d[g->m * g->ldd] = 0;
}

/* A row is one element too long. */
static void write_gap(const struct gpu_gemm *g)
{
    if (g->m > 1 && g->ldd > g->n) g->d[g->n] = 0;
}

static const struct device_fault {
    const char *name;
    int capability; /* of the device */
    const char *no_device, *no_run;
    void (*spoil)(struct gpu_batch *batch, const struct gpu_instruction *i);
    void (*spoil_gemm)(const struct gpu_gemm *g);
} faults[] = {
    { "", 90, NULL, NULL, NULL, NULL },
    { "absent", 90, "nobody is there", NULL, NULL, NULL },
    { "ampere", 86, NULL, NULL, NULL, NULL },
    { "future", 990, NULL, NULL, NULL, NULL },
    { "breaks", 90, NULL, "it broke", NULL, NULL },
    { "flips", 90, NULL, NULL, flip_last, flip_output },
    { "flips later", 90, NULL, NULL, flip_later, flip_from_step },
    { "flips transposed", 90, NULL, NULL, NULL, flip_transposed },
    { "flips batches", 90, NULL, NULL, NULL, flip_in_batch },
    { "flips in place", 90, NULL, NULL, NULL, flip_in_place },
    { "writes behind", 90, NULL, NULL, NULL, write_behind },
    { "writes gap", 90, NULL, NULL, NULL, write_gap },
    { "interrupts", 90, NULL, NULL, interrupt, NULL },
    { "no library", 90, NULL, NULL, NULL, NULL },
    { "large is fast", 90, NULL, NULL, NULL, NULL },
};

static const struct device_fault *fault_wanted(void)
{
    const char *name = getenv("DEVICE_FAULT");
    for (size_t i = 0; name && i < sizeof faults / sizeof faults[0]; i++)
        if (!strcmp(faults[i].name, name)) return &faults[i];
    return &faults[0];
}

const char *device_refusal(void) { return fault_wanted()->no_run; }

int device_has_library(void) { return strcmp(fault_wanted()->name, "no library") != 0; }

/* --- the device ------------------------------------------------------------------- */

static int describe(struct gpu_device *device, char *fault)
{
    const struct device_fault *wanted = fault_wanted();
    if (wanted->no_device) {
        snprintf(fault, GPU_FAULT_MOST, "%s", wanted->no_device);
        return 1;
    }
    *device = (struct gpu_device){ .name = "Models",
                                   .driver = "1.2",
                                   .runtime = "none",
                                   .capability = wanted->capability,
                                   .shared_bytes = 1 << 16,
                                   .units = 8,
                                   .unit_registers = 1 << 10,
                                   .unit_threads = 32,
                                   .unit_blocks = 1,
                                   .unit_shared = 1 << 16,
                                   .products = 64,
                                   .shared_rate = 64,
                                   .cache_rate = 4 };
    return 0;
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

static int compute(const struct gpu_batch *batch, const struct gpu_instruction *i,
                   enum gpu_variant variant)
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
               enum gpu_variant variant, char *fault)
{
    const struct device_fault *wanted = fault_wanted();
    struct gpu_batch copy = *batch;
    snprintf(fault, GPU_FAULT_MOST, "%s", wanted->no_run ? wanted->no_run : "impossible");
    if (wanted->no_run || compute(batch, instruction, variant) != 0) return 1;
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

static uint32_t scaled(uint32_t x, int exponent)
{
    return encoding_of(ldexpf(f32(x), exponent));
}

/* --- words ------------------------------------------------------------------------ */

/* The splits that the device knows, by what the module is told of them. */
static const struct {
    enum gpu_format format;
    int words, scale, direction;
    const char *name;
} splits[] = {
    { GPU_F16, 1, 0, 0, "half" },      { GPU_F16, 2, 0, 0, "markidis" },
    { GPU_F16, 2, 11, 0, "halfhalf" }, { GPU_TF32, 1, 0, 1, "tf32" },
    { GPU_TF32, 2, 0, 1, "tf32tf32" },
};

static const struct bitcut_split *split_of(const struct gpu_split *s)
{
    for (size_t i = 0; i < sizeof splits / sizeof splits[0]; i++)
        if (splits[i].format == s->format && splits[i].words == s->words &&
            splits[i].scale == s->scale && splits[i].direction == s->high.direction)
            return bitcut_split_find(splits[i].name);
    return NULL;
}

static size_t run_of(size_t k)
{
    return (k + GPU_WORDS_RUN - 1) / GPU_WORDS_RUN * GPU_WORDS_RUN;
}

static size_t word_bytes(enum gpu_format f) { return f == GPU_TF32 ? 4 : 2; }

static size_t only_words(const struct gpu_split *s, size_t lines, size_t k)
{
    return (size_t)s->words * lines * run_of(k) * word_bytes(s->format);
}

static size_t words(const struct gpu_split *s, size_t lines, size_t k)
{
    return only_words(s, lines, k) + (s->equilibrate ? lines * sizeof(uint32_t) : 0);
}

/* The largest magnitudes of equilibrated lines, behind their words. */
static void *largest_of(const void *of, const struct gpu_split *s, size_t lines, size_t k)
{
    return (char *)(uintptr_t)of + only_words(s, lines, k);
}

/* The exponent that takes the largest magnitude, of line i, to [2^14, 2^15). */
static int exponent_of(const void *of, const struct gpu_split *s, size_t lines, size_t k,
                       size_t i)
{
    float magnitude;
    int exponent;
    if (!s->equilibrate) return 0;
    memcpy(&magnitude, (char *)largest_of(of, s, lines, k) + i * sizeof magnitude,
           sizeof magnitude);
    frexpf(magnitude, &exponent);
    return magnitude > 0 ? 15 - exponent : 0;
}

static uint32_t element(const struct gpu_operand *x, size_t i, size_t p)
{
    return x->at[x->across ? p * x->ld + i : i * x->ld + p];
}

static void put_largest(void *to, const struct gpu_split *s, const struct gpu_operand *x,
                        size_t lines, size_t k, size_t i)
{
    float largest = 0;
    for (size_t p = 0; p < k; p++) {
        const float magnitude = fabsf(f32(element(x, i, p)));
        if (isfinite(magnitude)) largest = fmaxf(largest, magnitude);
    }
    memcpy((char *)largest_of(to, s, lines, k) + i * sizeof largest, &largest,
           sizeof largest);
}

static void set_word(void *to, enum gpu_format f, size_t at, uint64_t word)
{
    if (f == GPU_TF32) ((uint32_t *)to)[at] = (uint32_t)word;
    else ((uint16_t *)to)[at] = (uint16_t)word;
}

static uint64_t get_word(const void *from, enum gpu_format f, size_t at)
{
    return f == GPU_TF32 ? ((const uint32_t *)from)[at] : ((const uint16_t *)from)[at];
}

static int prepare(void *to, const struct gpu_split *s, const struct gpu_operand *x,
                   size_t lines, size_t k, void *stream, char *fault)
{
    const struct bitcut_split *split = split_of(s);
    const size_t run = run_of(k);
    (void)stream;
    snprintf(fault, GPU_FAULT_MOST, "impossible");
    if (!split) return 1;
    for (size_t i = 0; i < lines; i++) {
        if (s->equilibrate) put_largest(to, s, x, lines, k, i);
        const int exponent = exponent_of(to, s, lines, k, i);
        for (size_t p = 0; p < run; p++) {
            uint64_t word[GPU_WORDS_MOST] = { 0 };
            if (p < k)
                bitcut_split_apply(word, split, scaled(element(x, i, p), exponent));
            for (size_t j = 0; j < (size_t)s->words; j++)
                set_word(to, s->format, (j * lines + i) * run + p, word[j]);
        }
    }
    return 0;
}

/* High words that are NaN have another payload if asked to flip. */
static int split(void *to, const struct gpu_split *s, const struct gpu_operand *x,
                 size_t lines, size_t k, char *fault)
{
    const uint64_t flip = fault_wanted()->spoil_gemm == flip_output;
    if (prepare(to, s, x, lines, k, NULL, fault) != 0) return 1;
    for (size_t i = 0; flip && i < lines * run_of(k); i++)
        if (get_word(to, s->format, i) == 0x7e00) set_word(to, s->format, i, 0x7e01);
    return 0;
}

/* --- whole GEMMs on the host's memory --------------------------------------------- */

/* Lines as rows of a matrix without gaps (A), or as its columns (B). */
static uint32_t *gather(const struct gpu_operand *x, size_t lines, size_t k, bool columns)
{
    uint32_t *to = calloc(lines * k + 1, sizeof *to);
    for (size_t i = 0; to && i < lines; i++)
        for (size_t p = 0; p < k; p++)
            to[columns ? p * lines + i : i * k + p] = element(x, i, p);
    return to;
}

static const struct bitcut_unit *unit_of(const struct gpu_kernel *kernel)
{
    char name[64];
    snprintf(name, sizeof name, "hopper/%s", kernel->instruction);
    return bitcut_unit_find(name, NULL);
}

static void operand_advance(struct gpu_operand *x, size_t count)
{
    if (x->words) x->words = (const char *)x->words + count * x->words_stride;
    else if (x->at) x->at += count * x->stride;
}

/* GEMM i of a batch, alone. */
static struct gpu_gemm gemm_at(const struct gpu_gemm *g, size_t i)
{
    struct gpu_gemm x = *g;
    x.count = 1;
    operand_advance(&x.a, i);
    operand_advance(&x.b, i);
    if (x.c) x.c += i * x.stride_c;
    x.d += i * x.stride_d;
    return x;
}

/* By the emulator, on matrices of the host without gaps but in D. */
static enum bitcut_status emulate(const struct gpu_gemm *g, const char *recipe,
                                  const struct bitcut_unit *unit, const uint32_t *a,
                                  const uint32_t *b)
{
    struct bitcut_gemm x;
    bitcut_gemm_init(&x, sizeof x);
    x.recipe = bitcut_recipe_find(recipe);
    x.unit = unit;
    x.m = g->m, x.n = g->n, x.k = g->k;
    x.alpha = g->alpha, x.beta = g->beta;
    x.equilibrate = g->split.equilibrate;
    x.a.at = a, x.b.at = b;
    x.c.at = g->c, x.c.ld = g->ldc;
    x.d.to = g->d, x.d.ld = g->ldd;
    return bitcut_gemm(NULL, &x, 1, NULL);
}

static int gemm_one(const struct gpu_gemm *g, const struct gpu_kernel *kernel)
{
    uint32_t *a = gather(&g->a, g->m, g->k, false), *b = gather(&g->b, g->n, g->k, true);
    const bool good =
        a && b && emulate(g, kernel->recipe, unit_of(kernel), a, b) == BITCUT_OK;
    free(b);
    free(a);
    return good ? 0 : 1;
}

/* The last of a batch is spoiled. */
static void spoil_gemm(const struct gpu_gemm *g)
{
    struct gpu_gemm last = gemm_at(g, g->count - 1);
    last.count = g->count;
    if (fault_wanted()->spoil_gemm) fault_wanted()->spoil_gemm(&last);
}

static int gemm(const struct gpu_gemm *g, const struct gpu_kernel *kernel, char *fault)
{
    const struct device_fault *wanted = fault_wanted();
    snprintf(fault, GPU_FAULT_MOST, "%s", wanted->no_run ? wanted->no_run : "impossible");
    if (wanted->no_run || g->slices != 1) return 1;
    for (size_t i = 0; i < g->count; i++) {
        const struct gpu_gemm one = gemm_at(g, i);
        if (gemm_one(&one, kernel) != 0) return 1;
    }
    spoil_gemm(g);
    return 0;
}

/* --- whole GEMMs on the device's -------------------------------------------------- */

enum { ACCUMULATORS = 3, K_MOST = 16 };

struct output {
    const struct gpu_gemm *gemm;
    const struct gpu_kernel *kernel;
    const struct bitcut_unit *unit;
    const void *a, *b; /* words */
    size_t step;       /* k of the instruction */
};

static void read_words(uint64_t to[K_MOST], const struct output *o, const void *from,
                       size_t lines, size_t line, int word, size_t p)
{
    const size_t run = run_of(o->gemm->k);
    for (size_t e = 0; e < o->step; e++)
        to[e] = get_word(from, o->kernel->format,
                         ((size_t)word * lines + line) * run + p + e);
}

/* The k-step at p of the output (i, j). */
static void do_step(uint64_t to[ACCUMULATORS], const struct output *o, size_t i, size_t j,
                    size_t p)
{
    const struct gpu_recipe *program = &o->kernel->program;
    uint64_t a[K_MOST], b[K_MOST];
    for (int t = 0; t < program->terms; t++) {
        const struct gpu_term term = program->term[t];
        uint64_t *d = &to[term.accumulator];
        read_words(a, o, o->a, o->gemm->m, i, term.a, p);
        read_words(b, o, o->b, o->gemm->n, j, term.b, p);
        bitcut_mma(d, o->unit, 1, 1, 1, o->step, a, b, d, 1);
    }
}

/* k-steps [from, to) of an output, folded. */
static float do_slice(const struct output *o, size_t i, size_t j, size_t from, size_t to)
{
    const size_t promote = (size_t)o->kernel->program.promote;
    uint64_t x[ACCUMULATORS] = { 0 };
    float promoted = 0;
    for (size_t s = from; s < to; s++) {
        do_step(x, o, i, j, s * o->step);
        if (!promote || ((s - from + 1) % promote && s + 1 < to)) continue;
        promoted += f32(x[0]);
        x[0] = 0;
    }
    float v = 0;
    for (int c = ACCUMULATORS - 1; c >= 0; c--)
        v = fmaf(v, ldexpf(1, -o->gemm->split.scale),
                 c == 0 && promote ? promoted : f32(x[c]));
    return v;
}

static void do_output(const struct output *o, size_t i, size_t j)
{
    const struct gpu_gemm *g = o->gemm;
    const size_t steps = (g->k + o->step - 1) / o->step, slices = (size_t)g->slices;
    const size_t each = (steps + slices - 1) / slices;
    float v = 0;
    for (size_t s = 0; s < steps; s += each) {
        const float slice = do_slice(o, i, j, s, s + each < steps ? s + each : steps);
        v = s ? v + slice : slice;
    }
    v = ldexpf(v, -exponent_of(o->a, &g->split, g->m, g->k, i) -
                      exponent_of(o->b, &g->split, g->n, g->k, j));
    v *= f32(g->alpha);
    if (g->beta & 0x7fffffff) v = fmaf(f32(g->beta), f32(g->c[i * g->ldc + j]), v);
    g->d[i * g->ldd + j] = encoding_of(v);
}

/* Words of A and of B, unless prepared; and slices, to have something there. */
struct parts {
    size_t a, b, slices; /* of a GEMM */
};

static struct parts parts_of(const struct gpu_gemm *g)
{
    return (struct parts){ g->a.words ? 0 : words(&g->split, g->m, g->k),
                           g->b.words ? 0 : words(&g->split, g->n, g->k),
                           g->slices > 1 ? (size_t)g->slices * g->m * g->n * 4 : 0 };
}

static size_t workspace(const struct gpu_gemm *g, const struct gpu_kernel *kernel)
{
    const struct parts parts = parts_of(g);
    (void)kernel;
    return g->count * (parts.a + parts.b + parts.slices);
}

static int start_one(const struct gpu_gemm *g, const struct gpu_kernel *kernel, void *at,
                     void *stream, char *fault)
{
    const struct parts parts = parts_of(g);
    char *const b = (char *)at + parts.a;
    struct output o = { g, kernel, unit_of(kernel), g->a.words, g->b.words, 0 };
    int m, n, k;
    if (!o.unit) return 1;
    bitcut_unit_shape(&m, &n, &k, o.unit);
    o.step = (size_t)k;
    if (!g->a.words && prepare(at, &g->split, &g->a, g->m, g->k, stream, fault)) return 1;
    if (!g->b.words && prepare(b, &g->split, &g->b, g->n, g->k, stream, fault)) return 1;
    if (!o.a) o.a = at;
    if (!o.b) o.b = b;
    if (parts.slices) memset(b + parts.b, 0xff, parts.slices);
    for (size_t i = 0; i < g->m; i++)
        for (size_t j = 0; j < g->n; j++) do_output(&o, i, j);
    return 0;
}

/* GEMMs of a batch that are given memory for all of them work side by side. */
static int start(const struct gpu_gemm *g, const struct gpu_kernel *kernel, void *at,
                 void *stream, char *fault)
{
    const struct device_fault *wanted = fault_wanted();
    snprintf(fault, GPU_FAULT_MOST, "%s", wanted->no_run ? wanted->no_run : "impossible");
    if (wanted->no_run || g->count > GPU_COUNT_MOST / (size_t)g->slices) return 1;
    if (!g->m || !g->n) return 0;
    for (size_t i = 0; i < g->count; i++) {
        const struct gpu_gemm one = gemm_at(g, i);
        char *const own = (char *)at + i * workspace(&one, kernel);
        if (start_one(&one, kernel, own, stream, fault) != 0) return 1;
    }
    spoil_gemm(g);
    return 0;
}

/* --- timing ----------------------------------------------------------------------- */

/* How a peer computes, and its nanoseconds a product. */
struct peer_own {
    const char *recipe, *unit; /* NULL: it fails */
    double ns;
};

enum { KERNEL_NS = 6, SPLIT_NS = 2, ENTRANTS_MOST = 64, WATTS = 700, MHZ = 1980 };

static const struct gpu_peer peers[] = {
    { "sgemm", "", NULL, GPU_PEER_SINGLE,
      &(const struct peer_own){ "fp32", "fma/f32", 12 } },
    { "falls", "", NULL, GPU_PEER, &(const struct peer_own){ "fp32", "fma/f32", 11 } },
    { "fails", "", NULL, GPU_PEER, &(const struct peer_own){ NULL, NULL, 1 } },
    { "hgemm", "", "half", GPU_PEER_HALF,
      &(const struct peer_own){ "plain", "hopper/mma.m16n8k16.f32.f16", 1 } },
    { "three", "", "halfhalf", GPU_PEER,
      &(const struct peer_own){ "ootomo", "hopper/mma.m16n8k16.f32.f16", 3 } },
    { 0 }
};

static int sessions;

/* A session notes how often each entrant ran. */
struct gpu_session {
    size_t count, m, n, k;
    uint32_t *a, *b, *d;
    struct gpu_entrant entrant[ENTRANTS_MOST];
    int runs[ENTRANTS_MOST], entrants;
};

static uint32_t *copy_of(const uint32_t *from, size_t count)
{
    uint32_t *to = calloc(count, sizeof *to);
    if (to && from) memcpy(to, from, count * sizeof *to);
    return to;
}

static int session_begin(struct gpu_session **session, struct gpu_library *library,
                         size_t count, size_t m, size_t n, size_t k, const uint32_t *a,
                         const uint32_t *b, char *fault)
{
    struct gpu_session *s = calloc(1, sizeof *s);
    snprintf(fault, GPU_FAULT_MOST, "no memory");
    if (!s) return 1;
    *s = (struct gpu_session){ .count = count,
                               .m = m,
                               .n = n,
                               .k = k,
                               .a = copy_of(a, count * m * k),
                               .b = copy_of(b, count * k * n),
                               .d = copy_of(NULL, count * m * n) };
    library->here = device_has_library();
    snprintf(library->text, GPU_TEXT_MOST, library->here ? "Peers 1.0" : "none: lost");
    sessions++;
    *session = s;
    return s->a && s->b && s->d ? 0 : 1;
}

static void session_end(struct gpu_session *s)
{
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

/* By any three runs after each other a third, two thirds and all of three times this. */
static double milliseconds(const struct gpu_session *s, const struct gpu_entrant *e)
{
    const double products = (double)(s->count * s->m * s->n * s->k);
    const double words = (double)(s->count * (s->m + s->n) * s->k);
    const struct peer_own *own = e->peer ? e->peer->own : NULL;
    const bool split_too = e->part != GPU_PRODUCT && (e->kernel || e->peer->split);
    const bool slow = e->kernel && !strstr(e->kernel->name, "large") &&
                      !strcmp(fault_wanted()->name, "large is fast");
    const double product = e->part == GPU_SPLIT ? 0
                           : own                ? own->ns
                                                : KERNEL_NS * (slow ? 2 : 1);
    return 1e-6 * (product * products + (split_too ? SPLIT_NS * words : 0));
}

static int compute_peer(const struct gpu_gemm *g, const struct peer_own *own)
{
    const struct bitcut_unit *unit =
        own->recipe ? bitcut_unit_find(own->unit, NULL) : NULL;
    enum bitcut_status status = own->recipe ? BITCUT_OK : BITCUT_CANNOT;
    for (size_t i = 0; i < g->count && status == BITCUT_OK; i++) {
        const struct gpu_gemm one = gemm_at(g, i);
        status = emulate(&one, own->recipe, unit, one.a.at, one.b.at);
    }
    return status != BITCUT_OK;
}

static int compute_entrant(struct gpu_session *s, const struct gpu_entrant *e,
                           char *fault)
{
    const struct peer_own *own = e->peer ? e->peer->own : NULL;
    const struct gpu_gemm g = { .count = s->count,
                                .m = s->m,
                                .n = s->n,
                                .k = s->k,
                                .alpha = 0x3f800000,
                                .a = { s->a, s->k, 0, NULL, s->m * s->k, 0 },
                                .b = { s->b, s->n, 1, NULL, s->k * s->n, 0 },
                                .d = s->d,
                                .ldd = s->n,
                                .stride_d = s->m * s->n,
                                .split = e->split,
                                .slices = e->slices };
    if (!own) return gemm(&g, e->kernel, fault);
    snprintf(fault, GPU_FAULT_MOST, "not supported");
    return compute_peer(&g, own);
}

static int session_run(struct gpu_measurement *measurement, struct gpu_session *s,
                       const struct gpu_entrant *e, int repeats, char *fault)
{
    const double ms = repeats * milliseconds(s, e);
    memset(s->d, 0xff, s->count * s->m * s->n * sizeof *s->d);
    if (fault_wanted()->spoil == interrupt && sessions == 2 && e->part == GPU_SPLIT)
        raise(SIGTERM);
    if (e->part != GPU_SPLIT && compute_entrant(s, e, fault) != 0) return 1;
    *measurement =
        (struct gpu_measurement){ ms * (1 + runs_before(s, e) % 3), WATTS * ms, MHZ };
    return 0;
}

static int session_read(uint32_t *row, struct gpu_session *s, size_t i, char *fault)
{
    (void)fault;
    memcpy(row, s->d + i * s->n, s->n * sizeof *row);
    return 0;
}

static const struct gpu_timer timer = { peers, session_begin, session_run, session_read,
                                        session_end };

extern const struct gpu_module bitcut_gpu_module;
const struct gpu_module bitcut_gpu_module = { .interface = INTERFACE,
                                              .name = "models",
                                              .what = "no GPU at all",
                                              .families = families,
                                              .describe = describe,
                                              .run = run,
                                              .split = split,
                                              .gemm = gemm,
                                              .words = words,
                                              .prepare = prepare,
                                              .workspace = workspace,
                                              .start = start,
                                              .timer = &timer,
                                              .batched = &device_batched };
