/* SPDX-License-Identifier: BSD-3-Clause */
/* The answers of the library: every struct that is described by a table. */
#ifndef BITCUT_ANALYSIS_ANSWERS_ANSWERS_H
#define BITCUT_ANALYSIS_ANSWERS_ANSWERS_H

#include "lib/base/record.h"

extern const struct record answers[]; /* ended by a NULL name */

#endif
