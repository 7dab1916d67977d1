/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that uses only the installed header, in C and in C++. */
#include <bitcut.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 1 + 2^-11 is halfway between two f16 numbers: to even is 1. */
static int converts(void)
{
    const struct bitcut_format *f32 = bitcut_format_find("f32");
    const struct bitcut_format *f16 = bitcut_format_find("f16");
    const struct bitcut_rounding *rn = bitcut_rounding_find("rn");
    return f32 && f16 && rn && bitcut_format_convert(f16, rn, f32, 0x3f801000) == 0x3c00;
}

/* [1 2] [3 4]^T = 11. */
static int multiplies(void)
{
    const uint32_t a[2] = { 0x3f800000, 0x40000000 };
    const uint32_t b[2] = { 0x40400000, 0x40800000 };
    uint32_t c = 0;
    return bitcut_exact_gemm(&c, NULL, 1, 1, 2, a, b, 1) == BITCUT_OK && c == 0x41300000;
}

/* Whether the text is what its kind says. */
static int well_told(const struct bitcut_field *f)
{
    const size_t n = strlen(f->text);
    char *end = NULL;
    switch (f->kind) {
    case BITCUT_NULL: return n == 0;
    case BITCUT_BOOL: return !strcmp(f->text, "true") || !strcmp(f->text, "false");
    case BITCUT_NUMBER: return strtod(f->text, &end), n && end == f->text + n;
    case BITCUT_TEXT: return 1;
    case BITCUT_NUMBERS:
    case BITCUT_TEXTS: return n == 0 || f->text[n - 1] == '\n';
    }
    return 0;
}

/* The rows of a table have a name and the fields of the first. */
static int rows_are_told(const struct bitcut_table *table)
{
    const void *row = NULL, *first = bitcut_row_next(table, NULL);
    struct bitcut_field f, of_first;
    while ((row = bitcut_row_next(table, row))) {
        size_t i = 0;
        if (!strlen(bitcut_row_name(row)) || !bitcut_row_what(row)) return 0;
        for (; bitcut_row_field(&f, table, row, i); i++)
            if (!bitcut_row_field(&of_first, table, first, i) ||
                strcmp(f.name, of_first.name) || !well_told(&f))
                return 0;
        if (bitcut_row_field(&of_first, table, first, i)) return 0;
    }
    return first != NULL;
}

static int walks(void)
{
    const struct bitcut_table *table = NULL, *units = bitcut_table_find("units");
    const void *last = NULL, *row = NULL;
    int tables = 0;
    while ((table = bitcut_table_next(table))) {
        if (bitcut_table_find(bitcut_table_name(table)) != table) return 0;
        if (!strlen(bitcut_table_what(table)) || !rows_are_told(table)) return 0;
        tables++;
    }
    while (units && (row = bitcut_row_next(units, row))) last = row;
    return tables > 5 && last && bitcut_unit_find(bitcut_row_name(last), NULL) == last &&
           !bitcut_table_find(NULL) && !bitcut_table_find("tables");
}

/* A GEMM with one thing changed; what can be seen to be wrong is refused, and D is as it
   was.  `all` has more bytes than a size_t counts; of no elements there may be none. */
static int refuses_gemms(void)
{
    static const uint32_t x[1] = { 0x3f800000 };
    static const size_t all = SIZE_MAX;
    const struct bitcut_recipe *r = bitcut_recipe_find("fp32");
    const struct bitcut_unit *u = bitcut_unit_find("fma/f32", NULL);
    uint32_t d[1] = { 5 };
    const struct {
        uint32_t *d;
        const struct bitcut_recipe *r;
        const struct bitcut_unit *u;
        size_t m, n, k, ld;
        const uint32_t *a, *b, *c;
        uint32_t beta;
        enum bitcut_status status;
    } rows[] = {
        { d, NULL, u, 1, 1, 1, 1, x, x, x, 0, BITCUT_BAD_ARGUMENT },
        { d, r, NULL, 1, 1, 1, 1, x, x, x, 0, BITCUT_BAD_ARGUMENT },
        { d, r, u, 1, 1, 1, 1, NULL, x, x, 0, BITCUT_BAD_ARGUMENT },
        { d, r, u, 1, 1, 1, 1, x, NULL, x, 0, BITCUT_BAD_ARGUMENT },
        { d, r, u, 1, 1, 1, 1, x, x, NULL, 1, BITCUT_BAD_ARGUMENT },
        { NULL, r, u, 1, 1, 1, 1, x, x, x, 0, BITCUT_BAD_ARGUMENT },
        { d, r, u, all, 1, 1, 1, x, x, x, 0, BITCUT_BAD_ARGUMENT },
        { d, r, u, 1, all, 1, all, x, x, x, 0, BITCUT_BAD_ARGUMENT },
        { d, r, u, 1, 1, all, all, x, x, x, 0, BITCUT_BAD_ARGUMENT },
        { d, r, u, 3, 1, 1, all, x, x, x, 0, BITCUT_BAD_ARGUMENT },
        { NULL, r, u, 0, all, all, all, NULL, NULL, NULL, 1, BITCUT_OK },
    };
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int equilibrate = 0; equilibrate < 2; equilibrate++) {
            g.recipe = rows[i].r, g.unit = rows[i].u;
            g.equilibrate = equilibrate != 0;
            g.m = rows[i].m, g.n = rows[i].n, g.k = rows[i].k;
            g.a.at = rows[i].a, g.b.at = rows[i].b, g.c.at = rows[i].c;
            g.d.to = rows[i].d;
            g.a.ld = g.b.ld = g.c.ld = g.d.ld = rows[i].ld;
            g.beta = rows[i].beta;
            if (bitcut_gemm(NULL, &g, 1, NULL) != rows[i].status) return 0;
        }
    g.size = 1;
    return bitcut_gemm(NULL, &g, 1, NULL) == BITCUT_BAD_ARGUMENT &&
           bitcut_gemm(NULL, NULL, 1, NULL) == BITCUT_BAD_ARGUMENT && d[0] == 5;
}

static int refuses_products(void)
{
    const enum bitcut_status bad = BITCUT_BAD_ARGUMENT;
    const uint32_t x[1] = { 0x3f800000 };
    const size_t all = SIZE_MAX, most = SIZE_MAX / 4;
    uint32_t d[1] = { 5 };
    uint64_t e[1] = { 5 };
    return bitcut_exact_gemm(d, NULL, 1, 1, 1, NULL, x, 1) == bad &&
           bitcut_exact_gemm(d, NULL, 1, 1, 1, x, NULL, 1) == bad &&
           bitcut_exact_gemm(d, e, all, 1, 1, x, x, 1) == bad &&
           bitcut_exact_gemm(d, e, 1, 1, most, x, x, 1) == bad &&
           bitcut_exact_gemm(d, e, most / 2 + 1, 2, 0, NULL, NULL, 1) == bad &&
           bitcut_exact_gemm(NULL, NULL, all, 0, all, NULL, NULL, 1) == BITCUT_OK &&
           d[0] == 5 && e[0] == 5;
}

static int refuses_fragments(void)
{
    const enum bitcut_status bad = BITCUT_BAD_ARGUMENT;
    const struct bitcut_unit *u = bitcut_unit_find("fma/f32", NULL);
    const uint64_t x[1] = { 0 };
    const size_t all = SIZE_MAX;
    uint64_t d[1] = { 5 };
    return bitcut_mma(d, NULL, 1, 1, 1, 1, x, x, x, 1) == bad &&
           bitcut_mma(NULL, u, 1, 1, 1, 1, x, x, x, 1) == bad &&
           bitcut_mma(d, u, 1, 1, 1, 1, NULL, x, x, 1) == bad &&
           bitcut_mma(d, u, 1, 1, 1, 1, x, NULL, x, 1) == bad &&
           bitcut_mma(d, u, 1, 1, 1, 1, x, x, NULL, 1) == bad &&
           bitcut_mma(d, u, all, 1, 1, 1, x, x, x, 1) == bad &&
           bitcut_mma(d, u, 2, all / 2, 1, 1, x, x, x, 1) == bad &&
           bitcut_mma(NULL, u, all, 0, 0, 1, NULL, NULL, NULL, 1) == BITCUT_OK &&
           d[0] == 5;
}

static int refuses_names_and_devices(void)
{
    const enum bitcut_status bad = BITCUT_BAD_ARGUMENT;
    char why[BITCUT_TEXT_MAX] = "";
    struct bitcut_device *device = NULL;
    struct bitcut_gemm gemm;
    bitcut_gemm_init(&gemm, sizeof gemm);
    return !bitcut_recipe_find(NULL) && !bitcut_unit_find(NULL, NULL) &&
           bitcut_device_open(NULL, "cuda", why) == bad && strlen(why) &&
           bitcut_device_open(&device, NULL, NULL) == bad &&
           bitcut_device_open(&device, "gpu", NULL) == bad && !device &&
           bitcut_gemm_start(NULL, NULL, &gemm, NULL, 0, NULL, NULL) == bad &&
           bitcut_gemm_start(NULL, NULL, NULL, NULL, 0, NULL, NULL) == bad &&
           bitcut_gemm_choose(NULL, NULL, NULL, NULL) == bad &&
           bitcut_gemm_workspace(NULL, NULL, NULL, NULL) == bad &&
           bitcut_gemm_prepared_size(NULL, NULL, NULL, BITCUT_A, NULL) == bad &&
           bitcut_gemm_prepare(NULL, NULL, NULL, BITCUT_A, NULL, NULL) == bad;
}

static int refuses(void)
{
    return refuses_gemms() && refuses_products() && refuses_fragments() &&
           refuses_names_and_devices();
}

/* Limits of a small product, whose errors are below the bound; bad options are refused. */
static int tolerates(void)
{
    static const uint32_t third[8] = { 0x3eaaaaab, 0x3eaaaaab, 0x3e4ccccd, 0x3dcccccd,
                                       0x3f19999a, 0x3f333333, 0x3eaaaaab, 0x3f800001 };
    struct bitcut_tolerance_options options = { sizeof options, 20, 0, 7, true, false };
    struct bitcut_tolerances t;
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.recipe = bitcut_recipe_find("fp32");
    g.unit = bitcut_unit_find("fma/f32", NULL);
    g.m = 2, g.n = 2, g.k = 4;
    g.a.at = g.b.at = third;
    t.size = sizeof t;
    if (bitcut_tolerance(&t, &g, &options, 1, NULL) != BITCUT_OK) return 0;
    if (!(t.max > 0 && t.max <= t.limit && t.limit <= t.bound && t.bound < 10 &&
          t.rtol >= 0 && t.atol >= 0 && t.runs == 20 && t.outputs == 4 && !t.wrong))
        return 0;
    options.false_alarm = 2;
    if (bitcut_tolerance(&t, &g, &options, 1, NULL) != BITCUT_BAD_ARGUMENT) return 0;
    t.size = 1;
    return bitcut_tolerance(&t, &g, NULL, 1, NULL) == BITCUT_BAD_ARGUMENT &&
           bitcut_tolerance(NULL, &g, NULL, 1, NULL) == BITCUT_BAD_ARGUMENT;
}

/* Of numbers that f16 holds one product is enough, on what is said; bad options are
   refused. */
static int advises(void)
{
    static const uint32_t a[4] = { 0x3f800000, 0x40000000, 0x40400000, 0x3f000000 };
    struct bitcut_advice_options options = { sizeof options, "relres", 1e-7, 3 };
    struct bitcut_advice advice;
    struct bitcut_gemm g, found;
    bitcut_gemm_init(&g, sizeof g);
    bitcut_gemm_init(&found, sizeof found);
    g.unit = bitcut_unit_find("a100", bitcut_format_find("f16"));
    g.m = 2, g.n = 2, g.k = 2;
    g.a.at = g.b.at = a;
    advice.size = sizeof advice;
    if (bitcut_advise(&advice, &found, &g, &options, 1, NULL) != BITCUT_OK) return 0;
    if (!(advice.reaches && advice.cost == 1 && advice.error == 0 && advice.outputs == 4 &&
          found.recipe == bitcut_recipe_find("plain") && found.unit == g.unit &&
          found.a.at == a && !found.equilibrate))
        return 0;
    options.metric = "mred";
    if (bitcut_advise(&advice, &found, &g, &options, 1, NULL) != BITCUT_BAD_ARGUMENT)
        return 0;
    advice.size = 1;
    return bitcut_advise(&advice, &found, &g, NULL, 1, NULL) == BITCUT_BAD_ARGUMENT &&
           bitcut_advise(NULL, NULL, NULL, NULL, 1, NULL) == BITCUT_BAD_ARGUMENT;
}

/* 3 and 2^-12 3 in one word of f16 are exact, and 2^-30 is lost: every bound is above that,
   or says why it does not hold, and the budget has it. */
static int bounds_errors(void)
{
    const uint32_t a[2] = { 0x40400000, 0x39c00000 }, b[2] = { 0x3f800000, 0x30800000 };
    struct bitcut_part parts[3];
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.recipe = bitcut_recipe_find("plain");
    g.unit = bitcut_unit_find("hopper/mma.m16n8k16.f32.f16", NULL);
    g.m = g.n = 1, g.k = 2;
    g.a.at = a, g.b.at = b;
    const double lost = 0x1p-30 * 0x1.8p-12;
    double limit = 0;
    for (size_t i = 0; bitcut_bound_name(i); i++) {
        char why[BITCUT_TEXT_MAX] = "";
        const enum bitcut_status status =
            bitcut_bound(&limit, &g, 0, bitcut_bound_name(i), 1, why);
        if (status == BITCUT_OK ? !(limit >= lost)
                                : status != BITCUT_UNSUPPORTED || !*why)
            return 0;
    }
    return bitcut_bound(&limit, &g, 0, NULL, 1, NULL) == BITCUT_OK && limit >= lost &&
           limit < 1e-5 && bitcut_budget(parts, 3, &g, 0, 1, NULL) == BITCUT_OK &&
           !strcmp(bitcut_budget_part(1), "underflow") && parts[0].max == 0 &&
           parts[1].max > 0 && parts[1].mean == -parts[1].max &&
           bitcut_bound(&limit, &g, 0, "none", 1, NULL) == BITCUT_BAD_ARGUMENT &&
           bitcut_bound(NULL, &g, 0, NULL, 1, NULL) == BITCUT_BAD_ARGUMENT &&
           bitcut_bound(&limit, &g, 1, NULL, 1, NULL) == BITCUT_BAD_ARGUMENT &&
           bitcut_bound(&limit, NULL, 0, NULL, 1, NULL) == BITCUT_BAD_ARGUMENT &&
           bitcut_budget(NULL, 1, &g, 0, 1, NULL) == BITCUT_BAD_ARGUMENT &&
           bitcut_budget(parts, 1, NULL, 0, 1, NULL) == BITCUT_BAD_ARGUMENT;
}

/* A device, or a reason why there is none. */
static int opens(void)
{
    char why[BITCUT_TEXT_MAX] = "";
    struct bitcut_device *device = NULL;
    const enum bitcut_status status = bitcut_device_open(&device, "cuda", why);
    if (status != BITCUT_OK)
        return status == BITCUT_UNSUPPORTED && !device && strlen(why);
    const int named = strlen(bitcut_device_name(device)) != 0;
    bitcut_device_close(device);
    return named;
}

int main(void)
{
    if (!strlen(bitcut_version())) return puts("consumer: no version"), 1;
    if (!converts()) return puts("consumer: wrong conversion"), 1;
    if (!multiplies()) return puts("consumer: wrong product"), 1;
    if (!walks()) return puts("consumer: tables are not told"), 1;
    if (!refuses()) return puts("consumer: bad arguments are not refused"), 1;
    if (!tolerates()) return puts("consumer: wrong tolerances"), 1;
    if (!advises()) return puts("consumer: wrong advice"), 1;
    if (!bounds_errors()) return puts("consumer: errors are not bounded"), 1;
    if (!opens()) return puts("consumer: neither a device nor a reason"), 1;
    return 0;
}
