/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/gemm/matrix.h"

#include "lib/number/bits.h"
#include "lib/number/format.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum bitcut_status matrix_init(struct matrix *m, size_t rows, size_t cols,
                               struct fault *f)
{
    size_t count;
    const bool fits = size_multiply(&count, rows, cols);
    uint32_t *at = fits ? memory_allocate(count, sizeof *at) : NULL;
    if (!at)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for %zu x %zu elements",
                         rows, cols);
    *m = (struct matrix){ .rows = rows, .cols = cols, .at = at };
    return BITCUT_OK;
}

void matrix_clear(struct matrix *m)
{
    free(m->at);
    free(m->kept);
    *m = (struct matrix){ 0 };
}

void matrix_select(struct matrix *m, size_t i)
{
    const size_t each = m->rows * m->cols;
    if (!m->is_batch) return;
    if (i && each) memmove(m->at, m->at + i * each, each * sizeof *m->at);
    if (i && each && m->kept) memmove(m->kept, m->kept + i * (each / 2), each / 2);
    m->is_batch = false;
}

bool matrix_copy(struct matrix *to, const struct matrix *from)
{
    struct matrix x = { .at = NULL };
    bool made = !from->at || matrix_init(&x, from->rows, from->cols, NULL) == BITCUT_OK;
    if (made && from->at) memcpy(x.at, from->at, from->rows * from->cols * sizeof *x.at);
    if (made && from->at && from->kept) {
        x.kept = memory_allocate(from->rows, from->cols / 2);
        made = x.kept;
        if (made) memcpy(x.kept, from->kept, from->rows * (from->cols / 2));
    }
    if (made) *to = x;
    else matrix_clear(&x);
    return made;
}

void matrix_subtract(struct matrix *m, int32_t zero)
{
    for (size_t i = 0; i < matrix_count(m) * m->rows * m->cols; i++)
        m->at[i] = bits_of_float((float)(value_of_float(m->at[i]) - zero));
}

static bool has_integers(const struct matrix *m)
{
    return m->format && format_is_integer(m->format);
}

enum bitcut_status matrix_subtract_both(struct matrix *a, struct matrix *b,
                                        const int32_t zero[2], struct fault *f)
{
    if (!zero[0] && !zero[1]) return BITCUT_OK;
    if (!has_integers(a) || !has_integers(b) || !matrix_zero_fits(zero[0]) ||
        !matrix_zero_fits(zero[1]))
        return fault_set(
            f, BITCUT_BAD_ARGUMENT,
            "zero points require A and B with formats of integers, and are at "
            "most 2^22 if D has none");
    if (a->kept)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "zero points cannot be combined with a sparse A");
    matrix_subtract(a, zero[0]);
    matrix_subtract(b, zero[1]);
    return BITCUT_OK;
}

/* Set the number of elements of `bytes` bytes.  False if memory cannot hold them, or if
   it could not hold them after dropping the dimensions of 0, as in NumPy. */
static bool elements_count(size_t *count, int dims, const size_t *dim, int bytes)
{
    size_t nonzero = 1, total;
    bool empty = false;
    for (int i = 0; i < dims; i++) {
        if (dim[i] == 0) empty = true;
        else if (!size_multiply(&nonzero, nonzero, dim[i])) return false;
    }
    *count = empty ? 0 : nonzero;
    return size_multiply(&total, nonzero, (size_t)bytes);
}

enum bitcut_status array_init(struct array *a, int dims, const size_t *dim, int bytes,
                              bool floating, struct fault *f)
{
    assert(dims >= 0 && dims <= ARRAY_DIMS_MAX);
    assert(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
    struct array new = { .dims = dims, .bytes = bytes, .floating = floating };
    for (int i = 0; i < dims; i++) new.dim[i] = dim[i];
    if (!elements_count(&new.count, dims, dim, bytes))
        return fault_set(f, BITCUT_NO_MEMORY,
                         "the number of elements exceeds the address space");
    new.data = calloc(new.count ? new.count : 1, (size_t)bytes);
    if (!new.data)
        return fault_set(f, BITCUT_NO_MEMORY,
                         "not enough memory for %zu elements of %d bytes each", new.count,
                         bytes);
    *a = new;
    return BITCUT_OK;
}

void array_clear(struct array *a)
{
    free(a->data);
    *a = (struct array){ 0 };
}

uint64_t array_get(const struct array *a, size_t i)
{
    assert(i < a->count);
    switch (a->bytes) {
    case 1: return ((const uint8_t *)a->data)[i];
    case 2: return ((const uint16_t *)a->data)[i];
    case 4: return ((const uint32_t *)a->data)[i];
    default: return ((const uint64_t *)a->data)[i];
    }
}

void array_set(struct array *a, size_t i, uint64_t bits)
{
    assert(i < a->count);
    switch (a->bytes) {
    case 1: ((uint8_t *)a->data)[i] = (uint8_t)bits; break;
    case 2: ((uint16_t *)a->data)[i] = (uint16_t)bits; break;
    case 4: ((uint32_t *)a->data)[i] = (uint32_t)bits; break;
    default: ((uint64_t *)a->data)[i] = bits; break;
    }
}

void matrix_transpose(uint32_t *to, const uint32_t *from, size_t rows, size_t cols)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) to[j * rows + i] = from[i * cols + j];
}
