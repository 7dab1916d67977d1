#include "analysis/separate.h"

#include "analysis/reads.h"
#include "lib/threads.h"

#include <stdlib.h>
#include <string.h>

/* A survivor. */
struct survivor {
    struct bitcut_unit row;
    struct box one;  /* the row alone                                            */
    size_t group;    /* survivors that no case tells apart have the same number  */
    bool alone;      /* no other is in its group                                 */
};

/* The survivors and what tells them apart so far. */
struct crowd {
    const struct fit *fit;
    struct survivor *at;
    size_t count, groups;
};

/* --- which rows ------------------------------------------------------------------- */

/* The box with one of the orders that are the same to all of its rows; all of them, if its
   rows differ in what they sum. */
static struct box distinct_orders(const struct space *s, const struct box *box)
{
    struct box to = *box;
    struct bitcut_unit row;
    for (int i = 0; i < s->count[FIELD_ORDER]; i++) {
        struct box one = to;
        one.set[FIELD_ORDER] &= UINT64_C(1) << i;
        if (!box_row(&row, s, &one) || !field_used(&fields[FIELD_ORDER], &row)) continue;
        to.set[FIELD_ORDER] &= ~space_orders(s, &row) | UINT64_C(1) << i;
    }
    const uint64_t sums = box->set[FIELD_SUM], blocks = box->set[FIELD_BLOCK];
    return sums & (sums - 1) || blocks & (blocks - 1) ? *box : to;
}

static void add_row(struct crowd *c, const struct box *one)
{
    const struct space *s = &c->fit->space;
    struct survivor *to = &c->at[c->count];
    if (!box_row(&to->row, s, one) || !unit_sound(&to->row)) return;
    if (!box_single(&to->one, s, &to->row)) return;
    for (size_t i = 0; i < c->count; i++)
        if (!memcmp(&c->at[i].one, &to->one, sizeof to->one)) return;
    to->group = 0;
    to->alone = false;
    c->count++;
}

/* Move `one` to the next row of the box; false at the end. */
static bool next_row(struct box *one, const struct box *box)
{
    for (int f = 0; f < FIELD_COUNT; f++) {
        const uint64_t above = box->set[f] & ~(one->set[f] | (one->set[f] - 1));
        one->set[f] = above ? above & -above : box->set[f] & -box->set[f];
        if (above) return true;
    }
    return false;
}

static void add_all(struct crowd *c, const struct box *box)
{
    struct box one;
    for (int f = 0; f < FIELD_COUNT; f++) one.set[f] = box->set[f] & -box->set[f];
    do add_row(c, &one);
    while (c->count < SEPARATE_ROWS_MOST && next_row(&one, box));
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

/* All survivors, or if they are too many, as many of each box at random. */
static void gather(struct crowd *c, const struct search *found, struct rng *rng)
{
    enum { TRIES = 4 * SEPARATE_ROWS_MOST };
    const struct space *s = &c->fit->space;
    const struct box_list *boxes = &found->rows;
    double rows = 0;
    for (size_t i = 0; i < boxes->count; i++) {
        const struct box box = distinct_orders(s, &boxes->at[i]);
        rows += box_rows(s, &box);
    }
    const size_t tries = rows <= SEPARATE_ROWS_MOST ? boxes->count : TRIES;
    for (size_t i = 0; i < tries && c->count < SEPARATE_ROWS_MOST; i++) {
        const struct box box = distinct_orders(s, &boxes->at[i % boxes->count]);
        if (tries == TRIES) add_random(c, &box, rng);
        else add_all(c, &box);
    }
}

/* --- which cases ------------------------------------------------------------------ */

/* What a row's output and group are, to be sorted. */
struct outcome {
    size_t group;
    uint64_t d;
    size_t index;
};

static int compare(const void *left, const void *right)
{
    const struct outcome *x = left, *y = right;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->d != y->d) return x->d < y->d ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* All rows that sum and read alike, as reads_same() wants them: those with the row's
   framing fields. */
static struct box frame_of(const struct space *s, const struct survivor *of)
{
    static const int framing[] = { FIELD_SUM,      FIELD_BLOCK,  FIELD_GROUP,
                                   FIELD_NAN_RULE, FIELD_C_LAST, FIELD_ORDER };
    struct box box;
    for (int f = 0; f < FIELD_COUNT; f++)
        box.set[f] = s->count[f] >= 64 ? UINT64_MAX : (UINT64_C(1) << s->count[f]) - 1;
    for (size_t i = 0; i < sizeof framing / sizeof framing[0]; i++)
        box.set[framing[i]] = of->one.set[framing[i]];
    const uint64_t exact = UINT64_C(1) << space_find(s, FIELD_FRACTION, FRACTION_EXACT);
    if (of->row.fraction == FRACTION_EXACT) box.set[FIELD_FRACTION] = exact;
    else box.set[FIELD_FRACTION] &= ~exact;
    return box;
}

/* The outputs of all rows that are not alone, in out[0..returned); rows of which another
   says that they read the same are not run. */
static size_t run_all(struct outcome *out, const struct crowd *c, const struct observed *o)
{
    const struct space *s = &c->fit->space;
    size_t n = 0;
    for (size_t i = 0; i < c->count; i++)
        if (!c->at[i].alone) out[n++] = (struct outcome){ c->at[i].group, 0, i };
    for (size_t first = 0; first < n;) {
        const struct survivor *row = &c->at[out[first].index];
        const uint64_t d = observed_dot(o, s, &row->row);
        struct box same = frame_of(s, row);
        reads_same(&same, s, o, &row->row);
        out[first++].d = d;
        for (size_t i = first; i < n; i++) {
            if (!box_holds(&same, &c->at[out[i].index].one)) continue;
            const struct outcome swap = out[i];
            out[i] = out[first];
            out[first] = swap;
            out[first++].d = d;
        }
    }
    return n;
}

/* How many groups the sorted outcomes are in. */
static size_t count_groups(const struct outcome *out, size_t n)
{
    size_t groups = n > 0;
    for (size_t i = 1; i < n; i++)
        groups += out[i].group != out[i - 1].group || out[i].d != out[i - 1].d;
    return groups;
}

/* Outcomes of the sample, sorted; *n of them.  False if there is no memory. */
static bool outcomes_of(struct outcome *out, size_t *n, const struct crowd *c,
                        const struct sample *sample)
{
    struct observed o;
    if (!observed_init(&o, &c->fit->space, sample, 0)) return false;
    *n = run_all(out, c, &o);
    observed_clear(&o);
    qsort(out, *n, sizeof *out, compare);
    return true;
}

/* A random sample for a random row that is not alone, of the class after `class`. */
static void draw(struct sample *to, const struct crowd *c, size_t class, struct rng *rng)
{
    size_t classes = 0, i = rng_bits(rng) % c->count;
    while (sample_classes[classes].name) classes++;
    while (c->at[i].alone) i = (i + 1) % c->count;
    const struct sample_class *of = &sample_classes[class % classes];
    if (of->scaled && !c->fit->space.base.scale) of = sample_classes;
    memset(to, 0, sizeof *to);
    of->fill(to, &c->at[i].row, rng);
}

/* Split the groups by the sorted outcomes of a case. */
static void split(struct crowd *c, const struct outcome *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const bool starts = i == 0 || out[i].group != out[i - 1].group;
        const bool parts = !starts && out[i].d != out[i - 1].d;
        const bool last = i + 1 == n || out[i + 1].group != out[i].group ||
                          out[i + 1].d != out[i].d;
        struct survivor *s = &c->at[out[i].index];
        s->alone = (starts || parts) && last;
        if (starts) s->group = out[i].group;
        else if (parts) s->group = c->groups++;
        else s->group = c->at[out[i - 1].index].group;
    }
}

/* Samples drawn at a time; how often in a row with nothing new before it is given up. */
enum { ROUND = 64, ROUNDS_MOST = 64 };

/* Work on rounds: the samples of one and their outcomes. */
struct round {
    struct sample sample[ROUND];
    size_t groups[ROUND], n[ROUND];
    struct outcome *out[ROUND];
    bool no_memory;
};

static void run_round(struct round *r, const struct crowd *c, uint64_t seed, size_t number,
                      int threads)
{
#pragma omp parallel for schedule(dynamic) num_threads(threads_for(threads, ROUND))
    for (size_t i = 0; i < ROUND; i++) {
        struct rng rng = rng_start(seed, number * ROUND + i + 1);
        draw(&r->sample[i], c, number * ROUND + i, &rng);
        r->n[i] = r->groups[i] = 0;
        if (outcomes_of(r->out[i], &r->n[i], c, &r->sample[i]))
            r->groups[i] = count_groups(r->out[i], r->n[i]);
        else
            r->no_memory = true;
    }
}

/* The groups that the rows not alone are in. */
static size_t open_groups(const struct crowd *c)
{
    size_t alone = 0;
    for (size_t i = 0; i < c->count; i++) alone += c->at[i].alone;
    return c->groups - alone;
}

static enum bitcut_status find_cases(struct separation *s, struct crowd *c,
                                     struct round *r, size_t most, uint64_t seed,
                                     int threads, const struct progress *progress,
                                     struct fault *f)
{
    int idle = 0;
    for (size_t number = 0; idle < ROUNDS_MOST && s->count < most && open_groups(c);
         number++) {
        size_t best = 0;
        run_round(r, c, seed, number, threads);
        if (r->no_memory) return fault_set(f, BITCUT_NO_MEMORY, "no memory");
        if (progress_stopped(progress)) return fault_set(f, BITCUT_CANNOT, "stopped");
        progress_report(progress, s->count, most);
        for (size_t i = 1; i < ROUND; i++)
            if (r->groups[i] > r->groups[best]) best = i;
        if (r->groups[best] <= open_groups(c)) {
            idle++;
            continue;
        }
        idle = 0;
        split(c, r->out[best], r->n[best]);
        s->cases[s->count++] = r->sample[best];
    }
    return BITCUT_OK;
}

/* --- the result ------------------------------------------------------------------- */

/* What the cases do not tell apart. */
static void summarize(struct separation *s, const struct crowd *c)
{
    s->rows = c->count;
    s->groups = c->groups;
    for (size_t i = 0; i < c->count; i++) {
        const struct survivor *x = &c->at[i];
        s->left += !x->alone;
        for (size_t j = 0; j < i && !x->alone; j++)
            for (int field = 0; field < FIELD_COUNT && c->at[j].group == x->group; field++)
                s->differ[field] |= c->at[j].one.set[field] != x->one.set[field];
    }
}

enum bitcut_status separate_run(struct separation *s, const struct fit *fit,
                                const struct search *found, size_t most, uint64_t seed,
                                int threads, const struct progress *progress,
                                struct fault *f)
{
    struct separation x = { .cases = memory_allocate(most, sizeof *x.cases) };
    struct crowd c = { .fit = fit, .groups = 1 };
    struct rng rng = rng_start(seed, 0);
    struct round *r = calloc(1, sizeof *r);
    c.at = memory_allocate(SEPARATE_ROWS_MOST + 1, sizeof *c.at);
    bool good = x.cases && c.at && r;
    for (int i = 0; i < ROUND && good; i++) {
        r->out[i] = memory_allocate(SEPARATE_ROWS_MOST, sizeof *r->out[i]);
        good = r->out[i] != NULL;
    }
    enum bitcut_status status =
        good ? BITCUT_OK : fault_set(f, BITCUT_NO_MEMORY, "no memory");
    if (good) {
        gather(&c, found, &rng);
        if (c.count == 1) c.at[0].alone = true;
        status = find_cases(&x, &c, r, most, seed, threads, progress, f);
        summarize(&x, &c);
    }
    for (int i = 0; r && i < ROUND; i++) free(r->out[i]);
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
                                              "what was recorded before"));
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
    const struct sample_arrays to = { &set.a, &set.b, &set.c, &set.scale_a, &set.scale_b };
    for (size_t i = 0; i < s->count; i++) sample_store(&to, u, i, &s->cases[i]);
    status = describe(set.meta, u) ? set_write(folder, &set, f)
                                   : fault_set(f, BITCUT_NO_MEMORY, "no memory");
    set_clear(&set);
    return status;
}
