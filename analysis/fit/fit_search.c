/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/fit/fit_search.h"

#include "analysis/fit/fit_precision.h"
#include "analysis/fit/fit_prune.h"
#include "lib/base/threads.h"

#include <stdlib.h>

/* Limits for one box of the start: boxes of surviving rows that are stored, and rows that
   are run.  Only outputs with little information exceed them, or a few difficult ones. */
enum { FOUND_MAX = 2048, TRIED_MAX = 1 << 16 };

/* Rows run in one box of the start to find any near row, and the outputs that it may
   miss. */
enum { TRIED_NEAR_MAX = 4096, MISSES_MAX = 8 };

/* The data that all hunts of one search share. */
struct party {
    const struct fit *fit;
    size_t misses; /* 0: find all rows that give every output; otherwise find one row that
                      misses at most this many */
    size_t first;  /* with misses: the first box of the start with such a row */
    struct precision precision[2]; /* by c_last */
    const struct progress *progress;
};

/* The search in one box of the start. */
struct hunt {
    struct party *party;
    size_t place; /* index of the box in the start */
    struct box_list left, found;
    size_t *order; /* order in which outputs are tested */
    size_t tried;
    struct bitcut_unit best; /* of the rows that fail, the one that fails last, */
    size_t given;            /* and the number of outputs tested before */
    bool no_memory, incomplete;
};

/* --- one box ---------------------------------------------------------------------- */

/* Outputs that a row does not give. */
struct wrong {
    const struct observed *at[MISSES_MAX + 1];
    size_t count, given; /* their number; outputs tested before the last of them */
};

/* The outputs that the row does not give, up to one more than it may miss.  An output
   that was not tested early moves to the front: rows of a box are similar. */
static struct wrong find_wrong(struct hunt *h, const struct bitcut_unit *row)
{
    enum { FRONT = 8 };
    const struct fit *fit = h->party->fit;
    struct wrong wrong = { .count = 0 };
    for (size_t i = 0; i < fit->count && wrong.count <= h->party->misses; i++) {
        const size_t at = h->order[i];
        const struct observed *o = &fit->outputs[at];
        if (observed_dot(o, &fit->space, row) == o->d) continue;
        wrong.at[wrong.count++] = o;
        wrong.given = i;
        for (size_t to = i; to > FRONT; to--) {
            h->order[to] = h->order[to - 1];
            h->order[to - 1] = at;
        }
    }
    return wrong;
}

static void note_best(struct hunt *h, const struct bitcut_unit *row, size_t given)
{
    if (given < h->given || h->party->misses) return;
    h->given = given + 1;
    h->best = *row;
}

/* Run a row of the box, and remove all rows for which the result decides the problem as
   well. */
static void settle(struct hunt *h, const struct box *box, const struct bitcut_unit *row)
{
    const struct fit *fit = h->party->fit;
    const struct wrong wrong = find_wrong(h, row);
    const bool survives = wrong.count <= h->party->misses;
    struct box settled = *box, one;
    if (!box_single(&one, &fit->space, row)) return;
    h->tried++;
    if (!survives) note_best(h, row, wrong.given);
    for (size_t i = 0; i < wrong.count && !survives; i++)
        h->no_memory |= !prune(&settled, &fit->space, wrong.at[i], row, &one);
    for (size_t i = 0; i < fit->count && survives && !h->party->misses; i++)
        h->no_memory |= !prune(&settled, &fit->space, &fit->outputs[i], row, &one);
    if (survives) h->no_memory |= !box_list_add(&h->found, &settled);
    h->no_memory |= !box_subtract(&h->left, box, &settled);
}

/* Whether a hunt for any near row is over, in this box or in an earlier one. */
static bool is_enough(const struct hunt *h)
{
    size_t first;
    if (!h->party->misses) return false;
#pragma omp atomic read
    first = h->party->first;
    return h->found.count || first < h->place || h->tried == TRIED_NEAR_MAX;
}

/* Run one row after the other until none remains. */
static void settle_all(struct hunt *h)
{
    const struct party *p = h->party;
    while (h->left.count && !h->no_memory && !progress_stopped(p->progress) &&
           !is_enough(h)) {
        const struct box box = h->left.at[--h->left.count];
        struct bitcut_unit row;
        h->incomplete = h->found.count == FOUND_MAX || h->tried == TRIED_MAX;
        if (h->incomplete) return;
        if (box_row(&row, &p->fit->space, &box)) settle(h, &box, &row);
    }
}

static void report_found(struct hunt *h)
{
    if (!h->party->misses || !h->found.count) return;
#pragma omp critical
    if (h->place < h->party->first) h->party->first = h->place;
}

static void hunt(struct hunt *h, const struct box *start)
{
    const struct fit *fit = h->party->fit;
    struct box box = *start;
    precision_cut(&box, &fit->space, h->party->precision);
    h->order = memory_allocate(fit->count, sizeof *h->order);
    h->no_memory = !h->order || !box_list_add(&h->left, &box);
    for (size_t i = 0; i < fit->count && h->order; i++) h->order[i] = i;
    settle_all(h);
    report_found(h);
    box_list_join(&h->found);
    box_list_clear(&h->left);
    free(h->order);
}

/* --- all boxes -------------------------------------------------------------------- */

/* Boxes are searched independently, so that the number of threads does not matter. */
static void hunt_all(struct hunt *hunts, struct party *party, const struct box_list *from,
                     int threads)
{
    size_t done = 0;
    const struct fit *fit = party->fit;
    (void)threads;
    party->first = from->count;
    for (int c_last = 0; c_last < 2; c_last++)
        party->precision[c_last] =
            precision_of(&fit->space, fit->outputs, fit->count, c_last, party->misses);
#pragma omp parallel for schedule(dynamic) num_threads(threads_for(threads, from->count))
    for (size_t i = 0; i < from->count; i++) {
        hunts[i].party = party;
        hunts[i].place = i;
        hunt(&hunts[i], &from->at[i]);
        size_t now;
#pragma omp atomic capture
        now = ++done;
        if (threads_first()) progress_report(party->progress, now, from->count);
    }
}

/* Add the results of one hunt.  *most is the number of outputs that s->nearest gives
   before its first mismatch. */
static bool collect(struct search *s, size_t *most, const struct hunt *h,
                    const struct fit *fit)
{
    for (size_t i = 0; i < h->found.count; i++) {
        if (!box_list_add(&s->rows, &h->found.at[i])) return false;
        s->report.survivors += (uint64_t)box_rows(&fit->space, &h->found.at[i]);
    }
    s->report.tried += h->tried;
    s->report.complete &= !h->incomplete;
    const size_t given = h->given ? fit_explains(fit, &h->best) : 0;
    if (given > *most) {
        *most = given;
        s->nearest = h->best;
        s->report.near = true;
    }
    return !h->no_memory;
}

/* One search, for rows that give all outputs except `misses`. */
static enum bitcut_status search_once(struct search *s, const struct fit *fit,
                                      size_t misses, const struct box_list *from,
                                      int threads, const struct progress *progress,
                                      struct fault *f)
{
    struct party party = { .fit = fit, .misses = misses, .progress = progress };
    struct search x = { .report = { .size = sizeof x.report,
                                    .complete = true,
                                    .outputs = fit->count } };
    struct hunt *hunts = calloc(from->count + 1, sizeof *hunts);
    bool good = hunts != NULL;
    size_t most = 0;
    if (good) hunt_all(hunts, &party, from, threads);
    for (size_t i = 0; good && i < from->count; i++) {
        good = collect(&x, &most, &hunts[i], fit);
        x.report.space += (uint64_t)box_rows(&fit->space, &from->at[i]);
    }
    for (size_t i = 0; hunts && i < from->count; i++) box_list_clear(&hunts[i].found);
    free(hunts);
    x.report.near &= !x.rows.count;
    enum bitcut_status status = BITCUT_OK;
    if (!good) status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    else if (progress_stopped(progress))
        status = fault_set(f, BITCUT_UNSUPPORTED, "stopped");
    if (status == BITCUT_OK) *s = x;
    else search_clear(&x);
    return status;
}

/* No row gives all outputs: look for a row that misses few. */
static enum bitcut_status find_near(struct search *s, const struct fit *fit,
                                    const struct box_list *from, int threads,
                                    const struct progress *progress, struct fault *f)
{
    for (size_t misses = 1; misses <= MISSES_MAX && misses < fit->count; misses *= 2) {
        struct search x;
        const enum bitcut_status status =
            search_once(&x, fit, misses, from, threads, progress, f);
        if (status != BITCUT_OK) return status;
        const bool found = x.rows.count && box_row(&s->nearest, &fit->space, x.rows.at);
        s->report.near |= found;
        search_clear(&x);
        if (found) break;
    }
    return BITCUT_OK;
}

enum bitcut_status search_run(struct search *s, const struct fit *fit,
                              const struct box_list *from, int threads,
                              const struct progress *progress, struct fault *f)
{
    struct box_list all = { 0 };
    struct search x = { 0 };
    enum bitcut_status status = BITCUT_OK;
    if (!from && !space_frames(&all, &fit->space))
        status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    if (!from) from = &all;
    if (status == BITCUT_OK) status = search_once(&x, fit, 0, from, threads, progress, f);
    if (status == BITCUT_OK && x.report.survivors == 0)
        status = find_near(&x, fit, from, threads, progress, f);
    box_list_join(&x.rows);
    x.report.groups = x.rows.count;
    if (status == BITCUT_OK) *s = x;
    else search_clear(&x);
    box_list_clear(&all);
    return status;
}

void search_clear(struct search *s)
{
    box_list_clear(&s->rows);
    *s = (struct search){ 0 };
}

bool search_has(const struct search *s, const struct fit *fit,
                const struct bitcut_unit *row)
{
    struct box one;
    if (!box_single(&one, &fit->space, row)) return false;
    for (size_t i = 0; i < s->rows.count; i++)
        if (box_holds(&s->rows.at[i], &one)) return true;
    return false;
}
