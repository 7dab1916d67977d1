/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/input/input.h"

#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/input/gendot.h"
#include "lib/input/torch_random.h"
#include "lib/number/elementary.h"
#include "lib/number/hostfp.h"
#include "lib/number/rand.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

struct draw {
    const double *parameter;
    enum input_role role;
    uint64_t seed;
    size_t rows, cols;
    int threads;
    const void *shared; /* the data that a fill function computed for its elements */
};

/* An element to draw: its position and its random words. */
struct element {
    size_t i, j;
    uint32_t word[4];
};

/* Streams; the role is added to the first two. */
enum { STREAM_ELEMENTS = 0, STREAM_SHARED = 2, STREAM_PAIR = 4 };

/* --- what the families draw with ---------------------------------------------------- */

static uint64_t block_of(size_t i, size_t j) { return (uint64_t)i << 32 | j; }

static uint64_t element_stream(const struct draw *d)
{
    return (uint64_t)(STREAM_ELEMENTS + (int)d->role);
}

/* Block `block` of the random words for data that a fill function computes first. */
static void shared_block(uint32_t word[4], const struct draw *d, uint64_t block)
{
    rand_block(word, d->seed, (uint64_t)(STREAM_SHARED + (int)d->role), block);
}

/* (-1)^negative (1 + fraction 2^-23) 2^exponent, a normal number. */
static uint32_t f32_of_fields(bool negative, int exponent, uint32_t fraction)
{
    return (uint32_t)negative << 31 | (uint32_t)(exponent + 127) << 23 | fraction;
}

/* Uniform in (0, 1), from the first two words. */
static double uniform(const uint32_t word[4])
{
    return rand_open(rand_bits(word[0], word[1]));
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

typedef uint32_t element_function(const struct draw *d, const struct element *e);

static void elements_fill(struct matrix *m, const struct draw *d,
                          element_function *element)
{
#pragma omp parallel num_threads(d->threads)
    {
        struct hostfp saved;
        hostfp_enter(&saved);
#pragma omp for schedule(static)
        for (size_t i = 0; i < m->rows; i++)
            for (size_t j = 0; j < m->cols; j++) {
                struct element e = { .i = i, .j = j };
                rand_block(e.word, d->seed, element_stream(d), block_of(i, j));
                m->at[i * m->cols + j] = element(d, &e);
            }
        hostfp_leave(&saved);
    }
}

/* --- families whose elements stand alone -------------------------------------------- */

/* a + (b - a) u, u uniform in (0, 1). */
static uint32_t urand_element(const struct draw *d, const struct element *e)
{
    const double a = d->parameter[0], b = d->parameter[1];
    const double x = a + (b - a) * uniform(e->word);
    return f32_of_double(x < b ? x : b);
}

/* mean + sigma z, z the quantile of a uniform number. */
static uint32_t nrand_element(const struct draw *d, const struct element *e)
{
    const double z = elementary_quantile(uniform(e->word));
    return f32_of_double(d->parameter[0] + d->parameter[1] * z);
}

/* Ootomo and Yokota 2022, Eq. 25. */
static uint32_t exp_rand_element(const struct draw *d, const struct element *e)
{
    const int exponent = integer_between(d->parameter[0], d->parameter[1], e->word);
    return f32_of_fields(e->word[3] >> 31, exponent, e->word[2] >> 9);
}

/* A magnitude in (0, 1] with the sign (-1)^k. */
static uint32_t alternating_element(const struct draw *d, const struct element *e)
{
    const uint32_t sign = (uint32_t)(inner_index(d, e) & 1) << 31;
    return sign | f32_of_double(uniform(e->word));
}

static uint32_t const_element(const struct draw *d, const struct element *e)
{
    (void)e;
    return f32_of_double(d->parameter[0]);
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

/* --- cauchy: STARS-H src/applications/cauchy.c -------------------------------------- */

/* Point t on the line. */
static double cauchy_point(const struct draw *d, size_t t)
{
    uint32_t word[4];
    shared_block(word, d, t);
    return (double)t + d->parameter[0] * (uniform(word) - 0.5);
}

/* 1 / (x_i - x_j), and 1 on the diagonal.  The points are integers moved by `jitter`.
   STARS-H's points are the integers unless its caller provides others, so its jitter is
   0. */
static uint32_t cauchy_element(const struct draw *d, const struct element *e)
{
    if (e->i == e->j) return f32_of_double(1);
    return f32_of_double(1 / (cauchy_point(d, e->i) - cauchy_point(d, e->j)));
}

/* --- spatial: STARS-H src/applications/spatial, exponential kernel ------------------ */

/* As STARS-H with variance 1, noise 0 and its placement "quasiuniform1".  Differences:
   the random numbers; every index gets its cell before points are moved, so that the
   Morton order is the order of the cells; and a rectangular matrix takes rows and columns
   from one set. */
struct points {
    const double *x, *y;
};

static uint32_t spatial_element(const struct draw *d, const struct element *e)
{
    const struct points *p = d->shared;
    const double dx = p->x[e->i] - p->x[e->j], dy = p->y[e->i] - p->y[e->j];
    return f32_of_double(elementary_exp(-(sqrt(dx * dx + dy * dy) / d->parameter[0])));
}

/* Bits 0, 2, 4, ... of z, packed. */
static uint32_t even_bits(uint64_t z)
{
    uint32_t packed = 0;
    for (int i = 0; i < 32; i++) packed |= (uint32_t)(z >> 2 * i & 1) << i;
    return packed;
}

/* Place `count` points in the unit square, one in each cell of the smallest square grid,
   moved randomly inside the middle 80 % of the cell.  They are in Morton order, so that
   near indices are near points. */
static void points_place(double *x, double *y, size_t count, const struct draw *d)
{
    size_t side = 0, t = 0;
    while (side * side < count) side++;
    for (uint64_t z = 0; t < count; z++) {
        const uint32_t cell_x = even_bits(z), cell_y = even_bits(z >> 1);
        if (cell_x >= side || cell_y >= side) continue;
        uint32_t word[4];
        shared_block(word, d, t);
        const double u = uniform(word), v = rand_open(rand_bits(word[2], word[3]));
        x[t] = (cell_x + 0.1 + 0.8 * u) / (double)side;
        y[t] = (cell_y + 0.1 + 0.8 * v) / (double)side;
        t++;
    }
}

static size_t longer_side(const struct draw *d)
{
    return d->rows > d->cols ? d->rows : d->cols;
}

static enum bitcut_status no_memory(struct fault *f, const struct draw *d)
{
    return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for an input of %zu x %zu",
                     d->rows, d->cols);
}

static enum bitcut_status spatial_fill(struct matrix *m, const struct draw *d,
                                       struct fault *f)
{
    const size_t count = longer_side(d);
    double *x = memory_allocate(count, 2 * sizeof *x);
    if (!x) return no_memory(f, d);
    points_place(x, x + count, count, d);
    const struct points points = { .x = x, .y = x + count };
    struct draw with = *d;
    with.shared = &points;
    elements_fill(m, &with, spatial_element);
    free(x);
    return BITCUT_OK;
}

/* --- randtlr: STARS-H src/applications/randtlr.c ------------------------------------ */

/* Tile (I, J) is U_I S U_J^T: U_I has `tile` rows and orthonormal columns, S = diag(1,
   decay, decay^2, ...).  Differences from STARS-H: the random numbers; Gram-Schmidt
   instead of LAPACK's QR, which changes signs of columns; singular values below 2^-53 are
   left out; any shape is possible, with partial tiles at its edges; and the diagonal is 0
   unless it is given, whereas STARS-H's examples add the size of the matrix. */
struct factors {
    size_t tile, rank;
    double *u; /* all U_I, one below the other, row-major */
    double *s;
};

static uint32_t randtlr_element(const struct draw *d, const struct element *e)
{
    const struct factors *t = d->shared;
    const double *left = t->u + e->i * t->rank, *right = t->u + e->j * t->rank;
    double sum = 0;
    for (size_t k = 0; k < t->rank; k++) sum += left[k] * right[k] * t->s[k];
    return f32_of_double(e->i == e->j ? sum + d->parameter[2] : sum);
}

/* Make column k of the tile orthogonal to the columns before it, with length 1. */
static void column_orthonormalise(double *u, const struct factors *t, size_t k)
{
    const size_t rank = t->rank;
    for (size_t l = 0; l < k; l++) {
        double dot = 0;
        for (size_t i = 0; i < t->tile; i++) dot += u[i * rank + l] * u[i * rank + k];
        for (size_t i = 0; i < t->tile; i++) u[i * rank + k] -= dot * u[i * rank + l];
    }
    double square = 0;
    for (size_t i = 0; i < t->tile; i++) square += u[i * rank + k] * u[i * rank + k];
    const double length = sqrt(square);
    for (size_t i = 0; i < t->tile; i++) u[i * rank + k] /= length;
}

/* U_I: normal random numbers, then modified Gram-Schmidt.  A random matrix of this size
   is so well conditioned that the columns are orthogonal to much higher accuracy than the
   precision of FP32. */
static void tile_draw(const struct factors *t, const struct draw *d, size_t tile)
{
    double *u = t->u + tile * t->tile * t->rank;
    for (size_t i = 0; i < t->tile; i++)
        for (size_t k = 0; k < t->rank; k++) {
            uint32_t word[4];
            shared_block(word, d, block_of(tile * t->tile + i, k));
            u[i * t->rank + k] = elementary_quantile(uniform(word));
        }
    for (size_t k = 0; k < t->rank; k++) column_orthonormalise(u, t, k);
}

static void tiles_draw(const struct factors *t, const struct draw *d, size_t tiles)
{
#pragma omp parallel num_threads(d->threads)
    {
        struct hostfp saved;
        hostfp_enter(&saved);
#pragma omp for schedule(static)
        for (size_t tile = 0; tile < tiles; tile++) tile_draw(t, d, tile);
        hostfp_leave(&saved);
    }
}

static enum bitcut_status randtlr_fill(struct matrix *m, const struct draw *d,
                                       struct fault *f)
{
    const double decay = d->parameter[1];
    struct factors t = { .tile = (size_t)d->parameter[0], .rank = 1 };
    for (double s = decay; t.rank < t.tile && s >= 0x1p-53; s *= decay) t.rank++;
    const size_t tiles = divide_up(longer_side(d), t.tile);
    t.u = memory_allocate(tiles * t.tile + 1, t.rank * sizeof *t.u);
    if (!t.u) return no_memory(f, d);
    t.s = t.u + tiles * t.tile * t.rank;
    t.s[0] = 1;
    for (size_t k = 1; k < t.rank; k++) t.s[k] = t.s[k - 1] * decay;

    tiles_draw(&t, d, tiles);
    struct draw with = *d;
    with.shared = &t;
    elements_fill(m, &with, randtlr_element);
    free(t.u);
    return BITCUT_OK;
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
    f16_exponent  = { "an integer from -14 to 15",            -14,      15,      true },
    tie_exponent  = { "an integer from -14 to 14",            -14,      14,      true },
    exact_integer = { "an integer from -16777216 to 16777216", -0x1p24, 0x1p24,  true },
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
      .parameter = { { "a", &real, -1 }, { "b", &real, 1 } }, .element = urand_element },
    { .name = "nrand", .what = "normal",
      .parameters = 2,
      .parameter = { { "mean", &mean, 0 }, { "sigma", &sigma, 1 } },
      .element = nrand_element },
    { .name = "exp_rand", .what = "exponent uniform from a to b; fraction, sign uniform",
      .parameters = 2, .ordered = true,
      .parameter = { { "a", &f32_exponent, -15 }, { "b", &f32_exponent, 14 } },
      .element = exp_rand_element },
    { .name = "positive", .what = "uniform in (0, 1]",
      .parameter = { { .standard = 0 }, { .standard = 1 } }, .element = urand_element },
    { .name = "llm", .what = "uniform in [0.5, 2.5], LE-GEMM's linear layers",
      .parameter = { { .standard = 0.5 }, { .standard = 2.5 } },
      .element = urand_element },
    { .name = "alternating", .what = "uniform in (0, 1], signs alternate along k",
      .element = alternating_element },
    { .name = "const", .what = "one value everywhere",
      .parameters = 1, .parameter = { { "value", &real, 1 } }, .element = const_element },
    { .name = "zeros", .what = "+0 everywhere", .element = const_element },
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
      .element = specials_element },
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

enum bitcut_status input_fill(struct matrix *m, const struct input *in,
                              enum input_role role, uint64_t seed, int threads,
                              struct fault *f)
{
    if (m->rows > UINT32_MAX || m->cols > UINT32_MAX)
        return fault_set(
            f, BITCUT_BAD_ARGUMENT,
            "inputs have at most 4294967295 rows and columns, found %zu x %zu", m->rows,
            m->cols);
    if (m->rows == 0 || m->cols == 0) return BITCUT_OK;
    const struct draw d = { .parameter = in->parameter, .role = role, .seed = seed,
                            .rows = m->rows, .cols = m->cols,
                            .threads = threads_for(threads, m->rows) };
    struct hostfp saved;
    enum bitcut_status status = BITCUT_OK;
    hostfp_enter(&saved);
    if (in->family->fill) status = in->family->fill(m, &d, f);
    else elements_fill(m, &d, in->family->element);
    hostfp_leave(&saved);
    return status;
}
