/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/bound_limits.h"

#include "analysis/accuracy/bound_factor.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>

#define U 0x1p-24

/* --- from constants --------------------------------------------------------------- */

/* The magnitudes of a row of A or a column of B: their sum, the largest, and the smallest
   other than zeros, 0 if there is none. */
struct line {
    double sum, most, least;
};

static void line_add(struct line *to, double v)
{
    to->sum += v;
    to->most = v <= to->most ? to->most : v; /* NaN stays */
    if (v != 0 && !(v >= to->least && to->least != 0)) to->least = v;
}

static void lines_find(struct line *to, const uint32_t *x, size_t lines, size_t k,
                       size_t across, size_t along)
{
    for (size_t i = 0; i < lines; i++) to[i] = (struct line){ 0, 0, 0 };
    for (size_t p = 0; p < k; p++)
        for (size_t i = 0; i < lines; i++)
            line_add(&to[i], fabs(value_of_float(x[i * across + p * along])));
}

/* The underflow in the elements of a row or column: none, low parts only, or any. */
enum level { FULL, LOW, ANY };

static enum level level_of(const struct bound_apriori *c, struct line l, bool related)
{
    const double least = related && l.most != 0 ? l.least / l.most : l.least;
    return l.least == 0 || least >= c->from ? FULL : least >= c->normal ? LOW : ANY;
}

/* The underflow summed over k. */
static double beside_of(const struct bound_apriori *c, double k, bool lines,
                        struct line a, struct line b)
{
    const enum level in_a = level_of(c, a, lines), in_b = level_of(c, b, lines);
    const double by_a = lines ? a.most : 1, by_b = lines ? b.most : 1;
    const double of_a = in_b == FULL  ? 0
                        : in_b == LOW ? c->low.of_a
                                      : c->of_a,
                 of_b = in_a == FULL  ? 0
                        : in_a == LOW ? c->low.of_b
                                      : c->of_b,
                 each = in_a == FULL || in_b == FULL ? 0
                        : in_a == LOW && in_b == LOW ? c->low.each
                                                     : c->each;
    return of_a * by_b * a.sum + of_b * by_a * b.sum + k * each * by_a * by_b;
}

/* The limit of an output with |alpha| |A||B| + |beta c| equal to `size`. */
static double limit_of(const struct bound_apriori *c, const struct comparison *x,
                       bool equilibrate, double size, struct line a, struct line b)
{
    const double lines = equilibrate ? c->lines * a.most * b.most : 0,
                 alpha = fabs(value_of_float(x->alpha));
    if (!(a.most <= c->most && b.most <= c->most && isfinite(size))) return NAN;
    return c->relative * U * size + c->least + lines +
           alpha * beside_of(c, (double)x->k, equilibrate, a, b);
}

enum bitcut_status bound_apriori_limits(double *limit, const struct bound_apriori *c,
                                        bool equilibrate, const struct comparison *x,
                                        struct fault *f)
{
    const size_t m = x->m, n = x->n, k = x->k;
    struct line *const rows = memory_allocate(m + n, sizeof *rows);
    if (!rows) return bound_no_memory(f);
    struct line *const columns = rows + m;
    struct hostfp mode;
    hostfp_enter(&mode);
    for (size_t i = 0; i < m; i++) lines_find(rows + i, x->a + i * k, 1, k, 0, 1);
    lines_find(columns, x->b, n, k, 1, n);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
            limit[i * n + j] = bound_raised(
                limit_of(c, x, equilibrate, x->magnitude[i * n + j], rows[i], columns[j]),
                k);
    hostfp_leave(&mode);
    free(rows);
    return BITCUT_OK;
}

/* --- underflow -------------------------------------------------------------------- */

/* A row of A or a column of B: its magnitudes, and the underflow of each element. */
struct elements {
    const double *size, *factor; /* size: times the factor, bound_factor_at() */
    const unsigned char *level;
    double most;
    bool full; /* no element underflows */
};

/* Memory for numbers of elements, [lines][k] each. */
struct element_room {
    double *size, *factor;
    unsigned char *level;
};

/* Set these for `lines` rows of A or columns of B. */
static void elements_find(struct elements *to, struct element_room r,
                          const struct bound_apriori *c, bool equilibrate,
                          const struct comparison *x, bool of_b)
{
    const uint32_t *const at = of_b ? x->b : x->a;
    const size_t k = x->k, lines = of_b ? x->n : x->m, across = of_b ? 1 : k,
                 along = of_b ? x->n : 1;
    for (size_t i = 0; i < lines; i++, r.size += k, r.factor += k, r.level += k) {
        to[i] = (struct elements){ r.size, r.factor, r.level, 0, true };
        for (size_t p = 0; p < k; p++) {
            r.size[p] = fabs(value_of_float(at[i * across + p * along]));
            r.factor[p] = bound_factor_at(x, of_b, i, p);
            to[i].most = larger_double(to[i].most, r.size[p]);
        }
        const double by = equilibrate ? to[i].most : 1;
        for (size_t p = 0; p < k; p++) {
            r.level[p] = r.size[p] == 0 || r.size[p] >= c->from * by ? FULL
                         : r.size[p] >= c->normal * by               ? LOW
                                                                     : ANY;
            to[i].full = to[i].full && r.level[p] == FULL;
            r.size[p] *= r.factor[p];
        }
    }
}

/* The underflow relative to the magnitudes of the other operand, and for two elements
   that underflow. */
struct addends {
    double of_a[3], of_b[3], each[3][3];
};

static double rest_of(const struct addends *add, const struct elements *a,
                      const struct elements *b, size_t k)
{
    double sum = 0;
    for (size_t p = 0; p < k; p++)
        sum += add->of_a[b->level[p]] * a->size[p] * b->factor[p] +
               add->of_b[a->level[p]] * b->size[p] * a->factor[p] +
               add->each[a->level[p]][b->level[p]] * a->factor[p] * b->factor[p];
    return sum;
}

static void rest_fill(double *rest, const struct bound_apriori *c, bool equilibrate,
                      const struct comparison *x, const struct elements *row,
                      const struct elements *column)
{
    const double alpha = fabs(value_of_float(x->alpha)), each = c->each;
    for (size_t i = 0; i < x->m; i++)
        for (size_t j = 0; j < x->n; j++) {
            const struct elements *const a = &row[i], *const b = &column[j];
            const double by_a = equilibrate ? a->most : 1,
                         by_b = equilibrate ? b->most : 1,
                         low = c->low.each * by_a * by_b, any = each * by_a * by_b;
            const struct addends add = {
                .of_a = { 0, c->low.of_a * by_b, c->of_a * by_b },
                .of_b = { 0, c->low.of_b * by_a, c->of_b * by_a },
                .each = { { 0 }, { 0, low, any }, { 0, any, any } },
            };
            const double sum = a->full && b->full ? 0 : rest_of(&add, a, b, x->k);
            const double factors =
                bound_factor_most(x, false, i) * bound_factor_most(x, true, j);
            rest[i * x->n + j] = bound_raised(
                (c->least + c->lines * a->most * b->most) * factors + alpha * sum, x->k);
            if (!(a->most <= c->most && b->most <= c->most)) rest[i * x->n + j] = NAN;
        }
}

enum bitcut_status bound_apriori_rest(double *rest, const struct bound_apriori *c,
                                      bool equilibrate, const struct comparison *x,
                                      struct fault *f)
{
    const size_t m = x->m, n = x->n, k = x->k, lines = m + n;
    struct elements *const line = memory_allocate(lines, sizeof *line);
    double *const size = memory_allocate(lines, 2 * k * sizeof *size);
    unsigned char *const level = memory_allocate(lines, k);
    const bool enough = line && size && level;
    struct hostfp mode;
    hostfp_enter(&mode);
    if (enough) {
        const struct element_room of_a = { size, size + lines * k, level },
                                  of_b = { size + m * k, of_a.factor + m * k,
                                           level + m * k };
        elements_find(line, of_a, c, equilibrate, x, false);
        elements_find(line + m, of_b, c, equilibrate, x, true);
        rest_fill(rest, c, equilibrate, x, line, line + m);
    }
    hostfp_leave(&mode);
    free(line);
    free(size);
    free(level);
    return enough ? BITCUT_OK : bound_no_memory(f);
}

/* --- all rows --------------------------------------------------------------------- */

/* The limits of a row that simulates the emulator, one output after the other; NaN for an
   output without a finite sum. */
static enum bitcut_status watch_all(double *limit, const struct bound_row *row,
                                    const struct bound_problem *x, int threads,
                                    const struct progress *progress, struct fault *f)
{
    const size_t count = x->x->m * x->x->n;
    enum bitcut_status worst = BITCUT_OK;
    (void)threads;
#pragma omp parallel for schedule(dynamic) num_threads(threads_for(threads, count))
    for (size_t at = 0; at < count; at++) {
        struct bound_watched w = { .lost = 0 };
        if (progress_stopped(progress)) continue;
        const enum bitcut_status status = bound_watch(&w, x, at, NULL);
        limit[at] = w.budget.event.what ? (double)NAN : row->watched(&w);
        if (status == BITCUT_OK) continue;
#pragma omp atomic write
        worst = status;
    }
    return worst == BITCUT_OK ? progress_end(worst, progress, f) : bound_no_memory(f);
}

/* The limits of a row that has constants.  With steps, the underflow is that of each
   product, with its factors. */
static enum bitcut_status from_constants(double *limit, const struct bound_row *row,
                                         const struct bound_problem *x, struct fault *f)
{
    struct hostfp mode;
    hostfp_enter(&mode);
    const struct bound_apriori constants = row->constants(x);
    hostfp_leave(&mode);
    if (!x->x->extra)
        return bound_apriori_limits(limit, &constants, x->plan->equilibrate, x->x, f);
    const enum bitcut_status status =
        bound_apriori_rest(limit, &constants, x->plan->equilibrate, x->x, f);
    if (status != BITCUT_OK) return status;
    hostfp_enter(&mode);
    for (size_t i = 0; i < x->x->m * x->x->n; i++)
        limit[i] += constants.relative * U * x->x->magnitude[i] * (1 + 0x1p-20);
    hostfp_leave(&mode);
    return BITCUT_OK;
}

enum bitcut_status bound_limits(double *limit, double *size, const struct bound_row *row,
                                const struct bound_problem *x, int threads,
                                const struct progress *progress, struct fault *f)
{
    if (!x->x->m || !x->x->n) return BITCUT_OK;
    if (x->plan->integer) bound_fill_integers(limit, x);
    const enum bitcut_status status =
        x->plan->integer ? BITCUT_OK
        : row->fill      ? row->fill(limit, x, threads, progress, f)
        : row->watched   ? watch_all(limit, row, x, threads, progress, f)
                         : from_constants(limit, row, x, f);
    return status != BITCUT_OK || !x->x->extra
               ? status
               : bound_apply_epilogue(limit, size, false, x, f);
}
