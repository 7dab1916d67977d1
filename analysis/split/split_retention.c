/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/split/split_retention.h"

#include "lib/number/hostfp.h"

#include <math.h>

/* --- fields ----------------------------------------------------------------------- */

static void describe_label(char *text, size_t size, const void *kept)
{
    split_label(text, size, &((const struct split_retention *)kept)->split);
}

static const char *low(const void *kept)
{
    return split_low(&((const struct split_retention *)kept)->split)->name;
}

static bool is_one(const void *kept)
{
    return !((const struct split_retention *)kept)->all;
}

static bool is_array(const void *kept)
{
    return ((const struct split_retention *)kept)->all &&
           ((const struct split_retention *)kept)->of_array;
}

static bool always(const void *kept) { return kept; }

/* Theory exists for all values of an exponent, not for the values of an array. */
static double theory(const struct split_retention *k,
                     double form(const struct bitcut_split *split, int e))
{
    return k->of_array || k->all || !retention_has_theory(&k->split, k->e)
               ? (double)NAN
               : form(&k->split, k->e);
}

static double subnormal_theory(const void *kept)
{
    return theory(kept, retention_p_subnormal);
}

static double bits_theory(const void *kept)
{
    const struct split_retention *const k = kept;
    return k->of_array || k->all ? (double)NAN
                                 : retention_bits(&k->split, k->flush, k->e);
}

static double zero_theory(const void *kept) { return theory(kept, retention_p_zero); }

#define KEPT(member, key, unit, what)                                                    \
    RECORD_INNER(struct split_retention, member, key, unit, what)
#define SHARE(member, key, unit, what)                                                   \
    RECORD_MAYBE(struct split_retention, r.member, key, unit, what)

/* clang-format off */
const struct record_field split_measures[] = {
    KEPT(r.count, "count", "", "values"),
    SHARE(exact, "exact", "", "share of values that the parts represent exactly"),
    SHARE(bits, "bits", "bits", "mean of the retained bits, of 24: the implicit bit is counted"),
    SHARE(max_ulp, "max_ulp", "ulp", "largest error |x - (w0 + 2^-s w1 + ...)|"),
    SHARE(mean_ulp, "mean_ulp", "ulp", "mean error"),
    SHARE(max_relative, "rho", "", "largest relative error, max |x - (w0 + 2^-s w1 + ...)| / |x|"),
    SHARE(max_low, "theta", "", "largest relative size of the low part, max 2^-s |w1| / |x|"),
    SHARE(p_subnormal, "p_subnormal", "", "share whose low part is subnormal or zero though its residual is not zero"),
    RECORD_NUMBER_OF(subnormal_theory, "p_subnormal_theory", "", "the same by theory; null where the theory does not hold"),
    SHARE(p_zero, "p_zero", "", "share whose low part is zero though its residual is not zero"),
    RECORD_NUMBER_OF(zero_theory, "p_zero_theory", "", "the same by theory; null where the theory does not hold"),
    RECORD_NUMBER_OF(bits_theory, "bits_theory", "bits", "bits by theory; null where the theory does not hold"),
    SHARE(p_flushed, "p_flushed", "", "share with a part that is not zero but read as zero"),
    SHARE(p_overflow, "p_overflow", "", "share with a part that is infinite or NaN"),
    { 0 }
};

const struct record_field split_specials[] = {
    KEPT(zeros, "zeros", "", "zeros of the array"),
    KEPT(infinite, "infinite", "", "infinities"),
    KEPT(nan, "nan", "", "NaNs"),
    { 0 }
};

static const struct record_field array_fields[] = {
    KEPT(input, "input", "", "where the values come from"),
    KEPT(values, "values", "", "all of them"),
    RECORD_TOGETHER(always, split_specials, "", "those of no exponent"),
    { 0 }
};

const struct record_field split_fields[] = {
    RECORD_SENTENCE(describe_label, "split", "the split, with what is another than its row"),
    KEPT(split.part[0].format, "format", "", "of the high part"),
    KEPT(split.part[0].rounding, "high", "", "rounding of the high part"),
    RECORD_TEXT_OF(low, "low", "rounding of the low parts"),
    KEPT(split.scale, "scale", "", "low parts are times 2^scale"),
    KEPT(flush, "flush", "", "whether the unit reads subnormal parts as zeros"),
    RECORD_INNER_IF(struct split_retention, e, "exponent", "", "of the values", is_one),
    RECORD_TOGETHER(always, split_measures, "", "what is kept"),
    RECORD_TOGETHER(is_array, array_fields, "", "the array"),
    { 0 }
};
/* clang-format on */

/* --- measuring -------------------------------------------------------------------- */

struct split_retention split_retention_none(const struct split_problem *q)
{
    struct split_retention all = { .split = *q->split,
                                   .flush = q->flush,
                                   .of_array = q->of,
                                   .all = true,
                                   .input = q->input };
    if (!q->of) return all;
    all.values = q->of->values;
    all.zeros = q->of->zeros;
    all.infinite = q->of->infinite;
    all.nan = q->of->nan;
    return all;
}

enum bitcut_status split_retention_measure(struct split_retention *to,
                                           const struct split_problem *q, int e,
                                           int threads, const struct progress *progress,
                                           struct fault *f)
{
    const struct retention_values values = { .e = e,
                                             .count = q->samples,
                                             .seed = q->seed };
    *to = (struct split_retention){
        .split = *q->split, .flush = q->flush, .of_array = q->of, .e = e
    };
    return q->of ? exponents_measure(&to->r, q->of, e, 0, q->split, q->flush, threads,
                                     progress, f)
                 : retention_measure(&to->r, q->split, q->flush, &values, threads,
                                     progress, f);
}

void split_retention_add(struct split_retention *all, const struct split_retention *more)
{
    struct hostfp mode;
    hostfp_enter(&mode);
    retention_add(&all->r, &more->r);
    hostfp_leave(&mode);
}
