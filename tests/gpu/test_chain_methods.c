/* SPDX-License-Identifier: BSD-3-Clause */
/* How a device computes the chains of a unit's GEMMs: the method for the unit's way of
   adding; and its replacement without an instruction, without the claim that the
   instruction is the unit's, or without code. */
#include "emu/gemm.h"
#include "emu/summation.h"
#include "gpu/emulate/chains.h"
#include "gpu/emulate/emulation.h"
#include "tests/test.h"

#include <string.h>

static const struct gpu_multiplier hopper_multipliers[] = {
    { "mma.m16n8k16.f32.f16", 1 },
    { "mma.m16n8k16.f32.bf16", 1 },
    { "mma.m16n8k8.f32.tf32", 1 },
    { 0 },
};

static bool claims_all(const struct emulator *e, int multiplier)
{
    return e && multiplier >= 0;
}

static bool claims_none(const struct emulator *e, int multiplier)
{
    return e && multiplier < 0;
}

static const struct emulator hopper = { .units = "hopper",
                                        .architecture = 1,
                                        .multipliers = hopper_multipliers,
                                        .methods = (1u << CHAIN_METHODS) - 1,
                                        .claims = claims_all };

/* On Hopper: by how units add, and what; the first row that is of the unit. */
static const struct {
    const char *sum;
    int block, fraction;
    int operand, c, result; /* -1: any */
    bool k_16, lowered;
    const char *method;
} expected[] = {
    /* clang-format off */
    { "fused",     16, 25, FORMAT_F16,  FORMAT_F32, FORMAT_F32, true,  false, "native" },
    { "fused",     16, 25, FORMAT_BF16, FORMAT_F32, FORMAT_F32, true,  false, "native" },
    { "fused",      8, 25, FORMAT_TF32, FORMAT_F32, FORMAT_F32, false, false, "native" },
    { "fused",      8, 24, FORMAT_F16,  FORMAT_F32, FORMAT_F32, false, false, "tensor" },
    { "fused",      8, 24, FORMAT_BF16, FORMAT_F32, FORMAT_F32, false, false, "tensor" },
    { "fused",      4, 24, FORMAT_TF32, FORMAT_F32, FORMAT_F32, false, false, "tensor" },
    { "fused",      4, 23, FORMAT_F16,  FORMAT_F32, FORMAT_F32, false, false, "tensor" },
    { "fused",      1, FRACTION_EXACT, -1, FORMAT_F32, FORMAT_F32, false, false, "simt" },
    { "fused",      2, FRACTION_EXACT, -1, FORMAT_F32, FORMAT_F32, false, false, "cut" },
    { "fused",      4, FRACTION_EXACT, -1, FORMAT_F32, FORMAT_F32, false, false, "cut" },
    { "fused",      1, FRACTION_EXACT, -1, FORMAT_F16,  FORMAT_F16,  false, false, "steps" },
    { "fused",      1, FRACTION_EXACT, -1, FORMAT_BF16, FORMAT_BF16, false, false, "steps" },
    { "fused",     -1, -1, FORMAT_F16,  FORMAT_F16, FORMAT_F16, false, false, "cut" },
    { "fused",     -1, -1, -1,          -1,         -1,         false, true,  "cut" },
    { "fused",     -1, 13, -1,          -1,         -1,         false, false, "cut" },
    { "fused",     -1, 25, -1,          -1,         -1,         false, false, "cut" },
    { "fused",      2, FRACTION_EXACT, -1, FORMAT_F16, FORMAT_F16, false, false, "steps" },
    { "pairs",     -1, -1, -1,          FORMAT_F32, FORMAT_F32, false, false, "simt" },
    { "pairs",     -1, -1, -1,          -1,         -1,         false, false, "steps" },
    { "two-stage", -1, -1, -1,          FORMAT_F32, FORMAT_F32, false, false, "cut" },
    { "serial",    -1, -1, -1,          -1,         -1,         false, false, "steps" },
    /* clang-format on */
};

static bool is_or_any(int asked, const struct bitcut_format *f)
{
    return asked < 0 || &formats[asked] == f;
}

static const char *method_expected(const struct bitcut_unit *u)
{
    if (u->nan_rule != NAN_FIXED || u->flush_inputs > INPUT_POSITIVE) return "none";
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        if (!strcmp(expected[i].sum, u->summation->name) &&
            (expected[i].block < 0 || expected[i].block == u->block) &&
            (expected[i].fraction < 0 || expected[i].fraction == u->fraction) &&
            is_or_any(expected[i].operand, u->a) && is_or_any(expected[i].c, u->c) &&
            is_or_any(expected[i].result, u->result) &&
            (!expected[i].k_16 || u->k == 16) && (!expected[i].lowered || u->c_last))
            return expected[i].method;
    return "none";
}

static const char *method_of(const struct bitcut_unit *u, const struct emulator *e)
{
    struct unit_rule rule;
    int instruction;
    if (!unit_rule_make(&rule, u)) return "none";
    const enum chain_method m = chain_method_choose(&instruction, &rule, e);
    ck_assert((instruction >= 0) == (m == CHAIN_NATIVE || m == CHAIN_TENSOR));
    return chain_rule_of(m)->name;
}

static bool has_gemms(const struct bitcut_unit *u)
{
    const struct bitcut_gemm g = gemm_of(&recipes[RECIPE_PLAIN], u);
    struct gemm_plan plan;
    return gemm_plan_on_unit(&plan, &g, NULL) == BITCUT_OK;
}

START_TEST(methods)
{
    int tried = 0;
    for (const struct bitcut_unit *u = units; u->name; u++) {
        if (!has_gemms(u)) continue;
        ck_assert_msg(!strcmp(method_of(u, &hopper), method_expected(u)),
                      "%s: %s, not %s", u->name, method_of(u, &hopper),
                      method_expected(u));
        tried++;
    }
    ck_assert_int_gt(tried, 50);
}
END_TEST

/* Without an instruction, the claim, or the code. */
START_TEST(other_methods)
{
    const struct bitcut_unit *const ampere =
                                        unit_find("ampere/mma.m16n8k8.f32.f16", NULL),
                                    *const own =
                                        unit_find("hopper/mma.m16n8k16.f32.f16", NULL);
    struct emulator e = hopper;
    e.architecture = 2;
    ck_assert_str_eq(method_of(ampere, &e), "cut");
    ck_assert_str_eq(method_of(own, &e), "cut");
    e = hopper;
    e.claims = claims_none;
    ck_assert_str_eq(method_of(ampere, &e), "cut");
    ck_assert_str_eq(method_of(own, &e), "native");
    e = hopper;
    e.methods = 1u << CHAIN_TENSOR;
    ck_assert_str_eq(method_of(ampere, &e), "tensor");
    ck_assert_str_eq(method_of(own, &e), "steps");
    e.methods = 0;
    ck_assert_str_eq(method_of(ampere, &e), "steps");
    e = hopper;
    e.units = "ampere";
    ck_assert_str_eq(method_of(ampere, &e), "cut");
}
END_TEST

TEST_MAIN("chain methods", methods, other_methods)
