/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's side of GEMMs on units that a device does not have: what a module is told
   of one, and by which method it computes each accumulator.

   The gpu rule: a method is chosen by the fields of the unit's rule alone, never by a
   name.  chain_rules has what each method needs, the fastest first, and the first that
   takes the rule is taken; so another unit with the same numbers gets the same method,
   and one with others gets a slower one, with the same bits. */
#ifndef BITCUT_GPU_EMULATE_EMULATION_H
#define BITCUT_GPU_EMULATE_EMULATION_H

#include "emu/unit.h"
#include "gpu/emulate/rule.h"
#include "lib/gemm/plan.h"

/* --- rules -------------------------------------------------------------------------- */

/* A unit as devices are told of it, if GEMMs run on it (gemm_plan_on_unit()), and its
   operands are read one by one.  False, and *to is undefined: they do not. */
bool unit_rule_make(struct unit_rule *to, const struct bitcut_unit *unit);

/* A split, as equilibrated lines are cut by it as well. */
void split_rule_make(struct split_rule *to, const struct bitcut_split *split);

/* Whether they add to the same bits, for all operands: every field but names. */
bool unit_rule_same(const struct unit_rule *x, const struct unit_rule *y);

/* --- methods ------------------------------------------------------------------------ */

/* What a method needs.  Its name is what bitcut_gemm_method() says. */
struct chain_rule {
    enum chain_method method;
    const char *name, *what;
    bool multiplies; /* by an instruction of the device                            */
    bool claims;     /* and rests on all that the instruction's own unit's row says */

    /* Whether the method computes the rule's sums; where it multiplies, by an instruction
       that adds by the rule `on`, else NULL. */
    bool (*takes)(const struct unit_rule *rule, const struct unit_rule *on);
};

/* The fastest first; the last one takes every rule. */
extern const struct chain_rule chain_rules[CHAIN_METHODS];

/* The row of a method. */
const struct chain_rule *chain_rule_of(enum chain_method method);

/* What computes: of struct gpu_module (gpu/module/module.h) and a device of it. */
struct emulator {
    const char *units;                        /* of the device's architecture: the part of
                                                 their names before the '/'             */
    unsigned architecture;                    /* its bit                                */
    const struct gpu_multiplier *multipliers; /* ended by a row without an instruction  */
    unsigned methods;                         /* that there is code for                 */

    /* Whether the device was found to add by a multiplier as its unit's row says. */
    bool (*claims)(const struct emulator *on, int multiplier);
    const void *module; /* for that alone ... */
    int device;         /* ... and its number */
};

/* The method for sums by that rule, and in *instruction the position of the multiplier
   that it uses, or -1. */
enum chain_method chain_method_choose(int *instruction, const struct unit_rule *rule,
                                      const struct emulator *on);

/* --- a GEMM ------------------------------------------------------------------------- */

/* What the device is told of a GEMM whose plan gemm_plan_on_unit() made (emu/gemm.h).
   BITCUT_UNSUPPORTED: terms of one accumulator run on different units, or a unit has a
   rule that devices cannot be told. */
enum bitcut_status emulation_make(struct gpu_emulation *to, const struct bitcut_gemm *g,
                                  const struct gemm_plan *plan, const struct emulator *on,
                                  struct fault *f);

#endif
