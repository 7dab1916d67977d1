/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/evidence/trace_json.h"

#include "lib/io/json_value.h"

/* The exponent of a nonzero number; zeros have a very low one. */
static json_t *json_exponent(int exponent)
{
    return exponent < NUMBER_ZERO_EXPONENT / 2 ? json_null() : json_integer(exponent);
}

/* The special value that decided a sum, or null. */
static json_t *special_json(struct special_sum s)
{
    if (s.operand) return json_string("NaN of an operand");
    if (s.nan) return json_string("NaN");
    if (s.positive && s.negative) return json_string("Inf - Inf");
    if (s.positive || s.negative) return json_string(s.positive ? "Inf" : "-Inf");
    return json_null();
}

/* Without the zeros at its end. */
static struct term shortest(struct term t)
{
    for (; t.significand && !(t.significand & 1); t.significand >>= 1) t.exponent++;
    return t;
}

static json_t *name_json(const struct trace_term *t)
{
    switch (t->source) {
    case TRACE_PRODUCT: return json_sprintf("a%d b%d", t->index, t->index);
    case TRACE_SUM: return json_sprintf("s%d", t->index);
    case TRACE_ZERO: return json_string("0");
    case TRACE_C: break;
    }
    return json_string("c");
}

static json_t *term_json(const struct trace_term *t, bool aligned)
{
    json_t *term = json_pack("{s:o, s:o, s:o, s:o}", "term", name_json(t), "exponent",
                             json_exponent(t->exponent), "significand",
                             json_whole(t->value.negative, t->value.significand), "unit",
                             json_exponent(t->value.exponent));
    if (aligned)
        json_object_set_new(term, "aligned",
                            json_whole(t->aligned < 0, t->aligned < 0
                                                           ? -(bitcut_uint128)t->aligned
                                                           : (bitcut_uint128)t->aligned));
    return term;
}

static json_t *terms_json(const struct unit_trace *trace, const struct trace_sum *s)
{
    json_t *list = json_array();
    for (int i = s->first; i < s->first + s->terms; i++)
        json_array_append_new(list, term_json(&trace->term[i], s->aligned));
    return list;
}

/* The integers of a sum without special values. */
static void add_sum(json_t *object, const struct unit_trace *trace,
                    const struct trace_sum *s)
{
    const struct term value = s->aligned || s->inexact ? s->value : shortest(s->value);
    json_object_set_new(object, "terms", terms_json(trace, s));
    if (s->at_exponent)
        json_object_set_new(object, "exponent", json_exponent(s->exponent));
    json_object_set_new(object, "sum", json_whole(value.negative, value.significand));
    json_object_set_new(object, "unit", json_exponent(value.exponent));
    if (s->inexact) json_object_set_new(object, "inexact", json_true());
    if (!s->cut) return;
    const struct term kept = s->aligned ? s->kept : shortest(s->kept);
    json_object_set_new(object, "retained", json_whole(kept.negative, kept.significand));
    json_object_set_new(object, "retained_unit", json_exponent(kept.exponent));
}

static bool is_special(const struct trace_sum *s)
{
    return s->special.nan || s->special.positive || s->special.negative;
}

static json_t *part_json(const struct bitcut_unit *u, const struct unit_trace *trace,
                         const struct trace_sum *s, int index)
{
    json_t *part = json_pack("{s:o}", "name", json_sprintf("s%d %s", index, s->name));
    if (is_special(s)) json_object_set_new(part, "special", special_json(s->special));
    else add_sum(part, trace, s);
    if (s->rounded) json_object_set_new(part, "d", json_decoded(u->result, s->d));
    return part;
}

static json_t *products_json(const struct unit_trace *trace,
                             const struct trace_step *step)
{
    json_t *list = json_array();
    for (int i = 0; i < step->products; i++)
        json_array_append_new(list, json_integer(trace->k[step->first + i]));
    return list;
}

static json_t *step_json(const struct bitcut_unit *u, const struct unit_trace *trace,
                         const struct trace_step *step)
{
    const struct trace_sum *sum = &trace->sum[step->first_sum];
    const struct trace_sum *last = sum + step->sums - 1;
    json_t *object =
        json_pack("{s:o, s:o, s:o}", "k", products_json(trace, step), "c",
                  json_decoded(u->c, step->c), "special", special_json(last->special));
    json_t *parts = json_array();
    for (int i = 0; i < step->sums - 1; i++)
        json_array_append_new(parts, part_json(u, trace, &sum[i], i));
    if (json_array_size(parts)) json_object_set(object, "parts", parts);
    json_decref(parts);
    if (!is_special(last)) add_sum(object, trace, last);
    json_object_set_new(object, "d", json_decoded(u->c, step->d));
    return object;
}

json_t *trace_json(const struct bitcut_unit *u, const struct unit_trace *trace)
{
    json_t *list = json_array();
    for (int i = 0; i < trace->steps; i++)
        json_array_append_new(list, step_json(u, trace, &trace->step[i]));
    return list;
}

json_t *trace_c_last_json(const struct bitcut_unit *u, const struct unit_trace *trace)
{
    return json_pack("{s:o, s:o, s:o}", "sum",
                     json_decoded(u->c, trace->step[trace->steps - 1].d), "c",
                     json_decoded(u->c, trace->c), "d", json_decoded(u->c, trace->d));
}
