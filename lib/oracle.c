#include "lib/oracle.h"

#include <assert.h>

enum {
    FRACTION = 23, /* bits of an FP32 significand after the point, */
    WEIGHT = -149, /* and the exponent of the last one of a subnormal */
    EXPONENT_MOST = 4096
};

/* --- the state of MPFR -------------------------------------------------------------- */

struct state {
    mpfr_exp_t emin, emax;
    mpfr_flags_t flags;
};

static struct state state_enter(void)
{
    const struct state found = { mpfr_get_emin(), mpfr_get_emax(), mpfr_flags_save() };
    mpfr_set_emin(-EXPONENT_MOST);
    mpfr_set_emax(EXPONENT_MOST);
    return found;
}

static void state_leave(struct state found)
{
    mpfr_set_emin(found.emin);
    mpfr_set_emax(found.emax);
    mpfr_flags_restore(found.flags, MPFR_FLAGS_ALL);
}

/* --- encodings ---------------------------------------------------------------------- */

/* The value of an FP32 encoding, exactly. */
static void value_of(mpfr_ptr x, uint32_t encoding)
{
    const long fraction = (long)(encoding & 0x7fffff);
    const int field = (int)(encoding >> FRACTION & 0xff), sign = encoding >> 31 ? -1 : 1;
    const long normal = sign * (fraction | 1 << FRACTION);
    if (field == 0xff && fraction) mpfr_set_nan(x);
    else if (field == 0xff) mpfr_set_inf(x, sign);
    else if (field == 0 && fraction == 0) mpfr_set_zero(x, sign);
    else if (field == 0) mpfr_set_si_2exp(x, sign * fraction, WEIGHT, MPFR_RNDN);
    else mpfr_set_si_2exp(x, normal, WEIGHT + field - 1, MPFR_RNDN);
}

/* The encoding of x, which `format` holds exactly.  Changes x. */
static uint64_t encoding_of(mpfr_ptr x, const struct bitcut_format *format)
{
    if (mpfr_nan_p(x)) return format->nan;
    const uint64_t sign = (uint64_t)(mpfr_signbit(x) != 0) << (format->bits - 1);
    if (mpfr_zero_p(x)) return sign;
    const uint64_t fields_most = ((uint64_t)1 << format->exponent_bits) - 1;
    if (mpfr_inf_p(x)) return sign | fields_most << format->fraction_bits;

    /* x = significand * 2^ulp, and `step` counts exponents from the subnormals up.  The
       leading bit of a normal significand adds the one that is missing in its field. */
    const long lowest = 1 - format->bias - format->fraction_bits;
    const long high = (long)mpfr_get_exp(x) - 1 - format->fraction_bits;
    const long ulp = high < lowest ? lowest : high;
    mpfr_abs(x, x, MPFR_RNDN);
    mpfr_mul_2si(x, x, -ulp, MPFR_RNDN);
    const uint64_t step = (uint64_t)(ulp - lowest);
    return sign | ((step << format->fraction_bits) + mpfr_get_uj(x, MPFR_RNDN));
}

/* The encoding of x, a number rounded to nearest with the precision of `format` but any
   exponent; `ternary` says in which direction it was rounded.  Changes x. */
static uint64_t finish(mpfr_ptr x, int ternary, const struct bitcut_format *format)
{
    mpfr_set_emin(2 - format->bias - format->fraction_bits);
    mpfr_set_emax(1 + format->bias);
    ternary = mpfr_check_range(x, ternary, MPFR_RNDN);
    mpfr_subnormalize(x, ternary, MPFR_RNDN);
    mpfr_set_emin(-EXPONENT_MOST);
    mpfr_set_emax(EXPONENT_MOST);
    return encoding_of(x, format);
}

/* --- sums --------------------------------------------------------------------------- */

void oracle_init(struct oracle *o)
{
    mpfr_inits2(FRACTION + 1, o->x, o->y, o->sum, (mpfr_ptr)0);
    mpfr_init2(o->carry, ORACLE_BITS);
    mpfr_init2(o->scaled, ORACLE_BITS + FRACTION + 1);
    o->list[0] = o->carry;
    for (int i = 0; i < ORACLE_TERMS; i++) {
        mpfr_init2(o->term[i], 2 * (FRACTION + 1));
        o->list[i + 1] = o->term[i];
    }
}

void oracle_clear(struct oracle *o)
{
    mpfr_clears(o->x, o->y, o->sum, o->carry, o->scaled, (mpfr_ptr)0);
    for (int i = 0; i < ORACLE_TERMS; i++) mpfr_clear(o->term[i]);
}

/* The first n products into the terms, exactly. */
static void products(struct oracle *o, size_t n, const uint32_t *a, const uint32_t *b)
{
    for (size_t i = 0; i < n; i++) {
        value_of(o->x, a[i]);
        value_of(o->y, b[i]);
        mpfr_mul(o->term[i], o->x, o->y, MPFR_RNDN);
    }
}

/* The sum of k products, rounded to nearest with the precision of `to`, which may be the
   carry; returns in which direction it was rounded. */
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
    const struct state found = state_enter();
    mpfr_set_prec(o->sum, format->fraction_bits + 1);
    const int ternary = sum_of_products(o->sum, o, k, a, b);
    const uint64_t encoding = finish(o->sum, ternary, format);
    state_leave(found);
    return encoding;
}

uint64_t oracle_update(struct oracle *o, const struct bitcut_format *format, size_t k,
                       const uint32_t *a, const uint32_t *b, uint32_t alpha,
                       uint32_t beta, uint32_t c)
{
    const struct state found = state_enter();
    sum_of_products(o->carry, o, k, a, b); /* exact, as is all but the last operation */
    value_of(o->x, alpha);
    mpfr_mul(o->scaled, o->carry, o->x, MPFR_RNDN);
    mpfr_set_prec(o->sum, format->fraction_bits + 1);
    int ternary;
    if (beta << 1 == 0) {
        ternary = mpfr_set(o->sum, o->scaled, MPFR_RNDN);
    } else {
        products(o, 1, &beta, &c);
        ternary = mpfr_add(o->sum, o->scaled, o->term[0], MPFR_RNDN);
    }
    const uint64_t encoding = finish(o->sum, ternary, format);
    state_leave(found);
    return encoding;
}

uint64_t oracle_fma_loop(struct oracle *o, const struct bitcut_format *format, size_t k,
                         const uint32_t *a, const uint32_t *b)
{
    const struct state found = state_enter();
    mpfr_set_zero(o->carry, 1);
    for (size_t i = 0; i < k; i++) {
        value_of(o->x, a[i]);
        value_of(o->y, b[i]);
        mpfr_fma(o->carry, o->x, o->y, o->carry, MPFR_RNDN);
    }
    mpfr_set_prec(o->sum, format->fraction_bits + 1);
    const int ternary = mpfr_set(o->sum, o->carry, MPFR_RNDN);
    const uint64_t encoding = finish(o->sum, ternary, format);
    state_leave(found);
    return encoding;
}
