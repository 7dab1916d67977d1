/* Counts of things. */
#ifndef BITCUT_LIB_SIZE_H
#define BITCUT_LIB_SIZE_H

#include <stddef.h>

static inline size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* a / b, rounded up. */
static inline size_t divide_up(size_t a, size_t b) { return a / b + (a % b != 0); }

#endif
