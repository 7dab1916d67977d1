/* SPDX-License-Identifier: BSD-3-Clause */
/* What libraries and frameworks compute on CPUs, as recipes on units. */
#ifndef BITCUT_EMU_FRAMEWORK_H
#define BITCUT_EMU_FRAMEWORK_H

#include "lib/gemm/recipe.h"

/* The source of the knowledge. */
enum known {
    KNOWN_MEASURED,  /* results were recorded, and the row gives every bit of them     */
    KNOWN_READ,      /* from the source code, not compared with results                 */
    KNOWN_DOCUMENTED /* only from documentation                                        */
};

/* The texts for enum known. */
extern const char *const known_names[];

/* A row: one setting by which a library computes a GEMM. */
struct framework {
    const char *name, *what;
    const char *library; /* the library, and the versions that were examined      */
    const char *setting; /* how a program selects it                              */
    const struct bitcut_recipe *recipe; /* the recipe; or the nearest one, if `open` says
                                           that the products are unknown             */
    const struct bitcut_split *split;   /* split of both operands, instead of the recipe's
                                           or the unit's; or NULL                    */
    const char *unit;  /* name of the unit; NULL: the table has no row for it    */
    const char *order; /* the known facts about the order of k                   */
    enum known known;
    const char *open; /* the unknown facts; or NULL                             */
    const char *source;
};

extern const struct framework frameworks[]; /* ended by a row whose name is NULL */

#endif
