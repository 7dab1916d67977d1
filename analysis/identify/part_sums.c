/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/part_sums.h"

#include "emu/parts.h"
#include "lib/base/size.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- parts ------------------------------------------------------------------------ */

static double *numbers(size_t rows, size_t cols)
{
    return memory_allocate(rows + 1, (cols + 1) * sizeof(double));
}

/* Change the parts of an element as the candidate's fault does. */
static void respell(uint32_t part[SPLIT_PARTS_MAX], const struct candidate *x,
                    const struct problem *q, enum bitcut_operand operand, size_t line,
                    size_t from, uint32_t element)
{
    const bool is_a = operand == BITCUT_A;
    struct spelling s = { .part = part,
                          .operand = operand,
                          .element = element,
                          .has_other = line < (is_a ? problem_n(q) : problem_m(q)),
                          .split = is_a ? &x->plan.split_a : &x->plan.split_b,
                          .other_split = is_a ? &x->plan.split_b : &x->plan.split_a,
                          .x = x };
    if (s.has_other)
        s.other = candidate_element(x, q, is_a ? BITCUT_B : BITCUT_A, line, from);
    x->respell(&s);
}

/* The elements of a line as the candidate reads them. */
static void take_line(uint32_t *to, const struct candidate *x, const struct block *b,
                      enum bitcut_operand operand, size_t line, size_t k)
{
    for (size_t p = 0; p < k; p++)
        to[p] = candidate_block_element(x, b, operand, line, candidate_k_at(x, p, b->k));
}

/* Change the parts of all elements as the candidate's fault does. */
static void respell_all(struct part_matrices *m, const struct candidate *x,
                        enum bitcut_operand operand, const uint32_t *element,
                        size_t lines, int parts)
{
    const struct block *const b = m->b;
    for (size_t line = 0; line < lines; line++)
        for (size_t p = 0; p < m->k; p++) {
            const size_t at = line * m->k + p;
            double *const *const plain = m->plain[operand];
            uint32_t part[SPLIT_PARTS_MAX];
            for (int i = 0; i < parts; i++) part[i] = bits_of_float((float)plain[i][at]);
            respell(part, x, b->q, operand,
                    operand == BITCUT_A ? b->row[line] : b->col[line],
                    candidate_k_at(x, p, b->k), element[at]);
            for (int i = 0; i < parts; i++) plain[i][at] = value_of_float(part[i]);
        }
}

/* The parts times the factors of their places, which is exact in binary64. */
static bool multiply(struct part_matrices *m, enum bitcut_operand operand, int i)
{
    const size_t lines = operand == BITCUT_A ? m->rows : m->cols;
    double *const to = m->part[operand][i] = numbers(lines, m->k);
    for (size_t line = 0; line < lines && to; line++)
        for (size_t p = 0; p < m->k; p++)
            to[line * m->k + p] = m->plain[operand][i][line * m->k + p] *
                                  block_factor(m->b, operand, line, p);
    return to;
}

/* Elements that stay whole are not rounded, whatever rounding the split has. */
static bool split_elements(struct part_matrices *m, enum bitcut_operand operand,
                           const struct bitcut_split *split, const uint32_t *element)
{
    const size_t lines = operand == BITCUT_A ? m->rows : m->cols;
    if (split->part[0].format != &formats[FORMAT_F32] || split->parts > 1)
        return parts_values(m->plain[operand], split, element, lines, m->k);
    for (size_t i = 0; i < lines * m->k; i++)
        m->plain[operand][0][i] = value_of_float(element[i]);
    return true;
}

static bool copy_plain(struct part_matrices *m, enum bitcut_operand operand,
                       const struct part_matrices *base, int parts)
{
    const size_t lines = operand == BITCUT_A ? m->rows : m->cols;
    for (int i = 0; i < parts; i++)
        memcpy(m->plain[operand][i], base->plain[operand][i],
               lines * m->k * sizeof **m->plain[operand]);
    return true;
}

/* The parts of an operand without factors. */
static bool take_plain(struct part_matrices *m, const struct candidate *x,
                       enum bitcut_operand operand, const struct part_matrices *base)
{
    const size_t lines = operand == BITCUT_A ? m->rows : m->cols;
    const struct bitcut_split *const split =
        operand == BITCUT_A ? &x->plan.split_a : &x->plan.split_b;
    uint32_t *const element = memory_allocate(lines + 1, (m->k + 1) * sizeof *element);
    bool ok = element;
    for (int i = 0; i < split->parts; i++)
        ok &= !!(m->plain[operand][i] = numbers(lines, m->k));
    for (size_t line = 0; line < lines && ok; line++)
        take_line(element + line * m->k, x, m->b, operand, line, m->k);
    ok = ok && (base ? copy_plain(m, operand, base, split->parts)
                     : split_elements(m, operand, split, element));
    if (ok && x->respell) respell_all(m, x, operand, element, lines, split->parts);
    free(element);
    return ok;
}

static bool take_operand(struct part_matrices *m, const struct candidate *x,
                         enum bitcut_operand operand, const struct part_matrices *base)
{
    const int parts = operand == BITCUT_A ? x->plan.split_a.parts : x->plan.split_b.parts;
    if (!take_plain(m, x, operand, base)) return false;
    for (int i = 0; i < parts; i++)
        if (!block_has_factors(m->b)) m->part[operand][i] = m->plain[operand][i];
        else if (!multiply(m, operand, i)) return false;
    return true;
}

bool part_matrices_make(struct part_matrices *m, const struct candidate *x,
                        const struct block *b, size_t rows, size_t cols,
                        const struct part_matrices *base)
{
    *m = (struct part_matrices){ .rows = smaller(rows, b->rows),
                                 .cols = smaller(cols, b->cols),
                                 .k = candidate_places(x, b->k),
                                 .b = b };
    if (take_operand(m, x, BITCUT_A, base) && take_operand(m, x, BITCUT_B, base))
        return true;
    part_matrices_clear(m);
    return false;
}

void part_matrices_clear(struct part_matrices *m)
{
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < SPLIT_PARTS_MAX; i++) {
            if (m->part[side][i] != m->plain[side][i]) free(m->part[side][i]);
            free(m->plain[side][i]);
        }
    *m = (struct part_matrices){ 0 };
}

/* --- sums ------------------------------------------------------------------------- */

/* Four sums, so that additions need not wait for each other. */
double part_dot(const double *a, const double *b, size_t count)
{
    double s[4] = { 0 };
    size_t p = 0;
    for (; p + 4 <= count; p += 4)
        for (int i = 0; i < 4; i++) s[i] += a[p + i] * b[p + i];
    for (; p < count; p++) s[0] += a[p] * b[p];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

double part_product(const struct part_matrices *m, int i, int j, size_t row, size_t col,
                    size_t first, size_t end)
{
    const double *const a = m->part[BITCUT_A][i] + row * m->k, *const b =
                                                                   m->part[BITCUT_B][j] +
                                                                   col * m->k;
    return part_dot(a + first, b + first, end - first);
}

/* part_dot() of a line with several lines: their sums need not wait for each other. */
static void dot_lines(double *to, const double *a, const double *b, size_t lines,
                      size_t k)
{
    enum { TOGETHER = 4, SUMS = 4 };
    size_t line = 0;
    for (; line + TOGETHER <= lines; line += TOGETHER) {
        const double *const from = b + line * k;
        double s[TOGETHER][SUMS] = { { 0 } };
        size_t p = 0;
        for (; p + SUMS <= k; p += SUMS)
            for (int j = 0; j < TOGETHER; j++)
                for (int i = 0; i < SUMS; i++)
                    s[j][i] += a[p + (size_t)i] * from[(size_t)j * k + p + (size_t)i];
        for (size_t j = 0; j < TOGETHER; j++) {
            for (size_t q = p; q < k; q++) s[j][0] += a[q] * from[j * k + q];
            to[line + j] = (s[j][0] + s[j][1]) + (s[j][2] + s[j][3]);
        }
    }
    for (; line < lines; line++) to[line] = part_dot(a, b + line * k, k);
}

static bool has_pair(const struct candidate *x, int i, int j)
{
    bool any = false;
    for (int t = 0; t < x->plan.terms; t++)
        any |= x->plan.term[t].a == i && x->plan.term[t].b == j;
    return any;
}

static bool sum_pair(struct part_sums *s, const struct part_matrices *m, int i, int j)
{
    double *const to = numbers(1, s->outputs);
    if (!(s->of[i][j] = to)) return false;
    for (size_t row = 0; row < m->rows; row++)
        dot_lines(to + row * m->cols, m->part[BITCUT_A][i] + row * m->k,
                  m->part[BITCUT_B][j], m->cols, m->k);
    return true;
}

bool part_sums_make(struct part_sums *s, const struct part_matrices *m,
                    const struct candidate *x, bool all)
{
    *s = (struct part_sums){ .outputs = m->rows * m->cols };
    for (int i = 0; i < SPLIT_PARTS_MAX; i++)
        for (int j = 0; j < SPLIT_PARTS_MAX; j++) {
            if (!m->part[BITCUT_A][i] || !m->part[BITCUT_B][j]) continue;
            if ((all || has_pair(x, i, j)) && !sum_pair(s, m, i, j)) {
                part_sums_clear(s);
                return false;
            }
        }
    return true;
}

void part_sums_clear(struct part_sums *s)
{
    for (int i = 0; i < SPLIT_PARTS_MAX; i++)
        for (int j = 0; j < SPLIT_PARTS_MAX; j++) free(s->of[i][j]);
    *s = (struct part_sums){ 0 };
}

double part_weight(const struct candidate *x, int t)
{
    const struct recipe_term *const term = x->plan.term;
    int exponent = -x->plan.scale * term[t].accumulator + x->power[t];
    for (int u = t + 1; u < x->plan.terms; u++)
        if (term[u].scaled && term[u].accumulator == term[t].accumulator)
            exponent -= x->plan.scale;
    return double_scaled(1, exponent);
}

bool part_sums_are_common(const struct candidate *x, const struct candidate *base)
{
    return !x->k_at && !x->places && !x->spot[0] && !x->spot[1] && !x->respell &&
           x->flushed == base->flushed && !x->lost.end && !x->twice.end &&
           split_same(&x->plan.split_a, &base->plan.split_a) &&
           split_same(&x->plan.split_b, &base->plan.split_b);
}

/* --- D ---------------------------------------------------------------------------- */

/* Every epilogue of a candidate is linear in the product and C. */
struct epilogue_values part_told(const struct block *b, const struct candidate *x)
{
    struct epilogue_values told = b->own->values;
    if (x->retell) x->retell(x, &told);
    return told;
}

void part_finish(double *value, const struct candidate *x, const struct block *b,
                 size_t rows, size_t cols)
{
    const double of_product = value_of_float(candidate_finish(x, F32_ONE, 0)),
                 of_c = value_of_float(candidate_finish(x, 0, F32_ONE)),
                 start = value_of_float(x->faults.start);
    struct epilogue_values told;
    if (b->own) told = part_told(b, x);
    for (size_t at = 0; at < rows * cols; at++) {
        const size_t i = at / cols, j = at % cols;
        const struct exact_output sum = { value[at] + start, 0 };
        if (b->own) value[at] = epilogue_exact(&told, sum, i, j).value;
        else {
            const double of_start =
                b->c && of_c != 0
                    ? of_c * value_of_float(candidate_c(x, b->q, b->row[i], b->col[j]))
                    : 0;
            value[at] = of_product * sum.value + of_start;
        }
        if (x->clipped && value[at] < 0) value[at] = 0;
    }
}

void part_values(double *value, const struct part_sums *s, const struct candidate *x)
{
    for (size_t at = 0; at < s->outputs; at++) value[at] = 0;
    for (int t = 0; t < x->plan.terms; t++) {
        const double weight = part_weight(x, t);
        const double *const of = s->of[x->plan.term[t].a][x->plan.term[t].b];
        for (size_t at = 0; at < s->outputs; at++) value[at] += weight * of[at];
    }
}
