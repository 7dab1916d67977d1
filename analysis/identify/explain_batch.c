/* SPDX-License-Identifier: BSD-3-Clause */
/* What computed the D of a batch: a hypothesis that is found on one GEMM, and compared
   with all of them. */
#include "analysis/identify/region.h"
#include "lib/base/clock.h"
#include "lib/base/size.h"
#include "lib/base/text.h"

#include <stdlib.h>
#include <string.h>

/* The GEMMs that a hypothesis gives. */
struct coverage {
    bool *given; /* of each GEMM */
    size_t gemms, explained, compared, differ;
    size_t empty; /* GEMMs without rows among those explained */
};

static void coverage_clear(struct coverage *c) { free(c->given); }

static enum bitcut_status coverage_init(struct coverage *c, size_t gemms, struct fault *f)
{
    *c = (struct coverage){ .gemms = gemms, .given = calloc(gemms, sizeof *c->given) };
    return c->given ? BITCUT_OK
                    : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the GEMMs");
}

/* The first GEMM that is not given; `gemms` if there is none. */
static size_t first_other(const struct coverage *c)
{
    size_t i = 0;
    while (i < c->gemms && c->given[i]) i++;
    return i;
}

/* The outputs of one GEMM that were compared, and the number that differ. */
struct agreement {
    size_t compared, differ;
    bool all; /* all outputs were compared, and none differs */
};

/* Compare D of *q with the best hypothesis, read as e->q is. */
static enum bitcut_status compare_one(struct agreement *to, struct explanation *e,
                                      struct problem q, struct effort *effort,
                                      const struct explain_options *o, struct fault *f)
{
    const struct problem kept = e->q;
    struct whole w;
    q.transposed_a = kept.transposed_a;
    q.transposed_b = kept.transposed_b;
    q.transposed_c = kept.transposed_c;
    q.transposed_d = kept.transposed_d;
    q.by_columns = kept.by_columns;
    *to = (struct agreement){ .all = true };
    if (!problem_m(&q) || !problem_n(&q)) return BITCUT_OK;
    e->q = q;
    const enum bitcut_status status = whole_compare(&w, e, effort, o, f);
    e->q = kept;
    if (status == BITCUT_OK) {
        to->compared = w.x.m * w.x.n;
        to->differ = whole_differ(&w);
        to->all = !to->differ && w.x.m == problem_m(&q);
    }
    whole_clear(&w);
    return status;
}

static enum bitcut_status cover_one(struct coverage *c, struct explanation *e,
                                    const struct problem *all, size_t i,
                                    struct effort *effort,
                                    const struct explain_options *o, struct fault *f)
{
    struct agreement x;
    const enum bitcut_status status =
        compare_one(&x, e, problem_nth(all, i), effort, o, f);
    if (status != BITCUT_OK) return status;
    c->compared += x.compared;
    c->differ += x.differ;
    c->given[i] = x.all;
    c->explained += x.all;
    c->empty += x.all && !x.compared;
    return status;
}

static bool is_empty(const struct problem *all, size_t i)
{
    const struct problem q = problem_nth(all, i);
    return !q.d.rows || !q.d.cols;
}

/* Compare every GEMM except `searched`, whose comparison *e has; an empty
   one agrees with any hypothesis, or with none. */
static enum bitcut_status cover(struct coverage *c, struct explanation *e,
                                const struct problem *all, size_t searched,
                                struct effort *effort, const struct explain_options *o,
                                struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    c->explained = e->answer.found;
    c->empty = 0;
    c->compared = e->answer.compared;
    c->differ = e->answer.differ;
    c->given[searched] = e->answer.found;
    for (size_t i = 0; i < c->gemms && status == BITCUT_OK; i++) {
        const bool compares =
            e->best.sampled && !effort_is_spent(effort) && !progress_stopped(o->progress);
        if (i != searched && (compares || is_empty(all, i)))
            status = cover_one(c, e, all, i, effort, o, f);
    }
    return status;
}

/* Try the other hypotheses that give the GEMM that was searched, and keep the one that
   gives most GEMMs. */
static enum bitcut_status cover_equals(struct coverage *c, struct explanation *e,
                                       const struct problem *all, size_t searched,
                                       struct effort *effort,
                                       const struct explain_options *o, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    const size_t equals =
        e->answer.found && !e->parts ? smaller(e->equals, EQUALS_MAX) : 0;
    for (size_t i = 0; i < equals && c->explained < c->gemms && status == BITCUT_OK &&
                       !effort_is_spent(effort) && !progress_stopped(o->progress);
         i++) {
        const struct verdict before = e->best;
        struct coverage other;
        e->best = e->equal[i];
        status = coverage_init(&other, c->gemms, f);
        if (status != BITCUT_OK) return status;
        status = cover(&other, e, all, searched, effort, o, f);
        if (status == BITCUT_OK && other.explained > c->explained) {
            const struct coverage kept = *c;
            *c = other;
            other = kept;
            e->equal[i] = before;
        } else e->best = before;
        coverage_clear(&other);
    }
    return status;
}

/* --- the answer ------------------------------------------------------------------- */

/* The GEMMs for which given[] has the value, as "GEMM 3" or "groups 0 to 2, 5". */
static void list_gemms(char *text, size_t size, const struct coverage *c, bool value,
                       const char *noun)
{
    enum { RANGES = 6 };
    size_t count = 0;
    for (size_t i = 0; i < c->gemms; i++) count += c->given[i] == value;
    text_add(text, size, "%s%s", noun, count == 1 ? "" : "s");
    text_add_ranges(text, size, c->given, c->gemms, value, RANGES);
}

/* Write what *c says into *e. */
static void conclude(struct explanation *e, const struct coverage *c, size_t searched,
                     size_t total)
{
    struct bitcut_explanation *const a = &e->answer;
    e->searched = searched;
    a->gemms = c->gemms;
    a->explained = c->explained == c->empty ? 0 : c->explained;
    a->gemm = first_other(c);
    a->total = total;
    a->compared = c->compared;
    a->differ = c->differ;
    a->found = c->explained == c->gemms;
    a->runs = a->found && !c->differ && explain_says_all(&e->best);
    for (size_t i = 0; i < e->firsts; i++) {
        e->first[i].of_batch = true;
        e->first[i].gemm = searched;
    }
    const char *const noun = explain_noun(&e->q);
    list_gemms(e->given, sizeof e->given, c, true, noun);
    if (c->explained < c->gemms) list_gemms(e->others, sizeof e->others, c, false, noun);
}

/* --- searching -------------------------------------------------------------------- */

/* Search on GEMM `searched`, and compare the hypothesis with all GEMMs. */
static enum bitcut_status search_one(struct explanation *e, struct coverage *c,
                                     const struct problem *all, size_t searched,
                                     const struct explain_options *o, struct fault *f)
{
    const struct problem q = problem_nth(all, searched);
    enum bitcut_status status = coverage_init(c, all->gemms, f);
    if (status != BITCUT_OK) return status;
    status = explain_run(e, &q, o, f);
    if (status != BITCUT_OK) return coverage_clear(c), status;
    struct effort effort = explain_effort(o, WORK_COMPARE);
    status = cover(c, e, all, searched, &effort, o, f);
    if (status == BITCUT_OK) status = cover_equals(c, e, all, searched, &effort, o, f);
    if (status == BITCUT_OK) return status;
    explain_clear(e);
    coverage_clear(c);
    return status;
}

/* Operands that a kernel may take from another GEMM. */
enum { TAKES_A = 1, TAKES_B = 2, TAKES_C = 4 };
static const struct {
    unsigned taken;
    const char *what;
} neighbours[] = {
    { TAKES_A, "A" },
    { TAKES_B, "B" },
    { TAKES_C, "C" },
    { TAKES_A | TAKES_B, "A and B" },
    { TAKES_A | TAKES_B | TAKES_C, "A, B and C" },
};

/* Whether taking these operands of another GEMM changes anything. */
static bool can_take(const struct problem *all, unsigned taken)
{
    const bool of_k = all->offsets && all->offsets_of_k, of_rows = all->offsets && !of_k;
    return (!(taken & TAKES_A) || all->a.is_batch || all->offsets) &&
           (!(taken & TAKES_B) || all->b.is_batch || of_k) &&
           (!(taken & TAKES_C) || (all->c.at && (all->c.is_batch || of_rows)));
}

/* Whether the hypothesis gives D of GEMM i from operands of GEMM j; then e->other says
   it. A wrong stride has this effect. */
static enum bitcut_status try_neighbour(bool *found, struct explanation *e,
                                        const struct problem *all, size_t i, size_t j,
                                        struct effort *effort,
                                        const struct explain_options *o, struct fault *f)
{
    const struct problem own = problem_nth(all, i), other = problem_nth(all, j);
    enum bitcut_status status = BITCUT_OK;
    for (size_t n = 0; n < sizeof neighbours / sizeof *neighbours && !*found; n++) {
        struct problem q = own;
        struct agreement x;
        if (!can_take(all, neighbours[n].taken)) continue;
        if (neighbours[n].taken & TAKES_A) q.a = other.a;
        if (neighbours[n].taken & TAKES_B) q.b = other.b;
        if (neighbours[n].taken & TAKES_C) q.c = other.c;
        if (q.a.rows != own.a.rows ||
            (all->offsets_of_k ? q.a.cols != q.b.rows : q.a.cols != own.a.cols))
            continue;
        status = compare_one(&x, e, q, effort, o, f);
        if (status != BITCUT_OK) break;
        *found = x.all;
        if (*found)
            text_add(e->other, sizeof e->other, "the same, with %s of %s %zu",
                     neighbours[n].what, explain_noun(&e->q), j);
    }
    return status;
}

static enum bitcut_status try_neighbours(bool *found, struct explanation *e,
                                         const struct problem *all, size_t i,
                                         const struct explain_options *o, struct fault *f)
{
    struct effort effort = explain_effort(o, WORK_COMPARE);
    enum bitcut_status status = BITCUT_OK;
    *found = false;
    for (size_t d = 1; d < all->gemms && !*found && status == BITCUT_OK &&
                       !effort_is_spent(&effort) && !progress_stopped(o->progress);
         d++) {
        if (i >= d) status = try_neighbour(found, e, all, i, i - d, &effort, o, f);
        if (i + d < all->gemms && !*found && status == BITCUT_OK)
            status = try_neighbour(found, e, all, i, i + d, &effort, o, f);
    }
    e->other_gemm = i;
    return status;
}

/* Search on the first GEMM that the hypothesis does not give.  The hypothesis that gives
   more GEMMs is in *e and *c afterwards; the sentence of the other one in e->other. */
static enum bitcut_status search_other(struct explanation *e, struct coverage *c,
                                       size_t *searched, const struct problem *all,
                                       const struct explain_options *o, struct fault *f)
{
    struct explanation *const more = calloc(1, sizeof *more);
    struct coverage other;
    size_t second = first_other(c);
    if (second == *searched) /* it gives no GEMM whole: look at another one */
        second = second + 1 < c->gemms && !c->given[second + 1] ? second + 1 : c->gemms;
    if (second == c->gemms || progress_stopped(o->progress)) return free(more), BITCUT_OK;
    if (!more) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    bool found = false;
    enum bitcut_status status = BITCUT_OK;
    if (e->answer.found) status = try_neighbours(&found, e, all, second, o, f);
    if (status == BITCUT_OK && !found)
        status = search_one(more, &other, all, second, o, f);
    if (status != BITCUT_OK || found) return free(more), status;
    more->answer.tried += e->answer.tried;
    more->answer.complete &= e->answer.complete;
    e->answer.tried = more->answer.tried;
    e->answer.complete = more->answer.complete;
    if (other.explained > c->explained) {
        struct explanation *const less = malloc(sizeof *less);
        if (less) {
            const struct coverage kept = *c;
            *less = *e;
            *e = *more;
            *more = *less;
            *c = other;
            other = kept;
            const size_t was = *searched;
            *searched = second;
            second = was;
            free(less);
        }
    }
    if (!c->given[second]) {
        e->other_gemm = second;
        explain_describe(e->other, more);
    }
    explain_clear(more);
    coverage_clear(&other);
    return free(more), BITCUT_OK;
}

enum bitcut_status explain_batch(struct explanation *e, const struct problem *q,
                                 const struct explain_options *o, struct fault *f)
{
    struct coverage c;
    size_t searched = problem_first(q);
    if (!q->is_batch) return explain_run(e, q, o, f);
    const size_t total = q->gemms ? matrix_count(&q->d) * q->d.rows * q->d.cols : 0;
    if (!total || searched == q->gemms)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         total ? "A and B have no products: k is 0" : "D is empty");
    enum bitcut_status status = search_one(e, &c, q, searched, o, f);
    if (status != BITCUT_OK) return status;
    e->other[0] = e->others[0] = e->given[0] = 0;
    if (c.explained < c.gemms) status = search_other(e, &c, &searched, q, o, f);
    e->is_batch = true;
    e->interrupted = progress_stopped(o->progress);
    conclude(e, &c, searched, total);
    explain_describe(e->answer.text, e);
    coverage_clear(&c);
    if (status != BITCUT_OK) explain_clear(e);
    return status;
}
