/* The routines of cuBLAS and cuBLASLt that this library has in place of the program's,
   with integers of 32 bits and, as cuBLAS 12 has them under names with _64, of 64.  Types
   of CUDA that are pointers to what nobody sees are void *, enumerations ints. */
#include "analysis/run/cublas_arguments.h"
#include "analysis/run/routines.h"

#define ROUTINE __attribute__((visibility("default"))) int

/* A call of a routine that is computed here: `call` is what the arguments say, `legal`
   what makes a product of it; the others are the arguments. */
#define TAKE(base, legal, ...)                                                           \
    OWN(base);                                                                           \
    struct product product;                                                              \
    struct stream_call there;                                                            \
    struct turn turn;                                                                    \
    int status = CUBLAS_SUCCESS;                                                         \
    const enum legality legality = legal(&product, &there, &call, CALLER);               \
    turn_begin_there(&turn, &routine, CALLER, &product, legality, &there);               \
    if (turn.original) status = ((NAME(base##_type) *)turn.original)(__VA_ARGS__);       \
    turn_end(&turn);                                                                     \
    return status;

/* A routine that is counted and passed on. */
#define COUNTED(base, parameters, ...)                                                   \
    typedef int NAME(base##_type) parameters;                                            \
    ROUTINE NAME(base) parameters                                                        \
    {                                                                                    \
        OWN(base);                                                                       \
        any_function *const original = turn_count(&routine, CALLER);                     \
        return ((NAME(base##_type) *)original)(__VA_ARGS__);                             \
    }

#define integer int32_t
#define NAME(x) x
#include "analysis/run/routines_cublas.inc"
#undef NAME
#undef integer

#define integer int64_t
#define NAME(x) x##_64
#include "analysis/run/routines_cublas.inc"
#undef NAME
#undef integer

/* --- without integers --------------------------------------------------------------- */

#define NAME(x) x

typedef int NAME(cublasLtMatmul_type)(void *, void *, const void *, const void *, void *,
                                      const void *, void *, const void *, const void *,
                                      void *, void *, void *, const void *, void *,
                                      size_t, void *);

ROUTINE NAME(cublasLtMatmul)(void *handle, void *operation, const void *alpha,
                             const void *a, void *of_a, const void *b, void *of_b,
                             const void *beta, const void *c, void *of_c, void *d,
                             void *of_d, const void *algorithm, void *workspace,
                             size_t workspace_bytes, void *stream)
{
    const struct cublas_lt_call call = {
        operation, of_a, of_b, of_c, of_d,      alpha,           beta,
        a,         b,    c,    d,    workspace, workspace_bytes, stream
    };
    TAKE(cublasLtMatmul, cublas_lt_matmul, handle, operation, alpha, a, of_a, b, of_b,
         beta, c, of_c, d, of_d, algorithm, workspace, workspace_bytes, stream)
}

/* What is called to learn of a handle's workspace, and passed on. */

ROUTINE NAME(cublasSetWorkspace_v2)(void *handle, void *at, size_t bytes)
{
    OWN(cublasSetWorkspace_v2);
    typedef int set(void *, void *, size_t);
    const int status = ((set *)turn_original(&routine, CALLER))(handle, at, bytes);
    if (status == CUBLAS_SUCCESS) cublas_workspace_note(handle, at, bytes);
    return status;
}

/* It takes the workspace from the handle (cuBLAS Library, "cublasSetStream()"). */
ROUTINE NAME(cublasSetStream_v2)(void *handle, void *stream)
{
    OWN(cublasSetStream_v2);
    typedef int set(void *, void *);
    cublas_workspace_note(handle, NULL, 0);
    return ((set *)turn_original(&routine, CALLER))(handle, stream);
}

ROUTINE NAME(cublasDestroy_v2)(void *handle)
{
    OWN(cublasDestroy_v2);
    typedef int destroy(void *);
    cublas_workspace_note(handle, NULL, 0);
    return ((destroy *)turn_original(&routine, CALLER))(handle);
}
