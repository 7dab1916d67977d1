/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/attention_budget_sums.h"

#include "analysis/accuracy/budget_account.h"
#include "lib/number/bits.h"

#include <math.h>

static void sums_init(struct attention_query_sums *x, size_t count)
{
    for (size_t i = 0; i < count * NUMERATORS; i++)
        mpfr_init2(x->n[i], ATTENTION_QUERY_BITS);
    for (int i = 0; i < DENOMINATORS; i++) mpfr_init2(x->d[i], ATTENTION_QUERY_BITS);
}

static void sums_clear(struct attention_query_sums *x, size_t count)
{
    for (size_t i = 0; i < count * NUMERATORS; i++) mpfr_clear(x->n[i]);
    for (int i = 0; i < DENOMINATORS; i++) mpfr_clear(x->d[i]);
}

static void sums_zero(struct attention_query_sums *x, size_t count)
{
    for (size_t i = 0; i < count * NUMERATORS; i++) mpfr_set_zero(x->n[i], 1);
    for (int i = 0; i < DENOMINATORS; i++) mpfr_set_zero(x->d[i], 1);
}

static void sums_multiply(struct attention_query_sums *x, size_t count, mpfr_srcptr by)
{
    for (size_t i = 0; i < count * NUMERATORS; i++)
        mpfr_mul(x->n[i], x->n[i], by, MPFR_RNDN);
    for (int i = 0; i < DENOMINATORS; i++) mpfr_mul(x->d[i], x->d[i], by, MPFR_RNDN);
}

void attention_query_end(struct attention_query *q, const char *what)
{
    if (!q->event) q->event = what;
}

double attention_query_v(const struct attention_query *q, size_t key, size_t i)
{
    const struct attention_plan *const plan = q->w->plan;
    const uint32_t v =
        q->w->x->v[(q->kv * q->w->x->padded + key) * plan->a.value_dim + q->column[i]];
    return value_of_float(f32_through(plan->pv.unit->b, &roundings[ROUND_RN], v));
}

float attention_query_factor(const struct attention_query *q, size_t i)
{
    const float *const factor = q->w->x->v_factor;
    return factor ? factor[q->kv * q->w->plan->a.value_dim + q->column[i]] : 1;
}

/* --- events ----------------------------------------------------------------------- */

/* to = base^x. */
static void power(mpfr_ptr to, const struct attention_query *q, mpfr_srcptr x)
{
    (q->w->plan->row.exp->natural ? mpfr_exp : mpfr_exp2)(to, x, MPFR_RNDN);
}

static bool tile_is_finite(const struct attention_tile_event *x)
{
    bool finite = isfinite(x->rescale) != 0;
    for (size_t j = x->from; j < x->to; j++)
        finite &= isfinite(x->s[j]) && isfinite(x->exponent[j]) && isfinite(x->p[j]);
    return finite;
}

static void add_key(struct attention_query *q, const struct attention_tile_event *x,
                    size_t j)
{
    const size_t key = x->key + j, at = key - q->from;
    q->s[at] = (double)x->s[j] * (x->k_factor ? (double)x->k_factor[j] : 1);
    q->x[at] = x->exponent[j];
    q->shift[at] = x->shift;
    mpfr_set_d(q->term, x->exponent[j], MPFR_RNDN);
    power(q->exp, q, q->term);
    mpfr_add(q->split.d[BY_EXPS], q->split.d[BY_EXPS], q->exp, MPFR_RNDN);
    mpfr_add_d(q->split.d[BY_P], q->split.d[BY_P], x->p[j], MPFR_RNDN);
    for (size_t i = 0; i < q->count; i++) {
        mpfr_t *const n = q->split.n + i * NUMERATORS;
        const double v = attention_query_v(q, key, i);
        mpfr_mul_d(q->term, q->exp, v, MPFR_RNDN);
        mpfr_add(n[OF_EXPS], n[OF_EXPS], q->term, MPFR_RNDN);
        mpfr_add_d(n[OF_P], n[OF_P], v * x->p[j], MPFR_RNDN);
    }
}

static void see_tile(void *context, const struct attention_tile_event *x)
{
    struct attention_query *const q = context;
    if (!tile_is_finite(x))
        attention_query_end(q, "a score, an exponential or a rescale is infinite or NaN");
    if (q->event) return;
    q->q_factor = x->q_factor;
    if (x->first) sums_zero(&q->split, q->count);
    else if (x->rescale != 1) {
        mpfr_set_flt(q->term, x->rescale, MPFR_RNDN);
        sums_multiply(&q->split, q->count, q->term);
    }
    for (size_t j = x->from; j < x->to; j++) add_key(q, x, j);
}

/* Add the account of a product that starts from c to the sums of a column, each with the
   parts up to its own.  a->value is c + P V. */
static void add_account(mpfr_t *n, struct attention_query *q, struct account *a, float c)
{
    static const struct {
        enum numerator n;
        enum budget_part part[5]; /* ended by BUDGET_PARTS */
    } steps[] = {
        { OF_GIVEN, { BUDGET_PARTS } },
        { OF_CAST,
          { BUDGET_REPRESENTATION, BUDGET_UNDERFLOW, BUDGET_SATURATION, BUDGET_DROPPED,
            BUDGET_PARTS } },
        { OF_ALIGNED, { BUDGET_ALIGNMENT, BUDGET_PARTS } },
    };
    mpz_t sum, start;
    mpz_inits(sum, start, NULL);
    dyadic_set_f32(start, bits_of_float(c));
    dyadic_shift(start, a->extra);
    mpz_sub(sum, a->value, start);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        for (const enum budget_part *p = steps[i].part; *p != BUDGET_PARTS; p++)
            mpz_add(sum, sum, a->part[*p]);
        mpfr_set_z_2exp(q->term, sum, -(long)DYADIC_UNIT - a->extra, MPFR_RNDN);
        mpfr_add(n[steps[i].n], n[steps[i].n], q->term, MPFR_RNDN);
    }
    mpz_clears(sum, start, NULL);
}

/* A product with column i of V.  The account and the event must have the same D. */
static void see_column(struct attention_query *q, const struct attention_product_event *x,
                       size_t i)
{
    const struct attention_plan *const plan = q->w->plan;
    mpfr_t *const n = q->split.n + i * NUMERATORS;
    const float c = x->c ? x->c[q->column[i]] : 0, d = x->d[q->column[i]];
    const struct budget_lines lines = { .a = (const uint32_t *)(const void *)x->p,
                                        .b = q->v,
                                        .k = x->count,
                                        .c = bits_of_float(c) };
    struct budget_output out;
    struct account account;
    for (size_t j = 0; j < x->count; j++)
        q->v[j] = bits_of_float((float)attention_query_v(q, x->key + j, i));
    account_init(&account);
    q->status = budget_account(&out, &account, &plan->pv, &plan->pv_plan, &lines, q->f);
    if (q->status != BITCUT_OK) attention_query_end(q, "no memory");
    else if (out.event.what) attention_query_end(q, out.event.what);
    else if (out.d != bits_of_float(d))
        attention_query_end(q, "a product differs from its account");
    else {
        add_account(n, q, &account, c);
        mpfr_set_d(q->term, (double)d, MPFR_RNDN);
        mpfr_sub_d(q->term, q->term, (double)c, MPFR_RNDN);
        mpfr_add(n[OF_UNIT], n[OF_UNIT], q->term, MPFR_RNDN);
    }
    account_clear(&account);
}

static void see_product(void *context, const struct attention_product_event *x)
{
    struct attention_query *const q = context;
    for (size_t i = 0; i < q->count && !q->event; i++) see_column(q, x, i);
}

/* Multiply the sums of all splits, or of this one, so that both have the larger shift. */
static void align_split(struct attention_query *q, float shift)
{
    const double to = q->any && q->shift_all > shift ? q->shift_all : shift;
    if (q->any && to > q->shift_all) {
        mpfr_set_d(q->term, (double)q->shift_all - to, MPFR_RNDN);
        power(q->exp, q, q->term);
        sums_multiply(&q->all, q->count, q->exp);
    }
    if (shift < to) {
        mpfr_set_d(q->term, shift - to, MPFR_RNDN);
        power(q->exp, q, q->term);
        sums_multiply(&q->split, q->count, q->exp);
    }
    q->shift_all = (float)to;
    q->any = true;
}

static void see_split(void *context, const struct attention_split_event *x)
{
    struct attention_query *const q = context;
    if (q->event || !x->any || x->sum == 0) return;
    if (!isfinite(x->sum)) attention_query_end(q, "the sum of P is infinite or NaN");
    mpfr_set_flt(q->split.d[BY_SUM], x->sum, MPFR_RNDN);
    mpfr_set_ui(q->split.d[BY_ONE], 1, MPFR_RNDN);
    for (size_t i = 0; i < q->count; i++) {
        mpfr_t *const n = q->split.n + i * NUMERATORS;
        const float o = x->o[q->column[i]], before = x->undivided[q->column[i]];
        if (!isfinite(o) || !isfinite(before)) attention_query_end(q, "O overflows");
        mpfr_set_flt(n[OF_O], before, MPFR_RNDN);
        mpfr_set_flt(n[OF_DIVIDED], o, MPFR_RNDN);
        mpfr_mul(n[OF_DIVIDED], n[OF_DIVIDED], q->split.d[BY_SUM], MPFR_RNDN);
    }
    align_split(q, x->shift);
    for (size_t i = 0; i < q->count * NUMERATORS; i++)
        mpfr_add(q->all.n[i], q->all.n[i], q->split.n[i], MPFR_RNDN);
    for (int i = 0; i < DENOMINATORS; i++)
        mpfr_add(q->all.d[i], q->all.d[i], q->split.d[i], MPFR_RNDN);
}

/* --- a query ---------------------------------------------------------------------- */

void attention_query_start(struct attention_query *q)
{
    sums_init(&q->split, q->count);
    sums_init(&q->all, q->count);
    sums_zero(&q->all, q->count);
    mpfr_inits2(ATTENTION_QUERY_BITS, q->exp, q->term, (mpfr_ptr)0);
}

void attention_query_clear(struct attention_query *q)
{
    mpfr_clears(q->exp, q->term, (mpfr_ptr)0);
    sums_clear(&q->all, q->count);
    sums_clear(&q->split, q->count);
}

struct attention_watch attention_query_watch(struct attention_query *q)
{
    return (struct attention_watch){ q, see_tile, see_product, see_split };
}
