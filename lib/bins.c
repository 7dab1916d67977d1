#include "lib/bins.h"

#include "lib/size.h"

enum {
    BIN_WEIGHT = -300,  /* bin i counts units of 2^(i + BIN_WEIGHT)             */
    BIN_ADDS = 1 << 15, /* products below 2^48 that an int64 holds              */
    SUM_LOWEST = -298,  /* every sum of products is a multiple of 2^SUM_LOWEST, */
    SUM_HIGHEST = 255   /* every product is below 2^(SUM_HIGHEST + 1)           */
};

/* (-1)^negative * significand * 2^(field - 150), `field` from 1. */
struct parts {
    int64_t significand;
    uint32_t field, negative;
};

static struct parts parts_of(uint32_t encoding)
{
    const uint32_t field = encoding >> 23 & 0xff, normal = field != 0;
    return (struct parts){ .significand = (encoding & 0x7fffff) | normal << 23,
                           .field = field + !normal,
                           .negative = encoding >> 31 };
}

/* Add the products of n <= BIN_ADDS operands.  False if one of them is NaN or infinite:
   the bins then mean nothing. */
static bool bins_add(struct bins *x, size_t n, const uint32_t *a, const uint32_t *b)
{
    bool finite = true;
    for (size_t i = 0; i < n; i++) {
        const struct parts p = parts_of(a[i]), q = parts_of(b[i]);
        const int64_t product = p.significand * q.significand;
        x->bin[p.field + q.field] += p.negative == q.negative ? product : -product;
        finite &= p.field != 0xff && q.field != 0xff;
    }
    return finite;
}

static void bins_flush(struct bins *x)
{
    for (int i = 0; i < BINS; i++) {
        const int64_t v = x->bin[i];
        const uint64_t magnitude = v < 0 ? -(uint64_t)v : (uint64_t)v;
        if (v) wide_add(&x->total, v < 0, magnitude, i + BIN_WEIGHT);
        x->bin[i] = 0;
    }
}

bool bins_dot(struct bins *x, size_t k, const uint32_t *a, const uint32_t *b)
{
    *x = (struct bins){ 0 };
    wide_clear(&x->total, SUM_LOWEST, SUM_HIGHEST);
    for (size_t from = 0; from < k; from += BIN_ADDS) {
        const size_t n = smaller(BIN_ADDS, k - from);
        if (!bins_add(x, n, a + from, b + from)) return false;
        bins_flush(x);
    }
    return true;
}

struct unrounded bins_value(const struct bins *x) { return wide_value(&x->total); }
