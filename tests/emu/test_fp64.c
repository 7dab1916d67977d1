/* SPDX-License-Identifier: BSD-3-Clause */
/* FP64 GEMMs by schemes against a second implementation by GMP and MPFR, which is written
   from the prose of the schemes and shares no code with emu/fp64 except the logarithm of
   the GPU. */
#include "emu/fp64/fp64_gemm.h"
#include "emu/mufu.h"
#include "lib/number/bits.h"
#include "tests/test.h"

#include <fenv.h>
#include <gmp.h>
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 5, N = 7, K_MAX = 300, PARTS_MAX = 20 };

/* --- data ------------------------------------------------------------------------- */

struct data {
    double a[M][K_MAX], b[N][K_MAX], c[M][N], alpha, beta; /* b: columns */
    size_t k;
};

enum { UNIFORM, POSITIVE, WIDE, POWERS, ZEROS, SMALL, KINDS };

static double draw(uint64_t *state, int kind)
{
    const double x = (double)(test_bits(state) >> 11) * 0x1p-53,
                 sign = test_bits(state) & 1 ? -1 : 1;
    switch (kind) {
    case POSITIVE: return x;
    case WIDE: return sign * ldexp(1 + x, test_between(state, -40, 40));
    case POWERS: return sign * ldexp(1, test_between(state, -60, 3));
    case ZEROS: return test_bits(state) % 4 ? 0 * sign : sign * x;
    case SMALL: return sign * x * 0x1p-20;
    default: return 2 * x - 1;
    }
}

static struct data data_of(uint64_t *state, int kind, size_t k)
{
    struct data x = { .k = k, .alpha = 1 };
    for (size_t p = 0; p < k; p++) {
        for (int i = 0; i < M; i++) x.a[i][p] = draw(state, kind);
        for (int j = 0; j < N; j++) x.b[j][p] = draw(state, kind);
    }
    if (kind == ZEROS) memset(x.a[1], 0, sizeof x.a[1]);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) x.c[i][j] = draw(state, kind);
    if (test_bits(state) & 1) x.alpha = draw(state, UNIFORM), x.beta = draw(state, UNIFORM);
    return x;
}

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

/* A row of the table of schemes by slices. */
struct spec {
    const char *scheme, *unit;
    int digit, sum; /* largest bits of a digit and of a sum */
    bool nearest, each, groups;
};

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
static double end_of(mpfr_t x, double alpha, double beta, double c)
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

static void expect_slices(double d[M][N], const struct spec *s, const struct data *x,
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
static void expect_bytes(double d[M][N], const struct data *x, int parts, bool backward)
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

/* --- running ---------------------------------------------------------------------- */

/* D of the library, from matrices of another layout and with gaps, in a mode of the
   processor. */
static void run(double d[M][N], const char *scheme, const char *unit, const struct data *x,
                int parts, int threads)
{
    static double b[K_MAX][N + 3];
    char line[BITCUT_GEMM_MAX], why[BITCUT_TEXT_MAX];
    const struct bitcut_format *const f64 = bitcut_format_find("f64");
    struct bitcut_gemm g, ran;
    bitcut_gemm_init(&g, sizeof g);
    bitcut_gemm_init(&ran, sizeof ran);
    snprintf(line, sizeof line, "%s@%s,parts=%d", scheme, unit, parts);
    ck_assert_msg(bitcut_gemm_read(&g, line, why) == BITCUT_OK, "%s: %s", line, why);
    for (size_t p = 0; p < x->k; p++)
        for (int j = 0; j < N; j++) b[p][j] = x->b[j][p];
    g.m = M, g.n = N, g.k = x->k;
    g.alpha_f64 = x->alpha, g.beta_f64 = x->beta;
    g.a = (struct bitcut_matrix){ .at = x->a, .format = f64, .ld = K_MAX };
    if (threads == 1) g.b = (struct bitcut_matrix){ .at = b, .format = f64, .ld = N + 3 };
    else
        g.b = (struct bitcut_matrix){ .at = x->b,
                                      .format = f64,
                                      .ld = K_MAX,
                                      .layout = BITCUT_COLUMN_MAJOR };
    g.c = (struct bitcut_matrix){ .at = x->c, .format = f64 };
    g.d = (struct bitcut_matrix){ .to = d, .format = f64 };
    fenv_t saved;
    fegetenv(&saved);
    test_host_mode(threads == 1 ? 0 : 5);
    const enum bitcut_status status = bitcut_gemm(&ran, &g, threads, why);
    fesetenv(&saved);
    ck_assert_msg(status == BITCUT_OK, "%s: %s", line, why);
    ck_assert_int_eq(ran.parts, parts);
}

static void compare(double expected[M][N], const char *scheme, const char *unit,
                    const struct data *x, int parts, int kind)
{
    for (int threads = 1; threads <= 3; threads += 2) {
        double d[M][N];
        run(d, scheme, unit, x, parts, threads);
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++)
                ck_assert_msg(bits_of_double(d[i][j]) == bits_of_double(expected[i][j]),
                              "%s on %s, %d parts, k = %zu, data %d, (%d, %d): %a, "
                              "expected %a",
                              scheme, unit, parts, x->k, kind, i, j, d[i][j],
                              expected[i][j]);
    }
}

static const struct spec specs[] = {
    { "ozimmu", "h100", 7, 31, false, false, false },
    { "ozimmu-ef", "h100", 7, 31, false, false, true },
    { "ozimmu-ef", "ampere/mma.m16n8k32.s32.s8", 7, 31, false, false, true },
    { "ozimmu-rn", "h100", 7, 31, true, true, false },
    { "ozimmu-h", "h100", 7, 31, true, false, true },
    { "slices-f16", "a100", 11, 24, true, false, false },
    { "slices-bf16", "hopper/mma.m16n8k16.f32.bf16", 8, 24, true, false, false },
    { "slices-e4m3", "b200", 4, 24, true, false, false },
    { .scheme = NULL },
};

START_TEST(slices)
{
    uint64_t state = test_seed();
    static const size_t ks[] = { 1, 2, 17, 64, 300 };
    for (const struct spec *s = specs; s->scheme; s++)
        for (int turn = 0; turn < test_cases(60, 2000); turn++) {
            const int kind = turn % KINDS,
                      most = s->each || s->digit * 18 < 100 ? 12 : 100 / s->digit;
            const struct data x = data_of(&state, kind, ks[test_bits(&state) % 5]);
            const int parts = test_between(&state, 1, most);
            double d[M][N];
            expect_slices(d, s, &x, parts);
            compare(d, s->scheme, s->unit, &x, parts, kind);
        }
}
END_TEST

START_TEST(slices_of_two_s_complement)
{
    uint64_t state = test_seed() + 7;
    static const size_t ks[] = { 1, 2, 17, 64, 300 };
    for (int turn = 0; turn < test_cases(120, 3000); turn++) {
        const bool backward = turn / KINDS & 1;
        const int kind = turn % KINDS, parts = test_between(&state, 1, backward ? 8 : 12);
        struct data x = data_of(&state, kind, ks[test_bits(&state) % 5]);
        if (turn % 5 == 0) x.a[2][0] = 1 - 0x1p-9; /* needs room for a carry */
        double d[M][N];
        expect_bytes(d, &x, parts, backward);
        compare(d, backward ? "cublasdx" : "cublas-fixed", "h100", &x, parts, kind);
    }
}
END_TEST

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

static void expect_residues(double d[M][N], const struct data *x, int count, bool fast)
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

START_TEST(residues)
{
    uint64_t state = test_seed() + 1;
    static const size_t ks[] = { 1, 2, 17, 64, 300 };
    for (int turn = 0; turn < test_cases(200, 5000); turn++) {
        const int kind = turn % KINDS, parts = test_between(&state, 2, PARTS_MAX);
        struct data x = data_of(&state, kind, ks[test_bits(&state) % 5]);
        double d[M][N];
        expect_residues(d, &x, parts, false);
        compare(d, "gemmul8", turn % 2 ? "h100" : "a100", &x, parts, kind);
        if (kind == WIDE || kind == POWERS) continue; /* integers beyond 64 bits wrap */
        expect_residues(d, &x, parts, true);
        compare(d, "gemmul8-fast", "h100", &x, parts, kind);
    }
}
END_TEST

/* The fast mode is right for lines whose largest element is near 1, and gives nothing for
   the same lines times 2^-20, although no bit of them is lost. */
START_TEST(fast_mode_needs_elements_near_one)
{
    uint64_t state = test_seed() + 2;
    struct data x = data_of(&state, POSITIVE, K_MAX);
    double at_one[M][N], exact[M][N], small[M][N], worst = 0;
    x.alpha = 1, x.beta = 0;
    run(at_one, "gemmul8-fast", "h100", &x, 14, 1);
    run(exact, "gemmul8", "h100", &x, 20, 1);
    for (size_t p = 0; p < x.k; p++) {
        for (int i = 0; i < M; i++) x.a[i][p] *= 0x1p-20;
        for (int j = 0; j < N; j++) x.b[j][p] *= 0x1p-20;
    }
    run(small, "gemmul8-fast", "h100", &x, 14, 1);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            ck_assert_double_lt(fabs(at_one[i][j] - exact[i][j]), 1e-12 * exact[i][j]);
            worst = fmax(worst, fabs(small[i][j] * 0x1p40 - exact[i][j]) / exact[i][j]);
        }
    ck_assert_double_gt(worst, 0.5);
}
END_TEST

/* --- multiply-adds ---------------------------------------------------------------- */

START_TEST(chains)
{
    uint64_t state = test_seed() + 3;
    mpfr_t sum, a, b;
    mpfr_inits2(53, sum, a, b, (mpfr_ptr)0);
    for (int turn = 0; turn < test_cases(60, 1000); turn++) {
        const struct data x = data_of(&state, turn % KINDS, 1 + test_bits(&state) % K_MAX);
        double d[M][N];
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++) {
                mpfr_set_zero(sum, 1);
                for (size_t p = 0; p < x.k; p++) {
                    mpfr_set_d(a, x.a[i][p], MPFR_RNDN);
                    mpfr_set_d(b, x.b[j][p], MPFR_RNDN);
                    mpfr_fma(sum, a, b, sum, MPFR_RNDN);
                }
                d[i][j] = end_of(sum, x.alpha, x.beta, x.c[i][j]);
            }
        compare(d, "fp64", turn % 2 ? "fma/f64" : "hopper/mma.m16n8k16.f64.f64", &x, 1,
                turn % KINDS);
    }
    mpfr_clears(sum, a, b, (mpfr_ptr)0);
}
END_TEST

/* NaN, infinities and signs of zeros as the instruction gives them. */
START_TEST(specials_of_the_instruction)
{
    enum { SIZE = 8, K = 4 };
    static const double values[] = { 0, -0.0, 1, -1, INFINITY, -INFINITY, 0x1p-1074 };
    uint64_t state = test_seed() + 4, zero[SIZE * SIZE] = { 0 }, d[SIZE * SIZE];
    const char *const name = "hopper/mma.m8n8k4.f64.f64";
    const struct bitcut_format *const f64 = bitcut_format_find("f64");
    const struct bitcut_unit *const unit = bitcut_unit_find(name, f64);
    for (int turn = 0; turn < test_cases(100, 1000); turn++) {
        double a[SIZE * K], bt[SIZE * K], b[K * SIZE], to[SIZE * SIZE];
        char why[BITCUT_TEXT_MAX];
        for (int i = 0; i < SIZE * K; i++) {
            a[i] = values[test_bits(&state) % 7];
            bt[i] = values[test_bits(&state) % 7];
            if (test_bits(&state) % 16 == 0)
                a[i] = double_of_bits(0x7ff0000000000001u | (test_bits(&state) >> 13));
        }
        for (int p = 0; p < K; p++)
            for (int j = 0; j < SIZE; j++) b[p * SIZE + j] = bt[j * K + p];
        ck_assert_int_eq(bitcut_mma(d, unit, 1, SIZE, SIZE, K, (void *)a, (void *)b, zero, 1),
                         BITCUT_OK);
        struct bitcut_gemm g;
        bitcut_gemm_init(&g, sizeof g);
        g.scheme = bitcut_scheme_find("fp64");
        g.unit = unit;
        g.m = g.n = SIZE, g.k = K;
        g.a = (struct bitcut_matrix){ .at = a, .format = f64 };
        g.b = (struct bitcut_matrix){ .at = b, .format = f64 };
        g.d = (struct bitcut_matrix){ .to = to, .format = f64 };
        ck_assert_msg(bitcut_gemm(NULL, &g, 1, why) == BITCUT_OK, "%s", why);
        for (int i = 0; i < SIZE * SIZE; i++)
            ck_assert_msg(bits_of_double(to[i]) == d[i], "output %d: %a, expected %a", i,
                          to[i], double_of_bits(d[i]));
    }
}
END_TEST

/* --- special values in slices, and refusals --------------------------------------- */

/* ozIMMU multiplies the sum by the scales of the row and of the column: a row with an
   infinite scale is infinite or NaN, a row of subnormals zero. */
START_TEST(scales_of_special_rows)
{
    uint64_t state = test_seed() + 5;
    struct data x = data_of(&state, POSITIVE, 20);
    double d[M][N];
    x.alpha = 1, x.beta = 0;
    x.a[0][3] = INFINITY;
    x.a[1][4] = NAN;
    x.a[2][5] = 0x1p1023;
    for (size_t p = 0; p < x.k; p++) x.a[3][p] = 0x1p-1060;
    run(d, "ozimmu", "h100", &x, 8, 1);
    for (int j = 0; j < N; j++) {
        ck_assert(isinf(d[0][j]) && isinf(d[2][j]));
        ck_assert(!isfinite(d[1][j]));
        ck_assert(d[3][j] == 0);
        ck_assert(d[4][j] > 0 && isfinite(d[4][j]));
    }
}
END_TEST

START_TEST(refusals)
{
    static const struct {
        const char *line, *why;
    } cases[] = {
        { "ozimmu@h100,parts=19", "scheme ozimmu has 1 to 18 parts" },
        { "ozimmu@h100,parts=0", "scheme ozimmu has 1 to 18 parts" },
        { "ozimmu@h100,parts=3,tile=2", "unknown setting \"tile=2\"; a scheme has parts=N, and slices=N of k" },
        { "ozimmu@v100", "no unit \"v100\" multiplies s8" },
        { "ozimmu@hopper/mma.m16n8k16.f32.f16",
          "hopper/mma.m16n8k16.f32.f16 multiplies f16 by f16; scheme ozimmu has parts in s8" },
        { "gemmul8@h100,parts=1", "scheme gemmul8 has 2 to 20 parts" },
    };
    struct bitcut_gemm g;
    char why[BITCUT_TEXT_MAX], line[BITCUT_GEMM_MAX];
    bitcut_gemm_init(&g, sizeof g);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(bitcut_gemm_read(&g, cases[i].line, why), BITCUT_BAD_ARGUMENT);
        ck_assert_str_eq(why, cases[i].why);
    }
    ck_assert_int_eq(bitcut_gemm_read(&g, "ozimmu-h@h100,parts=6", why), BITCUT_OK);
    ck_assert_int_eq(bitcut_gemm_write(line, &g), BITCUT_OK);
    ck_assert_str_eq(line, "ozimmu-h@hopper/mma.m16n8k32.s32.s8,parts=6");
    double x = 1;
    g.m = g.n = g.k = 1;
    g.a = g.b = (struct bitcut_matrix){ .at = &x, .format = bitcut_format_find("f64") };
    g.d = (struct bitcut_matrix){ .to = &x, .format = bitcut_format_find("f64") };
    g.promote = 1;
    ck_assert_int_eq(bitcut_gemm(NULL, &g, 1, why), BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(why,
                     "promote belongs to FP32 GEMMs and cannot be combined with scheme ozimmu-h");
    g.promote = BITCUT_UNSET;
    g.d.format = NULL;
    ck_assert_int_eq(bitcut_gemm(NULL, &g, 1, why), BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(why, "D cannot have the format f32");
    double limit;
    g.d.format = bitcut_format_find("f64");
    ck_assert_int_eq(bitcut_bound(&limit, &g, 0, "bound", 1, why), BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(why, "a scheme is taken by gemm, verify and judge only; other calls take FP32 GEMMs");
}
END_TEST

/* A D that differs in one bit is found; an equal one is not. */
START_TEST(verification)
{
    uint64_t state = test_seed() + 6;
    struct data x = data_of(&state, UNIFORM, 64);
    double d[M][N];
    char why[BITCUT_TEXT_MAX];
    const struct bitcut_format *const f64 = bitcut_format_find("f64");
    run(d, "ozimmu-h", "h100", &x, 7, 1);
    struct bitcut_gemm g, ran;
    struct bitcut_difference found = { .size = sizeof found };
    bitcut_gemm_init(&ran, sizeof ran);
    ck_assert_int_eq(bitcut_gemm_read(&ran, "ozimmu-h@h100,parts=7", why), BITCUT_OK);
    g = ran;
    g.m = M, g.n = N, g.k = x.k, g.alpha_f64 = x.alpha, g.beta_f64 = x.beta;
    g.a = (struct bitcut_matrix){ .at = x.a, .format = f64, .ld = K_MAX };
    g.b = (struct bitcut_matrix){
        .at = x.b, .format = f64, .ld = K_MAX, .layout = BITCUT_COLUMN_MAJOR
    };
    g.c = (struct bitcut_matrix){ .at = x.c, .format = f64 };
    g.d = (struct bitcut_matrix){ .to = d, .format = f64 };
    ck_assert_msg(bitcut_gemm_verify(&found, &ran, &g, 2, why) == BITCUT_OK, "%s", why);
    ck_assert_uint_eq(found.compared, M * N);
    ck_assert_uint_eq(found.differ, 0);
    d[3][2] = nextafter(d[3][2], INFINITY);
    ck_assert_int_eq(bitcut_gemm_verify(&found, &ran, &g, 2, why), BITCUT_OK);
    ck_assert(found.differ == 1 && found.row == 3 && found.column == 2);
    ck_assert(found.given == bits_of_double(d[3][2]));
}
END_TEST

TEST_MAIN("fp64", slices, slices_of_two_s_complement, residues, fast_mode_needs_elements_near_one, chains,
          specials_of_the_instruction, scales_of_special_rows, refusals, verification)
