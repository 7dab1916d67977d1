/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/search_basis.h"

#include "analysis/identify/search_stage.h"
#include "lib/base/size.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- list ------------------------------------------------------------------------- */

bool bases_list(struct walk *w)
{
    const struct search *const s = w->s;
    const size_t recipes_count = axes[AXIS_RECIPE].count(s->space),
                 units_count = axes[AXIS_UNIT].count(s->space),
                 right = s->base ? 1 : recipes_count * units_count;
    w->bases = right * (1 + s->space->suggestions);
    w->basis = memory_allocate(w->bases, sizeof *w->basis);
    for (size_t i = 0; w->basis && i < w->bases; i++) {
        struct hypothesis *const h = &w->basis[i].h;
        const size_t of = i % right;
        if (s->base) *h = *s->base;
        else
            *h = (struct hypothesis){ { [AXIS_RECIPE] = (uint16_t)(of / units_count),
                                        [AXIS_UNIT] = (uint16_t)(of % units_count) } };
        if (i >= right) h->at[AXIS_FAULT] = (uint16_t)s->space->suggested[i / right - 1];
    }
    return w->basis != NULL;
}

/* Bases that are not far come first; among them recorded units, then the nearest. */
static int nearer_basis(const void *x, const void *y)
{
    const struct basis *a = x, *b = y;
    const struct hypothesis *g = &a->h, *h = &b->h;
    if (a->far != b->far) return a->far - b->far;
    if (!a->far && a->recorded != b->recorded) return b->recorded - a->recorded;
    if (a->distance != b->distance) return a->distance < b->distance ? -1 : 1;
    if (g->at[AXIS_RECIPE] != h->at[AXIS_RECIPE])
        return g->at[AXIS_RECIPE] - h->at[AXIS_RECIPE];
    return g->at[AXIS_UNIT] != h->at[AXIS_UNIT] ? g->at[AXIS_UNIT] - h->at[AXIS_UNIT]
                                                : g->at[AXIS_FAULT] - h->at[AXIS_FAULT];
}

void bases_sort(struct walk *w)
{
    struct search *const s = w->s;
    size_t kept = 0;
    for (size_t i = 0; i < w->bases; i++) {
        const struct basis b = w->basis[i];
        double *const least = &s->distance[b.h.at[AXIS_RECIPE]];
        if (isnan(b.distance)) continue;
        if (b.distance < *least) *least = b.distance;
        double *const stands = &s->as_it_stands[b.h.at[AXIS_RECIPE]];
        if (!b.h.at[AXIS_FAULT] && b.distance < *stands) *stands = b.distance;
        w->basis[kept++] = b;
    }
    w->bases = kept;
    for (size_t i = 0; i < kept; i++) {
        struct basis *const b = &w->basis[i];
        const struct bitcut_unit *u = s->space->unit[b->h.at[AXIS_UNIT]];
        b->far = basis_is_far(s, b);
        b->off = basis_is_off(s, b);
        b->recorded = u->evidence == EVIDENCE_RECORDED || u->k == 1;
    }
    qsort(w->basis, kept, sizeof *w->basis, nearer_basis);
}

/* --- moving some to the front ----------------------------------------------------- */

/* Move a basis to an earlier position. */
static void bring(struct walk *w, size_t to, size_t at)
{
    const struct basis b = w->basis[at];
    memmove(&w->basis[to + 1], &w->basis[to], (at - to) * sizeof *w->basis);
    w->basis[to] = b;
}

/* Whether a hypothesis belongs to a basis. */
static bool is_of(const struct basis *b, const struct hypothesis *h)
{
    const bool has_fault = b->h.at[AXIS_FAULT] != 0;
    return b->h.at[AXIS_RECIPE] == h->at[AXIS_RECIPE] &&
           b->h.at[AXIS_UNIT] == h->at[AXIS_UNIT] &&
           (!has_fault || b->h.at[AXIS_FAULT] == h->at[AXIS_FAULT]);
}

enum { NEAREST = 16 };

size_t bases_bring_nearest(struct walk *w, size_t least)
{
    size_t count = 0;
    for (size_t i = 0; i < w->s->count && count < NEAREST; i++) {
        const struct hypothesis *h = &w->s->found[i].h;
        if (w->s->found[i].matched < least) break;
        size_t at = 0;
        while (at < w->bases && !is_of(&w->basis[at], h)) at++;
        if (at == w->bases || at < count) continue;
        bring(w, count++, at);
    }
    return count;
}

/* Whether two bases differ only in the rounding of their units and in the number of steps
   that these add.  Units with one product are few, and whether the product is rounded
   changes most outputs. */
static bool alike(const struct walk *w, const struct basis *x, const struct basis *y)
{
    const struct bitcut_unit *const u = w->s->space->unit[x->h.at[AXIS_UNIT]],
                                    *const v = w->s->space->unit[y->h.at[AXIS_UNIT]];
    return x->h.at[AXIS_RECIPE] == y->h.at[AXIS_RECIPE] &&
           x->h.at[AXIS_FAULT] == y->h.at[AXIS_FAULT] && u->k == v->k && u->k > 1 &&
           u->a == v->a && u->c == v->c && unit_bits_retained(u) == unit_bits_retained(v);
}

void bases_mark_first(struct walk *w)
{
    for (size_t i = 0; i < w->bases; i++) {
        struct basis *const b = &w->basis[i];
        b->first = w->s->space->unit[b->h.at[AXIS_UNIT]]->c == &formats[FORMAT_F32];
        for (size_t j = 0; j < i && b->first; j++)
            b->first = !(w->basis[j].first &&
                         w->basis[j].h.at[AXIS_RECIPE] == b->h.at[AXIS_RECIPE] &&
                         w->basis[j].h.at[AXIS_FAULT] == b->h.at[AXIS_FAULT]);
    }
}

size_t bases_bring_kinds(struct walk *w)
{
    size_t count = 0;
    for (size_t i = 0; i < w->bases; i++) {
        size_t at = 0;
        while (at < count && !alike(w, &w->basis[at], &w->basis[i])) at++;
        if (at < count) continue;
        bring(w, count++, i);
    }
    return count;
}

/* Whether a basis is likelier than another one; of equally likely ones the nearer is. */
static bool is_likelier(const struct walk *w, const struct basis *x,
                        const struct basis *y)
{
    struct candidate of_x, of_y;
    if (!candidate_make(&of_x, w->s->space, x->h)) return false;
    if (!candidate_make(&of_y, w->s->space, y->h)) return true;
    const int apart =
        prior_compare(w->s->prior, (struct contender){ &of_x, &x->h, false },
                      (struct contender){ &of_y, &y->h, false });
    return apart ? apart < 0 : x->distance < y->distance;
}

/* Whether libraries compute by a basis, which has no fault and may be right. */
static bool is_default(const struct walk *w, const struct basis *b)
{
    struct candidate x;
    return !b->far && !b->off && !b->h.at[AXIS_FAULT] &&
           candidate_make(&x, w->s->space, b->h) && prior_is_default(w->s->prior, &x);
}

size_t bases_bring_likely(struct walk *w)
{
    size_t count = 0;
    bool recorded = false;
    for (size_t i = 0; i < w->bases; i++)
        recorded |= w->basis[i].recorded && is_default(w, &w->basis[i]);
    for (size_t i = 0; i < w->bases; i++)
        if (w->basis[i].recorded == recorded && is_default(w, &w->basis[i]))
            bring(w, count++, i);
    for (size_t i = 1; i < count; i++)
        for (size_t j = i; j > 0 && is_likelier(w, &w->basis[j], &w->basis[j - 1]); j--)
            bring(w, j - 1, j);
    return smaller(count, BASES_LIKELY);
}
