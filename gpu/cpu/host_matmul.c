/* SPDX-License-Identifier: BSD-3-Clause */
/* The C interface of oneDNN, as far as it is called, from its documentation
   (dnnl_types.h, dnnl.h).  Versions 2 and 3 describe matrices and operations differently,
   and run them in the same way. */
#include "gpu/cpu/host_matmul.h"

#include "gpu/cpu/blas_library.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { CPU = 1, IN_ORDER = 1, F32 = 3, FPMATH_BF16 = 1, SRC = 1, WEIGHTS = 33, DST = 17 };

/* An argument of an execution. */
struct argument {
    int name;
    void *memory;
};

/* In version 2, descriptions are in the caller's memory: some hundred bytes for a matrix,
   and five times this for an operation. */
enum { MATRIX_BYTES = 4096, OPERATION_BYTES = 32768 };

/* Functions of the library.  The functions of one version are NULL in the other one. */
struct functions {
    int (*engine_create)(void **engine, int kind, size_t index);
    int (*stream_create)(void **stream, void *engine, unsigned flags);
    int (*attributes_create)(void **attributes);
    int (*set_fpmath)(void *attributes, int mode);
    int (*primitive_create)(void **primitive, const void *description);
    int (*memory_create)(void **memory, const void *matrix, void *engine, void *at);
    int (*set_place)(void *memory, void *at);
    int (*execute)(const void *primitive, void *stream, int count,
                   const struct argument *arguments);
    int (*wait)(void *stream);
    int (*memory_destroy)(void *memory);
    int (*primitive_destroy)(void *primitive);
    int (*description_destroy)(void *description);
    int (*attributes_destroy)(void *attributes);
    int (*stream_destroy)(void *stream);
    int (*engine_destroy)(void *engine);
    /* Only in version 2. */
    int (*matrix_init)(void *matrix, int dimensions, const int64_t *sizes, int type,
                       const int64_t *strides);
    int (*matmul_init)(void *operation, const void *a, const void *b, const void *bias,
                       const void *d);
    int (*describe)(void **description, const void *operation, const void *attributes,
                    void *engine, const void *hint);
    /* Only in version 3. */
    int (*matrix_create)(void **matrix, int dimensions, const int64_t *sizes, int type,
                         const int64_t *strides);
    int (*matrix_destroy)(void *matrix);
    int (*matmul_describe)(void **description, void *engine, const void *a, const void *b,
                           const void *bias, const void *d, const void *attributes);
};

enum { OF_BOTH = 15, OF_2 = 3, OF_3 = 3, NAMES = OF_BOTH + OF_2 + OF_3 };

/* In the order of the struct. */
static const char *const names[NAMES] = {
    "dnnl_engine_create",
    "dnnl_stream_create",
    "dnnl_primitive_attr_create",
    "dnnl_primitive_attr_set_fpmath_mode",
    "dnnl_primitive_create",
    "dnnl_memory_create",
    "dnnl_memory_set_data_handle",
    "dnnl_primitive_execute",
    "dnnl_stream_wait",
    "dnnl_memory_destroy",
    "dnnl_primitive_destroy",
    "dnnl_primitive_desc_destroy",
    "dnnl_primitive_attr_destroy",
    "dnnl_stream_destroy",
    "dnnl_engine_destroy",
    "dnnl_memory_desc_init_by_strides",
    "dnnl_matmul_desc_init",
    "dnnl_primitive_desc_create",
    "dnnl_memory_desc_create_with_strides",
    "dnnl_memory_desc_destroy",
    "dnnl_matmul_primitive_desc_create",
};

typedef void any_function(void);

_Static_assert(sizeof(struct functions) == NAMES * sizeof(any_function *),
               "a pointer for each name");

/* Whether all functions of both versions, and of one of the two, exist. */
static bool find(struct functions *to, void *library)
{
    bool all[3] = { true, true, true };
    for (int i = 0; i < NAMES; i++) {
        any_function **const at = (any_function **)to + i;
        blas_library_find(at, library, names[i]);
        all[i < OF_BOTH ? 0 : i < OF_BOTH + OF_2 ? 1 : 2] &= *at != NULL;
    }
    if (!all[2]) to->matmul_describe = NULL;
    return all[0] && (all[1] || all[2]);
}

int host_matmul_here(void *library)
{
    struct functions f;
    return find(&f, library);
}

/* --- making one ------------------------------------------------------------------- */

enum { A, B, D, MATRICES };

struct host_matmul {
    struct functions f;
    size_t m, n, k;
    void *engine, *stream, *attributes, *description, *primitive;
    void *matrix[MATRICES], *memory[MATRICES];
    alignas(16) char own[MATRICES][MATRIX_BYTES]; /* version 2 stores its matrices here */
};

void host_matmul_free(struct host_matmul *x)
{
    if (!x) return;
    for (int i = 0; i < MATRICES; i++) {
        if (x->memory[i]) x->f.memory_destroy(x->memory[i]);
        if (x->f.matmul_describe && x->matrix[i]) x->f.matrix_destroy(x->matrix[i]);
    }
    if (x->primitive) x->f.primitive_destroy(x->primitive);
    if (x->description) x->f.description_destroy(x->description);
    if (x->attributes) x->f.attributes_destroy(x->attributes);
    if (x->stream) x->f.stream_destroy(x->stream);
    if (x->engine) x->f.engine_destroy(x->engine);
    free(x);
}

/* Describe matrix i, row-major. */
static int make_matrix(struct host_matmul *x, int i, size_t rows, size_t cols)
{
    const int64_t sizes[12] = { (int64_t)rows, (int64_t)cols };
    const int64_t strides[12] = { (int64_t)cols, 1 };
    if (x->f.matmul_describe)
        return x->f.matrix_create(&x->matrix[i], 2, sizes, F32, strides);
    x->matrix[i] = x->own[i];
    return x->f.matrix_init(x->matrix[i], 2, sizes, F32, strides);
}

static int describe(struct host_matmul *x)
{
    void *const *const m = x->matrix;
    if (x->f.matmul_describe)
        return x->f.matmul_describe(&x->description, x->engine, m[A], m[B], NULL, m[D],
                                    x->attributes);
    void *const operation = calloc(1, OPERATION_BYTES);
    int status = operation ? x->f.matmul_init(operation, m[A], m[B], NULL, m[D]) : 1;
    if (!status)
        status =
            x->f.describe(&x->description, operation, x->attributes, x->engine, NULL);
    free(operation);
    return status;
}

static int make_all(struct host_matmul *x)
{
    int status = x->f.engine_create(&x->engine, CPU, 0);
    if (!status) status = x->f.stream_create(&x->stream, x->engine, IN_ORDER);
    if (!status) status = x->f.attributes_create(&x->attributes);
    if (!status) status = x->f.set_fpmath(x->attributes, FPMATH_BF16);
    if (!status) status = make_matrix(x, A, x->m, x->k);
    if (!status) status = make_matrix(x, B, x->k, x->n);
    if (!status) status = make_matrix(x, D, x->m, x->n);
    if (!status) status = describe(x);
    if (!status) status = x->f.primitive_create(&x->primitive, x->description);
    for (int i = 0; i < MATRICES && !status; i++)
        status = x->f.memory_create(&x->memory[i], x->matrix[i], x->engine, NULL);
    return status;
}

struct host_matmul *host_matmul_make(int *status, void *library, size_t m, size_t n,
                                     size_t k)
{
    struct host_matmul *const x = calloc(1, sizeof *x);
    *status = 1;
    if (!x) return NULL;
    x->m = m, x->n = n, x->k = k;
    if (find(&x->f, library)) *status = make_all(x);
    if (!*status) return x;
    host_matmul_free(x);
    return NULL;
}

int host_matmul_is(const struct host_matmul *x, size_t m, size_t n, size_t k)
{
    return x->m == m && x->n == n && x->k == k;
}

/* --- running it ------------------------------------------------------------------- */

int host_matmul_run(const struct host_matmul *x, float *d, const void *a, const void *b)
{
    const struct argument arguments[MATRICES] = { { SRC, x->memory[A] },
                                                  { WEIGHTS, x->memory[B] },
                                                  { DST, x->memory[D] } };
    int status = x->f.set_place(x->memory[A], (void *)(uintptr_t)a);
    if (!status) status = x->f.set_place(x->memory[B], (void *)(uintptr_t)b);
    if (!status) status = x->f.set_place(x->memory[D], d);
    if (!status) status = x->f.execute(x->primitive, x->stream, MATRICES, arguments);
    return status ? status : x->f.wait(x->stream);
}
