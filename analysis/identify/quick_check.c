/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/quick_check.h"

#include "lib/base/size.h"
#include "lib/base/stats.h"
#include "lib/number/bits.h"

#include <math.h>
#include <stdlib.h>

/* Floating point of the host decides which hypotheses are tried first, never whether one
   holds. */

enum { OUTPUTS_MAX = 32 }; /* outputs that are examined */

/* Output `at` of a block: D minus the exact value, over alpha; and |A||B|, with what was
   told the magnitude of all terms over |alpha|. */
static double residual(double *size, const struct block *b, size_t at, uint32_t alpha,
                       uint32_t beta)
{
    const size_t i = at / b->cols, j = at % b->cols;
    double sum = 0;
    *size = 0;
    if (b->own) {
        const struct exact_output v = block_exact(b, i, j);
        *size = v.magnitude / fabs(value_of_float(alpha));
        return (value_of_float(b->d[at]) - v.value) / value_of_float(alpha);
    }
    for (size_t p = 0; p < b->k; p++) {
        const double product =
            value_of_float(b->a[i * b->k + p]) * value_of_float(b->b[p * b->cols + j]);
        sum += product;
        *size += fabs(product);
    }
    const double c = b->c ? value_of_float(beta) * value_of_float(b->c[at]) : 0;
    return (value_of_float(b->d[at]) - c) / value_of_float(alpha) - sum;
}

double quick_check_error(const struct block *b, uint32_t alpha, uint32_t beta)
{
    const size_t count = smaller(OUTPUTS_MAX, b->rows * b->cols);
    double all[OUTPUTS_MAX], some[OUTPUTS_MAX], size;
    size_t others = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t at = block_spread(b, i, OUTPUTS_MAX);
        const double r = residual(&size, b, at, alpha, beta);
        all[i] = size > 0 ? ldexp(fabs(r) / size, 24) : r == 0 ? (double)NAN : INFINITY;
        if (!f32_is_zero(b->d[at])) some[others++] = all[i];
    }
    others = doubles_finite(some, others);
    return others ? doubles_median(some, others)
                  : doubles_median(all, doubles_finite(all, count));
}

/* --- results near ties ------------------------------------------------------------ */

/* The distance of x from halfway between two numbers of a format, relative to their
   distance. */
static double off_tie(double x, const struct bitcut_format *format)
{
    int exponent;
    if (!isfinite(x)) return INFINITY;
    const double fraction = ldexp(fabs(frexp(x, &exponent)), format->fraction_bits + 1);
    return fabs(fraction - floor(fraction) - 0.5);
}

size_t quick_check_ties(size_t *position, size_t most, const struct block *b,
                        const struct bitcut_format *format, uint32_t alpha, uint32_t beta)
{
    size_t count = 0;
    bool *const taken = calloc(b->cols + 1, sizeof *taken);
    double *const off = memory_allocate(b->rows * b->cols, sizeof *off);
    for (size_t at = 0; taken && off && at < b->rows * b->cols; at++) {
        double size;
        const double r = residual(&size, b, at, alpha, beta); /* (D - result) / alpha */
        off[at] = off_tie(value_of_float(b->d[at]) - r * value_of_float(alpha), format);
    }
    for (size_t n = 0; taken && off && n < smaller(most, b->cols); n++) {
        const double *const row = &off[n % b->rows * b->cols];
        size_t best = 0;
        while (taken[best]) best++;
        for (size_t j = best; j < b->cols; j++)
            if (!taken[j] && row[j] < row[best]) best = j;
        taken[best] = true;
    }
    for (size_t j = 0; taken && off && j < b->cols; j++)
        if (taken[j]) position[count++] = j;
    free(taken);
    free(off);
    return count;
}

/* --- reading of the matrices ------------------------------------------------------ */

static enum bitcut_status error_of(double *error, const struct problem *q, uint64_t seed,
                                   struct fault *f)
{
    enum { LINES = 8 };
    size_t row[LINES], col[LINES];
    struct block b;
    const size_t rows = lines_draw(row, LINES, problem_m(q), seed, 1),
                 cols = lines_draw(col, LINES, problem_n(q), seed, 2);
    const enum bitcut_status status = block_take(&b, q, row, rows, col, cols, f);
    if (status != BITCUT_OK) return status;
    *error = quick_check_error(&b, q->alpha, q->beta);
    block_clear(&b);
    return status;
}

/* Interpret transposed reading as column-major storage, if the sizes allow it. */
static bool by_columns(struct problem *q)
{
    struct matrix *const matrix[] = { &q->a, &q->b, &q->c, &q->d };
    const bool transposed[] = { q->transposed_a, q->transposed_b, q->transposed_c,
                                q->transposed_d };
    for (int i = 0; i < 4; i++)
        if (transposed[i]) {
            const size_t rows = matrix[i]->rows;
            matrix[i]->rows = matrix[i]->cols, matrix[i]->cols = rows;
        }
    q->by_columns = true;
    return problem_fits(q);
}

enum bitcut_status quick_check_read(struct problem *q, uint64_t seed, struct fault *f)
{
    enum { MUCH = 16, OF_B = 2, OF_D = 4, OF_D_ALONE = 8 }; /* the last: C is as it is */
    struct problem best = *q;
    double least = INFINITY;
    bool fits = false;
    const unsigned ways = problem_is_told(q) || q->a.kept ? 0
                          : q->of_groups                  ? OF_B
                          : q->of_k                       ? OF_D
                          : q->c.at                       ? 15
                                                          : 7;
    for (unsigned way = 0; way <= ways; way++) {
        struct problem now = *q;
        double error = NAN;
        now.transposed_a = way & 1, now.transposed_b = way & OF_B,
        now.transposed_d = way & OF_D;
        now.transposed_c = now.transposed_d && !(way & OF_D_ALONE);
        if (way & OF_D_ALONE && !now.transposed_d) continue;
        if (way & ~ways || (!problem_fits(&now) && !by_columns(&now))) continue;
        const enum bitcut_status status = error_of(&error, &now, seed, f);
        if (status != BITCUT_OK) return status;
        /* As they are, unless another reading is much nearer. */
        if (!fits || error < least / MUCH) best = now, least = error;
        fits = true;
    }
    *q = best;
    return fits ? BITCUT_OK
                : fault_set(f, BITCUT_BAD_ARGUMENT,
                            "A is %zu x %zu, B is %zu x %zu, D is %zu x %zu: the shapes "
                            "do not match for any transposition",
                            q->a.rows, q->a.cols, q->b.rows, q->b.cols, q->d.rows,
                            q->d.cols);
}

/* --- ranges of k ------------------------------------------------------------------ */

enum { PLACES_MAX = 1024, FEW = 8 }; /* possible ends of ranges; outputs that vote */

/* Sums of some outputs up to every position, and their differences from D. */
struct prefixes {
    size_t places, outputs;
    size_t at[PLACES_MAX + 1];                  /* of k                    */
    double sum[FEW][PLACES_MAX + 1], lack[FEW]; /* exact sum - D        */
};

static void prefixes_make(struct prefixes *x, const struct block *b, uint32_t alpha,
                          uint32_t beta)
{
    const size_t step = larger_int(4, (int)divide_up(b->k, PLACES_MAX));
    x->places = divide_up(b->k, step);
    x->outputs = smaller(FEW, b->rows * b->cols);
    for (size_t p = 0; p <= x->places; p++) x->at[p] = smaller(p * step, b->k);
    for (size_t o = 0; o < x->outputs; o++) {
        double size, sum = 0;
        const size_t at = block_spread(b, o, OUTPUTS_MAX), i = at / b->cols,
                     j = at % b->cols;
        x->lack[o] = -residual(&size, b, at, alpha, beta);
        x->sum[o][0] = 0;
        for (size_t p = 0; p < x->places; p++) {
            for (size_t q = x->at[p]; q < x->at[p + 1]; q++)
                sum += value_of_float(b->a[i * b->k + q]) *
                       value_of_float(b->b[q * b->cols + j]);
            x->sum[o][p + 1] = sum;
        }
    }
}

/* The misfit of a range, missing (sign 1) or added twice (-1), as an explanation of these
   differences. */
static double misfit(const struct prefixes *x, size_t from, size_t to, double sign)
{
    double worst = 0;
    for (size_t o = 0; o < x->outputs; o++)
        worst += fabs(x->lack[o] - sign * (x->sum[o][to] - x->sum[o][from]));
    return worst;
}

struct fit {
    double misfit;
    struct k_range range;
};

static void keep_best(struct fit best[RANGES_MAX], struct fit now)
{
    for (size_t i = 0; i < RANGES_MAX; i++)
        if (now.misfit < best[i].misfit) {
            const struct fit next = best[i];
            best[i] = now;
            now = next;
        }
}

size_t quick_check_ranges(struct k_range range[RANGES_MAX], const struct block *b,
                          uint32_t alpha, uint32_t beta)
{
    struct prefixes *const x = malloc(sizeof *x);
    struct fit best[RANGES_MAX];
    size_t count = 0;
    if (!x || !b->k || !b->rows || !b->cols || gemm_has_scales(&b->q->told)) {
        free(x);
        return 0;
    }
    prefixes_make(x, b, alpha, beta);
    const double none = misfit(x, 0, 0, 1);
    for (size_t i = 0; i < RANGES_MAX; i++) best[i] = (struct fit){ none / 4, { 0, 0 } };
    for (size_t from = 0; from < x->places; from++)
        for (size_t to = from + 1; to <= x->places; to++)
            for (int sign = -1; sign <= 1; sign += 2)
                keep_best(best, (struct fit){ misfit(x, from, to, sign),
                                              { x->at[from], x->at[to] } });
    while (count < RANGES_MAX && best[count].range.end) {
        range[count] = best[count].range;
        count++;
    }
    free(x);
    return count;
}
