#include "lib/recipe.h"

#include "lib/table.h"

#define SPLIT(index) &splits[SPLIT_##index]

/* lh is the low word of A times the high word of B. */
#define HH(accumulator) { 0, 0, accumulator }
#define HL(accumulator) { 0, 1, accumulator }
#define LH(accumulator) { 1, 0, accumulator }
#define LL(accumulator) { 1, 1, accumulator }

const struct bitcut_recipe recipes[] = {
    [RECIPE_PLAIN] = { .name = "plain",
      .what = "one product of the operands rounded to the unit's format",
      .terms = 1,
      .term = { HH(0) },
      .source = "WMMA and rocWMMA baseline" },
    [RECIPE_MARKIDIS] = { .name = "markidis",
      .what = "four products in one accumulator, small first",
      .split = SPLIT(MARKIDIS),
      .terms = 3,
      .term = { LH(0), HL(0), HH(0) },
      .low_low = LL(0),
      .keeps_low_low = true,
      .source = "Markidis 2018; Ootomo Code 2" },
    [RECIPE_FENG] = { .name = "feng",
      .what = "as markidis with the round-split of EGEMM-TC",
      .split = SPLIT(FENG),
      .terms = 3,
      .term = { LH(0), HL(0), HH(0) },
      .low_low = LL(0),
      .keeps_low_low = true,
      .source = "EGEMM-TC as Ootomo section 1 describes it" },
    [RECIPE_OOTOMO] = { .name = "ootomo",
      .what = "corrections apart; the main product promoted to FP32 every instruction",
      .split = SPLIT(HALFHALF),
      .terms = 3,
      .term = { LH(1), HL(1), HH(0) },
      .low_low = LL(2),
      .promote = 1,
      .source = "Ootomo Code 3, cutlass_halfhalf" },
    [RECIPE_OOTOMO_TF32] = { .name = "ootomo-tf32",
      .what = "as ootomo on tf32 words",
      .split = SPLIT(TF32TF32),
      .terms = 3,
      .term = { LH(1), HL(1), HH(0) },
      .low_low = LL(2),
      .promote = 1,
      .source = "Ootomo section 3.5, cutlass_tf32tf32" },
    [RECIPE_LEGEMM] = { .name = "legemm",
      .what = "bit-cut words, corrections apart, no promotion",
      .split = SPLIT(BITCUT),
      .terms = 3,
      .term = { HH(0), HL(1), LH(1) },
      .low_low = LL(2),
      .source = "LE-GEMM Algorithm 1" },
    [RECIPE_FP32] = { .name = "fp32",
      .what = "FP32 multiply-add, k ascending (cuBLAS adds in another order)",
      .split = SPLIT(F32),
      .terms = 1,
      .term = { HH(0) },
      .source = "SIMT SGEMM yardstick" },
    [RECIPE_TF32X3] = { .name = "tf32x3",
      .what = "three products of tf32 words in one accumulator, small first",
      .split = SPLIT(TF32TF32),
      .terms = 3,
      .term = { LH(0), HL(0), HH(0) },
      .low_low = LL(0),
      .source = "CUTLASS example 27, Triton tf32x3" },
    [RECIPE_BF16X3] = { .name = "bf16x3",
      .what = "three products of two bf16 words in one accumulator, small first",
      .split = SPLIT(BF16X2),
      .terms = 3,
      .term = { LH(0), HL(0), HH(0) },
      .low_low = LL(0),
      .source = "JAX and Triton BF16x3" },
    [RECIPE_BF16X6] = { .name = "bf16x6",
      .what = "six products of three bf16 words in one accumulator, small first",
      .split = SPLIT(BF16X3),
      .terms = 6,
      .term = { { 2, 0, 0 }, { 1, 1, 0 }, { 0, 2, 0 }, LH(0), HL(0), HH(0) },
      .source = "JAX and Triton BF16x6" },
    [RECIPE_BF16X9] = { .name = "bf16x9",
      .what = "nine products of three scaled bf16 words, one accumulator for each order",
      .split = SPLIT(BF16X3_SCALED),
      .terms = 9,
      .term = { { 2, 2, 4 }, { 2, 1, 3 }, { 1, 2, 3 }, { 2, 0, 2 }, { 1, 1, 2 }, { 0, 2, 2 },
                LH(1), HL(1), HH(0) },
      .source = "cuBLAS BF16x9 (words and scales; NVIDIA does not publish its order)" },
    { 0 }
};

const struct bitcut_recipe *bitcut_recipe_find(const char *name)
{
    return table_find(TABLE(recipes), name);
}

static enum bitcut_status check_term(const struct bitcut_recipe *r,
                                     const struct bitcut_split *split,
                                     struct recipe_term t, struct fault *f)
{
    if (t.a >= split->words || t.b >= split->words)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "recipe %s needs more words than %s has",
                         r->name, split->name);
    if (split->scale && t.accumulator != t.a + t.b)
        return fault_set(
            f, BITCUT_BAD_ARGUMENT,
            "recipe %s adds words of different scale; use a split with s = 0", r->name);
    return BITCUT_OK;
}

enum bitcut_status recipe_takes(const struct bitcut_recipe *r,
                                const struct bitcut_split *split, bool low_low,
                                struct fault *f)
{
    if (low_low && (split->words != 2 || r->low_low.a != 1))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "only recipes of two words have a low*low term; %s has %d terms",
                         r->name, r->terms);
    enum bitcut_status status = low_low ? check_term(r, split, r->low_low, f) : BITCUT_OK;
    for (int i = 0; i < r->terms && status == BITCUT_OK; i++)
        status = check_term(r, split, r->term[i], f);
    return status;
}
