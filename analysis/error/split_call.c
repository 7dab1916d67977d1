/* SPDX-License-Identifier: BSD-3-Clause */
/* What a split keeps of values as their caller has them: what lib/bitcut.h declares. */
#include "analysis/error/exponents.h"
#include "emu/unit.h"
#include "lib/hostfp.h"

#include <math.h>
#include <string.h>

/* What is told of an array beside the figures, and where. */
enum { COUNT, FIGURES };
enum { ZEROS, INFINITE, NANS, SPECIALS };

static const char *const specials[SPECIALS] = { "zeros", "infinite", "nan" };

static size_t figures(void)
{
    size_t n = 0;
    while (retention_figures[n].name) n++;
    return n;
}

const char *bitcut_split_measure_name(size_t i)
{
    const size_t n = figures();
    if (i == COUNT) return "count";
    if (i < FIGURES + n) return retention_figures[i - FIGURES].name;
    return i < FIGURES + n + SPECIALS ? specials[i - FIGURES - n] : NULL;
}

/* --- what is asked for ------------------------------------------------------------ */

struct question {
    const struct bitcut_split *split;
    bool flush;
    int from, to, threads;
    const struct exponents *of; /* NULL: all values of each exponent */
};

static enum bitcut_status check(const double *values, size_t count,
                                const struct question *q, const uint32_t *x,
                                size_t elements, struct fault *f)
{
    size_t places;
    if (!q->split) return fault_set(f, BITCUT_BAD_ARGUMENT, "there is no split");
    if (q->from < EXPONENT_LEAST || q->to > EXPONENT_MOST || q->from > q->to)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "exponents need -127 <= from <= to <= 127");
    if (q->threads < 0)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "threads cannot be negative");
    if (x && !memory_holds(x, 1, elements, elements, sizeof *x))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "more values than memory holds");
    if (!size_multiply(&places, count, (size_t)(q->to - q->from + 2)) ||
        !memory_holds(values, 1, places, places, sizeof *values))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "no place for what is measured");
    return BITCUT_OK;
}

/* --- what comes back -------------------------------------------------------------- */

/* Measure i of one exponent, or of all that were, of which there is no theory. */
static double value_of(size_t i, const struct question *q, int e, bool all,
                       const struct retention *r)
{
    const size_t last = FIGURES + figures();
    if (i == COUNT) return (double)r->count;
    if (i >= last) return i < last + SPECIALS ? 0 : (double)NAN;
    const struct retention_figure *const figure = &retention_figures[i - FIGURES];
    if (figure->theory) 
        return q->of || all ? (double)NAN : retention_theory(figure, q->split, e);
    return r->count ? retention_figure_of(r, figure) : (double)NAN;
}

static void row_fill(double *values, size_t count, const struct question *q, int e,
                     bool all, const struct retention *r)
{
    for (size_t i = 0; i < count; i++) values[i] = value_of(i, q, e, all, r);
}

static void specials_fill(double *values, size_t count, const struct exponents *of)
{
    const size_t first = FIGURES + figures();
    const size_t found[SPECIALS] = { of->zeros, of->infinite, of->nan };
    for (size_t i = 0; i < SPECIALS && first + i < count; i++)
        values[first + i] = (double)found[i];
}

static enum bitcut_status measure_one(struct retention *r, const struct question *q,
                                      int e, struct fault *f)
{
    const struct retention_values all = { .e = e };
    return q->of ? exponents_measure(r, q->of, e, 0, q->split, q->flush, q->threads,
                                     progress_of_thread(), f)
                 : retention_measure(r, q->split, q->flush, &all, q->threads,
                                     progress_of_thread(), f);
}

/* From the highest exponent down, as the program adds them up. */
static enum bitcut_status measure(double *values, size_t count, const struct question *q,
                                  struct fault *f)
{
    struct retention all = { .count = 0 };
    double *const last = values + (size_t)(q->to - q->from + 1) * count;
    for (int e = q->to; e >= q->from; e--) {
        struct retention r;
        const enum bitcut_status status = measure_one(&r, q, e, f);
        if (status != BITCUT_OK) return status;
        row_fill(values + (size_t)(e - q->from) * count, count, q, e, false, &r);
        retention_add(&all, &r);
    }
    row_fill(last, count, q, 0, true, &all);
    if (q->of) specials_fill(last, count, q->of);
    return BITCUT_OK;
}

enum bitcut_status bitcut_split_measure(double *values, size_t count,
                                        const struct bitcut_split *split,
                                        const struct bitcut_unit *unit, int from, int to,
                                        const uint32_t *x, size_t elements, int threads,
                                        char *why)
{
    const struct matrix matrix = { 1, elements, (uint32_t *)(uintptr_t)x };
    struct question q = { split, unit && unit->flush_inputs, from, to, threads, NULL };
    struct exponents of = { .at = NULL };
    struct hostfp saved;
    struct fault f;
    enum bitcut_status status = check(values, count, &q, x, elements, &f);
    if (status == BITCUT_OK && x) {
        status = exponents_sort(&of, &matrix, &f);
        q.of = &of;
    }
    hostfp_enter(&saved); /* shares and means are host doubles */
    if (status == BITCUT_OK) status = measure(values, count, &q, &f);
    hostfp_leave(&saved);
    exponents_clear(&of);
    return fault_tell(why, status, &f);
}
