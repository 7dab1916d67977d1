/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/cpu/host_tiles.h"

#include "gpu/cpu/host_code.h"
#include "gpu/cpu/host_parts.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/number/equilibrate.h"
#include "lib/number/fma.h"
#include "lib/number/hostfp.h"

#include <string.h>

/* --- sizes ------------------------------------------------------------------------ */

enum { STEP_K = 2 * HOST_PAIRS };

size_t host_panels(const struct host_tiles *x)
{
    return divide_up(x->operand.lines, HOST_LINES);
}

size_t host_steps(const struct host_tiles *x) { return divide_up(x->operand.k, STEP_K); }

size_t host_step_elements(const struct host_tiles *x)
{
    return (size_t)x->operand.split->parts * HOST_PART;
}

size_t host_step_at(const struct host_tiles *x, size_t panel, size_t step)
{
    return ((step / x->run * host_panels(x) + panel) * x->run + step % x->run) *
           host_step_elements(x);
}

/* The last run is as long as the others. */
size_t host_tiles_bytes(const struct host_tiles *x)
{
    const size_t runs = divide_up(host_steps(x), x->run);
    return host_step_at(x, 0, runs * x->run) * sizeof(uint32_t);
}

#if HOST_HAS_CODE

#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f")))
#define INLINE __attribute__((target("avx512f"), always_inline)) inline
#define UNROLL _Pragma("GCC unroll 4")

/* --- parts of a vector ------------------------------------------------------------ */

enum { LANES = 16 };

/* The source of tiles: elements of a matrix; or prepared parts, if there is no matrix. */
struct source {
    const struct operand *operand;
    const uint32_t *matrix;
    const void *parts;
    const uint32_t *largest;
    bool near;  /* whether parts are bf16 to nearest even */
    bool flush; /* whether a part is zero if its source is subnormal    */
    float up;   /* 2^scale */
};

/* The parts of 16 elements, one element in each lane. */
struct lanes {
    __m512i part[SPLIT_PARTS_MAX];
};

/* Whether all parts are bf16, to nearest even. */
static bool split_is_near(const struct bitcut_split *s)
{
    for (int j = 0; j < s->parts; j++)
        if (s->part[j].format != &formats[FORMAT_BF16] ||
            (s->part[j].rounding != &roundings[ROUND_RN] &&
             s->part[j].rounding != &roundings[ROUND_RN_DAZ]))
            return false;
    return split_is_uniform(s);
}

/* Whether a part is zero if its source is subnormal. */
static bool split_flushes(const struct bitcut_split *s)
{
    bool any = false;
    for (int j = 0; j < s->parts; j++) any |= s->part[j].rounding->flush != FLUSH_NONE;
    return any;
}

/* The parts of some lanes, by split_apply(). */
AVX512 static void split_slowly(struct lanes *to, const struct source *s, __m512i x,
                                unsigned lanes)
{
    const struct bitcut_split *const split = s->operand->split;
    uint32_t from[LANES], part[SPLIT_PARTS_MAX][LANES];
    _mm512_storeu_si512(from, x);
    for (int j = 0; j < split->parts; j++) _mm512_storeu_si512(part[j], to->part[j]);
    for (int i = 0; i < LANES; i++) {
        uint64_t w[SPLIT_PARTS_MAX];
        if (!(lanes >> i & 1)) continue;
        split_apply(w, split, from[i]);
        for (int j = 0; j < split->parts; j++) part[j][i] = (uint32_t)w[j];
    }
    for (int j = 0; j < split->parts; j++) to->part[j] = _mm512_loadu_si512(part[j]);
}

/* Split all lanes at once to nearest even, except lanes that are not finite or whose
   residual is not, and subnormal lanes if these are flushed. */
INLINE static void split_lanes(struct lanes *to, const struct source *s, int parts,
                               __m512i x)
{
    const __m512i exponent = _mm512_set1_epi32(0x7f800000), one = _mm512_set1_epi32(1);
    const __m512i half = _mm512_set1_epi32(0x7fff);
    const __m512 up = _mm512_set1_ps(s->up);
    unsigned odd = s->near ? 0 : 0xffff;
    __m512i left = x;
    UNROLL for (int j = 0; j < parts; j++)
    {
        const __m512i even = _mm512_and_si512(_mm512_srli_epi32(left, 16), one);
        const __m512i w =
            _mm512_srli_epi32(_mm512_add_epi32(_mm512_add_epi32(left, half), even), 16);
        odd |= _mm512_cmpeq_epi32_mask(_mm512_and_si512(left, exponent), exponent);
        if (s->flush)
            odd |= _mm512_testn_epi32_mask(left, exponent) &
                   _mm512_test_epi32_mask(left, _mm512_set1_epi32(0x7fffff));
        to->part[j] = w;
        const __m512 rest = _mm512_sub_ps(_mm512_castsi512_ps(left),
                                          _mm512_castsi512_ps(_mm512_slli_epi32(w, 16)));
        left = _mm512_castps_si512(_mm512_mul_ps(rest, up));
    }
    if (odd) split_slowly(to, s, x, odd);
}

/* --- tiles ------------------------------------------------------------------------ */

/* Number of elements of the source by which prefetches run ahead of reads. */
enum { AHEAD = 256 };

/* Up to 16 lines of one step, and the addresses of their tiles for each part. */
struct lines {
    const struct source *source;
    size_t first, count, p;
    float exponent[HOST_SIDE]; /* exponents of equilibrated lines    */
    uint32_t *tile[SPLIT_PARTS_MAX];
};

/* The first `count` of 16 lanes. */
static __mmask16 first_lanes(size_t count)
{
    return (__mmask16)(count < LANES ? (1u << count) - 1 : 0xffff);
}

/* The number of elements of `all` after the first `at`. */
static size_t behind(size_t all, size_t at) { return at < all ? all - at : 0; }

/* Load adjacent elements, multiplied by 2^exponent if lines are equilibrated, and rounded
   as equilibrate_scale() does. */
INLINE static __m512i load_lanes(const struct source *s, const uint32_t *at,
                                 __mmask16 lanes, __m512 exponent)
{
    const __m512i x = _mm512_maskz_loadu_epi32(lanes, at);
    if (!s->largest) return x;
    return _mm512_castps_si512(_mm512_scalef_ps(_mm512_castsi512_ps(x), exponent));
}

/* Lines whose elements are adjacent in memory: [line][pair]. */
INLINE static void fill_along(const struct lines *x, int parts)
{
    const struct operand *const o = x->source->operand;
    for (size_t i = 0; i < x->count; i++) {
        const uint32_t *from = x->source->matrix + (x->first + i) * o->matrix->ld + x->p;
        const __m512 exponent = _mm512_set1_ps(x->exponent[i]);
        UNROLL for (size_t at = 0; at < STEP_K; at += LANES)
        {
            const __mmask16 lanes = first_lanes(behind(o->k, x->p + at));
            struct lanes to;
            __builtin_prefetch(from + at + AHEAD);
            split_lanes(&to, x->source, parts,
                        load_lanes(x->source, from + at, lanes, exponent));
            UNROLL for (int j = 0; j < parts; j++)
                _mm256_storeu_si256((__m256i *)(x->tile[j] + i * HOST_PAIRS + at / 2),
                                    _mm512_cvtepi32_epi16(to.part[j]));
        }
    }
    for (int j = 0; j < parts; j++)
        memset(x->tile[j] + x->count * HOST_PAIRS, 0,
               (HOST_SIDE - x->count) * HOST_PAIRS * sizeof(uint32_t));
}

/* Lines that are adjacent in memory: [pair][line]. */
INLINE static void fill_across(const struct lines *x, int parts)
{
    const struct operand *const o = x->source->operand;
    const __mmask16 lanes = first_lanes(x->count);
    const __m512 exponent = _mm512_loadu_ps(x->exponent);
    for (size_t pair = 0; pair < HOST_PAIRS; pair++) {
        struct lanes to[2];
        UNROLL for (size_t odd = 0; odd < 2; odd++)
        {
            const size_t at = x->p + 2 * pair + odd;
            const uint32_t *from = x->source->matrix + at * o->matrix->ld + x->first;
            __builtin_prefetch(from + AHEAD);
            split_lanes(&to[odd], x->source, parts,
                        load_lanes(x->source, from, at < o->k ? lanes : 0, exponent));
        }
        UNROLL for (int j = 0; j < parts; j++) _mm512_storeu_si512(
            x->tile[j] + pair * HOST_SIDE,
            _mm512_or_si512(to[0].part[j], _mm512_slli_epi32(to[1].part[j], 16)));
    }
}

/* A copy of the code for each number of parts. */
AVX512 static void fill(const struct lines *x)
{
    const struct operand *const o = x->source->operand;
    switch (o->split->parts | o->across << 2) {
    case 1: fill_along(x, 1); break;
    case 2: fill_along(x, 2); break;
    case 3: fill_along(x, 3); break;
    case 5: fill_across(x, 1); break;
    case 6: fill_across(x, 2); break;
    case 7: fill_across(x, 3); break;
    }
}

_Static_assert(SPLIT_PARTS_MAX == 3, "a case for each");

/* From prepared parts: [line][pair]. */
static void fill_parts(const struct lines *x)
{
    const struct operand *const o = x->source->operand;
    void *const parts = (void *)x->source->parts;
    for (int j = 0; j < o->split->parts; j++) {
        memset(x->tile[j], 0, HOST_TILE * sizeof(uint32_t));
        for (size_t i = 0; i < x->count; i++)
            memcpy(x->tile[j] + i * HOST_PAIRS,
                   host_parts_line(parts, o, j, x->first + i) + x->p * sizeof(uint16_t),
                   STEP_K * sizeof(uint16_t));
    }
}

static void transpose(uint32_t *to, const uint32_t *from)
{
    for (int i = 0; i < HOST_SIDE; i++)
        for (int j = 0; j < HOST_PAIRS; j++)
            to[j * HOST_SIDE + i] = from[i * HOST_PAIRS + j];
}

/* Whether the tiles of the source are naturally [pair][line]. */
static bool lies_across(const struct source *s)
{
    return s->matrix && s->operand->across;
}

/* Make both tiles of each part of one step. */
static void step_make(uint32_t *to, const struct source *s, size_t panel, size_t step,
                      bool across)
{
    const struct operand *const o = s->operand;
    const int parts = o->split->parts;
    const bool turn = across != lies_across(s);
    for (size_t half = 0; half < 2; half++, to += HOST_TILE) {
        _Alignas(64) uint32_t turned[SPLIT_PARTS_MAX][HOST_TILE];
        struct lines x = { .source = s,
                           .first = panel * HOST_LINES + half * HOST_SIDE,
                           .p = step * STEP_K };
        x.count = smaller(behind(o->lines, x.first), HOST_SIDE);
        for (int j = 0; j < parts; j++)
            x.tile[j] = turn ? turned[j] : to + (size_t)j * HOST_PART;
        for (size_t i = 0; s->largest && i < x.count; i++)
            x.exponent[i] =
                (float)equilibrate_exponent(o->split, s->largest[x.first + i]);
        if (s->matrix) fill(&x);
        else fill_parts(&x);
        for (int j = 0; turn && j < parts; j++)
            transpose(to + (size_t)j * HOST_PART, turned[j]);
    }
}

/* The destination: tiles, or parts in lines. */
struct target {
    const struct host_tiles *tiles;
    uint32_t *at;
    char *parts; /* NULL: tiles */
};

static void step_give(const struct target *to, const struct source *s, size_t panel,
                      size_t step)
{
    const struct operand *const o = s->operand;
    uint32_t made[SPLIT_PARTS_MAX * HOST_PART];
    if (!to->parts) {
        step_make(to->at + host_step_at(to->tiles, panel, step), s, panel, step,
                  to->tiles->across);
        return;
    }
    step_make(made, s, panel, step, false);
    for (int j = 0; j < o->split->parts; j++)
        for (size_t i = 0; i < HOST_LINES && panel * HOST_LINES + i < o->lines; i++)
            memcpy(host_parts_line(to->parts, o, j, panel * HOST_LINES + i) +
                       step * STEP_K * sizeof(uint16_t),
                   made + (size_t)j * HOST_PART + i * HOST_PAIRS,
                   STEP_K * sizeof(uint16_t));
}

/* Make all of them; adjacent lines of the source are made one after the other. */
static void tiles_make(const struct target *to, const struct source *s)
{
    enum { PART = 16 };
    const size_t panels = host_panels(to->tiles), steps = host_steps(to->tiles);
    const bool by_steps = lies_across(s);
    const size_t outer = by_steps ? steps : panels, inner = by_steps ? panels : steps;
    const size_t parts = divide_up(inner, PART);
#pragma omp parallel num_threads(threads_for(0, outer *parts))
    {
        struct hostfp saved;
        hostfp_enter(&saved);
#pragma omp for schedule(static)
        for (size_t n = 0; n < outer * parts; n++) {
            const size_t o = n / parts, first = n % parts * PART;
            for (size_t i = first; i < smaller(first + PART, inner); i++)
                step_give(to, s, by_steps ? i : o, by_steps ? o : i);
        }
        hostfp_leave(&saved);
    }
}

static struct source source_of(const struct operand *x, size_t i, const uint32_t *largest)
{
    return (struct source){ .operand = x,
                            .matrix = matrix_nth(x->matrix, i),
                            .largest = largest,
                            .near = split_is_near(x->split),
                            .flush = split_flushes(x->split),
                            .up = float_of(f32_power_of_two(x->split->scale)) };
}

void host_tiles_make(uint32_t *to, const struct host_tiles *x, size_t i,
                     const uint32_t *largest)
{
    const struct source s = source_of(&x->operand, i, largest);
    tiles_make(&(struct target){ .tiles = x, .at = to }, &s);
}

void host_tiles_take(uint32_t *to, const struct host_tiles *x, const void *parts)
{
    const struct source s = { .operand = &x->operand, .parts = parts };
    tiles_make(&(struct target){ .tiles = x, .at = to }, &s);
}

void host_tiles_parts(void *to, const struct operand *x, size_t i,
                      const uint32_t *largest)
{
    const struct host_tiles tiles = { *x, false, 1 };
    const struct source s = source_of(x, i, largest);
    tiles_make(&(struct target){ .tiles = &tiles, .parts = to }, &s);
}

#endif
