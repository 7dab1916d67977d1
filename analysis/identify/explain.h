/* SPDX-License-Identifier: BSD-3-Clause */
/* What computed a matrix. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_EXPLAIN_H
#define BITCUT_ANALYSIS_IDENTIFY_EXPLAIN_H

#include "analysis/identify/difference.h"
#include "analysis/identify/difference_pattern.h"
#include "analysis/identify/search.h"
#include "lib/base/record.h"

struct explanation;

/* How much is looked at. */
struct explain_options {
    size_t samples; /* outputs on which hypotheses are confirmed */
    double seconds; /* for the search, and for comparing the rest */
    uint64_t seed;
    int threads;
    const struct progress *progress;
    const struct gemm_offload *offload; /* struct gemm_options */
    const struct explanation *like; /* of another D of the same A, B and C: what that was
                                       is tried first, and if it gives the sample nothing
                                       else; or NULL                                    */
    const struct block *part; /* D is these lines of a larger one, of which places are
                                 told; or NULL                                          */
};

enum { EQUALS_MAX = 64, PARTS_MAX = 4, SENTENCE_MAX = 1000, CHANGES_MAX = 600 };

/* A hypothesis and how far it goes. */
struct verdict {
    struct hypothesis h;
    struct candidate x;
    size_t matched, sampled; /* outputs of the sample that it gives to the bit          */
};

/* All that was found.  Lists have so many that are kept, and so many there are. */
struct explanation {
    struct bitcut_explanation answer; /* first: what callers see                     */
    struct problem q;                 /* as the matrices are read                    */
    struct space space;
    double error;        /* median |D - exact| in 2^-24 |A||B|                          */
    struct verdict best; /* it gives everything that was compared, or the most          */
    struct verdict equal[EQUALS_MAX]; /* others that give all of the sample            */
    size_t equals;
    bool interrupted; /* progress asked to stop: this is what was found by then         */
    struct box part[PARTS_MAX]; /* where D differs from the best one                   */
    size_t parts;
    struct differing first[DIFFERING_MAX]; /* outputs that the best one does not give  */
    size_t firsts;
    struct spread spread; /* of D and the best one, in what was compared                */
    double distance[RECIPES_MAX]; /* struct search: of each as it stands, by position  */
    double seconds;                /* that it took                                      */
    const char *device; /* that computed in the emulator's place; NULL: nobody asked    */
};
/* Explain D of *q, whose matrices stay the caller's.  When progress asks to stop, what
   was found and compared so far stands.  BITCUT_BAD_ARGUMENT: shapes that do not fit, or
   no GEMM runs on the unit; BITCUT_NO_MEMORY.  Only after BITCUT_OK there is something to
   clear. */
enum bitcut_status explain_run(struct explanation *e, const struct problem *q,
                               const struct explain_options *o, struct fault *f);
void explain_clear(struct explanation *e);

/* Its fields and its sentences (lib/base/record.h). */
extern const struct record_field explain_fields[], explain_best_fields[],
    explain_part_fields[], explain_equal_fields[], explain_bin_fields[],
    explain_distance_fields[];
extern const struct record_line explain_lines[];
record_describe explain_describe_text, explain_describe_verdict, explain_describe_nearest,
    explain_describe_error, explain_describe_distances, explain_describe_sum,
    explain_describe_spread, explain_describe_boxes, explain_describe_period,
    explain_describe_equal;

/* The one sentence: what D is, or that no hypothesis gives it, and the nearest one. */
void explain_describe(char text[SENTENCE_MAX], const struct explanation *e);

/* The name of a fault: of the hypothesis, else of the first part that differs; NULL:
   there is none. */
const char *explain_fault(const struct explanation *e);

/* What a hypothesis says beyond recipe and unit: parts of a sentence after "but ", an
   empty text if it changes nothing. */
void verdict_describe(char *text, size_t size, const struct verdict *v,
                      const struct space *s);

#endif
