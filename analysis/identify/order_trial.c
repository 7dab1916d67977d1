/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/order_trial.h"

#include "analysis/identify/order_suggestion.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the outputs ------------------------------------------------------------------ */

static size_t count_open(const struct cover *c, const struct block *b)
{
    size_t count = 0;
    for (size_t i = 0; i < b->rows * b->cols; i++)
        count += is_open(c, b->row[i / b->cols], b->col[i % b->cols]);
    return count;
}

/* Rows and columns of a block at equal distances. */
static enum bitcut_status take_spread(struct block *to, const struct block *b,
                                      size_t rows, size_t outputs, struct fault *f)
{
    size_t row[TRIAL_MAX], col[TRIAL_MAX];
    rows = smaller(rows, b->rows);
    const size_t cols = smaller(outputs / rows, b->cols);
    if (cols * rows < outputs) rows = smaller(outputs / cols, b->rows);
    for (size_t i = 0; i < rows; i++) row[i] = b->row[i * b->rows / rows];
    for (size_t j = 0; j < cols; j++) col[j] = b->col[j * b->cols / cols];
    return block_take(to, b->q, row, rows, col, cols, f);
}

enum { BLOCKS = 2 };

static size_t memories(const struct order_trial *t)
{
    return BLOCKS * (size_t)threads_for(t->c->o->threads, SIZE_MAX);
}

enum bitcut_status order_trial_take(struct order_trial *t, struct cover *c,
                                    const struct block *b, struct fault *f)
{
    enum { FEW = 16 };
    *t = (struct order_trial){ .c = c };
    enum bitcut_status status = take_spread(&t->few, b, 2, FEW, f);
    if (status != BITCUT_OK) return status;
    status = take_spread(&t->all, b, 8, TRIAL_MAX, f);
    if (status != BITCUT_OK) {
        block_clear(&t->few);
        return status;
    }
    t->memory = calloc(memories(t), sizeof *t->memory);
    if (!t->memory) {
        order_trial_clear(t);
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for orders");
    }
    t->open_few = count_open(c, &t->few);
    t->open_all = count_open(c, &t->all);
    return BITCUT_OK;
}

void order_trial_clear(struct order_trial *t)
{
    for (size_t i = 0; t->memory && i < memories(t); i++) candidate_forget(&t->memory[i]);
    free(t->memory);
    block_clear(&t->few);
    block_clear(&t->all);
}

static struct given given_open(const struct order_trial *t, const struct block *b,
                               const struct candidate *x, uint32_t *d)
{
    struct given g = { 0 };
    size_t run = 0;
    struct candidate_memory *const memory =
        &t->memory[BLOCKS * (size_t)threads_number() + (b == &t->all)];
    const struct gemm_options one = { .threads = 1,
                                      .parts = &memory->parts,
                                      .scratch = &memory->scratch };
    if (candidate_run(d, x, &t->c->e->space, b, &one, NULL) != BITCUT_OK) return g;
    for (size_t i = 0; i < b->rows * b->cols; i++) {
        if (!is_open(t->c, b->row[i / b->cols], b->col[i % b->cols])) continue;
        run = d[i] == b->d[i] ? run + 1 : 0;
        g.count += d[i] == b->d[i];
        g.run = run > g.run ? run : g.run;
    }
    return g;
}

/* What one order gives. */
struct outcome {
    size_t few;
    struct given all;
    double work; /* effort.h */
    bool valid;
};

static struct outcome try_one(const struct order_trial *t, struct hypothesis h)
{
    enum { SHARE = 3 };
    struct candidate x;
    uint32_t d[TRIAL_MAX];
    struct outcome r = { .valid = candidate_make(&x, &t->c->e->space, h) };
    if (!r.valid) return r;
    r.few = given_open(t, &t->few, &x, d).count;
    r.work = candidate_work(&x, t->few.rows * t->few.cols, t->few.k);
    if (SHARE * r.few < t->open_few) return r;
    r.work += candidate_work(&x, t->all.rows * t->all.cols, t->all.k);
    r.all = given_open(t, &t->all, &x, d);
    return r;
}

/* The evidence that an order does not give so many outputs by chance, as a logarithm: the
   divergence of their share from that of chance; or the length of a run of outputs, which
   begins at any output. */
static double evidence_of(struct given g, size_t outputs, double chance)
{
    const double all = (double)outputs, share = (double)g.count / all,
                 of_run = (double)g.run * -log(chance) - log(all);
    if (!(share > chance)) return 0;
    return larger_double(
        of_run, all * (share * log(share / chance) +
                       (share < 1 ? (1 - share) * log((1 - share) / (1 - chance)) : 0)));
}

double order_chance(const struct best *b)
{
    const double least = 1.0 / 32, most = 0.5;
    const double share =
        b->few_outputs ? (double)b->few_given / (double)b->few_outputs : most;
    return share < least ? least : share > most ? most : share;
}

/* Try at most PORTION orders of the space on a unit, from number `from` on. */
enum { PORTION = 512 };

static void try_portion(struct best *best, const struct order_trial *t,
                        struct hypothesis unit, size_t from, size_t count)
{
    struct outcome r[PORTION];
#pragma omp parallel for schedule(dynamic, 4)                                            \
    num_threads(threads_for(t->c->o->threads, count))
    for (size_t i = 0; i < count; i++) {
        struct hypothesis h = unit;
        h.at[AXIS_ORDER] = (uint16_t)(from + i);
        r[i] = try_one(t, h);
    }
    for (size_t i = 0; i < count; i++) {
        if (!r[i].valid) continue;
        best->tried++;
        best->few_given += r[i].few;
        best->few_outputs += t->open_few;
        t->c->effort->spent += r[i].work;
        if (r[i].all.count + r[i].all.run <= best->all.count + best->all.run) continue;
        best->all = r[i].all;
        best->rank = best->tried - 1;
        best->h = unit;
        best->h.at[AXIS_ORDER] = (uint16_t)(from + i);
        best->order = t->c->e->space.order[from + i];
    }
}

/* Try the orders [from, from + count) of the space within the effort, which counts
   between portions, so that they are the same for any number of threads. */
static void try_orders(struct best *best, const struct order_trial *t,
                       struct hypothesis unit, size_t from, size_t count)
{
    for (size_t i = 0; i < count && !effort_is_spent(t->c->effort) &&
                       !progress_stopped(t->c->o->progress);
         i += PORTION)
        try_portion(best, t, unit, from + i, smaller(PORTION, count - i));
}

bool is_enough(const struct best *b, const struct order_trial *t, bool most)
{
    const bool whole = b->all.count == t->open_all;
    enum { FEW = 16 };
    const size_t share = most ? 3 * b->all.count : 8 * b->all.count;
    if (most && !whole && t->open_all <= FEW) return false;
    return (whole || share >= 2 * t->open_all) &&
           evidence_of(b->all, t->open_all, order_chance(b)) >
               log((double)b->rank + 1) + (whole ? 0.5 : 3);
}

/* --- lists of orders -------------------------------------------------------------- */

/* Orders that are not in the space. */
static bool try_list(struct best *best, const struct order_trial *t,
                     struct hypothesis unit, const struct bitcut_order *order,
                     size_t count)
{
    struct space *const s = &t->c->e->space;
    const size_t from = s->orders;
    const bool fine = explain_space_add_orders(s, order, count, NULL) == BITCUT_OK;
    if (fine) try_orders(best, t, unit, from, s->orders - from);
    s->orders = from;
    return fine;
}

/* The same on each unit, until an order gives most of the trial. */
static bool try_on_units(struct best *best, const struct order_trial *t,
                         const struct bitcut_order *order, size_t count)
{
    const struct cover *const c = t->c;
    bool fine = true;
    for (size_t u = 0; u < c->units && fine && !is_enough(best, t, true); u++)
        fine = try_list(best, t, c->unit[u], order, count);
    return fine;
}

/* Orders of a list. */
enum { ROOM = 512 };

/* Lanes within slices, alone and then in rounds of a few registers, whose remaining k are
   added to the sum of the lanes, or by lane 0 before. */
static size_t add_lanes(struct bitcut_order *to, struct bitcut_order slices, int chunk,
                        const int *lanes, size_t kinds, size_t room)
{
    enum { TIMES_MAX = 8 };
    size_t count = 0;
    for (int times = 0; times <= TIMES_MAX; times = times ? 2 * times : 1)
        for (size_t i = 0; i < kinds; i++)
            for (int r = BITCUT_ASCENDING; r <= BITCUT_HALVES; r++) {
                struct bitcut_order o = slices;
                if (count + 2 > room || (lanes[i] == 1 && (r || times))) continue;
                o.lanes = lanes[i] > 1 ? lanes[i] : 0;
                o.chunk = o.lanes ? chunk : 0;
                o.unroll = times * chunk * lanes[i];
                o.reduction = (enum bitcut_reduction)r;
                o.slices_ascending = o.slices > 1 && r != BITCUT_ASCENDING;
                o.narrow = 0, o.remainder_in_lane = false;
                if (lanes[i] > 1 && !joins_lanes(r, lanes[i])) continue;
                to[count++] = o;
                o.remainder_in_lane = true;
                if (times) to[count++] = o;
            }
    return count;
}

/* Loops of kernels of processors for rows and columns that fill no vector.  `kernel`: the
   kernel whose loops belong together, 0: no one. */
enum { PRESCOTT = 1 };

static const struct kernel_loop {
    struct bitcut_order order;
    int kernel;
} loops[] = {
    { { .lanes = 0 }, 0 },                                    /* most kernels */
    { { .lanes = 2, .unroll = 8, .remainder_in_lane = true }, /* OpenBLAS, Haswell */
      PRESCOTT },
    { { .lanes = 4, /* OpenBLAS, Prescott */
        .unroll = 8,
        .remainder_in_lane = true,
        .reduction = BITCUT_TREE },
      PRESCOTT },
    { { .lanes = 8, /* OpenBLAS, Prescott: single rows */
        .unroll = 16,
        .remainder_in_lane = true,
        .reduction = BITCUT_TREE,
        .lane_order = { 0, 2, 4, 6, 1, 3, 5, 7 } },
      PRESCOTT },
    { { .lanes = 2, .unroll = 8 }, 0 }, /* Eigen: columns of half a vector */
    { { .lanes = 4, .unroll = 4, .reduction = BITCUT_TREE }, 0 }, /* its single columns */
    { { .lanes = 8, /* Eigen: single rows of a product by a vector */
        .unroll = 8,
        .narrow = 4,
        .narrow_apart = true,
        .reduction = BITCUT_HALVES },
      0 },
    { { .lanes = 16,
        .unroll = 16,
        .narrow = 4,
        .narrow_apart = true,
        .reduction = BITCUT_HALVES },
      0 },
    { { .lanes = 8,
        .unroll = 8,
        .narrow = 2,
        .reduction = BITCUT_HALVES,
        .lane_order = { 0, 1, 4, 5, 2, 3, 6,
                        7 } }, /* Eigen: single columns, vectors of 8 */
      0 },
    { { .lanes = 16,
        .unroll = 16,
        .narrow = 4,
        .reduction = BITCUT_HALVES,
        .lane_order = { 0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15 } },
      0 },
    { { .lanes = 4, /* BLIS: products by a vector */
        .unroll = 4,
        .narrow = 1,
        .narrow_apart = true,
        .reduction = BITCUT_HALVES },
      0 },
    { { .lanes = 8, /* oneDNN: products by a vector */
        .unroll = 16,
        .narrow = 1,
        .narrow_apart = true,
        .reduction = BITCUT_TREE,
        .lane_order = { 0, 1, 4, 5, 2, 3, 6, 7 } },
      0 },
};

enum { LOOPS = sizeof loops / sizeof *loops };

/* Whether an order that was found has so many lanes. */
static bool has_lanes(const struct cover *c, int lanes)
{
    bool has = false;
    for (size_t i = 0; i < c->count; i++)
        has |= c->e->space.order[c->h[i].at[AXIS_ORDER]].lanes == lanes;
    return has;
}

/* Whether an order that was found has as many lanes as a loop of a kernel. */
static bool has_kernel(const struct cover *c, int kernel)
{
    bool has = false;
    for (int i = 0; i < LOOPS; i++)
        has |= kernel && loops[i].kernel == kernel && has_lanes(c, loops[i].order.lanes);
    return has;
}

/* Loops of kernels with as many lanes as an order that was found; the others; or other
   loops of a kernel that has such lanes. */
enum loops_choice { LOOPS_ALIKE, LOOPS_OTHER, LOOPS_OF_KERNEL };

static bool chooses(const struct cover *c, enum loops_choice choice,
                    const struct kernel_loop *l)
{
    const bool alike = has_lanes(c, l->order.lanes);
    return choice == LOOPS_ALIKE   ? alike
           : choice == LOOPS_OTHER ? !alike
                                   : !alike && has_kernel(c, l->kernel);
}

/* Such loops within slices. */
static size_t add_loops(struct bitcut_order *to, const struct cover *c,
                        struct bitcut_order slices, enum loops_choice choice, size_t room)
{
    size_t count = 0;
    for (size_t i = 0; i < LOOPS && count < room; i++) {
        struct bitcut_order o = loops[i].order;
        if (!chooses(c, choice, &loops[i])) continue;
        o.slices = slices.slices, o.tile = slices.tile;
        o.cut = slices.cut, o.balance_tail = slices.balance_tail;
        o.chunk = o.lanes > 0;
        o.slices_ascending = slices.slices > 1 && o.reduction;
        to[count++] = o;
    }
    return count;
}

static bool same_slices(const struct bitcut_order *x, const struct bitcut_order *y)
{
    return x->slices == y->slices && x->tile == y->tile && x->cut == y->cut &&
           x->balance_tail == y->balance_tail;
}

/* The slices of the orders that were found, and no slices. */
static size_t known_slices(struct bitcut_order to[CLASS_ORDERS_MAX + 1],
                           const struct cover *c)
{
    const struct bitcut_order none = { 0 };
    size_t count = 0;
    for (size_t i = 0; i <= c->count; i++) {
        const struct bitcut_order *const of =
            i < c->count ? &c->e->space.order[c->h[i].at[AXIS_ORDER]] : &none;
        struct bitcut_order o = { .slices = of->slices,
                                  .tile = of->tile,
                                  .cut = of->cut,
                                  .balance_tail = of->balance_tail };
        if (o.slices <= 1) o = none;
        size_t before = 0;
        while (before < count && !same_slices(&to[before], &o)) before++;
        if (before == count) to[count++] = o;
    }
    return count;
}

/* Orders like those that were found: first loops of kernels within the same slices, and
   without slices; then as many lanes; then the lanes of vector registers in these
   slices. */
static bool try_alike(struct best *best, const struct order_trial *t)
{
    static const int lanes[] = { 1, 4, 8, 16, 2, 32 };
    struct bitcut_order order[ROOM], known[CLASS_ORDERS_MAX + 1];
    const struct cover *const c = t->c;
    const size_t slicings = known_slices(known, c);
    size_t count = 0;
    bool fine = true;
    for (int choice = LOOPS_ALIKE; choice <= LOOPS_OTHER; choice++)
        for (size_t i = 0; i < slicings; i++)
            count += add_loops(order + count, c, known[i], (enum loops_choice)choice,
                               ROOM - count);
    fine = try_on_units(best, t, order, count);
    count = 0;
    for (size_t i = 0; i < c->count; i++) {
        struct bitcut_order o = c->e->space.order[c->h[i].at[AXIS_ORDER]];
        const int own = o.lanes > 1 ? o.lanes : 1;
        count +=
            add_lanes(order + count, o, o.chunk > 1 ? o.chunk : 1, &own, 1, ROOM - count);
    }
    if (fine) fine = try_on_units(best, t, order, count);
    for (size_t i = 0; i < slicings && fine; i++) {
        count = add_lanes(order, known[i], 1, lanes, sizeof lanes / sizeof *lanes, ROOM);
        fine = try_on_units(best, t, order, count);
    }
    return fine;
}

/* The other loops of the kernel of an order that was found, in its slices, on its unit.
 */
static bool try_kernel(struct best *best, const struct order_trial *t)
{
    struct bitcut_order order[ROOM], known[CLASS_ORDERS_MAX + 1];
    const struct cover *const c = t->c;
    const size_t slicings = known_slices(known, c);
    size_t count = 0;
    for (size_t i = 0; i < slicings; i++)
        if (known[i].slices || slicings == 1)
            count += add_loops(order + count, c, known[i], LOOPS_OF_KERNEL, ROOM - count);
    return !count || try_list(best, t, c->unit[0], order, count);
}

/* The panels of k of libraries, with the divisor of the last but one. */
static const struct bitcut_order panels[] = {
    { .tile = 128, .balance_tail = 8 },  /* OpenBLAS, Prescott */
    { .tile = 512, .balance_tail = 4 },  /* OpenBLAS, Nehalem */
    { .tile = 384, .balance_tail = 16 }, /* OpenBLAS, Sandybridge */
    { .tile = 320, .balance_tail = 8 },  /* OpenBLAS, Haswell and Zen */
    { .tile = 448, .balance_tail = 16 }, /* OpenBLAS, SkylakeX */
    { .tile = 256 },                     /* BLIS */
};

/* Loops of kernels within the panels of libraries, for results that have one of them
   only, so that no order was found yet. */
static bool try_panels(struct best *best, const struct order_trial *t)
{
    struct bitcut_order order[ROOM];
    const size_t k = t->c->e->space.products;
    size_t count = 0;
    for (size_t i = 0; i < sizeof panels / sizeof *panels; i++) {
        struct bitcut_order o = panels[i];
        if (k <= (size_t)o.tile || k > INT_MAX) continue;
        o.slices = (int)divide_up(k, (size_t)o.tile);
        const size_t multiple = (size_t)o.balance_tail,
                     half = multiple ? divide_up(k / 2, multiple) * multiple : 0;
        if (o.slices == 2 && 2 * half >= k) /* simply two slices */
            o = (struct bitcut_order){ .slices = 2, .tile = (int)half };
        for (int choice = LOOPS_ALIKE; choice <= LOOPS_OTHER; choice++)
            count += add_loops(order + count, t->c, o, (enum loops_choice)choice,
                               ROOM - count);
    }
    return try_on_units(best, t, order, count);
}

static bool try_suggested(struct best *best, const struct order_trial *t,
                          const struct block *b)
{
    struct bitcut_order order[SUGGESTED_ORDERS_MAX];
    const struct cover *const c = t->c;
    bool fine = true;
    for (size_t u = 0; u < c->units && fine && !is_enough(best, t, true); u++) {
        struct candidate x;
        if (!candidate_make(&x, &c->e->space, c->unit[u]) || !orders_are_suggested(b, &x))
            continue;
        const size_t count = orders_suggest(order, b, &x, c->o->threads);
        fine = try_list(best, t, c->unit[u], order, count);
    }
    return fine;
}

/* Any number of lanes within the known slices, if the outputs are enough to tell so many
   orders apart, but perhaps too few for rounding errors to suggest any. */
static bool try_any_lanes(struct best *best, const struct order_trial *t)
{
    enum { LANES = 32, KINDS = 16, CHUNK_MAX = 8, OUTPUTS_MIN = 8 };
    const struct cover *const c = t->c;
    struct bitcut_order order[ROOM], known[CLASS_ORDERS_MAX + 1];
    const size_t slicings = known_slices(known, c);
    int lanes[LANES];
    bool fine = true;
    for (int l = 0; l < LANES; l++) lanes[l] = l + 1;
    for (size_t i = 0; i < slicings && t->open_all >= OUTPUTS_MIN; i++)
        for (int chunk = 1; chunk <= CHUNK_MAX; chunk *= 2)
            for (int l = 0; l < LANES && fine; l += KINDS) {
                const size_t count =
                    add_lanes(order, known[i], chunk, lanes + l, KINDS, ROOM);
                fine = try_on_units(best, t, order, count);
            }
    return fine;
}

static void try_space(struct best *best, const struct order_trial *t)
{
    const struct cover *const c = t->c;
    for (size_t u = 0; u < c->units && !is_enough(best, t, true); u++)
        try_orders(best, t, c->unit[u], 0, c->e->space.orders);
}

bool order_trial_run(struct best *best, const struct order_trial *t,
                     const struct block *b)
{
    if (!try_kernel(best, t)) return false;
    if (!is_enough(best, t, true) && !try_alike(best, t)) return false;
    if (!is_enough(best, t, true) && !try_panels(best, t)) return false;
    if (!is_enough(best, t, true) && !try_suggested(best, t, b)) return false;
    if (!is_enough(best, t, true) && !try_any_lanes(best, t)) return false;
    if (!is_enough(best, t, true)) try_space(best, t);
    return true;
}
