/* AVX512-BF16.  VDPBF16PS computes, in each of 16 lanes of f32, d += a0 b0 + a1 b1 of a
   pair of bf16 elements, the second first; the first of its sources has A.  Intel SDM
   volume 2, VDPBF16PS. */
#include "gpu/host/host_code.h"
#include "gpu/host/host_recipes.h"

#if HOST_HAS_CODE

#include <immintrin.h>

enum { LANES = 16 };

#define AVX512 __attribute__((target("avx512f,avx512bf16")))

/* Pairs of a fragment: that of A in all lanes, those of B side by side. */
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

/* Lines of A at a time, so that their sums are in registers. */
#define ROWS(ACCUMULATORS) ((ACCUMULATORS) == 1 ? 16 : 4)

/* A term of a pair, whose place in the tiles is `across` and, of row 0, `along`. */
#define PRODUCT(A, B, ACCUMULATOR)                                                       \
    UNROLL for (int r = 0; r < rows; r++) sum[ACCUMULATOR][r] =                          \
        _mm512_dpbf16_ps(sum[ACCUMULATOR][r],                                            \
                         (__m512bh)_mm512_set1_epi32(                                    \
                             (int)x->a[(A)*x->a_word + along + (size_t)r * HOST_PAIRS]), \
                         (__m512bh)_mm512_loadu_si512(x->b + (B)*x->b_word + across));

#define SUMS(RECIPE, WORDS, ACCUMULATORS)                                                \
    AVX512 void host_avx512_##RECIPE(host_block sums[RECIPE_ACCUMULATORS_MOST],          \
                                     const struct host_slice *x)                         \
    {                                                                                    \
        enum { rows = ROWS(ACCUMULATORS) };                                              \
        for (int row = 0; row < HOST_SIDE; row += rows) {                                \
            __m512 sum[ACCUMULATORS][rows];                                              \
            for (int c = 0; c < (ACCUMULATORS); c++)                                     \
                UNROLL for (int r = 0; r < rows; r++) sum[c][r] = _mm512_setzero_ps();   \
            for (size_t pair = x->first; pair < x->end; pair++) {                        \
                const size_t tile = pair / HOST_PAIRS * HOST_TILE;                       \
                const size_t across = tile + pair % HOST_PAIRS * HOST_SIDE;              \
                const size_t along =                                                     \
                    tile + (size_t)row * HOST_PAIRS + pair % HOST_PAIRS;                 \
                HOST_TERMS_##RECIPE(PRODUCT)                                             \
            }                                                                            \
            for (int c = 0; c < (ACCUMULATORS); c++)                                     \
                UNROLL for (int r = 0; r < rows; r++)                                    \
                    _mm512_storeu_ps(sums[c][row + r], sum[c][r]);                       \
        }                                                                                \
    }

HOST_RECIPES(SUMS)

#endif
