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
   in which this result is not near, and the distances in the others; and the position
   whose results it holds. */
struct fragment {
    size_t rows, cols, tiles, moved;
    unsigned char misses[TILE_OUTPUTS][TILE_OUTPUTS];
    double off[TILE_OUTPUTS][TILE_OUTPUTS];
    size_t from[TILE_OUTPUTS];
};

static size_t output_at(const struct fragment *g, const struct view *v, size_t row,
                        size_t col, size_t position)
{
    return (row + position / g->cols) * v->b.cols + col + position % g->cols;
}

/* The distance below which a result is near in a window, relative to |A||B|. */
static double nearness_of(const struct view *v)
{
    const size_t count = v->b.rows * v->b.cols;
    double magnitude = 0;
    for (size_t at = 0; at < count; at++)
        if (v->size[at] > 0) magnitude += fabs(v->exact[at]) / v->size[at];
    return magnitude / (double)count * RESULT_NEAR;
}

static bool is_near(const struct view *v, double near, size_t at, size_t from)
{
    return fabs(v->d[at] - v->exact[from]) <= near * v->size[from];
}

/* Count the misses of a tile of the window. */
static void count_misses(struct fragment *g, const struct view *v, double near,
                         size_t row, size_t col)
{
    const size_t count = g->rows * g->cols;
    for (size_t n = 0; n < count; n++)
        for (size_t i = 0; i < count; i++) {
            const size_t at = output_at(g, v, row, col, n),
                         from = output_at(g, v, row, col, i);
            if (!is_near(v, near, at, from)) g->misses[n][i]++;
            else if (v->size[from] > 0)
                g->off[n][i] += fabs(v->d[at] - v->exact[from]) / v->size[from];
        }
}

/* The position whose results are near in most tiles, and nearest: its own one, if no
   other is nearer. */
static size_t source_of(const struct fragment *g, size_t at)
{
    size_t best = at;
    for (size_t from = 0; from < g->rows * g->cols; from++) {
        const int more = g->misses[at][from] - g->misses[at][best];
        if (more < 0 || (!more && g->off[at][from] < g->off[at][best])) best = from;
    }
    return best;
}

/* Whether nearly all outputs of all whole tiles of the window are near the results of
   the positions that were found. */
static bool holds_everywhere(const struct fragment *g, const struct view *v, double near)
{
    size_t count = 0, missed = 0;
    for (size_t row = 0; row + g->rows <= v->b.rows; row += g->rows)
        for (size_t col = 0; col + g->cols <= v->b.cols; col += g->cols)
            for (size_t at = 0; at < g->rows * g->cols; at++, count++)
                missed += !is_near(v, near, output_at(g, v, row, col, at),
                                   output_at(g, v, row, col, g->from[at]));
    return missed * 16 <= count;
}

/* Whether every position has results of one position of all tiles, and some have those of
   another one.  If few are moved, each is the source of one. */
static bool find_sources(struct fragment *g)
{
    const size_t count = g->rows * g->cols;
    size_t used[TILE_OUTPUTS] = { 0 }, again = 0, apart = 0;
    g->moved = 0;
    for (size_t at = 0; at < count; at++) {
        const size_t from = g->from[at] = source_of(g, at);
        if (g->misses[at][from] * 4u > g->tiles) return false;
        again += used[from]++ > 0;
        g->moved += from != at;
    }
    for (size_t at = 0; at < count; at++) apart += g->from[at] != at && used[at] != 1;
    return g->moved * 4 > count ? again * 8 < count : g->moved && !apart && !again;
}

static bool find_fragment(struct fragment *g, const struct view *v, double near)
{
    enum { TILES = 24, TILES_MIN = 4 };
    const size_t down = v->b.rows / g->rows, across = v->b.cols / g->cols,
                 tiles = smaller(TILES, down * across);
    if (tiles < TILES_MIN) return false;
    g->tiles = tiles;
    memset(g->misses, 0, sizeof g->misses);
    memset(g->off, 0, sizeof g->off);
    for (size_t t = 0; t < tiles; t++) {
        const size_t tile = t * (down * across / tiles);
        count_misses(g, v, near, tile / across * g->rows, tile % across * g->cols);
    }
    return find_sources(g) && holds_everywhere(g, v, near);
}

/* --- words ------------------------------------------------------------------------ */

/* The register of a thread that holds a position in the accumulators of mma.m16n8 and of
   wgmma (PTX ISA 9.7.14.5.8, 9.7.15.5.1), and the thread. */
static size_t register_of(const struct fragment *g, size_t at, size_t *thread)
{
    const size_t i = at / g->cols, j = at % g->cols;
    *thread = i % 8 * 4 + j % 8 / 2;
    return j / 8 * 4 + i / 8 * 2 + j % 2;
}

enum { REGISTERS = 16 };

/* Whether the registers of all threads are permuted alike: from[] is the source of each.
 */
static bool find_registers(size_t from[REGISTERS], const struct fragment *g)
{
    bool same = g->rows == 16 && g->cols % 8 == 0, seen[REGISTERS] = { false };
    for (size_t at = 0; at < g->rows * g->cols && same; at++) {
        size_t thread, other;
        const size_t to = register_of(g, at, &thread),
                     source = register_of(g, g->from[at], &other);
        same = thread == other && (!seen[to] || from[to] == source);
        seen[to] = true;
        from[to] = source;
    }
    return same;
}

static void describe_registers(char *text, size_t size, const size_t *from, size_t count)
{
    const char *between = "";
    text_add(text, size,
             "accumulator registers (mma.m16n8, wgmma) are in another order: ");
    for (size_t i = 0; i < count; i++) {
        if (from[i] == i || (from[from[i]] == i && from[i] < i)) continue;
        text_add(text, size, "%sc%zu ", between, i);
        if (from[from[i]] == i) text_add(text, size, "and c%zu are exchanged", from[i]);
        else text_add(text, size, "holds the result of c%zu", from[i]);
        between = ", ";
    }
}

/* "r", "r xor 8" */
static void describe_index(char *text, size_t size, char name, size_t by)
{
    text_add(text, size, "%c", name);
    if (by) text_add(text, size, " xor %zu", by);
}

/* The rows or columns in which outputs are moved, if they are moved there in all columns
   or rows; otherwise how many are. */
static void describe_where(char *text, size_t size, const struct fragment *g)
{
    bool row[TILE_OUTPUTS] = { false }, col[TILE_OUTPUTS] = { false };
    size_t rows = 0, cols = 0;
    for (size_t at = 0; at < g->rows * g->cols; at++)
        if (g->from[at] != at) row[at / g->cols] = col[at % g->cols] = true;
    for (size_t i = 0; i < g->rows; i++) rows += row[i];
    for (size_t j = 0; j < g->cols; j++) cols += col[j];
    if (g->moved == g->rows * g->cols) return;
    if (rows * cols != g->moved) {
        size_t at = 0;
        while (g->from[at] == at) at++;
        text_add(text, size, ", in %zu of its %zu outputs, such as (%zu, %zu)", g->moved,
                 g->rows * g->cols, at / g->cols, at % g->cols);
        return;
    }
    text_add(text, size, ", in ");
    if (rows < g->rows) lines_describe(text, size, row, g->rows, "row");
    if (rows < g->rows && cols < g->cols) text_add(text, size, ", ");
    if (cols < g->cols) lines_describe(text, size, col, g->cols, "column");
}

/* If all outputs that are moved have the result of (r xor X, c xor Y). */
static bool describe_xor(char *text, size_t size, const struct fragment *g)
{
    size_t by_row = 0, by_col = 0;
    bool same = true;
    for (size_t at = 0; at < g->rows * g->cols; at++) {
        const size_t from = g->from[at], i = at / g->cols ^ from / g->cols,
                     j = at % g->cols ^ from % g->cols;
        if (from == at) continue;
        if (!by_row && !by_col) by_row = i, by_col = j;
        same &= i == by_row && j == by_col;
    }
    if (!same) return false;
    text_add(text, size, "the outputs at (r, c) and at (");
    describe_index(text, size, 'r', by_row);
    text_add(text, size, ", ");
    describe_index(text, size, 'c', by_col);
    text_add(text, size, ") are exchanged (r and c: row and column in the tile)");
    describe_where(text, size, g);
    return true;
}

static bool is_transposed(const struct fragment *g)
{
    bool transposed = g->rows == g->cols;
    for (size_t at = 0; at < g->rows * g->cols; at++)
        transposed &= g->from[at] == at % g->cols * g->cols + at / g->cols;
    return transposed;
}

enum { SHOWN = 4 };

static void describe_moves(char *text, size_t size, const struct fragment *g)
{
    size_t shown = 0;
    text_add(text, size, "outputs (row, column) of the tile hold results of others: ");
    for (size_t at = 0; at < g->rows * g->cols && shown < SHOWN; at++) {
        const size_t from = g->from[at];
        if (from == at) continue;
        text_add(text, size, "%s(%zu, %zu) that of (%zu, %zu)", shown++ ? ", " : "",
                 at / g->cols, at % g->cols, from / g->cols, from % g->cols);
    }
    if (g->moved > SHOWN)
        text_add(text, size, ", ..., as if a fragment had another layout");
}

static void describe_fragment(struct bitcut_finding *to, const struct fragment *g)
{
    size_t from[REGISTERS];
    char *const text = to->text;
    const size_t size = sizeof to->text, count = g->rows * g->cols;
    text_add(text, size, "in each %zu x %zu tile of D, ", g->rows, g->cols);
    if (is_transposed(g))
        text_add(text, size, "rows and columns are exchanged: each tile is transposed");
    else if (g->moved <= SHOWN) describe_moves(text, size, g);
    else if (g->moved < count && find_registers(from, g))
        describe_registers(text, size, from, g->cols / 2);
    else if (!describe_xor(text, size, g)) {
        if (find_registers(from, g)) describe_registers(text, size, from, g->cols / 2);
        else describe_moves(text, size, g);
    }
    to->outputs = to->outputs / count * g->moved;
}

/* Whether an output is not near its own result. */
static bool has_moved(const struct view *v, double near)
{
    bool any = false;
    for (size_t at = 0; at < v->b.rows * v->b.cols && !any; at++)
        any = !is_near(v, near, at, at);
    return any;
}

static bool find_fragments(enum bitcut_status *status, struct ladder_report *l,
                           const struct rung_input *x, const struct view *v,
                           struct fault *f)
{
    static const unsigned char sizes[][2] = {
        { 4, 4 },  { 8, 4 },   { 8, 8 },  { 16, 8 },
        { 8, 16 }, { 16, 16 }, { 32, 8 }, { 8, 32 }
    };
    const double near = nearness_of(v);
    if (!has_moved(v, near)) return false;
    struct fragment *const g = malloc(sizeof *g);
    bool found = false;
    for (size_t i = 0; g && i < sizeof sizes / sizeof *sizes && !found; i++) {
        g->rows = sizes[i][0], g->cols = sizes[i][1];
        found = find_fragment(g, v, near);
        struct bitcut_finding *const to =
            found ? ladder_add(l, x, "elements moved") : NULL;
        if (to) describe_fragment(to, g);
        l->has_map |= found;
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
    if (status == BITCUT_OK && !find_fragments(&status, l, x, &v, f) && far &&
        status == BITCUT_OK && find_cells(&c)) {
        struct bitcut_finding *const to = ladder_add(l, x, "tiles moved");
        if (to) describe_cells(to, &c);
    }
    cells_clear(&c);
    view_clear(&v);
    return status;
}
