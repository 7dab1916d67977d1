/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/order_skeleton.h"

#include "lib/base/size.h"

#include <stdlib.h>

static const struct bitcut_format *const f32 = &formats[FORMAT_F32];

static void add(struct order_list *l, struct bitcut_order o)
{
    if (l->count == l->room && !l->failed) {
        const size_t room = l->room ? 2 * l->room : 256;
        struct bitcut_order *const more = realloc(l->at, room * sizeof *more);
        if (more) l->at = more, l->room = room;
        l->failed = !more;
    }
    if (!l->failed) l->at[l->count++] = o;
}

/* --- skeletons -------------------------------------------------------------------- */

/* Sums of slices are added in FP32, or stored in the format of D first. */
static void add_stored(struct order_list *l, struct bitcut_order o,
                       const struct bitcut_format *format)
{
    add(l, o);
    if (format == f32 || o.slices <= 1) return;
    o.partial_format = format;
    o.partial_store = true;
    add(l, o);
}

/* The partial tile that comes first, if it is no multiple of k-steps; 0: the steps are
   the same as if it came last. */
static size_t partial_of(size_t length, size_t tile, size_t step)
{
    const size_t partial = length % tile;
    return partial % step ? partial : 0;
}

/* Slices of one length, with the partial tile of each tile length first.  Tiles that have
   the same partial tiles, or none, in all slices give the same sums. */
static void add_length(struct order_list *l, struct bitcut_order o, size_t length,
                       size_t step, size_t k, const struct bitcut_format *format)
{
    static const size_t tiles[] = { 16, 32, 64, 128, 256 };
    enum { TILES = sizeof tiles / sizeof *tiles };
    size_t partial[TILES], of_last[TILES];
    const size_t rest = k % length ? k % length : length;
    struct bitcut_order last = o;
    if (length % step == 0) last.cut = 0, last.tile = (int)length;
    if (o.slices > 1) add_stored(l, last, format);
    for (size_t i = 0; i < TILES; i++) {
        partial[i] = partial_of(length, tiles[i], step);
        of_last[i] = partial_of(rest, tiles[i], step);
        bool before = !partial[i] && !of_last[i];
        for (size_t j = 0; j < i; j++)
            before |= partial[j] == partial[i] && of_last[j] == of_last[i];
        if (tiles[i] < step || before || tiles[i] > k) continue;
        o.tile = (int)tiles[i];
        o.partial_first = true;
        add_stored(l, o, format);
    }
}

/* Every length that so many slices can have whose lengths are multiples of a cut. */
static void add_slices(struct order_list *l, size_t k, size_t step,
                       const struct bitcut_format *format)
{
    enum { SLICES_MAX = 192, CUT_MIN = 4, CUT_MAX = 256 };
    bool *const seen = calloc(k + CUT_MAX, sizeof *seen);
    l->failed |= !seen;
    for (size_t cut = CUT_MIN; seen && cut <= CUT_MAX; cut *= 2)
        for (size_t slices = 1; slices <= SLICES_MAX; slices++) {
            const size_t length = divide_up(divide_up(k, cut), slices) * cut;
            const bool one = length >= k;
            if (seen[length] || (one && cut > CUT_MIN)) continue;
            seen[length] = true;
            const struct bitcut_order o = { .slices = one ? 0 : (int)divide_up(k, length),
                                            .cut = one ? 0 : (int)cut };
            /* fewer slices need not have the same length */
            const size_t again =
                one ? length : divide_up(divide_up(k, cut), (size_t)o.slices) * cut;
            struct bitcut_order same = o;
            if (again != length) same.slices = (int)slices;
            add_length(l, same, one ? k : length, step, k, format);
        }
    free(seen);
}

/* Instructions that go to several accumulators in turn. */
static void add_lanes(struct order_list *l, size_t k, size_t step)
{
    enum { LANES_MAX = 16, STEPS_MAX = 8 };
    for (size_t lanes = 2; lanes <= LANES_MAX; lanes++)
        for (size_t steps = 1; steps <= STEPS_MAX && lanes * steps * step < k; steps *= 2)
            add(l, (struct bitcut_order){ .lanes = (int)lanes,
                                          .chunk = (int)(steps * step) });
}

struct order_list skeletons_list(size_t k, int step, const struct bitcut_format *format)
{
    enum { K_MAX = 1 << 20 };
    struct order_list l = { NULL, 0, 0, false };
    if (k > K_MAX) return l;
    add_slices(&l, k, (size_t)step, format);
    if (step > 1) add_lanes(&l, k, (size_t)step);
    return l;
}

/* --- completions ------------------------------------------------------------------ */

struct completions {
    struct bitcut_order *to;
    size_t count;
};

static void complete(struct completions *c, struct bitcut_order o)
{
    if (c->count < COMPLETIONS_MAX) c->to[c->count++] = o;
}

/* The other reductions, and sums in the format of D. */
static void complete_sums(struct completions *c, struct bitcut_order o,
                          const struct bitcut_format *format)
{
    const bool two = (o.slices > 1 ? o.slices : o.lanes) == 2;
    for (int r = BITCUT_ASCENDING; r <= BITCUT_HALVES && (!two || r == 0); r++) {
        o.reduction = (enum bitcut_reduction)r;
        if (r != BITCUT_ASCENDING) complete(c, o);
        if (format == f32 || o.partial_format) continue;
        struct bitcut_order in = o;
        in.partial_format = format;
        complete(c, in);
    }
}

size_t skeleton_complete(struct bitcut_order to[COMPLETIONS_MAX],
                         const struct bitcut_order *skeleton, size_t k,
                         const struct bitcut_format *format)
{
    enum { TAIL_MAX = 32, SLICES_MAX = 8 };
    struct completions c = { to, 0 };
    const struct bitcut_order o = *skeleton;
    if (o.slices > 1 || o.lanes > 1) complete_sums(&c, o, format);
    for (int tail = 1; tail <= TAIL_MAX && o.slices > 2 && !o.cut && k % (size_t)o.tile;
         tail *= 2) {
        struct bitcut_order balanced = o;
        balanced.balance_tail = tail;
        complete(&c, balanced);
    }
    for (int slices = 2; slices <= SLICES_MAX && o.lanes > 1; slices++) {
        struct bitcut_order sliced = o;
        sliced.slices = slices;
        sliced.tile = o.lanes * o.chunk;
        complete_sums(&c, sliced, format);
        complete(&c, sliced);
    }
    return c.count;
}
