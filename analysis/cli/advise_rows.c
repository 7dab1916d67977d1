/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/advise_rows.h"

#include "lib/io/json_record.h"

const struct known_split known_splits[] = {
    { "plain", &splits[SPLIT_HALF] },      { "markidis", &splits[SPLIT_MARKIDIS] },
    { "ootomo", &splits[SPLIT_HALFHALF] }, { "legemm", &splits[SPLIT_BITCUT] },
    { "tf32x3", &splits[SPLIT_TF32TF32] }, { "bf16x3", &splits[SPLIT_BF16X2] },
    { NULL, NULL }
};

#define WHAT_IS_KEPT                                                                     \
    "bits", "exact", "max_ulp", "p_subnormal", "p_zero", "p_flushed", "p_overflow", NULL

static bool is_of(const struct advise_retained *kept, const struct bitcut_split *s)
{
    return kept->split == s && kept->scale_from <= s->scale &&
           s->scale <= kept->scale_to && !kept->flush && !kept->all;
}

json_t *advise_rows_by_exponent(const struct advise *x)
{
    static const char *const keys[] = { "operand", "exponent", "count", "split",
                                        WHAT_IS_KEPT };
    json_t *const list = json_array();
    for (const struct known_split *known = known_splits; known->recipe; known++)
        for (size_t i = 0; i < x->kept.count; i++) {
            const struct advise_retained *const kept = &x->kept.at[i];
            if (!is_of(kept, known->split)) continue;
            json_t *const one = json_pack("{s:s, s:i}", "recipe", known->recipe, "scale",
                                          known->split->scale);
            record_json_keys(one, advise_retained_fields, kept, keys);
            json_array_append_new(list, one);
        }
    return list;
}

json_t *advise_rows_in_all(const struct advise *x)
{
    static const char *const keys[] = { "operand", "count", "split", "scale_from",
                                        "scale_to", "flush", WHAT_IS_KEPT };
    json_t *const list = json_array();
    for (size_t i = 0; i < x->kept.count; i++) {
        if (!x->kept.at[i].all) continue;
        json_t *const one = json_object();
        record_json_keys(one, advise_retained_fields, &x->kept.at[i], keys);
        json_array_append_new(list, one);
    }
    return list;
}
