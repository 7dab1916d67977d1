/* SPDX-License-Identifier: BSD-3-Clause */
/* How many hypotheses agree with a result of few outputs by chance. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_CHANCE_AGREEMENT_H
#define BITCUT_ANALYSIS_IDENTIFY_CHANCE_AGREEMENT_H

#include "analysis/identify/explain.h"

/* Set answer.by_chance and `agreeing` of an explanation whose nearest hypothesis was
   compared with all of a block, if that is all of D in FP32 with few outputs.  A larger D
   is given by no hypothesis by chance; in a short format most orders agree, and are named
   as equals.  Returns BITCUT_NO_MEMORY. */
enum bitcut_status explain_count_chance(struct explanation *e, const struct block *all,
                                        uint64_t seed, struct fault *f);

#endif
