/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs of rocBLAS, with which kernels are compared.  The library is opened while the
   module runs, and never linked.  Its prototypes and numbers are taken from rocBLAS's
   reference, and are the same in ROCm 5, 6 and 7; no header is needed.  Nobody ran this
   for bitcut on an AMD GPU.

   rocBLAS is column-major, so it computes D^T = B^T A^T.  Parts lie with k ascending, so
   B of a product of parts is transposed for it. */
#define _GNU_SOURCE

#include "gpu/hip/runtime.h"

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the table -------------------------------------------------------------------- */

/* Of rocblas_datatype and rocblas_operation. */
enum { F16 = 150, F32 = 151, AS_IT_IS = 111, TRANSPOSED = 112 };

enum { CALLS_MAX = 3 };

/* A peer as rocblas_gemm_ex() computes it, or one of its variants for a batch.  For
   parts, D is the sum of several calls, each the product of parts a and b divided by
   2^(scale (a + b)). */
struct call_row {
    int operands, output, compute, calls;
    struct {
        int a, b;
    } call[CALLS_MAX];
};

/* clang-format off */
static const struct call_row
    sgemm       = { F32, F32, F32, 1, { { 0, 0 } } },
    hgemm       = { F16, F32, F32, 1, { { 0, 0 } } },
    ootomo3     = { F16, F32, F32, 3, { { 1, 0 }, { 0, 1 }, { 0, 0 } } },
    single_sums = { F16, F16, F32, 1, { { 0, 0 } } },
    half_sums   = { F16, F16, F16, 1, { { 0, 0 } } };

const struct gpu_peer peers[] = {
    { "sgemm",        "rocBLAS, FP32",                              FORMAT_F32, false, NULL,       GPU_PEER_SINGLE, &sgemm },
    { "hgemm",        "rocBLAS, f16 in, FP32 accumulated and out",  FORMAT_F32, false, "half",     GPU_PEER_HALF,   &hgemm },
    { "ootomo3",      "rocBLAS, three f16 products of split parts", FORMAT_F32, false, "halfhalf", GPU_PEER,        &ootomo3 },
    { "strided",      "rocblas_gemm_strided_batched_ex, FP32 sums", FORMAT_F16, false, NULL,       GPU_PEER,        &single_sums },
    { "pointers",     "rocblas_gemm_batched_ex, FP32 sums",         FORMAT_F16, true,  NULL,       GPU_PEER,        &single_sums },
    { "strided-f16",  "rocblas_gemm_strided_batched_ex, f16 sums",  FORMAT_F16, false, NULL,       GPU_PEER,        &half_sums },
    { "pointers-f16", "rocblas_gemm_batched_ex, f16 sums",          FORMAT_F16, true,  NULL,       GPU_PEER,        &half_sums },
    { 0 }
};
/* clang-format on */

/* --- the library ------------------------------------------------------------------ */

/* rocblas_int is int32_t; enumerations are passed as int, handles as pointers. */
struct peer_library {
    int (*rocblas_create_handle)(void **handle);
    int (*rocblas_destroy_handle)(void *handle);
    int (*rocblas_set_stream)(void *handle, void *stream);
    int (*rocblas_get_version_string)(char *text, size_t bytes);
    const char *(*rocblas_status_to_string)(int status);
    int (*rocblas_gemm_strided_batched_ex)(
        void *handle, int turn_a, int turn_b, int32_t m, int32_t n, int32_t k,
        const void *alpha, const void *a, int type_a, int32_t ld_a, int64_t stride_a,
        const void *b, int type_b, int32_t ld_b, int64_t stride_b, const void *beta,
        const void *c, int type_c, int32_t ld_c, int64_t stride_c, void *d, int type_d,
        int32_t ld_d, int64_t stride_d, int32_t count, int compute, int algorithm,
        int32_t solution, uint32_t flags);
    int (*rocblas_gemm_batched_ex)(void *handle, int turn_a, int turn_b, int32_t m,
                                   int32_t n, int32_t k, const void *alpha, const void *a,
                                   int type_a, int32_t ld_a, const void *b, int type_b,
                                   int32_t ld_b, const void *beta, const void *c,
                                   int type_c, int32_t ld_c, void *d, int type_d,
                                   int32_t ld_d, int32_t count, int compute,
                                   int algorithm, int32_t solution, uint32_t flags);
    void *handle;
};

static bool find(void *library, const char *name, void *to)
{
    void *const at = dlsym(library, name);
    memcpy(to, &at, sizeof at);
    return at != NULL;
}

static bool find_all(struct peer_library *x, void *library)
{
#define FIND(name) find(library, #name, &x->name)
    return FIND(rocblas_create_handle) && FIND(rocblas_destroy_handle) &&
           FIND(rocblas_set_stream) && FIND(rocblas_get_version_string) &&
           FIND(rocblas_status_to_string) && FIND(rocblas_gemm_strided_batched_ex) &&
           FIND(rocblas_gemm_batched_ex);
#undef FIND
}

static void *open_library(void)
{
    void *found = NULL;
    for (const char *const *name = hip_library.peers; *name && !found; name++)
        found = dlopen(*name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    return found;
}

/* Whether the library can be used.  `text` becomes its version, or the reason why it
   cannot. */
static bool start_library(struct peer_library *x, char text[GPU_TEXT_MAX],
                          rt_stream stream)
{
    char version[GPU_TEXT_MAX / 2] = "";
    int status = x->rocblas_create_handle(&x->handle);
    if (!status) status = x->rocblas_set_stream(x->handle, stream);
    if (!status) status = x->rocblas_get_version_string(version, sizeof version);
    if (status)
        snprintf(text, GPU_TEXT_MAX, "none: %.200s",
                 x->rocblas_status_to_string(status));
    else snprintf(text, GPU_TEXT_MAX, "rocBLAS %s", version);
    return !status;
}

void peer_open(struct peer_library **to, struct gpu_library *library, rt_stream stream)
{
    struct peer_library *x = calloc(1, sizeof *x);
    void *const file = open_library();
    *to = NULL;
    *library = (struct gpu_library){ 0 };
    if (!hip_library.peers[0])
        snprintf(library->text, GPU_TEXT_MAX, "none: %s has no peers", hip_library.what);
    else if (!file || !x)
        snprintf(library->text, GPU_TEXT_MAX, "none: no %s", hip_library.peers[0]);
    else if (!find_all(x, file))
        snprintf(library->text, GPU_TEXT_MAX, "none: %s lacks required functions",
                 hip_library.peers[0]);
    else library->here = start_library(x, library->text, stream);
    if (library->here) *to = x;
    else peer_close(x);
}

void peer_close(struct peer_library *x)
{
    if (x && x->handle) x->rocblas_destroy_handle(x->handle);
    free(x);
}

/* --- products --------------------------------------------------------------------- */

/* An operand as rocBLAS takes it. */
struct factor {
    const void *at; /* the first element, or the pointers        */
    int turned, ld;
    int64_t stride;
};

static struct factor factor_of(const struct gpu_work *w, const struct gpu_peer *peer,
                               enum bitcut_operand which, int part)
{
    const struct operand x = operand_of(w, which);
    const struct bitcut_matrix *m = x.matrix;
    const size_t run = parts_row_bytes(FORMAT_F16, x.k) / sizeof(uint16_t);
    if (!peer->split)
        return (struct factor){ m->each ? (const void *)m->each : m->at, AS_IT_IS,
                                (int)m->ld, (int64_t)m->stride };
    return (struct factor){ (const uint16_t *)m->prepared + (size_t)part * x.lines * run,
                            which == BITCUT_B ? TRANSPOSED : AS_IT_IS, (int)run,
                            (int64_t)(m->prepared_stride / sizeof(uint16_t)) };
}

/* A number in the type of the row's sums. */
union scalar {
    float single;
    uint16_t half;
};

static union scalar scalar_of(const struct call_row *row, float x)
{
    union scalar s = { 0 };
    if (row->compute == F16) s.half = x == 1 ? 0x3c00 : 0;
    else s.single = x;
    return s;
}

static int start_call(const struct peer_library *x, const struct gpu_peer *peer,
                      const struct gpu_work *w, int i)
{
    const struct call_row *row = peer->own;
    const struct bitcut_gemm *g = &w->gemm;
    const int part_a = row->call[i].a, part_b = row->call[i].b;
    const struct factor a = factor_of(w, peer, BITCUT_A, part_a),
                        b = factor_of(w, peer, BITCUT_B, part_b);
    const int exponent = -w->plan.split_a.scale * (part_a + part_b);
    const union scalar alpha = scalar_of(row, ldexpf(1, exponent)),
                       beta = scalar_of(row, i > 0);
    const int m = (int)g->m, n = (int)g->n, k = (int)g->k, count = (int)g->count;
    if (peer->pointers)
        return x->rocblas_gemm_batched_ex(
            x->handle, b.turned, a.turned, n, m, k, &alpha, b.at, row->operands, b.ld,
            a.at, row->operands, a.ld, &beta, g->d.each, row->output, n,
            (void *)g->d.each, row->output, n, count, row->compute, 0, 0, 0);
    return x->rocblas_gemm_strided_batched_ex(
        x->handle, b.turned, a.turned, n, m, k, &alpha, b.at, row->operands, b.ld,
        b.stride, a.at, row->operands, a.ld, a.stride, &beta, g->d.to, row->output, n,
        (int64_t)g->d.stride, g->d.to, row->output, n, (int64_t)g->d.stride, count,
        row->compute, 0, 0, 0);
}

int peer_start(const struct peer_library *x, const struct gpu_peer *peer,
               const struct gpu_work *w, char *fault)
{
    const struct call_row *row = peer->own;
    const struct bitcut_gemm *g = &w->gemm;
    int status = 0;
    if (g->m > INT_MAX || g->n > INT_MAX || g->k > INT_MAX - GPU_PARTS_RUN ||
        g->count > INT_MAX) {
        snprintf(fault, GPU_FAULT_MAX, "rocBLAS requires sizes below 2^31");
        return 1;
    }
    for (int i = 0; i < row->calls && !status; i++) status = start_call(x, peer, w, i);
    if (status)
        snprintf(fault, GPU_FAULT_MAX, "rocBLAS: %s",
                 x->rocblas_status_to_string(status));
    return status;
}
