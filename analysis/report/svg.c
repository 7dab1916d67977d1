/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/report/svg.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Parts that a page does not need, from the first text to the second. */
static const struct {
    const char *first, *last;
} hidden[] = {
    { "<title>", "</title>" },
    { "<desc>", "</desc>" },
    { "<filter ", "</filter>" },
    { "<rect x=\"0\" y=\"0\"", "/>" }, /* the background */
};

/* Attributes that the page sets once for all elements. */
static const char *const attributes[] = {
    "fill=\"none\"",
    "color=\"black\"",
    "color=\"gray\"",
    "stroke=\"currentColor\"",
    "stroke=\"black\"",
    "stroke='black'",
    "stroke-width=\"1.00\"",
    "stroke-linecap=\"butt\"",
    "stroke-linejoin=\"miter\"",
    "stroke=\"none\" fill=\"black\"", /* of text */
    "font-family=\"sans-serif\"",
    "font-size=\"12.00\"",
    "stroke='rgb(200, 200, 200)' stroke-dasharray='2,4'", /* of grid lines */
    "xmlns:xlink=\"http://www.w3.org/1999/xlink\"",
    "xlink:",
};

enum {
    HIDDEN = sizeof hidden / sizeof hidden[0],
    ATTRIBUTES = sizeof attributes / sizeof attributes[0]
};

static bool starts(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

static const char *after_blanks(const char *at)
{
    while (isspace((unsigned char)*at)) at++;
    return at;
}

/* The position after such a part, or `at`. */
static const char *after_hidden(const char *at)
{
    for (int i = 0; i < HIDDEN; i++) {
        const char *const last =
            starts(at, hidden[i].first) ? strstr(at, hidden[i].last) : NULL;
        if (last) return last + strlen(hidden[i].last);
    }
    if (!starts(at, "<g")) return at;
    const char *const end = strchr(at, '>');
    const char *const next = end ? after_blanks(end + 1) : at;
    return starts(next, "</g>") ? next + strlen("</g>") : at;
}

/* The position after an attribute that the page sets, or `at`. */
static const char *after_attribute(const char *at)
{
    for (int i = 0; i < ATTRIBUTES; i++)
        if (starts(at, attributes[i])) return at + strlen(attributes[i]);
    return at;
}

/* The tag of an element without its '>'.  Returns the position of the '>'. */
static const char *write_tag(FILE *to, const char *at)
{
    while (*at && *at != '>') {
        if (isspace((unsigned char)*at)) {
            at = after_blanks(at);
            const char *const next = after_attribute(at);
            if (next > at ? !strchr("> \n", *next) : !strchr(">/'", *at)) fputc(' ', to);
            at = next;
        } else {
            fputc(*at, to);
            if (strchr(",(", *at++)) at = after_blanks(at);
        }
    }
    return at;
}

void svg_write(FILE *to, const char *svg)
{
    const char *at = strstr(svg, "<svg");
    while (at && *at) {
        const char *const shown = after_hidden(at);
        if (shown > at) at = after_blanks(shown);
        else if (*at == '<') at = write_tag(to, at);
        else if (starts(at, ">\n")) {
            fputc('>', to);
            at = after_blanks(at + 1);
        } else fputc(*at++, to);
    }
}

int svg_width(const char *svg)
{
    static const char key[] = "width=\"";
    const char *const element = svg ? strstr(svg, "<svg") : NULL;
    const char *const width = element ? strstr(element, key) : NULL;
    return width ? atoi(width + strlen(key)) : 0;
}
