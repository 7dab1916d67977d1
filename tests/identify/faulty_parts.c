/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/identify/faulty.h"

#include <math.h>
#include <string.h>

/* --- terms -------------------------------------------------------------------------- */

enum { HH = 0, HL = 1, LH = 2, LL = 3 };

static int kind_of(struct term t) { return 2 * t.a + t.b; }

/* Keep the terms for which `kept` has a bit. */
static bool keep_terms(struct kernel *q, int kept)
{
    int n = 0;
    for (int i = 0; i < q->terms; i++)
        if (kept >> kind_of(q->term[i]) & 1) q->term[n++] = q->term[i];
    const bool dropped = n < q->terms;
    q->terms = n;
    return dropped;
}

static bool drop_term(struct kernel *q, int kind)
{
    return q->terms > 1 && keep_terms(q, ~(1 << kind));
}

static bool drop_corrections(struct kernel *q, int value)
{
    (void)value;
    return keep_terms(q, 1 << HH);
}

static bool repeat_term(struct kernel *q, int kind)
{
    for (int i = 0; i < q->terms; i++) {
        if (kind_of(q->term[i]) != kind) continue;
        memmove(q->term + i + 1, q->term + i,
                (size_t)(TERMS_MAX - 1 - i) * sizeof q->term[0]);
        q->terms++;
        return true;
    }
    return false;
}

static bool term_becomes_lh(struct kernel *q, int kind)
{
    for (int i = 0; q->parts > 1 && i < q->terms; i++)
        if (kind_of(q->term[i]) == kind) {
            q->term[i].a = 1;
            q->term[i].b = 0;
            return true;
        }
    return false;
}

static bool reverse_terms(struct kernel *q, int value)
{
    (void)value;
    for (int i = 0; i < q->terms / 2; i++) {
        const struct term t = q->term[i];
        q->term[i] = q->term[q->terms - 1 - i];
        q->term[q->terms - 1 - i] = t;
    }
    return q->terms > 1;
}

static bool one_accumulator(struct kernel *q, int value)
{
    bool changed = false;
    (void)value;
    for (int i = 0; i < q->terms; i++) {
        changed = changed || q->term[i].accumulator;
        q->term[i].accumulator = 0;
    }
    return changed;
}

static bool add_low_low(struct kernel *q, int accumulator)
{
    for (int i = 0; i < q->terms; i++)
        if (kind_of(q->term[i]) == LL) return false;
    q->term[q->terms++] = (struct term){ 1, 1, accumulator };
    return q->parts > 1;
}

/* --- splits ------------------------------------------------------------------------- */

/* CUT is TOWARD_ZERO but for numbers that are too small or too large. */
static bool high_by(struct kernel *q, int rule)
{
    const bool same = (int)q->high == rule || (rule == TOWARD_ZERO && q->high == CUT);
    q->high = (enum rule)rule;
    return !same;
}

static bool low_by(struct kernel *q, int rule)
{
    const bool same = (int)q->low == rule;
    q->low = (enum rule)rule;
    return q->parts > 1 && !same;
}

/* The other of the two scales that are in use: 2^10 and 2^11. */
static int other_scale(const struct kernel *q) { return q->scale == 11 ? 10 : 11; }

static bool split_by_other_scale(struct kernel *q, int value)
{
    (void)value;
    if (!q->scale) return false;
    q->scale = other_scale(q);
    return true;
}

static bool fold_by_other_scale(struct kernel *q, int value)
{
    (void)value;
    if (!q->scale) return false;
    q->fold = other_scale(q);
    return true;
}

static bool all_by_other_scale(struct kernel *q, int value)
{
    return fold_by_other_scale(q, value) && split_by_other_scale(q, value);
}

static bool low_not_scaled(struct kernel *q, int value)
{
    q->scale = value;
    return q->fold != 0;
}

static bool has_low(struct kernel *q, int value)
{
    (void)value;
    return q->parts > 1;
}

static bool has_scale(struct kernel *q, int value)
{
    (void)value;
    return q->parts > 1 && q->scale;
}

static bool has_f16(struct kernel *q, int value)
{
    (void)value;
    return q->unit->parts == &f16;
}

static bool short_parts(struct kernel *q, int value)
{
    (void)value;
    return q->unit->parts != &f32;
}

static float flushed(const struct kernel *q, float x)
{
    return fabsf(x) < ldexpf(1, q->unit->parts->least) ? 0 : x;
}

static void low_flushed(float part[2], const struct kernel *q, float x)
{
    split_right(part, q, x);
    part[1] = flushed(q, part[1]);
}

static void high_flushed(float part[2], const struct kernel *q, float x)
{
    split_right(part, q, x);
    part[0] = flushed(q, part[0]);
}

static void input_flushed(float part[2], const struct kernel *q, float x)
{
    split_right(part, q, flushed(q, x));
}

static void residual_negated(float part[2], const struct kernel *q, float x)
{
    split_right(part, q, x);
    part[1] = -part[1];
}

/* The residual is held in the format of parts before it is scaled. */
static void residual_short(float part[2], const struct kernel *q, float x)
{
    split_right(part, q, x);
    const float r = round_to(q->unit->parts, NEAREST_EVEN, x - part[0]);
    part[1] = round_to(q->unit->parts, q->low, ldexpf(r, q->scale));
}

/* The residual is that of another rounding than the high part's. */
static void residual_of_other(float part[2], const struct kernel *q, float x)
{
    struct kernel other = *q;
    other.high = q->high == CUT ? NEAREST_EVEN : TOWARD_ZERO;
    split_right(part, &other, x);
    part[0] = round_to(q->unit->parts, q->high, x);
}

static void high_via_bf16(float part[2], const struct kernel *q, float x)
{
    part[0] = round_to(q->unit->parts, q->high, round_to(&bf16, NEAREST_EVEN, x));
    part[1] = round_to(q->unit->parts, q->low, ldexpf(x - part[0], q->scale));
}

static void low_times_8(float part[2], const struct kernel *q, float x)
{
    split_right(part, q, x);
    part[1] = ldexpf(part[1], 3);
}

static void low_via_bf16(float part[2], const struct kernel *q, float x)
{
    split_right(part, q, x);
    const float r = round_to(&bf16, NEAREST_EVEN, x - part[0]);
    part[1] = round_to(q->unit->parts, q->low, ldexpf(r, q->scale));
}

static void low_is_high(float part[2], const struct kernel *q, float x)
{
    split_right(part, q, x);
    part[1] = part[0];
}

static void low_not_finite_zeroed(float part[2], const struct kernel *q, float x)
{
    split_right(part, q, x);
    if (!isfinite(part[1])) part[1] = 0;
}

static size_t parts_of(const struct kernel *q, int operand)
{
    return (operand ? q->n : q->m) * kernel_steps(q) * (size_t)q->unit->k;
}

static size_t parts_of_both(const struct kernel *q)
{
    const size_t a = parts_of(q, 0), b = parts_of(q, 1);
    return a < b ? a : b;
}

static void low_of_b(struct kernel *q)
{
    memcpy(q->part[0][1], q->part[1][1], parts_of_both(q) * sizeof(float));
}

static void high_of_b(struct kernel *q)
{
    memcpy(q->part[0][0], q->part[1][0], parts_of_both(q) * sizeof(float));
}

static void low_of_a_only(struct kernel *q)
{
    memset(q->part[1][1], 0, parts_of(q, 1) * sizeof(float));
}

/* --- the table ---------------------------------------------------------------------- */

#define SPLIT(function) .stage = { .split = function }

const struct fault faults_parts[] = {
    { "none", "none", "nothing: the kernel is right", .with = 0 },
    { "none-tiny", "none", "nothing; some inputs are tiny", .with = WITH_TINY },
    { "none-huge", "none", "nothing; some inputs overflow f16", .with = WITH_HUGE },
    { "none-slices", "none", "nothing; four slices of k", .with = WITH_SLICES },
    { "none-promotion", "none", "nothing; promotion every 3 instructions",
      .with = WITH_REST },

    { "drop-lh", "term", "forgot low A times high B", .plan = drop_term, .value = LH },
    { "drop-hl", "term", "forgot high A times low B", .plan = drop_term, .value = HL },
    { "drop-ll", "term", "forgot low A times low B", .plan = drop_term, .value = LL },
    { "drop-hh", "term", "forgot high A times high B", .plan = drop_term, .value = HH },
    { "drop-corrections", "term", "ran only the product of high parts",
      .plan = drop_corrections },
    { "hh-twice", "term", "issued high times high twice", .plan = repeat_term,
      .value = HH },
    { "lh-twice", "term", "issued low A times high B twice", .plan = repeat_term,
      .value = LH },
    { "hl-twice", "term", "issued high A times low B twice", .plan = repeat_term,
      .value = HL },
    { "lh-for-hl", "term",
      "copied a line: low A times high B also for high A times low B",
      .plan = term_becomes_lh, .value = HL },
    { "lh-for-hh", "term", "passed the low fragment of A to the main product",
      .plan = term_becomes_lh, .value = HH },
    { "terms-reversed", "term", "issued the products in the opposite order",
      .plan = reverse_terms },
    { "one-accumulator", "term", "used one accumulator for all products",
      .plan = one_accumulator },
    { "low-low-added", "term", "kept low times low, scaled like the corrections",
      .plan = add_low_low, .value = 1 },
    { "low-low-in-main", "term", "kept low times low in the main accumulator",
      .plan = add_low_low, .value = 0 },

    { "high-rn", "rounding", "rounded high parts to nearest", .plan = high_by,
      .value = NEAREST_EVEN },
    { "high-rz", "rounding", "truncated high parts", .plan = high_by,
      .value = TOWARD_ZERO },
    { "high-rna", "rounding", "rounded high parts to nearest, ties away", .plan = high_by,
      .value = NEAREST_AWAY },
    { "low-rn", "rounding", "rounded low parts to nearest", .plan = low_by,
      .value = NEAREST_EVEN },
    { "low-rz", "rounding", "truncated low parts", .plan = low_by, .value = TOWARD_ZERO },
    { "low-rna", "rounding", "rounded low parts to nearest, ties away", .plan = low_by,
      .value = NEAREST_AWAY },
    { "high-saturates", "rounding", "clamped high parts to the largest value",
      .with = WITH_HUGE, .plan = high_by, .value = SATURATING },
    { "low-nan-zeroed", "rounding", "zeroed low parts that are not finite",
      .with = WITH_HUGE, .plan = has_low, SPLIT(low_not_finite_zeroed) },
    { "high-via-bf16", "rounding", "converted to bf16 on the way to the high part",
      .plan = short_parts, SPLIT(high_via_bf16) },
    { "low-via-bf16", "rounding",
      "converted residuals to bf16 on the way to the low part", .plan = has_low,
      SPLIT(low_via_bf16) },

    { "low-not-scaled", "scale", "forgot to scale low parts", .plan = low_not_scaled },
    { "low-times-8", "scale", "scaled low parts by 2^3 too much", .plan = has_low,
      SPLIT(low_times_8) },
    { "split-scale", "scale", "scaled low parts by 2^10 for 2^11, or 2^11 for 2^10",
      .plan = split_by_other_scale },
    { "fold-scale", "scale", "divided the corrections by 2^10 for 2^11, or the opposite",
      .plan = fold_by_other_scale },
    { "other-scale", "scale", "took 2^10 for 2^11, or the opposite, everywhere",
      .with = WITH_TINY, .plan = all_by_other_scale },

    { "low-flushed", "subnormal", "lost subnormal low parts", .with = WITH_TINY,
      .plan = has_low, SPLIT(low_flushed) },
    { "high-flushed", "subnormal", "lost subnormal high parts, not their low parts",
      .with = WITH_TINY, .plan = has_f16, SPLIT(high_flushed) },
    { "inputs-flushed", "subnormal", "zeroed inputs that are subnormal as parts",
      .with = WITH_TINY, .plan = has_f16, SPLIT(input_flushed) },

    { "residual-negated", "residual", "subtracted x from the high part", .plan = has_low,
      SPLIT(residual_negated) },
    { "residual-short", "residual", "held residuals in words before scaling them",
      .with = WITH_TINY, .plan = has_scale, SPLIT(residual_short) },
    { "residual-of-other", "residual",
      "took residuals of a differently rounded high part", .plan = has_low,
      SPLIT(residual_of_other) },
    { "low-is-high", "residual", "stored the high part twice", .plan = has_low,
      SPLIT(low_is_high) },
    { "low-of-b", "residual", "took the low fragment of B for A", .plan = has_low,
      .parts = low_of_b },
    { "high-of-b", "residual", "took the high fragment of B for A", .parts = high_of_b },
    { "b-not-split", "residual", "left low parts of B zero", .plan = has_low,
      .parts = low_of_a_only },
    { 0 }
};
