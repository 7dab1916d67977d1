#include "analysis/field.h"

#include "analysis/emit.h"
#include "lib/table.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* --- kinds of fields -------------------------------------------------------------- */

/* How a field is held, printed and varied. */
struct field_kind {
    int64_t (*get)(const void *at);
    void (*set)(void *at, int64_t value);
    const char *const *text; /* of a choice, ended by NULL; else NULL */
    bool ordered;            /* a step goes to the next value, not to any other */
};

/* Enumerations have the size of an int: assured by the static asserts below. */
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
_Static_assert(sizeof(enum nan_rule) == sizeof(int), "read as int");
_Static_assert(sizeof(enum direction) == sizeof(int), "read as int");
_Static_assert(sizeof(enum overflow) == sizeof(int), "read as int");

static const char *const orders[] = { "ascending", "descending", "bit 0", "bit 1",
                                      "bit 2",     NULL };
static const char *const zeros[] = { "positive", "sum positive", "IEEE", NULL };
static const char *const nan_rules[] = { "fixed", "operand", NULL };
static const char *const directions[] = { "nearest even", "nearest away", "zero",
                                          "positive",     "negative",     "odd",
                                          NULL };
static const char *const overflows[] = { "IEEE", "Inf", "largest", NULL };

static const struct field_kind number = { get_int, set_int, NULL, true };
static const struct field_kind flag = { get_bool, set_bool, NULL, false };
static const struct field_kind format = { get_format, set_format, NULL, false };
static const struct field_kind bits = { get_bits, set_bits, NULL, false };
static const struct field_kind summation = { get_summation, set_summation, NULL, false };
static const struct field_kind order = { get_int, set_int, orders, false };
static const struct field_kind zero = { get_int, set_int, zeros, false };
static const struct field_kind nan_rule = { get_int, set_int, nan_rules, false };
static const struct field_kind direction = { get_int, set_int, directions, false };
static const struct field_kind overflow = { get_int, set_int, overflows, false };

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

/* From far below any product to above the least normal result. */
static int least_exponent_range(int64_t *values, const struct bitcut_unit *u)
{
    const int emin = format_emin(u->result);
    return span(values, emin - 40, emin + 10);
}

/* The accumulator's format and those that are it with fewer bits. */
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
    (void)u;
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

/* All ones and the quiet NaN with no other bit, of both signs. */
static int nan_range(int64_t *values, const struct bitcut_unit *u)
{
    const uint64_t sign = format_zero(u->c, true), infinity = format_infinity(u->c, false);
    const uint64_t quiet = infinity | UINT64_C(1) << (u->c->fraction_bits - 1);
    values[0] = (int64_t)quiet;
    values[1] = (int64_t)(sign - 1);
    values[2] = (int64_t)(sign | quiet);
    values[3] = (int64_t)(sign | (sign - 1));
    return 4;
}

/* --- the table -------------------------------------------------------------------- */

#define AT(member) offsetof(struct bitcut_unit, member)

/* In place of a field of enum unit_reads: read by rows without block scales. */
enum { UNSCALED = -1 };

const struct field fields[] = {
    /* clang-format off */
    [FIELD_SUM] = { "sum", "how a block of products and c are added", &summation, AT(summation), 0, summation_range },
    [FIELD_ORDER] = { "order", "in which order k enters the blocks", &order, AT(order), UNSCALED, NULL },
    [FIELD_BLOCK] = { "block", "products a step sums", &number, AT(block), 0, powers_of_two },
    [FIELD_GROUP] = { "group", "products added exactly before they are scaled", &number, AT(group), READS_GROUP, powers_of_two },
    [FIELD_FRACTION] = { "fraction", "bits kept below the alignment exponent", &number, AT(fraction), READS_FRACTION, fraction_range },
    [FIELD_ALIGN_MIN] = { "align_min", "the alignment exponent is never below this", &number, AT(align_min), READS_ALIGN_MIN, least_exponent_range },
    [FIELD_SUM_FRACTION] = { "sum_fraction", "bits of the products' sum kept when c joins", &number, AT(sum_fraction), READS_SUM_FRACTION, sum_fraction_range },
    [FIELD_KEEP] = { "keep", "bits of the sum kept before it is rounded", &number, AT(keep), READS_KEEP, keep_range },
    [FIELD_KEEP_MIN] = { "keep_min", "those bits never count from below this exponent", &number, AT(keep_min), READS_KEEP_MIN, least_exponent_range },
    [FIELD_CARRIER] = { "carrier", "what sums are rounded to before they are cut", &format, AT(carrier), READS_CARRIER, carrier_range },
    [FIELD_PARITY] = { "parity", "products of even and odd k are summed apart", &flag, AT(parity), READS_PARITY, NULL },
    [FIELD_NORMALISE] = { "normalise", "products align by their leading one", &flag, AT(normalise), READS_NORMALISE, NULL },
    [FIELD_FLOOR] = { "floor", "cuts floor the signed term", &flag, AT(floor), READS_FLOOR, NULL },
    [FIELD_VIA] = { "via", "what operands are converted to first", &format, AT(via), UNSCALED, via_range },
    [FIELD_C_LAST] = { "c_last", "C is added at the end, to nearest", &flag, AT(c_last), 0, NULL },
    [FIELD_FLUSH_INPUTS] = { "flush_inputs", "subnormal a, b and C are read as +0", &flag, AT(flush_inputs), 0, NULL },
    [FIELD_RESULT] = { "result", "the format a step is rounded to", &format, AT(result), 0, result_range },
    [FIELD_ROUNDING] = { "rounding", "the direction a step is rounded in", &direction, AT(rounding.direction), 0, direction_range },
    [FIELD_OVERFLOW] = { "overflow", "what a step gives above the largest value", &overflow, AT(rounding.overflow), 0, NULL },
    [FIELD_FLUSH] = { "flush", "subnormal results become zero", &flag, AT(rounding.flush), 0, NULL },
    [FIELD_ZERO] = { "zero", "the sign of a zero result", &zero, AT(zero), 0, NULL },
    [FIELD_NAN_RULE] = { "nan_rule", "which NaN a NaN result is", &nan_rule, AT(nan_rule), 0, NULL },
    [FIELD_NAN] = { "nan", "the NaN of the fixed rule, and of an invalid operation", &bits, AT(nan), 0, nan_range },
    [FIELD_COUNT] = { 0 }
    /* clang-format on */
};

const struct field *field_find(const char *name)
{
    return table_find(TABLE(fields), name);
}

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

/* --- printing --------------------------------------------------------------------- */

json_t *field_json(const struct field *f, const struct bitcut_unit *u, int64_t value)
{
    if (f->kind->text) return json_string(f->kind->text[value]);
    if (f->kind == &flag) return json_boolean(value);
    if (f->kind == &format) return value < 0 ? json_null() : json_string(formats[value].name);
    if (f->kind == &summation) return json_string(summations[value]->name);
    if (f->kind == &bits) return json_encoding((uint64_t)value, u->c->bits);
    if (value == FRACTION_EXACT) return json_string("exact");
    return json_integer(value);
}

void field_text(char *text, size_t size, const struct field *f,
                const struct bitcut_unit *u, int64_t value)
{
    json_t *j = field_json(f, u, value);
    if (json_is_string(j)) snprintf(text, size, "%s", json_string_value(j));
    else if (json_is_integer(j)) snprintf(text, size, "%lld", (long long)value);
    else snprintf(text, size, json_is_true(j) ? "yes" : json_is_null(j) ? "none" : "no");
    json_decref(j);
}

/* --- values ----------------------------------------------------------------------- */

int field_candidates(int64_t values[FIELD_VALUES_MOST], const struct field *f,
                     const struct bitcut_unit *u)
{
    if (f->range) return f->range(values, u);
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

int field_values(int64_t values[FIELD_VALUES_MOST], const struct field *f,
                 const struct bitcut_unit *u)
{
    int64_t all[FIELD_VALUES_MOST];
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

int field_steps(int64_t values[FIELD_VALUES_MOST], const struct field *f,
                const struct bitcut_unit *u)
{
    int64_t all[FIELD_VALUES_MOST];
    const int count = field_values(all, f, u);
    int own = 0, n = 0;
    while (own < count && all[own] != field_get(f, u)) own++;
    for (int i = 0; i < count; i++)
        if (i != own && (!f->kind->ordered || i == own - 1 || i == own + 1))
            values[n++] = all[i];
    return n;
}

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
    if (u->evidence == EVIDENCE_MODELS || u->evidence == EVIDENCE_CONSISTENT) return true;
    return has_word(u->open, f->name);
}

bool field_same(const struct bitcut_unit *x, const struct bitcut_unit *y)
{
    if (x->k != y->k || x->a != y->a || x->b != y->b || x->c != y->c) return false;
    if (x->scale != y->scale || (x->scale && x->scale_block != y->scale_block))
        return false;
    for (const struct field *f = fields; f->name; f++)
        if ((field_used(f, x) || field_used(f, y)) && field_get(f, x) != field_get(f, y)) return false;
    return true;
}

bool field_repeats(const struct bitcut_unit *u)
{
    const struct bitcut_unit *first = units;
    while (!field_same(first, u)) first++;
    return first != u;
}
