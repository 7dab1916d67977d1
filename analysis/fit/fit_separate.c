/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/fit/fit_separate.h"

#include "analysis/evidence/set.h"
#include "analysis/fit/fit_prune.h"
#include "lib/base/threads.h"

#include <stdlib.h>
#include <string.h>

/* A survivor. */
struct survivor {
    struct bitcut_unit row;
    struct box one,
        frame;    /* the row alone; all rows with the same sum and the same reading */
    size_t group; /* survivors that no case distinguishes have the same number */
    bool alone;   /* its group has no other row */
};

/* The survivors, and how the cases so far distinguish them. */
struct crowd {
    const struct fit *fit;
    struct survivor *at;
    size_t count, groups, open; /* groups of more than one survivor are open */
};

/* --- which rows ------------------------------------------------------------------- */

/* The box with one of the orders that are equivalent in all of its rows; with all of
   them, if its rows differ in what they sum. */
static struct box distinct_orders(const struct space *s, const struct box *box)
{
    struct box to = *box;
    struct bitcut_unit row;
    const uint64_t sums = box->set[FIELD_SUM], blocks = box->set[FIELD_BLOCK];
    if (sums & (sums - 1) || blocks & (blocks - 1)) return to;
    for (uint64_t set = box->set[FIELD_ORDER]; set; set &= set - 1) {
        struct box one = *box;
        one.set[FIELD_ORDER] &= to.set[FIELD_ORDER] & set & -set;
        if (box_row(&row, s, &one) && field_used(&fields[FIELD_ORDER], &row))
            to.set[FIELD_ORDER] &= ~space_orders(s, &row) | (set & -set);
    }
    return to;
}

static void add_row(struct crowd *c, const struct box *one)
{
    const struct space *s = &c->fit->space;
    struct survivor *to = &c->at[c->count];
    if (!box_row(&to->row, s, one) || !unit_sound(&to->row)) return;
    if (!box_single(&to->one, s, &to->row)) return;
    for (size_t i = 0; i < c->count; i++)
        if (!memcmp(&c->at[i].one, &to->one, sizeof to->one)) return;
    to->frame = space_frame(s, &to->row);
    to->group = 0;
    to->alone = false;
    c->count++;
}

static void add_all(struct crowd *c, const struct box *box)
{
    struct box one = box_first(box);
    do add_row(c, &one);
    while (c->count < SEPARATE_ROWS_MAX && box_next(&one, box));
}

static uint64_t random_bit(uint64_t set, struct rng *rng)
{
    for (uint64_t n = rng_bits(rng) % (uint64_t)__builtin_popcountll(set); n > 0; n--)
        set &= set - 1;
    return set & -set;
}

static void add_random(struct crowd *c, const struct box *box, struct rng *rng)
{
    struct box one;
    for (int f = 0; f < FIELD_COUNT; f++) one.set[f] = random_bit(box->set[f], rng);
    add_row(c, &one);
}

/* All survivors, or, if there are too many, the same number of random rows from each box.
 */
static void gather(struct crowd *c, const struct search *found, struct rng *rng)
{
    enum { TRIES = 4 * SEPARATE_ROWS_MAX };
    const struct space *s = &c->fit->space;
    const struct box_list *boxes = &found->rows;
    double rows = 0;
    for (size_t i = 0; i < boxes->count; i++) {
        const struct box box = distinct_orders(s, &boxes->at[i]);
        rows += box_rows(s, &box);
    }
    const size_t tries = rows <= SEPARATE_ROWS_MAX ? boxes->count : TRIES;
    for (size_t i = 0; i < tries && c->count < SEPARATE_ROWS_MAX; i++) {
        const struct box box = distinct_orders(s, &boxes->at[i % boxes->count]);
        if (tries == TRIES) add_random(c, &box, rng);
        else add_all(c, &box);
    }
    c->groups = 1;
    c->open = c->count > 1;
}

/* --- which cases ------------------------------------------------------------------ */

/* The output and the group of a row that is not alone in its group, for sorting. */
struct outcome {
    size_t group;
    uint64_t d;
    size_t index;
};

static bool same_group(const struct outcome *x, const struct outcome *y)
{
    return x->group == y->group && x->d == y->d;
}

static int compare(const void *left, const void *right)
{
    const struct outcome *x = left, *y = right;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->d != y->d) return x->d < y->d ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Set the output of out[0], and of those among out[1] to out[n-1] that have the same
   output by the analysis of its row; these move to the front.  Returns their total
   number. */
static size_t run_first(struct outcome *out, size_t n, const struct crowd *c,
                        struct observed *o)
{
    const struct space *s = &c->fit->space;
    const struct survivor *row = &c->at[out[0].index];
    struct box same = row->frame;
    size_t done = 1;
    out[0].d = o->d = observed_dot(o, s, &row->row);
    if (!prune(&same, s, o, &row->row, &row->one))
        return done; /* others are run as well */
    for (size_t i = 1; i < n; i++) {
        if (!box_holds(&same, &c->at[out[i].index].one)) continue;
        const struct outcome swap = out[i];
        out[i] = out[done];
        out[done] = swap;
        out[done++].d = o->d;
    }
    return done;
}

/* The outcomes of a sample, sorted.  Returns their number, 0 if memory runs out. */
static size_t run_all(struct outcome out[SEPARATE_ROWS_MAX], const struct crowd *c,
                      const struct sample *sample)
{
    struct observed o;
    size_t n = 0;
    if (!observed_init(&o, &c->fit->space, sample, 0)) return 0;
    for (size_t i = 0; i < c->count; i++)
        if (!c->at[i].alone) out[n++] = (struct outcome){ c->at[i].group, 0, i };
    for (size_t done = 0; done < n;) done += run_first(out + done, n - done, c, &o);
    observed_clear(&o);
    qsort(out, n, sizeof *out, compare);
    return n;
}

/* The number of groups into which the open ones are split; 0 if memory runs out. */
static size_t count_groups(const struct crowd *c, const struct sample *sample)
{
    struct outcome *const out = memory_allocate(SEPARATE_ROWS_MAX, sizeof *out);
    const size_t n = out ? run_all(out, c, sample) : 0;
    size_t groups = n > 0;
    for (size_t i = 1; i < n; i++) groups += !same_group(&out[i], &out[i - 1]);
    free(out);
    return groups;
}

/* Split the groups by the outcomes of the sample.  Returns false if memory runs out. */
static bool split(struct crowd *c, const struct sample *sample)
{
    struct outcome *const out = memory_allocate(SEPARATE_ROWS_MAX, sizeof *out);
    const size_t n = out ? run_all(out, c, sample) : 0;
    size_t group = 0;
    c->open = 0;
    for (size_t i = 0; i < n; i++) {
        const bool starts = i == 0 || !same_group(&out[i], &out[i - 1]);
        const bool ends = i + 1 == n || !same_group(&out[i], &out[i + 1]);
        if (i == 0 || out[i].group != out[i - 1].group) group = out[i].group;
        else if (starts) group = c->groups++;
        c->at[out[i].index].group = group;
        c->at[out[i].index].alone = starts && ends;
        c->open += ends && !starts;
    }
    free(out);
    return n > 0;
}

/* Samples drawn at a time; number of rounds without progress before the search ends. */
enum { ROUND = 64, ROUNDS_MAX = 64 };

/* The samples of one round, and the number of groups into which each would split the open
   ones. */
struct round {
    struct sample sample[ROUND];
    size_t groups[ROUND];
};

/* A random sample for a random row, of the class after `class`. */
static void draw(struct sample *to, const struct crowd *c, size_t class, struct rng *rng)
{
    size_t classes = 0, i = rng_bits(rng) % c->count;
    while (sample_classes[classes].name) classes++;
    const struct sample_class *of = &sample_classes[class % classes];
    if (of->scaled && !c->fit->space.base.scale) of = sample_classes;
    while (c->at[i].alone) i = (i + 1) % c->count;
    memset(to, 0, sizeof *to);
    of->fill(to, &c->at[i].row, rng);
}

/* The sample of the round that splits most; NULL if memory ran out. */
static const struct sample *run_round(struct round *r, const struct crowd *c,
                                      uint64_t seed, size_t number, size_t *groups,
                                      int threads)
{
    size_t best = 0;
    (void)threads;
#pragma omp parallel for schedule(dynamic) num_threads(threads_for(threads, ROUND))
    for (size_t i = 0; i < ROUND; i++) {
        struct rng rng = rng_start(seed, number * ROUND + i + 1);
        draw(&r->sample[i], c, number * ROUND + i, &rng);
        r->groups[i] = count_groups(c, &r->sample[i]);
    }
    for (size_t i = 0; i < ROUND; i++) {
        if (!r->groups[i]) return NULL;
        if (r->groups[i] > r->groups[best]) best = i;
    }
    *groups = r->groups[best];
    return &r->sample[best];
}

static enum bitcut_status find_cases(struct separation *s, struct crowd *c,
                                     struct round *r, size_t most, uint64_t seed,
                                     int threads, const struct progress *progress,
                                     struct fault *f)
{
    int idle = 0;
    for (size_t number = 0; idle < ROUNDS_MAX && s->count < most && c->open; number++) {
        size_t groups;
        const struct sample *best = run_round(r, c, seed, number, &groups, threads);
        if (!best) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
        if (progress_stopped(progress))
            return fault_set(f, BITCUT_UNSUPPORTED, "stopped");
        progress_report(progress, s->count, most);
        idle = groups > c->open ? 0 : idle + 1;
        if (idle) continue;
        if (!split(c, best)) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
        s->cases[s->count++] = *best;
    }
    return BITCUT_OK;
}

/* --- the result ------------------------------------------------------------------- */

/* The groups that the cases do not distinguish. */
static void summarize(struct separation *s, const struct crowd *c)
{
    s->rows = c->count;
    s->groups = c->groups;
    for (size_t i = 0; i < c->count && c->open; i++) {
        const struct survivor *x = &c->at[i];
        s->left += !x->alone;
        for (size_t j = 0; j < i && !x->alone; j++)
            for (int field = 0; field < FIELD_COUNT && c->at[j].group == x->group;
                 field++)
                s->differ[field] |= c->at[j].one.set[field] != x->one.set[field];
    }
}

enum bitcut_status separate_run(struct separation *s, const struct fit *fit,
                                const struct search *found, size_t most, uint64_t seed,
                                int threads, const struct progress *progress,
                                struct fault *f)
{
    struct separation x = { .cases = memory_allocate(most, sizeof *x.cases) };
    struct crowd c = { .fit = fit };
    struct rng rng = rng_start(seed, 0);
    struct round *r = calloc(1, sizeof *r);
    enum bitcut_status status = BITCUT_OK;
    c.at = memory_allocate(SEPARATE_ROWS_MAX + 1, sizeof *c.at);
    if (x.cases && c.at && r) {
        gather(&c, found, &rng);
        status = find_cases(&x, &c, r, most, seed, threads, progress, f);
        summarize(&x, &c);
    } else {
        status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    }
    free(r);
    free(c.at);
    if (status == BITCUT_OK) *s = x;
    else separation_clear(&x);
    return status;
}

void separation_clear(struct separation *s)
{
    free(s->cases);
    *s = (struct separation){ 0 };
}

/* --- as a set --------------------------------------------------------------------- */

static bool describe(json_t *meta, const struct bitcut_unit *u)
{
    int bad = json_object_set_new(meta, "a", json_string(u->a->name)) |
              json_object_set_new(meta, "b", json_string(u->b->name)) |
              json_object_set_new(meta, "c", json_string(u->c->name)) |
              json_object_set_new(meta, "origin",
                                  json_string("inputs on which rows differ that explain "
                                              "the recorded outputs"));
    if (u->scale)
        bad |= json_object_set_new(meta, "scale", json_string(u->scale->name)) |
               json_object_set_new(meta, "scale_block", json_integer(u->scale_block));
    return !bad;
}

enum bitcut_status separation_write(const char *folder, const struct separation *s,
                                    const struct bitcut_unit *u, struct fault *f)
{
    const struct fragment_shape shape = { s->count, 1, 1, (size_t)u->k };
    struct set set;
    enum bitcut_status status = set_init(&set, u, shape, false, f);
    if (status != BITCUT_OK) return status;
    const struct sample_arrays to = { &set.a, &set.b, &set.c, &set.scale_a,
                                      &set.scale_b };
    for (size_t i = 0; i < s->count; i++) sample_store(&to, u, i, &s->cases[i]);
    status = describe(set.meta, u) ? set_write(folder, &set, f)
                                   : fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    set_clear(&set);
    return status;
}
