#include "gpu/host/host_tiles.h"

#include "gpu/host/host_code.h"
#include "gpu/host/host_words.h"
#include "lib/equilibrate.h"
#include "lib/fma.h"
#include "lib/hostfp.h"
#include "lib/size.h"
#include "lib/threads.h"

#include <string.h>

/* --- sizes ------------------------------------------------------------------------ */

enum { STEP_K = 2 * HOST_PAIRS };

size_t host_panels(const struct operand *x) { return divide_up(x->lines, HOST_LINES); }

size_t host_steps(const struct operand *x) { return divide_up(x->k, STEP_K); }

size_t host_step_elements(const struct operand *x)
{
    return (size_t)x->split->words * 2 * HOST_TILE;
}

size_t host_tiles_bytes(const struct operand *x)
{
    return host_panels(x) * host_steps(x) * host_step_elements(x) * sizeof(uint32_t);
}

#if HOST_HAS_CODE

#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f")))

/* --- words of a vector ------------------------------------------------------------ */

enum { LANES = 16 };

/* What tiles are made of: elements of a matrix, or if there is none, words. */
struct source {
    const struct operand *operand;
    const uint32_t *matrix;
    const void *words;
    const uint32_t *largest;
    bool near; /* words are bf16 to nearest even */
    float up;  /* 2^scale */
};

/* The words of those lanes as split_words() has them. */
static void split_slowly(uint32_t word[SPLIT_WORDS_MOST][LANES], const struct source *s,
                         const uint32_t x[LANES], unsigned lanes)
{
    const struct bitcut_split *const split = s->operand->split;
    for (int i = 0; i < LANES; i++) {
        uint64_t w[SPLIT_WORDS_MOST];
        if (!(lanes >> i & 1)) continue;
        split_words(w, split, x[i]);
        for (int j = 0; j < split->words; j++) word[j][i] = (uint32_t)w[j];
    }
}

/* The words of 16 elements, one a lane.  To nearest even all lanes at once, but for those
   that are not finite or whose residual is not. */
AVX512 static void split_lanes(uint32_t word[SPLIT_WORDS_MOST][LANES],
                               const struct source *s, __m512i x)
{
    const __m512i exponent = _mm512_set1_epi32(0x7f800000), one = _mm512_set1_epi32(1);
    const __m512i half = _mm512_set1_epi32(0x7fff);
    unsigned odd = s->near ? 0 : 0xffff;
    __m512i left = x;
    for (int j = 0; j < s->operand->split->words; j++) {
        const __m512i even = _mm512_and_si512(_mm512_srli_epi32(left, 16), one);
        const __m512i w =
            _mm512_srli_epi32(_mm512_add_epi32(_mm512_add_epi32(left, half), even), 16);
        odd |= _mm512_cmpeq_epi32_mask(_mm512_and_si512(left, exponent), exponent);
        _mm512_storeu_si512(word[j], w);
        const __m512 rest = _mm512_sub_ps(_mm512_castsi512_ps(left),
                                          _mm512_castsi512_ps(_mm512_slli_epi32(w, 16)));
        left = _mm512_castps_si512(_mm512_mul_ps(rest, _mm512_set1_ps(s->up)));
    }
    if (odd) {
        uint32_t all[LANES];
        _mm512_storeu_si512(all, x);
        split_slowly(word, s, all, odd);
    }
}

/* --- tiles ------------------------------------------------------------------------ */

/* The first `count` of 16. */
static __mmask16 first_lanes(size_t count)
{
    return (__mmask16)(count < LANES ? (1u << count) - 1 : 0xffff);
}

/* What is left of `all` behind the first `at`. */
static size_t behind(size_t all, size_t at) { return at < all ? all - at : 0; }

/* Up to 16 elements that lie side by side, those of lines `line` and, if `next`, the
   lines after it, scaled. */
AVX512 static __m512i load_lanes(const struct source *s, const uint32_t *at,
                                 __mmask16 lanes, size_t line, bool next)
{
    uint32_t x[LANES];
    const __m512i all = _mm512_maskz_loadu_epi32(lanes, at);
    if (!s->largest) return all;
    _mm512_storeu_si512(x, all);
    for (size_t i = 0; lanes >> i & 1; i++)
        x[i] = equilibrate_scale(
            x[i], equilibrate_exponent(s->operand->split, s->largest[line + next * i]));
    return _mm512_loadu_si512(x);
}

/* A step of 16 lines from `first` on whose elements lie side by side: [line][pair]. */
AVX512 static void fill_along(uint32_t tile[SPLIT_WORDS_MOST][HOST_TILE],
                              const struct source *s, size_t first, size_t p)
{
    const struct operand *const x = s->operand;
    const size_t lines = smaller(behind(x->lines, first), HOST_SIDE);
    for (size_t i = 0; i < lines; i++)
        for (size_t at = p; at < p + STEP_K; at += LANES) {
            uint32_t word[SPLIT_WORDS_MOST][LANES];
            const uint32_t *from = s->matrix + (first + i) * x->matrix->ld + at;
            split_lanes(
                word, s,
                load_lanes(s, from, first_lanes(behind(x->k, at)), first + i, false));
            for (int j = 0; j < x->split->words; j++)
                _mm256_storeu_si256((__m256i *)(tile[j] + i * HOST_PAIRS + (at - p) / 2),
                                    _mm512_cvtepi32_epi16(_mm512_loadu_si512(word[j])));
        }
    for (int j = 0; j < x->split->words; j++)
        memset(tile[j] + lines * HOST_PAIRS, 0,
               (HOST_SIDE - lines) * HOST_PAIRS * sizeof **tile);
}

/* One whose lines lie side by side: [pair][line]. */
AVX512 static void fill_across(uint32_t tile[SPLIT_WORDS_MOST][HOST_TILE],
                               const struct source *s, size_t first, size_t p)
{
    const struct operand *const x = s->operand;
    const __mmask16 lanes = first_lanes(behind(x->lines, first));
    for (size_t pair = 0; pair < HOST_PAIRS; pair++) {
        uint32_t word[2][SPLIT_WORDS_MOST][LANES];
        for (size_t odd = 0; odd < 2; odd++) {
            const size_t at = p + 2 * pair + odd;
            const uint32_t *from = s->matrix + at * x->matrix->ld + first;
            split_lanes(word[odd], s,
                        load_lanes(s, from, at < x->k ? lanes : 0, first, true));
        }
        for (int j = 0; j < x->split->words; j++)
            _mm512_storeu_si512(
                tile[j] + pair * HOST_SIDE,
                _mm512_or_si512(_mm512_loadu_si512(word[0][j]),
                                _mm512_slli_epi32(_mm512_loadu_si512(word[1][j]), 16)));
    }
}

/* One of words: [line][pair]. */
static void fill_words(uint32_t tile[SPLIT_WORDS_MOST][HOST_TILE], const struct source *s,
                       size_t first, size_t p)
{
    const struct operand *const x = s->operand;
    const size_t lines = smaller(behind(x->lines, first), HOST_SIDE);
    for (int j = 0; j < x->split->words; j++) {
        memset(tile[j], 0, HOST_TILE * sizeof **tile);
        for (size_t i = 0; i < lines; i++)
            memcpy(tile[j] + i * HOST_PAIRS,
                   (const uint16_t *)host_words_line((void *)s->words, x, j, first + i) +
                       p,
                   HOST_PAIRS * sizeof **tile);
    }
}

static void transpose(uint32_t *to, const uint32_t *from)
{
    for (int i = 0; i < HOST_SIDE; i++)
        for (int j = 0; j < HOST_PAIRS; j++)
            to[j * HOST_SIDE + i] = from[i * HOST_PAIRS + j];
}

/* Both tiles of each word of one step. */
static void step_make(uint32_t *to, const struct source *s, size_t panel, size_t step,
                      bool across)
{
    const struct operand *const x = s->operand;
    const bool lies_across = s->matrix && x->across;
    for (size_t half = 0; half < 2; half++) {
        _Alignas(64) uint32_t tile[SPLIT_WORDS_MOST][HOST_TILE];
        const size_t first = panel * HOST_LINES + half * HOST_SIDE, p = step * STEP_K;
        if (!s->matrix) fill_words(tile, s, first, p);
        else if (lies_across) fill_across(tile, s, first, p);
        else fill_along(tile, s, first, p);
        for (size_t j = 0; j < (size_t)x->split->words; j++) {
            uint32_t *const at = to + (2 * j + half) * HOST_TILE;
            if (across == lies_across) memcpy(at, tile[j], sizeof tile[j]);
            else transpose(at, tile[j]);
        }
    }
}

/* All of them, those next to each other in the source one after the other. */
static void tiles_make(uint32_t *to, const struct source *s, bool across)
{
    enum { RUN = 16 };
    const struct operand *const x = s->operand;
    const size_t panels = host_panels(x), steps = host_steps(x);
    const bool lies_across = s->matrix && x->across;
    const size_t outer = lies_across ? steps : panels,
                 inner = lies_across ? panels : steps;
    const size_t runs = divide_up(inner, RUN), elements = host_step_elements(x);
#pragma omp parallel num_threads(threads_for(0, outer *runs))
    {
        struct hostfp saved;
        hostfp_enter(&saved);
#pragma omp for schedule(static)
        for (size_t n = 0; n < outer * runs; n++) {
            const size_t o = n / runs, first = n % runs * RUN;
            for (size_t i = first; i < smaller(first + RUN, inner); i++) {
                const size_t panel = lies_across ? i : o, step = lies_across ? o : i;
                step_make(to + (panel * steps + step) * elements, s, panel, step, across);
            }
        }
        hostfp_leave(&saved);
    }
}

void host_tiles_make(uint32_t *to, const struct operand *x, size_t i,
                     const uint32_t *largest, bool across)
{
    const struct source s = { .operand = x,
                              .matrix = matrix_nth(x->matrix, i),
                              .largest = largest,
                              .near = host_words_are_near(x->split),
                              .up = float_of(f32_power_of_two(x->split->scale)) };
    tiles_make(to, &s, across);
}

void host_tiles_take(uint32_t *to, const struct operand *x, const void *words,
                     bool across)
{
    const struct source s = { .operand = x, .words = words };
    tiles_make(to, &s, across);
}

#endif
