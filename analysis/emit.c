#include "analysis/emit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CELL_MOST = 1 << 14, COLUMNS_MOST = 32 };

void emit_row(struct emitter *e, json_t *row)
{
    if (!e->json) {
        if (!e->rows) e->rows = json_array();
        json_array_append_new(e->rows, row);
        return;
    }
    json_dumpf(row, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17));
    putchar('\n');
    fflush(stdout);
    json_decref(row);
}

/* The text of one value, without quotes. */
static void cell_text(char text[CELL_MOST], const json_t *value)
{
    if (json_is_string(value)) {
        snprintf(text, CELL_MOST, "%s", json_string_value(value));
    } else if (json_is_real(value)) {
        snprintf(text, CELL_MOST, "%.6g", json_real_value(value));
    } else {
        const size_t n =
            json_dumpb(value, text, CELL_MOST - 1, JSON_ENCODE_ANY | JSON_COMPACT);
        text[n < CELL_MOST ? n : CELL_MOST - 1] = 0;
    }
}

static void print_lines(json_t *row)
{
    const char *key;
    json_t *value;
    int width = 0;
    json_object_foreach(row, key, value)
    {
        if ((int)strlen(key) > width) width = (int)strlen(key);
    }
    json_object_foreach(row, key, value)
    {
        char text[CELL_MOST];
        cell_text(text, value);
        printf("%-*s  %s\n", width, key, text);
    }
}

/* The width of each column: the first row's keys are the columns. */
static void measure(int width[COLUMNS_MOST], json_t *rows)
{
    const char *key;
    json_t *unused;
    int column = 0;
    json_object_foreach(json_array_get(rows, 0), key, unused)
    {
        if (column == COLUMNS_MOST) return;
        width[column] = (int)strlen(key);
        for (size_t i = 0; i < json_array_size(rows); i++) {
            char text[CELL_MOST];
            cell_text(text, json_object_get(json_array_get(rows, i), key));
            const int length = (int)strlen(text);
            if (length > width[column]) width[column] = length;
        }
        column++;
    }
}

static void print_cell(const char *text, int width, bool number, bool last)
{
    if (last && !number) printf("%s\n", text);
    else printf(number ? "%*s%s" : "%-*s%s", width, text, last ? "\n" : "  ");
}

static void print_table(json_t *rows)
{
    int width[COLUMNS_MOST] = { 0 };
    measure(width, rows);
    json_t *first = json_array_get(rows, 0);
    const int columns = (int)json_object_size(first);
    const char *key;
    json_t *value;
    int column = 0;
    json_object_foreach(first, key, value)
    {
        print_cell(key, width[column], json_is_number(value), column == columns - 1);
        column++;
    }
    for (size_t i = 0; i < json_array_size(rows); i++) {
        column = 0;
        json_object_foreach(first, key, value)
        {
            char text[CELL_MOST];
            json_t *cell = json_object_get(json_array_get(rows, i), key);
            cell_text(text, cell);
            print_cell(text, width[column], json_is_number(value), column == columns - 1);
            column++;
        }
    }
}

bool emit_end(struct emitter *e)
{
    if (e->rows && json_array_size(e->rows) == 1) print_lines(json_array_get(e->rows, 0));
    else if (e->rows) print_table(e->rows);
    json_decref(e->rows);
    e->rows = NULL;
    return fflush(stdout) == 0 && !ferror(stdout);
}

json_t *json_number(double x)
{
    if (isfinite(x)) return json_real(x);
    return json_string(isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
}

json_t *json_count(size_t n) { return json_integer((json_int_t)n); }

json_t *json_encoding(uint64_t encoding, int bits)
{
    return json_sprintf("0x%0*llx", (bits + 3) / 4, (unsigned long long)encoding);
}

json_t *json_text(const char *text)
{
    char copy[CELL_MOST];
    json_t *value = json_string(text);
    if (value) return value;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c > 127) *c = '?';
    return json_string(copy);
}

json_t *json_seed(uint64_t seed)
{
    if (seed <= INT64_MAX) return json_integer((json_int_t)seed);
    return json_sprintf("%llu", (unsigned long long)seed);
}
