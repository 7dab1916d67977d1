/* What the files of the model device share. */
#ifndef BITCUT_TESTS_DEVICE_H
#define BITCUT_TESTS_DEVICE_H

#include "gpu/module.h"

/* Why nothing can be run, or NULL: DEVICE_FAULT asks for it. */
const char *device_refusal(void);

/* Whether there are peers to time. */
int device_has_library(void);

/* What the device has for batches of small GEMMs. */
extern const struct gpu_batched_part device_batched;

#endif
