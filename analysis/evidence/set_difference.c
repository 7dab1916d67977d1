/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/evidence/set_difference.h"

#include "analysis/evidence/trace_json.h"
#include "lib/base/status.h"
#include "lib/io/json_value.h"

#include <stdlib.h>

struct difference difference_of(const struct array *got, const struct set *want)
{
    struct difference d = { .outputs = got->count };
    for (size_t i = 0; i < got->count; i++) {
        if (set_has(want, i, array_get(got, i))) continue;
        if (!d.mismatches++) d.first = i;
    }
    return d;
}

/* `count` elements from `first`, `stride` apart, decoded. */
static json_t *operands(const struct array *a, const struct bitcut_format *format,
                        size_t first, size_t stride, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list,
                              json_decoded(format, array_get(a, first + i * stride)));
    return list;
}

/* The block scales of output (i, j) of a fragment. */
static void add_scales(json_t *object, const struct bitcut_unit *u,
                       const struct fragments *x, struct fragment_shape s,
                       size_t fragment, size_t i, size_t j)
{
    if (!u->scale) return;
    const size_t n = s.k / (size_t)u->scale_block;
    json_object_set_new(object, "scale_a",
                        operands(x->scale_a, u->scale, (fragment * s.m + i) * n, 1, n));
    json_object_set_new(object, "scale_b",
                        operands(x->scale_b, u->scale, fragment * n * s.n + j, s.n, n));
}

json_t *difference_json(const struct bitcut_unit *u, const struct fragments *x,
                        struct fragment_shape s, const struct array *got,
                        const struct array *want, size_t flat, size_t from)
{
    const size_t fragment = flat / (s.m * s.n), i = flat / s.n % s.m, j = flat % s.n;
    const uint64_t model = array_get(got, flat), recorded = array_get(want, flat);
    /* Too large for the stack, and for thread-local storage. */
    struct unit_trace *const trace = memory_allocate(1, sizeof *trace);
    if (trace) fragments_trace(trace, u, x, s, fragment, i, j);
    json_t *object = json_pack(
        "{s:[I,I,I], s:o, s:o}", "at", (json_int_t)(from + fragment), (json_int_t)i,
        (json_int_t)j, "a", operands(x->a, u->a, (fragment * s.m + i) * s.k, 1, s.k), "b",
        operands(x->b, u->b, fragment * s.k * s.n + j, s.n, s.k));
    add_scales(object, u, x, s, fragment, i, j);
    json_object_update_new(object, json_pack("{s:o, s:o, s:o}", "c",
                                             json_decoded(u->c, array_get(x->c, flat)),
                                             "got", json_decoded(u->c, model), "want",
                                             json_decoded(u->c, recorded)));
    json_set_distance(object, u->c, model, recorded);
    json_object_set_new(object, "steps", trace ? trace_json(u, trace) : json_null());
    if (trace && trace->c_last)
        json_object_set_new(object, "c_last", trace_c_last_json(u, trace));
    free(trace);
    return object;
}
