/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/identify/faulty.h"

#include <math.h>

/* --- k ------------------------------------------------------------------------------ */

static size_t descending(size_t *step, const struct place *p, size_t from, size_t to)
{
    (void)p;
    for (size_t i = 0; i < to - from; i++) step[i] = to - 1 - i;
    return to - from;
}

static size_t one_late(size_t *step, const struct place *p, size_t from, size_t to)
{
    return from ? steps_right(step, p, from, to) : steps_right(step, p, 1, to);
}

static size_t one_short(size_t *step, const struct place *p, size_t from, size_t to)
{
    return steps_right(step, p, from, to - (to == kernel_steps(p->q)));
}

static size_t partial_lost(size_t *step, const struct place *p, size_t from, size_t to)
{
    const size_t whole = p->q->k / (size_t)p->q->unit->k;
    return from < whole ? steps_right(step, p, from, to < whole ? to : whole) : 0;
}

/* The steps without number `at`, or with it twice. */
static size_t times(size_t *step, const struct place *p, size_t from, size_t to,
                    size_t at, int count)
{
    size_t n = 0;
    (void)p;
    for (size_t s = from; s < to; s++)
        for (int i = 0; i < (s == at ? count : 1); i++) step[n++] = s;
    return n;
}

static size_t one_skipped(size_t *step, const struct place *p, size_t from, size_t to)
{
    return times(step, p, from, to, kernel_steps(p->q) / 2, 0);
}

static size_t one_twice(size_t *step, const struct place *p, size_t from, size_t to)
{
    return times(step, p, from, to, kernel_steps(p->q) / 2, 2);
}

static size_t overlapping(size_t *step, const struct place *p, size_t from, size_t to)
{
    return steps_right(step, p, from - (from > 0), to);
}

static size_t even_then_odd(size_t *step, const struct place *p, size_t from, size_t to)
{
    size_t n = 0;
    (void)p;
    for (size_t s = from; s < to; s += 2) step[n++] = s;
    for (size_t s = from + 1; s < to; s += 2) step[n++] = s;
    return n;
}

static size_t stale_stage(size_t *step, const struct place *p, size_t from, size_t to)
{
    steps_right(step, p, from, to);
    for (size_t s = from + 2; s < to; s += 3) step[s - from] = s - 1;
    return to - from;
}

static float slice_lost(const struct place *p, const float *part, size_t count)
{
    return reduce_right(p, part, count - (count > 1));
}

static float slice_twice(const struct place *p, const float *part, size_t count)
{
    return reduce_right(p, part, count) + part[count - 1];
}

static float middle_slice_lost(const struct place *p, const float *part, size_t count)
{
    (void)p;
    float sum = part[0];
    for (size_t i = 1; i < count; i++)
        if (i != count / 2) sum += part[i];
    return sum;
}

static float slices_descending(const struct place *p, const float *part, size_t count)
{
    (void)p;
    float sum = part[count - 1];
    for (size_t i = count - 1; i > 0; i--) sum += part[i - 1];
    return sum;
}

static float slices_in_pairs(const struct place *p, const float *part, size_t count)
{
    return count == 4 ? (part[0] + part[1]) + (part[2] + part[3])
                      : slices_descending(p, part, count);
}

static float slices_as_they_come(const struct place *p, const float *part, size_t count)
{
    const size_t first = draw(p->q->seed, 22, tile_of(p)) % count;
    float sum = part[first];
    for (size_t i = 1; i < count; i++) sum += part[(first + i) % count];
    return sum;
}

static float slices_via_f16(const struct place *p, const float *part, size_t count)
{
    (void)p;
    float sum = 0;
    for (size_t i = 0; i < count; i++) sum += round_to(&f16, NEAREST_EVEN, part[i]);
    return sum;
}

static float slice_zero_only(const struct place *p, const float *part, size_t count)
{
    (void)p;
    (void)count;
    return part[0];
}

/* --- accumulators and promotion ----------------------------------------------------- */

static float kept_in_f16(const struct place *p, float v)
{
    (void)p;
    return round_to(&f16, NEAREST_EVEN, v);
}

static float kept_in_bf16(const struct place *p, float v)
{
    (void)p;
    return round_to(&bf16, NEAREST_EVEN, v);
}

static float kept_in_tf32(const struct place *p, float v)
{
    (void)p;
    return round_to(&tf32, TOWARD_ZERO, v);
}

static bool starts_from(struct kernel *q, int thousandths)
{
    q->start = (float)thousandths / 1000;
    return true;
}

static bool promote_every(struct kernel *q, int percent)
{
    q->promote = q->promote * percent / 100;
    return true;
}

static bool forget_rest(struct kernel *q, int value)
{
    (void)value;
    return q->forgets_rest = true;
}

static void not_reset(float *sum, float *accumulator) { *sum += *accumulator; }

static void not_added(float *sum, float *accumulator)
{
    *sum = *accumulator;
    *accumulator = 0;
}

static void added_toward_zero(float *sum, float *accumulator)
{
    *sum = toward_zero((double)*sum + (double)*accumulator);
    *accumulator = 0;
}

static void added_in_f16(float *sum, float *accumulator)
{
    *sum = round_to(&f16, NEAREST_EVEN, *sum + *accumulator);
    *accumulator = 0;
}

static void added_via_bf16(float *sum, float *accumulator)
{
    *sum += round_to(&bf16, NEAREST_EVEN, *accumulator);
    *accumulator = 0;
}

/* --- the epilogue ------------------------------------------------------------------- */

static bool fold_by(struct kernel *q, int percent)
{
    q->fold = q->fold * percent / 100;
    return q->fold != q->scale;
}

static bool fold_more(struct kernel *q, int more)
{
    q->fold += more;
    return q->scale != 0;
}

static float alpha_ignored(const struct place *p, float v, float c)
{
    return fmaf(p->q->beta, c, v);
}

static float alpha_twice(const struct place *p, float v, float c)
{
    return finish_right(p, p->q->alpha * v, c);
}

static float beta_ignored(const struct place *p, float v, float c)
{
    (void)c;
    return p->q->alpha * v;
}

static float c_not_scaled(const struct place *p, float v, float c)
{
    return p->q->alpha * v + c;
}

static float c_twice(const struct place *p, float v, float c)
{
    return fmaf(p->q->beta, c, finish_right(p, v, c));
}

static float c_times_alpha(const struct place *p, float v, float c)
{
    return p->q->alpha * fmaf(p->q->beta, c, v);
}

static float c_subtracted(const struct place *p, float v, float c)
{
    return finish_right(p, v, -c);
}

static float alpha_beta_swapped(const struct place *p, float v, float c)
{
    return fmaf(p->q->alpha, c, p->q->beta * v);
}

static float not_fused(const struct place *p, float v, float c)
{
    const float x = p->q->alpha * v, y = p->q->beta * c;
    return x + y;
}

static float fused_with_alpha(const struct place *p, float v, float c)
{
    return fmaf(p->q->alpha, v, p->q->beta * c);
}

static float c_transposed(const struct place *p, float v, float c)
{
    (void)c;
    return finish_right(p, v, p->q->c[p->j * p->q->m + p->i]);
}

static float c_for_product(const struct place *p, float v, float c)
{
    (void)v;
    return fmaf(p->q->beta, c, p->q->alpha * c);
}

static float finished_toward_zero(const struct place *p, float v, float c)
{
    const float t = toward_zero((double)p->q->alpha * (double)v);
    return toward_zero((double)t + (double)p->q->beta * (double)c);
}

/* --- the table ---------------------------------------------------------------------- */

#define STEPS(function)   .stage = { .steps = function }
#define REDUCE(function)  .stage = { .reduce = function }
#define KEEP(function)    .stage = { .keep = function }
#define PROMOTE(function) .stage = { .promote = function }
#define FINISH(function)  .stage = { .finish = function }

const struct fault faults_sums[] = {
    { "slice-lost", "slice", "never added the last slice of k", .with = WITH_SLICES,
      REDUCE(slice_lost) },
    { "slice-middle-lost", "slice", "never added a slice in the middle",
      .with = WITH_SLICES, REDUCE(middle_slice_lost) },
    { "slice-twice", "slice", "added the last slice twice", .with = WITH_SLICES,
      REDUCE(slice_twice) },
    { "slice-first-only", "slice", "stored the first slice, not the sum",
      .with = WITH_SLICES, REDUCE(slice_zero_only) },
    { "slice-overlap", "slice", "slices begin one step early", .with = WITH_SLICES,
      STEPS(overlapping) },
    { "slice-descending", "slice", "added slices from the last down", .with = WITH_SLICES,
      REDUCE(slices_descending) },
    { "slice-pairs", "slice", "added slices in pairs", .with = WITH_SLICES,
      REDUCE(slices_in_pairs) },
    { "slice-f16", "slice", "stored slices in f16 before adding them",
      .with = WITH_SLICES, REDUCE(slices_via_f16) },
    { "race-lost-slice", "race", "an add that is not atomic loses a slice in some tiles",
      .with = WITH_SLICES, REDUCE(slice_lost), .where = &some_tiles },
    { "race-twice", "race", "a retried add counts a slice twice in some tiles",
      .with = WITH_SLICES, REDUCE(slice_twice), .where = &some_tiles },
    { "race-early", "race", "some tiles are read after the first slice",
      .with = WITH_SLICES, REDUCE(slice_zero_only), .where = &some_tiles },
    { "race-order", "race", "atomic adds: slices begin anywhere, tile by tile",
      .with = WITH_SLICES, REDUCE(slices_as_they_come) },

    { "k-descending", "k", "ran k downwards", STEPS(descending) },
    { "k-even-odd", "k", "ran the even steps, then the odd ones", STEPS(even_then_odd) },
    { "k-first-step-lost", "k", "the loop over k starts one step late", STEPS(one_late) },
    { "k-last-step-lost", "k", "the loop over k ends one step early", STEPS(one_short) },
    { "k-partial-lost", "k", "left out the last, partial step", STEPS(partial_lost) },
    { "k-step-lost", "k", "skipped a step in the middle", STEPS(one_skipped) },
    { "k-step-twice", "k", "ran a step in the middle twice", STEPS(one_twice) },
    { "k-warp-late", "k", "one warp starts one step late", STEPS(one_late),
      .where = &one_warp },
    { "k-tile-short", "k", "one tile ends one step early", STEPS(one_short),
      .where = &one_tile },
    { "stage-stale", "k", "every third step reads the buffer of the one before",
      STEPS(stale_stage) },
    { "stage-stale-tile", "race", "a missing wait: one tile reads old buffers",
      STEPS(stale_stage), .where = &one_tile },

    { "start-nonzero", "accumulator", "accumulators start from what registers held",
      .plan = starts_from, .value = 125 },
    { "start-tiny", "accumulator", "accumulators start from 0.001", .plan = starts_from,
      .value = 1 },
    { "start-warp", "accumulator", "one warp does not clear its accumulators",
      .plan = starts_from, .value = 2750, .where = &one_warp },
    { "accumulate-f16", "accumulator", "accumulated in f16", KEEP(kept_in_f16) },
    { "accumulate-bf16", "accumulator", "accumulated in bf16", KEEP(kept_in_bf16) },
    { "accumulate-tf32", "accumulator", "cut accumulators to tf32", KEEP(kept_in_tf32) },

    { "promote-interval", "promotion", "promoted every second time",
      .with = WITH_PROMOTION, .plan = promote_every, .value = 200 },
    { "promote-more-often", "promotion", "promoted after each instruction",
      .with = WITH_REST, .plan = promote_every, .value = 34 },
    { "promote-never", "promotion", "never promoted", .with = WITH_PROMOTION,
      .plan = promote_every, .value = 0 },
    { "promote-no-reset", "promotion", "did not clear the accumulator after promotion",
      .with = WITH_PROMOTION, PROMOTE(not_reset) },
    { "promote-stores", "promotion", "stored the accumulator instead of adding it",
      .with = WITH_PROMOTION, PROMOTE(not_added) },
    { "promote-rz", "promotion", "added towards zero", .with = WITH_PROMOTION,
      PROMOTE(added_toward_zero) },
    { "promote-f16", "promotion", "added in f16", .with = WITH_PROMOTION,
      PROMOTE(added_in_f16) },
    { "promote-via-bf16", "promotion", "converted to bf16 before adding",
      .with = WITH_PROMOTION, PROMOTE(added_via_bf16) },
    { "promote-rest-lost", "promotion", "never added what was left at the end",
      .with = WITH_REST, .plan = forget_rest },

    { "fold-missing", "epilogue", "did not scale the corrections back", .plan = fold_by,
      .value = 0 },
    { "fold-twice", "epilogue", "scaled the corrections back twice", .plan = fold_by,
      .value = 200 },
    { "fold-off-by-one", "epilogue", "scaled the corrections back by a bit too few",
      .plan = fold_more, .value = -1 },
    { "alpha-ignored", "epilogue", "left out alpha", .with = WITH_C,
      FINISH(alpha_ignored) },
    { "alpha-twice", "epilogue", "multiplied by alpha twice", .with = WITH_C,
      FINISH(alpha_twice) },
    { "beta-ignored", "epilogue", "left out beta C", .with = WITH_C,
      FINISH(beta_ignored) },
    { "c-not-scaled", "epilogue", "added C without beta", .with = WITH_C,
      FINISH(c_not_scaled) },
    { "c-twice", "epilogue", "added beta C twice", .with = WITH_C, FINISH(c_twice) },
    { "c-times-alpha", "epilogue", "multiplied beta C by alpha, too", .with = WITH_C,
      FINISH(c_times_alpha) },
    { "c-subtracted", "epilogue", "subtracted beta C", .with = WITH_C,
      FINISH(c_subtracted) },
    { "c-for-product", "epilogue", "passed C in place of the product", .with = WITH_C,
      FINISH(c_for_product) },
    { "c-transposed", "epilogue", "read C by columns", .with = WITH_C,
      FINISH(c_transposed) },
    { "alpha-beta-swapped", "epilogue", "swapped alpha and beta", .with = WITH_C,
      FINISH(alpha_beta_swapped) },
    { "epilogue-not-fused", "epilogue", "rounded beta C before adding it", .with = WITH_C,
      FINISH(not_fused) },
    { "epilogue-other-fma", "epilogue", "fused alpha, not beta", .with = WITH_C,
      FINISH(fused_with_alpha) },
    { "epilogue-rz", "epilogue", "truncated in the epilogue", .with = WITH_C,
      FINISH(finished_toward_zero) },
    { 0 }
};
