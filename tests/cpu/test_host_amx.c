/* SPDX-License-Identifier: BSD-3-Clause */
/* Single AMX instructions (gpu/cpu/host_amx.c), on any x86-64 processor, compared with
   the models. */
#include "emu/unit.h"
#include "gpu/api/gpu.h"
#include "gpu/cpu/host_code.h"
#include "gpu/cpu/host_module.h"
#include "gpu/cpu/host_units.h"
#include "tests/cpu/amx_signal.h"
#include "tests/test.h"

#if HOST_HAS_CODE

enum { COUNT = 7, M = 16, N = 16, K = 32 };

static void try_unit(const char *name, const char *instruction)
{
    static uint16_t a[COUNT][M][K], b[COUNT][K][N];
    static uint32_t c[COUNT][M][N], d[COUNT][M][N];
    static uint64_t x[COUNT * M * K], y[COUNT * K * N], z[COUNT * M * N];
    const struct gpu g = { &host_module, NULL };
    const struct gpu_instruction *const i = gpu_find(&g, instruction);
    const struct gpu_batch batch = { d, a, b, c, COUNT };
    uint64_t state = test_seed();
    ck_assert(i && i->m == M && i->n == N && i->k == K);
    for (int e = 0; e < COUNT * M * K; e++) {
        x[e] = (&a[0][0][0])[e] = (uint16_t)test_bits(&state);
        y[e] = (&b[0][0][0])[e] = (uint16_t)test_bits(&state);
    }
    for (int e = 0; e < COUNT * M * N; e++)
        z[e] = (&c[0][0][0])[e] = (uint32_t)test_bits(&state);
    ck_assert_int_eq(i->launch(i, &batch, GPU_PLAIN), 0);
    ck_assert_int_eq(
        bitcut_mma(z, bitcut_unit_find(name, NULL), COUNT, M, N, K, x, y, z, 1),
        BITCUT_OK);
    for (int e = 0; e < COUNT * M * N; e++)
        ck_assert_msg((&d[0][0][0])[e] == z[e], "%s: output %d is %08x, not %08x", name,
                      e, (&d[0][0][0])[e], (unsigned)z[e]);
}

START_TEST(fragments)
{
    if (amx_runs(ON_AMX_BF16))
        try_unit("amx/tdpbf16ps.m16n16k32.f32.bf16", "tdpbf16ps.m16n16k32.f32.bf16");
    if (amx_runs(ON_AMX_FP16))
        try_unit("amx-fp16/tdpfp16ps.m16n16k32.f32.f16", "tdpfp16ps.m16n16k32.f32.f16");
}
END_TEST

TEST_MAIN("host_amx", fragments)

#else

START_TEST(nothing) {}
END_TEST

TEST_MAIN("host_amx", nothing)

#endif
