/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's side of GEMMs on units that a device does not have: the description that
   a module gets, and the method by which it computes each accumulator.

   The gpu rule: a method is chosen only by the fields of the unit's row, never by a name.
   chain_rules lists the requirements of each method, the fastest method first; the first
   method that accepts the rule is used.  So another unit with the same numbers gets the
   same method.  A unit with other numbers may get a slower method, with the same bits. */
#ifndef BITCUT_GPU_EMULATE_EMULATION_H
#define BITCUT_GPU_EMULATE_EMULATION_H

#include "emu/unit.h"
#include "gpu/emulate/rule.h"
#include "lib/gemm/plan.h"

/* --- rules -------------------------------------------------------------------------- */

/* Describe a unit to devices, if GEMMs run on it (gemm_plan_on_unit()) and its operands
   are read one by one.  False, with *to undefined, otherwise. */
bool unit_rule_make(struct unit_rule *to, const struct bitcut_unit *unit);

/* Describe a split; equilibrated lines are split by it as well. */
void split_rule_make(struct split_rule *to, const struct bitcut_split *split);

/* Whether both rules give the same bits for all operands: every field except names is
   equal. */
bool unit_rule_same(const struct unit_rule *x, const struct unit_rule *y);

/* --- methods ------------------------------------------------------------------------ */

/* The requirements of a method.  bitcut_gemm_method() returns its name. */
struct chain_rule {
    enum chain_method method;
    const char *name, *what;
    bool multiplies; /* whether it uses an instruction of the device               */
    bool claims;     /* whether it relies on the complete row of this instruction's
                        unit                                                        */

    /* Whether the method computes the sums of the rule.  If it uses an instruction, `on`
       is the rule by which the instruction adds; otherwise `on` is NULL. */
    bool (*takes)(const struct unit_rule *rule, const struct unit_rule *on);
};

/* The fastest first; the last one accepts every rule. */
extern const struct chain_rule chain_rules[CHAIN_METHODS];

/* The row of a method. */
const struct chain_rule *chain_rule_of(enum chain_method method);

/* The emulator on a device: data of struct gpu_module (gpu/module/module.h) and of the
   device. */
struct emulator {
    const char *units;                        /* the device's architecture: the part of
                                                 its units' names before the '/'        */
    unsigned architecture;                    /* bit of the architecture                */
    const struct gpu_multiplier *multipliers; /* ended by a row without an instruction  */
    unsigned methods;                         /* methods for which there is code        */

    /* Whether tests on the device found that it adds by a multiplier as the row of its
       unit says. */
    bool (*claims)(const struct emulator *on, int multiplier);
    const void *module; /* module, for claims() only, */
    int device;         /* and number of the device */
};

/* The method for sums by this rule.  *instruction is the position of the multiplier that
   it uses, or -1. */
enum chain_method chain_method_choose(int *instruction, const struct unit_rule *rule,
                                      const struct emulator *on);

/* --- a GEMM ------------------------------------------------------------------------- */

/* Describe to the device a GEMM whose plan gemm_plan_on_unit() made (emu/gemm.h).
   BITCUT_UNSUPPORTED: terms of one accumulator run on different units, or a unit has a
   rule that cannot be described to devices. */
enum bitcut_status emulation_make(struct gpu_emulation *to, const struct bitcut_gemm *g,
                                  const struct gemm_plan *plan, const struct emulator *on,
                                  struct fault *f);

#endif
