/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/evidence/variant.h"

#include "lib/base/table.h"

enum bitcut_status variant_of(const struct gpu_variant_row **variant, const struct set *s,
                              struct fault *f)
{
    const json_t *key = json_object_get(s->meta, "variant");
    const char *name = key ? json_string_value(key) : gpu_variants[GPU_PLAIN].name;
    const struct gpu_variant_row *row =
        name ? table_find(TABLE(gpu_variants), name) : NULL;
    if (!row)
        return fault_set(f, BITCUT_BAD_FILE, "meta.json: unknown variant \"%s\"",
                         name ? name : "(not a string)");
    *variant = row;
    return BITCUT_OK;
}

/* Set *to to a copy of *from whose elements have the bits of `flip` flipped, and then
   only the bits of `keep`; *from then points to it. */
static enum bitcut_status change(struct array *to, const struct array **from,
                                 uint64_t flip, uint64_t keep, struct fault *f)
{
    const struct array *x = *from;
    const enum bitcut_status status =
        array_init(to, x->dims, x->dim, x->bytes, x->floating, f);
    if (status != BITCUT_OK) return status;
    for (size_t i = 0; i < x->count; i++)
        array_set(to, i, (array_get(x, i) ^ flip) & keep);
    *from = to;
    return BITCUT_OK;
}

static uint64_t sign_bit(const struct bitcut_format *format)
{
    return UINT64_C(1) << (format->bits - 1);
}

enum bitcut_status variant_operands_make(struct variant_operands *t,
                                         const struct bitcut_unit *unit,
                                         const struct gpu_variant_row *variant,
                                         const struct fragments *x, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    *t = (struct variant_operands){ .x = *x };
    if (variant->negates_a)
        status = change(&t->a, &t->x.a, sign_bit(unit->a), UINT64_MAX, f);
    if (variant->negates_b && status == BITCUT_OK)
        status = change(&t->b, &t->x.b, sign_bit(unit->b), UINT64_MAX, f);
    if (variant->ignores_c && status == BITCUT_OK)
        status = change(&t->c, &t->x.c, 0, 0, f);
    if (status != BITCUT_OK) variant_operands_clear(t);
    return status;
}

void variant_operands_clear(struct variant_operands *t)
{
    array_clear(&t->c);
    array_clear(&t->b);
    array_clear(&t->a);
}
