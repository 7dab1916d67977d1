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

struct fp64_range fp64_k_slice(size_t k, size_t slices, size_t i)
{
    enum { BLOCK = 128 };
    const size_t blocks = divide_up(k, BLOCK), used = smaller(slices, larger(blocks, 1)),
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

/* The rows of A and the columns of B for some k; b is NULL if there is not enough memory
   for both. */
struct operands {
    double *a, *b;
};

static struct operands operands_of(const struct bitcut_gemm *g, struct fp64_range k,
                                   int threads)
{
    double *const a = fp64_lines(&g->a, g->m, g->k, false, k, threads);
    return (struct operands){ a, a ? fp64_lines(&g->b, g->k, g->n, true, k, threads)
                                   : NULL };
}

static void operands_clear(struct operands *x)
{
    free(x->a);
    free(x->b);
}

/* --- how it is computed ----------------------------------------------------------- */

static bool all_finite(const struct operands *x, const struct bitcut_gemm *g)
{
    return fp64_all_finite(x->a, g->m * g->k) && fp64_all_finite(x->b, g->n * g->k);
}

/* What the data of one GEMM change of the choice that its sizes make. */
static enum bitcut_status settle_by_data(struct fp64_choice *to,
                                         const struct bitcut_gemm *g, int threads,
                                         struct fault *f)
{
    const struct bitcut_scheme *const s = g->scheme;
    struct operands x = operands_of(g, (struct fp64_range){ 0, g->k }, threads);
    bool made = x.b;
    if (made) to->in_f64 = !all_finite(&x, g);
    if (made && !to->in_f64 && s->bits) {
        made = s->bits(&to->bits, x.a, g->m, x.b, g->n, g->k, threads);
        to->in_f64 = to->bits > 8 * to->parts - 1;
        if (!to->in_f64) to->parts = to->bits / 8 + 1;
    }
    if (to->in_f64) to->slices = 1;
    operands_clear(&x);
    return made ? BITCUT_OK
                : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the operands");
}

/* The k of the shortest slice of k, in whole tiles. */
static size_t shortest_of(size_t k, size_t slices)
{
    return larger(divide_up(k, FP64_TILE_K) / larger(slices, 1), 1) * FP64_TILE_K;
}

struct fp64_job fp64_job_of(const struct bitcut_gemm *g, const struct fp64_choice *by,
                            const struct gemm_options *options)
{
    return (struct fp64_job){ .scheme =
                                  by->in_f64 ? bitcut_scheme_find("fp64") : g->scheme,
                              .unit = g->unit,
                              .parts = by->parts,
                              .m = g->m,
                              .n = g->n,
                              .k = g->k,
                              .shortest = shortest_of(g->k, by->slices),
                              .alpha = g->alpha_f64,
                              .beta = g->beta_f64,
                              .a_apart = g->a.layout == BITCUT_COLUMN_MAJOR,
                              .b_apart = g->b.layout == BITCUT_ROW_MAJOR,
                              .options = options };
}

/* Refuse sizes for which it is not known whether an incomplete tile of k counts as one.
 */
static enum bitcut_status check_window(const struct fp64_choice *by,
                                       const struct bitcut_gemm *g, struct fault *f)
{
    const size_t window = g->scheme->window, whole = shortest_of(g->k, by->slices),
                 length = larger(g->k / by->slices, 1);
    if (by->in_f64 || length >= whole || window / length == window / whole ||
        window / whole >= (size_t)by->parts)
        return BITCUT_OK;
    return fault_option(
        f, "split-k",
        "the order in which %s adds products of slices of %zu k, not %zu, is "
        "not known for %d parts; --split-k %zu takes that of %zu",
        g->scheme->name, length, whole, by->parts, by->slices, whole);
}

static enum bitcut_status settle_one(struct fp64_choice *to, const struct bitcut_gemm *g,
                                     int threads, struct fault *f)
{
    const struct bitcut_scheme *const s = g->scheme;
    *to = (struct fp64_choice){ .slices = 1, .bits = -1 };
    enum bitcut_status status = fp64_plan(&to->parts, g, f);
    if (status != BITCUT_OK) return status;
    if (g->order.slices) to->slices = (size_t)g->order.slices;
    else if (s->slices) to->slices = s->slices(g->m, g->n, g->k);
    if (s->finite) status = settle_by_data(to, g, threads, f);
    return status == BITCUT_OK && s->slices && !g->order.slices ? check_window(to, g, f)
                                                                : status;
}

/* Add the choice of the next GEMM of a batch to that of all before it. */
static void add_choice(struct fp64_choice *all, const struct fp64_choice *one, bool first)
{
    if (first) {
        *all = *one;
        all->some_f64 = one->in_f64;
        return;
    }
    if (all->in_f64 == one->in_f64) all->parts = larger_int(all->parts, one->parts);
    else if (all->in_f64) all->parts = one->parts;
    all->slices = larger(all->slices, one->slices);
    all->bits = larger_int(all->bits, one->bits);
    all->some_f64 |= one->in_f64;
    all->in_f64 &= one->in_f64;
}

static struct fp64_choice choice_of_none(int parts)
{
    return (struct fp64_choice){ .parts = parts, .slices = 1, .bits = -1 };
}

enum bitcut_status fp64_settle(struct fp64_choice *to, const struct bitcut_gemm *g,
                               int threads, struct fault *f)
{
    int parts;
    enum bitcut_status status = fp64_plan(&parts, g, f);
    *to = choice_of_none(parts);
    for (size_t i = 0; i < g->count && status == BITCUT_OK; i++) {
        const struct bitcut_gemm each = gemm_nth(g, i);
        struct fp64_choice one;
        status = settle_one(&one, &each, threads, f);
        if (status == BITCUT_OK) add_choice(to, &one, !i);
    }
    return status;
}

/* --- running ---------------------------------------------------------------------- */

/* D of the sums v of a slice of k: those of the first slice are added to beta C, others
   to D. */
static void update(double *d, const double *v, const struct bitcut_scheme *scheme,
                   const struct fp64_job *job, bool first)
{
    struct hostfp saved;
    hostfp_enter(&saved);
    for (size_t at = 0; at < job->m * job->n; at++) {
        const double c = !first ? d[at] : job->c ? job->c[at] : 0;
        d[at] = scheme->update(job->alpha, v[at], first ? job->beta : 1, c);
    }
    hostfp_leave(&saved);
}

static void write(const struct bitcut_gemm *g, const double *values)
{
    const struct view d = view_of(&g->d, 0, g->m, g->n, false);
    for (size_t i = 0; i < g->m; i++)
        for (size_t j = 0; j < g->n; j++) view_set_f64(&d, i, j, values[i * g->n + j]);
}

/* By the device of the options if it takes the job; else by the scheme. */
static enum bitcut_status run_job(const struct fp64_job *job, struct fault *f)
{
    const struct gemm_offload *const by = job->options->offload;
    bool took = false;
    const enum bitcut_status status =
        by && by->fp64 ? by->fp64(&took, job, by->context, f) : BITCUT_OK;
    return status != BITCUT_OK || took ? status : job->scheme->run(job, f);
}

/* A B of a slice of k, in job->d. */
static enum bitcut_status run_slice(struct fp64_job *job, const struct bitcut_gemm *g,
                                    const struct fp64_choice *by, struct fp64_range k,
                                    struct fault *f)
{
    struct operands x = operands_of(g, k, job->options->threads);
    enum bitcut_status status = BITCUT_NO_MEMORY;
    job->a = x.a, job->b = x.b, job->k = k.count;
    if (x.b) status = by->in_f64 ? fp64_run_chain(job, f) : run_job(job, f);
    else fault_set(f, status, "not enough memory for the operands");
    operands_clear(&x);
    return status;
}

/* D in d, slice by slice; job->d has room for the sums of a slice. */
static enum bitcut_status run_slices(double *d, struct fp64_job *job,
                                     const struct bitcut_gemm *g,
                                     const struct fp64_choice *by, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    for (size_t i = 0; i < by->slices && status == BITCUT_OK; i++) {
        const struct fp64_range k = fp64_k_slice(g->k, by->slices, i);
        if (i && !k.count) break;
        status = run_slice(job, g, by, k, f);
        if (status == BITCUT_OK && !g->scheme->backward)
            update(d, job->d, g->scheme, job, !i);
    }
    return status;
}

/* Run one GEMM, and set *by to how. */
static enum bitcut_status run_one(struct fp64_choice *by, const struct bitcut_gemm *g,
                                  const struct gemm_options *options, struct fault *f)
{
    const bool reads_c = gemm_reads_c(g);
    const struct fp64_range all = { 0, g->n };
    size_t count;
    enum bitcut_status status = settle_one(by, g, options->threads, f);
    if (status != BITCUT_OK) return status;
    double *const c = reads_c
                          ? fp64_lines(&g->c, g->m, g->n, false, all, options->threads)
                          : NULL,
                  *const d = size_multiply(&count, g->m, g->n)
                                 ? memory_allocate(count, sizeof *d)
                                 : NULL,
                  *const one =
                      by->slices > 1 && d ? memory_allocate(count, sizeof *one) : d;
    struct fp64_job job = fp64_job_of(g, by, options);
    job.c = c;
    job.d = one;
    if ((reads_c && !c) || !one)
        status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the operands");
    else status = run_slices(d, &job, g, by, f);
    if (status == BITCUT_OK) write(g, d);
    if (one != d) free(one);
    free(c);
    free(d);
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

enum bitcut_status fp64_gemm_run(struct fp64_choice *by, const struct bitcut_gemm *g,
                                 const struct gemm_options *options, struct fault *f)
{
    struct gemm_options own = *options;
    struct fp64_choice all;
    int parts;
    if (is_small(g)) own.threads = 1;
    enum bitcut_status status = fp64_plan(&parts, g, f);
    if (status == BITCUT_OK) status = gemm_check_matrices(g, true, f);
    if (status == BITCUT_OK) all = choice_of_none(parts);
    for (size_t i = 0; i < g->count && g->m && g->n && status == BITCUT_OK; i++) {
        const struct bitcut_gemm each = gemm_nth(g, i);
        struct fp64_choice one;
        status = run_one(&one, &each, &own, f);
        if (status == BITCUT_OK) add_choice(&all, &one, !i);
    }
    if (by && status == BITCUT_OK) *by = all;
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
