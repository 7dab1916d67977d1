/* SPDX-License-Identifier: BSD-3-Clause */
/* The BLAS routines that this library replaces, under every name in reference BLAS and
   CBLAS, OpenBLAS and MKL.  With 64-bit integers the names are name_64_, cblas_name64_
   (OpenBLAS) and cblas_name_64 (reference LAPACK 3.11, MKL); those of SciPy's own
   OpenBLAS begin with scipy_. */
#include "analysis/run/blas_arguments.h"
#include "analysis/run/routines.h"
#include "analysis/run/routines_counted.h"

#define ROUTINE __attribute__((visibility("default"))) void

/* A call of a routine that is computed here: `call` has the arguments, `legal` converts
   them to a product; the others are the arguments. */
#define TAKE(base, legal, ...) TAKE_GROUP(base, legal, NULL, __VA_ARGS__)

/* The same for one group of a batch; all groups together are one call. */
#define TAKE_GROUP(base, legal, groups, ...)                                             \
    OWN(base);                                                                           \
    struct product product;                                                              \
    struct call turn;                                                                    \
    const enum legality legality = legal(&product, &call);                               \
    call_begin(&turn, &routine, CALLER, &product, legality, groups);                     \
    if (turn.original) ((NAME(base##_type) *)turn.original)(__VA_ARGS__);                \
    call_end(&turn);

/* A routine that is counted and passed on. */
#define COUNTED(base, parameters, ...)                                                   \
    typedef void NAME(base##_type) parameters;                                           \
    ROUTINE NAME(base) parameters                                                        \
    {                                                                                    \
        OWN(base);                                                                       \
        const char *const here = __builtin_frame_address(0);                             \
        any_function *const original = call_count(&routine, CALLER, here);               \
        ((NAME(base##_type) *)original)(__VA_ARGS__);                                    \
        call_counted(here);                                                              \
    }

#define integer int32_t

#define NAME(x) x##_
#include "analysis/run/routines_fortran.inc"
#undef NAME
#define NAME(x) scipy_##x##_
#include "analysis/run/routines_fortran.inc"
#undef NAME
#define NAME(x) cblas_##x
#include "analysis/run/routines_cblas.inc"
#undef NAME
#define NAME(x) scipy_cblas_##x
#include "analysis/run/routines_cblas.inc"
#undef NAME

#undef integer
#define integer int64_t

#define NAME(x) x##_64_
#include "analysis/run/routines_fortran.inc"
#undef NAME
#define NAME(x) scipy_##x##_64_
#include "analysis/run/routines_fortran.inc"
#undef NAME
#define NAME(x) cblas_##x##64_
#include "analysis/run/routines_cblas.inc"
#undef NAME
#define NAME(x) cblas_##x##_64
#include "analysis/run/routines_cblas.inc"
#undef NAME
#define NAME(x) scipy_cblas_##x##64_
#include "analysis/run/routines_cblas.inc"
