/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of attention kernels. */
#include "analysis/identify/attention_fault.h"

#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/gemm/view.h"
#include "lib/number/bits.h"
#include "lib/number/elementary32.h"

#include <string.h>

static void add_items(struct attention_variant *v, const char *items)
{
    text_add(v->items, sizeof v->items, "%s%s", *v->items ? "," : "", items);
}

/* --- masks -------------------------------------------------------------------------- */

static bool move_diagonal(struct attention_variant *v, const struct attention_plan *plan,
                          double keys)
{
    (void)plan;
    if (v->a.window_right < 0) return false;
    v->slips.diagonal = (int64_t)keys;
    if (v->a.window_left >= 0) v->a.window_left += (int64_t)keys; /* its left end stays */
    return v->a.window_left >= BITCUT_UNSET;
}

static bool move_left(struct attention_variant *v, const struct attention_plan *plan,
                      double keys)
{
    (void)plan;
    if (v->a.window_left < 0) return false;
    v->a.window_left += (int64_t)keys;
    return v->a.window_left >= 0;
}

/* Without a mask. */
static bool lose_key(struct attention_variant *v, const struct attention_plan *plan,
                     double keys)
{
    if (plan->masked || v->a.keys < 2) return false;
    v->a.keys -= (size_t)keys;
    return true;
}

static bool lose_mask(struct attention_variant *v, const struct attention_plan *plan,
                      double number)
{
    (void)number;
    v->a.window_left = v->a.window_right = BITCUT_UNSET;
    return plan->masked;
}

static bool add_mask(struct attention_variant *v, const struct attention_plan *plan,
                     double number)
{
    (void)number;
    if (v->a.window_left >= 0 || v->a.window_right >= 0) return false;
    v->a.window_right = 0;
    (void)plan;
    return v->a.queries > 1;
}

static bool align_first(struct attention_variant *v, const struct attention_plan *plan,
                        double number)
{
    (void)number;
    v->slips.diagonal = (int64_t)v->a.queries - (int64_t)v->a.keys;
    if (v->a.window_right < 0 && v->a.window_left < 0) v->a.window_right = 0;
    (void)plan;
    return v->slips.diagonal && v->a.queries > 1;
}

/* --- tiles -------------------------------------------------------------------------- */

/* Keys past the end are zeros, whose P is not zero. */
static bool see_past_end(struct attention_variant *v, const struct attention_plan *plan,
                         double number)
{
    (void)number;
    const size_t padded = plan->tiles * plan->block_n;
    if (v->a.window_right >= 0 || padded == v->a.keys) return false;
    v->extra = padded - v->a.keys;
    v->a.keys = padded;
    v->slips.diagonal = -(int64_t)v->extra;
    return true;
}

static bool see_whole_tiles(struct attention_variant *v,
                            const struct attention_plan *plan, double number)
{
    (void)number;
    v->slips.whole_tiles = true;
    return plan->masked;
}

/* --- scales ------------------------------------------------------------------------- */

enum scale_fault {
    SCALE_MISSING,
    SCALE_TWICE,
    LOG2E_MISSING,
    LOG2E_TWICE,
    SCALE_PERCENT
};

static bool change_scale(struct attention_variant *v, const struct attention_plan *plan,
                         double which)
{
    static const double log2_e = 0x1.71547652b82fep+0;
    const double scale = value_of_float(v->a.scale);
    const double to[] = { 1, scale * scale, scale / log2_e, scale * log2_e,
                          scale * 1.01 };
    v->a.scale = bits_of_float((float)to[(int)which]);
    return v->a.scale != bits_of_float(plan->scale) && f32_is_finite(v->a.scale);
}

/* --- rescaling ---------------------------------------------------------------------- */

enum stale_fault { STALE_O = 1, STALE_SUM = 2 };

static bool lose_rescale(struct attention_variant *v, const struct attention_plan *plan,
                         double which)
{
    v->slips.keeps_o = (int)which & STALE_O;
    v->slips.keeps_sum = (int)which & STALE_SUM;
    return plan->split_tiles > 1;
}

static bool keep_maximum(struct attention_variant *v, const struct attention_plan *plan,
                         double number)
{
    (void)number;
    add_items(v, "threshold=1000");
    return plan->split_tiles > 1;
}

/* --- the scale of P ----------------------------------------------------------------- */

static bool lose_offset(struct attention_variant *v, const struct attention_plan *plan,
                        double number)
{
    (void)number;
    add_items(v, "offset=0");
    return plan->row.offset;
}

static bool multiply_o(struct attention_variant *v, const struct attention_plan *plan,
                       double sign)
{
    v->slips.factor =
        bits_of_float(elementary32_exp2((float)sign * float_of_bits(plan->row.offset)));
    return plan->row.offset;
}

/* --- coarse formats and functions --------------------------------------------------- */

enum coarse_fault { P_E4M3, F16_SUMS, COARSE_EXP };

static bool coarsen(struct attention_variant *v, const struct attention_plan *plan,
                    double which)
{
    static const char *const items[] = {
        [P_E4M3] = "unit-pv=ada/mma.m16n8k32.f32.e4m3,p-format=e4m3",
        [F16_SUMS] = "unit-pv=ampere/mma.m16n8k16.f16.f16,p-format=f16",
        [COARSE_EXP] = "exp=polynomial",
    };
    add_items(v, items[(int)which]);
    (void)plan;
    return which == COARSE_EXP || format_bytes(matrix_format(&v->a.v)) > 1;
}

/* --- operands and results ------------------------------------------------------------
 */

/* A key of zeros in place of the last one. */
static void zero_key(const struct bitcut_attention *a, void *k, void *v)
{
    const size_t k_bytes = (size_t)format_bytes(matrix_format(&a->k)) * a->head_dim,
                 v_bytes = (size_t)format_bytes(matrix_format(&a->v)) * a->value_dim;
    memset((char *)k + (a->keys - 1) * k_bytes, 0, k_bytes);
    memset((char *)v + (a->keys - 1) * v_bytes, 0, v_bytes);
}

/* V of two neighbouring keys exchanged. */
static void swap_values(const struct bitcut_attention *a, void *k, void *v)
{
    const int bytes = format_bytes(matrix_format(&a->v));
    const size_t dim = a->value_dim, at = a->keys / 2 * dim;
    (void)k;
    for (size_t p = at; p < at + dim && a->keys > a->keys / 2 + 1; p++) {
        const uint64_t x = encoding_get(v, bytes, p);
        encoding_put(v, bytes, p, encoding_get(v, bytes, p + dim));
        encoding_put(v, bytes, p + dim, x);
    }
}

static void multiply(const struct bitcut_attention *a, void *o, size_t from, size_t count,
                     double factor)
{
    const struct bitcut_format *const format = matrix_format(&a->o);
    const int bytes = format_bytes(format);
    for (size_t i = from; i < from + count; i++)
        encoding_put(
            o, bytes, i,
            bitcut_format_convert(
                format, &roundings[ROUND_RN], &formats[FORMAT_F64],
                bits_of_double(factor *
                               format_to_double(format, encoding_get(o, bytes, i)))));
}

/* A query whose factor of a new maximum was lost in the sum. */
static void one_query(const struct bitcut_attention *a, void *o)
{
    multiply(a, o, a->queries / 2 * a->value_dim, a->value_dim, 1.05);
}

static void all_outputs(const struct bitcut_attention *a, void *o)
{
    multiply(a, o, 0, a->queries * a->value_dim, 1 + 0x1p-7);
}

/* --- the table ---------------------------------------------------------------------- */

#define FAULT(k, of, sentence, function, x)                                              \
    {                                                                                    \
        .key = k, .kind = of, .what = sentence, .change = function, .number = x          \
    }
#define PLANTED(k, sentence, ...)                                                        \
    {                                                                                    \
        .key = k, .kind = "planted", .what = sentence, .planted_only = true, __VA_ARGS__ \
    }

/* clang-format off */
const struct attention_fault attention_faults[] = {
    { .key = "none", .kind = "", .what = "" },
    FAULT("one-key-more", "mask off by one", "a query sees one key too many", move_diagonal, 1),
    FAULT("one-key-fewer", "mask off by one", "a query sees one key too few", move_diagonal, -1),
    FAULT("left-key-more", "mask off by one", "a query sees one key too many on the left", move_left, 1),
    FAULT("left-key-fewer", "mask off by one", "a query sees one key too few on the left", move_left, -1),
    FAULT("last-key", "mask off by one", "no query sees the last key", lose_key, 1),
    FAULT("no-mask", "mask lost", "every query sees every key", lose_mask, 0),
    FAULT("causal", "mask not given", "O has a causal mask, which was not given", add_mask, 0),
    FAULT("first-key", "mask aligned with the first key", "query i sees keys up to i, not up to i + keys - queries", align_first, 0),
    FAULT("padding", "last tile not masked", "keys past the end count in the sum of P", see_past_end, 0),
    FAULT("whole-tiles", "last tile not masked", "a query sees every key of the tiles that its block visits", see_whole_tiles, 0),
    FAULT("no-scale", "scale missing", "scores are not multiplied by the scale", change_scale, SCALE_MISSING),
    FAULT("scale-twice", "scale twice", "scores are multiplied by the scale twice", change_scale, SCALE_TWICE),
    FAULT("no-log2e", "log2(e) missing", "2^x is computed in place of e^x", change_scale, LOG2E_MISSING),
    FAULT("log2e-twice", "log2(e) twice", "scores are multiplied by log2(e) twice", change_scale, LOG2E_TWICE),
    FAULT("stale-o", "stale maximum", "O is not rescaled when the maximum rises", lose_rescale, STALE_O),
    FAULT("stale-sum", "stale maximum", "the sum of P is not rescaled when the maximum rises", lose_rescale, STALE_SUM),
    FAULT("stale-both", "stale maximum", "neither O nor the sum of P is rescaled when the maximum rises", lose_rescale, STALE_O | STALE_SUM),
    FAULT("first-maximum", "stale maximum", "the maximum of the first tile stays", keep_maximum, 0),
    FAULT("p-unscaled", "P scale lost", "P is not scaled before it is rounded", lose_offset, 0),
    FAULT("o-undivided", "P scale lost", "O is not divided by the scale of P", multiply_o, 1),
    FAULT("o-divided", "P scale lost", "O is divided by the scale of P twice", multiply_o, -1),
    PLANTED("scale-1%", "the scale is 1 % too large", .change = change_scale, .number = SCALE_PERCENT),
    PLANTED("p-e4m3", "P is rounded to e4m3", .change = coarsen, .number = P_E4M3),
    PLANTED("f16-sums", "accumulators of P V in f16", .change = coarsen, .number = F16_SUMS),
    PLANTED("coarse-exp", "the exponential is a polynomial of degree 3", .change = coarsen, .number = COARSE_EXP),
    PLANTED("zero-key", "a key of zeros in place of the last one", .spoil_operands = zero_key),
    PLANTED("swapped-v", "V of two neighbouring keys exchanged", .spoil_operands = swap_values),
    PLANTED("one-query", "all outputs of one query are 5 % too large", .spoil_result = one_query),
    PLANTED("all-outputs", "all outputs are 1 + 2^-7 times too large", .spoil_result = all_outputs),
    { .key = NULL }
};
/* clang-format on */

/* --- computations with faults ---------------------------------------------------------
 */

bool attention_fault_plan(struct attention_plan *plan, struct attention_variant *v,
                          const struct attention_fault *fault)
{
    if (attention_plan_make(plan, &v->a, NULL) != BITCUT_OK) return false;
    if (!fault->change) return true;
    if (!fault->change(v, plan, fault->number) ||
        attention_plan_make(plan, &v->a, NULL) != BITCUT_OK)
        return false;
    plan->slips = v->slips;
    return true;
}

enum bitcut_status attention_fault_operands(struct attention_operands *x,
                                            const struct attention_plan *plan,
                                            const struct attention_variant *v,
                                            int threads)
{
    enum { ROOM = 528 }; /* for tiles of other widths */
    struct attention_plan given = *plan;
    given.a.keys -= v->extra;
    return attention_operands_make(
        x, &given, larger(plan->tiles * plan->block_n, plan->a.keys + ROOM), threads);
}
