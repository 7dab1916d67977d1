/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/base/table.h"

#include <stdio.h>
#include <string.h>

enum { NEAR_MAX = 4, NAME_LENGTH_MAX = 63 };

static int length(const char *s)
{
    size_t n = strlen(s);
    return n < NAME_LENGTH_MAX ? (int)n : NAME_LENGTH_MAX;
}

static const void *next_listed(const void *const *at, const void *row)
{
    while (row && *at++ != row) continue;
    return *at;
}

const void *table_next(struct table t, const void *row)
{
    if (t.row_size == sizeof(void *)) return next_listed(t.rows, row);
    const char *next = row ? (const char *)row + t.row_size : t.rows;
    return ((const struct table_row *)(const void *)next)->name ? next : NULL;
}

const void *table_find(struct table t, const char *name)
{
    const struct table_row *row = NULL;
    while (name && (row = table_next(t, row)))
        if (!strcmp(row->name, name)) return row;
    return NULL;
}

/* Levenshtein distance. */
static int distance(const char *a, const char *b)
{
    const int la = length(a), lb = length(b);
    int row[NAME_LENGTH_MAX + 1];
    for (int j = 0; j <= lb; j++) row[j] = j;
    for (int i = 1; i <= la; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= lb; j++) {
            const int replace = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            const int gap = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = replace < gap ? replace : gap;
        }
    }
    return row[lb];
}

/* The first NAME_LENGTH_MAX characters in small letters. */
static void fold(char folded[NAME_LENGTH_MAX + 1], const char *name)
{
    const int n = length(name);
    for (int i = 0; i < n; i++)
        folded[i] =
            (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a' : name[i]);
    folded[n] = 0;
}

/* Distance of two names: 0 if only the case of letters differs, 1 if one name contains
   the other, otherwise the edit distance. */
static int farness(const char *name, const char *wanted)
{
    char a[NAME_LENGTH_MAX + 1], b[NAME_LENGTH_MAX + 1];
    fold(a, name);
    fold(b, wanted);
    if (!strcmp(a, b)) return 0;
    return *b && (strstr(a, b) || strstr(b, a)) ? 1 : distance(a, b);
}

void table_near(char *text, size_t size, struct table t, const char *name)
{
    const int limit = length(name) / 3 + 1;
    size_t used = 0;
    int found = 0;
    text[0] = 0;
    for (int far = 0; far <= limit; far++) {
        const struct table_row *row = NULL;
        while ((row = table_next(t, row)) && found < NEAR_MAX) {
            if (farness(row->name, name) != far) continue;
            const size_t n = strlen(row->name);
            if (used + n + 3 > size) return;
            if (used) memcpy(text + used, ", ", 2), used += 2;
            memcpy(text + used, row->name, n + 1);
            used += n;
            found++;
        }
    }
}

void table_names(char *text, size_t size, struct table t)
{
    const struct table_row *row = NULL;
    size_t used = 0;
    text[0] = 0;
    while ((row = table_next(t, row))) {
        const size_t left = size - used;
        const int n = snprintf(text + used, left, "%s%s", used ? ", " : "", row->name);
        if (n < 0 || (size_t)n >= left) {
            text[0] = 0;
            return;
        }
        used += (size_t)n;
    }
}

void table_hint(char text[TABLE_HINT_MAX], struct table t, const char *name)
{
    char names[176];
    text[0] = 0;
    table_near(names, sizeof names, t, name);
    if (*names) {
        snprintf(text, TABLE_HINT_MAX, "; did you mean %s?", names);
        return;
    }
    table_names(names, sizeof names, t);
    if (*names) snprintf(text, TABLE_HINT_MAX, "; choose one of %s", names);
}
