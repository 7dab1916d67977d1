/* SPDX-License-Identifier: BSD-3-Clause */
/* What the families of inputs draw with (lib/input/input.h). */
#ifndef BITCUT_LIB_INPUT_ELEMENTS_H
#define BITCUT_LIB_INPUT_ELEMENTS_H

#include "lib/input/input.h"
#include "lib/number/rand.h"

struct draw {
    const struct input_family *family;
    const double *parameter;
    enum input_role role;
    uint64_t seed;
    size_t rows, cols;
    int threads;
    const void *shared; /* the data that a fill function computed for its elements */
};

/* An element to draw: its position and its random words. */
struct element {
    size_t i, j;
    uint32_t word[4];
};

/* Streams; the role is added to the first two. */
enum { STREAM_ELEMENTS = 0, STREAM_SHARED = 2, STREAM_PAIR = 4 };

static inline uint64_t block_of(size_t i, size_t j) { return (uint64_t)i << 32 | j; }

static inline uint64_t element_stream(const struct draw *d)
{
    return (uint64_t)(STREAM_ELEMENTS + (int)d->role);
}

/* Block `block` of the random words for data that a fill function computes first. */
static inline void shared_block(uint32_t word[4], const struct draw *d, uint64_t block)
{
    rand_block(word, d->seed, (uint64_t)(STREAM_SHARED + (int)d->role), block);
}

/* Uniform in (0, 1), from the first two words. */
static inline double uniform(const uint32_t word[4])
{
    return rand_open(rand_bits(word[0], word[1]));
}

typedef uint32_t element_function(const struct draw *d, const struct element *e);

/* Fill a matrix element by element. */
void elements_fill(struct matrix *m, const struct draw *d, element_function *element);

/* Families for FP64 (lib/input/input_adversarial.c).  Exponents of graded and opposite
   belong to an index k and are the same for A and B. */
typedef double real_function(const struct draw *d, const struct element *e);
real_function graded_real, opposite_real, line_scaled_real, all_ones_real, cancelling_real,
    max_digits_real, near_subnormal_real, specials_real;

/* The families of STARS-H. */
element_function cauchy_element;
enum bitcut_status spatial_fill(struct matrix *m, const struct draw *d, struct fault *f);
enum bitcut_status randtlr_fill(struct matrix *m, const struct draw *d, struct fault *f);

#endif
