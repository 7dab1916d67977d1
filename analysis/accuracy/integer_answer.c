/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/integer_answer.h"

#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/gemm/view.h"
#include "lib/number/bits.h"

#include <stdlib.h>

/* --- comparing -------------------------------------------------------------------- */

/* The integers of an operand, line by line.  Its values are integers of 8 bits. */
static int32_t *lines_of(const struct bitcut_matrix *x, size_t rows, size_t cols,
                         bool columns)
{
    const struct view v = view_of(x, 0, rows, cols, columns);
    const size_t lines = columns ? cols : rows, length = columns ? rows : cols;
    uint32_t *const to = view_gather(
        &v, &(struct gathering){ lines, length, length, NULL, false }, 1);
    for (size_t i = 0; to && i < lines * length; i++)
        to[i] = (uint32_t)(int32_t)value_of_float(to[i]);
    return (int32_t *)(void *)to;
}

static bool is_plain(const struct bitcut_gemm *g)
{
    return !gemm_is_extended(g) && format_is_integer(matrix_format(&g->d));
}

enum bitcut_status integer_answer_compare(struct integer_answer *to,
                                          const struct bitcut_gemm *g, struct fault *f)
{
    to->total = g->m * g->n;
    if (!is_plain(g)) return BITCUT_OK;
    int32_t *const a = lines_of(&g->a, g->m, g->k, false),
                   *const b = lines_of(&g->b, g->k, g->n, true);
    const struct view d = view_of(&g->d, 0, g->m, g->n, false),
                      c = view_of(&g->c, 0, g->m, g->n, false);
    const int64_t alpha = (int64_t)value_of_float(g->alpha),
                  beta = (int64_t)value_of_float(g->beta);
    for (size_t i = 0; a && b && i < g->m; i++)
        for (size_t j = 0; j < g->n; j++) {
            int64_t sum = 0;
            for (size_t p = 0; p < g->k; p++)
                sum += (int64_t)a[i * g->k + p] * b[j * g->k + p];
            const int64_t exact =
                alpha * sum + (gemm_reads_c(g) ? beta * view_integer(&c, i, j) : 0);
            to->exact += exact == view_integer(&d, i, j);
        }
    to->overflow = to->total - to->exact;
    to->compared = a && b;
    free(a);
    free(b);
    return to->compared ? BITCUT_OK
                        : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for integers");
}

/* An element as an integer, or as its encoding. */
static int64_t number_at(const struct view *v, size_t i, size_t j)
{
    if (format_is_integer(v->format)) return view_integer(v, i, j);
    return (int64_t)view_encoding(v, i, j);
}

void integer_answer_verify(struct integer_answer *to, const struct bitcut_gemm *g,
                           const struct bitcut_matrix *given)
{
    const struct view want = view_of(&g->d, 0, g->m, g->n, false),
                      got = view_of(given, 0, g->m, g->n, false);
    to->total = g->m * g->n;
    for (size_t i = 0; i < g->m; i++)
        for (size_t j = 0; j < g->n; j++) {
            const int64_t x = number_at(&got, i, j), y = number_at(&want, i, j);
            if (x == y || to->differ++) continue;
            to->row = i, to->column = j, to->given = x, to->expected = y;
        }
}

/* --- fields ----------------------------------------------------------------------- */

static bool was_compared(const void *answer)
{
    return ((const struct integer_answer *)answer)->compared;
}

static bool differs(const void *answer)
{
    return ((const struct integer_answer *)answer)->differ;
}

#define OF(place, key, what)            RECORD_INNER(struct integer_answer, place, key, "", what)
#define OF_IF(place, key, what, is)     RECORD_INNER_IF(struct integer_answer, place, key, "", what, is)

/* clang-format off */
const struct record_field integer_gemm_fields[] = {
    OF(total, "total", "outputs of D"),
    OF_IF(exact, "exact", "outputs that are the exact integer; null: D has other steps or is "
                          "no integer", was_compared),
    OF_IF(overflow, "overflow", "outputs that are not, because a sum or D overflows", was_compared),
    { 0 }
}, integer_verify_fields[] = {
    OF(total, "total", "outputs of D"),
    OF(differ, "mismatches", "outputs that differ"),
    OF_IF(row, "first.row", "row of the first of them", differs),
    OF_IF(column, "first.column", "its column", differs),
    OF_IF(given, "first.given", "its integer, or its encoding", differs),
    OF_IF(expected, "first.expected", "that of the emulator", differs),
    { 0 }
};
/* clang-format on */

/* --- lines ------------------------------------------------------------------------ */

static void describe_verdict(char *text, size_t size, const void *answer)
{
    const struct integer_answer *const a = answer;
    if (!a->compared)
        text_add(text, size, "%zu outputs; not compared with exact integers, as D has other steps",
                 a->total);
    else if (!a->overflow)
        text_add(text, size, "all %zu outputs are the exact integers", a->total);
    else
        text_add(text, size, "%zu of %zu outputs overflow; the others are the exact integers",
                 a->overflow, a->total);
}

static void describe_match(char *text, size_t size, const void *answer)
{
    const struct integer_answer *const a = answer;
    if (!a->differ) text_add(text, size, "%zu of %zu outputs agree", a->total, a->total);
    else
        text_add(text, size,
                 "%zu of %zu outputs differ; D[%zu, %zu] is %lld, expected %lld",
                 a->differ, a->total, a->row, a->column, (long long)a->given,
                 (long long)a->expected);
}

const struct record_line integer_gemm_lines[] = {
    GEMM_LINES,
    { "matrices", gemm_describe_matrices, RECORD_ALWAYS, NULL },
    { LABEL_VERDICT, describe_verdict, RECORD_ALWAYS, NULL },
    { 0 }
}, integer_verify_lines[] = {
    GEMM_LINES,
    { "matrices", gemm_describe_matrices, RECORD_ALWAYS, NULL },
    { LABEL_VERDICT, describe_match, RECORD_ALWAYS, NULL },
    { 0 }
};
