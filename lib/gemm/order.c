/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/gemm/order.h"

#include "lib/base/size.h"
#include "lib/base/status.h"

#include <stdlib.h>

const struct table_row reductions[] = {
    [BITCUT_ASCENDING] = { "ascending",
                           "adds the first two sums, then the next one, ..." },
    [BITCUT_DESCENDING] = { "descending",
                            "adds the last two sums, then the previous one, ..." },
    [BITCUT_TREE] = { "tree", "adds neighbours, then neighbours of the results, ..." },
    [BITCUT_HALVES] = { "halves",
                        "adds sums half of their number apart, then a quarter, ..." },
    { 0 }
};

bool order_lists_lanes(const struct bitcut_order *o)
{
    bool any = false;
    for (int i = 0; i < BITCUT_LANE_ORDER_MAX; i++) any |= o->lane_order[i];
    return any;
}

bool order_is_sound(const struct bitcut_order *o)
{
    unsigned seen = 0;
    for (int i = 0; i < BITCUT_LANE_ORDER_MAX; i++)
        if (i < o->lanes) seen |= 1u << (o->lane_order[i] & 31);
        else if (o->lane_order[i]) return false;
    return !order_lists_lanes(o) ||
           (o->lanes <= BITCUT_LANE_ORDER_MAX && seen == (1u << o->lanes) - 1);
}

/* An order for a given number of k, with every length definite. */
struct cut {
    size_t k, step, tile, turn; /* tile and chunk: whole steps, at most as many as k
                                   needs                                            */
    size_t slices, lanes;       /* upper limits: slices and lanes that can have a k */
    size_t each;                /* largest number of tiles in a slice               */
    size_t length;              /* length of a slice that is cut by k; 0: cut by tiles */
    size_t half;                /* length of the last slice but one, if it differs  */
    size_t round;               /* k of a round of an unrolled loop; 0: no such loop */
    size_t narrow;              /* sums of the loop after it; 0: no second loop */
    bool apart;                 /* whether each such loop has sums of its own */
    bool in_lane;               /* whether lane 0 has the k after the rounds */
    bool partial_first;
};

static size_t part_of(size_t k, int asked, size_t step)
{
    const size_t part = asked ? (size_t)asked : 1;
    return divide_up(smaller(part, k), step) * step;
}

/* The length of the first of the last two slices, which have k elements together. */
static size_t half_of(size_t k, const struct bitcut_order *o, size_t slice)
{
    const size_t multiple = (size_t)o->balance_tail,
                 half = multiple > 1 ? divide_up(k / 2, multiple) * multiple
                                     : divide_up(k, 2);
    return smaller(half, slice);
}

static struct cut cut_make(const struct bitcut_order *o, size_t k, size_t step)
{
    struct cut c = { .k = k,
                     .step = step,
                     .tile = part_of(k, o->tile, step),
                     .turn = part_of(k, o->chunk, step),
                     .lanes = o->lanes ? (size_t)o->lanes : 1,
                     .round =
                         o->lanes > 1 ? divide_up((size_t)o->unroll, step) * step : 0,
                     .narrow = (size_t)o->narrow,
                     .apart = o->narrow_apart,
                     .in_lane = o->remainder_in_lane,
                     .partial_first = o->partial_first && k };
    const size_t unit = o->cut ? smaller((size_t)o->cut, k) : c.tile;
    if (!k) return c;
    c.each = divide_up(divide_up(k, unit), o->slices ? (size_t)o->slices : 1);
    c.slices = divide_up(divide_up(k, unit), c.each);
    if (o->cut || o->balance_tail) {
        c.length = c.each * unit;
        c.each = divide_up(c.length, c.tile);
    }
    if (o->balance_tail && c.slices > 1)
        c.half = half_of(k - (c.slices - 2) * c.length, o, c.length);
    c.lanes = smaller(c.lanes, divide_up(c.each * c.tile, c.turn));
    return c;
}

/* The first k of a slice and its end, the end of the k that its lanes share, the end of
   the second loop, and the length of its first tile. */
struct slice {
    size_t from, end, shared, narrow, first;
};

/* The first k of slice i, if slices are cut by k. */
static size_t slice_from(const struct cut *c, size_t i)
{
    const size_t moved = c->half && i + 1 == c->slices ? c->length - c->half : 0;
    return smaller(i * c->length, c->k + moved) - moved;
}

/* Slice i without the end of the k that its lanes share. */
static struct slice slice_cut(const struct cut *c, size_t i)
{
    struct slice s = { .end = c->k, .first = c->tile };
    const size_t rest = c->partial_first ? c->k % c->tile : 0;
    if (c->length) {
        s.from = slice_from(c, i);
        s.end = slice_from(c, i + 1);
        if (c->partial_first && (s.end - s.from) % c->tile)
            s.first = (s.end - s.from) % c->tile;
        return s;
    }
    const size_t size = c->each * c->tile, short_by = rest ? c->tile - rest : 0;
    if (i) s.from = i * size - short_by;
    else s.first = c->tile - short_by;
    s.end = smaller((i + 1) * size - short_by, c->k);
    return s;
}

static struct slice slice_at(const struct cut *c, size_t i)
{
    struct slice s = slice_cut(c, i);
    s.shared = s.end - (c->round ? (s.end - s.from) % c->round : 0);
    s.narrow = s.shared + (c->narrow ? (s.end - s.shared) / (c->narrow * c->turn) : 0) *
                              c->narrow * c->turn;
    return s;
}

/* The first k of tile t of a slice; the end of the slice if it has no such tile. */
static size_t tile_from(const struct cut *c, const struct slice *s, size_t t)
{
    return t ? smaller(s->from + s->first + (t - 1) * c->tile, s->end) : s->from;
}

/* --- reductions ------------------------------------------------------------------- */

/* Sums are computed in the order in which they are needed, so that every addition takes
   the latest retained sums. */

/* The largest power of two below `count`; 0 if there is none. */
static size_t half_below(size_t count)
{
    return count < 2 ? 0 : (size_t)1 << (63 - __builtin_clzll(count - 1));
}

static size_t first_sum(enum bitcut_reduction how, size_t count)
{
    return how == BITCUT_DESCENDING ? count - 1 : 0;
}

/* The sum that is computed after sum i.  BITCUT_HALVES counts with the bits reversed. */
static size_t next_sum(enum bitcut_reduction how, size_t i, size_t count)
{
    if (how != BITCUT_HALVES) return how == BITCUT_DESCENDING ? i - 1 : i + 1;
    do {
        size_t bit = half_below(count);
        for (; bit & i; bit /= 2) i -= bit;
        i += bit;
    } while (i >= count);
    return i;
}

/* The sums of a distance of `bit` or a multiple of it have been added to sum i if it has
   this bit; if it does not, they are added to it later, if there are any. */
static int halves_after(size_t i, size_t count)
{
    int adds = 0;
    for (size_t bit = half_below(count); bit; bit /= 2)
        if (i & bit) adds++;
        else if (i % bit + bit < count) break;
    return adds;
}

/* The number of sums that are added to sum i of `count`, after the sums before it were
   reduced. */
static int adds_after(enum bitcut_reduction how, size_t i, size_t count)
{
    const int kept = __builtin_popcountll(i);
    if (how == BITCUT_HALVES) return halves_after(i, count);
    if (how != BITCUT_TREE) return i != first_sum(how, count);
    return i + 1 == count ? kept : kept + 1 - __builtin_popcountll(i + 1);
}

static enum bitcut_reduction slice_reduction(const struct bitcut_order *o)
{
    return o->slices_ascending ? BITCUT_ASCENDING : o->reduction;
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

/* Add the steps of a chunk, which begins at k number q of its slice, to the sequence. */
static void add_turn(struct k_parts *x, const struct cut *c, const struct slice *s,
                     size_t q)
{
    for (size_t at = q; at < q + c->turn; at += c->step) {
        const size_t tile = at / c->tile;
        const size_t from = tile_from(c, s, tile) + at % c->tile,
                     end = tile_from(c, s, tile + 1);
        if (from < end && from < s->shared) add_step(x, c, from, end);
    }
}

/* Add the steps of consecutive k of a slice. */
static void add_steps(struct k_parts *x, const struct cut *c, const struct slice *s,
                      size_t from, size_t to)
{
    for (; from < to; from += c->step) add_step(x, c, from, s->end);
}

/* Add the sequence of a lane; false if the lane has no steps.  If no positions of
   elements are wanted, the steps of a single lane are only counted. */
static bool add_lane(struct k_parts *x, const struct cut *c, size_t slice, size_t lane)
{
    const struct slice s = slice_at(c, slice);
    x->first[x->count] = x->steps;
    if (c->lanes == 1 && !x->element) x->steps += divide_up(s.shared - s.from, c->step);
    else
        for (size_t q = lane * c->turn; q < c->each * c->tile; q += c->lanes * c->turn)
            add_turn(x, c, &s, q);
    if (c->in_lane && !lane) add_steps(x, c, &s, s.shared, s.end);
    return x->steps > x->first[x->count];
}

/* --- all of them ------------------------------------------------------------------ */

/* Whether a lane of a slice has steps.  A short tile may leave some lanes without
   steps. */
static bool has_steps(const struct cut *c, size_t slice, size_t lane)
{
    struct k_parts none = { .first = (size_t[1]){ 0 } };
    return add_lane(&none, c, slice, lane);
}

/* The lanes of a slice that have steps, in the order in which they are reduced.  Returns
   their number. */
static size_t list_lanes(size_t *lane, const struct cut *c, const struct bitcut_order *o,
                         size_t slice)
{
    const bool listed = order_lists_lanes(o);
    size_t count = 0;
    for (size_t i = 0; i < (listed ? (size_t)o->lanes : c->lanes); i++) {
        const size_t next = listed ? o->lane_order[i] : i;
        if (next < c->lanes && has_steps(c, slice, next)) lane[count++] = next;
    }
    return count;
}

/* End a sequence, to whose sum `adds` sums of the same slice are added; then, if it is
   the last sequence of the slice, `others` sums of slices. */
static void end_sequence(struct k_parts *x, int adds, bool last, int others)
{
    if (x->stored) x->stored[x->count] = last ? (uint8_t)(adds + 1) : 0;
    x->adds[x->count++] = (uint8_t)(adds + (last ? others : 0));
}

/* Begin a sequence, which starts from the latest retained sum or does not. */
static void begin_sequence(struct k_parts *x, bool resumes)
{
    x->first[x->count] = x->steps;
    if (x->resumes) x->resumes[x->count] = resumes;
}

/* Add the sequence of a sum of a loop over [from, to) with so many sums. */
static void add_sum(struct k_parts *x, const struct cut *c, const struct slice *s,
                    size_t from, size_t to, size_t sum, size_t sums)
{
    for (size_t q = from + sum * c->turn; q < to; q += sums * c->turn)
        add_steps(x, c, s, q, q + c->turn);
}

/* Add the sequence of a sum of the second loop. */
static void add_narrow(struct k_parts *x, const struct cut *c, const struct slice *s,
                       size_t sum, bool resumes)
{
    begin_sequence(x, resumes);
    add_sum(x, c, s, s->shared, s->narrow, sum, c->narrow);
}

/* Add the sequences of the loops with as many lanes, half as many, and so on.  The sum
   of each loop is added to the sum so far, if there is any.  `last` and `others`: as in
   add_loops(). */
static void add_apart(struct k_parts *x, const struct cut *c,
                      const struct bitcut_order *o, const struct slice *s, bool last,
                      int others)
{
    size_t from = s->shared;
    for (size_t lanes = (size_t)o->lanes; lanes >= c->narrow && from < s->narrow;
         lanes /= 2) {
        const size_t to = from + (s->narrow - from) / (lanes * c->turn) * lanes * c->turn;
        const bool listed = order_lists_lanes(o), first = from == s->from;
        size_t place = 0;
        for (size_t n = 0; n < lanes && to > from;
             n++, place = next_sum(o->reduction, place, lanes)) {
            size_t lane = place, at = 0;
            for (size_t i = 0; listed && i < (size_t)o->lanes; i++)
                if (o->lane_order[i] < lanes && at++ == place) lane = o->lane_order[i];
            begin_sequence(x, false);
            add_sum(x, c, s, from, to, lane, lanes);
            end_sequence(
                x, adds_after(o->reduction, place, lanes) + (n + 1 == lanes && !first),
                last && n + 1 == lanes && to == s->narrow, others);
        }
        from = to;
    }
}

/* Add the sequences of the lanes and of the second loop.  Each sum of the second loop
   starts from the sum of a group of lanes; all groups have the same size.  `last`: the
   last sequence ends the slice.  `others`: the number of sums of slices that are then
   added to it. */
static void add_loops(struct k_parts *x, const struct cut *c,
                      const struct bitcut_order *o, size_t slice, size_t *lane, bool last,
                      int others)
{
    const enum bitcut_reduction how = o->reduction;
    const struct slice s = slice_at(c, slice);
    const size_t count = list_lanes(lane, c, o, slice),
                 sums = s.narrow > s.shared && !c->apart ? c->narrow : 0,
                 group = sums ? count / sums : 0;
    size_t sum = 0;
    for (size_t n = 0, i = first_sum(how, count); n < count;
         n++, i = next_sum(how, i, count)) {
        const int adds = adds_after(how, i, count);
        const bool ends = group && (n + 1) % group == 0;
        const int own = ends ? __builtin_ctzll(group) : adds;
        add_lane(x, c, slice, lane[i]);
        if (x->resumes) x->resumes[x->count] = false;
        end_sequence(x, own, last && !ends && n + 1 == count, others);
        if (!ends) continue;
        add_narrow(x, c, &s, sum, true);
        end_sequence(x, adds - own, last && n + 1 == count, others);
        sum = next_sum(how, sum, sums);
    }
    for (size_t n = 0; n < sums && !count; n++, sum = next_sum(how, sum, sums)) {
        add_narrow(x, c, &s, sum, false);
        end_sequence(x, adds_after(how, sum, sums), last && n + 1 == sums, others);
    }
}

static void add_slice(struct k_parts *x, const struct cut *c,
                      const struct bitcut_order *o, size_t slice, size_t *lane)
{
    const struct slice s = slice_at(c, slice);
    const int others = adds_after(slice_reduction(o), slice, c->slices);
    const bool remain = s.narrow < s.end && !c->in_lane,
               apart = c->apart && s.narrow > s.shared;
    add_loops(x, c, o, slice, lane, !remain && !apart, others);
    if (apart) add_apart(x, c, o, &s, !remain, others);
    if (!remain) return;
    begin_sequence(x, s.narrow > s.from);
    add_steps(x, c, &s, s.narrow, s.end);
    end_sequence(x, 0, true, others);
}

static int most_kept(const struct k_parts *x)
{
    int kept = 0, most = 0;
    for (size_t i = 0; i < x->count; i++) {
        kept += 1 - x->adds[i] - k_parts_resumes(x, i);
        if (kept > most) most = kept;
    }
    return most;
}

static bool allocate(struct k_parts *x, const struct cut *c, const struct bitcut_order *o)
{
    const enum bitcut_reduction how = slice_reduction(o);
    const bool reordered = how == BITCUT_DESCENDING || how == BITCUT_HALVES;
    const bool moved = c->lanes > 1 || (c->partial_first && c->k % c->tile) ||
                       c->length || (reordered && c->slices > 1),
               resumes = c->round && !c->in_lane;
    const size_t steps =
        c->length ? c->slices * divide_up(c->length, c->step) : divide_up(c->k, c->step);
    size_t parts, elements;
    if (!size_multiply(&parts, c->slices,
                       (c->apart ? 3 : 1) * c->lanes + c->narrow + (c->round > 0)) ||
        parts > steps)
        parts = steps;
    x->first = memory_allocate(parts + 1, sizeof *x->first);
    x->adds = memory_allocate(parts, sizeof *x->adds);
    if (o->partial_store) x->stored = memory_allocate(parts, sizeof *x->stored);
    if (resumes) x->resumes = memory_allocate(parts, sizeof *x->resumes);
    if (moved && size_multiply(&elements, steps, c->step))
        x->element = memory_allocate(elements, sizeof *x->element);
    return x->first && x->adds && (x->stored || !o->partial_store) &&
           (x->resumes || !resumes) && (x->element || !moved);
}

enum bitcut_status k_parts_make(struct k_parts *x, const struct bitcut_order *order,
                                size_t k, size_t step)
{
    const struct cut c = cut_make(order, k, step);
    size_t *const lane = memory_allocate(c.slices ? c.lanes : 1, sizeof *lane);
    *x = (struct k_parts){ 0 };
    if (!lane || !allocate(x, &c, order)) {
        k_parts_clear(x);
        free(lane);
        return BITCUT_NO_MEMORY;
    }
    const enum bitcut_reduction how = slice_reduction(order);
    for (size_t n = 0, i = first_sum(how, c.slices); n < c.slices;
         n++, i = next_sum(how, i, c.slices))
        add_slice(x, &c, order, i, lane);
    x->first[x->count] = x->steps;
    x->kept = most_kept(x);
    free(lane);
    return BITCUT_OK;
}

void k_parts_clear(struct k_parts *x)
{
    free(x->element);
    free(x->resumes);
    free(x->stored);
    free(x->adds);
    free(x->first);
    *x = (struct k_parts){ 0 };
}
