/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/verify/matrix_excerpt.h"

#include "lib/number/rand.h"

size_t excerpt_line(const struct excerpt *l, size_t i) { return l->some ? l->at[i] : i; }

struct excerpt excerpt_some(size_t count, size_t most, uint64_t seed, uint64_t stream)
{
    struct excerpt l = { .count = most, .some = true };
    if (count <= most) return (struct excerpt){ .count = count };
    for (size_t i = 1; i + 1 < most; i++)
        l.at[i] = 1 + rand_below(rand_bits(rand_word(seed, stream, 2 * i),
                                           rand_word(seed, stream, 2 * i + 1)),
                                 count - 2);
    l.at[most - 1] = count - 1;
    return l;
}

enum bitcut_status excerpt_gather(struct matrix *to, const struct matrix *from,
                                  const struct excerpt *rows, const struct excerpt *cols,
                                  struct fault *f)
{
    const enum bitcut_status status = matrix_init(to, rows->count, cols->count, f);
    if (status != BITCUT_OK) return status;
    for (size_t i = 0; i < to->rows; i++) {
        const uint32_t *row = from->at + excerpt_line(rows, i) * from->cols;
        for (size_t j = 0; j < to->cols; j++)
            to->at[i * to->cols + j] = row[excerpt_line(cols, j)];
    }
    return BITCUT_OK;
}
