/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/identify/faulty.h"

#include <math.h>

/* --- where -------------------------------------------------------------------------- */

static size_t tiles_across(const struct kernel *q)
{
    return (q->n + FRAGMENT_N - 1) / FRAGMENT_N;
}

size_t tile_of(const struct place *p)
{
    return p->i / FRAGMENT_M * tiles_across(p->q) + p->j / FRAGMENT_N;
}

static bool in_one_tile(const struct place *p)
{
    const size_t down = (p->q->m + FRAGMENT_M - 1) / FRAGMENT_M;
    return tile_of(p) == draw(p->q->seed, 20, 0) % (down * tiles_across(p->q));
}

static bool in_some_tiles(const struct place *p)
{
    return in_one_tile(p) || draw(p->q->seed, 21, tile_of(p)) % 8 == 0;
}

static bool in_one_warp(const struct place *p) { return p->j / FRAGMENT_N % 4 == 1; }
static bool in_odd_columns(const struct place *p) { return p->j % 2; }
static bool in_last_row(const struct place *p) { return p->i + 1 == p->q->m; }

static bool in_partial_tiles(const struct place *p)
{
    return p->i >= p->q->m / FRAGMENT_M * FRAGMENT_M ||
           p->j >= p->q->n / FRAGMENT_N * FRAGMENT_N;
}

const struct where one_tile = { "one 16x8 tile", in_one_tile },
                   some_tiles = { "an eighth of the 16x8 tiles", in_some_tiles },
                   one_warp = { "columns 8 to 15 of each 32", in_one_warp },
                   odd_columns = { "odd columns", in_odd_columns },
                   last_row = { "the last row", in_last_row },
                   partial_tiles = { "partial 16x8 tiles", in_partial_tiles };

/* --- layout ------------------------------------------------------------------------- */

static size_t a_transposed(const struct kernel *q, size_t line, size_t k)
{
    return k < q->k ? k * q->m + line : SIZE_MAX;
}

static size_t b_transposed(const struct kernel *q, size_t line, size_t k)
{
    return k < q->k ? line * q->k + k : SIZE_MAX;
}

static size_t a_beyond_end(const struct kernel *q, size_t line, size_t k)
{
    const size_t at = line * q->k + k;
    return at < q->m * q->k ? at : q->k - 1;
}

static size_t b_beyond_end(const struct kernel *q, size_t line, size_t k)
{
    return at_b(q, line, k < q->k ? k : q->k - 1);
}

static size_t b_one_k_on(const struct kernel *q, size_t line, size_t k)
{
    return at_b(q, line, k + 1);
}

static size_t b_pairs_swapped(const struct kernel *q, size_t line, size_t k)
{
    return at_b(q, line, k ^ 1);
}

static size_t a_halves_swapped(const struct kernel *q, size_t line, size_t k)
{
    return at_a(q, line, k ^ (size_t)(q->unit->k > 1 ? q->unit->k / 2 : 1));
}

static size_t b_step_before(const struct kernel *q, size_t line, size_t k)
{
    const size_t step = (size_t)q->unit->k;
    return at_b(q, line, line % 2 && k >= step && k < q->k ? k - step : k);
}

/* The third step has the elements of the one before. */
static size_t stale_third(const struct kernel *q, size_t k)
{
    const size_t step = q->unit->k > 1 ? (size_t)q->unit->k : 8;
    return k / step == 2 ? k - step : k;
}

static size_t a_stale(const struct kernel *q, size_t line, size_t k)
{
    return k < q->k ? at_a(q, line, stale_third(q, k)) : SIZE_MAX;
}

static size_t b_stale(const struct kernel *q, size_t line, size_t k)
{
    return k < q->k ? at_b(q, line, stale_third(q, k)) : SIZE_MAX;
}

/* Rows of B begin at multiples of 8 elements. */
static size_t b_leading_dimension(const struct kernel *q, size_t line, size_t k)
{
    const size_t at = k * ((q->n + 7) / 8 * 8) + line;
    return k < q->k && at < q->k * q->n ? at : SIZE_MAX;
}

static size_t a_rows_swapped(const struct kernel *q, size_t line, size_t k)
{
    const size_t other = line ^ 8;
    return at_a(q, other < q->m ? other : line, k);
}

static size_t b_columns_swapped(const struct kernel *q, size_t line, size_t k)
{
    const size_t other = line ^ 1;
    return at_b(q, other < q->n ? other : line, k);
}

static size_t a_next_row(const struct kernel *q, size_t line, size_t k)
{
    return at_a(q, line + 1 < q->m ? line + 1 : line, k);
}

static size_t a_row_above(const struct kernel *q, size_t line, size_t k)
{
    return at_a(q, line - (line > 0), k);
}

static size_t b_next_column(const struct kernel *q, size_t line, size_t k)
{
    return at_b(q, line + 1 < q->n ? line + 1 : line, k);
}

static size_t b_half_tile(const struct kernel *q, size_t line, size_t k)
{
    return at_b(q, line / FRAGMENT_N * FRAGMENT_N + line % (FRAGMENT_N / 2), k);
}

/* --- tiles of D --------------------------------------------------------------------- */

static void relu(float *d, const struct kernel *q, const float *right)
{
    for (size_t at = 0; at < q->m * q->n; at++) d[at] = right[at] > 0 ? right[at] : 0;
}

static void tile_of_neighbour(float *d, const struct kernel *q, const float *right)
{
    for (size_t at = 0; at < q->m * q->n; at++) {
        const size_t i = at / q->n, j = at % q->n;
        const size_t on = j + FRAGMENT_N < q->n ? j + FRAGMENT_N : j % FRAGMENT_N;
        d[at] = right[i * q->n + on];
    }
}

static void tiles_swapped(float *d, const struct kernel *q, const float *right)
{
    for (size_t at = 0; at < q->m * q->n; at++) {
        const size_t j = at % q->n ^ FRAGMENT_N;
        d[at] = j < q->n ? right[at / q->n * q->n + j] : right[at];
    }
}

static void fill(float *d, const struct kernel *q, float x)
{
    for (size_t at = 0; at < q->m * q->n; at++) d[at] = x;
}

static void zeros(float *d, const struct kernel *q, const float *right)
{
    (void)right;
    fill(d, q, 0);
}

static void nans(float *d, const struct kernel *q, const float *right)
{
    (void)right;
    fill(d, q, NAN);
}

/* What was in memory: another product's results. */
static void earlier(float *d, const struct kernel *q, const float *right)
{
    (void)right;
    for (size_t at = 0; at < q->m * q->n; at++)
        d[at] = (float)(8 * draw_unit(q->seed, 23, at) - 4);
}

static void doubled(float *d, const struct kernel *q, const float *right)
{
    for (size_t at = 0; at < q->m * q->n; at++) d[at] = right[at] + right[at];
}

static void negated(float *d, const struct kernel *q, const float *right)
{
    for (size_t at = 0; at < q->m * q->n; at++) d[at] = -right[at];
}

static void d_transposed(float *d, const struct kernel *q, const float *right)
{
    for (size_t at = 0; at < q->m * q->n; at++)
        d[at] = right[at % q->m * q->n + at / q->m];
}

/* The two halves of a row of a fragment change places: a wrong index of the lane. */
static void lanes_swapped(float *d, const struct kernel *q, const float *right)
{
    for (size_t at = 0; at < q->m * q->n; at++) {
        const size_t j = at % q->n ^ 2;
        d[at] = j < q->n ? right[at / q->n * q->n + j] : right[at];
    }
}

/* --- output conversions ------------------------------------------------------------- */

static void convert(float *d, const struct kernel *q, const struct floating *f,
                    enum rule rule)
{
    for (size_t at = 0; at < q->m * q->n; at++) d[at] = round_to(f, rule, d[at]);
}

#define CONVERSION(name, format, rule)                                                   \
    static void name(float *d, const struct kernel *q, const float *right)               \
    {                                                                                    \
        (void)right;                                                                     \
        convert(d, q, format, rule);                                                     \
    }

CONVERSION(to_f16, &f16, NEAREST_EVEN)
CONVERSION(to_f16_rz, &f16, TOWARD_ZERO)
CONVERSION(to_bf16, &bf16, NEAREST_EVEN)
CONVERSION(to_bf16_rz, &bf16, TOWARD_ZERO)
CONVERSION(to_tf32, &tf32, NEAREST_AWAY)

/* --- the table ---------------------------------------------------------------------- */

#define AT_A(function) .stage = { .at = { function, NULL } }
#define AT_B(function) .stage = { .at = { NULL, function } }

const struct fault faults_places[] = {
    { "a-transposed", "layout", "read A by columns", AT_A(a_transposed) },
    { "b-transposed", "layout", "read B by columns", AT_B(b_transposed) },
    { "d-transposed", "layout", "stored D by columns", .output = d_transposed },
    { "k-beyond-end", "layout",
      "did not mask the last step: other rows, the last k again",
      .stage = { .at = { a_beyond_end, b_beyond_end } } },
    { "b-next-k", "layout", "B begins one k late", AT_B(b_one_k_on) },
    { "b-k-pairs", "layout", "packed pairs of k of B the wrong way round",
      AT_B(b_pairs_swapped) },
    { "a-k-halves", "layout", "swapped the halves of k in fragments of A",
      AT_A(a_halves_swapped) },
    { "a-rows-swapped", "layout", "swapped rows r and r + 8 of fragments",
      AT_A(a_rows_swapped) },
    { "b-columns-swapped", "layout", "swapped neighbouring columns of fragments",
      AT_B(b_columns_swapped) },
    { "a-next-row", "layout", "rows of A are off by one", AT_A(a_next_row) },
    { "b-next-column", "layout", "columns of B are off by one", AT_B(b_next_column) },
    { "b-half-fragment", "layout", "loaded half of each fragment of B twice",
      AT_B(b_half_tile) },
    { "b-stale-lanes", "layout", "odd lanes use the fragment of B of the step before",
      AT_B(b_step_before) },
    { "a-step-stale", "layout", "the third step reads A of the step before",
      AT_A(a_stale) },
    { "b-step-stale", "layout", "the third step reads B of the step before",
      AT_B(b_stale) },
    { "b-leading-dimension", "layout", "took the leading dimension of B rounded up to 8",
      .with = WITH_ODD_N, AT_B(b_leading_dimension) },
    { "lanes-swapped", "layout", "stored pairs of a fragment in each other's place",
      .output = lanes_swapped },
    { "tiles-swapped", "layout", "stored pairs of tiles in each other's place",
      .output = tiles_swapped },

    { "tile-stale", "tile", "one tile holds the result of its neighbour",
      .output = tile_of_neighbour, .where = &one_tile },
    { "tile-zero", "tile", "one tile was not written: zeros", .output = zeros,
      .where = &one_tile },
    { "tile-nan", "tile", "one tile was not written: NaN", .output = nans,
      .where = &one_tile },
    { "tile-earlier", "tile", "one tile was not written: what was there before",
      .output = earlier, .where = &one_tile },
    { "tiles-zero", "tile", "an eighth of the tiles was not written", .output = zeros,
      .where = &some_tiles },
    { "edge-zero", "tile", "partial tiles were not written", .output = zeros,
      .where = &partial_tiles },
    { "edge-earlier", "tile", "partial tiles hold what was there before",
      .output = earlier, .where = &partial_tiles },
    { "last-row-zero", "tile", "the last row was not written", .output = zeros,
      .where = &last_row },
    { "last-row-shifted", "tile", "the last row is clamped to the one above",
      AT_A(a_row_above), .where = &last_row },
    { "odd-columns-zero", "tile", "odd columns were not written", .output = zeros,
      .where = &odd_columns },
    { "tile-doubled", "tile", "one tile was accumulated into its old result",
      .output = doubled, .where = &one_tile },
    { "warp-negated", "tile", "one warp subtracts its products", .output = negated,
      .where = &one_warp },
    { "all-zero", "tile", "the kernel did not run: zeros", .output = zeros },
    { "all-nan", "tile", "the kernel did not run: NaN", .output = nans },

    { "relu", "conversion", "negative results are zero, as in an activation",
      .output = relu },

    { "out-f16", "conversion", "stored D through f16", .output = to_f16 },
    { "out-f16-rz", "conversion", "stored D through f16, truncated",
      .output = to_f16_rz },
    { "out-bf16", "conversion", "stored D through bf16", .output = to_bf16 },
    { "out-bf16-rz", "conversion", "stored the upper half of D", .output = to_bf16_rz },
    { "out-tf32", "conversion", "stored D through tf32", .output = to_tf32 },
    { 0 }
};
