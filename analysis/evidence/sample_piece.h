/* SPDX-License-Identifier: BSD-3-Clause */
/* Building blocks of samples: operands and block scales with chosen exponents. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_SAMPLE_PIECE_H
#define BITCUT_ANALYSIS_EVIDENCE_SAMPLE_PIECE_H

#include "analysis/evidence/sample.h"

/* A distance in bits at which this unit may drop bits. */
int draw_gap(const struct bitcut_unit *u, struct rng *rng);

/* Set product k: normal operands whose product has the exponent `exponent`, or the
   nearest possible one. */
void put_product(struct sample *s, const struct bitcut_unit *u, int k, int exponent,
                 struct rng *rng);

/* Set all products, with exponents from low to high. */
void put_products(struct sample *s, const struct bitcut_unit *u, int low, int high,
                  struct rng *rng);

/* Set product k: operands, possibly subnormal, whose product with its scales, which are
   set already, is +-2^exponent, or the nearest possible power of two. */
void put_power(struct sample *s, const struct bitcut_unit *u, int k, bool negative,
               int exponent, struct rng *rng);

/* Set all products to zeros of every kind. */
void put_zeros(struct sample *s, const struct bitcut_unit *u, struct rng *rng);

/* Set the scales of block i so that they multiply to 2^exponent, or as near as possible;
   and the exponent that they add to a product. */
void put_scale(struct sample *s, const struct bitcut_unit *u, int i, int exponent);
int scales_exponent(const struct sample *s, const struct bitcut_unit *u, int i);

/* Set block scales with exponents from -spread to spread. */
void put_scales(struct sample *s, const struct bitcut_unit *u, int spread,
                struct rng *rng);

#endif
