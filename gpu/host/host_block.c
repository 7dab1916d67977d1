/* What becomes of the sums of a block, by AVX512F. */
#include "gpu/host/host_code.h"

#if HOST_HAS_CODE

#include "lib/bits.h"
#include "lib/fma.h"

#include <immintrin.h>

enum { LANES = 16 };

#define AVX512 __attribute__((target("avx512f")))

/* All elements of a block, a vector at a time. */
#define EACH(at)                                                                         \
    for (int i = 0; i < HOST_LINES; i++)                                                 \
        for (int at = 0; at < HOST_LINES; at += LANES)

AVX512 void host_block_fold(host_block *sums, int accumulators, int scale)
{
    const __m512 unscale = _mm512_set1_ps(float_of_bits(f32_power_of_two(-scale)));
    if (accumulators == 1) return;
    EACH(j)
    {
        __m512 v = _mm512_loadu_ps(&sums[accumulators - 1][i][j]);
        for (int c = accumulators - 2; c >= 0; c--)
            v = _mm512_fmadd_ps(v, unscale, _mm512_loadu_ps(&sums[c][i][j]));
        _mm512_storeu_ps(&sums[0][i][j], v);
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

#endif
