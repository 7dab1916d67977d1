/* SPDX-License-Identifier: BSD-3-Clause */
/* A B by residues: rows of A and columns of B become integers, which are multiplied
   modulo p_1, ..., p_N; the Chinese remainder theorem gives the integer product modulo P
   = p_1 ... p_N.  Nothing but the truncation to integers and the last steps rounds,
   unless a product exceeds (P - 1) / 2.

   Formulas are those of GEMMul8 (emu/fp64/scheme.c has the version).  w_i is the multiple
   of P / p_i that is 1 modulo p_i, in a high and a low FP64 number, so that sums of the
   high numbers are exact. */
#include "emu/fp64/scheme.h"

#include "emu/fp64/moduli.h"
#include "emu/mufu.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The largest number of moduli for which scaled elements are integers of 32 and of 64
   bits. */
enum { INT32_MODULI_MAX = 7, INT64_MODULI_MAX = 15 };

/* --- scaled elements -------------------------------------------------------------- */

/* (-1)^negative * significand * 2^exponent. */
struct scaled {
    uint64_t significand;
    int exponent;
    bool negative;
};

/* x from its fields: infinities and NaN are numbers whose exponent is 1024. */
static struct scaled fields_of(double x)
{
    const uint64_t bits = bits_of_double(x);
    const int field = (int)(bits >> 52 & 0x7ff);
    return (struct scaled){ bits << 12 >> 12 | (uint64_t)(field > 0) << 52,
                            larger_int(field, 1) - 1023 - 52, bits >> 63 };
}

/* x times 2^shift, truncated to an integer: with an exponent >= 0. */
static struct scaled scale(double x, int shift)
{
    struct scaled s = fields_of(x);
    s.exponent = s.significand ? s.exponent + shift : 0;
    if (s.exponent >= 0) return s;
    s.significand = s.exponent > -64 ? s.significand >> -s.exponent : 0;
    s.exponent = 0;
    return s;
}

/* The same as FP64 number.  The fraction of a subnormal x is shifted by one bit too many:
   its first bit changes the exponent.  The exponent of infinities and NaN overflows. */
static struct scaled scale_in_f64(double x, int shift)
{
    const uint64_t bits = bits_of_double(x), fraction = bits << 12 >> 12;
    if (bits << 1 >> 53 == 0x7ff && shift > 0) return (struct scaled){ 0, 0, false };
    if (bits << 1 >> 53 || !fraction) return scale(x, shift);
    const int top = highest_bit(fraction) - 51, field = top + shift;
    if (field < 1023) return (struct scaled){ 0, 0, false };
    const uint64_t mask = ~(uint64_t)0 << larger_int(1023 + 52 - field, 0),
                   moved = (fraction << (2 - top) ^ (uint64_t)1 << 52) & mask;
    return scale(double_of_bits((bits >> 63 << 63) | (uint64_t)field << 52 | moved), 0);
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
    int *shift;     /* above INT16_MAX: all elements count as zero, and the low 16 bits
                       are the shift                                                     */
};

/* The bits in which the library keeps a shift. */
static int stored_shift(int64_t shift) { return -(int16_t)(uint16_t)(uint64_t)-shift; }

/* A shift below INT16_MIN gives zeros, as INT16_MIN does. */
static void residues_line(struct residues *to, const double *x, size_t line, size_t lines,
                          size_t k, int count)
{
    const int bits = fp64_integer_bits(count),
              shift = larger_int(to->shift[line], INT16_MIN);
    for (size_t p = 0; p < k; p++) {
        const double at = shift > INT16_MAX ? 0 : x[line * k + p];
        const struct scaled s =
            bits ? wrap(scale(at, shift), bits) : scale_in_f64(at, shift);
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

/* Accurate mode.  Upper bounds of elements have 6 bits; the largest sum of their products
   in the row, or in the column, determines the shift.  The bound of a subnormal x is too
   large: a bit is set above its first bit.  Bounds are stored in 8 bits. */
static int16_t bound_of(double x, int shift)
{
    struct scaled s = fields_of(x);
    if (!s.significand) return 0;
    if (highest_bit(s.significand) < 52)
        s.significand |= (uint64_t)2 << highest_bit(s.significand);
    s.exponent += shift;
    if (s.exponent >= 0)
        return (int8_t)(s.exponent < 8 ? s.significand << s.exponent : 0);
    if (s.exponent <= -64) return 1;
    const uint64_t below = s.significand >> -s.exponent;
    return (int8_t)(below + (below << -s.exponent != s.significand));
}

/* Bounds of a line with an infinity, whose exponent is INT32_MAX in the library.
   Exponents of elements overflow, except in lines whose elements are apart: there, the
   library uses the 16 bits of the shift. */
static int16_t bound_beside_infinity(double x, int stored, bool apart)
{
    if (!apart) return fabs(x) >= 0x1p47;
    return bound_of(x, stored);
}

static void bounds_make(struct residues *to, const double *x, size_t lines, size_t k,
                        bool apart)
{
    for (size_t line = 0; line < lines; line++) {
        const double *const at = x + line * k, largest = largest_of(at, k);
        const int shift = 5 - exponent_of(largest), stored = (int16_t)(uint16_t)shift;
        to->shift[line] = stored;
        for (size_t p = 0; p < k; p++)
            to->digit[line * k + p] = isinf(largest)
                                          ? bound_beside_infinity(at[p], stored, apart)
                                          : bound_of(at[p], shift);
    }
}

static int shift_accurate(const struct moduli_constants *c, double sum)
{
    const double log2 = log2_approx((double)(float)sum);
    return floor_to_int(floor_of_sum(-HALF * log2, c->half_bits));
}

static enum bitcut_status shifts_accurate(struct residues *a, struct residues *b,
                                          const struct fp64_job *job,
                                          const struct moduli_constants *c,
                                          struct fault *f)
{
    bounds_make(a, job->a, job->m, job->k, job->a_apart);
    bounds_make(b, job->b, job->n, job->k, job->b_apart);
    const enum bitcut_status status = fp64_multiply(job->d, job, a->digit, b->digit, f);
    if (status != BITCUT_OK) return status;
    for (size_t i = 0; i < job->m; i++) {
        double most = 0;
        for (size_t j = 0; j < job->n; j++)
            most = larger_double(most, job->d[i * job->n + j]);
        a->shift[i] = stored_shift(a->shift[i] + (int64_t)shift_accurate(c, most));
    }
    for (size_t j = 0; j < job->n; j++) {
        double most = 0;
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

/* The sum of the squares of a line as `threads` threads add it, a multiple of 32, each
   addition rounded upward. */
static double squares_of(const double *x, size_t k, size_t threads)
{
    enum { BLOCK = 256, WARP = 32 };
    double sum[BLOCK] = { 0 }, warp[WARP] = { 0 };
    for (size_t p = 0; p < k; p++) {
        double *const s = &sum[p % threads];
        *s = fma_up(x[p], *s);
    }
    for (size_t w = 0; w < threads / WARP; w++) {
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
   only lines whose largest element is near 1 have all bits.  Blocks have 256 threads for
   a line whose elements are adjacent in memory, and 32 otherwise.  From 2^128 on, the
   largest element is infinite, and the shift of the library is not defined. */
static int shift_fast(const struct moduli_constants *c, const double *x, size_t k,
                      bool apart)
{
    const double largest = largest_of(x, k), squares = squares_of(x, k, apart ? 32 : 256);
    const int exponent = isfinite(squares) ? exponent_of(squares) : 0;
    const double log2 =
        float_up(log2_approx(float_up(ldexp(squares, -exponent))) + exponent);
    const double norm = larger_double(1, float_up(HALF * log2));
    const double bits = float_down(float_down(c->half_bits - 1.5) - norm);
    const float narrow = (float)largest;
    const int64_t shift =
        (int64_t)floor_to_int(floor(bits)) - (narrow == 0 ? 0 : ilogbf(narrow));
    return apart ? stored_shift(shift) : (int32_t)(uint32_t)(uint64_t)shift;
}

static enum bitcut_status shifts_fast(struct residues *a, struct residues *b,
                                      const struct fp64_job *job,
                                      const struct moduli_constants *c, struct fault *f)
{
    (void)f;
    for (size_t i = 0; i < job->m; i++)
        a->shift[i] = shift_fast(c, job->a + i * job->k, job->k, job->a_apart);
    for (size_t j = 0; j < job->n; j++)
        b->shift[j] = shift_fast(c, job->b + j * job->k, job->k, job->b_apart);
    return BITCUT_OK;
}

/* --- the product ------------------------------------------------------------------ */

/* The product that has the residues `of`, in units of the scaled elements. */
static double reconstruct(const struct moduli_constants *c, const int16_t of[MODULI_MAX])
{
    double high = 0, low = 0;
    for (int i = 0; i < c->count; i++) {
        high = fma(c->high[i], of[i], high);
        low = fma(c->low[i], of[i], low);
    }
    const double quotient = rint(c->inverse * high),
                 rest = fma(c->minus_high, quotient, high);
    if (c->count <= MODULI_SINGLE_MAX) return rest;
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
                                           const struct moduli_constants *c,
                                           struct fault *f);

static enum bitcut_status run_all(const struct fp64_job *job, struct residues *a,
                                  struct residues *b, int16_t *all,
                                  shifts_function *shifts, struct fault *f)
{
    struct moduli_constants c;
    struct hostfp saved;
    const int team = threads_for(job->options->threads, job->m);
    hostfp_enter(&saved);
    moduli_constants_make(&c, job->parts);
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
                job->d[at] =
                    ldexp(reconstruct(&c, all + at * MODULI_MAX),
                          -(stored_shift(a->shift[i]) + stored_shift(b->shift[j])));
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
    struct moduli_constants c;
    struct hostfp saved;
    a.digit = memory_allocate(job->m * job->k, sizeof *a.digit);
    b.digit = memory_allocate(job->n * job->k, sizeof *b.digit);
    own.d = memory_allocate(job->m * job->n, sizeof *own.d);
    enum bitcut_status status = BITCUT_NO_MEMORY;
    hostfp_enter(&saved);
    moduli_constants_make(&c, job->parts);
    if (a.digit && b.digit && own.d)
        status = (fast ? shifts_fast : shifts_accurate)(&a, &b, &own, &c, f);
    else fault_set(f, status, "not enough memory for the scales of lines");
    for (size_t i = 0; i < job->m; i++) row[i] = stored_shift(row[i]);
    for (size_t j = 0; j < job->n; j++) col[j] = stored_shift(col[j]);
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
