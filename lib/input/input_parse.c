/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/input/input.h"

#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/io/decimal.h"
#include "lib/number/elementary.h"

#include <stdio.h>
#include <string.h>

enum { NUMBER_MAX = 63, QUOTED_MAX = 40 };

/* A piece of a text. */
struct piece {
    const char *at;
    int length;
};

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static const char *skip_blanks(const char *s)
{
    while (is_blank(*s)) s++;
    return s;
}

/* The text from *at up to the next ',' or ')', without blanks at its ends; *at moves past
   the separator. */
static struct piece piece_next(const char **at)
{
    const char *start = skip_blanks(*at), *end = start + strcspn(start, ",)");
    *at = end + (*end != 0);
    while (end > start && is_blank(end[-1])) end--;
    return (struct piece){ .at = start, .length = (int)(end - start) };
}

static bool number_read(double *x, struct piece piece)
{
    char text[NUMBER_MAX + 1];
    uint32_t encoding;
    if (piece.length > NUMBER_MAX) return false;
    snprintf(text, sizeof text, "%.*s", piece.length, piece.at);
    if (!decimal_read(&encoding, text)) return false;
    *x = double_of_f32(encoding);
    return true;
}

static int quoted(struct piece p)
{
    return text_fit(p.at, p.length < QUOTED_MAX ? p.length : QUOTED_MAX);
}

static enum bitcut_status parameter_read(double *value, const struct input_family *family,
                                         int index, struct piece piece, struct fault *f)
{
    const struct input_parameter *p = &family->parameter[index];
    const struct input_domain *domain = p->domain;
    double x;
    if (!number_read(&x, piece))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s: expected a number for %s, found \"%.*s\"", family->name,
                         p->name, quoted(piece), piece.at);
    if (!(x >= domain->lowest && x <= domain->highest) ||
        (domain->integer && x != (double)(int64_t)x))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s: %s = %.*s must be %s", family->name,
                         p->name, quoted(piece), piece.at, domain->text);
    *value = x;
    return BITCUT_OK;
}

static enum bitcut_status count_fault(const struct input_family *family, int count,
                                      struct fault *f)
{
    char names[80] = "";
    for (int i = 0; i < family->parameters; i++)
        text_append(names, sizeof names, family->parameter[i].name);
    if (family->parameters == 0)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s takes no parameters", family->name);
    return fault_set(f, BITCUT_BAD_ARGUMENT, "%s takes %d parameter%s (%s), not %d",
                     family->name, family->parameters, family->parameters > 1 ? "s" : "",
                     names, count);
}

/* The number of parameters between the parentheses that enclose `at`. */
static int parameters_count(const char *at)
{
    int count = *skip_blanks(at) != ')';
    for (; *at != ')'; at++) count += *at == ',';
    return count;
}

/* Read the parameters and the ')' at *at. */
static enum bitcut_status parameters_read(struct input *in, const char **at,
                                          struct fault *f)
{
    const struct input_family *family = in->family;
    if (!strchr(*at, ')'))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s: missing ')'", family->name);
    const int count = parameters_count(*at);
    if (count != family->parameters) return count_fault(family, count, f);

    struct piece piece[INPUT_PARAMETERS_MAX] = { { 0 } };
    for (int i = 0; i < count; i++) {
        piece[i] = piece_next(at);
        const enum bitcut_status status =
            parameter_read(&in->parameter[i], family, i, piece[i], f);
        if (status) return status;
    }
    if (count == 0) *at = strchr(*at, ')') + 1;
    if (family->ordered && in->parameter[0] > in->parameter[1])
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s: %s = %.*s is greater than %s = %.*s", family->name,
                         family->parameter[0].name, quoted(piece[0]), piece[0].at,
                         family->parameter[1].name, quoted(piece[1]), piece[1].at);
    return BITCUT_OK;
}

/* Report that no row of `table` is called `name`, with similar names. */
static enum bitcut_status unknown_fault(struct table table, const char *kind,
                                        const char *name, struct fault *f)
{
    char near[120];
    table_near(near, sizeof near, table, name);
    return fault_set(f, BITCUT_BAD_ARGUMENT, "unknown %s \"%s\"%s%s%s", kind, name,
                     *near ? "; did you mean " : "", near, *near ? "?" : "");
}

enum bitcut_status input_parse(struct input *in, const char *text, struct fault *f)
{
    const char *at = skip_blanks(text);
    const size_t length_of_name = strcspn(at, " \t(");
    char name[QUOTED_MAX + 1] = "";
    const struct piece first = { .at = at, .length = (int)length_of_name };
    snprintf(name, sizeof name, "%.*s", quoted(first), first.at);
    struct input new = { .family = table_find(TABLE(inputs), name) };
    if (!new.family) return unknown_fault(TABLE(inputs), "input", name, f);
    for (int i = 0; i < INPUT_PARAMETERS_MAX; i++)
        new.parameter[i] = new.family->parameter[i].standard;

    at = skip_blanks(at + length_of_name);
    if (*at == '(') {
        at++;
        const enum bitcut_status status = parameters_read(&new, &at, f);
        if (status) return status;
    }
    at = skip_blanks(at);
    if (*at)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s: unexpected text \"%.*s\"", name,
                         text_fit(at, QUOTED_MAX), at);
    *in = new;
    return BITCUT_OK;
}

enum bitcut_status input_pair_parse(struct input *a, struct input *b, const char *name,
                                    struct fault *f)
{
    const struct input_pair *pair = table_find(TABLE(input_pairs), name);
    if (!pair) return unknown_fault(TABLE(input_pairs), "pair of inputs", name, f);
    struct input new_a, new_b;
    const enum bitcut_status status = input_parse(&new_a, pair->a, f);
    if (status) return status;
    const enum bitcut_status status_b = input_parse(&new_b, pair->b, f);
    if (status_b) return status_b;
    *a = new_a;
    *b = new_b;
    return BITCUT_OK;
}
