/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/input/elements.h"

#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/input/gendot.h"
#include "lib/input/torch_random.h"
#include "lib/number/bits.h"
#include "lib/number/elementary.h"
#include "lib/number/hostfp.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* (-1)^negative (1 + fraction 2^-23) 2^exponent, a normal number. */
static uint32_t f32_of_fields(bool negative, int exponent, uint32_t fraction)
{
    return (uint32_t)negative << 31 | (uint32_t)(exponent + 127) << 23 | fraction;
}

/* A uniform integer from lowest to highest, from the first two words. */
static int integer_between(double lowest, double highest, const uint32_t word[4])
{
    const uint64_t n = (uint64_t)(highest - lowest) + 1;
    return (int)lowest + (int)rand_below(rand_bits(word[0], word[1]), n);
}

/* The inner index k. */
static size_t inner_index(const struct draw *d, const struct element *e)
{
    return d->role == INPUT_A ? e->j : e->i;
}

/* --- families whose elements stand alone -------------------------------------------- */

/* a + (b - a) u, u uniform in (0, 1). */
static double urand_real(const struct draw *d, const struct element *e)
{
    const double a = d->parameter[0], b = d->parameter[1];
    const double x = a + (b - a) * uniform(e->word);
    return x < b ? x : b;
}

/* mean + sigma z, z the quantile of a uniform number. */
static double nrand_real(const struct draw *d, const struct element *e)
{
    const double z = elementary_quantile(uniform(e->word));
    return d->parameter[0] + d->parameter[1] * z;
}

/* (u - 1/2) exp(phi z), u uniform in (0, 1), z normal: the matrices of Ozaki's papers. */
static double phi_real(const struct draw *d, const struct element *e)
{
    const double u = rand_open(rand_bits(e->word[2], e->word[3])),
                 z = elementary_quantile(uniform(e->word));
    return (u - 0.5) * elementary_exp(d->parameter[0] * z);
}

/* Ootomo and Yokota 2022, Eq. 25. */
static uint32_t exp_rand_element(const struct draw *d, const struct element *e)
{
    const int exponent = integer_between(d->parameter[0], d->parameter[1], e->word);
    return f32_of_fields(e->word[3] >> 31, exponent, e->word[2] >> 9);
}

/* The same with 52 bits of the fraction; the first 23 bits are the same. */
static double exp_rand_real(const struct draw *d, const struct element *e)
{
    const int exponent = integer_between(d->parameter[0], d->parameter[1], e->word);
    const double x =
        1 + (double)((uint64_t)e->word[2] << 20 | (e->word[3] & 0xfffff)) * 0x1p-52;
    return ldexp(e->word[3] >> 31 ? -x : x, exponent);
}

/* A magnitude in (0, 1] with the sign (-1)^k. */
static double alternating_real(const struct draw *d, const struct element *e)
{
    return inner_index(d, e) & 1 ? -uniform(e->word) : uniform(e->word);
}

static double const_real(const struct draw *d, const struct element *e)
{
    (void)e;
    return d->parameter[0];
}

static uint32_t integers_element(const struct draw *d, const struct element *e)
{
    return f32_of_double(integer_between(d->parameter[0], d->parameter[1], e->word));
}

/* The 13 fraction bits that f16 lacks are exactly half of its last bit.  The last bit of
   f16 is k mod 2, so that rounding to nearest even goes down and up alternately along
   k. */
static uint32_t ties_element(const struct draw *d, const struct element *e)
{
    const int exponent = integer_between(d->parameter[0], d->parameter[1], e->word);
    const uint32_t kept = (e->word[2] >> 22 & ~(uint32_t)1) | (inner_index(d, e) & 1);
    return f32_of_fields(e->word[3] >> 31, exponent, kept << 13 | 0x1000);
}

/* All 13 fraction bits that f16 lacks are set: truncation has the largest error, always
   to the same side. */
static uint32_t rz_worst_element(const struct draw *d, const struct element *e)
{
    const int exponent = integer_between(d->parameter[0], d->parameter[1], e->word);
    return f32_of_fields(false, exponent, e->word[2] >> 22 << 13 | 0x1fff);
}

/* A third each: FP32 subnormals; values that are subnormal in f16 (2^-24 to 2^-14); and
   values whose unscaled low part in f16 is subnormal (2^-14 to 2^-3). */
static uint32_t subnormal_element(const struct draw *d, const struct element *e)
{
    (void)d;
    const uint32_t *word = e->word;
    const bool negative = word[3] >> 31;
    switch (rand_below(rand_bits(word[2], word[3] << 1), 3)) {
    case 0:
        return (uint32_t)negative << 31 | (uint32_t)integer_between(1, 0x7fffff, word);
    case 1:
        return f32_of_fields(negative, integer_between(-24, -15, word), word[2] >> 9);
    default:
        return f32_of_fields(negative, integer_between(-14, -4, word), word[2] >> 9);
    }
}

/* urand(-1,1), but a special value in one of n elements: t is uniform over 0..5n-1. */
static uint32_t specials_element(const struct draw *d, const struct element *e)
{
    static const uint32_t special[] = { 0x7fc00000, 0x7f800000, 0xff800000, 0,
                                        0x80000000 };
    const uint64_t n = (uint64_t)d->parameter[0];
    const uint64_t t = rand_below(rand_bits(e->word[2], e->word[3]), 5 * n);
    return t < 5 ? special[t] : f32_of_double(2 * uniform(e->word) - 1);
}

static uint32_t anybits_element(const struct draw *d, const struct element *e)
{
    (void)d;
    return e->word[0];
}

/* --- gendot: lib/input/gendot.h --------------------------------------------------- */

/* One x serves every row of A, and every column of B has its own y.  Rows and columns are
   then multiplied by +-2^-2 to +-2^2, which changes no condition number. */
static double line_scale(const struct draw *d, size_t t)
{
    uint32_t word[4];
    shared_block(word, d, t);
    return ldexp(word[3] >> 31 ? -1 : 1, integer_between(-2, 2, word));
}

static uint32_t gendot_element(const struct draw *d, const struct element *e)
{
    const struct gendot *g = d->shared;
    return f32_of_double(line_scale(d, e->i) * double_of_f32(g->x[e->j]));
}

static void gendot_columns(struct matrix *m, const struct gendot *g, const struct draw *d)
{
#pragma omp parallel num_threads(d->threads)
    {
        struct hostfp saved;
        hostfp_enter(&saved);
#pragma omp for schedule(static)
        for (size_t j = 0; j < m->cols; j++) {
            const double scale = line_scale(d, j);
            gendot_column(m->at + j, m->cols, g, d->seed, element_stream(d), j);
            for (size_t i = 0; i < m->rows; i++) {
                uint32_t *y = &m->at[i * m->cols + j];
                *y = f32_of_double(scale * double_of_f32(*y));
            }
        }
        hostfp_leave(&saved);
    }
}

static enum bitcut_status gendot_fill(struct matrix *m, const struct draw *d,
                                      struct fault *f)
{
    const size_t k = d->role == INPUT_A ? d->cols : d->rows;
    struct gendot g;
    const enum bitcut_status status =
        gendot_init(&g, k, d->parameter[0], d->seed, STREAM_PAIR, f);
    if (status) return status;
    struct draw with = *d;
    with.shared = &g;
    if (d->role == INPUT_A) elements_fill(m, &with, gendot_element);
    else gendot_columns(m, &g, d);
    gendot_clear(&g);
    return BITCUT_OK;
}

/* --- torch: lib/input/torch_random.h ------------------------------------------------ */

/* The generator for a matrix, after as many words as the last parameter says. */
static struct torch_generator torch_start(const struct draw *d, int drawn)
{
    struct torch_generator g;
    torch_seed(&g, d->seed);
    torch_skip(&g, (uint64_t)d->parameter[drawn]);
    return g;
}

static enum bitcut_status torch_rand_fill(struct matrix *m, const struct draw *d,
                                          struct fault *f)
{
    (void)f;
    struct torch_generator g = torch_start(d, 0);
    torch_rand(m->at, m->rows * m->cols, &g);
    return BITCUT_OK;
}

static enum bitcut_status torch_randn_fill(struct matrix *m, const struct draw *d,
                                           struct fault *f)
{
    (void)f;
    struct torch_generator g = torch_start(d, 0);
    torch_randn(m->at, m->rows * m->cols, &g);
    return BITCUT_OK;
}

static enum bitcut_status torch_randint_fill(struct matrix *m, const struct draw *d,
                                             struct fault *f)
{
    (void)f;
    struct torch_generator g = torch_start(d, 2);
    const double low = d->parameter[0], high = d->parameter[1];
    torch_randint(m->at, m->rows * m->cols, (int64_t)low, (uint32_t)(high - low) + 1, &g);
    return BITCUT_OK;
}

/* --- the tables --------------------------------------------------------------------- */

/* clang-format off */
static const struct input_domain
    real          = { "within the range of FP32",             -FLT_MAX, FLT_MAX, false },
    mean          = { "a number from -1e38 to 1e38",          -1e38f,   1e38f,   false },
    sigma         = { "a number from 0 to 1e37",              0,        1e37f,   false },
    f32_exponent  = { "an integer from -126 to 127",          -126,     127,     true },
    f64_exponent  = { "an integer from -1022 to 1023",        -1022,    1023,    true },
    f16_exponent  = { "an integer from -14 to 15",            -14,      15,      true },
    tie_exponent  = { "an integer from -14 to 14",            -14,      14,      true },
    exact_integer = { "an integer from -16777216 to 16777216", -0x1p24, 0x1p24,  true },
    graded_range  = { "an integer from 0 to 1000",            0,        1000,    true },
    both_range    = { "an integer from 0 to 250",             0,        250,     true },
    cancelled     = { "an integer from 1 to 52",              1,        52,      true },
    digit_bits    = { "an integer from 3 to 16",              3,        16,      true },
    spread        = { "a number from 0 to 20",                0,        20,      false },
    drawn         = { "an integer from 0 to 16777216",        0,        0x1p24,  true },
    one_in        = { "an integer from 1 to 1000000000",      1,        1e9,     true },
    jitter        = { "a number from 0 to 0.9",               0,        0.9f,    false },
    beta          = { "a number from 1e-6 to 1e6",            1e-6f,    1e6,     false },
    tile_side     = { "an integer from 1 to 1024",            1,        1024,    true },
    decay         = { "a number from 0 to 1",                 0,        1,       false },
    condition     = { "a number from 2 to 1e30",
                      GENDOT_CONDITION_MIN, GENDOT_CONDITION_MAX, false };

const struct input_family inputs[] = {
    { .name = "urand", .what = "uniform between a and b",
      .parameters = 2, .ordered = true,
      .parameter = { { "a", &real, -1 }, { "b", &real, 1 } }, .real = urand_real },
    { .name = "nrand", .what = "normal",
      .parameters = 2,
      .parameter = { { "mean", &mean, 0 }, { "sigma", &sigma, 1 } },
      .real = nrand_real },
    { .name = "exp_rand", .what = "exponent uniform from a to b; fraction, sign uniform",
      .parameters = 2, .ordered = true,
      .parameter = { { "a", &f32_exponent, -15 }, { "b", &f32_exponent, 14 } },
      .element = exp_rand_element, .real = exp_rand_real },
    { .name = "phi", .what = "uniform in (-1/2, 1/2) times exp(phi z), z normal",
      .parameters = 1, .parameter = { { "phi", &spread, 1 } }, .real = phi_real },
    { .name = "positive", .what = "uniform in (0, 1]",
      .parameter = { { .standard = 0 }, { .standard = 1 } }, .real = urand_real },
    { .name = "llm", .what = "uniform in [0.5, 2.5], LE-GEMM's linear layers",
      .parameter = { { .standard = 0.5 }, { .standard = 2.5 } },
      .real = urand_real },
    { .name = "alternating", .what = "uniform in (0, 1], signs alternate along k",
      .real = alternating_real },
    { .name = "const", .what = "one value everywhere",
      .parameters = 1, .parameter = { { "value", &real, 1 } }, .real = const_real },
    { .name = "zeros", .what = "+0 everywhere", .real = const_real },
    { .name = "integers", .what = "uniform integers from a to b: all low parts are zero",
      .parameters = 2, .ordered = true,
      .parameter = { { "a", &exact_integer, -8 }, { "b", &exact_integer, 8 } },
      .element = integers_element },
    { .name = "ties", .what = "halfway between two f16 numbers, exponents a to b",
      .parameters = 2, .ordered = true,
      .parameter = { { "a", &tie_exponent, -3 }, { "b", &tie_exponent, 3 } },
      .element = ties_element },
    { .name = "rz_worst", .what = "positive, all bits below f16 set, exponents a to b",
      .parameters = 2, .ordered = true,
      .parameter = { { "a", &f16_exponent, -3 }, { "b", &f16_exponent, 3 } },
      .element = rz_worst_element },
    { .name = "subnormal", .what = "subnormal in FP32, in f16, or in the f16 low part",
      .element = subnormal_element },
    { .name = "specials", .what = "urand(-1,1) with NaN, Inf or zero once in n",
      .parameters = 1, .parameter = { { "n", &one_in, 1000 } },
      .element = specials_element, .real = specials_real },
    { .name = "anybits", .what = "uniform over all encodings",
      .element = anybits_element },
    { .name = "cauchy", .what = "1 / (x_i - x_j), x_i near i, unit diagonal (STARS-H)",
      .parameters = 1, .parameter = { { "jitter", &jitter, 0 } },
      .element = cauchy_element },
    { .name = "spatial", .what = "exp(-|x_i - x_j| / beta), points in a square (STARS-H)",
      .parameters = 1, .parameter = { { "beta", &beta, 0.1f } }, .fill = spatial_fill },
    { .name = "randtlr", .what = "random tiles, singular values decay^k (STARS-H)",
      .parameters = 3,
      .parameter = { { "tile", &tile_side, 250 }, { "decay", &decay, 0.5 },
                     { "diagonal", &real, 0 } },
      .fill = randtlr_fill },
    { .name = "gendot", .what = "A and B: every element of A B has this condition number",
      .parameters = 1, .parameter = { { "condition", &condition, 1e6 } },
      .fill = gendot_fill },
    { .name = "graded",
      .what = "+-[1, 2) 2^-e, e uniform from 0 to range for each k, same in A and B",
      .parameters = 1, .parameter = { { "range", &graded_range, 60 } },
      .real = graded_real },
    { .name = "opposite",
      .what = "as graded, but +e in B: products of one size, spread rows and columns",
      .parameters = 1, .parameter = { { "range", &both_range, 60 } },
      .real = opposite_real },
    { .name = "line_scaled",
      .what = "urand(-1,1); rows of A, columns of B times 2^e, e uniform from a to b",
      .parameters = 2, .ordered = true,
      .parameter = { { "a", &f64_exponent, -20 }, { "b", &f64_exponent, 20 } },
      .real = line_scaled_real },
    { .name = "all_ones",
      .what = "positive, all 52 bits of FP64 fractions set, exponents a to b",
      .parameters = 2, .ordered = true,
      .parameter = { { "a", &f64_exponent, -3 }, { "b", &f64_exponent, 3 } },
      .real = all_ones_real },
    { .name = "max_digits",
      .what = "one value: its slices of so many bits are the largest of two's complement",
      .parameters = 1, .parameter = { { "bits", &digit_bits, 8 } },
      .real = max_digits_real },
    { .name = "cancelling",
      .what = "pairs of products along an even k cancel up to 2^-bits of them",
      .parameters = 1, .parameter = { { "bits", &cancelled, 40 } },
      .real = cancelling_real },
    { .name = "near_subnormal",
      .what = "exponent uniform from -1074 to range - 1074: subnormal in FP64, and above",
      .parameters = 1, .parameter = { { "range", &graded_range, 104 } },
      .real = near_subnormal_real },
    { .name = "torch_rand", .what = "torch.rand on a CPU, after `drawn` random words",
      .parameters = 1, .parameter = { { "drawn", &drawn, 0 } }, .fill = torch_rand_fill },
    { .name = "torch_randn", .what = "torch.randn on a CPU, after `drawn` random words",
      .parameters = 1, .parameter = { { "drawn", &drawn, 0 } },
      .fill = torch_randn_fill },
    { .name = "torch_randint", .what = "torch.randint(a, b + 1), after `drawn` words",
      .parameters = 3, .ordered = true,
      .parameter = { { "a", &exact_integer, -8 }, { "b", &exact_integer, 8 },
                     { "drawn", &drawn, 0 } },
      .fill = torch_randint_fill },
    { 0 }
};

/* Types 1 to 4: Ootomo and Yokota 2022, section 4.1.1 and Figure 11.  Their text gives
   type 2 the second operand exp_rand(-100,-35), which their type 4 then includes; the
   figure's caption (low precision, not all zero in halfhalf) asks for
   exp_rand(-35,-15). */
const struct input_pair input_pairs[] = {
    { "type1",       "A and B precise in halfhalf",
                     "exp_rand(-15,14)",  "exp_rand(-15,14)" },
    { "type2",       "B less precise in halfhalf",
                     "exp_rand(-15,14)",  "exp_rand(-35,-15)" },
    { "type3",       "A and B less precise in halfhalf",
                     "exp_rand(-35,-15)", "exp_rand(-35,-15)" },
    { "type4",       "B zero in halfhalf",
                     "exp_rand(-15,14)",  "exp_rand(-100,-35)" },
    { "alternating", "products of alternating sign",
                     "alternating",       "positive" },
    { 0 }
};
/* clang-format on */

/* --- filling ------------------------------------------------------------------------ */

static uint32_t rounded_element(const struct draw *d, const struct element *e)
{
    return f32_of_double(d->family->real(d, e));
}

static enum bitcut_status check_size(size_t rows, size_t cols, struct fault *f)
{
    if (rows <= UINT32_MAX && cols <= UINT32_MAX) return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT,
                     "inputs have at most 4294967295 rows and columns, found %zu x %zu",
                     rows, cols);
}

/* An element takes tens of nanoseconds. */
static int draw_threads(int threads, size_t rows, size_t cols)
{
    return threads_for_work(threads, rows, 20 * cols);
}

enum bitcut_status input_fill(struct matrix *m, const struct input *in,
                              enum input_role role, uint64_t seed, int threads,
                              struct fault *f)
{
    const struct input_family *const family = in->family;
    enum bitcut_status status = check_size(m->rows, m->cols, f);
    if (status != BITCUT_OK || m->rows == 0 || m->cols == 0) return status;
    const struct draw d = { .family = family,
                            .parameter = in->parameter,
                            .role = role,
                            .seed = seed,
                            .rows = m->rows,
                            .cols = m->cols,
                            .threads = draw_threads(threads, m->rows, m->cols) };
    struct hostfp saved;
    hostfp_enter(&saved);
    if (family->fill) status = family->fill(m, &d, f);
    else elements_fill(m, &d, family->element ? family->element : rounded_element);
    hostfp_leave(&saved);
    return status;
}

/* The values of an FP32 matrix of the family. */
static enum bitcut_status fill_widened(double *to, const struct draw *d,
                                       const struct input *in, struct fault *f)
{
    struct matrix m;
    enum bitcut_status status = matrix_init(&m, d->rows, d->cols, f);
    if (status != BITCUT_OK) return status;
    status = input_fill(&m, in, d->role, d->seed, d->threads, f);
    for (size_t i = 0; i < d->rows * d->cols && status == BITCUT_OK; i++)
        to[i] = value_of_float(m.at[i]);
    matrix_clear(&m);
    return status;
}

enum bitcut_status input_fill_f64(double *to, size_t rows, size_t cols,
                                  const struct input *in, enum input_role role,
                                  uint64_t seed, int threads, struct fault *f)
{
    const enum bitcut_status status = check_size(rows, cols, f);
    if (status != BITCUT_OK || rows == 0 || cols == 0) return status;
    const struct draw d = { .family = in->family,
                            .parameter = in->parameter,
                            .role = role,
                            .seed = seed,
                            .rows = rows,
                            .cols = cols,
                            .threads = draw_threads(threads, rows, cols) };
    if (!in->family->real) return fill_widened(to, &d, in, f);
#pragma omp parallel num_threads(d.threads)
    {
        struct hostfp saved;
        hostfp_enter(&saved);
#pragma omp for schedule(static)
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < cols; j++) {
                struct element e = { .i = i, .j = j };
                rand_block(e.word, seed, element_stream(&d), block_of(i, j));
                to[i * cols + j] = in->family->real(&d, &e);
            }
        hostfp_leave(&saved);
    }
    return BITCUT_OK;
}
