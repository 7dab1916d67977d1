#include "analysis/fit_search.h"

#include "analysis/fit_precision.h"
#include "analysis/fit_prune.h"
#include "lib/threads.h"

#include <stdlib.h>
#include <string.h>

/* For one box of the start: boxes of rows that survive that are kept, and rows that are
   run.  Only outputs that say next to nothing leave more, or few that are hard. */
enum { FOUND_MOST = 2048, TRIED_MOST = 1 << 16 };

/* Rows run in one box of the start to find any near row. */
enum { TRIES_MOST = 4096 };

/* What all hunts of one search share. */
struct party {
    const struct fit *fit;
    size_t outputs;        /* how many of the fit's are to be explained             */
    bool any;              /* whether one row that does is enough                   */
    size_t misses;         /* any: how many outputs it need not give                */
    size_t tries;          /* any: how many rows a hunt runs at most                */
    size_t first;          /* any: the first box of the start in which there is one */
    struct bound bound[2]; /* by c_last                                             */
    const struct progress *progress;
};

/* The search in one box of the start. */
struct hunt {
    struct party *party;
    size_t place; /* of its box in the start */
    struct box_list left, found;
    struct bitcut_unit row; /* the first row that survived                             */
    size_t tried;
    size_t *order;     /* in which outputs are tested                                   */
    struct box *known; /* of each output, rows that give it; NULL: none are known yet   */
    bool no_memory, incomplete;
};

/* --- one box ---------------------------------------------------------------------- */

enum { MISSES_MOST = 8 };

/* Outputs that a row does not give. */
struct wrong {
    const struct observed *at[MISSES_MOST + 1];
    size_t count;
};

/* Outputs that the row, alone in box `one`, does not give, up to one more than it may
   miss.  One that was not tested early is moved to the front: rows of a box are much
   alike. */
static struct wrong find_wrong(struct hunt *h, const struct bitcut_unit *row,
                               const struct box *one)
{
    enum { FRONT = 8 };
    const struct fit *fit = h->party->fit;
    struct wrong wrong = { .count = 0 };
    for (size_t i = 0; i < h->party->outputs && wrong.count <= h->party->misses; i++) {
        const size_t at = h->order[i];
        const struct observed *o = &fit->outputs[at];
        if (h->known && box_holds(&h->known[at], one)) continue;
        if (observed_dot(o, &fit->space, row) == o->d) continue;
        wrong.at[wrong.count++] = o;
        for (size_t to = i; to > FRONT; to--) {
            h->order[to] = h->order[to - 1];
            h->order[to - 1] = at;
        }
    }
    return wrong;
}

/* Cut the box down to rows that give all outputs, as the row does. */
static void cut_to_survivors(struct box *box, struct hunt *h,
                             const struct bitcut_unit *row, const struct box *one)
{
    const struct fit *fit = h->party->fit;
    const struct box whole = *box;
    if (!h->known) h->known = calloc(h->party->outputs, sizeof *h->known);
    if (!h->known) h->no_memory = true;
    for (size_t i = 0; i < h->party->outputs && h->known; i++) {
        if (!box_holds(&h->known[i], one)) {
            h->known[i] = whole;
            prune_same(&h->known[i], &fit->space, &fit->outputs[i], row);
        }
        box_intersect(box, &h->known[i]);
    }
}

/* Run a row of the box and settle all rows for which that answers the question; the
   others are left. */
static void settle(struct hunt *h, const struct box *box, const struct bitcut_unit *row)
{
    const struct space *space = &h->party->fit->space;
    struct box settled = *box, one;
    if (!box_single(&one, space, row)) return;
    const struct wrong wrong = find_wrong(h, row, &one);
    h->tried++;
    if (wrong.count > h->party->misses) {
        for (size_t i = 0; i < wrong.count; i++)
            prune_wrong(&settled, space, wrong.at[i], row);
    } else {
        if (h->found.count == 0) h->row = *row;
        if (h->party->any) settled = one;
        else cut_to_survivors(&settled, h, row, &one);
        h->no_memory |= !box_list_add(&h->found, &settled);
    }
    h->no_memory |= !box_subtract(&h->left, box, &settled);
}

/* Whether a hunt for any row that survives is over, here or in an earlier box. */
static bool is_enough(const struct hunt *h)
{
    size_t first;
    if (!h->party->any) return false;
#pragma omp atomic read
    first = h->party->first;
    return h->found.count || first < h->place || h->tried == h->party->tries;
}

/* One row after another, while any are left. */
static void settle_all(struct hunt *h)
{
    const struct party *p = h->party;
    while (h->left.count && !h->no_memory && !progress_stopped(p->progress) &&
           !is_enough(h)) {
        const struct box box = h->left.at[--h->left.count];
        struct bitcut_unit row;
        h->incomplete = h->found.count == FOUND_MOST || h->tried == TRIED_MOST;
        if (h->incomplete) return;
        if (box_row(&row, &p->fit->space, &box)) settle(h, &box, &row);
    }
}

static void report_found(struct hunt *h)
{
    if (!h->party->any || !h->found.count) return;
#pragma omp critical
    if (h->place < h->party->first) h->party->first = h->place;
}

static void hunt(struct hunt *h, const struct box *start)
{
    const struct party *p = h->party;
    struct box box = *start;
    struct bitcut_unit row;
    if (!box_row(&row, &p->fit->space, &box)) return;
    bound_cut(&box, &p->fit->space, &p->bound[row.c_last]);
    h->order = memory_allocate(p->outputs, sizeof *h->order);
    h->no_memory = !h->order || !box_list_add(&h->left, &box);
    for (size_t i = 0; i < p->outputs && h->order; i++) h->order[i] = i;
    settle_all(h);
    report_found(h);
    h->no_memory |= !box_list_join(&h->found);
    box_list_clear(&h->left);
    free(h->order);
    free(h->known);
}

/* --- all boxes -------------------------------------------------------------------- */

/* Each box by itself, so that threads do not matter. */
static void hunt_all(struct hunt *hunts, struct party *party, const struct box_list *from,
                     int threads)
{
    size_t done = 0;
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

static bool collect(struct search *s, const struct hunt *h, const struct space *space)
{
    for (size_t i = 0; i < h->found.count; i++) {
        if (!box_list_add(&s->rows, &h->found.at[i])) return false;
        s->survivors += box_rows(space, &h->found.at[i]);
    }
    s->tried += h->tried;
    s->complete &= !h->incomplete;
    return !h->no_memory;
}

/* One search; with party->any, only s->nearest is of use, if anything survives. */
static enum bitcut_status search_once(struct search *s, struct party *party,
                                      const struct box_list *from, int threads,
                                      struct fault *f)
{
    const struct fit *fit = party->fit;
    struct search x = { .complete = true };
    struct hunt *hunts = calloc(from->count + 1, sizeof *hunts);
    bool good = hunts != NULL;
    party->first = from->count;
    for (int c_last = 0; c_last < 2; c_last++)
        party->bound[c_last] =
            bound_of(&fit->space, fit->outputs, party->outputs, c_last, party->misses);
    if (good) hunt_all(hunts, party, from, threads);
    for (size_t i = 0; good && i < from->count; i++) {
        good = collect(&x, &hunts[i], &fit->space);
        x.space += box_rows(&fit->space, &from->at[i]);
    }
    if (good && party->first < from->count) x.nearest = hunts[party->first].row;
    for (size_t i = 0; hunts && i < from->count; i++) box_list_clear(&hunts[i].found);
    free(hunts);
    good = good && (party->any || box_list_join(&x.rows));
    enum bitcut_status status = BITCUT_OK;
    if (!good) status = fault_set(f, BITCUT_NO_MEMORY, "no memory");
    else if (progress_stopped(party->progress))
        status = fault_set(f, BITCUT_CANNOT, "stopped");
    if (status == BITCUT_OK) *s = x;
    else search_clear(&x);
    return status;
}

/* Whether some row gives the first `outputs` but `misses`, as far as a short search
   tells; then it is s->nearest. */
static enum bitcut_status find_any(bool *found, struct search *s, struct party *party,
                                   size_t outputs, size_t misses,
                                   const struct box_list *from, int threads,
                                   struct fault *f)
{
    struct search x;
    party->any = true;
    party->tries = TRIES_MOST;
    party->outputs = outputs;
    party->misses = misses;
    const enum bitcut_status status = search_once(&x, party, from, threads, f);
    if (status != BITCUT_OK) return status;
    *found = party->first < from->count;
    if (*found) s->nearest = x.nearest;
    s->near |= *found;
    search_clear(&x);
    return BITCUT_OK;
}

/* No row gives all outputs: find one that misses few; or if there is none, one that gives
   most of the first outputs. */
static enum bitcut_status find_nearest(struct search *s, const struct party *whole,
                                       const struct box_list *from, int threads,
                                       struct fault *f)
{
    struct party party = *whole;
    const size_t count = whole->outputs;
    enum bitcut_status status = BITCUT_OK;
    for (size_t n = 1; n <= MISSES_MOST && n < count && status == BITCUT_OK; n *= 2) {
        bool found;
        status = find_any(&found, s, &party, count, n, from, threads, f);
        if (status == BITCUT_OK && found) return status;
    }
    size_t least = 0, most = count; /* some row gives `least`, none gives `most` */
    while (most - least > 1 && status == BITCUT_OK) {
        const size_t n =
            2 * least + 1 < most ? 2 * least + 1 : least + (most - least) / 2;
        bool found;
        status = find_any(&found, s, &party, n, 0, from, threads, f);
        if (status != BITCUT_OK) break;
        if (found) least = fit_explains(party.fit, &s->nearest);
        else most = n;
    }
    return status;
}

enum bitcut_status search_run(struct search *s, const struct fit *fit,
                              const struct box_list *from, int threads,
                              const struct progress *progress, struct fault *f)
{
    struct box_list all = { 0 };
    struct search x;
    struct party party = { .fit = fit, .outputs = fit->count, .progress = progress };
    enum bitcut_status status = BITCUT_OK;
    if (!from && !space_boxes(&all, &fit->space))
        status = fault_set(f, BITCUT_NO_MEMORY, "no memory");
    if (!from) from = &all;
    if (status == BITCUT_OK) status = search_once(&x, &party, from, threads, f);
    if (status == BITCUT_OK && x.survivors == 0) {
        status = find_nearest(&x, &party, from, threads, f);
        if (status != BITCUT_OK) search_clear(&x);
    }
    if (status == BITCUT_OK) *s = x;
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
