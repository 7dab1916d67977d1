#include "lib/k_parts.h"

#include "lib/size.h"
#include "lib/status.h"

#include <stdlib.h>

/* An order made definite for a number of k. */
struct cut {
    size_t k, step, tile, turn; /* tile and turn: whole steps, no more than k needs */
    size_t slices, lanes;       /* that can have any k                              */
    size_t tiles, each;         /* of all k, and of a slice                         */
    size_t rest;                /* k of the first tile if that is short, else 0     */
};

static size_t part_of(size_t k, int asked, size_t step)
{
    const size_t part = asked ? (size_t)asked : 1;
    return divide_up(smaller(part, k), step) * step;
}

static struct cut cut_make(const struct bitcut_order *o, size_t k, size_t step)
{
    struct cut c = { .k = k,
                     .step = step,
                     .tile = part_of(k, o->tile, step),
                     .turn = part_of(k, o->turn, step),
                     .lanes = o->lanes ? (size_t)o->lanes : 1 };
    if (!k) return c;
    c.tiles = divide_up(k, c.tile);
    c.each = divide_up(c.tiles, o->slices ? (size_t)o->slices : 1);
    c.slices = divide_up(c.tiles, c.each);
    c.lanes = smaller(c.lanes, divide_up(c.each * c.tile, c.turn));
    c.rest = o->rest_first ? k % c.tile : 0;
    return c;
}

/* The k with which tile t begins; that of the tile after the last one is k. */
static size_t tile_from(const struct cut *c, size_t t)
{
    const size_t short_by = c->rest ? c->tile - c->rest : 0;
    return t ? smaller(t * c->tile - short_by, c->k) : 0;
}

/* How many sums are added to sum i of `count`, those before it having been added. */
static int adds_after(enum bitcut_reduction reduction, size_t i, size_t count)
{
    if (reduction != BITCUT_TREE) return i > 0;
    const int kept = __builtin_popcountll(i);
    return i + 1 == count ? kept : kept + 1 - __builtin_popcountll(i + 1);
}

/* --- one lane of one slice -------------------------------------------------------- */

/* Add the step that begins with k `from` in a tile that ends before `end`. */
static void add_step(struct k_parts *x, const struct cut *c, size_t from, size_t end)
{
    size_t *const to = x->element ? x->element + x->steps * c->step : NULL;
    for (size_t i = 0; to && i < c->step; i++)
        to[i] = from + i < end ? from + i : SIZE_MAX;
    x->steps++;
}

/* Add the steps of a turn, which begin at q k of its slice, to the sequence. */
static void add_turn(struct k_parts *x, const struct cut *c, size_t slice, size_t q)
{
    for (size_t at = q; at < q + c->turn; at += c->step) {
        const size_t tile = slice * c->each + at / c->tile;
        if (at / c->tile >= c->each || tile >= c->tiles) return;
        const size_t from = tile_from(c, tile) + at % c->tile,
                     end = tile_from(c, tile + 1);
        if (from < end) add_step(x, c, from, end);
    }
}

/* The sequence of a lane; false if it has nothing.  Without elements to place, a single
   lane is only counted. */
static bool add_lane(struct k_parts *x, const struct cut *c, size_t slice, size_t lane)
{
    const size_t first = slice * c->each, last = smaller(first + c->each, c->tiles);
    x->first[x->count] = x->steps;
    if (c->lanes == 1 && !x->element)
        x->steps += divide_up(tile_from(c, last) - tile_from(c, first), c->step);
    else
        for (size_t q = lane * c->turn; q < c->each * c->tile; q += c->lanes * c->turn)
            add_turn(x, c, slice, q);
    return x->steps > x->first[x->count];
}

/* --- all of them ------------------------------------------------------------------ */

/* How many lanes of a slice have anything; a short tile may leave out some. */
static size_t lanes_of(const struct cut *c, size_t slice)
{
    struct k_parts none = { .first = (size_t[1]){ 0 } };
    size_t count = 0;
    for (size_t lane = 0; lane < c->lanes; lane++) {
        none.steps = 0;
        count += add_lane(&none, c, slice, lane);
    }
    return count;
}

static void add_slice(struct k_parts *x, const struct cut *c, enum bitcut_reduction how,
                      size_t i)
{
    const bool down = how == BITCUT_DESCENDING;
    const size_t slice = down ? c->slices - 1 - i : i, count = lanes_of(c, slice);
    for (size_t j = 0, done = 0; j < c->lanes; j++) {
        if (!add_lane(x, c, slice, down ? c->lanes - 1 - j : j)) continue;
        int adds = adds_after(how, done, count);
        if (++done == count) adds += adds_after(how, i, c->slices);
        x->adds[x->count++] = (uint8_t)adds;
    }
}

static int most_kept(const struct k_parts *x)
{
    int kept = 0, most = 0;
    for (size_t i = 0; i < x->count; i++) {
        kept += 1 - x->adds[i];
        if (kept > most) most = kept;
    }
    return most;
}

static bool allocate(struct k_parts *x, const struct cut *c, bool down)
{
    const bool moved = c->lanes > 1 || c->rest || (down && c->slices > 1);
    const size_t steps = divide_up(c->k, c->step);
    size_t parts, elements;
    if (!size_multiply(&parts, c->slices, c->lanes) || parts > steps) parts = steps;
    x->first = memory_allocate(parts + 1, sizeof *x->first);
    x->adds = memory_allocate(parts, sizeof *x->adds);
    if (moved && size_multiply(&elements, steps, c->step))
        x->element = memory_allocate(elements, sizeof *x->element);
    return x->first && x->adds && (x->element || !moved);
}

enum bitcut_status k_parts_make(struct k_parts *x, const struct bitcut_order *order,
                                size_t k, size_t step)
{
    const struct cut c = cut_make(order, k, step);
    *x = (struct k_parts){ 0 };
    if (!allocate(x, &c, order->reduction == BITCUT_DESCENDING)) {
        k_parts_clear(x);
        return BITCUT_NO_MEMORY;
    }
    for (size_t i = 0; i < c.slices; i++) add_slice(x, &c, order->reduction, i);
    x->first[x->count] = x->steps;
    x->kept = most_kept(x);
    return BITCUT_OK;
}

void k_parts_clear(struct k_parts *x)
{
    free(x->element);
    free(x->adds);
    free(x->first);
    *x = (struct k_parts){ 0 };
}
