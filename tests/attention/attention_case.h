/* SPDX-License-Identifier: BSD-3-Clause */
/* Random attentions for tests: small sizes, all masks, special values. */
#ifndef BITCUT_TESTS_ATTENTION_ATTENTION_CASE_H
#define BITCUT_TESTS_ATTENTION_ATTENTION_CASE_H

#include "emu/attention/attention_row.h"

enum { ROWS_MAX = 40, COLUMNS_MAX = 40, HEADS_MAX = 3, ITEMS_MAX = 512 };
enum { ELEMENTS_MAX = HEADS_MAX * ROWS_MAX * COLUMNS_MAX };

/* An attention with its matrices. */
struct attention_case {
    struct bitcut_attention a;
    uint32_t q[ELEMENTS_MAX], k[ELEMENTS_MAX], v[ELEMENTS_MAX], o[ELEMENTS_MAX],
        lse[HEADS_MAX * ROWS_MAX];
    char items[ITEMS_MAX];
};

/* Fill a matrix of `heads` heads with numbers of about 2^-spread to 2^spread, some of
   them zero, infinite or NaN with `special`. */
void attention_case_fill(uint32_t *to, struct bitcut_matrix *m, size_t heads, size_t rows,
                         size_t cols, const struct bitcut_format *format, uint64_t *rng,
                         int spread, bool special);

/* An attention of a row, with O in f32. */
void attention_case_draw(struct attention_case *c, const struct bitcut_attention_row *row,
                         uint64_t *rng);

/* Random variations of the fields of the row. */
void attention_case_vary(struct attention_case *c, const struct bitcut_attention_row *row,
                         uint64_t *rng);

#endif
