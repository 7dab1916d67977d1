/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/parts.h"

#include "emu/engine.h"
#include "emu/fast/simd.h"
#include "lib/base/size.h"
#include "lib/base/status.h"
#include "lib/base/threads.h"
#include "lib/number/bits.h"
#include "lib/number/equilibrate.h"
#include "lib/number/hostfp.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static uint32_t get(const struct parts *w, int part, size_t at)
{
    switch (format_bytes(w->format[part])) {
    case 1: return ((const uint8_t *)w->at[part])[at];
    case 2: return ((const uint16_t *)w->at[part])[at];
    default: return ((const uint32_t *)w->at[part])[at];
    }
}

static void set(struct parts *w, int part, size_t at, uint32_t encoding)
{
    switch (format_bytes(w->format[part])) {
    case 1: ((uint8_t *)w->at[part])[at] = (uint8_t)encoding; break;
    case 2: ((uint16_t *)w->at[part])[at] = (uint16_t)encoding; break;
    default: ((uint32_t *)w->at[part])[at] = encoding;
    }
}

/* --- making ----------------------------------------------------------------------- */

/* Data for making parts, in addition to the rule. */
struct maker {
    const struct parts_rule *rule;
    bool fast; /* made by the kernels and `split` */
    struct fast_split split[SPLIT_PARTS_MAX];
};

static bool is_widened(const struct parts_rule *r)
{
    return r->operand != r->split->part[0].format;
}

static struct maker maker_make(const struct parts_rule *r)
{
    struct maker m = { .rule = r };
    m.fast = r->kernels && !is_widened(r) && fast_split_make(m.split, r->split);
    return m;
}

/* The magnitudes so far, for each position of a run. */
struct limits {
    uint32_t least[PARTS_RUN], most[PARTS_RUN];
} __attribute__((aligned(64)));

static void limits_start(struct limits *x)
{
    for (int i = 0; i < PARTS_RUN; i++) x->least[i] = INT32_MAX, x->most[i] = 0;
}

/* The magnitudes over all positions. */
static struct magnitudes limits_all(const struct limits *x)
{
    struct magnitudes all = { INT32_MAX, 0 };
    for (int i = 0; i < PARTS_RUN; i++) {
        if (x->least[i] < all.least) all.least = x->least[i];
        if (x->most[i] > all.most) all.most = x->most[i];
    }
    return all;
}

/* Whether an encoding is the encoding of -0 in a format without -0.  It is above all
   magnitudes, as other NaNs are. */
static bool is_fnuz_nan(const struct bitcut_format *f, uint32_t encoding)
{
    return f->special == SPECIAL_FNUZ && encoding == f->nan;
}

/* A part in the format that units read. */
static uint32_t widened(const struct parts *w, const struct maker *m, int j,
                        uint64_t part)
{
    const struct bitcut_format *from = m->rule->split->part[j].format, *to = w->format[j];
    if (to == from) return (uint32_t)part;
    return (uint32_t)bitcut_format_convert(to, &roundings[ROUND_RN], from, part);
}

/* Split FP32 encodings into the elements from `at` on, in a run whose other elements are
   +0.  The elements have the positions from `from` on of one line; in column order, all
   have position `from`. */
static void split_run(struct parts *w, struct limits *limits, const struct maker *m,
                      size_t at, const uint32_t *x, size_t count, size_t from)
{
    for (size_t i = 0; i < count; i++) {
        const size_t p = w->columns ? from : from + i;
        uint64_t part[SPLIT_PARTS_MAX];
        split_apply_at(part, m->rule->split, x[i],
                       m->rule->element ? m->rule->element[p] : p);
        for (int j = 0; j < w->count; j++) {
            const struct bitcut_format *f = w->format[j];
            const uint32_t e = widened(w, m, j, part[j]);
            const uint32_t sign = (uint32_t)1 << (f->bits - 1);
            const uint32_t magnitude = is_fnuz_nan(f, e) ? e : e & (sign - 1);
            set(w, j, at + i, e);
            if (magnitude > limits->most[i]) limits->most[i] = magnitude;
            if (magnitude && magnitude < limits->least[i]) limits->least[i] = magnitude;
        }
    }
}

/* Make the first `count` elements of a run; the other elements are +0.  Element i is
   multiplied by 2 to exponents[i step], unless exponents is NULL. */
static void make_run(struct parts *w, struct limits *limits, const struct maker *m,
                     size_t at, const uint32_t *x, size_t count, size_t from,
                     const int *exponents, size_t step)
{
    uint32_t run[PARTS_RUN] = { 0 };
    if (count < PARTS_RUN || exponents) x = memcpy(run, x, count * sizeof *run);
    for (size_t i = 0; exponents && i < count; i++)
        run[i] = equilibrate_scale(run[i], exponents[i * step]);
    if (m->fast)
        m->rule->kernels->split(w->at, at, limits->least, limits->most, x, m->split,
                                (int)count, w->count, format_bytes(w->format[0]));
    else split_run(w, limits, m, at, x, count, from);
}

static const int *exponents_from(const struct parts *w, size_t line)
{
    return w->exponents ? w->exponents + line : NULL;
}

/* Prefetch.  Runs are far apart, so no processor prefetches them by itself.  Reading
   ahead may leave the matrix: a prefetch never faults. */
static void foresee(const uint32_t *x, size_t ld)
{
    const uintptr_t at = (uintptr_t)x + 8 * ld * sizeof *x;
    for (size_t i = 0; i < PARTS_RUN * sizeof *x; i += 64)
        __builtin_prefetch((const void *)(at + i));
}

enum { SOME_ROWS = 16 };

/* Make some lines that are rows, one run of each at a time. */
static void make_some_rows(struct parts *w, const struct maker *m, struct parts_source x,
                           size_t first, size_t lines, size_t k)
{
    struct limits limits[SOME_ROWS];
    for (size_t j = 0; j < lines; j++) limits_start(&limits[j]);
    for (size_t i = 0; i < k; i += PARTS_RUN)
        for (size_t j = 0; j < lines; j++) {
            const uint32_t *run = x.at + (first + j) * x.ld + i;
            foresee(run, x.ld);
            make_run(w, &limits[j], m, parts_index(w, first + j, i), run,
                     smaller(PARTS_RUN, k - i), i, exponents_from(w, first + j), 0);
        }
    for (size_t j = 0; j < lines; j++) w->magnitudes[first + j] = limits_all(&limits[j]);
}

/* Make lines that are rows, up to PARTS_RUN of them, some at a time for the sake of small
   stacks. */
static void make_rows(struct parts *w, const struct maker *m, struct parts_source x,
                      size_t first, size_t k)
{
    const size_t end = smaller(first + PARTS_RUN, w->lines);
    for (; first < end; first += SOME_ROWS)
        make_some_rows(w, m, x, first, smaller(SOME_ROWS, end - first), k);
}

/* Make lines that are columns, up to PARTS_RUN of them. */
static void make_columns(struct parts *w, const struct maker *m, struct parts_source x,
                         size_t first, size_t k)
{
    const size_t lines = smaller(PARTS_RUN, w->lines - first);
    struct limits limits;
    limits_start(&limits);
    for (size_t i = 0; i < k; i++) {
        const uint32_t *run = x.at + i * x.ld + first;
        foresee(run, x.ld);
        make_run(w, &limits, m, parts_index(w, first, i), run, lines, i,
                 exponents_from(w, first), 1);
    }
    for (size_t i = 0; i < lines; i++)
        w->magnitudes[first + i] = (struct magnitudes){ limits.least[i], limits.most[i] };
}

/* Find the exponents of up to PARTS_RUN lines. */
static void find_exponents(struct parts *w, const struct maker *m, struct parts_source x,
                           size_t first, size_t k)
{
    const size_t lines = smaller(PARTS_RUN, w->lines - first);
    const uint32_t *from = x.at + first * (x.columns ? 1 : x.ld);
    uint32_t largest[PARTS_RUN] = { 0 };
    for (size_t i = 0; i < (x.columns ? k : lines); i++)
        for (size_t j = 0; j < (x.columns ? lines : k); j++) {
            uint32_t *const line = &largest[x.columns ? j : i];
            *line = equilibrate_larger(*line, from[i * x.ld + j]);
        }
    for (size_t i = 0; i < lines; i++)
        w->exponents[first + i] = equilibrate_exponent(m->rule->split, largest[i]);
}

static bool parts_allocate(struct parts *w, bool equilibrate)
{
    const size_t whole = w->columns ? w->lines : w->length, /* in whole runs */
        other = w->columns ? w->length : w->lines;
    size_t count;
    if (!size_multiply(&count, divide_up(whole, PARTS_RUN), other) ||
        !size_multiply(&count, count, PARTS_RUN) || count > SIZE_MAX - PARTS_RUN)
        return false;
    count += PARTS_RUN;
    for (int j = 0; j < w->count; j++)
        if (!(w->at[j] = calloc(count, (size_t)format_bytes(w->format[j])))) return false;
    w->magnitudes = memory_allocate(w->lines, sizeof *w->magnitudes);
    if (equilibrate) w->exponents = memory_allocate(w->lines, sizeof *w->exponents);
    return w->magnitudes && (w->exponents || !equilibrate);
}

/* Make group i of the lines. */
static void make_group(struct parts *w, const struct maker *m, struct parts_source x,
                       size_t i, size_t k)
{
    struct hostfp saved;
    hostfp_enter(&saved);
    if (w->exponents) find_exponents(w, m, x, i * PARTS_RUN, k);
    (x.columns ? make_columns : make_rows)(w, m, x, i * PARTS_RUN, k);
    hostfp_leave(&saved);
}

enum bitcut_status parts_make(struct parts *w, const struct parts_rule *r,
                              struct parts_source x, size_t lines, size_t k,
                              size_t length, int threads)
{
    assert(length >= k);
    const struct maker m = maker_make(r);
    const size_t groups = divide_up(lines, PARTS_RUN);
    const int team =
        threads_for_work(threads, groups, PARTS_RUN * length * (size_t)r->split->parts);
    *w = (struct parts){
        .count = r->split->parts, .lines = lines, .length = length, .columns = x.columns
    };
    for (int i = 0; i < w->count; i++)
        w->format[i] = is_widened(r) ? r->operand : r->split->part[i].format;
    if (!parts_allocate(w, r->equilibrate)) {
        parts_clear(w);
        return BITCUT_NO_MEMORY;
    }
    if (team == 1) {
        for (size_t i = 0; i < groups; i++) make_group(w, &m, x, i, k);
        return BITCUT_OK;
    }
#pragma omp parallel for schedule(static) num_threads(team)
    for (size_t i = 0; i < groups; i++) make_group(w, &m, x, i, k);
    return BITCUT_OK;
}

/* Change the parts at `at` of element k of a line. */
static void respell(struct parts *w, struct magnitudes *all, size_t at,
                    const struct gemm_faults *faults, enum bitcut_operand operand,
                    size_t line, size_t k)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32];
    const struct bitcut_rounding *rn = &roundings[ROUND_RN];
    uint32_t part[SPLIT_PARTS_MAX] = { 0 };
    for (int j = 0; j < w->count; j++)
        part[j] = (uint32_t)bitcut_format_convert(f32, rn, w->format[j], get(w, j, at));
    faults->respell(part, faults->context, operand, line, k);
    for (int j = 0; j < w->count; j++) {
        const struct bitcut_format *f = w->format[j];
        const uint32_t e = (uint32_t)bitcut_format_convert(f, rn, f32, part[j]),
                       magnitude = e & (((uint32_t)1 << (f->bits - 1)) - 1);
        set(w, j, at, e);
        if (magnitude > all->most) all->most = magnitude;
        if (magnitude && magnitude < all->least) all->least = magnitude;
    }
}

void parts_respell(struct parts *w, const struct gemm_faults *faults,
                   enum bitcut_operand operand, const size_t *element, size_t k)
{
    for (size_t line = 0; line < w->lines; line++) {
        struct magnitudes all = { INT32_MAX, 0 };
        for (size_t p = 0; p < w->length; p++) {
            const size_t from = element ? element[p] : p;
            if (from < k)
                respell(w, &all, parts_index(w, line, p), faults, operand, line, from);
        }
        w->magnitudes[line] = all;
    }
}

/* Gather part j of columns, a run of lines at a time. */
static void gather_columns(const struct parts *w, const struct parts *from, int j,
                           const size_t *at)
{
    const size_t bytes = PARTS_RUN * (size_t)format_bytes(w->format[j]);
    char *to = w->at[j];
    for (size_t g = 0; g < divide_up(w->lines, PARTS_RUN); g++) {
        const char *const group = (const char *)from->at[j] + g * from->length * bytes;
        for (size_t p = 0; p < w->length; p++, to += bytes)
            if (at[p] < from->length) memcpy(to, group + at[p] * bytes, bytes);
    }
}

/* The same of rows, an element at a time. */
static void gather_rows(const struct parts *w, const struct parts *from, int j,
                        const size_t *at)
{
    for (size_t p = 0; p < w->length; p++) {
        if (at[p] >= from->length) continue;
        const size_t to = parts_index(w, 0, p), source = parts_index(from, 0, at[p]);
        for (size_t line = 0; line < w->lines * PARTS_RUN; line += PARTS_RUN)
            encoding_put(w->at[j], format_bytes(w->format[j]), to + line,
                         get(from, j, source + line));
    }
}

enum bitcut_status parts_gather(struct parts *w, const struct parts *from,
                                const size_t *at, size_t length)
{
    *w = *from;
    w->length = length;
    for (int j = 0; j < SPLIT_PARTS_MAX; j++) w->at[j] = NULL;
    const size_t whole = w->columns ? w->lines : length,
                 other = w->columns ? length : w->lines,
                 runs = divide_up(whole, PARTS_RUN) * other + 1;
    for (int j = 0; j < w->count; j++) {
        w->at[j] = calloc(runs, PARTS_RUN * (size_t)format_bytes(w->format[j]));
        if (!w->at[j]) {
            parts_clear_gathered(w);
            return BITCUT_NO_MEMORY;
        }
        (w->columns ? gather_columns : gather_rows)(w, from, j, at);
    }
    return BITCUT_OK;
}

void parts_clear_gathered(struct parts *w)
{
    for (int j = 0; j < SPLIT_PARTS_MAX; j++) free(w->at[j]);
    *w = (struct parts){ .count = 0 };
}

void parts_clear(struct parts *w)
{
    for (int j = 0; j < SPLIT_PARTS_MAX; j++) free(w->at[j]);
    free(w->exponents);
    free(w->magnitudes);
    *w = (struct parts){ 0 };
}

bool parts_serve(const struct kept_parts *kept, const struct parts_rule *r,
                 const void *at, size_t lines, size_t k)
{
    return kept->operand == r->operand && kept->at == at && kept->lines == lines &&
           kept->k == k && kept->equilibrate == r->equilibrate &&
           split_same(&kept->split, r->split);
}

void parts_read(struct number *to, const struct parts *w, const struct bitcut_unit *unit,
                int part, size_t line, size_t from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = unit_read(unit, w->format[part],
                          get(w, part, parts_index(w, line, from + i)));
}

bool parts_values(double *const to[SPLIT_PARTS_MAX], const struct bitcut_split *split,
                  const uint32_t *x, size_t lines, size_t k)
{
    const struct simd_level *level;
    const struct parts_source from = { x, k, false };
    size_t *const position = calloc(k + 1, sizeof *position);
    struct parts w;
    if (!position) return false;
    const struct parts_rule rule = { .operand = split->part[0].format,
                                     .split = split,
                                     .kernels = simd_choose(&level, NULL) == BITCUT_OK
                                                    ? level->kernels
                                                    : NULL,
                                     .element = position };
    const bool made = parts_make(&w, &rule, from, lines, k, k, 1) == BITCUT_OK;
    free(position);
    for (int i = 0; i < split->parts && made; i++)
        for (size_t line = 0; line < lines; line++)
            for (size_t p = 0; p < k; p++)
                to[i][line * k + p] =
                    format_to_double(w.format[i], get(&w, i, parts_index(&w, line, p)));
    if (made) parts_clear(&w);
    return made;
}

bool parts_special(const struct parts *w, size_t line)
{
    return w->magnitudes[line].most > format_largest(w->format[0], false);
}
