/* SPDX-License-Identifier: BSD-3-Clause */
/* The peak rates of the processor's units. */
#ifndef BITCUT_GPU_CPU_HOST_PEAK_H
#define BITCUT_GPU_CPU_HOST_PEAK_H

/* Products per second of a unit's instruction on operands that stay in registers, by all
   threads, the best of a few short runs.  The unit is ON_AMX_BF16 or ON_AVX512_BF16
   (gpu/cpu/host_units.h); 0 means FP32 fused multiply-adds of AVX-512.  The result is 0
   if the processor does not have the unit, or if it is not measured. */
double host_peak(unsigned unit);

#endif
