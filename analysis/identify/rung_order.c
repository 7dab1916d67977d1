/* SPDX-License-Identifier: BSD-3-Clause */
/* The rungs of results at other positions: rows, columns, tiles and elements of tiles of
   D that are those of other positions, and a k of one operand that is shifted or
   reversed. */
#include "analysis/identify/rung.h"

#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/number/bits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The distance of results from exact values, relative to the magnitudes of these, after
   each is divided by |A||B|: above FAR they are not theirs, below NEAR they are, also if
   elements have 4 bits. */
static const double FAR = 0.5, NEAR = 0.125;

/* With fewer k, lines are multiples of others, or nearly. */
enum { K_MIN = 4 };

/* --- rows and columns ------------------------------------------------------------- */

/* All rows of D at some columns, or all columns at some rows, line after line. */
struct strip {
    size_t lines, width;
    double *d, *exact, *over; /* lines x width; over: 1 / |A||B|, or 0 */
    double *magnitude;        /* of the exact values of each line */
    size_t *from;             /* line that holds the results, or the line itself */
    unsigned char *far;       /* whether D is far from the exact result */
};

static void strip_clear(struct strip *s)
{
    free(s->d);
    free(s->exact);
    free(s->over);
    free(s->magnitude);
    free(s->from);
    free(s->far);
}

static void strip_fill(struct strip *s, const struct view *v, bool rows)
{
    for (size_t i = 0; i < s->lines; i++) {
        double off = 0;
        for (size_t w = 0; w < s->width; w++) {
            const size_t at = rows ? i * v->b.cols + w : w * v->b.cols + i;
            const double d = v->d[at], exact = v->exact[at],
                         over = v->size[at] > 0 ? 1 / v->size[at] : 0;
            s->d[i * s->width + w] = d;
            s->exact[i * s->width + w] = exact;
            s->over[i * s->width + w] = over;
            s->magnitude[i] += fabs(exact) * over;
            off += fabs(d - exact) * over;
        }
        s->from[i] = i;
        s->far[i] = off > FAR * s->magnitude[i] && isfinite(off);
    }
}

static enum bitcut_status strip_take(struct strip *s, const struct ladder_report *l,
                                     const struct rung_input *x, bool rows,
                                     struct fault *f)
{
    enum { WIDTH = 16, STREAM = 60 };
    const struct some_lines *const written = rows ? &l->cols : &l->rows;
    const size_t others = written->at ? written->count : rows ? x->n : x->m;
    size_t other[WIDTH];
    struct view v;
    *s = (struct strip){ .lines = rows ? x->m : x->n };
    s->width = lines_draw(other, WIDTH, others, x->seed, STREAM + rows);
    for (size_t i = 0; i < s->width && written->at; i++) other[i] = written->at[other[i]];
    enum bitcut_status status =
        rows ? view_take(&v, x->q, NULL, s->lines, other, s->width, f)
             : view_take(&v, x->q, other, s->width, NULL, s->lines, f);
    if (status != BITCUT_OK) return status;
    s->d = memory_allocate(s->lines, s->width * sizeof *s->d);
    s->exact = memory_allocate(s->lines, s->width * sizeof *s->exact);
    s->over = memory_allocate(s->lines, s->width * sizeof *s->over);
    s->magnitude = calloc(s->lines, sizeof *s->magnitude);
    s->from = memory_allocate(s->lines, sizeof *s->from);
    s->far = calloc(s->lines, 1);
    if (s->d && s->exact && s->over && s->magnitude && s->from && s->far)
        strip_fill(s, &v, rows);
    else status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for lines of D");
    view_clear(&v);
    if (status != BITCUT_OK) strip_clear(s);
    return status;
}

/* The distance of line i of D from the exact line `from`, relative to its magnitude;
   infinite above NEAR. */
static double line_misfit(const struct strip *s, size_t i, size_t from)
{
    const double *const d = &s->d[i * s->width],
                        *const exact = &s->exact[from * s->width],
                        *const over = &s->over[from * s->width];
    const double most = NEAR * s->magnitude[from];
    double off = 0;
    for (size_t w = 0; w < s->width && off <= most; w++)
        off += fabs(d[w] - exact[w]) * over[w];
    return off <= most && most > 0 ? off / most : (double)INFINITY;
}

/* Find the line of each far line, as far as the work allows.  Returns whether nine of ten
   of them have one; *all: every far line has one. */
static bool find_sources(bool *all, struct strip *s, size_t *far)
{
    enum { WORK = 1 << 26 };
    const size_t most = WORK / s->lines + 1;
    size_t examined = 0, matched = 0;
    *far = 0;
    for (size_t i = 0; i < s->lines; i++) {
        double least = INFINITY;
        if (!s->far[i]) continue;
        ++*far;
        if (examined == most) continue;
        examined++;
        for (size_t from = 0; from < s->lines; from++) {
            const double off = line_misfit(s, i, from);
            if (off < least) least = off, s->from[i] = from;
        }
        matched += isfinite(least);
    }
    *all = matched == *far;
    return matched && matched * 10 >= examined * 9;
}

/* --- maps of lines ---------------------------------------------------------------- */

/* A rule by which line i holds the results of another line. */
static size_t by_shift(size_t i, size_t by, size_t count) { return (i + by) % count; }

static size_t by_reverse(size_t i, size_t by, size_t count)
{
    (void)by;
    return count - 1 - i;
}

static size_t by_exchange(size_t i, size_t by, size_t count)
{
    (void)count;
    return i ^ by;
}

static size_t by_interleave(size_t i, size_t by, size_t count)
{
    const size_t each = count / by;
    return each ? i % by * each + i / by : i;
}

static const struct map {
    size_t (*rule)(size_t i, size_t by, size_t count);
    const char *what; /* with the noun, and `by` */
} maps[] = {
    { by_reverse, "in reverse order" },
    { by_exchange, "exchanged in pairs: %s i holds the results of %s i xor %zu" },
    { by_shift, "shifted: %s i holds the results of %s i + %zu (modulo their number)" },
    { by_interleave,
      "interleaved: results of neighbouring %ss are in %ss at a distance of %zu" },
};

/* Whether nine of ten far lines obey a rule. */
static bool obeys(const struct strip *s, const struct map *map, size_t by)
{
    size_t far = 0, agree = 0;
    for (size_t i = 0; i < s->lines; i++) {
        if (!s->far[i] || s->from[i] == i) continue;
        far++;
        agree += map->rule(i, by, s->lines) == s->from[i];
    }
    return far > 2 && agree * 10 >= far * 9;
}

/* Describe the rule that the lines obey, if there is one. */
static bool describe_rule(char *text, size_t size, const struct strip *s,
                          const char *noun)
{
    size_t i = 0;
    while (i < s->lines && (!s->far[i] || s->from[i] == i)) i++;
    if (i == s->lines) return false;
    const size_t from = s->from[i];
    for (size_t n = 0; n < sizeof maps / sizeof *maps; n++) {
        const size_t by = maps[n].rule == by_shift      ? (from + s->lines - i) % s->lines
                          : maps[n].rule == by_exchange ? (from ^ i)
                                                        : 0;
        if (maps[n].rule == by_interleave) {
            for (size_t each = 2; each <= s->lines / 2; each++) {
                if (!obeys(s, &maps[n], each)) continue;
                text_add(text, size, maps[n].what, noun, noun, each);
                return true;
            }
        } else if (obeys(s, &maps[n], by)) {
            if (maps[n].rule == by_reverse) text_add(text, size, "%s", maps[n].what);
            else text_add(text, size, maps[n].what, noun, noun, by);
            return true;
        }
    }
    return false;
}

static void describe_lines(char *text, size_t size, const struct strip *s,
                           const char *noun, size_t far)
{
    enum { SHOWN = 4 };
    size_t shown = 0;
    text_add(text, size, "%zu of %zu %ss of D hold the results of other %ss: ", far,
             s->lines, noun, noun);
    if (describe_rule(text, size, s, noun)) return;
    for (size_t i = 0; i < s->lines && shown < SHOWN; i++)
        if (s->far[i] && s->from[i] != i)
            text_add(text, size, "%s%s %zu holds those of %s %zu", shown++ ? ", " : "",
                     noun, i, noun, s->from[i]);
    if (far > shown) text_add(text, size, ", ...");
}

/* The operand whose lines are gathered as D has them. */
static bool gather(uint32_t **to, const struct rung_input *x, const struct strip *s,
                   bool rows)
{
    uint32_t *const at = *to = memory_allocate(s->lines, x->k * sizeof *at);
    for (size_t i = 0; at && i < s->lines; i++)
        for (size_t p = 0; p < x->k; p++) {
            const uint32_t v =
                problem_element(x->q, rows ? BITCUT_A : BITCUT_B, s->from[i], p);
            at[rows ? i * x->k + p : p * s->lines + i] = v;
        }
    return at;
}

static enum bitcut_status find_lines(struct ladder_report *l, const struct rung_input *x,
                                     bool rows, struct fault *f)
{
    enum { WIDTH_MIN = 8, TOLD_MAX = 1 << 22 };
    struct strip s;
    bool all;
    size_t far;
    if ((rows ? x->n : x->m) < WIDTH_MIN || x->k < K_MIN) return BITCUT_OK;
    if (problem_is_told(x->q) && (rows ? x->m : x->n) * x->k > TOLD_MAX) return BITCUT_OK;
    enum bitcut_status status = strip_take(&s, l, x, rows, f);
    if (status != BITCUT_OK) return status;
    if (find_sources(&all, &s, &far)) {
        struct bitcut_finding *const to =
            ladder_add(l, x, rows ? "rows moved" : "columns moved");
        const bool plain = !problem_is_told(x->q) && !x->q->c.at && !x->q->of_groups;
        size_t first = s.lines, end = 0;
        for (size_t i = 0; i < s.lines; i++)
            if (s.far[i]) first = smaller(first, i), end = i + 1;
        if (to) {
            describe_lines(to->text, sizeof to->text, &s, rows ? "row" : "column", far);
            (rows ? to->rows : to->columns)[0] = first;
            (rows ? to->rows : to->columns)[1] = end;
            to->outputs = far * (rows ? x->n : x->m);
        }
        l->has_rest = all && plain;
        if (l->has_rest && !gather(&l->gathered[!rows], x, &s, rows))
            status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for an operand");
    }
    strip_clear(&s);
    return status;
}

enum bitcut_status rung_lines(struct ladder_report *l, const struct rung_input *x,
                              struct fault *f)
{
    const size_t before = l->findings;
    const enum bitcut_status status = find_lines(l, x, true, f);
    return status == BITCUT_OK && l->findings == before ? find_lines(l, x, false, f)
                                                        : status;
}

/* --- tiles ------------------------------------------------------------------------ */

/* The largest window of D at its first output whose products the work allows. */
static enum bitcut_status window_view(struct view *to, const struct rung_input *x,
                                      struct fault *f)
{
    enum { PRODUCTS = 1 << 27, TOLD = 1 << 22, OUTPUTS = 1 << 20, TILE = 32 };
    const size_t area =
        smaller((problem_is_told(x->q) ? TOLD : PRODUCTS) / x->k + 1, OUTPUTS);
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
    unsigned char *far; /* whether D is far from the exact result */
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
        c->far[cell] = off > FAR * c->magnitude[cell] && isfinite(off);
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
            const double limit = NEAR * c->magnitude[from],
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
    unsigned char *const done = calloc(count, 1);
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
    const double near = magnitude / (double)count * NEAR;
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
    if (x->m < CELL || x->n < CELL || x->k < K_MIN) return BITCUT_OK;
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

/* --- k of one operand ------------------------------------------------------------- */

/* Whether nearly all of some outputs are near products in which k + shift (or, reversed,
   the last k less it) of B meets k of A, and half of them far from the exact results. */
static bool is_k(const struct view *v, size_t shift, bool reversed)
{
    enum { OUTPUTS = 12 };
    const bool own = !shift && !reversed;
    const struct block *const b = &v->b;
    const double near = NEAR / sqrt((double)b->k);
    size_t far = 0, same = 0;
    for (size_t n = 0; n < OUTPUTS && far < 2; n++) {
        const size_t at = block_spread(b, n, OUTPUTS), i = at / b->cols, j = at % b->cols;
        double sum = 0;
        for (size_t p = 0; p < b->k; p++) {
            const size_t other = reversed ? b->k - 1 - p : p + shift;
            sum +=
                value_of_float(b->a[i * b->k + p]) *
                value_of_float(b->b[(other < b->k ? other : other - b->k) * b->cols + j]);
        }
        sum *= value_of_float(b->q->alpha);
        far += !(fabs(v->d[at] - sum) <= near * v->size[at]);
        same += fabs(v->exact[at] - sum) < 2 * near * v->size[at];
    }
    return far < 2 && (own || same * 2 < OUTPUTS);
}

enum bitcut_status rung_k(struct ladder_report *l, const struct rung_input *x,
                          struct fault *f)
{
    enum { WORK = 1 << 26, OUTPUTS_MIN = 12 };
    const struct view *const v = &x->sample;
    const size_t shifts = smaller(x->k / 2 + 1, WORK / (4 * x->k) + 1);
    (void)f;
    if (problem_is_told(x->q) || x->q->c.at || v->b.rows * v->b.cols < OUTPUTS_MIN ||
        x->k < K_MIN || is_k(v, 0, false))
        return BITCUT_OK;
    const bool reversed = is_k(v, 0, true);
    size_t shift = 1;
    while (!reversed && shift < shifts && !is_k(v, shift, false) &&
           !is_k(v, x->k - shift, false))
        shift++;
    if (!reversed && shift >= shifts) return BITCUT_OK;
    struct bitcut_finding *const to = ladder_add(l, x, "k moved");
    if (!to) return BITCUT_OK;
    if (reversed)
        text_add(to->text, sizeof to->text,
                 "k of one operand is in reverse order: D is the product of A and B with "
                 "its rows reversed");
    else {
        const bool later = is_k(v, shift, false);
        text_add(to->text, sizeof to->text,
                 "k of one operand is shifted: column k of A meets row k %c %zu of B",
                 later ? '+' : '-', shift);
    }
    return BITCUT_OK;
}
