/* SPDX-License-Identifier: BSD-3-Clause */
/* Which matrix units of a processor are available, and why not, on simulated processors
   and operating systems. */
#include "gpu/cpu/host_units.h"
#include "tests/test.h"

#include <errno.h>
#include <string.h>

/* What a processor says, and its system. */
struct machine {
    const char *flags; /* as /proc/cpuinfo calls them */
    uint64_t kept;
    unsigned built;
    int refusal; /* of tiles, an errno */
    unsigned units;
    const char *why_not;
    int asked; /* times that the kernel is */
};

#define SAPPHIRE "osxsave avx512f avx512_bf16 amx_tile amx_bf16"
#define GRANITE  SAPPHIRE " amx_fp16"
#define ALL_KEPT 0x600e7
#define NO_FP16  "amx-fp16: the processor does not support amx_fp16"

static const struct machine machines[] = {
    { GRANITE, ALL_KEPT, ON_ALL, 0, ON_ALL, "", 1 },
    { SAPPHIRE, ALL_KEPT, ON_ALL, 0, ON_AMX_BF16 | ON_AVX512_BF16, NO_FP16, 1 },
    { SAPPHIRE, ALL_KEPT, ON_ALL, EPERM, ON_AVX512_BF16,
      "amx-bf16: the operating system refuses its tiles (arch_prctl): Operation not "
      "permitted; " NO_FP16,
      1 },
    { GRANITE, ALL_KEPT, ON_ALL, EINVAL, ON_AVX512_BF16,
      "amx-bf16, amx-fp16: the operating system refuses its tiles (arch_prctl): Invalid argument",
      1 },
    { GRANITE, 0xe7, ON_ALL, 0, ON_AVX512_BF16,
      "amx-bf16, amx-fp16: the operating system does not save its registers", 0 },
    { GRANITE, 0x200e7, ON_ALL, 0, ON_AVX512_BF16,
      "amx-bf16, amx-fp16: the operating system does not save its registers", 0 },
    { GRANITE, 0x60007, ON_ALL, 0, 0,
      "amx-bf16, amx-fp16, avx512-bf16: the operating system does not save its registers", 0 },
    { "osxsave avx512_bf16 amx_tile amx_bf16 amx_fp16", ALL_KEPT, ON_ALL, 0, 0,
      "amx-bf16, amx-fp16, avx512-bf16: the processor does not support avx512f", 0 },
    { GRANITE, ALL_KEPT, 0, 0, 0,
      "amx-bf16, amx-fp16, avx512-bf16: bitcut was built without its instructions", 0 },
    { "osxsave avx512f avx512_bf16", 0xe7, ON_ALL, 0, ON_AVX512_BF16,
      "amx-bf16, amx-fp16: the processor does not support amx_tile", 0 },
    { "osxsave avx512f amx_tile amx_fp16", ALL_KEPT, ON_ALL, 0, ON_AMX_FP16,
      "amx-bf16: the processor does not support amx_bf16; avx512-bf16: the processor does not "
      "support avx512_bf16",
      1 },
    { "avx512f avx512_bf16 amx_tile amx_bf16 amx_fp16", ALL_KEPT, ON_ALL, 0, 0,
      "amx-bf16, amx-fp16, avx512-bf16: the processor does not support osxsave", 0 },
    { "", 0, ON_ALL, 0, 0,
      "amx-bf16, amx-fp16, avx512-bf16: the processor does not support osxsave", 0 },
};

static const struct machine *now;
static int asked;

static bool says(const char *flag)
{
    const size_t length = strlen(flag);
    const char *at = now->flags;
    while ((at = strstr(at, flag)) && at[length] && at[length] != ' ') at += length;
    return at;
}

/* By Intel's manual: leaf 1, and leaf 7 in two parts. */
static struct cpuid ask(uint32_t leaf, uint32_t part)
{
    if (leaf == 1) return (struct cpuid){ .ecx = (uint32_t)says("osxsave") << 27 };
    ck_assert(leaf == 7 && part < 2);
    return part ? (struct cpuid){ .eax = (uint32_t)says("avx512_bf16") << 5 |
                                         (uint32_t)says("amx_fp16") << 21 }
                : (struct cpuid){ .eax = 1,
                                  .ebx = (uint32_t)says("avx512f") << 16,
                                  .edx = (uint32_t)says("amx_bf16") << 22 |
                                         (uint32_t)says("amx_tile") << 24 };
}

static uint64_t kept(void)
{
    ck_assert_msg(says("osxsave"), "XGETBV where there is none");
    return now->kept;
}

static int allow_tiles(void)
{
    asked++;
    return now->refusal;
}

START_TEST(machines_told)
{
    for (now = machines; now < machines + sizeof machines / sizeof *machines; now++) {
        const struct host_system system = { now->built, ask, kept, allow_tiles };
        char why_not[GPU_FAULT_MAX];
        asked = 0;
        const unsigned units = host_units(why_not, &system);
        ck_assert_msg(
            units == now->units && !strcmp(why_not, now->why_not) && asked == now->asked,
            "'%s': got units %#x, '%s', asked %d times, want %#x, '%s', %d", now->flags,
            units, why_not, asked, now->units, now->why_not, now->asked);
    }
}
END_TEST

/* This machine: every unit is there, or why it is not. */
START_TEST(this_machine)
{
    char why_not[GPU_FAULT_MAX];
    const unsigned units = host_units(why_not, &host_system);
    for (int i = 0; i < HOST_UNITS; i++) {
        const struct gpu_architecture *a = &host_architectures[i];
        ck_assert_uint_eq(a->bit, 1u << i);
        ck_assert_msg(!(units & a->bit) == (strstr(why_not, a->name) != NULL),
                      "%s: units %#x, but '%s'", a->name, units, why_not);
    }
    ck_assert(!host_architectures[HOST_UNITS].name);
}
END_TEST

TEST_MAIN("host_units", machines_told, this_machine)
