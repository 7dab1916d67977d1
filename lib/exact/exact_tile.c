/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/exact/exact_tile.h"

const struct bitcut_format *const exact_formats[EXACT_TARGETS] = {
    [EXACT_F32] = &formats[FORMAT_F32],
    [EXACT_F64] = &formats[FORMAT_F64],
};

struct dgemm_operands tile_operands(const struct exact_tile *t)
{
    return (struct dgemm_operands){ .rows = t->rows,
                                    .cols = t->cols,
                                    .k = t->job->k,
                                    .a = t->job->a + t->row * t->job->k,
                                    .lda = t->job->k,
                                    .b = t->job->b + t->col,
                                    .ldb = t->job->n };
}

void tile_settle_special(struct exact_tile *t, size_t i, size_t j,
                         enum number_class class, bool negative)
{
    for (int target = 0; target < EXACT_TARGETS; target++) {
        const struct bitcut_format *f = exact_formats[target];
        const uint64_t encoding = class == NUMBER_NAN   ? format_nan(f)
                                  : class == NUMBER_INF ? format_infinity(f, negative)
                                                        : format_zero(f, negative);
        if (lacks(t, i, j, target)) settle(t, i, j, target, encoding);
    }
}

bool tile_is_negative_zero(const struct exact_tile *t, size_t i, size_t j)
{
    const struct exact_job *job = t->job;
    const uint32_t *a = job->a + (t->row + i) * job->k, *b = job->b + t->col + j;
    bool negative = job->k > 0;
    for (size_t p = 0; negative && p < job->k; p++) {
        const uint32_t x = a[p], y = b[p * job->n];
        negative = (x << 1 == 0 || y << 1 == 0) && (x ^ y) >> 31;
    }
    return negative;
}
