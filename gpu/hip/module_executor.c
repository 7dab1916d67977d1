/* bitcut-executor.so: the code of AMD GPUs, executed by bitcut's model of the GPU, a
   library beside this one with the same calls as the HIP runtime. */
#include "gpu/hip/hip_tables.h"

static const char *const names[] = { "bitcut-gfx9.so", NULL };
const struct hip_library hip_library = { "the executor", names, true };

HIP_MODULE("executor", "AMD GPUs' own code, executed by a model of the GPU");
