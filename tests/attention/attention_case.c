/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/attention/attention_case.h"

#include "lib/number/bits.h"
#include "lib/number/round.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

/* A number of about 2^e, or sometimes another one: zero, subnormal, NaN, infinite. */
static double draw(uint64_t *rng, int spread, bool special)
{
    const double x = (double)test_between(rng, -1000, 1000) / 500;
    if (special && !test_between(rng, 0, 60)) {
        const double few[] = { 0.0, -0.0, 1e-7, (double)INFINITY, (double)NAN, -65504 };
        return few[test_between(rng, 0, 5)];
    }
    return ldexp(x, test_between(rng, -spread, spread));
}

void attention_case_fill(uint32_t *to, struct bitcut_matrix *m, size_t heads, size_t rows,
                         size_t cols, const struct bitcut_format *format, uint64_t *rng,
                         int spread, bool special)
{
    const int bytes = format_bytes(format);
    *m = (struct bitcut_matrix){ .at = to, .format = format, .stride = rows * cols };
    for (size_t i = 0; i < heads * rows * cols; i++)
        encoding_put(to, bytes, i,
                     bitcut_format_convert(format, &roundings[ROUND_RN],
                                           &formats[FORMAT_F64],
                                           bits_of_double(draw(rng, spread, special))));
}

static const struct bitcut_format *format_for(const struct bitcut_attention_row *row,
                                              uint64_t *rng)
{
    const bool eight = row->operand == &formats[FORMAT_E4M3];
    return eight ? row->operand
                 : &formats[test_between(rng, 0, 1) ? FORMAT_F16 : FORMAT_BF16];
}

void attention_case_draw(struct attention_case *c, const struct bitcut_attention_row *row,
                         uint64_t *rng)
{
    static const int windows[] = { BITCUT_UNSET, 0, 3, 20 };
    struct bitcut_attention *const a = &c->a;
    const struct bitcut_format *const format = format_for(row, rng);
    const bool special = !test_between(rng, 0, 3);
    const int spread = test_between(rng, 0, 3);
    bitcut_attention_init(a, sizeof *a);
    a->row = row;
    a->vary = c->items;
    a->kv_heads = 1;
    a->heads = (size_t)test_between(rng, 1, 2);
    a->queries = (size_t)test_between(rng, 1, test_between(rng, 0, 3) ? 12 : ROWS_MAX);
    a->keys = (size_t)test_between(rng, 1, ROWS_MAX);
    a->head_dim = (size_t)test_between(rng, 1, COLUMNS_MAX);
    a->value_dim = (size_t)test_between(rng, 1, 9);
    a->window_left = windows[test_between(rng, 0, 3)];
    a->window_right = windows[test_between(rng, 0, 3)];
    if (test_between(rng, 0, 1)) a->window_left = BITCUT_UNSET;
    if (test_between(rng, 0, 1))
        a->scale = 0x3f000000 + (uint32_t)test_between(rng, 0, 9999);
    attention_case_fill(c->q, &a->q, a->heads, a->queries, a->head_dim, format, rng,
                        spread, special);
    attention_case_fill(c->k, &a->k, a->kv_heads, a->keys, a->head_dim, format, rng,
                        spread, special);
    attention_case_fill(c->v, &a->v, a->kv_heads, a->keys, a->value_dim, format, rng,
                        spread, special);
    a->o = (struct bitcut_matrix){ .to = c->o, .stride = a->queries * a->value_dim };
    a->lse = c->lse;
    *c->items = 0;
}

static const char *any(uint64_t *rng, const char *const *of, int count)
{
    return of[test_between(rng, 0, count - 1)];
}

void attention_case_vary(struct attention_case *c, const struct bitcut_attention_row *row,
                         uint64_t *rng)
{
    static const char *const
        exps[] = { "ex2.approx.ftz", "ex2.approx", "polynomial", "exp2", "expf", "exp" },
        *const scaled[] = { "fused", "apart", "scores" },
        *const reciprocals[] = { "rcp.approx.ftz", "reciprocal", "division" },
        *const yes[] = { "no", "yes" }, *const reductions_[] = { "halves", "tree" },
        *const merges[] = { "cuda", "cuda-fast" },
        *const directions_[] = { "ascending", "descending" },
        *const zeros[] = { "0", "tile", "4" }, *const blocks[] = { "1", "4", "16", "32" },
        *const thresholds[] = { "0", "1.5", "8" };
    const int block = test_between(rng, 0, 3), scaling = test_between(rng, 0, 2),
              exp = test_between(rng, 0, scaling < 2 ? 3 : 5);
    const bool free = row->scaling < SCALED_QUERIES && !row->q_block;
    snprintf(c->items, sizeof c->items,
             "block-m=%d,block-n=%s,direction=%s,flush=%s,threshold=%s,lanes=%d,chunk=%d,"
             "reduction=%s,each-tile=%s,apart=%s,fused=%s,from-zero=%s,lse-nan=%s,"
             "reciprocal=%s,merge=%s",
             test_between(rng, 1, ROWS_MAX), blocks[block], any(rng, directions_, 2),
             any(rng, yes, 2), any(rng, thresholds, 3), 1 << test_between(rng, 0, 5),
             test_between(rng, 1, 3), any(rng, reductions_, 2), any(rng, yes, 2),
             any(rng, yes, 2), any(rng, yes, 2), any(rng, zeros, block ? 3 : 2),
             any(rng, yes, 2), any(rng, reciprocals, 3), any(rng, merges, 2));
    const size_t length = strlen(c->items);
    if (free)
        snprintf(c->items + length, sizeof c->items - length,
                 ",scaling=%s,exp=%s,splits=%d", scaled[scaling], exps[exp],
                 test_between(rng, 1, 4));
}
