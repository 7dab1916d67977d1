/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/k_effect.h"

#include "lib/base/size.h"
#include "lib/base/text.h"

#include <math.h>
#include <stdlib.h>

const struct k_effect_row k_effects[] = {
    { "k lost", "are missing", -1, { false, false }, 0 },
    { "k twice", "are added twice", 1, { false, false }, 0 },
    { "k stale", "have the operands of as many k before", 0, { true, true }, -1 },
    { "k stale", "have the operands of as many k after", 0, { true, true }, 1 },
    { "k of A stale", "have the elements of A of as many k before", 0, { true, false }, -1 },
    { "k of A stale", "have the elements of A of as many k after", 0, { true, false }, 1 },
    { "k of B stale", "have the elements of B of as many k before", 0, { false, true }, -1 },
    { "k of B stale", "have the elements of B of as many k after", 0, { false, true }, 1 },
    { 0 }
};

/* --- effects ---------------------------------------------------------------------- */

/* Products of a term over a range, with both operands from another place. */
static double moved(const struct part_matrices *m, struct recipe_term t, size_t row,
                    size_t col, struct k_range r, const struct k_effect_row *e)
{
    const ptrdiff_t by = (ptrdiff_t)(r.end - r.first) * e->shift;
    const double *const a = m->part[BITCUT_A][t.a] + row * m->k + (e->stale[0] ? by : 0),
                        *const b =
                            m->part[BITCUT_B][t.b] + col * m->k + (e->stale[1] ? by : 0);
    double sum = 0;
    for (size_t p = r.first; p < r.end; p++) sum += a[p] * b[p];
    return sum;
}

/* What the effect adds to an output. */
static double added(const struct k_effect *e, const struct part_matrices *m,
                    const struct candidate *x, size_t row, size_t col)
{
    double sum = 0;
    for (int t = 0; t < x->plan.terms; t++) {
        const struct recipe_term term = x->plan.term[t];
        if (e->term != ALL_TERMS && e->term != t) continue;
        const double own =
            part_product(m, term.a, term.b, row, col, e->range.first, e->range.end);
        sum += part_weight(x, t) * (e->row->factor
                                        ? e->row->factor * own
                                        : moved(m, term, row, col, e->range, e->row) - own);
    }
    return sum;
}

void k_effect_add(double *value, const struct k_effect *e, const struct part_matrices *m,
                  const struct candidate *x)
{
    for (size_t at = 0; at < m->rows * m->cols; at++)
        value[at] += added(e, m, x, at / m->cols, at % m->cols);
}

/* --- ranges by least squares ------------------------------------------------------ */

enum { POSITIONS_MAX = 70, HALF = 16 };

/* Sums of the products up to some positions of k. */
struct prefix {
    size_t position[POSITIONS_MAX], positions;
    double *sum; /* [outputs][POSITIONS_MAX] */
    double with[POSITIONS_MAX], gram[POSITIONS_MAX][POSITIONS_MAX];
};

struct fitting {
    const struct part_matrices *m;
    const struct candidate *x;
    const double *residual, *weight;
};

static void make_prefix(struct prefix *p, const struct fitting *f, int only)
{
    const size_t outputs = f->m->rows * f->m->cols;
    for (size_t at = 0; at < outputs; at++) {
        double sum = 0;
        for (size_t i = 0, k = 0; i < p->positions; i++) {
            for (int t = 0; t < f->x->plan.terms; t++)
                if (only == ALL_TERMS || only == t)
                    sum += part_weight(f->x, t) *
                           part_product(f->m, f->x->plan.term[t].a, f->x->plan.term[t].b,
                                        at / f->m->cols, at % f->m->cols, k,
                                        p->position[i]);
            k = p->position[i];
            p->sum[at * POSITIONS_MAX + i] = sum;
        }
    }
    for (size_t i = 0; i < p->positions; i++) {
        p->with[i] = 0;
        for (size_t j = 0; j <= i; j++) p->gram[i][j] = 0;
    }
    for (size_t at = 0; at < outputs; at++) {
        const double *const sum = &p->sum[at * POSITIONS_MAX], w = f->weight[at];
        for (size_t i = 0; i < p->positions; i++) {
            p->with[i] += w * f->residual[at] * sum[i];
            for (size_t j = 0; j <= i; j++) p->gram[i][j] += w * sum[i] * sum[j];
        }
    }
}

/* The change of the weighted sum of squares if the range between two positions has the
   effect: negative if it comes nearer. */
static double gain(const struct prefix *p, size_t i, size_t j, int factor)
{
    const double with = p->with[j] - p->with[i],
                 square = p->gram[j][j] + p->gram[i][i] - 2 * p->gram[j][i];
    return square - 2 * factor * with;
}

static struct k_range best_range(const struct prefix *p, int factor)
{
    struct k_range best = { 0, 0 };
    double least = INFINITY;
    for (size_t i = 0; i < p->positions; i++)
        for (size_t j = i + 1; j < p->positions; j++) {
            const double now = gain(p, i, j, factor);
            if (!(now < least)) continue;
            least = now;
            best = (struct k_range){ p->position[i], p->position[j] };
        }
    return best;
}

/* Positions `step` apart around both ends. */
static void around(struct prefix *p, struct k_range r, size_t wide, size_t step, size_t k)
{
    const size_t end[] = { r.first, r.end };
    p->positions = 0;
    for (int e = 0; e < 2; e++)
        for (size_t i = 0; i <= 2 * (wide / step); i++) {
            const size_t at = end[e] + i * step;
            if (at < wide || at - wide > k) continue;
            if (p->positions && p->position[p->positions - 1] >= at - wide) continue;
            p->position[p->positions++] = at - wide;
        }
}

static void fit_range(struct k_range *to, struct prefix *p, const struct fitting *f,
                      int only, int factor)
{
    const size_t k = f->m->k;
    size_t step = divide_up(k, POSITIONS_MAX - 2);
    p->positions = 0;
    for (size_t at = 0; at < k; at += step) p->position[p->positions++] = at;
    p->position[p->positions++] = k;
    make_prefix(p, f, only);
    *to = best_range(p, factor);
    while (step > 1) {
        const size_t wide = divide_up(step, HALF) * HALF, next = divide_up(step, HALF);
        around(p, *to, wide, next, k);
        make_prefix(p, f, only);
        *to = best_range(p, factor);
        step = next;
    }
}

/* --- ranges of a neighbour -------------------------------------------------------- */

enum { WIDTH_MIN = 4, WIDTH_MAX = 512 };

static bool is_inside(struct k_range r, int shift, size_t k)
{
    const size_t wide = r.end - r.first;
    return r.end <= k && (shift < 0 ? r.first >= wide : r.end + wide <= k);
}

static double misfit(const struct k_effect *e, const struct fitting *f)
{
    double sum = 0;
    for (size_t at = 0; at < f->m->rows * f->m->cols; at++) {
        const double by = added(e, f->m, f->x, at / f->m->cols, at % f->m->cols);
        sum += f->weight[at] * (by * by - 2 * by * f->residual[at]);
    }
    return sum;
}

static void fit_neighbour(struct k_effect *e, const struct fitting *f)
{
    struct k_range best = { 0, 0 };
    double least = INFINITY;
    for (size_t wide = WIDTH_MIN; wide <= WIDTH_MAX; wide *= 2)
        for (size_t first = 0; first + wide <= f->m->k; first += wide) {
            e->range = (struct k_range){ first, first + wide };
            if (!is_inside(e->range, e->row->shift, f->m->k)) continue;
            const double now = misfit(e, f);
            if (now < least) least = now, best = e->range;
        }
    e->range = best;
}

size_t k_effect_count(const struct candidate *x)
{
    size_t rows = 0;
    while (k_effects[rows].name) rows++;
    return rows + 2 * (size_t)x->plan.terms;
}

size_t k_effects_fit(struct k_effect *to, const struct part_matrices *m,
                     const struct candidate *x, const double *residual,
                     const double *weight)
{
    const struct fitting f = { m, x, residual, weight };
    struct prefix *const p = malloc(sizeof *p);
    size_t count = 0;
    if (p) p->sum = memory_allocate(m->rows * m->cols, POSITIONS_MAX * sizeof *p->sum);
    for (int only = ALL_TERMS; p && p->sum && only < x->plan.terms; only++) {
        if (only != ALL_TERMS && x->plan.terms == 1) break;
        for (const struct k_effect_row *row = k_effects; row->name; row++) {
            struct k_effect e = { row, only, { 0, 0 } };
            if (row->factor) fit_range(&e.range, p, &f, only, row->factor);
            else if (only == ALL_TERMS && x->plan.terms == 1) fit_neighbour(&e, &f);
            if (e.range.end) to[count++] = e;
        }
    }
    if (!p || !p->sum) count = SIZE_MAX;
    if (p) free(p->sum);
    free(p);
    return count;
}

/* --- words ------------------------------------------------------------------------ */

void k_effect_describe(char *text, size_t size, const struct k_effect *e,
                       const struct candidate *x)
{
    static const char *const parts[] = { "high", "low", "lowest" };
    text_add(text, size, "the products");
    if (e->term != ALL_TERMS)
        text_add(text, size, " %s(A) %s(B)", parts[x->plan.term[e->term].a],
                 parts[x->plan.term[e->term].b]);
    if (e->range.end - e->range.first == 1)
        text_add(text, size, " of k = %zu %s", e->range.first, e->row->what);
    else
        text_add(text, size, " of k from %zu to %zu %s", e->range.first,
                 e->range.end - 1, e->row->what);
}
