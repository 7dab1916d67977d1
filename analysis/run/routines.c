/* SPDX-License-Identifier: BSD-3-Clause */
/* The BLAS routines that this library replaces, under every name in reference BLAS and
   CBLAS, OpenBLAS and MKL.  With 64-bit integers the names are name_64_, cblas_name64_
   (OpenBLAS) and cblas_name_64 (reference LAPACK 3.11, MKL); those of SciPy's own
   OpenBLAS begin with scipy_. */
#include "analysis/run/blas_arguments.h"
#include "analysis/run/routines.h"
#include "analysis/run/routines_parameters.h"

#define ROUTINE __attribute__((visibility("default"))) void

/* Count a call of the function's own `routine`, and pass it on. */
#define PASS(base, arguments)                                                            \
    const char *const here = __builtin_frame_address(0);                                 \
    any_function *const original = call_count(&routine, CALLER, here);                   \
    ((NAME(base##_type) *)original) arguments;                                           \
    call_counted(here);

/* Do only that if no product of the routine's precision is computed. */
#define PASS_UNTAKEN(base, arguments)                                                    \
    if (!run_settings()->takes[PRECISION]) {                                             \
        PASS(base, arguments)                                                            \
        return;                                                                          \
    }

/* Compute a call, or pass it on: the last arguments initialise a struct blas_call, and
   `legal` converts it to a product.  `groups` is that of call_begin(). */
#define TAKE(base, arguments, legal, groups, ...)                                        \
    const struct blas_call call = { .precision = PRECISION, __VA_ARGS__ };               \
    struct product product;                                                              \
    struct call turn;                                                                    \
    const enum legality legality = legal(&product, &call);                               \
    call_begin(&turn, &routine, CALLER, &product, legality, groups);                     \
    if (turn.original) ((NAME(base##_type) *)turn.original) arguments;                   \
    call_end(&turn);

/* A routine that is computed here. */
#define TAKEN(base, parameters, arguments, legal, ...)                                   \
    typedef void NAME(base##_type) parameters;                                           \
    ROUTINE NAME(base) parameters                                                        \
    {                                                                                    \
        OWN(base);                                                                       \
        PASS_UNTAKEN(base, arguments)                                                    \
        TAKE(base, arguments, legal, NULL, __VA_ARGS__)                                  \
    }

/* A routine that is only counted and passed on. */
#define COUNTED(kind, base, scalar, other)                                               \
    typedef void NAME(base##_type) OF(kind)(scalar, other);                              \
    ROUTINE NAME(base) OF(kind)(scalar, other)                                           \
    {                                                                                    \
        OWN(base);                                                                       \
        PASS(base, (OF(kind##_ARGUMENTS)))                                               \
    }

#define integer int32_t

#define OF(x)          FORTRAN_##x
#define TAKEN_ROUTINES "analysis/run/routines_fortran.inc"
#define KIND(x)        x##_
#include "analysis/run/routines_blas.inc"
#define KIND(x) scipy_##x##_
#include "analysis/run/routines_blas.inc"
#undef OF
#undef TAKEN_ROUTINES

#define OF(x)          CBLAS_##x
#define TAKEN_ROUTINES "analysis/run/routines_cblas.inc"
#define KIND(x)        cblas_##x
#include "analysis/run/routines_blas.inc"
#define KIND(x) scipy_cblas_##x
#include "analysis/run/routines_blas.inc"
#undef OF
#undef TAKEN_ROUTINES

#undef integer
#define integer int64_t

#define OF(x)          FORTRAN_##x
#define TAKEN_ROUTINES "analysis/run/routines_fortran.inc"
#define KIND(x)        x##_64_
#include "analysis/run/routines_blas.inc"
#define KIND(x) scipy_##x##_64_
#include "analysis/run/routines_blas.inc"
#undef OF
#undef TAKEN_ROUTINES

#define OF(x)          CBLAS_##x
#define TAKEN_ROUTINES "analysis/run/routines_cblas.inc"
#define KIND(x)        cblas_##x##64_
#include "analysis/run/routines_blas.inc"
#define KIND(x) cblas_##x##_64
#include "analysis/run/routines_blas.inc"
#define KIND(x) scipy_cblas_##x##64_
#include "analysis/run/routines_blas.inc"
