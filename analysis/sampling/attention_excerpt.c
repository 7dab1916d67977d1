/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/attention_excerpt.h"

#include "analysis/accuracy/attention_exact.h"
#include "emu/attention/attention_run.h"
#include "lib/base/size.h"
#include "lib/gemm/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Queries of a block, and the most heads of an excerpt that has not all outputs. */
enum { BLOCK = 32, HEADS_MAX = 16, MATRICES = 4 };

static enum bitcut_status no_memory(struct fault *f)
{
    return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for exact attention");
}

static size_t row_bytes(const struct bitcut_matrix *m, size_t rows, size_t cols)
{
    return matrix_ld(m, rows, cols) * (size_t)format_bytes(matrix_format(m));
}

/* --- choosing --------------------------------------------------------------------- */

/* Heads and blocks of queries. */
struct choice {
    size_t head[HEADS_MAX + 1], heads;
    size_t block, blocks; /* queries of a block, and all blocks of a head */
    bool *taken;          /* [blocks] */
};

/* The first output of O that is no number. */
static bool find_wild(size_t at[2], const struct bitcut_attention *a)
{
    for (size_t h = 0; h < a->heads; h++) {
        const struct view o = view_of(&a->o, h, a->queries, a->value_dim, false);
        for (size_t i = 0; i < a->queries; i++)
            for (size_t p = 0; p < a->value_dim; p++)
                if (!isfinite(view_f64(&o, i, p))) {
                    at[0] = h, at[1] = i;
                    return true;
                }
    }
    return false;
}

/* Add a head and a block of it. */
static void add_place(struct choice *c, const size_t at[2])
{
    size_t i = 0;
    while (i < c->heads && c->head[i] < at[0]) i++;
    c->taken[at[1] / c->block] = true;
    if (i < c->heads && c->head[i] == at[0]) return;
    memmove(c->head + i + 1, c->head + i, (c->heads - i) * sizeof *c->head);
    c->head[i] = at[0];
    c->heads++;
}

static bool choose(struct choice *c, const struct bitcut_attention *a, bool given,
                   double products)
{
    const double each = larger_double(1, (double)a->keys) *
                        (double)(a->head_dim + a->value_dim),
                 rows = products / each;
    const size_t fit = (size_t)larger_double(1, rows / BLOCK);
    const struct spread_evenly heads =
        spread_evenly(a->heads, (double)smaller(HEADS_MAX, fit));
    c->block = BLOCK;
    c->blocks = divide_up(a->queries, BLOCK);
    c->taken = calloc(larger(1, c->blocks), sizeof *c->taken);
    if (!c->taken) return false;
    for (size_t h = 0; h < heads.count; h++) c->head[h] = spread_place(&heads, h);
    c->heads = heads.count;
    const struct spread_evenly blocks =
        spread_evenly(c->blocks, rows / BLOCK / larger_double(1, (double)heads.count));
    for (size_t b = 0; b < blocks.count; b++) c->taken[spread_place(&blocks, b)] = true;
    size_t at[2];
    if (given && find_wild(at, a)) add_place(c, at);
    return true;
}

/* Whether all outputs take few products. */
static bool takes_all(const struct bitcut_attention *a, double products)
{
    return (double)a->heads * (double)a->queries * (double)a->keys *
               (double)(a->head_dim + a->value_dim) <=
           products;
}

/* --- making ----------------------------------------------------------------------- */

/* The heads of `a`, by pointers; K and V once for each of them. */
static bool set_heads(struct attention_excerpt *x, const size_t *head)
{
    const struct bitcut_attention *const w = &x->whole;
    const struct bitcut_matrix *const from[MATRICES] = { &w->q, &w->k, &w->v, &w->o };
    struct bitcut_matrix *const to[MATRICES] = { &x->a.q, &x->a.k, &x->a.v, &x->a.o };
    x->a = *w;
    x->a.heads = x->a.kv_heads = x->heads;
    x->a.lse = NULL;
    x->head = memory_allocate(x->heads, sizeof *x->head);
    x->pointer = malloc(MATRICES * larger(1, x->heads) * sizeof *x->pointer);
    if (!x->head || !x->pointer) return false;
    for (size_t h = 0; h < x->heads; h++) x->head[h] = head ? head[h] : h;
    for (int m = 0; m < MATRICES; m++) {
        const void **const each = x->pointer + (size_t)m * x->heads;
        for (size_t h = 0; h < x->heads; h++) {
            const size_t at = x->head[h];
            each[h] = matrix_nth(from[m],
                                 m == 1 || m == 2 ? at / (w->heads / w->kv_heads) : at);
        }
        to[m]->each = each;
    }
    return true;
}

static bool set_queries(struct attention_excerpt *x, const struct choice *c)
{
    const size_t all = x->whole.queries;
    x->query = memory_allocate(all, sizeof *x->query);
    for (size_t i = 0; x->query && i < all; i++)
        if (!c || c->taken[i / c->block]) x->query[x->queries++] = i;
    return x->query;
}

static bool set_arrays(struct attention_excerpt *x)
{
    const struct bitcut_attention *const w = &x->whole;
    if (!size_multiply(&x->total, w->heads, w->queries) ||
        !size_multiply(&x->total, x->total, w->value_dim))
        return false;
    x->outputs = x->heads * x->queries * w->value_dim;
    x->exact = memory_allocate(x->outputs, sizeof *x->exact);
    x->size = memory_allocate(x->outputs, sizeof *x->size);
    x->rounded = memory_allocate(x->outputs, (size_t)format_bytes(matrix_format(&w->o)));
    return x->exact && x->size && x->rounded;
}

static enum bitcut_status take(struct attention_excerpt *x, bool given, double products,
                               struct fault *f)
{
    struct choice c = { .heads = x->whole.heads };
    const bool all = takes_all(&x->whole, products);
    bool made = all || choose(&c, &x->whole, given, products);
    x->heads = c.heads;
    made = made && set_heads(x, all ? NULL : c.head) && set_queries(x, all ? NULL : &c) &&
           set_arrays(x);
    free(c.taken);
    return made ? BITCUT_OK : no_memory(f);
}

/* --- exact ------------------------------------------------------------------------ */

/* Consecutive queries of the excerpt, from position `first` on. */
struct run {
    size_t first, count;
    const void **pointer; /* [heads]: Q from its first query on */
    void *rounded;        /* [head][count][value_dim] */
    double *exact, *size;
};

/* The attention of a run: no key that it sees is left out. */
static struct bitcut_attention attention_of(const struct attention_excerpt *x,
                                            const struct run *r)
{
    struct bitcut_attention a = x->a;
    const size_t from = x->query[r->first], after = a.queries - from - r->count;
    const int64_t own = (int64_t)a.keys - (int64_t)after; /* keys up to the last one's */
    for (size_t h = 0; h < x->heads; h++)
        r->pointer[h] =
            (const char *)x->a.q.each[h] + from * row_bytes(&a.q, a.queries, a.head_dim);
    a.q.each = r->pointer;
    a.queries = r->count;
    if (a.window_right >= 0 && own + a.window_right < (int64_t)a.keys)
        a.keys = own + a.window_right > 0 ? (size_t)(own + a.window_right) : 0;
    const int64_t more = (int64_t)a.keys - own;
    if (a.window_left >= 0)
        a.window_left = a.window_left + more > 0 ? a.window_left + more : 0;
    if (a.window_right >= 0)
        a.window_right = a.window_right > more ? a.window_right - more : 0;
    a.o = (struct bitcut_matrix){ .to = r->rounded,
                                  .format = x->whole.o.format,
                                  .stride = r->count * a.value_dim };
    return a;
}

/* Copy the arrays of a run to their places. */
static void put_run(struct attention_excerpt *x, const struct run *r)
{
    const size_t dim = x->a.value_dim, per = r->count * dim,
                 bytes = (size_t)format_bytes(matrix_format(&x->whole.o));
    for (size_t h = 0; h < x->heads; h++) {
        const size_t to = (h * x->queries + r->first) * dim;
        memcpy(x->exact + to, r->exact + h * per, per * sizeof *x->exact);
        memcpy(x->size + to, r->size + h * per, per * sizeof *x->size);
        memcpy((char *)x->rounded + to * bytes, (char *)r->rounded + h * per * bytes,
               per * bytes);
    }
}

static enum bitcut_status compute_run(struct attention_excerpt *x, struct run *r,
                                      int threads, const struct progress *progress,
                                      struct fault *f)
{
    const size_t per = x->heads * r->count * x->a.value_dim;
    r->pointer = malloc(larger(1, x->heads) * sizeof *r->pointer);
    r->rounded = memory_allocate(per, (size_t)format_bytes(matrix_format(&x->whole.o)));
    r->exact = memory_allocate(per, sizeof *r->exact);
    r->size = memory_allocate(per, sizeof *r->size);
    enum bitcut_status status = BITCUT_OK;
    if (!r->pointer || !r->rounded || !r->exact || !r->size) status = no_memory(f);
    if (status == BITCUT_OK) {
        const struct bitcut_attention a = attention_of(x, r);
        const struct attention_exact_options how = { .threads = threads,
                                                     .progress = progress,
                                                     .values = r->exact };
        status = attention_sizes(r->size, NULL, &a, threads, progress, f);
        if (status == BITCUT_OK) status = attention_exact(NULL, &a, &how, f);
    }
    if (status == BITCUT_OK) put_run(x, r);
    free(r->pointer);
    free(r->rounded);
    free(r->exact);
    free(r->size);
    return status;
}

static enum bitcut_status compute(struct attention_excerpt *x, int threads,
                                  const struct progress *progress, struct fault *f)
{
    const bool all = x->queries == x->whole.queries;
    enum bitcut_status status = BITCUT_OK;
    for (size_t i = 0; i < x->queries && status == BITCUT_OK;) {
        struct run r = { .first = i, .count = 1 };
        while (i + r.count < x->queries && x->query[i + r.count] == x->query[i] + r.count)
            r.count++;
        status = compute_run(x, &r, threads, all ? progress : NULL, f);
        i += r.count;
        if (status == BITCUT_OK) status = progress_end(status, progress, f);
        progress_report(progress, i, x->queries);
    }
    return status;
}

enum bitcut_status attention_excerpt_make(struct attention_excerpt *x,
                                          const struct bitcut_attention *a, bool given,
                                          double products, int threads,
                                          const struct progress *progress,
                                          struct fault *f)
{
    *x = (struct attention_excerpt){ .whole = *a };
    const enum bitcut_status status = take(x, given, products, f);
    return status == BITCUT_OK ? compute(x, threads, progress, f) : status;
}

void attention_excerpt_clear(struct attention_excerpt *x)
{
    free(x->head), free(x->query), free(x->exact), free(x->size);
    free(x->rounded), free(x->pointer);
}
