/* SPDX-License-Identifier: BSD-3-Clause */
/* The epilogues that explain tries: steps, start, and where factors are applied. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_EPILOGUE_CHOICE_H
#define BITCUT_ANALYSIS_IDENTIFY_EPILOGUE_CHOICE_H

#include "analysis/identify/hypothesis.h"

struct epilogue_choice {
    unsigned char step[BITCUT_EPILOGUE_MAX];
    enum bitcut_start start;
    enum bitcut_scaling scaling;
    bool usual; /* also tried together with other changes                   */
    bool leads; /* the first choice that applies factors there              */
    bool clips; /* outputs that would be negative become zero               */
};

/* Set s->epilogue: the choices for what the problem has: alpha, C, bias and factors.  The
   first is what was given, or D = alpha A B + beta C.  The others follow if steps or
   scaling were not given, each once:
   - every list of `bitcut list epilogues`, and others in which the product, or the value
     after a step, is rounded to the format of D;
   - a few of them with every start, and with every place for the factors.
   Without a bias and factors, lists that are faults of alpha and C are left out.
   False: no memory. */
bool epilogue_choices_make(struct space *s, const struct problem *q);

/* Let the GEMM have this epilogue. */
void epilogue_choice_set(struct bitcut_gemm *g, const struct epilogue_choice *c);

/* Describe the start, the scaling and the steps of the GEMM of a hypothesis, for a D of
   the format: a part of a sentence. */
void epilogue_choice_describe(char *text, size_t size, const struct bitcut_gemm *g,
                              const struct bitcut_format *format);

#endif
