/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/fp64/fp64_gemm.h"

#include "lib/base/size.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/base/threads.h"
#include "lib/gemm/view.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- checks ----------------------------------------------------------------------- */

/* The first member that is set and belongs to FP32 GEMMs; NULL: none is. */
static const char *fp32_member(const struct bitcut_gemm *g)
{
    struct bitcut_gemm open;
    bitcut_gemm_init(&open, sizeof open);
    open.order.slices = g->order.slices;
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
    if (s->backward && g->order.slices > 1)
        return fault_option(f, "split-k", "scheme %s does not cut k into slices",
                            s->name);
    if (g->order.slices || s->whole_k == 0 || g->k < s->whole_k) return BITCUT_OK;
    return fault_option(f, "split-k",
                        "%s cuts k = %zu into a number of slices that depends on the "
                        "sizes and is not known in general; give it, 1 for none",
                        s->name, g->k);
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

struct fp64_range fp64_k_slice(const struct bitcut_gemm *g, size_t i)
{
    enum { BLOCK = 128 };
    const size_t k = g->k, slices = g->order.slices > 1 ? (size_t)g->order.slices : 1,
                 blocks = divide_up(k, BLOCK), used = smaller(slices, larger(blocks, 1)),
                 each = blocks / used, longer = blocks % used, shorter = used - longer;
    const size_t from = i * each + (i > shorter ? i - shorter : 0),
                 to = from + each + (i >= shorter);
    if (i >= used) return (struct fp64_range){ k, 0 };
    return (struct fp64_range){ from * BLOCK, smaller(to * BLOCK, k) - from * BLOCK };
}

double *fp64_lines(const struct bitcut_matrix *x, size_t rows, size_t cols, bool columns,
                   struct fp64_range k, int threads)
{
    const struct view v = view_of(x, 0, rows, cols, columns);
    const size_t lines = columns ? cols : rows;
    size_t count;
    double *const to =
        size_multiply(&count, lines, k.count) ? memory_allocate(count, sizeof *to) : NULL;
    if (!to) return NULL;
#pragma omp parallel for schedule(static) num_threads(threads_for(threads, lines))
    for (size_t line = 0; line < lines; line++)
        for (size_t p = 0; p < k.count; p++)
            to[line * k.count + p] = view_f64(&v, line, k.first + p);
    return to;
}

struct fp64_job fp64_job_of(const struct bitcut_gemm *g, int parts,
                            const struct gemm_options *options)
{
    return (struct fp64_job){ .scheme = g->scheme,
                              .unit = g->unit,
                              .parts = parts,
                              .m = g->m,
                              .n = g->n,
                              .k = g->k,
                              .alpha = g->alpha_f64,
                              .beta = g->beta_f64,
                              .a_apart = g->a.layout == BITCUT_COLUMN_MAJOR,
                              .b_apart = g->b.layout == BITCUT_ROW_MAJOR,
                              .options = options };
}

double fp64_update(double alpha, double v, double beta, double c)
{
    const double t = fp64_product(alpha, v);
    return beta == 0 ? t : fp64_fma(beta, c, t);
}

double fp64_update_adding(double alpha, double v, double beta, double c)
{
    const double d = fp64_update(alpha, v, beta, c);
    return beta == 0 && fabs(alpha) != 1 ? d + 0.0 : d;
}

double fp64_update_fused(double alpha, double v, double beta, double c)
{
    return fp64_fma(alpha, v, fp64_product(beta, c));
}

/* Write D, for the A B of the job, unless the job has D. */
static void finish(const struct bitcut_gemm *g, const struct fp64_job *job)
{
    const struct view d = view_of(&g->d, 0, g->m, g->n, false);
    struct hostfp saved;
    hostfp_enter(&saved);
    for (size_t i = 0; i < job->m; i++)
        for (size_t j = 0; j < job->n; j++) {
            const size_t at = i * job->n + j;
            const double v = job->d[at], c = job->c ? job->c[at] : 0;
            view_set_f64(&d, i, j,
                         job->scheme->backward
                             ? v
                             : job->scheme->update(job->alpha, v, job->beta, c));
        }
    hostfp_leave(&saved);
}

/* A B of a slice of k, in job->d. */
static enum bitcut_status run_slice(struct fp64_job *job, const struct bitcut_gemm *g,
                                    struct fp64_range k, struct fault *f)
{
    const int threads = job->options->threads;
    double *const a = fp64_lines(&g->a, g->m, g->k, false, k, threads),
                  *const b = fp64_lines(&g->b, g->k, g->n, true, k, threads);
    enum bitcut_status status = BITCUT_NO_MEMORY;
    job->a = a, job->b = b, job->k = k.count;
    if (a && b) status = g->scheme->run(job, f);
    else fault_set(f, status, "not enough memory for the operands");
    free(a);
    free(b);
    return status;
}

/* The FP64 sum of all slices in job->d; `one` has room for a slice's. */
static enum bitcut_status run_slices(struct fp64_job *job, double *one,
                                     const struct bitcut_gemm *g, struct fault *f)
{
    const size_t count = g->m * g->n;
    double *const sum = job->d;
    enum bitcut_status status = run_slice(job, g, fp64_k_slice(g, 0), f);
    for (size_t i = 1; status == BITCUT_OK; i++) {
        const struct fp64_range k = fp64_k_slice(g, i);
        struct hostfp saved;
        if (!k.count) break;
        job->d = one;
        status = run_slice(job, g, k, f);
        hostfp_enter(&saved);
        for (size_t p = 0; p < count && status == BITCUT_OK; p++)
            sum[p] = fp64_fma(1, one[p], sum[p]);
        hostfp_leave(&saved);
    }
    job->d = sum;
    return status;
}

static enum bitcut_status run_one(const struct bitcut_gemm *g, int parts,
                                  const struct gemm_options *options, struct fault *f)
{
    const bool reads_c = gemm_reads_c(g), cuts = g->order.slices > 1;
    const struct fp64_range all = { 0, g->n };
    size_t count;
    double *const c = reads_c
                          ? fp64_lines(&g->c, g->m, g->n, false, all, options->threads)
                          : NULL,
                  *const d = size_multiply(&count, g->m, g->n)
                                 ? memory_allocate(count, sizeof *d)
                                 : NULL,
                  *const one = cuts && d ? memory_allocate(count, sizeof *one) : NULL;
    struct fp64_job job = fp64_job_of(g, parts, options);
    job.c = c;
    job.d = d;
    enum bitcut_status status = BITCUT_NO_MEMORY;
    if ((reads_c && !c) || !d || (cuts && !one))
        fault_set(f, status, "not enough memory for the operands");
    else status = run_slices(&job, one, g, f);
    if (status == BITCUT_OK) finish(g, &job);
    free(c);
    free(d);
    free(one);
    return status;
}

/* Whether a GEMM is computed by one thread. */
static bool is_small(const struct bitcut_gemm *g)
{
    enum { DIVIDED_MIN = 1 << 18 };
    size_t outputs, products;
    return size_multiply(&outputs, g->m, g->n) &&
           size_multiply(&products, outputs, g->k) && products < DIVIDED_MIN;
}

enum bitcut_status fp64_gemm_run(const struct bitcut_gemm *g,
                                 const struct gemm_options *options, struct fault *f)
{
    struct gemm_options own = *options;
    int parts;
    if (is_small(g)) own.threads = 1;
    enum bitcut_status status = fp64_plan(&parts, g, f);
    if (status == BITCUT_OK) status = gemm_check_matrices(g, true, f);
    if (!g->m || !g->n) return status;
    for (size_t i = 0; i < g->count && status == BITCUT_OK; i++) {
        const struct bitcut_gemm one = gemm_nth(g, i);
        status = run_one(&one, parts, &own, f);
    }
    return status;
}

/* --- lines ------------------------------------------------------------------------ */

/* The number after NAME= at the start of a list, and what follows it; NULL: another item,
   or a number of more than nine digits. */
static const char *read_item(int *number, const char *name, const char *list)
{
    const size_t length = strlen(name);
    if (strncmp(list, name, length) || list[length] != '=') return NULL;
    const char *const value = list + length + 1;
    const size_t digits = strspn(value, "0123456789");
    if (!digits || digits > 9 || (value[digits] && value[digits] != ',')) return NULL;
    *number = atoi(value);
    return value + digits + (value[digits] == ',');
}

/* Set what a list of items names; the rest that is not an item, empty if all are. */
static const char *read_list(struct bitcut_gemm *g, const char *list)
{
    while (*list) {
        const char *next = read_item(&g->parts, "parts", list);
        if (!next) next = read_item(&g->order.slices, "slices", list);
        if (!next) break;
        list = next;
    }
    return list;
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
    const char *const rest = list ? read_list(&g, list) : "";
    if (*rest)
        return fault_set(
            f, BITCUT_BAD_ARGUMENT,
            "unknown setting \"%.*s\"; a scheme has parts=N, and slices=N of k",
            text_fit(rest, 60), rest);
    const enum bitcut_status status = fp64_plan(&parts, &g, f);
    if (status == BITCUT_OK) *to = g;
    return status;
}

void fp64_line_write(char *line, size_t size, const struct bitcut_gemm *g)
{
    snprintf(line, size, "%s@%s", g->scheme->name, g->unit->name);
    if (g->parts != BITCUT_UNSET) text_add(line, size, ",parts=%d", g->parts);
    if (g->order.slices) text_add(line, size, ",slices=%d", g->order.slices);
}
