/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/explain_two.h"

#include "analysis/evidence/json_value.h"
#include "lib/matrix.h"

/* Where they differ, the largest places. */
static json_t *places_json(const struct two *t)
{
    json_t *places = json_array();
    for (size_t i = 0; i < t->parts && i < PARTS_MOST; i++) {
        const struct box *b = &t->part[i];
        json_array_append_new(
            places, json_pack("{s:[o,o], s:[o,o], s:o}", "rows", json_count(b->row),
                              json_count(b->row_end), "columns", json_count(b->col),
                              json_count(b->col_end), "differ", json_count(b->differ)));
    }
    return places;
}

/* The largest distance, and where it is. */
static json_t *distance_json(const struct two *t)
{
    if (!t->measured) return json_null();
    return json_pack("{s:o, s:s, s:o, s:o}", "ulps", json_count((size_t)t->ulps),
                     "format", t->format->name, "row", json_count(t->row), "column",
                     json_count(t->col));
}

json_t *explain_two_json(const struct two *t, const struct explanation e[2],
                         const char *const file[2])
{
    char sentence[SENTENCE_MOST];
    two_say(sentence, t, e);
    return json_pack(
        "{s:s, s:[s,s], s:o, s:o, s:o, s:o, s:o, s:s?, s:o, s:[o,o], s:[o,o]}",
        "difference", sentence, "pair", file[0], file[1], "differ", json_count(t->differ),
        "total", json_count(t->total), "places", places_json(t), "places_count",
        json_count(t->parts), "largest", distance_json(t), "why", *t->why ? t->why : NULL,
        "sampled", json_count(t->sampled), "nearer", json_count(t->nearer[0]),
        json_count(t->nearer[1]), "error", json_number(t->error[0]),
        json_number(t->error[1]));
}
