/* SPDX-License-Identifier: BSD-3-Clause */
/* The ladder names what was planted in a D of random shape and format, whose sums have an
   order of k that no model has; and it finds nothing in correct results of random orders
   and of the units. */
#include "analysis/identify/ladder.h"
#include "analysis/identify/quick_check.h"
#include "emu/unit.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE_MAX = 96, K_MAX = 160, K_GROWTH = 2304, AREA = SIDE_MAX * SIDE_MAX };

/* A problem, its results before they are rounded to the format of D, and what a kind
   drew. */
struct drawn {
    size_t m, n, k, order[K_GROWTH];
    uint32_t a[SIDE_MAX * K_GROWTH], b[K_GROWTH * SIDE_MAX], d[AREA];
    double sum[AREA], other[AREA];
    const struct bitcut_format *format, *elements; /* of D; to which A and B are rounded */
    struct problem q;
    char expected[80]; /* part of the sentence */
    uint64_t rng;
};

static double uniform(struct drawn *x, double low, double high)
{
    return low + (high - low) * ldexp((double)(test_bits(&x->rng) >> 11), -53);
}

static size_t below(struct drawn *x, size_t end)
{
    return (size_t)test_between(&x->rng, 0, (int)end - 1);
}

static uint32_t f32(double v) { return bits_of_float((float)v); }

/* About normal. */
static double normal(struct drawn *x)
{
    double v = 0;
    for (int i = 0; i < 4; i++) v += uniform(x, -1, 1);
    return v;
}

static size_t eighths(struct drawn *x, size_t low, size_t high)
{
    return 8 * (size_t)test_between(&x->rng, (int)low / 8, (int)high / 8);
}

static void shuffle(struct drawn *x, size_t *to, size_t count)
{
    for (size_t i = 0; i < count; i++) to[i] = i;
    for (size_t i = count; i-- > 1;) {
        const size_t j = below(x, i + 1), kept = to[i];
        to[i] = to[j];
        to[j] = kept;
    }
}

static void draw(struct drawn *x, bool aligned)
{
    static const int results[] = { FORMAT_F32, FORMAT_F32, FORMAT_F16, FORMAT_BF16 },
                     elements[] = { FORMAT_F32, FORMAT_F32, FORMAT_F16, FORMAT_E4M3 };
    x->m = aligned ? eighths(x, 32, SIDE_MAX) : 20 + below(x, SIDE_MAX - 19);
    x->n = aligned ? eighths(x, 32, SIDE_MAX) : 20 + below(x, SIDE_MAX - 19);
    x->k = 16 + below(x, K_MAX - 15);
    x->format = &formats[results[below(x, 4)]];
    x->elements = &formats[elements[below(x, 4)]];
    for (size_t i = 0; i < x->m * x->k; i++) x->a[i] = f32(normal(x));
    for (size_t i = 0; i < x->k * x->n; i++) x->b[i] = f32(normal(x));
    shuffle(x, x->order, x->k);
    *x->expected = 0;
}

static double element(const struct drawn *x, uint32_t v)
{
    return value_of_float(f32_through(x->elements, &roundings[ROUND_RN], v));
}

/* FP32 sums in several lanes, in the drawn order of k. */
static void multiply(struct drawn *x)
{
    enum { LANES = 7 };
    const size_t lanes = 1 + below(x, LANES);
    for (size_t i = 0; i < x->m; i++)
        for (size_t j = 0; j < x->n; j++) {
            float lane[LANES] = { 0 }, sum = 0;
            for (size_t p = 0; p < x->k; p++) {
                const size_t at = x->order[p];
                lane[p % lanes] += (float)(element(x, x->a[i * x->k + at]) *
                                           element(x, x->b[at * x->n + j]));
            }
            for (size_t l = 0; l < lanes; l++) sum += lane[l];
            x->sum[i * x->n + j] = (double)sum;
        }
}

static void make_problem(struct drawn *x)
{
    for (size_t at = 0; at < x->m * x->n; at++)
        x->d[at] = f32_through(x->format, &roundings[ROUND_RN], f32(x->sum[at]));
    x->q = (struct problem){ .a = { .rows = x->m, .cols = x->k, .at = x->a },
                             .b = { .rows = x->k, .cols = x->n, .at = x->b },
                             .d = { .rows = x->m, .cols = x->n, .at = x->d },
                             .format = x->format,
                             .alpha = F32_ONE };
}

/* --- kinds ------------------------------------------------------------------------ */

static double content(struct drawn *x)
{
    static const double contents[] = { 0, 0, NAN, INFINITY };
    return contents[below(x, 4)];
}

static void fill(struct drawn *x, size_t i, size_t rows, size_t j, size_t cols, double v)
{
    for (size_t r = i; r < i + rows; r++)
        for (size_t c = j; c < j + cols; c++) x->sum[r * x->n + c] = v;
}

static void plant_rows(struct drawn *x)
{
    const size_t first = below(x, x->m - 1), rows = 1 + below(x, (x->m - first) / 2 + 1);
    fill(x, first, rows, 0, x->n, content(x));
    snprintf(x->expected, sizeof x->expected, rows > 1 ? "rows %zu to %zu" : "row %zu of",
             first, first + rows - 1);
    if (rows * 2 > x->m) *x->expected = 0;
}

static void plant_stride(struct drawn *x)
{
    const size_t stride = (size_t[]){ 2, 4, 8, 16 }[below(x, 3)];
    const double v = content(x);
    for (size_t i = 0; i < x->m; i++)
        if (i % stride) fill(x, i, 1, 0, x->n, v);
}

static void plant_columns(struct drawn *x)
{
    const size_t first = below(x, x->n), cols = x->n - first;
    if (!first) return plant_columns(x);
    fill(x, 0, x->m, first, cols, content(x));
    if (cols * 2 < x->n)
        snprintf(x->expected, sizeof x->expected,
                 cols > 1 ? "columns %zu to %zu" : "column %zu", first, x->n - 1);
}

static void plant_box(struct drawn *x)
{
    const size_t rows = 16 + below(x, x->m - 17), cols = 16 + below(x, x->n - 17),
                 i = below(x, x->m - rows), j = below(x, x->n - cols);
    fill(x, i, rows, j, cols, content(x));
    snprintf(x->expected, sizeof x->expected, "rows %zu to %zu, columns %zu to %zu", i,
             i + rows - 1, j, j + cols - 1);
}

static void plant_number(struct drawn *x)
{
    const size_t i = below(x, x->m / 2);
    x->elements = &formats[FORMAT_F32];
    multiply(x);
    fill(x, i, 1 + below(x, x->m / 4), 0, x->n, 1 + uniform(x, 0, 1));
}

static void plant_scattered(struct drawn *x)
{
    const double v = content(x);
    x->elements = &formats[FORMAT_F32];
    multiply(x);
    for (size_t n = 0; n <= x->m * x->n / 40; n++) {
        const size_t at = below(x, x->m * x->n);
        if (fabs(x->sum[at]) > 0.5 * sqrt((double)x->k)) x->sum[at] = v;
    }
}

static void plant_nothing(struct drawn *x)
{
    fill(x, 0, x->m, 0, x->n, content(x));
    snprintf(x->expected, sizeof x->expected, "D is all");
}

static void scale(struct drawn *x, double by)
{
    for (size_t at = 0; at < x->m * x->n; at++) x->sum[at] *= by;
}

static void plant_power(struct drawn *x)
{
    const double by = ldexp(1, test_between(&x->rng, 1, 6) * (below(x, 2) ? 1 : -1));
    scale(x, by);
    snprintf(x->expected, sizeof x->expected, "was not given, %.9g", by);
}

static void plant_root(struct drawn *x)
{
    scale(x, 1 / sqrt((double)x->k));
    snprintf(x->expected, sizeof x->expected, "%.9g%s", 1 / sqrt((double)x->k),
             fmod(log2((double)x->k), 2) == 0 ? "" : " (1/sqrt(k))");
}

static void plant_factor(struct drawn *x)
{
    const double by = round(uniform(x, 2.2, 3.8) * 100) / 100;
    scale(x, by);
    if (x->elements != &formats[FORMAT_E4M3])
        snprintf(x->expected, sizeof x->expected, "was not given, %.3g", by);
}

/* Numbers of rows and columns. */
static void plant_lines(struct drawn *x, bool rows, bool cols, bool product)
{
    double of_row[SIDE_MAX], of_col[SIDE_MAX];
    for (size_t i = 0; i < x->m; i++) of_row[i] = uniform(x, 1, 3);
    for (size_t j = 0; j < x->n; j++) of_col[j] = uniform(x, 1, 3);
    for (size_t at = 0; at < x->m * x->n; at++) {
        const double row = rows ? of_row[at / x->n] : 1, col = cols ? of_col[at % x->n] : 1;
        if (product) x->sum[at] *= row * col;
        else x->sum[at] += 4 * (rows ? row : col);
    }
}

static void plant_row_factors(struct drawn *x) { plant_lines(x, true, false, true); }
static void plant_col_factors(struct drawn *x) { plant_lines(x, false, true, true); }
static void plant_factors(struct drawn *x) { plant_lines(x, true, true, true); }
static void plant_row_bias(struct drawn *x) { plant_lines(x, true, false, false); }
static void plant_col_bias(struct drawn *x) { plant_lines(x, false, true, false); }

static void plant_start(struct drawn *x)
{
    x->elements = &formats[FORMAT_F16];
    multiply(x);
    for (size_t at = 0; at < x->m * x->n; at++) x->sum[at] += 2.75;
    snprintf(x->expected, sizeof x->expected, "2.7");
}

/* D takes row (or column) from[i] for line i. */
static void move_lines(struct drawn *x, const size_t *from, bool rows)
{
    memcpy(x->other, x->sum, x->m * x->n * sizeof *x->sum);
    for (size_t i = 0; i < x->m; i++)
        for (size_t j = 0; j < x->n; j++)
            x->sum[i * x->n + j] = x->other[rows ? from[i] * x->n + j : i * x->n + from[j]];
}

static void plant_order(struct drawn *x, bool rows)
{
    const size_t count = rows ? x->m : x->n;
    size_t from[SIDE_MAX];
    const size_t how = below(x, 5), by = 1 + below(x, count - 1);
    for (size_t i = 0; i < count; i++)
        from[i] = how == 0   ? count - 1 - i
                  : how == 1 ? (i + by) % count
                             : i;
    if (how == 2) shuffle(x, from, count);
    if (how == 3) from[0] = by, from[by] = 0;
    if (how == 4)
        for (size_t i = 0; i < count; i++) from[i] = (i ^ 1) < count ? i ^ 1 : i;
    move_lines(x, from, rows);
    snprintf(x->expected, sizeof x->expected, "%s",
             how == 0   ? "in reverse order"
             : how == 4 ? "xor 1"
             : how == 3 ? "0 holds those of"
                        : "");
    if (how == 1) snprintf(x->expected, sizeof x->expected, "i + %zu", by);
    if (how == 1 && by * 2 == count) *x->expected = 0;
}

static void plant_row_order(struct drawn *x) { plant_order(x, true); }
static void plant_col_order(struct drawn *x) { plant_order(x, false); }

static void plant_tiles(struct drawn *x)
{
    const size_t side = below(x, 2) ? 8 : 16, down = x->m / side, across = x->n / side,
                 one = below(x, down * across);
    size_t two = below(x, down * across);
    while (two / across == one / across || two % across == one % across)
        two = below(x, down * across);
    for (size_t i = 0; i < side; i++)
        for (size_t j = 0; j < side; j++) {
            double *const p = &x->sum[(one / across * side + i) * x->n +
                                      one % across * side + j],
                   *const q = &x->sum[(two / across * side + i) * x->n +
                                      two % across * side + j];
            const double kept = *p;
            *p = *q;
            *q = kept;
        }
}

/* Each tile of 16 x 8 (or transposed: 8 x 8) with its elements in another order. */
static void plant_fragments(struct drawn *x)
{
    const bool transposed = below(x, 2);
    const size_t rows = transposed ? 8 : 16, cols = 8;
    size_t from[128];
    shuffle(x, from, rows * cols);
    for (size_t at = 0; at < rows * cols && transposed; at++)
        from[at] = at % cols * cols + at / cols;
    memcpy(x->other, x->sum, x->m * x->n * sizeof *x->sum);
    for (size_t i = 0; i < x->m / rows * rows; i++)
        for (size_t j = 0; j < x->n / cols * cols; j++) {
            const size_t to = from[i % rows * cols + j % cols];
            x->sum[i * x->n + j] = x->other[(i / rows * rows + to / cols) * x->n +
                                            j / cols * cols + to % cols];
        }
    if (transposed) snprintf(x->expected, sizeof x->expected, "each tile is transposed");
}

/* k of B moved: the matrix that the kernel read. */
static void plant_k(struct drawn *x)
{
    static uint32_t kept[K_MAX * SIDE_MAX];
    const bool reversed = below(x, 2);
    const size_t by = 1 + below(x, x->k / 2 - 1), size = x->k * x->n * sizeof *x->b;
    memcpy(kept, x->b, size);
    for (size_t p = 0; p < x->k; p++)
        memcpy(&x->b[p * x->n], &kept[(reversed ? x->k - 1 - p : (p + by) % x->k) * x->n],
               x->n * sizeof *x->b);
    multiply(x);
    memcpy(x->b, kept, size);
    if (reversed) snprintf(x->expected, sizeof x->expected, "reverse");
    else snprintf(x->expected, sizeof x->expected, "row k + %zu of", by);
}

/* Positive elements, and sums in a short format. */
static void plant_growth(struct drawn *x)
{
    enum { LANES = 2 };
    const struct bitcut_format *const sums = &formats[below(x, 2) ? FORMAT_BF16 : FORMAT_F16];
    const bool f16 = sums == &formats[FORMAT_F16];
    const size_t lanes = f16 ? 1 : 1 + below(x, LANES);
    x->k = 1024;
    x->m = x->n = 20;
    x->format = &formats[FORMAT_F32];
    shuffle(x, x->order, x->k);
    for (size_t i = 0; i < x->m * x->k; i++) x->a[i] = f32(uniform(x, 1, 2));
    for (size_t i = 0; i < x->k * x->n; i++) x->b[i] = f32(uniform(x, 1, 2));
    /* The sum begins large, so that 11 bits are enough to stop it. */
    if (f16) {
        for (size_t j = 0; j < x->n; j++) x->b[j] = f32(2048);
        for (size_t i = 0; i < x->m * x->k; i++) x->a[i] = f32(uniform(x, 0.5, 0.6));
        for (size_t i = x->n; i < x->k * x->n; i++) x->b[i] = f32(uniform(x, 0.3, 0.6));
        for (size_t p = 0; p < x->k; p++)
            if (!x->order[p]) x->order[p] = x->order[0];
        x->order[0] = 0;
    }
    for (size_t i = 0; i < x->m; i++)
        for (size_t j = 0; j < x->n; j++) {
            double lane[LANES] = { 0 }, sum = 0;
            for (size_t p = 0; p < x->k; p++) {
                const size_t at = x->order[p];
                double *const l = &lane[p % lanes];
                *l = value_of_float(f32_through(
                    sums, &roundings[ROUND_RN],
                    f32(*l + value_of_float(x->a[i * x->k + at]) *
                                 value_of_float(x->b[at * x->n + j]))));
            }
            for (size_t l = 0; l < lanes; l++) sum += lane[l];
            x->sum[i * x->n + j] = sum;
        }
    snprintf(x->expected, sizeof x->expected, "sums in %s", sums->name);
}

/* Ones, whose sum in f16 stops at 2^11.  Eight sums in bf16 stop there, too. */
static void plant_ones(struct drawn *x)
{
    x->k = K_GROWTH;
    x->m = x->n = 20;
    x->format = &formats[FORMAT_F32];
    for (size_t i = 0; i < x->m * x->k; i++) x->a[i] = x->b[i] = F32_ONE;
    for (size_t at = 0; at < x->m * x->n; at++) x->sum[at] = 0x1p11;
    snprintf(x->expected, sizeof x->expected, "sums in f16");
}

/* Factors of blocks of k: of a row of A and all columns of B, or also of each column, as
   powers of two. */
static void plant_blocks(struct drawn *x)
{
    enum { BLOCKS = 6 };
    const bool both = below(x, 2);
    const size_t length = 16u << below(x, 4), blocks = 2 + below(x, BLOCKS - 1);
    double f[SIDE_MAX][BLOCKS], g[SIDE_MAX][BLOCKS];
    x->m = both ? SIDE_MAX : 8 + below(x, SIDE_MAX - 7);
    x->n = 32 + below(x, SIDE_MAX - 31);
    x->k = length * blocks - below(x, length / 2);
    for (size_t i = 0; i < x->m * x->k; i++) x->a[i] = f32(normal(x));
    for (size_t i = 0; i < x->k * x->n; i++) x->b[i] = f32(normal(x));
    for (size_t b = 0; b < blocks; b++) {
        for (size_t i = 0; i < x->m; i++)
            f[i][b] = both ? ldexp(1, test_between(&x->rng, -9, -7)) : uniform(x, 0.5, 2);
        for (size_t j = 0; j < x->n; j++)
            g[j][b] = both ? ldexp(1, test_between(&x->rng, -2, 0)) : 1;
    }
    for (size_t i = 0; i < x->m; i++)
        for (size_t j = 0; j < x->n; j++) {
            double sum = 0;
            for (size_t p = 0; p < x->k; p++)
                sum += f[i][p / length] * g[j][p / length] *
                       element(x, x->a[i * x->k + p]) * element(x, x->b[p * x->n + j]);
            x->sum[i * x->n + j] = sum;
        }
    snprintf(x->expected, sizeof x->expected, "each block of %zu k", length);
}

/* Two blocks of k count twice: no factors of rows or columns, but a fault of k. */
static void plant_twice(struct drawn *x)
{
    enum { BLOCK = 32, BLOCKS = 4 };
    x->k = BLOCK * BLOCKS;
    x->m = x->n = 64;
    for (size_t i = 0; i < x->m * x->k; i++) x->a[i] = f32(normal(x));
    for (size_t i = 0; i < x->k * x->n; i++) x->b[i] = f32(normal(x));
    for (size_t i = 0; i < x->m; i++)
        for (size_t j = 0; j < x->n; j++) {
            double sum = 0;
            for (size_t p = 0; p < x->k; p++)
                sum += (p / BLOCK % 2 ? 2 : 1) * element(x, x->a[i * x->k + p]) *
                       element(x, x->b[p * x->n + j]);
            x->sum[i * x->n + j] = sum;
        }
}

static void plant_relu(struct drawn *x)
{
    for (size_t at = 0; at < x->m * x->n; at++) x->sum[at] = fmax(x->sum[at], 0);
}

static void plant_one(struct drawn *x) { fill(x, 0, x->m, 0, x->n, 1000.5); }

static void plant_none(struct drawn *x) { (void)x; }

/* D for other readings of square matrices. */
static void plant_reading(struct drawn *x)
{
    static const char *const texts[] = { "D is B A", "transpose of A B", "A is transposed",
                                         "B is transposed" };
    const size_t side = 16 + below(x, 40), how = below(x, 4);
    x->m = x->n = x->k = side;
    shuffle(x, x->order, x->k);
    multiply(x);
    for (size_t i = 0; i < side; i++)
        for (size_t j = 0; j < side; j++) {
            float sum = 0;
            for (size_t p = 0; p < side; p++) {
                const uint32_t a = how == 0   ? x->b[i * side + p]
                                   : how == 1 ? x->a[j * side + p]
                                   : how == 2 ? x->a[p * side + i]
                                              : x->a[i * side + p],
                               b = how == 0   ? x->a[p * side + j]
                                   : how == 1 ? x->b[p * side + i]
                                   : how == 2 ? x->b[p * side + j]
                                              : x->b[j * side + p];
                sum += (float)(element(x, a) * element(x, b));
            }
            x->sum[i * side + j] = (double)sum;
        }
    snprintf(x->expected, sizeof x->expected, "%s", texts[how]);
}

static const struct kind {
    const char *what, *finding; /* NULL: nothing */
    void (*plant)(struct drawn *x);
    bool aligned;
} kinds[] = {
    { "correct", NULL, plant_none, false },
    { "rows", "not written", plant_rows, false },
    { "rows at a stride", "not written", plant_stride, false },
    { "columns", "not written", plant_columns, false },
    { "a box", "not written", plant_box, false },
    { "a number", "not written", plant_number, false },
    { "scattered", "not written", plant_scattered, false },
    { "nothing", "not written", plant_nothing, false },
    { "a power of two", "factor", plant_power, false },
    { "1/sqrt(k)", "factor", plant_root, false },
    { "a factor", "factor", plant_factor, false },
    { "factors of rows", "factors", plant_row_factors, false },
    { "factors of columns", "factors", plant_col_factors, false },
    { "factors of both", "factors", plant_factors, false },
    { "a bias of rows", "bias", plant_row_bias, false },
    { "a bias of columns", "bias", plant_col_bias, false },
    { "a start", "bias", plant_start, false },
    { "order of rows", "rows moved", plant_row_order, false },
    { "order of columns", "columns moved", plant_col_order, false },
    { "tiles", "tiles moved", plant_tiles, true },
    { "fragments", "elements moved", plant_fragments, true },
    { "k", "k moved", plant_k, false },
    { "growth", "sum stops growing", plant_growth, false },
    { "growth of ones", "sum stops growing", plant_ones, false },
    { "factors of blocks", "block factors", plant_blocks, false },
    { "blocks of k twice", NULL, plant_twice, false },
    { "max(D, 0)", "negative results are zeros", plant_relu, false },
    { "one number", "one number", plant_one, false },
    { "reading", "transposed", plant_reading, false },
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* The first finding of a problem, "" if there is none. */
static void climb(struct bitcut_finding *to, struct drawn *x, bool all)
{
    struct ladder_report l;
    struct fault f;
    *to = (struct bitcut_finding){ .name = "" };
    ck_assert(quick_check_read(&x->q, 1, &f) == BITCUT_OK);
    ck_assert(ladder_report_make(&l, &x->q, test_bits(&x->rng), &f) == BITCUT_OK);
    if (l.findings) *to = l.finding[0];
    if (all && l.findings == 2) *to = l.finding[1];
    ck_assert(l.rounded && l.within[0] <= l.within[1] && l.within[3] <= l.rounded);
    ladder_report_clear(&l);
}

START_TEST(planted)
{
    static struct drawn x;
    size_t right[KINDS] = { 0 }, wrong[KINDS] = { 0 }, tried[KINDS] = { 0 };
    x.rng = test_seed();
    for (int i = 0; i < test_cases(40 * KINDS, 400 * KINDS); i++) {
        const struct kind *const kind = &kinds[i % KINDS];
        struct bitcut_finding found;
        const uint64_t seed = x.rng;
        draw(&x, kind->aligned);
        multiply(&x);
        kind->plant(&x);
        make_problem(&x);
        climb(&found, &x, false);
        const bool is = kind->finding && !strcmp(found.name, kind->finding) &&
                        strstr(found.text, x.expected);
        tried[i % KINDS]++;
        right[i % KINDS] += is;
        wrong[i % KINDS] += !is && *found.name;
        if (!is && kind->finding)
            printf("# %s, %zu x %zu x %zu, %s of %s, seed %" PRIu64 ": %s: %s (not %s)\n",
                   kind->what, x.m, x.n, x.k, x.format->name, x.elements->name, seed,
                   found.name, found.text, x.expected);
    }
    for (size_t i = 0; i < KINDS; i++)
        printf("# %s: %zu right, %zu wrong, %zu none\n", kinds[i].what, right[i], wrong[i],
               tried[i] - right[i] - wrong[i]);
    fflush(stdout);
    for (size_t i = 0; i < KINDS; i++)
        ck_assert_msg(!wrong[i] && (!kinds[i].finding || right[i] * 20 >= tried[i] * 19),
                      "%s: %zu right, %zu wrong of %zu", kinds[i].what, right[i], wrong[i],
                      tried[i]);
}
END_TEST

/* --- correct results -------------------------------------------------------------- */

/* Elements of a family: rows of zeros, 2 of 4 zeros, rows of other magnitudes, ones,
   positive ones, few bits, small ones. */
static void draw_family(struct drawn *x, size_t family, bool tiny)
{
    draw(x, false);
    if (tiny) x->m = 1 + below(x, 12), x->n = 1 + below(x, 12), x->k = 1 + below(x, 12);
    const size_t zero = below(x, x->m);
    for (size_t i = 0; i < x->m; i++) {
        const double size = family == 2 ? ldexp(1, test_between(&x->rng, -40, 4)) : 1;
        for (size_t p = 0; p < x->k; p++) {
            uint32_t *const a = &x->a[i * x->k + p];
            const double v = normal(x);
            *a = f32(family == 0   ? (i == zero || !below(x, 3) ? 0 : v)
                     : family == 1 ? ((p ^ i) & 2 ? 0 : v)
                     : family == 2 ? v * size
                     : family == 3 ? 1
                     : family == 4 ? fabs(v)
                     : family == 5 ? round(v)
                                   : v * 1e-3);
        }
    }
    for (size_t i = 0; i < x->k * x->n; i++)
        x->b[i] = f32(family == 3   ? 1
                      : family == 4 ? fabs(normal(x))
                      : family == 5 ? round(normal(x))
                                    : normal(x));
}

enum { FAMILIES = 7 };

/* Of a D of zeros the ladder says so: a unit may read all elements as zeros. */
static void check_none(struct drawn *x, const char *what, size_t family)
{
    bool zeros = true;
    for (size_t at = 0; at < x->m * x->n; at++) zeros &= f32_is_zero(x->d[at]);
    if (zeros) return;
    struct bitcut_finding found;
    const uint64_t seed = x->rng;
    climb(&found, x, true);
    ck_assert_msg(!*found.name,
                  "%s, family %zu, %zu x %zu x %zu, %s, seed %" PRIu64 ": %s: %s", what,
                  family, x->m, x->n, x->k, x->format->name, seed, found.name, found.text);
}

START_TEST(correct_orders)
{
    static struct drawn x;
    x.rng = test_seed() + 1;
    for (int i = 0; i < test_cases(1400, 14000); i++) {
        draw_family(&x, (size_t)i % FAMILIES, i % 3 == 0);
        shuffle(&x, x.order, x.k);
        multiply(&x);
        make_problem(&x);
        check_none(&x, "FP32 sums", (size_t)i % FAMILIES);
    }
}
END_TEST

START_TEST(correct_units)
{
    static struct drawn x;
    size_t tried = 0;
    x.rng = test_seed() + 2;
    for (int i = 0; i < test_cases(1400, 14000); i++) {
        const size_t family = (size_t)i % FAMILIES;
        struct bitcut_gemm g;
        size_t units_count = 0;
        while (units[units_count].name) units_count++;
        draw_family(&x, family, i % 3 == 0);
        bitcut_gemm_init(&g, sizeof g);
        g.recipe = bitcut_recipe_find("plain");
        g.unit = &units[below(&x, units_count)];
        /* A unit of unsigned integers reads negative elements as zeros. */
        for (size_t at = 0; at < x.k * x.n && strstr(g.unit->name, ".u"); at++)
            x.b[at] &= 0x7fffffff;
        for (size_t at = 0; at < x.m * x.k && strstr(g.unit->name, ".u"); at++)
            x.a[at] &= 0x7fffffff;
        g.m = x.m, g.n = x.n, g.k = x.k;
        g.a.at = x.a, g.b.at = x.b, g.d.to = x.d;
        make_problem(&x);
        if (bitcut_gemm(NULL, &g, 1, NULL) != BITCUT_OK) continue;
        tried++;
        x.q.format = &formats[FORMAT_F32];
        check_none(&x, g.unit->name, family);
    }
    printf("# %zu GEMMs on units\n", tried);
    ck_assert_uint_gt(tried, 10);
}
END_TEST

TEST_MAIN("ladder", planted, correct_orders, correct_units)
