/* SPDX-License-Identifier: BSD-3-Clause */
/* The error budget of attention against its definition.  The definition's values come
   from tests/attention/attention_statement.c and are combined here with 3000 bits: each
   value between exact attention and O, which the budget gives as a sum of its first
   parts, must be the same within 2^-139 of the largest |V|; the parts must add up to the
   error without any difference. */
#include "analysis/accuracy/attention_budget.h"
#include "lib/gemm/view.h"
#include "lib/number/bits.h"
#include "tests/attention/attention_case.h"
#include "tests/attention/attention_statement.h"
#include "tests/test.h"

#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HUGE_BITS = 3000, VALUES = 14 };

static struct attention_case c;
static struct bitcut_attention a;
static struct attention_plan plan;
static struct statement_seen seen;

/* --- the definition's values ------------------------------------------------------ */

/* The mean of v by weights base^x. */
static void mean(mpfr_t to, mpfr_t *x, const double *v, const bool *has, bool base2)
{
    mpfr_t w, total;
    mpfr_inits2(HUGE_BITS, w, total, (mpfr_ptr)0);
    mpfr_set_zero(to, 1), mpfr_set_zero(total, 1);
    for (size_t j = 0; j < a.keys; j++) {
        if (!has[j]) continue;
        (base2 ? mpfr_exp2 : mpfr_exp)(w, x[j], MPFR_RNDN);
        mpfr_add(total, total, w, MPFR_RNDN);
        mpfr_mul_d(w, w, v[j], MPFR_RNDN);
        mpfr_add(to, to, w, MPFR_RNDN);
    }
    mpfr_div(to, to, total, MPFR_RNDN);
    mpfr_clears(w, total, (mpfr_ptr)0);
}

static double given(const uint32_t *m, const struct bitcut_format *format, size_t at)
{
    return format_to_double(format, encoding_get(m, format_bytes(format), at));
}

/* x = scale (q k) of key j, of the matrices or as the products read them. */
static void set_score(mpfr_t x, size_t j, bool read, double scale)
{
    const size_t kv = seen.head / (a.heads / a.kv_heads);
    mpfr_t y;
    mpfr_init2(y, HUGE_BITS);
    mpfr_set_zero(x, 1);
    for (size_t p = 0; p < a.head_dim; p++) {
        const double q =
            read ? (double)seen.q[p]
                 : given(c.q, a.q.format,
                         (seen.head * a.queries + seen.query) * a.head_dim + p);
        const double k = read
                             ? (double)seen.k[j][p]
                             : given(c.k, a.k.format, (kv * a.keys + j) * a.head_dim + p);
        mpfr_set_d(y, q, MPFR_RNDN);
        mpfr_mul_d(y, y, k, MPFR_RNDN);
        mpfr_add(x, x, y, MPFR_RNDN);
    }
    if (read) mpfr_mul_d(x, x, (double)seen.q_factor, MPFR_RNDN);
    if (read) mpfr_mul_d(x, x, (double)seen.k_factor[j], MPFR_RNDN);
    mpfr_mul_d(x, x, scale, MPFR_RNDN);
    mpfr_clear(y);
}

/* The product of the rescales of a split after a step. */
static void rescales(mpfr_t to, size_t split, size_t step)
{
    mpfr_set_ui(to, 1, MPFR_RNDN);
    for (size_t i = step + 1; i < seen.split[split].steps; i++)
        mpfr_mul_d(to, to, (double)seen.split[split].scale[i], MPFR_RNDN);
}

/* base^shift of the last tile of a split. */
static void split_weight(mpfr_t to, size_t split)
{
    const struct seen_split *const s = &seen.split[split];
    mpfr_set_d(to, s->steps ? (double)s->shift[s->steps - 1] : 0, MPFR_RNDN);
    (plan.row.exp->natural ? mpfr_exp : mpfr_exp2)(to, to, MPFR_RNDN);
}

static float rounded_p(float x)
{
    return (float)format_to_double(
        plan.pv.unit->a, bitcut_format_convert(plan.pv.unit->a, &roundings[ROUND_RN],
                                               &formats[FORMAT_F32], bits_of_float(x)));
}

/* What a key weighs in a numerator or denominator: its exact exponential, P, P as the
   product has it, or that rounded. */
enum weight { EXPS, PS, GIVEN, CAST, WEIGHTS };

static void add_keys(mpfr_t *n, mpfr_t *d)
{
    mpfr_t w, r, b;
    mpfr_inits2(HUGE_BITS, w, r, b, (mpfr_ptr)0);
    for (size_t j = 0; j < a.keys; j++) {
        const struct seen_key *const k = &seen.key[j];
        if (!k->seen || seen.split[k->split].sum == 0) continue;
        rescales(r, k->split, k->step);
        split_weight(b, k->split);
        mpfr_mul(r, r, b, MPFR_RNDN);
        for (int i = 0; i < WEIGHTS; i++) {
            mpfr_set_d(w,
                       i == EXPS    ? (double)k->x
                       : i == PS    ? (double)k->p
                       : i == GIVEN ? (double)k->given
                                    : (double)rounded_p(k->given),
                       MPFR_RNDN);
            if (i == EXPS)
                (plan.row.exp->natural ? mpfr_exp : mpfr_exp2)(w, w, MPFR_RNDN);
            mpfr_mul(w, w, r, MPFR_RNDN);
            mpfr_add(d[i], d[i], w, MPFR_RNDN);
            mpfr_mul_d(w, w, (double)seen.v[j], MPFR_RNDN);
            mpfr_add(n[i], n[i], w, MPFR_RNDN);
        }
    }
    mpfr_clears(w, r, b, (mpfr_ptr)0);
}

/* The sums of products as the unit gives them; O before and after the division; the
   kernel's sums. */
static void add_splits(mpfr_t unit, mpfr_t o, mpfr_t divided, mpfr_t sum)
{
    mpfr_t w, r, b;
    mpfr_inits2(HUGE_BITS, w, r, b, (mpfr_ptr)0);
    for (size_t i = 0; i < seen.products; i++) {
        const struct seen_product *const p = &seen.product[i];
        if (seen.split[p->split].sum == 0) continue;
        rescales(r, p->split, p->step);
        split_weight(b, p->split);
        mpfr_set_d(w, (double)p->d, MPFR_RNDN);
        mpfr_sub_d(w, w, (double)p->c, MPFR_RNDN);
        mpfr_mul(w, w, r, MPFR_RNDN);
        mpfr_fma(unit, w, b, unit, MPFR_RNDN);
    }
    for (size_t s = 0; s < (size_t)plan.row.splits; s++) {
        const struct seen_split *const x = &seen.split[s];
        if (!x->steps || x->sum == 0) continue;
        split_weight(b, s);
        mpfr_mul_d(w, b, (double)x->sum, MPFR_RNDN);
        mpfr_add(sum, sum, w, MPFR_RNDN);
        mpfr_mul_d(w, w, (double)x->o, MPFR_RNDN);
        mpfr_add(divided, divided, w, MPFR_RNDN);
        mpfr_mul_d(w, b, (double)x->undivided, MPFR_RNDN);
        mpfr_add(o, o, w, MPFR_RNDN);
    }
    mpfr_clears(w, r, b, (mpfr_ptr)0);
}

static void quotient(mpfr_t to, mpfr_t n, mpfr_t d)
{
    if (d) mpfr_div(to, n, d, MPFR_RNDN);
    else mpfr_set(to, n, MPFR_RNDN);
    mpfr_mul_d(to, to, (double)seen.v_factor, MPFR_RNDN);
}

/* All values, and the part between each and the one before.  A value that the definition
   does not know, that after the alignment, is NaN. */
static void definition(mpfr_t *value, enum attention_part *part, double o)
{
    const bool early = plan.row.scaling >= SCALED_QUERIES, base2 = !plan.row.exp->natural;
    const size_t kv = seen.head / (a.heads / a.kv_heads);
    const double scale = value_of_float(a.scale);
    double v[SEEN_KEYS], read[SEEN_KEYS];
    bool has[SEEN_KEYS];
    mpfr_t x[SEEN_KEYS], n[WEIGHTS], d[WEIGHTS], unit, undivided, divided, sum;
    for (size_t j = 0; j < a.keys; j++) {
        mpfr_init2(x[j], HUGE_BITS);
        has[j] = seen.key[j].seen;
        v[j] = given(c.v, a.v.format, (kv * a.keys + j) * a.value_dim + seen.column);
        read[j] = (double)seen.v[j] * (double)seen.v_factor;
        set_score(x[j], j, false, scale);
    }
    mpfr_inits2(HUGE_BITS, unit, undivided, divided, sum, (mpfr_ptr)0);
    for (int i = 0; i < WEIGHTS; i++) {
        mpfr_inits2(HUGE_BITS, n[i], d[i], (mpfr_ptr)0);
        mpfr_set_zero(n[i], 1), mpfr_set_zero(d[i], 1);
    }
    mpfr_set_zero(unit, 1), mpfr_set_zero(undivided, 1), mpfr_set_zero(divided, 1);
    mpfr_set_zero(sum, 1);
    mean(value[0], x, v, has, false);
    for (size_t j = 0; j < a.keys; j++) set_score(x[j], j, true, early ? 1 : scale);
    mean(value[1], x, read, has, early && base2);
    for (size_t j = 0; j < a.keys; j++) {
        mpfr_set_d(x[j], (double)seen.key[j].s, MPFR_RNDN);
        mpfr_mul_d(x[j], x[j], (double)seen.q_factor, MPFR_RNDN);
        mpfr_mul_d(x[j], x[j], (double)seen.k_factor[j], MPFR_RNDN);
        mpfr_mul_d(x[j], x[j], early ? 1 : scale, MPFR_RNDN);
    }
    mean(value[2], x, read, has, early && base2);
    for (size_t j = 0; j < a.keys; j++) {
        const struct seen_key *const k = &seen.key[j];
        mpfr_set_d(x[j], (double)k->x, MPFR_RNDN);
        mpfr_add_d(x[j], x[j], (double)seen.split[k->split].shift[k->step], MPFR_RNDN);
    }
    mean(value[3], x, read, has, base2);
    add_keys(n, d);
    add_splits(unit, undivided, divided, sum);
    const enum attention_part parts[2][VALUES] = {
        { ATTENTION_PARTS, ATTENTION_OPERANDS, ATTENTION_SCORES, ATTENTION_EXPONENTS,
          ATTENTION_RESCALE, ATTENTION_EXP, ATTENTION_CAST, ATTENTION_ALIGNMENT,
          ATTENTION_ACCUMULATION, ATTENTION_RESCALE, ATTENTION_SUM, ATTENTION_DIVISION,
          ATTENTION_MERGE, ATTENTION_OUTPUT },
        { ATTENTION_PARTS, ATTENTION_OPERANDS, ATTENTION_SCORES, ATTENTION_EXPONENTS,
          ATTENTION_RESCALE, ATTENTION_EXP, ATTENTION_SUM, ATTENTION_DIVISION,
          ATTENTION_CAST, ATTENTION_ALIGNMENT, ATTENTION_ACCUMULATION, ATTENTION_RESCALE,
          ATTENTION_MERGE, ATTENTION_OUTPUT },
    };
    const bool p_divided = plan.row.p_divided;
    for (int i = 0; i < VALUES; i++) part[i] = parts[p_divided][i];
    quotient(value[4], n[EXPS], d[EXPS]);
    quotient(value[5], n[PS], d[PS]);
    if (p_divided) {
        quotient(value[6], n[PS], sum);
        /* the only split weighs 2^shift in all of these */
        split_weight(sum, 0);
        quotient(value[7], n[GIVEN], sum);
        quotient(value[8], n[CAST], sum);
        mpfr_set_nan(value[9]);
        quotient(value[10], unit, sum);
        quotient(value[11], undivided, sum);
    } else {
        quotient(value[6], n[CAST], d[PS]);
        mpfr_set_nan(value[7]);
        quotient(value[8], unit, d[PS]);
        quotient(value[9], undivided, d[PS]);
        quotient(value[10], undivided, sum);
        quotient(value[11], divided, sum);
    }
    mpfr_set_d(value[12], (double)seen.merged, MPFR_RNDN);
    quotient(value[12], value[12], NULL);
    mpfr_set_d(value[13], o, MPFR_RNDN);
    for (size_t j = 0; j < a.keys; j++) mpfr_clear(x[j]);
    for (int i = 0; i < WEIGHTS; i++) mpfr_clears(n[i], d[i], (mpfr_ptr)0);
    mpfr_clears(unit, undivided, divided, sum, (mpfr_ptr)0);
}

/* --- the budget ------------------------------------------------------------------- */

/* The number "m*2^e". */
static void read_text(mpfr_t to, const char *text)
{
    char *end;
    mpfr_strtofr(to, text, &end, 10, MPFR_RNDN);
    ck_assert_msg(!strncmp(end, "*2^", 3), "%s", text);
    mpfr_mul_2si(to, to, strtol(end + 3, NULL, 10), MPFR_RNDN);
}

/* The sum of both "rescale" parts is one part, so values between them are not compared.
 */
static void compare(const struct attention_output_budget *b, double v_max, double o)
{
    mpfr_t value[VALUES], sum, x, most;
    enum attention_part part[VALUES];
    bool rescaled = false;
    for (int i = 0; i < VALUES; i++) mpfr_init2(value[i], HUGE_BITS);
    mpfr_inits2(HUGE_BITS, sum, x, most, (mpfr_ptr)0);
    definition(value, part, o);
    read_text(sum, b->exact_value);
    mpfr_set_d(most, v_max * 0x1p-139, MPFR_RNDN);
    for (int i = 0; i < VALUES; i++) {
        if (part[i] == ATTENTION_RESCALE && rescaled) mpfr_set_zero(x, 1);
        else if (i) read_text(x, b->exact[part[i]]);
        else mpfr_set_zero(x, 1);
        mpfr_add(sum, sum, x, MPFR_RNDN);
        const bool first = part[i] == ATTENTION_RESCALE && !rescaled;
        rescaled |= first;
        /* Between the first rescale and the last one, the sum has the last one's share.
         */
        const int last = plan.row.p_divided ? 11 : 9;
        if (i >= 4 && i < last) {
            mpfr_sub(x, value[last], value[last - 1], MPFR_RNDN);
            mpfr_add(x, x, value[i], MPFR_RNDN);
        } else mpfr_set(x, value[i], MPFR_RNDN);
        if (mpfr_nan_p(x)) continue;
        mpfr_sub(x, x, sum, MPFR_RNDN);
        ck_assert_msg(
            i == VALUES - 1 ? mpfr_zero_p(x) : mpfr_cmpabs(x, most) <= 0,
            "%s (%s), head %zu query %zu column %zu: value %d, %s: off by %g of "
            "%g",
            plan.row.name, c.items, b->head, b->row, b->column, i,
            i ? attention_parts[part[i]].name : "exact", mpfr_get_d(x, MPFR_RNDN), v_max);
    }
    read_text(x, b->exact_value);
    mpfr_sub(sum, sum, x, MPFR_RNDN);
    read_text(x, b->exact_error);
    ck_assert(mpfr_equal_p(sum, x));
    for (int i = 0; i < VALUES; i++) mpfr_clear(value[i]);
    mpfr_clears(sum, x, most, (mpfr_ptr)0);
}

/* The largest |V| that the query sees, as given and as read. */
static double largest_v(void)
{
    const size_t kv = seen.head / (a.heads / a.kv_heads);
    double most = 0x1p-149;
    for (size_t j = 0; j < a.keys; j++) {
        if (!seen.key[j].seen) continue;
        most = fmax(most, fabs(given(c.v, a.v.format,
                                     (kv * a.keys + j) * a.value_dim + seen.column)));
        most = fmax(most, fabs((double)seen.v[j] * (double)seen.v_factor));
    }
    return most;
}

/* Check one output of the case; whether it has a budget. */
static bool check_one(uint64_t *rng, const struct bitcut_format *format_o)
{
    static float o[ELEMENTS_MAX], lse[HEADS_MAX * ROWS_MAX];
    struct attention_output_budget b;
    struct fault f = { .text = "" };
    c.a.o.format = format_o;
    c.a.lse = NULL;
    ck_assert_int_eq(attention_take(&a, &c.a, &f), BITCUT_OK);
    ck_assert_int_eq(attention_plan_make(&plan, &a, &f), BITCUT_OK);
    ck_assert_int_eq(bitcut_attention(&c.a, 1, NULL), BITCUT_OK);
    const size_t at[3] = { (size_t)test_between(rng, 0, (int)a.heads - 1),
                           (size_t)test_between(rng, 0, (int)a.queries - 1),
                           (size_t)test_between(rng, 0, (int)a.value_dim - 1) };
    ck_assert_msg(attention_budget_at(&b, &a, at, &f) == BITCUT_OK, "%s", f.text);
    seen = (struct statement_seen){ .head = at[0], .query = at[1], .column = at[2] };
    statement_seen = &seen;
    attention_statement(o, lse, &plan);
    statement_seen = NULL;
    bool any = false;
    for (size_t j = 0; j < a.keys; j++) any |= seen.key[j].seen;
    const double own =
        given(c.o, format_o, (at[0] * a.queries + at[1]) * a.value_dim + at[2]);
    const bool has = !b.event;
    ck_assert(!isfinite(own) || b.o == own);
    if (has && any) compare(&b, largest_v(), own);
    else if (has) ck_assert(own == 0 && b.error == 0);
    attention_output_clear(&b);
    return has && any;
}

static void check_rows(uint64_t seed, int count, bool vary)
{
    uint64_t rng = seed;
    int checked = 0;
    for (const struct bitcut_attention_row *r = attention_rows; r->name; r++)
        for (int i = 0; i < count && !(vary && r->p_divided);) {
            attention_case_draw(&c, r, &rng);
            if (vary) attention_case_vary(&c, r, &rng);
            if (!check_one(&rng, &formats[i & 1 ? FORMAT_F32 : FORMAT_BF16])) continue;
            i++, checked++;
        }
    printf("# %d outputs\n", checked);
}

START_TEST(rows_by_definition) { check_rows(test_seed(), test_cases(64, 500), false); }
END_TEST

START_TEST(variations_by_definition)
{
    check_rows(test_seed() + 1, test_cases(64, 500), true);
}
END_TEST

/* Without values that are finite there are no parts. */
START_TEST(without_parts)
{
    uint64_t rng = test_seed();
    struct attention_budget b;
    struct bitcut_part part[ATTENTION_PARTS + 2];
    struct fault f;
    attention_case_draw(&c, bitcut_attention_find("flash-attention-2"), &rng);
    c.a.window_left = c.a.window_right = BITCUT_UNSET;
    const size_t count = c.a.heads * c.a.queries * c.a.value_dim;
    for (size_t i = 0; i < c.a.kv_heads * c.a.keys * c.a.value_dim; i++)
        encoding_put(c.v, 2, i, 0x7fff);
    ck_assert_int_eq(attention_budget_find(&b, &c.a, count, 1, NULL, &f), BITCUT_OK);
    ck_assert(b.without == b.outputs && b.event && isnan(b.part[0].rms));
    ck_assert_int_eq(bitcut_attention_budget(part, ATTENTION_PARTS + 2, &c.a, 0, 1, NULL),
                     BITCUT_OK);
    ck_assert(isnan(part[ATTENTION_PARTS + 1].max));
    ck_assert_str_eq(bitcut_attention_part(0), "operands");
    ck_assert_str_eq(bitcut_attention_part(ATTENTION_PARTS), "error");
    ck_assert_ptr_null(bitcut_attention_part(ATTENTION_PARTS + 1));
    ck_assert_int_eq(bitcut_attention_budget(NULL, 1, &c.a, 0, 1, NULL),
                     BITCUT_BAD_ARGUMENT);
    ck_assert_int_eq(bitcut_attention_budget(part, 1, &c.a, 0, -1, NULL),
                     BITCUT_BAD_ARGUMENT);
}
END_TEST

/* The queries of a sample do not have the period of the heads: with a causal mask, the
   first query of a head sees one key and has no error. */
START_TEST(samples)
{
    uint64_t rng = test_seed();
    struct attention_budget b;
    struct fault f;
    struct bitcut_attention *const own = &c.a;
    bitcut_attention_init(own, sizeof *own);
    own->row = bitcut_attention_find("flash-attention-2");
    own->heads = 8, own->queries = own->keys = 32, own->head_dim = own->value_dim = 8;
    own->window_right = 0;
    const struct bitcut_format *const format = &formats[FORMAT_F16];
    attention_case_fill(c.q, &own->q, own->heads, 32, 8, format, &rng, 0, false);
    attention_case_fill(c.k, &own->k, 1, 32, 8, format, &rng, 0, false);
    attention_case_fill(c.v, &own->v, 1, 32, 8, format, &rng, 0, false);
    own->o = (struct bitcut_matrix){ .to = c.o, .stride = (size_t)32 * 8 };
    ck_assert_int_eq(attention_budget_find(&b, &c.a, 8, 1, NULL, &f), BITCUT_OK);
    ck_assert_uint_lt(b.outputs, b.total);
    ck_assert(b.part[ATTENTION_PARTS].rms > 0);
}
END_TEST

TEST_MAIN("attention budget", rows_by_definition, variations_by_definition, without_parts,
          samples)
