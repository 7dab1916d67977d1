/* SPDX-License-Identifier: BSD-3-Clause */
/* Mutants: rows one step away from a unit's row, and proofs that some of them are
   equivalent to the unit.  The quality of a set of vectors is the number of mutants that
   it distinguishes from the unit. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_MUTANT_H
#define BITCUT_ANALYSIS_EVIDENCE_MUTANT_H

#include "analysis/evidence/field.h"

/* A proof that a mutant computes the same as the unit, for every input and every sound
   row, in the table or not.  The argument is the comment at the function; `what` is its
   conclusion. */
struct proof {
    const char *name, *what;
    const char *field; /* the field that mutants change */
    bool (*holds)(const struct bitcut_unit *u, const struct bitcut_unit *mutant);
};

extern const struct proof proofs[]; /* ended by a row whose name is NULL */

struct mutant {
    struct bitcut_unit unit;   /* the row with one field changed          */
    const struct field *field; /* which one                               */
    int64_t value;             /* its new value */
    const struct proof *proof; /* proof that the mutant is equivalent; NULL: none */
};

enum { MUTANTS_MAX = 64 };

/* All mutants of a unit: for each field that the row reads, the values of field_steps();
   for summations, the alternatives.  Returns their number. */
int mutants_list(struct mutant list[MUTANTS_MAX], const struct bitcut_unit *u);

/* The unit that adds all products and C exactly and rounds once, to nearest.  Vectors
   that do not distinguish it from `u` say nothing about the rounding of u.  Returns false
   for a unit with block scales, since exact sums with block scales do not exist. */
bool mutant_ideal(struct bitcut_unit *ideal, const struct bitcut_unit *u);

/* "fraction 24" */
void mutant_name(char *text, size_t size, const struct mutant *m);

#endif
