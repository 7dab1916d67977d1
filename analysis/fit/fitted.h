/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rows explain recorded sets: the answer of `bitcut fit`, described. */
#ifndef BITCUT_ANALYSIS_FIT_FITTED_H
#define BITCUT_ANALYSIS_FIT_FITTED_H

#include "analysis/fit/fit_answer.h"
#include "analysis/fit/fit_fields.h"
#include "analysis/fit/fit_separate.h"

enum { FITTED_OPEN_MAX = 512 };

struct fitted {
    struct bitcut_fit fit; /* first */
    const char *set;       /* the names of the sets */
    const struct bitcut_unit *unit;
    bool known;                   /* the unit is in the table */
    struct group all, nearest;    /* what answer_group() has of these */
    char open[FITTED_OPEN_MAX];  /* names of fields that are not decided */
    const char *next;             /* a folder for cases that tell rows apart, or NULL */
    struct separation separation; /* with `next` */
    double seconds;
};

/* Look at the groups of a->fit; they stay its. */
void fitted_look(struct fitted *a);

#endif
