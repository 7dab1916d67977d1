/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/api/choice_cache.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A GEMM as a caller asked for it, and the work that computes it.  A row without a kernel
   is free. */
struct kept {
    struct bitcut_gemm asked;
    const struct gpu_kernel *kernel;
    struct bitcut_gemm gemm;
    struct gemm_plan plan;
};

enum { SETS = 32, ROWS = 4 };

/* Rows with one hash.  The oldest row is replaced. */
struct set {
    atomic_flag busy;
    unsigned oldest;
    struct kept row[ROWS];
};

struct gpu_chosen {
    struct set set[SETS];
};

struct gpu_chosen *gpu_chosen_make(void)
{
    struct gpu_chosen *const x = calloc(1, sizeof *x);
    for (int i = 0; x && i < SETS; i++) atomic_flag_clear(&x->set[i].busy);
    return x;
}

void gpu_chosen_free(struct gpu_chosen *x) { free(x); }

/* Enter a set.  A thread leaves a set after less than a microsecond, unless it was
   suspended, or lost in a fork(); then other threads choose without the cache.  False:
   the set is busy. */
static bool enter(struct set *s)
{
    enum { TRIES = 256 };
    for (int i = 0; i < TRIES; i++)
        if (!atomic_flag_test_and_set_explicit(&s->busy, memory_order_acquire))
            return true;
    return false;
}

static void leave(struct set *s)
{
    atomic_flag_clear_explicit(&s->busy, memory_order_release);
}

/* --- what is alike ---------------------------------------------------------------- */

static bool same_matrix(const struct bitcut_matrix *x, const struct bitcut_matrix *y)
{
    return x->format == y->format && x->layout == y->layout && x->ld == y->ld &&
           !x->each == !y->each && !x->prepared == !y->prepared;
}

static bool same_order(const struct bitcut_order *x, const struct bitcut_order *y)
{
    return x->slices == y->slices && x->tile == y->tile &&
           x->partial_first == y->partial_first && x->cut == y->cut &&
           x->balance_tail == y->balance_tail && x->lanes == y->lanes &&
           x->chunk == y->chunk && x->reduction == y->reduction &&
           x->partial_format == y->partial_format &&
           x->partial_store == y->partial_store && x->unroll == y->unroll &&
           x->narrow == y->narrow && x->remainder_in_lane == y->remainder_in_lane &&
           x->slices_ascending == y->slices_ascending &&
           x->narrow_apart == y->narrow_apart &&
           !memcmp(x->lane_order, y->lane_order, sizeof x->lane_order);
}

/* Whether both GEMMs have the same configuration. */
static bool same_configuration(const struct bitcut_gemm *x, const struct bitcut_gemm *y)
{
    return x->recipe == y->recipe && x->split_a == y->split_a &&
           x->split_b == y->split_b && x->high == y->high && x->low == y->low &&
           x->sum_rounding == y->sum_rounding && x->scale == y->scale &&
           x->dropped_term == y->dropped_term && x->promote == y->promote &&
           x->tile_k == y->tile_k && x->equilibrate == y->equilibrate &&
           x->any_promotion == y->any_promotion && x->any_slices == y->any_slices &&
           same_order(&x->order, &y->order) && x->unit == y->unit &&
           !x->kernel == !y->kernel && (!x->kernel || !strcmp(x->kernel, y->kernel));
}

static bool same(const struct bitcut_gemm *x, const struct bitcut_gemm *y)
{
    return x->count == y->count && x->m == y->m && x->n == y->n && x->k == y->k &&
           gemm_reads_c(x) == gemm_reads_c(y) && same_matrix(&x->a, &y->a) &&
           same_matrix(&x->b, &y->b) && same_matrix(&x->c, &y->c) &&
           same_matrix(&x->d, &y->d) && same_configuration(x, y);
}

static struct set *set_of(struct gpu_chosen *x, const struct bitcut_gemm *g)
{
    uint64_t h = g->count;
    h = (h * 0x9e3779b97f4a7c15 + g->m) * 0x9e3779b97f4a7c15 + g->n;
    h = (h * 0x9e3779b97f4a7c15 + g->k) * 0x9e3779b97f4a7c15;
    h = (h + g->a.layout + 2 * (uint64_t)g->b.layout) * 0x9e3779b97f4a7c15;
    return &x->set[h >> 32 & (SETS - 1)];
}

/* --- remembering ------------------------------------------------------------------ */

static void move_matrix(struct bitcut_matrix *to, const struct bitcut_matrix *from)
{
    to->at = from->at;
    to->each = from->each;
    to->stride = from->stride;
    to->prepared = from->prepared;
    to->prepared_stride = from->prepared_stride;
}

/* Copy everything that the choice did not depend on. */
static void move(struct bitcut_gemm *to, const struct bitcut_gemm *from)
{
    to->kernel = from->kernel;
    to->alpha = from->alpha;
    to->beta = from->beta;
    move_matrix(&to->a, &from->a);
    move_matrix(&to->b, &from->b);
    move_matrix(&to->c, &from->c);
    move_matrix(&to->d, &from->d);
}

static bool look_up(struct gpu_work *to, struct gpu_chosen *x,
                    const struct bitcut_gemm *g)
{
    struct set *const s = set_of(x, g);
    const struct kept *found = NULL;
    if (!enter(s)) return false;
    for (int i = 0; i < ROWS && !found; i++)
        if (s->row[i].kernel && same(&s->row[i].asked, g)) found = &s->row[i];
    if (found) {
        to->kernel = found->kernel;
        to->gemm = found->gemm;
        to->plan = found->plan;
    }
    leave(s);
    if (found) move(&to->gemm, g);
    return found;
}

static void keep(struct gpu_chosen *x, const struct bitcut_gemm *g,
                 const struct gpu_work *w)
{
    struct set *const s = set_of(x, g);
    if (!enter(s)) return;
    struct kept *const row = &s->row[s->oldest];
    s->oldest = (s->oldest + 1) % ROWS;
    *row = (struct kept){ *g, w->kernel, w->gemm, w->plan };
    if (g->kernel) row->asked.kernel = w->kernel->name; /* not the caller's string */
    leave(s);
}

enum bitcut_status gpu_work_recall(struct gpu_work *to, struct gpu_chosen *x,
                                   const struct gpu *gpu, const struct gpu_device *device,
                                   const struct bitcut_gemm *gemm, struct fault *f)
{
    struct bitcut_gemm g;
    enum bitcut_status status = gemm_take_plain(&g, gemm, "a device", f);
    if (status != BITCUT_OK || look_up(to, x, &g)) return status;
    status = gpu_work_choose(to, gpu, device, &g, f);
    if (status == BITCUT_OK && !gpu_work_emulates(to)) keep(x, &g, to);
    return status;
}
