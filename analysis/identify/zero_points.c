/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/zero_points.h"

#include "lib/base/text.h"

/* A fault: the factors of the three terms, for zero points that may be exchanged. */
static const struct zero_fault {
    const char *fault, *what;
    int rows, cols, constant;
    bool exchanged;
} faults[] = {
    /* clang-format off */
    { NULL, "", 1, 1, 1, false },
    { "zero point of A ignored", "the zero point of A is ignored", 1, 0, 0, false },
    { "zero point of B ignored", "the zero point of B is ignored", 0, 1, 0, false },
    { "zero points ignored", "the zero points of A and B are ignored", 0, 0, 0, false },
    { "zero points exchanged", "the zero points of A and B are exchanged", 1, 1, 1, true },
    { "zero point of A added", "the zero point of A is added instead of subtracted", 1, -1, -1, false },
    { "zero point of B added", "the zero point of B is added instead of subtracted", -1, 1, -1, false },
    { "zero points added", "the zero points of A and B are added instead of subtracted", -1, -1, 1, false },
    { "term of both zero points lost", "the term k zero_a zero_b is lost", 1, 1, 0, false },
    { "term of both zero points negated", "the term k zero_a zero_b is subtracted instead of added", 1, 1, -1, false },
    { "row sums of A lost", "the sums of the rows of A are not corrected", 0, 1, 1, false },
    { "column sums of B lost", "the sums of the columns of B are not corrected", 1, 0, 1, false },
    { "zero points twice", "the correction for the zero points is added twice", 2, 2, 2, false },
    { NULL, NULL, 0, 0, 0, false }
    /* clang-format on */
};

_Static_assert(sizeof faults / sizeof *faults <= ZERO_TERMS_MAX, "room for all faults");

static bool same(const struct zero_terms *x, const struct zero_terms *y)
{
    return x->rows == y->rows && x->cols == y->cols && x->constant == y->constant;
}

size_t zero_terms_of(struct zero_terms to[ZERO_TERMS_MAX], int32_t zero_a, int32_t zero_b,
                     size_t k)
{
    size_t count = 0;
    for (const struct zero_fault *f = faults; f->what; f++) {
        const uint64_t a = (uint64_t)(int64_t)(f->exchanged ? zero_b : zero_a),
                       b = (uint64_t)(int64_t)(f->exchanged ? zero_a : zero_b);
        const struct zero_terms x = { (uint64_t)(int64_t)-f->rows * b,
                                      (uint64_t)(int64_t)-f->cols * a,
                                      (uint64_t)(int64_t)f->constant * k * a * b,
                                      f->fault,
                                      f->what,
                                      false };
        bool known = false;
        for (size_t i = 0; i < count; i++) known |= same(&x, &to[i]);
        if (!known) to[count++] = x;
    }
    return count;
}

/* What the difference of two outputs is for each unit of the difference of their sums. */
static int64_t slope(const int64_t excess[3], int other, const int64_t sum[2])
{
    const int64_t sums = wrapped_less(sum[1], sum[0]);
    return sums ? wrapped_quotient(wrapped_less(excess[other], excess[0]), sums) : 0;
}

void zero_terms_fit(struct zero_terms *to, const struct zero_outputs *x, size_t k)
{
    const int64_t rows = slope(x->excess, 1, x->row_sum),
                  cols = slope(x->excess, 2, x->col_sum);
    *to = (struct zero_terms){ .rows = (uint64_t)rows,
                               .cols = (uint64_t)cols,
                               .constant = (uint64_t)x->excess[0] -
                                           (uint64_t)rows * (uint64_t)x->row_sum[0] -
                                           (uint64_t)cols * (uint64_t)x->col_sum[0],
                               .fitted = true };
    const uint64_t both = k * to->rows * to->cols;
    if (to->constant == both || !both) return;
    if (to->constant == 0) to->fault = "term of both zero points lost";
    if (to->constant == 0 - both) to->fault = "term of both zero points negated";
}

void zero_terms_describe(char *text, size_t size, const struct zero_terms *x, size_t k)
{
    const uint64_t both = k * x->rows * x->cols;
    if (x->fault && !x->fitted) text_add(text, size, ", but %s", x->what);
    if (!x->fitted) return;
    if (x->rows || x->cols)
        text_add(text, size, ", with the zero points %lld of A and %lld of B",
                 (long long)(int64_t)(0 - x->cols), (long long)(int64_t)(0 - x->rows));
    if (x->fault)
        text_add(text, size, ", but the term k zero_a zero_b is %s",
                 x->constant ? "subtracted instead of added" : "lost");
    else if (x->constant != both)
        text_add(text, size, ", plus %lld", (long long)(int64_t)(x->constant - both));
}
