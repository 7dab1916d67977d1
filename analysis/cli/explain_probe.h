/* SPDX-License-Identifier: BSD-3-Clause */
/* `explain` for a program or a kernel that can be run: the order in which it adds. */
#ifndef BITCUT_ANALYSIS_CLI_EXPLAIN_PROBE_H
#define BITCUT_ANALYSIS_CLI_EXPLAIN_PROBE_H

#include "analysis/cli/command.h"
#include "analysis/cli/device_option.h"

/* The options for probing. */
struct explain_probe_options {
    const char *command, *kernel;
    size_t m, n, k;
    int slices;
};

/* Whether the options name a program or kernel to run. */
bool explain_probe_asked(const struct explain_probe_options *o);

/* Complain about options that require files, something to run, or published statistics
   (`statistics`: there are some).  Returns an exit status. */
int explain_probe_misused(const struct context *x, const struct explain_probe_options *o,
                          bool statistics);

/* Run it, a kernel on `device`, and print the row.  `format`: to which a command rounds A
   and B; NULL: f32.  Prints messages and returns an exit status. */
int explain_probe(struct context *x, const struct explain_probe_options *o,
                  const char *format, const char *device);

#endif
