/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/summation.h"
#include "emu/unit_integer.h"

/* The table of matrix units.  Makers of GPUs document only the integer units, which
   emu/unit_integer.h has.  The rows name these sources:

   MMA-Sim  Xie, Wang, Yang, Yang, arXiv 2511.10909 (models)
   MTC      Khattak and Mikaitis, arXiv 2512.07004, MATLAB-tensor-core (recorded vectors)
   H200     recorded on an NVIDIA H200 by the authors (data/README.md)
   KMG      Khattak, Mikaitis and Graziani, arXiv 2609.14845 (observations of AMD hardware)
   Daily    jeffdaily/tf32_analysis, commit 82311ae (statistics of GEMMs on an MI300X)
   SPR      compared with an Intel Sapphire Rapids by the authors, 10.4 million outputs
   EMR      recorded on an Intel Xeon, family 6 model 207, by the authors (data/README.md)
   ZEN4     recorded on an AMD EPYC by the authors (data/README.md)
   RDNA     ROCm/rocm-systems, issue 12056 (observations of gfx1151, and a model of them)
   OY       Ootomo and Yokota 2022, section 3.2 (a definition, not hardware)

   The rows name the fields that published vectors, observations and statistics leave
   open.  Further open points:
   - align_min of f16 results on Volta, Turing, Ampere and Ada is set by analogy with
     Hopper, where it was measured.
   - One paper implies blocks of 4 on Turing.
   - Published models of mxf4 and nvf4 disagree on 25 or 35 bits, and on whether a group
     of zeros aligns.  They do not define how a zero block scale aligns.
   - Published models of CDNA2 read an operand of -0 as +0, as they read subnormal
     operands.  AMD's notes describe only subnormal operands.  The table follows the
     models.
   - NaN results of AMD units are negative, but their bits are not documented; for f64,
     the sign is not documented either. */

#define F(format) &formats[FORMAT_##format]

#define RNE { .name = "rn", .direction = TO_NEAREST_EVEN }
#define RNE_FLUSH { .name = "rn, flushed", .direction = TO_NEAREST_EVEN, .flush = FLUSH_SUBNORMAL }
#define RNE_TINY { .name = "rn, tiny flushed", .direction = TO_NEAREST_EVEN, .flush = FLUSH_TINY }
#define ODD_FLUSH                                                                            \
    { .name = "odd, flushed", .direction = TO_ODD, .overflow = OVERFLOW_INF,                 \
      .flush = FLUSH_SUBNORMAL }
#define RZ_INF { .name = "rz, overflow to Inf", .direction = TO_ZERO, .overflow = OVERFLOW_INF }

/* What a step of a tensor core rounds to: format, rule, NaN, and the format of C and D;
   and the same without the rule, for a matrix core of AMD. */
#define TO_F32 .c = F(F32), .result = F(F32), .rounding = RZ_INF, .nan = 0x7fffffff
#define TO_E8M13 .c = F(F32), .result = F(E8M13), .rounding = RZ_INF, .nan = 0x7fffffff
#define TO_F16 .c = F(F16), .result = F(F16), .rounding = RNE, .nan = 0x7fff
#define CDNA_F32 .c = F(F32), .result = F(F32), .nan = 0xffc00000

/* The behaviour of each operation of x86's units, for any MXCSR: DAZ and FTZ. */
#define X86_F32 .c = F(F32), .result = F(F32), .rounding = RNE_TINY,                         \
                .zero = ZERO_IEEE, .nan_rule = NAN_FIRST, .nan = 0xffc00000

/* Arm's default NaN. */
#define ARM_F32 .c = F(F32), .result = F(F32), .zero = ZERO_IEEE, .nan = 0x7fc00000
#define ARM_TO_F32 .c = F(F32), .result = F(F32), .nan = 0x7fc00000
#define ARM_TO_F16 .c = F(F16), .result = F(F16), .nan = 0x7e00

/* The NaN of chains on vendors' units. */
#define NAN_F32 .nan_rule = NAN_FIXED, .nan = 0xffc00000
#define NAN_F64 .nan_rule = NAN_FIXED, .nan = 0xfff8000000000000
#define NAN_F64_OPERAND .nan_rule = NAN_OPERAND, .nan = 0xfff8000000000000

#define SHAPE(M, N, K) .m = (M), .n = (N), .k = (K)
#define FROM(A, B) .a = F(A), .b = F(B)
#define ARM_FDOT "Arm ARM, FDOT (FP8), FPMR.LSCALE and OSM 0"

/* Evidence, source and, for published vectors, the fields that they leave open. */
#define PROVEN(...) PROVEN_(__VA_ARGS__, "", )
#define PROVEN_(E, S, O, ...) .evidence = EVIDENCE_##E, .source = (S), .open = (O)

/* T-FDPA: blocks of `block_` products and c, aligned at the largest exponent. */
#define TENSOR(name_, m_, n_, k_, a_, b_, to, block_, fraction_, align_min_, ...)            \
    {                                                                                        \
        .name = name_, .what = "blocks of " #block_ " products and c, truncated to "         \
                               #fraction_ " bits below the largest exponent",                \
        SHAPE(m_, n_, k_), FROM(a_, b_), to, .summation = &sum_fused, .block = block_,       \
        .fraction = fraction_, .align_min = align_min_, .zero = ZERO_POSITIVE,               \
        PROVEN(__VA_ARGS__)                                                                  \
    }

/* fp8 on the f16 tensor core: all k with bit 1 clear, then set, from c = 0; C is added
   last. */
#define LOWERED(name_, m_, n_, k_, a_, b_, to, block_, align_min_, ...)                      \
    {                                                                                        \
        .name = name_, .what = "fp8 as f16: two blocks of " #block_ " from zero, then C "    \
                               "added, RN",                                                  \
        SHAPE(m_, n_, k_), FROM(a_, b_), to, .via = F(F16), .summation = &sum_fused,         \
        .order = K_BIT1, .block = block_, .fraction = 25, .align_min = align_min_,           \
        .c_last = true, .zero = ZERO_POSITIVE, PROVEN(__VA_ARGS__)                           \
    }

/* Block-scaled products (kind::mxf8f6f4): one power-of-two scale for each 32. */
#define SCALED(name_, m_, n_, k_, a_, b_, ...)                                               \
    {                                                                                        \
        .name = name_, .what = "32 products times their block scales and c, truncated to "   \
                               "25 bits below the largest exponent",                         \
        SHAPE(m_, n_, k_), FROM(a_, b_), TO_F32, .scale = F(UE8M0), .scale_block = 32,       \
        .summation = &sum_fused, .block = 32, .fraction = 25, .align_min = -133,             \
        .zero = ZERO_POSITIVE, PROVEN(__VA_ARGS__)                                           \
    }

/* fp4 with block scales: exact groups of 16, aligned at the exponents of their scales. */
#define GROUPED(name_, m_, n_, k_, scale_, scale_block_, ...)                                \
    {                                                                                        \
        .name = name_, .what = "exact groups of 16 fp4 products times their block scales "   \
                               "and c, truncated to 35 bits below the largest exponent",     \
        SHAPE(m_, n_, k_), FROM(E2M1, E2M1), TO_F32, .scale = F(scale_),                     \
        .scale_block = scale_block_, .summation = &sum_grouped, .block = 64, .group = 16,    \
        .fraction = 35, .align_min = -139, .zero = ZERO_POSITIVE, PROVEN(__VA_ARGS__)        \
    }

/* d = fma(a_k, b_k, d) for ascending k, to nearest even. */
#define FMA_STEPS(name_, m_, n_, k_, from_, to_)                                             \
    .name = name_, .what = "fma chain, k ascending", SHAPE(m_, n_, k_), FROM(from_, from_),  \
    .c = F(to_), .result = F(to_), .rounding = RNE, .summation = &sum_fused, .block = 1,     \
    .fraction = FRACTION_EXACT, .zero = ZERO_IEEE
#define CHAIN(name_, m_, n_, k_, format, nan_, ...)                                          \
    {                                                                                        \
        FMA_STEPS(name_, m_, n_, k_, format, format), nan_, PROVEN(__VA_ARGS__)              \
    }
#define FMA(name_, from_, to_, nan_, ...)                                                    \
    {                                                                                        \
        FMA_STEPS(name_, 1, 1, 1, from_, to_), nan_, PROVEN(__VA_ARGS__)                     \
    }

/* AVX512-BF16: fma(a_0, b_0, fma(a_1, b_1, c)) for every two products. */
#define PAIR_CHAIN(name_, m_, n_, k_, a_, b_, ...)                                           \
    {                                                                                        \
        .name = name_, .what = "fma chain, the odd product first, subnormals flushed in "    \
                               "and out",                                                    \
        SHAPE(m_, n_, k_), FROM(a_, b_), X86_F32, .flush_inputs = INPUT_SIGNED,              \
        .summation = &sum_fused, .order = K_DESCENDING, .block = 1,                          \
        .fraction = FRACTION_EXACT, PROVEN(__VA_ARGS__)                                      \
    }

/* AMX: fma chains from +0 over even and over odd k, added; then c is added. */
#define TILE(name_, m_, n_, k_, a_, b_, inputs, ...)                                         \
    {                                                                                        \
        .name = name_, .what = "fma chains of even and of odd products, added, then c; "     \
                               "subnormals flushed in and out",                              \
        SHAPE(m_, n_, k_), FROM(a_, b_), X86_F32, inputs, .summation = &sum_chains,          \
        .block = k_, .parity = true, PROVEN(__VA_ARGS__)                                     \
    }

/* Arm's bf16 with FPCR.EBF 0: products, their sum, and the sum with c are rounded to
   odd. */
#define ODD_PAIRS(name_, m_, n_, k_, ...)                                                    \
    {                                                                                        \
        .name = name_, .what = "products, a sum of two, then c, each rounded to odd; "       \
                               "subnormals flushed in and out",                              \
        SHAPE(m_, n_, k_), FROM(BF16, BF16), ARM_F32, .rounding = ODD_FLUSH,                 \
        .summation = &sum_pairs, .block = 2, .flush_inputs = INPUT_SIGNED,                   \
        PROVEN(__VA_ARGS__)                                                                  \
    }

/* Arm's FPDot, then FPAdd: two products in one rounded operation; then c is added. */
#define DOT_ADD(name_, m_, n_, k_, a_, b_, ...)                                              \
    {                                                                                        \
        .name = name_, .what = "two products added exactly and rounded, then c added",       \
        SHAPE(m_, n_, k_), FROM(a_, b_), ARM_F32, .rounding = RNE, .summation = &sum_dot,    \
        .block = 2, PROVEN(__VA_ARGS__)                                                      \
    }

/* E-FDPA: c and `block_` products added exactly, rounded once. */
#define EXACT(name_, m_, n_, k_, a_, b_, to, block_, ...)                                    \
    {                                                                                        \
        .name = name_, .what = "exact sum of " #block_ " products and c, rounded once",      \
        SHAPE(m_, n_, k_), FROM(a_, b_), to, .rounding = RNE, .summation = &sum_fused,       \
        .block = block_, .fraction = FRACTION_EXACT, .zero = ZERO_IEEE, PROVEN(__VA_ARGS__)  \
    }

/* Rounded products, rounded sums: the result of a processor without fused
   multiply-add. */
#define MULTIPLY_ADD(name_, from_, to_, nan_, ...)                                           \
    {                                                                                        \
        .name = name_, .what = "a product, rounded, then added to c and rounded again",      \
        SHAPE(1, 1, 1), FROM(from_, from_), .c = F(to_), .result = F(to_),                   \
        .rounding = RNE, .summation = &sum_pairs, .block = 1, .zero = ZERO_IEEE,             \
        nan_, PROVEN(__VA_ARGS__)                                                            \
    }

/* FTZ-PAIR: rounded products, rounded pairwise sums, subnormals flushed throughout. */
#define PAIRS(name_, m_, n_, k_, a_, b_, to, block_, ...)                                    \
    {                                                                                        \
        .name = name_, .what = "products and a tree of " #block_ ", subnormals flushed in "  \
                               "and out",                                                    \
        SHAPE(m_, n_, k_), FROM(a_, b_), to, .rounding = RNE_FLUSH,                          \
        .summation = &sum_pairs, .block = block_, .flush_inputs = INPUT_POSITIVE,            \
        .zero = ZERO_IEEE, PROVEN(__VA_ARGS__)                                               \
    }

/* TR-FDPA and, with parity_, GTR-FDPA. */
#define TWO_STAGE(name_, m_, n_, k_, a_, b_, to, block_, parity_, ...)                       \
    {                                                                                        \
        .name = name_, .what = "products truncated to 24 bits and summed, then floored and " \
                               "added to c",                                                 \
        SHAPE(m_, n_, k_), FROM(a_, b_), to, .rounding = RNE, .summation = &sum_two_stage,   \
        .block = block_, .fraction = 24, .sum_fraction = 32, .keep = 31, .keep_min = -126,   \
        .parity = parity_, .zero = ZERO_SUM_POSITIVE, PROVEN(__VA_ARGS__)                    \
    }

/* A 25-bit serial accumulator, exact or held in a carrier, then one addition to C. */
#define SERIAL(name_, sums, carrier_, rule, rounding_, source_)                              \
    {                                                                                        \
        .name = name_, .what = "25-bit serial accumulator of " sums " sums, " rule           \
                               " when added to C",                                           \
        SHAPE(16, 16, 16), FROM(F16, F16), .c = F(F32), .result = F(F32), rounding_,         \
        .summation = &sum_serial, .block = 16, .keep = 25, .carrier = carrier_,              \
        .zero = ZERO_SUM_POSITIVE, .nan = 0x7fffffff, PROVEN(DEFINITION, source_)            \
    }

/* RDNA3.5: one's complement. */
#define INVERTED(name_, m_, n_, k_, a_, b_, ...)                                         \
    {                                                                                    \
        .name = name_,                                                                   \
        .what = "blocks of " #k_ " products and c, truncated to 24 bits "                \
                "below the largest exponent; products with another sign "                \
                "than c are inverted",                                                   \
        SHAPE(m_, n_, k_), FROM(a_, b_), .c = F(F32), .result = F(F32), .rounding = RNE, \
        .nan = 0x7fc00000, .summation = &sum_complement, .block = k_, .fraction = 24,    \
        .zero = ZERO_SUM_POSITIVE, PROVEN(__VA_ARGS__)                                   \
    }

/* Name, m, n, k, formats of A and B, what a step rounds to, and the arguments of the
   macro; then evidence, source, and open fields. */
const struct bitcut_unit units[] = {
    /* clang-format off */
    SERIAL("ideal/rn25",    "exact",    NULL,   "RN", .rounding = RNE,    "OY, with exact sums"),
    SERIAL("ideal/rz25",    "exact",    NULL,   "RZ", .rounding = RZ_INF, "OY, with exact sums"),
    SERIAL("ootomo/mma_rn", "binary64", F(F64), "RN", .rounding = RNE,    "OY mma_rn"),
    SERIAL("ootomo/mma_rz", "binary64", F(F64), "RZ", .rounding = RZ_INF, "OY mma_rz"),
    FMA("fma/f32",      F32,  F32,  .nan = 0x7fffffff, DEFINITION, "IEEE 754; PTX ISA fma.rn.f32"),
    FMA("fma/f32.f16",  F16,  F32,  .nan = 0x7fffffff, DEFINITION, "IEEE 754"),
    FMA("fma/f32.bf16", BF16, F32,  .nan = 0x7fffffff, DEFINITION, "IEEE 754"),
    FMA("fma/f16",      F16,  F16,  .nan = 0x7fff,     DEFINITION, "IEEE 754; PTX ISA fma.rn.f16"),
    FMA("fma/bf16",     BF16, BF16, .nan = 0x7fff,     DEFINITION, "IEEE 754; PTX ISA fma.rn.bf16"),
    CHAIN("fma/f64", 1, 1, 1, F64, NAN_F64_OPERAND,
          DEFINITION, "IEEE 754; PTX ISA fma.rn.f64; NaN as recorded on the H200"),
    MULTIPLY_ADD("mul-add/f32",      F32,  F32,  .nan = 0x7fffffff, DEFINITION, "IEEE 754"),
    MULTIPLY_ADD("mul-add/f32.f16",  F16,  F32,  .nan = 0x7fffffff, DEFINITION, "IEEE 754"),
    MULTIPLY_ADD("mul-add/f32.bf16", BF16, F32,  .nan = 0x7fffffff, DEFINITION, "IEEE 754"),
    MULTIPLY_ADD("mul-add/f16",      F16,  F16,  .nan = 0x7fff,     DEFINITION, "IEEE 754"),
    MULTIPLY_ADD("mul-add/bf16",     BF16, BF16, .nan = 0x7fff,     DEFINITION, "IEEE 754"),

    TENSOR("volta/mma.m8n8k4.f32.f16", 8, 8, 4, F16, F16, TO_F32, 4, 23, -131,
           PUBLISHED, "MTC V100", "via flush_inputs flush zero nan"),
    TENSOR("volta/mma.m8n8k4.f16.f16", 8, 8, 4, F16, F16, TO_F16, 4, 23,  -19,
           CONSISTENT, "MMA-Sim; MTC V100"),

    TENSOR("turing/mma.m16n8k8.f32.f16", 16, 8, 8, F16, F16, TO_F32, 8, 24, -132,
           MODELS, "MMA-Sim; block open"),
    TENSOR("turing/mma.m16n8k8.f16.f16", 16, 8, 8, F16, F16, TO_F16, 8, 24,  -20,
           MODELS, "MMA-Sim; block and align_min open"),
    INTEGERS_NVIDIA("turing", "mma", "m8n8k16", 8, 8, 16),

    TENSOR("ampere/mma.m16n8k16.f32.f16",  16, 8, 16, F16,  F16,  TO_F32, 8, 24, -132,
           MODELS, "MMA-Sim; two m16n8k8, which are published (MTC A100, A2)"),
    TENSOR("ampere/mma.m16n8k8.f32.f16",   16, 8,  8, F16,  F16,  TO_F32, 8, 24, -132,
           PUBLISHED, "MTC A100, A2", "via flush_inputs flush zero nan"),
    TENSOR("ampere/mma.m16n8k16.f16.f16",  16, 8, 16, F16,  F16,  TO_F16, 8, 24,  -20,
           MODELS, "MMA-Sim; align_min open"),
    TENSOR("ampere/mma.m16n8k8.f16.f16",   16, 8,  8, F16,  F16,  TO_F16, 8, 24,  -20,
           CONSISTENT, "MMA-Sim; MTC A100, A2"),
    TENSOR("ampere/mma.m16n8k16.f32.bf16", 16, 8, 16, BF16, BF16, TO_F32, 8, 24, -132,
           MODELS, "MMA-Sim; two m16n8k8, which are published (MTC A100, A2)"),
    TENSOR("ampere/mma.m16n8k8.f32.bf16",  16, 8,  8, BF16, BF16, TO_F32, 8, 24, -132,
           PUBLISHED, "MTC A100, A2", "align_min flush_inputs overflow flush zero nan"),
    TENSOR("ampere/mma.m16n8k8.f32.tf32",  16, 8,  8, TF32, TF32, TO_F32, 4, 24, -132,
           MODELS, "MMA-Sim; two m16n8k4, which are published (MTC A100, A2)"),
    TENSOR("ampere/mma.m16n8k4.f32.tf32",  16, 8,  4, TF32, TF32, TO_F32, 4, 24, -132,
           PUBLISHED, "MTC A100, A2", "align_min flush_inputs overflow flush zero nan"),
    INTEGERS_NVIDIA("ampere", "mma", "m16n8k32", 16, 8, 32),
    INTEGERS_NVIDIA("ampere", "mma", "m16n8k16", 16, 8, 16),
    CHAIN("ampere/mma.m8n8k4.f64.f64", 8, 8, 4, F64, NAN_F64_OPERAND,
          MODELS, "MMA-Sim; NaN as recorded on the H200"),

    TENSOR("ada/mma.m16n8k16.f32.f16",  16, 8, 16, F16,  F16,  TO_F32,    8, 24, -132,
           MODELS, "MMA-Sim; two m16n8k8, which are published (MTC Ada, L40S)"),
    TENSOR("ada/mma.m16n8k8.f32.f16",   16, 8,  8, F16,  F16,  TO_F32,    8, 24, -132,
           PUBLISHED, "MTC Ada, L40S", "via flush_inputs flush zero nan"),
    TENSOR("ada/mma.m16n8k16.f16.f16",  16, 8, 16, F16,  F16,  TO_F16,    8, 24,  -20,
           MODELS, "MMA-Sim; align_min open"),
    TENSOR("ada/mma.m16n8k8.f16.f16",   16, 8,  8, F16,  F16,  TO_F16,    8, 24,  -20,
           CONSISTENT, "MMA-Sim; MTC Ada, L40S"),
    TENSOR("ada/mma.m16n8k16.f32.bf16", 16, 8, 16, BF16, BF16, TO_F32,    8, 24, -132,
           MODELS, "MMA-Sim; two m16n8k8, which are published (MTC Ada, L40S)"),
    TENSOR("ada/mma.m16n8k8.f32.bf16",  16, 8,  8, BF16, BF16, TO_F32,    8, 24, -132,
           PUBLISHED, "MTC Ada, L40S", "align_min flush_inputs overflow flush zero nan"),
    TENSOR("ada/mma.m16n8k8.f32.tf32",  16, 8,  8, TF32, TF32, TO_F32,    4, 24, -132,
           MODELS, "MMA-Sim; two m16n8k4, which are published (MTC Ada, L40S)"),
    TENSOR("ada/mma.m16n8k4.f32.tf32",  16, 8,  4, TF32, TF32, TO_F32,    4, 24, -132,
           PUBLISHED, "MTC Ada, L40S", "align_min flush_inputs overflow flush zero nan"),
    TENSOR("ada/mma.m16n8k32.f32.e4m3", 16, 8, 32, E4M3, E4M3, TO_E8M13, 16, 13, -132,
           PUBLISHED, "MTC Ada, L40S", "via flush zero nan"),
    TENSOR("ada/mma.m16n8k32.f32.e5m2", 16, 8, 32, E5M2, E5M2, TO_E8M13, 16, 13, -132,
           PUBLISHED, "MTC Ada, L40S", "via flush_inputs flush zero nan"),
    TENSOR("ada/mma.m16n8k32.f16.e4m3", 16, 8, 32, E4M3, E4M3, TO_F16,   16, 13,  -20,
           PUBLISHED, "MTC Ada", "via overflow flush zero nan"),
    TENSOR("ada/mma.m16n8k32.f16.e5m2", 16, 8, 32, E5M2, E5M2, TO_F16,   16, 13,  -20,
           PUBLISHED, "MTC Ada", "via flush_inputs overflow flush zero nan"),
    INTEGERS_NVIDIA("ada", "mma", "m16n8k32", 16, 8, 32),
    INTEGERS_NVIDIA("ada", "mma", "m16n8k16", 16, 8, 16),
    CHAIN("ada/mma.m8n8k4.f64.f64", 8, 8, 4, F64, NAN_F64_OPERAND,
          MODELS, "MMA-Sim; NaN as recorded on the H200"),

    TENSOR("hopper/mma.m16n8k16.f32.f16",  16, 8, 16, F16,  F16,  TO_F32, 16, 25, -133,
           RECORDED, "H200; MTC H100, H200"),
    TENSOR("hopper/mma.m16n8k8.f32.f16",   16, 8,  8, F16,  F16,  TO_F32,  8, 25, -133, RECORDED, "H200"),
    TENSOR("hopper/mma.m16n8k16.f16.f16",  16, 8, 16, F16,  F16,  TO_F16, 16, 25,  -21,
           RECORDED, "H200; MTC H100, H200"),
    TENSOR("hopper/mma.m16n8k8.f16.f16",   16, 8,  8, F16,  F16,  TO_F16,  8, 25,  -21, RECORDED, "H200"),
    TENSOR("hopper/mma.m16n8k16.f32.bf16", 16, 8, 16, BF16, BF16, TO_F32, 16, 25, -133,
           RECORDED, "H200; MTC H100, H200"),
    TENSOR("hopper/mma.m16n8k8.f32.bf16",  16, 8,  8, BF16, BF16, TO_F32,  8, 25, -133, RECORDED, "H200"),
    TENSOR("hopper/mma.m16n8k8.f32.tf32",  16, 8,  8, TF32, TF32, TO_F32,  8, 25, -133, RECORDED, "H200"),
    TENSOR("hopper/mma.m16n8k4.f32.tf32",  16, 8,  4, TF32, TF32, TO_F32,  4, 25, -133,
           RECORDED, "H200; MTC H100, H200"),
    LOWERED("hopper/mma.m16n8k32.f32.e4m3",      16, 8, 32, E4M3, E4M3, TO_F32, 16, -133, RECORDED, "H200"),
    LOWERED("hopper/mma.m16n8k32.f32.e5m2",      16, 8, 32, E5M2, E5M2, TO_F32, 16, -133, RECORDED, "H200"),
    LOWERED("hopper/mma.m16n8k32.f32.e4m3.e5m2", 16, 8, 32, E4M3, E5M2, TO_F32, 16, -133, RECORDED, "H200"),
    LOWERED("hopper/mma.m16n8k32.f32.e5m2.e4m3", 16, 8, 32, E5M2, E4M3, TO_F32, 16, -133, RECORDED, "H200"),
    LOWERED("hopper/mma.m16n8k32.f16.e4m3",      16, 8, 32, E4M3, E4M3, TO_F16, 16,  -21,
            RECORDED, "H200; MTC H100, H200"),
    LOWERED("hopper/mma.m16n8k32.f16.e5m2",      16, 8, 32, E5M2, E5M2, TO_F16, 16,  -21,
            RECORDED, "H200; MTC H100, H200"),
    LOWERED("hopper/mma.m16n8k32.f16.e4m3.e5m2", 16, 8, 32, E4M3, E5M2, TO_F16, 16,  -21, RECORDED, "H200"),
    LOWERED("hopper/mma.m16n8k32.f16.e5m2.e4m3", 16, 8, 32, E5M2, E4M3, TO_F16, 16,  -21, RECORDED, "H200"),
    LOWERED("hopper/mma.m16n8k16.f32.e4m3",      16, 8, 16, E4M3, E4M3, TO_F32,  8, -133, RECORDED, "H200"),
    LOWERED("hopper/mma.m16n8k16.f32.e5m2",      16, 8, 16, E5M2, E5M2, TO_F32,  8, -133, RECORDED, "H200"),
    LOWERED("hopper/mma.m16n8k16.f32.e4m3.e5m2", 16, 8, 16, E4M3, E5M2, TO_F32,  8, -133, RECORDED, "H200"),
    LOWERED("hopper/mma.m16n8k16.f32.e5m2.e4m3", 16, 8, 16, E5M2, E4M3, TO_F32,  8, -133, RECORDED, "H200"),
    LOWERED("hopper/mma.m16n8k16.f16.e4m3",      16, 8, 16, E4M3, E4M3, TO_F16,  8,  -21, RECORDED, "H200"),
    LOWERED("hopper/mma.m16n8k16.f16.e5m2",      16, 8, 16, E5M2, E5M2, TO_F16,  8,  -21, RECORDED, "H200"),
    LOWERED("hopper/mma.m16n8k16.f16.e4m3.e5m2", 16, 8, 16, E4M3, E5M2, TO_F16,  8,  -21, RECORDED, "H200"),
    LOWERED("hopper/mma.m16n8k16.f16.e5m2.e4m3", 16, 8, 16, E5M2, E4M3, TO_F16,  8,  -21, RECORDED, "H200"),
    CHAIN("hopper/mma.m16n8k16.f64.f64", 16, 8, 16, F64, NAN_F64_OPERAND, RECORDED, "H200"),
    CHAIN("hopper/mma.m16n8k8.f64.f64",  16, 8,  8, F64, NAN_F64_OPERAND, RECORDED, "H200"),
    CHAIN("hopper/mma.m16n8k4.f64.f64",  16, 8,  4, F64, NAN_F64_OPERAND, RECORDED, "H200"),
    CHAIN("hopper/mma.m8n8k4.f64.f64",    8, 8,  4, F64, NAN_F64_OPERAND, RECORDED, "H200"),
    INTEGERS_NVIDIA("hopper", "mma", "m16n8k32", 16, 8, 32),
    INTEGERS_NVIDIA("hopper", "mma", "m16n8k16", 16, 8, 16),
    TENSOR("hopper/wgmma.m64n8k16.f32.f16",       64,   8, 16, F16,  F16,  TO_F32,   16, 25, -133,
           RECORDED, "H200"),
    TENSOR("hopper/wgmma.m64n256k16.f32.f16",     64, 256, 16, F16,  F16,  TO_F32,   16, 25, -133,
           RECORDED, "H200; n rounds alike from 8 to 256"),
    TENSOR("hopper/wgmma.m64n8k16.f16.f16",       64,   8, 16, F16,  F16,  TO_F16,   16, 25,  -21,
           RECORDED, "H200"),
    TENSOR("hopper/wgmma.m64n8k16.f32.bf16",      64,   8, 16, BF16, BF16, TO_F32,   16, 25, -133,
           RECORDED, "H200"),
    TENSOR("hopper/wgmma.m64n8k8.f32.tf32",       64,   8,  8, TF32, TF32, TO_F32,    8, 25, -133,
           RECORDED, "H200"),
    TENSOR("hopper/wgmma.m64n8k32.f32.e4m3",      64,   8, 32, E4M3, E4M3, TO_E8M13, 32, 13, -133,
           RECORDED, "H200; MTC H100, H200"),
    TENSOR("hopper/wgmma.m64n8k32.f32.e5m2",      64,   8, 32, E5M2, E5M2, TO_E8M13, 32, 13, -133,
           RECORDED, "H200; MTC H100, H200"),
    TENSOR("hopper/wgmma.m64n8k32.f32.e4m3.e5m2", 64,   8, 32, E4M3, E5M2, TO_E8M13, 32, 13, -133,
           RECORDED, "H200"),
    TENSOR("hopper/wgmma.m64n8k32.f32.e5m2.e4m3", 64,   8, 32, E5M2, E4M3, TO_E8M13, 32, 13, -133,
           RECORDED, "H200"),
    TENSOR("hopper/wgmma.m64n8k32.f16.e4m3",      64,   8, 32, E4M3, E4M3, TO_F16,   32, 13,  -21,
           RECORDED, "H200"),
    TENSOR("hopper/wgmma.m64n8k32.f16.e5m2",      64,   8, 32, E5M2, E5M2, TO_F16,   32, 13,  -21,
           RECORDED, "H200"),
    TENSOR("hopper/wgmma.m64n8k32.f16.e4m3.e5m2", 64,   8, 32, E4M3, E5M2, TO_F16,   32, 13,  -21,
           RECORDED, "H200"),
    TENSOR("hopper/wgmma.m64n8k32.f16.e5m2.e4m3", 64,   8, 32, E5M2, E4M3, TO_F16,   32, 13,  -21,
           RECORDED, "H200"),
    INTEGERS_NVIDIA("hopper", "wgmma", "m64n8k32", 64, 8, 32),

    TENSOR("blackwell/mma.m16n8k16.f32.f16",  16, 8, 16, F16,  F16,  TO_F32, 16, 25, -133,
           PUBLISHED, "MTC B200", "via flush zero nan"),
    TENSOR("blackwell/mma.m16n8k8.f32.f16",   16, 8,  8, F16,  F16,  TO_F32,  8, 25, -133, MODELS, "MMA-Sim"),
    TENSOR("blackwell/mma.m16n8k16.f16.f16",  16, 8, 16, F16,  F16,  TO_F16, 16, 25,  -21,
           CONSISTENT, "MMA-Sim; MTC B200"),
    TENSOR("blackwell/mma.m16n8k16.f32.bf16", 16, 8, 16, BF16, BF16, TO_F32, 16, 25, -133,
           PUBLISHED, "MTC B200", "align_min flush_inputs overflow flush zero nan"),
    TENSOR("blackwell/mma.m16n8k8.f32.tf32",  16, 8,  8, TF32, TF32, TO_F32,  8, 25, -133, MODELS, "MMA-Sim"),
    TENSOR("blackwell/mma.m16n8k4.f32.tf32",  16, 8,  4, TF32, TF32, TO_F32,  4, 25, -133,
           PUBLISHED, "MTC B200", "align_min flush_inputs overflow flush zero nan"),
    LOWERED("blackwell/mma.m16n8k32.f32.e4m3", 16, 8, 32, E4M3, E4M3, TO_F32, 16, -133,
            CONSISTENT, "MMA-Sim; MTC B200"),
    LOWERED("blackwell/mma.m16n8k32.f32.e5m2", 16, 8, 32, E5M2, E5M2, TO_F32, 16, -133,
            CONSISTENT, "MMA-Sim; MTC B200"),
    LOWERED("blackwell/mma.m16n8k32.f16.e4m3", 16, 8, 32, E4M3, E4M3, TO_F16, 16,  -21,
            PUBLISHED, "MTC B200", "fraction normalise floor overflow flush nan"),
    LOWERED("blackwell/mma.m16n8k32.f16.e5m2", 16, 8, 32, E5M2, E5M2, TO_F16, 16,  -21,
            PUBLISHED, "MTC B200", "fraction normalise floor via overflow flush zero nan"),
    INTEGERS_NVIDIA("blackwell", "mma", "m16n8k32", 16, 8, 32),
    CHAIN("blackwell/mma.m8n8k4.f64.f64", 8, 8, 4, F64, NAN_F64_OPERAND, MODELS, "MMA-Sim"),
    INTEGERS_TCGEN05("blackwell"),
    TENSOR("blackwell/tcgen05.m128n8k16.f32.f16",  128, 8, 16, F16,  F16,  TO_F32, 16, 25, -133,
           MODELS, "MMA-Sim"),
    TENSOR("blackwell/tcgen05.m128n8k16.f16.f16",  128, 8, 16, F16,  F16,  TO_F16, 16, 25,  -21,
           MODELS, "MMA-Sim"),
    TENSOR("blackwell/tcgen05.m128n8k16.f32.bf16", 128, 8, 16, BF16, BF16, TO_F32, 16, 25, -133,
           MODELS, "MMA-Sim"),
    TENSOR("blackwell/tcgen05.m128n8k8.f32.tf32",  128, 8,  8, TF32, TF32, TO_F32,  8, 25, -133,
           MODELS, "MMA-Sim"),
    TENSOR("blackwell/tcgen05.m128n8k32.f32.e4m3", 128, 8, 32, E4M3, E4M3, TO_F32, 32, 25, -133,
           MODELS, "MMA-Sim"),
    TENSOR("blackwell/tcgen05.m128n8k32.f32.e5m2", 128, 8, 32, E5M2, E5M2, TO_F32, 32, 25, -133,
           MODELS, "MMA-Sim"),
    TENSOR("blackwell/tcgen05.m128n8k32.f32.e3m2", 128, 8, 32, E3M2, E3M2, TO_F32, 32, 25, -133,
           MODELS, "MMA-Sim"),
    TENSOR("blackwell/tcgen05.m128n8k32.f32.e2m3", 128, 8, 32, E2M3, E2M3, TO_F32, 32, 25, -133,
           MODELS, "MMA-Sim"),
    TENSOR("blackwell/tcgen05.m128n8k32.f32.e2m1", 128, 8, 32, E2M1, E2M1, TO_F32, 32, 25, -133,
           MODELS, "MMA-Sim"),
    TENSOR("blackwell/tcgen05.m128n8k32.f16.e4m3", 128, 8, 32, E4M3, E4M3, TO_F16, 32, 25,  -21,
           MODELS, "MMA-Sim"),
    TENSOR("blackwell/tcgen05.m128n8k32.f16.e5m2", 128, 8, 32, E5M2, E5M2, TO_F16, 32, 25,  -21,
           MODELS, "MMA-Sim"),
    SCALED("blackwell/tcgen05.m128n8k32.mxf8f6f4.f32.e4m3", 128, 8, 32, E4M3, E4M3, MODELS, "MMA-Sim"),
    SCALED("blackwell/tcgen05.m128n8k32.mxf8f6f4.f32.e5m2", 128, 8, 32, E5M2, E5M2, MODELS, "MMA-Sim"),
    SCALED("blackwell/tcgen05.m128n8k32.mxf8f6f4.f32.e3m2", 128, 8, 32, E3M2, E3M2, MODELS, "MMA-Sim"),
    SCALED("blackwell/tcgen05.m128n8k32.mxf8f6f4.f32.e2m3", 128, 8, 32, E2M3, E2M3, MODELS, "MMA-Sim"),
    SCALED("blackwell/tcgen05.m128n8k32.mxf8f6f4.f32.e2m1", 128, 8, 32, E2M1, E2M1, MODELS, "MMA-Sim"),
    GROUPED("blackwell/tcgen05.m128n8k64.mxf4.f32.e2m1", 128, 8, 64, UE8M0, 32,
            MODELS, "MMA-Sim; models disagree"),
    GROUPED("blackwell/tcgen05.m128n8k64.nvf4.f32.e2m1", 128, 8, 64, UE4M3, 16,
            MODELS, "MMA-Sim; models disagree"),

    TENSOR("rtx-blackwell/mma.m16n8k16.f32.f16",  16, 8, 16, F16,  F16,  TO_F32, 16, 25, -133,
           MODELS, "MMA-Sim"),
    TENSOR("rtx-blackwell/mma.m16n8k16.f16.f16",  16, 8, 16, F16,  F16,  TO_F16, 16, 25,  -21,
           MODELS, "MMA-Sim"),
    TENSOR("rtx-blackwell/mma.m16n8k16.f32.bf16", 16, 8, 16, BF16, BF16, TO_F32, 16, 25, -133,
           MODELS, "MMA-Sim"),
    TENSOR("rtx-blackwell/mma.m16n8k8.f32.tf32",  16, 8,  8, TF32, TF32, TO_F32,  8, 25, -133,
           MODELS, "MMA-Sim"),
    TENSOR("rtx-blackwell/mma.m16n8k32.f32.e4m3", 16, 8, 32, E4M3, E4M3, TO_F32, 32, 25, -133,
           MODELS, "MMA-Sim"),
    TENSOR("rtx-blackwell/mma.m16n8k32.f32.e5m2", 16, 8, 32, E5M2, E5M2, TO_F32, 32, 25, -133,
           MODELS, "MMA-Sim"),
    TENSOR("rtx-blackwell/mma.m16n8k32.f32.e3m2", 16, 8, 32, E3M2, E3M2, TO_F32, 32, 25, -133,
           MODELS, "MMA-Sim"),
    TENSOR("rtx-blackwell/mma.m16n8k32.f32.e2m3", 16, 8, 32, E2M3, E2M3, TO_F32, 32, 25, -133,
           MODELS, "MMA-Sim"),
    TENSOR("rtx-blackwell/mma.m16n8k32.f32.e2m1", 16, 8, 32, E2M1, E2M1, TO_F32, 32, 25, -133,
           MODELS, "MMA-Sim"),
    TENSOR("rtx-blackwell/mma.m16n8k32.f16.e4m3", 16, 8, 32, E4M3, E4M3, TO_F16, 32, 25,  -21,
           MODELS, "MMA-Sim"),
    TENSOR("rtx-blackwell/mma.m16n8k32.f16.e5m2", 16, 8, 32, E5M2, E5M2, TO_F16, 32, 25,  -21,
           MODELS, "MMA-Sim"),
    SCALED("rtx-blackwell/mma.m16n8k32.mxf8f6f4.f32.e4m3", 16, 8, 32, E4M3, E4M3, MODELS, "MMA-Sim"),
    SCALED("rtx-blackwell/mma.m16n8k32.mxf8f6f4.f32.e5m2", 16, 8, 32, E5M2, E5M2, MODELS, "MMA-Sim"),
    SCALED("rtx-blackwell/mma.m16n8k32.mxf8f6f4.f32.e3m2", 16, 8, 32, E3M2, E3M2, MODELS, "MMA-Sim"),
    SCALED("rtx-blackwell/mma.m16n8k32.mxf8f6f4.f32.e2m3", 16, 8, 32, E2M3, E2M3, MODELS, "MMA-Sim"),
    SCALED("rtx-blackwell/mma.m16n8k32.mxf8f6f4.f32.e2m1", 16, 8, 32, E2M1, E2M1, MODELS, "MMA-Sim"),
    GROUPED("rtx-blackwell/mma.m16n8k64.mxf4.f32.e2m1", 16, 8, 64, UE8M0, 32,
            MODELS, "MMA-Sim; models disagree"),
    GROUPED("rtx-blackwell/mma.m16n8k64.nvf4.f32.e2m1", 16, 8, 64, UE4M3, 16,
            MODELS, "MMA-Sim; models disagree"),
    INTEGERS_NVIDIA("rtx-blackwell", "mma", "m16n8k32", 16, 8, 32),
    CHAIN("rtx-blackwell/mma.m8n8k4.f64.f64", 8, 8, 4, F64, NAN_F64_OPERAND, MODELS, "MMA-Sim"),

    EXACT("cdna1/mfma.32x32x8.f32.f16",     32, 32,  8, F16,  F16,  CDNA_F32, 4, MODELS, "MMA-Sim"),
    EXACT("cdna1/mfma.32x32x4_2b.f32.f16",  32, 32,  4, F16,  F16,  CDNA_F32, 4, MODELS, "MMA-Sim"),
    EXACT("cdna1/mfma.16x16x16.f32.f16",    16, 16, 16, F16,  F16,  CDNA_F32, 4,
          OBSERVED, "MMA-Sim; KMG", "order zero nan"),
    EXACT("cdna1/mfma.16x16x4_4b.f32.f16",  16, 16,  4, F16,  F16,  CDNA_F32, 4, MODELS, "MMA-Sim"),
    EXACT("cdna1/mfma.4x4x4_16b.f32.f16",    4,  4,  4, F16,  F16,  CDNA_F32, 4, MODELS, "MMA-Sim"),
    EXACT("cdna1/mfma.32x32x4.f32.bf16",    32, 32,  4, BF16, BF16, CDNA_F32, 2, MODELS, "MMA-Sim"),
    EXACT("cdna1/mfma.32x32x2_2b.f32.bf16", 32, 32,  2, BF16, BF16, CDNA_F32, 2, MODELS, "MMA-Sim"),
    EXACT("cdna1/mfma.16x16x8.f32.bf16",    16, 16,  8, BF16, BF16, CDNA_F32, 2,
          OBSERVED, "MMA-Sim; KMG", "order overflow zero nan"),
    EXACT("cdna1/mfma.16x16x2_4b.f32.bf16", 16, 16,  2, BF16, BF16, CDNA_F32, 2, MODELS, "MMA-Sim"),
    EXACT("cdna1/mfma.4x4x2_16b.f32.bf16",   4,  4,  2, BF16, BF16, CDNA_F32, 2, MODELS, "MMA-Sim"),
    CHAIN("cdna1/mfma.32x32x2.f32.f32",    32, 32, 2, F32, NAN_F32, MODELS, "MMA-Sim"),
    CHAIN("cdna1/mfma.32x32x1_2b.f32.f32", 32, 32, 1, F32, NAN_F32, MODELS, "MMA-Sim"),
    CHAIN("cdna1/mfma.16x16x4.f32.f32",    16, 16, 4, F32, NAN_F32,
          OBSERVED, "MMA-Sim; KMG", "zero nan_rule nan"),
    CHAIN("cdna1/mfma.16x16x1_4b.f32.f32", 16, 16, 1, F32, NAN_F32, MODELS, "MMA-Sim"),
    CHAIN("cdna1/mfma.4x4x1_16b.f32.f32",   4,  4, 1, F32, NAN_F32, MODELS, "MMA-Sim"),
    INTEGERS_CDNA("cdna1"),

    PAIRS("cdna2/mfma.32x32x8.f32.f16",        32, 32,  8, F16,  F16,  CDNA_F32, 4,
          MODELS, "MMA-Sim; MIOpen notes on denormals"),
    PAIRS("cdna2/mfma.32x32x4_2b.f32.f16",     32, 32,  4, F16,  F16,  CDNA_F32, 4,
          MODELS, "MMA-Sim; MIOpen notes on denormals"),
    PAIRS("cdna2/mfma.16x16x16.f32.f16",       16, 16, 16, F16,  F16,  CDNA_F32, 4,
          OBSERVED, "MMA-Sim; MIOpen notes on denormals; KMG", "order flush_inputs zero nan"),
    PAIRS("cdna2/mfma.16x16x4_4b.f32.f16",     16, 16,  4, F16,  F16,  CDNA_F32, 4,
          MODELS, "MMA-Sim; MIOpen notes on denormals"),
    PAIRS("cdna2/mfma.4x4x4_16b.f32.f16",       4,  4,  4, F16,  F16,  CDNA_F32, 4,
          MODELS, "MMA-Sim; MIOpen notes on denormals"),
    PAIRS("cdna2/mfma.32x32x8.f32.bf16_1k",    32, 32,  8, BF16, BF16, CDNA_F32, 4,
          MODELS, "MMA-Sim; MIOpen notes on denormals"),
    PAIRS("cdna2/mfma.32x32x4_2b.f32.bf16_1k", 32, 32,  4, BF16, BF16, CDNA_F32, 4,
          MODELS, "MMA-Sim; MIOpen notes on denormals"),
    PAIRS("cdna2/mfma.16x16x16.f32.bf16_1k",   16, 16, 16, BF16, BF16, CDNA_F32, 4,
          OBSERVED, "MMA-Sim; MIOpen notes on denormals; KMG",
          "order flush_inputs rounding overflow flush zero nan"),
    PAIRS("cdna2/mfma.16x16x4_4b.f32.bf16_1k", 16, 16,  4, BF16, BF16, CDNA_F32, 4,
          MODELS, "MMA-Sim; MIOpen notes on denormals"),
    PAIRS("cdna2/mfma.4x4x4_16b.f32.bf16_1k",   4,  4,  4, BF16, BF16, CDNA_F32, 4,
          MODELS, "MMA-Sim; MIOpen notes on denormals"),
    PAIRS("cdna2/mfma.32x32x4.f32.bf16",       32, 32,  4, BF16, BF16, CDNA_F32, 2,
          MODELS, "MMA-Sim; MIOpen notes on denormals"),
    PAIRS("cdna2/mfma.32x32x2_2b.f32.bf16",    32, 32,  2, BF16, BF16, CDNA_F32, 2,
          MODELS, "MMA-Sim; MIOpen notes on denormals"),
    PAIRS("cdna2/mfma.16x16x8.f32.bf16",       16, 16,  8, BF16, BF16, CDNA_F32, 2,
          OBSERVED, "MMA-Sim; MIOpen notes on denormals; KMG", "order flush_inputs rounding flush zero nan"),
    PAIRS("cdna2/mfma.16x16x2_4b.f32.bf16",    16, 16,  2, BF16, BF16, CDNA_F32, 2,
          MODELS, "MMA-Sim; MIOpen notes on denormals"),
    PAIRS("cdna2/mfma.4x4x2_16b.f32.bf16",      4,  4,  2, BF16, BF16, CDNA_F32, 2,
          MODELS, "MMA-Sim; MIOpen notes on denormals"),
    CHAIN("cdna2/mfma.32x32x2.f32.f32",   32, 32, 2, F32, NAN_F32, MODELS, "MMA-Sim"),
    CHAIN("cdna2/mfma.16x16x4.f32.f32",   16, 16, 4, F32, NAN_F32, MODELS, "MMA-Sim"),
    CHAIN("cdna2/mfma.4x4x1_16b.f32.f32",  4,  4, 1, F32, NAN_F32, MODELS, "MMA-Sim"),
    CHAIN("cdna2/mfma.16x16x4.f64.f64",   16, 16, 4, F64, NAN_F64, MODELS, "MMA-Sim"),
    CHAIN("cdna2/mfma.4x4x4_4b.f64.f64",   4,  4, 4, F64, NAN_F64, MODELS, "MMA-Sim"),
    INTEGERS_CDNA("cdna2"),

    TWO_STAGE("cdna3/mfma.32x32x8.f32.f16",      32, 32,  8, F16,      F16,      CDNA_F32,  8, false,
              MODELS, "MMA-Sim"),
    TWO_STAGE("cdna3/mfma.32x32x4_2b.f32.f16",   32, 32,  4, F16,      F16,      CDNA_F32,  4, false,
              MODELS, "MMA-Sim"),
    TWO_STAGE("cdna3/mfma.16x16x16.f32.f16",     16, 16, 16, F16,      F16,      CDNA_F32,  8, false,
              OBSERVED, "MMA-Sim; KMG", "order parity floor via flush zero nan"),
    TWO_STAGE("cdna3/mfma.16x16x4_4b.f32.f16",   16, 16,  4, F16,      F16,      CDNA_F32,  4, false,
              MODELS, "MMA-Sim"),
    TWO_STAGE("cdna3/mfma.4x4x4_16b.f32.f16",     4,  4,  4, F16,      F16,      CDNA_F32,  4, false,
              MODELS, "MMA-Sim"),
    TWO_STAGE("cdna3/mfma.32x32x8.f32.bf16",     32, 32,  8, BF16,     BF16,     CDNA_F32,  8, false,
              MODELS, "MMA-Sim"),
    TWO_STAGE("cdna3/mfma.32x32x4_2b.f32.bf16",  32, 32,  4, BF16,     BF16,     CDNA_F32,  4, false,
              MODELS, "MMA-Sim"),
    TWO_STAGE("cdna3/mfma.16x16x16.f32.bf16",    16, 16, 16, BF16,     BF16,     CDNA_F32,  8, false,
              OBSERVED, "MMA-Sim; KMG",
              "order block fraction sum_fraction parity normalise floor overflow zero nan"),
    TWO_STAGE("cdna3/mfma.16x16x4_4b.f32.bf16",  16, 16,  4, BF16,     BF16,     CDNA_F32,  4, false,
              MODELS, "MMA-Sim"),
    TWO_STAGE("cdna3/mfma.4x4x4_16b.f32.bf16",    4,  4,  4, BF16,     BF16,     CDNA_F32,  4, false,
              MODELS, "MMA-Sim"),
    TWO_STAGE("cdna3/mfma.32x32x4.f32.xf32",     32, 32,  4, TF32,     TF32,     CDNA_F32,  4, false,
              MODELS, "MMA-Sim"),
    TWO_STAGE("cdna3/mfma.16x16x8.f32.xf32",     16, 16,  8, TF32,     TF32,     CDNA_F32,  4, false,
              OBSERVED, "MMA-Sim; KMG",
        "order fraction sum_fraction keep keep_min parity normalise floor flush_inputs overflow zero nan"),
    TWO_STAGE("cdna3/mfma.32x32x16.f32.fp8.fp8", 32, 32, 16, E4M3FNUZ, E4M3FNUZ, CDNA_F32, 16, true,
              MODELS, "MMA-Sim"),
    TWO_STAGE("cdna3/mfma.16x16x32.f32.fp8.fp8", 16, 16, 32, E4M3FNUZ, E4M3FNUZ, CDNA_F32, 16, true,
              MODELS, "MMA-Sim"),
    TWO_STAGE("cdna3/mfma.32x32x16.f32.bf8.bf8", 32, 32, 16, E5M2FNUZ, E5M2FNUZ, CDNA_F32, 16, true,
              MODELS, "MMA-Sim"),
    TWO_STAGE("cdna3/mfma.16x16x32.f32.bf8.bf8", 16, 16, 32, E5M2FNUZ, E5M2FNUZ, CDNA_F32, 16, true,
              OBSERVED, "MMA-Sim; KMG",
        "order block fraction sum_fraction keep parity normalise floor via flush_inputs flush zero nan"),
    TWO_STAGE("cdna3/mfma.32x32x16.f32.fp8.bf8", 32, 32, 16, E4M3FNUZ, E5M2FNUZ, CDNA_F32, 16, true,
              MODELS, "MMA-Sim"),
    TWO_STAGE("cdna3/mfma.16x16x32.f32.fp8.bf8", 16, 16, 32, E4M3FNUZ, E5M2FNUZ, CDNA_F32, 16, true,
              MODELS, "MMA-Sim"),
    TWO_STAGE("cdna3/mfma.32x32x16.f32.bf8.fp8", 32, 32, 16, E5M2FNUZ, E4M3FNUZ, CDNA_F32, 16, true,
              MODELS, "MMA-Sim"),
    TWO_STAGE("cdna3/mfma.16x16x32.f32.bf8.fp8", 16, 16, 32, E5M2FNUZ, E4M3FNUZ, CDNA_F32, 16, true,
              MODELS, "MMA-Sim"),
    CHAIN("cdna3/mfma.32x32x2.f32.f32",   32, 32, 2, F32, NAN_F32, MODELS, "MMA-Sim"),
    CHAIN("cdna3/mfma.16x16x4.f32.f32",   16, 16, 4, F32, NAN_F32,
          STATISTICS, "MMA-Sim; Daily",
          "fraction flush_inputs rounding overflow flush zero nan_rule nan"),
    CHAIN("cdna3/mfma.4x4x1_16b.f32.f32",  4,  4, 1, F32, NAN_F32, MODELS, "MMA-Sim"),
    CHAIN("cdna3/mfma.16x16x4.f64.f64",   16, 16, 4, F64, NAN_F64, MODELS, "MMA-Sim"),
    CHAIN("cdna3/mfma.4x4x4_4b.f64.f64",   4,  4, 4, F64, NAN_F64, MODELS, "MMA-Sim"),
    INTEGERS_CDNA3,

    INVERTED("rdna35/dot2.m1n1k2.f32.f16", 1, 1, 2, F16, F16, OBSERVED, "RDNA",
             "normalise floor via flush_inputs rounding flush zero nan"),
    INTEGERS_RDNA("rdna35"),

    TILE("amx/tdpbf16ps.m16n16k32.f32.bf16", 16, 16, 32, BF16, BF16, .flush_inputs = INPUT_SIGNED,
         RECORDED, "Intel SDM, TDPBF16PS; EMR; SPR"),
    PAIR_CHAIN("avx512/vdpbf16ps.m1n16k2.f32.bf16", 1, 16, 2, BF16, BF16,
               RECORDED, "Intel SDM, VDPBF16PS; ZEN4; EMR; SPR"),
    TILE("amx-fp16/tdpfp16ps.m16n16k32.f32.f16", 16, 16, 32, F16, F16, .flush_inputs = INPUT_C,
         DOCUMENTED, "Intel ISE reference, TDPFP16PS"),

    ODD_PAIRS("neon/bfmmla.m2n2k4.f32.bf16", 2, 2, 4, EMULATED, "Arm ARM, BFMMLA, FPCR.EBF 0; QEMU"),
    ODD_PAIRS("neon/bfdot.m1n4k2.f32.bf16",  1, 4, 2, EMULATED, "Arm ARM, BFDOT, FPCR.EBF 0; QEMU"),
    DOT_ADD("neon/bfmmla-ebf.m2n2k4.f32.bf16", 2, 2, 4, BF16, BF16,
            DOCUMENTED, "Arm ARM, BFMMLA, FPCR.EBF 1, FZ 0"),
    DOT_ADD("neon/bfdot-ebf.m1n4k2.f32.bf16",  1, 4, 2, BF16, BF16,
            DOCUMENTED, "Arm ARM, BFDOT, FPCR.EBF 1, FZ 0"),
    EXACT("neon-fp8/fdot.m1n4k4.f32.e4m3",      1, 4, 4, E4M3, E4M3, ARM_TO_F32, 4, DOCUMENTED, ARM_FDOT),
    EXACT("neon-fp8/fdot.m1n4k4.f32.e5m2",      1, 4, 4, E5M2, E5M2, ARM_TO_F32, 4, DOCUMENTED, ARM_FDOT),
    EXACT("neon-fp8/fdot.m1n4k4.f32.e4m3.e5m2", 1, 4, 4, E4M3, E5M2, ARM_TO_F32, 4, DOCUMENTED, ARM_FDOT),
    EXACT("neon-fp8/fdot.m1n4k4.f32.e5m2.e4m3", 1, 4, 4, E5M2, E4M3, ARM_TO_F32, 4, DOCUMENTED, ARM_FDOT),
    EXACT("neon-fp8/fdot.m1n8k2.f16.e4m3",      1, 8, 2, E4M3, E4M3, ARM_TO_F16, 2, DOCUMENTED, ARM_FDOT),
    EXACT("neon-fp8/fdot.m1n8k2.f16.e5m2",      1, 8, 2, E5M2, E5M2, ARM_TO_F16, 2, DOCUMENTED, ARM_FDOT),
    EXACT("neon-fp8/fdot.m1n8k2.f16.e4m3.e5m2", 1, 8, 2, E4M3, E5M2, ARM_TO_F16, 2, DOCUMENTED, ARM_FDOT),
    EXACT("neon-fp8/fdot.m1n8k2.f16.e5m2.e4m3", 1, 8, 2, E5M2, E4M3, ARM_TO_F16, 2, DOCUMENTED, ARM_FDOT),
    DOT_ADD("sme/fmopa.m16n16k2.f32.f16", 16, 16, 2, F16, F16,
            EMULATED, "Arm ARM, FMOPA (widening, 2-way), FPCR.FZ and FZ16 0; QEMU"),
    ODD_PAIRS("sme/bfmopa.m16n16k2.f32.bf16", 16, 16, 2, EMULATED, "Arm ARM, BFMOPA (widening), FPCR.EBF 0; QEMU"),

    INTEGERS_X86,
    INTEGERS_ARM,
    { 0 }
    /* clang-format on */
};
