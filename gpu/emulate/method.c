/* SPDX-License-Identifier: BSD-3-Clause */
/* The gpu rule: which method computes the sums of an accumulator. */
#include "gpu/emulate/emulation.h"

#include <stdio.h>

/* --- what is asked of a rule -------------------------------------------------------- */

static bool is_f32(const struct bitcut_format *f)
{
    return f->exponent_bits == 8 && f->fraction_bits == 23;
}

/* Sums that begin and end as FP32. */
static bool sums_in_f32(const struct unit_rule *r)
{
    return is_f32(&r->c) && is_f32(&r->result);
}

static bool rounds_to_nearest_even(const struct unit_rule *r)
{
    return r->rounding.direction == TO_NEAREST_EVEN &&
           r->rounding.overflow == OVERFLOW_IEEE;
}

/* The magnitudes of terms are cut, at a position given by their exponents. */
static bool truncates(const struct unit_rule *r)
{
    return r->fraction != RULE_EXACT && !r->normalise && !r->floor;
}

/* Products of such parts fit an FP32 significand. */
static bool has_short_operands(const struct unit_rule *r)
{
    enum { BITS = 10 };
    return r->operand[0].fraction_bits <= BITS && r->operand[1].fraction_bits <= BITS;
}

static bool has_operand(const struct unit_rule *r, const struct unit_rule *on)
{
    bool all = true;
    for (int i = 0; i < 2; i++)
        all &= r->operand[i].exponent_bits == on->operand[i].exponent_bits &&
               r->operand[i].fraction_bits == on->operand[i].fraction_bits &&
               r->operand[i].bias == on->operand[i].bias &&
               r->operand[i].special == on->operand[i].special;
    return all;
}

/* A block and c, truncated to FP32 toward zero.  The smallest exponent of an alignment is
   irrelevant if c is not zero. */
static bool is_truncated_block(const struct unit_rule *r)
{
    enum { EMIN_F32 = -126 };
    return r->sum == RULE_FUSED && truncates(r) && sums_in_f32(r) && !r->c_last &&
           !r->flush_inputs && r->rounding.direction == TO_ZERO &&
           r->rounding.overflow == OVERFLOW_INF && !r->rounding.flush &&
           r->zero == RULE_ZERO_POSITIVE && r->align_min < EMIN_F32;
}

/* --- what each method takes --------------------------------------------------------- */

static bool takes_native(const struct unit_rule *r, const struct unit_rule *on)
{
    return unit_rule_same(r, on);
}

/* A block of L products with F bits, computed on an instruction with G bits, gives 2^(G -
   F) times its result, if each product enters 2^(G - F) times and c is scaled by the same
   factor, unless the exponent of c is below a product's (tests/emu/test_identity.c). */
static bool takes_tensor(const struct unit_rule *r, const struct unit_rule *on)
{
    return is_truncated_block(r) && is_truncated_block(on) && has_operand(r, on) &&
           has_short_operands(r) && r->nan == on->nan && r->fraction < on->fraction &&
           r->block < on->block && r->block << (on->fraction - r->fraction) == on->block;
}

/* Products and sums that FP32 operations round in the same way. */
static bool takes_simt(const struct unit_rule *r, const struct unit_rule *on)
{
    const bool pairs = r->sum == RULE_PAIRS && r->block <= 4,
               chain = r->sum == RULE_FUSED && r->fraction == RULE_EXACT &&
                       r->block == 1 && !r->rounding.flush;
    (void)on;
    return (pairs || chain) && sums_in_f32(r) && rounds_to_nearest_even(r) &&
           r->zero == RULE_ZERO_IEEE && !r->c_last;
}

static bool cuts_block(const struct unit_rule *r)
{
    return r->sum == RULE_FUSED && truncates(r) && r->fraction <= 25 && r->block <= 32;
}

static bool cuts_two_stages(const struct unit_rule *r)
{
    return r->sum == RULE_TWO_STAGE && truncates(r) && r->fraction == 24 &&
           r->sum_fraction == 32 && r->keep == 31 && r->keep_min == -126;
}

static bool adds_exactly(const struct unit_rule *r)
{
    return r->sum == RULE_FUSED && r->fraction == RULE_EXACT &&
           (r->block == 2 || r->block == 4) && sums_in_f32(r) &&
           rounds_to_nearest_even(r) && !r->rounding.flush && !r->c_last;
}

static bool takes_cut(const struct unit_rule *r, const struct unit_rule *on)
{
    (void)on;
    return has_short_operands(r) &&
           (cuts_block(r) || cuts_two_stages(r) || adds_exactly(r));
}

static bool takes_all(const struct unit_rule *r, const struct unit_rule *on)
{
    (void)r;
    (void)on;
    return true;
}

const struct chain_rule chain_rules[CHAIN_METHODS] = {
    { .method = CHAIN_NATIVE,
      .name = "native",
      .what =
          "an instruction of the device that adds in the same way, with the same numbers",
      .multiplies = true,
      .takes = takes_native },
    { .method = CHAIN_TENSOR,
      .name = "tensor",
      .what = "blocks of L products truncated to F bits and to FP32 toward zero: by an "
              "instruction of the device with L 2^(G - F) products and G bits",
      .multiplies = true,
      .claims = true,
      .takes = takes_tensor },
    { .method = CHAIN_SIMT,
      .name = "simt",
      .what = "fused multiply-adds, or rounded products and trees of up to 4: by the "
              "device's FP32 operations",
      .takes = takes_simt },
    { .method = CHAIN_CUT,
      .name = "cut",
      .what =
          "blocks of up to 32 truncated to 25 bits or less, sums in two stages, and "
          "exact sums of 2 or 4, all of short parts: by integers cut by their exponents",
      .takes = takes_cut },
    { .method = CHAIN_STEPS,
      .name = "steps",
      .what = "everything else: step by step, as the emulator's engine",
      .takes = takes_all },
};

const struct chain_rule *chain_rule_of(enum chain_method method)
{
    const struct chain_rule *r = chain_rules;
    while (r->method != method) r++;
    return r;
}

/* --- choosing ----------------------------------------------------------------------- */

/* The rule of a multiplier on the device; false if the device has no such unit. */
static bool multiplier_rule(struct unit_rule *to, const struct gpu_multiplier *x,
                            const struct emulator *on)
{
    enum { NAME_LENGTH_MAX = 100 };
    char name[NAME_LENGTH_MAX];
    if (!(x->architectures & on->architecture)) return false;
    snprintf(name, sizeof name, "%s/%s", on->units, x->instruction);
    const struct bitcut_unit *u = bitcut_unit_find(name, NULL);
    return u && unit_rule_make(to, u);
}

/* The first multiplier with which the method accepts the rule, or -1. */
static int find_multiplier(const struct chain_rule *method, const struct unit_rule *rule,
                           const struct emulator *on)
{
    struct unit_rule x;
    for (int i = 0; on->multipliers[i].instruction; i++)
        if (multiplier_rule(&x, &on->multipliers[i], on) && method->takes(rule, &x) &&
            (!method->claims || on->claims(on, i)))
            return i;
    return -1;
}

enum chain_method chain_method_choose(int *instruction, const struct unit_rule *rule,
                                      const struct emulator *on)
{
    const unsigned methods = on->methods | 1u << CHAIN_STEPS;
    const struct chain_rule *r = chain_rules;
    for (;; r++) {
        if (!(methods & 1u << r->method)) continue;
        *instruction = r->multiplies ? find_multiplier(r, rule, on) : -1;
        if (r->multiplies ? *instruction >= 0 : r->takes(rule, NULL)) return r->method;
    }
}
