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

/* Whether D is the exact integer, apart from its range. */
static bool is_plain(const struct bitcut_gemm *g)
{
    struct bitcut_gemm plain = *g;
    plain.zero_a = plain.zero_b = 0;
    return !gemm_is_extended(&plain) && format_is_integer(matrix_format(&g->d));
}

/* The sum of the elements of each line, which the caller frees; NULL: no memory. */
static int64_t *sums_of(const int32_t *lines, size_t count, size_t length)
{
    int64_t *const to = memory_allocate(count, sizeof *to);
    for (size_t i = 0; to && i < count; i++) {
        to[i] = 0;
        for (size_t p = 0; p < length; p++) to[i] += lines[i * length + p];
    }
    return to;
}

/* The operands of exact sums: rows of A, columns of B, and the sum of each. */
struct exact_operands {
    int32_t *a, *b;
    int64_t *sum_a, *sum_b;
};

/* The integer of output (i, j) without alpha and C. */
static __int128 exact_product(const struct exact_operands *x, const struct bitcut_gemm *g,
                              size_t i, size_t j)
{
    const __int128 zero_a = g->zero_a, zero_b = g->zero_b;
    int64_t sum = 0; /* of products of 16 bits */
    for (size_t p = 0; p < g->k; p++)
        sum += (int64_t)x->a[i * g->k + p] * x->b[j * g->k + p];
    return sum - zero_b * x->sum_a[i] - zero_a * x->sum_b[j] +
           zero_a * zero_b * (int64_t)g->k;
}

/* The kind of an output of a format. */
static enum integer_kind kind_of(int64_t given, __int128 exact,
                                 const struct bitcut_format *format)
{
    const __int128 steps = (__int128)1 << format->bits,
                   low = format->has_sign ? -(steps >> 1) : 0, high = low + steps - 1;
    if (given == exact) return INTEGER_EXACT;
    if (exact >= low && exact <= high) return INTEGER_OTHER;
    if ((exact - given) % steps == 0) return INTEGER_WRAPPED;
    return given == (exact < low ? low : high) ? INTEGER_LIMITED : INTEGER_OTHER;
}

static void write_integer(char to[INTEGER_TEXT_MAX], __int128 x)
{
    char digits[INTEGER_TEXT_MAX];
    size_t count = 0, at = 0;
    unsigned __int128 rest = x < 0 ? -(unsigned __int128)x : (unsigned __int128)x;
    do digits[count++] = (char)('0' + (int)(rest % 10));
    while (rest /= 10);
    if (x < 0) to[at++] = '-';
    while (count) to[at++] = digits[--count];
    to[at] = 0;
}

static void count_all(struct integer_outputs *to, const struct exact_operands *x,
                      const struct bitcut_gemm *g)
{
    const struct view d = view_of(&g->d, 0, g->m, g->n, false),
                      c = view_of(&g->c, 0, g->m, g->n, false);
    const __int128 alpha = (int64_t)value_of_float(g->alpha),
                   beta = (int64_t)value_of_float(g->beta);
    for (size_t i = 0; i < g->m; i++)
        for (size_t j = 0; j < g->n; j++) {
            const __int128 exact = alpha * exact_product(x, g, i, j) +
                                   (gemm_reads_c(g) ? beta * view_integer(&c, i, j) : 0);
            const int64_t given = view_integer(&d, i, j);
            const enum integer_kind kind = kind_of(given, exact, d.format);
            if (to->of[kind]++) continue;
            to->first[kind] = (struct integer_output){ i, j, given, "" };
            write_integer(to->first[kind].exact, exact);
        }
}

enum bitcut_status integer_outputs_count(struct integer_outputs *to,
                                         const struct bitcut_gemm *g, struct fault *f)
{
    struct exact_operands x = { lines_of(&g->a, g->m, g->k, false),
                                lines_of(&g->b, g->k, g->n, true), NULL, NULL };
    if (x.a) x.sum_a = sums_of(x.a, g->m, g->k);
    if (x.b) x.sum_b = sums_of(x.b, g->n, g->k);
    const bool ready = x.sum_a && x.sum_b;
    *to = (struct integer_outputs){ .total = g->m * g->n };
    if (ready) count_all(to, &x, g);
    free(x.a);
    free(x.b);
    free(x.sum_a);
    free(x.sum_b);
    return ready ? BITCUT_OK
                 : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for integers");
}

enum bitcut_status integer_answer_compare(struct integer_answer *to,
                                          const struct bitcut_gemm *g, struct fault *f)
{
    struct integer_outputs all;
    to->total = g->m * g->n;
    if (!is_plain(g)) return BITCUT_OK;
    const enum bitcut_status status = integer_outputs_count(&all, g, f);
    if (status != BITCUT_OK) return status;
    to->exact = all.of[INTEGER_EXACT];
    to->overflow = to->total - to->exact;
    to->compared = true;
    return BITCUT_OK;
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
