/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/run/cublas_arguments.h"
#include "lib/number/bits.h"

#include <stddef.h>
#include <string.h>

typedef int get_attribute(void *of, int which, void *to, size_t bytes, size_t *written);

static struct routine operation_get = { .name = "cublasLtMatmulDescGetAttribute" },
                      layout_get = { .name = "cublasLtMatrixLayoutGetAttribute" };

/* --- operations ------------------------------------------------------------------- */

/* The required values of attributes of the operation, for a product and nothing else, by
   the numbers of cublasLtMatmulDescAttributes_t. */
static const struct {
    int which;
    size_t bytes;
    uint64_t wanted;
    enum left_reason otherwise;
} plain[] = {
    { 0, 4, CUBLAS_COMPUTE_32, LEFT_COMPUTE },      /* ..._COMPUTE_TYPE          */
    { 1, 4, CUBLAS_REAL_32, LEFT_TYPES },           /* ..._SCALE_TYPE            */
    { 2, 4, CUBLAS_SCALARS_OF_HOST, LEFT_SCALARS }, /* ..._POINTER_MODE          */
    { 5, 4, 0, LEFT_EPILOGUE },                     /* ..._TRANSC: CUBLAS_OP_N   */
    { 6, 4, CUBLAS_LT_WHOLE, LEFT_EPILOGUE },       /* ..._FILL_MODE             */
    { 17, 8, 0, LEFT_EPILOGUE },                    /* ..._A_SCALE_POINTER: NULL */
    { 18, 8, 0, LEFT_EPILOGUE },                    /* ..._B_SCALE_POINTER       */
    { 19, 8, 0, LEFT_EPILOGUE },                    /* ..._C_SCALE_POINTER       */
    { 20, 8, 0, LEFT_EPILOGUE },                    /* ..._D_SCALE_POINTER       */
    { 21, 8, 0, LEFT_EPILOGUE },                    /* ..._AMAX_D_POINTER        */
    { 36, 8, 0, LEFT_EPILOGUE },                    /* ..._D_OUT_SCALE_POINTER   */
    { 38, 8, 0, LEFT_COMPUTE },                     /* ..._EMULATION_DESCRIPTOR  */
};

enum { TRANS_A = 3, TRANS_B = 4, EPILOGUE = 7, BIAS_POINTER = 8, BIAS_TYPE = 26 };

/* Attributes that an older library lacks have their former meaning: nothing is required
   of them. */
static enum legality check_operation(struct stream_call *there, void *operation,
                                     get_attribute *get)
{
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        union {
            uint32_t small;
            uint64_t large;
        } value = { .large = 0 };
        size_t written;
        if (get(operation, plain[i].which, &value, plain[i].bytes, &written) !=
            CUBLAS_SUCCESS)
            continue;
        if ((plain[i].bytes == 4 ? value.small : value.large) != plain[i].wanted)
            return cublas_leave(there, plain[i].otherwise);
    }
    return LEGAL;
}

/* A 32-bit number, or a default if there is none. */
static int32_t number_of(void *operation, int which, int32_t otherwise,
                         get_attribute *get)
{
    int32_t x;
    size_t written;
    return get(operation, which, &x, sizeof x, &written) == CUBLAS_SUCCESS ? x
                                                                           : otherwise;
}

static int trans_of(void *operation, int which, get_attribute *get)
{
    return cublas_trans(number_of(operation, which, -1, get));
}

/* --- matrices --------------------------------------------------------------------- */

/* A matrix as described by its descriptor. */
struct layout {
    int32_t type, order, count, by_pointers;
    uint64_t rows, cols;
    int64_t ld, stride, plane;
};

/* Attributes by the numbers of cublasLtMatrixLayoutAttribute_t. */
static const struct {
    int which;
    bool newer; /* missing in some libraries: then 0 */
    size_t at, bytes;
} parts[] = {
#define PART(x) offsetof(struct layout, x), sizeof((struct layout *)0)->x
    { 0, false, PART(type) },   { 1, false, PART(order) }, { 2, false, PART(rows) },
    { 3, false, PART(cols) },   { 4, false, PART(ld) },    { 5, false, PART(count) },
    { 6, false, PART(stride) }, { 7, false, PART(plane) }, { 8, true, PART(by_pointers) },
#undef PART
};

static bool read_layout(struct layout *to, void *from, get_attribute *get)
{
    *to = (struct layout){ 0 };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        size_t written;
        if (get(from, parts[i].which, (char *)to + parts[i].at, parts[i].bytes,
                &written) != CUBLAS_SUCCESS &&
            !parts[i].newer)
            return false;
    }
    return true;
}

static bool is_by_rows(const struct layout *x, int trans)
{
    return (x->order == CUBLAS_LT_BY_ROWS) == (trans == BLAS_NO_TRANS);
}

static uint64_t rows_of(const struct layout *x, int trans)
{
    return trans == BLAS_NO_TRANS ? x->rows : x->cols;
}

static uint64_t cols_of(const struct layout *x, int trans)
{
    return trans == BLAS_NO_TRANS ? x->cols : x->rows;
}

/* op() of a matrix. */
static struct bitcut_matrix op(const void *at, const struct layout *x, int trans)
{
    return (struct bitcut_matrix){ .at = at,
                                   .layout = is_by_rows(x, trans) ? BITCUT_ROW_MAJOR
                                                                  : BITCUT_COLUMN_MAJOR,
                                   .ld = (size_t)x->ld,
                                   .stride = x->count > 1 ? (size_t)x->stride : 0 };
}

static bool is_long_enough(const struct layout *x)
{
    const uint64_t length = x->order == CUBLAS_LT_BY_ROWS ? x->cols : x->rows;
    return x->ld > 0 && (uint64_t)x->ld >= length;
}

/* --- the product ------------------------------------------------------------------ */

enum { A, B, C, D, OPERANDS };

static enum legality check_layouts(struct stream_call *there,
                                   const struct layout x[OPERANDS])
{
    for (int i = 0; i < OPERANDS; i++)
        if (x[i].type != CUBLAS_REAL_32) return cublas_leave(there, LEFT_TYPES);
    for (int i = 0; i < OPERANDS; i++)
        if ((x[i].order != CUBLAS_LT_BY_COLUMNS && x[i].order != CUBLAS_LT_BY_ROWS) ||
            x[i].by_pointers || x[i].plane || x[i].count != x[D].count ||
            !is_long_enough(&x[i]))
            return cublas_leave(there, LEFT_LAYOUT);
    return LEGAL;
}

/* Whether the operands have the sizes of one product. */
static bool is_product(const struct layout x[OPERANDS], int trans_a, int trans_b)
{
    return trans_a && trans_b && rows_of(&x[A], trans_a) == x[D].rows &&
           cols_of(&x[B], trans_b) == x[D].cols &&
           cols_of(&x[A], trans_a) == rows_of(&x[B], trans_b) && x[C].rows == x[D].rows &&
           x[C].cols == x[D].cols && x[D].count >= 0;
}

static void set_matrices(struct bitcut_gemm *g, const struct cublas_lt_call *call,
                         const struct layout x[OPERANDS], int trans_a, int trans_b)
{
    g->m = x[D].rows, g->n = x[D].cols, g->k = cols_of(&x[A], trans_a);
    g->count = (size_t)x[D].count;
    g->a = op(call->a, &x[A], trans_a);
    g->b = op(call->b, &x[B], trans_b);
    g->c = op(call->c, &x[C], BLAS_NO_TRANS);
    g->d = op(call->d, &x[D], BLAS_NO_TRANS);
}

static enum legality set_scalars(struct bitcut_gemm *g, const struct cublas_lt_call *x)
{
    if (!x->alpha || !x->beta) return LEGAL_NOT;
    memcpy(&g->alpha, x->alpha, sizeof g->alpha);
    memcpy(&g->beta, x->beta, sizeof g->beta);
    const bool none = f32_is_zero(g->alpha);
    return !g->m || !g->n || !g->k || !g->count || none ? LEGAL_EMPTY : LEGAL;
}

/* A bias as C; type -1 means the type of D. */
static enum legality set_bias(struct product *to, struct stream_call *there,
                              void *operation, get_attribute *get)
{
    struct bitcut_gemm *const g = &to->gemm;
    const int32_t type = number_of(operation, BIAS_TYPE, -1, get);
    size_t written;
    if (number_of(operation, EPILOGUE, -1, get) != CUBLAS_LT_BIAS || g->count != 1 ||
        gemm_reads_c(g) || g->d.layout != BITCUT_COLUMN_MAJOR ||
        (type != CUBLAS_REAL_32 && type != -1) ||
        get(operation, BIAS_POINTER, &there->line, sizeof there->line, &written) !=
            CUBLAS_SUCCESS ||
        !there->line)
        return cublas_leave(there, LEFT_EPILOGUE);
    g->c = g->d;
    g->beta = 0x3f800000;
    return LEGAL;
}

enum legality cublas_lt_matmul(struct product *to, struct stream_call *there,
                               const struct cublas_lt_call *x, const void *caller)
{
    get_attribute *const operation = (get_attribute *)original_of(&operation_get, caller),
                         *const layout =
                             (get_attribute *)original_of(&layout_get, caller);
    void *const of[OPERANDS] = { x->of_a, x->of_b, x->of_c, x->of_d };
    struct layout layouts[OPERANDS];
    *to = (struct product){ .gemm = { 0 } };
    *there = (struct stream_call){ .stream = x->stream,
                                   .workspace = x->workspace,
                                   .workspace_bytes = x->workspace_bytes };
    bitcut_gemm_init(&to->gemm, sizeof to->gemm);
    if (!operation || !layout || !x->operation) return LEGAL_NOT;
    for (int i = 0; i < OPERANDS; i++)
        if (!of[i] || !read_layout(&layouts[i], of[i], layout)) return LEGAL_NOT;
    const int trans_a = trans_of(x->operation, TRANS_A, operation),
              trans_b = trans_of(x->operation, TRANS_B, operation);
    if (!is_product(layouts, trans_a, trans_b)) return LEGAL_NOT;
    set_matrices(&to->gemm, x, layouts, trans_a, trans_b);
    enum legality legality = check_layouts(there, layouts);
    if (legality == LEGAL) legality = check_operation(there, x->operation, operation);
    if (legality == LEGAL) legality = set_scalars(&to->gemm, x);
    if (legality == LEGAL &&
        number_of(x->operation, EPILOGUE, -1, operation) != CUBLAS_LT_NO_EPILOGUE)
        legality = set_bias(to, there, x->operation, operation);
    return legality;
}
