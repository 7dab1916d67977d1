/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/cpu/host_parts.h"

#include "gpu/cpu/host_code.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/number/equilibrate.h"
#include "lib/number/hostfp.h"

#include <string.h>

/* --- the split pass --------------------------------------------------------------- */

/* Element p of line i. */
static uint32_t element(const uint32_t *matrix, const struct operand *x, size_t i,
                        size_t p)
{
    const size_t ld = x->matrix->ld;
    return x->across ? matrix[p * ld + i] : matrix[i * ld + p];
}

static uint32_t largest_of(const uint32_t *matrix, const struct operand *x, size_t i)
{
    uint32_t largest = 0;
    for (size_t p = 0; p < x->k; p++)
        largest = equilibrate_larger(largest, element(matrix, x, i, p));
    return largest;
}

/* Make the parts of line i, times 2^exponent, followed by +0. */
static void make_line(void *parts, const struct operand *x, const uint32_t *matrix,
                      size_t i, int exponent)
{
    const struct bitcut_split *const s = x->split;
    char *to[SPLIT_PARTS_MAX];
    for (int j = 0; j < s->parts; j++) {
        to[j] = host_parts_line(parts, x, j, i);
        memset(to[j], 0, j ? parts_low_line_bytes(x) : parts_line_bytes(x));
    }
    for (size_t p = 0; p < x->k; p++) {
        uint64_t part[SPLIT_PARTS_MAX];
        uint32_t v = element(matrix, x, i, p);
        if (exponent) v = equilibrate_scale(v, exponent);
        split_apply(part, s, v);
        for (int j = 0; j < s->parts; j++) {
            const size_t bytes = (size_t)format_bytes(s->part[j].format);
            memcpy(to[j] + p * bytes, &part[j], bytes);
        }
    }
}

void host_parts_largest(uint32_t *to, const struct operand *x, size_t i)
{
    const uint32_t *const matrix = matrix_nth(x->matrix, i);
#pragma omp parallel for schedule(static) num_threads(threads_for(0, x->lines))
    for (size_t line = 0; line < x->lines; line++) to[line] = largest_of(matrix, x, line);
}

static void make_lines(void *parts, const struct operand *x, const uint32_t *matrix,
                       const uint32_t *largest)
{
#pragma omp parallel num_threads(threads_for(0, x->lines))
    {
        struct hostfp saved;
        hostfp_enter(&saved);
#pragma omp for schedule(static)
        for (size_t line = 0; line < x->lines; line++)
            make_line(parts, x, matrix, line,
                      largest ? equilibrate_exponent(x->split, largest[line]) : 0);
        hostfp_leave(&saved);
    }
}

#if HOST_HAS_CODE
/* Whether vector instructions make them. */
static bool are_vectors(const struct bitcut_split *s)
{
    return split_is_uniform(s) && format_bytes(s->part[0].format) == sizeof(uint16_t) &&
           __builtin_cpu_supports("avx512f");
}
#endif

void host_parts_make(void *parts, const struct operand *x, size_t i)
{
    uint32_t *const largest = (uint32_t *)parts_largest(parts, x);
    if (largest) host_parts_largest(largest, x, i);
#if HOST_HAS_CODE
    if (are_vectors(x->split)) {
        host_tiles_parts(parts, x, i, largest);
        return;
    }
#endif
    make_lines(parts, x, matrix_nth(x->matrix, i), largest);
}
