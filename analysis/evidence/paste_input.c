/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/evidence/paste_input.h"

#include <stdlib.h>

/* Integers alone make the inputs: kit/settle.py has the same definitions. */

/* A hash of 32 bits. */
static uint32_t mix(uint32_t x)
{
    x = (x ^ x >> 16) * 0x45d9f3bu;
    x = (x ^ x >> 16) * 0x45d9f3bu;
    return x ^ x >> 16;
}

/* Number (i, k) of a stream of the line's seed. */
static uint32_t hashed(size_t seed, unsigned stream, size_t i, size_t k)
{
    return mix(mix(mix((uint32_t)(8 * seed) + stream) + (uint32_t)i) + (uint32_t)k);
}

/* An element: a number with a fraction of 52 bits, an infinity or a zero. */
struct element {
    enum { ELEMENT_NORMAL, ELEMENT_SUBNORMAL, ELEMENT_INF, ELEMENT_ZERO } kind;
    bool negative;
    int exponent;
    uint64_t fraction;
};

static struct element draw(size_t seed, unsigned stream, size_t i, size_t k)
{
    const uint64_t high = hashed(seed, stream, i, k),
                   low = hashed(seed, stream + 1, i, k);
    return (struct element){ .negative = low & 1, .fraction = high << 20 | low >> 12 };
}

static uint64_t encode(const struct bitcut_format *f, struct element x)
{
    uint64_t code = x.fraction >> (52 - f->fraction_bits);
    if (x.kind == ELEMENT_NORMAL)
        code |= (uint64_t)(x.exponent + f->bias) << f->fraction_bits;
    if (x.kind == ELEMENT_INF)
        code = (((uint64_t)1 << f->exponent_bits) - 1) << f->fraction_bits;
    if (x.kind == ELEMENT_ZERO) code = 0;
    if (x.kind == ELEMENT_ZERO && f->special == SPECIAL_FNUZ) x.negative = false;
    if (f->has_sign)
        code |= (uint64_t)x.negative << (f->exponent_bits + f->fraction_bits);
    return code << f->pad;
}

/* --- flat ------------------------------------------------------------------------- */

/* Element (i, k) with an exponent from least to most, or an integer from least to most.
 */
static uint64_t flat(const struct bitcut_format *f, size_t seed, unsigned stream,
                     unsigned pair, size_t i, size_t k, int least, int most)
{
    const uint32_t h = hashed(seed, stream, i, k);
    const int value = least + (int)(h % (uint32_t)(most - least + 1));
    struct element x = draw(seed, pair, i, k);
    x.exponent = value;
    return f == &formats[FORMAT_S8] ? (uint64_t)value & 0xff : encode(f, x);
}

static void fill_flat(struct paste_operands *to, const struct paste_line *x)
{
    const int *const e = x->range;
    for (size_t i = 0; i < to->rows; i++)
        for (size_t k = 0; k < x->k; k++)
            to->a[i * x->k + k] = flat(x->a, x->seed, 3, 4, paste_side_at(i, x->m, x->k),
                                       k, e[RANGE_A_MIN], e[RANGE_A_MAX]);
    for (size_t j = 0; j < to->cols; j++)
        for (size_t k = 0; k < x->k; k++)
            to->b[j * x->k + k] = flat(x->b, x->seed, 0, 1, paste_side_at(j, x->n, x->k),
                                       k, e[RANGE_B_MIN], e[RANGE_B_MAX]);
}

/* --- terms ------------------------------------------------------------------------ */

/* The exponent of row k of B: the same in all columns. */
static int exponent_b(const struct paste_line *x, size_t k)
{
    const int *const e = x->range;
    const uint32_t span = (uint32_t)(e[RANGE_B_MAX] - e[RANGE_B_MIN] + 1);
    return e[RANGE_B_MIN] + (int)(hashed(x->seed, 0, 0, k) % span);
}

/* A product of row i, and the one that it may cancel. */
struct product {
    int group;
    bool paired, cancels, deep; /* deep: far below the others; only of "tiny" */
    size_t first, other; /* the smaller k of the pair, and the other k than this one */
};

static struct product product_at(const struct paste_line *x, size_t i, size_t k)
{
    const int group = (int)(i % 8);
    const bool zero_sum = group == 3 && x->inputs == PASTE_EDGE;
    struct product p = { .group = group,
                         .paired = group >= 4 || zero_sum,
                         .deep = group == 1 && x->inputs == PASTE_TINY };
    size_t log2_k = 0;
    while (x->k >> (log2_k + 1)) log2_k++;
    const size_t bit = zero_sum ? 1 : (size_t)1 << i / 8 % log2_k;
    p.first = p.paired ? k & ~bit : k;
    p.other = p.paired ? k ^ bit : k;
    p.cancels = p.paired && (zero_sum || hashed(x->seed, 3, i, p.first) % 4 != 0);
    return p;
}

/* The exponent of A, so that the product has the exponent that the group asks for, as far
   as A has it; *raised: it is larger. */
static int exponent_of(bool *raised, const struct paste_line *x, const struct product *p,
                       uint32_t choice, size_t k)
{
    const int *const e = x->range, part = e[RANGE_SPAN] * (p->group % 4) / 3;
    const int wide = part > 1 ? part : 1;
    const int mine = exponent_b(x, k), its = p->cancels ? exponent_b(x, p->other) : mine;
    const int least = (mine > its ? mine : its) + e[RANGE_A_MIN];
    const int most = (mine < its ? mine : its) + e[RANGE_A_MAX];
    const int within = !p->paired ? wide : p->cancels ? wide / 2 : wide / 8;
    const int down = (int)((choice >> 8) % (uint32_t)(within + 1));
    int exponent =
        p->paired && !p->cancels ? e[RANGE_TOP] - wide + down : e[RANGE_TOP] - down;
    if (p->deep) exponent -= 3 * e[RANGE_SPAN] / 4;
    *raised = exponent < least;
    if (*raised) exponent = least;
    return (exponent > most ? most : exponent) - mine;
}

/* Infinities, zeros and the largest exponents of the inputs "edge". */
static void set_edge(struct element *to, const struct bitcut_format *f, int group,
                     size_t k)
{
    if (group == 2 || (group == 3 && k > 1)) to->kind = ELEMENT_ZERO;
    else if (group == 3) to->kind = ELEMENT_NORMAL;
    if (group == 2) to->negative = true;
    if ((group == 0 && k == 1) || (group == 1 && k < 2)) to->kind = ELEMENT_INF;
    if (group == 1 && k < 2) to->negative = k;
    if ((group != 5 && group != 6) || k > 3) return;
    to->kind = ELEMENT_NORMAL;
    to->exponent = f->bias;
    to->negative = group == 6 && k % 2;
}

/* A fraction halfway between two of tf32, in odd rows of bf16. */
static uint64_t tied(uint64_t fraction, size_t i)
{
    const int low = i % 2 ? 44 : 41;
    return (fraction >> (low + 1) << 1 | 1) << low;
}

static uint64_t term_a(const struct paste_line *x, size_t i, size_t k)
{
    const struct product p = product_at(x, i, k);
    const size_t source = p.cancels ? p.first : k;
    struct element to = draw(x->seed, 4, i, source);
    bool raised;
    to.exponent = exponent_of(&raised, x, &p, hashed(x->seed, 3, i, source), k);
    to.negative ^= p.cancels && p.first != k;
    if (x->inputs == PASTE_TIES) to.fraction = tied(to.fraction, i);
    if ((p.group == 1 || p.group == 3) && (hashed(x->seed, 5, i, k) >> 1) % 16 == 0)
        to.kind = ELEMENT_ZERO;
    else if (((p.paired && !p.cancels) || p.deep) && raised) to.kind = ELEMENT_ZERO;
    else if (x->inputs == PASTE_TINY && p.group / 2 == 1) to.kind = ELEMENT_SUBNORMAL;
    if (x->inputs == PASTE_EDGE) set_edge(&to, x->a, p.group, k);
    return encode(x->a, to);
}

static void fill_terms(struct paste_operands *to, const struct paste_line *x)
{
    for (size_t i = 0; i < to->rows; i++)
        for (size_t k = 0; k < x->k; k++)
            to->a[i * x->k + k] = term_a(x, paste_side_at(i, x->m, x->k), k);
    for (size_t j = 0; j < to->cols; j++) {
        const size_t column = paste_side_at(j, x->n, x->k);
        struct element b = draw(x->seed, 1, column, 0);
        if (x->inputs == PASTE_TIES) b.fraction = tied(b.fraction, column);
        for (size_t k = 0; k < x->k; k++) {
            b.exponent = exponent_b(x, k);
            to->b[j * x->k + k] = encode(x->b, b);
        }
    }
}

/* --- all -------------------------------------------------------------------------- */

static void fill_others(struct paste_operands *to, const struct paste_line *x)
{
    enum { SCALE_STREAMS = 4096, BIAS_MAX = 8 };
    const int most = (int)x->scale_max;
    for (size_t i = 0; i < to->blocks; i++) {
        to->scale_a[i] = flat(x->scale, x->seed + SCALE_STREAMS, 0, 1, 0, i, -most, most);
        to->scale_b[i] =
            flat(x->scale, x->seed + 2 * SCALE_STREAMS, 0, 1, 0, i, -most, most);
    }
    for (size_t j = 0; to->bias && j < to->cols; j++)
        to->bias[j] =
            flat(x->a, x->seed, 6, 7, 0, paste_side_at(j, x->n, x->k), 0, BIAS_MAX);
}

enum bitcut_status paste_operands_make(struct paste_operands *to,
                                       const struct paste_line *x, struct fault *f)
{
    struct paste_operands y = { .rows = paste_side(x->m, x->k),
                                .cols = paste_side(x->n, x->k),
                                .k = x->k,
                                .blocks = x->scale ? x->k / x->scale_block : 0 };
    y.a = memory_allocate(y.rows * y.k, sizeof *y.a);
    y.b = memory_allocate(y.cols * y.k, sizeof *y.b);
    if (y.blocks) y.scale_a = memory_allocate(y.blocks, sizeof *y.scale_a);
    if (y.blocks) y.scale_b = memory_allocate(y.blocks, sizeof *y.scale_b);
    if (x->op == PASTE_LINEAR) y.bias = memory_allocate(y.cols, sizeof *y.bias);
    if (!y.a || !y.b || (y.blocks && (!y.scale_a || !y.scale_b)) ||
        (x->op == PASTE_LINEAR && !y.bias)) {
        paste_operands_clear(&y);
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    }
    if (x->inputs == PASTE_FLAT) fill_flat(&y, x);
    else fill_terms(&y, x);
    fill_others(&y, x);
    *to = y;
    return BITCUT_OK;
}

void paste_operands_clear(struct paste_operands *x)
{
    free(x->a);
    free(x->b);
    free(x->scale_a);
    free(x->scale_b);
    free(x->bias);
    *x = (struct paste_operands){ .a = NULL };
}
