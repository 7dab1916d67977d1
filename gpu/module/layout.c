/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/module/layout.h"

#include "lib/base/size.h"

#include <string.h>

float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

int format_of(const struct bitcut_format *row)
{
    if (format_is_integer(row)) return row->bits == 8 ? FORMAT_S8 : FORMAT_S32;
    if (row->bits == 8 && row->special == SPECIAL_FNUZ)
        return row->fraction_bits == 3 ? FORMAT_E4M3FNUZ : FORMAT_E5M2FNUZ;
    if (row->bits == 8) return row->fraction_bits == 3 ? FORMAT_E4M3 : FORMAT_E5M2;
    if (row->exponent_bits == 5) return FORMAT_F16;
    return row->fraction_bits == 7 ? FORMAT_BF16 : FORMAT_TF32;
}

int format_low_of(const struct bitcut_split *s)
{
    return format_of(s->part[s->parts - 1].format);
}

struct operand operand_of(const struct gpu_work *w, enum bitcut_operand which)
{
    const struct bitcut_gemm *g = &w->gemm;
    return which == BITCUT_A ? (struct operand){ &g->a,
                                                 &w->plan.split_a,
                                                 w->plan.equilibrate,
                                                 g->a.layout == BITCUT_COLUMN_MAJOR,
                                                 w->plan.target,
                                                 g->m,
                                                 g->k }
                             : (struct operand){ &g->b,
                                                 &w->plan.split_b,
                                                 w->plan.equilibrate,
                                                 g->b.layout == BITCUT_ROW_MAJOR,
                                                 w->plan.target,
                                                 g->n,
                                                 g->k };
}

size_t parts_line_bytes(const struct operand *x)
{
    return parts_row_bytes(format_of(x->split->part[0].format), x->k);
}

size_t parts_low_line_bytes(const struct operand *x)
{
    return parts_row_bytes(format_low_of(x->split), x->k);
}

/* Bytes of the parts, without the data that follows them. */
static size_t parts_alone(const struct operand *x)
{
    const size_t low = (size_t)x->split->parts - 1;
    return x->lines * (parts_line_bytes(x) + low * parts_low_line_bytes(x));
}

size_t parts_bytes(const struct operand *x)
{
    return parts_alone(x) + (x->equilibrate ? x->lines * sizeof(uint32_t) : 0);
}

size_t prepared_stride(const struct operand *x)
{
    return divide_up(parts_bytes(x), GPU_ALIGNMENT) * GPU_ALIGNMENT;
}

const uint32_t *parts_largest(const void *parts, const struct operand *x)
{
    return x->equilibrate ? (const uint32_t *)((const char *)parts + parts_alone(x))
                          : NULL;
}

size_t parts_made(const struct gpu_work *w, const struct operand *x)
{
    if (x->matrix->prepared) return 0;
    return x->matrix->stride ? w->gemm.count : 1;
}

struct k_cut k_cut_of(size_t k, int slices, int format, size_t step_bytes)
{
    const size_t steps = divide_up(k * part_bytes(format), step_bytes);
    const size_t each = divide_up(steps, (size_t)slices);
    return (struct k_cut){ steps * step_bytes, each * step_bytes,
                           steps ? (int)divide_up(steps, each) : 1 };
}
