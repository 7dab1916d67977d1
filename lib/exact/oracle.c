/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/exact/oracle.h"

#include "lib/number/mpfr_value.h"

#include <assert.h>

enum { PRECISION = 24, PRECISION64 = 53 }; /* of FP32 and of binary64 */

/* --- sums --------------------------------------------------------------------------- */

/* For operands of `precision` bits, sums of `bits` and products with them of `all`. */
static void init(struct oracle *o, int precision, int bits, int all)
{
    mpfr_inits2(precision, o->x, o->y, o->sum, (mpfr_ptr)0);
    mpfr_init2(o->carry, bits);
    mpfr_init2(o->scaled, all);
    o->list[0] = o->carry;
    for (int i = 0; i < ORACLE_TERMS; i++) {
        mpfr_init2(o->term[i], 2 * precision);
        o->list[i + 1] = o->term[i];
    }
}

void oracle_init(struct oracle *o)
{
    init(o, PRECISION, ORACLE_BITS, ORACLE_BITS + PRECISION);
}

void oracle64_init(struct oracle *o)
{
    init(o, PRECISION64, ORACLE64_BITS, ORACLE64_ALL);
}

void oracle_clear(struct oracle *o)
{
    mpfr_clears(o->x, o->y, o->sum, o->carry, o->scaled, (mpfr_ptr)0);
    for (int i = 0; i < ORACLE_TERMS; i++) mpfr_clear(o->term[i]);
}

/* An array of operands: of one of the two types, the other one is NULL. */
struct operands {
    const uint32_t *f32;
    const double *f64;
};

static void value_of(mpfr_ptr x, struct operands from, size_t i)
{
    if (from.f32) mpfr_value_of(x, from.f32[i]);
    else mpfr_set_d(x, from.f64[i], MPFR_RNDN);
}

/* Put n products into the terms, exactly, from the first one on. */
static void products(struct oracle *o, size_t first, size_t n, struct operands a,
                     struct operands b)
{
    for (size_t i = 0; i < n; i++) {
        value_of(o->x, a, first + i);
        value_of(o->y, b, first + i);
        mpfr_mul(o->term[i], o->x, o->y, MPFR_RNDN);
    }
}

/* Set `to`, which may be the carry, to the sum of k products, rounded to nearest with the
   precision of `to`.  Returns the direction in which the sum was rounded. */
static int sum_of_products(mpfr_ptr to, struct oracle *o, size_t k, struct operands a,
                           struct operands b)
{
    int carried = 0; /* the first sum has no carry: a zero would change its sign */
    size_t first = 0;
    for (; k - first > ORACLE_TERMS; first += ORACLE_TERMS) {
        products(o, first, ORACLE_TERMS, a, b);
        mpfr_sum(o->carry, o->list + 1 - carried, ORACLE_TERMS + (unsigned long)carried,
                 MPFR_RNDN);
        carried = 1;
    }
    products(o, first, k - first, a, b);
    return mpfr_sum(to, o->list + 1 - carried,
                    (unsigned long)(k - first) + (unsigned long)carried, MPFR_RNDN);
}

static struct operands of_f32(const uint32_t *x) { return (struct operands){ .f32 = x }; }

static struct operands of_f64(const double *x) { return (struct operands){ .f64 = x }; }

uint64_t oracle_dot(struct oracle *o, const struct bitcut_format *format, size_t k,
                    const uint32_t *a, const uint32_t *b)
{
    const struct mpfr_state found = mpfr_state_enter();
    mpfr_set_prec(o->sum, format->fraction_bits + 1);
    const int ternary = sum_of_products(o->sum, o, k, of_f32(a), of_f32(b));
    const uint64_t encoding = mpfr_value_encode(o->sum, ternary, format);
    mpfr_state_leave(found);
    return encoding;
}

uint64_t oracle_update(struct oracle *o, const struct bitcut_format *format, size_t k,
                       const uint32_t *a, const uint32_t *b, uint32_t alpha,
                       uint32_t beta, uint32_t c)
{
    const struct mpfr_state found = mpfr_state_enter();
    /* exact, as are all operations except the last one */
    sum_of_products(o->carry, o, k, of_f32(a), of_f32(b));
    mpfr_value_of(o->x, alpha);
    mpfr_mul(o->scaled, o->carry, o->x, MPFR_RNDN);
    mpfr_set_prec(o->sum, format->fraction_bits + 1);
    int ternary;
    if (beta << 1 == 0) {
        ternary = mpfr_set(o->sum, o->scaled, MPFR_RNDN);
    } else {
        products(o, 0, 1, of_f32(&beta), of_f32(&c));
        ternary = mpfr_add(o->sum, o->scaled, o->term[0], MPFR_RNDN);
    }
    const uint64_t encoding = mpfr_value_encode(o->sum, ternary, format);
    mpfr_state_leave(found);
    return encoding;
}

uint64_t oracle_fma_loop(struct oracle *o, const struct bitcut_format *format, size_t k,
                         const uint32_t *a, const uint32_t *b)
{
    const struct mpfr_state found = mpfr_state_enter();
    mpfr_set_zero(o->carry, 1);
    for (size_t i = 0; i < k; i++) {
        mpfr_value_of(o->x, a[i]);
        mpfr_value_of(o->y, b[i]);
        mpfr_fma(o->carry, o->x, o->y, o->carry, MPFR_RNDN);
    }
    mpfr_set_prec(o->sum, format->fraction_bits + 1);
    const int ternary = mpfr_set(o->sum, o->carry, MPFR_RNDN);
    const uint64_t encoding = mpfr_value_encode(o->sum, ternary, format);
    mpfr_state_leave(found);
    return encoding;
}

struct oracle_parts oracle64_update(struct oracle *o, size_t k, const double *a,
                                    const double *b, double alpha, double beta, double c)
{
    const struct bitcut_format *const f64 = &formats[FORMAT_F64];
    const struct mpfr_state found = mpfr_state_enter();
    sum_of_products(o->carry, o, k, of_f64(a), of_f64(b)); /* exact, as are all operations
                                                              except mpfr_set()        */
    mpfr_set_d(o->x, alpha, MPFR_RNDN);
    mpfr_mul(o->scaled, o->carry, o->x, MPFR_RNDN);
    if (beta != 0) {
        products(o, 0, 1, of_f64(&beta), of_f64(&c));
        mpfr_add(o->scaled, o->scaled, o->term[0], MPFR_RNDN);
    }
    struct oracle_parts parts = { .low = 0 };
    int ternary = mpfr_set(o->sum, o->scaled, MPFR_RNDN);
    parts.high = mpfr_value_encode(o->sum, ternary, f64);
    if (format_is_finite(f64, parts.high)) {
        mpfr_sub_d(o->scaled, o->scaled, format_to_double(f64, parts.high), MPFR_RNDN);
        ternary = mpfr_set(o->sum, o->scaled, MPFR_RNDN);
        parts.low = mpfr_value_encode(o->sum, ternary, f64);
        if (parts.low << 1 == 0) parts.low = 0;
    }
    mpfr_state_leave(found);
    return parts;
}
