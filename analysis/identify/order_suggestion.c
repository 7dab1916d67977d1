/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/order_suggestion.h"

#include "emu/summation.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/gemm/sparsity.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Floating point of the host decides which orders are tried, never whether one holds. */

/* Outputs that are read, and k of the slice; the product of both is limited. */
enum { OUTPUTS_MAX = 1024, OUTPUTS_MIN = 32, PRODUCTS_MAX = 1 << 22 };

/* --- the errors of D -------------------------------------------------------------- */

/* Outputs with their products and errors. */
struct trace {
    size_t n, k;
    double *product;  /* [k][n], exact */
    double *residual; /* [n]: D less the exact sum */
    bool rounded;     /* products are rounded to FP32 before they are added */
};

static void trace_clear(struct trace *t)
{
    free(t->product);
    free(t->residual);
}

/* D of output `at` before alpha and C, and NAN if it is no number. */
static double sum_of(const struct block *b, size_t at)
{
    const double alpha = value_of_float(b->q->alpha), d = value_of_float(b->d[at]);
    const double c = b->c ? value_of_float(b->q->beta) * value_of_float(b->c[at]) : 0;
    return (d - c) / alpha;
}

/* Outputs whose sums are finite. */
static bool trace_take(struct trace *t, const struct block *b, bool rounded)
{
    const size_t all = b->rows * b->cols,
                 most = smaller(smaller(all, OUTPUTS_MAX), PRODUCTS_MAX / b->k),
                 products = problem_products(b->q);
    *t = (struct trace){ .k = products, .rounded = rounded };
    t->product = memory_allocate(most, products * sizeof *t->product);
    t->residual = memory_allocate(most, sizeof *t->residual);
    if (!t->product || !t->residual) return false;
    for (size_t i = 0; i < most; i++) {
        const size_t at = block_spread(b, i, most), row = at / b->cols,
                     col = at % b->cols;
        double sum = sum_of(b, at);
        const uint8_t *const kept = b->q->a.kept ? problem_kept(b->q, b->row[row]) : NULL;
        for (size_t p = 0; p < products; p++) {
            const size_t k = kept ? kept_k(kept, p) : p;
            const double one = value_of_float(b->a[row * b->k + k]) *
                               value_of_float(b->b[k * b->cols + col]);
            t->product[p * most + t->n] = one;
            sum -= one;
        }
        t->residual[t->n] = sum;
        t->n += isfinite(sum);
    }
    for (size_t p = 1; p < products && t->n < most; p++)
        memmove(t->product + p * t->n, t->product + p * most, t->n * sizeof *t->product);
    return t->n >= OUTPUTS_MIN;
}

/* --- the errors of lanes ---------------------------------------------------------- */

/* The sums of lanes over the first k, and their errors. */
struct lanes {
    size_t lanes, chunk;
    float *sum;    /* [lanes][n] */
    double *error; /* [n]: of all lanes together */
};

/* Add the products at p to their lane. */
static void lanes_add(struct lanes *l, const struct trace *t, size_t p)
{
    float *const restrict sum = l->sum + p / l->chunk % l->lanes * t->n;
    double *const restrict error = l->error;
    const double *const restrict product = t->product + p * t->n;
    const bool rounded = t->rounded;
#pragma omp simd
    for (size_t i = 0; i < t->n; i++) {
        const double one = rounded ? (double)(float)product[i] : product[i];
        const float next = (float)((double)sum[i] + one);
        error[i] += (double)next - (double)sum[i] - product[i];
        sum[i] = next;
    }
}

/* The correlation of the errors with those of D. */
static double correlation(const double *error, const struct trace *t)
{
    double e = 0, r = 0, ee = 0, rr = 0, er = 0;
    for (size_t i = 0; i < t->n; i++) {
        const double x = error[i], y = t->residual[i];
        e += x, r += y, ee += x * x, rr += y * y, er += x * y;
    }
    const double n = (double)t->n, own = (n * ee - e * e) * (n * rr - r * r);
    return own > 0 ? (n * er - e * r) / sqrt(own) : 0;
}

/* The correlation for slices of lengths up to `length`: c[p] for p + 1 k, if these are a
   multiple of `step` or `length`; other elements of c are unchanged. */
static bool lanes_correlate(double *c, struct lanes l, const struct trace *t,
                            size_t length, size_t step)
{
    l.sum = calloc(l.lanes * t->n, sizeof *l.sum);
    l.error = calloc(t->n, sizeof *l.error);
    const bool enough = l.sum && l.error;
    for (size_t p = 0; enough && p < length; p++) {
        lanes_add(&l, t, p);
        if ((p + 1) % step == 0 || p + 1 == length) c[p] = correlation(l.error, t);
    }
    free(l.sum);
    free(l.error);
    return enough;
}

/* --- lanes that are correlated ---------------------------------------------------- */

enum { LANES_MAX = 64, CHUNK_MAX = 64, CHUNKS = 7, LIKELY_MAX = 4 };

/* Lanes, and their largest correlation. */
struct likely {
    size_t lanes, chunk;
    double most;
};

static int compare_likely(const void *x, const void *y)
{
    const struct likely *a = x, *b = y;
    if (a->most != b->most) return a->most > b->most ? -1 : 1;
    if (a->lanes != b->lanes) return a->lanes < b->lanes ? -1 : 1;
    return a->chunk < b->chunk ? -1 : a->chunk > b->chunk;
}

/* The largest correlation of one number of lanes and chunk. */
static double most_of(struct lanes l, const struct trace *t, size_t length)
{
    enum { STEP = 8 }; /* slices of kernels mostly have multiples of it */
    double *const c = calloc(length, sizeof *c), most = 0;
    if (c && lanes_correlate(c, l, t, length, STEP))
        for (size_t p = 0; p < length; p++) most = c[p] > most ? c[p] : most;
    free(c);
    return most;
}

/* The lanes that are most correlated with the errors of D, the most first.  A correlation
   by chance is below 5 / sqrt(n). */
static size_t find_lanes(struct likely to[LIKELY_MAX], const struct trace *t, int threads)
{
    enum { SCAN_MAX = 2048 };
    struct likely all[(LANES_MAX - 1) * CHUNKS + 1] = { { 1, 1, 0 } };
    size_t count = 1, kept = 0;
    for (size_t lanes = 2; lanes <= LANES_MAX; lanes++)
        for (size_t chunk = 1; chunk <= CHUNK_MAX && lanes * chunk < t->k; chunk *= 2)
            all[count++] = (struct likely){ lanes, chunk, 0 };
#pragma omp parallel for schedule(dynamic) num_threads(threads_for(threads, count))
    for (size_t i = 0; i < count; i++) {
        struct hostfp saved;
        hostfp_enter(&saved);
        all[i].most =
            most_of((struct lanes){ .lanes = all[i].lanes, .chunk = all[i].chunk }, t,
                    smaller(t->k, SCAN_MAX));
        hostfp_leave(&saved);
    }
    qsort(all, count, sizeof *all, compare_likely);
    for (size_t i = 0; i < count && kept < LIKELY_MAX; i++)
        if (all[i].most * sqrt((double)t->n) > 5) to[kept++] = all[i];
    return kept;
}

/* --- orders ----------------------------------------------------------------------- */

struct orders {
    struct bitcut_order *at;
    size_t count;
};

static void add_order(struct orders *to, struct bitcut_order o)
{
    if (to->count < SUGGESTED_ORDERS_MAX) to->at[to->count++] = o;
}

/* The same in rounds of an unrolled loop, whose remaining k follow one after the other,
   after the sum of the lanes or in lane 0: rounds of a few times all lanes. */
static void add_rounds(struct orders *to, struct bitcut_order o, struct likely l,
                       size_t length, size_t k)
{
    const size_t all = l.lanes * l.chunk;
    for (size_t times = 1; times <= 8 && l.lanes > 1; times *= 2) {
        o.unroll = (int)(all * times);
        for (int in_lane = 0; in_lane < 2; in_lane++) {
            o.remainder_in_lane = in_lane;
            if (length % (all * times) || k % length % (all * times)) add_order(to, o);
        }
    }
}

/* The orders that begin with a slice of that length. */
static void add_orders(struct orders *to, struct likely l, size_t length, size_t k)
{
    static const int tails[] = { 16, 8, 4, 2, 32, 1 };
    const size_t slices = divide_up(k, length);
    struct bitcut_order o = { .lanes = (int)l.lanes, .chunk = (int)l.chunk };
    if (l.lanes == 1) o.lanes = o.chunk = 0;
    if (slices > 1) o.slices = (int)slices, o.tile = (int)length;
    for (int r = BITCUT_ASCENDING; r <= BITCUT_HALVES; r++) {
        o.reduction = (enum bitcut_reduction)r;
        if (slices > 2 || joins_lanes(r, (int)l.lanes)) add_order(to, o);
    }
    o.reduction = BITCUT_ASCENDING;
    for (size_t i = 0; i < sizeof tails / sizeof *tails && slices > 2 && k % length;
         i++) {
        o.balance_tail = tails[i];
        add_order(to, o);
    }
    o.balance_tail = 0;
    add_rounds(to, o, l, length, k);
}

/* The lengths of a slice whose correlation is nearly the largest: all of k; multiples of
   16; and the nearest to the largest. */
static void add_lengths(struct orders *to, struct likely l, const double *c, size_t k)
{
    enum { NEAR = 8 };
    size_t best = 0;
    for (size_t p = 0; p < k; p++)
        if (c[p] > c[best]) best = p;
    const double enough = c[best] * 0.98;
    if (c[k - 1] > enough || k - best <= 8 * l.lanes * l.chunk) add_orders(to, l, k, k);
    for (size_t p = 0; p + 1 < k; p++) {
        const size_t length = p + 1, off = p > best ? p - best : best - p;
        if (l.lanes > 1 && length <= l.lanes * l.chunk) continue; /* slices of a chunk */
        if ((c[p] > enough && length % 16 == 0) || off <= NEAR)
            add_orders(to, l, length, k);
    }
}

bool orders_are_suggested(const struct block *b, const struct candidate *x)
{
    const struct bitcut_unit *const u = &x->unit;
    return u->k == 1 && u->c == &formats[FORMAT_F32] && x->plan.terms == 1 && !b->own &&
           u->a == &formats[FORMAT_F32] && b->q->format == &formats[FORMAT_F32] &&
           b->k > 2 && b->k <= PRODUCTS_MAX / OUTPUTS_MIN && b->k <= INT_MAX;
}

size_t orders_suggest(struct bitcut_order to[SUGGESTED_ORDERS_MAX], const struct block *b,
                      const struct candidate *x, int threads)
{
    struct orders all = { to, 0 };
    struct likely likely[LIKELY_MAX];
    struct hostfp saved;
    struct trace t;
    hostfp_enter(&saved);
    double *const c = memory_allocate(b->k, sizeof *c);
    const bool enough = trace_take(&t, b, x->unit.summation != &sum_fused) && c;
    const size_t count = enough ? find_lanes(likely, &t, threads) : 0;
    for (size_t i = 0; i < count; i++) {
        const struct lanes l = { .lanes = likely[i].lanes, .chunk = likely[i].chunk };
        if (lanes_correlate(c, l, &t, t.k, 1)) add_lengths(&all, likely[i], c, t.k);
    }
    hostfp_leave(&saved);
    free(c);
    trace_clear(&t);
    return all.count;
}
