/* SPDX-License-Identifier: BSD-3-Clause */
/* The rung of tiles of D, and of elements of tiles, at other positions. */
#include "analysis/identify/rung.h"

#include "lib/base/size.h"
#include "lib/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- tiles ------------------------------------------------------------------------ */

/* The largest window of D at its first output whose products the work allows. */
static enum bitcut_status window_view(struct view *to, const struct rung_input *x,
                                      struct fault *f)
{
    enum { TILE = 32 };
    const size_t area = view_area(x->q);
    size_t cols = (size_t)sqrt((double)area) / TILE * TILE;
    if (cols < TILE) cols = TILE;
    cols = smaller(cols, x->n);
    size_t rows = area / cols / TILE * TILE;
    if (rows < TILE) rows = TILE;
    rows = smaller(rows, x->m);
    return view_take(to, x->q, NULL, rows, NULL, cols, f);
}

enum { CELL = 8 };

/* Cells of a window, row by row. */
struct cells {
    const struct view *v;
    size_t rows, cols;
    size_t *from;       /* cell that holds the results, or SIZE_MAX */
    bool *far; /* whether D is far from the exact result */
    double *magnitude;
};

static const double *cell_row(const double *x, const struct cells *c, size_t cell,
                              size_t i)
{
    return &x[(cell / c->cols * CELL + i) * c->v->b.cols + cell % c->cols * CELL];
}

static double cell_misfit(const struct cells *c, size_t cell, size_t from, double most)
{
    double off = 0;
    for (size_t i = 0; i < CELL && off <= most; i++) {
        const double *const d = cell_row(c->v->d, c, cell, i),
                            *const exact = cell_row(c->v->exact, c, from, i),
                            *const size = cell_row(c->v->size, c, from, i);
        for (size_t j = 0; j < CELL; j++)
            if (size[j] > 0) off += fabs(d[j] - exact[j]) / size[j];
    }
    return off;
}

static bool cells_init(struct cells *c, const struct view *v)
{
    *c = (struct cells){ .v = v, .rows = v->b.rows / CELL, .cols = v->b.cols / CELL };
    const size_t count = c->rows * c->cols;
    c->from = memory_allocate(count, sizeof *c->from);
    c->far = calloc(count + 1, 1);
    c->magnitude = calloc(count + 1, sizeof *c->magnitude);
    if (!c->from || !c->far || !c->magnitude) return false;
    for (size_t cell = 0; cell < count; cell++) {
        c->from[cell] = SIZE_MAX;
        for (size_t i = 0; i < CELL; i++)
            for (size_t j = 0; j < CELL; j++) {
                const double size = cell_row(v->size, c, cell, i)[j];
                if (size > 0)
                    c->magnitude[cell] += fabs(cell_row(v->exact, c, cell, i)[j]) / size;
            }
        const double off = cell_misfit(c, cell, cell, INFINITY);
        c->far[cell] = off > RESULT_FAR * c->magnitude[cell] && isfinite(off);
    }
    return true;
}

static void cells_clear(struct cells *c)
{
    free(c->from);
    free(c->far);
    free(c->magnitude);
}

/* Whether nine of ten far cells hold the results of another cell. */
static bool find_cells(struct cells *c)
{
    enum { WORK = 1 << 25 };
    const size_t count = c->rows * c->cols, most = WORK / (count + 1) + 1;
    size_t examined = 0, matched = 0;
    for (size_t cell = 0; cell < count && examined < most; cell++) {
        if (!c->far[cell]) continue;
        examined++;
        double least = 1;
        for (size_t from = 0; from < count; from++) {
            const double limit = RESULT_NEAR * c->magnitude[from],
                         off = cell_misfit(c, cell, from, limit);
            if (limit > 0 && off < least * limit)
                least = off / limit, c->from[cell] = from;
        }
        matched += c->from[cell] != SIZE_MAX;
    }
    return matched && matched * 10 >= examined * 9;
}

/* The number of columns (or rows) of cells after a cell that hold the results of the same
   tile. */
static size_t run_of(const struct cells *c, size_t cell, size_t step, size_t most)
{
    size_t run = 1;
    while (run < most && c->from[cell] != SIZE_MAX && c->far[cell + run * step] &&
           c->from[cell + run * step] == c->from[cell] + run * step)
        run++;
    return run;
}

static void describe_cells(struct bitcut_finding *to, const struct cells *c)
{
    enum { SHOWN = 3 };
    const size_t count = c->rows * c->cols;
    size_t shown = 0, far = 0;
    text_add(to->text, sizeof to->text, "tiles of D hold the results of other tiles: ");
    bool *const done = calloc(count, 1);
    for (size_t cell = 0; done && cell < count; cell++) {
        far += c->far[cell];
        if (!c->far[cell] || done[cell] || c->from[cell] == SIZE_MAX) continue;
        const size_t cols = run_of(c, cell, 1, c->cols - cell % c->cols),
                     rows = run_of(c, cell, c->cols, c->rows - cell / c->cols);
        for (size_t i = 0; i < rows; i++) memset(&done[cell + i * c->cols], 1, cols);
        if (shown == SHOWN) text_add(to->text, sizeof to->text, "; ...");
        if (shown++ >= SHOWN) continue;
        const size_t row = cell / c->cols * CELL, col = cell % c->cols * CELL,
                     from = c->from[cell];
        text_add(to->text, sizeof to->text,
                 "%srows %zu to %zu, columns %zu to %zu hold those from row %zu, column "
                 "%zu on",
                 shown > 1 ? "; " : "", row, row + rows * CELL - 1, col,
                 col + cols * CELL - 1, from / c->cols * CELL, from % c->cols * CELL);
        if (shown == 1) to->rows[0] = row, to->columns[0] = col;
    }
    to->outputs = far * CELL * CELL;
    free(done);
}

/* --- elements of tiles ------------------------------------------------------------ */

enum { TILE_OUTPUTS = 256 };

/* For each position of D in a tile, and each position of the result, the number of tiles
   in which this result is not near. */
struct fragment {
    size_t rows, cols, tiles;
    unsigned char misses[TILE_OUTPUTS][TILE_OUTPUTS];
};

static bool may_be(const struct fragment *g, size_t at, size_t from)
{
    return g->misses[at][from] * 4 <= g->tiles;
}

/* Count the misses of a tile of the window. */
static void count_misses(struct fragment *g, const struct view *v, size_t row, size_t col)
{
    const size_t count = g->rows * g->cols;
    double magnitude = 0;
    for (size_t n = 0; n < count; n++) {
        const size_t at = (row + n / g->cols) * v->b.cols + col + n % g->cols;
        if (v->size[at] > 0) magnitude += fabs(v->exact[at]) / v->size[at];
    }
    const double near = magnitude / (double)count * RESULT_NEAR;
    for (size_t n = 0; n < count; n++) {
        const double d = v->d[(row + n / g->cols) * v->b.cols + col + n % g->cols];
        for (size_t from = 0; from < count; from++) {
            const size_t at = (row + from / g->cols) * v->b.cols + col + from % g->cols;
            g->misses[n][from] += !(fabs(d - v->exact[at]) <= near * v->size[at]);
        }
    }
}

/* The position whose results are near in most tiles. */
static size_t source_of(const struct fragment *g, size_t at)
{
    size_t best = 0;
    for (size_t from = 1; from < g->rows * g->cols; from++)
        if (g->misses[at][from] < g->misses[at][best]) best = from;
    return best;
}

/* Whether every position has results of one position of all tiles, nearly all of them of
   different ones, and most of them of another one than its own. */
static bool find_fragment(struct fragment *g, const struct view *v)
{
    enum { TILES = 24, TILES_MIN = 4 };
    const size_t down = v->b.rows / g->rows, across = v->b.cols / g->cols,
                 tiles = smaller(TILES, down * across), count = g->rows * g->cols;
    bool used[TILE_OUTPUTS] = { false };
    size_t moved = 0, again = 0;
    if (tiles < TILES_MIN) return false;
    g->tiles = tiles;
    memset(g->misses, 0, sizeof g->misses);
    for (size_t t = 0; t < tiles; t++) {
        const size_t tile = t * (down * across / tiles);
        count_misses(g, v, tile / across * g->rows, tile % across * g->cols);
    }
    for (size_t at = 0; at < count; at++) {
        const size_t from = source_of(g, at);
        if (!may_be(g, at, from)) return false;
        again += used[from];
        used[from] = true;
        moved += !may_be(g, at, at);
    }
    return moved * 4 > count && again * 8 < count;
}

static void describe_fragment(struct bitcut_finding *to, const struct fragment *g)
{
    enum { SHOWN = 4 };
    size_t shown = 0;
    bool transposed = g->rows == g->cols;
    for (size_t at = 0; at < g->rows * g->cols; at++)
        transposed &= may_be(g, at, at % g->cols * g->cols + at / g->cols);
    text_add(to->text, sizeof to->text,
             "the elements of each tile of %zu x %zu of D are in another order: ",
             g->rows, g->cols);
    if (transposed) {
        text_add(to->text, sizeof to->text, "each tile is transposed");
        return;
    }
    for (size_t at = 0; at < g->rows * g->cols && shown < SHOWN; at++) {
        const size_t from = source_of(g, at);
        if (from == at) continue;
        text_add(to->text, sizeof to->text, "%s(%zu, %zu) holds the result of (%zu, %zu)",
                 shown++ ? ", " : "", at / g->cols, at % g->cols, from / g->cols,
                 from % g->cols);
    }
    text_add(to->text, sizeof to->text, ", ..., as if a fragment had another layout");
}

static bool find_fragments(enum bitcut_status *status, struct ladder_report *l,
                           const struct rung_input *x, const struct view *v,
                           struct fault *f)
{
    static const unsigned char sizes[][2] = {
        { 4, 4 },  { 8, 4 },   { 8, 8 },  { 16, 8 },
        { 8, 16 }, { 16, 16 }, { 32, 8 }, { 8, 32 }
    };
    struct fragment *const g = malloc(sizeof *g);
    bool found = false;
    for (size_t i = 0; g && i < sizeof sizes / sizeof *sizes && !found; i++) {
        g->rows = sizes[i][0], g->cols = sizes[i][1];
        found = find_fragment(g, v);
        struct bitcut_finding *const to =
            found ? ladder_add(l, x, "elements moved") : NULL;
        if (to) describe_fragment(to, g);
    }
    free(g);
    *status = g ? BITCUT_OK
                : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a fragment");
    return found;
}

enum bitcut_status rung_tiles(struct ladder_report *l, const struct rung_input *x,
                              struct fault *f)
{
    struct view v;
    struct cells c;
    if (x->m < CELL || x->n < CELL || x->k < MOVED_K_MIN) return BITCUT_OK;
    enum bitcut_status status = window_view(&v, x, f);
    if (status != BITCUT_OK) return status;
    if (!cells_init(&c, &v))
        status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for tiles of D");
    size_t far = 0;
    for (size_t cell = 0; status == BITCUT_OK && cell < c.rows * c.cols; cell++)
        far += c.far[cell];
    const bool most = far * 2 > c.rows * c.cols;
    if (far && !(most && find_fragments(&status, l, x, &v, f)) && status == BITCUT_OK &&
        find_cells(&c)) {
        struct bitcut_finding *const to = ladder_add(l, x, "tiles moved");
        if (to) describe_cells(to, &c);
    }
    cells_clear(&c);
    view_clear(&v);
    return status;
}
