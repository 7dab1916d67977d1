/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/fit/fit_read.h"

#include "analysis/evidence/variant.h"
#include "lib/base/text.h"

#include <stdlib.h>

static size_t used_outputs(const struct set *s, size_t most)
{
    return most && s->d.count > most ? most : s->d.count;
}

/* Whether all bits of the output were recorded. */
static bool is_known(const struct set *s, uint64_t d)
{
    return !s->negative_nan || format_decode(s->unit.c, d).kind != NUMBER_NAN;
}

/* Select the recorded outputs among `count` evenly spaced ones; *done counts them as
   well. */
static enum bitcut_status read_outputs(struct recorded *to, size_t *done,
                                       const struct set *s, size_t count, struct fault *f)
{
    const struct fragments in = set_fragments(s);
    const struct gpu_variant_row *variant;
    struct variant_operands told;
    enum bitcut_status status = variant_of(&variant, s, f);
    if (status == BITCUT_OK)
        status = variant_operands_make(&told, &s->unit, variant, &in, f);
    if (status != BITCUT_OK) return status;
    for (size_t i = 0; i < count; i++) {
        fit_take(&to[*done], &s->unit, &told.x, &s->d, s->shape,
                 fit_place(i, count, s->d.count));
        *done += is_known(s, to[*done].d);
    }
    variant_operands_clear(&told);
    return BITCUT_OK;
}

static enum bitcut_status check_sets(size_t *count, const struct set *sets, int set_count,
                                     size_t most, struct fault *f)
{
    *count = 0;
    for (int i = 0; i < set_count; i++) {
        if (!fit_same_instruction(&sets[i].unit, &sets[0].unit))
            return fault_set(f, BITCUT_BAD_ARGUMENT,
                             "%.*s and %.*s differ in formats, k or scales",
                             text_fit(sets[i].unit.name, 90), sets[i].unit.name,
                             text_fit(sets[0].unit.name, 90), sets[0].unit.name);
        *count += used_outputs(&sets[i], most);
    }
    return fit_check(&sets[0].unit, *count, f);
}

enum bitcut_status fit_read(struct fit *fit, const struct set *sets, int set_count,
                            size_t most, struct fault *f)
{
    size_t count, done = 0;
    enum bitcut_status status = check_sets(&count, sets, set_count, most, f);
    if (status != BITCUT_OK) return status;
    struct recorded *outputs = memory_allocate(count, sizeof *outputs);
    if (!outputs) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    for (int i = 0; i < set_count && status == BITCUT_OK; i++)
        status = read_outputs(outputs, &done, &sets[i], used_outputs(&sets[i], most), f);
    if (status == BITCUT_OK) status = fit_init(fit, &sets[0].unit, outputs, done, f);
    free(outputs);
    return status;
}
