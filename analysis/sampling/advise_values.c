/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/advise_values.h"

#include "emu/unit.h"
#include "lib/number/equilibrate.h"
#include "lib/number/hostfp.h"

#include <stdlib.h>
#include <string.h>

enum { SCALE_MAX = 14, LOOKED_AT = 1 << 14 };

/* --- values ----------------------------------------------------------------------- */

/* Its rows or columns scaled as for two f16 parts. */
static void equilibrate(struct matrix *m, bool columns)
{
    const struct bitcut_split *const parts = &splits[SPLIT_HALFHALF];
    const size_t lines = columns ? m->cols : m->rows,
                 length = columns ? m->rows : m->cols, along = columns ? m->cols : 1,
                 across = columns ? 1 : m->cols;
    struct hostfp mode;
    hostfp_enter(&mode);
    for (size_t i = 0; i < lines; i++) {
        uint32_t *const line = m->at + i * across, largest = 0;
        for (size_t j = 0; j < length; j++)
            largest = equilibrate_larger(largest, line[j * along]);
        const int exponent = equilibrate_exponent(parts, largest);
        for (size_t j = 0; j < length; j++)
            line[j * along] = equilibrate_scale(line[j * along], exponent);
    }
    hostfp_leave(&mode);
}

static const struct matrix *operand(const struct gemm_data *x, bool is_b)
{
    return is_b ? &x->b : &x->a;
}

static size_t elements(const struct matrix *x) { return x->rows * x->cols; }

enum bitcut_status advise_values_take(struct advise_values *to,
                                      const struct gemm_data *of, size_t count, bool is_b,
                                      struct fault *f)
{
    struct advise_values v = { .name = is_b ? "B" : "A", .most = -1 };
    struct matrix all;
    size_t values = 0, at = 0;
    for (size_t i = 0; i < count; i++) values += elements(operand(&of[i], is_b));
    enum bitcut_status status = matrix_init(&all, values, 1, f);
    if (status != BITCUT_OK) return status;
    for (size_t i = 0; i < count; at += elements(operand(&of[i], is_b)), i++)
        memcpy(all.at + at, operand(&of[i], is_b)->at,
               elements(operand(&of[i], is_b)) * sizeof *all.at);
    status = exponents_sort(&v.own, &all, f);
    at = 0;
    for (size_t i = 0; i < count; at += elements(operand(&of[i], is_b)), i++) {
        struct matrix part = *operand(&of[i], is_b);
        part.at = all.at + at;
        equilibrate(&part, is_b);
    }
    if (status == BITCUT_OK) status = exponents_sort(&v.equilibrated, &all, f);
    if (status == BITCUT_OK) exponents_range(&v.least, &v.most, &v.own);
    matrix_clear(&all);
    if (status == BITCUT_OK) *to = v;
    else advise_values_clear(&v);
    return status;
}

void advise_values_clear(struct advise_values *v)
{
    exponents_clear(&v->own);
    exponents_clear(&v->equilibrated);
}

static bool any(const void *values) { return advise_values_any(values); }

struct of_exponent {
    int exponent;
    size_t count;
};

static const struct record_field of_exponent_fields[] = {
    RECORD_INNER(struct of_exponent, exponent, "exponent", "", "-127: subnormal values"),
    RECORD_INNER(struct of_exponent, count, "count", "", "number of values with it"),
    { 0 }
};

/* The existing exponents, from the largest on. */
static const void *each_exponent(const void *record, size_t i, void *room)
{
    const struct advise_values *const v = record;
    for (int e = v->most; e >= v->least; e--) {
        const struct of_exponent one = { e, exponents_count(&v->own, e) };
        if (one.count && !i--) return memcpy(room, &one, sizeof one);
    }
    return NULL;
}

#define VALUES(field, key, what)                                                         \
    RECORD_INNER(struct advise_values, own.field, key, "", what)

const struct record_field advise_values_fields[] = {
    VALUES(values, "values", "elements of all matrices"),
    VALUES(zeros, "zeros", "zeros among these"),
    VALUES(infinite, "infinite", "infinities"),
    VALUES(nan, "nan", "NaNs"),
    RECORD_INNER_IF(struct advise_values, least, "exponent_min", "",
                    "smallest of the other "
                    "exponents; -127: subnormal",
                    any),
    RECORD_INNER_IF(struct advise_values, most, "exponent_max", "",
                    "largest of the other exponents", any),
    RECORD_ITEMS(each_exponent, of_exponent_fields, "exponents",
                 "`exponent` and `count`: number "
                 "of values with each exponent"),
    { 0 }
};

/* --- retained bits ---------------------------------------------------------------- */

/* For each exponent, followed by all together. */
struct kept_values {
    struct retention of[EXPONENTS + 1];
};

static enum bitcut_status measure(struct kept_values *to, const struct exponents *v,
                                  const struct bitcut_split *split, bool flush,
                                  const struct advise_how *how, struct fault *f)
{
    int least = 0, most = -1;
    struct hostfp mode;
    memset(to, 0, sizeof *to);
    exponents_range(&least, &most, v);
    for (int e = least; e <= most; e++) {
        struct retention *const r = &to->of[e - EXPONENT_MIN];
        const enum bitcut_status status = exponents_measure(
            r, v, e, LOOKED_AT, split, flush, how->threads, how->progress, f);
        if (status != BITCUT_OK) return status;
        hostfp_enter(&mode);
        retention_add(&to->of[EXPONENTS], r);
        hostfp_leave(&mode);
    }
    return BITCUT_OK;
}

enum bitcut_status advise_values_all(struct retention *to, const struct advise_values *v,
                                     const struct bitcut_split *split, bool flush,
                                     bool equilibrated, const struct advise_how *how,
                                     struct fault *f)
{
    struct kept_values k;
    const enum bitcut_status status =
        measure(&k, equilibrated ? &v->equilibrated : &v->own, split, flush, how, f);
    if (status == BITCUT_OK) *to = k.of[EXPONENTS];
    return status;
}

/* --- the whole -------------------------------------------------------------------- */

static bool is_one(const void *kept)
{
    return !((const struct advise_retained *)kept)->all;
}

#define KEPT(field, key, unit, what)                                                     \
    RECORD_INNER(struct advise_retained, field, key, unit, what)

const struct record_field advise_retained_fields[] = {
    /* clang-format off */
    KEPT(operand, "operand", "", "A or B"),
    RECORD_INNER_IF(struct advise_retained, exponent, "exponent", "", "an exponent of the values; "
                                                                      "null: all values",
                    is_one),
    KEPT(kept.count, "count", "", "values"),
    KEPT(split, "split", "", "the split"),
    KEPT(scale_from, "scale_from", "", "the smallest of the scales with the same results"),
    KEPT(scale_to, "scale_to", "", "the largest of these scales"),
    KEPT(flush, "flush", "", "whether the unit reads subnormal parts as zeros"),
    KEPT(kept.bits, "bits", "bits", "mean of the retained bits, of 24"),
    KEPT(kept.exact, "exact", "", "share of values that the parts hold exactly"),
    KEPT(kept.max_ulp, "max_ulp", "ulps", "the largest error"),
    KEPT(kept.p_subnormal, "p_subnormal", "", "share whose low part is subnormal or 0"),
    KEPT(kept.p_zero, "p_zero", "", "share whose low part is 0"),
    KEPT(kept.p_flushed, "p_flushed", "", "share with a part that is read as zero"),
    KEPT(kept.p_overflow, "p_overflow", "", "share with a part that overflows"),
    { 0 }
    /* clang-format on */
};

static enum bitcut_status append_one(struct advise_retained_list *to,
                                     struct advise_retained one, struct fault *f)
{
    if (to->count == to->room) {
        const size_t room = to->room ? 2 * to->room : 1024;
        struct advise_retained *const more = memory_allocate(room, sizeof *more);
        if (!more) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for values");
        if (to->count) memcpy(more, to->at, to->count * sizeof *more);
        free(to->at);
        to->at = more;
        to->room = room;
    }
    to->at[to->count++] = one;
    return BITCUT_OK;
}

/* Rows of one split; for each exponent those of all scales. */
static enum bitcut_status append(struct advise_retained_list *list,
                                 const struct advise_values *v,
                                 const struct bitcut_split *s, bool flush,
                                 const struct kept_values *k, int scales, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    for (int at = EXPONENTS; at >= 0; at--) {
        for (int from = 0, to; from < scales && k[from].of[at].count; from = to) {
            const struct retention *const r = &k[from].of[at];
            for (to = from + 1; to < scales && !memcmp(r, &k[to].of[at], sizeof *r);)
                to++;
            const struct advise_retained one = { .operand = v->name,
                                                 .split = s,
                                                 .scale_from = from,
                                                 .scale_to = to - 1,
                                                 .flush = flush,
                                                 .exponent = at + EXPONENT_MIN,
                                                 .all = at == EXPONENTS,
                                                 .kept = *r };
            if (status == BITCUT_OK) status = append_one(list, one, f);
        }
    }
    return status;
}

/* Whether an earlier row has the same parts with another scale. */
static bool is_repeated(const struct bitcut_split *s)
{
    for (const struct bitcut_split *row = splits; row < s; row++) {
        struct bitcut_split other = *row;
        other.scale = s->scale;
        if (split_same(&other, s)) return true;
    }
    return false;
}

/* Whether one of the units reads subnormal parts of the format as zeros. */
static bool flushes(const char *const *target, size_t targets,
                    const struct bitcut_format *parts)
{
    for (size_t p = 0; p < targets; p++) {
        const struct bitcut_unit *u = unit_find(target[p], parts);
        if (u && u->a == parts && u->flush_inputs) return true;
    }
    return false;
}

static enum bitcut_status keep_split(struct advise_retained_list *to,
                                     const struct advise_values *v,
                                     const struct bitcut_split *row, bool flush,
                                     const struct advise_how *how, struct fault *f)
{
    const int scales = row->parts > 1 ? SCALE_MAX + 1 : 1;
    struct kept_values *const k = memory_allocate((size_t)scales, sizeof *k);
    enum bitcut_status status =
        k ? BITCUT_OK : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for values");
    for (int i = 0; i < scales && status == BITCUT_OK; i++) {
        struct bitcut_split s = *row;
        s.scale = i;
        status = measure(&k[i], &v->own, &s, flush, how, f);
    }
    if (status == BITCUT_OK) status = append(to, v, row, flush, k, scales, f);
    free(k);
    return status;
}

enum bitcut_status advise_values_keep(struct advise_retained_list *to,
                                      const struct advise_values *v,
                                      const char *const *target, size_t targets,
                                      const struct advise_how *how, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    for (const struct bitcut_split *s = splits; s->name && status == BITCUT_OK; s++) {
        if (s == &splits[SPLIT_F32] || is_repeated(s)) continue;
        status = keep_split(to, v, s, false, how, f);
        if (status == BITCUT_OK && flushes(target, targets, s->part[0].format))
            status = keep_split(to, v, s, true, how, f);
    }
    return status;
}
