/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of units and chips: the unit that each stands for, by the format of the parts;
   and the common properties of the units of one family. */
#include "emu/unit.h"
#include "tests/test.h"

#include <string.h>

/* Chips of Arm's without SME; none of them has FDOT of fp8. */
#define ARM                                                                              \
    "neoverse-v1 neoverse-n2 neoverse-v2 neoverse-n3 neoverse-v3 graviton3 graviton4 "   \
    "grace cobalt100 ampereone m2 m3"

/* The first instruction of each chip for operands of some formats; fma/f32 stands for its
   vector units. */
/* Chips of an architecture. */
#define VOLTA  "v100 titanv gv100 "
#define TURING "t4 rtx8000 rtx6000 rtx5000 rtx4000 titanrtx rtx2080ti rtx2080 rtx2070 rtx2060 "
#define AMPERE                                                                             \
    "a100 a800 a30 a40 a2 a10 a16 a10g rtxa6000 rtxa5000 rtxa4000 rtxa3000 rtxa2000 "       \
    "rtx3090 rtx3090ti rtx3080ti rtx3080 rtx3070ti rtx3070 rtx3060ti rtx3060 rtx3050 orin " \
    "orin-nx orin-nano "
#define ADA                                                                                \
    "l40s l40 l4 rtx6000ada rtx5000ada rtx4000ada rtx2000ada rtx4090 rtx4080 rtx4070ti "    \
    "rtx4070 rtx4060ti rtx4060 rtx4050 "
#define HOPPER    "h100 h200 gh200 h800 h20 "
#define BLACKWELL "b200 gb200 b300 gb300 "
#define RTX_BLACKWELL                                                                      \
    "rtx5090 rtx5080 rtx5070ti rtx5070 rtx5060ti rtx5060 rtx5050 rtxpro6000 rtxpro5000 "    \
    "rtxpro4500 rtxpro4000 "
#define CDNA2 "mi210 mi250 mi250x "
#define CDNA3 "mi300 mi300x mi300a mi325x "

static const struct {
    const char *chips;
    int input;
    const char *unit; /* NULL: none */
} chip_units[] = {
    { VOLTA, FORMAT_F16, "volta/mma.m8n8k4.f32.f16" },
    { TURING, FORMAT_F16, "turing/mma.m16n8k8.f32.f16" },
    { VOLTA TURING, FORMAT_BF16, NULL },
    { VOLTA TURING, FORMAT_TF32, NULL },
    { AMPERE, FORMAT_F16, "ampere/mma.m16n8k16.f32.f16" },
    { AMPERE, FORMAT_BF16, "ampere/mma.m16n8k16.f32.bf16" },
    { AMPERE, FORMAT_TF32, "ampere/mma.m16n8k8.f32.tf32" },
    { AMPERE VOLTA TURING, FORMAT_E4M3, NULL },
    { ADA, FORMAT_F16, "ada/mma.m16n8k16.f32.f16" },
    { ADA, FORMAT_BF16, "ada/mma.m16n8k16.f32.bf16" },
    { ADA, FORMAT_TF32, "ada/mma.m16n8k8.f32.tf32" },
    { ADA, FORMAT_E4M3, "ada/mma.m16n8k32.f32.e4m3" },
    { HOPPER, FORMAT_F16, "hopper/mma.m16n8k16.f32.f16" },
    { HOPPER, FORMAT_BF16, "hopper/mma.m16n8k16.f32.bf16" },
    { HOPPER, FORMAT_TF32, "hopper/mma.m16n8k8.f32.tf32" },
    { HOPPER, FORMAT_E5M2, "hopper/mma.m16n8k32.f32.e5m2" },
    { BLACKWELL, FORMAT_F16, "blackwell/mma.m16n8k16.f32.f16" },
    { BLACKWELL, FORMAT_BF16, "blackwell/mma.m16n8k16.f32.bf16" },
    { BLACKWELL, FORMAT_TF32, "blackwell/mma.m16n8k8.f32.tf32" },
    { BLACKWELL, FORMAT_E2M1, "blackwell/tcgen05.m128n8k32.f32.e2m1" }, /* not mxf4 */
    { RTX_BLACKWELL, FORMAT_F16, "rtx-blackwell/mma.m16n8k16.f32.f16" },
    { RTX_BLACKWELL, FORMAT_BF16, "rtx-blackwell/mma.m16n8k16.f32.bf16" },
    { RTX_BLACKWELL, FORMAT_TF32, "rtx-blackwell/mma.m16n8k8.f32.tf32" },
    { VOLTA TURING AMPERE ADA HOPPER BLACKWELL RTX_BLACKWELL, FORMAT_F32, "fma/f32" },
    { "mi100", FORMAT_F16, "cdna1/mfma.32x32x8.f32.f16" },
    { "mi100", FORMAT_BF16, "cdna1/mfma.32x32x4.f32.bf16" },
    { "mi100", FORMAT_F32, "cdna1/mfma.32x32x2.f32.f32" },
    { CDNA2, FORMAT_F16, "cdna2/mfma.32x32x8.f32.f16" },
    { CDNA2, FORMAT_BF16, "cdna2/mfma.32x32x8.f32.bf16_1k" },
    { CDNA2, FORMAT_F32, "cdna2/mfma.32x32x2.f32.f32" },
    { "mi100 " CDNA2, FORMAT_TF32, NULL },
    { CDNA3, FORMAT_F16, "cdna3/mfma.32x32x8.f32.f16" },
    { CDNA3, FORMAT_BF16, "cdna3/mfma.32x32x8.f32.bf16" },
    { CDNA3, FORMAT_TF32, "cdna3/mfma.32x32x4.f32.xf32" },
    { CDNA3, FORMAT_F32, "cdna3/mfma.32x32x2.f32.f32" },
    { CDNA3, FORMAT_E5M2FNUZ, "cdna3/mfma.32x32x16.f32.bf8.bf8" },
    { "sapphire-rapids emerald-rapids granite-rapids", FORMAT_BF16,
      "amx/tdpbf16ps.m16n16k32.f32.bf16" },
    { "cooper-lake zen4 zen5", FORMAT_BF16, "avx512/vdpbf16ps.m1n16k2.f32.bf16" },
    { "granite-rapids", FORMAT_F16, "amx-fp16/tdpfp16ps.m16n16k32.f32.f16" },
    { "sapphire-rapids emerald-rapids cooper-lake zen4 zen5", FORMAT_F16, NULL },
    { "sapphire-rapids emerald-rapids granite-rapids cooper-lake zen4 zen5", FORMAT_TF32,
      NULL },
    { "sapphire-rapids emerald-rapids granite-rapids cooper-lake zen4 zen5", FORMAT_F32,
      "fma/f32" },
    { ARM, FORMAT_BF16, "neon/bfmmla.m2n2k4.f32.bf16" },
    { ARM, FORMAT_F16, NULL },
    { ARM " m4", FORMAT_TF32, NULL },
    { ARM " m4", FORMAT_F32, "fma/f32" },
    { "m4", FORMAT_F16, "sme/fmopa.m16n16k2.f32.f16" },
    { "m4", FORMAT_BF16, "sme/bfmopa.m16n16k2.f32.bf16" },
    { "h100 mi300", FORMAT_F64, NULL }, /* no f32 accumulator */
};

static bool is_listed(const char *list, const char *name)
{
    const size_t n = strlen(name);
    while (*list) {
        const size_t length = strcspn(list, " ");
        if (length == n && !strncmp(list, name, n)) return true;
        list += length + (list[length] == ' ');
    }
    return false;
}

/* How many rows of the table speak of a chip and a format; all must hold. */
static int chip_rows(const char *chip, int input)
{
    int rows = 0;
    for (size_t i = 0; i < sizeof chip_units / sizeof chip_units[0]; i++) {
        if (chip_units[i].input != input || !is_listed(chip_units[i].chips, chip))
            continue;
        const struct bitcut_unit *u = bitcut_unit_find(chip, &formats[input]);
        const char *got = u ? bitcut_unit_name(u) : "NULL";
        const char *want = chip_units[i].unit ? chip_units[i].unit : "NULL";
        ck_assert_msg(!strcmp(got, want), "%s, %s: got %s, want %s", chip,
                      formats[input].name, got, want);
        rows++;
    }
    return rows;
}

START_TEST(chip_names)
{
    static const int every[] = { FORMAT_F16, FORMAT_BF16, FORMAT_TF32, FORMAT_F32 };
    static const int some[] = { FORMAT_E4M3, FORMAT_E5M2, FORMAT_E2M1, FORMAT_E5M2FNUZ,
                                FORMAT_F64 };
    int chips_seen = 0;
    for (const struct chip *c = chips; c->name; c++, chips_seen++) {
        const bool one = !strcmp(c->architecture, "rdna35"); /* V_DOT2 of f16 alone */
        for (int i = 0; i < 4 && !one; i++)
            ck_assert_msg(chip_rows(c->name, every[i]) == 1, "%s, %s: not in the table",
                          c->name, formats[every[i]].name);
        for (int i = 0; i < 5; i++) ck_assert_int_le(chip_rows(c->name, some[i]), 1);
    }
    ck_assert_int_eq(chips_seen, 100);
}
END_TEST

START_TEST(unit_names)
{
    static const char *const unknown[] = { "",
                                           "A100",
                                           "a1000",
                                           "hopper",
                                           "hopper/",
                                           "fma/F32",
                                           "mma.m16n8k16.f32.f16",
                                           " a100",
                                           "ideal/rz",
                                           "gfx90a" };
    int m, n, k;
    for (const struct bitcut_unit *u = units; u->name; u++) {
        ck_assert_msg(bitcut_unit_find(u->name, &formats[FORMAT_F16]) == u, "%s", u->name);
        ck_assert_ptr_eq(unit_find(u->name, NULL), u);
        ck_assert_str_eq(bitcut_unit_name(u), u->name);
        bitcut_unit_shape(&m, &n, &k, u);
        ck_assert(m == u->m && n == u->n && k == u->k);
        ck_assert(*unit_evidence(u));
    }
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        ck_assert_msg(!bitcut_unit_find(unknown[i], &formats[FORMAT_F32]), "%s", unknown[i]);
}
END_TEST

/* The part of a name before its first '.', of the second name as well. */
static bool are_akin(const char *x, const char *y)
{
    size_t i = 0;
    while (x[i] && x[i] == y[i] && x[i] != '.') i++;
    return (!x[i] || x[i] == '.') && (!y[i] || y[i] == '.');
}

/* Parts are read once for all the units of a family that multiply them. */
START_TEST(families_read_alike)
{
    for (const struct bitcut_unit *x = units; x->name; x++)
        for (const struct bitcut_unit *y = units; y->name; y++)
            if (are_akin(x->name, y->name) && !x->scale && !y->scale &&
                (x->a == y->a || x->b == y->b || x->a == y->b))
                ck_assert_msg(x->via == y->via && x->flush_inputs == y->flush_inputs,
                              "%s and %s", x->name, y->name);
}
END_TEST

static const struct {
    const char *unit;
    int a, b;
    const char *beside;
} neighbours[] = {
    /* clang-format off */
    { "hopper/mma.m16n8k16.f32.f16", FORMAT_E4M3, FORMAT_E4M3, "hopper/mma.m16n8k32.f32.e4m3" },
    { "hopper/mma.m16n8k16.f16.f16", FORMAT_E4M3, FORMAT_E5M2, "hopper/mma.m16n8k32.f16.e4m3.e5m2" },
    { "hopper/wgmma.m64n8k16.f32.f16", FORMAT_E4M3, FORMAT_E4M3, "hopper/wgmma.m64n8k32.f32.e4m3" },
    { "hopper/mma.m16n8k32.f32.e4m3", FORMAT_F16, FORMAT_F16, "hopper/mma.m16n8k16.f32.f16" },
    { "blackwell/tcgen05.m128n8k16.f32.f16", FORMAT_E2M1, FORMAT_E2M1, "blackwell/tcgen05.m128n8k32.f32.e2m1" },
    { "cdna3/mfma.32x32x8.f32.f16", FORMAT_E4M3FNUZ, FORMAT_E5M2FNUZ, "cdna3/mfma.32x32x16.f32.fp8.bf8" },
    { "hopper/mma.m16n8k16.f32.f16", FORMAT_F16, FORMAT_E4M3, NULL },
    { "ada/mma.m16n8k16.f32.f16", FORMAT_E4M3, FORMAT_E5M2, NULL },
    { "rtx-blackwell/mma.m16n8k16.f16.f16", FORMAT_E3M2, FORMAT_E3M2, NULL },
    { "ampere/mma.m16n8k16.f32.f16", FORMAT_E4M3, FORMAT_E4M3, NULL },
    { "fma/f32", FORMAT_F64, FORMAT_F64, NULL },
    /* clang-format on */
};

START_TEST(units_beside)
{
    for (size_t i = 0; i < sizeof neighbours / sizeof neighbours[0]; i++) {
        const struct bitcut_unit *u =
            unit_beside(unit_find(neighbours[i].unit, NULL), &formats[neighbours[i].a],
                        &formats[neighbours[i].b]);
        const char *want = neighbours[i].beside;
        ck_assert_msg(u ? want && !strcmp(u->name, want) : !want, "row %zu: %s", i,
                      u ? u->name : "none");
    }
}
END_TEST

TEST_MAIN("unit names", chip_names, unit_names, families_read_alike, units_beside)
