/* SPDX-License-Identifier: BSD-3-Clause */
/* A shell command that multiplies matrices. /bin/sh runs it in the folder where bitcut
   was started, with these variables in its environment:
   - BITCUT_A, BITCUT_B: paths of A and B, .npy of FP32, which the command reads;
   - BITCUT_D: path of D, .npy of FP32, which the command writes;
   - BITCUT_M, BITCUT_N, BITCUT_K: A is M x K, B is K x N, D is M x N.

   Its standard input is empty, and its standard output is dropped. */
#ifndef BITCUT_ANALYSIS_CLI_PROBE_COMMAND_H
#define BITCUT_ANALYSIS_CLI_PROBE_COMMAND_H

#include "analysis/cli/install_path.h"
#include "lib/base/progress.h"
#include "lib/gemm/matrix.h"

struct probe_command {
    const char *text;
    const struct progress *progress;
    char folder[PLACE_MAX]; /* folder of its files, "": there is none */
};

/* Make a folder for the files, in $TMPDIR or in /tmp.  Returns BITCUT_UNSUPPORTED with
   the system's reason. */
enum bitcut_status probe_command_open(struct probe_command *x, const char *text,
                                      const struct progress *progress, struct fault *f);

/* Remove the folder and everything in it.  Does nothing if there is no folder. */
void probe_command_close(struct probe_command *x);

/* End the command and all processes in its process group, and remove the folder, from
   another thread, before the process ends at once. */
void probe_command_abandon(void);

/* Run the command: a probe_program, whose context is the struct.  Returns
   BITCUT_UNSUPPORTED if it failed, wrote no D, or wrote a D of another shape; or if asked
   to stop, after the command and all processes in its process group have ended. */
enum bitcut_status probe_command_run(struct matrix *d, void *context,
                                     const struct matrix *a, const struct matrix *b,
                                     struct fault *f);

#endif
