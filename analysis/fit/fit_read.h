/* SPDX-License-Identifier: BSD-3-Clause */
/* Recorded sets to be explained by a row. */
#ifndef BITCUT_ANALYSIS_FIT_FIT_READ_H
#define BITCUT_ANALYSIS_FIT_FIT_READ_H

#include "analysis/evidence/set.h"
#include "analysis/fit/fit.h"

/* fit_init() of at most `most` outputs of each set (0: all), spread evenly over it, as
   the unit sees them in the sets' variants, without NaNs of which only the sign was
   recorded. The sets must be of one instruction: BITCUT_BAD_ARGUMENT if not;
   BITCUT_BAD_FILE if a variant is unknown. */
enum bitcut_status fit_read(struct fit *fit, const struct set *sets, int set_count,
                            size_t most, struct fault *f);

#endif
