/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/sum.h"
#include "emu/summation.h"

/* Integers are added exactly, with any overflow. */
static bool integers_sound(const struct bitcut_unit *u)
{
    return u->c == u->result && format_is_integer(u->a) && format_is_integer(u->b) &&
           !u->via && !u->c_last && u->summation->reads_exact &&
           (u->fraction == FRACTION_EXACT || !(u->summation->reads & READS_FRACTION));
}

static bool formats_sound(const struct bitcut_unit *u)
{
    if (format_is_integer(u->c)) return integers_sound(u);
    if (u->result->special != SPECIAL_IEEE || !format_holds(u->c, u->result))
        return false;
    if (!u->via) return true;
    return format_holds(u->via, u->a) && format_holds(u->via, u->b);
}

static bool blocks_sound(const struct bitcut_unit *u)
{
    if (!divides(u->block, u->k) || u->k > UNIT_K_MAX) return false;
    return !u->scale || (u->order == K_ASCENDING && divides(u->scale_block, u->k));
}

static bool nan_fits(const struct bitcut_unit *u, const struct bitcut_format *f)
{
    const int most = u->c->fraction_bits - (u->nan_rule == NAN_FIRST);
    return f->special == SPECIAL_IEEE && f->fraction_bits <= most;
}

/* The NaN of an operand fits the result, and each operation has three operands. */
static bool nan_sound(const struct bitcut_unit *u)
{
    return u->nan_rule == NAN_FIXED ||
           (nan_fits(u, u->a) && nan_fits(u, u->b) && u->summation->operand_nan &&
            (u->summation->rounds_each || u->block == 1));
}

static bool inputs_sound(const struct bitcut_unit *u)
{
    return u->flush_inputs != INPUT_C || u->summation->rounds_each;
}

bool unit_sound(const struct bitcut_unit *u)
{
    return u->m > 0 && u->n > 0 && u->k > 0 && u->rounding.direction != BY_BIT &&
           nan_sound(u) && inputs_sound(u) && formats_sound(u) && blocks_sound(u) &&
           u->summation->sound(u);
}

const struct bitcut_unit *bitcut_unit_find(const char *name,
                                           const struct bitcut_format *input)
{
    return unit_find(name, input);
}

void bitcut_unit_shape(int *m, int *n, int *k, const struct bitcut_unit *unit)
{
    *m = unit->m;
    *n = unit->n;
    *k = unit->k;
}

const char *bitcut_unit_name(const struct bitcut_unit *unit) { return unit->name; }
