/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults in what was given in addition to A, B and C: steps of the epilogue that are
   missing or applied twice, and factors that are ignored. */
#include "analysis/identify/fault.h"

#include <stdio.h>
#include <string.h>

/* x->by[0]: the step, or the operand whose factors are ignored. */

static size_t every_step(const struct space *s)
{
    return s->told ? EPILOGUE_STEP_COUNT : 0;
}

static void leave_out(const struct candidate *x, struct epilogue_values *v)
{
    unsigned char *to = v->step;
    for (const unsigned char *from = v->step; *from; from++)
        if (*from != x->by[0]) *to++ = *from;
    *to = BITCUT_STEP_END;
    if (x->by[0] == BITCUT_STEP_BIAS && start_is_bias(v->start))
        v->start = BITCUT_START_ZERO;
}

static void apply_again(const struct candidate *x, struct epilogue_values *v)
{
    unsigned char step[EPILOGUE_STEPS_MAX];
    size_t count = 0;
    for (const unsigned char *from = v->step; *from && count < EPILOGUE_STEPS_MAX - 2;
         from++) {
        step[count++] = *from;
        if (*from == x->by[0]) step[count++] = *from;
    }
    step[count] = BITCUT_STEP_END;
    memcpy(v->step, step, count + 1);
}

static bool step_missing(struct candidate *x, const struct space *s, int kind)
{
    (void)s;
    x->by[0] = kind;
    x->retell = leave_out;
    return kind != BITCUT_STEP_END;
}

static bool step_twice(struct candidate *x, const struct space *s, int kind)
{
    (void)s;
    x->by[0] = kind;
    x->retell = apply_again;
    return kind != BITCUT_STEP_END;
}

static void describe_missing(char *text, size_t size, const struct candidate *x,
                             const struct space *s, int kind)
{
    (void)x, (void)s;
    snprintf(text, size, "step %s of the epilogue is missing", epilogue_steps[kind].name);
}

static void describe_twice(char *text, size_t size, const struct candidate *x,
                           const struct space *s, int kind)
{
    (void)x, (void)s;
    snprintf(text, size, "step %s of the epilogue is applied twice",
             epilogue_steps[kind].name);
}

static size_t every_operand(const struct space *s)
{
    return s->told && s->told->scaling == BITCUT_SCALING_EPILOGUE ? 2 : 0;
}

static void without_factors(const struct candidate *x, struct epilogue_values *v)
{
    *(x->by[0] == BITCUT_A ? &v->a : &v->b) = (struct scale_factors){ .at = NULL };
}

static bool factors_ignored(struct candidate *x, const struct space *s, int kind)
{
    x->by[0] = kind;
    x->retell = without_factors;
    return matrix_is_given(kind == BITCUT_A ? &s->told->scale_a.at
                                            : &s->told->scale_b.at);
}

static void describe_factors(char *text, size_t size, const struct candidate *x,
                             const struct space *s, int kind)
{
    (void)x, (void)s;
    snprintf(text, size, "the factors of %s are ignored", kind == BITCUT_A ? "A" : "B");
}

/* --- the table -------------------------------------------------------------------- */

const struct kernel_fault kernel_faults_told[] = {
    { .name = "step missing",
      .of_residual = true,
      .what = "a step of the epilogue is missing",
      .kinds = every_step,
      .alter = step_missing,
      .describe = describe_missing },
    { .name = "step twice",
      .of_residual = true,
      .what = "a step of the epilogue is applied twice",
      .kinds = every_step,
      .alter = step_twice,
      .describe = describe_twice },
    { .name = "factors ignored",
      .of_residual = true,
      .what = "the factors of A or B are ignored",
      .kinds = every_operand,
      .alter = factors_ignored,
      .describe = describe_factors },
    { 0 }
};
