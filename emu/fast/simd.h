/* SPDX-License-Identifier: BSD-3-Clause */
/* Levels of vector instructions: the levels that this processor supports, and the level
   to use. */
#ifndef BITCUT_EMU_FAST_SIMD_H
#define BITCUT_EMU_FAST_SIMD_H

#include "lib/base/status.h"

/* A row of the table of levels, the best first. */
struct simd_level {
    const char *name, *what;
    bool (*supported)(void);
    const struct fast_kernels *kernels; /* NULL: the engine computes everything */
};

extern const struct simd_level simd_levels[]; /* ended by a row whose name is NULL */

/* The best level that this processor supports. */
const struct simd_level *simd_best(void);

/* Read the environment variable BITCUT_SIMD, and let the OpenMP runtime read its own
   variables.  This is done when the library is loaded, not at each product, because
   getenv() is not safe while another thread calls setenv(). */
void simd_read_environment(void);

/* The level that BITCUT_SIMD named when the library was loaded; the best level if the
   variable was empty or not set.  BITCUT_BAD_ARGUMENT for an unknown name,
   BITCUT_UNSUPPORTED for a level that this processor does not support. */
enum bitcut_status simd_choose(const struct simd_level **level, struct fault *f);

#endif
