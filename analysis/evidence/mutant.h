/* SPDX-License-Identifier: BSD-3-Clause */
/* Mutants: rows one step away from a unit's, and proofs that some of them are the same
   unit.  A set of vectors is worth the mutants it tells from the unit. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_MUTANT_H
#define BITCUT_ANALYSIS_EVIDENCE_MUTANT_H

#include "analysis/evidence/field.h"

/* Why a mutant computes what the unit computes, for every input and every sound row, of
   the table or not.  The argument is the comment at the function; `what` is its
   conclusion. */
struct proof {
    const char *name, *what;
    const char *field; /* of which mutants */
    bool (*holds)(const struct bitcut_unit *u, const struct bitcut_unit *mutant);
};

extern const struct proof proofs[]; /* ended by a row whose name is NULL */

struct mutant {
    struct bitcut_unit unit;   /* the row with one field changed          */
    const struct field *field; /* which one                               */
    int64_t value;             /* what it is now                          */
    const struct proof *proof; /* why it is no mutant at all, or NULL     */
};

enum { MUTANTS_MAX = 64 };

/* All mutants of a unit: for each field that the row reads, the values of field_steps(),
   of summations the rivals.  Returns how many. */
int mutants_list(struct mutant list[MUTANTS_MAX], const struct bitcut_unit *u);

/* The unit that adds all products and C exactly and rounds once, to nearest: vectors that
   do not tell it from `u` say nothing about how u rounds.  False if there is none, for
   want of an exact sum with block scales. */
bool mutant_ideal(struct bitcut_unit *ideal, const struct bitcut_unit *u);

/* "fraction 24" */
void mutant_name(char *text, size_t size, const struct mutant *m);

#endif
