/* What computes a program's GEMM on its device, and what has begun there. */
#ifndef BITCUT_ANALYSIS_RUN_STREAM_CHOICE_H
#define BITCUT_ANALYSIS_RUN_STREAM_CHOICE_H

#include "analysis/run/run_gpu.h"
#include "analysis/run/settings.h"

/* The GEMM, whose sizes and matrices are set, in a way: as gpu_work_recall(). */
enum bitcut_status stream_choice(struct gpu_work *to, const struct run_gpu *gpu,
                                 const struct run_way *way, const struct bitcut_gemm *g,
                                 struct fault *f);

/* Whether any GEMM was started in the way on the device, or one by the kernel of `work`:
   the first ones load and find out what a graph that is captured has no room for. */
bool stream_choice_began(const struct run_gpu *gpu, const struct run_way *way,
                         const struct gpu_work *work);
void stream_choice_begin(const struct run_gpu *gpu, const struct run_way *way,
                         const struct gpu_work *work);

#endif
