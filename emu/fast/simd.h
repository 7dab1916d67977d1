/* SPDX-License-Identifier: BSD-3-Clause */
/* Levels of vector instructions: which of them this processor has, and which to use. */
#ifndef BITCUT_EMU_FAST_SIMD_H
#define BITCUT_EMU_FAST_SIMD_H

#include "lib/base/status.h"

/* A row of the table of levels, the best first. */
struct simd_level {
    const char *name, *what;
    bool (*supported)(void);
    const struct fast_kernels *kernels; /* NULL: the engine does everything */
};

extern const struct simd_level simd_levels[]; /* ended by a row whose name is NULL */

/* The best level that this processor has. */
const struct simd_level *simd_best(void);

/* Take the environment variable BITCUT_SIMD, and let OpenMP's runtime take its own.  This is
   done when the library is loaded, and not at each product: getenv() is not safe while another
   thread calls setenv(). */
void simd_read_environment(void);

/* The level that BITCUT_SIMD named then; the best if it was not set or empty.
   BITCUT_BAD_ARGUMENT for an unknown name, BITCUT_UNSUPPORTED for a level that this
   processor lacks. */
enum bitcut_status simd_choose(const struct simd_level **level, struct fault *f);

#endif
