/* SPDX-License-Identifier: BSD-3-Clause */
/* AMX on processors without AMX, so that configuration, strides, pairs and edges in the
   code for it are tested on any x86-64 processor. */
#ifndef BITCUT_TESTS_CPU_AMX_SIGNAL_H
#define BITCUT_TESTS_CPU_AMX_SIGNAL_H

#include <stdbool.h>

/* Whether a unit of AMX, ON_AMX_... (gpu/cpu/host_units.h), runs from now on: on the
   processor, or where that has no tiles by a handler of its signal.  Half by each it
   cannot: a processor with tiles executes them all by itself, if the kernel lets it, or
   else a comment says why not.  Only where HOST_HAS_CODE (gpu/cpu/host_code.h). */
bool amx_runs(unsigned unit);

#endif
