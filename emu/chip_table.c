#include "emu/unit.h"
#include "lib/table.h"

#include <string.h>

/* Chips, architectures and vendors, and the words for their evidence. */

const struct chip chips[] = {
    /* name    what                       architecture */
    { "v100", "NVIDIA V100, sm_70", "volta" },
    { "t4", "NVIDIA T4, sm_75", "turing" },
    { "a100", "NVIDIA A100, sm_80", "ampere" },
    { "a800", "NVIDIA A800, sm_80", "ampere" },
    { "a2", "NVIDIA A2, sm_86", "ampere" },
    { "l40s", "NVIDIA L40S, sm_89", "ada" },
    { "h100", "NVIDIA H100, sm_90", "hopper" },
    { "h200", "NVIDIA H200, sm_90", "hopper" },
    { "b200", "NVIDIA B200, sm_100", "blackwell" },
    { "rtx5090", "NVIDIA RTX 5090, sm_120", "rtx-blackwell" },
    { "mi100", "AMD Instinct MI100, gfx908", "cdna1" },
    { "mi210", "AMD Instinct MI210, gfx90a", "cdna2" },
    { "mi250", "AMD Instinct MI250, gfx90a", "cdna2" },
    { "mi300", "AMD Instinct MI300, gfx942", "cdna3" },
    /* Intel's Architecture Instruction Set Extensions Reference, table of processors;
       AMD's Software Optimization Guides for Zen 4 and Zen 5. */
    { "cooper-lake", "Intel Xeon, Cooper Lake, AVX512-BF16", "avx512" },
    { "sapphire-rapids", "Intel Xeon, Sapphire Rapids, AMX", "amx" },
    { "emerald-rapids", "Intel Xeon, Emerald Rapids, AMX", "amx" },
    { "granite-rapids", "Intel Xeon, Granite Rapids, AMX", "amx" },
    { "zen4", "AMD Zen 4, AVX512-BF16", "avx512" },
    { "zen5", "AMD Zen 5, AVX512-BF16", "avx512" },
    /* Arm's Technical Reference Manuals of the cores (FEAT_BF16); Amazon's and NVIDIA's
       documents say which core is in a processor; Apple's M4: LLVM's apple-m4. */
    { "neoverse-v1", "Arm Neoverse V1", "neon" },
    { "neoverse-n2", "Arm Neoverse N2", "neon" },
    { "neoverse-v2", "Arm Neoverse V2", "neon" },
    { "graviton3", "AWS Graviton3, Neoverse V1", "neon" },
    { "graviton4", "AWS Graviton4, Neoverse V2", "neon" },
    { "grace", "NVIDIA Grace, Neoverse V2", "neon" },
    { "m4", "Apple M4, SME", "sme" },
    { 0 }
};

/* Words for the evidence of a vendor's units. */
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
      [EVIDENCE_DEFINITION] = "defined by the PTX ISA" },
};
static const struct vendor amd = {
    "AMD",
    { [EVIDENCE_RECORDED] = "recorded",
      [EVIDENCE_PUBLISHED] = "published vectors" NOT_BY_US,
      [EVIDENCE_CONSISTENT] = "published models, not contradicted by vectors" NOT_BY_US,
      [EVIDENCE_OBSERVED] = "published observations" NOT_BY_US,
      [EVIDENCE_MODELS] = "published models" NOT_BY_US },
};

static const struct vendor intel = {
    "Intel",
    { [EVIDENCE_RECORDED] = "recorded",
      [EVIDENCE_DOCUMENTED] = "documented, not compared with hardware" },
};
static const struct vendor x86 = {
    "Intel and AMD",
    { [EVIDENCE_RECORDED] = "recorded" },
};

static const struct vendor arm = {
    "Arm",
    { [EVIDENCE_EMULATED] = "documented, equal to QEMU, not compared with hardware",
      [EVIDENCE_DOCUMENTED] = "documented, not compared with hardware" },
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
    { "cdna3", &amd },        { "amx", &intel },
    { "avx512", &x86 },       { "amx-fp16", &intel },
    { "neon", &arm },         { "sme", &arm },
};

enum { ARCHITECTURES = sizeof architectures / sizeof architectures[0] };

/* Whether the unit is of that architecture. */
static bool is_of(const struct bitcut_unit *u, const char *architecture)
{
    const size_t n = strlen(architecture);
    return !strncmp(u->name, architecture, n) && u->name[n] == '/';
}

static const struct vendor *vendor_of(const struct bitcut_unit *u)
{
    int i = 0;
    while (i < ARCHITECTURES && !is_of(u, architectures[i].name)) i++;
    return i < ARCHITECTURES ? architectures[i].vendor : &none;
}

const char *unit_vendor(const struct bitcut_unit *u) { return vendor_of(u)->name; }

const char *unit_evidence(const struct bitcut_unit *u)
{
    return vendor_of(u)->evidence[u->evidence];
}

const struct bitcut_unit *unit_find(const char *name, const struct bitcut_format *input)
{
    const struct chip *chip = table_find(TABLE(chips), name);
    if (!chip) return table_find(TABLE(units), name);
    for (const struct bitcut_unit *u = units; u->name; u++)
        if (is_of(u, chip->architecture) && u->a == input && u->b == input && u->c == &formats[FORMAT_F32] && !u->scale)
            return u;
    return input == &formats[FORMAT_F32] ? table_find(TABLE(units), "fma/f32") : NULL;
}

/* Whether both are of one architecture and family. */
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
