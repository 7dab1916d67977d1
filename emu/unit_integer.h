/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of integer units, for emu/unit_table.c, whose macros they use.  The rows name these
   sources:

   PTX      PTX ISA 9.0, mma and wgmma.mma_async: integers, exact, modulo 2^32; with
            .satfinite limited to the range of s32
   SDM      Intel SDM, volume 2, and for TDPBxxD the same: the instruction's page
   ARM      Arm ARM DDI 0487, the instruction's page: sums modulo 2^32.  The 32-bit sums of
            UDOT and UMMLA are unsigned; the row has the same bits, read as s32
   RDNA     AMD RDNA 3.5 ISA document, V_DOT4_I32_IU8 and V_WMMA_I32_16X16X16_IU8, without CLAMP:
            NEG says of each operand whether it has a sign
   CDNA     AMD CDNA ISA documents, VOP3P-MAI: the encoding has no CLAMP, so sums are taken
            modulo 2^32 */
#ifndef BITCUT_EMU_UNIT_INTEGER_H
#define BITCUT_EMU_UNIT_INTEGER_H

#define WRAP { .name = "modulo 2^32", .direction = TO_NEAREST_EVEN, .overflow = OVERFLOW_WRAP }
#define RANGE { .name = "range of s32", .direction = TO_NEAREST_EVEN, .overflow = OVERFLOW_RANGE }
#define TO_S32 .c = F(S32), .result = F(S32), .zero = ZERO_POSITIVE,                         \
               .fraction = FRACTION_EXACT, .nan = 0

/* Integers, added exactly: the sum modulo 2^32, or limited to the range of s32. */
#define INTEGER(name_, m_, n_, k_, a_, b_, ...)                                              \
    {                                                                                        \
        .name = name_, .what = "integers: c and " #k_ " products added modulo 2^32",         \
        SHAPE(m_, n_, k_), FROM(a_, b_), TO_S32, .rounding = WRAP, .summation = &sum_fused,  \
        .block = k_, PROVEN(__VA_ARGS__)                                                     \
    }
#define LIMITED(name_, m_, n_, k_, a_, b_, ...)                                              \
    {                                                                                        \
        .name = name_, .what = "integers: c and " #k_ " products added, limited to s32",     \
        SHAPE(m_, n_, k_), FROM(a_, b_), TO_S32, .rounding = RANGE, .summation = &sum_fused, \
        .block = k_, PROVEN(__VA_ARGS__)                                                     \
    }

/* The four combinations of s8 and u8. */
#define FOUR(ROW, name_, m_, n_, k_, ...)                                                    \
    ROW(name_ ".s32.s8", m_, n_, k_, S8, S8, __VA_ARGS__),                                   \
    ROW(name_ ".s32.u8", m_, n_, k_, U8, U8, __VA_ARGS__),                                   \
    ROW(name_ ".s32.s8.u8", m_, n_, k_, S8, U8, __VA_ARGS__),                                \
    ROW(name_ ".s32.u8.s8", m_, n_, k_, U8, S8, __VA_ARGS__)
#define INTEGERS_NVIDIA(arch_, family_, shape_, m_, n_, k_)                                  \
    FOUR(INTEGER, arch_ "/" family_ "." shape_, m_, n_, k_, DEFINITION, "PTX"),              \
    FOUR(LIMITED, arch_ "/" family_ "-sat." shape_, m_, n_, k_, DEFINITION, "PTX, .satfinite")

#define INTEGERS_TCGEN05(arch_)                                                              \
    FOUR(INTEGER, arch_ "/tcgen05.m128n8k32", 128, 8, 32, DEFINITION, "PTX, kind::i8"),      \
    FOUR(LIMITED, arch_ "/tcgen05-sat.m128n8k32", 128, 8, 32, DEFINITION,               \
         "PTX, kind::i8, the descriptor's bit for saturation")

#define INTEGERS_RDNA(arch_)                                                                 \
    FOUR(INTEGER, arch_ "/dot4.m1n1k4", 1, 1, 4, DOCUMENTED, "RDNA"),                        \
    FOUR(INTEGER, arch_ "/wmma.m16n16k16", 16, 16, 16, DOCUMENTED, "RDNA")

#define INTEGERS_CDNA(arch_)                                                                 \
    INTEGER(arch_ "/mfma-i8.32x32x8.s32.s8",     32, 32,  8, S8, S8, DOCUMENTED, "CDNA"),       \
    INTEGER(arch_ "/mfma-i8.32x32x4_2b.s32.s8",  32, 32,  4, S8, S8, DOCUMENTED, "CDNA"),       \
    INTEGER(arch_ "/mfma-i8.16x16x16.s32.s8",    16, 16, 16, S8, S8, DOCUMENTED, "CDNA"),       \
    INTEGER(arch_ "/mfma-i8.16x16x4_4b.s32.s8",  16, 16,  4, S8, S8, DOCUMENTED, "CDNA"),       \
    INTEGER(arch_ "/mfma-i8.4x4x4_16b.s32.s8",    4,  4,  4, S8, S8, DOCUMENTED, "CDNA")
#define INTEGERS_CDNA3                                                                       \
    INTEGER("cdna3/mfma-i8.32x32x16.s32.s8",     32, 32, 16, S8, S8, DOCUMENTED, "CDNA"),       \
    INTEGER("cdna3/mfma-i8.16x16x32.s32.s8",     16, 16, 32, S8, S8, DOCUMENTED, "CDNA")

/* VPMADDUBSW, VPMADDWD by ones, and VPADDD: processors without VNNI. */
#define PAIRED(name_, m_, n_)                                                                \
    {                                                                                        \
        .name = name_, .what = "integers: two products are added and limited to s16; both "  \
                               "sums and c are added modulo 2^32",                           \
        SHAPE(m_, n_, 4), FROM(U8, S8), TO_S32, .rounding = WRAP,                            \
        .summation = &sum_saturated, .block = 4, .carrier = F(S16),                          \
        PROVEN(DEFINITION, "SDM, VPMADDUBSW, VPMADDWD, VPADDD")                              \
    }

/* Instructions of 16 and 8 lanes; VPDPBUUDS is missing, whose sums are limited to unsigned
   integers. */
#define AVX2(ROW, name_, shape_, k_, a_, b_, source_)                                        \
    ROW("avx2/" name_ ".m1n8" shape_, 1, 8, k_, a_, b_, DEFINITION, source_)
#define VNNI(ROW, name_, shape_, k_, a_, b_, source_)                                        \
    ROW("avx512/" name_ ".m1n16" shape_, 1, 16, k_, a_, b_, DEFINITION, source_),            \
    AVX2(ROW, name_, shape_, k_, a_, b_, source_)

#define INTEGERS_X86                                                                         \
    INTEGER("amx/tdpbssd.m16n16k64.s32.s8",    16, 16, 64, S8, S8, DEFINITION, "SDM, TDPBSSD"),\
    INTEGER("amx/tdpbsud.m16n16k64.s32.s8.u8", 16, 16, 64, S8, U8, DEFINITION, "SDM, TDPBSUD"),\
    INTEGER("amx/tdpbusd.m16n16k64.s32.u8.s8", 16, 16, 64, U8, S8, DEFINITION, "SDM, TDPBUSD"),\
    INTEGER("amx/tdpbuud.m16n16k64.s32.u8",    16, 16, 64, U8, U8, DEFINITION, "SDM, TDPBUUD"),\
    VNNI(INTEGER, "vpdpbusd",  "k4.s32.u8.s8", 4, U8,  S8,  "SDM, VPDPBUSD"),                \
    VNNI(LIMITED, "vpdpbusds", "k4.s32.u8.s8", 4, U8,  S8,  "SDM, VPDPBUSDS"),               \
    VNNI(INTEGER, "vpdpwssd",  "k2.s32.s16",   2, S16, S16, "SDM, VPDPWSSD"),                \
    VNNI(LIMITED, "vpdpwssds", "k2.s32.s16",   2, S16, S16, "SDM, VPDPWSSDS"),               \
    AVX2(INTEGER, "vpdpbssd",  "k4.s32.s8",    4, S8,  S8,  "SDM, VPDPBSSD"),                \
    AVX2(LIMITED, "vpdpbssds", "k4.s32.s8",    4, S8,  S8,  "SDM, VPDPBSSDS"),               \
    AVX2(INTEGER, "vpdpbsud",  "k4.s32.s8.u8", 4, S8,  U8,  "SDM, VPDPBSUD"),                \
    AVX2(LIMITED, "vpdpbsuds", "k4.s32.s8.u8", 4, S8,  U8,  "SDM, VPDPBSUDS"),               \
    AVX2(INTEGER, "vpdpbuud",  "k4.s32.u8",    4, U8,  U8,  "SDM, VPDPBUUD"),                \
    PAIRED("avx2/vpmaddubsw.m1n8k4.s32.u8.s8",    1,  8)

#define INTEGERS_ARM                                                                         \
    INTEGER("neon/sdot.m1n4k4.s32.s8",      1, 4, 4, S8, S8, DEFINITION, "ARM, SDOT"),       \
    INTEGER("neon/udot.m1n4k4.s32.u8",      1, 4, 4, U8, U8, DEFINITION, "ARM, UDOT"),       \
    INTEGER("neon/usdot.m1n4k4.s32.u8.s8",  1, 4, 4, U8, S8, DEFINITION, "ARM, USDOT"),      \
    INTEGER("neon/smmla.m2n2k8.s32.s8",     2, 2, 8, S8, S8, DEFINITION, "ARM, SMMLA"),      \
    INTEGER("neon/ummla.m2n2k8.s32.u8",     2, 2, 8, U8, U8, DEFINITION, "ARM, UMMLA"),      \
    INTEGER("neon/usmmla.m2n2k8.s32.u8.s8", 2, 2, 8, U8, S8, DEFINITION, "ARM, USMMLA")

#endif
