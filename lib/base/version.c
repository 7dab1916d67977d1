/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/assume.h"
#include "lib/bitcut.h"

const char *bitcut_version(void) { return PACKAGE_VERSION; }
