/* SPDX-License-Identifier: BSD-3-Clause */
/* A B by residues: rows of A and columns of B become integers, which are multiplied
   modulo p_1, ..., p_N; the Chinese remainder theorem gives the integer product modulo P
   = p_1 ... p_N.  Nothing but the truncation to integers and the last steps rounds,
   unless a product exceeds (P - 1) / 2.

   Formulas are those of GEMMul8 (emu/fp64/scheme.c has the version).  w_i is the multiple
   of P / p_i that is 1 modulo p_i, in a high and a low FP64 number, so that sums of the
   high numbers are exact. */
#include "emu/fp64/scheme.h"

#include "emu/mufu.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MODULI_MAX = 20 };

static const int moduli[MODULI_MAX] = {
    256, 255, 253, 251, 247, 241, 239, 233, 229, 227,
    223, 217, 211, 199, 197, 193, 191, 181, 179, 173
};

/* log2(P - 1) / 2 - 0.5 as an FP32 number, rounded down, for 2 moduli and more.  The
   first number of the library is larger than that. */
enum { MODULI_MIN = 2 };
static const float half_bits[MODULI_MAX - MODULI_MIN + 1] = {
    0x1.dfd1ecp2f, 0x1.6fa336p3f, 0x1.ef2ea6p3f, 0x1.372d94p4f, 0x1.767b2ep4f,
    0x1.b5b028p4f, 0x1.f49a02p4f, 0x1.19a858p5f, 0x1.38f6bcp5f, 0x1.582adap5f,
    0x1.7736aep5f, 0x1.961916p5f, 0x1.b4a4fep5f, 0x1.d321f8p5f, 0x1.f180a6p5f,
    0x1.07e7f8p6f, 0x1.16e7e2p6f, 0x1.25df9ap6f, 0x1.34be22p6f
};

/* The largest number of moduli for which w_i and P are single FP64 numbers, and for which
   scaled elements are integers of 32 and of 64 bits. */
enum { SINGLE_MAX = 6, INT32_MODULI_MAX = 7, INT64_MODULI_MAX = 15 };

/* --- constants -------------------------------------------------------------------- */

struct constants {
    int count;
    double high[MODULI_MAX], low[MODULI_MAX]; /* w_i                               */
    double minus_high, minus_low;             /* -P                                */
    double inverse;                           /* 1 / P                             */
    double half_bits;                         /* as in the table                   */
};

/* Natural numbers of at most 192 bits, the lowest limb first. */
enum { LIMBS = 6 };
struct natural {
    uint32_t limb[LIMBS];
};

static struct natural times(struct natural x, uint32_t factor)
{
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += (uint64_t)x.limb[i] * factor;
        x.limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    return x;
}

/* The quotient, and the remainder in *rest. */
static struct natural divided(uint32_t *rest, struct natural x, uint32_t by)
{
    uint64_t left = 0;
    for (int i = LIMBS; i--;) {
        left = left << 32 | x.limb[i];
        x.limb[i] = (uint32_t)(left / by);
        left %= by;
    }
    *rest = (uint32_t)left;
    return x;
}

static int bit(const struct natural *x, int at)
{
    return x->limb[at / 32] >> at % 32 & 1;
}

static int bits_of(const struct natural *x)
{
    int bits = 32 * LIMBS;
    while (bits && !bit(x, bits - 1)) bits--;
    return bits;
}

static int compare(const struct natural *x, const struct natural *y)
{
    for (int i = LIMBS; i--;)
        if (x->limb[i] != y->limb[i]) return x->limb[i] < y->limb[i] ? -1 : 1;
    return 0;
}

/* x - y, for y <= x. */
static struct natural less(struct natural x, const struct natural *y)
{
    int64_t borrow = 0;
    for (int i = 0; i < LIMBS; i++) {
        borrow += (int64_t)x.limb[i] - y->limb[i];
        x.limb[i] = (uint32_t)borrow;
        borrow >>= 32;
    }
    return x;
}

/* The bits of x from `position` on, and the others. */
static struct natural top_of(struct natural x, int position)
{
    for (int i = 0; i < position; i++) x.limb[i / 32] &= ~((uint32_t)1 << i % 32);
    return x;
}

/* x rounded to nearest even. */
static double rounded(const struct natural *x)
{
    const int bits = bits_of(x), from = larger_int(0, bits - 64);
    struct unrounded u = { 0, from, false, false };
    for (int i = bits; i-- > from;)
        u.significand = u.significand << 1 | (uint64_t)bit(x, i);
    for (int i = 0; i < from; i++) u.sticky |= bit(x, i);
    return double_of_bits(round_pack(&formats[FORMAT_F64], &roundings[ROUND_RN], u));
}

/* An FP64 integer below 2^192. */
static struct natural natural_of(double x)
{
    struct natural to = { { 0 } };
    int exponent;
    const uint64_t significand = (uint64_t)ldexp(frexp(x, &exponent), 53);
    for (int i = 0; i < 53; i++)
        if (significand >> i & 1)
            to.limb[(exponent - 53 + i) / 32] |= (uint32_t)1 << (exponent - 53 + i) % 32;
    return to;
}

/* 1 / x rounded to nearest even, by long division: 64 bits of the quotient. */
static double inverse_of(const struct natural *x)
{
    const int bits = bits_of(x);
    struct natural rest = { { 0 } };
    struct unrounded u = { 0, -bits - 63, false, false };
    rest.limb[bits / 32] |= (uint32_t)1 << bits % 32;
    for (int i = 0; i < 64; i++) {
        const bool goes = compare(&rest, x) >= 0;
        u.significand = u.significand << 1 | goes;
        if (goes) rest = less(rest, x);
        rest = times(rest, 2);
    }
    u.sticky = bits_of(&rest) > 0;
    return double_of_bits(round_pack(&formats[FORMAT_F64], &roundings[ROUND_RN], u));
}

/* The number below p whose product with x is 1 modulo p. */
static uint32_t inverse_modulo(uint32_t x, uint32_t p)
{
    uint32_t inverse = 1;
    while (x * inverse % p != 1) inverse++;
    return inverse;
}

/* Bits of the high numbers, so that sums of their products with residues are exact. */
static int high_bits(int count)
{
    size_t sum = 0;
    for (int i = 0; i < count; i++) sum += (size_t)moduli[i] / 2;
    return 53 - ceil_log2(sum);
}

static void set_product(struct constants *c, const struct natural *product)
{
    const double high = rounded(product);
    const struct natural below = natural_of(high);
    const bool is_above = compare(&below, product) > 0;
    const struct natural rest = is_above ? less(below, product) : less(*product, &below);
    c->minus_high = -high;
    c->minus_low = is_above ? rounded(&rest) : -rounded(&rest);
    c->inverse = inverse_of(product);
    c->half_bits = (double)half_bits[c->count - MODULI_MIN];
}

static void constants_make(struct constants *c, int count)
{
    struct natural product = { { 1 } };
    uint32_t rest;
    for (int i = 0; i < count; i++) product = times(product, (uint32_t)moduli[i]);
    const int cut = bits_of(&product) - high_bits(count);
    *c = (struct constants){ .count = count };
    for (int i = 0; i < count; i++) {
        const uint32_t p = (uint32_t)moduli[i];
        const struct natural part = divided(&rest, product, p);
        divided(&rest, part, p);
        const struct natural w = times(part, inverse_modulo(rest, p)),
                             high = count > SINGLE_MAX ? top_of(w, cut) : w,
                             low = less(w, &high);
        c->high[i] = rounded(&high);
        c->low[i] = rounded(&low);
    }
    set_product(c, &product);
}

/* --- scaled elements -------------------------------------------------------------- */

/* (-1)^negative * significand * 2^exponent, exponent >= 0. */
struct scaled {
    uint64_t significand;
    int exponent;
    bool negative;
};

/* x times 2^shift, truncated to an integer. */
static struct scaled scale(double x, int shift)
{
    const struct number n = format_decode(&formats[FORMAT_F64], bits_of_double(x));
    struct scaled s = { n.significand, 0, n.negative };
    const int exponent = n.exponent - 52 + shift;
    if (n.kind != NUMBER_FINITE) s.significand = 0;
    else if (exponent >= 0) s.exponent = exponent;
    else s.significand = exponent > -64 ? s.significand >> -exponent : 0;
    return s;
}

/* The same modulo 2^bits, as a library has it in an integer of two's complement. */
static struct scaled wrap(struct scaled s, int bits)
{
    uint64_t x = s.exponent < 64 ? s.significand << s.exponent : 0;
    if (s.negative) x = -x;
    const int64_t value = bits == 32 ? (int32_t)(uint32_t)x : (int64_t)x;
    return (struct scaled){ value < 0 ? -(uint64_t)value : (uint64_t)value, 0,
                            value < 0 };
}

/* The residue of smallest magnitude, -128 for 128 modulo 256. */
static int16_t symmetric(int residue, int p)
{
    if (residue > p / 2) residue -= p;
    if (residue < -(p / 2)) residue += p;
    return (int8_t)residue;
}

static int power_of_two_modulo(int exponent, int p)
{
    int power = 1;
    for (int i = 0; i < exponent; i++) power = power * 2 % p;
    return power;
}

static int16_t residue_of(struct scaled s, int p)
{
    int residue = (int)(s.significand % (unsigned)p);
    if (s.exponent) residue = residue * power_of_two_modulo(s.exponent, p) % p;
    return symmetric(s.negative ? -residue : residue, p);
}

int fp64_modulus(int i) { return moduli[i]; }

int fp64_integer_bits(int parts)
{
    return parts <= INT32_MODULI_MAX ? 32 : parts <= INT64_MODULI_MAX ? 64 : 0;
}

/* The residues of the lines of a matrix, and by which powers of two they were scaled. */
struct residues {
    int16_t *digit; /* of element p of a line modulo p_i, at (i lines + line) k + p */
    int *shift;
};

static void residues_line(struct residues *to, const double *x, size_t line, size_t lines,
                          size_t k, int count)
{
    const int bits = fp64_integer_bits(count);
    for (size_t p = 0; p < k; p++) {
        struct scaled s = scale(x[line * k + p], to->shift[line]);
        if (bits) s = wrap(s, bits);
        for (int i = 0; i < count; i++)
            to->digit[((size_t)i * lines + line) * k + p] = residue_of(s, moduli[i]);
    }
}

/* --- how lines are scaled --------------------------------------------------------- */

/* The largest magnitude; NaN do not count. */
static double largest_of(const double *x, size_t k)
{
    double largest = 0;
    for (size_t p = 0; p < k; p++) largest = larger_double(largest, fabs(x[p]));
    return largest;
}

static int exponent_of(double x) { return x == 0 ? 0 : ilogb(x); }

static double log2_approx(double x)
{
    const struct bitcut_function *const lg2 = bitcut_function_find("lg2.approx.f32");
    return (double)float_of_bits((uint32_t)mufu(lg2, bits_of_float((float)x)));
}

/* A little more than half of a logarithm. */
#define HALF 0x1.000006p-1

/* The largest integer that is not above x + y. */
static double floor_of_sum(double x, double y)
{
    const struct two_sum s = two_sum(x, y);
    const double below = floor(s.sum);
    return below == s.sum && s.error < 0 ? below - 1 : below;
}

static int floor_to_int(double x)
{
    return isnan(x) ? 0 : x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : (int)x;
}

/* The bits in which the library keeps a shift. */
static int stored_shift(int64_t shift) { return -(int16_t)(uint16_t)(uint64_t)-shift; }

/* Accurate mode.  Upper bounds of elements have 6 bits; the largest sum of their products
   in the row, or in the column, determines the shift. */
static int16_t bound_of(double x, int shift)
{
    const double scaled = ceil(ldexp(fabs(x), shift));
    return (int16_t)(x == 0 ? 0 : scaled < 1 ? 1 : floor_to_int(scaled));
}

static void bounds_make(struct residues *to, const double *x, size_t lines, size_t k)
{
    for (size_t line = 0; line < lines; line++) {
        const double *const at = x + line * k;
        to->shift[line] = 5 - exponent_of(largest_of(at, k));
        for (size_t p = 0; p < k; p++)
            to->digit[line * k + p] = bound_of(at[p], to->shift[line]);
    }
}

static int shift_accurate(const struct constants *c, double sum)
{
    const double log2 = log2_approx((double)(float)sum);
    return floor_to_int(floor_of_sum(-HALF * log2, c->half_bits));
}

static enum bitcut_status shifts_accurate(struct residues *a, struct residues *b,
                                          const struct fp64_job *job,
                                          const struct constants *c, struct fault *f)
{
    bounds_make(a, job->a, job->m, job->k);
    bounds_make(b, job->b, job->n, job->k);
    const enum bitcut_status status = fp64_multiply(job->d, job, a->digit, b->digit, f);
    if (status != BITCUT_OK) return status;
    for (size_t i = 0; i < job->m; i++) {
        double most = INT32_MIN;
        for (size_t j = 0; j < job->n; j++)
            most = larger_double(most, job->d[i * job->n + j]);
        a->shift[i] = stored_shift(a->shift[i] + (int64_t)shift_accurate(c, most));
    }
    for (size_t j = 0; j < job->n; j++) {
        double most = INT32_MIN;
        for (size_t i = 0; i < job->m; i++)
            most = larger_double(most, job->d[i * job->n + j]);
        b->shift[j] = stored_shift(b->shift[j] + (int64_t)shift_accurate(c, most));
    }
    return status;
}

/* x + y for y of a smaller magnitude than an ulp of x, rounded upward. */
static double up(double x, double y)
{
    if (y > 0) return nextafter(x, INFINITY);
    const double below = nextafter(x, -INFINITY);
    return y <= below - x ? below : x;
}

static double add_up(double a, double b)
{
    const struct two_sum s = two_sum(a, b);
    return up(s.sum, s.error);
}

static double fma_up(double a, double c)
{
    const double square = a * a, rest = fma(a, a, -square);
    const struct two_sum s = two_sum(square, c);
    return up(s.sum, s.error + rest);
}

static double float_up(double x)
{
    const float nearest = (float)x;
    return (double)((double)nearest < x ? nextafterf(nearest, INFINITY) : nearest);
}

static double float_down(double x) { return -float_up(-x); }

/* The sum of the squares of a line as blocks of 256 threads add it, each addition rounded
   upward. */
static double squares_of(const double *x, size_t k)
{
    enum { THREADS = 256, WARP = 32 };
    double sum[THREADS] = { 0 }, warp[WARP] = { 0 };
    for (size_t p = 0; p < k; p++) {
        double *const s = &sum[p % THREADS];
        *s = fma_up(x[p], *s);
    }
    for (int w = 0; w < THREADS / WARP; w++) {
        double *const s = sum + w * WARP;
        for (int i = WARP / 2; i; i /= 2)
            for (int lane = 0; lane < i; lane++) s[lane] = add_up(s[lane], s[lane + i]);
        warp[w] = s[0];
    }
    for (int i = WARP / 2; i; i /= 2)
        for (int lane = 0; lane < i; lane++)
            warp[lane] = add_up(warp[lane], warp[lane + i]);
    return warp[0];
}

/* Fast mode.  The largest element is subtracted once more, although the norm contains it:
   only lines whose largest element is near 1 have all bits. */
static int shift_fast(const struct constants *c, const double *x, size_t k)
{
    const double largest = largest_of(x, k), squares = squares_of(x, k);
    const int exponent = exponent_of(squares);
    const double log2 =
        float_up(log2_approx(float_up(ldexp(squares, -exponent))) + exponent);
    const double norm = larger_double(1, float_up(HALF * log2));
    const double bits = float_down(float_down(c->half_bits - 1.5) - norm);
    const float narrow = (float)largest;
    return stored_shift((int64_t)floor_to_int(floor(bits)) -
                        (narrow == 0 ? 0 : ilogbf(narrow)));
}

static enum bitcut_status shifts_fast(struct residues *a, struct residues *b,
                                      const struct fp64_job *job,
                                      const struct constants *c, struct fault *f)
{
    (void)f;
    for (size_t i = 0; i < job->m; i++)
        a->shift[i] = shift_fast(c, job->a + i * job->k, job->k);
    for (size_t j = 0; j < job->n; j++)
        b->shift[j] = shift_fast(c, job->b + j * job->k, job->k);
    return BITCUT_OK;
}

/* --- the product ------------------------------------------------------------------ */

/* The product that has the residues `of`, in units of the scaled elements. */
static double reconstruct(const struct constants *c, const int16_t of[MODULI_MAX])
{
    double high = 0, low = 0;
    for (int i = 0; i < c->count; i++) {
        high = fma(c->high[i], of[i], high);
        low = fma(c->low[i], of[i], low);
    }
    const double quotient = rint(c->inverse * high),
                 rest = fma(c->minus_high, quotient, high);
    if (c->count <= SINGLE_MAX) return rest;
    return fma(c->minus_low, quotient, rest + low);
}

/* Residues of all outputs, modulo p_i at [output * MODULI_MAX + i]. */
static enum bitcut_status multiply_all(int16_t *to, double *product,
                                       const struct residues *a, const struct residues *b,
                                       const struct fp64_job *job, struct fault *f)
{
    const size_t count = job->m * job->n;
    for (int i = 0; i < job->parts; i++) {
        const enum bitcut_status status =
            fp64_multiply(product, job, a->digit + (size_t)i * job->m * job->k,
                          b->digit + (size_t)i * job->n * job->k, f);
        if (status != BITCUT_OK) return status;
        for (size_t p = 0; p < count; p++)
            to[p * MODULI_MAX + (size_t)i] =
                symmetric((int)product[p] % moduli[i], moduli[i]);
        progress_report(job->options->progress, (size_t)i + 1, (size_t)job->parts);
    }
    return BITCUT_OK;
}

static bool allocate(struct residues *to, size_t lines, size_t k, int count)
{
    size_t elements;
    if (!size_multiply(&elements, lines, k) ||
        !size_multiply(&elements, elements, (size_t)count))
        return false;
    to->digit = memory_allocate(elements, sizeof *to->digit);
    to->shift = memory_allocate(lines, sizeof *to->shift);
    return to->digit && to->shift;
}

static void clear(struct residues *r)
{
    free(r->digit);
    free(r->shift);
}

/* How a mode scales the lines. */
typedef enum bitcut_status shifts_function(struct residues *a, struct residues *b,
                                           const struct fp64_job *job,
                                           const struct constants *c, struct fault *f);

static enum bitcut_status run_all(const struct fp64_job *job, struct residues *a,
                                  struct residues *b, int16_t *all,
                                  shifts_function *shifts, struct fault *f)
{
    struct constants c;
    struct hostfp saved;
    const int team = threads_for(job->options->threads, job->m);
    hostfp_enter(&saved);
    constants_make(&c, job->parts);
    enum bitcut_status status = shifts(a, b, job, &c, f);
    for (size_t i = 0; i < job->m && status == BITCUT_OK; i++)
        residues_line(a, job->a, i, job->m, job->k, job->parts);
    for (size_t j = 0; j < job->n && status == BITCUT_OK; j++)
        residues_line(b, job->b, j, job->n, job->k, job->parts);
    hostfp_leave(&saved);
    if (status == BITCUT_OK) status = multiply_all(all, job->d, a, b, job, f);
    if (status != BITCUT_OK) return status;
#pragma omp parallel num_threads(team)
    {
        struct hostfp mode;
        hostfp_enter(&mode);
#pragma omp for schedule(static)
        for (size_t i = 0; i < job->m; i++)
            for (size_t j = 0; j < job->n; j++) {
                const size_t at = i * job->n + j;
                job->d[at] = ldexp(reconstruct(&c, all + at * MODULI_MAX),
                                   -(a->shift[i] + b->shift[j]));
            }
        hostfp_leave(&mode);
    }
    return status;
}

static enum bitcut_status run(const struct fp64_job *job, shifts_function *shifts,
                              struct fault *f)
{
    struct residues a = { NULL, NULL }, b = { NULL, NULL };
    int16_t *const all = memory_allocate(job->m * job->n, MODULI_MAX * sizeof *all);
    enum bitcut_status status = BITCUT_OK;
    if (job->k > (size_t)1 << 17)
        status = fault_set(f, BITCUT_BAD_ARGUMENT,
                           "sums of residues fit s32 up to k = 131072");
    else if (!all || !allocate(&a, job->m, job->k, job->parts) ||
             !allocate(&b, job->n, job->k, job->parts))
        status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for residues");
    if (status == BITCUT_OK) status = run_all(job, &a, &b, all, shifts, f);
    free(all);
    clear(&a);
    clear(&b);
    return status;
}

enum bitcut_status fp64_shifts(int *row, int *col, double *limit,
                               const struct fp64_job *job, struct fault *f)
{
    const bool fast = job->scheme->run == fp64_run_residues_fast;
    struct residues a = { .shift = row }, b = { .shift = col };
    struct fp64_job own = *job;
    struct constants c;
    struct hostfp saved;
    a.digit = memory_allocate(job->m * job->k, sizeof *a.digit);
    b.digit = memory_allocate(job->n * job->k, sizeof *b.digit);
    own.d = memory_allocate(job->m * job->n, sizeof *own.d);
    enum bitcut_status status = BITCUT_NO_MEMORY;
    hostfp_enter(&saved);
    constants_make(&c, job->parts);
    if (a.digit && b.digit && own.d)
        status = (fast ? shifts_fast : shifts_accurate)(&a, &b, &own, &c, f);
    else fault_set(f, status, "not enough memory for the scales of lines");
    *limit = -c.minus_high * (0.5 - 0x1p-30);
    hostfp_leave(&saved);
    free(a.digit);
    free(b.digit);
    free(own.d);
    return status;
}

enum bitcut_status fp64_run_residues(const struct fp64_job *job, struct fault *f)
{
    return run(job, shifts_accurate, f);
}

enum bitcut_status fp64_run_residues_fast(const struct fp64_job *job, struct fault *f)
{
    return run(job, shifts_fast, f);
}
