/* SPDX-License-Identifier: BSD-3-Clause */
/* AVX512-BF16.  VDPBF16PS computes, in each of 16 lanes of f32, d += a0 b0 + a1 b1 for
   two bf16 elements, the second product first.  The first of its sources holds A.  Intel
   SDM volume 2, VDPBF16PS. */
#include "gpu/cpu/host_code.h"

#if HOST_HAS_CODE

#include <immintrin.h>

enum { LANES = 16 };

#define AVX512 __attribute__((target("avx512f,avx512bf16")))

/* Pairs of a fragment: a pair of A in all lanes, the pairs of B next to each other. */
struct pairs {
    uint16_t a[LANES][2], b[LANES][2];
};

static void pairs_fill(struct pairs *to, const uint16_t a[2], const uint16_t *b)
{
    for (int n = 0; n < LANES; n++)
        for (int odd = 0; odd < 2; odd++) {
            to->a[n][odd] = a[odd];
            to->b[n][odd] = b[odd * LANES + n];
        }
}

AVX512 int host_avx512_bf16(const struct gpu_instruction *row,
                            const struct gpu_batch *batch, enum gpu_variant variant)
{
    const uint16_t *a = batch->a, *b = batch->b;
    const float *c = batch->c;
    float *d = batch->d;
    (void)row;
    (void)variant;
    for (size_t f = 0; f < batch->count; f++) {
        struct pairs x;
        pairs_fill(&x, a + 2 * f, b + 2 * LANES * f);
        const __m512 sum = _mm512_dpbf16_ps(_mm512_loadu_ps(c + LANES * f),
                                            (__m512bh)_mm512_loadu_si512(x.a),
                                            (__m512bh)_mm512_loadu_si512(x.b));
        _mm512_storeu_ps(d + LANES * f, sum);
    }
    return 0;
}

/* --- whole GEMMs ------------------------------------------------------------------ */

#define UNROLL _Pragma("GCC unroll 16")

/* Number of lines of A at a time, so that their sums are in registers. */
enum { ROWS = 8 };

/* A vector of the sums, for 16 columns. */
struct sums {
    __m512 at[ROWS][2];
};

/* Add the terms of a pair. */
AVX512 static inline void add_pair(struct sums *sum, const struct host_terms *terms,
                                   const uint32_t *a, const uint32_t *b)
{
    for (int t = 0; t < terms->count; t++) {
        const uint32_t *const at = a + terms->at[t].a, *const bt = b + terms->at[t].b;
        const __m512bh left = (__m512bh)_mm512_loadu_si512(bt);
        const __m512bh right = (__m512bh)_mm512_loadu_si512(bt + HOST_TILE);
        UNROLL for (int r = 0; r < ROWS; r++)
        {
            const __m512bh line = (__m512bh)_mm512_set1_epi32((int)at[r * HOST_PAIRS]);
            sum->at[r][0] = _mm512_dpbf16_ps(sum->at[r][0], line, left);
            sum->at[r][1] = _mm512_dpbf16_ps(sum->at[r][1], line, right);
        }
    }
}

/* Compute some lines of a block. */
AVX512 static void multiply_lines(float *sums, const struct host_run *x,
                                  const struct host_terms *terms, const uint32_t *a,
                                  const uint32_t *b)
{
    struct sums sum;
    UNROLL for (int r = 0; r < ROWS; r++)
    {
        const float *const from = sums + r * HOST_LINES;
        sum.at[r][0] = x->from_zero ? _mm512_setzero_ps() : _mm512_loadu_ps(from);
        sum.at[r][1] = x->from_zero ? _mm512_setzero_ps() : _mm512_loadu_ps(from + LANES);
    }
    for (size_t pair = x->first; pair < x->end; pair++) {
        const size_t step = pair / HOST_PAIRS, in_step = pair % HOST_PAIRS;
        add_pair(&sum, terms, a + step * x->a_step + in_step,
                 b + step * x->b_step + in_step * HOST_SIDE);
    }
    UNROLL for (int r = 0; r < ROWS; r++)
    {
        _mm512_storeu_ps(sums + r * HOST_LINES, sum.at[r][0]);
        _mm512_storeu_ps(sums + r * HOST_LINES + LANES, sum.at[r][1]);
    }
}

static struct host_places places_of_any(size_t down, int accumulators)
{
    enum { BLOCK = HOST_LINES * HOST_LINES };
    return (struct host_places){ .accumulator = BLOCK,
                                 .lower = HOST_SIDE * HOST_LINES,
                                 .right = HOST_SIDE,
                                 .line = HOST_LINES,
                                 .block = (size_t)accumulators * BLOCK,
                                 .column = down * (size_t)accumulators * BLOCK };
}

static void multiply_block(float *sums, const struct host_run *x, const uint32_t *a,
                           const uint32_t *b)
{
    for (int c = 0; c < x->accumulators; c++)
        for (int row = 0; row < HOST_LINES; row += ROWS)
            multiply_lines(sums + (c * HOST_LINES + row) * HOST_LINES, x, &x->terms[c],
                           a + row / HOST_SIDE * HOST_TILE + row % HOST_SIDE * HOST_PAIRS,
                           b);
}

static void multiply(const struct host_run *x)
{
    const struct host_places at = places_of_any(x->down, x->accumulators);
    for (size_t j = 0; j < x->across; j++)
        for (size_t i = 0; i < x->down; i++)
            multiply_block(x->sums + j * at.column + i * at.block, x,
                           x->a + i * x->a_panel, x->b + j * x->b_panel);
}

static void nothing(void) {}

const struct host_code host_avx512_any = { .pairs = 1,
                                           .run = 16 << 10,
                                           .down = HOST_AREA,
                                           .across = 4,
                                           .places = places_of_any,
                                           .begin = nothing,
                                           .multiply = multiply,
                                           .end = nothing };

#endif
