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

/* The parts of 16 elements, one element in each lane.  A part is in the upper half of its
   lane; the lower half does not matter. */
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
        for (int j = 0; j < split->parts; j++) part[j][i] = (uint32_t)w[j] << 16;
    }
    for (int j = 0; j < split->parts; j++) to->part[j] = _mm512_loadu_si512(part[j]);
}

/* Split all lanes at once to nearest even, except lanes that are not finite or whose
   residual is not, and subnormal lanes if these are flushed.  Every residual of a lane is
   a NaN or infinite if one before it is, so that the last one shows all of them. */
INLINE static void split_lanes(struct lanes *to, const struct source *s, int parts,
                               __m512i x)
{
    const __m512i exponent = _mm512_set1_epi32(0x7f800000), one = _mm512_set1_epi32(1);
    const __m512i half = _mm512_set1_epi32(0x7fff), upper = _mm512_set1_epi32(~0xffff);
    const __m512 up = _mm512_set1_ps(s->up);
    unsigned odd = s->near ? 0 : 0xffff;
    __m512i left = x;
    UNROLL for (int j = 0; j < parts; j++)
    {
        const __m512i even = _mm512_and_si512(_mm512_srli_epi32(left, 16), one);
        const __m512i w = _mm512_add_epi32(_mm512_add_epi32(left, half), even);
        if (s->flush)
            odd |= _mm512_testn_epi32_mask(left, exponent) &
                   _mm512_test_epi32_mask(left, _mm512_set1_epi32(0x7fffff));
        to->part[j] = w;
        if (j == parts - 1) break;
        const __m512 rest = _mm512_sub_ps(
            _mm512_castsi512_ps(left), _mm512_castsi512_ps(_mm512_and_si512(w, upper)));
        left = _mm512_castps_si512(_mm512_mul_ps(rest, up));
    }
    odd |= _mm512_cmpeq_epi32_mask(_mm512_and_si512(left, exponent), exponent);
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

/* Make row `i` of the tiles: pairs of an element of `even` and the same lane of `odd`. */
INLINE static void make_row(const struct lines *x, int parts, size_t i, __m512i even,
                            __m512i odd)
{
    const __m512i upper = _mm512_set1_epi32(~0xffff);
    struct lanes first, second;
    split_lanes(&first, x->source, parts, even);
    split_lanes(&second, x->source, parts, odd);
    UNROLL for (int j = 0; j < parts; j++)
    {
        const __m512i below = _mm512_srli_epi32(first.part[j], 16);
        _mm512_storeu_si512(
            x->tile[j] + i * HOST_PAIRS,
            _mm512_ternarylogic_epi32(upper, second.part[j], below, 0xca));
    }
}

/* Lines whose elements are adjacent in memory: [line][pair]. */
INLINE static void fill_along(const struct lines *x, int parts)
{
    const struct operand *const o = x->source->operand;
    const __m512i even =
        _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    for (size_t i = 0; i < x->count; i++) {
        const uint32_t *from = x->source->matrix + (x->first + i) * o->matrix->ld + x->p;
        const __m512 exponent = _mm512_set1_ps(x->exponent[i]);
        __m512i half[2];
        UNROLL for (size_t n = 0; n < 2; n++)
        {
            const __mmask16 lanes = first_lanes(behind(o->k, x->p + n * LANES));
            __builtin_prefetch(from + n * LANES + AHEAD);
            half[n] = load_lanes(x->source, from + n * LANES, lanes, exponent);
        }
        make_row(x, parts, i, _mm512_permutex2var_epi32(half[0], even, half[1]),
                 _mm512_permutex2var_epi32(half[0], odd, half[1]));
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
        __m512i row[2];
        UNROLL for (size_t odd = 0; odd < 2; odd++)
        {
            const size_t at = x->p + 2 * pair + odd;
            const uint32_t *from = x->source->matrix + at * o->matrix->ld + x->first;
            __builtin_prefetch(from + AHEAD);
            row[odd] = load_lanes(x->source, from, at < o->k ? lanes : 0, exponent);
        }
        make_row(x, parts, pair, row[0], row[1]);
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

/* Tiles, or parts in lines, that are made from a source. */
struct job {
    struct host_tiles tiles;
    struct source source;
    uint32_t *at;
    char *parts; /* NULL: tiles */
};

static void step_give(const struct job *x, size_t panel, size_t step)
{
    const struct operand *const o = x->source.operand;
    uint32_t made[SPLIT_PARTS_MAX * HOST_PART];
    if (!x->parts) {
        step_make(x->at + host_step_at(&x->tiles, panel, step), &x->source, panel, step,
                  x->tiles.across);
        return;
    }
    step_make(made, &x->source, panel, step, false);
    for (int j = 0; j < o->split->parts; j++)
        for (size_t i = 0; i < HOST_LINES && panel * HOST_LINES + i < o->lines; i++)
            memcpy(host_parts_line(x->parts, o, j, panel * HOST_LINES + i) +
                       step * STEP_K * sizeof(uint16_t),
                   made + (size_t)j * HOST_PART + i * HOST_PAIRS,
                   STEP_K * sizeof(uint16_t));
}

/* A job in pieces of up to PIECE panels or steps that lie next to each other in the
   source. */
struct pieces {
    bool by_steps;  /* whether a piece is a part of one step of all panels, not of one
                       panel */
    size_t inner;   /* panels, or steps */
    size_t in_line; /* pieces of one step, or of one panel */
    size_t count;
};

enum { PIECE = 16 };

static struct pieces pieces_of(const struct job *x)
{
    const size_t panels = host_panels(&x->tiles), steps = host_steps(&x->tiles);
    struct pieces to = { .by_steps = lies_across(&x->source) };
    to.inner = to.by_steps ? panels : steps;
    to.in_line = divide_up(to.inner, PIECE);
    to.count = (to.by_steps ? steps : panels) * to.in_line;
    return to;
}

static void piece_make(const struct job *x, const struct pieces *of, size_t n)
{
    const size_t outer = n / of->in_line, first = n % of->in_line * PIECE;
    for (size_t i = first; i < smaller(first + PIECE, of->inner); i++)
        step_give(x, of->by_steps ? i : outer, of->by_steps ? outer : i);
}

/* Do all jobs with one start of the threads.  A thread that runs for less time than
   others takes fewer pieces. */
static void jobs_do(const struct job *jobs, int count)
{
    size_t all = 0;
    for (int i = 0; i < count; i++) all += pieces_of(&jobs[i]).count;
#pragma omp parallel num_threads(threads_for(0, all))
    {
        struct hostfp saved;
        hostfp_enter(&saved);
        for (int i = 0; i < count; i++) {
            const struct pieces pieces = pieces_of(&jobs[i]);
#pragma omp for schedule(dynamic, 1) nowait
            for (size_t n = 0; n < pieces.count; n++) piece_make(&jobs[i], &pieces, n);
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

void host_tiles_make(const struct host_tiles_work *work, int count)
{
    struct job jobs[HOST_TILES_WORK_MAX];
    for (int i = 0; i < count; i++) {
        const struct host_tiles_work *const w = &work[i];
        const struct operand *const o = &w->tiles->operand;
        jobs[i] = (struct job){ .tiles = *w->tiles, .at = w->to };
        jobs[i].source = w->parts ? (struct source){ .operand = o, .parts = w->parts }
                                  : source_of(o, w->matrix, w->largest);
    }
    jobs_do(jobs, count);
}

void host_tiles_parts(void *to, const struct operand *x, size_t i,
                      const uint32_t *largest)
{
    const struct job job = { .tiles = { *x, false, 1 },
                             .source = source_of(x, i, largest),
                             .parts = to };
    jobs_do(&job, 1);
}

#endif
