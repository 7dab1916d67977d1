/* SPDX-License-Identifier: BSD-3-Clause */
/* Measuring the split of a caller's values, as declared in lib/bitcut.h. */
#include "analysis/split/split_retention.h"
#include "emu/unit.h"

#include <math.h>
#include <string.h>

/* Measure i: first those of values, then those of an array. */
static const struct record_field *measure_at(size_t i)
{
    const struct record_field *f = split_measures;
    while (f->name && i) f++, i--;
    if (f->name) return f;
    for (f = split_specials; f->name && i; f++) i--;
    return f;
}

const char *bitcut_split_measure_name(size_t i) { return measure_at(i)->name; }

/* --- the input -------------------------------------------------------------------- */

/* The exponents, and where the results of each go. */
struct request {
    struct split_problem split;
    int from, to, threads;
    double *values;
    size_t count;
};

static enum bitcut_status check(const struct request *q, const uint32_t *x,
                                size_t elements, struct fault *f)
{
    size_t places;
    if (!q->split.split)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "the split must not be NULL");
    if (q->from < EXPONENT_MIN || q->to > EXPONENT_MAX || q->from > q->to)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "exponents must satisfy -127 <= from <= to <= 127");
    if (q->threads < 0)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "threads must not be negative");
    if (x && !memory_holds(x, 1, elements, elements, sizeof *x))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "the number of values exceeds the address space");
    if (!size_multiply(&places, q->count, (size_t)(q->to - q->from + 2)) ||
        !memory_holds(q->values, 1, places, places, sizeof *q->values))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "the result must not be NULL");
    return BITCUT_OK;
}

/* --- output ----------------------------------------------------------------------- */

static double number_of(const struct record_field *f, const struct split_retention *kept)
{
    const char *const at = (const char *)kept + f->offset;
    double number;
    size_t count;
    if (f->kind == RECORD_COMPUTED) return f->number(kept);
    if (f->kind == RECORD_COUNT) {
        memcpy(&count, at, sizeof count);
        return (double)count;
    }
    memcpy(&number, at, sizeof number);
    return kept->r.count ? number : (double)NAN;
}

static void row_fill(const struct request *q, int row, const struct split_retention *kept)
{
    for (size_t i = 0; i < q->count; i++) {
        const struct record_field *const f = measure_at(i);
        q->values[(size_t)row * q->count + i] = f->name ? number_of(f, kept) : (double)NAN;
    }
}

/* From the highest exponent down, in the program's order of addition. */
static enum bitcut_status measure(const struct request *q, struct fault *f)
{
    struct split_retention all = split_retention_none(&q->split), one;
    for (int e = q->to; e >= q->from; e--) {
        const enum bitcut_status status = split_retention_measure(
            &one, &q->split, e, q->threads, progress_of_thread(), f);
        if (status != BITCUT_OK) return status;
        row_fill(q, e - q->from, &one);
        split_retention_add(&all, &one);
    }
    row_fill(q, q->to - q->from + 1, &all);
    return BITCUT_OK;
}

enum bitcut_status bitcut_split_measure(double *values, size_t count,
                                        const struct bitcut_split *split,
                                        const struct bitcut_unit *unit, int from, int to,
                                        const uint32_t *x, size_t elements, int threads,
                                        char *why)
{
    const struct matrix matrix = { .rows = 1,
                                   .cols = elements,
                                   .at = (uint32_t *)(uintptr_t)x };
    struct exponents of = { .at = NULL };
    struct request q = { .split = { .split = split,
                                    .flush = unit && unit_flushes_operands(unit) },
                         .from = from,
                         .to = to,
                         .threads = threads,
                         .values = values,
                         .count = count };
    struct fault f;
    enum bitcut_status status = check(&q, x, elements, &f);
    if (status == BITCUT_OK && x) {
        status = exponents_sort(&of, &matrix, &f);
        q.split.of = &of;
    }
    if (status == BITCUT_OK) status = measure(&q, &f);
    exponents_clear(&of);
    return fault_write(why, status, &f);
}
