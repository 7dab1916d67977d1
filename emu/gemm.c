#include "emu/gemm.h"

#include "emu/engine.h"
#include "lib/fma.h"
#include "lib/threads.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Outputs are computed in square tiles, a piece of k at a time, so that the operands of a
   tile stay in cache whatever k is. */
enum { TILE = 16, STEPS_MOST = 32 };

/* The words of one operand as the unit reads them: word w of line i (a row of A or a
   column of B) is the run of `length` numbers at word[w] + i * length, padded with +0 to
   whole instructions. */
struct operand {
    struct number *word[SPLIT_WORDS_MOST];
    size_t lines, length;
};

/* How k is cut: `steps` instructions, of which each slice has `per_slice`, the last one
   what is left. */
struct k_cut {
    size_t steps, per_slice;
};

/* One output in the middle of its computation. */
struct cell {
    uint64_t accumulator[RECIPE_ACCUMULATORS_MOST]; /* encodings of unit->c     */
    uint32_t master;                                /* FP32: promoted so far    */
    uint32_t total;                                 /* FP32: the slices so far  */
    int steps;                                      /* since the last promotion */
};

/* The terms to execute, low*low in its place. */
struct plan {
    struct recipe_term term[RECIPE_TERMS_MOST];
    int terms, last; /* the last accumulator used */
    uint32_t nan;    /* of the FP32 operations    */
};

/* --- making a recipe definite ----------------------------------------------------- */

/* Whether the recipe says where the product of the low words goes, and there is one. */
static bool low_low_fits(const struct gemm *g)
{
    return g->split.words == 2 && g->recipe->low_low.a == 1;
}

static struct plan plan_make(const struct gemm *g)
{
    struct plan p = { .nan = g->unit->c == &formats[FORMAT_F32] ? (uint32_t)g->unit->nan
                                                                : F32_NAN };
    if (g->low_low) p.term[p.terms++] = g->recipe->low_low;
    for (int i = 0; i < g->recipe->terms; i++) p.term[p.terms++] = g->recipe->term[i];
    for (int i = 0; i < p.terms; i++)
        if (p.term[i].accumulator > p.last) p.last = p.term[i].accumulator;
    return p;
}

int gemm_terms(const struct gemm *g) { return g->recipe->terms + g->low_low; }

struct gemm gemm_of(const struct bitcut_recipe *recipe, const struct bitcut_unit *unit)
{
    return (struct gemm){
        .recipe = recipe,
        .unit = unit,
        .split = recipe->split ? *recipe->split : split_plain(unit->a),
        .low_low = recipe->keeps_low_low,
        .promote = recipe->promote,
        .slices = 1,
        .alpha = F32_ONE,
    };
}

enum bitcut_status gemm_check(const struct gemm *g, struct fault *f)
{
    const struct bitcut_unit *u = g->unit;
    if (u->scale)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s needs block scales; no recipe has them", u->name);
    if (u->a != u->b || !format_holds(u->a, g->split.format))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "recipe %s has words of %s, but %s multiplies %s by %s",
                         g->recipe->name, g->split.format->name, u->name, u->a->name,
                         u->b->name);
    if (u->c != &formats[FORMAT_F32] && u->c != &formats[FORMAT_F16])
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s accumulates in %s, not f32 or f16",
                         u->name, u->c->name);
    if (g->low_low && !low_low_fits(g))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "only recipes of two words have a low*low term");
    if (g->promote < 0 || g->threads < 0)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "counts cannot be negative");
    if (g->slices < 1) return fault_set(f, BITCUT_BAD_ARGUMENT, "k has at least one slice");
    const struct plan p = plan_make(g);
    for (int i = 0; i < p.terms; i++) {
        const struct recipe_term t = p.term[i];
        if (t.a >= g->split.words || t.b >= g->split.words)
            return fault_set(f, BITCUT_BAD_ARGUMENT,
                             "recipe %s needs more words than %s has", g->recipe->name,
                             g->split.name);
        if (g->split.scale && t.accumulator != t.a + t.b)
            return fault_set(
                f, BITCUT_BAD_ARGUMENT,
                "recipe %s adds words of different scale; use a split with s = 0",
                g->recipe->name);
    }
    return BITCUT_OK;
}

static size_t divide_up(size_t a, size_t b) { return a / b + (a % b != 0); }

static struct k_cut k_cut_make(const struct gemm *g, size_t k)
{
    const size_t steps = divide_up(k, (size_t)g->unit->k);
    return (struct k_cut){ steps, divide_up(steps, (size_t)g->slices) };
}

/* --- operands --------------------------------------------------------------------- */

static void operand_clear(struct operand *o)
{
    for (int w = 0; w < SPLIT_WORDS_MOST; w++) free(o->word[w]);
    *o = (struct operand){ 0 };
}

static bool operand_allocate(struct operand *o, int words, size_t lines, size_t length)
{
    *o = (struct operand){ .lines = lines, .length = length };
    size_t count;
    if (!size_multiply(&count, lines, length)) return false;
    for (int w = 0; w < words; w++)
        if (!(o->word[w] = memory_allocate(count, sizeof o->word[w][0]))) return false;
    return true;
}

/* A word as the unit reads it, widened to its operand format if that is another. */
static struct number read_word(const struct gemm *g, uint64_t word)
{
    return unit_read(g->unit, g->unit->a,
                     g->unit->a == g->split.format
                         ? word
                         : bitcut_format_convert(g->unit->a, &roundings[ROUND_RN],
                                                 g->split.format, word));
}

/* Split one line: `stride` apart in x, k values, then +0 to the end. */
static void operand_line(struct operand *o, const struct gemm *g, size_t line,
                         const uint32_t *x, size_t stride, size_t k)
{
    for (size_t i = 0; i < o->length; i++) {
        uint64_t word[SPLIT_WORDS_MOST] = { 0 };
        if (i < k) split_words(word, &g->split, x[i * stride]);
        for (int w = 0; w < g->split.words; w++)
            o->word[w][line * o->length + i] = read_word(g, word[w]);
    }
}

static void operand_fill(struct operand *o, const struct gemm *g, const uint32_t *x,
                         size_t line_stride, size_t stride, size_t k, int threads)
{
    (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads_for(threads, o->lines))
    for (size_t i = 0; i < o->lines; i++)
        operand_line(o, g, i, x + i * line_stride, stride, k);
}

/* --- one output ------------------------------------------------------------------- */

static uint32_t to_f32(const struct gemm *g, const struct plan *p, uint64_t accumulator)
{
    if (g->unit->c == &formats[FORMAT_F32]) return (uint32_t)accumulator;
    if (format_decode(g->unit->c, accumulator).class == NUMBER_NAN) return p->nan;
    return (uint32_t)bitcut_format_convert(&formats[FORMAT_F32], &roundings[ROUND_RN],
                                           g->unit->c, accumulator);
}

static uint32_t fma32(const struct plan *p, uint32_t a, uint32_t b, uint32_t c)
{
    return (uint32_t)fma_round(&formats[FORMAT_F32], &roundings[ROUND_RN], p->nan, a, b,
                               c);
}

static uint32_t add32(const struct plan *p, uint32_t a, uint32_t b)
{
    return fma32(p, a, F32_ONE, b);
}

static void promote(struct cell *x, const struct gemm *g, const struct plan *p)
{
    x->master = add32(p, x->master, to_f32(g, p, x->accumulator[0]));
    x->accumulator[0] = 0;
    x->steps = 0;
}

/* Run one k-step: every term once. */
static void cell_step(struct cell *x, const struct gemm *g, const struct plan *p,
                      const struct operand *a, const struct operand *b, size_t i,
                      size_t j, size_t k)
{
    for (int t = 0; t < p->terms; t++) {
        const struct recipe_term term = p->term[t];
        uint64_t *c = &x->accumulator[term.accumulator];
        *c = unit_dot(g->unit, (struct lane){ a->word[term.a] + i * a->length + k, NULL },
                      (struct lane){ b->word[term.b] + j * b->length + k, NULL }, *c);
    }
    if (++x->steps == g->promote) promote(x, g, p);
}

/* The end of a slice: fold the accumulators and add to the slices before. */
static void cell_fold(struct cell *x, const struct gemm *g, const struct plan *p,
                      bool first)
{
    if (g->promote && x->steps) promote(x, g, p);
    uint32_t v = to_f32(g, p, x->accumulator[p->last]);
    if (p->last == 0 && g->promote) v = x->master;
    for (int i = p->last - 1; i >= 0; i--) {
        const uint32_t below =
            i == 0 && g->promote ? x->master : to_f32(g, p, x->accumulator[i]);
        v = fma32(p, v, f32_power_of_two(-g->split.scale), below);
    }
    *x = (struct cell){ .total = first ? v : add32(p, x->total, v) };
}

static uint32_t cell_finish(const struct cell *x, const struct gemm *g,
                            const struct plan *p, const uint32_t *c)
{
    const uint32_t t = fma32(p, g->alpha, x->total, (g->alpha ^ x->total) & 0x80000000u);
    return c ? fma32(p, g->beta, *c, t) : t;
}

/* --- tiles ------------------------------------------------------------------------ */

struct job {
    const struct gemm *g;
    struct plan plan;
    struct k_cut cut;
    struct operand a, b;
    uint32_t *d;
    size_t m, n, ldd;
    const uint32_t *c;
    size_t ldc;
};

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* Advance every cell of a tile through k-steps [from, to). */
static void tile_steps(struct cell x[TILE][TILE], const struct job *job, size_t i0,
                       size_t j0, size_t from, size_t to)
{
    const size_t step = (size_t)job->g->unit->k;
    const size_t rows = smaller(TILE, job->m - i0), cols = smaller(TILE, job->n - j0);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            for (size_t s = from; s < to; s++)
                cell_step(&x[i][j], job->g, &job->plan, &job->a, &job->b, i0 + i, j0 + j,
                          s * step);
}

/* One slice of every cell of a tile: k-steps [from, to), then the fold. */
static void tile_slice(struct cell x[TILE][TILE], const struct job *job, size_t i0,
                       size_t j0, size_t from, size_t to)
{
    for (size_t s = from; s < to; s += STEPS_MOST)
        tile_steps(x, job, i0, j0, s, smaller(s + STEPS_MOST, to));
    for (size_t i = 0; i < smaller(TILE, job->m - i0); i++)
        for (size_t j = 0; j < smaller(TILE, job->n - j0); j++)
            cell_fold(&x[i][j], job->g, &job->plan, from == 0);
}

static void tile_run(const struct job *job, size_t i0, size_t j0)
{
    struct cell x[TILE][TILE] = { 0 };
    for (size_t s = 0; s < job->cut.steps; s += job->cut.per_slice)
        tile_slice(x, job, i0, j0, s, smaller(s + job->cut.per_slice, job->cut.steps));
    for (size_t i = i0; i < smaller(i0 + TILE, job->m); i++)
        for (size_t j = j0; j < smaller(j0 + TILE, job->n); j++)
            job->d[i * job->ldd + j] =
                cell_finish(&x[i - i0][j - j0], job->g, &job->plan,
                            job->c ? &job->c[i * job->ldc + j] : NULL);
}

/* All tiles; false if asked to stop. */
static bool job_run(const struct job *job, int threads, const struct progress *progress)
{
    const size_t down = divide_up(job->m, TILE), across = divide_up(job->n, TILE);
    const size_t tiles = down * across;
    size_t done = 0;
    (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads_for(threads, tiles))
    for (size_t t = 0; t < tiles; t++) {
        if (progress_stopped(progress)) continue;
        tile_run(job, t / across * TILE, t % across * TILE);
        size_t now;
#pragma omp atomic capture
        now = ++done;
        if (threads_first()) progress_report(progress, now, tiles);
    }
    return !progress_stopped(progress);
}

static void copy_rows(uint32_t *to, size_t ld_to, const uint32_t *from, size_t ld_from,
                      size_t rows, size_t cols)
{
    for (size_t i = 0; i < rows; i++)
        memcpy(to + i * ld_to, from + i * ld_from, cols * sizeof *to);
}

/* Operands and a separate D, so that D may be C and a stopped run leaves it alone. */
static enum bitcut_status job_prepare(struct job *job, size_t k, const uint32_t *a,
                                      size_t lda, const uint32_t *b, size_t ldb,
                                      int threads)
{
    const struct gemm *g = job->g;
    const size_t length = job->cut.steps * (size_t)g->unit->k;
    size_t count;
    if (!size_multiply(&count, job->m, job->n) ||
        !operand_allocate(&job->a, g->split.words, job->m, length) ||
        !operand_allocate(&job->b, g->split.words, job->n, length) ||
        !(job->d = memory_allocate(count, sizeof *job->d)))
        return BITCUT_NO_MEMORY;
    job->ldd = job->n;
    operand_fill(&job->a, g, a, lda, 1, k, threads);
    operand_fill(&job->b, g, b, 1, ldb, k, threads);
    return BITCUT_OK;
}

enum bitcut_status gemm_run(uint32_t *d, size_t ldd, const struct gemm *g, size_t m,
                            size_t n, size_t k, const uint32_t *a, size_t lda,
                            const uint32_t *b, size_t ldb, const uint32_t *c, size_t ldc,
                            const struct progress *progress, struct fault *f)
{
    const bool add_c = (g->beta & 0x7fffffff) != 0;
    if (lda < k || ldb < n || ldd < n || (add_c && ldc < n))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "a leading dimension is below the row length");
    if (add_c && !c)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "beta is not zero but C is missing");
    if (m == 0 || n == 0) return BITCUT_OK;
    struct job job = { .g = g,
                       .plan = plan_make(g),
                       .cut = k_cut_make(g, k),
                       .m = m,
                       .n = n,
                       .c = add_c ? c : NULL,
                       .ldc = ldc };
    enum bitcut_status status = job_prepare(&job, k, a, lda, b, ldb, g->threads);
    if (status == BITCUT_NO_MEMORY)
        fault_set(f, status, "out of memory for the operands");
    if (status == BITCUT_OK && !job_run(&job, g->threads, progress))
        status = fault_set(f, BITCUT_CANNOT, "stopped");
    if (status == BITCUT_OK) copy_rows(d, ldd, job.d, job.ldd, m, n);
    operand_clear(&job.a);
    operand_clear(&job.b);
    free(job.d);
    return status;
}

enum bitcut_status bitcut_gemm(uint32_t *d, size_t ldd,
                               const struct bitcut_recipe *recipe,
                               const struct bitcut_unit *unit, size_t m, size_t n,
                               size_t k, uint32_t alpha, const uint32_t *a, size_t lda,
                               const uint32_t *b, size_t ldb, uint32_t beta,
                               const uint32_t *c, size_t ldc, int threads)
{
    struct gemm g = gemm_of(recipe, unit);
    g.alpha = alpha;
    g.beta = beta;
    g.threads = threads;
    const enum bitcut_status status = gemm_check(&g, NULL);
    if (status != BITCUT_OK) return status;
    return gemm_run(d, ldd, &g, m, n, k, a, lda, b, ldb, c, ldc, NULL, NULL);
}
