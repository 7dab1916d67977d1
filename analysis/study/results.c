/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/study/results.h"

#include "lib/io/json_fields.h"
#include "lib/io/json_lines.h"
#include "lib/io/stream.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1 << 26 };

/* Such that no sum of RESULTS_MAX counts overflows. */
#define COUNT_MAX ((json_int_t)1 << 50)

/* --- values (NULL: missing) ------------------------------------------------------- */

static bool is_text(const json_t *x) { return json_string_length(x) > 0; }

static bool is_text_or_null(const json_t *x) { return json_is_null(x) || is_text(x); }

static bool is_count(const json_t *x)
{
    const json_int_t n = json_integer_value(x);
    return json_is_integer(x) && n >= 0 && n <= COUNT_MAX;
}

static bool is_count_or_null(const json_t *x) { return json_is_null(x) || is_count(x); }

static bool is_size(const json_t *x) { return is_count(x) && json_integer_value(x) > 0; }

static bool is_measure(const json_t *x)
{
    return json_is_null(x) || (json_is_number(x) && json_number_value(x) > 0);
}

/* An error may be 0, or infinite, which is written as text. */
static bool is_error(const json_t *x)
{
    return json_is_string(x) || json_is_null(x) ||
           (json_is_number(x) && json_number_value(x) >= 0);
}

static bool is_text_if_any(const json_t *x) { return !x || is_text(x); }

static bool is_count_if_any(const json_t *x) { return !x || is_count(x); }

static bool is_size_if_any(const json_t *x) { return !x || is_size(x); }

static bool is_flag_if_any(const json_t *x) { return !x || json_is_boolean(x); }

/* Keys of later versions, which may also be null. */
static bool is_later_measure(const json_t *x) { return !x || is_measure(x); }

static bool is_later_count(const json_t *x) { return !x || is_count_or_null(x); }

static bool is_later_text(const json_t *x) { return !x || is_text_or_null(x); }

static bool is_seed(const json_t *x) { return json_is_integer(x) || is_text(x); }

#define COUNT "an integer from 0 to 2^50"
#define SIZE  "an integer from 1 to 2^50"

/* clang-format off */
static const struct json_kind
    text          = { is_text,          "a text" },
    text_or_null  = { is_text_or_null,  "a text or null" },
    text_if_any   = { is_text_if_any,   "a text" },
    count         = { is_count,         COUNT },
    count_or_null = { is_count_or_null, COUNT ", or null" },
    count_if_any  = { is_count_if_any,  COUNT },
    size_of       = { is_size,          SIZE },
    size_if_any   = { is_size_if_any,   SIZE },
    measure       = { is_measure,       "a number above 0, or null" },
    error_of      = { is_error,         "a number of at least 0, or null" },
    later_measure = { is_later_measure, "a number above 0, or null" },
    later_count   = { is_later_count,   COUNT ", or null" },
    later_text    = { is_later_text,    "a text or null" },
    flag_if_any   = { is_flag_if_any,   "true or false" },
    seed          = { is_seed,          "an integer, or its digits as a text" };
/* clang-format on */

/* --- lines ------------------------------------------------------------------------ */

/* The benchmark and the device. */
/* clang-format off */
#define OF_RUN                                                                           \
    { "study", &text }, { "input", &text }, { "rounds", &size_of }, { "seed", &seed },   \
    { "device", &text }, { "driver", &text }, { "runtime", &text }, { "library", &text }
/* clang-format on */

static const struct json_field bench_fields[] = { { "name", &text },
                                                  { "part", &text },
                                                  { "m", &size_of },
                                                  { "n", &size_of },
                                                  { "k", &size_of },
                                                  { "count", &size_if_any },
                                                  { "ms", &measure },
                                                  { "tflops", &measure },
                                                  { "third", &measure },
                                                  { "relres", &error_of },
                                                  { "compared", &count_or_null },
                                                  { "mismatches", &count_or_null },
                                                  { "fallback", &text_or_null },
                                                  { "flops_per_byte", &measure },
                                                  { "gb_per_second", &measure },
                                                  { "joules", &measure },
                                                  { "gflops_per_watt", &measure },
                                                  { "pj_per_product", &measure },
                                                  { "recipe", &text_or_null },
                                                  { "split", &text_or_null },
                                                  { "equilibrate", &flag_if_any },
                                                  { "tile", &text_or_null },
                                                  { "stages", &count_or_null },
                                                  { "split_k", &size_of },
                                                  { "fault", &text_or_null },
                                                  { "tflops_sustained", &later_measure },
                                                  { "third_sustained", &later_measure },
                                                  { "mhz_sustained", &later_count },
                                                  { "watts", &later_measure },
                                                  { "limit", &later_text },
                                                  OF_RUN,
                                                  { 0 } };

static const struct json_field verify_fields[] = {
    { "kernel", &text },
    { "device", &text },
    { "driver", &text },
    { "seed", &seed },
    { "split", &text_if_any },           /* batches of small GEMMs have none */
    { "configurations", &count_if_any }, /* the split pass has none */
    { "compared", &count },
    { "mismatches", &count },
    { "date", &text_if_any },
    { 0 }
};

static const struct json_field batch_fields[] = { { "name", &text },
                                                  { "addressing", &text },
                                                  { "m", &size_of },
                                                  { "n", &size_of },
                                                  { "k", &size_of },
                                                  { "count", &size_of },
                                                  { "us", &measure },
                                                  { "gb_per_second", &measure },
                                                  { "ratio_strided", &measure },
                                                  { "ratio_pointers", &measure },
                                                  { "relres", &error_of },
                                                  { "compared", &count_or_null },
                                                  { "mismatches", &count_or_null },
                                                  { "fault", &text_or_null },
                                                  OF_RUN,
                                                  { 0 } };

static const struct json_field mean_fields[] = { { "name", &text },
                                                 { "addressing", &text },
                                                 { "shapes", &size_of },
                                                 { "count", &size_of },
                                                 { "ratio_strided", &measure },
                                                 { "ratio_pointers", &measure },
                                                 OF_RUN,
                                                 { 0 } };

/* The key that distinguishes a kind from those after it, and the keys that all its rows
   have. */
static const struct {
    const char *key;
    const struct json_field *fields;
} kinds[RESULT_KINDS] = {
    [RESULT_BENCH] = { "part", bench_fields },
    [RESULT_VERIFY] = { "kernel", verify_fields },
    [RESULT_MEAN] = { "shapes", mean_fields },
    [RESULT_BATCH] = { "addressing", batch_fields },
};

/* Takes over the row in any case. */
static enum bitcut_status add(void *to, json_t *row, struct fault *f)
{
    struct results *r = to;
    enum bitcut_status status = BITCUT_OK;
    int kind = 0;
    while (kind < RESULT_KINDS && !json_object_get(row, kinds[kind].key)) kind++;
    if (kind == RESULT_KINDS)
        status = fault_set(f, BITCUT_BAD_FILE,
                           "expected a JSON line of bench gpu or verify --kernel");
    if (status == BITCUT_OK) status = json_check_fields(row, kinds[kind].fields, f);
    if (status == BITCUT_OK && json_array_size(r->rows[kind]) == RESULTS_MAX)
        status = fault_set(f, BITCUT_BAD_FILE, "more than %d results", RESULTS_MAX);
    if (status == BITCUT_OK && json_array_append(r->rows[kind], row))
        status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    json_decref(row);
    return status;
}

/* --- reading one ------------------------------------------------------------------ */

bool result_matches(const json_t *row, const char *key, const char *words)
{
    const char *value = json_string_value(json_object_get(row, key));
    return value && !strcmp(value, words);
}

bool result_same(const json_t *a, const json_t *b, const char *key)
{
    return json_equal(json_object_get(a, key), json_object_get(b, key));
}

double result_number(const json_t *row, const char *key)
{
    return json_number_value(json_object_get(row, key));
}

bool result_is_equilibrated(const json_t *row)
{
    return json_is_true(json_object_get(row, "equilibrate"));
}

json_int_t result_gemms(const json_t *row)
{
    const json_t *gemms = json_object_get(row, "count");
    return gemms ? json_integer_value(gemms) : 1;
}

/* --- texts and files -------------------------------------------------------------- */

void results_clear(struct results *r)
{
    for (int i = 0; i < RESULT_KINDS; i++) json_decref(r->rows[i]);
    memset(r, 0, sizeof *r);
}

/* A copy of the arrays with the same rows. */
static void copy(struct results *to, const struct results *from)
{
    for (int i = 0; i < RESULT_KINDS; i++)
        to->rows[i] = from->rows[i] ? json_copy(from->rows[i]) : json_array();
}

static size_t total(const struct results *r)
{
    size_t n = 0;
    for (int i = 0; i < RESULT_KINDS; i++) n += json_array_size(r->rows[i]);
    return n;
}

enum bitcut_status results_parse(struct results *r, size_t *line, const void *bytes,
                                 size_t size, struct fault *f)
{
    struct results all;
    copy(&all, r);
    enum bitcut_status status = json_lines_parse(line, bytes, size, add, &all, f);
    if (status == BITCUT_OK && total(&all) == total(r)) {
        *line = 0;
        status = fault_set(f, BITCUT_BAD_FILE, "the file has no results");
    }
    if (status != BITCUT_OK) {
        results_clear(&all);
        return status;
    }
    results_clear(r);
    *r = all;
    return BITCUT_OK;
}

enum bitcut_status results_read(struct results *r, size_t *line, const char *path,
                                struct fault *f)
{
    char *bytes;
    size_t size;
    *line = 0;
    enum bitcut_status status = stream_read_file(&bytes, &size, path, FILE_MAX, f);
    if (status != BITCUT_OK) return status;
    status = results_parse(r, line, bytes, size, f);
    free(bytes);
    return status;
}
