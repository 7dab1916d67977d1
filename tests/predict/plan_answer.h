/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the algorithm that the sizes of a call determine computes what the algorithm
   computes that cuBLAS chose for it. */
#ifndef BITCUT_TESTS_PREDICT_PLAN_ANSWER_H
#define BITCUT_TESTS_PREDICT_PLAN_ANSWER_H

#include "analysis/predict/cublas.h"
#include "emu/gemm_text.h"
#include "tests/predict/plan_line.h"

enum answer { ANSWER_REFUSED, ANSWER_RIGHT, ANSWER_WRONG };

/* A call of cuBLAS: *x and *c are set for a prediction by its fields, or by its sizes if
   `fields` is NULL. */
static inline void answer_call(struct prediction *x, struct cublas_call *c,
                               const struct line *l, bool is_small, const char *fields)
{
    static const uint32_t bias[SAMPLE];
    const struct bitcut_predict_options o = { .size = sizeof o,
                                              .library = "cublas-13.1",
                                              .chip = "h200",
                                              .types = l->types,
                                              .fields = fields };
    const struct library *const library = table_find(TABLE(libraries), o.library);
    const struct library_types *const t =
        table_find((struct table){ library->types, sizeof *library->types }, l->types);
    struct fault f = { .about = NULL };
    *c = (struct cublas_call){ .g = call_of(l, t, bias, NULL), .is_small = is_small };
    *x = (struct prediction){ .parts = 0 };
    must(predict_choose(x, &c->g, &o, &f) == BITCUT_OK, l->types, f.text);
    x->call = c->g;
}

static inline bool has_answer(struct prediction *x, const struct cublas_call *c)
{
    struct fault f = { .about = NULL };
    const enum bitcut_status status = cublas_predict_call(x, c, &f);
    must(status == BITCUT_OK || status == BITCUT_UNSUPPORTED, x->types->name, f.text);
    return status == BITCUT_OK;
}

/* Whether the sizes determine the fields of a line that decide what is computed. */
static inline bool has_fields(const struct prediction *x, const struct cublas_call *c,
                              const struct line *l)
{
    struct cublas_fields chosen = { 0 }, recorded;
    struct fault f;
    return cublas_choose(&chosen, cublas_types_of(x), c, &f) == BITCUT_OK &&
           cublas_fields_read(&recorded, l->fields, &f) == BITCUT_OK &&
           chosen.id == recorded.id && chosen.stages == recorded.stages &&
           chosen.splits == recorded.splits && chosen.scheme == recorded.scheme &&
           chosen.custom == recorded.custom;
}

/* Tiles of one sum that begin where the steps of the unit begin do not matter. */
static inline struct bitcut_gemm without_tiles(const struct bitcut_gemm *g, size_t k)
{
    struct bitcut_gemm plain = *g;
    const struct bitcut_order *const o = &g->order;
    const int step = g->unit ? g->unit->k : 1;
    if (o->slices > 1 || o->lanes > 1 || g->promote > 0 || o->tile % step ||
        k % (size_t)step)
        return plain;
    plain.order.tile = 0;
    plain.order.partial_first = false;
    return plain;
}

/* Two computations of the same sums may have other descriptions: then their outputs for
   the operands of plan_line.h are compared. */
static inline bool is_same(const struct prediction *x, const struct prediction *y,
                           const struct line *l)
{
    char one[CONFIGURATION_LINE_MAX], other[CONFIGURATION_LINE_MAX];
    const struct bitcut_gemm g = without_tiles(&x->computation[0], l->k),
                             h = without_tiles(&y->computation[0], l->k);
    configuration_line_write(one, &g);
    configuration_line_write(other, &h);
    if (!strcmp(one, other) && x->lost == y->lost) return true;
    void *const a = sample_make(l, l->m, 1), *const b = sample_make(l, l->n, 2);
    const bool same = sample_digest(x, l, a, b) == sample_digest(y, l, a, b);
    free(a);
    free(b);
    return same;
}

/* What the sizes of a call predict, compared with l->fields. */
static inline enum answer answer_of(const struct line *l, bool is_small)
{
    struct prediction sizes, fields;
    struct cublas_call c;
    enum answer answer = ANSWER_REFUSED;
    answer_call(&sizes, &c, l, is_small, NULL);
    if (has_answer(&sizes, &c)) {
        answer = ANSWER_RIGHT;
        if (!has_fields(&sizes, &c, l)) {
            answer_call(&fields, &c, l, is_small, l->fields);
            if (!has_answer(&fields, &c) || !is_same(&sizes, &fields, l))
                answer = ANSWER_WRONG;
            prediction_clear(&fields);
        }
    }
    prediction_clear(&sizes);
    return answer;
}

#endif
