/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/engine.h"

#include "emu/sum.h"
#include "lib/number/fma.h"

/* --- special values --------------------------------------------------------------- */

/* Where products overflow, a finite product that is too large for the result format
   counts as infinite. */
static void add_overflow(struct special_sum *s, const struct bitcut_unit *u,
                         struct number a, struct number b)
{
    if (a.significand == 0 || b.significand == 0) return;
    if (product_top(u, a, b) <= format_emax(u->result)) return;
    s->positive |= a.negative == b.negative;
    s->negative |= a.negative != b.negative;
}

/* Whether a NaN or an infinity may determine the result of the step. */
static bool may_be_special(const struct bitcut_unit *u, const struct step *t)
{
    if (u->summation->products_overflow) return true;
    unsigned any = t->z.kind;
    for (int i = 0; i < t->n; i++) any |= t->a[i].kind | t->b[i].kind;
    for (int i = 0; u->scale && i < t->n; i += u->scale_block)
        any |=
            t->scale_a[i / u->scale_block].kind | t->scale_b[i / u->scale_block].kind;
    return any >= NUMBER_INF;
}

/* The sum of the terms of the step, as far as NaN and infinities matter. */
static struct special_sum special_terms(const struct bitcut_unit *u, const struct step *t)
{
    struct special_sum s = { 0 };
    special_add(&s, t->z);
    for (int i = 0; i < t->n; i++) {
        special_add_product(&s, t->a[i], t->b[i]);
        if (u->summation->products_overflow) add_overflow(&s, u, t->a[i], t->b[i]);
    }
    for (int i = 0; u->scale && i < t->n; i += u->scale_block) {
        s.nan |= t->scale_a[i / u->scale_block].kind == NUMBER_NAN;
        s.nan |= t->scale_b[i / u->scale_block].kind == NUMBER_NAN;
    }
    return s;
}

/* Whether a NaN or an infinity determines the result of the step; if so, *d is the
   result.  If each operation is rounded, each operation is examined, because a finite
   product may become infinite. */
TRACED bool special_step(uint64_t *d, const struct bitcut_unit *u, const struct step *t,
                         struct unit_trace *trace)
{
    if (u->summation->rounds_each || !may_be_special(u, t)) return false;
    struct special_sum s = { .nan = true, .operand = true };
    if (!sum_nan_operand(d, u, t->a[0], t->b[0], t->z)) {
        s = special_terms(u, t);
        if (!special_result(d, u, s)) return false;
    }
    trace_special(trace, NULL, s, *d);
    return true;
}

/* --- the chain -------------------------------------------------------------------- */

const struct bitcut_format *unit_operand_format(const struct bitcut_unit *u,
                                                const struct bitcut_format *format)
{
    return u->via ? u->via : format;
}

/* The zero, an encoding of f, as which the row reads the subnormal x. */
static uint64_t flushed_zero(const struct bitcut_unit *u, const struct bitcut_format *f,
                             struct number x)
{
    return format_zero(f, u->flush_inputs != INPUT_POSITIVE && x.negative);
}

struct number unit_read(const struct bitcut_unit *u, const struct bitcut_format *format,
                        uint64_t encoding)
{
    struct number x = format_decode(format, encoding);
    if (unit_flushes_operands(u) && format_is_subnormal(format, x))
        x = format_decode(format, flushed_zero(u, format, x));
    if (!u->via) return x;
    if (x.kind != NUMBER_FINITE) return x;
    return format_decode(
        u->via, round_pack(u->via, &roundings[ROUND_RN], number_unrounded(format, x)));
}

void unit_order(int to[UNIT_K_MAX], int k, enum k_order order)
{
    int at = 0;
    for (int half = 0; half < 2; half++)
        for (int i = 0; i < k; i++) {
            const int side = order < K_BIT0 ? 0 : i >> (order - K_BIT0) & 1;
            if (side == half) to[at++] = order == K_DESCENDING ? k - 1 - i : i;
        }
}

TRACED uint64_t chain(const struct bitcut_unit *u, struct lane a, struct lane b,
                      uint64_t c, struct unit_trace *trace)
{
    for (int k = 0; k < u->k; k += u->block) {
        const struct step t = {
            .a = a.x + k,
            .b = b.x + k,
            .scale_a = u->scale ? a.scale + k / u->scale_block : NULL,
            .scale_b = u->scale ? b.scale + k / u->scale_block : NULL,
            .n = u->block,
            .c = c,
            .z = format_decode(u->c, c),
        };
        trace_step(trace, k, u->block, c);
        if (!special_step(&c, u, &t, trace))
            c = trace ? u->summation->step_traced(u, &t, trace)
                      : u->summation->step(u, &t);
    }
    return c;
}

/* Compute the output.  If there is a trace, record every step. */
TRACED uint64_t dot(const struct bitcut_unit *u, struct lane a, struct lane b, uint64_t c,
                    struct unit_trace *trace)
{
    struct number x[UNIT_K_MAX], y[UNIT_K_MAX];
    if (u->order != K_ASCENDING) {
        int from[UNIT_K_MAX];
        unit_order(from, u->k, u->order);
        for (int k = 0; k < u->k; k++) x[k] = a.x[from[k]], y[k] = b.x[from[k]];
        a.x = x;
        b.x = y;
    }
    if (u->flush_inputs) {
        const struct number z = format_decode(u->c, c);
        if (format_is_subnormal(u->c, z)) c = flushed_zero(u, u->c, z);
    }
    if (trace) trace->c = c;
    if (!u->c_last) return chain(u, a, b, c, trace);
    const uint64_t one =
        round_pack(u->c, &roundings[ROUND_RN], (struct unrounded){ .significand = 1 });
    return fma_round(u->c, &roundings[ROUND_RN], u->nan, chain(u, a, b, 0, trace), one,
                     c);
}

uint64_t unit_dot(const struct bitcut_unit *u, struct lane a, struct lane b, uint64_t c)
{
    return dot(u, a, b, c, NULL);
}

uint64_t unit_trace(struct unit_trace *trace, const struct bitcut_unit *u, struct lane a,
                    struct lane b, uint64_t c)
{
    trace->steps = trace->sums = trace->terms = 0;
    trace->c_last = u->c_last;
    unit_order(trace->k, u->k, u->order);
    trace->d = dot(u, a, b, c, trace);
    return trace->d;
}
