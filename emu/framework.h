/* SPDX-License-Identifier: BSD-3-Clause */
/* What libraries and frameworks compute on ordinary processors, as recipes on units. */
#ifndef BITCUT_EMU_FRAMEWORK_H
#define BITCUT_EMU_FRAMEWORK_H

#include "lib/gemm/recipe.h"

/* How it is known. */
enum known {
    KNOWN_MEASURED,  /* results were recorded, and the row's words give every bit      */
    KNOWN_READ,      /* from the source code, compared with no result                   */
    KNOWN_DOCUMENTED /* from documentation alone                                       */
};

/* The words for it. */
extern const char *const known_names[];

/* A row: one way to ask one library for a GEMM. */
struct framework {
    const char *name, *what;
    const char *library; /* whose, and in which versions it was looked at         */
    const char *setting; /* what asks for it                                      */
    const struct bitcut_recipe *recipe; /* what computes it; or what is nearest, where
                                           `open` says that products are not known   */
    const struct bitcut_split *split;   /* of both operands, in place of the recipe's
                                           or the unit's; or NULL                    */
    const char *unit;  /* its name; NULL: of no unit that there is a row for     */
    const char *order; /* what is known of the order of k                        */
    enum known known;
    const char *open; /* what is not known; or NULL                             */
    const char *source;
};

extern const struct framework frameworks[]; /* ended by a row whose name is NULL */

#endif
