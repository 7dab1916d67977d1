/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/fast/fast_fragment.h"

#include "emu/engine.h"
#include "emu/fast/simd.h"
#include "lib/number/hostfp.h"

#include <assert.h>
#include <stdalign.h>

static bool is_small(const struct bitcut_unit *u)
{
    return u->nan_rule == NAN_FIXED && u->m <= FRAGMENT_ROWS && u->n <= FRAGMENT_ROWS &&
           u->k <= FRAGMENT_DEPTH && u->c == &formats[FORMAT_F32] && !u->c_last &&
           !u->scale;
}

bool fast_fragment_make(struct fast_fragment *f, const struct bitcut_unit *u)
{
    const struct simd_level *level;
    int base_a, base_b;
    struct fast_fragment x = { .unit = u };
    if (!is_small(u) || simd_choose(&level, NULL) != BITCUT_OK || !level->kernels)
        return false;
    if (!fast_rule_make(&x.rule, u) ||
        !fast_rule_fit(&x.rule, &base_a, &base_b, u, fast_format_range(u),
                       fast_format_range(u)) ||
        base_a + base_b != 0 || level->kernels->columns > FRAGMENT_COLUMNS)
        return false;
    x.kernels = level->kernels;
    x.kernel = &x.kernels->method[x.rule.method];
    x.a_format = fast_format_make(u, base_a, x.kernel->packing);
    x.b_format = fast_format_make(u, base_b, x.kernel->packing);
    unit_order(x.at, u->k, u->order);
    *f = x;
    return true;
}

/* Packed operands: A [block][row][block], and one more row that kernels read; B
   [k][column of a panel]. */
struct packed {
    alignas(64) union fast_element a[(FRAGMENT_ROWS + 1) * FRAGMENT_DEPTH];
    alignas(64) float b[FRAGMENT_DEPTH * FRAGMENT_COLUMNS];
    alignas(64) char exponent[FRAGMENT_DEPTH * FRAGMENT_COLUMNS * 4];
    alignas(64) union fast_element line[FRAGMENT_LINE];
};

static void pack_rows(struct packed *to, const struct fast_fragment *f, const char *a)
{
    const int block = f->rule.block, k = f->unit->k, m = f->unit->m;
    for (int i = 0; i < m; i++) {
        f->kernels->pack_a(to->line, a + (size_t)(i * FRAGMENT_LINE * f->a_format.bytes),
                           (size_t)k, &f->a_format);
        for (int p = 0; p < k; p++)
            to->a[p / block * block * m + i * block + p % block] = to->line[f->at[p]];
    }
}

/* Pack columns [from, from + columns) of B. */
static void pack_columns(struct packed *to, const struct fast_fragment *f, const char *b,
                         int from)
{
    const int columns = f->kernels->columns,
              each = f->kernel->packing == FAST_INTS ? 4 : 1;
    for (int p = 0; p < f->unit->k; p++) {
        const int at = f->at[p] * FRAGMENT_COLUMNS + from;
        f->kernels->pack_b(to->b + p * columns, to->exponent + p * columns * each,
                           b + (size_t)(at * f->b_format.bytes), &f->b_format);
    }
}

static void multiply(float *c, const struct packed *x, const struct fast_fragment *f)
{
    const int columns = f->kernels->columns, block = f->rule.block, m = f->unit->m;
    const int each = f->kernel->packing == FAST_INTS ? 4 : 1;
    if (f->kernel->toward_zero) hostfp_truncate();
    for (int p = 0; p < f->unit->k; p += block)
        f->kernel->block(c, x->a + p * m, x->b + p * columns,
                         x->exponent + p * columns * each, (size_t)m, &f->rule);
    if (f->kernel->toward_zero) hostfp_default();
}

void fast_fragment_run(const struct fast_fragment *f, float *c, const void *a,
                       const void *b)
{
    struct packed x;
    alignas(64) float panel[FRAGMENT_ROWS * FRAGMENT_COLUMNS];
    const int columns = f->kernels->columns;
    assert(hostfp_entered());
    pack_rows(&x, f, a);
    for (int from = 0; from < f->unit->n; from += columns) {
        pack_columns(&x, f, b, from);
        for (int i = 0; i < f->unit->m; i++)
            for (int j = 0; j < columns; j++)
                panel[i * columns + j] = c[i * FRAGMENT_COLUMNS + from + j];
        multiply(panel, &x, f);
        for (int i = 0; i < f->unit->m; i++)
            for (int j = 0; j < columns; j++)
                c[i * FRAGMENT_COLUMNS + from + j] = panel[i * columns + j];
    }
}
