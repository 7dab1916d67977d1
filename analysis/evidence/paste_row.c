/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/evidence/paste_row.h"

#include "emu/engine.h"
#include "emu/unit_field.h"
#include "lib/io/sha256.h"
#include "lib/number/round.h"

#include <stdlib.h>
#include <string.h>

const char *const paste_bias_places[BIAS_PLACES] = {
    [BIAS_LAST] = "the bias is added before D is rounded",
    [BIAS_FIRST] = "accumulators start from the bias",
    [BIAS_ROUNDED] = "the bias is added after D is rounded",
};

/* --- rows ------------------------------------------------------------------------- */

static const int rules[] = { ROUND_RN, ROUND_RZ, ROUND_RNA };

enum { RULES = sizeof rules / sizeof *rules };

static bool is_fp32(const struct bitcut_format *f)
{
    return f == &formats[FORMAT_F32] || f == &formats[FORMAT_TF32];
}

/* Whether libraries multiply FP32 operands on such a unit. */
static bool takes_fp32(const struct bitcut_unit *u, const struct paste_line *x)
{
    return u->a == u->b && (is_fp32(u->a) || (x->math && u->a == &formats[FORMAT_BF16]));
}

static bool same_scale(const struct bitcut_unit *u, const struct paste_line *x)
{
    return u->scale == x->scale &&
           (!u->scale || (size_t)u->scale_block == x->scale_block);
}

size_t paste_rows(struct paste_row to[PASTE_ROWS_MAX], const struct paste_line *x)
{
    size_t count = 0;
    if (x->op == PASTE_SDPA) return 0;
    for (const struct bitcut_unit *u = units; u->name; u++) {
        const bool same = u->a == x->a && u->b == x->b;
        if (!same_scale(u, x)) continue;
        if (same && count < PASTE_ROWS_MAX) to[count++] = (struct paste_row){ u, NULL };
        if (same || !is_fp32(x->a) || x->b != x->a || !takes_fp32(u, x)) continue;
        const bool exact = format_holds(u->a, x->a);
        for (size_t i = 0; i < (exact ? 1 : RULES) && count < PASTE_ROWS_MAX; i++)
            to[count++] = (struct paste_row){ u, &roundings[rules[i]] };
    }
    return count;
}

bool paste_rows_same(const struct paste_row *x, const struct paste_row *y, size_t k)
{
    const struct bitcut_unit *const u = x->unit;
    struct bitcut_unit v = *y->unit;
    const bool chain = u->order == K_ASCENDING && v.order == K_ASCENDING && !u->c_last &&
                       !v.c_last && k % (size_t)u->k == 0 && k % (size_t)v.k == 0;
    if (x->operands != y->operands || u->a != v.a || u->b != v.b) return false;
    if (chain) v.k = u->k; /* blocks follow each other in the same order */
    return field_same(u, &v);
}

/* --- orders ----------------------------------------------------------------------- */

const struct paste_k paste_orders[] = {
    { 1, 1, 0 },  { 1, 1, 4 },  { 1, 1, 8 },  { 1, 1, 16 }, { 1, 1, 32 }, { 1, 1, 64 },
    { 2, 2, 0 },  { 2, 4, 0 },  { 2, 8, 0 },  { 2, 16, 0 }, { 4, 2, 0 },  { 4, 4, 0 },
    { 4, 8, 0 },  { 4, 16, 0 }, { 8, 2, 0 },  { 8, 4, 0 },  { 8, 8, 0 },  { 8, 16, 0 },
    { 16, 2, 0 }, { 16, 4, 0 }, { 16, 8, 0 }, { 0 },
};

/* Whether the order differs from the ascending one on this line and row. */
static bool order_applies(struct paste_k order, const struct paste_line *x,
                          const struct paste_row *row)
{
    const bool short_sums = row->unit->c->bits <= 32 && !format_is_integer(row->unit->c);
    if (order.slice) return (size_t)order.slice != x->k && short_sums && !x->scale;
    return (size_t)order.lanes * (size_t)order.each <= x->k;
}

/* --- operands --------------------------------------------------------------------- */

/* The operands as the row reads them, padded to whole instructions. */
struct read_operands {
    size_t k, blocks;
    size_t slices, steps; /* steps of a slice */
    struct number *a, *b, *scale_a, *scale_b;
    const struct bitcut_unit *adder; /* fma/f32 */
};

/* The k at position p of a slice that begins at `start` and has `length` k. */
static size_t k_at(size_t p, struct paste_k order, size_t start, size_t length)
{
    const size_t lanes = (size_t)order.lanes, each = (size_t)order.each;
    const size_t block = lanes * each, first = p / block * block, in = p % block;
    const size_t to = first + in % lanes * each + in / lanes;
    return start + (first + block <= length ? to : p);
}

static uint64_t element(const uint64_t *from, size_t k,
                        const struct bitcut_format *format, const struct paste_row *row)
{
    return row->operands
               ? bitcut_format_convert(row->unit->a, row->operands, format, from[k])
               : from[k];
}

static void read_side(struct number *to, const struct read_operands *r,
                      const uint64_t *from, size_t count, size_t k,
                      const struct bitcut_format *format, const struct paste_row *row,
                      struct paste_k order)
{
    const struct bitcut_format *const own =
        row->operands ? row->unit->a : format; /* A and B have one format then */
    const size_t length = order.slice ? (size_t)order.slice : k,
                 padded = r->k / r->slices;
    for (size_t i = 0; i < count; i++)
        for (size_t p = 0; p < r->k; p++) {
            const size_t start = p / padded * length, in = p % padded;
            const uint64_t code =
                in < length && start + in < k
                    ? element(from + i * k, k_at(in, order, start, length), format, row)
                    : format_zero(own, false);
            to[i * r->k + p] = unit_read(row->unit, own, code);
        }
}

static void read_scales(struct number *to, size_t blocks, const uint64_t *from,
                        size_t given, const struct bitcut_format *format)
{
    for (size_t i = 0; i < blocks; i++)
        to[i] = format_decode(format, from[i < given ? i : given - 1]);
}

static void operands_clear(struct read_operands *x)
{
    free(x->a);
    free(x->b);
    free(x->scale_a);
    free(x->scale_b);
}

static size_t ceiling(size_t x, size_t y) { return (x + y - 1) / y; }

static enum bitcut_status operands_read(struct read_operands *to,
                                        const struct paste_line *x,
                                        const struct paste_operands *o,
                                        const struct paste_row *row, struct paste_k order,
                                        struct fault *f)
{
    const size_t step = (size_t)row->unit->k;
    const size_t length = order.slice ? (size_t)order.slice : x->k;
    struct read_operands r = { .slices = ceiling(x->k, length),
                               .steps = ceiling(length, step),
                               .adder =
                                   bitcut_unit_find("fma/f32", &formats[FORMAT_F32]) };
    r.k = r.slices * r.steps * step;
    r.blocks = o->blocks ? r.k / x->scale_block : 0;
    r.a = memory_allocate(o->rows * r.k, sizeof *r.a);
    r.b = memory_allocate(o->cols * r.k, sizeof *r.b);
    r.scale_a = memory_allocate(r.blocks, sizeof *r.scale_a);
    r.scale_b = memory_allocate(r.blocks, sizeof *r.scale_b);
    if (!r.a || !r.b || !r.scale_a || !r.scale_b) {
        operands_clear(&r);
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    }
    read_side(r.a, &r, o->a, o->rows, x->k, x->a, row, order);
    read_side(r.b, &r, o->b, o->cols, x->k, x->b, row, order);
    read_scales(r.scale_a, r.blocks, o->scale_a, o->blocks, x->scale);
    read_scales(r.scale_b, r.blocks, o->scale_b, o->blocks, x->scale);
    *to = r;
    return BITCUT_OK;
}

/* --- results ---------------------------------------------------------------------- */

static uint64_t convert(const struct bitcut_format *to, const struct bitcut_format *from,
                        uint64_t code)
{
    return to == from ? code
                      : bitcut_format_convert(to, &roundings[ROUND_RN], from, code);
}

/* The sum of two FP32 numbers, to nearest even: a chain of one step on fma/f32. */
static uint64_t add_f32(const struct read_operands *r, uint64_t x, uint64_t y)
{
    static const uint64_t one = 0x3f800000;
    const struct bitcut_format *const f = &formats[FORMAT_F32];
    const struct number a = unit_read(r->adder, f, x), b = unit_read(r->adder, f, one);
    return unit_dot(r->adder, (struct lane){ &a, NULL }, (struct lane){ &b, NULL }, y);
}

/* The sum of slices, whose format is c. */
static uint64_t add_slice(const struct read_operands *r, const struct bitcut_format *c,
                          uint64_t x, uint64_t y)
{
    const struct bitcut_format *const f32 = &formats[FORMAT_F32];
    return convert(c, f32, add_f32(r, convert(f32, c, x), convert(f32, c, y)));
}

/* D of a sum in the accumulator's format, with one NaN. */
static uint64_t finish(uint64_t sum, const struct read_operands *r,
                       const struct paste_line *x, const struct bitcut_unit *u,
                       const uint64_t *bias, int place)
{
    const struct bitcut_format *const f32 = &formats[FORMAT_F32];
    uint64_t d = convert(x->d, u->c, sum);
    if (bias && place != BIAS_FIRST) {
        const uint64_t v =
            place == BIAS_LAST ? convert(f32, u->c, sum) : convert(f32, x->d, d);
        d = convert(x->d, f32, add_f32(r, v, convert(f32, x->a, *bias)));
    }
    return !format_is_integer(x->d) && format_decode(x->d, d).kind == NUMBER_NAN
               ? format_quiet(x->d, (struct number){ .kind = NUMBER_NAN })
               : d;
}

/* Output (i, j). */
static uint64_t output(const struct paste_line *x, const struct paste_operands *o,
                       const struct read_operands *r, const struct bitcut_unit *u,
                       size_t i, size_t j, int place)
{
    const uint64_t *const bias = o->bias ? o->bias + j : NULL;
    uint64_t total = 0;
    for (size_t slice = 0; slice < r->slices; slice++) {
        uint64_t sum = bias && place == BIAS_FIRST && !slice ? convert(u->c, x->a, *bias)
                                                             : format_zero(u->c, false);
        for (size_t s = 0; s < r->steps; s++) {
            const size_t k = (slice * r->steps + s) * (size_t)u->k;
            const size_t block = r->blocks ? k / x->scale_block : 0;
            sum = unit_dot(u, (struct lane){ r->a + i * r->k + k, r->scale_a + block },
                           (struct lane){ r->b + j * r->k + k, r->scale_b + block }, sum);
        }
        total = slice ? add_slice(r, u->c, total, sum) : sum;
    }
    return finish(total, r, x, u, bias, place);
}

enum bitcut_status paste_compute(uint64_t *d, const struct paste_line *x,
                                 const struct paste_operands *o,
                                 const struct paste_row *row, struct paste_k order,
                                 int place, struct fault *f)
{
    struct read_operands r = { .k = 0 };
    const enum bitcut_status status = operands_read(&r, x, o, row, order, f);
    if (status != BITCUT_OK) return status;
    for (size_t i = 0; i < o->rows; i++)
        for (size_t j = 0; j < o->cols; j++)
            d[i * o->cols + j] = output(x, o, &r, row->unit, i, j, place);
    operands_clear(&r);
    return BITCUT_OK;
}

/* The position of the result of a group that a line has. */
static size_t word_row(size_t group, const struct paste_operands *o)
{
    return 9 * group % o->rows;
}

static size_t word_col(size_t group, const struct paste_operands *o)
{
    return (11 * group + 5) % o->cols;
}

/* --- digests ---------------------------------------------------------------------- */

/* The digest of a group of rows: the start of the SHA-256 of their bytes, the lowest byte
   of an encoding first. */
static uint32_t group_digest(const struct paste_line *x, const uint64_t *d,
                             const struct paste_operands *o, size_t group)
{
    enum { ROOM = PASTE_SIDE_MAX / PASTE_GROUPS * PASTE_SIDE_MAX * 8 };
    unsigned char bytes[ROOM];
    char text[SHA256_TEXT];
    size_t size = 0;
    for (size_t i = group; i < o->rows; i += PASTE_GROUPS)
        for (size_t j = 0; j < o->cols; j++)
            for (int at = 0; at < x->d->bits; at += 8)
                bytes[size++] = (unsigned char)(d[i * o->cols + j] >> at);
    sha256_of(text, bytes, size);
    text[8] = 0;
    return (uint32_t)strtoul(text, NULL, 16);
}

void paste_digest(struct paste_line *x, const uint64_t *d, const struct paste_operands *o)
{
    for (size_t g = 0; g < PASTE_GROUPS; g++) {
        x->digest[g] = group_digest(x, d, o, g);
        x->word[g] = d[word_row(g, o) * o->cols + word_col(g, o)];
    }
}

int paste_agreeing(const struct paste_line *x, const uint64_t *d,
                   const struct paste_operands *o)
{
    int agreeing = 0;
    for (size_t g = 0; g < PASTE_GROUPS; g++)
        agreeing += group_digest(x, d, o, g) == x->digest[g];
    return agreeing;
}

/* --- what a row gives ------------------------------------------------------------- */

/* Whether the row gives the results of a group that a line has, which takes less time
   than the whole group. */
static bool gives_words(const struct paste_line *x, const struct paste_operands *o,
                        const struct read_operands *r, const struct bitcut_unit *u,
                        size_t group, int place)
{
    bool same = true;
    for (size_t g = 0; g < PASTE_GROUPS && same; g++)
        if (word_row(g, o) % PASTE_GROUPS == group)
            same =
                output(x, o, r, u, word_row(g, o), word_col(g, o), place) == x->word[g];
    return same;
}

/* Whether the row gives a group of a line. */
static bool gives_group(uint64_t *d, const struct paste_line *x,
                        const struct paste_operands *o, const struct read_operands *r,
                        const struct bitcut_unit *u, size_t group, int place)
{
    if (!gives_words(x, o, r, u, group, place)) return false;
    for (size_t i = group; i < o->rows; i += PASTE_GROUPS)
        for (size_t j = 0; j < o->cols; j++)
            d[i * o->cols + j] = output(x, o, r, u, i, j, place);
    return group_digest(x, d, o, group) == x->digest[group];
}

enum bitcut_status paste_given(int *groups, uint64_t *d, const struct paste_line *x,
                               const struct paste_operands *o,
                               const struct paste_row *row, struct paste_k order,
                               int place, bool all, struct fault *f)
{
    struct read_operands r = { .k = 0 };
    const enum bitcut_status status = operands_read(&r, x, o, row, order, f);
    if (status != BITCUT_OK) return status;
    int given = 0;
    for (size_t g = 0; g < PASTE_GROUPS && (!all || given == (int)g); g++)
        given += gives_group(d, x, o, &r, row->unit, g, place);
    operands_clear(&r);
    *groups = given;
    return BITCUT_OK;
}

enum bitcut_status paste_find_order(struct paste_k *order, uint64_t *d,
                                    const struct paste_line *x,
                                    const struct paste_operands *o,
                                    const struct paste_row *row, bool any,
                                    struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    *order = (struct paste_k){ 0 };
    for (const struct paste_k *k = paste_orders; k->lanes && status == BITCUT_OK; k++) {
        int groups = 0;
        if (k != paste_orders && (!any || !order_applies(*k, x, row))) continue;
        status = paste_given(&groups, d, x, o, row, *k, BIAS_LAST, true, f);
        if (status == BITCUT_OK && groups == PASTE_GROUPS) return *order = *k, BITCUT_OK;
    }
    return status;
}
