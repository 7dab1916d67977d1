/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/python_steps.h"

#include "lib/base/text.h"
#include "lib/gemm/epilogue.h"
#include "lib/gemm/plan.h"
#include "lib/gemm/view.h"
#include "lib/io/listing.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct writer {
    char (*line)[PYTHON_LINE_MAX];
    int count;
    const struct python_library *library;
    const struct bitcut_gemm *g;
};

/* --- operations ------------------------------------------------------------------- */

/* Times a number. */
static void by(struct writer *w, uint32_t factor)
{
    const double x = value_of_float(factor);
    char number[REAL_TEXT_MAX], magnitude[REAL_TEXT_MAX];
    if (factor == F32_ONE) return;
    real_text(number, x, 9);
    real_text(magnitude, fabs(x), 9);
    snprintf(w->line[w->count++], PYTHON_LINE_MAX, "exact, size = %s * exact, %s * size",
             number, magnitude);
}

static void by_alpha(struct writer *w) { by(w, w->g->alpha); }
static void by_scale_d(struct writer *w) { by(w, w->g->scale_d); }

static void plus_zero_d(struct writer *w)
{
    const int zero = (int)w->g->zero_d;
    if (!zero) return;
    snprintf(w->line[w->count++], PYTHON_LINE_MAX,
             "exact, size = exact + %d, size + %d", zero, abs(zero));
}

/* An operation with a vector that is a column or a row. */
static void with(struct writer *w, char operation, const char *name, bool column)
{
    const char *const shape = column ? "-1, 1" : "1, -1", *const wide = w->library->wide;
    snprintf(w->line[w->count++], PYTHON_LINE_MAX,
             "exact, size = exact %c %s%s.reshape(%s), size %c abs(%s%s.reshape(%s))",
             operation, name, wide, shape, operation, name, wide, shape);
}

/* One factor is a number. */
static void by_factors(struct writer *w, const struct bitcut_scales *x, const char *name,
                       bool column)
{
    if (!matrix_is_given(&x->at)) return;
    if (x->lines || x->depth) {
        with(w, '*', name, column);
        return;
    }
    const struct view v = view_of(&x->at, 0, 1, 1, false);
    by(w, view_get(&v, 0, 0));
}

static void by_a(struct writer *w) { by_factors(w, &w->g->scale_a, "scale_a", true); }
static void by_b(struct writer *w) { by_factors(w, &w->g->scale_b, "scale_b", false); }

static void plus_bias(struct writer *w) { with(w, '+', "bias", w->g->bias_rows); }

static void plus_c(struct writer *w)
{
    const double beta = value_of_float(w->g->beta);
    const char *const wide = w->library->wide;
    char number[REAL_TEXT_MAX], magnitude[REAL_TEXT_MAX];
    if (!gemm_reads_c(w->g)) return;
    real_text(number, beta, 9);
    real_text(magnitude, fabs(beta), 9);
    snprintf(w->line[w->count++], PYTHON_LINE_MAX,
             "exact, size = exact + %s * C%s, size + %s * abs(C%s)", number, wide,
             magnitude, wide);
}

/* Limits that are infinite are none. */
static void limit(struct writer *w, double low, double high)
{
    char least[REAL_TEXT_MAX], most[REAL_TEXT_MAX];
    char *const line = w->line[w->count];
    if (isinf(low) && isinf(high)) return;
    real_text(least, low, 17);
    real_text(most, high, 17);
    snprintf(line, PYTHON_LINE_MAX, "exact = exact.clip(%s%s%s%s%s)",
             isinf(low) ? "" : "min=", isinf(low) ? "" : least,
             isinf(low) || isinf(high) ? "" : ", ",
             isinf(high) ? "" : "max=", isinf(high) ? "" : most);
    w->count++;
}

static void positive(struct writer *w) { limit(w, 0, (double)INFINITY); }

static void clamp(struct writer *w)
{
    limit(w, value_of_float(w->g->clamp_low), value_of_float(w->g->clamp_high));
}

static void to_range(struct writer *w)
{
    const double most = format_largest_value(matrix_format(&w->g->d));
    limit(w, -most, most);
}

/* The operations of each step, without its roundings. */
enum { OPERATIONS_MAX = 4 };
static void (*const operations[EPILOGUE_STEP_COUNT][OPERATIONS_MAX + 1])(
    struct writer *) = {
    [BITCUT_STEP_ALPHA] = { by_alpha },
    [BITCUT_STEP_C] = { plus_c },
    [BITCUT_STEP_ALPHA_C] = { by_alpha, plus_c },
    [BITCUT_STEP_SCALES_C] = { by_a, by_b, by_alpha, plus_c },
    [BITCUT_STEP_C_APART] = { plus_c },
    [BITCUT_STEP_C_SHORT] = { plus_c },
    [BITCUT_STEP_BIAS] = { plus_bias },
    [BITCUT_STEP_SCALES] = { by_a, by_b },
    [BITCUT_STEP_SCALE_A] = { by_a },
    [BITCUT_STEP_SCALE_B] = { by_b },
    [BITCUT_STEP_SCALE_D] = { by_scale_d },
    [BITCUT_STEP_RELU] = { positive },
    [BITCUT_STEP_CLAMP] = { clamp },
    [BITCUT_STEP_SATURATE] = { to_range },
    [BITCUT_STEP_ZERO_D] = { plus_zero_d },
};

/* --- lines ------------------------------------------------------------------------ */

/* An operand in binary64 less its zero point, times its factors unless the steps multiply
   by them: `lines` and `k` are the axes of its lines and of k. */
static void write_operand(char *text, size_t size, const struct writer *w,
                          const char *name, const char *factors,
                          const struct bitcut_scales *x, int zero, int lines, int k)
{
    const struct python_library *const l = w->library;
    text_add(text, size, "%s%s", name, l->wide);
    if (zero) text_add(text, size, " - %d", zero);
    if (!matrix_is_given(&x->at) || w->g->scaling == BITCUT_SCALING_EPILOGUE) return;
    text_add(text, size, " * %s%s", factors, l->wide);
    if (x->lines > 1) text_add(text, size, "%s(%zu, %d)", l->repeat, x->lines, lines);
    if (x->depth > 1) text_add(text, size, "%s(%zu, %d)", l->repeat, x->depth, k);
    if (x->lines > 1 || x->depth > 1)
        text_add(text, size, "[:%s.shape[0], :%s.shape[1]]", name, name);
}

int python_steps(char line[PYTHON_STEP_LINES][PYTHON_LINE_MAX],
                 const struct python_library *library, const struct bitcut_gemm *g)
{
    struct writer w = { line, 2, library, g };
    unsigned char step[EPILOGUE_STEPS_MAX];
    snprintf(line[0], PYTHON_LINE_MAX, "a, b = ");
    write_operand(line[0], PYTHON_LINE_MAX, &w, "A", "scale_a", &g->scale_a, g->zero_a, 0,
                  1);
    text_add(line[0], PYTHON_LINE_MAX, ", ");
    write_operand(line[0], PYTHON_LINE_MAX, &w, "B", "scale_b", &g->scale_b, g->zero_b, 1,
                  0);
    snprintf(line[1], PYTHON_LINE_MAX, "exact, size = a @ b, abs(a) @ abs(b)");
    if (start_is_c(g->start)) plus_c(&w);
    if (start_is_bias(g->start)) plus_bias(&w);
    epilogue_of(step, g);
    for (int i = 0; step[i]; i++) {
        if (w.count + OPERATIONS_MAX > PYTHON_STEP_LINES) return 0;
        for (int o = 0; operations[step[i]][o]; o++) operations[step[i]][o](&w);
    }
    return w.count;
}
