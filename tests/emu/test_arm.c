/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of Arm's units compared with the units of this processor, or of an emulator on
   which the program runs: every bit of random outputs of all classes, and of a few inputs
   made by hand.  Features that the processor lacks are skipped by name.  BFDOT, BFMMLA
   and BFMOPA run with FPCR.EBF as it is, 0 at a program's start: products, sums and
   accumulations are rounded to odd.  FMOPA and BFMOPA (widening) use tiles of the
   streaming vector length. */
#include "analysis/evidence/sample.h"
#include "lib/base/table.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

enum { LANES_MAX = 64 };

/* An instruction: `rows` of A and `columns` of B, both of k halves, meet in rows x
   columns outputs; d holds the accumulators and then the outputs. */
struct instruction {
    const char *name, *unit;
    bool (*there)(void);
    void (*run)(uint32_t *d, const uint16_t *a, const uint16_t *b);
    int rows, columns; /* 0: as many as the streaming vectors have words */
};

#ifdef __aarch64__
#include <sys/auxv.h>

/* asm/hwcap.h */
enum {
    HAS_BF16 = 1 << 14,
    HAS_SME = 1 << 23,
    HAS_SME_F16F32 = 1 << 27,
    HAS_SME_B16F32 = 1 << 28
};

static bool has(unsigned long bits) { return (getauxval(AT_HWCAP2) & bits) == bits; }
static bool has_bf16(void) { return has(HAS_BF16); }
static bool has_sme(void) { return has(HAS_SME | HAS_SME_F16F32); }
static bool has_sme_bf16(void) { return has(HAS_SME | HAS_SME_B16F32); }

void arm_bfdot(uint32_t *d, const uint16_t *a, const uint16_t *b);
void arm_bfmmla(uint32_t *d, const uint16_t *a, const uint16_t *b);
void arm_fmopa(uint32_t *d, const uint16_t *a, const uint16_t *b);
void arm_bfmopa(uint32_t *d, const uint16_t *a, const uint16_t *b);
uint64_t arm_streaming_words(void);

/* Streaming mode begins and ends with registers of zeros. */
#define OUTER_PRODUCTS(NAME)                                                             \
    "arm_" NAME ":\n"                                                                    \
    "  stp d8, d9, [sp, #-64]!\n"                                                        \
    "  stp d10, d11, [sp, #16]\n"                                                        \
    "  stp d12, d13, [sp, #32]\n"                                                        \
    "  stp d14, d15, [sp, #48]\n"                                                        \
    "  smstart\n"                                                                        \
    "  ptrue p0.b\n"                                                                     \
    "  ld1h {z0.h}, p0/z, [x1]\n"                                                        \
    "  ld1h {z1.h}, p0/z, [x2]\n"                                                        \
    "  cntw x3\n"                                                                        \
    "  mov x4, x0\n"                                                                     \
    "  mov w12, #0\n"                                                                    \
    "1: ld1w {za0h.s[w12, 0]}, p0/z, [x4]\n"                                             \
    "  addvl x4, x4, #1\n"                                                               \
    "  add w12, w12, #1\n"                                                               \
    "  cmp w12, w3\n"                                                                    \
    "  b.lo 1b\n"                                                                        \
    "  " NAME " za0.s, p0/m, p0/m, z0.h, z1.h\n"                                         \
    "  mov w12, #0\n"                                                                    \
    "2: st1w {za0h.s[w12, 0]}, p0, [x0]\n"                                               \
    "  addvl x0, x0, #1\n"                                                               \
    "  add w12, w12, #1\n"                                                               \
    "  cmp w12, w3\n"                                                                    \
    "  b.lo 2b\n"                                                                        \
    "  smstop\n"                                                                         \
    "  ldp d10, d11, [sp, #16]\n"                                                        \
    "  ldp d12, d13, [sp, #32]\n"                                                        \
    "  ldp d14, d15, [sp, #48]\n"                                                        \
    "  ldp d8, d9, [sp], #64\n"                                                          \
    "  ret\n"

__asm__(".text\n"
        ".arch armv8.6-a+sve+sme\n"
        /* the pair of the one row of A in every lane */
        "arm_bfdot:\n"
        "  ldr q0, [x0]\n"
        "  ld1r {v1.4s}, [x1]\n"
        "  ldr q2, [x2]\n"
        "  bfdot v0.4s, v1.8h, v2.8h\n"
        "  str q0, [x0]\n"
        "  ret\n"
        "arm_bfmmla:\n"
        "  ldr q0, [x0]\n"
        "  ldr q1, [x1]\n"
        "  ldr q2, [x2]\n"
        "  bfmmla v0.4s, v1.8h, v2.8h\n"
        "  str q0, [x0]\n"
        "  ret\n"
        "arm_streaming_words:\n"
        "  rdsvl x0, #1\n"
        "  lsr x0, x0, #2\n"
        "  ret\n" OUTER_PRODUCTS("fmopa") OUTER_PRODUCTS("bfmopa"));
#else
static bool has_bf16(void) { return false; }
static bool has_sme(void) { return false; }
static bool has_sme_bf16(void) { return false; }
static uint64_t arm_streaming_words(void) { return 0; }
#define arm_bfdot  NULL
#define arm_bfmmla NULL
#define arm_fmopa  NULL
#define arm_bfmopa NULL
#endif

static const struct instruction instructions[] = {
    { "BFDOT", "neon/bfdot.m1n4k2.f32.bf16", has_bf16, arm_bfdot, 1, 4 },
    { "BFMMLA", "neon/bfmmla.m2n2k4.f32.bf16", has_bf16, arm_bfmmla, 2, 2 },
    { "FMOPA", "sme/fmopa.m16n16k2.f32.f16", has_sme, arm_fmopa, 0, 0 },
    { "BFMOPA", "sme/bfmopa.m16n16k2.f32.bf16", has_sme_bf16, arm_bfmopa, 0, 0 },
    { 0 }
};

/* A shape, and its samples: output (i, j) has the a of row i and the b of column j. */
struct batch {
    const struct bitcut_unit *unit;
    int rows, columns;
    struct sample line[LANES_MAX];
    uint32_t c[LANES_MAX * LANES_MAX];
};

static int differences(const struct instruction *x, const struct batch *t,
                       const char *class)
{
    const int k = t->unit->k;
    uint16_t a[4 * LANES_MAX], b[4 * LANES_MAX];
    uint32_t d[LANES_MAX * LANES_MAX];
    int differ = 0;
    for (int i = 0; i < t->rows * k; i++) a[i] = (uint16_t)t->line[i / k].a[i % k];
    for (int i = 0; i < t->columns * k; i++) b[i] = (uint16_t)t->line[i / k].b[i % k];
    memcpy(d, t->c, sizeof d);
    x->run(d, a, b);
    for (int i = 0; i < t->rows * t->columns; i++) {
        struct sample s = t->line[i / t->columns];
        memcpy(s.b, t->line[i % t->columns].b, sizeof s.b);
        s.c = t->c[i];
        const uint32_t want = (uint32_t)sample_dot(t->unit, &s);
        if (d[i] == want || differ++) continue;
        printf("# %s, %s: a %04" PRIx64 " %04" PRIx64 ", b %04" PRIx64 " %04" PRIx64
               ", c %08" PRIx32 ": got %08" PRIx32 ", want %08" PRIx32 "\n",
               x->name, class, s.a[0], s.a[1], s.b[0], s.b[1], t->c[i], d[i], want);
    }
    return differ;
}

/* --- random outputs --------------------------------------------------------------- */

enum { OUTPUTS = 1000000 };

/* Each output of the batch from its own sample's c, or that of its row. */
static void fill(struct batch *t, const struct sample_class *class, struct rng *rng)
{
    const int lines = t->rows > t->columns ? t->rows : t->columns;
    for (int i = 0; i < lines; i++) class->fill(&t->line[i], t->unit, rng);
    for (int i = 0; i < t->rows * t->columns; i++)
        t->c[i] =
            (uint32_t)t->line[rng_bits(rng) % 2 ? i / t->columns : i % t->columns].c;
}

static int random_differences(const struct instruction *x, struct batch *t, long *outputs)
{
    int differ = 0, classes = 0;
    for (const struct sample_class *c = sample_classes; c->name; c++)
        classes += !c->scaled;
    for (const struct sample_class *c = sample_classes; c->name; c++) {
        struct rng rng = rng_start(test_seed(), (uint64_t)(c - sample_classes));
        const long end = *outputs + OUTPUTS / classes + 1;
        for (; !c->scaled && *outputs < end; *outputs += t->rows * t->columns) {
            fill(t, c, &rng);
            differ += differences(x, t, c->name);
        }
    }
    return differ;
}

/* --- inputs by hand --------------------------------------------------------------- */

/* Every combination of these in one pair of products and c: signed zeros, the subnormal
   and normal numbers at their ends, halves of a last bit, infinities, NaNs. */
static const uint16_t bf16[] = { 0x0000, 0x8000, 0x0001, 0x007f, 0x0080,
                                 0x8080, 0x3f80, 0xbf81, 0x3380, 0x7f7f,
                                 0xff7f, 0x7f80, 0xff80, 0x7f81, 0x7fc0 };
static const uint16_t f16[] = { 0x0000, 0x8000, 0x0001, 0x03ff, 0x0400,
                                0x8400, 0x3c00, 0xbc01, 0x1000, 0x7bff,
                                0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7e00 };
static const uint32_t f32[] = { 0,          0x80000000, 1,          0x007fffff,
                                0x00800000, 0x80800000, 0x3f800000, 0xbf800001,
                                0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
                                0x7f800001, 0xffc00001 };

enum { HALVES = sizeof f16 / sizeof f16[0], WORDS = sizeof f32 / sizeof f32[0] };

/* Line i of the n-th batch: the combinations are counted through. */
static void put(struct sample *s, const struct bitcut_unit *u, uint32_t n)
{
    const uint16_t *const from = u->a == &formats[FORMAT_F16] ? f16 : bf16;
    for (int i = 0; i < u->k; i++) {
        s->a[i] = from[n % HALVES];
        s->b[i] = from[n / HALVES % HALVES];
        n = n / HALVES * 7 + n * 13 + 5;
    }
}

static int directed_differences(const struct instruction *x, struct batch *t,
                                long *outputs)
{
    enum { BATCHES = HALVES * HALVES * 4 };
    const int lines = t->rows > t->columns ? t->rows : t->columns;
    int differ = 0;
    for (uint32_t n = 0; n < BATCHES; n++, *outputs += t->rows * t->columns) {
        for (int i = 0; i < lines; i++) put(&t->line[i], t->unit, n + (uint32_t)i * 31);
        for (int i = 0; i < t->rows * t->columns; i++)
            t->c[i] = f32[(n / 3 + (uint32_t)i) % WORDS];
        differ += differences(x, t, "directed");
    }
    return differ;
}

/* --- the test --------------------------------------------------------------------- */

static bool compared(const struct instruction *x, int number)
{
    static struct batch t;
    const int words = x->rows ? 0 : (int)arm_streaming_words();
    long outputs = 0;
    t.unit = table_find(TABLE(units), x->unit);
    t.rows = x->rows ? x->rows : words;
    t.columns = x->columns ? x->columns : words;
    if (!t.unit || t.rows > LANES_MAX) {
        printf("not ok %d - %s: no row, or vectors of %d words\n", number, x->name,
               t.rows);
        return false;
    }
    const int differ =
        directed_differences(x, &t, &outputs) + random_differences(x, &t, &outputs);
    printf("%s %d - %s: %d of %ld outputs differ from the processor's, seed %" PRIu64
           "\n",
           differ ? "not ok" : "ok", number, x->name, differ, outputs, test_seed());
    return !differ;
}

int main(void)
{
    int number = 0;
    bool good = true;
    for (const struct instruction *x = instructions; x->name; x++) {
        number++;
        if (x->there()) good &= compared(x, number);
        else
            printf("ok %d - %s # SKIP needs a processor with this instruction\n", number,
                   x->name);
        fflush(stdout);
    }
    printf("1..%d\n", number);
    return !good;
}
