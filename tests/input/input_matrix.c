/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/input/input_matrix.h"

#include "lib/number/format.h"
#include "tests/test.h"

#include <string.h>

double f32_value(uint32_t x) { return format_to_double(&formats[FORMAT_F32], x); }

struct input input_parsed(const char *text)
{
    struct input in;
    struct fault f;
    if (input_parse(&in, text, &f)) ck_abort_msg("\"%s\": %s", text, f.text);
    return in;
}

struct matrix input_filled(const char *text, enum input_role role, uint64_t seed,
                           size_t rows, size_t cols, int threads)
{
    const struct input in = input_parsed(text);
    struct matrix m;
    struct fault f;
    ck_assert_int_eq(matrix_init(&m, rows, cols, &f), BITCUT_OK);
    memset(m.at, 0xa5, rows * cols * sizeof *m.at);
    if (input_fill(&m, &in, role, seed, threads, &f))
        ck_abort_msg("\"%s\": %s", text, f.text);
    return m;
}

void check_element(bool good, const char *text, const struct matrix *m, size_t i)
{
    if (!good)
        ck_abort_msg("%s: (%zu, %zu) is 0x%08" PRIx32 " (%a)", text, i / m->cols,
                     i % m->cols, m->at[i], f32_value(m->at[i]));
}
