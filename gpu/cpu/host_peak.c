/* SPDX-License-Identifier: BSD-3-Clause */
/* Independent chains of an instruction on operands that stay in registers, so many that
   the unit never waits. */
#include "gpu/cpu/host_peak.h"

#include "gpu/cpu/host_code.h"
#include "gpu/cpu/host_units.h"
#include "lib/base/clock.h"
#include "lib/base/threads.h"

#include <math.h>
#include <stdint.h>

/* Run all chains `rounds` times, one instruction each. */
typedef void run_chains(size_t rounds);

/* A row of the table of units. */
struct unit_row {
    unsigned unit;  /* 0: FP32 fused multiply-adds          */
    unsigned needs; /* unit whose presence implies this one */
    run_chains *run;
    double products; /* products in a round                  */
};

#if HOST_HAS_CODE

#include <immintrin.h>

enum { LANES = 16, CHAINS = 16, ROWS = 16, ROW_BYTES = 64 };

#define UNROLL _Pragma("GCC unroll 16")
#define AVX512 __attribute__((target("avx512f,avx512bf16")))
#define AMX    __attribute__((target("amx-tile,amx-bf16")))

/* Elements of a tile, a row of which is a vector.  They are numbers of both signs below
   2, because the power of a unit, and so its clock, depends on them. */
static void fill(uint16_t to[ROWS][ROW_BYTES / 2])
{
    uint32_t x = 1;
    for (int i = 0; i < ROWS * ROW_BYTES / 2; i++) {
        x = x * 1664525 + 1013904223; /* Numerical Recipes, section 7.1 */
        to[i / (ROW_BYTES / 2)][i % (ROW_BYTES / 2)] =
            (uint16_t)(0x3f00 | (x >> 24 & 0xff) | (x >> 8 & 0x8000));
    }
}

/* Make the compiler assume that each sum is read and modified, so that no chain is
   optimised away. */
AVX512 static void hide(__m512 sum[CHAINS])
{
    UNROLL for (int i = 0; i < CHAINS; i++) __asm__ volatile("" : "+v"(sum[i]));
}

AVX512 static void run_avx512_bf16(size_t rounds)
{
    uint16_t elements[ROWS][ROW_BYTES / 2];
    __m512 sum[CHAINS];
    fill(elements);
    const __m512bh a = (__m512bh)_mm512_loadu_si512(elements[0]);
    const __m512bh b = (__m512bh)_mm512_loadu_si512(elements[1]);
    UNROLL for (int i = 0; i < CHAINS; i++) sum[i] = _mm512_setzero_ps();
    hide(sum);
    for (size_t r = 0; r < rounds; r++)
        UNROLL for (int i = 0; i < CHAINS; i++) sum[i] = _mm512_dpbf16_ps(sum[i], a, b);
    hide(sum);
}

AVX512 static void run_fma(size_t rounds)
{
    uint16_t elements[ROWS][ROW_BYTES / 2];
    __m512 sum[CHAINS];
    fill(elements);
    const __m512 a = _mm512_loadu_ps(elements[0]), b = _mm512_loadu_ps(elements[1]);
    UNROLL for (int i = 0; i < CHAINS; i++) sum[i] = _mm512_setzero_ps();
    hide(sum);
    for (size_t r = 0; r < rounds; r++)
        UNROLL for (int i = 0; i < CHAINS; i++) sum[i] = _mm512_fmadd_ps(a, b, sum[i]);
    hide(sum);
}

/* Tiles 0 to 3 += tile 4 or 5 times tile 6 or 7, as in kernels.  Each chain has more than
   its 52 clocks, because an instruction occupies the unit for 16: Intel's optimization
   manual, on AMX. */
AMX static void run_amx_bf16(size_t rounds)
{
    uint16_t elements[ROWS][ROW_BYTES / 2];
    fill(elements);
    host_amx_begin();
    __asm__ volatile("tilezero %%tmm0\n\ttilezero %%tmm1\n\t"
                     "tilezero %%tmm2\n\ttilezero %%tmm3\n\t"
                     "tileloadd (%0,%1,1), %%tmm4\n\ttileloadd (%0,%1,1), %%tmm5\n\t"
                     "tileloadd (%0,%1,1), %%tmm6\n\ttileloadd (%0,%1,1), %%tmm7"
                     :
                     : "r"(elements), "r"((intptr_t)ROW_BYTES)
                     : "memory");
    for (size_t r = 0; r < rounds; r++)
        __asm__ volatile("tdpbf16ps %%tmm6, %%tmm4, %%tmm0\n\t"
                         "tdpbf16ps %%tmm7, %%tmm4, %%tmm1\n\t"
                         "tdpbf16ps %%tmm6, %%tmm5, %%tmm2\n\t"
                         "tdpbf16ps %%tmm7, %%tmm5, %%tmm3"
                         :
                         :
                         : "memory");
    host_amx_end();
}

static const struct unit_row rows[] = {
    { ON_AMX_BF16, ON_AMX_BF16, run_amx_bf16, 4.0 * ROWS *ROWS *ROW_BYTES / 2 },
    { ON_AVX512_BF16, ON_AVX512_BF16, run_avx512_bf16, 2.0 * CHAINS *LANES },
    { 0, ON_AVX512_BF16, run_fma, 1.0 * CHAINS *LANES },
    { 0 }
};

#else

static const struct unit_row rows[] = { { 0 } };

#endif

/* --- measuring -------------------------------------------------------------------- */

enum { FIRST_ROUNDS = 1000, ROUNDS_MAX = 1 << 30, TIMINGS = 30 };

static const double timed = 4e-3; /* shortest time of a measurement, in seconds */

/* All threads run this number of rounds.  *best is the highest rate so far, in products
   per second.  Returns the seconds of the fastest thread, because threads wait for each
   other where other programs run. */
static double run_all(double *best, const struct unit_row *row, size_t rounds)
{
    double from = 0, least = INFINITY;
    int threads = 0;
#pragma omp parallel num_threads(threads_for(0, SIZE_MAX))
    {
        row->run(rounds / 10 + 1);
#pragma omp barrier
#pragma omp master
        from = seconds_now();
#pragma omp barrier
        const double own = seconds_now();
        row->run(rounds);
        const double seconds = seconds_now() - own;
#pragma omp critical
        {
            threads++;
            least = fmin(least, seconds);
        }
    }
    const double rate = threads * (double)rounds * row->products / (seconds_now() - from);
    if (rate > *best) *best = rate;
    return least;
}

double host_peak(unsigned unit)
{
    char why_not[GPU_FAULT_MAX];
    const unsigned here = host_units(why_not, &host_system);
    const struct unit_row *row = rows;
    size_t rounds = FIRST_ROUNDS;
    double best = 0;
    while (row->run && row->unit != unit) row++;
    if (!row->run || !(row->needs & here)) return 0;
    while (run_all(&best, row, rounds) < timed && rounds < ROUNDS_MAX) rounds *= 2;
    for (int i = 0; i < TIMINGS; i++) run_all(&best, row, rounds);
    return best;
}
