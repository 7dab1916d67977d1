/* SPDX-License-Identifier: BSD-3-Clause */
/* The tiles of a matrix, shared out among threads. */
#ifndef BITCUT_LIB_EXACT_GRID_H
#define BITCUT_LIB_EXACT_GRID_H

#include "lib/base/progress.h"

struct grid {
    size_t m, n; /* the matrix; both are above 0                                 */
    size_t tile_rows, tile_cols;
    size_t first, rows; /* current rows; `first` is a multiple of tile_rows       */
    size_t workers;     /* threads                                                */
    const struct progress *progress; /* or NULL                                   */
};

/* A tile: rows [row, row + rows) and columns [col, col + cols). */
struct grid_tile {
    size_t row, col, rows, cols;
};

/* The threads for m x n exact sums of k products. */
size_t grid_threads(int threads, size_t m, size_t n, size_t k);

/* Choose the largest tiles that still give each of several threads a few tiles, and at
   most as many threads as tiles.  All rows become current rows. */
void grid_choose(struct grid *g, size_t threads);

/* Call run() for every tile of the current rows, in the floating-point mode of
   hostfp_enter(), until the progress asks to stop.  Worker w, one thread, has every tile
   whose number leaves the remainder w.  Report progress. */
void grid_run(const struct grid *g,
              void (*run)(const void *job, size_t worker, const struct grid_tile *tile),
              const void *job);

/* Call fill() for the first of every LINES_MAX (lib/exact/lines.h) of `count` lines of k
   elements, in the floating-point mode of hostfp_enter(). */
void grid_fill_lines(const struct grid *g, size_t count, size_t k,
                     void (*fill)(const void *job, size_t first), const void *job);

#endif
