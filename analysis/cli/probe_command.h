/* SPDX-License-Identifier: BSD-3-Clause */
/* A shell command that multiplies matrices.

   It is run by /bin/sh where bitcut was started, with these in its environment:
   BITCUT_A, BITCUT_B   paths of A and B, .npy of FP32, which it reads
   BITCUT_D             the path of D, .npy of FP32, which it writes
   BITCUT_M, BITCUT_N, BITCUT_K   A is M x K, B is K x N, D is M x N
   Its standard input is empty, its standard output is dropped. */
#ifndef BITCUT_ANALYSIS_CLI_PROBE_COMMAND_H
#define BITCUT_ANALYSIS_CLI_PROBE_COMMAND_H

#include "analysis/cli/install_path.h"
#include "lib/base/progress.h"
#include "lib/gemm/matrix.h"

struct probe_command {
    const char *text;
    const struct progress *progress;
    char folder[PLACE_MAX]; /* for its files, "" if there is none */
};

/* Make a folder for the files, in $TMPDIR or else /tmp.  BITCUT_UNSUPPORTED with the
   system's reason. */
enum bitcut_status probe_command_open(struct probe_command *x, const char *text,
                                      const struct progress *progress, struct fault *f);

/* Remove the folder with all that is in it.  Nothing happens if there is none. */
void probe_command_close(struct probe_command *x);

/* Run it: a probe_program, whose context is the struct.  BITCUT_UNSUPPORTED: it failed,
   wrote no D, or one of another shape; or asked to stop, and then it has ended, too, with
   all that it started in its process group. */
enum bitcut_status probe_command_run(struct matrix *d, void *context,
                                     const struct matrix *a, const struct matrix *b,
                                     struct fault *f);

#endif
