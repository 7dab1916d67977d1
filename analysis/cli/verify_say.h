/* SPDX-License-Identifier: BSD-3-Clause */
/* What rows of `verify` say to people; --json has all. */
#ifndef BITCUT_ANALYSIS_CLI_VERIFY_SAY_H
#define BITCUT_ANALYSIS_CLI_VERIFY_SAY_H

#include "analysis/cli/emit.h"

/* The lines of a row: of a file, of a kernel, or of the split pass. */
extern const struct emit_line verify_lines[];

/* The tables of several kernels, and of several splits. */
extern const struct emit_column verify_kernel_columns[], verify_split_columns[];

#endif
