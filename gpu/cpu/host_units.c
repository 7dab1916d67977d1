/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* syscall() */

#include "gpu/cpu/host_units.h"

#include "gpu/cpu/host_code.h"
#include "lib/base/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#if HOST_HAS_CODE
#include <cpuid.h>
#endif
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

const struct gpu_architecture host_architectures[] = {
    { "amx-bf16", "Intel AMX on bf16, from Sapphire Rapids on", "amx", ON_AMX_BF16 },
    { "amx-fp16", "Intel AMX on f16, from Granite Rapids on", "amx-fp16", ON_AMX_FP16 },
    { "avx512-bf16", "AVX-512 on bf16: Intel from Cooper Lake on, AMD from Zen 4 on",
      "avx512", ON_AVX512_BF16 },
    { 0 }
};

/* --- what units need -------------------------------------------------------------- */

enum { WHY_MAX = 90 };

/* A bit of a CPUID register, named as in /proc/cpuinfo, that some units need.  Vector
   instructions prepare the tiles of AMX and process its results, so AMX needs them too.
   Intel SDM volume 2A, CPUID. */
struct need {
    unsigned units;
    const char *flag;
    uint32_t leaf, part;
    size_t at; /* offset of the register in struct cpuid */
    int bit;
};

#define REGISTER(name) offsetof(struct cpuid, name)

static const struct need needs[] = {
    /* clang-format off */
    { ON_ALL,         "osxsave",     1, 0, REGISTER(ecx), 27 },
    { ON_AMX,         "amx_tile",    7, 0, REGISTER(edx), 24 },
    { ON_AMX_BF16,    "amx_bf16",    7, 0, REGISTER(edx), 22 },
    { ON_AMX_FP16,    "amx_fp16",    7, 1, REGISTER(eax), 21 },
    { ON_ALL,         "avx512f",     7, 0, REGISTER(ebx), 16 },
    { ON_AVX512_BF16, "avx512_bf16", 7, 1, REGISTER(eax), 5  },
    { 0 }
    /* clang-format on */
};

/* States of XCR0 (Intel SDM volume 1, section 13.1): SSE, AVX, and the three of AVX-512;
   the configuration of tiles and their data. */
enum { VECTORS = 1 << 1 | 1 << 2 | 7 << 5, TILES = 3 << 17 };

static bool has(const struct need *n, const struct host_system *system)
{
    const struct cpuid said = system->ask(n->leaf, n->part);
    uint32_t bits;
    memcpy(&bits, (const char *)&said + n->at, sizeof bits);
    return bits >> n->bit & 1;
}

/* The first flag that the unit lacks; NULL: none. */
static const char *missing(unsigned unit, const struct host_system *system)
{
    for (const struct need *n = needs; n->flag; n++)
        if (n->units & unit && !has(n, system)) return n->flag;
    return NULL;
}

/* Reason why a unit is unavailable, except the kernel's limits on tiles; false: none. */
static bool lacks(char why[WHY_MAX], unsigned unit, const struct host_system *system)
{
    const uint64_t states = unit & ON_AMX ? TILES | VECTORS : VECTORS;
    const char *flag = missing(unit, system);
    if (flag) snprintf(why, WHY_MAX, "the processor does not support %s", flag);
    else if ((system->kept() & states) != states)
        snprintf(why, WHY_MAX, "the operating system does not save its registers");
    else if (!(system->built & unit))
        snprintf(why, WHY_MAX, "bitcut was built without its instructions");
    else return false;
    return true;
}

/* Whether the kernel refuses tiles.  It is asked once: *refused is -1 before. */
static bool refuses(char why[WHY_MAX], int *refused, const struct host_system *system)
{
    if (*refused < 0) *refused = system->allow_tiles();
    snprintf(why, WHY_MAX, "the operating system refuses its tiles (arch_prctl): %s",
             strerror(*refused));
    return *refused;
}

/* A text such as "amx-bf16, amx-fp16: reason; avx512-bf16: reason". */
static void describe_why(char to[GPU_FAULT_MAX], char why[HOST_UNITS][WHY_MAX])
{
    *to = 0;
    for (int i = 0; i < HOST_UNITS; i++) {
        const bool joins = i && !strcmp(why[i - 1], why[i]);
        const bool ends = i + 1 == HOST_UNITS || strcmp(why[i], why[i + 1]);
        const char *before = !*to ? "" : joins ? ", " : "; ";
        if (!*why[i]) continue;
        text_add(to, GPU_FAULT_MAX, "%s%s%s%s", before, host_architectures[i].name,
                 ends ? ": " : "", ends ? why[i] : "");
    }
}

unsigned host_units(char why_not[GPU_FAULT_MAX], const struct host_system *system)
{
    char why[HOST_UNITS][WHY_MAX] = { "" };
    unsigned units = 0;
    int refused = -1;
    for (int i = 0; i < HOST_UNITS; i++) {
        const unsigned unit = host_architectures[i].bit;
        if (!lacks(why[i], unit, system) &&
            !(unit & ON_AMX && refuses(why[i], &refused, system))) {
            *why[i] = 0;
            units |= unit;
        }
    }
    describe_why(why_not, why);
    return units;
}

/* --- this machine ----------------------------------------------------------------- */

#if HOST_HAS_CODE

static struct cpuid ask(uint32_t leaf, uint32_t part)
{
    struct cpuid x = { 0 };
    if (part && ask(leaf, 0).eax < part) return x; /* eax: last part of leaf 7 */
    __get_cpuid_count(leaf, part, &x.eax, &x.ebx, &x.ecx, &x.edx);
    return x;
}

/* XGETBV by its code, because compilers have a function for it only with a separate
   target. */
static uint64_t kept(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

#else

static struct cpuid ask(uint32_t leaf, uint32_t part)
{
    (void)leaf;
    (void)part;
    return (struct cpuid){ 0 };
}

static uint64_t kept(void) { return 0; }

#endif

/* Linux since 5.16: Documentation/arch/x86/xstate.rst.  The permission belongs to the
   process, and is permanent. */
static int allow_tiles(void)
{
#if defined(__linux__) && HOST_HAS_CODE
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, TILE_DATA = 18 };
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, TILE_DATA) ? errno : 0;
#else
    return ENOSYS;
#endif
}

const struct host_system host_system = { HOST_HAS_CODE ? ON_ALL : 0, ask, kept,
                                         allow_tiles };
