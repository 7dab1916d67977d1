#include "emu/summation.h"

static bool divides(int part, int whole) { return part > 0 && whole % part == 0; }

static bool formats_sound(const struct bitcut_unit *u)
{
    if (u->result->special != SPECIAL_IEEE || !format_holds(u->c, u->result))
        return false;
    if (!u->via) return true;
    return format_holds(u->via, u->a) && format_holds(u->via, u->b);
}

static bool blocks_sound(const struct bitcut_unit *u)
{
    if (!divides(u->block, u->k) || u->k > UNIT_K_MOST) return false;
    return !u->scale || (u->order == K_ASCENDING && divides(u->scale_block, u->k));
}

/* An operand's NaN is a result as it is. */
static bool nan_sound(const struct bitcut_unit *u)
{
    const bool one_format = u->a == u->c && u->b == u->c && !u->via;
    return u->nan_rule == NAN_FIXED ||
           (u->block == 1 && one_format && u->summation->operand_nan);
}

bool unit_sound(const struct bitcut_unit *u)
{
    return u->m > 0 && u->n > 0 && u->k > 0 && u->rounding.direction != BY_BIT &&
           nan_sound(u) && formats_sound(u) && blocks_sound(u) && u->summation->sound(u);
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
