/* SPDX-License-Identifier: BSD-3-Clause */
/* What computes a program's GEMM on its device, and which GEMMs graphs leave. */
#ifndef BITCUT_ANALYSIS_RUN_STREAM_CHOICE_H
#define BITCUT_ANALYSIS_RUN_STREAM_CHOICE_H

#include "analysis/run/run_gpu.h"
#include "analysis/run/settings.h"

/* The GEMM, whose sizes and matrices are set, in a way: as gpu_work_recall(). */
enum bitcut_status stream_choice(struct gpu_work *to, const struct run_gpu *gpu,
                                 const struct run_configuration *way,
                                 const struct bitcut_gemm *g, struct fault *f);

/* A program may capture a graph again to update one that it runs, which fails if the new
   graph has other kernels.  So a GEMM that one graph had to leave to the library is left
   by all later ones: stream_choice_leave() says so, for its shape in the way on the
   device, and stream_choice_left() asks. */
bool stream_choice_left(const struct run_gpu *gpu, const struct run_configuration *way,
                        const struct bitcut_gemm *g);
void stream_choice_leave(const struct run_gpu *gpu, const struct run_configuration *way,
                         const struct bitcut_gemm *g);

#endif
