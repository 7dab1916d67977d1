/* SPDX-License-Identifier: BSD-3-Clause */
/* Exact attention: binary64 with an error bound, then MPFR (attention_oracle.c). */
#include "analysis/accuracy/attention_exact.h"

#include "analysis/accuracy/attention_oracle.h"
#include "analysis/accuracy/attention_sums.h"
#include "emu/attention/attention_plan.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/gemm/view.h"
#include "lib/number/bits.h"
#include "lib/number/elementary.h"
#include "lib/number/hostfp.h"

#include <stdlib.h>
#include <string.h>

/* u of binary64, and the queries that a thread computes together. */
static const double u = 0x1p-53;
enum { ROWS = 16, RUN = 64, TERMS = 16, AT_A_TIME = 512 };

/* An attention while it runs, and one head of it. */
struct exact_job {
    const struct bitcut_attention *a;
    const struct attention_exact_options *options;
    struct attention_exact_counts counts;
};

struct exact_head {
    struct exact_job *job;
    size_t head;
    const double *q, *kt, *v; /* [query][head_dim], [head_dim][key], [key][value_dim] */
    const double *v_max;    /* [value_dim]: the largest |v|                            */
    const size_t *infinite; /* [key]: keys up to this one with an infinity or NaN      */
    bool finite_v;
    const struct attention_sums *sums;
    struct view o;
};

/* The memory of a thread. */
struct exact_scratch {
    double *score, *size, *weight; /* [key] */
    double *sum, *run;             /* [value_dim] */
};

/* --- binary64 -------------------------------------------------------------------------
 */

/* Scores of a query for keys [from, to), and the sums of the magnitudes of their terms.
   Products of two FP32 values are exact.  TERMS of them are added, and then the sums. */
static void scores(struct exact_scratch *s, const struct exact_head *h, size_t query,
                   size_t from, size_t to)
{
    const size_t dim = h->job->a->head_dim, keys = h->job->a->keys;
    const double *const q = h->q + query * dim;
    double part[AT_A_TIME];
    for (size_t begin = from; begin < to; begin += AT_A_TIME) {
        const size_t count = smaller(AT_A_TIME, to - begin);
        double *const score = s->score + begin, *const size = s->size + begin;
        memset(score, 0, count * sizeof *score);
        memset(size, 0, count * sizeof *size);
        for (size_t p = 0; p < dim; p++) {
            const double *const k = h->kt + p * keys + begin;
            if (p % TERMS == 0) memset(part, 0, count * sizeof *part);
            h->sums->add_scores(part, size, q[p], k, count);
            if (p % TERMS == TERMS - 1 || p + 1 == dim)
                h->sums->add_values(score, 1, part, count);
        }
    }
}

/* Set the weights exp(scale (score - the largest score)) and their sum; return a bound on
   the sum of the errors of all weights, relative to their sum.

   With t the computed exponent, its error is at most scale times the error of the score,
   which is at most (TERMS + head_dim / TERMS) u size (1 + 2^-40), plus 2.01 u |t| for the
   subtraction and the product.  An error d of the exponent, below 2^-10, changes the
   exponential by at most 1.001 d; elementary_exp() adds 1.25 ulp, at most 2.5 u.  The
   absolute error of a result below 2^-1022 is below 2^-1022, and the sum of the weights
   is at least 1: run_query() adds 2^-900.  Infinite: some error d may be larger. */
static double weights(double *total, struct exact_scratch *s, const struct exact_head *h,
                      size_t from, size_t to)
{
    const double scale = value_of_float(h->job->a->scale);
    const double rounds = TERMS + (double)h->job->a->head_dim / TERMS + 1;
    double most = s->score[from], error = 0, largest = 0, run = 0, sum = 0;
    for (size_t j = from; j < to; j++)
        if (s->score[j] > most) most = s->score[j];
    for (size_t j = from; j < to; j++) {
        const double t = scale * (s->score[j] - most);
        const double x =
            1.001 * (rounds * u * scale * s->size[j] + 2.02 * u * fabs(t)) + 2.6 * u;
        s->weight[j] = elementary_exp(t);
        if (s->weight[j] > 0 && x > largest) largest = x;
        error += s->weight[j] * x;
        run += s->weight[j];
        if ((j - from) % RUN == RUN - 1 || j + 1 == to) sum += run, run = 0;
    }
    *total = sum;
    return largest < 0x1p-10 ? 1.01 * error / sum : (double)INFINITY;
}

/* The sums of weight times V for all columns. */
static void add_values(struct exact_scratch *s, const struct exact_head *h, size_t from,
                       size_t to)
{
    const size_t dim = h->job->a->value_dim;
    memset(s->sum, 0, dim * sizeof *s->sum);
    for (size_t begin = from; begin < to; begin += RUN) {
        memset(s->run, 0, dim * sizeof *s->run);
        for (size_t j = begin; j < smaller(begin + RUN, to); j++)
            h->sums->add_values(s->run, s->weight[j], h->v + j * dim, dim);
        for (size_t p = 0; p < dim; p++) s->sum[p] += s->run[p];
    }
}

/* Set *encoding if every value within `error` of x rounds to it. */
static bool settle(uint64_t *encoding, double x, double error,
                   const struct bitcut_format *format)
{
    const struct bitcut_format *const f64 = &formats[FORMAT_F64];
    const struct bitcut_rounding *const rn = &roundings[ROUND_RN];
    const double most = error + 4 * u * fabs(x);
    const uint64_t low = bitcut_format_convert(format, rn, f64, bits_of_double(x - most)),
                   high =
                       bitcut_format_convert(format, rn, f64, bits_of_double(x + most));
    *encoding = low;
    return low == high && x == x && most == most;
}

/* --- outputs --------------------------------------------------------------------------
 */

/* Write an output, and its value in binary64. */
static void put(const struct exact_head *h, size_t query, size_t column,
                uint64_t encoding, double value)
{
    const struct bitcut_attention *const a = h->job->a;
    double *const values = h->job->options->values;
    encoding_put((char *)(uintptr_t)h->o.at, format_bytes(h->o.format),
                 query * h->o.across + column * h->o.along, encoding);
    if (values) values[(h->head * a->queries + query) * a->value_dim + column] = value;
}

/* Write NaN, an infinity, or zero. */
static void put_class(const struct exact_head *h, size_t query, size_t column, double x)
{
    put(h, query, column,
        x != x ? format_nan(h->o.format)
        : x    ? format_infinity(h->o.format, x < 0)
               : 0,
        x);
}

static bool all_finite(const double *x, size_t count)
{
    bool finite = true;
    for (size_t i = 0; i < count; i++) finite &= isfinite(x[i]) != 0;
    return finite;
}

/* The sum of values of V that are not all finite, by their classes; false: all are. */
static bool infinite_output(double *to, const struct exact_head *h, size_t from,
                            size_t to_key, size_t column)
{
    double sum = 0;
    for (size_t j = from; j < to_key; j++) {
        const double v = h->v[j * h->job->a->value_dim + column];
        if (!isfinite(v)) sum += v;
    }
    *to = sum;
    return !isfinite(sum);
}

/* Settle the outputs of a query that no bound decided.  False: no memory. */
static bool by_mpfr(const struct exact_head *h, size_t query, size_t from, size_t to,
                    const bool *left)
{
    const struct bitcut_attention *const a = h->job->a;
    const struct attention_oracle_query x = {
        .keys = to - from,
        .dim = a->head_dim,
        .value_dim = a->value_dim,
        .scale = value_of_float(a->scale),
        .q = h->q + query * a->head_dim,
        .k = h->kt + from,
        .k_stride = a->keys,
        .v = h->v + from * a->value_dim,
        .v_max = h->v_max,
    };
    struct attention_oracle *const o = attention_oracle_open(&x);
    if (!o) return false;
    for (size_t p = 0; p < a->value_dim; p++) {
        bool exact;
        double value;
        if (!left[p]) continue;
        const uint64_t encoding =
            attention_oracle_output(&exact, &value, o, p, h->o.format);
        put(h, query, p, encoding, value);
        h->job->counts.by_mpfr += !exact;
        h->job->counts.exact += exact;
    }
    attention_oracle_close(o);
    return true;
}

/* All outputs of a query.  `left` has room for a row.  False: no memory. */
static bool run_query(const struct exact_head *h, struct exact_scratch *s, bool *left,
                      size_t query)
{
    const struct bitcut_attention *const a = h->job->a;
    const size_t dim = a->value_dim;
    size_t from, to, settled = 0, open = 0;
    attention_keys_seen(&from, &to, a, (int64_t)query);
    const bool empty = from == to, only_mpfr = h->job->options->only_mpfr;
    bool done = true;
    if (empty || !all_finite(h->q + query * a->head_dim, a->head_dim) ||
        h->infinite[to - 1] > (from ? h->infinite[from - 1] : 0)) {
        for (size_t p = 0; p < dim; p++) put_class(h, query, p, empty ? 0 : (double)NAN);
        return true;
    }
    double total = 0, error = 0;
    if (!only_mpfr) {
        scores(s, h, query, from, to);
        error = weights(&total, s, h, from, to);
        add_values(s, h, from, to);
    }
    /* Sums have RUN terms, and then one addition for each run. */
    const double adds = 1.001 * (RUN + (double)(to - from) / RUN + 3) * u + 0x1p-900;
    for (size_t p = 0; p < dim; p++) {
        double class;
        left[p] = false;
        if (!h->finite_v && infinite_output(&class, h, from, to, p)) {
            put_class(h, query, p, class);
        } else if (h->v_max[p] == 0) {
            put_class(h, query, p, 0);
        } else {
            const double x = only_mpfr ? 0 : s->sum[p] / total;
            const double bound = 1.01 * (error + adds) * (h->v_max[p] + fabs(x));
            uint64_t encoding;
            left[p] = only_mpfr || !settle(&encoding, x, bound, h->o.format);
            if (!left[p]) put(h, query, p, encoding, x);
        }
        settled += !left[p];
        open += left[p];
    }
#pragma omp critical(attention_exact)
    {
        h->job->counts.by_double += settled;
        if (open) done = by_mpfr(h, query, from, to, left);
    }
    return done;
}

/* --- heads ----------------------------------------------------------------------------
 */

static double *read_values(const struct bitcut_matrix *x, size_t i, size_t rows,
                           size_t cols)
{
    const struct view v = view_of(x, i, rows, cols, false);
    double *const to = memory_allocate(rows * cols, sizeof *to);
    for (size_t row = 0; to && row < rows; row++)
        for (size_t p = 0; p < cols; p++) to[row * cols + p] = view_f64(&v, row, p);
    return to;
}

static bool scratch_make(struct exact_scratch *s, const struct bitcut_attention *a)
{
    s->score = memory_allocate(a->keys, sizeof *s->score);
    s->size = memory_allocate(a->keys, sizeof *s->size);
    s->weight = memory_allocate(a->keys, sizeof *s->weight);
    s->sum = memory_allocate(a->value_dim, sizeof *s->sum);
    s->run = memory_allocate(a->value_dim, sizeof *s->run);
    return s->score && s->size && s->weight && s->sum && s->run;
}

static void scratch_clear(struct exact_scratch *s)
{
    free(s->score);
    free(s->size);
    free(s->weight);
    free(s->sum);
    free(s->run);
}

/* The queries of a head that this thread takes. */
static void run_thread(const struct exact_head *h, bool *no_memory)
{
    const struct bitcut_attention *const a = h->job->a;
    struct exact_scratch s = { 0 };
    struct hostfp saved;
    bool *const left = memory_allocate(a->value_dim, sizeof *left);
    bool made = scratch_make(&s, a) && left;
    hostfp_enter(&saved);
#pragma omp for schedule(dynamic, ROWS)
    for (size_t i = 0; i < a->queries; i++)
        if (made && !progress_stopped(h->job->options->progress))
            made = run_query(h, &s, left, i);
    hostfp_leave(&saved);
    if (!made) {
#pragma omp atomic write
        *no_memory = true;
    }
    free(left);
    scratch_clear(&s);
}

/* Transpose K, and count the keys that have an infinity or NaN. */
static void transpose_keys(double *kt, size_t *infinite, const double *k,
                           const struct bitcut_attention *a)
{
    size_t count = 0;
    for (size_t j = 0; j < a->keys; j++) {
        count += !all_finite(k + j * a->head_dim, a->head_dim);
        infinite[j] = count;
        for (size_t p = 0; p < a->head_dim; p++)
            kt[p * a->keys + j] = k[j * a->head_dim + p];
    }
}

static bool run_head(struct exact_job *job, size_t head, bool *no_memory)
{
    const struct bitcut_attention *const a = job->a;
    const size_t kv = head / (a->heads / a->kv_heads);
    double *const q = read_values(&a->q, head, a->queries, a->head_dim),
                  *const k = read_values(&a->k, kv, a->keys, a->head_dim),
                  *const v = read_values(&a->v, kv, a->keys, a->value_dim);
    double *const v_max = calloc(a->value_dim + 1, sizeof *v_max),
                  *const kt = memory_allocate(a->keys * a->head_dim, sizeof *kt);
    size_t *const infinite = memory_allocate(a->keys, sizeof *infinite);
    struct exact_head h = { .job = job,
                            .head = head,
                            .q = q,
                            .kt = kt,
                            .v = v,
                            .v_max = v_max,
                            .infinite = infinite,
                            .sums = attention_sums_best() };
    const bool made = q && k && v && v_max && kt && infinite;
    if (made) {
        transpose_keys(kt, infinite, k, a);
        h.finite_v = all_finite(v, a->keys * a->value_dim);
        h.o = view_of(&a->o, head, a->queries, a->value_dim, false);
        for (size_t i = 0; i < a->keys * a->value_dim; i++) {
            const double x = fabs(v[i]);
            if (isfinite(x) && x > v_max[i % a->value_dim]) v_max[i % a->value_dim] = x;
        }
        const int team = threads_for(job->options->threads, divide_up(a->queries, ROWS));
#pragma omp parallel num_threads(team)
        run_thread(&h, no_memory);
    }
    free(q);
    free(k);
    free(v);
    free(v_max);
    free(kt);
    free(infinite);
    return made && !*no_memory;
}

enum bitcut_status attention_exact(struct attention_exact_counts *counts,
                                   const struct bitcut_attention *a,
                                   const struct attention_exact_options *options,
                                   struct fault *f)
{
    struct exact_job job = { .a = a, .options = options };
    bool no_memory = false;
    size_t all;
    if (!size_multiply(&all, larger(a->queries, a->keys),
                       larger(a->head_dim, a->value_dim)))
        return fault_set(f, BITCUT_NO_MEMORY,
                         "not enough memory for the exact reference");
    for (size_t h = 0; h < a->heads && a->queries; h++) {
        if (progress_stopped(options->progress))
            return fault_set(f, BITCUT_UNSUPPORTED, "stopped");
        if (!run_head(&job, h, &no_memory))
            return fault_set(f, BITCUT_NO_MEMORY,
                             "not enough memory for the exact reference");
        progress_report(options->progress, h + 1, a->heads);
    }
    if (counts) *counts = job.counts;
    return progress_end(BITCUT_OK, options->progress, f);
}

enum bitcut_status bitcut_attention_exact(const struct bitcut_attention *attention,
                                          int threads, char *why)
{
    struct bitcut_attention a;
    struct fault f;
    enum bitcut_status status = attention_take(&a, attention, &f);
    if (status == BITCUT_OK) status = attention_check_matrices(&a, &f);
    if (status == BITCUT_OK && threads < 0)
        status = fault_set(&f, BITCUT_BAD_ARGUMENT, "counts must not be negative");
    if (status == BITCUT_OK)
        status =
            attention_exact(NULL, &a,
                            &(struct attention_exact_options){
                                .threads = threads, .progress = progress_of_thread() },
                            &f);
    return fault_write(why, status, &f);
}
