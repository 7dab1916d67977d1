/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/fp64/scheme_advice.h"

#include "analysis/accuracy/judge.h"
#include "analysis/fp64/fp64_answer.h"
#include "analysis/fp64/scheme_bound.h"
#include "lib/base/size.h"
#include "lib/number/bits.h"
#include "lib/number/elementary.h"
#include "lib/number/hostfp.h"
#include "lib/number/rand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STREAM_ROWS = 24, STREAM_COLUMNS = 25, OUTPUTS = SCHEME_SAMPLE * SCHEME_SAMPLE };

/* Rows of A and columns of B, both as lines and B also row-major, with their exact
   products. */
struct sample {
    size_t m, n, k;
    double *a, *b, *b_lines;
    double d[OUTPUTS], limit[OUTPUTS];
    struct judge judge;
    bool judged;
};

/* --- samples ---------------------------------------------------------------------- */

/* Element p of a line. */
struct lines {
    const double *at;
    size_t count, k, between, step; /* of lines, and of elements of a line */
};

static double largeness(const struct lines *x, size_t line)
{
    double sum = 0;
    for (size_t p = 0; p < x->k; p++) sum += fabs(x->at[line * x->between + p * x->step]);
    return sum;
}

static double spread(const struct lines *x, size_t line)
{
    int least = INT32_MAX, most = INT32_MIN;
    for (size_t p = 0; p < x->k; p++) {
        const double value = x->at[line * x->between + p * x->step];
        if (value == 0) continue;
        least = smaller_int(least, ilogb(value));
        most = larger_int(most, ilogb(value));
    }
    return least > most ? 0 : most - least;
}

static void swap(size_t *order, size_t i, size_t j)
{
    const size_t t = order[i];
    order[i] = order[j];
    order[j] = t;
}

/* Bring the line with the largest value, from `first` on, to that place. */
static void bring_first(size_t *order, const struct lines *x, size_t first,
                        double (*value)(const struct lines *x, size_t line))
{
    size_t most = first;
    double largest = -1;
    for (size_t i = first; i < x->count; i++) {
        const double v = value(x, order[i]);
        if (!(v > largest)) continue;
        largest = v;
        most = i;
    }
    if (first < x->count) swap(order, first, most);
}

/* A random order of the lines, in which the largest line is the first, and the line whose
   exponents spread most is the second. */
static size_t *order_of(const struct lines *x, uint64_t seed, uint64_t stream)
{
    struct rng random = rng_start(seed, stream);
    size_t *const order = memory_allocate(x->count, sizeof *order);
    if (!order) return NULL;
    for (size_t i = 0; i < x->count; i++) order[i] = i;
    for (size_t i = x->count; i-- > 1;)
        swap(order, i, (size_t)rand_below(rng_bits(&random), i + 1));
    bring_first(order, x, 0, largeness);
    bring_first(order, x, 1, spread);
    return order;
}

/* Line i of the first or of the second sample: the second has the first line, and then
   the last ones. */
static size_t line_of(const size_t *order, size_t count, size_t i, bool second)
{
    return order[second && i ? count - i : i];
}

static void clear(struct sample *s)
{
    if (s->judged) judge_clear(&s->judge);
    free(s->a);
    free(s->b);
    free(s->b_lines);
}

static enum bitcut_status draw(struct sample *s, const struct scheme_problem *p,
                               const size_t *rows, const size_t *cols, bool second,
                               struct fault *f)
{
    const struct gemm_options options = { .threads = p->threads,
                                          .progress = p->progress };
    *s = (struct sample){ .m = smaller(SCHEME_SAMPLE, p->m),
                          .n = smaller(SCHEME_SAMPLE, p->n),
                          .k = p->k };
    s->a = memory_allocate(p->k, s->m * sizeof *s->a);
    s->b = memory_allocate(p->k, s->n * sizeof *s->b);
    s->b_lines = memory_allocate(p->k, s->n * sizeof *s->b_lines);
    if (!s->a || !s->b || !s->b_lines)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a sample");
    for (size_t i = 0; i < s->m; i++)
        memcpy(s->a + i * p->k, p->a + line_of(rows, p->m, i, second) * p->k,
               p->k * sizeof *s->a);
    for (size_t at = 0; at < p->k; at++)
        for (size_t j = 0; j < s->n; j++)
            s->b[at * s->n + j] = s->b_lines[j * p->k + at] =
                p->b[at * p->n + line_of(cols, p->n, j, second)];
    const struct matrices64 g = { s->m, s->n, s->k, s->a, s->b, NULL, s->d, 1, 0 };
    const enum bitcut_status status =
        judge64_init(&s->judge, table_find(TABLE(references), "exact"), &g, &options, f);
    s->judged = status == BITCUT_OK;
    return status;
}

/* --- errors ----------------------------------------------------------------------- */

static double error_of(struct sample *s, const double *d, int metric)
{
    double values[METRICS];
    s->judge.comparison.d64 = d;
    metrics_find(values, &s->judge.comparison, 1u << metric, 1);
    return isnan(values[metric]) ? (double)INFINITY : values[metric];
}

static struct fp64_job job_of(struct sample *s, const struct scheme_trial *t,
                              const struct gemm_options *options)
{
    return (struct fp64_job){ .scheme = t->scheme,
                              .unit = t->unit,
                              .parts = t->parts,
                              .m = s->m,
                              .n = s->n,
                              .k = s->k,
                              .alpha = 1,
                              .a = s->a,
                              .b = s->b_lines,
                              .d = s->d,
                              .options = options };
}

static enum bitcut_status measure(double *error, struct sample *s,
                                  const struct scheme_trial *t,
                                  const struct scheme_problem *p, struct fault *f)
{
    const struct gemm_options options = { .threads = p->threads,
                                          .progress = p->progress };
    const struct fp64_job job = job_of(s, t, &options);
    const enum bitcut_status status =
        progress_end(job.scheme->run(&job, f), p->progress, f);
    if (status == BITCUT_OK) *error = error_of(s, s->d, p->metric);
    return status;
}

/* The metric of D that differ from the exact results by as much as the limits. */
static double metric_of_limits(const struct sample *s, int metric)
{
    const struct comparison *const x = &s->judge.comparison;
    double most = 0, limits = 0, values = 0;
    for (size_t i = 0; i < s->m * s->n; i++) {
        const double value = double_of_bits(x->reference64[i]);
        most = fmax(most, s->limit[i] / x->magnitude[i] * 0x1p53);
        limits += s->limit[i] * s->limit[i];
        values += value * value;
    }
    return metric == METRIC_BACKWARD_MAX ? most : sqrt(limits / values);
}

static enum bitcut_status find_bound(double *bound, struct sample *s,
                                     const struct scheme_trial *t,
                                     const struct scheme_problem *p, struct fault *f)
{
    const struct gemm_options options = { .threads = p->threads };
    const struct fp64_job job = job_of(s, t, &options);
    struct hostfp saved;
    const enum bitcut_status status =
        scheme_bound(s->limit, &job, s->judge.comparison.magnitude, f);
    if (status != BITCUT_OK) return status;
    hostfp_enter(&saved);
    const double found = metric_of_limits(s, p->metric);
    hostfp_leave(&saved);
    *bound = fmax(*bound, isnan(found) ? INFINITY : found);
    return status;
}

/* FP32 multiply-adds, of elements rounded to FP32. */
static enum bitcut_status measure_f32(double *error, struct sample *s,
                                      const struct scheme_problem *p, struct fault *f)
{
    const struct gemm_options options = { .threads = p->threads,
                                          .progress = p->progress };
    struct bitcut_gemm g =
        gemm_of(&recipes[RECIPE_FP32], unit_find("fma/f32", &formats[FORMAT_F32]));
    uint32_t d[OUTPUTS];
    uint32_t *const a = memory_allocate(s->k, s->m * sizeof *a),
                    *const b = memory_allocate(s->k, s->n * sizeof *b);
    enum bitcut_status status = BITCUT_NO_MEMORY;
    if (a && b) {
        for (size_t i = 0; i < s->m * s->k; i++) a[i] = f32_of_double(s->a[i]);
        for (size_t i = 0; i < s->n * s->k; i++) b[i] = f32_of_double(s->b[i]);
        gemm_set_dense(&g, d, s->m, s->n, s->k, a, b, NULL);
        status = gemm_run(&g, &options, f);
    } else fault_set(f, status, "not enough memory for FP32 matrices");
    for (size_t i = 0; i < s->m * s->n && status == BITCUT_OK; i++)
        s->d[i] = value_of_float(d[i]);
    if (status == BITCUT_OK) *error = error_of(s, s->d, p->metric);
    free(a);
    free(b);
    return status;
}

/* --- trials ----------------------------------------------------------------------- */

/* The work: the two samples and what each has to reach. */
struct work {
    struct scheme_advice *to;
    const struct scheme_problem *of;
    struct sample sample[2];
};

/* Multiply-adds may be exact, by chance or because numbers are short; nobody wants less
   than one rounding of D. */
static double want_of(const struct scheme_problem *p, double dgemm)
{
    return isnan(p->want) ? fmax(dgemm, p->metric == METRIC_RELRES ? 0x1p-53 : 1)
                          : p->want;
}

static enum bitcut_status measure_plain(struct work *w, struct fault *f)
{
    const struct scheme_trial plain = { .scheme = bitcut_scheme_find("fp64"),
                                        .unit =
                                            unit_find("fma/f64", &formats[FORMAT_F64]),
                                        .parts = 1 };
    enum bitcut_status status = BITCUT_OK;
    w->to->f32_suffices = true;
    for (int i = 0; i < 2 && status == BITCUT_OK; i++) {
        status = measure(&w->to->dgemm[i], &w->sample[i], &plain, w->of, f);
        if (status == BITCUT_OK)
            status = measure_f32(&w->to->f32[i], &w->sample[i], w->of, f);
        w->to->want[i] = want_of(w->of, w->to->dgemm[i]);
        w->to->f32_suffices &= w->to->f32[i] <= w->to->want[i];
    }
    return status;
}

/* The fewest parts whose error on the first sample is at most the wanted one, or the
   most. */
static enum bitcut_status bisect(struct scheme_trial *t, struct work *w, struct fault *f)
{
    int low = t->scheme->least, high = t->scheme->most;
    enum bitcut_status status = BITCUT_OK;
    while (low < high && status == BITCUT_OK) {
        t->parts = (low + high) / 2;
        status = measure(&t->error, &w->sample[0], t, w->of, f);
        if (t->error <= w->to->want[0]) high = t->parts;
        else low = t->parts + 1;
    }
    t->parts = high;
    if (status == BITCUT_OK) status = measure(&t->error, &w->sample[0], t, w->of, f);
    return status;
}

/* Check the parts on the second sample; more parts if it needs them. */
static enum bitcut_status check(struct scheme_trial *t, struct work *w, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    while (t->error <= w->to->want[0]) {
        status = measure(&t->checked, &w->sample[1], t, w->of, f);
        if (status != BITCUT_OK || t->checked <= w->to->want[1] ||
            t->parts == t->scheme->most)
            break;
        t->parts++;
        status = measure(&t->error, &w->sample[0], t, w->of, f);
        if (status != BITCUT_OK) break;
    }
    for (int i = 0; i < 2 && status == BITCUT_OK; i++)
        status = find_bound(&t->bound, &w->sample[i], t, w->of, f);
    t->products = fp64_products(t->scheme, t->parts);
    t->cost = t->products * format_bytes(t->scheme->part);
    t->reaches =
        t->error <= w->to->want[0] && t->checked <= w->to->want[1] && isfinite(t->bound);
    return status;
}

/* A scheme whose sums do not fit for this k is not tried, nor one that chooses the number
   of parts. */
static enum bitcut_status try(struct work *w, const struct bitcut_scheme *scheme,
                              const char *target, struct fault *f)
{
    struct scheme_trial *const t = &w->to->trial[w->to->trials];
    *t = (struct scheme_trial){ .scheme = scheme,
                                .unit = fp64_unit_find(scheme, target),
                                .target = target,
                                .checked = NAN };
    if (!t->unit || scheme->part == &formats[FORMAT_F64] || scheme->bits ||
        w->to->trials == SCHEME_TRIALS_MAX - 1)
        return BITCUT_OK;
    enum bitcut_status status = bisect(t, w, f);
    if (status == BITCUT_OK) status = check(t, w, f);
    if (status == BITCUT_BAD_ARGUMENT) return BITCUT_OK;
    if (status != BITCUT_OK) return status;
    w->to->trials++;
    if (t->reaches && (!w->to->choice || t->cost < w->to->choice->cost))
        w->to->choice = t;
    return status;
}

static size_t count_schemes(void)
{
    size_t count = 0;
    while (schemes[count].name) count++;
    return count;
}

static enum bitcut_status try_all(struct work *w, struct fault *f)
{
    const size_t count = count_schemes(), all = count * w->of->targets;
    enum bitcut_status status = measure_plain(w, f);
    for (size_t i = 0; i < all && status == BITCUT_OK; i++) {
        status = try(w, &schemes[i % count], w->of->target[i / count], f);
        progress_report(w->of->progress, i + 1, all);
    }
    return status;
}

enum bitcut_status scheme_advice_find(struct scheme_advice *to,
                                      const struct scheme_problem *p, struct fault *f)
{
    const struct lines of_a = { p->a, p->m, p->k, p->k, 1 },
                       of_b = { p->b, p->n, p->k, 1, p->n };
    struct work *const w = calloc(1, sizeof *w);
    size_t *const rows = order_of(&of_a, p->seed, STREAM_ROWS), *const cols = order_of(
                                                                    &of_b, p->seed,
                                                                    STREAM_COLUMNS);
    enum bitcut_status status = BITCUT_OK;
    if (!w || !rows || !cols)
        status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a sample");
    *to = (struct scheme_advice){ .of = p, .m = p->m, .n = p->n, .k = p->k };
    for (int i = 0; i < 2 && status == BITCUT_OK; i++)
        status = draw(&w->sample[i], p, rows, cols, i, f);
    if (status == BITCUT_OK) {
        w->to = to;
        w->of = p;
        to->outputs = to->checks = w->sample[0].m * w->sample[0].n;
        to->all = p->m <= SCHEME_SAMPLE && p->n <= SCHEME_SAMPLE;
        status = try_all(w, f);
    }
    for (int i = 0; w && i < 2; i++) clear(&w->sample[i]);
    free(w);
    free(rows);
    free(cols);
    return status;
}
