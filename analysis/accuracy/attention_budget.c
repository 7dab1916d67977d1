/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/attention_budget_sums.h"

#include "analysis/accuracy/attention_oracle.h"
#include "analysis/accuracy/dyadic.h"
#include "lib/gemm/view.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"
#include "lib/number/mpfr_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct table_row attention_parts[] = {
    [ATTENTION_OPERANDS] = { "operands", "Q, K and V as the products read them: rounded "
                                         "to their formats, quantized, scaled" },
    [ATTENTION_SCORES] = { "scores", "sums of Q K^T on their unit" },
    [ATTENTION_EXPONENTS] = { "exponents",
                              "scores times the scale, less the maximum, rounded" },
    [ATTENTION_RESCALE] = { "rescale",
                            "factors of a new maximum, and O times such a factor" },
    [ATTENTION_EXP] = { "exp", "exponentials" },
    [ATTENTION_CAST] = { "cast", "P rounded to its format" },
    [ATTENTION_ALIGNMENT] = { "alignment",
                              "bits that the unit of P V cuts before it adds" },
    [ATTENTION_ACCUMULATION] = { "accumulation",
                                 "sums of P V rounded to accumulators, and added" },
    [ATTENTION_SUM] = { "sum", "the sum of P" },
    [ATTENTION_DIVISION] = { "division", "O or P divided by the sum" },
    [ATTENTION_MERGE] = { "merge", "splits merged" },
    [ATTENTION_OUTPUT] = { "output",
                           "factors of V, and the rounding to the format of O" },
    { NULL, NULL }
};

/* --- values ----------------------------------------------------------------------- */

/* A value: a numerator by a denominator.  It differs from the value before by a part. */
struct step {
    enum attention_part part;
    enum numerator n;
    enum denominator d;
};

/* Values between those of exact exponents and the merge of splits. */
/* clang-format off */
static const struct step undivided_p[] = {
    { ATTENTION_RESCALE,      OF_EXPS,    BY_EXPS },
    { ATTENTION_EXP,          OF_P,       BY_P },
    { ATTENTION_CAST,         OF_CAST,    BY_P },
    { ATTENTION_ALIGNMENT,    OF_ALIGNED, BY_P },
    { ATTENTION_ACCUMULATION, OF_UNIT,    BY_P },
    { ATTENTION_RESCALE,      OF_O,       BY_P },
    { ATTENTION_SUM,          OF_O,       BY_SUM },
    { ATTENTION_DIVISION,     OF_DIVIDED, BY_SUM },
    { ATTENTION_PARTS,        NUMERATORS, DENOMINATORS }
};
static const struct step divided_p[] = {
    { ATTENTION_RESCALE,      OF_EXPS,    BY_EXPS },
    { ATTENTION_EXP,          OF_P,       BY_P },
    { ATTENTION_SUM,          OF_P,       BY_SUM },
    { ATTENTION_DIVISION,     OF_GIVEN,   BY_ONE },
    { ATTENTION_CAST,         OF_CAST,    BY_ONE },
    { ATTENTION_ALIGNMENT,    OF_ALIGNED, BY_ONE },
    { ATTENTION_ACCUMULATION, OF_UNIT,    BY_ONE },
    { ATTENTION_RESCALE,      OF_O,       BY_ONE },
    { ATTENTION_PARTS,        NUMERATORS, DENOMINATORS }
};
/* clang-format on */

/* --- values with exact exponentials ------------------------------------------------ */

/* Values of an output, as multiples of 2^-DYADIC_UNIT.  `now` is the last one. */
struct values {
    mpz_t part[ATTENTION_PARTS], first, now, next;
    long grid; /* values with 192 bits are rounded to multiples of 2^grid */
};

/* x is the next value: what it differs from the last one belongs to this part;
   ATTENTION_PARTS: it is the first one. */
static void take_value(struct values *to, enum attention_part part)
{
    if (part == ATTENTION_PARTS) mpz_set(to->first, to->next);
    else {
        mpz_sub(to->now, to->next, to->now);
        mpz_add(to->part[part], to->part[part], to->now);
    }
    mpz_set(to->now, to->next);
}

static void take_mpfr(struct values *to, enum attention_part part, mpfr_ptr x)
{
    mpfr_mul_2si(x, x, -to->grid, MPFR_RNDN);
    mpfr_get_z(to->next, x, MPFR_RNDN);
    dyadic_shift(to->next, to->grid + DYADIC_UNIT);
    take_value(to, part);
}

/* The mean of V by weights that are the exponentials of q k. */
static bool take_mean(struct values *to, struct attention_output_budget *out,
                      const struct attention_query *q, enum attention_part part,
                      const struct attention_oracle_query *x)
{
    struct attention_oracle *const o = attention_oracle_open(x);
    double size;
    mpfr_t mean;
    if (!o) return false;
    mpfr_init2(mean, ATTENTION_QUERY_BITS);
    for (size_t i = 0; i < q->count; i++) {
        attention_oracle_mean(mean, &size, o, i);
        take_mpfr(&to[i], part, mean);
        if (part == ATTENTION_PARTS) out[i].size = size;
    }
    mpfr_clear(mean);
    attention_oracle_close(o);
    return true;
}

/* Q, K and V of the caller, or as the products read them, of a query. */
struct read_lines {
    double *q, *k, *v; /* [dim], [dim][key], [key][column] */
};

static void read_given(struct read_lines *to, const struct attention_query *q)
{
    const struct bitcut_attention *const a = &q->w->plan->a;
    const struct view x = view_of(&a->q, q->head, a->queries, a->head_dim, false),
                      k = view_of(&a->k, q->kv, a->keys, a->head_dim, false),
                      v = view_of(&a->v, q->kv, a->keys, a->value_dim, false);
    const size_t keys = q->to - q->from;
    for (size_t p = 0; p < a->head_dim; p++) {
        to->q[p] = view_f64(&x, q->at, p);
        for (size_t j = 0; j < keys; j++)
            to->k[p * keys + j] = view_f64(&k, q->from + j, p);
    }
    for (size_t j = 0; j < keys; j++)
        for (size_t i = 0; i < q->count; i++)
            to->v[j * q->count + i] = view_f64(&v, q->from + j, q->column[i]);
}

static double operand(const struct bitcut_format *format, uint32_t x)
{
    return value_of_float(
        format_is_integer(format) ? x : f32_through(format, &roundings[ROUND_RN], x));
}

static void read_rounded(struct read_lines *to, const struct attention_query *q)
{
    const struct attention_plan *const plan = q->w->plan;
    const struct attention_operands *const x = q->w->x;
    const size_t keys = q->to - q->from, dim = plan->a.head_dim,
                 row = q->head * plan->a.queries + q->at;
    for (size_t p = 0; p < dim; p++) {
        to->q[p] = operand(plan->qk.unit->a, x->q[row * dim + p]) *
                   (x->q_factor ? (double)x->q_factor[row] : 1);
        for (size_t j = 0; j < keys; j++)
            to->k[p * keys + j] =
                operand(plan->qk.unit->b,
                        x->kt[(q->kv * dim + p) * x->padded + q->from + j]) *
                (x->k_factor ? (double)x->k_factor[q->kv * x->padded + q->from + j] : 1);
    }
    for (size_t j = 0; j < keys; j++)
        for (size_t i = 0; i < q->count; i++)
            to->v[j * q->count + i] = attention_query_v(q, q->from + j, i) *
                                      (double)attention_query_factor(q, i);
}

/* Values have a grid of 2^-140 of the largest |V| of their column. */
static void set_grids(struct values *to, const struct read_lines *x,
                      const struct attention_query *q)
{
    enum { GRID = 140 };
    for (size_t i = 0; i < q->count; i++) {
        double most = 0;
        int exponent = 0;
        for (size_t j = 0; j < q->to - q->from; j++)
            most = fmax(most, fabs(x->v[j * q->count + i]));
        frexp(most, &exponent);
        to[i].grid = exponent - 1 - GRID;
    }
}

static bool lines_are_finite(const struct read_lines *x, size_t dim, size_t keys,
                             size_t columns)
{
    bool finite = true;
    for (size_t p = 0; p < dim; p++) finite &= isfinite(x->q[p]) != 0;
    for (size_t i = 0; i < dim * keys; i++) finite &= isfinite(x->k[i]) != 0;
    for (size_t i = 0; i < keys * columns; i++) finite &= isfinite(x->v[i]) != 0;
    return finite;
}

/* The first four values.  False: no memory. */
static bool take_exact(struct values *to, struct attention_output_budget *out,
                       struct attention_query *q, struct read_lines *r, double *v_max)
{
    const struct attention_plan *const plan = q->w->plan;
    const struct bitcut_attention *const a = &plan->a;
    const size_t keys = q->to - q->from;
    const bool early = plan->row.scaling >= SCALED_QUERIES,
               base2 = !plan->row.exp->natural;
    const double one[] = { 1, 1 }, scale = value_of_float(a->scale);
    struct attention_oracle_query x = { .keys = keys,
                                        .dim = a->head_dim,
                                        .value_dim = q->count,
                                        .scale = scale,
                                        .q = r->q,
                                        .k = r->k,
                                        .v = r->v,
                                        .k_stride = keys,
                                        .v_max = v_max };
    read_given(r, q);
    if (!lines_are_finite(r, a->head_dim, keys, q->count)) {
        attention_query_end(q, "an input is infinite or NaN");
        return true;
    }
    set_grids(to, r, q);
    if (!take_mean(to, out, q, ATTENTION_PARTS, &x)) return false;
    read_rounded(r, q);
    if (early) x.scale = 1, x.base2 = base2;
    if (!take_mean(to, out, q, ATTENTION_OPERANDS, &x)) return false;
    x.dim = 1, x.q = &q->q_factor, x.k = q->s;
    if (!take_mean(to, out, q, ATTENTION_SCORES, &x)) return false;
    x.dim = 2, x.q = one, x.k = q->x, x.scale = 1, x.base2 = base2;
    return take_mean(to, out, q, ATTENTION_EXPONENTS, &x);
}

/* The values after them. */
static void take_sums(struct values *to, const struct attention_query *q, size_t i,
                      float merged, const struct bitcut_format *format, uint64_t o)
{
    const uint32_t factor = bits_of_float(attention_query_factor(q, i));
    const struct step *const steps = q->w->plan->row.p_divided ? divided_p : undivided_p;
    mpfr_t x;
    mpfr_init2(x, ATTENTION_QUERY_BITS);
    for (const struct step *s = steps; s->part != ATTENTION_PARTS; s++) {
        mpfr_mul_d(x, q->all.n[i * NUMERATORS + s->n], attention_query_factor(q, i),
                   MPFR_RNDN);
        mpfr_div(x, x, q->all.d[s->d], MPFR_RNDN);
        take_mpfr(to, s->part, x);
    }
    dyadic_set_f32(to->next, bits_of_float(merged));
    dyadic_multiply(to->next, factor);
    take_value(to, ATTENTION_MERGE);
    dyadic_set(to->next, format, o);
    take_value(to, ATTENTION_OUTPUT);
    mpfr_clear(x);
}

/* --- one query -------------------------------------------------------------------- */

static void values_init(struct values *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (int p = 0; p < ATTENTION_PARTS; p++) mpz_init(x[i].part[p]);
        mpz_inits(x[i].first, x[i].now, x[i].next, NULL);
    }
}

static void values_clear(struct values *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (int p = 0; p < ATTENTION_PARTS; p++) mpz_clear(x[i].part[p]);
        mpz_clears(x[i].first, x[i].now, x[i].next, NULL);
    }
}

/* False: no memory. */
static bool settle(struct attention_output_budget *to, struct values *x, bool texts)
{
    bool enough = true;
    mpz_sub(x->next, x->now, x->first);
    to->error = dyadic_value(x->next, 0);
    to->value = dyadic_value(x->first, 0);
    for (int p = 0; p < ATTENTION_PARTS; p++) {
        to->part[p] = dyadic_value(x->part[p], 0);
        if (texts) enough &= (to->exact[p] = dyadic_text(x->part[p], 0)) != NULL;
    }
    if (!texts) return true;
    to->exact_value = dyadic_text(x->first, 0);
    to->exact_error = dyadic_text(x->next, 0);
    return enough && to->exact_value && to->exact_error;
}

/* Memory of a query. */
struct memory {
    struct read_lines lines;
    double *v_max;
    float *merged;
    uint64_t *o;
    struct values *values;
};

static bool allocate(struct memory *m, struct attention_query *q)
{
    const struct attention_plan *const plan = q->w->plan;
    const size_t keys = larger(1, q->to - q->from), dim = plan->a.head_dim;
    *m = (struct memory){ .v_max = calloc(q->count + 1, sizeof *m->v_max) };
    m->lines.q = memory_allocate(dim, sizeof *m->lines.q);
    m->lines.k = memory_allocate(dim * keys, sizeof *m->lines.k);
    m->lines.v = memory_allocate(keys * q->count, sizeof *m->lines.v);
    m->merged = memory_allocate(plan->a.value_dim, sizeof *m->merged);
    m->o = memory_allocate(plan->a.value_dim, sizeof *m->o);
    m->values = memory_allocate(q->count, sizeof *m->values);
    q->s = memory_allocate(keys, sizeof *q->s);
    q->x = memory_allocate(2 * keys, sizeof *q->x);
    q->shift = q->x ? q->x + (q->to - q->from) : NULL;
    q->v = memory_allocate(plan->block_n, sizeof *q->v);
    q->split.n = memory_allocate(q->count * NUMERATORS, sizeof *q->split.n);
    q->all.n = memory_allocate(q->count * NUMERATORS, sizeof *q->all.n);
    return m->v_max && m->lines.q && m->lines.k && m->lines.v && m->merged && m->o &&
           m->values && q->s && q->x && q->v && q->split.n && q->all.n;
}

static void release(struct memory *m, struct attention_query *q)
{
    free(m->v_max), free(m->lines.q), free(m->lines.k), free(m->lines.v);
    free(m->merged), free(m->o), free(m->values);
    free(q->s), free(q->x), free(q->v), free(q->split.n), free(q->all.n);
}

static enum bitcut_status no_memory(struct fault *f)
{
    return fault_set(f, BITCUT_NO_MEMORY,
                     "not enough memory for the budget of attention");
}

/* Run the query and set all budgets. */
static enum bitcut_status run_query(struct attention_output_budget *to,
                                    struct attention_query *q, struct memory *m,
                                    bool texts, struct fault *f)
{
    const struct bitcut_attention *const a = &q->w->plan->a;
    const struct bitcut_format *const format = matrix_format(&a->o);
    const struct attention_watch watch = attention_query_watch(q);
    bool enough = true;
    enum bitcut_status status = attention_watch_query(m->merged, m->o, q->w->plan,
                                                      q->w->x, q->head, q->at, &watch, f);
    if (status == BITCUT_OK) status = q->status;
    if (status != BITCUT_OK) return status;
    for (size_t i = 0; i < q->count; i++) {
        const uint64_t o = m->o[q->column[i]];
        to[i].o = format_to_double(format, o);
        if (!format_is_finite(format, o)) attention_query_end(q, "O is infinite or NaN");
    }
    if (!q->event && q->from < q->to)
        enough = take_exact(m->values, to, q, &m->lines, m->v_max);
    for (size_t i = 0; i < q->count && enough; i++) {
        const size_t column = q->column[i];
        to[i].event = q->event;
        if (q->event) continue;
        if (q->from < q->to)
            take_sums(&m->values[i], q, i, m->merged[column], format, m->o[column]);
        enough = settle(&to[i], &m->values[i], texts);
    }
    return enough ? BITCUT_OK : no_memory(f);
}

enum bitcut_status attention_budget_query(struct attention_output_budget *to,
                                          const struct attention_budget_work *w,
                                          size_t head, size_t query, const size_t *column,
                                          size_t count, bool texts, struct fault *f)
{
    const struct bitcut_attention *const a = &w->plan->a;
    struct attention_query q = { .w = w,
                                 .head = head,
                                 .kv = head / (a->heads / a->kv_heads),
                                 .at = query,
                                 .column = column,
                                 .count = count,
                                 .f = f };
    struct memory m;
    struct hostfp saved;
    attention_keys_seen(&q.from, &q.to, a, query);
    for (size_t i = 0; i < count; i++)
        to[i] = (struct attention_output_budget){ .head = head,
                                                  .row = query,
                                                  .column = column[i] };
    enum bitcut_status status = BITCUT_NO_MEMORY;
    if (allocate(&m, &q)) {
        const struct mpfr_state found = mpfr_state_enter();
        hostfp_enter(&saved);
        values_init(m.values, count);
        attention_query_start(&q);
        status = run_query(to, &q, &m, texts, f);
        attention_query_clear(&q);
        values_clear(m.values, count);
        hostfp_leave(&saved);
        mpfr_state_leave(found);
    } else no_memory(f);
    release(&m, &q);
    return status;
}

void attention_output_clear(struct attention_output_budget *x)
{
    for (int p = 0; p < ATTENTION_PARTS; p++) free((void *)(uintptr_t)x->exact[p]);
    free((void *)(uintptr_t)x->exact_value);
    free((void *)(uintptr_t)x->exact_error);
    *x = (struct attention_output_budget){ .event = NULL };
}
