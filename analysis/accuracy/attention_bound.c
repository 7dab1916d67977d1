/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/attention_bound.h"

#include "analysis/accuracy/accumulation_error.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/gemm/view.h"
#include "lib/number/bits.h"
#include "lib/number/elementary.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>

#define U   0x1p-24
#define LN2 0x1.62e42fefa39f0p-1

const struct attention_bound_row attention_bounds[] = {
    [ATTENTION_APRIORI] = { "apriori",
                            "norms of the rows of Q and K, and the largest |V|", true },
    [ATTENTION_WEIGHTED] = { "weighted", "the scores and weights of each query", false },
    { NULL, NULL, false }
};

/* --- constants of an attention ---------------------------------------------------- */

/* The constants of the derivation in the header. */
struct constants {
    double scale;
    double a, b, o;     /* of scores                                                 */
    double x, rescales; /* exponentials: error, and rescales                         */
    double offset;      /* times ln 2                                                */
    double p_one;       /* 2^offset                                                  */
    double cast, cast_least, product; /* c; of one P; g                              */
    double least;         /* of the products of all tiles                              */
    double sum, k;        /* l, k                                                      */
    double splits, merge; /* number, and the relative error of exp and log            */
    const struct bitcut_format *format;
};

/* The errors of a chain of products with k elements on a plan: relative to the products,
   relative to what it starts from, absolute. */
static enum bitcut_status chain_error(double error[3], const struct gemm_plan *plan,
                                      size_t k, struct fault *f)
{
    struct accumulation path;
    if (plan->integer) {
        error[0] = U, error[1] = error[2] = 0;
        return BITCUT_OK;
    }
    if (accumulation_of(&path, plan, k) != BITCUT_OK)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a bound");
    const struct accumulation_error e =
        accumulation_error_of(plan, &path, 0x3f800000, 0x3f800000);
    error[0] = e.term[0];
    error[1] = larger_double(e.start, e.update);
    error[2] = e.before + e.after;
    return BITCUT_OK;
}

/* The error of P V relative to the magnitudes of its products, and its absolute one. */
static enum bitcut_status set_product(struct constants *c, const struct attention_plan *p,
                                      struct fault *f)
{
    const size_t keys = p->row.from_zero > 0 ? (size_t)p->row.from_zero : p->block_n;
    const double tiles = (double)p->split_tiles * (double)(p->block_n / keys);
    double error[3];
    const enum bitcut_status status = chain_error(error, &p->pv_plan, keys, f);
    if (status != BITCUT_OK) return status;
    const double later = p->row.from_zero ? 2 * U : error[1] + U + error[1] * U;
    c->product = (1 + error[0]) * exp(tiles * later) * (1 + 0x1p-40) - 1;
    c->least = tiles * error[2] * (1 + c->product);
    return BITCUT_OK;
}

/* The relative error of the sum of P: an addition for each element of a thread, then two
   roundings and a reduction for each tile. */
static double sum_error(const struct attention_plan *p)
{
    const struct bitcut_attention_row *const r = &p->row;
    const double chunks = ceil((double)p->block_n / (double)(r->lanes * r->chunk)),
                 depth = log2((double)r->lanes);
    const double adds = (double)p->split_tiles * (chunks * r->chunk + 3 + depth) + depth;
    return expm1(adds * U * (1 + 0x1p-20));
}

static enum bitcut_status constants_of(struct constants *c,
                                       const struct attention_plan *p, struct fault *f)
{
    const struct bitcut_attention_row *const r = &p->row;
    const struct bitcut_format *const of_p = p->pv.unit->a;
    const double reciprocal = r->reciprocal->error;
    double error[3];
    *c = (struct constants){ .scale = fabs(value_of_float(p->a.scale)),
                             .o = r->scaling == SCALED_OPERANDS ? 6 : 0,
                             .x = expm1(r->exp->error * 1.001),
                             .rescales = (double)p->split_tiles,
                             .offset = fabs(value_of_float(r->offset)) * LN2,
                             .p_one = exp2(value_of_float(r->offset)),
                             .cast = ldexp(1, -of_p->fraction_bits - 1),
                             .splits = (double)r->splits,
                             .merge = r->merge->error,
                             .format = matrix_format(&p->a.o) };
    c->cast_least =
        ldexp(1, unit_flushes_operands(p->pv.unit) ? format_emin(of_p)
                                                   : format_least_exponent(of_p) - 1);
    enum bitcut_status status = chain_error(error, &p->qk_plan, p->a.head_dim, f);
    c->a = error[0], c->b = error[2] * larger_double(1, 1 / c->scale);
    if (status == BITCUT_OK) status = set_product(c, p, f);
    c->sum = sum_error(p);
    c->k = c->sum < 1 ? (1 + reciprocal) * (1 + U) * (1 + U) / (1 - c->sum)
                      : (double)INFINITY;
    return status;
}

/* Whether the bounds hold for a plan, or why not. */
static bool applies(const char **why, const struct attention_plan *p)
{
    const struct bitcut_attention *const a = &p->a;
    const double threshold = value_of_float(p->row.threshold);
    *why = NULL;
    if (p->row.q_block || p->row.smooth_k || p->row.v_channels ||
        p->row.scaling == SCALED_QUERIES)
        *why = "the row quantizes its operands";
    else if (!format_holds(p->qk.unit->a, matrix_format(&a->q)) ||
             !format_holds(p->qk.unit->b, matrix_format(&a->k)) ||
             !format_holds(p->pv.unit->b, matrix_format(&a->v)))
        *why = "the row rounds its operands to another format";
    else if (unit_flushes_operands(p->qk.unit) || unit_flushes_operands(p->pv.unit))
        *why = "a unit reads subnormal operands as zeros";
    else if (p->qk_plan.integer || p->pv_plan.integer)
        *why = "a unit multiplies integers";
    else if (exp2(value_of_float(p->row.offset) + threshold) * 1.01 >
             format_largest_value(p->pv.unit->a))
        *why = "P may exceed the largest value of its format";
    return !*why;
}

/* --- one output ------------------------------------------------------------------- */

/* d of a key, from |e_j|, |q||k_j| and m. */
static double weight_error(const struct constants *c, double e, double size, double m)
{
    const double own = c->scale * (c->a * size + c->b), tiny = 0x1p-100;
    e += own;
    const double d = own + c->o * U * c->scale * size + 4 * U * e +
                     U * (e + m + c->offset) + c->x * (1 + c->rescales) +
                     8 * U * (m + c->offset);
    return d * (1 + 0x1p-20) + tiny;
}

/* The limit, where weights move O by at most `moved`; `size` is |V|, `o` |O|, `least`
   what P loses below its normal numbers times V, in units of O. */
static double limit_of(const struct constants *c, double moved, double size, double least,
                       double m, double o, double keys)
{
    const double v = size + moved, relative = c->cast + c->product + c->cast * c->product;
    double limit = moved + c->k * relative * v + (c->k - 1) * v + c->k * least;
    if (c->splits > 1) {
        const double lse = m + log(keys) + 1; /* the magnitude of a log-sum-exp */
        const double h = 8 * c->merge * (1 + lse) + 16 * U * (1 + lse) + 2 * c->sum;
        limit += expm1(h + c->splits * 2 * U) * (v + limit);
    }
    limit *= 1 + 0x1p-30;
    return limit + format_rounding_error(c->format, (o + limit) * (1 + 0x1p-30));
}

/* --- all of them ------------------------------------------------------------------ */

/* A head: values of Q, K and V, and their norms. */
struct lines {
    double *q, *k, *v; /* [query][dim], [key][dim], [key][value_dim] */
    double k_norm;     /* the largest of a row of K                  */
    double *v_most;    /* [value_dim]                                */
    double *v_sum;     /* sums of |V| over the keys                  */
};

/* A query while its limits are computed: [key]. */
struct scores {
    double *e, *size, *weight;
};

static bool lines_make(struct lines *x, const struct bitcut_attention *a)
{
    x->q = memory_allocate(a->queries * a->head_dim, sizeof *x->q);
    x->k = memory_allocate(a->keys * a->head_dim, sizeof *x->k);
    x->v = memory_allocate(a->keys * a->value_dim, sizeof *x->v);
    x->v_most = memory_allocate(a->value_dim, sizeof *x->v_most);
    x->v_sum = memory_allocate(a->value_dim, sizeof *x->v_sum);
    return x->q && x->k && x->v && x->v_most && x->v_sum;
}

static void lines_clear(struct lines *x)
{
    free(x->q), free(x->k), free(x->v), free(x->v_most), free(x->v_sum);
}

static void read_values(double *to, const struct bitcut_matrix *x, size_t i, size_t rows,
                        size_t cols)
{
    const struct view v = view_of(x, i, rows, cols, false);
    for (size_t r = 0; r < rows; r++)
        for (size_t p = 0; p < cols; p++) to[r * cols + p] = view_f64(&v, r, p);
}

static double norm_of(const double *x, size_t count)
{
    double sum = 0;
    for (size_t p = 0; p < count; p++) sum += x[p] * x[p];
    return sqrt(sum) * (1 + 0x1p-30);
}

static void lines_read(struct lines *x, const struct bitcut_attention *a, size_t head)
{
    const size_t kv = head / (a->heads / a->kv_heads), dim = a->value_dim;
    read_values(x->q, &a->q, head, a->queries, a->head_dim);
    read_values(x->k, &a->k, kv, a->keys, a->head_dim);
    read_values(x->v, &a->v, kv, a->keys, dim);
    x->k_norm = 0;
    for (size_t j = 0; j < a->keys; j++) {
        const double norm = norm_of(x->k + j * a->head_dim, a->head_dim);
        if (!(norm <= x->k_norm)) x->k_norm = norm;
    }
    for (size_t p = 0; p < dim; p++) {
        x->v_most[p] = x->v_sum[p] = 0;
        for (size_t j = 0; j < a->keys; j++) {
            const double v = fabs(x->v[j * dim + p]);
            x->v_sum[p] += v;
            if (!(v <= x->v_most[p])) x->v_most[p] = v;
        }
    }
}

/* What P of `keys` keys with a sum `v` of |V| loses below normal numbers, divided by the
   smallest sum of P; d is the error of the largest key. */
static double least_of(const struct constants *c, double keys, double v, double v_most,
                       double d, bool divided)
{
    const double tiny = 0x1p-125 * (c->rescales + 2);
    const double one = divided ? 1 : c->p_one * exp(-d);
    return (c->cast_least * v + c->least) / one +
           tiny * 2 * keys * v_most / (c->p_one * exp(-d));
}

/* Limits by norms. */
static void apriori(double *limit, const struct constants *c, const struct lines *x,
                    const struct attention_plan *p, size_t query, size_t keys)
{
    const struct bitcut_attention *const a = &p->a;
    const double size = norm_of(x->q + query * a->head_dim, a->head_dim) * x->k_norm;
    const double e = c->scale * size, m = e + c->scale * (c->a * size + c->b),
                 d = weight_error(c, e, size, m);
    for (size_t i = 0; i < a->value_dim; i++) {
        const double v = x->v_most[i];
        limit[i] =
            limit_of(c, expm1(2 * d) * v, v,
                     least_of(c, (double)keys, x->v_sum[i], v, d, p->row.p_divided), m, v,
                     (double)a->keys);
    }
}

/* The scores of a query and their weights; return m. */
static double set_scores(struct scores *s, const struct constants *c,
                         const struct lines *x, const struct attention_plan *p,
                         size_t query, size_t from, size_t to)
{
    const size_t dim = p->a.head_dim;
    const double scale = value_of_float(p->a.scale);
    const double *const q = x->q + query * dim;
    double most = -(double)INFINITY, m = 0, sum = 0;
    for (size_t j = from; j < to; j++) {
        const double *const k = x->k + j * dim;
        double score = 0, size = 0;
        for (size_t i = 0; i < dim; i++) score += q[i] * k[i], size += fabs(q[i] * k[i]);
        s->e[j] = scale * score, s->size[j] = size * (1 + 0x1p-30);
        if (s->e[j] > most) most = s->e[j];
        m = larger_double(m, fabs(s->e[j]) + c->scale * (c->a * s->size[j] + c->b));
    }
    for (size_t j = from; j < to; j++) {
        const double below = s->e[j] - most; /* NaN: O is not finite */
        sum += s->weight[j] = isnan(below) ? below : elementary_exp(below);
    }
    for (size_t j = from; j < to; j++) s->weight[j] /= sum;
    return m;
}

/* Limits by scores and weights, which binary64 gives to about 2^-40. */
static void weighted(double *limit, const struct constants *c, const struct lines *x,
                     const struct attention_plan *p, size_t query, size_t from, size_t to,
                     struct scores *s)
{
    const size_t dim = p->a.value_dim;
    const double m = set_scores(s, c, x, p, query, from, to);
    double all = 0, most = 0;
    for (size_t j = from; j < to; j++) {
        const double d = weight_error(c, fabs(s->e[j]), s->size[j], m);
        most = larger_double(most, d);
        s->size[j] = s->weight[j] * expm1(d) * (1 + 0x1p-30);
        all += s->size[j];
    }
    for (size_t i = 0; i < dim; i++) {
        double size = 0, moved = 0, o = 0, sum = 0;
        for (size_t j = from; j < to; j++) {
            const double v = x->v[j * dim + i];
            size += s->weight[j] * fabs(v), moved += s->size[j] * fabs(v);
            o += s->weight[j] * v, sum += fabs(v);
        }
        size *= 1 + 0x1p-30;
        moved = all < 0.5 ? (moved + size * all) / (1 - all) * (1 + 0x1p-30)
                          : (double)INFINITY;
        limit[i] = limit_of(
            c, moved, size,
            least_of(c, (double)(to - from), sum, x->v_most[i], most, p->row.p_divided),
            m, fabs(o) + size * 0x1p-30, (double)p->a.keys);
    }
}

/* The limits of a query. */
static void run_query(double *row, const struct attention_bound_row *bound,
                      const struct constants *c, const struct lines *x,
                      const struct attention_plan *p, size_t query, struct scores *s)
{
    size_t from, to;
    attention_keys_seen(&from, &to, &p->a, (int64_t)query);
    if (from == to)
        for (size_t v = 0; v < p->a.value_dim; v++) row[v] = 0;
    else if (bound->by_norms) apriori(row, c, x, p, query, to - from);
    else weighted(row, c, x, p, query, from, to, s);
    for (size_t v = 0; v < p->a.value_dim; v++)
        if (!isfinite(row[v])) row[v] = (double)NAN;
}

/* One head, by all threads: these queries, or all. */
static bool run_head(double *limit, const struct attention_bound_row *bound,
                     const struct constants *c, const struct lines *x,
                     const struct attention_plan *p, const size_t *query, size_t count,
                     int threads, const struct progress *progress)
{
    const struct bitcut_attention *const a = &p->a;
    bool made = true;
    (void)threads;
#pragma omp parallel num_threads(threads_for(threads, count))
    {
        struct hostfp saved;
        struct scores s = { memory_allocate(a->keys, sizeof *s.e),
                            memory_allocate(a->keys, sizeof *s.size),
                            memory_allocate(a->keys, sizeof *s.weight) };
        const bool enough = s.e && s.size && s.weight;
        hostfp_enter(&saved);
#pragma omp for schedule(dynamic, 16)
        for (size_t i = 0; i < count; i++)
            if (enough && !progress_stopped(progress))
                run_query(limit + i * a->value_dim, bound, c, x, p, query ? query[i] : i,
                          &s);
        hostfp_leave(&saved);
        if (!enough) {
#pragma omp atomic write
            made = false;
        }
        free(s.e), free(s.size), free(s.weight);
    }
    return made;
}

enum bitcut_status attention_bound_limits_of(double *limit,
                                             const struct attention_bound_row *bound,
                                             const struct bitcut_attention *a,
                                             const size_t *query, size_t count,
                                             int threads, const struct progress *progress,
                                             struct fault *f)
{
    struct attention_plan plan;
    struct constants c;
    struct lines x = { NULL };
    struct hostfp saved;
    const char *why;
    enum bitcut_status status = attention_plan_make(&plan, a, f);
    if (status != BITCUT_OK) return status;
    if (!applies(&why, &plan)) return fault_set(f, BITCUT_UNSUPPORTED, "%s", why);
    hostfp_enter(&saved);
    status = constants_of(&c, &plan, f);
    hostfp_leave(&saved);
    bool made = status == BITCUT_OK && lines_make(&x, &plan.a);
    for (size_t h = 0; h < a->heads && made; h++) {
        hostfp_enter(&saved);
        lines_read(&x, &plan.a, h);
        hostfp_leave(&saved);
        made = run_head(limit + h * count * plan.a.value_dim, bound, &c, &x, &plan, query,
                        count, threads, progress);
    }
    lines_clear(&x);
    if (status != BITCUT_OK) return status;
    if (!made) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a bound");
    return progress_end(BITCUT_OK, progress, f);
}

enum bitcut_status attention_bound_limits(double *limit,
                                          const struct attention_bound_row *bound,
                                          const struct bitcut_attention *a, int threads,
                                          const struct progress *progress,
                                          struct fault *f)
{
    return attention_bound_limits_of(limit, bound, a, NULL, a->queries, threads, progress,
                                     f);
}
