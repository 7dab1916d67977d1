/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/fp64/fp64_gemm.h"

#include "lib/base/size.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/base/threads.h"
#include "lib/gemm/view.h"
#include "lib/number/hostfp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- checks ----------------------------------------------------------------------- */

/* The first member that is set and belongs to FP32 GEMMs; NULL: none is. */
static const char *fp32_member(const struct bitcut_gemm *g)
{
    struct bitcut_gemm open;
    bitcut_gemm_init(&open, sizeof open);
    const struct {
        const char *name;
        bool set;
    } all[] = {
        { "recipe", g->recipe },
        { "split", g->split_a || g->split_b },
        { "high", g->high },
        { "low", g->low },
        { "sum-rounding", g->sum_rounding },
        { "scale", g->scale != open.scale },
        { "terms", g->dropped_term != open.dropped_term },
        { "promote", g->promote != open.promote },
        { "tile-k", g->tile_k != open.tile_k },
        { "equilibrate", g->equilibrate },
        { "order", memcmp(&g->order, &open.order, sizeof open.order) },
        { "epilogue", g->epilogue[0] || g->amax },
        { "bias", g->bias.at || g->bias.each },
        { "start", g->start },
        { "scaling", g->scaling || gemm_has_scales(g) },
        { "zero points", g->zero_a || g->zero_b || g->zero_d },
        { "offsets", g->offsets },
        { "sparse-a", g->sparsity },
        { "alpha", g->alpha != open.alpha },
        { "beta", g->beta != open.beta },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].set) return all[i].name;
    return NULL;
}

static bool multiplies(const struct bitcut_unit *u, const struct bitcut_scheme *s)
{
    return u->a == s->part && u->b == s->part && !u->scale &&
           (s->part == &formats[FORMAT_F64] || format_is_integer(s->part) ||
            u->c == &formats[FORMAT_F32]);
}

enum bitcut_status fp64_plan(int *parts, const struct bitcut_gemm *g, struct fault *f)
{
    const struct bitcut_scheme *const s = g->scheme;
    const char *const other = fp32_member(g);
    if (other)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s belongs to FP32 GEMMs and cannot be combined with scheme %s",
                         other, s->name);
    if (!g->unit) return fault_set(f, BITCUT_BAD_ARGUMENT, "a scheme requires a unit");
    if (!multiplies(g->unit, s))
        return fault_option(
            f, "unit", "%s multiplies %s by %s; scheme %s has parts in %s", g->unit->name,
            g->unit->a->name, g->unit->b->name, s->name, s->part->name);
    *parts = g->parts == BITCUT_UNSET ? s->parts : g->parts;
    if (*parts < s->least || *parts > s->most)
        return fault_option(f, "parts", "scheme %s has %d to %d parts", s->name, s->least,
                            s->most);
    return BITCUT_OK;
}

const struct bitcut_unit *fp64_unit_find(const struct bitcut_scheme *scheme,
                                         const char *name)
{
    const struct bitcut_unit *const u = unit_find(name, scheme->part);
    if (!u && scheme->part == &formats[FORMAT_F64] && table_find(TABLE(chips), name))
        return table_find(TABLE(units), "fma/f64");
    return u;
}

/* --- one GEMM --------------------------------------------------------------------- */

/* A matrix as FP64 values, line by line: the rows, or the columns.  NULL: no memory. */
static double *gather(const struct bitcut_matrix *x, size_t rows, size_t cols,
                      bool columns, int threads)
{
    const struct view v = view_of(x, 0, rows, cols, columns);
    const size_t lines = columns ? cols : rows, length = columns ? rows : cols;
    size_t count;
    double *const to =
        size_multiply(&count, lines, length) ? memory_allocate(count, sizeof *to) : NULL;
    if (!to) return NULL;
#pragma omp parallel for schedule(static) num_threads(threads_for(threads, lines))
    for (size_t line = 0; line < lines; line++)
        for (size_t p = 0; p < length; p++) to[line * length + p] = view_f64(&v, line, p);
    return to;
}

/* Write D = alpha x + beta c for the x of the job, unless x is D. */
static void finish(const struct bitcut_gemm *g, const struct fp64_job *job)
{
    const struct view d = view_of(&g->d, 0, g->m, g->n, false);
    struct hostfp saved;
    hostfp_enter(&saved);
    for (size_t i = 0; i < job->m; i++)
        for (size_t j = 0; j < job->n; j++) {
            const size_t at = i * job->n + j;
            const double t = fp64_product(job->alpha, job->d[at]);
            view_set_f64(&d, i, j,
                         job->scheme->backward ? job->d[at]
                         : job->c              ? fp64_fma(job->beta, job->c[at], t)
                                               : t);
        }
    hostfp_leave(&saved);
}

/* GEMMs with fewer products are computed by one thread. */
enum { DIVIDED_MIN = 1 << 18 };

static enum bitcut_status run_one(const struct bitcut_gemm *g, int parts,
                                  const struct gemm_options *all, struct fault *f)
{
    const bool reads_c = gemm_reads_c(g),
               small = (double)g->m * (double)g->n * (double)g->k < DIVIDED_MIN;
    const int threads = small ? 1 : all->threads;
    const struct gemm_options options = { .threads = threads, .progress = all->progress };
    size_t count;
    double *const a = gather(&g->a, g->m, g->k, false, threads),
                  *const b = gather(&g->b, g->k, g->n, true, threads),
                  *const c = reads_c ? gather(&g->c, g->m, g->n, false, threads) : NULL,
                  *const d = size_multiply(&count, g->m, g->n)
                                 ? memory_allocate(count, sizeof *d)
                                 : NULL;
    const struct fp64_job job = { .scheme = g->scheme,
                                  .unit = g->unit,
                                  .parts = parts,
                                  .m = g->m,
                                  .n = g->n,
                                  .k = g->k,
                                  .alpha = g->alpha_f64,
                                  .beta = g->beta_f64,
                                  .a = a,
                                  .b = b,
                                  .c = c,
                                  .d = d,
                                  .options = &options };
    enum bitcut_status status = BITCUT_NO_MEMORY;
    if (!a || !b || (reads_c && !c) || !d)
        fault_set(f, status, "not enough memory for the operands");
    else status = g->scheme->run(&job, f);
    if (status == BITCUT_OK) finish(g, &job);
    free(a);
    free(b);
    free(c);
    free(d);
    return status;
}

enum bitcut_status fp64_gemm_run(const struct bitcut_gemm *g,
                                 const struct gemm_options *options, struct fault *f)
{
    int parts;
    enum bitcut_status status = fp64_plan(&parts, g, f);
    if (status == BITCUT_OK) status = gemm_check_matrices(g, true, f);
    if (!g->m || !g->n) return status;
    for (size_t i = 0; i < g->count && status == BITCUT_OK; i++) {
        const struct bitcut_gemm one = gemm_nth(g, i);
        status = run_one(&one, parts, options, f);
    }
    return status;
}

/* --- lines ------------------------------------------------------------------------ */

/* The number after "parts=", of at most three digits. */
static bool read_parts(int *parts, const char *item)
{
    static const char name[] = "parts=";
    if (strncmp(item, name, sizeof name - 1)) return false;
    const char *const value = item + sizeof name - 1;
    const size_t digits = strspn(value, "0123456789");
    *parts = digits ? atoi(value) : 0;
    return digits && digits <= 3 && !value[digits];
}

enum bitcut_status fp64_line_read(struct bitcut_gemm *to,
                                  const struct bitcut_scheme *scheme, const char *unit,
                                  const char *list, struct fault *f)
{
    struct bitcut_gemm g = gemm_of(NULL, fp64_unit_find(scheme, unit));
    int parts;
    g.scheme = scheme;
    if (!g.unit)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "no unit \"%.*s\" multiplies %s",
                         text_fit(unit, 60), unit, scheme->part->name);
    if (list && !read_parts(&g.parts, list))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "unknown setting \"%.*s\"; a scheme has parts=N",
                         text_fit(list, 60), list);
    const enum bitcut_status status = fp64_plan(&parts, &g, f);
    if (status == BITCUT_OK) *to = g;
    return status;
}

void fp64_line_write(char *line, size_t size, const struct bitcut_gemm *g)
{
    snprintf(line, size, "%s@%s", g->scheme->name, g->unit->name);
    if (g->parts != BITCUT_UNSET) text_add(line, size, ",parts=%d", g->parts);
}
