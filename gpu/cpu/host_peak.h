/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast the processor's units are at best. */
#ifndef BITCUT_GPU_CPU_HOST_PEAK_H
#define BITCUT_GPU_CPU_HOST_PEAK_H

/* Products a second of a unit's instruction on operands that stay in registers, by all
   threads, the best of a few short runs: of the unit of ON_AMX_BF16 or ON_AVX512_BF16
   (gpu/cpu/host_units.h), or for 0 of FP32 fused multiply-adds of AVX-512.  0: the
   processor has it not, or it is not measured. */
double host_peak(unsigned unit);

#endif
