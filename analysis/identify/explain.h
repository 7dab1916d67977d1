/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for what computed a matrix. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_EXPLAIN_H
#define BITCUT_ANALYSIS_IDENTIFY_EXPLAIN_H

#include "analysis/identify/diagnosis.h"
#include "analysis/identify/difference.h"
#include "analysis/identify/difference_pattern.h"
#include "analysis/identify/ladder.h"
#include "analysis/identify/line_class.h"
#include "analysis/identify/search.h"
#include "analysis/identify/told_hint.h"
#include "lib/base/record.h"

struct explanation;

/* The options of the search. */
struct explain_options {
    size_t samples; /* outputs on which hypotheses are confirmed */
    double effort;  /* factor of the work of the search, and of the comparison of all
                       outputs; 0: 1 */
    double seconds; /* time limit of both; 0: none */
    uint64_t seed;
    int threads;
    const struct progress *progress;
    const struct gemm_offload *offload; /* struct gemm_options */
    const struct chip *chip;        /* of the caller's options: struct problem has it */
    const struct explanation *like; /* the explanation of another D of the same A, B and
                                       C, or NULL. Its hypothesis is tried first; if it
                                       gives the whole sample, nothing else is tried */
    const struct block *part; /* D consists of these rows and columns of a larger result,
                                 whose positions are reported; or NULL */
    bool no_diagnosis;        /* if no hypothesis gives D, its error is not examined */
};

enum { EFFORT_MAX = 1000000 };

/* A caller's options, or NULL, with defaults filled in. */
enum bitcut_status explain_options_take(struct explain_options *to,
                                        const struct bitcut_explain_options *from,
                                        int threads, struct fault *f);

/* The effort of an analysis whose work is `work`, with the options. */
static inline struct effort explain_effort(const struct explain_options *o, double work)
{
    return effort_of(work * (o->effort > 0 ? o->effort : 1), o->seconds);
}

enum {
    EQUALS_MAX = 64,
    PARTS_MAX = 4,
    SENTENCE_MAX = 1000,
    CHANGES_MAX = 600,
    LIST_MAX = 120,
    OPERANDS_TEXT_MAX = 300
};

/* A hypothesis and its agreement with D. */
struct verdict {
    struct hypothesis h;
    struct candidate x;
    size_t matched, sampled; /* outputs of the sample with the same bits */
    bool stored;             /* as in struct contender */
};

/* The result.  For each list there is the number of stored entries, and the total number.
 */
struct explanation {
    struct bitcut_explanation answer; /* must be first: the part for callers */
    struct problem q;                 /* the matrices as they are read */
    struct space space;
    struct ladder_report ladder; /* what the checks before the search found */
    bool of_rest;                /* the hypothesis is that of ladder_rest() */
    bool no_product;             /* D as a whole holds something else; `part` says what */
    double error;        /* median |D - exact| in 2^-24 |A||B|                          */
    struct diagnosis diagnosis; /* what the error consists of                           */
    double
        agreeing; /* share of outputs on which two orders agree, for answer.by_chance */
    /* the hypothesis that gives everything that was compared, or most of it */
    struct verdict best;
    struct verdict equal[EQUALS_MAX]; /* other hypotheses that give the whole sample */
    size_t equals;
    struct order_classes classes; /* several orders that give all of D together */
    bool of_integers;           /* explain_integers() has the answer */
    bool late;                  /* the time limit ended the search, not its work */
    unsigned hints;             /* what was said of the computation (told_hint.h) */
    char better[TOLD_HINT_TEXT_MAX]; /* if D was not found: options with which it is */
    bool interrupted;           /* progress asked to stop; the result is as of then */
    struct box part[PARTS_MAX]; /* regions where D differs from the best hypothesis */
    size_t parts;
    /* first outputs that the best hypothesis does not give */
    struct differing first[DIFFERING_MAX];
    size_t firsts;
    struct spread spread; /* of D from the best hypothesis, in the outputs compared */
    double distance[RECIPES_MAX]; /* struct search: distance of each unchanged recipe, by
                                     position */
    double seconds;               /* time that the search took */
    char operands[OPERANDS_TEXT_MAX]; /* what the hypothesis makes of A and B; "": nothing
                                       */
    bool is_batch;   /* `answer` is about all GEMMs; all other members describe */
    size_t searched; /* GEMM `searched` */
    char given[LIST_MAX], others[LIST_MAX]; /* GEMMs that the hypothesis gives, and the
                                               other ones, such as "GEMMs 0 to 2, 5" */
    size_t other_gemm;                      /* one of the other GEMMs, and */
    char other[SENTENCE_MAX];               /* what computed its D; "": unknown */
    const char *device; /* what computed in place of the emulator; NULL: no device was
                           requested */
};
/* Explain D of *q, whose matrices remain the caller's.  If progress asks to stop, the
   result has what was found and compared until then.  Returns BITCUT_BAD_ARGUMENT if the
   shapes do not match, or no GEMM runs on the unit; BITCUT_NO_MEMORY.  Only after
   BITCUT_OK the result has to be cleared. */
enum bitcut_status explain_run(struct explanation *e, const struct problem *q,
                               const struct explain_options *o, struct fault *f);
void explain_clear(struct explanation *e);

/* The same for a batch, for groups, or for one GEMM.  The hypothesis is searched on the
   first GEMM that has outputs, and compared with all GEMMs.  If it does not give all, the
   first other GEMM is searched too; the hypothesis that gives more GEMMs is the answer.
   The time limit holds for each search and each comparison. */
enum bitcut_status explain_batch(struct explanation *e, const struct problem *q,
                                 const struct explain_options *o, struct fault *f);

/* An explanation in brief. */
struct brief_explanation {
    char sentence[SENTENCE_MAX]; /* "": D was not explained */
    enum diagnosis_level level;
    bool faulty; /* whether the sentence names a fault */
};

/* What a GEMM of the batch of a problem is called: a GEMM, or a group. */
static inline const char *explain_noun(const struct problem *q)
{
    return q->of_groups || q->of_k ? "group" : "GEMM";
}

/* Whether the GEMM describes the hypothesis completely: there is no fault, and its
   products have an order that the GEMM can have. */
bool explain_says_all(const struct verdict *v);

/* Its fields and sentences (lib/base/record.h). */
extern const struct record_field explain_fields[], explain_best_fields[],
    explain_batch_fields[], explain_part_fields[], explain_equal_fields[],
    explain_bin_fields[], explain_distance_fields[];
extern const struct record_line explain_lines[];
record_describe explain_describe_text, explain_describe_verdict, explain_describe_nearest,
    explain_describe_search, explain_describe_error, explain_describe_distances,
    explain_describe_sum, explain_describe_spread, explain_describe_boxes,
    explain_describe_period, explain_describe_equal;

/* Whether that sentence has the findings of the ladder. */
bool explain_says_findings(const struct explanation *e);

/* Whether the best hypothesis gives D, or so many outputs, or all but those of a region,
   that its recipe and unit say something about D. */
bool explain_names_nearest(const struct explanation *e);

/* The answer in one sentence: what computed D, or that no hypothesis gives it, and the
   nearest one. */
void explain_describe(char text[SENTENCE_MAX], const struct explanation *e);

/* The name of the fault: of the hypothesis, or else of the first region that differs;
   NULL: there is none, or some outputs are far from the hypothesis and unexplained. */
const char *explain_fault(const struct explanation *e);

/* The changes of a hypothesis beyond recipe and unit: parts of a sentence after "but ".
   The text is empty if there are none. */
void verdict_describe(char *text, size_t size, const struct verdict *v,
                      const struct space *s);

#endif
