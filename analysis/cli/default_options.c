/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* secure_getenv() */

#include "analysis/cli/default_options.h"

#include "lib/base/text.h"
#include "lib/io/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 4096, WORDS_MAX = 64, DEFAULTS = DEFAULT_WORDS_MAX / 2 };

static const char *value_of[DEFAULTS];

/* Limits of the text. */
static const struct option_row rows[DEFAULTS + 1] = {
    { "recipe", "", .kind = OPTION_TEXT, .value = &value_of[0], .argument = "R" },
    { "unit", "", .kind = OPTION_TEXT, .value = &value_of[1], .argument = "U" },
    { "seed", "", .kind = OPTION_TEXT, .value = &value_of[2], .argument = "N" },
    { "threads", "", .kind = OPTION_TEXT, .value = &value_of[3], .argument = "N" },
    { 0 }
};

#define VARIABLE "BITCUT_DEFAULTS"

static char text[BYTES_MAX]; /* the words, each terminated by a zero byte */
static char source[BYTES_MAX] = VARIABLE;
static char option[DEFAULTS][16]; /* the options as words: "--recipe" */
static bool applied[DEFAULTS];

/* --- the text --------------------------------------------------------------------- */

static enum bitcut_status bad(struct fault *f, const char *why)
{
    return fault_set(f, BITCUT_BAD_ARGUMENT, "%.*s: %s", text_fit(source, 120), source,
                     why);
}

/* The path of the file, in `source`.  Returns false if there is no configuration folder.
 */
static bool find_path(void)
{
    const char *const folder = secure_getenv("XDG_CONFIG_HOME");
    const char *const home = secure_getenv("HOME");
    const bool named = folder && *folder == '/';
    if (!named && !(home && *home)) return false;
    const int length = snprintf(source, sizeof source, "%s%s/bitcut/defaults",
                                named ? folder : home, named ? "" : "/.config");
    return length < (int)sizeof source;
}

/* A file that cannot be read, for example one of another user, sets no defaults. */
static enum bitcut_status read_file(struct fault *f)
{
    struct fault why;
    char *bytes;
    size_t size;
    if (!find_path()) return BITCUT_OK;
    const enum bitcut_status status =
        stream_read_file(&bytes, &size, source, sizeof text - 1, &why);
    if (status == BITCUT_UNSUPPORTED) return BITCUT_OK;
    if (status != BITCUT_OK) return bad(f, why.text);
    memcpy(text, bytes, size);
    free(bytes);
    return strlen(text) == size ? BITCUT_OK : bad(f, "contains a zero byte");
}

static enum bitcut_status read_text(struct fault *f)
{
    const char *const named = secure_getenv(VARIABLE);
    if (!named) return read_file(f);
    if (strlen(named) >= sizeof text) return bad(f, "is longer than 4095 bytes");
    strcpy(text, named);
    return BITCUT_OK;
}

/* Split the text into words[1..*count); # begins a comment, up to the end of the line. */
static bool find_words(const char *words[WORDS_MAX], int *count)
{
    static const char blanks[] = " \t\r\n";
    char *at = text;
    *count = 1;
    words[0] = source;
    while (*(at += strspn(at, blanks))) {
        char *const word = at;
        at += *at == '#' ? strcspn(at, "\n") : strcspn(at, blanks);
        const bool last = !*at;
        *at = 0;
        if (*word != '#' && *count == WORDS_MAX) return false;
        if (*word != '#') words[(*count)++] = word;
        if (last) return true;
        at++;
    }
    return true;
}

static enum bitcut_status read_defaults(struct fault *f)
{
    const char *words[WORDS_MAX], *operands[1];
    bool given[DEFAULTS] = { false };
    struct fault why;
    int count;
    const enum bitcut_status status = read_text(f);
    if (status != BITCUT_OK) return status;
    if (!find_words(words, &count)) return bad(f, "has too many words");
    if (options_read(NULL, given, operands, &(int){ 0 }, 0, rows, count, words, &why) ==
        BITCUT_OK)
        return BITCUT_OK;
    fault_set(&why, why.status, "%s; only --recipe, --unit, --seed and --threads have defaults",
              why.text);
    return bad(f, why.text);
}

/* --- the options ------------------------------------------------------------------ */

/* The row of a command that takes the default; NULL: it has no such option, or a value
   was given. */
static const struct option_row *row_of(const char *name, const bool *given,
                                       const struct option_row *of)
{
    for (int i = 0; of[i].name; i++)
        if (!strcmp(of[i].name, name)) return of[i].has_default && !given[i] ? &of[i] : NULL;
    return NULL;
}

enum bitcut_status default_options_apply(void *own, const bool *given,
                                         const struct option_row *of,
                                         const char *words[DEFAULT_WORDS_MAX], int *count,
                                         struct fault *f)
{
    enum bitcut_status status = read_defaults(f);
    *count = 0;
    for (int i = 0; status == BITCUT_OK && i < DEFAULTS; i++) {
        struct fault why;
        const char *const value = value_of[i];
        const struct option_row *const row = value ? row_of(rows[i].name, given, of) : NULL;
        if (!row) continue;
        status = option_set(own, row, value, &why);
        if (status != BITCUT_OK) return bad(f, why.text);
        snprintf(option[i], sizeof option[i], "--%s", row->name);
        applied[i] = true;
        words[(*count)++] = option[i];
        words[(*count)++] = value;
    }
    return status;
}

const char *default_options_source(const char *name)
{
    for (int i = 0; i < DEFAULTS; i++)
        if (applied[i] && !strcmp(option[i], name)) return source;
    return NULL;
}
