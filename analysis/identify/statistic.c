/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/statistic.h"

#include "lib/number/elementary.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the sums of PyTorch ------------------------------------------------------------ */

/* The numbers of a sum, and its arithmetic: FP32, or binary64. */
struct summand {
    double (*at)(const struct statistic_data *x, size_t i);
    bool single;
    int lanes; /* numbers in a vector of 32 bytes */
};

/* PyTorch has longer levels from 2^20 rows on. */
enum { LEVELS = 4, LEVEL_ROWS = 16, VECTORS = 4, LANES_MAX = 8 };

static double f32(double x) { return double_of_f32(f32_of_double(x)); }

static double add(const struct summand *s, double x, double y)
{
    return s->single ? f32(x + y) : x + y;
}

/* Add the sums of each level to the next one, where the number of rows so far is a
   multiple of its length, LEVEL_ROWS to the power of the level. */
static void levels_carry(double sum[LEVELS][VECTORS * LANES_MAX], const struct summand *s,
                         size_t rows)
{
    for (int level = 1; level < LEVELS; level++) {
        for (int e = 0; e < VECTORS * s->lanes; e++) {
            sum[level][e] = add(s, sum[level][e], sum[level - 1][e]);
            sum[level - 1][e] = 0;
        }
        rows /= LEVEL_ROWS;
        if (rows % LEVEL_ROWS) break;
    }
}

/* Rows of VECTORS vectors in a cascade of LEVELS sums; then the vectors that are left,
   the vectors of a row, the numbers that are left and the lanes. */
static double torch_sum(const struct summand *s, const struct statistic_data *x)
{
    double sum[LEVELS][VECTORS * LANES_MAX] = { { 0 } }, total = 0;
    const size_t lanes = (size_t)s->lanes, width = VECTORS * lanes;
    const size_t vectors = x->count / lanes, rows = vectors / VECTORS;
    for (size_t i = 0; i < rows; i++) {
        for (size_t e = 0; e < width; e++)
            sum[0][e] = add(s, sum[0][e], s->at(x, i * width + e));
        if ((i + 1) % LEVEL_ROWS == 0) levels_carry(sum, s, i + 1);
    }
    for (int level = 1; level < LEVELS; level++)
        for (size_t e = 0; e < width; e++) sum[0][e] = add(s, sum[0][e], sum[level][e]);
    for (size_t i = rows * width; i < vectors * lanes; i++)
        sum[0][i % lanes] = add(s, sum[0][i % lanes], s->at(x, i));
    for (size_t e = lanes; e < width; e++)
        sum[0][e % lanes] = add(s, sum[0][e % lanes], sum[0][e]);
    for (size_t i = vectors * lanes; i < x->count; i++)
        total = add(s, total, s->at(x, i));
    for (size_t e = 0; e < lanes; e++) total = add(s, total, sum[0][e]);
    return total;
}

/* --- the statistics ----------------------------------------------------------------- */

static double error_at(const struct statistic_data *x, size_t i)
{
    return f32(double_of_f32(x->d[i]) - double_of_f32(x->exact[i]));
}

static double square_at(const struct statistic_data *x, size_t i)
{
    const double error = error_at(x, i);
    return error * error;
}

static double rms_of(const struct statistic_data *x)
{
    static const struct summand squares = { square_at, false, 4 };
    return sqrt(torch_sum(&squares, x) / (double)x->count);
}

static double mean_of(const struct statistic_data *x)
{
    static const struct summand errors = { error_at, true, 8 };
    return f32(torch_sum(&errors, x) / (double)x->count);
}

/* The larger one; NaN if one of them is NaN. */
static double larger(double x, double y) { return x > y || x != x ? x : y; }

static double max_of(const struct statistic_data *x)
{
    double most = 0;
    for (size_t i = 0; i < x->count; i++) most = larger(most, fabs(error_at(x, i)));
    return most;
}

static double largest_of(const struct statistic_data *x)
{
    double most = 0;
    for (size_t i = 0; i < x->count; i++)
        most = larger(most, fabs(double_of_f32(x->d[i])));
    return most;
}

const struct statistic statistics[STATISTICS + 1] = {
    /* clang-format off */
    [STATISTIC_RMS]     = { "rms",     "root of the mean square of D - exact", rms_of,     0x1p-48 },
    [STATISTIC_MAX]     = { "max",     "largest |D - exact|",                  max_of,     0 },
    [STATISTIC_MEAN]    = { "mean",    "mean of D - exact",                    mean_of,    0x1p-19 },
    [STATISTIC_LARGEST] = { "largest", "largest |D|",                          largest_of, 0 },
    /* clang-format on */
};

void statistics_of(double value[STATISTICS], const struct statistic_data *x)
{
    struct hostfp saved;
    hostfp_enter(&saved);
    for (int i = 0; i < STATISTICS; i++) value[i] = statistics[i].of(x);
    hostfp_leave(&saved);
}

/* --- published numbers -------------------------------------------------------------- */

/* The exponent of the last printed digit: -19 for 1.5e-18.  False: no decimal number. */
static bool last_place(int *place, const char *text)
{
    const char *s = text + (*text == '-');
    size_t digits = strspn(s, "0123456789"), after = 0;
    s += digits;
    if (*s == '.') after = strspn(++s, "0123456789");
    s += after;
    if (digits + after == 0) return false;
    long exponent = 0;
    if (*s == 'e' || *s == 'E') {
        const char *const at = s + 1 + (s[1] == '-' || s[1] == '+');
        const size_t length = strspn(at, "0123456789");
        if (length == 0 || length > 4) return false;
        exponent = strtol(s + 1, NULL, 10);
        s = at + length;
    }
    *place = (int)exponent - (int)after;
    return !*s;
}

bool published_read(struct published *p, const char *text)
{
    enum { CHARACTERS_MAX = 63 };
    int place;
    char unit[16];
    struct hostfp saved;
    if (strlen(text) > CHARACTERS_MAX || !last_place(&place, text)) return false;
    hostfp_enter(&saved);
    snprintf(unit, sizeof unit, "5e%d", place - 1);
    const double value = strtod(text, NULL), half = strtod(unit, NULL);
    hostfp_leave(&saved);
    if (!(value - value == 0)) return false;
    *p = (struct published){ true, value, half };
    return true;
}

bool statistic_agrees(int statistic, const struct published *p,
                      const double value[STATISTICS], size_t count)
{
    if (!p->given) return true;
    const double slack = count < STATISTIC_ORDER_MAX
                             ? 0
                             : statistics[statistic].slack * value[STATISTIC_RMS];
    return fabs(value[statistic] - p->value) <= p->half + slack;
}

double statistic_miss(const struct published *p, double value)
{
    if (value == p->value) return 0;
    const double miss = fabs(value / p->value - 1);
    return miss == miss ? miss : (double)INFINITY;
}
