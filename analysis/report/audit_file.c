/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/report/audit_file.h"

#include "lib/io/json_fields.h"
#include "lib/io/json_lines.h"
#include "lib/io/stream.h"

#include <stdlib.h>
#include <string.h>

/* --- columns ---------------------------------------------------------------------- */

const char *const audit_values_keys[] = { "exponent", "count", NULL };

/* clang-format off */
#define KEPT "split", "bits", "exact", "max_ulp", "p_subnormal", "p_zero", "p_flushed", "p_overflow"
/* clang-format on */
const char *const audit_kept_keys[] = { "operand", "count", "scale_from", "scale_to",
                                        "flush",   KEPT,    NULL };
const char *const audit_bits_keys[] = { "recipe", "scale", "operand", "exponent",
                                        "count",  KEPT,    NULL };
const char *const audit_chips_keys[] = { "chips",       "unit",   "evidence", "recipe",
                                         "split",       "scale",  "terms",    "cost",
                                         "equilibrate", "tflops", "error",    "high",
                                         "checked",     "bound",  "reaches",  NULL };
const char *const audit_scales_keys[] = { "recipe",      "unit",       "scale",
                                          "equilibrate", "error",      "bits_a",
                                          "bits_b",      "overflow_a", "overflow_b",
                                          "flushed_a",   "flushed_b",  NULL };

/* --- types of values (NULL: missing) ---------------------------------------------- */

static bool is_text(const json_t *x) { return json_is_string(x); }

static bool is_text_if_any(const json_t *x)
{
    return !x || json_is_null(x) || json_is_string(x);
}

/* Up to the largest range in which a double has every integer. */
static bool is_count_if_any(const json_t *x)
{
    const json_int_t n = json_integer_value(x);
    return !x || json_is_null(x) ||
           (json_is_integer(x) && n >= 0 && n <= (json_int_t)1 << 53);
}

/* A number that JSON lacks is a text. */
static bool is_number_if_any(const json_t *x)
{
    const char *const text = json_string_value(x);
    return !x || json_is_null(x) || json_is_number(x) ||
           (text &&
            (!strcmp(text, "nan") || !strcmp(text, "inf") || !strcmp(text, "-inf")));
}

/* "12-40" if sizes differ. */
static bool is_size_if_any(const json_t *x)
{
    return is_text_if_any(x) || is_count_if_any(x);
}

/* A value that fits into a cell of a table. */
static bool is_flat(const json_t *x) { return !json_is_object(x) && !json_is_array(x); }

/* A list of objects with flat columns, or null. */
static bool is_list(const json_t *x, const char *const *keys)
{
    size_t i;
    const json_t *one;
    if (x && !json_is_array(x)) return false;
    json_array_foreach(x, i, one)
    {
        if (!json_is_object(one)) return false;
        for (const char *const *key = keys; *key; key++)
            if (!is_flat(json_object_get(one, *key))) return false;
    }
    return true;
}

static bool is_values(const json_t *x)
{
    return !x || json_is_null(x) ||
           (json_is_object(x) &&
            is_list(json_object_get(x, "exponents"), audit_values_keys));
}

static bool is_advice(const json_t *x)
{
    static const struct {
        const char *key;
        const char *const *columns;
    } lists[] = { { "retained", audit_kept_keys },
                  { "retained_by_exponent", audit_bits_keys },
                  { "targets", audit_chips_keys },
                  { "scales", audit_scales_keys } };
    if (!x || json_is_null(x)) return true;
    bool good = json_is_object(x);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        good &= is_list(json_object_get(x, lists[i].key), lists[i].columns);
    return good;
}

/* clang-format off */
static const struct json_kind
    text    = { is_text,          "a text" },
    words   = { is_text_if_any,   "a text or null" },
    count   = { is_count_if_any,  "an integer from 0 to 2^53, or null" },
    number  = { is_number_if_any, "a number or null" },
    size_of = { is_size_if_any,   "a size, sizes as a text, or null" },
    values  = { is_values,        "null or an object with a list \"exponents\" of objects" },
    advice  = { is_advice,        "null or an object with lists of objects" };
/* clang-format on */

static const struct json_field place_fields[] = {
    { "call_site", &text },      { "where", &text },
    { "native", &words },        { "routine", &words },
    { "calls", &count },         { "taken", &count },
    { "passed", &count },        { "products", &number },
    { "seconds", &number },      { "m", &size_of },
    { "n", &size_of },           { "k", &size_of },
    { "configuration", &words }, { "evidence", &words },
    { "against", &words },       { "against_evidence", &words },
    { "outputs", &count },       { "differ", &count },
    { "not_finite", &count },    { "difference", &number },
    { "largest", &number },      { "watched", &count },
    { "mismatches", &count },    { "relres", &number },
    { "backward_max", &number }, { "bound", &number },
    { "advice", &words },        { "advice_on", &words },
    { "values_a", &values },     { "values_b", &values },
    { "advise", &advice },       { 0 }
};

static const struct json_field total_fields[] = { { "own_seconds", &number },
                                                  { "elapsed", &number },
                                                  { 0 } };

/* --- rows ------------------------------------------------------------------------- */

struct reading {
    json_t *sites, **total;
    json_t *names; /* the names of call sites, each with the last number given to it */
};

/* Several call sites on one line, by several routines or in several parts of a library,
   are distinguished by a number: figures have a panel for each. */
static void name_place(json_t *names, json_t *row)
{
    const char *const name = json_string_value(json_object_get(row, "call_site"));
    json_int_t n = json_integer_value(json_object_get(names, name)) + 1;
    json_t *own = json_string(name);
    for (; json_object_get(names, json_string_value(own)); n++) {
        json_decref(own);
        own = json_sprintf("%s (%lld)", name, (long long)n);
    }
    json_object_set_new(names, json_string_value(own), json_integer(1));
    json_object_set_new(names, name, json_integer(n > 1 ? n - 1 : 1));
    json_object_set_new(row, "call_site", own);
}

/* Rows of `bitcut run`: call sites, and the last one, for the whole run. */
static enum bitcut_status take_row(void *context, json_t *row, struct fault *f)
{
    struct reading *const r = context;
    const char *const schema = json_string_value(json_object_get(row, "schema"));
    const bool is_site =
        json_object_get(row, "where") || json_object_get(row, "call_site");
    enum bitcut_status status =
        schema && !strcmp(schema, "bitcut-run/1")
            ? json_check_fields(row, is_site ? place_fields : total_fields, f)
            : fault_set(f, BITCUT_BAD_FILE,
                        "expected a row written by bitcut run --audit -o FILE");
    if (status == BITCUT_OK && is_site) {
        name_place(r->names, row);
        json_array_append(r->sites, row);
    } else if (status == BITCUT_OK) {
        json_decref(*r->total);
        *r->total = json_incref(row);
    }
    json_decref(row);
    return status;
}

enum bitcut_status audit_parse(json_t *sites, json_t **total, size_t *line,
                               const void *bytes, size_t size, struct fault *f)
{
    struct reading r = { sites, total, json_object() };
    *total = NULL;
    enum bitcut_status status = json_lines_parse(line, bytes, size, take_row, &r, f);
    json_decref(r.names);
    if (status != BITCUT_OK || json_array_size(sites)) return status;
    *line = 0;
    return fault_set(f, BITCUT_BAD_FILE,
                     "the file has no products; bitcut run --audit reports the reason");
}

enum bitcut_status audit_read(json_t *sites, json_t **total, size_t *line,
                              const char *path, struct fault *f)
{
    char *bytes;
    size_t size;
    *total = NULL;
    *line = 0;
    enum bitcut_status status = stream_read_file(&bytes, &size, path, JSON_LINES_MAX, f);
    if (status != BITCUT_OK) return status;
    status = audit_parse(sites, total, line, bytes, size, f);
    free(bytes);
    return status;
}
