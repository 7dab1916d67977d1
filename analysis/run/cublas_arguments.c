/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L

#include "analysis/run/cublas_arguments.h"

#include <pthread.h>
#include <string.h>

/* --- workspaces ------------------------------------------------------------------- */

enum { HANDLES_MAX = 256 };

static struct {
    const void *handle; /* NULL: the row is free */
    void *at;
    size_t bytes;
} workspaces[HANDLES_MAX];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A child of fork() may destroy its parent's handles; the lock may be taken. */
static void begin_child(void) { pthread_mutex_init(&lock, NULL); }

static void watch_forks(void) { pthread_atfork(NULL, NULL, begin_child); }

static void enter(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&lock);
}

/* The row of a handle, or a free row without a handle; HANDLES_MAX: none.  The lock is
   held. */
static int row_of(const void *handle)
{
    int i = 0;
    while (i < HANDLES_MAX && workspaces[i].handle != handle) i++;
    return i;
}

void cublas_workspace_note(void *handle, void *at, size_t bytes)
{
    enter();
    int i = row_of(handle);
    if (i == HANDLES_MAX && at) i = row_of(NULL);
    if (i < HANDLES_MAX) {
        workspaces[i].handle = at ? handle : NULL;
        workspaces[i].at = at;
        workspaces[i].bytes = bytes;
    }
    pthread_mutex_unlock(&lock);
}

void *cublas_workspace(size_t *bytes, const void *handle)
{
    enter();
    const int i = handle ? row_of(handle) : HANDLES_MAX;
    void *const at = i < HANDLES_MAX ? workspaces[i].at : NULL;
    *bytes = at ? workspaces[i].bytes : 0;
    pthread_mutex_unlock(&lock);
    return at;
}

/* --- properties of a handle ------------------------------------------------------- */

typedef int get_number(void *handle, int *to);
typedef int get_place(void *handle, void **to);

static struct routine get_pointer_mode = { .name = "cublasGetPointerMode_v2" },
                      get_math_mode = { .name = "cublasGetMathMode" },
                      get_stream = { .name = "cublasGetStream_v2" };

/* A numeric property of a handle; -1: it is no handle of the library. */
static int number_of(struct routine *get, void *handle, const void *caller)
{
    int number = -1;
    get_number *const f = (get_number *)original_of(get, caller);
    return f && f(handle, &number) == CUBLAS_SUCCESS ? number : -1;
}

/* Whether the mode requests FP32 and nothing else. */
static bool is_single(int mode)
{
    return (mode & ~(CUBLAS_MODE_NO_REDUCTION | CUBLAS_MODE_FIXED_POINT_64)) == 0;
}

static bool take_stream(struct stream_call *there, void *handle, const void *caller)
{
    get_place *const f = (get_place *)original_of(&get_stream, caller);
    if (f && f(handle, &there->stream) == CUBLAS_SUCCESS) {
        there->workspace = cublas_workspace(&there->workspace_bytes, handle);
        return true;
    }
    fault_set(&there->fault, BITCUT_UNSUPPORTED,
              "the library does not report the stream of the handle");
    return false;
}

/* --- GEMMs ------------------------------------------------------------------------ */

int cublas_trans(int operation)
{
    return operation >= 0 && operation <= 2 ? BLAS_NO_TRANS + operation : 0;
}

/* For a call with valid sizes. */
static enum legality check_kind(struct stream_call *there, const struct cublas_call *x,
                                const void *caller)
{
    const int mode = number_of(&get_math_mode, x->handle, caller),
              scalars = number_of(&get_pointer_mode, x->handle, caller);
    if (mode < 0 || scalars < 0 || !x->alpha || !x->beta) return LEGAL_NOT;
    for (int i = 0; i < 3; i++)
        if (x->type[i] != CUBLAS_REAL_32) return cublas_leave(there, LEFT_TYPES);
    if ((x->compute != CUBLAS_COMPUTE_32 && x->compute != CUBLAS_REAL_32) ||
        !is_single(mode))
        return cublas_leave(there, LEFT_COMPUTE);
    if (scalars != CUBLAS_SCALARS_OF_HOST) return cublas_leave(there, LEFT_SCALARS);
    return take_stream(there, x->handle, caller) ? LEGAL
                                                 : cublas_leave(there, LEFT_DEVICE);
}

enum legality cublas_gemm(struct product *to, struct stream_call *there,
                          const struct cublas_call *x, const void *caller)
{
    static const float one = 1, zero = 0;
    struct blas_call call = x->blas;
    *there = (struct stream_call){ 0 };
    call.order = BLAS_COLUMN_MAJOR;
    call.trans_a = cublas_trans(call.trans_a);
    call.trans_b = cublas_trans(call.trans_b);
    call.alpha = &one;
    call.beta = &zero;
    enum legality legality = blas_gemm(to, &call);
    if (legality == LEGAL) legality = check_kind(there, x, caller);
    if (legality != LEGAL) return legality;
    call.alpha = x->alpha;
    call.beta = x->beta;
    return blas_gemm(to, &call);
}
