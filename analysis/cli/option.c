/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/option.h"

#include "analysis/cli/screen.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/io/decimal.h"
#include "lib/number/bits.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_QUOTED = 60 };

/* The kinds of numbers in options. */
#define COUNT   "a whole number below 2^64 such as 1000"
#define INTEGER "a whole number below 2^31 such as 8"
#define NUMBER  "a number such as 1.5 or -2e-3"

static struct table option_table(const struct option_row *rows)
{
    return (struct table){ rows, sizeof *rows };
}

static bool is_short(const struct option_row *row) { return row->name[1] == 0; }

static const char *dashes(const struct option_row *row)
{
    return is_short(row) ? "-" : "--";
}

static enum bitcut_status bad_value(const struct option_row *row, const char *text,
                                    const char *wanted, struct fault *f)
{
    return fault_set(f, BITCUT_BAD_ARGUMENT, "%s%s requires %s, found \"%.*s\"",
                     dashes(row), row->name, wanted, text_fit(text, WORD_QUOTED), text);
}

/* An integer without sign or blanks, in base 10 or 16. */
static bool read_unsigned(uint64_t *value, const char *text, int base)
{
    char *end;
    if (*text < '0' || *text > '9') return false;
    errno = 0;
    *value = strtoull(text, &end, base);
    return !*end && !errno;
}

/* Decimal, leading zeros or not; hexadecimal with 0x. */
static bool read_seed(uint64_t *value, const char *text)
{
    const bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    return read_unsigned(value, text, hexadecimal ? 16 : 10);
}

static bool read_count(size_t *value, const char *text)
{
    uint64_t number;
    if (!read_unsigned(&number, text, 10) || number > SIZE_MAX) return false;
    *value = (size_t)number;
    return true;
}

static bool read_number(struct option_number *value, const char *text)
{
    uint64_t f64;
    if (!decimal_read(&value->f32, text) ||
        !decimal_read_format(&f64, &formats[FORMAT_F64], text))
        return false;
    value->f64 = double_of_bits(f64);
    return true;
}

bool option_read_int(int *value, const char *text)
{
    uint64_t magnitude;
    const bool negative = *text == '-';
    if (!read_unsigned(&magnitude, text + negative, 10) ||
        magnitude > (uint64_t)INT_MAX + negative)
        return false;
    *value = (int)(negative ? -(int64_t)magnitude : (int64_t)magnitude);
    return true;
}

enum bitcut_status option_set(void *own, const struct option_row *row, const char *text,
                              struct fault *f)
{
    void *const value = row->value ? row->value : (char *)own + row->at;
    struct option_texts *const texts = value;
    struct option_counts *const counts = value;
    switch (row->kind) {
    case OPTION_FLAG: *(bool *)value = true; return BITCUT_OK;
    case OPTION_TEXT: *(const char **)value = text; return BITCUT_OK;
    case OPTION_TEXTS:
        if (texts->count == OPTION_TEXTS_MAX)
            return fault_set(f, BITCUT_BAD_ARGUMENT, "%s%s is given too often",
                             dashes(row), row->name);
        texts->text[texts->count++] = text;
        return BITCUT_OK;
    case OPTION_COUNT:
        if (!read_count(value, text)) return bad_value(row, text, COUNT, f);
        return BITCUT_OK;
    case OPTION_COUNTS:
        if (counts->count == OPTION_TEXTS_MAX)
            return fault_set(f, BITCUT_BAD_ARGUMENT, "%s%s is given too often",
                             dashes(row), row->name);
        if (!read_count(&counts->at[counts->count], text))
            return bad_value(row, text, COUNT, f);
        counts->count++;
        return BITCUT_OK;
    case OPTION_INT:
        if (!option_read_int(value, text)) return bad_value(row, text, INTEGER, f);
        return BITCUT_OK;
    case OPTION_SEED:
        if (!read_seed(value, text))
            return bad_value(row, text, "a whole number below 2^64", f);
        return BITCUT_OK;
    case OPTION_F32:
        if (!decimal_read(value, text)) return bad_value(row, text, NUMBER, f);
        return BITCUT_OK;
    case OPTION_NUMBER:
        if (!read_number(value, text)) return bad_value(row, text, NUMBER, f);
        return BITCUT_OK;
    }
    return BITCUT_OK;
}

/* The names that are similar to a name of several letters, with their dashes. */
static void near_options(char *text, size_t size, const struct option_row *rows,
                         const char *name)
{
    char near[120], *next = near;
    table_near(near, sizeof near, option_table(rows), name);
    text[0] = 0;
    while (*next) {
        const char *const one = next;
        next += strcspn(next, ",");
        if (*next) *next++ = 0;
        next += strspn(next, " ");
        const struct option_row *const row = table_find(option_table(rows), one);
        if (!row || (!one[1] && name[1])) continue;
        text_add(text, size, "%s%s%s", *text ? ", " : "", dashes(row), one);
    }
}

/* Suggestions for a word that is no option: the same name with other dashes, a short
   option with its value attached, or a similar name. */
static void meant(char *text, size_t size, const struct option_row *rows,
                  const char *word, const char *name)
{
    const char letter[] = { *name, 0 };
    const struct option_row *row = table_find(option_table(rows), name);
    const struct option_row *first = table_find(option_table(rows), letter);
    char near[120];
    near_options(near, sizeof near, rows, name);
    text[0] = 0;
    if (row) snprintf(text, size, "; did you mean %s%s?", dashes(row), name);
    else if (word[1] != '-' && first && first->argument && strpbrk(name, "0123456789./"))
        snprintf(text, size, "; write a blank before the value: -%s %s", letter,
                 name + 1);
    else if (*near) snprintf(text, size, "; did you mean %s?", near);
}

static enum bitcut_status unknown(const struct option_row *rows, const char *word,
                                  const char *name, struct fault *f)
{
    char hint[160];
    meant(hint, sizeof hint, rows, word, name);
    return fault_set(f, BITCUT_BAD_ARGUMENT, "unknown option %.*s%s",
                     text_fit(word, WORD_QUOTED), word, hint);
}

/* An option word: its name, its row (NULL: unknown), and the text after '='. */
struct option_word {
    char name[64];
    const struct option_row *row;
    const char *after; /* NULL: there is no '=' */
};

static struct option_word option_word(const struct option_row *rows, const char *word)
{
    const char *equals = strchr(word, '=');
    const char *start = word + (word[1] == '-' ? 2 : 1);
    const size_t length = equals ? (size_t)(equals - start) : strlen(start);
    struct option_word w = { .after = equals ? equals + 1 : NULL };
    snprintf(w.name, sizeof w.name, "%.*s", (int)(length < 63 ? length : 63), start);
    w.row = table_find(option_table(rows), w.name);
    if (w.row && is_short(w.row) != (word[1] != '-')) w.row = NULL;
    return w;
}

/* Whether a word is an option: it begins with a dash and is longer. */
static bool is_option(const char *word) { return word[0] == '-' && word[1]; }

/* Whether the argument of an option is the next word. */
static bool takes_next(const struct option_word *w)
{
    return w->row && w->row->kind != OPTION_FLAG && !w->after;
}

/* Read one option word, which may hold its argument after '='.  If the argument is a
   separate word, *at moves past it. */
static enum bitcut_status read_option(void *own, bool *given,
                                      const struct option_row *rows, int *at, int argc,
                                      const char *const *argv, struct fault *f)
{
    const char *word = argv[*at];
    const struct option_word w = option_word(rows, word);
    if (!w.row) return unknown(rows, word, w.name, f);
    given[w.row - rows] = true;
    if (w.row->kind == OPTION_FLAG && w.after)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "--%s takes no value", w.name);
    if (w.row->kind == OPTION_FLAG) return option_set(own, w.row, "", f);
    if (takes_next(&w) && ++*at == argc)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s requires a value", word);
    return option_set(own, w.row, w.after ? w.after : argv[*at], f);
}

enum bitcut_status options_read(void *own, bool *given, const char **operands,
                                int *operand_count, int operands_most,
                                const struct option_row *rows, int argc,
                                const char *const *argv, struct fault *f)
{
    bool only_operands = false;
    *operand_count = 0;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (!only_operands && !strcmp(word, "--")) {
            only_operands = true;
        } else if (!only_operands && is_option(word)) {
            const enum bitcut_status status =
                read_option(own, given, rows, &i, argc, argv, f);
            if (status != BITCUT_OK) return status;
        } else if (*operand_count == operands_most) {
            return fault_set(f, BITCUT_BAD_ARGUMENT, "unexpected argument \"%.*s\"",
                             text_fit(word, WORD_QUOTED), word);
        } else {
            operands[(*operand_count)++] = word;
        }
    }
    return BITCUT_OK;
}

void *options_init(size_t size, const void *defaults)
{
    void *const own = calloc(1, size ? size : 1);
    if (own && defaults) memcpy(own, defaults, size);
    return own;
}

char *options_join(const char *program, const struct option_row *rows, const char *but,
                   const char *const *more, int more_count, int argc,
                   const char *const *argv)
{
    bool only_operands = false;
    size_t length = strlen(program) + 1;
    for (int i = 0; i < more_count; i++) length += strlen(more[i]) + 1;
    for (int i = 0; i < argc; i++) length += strlen(argv[i]) + 1;
    char *line = memory_allocate(length, 1);
    if (!line) return NULL;
    strcat(strcat(strcpy(line, program), " "), argv[0]);
    for (int i = 0; i < more_count; i++) strcat(strcat(line, " "), more[i]);
    for (int i = 1; i < argc; i++) {
        only_operands |= !strcmp(argv[i], "--");
        const bool option = !only_operands && is_option(argv[i]);
        const struct option_word w =
            option ? option_word(rows, argv[i]) : (struct option_word){ 0 };
        const bool dropped = w.row && !strcmp(w.row->name, but);
        const int last = takes_next(&w) && i + 1 < argc ? i + 1 : i;
        for (; !dropped && i <= last; i++) strcat(strcat(line, " "), argv[i]);
        i = last;
    }
    return line;
}

/* --- options without effect ------------------------------------------------------- */

const struct option_use *option_misused(const bool *given, const struct option_row *rows,
                                        const struct option_use *uses, unsigned use)
{
    for (; uses->name; uses++) {
        const struct option_row *row = table_find(option_table(rows), uses->name);
        assert(row);
        if (given[row - rows] && !(uses->uses & use)) return uses;
    }
    return NULL;
}

bool option_tile(int side[3], const char *text, int sides, int least, int most)
{
    int x[3] = { 0 };
    for (int i = 0; i < 3; i++) {
        char *end;
        if (*text < '0' || *text > '9') return false;
        if (*text == '0' && text[1] >= '0' && text[1] <= '9') return false;
        const unsigned long value = strtoul(text, &end, 10);
        if (value < (unsigned long)least || value > (unsigned long)most) return false;
        x[i] = (int)value;
        if (!*end && i + 1 >= sides) {
            memcpy(side, x, sizeof x);
            return true;
        }
        if (*end != 'x') return false;
        text = end + 1;
    }
    return false;
}

void options_print_line(const char *name, int width, const char *what)
{
    const int length = (int)strlen(name);
    printf("  %-*s ", width, name);
    screen_wrap(screen_columns(SCREEN_TYPICAL), (length < width ? width : length) + 3, 2,
                what, SCREEN_NEUTRAL);
}

void options_print(const struct option_row *rows)
{
    for (; rows->name; rows++) {
        char left[64];
        snprintf(left, sizeof left, "%s%s%s%s", dashes(rows), rows->name,
                 rows->argument ? " " : "", rows->argument ? rows->argument : "");
        options_print_line(left, OPTION_WIDTH, rows->what);
    }
}

/* --- writing ---------------------------------------------------------------------- */

void options_write_word(char *text, size_t size, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_./,:=+-@%";
    text_add(text, size, " ");
    if (*word && !word[strspn(word, plain)]) {
        text_add(text, size, "%s", word);
        return;
    }
    text_add(text, size, "'");
    for (; *word; word++) text_add(text, size, *word == '\'' ? "'\\''" : "%c", *word);
    text_add(text, size, "'");
}

static void write_value(char *text, size_t size, const void *at, enum option_kind kind)
{
    char number[40];
    float x;
    switch (kind) {
    case OPTION_COUNT: snprintf(number, sizeof number, "%zu", *(const size_t *)at); break;
    case OPTION_INT: snprintf(number, sizeof number, "%d", *(const int *)at); break;
    case OPTION_NUMBER: /* its FP32 encoding comes first */
    case OPTION_F32:
        memcpy(&x, at, sizeof x);
        snprintf(number, sizeof number, "%.9g", (double)x);
        break;
    default: options_write_word(text, size, *(const char *const *)at); return;
    }
    options_write_word(text, size, number);
}

void options_write(char *text, size_t size, const void *own, const bool *given,
                   const struct option_row *rows, size_t from, size_t to,
                   const char *const *but)
{
    for (size_t i = 0; rows[i].name; i++) {
        const struct option_row *const row = &rows[i];
        const char *const *not = but;
        while (*not &&strcmp(*not, row->name)) not ++;
        if (!given[i] || row->value || row->at < from || row->at >= to || *not ) continue;
        text_add(text, size, row->name[1] ? " --%s" : " -%s", row->name);
        if (row->kind != OPTION_FLAG)
            write_value(text, size, (const char *)own + row->at, row->kind);
    }
}
