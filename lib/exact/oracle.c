/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/exact/oracle.h"

#include "lib/number/mpfr_value.h"

#include <assert.h>

enum { PRECISION = 24 }; /* of FP32 */

/* --- sums --------------------------------------------------------------------------- */

void oracle_init(struct oracle *o)
{
    mpfr_inits2(PRECISION, o->x, o->y, o->sum, (mpfr_ptr)0);
    mpfr_init2(o->carry, ORACLE_BITS);
    mpfr_init2(o->scaled, ORACLE_BITS + PRECISION);
    o->list[0] = o->carry;
    for (int i = 0; i < ORACLE_TERMS; i++) {
        mpfr_init2(o->term[i], 2 * PRECISION);
        o->list[i + 1] = o->term[i];
    }
}

void oracle_clear(struct oracle *o)
{
    mpfr_clears(o->x, o->y, o->sum, o->carry, o->scaled, (mpfr_ptr)0);
    for (int i = 0; i < ORACLE_TERMS; i++) mpfr_clear(o->term[i]);
}

/* Put the first n products into the terms, exactly. */
static void products(struct oracle *o, size_t n, const uint32_t *a, const uint32_t *b)
{
    for (size_t i = 0; i < n; i++) {
        mpfr_value_of(o->x, a[i]);
        mpfr_value_of(o->y, b[i]);
        mpfr_mul(o->term[i], o->x, o->y, MPFR_RNDN);
    }
}

/* Set `to`, which may be the carry, to the sum of k products, rounded to nearest with the
   precision of `to`.  Returns the direction in which the sum was rounded. */
static int sum_of_products(mpfr_ptr to, struct oracle *o, size_t k, const uint32_t *a,
                           const uint32_t *b)
{
    int carried = 0; /* the first sum has no carry: a zero would change its sign */
    for (; k > ORACLE_TERMS; k -= ORACLE_TERMS, a += ORACLE_TERMS, b += ORACLE_TERMS) {
        products(o, ORACLE_TERMS, a, b);
        mpfr_sum(o->carry, o->list + 1 - carried, ORACLE_TERMS + (unsigned long)carried,
                 MPFR_RNDN);
        carried = 1;
    }
    products(o, k, a, b);
    return mpfr_sum(to, o->list + 1 - carried, (unsigned long)k + (unsigned long)carried,
                    MPFR_RNDN);
}

uint64_t oracle_dot(struct oracle *o, const struct bitcut_format *format, size_t k,
                    const uint32_t *a, const uint32_t *b)
{
    const struct mpfr_state found = mpfr_state_enter();
    mpfr_set_prec(o->sum, format->fraction_bits + 1);
    const int ternary = sum_of_products(o->sum, o, k, a, b);
    const uint64_t encoding = mpfr_value_encode(o->sum, ternary, format);
    mpfr_state_leave(found);
    return encoding;
}

uint64_t oracle_update(struct oracle *o, const struct bitcut_format *format, size_t k,
                       const uint32_t *a, const uint32_t *b, uint32_t alpha,
                       uint32_t beta, uint32_t c)
{
    const struct mpfr_state found = mpfr_state_enter();
    sum_of_products(o->carry, o, k, a, b); /* exact, as are all operations except the last
                                              one                                     */
    mpfr_value_of(o->x, alpha);
    mpfr_mul(o->scaled, o->carry, o->x, MPFR_RNDN);
    mpfr_set_prec(o->sum, format->fraction_bits + 1);
    int ternary;
    if (beta << 1 == 0) {
        ternary = mpfr_set(o->sum, o->scaled, MPFR_RNDN);
    } else {
        products(o, 1, &beta, &c);
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
