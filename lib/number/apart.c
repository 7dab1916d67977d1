/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/number/apart.h"

#include "lib/base/text.h"

void encoding_said(char text[ENCODING_MAX], const struct bitcut_format *f,
                   uint64_t encoding)
{
    const double x = format_to_double(f, encoding);
    snprintf(text, ENCODING_MAX, "0x%0*llx = %a = %.9g", (f->bits + 3) / 4,
             (unsigned long long)encoding, x, x);
}

/* Describe two numbers whose difference is not described by a distance.  If it is, write
   nothing. */
static void differ(char *text, size_t size, enum number_class x, enum number_class y)
{
    static const char *const one[] = { "a number", "a number", "an infinity", "a NaN" };
    static const char *const both[] = { "zeros of different signs", "",
                                        "infinities of different signs",
                                        "NaNs of different bits" };
    if (x == y) text_add(text, size, "%s", both[x]);
    else if (x >= NUMBER_INF || y >= NUMBER_INF)
        text_add(text, size, "%s against %s", one[x], one[y]);
}

struct apart apart_of(const struct bitcut_format *f, uint64_t model, uint64_t other)
{
    const enum number_class x = format_decode(f, model).kind,
                            y = format_decode(f, other).kind;
    const int64_t a = format_along_line(f, model), b = format_along_line(f, other);
    struct apart apart = { .finite = x < NUMBER_INF && y < NUMBER_INF,
                           .steps = a > b ? (uint64_t)a - (uint64_t)b
                                          : (uint64_t)b - (uint64_t)a };
    encoding_said(apart.model, f, model);
    encoding_said(apart.other, f, other);
    differ(apart.differ, sizeof apart.differ, x, y);
    return apart;
}

void apart_describe(char *text, size_t size, const struct apart *a, const char *other,
                    const char *model, bool distance)
{
    text_add(text, size, "%s has %s, %s %s", other, a->other, model, a->model);
    if (distance && *a->differ) text_add(text, size, ": %s", a->differ);
    else if (distance)
        text_add(text, size, ": %llu ulp%s apart", (unsigned long long)a->steps,
                 a->steps == 1 ? "" : "s");
}
