/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/matrix_option.h"

#include "lib/base/size.h"
#include "lib/gemm/sparsity.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* The names of the options of one matrix. */
static const struct names {
    const char *format, *shape;
} names[MATRICES] = {
    { "--format-a", "--shape-a" },
    { "--format-b", "--shape-b" },
    { "--format-c", "--shape-c" },
    { "--format-d", "--shape-d" },
};

int matrix_option_format(const struct bitcut_format **format,
                         const struct matrix_options *o, int matrix)
{
    const bool both = !o->format_of[matrix] && matrix <= MATRIX_B;
    const char *const name = both ? o->format : o->format_of[matrix];
    *format = bitcut_format_find(name);
    if (!name || *format) return EXIT_GOOD;
    return fail_unknown(both ? "--format" : names[matrix].format, name, TABLE(formats));
}

/* Read -x from the option's name. */
static int matrix_of(const char *option) { return option[1] - 'a'; }

static int shape_read(struct matrix_request *r, const char *text)
{
    int side[3];
    r->has_shape = text;
    if (!text) return EXIT_GOOD;
    if (!option_tile(side, text, 2, 1, INT_MAX) || (side[2] && !r->batch))
        return complain(r->shape_option, "must be rows and columns, for example 64x256");
    r->dims = side[2] ? 3 : 2;
    for (int i = 0; i < r->dims; i++) r->dim[i] = (size_t)side[i];
    return EXIT_GOOD;
}

int matrix_read(struct encoded_matrix *m, const char *option, const char *path,
                const struct matrix_options *o)
{
    const int matrix = matrix_of(option);
    struct matrix_request r = { .format_option = names[matrix].format,
                                .shape_option = names[matrix].shape,
                                .vector = matrix == MATRIX_C,
                                .batch = o->batches };
    struct fault f;
    if (!path) return complain(option, "is required; give A, B and D, .npy or .mtx");
    int status = matrix_option_format(&r.format, o, matrix);
    if (status == EXIT_GOOD) status = shape_read(&r, o->shape_of[matrix]);
    if (status != EXIT_GOOD) return status;
    return matrix_file_read(m, path, &r, &f) == BITCUT_OK ? EXIT_GOOD : fail(path, &f);
}

/* Refuse a matrix of a batch of `count`, that of option -x. */
static int fail_count(int matrix, const struct matrix *m, size_t count)
{
    static const char *const option[MATRICES] = { "-a", "-b", "-c", "-d" };
    struct fault f;
    if (m->is_batch)
        fault_set(&f, BITCUT_BAD_ARGUMENT, "%zu matrices, but the batch has %zu",
                  m->count, count);
    else
        fault_set(&f, BITCUT_BAD_ARGUMENT,
                  "one matrix, but the batch has %zu; expected a 3-D array", count);
    return fail(option[matrix], &f);
}

/* Reduce batches to the matrices of one GEMM. */
static int select_one(struct matrix *const of[MATRICES], bool is_batch, size_t count,
                      size_t index)
{
    struct fault f;
    if (!is_batch) return complain("--index", "requires a batch: a 3-D array");
    if (index >= count) {
        fault_set(&f, BITCUT_BAD_ARGUMENT, "%zu is not below %zu, the number of GEMMs",
                  index, count);
        return fail("--index", &f);
    }
    for (int i = 0; i < MATRICES; i++)
        matrix_select(of[i], of[i]->count == 1 ? 0 : index);
    return EXIT_GOOD;
}

int matrix_batch(bool *is_batch, size_t *count, struct matrix *const of[MATRICES],
                 const struct matrix_options *o)
{
    *is_batch = false;
    *count = 1;
    for (int i = MATRIX_A; i <= MATRIX_C; i++) {
        if (!of[i]->is_batch) continue;
        if (!*is_batch || *count == 1) *count = of[i]->count;
        *is_batch = true;
    }
    for (int i = MATRIX_A; i <= MATRIX_D; i++) {
        const struct matrix *const m = of[i];
        const bool fits = i == MATRIX_D && m->at
                              ? m->is_batch == *is_batch && matrix_count(m) == *count
                              : !m->is_batch || m->count == *count || m->count == 1;
        if (!fits) return fail_count(i, m, *count);
    }
    if (!o->batches || o->index == SIZE_MAX) return EXIT_GOOD;
    const int status = select_one(of, *is_batch, *count, o->index);
    *is_batch = false;
    *count = 1;
    return status;
}

int matrix_offsets(int32_t **offsets, size_t *count, const struct matrix *a,
                   const struct matrix_options *o)
{
    const char *const option = o->offsets_k ? "--offsets-k" : "--offsets",
                      *const path = o->offsets_k ? o->offsets_k : o->offsets;
    const size_t end = o->offsets_k ? a->cols : a->rows;
    struct matrix_request r = { .format = &formats[FORMAT_S32],
                                .format_option = "i4",
                                .shape_option = "--shape-a",
                                .vector = true };
    struct encoded_matrix m;
    struct fault f;
    if (o->offsets && o->offsets_k)
        return complain("--offsets, --offsets-k", "cannot be combined");
    if (matrix_file_read(&m, path, &r, &f) != BITCUT_OK) return fail(path, &f);
    *offsets = m.at;
    *count = m.rows * m.cols;
    int32_t before = 0;
    for (size_t i = 0; i < *count; before = (*offsets)[i++])
        if ((*offsets)[i] < before) {
            fault_set(&f, BITCUT_BAD_ARGUMENT, "must ascend; element %zu is %d after %d",
                      i, (int)(*offsets)[i], (int)before);
            return fail(option, &f);
        }
    if ((size_t)before == end) return EXIT_GOOD;
    fault_set(&f, BITCUT_BAD_ARGUMENT, "must end with %zu, the %s of A, found %d", end,
              o->offsets_k ? "columns" : "rows", (int)before);
    return fail(option, &f);
}

/* Read the file of --positions-a, for an A of `a->rows` rows and k columns. */
static int read_positions(struct encoded_matrix *m, const struct matrix *a, size_t k,
                          const struct matrix_options *o)
{
    struct matrix_request r = { .format = &formats[FORMAT_U8],
                                .format_option = "u1",
                                .shape_option = "--shape-a",
                                .batch = o->batches };
    struct fault f;
    if (matrix_file_read(m, o->positions, &r, &f) != BITCUT_OK)
        return fail(o->positions, &f);
    if (m->rows != a->rows || m->cols != k / 2) {
        fault_set(
            &f, BITCUT_BAD_ARGUMENT,
            "positions are %zu x %zu; expected %zu x %zu, one for each kept element "
            "of A",
            m->rows, m->cols, a->rows, k / 2);
        return fail("--positions-a", &f);
    }
    if (m->is_batch && m->count != 1 && m->count != matrix_count(a)) {
        fault_set(&f, BITCUT_BAD_ARGUMENT, "%zu matrices, but A has %zu", m->count,
                  matrix_count(a));
        return fail("--positions-a", &f);
    }
    return EXIT_GOOD;
}

/* Expand every matrix of A, those of g, to its k columns. */
static enum bitcut_status expand_sparse(struct matrix *a, const struct bitcut_gemm *g,
                                        struct fault *f)
{
    struct matrix all, one;
    const size_t each = g->m * g->k, count = matrix_count(a);
    size_t rows;
    if (!size_multiply(&rows, count, g->m))
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    enum bitcut_status status = matrix_init(&all, rows, g->k, f);
    if (status != BITCUT_OK) return status;
    all.kept = memory_allocate(rows, g->k / 2);
    if (!all.kept) status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    for (size_t i = 0; i < count && status == BITCUT_OK; i++) {
        const struct bitcut_gemm of = gemm_nth(g, i);
        if (!sparsity_expand(&one, &of)) {
            status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
            break;
        }
        memcpy(all.at + i * each, one.at, each * sizeof *all.at);
        memcpy(all.kept + i * (each / 2), one.kept, each / 2);
        matrix_clear(&one);
    }
    if (status != BITCUT_OK) {
        matrix_clear(&all);
        return status;
    }
    all.rows = g->m;
    all.format = a->format, all.is_batch = a->is_batch, all.count = a->count;
    matrix_clear(a);
    *a = all;
    return BITCUT_OK;
}

int matrix_sparse(struct matrix *a, size_t k, const struct matrix_options *o)
{
    struct encoded_matrix positions = { .at = NULL };
    struct bitcut_gemm g;
    struct fault f;
    const bool compressed = o->positions && a->cols != k && a->cols == k / 2;
    if (!compressed && a->cols != k) return EXIT_GOOD; /* the caller complains */
    const int status = o->positions ? read_positions(&positions, a, k, o) : EXIT_GOOD;
    if (status != EXIT_GOOD) return encoded_clear(&positions), status;
    bitcut_gemm_init(&g, sizeof g);
    gemm_set_dense(&g, NULL, a->rows, 0, k, a->at, NULL, NULL);
    g.count = matrix_count(a);
    g.a.stride = g.count > 1 ? a->rows * a->cols : 0;
    g.sparsity = compressed ? BITCUT_COMPRESSED_A : BITCUT_SPARSE_A;
    if (o->positions) g.positions = encoded_view(&positions);
    if (positions.is_batch && positions.count > 1) g.positions.stride = a->rows * (k / 2);
    enum bitcut_status found = sparsity_check(&g, &f);
    for (size_t i = 0; i < g.count && found == BITCUT_OK; i++)
        if (!i || !sparsity_is_shared(&g)) found = sparsity_check_elements(&g, i, &f);
    if (found == BITCUT_OK) found = expand_sparse(a, &g, &f);
    encoded_clear(&positions);
    return found == BITCUT_OK ? EXIT_GOOD
                              : fail(o->positions ? "--positions-a" : "--sparse-a", &f);
}

/* Keep rows [from, to). */
static void keep_rows(struct matrix *m, size_t from, size_t to)
{
    if (!m->at) return;
    if (m->kept)
        memmove(m->kept, m->kept + from * (m->cols / 2), (to - from) * (m->cols / 2));
    memmove(m->at, m->at + from * m->cols, (to - from) * m->cols * sizeof *m->at);
    m->rows = to - from;
}

/* Keep columns [from, to). */
static void keep_columns(struct matrix *m, size_t from, size_t to)
{
    for (size_t i = 0; i < m->rows; i++)
        memmove(m->at + i * (to - from), m->at + i * m->cols + from,
                (to - from) * sizeof *m->at);
    m->cols = to - from;
}

/* Groups of k: the same for A and B of two dimensions. */
static int groups_of_k(struct matrix *const of[MATRICES], const int32_t *offsets,
                       size_t count, const struct matrix_options *o)
{
    const struct matrix *const d = of[MATRIX_D], *const c = of[MATRIX_C];
    if (of[MATRIX_A]->is_batch || of[MATRIX_B]->is_batch)
        return complain("--offsets-k", "takes A and B of two dimensions: the k of all "
                                       "groups, one after the other");
    if (c->is_batch && c->count != count && c->count != 1)
        return fail_count(MATRIX_C, c, count);
    if (d->at && (!d->is_batch || d->count != count))
        return fail_count(MATRIX_D, d, count);
    if (o->index == SIZE_MAX) return EXIT_GOOD;
    const int status = select_one(of, true, count, o->index);
    if (status != EXIT_GOOD) return status;
    const size_t from = o->index ? (size_t)offsets[o->index - 1] : 0,
                 to = (size_t)offsets[o->index];
    keep_columns(of[MATRIX_A], from, to);
    keep_rows(of[MATRIX_B], from, to);
    return EXIT_GOOD;
}

int matrix_groups(struct matrix *const of[MATRICES], const int32_t *offsets, size_t count,
                  const struct matrix_options *o)
{
    struct matrix *const b = of[MATRIX_B];
    struct fault f;
    if (o->offsets_k) return groups_of_k(of, offsets, count, o);
    for (int i = MATRIX_A; i <= MATRIX_D; i++)
        if (i != MATRIX_B && of[i]->is_batch)
            return complain("--offsets",
                            "takes A, C and D of two dimensions: the rows of "
                            "all groups, one under the other");
    if (b->is_batch && b->count != count && b->count != 1) {
        fault_set(&f, BITCUT_BAD_ARGUMENT, "%zu matrices, but there are %zu groups",
                  b->count, count);
        return fail("-b", &f);
    }
    if (o->index == SIZE_MAX) return EXIT_GOOD;
    if (o->index >= count) {
        fault_set(&f, BITCUT_BAD_ARGUMENT, "%zu is not below %zu, the number of groups",
                  o->index, count);
        return fail("--index", &f);
    }
    const size_t from = o->index ? (size_t)offsets[o->index - 1] : 0,
                 to = (size_t)offsets[o->index];
    matrix_select(b, b->count == 1 ? 0 : o->index);
    keep_rows(of[MATRIX_A], from, to);
    keep_rows(of[MATRIX_C], from, to);
    keep_rows(of[MATRIX_D], from, to);
    return EXIT_GOOD;
}

int matrix_unread(const char *option, const struct matrix_options *o)
{
    const int matrix = matrix_of(option);
    char why[40];
    snprintf(why, sizeof why, "requires %s, a file", option);
    if (o->format_of[matrix]) return complain(names[matrix].format, why);
    return o->shape_of[matrix] ? complain(names[matrix].shape, why) : EXIT_GOOD;
}
