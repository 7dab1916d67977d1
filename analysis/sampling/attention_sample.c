/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/attention_sample.h"

#include "analysis/accuracy/attention_exact.h"
#include "analysis/accuracy/attention_judge.h"
#include "analysis/accuracy/short_result.h"
#include "emu/attention/attention_run.h"
#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/gemm/view.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"
#include "lib/number/rand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- exact attention -------------------------------------------------------------- */

/* Exact attention with the magnitudes of V in place of V: `v` has room for all heads. */
static enum bitcut_status magnitudes(double *size, const struct bitcut_attention *from,
                                     void *v, void *o,
                                     const struct attention_exact_options *options,
                                     struct fault *f)
{
    struct bitcut_attention a = *from;
    const struct bitcut_format *const format = matrix_format(&a.v);
    const int bytes = format_bytes(format);
    const uint64_t sign = format->has_sign ? (uint64_t)1 << (format->bits - 1) : 0;
    for (size_t h = 0; h < a.kv_heads; h++) {
        const struct view x = view_of(&from->v, h, a.keys, a.value_dim, false);
        for (size_t i = 0; i < a.keys * a.value_dim; i++)
            encoding_put(v, bytes, h * a.keys * a.value_dim + i,
                         view_encoding(&x, i / a.value_dim, i % a.value_dim) & ~sign);
    }
    a.v = (struct bitcut_matrix){ .at = v,
                                  .format = format,
                                  .stride = a.keys * a.value_dim };
    a.o = (struct bitcut_matrix){ .to = o, .stride = a.queries * a.value_dim };
    struct attention_exact_options own = *options;
    own.values = size;
    return attention_exact(NULL, &a, &own, f);
}

enum bitcut_status attention_sizes(double *size, double *exact,
                                   const struct bitcut_attention *a, int threads,
                                   const struct progress *progress, struct fault *f)
{
    const struct attention_exact_options options = { .threads = threads,
                                                     .progress = progress,
                                                     .values = exact };
    size_t outputs, values;
    const bool fits = size_multiply(&outputs, a->heads * a->queries, a->value_dim) &&
                      size_multiply(&values, a->kv_heads * a->keys, a->value_dim);
    void *const o = fits ? memory_allocate(outputs, sizeof(float)) : NULL,
                *const v = fits ? memory_allocate(
                                      values, (size_t)format_bytes(matrix_format(&a->v)))
                                : NULL;
    enum bitcut_status status =
        o && v ? magnitudes(size, a, v, o, &options, f)
               : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for exact attention");
    if (status == BITCUT_OK && exact) {
        struct bitcut_attention own = *a;
        own.o = (struct bitcut_matrix){ .to = o, .stride = a->queries * a->value_dim };
        status = attention_exact(NULL, &own, &options, f);
    }
    free(o);
    free(v);
    return status;
}

/* --- runs ------------------------------------------------------------------------- */

enum { PRODUCTS = 1 << 20, OUTPUTS_MIN = 256 };

static size_t queries_of(const struct bitcut_attention *a)
{
    const size_t dim = larger(1, a->value_dim),
                 by_products = PRODUCTS / larger(1, dim * a->keys);
    return smaller(a->queries, larger(divide_up(OUTPUTS_MIN, dim), by_products));
}

size_t attention_run_outputs(const struct bitcut_attention *a)
{
    return queries_of(a) * a->value_dim;
}

/* Rows of matrix `i`, in an order; NULL: from `from` on. */
static void *copy_rows(struct bitcut_matrix *to, const struct bitcut_matrix *x, size_t i,
                       size_t rows, size_t all, size_t cols, const size_t *order,
                       size_t from)
{
    const struct view v = view_of(x, i, all, cols, false);
    const int bytes = format_bytes(v.format);
    void *const at = memory_allocate(rows * cols, (size_t)bytes);
    for (size_t r = 0; at && r < rows; r++)
        for (size_t p = 0; p < cols; p++)
            encoding_put(at, bytes, r * cols + p,
                         view_encoding(&v, order ? order[r] : from + r, p));
    *to = (struct bitcut_matrix){ .at = at, .format = v.format };
    return at;
}

/* The part of an attention that a run has. */
struct part {
    size_t head, from, queries, keys;
    const size_t *order; /* of keys */
};

static bool copy_make(struct attention_copy *to, const struct bitcut_attention *from,
                      const struct part *p)
{
    const size_t kv = p->head / (from->heads / from->kv_heads);
    struct bitcut_attention *const a = &to->a;
    *a = *from;
    a->heads = a->kv_heads = 1;
    a->queries = p->queries, a->keys = p->keys;
    a->lse = NULL;
    to->q = copy_rows(&a->q, &from->q, p->head, p->queries, from->queries, a->head_dim,
                      NULL, p->from);
    to->k = copy_rows(&a->k, &from->k, kv, p->keys, from->keys, a->head_dim, p->order, 0);
    to->v =
        copy_rows(&a->v, &from->v, kv, p->keys, from->keys, a->value_dim, p->order, 0);
    to->o = memory_allocate(p->queries * a->value_dim,
                            (size_t)format_bytes(matrix_format(&from->o)));
    a->o = (struct bitcut_matrix){ .to = to->o, .format = from->o.format };
    return to->q && to->k && to->v && to->o;
}

static void copy_clear(struct attention_copy *x)
{
    free(x->q), free(x->k), free(x->v), free(x->o);
}

void attention_run_clear(struct attention_run *r)
{
    copy_clear(&r->of);
    copy_clear(&r->other);
    free(r->exact);
    free(r->size);
    *r = (struct attention_run){ .outputs = 0 };
}

static size_t below(struct rng *rng, size_t n) { return rand_below(rng_bits(rng), n); }

/* Other tiles, another order of them, and splits; rows whose tile has all keys keep it.
 */
static void vary_tiles(struct attention_run *r, struct rng *rng)
{
    static const char *const directions[] = { "ascending", "descending" };
    const char *const given = r->of.a.vary;
    text_add(r->vary, sizeof r->vary, "%s", given ? given : "");
    r->of.a.vary = r->vary;
    char line[BITCUT_ATTENTION_MAX];
    struct bitcut_attention a = r->of.a;
    if (bitcut_attention_write(line, &a, NULL) != BITCUT_OK ||
        strstr(line, "p-divided=yes"))
        return;
    const bool quantized = !strstr(line, "q-block=0,");
    text_add(r->vary, sizeof r->vary, "%sdirection=%s,splits=%d", *r->vary ? "," : "",
             directions[below(rng, 2)], 1 + (int)below(rng, 4));
    if (!quantized)
        text_add(r->vary, sizeof r->vary, ",block-n=%d", 32 << (int)below(rng, 4));
}

/* The part of a run.  With a mask, keys after the last one that is seen are left out, so
   that each query keeps its own. */
static struct part part_of(const struct bitcut_attention *a, size_t *order,
                           struct rng *rng, bool own)
{
    const bool masked = a->window_left >= 0 || a->window_right >= 0;
    struct part p = { .queries = queries_of(a), .keys = a->keys, .order = order };
    p.head = below(rng, a->heads);
    p.from = own ? 0 : below(rng, a->queries - p.queries + 1);
    if (own) p.head = 0;
    if (masked && p.from + p.queries + a->keys <= a->queries)
        p.from = a->queries - p.queries;
    if (masked) p.keys = p.from + p.queries + a->keys - a->queries;
    for (size_t i = 0; i < a->keys; i++) order[i] = i;
    for (size_t i = a->keys; i > 1 && !own; i--) {
        const size_t at = below(rng, i), x = order[i - 1];
        order[i - 1] = order[at], order[at] = x;
    }
    return p;
}

static enum bitcut_status run_all(struct attention_run *r,
                                  const struct attention_test_sample *s, struct fault *f)
{
    char why[BITCUT_TEXT_MAX] = "";
    const struct attention_options options = { .threads = s->threads };
    enum bitcut_status status =
        attention_sizes(r->size, r->exact, &r->of.a, s->threads, NULL, f);
    if (status != BITCUT_OK) return status;
    status = attention_call(&r->of.a, &options, why);
    if (status == BITCUT_OK && r->has_other)
        status = attention_call(&r->other.a, &options, why);
    return status == BITCUT_OK ? status : fault_set(f, status, "%s", why);
}

enum bitcut_status attention_run_make(struct attention_run *r,
                                      const struct attention_test_sample *s, size_t i,
                                      struct fault *f)
{
    const struct bitcut_attention *const a = s->a;
    struct rng rng = rng_start(s->seed, i);
    size_t *const order = memory_allocate(a->keys, sizeof *order);
    *r = (struct attention_run){ .has_other = s->other != NULL };
    bool made = order != NULL;
    if (made) {
        const struct part p = part_of(a, order, &rng, i == 0);
        r->outputs = p.queries * a->value_dim;
        r->exact = memory_allocate(r->outputs, sizeof *r->exact);
        r->size = memory_allocate(r->outputs, sizeof *r->size);
        made = r->exact && r->size && copy_make(&r->of, a, &p) &&
               (!s->other || copy_make(&r->other, s->other, &p));
    }
    free(order);
    if (!made)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a run of attention");
    if (s->any_tiles && i) vary_tiles(r, &rng);
    return run_all(r, s, f);
}

/* --- measures --------------------------------------------------------------------- */

struct attention_pair attention_run_pair(const struct attention_run *r)
{
    const struct bitcut_attention *const a = &r->of.a;
    return (struct attention_pair){ .o = &a->o,
                                    .other = r->has_other ? &r->other.a.o : NULL,
                                    .exact = r->exact,
                                    .size = r->size,
                                    .heads = 1,
                                    .queries = a->queries,
                                    .value_dim = a->value_dim };
}

/* Sums over all outputs. */
struct sums {
    double errors, sizes, limit;
};

static void add_output(struct attention_measure *m, struct sums *s, size_t at, double o,
                       double want, double size)
{
    const bool number = isfinite(o) && isfinite(want) && isfinite(size);
    m->numbers += number;
    if (!number) {
        m->wrong += !attention_same(o, want);
        return;
    }
    const double error = fabs(o - want), relative = size > 0    ? error / size
                                                    : error > 0 ? (double)INFINITY
                                                                : 0;
    s->errors += error * error;
    s->sizes += size * size;
    m->above += relative > s->limit;
    if (!(relative > m->component)) return;
    m->component = relative;
    m->worst = at;
}

struct attention_measure attention_measure(const struct attention_pair *x, double limit,
                                           bool zeros)
{
    const size_t per = x->queries * x->value_dim;
    const double own = result_unit(matrix_format(x->o)),
                 u = x->other ? larger_double(own, result_unit(matrix_format(x->other)))
                              : own;
    struct attention_measure m = { .component = 0 };
    struct sums s = { .limit = limit * u };
    struct hostfp saved;
    hostfp_enter(&saved);
    for (size_t h = 0; h < x->heads; h++) {
        const struct view o = view_of(x->o, h, x->queries, x->value_dim, false);
        const struct view w =
            x->other ? view_of(x->other, h, x->queries, x->value_dim, false) : o;
        for (size_t i = 0; i < per; i++) {
            const size_t row = i / x->value_dim, column = i % x->value_dim,
                         at = h * per + i;
            add_output(&m, &s, at, zeros ? 0 : view_f64(&o, row, column),
                       x->other ? view_f64(&w, row, column) : x->exact[at], x->size[at]);
        }
    }
    m.component /= u;
    m.norm = s.sizes > 0    ? sqrt(s.errors / s.sizes) / u
             : s.errors > 0 ? (double)INFINITY
                            : 0;
    hostfp_leave(&saved);
    return m;
}
