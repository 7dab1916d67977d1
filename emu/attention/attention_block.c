/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/attention/attention_block.h"

#include "emu/attention/softmax.h"
#include "lib/base/size.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"

#include <stdlib.h>
#include <string.h>

/* Keys whose scores are computed at a time, in whole tiles.  It changes no bit. */
enum { KEYS_AT_A_TIME = 512 };

static size_t kv_head(const struct attention_plan *plan, size_t head)
{
    return head / (plan->a.heads / plan->a.kv_heads);
}

/* --- products -------------------------------------------------------------------------
 */

/* Run a product of FP32 matrices on one thread. */
static enum bitcut_status multiply(struct attention_block *w,
                                   const struct bitcut_gemm *like,
                                   const struct gemm_plan *plan, float *d, size_t ldd,
                                   size_t m, size_t n, size_t k, const void *a,
                                   size_t lda, const void *b, size_t ldb, struct fault *f)
{
    const struct gemm_options o = { .threads = 1,
                                    .simd = w->job->options->simd,
                                    .scratch = &w->scratch };
    struct bitcut_gemm g = *like;
    g.m = m, g.n = n, g.k = k;
    g.a = (struct bitcut_matrix){ .at = a, .ld = lda };
    g.b = (struct bitcut_matrix){ .at = b, .ld = ldb };
    g.c = (struct bitcut_matrix){ .at = d, .ld = ldd };
    g.d = (struct bitcut_matrix){ .to = d, .ld = ldd };
    return gemm_run_plan(&g, plan, &o, f);
}

/* Scores of tiles [tile, tile + count). */
static enum bitcut_status scores(struct attention_block *w, size_t tile, size_t count,
                                 struct fault *f)
{
    const struct attention_plan *const plan = w->job->plan;
    const struct attention_operands *const x = w->job->x;
    const size_t dim = plan->a.head_dim, n = plan->block_n;
    const uint32_t *const q = x->q + (w->head * plan->a.queries + w->first) * dim;
    const uint32_t *const kt =
        x->kt + kv_head(plan, w->head) * dim * x->padded + tile * n;
    return multiply(w, &plan->qk, &plan->qk_plan, w->s, w->job->ahead * n, w->rows,
                    count * n, dim, q, dim, kt, x->padded, f);
}

/* The product of P and V of `keys` keys of a tile, from key `from` of the tile on. */
static enum bitcut_status values(struct attention_block *w, float *to, size_t tile,
                                 size_t from, size_t keys, struct fault *f)
{
    const struct attention_plan *const plan = w->job->plan;
    const struct attention_operands *const x = w->job->x;
    const size_t dim = plan->a.value_dim, n = plan->block_n;
    const uint32_t *const v =
        x->v + (kv_head(plan, w->head) * x->padded + tile * n + from) * dim;
    return multiply(w, &plan->pv, &plan->pv_plan, to, dim, w->rows, dim, keys,
                    w->p + from, n, v, dim, f);
}

/* --- tiles ----------------------------------------------------------------------------
 */

static void report_tile(const struct attention_block *w, const struct softmax_scores *s,
                        size_t base, size_t step)
{
    const struct attention_watch *const watch = w->job->watch;
    watch->tile(watch->context,
                &(struct attention_tile_event){ .key = base,
                                                .count = s->count,
                                                .from = s->from,
                                                .to = s->to,
                                                .first = !step,
                                                .s = s->s,
                                                .q_factor = s->q_factor,
                                                .k_factor = s->k_factor,
                                                .exponent = s->exponent,
                                                .shift = w->row->shift,
                                                .p = w->p,
                                                .rescale = w->row->rescale });
}

/* The product of `keys` keys from key `at` on, whose P is w->p + from. */
static void report_product(const struct attention_block *w, size_t at, size_t from,
                           size_t keys, const float *c, const float *d)
{
    const struct attention_watch *const watch = w->job->watch;
    watch->product(watch->context, &(struct attention_product_event){
                                       .key = at,
                                       .count = keys,
                                       .p = w->p + from,
                                       .c = c,
                                       .d = d,
                                       .sum = softmax_sum(w->row, w->job->plan) });
}

/* P of all queries of the block for a tile; its scores begin at column `at`. */
static void softmax(struct attention_block *w, size_t tile, size_t at, size_t step)
{
    const struct attention_plan *const plan = w->job->plan;
    const struct attention_operands *const x = w->job->x;
    const size_t n = plan->block_n, base = tile * n, ld = w->job->ahead * n;
    for (size_t i = 0; i < w->rows; i++) {
        size_t from, to;
        attention_keys_seen(&from, &to, &plan->a,
                            (int64_t)(w->first + i) + plan->slips.diagonal);
        if (plan->slips.whole_tiles) from = 0, to = plan->a.keys;
        from = larger(from, base), to = smaller(to, base + n);
        if (from >= to) from = to = base;
        const struct softmax_scores s = {
            .s = w->s + i * ld + at,
            .count = n,
            .from = from - base,
            .to = to - base,
            .q_factor =
                x->q_factor ? x->q_factor[w->head * plan->a.queries + w->first + i] : 1,
            .k_factor = x->k_factor
                            ? x->k_factor + kv_head(plan, w->head) * x->padded + base
                            : NULL,
            .exponent = w->exponent,
        };
        softmax_tile(w->p + i * n, &w->row[i], plan, &s, step);
        if (w->job->watch) report_tile(w, &s, base, step);
    }
}

/* O of a tile that accumulates in O. */
static enum bitcut_status accumulate(struct attention_block *w, size_t tile, bool first,
                                     struct fault *f)
{
    const struct attention_plan *const plan = w->job->plan;
    const size_t dim = plan->a.value_dim;
    for (size_t i = 0; i < w->rows && !first; i++)
        softmax_rescale(w->o + i * dim, dim, &w->row[i], plan);
    if (w->job->watch) memcpy(w->product, w->o, dim * sizeof *w->o);
    const enum bitcut_status status = values(w, w->o, tile, 0, plan->block_n, f);
    if (w->job->watch && status == BITCUT_OK)
        report_product(w, tile * plan->block_n, 0, plan->block_n, w->product, w->o);
    return status;
}

/* O of a tile whose products with V begin from zero. */
static enum bitcut_status add_products(struct attention_block *w, size_t tile, bool first,
                                       struct fault *f)
{
    const struct attention_plan *const plan = w->job->plan;
    const size_t dim = plan->a.value_dim, n = plan->block_n;
    const size_t keys = plan->row.from_zero > 0 ? (size_t)plan->row.from_zero : n;
    enum bitcut_status status = BITCUT_OK;
    for (size_t from = 0; from < n && status == BITCUT_OK; from += keys) {
        status = values(w, w->product, tile, from, keys, f);
        if (w->job->watch && status == BITCUT_OK)
            report_product(w, tile * n + from, from, keys, NULL, w->product);
        for (size_t i = 0; i < w->rows && status == BITCUT_OK; i++)
            softmax_add(w->o + i * dim, w->product + i * dim, dim, &w->row[i], plan,
                        !first && !from);
    }
    return status;
}

/* P divided by its sum, for a tile that has all keys. */
static void divide_p(struct attention_block *w)
{
    const struct attention_plan *const plan = w->job->plan;
    for (size_t i = 0; i < w->rows; i++)
        softmax_divide(w->p + i * plan->block_n, plan->block_n,
                       softmax_sum(&w->row[i], plan), plan);
}

static enum bitcut_status run_tile(struct attention_block *w, size_t tile, size_t at,
                                   size_t step, struct fault *f)
{
    const struct attention_plan *const plan = w->job->plan;
    softmax(w, tile, at, step);
    if (plan->row.p_divided) divide_p(w);
    return (plan->row.from_zero ? add_products : accumulate)(w, tile, !step, f);
}

/* --- blocks ---------------------------------------------------------------------------
 */

/* The tiles [*from, *to) of a split that the kernel's block visits. */
static void tiles_seen(size_t *from, size_t *to, const struct attention_block *w,
                       size_t split)
{
    const struct attention_plan *const plan = w->job->plan;
    *from = smaller(split * plan->split_tiles, plan->tiles);
    *to = smaller(*from + plan->split_tiles, plan->tiles);
    const struct bitcut_attention *const a = &plan->a;
    if (!plan->masked) return;
    const int64_t shift = (int64_t)a->keys - (int64_t)a->queries + plan->slips.diagonal,
                  n = (int64_t)plan->block_n;
    if (a->window_right >= 0) {
        const int64_t last = (int64_t)w->block_m_last + 1 + shift + a->window_right;
        *to = smaller(*to, last > 0 ? (size_t)((last + n - 1) / n) : 0);
    }
    if (a->window_left >= 0) {
        const int64_t at = (int64_t)w->block_m_first + shift - a->window_left;
        *from = larger(*from, at > 0 ? (size_t)(at / n) : 0);
    }
}

/* The tiles of a split in their order, with scores of several tiles at a time. */
static enum bitcut_status run_split(struct attention_block *w, size_t split, bool *any,
                                    struct fault *f)
{
    const struct attention_plan *const plan = w->job->plan;
    const size_t n = plan->block_n, ahead = w->job->ahead;
    size_t from, to;
    enum bitcut_status status = BITCUT_OK;
    tiles_seen(&from, &to, w, split);
    *any = from < to;
    memset(w->o, 0, w->rows * plan->a.value_dim * sizeof *w->o);
    for (size_t i = 0; i < w->rows; i++) softmax_start(&w->row[i]);
    for (size_t done = 0; from + done < to && status == BITCUT_OK;) {
        const size_t count = smaller(ahead, to - from - done);
        const size_t base = plan->row.descending ? to - done - count : from + done;
        if (progress_stopped(w->job->options->progress)) return BITCUT_UNSUPPORTED;
        status = scores(w, base, count, f);
        for (size_t t = 0; t < count && status == BITCUT_OK; t++) {
            const size_t at = plan->row.descending ? count - 1 - t : t;
            status = run_tile(w, base + at, at * n, done + t, f);
        }
        done += count;
    }
    return status;
}

static void report_split(const struct attention_block *w, bool any, float sum, float lse)
{
    const struct attention_watch *const watch = w->job->watch;
    watch->split(watch->context, &(struct attention_split_event){ .any = any,
                                                                  .sum = sum,
                                                                  .shift = w->row->shift,
                                                                  .lse = lse,
                                                                  .undivided = w->product,
                                                                  .o = w->o });
}

/* Divide O by the sums, and set the logarithm of each.  `any`: the split has tiles. */
static void finish_split(struct attention_block *w, float *lse, bool any)
{
    const struct attention_plan *const plan = w->job->plan;
    const size_t dim = plan->a.value_dim;
    const float none = plan->row.splits > 1 ? -(float)INFINITY : (float)INFINITY;
    for (size_t i = 0; i < w->rows; i++) {
        const float sum = softmax_sum(&w->row[i], plan);
        if (w->job->watch) memcpy(w->product, w->o, dim * sizeof *w->o);
        if (!plan->row.p_divided) softmax_divide(w->o + i * dim, dim, sum, plan);
        lse[i] = softmax_lse(&w->row[i], sum, none, plan);
        if (w->job->watch) report_split(w, any, sum, lse[i]);
    }
}

/* --- merging splits -------------------------------------------------------------------
 */

enum { MERGE_THREADS = 128 };

/* The threads that add the weights of a query: combine_attn_seqk_parallel() of
   flash_fwd_kernel.h, with its blocks of 4, 8 or 16 queries. */
static size_t merge_threads(const struct attention_plan *plan, size_t slots)
{
    const size_t dim = plan->a.head_dim;
    const size_t queries = dim % 128 == 0 ? 4 : dim % 64 == 0 ? 8 : 16;
    return smaller(MERGE_THREADS / queries, slots);
}

static float merged_max(const float *lse, size_t slots)
{
    float max = lse[0];
    for (size_t i = 1; i < slots; i++) max = lse[i] > max || max != max ? lse[i] : max;
    return max == -(float)INFINITY ? 0 : max;
}

/* The sum of exp(lse - max): slots of a thread one after the other, then the threads at
   distance half their number, ..., 1. */
static float merged_sum(const float *lse, size_t slots, float max,
                        const struct attention_plan *plan)
{
    const struct attention_merge *const m = plan->row.merge;
    const size_t threads = merge_threads(plan, slots);
    float x[MERGE_THREADS], y[MERGE_THREADS];
    for (size_t t = 0; t < threads; t++) {
        x[t] = m->exp(lse[t] - max);
        for (size_t i = t + threads; i < slots; i += threads)
            x[t] += m->exp(lse[i] - max);
    }
    for (size_t step = threads / 2; step; step /= 2) {
        for (size_t t = 0; t < threads; t++) y[t] = x[t] + x[t ^ step];
        memcpy(x, y, threads * sizeof *x);
    }
    return x[0];
}

/* O of a query from the splits' O, each times its weight; return the logarithm of the
   sum. */
static float merge_row(float *o, const struct attention_block *w, size_t i)
{
    const struct attention_plan *const plan = w->job->plan;
    const size_t split_count = (size_t)plan->row.splits, dim = plan->a.value_dim;
    float lse[ATTENTION_SPLITS_MAX];
    size_t slots = 2;
    while (slots < split_count) slots *= 2;
    for (size_t s = 0; s < slots; s++)
        lse[s] = s < split_count ? w->lse[s * w->rows + i] : -(float)INFINITY;
    const float max = merged_max(lse, slots), sum = merged_sum(lse, slots, max, plan);
    const float all =
        sum == 0 || sum != sum ? (float)INFINITY : plan->row.merge->log(sum) + max;
    memset(o, 0, dim * sizeof *o);
    for (size_t s = 0; s < split_count; s++) {
        const float weight = plan->row.merge->exp(lse[s] - all);
        const float *const part = w->split_o + (s * w->rows + i) * dim;
        for (size_t p = 0; p < dim; p++) o[p] = attention_fma(weight, part[p], o[p]);
    }
    return all;
}

/* --- outputs --------------------------------------------------------------------------
 */

void attention_block_store_row(const struct view *o, size_t at,
                               const struct attention_block *w, size_t i)
{
    const struct attention_plan *const plan = w->job->plan;
    const size_t dim = plan->a.value_dim;
    const float *const factor = w->job->x->v_factor;
    for (size_t p = 0; p < dim; p++) {
        float x = w->o[i * dim + p];
        if (factor) x *= factor[kv_head(plan, w->head) * dim + p];
        if (plan->slips.factor) x *= float_of_bits(plan->slips.factor);
        view_set(o, at, p, x != x ? F32_NAN : bits_of_float(x));
    }
}

void attention_block_store(const struct attention_block *w)
{
    const struct bitcut_attention *const a = &w->job->plan->a;
    const struct view o = view_of(&a->o, w->head, a->queries, a->value_dim, false);
    for (size_t i = 0; i < w->rows; i++) {
        const float lse = w->lse[i];
        attention_block_store_row(&o, w->first + i, w, i);
        if (a->lse)
            a->lse[w->head * a->queries + w->first + i] =
                lse != lse ? F32_NAN : bits_of_float(lse);
    }
}

enum bitcut_status attention_block_run(struct attention_block *w, struct fault *f)
{
    const struct attention_plan *const plan = w->job->plan;
    const size_t split_count = (size_t)plan->row.splits,
                 size = w->rows * plan->a.value_dim;
    for (size_t s = 0; s < split_count; s++) {
        bool any;
        const enum bitcut_status status = run_split(w, s, &any, f);
        if (status != BITCUT_OK) return status;
        finish_split(w, w->lse + s * w->rows, any);
        if (split_count > 1) memcpy(w->split_o + s * size, w->o, size * sizeof *w->o);
    }
    for (size_t i = 0; i < w->rows && split_count > 1; i++)
        w->lse[i] = merge_row(w->o + i * plan->a.value_dim, w, i);
    return BITCUT_OK;
}

/* --- memory ------------------------------------------------------------------------- */

void attention_block_clear(struct attention_block *w)
{
    free(w->scratch.at);
    free(w->s);
    free(w->p);
    free(w->exponent);
    free(w->o);
    free(w->product);
    free(w->row);
    free(w->split_o);
    free(w->lse);
}

size_t attention_tiles_ahead(const struct attention_plan *plan)
{
    return larger(1, KEYS_AT_A_TIME / plan->block_n);
}

bool attention_block_make(struct attention_block *w, const struct attention_job *job)
{
    const struct attention_plan *const plan = job->plan;
    const size_t rows = job->block, dim = plan->a.value_dim, n = plan->block_n,
                 split_count = (size_t)plan->row.splits;
    size_t all = 0;
    *w = (struct attention_block){ .job = job };
    if (!size_multiply(&all, rows * split_count, dim)) return false;
    w->s = memory_allocate(rows * job->ahead, n * sizeof *w->s);
    w->p = memory_allocate(rows * n, sizeof *w->p);
    if (job->watch) {
        w->exponent = memory_allocate(n, sizeof *w->exponent);
        if (!w->exponent) return false;
    }
    w->o = memory_allocate(rows * dim, sizeof *w->o);
    w->product = memory_allocate(rows * dim, sizeof *w->product);
    w->row = memory_allocate(rows, sizeof *w->row);
    w->split_o = memory_allocate(split_count > 1 ? all : 0, sizeof *w->split_o);
    w->lse = memory_allocate(rows * split_count, sizeof *w->lse);
    return w->s && w->p && w->o && w->product && w->row && w->split_o && w->lse;
}

void attention_block_set(struct attention_block *w, size_t head, size_t first,
                         size_t rows)
{
    const struct attention_plan *const plan = w->job->plan;
    w->head = head;
    w->first = first;
    w->rows = rows;
    w->block_m_first = first / plan->block_m * plan->block_m;
    w->block_m_last = w->block_m_first + plan->block_m - 1;
}
