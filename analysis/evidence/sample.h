/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples: the operands of one dot product, drawn at random from classes of difficult
   inputs. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_SAMPLE_H
#define BITCUT_ANALYSIS_EVIDENCE_SAMPLE_H

#include "emu/engine.h"
#include "emu/fragment.h"
#include "lib/number/rand.h"

/* The operands of one output of a unit: encodings of its formats, u->k elements of a and
   b, and sample_scales() of each scale. */
struct sample {
    uint64_t a[UNIT_K_MAX], b[UNIT_K_MAX], c;
    uint64_t scale_a[UNIT_K_MAX], scale_b[UNIT_K_MAX];
};

/* A row of the table of classes (analysis/evidence/sample_class.c).  `fill` sets
   everything that the unit reads. */
struct sample_class {
    const char *name, *what;
    void (*fill)(struct sample *s, const struct bitcut_unit *u, struct rng *rng);
    bool scaled; /* only for units with block scales */
};

extern const struct sample_class sample_classes[]; /* ended by a row without a name */

/* The number of block scales of each operand of a sample: 0 for a unit without block
   scales. */
int sample_scales(const struct bitcut_unit *u);

/* The output of the unit: an encoding of u->c. */
uint64_t sample_dot(const struct bitcut_unit *u, const struct sample *s);

/* The same output with its trace: *trace is set, whatever it held. */
uint64_t sample_trace(struct unit_trace *trace, const struct bitcut_unit *u,
                      const struct sample *s);

/* The destination of samples: allocated arrays in the layout of struct fragments.  The
   scales are NULL for a unit without block scales. */
struct sample_arrays {
    struct array *a, *b, *c, *scale_a, *scale_b;
};

/* Store s as fragment `at` of a batch with m = n = 1. */
void sample_store(const struct sample_arrays *to, const struct bitcut_unit *u, size_t at,
                  const struct sample *s);

enum { SAMPLE_ROWS_MAX = 256 };

/* Fill fragment `at` of a batch of shape.m x shape.n (at most SAMPLE_ROWS_MAX) with
   samples of a class.  Outputs (i, i) are samples; the other outputs combine the row of
   one sample with the column of another. */
void sample_fragment(const struct sample_arrays *to, const struct bitcut_unit *u,
                     struct fragment_shape shape, size_t at,
                     const struct sample_class *class, struct rng *rng);

#endif
