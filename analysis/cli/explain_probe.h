/* SPDX-License-Identifier: BSD-3-Clause */
/* `explain` of a program or a kernel that can be run: the order in which it adds. */
#ifndef BITCUT_ANALYSIS_CLI_EXPLAIN_PROBE_H
#define BITCUT_ANALYSIS_CLI_EXPLAIN_PROBE_H

#include "analysis/cli/command.h"
#include "analysis/cli/device_option.h"

/* The options that ask for it. */
struct explain_probe_options {
    const char *command, *kernel, *format;
    size_t m, n, k;
    int slices;
};

/* Whether options say what is to be run. */
bool explain_probe_asked(const struct explain_probe_options *o);

/* Complain of options that go with files, or with something to be run, alone: an exit
   status. */
int explain_probe_misused(const struct context *x,
                          const struct explain_probe_options *o);

/* Run it, a kernel on `device`, and print the row.  Prints and returns an exit status. */
int explain_probe(struct context *x, const struct explain_probe_options *o,
                  const char *device);

#endif
