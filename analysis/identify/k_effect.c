/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/k_effect.h"

#include "lib/base/size.h"
#include "lib/base/text.h"

#include <math.h>
#include <stdlib.h>

/* clang-format off */
const struct k_effect_row k_effects[] = {
    { "k lost",       "are missing",            -1, { false, false },  0, OF_RANGE },
    { "k twice",      "are added twice",         1, { false, false },  0, OF_RANGE },
    { "k stale",      "have the operands",       0, { true,  true  }, -1, OF_RANGE },
    { "k stale",      "have the operands",       0, { true,  true  },  1, OF_RANGE },
    { "k stale",      "have the operands",       0, { true,  true  }, -2, OF_RANGE },
    { "k of A stale", "have the elements of A",  0, { true,  false }, -1, OF_RANGE },
    { "k of A stale", "have the elements of A",  0, { true,  false },  1, OF_RANGE },
    { "k of A stale", "have the elements of A",  0, { true,  false }, -2, OF_RANGE },
    { "k of B stale", "have the elements of B",  0, { false, true  }, -1, OF_RANGE },
    { "k of B stale", "have the elements of B",  0, { false, true  },  1, OF_RANGE },
    { "k of B stale", "have the elements of B",  0, { false, true  }, -2, OF_RANGE },
    { "promotion without clearing", "is not cleared when it is promoted",
                                             0, { false, false },  0, OF_SUMS },
    { "k swapped",    "are swapped",             0, { false, false },  0, OF_PAIR },
    { 0 }
};
/* clang-format on */

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

/* The change of the product of a term if a k of one operand and another are swapped. */
static double swapped(const struct part_matrices *m, struct recipe_term t, size_t row,
                      size_t col, struct k_range r)
{
    const double *const a = m->part[BITCUT_A][t.a] + row * m->k,
                        *const b = m->part[BITCUT_B][t.b] + col * m->k;
    return (a[r.end - 1] - a[r.first]) * (b[r.first] - b[r.end - 1]);
}

/* Products of a term, each as often as it is in sums that are promoted before the last.
 */
static double promoted(const struct part_matrices *m, struct recipe_term t, size_t row,
                       size_t col, size_t wide)
{
    double sum = 0;
    for (size_t first = 0; first + wide < m->k; first += wide)
        sum += (double)(divide_up(m->k, wide) - 1 - first / wide) *
               part_product(m, t.a, t.b, row, col, first, first + wide);
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
        if (e->row->kind != OF_RANGE) {
            sum += part_weight(x, t) * (e->row->kind == OF_SUMS
                                            ? promoted(m, term, row, col, e->range.end)
                                            : swapped(m, term, row, col, e->range));
            continue;
        }
        const double own =
            part_product(m, term.a, term.b, row, col, e->range.first, e->range.end);
        sum += part_weight(x, t) *
               (e->row->factor ? e->row->factor * own
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
    double *sum;      /* [POSITIONS_MAX][outputs] */
    double *weighted; /* [outputs] */
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
                    sum +=
                        part_weight(f->x, t) *
                        part_product(f->m, f->x->plan.term[t].a, f->x->plan.term[t].b,
                                     at / f->m->cols, at % f->m->cols, k, p->position[i]);
            k = p->position[i];
            p->sum[i * outputs + at] = sum;
        }
    }
    for (size_t i = 0; i < p->positions; i++) {
        const double *const sum = &p->sum[i * outputs];
        for (size_t at = 0; at < outputs; at++) p->weighted[at] = f->weight[at] * sum[at];
        p->with[i] = part_dot(p->weighted, f->residual, outputs);
        for (size_t j = 0; j <= i; j++)
            p->gram[i][j] = part_dot(p->weighted, &p->sum[j * outputs], outputs);
    }
}

/* The change of the weighted sum of squares if the range between two positions has the
   effect: negative if it comes nearer.  `any`: with the best factor of the same sign. */
static double gain(const struct prefix *p, size_t i, size_t j, int factor, bool any)
{
    const double with = factor * (p->with[j] - p->with[i]),
                 square = p->gram[j][j] + p->gram[i][i] - 2 * p->gram[j][i];
    if (!any) return square - 2 * with;
    return with > 0 && square > 0 ? -with * with / square : 0;
}

static struct k_range best_range(const struct prefix *p, int factor, bool any)
{
    struct k_range best = { 0, 0 };
    double least = INFINITY;
    for (size_t i = 0; i < p->positions; i++)
        for (size_t j = i + 1; j < p->positions; j++) {
            const double now = gain(p, i, j, factor, any);
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

/* Refine the ends of a range that were found to `step`. */
static void refine(struct k_range *to, struct prefix *p, const struct fitting *f,
                   int only, int factor, size_t step)
{
    while (step > 1) {
        const size_t wide = divide_up(step, HALF) * HALF, next = divide_up(step, HALF);
        around(p, *to, wide, next, f->m->k);
        make_prefix(p, f, only);
        *to = best_range(p, factor, next > 1);
        step = next;
    }
}

static struct k_range fit_blocks(struct prefix *p, const struct fitting *f, int only,
                                 int factor)
{
    const size_t k = f->m->k, step = divide_up(k, POSITIONS_MAX - 2);
    p->positions = 0;
    for (size_t at = 0; at < k; at += step) p->position[p->positions++] = at;
    p->position[p->positions++] = k;
    make_prefix(p, f, only);
    struct k_range best = best_range(p, factor, step > 1);
    refine(&best, p, f, only, factor, step);
    return best;
}

/* The first k, or the last ones, whose effect is nearest to the residual, if there are
   fewer outputs than positions of blocks. */
static struct k_range fit_end(const struct fitting *f, int only, int factor, bool last)
{
    const size_t k = f->m->k, outputs = f->m->rows * f->m->cols;
    double value[POSITIONS_MAX] = { 0 }, least = 0;
    struct k_range best = { 0, 0 };
    if (outputs > POSITIONS_MAX) return best;
    for (size_t i = 0; i + 1 < k; i++) {
        const size_t p = last ? k - 1 - i : i;
        double now = 0;
        for (size_t at = 0; at < outputs; at++) {
            for (int t = 0; t < f->x->plan.terms; t++)
                if (only == ALL_TERMS || only == t)
                    value[at] +=
                        factor * part_weight(f->x, t) *
                        part_product(f->m, f->x->plan.term[t].a, f->x->plan.term[t].b,
                                     at / f->m->cols, at % f->m->cols, p, p + 1);
            now += f->weight[at] * value[at] * (value[at] - 2 * f->residual[at]);
        }
        if (!(now < least)) continue;
        least = now;
        best = last ? (struct k_range){ p, k } : (struct k_range){ 0, p + 1 };
    }
    return best;
}

/* The residual without the means of rows and of columns. */
static void center(double *to, const struct fitting *f)
{
    const size_t rows = f->m->rows, cols = f->m->cols;
    double all = 0;
    for (size_t at = 0; at < rows * cols; at++)
        all += (to[at] = f->residual[at]) / (double)(rows * cols);
    for (size_t i = 0; i < rows; i++) {
        double mean = 0;
        for (size_t j = 0; j < cols; j++)
            mean += f->residual[i * cols + j] / (double)cols;
        for (size_t j = 0; j < cols; j++) to[i * cols + j] -= mean - all / 2;
    }
    for (size_t j = 0; j < cols; j++) {
        double mean = 0;
        for (size_t i = 0; i < rows; i++)
            mean += f->residual[i * cols + j] / (double)rows;
        for (size_t i = 0; i < rows; i++) to[i * cols + j] -= mean - all / 2;
    }
}

/* The sum over all outputs of `centered` times the product of element p of the lines,
   less the means of both; and the sum of the squares of such products. */
static double correlate(double *square, const struct fitting *f, const double *centered,
                        struct recipe_term t, size_t p)
{
    const size_t rows = f->m->rows, cols = f->m->cols, k = f->m->k;
    const double *const a = f->m->part[BITCUT_A][t.a] + p, *const b =
                                                               f->m->part[BITCUT_B][t.b] +
                                                               p;
    double mean_a = 0, mean_b = 0, square_a = 0, square_b = 0, with = 0;
    for (size_t i = 0; i < rows; i++) mean_a += a[i * k] / (double)rows;
    for (size_t j = 0; j < cols; j++) mean_b += b[j * k] / (double)cols;
    for (size_t j = 0; j < cols; j++)
        square_b += (b[j * k] - mean_b) * (b[j * k] - mean_b);
    for (size_t i = 0; i < rows; i++) {
        double sum = 0;
        for (size_t j = 0; j < cols; j++)
            sum += centered[i * cols + j] * (b[j * k] - mean_b);
        with += (a[i * k] - mean_a) * sum;
        square_a += (a[i * k] - mean_a) * (a[i * k] - mean_a);
    }
    *square = square_a * square_b;
    return with;
}

/* The range with the largest sum of gains of its k, as if the products of different k
   were independent; the ends are then refined. */
static struct k_range fit_single(struct prefix *p, const struct fitting *f,
                                 const double *centered, int only, int factor)
{
    struct k_range best = { 0, 0 };
    double most = 0, sum = 0;
    const int t = only == ALL_TERMS ? 0 : only;
    const double weight = part_weight(f->x, t);
    for (size_t at = 0, first = 0; at < f->m->k; at++) {
        double square;
        const double with = correlate(&square, f, centered, f->x->plan.term[t], at);
        if (sum <= 0) sum = 0, first = at;
        sum += 2 * factor * weight * with - weight * weight * square;
        if (sum > most) most = sum, best = (struct k_range){ first, at + 1 };
    }
    if (best.end) refine(&best, p, f, only, factor, HALF);
    return best;
}

/* --- ranges of a neighbour -------------------------------------------------------- */

enum { WIDTH_MIN = 4, WIDTH_MAX = 512 };

static bool is_inside(struct k_range r, int shift, size_t k)
{
    const size_t wide = r.end - r.first;
    return r.end <= k &&
           (shift < 0 ? r.first >= wide * (size_t)-shift : r.end + wide <= k);
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

/* Two k of those whose products the residual lacks most. */
static void fit_pair(struct k_effect *e, const struct fitting *f, const double *centered)
{
    enum { FEW = 16 };
    double gain[FEW] = { 0 }, least = 0;
    size_t at[FEW], count = 0;
    struct k_range best = { 0, 0 };
    const double weight = part_weight(f->x, 0);
    for (size_t p = 0; p < f->m->k; p++) {
        double square;
        const double with = correlate(&square, f, centered, f->x->plan.term[0], p),
                     now = -2 * weight * with - weight * weight * square;
        size_t to = count;
        while (to && gain[to - 1] < now) to--;
        if (to == FEW) continue;
        count += count < FEW;
        for (size_t i = count - 1; i > to; i--) gain[i] = gain[i - 1], at[i] = at[i - 1];
        gain[to] = now, at[to] = p;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            if (at[i] >= at[j]) continue;
            e->range = (struct k_range){ at[i], at[j] + 1 };
            const double now = misfit(e, f);
            if (now < least) least = now, best = e->range;
        }
    e->range = best;
}

/* The k between two promotions. */
static void fit_promotion(struct k_effect *e, const struct fitting *f)
{
    struct k_range best = { 0, 0 };
    double least = 0;
    for (size_t step = WIDTH_MIN; step <= WIDTH_MAX; step *= 2)
        for (size_t times = 1; times <= 5; times += 2) {
            e->range = (struct k_range){ 0, step * times };
            if (e->range.end >= f->m->k) continue;
            const double now = misfit(e, f);
            if (now < least) least = now, best = e->range;
        }
    e->range = best;
}

size_t k_effect_count(const struct candidate *x)
{
    size_t rows = 0;
    while (k_effects[rows].name) rows++;
    return rows + 9 * (size_t)x->plan.terms;
}

/* The ranges of a row for a term, at most RANGES.  Returns their number. */
static size_t fit_row(struct k_effect *to, struct prefix *p, const struct fitting *f,
                      const double *centered, int only, const struct k_effect_row *row)
{
    enum { RANGES = 4 };
    struct k_effect e[RANGES];
    size_t count = 0;
    for (int i = 0; i < RANGES; i++) e[i] = (struct k_effect){ row, only, { 0, 0 } };
    if (row->factor) {
        e[0].range = fit_blocks(p, f, only, row->factor);
        e[1].range = fit_single(p, f, centered, only, row->factor);
        e[2].range = fit_end(f, only, row->factor, false);
        e[3].range = fit_end(f, only, row->factor, true);
    } else if (row->kind == OF_SUMS) fit_promotion(&e[0], f);
    else if (row->kind == OF_PAIR) {
        if (only == ALL_TERMS) fit_pair(&e[0], f, centered);
    } else if (only == ALL_TERMS) fit_neighbour(&e[0], f);
    for (int i = 0; i < RANGES; i++)
        if (e[i].range.end) to[count++] = e[i];
    return count;
}

size_t k_effects_fit(struct k_effect *to, const struct part_matrices *m,
                     const struct candidate *x, const double *residual,
                     const double *weight)
{
    const struct fitting f = { m, x, residual, weight };
    const int terms = x->plan.terms;
    struct prefix *const p = calloc(1, sizeof *p);
    double *const centered = memory_allocate(m->rows * m->cols + 1, sizeof *centered);
    size_t count = 0;
    if (p) {
        p->sum = memory_allocate(m->rows * m->cols, (POSITIONS_MAX + 1) * sizeof *p->sum);
        p->weighted = p->sum ? p->sum + m->rows * m->cols * POSITIONS_MAX : NULL;
    }
    const bool made = p && p->sum && centered;
    if (made) center(centered, &f);
    for (int t = 0; t < terms && made; t++)
        for (const struct k_effect_row *row = k_effects; row->name; row++)
            count +=
                fit_row(to + count, p, &f, centered, terms == 1 ? ALL_TERMS : t, row);
    if (p) free(p->sum);
    free(p);
    free(centered);
    return made ? count : SIZE_MAX;
}

/* --- words ------------------------------------------------------------------------ */

static void describe_range(char *text, size_t size, struct k_range r)
{
    if (r.end - r.first == 1) text_add(text, size, " of k = %zu", r.first);
    else text_add(text, size, " of k from %zu to %zu", r.first, r.end - 1);
}

void k_effect_describe(char *text, size_t size, const struct k_effect *e,
                       const struct candidate *x)
{
    static const char *const parts[] = { "high", "low", "lowest" };
    const bool sums = e->row->kind == OF_SUMS;
    if (e->row->kind == OF_PAIR) {
        text_add(text, size, "the elements of one operand at k = %zu and k = %zu %s",
                 e->range.first, e->range.end - 1, e->row->what);
        return;
    }
    text_add(text, size, sums ? "the sum of the products" : "the products");
    if (e->term != ALL_TERMS)
        text_add(text, size, " %s(A) %s(B)", parts[x->plan.term[e->term].a],
                 parts[x->plan.term[e->term].b]);
    if (!sums) describe_range(text, size, e->range);
    text_add(text, size, " %s", e->row->what);
    if (sums) text_add(text, size, ", after every %zu k", e->range.end);
    if (e->row->factor || sums) return;
    const size_t by = (e->range.end - e->range.first) * (size_t)e->row->shift;
    describe_range(text, size,
                   (struct k_range){ e->range.first + by, e->range.end + by });
}
