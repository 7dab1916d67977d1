/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/order/probe_search.h"

#include "lib/base/size.h"
#include "lib/number/rand.h"

/* --- candidates ------------------------------------------------------------------- */

/* Chunks and promotion, in blocks; lanes. */
static const int turns[] = {
    1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512
};
static const int intervals[] = { 0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128 };
static const int lane_counts[] = { 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                   12, 13, 14, 15, 16, 20, 24, 32, 48, 64, 128 };

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { PAIRS = 64, BLOCKS_MAX = 8, STREAM_PAIRS = 41 };

struct search_pair {
    size_t i, j, below; /* i < j */
};

struct probing {
    const struct probe_sizes *s;
    const struct progress *progress;
    struct search_pair pair[PAIRS]; /* the pairs on which most guesses fail */
    size_t block[BLOCKS_MAX], blocks;
    bool ascends;  /* later products meet the first one later */
    bool promotes; /* guesses include promotion */
    struct probe_guess *found;
    size_t count, enough;
    enum bitcut_status status;
};

/* How an order cuts k, as in lib/gemm/order.c: slices of `each` tiles; the first tile has
   `rest` k if that is not 0. */
struct cutting {
    size_t k, tile, each, rest, lanes, turn;
};

/* --- tests of a guess ------------------------------------------------------------- */

/* The position of a k: its slice and lane, and how many k of its lane come before. */
struct spot {
    size_t slice, lane, place;
};

/* The k with which tile `tile` begins, or the number of all k. */
static size_t tile_begins(const struct cutting *c, size_t tile)
{
    if (c->rest) return tile ? smaller(c->rest + (tile - 1) * c->tile, c->k) : 0;
    return smaller(tile * c->tile, c->k);
}

static size_t slice_begins(const struct cutting *c, size_t slice)
{
    return tile_begins(c, slice * c->each);
}

/* Among the first `to` positions of a slice, those of the lanes before `lane`. */
static size_t before_lane(const struct cutting *c, size_t to, size_t lane)
{
    const size_t round = c->lanes * c->turn;
    return to / round * c->turn * lane + smaller(to % round, lane * c->turn);
}

/* The same without the positions that the partial first tile of slice 0 leaves empty. */
static size_t filled_before(const struct cutting *c, size_t slice, size_t to, size_t lane)
{
    const size_t all = before_lane(c, to, lane);
    if (slice || !c->rest || to < c->tile) return all;
    return all - before_lane(c, c->tile, lane) + before_lane(c, c->rest, lane);
}

static struct spot find_spot(const struct cutting *c, size_t k)
{
    const bool behind = c->rest && k >= c->rest;
    const size_t past = behind ? k - c->rest : k,
                 slice = (past / c->tile + behind) / c->each,
                 empty = behind && !slice ? c->tile - c->rest : 0,
                 from = k + empty - slice_begins(c, slice),
                 lane = from / c->turn % c->lanes;
    return (struct spot){ slice, lane,
                          filled_before(c, slice, from, lane + 1) -
                              filled_before(c, slice, from, lane) };
}

/* The sums up to `last` that are added when two of them meet: first, first + stride and
   so on, before `end`. */
struct group {
    size_t first, end, stride;
};

/* Sums that are added by halves meet with all sums of their distance and its multiples.
 */
static struct group halves_group(size_t x, size_t y, size_t last)
{
    size_t stride = 1;
    while (x % (2 * stride) == y % (2 * stride)) stride *= 2;
    return (struct group){ x % stride, last + 1, stride };
}

static struct group group_of(enum bitcut_reduction how, size_t x, size_t y, size_t last)
{
    const size_t low = x < y ? x : y, high = x < y ? y : x;
    size_t size = 2;
    if (how == BITCUT_HALVES) return halves_group(x, y, last);
    if (how == BITCUT_ASCENDING) return (struct group){ 0, high + 1, 1 };
    if (how == BITCUT_DESCENDING) return (struct group){ low, last + 1, 1 };
    while (x / size != y / size) size *= 2;
    return (struct group){ x / size * size, smaller(x / size * size + size, last + 1),
                           1 };
}

static size_t between_slices(const struct cutting *c, enum bitcut_reduction how, size_t x,
                             size_t y)
{
    const size_t tiles = divide_up(c->k - c->rest, c->tile) + (c->rest != 0);
    const struct group g = group_of(how, x, y, divide_up(tiles, c->each) - 1);
    size_t count = 0;
    if (g.stride == 1) return slice_begins(c, g.end) - slice_begins(c, g.first);
    for (size_t i = g.first; i < g.end; i += g.stride)
        count += slice_begins(c, i + 1) - slice_begins(c, i);
    return count;
}

static size_t between_lanes(const struct cutting *c, enum bitcut_reduction how,
                            struct spot a, struct spot b)
{
    const size_t empty = c->rest && !a.slice ? c->tile - c->rest : 0,
                 slice = slice_begins(c, a.slice + 1) - slice_begins(c, a.slice) + empty;
    const struct group g = group_of(how, a.lane, b.lane, c->lanes - 1);
    size_t count = 0;
    if (g.stride == 1)
        return filled_before(c, a.slice, slice, g.end) -
               filled_before(c, a.slice, slice, g.first);
    for (size_t i = g.first; i < g.end; i += g.stride)
        count +=
            filled_before(c, a.slice, slice, i + 1) - filled_before(c, a.slice, slice, i);
    return count;
}

/* Whether two products of one lane may meet when this many are added, to within a block.
 */
static bool within_lane(const struct probe_guess *g, size_t x, size_t y, size_t below)
{
    const size_t low = x < y ? x : y, high = x < y ? y : x;
    if (low / g->block == high / g->block) return true;
    if (!g->promote) return below <= high + 1 + g->block && high + 1 <= below + g->block;
    const size_t turn = high / g->promote;
    if (low / g->promote == turn) return below <= high - turn * g->promote + 1 + g->block;
    return below <= (turn + 1) * g->promote && below > turn * g->promote;
}

/* Whether two products of different slices or lanes meet as measured. */
static bool joins_pair(const struct cutting *c, enum bitcut_reduction how,
                       const struct search_pair *p)
{
    const struct spot a = find_spot(c, p->i), b = find_spot(c, p->j);
    if (a.slice != b.slice) return between_slices(c, how, a.slice, b.slice) == p->below;
    return a.lane == b.lane || between_lanes(c, how, a, b) == p->below;
}

/* The same for all pairs.  A pair that fails is tried first the next time. */
static bool joins_sums(struct probing *x, const struct cutting *c,
                       enum bitcut_reduction how)
{
    for (size_t i = 0; i < PAIRS; i++) {
        const struct search_pair p = x->pair[i];
        if (joins_pair(c, how, &p)) continue;
        x->pair[i] = x->pair[i / 2];
        x->pair[i / 2] = p;
        return false;
    }
    return true;
}

/* The same for pairs of one lane, to within a block.  A partial tile has a short block,
   so promotion comes at another position. */
static bool fills_lanes(const struct probing *x, const struct cutting *c,
                        const struct probe_guess *g)
{
    bool good = true;
    for (size_t i = 0; i < PAIRS && good; i++) {
        const struct search_pair *p = &x->pair[i];
        const struct spot a = find_spot(c, p->i), b = find_spot(c, p->j);
        const bool shifted = c->lanes > 1 && c->rest && !a.slice && g->promote;
        if (a.slice == b.slice && a.lane == b.lane && !shifted)
            good = within_lane(g, a.place, b.place, p->below);
    }
    return good;
}

static bool gives_all(const struct probe_tree *t, const struct probe_sizes *s)
{
    for (size_t x = 0; x < s->count; x++)
        for (size_t y = x + 1; y < s->count; y++)
            if (probe_tree_below(t, s->at[x], s->at[y]) != probe_below(s, x, y))
                return false;
    return true;
}

/* Pairs may be two products, each of whose sums is promoted. */
static void add_guess(struct probing *x, const struct probe_guess *g)
{
    x->found[x->count++] = *g;
    if (g->join != PROBE_PAIRS || g->block != 2 || g->promote) return;
    if (x->count == PROBE_GUESSES_MAX) return;
    x->found[x->count] = *g;
    x->found[x->count].block = 1;
    x->found[x->count].join = PROBE_CUT;
    x->found[x->count++].promote = 2;
}

static void try_guess(struct probing *x, const struct probe_guess *g)
{
    struct probe_tree t;
    if (x->status != BITCUT_OK || x->count == PROBE_GUESSES_MAX) return;
    x->status = probe_tree_make(&t, g, x->s->k);
    if (x->status != BITCUT_OK) return;
    if (gives_all(&t, x->s)) add_guess(x, g);
    probe_tree_clear(&t);
    if (progress_stopped(x->progress)) x->status = BITCUT_UNSUPPORTED;
}

/* With and without promotion, and in every way to join. */
static void try_inside(struct probing *x, const struct cutting *c, struct probe_guess g)
{
    const size_t first = x->promotes, end = x->promotes ? COUNT(intervals) : 1;
    for (size_t i = first; i < end; i++) {
        g.promote = (size_t)intervals[i] * g.block;
        if (g.promote >= c->k || !fills_lanes(x, c, &g)) continue;
        for (int j = PROBE_CUT; j <= (g.block > 1 ? PROBE_PAIRS : PROBE_CUT); j++) {
            g.join = (enum probe_join)j;
            try_guess(x, &g);
        }
    }
}

/* The order of a cutting, if it is one, with every possible reduction. */
static void try_cutting(struct probing *x, const struct cutting *c, struct probe_guess g)
{
    const size_t tiles = divide_up(c->k, c->tile), slices = divide_up(tiles, c->each);
    const bool several = slices > 2 || c->lanes > 2 || (slices == 2 && c->lanes == 2);
    if (x->count >= x->enough || divide_up(tiles, slices) != c->each) return;
    if (progress_stopped(x->progress)) x->status = BITCUT_UNSUPPORTED;
    g.order = (struct bitcut_order){ .slices = (int)slices,
                                     .tile = slices > 1 || c->rest ? (int)c->tile : 0,
                                     .partial_first = c->rest != 0,
                                     .lanes = (int)c->lanes,
                                     .chunk = c->lanes > 1 ? (int)c->turn : 0 };
    for (int r = BITCUT_ASCENDING; r <= (several ? BITCUT_HALVES : 0); r++) {
        g.order.reduction = (enum bitcut_reduction)r;
        if (x->status == BITCUT_OK && joins_sums(x, c, g.order.reduction))
            try_inside(x, c, g);
    }
}

/* --- all guesses ------------------------------------------------------------------ */

/* One slice, then slices, the longest first. */
static void try_slices(struct probing *x, struct cutting c, const struct probe_guess *g)
{
    c.each = 1;
    c.tile = divide_up(c.k, g->block) * g->block;
    for (; c.tile; c.tile -= g->block)
        if (c.lanes == 1 || c.tile > c.turn) try_cutting(x, &c, *g);
}

/* The same with the partial tile first. */
static void try_tile(struct probing *x, struct cutting c, const struct probe_guess *g)
{
    c.rest = c.k % c.tile;
    for (c.each = divide_up(c.k, c.tile); c.each && c.rest; c.each--)
        try_cutting(x, &c, *g);
}

/* With lanes the tiles of a table, otherwise all. */
static void try_rest_first(struct probing *x, struct cutting c,
                           const struct probe_guess *g)
{
    for (size_t i = 0; c.lanes > 1 && i < COUNT(turns); i++) {
        c.tile = (size_t)turns[i] * g->block;
        if (c.tile < c.k) try_tile(x, c, g);
    }
    for (c.tile = g->block; c.lanes == 1 && c.tile < c.k; c.tile += g->block)
        try_tile(x, c, g);
}

/* In lanes the third product may meet the first before the second does; in one sum it
   never does. */
static void try_lanes(struct probing *x, const struct probe_guess *g)
{
    for (size_t i = 0; i < COUNT(lane_counts); i++)
        for (size_t j = 0; j < COUNT(turns); j++) {
            const struct cutting c = { .k = x->s->k,
                                       .lanes = (size_t)lane_counts[i],
                                       .turn = (size_t)turns[j] * g->block };
            if (c.lanes == 1 ? !x->ascends || j : x->ascends) continue;
            if (c.turn * (c.lanes - 1) >= c.k) continue;
            try_slices(x, c, g);
            try_rest_first(x, c, g);
        }
}

/* --- common properties of all guesses --------------------------------------------- */

static void add_block(struct probing *x, size_t block)
{
    for (size_t i = 0; i < x->blocks; i++)
        if (x->block[i] == block) return;
    if (block && block <= 64 && x->blocks < BLOCKS_MAX) x->block[x->blocks++] = block;
}

/* The products of a block meet the first product, which is in a block itself, at the same
   time.  If the partial tile comes first, the first block may be short. */
static void find_blocks(struct probing *x)
{
    const struct probe_sizes *s = x->s;
    size_t run = 0, runs = 0;
    for (size_t y = 1; y < s->count && s->at[y] == y && runs < 3; y++) {
        run++;
        if (y + 1 < s->count && probe_below(s, 0, y + 1) == probe_below(s, 0, y))
            continue;
        if (!runs++) add_block(x, run + 1);
        if (runs > 1 || run == 1) add_block(x, run);
        run = 0;
    }
}

static bool meets_ascending(const struct probe_sizes *s)
{
    for (size_t y = 2; y < s->count; y++)
        if (probe_below(s, 0, y) < probe_below(s, 0, y - 1)) return false;
    return true;
}

/* Half of the pairs are of neighbours. */
static void choose_pairs(struct probing *x)
{
    const struct probe_sizes *s = x->s;
    struct rng rng = rng_start(1, STREAM_PAIRS);
    for (size_t i = 0; i < PAIRS; i++) {
        const size_t a = rand_below(rng_bits(&rng), s->count - 1),
                     far = i % 2 ? rand_below(rng_bits(&rng), s->count - 1 - a) : 0,
                     b = a + 1 + far;
        x->pair[i] = (struct search_pair){ s->at[a], s->at[b], probe_below(s, a, b) };
    }
}

/* Blocks from number `from` on, first without promotion.  If all k were measured,
   consistent orders with the same blocks have the same tree. */
static void try_blocks(struct probing *x, size_t from)
{
    const bool all = x->s->count == x->s->k;
    for (int promotes = 0; promotes < 2 && !x->count; promotes++)
        for (size_t b = from; b < x->blocks; b++) {
            const struct probe_guess g = { .block = x->block[b] };
            x->promotes = promotes;
            x->enough = all ? x->count + 1 : PROBE_GUESSES_MAX;
            try_lanes(x, &g);
        }
}

/* Slices whose last two have half of their common length each: their sums show the
   length. */
static void try_halves(struct probing *x)
{
    static const int halves[] = { 16, 8, 4, 2, 32, 1 };
    size_t sum[2];
    const size_t sums = probe_sums(sum, COUNT(sum), x->s);
    for (size_t b = 0; sums > 1 && b < x->blocks; b++)
        for (size_t i = 0; i < COUNT(halves) && !x->count; i++) {
            const struct probe_guess g = {
                .order = { .slices = (int)sums,
                           .tile = (int)(sum[0] > sum[1] ? sum[0] : sum[1]),
                           .balance_tail = halves[i],
                           .lanes = 1 },
                .block = x->block[b],
            };
            if ((size_t)g.order.tile % g.block == 0) try_guess(x, &g);
        }
}

enum bitcut_status probe_search(struct probe_guess *to, size_t *count,
                                const struct probe_sizes *s,
                                const struct progress *progress, struct fault *f)
{
    struct probing x = { .s = s, .progress = progress, .found = to };
    *count = 0;
    if (s->count < 2) { /* a single product meets nothing */
        to[(*count)++] = (struct probe_guess){ { .slices = 1, .lanes = 1 }, .block = 1 };
        return BITCUT_OK;
    }
    find_blocks(&x);
    choose_pairs(&x);
    x.ascends = meets_ascending(s);
    try_blocks(&x, 0);
    const size_t seen = x.blocks;
    for (size_t block = 16; block; block /= 2) add_block(&x, block);
    if (!x.count) try_blocks(&x, seen);
    x.ascends = !x.ascends; /* lanes with one chunk are like slices */
    if (!x.count && !x.ascends) try_blocks(&x, 0);
    if (!x.count) try_halves(&x);
    *count = x.count;
    if (x.status == BITCUT_UNSUPPORTED) return fault_set(f, x.status, "stopped");
    if (x.status != BITCUT_OK)
        return fault_set(f, x.status, "not enough memory for an order");
    return BITCUT_OK;
}

/* --- without an order ------------------------------------------------------------- */

/* The k with which the sum began that contains the products from position x on; SIZE_MAX:
   they meet later than all products before them. */
static size_t beginning(const struct probe_sizes *s, size_t x, size_t block)
{
    const size_t behind = s->at[x] + 2, below = probe_below(s, x, x + 1);
    if (below > behind + block) return SIZE_MAX;
    return below > behind ? 0 : divide_up(behind - below, block) * block;
}

/* Whether k from..end meet before they meet any other, as far as is known. */
static bool is_sum(const struct probe_sizes *s, size_t from, size_t end)
{
    for (size_t x = 0; x < s->count; x++)
        for (size_t y = 0; y < s->count && s->at[x] >= from && s->at[x] < end; y++) {
            const bool both = s->at[y] >= from && s->at[y] < end;
            if (x != y && both != (probe_below(s, x, y) <= end - from)) return false;
        }
    return true;
}

static bool add_sum(size_t *to, size_t most, size_t *count, const struct probe_sizes *s,
                    size_t from, size_t end)
{
    if (*count < most) to[*count] = end - from;
    ++*count;
    return is_sum(s, from, end);
}

size_t probe_sums(size_t *to, size_t most, const struct probe_sizes *s)
{
    struct probing x = { .s = s };
    size_t count = 0, from = 0;
    bool good = true;
    find_blocks(&x);
    for (size_t i = 1; i < x.blocks; i++) x.block[0] = smaller(x.block[0], x.block[i]);
    for (size_t i = 0; i + 1 < s->count && good; i++) {
        if (s->at[i + 1] != s->at[i] + 1) continue;
        const size_t at = beginning(s, i, x.block[0]);
        if (at == SIZE_MAX || at <= from) continue;
        good = add_sum(to, most, &count, s, from, at);
        from = at;
    }
    return good && from && add_sum(to, most, &count, s, from, s->k) ? count : 0;
}
