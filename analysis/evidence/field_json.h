/* SPDX-License-Identifier: BSD-3-Clause */
/* The value of a field of a unit's row for JSON. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_FIELD_JSON_H
#define BITCUT_ANALYSIS_EVIDENCE_FIELD_JSON_H

#include "analysis/evidence/field.h"

#include <jansson.h>

/* "two-stage", 25, "0x7fffffff", false; no format is null. */
json_t *field_json(const struct field *f, const struct bitcut_unit *u, int64_t value);

#endif
