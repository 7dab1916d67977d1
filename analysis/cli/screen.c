/* SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE /* TIOCGWINSZ */

#include "analysis/cli/screen.h"

#include "lib/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    NARROWEST = 20, /* smaller numbers of columns are raised to this */
    WIDEST = 100000,
    ROOM_MIN = 24, /* columns that a text needs after the text on its line */
    BELOW = 4
};

/* --- how wide --------------------------------------------------------------------- */

static int limit(long columns)
{
    if (!columns) return 0;
    return (int)(columns < NARROWEST ? NARROWEST : columns > WIDEST ? WIDEST : columns);
}

int screen_columns(int otherwise)
{
    const char *const text = getenv("COLUMNS");
    struct winsize size = { 0 };
    char *end;
    if (text && *text >= '0' && *text <= '9') {
        const long columns = strtol(text, &end, 10);
        if (!*end) return limit(columns);
    }
    if (!isatty(STDOUT_FILENO)) return otherwise;
    return !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col ? limit(size.ws_col)
                                                                   : SCREEN_TYPICAL;
}

/* --- colours ---------------------------------------------------------------------- */

static bool has_colours(void)
{
    const char *const term = getenv("TERM"), *const none = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0 && !(none && *none);
}

void screen_begin(enum screen_verdict verdict)
{
    static const char *const begin[] = { [SCREEN_GOOD] = "\033[32m",
                                         [SCREEN_BAD] = "\033[31m" };
    if (verdict && has_colours()) fputs(begin[verdict], stdout);
}

void screen_end(enum screen_verdict verdict)
{
    if (verdict && has_colours()) fputs("\033[0m", stdout);
}

/* --- wrapping --------------------------------------------------------------------- */

/* The columns of a text up to `end`. */
static int columns_of(const char *text, const char *end)
{
    char shown[TEXT_BYTES];
    int n = 0;
    while (text < end && text_next(shown, &text)) n++;
    return n;
}

static void print_until(const char *text, const char *end)
{
    char shown[TEXT_BYTES];
    while (text < end && text_next(shown, &text)) text_put(stdout, shown);
}

static void begin_line(int blanks) { printf("\n%*s", blanks, ""); }

/* Print word by word, with the blanks before each.  The cursor is after `at` columns. */
static void wrap_words(int columns, int at, const char *text)
{
    static const char command[] = "bitcut ";
    const bool copied = !strncmp(text, command, strlen(command));
    const int room = columns - (copied ? 2 : 0);
    int column = at;
    while (*text) {
        const char *const word = text + strspn(text, " ");
        const char *const end = word + strcspn(word, " ");
        if (column > at && column + columns_of(text, end) > room) {
            if (copied) fputs(" \\", stdout);
            begin_line(at);
            text = word;
            column = at;
        }
        print_until(text, end);
        column += columns_of(text, end);
        text = end;
    }
}

void screen_wrap(int columns, int at, int indent, const char *text,
                 enum screen_verdict verdict)
{
    const char *const end = text + strlen(text);
    screen_begin(verdict);
    if (!columns || at + columns_of(text, end) <= columns) {
        print_until(text, end);
    } else {
        const bool below = columns - at < ROOM_MIN;
        if (below) begin_line(indent + BELOW);
        wrap_words(columns, below ? indent + BELOW : at, text);
    }
    screen_end(verdict);
    putchar('\n');
}
