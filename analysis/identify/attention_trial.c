/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/attention_trial.h"

#include "lib/base/size.h"
#include "lib/gemm/view.h"
#include "lib/number/bits.h"
#include "lib/number/rand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- agreement ---------------------------------------------------------------------- */

enum { FAR = 4 }; /* the largest distance of a query */

static double value_of(const struct view *v, size_t row, size_t column)
{
    return format_to_double(v->format, view_encoding(v, row, column));
}

/* Add a query; return whether it has the same bits. */
static bool add_query(struct attention_agreement_sums *to, const struct view *o,
                      const struct view *own, size_t row, size_t columns)
{
    double error = 0, norm = 0;
    size_t same = 0;
    size_t wild = 0;
    for (size_t p = 0; p < columns; p++) {
        const double x = value_of(o, row, p), y = value_of(own, row, p);
        const bool equal = view_encoding(o, row, p) == view_encoding(own, row, p) ||
                           (isnan(x) && isnan(y));
        same += equal;
        if (!equal && isfinite(x) && isfinite(y)) {
            const double top = fabs(x) > fabs(y) ? x : y;
            to->ulps = larger_double(to->ulps, fabs(x - y) / format_ulp(o->format, top));
            error += (x - y) * (x - y);
        } else wild += !equal;
        if (isfinite(x)) norm += x * x;
    }
    const double square = error > 0 ? error / norm : 0; /* infinite if O is 0 */
    to->squares += wild || !(square <= FAR * FAR) ? FAR * FAR : square;
    to->wild += wild;
    to->matched += same;
    to->compared += columns;
    to->queries++;
    return same == columns;
}

static struct attention_agreement agreement_of(const struct attention_agreement_sums *s)
{
    const double queries = s->queries ? (double)s->queries : 1;
    return (struct attention_agreement){ .matched = s->matched,
                                         .compared = s->compared,
                                         .distance = sqrt(s->squares / queries),
                                         .ulps = s->ulps,
                                         .wild = s->wild };
}

/* --- some heads of an attention ------------------------------------------------------
 */

/* Pointers to the matrices of heads. */
struct heads {
    const void *q[ATTENTION_SAMPLE_HEADS], *k[ATTENTION_SAMPLE_HEADS],
        *v[ATTENTION_SAMPLE_HEADS];
};

static const void *nth(const struct bitcut_matrix *x, size_t i)
{
    return x->each ? x->each[i] : matrix_nth(x, i);
}

/* The plan for some heads alone, which have K and V of their own; splits are those of all
   heads.  O is written to `own`. */
static struct attention_plan plan_of_heads(struct heads *to, const size_t *head,
                                           size_t count, void *own,
                                           const struct attention_plan *plan)
{
    struct attention_plan p = *plan;
    struct bitcut_attention *const a = &p.a;
    const size_t shared = a->heads / a->kv_heads;
    for (size_t i = 0; i < count; i++) {
        to->q[i] = nth(&plan->a.q, head[i]);
        to->k[i] = nth(&plan->a.k, head[i] / shared);
        to->v[i] = nth(&plan->a.v, head[i] / shared);
    }
    a->heads = a->kv_heads = count;
    a->q.each = to->q, a->k.each = to->k, a->v.each = to->v;
    a->lse = NULL;
    a->o = (struct bitcut_matrix){ .to = own,
                                   .format = plan->a.o.format,
                                   .stride = a->queries * a->value_dim };
    return p;
}

double attention_work(const struct attention_plan *plan, size_t queries)
{
    return (double)queries * (double)plan->a.keys *
           (double)(plan->a.head_dim + plan->a.value_dim);
}

static void *allocate_own(const struct bitcut_attention *a, size_t heads)
{
    size_t count;
    if (!size_multiply(&count, a->queries, a->value_dim) ||
        !size_multiply(&count, count, heads))
        return NULL;
    return memory_allocate(count, (size_t)format_bytes(matrix_format(&a->o)));
}

/* --- operands that were made before ---------------------------------------------------
 */

/* What operands depend on, in addition to the heads. */
struct operands_key {
    size_t keys;
    uint32_t t;
    int scaling, q_block, k_block, smooth_k, v_channels;
    const struct bitcut_format *v;
};

struct attention_cached {
    bool used;
    struct operands_key key;
    struct attention_operands x;
};

static void set_key(struct operands_key *k, const struct attention_plan *plan,
                    const struct attention_variant *v)
{
    const struct bitcut_attention_row *const r = &plan->row;
    memset(k, 0, sizeof *k);
    k->keys = plan->a.keys - v->extra;
    if (r->scaling >= SCALED_QUERIES) {
        k->scaling = (int)r->scaling;
        k->t = bits_of_float(plan->t);
    }
    k->q_block = r->q_block, k->k_block = r->k_block;
    k->smooth_k = r->smooth_k, k->v_channels = r->v_channels;
    if (r->v_channels) k->v = plan->pv.unit->b;
}

static void forget(struct attention_sample *s)
{
    for (int i = 0; i < ATTENTION_CACHE && s->cache; i++) {
        if (s->cache[i].used) attention_operands_clear(&s->cache[i].x);
        s->cache[i].used = false;
    }
}

/* The operands of a plan of the sample's heads; NULL: no memory. */
static const struct attention_operands *operands_of(struct attention_sample *s,
                                                    const struct attention_plan *plan,
                                                    const struct attention_variant *v)
{
    const size_t padded = plan->tiles * plan->block_n;
    struct attention_cached *const c = s->cache;
    struct operands_key key;
    int at = 0;
    set_key(&key, plan, v);
    while (at < ATTENTION_CACHE && !(c[at].used && c[at].x.padded >= padded &&
                                     !memcmp(&c[at].key, &key, sizeof key)))
        at++;
    const bool known = at < ATTENTION_CACHE;
    if (!known) at = ATTENTION_CACHE - 1;
    struct attention_cached one = c[at];
    if (!known) {
        if (one.used) attention_operands_clear(&one.x);
        one.used = attention_fault_operands(&one.x, plan, v, s->threads) == BITCUT_OK;
        one.key = key;
    }
    memmove(c + 1, c, (size_t)at * sizeof *c);
    c[0] = one;
    return one.used ? &c[0].x : NULL;
}

/* --- the sample ----------------------------------------------------------------------
 */

void attention_sample_clear(struct attention_sample *s)
{
    forget(s);
    free(s->cache);
    free(s->own);
    free(s->reference);
    *s = (struct attention_sample){ 0 };
}

/* The position of a head in the sample; `heads` if it is not there. */
static size_t position_of(const struct attention_sample *s, size_t head)
{
    size_t i = 0;
    while (i < s->heads && s->head[i] != head) i++;
    return i;
}

static bool has_place(const struct attention_sample *s, struct attention_place place)
{
    for (size_t i = 0; i < s->places; i++)
        if (s->head[s->place[i].head] == place.head && s->place[i].query <= place.query &&
            place.query < s->place[i].query + s->place[i].count)
            return true;
    return false;
}

enum bitcut_status attention_sample_add(struct attention_sample *s,
                                        struct attention_place place, struct fault *f)
{
    size_t at = position_of(s, place.head);
    if (has_place(s, place) || s->places == ATTENTION_SAMPLE_MAX ||
        at == ATTENTION_SAMPLE_HEADS)
        return BITCUT_OK;
    if (at == s->heads) {
        void *const own = allocate_own(s->a, s->heads + 1);
        if (!own)
            return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the sample");
        free(s->own);
        s->own = own;
        forget(s);
        s->head[s->heads++] = place.head;
    }
    s->place[s->places++] = (struct attention_place){ at, place.query, place.count };
    s->queries += place.count;
    return BITCUT_OK;
}

/* Thing i of `count`: spread over all, and the last of all, because it sees most keys. */
static size_t spread_random(size_t i, size_t count, size_t all, struct rng *rng)
{
    const size_t from = i * all / count, to = (i + 1) * all / count;
    return i + 1 == count ? all - 1 : from + (size_t)rand_below(rng_bits(rng), to - from);
}

enum bitcut_status attention_sample_make(struct attention_sample *s,
                                         const struct bitcut_attention *a, size_t queries,
                                         uint64_t seed, struct fault *f)
{
    enum { STREAM = 0x61747465 /* "atte" */, TOGETHER = 8 };
    struct rng rng = rng_start(seed, STREAM);
    const size_t heads = smaller(smaller(a->heads, ATTENTION_SAMPLE_HEADS / 2),
                                 larger(divide_up(queries, a->queries), 2)),
                 run = smaller(smaller(TOGETHER, larger(1, queries / heads)), a->queries),
                 runs = divide_up(a->queries, run),
                 each = smaller(larger(1, queries / heads / run), runs);
    s->a = a;
    s->cache = calloc(ATTENTION_CACHE, sizeof *s->cache);
    enum bitcut_status status =
        s->cache ? BITCUT_OK
                 : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the sample");
    for (size_t h = 0; h < heads && status == BITCUT_OK; h++) {
        const size_t head = spread_random(h, heads, a->heads, &rng);
        for (size_t i = 0; i < each && status == BITCUT_OK; i++) {
            const size_t query = run * spread_random(i, each, runs, &rng),
                         count = smaller(run, a->queries - query);
            status = attention_sample_add(
                s, (struct attention_place){ head, query, count }, f);
        }
    }
    if (status != BITCUT_OK) attention_sample_clear(s);
    return status;
}

enum bitcut_status attention_sample_try(struct attention_agreement *to,
                                        struct attention_sample *s,
                                        const struct attention_plan *plan,
                                        const struct attention_variant *v,
                                        struct fault *f)
{
    const struct progress quiet = { .stop = s->stop };
    struct attention_agreement_sums sums = { 0 };
    struct heads of;
    const struct attention_plan p = plan_of_heads(&of, s->head, s->heads, s->own, plan);
    const struct attention_options options = { .threads = 1, /* a sample is small */
                                               .progress = &quiet,
                                               .only = s->place,
                                               .only_count = s->places,
                                               .operands = operands_of(s, &p, v) };
    const struct bitcut_attention *const a = s->a;
    if (!options.operands)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the operands");
    const enum bitcut_status status = attention_run(&p, &options, f);
    for (size_t i = 0; i < s->places && status == BITCUT_OK; i++) {
        const size_t h = s->place[i].head;
        const struct view o = view_of(&a->o, s->head[h], a->queries, a->value_dim, false),
                          own = view_of(&p.a.o, h, a->queries, a->value_dim, false);
        for (size_t q = 0; q < s->place[i].count; q++)
            add_query(&sums, &o, &own, s->place[i].query + q, a->value_dim);
    }
    *to = agreement_of(&sums);
    return status;
}

/* The output at a position of `reference`, of O or of the last result. */
static double output_at(const struct attention_sample *s, size_t at, bool of_o)
{
    const struct bitcut_attention *const a = s->a;
    const struct bitcut_matrix own = { .at = s->own,
                                       .format = a->o.format,
                                       .stride = a->queries * a->value_dim };
    size_t query = at / a->value_dim, i = 0;
    while (query >= s->place[i].count) query -= s->place[i++].count;
    const size_t h = s->place[i].head;
    const struct view v =
        of_o ? view_of(&a->o, s->head[h], a->queries, a->value_dim, false)
             : view_of(&own, h, a->queries, a->value_dim, false);
    return value_of(&v, s->place[i].query + query, at % a->value_dim);
}

void attention_sample_refer(struct attention_sample *s)
{
    const size_t count = s->queries * s->a->value_dim;
    free(s->reference);
    s->reference = memory_allocate(count, sizeof *s->reference);
    for (size_t i = 0; s->reference && i < count; i++)
        s->reference[i] = output_at(s, i, false);
}

double attention_sample_error(const struct attention_sample *s, bool of_o)
{
    const size_t n = s->a->value_dim;
    double sum = 0;
    for (size_t i = 0; s->reference && i < s->queries; i++) {
        double error = 0, norm = 0;
        for (size_t p = 0; p < n; p++) {
            const double x = output_at(s, i * n + p, of_o), y = s->reference[i * n + p];
            if (isfinite(y)) norm += y * y;
            if (isfinite(x) && isfinite(y)) error += (x - y) * (x - y);
            else if (isfinite(x) != isfinite(y)) error = (double)INFINITY;
        }
        const double square = error > 0 ? error / norm : 0;
        sum += square <= FAR * FAR ? square : FAR * FAR;
    }
    return s->reference ? sqrt(sum / (double)larger(1, s->queries)) : (double)INFINITY;
}

/* --- all of O ------------------------------------------------------------------------
 */

/* Heads that are computed together: few queries are computed by more heads. */
static size_t group_of(const struct bitcut_attention *a)
{
    enum { QUERIES = 512 };
    return smaller(ATTENTION_SAMPLE_HEADS, larger(1, QUERIES / a->queries));
}

/* A comparison of a plan with O. */
struct comparison {
    const struct bitcut_attention *a;
    const struct attention_plan *plan;
    const struct attention_variant *v;
    struct attention_options options;
    struct attention_agreement_sums sums;
    struct attention_place *differing;
    size_t differ_count, differ_max;
    void *own;
};

/* Compute and compare queries of heads from `first` on: `queries` of each, spread. */
static enum bitcut_status compare_heads(struct comparison *c, size_t first, size_t count,
                                        size_t queries, struct fault *f)
{
    const struct bitcut_attention *const a = c->a;
    const struct spread_evenly some = spread_evenly(a->queries, (double)queries);
    size_t head[ATTENTION_SAMPLE_HEADS];
    struct attention_operands x;
    struct heads of;
    for (size_t i = 0; i < count; i++) head[i] = first + i;
    const struct attention_plan p = plan_of_heads(&of, head, count, c->own, c->plan);
    struct attention_place *const place =
        memory_allocate(count * some.count, sizeof *place);
    enum bitcut_status status =
        place ? attention_fault_operands(&x, &p, c->v, c->options.threads)
              : BITCUT_NO_MEMORY;
    if (status != BITCUT_OK) {
        free(place);
        return fault_set(f, status, "not enough memory for the operands");
    }
    for (size_t i = 0; i < count * some.count; i++)
        place[i] = (struct attention_place){ i / some.count,
                                             spread_place(&some, i % some.count), 1 };
    c->options.operands = &x;
    c->options.only = some.count < a->queries ? place : NULL;
    c->options.only_count = count * some.count;
    status = attention_run(&p, &c->options, f);
    for (size_t i = 0; i < count * some.count && status == BITCUT_OK; i++) {
        const size_t h = place[i].head, q = place[i].query;
        const struct view o = view_of(&a->o, first + h, a->queries, a->value_dim, false),
                          y = view_of(&p.a.o, h, a->queries, a->value_dim, false);
        if (!add_query(&c->sums, &o, &y, q, a->value_dim) &&
            c->differ_count < c->differ_max)
            c->differing[c->differ_count++] = (struct attention_place){ first + h, q, 1 };
    }
    attention_operands_clear(&x);
    free(place);
    return status;
}

enum bitcut_status
attention_compare(struct attention_agreement *to, struct attention_place *differing,
                  size_t *differ_count, const struct bitcut_attention *a,
                  const struct attention_plan *plan, const struct attention_variant *v,
                  double work, int threads, const volatile sig_atomic_t *stop,
                  struct fault *f)
{
    const struct progress quiet = { .stop = stop };
    const size_t group = group_of(a);
    const double groups = (double)divide_up(a->heads, group),
                 most = work / groups / attention_work(plan, group);
    struct comparison c = { .a = a,
                            .plan = plan,
                            .v = v,
                            .options = { .threads = threads, .progress = &quiet },
                            .differing = differing,
                            .differ_max = *differ_count,
                            .own = allocate_own(a, group) };
    const size_t queries =
        most < (double)a->queries ? larger(1, (size_t)most) : a->queries;
    enum bitcut_status status =
        c.own ? BITCUT_OK
              : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the emulator's O");
    for (size_t h = 0; h < a->heads && status == BITCUT_OK; h += group)
        status = compare_heads(&c, h, smaller(group, a->heads - h), queries, f);
    free(c.own);
    *to = agreement_of(&c.sums);
    *differ_count = c.differ_count;
    return status;
}
