/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/cpu/host_areas.h"

#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/number/bits.h"
#include "lib/number/equilibrate.h"
#include "lib/number/hostfp.h"

#include <stdint.h>

#if HOST_HAS_CODE

/* --- how it is cut ---------------------------------------------------------------- */

static void terms_set(struct host_terms terms[RECIPE_ACCUMULATORS_MAX],
                      const struct gpu_program *program)
{
    for (int t = 0; t < program->terms; t++) {
        const struct recipe_term *const term = &program->term[t];
        struct host_terms *const to = &terms[term->accumulator];
        to->at[to->count].a = (size_t)term->a * HOST_PART;
        to->at[to->count++].b = (size_t)term->b * HOST_PART;
    }
}

static struct host_tiles tiles_of(const struct host_areas *p, enum bitcut_operand which)
{
    struct host_tiles x = { operand_of(p->work, which), which == BITCUT_B, 0 };
    x.run = p->code->run / sizeof(uint32_t) / host_step_elements(&x);
    return x;
}

void host_areas_set(struct host_areas *p, const struct gpu_work *w,
                    const struct host_code *code)
{
    *p = (struct host_areas){ .work = w, .code = code };
    p->a.tiles = tiles_of(p, BITCUT_A);
    p->b.tiles = tiles_of(p, BITCUT_B);
    terms_set(p->terms, &w->kernel->program);
    p->down = smaller(divide_up(w->gemm.m, HOST_LINES), code->down);
    p->across = smaller(divide_up(w->gemm.n, HOST_LINES), code->across);
    p->room =
        p->across * (p->down * sizeof(host_block) +
                     code->places(p->down, w->plan.accumulators).column * sizeof(float));
}

/* --- sums ------------------------------------------------------------------------- */

/* Outputs of this many bytes do not stay in caches anyway.  They are written with
   non-temporal stores. */
enum { PAST_BYTES = 1 << 20 };

/* Elements of a cache line. */
enum { LINE_ELEMENTS = 16 };

/* The part of D on which a thread works: its position, in blocks, and the thread's data
   for it.  The thread goes through k one run at a time. */
struct area {
    size_t i, j, down, across;
    host_block *totals; /* [i][j]: sums of the slices that are folded */
    float *sums;        /* sums of a slice, in the order of the code's places */
};

static uint32_t *element(const struct bitcut_matrix *x, size_t i, size_t j)
{
    uint32_t *const at = (uint32_t *)x->to;
    return x->layout == BITCUT_COLUMN_MAJOR ? at + j * x->ld + i : at + i * x->ld + j;
}

/* The run that begins with this step, of the area's panels; the range of its pairs is
   still open. */
static struct host_run run_of(const struct area *x, const struct host_areas *p,
                              size_t step)
{
    const struct host_tiles *const a = &p->a.tiles, *const b = &p->b.tiles;
    const size_t next = step + a->run, steps = host_steps(a);
    const bool more = next < steps;
    return (struct host_run){
        .a = p->a.at + host_step_at(a, x->i, step),
        .b = p->b.at + host_step_at(b, x->j, step),
        .a_panel = host_step_at(a, 1, 0),
        .b_panel = host_step_at(b, 1, 0),
        .a_step = host_step_elements(a),
        .b_step = host_step_elements(b),
        .down = x->down,
        .across = x->across,
        .accumulators = p->work->plan.accumulators,
        .terms = p->terms,
        .sums = x->sums,
        .a_next = p->a.at + host_step_at(a, x->i, more ? next : step),
        .b_next = p->b.at + host_step_at(b, x->j, more ? next : step),
        .next_lines =
            more ? smaller(a->run, steps - next) * host_step_elements(a) / LINE_ELEMENTS
                 : 0,
    };
}

/* Add the sums of a slice to the totals of each block. */
static void area_fold(const struct area *x, const struct host_areas *p, bool first)
{
    const struct gemm_plan *const plan = &p->work->plan;
    const struct host_places at = p->code->places(x->down, plan->accumulators);
    for (size_t i = 0; i < x->down; i++)
        for (size_t j = 0; j < x->across; j++) {
            host_block slice;
            host_block *const total = &x->totals[i * x->across + j];
            host_block_fold(first ? *total : slice,
                            x->sums + i * at.block + j * at.column, &at,
                            plan->accumulators, plan->scale);
            if (!first) host_block_add(*total, slice);
        }
}

/* Compute the sums of an area over all slices. */
static void area_sums(const struct area *x, const struct host_areas *p)
{
    const struct gemm_plan *const plan = &p->work->plan;
    const size_t length = p->a.tiles.run;
    const size_t unit = p->code->pairs;
    const size_t units = divide_up(divide_up(p->gemm.k, 2), unit);
    const size_t pairs = units * unit;
    const size_t each = divide_up(units, (size_t)plan->order.slices) * unit;
    size_t slice = 0;
    do {
        const size_t end = smaller(slice + each, pairs);
        size_t at = slice;
        do {
            const size_t step = at / HOST_PAIRS / length * length;
            const size_t begin = step * HOST_PAIRS;
            const size_t next = smaller(begin + length * HOST_PAIRS, end);
            struct host_run run = run_of(x, p, step);
            run.first = at - begin;
            run.end = next - begin;
            run.from_zero = at == slice;
            p->code->multiply(&run);
            at = next;
        } while (at < end);
        area_fold(x, p, !slice);
        slice = end;
    } while (slice < pairs);
}

/* --- outputs ---------------------------------------------------------------------- */

/* A row of an area's blocks, and its part of D. */
struct strip {
    host_block *blocks;
    size_t i, j, rows, cols;
};

static float *strip_at(const struct strip *x, size_t i, size_t j)
{
    return &x->blocks[j / HOST_LINES][i][j % HOST_LINES];
}

/* Read C of a strip, as blocks. */
static void strip_read(const struct strip *x, const struct bitcut_matrix *c)
{
    for (size_t i = 0; i < x->rows; i++)
        for (size_t j = 0; j < x->cols; j++)
            *strip_at(x, i, j) = float_of_bits(*element(c, x->i + i, x->j + j));
}

/* Write D of a strip, line by line through all blocks, so that each page is accessed
   once. */
static void strip_write(const struct strip *x, const struct bitcut_matrix *d, bool past)
{
    if (d->layout == BITCUT_ROW_MAJOR)
        for (size_t i = 0; i < x->rows; i++)
            for (size_t j = 0; j < x->cols; j += HOST_LINES)
                host_write(element(d, x->i + i, x->j + j), strip_at(x, i, j),
                           smaller(x->cols - j, HOST_LINES), past);
    else
        for (size_t j = 0; j < x->cols; j++) {
            float line[HOST_LINES];
            for (size_t i = 0; i < x->rows; i++) line[i] = *strip_at(x, i, j);
            host_write(element(d, x->i, x->j + j), line, x->rows, past);
        }
}

/* Exponents by which lines were scaled, for up to HOST_AREA * HOST_LINES lines. */
static const float *exponents_of(float to[HOST_AREA * HOST_LINES],
                                 const struct host_half *x, size_t first, size_t lines)
{
    if (!x->largest) return NULL;
    for (size_t i = 0; i < lines; i++)
        to[i] =
            (float)equilibrate_exponent(x->tiles.operand.split, x->largest[first + i]);
    return to;
}

/* Make outputs from totals. */
static void strip_finish(const struct strip *x, const struct host_areas *p)
{
    const struct bitcut_gemm *const g = &p->gemm;
    float rows[HOST_AREA * HOST_LINES], cols[HOST_AREA * HOST_LINES];
    host_block c[HOST_AREA];
    const struct strip from = { c, x->i, x->j, x->rows, x->cols };
    struct host_output to = { .alpha = float_of_bits(g->alpha),
                              .beta = float_of_bits(g->beta),
                              .rows = exponents_of(rows, &p->a, x->i, x->rows),
                              .cols = exponents_of(cols, &p->b, x->j, x->cols) };
    if (gemm_reads_c(g)) strip_read(&from, &g->c);
    for (size_t j = 0; j * HOST_LINES < x->cols; j++) {
        to.c = gemm_reads_c(g) ? (const host_block *)&c[j] : NULL;
        host_block_finish(x->blocks[j], &to);
        if (to.cols) to.cols += HOST_LINES;
    }
    strip_write(x, &g->d, g->m * g->n * sizeof(float) >= PAST_BYTES);
}

static void area_finish(const struct area *x, const struct host_areas *p)
{
    struct strip s = { .j = x->j * HOST_LINES };
    s.cols = smaller(p->gemm.n - s.j, x->across * HOST_LINES);
    for (size_t i = 0; i < x->down; i++) {
        s.blocks = x->totals + i * x->across;
        s.i = (x->i + i) * HOST_LINES;
        s.rows = smaller(p->gemm.m - s.i, HOST_LINES);
        strip_finish(&s, p);
    }
}

/* --- all of it -------------------------------------------------------------------- */

/* Areas of D, in blocks.  They are smaller if there would be fewer than two for each
   thread.  The last areas are cut into strips, so that all threads end at about the same
   time, although some are slower, because other programs run on their processors. */
struct shape {
    size_t rows, cols;   /* blocks of D */
    size_t down, across; /* blocks of an area */
    size_t whole;        /* number of areas before the ones that are cut  */
    size_t strips;       /* number of strips of an area that is cut */
};

enum { STRIPS = 3 };

static size_t shape_areas(const struct shape *x)
{
    return divide_up(x->rows, x->down) * divide_up(x->cols, x->across);
}

/* The number of pieces: areas and strips. */
static size_t shape_pieces(const struct shape *x)
{
    return x->whole + (shape_areas(x) - x->whole) * x->strips;
}

static struct shape shape_for(const struct host_areas *p, size_t threads)
{
    struct shape x = { .rows = host_panels(&p->a.tiles),
                       .cols = host_panels(&p->b.tiles),
                       .down = p->down,
                       .across = p->across };
    while (shape_areas(&x) < 2 * threads && x.down * x.across > 1)
        if (x.down > x.across) x.down--;
        else x.across--;
    const size_t areas = shape_areas(&x);
    const size_t cut = threads > 1 ? smaller(areas, threads + threads / 2) : 0;
    x.whole = areas - cut;
    x.strips = smaller(x.across, STRIPS);
    return x;
}

/* The place of piece n.  A strip at the right edge of D may have no columns. */
static void area_place(struct area *x, const struct shape *s, size_t n)
{
    const size_t late = n < s->whole ? 0 : n - s->whole;
    const size_t strips = n < s->whole ? 1 : s->strips, strip = late % strips;
    const size_t area = n < s->whole ? n : s->whole + late / strips;
    const size_t in_row = divide_up(s->cols, s->across);
    const size_t first = area % in_row * s->across;
    const size_t across = smaller(s->cols - first, s->across);
    x->i = area / in_row * s->down;
    x->j = first + across * strip / strips;
    x->down = smaller(s->rows - x->i, s->down);
    x->across = first + across * (strip + 1) / strips - x->j;
}

void host_areas_run(const struct host_areas *p, char *rooms, int most)
{
    const int wanted = smaller_int(most, threads_for(0, SIZE_MAX));
    const struct shape shape = shape_for(p, (size_t)wanted);
    const size_t pieces = shape_pieces(&shape);
#pragma omp parallel num_threads(threads_for(wanted, pieces))
    {
        struct hostfp saved;
        struct area x;
        x.totals = (host_block *)(rooms + (size_t)threads_number() * p->room);
        x.sums = (float *)(x.totals + p->down * p->across);
        hostfp_enter(&saved);
        p->code->begin();
#pragma omp for schedule(dynamic, 1)
        for (size_t n = 0; n < pieces; n++) {
            area_place(&x, &shape, n);
            if (!x.across) continue;
            area_sums(&x, p);
            area_finish(&x, p);
        }
        p->code->end();
        host_written();
        hostfp_leave(&saved);
    }
}

#endif
