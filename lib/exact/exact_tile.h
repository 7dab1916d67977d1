/* SPDX-License-Identifier: BSD-3-Clause */
/* A tile of an exact product, and the data shared by the layers that settle it. */
#ifndef BITCUT_LIB_EXACT_EXACT_TILE_H
#define BITCUT_LIB_EXACT_EXACT_TILE_H

#include "lib/exact/bins.h"
#include "lib/exact/exact.h"
#include "lib/exact/grid.h"
#include "lib/exact/oracle.h"
#include "lib/number/bits.h"
#include "lib/number/format.h"

/* The data of one thread. */
struct exact_worker {
    struct dgemm dgemm;
    struct bins bins;
    struct oracle oracle;  /* set only if its layer is used                        */
    uint8_t pending[TILE]; /* targets that (i, j) lacks, bit 1 << target, rows as in
                              dgemm                                                */
    uint32_t *column;      /* a column of B without gaps                           */
    struct exact_counts counts;
};

struct exact_job {
    uint32_t *c32;
    uint64_t *c64;
    double *magnitude;
    size_t m, n, k;
    const uint32_t *a, *b;
    unsigned layers;
    const struct dgemm_kernel *kernel;
    const struct progress *progress;
    const struct exact_update *update; /* or NULL */
    struct grid grid; /* its current rows are all rows, or the rows of a panel */

    const struct exact_sums *sums; /* or NULL */
    size_t panel_rows;             /* a multiple of tile_rows */
    double *high, *low, *size;     /* [panel_rows][n]: sums made elsewhere */

    struct exact_worker *worker; /* [workers]                                           */
    uint32_t *columns;           /* [workers][k]                                        */
    double *row_unit, *col_unit; /* [m] and [n]: power of two that divides each line    */
    double *row_norm, *col_norm; /* [m] and [n]: at least the 2-norm of each line       */
};

/* Rows [row, row + rows), columns [col, col + cols) of C, while one layer works on
   them. */
struct exact_tile {
    const struct exact_job *job;
    struct exact_worker *worker;
    size_t row, col, rows, cols;
    size_t left; /* number of elements that lack something */
    int layer;
};

static inline bool uses(const struct exact_job *job, int layer)
{
    return job->layers >> layer & 1;
}

/* Whether the sums of a tile include the sums of the magnitudes of their terms. */
static inline bool has_sizes(const struct exact_job *job)
{
    return job->magnitude || job->sums;
}

/* Panels of rows whose sums job->sums computes.  panel_init() chooses the number of rows
   and allocates memory for their sums; false if there is none.  The next functions
   compute the sums of the current rows, and give a tile its own sums. */
bool panel_init(struct exact_job *job);
void panel_clear(struct exact_job *job);
enum bitcut_status panel_compute(const struct exact_job *job, struct fault *f);
void panel_take(struct exact_tile *tile);

/* The formats of the targets. */
extern const struct bitcut_format *const exact_formats[EXACT_TARGETS];

/* The layers.  Each one settles the elements of a tile that it can settle
   (exact_layers). */
void layer_double(struct exact_tile *tile);
void layer_dot2(struct exact_tile *tile);
void layer_bins(struct exact_tile *tile);
void layer_mpfr(struct exact_tile *tile);

/* The operands of the tile, for its sums in binary64. */
struct dgemm_operands tile_operands(const struct exact_tile *t);

/* The targets that (i, j) lacks, and whether it lacks a given target. */
static inline uint8_t *pending(const struct exact_tile *t, size_t i, size_t j)
{
    return &t->worker->pending[i * TILE_COLS + j];
}

static inline bool lacks(const struct exact_tile *t, size_t i, size_t j, int target)
{
    return *pending(t, i, j) >> target & 1;
}

static inline void output(const struct exact_tile *t, size_t i, size_t j, int target,
                          uint64_t encoding)
{
    const size_t at = (t->row + i) * t->job->n + t->col + j;
    if (target == EXACT_F32) t->job->c32[at] = (uint32_t)encoding;
    else t->job->c64[at] = encoding;
}

/* Settle (i, j) for a target that it lacks. */
static inline void settle(struct exact_tile *t, size_t i, size_t j, int target,
                          uint64_t encoding)
{
    output(t, i, j, target, encoding);
    t->worker->counts.settled[target][t->layer]++;
    *pending(t, i, j) &= (uint8_t) ~(1u << target);
    t->left -= *pending(t, i, j) == 0;
}

/* The update at (i, j), if there is one. */
static inline uint32_t c_at(const struct exact_tile *t, size_t i, size_t j)
{
    return t->job->update->c[(t->row + i) * t->job->n + t->col + j];
}

static inline bool adds_c(const struct exact_job *job)
{
    return job->update && job->update->beta << 1 != 0;
}

/* beta c, exactly; 0 if beta c is not added. */
static inline double beta_c(const struct exact_tile *t, size_t i, size_t j)
{
    if (!adds_c(t->job)) return 0;
    return (double)float_of_bits(t->job->update->beta) *
           (double)float_of_bits(c_at(t, i, j));
}

/* Settle all targets that (i, j) lacks as a NaN, an infinity or a zero. */
void tile_settle_special(struct exact_tile *t, size_t i, size_t j,
                         enum number_class class, bool negative);

/* Whether a sum of zero is -0, which holds only if every term is -0.  The operands are
   finite. */
bool tile_is_negative_zero(const struct exact_tile *t, size_t i, size_t j);

#endif
