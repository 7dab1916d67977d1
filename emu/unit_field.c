/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/unit_field.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* --- kinds of fields -------------------------------------------------------------- */

/* Enumerations have the size of an int; the static asserts below check it. */
static int64_t get_int(const void *at) { return *(const int *)at; }
static void set_int(void *at, int64_t value) { *(int *)at = (int)value; }
static int64_t get_bool(const void *at) { return *(const bool *)at; }
static void set_bool(void *at, int64_t value) { *(bool *)at = value != 0; }
static int64_t get_bits(const void *at) { return (int64_t) * (const uint64_t *)at; }
static void set_bits(void *at, int64_t value) { *(uint64_t *)at = (uint64_t)value; }

static int64_t get_format(const void *at)
{
    const struct bitcut_format *f = *(const struct bitcut_format *const *)at;
    return f ? f - formats : -1;
}

static void set_format(void *at, int64_t value)
{
    *(const struct bitcut_format **)at = value < 0 ? NULL : &formats[value];
}

static int64_t get_summation(const void *at)
{
    int i = 0;
    while (summations[i] != *(const struct summation *const *)at) i++;
    return i;
}

static void set_summation(void *at, int64_t value)
{
    *(const struct summation **)at = summations[value];
}

_Static_assert(sizeof(enum k_order) == sizeof(int), "read as int");
_Static_assert(sizeof(enum zero_sign) == sizeof(int), "read as int");
_Static_assert(sizeof(enum input_flush) == sizeof(int), "read as int");
_Static_assert(sizeof(enum flush) == sizeof(int), "read as int");
_Static_assert(sizeof(enum nan_rule) == sizeof(int), "read as int");
_Static_assert(sizeof(enum direction) == sizeof(int), "read as int");
_Static_assert(sizeof(enum overflow) == sizeof(int), "read as int");

static enum bitcut_kind describe(char *text, const char *name)
{
    snprintf(text, FIELD_TEXT_MAX, "%s", name);
    return BITCUT_TEXT;
}

static enum bitcut_kind tell_int(char *text, const struct bitcut_unit *u, int64_t value)
{
    (void)u;
    if (value == FRACTION_EXACT) return describe(text, "exact");
    snprintf(text, FIELD_TEXT_MAX, "%" PRId64, value);
    return BITCUT_NUMBER;
}

static enum bitcut_kind tell_bool(char *text, const struct bitcut_unit *u, int64_t value)
{
    (void)u;
    describe(text, value ? "true" : "false");
    return BITCUT_BOOL;
}

static enum bitcut_kind tell_bits(char *text, const struct bitcut_unit *u, int64_t value)
{
    snprintf(text, FIELD_TEXT_MAX, "0x%0*" PRIx64, (u->c->bits + 3) / 4,
             (uint64_t)value);
    return BITCUT_TEXT;
}

static enum bitcut_kind write_format_field(char *text, const struct bitcut_unit *u,
                                           int64_t value)
{
    (void)u;
    describe(text, value < 0 ? "" : formats[value].name);
    return value < 0 ? BITCUT_NULL : BITCUT_TEXT;
}

static enum bitcut_kind tell_summation(char *text, const struct bitcut_unit *u,
                                       int64_t value)
{
    (void)u;
    return describe(text, summations[value]->name);
}

static const char *const orders[] = { "ascending", "descending", "bit 0",
                                      "bit 1",     "bit 2",      NULL };
static const char *const zeros[] = { "positive", "sum positive", "IEEE", NULL };
static const char *const nan_rules[] = { "fixed", "operand", "first", NULL };
static const char *const input_flushes[] = { "no", "positive", "signed", "C", NULL };
static const char *const flushes[] = { "no", "subnormal", "tiny", NULL };
static const char *const directions[] = {
    "nearest even", "nearest away", "zero", "positive", "negative", "odd", NULL
};
static const char *const overflows[] = {
    "IEEE", "Inf", "largest", "modulo", "range", NULL
};

/* clang-format off */
static const struct field_kind number    = { get_int, set_int, tell_int, NULL, true };
static const struct field_kind flag      = { get_bool, set_bool, tell_bool, NULL, false };
static const struct field_kind format    = { get_format, set_format, write_format_field, NULL, false };
static const struct field_kind bits      = { get_bits, set_bits, tell_bits, NULL, false };
static const struct field_kind summation = { get_summation, set_summation, tell_summation, NULL, false };
static const struct field_kind order     = { get_int, set_int, NULL, orders, false };
static const struct field_kind zero      = { get_int, set_int, NULL, zeros, false };
static const struct field_kind nan_rule  = { get_int, set_int, NULL, nan_rules, false };
static const struct field_kind inputs    = { get_int, set_int, NULL, input_flushes, false };
static const struct field_kind flush     = { get_int, set_int, NULL, flushes, false };
static const struct field_kind direction = { get_int, set_int, NULL, directions, false };
static const struct field_kind overflow  = { get_int, set_int, NULL, overflows, false };
/* clang-format on */

/* --- the table -------------------------------------------------------------------- */

#define AT(member) offsetof(struct bitcut_unit, member)

/* Instead of a field of enum unit_reads: rows without block scales read the field. */
enum { UNSCALED = -1 };

const struct field fields[] = {
    /* clang-format off */
    [FIELD_SUM] = { "sum", "how a block of products and c are added", &summation, AT(summation), 0 },
    [FIELD_ORDER] = { "order", "order in which k enters the blocks", &order, AT(order), UNSCALED },
    [FIELD_BLOCK] = { "block", "number of products that a step adds", &number, AT(block), 0 },
    [FIELD_GROUP] = { "group", "number of products added exactly before they are scaled", &number, AT(group), READS_GROUP },
    [FIELD_FRACTION] = { "fraction", "bits retained below the alignment exponent", &number, AT(fraction), READS_FRACTION },
    [FIELD_ALIGN_MIN] = { "align_min", "the alignment exponent is never below this", &number, AT(align_min), READS_ALIGN_MIN },
    [FIELD_SUM_FRACTION] = { "sum_fraction", "bits of the sum of products retained when c is added", &number, AT(sum_fraction), READS_SUM_FRACTION },
    [FIELD_KEEP] = { "keep", "bits of the sum retained before it is rounded", &number, AT(keep), READS_KEEP },
    [FIELD_KEEP_MIN] = { "keep_min", "lower limit of the exponent from which keep counts", &number, AT(keep_min), READS_KEEP_MIN },
    [FIELD_CARRIER] = { "carrier", "format to which sums are rounded before they are cut", &format, AT(carrier), READS_CARRIER },
    [FIELD_PARITY] = { "parity", "products of even and odd k are summed separately", &flag, AT(parity), READS_PARITY },
    [FIELD_NORMALISE] = { "normalise", "products align by their leading bit", &flag, AT(normalise), READS_NORMALISE },
    [FIELD_FLOOR] = { "floor", "cuts floor the signed term", &flag, AT(floor), READS_FLOOR },
    [FIELD_VIA] = { "via", "format to which operands are converted first", &format, AT(via), UNSCALED },
    [FIELD_C_LAST] = { "c_last", "C is added at the end, to nearest", &flag, AT(c_last), 0 },
    [FIELD_FLUSH_INPUTS] = { "flush_inputs", "how subnormal a, b and C are read", &inputs, AT(flush_inputs), 0 },
    [FIELD_RESULT] = { "result", "format to which a step is rounded", &format, AT(result), 0 },
    [FIELD_ROUNDING] = { "rounding", "direction in which a step is rounded", &direction, AT(rounding.direction), 0 },
    [FIELD_OVERFLOW] = { "overflow", "result of a step above the largest value", &overflow, AT(rounding.overflow), 0 },
    [FIELD_FLUSH] = { "flush", "which small results become zero", &flush, AT(rounding.flush), 0 },
    [FIELD_ZERO] = { "zero", "the sign of a zero result", &zero, AT(zero), 0 },
    [FIELD_NAN_RULE] = { "nan_rule", "the NaN of a NaN result", &nan_rule, AT(nan_rule), 0 },
    [FIELD_NAN] = { "nan", "the NaN of the fixed rule, and of an invalid operation", &bits, AT(nan), 0 },
    [FIELD_COUNT] = { 0 }
    /* clang-format on */
};

bool field_used(const struct field *f, const struct bitcut_unit *u)
{
    if (f->reads == UNSCALED) return !u->scale;
    return f->reads == 0 || summation_reads(u) & (unsigned)f->reads;
}

int64_t field_get(const struct field *f, const struct bitcut_unit *u)
{
    return f->kind->get((const char *)u + f->offset);
}

void field_set(const struct field *f, struct bitcut_unit *u, int64_t value)
{
    f->kind->set((char *)u + f->offset, value);
}

enum bitcut_kind field_value(char text[FIELD_TEXT_MAX], const struct field *f,
                             const struct bitcut_unit *u, int64_t value)
{
    if (f->kind->tell) return f->kind->tell(text, u, value);
    return describe(text, f->kind->text[value]);
}

/* --- rows ------------------------------------------------------------------------- */

static bool has_word(const char *words, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += n)
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || !at[n])) return true;
    return false;
}

bool field_is_open(const struct field *f, const struct bitcut_unit *u)
{
    if (!field_used(f, u)) return false;
    if (u->evidence == EVIDENCE_MODELS || u->evidence == EVIDENCE_CONSISTENT ||
        u->evidence == EVIDENCE_EMULATED || u->evidence == EVIDENCE_DOCUMENTED)
        return true;
    return has_word(u->open, f->name);
}

bool field_same(const struct bitcut_unit *x, const struct bitcut_unit *y)
{
    if (x->k != y->k || x->a != y->a || x->b != y->b || x->c != y->c) return false;
    if (x->scale != y->scale || (x->scale && x->scale_block != y->scale_block))
        return false;
    for (const struct field *f = fields; f->name; f++)
        if ((field_used(f, x) || field_used(f, y)) && field_get(f, x) != field_get(f, y))
            return false;
    return true;
}

bool field_repeats(const struct bitcut_unit *u)
{
    const struct bitcut_unit *first = units;
    while (!field_same(first, u)) first++;
    return first != u;
}
