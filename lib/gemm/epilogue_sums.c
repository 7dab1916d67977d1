/* SPDX-License-Identifier: BSD-3-Clause */
/* Epilogues of s32 sums: their steps, and what they cannot have. */
#include "lib/gemm/epilogue.h"
#include "lib/gemm/plan.h"
#include "lib/number/bits.h"
#include "lib/number/format.h"

#include <math.h>

/* Copy a list of steps of integers, with the steps that it implies. */
static void imply(unsigned char to[EPILOGUE_STEPS_MAX], const unsigned char *s,
                  const struct bitcut_gemm *g)
{
    if (*s == BITCUT_STEP_ZEROS) *to++ = *s++;
    else if (gemm_has_zeros(g) && !epilogue_has(s, BITCUT_STEP_ZEROS))
        *to++ = BITCUT_STEP_ZEROS;
    if (!epilogue_has(s, BITCUT_STEP_FLOAT) &&
        (!format_is_integer(matrix_format(&g->d)) || gemm_has_scales(g)))
        *to++ = BITCUT_STEP_FLOAT;
    while ((*to++ = *s++)) continue;
}

void epilogue_of_integers(unsigned char to[EPILOGUE_STEPS_MAX],
                          const struct bitcut_gemm *g)
{
    unsigned char all[EPILOGUE_STEPS_MAX];
    epilogue_of(all, g);
    imply(to, all, g);
}

void epilogue_name(char text[EPILOGUE_TEXT_MAX], const struct bitcut_gemm *g,
                   bool integer)
{
    unsigned char all[EPILOGUE_STEPS_MAX];
    if (integer) imply(all, epilogues->step, g);
    epilogue_write(text, *g->epilogue ? g->epilogue : integer ? all : epilogues->step);
}

static bool is_integer_value(uint32_t x)
{
    const double v = value_of_float(x);
    return fabs(v) < 0x1p31 && v == floor(v);
}

/* Check an operand that s32 sums read, or that FP32 sums read. */
static enum bitcut_status check_side(const struct bitcut_matrix *x, const char *name,
                                     const char *option, bool reads, bool integer,
                                     struct fault *f)
{
    const struct bitcut_format *const format = matrix_format(x);
    if (!reads || (!x->at && !x->each) ||
        (integer ? format_is_integer(format) : format_holds(&formats[FORMAT_F32], format)))
        return BITCUT_OK;
    return fault_option(f, option, "%s cannot have the format %s%s", name, format->name,
                        integer ? "; steps on sums of integers take integers" : "");
}

/* What the steps from `s` on read, up to FLOAT or to the end.  *bad is the first step that
   such sums do not have. */
static unsigned reads_until(const unsigned char **s, bool integer, const char **bad)
{
    unsigned reads = 0;
    for (; **s && **s != BITCUT_STEP_FLOAT; ++*s) {
        const struct epilogue_step *const step = &epilogue_steps[**s];
        if (!(integer ? step->integer : step->run) && !*bad) *bad = step->name;
        reads |= step->reads;
    }
    return reads;
}

static enum bitcut_status check_integers(const struct bitcut_gemm *g, unsigned reads,
                                         struct fault *f)
{
    const bool alpha = reads & READS_ALPHA && !is_integer_value(g->alpha);
    if (alpha || (reads & READS_C && !is_integer_value(g->beta)))
        return fault_option(
            f, alpha ? "alpha" : "beta",
            "alpha and beta of sums of integers must be integers; begin the "
            "epilogue with float");
    enum bitcut_status status = check_side(&g->c, "C", "c", reads & READS_C, true, f);
    return status == BITCUT_OK
               ? check_side(&g->bias, "the bias", "bias", reads & NEEDS_BIAS, true, f)
               : status;
}

enum bitcut_status epilogue_check_sums(const struct bitcut_gemm *g, bool integer,
                                       struct fault *f)
{
    unsigned char step[EPILOGUE_STEPS_MAX];
    const unsigned char *s = step;
    const char *bad = NULL;
    const struct bitcut_format *const d = matrix_format(&g->d);
    unsigned before = 0;
    (integer ? epilogue_of_integers : epilogue_of)(step, g);
    if (integer) {
        before = reads_until(&s, true, &bad);
        if (start_is_c(g->start)) before |= READS_C;
        if (start_is_bias(g->start)) before |= NEEDS_BIAS;
        if (*s) s++;
        else if (!bad) return check_integers(g, before, f);
    }
    const unsigned after = bad ? 0 : reads_until(&s, false, &bad);
    if (*s && !bad) bad = epilogue_steps[*s].name;
    if (bad)
        return fault_option(f, "epilogue", "step %s of the epilogue: %s", bad,
                            integer ? "sums of integers do not have it there"
                                    : "the sums are no integers");
    if (!integer && format_is_integer(d))
        return fault_option(f, "format-d", "D cannot have the format %s", d->name);
    if (!integer && gemm_has_zeros(g))
        return fault_option(f, g->zero_a ? "zero-a" : "zero-b",
                            "zero points of A and B require a unit of integers");
    if (d == &formats[FORMAT_S32])
        return fault_option(f, "format-d",
                            "D in s32 requires sums that stay integers: no step "
                            "float and no factors");
    if (before & after & (READS_C | NEEDS_BIAS))
        return fault_option(f, "epilogue",
                            "C and the bias cannot be read before and after step "
                            "float");
    enum bitcut_status status = integer ? check_integers(g, before, f) : BITCUT_OK;
    if (status == BITCUT_OK)
        status = check_side(&g->c, "C", "c", after & READS_C, false, f);
    return status == BITCUT_OK
               ? check_side(&g->bias, "the bias", "bias", after & NEEDS_BIAS, false, f)
               : status;
}
