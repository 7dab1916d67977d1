/* SPDX-License-Identifier: BSD-3-Clause */
/* `explain` of a program or a kernel that can be run: the order in which it adds. */
#ifndef BITCUT_ANALYSIS_CLI_EXPLAIN_PROBE_H
#define BITCUT_ANALYSIS_CLI_EXPLAIN_PROBE_H

#include "analysis/cli/command.h"
#include "analysis/cli/device_option.h"

/* What the options said. */
struct explain_probe_options {
    const char *command, *kernel, *format;
    size_t m, n, k;
    int slices;
};

extern struct explain_probe_options explain_probe_options;

/* The options that ask for it; of the command's table. */
#define EXPLAIN_PROBE_OPTIONS                                                            \
    { "probe", "find the order in which this shell command adds, by running it",         \
      OPTION_TEXT, &explain_probe_options.command, "COMMAND" },                          \
        { "kernel", "find that of this kernel (bitcut list kernels)", OPTION_TEXT,       \
          &explain_probe_options.kernel, "K" },                                          \
        DEVICE_OPTION("emulator, of --kernel: cuda"),                                    \
        { "m", "--probe, --kernel: rows of D (default 64)", OPTION_COUNT,                \
          &explain_probe_options.m, "M" },                                               \
        { "n", "columns of D (default 64)", OPTION_COUNT, &explain_probe_options.n,      \
          "N" },                                                                         \
        { "k", "columns of A (default 256)", OPTION_COUNT, &explain_probe_options.k,     \
          "K" },                                                                         \
        { "format",                                                                      \
          "--probe: what it rounds A and B to: f16, bf16, tf32, f32 (default)",          \
          OPTION_TEXT, &explain_probe_options.format, "F" },                             \
    {                                                                                    \
        "split-k", "--kernel: slices of k (default 1)", OPTION_INT,                      \
            &explain_probe_options.slices, "N"                                           \
    }

/* Whether options say what is to be run. */
bool explain_probe_asked(void);

/* Complain of options that go with files, or with something to be run, alone: an exit
   status. */
int explain_probe_misused(const struct context *x);

/* Run it, and print the row.  Prints and returns an exit status. */
int explain_probe(struct context *x);

#endif
