/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/bench_exact.h"

#include "analysis/bench/blas.h"
#include "emu/gemm.h"
#include "lib/base/clock.h"
#include "lib/base/threads.h"
#include "lib/exact/exact.h"
#include "lib/exact/oracle.h"
#include "lib/input/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The slow baseline and the stages are timed on the same matrices; MPFR on fewer rows. */
enum { PEER_PRODUCTS = 1 << 22, REPEATS = 3 };

struct task {
    size_t n;
    struct matrix a, b;
    uint32_t *want,
        *got; /* n x n FP32 results: of bins, and of the method that is timed */
    struct whole {
        uint64_t *exact;
        double *magnitude;
    } here, there; /* the other results of a reference, by the CPU and by a device */
    int threads;
    const struct gemm_offload *offload; /* NULL: there is no device */
    const struct progress *progress;
};

/* --- the methods ------------------------------------------------------------------ */

/* Compute rows x n results into t->got.  *counts has the number of settled results. */
typedef enum bitcut_status method(struct task *t, size_t rows, unsigned layers,
                                  struct exact_counts *counts, struct fault *f);

static enum bitcut_status by_layers(struct task *t, size_t rows, unsigned layers,
                                    struct exact_counts *counts, struct fault *f)
{
    const struct exact_options o = { .layers = layers,
                                     .threads = t->threads,
                                     .progress = t->progress };
    return exact_gemm(t->got, NULL, NULL, counts, &o, rows, t->n, t->n, t->a.at, t->b.at,
                      f);
}

static enum bitcut_status reference(struct task *t, const struct whole *to,
                                    const struct exact_sums *sums,
                                    struct exact_counts *counts, struct fault *f)
{
    const struct exact_options o = { .threads = t->threads,
                                     .progress = t->progress,
                                     .sums = sums };
    return exact_gemm(t->got, to->exact, to->magnitude, counts, &o, t->n, t->n, t->n,
                      t->a.at, t->b.at, f);
}

static enum bitcut_status by_reference(struct task *t, size_t rows, unsigned layers,
                                       struct exact_counts *counts, struct fault *f)
{
    (void)rows, (void)layers;
    return reference(t, &t->here, NULL, counts, f);
}

static enum bitcut_status by_device(struct task *t, size_t rows, unsigned layers,
                                    struct exact_counts *counts, struct fault *f)
{
    (void)rows, (void)layers;
    return reference(t, &t->there, offload_sums(t->offload), counts, f);
}

static enum bitcut_status by_fma_loop(struct task *t, size_t rows, unsigned layers,
                                      struct exact_counts *counts, struct fault *f)
{
    struct oracle *o = malloc(sizeof *o);
    uint32_t *column = memory_allocate(t->n, sizeof *column);
    enum bitcut_status status = BITCUT_OK;
    (void)layers;
    if (!o || !column) status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    if (status == BITCUT_OK) oracle_init(o);
    for (size_t j = 0; status == BITCUT_OK && j < t->n; j++) {
        if (progress_stopped(t->progress)) break;
        for (size_t k = 0; k < t->n; k++) column[k] = t->b.at[k * t->n + j];
        for (size_t i = 0; i < rows; i++)
            t->got[i * t->n + j] = (uint32_t)oracle_fma_loop(
                o, &formats[FORMAT_F32], t->n, t->a.at + i * t->n, column);
    }
    if (status == BITCUT_OK) oracle_clear(o);
    *counts = (struct exact_counts){ .unsettled = { 0 } };
    free(column);
    free(o);
    return status;
}

struct bench {
    const char *name, *what;
    method *run;
    unsigned layers;
    bool slow;   /* one thread and few rows suffice */
    bool device; /* on the device of --device       */
};

static const struct bench benches[] = {
    /* clang-format off */
    { "mpfr-fma",  "MPFR fma loop, 600 bits, one thread: the baseline",  by_fma_loop,  0,                  true,  false },
    { "mpfr",      "mpfr_sum of exact products",                         by_layers,    1u << LAYER_MPFR,   true,  false },
    { "bins",      "exact integer bins",                                 by_layers,    1u << LAYER_BINS,   false, false },
    { "dot2",      "compensated sums; some results stay unsettled",      by_layers,    1u << LAYER_DOT2,   false, false },
    { "double",    "binary64 sums; some results stay unsettled",         by_layers,    1u << LAYER_DOUBLE, false, false },
    { "cascade",   "double, dot2, then bins",                            by_layers,    0,                  false, false },
    { "reference", "the same with binary64 results and |A||B|",          by_reference, 0,                  false, false },
    { "device",    "the same with the sums of the device",               by_device,    0,                  false, true  },
    { 0 }
    /* clang-format on */
};

/* --- verify, then time ------------------------------------------------------------ */

static bool is_same(const struct whole *a, const struct whole *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a->exact[i] != b->exact[i] ||
            (a->magnitude[i] != b->magnitude[i] &&
             !(isnan(a->magnitude[i]) && isnan(b->magnitude[i]))))
            return false;
    return true;
}

/* Whether every result equals that of the bins, except as many NaNs as were not settled;
   for a device, whether its remaining results equal those of the method before it. */
static bool verified(const struct task *t, const struct bench *b, size_t rows,
                     const struct exact_counts *counts)
{
    uint64_t missing = 0;
    if (b->device && !is_same(&t->here, &t->there, t->n * t->n)) return false;
    for (size_t i = 0; i < rows * t->n; i++) {
        if (t->got[i] == t->want[i]) continue;
        if (t->got[i] != format_nan(&formats[FORMAT_F32])) return false;
        missing++;
    }
    return missing <= counts->unsettled[EXACT_F32];
}

/* The best of a few runs, in seconds, after one that is verified. */
static enum bitcut_status time_method(double *seconds, struct task *t,
                                      const struct bench *b, size_t rows,
                                      struct exact_counts *counts, struct fault *f)
{
    enum bitcut_status status = b->run(t, rows, b->layers, counts, f);
    if (progress_stopped(t->progress)) return fault_set(f, BITCUT_UNSUPPORTED, "stopped");
    if (status == BITCUT_OK && !verified(t, b, rows, counts))
        status = fault_set(f, BITCUT_UNSUPPORTED, "%s gives a wrong result", b->name);
    for (int i = 0; status == BITCUT_OK && i < (b->slow ? 1 : REPEATS); i++) {
        const double start = seconds_now();
        status = b->run(t, rows, b->layers, counts, f);
        const double taken = seconds_now() - start;
        if (i == 0 || taken < *seconds) *seconds = taken;
    }
    if (progress_stopped(t->progress)) return fault_set(f, BITCUT_UNSUPPORTED, "stopped");
    return status;
}

static json_t *describe(const struct bench *b, size_t n, size_t rows, double rate,
                        double peer, const struct exact_counts *counts, int threads)
{
    json_t *row =
        json_pack("{s:s, s:I, s:i, s:I, s:f, s:f}", "method", b->name, "n", (json_int_t)n,
                  "threads", threads, "results", (json_int_t)(rows * n),
                  "products_per_second", rate, "ratio", rate / peer);
    for (int i = 0; i < LAYERS; i++)
        json_object_set_new(row, exact_layers[i].name,
                            json_integer((json_int_t)counts->settled[EXACT_F32][i]));
    json_object_set_new(row, "unsettled",
                        json_integer((json_int_t)counts->unsettled[EXACT_F32]));
    json_object_set_new(row, "what", json_string(b->what));
    return row;
}

static int run_benches(struct context *x, struct task *t)
{
    const int threads = threads_for(t->threads, SIZE_MAX);
    double peer = 0, dgemm;
    struct fault f;
    struct exact_counts counts;
    struct blas blas;
    if (by_layers(t, t->n, 1u << LAYER_BINS, &counts, &f) != BITCUT_OK)
        return fail("bins", &f);
    memcpy(t->want, t->got, t->n * t->n * sizeof *t->want);
    blas_open(&blas);
    int status = blas_rate(&dgemm, &blas, BLAS_DOUBLE, t->n, t->a.at, t->b.at, threads,
                           &f) == BITCUT_OK
                     ? EXIT_GOOD
                     : fail("bench", &f);
    for (const struct bench *b = benches; b->name && status == EXIT_GOOD; b++) {
        if (b->device && !t->offload) continue;
        const size_t few = PEER_PRODUCTS / (t->n * t->n) + 1;
        const size_t rows = b->slow && few < t->n ? few : t->n;
        double seconds = 0;
        if (time_method(&seconds, t, b, rows, &counts, &f) != BITCUT_OK) {
            status = fail(b->name, &f);
            break;
        }
        const double rate = (double)rows * (double)t->n * (double)t->n / seconds;
        if (peer == 0) peer = rate;
        json_t *row = describe(b, t->n, rows, rate, peer, &counts, threads);
        blas_describe(row, &blas, rate, dgemm);
        emit_row(&x->emitter, row);
    }
    blas_close(&blas);
    return status;
}

/* --- memory ----------------------------------------------------------------------- */

static bool whole_init(struct whole *w, size_t n)
{
    w->exact = memory_allocate(n * n, sizeof *w->exact);
    w->magnitude = memory_allocate(n * n, sizeof *w->magnitude);
    return w->exact && w->magnitude;
}

static void whole_clear(struct whole *w)
{
    free(w->exact);
    free(w->magnitude);
}

/* Returns false if memory runs out. */
static bool results_init(struct task *t)
{
    t->want = memory_allocate(t->n * t->n, sizeof *t->want);
    t->got = memory_allocate(t->n * t->n, sizeof *t->got);
    const bool there = !t->offload || whole_init(&t->there, t->n);
    return whole_init(&t->here, t->n) && there && t->want && t->got;
}

static void task_clear(struct task *t)
{
    whole_clear(&t->here);
    whole_clear(&t->there);
    free(t->want);
    free(t->got);
    matrix_clear(&t->a);
    matrix_clear(&t->b);
}

int bench_exact(struct context *x, size_t n, const struct input *input)
{
    struct fault f;
    struct task t = { .n = n,
                      .threads = x->threads,
                      .progress = &x->progress,
                      .offload = x->offload };
    if (x->offload && !offload_sums(x->offload))
        return complain("--device",
                        "names a device whose module does not compute exact sums");
    enum bitcut_status status =
        source_generate(&t.a, input, INPUT_A, n, n, x->seed, x->threads, &f);
    if (status == BITCUT_OK)
        status = source_generate(&t.b, input, INPUT_B, n, n, x->seed, x->threads, &f);
    if (status == BITCUT_OK && !results_init(&t))
        status = fault_set(&f, BITCUT_NO_MEMORY, "not enough memory");
    const int exit_status = status == BITCUT_OK ? run_benches(x, &t) : fail("bench", &f);
    task_clear(&t);
    return exit_status;
}
