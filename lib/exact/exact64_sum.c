/* SPDX-License-Identifier: BSD-3-Clause */
/* The layers that settle every element by its exact sum, and exact magnitudes. */
#include "lib/base/size.h"
#include "lib/exact/exact64_tile.h"
#include "lib/number/round.h"

#include <assert.h>
#include <math.h>

/* --- finite terms ------------------------------------------------------------------- */

/* A finite number: (-1)^negative * significand * 2^exponent. */
struct parts {
    uint64_t significand;
    int exponent;
    bool negative;
};

static struct parts parts_of(double x)
{
    const uint64_t bits = bits_of_double(x), normal = (bits >> 52 & 0x7ff) != 0;
    return (struct parts){ .significand = (bits & ((1ull << 52) - 1)) | normal << 52,
                           .exponent = (int)(bits >> 52 & 0x7ff) + !normal - 1075,
                           .negative = bits >> 63 };
}

/* The same with an odd significand, or 0 with exponent 0. */
static struct parts odd_parts_of(double x)
{
    struct parts p = parts_of(x);
    const int zeros = p.significand ? __builtin_ctzll(p.significand) : 0;
    p.significand >>= zeros;
    p.exponent = p.significand ? p.exponent + zeros : 0;
    return p;
}

static int highest_exponent(struct parts p)
{
    return p.exponent + (p.significand ? highest_bit(p.significand) + 1 : 0);
}

/* An exponent at or below those of all products of (i, j). */
static int lowest_product(const struct exact64_tile *t, size_t i, size_t j)
{
    const int unused = 52; /* trailing zeros of a significand */
    return larger_int(row_range(t, i)->bottom - unused, -1074) +
           larger_int(col_range(t, j)->bottom - unused, -1074);
}

/* Set w to zero, with room for the sum of (i, j) times `factor`, for the product of x and
   y, and for the multiples of their last bits that are not larger. */
static void clear_for(struct wide *w, const struct exact64_tile *t, size_t i, size_t j,
                      struct parts factor, struct parts x, struct parts y)
{
    const int products = row_range(t, i)->top + col_range(t, j)->top;
    const int lowest =
        smaller_int(lowest_product(t, i, j) + factor.exponent, x.exponent + y.exponent);
    const int highest = larger_int(products + highest_exponent(factor),
                                   highest_exponent(x) + highest_exponent(y));
    wide_clear(w, lowest, highest);
}

/* Add the products of n <= BINS64_ADDS operands, or their magnitudes, to the bins: bin i
   counts units of 2^(base + 32 i).  Operands are finite. */
static void bins_add(int64_t bin[BINS64], int base, bool magnitudes, size_t n,
                     const double *a, const double *b)
{
    for (size_t p = 0; p < n; p++) {
        const struct parts x = parts_of(a[p]), y = parts_of(b[p]);
        const bitcut_uint128 product = (bitcut_uint128)x.significand * y.significand;
        if (product == 0) continue; /* its exponent may be below the base */
        const unsigned up = (unsigned)(x.exponent + y.exponent - base), shift = up % 32;
        const bitcut_uint128 low = product << shift;
        const uint64_t half[2] = { (uint64_t)low, (uint64_t)(low >> 64) };
        const int64_t sign = !magnitudes && x.negative != y.negative ? -1 : 1;
        int64_t *const to = bin + up / 32;
        assert(up / 32 + 4 < BINS64);
        to[0] += sign * (int64_t)(half[0] & 0xffffffff);
        to[1] += sign * (int64_t)(half[0] >> 32);
        to[2] += sign * (int64_t)(half[1] & 0xffffffff);
        to[3] += sign * (int64_t)(half[1] >> 32);
        to[4] += sign * (int64_t)(product >> 96 >> (32 - shift));
    }
}

/* Add the bins, multiplied by the factor, to w, and empty them. */
static void bins_flush(struct wide *w, int64_t bin[BINS64], int base, struct parts factor)
{
    const bitcut_uint128 times = factor.significand;
    for (int i = 0; i < BINS64; i++) {
        const int64_t v = bin[i];
        const uint64_t magnitude = v < 0 ? -(uint64_t)v : (uint64_t)v;
        if (v)
            wide_add(w, (v < 0) != factor.negative, times * magnitude,
                     base + 32 * i + factor.exponent);
        bin[i] = 0;
    }
}

/* Add to the wide integer `factor` times the sum of k products, or of their magnitudes.
 */
static void add_dot(const struct exact64_tile *t, size_t i, size_t j, struct parts factor,
                    bool magnitudes, const double *a, const double *b)
{
    struct exact64_worker *const w = t->worker;
    const int base = lowest_product(t, i, j);
    for (size_t from = 0; from < t->job->k; from += BINS64_ADDS) {
        const size_t n = smaller(BINS64_ADDS, t->job->k - from);
        bins_add(w->bin, base, magnitudes, n, a + from, b + from);
        bins_flush(&w->wide, w->bin, base, factor);
    }
}

static void add_product(struct wide *w, struct parts x, struct parts y)
{
    wide_add(w, x.negative != y.negative, (bitcut_uint128)x.significand * y.significand,
             x.exponent + y.exponent);
}

/* --- rules of special values -------------------------------------------------------- */

/* The sum of the terms that are NaN or infinite; there is at least one. */
static double special_sum(size_t k, const double *a, const double *b, bool magnitudes)
{
    double sum = 0;
    for (size_t p = 0; p < k; p++) {
        if (isfinite(a[p]) && isfinite(b[p])) continue;
        const double term = (isfinite(a[p]) && a[p] != 0 ? copysign(1, a[p]) : a[p]) *
                            (isfinite(b[p]) && b[p] != 0 ? copysign(1, b[p]) : b[p]);
        sum += magnitudes ? fabs(term) : term;
    }
    return sum;
}

static bool is_special(const struct exact64_tile *t, size_t i, size_t j)
{
    return row_range(t, i)->special || col_range(t, j)->special;
}

bool tile64_is_negative_zero(const struct exact64_tile *t, size_t i, size_t j)
{
    const struct exact64_job *job = t->job;
    const double *a = job->a + (t->row + i) * job->k, *b = job->b + t->col + j;
    bool negative = job->k > 0;
    for (size_t p = 0; negative && p < job->k; p++) {
        const double x = a[p], y = b[p * job->n];
        negative = (x == 0 || y == 0) && !signbit(x) != !signbit(y);
    }
    return negative;
}

/* The factor for exact multiplication: alpha; or, where the rules need only the sign of
   the sum because alpha is zero or not finite, 1 with the sign of alpha. */
static struct parts factor_of(double alpha)
{
    return odd_parts_of(alpha != 0 && isfinite(alpha) ? alpha : copysign(1, alpha));
}

/* The class of the sum of row a and column b, which is left in the wide integer
   multiplied by factor_of(): NaN, an infinity, a zero, or 1 with the sign of the sum. */
static double class_of_sum(const struct exact64_tile *t, size_t i, size_t j,
                           const double *a, const double *b)
{
    struct wide *w = &t->worker->wide;
    const struct parts factor = factor_of(alpha64(t->job));
    if (is_special(t, i, j)) return special_sum(t->job->k, a, b, false);
    add_dot(t, i, j, factor, false, a, b);
    const struct unrounded sum = wide_value(w);
    const bool zero = sum.significand == 0;
    const bool negative =
        zero ? tile64_is_negative_zero(t, i, j) : sum.negative != factor.negative;
    return copysign(zero ? 0 : 1, negative ? -1 : 1);
}

/* --- layers ------------------------------------------------------------------------- */

static double rounded(struct unrounded x)
{
    return double_of_bits(round_pack(&formats[FORMAT_F64], &roundings[ROUND_RN], x));
}

/* The high and the low part of a sum that is not zero. */
static void settle_wide(struct exact64_tile *t, size_t i, size_t j)
{
    struct wide *w = &t->worker->wide;
    const double high = rounded(wide_value(w));
    struct parts x = odd_parts_of(high);
    double low = 0;
    if (isfinite(high)) {
        if (x.significand) wide_add(w, !x.negative, x.significand, x.exponent);
        low = rounded(wide_value(w));
    }
    settle64(t, i, j, high, low == 0 ? 0 : low);
}

static void settle_bins(struct exact64_tile *t, size_t i, size_t j, const double *a,
                        const double *b)
{
    const struct exact64_job *job = t->job;
    struct wide *w = &t->worker->wide;
    const double alpha = alpha64(job), beta = adds_c64(job) ? job->update->beta : 0;
    const double c = c_at64(t, i, j);
    const bool finite = isfinite(beta) && isfinite(c);
    const struct parts x = odd_parts_of(finite ? beta : 0);
    const struct parts y = odd_parts_of(finite ? c : 0);
    clear_for(w, t, i, j, factor_of(alpha), x, y);
    const double sum = class_of_sum(t, i, j, a, b);
    double class = alpha * sum;
    if (adds_c64(job)) {
        /* only the class of the second product is needed, not its underflow */
        const double other = finite && beta != 0 && c != 0
                                 ? (signbit(beta) == signbit(c) ? 1.0 : -1.0)
                                 : beta * c;
        if (!isfinite(class) || !isfinite(other) || (class == 0 && other == 0))
            class += other;
    }
    if (!isfinite(class)) {
        settle64(t, i, j, isnan(class) ? double_of_bits(0x7ff8000000000000) : class, 0);
        return;
    }
    if (alpha == 0) clear_for(w, t, i, j, factor_of(alpha), x, y);
    if (x.significand && y.significand) add_product(w, x, y);
    if (wide_value(w).significand == 0) {
        /* the sign of an added zero counts; a sum that cancels is +0 */
        const bool zeros = (alpha == 0 || sum == 0) && !(x.significand && y.significand);
        settle64(t, i, j, zeros && signbit(class) ? -0.0 : 0.0, 0);
        return;
    }
    settle_wide(t, i, j);
}

static void settle_mpfr(struct exact64_tile *t, size_t i, size_t j, const double *a,
                        const double *b)
{
    const struct exact64_job *job = t->job;
    const struct oracle_parts x =
        oracle64_update(&t->worker->oracle, job->k, a, b, alpha64(job),
                        adds_c64(job) ? job->update->beta : 0, c_at64(t, i, j));
    settle64(t, i, j, double_of_bits(x.high), double_of_bits(x.low));
}

/* Call one() for every element that is wanted, with its row of A and column of B, until
   the work is stopped, because one tile of this work can take minutes. */
static void each(struct exact64_tile *t,
                 bool (*wanted)(const struct exact64_tile *, size_t i, size_t j),
                 void (*one)(struct exact64_tile *, size_t i, size_t j, const double *a,
                             const double *b))
{
    const struct exact64_job *job = t->job;
    double *column = t->worker->column;
    for (size_t j = 0; j < t->cols; j++) {
        bool any = false;
        for (size_t i = 0; i < t->rows; i++) any |= wanted(t, i, j);
        if (!any) continue;
        for (size_t p = 0; p < job->k; p++) column[p] = job->b[p * job->n + t->col + j];
        for (size_t i = 0; i < t->rows; i++) {
            if (progress_stopped(job->grid.progress)) return;
            if (wanted(t, i, j)) one(t, i, j, job->a + (t->row + i) * job->k, column);
        }
    }
}

static bool is_pending(const struct exact64_tile *t, size_t i, size_t j)
{
    return *pending64(t, i, j);
}

void layer64_bins(struct exact64_tile *t) { each(t, is_pending, settle_bins); }

void layer64_mpfr(struct exact64_tile *t) { each(t, is_pending, settle_mpfr); }

/* --- magnitudes --------------------------------------------------------------------- */

/* value * 2^exponent, whose range has no limits; zeros, infinities and NaN have exponent
   0. */
struct scaled {
    double value;
    int exponent;
};

static struct scaled scaled(double value, int exponent)
{
    int own = 0;
    if (value == 0 || !isfinite(value)) return (struct scaled){ value, 0 };
    value = frexp(value, &own);
    return (struct scaled){ value, exponent + own };
}

static struct scaled scaled_product(struct scaled x, struct scaled y)
{
    return scaled(x.value * y.value, x.exponent + y.exponent);
}

static struct scaled scaled_sum(struct scaled x, struct scaled y)
{
    enum { FAR = 200 }; /* beyond any effect on the rounded sum but that of a zero */
    if (x.value == 0 || (isfinite(x.value) && isfinite(y.value) && y.value != 0 &&
                         x.exponent < y.exponent)) {
        const struct scaled other = x;
        x = y;
        y = other;
    }
    if (!isfinite(x.value) || !isfinite(y.value)) return scaled(x.value + y.value, 0);
    if (y.value == 0 || x.exponent - y.exponent > FAR) return x;
    return scaled(x.value + ldexp(y.value, y.exponent - x.exponent), x.exponent);
}

static void store_magnitude(const struct exact64_tile *t, size_t i, size_t j,
                            struct scaled sum)
{
    const struct exact64_job *job = t->job;
    struct scaled all = scaled_product(scaled(fabs(alpha64(job)), 0), sum);
    if (adds_c64(job))
        all = scaled_sum(all, scaled_product(scaled(fabs(job->update->beta), 0),
                                             scaled(fabs(c_at64(t, i, j)), 0)));
    job->magnitude[(t->row + i) * job->n + t->col + j] = ldexp(all.value, all.exponent);
}

static void exact_magnitude(struct exact64_tile *t, size_t i, size_t j, const double *a,
                            const double *b)
{
    struct wide *w = &t->worker->wide;
    const struct parts one = odd_parts_of(1), zero = odd_parts_of(0);
    if (is_special(t, i, j)) {
        store_magnitude(t, i, j, scaled(special_sum(t->job->k, a, b, true), 0));
        return;
    }
    clear_for(w, t, i, j, one, zero, zero);
    add_dot(t, i, j, one, true, a, b);
    const struct unrounded sum = wide_value(w);
    store_magnitude(t, i, j, scaled((double)sum.significand, sum.exponent));
}

static bool lacks_sums(const struct exact64_tile *t, size_t i, size_t j)
{
    return !has_sums(t, i, j);
}

void tile64_magnitudes(struct exact64_tile *t)
{
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++)
            if (has_sums(t, i, j))
                store_magnitude(t, i, j,
                                scaled(t->worker->dgemm.sums.magnitude[i * TILE_COLS + j],
                                       -pair_shift(t, i, j)));
    each(t, lacks_sums, exact_magnitude);
}
