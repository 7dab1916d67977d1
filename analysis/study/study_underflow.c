/* Figure 8 of Ootomo and Yokota: underflow of the low word, by binades. */
#include "analysis/study/study.h"

#include "analysis/error/retention.h"

enum { FROM = -20, TO = 14 };

/* `bits` is taken over. */
static void underflow_row(struct study_run *run, const char *split, const char *by, int e,
                          double p_subnormal, double p_zero, json_t *bits)
{
    run->row(run->context,
             json_pack("{s:o, s:s, s:i, s:f, s:f, s:o}", "series",
                       json_sprintf("%s, %s", split, by), "split", split, "exponent", e,
                       "p_subnormal", p_subnormal, "p_zero", p_zero, "bits", bits));
}

static enum bitcut_status underflow_binade(struct study_run *run,
                                           const struct bitcut_split *s, int e,
                                           struct fault *f)
{
    struct retention r;
    const enum bitcut_status status =
        retention_count(&r, s, e, 0, run->seed, run->threads, run->progress, f);
    if (status != BITCUT_OK) return status;
    underflow_row(run, s->name, "counted", e, r.p_subnormal, r.p_zero, json_real(r.bits));
    if (e >= format_emin(s->word[0].format)) /* else high words are subnormal */
        underflow_row(run, s->name, "theory", e, retention_p_subnormal(s, e),
                      retention_p_zero(s, e), json_null());
    return BITCUT_OK;
}

static enum bitcut_status run_underflow(struct study_run *run, struct fault *f)
{
    static const int rows[] = { SPLIT_MARKIDIS, SPLIT_HALFHALF, SPLIT_BITCUT };
    enum { ROWS = sizeof rows / sizeof rows[0], BINADES = TO - FROM + 1 };
    enum bitcut_status status = BITCUT_OK;
    for (int i = 0; i < ROWS * BINADES && status == BITCUT_OK; i++) {
        progress_report(run->progress, (size_t)i, (size_t)ROWS * BINADES);
        status = underflow_binade(run, &splits[rows[i / BINADES]], FROM + i % BINADES, f);
    }
    return status;
}

const struct study study_underflow = {
    /* clang-format off */
    .name = "underflow",
    .what = "probability that the low word underflows (Ootomo and Yokota, Figure 8)",
    .title = "Underflow of the low word",
    .text = "All 2^23 values of each binade are split. p_subnormal is the share whose low "
            "word leaves the normal range though the residual is not zero, p_zero that of "
            "those where it is zero, bits the mean mantissa length that the words keep. "
            "Theory is the closed form, for binades whose high words are normal numbers: "
            "Ootomo and Yokota's Eq. 13-17 where those are truncated, and twice their Eq. 15 "
            "where they are rounded to nearest, which halves the residual. It takes residuals "
            "for continuous; counts fall below it by up to 3 2^-12, because residuals are "
            "whole last places of x and often zero. Scaling by 2^11 (halfhalf) or 2^10 (bitcut) moves underflow down by as "
            "many binades. No underflow is not yet precision: below 2^-14 the literal bitcut "
            "has a high word of zero, and all of x in the low word. That word is a normal "
            "number, so nothing underflows, but it keeps only 11 bits: read the lower "
            "picture with the upper one.",
    .run = run_underflow,
    .plot = { .x = "exponent", .y = "p_subnormal", .series = "series",
              .x_label = "exponent of x", .y_label = "P(low word subnormal or lost)",
              .y_log = true, .below = "bits", .below_label = "mantissa bits kept, mean" },
    /* clang-format on */
};
