/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of attention kernels, planted to measure what a test finds. */
#include "analysis/sampling/attention_tolerance.h"
#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/gemm/view.h"
#include "lib/number/bits.h"

#include <string.h>

static bool nothing(struct attention_run *r)
{
    (void)r;
    return true;
}

/* --- faults of the computation ---------------------------------------------------- */

/* A query sees one key more. */
static bool mask(struct attention_run *r)
{
    struct bitcut_attention *const a = &r->of.a;
    if (a->window_right < 0 || a->queries == 1) return false;
    a->window_right++;
    return true;
}

/* The last key is left out; masks stay where they were. */
static bool last_key(struct attention_run *r)
{
    struct bitcut_attention *const a = &r->of.a;
    if (a->keys < 2 || a->window_left >= 0) return false;
    a->keys--;
    if (a->window_right >= 0) a->window_right++;
    return true;
}

/* A row of zeros follows the last key: the last tile is not masked. */
static bool last_tile(struct attention_run *r)
{
    struct bitcut_attention *const a = &r->of.a;
    const size_t k_bytes = (size_t)format_bytes(matrix_format(&a->k)) * a->head_dim,
                 v_bytes = (size_t)format_bytes(matrix_format(&a->v)) * a->value_dim;
    if (a->keys < 2 || a->window_left >= 0 || a->window_right >= 0) return false;
    memset((char *)r->of.k + (a->keys - 1) * k_bytes, 0, k_bytes);
    memset((char *)r->of.v + (a->keys - 1) * v_bytes, 0, v_bytes);
    return true;
}

static bool scale_by(struct attention_run *r, double factor)
{
    struct bitcut_attention *const a = &r->of.a;
    a->scale = bits_of_float((float)(value_of_float(a->scale) * factor));
    return true;
}

static bool scale_twice(struct attention_run *r)
{
    return scale_by(r, value_of_float(r->of.a.scale));
}

static bool scale_percent(struct attention_run *r) { return scale_by(r, 1.01); }

/* V of two neighbouring keys exchanged. */
static bool swapped(struct attention_run *r)
{
    struct bitcut_attention *const a = &r->of.a;
    const int bytes = format_bytes(matrix_format(&a->v));
    const size_t dim = a->value_dim, at = a->keys / 2;
    if (at + 1 >= a->keys) return false;
    for (size_t p = 0; p < dim; p++) {
        const uint64_t x = encoding_get(r->of.v, bytes, at * dim + p);
        encoding_put(r->of.v, bytes, at * dim + p,
                     encoding_get(r->of.v, bytes, (at + 1) * dim + p));
        encoding_put(r->of.v, bytes, (at + 1) * dim + p, x);
    }
    return true;
}

/* Fields of the row in another way. */
static bool vary(struct attention_run *r, const char *items)
{
    char line[BITCUT_ATTENTION_MAX];
    struct bitcut_attention *const a = &r->of.a;
    const char *const before = a->vary;
    if (before != r->vary) text_add(r->vary, sizeof r->vary, "%s", before ? before : "");
    text_add(r->vary, sizeof r->vary, "%s%s", *r->vary ? "," : "", items);
    a->vary = r->vary;
    return bitcut_attention_write(line, a, NULL) == BITCUT_OK;
}

/* Whether P may have 16 bits or more. */
static bool is_wide(const struct attention_run *r)
{
    return format_bytes(matrix_format(&r->of.a.v)) > 1;
}

static bool p_e4m3(struct attention_run *r)
{
    return is_wide(r) && vary(r, "unit-pv=ada/mma.m16n8k32.f32.e4m3,p-format=e4m3");
}

static bool f16_sums(struct attention_run *r)
{
    return is_wide(r) && vary(r, "unit-pv=ampere/mma.m16n8k16.f16.f16,p-format=f16");
}

static bool coarse_exp(struct attention_run *r) { return vary(r, "exp=polynomial"); }

/* --- faults of O ------------------------------------------------------------------ */

static void multiply(struct attention_run *r, size_t from, size_t to, double factor)
{
    struct bitcut_attention *const a = &r->of.a;
    const struct bitcut_format *const format = matrix_format(&a->o);
    const int bytes = format_bytes(format);
    for (size_t i = from; i < to; i++)
        encoding_put(
            r->of.o, bytes, i,
            bitcut_format_convert(
                format, &roundings[ROUND_RN], &formats[FORMAT_F64],
                bits_of_double(
                    factor * format_to_double(format, encoding_get(r->of.o, bytes, i)))));
}

/* All outputs of a query, whose factor of a new maximum was lost in the sum. */
static bool one_query(struct attention_run *r)
{
    const size_t dim = r->of.a.value_dim, at = r->of.a.queries / 2;
    multiply(r, at * dim, (at + 1) * dim, 1.05);
    return true;
}

static bool all_outputs(struct attention_run *r)
{
    multiply(r, 0, r->outputs, 1 + 0x1p-7);
    return true;
}

const struct attention_test_fault attention_test_faults[] = {
    { "none", "no fault: rejections are false alarms", nothing, NULL },
    { "mask", "a query sees one key more than its mask allows", mask, NULL },
    { "last-key", "the last key is left out", last_key, NULL },
    { "zero-key", "a key of zeros in place of one of the keys", last_tile, NULL },
    { "scale-twice", "scores are multiplied by the scale twice", scale_twice, NULL },
    { "scale-1%", "the scale is 1 % too large", scale_percent, NULL },
    { "swapped-v", "V of two neighbouring keys exchanged", swapped, NULL },
    { "p-e4m3", "P is rounded to e4m3", p_e4m3, NULL },
    { "f16-sums", "accumulators of P V in f16", f16_sums, NULL },
    { "coarse-exp", "the exponential is a polynomial of degree 3", coarse_exp, NULL },
    { "one-query", "all outputs of one query are 5 % too large", NULL, one_query },
    { "all-outputs", "all outputs are 1 + 2^-7 times too large", NULL, all_outputs },
    { NULL, NULL, NULL, NULL }
};
