/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/bench_emu.h"

#include "analysis/accuracy/judge.h"
#include "analysis/bench/blas.h"
#include "analysis/evidence/field.h"
#include "emu/fast/fast.h"
#include "emu/gemm.h"
#include "lib/base/clock.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/input/source.h"

#include <stdlib.h>
#include <string.h>

/* Verified outputs take the engine a moment; timed runs are the best of a few. */
enum { VERIFIED_PRODUCTS = 1 << 22, REPEATS = 3, LONG = 1 /* second */ };

enum { LEVELS_MAX = 8 };

struct task {
    struct context *context;
    size_t n;
    struct matrix a, b;
    uint32_t *got, *want;
    struct blas blas;
    double peak[LEVELS_MAX]; /* by level, for one thread; 0: unavailable */
};

/* The number of rows of the product that the engine computes in a moment. */
static size_t few_rows(const struct task *t)
{
    return smaller(VERIFIED_PRODUCTS / (t->n * t->n) + 1, t->n);
}

/* A unit at a level on some number of threads. */
struct tried {
    const struct bitcut_unit *unit;
    struct gemm_options how;
};

static enum bitcut_status run(uint32_t *d, struct task *t, const struct tried *x,
                              size_t rows, struct fault *f)
{
    struct bitcut_gemm g = gemm_of(&recipes[RECIPE_PLAIN], x->unit);
    gemm_set_dense(&g, d, rows, t->n, t->n, t->a.at, t->b.at, NULL);
    return gemm_run(&g, &x->how, f);
}

/* The best of a few runs; if a run takes long, the first. */
static enum bitcut_status time_unit(double *seconds, struct task *t,
                                    const struct tried *x, size_t rows, struct fault *f)
{
    enum bitcut_status status = run(t->got, t, x, few_rows(t), f);
    const size_t verified = few_rows(t) * t->n;
    if (status == BITCUT_OK && memcmp(t->got, t->want, verified * sizeof *t->got) != 0)
        status = fault_set(f, BITCUT_UNSUPPORTED, "%s differs from the reference engine",
                           x->how.simd->name);
    for (int i = 0; status == BITCUT_OK && i < REPEATS; i++) {
        const double start = seconds_now();
        status = run(t->got, t, x, rows, f);
        const double taken = seconds_now() - start;
        if (i == 0 || taken < *seconds) *seconds = taken;
        if (taken > LONG) break;
    }
    return status;
}

/* Vector instructions per second times the floats of a vector, on one thread: the peak
   rate of a level. */
static double time_peak(const struct fast_kernels *k)
{
    enum { ROUNDS = 1 << 21 };
    double best = 0;
    for (int i = 0; i <= REPEATS; i++) {
        float x[FAST_PEAK];
        for (int j = 0; j < FAST_PEAK; j++) x[j] = 1;
        const double start = seconds_now();
        k->peak(x, ROUNDS);
        const double rate = (double)ROUNDS * FAST_PEAK * (k->columns / FAST_QUARTERS) /
                            (seconds_now() - start);
        if (rate > best) best = rate;
    }
    return best;
}

static json_t *describe(const struct task *t, const struct tried *x, size_t rows,
                        double seconds, double peer)
{
    const struct simd_level *simd = x->how.simd;
    const double rate = (double)rows * (double)t->n * (double)t->n / seconds;
    json_t *row =
        json_pack("{s:s, s:s, s:s, s:i, s:I, s:I, s:f}", "unit", x->unit->name,
                  "evidence", unit_evidence(x->unit), "simd", simd->name, "threads",
                  x->how.threads, "n", (json_int_t)t->n, "verified",
                  (json_int_t)(few_rows(t) * t->n), "products_per_second", rate);
    if (simd->kernels) {
        const double instructions = fast_instructions(x->unit);
        json_object_set_new(row, "instructions", json_real(instructions));
        json_object_set_new(
            row, "roofline",
            json_real(t->peak[simd - simd_levels] * x->how.threads / instructions));
    }
    blas_describe(row, &t->blas, rate, peer);
    return row;
}

/* One unit at every level that this processor has, on `threads` threads. */
static int bench_unit(struct task *t, const struct bitcut_unit *u, int threads,
                      double peer)
{
    struct fault f;
    struct tried now = {
        u, { .threads = threads, .simd = simd_levels, .progress = &t->context->progress }
    };
    const struct simd_level *level = simd_levels;
    while (now.how.simd->kernels) now.how.simd++;
    if (run(t->want, t, &now, few_rows(t), &f) != BITCUT_OK) return fail(u->name, &f);
    for (; level->name; level++) {
        const bool fast = level->kernels && fast_takes(u);
        const size_t rows = fast ? t->n : few_rows(t);
        double seconds = 0;
        if (!level->supported() || (level->kernels && !fast)) continue;
        now.how.simd = level;
        if (time_unit(&seconds, t, &now, rows, &f) != BITCUT_OK) return fail(u->name, &f);
        emit_row(&t->context->emitter, describe(t, &now, rows, seconds, peer));
    }
    return EXIT_GOOD;
}

static int bench_units(struct task *t, const struct bitcut_unit *only)
{
    const int most = threads_for(t->context->threads, SIZE_MAX);
    struct fault f;
    for (int i = 0; simd_levels[i].name; i++)
        if (simd_levels[i].kernels && simd_levels[i].supported())
            t->peak[i] = time_peak(simd_levels[i].kernels);
    int status = EXIT_GOOD;
    for (int threads = 1; threads <= most; threads += most > 1 ? most - 1 : 1) {
        double peer;
        if (blas_rate(&peer, &t->blas, BLAS_SINGLE, t->n, t->a.at, t->b.at, threads, &f))
            return fail("bench", &f);
        for (const struct bitcut_unit *u = units; u->name && status == EXIT_GOOD; u++)
            if (only ? u == only : fast_takes(u) && !field_repeats(u))
                status = bench_unit(t, u, threads, peer);
    }
    return status;
}

static enum bitcut_status task_fill(struct task *t, const struct input *input,
                                    struct fault *f)
{
    const struct context *x = t->context;
    enum bitcut_status status =
        source_generate(&t->a, input, INPUT_A, t->n, t->n, x->seed, x->threads, f);
    if (status == BITCUT_OK)
        status =
            source_generate(&t->b, input, INPUT_B, t->n, t->n, x->seed, x->threads, f);
    if (status != BITCUT_OK) return status;
    t->got = memory_allocate(t->n * t->n, sizeof *t->got);
    t->want = memory_allocate(t->n * t->n, sizeof *t->want);
    if (t->got && t->want) return BITCUT_OK;
    return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
}

int bench_emu(struct context *x, size_t n, const struct input *input, const char *unit)
{
    struct fault f;
    struct task t = { .context = x, .n = n };
    const struct bitcut_unit *only = NULL;
    if (unit && !(only = unit_find(unit, &formats[FORMAT_F16])))
        return fail_unit(unit, true);
    const struct bitcut_gemm g = gemm_of(&recipes[RECIPE_PLAIN], only ? only : units);
    struct gemm_plan plan;
    if (gemm_plan_on_unit(&plan, &g, &f) != BITCUT_OK) return fail("--unit", &f);
    blas_open(&t.blas);
    int status = task_fill(&t, input, &f) == BITCUT_OK ? EXIT_GOOD : fail("bench", &f);
    if (status == EXIT_GOOD) status = bench_units(&t, only);
    blas_close(&t.blas);
    free(t.got);
    free(t.want);
    matrix_clear(&t.a);
    matrix_clear(&t.b);
    return status;
}
