/* SPDX-License-Identifier: BSD-3-Clause */
/* The computation for a program's GEMM on its device, and the GEMMs left to the library
   by graphs. */
#ifndef BITCUT_ANALYSIS_RUN_STREAM_CHOICE_H
#define BITCUT_ANALYSIS_RUN_STREAM_CHOICE_H

#include "analysis/run/run_gpu.h"
#include "analysis/run/settings.h"

/* Choose the computation of a GEMM, whose sizes and matrices are set, in a configuration,
   as gpu_work_recall() does. */
enum bitcut_status stream_choice(struct gpu_work *to, const struct run_gpu *gpu,
                                 const struct run_configuration *configuration,
                                 const struct bitcut_gemm *g, struct fault *f);

/* A program may capture a graph again to update a running one, which fails if the new
   graph has other kernels.  Therefore a GEMM that one graph had to leave to the library
   is left by all later graphs. stream_choice_leave() records it, for its shape and
   configuration on the device, and stream_choice_left() asks for it. */
bool stream_choice_left(const struct run_gpu *gpu,
                        const struct run_configuration *configuration,
                        const struct bitcut_gemm *g);
void stream_choice_leave(const struct run_gpu *gpu,
                         const struct run_configuration *configuration,
                         const struct bitcut_gemm *g);

#endif
