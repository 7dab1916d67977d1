/* SPDX-License-Identifier: BSD-3-Clause */
/* Common definitions for the files of routines that this library replaces.  NAME(x) is
   the name of routine x of one kind. */
#ifndef BITCUT_ANALYSIS_RUN_ROUTINES_H
#define BITCUT_ANALYSIS_RUN_ROUTINES_H

#include "analysis/run/call.h"

#include <assert.h>

#define STRING(x) #x
#define NAMED(x)  STRING(x)
#define CALLER    __builtin_return_address(0)

/* The function's own `routine`, of products in PRECISION. */
#define OWN(base)                                                                        \
    static_assert(sizeof NAMED(NAME(base)) <= ROUTINE_MAX_BYTES, "room in the log");     \
    static struct routine routine = { .name = NAMED(NAME(base)), .precision = PRECISION }

#endif
