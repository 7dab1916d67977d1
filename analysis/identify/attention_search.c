/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/attention_search.h"

#include "analysis/identify/attention_trial.h"
#include "lib/base/size.h"
#include "lib/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Products of the sample of one hypothesis, and how many queries it has. */
#define WORK_SAMPLE 0x1p22
#define WORK_SAME   0x1p28
#define WORK_PAIRS  0x1p30

/* Results of correct kernels are nearer to each other, also those of 8 bits. */
#define DISTANCE_MAX 0.06
enum { QUERIES_MIN = 2, QUERIES_MAX = 32, STARTS_MAX = 8 };

/* A hypothesis is nearer than another one if its distance is a fourth. */
enum { NEARER = 4 };

/* A hypothesis and its agreement with the sample. */
struct attention_trial {
    struct attention_hypothesis h;
    struct attention_agreement x;
};

/* The best hypotheses of a kind, the best one first. */
struct starts {
    struct attention_trial at[STARTS_MAX];
    int count;
};

struct attention_search {
    const struct bitcut_attention *a;
    const struct explain_options *o;
    struct attention_sample sample;
    struct effort effort;
    size_t tried;
    double agreeing; /* largest share of the sample that an unchanged row gives, if it
                        does not give all of it; 0: unknown */
    struct attention_trial found; /* if `whole`: with its agreement with all of O       */
    bool whole;
    enum bitcut_status status;
    struct fault *f;
};

/* --- trials ------------------------------------------------------------------------- */

static bool is_stopped(const struct attention_search *s)
{
    return progress_stopped(s->o->progress);
}

static bool is_over(const struct attention_search *s)
{
    return s->status != BITCUT_OK || is_stopped(s) || effort_is_spent(&s->effort);
}

static bool is_whole(const struct attention_agreement *x)
{
    return x->compared && x->matched == x->compared;
}

/* Whether a hypothesis agrees better: by outputs if one gives a part of them that
   rounding alone does not explain, else by distance. */
static bool is_better(const struct attention_agreement *x,
                      const struct attention_agreement *than)
{
    enum { PART = 8 };
    const bool by_outputs =
        PART * larger(x->matched, than->matched) >= larger(x->compared, than->compared);
    if (by_outputs && x->matched != than->matched) return x->matched > than->matched;
    return x->distance < than->distance;
}

/* Compute a hypothesis on the sample.  False: it does not apply, or the search is over.
 */
static bool try(struct attention_search *s, struct attention_trial *t)
{
    struct attention_plan plan;
    struct attention_variant v;
    if (is_over(s) || !attention_hypothesis_plan(&plan, &v, &t->h, s->a)) return false;
    s->effort.spent += attention_work(&plan, s->sample.queries);
    const enum bitcut_status status =
        attention_sample_try(&t->x, &s->sample, &plan, &v, s->f);
    if (status != BITCUT_OK && !is_stopped(s)) s->status = status;
    if (status != BITCUT_OK) return false;
    s->tried++;
    if (isfinite(s->effort.work))
        progress_report(s->o->progress, (size_t)s->effort.spent, (size_t)s->effort.work);
    return true;
}

/* --- climbing ----------------------------------------------------------------------- */

/* Try every item of an axis in place of that of `start`; *best becomes the best one. */
static void climb_axis(struct attention_search *s, struct attention_trial *best,
                       const struct attention_trial *start, int axis)
{
    for (unsigned char i = 0; !i || attention_axes[axis].item[i - 1]; i++) {
        struct attention_trial next = *start;
        next.h.value[axis] = i;
        if (i != start->h.value[axis] && !is_whole(&best->x) && try(s, &next) &&
            is_better(&next.x, &best->x))
            *best = next;
    }
}

/* Make the best change of one axis while there is a better one. */
static void climb(struct attention_search *s, struct attention_trial *best)
{
    for (bool better = true; better && !is_whole(&best->x) && !is_over(s);) {
        const struct attention_trial start = *best;
        for (int i = 0; i < ATTENTION_AXES; i++) climb_axis(s, best, &start, i);
        better = is_better(&best->x, &start.x);
    }
}

/* Undo changes without which the sample is given, too. */
static void undo_changes(struct attention_search *s, struct attention_trial *best)
{
    for (int i = 0; i < ATTENTION_AXES; i++) {
        struct attention_trial next = *best;
        next.h.value[i] = 0;
        if (best->h.value[i] && try(s, &next) && is_whole(&next.x)) *best = next;
    }
}

/* Two changes that together give a fourth of the outputs that are not given. */
static bool climb_pair(struct attention_search *s, struct attention_trial *best, int i,
                       int j)
{
    const size_t enough =
        best->x.matched + larger(1, (best->x.compared - best->x.matched) / 4);
    for (unsigned char x = 1; attention_axes[i].item[x - 1] && !is_over(s); x++)
        for (unsigned char y = 1; attention_axes[j].item[y - 1]; y++) {
            struct attention_trial next = *best;
            next.h.value[i] = x;
            next.h.value[j] = y;
            if (!try(s, &next) || next.x.matched < enough) continue;
            *best = next;
            return true;
        }
    return false;
}

static bool climb_pairs(struct attention_search *s, struct attention_trial *best)
{
    for (int i = 0; i < ATTENTION_AXES; i++)
        for (int j = i + 1; j < ATTENTION_AXES; j++)
            if (attention_axes[i].likely && attention_axes[j].likely &&
                climb_pair(s, best, i, j))
                return true;
    return false;
}

/* --- all of O ----------------------------------------------------------------------- */

static double work_of_all(const struct attention_search *s, double work)
{
    return work * (s->o->effort > 0 ? s->o->effort : 1);
}

/* Compare a hypothesis with all of O. */
static bool compare(struct attention_search *s, struct attention_trial *t,
                    struct attention_place *differing, size_t *differ_count, double work)
{
    struct attention_plan plan;
    struct attention_variant v;
    if (s->status != BITCUT_OK || is_stopped(s) ||
        !attention_hypothesis_plan(&plan, &v, &t->h, s->a))
        return false;
    const enum bitcut_status status = attention_compare(
        &t->x, differing, differ_count, s->a, &plan, &v, work, s->o->threads,
        s->o->progress ? s->o->progress->stop : NULL, s->f);
    if (status != BITCUT_OK && !is_stopped(s)) s->status = status;
    return status == BITCUT_OK;
}

/* Climb, and compare the result with all of O; queries that differ join the sample.  *t
   has the sample's agreement. */
static void settle(struct attention_search *s, struct attention_trial *t)
{
    enum { ROUNDS = 8, DIFFERING = 6 };
    for (int round = 0; round < ROUNDS && !s->whole; round++) {
        struct attention_place differing[DIFFERING];
        size_t count = DIFFERING;
        climb(s, t);
        if (!is_whole(&t->x)) return;
        undo_changes(s, t);
        struct attention_trial all = *t;
        if (!compare(s, &all, differing, &count, work_of_all(s, WORK_COMPARE))) return;
        s->whole = is_whole(&all.x);
        if (s->whole) s->found = all;
        for (size_t i = 0; i < count && s->status == BITCUT_OK; i++)
            s->status = attention_sample_add(&s->sample, differing[i], s->f);
        if (!s->whole && !try(s, t)) return;
        if (!s->whole && is_whole(&t->x)) return; /* no room for these queries */
    }
}

/* --- the search --------------------------------------------------------------------- */

static void insert(struct starts *to, const struct attention_trial *t)
{
    int at = to->count;
    while (at && is_better(&t->x, &to->at[at - 1].x)) at--;
    if (at == STARTS_MAX) return;
    const int moved = smaller_int(to->count, STARTS_MAX - 1) - at;
    memmove(&to->at[at + 1], &to->at[at], (size_t)moved * sizeof *t);
    to->at[at] = *t;
    to->count = smaller_int(to->count + 1, STARTS_MAX);
}

/* Try every row with each fault of [from, to) of the table. */
static void collect(struct attention_search *s, struct starts *to,
                    const struct attention_fault *from, size_t count)
{
    for (const struct bitcut_attention_row *r = attention_rows; r->name; r++)
        for (size_t i = 0; i < count; i++) {
            struct attention_trial t = { .h = { .row = s->a->row ? s->a->row : r,
                                                .fault = &from[i] } };
            if ((s->a->row && r != attention_rows) || !try(s, &t)) continue;
            insert(to, &t);
            const double share = (double)t.x.matched / (double)t.x.compared;
            if (!i && from == attention_faults && share < 1)
                s->agreeing = larger_double(s->agreeing, share);
        }
}

static void explore(struct attention_search *s, struct starts *x, int most)
{
    for (int i = 0; i < smaller_int(most, x->count) && !s->whole; i++)
        settle(s, &x->at[i]);
}

/* The best of some hypotheses; there is one. */
static struct attention_trial *best_of(struct starts *x)
{
    struct attention_trial *best = &x->at[0];
    for (int i = 1; i < x->count; i++)
        if (is_better(&x->at[i].x, &best->x)) best = &x->at[i];
    return best;
}

static size_t count_faults(void)
{
    size_t n = 0;
    while (attention_faults[n + 1].key && !attention_faults[n + 1].planted_only) n++;
    return n; /* without the first row */
}

/* Compute again on the sample as it is now. */
static void renew(struct attention_search *s, struct starts *x)
{
    for (int i = 0; i < x->count; i++) (void)try(s, &x->at[i]);
}

/* Compare rows that give the sample with all of O: an unchanged row comes first. */
static void confirm_rows(struct attention_search *s, struct starts *rows)
{
    for (int i = 0; i < rows->count && !s->whole; i++) {
        struct attention_trial all = rows->at[i];
        struct attention_place differing;
        size_t count = 1;
        if (!is_whole(&all.x) ||
            !compare(s, &all, &differing, &count, work_of_all(s, WORK_COMPARE)))
            continue;
        s->whole = is_whole(&all.x);
        if (s->whole) s->found = all;
        else s->status = attention_sample_add(&s->sample, differing, s->f);
    }
    if (!s->whole) renew(s, rows);
}

static void search(struct attention_search *s, struct starts *correct,
                   struct starts *faulty)
{
    collect(s, correct, attention_faults, 1);
    if (!correct->count) return;
    confirm_rows(s, correct);
    if (s->whole) return;
    collect(s, faulty, attention_faults + 1, count_faults());
    const double near = best_of(correct)->x.distance;
    const bool suspect = faulty->count && (NEARER * best_of(faulty)->x.distance < near ||
                                           near > DISTANCE_MAX);
    if (suspect) explore(s, faulty, STARTS_MAX);
    explore(s, correct, STARTS_MAX);
    if (!suspect) explore(s, faulty, 1);
    if (s->whole || is_over(s)) return;
    renew(s, correct);
    renew(s, faulty);
    s->effort = explain_effort(s->o, WORK_PAIRS);
    struct starts *const nearest = suspect ? faulty : correct;
    while (!s->whole && climb_pairs(s, best_of(nearest))) settle(s, best_of(nearest));
}

/* --- the answer --------------------------------------------------------------------- */

/* Distances from the attention in FP32, whose products and softmax are the row "plain".
 */
static void measure(struct attention_search *s, struct attention_explanation *e,
                    const struct attention_trial *correct)
{
    struct attention_trial plain = { .h = { .row = bitcut_attention_find("plain"),
                                            .fault = attention_faults } },
                           own = *correct;
    const struct bitcut_attention *const given = s->a;
    struct bitcut_attention open = *given;
    open.vary = NULL;
    open.unit_qk = open.unit_pv = NULL;
    s->effort = effort_of((double)INFINITY, 0);
    s->a = &open;
    const bool done = try(s, &plain);
    s->a = given;
    e->error = (double)INFINITY;
    if (done) attention_sample_refer(&s->sample);
    if (done && try(s, &own)) {
        e->error = attention_sample_error(&s->sample, true);
        e->own = attention_sample_error(&s->sample, false);
    }
}

/* Whether O is as far from the attention in FP32 as rounding makes it. */
static bool is_rounding(const struct attention_explanation *e)
{
    const double u = ldexp(1, -matrix_format(&e->a.o)->fraction_bits - 1),
                 own = e->own <= DISTANCE_MAX ? e->own : 0;
    return e->error <= NEARER * larger_double(own, u / 4);
}

/* The changes of a row. */
static int changes_of(const struct attention_trial *t)
{
    int changes = t->h.fault->change != NULL;
    for (int i = 0; i < ATTENTION_AXES; i++) changes += t->h.value[i] != 0;
    return changes;
}

/* Whether O differs from a hypothesis in few outputs, by more than rounding.  Of those
   that give as much of the sample as the best one, *best becomes the one that gives most
   of O, by the fewest changes. */
static bool differs_in_places(struct attention_search *s, struct attention_explanation *e,
                              struct starts *x, struct attention_trial **best)
{
    enum { FEW = 20, ULPS = 64 };
    const size_t matched = (*best)->x.matched;
    struct attention_agreement most = { .matched = 0 };
    for (int i = 0; i < x->count; i++) {
        struct attention_trial all = x->at[i];
        struct attention_place first;
        size_t count = 1;
        if (all.x.matched != matched ||
            !compare(s, &all, &first, &count, work_of_all(s, WORK_COMPARE)) ||
            all.x.matched < most.matched ||
            (all.x.matched == most.matched && changes_of(&all) >= changes_of(*best)))
            continue;
        most = all.x;
        e->first = first;
        *best = &x->at[i];
    }
    return (most.compared - most.matched) * FEW <= most.compared &&
           (most.wild || most.ulps > ULPS);
}

/* How many of the hypotheses give the outputs by chance, if each output agrees as often
   as with other rows (Laplace's estimate). */
static double chance(const struct attention_search *s)
{
    const double n = (double)s->found.x.compared;
    return s->agreeing > 0 ? (double)s->tried * pow((s->agreeing * n + 1) / (n + 2), n)
                           : 0;
}

static void set_best(struct attention_search *s, struct attention_explanation *e,
                     struct attention_trial *t)
{
    struct bitcut_attention_explanation *const to = &e->answer;
    struct attention_variant v;
    size_t none = 0;
    to->matched = t->x.matched, to->sampled = t->x.compared;
    if (s->whole) to->matched = to->sampled = s->sample.queries * s->a->value_dim;
    if (!s->whole) (void)compare(s, t, NULL, &none, work_of_all(s, WORK_COMPARE));
    to->compared = t->x.compared;
    to->differ = t->x.compared - t->x.matched;
    to->ulps = t->x.ulps;
    to->distance = t->x.distance;
    to->row = t->h.row->name;
    e->fault = t->h.fault;
    if (attention_hypothesis_plan(&e->plan, &v, &t->h, s->a)) {
        attention_plan_write(to->fields, &e->plan);
        text_add(to->vary, sizeof to->vary, "%s", v.items);
        e->varied = *v.items || s->a->unit_qk || s->a->unit_pv;
        e->plan.a.vary = NULL;
    }
}

/* The line of a plan, without the fields that have no effect. */
static void line_of(char line[BITCUT_ATTENTION_MAX], const struct attention_plan *plan)
{
    struct attention_plan p = *plan;
    p.row.processors = 0;
    p.row.p = plan->pv.unit->a;
    p.row.splits = (int)larger(1, divide_up(plan->tiles, plan->split_tiles));
    if (p.row.splits == 1) p.row.merge = attention_merges;
    attention_plan_write(line, &p);
}

/* Append an item, or a row, if the hypothesis has the same outputs with it. */
static void add_same(struct attention_search *s, struct attention_explanation *e,
                     struct attention_trial *t, const char *item)
{
    char own[BITCUT_ATTENTION_MAX], other[BITCUT_ATTENTION_MAX];
    struct attention_plan plan;
    struct attention_variant v;
    size_t none = 0;
    if (!attention_hypothesis_plan(&plan, &v, &t->h, s->a)) return;
    line_of(other, &plan);
    line_of(own, &e->plan);
    if (!strcmp(own, other) || !try(s, t) || !is_whole(&t->x) ||
        !compare(s, t, NULL, &none, work_of_all(s, WORK_SAME)) || !is_whole(&t->x))
        return;
    text_add(e->answer.same, sizeof e->answer.same, "%s%s", *e->answer.same ? " " : "",
             item);
}

static void find_same(struct attention_search *s, struct attention_explanation *e)
{
    char name[ATTENTION_TEXT_MAX];
    const struct attention_trial found = s->found;
    s->effort = explain_effort(s->o, WORK_SEARCH);
    for (const struct bitcut_attention_row *r = attention_rows; r->name && !s->a->row;
         r++) {
        struct attention_trial t = { .h = { .row = r, .fault = found.h.fault } };
        *name = 0;
        text_add(name, sizeof name, "row=%s", r->name);
        if (r != found.h.row) add_same(s, e, &t, name);
    }
    for (int i = 0; i < ATTENTION_AXES; i++)
        for (unsigned char x = 1; attention_axes[i].item[x - 1]; x++) {
            struct attention_trial t = found;
            t.h.value[i] = x;
            if (x != found.h.value[i]) add_same(s, e, &t, attention_axes[i].item[x - 1]);
        }
}

/* Choose the hypothesis that is reported, and what the distance of O from it means. */
static void conclude(struct attention_search *s, struct attention_explanation *e,
                     struct starts *correct, struct starts *faulty)
{
    static const double seldom = 0.01;
    struct bitcut_attention_explanation *const to = &e->answer;
    struct attention_trial *best = best_of(correct), *fault = NULL;
    to->complete = !is_over(s);
    to->by_chance = s->whole ? chance(s) : 0;
    const bool sure = s->whole && (!s->found.h.fault->change || to->by_chance < seldom);
    if (!sure) {
        s->whole = false;
        if (faulty->count) fault = best_of(faulty);
        e->without = best->x.distance;
        const bool places = differs_in_places(s, e, correct, &best);
        if (!is_stopped(s)) measure(s, e, best);
        if (fault &&
            (places || is_rounding(e) || NEARER * fault->x.distance >= e->without))
            fault = NULL;
        if (fault) best = fault;
        to->diagnosis = fault            ? "fault"
                        : places         ? "places"
                        : is_rounding(e) ? "rounding"
                                         : "unexplained";
    } else to->diagnosis = "identical";
    set_best(s, e, sure ? &s->found : best);
    to->found = sure;
    to->fault = e->fault->change ? e->fault->kind : NULL;
    if (sure) find_same(s, e);
}

static size_t queries_of_sample(const struct attention_search *s)
{
    const double each = (double)s->a->keys * (double)(s->a->head_dim + s->a->value_dim);
    const double queries = WORK_SAMPLE / larger_double(1, each);
    return queries < QUERIES_MIN   ? QUERIES_MIN
           : queries > QUERIES_MAX ? QUERIES_MAX
                                   : (size_t)queries;
}

static enum bitcut_status no_row(const struct attention_search *s, struct fault *f)
{
    struct attention_plan plan;
    if (!s->a->row)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "no row takes these formats and sizes");
    const enum bitcut_status status = attention_plan_make(&plan, s->a, f);
    return status != BITCUT_OK ? status : BITCUT_UNSUPPORTED;
}

enum bitcut_status attention_search(struct attention_explanation *to,
                                    const struct bitcut_attention *attention,
                                    const struct explain_options *o, struct fault *f)
{
    const double start = seconds_now();
    struct attention_explanation e = { .a = *attention };
    struct starts correct = { .count = 0 }, faulty = { .count = 0 };
    struct attention_search s = {
        .a = &e.a, .o = o, .effort = explain_effort(o, WORK_SEARCH), .f = f
    };
    s.sample.threads = o->threads;
    s.sample.stop = o->progress ? o->progress->stop : NULL;
    s.status = attention_sample_make(&s.sample, &e.a, queries_of_sample(&s), o->seed, f);
    if (s.status != BITCUT_OK) return s.status;
    search(&s, &correct, &faulty);
    e.answer.size = sizeof e.answer;
    e.answer.total = e.a.heads * e.a.queries * e.a.value_dim;
    if (s.status == BITCUT_OK && !correct.count && !is_stopped(&s))
        s.status = no_row(&s, f);
    if (s.status == BITCUT_OK && correct.count) conclude(&s, &e, &correct, &faulty);
    e.answer.tried = s.tried;
    e.interrupted = is_stopped(&s);
    e.seconds = seconds_now() - start;
    attention_sample_clear(&s.sample);
    if (s.status == BITCUT_OK) *to = e;
    return s.status;
}
