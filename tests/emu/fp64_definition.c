/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/emu/fp64_definition.h"

#include "emu/mufu.h"
#include "lib/number/bits.h"
#include "tests/test.h"

#include <gmp.h>
#include <math.h>
#include <string.h>

/* --- slices, from their definition ------------------------------------------------ */

struct cut_line {
    int digit[PARTS_MAX][K_MAX];
    int unit[PARTS_MAX]; /* exponent of the unit of a slice */
    bool none[PARTS_MAX];
};

static double most_of(const double *x, size_t k)
{
    double most = 0;
    for (size_t p = 0; p < k; p++) most = fmax(most, fabs(x[p]));
    return most;
}

static int log2_above(double x)
{
    int e;
    return frexp(x, &e) == 0.5 ? e - 1 : e;
}

static void cut_truncating(struct cut_line *to, const double *x, size_t k, int parts, int w)
{
    const double most = most_of(x, k);
    mpz_t z;
    mpz_init(z);
    for (int s = 0; s < parts; s++) {
        to->none[s] = most == 0;
        to->unit[s] = most == 0 ? 0 : ilogb(most) + 2 - w * (s + 1);
        for (size_t p = 0; p < k; p++) {
            mpz_set_d(z, ldexp(fabs(x[p]), -to->unit[s]));
            const int digit = (int)mpz_fdiv_ui(z, 1ul << w);
            to->digit[s][p] = x[p] < 0 ? -digit : digit;
        }
    }
    mpz_clear(z);
}

static void cut_nearest_to(struct cut_line *to, const double *x, size_t k, int parts, int w,
                           bool each)
{
    double rest[K_MAX];
    memcpy(rest, x, k * sizeof *rest);
    for (int s = 0; s < parts; s++) {
        const double most = most_of(each ? rest : x, k);
        to->none[s] = most == 0;
        to->unit[s] = most == 0 ? 0 : log2_above(most) + 1 - w * (each ? 1 : s + 1);
        for (size_t p = 0; p < k; p++) {
            const double n = nearbyint(ldexp(rest[p], -to->unit[s]));
            to->digit[s][p] = (int)n;
            rest[p] -= ldexp(n, to->unit[s]);
        }
    }
}

/* Two's complement: the integer part in radix 256 with digits from -128 to 127. */
static void cut_in_bytes(struct cut_line *to, const double *x, size_t k, int parts)
{
    const double most = most_of(x, k);
    int e = 0;
    if (most > 0) frexp(most, &e);
    if (most >= ldexp(127, e - 7)) e++;
    mpz_t z;
    mpz_init(z);
    for (int s = parts; s--;) {
        to->unit[s] = e - 7 - 8 * s;
        to->none[s] = most == 0;
    }
    for (size_t p = 0; p < k; p++) {
        mpz_set_d(z, ldexp(x[p], -to->unit[parts - 1]));
        for (int s = parts; s--;) {
            int digit = (int)mpz_fdiv_ui(z, 256);
            if (digit > 127) digit -= 256;
            to->digit[s][p] = digit;
            if (digit < 0) mpz_add_ui(z, z, (unsigned long)-digit);
            else mpz_sub_ui(z, z, (unsigned long)digit);
            mpz_fdiv_q_2exp(z, z, 8);
        }
    }
    mpz_clear(z);
}

static void cut(struct cut_line *to, const struct spec *s, const double *x, size_t k,
                int parts, int w)
{
    if (s->nearest) cut_nearest_to(to, x, k, parts, w, s->each);
    else cut_truncating(to, x, k, parts, w);
}

static void add_product(mpfr_t sum, long product, int exponent, bool none)
{
    mpfr_t x;
    mpfr_init2(x, 64);
    mpfr_set_si_2exp(x, none ? 0 : product, exponent, MPFR_RNDN);
    mpfr_add(sum, sum, x, MPFR_RNDN);
    mpfr_clear(x);
}

static int bits_of(size_t k)
{
    int bits = 0;
    while (((size_t)1 << bits) < k) bits++;
    return bits;
}

static void sum_slices(mpfr_t sum, const struct spec *s, const struct cut_line *a,
                       const struct cut_line *b, size_t k, int parts, int left)
{
    mpfr_set_zero(sum, 1);
    for (int level = 0; level < parts; level++) {
        long group = 0;
        int held = 0;
        for (int i = 0; i <= level; i++) {
            const int j = level - i;
            for (size_t p = 0; p < k; p++)
                group += (long)a->digit[i][p] * b->digit[j][p];
            if (s->groups && left > 0 && ++held < 1 << left && i < level) continue;
            add_product(sum, group, a->unit[i] + b->unit[j], a->none[i] || b->none[j]);
            group = held = 0;
        }
    }
}

/* D = fma(beta, c, alpha x), or alpha x. */
double end_of(mpfr_t x, double alpha, double beta, double c)
{
    mpfr_t t, u;
    mpfr_inits2(53, t, u, (mpfr_ptr)0);
    mpfr_mul_d(t, x, alpha, MPFR_RNDN);
    if (beta != 0) {
        mpfr_set_d(u, c, MPFR_RNDN);
        mpfr_set_d(x, beta, MPFR_RNDN);
        mpfr_fma(t, u, x, t, MPFR_RNDN);
    }
    const double d = mpfr_get_d(t, MPFR_RNDN);
    mpfr_clears(t, u, (mpfr_ptr)0);
    return d;
}

void expect_slices(double d[M][N], const struct spec *s, const struct data *x,
                          int parts)
{
    static struct cut_line a[M], b[N];
    const double left = (s->sum - log2((double)x->k)) / 2;
    int wa = (int)fmin(s->digit, s->each ? ceil(left) : (s->sum - bits_of(x->k)) / 2);
    int wb = (int)fmin(s->digit, s->each ? floor(left) : (s->sum - bits_of(x->k)) / 2);
    for (int i = 0; i < M; i++) cut(&a[i], s, x->a[i], x->k, parts, wa);
    for (int j = 0; j < N; j++) cut(&b[j], s, x->b[j], x->k, parts, wb);
    mpfr_t sum;
    mpfr_init2(sum, 53);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            sum_slices(sum, s, &a[i], &b[j], x->k, parts, s->sum - wa - wb - bits_of(x->k));
            d[i][j] = end_of(sum, x->alpha, x->beta, x->c[i][j]);
        }
    mpfr_clear(sum);
}

/* `backward`: each weight times alpha, from the smallest one on, added to beta C; else the
   sum from the largest one on, times alpha, added to beta C. */
void expect_bytes(double d[M][N], const struct data *x, int parts, bool backward)
{
    static struct cut_line a[M], b[N];
    mpfr_t sum, y, alpha, start;
    mpfr_inits2(53, sum, alpha, start, (mpfr_ptr)0);
    mpfr_init2(y, 64);
    mpfr_set_d(alpha, x->alpha, MPFR_RNDN);
    for (int i = 0; i < M; i++) cut_in_bytes(&a[i], x->a[i], x->k, parts);
    for (int j = 0; j < N; j++) cut_in_bytes(&b[j], x->b[j], x->k, parts);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            mpfr_set_zero(sum, 1);
            mpfr_set_d(start, x->c[i][j], MPFR_RNDN);
            mpfr_mul_d(start, start, x->beta, MPFR_RNDN);
            if (backward && x->beta != 0) mpfr_set(sum, start, MPFR_RNDN);
            for (int turn = 0; turn < parts; turn++) {
                const int level = backward ? parts - 1 - turn : turn;
                long group = 0;
                for (int s = 0; s <= level; s++)
                    for (size_t p = 0; p < x->k; p++)
                        group += (long)a[i].digit[s][p] * b[j].digit[level - s][p];
                mpfr_set_si_2exp(y, group, a[i].unit[0] + b[j].unit[0] - 8 * level, MPFR_RNDN);
                if (backward) mpfr_fma(sum, alpha, y, sum, MPFR_RNDN);
                else mpfr_add(sum, sum, y, MPFR_RNDN);
            }
            if (!backward) mpfr_fma(sum, alpha, sum, start, MPFR_RNDN);
            d[i][j] = mpfr_get_d(sum, MPFR_RNDN);
        }
    mpfr_clears(sum, y, alpha, start, (mpfr_ptr)0);
}

/* --- residues --------------------------------------------------------------------- */

static const int moduli[PARTS_MAX] = { 256, 255, 253, 251, 247, 241, 239, 233, 229, 227,
                                       223, 217, 211, 199, 197, 193, 191, 181, 179, 173 };

static double log2_of_gpu(float x)
{
    const struct bitcut_function *const f = bitcut_function_find("lg2.approx.f32");
    return (double)float_of_bits((uint32_t)mufu(f, bits_of_float(x)));
}

/* log2(P - 1) / 2 - 1/2, rounded down to FP32; of 2 moduli, the library's number. */
static double half_bits(const mpz_t product)
{
    mpfr_t x;
    mpz_t z;
    if (mpz_cmp_ui(product, 65280) == 0) return 0x1.dfd1ecp2;
    mpz_init(z);
    mpfr_init2(x, 300);
    mpz_sub_ui(z, product, 1);
    mpfr_set_z(x, z, MPFR_RNDN);
    mpfr_log2(x, x, MPFR_RNDN);
    mpfr_div_2ui(x, x, 1, MPFR_RNDN);
    mpfr_sub_d(x, x, 0.5, MPFR_RNDN);
    const double bits = (double)mpfr_get_flt(x, MPFR_RNDD);
    mpfr_clear(x);
    mpz_clear(z);
    return bits;
}

/* floor(half_bits - c log2 x), with the rounded constants. */
static int bits_left(const mpz_t product, double log2x)
{
    mpfr_t x, y;
    mpfr_inits2(300, x, y, (mpfr_ptr)0);
    mpfr_set_d(y, half_bits(product), MPFR_RNDN);
    mpfr_set_d(x, log2x, MPFR_RNDN);
    mpfr_mul_d(x, x, 0x1.000006p-1, MPFR_RNDN);
    mpfr_sub(x, y, x, MPFR_RNDN);
    const int bits = (int)mpfr_get_si(x, MPFR_RNDD);
    mpfr_clears(x, y, (mpfr_ptr)0);
    return bits;
}

static double bound_of(double x, double most)
{
    return x == 0 ? 0 : ceil(ldexp(fabs(x), 5 - ilogb(most)));
}

/* floor(log2(P - 1) / 2 - 2, rounded down twice, less the larger of 1 and half of
   log2(sum of squares)) - floor(log2 max|x|): sums of 256 threads, each addition rounded
   up.  Sums of 32 threads hardly ever differ; test_fp64_recorded has some that do. */
static int shift_fast(const double *x, size_t k, const mpz_t product)
{
    enum { THREADS = 256, WARP = 32 };
    mpfr_t sum[THREADS], y;
    const double most = most_of(x, k);
    mpfr_init2(y, 53);
    for (int t = 0; t < THREADS; t++) {
        mpfr_init2(sum[t], 53);
        mpfr_set_zero(sum[t], 1);
        for (size_t p = (size_t)t; p < k; p += THREADS) {
            mpfr_set_d(y, x[p], MPFR_RNDN);
            mpfr_fma(sum[t], y, y, sum[t], MPFR_RNDU);
        }
    }
    for (int step = WARP / 2; step; step /= 2)
        for (int t = 0; t < THREADS; t++)
            if (t % WARP < step)
                mpfr_add(sum[t], sum[t], sum[t + step], MPFR_RNDU);
    for (int step = WARP / 2; step; step /= 2)
        for (int w = 0; w < step && w + step < THREADS / WARP; w++)
            mpfr_add(sum[w * WARP], sum[w * WARP], sum[(w + step) * WARP], MPFR_RNDU);
    const double squares = mpfr_get_d(sum[0], MPFR_RNDN);
    const int e = squares == 0 ? 0 : ilogb(squares);
    mpfr_set_d(y, ldexp(squares, -e), MPFR_RNDN);
    const float narrow = mpfr_get_flt(y, MPFR_RNDU);
    mpfr_set_d(y, log2_of_gpu(narrow) + e, MPFR_RNDN);
    mpfr_set_d(y, (double)mpfr_get_flt(y, MPFR_RNDU), MPFR_RNDN);
    mpfr_mul_d(y, y, 0x1.000006p-1, MPFR_RNDN);
    const float norm = fmaxf(1, mpfr_get_flt(y, MPFR_RNDU));
    mpfr_set_d(y, half_bits(product), MPFR_RNDN);
    mpfr_sub_d(y, y, 1.5, MPFR_RNDN);
    mpfr_set_flt(y, mpfr_get_flt(y, MPFR_RNDD), MPFR_RNDN);
    mpfr_sub_d(y, y, (double)norm, MPFR_RNDN);
    const int bits = (int)floorf(mpfr_get_flt(y, MPFR_RNDD));
    for (int t = 0; t < THREADS; t++) mpfr_clear(sum[t]);
    mpfr_clear(y);
    return bits - (most == 0 ? 0 : ilogb(most));
}

static void shifts_fast(int row[M], int col[N], const struct data *x, const mpz_t product)
{
    for (int i = 0; i < M; i++) row[i] = shift_fast(x->a[i], x->k, product);
    for (int j = 0; j < N; j++) col[j] = shift_fast(x->b[j], x->k, product);
}

/* The exponents by which rows and columns are scaled, in accurate mode. */
static void shifts(int row[M], int col[N], const struct data *x, const mpz_t product)
{
    double sum[M][N];
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            const double a = most_of(x->a[i], x->k), b = most_of(x->b[j], x->k);
            sum[i][j] = 0;
            for (size_t p = 0; p < x->k; p++)
                sum[i][j] += bound_of(x->a[i][p], a) * bound_of(x->b[j][p], b);
        }
    for (int i = 0; i < M; i++) {
        const double most = most_of(sum[i], N), largest = most_of(x->a[i], x->k);
        row[i] = largest == 0 ? 0
                              : 5 - ilogb(largest) +
                                    bits_left(product, log2_of_gpu((float)most));
    }
    for (int j = 0; j < N; j++) {
        double most = 0;
        const double largest = most_of(x->b[j], x->k);
        for (int i = 0; i < M; i++) most = fmax(most, sum[i][j]);
        col[j] = largest == 0 ? 0
                              : 5 - ilogb(largest) +
                                    bits_left(product, log2_of_gpu((float)most));
    }
}

/* The least residue in magnitude of z modulo p; of 256, -128 to 127. */
static int residue_of(const mpz_t z, int p)
{
    const int r = (int)mpz_fdiv_ui(z, (unsigned long)p);
    return r > (p == 256 ? 127 : p / 2) ? r - p : r;
}

/* The integer product z, in the way of the library: sums with rounded constants. */
static void reconstruct(mpfr_t to, const mpz_t z, const mpz_t product, int count)
{
    mpz_t w, high;
    mpfr_t sum[2], factor, quotient, inverse;
    size_t residues = 0;
    mpz_inits(w, high, NULL);
    mpfr_inits2(53, sum[0], sum[1], factor, quotient, inverse, (mpfr_ptr)0);
    mpfr_set_zero(sum[0], 1);
    mpfr_set_zero(sum[1], 1);
    for (int i = 0; i < count; i++) residues += (size_t)moduli[i] / 2;
    const size_t cut = mpz_sizeinbase(product, 2) - (size_t)(53 - bits_of(residues));
    for (int i = 0; i < count; i++) {
        const unsigned long p = (unsigned long)moduli[i];
        mpz_divexact_ui(w, product, p);
        mpz_set_ui(high, p);
        mpz_invert(high, w, high);
        mpz_mul(w, w, high);
        if (count > 6) {
            mpz_fdiv_q_2exp(high, w, cut);
            mpz_mul_2exp(high, high, cut);
            mpz_sub(w, w, high);
        } else mpz_swap(high, w);
        mpfr_t r;
        mpfr_init2(r, 53);
        mpfr_set_si(r, residue_of(z, moduli[i]), MPFR_RNDN);
        mpfr_set_z(factor, high, MPFR_RNDN);
        mpfr_fma(sum[0], factor, r, sum[0], MPFR_RNDN);
        mpfr_set_z(factor, w, MPFR_RNDN);
        if (count > 6) mpfr_fma(sum[1], factor, r, sum[1], MPFR_RNDN);
        mpfr_clear(r);
    }
    mpfr_set_z(factor, product, MPFR_RNDN);
    mpfr_t exact;
    mpfr_init2(exact, 300);
    mpfr_set_z(exact, product, MPFR_RNDN);
    mpfr_ui_div(inverse, 1, exact, MPFR_RNDN);
    mpfr_mul(quotient, inverse, sum[0], MPFR_RNDN);
    mpfr_rint(quotient, quotient, MPFR_RNDN);
    mpfr_sub(exact, factor, exact, MPFR_RNDN); /* what P has below its FP64 number, < 0 */
    mpfr_neg(factor, factor, MPFR_RNDN);
    mpfr_fma(to, factor, quotient, sum[0], MPFR_RNDN);
    if (count > 6) {
        mpfr_add(to, to, sum[1], MPFR_RNDN);
        mpfr_set(factor, exact, MPFR_RNDN);
        mpfr_fma(to, factor, quotient, to, MPFR_RNDN);
    }
    mpfr_clears(sum[0], sum[1], factor, quotient, inverse, exact, (mpfr_ptr)0);
    mpz_clears(w, high, NULL);
}

void expect_residues(double d[M][N], const struct data *x, int count, bool fast)
{
    int row[M], col[N];
    mpz_t product, z, a, b;
    mpfr_t t, u;
    mpz_inits(product, z, a, b, NULL);
    mpfr_inits2(53, t, u, (mpfr_ptr)0);
    mpz_set_ui(product, 1);
    for (int i = 0; i < count; i++)
        mpz_mul_ui(product, product, (unsigned long)moduli[i]);
    (fast ? shifts_fast : shifts)(row, col, x, product);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            mpz_set_ui(z, 0);
            for (size_t p = 0; p < x->k; p++) {
                mpz_set_d(a, ldexp(x->a[i][p], row[i]));
                mpz_set_d(b, ldexp(x->b[j][p], col[j]));
                mpz_addmul(z, a, b);
            }
            reconstruct(t, z, product, count);
            mpfr_mul_2si(t, t, -(row[i] + col[j]), MPFR_RNDN);
            d[i][j] = end_of(t, x->alpha, x->beta, x->c[i][j]);
        }
    mpfr_clears(t, u, (mpfr_ptr)0);
    mpz_clears(product, z, a, b, NULL);
}
