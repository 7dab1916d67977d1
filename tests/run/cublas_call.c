/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* RTLD_DEFAULT, MAP_ANONYMOUS */

#include "tests/run/cublas_call.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef void any_routine(void);

static any_routine *find(const char *name, const char *ending)
{
    char text[64];
    any_routine *f;
    snprintf(text, sizeof text, "%s%s", name, ending);
    void *const symbol = dlsym(RTLD_DEFAULT, text);
    if (!symbol) {
        printf("%s is nowhere\n", text);
        exit(1);
    }
    memcpy(&f, &symbol, sizeof f);
    return f;
}

#define integer int32_t
#define CALL(x) x##_32
#define FIND(x) find(x, "")
#include "tests/run/cublas_call.inc"
#undef integer
#undef CALL
#undef FIND
#define integer int64_t
#define CALL(x) x##_64
#define FIND(x) find(x, "_64")
#include "tests/run/cublas_call.inc"

/* --- cublasLtMatmul() --------------------------------------------------------------- */

static void set(struct stub_descriptor *d, int which, int64_t value)
{
    d->known[which] = true;
    d->value[which] = value;
}

static struct stub_descriptor layout(const struct call *x, int by_rows, int64_t rows,
                                     int64_t cols, int64_t ld, int64_t stride)
{
    const int64_t value[] = { x->type, by_rows, rows, cols, ld, x->count, stride, 0 };
    struct stub_descriptor d = { .known = { false } };
    for (int i = 0; i < 8; i++) set(&d, i, value[i]);
    return d;
}

static struct stub_descriptor operation(const struct call *x)
{
    struct stub_descriptor d = { .known = { false } };
    set(&d, 0, x->compute);
    set(&d, 1, x->scale);
    set(&d, 2, x->handle->pointer_mode);
    set(&d, 3, x->ta);
    set(&d, 4, x->tb);
    set(&d, 5, 0);
    set(&d, 6, 2);
    set(&d, 7, 1);
    if (x->bias) set(&d, 7, 4), set(&d, 8, (intptr_t)x->bias);
    if (x->other.which) set(&d, x->other.which, x->other.value);
    return d;
}

static int matmul(const struct call *x)
{
    typedef int type(void *, void *, const void *, const void *, void *, const void *,
                     void *, const void *, const void *, void *, void *, void *,
                     const void *, void *, size_t, void *);
    struct stub_descriptor how = operation(x),
                           a = layout(x, x->rows_a, x->ta ? x->k : x->m,
                                      x->ta ? x->m : x->k, x->lda, x->sa),
                           b = layout(x, x->rows_b, x->tb ? x->n : x->k,
                                      x->tb ? x->k : x->n, x->ldb, x->sb),
                           c = layout(x, x->rows_c, x->m, x->n, x->ldc, x->sc),
                           d = layout(x, x->rows_d, x->m, x->n, x->ldd, x->sd);
    return ((type *)find("cublasLtMatmul", ""))(
        x->handle, &how, x->alpha, x->a, &a, x->b, &b, x->beta, x->c, &c, x->d, &d, NULL,
        x->workspace, x->workspace_bytes, x->handle->stream);
}

/* --- all of them -------------------------------------------------------------------- */

const char *const gemm_names[] = { "cublasSgemm_v2",
                                   "cublasSgemm_v2_64",
                                   "cublasSgemmStridedBatched",
                                   "cublasSgemmStridedBatched_64",
                                   "cublasSgemmBatched",
                                   "cublasSgemmBatched_64",
                                   "cublasGemmEx",
                                   "cublasGemmEx_64",
                                   "cublasGemmStridedBatchedEx",
                                   "cublasGemmStridedBatchedEx_64",
                                   "cublasGemmBatchedEx",
                                   "cublasGemmBatchedEx_64",
                                   "cublasSgemmEx",
                                   "cublasSgemmEx_64",
                                   "cublasLtMatmul",
                                   NULL };

int call_gemm(const char *name, const struct call *x)
{
    static int (*const all[])(const struct call *) = {
        gemm_32,       gemm_64,       strided_32,  strided_64,    batched_32,
        batched_64,    gemm_ex_32,    gemm_ex_64,  strided_ex_32, strided_ex_64,
        batched_ex_32, batched_ex_64, sgemm_ex_32, sgemm_ex_64,   matmul
    };
    int i = 0;
    while (strcmp(gemm_names[i], name) != 0) i++;
    return all[i](x);
}

/* --- streams ------------------------------------------------------------------------ */

struct model_stream stream_make(size_t bytes)
{
    struct model_stream s = { .bytes = bytes };
    s.memory = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (s.memory == MAP_FAILED) exit(1);
    return s;
}

void *stream_take(struct model_stream *s, size_t bytes)
{
    void *const at = s->memory + s->used;
    s->used += (bytes + 255) / 256 * 256;
    if (s->used > s->bytes) exit(1);
    return at;
}

void stream_put(const struct model_stream *s, void *to, const void *from, size_t bytes)
{
    model_unlock(s);
    memcpy(to, from, bytes);
    model_lock(s);
}

void stream_get(const struct model_stream *s, void *to, const void *from, size_t bytes)
{
    model_unlock(s);
    memcpy(to, from, bytes);
    model_lock(s);
}
