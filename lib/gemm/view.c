/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/gemm/view.h"

#include "lib/base/threads.h"
#include "lib/number/bits.h"

const struct bitcut_format *matrix_format(const struct bitcut_matrix *x)
{
    return x->format ? x->format : &formats[FORMAT_F32];
}

size_t matrix_ld(const struct bitcut_matrix *x, size_t rows, size_t cols)
{
    if (x->ld) return x->ld;
    return x->layout == BITCUT_ROW_MAJOR ? cols : rows;
}

const void *matrix_nth(const struct bitcut_matrix *x, size_t i)
{
    const size_t bytes = (size_t)format_bytes(matrix_format(x));
    if (x->each) return x->each[i];
    return x->at ? (const char *)x->at + i * x->stride * bytes : NULL;
}

struct view view_of(const struct bitcut_matrix *x, size_t i, size_t rows, size_t cols,
                    bool columns)
{
    const size_t ld = matrix_ld(x, rows, cols);
    const bool turned = columns == (x->layout == BITCUT_ROW_MAJOR);
    return (struct view){ matrix_nth(x, i), matrix_format(x), turned ? 1 : ld,
                          turned ? ld : 1 };
}

uint64_t view_encoding(const struct view *v, size_t line, size_t p)
{
    return encoding_get(v->at, format_bytes(v->format), line * v->across + p * v->along);
}

double view_f64(const struct view *v, size_t line, size_t p)
{
    const uint64_t x = view_encoding(v, line, p);
    return v->format == &formats[FORMAT_F64] ? double_of_bits(x)
                                             : format_to_double(v->format, x);
}

void view_set_f64(const struct view *v, size_t line, size_t p, double x)
{
    ((double *)(uintptr_t)v->at)[line * v->across + p * v->along] = x;
}

int32_t view_integer(const struct view *v, size_t line, size_t p)
{
    const struct number x = format_decode(v->format, view_encoding(v, line, p));
    return (int32_t)(x.negative ? -(int64_t)x.significand : (int64_t)x.significand);
}

uint32_t view_get(const struct view *v, size_t line, size_t p)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32];
    const uint64_t x = view_encoding(v, line, p);
    if (v->format == f32) return (uint32_t)x;
    return (uint32_t)bitcut_format_convert(f32, &roundings[ROUND_RN], v->format, x);
}

/* The value of a result in a format: rounded once, or a NaN with its leading bits. */
static uint32_t narrowed(const struct bitcut_format *to, uint32_t x)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32];
    static const struct bitcut_rounding modulo = { .direction = TO_NEAREST_EVEN,
                                                   .overflow = OVERFLOW_WRAP };
    if (to == f32) return x;
    if (format_is_integer(to))
        return (uint32_t)bitcut_format_convert(to, &modulo, f32, x);
    if (!f32_is_nan(x) || to->special != SPECIAL_IEEE)
        return (uint32_t)bitcut_format_convert(to, &roundings[ROUND_RN], f32, x);
    const uint32_t fraction = (x & 0x7fffff) >> (23 - to->fraction_bits);
    return (uint32_t)format_infinity(to, x >> 31) | fraction << to->pad;
}

void view_set(const struct view *v, size_t line, size_t p, uint32_t x)
{
    view_set_encoding(v, line, p, narrowed(v->format, x));
}

void view_set_encoding(const struct view *v, size_t line, size_t p, uint32_t x)
{
    const size_t at = line * v->across + p * v->along;
    void *const to = (void *)(uintptr_t)v->at;
    switch (format_bytes(v->format)) {
    case 1: ((uint8_t *)to)[at] = (uint8_t)x; break;
    case 2: ((uint16_t *)to)[at] = (uint16_t)x; break;
    default: ((uint32_t *)to)[at] = x;
    }
}

/* Gather row i. */
static void gather_row(uint32_t *to, const struct view *v, const struct gathering *x,
                       size_t i, size_t cols)
{
    for (size_t j = 0; j < cols; j++) {
        const size_t line = x->columns ? j : i, p = x->columns ? i : j;
        const size_t from = x->element ? x->element[p] : p;
        to[i * cols + j] = from < x->k ? view_get(v, line, from) : 0;
    }
}

uint32_t *view_gather(const struct view *v, const struct gathering *x, int threads)
{
    const size_t rows = x->columns ? x->length : x->lines,
                 cols = x->columns ? x->lines : x->length;
    size_t count;
    if (!size_multiply(&count, rows, cols)) return NULL;
    uint32_t *const to = memory_allocate(count, sizeof *to);
    if (!to) return NULL;
    const int team = threads_for_work(threads, rows, 2 * cols);
    if (team == 1) {
        for (size_t i = 0; i < rows; i++) gather_row(to, v, x, i, cols);
        return to;
    }
#pragma omp parallel for schedule(static) num_threads(team)
    for (size_t i = 0; i < rows; i++) gather_row(to, v, x, i, cols);
    return to;
}

bool view_matrix(struct matrix *to, const struct bitcut_matrix *from, size_t i,
                 size_t rows, size_t cols, int threads)
{
    const struct view view = view_of(from, i, rows, cols, false);
    const struct gathering all = { .lines = rows, .k = cols, .length = cols };
    *to = (struct matrix){ .rows = rows,
                           .cols = cols,
                           .at = view_gather(&view, &all, threads),
                           .format = view.format };
    return to->at;
}
