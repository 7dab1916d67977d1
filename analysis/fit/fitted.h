/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows that explain recorded sets: the described answer of `bitcut fit`. */
#ifndef BITCUT_ANALYSIS_FIT_FITTED_H
#define BITCUT_ANALYSIS_FIT_FITTED_H

#include "analysis/fit/fit_answer.h"
#include "analysis/fit/fit_fields.h"
#include "analysis/fit/fit_separate.h"

enum { FITTED_OPEN_MAX = 512 };

struct fitted {
    struct bitcut_fit fit; /* must be first */
    const char *set;       /* the names of the sets */
    const struct bitcut_unit *unit;
    bool known;                   /* the unit is in the table */
    struct group all, nearest;    /* their values by answer_group() */
    char open[FITTED_OPEN_MAX];   /* names of fields with several values */
    const char *next;             /* a folder for inputs that distinguish rows, or NULL */
    struct separation separation; /* with `next` */
    double seconds;
};

/* Set the members about a->fit, which keeps its ownership. */
void fitted_look(struct fitted *a);

#endif
