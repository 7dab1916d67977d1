/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that store results in other positions of each tile, as if registers of a
   fragment were exchanged: the ladder names the map.  The sums have a drawn order of k and
   a drawn rounding, which no model has; correct kernels give no finding. */
#include "analysis/identify/ladder.h"
#include "analysis/identify/quick_check.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

enum { SIDE_MAX = 96, K_MAX = 160, AREA = SIDE_MAX * SIDE_MAX };

struct drawn {
    size_t m, n, k;
    uint32_t a[SIDE_MAX * K_MAX], b[K_MAX * SIDE_MAX], d[AREA];
    double sum[AREA], other[AREA];
    const struct bitcut_format *format; /* of D */
    char expected[80];                  /* part of the sentence */
    uint64_t rng;
};

static size_t below(struct drawn *x, size_t end)
{
    return (size_t)test_between(&x->rng, 0, (int)end - 1);
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

/* An element of a format, about normal or positive. */
static uint32_t element(struct drawn *x, const struct bitcut_format *format, bool positive)
{
    double v = 0;
    for (int i = 0; i < 4; i++)
        v += (double)test_between(&x->rng, positive ? 1 << 18 : -(1 << 20), positive ? 1 << 19 : 1 << 20);
    return f32_through(format, &roundings[ROUND_RN], bits_of_float((float)v / (1 << 20)));
}

/* A problem and its sums: lanes in a drawn order of k, rounded to nearest or toward zero. */
static void draw(struct drawn *x, bool positive)
{
    static const int results[] = { FORMAT_F32, FORMAT_F32, FORMAT_F16, FORMAT_BF16 },
                     elements[] = { FORMAT_F32, FORMAT_BF16, FORMAT_F16, FORMAT_E4M3 };
    const struct bitcut_format *const of = &formats[elements[below(x, 4)]];
    const struct bitcut_rounding *const rounding = &roundings[below(x, 2) ? ROUND_RN : ROUND_RZ];
    size_t order[K_MAX], lanes;
    const size_t most = below(x, 2) ? 16 : SIDE_MAX - 31; /* often few tiles */
    x->m = 32 + below(x, most), x->n = 32 + below(x, most);
    x->k = 16 + below(x, K_MAX - 15), lanes = 1 + below(x, 7);
    x->format = positive ? &formats[FORMAT_E4M3] : &formats[results[below(x, 4)]];
    for (size_t i = 0; i < x->m * x->k; i++) x->a[i] = element(x, of, positive);
    for (size_t i = 0; i < x->k * x->n; i++) x->b[i] = element(x, of, positive);
    shuffle(x, order, x->k);
    for (size_t at = 0; at < x->m * x->n; at++) {
        uint32_t lane[7] = { 0 };
        double sum = 0;
        for (size_t p = 0; p < x->k; p++) {
            const double one = value_of_float(x->a[at / x->n * x->k + order[p]]) *
                               value_of_float(x->b[order[p] * x->n + at % x->n]);
            uint32_t *const to = &lane[p % lanes];
            *to = (uint32_t)bitcut_format_convert(&formats[FORMAT_F32], rounding,
                                                  &formats[FORMAT_F64],
                                                  bits_of_double(value_of_float(*to) + one));
        }
        for (size_t l = 0; l < lanes; l++) sum = (double)(float)(sum + value_of_float(lane[l]));
        x->sum[at] = sum;
    }
    *x->expected = 0;
}

static void plant_none(struct drawn *x) { (void)x; }

/* Each whole tile of rows x cols with its results from other positions of the tile. */
static void move_in_tiles(struct drawn *x, const size_t *from, size_t rows, size_t cols)
{
    memcpy(x->other, x->sum, x->m * x->n * sizeof *x->sum);
    for (size_t i = 0; i < x->m / rows * rows; i++)
        for (size_t j = 0; j < x->n / cols * cols; j++) {
            const size_t of = from[i % rows * cols + j % cols];
            x->sum[i * x->n + j] = x->other[(i - i % rows + of / cols) * x->n + j - j % cols + of % cols];
        }
}

/* All elements of each tile in another order, or each tile transposed. */
static void plant_fragments(struct drawn *x)
{
    size_t from[128];
    const bool transposed = below(x, 2);
    shuffle(x, from, 128);
    for (size_t at = 0; at < 64 && transposed; at++) from[at] = at % 8 * 8 + at / 8;
    move_in_tiles(x, from, transposed ? 8 : 16, 8);
    if (transposed) snprintf(x->expected, sizeof x->expected, "each tile is transposed");
}

/* Whether only rows, or only columns, are in another order. */
static bool are_lines(const size_t *from, size_t rows, size_t cols)
{
    bool same_row = true, same_col = true, by_row = true, by_col = true;
    for (size_t at = 0; at < rows * cols; at++) {
        same_row &= from[at] / cols == at / cols;
        same_col &= from[at] % cols == at % cols;
        by_row &= from[at] / cols == from[at / cols * cols] / cols;
        by_col &= from[at] % cols == from[at % cols] % cols;
    }
    return (same_col && by_row) || (same_row && by_col);
}

static unsigned parity(size_t bits) { return (unsigned)__builtin_popcountll(bits) & 1; }

/* Outputs of each tile exchanged with those at (r xor X, c xor Y), where one or two sums
   of bits of r and c are odd, or all outputs. */
static void plant_exchanged(struct drawn *x)
{
    static const unsigned char sizes[][2] = { { 4, 4 }, { 8, 4 }, { 8, 8 }, { 16, 8 },
                                              { 8, 16 }, { 16, 16 }, { 32, 8 }, { 8, 32 } };
    size_t from[256], rows, cols, by, mask[2], moved;
    do {
        const unsigned char *const size = sizes[below(x, 8)];
        rows = size[0], cols = size[1], moved = 0;
        by = 1 + below(x, rows * cols - 1);
        for (int i = 0; i < 2; i++)
            do mask[i] = below(x, rows * cols);
            while (parity(mask[i] & by));
        const bool all = !below(x, 4), twice = !below(x, 3);
        for (size_t at = 0; at < rows * cols; at++) {
            const bool is = all || (parity(at & mask[0]) && (!twice || parity(at & mask[1])));
            from[at] = is ? at ^ by : at;
            moved += is;
        }
    } while (moved <= 4 || are_lines(from, rows, cols));
    move_in_tiles(x, from, rows, cols);
    const size_t i = by / cols, j = by % cols;
    /* These may be registers, and few outputs of a tile are listed. */
    if ((!(i & ~(size_t)8) && !(j & 6)) || moved * 4 <= rows * cols) return;
    if (i) snprintf(x->expected, sizeof x->expected, "(r xor %zu, c%s", i, j ? " xor" : ")");
    else snprintf(x->expected, sizeof x->expected, "(r, c xor %zu)", j);
}

/* The registers of all threads of an accumulator of 16 x 8 or 16 x 16 in another order. */
static void plant_registers(struct drawn *x)
{
    const size_t cols = below(x, 2) ? 8 : 16, count = cols / 2;
    size_t from[256], order[8];
    do {
        shuffle(x, order, count);
        if (!below(x, 2)) { /* two of them */
            const size_t one = below(x, count), two = below(x, count);
            for (size_t c = 0; c < count; c++) order[c] = c;
            order[one] = two, order[two] = one;
        }
        for (size_t thread = 0; thread < 32; thread++)
            for (size_t c = 0; c < count; c++) {
                const size_t of = order[c], row = thread / 4, col = thread % 4 * 2;
                from[(row + (c & 2) * 4) * cols + col + c % 2 + c / 4 * 8] =
                    (row + (of & 2) * 4) * cols + col + of % 2 + of / 4 * 8;
            }
    } while (are_lines(from, 16, cols));
    move_in_tiles(x, from, 16, cols);
    for (size_t c = 0; c < count && !*x->expected; c++)
        if (order[c] > c && order[order[c]] == c)
            snprintf(x->expected, sizeof x->expected, "c%zu and c%zu are exchanged", c, order[c]);
    for (size_t c = 0; c < count && !*x->expected; c++)
        if (order[c] != c && order[order[c]] != c)
            snprintf(x->expected, sizeof x->expected, "c%zu holds the result of c%zu", c, order[c]);
    bool all = true;
    for (size_t c = 0; c < count; c++) all &= (c ^ order[c]) == (order[0] ^ 0) && order[c] != c;
    if (all) *x->expected = 0; /* is said by r and c */
}

/* Two outputs of each tile of 16 x 8, in different rows and columns, exchanged. */
static void plant_pair(struct drawn *x)
{
    size_t from[128], one = below(x, 128), two;
    for (size_t at = 0; at < 128; at++) from[at] = at;
    do two = below(x, 128);
    while (two / 8 == one / 8 || two % 8 == one % 8);
    from[one] = two, from[two] = one;
    move_in_tiles(x, from, 16, 8);
    const size_t last = one > two ? one : two, first = one + two - last;
    snprintf(x->expected, sizeof x->expected, "(%zu, %zu) that of (%zu, %zu)", first / 8, first % 8,
             last / 8, last % 8);
}

/* The columns of every second row of each tile of 8 x 8, rotated by one. */
static void plant_rotated(struct drawn *x)
{
    size_t from[64];
    for (size_t at = 0; at < 64; at++)
        from[at] = at / 8 % 2 ? at : at / 8 * 8 + (at + 1) % 8;
    move_in_tiles(x, from, 8, 8);
    snprintf(x->expected, sizeof x->expected, "(0, 0) that of (0, 1)");
}

static const struct kind {
    const char *what, *finding; /* "": nothing; NULL: anything but moved elements */
    void (*plant)(struct drawn *x);
    bool positive; /* results are alike, and in a format of few bits */
} kinds[] = {
    { "correct", "", plant_none, false },
    { "correct and alike", NULL, plant_none, true },
    { "columns of some rows", "elements moved", plant_rotated, false },
    { "fragments", "elements moved", plant_fragments, false },
    { "exchanged outputs", "elements moved", plant_exchanged, false },
    { "registers", "elements moved", plant_registers, false },
    { "a pair", "elements moved", plant_pair, false },
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* Climb the ladder.  The last finding, as a moved output may be 0; "" if there is none. */
static void climb(struct bitcut_finding *to, struct drawn *x)
{
    struct problem q = { .a = { .rows = x->m, .cols = x->k, .at = x->a },
                         .b = { .rows = x->k, .cols = x->n, .at = x->b },
                         .d = { .rows = x->m, .cols = x->n, .at = x->d },
                         .format = x->format,
                         .alpha = F32_ONE };
    struct ladder_report l;
    struct fault f;
    for (size_t at = 0; at < x->m * x->n; at++)
        x->d[at] = f32_through(x->format, &roundings[ROUND_RN], bits_of_float((float)x->sum[at]));
    *to = (struct bitcut_finding){ .name = "" };
    ck_assert(quick_check_read(&q, 1, &f) == BITCUT_OK);
    ck_assert(ladder_report_make(&l, &q, test_bits(&x->rng), &f) == BITCUT_OK);
    if (l.findings) *to = l.finding[l.findings - 1];
    ladder_report_clear(&l);
}

START_TEST(maps_are_named)
{
    static struct drawn x;
    x.rng = test_seed();
    for (int i = 0; i < test_cases(160 * KINDS, 1600 * KINDS); i++) {
        const struct kind *const kind = &kinds[i % KINDS];
        const uint64_t seed = x.rng;
        struct bitcut_finding found;
        draw(&x, kind->positive);
        kind->plant(&x);
        climb(&found, &x);
        const bool is = kind->finding ? !strcmp(found.name, kind->finding) && strstr(found.text, x.expected)
                                      : strcmp(found.name, "elements moved") != 0;
        ck_assert_msg(is,
                      "%s, %zu x %zu x %zu, %s, seed %" PRIu64 ": \"%s\": %s (not %s)", kind->what,
                      x.m, x.n, x.k, x.format->name, seed, found.name, found.text, x.expected);
    }
}
END_TEST

TEST_MAIN("moved", maps_are_named)
