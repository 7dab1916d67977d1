/* SPDX-License-Identifier: BSD-3-Clause */
/* Host code only.  The prototypes are taken from NVIDIA's NVML reference, because its
   header comes with the toolkit and is not always installed. */
#include "gpu/cuda/nvml.cuh"
#include "gpu/module/product.h"

#include <cuda_runtime.h>
#include <dlfcn.h>

enum { CLOCK_SM = 1, BUS_ID_MAX = 32 }; /* NVML_CLOCK_SM */

/* nvmlClocksEventReasonSwPowerCap and HwPowerBrakeSlowdown; SwThermalSlowdown and
   HwThermalSlowdown. */
enum { AT_POWER = 0x04 | 0x80, AT_HEAT = 0x20 | 0x40 };

template <class... Arguments>
static bool call(const struct nvml *x, const char *name, Arguments... arguments)
{
    const auto function = (int (*)(Arguments...))dlsym(x->library, name);
    return function && function(arguments...) == 0;
}

struct nvml nvml_open(void)
{
    struct nvml x = {};
    char id[BUS_ID_MAX];
    int device = 0;
    x.library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!x.library) return x;
    if (!call(&x, "nvmlInit_v2")) {
        dlclose(x.library);
        return {};
    }
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetPCIBusId(id, sizeof id, device) != cudaSuccess ||
        !call(&x, "nvmlDeviceGetHandleByPciBusId_v2", (const char *)id, &x.device))
        x.device = NULL;
    return x;
}

void nvml_close(struct nvml *x)
{
    if (!x->library) return;
    call(x, "nvmlShutdown");
    dlclose(x->library);
    *x = {};
}

int nvml_driver(char text[GPU_TEXT_MAX], const struct nvml *x)
{
    return x->library &&
           call(x, "nvmlSystemGetDriverVersion", text, (unsigned)GPU_TEXT_MAX);
}

double nvml_millijoules(const struct nvml *x)
{
    unsigned long long count = 0;
    if (!x->device || !call(x, "nvmlDeviceGetTotalEnergyConsumption", x->device, &count))
        return 0;
    return (double)count;
}

double nvml_watts_most(const struct nvml *x)
{
    unsigned milliwatts = 0;
    if (!x->device || !call(x, "nvmlDeviceGetEnforcedPowerLimit", x->device, &milliwatts))
        return 0;
    return milliwatts / 1e3;
}

/* The first name is used by drivers from 535 on, the second name by older drivers. */
int nvml_limits(const struct nvml *x)
{
    unsigned long long reasons = 0;
    if (!x->device ||
        (!call(x, "nvmlDeviceGetCurrentClocksEventReasons", x->device, &reasons) &&
         !call(x, "nvmlDeviceGetCurrentClocksThrottleReasons", x->device, &reasons)))
        return -1;
    return (reasons & AT_POWER ? GPU_LIMIT_POWER : 0) |
           (reasons & AT_HEAT ? GPU_LIMIT_HEAT : 0);
}

int nvml_megahertz(const struct nvml *x)
{
    unsigned clock = 0;
    if (!x->device ||
        !call(x, "nvmlDeviceGetClockInfo", x->device, (int)CLOCK_SM, &clock))
        return 0;
    return (int)clock;
}

/* --- as a module's board ---------------------------------------------------------- */

struct board {
    struct nvml nvml;
};

struct board *board_open(void) { return new board{ nvml_open() }; }

void board_close(struct board *x)
{
    if (x) nvml_close(&x->nvml);
    delete x;
}

double board_millijoules(const struct board *x)
{
    return x ? nvml_millijoules(&x->nvml) : 0;
}
double board_watts_most(const struct board *x)
{
    return x ? nvml_watts_most(&x->nvml) : 0;
}
int board_megahertz(const struct board *x) { return x ? nvml_megahertz(&x->nvml) : 0; }
int board_limits(const struct board *x) { return x ? nvml_limits(&x->nvml) : -1; }
