/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/evidence/field.h"

#include <stdio.h>

/* --- which values are worth trying ------------------------------------------------ */

static int span(int64_t *values, int from, int to)
{
    int n = 0;
    for (int i = from; i <= to; i++) values[n++] = i;
    return n;
}

static int summation_range(int64_t *values, const struct bitcut_unit *u)
{
    int n = 0;
    (void)u;
    while (summations[n]) n++;
    return span(values, 0, n - 1);
}

static int powers_of_two(int64_t *values, const struct bitcut_unit *u)
{
    int n = 0;
    for (int i = 1; i <= u->k; i *= 2) values[n++] = i;
    return n;
}

static int fraction_range(int64_t *values, const struct bitcut_unit *u)
{
    const int n = span(values, 6, 52);
    (void)u;
    values[n] = FRACTION_EXACT;
    return n + 1;
}

static int sum_fraction_range(int64_t *values, const struct bitcut_unit *u)
{
    (void)u;
    return span(values, 6, 52);
}

static int keep_range(int64_t *values, const struct bitcut_unit *u)
{
    (void)u;
    return span(values, 8, 60);
}

/* From far below any product to above the smallest normal result. */
static int least_exponent_range(int64_t *values, const struct bitcut_unit *u)
{
    const int emin = format_emin(u->result);
    return span(values, emin - 40, emin + 10);
}

/* The accumulator's format, and its variants with fewer bits. */
static int result_range(int64_t *values, const struct bitcut_unit *u)
{
    int n = 0;
    for (int i = 0; formats[i].name; i++)
        if (formats[i].special == SPECIAL_IEEE && format_holds(u->c, &formats[i]) &&
            formats[i].bits == u->c->bits)
            values[n++] = i;
    return n;
}

static int via_range(int64_t *values, const struct bitcut_unit *u)
{
    (void)u;
    values[0] = -1;
    values[1] = FORMAT_F32;
    values[2] = FORMAT_F16;
    return 3;
}

static int carrier_range(int64_t *values, const struct bitcut_unit *u)
{
    if (format_is_integer(u->c)) {
        values[0] = FORMAT_S16;
        values[1] = FORMAT_S32;
        return 2;
    }
    values[0] = -1;
    values[1] = FORMAT_F64;
    return 2;
}

/* BY_BIT belongs to splits. */
static int direction_range(int64_t *values, const struct bitcut_unit *u)
{
    (void)u;
    return span(values, TO_NEAREST_EVEN, TO_ODD);
}

/* Only integers wrap, or end with -2^31. */
static int overflow_range(int64_t *values, const struct bitcut_unit *u)
{
    const bool integer = format_is_integer(u->result);
    return span(values, OVERFLOW_IEEE, integer ? OVERFLOW_RANGE : OVERFLOW_SATURATE);
}

/* All ones, and the quiet NaN with no other bit, of both signs. */
static int nan_range(int64_t *values, const struct bitcut_unit *u)
{
    const uint64_t sign = format_zero(u->c, true),
                   infinity = format_infinity(u->c, false);
    const uint64_t quiet = infinity | UINT64_C(1) << (u->c->fraction_bits - 1);
    values[0] = (int64_t)quiet;
    values[1] = (int64_t)(sign - 1);
    values[2] = (int64_t)(sign | quiet);
    values[3] = (int64_t)(sign | (sign - 1));
    return 4;
}

/* Values of fields that are not tried with all values of their type. */
static int (*const ranges[FIELD_COUNT])(int64_t *values, const struct bitcut_unit *u) = {
    [FIELD_SUM] = summation_range,
    [FIELD_BLOCK] = powers_of_two,
    [FIELD_GROUP] = powers_of_two,
    [FIELD_FRACTION] = fraction_range,
    [FIELD_ALIGN_MIN] = least_exponent_range,
    [FIELD_SUM_FRACTION] = sum_fraction_range,
    [FIELD_KEEP] = keep_range,
    [FIELD_KEEP_MIN] = least_exponent_range,
    [FIELD_CARRIER] = carrier_range,
    [FIELD_VIA] = via_range,
    [FIELD_RESULT] = result_range,
    [FIELD_ROUNDING] = direction_range,
    [FIELD_OVERFLOW] = overflow_range,
    [FIELD_NAN] = nan_range,
};

/* --- printing --------------------------------------------------------------------- */

void field_text(char *text, size_t size, const struct field *f,
                const struct bitcut_unit *u, int64_t value)
{
    char told[FIELD_TEXT_MAX];
    const enum bitcut_kind kind = field_value(told, f, u, value);
    snprintf(text, size, "%s",
             kind == BITCUT_BOOL   ? (value ? "yes" : "no")
             : kind == BITCUT_NULL ? "none"
                                   : told);
}

/* --- values ----------------------------------------------------------------------- */

int field_candidates(int64_t values[FIELD_VALUES_MAX], const struct field *f,
                     const struct bitcut_unit *u)
{
    if (ranges[f - fields]) return ranges[f - fields](values, u);
    int n = 0;
    if (!f->kind->text) return span(values, 0, 1);
    while (f->kind->text[n]) n++;
    return span(values, 0, n - 1);
}

static bool is_sound_with(const struct field *f, const struct bitcut_unit *u,
                          int64_t value)
{
    struct bitcut_unit changed = *u;
    field_set(f, &changed, value);
    return unit_sound(&changed);
}

int field_values(int64_t values[FIELD_VALUES_MAX], const struct field *f,
                 const struct bitcut_unit *u)
{
    int64_t all[FIELD_VALUES_MAX];
    const int64_t own = field_get(f, u);
    if (!field_used(f, u)) return 0;
    const int count = field_candidates(all, f, u);
    int n = 0;
    bool listed = false;
    for (int i = 0; i < count; i++) {
        if (!listed && f->kind->ordered && all[i] > own) values[n++] = own, listed = true;
        listed |= all[i] == own;
        if (all[i] == own || is_sound_with(f, u, all[i])) values[n++] = all[i];
    }
    if (!listed) values[n++] = own;
    return n;
}

int field_steps(int64_t values[FIELD_VALUES_MAX], const struct field *f,
                const struct bitcut_unit *u)
{
    int64_t all[FIELD_VALUES_MAX];
    const int count = field_values(all, f, u);
    int own = 0, n = 0;
    while (own < count && all[own] != field_get(f, u)) own++;
    for (int i = 0; i < count; i++)
        if (i != own && (!f->kind->ordered || i == own - 1 || i == own + 1))
            values[n++] = all[i];
    return n;
}
