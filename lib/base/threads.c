/* SPDX-License-Identifier: BSD-3-Clause */
/* Nothing else: a test program that defines the constant does not link this file. */
#include "lib/base/threads.h"

const size_t threads_grain = 500000;
