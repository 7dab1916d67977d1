/* SPDX-License-Identifier: BSD-3-Clause */
/* An order that was probed, on the units: which of them give what a program gives. */
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

/* A recipe of one product on the units that give every output compared; on none, the one
   that gives the most. */
struct probe_fit {
    const struct bitcut_recipe *recipe;               /* NULL: no unit can be tried */
    const struct bitcut_unit *unit[PROBE_UNITS_MAX]; /* the first recorded if any  */
    size_t units;                                     /* that fit                   */
    size_t compared, mismatches;                      /* outputs, of unit[0]        */
};

/* Try all units with operands of the format; of long k some rows are compared.
   BITCUT_NO_MEMORY, or BITCUT_UNSUPPORTED: asked to stop. */
enum bitcut_status probe_fit_units(struct probe_fit *fit, const struct probe_guess *g,
                                   const struct probe_data *x, const struct probe *p,
                                   struct fault *f);

#endif
