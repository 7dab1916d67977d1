/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/fit/fit_output.h"

#include "lib/number/wide.h"

#include <stdlib.h>

/* A row that reads operands in the reading `reading`.  Returns false if the space has
   none. */
static bool reading_row(struct bitcut_unit *row, const struct space *s, int reading)
{
    if (reading / FLUSHES >= s->count[FIELD_VIA]) return false;
    *row = s->base;
    field_set(&fields[FIELD_VIA], row, s->value[FIELD_VIA][reading / FLUSHES]);
    row->flush_inputs = (enum input_flush)(reading % FLUSHES);
    return !row->via || (!row->scale && format_holds(row->via, row->a) &&
                         format_holds(row->via, row->b));
}

int observed_reading(const struct space *s, const struct bitcut_unit *row)
{
    const int64_t via = field_get(&fields[FIELD_VIA], row);
    return FLUSHES * space_find(s, FIELD_VIA, via) + (int)row->flush_inputs;
}

/* Whether two numbers with those fraction bits have the same sign, exponent and value.
   For NaNs, infinities and zeros, readings change at most the class. */
static bool same_number(struct number x, int x_bits, struct number y, int y_bits)
{
    if (x.kind != y.kind || x.negative != y.negative) return false;
    if (x.kind != NUMBER_FINITE) return true;
    return x.exponent == y.exponent && (bitcut_uint128)x.significand << y_bits ==
                                           (bitcut_uint128)y.significand << x_bits;
}

static int fraction_bits(const struct bitcut_unit *row, const struct bitcut_format *f)
{
    return unit_operand_format(row, f)->fraction_bits;
}

static bool same_numbers(const struct observed *o, const struct space *s, int reading,
                         int other)
{
    struct bitcut_unit x, y;
    if (!reading_row(&x, s, reading) || !reading_row(&y, s, other)) return false;
    for (int k = 0; k < s->base.k; k++)
        if (!same_number(o->a[reading][k], fraction_bits(&x, x.a), o->a[other][k],
                         fraction_bits(&y, y.a)) ||
            !same_number(o->b[reading][k], fraction_bits(&x, x.b), o->b[other][k],
                         fraction_bits(&y, y.b)))
            return false;
    return true;
}

static bool is_subnormal(const struct bitcut_format *f, struct number x)
{
    return x.kind == NUMBER_FINITE && x.significand >> f->fraction_bits == 0;
}

static bool surely_nan(const struct observed *o, const struct space *s)
{
    bool nan = format_decode(s->base.c, o->c).kind == NUMBER_NAN;
    for (int k = 0; k < s->base.k; k++) {
        const int a = o->a[0][k].kind, b = o->b[0][k].kind;
        nan |= a == NUMBER_NAN || b == NUMBER_NAN;
        nan |= a == NUMBER_INF && b == NUMBER_ZERO;
        nan |= a == NUMBER_ZERO && b == NUMBER_INF;
    }
    return nan;
}

static void read_operands(struct observed *o, const struct space *s,
                          const struct sample *sample)
{
    const int k = s->base.k;
    for (int r = 0; r < READINGS; r++) {
        struct bitcut_unit row;
        if (!reading_row(&row, s, r)) continue;
        o->a[r] = o->numbers + 2 * r * k;
        o->b[r] = o->a[r] + k;
        for (int i = 0; i < k; i++) {
            o->a[r][i] = unit_read(&row, row.a, sample->a[i]);
            o->b[r][i] = unit_read(&row, row.b, sample->b[i]);
        }
    }
    if (!s->base.scale) return;
    o->scale_a = o->numbers + 2 * READINGS * k;
    o->scale_b = o->scale_a + k;
    for (int i = 0; i < sample_scales(&s->base); i++) {
        o->scale_a[i] = format_decode(s->base.scale, sample->scale_a[i]);
        o->scale_b[i] = format_decode(s->base.scale, sample->scale_b[i]);
    }
}

bool observed_init(struct observed *o, const struct space *s, const struct sample *sample,
                   uint64_t d)
{
    const size_t count = (size_t)(2 * (READINGS + 1) * s->base.k);
    *o = (struct observed){ .c = sample->c, .d = d };
    o->numbers = calloc(count, sizeof *o->numbers);
    if (!o->numbers) return false;
    read_operands(o, s, sample);
    for (int r = 0; r < READINGS; r++) {
        int first = 0;
        while (first < r && !same_numbers(o, s, r, first)) first++;
        o->alias[r] = (uint8_t)first;
    }
    o->c_subnormal = is_subnormal(s->base.c, format_decode(s->base.c, o->c));
    o->nan = surely_nan(o, s);
    return true;
}

void observed_clear(struct observed *o)
{
    free(o->numbers);
    *o = (struct observed){ 0 };
}

struct lane observed_a(const struct observed *o, int reading)
{
    return (struct lane){ o->a[reading], o->scale_a };
}

struct lane observed_b(const struct observed *o, int reading)
{
    return (struct lane){ o->b[reading], o->scale_b };
}

uint64_t observed_dot(const struct observed *o, const struct space *s,
                      const struct bitcut_unit *row)
{
    const int reading = observed_reading(s, row);
    return unit_dot(row, observed_a(o, reading), observed_b(o, reading), o->c);
}
