/* SPDX-License-Identifier: BSD-3-Clause */
/* Which scheme computed a D of FP64. */
#ifndef BITCUT_ANALYSIS_FP64_SCHEME_SEARCH_H
#define BITCUT_ANALYSIS_FP64_SCHEME_SEARCH_H

#include "analysis/fp64/fp64_answer.h"

/* A scheme with a number of parts, and how many outputs of D have its bits. */
struct scheme_match {
    const struct bitcut_scheme *scheme; /* NULL: no output has the bits of any scheme */
    const struct bitcut_unit *unit;
    int parts, slices; /* slices: of k; 1: k is not cut */
    size_t equal, compared;
    size_t tried; /* schemes and numbers of parts that were compared */
    size_t same;  /* others that have as many outputs                */
};

/* The answer of explain: what computed D, and its errors. */
struct scheme_explanation {
    struct fp64_answer errors; /* must be first; those of multiply-adds    */
    struct scheme_match match;
};

/* Whether all outputs that were compared have the bits. */
static inline bool scheme_match_is_whole(const struct scheme_match *m)
{
    return m->scheme && m->equal == m->compared;
}

/* Append "ozimmu with 8 slices". */
void scheme_match_name(char *text, size_t size, const struct scheme_match *m);

extern const struct record_field scheme_explain_fields[];
extern const struct record_line scheme_explain_lines[];

/* Compare D of g with every scheme, for every number of parts, on the first unit of each
   format of parts that gives exact sums.  Schemes whose outputs depend on one row and one
   column are compared at up to SCHEME_SEARCH_LINES rows and columns.  Others are computed
   for all of D if it has at most 2^28 products of parts.  *to is the one that gives most
   outputs; of several, the one with the fewest products of parts.  Matrices of g are
   those of one GEMM; its scheme and unit are not read.  BITCUT_NO_MEMORY, or
   BITCUT_UNSUPPORTED if asked to stop. */
enum { SCHEME_SEARCH_LINES = 24 };
enum bitcut_status scheme_search(struct scheme_match *to, const struct bitcut_gemm *g,
                                 const struct gemm_options *options, struct fault *f);

#endif
