/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/quantization_error.h"

#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "lib/number/hostfp.h"

#include <math.h>

static bool has_d(const void *answer)
{
    return ((const struct quantization_error *)answer)->has_d;
}

#define ERROR(member, key, unit, what)                                                   \
    RECORD_INNER(struct quantization_error, member, key, unit, what)
#define OF_D(member, key, unit, what)                                                    \
    RECORD_INNER_IF(struct quantization_error, member, key, unit, what, has_d)

const struct record_field quantization_fields[] = {
    /* clang-format off */
    ERROR(component, "componentwise", "|A0||B0|",
          "the largest |C - C0|, C0 the exact result of the original matrices"),
    ERROR(worst_at, "worst", "", "row and column of that output"),
    ERROR(relres, "relres", "", "||C - C0|| / ||C0||"),
    OF_D(d_relres, "d_relres", "", "||D - C0|| / ||C0||"),
    OF_D(d_own, "d_own", "", "||D - C|| / ||C0||, the error of the kernel alone"),
    { 0 }
    /* clang-format on */
};

/* Factors of 1 in place of those of an operand. */
static enum bitcut_status ones(struct matrix *to, const struct matrix *from,
                               struct fault *f)
{
    if (!from->at) return BITCUT_OK;
    const enum bitcut_status status = matrix_init(to, from->rows, from->cols, f);
    for (size_t i = 0; status == BITCUT_OK && i < to->rows * to->cols; i++)
        to->at[i] = F32_ONE;
    return status;
}

/* Sums of squares, relative to the largest magnitude of C0. */
struct squares {
    double most, of_c0, of_c, of_d, of_own;
};

static void compare(struct quantization_error *to, const struct comparison *c,
                    const struct comparison *c0, const uint32_t *d)
{
    struct squares s = { 0 };
    const size_t count = c->m * c->n;
    for (size_t i = 0; i < count; i++) {
        const double v = fabs(double_of_bits(c0->reference64[i]));
        if (isfinite(v) && v > s.most) s.most = v;
    }
    for (size_t i = 0; i < count && s.most > 0; i++) {
        const double x = double_of_bits(c->reference64[i]),
                     x0 = double_of_bits(c0->reference64[i]),
                     y = d ? value_of_float(d[i]) : x, off = (x - x0) / s.most,
                     of_d = (y - x0) / s.most, own = (y - x) / s.most;
        if (!isfinite(x) || !isfinite(x0) || !isfinite(y)) continue;
        s.of_c0 += x0 / s.most * (x0 / s.most);
        s.of_c += off * off;
        s.of_d += of_d * of_d;
        s.of_own += own * own;
        const double component =
            c0->magnitude[i] > 0 ? fabs(x - x0) / c0->magnitude[i] : 0;
        if (!(component > to->component)) continue;
        to->component = component;
        to->worst_at[0] = i / c->n;
        to->worst_at[1] = i % c->n;
    }
    to->relres = s.of_c0 > 0 ? sqrt(s.of_c / s.of_c0) : 0;
    to->d_relres = s.of_c0 > 0 ? sqrt(s.of_d / s.of_c0) : 0;
    to->d_own = s.of_c0 > 0 ? sqrt(s.of_own / s.of_c0) : 0;
}

enum bitcut_status quantization_find(struct quantization_error *to,
                                     const struct bitcut_gemm *g,
                                     const struct gemm_data *data,
                                     const struct matrix *original_a,
                                     const struct matrix *original_b, const uint32_t *d,
                                     const struct gemm_options *options, struct fault *f)
{
    struct gemm_data before = *data;
    struct matrix one_a = { 0 }, one_b = { 0 };
    struct judge j, j0;
    struct hostfp mode;
    enum bitcut_status status = ones(&one_a, &data->scale_a, f);
    if (status == BITCUT_OK) status = ones(&one_b, &data->scale_b, f);
    if (original_a->at) before.a = *original_a, before.scale_a = one_a;
    if (original_b->at) before.b = *original_b, before.scale_b = one_b;
    if (status == BITCUT_OK) status = gemm_data_judge(&j0, &before, g, options, f);
    if (status == BITCUT_OK) {
        status = gemm_data_judge(&j, data, g, options, f);
        if (status == BITCUT_OK) {
            *to = (struct quantization_error){ .has_d = d };
            hostfp_enter(&mode);
            compare(to, &j.comparison, &j0.comparison, d);
            hostfp_leave(&mode);
            judge_clear(&j);
        }
        judge_clear(&j0);
    }
    matrix_clear(&one_a);
    matrix_clear(&one_b);
    return status;
}
