/* SPDX-License-Identifier: BSD-3-Clause */
/* The way in which GEMMs are computed, as a line: recipe, unit, and what is varied, such
   as "legemm@mi210" or "ootomo@a100,split=halfhalf,scale=10,promote=4,slices=2".  What
   follows the unit has the names of the options of `bitcut gemm`; items of an order of k
   stand by themselves. */
#ifndef BITCUT_EMU_GEMM_TEXT_H
#define BITCUT_EMU_GEMM_TEXT_H

#include "lib/base/status.h"
#include "lib/bitcut.h"

/* Room for the line that configuration_line_write() makes, with its 0. */
enum { CONFIGURATION_LINE_MAX = BITCUT_GEMM_MAX };

/* Make *to a GEMM that is computed so, with everything else open; bitcut_gemm() takes it.
   A unit may be a chip.  BITCUT_BAD_ARGUMENT names what is unknown or does not fit
   together; *to is set only on success. */
enum bitcut_status configuration_line_read(struct bitcut_gemm *to, const char *line,
                                           struct fault *f);

/* Write the line of a GEMM whose recipe and unit are set.  configuration_line_read()
   makes the same of it. */
void configuration_line_write(char line[CONFIGURATION_LINE_MAX],
                              const struct bitcut_gemm *g);

/* The format of the high words that A has, if the recipe or the splits describe; else
 * f16. */
const struct bitcut_format *way_words(const struct bitcut_gemm *g);

#endif
