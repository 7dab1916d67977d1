/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/unit.h"
#include "lib/base/table.h"
#include "lib/number/quantizer.h"

#include <string.h>

/* Chips, architectures and vendors, and the wording of their evidence. */

/* Sources that say which units a chip has.  LLVM's lists of processors, which their
   makers maintain, are as clang 19 prints them (-march, -mcpu). */
#define CUDA_LIST "NVIDIA's list of GPUs by compute capability"
#define AWS_G5    "AWS's list of EC2 instances, G5; compute capability 8.6 as the A10's"
#define AS_H100   "not in NVIDIA's list; its driver reports compute capability 9.0"
#define ROCM_LIST "ROCm documentation, GPU hardware specifications"
#define LLVM_X86  "LLVM 19, processors of X86"
#define LLVM_ARM  "LLVM 19, processors of AArch64"

#define GPU(name_, what_, architecture_, rates_, ratios_, source_)                           \
    { .name = name_, .what = what_, .architecture = architecture_, .source = source_,        \
      .rates = rates_, .ratios = ratios_ }

const struct chip chips[] = {
    /* clang-format off */
    /* name, what, architecture, rates, whether these are another chip's; source */
    GPU("v100",        "NVIDIA V100, sm_70", "volta", "volta", false, CUDA_LIST),
    GPU("titanv",      "NVIDIA TITAN V, sm_70", "volta", NULL, false, CUDA_LIST),
    GPU("gv100",       "NVIDIA Quadro GV100, sm_70", "volta", NULL, false, CUDA_LIST),
    GPU("t4",          "NVIDIA T4, sm_75", "turing", "turing", false, CUDA_LIST),
    GPU("rtx8000",     "NVIDIA Quadro RTX 8000, sm_75", "turing", NULL, false, CUDA_LIST),
    GPU("rtx6000",     "NVIDIA Quadro RTX 6000, sm_75", "turing", NULL, false, CUDA_LIST),
    GPU("rtx5000",     "NVIDIA Quadro RTX 5000, sm_75", "turing", NULL, false, CUDA_LIST),
    GPU("rtx4000",     "NVIDIA Quadro RTX 4000, sm_75", "turing", NULL, false, CUDA_LIST),
    GPU("titanrtx",    "NVIDIA TITAN RTX, sm_75", "turing", NULL, false, CUDA_LIST),
    GPU("rtx2080ti",   "NVIDIA GeForce RTX 2080 Ti, sm_75", "turing", NULL, false, CUDA_LIST),
    GPU("rtx2080",     "NVIDIA GeForce RTX 2080, sm_75", "turing", NULL, false, CUDA_LIST),
    GPU("rtx2070",     "NVIDIA GeForce RTX 2070, sm_75", "turing", NULL, false, CUDA_LIST),
    GPU("rtx2060",     "NVIDIA GeForce RTX 2060, sm_75", "turing", NULL, false, CUDA_LIST),
    GPU("a100",        "NVIDIA A100, sm_80", "ampere", "ampere", false, CUDA_LIST),
    GPU("a800",        "NVIDIA A800, sm_80", "ampere", "ampere", false, CUDA_LIST),
    GPU("a30",         "NVIDIA A30, sm_80", "ampere", "ampere", true, CUDA_LIST),
    GPU("a40",         "NVIDIA A40, sm_86", "ampere", "a40", false, CUDA_LIST),
    GPU("a2",          "NVIDIA A2, sm_86", "ampere", "a40", true, CUDA_LIST),
    GPU("a10",         "NVIDIA A10, sm_86", "ampere", "a40", true, CUDA_LIST),
    GPU("a16",         "NVIDIA A16, sm_86", "ampere", "a40", true, CUDA_LIST),
    GPU("a10g",        "NVIDIA A10G, sm_86", "ampere", "a40", true, AWS_G5),
    GPU("rtxa6000",    "NVIDIA RTX A6000, sm_86", "ampere", "a40", true, CUDA_LIST),
    GPU("rtxa5000",    "NVIDIA RTX A5000, sm_86", "ampere", "a40", true, CUDA_LIST),
    GPU("rtxa4000",    "NVIDIA RTX A4000, sm_86", "ampere", "a40", true, CUDA_LIST),
    GPU("rtxa3000",    "NVIDIA RTX A3000, sm_86", "ampere", NULL, false, CUDA_LIST),
    GPU("rtxa2000",    "NVIDIA RTX A2000, sm_86", "ampere", "a40", true, CUDA_LIST),
    GPU("rtx3090",     "NVIDIA GeForce RTX 3090, sm_86", "ampere", "rtx3090", false, CUDA_LIST),
    GPU("rtx3090ti",   "NVIDIA GeForce RTX 3090 Ti, sm_86", "ampere", "rtx3090", true, CUDA_LIST),
    GPU("rtx3080ti",   "NVIDIA GeForce RTX 3080 Ti, sm_86", "ampere", "rtx3090", true, CUDA_LIST),
    GPU("rtx3080",     "NVIDIA GeForce RTX 3080, sm_86", "ampere", "rtx3090", true, CUDA_LIST),
    GPU("rtx3070ti",   "NVIDIA GeForce RTX 3070 Ti, sm_86", "ampere", "rtx3090", true, CUDA_LIST),
    GPU("rtx3070",     "NVIDIA GeForce RTX 3070, sm_86", "ampere", "rtx3090", true, CUDA_LIST),
    GPU("rtx3060ti",   "NVIDIA GeForce RTX 3060 Ti, sm_86", "ampere", "rtx3090", true, CUDA_LIST),
    GPU("rtx3060",     "NVIDIA GeForce RTX 3060, sm_86", "ampere", "rtx3090", true, CUDA_LIST),
    GPU("rtx3050",     "NVIDIA GeForce RTX 3050, sm_86", "ampere", "rtx3090", true, CUDA_LIST),
    GPU("orin",        "NVIDIA Jetson AGX Orin, sm_87", "ampere", NULL, false, CUDA_LIST),
    GPU("orin-nx",     "NVIDIA Jetson Orin NX, sm_87", "ampere", NULL, false, CUDA_LIST),
    GPU("orin-nano",   "NVIDIA Jetson Orin Nano, sm_87", "ampere", NULL, false, CUDA_LIST),
    GPU("l40s",        "NVIDIA L40S, sm_89", "ada", "ada", false, CUDA_LIST),
    GPU("l40",         "NVIDIA L40, sm_89", "ada", NULL, false, CUDA_LIST),
    GPU("l4",          "NVIDIA L4, sm_89", "ada", "ada", true, CUDA_LIST),
    GPU("rtx6000ada",  "NVIDIA RTX 6000 Ada, sm_89", "ada", NULL, false, CUDA_LIST),
    GPU("rtx5000ada",  "NVIDIA RTX 5000 Ada, sm_89", "ada", NULL, false, CUDA_LIST),
    GPU("rtx4000ada",  "NVIDIA RTX 4000 Ada, sm_89", "ada", NULL, false, CUDA_LIST),
    GPU("rtx2000ada",  "NVIDIA RTX 2000 Ada, sm_89", "ada", NULL, false, CUDA_LIST),
    GPU("rtx4090",     "NVIDIA GeForce RTX 4090, sm_89", "ada", "rtx4090", false, CUDA_LIST),
    GPU("rtx4080",     "NVIDIA GeForce RTX 4080, sm_89", "ada", "rtx4090", true, CUDA_LIST),
    GPU("rtx4070ti",   "NVIDIA GeForce RTX 4070 Ti, sm_89", "ada", "rtx4090", true, CUDA_LIST),
    GPU("rtx4070",     "NVIDIA GeForce RTX 4070, sm_89", "ada", "rtx4090", true, CUDA_LIST),
    GPU("rtx4060ti",   "NVIDIA GeForce RTX 4060 Ti, sm_89", "ada", "rtx4090", true, CUDA_LIST),
    GPU("rtx4060",     "NVIDIA GeForce RTX 4060, sm_89", "ada", "rtx4090", true, CUDA_LIST),
    GPU("rtx4050",     "NVIDIA GeForce RTX 4050, sm_89", "ada", "rtx4090", true, CUDA_LIST),
    GPU("h100",        "NVIDIA H100, sm_90", "hopper", "hopper", false, CUDA_LIST),
    GPU("h200",        "NVIDIA H200, sm_90", "hopper", "hopper", false, CUDA_LIST),
    GPU("gh200",       "NVIDIA GH200, sm_90", "hopper", "hopper", true, CUDA_LIST),
    GPU("h800",        "NVIDIA H800, sm_90", "hopper", NULL, false, AS_H100),
    GPU("h20",         "NVIDIA H20, sm_90", "hopper", NULL, false, AS_H100),
    GPU("b200",        "NVIDIA B200, sm_100", "blackwell", "blackwell", false, CUDA_LIST),
    GPU("gb200",       "NVIDIA GB200, sm_100", "blackwell", NULL, false, CUDA_LIST),
    GPU("b300",        "NVIDIA B300, sm_103", "blackwell", NULL, false, CUDA_LIST),
    GPU("gb300",       "NVIDIA GB300, sm_103", "blackwell", NULL, false, CUDA_LIST),
    GPU("rtx5090",     "NVIDIA RTX 5090, sm_120", "rtx-blackwell", "rtx-blackwell", false, CUDA_LIST),
    GPU("rtx5080",     "NVIDIA GeForce RTX 5080, sm_120", "rtx-blackwell", "rtx-blackwell", true, CUDA_LIST),
    GPU("rtx5070ti",   "NVIDIA GeForce RTX 5070 Ti, sm_120", "rtx-blackwell", "rtx-blackwell", true, CUDA_LIST),
    GPU("rtx5070",     "NVIDIA GeForce RTX 5070, sm_120", "rtx-blackwell", "rtx-blackwell", true, CUDA_LIST),
    GPU("rtx5060ti",   "NVIDIA GeForce RTX 5060 Ti, sm_120", "rtx-blackwell", "rtx-blackwell", true, CUDA_LIST),
    GPU("rtx5060",     "NVIDIA GeForce RTX 5060, sm_120", "rtx-blackwell", "rtx-blackwell", true, CUDA_LIST),
    GPU("rtx5050",     "NVIDIA GeForce RTX 5050, sm_120", "rtx-blackwell", "rtx-blackwell", true, CUDA_LIST),
    GPU("rtxpro6000",  "NVIDIA RTX PRO 6000 Blackwell, sm_120", "rtx-blackwell", NULL, false, CUDA_LIST),
    GPU("rtxpro5000",  "NVIDIA RTX PRO 5000 Blackwell, sm_120", "rtx-blackwell", NULL, false, CUDA_LIST),
    GPU("rtxpro4500",  "NVIDIA RTX PRO 4500 Blackwell, sm_120", "rtx-blackwell", NULL, false, CUDA_LIST),
    GPU("rtxpro4000",  "NVIDIA RTX PRO 4000 Blackwell, sm_120", "rtx-blackwell", NULL, false, CUDA_LIST),
    GPU("mi100",       "AMD Instinct MI100, gfx908", "cdna1", "cdna1", false, ROCM_LIST),
    GPU("mi210",       "AMD Instinct MI210, gfx90a", "cdna2", "cdna2", false, ROCM_LIST),
    GPU("mi250",       "AMD Instinct MI250, gfx90a", "cdna2", "cdna2", false, ROCM_LIST),
    GPU("mi250x",      "AMD Instinct MI250X, gfx90a", "cdna2", "cdna2", false, ROCM_LIST),
    GPU("mi300",       "AMD Instinct MI300, gfx942", "cdna3", "cdna3", false, ROCM_LIST),
    GPU("mi300x",      "AMD Instinct MI300X, gfx942", "cdna3", "cdna3", false, ROCM_LIST),
    GPU("mi300a",      "AMD Instinct MI300A, gfx942", "cdna3", "cdna3", false, ROCM_LIST),
    GPU("mi325x",      "AMD Instinct MI325X, gfx942", "cdna3", "cdna3", false, ROCM_LIST),
    GPU("gfx1151",     "AMD Radeon 8060S, gfx1151, RDNA 3.5", "rdna35", NULL, false, ROCM_LIST),
    /* name, what, architecture, also, source */
    { "cooper-lake",     "Intel Xeon, Cooper Lake: AVX512-BF16", "avx512", { NULL },
      .source = LLVM_X86 ", cooperlake" },
    { "sapphire-rapids", "Intel Xeon, Sapphire Rapids: AMX-BF16, AVX512-BF16", "amx",
      { "avx512" }, .source = LLVM_X86 ", sapphirerapids" },
    { "emerald-rapids",  "Intel Xeon, Emerald Rapids: AMX-BF16, AVX512-BF16", "amx",
      { "avx512" }, .source = LLVM_X86 ", emeraldrapids; recorded on one" },
    { "granite-rapids",  "Intel Xeon, Granite Rapids: AMX-BF16 and -FP16, AVX512-BF16", "amx",
      { "amx-fp16", "avx512" }, .source = LLVM_X86 ", graniterapids and graniterapids-d" },
    { "zen4",            "AMD Zen 4: AVX512-BF16", "avx512", { NULL },
      .source = LLVM_X86 ", znver4; recorded on one" },
    { "zen5",            "AMD Zen 5: AVX512-BF16", "avx512", { NULL }, .source = LLVM_X86 ", znver5" },
    { "neoverse-v1",     "Arm Neoverse V1: BF16", "neon", { NULL }, .source = LLVM_ARM ", neoverse-v1" },
    { "neoverse-n2",     "Arm Neoverse N2: BF16", "neon", { NULL }, .source = LLVM_ARM ", neoverse-n2" },
    { "neoverse-v2",     "Arm Neoverse V2: BF16", "neon", { NULL }, .source = LLVM_ARM ", neoverse-v2" },
    { "neoverse-n3",     "Arm Neoverse N3: BF16", "neon", { NULL }, .source = LLVM_ARM ", neoverse-n3" },
    { "neoverse-v3",     "Arm Neoverse V3: BF16", "neon", { NULL }, .source = LLVM_ARM ", neoverse-v3" },
    { "graviton3",       "AWS Graviton3, Neoverse V1", "neon", { NULL },
      .source = "AWS's Graviton technical guide (core); " LLVM_ARM ", neoverse-v1" },
    { "graviton4",       "AWS Graviton4, Neoverse V2", "neon", { NULL },
      .source = "AWS's Graviton technical guide (core); " LLVM_ARM ", neoverse-v2" },
    { "grace",           "NVIDIA Grace, Neoverse V2", "neon", { NULL }, .source = LLVM_ARM ", grace" },
    { "cobalt100",       "Microsoft Azure Cobalt 100, Neoverse N2", "neon", { NULL },
      .source = LLVM_ARM ", cobalt-100" },
    { "ampereone",       "AmpereOne: BF16", "neon", { NULL }, .source = LLVM_ARM ", ampere1, ampere1a, ampere1b" },
    { "m2",              "Apple M2: BF16", "neon", { NULL }, .source = LLVM_ARM ", apple-m2" },
    { "m3",              "Apple M3: BF16", "neon", { NULL }, .source = LLVM_ARM ", apple-m3" },
    { "m4",              "Apple M4: SME, BF16", "sme", { "neon" }, .source = LLVM_ARM ", apple-m4" },
    { 0 }
    /* clang-format on */
};

/* Wording of the evidence for a vendor's units. */
struct vendor {
    const char *name;
    const char *evidence[EVIDENCE_COUNT];
};

#define NOT_BY_US ", not run on AMD hardware by us"

static const struct vendor none = { NULL, { [EVIDENCE_DEFINITION] = "definition" } };
static const struct vendor nvidia = {
    "NVIDIA",
    { [EVIDENCE_RECORDED] = "recorded",
      [EVIDENCE_PUBLISHED] = "published vectors",
      [EVIDENCE_OBSERVED] = "published observations",
      [EVIDENCE_CONSISTENT] = "published models, not contradicted by published vectors",
      [EVIDENCE_MODELS] = "published models only",
      [EVIDENCE_DEFINITION] = "defined by PTX ISA" },
};
static const struct vendor amd = {
    "AMD",
    { [EVIDENCE_RECORDED] = "recorded",
      [EVIDENCE_PUBLISHED] = "published vectors" NOT_BY_US,
      [EVIDENCE_CONSISTENT] = "published models, not contradicted by vectors" NOT_BY_US,
      [EVIDENCE_OBSERVED] = "published observations" NOT_BY_US,
      [EVIDENCE_STATISTICS] = "published statistics" NOT_BY_US,
      [EVIDENCE_MODELS] = "published models" NOT_BY_US,
      [EVIDENCE_DOCUMENTED] = "documented" NOT_BY_US },
};

static const struct vendor intel = {
    "Intel",
    { [EVIDENCE_RECORDED] = "recorded",
      [EVIDENCE_DOCUMENTED] = "documented, not compared with hardware",
      [EVIDENCE_DEFINITION] = "defined by Intel SDM" },
};
static const struct vendor x86 = {
    "Intel and AMD",
    { [EVIDENCE_RECORDED] = "recorded",
      [EVIDENCE_DEFINITION] = "defined by Intel SDM" },
};

static const struct vendor arm = {
    "Arm",
    { [EVIDENCE_EMULATED] = "documented, equal to QEMU, not compared with hardware",
      [EVIDENCE_DOCUMENTED] = "documented, not compared with hardware",
      [EVIDENCE_DEFINITION] = "defined by Arm ARM" },
};

static const struct {
    const char *name;
    const struct vendor *vendor;
} architectures[] = {
    { "ideal", &none },       { "ootomo", &none },
    { "fma", &none },         { "volta", &nvidia },
    { "turing", &nvidia },    { "ampere", &nvidia },
    { "ada", &nvidia },       { "hopper", &nvidia },
    { "blackwell", &nvidia }, { "rtx-blackwell", &nvidia },
    { "cdna1", &amd },        { "cdna2", &amd },
    { "cdna3", &amd },        { "rdna35", &amd },
    { "amx", &intel },        { "avx512", &x86 },
    { "amx-fp16", &intel },   { "avx2", &x86 },
    { "neon", &arm },         { "neon-fp8", &arm },
    { "sme", &arm },
};

enum { ARCHITECTURES = sizeof architectures / sizeof architectures[0] };

/* Whether the unit belongs to this architecture. */
static bool is_of(const char *unit, const char *architecture)
{
    const size_t n = strlen(architecture);
    return !strncmp(unit, architecture, n) && unit[n] == '/';
}

bool chip_has(const struct chip *c, const char *unit)
{
    if (is_of(unit, c->architecture)) return true;
    for (int i = 0; i < CHIP_ALSO_MAX && c->also[i]; i++)
        if (is_of(unit, c->also[i])) return true;
    return false;
}

static const struct vendor *vendor_of(const struct bitcut_unit *u)
{
    int i = 0;
    while (i < ARCHITECTURES && !is_of(u->name, architectures[i].name)) i++;
    return i < ARCHITECTURES ? architectures[i].vendor : &none;
}

const char *unit_vendor(const struct bitcut_unit *u) { return vendor_of(u)->name; }

const char *unit_evidence(const struct bitcut_unit *u)
{
    return vendor_of(u)->evidence[u->evidence];
}

/* Operands of a unit: their format, and the format and block of their scales, or NULL. */
struct operands {
    const struct bitcut_format *input, *scale;
    size_t block;
};

static bool takes(const struct bitcut_unit *u, const struct operands *x)
{
    return u->a == x->input && u->b == x->input && u->scale == x->scale &&
           (!x->scale || (size_t)u->scale_block == x->block);
}

/* The first row of an architecture with these operands and an f32 accumulator or, for
   integers, that of integers; NULL if there is none. */
static const struct bitcut_unit *first_of(const char *architecture,
                                          const struct operands *x)
{
    const struct bitcut_unit *u = units;
    while (u->name && !(is_of(u->name, architecture) && takes(u, x) &&
                        (u->c == &formats[FORMAT_F32] || format_is_integer(x->input))))
        u++;
    return u->name ? u : NULL;
}

static const struct bitcut_unit *first_of_chip(const struct chip *chip,
                                               const struct operands *x)
{
    const struct bitcut_unit *u = first_of(chip->architecture, x);
    for (int i = 0; i < CHIP_ALSO_MAX && chip->also[i] && !u; i++)
        u = first_of(chip->also[i], x);
    return u;
}

const struct bitcut_unit *unit_find_scaled(const char *name,
                                           const struct bitcut_format *input,
                                           const struct bitcut_format *scale,
                                           size_t block)
{
    const struct operands x = { input, scale, block };
    const struct chip *const chip = table_find(TABLE(chips), name);
    const struct bitcut_unit *const u = table_find(TABLE(units), name);
    if (chip) return first_of_chip(chip, &x);
    return u && takes(u, &x) ? u : NULL;
}

const struct bitcut_unit *unit_find(const char *name, const struct bitcut_format *input)
{
    const struct chip *chip = table_find(TABLE(chips), name);
    if (!chip) return table_find(TABLE(units), name);
    const struct operands x = { .input = input };
    const struct bitcut_unit *const u = first_of_chip(chip, &x);
    return u || input != &formats[FORMAT_F32] ? u : table_find(TABLE(units), "fma/f32");
}

enum bitcut_scaling unit_scaling(const struct bitcut_unit *u,
                                 const struct bitcut_quantizer *q)
{
    if (u->scale) return BITCUT_SCALING_UNIT;
    return q->depth ? BITCUT_SCALING_PROMOTED : BITCUT_SCALING_EPILOGUE;
}

/* Whether both units belong to one architecture and family. */
static bool are_akin(const struct bitcut_unit *x, const struct bitcut_unit *y)
{
    const size_t n = strcspn(x->name, ".");
    return n == strcspn(y->name, ".") && !strncmp(x->name, y->name, n);
}

const struct bitcut_unit *unit_beside(const struct bitcut_unit *u,
                                      const struct bitcut_format *a,
                                      const struct bitcut_format *b)
{
    for (const struct bitcut_unit *x = units; x->name; x++)
        if (are_akin(x, u) && x->a == a && x->b == b && !x->scale &&
            (x->c == u->c || format_is_integer(x->c)))
            return x;
    return NULL;
}
