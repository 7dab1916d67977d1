/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/sampling.h"

#include "analysis/accuracy/metric_element.h"
#include "analysis/fp64/scheme_bound.h"
#include "lib/base/size.h"
#include "lib/base/stats.h"
#include "lib/base/threads.h"
#include "lib/number/bits.h"
#include "lib/number/elementary.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>

/* --- runs ------------------------------------------------------------------------- */

enum bitcut_status
runs_do(size_t count,
        enum bitcut_status (*one)(void *context, size_t run, struct fault *f),
        void *context, int threads, const struct progress *progress, struct fault *f)
{
    enum bitcut_status first = BITCUT_OK;
    size_t done = 0;
    (void)threads;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads_for(threads, count))
    for (size_t run = 0; run < count; run++) {
        struct fault own;
        if (progress_stopped(progress)) continue;
        const enum bitcut_status status = one(context, run, &own);
#pragma omp critical(runs)
        {
            if (status != BITCUT_OK && first == BITCUT_OK) {
                first = status;
                if (f) *f = own;
            }
            progress_report(progress, ++done, count);
        }
    }
    if (first == BITCUT_OK && progress_stopped(progress))
        return fault_set(f, BITCUT_UNSUPPORTED, "stopped");
    return first;
}

/* The row of a run among `rows`: the fractions of run times the golden ratio are spread
   evenly over [0, 1) for any number of runs (Knuth, TAOCP 3, section 6.4, theorem S). */
static size_t row_of_run(uint64_t run, size_t rows)
{
    const uint64_t fraction = run * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)((unsigned __int128)fraction * rows >> 64);
}

/* The GEMM of a run; a group of k without k has no errors. */
static size_t gemm_of_run(const struct bitcut_gemm *all, uint64_t run)
{
    const size_t rows = gemm_first_row(all, all->count),
                 first = gemm_of_row(all, row_of_run(run, rows));
    size_t i = first;
    while (gemm_groups_k(all) && !gemm_nth(all, i).k)
        if ((i = (i + 1) % all->count) == first) break;
    return i;
}

static enum bitcut_status draw(struct gemm_data *to, const struct shuffled_source *s,
                               size_t rows, size_t cols, uint64_t run, bool ordered,
                               struct fault *f)
{
    struct gemm_data one;
    if (!s->batch)
        return gemm_data_shuffle(to, s->data, rows, cols, s->seed, run + 1, ordered, f);
    enum bitcut_status status =
        gemm_data_take(&one, s->batch, gemm_of_run(s->batch, run), 1, f);
    if (status != BITCUT_OK) return status;
    status = gemm_data_shuffle(to, &one, rows, cols, s->seed, run + 1, ordered, f);
    gemm_data_clear(&one);
    return status;
}

static enum bitcut_status shuffle(struct gemm_data *to, const void *context, size_t rows,
                                  size_t cols, uint64_t run, struct fault *f)
{
    return draw(to, context, rows, cols, run, false, f);
}

static enum bitcut_status pick(struct gemm_data *to, const void *context, size_t rows,
                               size_t cols, uint64_t run, struct fault *f)
{
    return draw(to, context, rows, cols, run, true, f);
}

struct run_source shuffled_runs(const struct shuffled_source *from)
{
    return (struct run_source){ .make = shuffle, .as_is = pick, .context = from };
}

static enum bitcut_status shuffle64(struct dense *to, const void *context, size_t rows,
                                    size_t cols, uint64_t run, struct fault *f)
{
    const struct shuffled_source64 *const s = context;
    return dense_shuffle(to, s->data, rows, cols, s->seed, run + 1, false, f);
}

static enum bitcut_status pick64(struct dense *to, const void *context, size_t rows,
                                 size_t cols, uint64_t run, struct fault *f)
{
    const struct shuffled_source64 *const s = context;
    return dense_shuffle(to, s->data, rows, cols, s->seed, run + 1, true, f);
}

struct run_source shuffled_runs64(const struct shuffled_source64 *from)
{
    return (struct run_source){ .make64 = shuffle64, .as_is64 = pick64, .context = from };
}

void sample_run_clear(struct sample_run *r)
{
    judge_clear(&r->j);
    gemm_data_clear(&r->data);
    dense_clear(&r->dense);
    free(r->other32);
    free(r->other64);
    free(r->allowance);
    free(r->own_allowance);
    free(r->d);
}

/* Largest possible underflow, as the allowance if every element were below every limit.
 */
static double most_of_any(const double *any, const struct comparison *x)
{
    double most = 0;
    for (size_t i = 0; i < x->m * x->n; i++)
        if (x->magnitude[i] > 0 && isfinite(x->magnitude[i]))
            most = larger_double(most, any[i] / x->magnitude[i]);
    return most * 0x1p24;
}

/* Where parts may overflow there is no bound, and therefore no allowance. */
enum bitcut_status sample_run_allow(struct sample_run *r, const struct bitcut_gemm *g,
                                    const struct bound_apriori *b, struct fault *f)
{
    const struct comparison *const x = &r->j.comparison;
    struct bound_apriori any = *b;
    struct hostfp mode;
    any.relative = 0;
    any.from = any.normal = INFINITY;
    enum bitcut_status status =
        x->extra ? bound_rest(r->allowance, &any, g, x, f)
                 : bound_apriori_limits(r->allowance, &any, gemm_equilibrates(g), x, f);
    if (status != BITCUT_OK) return status;
    hostfp_enter(&mode);
    r->any = most_of_any(r->allowance, x);
    hostfp_leave(&mode);
    status = bound_rest(r->allowance, b, g, x, f);
    r->bounded = status == BITCUT_OK;
    for (size_t i = 0; i < x->m * x->n && r->bounded; i++)
        r->bounded = isfinite(r->allowance[i]);
    for (size_t i = 0; i < x->m * x->n && !r->bounded; i++) r->allowance[i] = 0;
    return status;
}

/* Element i of A and of B, also if it is not finite. */
static double element_a(const struct comparison *x, size_t i)
{
    return x->is_f64 ? x->a64[i] : value_of_float(x->a[i]);
}

static double element_b(const struct comparison *x, size_t i)
{
    return x->is_f64 ? x->b64[i] : value_of_float(x->b[i]);
}

/* For output i n + j; infinite if it has no product. */
static double terms_at(const struct comparison *x, size_t i, size_t j)
{
    double sum = 0, squares = 0;
    for (size_t p = 0; p < x->k; p++) {
        const double size =
            fabs(element_a(x, i * x->k + p)) * fabs(element_b(x, p * x->n + j));
        sum += size;
        squares += size * size;
    }
    return squares > 0 && isfinite(sum) ? sum * (sum / squares) : (double)INFINITY;
}

/* The same for the norm of all magnitudes of outputs. */
static double lead_of_outputs(const struct comparison *x)
{
    double sum = 0, squares = 0, most = 0;
    for (size_t i = 0; i < x->m * x->n; i++)
        if (isfinite(x->magnitude[i])) most = larger_double(most, x->magnitude[i]);
    for (size_t i = 0; i < x->m * x->n && most > 0; i++) {
        const double part = isfinite(x->magnitude[i]) ? x->magnitude[i] / most : 0;
        sum += part * part;
        squares += part * part * part * part;
    }
    return squares > 0 ? sum * (sum / squares) : (double)INFINITY;
}

static double value_at32(const void *x, size_t i)
{
    return value_of_float(((const uint32_t *)x)[i]);
}
static double value_at64(const void *x, size_t i) { return ((const double *)x)[i]; }

/* The number of equal elements whose norm would vary as much. */
static double lead_of(const void *x, size_t count, double (*at)(const void *, size_t))
{
    double sum = 0, squares = 0, most = 0;
    for (size_t i = 0; i < count; i++) most = larger_double(most, fabs(at(x, i)));
    for (size_t i = 0; i < count && most > 0; i++) {
        const double part = at(x, i) / most;
        sum += part * part;
        squares += part * part * part * part;
    }
    return squares > 0 ? sum * (sum / squares) : (double)INFINITY;
}

static double lead_of_matrix(const struct matrix *x)
{
    return lead_of(x->at, x->rows * x->cols, value_at32);
}

static double least_lead(const struct gemm_data *p, const struct comparison *x)
{
    struct hostfp mode;
    hostfp_enter(&mode);
    const double a = x->is_f64 ? lead_of(x->a64, x->m * x->k, value_at64)
                               : lead_of_matrix(&p->a),
                 b = x->is_f64 ? lead_of(x->b64, x->k * x->n, value_at64)
                               : lead_of_matrix(&p->b),
                 d = x->extra ? lead_of_outputs(x) : (double)INFINITY;
    hostfp_leave(&mode);
    return fmin(a, fmin(b, d));
}

static double least_terms(const struct comparison *x)
{
    double least = INFINITY;
    struct hostfp mode;
    hostfp_enter(&mode);
    for (size_t i = 0; i < x->m; i++)
        for (size_t j = 0; j < x->n; j++) {
            const double terms = terms_at(x, i, j);
            if (terms < least) least = terms;
        }
    hostfp_leave(&mode);
    return least;
}

enum bitcut_status runs_plan64(struct bitcut_gemm *g, bool any_order, int threads,
                               struct fault *f)
{
    const double products = (double)g->m * (double)g->n * (double)g->k, most = 0x1p26;
    struct fp64_choice by;
    if (!fp64_samples_lines(g->scheme) && products > most)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s reads all rows and columns before it computes an output, so "
                         "that runs cannot be sampled; m n k must be at most 2^26",
                         g->scheme->name);
    if (any_order && !g->order.slices) g->order.slices = 1;
    const enum bitcut_status status = fp64_settle(&by, g, threads, f);
    if (status == BITCUT_OK && by.slices > 1) g->order.slices = (int)by.slices;
    return status;
}

/* The largest bound of an output, in u |A||B|. */
static enum bitcut_status find_bound64(struct sample_run *r, const struct bitcut_gemm *g,
                                       const struct gemm_options *options,
                                       struct fault *f)
{
    const struct comparison *const x = &r->j.comparison;
    struct fp64_choice by;
    r->bound = INFINITY;
    enum bitcut_status status = fp64_settle(&by, g, options->threads, f);
    if (status != BITCUT_OK) return status;
    if (by.slices > 1 && g->scheme->part != &formats[FORMAT_F64])
        return BITCUT_OK; /* each slice of k has other scales */
    double *const limit = memory_allocate(x->m * x->n, sizeof *limit);
    if (!limit) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the bounds");
    struct fp64_job job = fp64_job_of(g, &by, options);
    dense_set_job(&job, &r->dense);
    status = scheme_bound(limit, &job, x->magnitude, f);
    if (status == BITCUT_OK) r->bound = 0;
    for (size_t i = 0; i < x->m * x->n && status == BITCUT_OK; i++)
        if (x->magnitude[i] > 0)
            r->bound = larger_double(r->bound, limit[i] / x->magnitude[i] * 0x1p53);
    free(limit);
    return status;
}

/* The run of an FP64 GEMM: nothing underflows, and |A||B| has all of the limit. */
static enum bitcut_status prepare64(struct sample_run *to,
                                    const struct run_source *source,
                                    const struct bitcut_gemm *g, size_t rows, size_t cols,
                                    uint64_t run, struct fault *f)
{
    const struct gemm_options options = { .threads = 1 };
    struct sample_run r = { .allowance = calloc(rows * cols, sizeof *r.allowance),
                            .bounded = true };
    struct bitcut_gemm one = *g;
    enum bitcut_status status =
        r.allowance ? source->make64(&r.dense, source->context, rows, cols, run, f)
                    : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the results");
    if (status == BITCUT_OK) {
        dense_set(&one, &r.dense);
        status = dense_judge(&r.j, &r.dense, &one, &references[0], &options, f);
    }
    if (status == BITCUT_OK) status = find_bound64(&r, &one, &options, f);
    r.x = r.j.comparison;
    if (status == BITCUT_OK)
        r.terms = least_terms(&r.x), r.lead = least_lead(&r.data, &r.x), *to = r;
    else sample_run_clear(&r);
    return status;
}

enum bitcut_status sample_run_prepare(struct sample_run *to,
                                      const struct run_source *source,
                                      const struct bitcut_gemm *g,
                                      const struct bound_apriori *b, size_t rows,
                                      size_t cols, uint64_t run, struct fault *f)
{
    if (g->scheme) return prepare64(to, source, g, rows, cols, run, f);
    struct sample_run r = {
        .allowance = b ? memory_allocate(rows * cols, sizeof *r.allowance) : NULL,
        .d = memory_allocate(rows * cols, sizeof *r.d)
    };
    enum bitcut_status status =
        r.d && (!b || r.allowance)
            ? source->make(&r.data, source->context, rows, cols, run, f)
            : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the results");
    if (status == BITCUT_OK)
        status =
            gemm_data_judge(&r.j, &r.data, g, &(struct gemm_options){ .threads = 1 }, f);
    if (status == BITCUT_OK && b) status = sample_run_allow(&r, g, b, f);
    r.x = r.j.comparison;
    r.x.d = r.d;
    if (status == BITCUT_OK && b)
        r.terms = least_terms(&r.x), r.lead = least_lead(&r.data, &r.x);
    if (status == BITCUT_OK) *to = r;
    else sample_run_clear(&r);
    return status;
}

enum bitcut_status sample_run_make(struct sample_run *to, const struct run_source *source,
                                   const struct bitcut_gemm *g,
                                   const struct bound_apriori *b, size_t rows,
                                   size_t cols, uint64_t run, struct fault *f)
{
    struct sample_run r;
    enum bitcut_status status = sample_run_prepare(&r, source, g, b, rows, cols, run, f);
    if (status != BITCUT_OK) return status;
    status = sample_run_compute(&r, g, f);
    if (status == BITCUT_OK) *to = r;
    else sample_run_clear(&r);
    return status;
}

static enum bitcut_status compute64(const struct sample_run *r,
                                    const struct bitcut_gemm *g, struct fault *f)
{
    const struct gemm_options options = { .threads = 1 };
    struct bitcut_gemm one = *g;
    dense_set(&one, &r->dense);
    return fp64_gemm_run(NULL, &one, &options, f);
}

enum bitcut_status sample_run_compute(struct sample_run *r, const struct bitcut_gemm *g,
                                      struct fault *f)
{
    if (g->scheme) return compute64(r, g, f);
    return gemm_data_run(r->d, &r->data, g, f);
}

enum bitcut_status sample_run_unrounded(struct sample_run *r, const struct bitcut_gemm *g,
                                        struct fault *f)
{
    if (g->scheme) return compute64(r, g, f);
    return gemm_data_run_unrounded(r->d, &r->data, g, f);
}

double sample_run_rest(const struct sample_run *r)
{
    const struct comparison *const x = &r->x;
    double most = -INFINITY;
    for (size_t i = 0; i < x->m * x->n; i++) {
        const double error = metric_unrounded(x, i),
                     size = x->magnitude[i] * unit_of_result(x);
        if (isinf(error)) return INFINITY;
        if (size > 0 && isfinite(size))
            most = larger_double(most, (error - r->allowance[i]) / size);
    }
    return isinf(most) ? 0 : most;
}

double sample_run_norm_rest(const struct sample_run *r)
{
    struct comparison x = r->x;
    x.limit = r->allowance;
    x.format = NULL;
    const double rest = metrics[METRIC_NORMWISE_LIMIT].value(&x, 1);
    return normwise_unrounded(&r->x) - (isfinite(rest) ? rest : 0);
}

enum bitcut_status sample_run_against_d(struct sample_run *r, struct fault *f)
{
    const size_t count = r->x.m * r->x.n;
    r->other32 = memory_allocate(count, sizeof *r->other32);
    r->other64 = memory_allocate(count, sizeof *r->other64);
    if (!r->other32 || !r->other64)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the results");
    for (size_t i = 0; i < count; i++) {
        r->other32[i] = r->d[i];
        r->other64[i] = bitcut_format_convert(&formats[FORMAT_F64], &roundings[ROUND_RN],
                                              &formats[FORMAT_F32], r->d[i]);
        r->allowance[i] *= 2;
    }
    r->x.reference32 = r->other32;
    r->x.reference64 = r->other64;
    r->x.other = true;
    return BITCUT_OK;
}

/* --- groups of outputs ------------------------------------------------------------ */

double group_maxima(double *square, size_t groups, const struct comparison *x, bool even)
{
    const size_t count = x->m * x->n, each = count / groups;
    double most = 0;
    for (size_t g = 0; g < groups; g++) square[g] = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t g = even ? i * groups / count : smaller(i / each, groups - 1);
        const double error = backward_at(x, i);
        most = larger_double(most, error);
        square[g] = larger_double(square[g], error * error);
    }
    return most;
}

double share_above(double count, double probability)
{
    return 1 - elementary_exp(elementary_log(probability) / count);
}

/* --- tails ------------------------------------------------------------------------ */

/* Standard deviation / mean of the excess. */
static double variation_of(const struct tail *t)
{
    double squares = 0;
    for (size_t i = t->count - t->above; i < t->count; i++) {
        const double off = t->x[i] - t->threshold - t->excess;
        squares += off * off;
    }
    return t->excess > 0 ? sqrt(squares / (double)t->above) / t->excess : 0;
}

void tail_fit(struct tail *t, double *x, size_t count)
{
    const size_t above = count / 2;
    struct hostfp mode;
    hostfp_enter(&mode);
    doubles_sort(x, count);
    *t = (struct tail){ .x = x, .count = count, .above = above, .threshold = -INFINITY };
    if (above) t->threshold = x[count - 1 - above];
    for (size_t i = count - above; i < count; i++) t->excess += x[i] - t->threshold;
    if (above) t->excess /= (double)above;
    t->variation = variation_of(t);
    hostfp_leave(&mode);
}

/* Logarithm of the ratio between the upper half and the numbers that may exceed the
   limit. */
static double log_fewer(const struct tail *t, double p)
{
    return elementary_log((double)(t->above + 1) / ((double)(t->count + 1) * p));
}

static double level(const struct tail *t, double times)
{
    if (!t->above || !isfinite(t->excess)) return INFINITY;
    return t->threshold + t->excess * larger_double(0, times);
}

double tail_limit(const struct tail *t, double p)
{
    struct hostfp mode;
    if (!t->above) return INFINITY;
    hostfp_enter(&mode);
    const double r = (double)t->above,
                 x = level(t, r * (elementary_exp(log_fewer(t, p) / r) - 1));
    hostfp_leave(&mode);
    return x;
}

bool tail_is_light(const struct tail *t)
{
    return !t->above || t->variation <= 1 + 1.75 / sqrt((double)t->above);
}

double tail_guess(const struct tail *t, double p)
{
    struct hostfp mode;
    double x = INFINITY;
    if (!t->above) return x;
    hostfp_enter(&mode);
    const double over = (double)t->count * p;
    if (over >= (double)t->above)
        x = t->x[t->count - 1 - smaller((size_t)over, t->count - 1)];
    else x = level(t, log_fewer(t, p));
    hostfp_leave(&mode);
    return x;
}
