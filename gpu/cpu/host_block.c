/* SPDX-License-Identifier: BSD-3-Clause */
/* From the sums of a block to outputs, by AVX512F. */
#include "gpu/cpu/host_code.h"

#if HOST_HAS_CODE

#include "lib/number/bits.h"
#include "lib/number/fma.h"

#include <immintrin.h>
#include <string.h>

enum { LANES = 16 };

#define AVX512 __attribute__((target("avx512f")))

/* Loop over all elements of a block, one vector at a time. */
#define EACH(at)                                                                         \
    for (int i = 0; i < HOST_LINES; i++)                                                 \
        for (int at = 0; at < HOST_LINES; at += LANES)

AVX512 void host_block_fold(host_block total, const float *sums,
                            const struct host_places *at, int accumulators, int scale)
{
    const __m512 unscale = _mm512_set1_ps(float_of_bits(f32_power_of_two(-scale)));
    EACH(j)
    {
        const size_t half = (size_t)i / HOST_SIDE, line = (size_t)i % HOST_SIDE;
        const float *const first =
            sums + half * at->lower + (j ? at->right : 0) + line * at->line;
        const float *from = first + (size_t)(accumulators - 1) * at->accumulator;
        __m512 v = _mm512_loadu_ps(from);
        while (from != first) {
            from -= at->accumulator;
            v = _mm512_fmadd_ps(v, unscale, _mm512_loadu_ps(from));
        }
        _mm512_storeu_ps(&total[i][j], v);
    }
}

AVX512 void host_block_add(host_block total, const host_block slice)
{
    EACH(j)
    _mm512_storeu_ps(&total[i][j], _mm512_add_ps(_mm512_loadu_ps(&total[i][j]),
                                                 _mm512_loadu_ps(&slice[i][j])));
}

AVX512 void host_block_finish(host_block total, const struct host_output *to)
{
    const __m512 own_nan = _mm512_castsi512_ps(_mm512_set1_epi32((int)0xffc00000));
    const __m512 alpha = _mm512_set1_ps(to->alpha), beta = _mm512_set1_ps(to->beta);
    EACH(j)
    {
        __m512 v = _mm512_loadu_ps(&total[i][j]);
        if (to->rows)
            v = _mm512_scalef_ps(v, _mm512_sub_ps(_mm512_set1_ps(-to->rows[i]),
                                                  _mm512_loadu_ps(to->cols + j)));
        v = _mm512_mul_ps(alpha, v);
        if (to->c) v = _mm512_fmadd_ps(beta, _mm512_loadu_ps(&(*to->c)[i][j]), v);
        v = _mm512_mask_mov_ps(v, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), own_nan);
        _mm512_storeu_ps(&total[i][j], v);
    }
}

AVX512 void host_write(void *to, const float *from, size_t count, bool past)
{
    if (count < HOST_LINES || !past || (uintptr_t)to % sizeof(__m512)) {
        memcpy(to, from, count * sizeof *from);
        return;
    }
    for (int i = 0; i < HOST_LINES; i += LANES)
        _mm512_stream_ps((float *)to + i, _mm512_loadu_ps(from + i));
}

void host_written(void) { _mm_sfence(); }

#endif
