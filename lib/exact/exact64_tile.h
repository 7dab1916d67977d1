/* SPDX-License-Identifier: BSD-3-Clause */
/* A tile of an exact product of binary64 matrices, and the data shared by the layers that
   settle it. */
#ifndef BITCUT_LIB_EXACT_EXACT64_TILE_H
#define BITCUT_LIB_EXACT_EXACT64_TILE_H

#include "lib/exact/exact64.h"
#include "lib/exact/grid.h"
#include "lib/exact/lines.h"
#include "lib/exact/oracle.h"
#include "lib/number/bits.h"
#include "lib/number/wide.h"

/* Bins of 32 exponents each: for the products of any finite operands.  A bin has room for
   as many pieces of 32 bits. */
enum { BINS64 = 132, BINS64_ADDS = 1 << 30 };

/* The data of one thread. */
struct exact64_worker {
    struct dgemm64 dgemm;
    int64_t bin[BINS64];   /* all 0 between elements                          */
    struct wide wide;      /* the sum of the bins                             */
    struct oracle oracle;  /* set only if its layer is used                   */
    uint8_t pending[TILE]; /* whether (i, j) is not settled, rows as in dgemm */
    double *column;        /* a column of B without gaps                      */
    struct exact_counts counts;
};

struct exact64_job {
    double *high, *low, *magnitude; /* each may be NULL */
    size_t m, n, k;
    const double *a, *b;
    unsigned layers;
    const struct dgemm_kernel *kernel;
    const struct exact64_update *update; /* or NULL */
    struct grid grid;                    /* its current rows are all rows */
    struct exact64_worker *worker;       /* [workers]                     */
    double *columns;                     /* [workers][k]                  */
    struct line_range *range;            /* [m] rows, then [n] columns    */
    int *shift;                          /* [m] rows, then [n] columns    */
};

/* Rows [row, row + rows), columns [col, col + cols), while one layer works on them. */
struct exact64_tile {
    const struct exact64_job *job;
    struct exact64_worker *worker;
    size_t row, col, rows, cols;
    size_t left; /* number of elements that are not settled */
    int layer;
};

/* Rows of A and columns of B are multiplied by 2^shift, so that their numbers are below
   2^SHIFTED_TOP, before layer dot2 adds their products: up to 2^46 products stay below
   2^646, and products with three factors below 2^900. */
enum { SHIFTED_TOP = 300 };

/* The least exponents of the last bits of multiplied numbers and of their products with
   which layer dot2 is exact: products, their errors, and both times alpha, are multiples
   of 2^-952, and error bounds are normal numbers. */
enum { SHIFTED_BOTTOM = -1000, PRODUCT_BOTTOM = -900 };

/* The layers. */
void layer64_dot2(struct exact64_tile *tile);
void layer64_bins(struct exact64_tile *tile);
void layer64_mpfr(struct exact64_tile *tile);

/* Store the magnitudes of a tile, from its sums or, where they have no meaning, by exact
   sums. */
void tile64_magnitudes(struct exact64_tile *tile);

static inline bool uses64(const struct exact64_job *job, int layer)
{
    return job->layers >> layer & 1;
}

static inline const struct line_range *row_range(const struct exact64_tile *t, size_t i)
{
    return &t->job->range[t->row + i];
}

static inline const struct line_range *col_range(const struct exact64_tile *t, size_t j)
{
    return &t->job->range[t->job->m + t->col + j];
}

/* The sums of (i, j) are those of its exact value times 2^pair_shift(). */
static inline int pair_shift(const struct exact64_tile *t, size_t i, size_t j)
{
    return t->job->shift[t->row + i] + t->job->shift[t->job->m + t->col + j];
}

/* The exponent of the last bit of the multiplied products of (i, j), or
   PRODUCT_BOTTOM - 1 if its sums have no meaning: an operand is not finite, or operands
   have too many different exponents. */
static inline int pair_bottom(const struct exact64_tile *t, size_t i, size_t j)
{
    const struct line_range *r = row_range(t, i), *c = col_range(t, j);
    const int row = r->bottom + t->job->shift[t->row + i];
    const int col = c->bottom + t->job->shift[t->job->m + t->col + j];
    const bool fits = !r->special && !c->special && row >= SHIFTED_BOTTOM &&
                      col >= SHIFTED_BOTTOM && row + col >= PRODUCT_BOTTOM;
    return fits ? row + col : PRODUCT_BOTTOM - 1;
}

static inline bool has_sums(const struct exact64_tile *t, size_t i, size_t j)
{
    return pair_bottom(t, i, j) >= PRODUCT_BOTTOM;
}

static inline uint8_t *pending64(const struct exact64_tile *t, size_t i, size_t j)
{
    return &t->worker->pending[i * TILE_COLS + j];
}

static inline void output64(const struct exact64_tile *t, size_t i, size_t j, double high,
                            double low)
{
    const size_t at = (t->row + i) * t->job->n + t->col + j;
    if (t->job->high) t->job->high[at] = high;
    if (t->job->low) t->job->low[at] = low;
}

/* Settle (i, j). */
static inline void settle64(struct exact64_tile *t, size_t i, size_t j, double high,
                            double low)
{
    output64(t, i, j, high, low);
    t->worker->counts.settled[EXACT_F64][t->layer]++;
    *pending64(t, i, j) = 0;
    t->left--;
}

static inline bool adds_c64(const struct exact64_job *job)
{
    return job->update && job->update->beta != 0;
}

static inline double alpha64(const struct exact64_job *job)
{
    return job->update ? job->update->alpha : 1;
}

/* C at (i, j), which is not read if beta is +-0. */
static inline double c_at64(const struct exact64_tile *t, size_t i, size_t j)
{
    return adds_c64(t->job) ? t->job->update->c[(t->row + i) * t->job->n + t->col + j]
                            : 0;
}

/* Whether a sum of zero is -0, which holds only if every term is -0.  The operands are
   finite. */
bool tile64_is_negative_zero(const struct exact64_tile *t, size_t i, size_t j);

#endif
