/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/gemm/sparsity.h"

#include "lib/gemm/epilogue.h"
#include "lib/gemm/view.h"

#include <stdio.h>
#include <stdlib.h>

bool sparsity_is_shared(const struct bitcut_gemm *g)
{
    const struct bitcut_matrix *const read =
        sparsity_has_positions(g) ? &g->positions : &g->a;
    return !read->each && !read->stride;
}

enum bitcut_status sparsity_check(const struct bitcut_gemm *g, struct fault *f)
{
    const bool has_positions = sparsity_has_positions(g);
    if (!g->sparsity && has_positions)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "positions require a sparse A");
    if (g->sparsity && g->k % 4)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "a sparse A requires a k that is a multiple of 4, found %zu",
                         g->k);
    if (g->sparsity == BITCUT_COMPRESSED_A && !has_positions && g->m && g->n && g->k)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "a compressed A requires positions");
    if (has_positions && matrix_format(&g->positions) != &formats[FORMAT_U8])
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "positions must have the format u8, found %s",
                         matrix_format(&g->positions)->name);
    return BITCUT_OK;
}

enum bitcut_status sparsity_check_extras(const struct bitcut_gemm *g, struct fault *f)
{
    const bool factors = factor_depth(&g->scale_a) || factor_depth(&g->scale_b);
    if (!factors && !gemm_has_zeros(g)) return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT,
                     "%s cannot be combined with a sparse A",
                     factors ? "factors of blocks of k" : "zero points");
}

/* The kept positions of a four by its elements, those other than +-0 and then the last
   zeros.  False: more than two elements are not +-0. */
static bool choose(uint8_t to[2], const struct view *a, size_t row, size_t k)
{
    bool kept[4];
    int count = 0;
    for (size_t p = 0; p < 4; p++) {
        const uint32_t x = (uint32_t)view_encoding(a, row, k + p);
        kept[p] = format_decode(a->format, x).kind != NUMBER_ZERO;
        count += kept[p];
    }
    if (count > 2) return false;
    for (int p = 3; count < 2; p--) {
        count += !kept[p];
        kept[p] = true;
    }
    for (uint8_t p = 0; p < 4; p++)
        if (kept[p]) *to++ = p;
    return true;
}

/* The positions of a four of a row, given or by its elements.  False: they are no
   positions. */
static bool take(uint8_t to[2], const struct bitcut_gemm *g, const struct view *read,
                 size_t row, size_t k)
{
    if (!sparsity_has_positions(g)) return choose(to, read, row, k);
    for (size_t p = 0; p < 2; p++) to[p] = (uint8_t)view_encoding(read, row, k / 2 + p);
    return to[0] < to[1] && to[1] < 4;
}

/* The positions of matrix i, or its elements if there are none. */
static struct view read_view(const struct bitcut_gemm *g, size_t i)
{
    return sparsity_has_positions(g) ? view_of(&g->positions, i, g->m, g->k / 2, false)
                                     : view_of(&g->a, i, g->m, g->k, false);
}

enum bitcut_status sparsity_check_elements(const struct bitcut_gemm *g, size_t i,
                                           struct fault *f)
{
    const struct view read = g->k ? read_view(g, i) : (struct view){ .at = NULL };
    char which[40] = "";
    uint8_t at[2];
    if (!sparsity_is_shared(g)) snprintf(which, sizeof which, "GEMM %zu, ", i);
    for (size_t row = 0; row < g->m; row++)
        for (size_t k = 0; k < g->k; k += 4) {
            if (take(at, g, &read, row, k)) continue;
            if (!sparsity_has_positions(g))
                return fault_set(f, BITCUT_BAD_ARGUMENT,
                                 "A is not 2:4 sparse: %srow %zu has more than two "
                                 "elements other than 0 at k = %zu to %zu",
                                 which, row, k, k + 3);
            return fault_set(f, BITCUT_BAD_ARGUMENT,
                             "positions must ascend from 0 to 3 in each four of k; "
                             "%srow %zu has %d and %d at k = %zu to %zu",
                             which, row, at[0], at[1], k, k + 3);
        }
    return BITCUT_OK;
}

uint8_t *sparsity_positions(const struct bitcut_gemm *g)
{
    const size_t kept = g->k / 2;
    uint8_t *const to = memory_allocate(g->m, kept);
    const struct view read = kept ? read_view(g, 0) : (struct view){ .at = NULL };
    for (size_t row = 0; to && row < g->m; row++)
        for (size_t p = 0; p < kept; p += 2)
            take(to + row * kept + p, g, &read, row, 2 * p);
    return to;
}

/* Kept element p of a row as an FP32 encoding. */
static uint32_t get(const struct view *a, const struct bitcut_gemm *g,
                    const uint8_t *positions, size_t row, size_t p)
{
    return view_get(
        a, row,
        g->sparsity == BITCUT_COMPRESSED_A ? p : kept_k(positions + row * (g->k / 2), p));
}

bool sparsity_compress(struct matrix *to, const struct bitcut_gemm *g,
                       const uint8_t *positions)
{
    const size_t kept = g->k / 2;
    const struct view a = view_of(&g->a, 0, g->m, gemm_columns_of_a(g), false);
    if (matrix_init(to, g->m, kept, NULL) != BITCUT_OK) return false;
    for (size_t row = 0; row < g->m; row++)
        for (size_t p = 0; p < kept; p++)
            to->at[row * kept + p] = get(&a, g, positions, row, p);
    return true;
}

void sparsity_set(struct bitcut_gemm *g, const struct matrix *a)
{
    if (!a->kept) return;
    g->sparsity = BITCUT_SPARSE_A;
    g->positions =
        (struct bitcut_matrix){ .at = a->kept,
                                .format = &formats[FORMAT_U8],
                                .stride =
                                    matrix_count(a) > 1 ? a->rows * a->cols / 2 : 0 };
}

bool sparsity_expand(struct matrix *to, const struct bitcut_gemm *g)
{
    const size_t kept = g->k / 2;
    const struct view a = view_of(&g->a, 0, g->m, gemm_columns_of_a(g), false);
    uint8_t *const positions = sparsity_positions(g);
    if (!positions || matrix_init(to, g->m, g->k, NULL) != BITCUT_OK) {
        free(positions);
        return false;
    }
    to->kept = positions;
    to->format = a.format;
    memset(to->at, 0, g->m * g->k * sizeof *to->at);
    for (size_t row = 0; row < g->m; row++)
        for (size_t p = 0; p < kept; p++)
            to->at[row * g->k + kept_k(positions + row * kept, p)] =
                get(&a, g, positions, row, p);
    return true;
}
