/* A kernel for batches of small GEMMs beside its model, bit for bit. */
#ifndef BITCUT_ANALYSIS_BATCH_TRIAL_H
#define BITCUT_ANALYSIS_BATCH_TRIAL_H

#include "analysis/batch_model.h"
#include "analysis/kernel_trial.h"

struct batch_trial {
    const struct recorder *recorder;
    const struct gpu_kernel *kernel;
    struct gemm gemm;                 /* that of kernel_gemm()       */
    const struct kernel_shape *shape; /* NULL: a grid of those it takes   */
    uint64_t seed;
    int threads;
};

/* Run the kernel on the device and the model on the host, and compare every bit of D and
   of what lies between and around its matrices.  Of each shape: every class of inputs in
   every layout (at strides or by pointers, aligned or not, with gaps or not, one B for
   all), with transposes, alpha and beta in turn, D being C every other time.  `first` has
     "m", "n", "k", "count", "layout", "transposes", "in_place", "alpha", "beta", "input",
     "matrix" and "at" (row, column), null if it is no output, "model" and "device"
   (encodings).  The caller frees it.  BITCUT_CANNOT: the device failed, or asked to stop;
   BITCUT_NO_MEMORY. */
enum bitcut_status batch_trial_run(struct kernel_result *result,
                                   const struct batch_trial *trial,
                                   const struct progress *progress, struct fault *f);

#endif
