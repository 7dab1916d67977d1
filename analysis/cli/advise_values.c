/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/advise_values.h"

#include "lib/equilibrate.h"
#include "lib/hostfp.h"

#include <stdlib.h>
#include <string.h>

enum { SCALE_MOST = 14, LOOKED_AT = 1 << 14 };

/* --- values ----------------------------------------------------------------------- */

/* Its lines scaled as they are for two words of f16. */
static void equilibrate(struct matrix *m, bool columns)
{
    const struct bitcut_split *const words = &splits[SPLIT_HALFHALF];
    const size_t lines = columns ? m->cols : m->rows,
                 length = columns ? m->rows : m->cols, along = columns ? m->cols : 1,
                 across = columns ? 1 : m->cols;
    struct hostfp mode;
    hostfp_enter(&mode);
    for (size_t i = 0; i < lines; i++) {
        uint32_t *const line = m->at + i * across, largest = 0;
        for (size_t j = 0; j < length; j++)
            largest = equilibrate_larger(largest, line[j * along]);
        const int exponent = equilibrate_exponent(words, largest);
        for (size_t j = 0; j < length; j++)
            line[j * along] = equilibrate_scale(line[j * along], exponent);
    }
    hostfp_leave(&mode);
}

/* The elements of each, one after the other. */
static void copy_all(uint32_t *to, const struct matrix *x, size_t count)
{
    for (size_t i = 0; i < count; to += x[i].rows * x[i].cols, i++)
        memcpy(to, x[i].at, x[i].rows * x[i].cols * sizeof *to);
}

enum bitcut_status advise_values_take(struct advise_values *to, const char *name,
                                      const struct matrix *x, size_t count, bool columns,
                                      struct fault *f)
{
    struct advise_values v = { .name = name };
    struct matrix all;
    size_t values = 0;
    for (size_t i = 0; i < count; i++) values += x[i].rows * x[i].cols;
    enum bitcut_status status = matrix_init(&all, values, 1, f);
    if (status != BITCUT_OK) return status;
    copy_all(all.at, x, count);
    status = exponents_sort(&v.own, &all, f);
    for (size_t i = 0, at = 0; i < count; at += x[i].rows * x[i].cols, i++) {
        struct matrix part = { .at = all.at + at, .rows = x[i].rows, .cols = x[i].cols };
        equilibrate(&part, columns);
    }
    if (status == BITCUT_OK) status = exponents_sort(&v.equilibrated, &all, f);
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

json_t *advise_values_json(const struct advise_values *v)
{
    const struct exponents *const e = &v->own;
    json_t *list = json_array();
    int least = 0, most = -1;
    const bool any = exponents_range(&least, &most, e);
    for (int i = most; i >= least; i--)
        if (exponents_count(e, i))
            json_array_append_new(list, json_pack("{s:i, s:o}", "exponent", i, "count",
                                                  json_count(exponents_count(e, i))));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "values",
                     json_count(e->values), "zeros", json_count(e->zeros), "infinite",
                     json_count(e->infinite), "nan", json_count(e->nan), "exponent_min",
                     any ? json_integer(least) : json_null(), "exponent_max",
                     any ? json_integer(most) : json_null(), "exponents", list);
}

/* --- what is kept ----------------------------------------------------------------- */

/* Of each exponent, and of all together behind them. */
struct kept_values {
    struct retention of[EXPONENTS + 1];
};

static enum bitcut_status measure(struct kept_values *to, const struct exponents *v,
                                  const struct bitcut_split *split, bool flush,
                                  const struct context *x, struct fault *f)
{
    int least = 0, most = -1;
    struct hostfp mode;
    memset(to, 0, sizeof *to);
    exponents_range(&least, &most, v);
    for (int e = least; e <= most; e++) {
        struct retention *const r = &to->of[e - EXPONENT_LEAST];
        const enum bitcut_status status = exponents_measure(
            r, v, e, LOOKED_AT, split, flush, x->threads, &x->progress, f);
        if (status != BITCUT_OK) return status;
        hostfp_enter(&mode);
        retention_add(&to->of[EXPONENTS], r);
        hostfp_leave(&mode);
    }
    return BITCUT_OK;
}

enum bitcut_status advise_values_all(struct retention *to, const struct advise_values *v,
                                     const struct bitcut_split *split, int scale,
                                     bool flush, bool equilibrated,
                                     const struct context *x, struct fault *f)
{
    struct kept_values k;
    struct bitcut_split own = *split;
    own.scale = scale;
    const enum bitcut_status status =
        measure(&k, equilibrated ? &v->equilibrated : &v->own, &own, flush, x, f);
    if (status == BITCUT_OK) *to = k.of[EXPONENTS];
    return status;
}

/* --- all of it -------------------------------------------------------------------- */

static json_t *describe(const struct advise_values *v, const struct bitcut_split *s,
                        int from, int to, bool flush, int at, const struct retention *r)
{
    return json_pack("{s:s, s:o, s:o, s:s, s:i, s:i, s:b, s:o, s:o, s:o, s:o, s:o, s:o, "
                     "s:o}",
                     "operand", v->name, "exponent",
                     at == EXPONENTS ? json_null() : json_integer(at + EXPONENT_LEAST),
                     "count", json_count(r->count), "split", s->name, "scale_from", from,
                     "scale_to", to, "flush", (int)flush, "bits", json_number(r->bits),
                     "exact", json_number(r->exact), "max_ulp", json_number(r->max_ulp),
                     "p_subnormal", json_number(r->p_subnormal), "p_zero",
                     json_number(r->p_zero), "p_flushed", json_number(r->p_flushed),
                     "p_overflow", json_number(r->p_overflow));
}

/* Rows of one split, of each exponent those of all scales. */
static void append(json_t *kept, const struct advise_values *v,
                   const struct bitcut_split *s, bool flush, const struct kept_values *k,
                   int scales)
{
    for (int at = EXPONENTS; at >= 0; at--) {
        for (int from = 0, to; from < scales && k[from].of[at].count; from = to) {
            const struct retention *const r = &k[from].of[at];
            for (to = from + 1; to < scales && !memcmp(r, &k[to].of[at], sizeof *r);)
                to++;
            json_array_append_new(kept, describe(v, s, from, to - 1, flush, at, r));
        }
    }
}

/* Whether a row before has the same words but for the scale. */
static bool is_repeated(const struct bitcut_split *s)
{
    for (const struct bitcut_split *row = splits; row < s; row++) {
        struct bitcut_split other = *row;
        other.scale = s->scale;
        if (split_same(&other, s)) return true;
    }
    return false;
}

/* Whether some unit that is looked at reads subnormal words of the format as zeros. */
static bool flushes(const struct advise_question *q, const struct bitcut_format *words)
{
    for (size_t p = 0; p < q->places; p++) {
        const struct bitcut_unit *u = unit_find(q->place[p], words);
        if (u && u->a == words && u->flush_inputs) return true;
    }
    return false;
}

static enum bitcut_status keep_split(json_t *kept, const struct advise_values *v,
                                     const struct bitcut_split *row, bool flush,
                                     const struct context *x, struct fault *f)
{
    const int scales = row->words > 1 ? SCALE_MOST + 1 : 1;
    struct kept_values *const k = memory_allocate((size_t)scales, sizeof *k);
    enum bitcut_status status =
        k ? BITCUT_OK : fault_set(f, BITCUT_NO_MEMORY, "out of memory for values");
    for (int i = 0; i < scales && status == BITCUT_OK; i++) {
        struct bitcut_split s = *row;
        s.scale = i;
        status = measure(&k[i], &v->own, &s, flush, x, f);
    }
    if (status == BITCUT_OK) append(kept, v, row, flush, k, scales);
    free(k);
    return status;
}

enum bitcut_status advise_values_keep(json_t *kept, const struct advise_values *v,
                                      const struct advise_question *q,
                                      const struct context *x, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    for (const struct bitcut_split *s = splits; s->name && status == BITCUT_OK; s++) {
        if (s == &splits[SPLIT_F32] || is_repeated(s)) continue;
        status = keep_split(kept, v, s, false, x, f);
        if (status == BITCUT_OK && flushes(q, s->word[0].format))
            status = keep_split(kept, v, s, true, x, f);
    }
    return status;
}
