/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/gfx9/gfx9_statement_order.h"

#include "tests/gfx9/gfx9_statement.h"

#include <stdio.h>
#include <string.h>

/* --- order ------------------------------------------------------------------------ */

/* An encoding's place among all: those of a sign are ordered as integers; zeros are one.
 */
static int64_t place(const struct layout *x, uint32_t bits)
{
    const uint32_t magnitude = bits & ~layout_infinity(x, true);
    const uint32_t rest = magnitude | (bits & layout_infinity(x, false));
    return layout_is_negative(x, bits) ? -(int64_t)rest : rest;
}

int compare_floats(const struct layout *x, uint32_t a, uint32_t b)
{
    if (layout_is_nan(x, a) || layout_is_nan(x, b)) return UNORDERED;
    const int64_t p = place(x, a), q = place(x, b);
    return p < q ? LESS : p > q ? MORE : EQUAL;
}

int compare_integers(uint64_t a, uint64_t b, unsigned width, bool is_signed)
{
    const uint64_t flip = is_signed ? UINT64_C(1) << (width - 1) : 0;
    a ^= flip, b ^= flip; /* an offset: the least signed number becomes 0 */
    return a < b ? LESS : a > b ? MORE : EQUAL;
}

/* Types by the end of a name. */
static const struct type {
    const char *name;
    char letter;
    const struct layout *layout;
    unsigned width;
    bool is_signed;
} types[] = {
    { "_f16", 'h', &half, 16, 0 }, { "_f32", 'f', &single, 32, 0 },
    { "_i16", 'w', NULL, 16, 1 },  { "_u16", 'w', NULL, 16, 0 },
    { "_i32", 'd', NULL, 32, 1 },  { "_u32", 'd', NULL, 32, 0 },
    { "_i64", 'q', NULL, 64, 1 },  { "_u64", 'q', NULL, 64, 0 },
};

/* And relations, by what is in front of it. */
static const struct relation {
    const char *name;
    int holds;
} relations[] = {
    { "f", 0 },
    { "lt", LESS },
    { "eq", EQUAL },
    { "le", LESS | EQUAL },
    { "gt", MORE },
    { "lg", LESS | MORE },
    { "ge", MORE | EQUAL },
    { "o", LESS | EQUAL | MORE },
    { "u", UNORDERED },
    { "nge", LESS | UNORDERED },
    { "nlg", EQUAL | UNORDERED },
    { "ngt", LESS | EQUAL | UNORDERED },
    { "nle", MORE | UNORDERED },
    { "neq", LESS | MORE | UNORDERED },
    { "ne", LESS | MORE },
    { "nlt", MORE | EQUAL | UNORDERED },
    { "tru", LESS | EQUAL | MORE | UNORDERED },
    { "t", LESS | EQUAL | MORE },
};

static bool read_name(const struct type **type, int *holds, const char *name)
{
    char relation[8], end[8];
    if (sscanf(name, "v_cmp%*[x]_%7[a-z]%7s", relation, end) != 2 &&
        sscanf(name, "v_cmp_%7[a-z]%7s", relation, end) != 2)
        return false;
    *type = NULL;
    for (size_t n = 0; n < sizeof types / sizeof *types; n++)
        if (!strcmp(types[n].name, end)) *type = &types[n];
    for (size_t n = 0; n < sizeof relations / sizeof *relations; n++)
        if (!strcmp(relations[n].name, relation)) {
            *holds = relations[n].holds;
            return *type != NULL;
        }
    return false;
}

bool statement_compares(char form[8], const char *name)
{
    const struct type *type;
    int holds;
    if (!read_name(&type, &holds, name)) return false;
    sprintf(form, "c=%c%c", type->letter, type->letter);
    return true;
}

bool statement_condition(const char *name, uint64_t a, uint64_t b)
{
    const struct type *type = NULL;
    int holds = 0;
    if (!read_name(&type, &holds, name)) return false;
    const int order = type->layout
                          ? compare_floats(type->layout, (uint32_t)a, (uint32_t)b)
                          : compare_integers(a, b, type->width, type->is_signed);
    return order & holds;
}

/* --- least and most --------------------------------------------------------------- */

uint32_t choose_float(uint32_t a, uint32_t b, int wanted)
{
    const bool zeros = !(a & ~SIGN) && !(b & ~SIGN);
    if (layout_is_signalling(&single, a)) return layout_quiet(&single, a);
    if (layout_is_signalling(&single, b)) return layout_quiet(&single, b);
    if (layout_is_nan(&single, a)) return b;
    if (layout_is_nan(&single, b)) return a;
    if (zeros && a != b) return (a & SIGN) == (wanted == LESS ? SIGN : 0) ? a : b;
    return compare_floats(&single, a, b) == wanted ? a : b;
}

uint32_t middle_float(uint32_t a, uint32_t b, uint32_t c)
{
    const bool nan = layout_is_nan(&single, a) || layout_is_nan(&single, b) ||
                     layout_is_nan(&single, c);
    if (nan) return choose_float(choose_float(a, b, LESS), c, LESS);
    const uint32_t most = choose_float(choose_float(a, b, MORE), c, MORE);
    if (compare_floats(&single, most, a) == EQUAL) return choose_float(b, c, MORE);
    if (compare_floats(&single, most, b) == EQUAL) return choose_float(a, c, MORE);
    return choose_float(a, b, MORE);
}

uint64_t choose(uint64_t a, uint64_t b, unsigned width, bool is_signed, int wanted)
{
    return compare_integers(a, b, width, is_signed) == wanted ? a : b;
}

bool has_class(uint32_t x, uint32_t mask)
{
    const bool negative = x & SIGN;
    const uint32_t exponent = x >> 23 & 255, fraction = x & 0x7fffff;
    if (exponent == 255 && fraction) return mask >> (x >> 22 & 1) & 1;
    const int kind = exponent == 255 ? 0 : exponent ? 1 : fraction ? 2 : 3;
    return mask >> (negative ? 2 + kind : 9 - kind) & 1;
}
