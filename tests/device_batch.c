/* Batches of small GEMMs on the model device: one instruction after the other.
 * DEVICE_FAULT makes it misbehave; see `faults`. */
#define _POSIX_C_SOURCE 200809L

#include "lib/bitcut.h"
#include "tests/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEP = 16, SIZE_MOST = GPU_BATCHED_MOST };

static const struct gpu_batched_kernel kernels[] = {
    /* clang-format off */
    { "batch.tiny.3", "", "mma.m16n8k16.f32.f16",  3, 4, 1, 0, 128,    0, 80,  0, NULL },
    { "batch.mma.16", "", "mma.m16n8k16.f32.f16", 16, 2, 1, 1, 128, 1024, 80,  0, NULL },
    { "batch.old.64", "", "mma.m16n8k16.f32.f16", 64, 1, 1, 1, 128,    0, 80, 89, NULL },
    { "batch.big.64", "", "mma.m16n8k16.f32.f16", 64, 1, 4, 2, 128, 65537, 80, 0, NULL },
    { "batch.mma.64", "", "mma.m16n8k16.f32.f16", 64, 1, 4, 2, 128, 4096, 80,  0, NULL },
    { "batch.fma.64", "", NULL,                   64, 1, 1, 0, 128,    0, 80,  0, NULL },
    { 0 }
    /* clang-format on */
};

/* --- faults ----------------------------------------------------------------------- */

/* D_i. */
static uint16_t *output_of(const struct gpu_batched *g, size_t i)
{
    return (uint16_t *)(g->d.each ? g->d.each[i] : g->d.at + i * g->d.stride);
}

/* The lowest bit of the last output is wrong. */
static void flip_last(const struct gpu_batched *g)
{
    if (!g->count || !g->m || !g->n) return;
    output_of(g, g->count - 1)[(size_t)(g->m - 1) * g->d.ld + (size_t)g->n - 1] ^= 1;
}

static void flip_by_pointers(const struct gpu_batched *g)
{
    if (g->d.each) flip_last(g);
}

static void flip_large(const struct gpu_batched *g)
{
    if (g->n > 8) flip_last(g);
}

static void flip_transposed(const struct gpu_batched *g)
{
    if (g->b.transposed) flip_last(g);
}

/* A row is one element too long. */
static void write_gap(const struct gpu_batched *g)
{
    if (g->count && g->m && g->d.ld > (size_t)g->n) output_of(g, 0)[g->n] = 0;
}

static const struct {
    const char *name;
    void (*spoil)(const struct gpu_batched *g);
} faults[] = {
    { "flips", flip_last },        { "flips by pointers", flip_by_pointers },
    { "flips large", flip_large }, { "flips transposed", flip_transposed },
    { "writes gap", write_gap },
};

static int has_fault(const char *name)
{
    const char *wanted = getenv("DEVICE_FAULT");
    return wanted && !strcmp(wanted, name);
}

static void spoil(const struct gpu_batched *g)
{
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        if (has_fault(faults[i].name)) faults[i].spoil(g);
}

/* --- one GEMM --------------------------------------------------------------------- */

static float f32(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Exactly: 2^-24 is the unit of a subnormal. */
static float half(uint16_t x)
{
    const int exponent = x >> 10 & 31, fraction = x & 1023;
    const float size = exponent == 31 ? (fraction ? NAN : INFINITY)
                       : exponent     ? ldexpf((float)(1024 + fraction), exponent - 25)
                                      : ldexpf((float)fraction, -24);
    return x >> 15 ? -size : size;
}

static uint16_t rounded(float x)
{
    static const struct bitcut_format *f16, *of_f32;
    static const struct bitcut_rounding *rn;
    if (!rn) {
        f16 = bitcut_format_find("f16");
        of_f32 = bitcut_format_find("f32");
        rn = bitcut_rounding_find("rn");
    }
    return isnan(x) ? 0x7fff
                    : (uint16_t)bitcut_format_convert(f16, rn, of_f32, bits_of(x));
}

static uint16_t element(const struct gpu_batched_operand *x, size_t matrix, size_t i,
                        size_t j)
{
    const uint16_t *at = x->each ? x->each[matrix] : x->at + matrix * x->stride;
    return x->transposed ? at[j * x->ld + i] : at[i * x->ld + j];
}

/* The sums of a GEMM, FP32 encodings. */
struct sums {
    uint64_t at[SIZE_MOST * SIZE_MOST];
};

/* Instructions over steps of k, the last one padded with +0. */
static void sum_by_unit(struct sums *d, const struct gpu_batched *g,
                        const struct bitcut_unit *unit, size_t matrix)
{
    const size_t m = (size_t)g->m, n = (size_t)g->n, k = (size_t)g->k;
    for (size_t p = 0; p < k; p += STEP) {
        uint64_t a[SIZE_MOST * STEP] = { 0 }, b[STEP * SIZE_MOST] = { 0 };
        for (size_t e = 0; e < STEP && p + e < k; e++) {
            for (size_t i = 0; i < m; i++)
                a[i * STEP + e] = element(&g->a, matrix, i, p + e);
            for (size_t j = 0; j < n; j++)
                b[e * n + j] = element(&g->b, matrix, p + e, j);
        }
        bitcut_mma(d->at, unit, 1, m, n, STEP, a, b, d->at, 1);
    }
}

static void sum_by_chains(struct sums *d, const struct gpu_batched *g, size_t matrix)
{
    const size_t m = (size_t)g->m, n = (size_t)g->n, k = (size_t)g->k;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            float sum = 0;
            for (size_t p = 0; p < k; p++)
                sum = fmaf(half(element(&g->a, matrix, i, p)),
                           half(element(&g->b, matrix, p, j)), sum);
            d->at[i * n + j] = bits_of(sum);
        }
}

static void compute(const struct gpu_batched *g, const struct bitcut_unit *unit,
                    size_t matrix)
{
    const size_t m = (size_t)g->m, n = (size_t)g->n;
    struct sums d;
    memset(d.at, 0, m * n * sizeof *d.at);
    if (unit) sum_by_unit(&d, g, unit, matrix);
    else sum_by_chains(&d, g, matrix);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            float t = f32(g->alpha) * f32((uint32_t)d.at[i * n + j]);
            if (f32(g->beta) != 0)
                t = fmaf(f32(g->beta), half(element(&g->c, matrix, i, j)), t);
            output_of(g, matrix)[i * g->d.ld + j] = rounded(t);
        }
}

static int start(const struct gpu_batched *g, const struct gpu_batched_kernel *kernel,
                 void *stream, char *fault)
{
    char name[64];
    (void)stream;
    snprintf(name, sizeof name, "hopper/%s",
             kernel->instruction ? kernel->instruction : "");
    const struct bitcut_unit *unit = bitcut_unit_find(name, NULL);
    if (device_refusal() || (!unit && kernel->instruction)) {
        snprintf(fault, GPU_FAULT_MOST, "%s",
                 device_refusal() ? device_refusal() : "impossible");
        return 1;
    }
    for (size_t i = 0; i < g->count; i++) compute(g, unit, i);
    spoil(g);
    return 0;
}

/* The host's memory is the device's. */
static int run(const struct gpu_batched *g, const struct gpu_batched_kernel *kernel,
               const struct gpu_memory memory[4], char *fault)
{
    (void)memory;
    return start(g, kernel, NULL, fault);
}

/* --- timing ----------------------------------------------------------------------- */

/* Nanoseconds a GEMM; a peer without them fails. */
static const double kernel_ns = 6, strided_ns = 12, pointers_ns = 18, fails_ns = 0;

static const struct gpu_batched_peer peers[] = {
    { "strided", "", 0, &strided_ns },
    { "pointers", "", 1, &pointers_ns },
    { "fails", "", 1, &fails_ns },
    { 0 },
};

struct gpu_batched_session {
    struct gpu_batched g;
    uint16_t *a, *b, *d;
    int runs; /* of the first peer */
};

static uint16_t *repeated(const uint16_t *from, size_t each, size_t distinct,
                          size_t count)
{
    uint16_t *to = calloc(each * count + 1, sizeof *to);
    for (size_t i = 0; to && i < each * count; i++) to[i] = from[i % (each * distinct)];
    return to;
}

static void session_end(struct gpu_batched_session *s)
{
    free(s->d);
    free(s->b);
    free(s->a);
    free(s);
}

static int session_begin(struct gpu_batched_session **session,
                         struct gpu_library *library, size_t count, int m, int n, int k,
                         const uint16_t *a, const uint16_t *b, size_t distinct,
                         char *fault)
{
    const size_t rows = (size_t)m, cols = (size_t)n, inner = (size_t)k;
    struct gpu_batched_session *s = calloc(1, sizeof *s);
    snprintf(fault, GPU_FAULT_MOST, "no memory");
    if (!s) return 1;
    s->a = repeated(a, rows * inner, distinct, count);
    s->b = repeated(b, inner * cols, distinct, count);
    s->d = calloc(rows * cols * count + 1, sizeof *s->d);
    s->g = (struct gpu_batched){ count,
                                 m,
                                 n,
                                 k,
                                 0x3f800000,
                                 0,
                                 { s->a, rows * inner, NULL, inner, 0 },
                                 { s->b, inner * cols, NULL, cols, 0 },
                                 { 0 },
                                 { s->d, rows * cols, NULL, cols, 0 } };
    library->here = device_has_library();
    snprintf(library->text, GPU_TEXT_MOST, library->here ? "Peers 1.0" : "none: lost");
    *session = s;
    if (s->a && s->b && s->d) return 0;
    session_end(s);
    return 1;
}

/* Whether the first peer does not run: large ones, or again. */
static int is_refused(struct gpu_batched_session *s)
{
    return (has_fault("peer is small") && s->g.n > 8) ||
           (has_fault("peer tires") && s->runs++ > 0);
}

/* By pointers a kernel takes twice as long. */
static int session_run(struct gpu_measurement *measurement, struct gpu_batched_session *s,
                       const struct gpu_batched_entrant *e, int repeats, char *fault)
{
    const double *ns = e->peer ? e->peer->own : &kernel_ns;
    const size_t outputs = s->g.count * (size_t)s->g.m * (size_t)s->g.n;
    memset(s->d, 0xff, outputs * sizeof *s->d);
    snprintf(fault, GPU_FAULT_MOST, "not supported");
    if (*ns == 0 || (e->peer == peers && is_refused(s))) return 1;
    if (start(&s->g, e->peer ? &kernels[4] : e->kernel, NULL, fault) != 0) return 1;
    *measurement =
        (struct gpu_measurement){ 1e-6 * *ns * (e->kernel && e->pointers ? 2 : 1) *
                                      (double)s->g.count * repeats,
                                  0, 1980 };
    return 0;
}

static int session_read(uint16_t *d, struct gpu_batched_session *s, size_t i, char *fault)
{
    const size_t each = (size_t)s->g.m * (size_t)s->g.n;
    (void)fault;
    memcpy(d, s->d + i * each, each * sizeof *d);
    return 0;
}

static const struct gpu_batched_timer timer = { peers, session_begin, session_run,
                                                session_read, session_end };

const struct gpu_batched_part device_batched = { kernels, run, start, &timer };
