#include "analysis/show.h"

#include "analysis/emit.h"

json_t *show_encoding(const struct bitcut_format *f, uint64_t encoding)
{
    const double x = format_to_double(f, encoding);
    return json_sprintf("0x%0*llx = %a = %.9g", (f->bits + 3) / 4,
                        (unsigned long long)encoding, x, x);
}

/* Encodings as integers that grow along the line of a format's finite values. */
static int64_t along_line(const struct bitcut_format *f, uint64_t encoding)
{
    const uint64_t sign = f->has_sign ? UINT64_C(1) << (f->bits - 1) : 0;
    const int64_t magnitude = (int64_t)((encoding & ~sign) >> f->pad);
    return encoding & sign ? -magnitude : magnitude;
}

/* What two numbers are of which no distance says how they differ; NULL: one does. */
static json_t *differ(enum number_class x, enum number_class y)
{
    static const char *const one[] = { "a number", "a number", "an infinity", "a NaN" };
    static const char *const both[] = { "zeros of different signs", NULL,
                                        "infinities of different signs",
                                        "NaNs of different bits" };
    if (x == y) return both[x] ? json_string(both[x]) : NULL;
    if (x < NUMBER_INF && y < NUMBER_INF) return NULL;
    return json_sprintf("%s against %s", one[x], one[y]);
}

void show_distance(json_t *row, const struct bitcut_format *f, uint64_t x, uint64_t y)
{
    const enum number_class of_x = format_decode(f, x).kind,
                            of_y = format_decode(f, y).kind;
    const int64_t a = along_line(f, x), b = along_line(f, y);
    const uint64_t steps = a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
    const bool finite = of_x < NUMBER_INF && of_y < NUMBER_INF;
    json_t *words = differ(of_x, of_y);
    json_object_set_new(row, "ulps", finite ? json_whole(false, steps) : json_null());
    if (words) json_object_set_new(row, "differ", words);
}
