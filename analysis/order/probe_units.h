/* SPDX-License-Identifier: BSD-3-Clause */
/* The units that give the results of a program, for an order that was probed. */
#ifndef BITCUT_ANALYSIS_ORDER_PROBE_UNITS_H
#define BITCUT_ANALYSIS_ORDER_PROBE_UNITS_H

#include "analysis/order/probe_sizes.h"
#include "analysis/order/probe_tree.h"
#include "emu/unit.h"
#include "lib/gemm/recipe.h"

enum { PROBE_UNITS_MAX = 64 };

/* Random data on which a program was run: numbers of the probe's format. */
struct probe_data {
    struct matrix a, b, d;
};

enum bitcut_status probe_data_make(struct probe_data *x, const struct probe *p,
                                   struct fault *f);
void probe_data_clear(struct probe_data *x);

/* A recipe with one product, on the units that give every compared output; if there are
   none, on the unit that gives the most. */
struct probe_fit {
    const struct bitcut_recipe *recipe;               /* NULL: no unit can be tried */
    /* the first one was recorded, if any was */
    const struct bitcut_unit *unit[PROBE_UNITS_MAX];
    size_t units;                /* number of units that fit */
    size_t compared, mismatches; /* outputs, for unit[0] */
};

/* Try all units with operands of the format.  For large k only some rows are compared.
   Returns BITCUT_NO_MEMORY, or BITCUT_UNSUPPORTED if asked to stop. */
enum bitcut_status probe_fit_units(struct probe_fit *fit, const struct probe_guess *g,
                                   const struct probe_data *x, const struct probe *p,
                                   struct fault *f);

#endif
