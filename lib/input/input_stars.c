/* SPDX-License-Identifier: BSD-3-Clause */
/* The families of STARS-H. */
#include "lib/input/elements.h"

#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/number/elementary.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>

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
uint32_t cauchy_element(const struct draw *d, const struct element *e)
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

enum bitcut_status spatial_fill(struct matrix *m, const struct draw *d,
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

enum bitcut_status randtlr_fill(struct matrix *m, const struct draw *d,
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
