/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/diagnosis.h"

#include "analysis/identify/diagnosis_name.h"
#include "analysis/identify/diagnosis_place.h"
#include "analysis/identify/difference.h"
#include "analysis/identify/guess_choice.h"
#include "analysis/identify/short_sums.h"
#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Guesses are tried from the simplest on: no fault, one fault, and further ones added to
   the best guesses.  Floating point of the host decides what is likely, never a bit of a
   model. */

enum {
    PRODUCTS = 1 << 20, /* of the sample */
    SIDE_MIN = 8,
    SIDE_MAX = 32,
    FEW = 3, /* rows and columns on which expensive guesses are tried first */
    FEW_KEPT = 24,
    MASKED_FEW = 12,
    FITTED = 16, /* rows and columns on which ranges of k are fitted */
    PORTED = 4,  /* guesses whose faults are tried with every arithmetic */
    EXTENDED = 4 /* guesses to which another fault is added */
};

struct diagnosing {
    struct choice of;
    struct guesses few;         /* with scores of the first rows and columns only      */
    uint64_t seed;
    const struct progress *progress;
    bool masked; /* some outputs are left out: the first rows and columns show little */
    bool failed; /* no memory */
};

/* --- one guess -------------------------------------------------------------------- */

static void try_quick(struct diagnosing *x, const struct guess *g)
{
    const bool simple =
        !g->parts && x->of.e.arithmetics.at[g->arithmetic].kind != ARITHMETIC_ONE;
    if (!guess_try(simple ? &x->of.plain : &x->of.best, &x->of.e, *g)) x->failed = true;
}

static void try_few(struct diagnosing *x, struct guess g)
{
    if (!guess_try_few(&g, &x->of.e, x->masked ? MASKED_FEW : FEW)) x->failed = true;
    g.rest = NULL;
    if (isfinite(g.score)) guesses_keep(&x->few, &g);
}

/* Evaluate the best of the expensive guesses on all outputs. */
static void confirm_few(struct diagnosing *x)
{
    for (size_t i = 0; i < smaller(x->few.count, FEW_KEPT); i++)
        try_quick(x, &x->few.at[i]);
    x->few.count = 0;
}

static void try_fault(struct diagnosing *x, const struct guess *base,
                      struct kernel_fault_choice c, bool slowly)
{
    struct guess g = *base;
    g.part[g.parts++] = (struct guessed){ .fault = c };
    if (guess_is_quick(&x->of.e, &g)) try_quick(x, &g);
    else if (slowly) try_few(x, g);
}

/* --- all faults ------------------------------------------------------------------- */

/* Whether the slow effects of a row are tried with an arithmetic: those of the layout and
   of k with whole operands, those of parts with parts. */
static bool is_worthwhile(const struct kernel_fault *row, enum arithmetic_kind kind)
{
    if (kind == ARITHMETIC_EXACT) return true;
    return !row->exact && !row->of_residual &&
           (kind == ARITHMETIC_SPLIT || kind == ARITHMETIC_ROUNDED);
}

/* Add a fault of the tables to a guess.  Ranges of k are effects instead. */
static void add_faults(struct diagnosing *x, const struct guess *base)
{
    const enum arithmetic_kind kind = x->of.e.arithmetics.at[base->arithmetic].kind;
    for (const struct kernel_fault *row = kernel_fault_next(NULL); row;
         row = kernel_fault_next(row)) {
        if (row->fine || row->of_promotion || row->of_ranges) continue;
        const int kinds = (int)(row->kinds ? row->kinds(&x->of.e.s) : 1);
        for (int i = 0; i < kinds && !progress_stopped(x->progress); i++)
            try_fault(x, base, (struct kernel_fault_choice){ row, i },
                      is_worthwhile(row, kind));
    }
}

/* --- ranges of k ------------------------------------------------------------------ */

/* The residual of a guess before alpha, and weights, of the outputs of m. */
static bool unscale(double *residual, double *weight, const struct part_matrices *m,
                    const struct residuals *e, const struct candidate *c,
                    const struct guess *g)
{
    bool any = false;
    for (size_t i = 0; i < m->rows * m->cols; i++) {
        const size_t at = i / m->cols * e->b.cols + i % m->cols;
        const double by = guess_slope(e, c, at), l = e->level[at] / by;
        residual[i] = weight[i] = 0;
        if (isnan(e->level[at]) || by == 0 || !isfinite(g->rest[at])) continue;
        residual[i] = g->rest[at] / by;
        weight[i] = 1 / (l * l);
        any = true;
    }
    return any;
}

/* The effects of ranges nearest to the residual of a guess, on some rows and columns.
   Returns their number. */
static size_t fit_effects(struct k_effect *to, struct diagnosing *x,
                          const struct guess *base, const struct candidate *c)
{
    const struct part_matrices *const all = guess_parts(&x->of.e, c);
    double residual[SIDE_MAX * SIDE_MAX], weight[SIDE_MAX * SIDE_MAX];
    const size_t side = x->masked ? SIDE_MAX : FITTED;
    size_t count = 0;
    if (!all) count = SIZE_MAX;
    else {
        struct part_matrices m = *all;
        m.rows = smaller(m.rows, side);
        m.cols = smaller(m.cols, side);
        if (unscale(residual, weight, &m, &x->of.e, c, base))
            count = k_effects_fit(to, &m, c, residual, weight);
    }
    x->failed |= count == SIZE_MAX;
    return x->failed ? 0 : count;
}

static void add_effects(struct diagnosing *x, const struct guess *base)
{
    struct candidate c;
    if (!base->rest || !guess_candidate(&c, &x->of.e, base) ||
        x->of.e.arithmetics.at[base->arithmetic].kind == ARITHMETIC_QUANTIZED)
        return;
    struct k_effect *const found = memory_allocate(k_effect_count(&c), sizeof *found);
    const size_t count = found ? fit_effects(found, x, base, &c) : 0;
    x->failed |= !found;
    for (size_t i = 0; i < count; i++) {
        struct guess g = *base;
        g.part[g.parts++] = (struct guessed){ .effect = found[i] };
        try_quick(x, &g);
    }
    free(found);
}

/* --- stages ----------------------------------------------------------------------- */

static void without_fault(struct diagnosing *x)
{
    for (size_t i = 0; i < x->of.e.arithmetics.count; i++)
        try_quick(x, &(struct guess){ .arithmetic = i });
}

/* The residual of an arithmetic alone. */
static struct guess alone(struct diagnosing *x, size_t arithmetic)
{
    struct guesses one = { .count = 0 };
    if (!guess_try(&one, &x->of.e, (struct guess){ .arithmetic = arithmetic }) ||
        !one.count) {
        x->failed = true;
        return (struct guess){ .rest = NULL };
    }
    return one.at[0];
}

/* Whether ranges of k are fitted to the residual of an arithmetic: of whole operands, as
   such ranges mean the same for every arithmetic; of the terms of recipes; and of the
   arithmetic that is nearest. */
static bool is_fitted(const struct diagnosing *x, size_t arithmetic)
{
    const enum arithmetic_kind kind = x->of.e.arithmetics.at[arithmetic].kind;
    return kind == ARITHMETIC_EXACT || kind == ARITHMETIC_SPLIT ||
           (x->of.plain.count && x->of.plain.at[0].arithmetic == arithmetic);
}

static void one_fault(struct diagnosing *x)
{
    for (size_t i = 0; i < x->of.e.arithmetics.count && !x->failed; i++) {
        const enum arithmetic_kind kind = x->of.e.arithmetics.at[i].kind;
        struct guess g = alone(x, i);
        if (kind != ARITHMETIC_ONE && kind != ARITHMETIC_PARTS) add_faults(x, &g);
        if (is_fitted(x, i)) add_effects(x, &g);
        free(g.rest);
    }
    confirm_few(x);
}

/* Whether the faults mean the same for every arithmetic. */
static bool is_portable(const struct guess *g)
{
    bool all = g->parts > 0;
    for (int i = 0; i < g->parts; i++)
        all &= g->part[i].fault.row ? g->part[i].fault.row->exact
                                    : g->part[i].effect.term == ALL_TERMS;
    return all;
}

/* The guesses with portable faults that cost least.  Returns their number. */
static size_t select_portable(struct guess to[PORTED], const struct diagnosing *x)
{
    size_t count = 0;
    double last = -INFINITY;
    while (count < PORTED) {
        const struct guess *best = NULL;
        for (size_t i = 0; i < x->of.best.count; i++) {
            const struct guess *const g = &x->of.best.at[i];
            if (is_portable(g) && guess_total(&x->of.e, g) > last &&
                (!best || guess_total(&x->of.e, g) < guess_total(&x->of.e, best)))
                best = g;
        }
        if (!best) break;
        last = guess_total(&x->of.e, best);
        to[count++] = *best;
    }
    return count;
}

/* Try the faults of the best guesses with other arithmetics. */
static void port(struct diagnosing *x)
{
    struct guess from[PORTED];
    const size_t count = select_portable(from, x);
    for (size_t i = 0; i < count; i++)
        for (size_t a = 0; a < x->of.e.arithmetics.count && !x->failed; a++) {
            struct guess g = from[i];
            g.arithmetic = a;
            g.rest = NULL;
            if (guess_is_quick(&x->of.e, &g)) try_quick(x, &g);
            else if (x->of.e.arithmetics.at[a].kind != ARITHMETIC_OTHER &&
                     x->of.e.arithmetics.at[a].kind != ARITHMETIC_QUANTIZED)
                try_few(x, g);
        }
    confirm_few(x);
}

/* Add a fault to the faults of a guess, with its own arithmetic. */
static void extend(struct diagnosing *x, const struct guess *from, size_t arithmetic)
{
    struct guesses one = { .count = 0 };
    struct guess g = *from;
    g.arithmetic = arithmetic;
    if (!guess_try(&one, &x->of.e, g)) x->failed = true;
    if (!one.count) return;
    add_faults(x, &one.at[0]);
    add_effects(x, &one.at[0]);
    guesses_clear(&one);
}

/* Add a fault to the best guesses; with the whole operands and with the parts of recipes
   too, if their faults mean the same there. */
static void one_more_fault(struct diagnosing *x, int parts)
{
    struct guess from[EXTENDED];
    size_t count = 0;
    for (size_t i = 0; i < x->of.best.count && count < EXTENDED; i++) {
        const struct guess *const g = &x->of.best.at[i];
        bool known = g->parts != parts;
        for (size_t j = 0; j < count; j++)
            known |= guesses_have_same_faults(&from[j], g) && is_portable(g);
        if (!known) from[count++] = *g;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t a = 0; a < x->of.e.arithmetics.count && !x->failed; a++) {
            const enum arithmetic_kind kind = x->of.e.arithmetics.at[a].kind;
            const bool other = kind == ARITHMETIC_EXACT || kind == ARITHMETIC_SPLIT ||
                               kind == ARITHMETIC_TERMS;
            if (a == from[i].arithmetic || (other && is_portable(&from[i])))
                extend(x, &from[i], a);
        }
    confirm_few(x);
}

/* --- the conclusion --------------------------------------------------------------- */

/* From what other outputs are not far. */
static void set_look(struct diagnosis *to, const struct choice *x, const struct guess *g,
                     const struct guess *exact)
{
    const struct arithmetic *const a = &x->e.arithmetics.at[g->arithmetic];
    const bool rounded = to->level == DIAGNOSIS_OPERANDS && a->kind == ARITHMETIC_ROUNDED;
    to->largest = diagnosis_place_largest(&x->e, rounded ? g->rest : exact->rest, g);
    if (!rounded) return;
    to->format = a->x.plan.split_a.part[0].format;
    to->rounding = a->x.plan.split_a.part[0].rounding;
}

static void conclude(struct diagnosis *to, struct diagnosing *x)
{
    const struct guess *g = choice_decide(&x->of);
    struct guess exact = alone(x, 0);
    if (!exact.rest) return;
    const struct guess *const plain = choice_cheapest(&x->of, &x->of.plain);
    const bool of_rounding = choice_is_of_rounding(&x->of, &exact),
               near_plain = plain && choice_is_of_rounding(&x->of, plain);
    /* Several faults together explain any small error. */
    if (g->parts > 1 && near_plain) g = plain;
    *to = (struct diagnosis){ .level = DIAGNOSIS_UNEXPLAINED,
                              .outputs = x->of.e.finite,
                              .agreeing = x->of.e.rounding.agreeing,
                              .before = residuals_median(&x->of.e, exact.rest, 0),
                              .after = residuals_median(&x->of.e, g->rest, g->cut),
                              .limit = choice_level(&x->of.e),
                              .bias_share = g->cut };
    if ((!g->parts && choice_is_at_level(&x->of, &exact)) ||
        choice_is_as_near(&x->of, &exact, g)) {
        to->level = DIAGNOSIS_ROUNDING;
        to->after = to->before;
        to->bias_share = exact.cut;
    } else if ((choice_is_at_level(&x->of, g) || choice_is_nearly_all(&x->of, g)) &&
               choice_is_nearer(&x->of, g) && (g->parts < 2 || !of_rounding))
        diagnosis_name(to, &x->of.e, g, &x->of.best, &x->of.plain);
    if (to->level != DIAGNOSIS_UNEXPLAINED) short_sums_add_store(to, &x->of.e);
    else if (plain && !choice_of_most(&x->of) && short_sums_name(to, &x->of.e, plain))
        to->after = residuals_median(&x->of.e, plain->rest, plain->cut);
    else if (of_rounding) to->level = DIAGNOSIS_ROUNDING;
    else if (near_plain && g == plain)
        diagnosis_name(to, &x->of.e, g, &x->of.best, &x->of.plain);
    to->bias = to->bias_share > 0 ? x->of.e.bias : NULL;
    set_look(to, &x->of, g, &exact);
    free(exact.rest);
}

static bool is_done(const struct diagnosing *x)
{
    return choice_is_at_level(&x->of, choice_best(&x->of)) ||
           choice_is_nearly_all(&x->of, choice_best(&x->of)) || x->failed ||
           progress_stopped(x->progress);
}

static void diagnose(struct diagnosing *x)
{
    without_fault(x);
    if (!x->failed && residuals_undo_truncation(&x->of.e, &x->of.plain)) {
        guesses_clear(&x->of.plain);
        without_fault(x);
    }
    x->failed |= !x->failed && !x->masked && !guesses_find_larger(&x->of.e, &x->of.plain);
    if (!x->failed && !x->of.e.s.larger && residuals_turn(&x->of.e, &x->of.plain)) {
        guesses_clear(&x->of.plain);
        without_fault(x);
    }
    if (!x->failed) guesses_find_start(&x->of.e, &x->of.plain);
    if (!x->failed) one_fault(x);
    if (!is_done(x)) port(x);
    for (int parts = 1;
         parts < GUESS_FAULTS_MAX && !is_done(x) && !choice_of_most(&x->of); parts++) {
        one_more_fault(x, parts);
        if (!is_done(x)) port(x);
    }
}

/* --- a part of the outputs -------------------------------------------------------- */

/* Some outputs of a region. */
static enum bitcut_status sample(struct block *to, const struct problem *q,
                                 struct diagnosis_region r, uint64_t seed,
                                 struct fault *f)
{
    enum { STREAM_ROWS = 61, STREAM_COLS = 62 };
    size_t row[SIDE_MAX], col[SIDE_MAX],
        side = (size_t)sqrt((double)PRODUCTS / (double)problem_k(q));
    side = side < SIDE_MIN ? SIDE_MIN : smaller(side, SIDE_MAX);
    const size_t rows = lines_draw_last(row, side, r.row_end - r.row, seed, STREAM_ROWS),
                 cols = lines_draw_last(col, side, r.col_end - r.col, seed, STREAM_COLS);
    for (size_t i = 0; i < rows; i++) row[i] += r.row;
    for (size_t j = 0; j < cols; j++) col[j] += r.col;
    return block_take(to, q, row, rows, col, cols, f);
}

/* Which outputs of a block are diagnosed; the others are right. */
struct taken {
    const struct residuals *e; /* those that are far from `near` */
    const struct guess *near;
};

static enum bitcut_status diagnose_block(struct diagnosis *to, struct block *b,
                                         const struct taken *only, bool all,
                                         uint64_t seed, const struct progress *progress,
                                         struct fault *f);

/* Diagnose the outputs that are far from a guess: those of the sample, if they are many
   and the region of the others has right ones as well; or some of the region. */
static enum bitcut_status diagnose_outside(struct diagnosis *to, struct diagnosing *x,
                                           const struct guess *g,
                                           const struct diagnosed_place *p,
                                           struct fault *f)
{
    enum { MANY = 24 };
    const struct block *const own = &x->of.e.b;
    const struct taken only = { &x->of.e, g };
    const bool whole = p->filled && p->row_step == 1 && p->col_step == 1,
               scattered = !whole && p->outside >= MANY;
    struct block b;
    const enum bitcut_status status =
        scattered
            ? block_take(&b, own->q, own->row, own->rows, own->col, own->cols, f)
            : sample(&b, own->q,
                     (struct diagnosis_region){ p->row, p->row_end, p->col, p->col_end },
                     x->seed, f);
    return status == BITCUT_OK ? diagnose_block(to, &b, scattered ? &only : NULL, false,
                                                x->seed, x->progress, f)
                               : status;
}

/* Diagnose the outputs that are far from a guess that most outputs are near. */
static enum bitcut_status conclude_outside(struct diagnosis *to, struct diagnosing *x,
                                           const struct guess *g, struct fault *f)
{
    struct diagnosed_place p;
    struct diagnosis rest = { .level = DIAGNOSIS_NONE };
    enum bitcut_status status = BITCUT_OK;
    diagnosis_place_find(&p, &x->of.e, g);
    to->outside = p.outside;
    to->after = diagnosis_place_median(&x->of.e, g, g, false);
    arithmetic_describe(to->operands, sizeof to->operands,
                        &x->of.e.arithmetics.at[g->arithmetic]);
    diagnosis_place_describe_region(to->place, sizeof to->place, &p);
    if (!p.moved && !p.constant && p.outside)
        status = diagnose_outside(&rest, x, g, &p, f);
    if (status != BITCUT_OK) return status;
    const bool right = diagnosis_is_correct(&rest),
               of_most = g->parts && (right || p.outside * 2 <= x->of.e.finite);
    if (g->parts && !right) {
        struct guess exact = alone(x, 0);
        if (exact.rest) to->after = diagnosis_place_median(&x->of.e, &exact, g, of_most);
        free(exact.rest);
    }
    if (of_most) {
        const struct block *const b = &x->of.e.b;
        *to->operands = 0;
        diagnosis_name(to, &x->of.e, g, &x->of.best, &x->of.plain);
        to->outside = x->of.e.finite - p.outside;
        snprintf(to->place, sizeof to->place, "most outputs of ");
        region_describe(to->place, sizeof to->place, b->row[0], b->row[b->rows - 1] + 1,
                        b->col[0], b->col[b->cols - 1] + 1);
    } else if (rest.level == DIAGNOSIS_FAULT) {
        diagnosis_take_faults(to, &rest);
    } else if (p.moved || p.constant || p.foreign) {
        struct diagnosed_fault *const fault = &to->fault[to->faults++];
        fault->name = p.moved ? "moved" : "not written";
        diagnosis_place_describe(fault->what, sizeof fault->what, &p);
        to->level = DIAGNOSIS_FAULT;
    }
    return status;
}

/* --- all -------------------------------------------------------------------------- */

static enum bitcut_status conclude_all(struct diagnosis *to, struct diagnosing *x,
                                       bool all, struct fault *f)
{
    if (!x->failed && x->of.e.finite && !progress_stopped(x->progress)) conclude(to, x);
    const bool part = all && to->level == DIAGNOSIS_UNEXPLAINED && !x->failed;
    const struct guess *g = part ? choice_of_most(&x->of) : NULL;
    if (part && !g) g = choice_of_most_truncated(&x->of);
    if (x->failed) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    return g ? conclude_outside(to, x, g, f) : BITCUT_OK;
}

/* Leave out the outputs that are not taken. */
static void mask(struct diagnosing *x, const struct taken *only)
{
    x->masked = true;
    for (size_t at = 0; at < x->of.e.outputs; at++)
        if (!isnan(x->of.e.level[at]) &&
            !diagnosis_place_is_outside(only->e, only->near, at)) {
            x->of.e.level[at] = NAN;
            x->of.e.finite--;
        }
}

/* Diagnose a block, which becomes its own; `all`: and a part of it, if that alone is far
   from the rest. */
static enum bitcut_status diagnose_block(struct diagnosis *to, struct block *b,
                                         const struct taken *only, bool all,
                                         uint64_t seed, const struct progress *progress,
                                         struct fault *f)
{
    struct diagnosing *const x = calloc(1, sizeof *x);
    if (!x) {
        block_clear(b);
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    }
    x->progress = progress;
    x->seed = seed;
    *to = (struct diagnosis){ .level = DIAGNOSIS_NONE };
    enum bitcut_status status = residuals_make(&x->of.e, b, seed, f);
    if (status == BITCUT_OK) {
        if (only) mask(x, only);
        if (x->of.e.finite) diagnose(x);
        status = conclude_all(to, x, all, f);
        residuals_clear(&x->of.e);
    }
    guesses_clear(&x->of.plain);
    guesses_clear(&x->of.best);
    free(x);
    return status;
}

enum bitcut_status diagnosis_find_in(struct diagnosis *to, const struct problem *q,
                                     struct diagnosis_region r, bool parts, uint64_t seed,
                                     const struct progress *progress, struct fault *f)
{
    struct block b;
    *to = (struct diagnosis){ .level = DIAGNOSIS_NONE };
    const enum bitcut_status status = sample(&b, q, r, seed, f);
    return status == BITCUT_OK ? diagnose_block(to, &b, NULL, parts, seed, progress, f)
                               : status;
}
