/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranges of the axes. */
#include "analysis/identify/epilogue_choice.h"
#include "analysis/identify/quick_check.h"
#include "analysis/identify/residual.h"
#include "emu/unit_field.h"
#include "lib/base/size.h"
#include "lib/base/table.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A list that grows; `failed` is set when memory runs out. */
struct list {
    void *at;
    size_t count, room, size; /* size: of an element, in bytes */
    bool failed;
};

static void list_add(struct list *l, const void *element)
{
    if (l->count == l->room && !l->failed) {
        const size_t room = l->room ? 2 * l->room : 64;
        void *const more = realloc(l->at, room * l->size);
        if (more) l->at = more, l->room = room;
        l->failed = !more;
    }
    if (!l->failed) memcpy((char *)l->at + l->count++ * l->size, element, l->size);
}

#define LIST(type)                                                                       \
    {                                                                                    \
        .size = sizeof(type)                                                             \
    }
#define ADD(list, type, ...) list_add(list, &(type)__VA_ARGS__)

/* --- units ------------------------------------------------------------------------ */

/* Whether a unit may apply the factors of a GEMM. */
static bool has_blocks(const struct bitcut_gemm *g)
{
    return factor_depth(&g->scale_a) || factor_depth(&g->scale_b);
}

/* Whether D can have been computed by the unit. */
static bool may_be_of(const struct bitcut_unit *u, const struct problem *q)
{
    bool executed = !q->executed;
    for (size_t i = 0; i < q->executed_count; i++) executed |= q->executed[i] == u;
    return !unit_vendor(u) || (executed && (!q->chip || chip_has(q->chip, u->name)));
}

/* Whether a unit before u that can have computed D computes the same. */
static bool repeats(const struct bitcut_unit *u, const struct problem *q)
{
    const struct bitcut_unit *first = units;
    while (!may_be_of(first, q) || !field_same(first, u)) first++;
    return first != u;
}

/* Whether a unit multiplies operands such as A and B, and its sums become FP32: a unit of
   integers only those that had its formats. */
static bool multiplies(const struct bitcut_unit *u, const struct problem *q)
{
    if (u->c == &formats[FORMAT_S32]) return u->a == q->a.format && u->b == q->b.format;
    return u->a == u->b &&
           (u->c == &formats[FORMAT_F32] || u->c == &formats[FORMAT_F16] ||
            u->c == &formats[FORMAT_BF16]);
}

/* The only unit; or units for FP32 GEMMs, the first of those that compute the same.
   `scaled`: also units with block scales. */
static void add_units(struct list *l, const struct problem *q, bool scaled)
{
    const struct bitcut_unit *const only = q->unit;
    for (const struct bitcut_unit *u = units; u->name && !only; u++)
        if (multiplies(u, q) && may_be_of(u, q) && !repeats(u, q) &&
            (!u->scale || scaled))
            list_add(l, &u);
    if (only) list_add(l, &only);
}

/* --- parts ------------------------------------------------------------------------ */

static const int scales[] = { 0, 6, 8, 10, 11, 12, 13, 16, 22, 24 };

/* The roundings of kernels, intended or by mistake.  Flushed subnormal parts are a fault
   instead. */
static const int rules[] = { ROUND_RN, ROUND_RNA, ROUND_RZ, ROUND_CUT };

enum { ROUNDINGS = sizeof rules / sizeof *rules };

/* One change, then two roundings together.  A saturating low part gives the same as a low
   part that is zeroed if it is not finite, which is a fault instead. */
static void add_parts(struct list *l)
{
    ADD(l, struct parts_choice, { .scale = BITCUT_UNSET });
    ADD(l, struct parts_choice,
        { .high = &roundings[ROUND_RN_SAT], .scale = BITCUT_UNSET });
    for (const struct bitcut_split *a = splits; a->name; a++)
        for (int both = 1; both <= 3; both++)
            ADD(l, struct parts_choice,
                { .a = both & 1 ? a : NULL,
                  .b = both & 2 ? a : NULL,
                  .scale = BITCUT_UNSET });
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
        ADD(l, struct parts_choice, { .scale = scales[i] });
    for (size_t high = 0; high <= ROUNDINGS; high++)
        for (size_t low = 0; low <= ROUNDINGS; low++)
            if (high || low)
                ADD(l, struct parts_choice,
                    { .high = high ? &roundings[rules[high - 1]] : NULL,
                      .low = low ? &roundings[rules[low - 1]] : NULL,
                      .scale = BITCUT_UNSET });
}

/* --- orders ----------------------------------------------------------------------- */

/* Slices of every length that is a multiple of 4; for large k fewer, with distances of up
   to about 1/16 of the length. */
static size_t next_length(size_t length, size_t k)
{
    if (k <= 4096 || length < 512) return length + 4;
    return length + (length < 16384 ? 32 : length / 512 * 32);
}

static void add_slices(struct list *l, size_t k)
{
    for (size_t length = 4; length < k; length = next_length(length, k)) {
        const int slices = (int)divide_up(k, length);
        for (int r = BITCUT_ASCENDING; r <= BITCUT_TREE; r++)
            if (slices <= 1024 &&
                (r == BITCUT_ASCENDING || (length % 16 == 0 && slices > 2)))
                ADD(l, struct bitcut_order,
                    { .slices = slices, .tile = (int)length, .reduction = r });
    }
}

static bool has_slices(const struct list *l, size_t length)
{
    const struct bitcut_order *const o = l->at;
    bool any = false;
    for (size_t i = 0; i < l->count; i++)
        any |= o[i].slices > 1 && (size_t)o[i].tile == length &&
               o[i].reduction == BITCUT_ASCENDING;
    return any;
}

/* The orders that order_is_typical() accepts, for large k as well. */
static void add_typical_slices(struct list *l, size_t k)
{
    for (size_t slices = 2; slices <= TYPICAL_SLICES_MAX; slices++)
        for (size_t i = 0; typical_tiles[i]; i++) {
            const size_t tile = typical_tiles[i],
                         length = divide_up(divide_up(k, tile), slices) * tile;
            if (length < k && length <= INT_MAX && !has_slices(l, length))
                ADD(l, struct bitcut_order,
                    { .slices = (int)divide_up(k, length), .tile = (int)length });
        }
}

/* Pairwise: neighbours, or short chains of them, as a tree. */
static void add_pairs(struct list *l, size_t k)
{
    for (size_t length = 1; length <= 8; length *= 2)
        if (k <= INT_MAX && k > 2 * length)
            ADD(l, struct bitcut_order,
                { .slices = (int)divide_up(k, length),
                  .tile = (int)length,
                  .reduction = BITCUT_TREE });
}

/* Slices whose last two have half of their common length each, from a loop over panels of
   k that avoids a short one: OpenBLAS, driver/level3/level3.c, where the first half is a
   multiple of the kernel's step, and level3_thread.c, where it is not. */
static void add_halved_slices(struct list *l, size_t k)
{
    static const int halves[] = { 16, 8, 4, 2, 32, 1 }; /* the typical one first */
    enum { PANEL_MAX = 2048 };
    for (size_t length = 64; length < k && length <= PANEL_MAX; length += 16)
        for (size_t i = 0; i < sizeof halves / sizeof *halves && k % length; i++)
            ADD(l, struct bitcut_order,
                { .slices = (int)divide_up(k, length),
                  .tile = (int)length,
                  .balance_tail = halves[i] });
}

bool joins_lanes(int reduction, int lanes)
{
    return reduction == BITCUT_ASCENDING || reduction == BITCUT_TREE ||
           (reduction == BITCUT_HALVES && lanes > 2);
}

/* Lanes, also within slices that are multiples of a chunk of all lanes. */
static void add_lanes(struct list *l, size_t k)
{
    static const int lanes[] = { 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 32 };
    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++)
        for (int turn = 1; turn <= 64 && (size_t)turn < k; turn *= 2)
            for (int slices = 1; slices <= 8 && (slices == 1 || turn * lanes[i] >= 16);
                 slices++)
                for (int r = BITCUT_ASCENDING; r <= BITCUT_HALVES; r++)
                    if (slices == 1 ? joins_lanes(r, lanes[i]) : r == BITCUT_ASCENDING)
                        ADD(l, struct bitcut_order,
                            { .slices = slices,
                              .tile = slices == 1 ? 0 : lanes[i] * turn,
                              .lanes = lanes[i],
                              .chunk = turn,
                              .reduction = r });
}

/* The partial tile first; alone, and with slices of tiles. */
static void add_partial_first(struct list *l, size_t k)
{
    for (int tile = 4; tile <= 256; tile *= 2)
        for (int slices = 1; slices <= 32 && k % (size_t)tile; slices++)
            ADD(l, struct bitcut_order,
                { .slices = slices, .tile = tile, .partial_first = true });
}

/* Slices of equal length in units of 16 bytes, which are no multiples of the tile: the
   partial tile comes first in each, as in loops over tiles. */
static void add_cut_slices(struct list *l, size_t k)
{
    for (int cut = 4; cut <= 8; cut *= 2)
        for (int tile = 8; tile <= 64; tile *= 2)
            for (int slices = 2; slices <= 32; slices++)
                if (divide_up(divide_up(k, (size_t)cut), (size_t)slices) * (size_t)cut %
                    (size_t)tile)
                    ADD(l, struct bitcut_order,
                        { .slices = slices,
                          .cut = cut,
                          .tile = tile,
                          .partial_first = true });
}

/* A few slices of whole tiles, as libraries store them in a workspace. */
static bool is_split_k(const struct bitcut_order *o)
{
    return o->slices > 1 && o->slices <= TYPICAL_SLICES_MAX && o->tile % 16 == 0 &&
           o->reduction == BITCUT_ASCENDING && o->lanes <= 1 && !o->partial_first &&
           !o->cut && !o->balance_tail;
}

/* Sums in the shorter format of D, in which its accumulators are added; or sums of slices
   that are stored in it and added in FP32. */
static void add_short_sums(struct list *l, const struct bitcut_format *format)
{
    const size_t count = l->count;
    for (size_t i = 0; i < count && format != &formats[FORMAT_F32]; i++) {
        struct bitcut_order o = ((const struct bitcut_order *)l->at)[i];
        o.partial_format = format;
        if (o.slices > 1 || o.lanes > 1) list_add(l, &o);
        o.partial_store = true;
        if (is_split_k(&o)) list_add(l, &o);
    }
}

static void add_orders(struct list *l, size_t k, const struct bitcut_format *format)
{
    ADD(l, struct bitcut_order, { 0 });
    add_slices(l, k);
    add_typical_slices(l, k);
    add_pairs(l, k);
    add_halved_slices(l, k);
    add_lanes(l, k);
    add_partial_first(l, k);
    add_cut_slices(l, k);
    add_short_sums(l, format);
}

/* --- faults ----------------------------------------------------------------------- */

/* Much nearer to D than the product without a fault. */
enum { NEARER = 8 };

/* Store the nearest of the faults that change the exact product, as suggestions. */
static void suggest(struct space *s, double misfit[SUGGESTED_MAX], size_t fault,
                    double now)
{
    for (size_t i = 0; i < SUGGESTED_MAX; i++) {
        if (i < s->suggestions && misfit[i] <= now) continue;
        const size_t next = s->suggested[i];
        const double next_misfit = misfit[i];
        const bool more = i < s->suggestions;
        s->suggested[i] = fault, misfit[i] = now;
        if (!more) {
            s->suggestions = i + 1;
            return;
        }
        fault = next, now = next_misfit;
    }
}

static void add_faults(struct list *l, struct space *s, const struct block *b)
{
    double misfit[SUGGESTED_MAX] = { 0 };
    const double none = residual_misfit(s, b, NULL);
    ADD(l, struct kernel_fault_choice, { NULL, 0 });
    for (const struct kernel_fault *d = kernel_fault_next(NULL); d;
         d = kernel_fault_next(d))
        for (int kind = 0; !d->of_residual && kind < (int)(d->kinds ? d->kinds(s) : 1);
             kind++) {
            const struct kernel_fault_choice one = { d, kind };
            const double now = d->exact ? residual_misfit(s, b, &one) : 0;
            if (d->exact && !(NEARER * now < none)) continue;
            if (d->exact) suggest(s, misfit, l->count, now);
            list_add(l, &one);
        }
}

/* --- all -------------------------------------------------------------------------- */

struct space explain_space_of(const struct block *b)
{
    const struct problem *const q = b->q;
    struct space s = { .k = problem_k(q),
                       .products = problem_products(q),
                       .n = problem_n(q),
                       .format = q->format,
                       .recipe = q->recipe,
                       .told = problem_is_told(q) ? &q->told : NULL,
                       .alpha = q->alpha,
                       .beta = q->beta,
                       .zero = { q->zero[0], q->zero[1] },
                       .reads_c = q->c.at != NULL };
    for (size_t i = 0; i < b->rows * b->cols; i++)
        s.negative |= b->d[i] >> 31 && b->d[i] << 1 && !f32_is_nan(b->d[i]);
    s.start = residual_start(&s, b);
    return s;
}

/* The fours of k of a sparse A that have any of these k. */
static struct k_range whole_fours(struct k_range r)
{
    return (struct k_range){ r.first / 4 * 4, divide_up(r.end, 4) * 4 };
}

enum bitcut_status explain_space_make(struct space *to, const struct block *b,
                                      struct fault *f)
{
    struct k_range range[RANGES_MAX];
    const struct problem *const q = b->q;
    const size_t ranges = quick_check_ranges(range, b, q->alpha, q->beta);
    struct list unit = LIST(struct bitcut_unit *), parts = LIST(struct parts_choice),
                order = LIST(struct bitcut_order),
                fault = LIST(struct kernel_fault_choice), lost = LIST(struct k_range);
    struct space s = explain_space_of(b);
    s.ranges = ranges;
    for (size_t i = 0; i < ranges; i++) {
        if (q->a.kept) range[i] = whole_fours(range[i]);
        list_add(&lost, &range[i]);
    }
    s.range = lost.at;
    s.failed = calloc(1, sizeof *s.failed);
    add_units(&unit, q, s.told && has_blocks(s.told));
    add_parts(&parts);
    add_orders(&order, s.products, s.format);
    add_faults(&fault, &s, b);
    s.unit = unit.at, s.units = unit.count;
    s.parts = parts.at, s.parts_count = parts.count;
    s.order = order.at, s.orders = order.count;
    s.fault = fault.at, s.faults = fault.count;
    assert(parts.count <= UINT16_MAX && order.count <= UINT16_MAX &&
           fault.count <= UINT16_MAX); /* struct hypothesis */
    const bool whole = epilogue_choices_make(&s, q);
    if (unit.failed || parts.failed || order.failed || fault.failed || lost.failed ||
        !whole || !s.failed) {
        explain_space_clear(&s);
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the hypotheses");
    }
    *to = s;
    return BITCUT_OK;
}

enum bitcut_status explain_space_add_orders(struct space *s,
                                            const struct bitcut_order *order,
                                            size_t count, struct fault *f)
{
    struct list l = { s->order, s->orders, s->orders, sizeof *s->order, false };
    for (size_t i = 0; i < count && l.count < UINT16_MAX; i++) list_add(&l, &order[i]);
    s->order = l.at;
    if (l.failed)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for more orders");
    s->orders = l.count;
    return BITCUT_OK;
}

bool explain_space_share_orders(struct space *to, const struct space *from)
{
    const size_t had = to->orders;
    return had >= from->orders ||
           explain_space_add_orders(to, from->order + had, from->orders - had, NULL) ==
               BITCUT_OK;
}

enum bitcut_status explain_space_status(const struct space *s, struct fault *f)
{
    return *s->failed
               ? fault_set(f, BITCUT_NO_MEMORY, "not enough memory to try a hypothesis")
               : BITCUT_OK;
}

void explain_space_clear(struct space *s)
{
    free(s->unit);
    free(s->parts);
    free(s->order);
    free(s->epilogue);
    free(s->fault);
    free(s->range);
    free(s->failed);
    *s = (struct space){ 0 };
}
