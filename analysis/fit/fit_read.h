/* SPDX-License-Identifier: BSD-3-Clause */
/* Recorded sets that a row has to explain. */
#ifndef BITCUT_ANALYSIS_FIT_FIT_READ_H
#define BITCUT_ANALYSIS_FIT_FIT_READ_H

#include "analysis/evidence/set.h"
#include "analysis/fit/fit.h"

/* Call fit_init() with at most `most` outputs of each set (0: all), spread evenly over
   it.  Operands are read in the sets' variants.  NaN results are left out if only
   their sign was recorded.  Returns BITCUT_BAD_ARGUMENT if the sets are not of one
   instruction; BITCUT_BAD_FILE if a variant is unknown. */
enum bitcut_status fit_read(struct fit *fit, const struct set *sets, int set_count,
                            size_t most, struct fault *f);

#endif
