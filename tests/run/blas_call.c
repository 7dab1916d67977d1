/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/run/blas_client.h"

#include "tests/run/blas_types.h"

#include <string.h>

static bool is(const struct name *f, const char *base) { return !strcmp(f->base, base); }

/* The letter of a number of CBLAS, small or capital by turns; another for another. */
static char letter(int number)
{
    static const char letters[] = "NTC.......UL..................LR";
    static int turn;
    const char capital = number >= 111 && number <= 142 ? letters[number - 111] : '.';
    turn ^= 1;
    return turn && capital >= 'A' ? (char)(capital + 32) : capital == '.' ? 'X' : capital;
}

/* Number i as an argument, by its type. */
#define VALUE(type, i) V_##type(v[i])
#define V_int(x)       ((int)(x))
#define V_integer(x)   ((integer)(x))
#define V_L(x)         ((size_t)(x))
#define V_float(x)     ((float)(x))
#define V_double(x)    (x)
#define V_other_real(x) ((other_real)(x))
#define V_Z(x)         ((void *)(uintptr_t)(x))

#define integer int32_t
#define CALL(x) x##_32
#include "tests/run/blas_call.inc"
#undef integer
#undef CALL
#define integer int64_t
#define CALL(x) x##_64
#include "tests/run/blas_call.inc"

void call_routine(const struct name *f, const struct call *x)
{
    const bool groups = !strcmp(f->base, LETTER "gemm_batch") && x->count > 2;
    if (groups) (f->wide ? groups_64 : groups_32)(f, x);
    else (f->wide ? product_64 : product_32)(f, x);
}

void call_other(const struct name *f, const double *v)
{
    (f->wide ? others_64 : others_32)(f, v);
}
