/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of attention kernels. */
#include "analysis/identify/attention_hypothesis.h"

#include "lib/base/text.h"
#include "lib/number/bits.h"
#include "lib/number/elementary32.h"

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

enum scale_fault { SCALE_MISSING, SCALE_TWICE, LOG2E_MISSING, LOG2E_TWICE };

static bool change_scale(struct attention_variant *v, const struct attention_plan *plan,
                         double which)
{
    static const double log2_e = 0x1.71547652b82fep+0;
    const double scale = value_of_float(v->a.scale);
    const double to[] = { 1, scale * scale, scale / log2_e, scale * log2_e };
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
    text_add(v->items, sizeof v->items, "%sthreshold=1000", *v->items ? "," : "");
    return plan->split_tiles > 1;
}

/* --- the scale of P ----------------------------------------------------------------- */

static bool lose_offset(struct attention_variant *v, const struct attention_plan *plan,
                        double number)
{
    (void)number;
    text_add(v->items, sizeof v->items, "%soffset=0", *v->items ? "," : "");
    return plan->row.offset;
}

static bool multiply_o(struct attention_variant *v, const struct attention_plan *plan,
                       double sign)
{
    v->slips.factor =
        bits_of_float(elementary32_exp2((float)sign * float_of_bits(plan->row.offset)));
    return plan->row.offset;
}

const struct attention_fault attention_faults[] = {
    { .name = "", .what = "" },
    { "mask off by one", "a query sees one key too many", move_diagonal, 1 },
    { "mask off by one", "a query sees one key too few", move_diagonal, -1 },
    { "mask off by one", "a query sees one key too many on the left", move_left, 1 },
    { "mask off by one", "a query sees one key too few on the left", move_left, -1 },
    { "mask off by one", "no query sees the last key", lose_key, 1 },
    { "mask lost", "every query sees every key", lose_mask, 0 },
    { "mask not given", "O has a causal mask, which was not given", add_mask, 0 },
    { "mask aligned with the first key",
      "query i sees keys up to i, not up to i + keys - queries", align_first, 0 },
    { "last tile not masked", "keys past the end count in the sum of P", see_past_end,
      0 },
    { "last tile not masked", "a query sees every key of the tiles that its block visits",
      see_whole_tiles, 0 },
    { "scale missing", "scores are not multiplied by the scale", change_scale,
      SCALE_MISSING },
    { "scale twice", "scores are multiplied by the scale twice", change_scale,
      SCALE_TWICE },
    { "log2(e) missing", "2^x is computed in place of e^x", change_scale, LOG2E_MISSING },
    { "log2(e) twice", "scores are multiplied by log2(e) twice", change_scale,
      LOG2E_TWICE },
    { "stale maximum", "O is not rescaled when the maximum rises", lose_rescale,
      STALE_O },
    { "stale maximum", "the sum of P is not rescaled when the maximum rises",
      lose_rescale, STALE_SUM },
    { "stale maximum", "neither O nor the sum of P is rescaled when the maximum rises",
      lose_rescale, STALE_O | STALE_SUM },
    { "stale maximum", "the maximum of the first tile stays", keep_maximum, 0 },
    { "P scale lost", "P is not scaled before it is rounded", lose_offset, 0 },
    { "P scale lost", "O is not divided by the scale of P", multiply_o, 1 },
    { "P scale lost", "O is divided by the scale of P twice", multiply_o, -1 },
    { 0 }
};
