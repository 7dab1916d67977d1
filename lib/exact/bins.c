/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/exact/bins.h"

#include "lib/base/size.h"

#include <string.h>

enum {
    PARTS_WEIGHT = -150, /* of a significand: 2^(field + PARTS_WEIGHT)              */
    BIN_WEIGHT = 2 * PARTS_WEIGHT, /* bin i counts units of 2^(i + BIN_WEIGHT)      */
    BIN_ADDS = 1 << 15,            /* products below 2^48 that an int64 holds       */
    SUM_LOWEST = 3 * -149,         /* three factors make a multiple of 2^SUM_LOWEST */
    SUM_HIGHEST = 3 * 128 - 1      /* below 2^(SUM_HIGHEST + 1)                     */
};

/* (-1)^negative * significand * 2^(field + PARTS_WEIGHT); `field` is at least 1. */
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

/* Add the products of n <= BIN_ADDS operands.  False if an operand is NaN or infinite;
   then the bins are meaningless. */
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

/* Add the bins, multiplied by the factor, to the total, and empty the bins. */
static void bins_flush(struct bins *x, struct parts factor)
{
    const bitcut_uint128 times = (uint64_t)factor.significand;
    const int weight = (int)factor.field + PARTS_WEIGHT + BIN_WEIGHT;
    for (int i = 0; i < BINS; i++) {
        const int64_t v = x->bin[i];
        const uint64_t magnitude = v < 0 ? -(uint64_t)v : (uint64_t)v;
        if (v)
            wide_add(&x->total, (v < 0) != factor.negative, times * magnitude,
                     i + weight);
        x->bin[i] = 0;
    }
}

bool bins_dot(struct bins *x, uint32_t factor, size_t k, const uint32_t *a,
              const uint32_t *b)
{
    memset(x->bin, 0, sizeof x->bin);
    wide_clear(&x->total, SUM_LOWEST, SUM_HIGHEST);
    for (size_t from = 0; from < k; from += BIN_ADDS) {
        const size_t n = smaller(BIN_ADDS, k - from);
        if (!bins_add(x, n, a + from, b + from)) return false;
        bins_flush(x, parts_of(factor));
    }
    return true;
}

void bins_add_product(struct bins *x, uint32_t a, uint32_t b)
{
    const struct parts p = parts_of(a), q = parts_of(b);
    wide_add(&x->total, p.negative != q.negative,
             (bitcut_uint128)(p.significand * q.significand),
             (int)(p.field + q.field) + BIN_WEIGHT);
}

struct unrounded bins_value(const struct bins *x) { return wide_value(&x->total); }
