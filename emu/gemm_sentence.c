/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/gemm_sentence.h"

#include "emu/gemm_fields.h"
#include "emu/summation.h"
#include "emu/unit.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/gemm/order.h"
#include "lib/gemm/sparsity.h"
#include "lib/number/split.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *number_said(char text[NUMBER_SAID_MAX], double x, int digits)
{
    if (isnan(x)) return strcpy(text, "nan");
    snprintf(text, NUMBER_SAID_MAX, "%.*g", digits, x);
    return text;
}

/* --- what ran --------------------------------------------------------------------- */

void gemm_describe_what_ran(char *text, size_t size, const void *answer)
{
    const struct gemm_description *const g = answer;
    text_add(text, size, "%s on %s", g->plan->recipe->name, g->gemm->unit->name);
    if (g->kernel) text_add(text, size, " by the kernel %s", g->kernel);
    if (g->device) text_add(text, size, " on %s", g->device);
    for (int i = 0; i < RECIPE_TERMS_MAX && g->method[i]; i++)
        text_add(text, size, "%s%s", i ? ", " : ", emulated: ", g->method[i]);
    text_add(text, size, " (evidence of the unit: %s)", unit_evidence(g->gemm->unit));
}

/* --- parts ------------------------------------------------------------------------ */

/* The formats of the parts of an element, such as "f16 + 2^-11 f16". */
static void describe_split(char *text, size_t size, const struct bitcut_split *s,
                           int scale)
{
    for (int w = 0; w < s->parts; w++) {
        const int power = scale * s->part[w].level;
        if (s->part[w].copy) continue;
        text_add(text, size, "%s", w ? " + " : "");
        if (power) text_add(text, size, "2^-%d ", power);
        text_add(text, size, "%s", s->part[w].format->name);
    }
    for (int w = 0; w < s->parts; w++)
        if (s->part[w].copy)
            text_add(text, size, ", and a copy in %s", s->part[w].format->name);
}

/* The name of a split with the scale and, where all parts have the same, the roundings of
   a plan. */
static void label_parts(char *label, size_t size, const struct bitcut_split *row,
                        const struct bitcut_split *planned, bool of_both)
{
    struct bitcut_split s = *row;
    s.scale = planned->scale;
    for (int w = 0; w < s.parts && of_both; w++)
        s.part[w].rounding = w ? split_low(planned) : planned->part[0].rounding;
    split_label(label, size, &s);
}

void gemm_describe_parts(char *text, size_t size, const void *answer)
{
    const struct gemm_description *const g = answer;
    const struct gemm_plan *const p = g->plan;
    const struct bitcut_split *const a = &p->split_a;
    const char *const name[] = { a->name, p->split_b.name };
    const char *const high = a->part[0].rounding->name, *const low = split_low(a)->name;
    const bool same = !strcmp(name[0], name[1]);
    for (int i = 0; i < (same ? 1 : 2); i++) {
        const struct bitcut_split *s = table_find(TABLE(splits), name[i]);
        char label[80];
        text_add(text, size, "%s%s is ", i ? "; " : "",
                 same ? "each element of A and B"
                 : i  ? "of B"
                      : "each element of A");
        if (s) describe_split(text, size, s, a->scale);
        if (s) label_parts(label, sizeof label, s, a, same);
        text_add(text, size, s ? " (%s)" : "%s", s ? label : name[i]); /* else a format */
    }
    text_add(text, size, "; rounded by %s", high);
    if (strcmp(high, low) != 0) text_add(text, size, ", low parts by %s", low);
    if (p->equilibrate) text_add(text, size, "; rows and columns scaled first");
    if (p->terms)
        text_add(text, size, "; %d product%s", p->terms, p->terms > 1 ? "s" : "");
}

/* What D is of s32 sums. */
static void describe_integers(char *text, size_t size, const struct gemm_description *g)
{
    unsigned char step[EPILOGUE_STEPS_MAX];
    const struct bitcut_format *const f = matrix_format(&g->gemm->d);
    bool floats = false, saturates = false;
    epilogue_of_integers(step, g->gemm);
    for (const unsigned char *s = step; *s; s++) {
        floats |= *s == BITCUT_STEP_FLOAT;
        saturates |= *s == BITCUT_STEP_SATURATE;
    }
    text_add(text, size, "sums are s32, %s; %sD is %s",
             g->gemm->unit->summation == &sum_saturated
                 ? "of pairs of products that are limited to s16"
             : g->gemm->unit->rounding.overflow == OVERFLOW_WRAP ? "exact modulo 2^32"
                                                                 : "exact up to its range",
             floats ? "converted to FP32; " : "", f->name);
    if (format_is_integer(f) && f->bits < 32)
        text_add(text, size, saturates ? ", limited to its range" : ", modulo 2^%d",
                 f->bits);
}

void gemm_describe_result(char *text, size_t size, const void *answer)
{
    const struct gemm_description *const g = answer;
    const struct bitcut_format *const f = matrix_format(&g->gemm->d);
    if (g->plan->integer) describe_integers(text, size, g);
    else if (!format_holds(f, &formats[FORMAT_F32]))
        text_add(text, size, "each output is rounded to %s, to nearest even", f->name);
}

/* --- order ------------------------------------------------------------------------ */

void gemm_describe_sum(char *text, size_t size, const void *answer)
{
    const struct gemm_description *const g = answer;
    const struct gemm_plan *const p = g->plan;
    const struct bitcut_order *const o = &p->order;
    static const char *const added[] = {
        [BITCUT_TREE] = "as a tree", [BITCUT_HALVES] = "by halves"
    };
    const char *const reduction =
        o->reduction < BITCUT_TREE ? reductions[o->reduction].name : added[o->reduction];
    text_add(text, size,
             p->promote ? "promoted to FP32 after every "
                        : "held in the unit's accumulator, never promoted");
    if (p->promote > 1) text_add(text, size, "%d instructions", p->promote);
    else if (p->promote) text_add(text, size, "instruction");
    if (p->sum_rounding)
        text_add(text, size, "; its steps are rounded by %s", p->sum_rounding->name);
    if (p->tile_k)
        text_add(text, size, "; each product runs over %d k at a time", p->tile_k);
    if (o->tile) text_add(text, size, "; tiles of %d k", o->tile);
    if (o->partial_first) text_add(text, size, ", partial tile first");
    if (o->lanes > 1) text_add(text, size, "; %d lanes", o->lanes);
    if (o->lanes > 1 && o->chunk) text_add(text, size, " with chunks of %d k", o->chunk);
    if (o->lanes > 1 && o->unroll) text_add(text, size, ", in rounds of %d k", o->unroll);
    if (o->slices > 1) text_add(text, size, "; %d slices of k", o->slices);
    if (o->cut)
        text_add(text, size, ", each a multiple of %d k, with its own tiles", o->cut);
    if (o->balance_tail)
        text_add(text, size, ", the last two balanced to %d k", o->balance_tail);
    if (o->lanes > 1 || o->slices > 1) text_add(text, size, ", added %s", reduction);
    if (o->slices_ascending) text_add(text, size, " (slices ascending)");
    if (order_lists_lanes(o)) text_add(text, size, ", lanes from the order");
    for (int i = 0; i < o->lanes && order_lists_lanes(o); i++)
        text_add(text, size, "%s%d", i ? ", " : " ", o->lane_order[i]);
    if (o->partial_format && o->partial_format != &formats[FORMAT_F32])
        text_add(text, size,
                 o->partial_store ? ", sums of slices stored in %s" : " in %s",
                 o->partial_format->name);
    if (o->lanes > 1 && o->unroll && o->narrow)
        text_add(text, size,
                 o->narrow_apart
                     ? "; the remaining k go to as many lanes, half as many, and so "
                       "on to %d, whose sums are added"
                     : "; the remaining k go to %d of these sums, which are "
                       "added",
                 o->narrow);
    if (o->lanes > 1 && o->unroll)
        text_add(text, size, "%s",
                 o->remainder_in_lane ? "; lane 0 adds the remaining k"
                 : o->narrow ? ", and then to the sum of the lanes one after another"
                             : "; the remaining k are added to the sum of the lanes one "
                               "after another");
}

/* --- factors and steps ------------------------------------------------------------ */

static void describe_scales(char *text, size_t size, const char *name,
                            const struct bitcut_scales *x, const char *lines)
{
    if (!x->at.at && !x->at.each) return;
    text_add(text, size, "%s has a factor", name);
    if (!x->lines && !x->depth) return;
    if (x->lines == 1)
        text_add(text, size, " for each %.*s", (int)strlen(lines) - 1, lines);
    else if (x->lines) text_add(text, size, " for every %zu %s", x->lines, lines);
    else text_add(text, size, " for all %s", lines);
    if (x->depth) text_add(text, size, " and %zu k", x->depth);
}

static void describe_number(char *text, size_t size, const char *before, uint32_t x)
{
    char number[NUMBER_SAID_MAX];
    text_add(text, size, "%s%s", before,
             number_said(number, format_to_double(&formats[FORMAT_F32], x), 9));
}

/* A step, with the numbers that it alone reads. */
static void describe_step(char *text, size_t size, const struct bitcut_gemm *g,
                          unsigned char step)
{
    const unsigned reads = epilogue_steps[step].reads;
    text_add(text, size, "%s", epilogue_steps[step].name);
    if (reads & READS_SCALE_D) describe_number(text, size, " ", g->scale_d);
    if (reads & READS_CLAMP) {
        describe_number(text, size, " ", g->clamp_low);
        describe_number(text, size, " to ", g->clamp_high);
    }
    if (reads & READS_ZERO_D) text_add(text, size, " %d", (int)g->zero_d);
}

void gemm_describe_epilogue(char *text, size_t size, const void *answer)
{
    const struct gemm_description *const d = answer;
    const struct bitcut_gemm *const g = d->gemm;
    unsigned char step[EPILOGUE_STEPS_MAX];
    if (!gemm_is_extended(g)) return;
    gemm_steps(step, g);
    if (g->start) text_add(text, size, "%s; ", starts[g->start].what);
    if (gemm_has_zeros(g))
        text_add(text, size, "zero points %d of A and %d of B; ", (int)g->zero_a,
                 (int)g->zero_b);
    describe_scales(text, size, "A", &g->scale_a, "rows");
    if (g->scale_a.at.at && g->scale_b.at.at) text_add(text, size, ", ");
    describe_scales(text, size, "B", &g->scale_b, "columns");
    if (gemm_has_scales(g)) text_add(text, size, "; %s; ", scalings[g->scaling].what);
    if (gemm_has_bias(g))
        text_add(text, size, "the bias has an element for each %s; ",
                 g->bias_rows ? "row" : "column");
    text_add(text, size, "steps ");
    for (const unsigned char *s = step; *s; s++) {
        text_add(text, size, "%s", s == step ? "" : ", ");
        describe_step(text, size, g, *s);
    }
}

/* --- quantization ----------------------------------------------------------------- */

static void describe_quantized(char *text, size_t size, const char *name,
                               const struct quantized *x)
{
    char error[NUMBER_SAID_MAX], bits[NUMBER_SAID_MAX];
    number_said(error, x->kept.error, 3);
    number_said(bits, x->kept.bits, 3);
    text_add(text, size, "%s%s by %s: relative error %s", *text ? "; " : "", name,
             x->quantizer->name, error);
    if (x->kept.error > 0) text_add(text, size, " (%s bits)", bits);
    text_add(text, size, ", %zu of %zu elements became zero, %zu saturated",
             x->kept.zeros, x->kept.elements, x->kept.saturated);
}

void gemm_describe_quantization(char *text, size_t size, const void *answer)
{
    const struct gemm_description *const d = answer;
    for (int i = 0; d->quantized && i < 2; i++)
        if (d->quantized[i].quantizer)
            describe_quantized(text, size, i ? "B" : "A", &d->quantized[i]);
}

/* --- matrices --------------------------------------------------------------------- */

void gemm_describe_update(char *text, size_t size, const struct bitcut_gemm *g)
{
    const struct bitcut_format *const f32 = &formats[FORMAT_F32];
    char alpha[NUMBER_SAID_MAX], beta[NUMBER_SAID_MAX];
    number_said(alpha, format_to_double(f32, g->alpha), 9);
    number_said(beta, format_to_double(f32, g->beta), 9);
    const bool one = !strcmp(alpha, "1"),
               none = !strcmp(beta, "0") || !strcmp(beta, "-0");
    text_add(text, size, "D = %s%sA B", one ? "" : alpha, one ? "" : " ");
    if (!none)
        text_add(text, size, " + %s%sC", strcmp(beta, "1") ? beta : "",
                 strcmp(beta, "1") ? " " : "");
    if (gemm_has_bias(g)) text_add(text, size, " + bias");
}

static void describe_operand(char *text, size_t size, const char *name, size_t rows,
                             size_t cols, const char *input)
{
    text_add(text, size, ", %s %zu x %zu", name, rows, cols);
    if (input) text_add(text, size, " %s", input);
}

void gemm_describe_matrices(char *text, size_t size, const void *answer)
{
    const struct gemm_description *const g = answer;
    gemm_describe_update(text, size, g->gemm);
    if (g->is_batch)
        text_add(text, size, ", %zu GEMM%s", g->count, g->count == 1 ? "" : "s");
    describe_operand(text, size, "D", g->m, g->n, NULL);
    describe_operand(text, size,
                     !g->gemm->sparsity                ? "A"
                     : sparsity_has_positions(g->gemm) ? "2:4 sparse A with positions"
                                                       : "2:4 sparse A",
                     g->m, g->k, g->input_a);
    describe_operand(text, size, "B", g->k, g->n, g->input_b);
    if (g->seeded) text_add(text, size, ", seed %llu", (unsigned long long)g->seed);
}
