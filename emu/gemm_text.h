/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration of a GEMM as a line: recipe, unit, and variations, such as
   "legemm@mi210" or "ootomo@a100,split=halfhalf,scale=10,promote=4,slices=2".  The items
   after the unit have the names of the options of `bitcut gemm`; items of an order of k
   are items of the line, too. */
#ifndef BITCUT_EMU_GEMM_TEXT_H
#define BITCUT_EMU_GEMM_TEXT_H

#include "lib/base/status.h"
#include "lib/bitcut.h"

/* Room for the line that configuration_line_write() makes, with its 0. */
enum { CONFIGURATION_LINE_MAX = BITCUT_GEMM_MAX };

/* Make *to a GEMM with this configuration and everything else open; bitcut_gemm() accepts
   it.  The unit may be a chip.  BITCUT_BAD_ARGUMENT names an unknown item, or items that
   do not fit together; *to is set only on success. */
enum bitcut_status configuration_line_read(struct bitcut_gemm *to, const char *line,
                                           struct fault *f);

/* Write the line of a GEMM whose recipe and unit are set.  configuration_line_read()
   makes the same configuration from it. */
void configuration_line_write(char line[CONFIGURATION_LINE_MAX],
                              const struct bitcut_gemm *g);

/* The format of the high parts of A, if the recipe or the splits define it; otherwise
   f16. */
const struct bitcut_format *way_parts(const struct bitcut_gemm *g);

#endif
