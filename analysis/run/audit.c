/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L

#include "analysis/run/audit.h"

#include "lib/base/size.h"
#include "lib/gemm/plan.h"
#include "lib/io/npy.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LINES_MAX = 16, ELEMENTS_MAX = 1 << 20 /* of an operand's excerpt */ };

/* --- audited calls ---------------------------------------------------------------- */

/* The time of all audits so far, in seconds, and the time of the first call.  The lock is
   held. */
static double spent, began;

static bool in_budget(const struct run_settings *s)
{
    const double now = seconds_now();
    if (began == 0) began = now;
    return s->percent == RUN_PERCENT_ALL || spent * 100 <= s->percent * (now - began);
}

static bool is_power_of_two(uint64_t x) { return (x & (x - 1)) == 0; }

/* Whether this call is audited; if so, the number of its excerpt, 0: none. */
static bool choose(const struct call *t, uint32_t *number)
{
    bool watched = false;
    *number = 0;
    run_lock();
    const struct call_log_site *const p = run_place(t->routine, &t->site);
    if (p) {
        watched = !p->watched || in_budget(run_settings());
        if (is_power_of_two(p->watched + 1) && p->excerpts < CALL_LOG_EXCERPTS_MAX)
            *number = p->excerpts + 1;
    }
    run_unlock();
    return watched;
}

/* --- values ----------------------------------------------------------------------- */

static void count_value(struct call_log_values *v, uint32_t x)
{
    const uint32_t field = x >> 23 & 255, magnitude = x & 0x7fffffff;
    v->count[field]++;
    v->zeros += magnitude == 0;
    v->infinite += magnitude == 0x7f800000;
}

/* All elements of a matrix, along its rows or columns in memory; of a half, the stored
   ones. */
static void count_matrix(struct call_log_values *v, const struct bitcut_matrix *x,
                         size_t rows, size_t cols, enum half half)
{
    const bool by_rows = x->layout == BITCUT_ROW_MAJOR;
    const size_t lines = by_rows ? rows : cols, length = by_rows ? cols : rows,
                 ld = matrix_ld(x, rows, cols);
    const uint32_t *const at = x->at;
    for (size_t i = 0; i < lines; i++)
        for (size_t j = 0; j < length; j++)
            if (half_has(half, by_rows ? i : j, by_rows ? j : i))
                count_value(v, at[i * ld + j]);
}

/* --- the excerpt ------------------------------------------------------------------ */

/* `count` of the numbers from `from` to below `to`, spread evenly.  Returns NULL if
   memory runs out. */
static size_t *spread(size_t count, size_t from, size_t to)
{
    size_t *const at = memory_allocate(count, sizeof *at);
    for (size_t i = 0; at && i < count; i++)
        at[i] = from + (size_t)((double)(to - from) * ((double)i + 0.5) / (double)count);
    return at;
}

/* Move the last row and the first column of an upper half, or the first row and the last
   column of a lower one, to a common diagonal element.  Elements off the diagonal of a
   SYRK result may cancel completely, as for orthogonal rows; their relative error would
   not represent the whole. */
static void cross_on_diagonal(struct audit *a, enum half half, size_t middle)
{
    if (half == HALF_UPPER) a->row[a->excerpt.rows - 1] = a->col[0] = middle;
    if (half == HALF_LOWER) a->row[0] = a->col[a->excerpt.cols - 1] = middle;
}

/* Rows and columns of D.  For a half, all outputs of the selected rows and columns are
   stored, one of them on the diagonal. */
static bool choose_lines(struct audit *a, const struct product *p)
{
    const struct bitcut_gemm *const g = &p->gemm;
    const size_t most =
        ELEMENTS_MAX / g->k ? smaller(LINES_MAX, ELEMENTS_MAX / g->k) : 1;
    const size_t middle = g->m / 2;
    size_t row[2] = { 0, g->m }, col[2] = { 0, g->n };
    if (p->d == HALF_UPPER) row[1] = middle + 1, col[0] = middle;
    if (p->d == HALF_LOWER) row[0] = middle, col[1] = middle + 1;
    a->excerpt.rows = smaller(most, row[1] - row[0]);
    a->excerpt.cols = smaller(most, col[1] - col[0]);
    a->row = spread(a->excerpt.rows, row[0], row[1]);
    a->col = spread(a->excerpt.cols, col[0], col[1]);
    if (!a->row || !a->col) return false;
    cross_on_diagonal(a, p->d, middle);
    return true;
}

/* Rows `row` and columns `col` of a matrix, NULL: all.  The caller frees the result; NULL
   if memory runs out. */
static uint32_t *take(const struct bitcut_matrix *x, size_t rows, size_t cols,
                      enum half half, const size_t *row, size_t row_count,
                      const size_t *col, size_t col_count)
{
    size_t count;
    uint32_t *const to = size_multiply(&count, row_count, col_count)
                             ? memory_allocate(count, sizeof *to)
                             : NULL;
    for (size_t i = 0; to && i < row_count; i++)
        for (size_t j = 0; j < col_count; j++)
            to[i * col_count + j] = (uint32_t)product_element(
                x, rows, cols, row ? row[i] : i, col ? col[j] : j, half);
    return to;
}

static bool take_operands(struct audit *a, const struct product *p)
{
    const struct bitcut_gemm *const g = &p->gemm;
    const size_t rows = a->excerpt.rows, cols = a->excerpt.cols;
    a->a = take(&g->a, g->m, g->k, p->a, a->row, rows, NULL, g->k);
    a->b = take(&g->b, g->k, g->n, p->b, NULL, g->k, a->col, cols);
    if (!gemm_reads_c(g)) return a->a && a->b;
    a->c = take(&g->c, g->m, g->n, HALF_BOTH, a->row, rows, a->col, cols);
    return a->a && a->b && a->c;
}

void audit_begin(struct call *t)
{
    uint32_t number;
    if (!choose(t, &number)) return;
    const double start = seconds_now();
    const struct product *const seen = call_see(t);
    struct audit *const a = seen ? calloc(1, sizeof *a) : NULL;
    for (size_t i = 0; a && i < seen->gemm.count; i++) {
        const struct product one = product_nth(seen, i);
        const struct bitcut_gemm *const g = &one.gemm;
        count_matrix(&a->values[0], &g->a, g->m, g->k, one.a);
        count_matrix(&a->values[1], &g->b, g->k, g->n, one.b);
    }
    if (a && number) {
        const struct product one = product_nth(seen, 0);
        a->excerpt.number = number;
        if (!choose_lines(a, &one) || !take_operands(a, &one)) a->excerpt.number = 0;
    }
    t->audit = a;
    const double seconds = seconds_now() - start;
    if (a) a->seconds = seconds;
    t->own_seconds += seconds;
}

/* --- files ------------------------------------------------------------------------ */

static bool write_matrix(const char *stem, const char *ending, const uint32_t *at,
                         size_t rows, size_t cols)
{
    char path[4096];
    const struct array x = { .dims = 2,
                             .dim = { rows, cols },
                             .count = rows * cols,
                             .bytes = 4,
                             .floating = true,
                             .data = (void *)(uintptr_t)at };
    const int n = snprintf(path, sizeof path, "%s.%s.npy", stem, ending);
    return n >= 0 && n < (int)sizeof path && npy_write(path, &x, NULL) == BITCUT_OK;
}

/* The files of an excerpt, next to the log: its name, or "" if one cannot be written. */
static void write_files(struct audit *a, const struct call *t)
{
    static _Atomic unsigned last;
    struct call_log_excerpt *const x = &a->excerpt;
    const struct bitcut_gemm *const g = &t->product->gemm;
    char stem[4096], name[CALL_LOG_NAME_MAX];
    x->m = g->m, x->n = g->n, x->k = g->k;
    x->alpha = g->alpha, x->beta = g->beta;
    if (!call_log_excerpt_name(name, stem, sizeof stem, ++last)) return;
    if (write_matrix(stem, "a", a->a, x->rows, x->k) &&
        write_matrix(stem, "b", a->b, x->k, x->cols) &&
        (!a->c || write_matrix(stem, "c", a->c, x->rows, x->cols)) &&
        write_matrix(stem, "d", a->d, x->rows, x->cols))
        memcpy(x->name, name, sizeof name);
}

/* The same, without ending the program if its limit for file sizes forbids the files. */
static void write_excerpt(struct audit *a, const struct call *t)
{
    sigset_t limit, before, waiting;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &limit, &before);
    sigpending(&waiting);
    write_files(a, t);
    if (!sigismember(&waiting, SIGXFSZ)) sigtimedwait(&limit, NULL, &(struct timespec){ 0 });
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void audit_end(struct call *t)
{
    struct audit *const a = t->audit;
    const double start = seconds_now();
    if (a->excerpt.number && t->end != CALL_FAILED && t->end != CALL_LEFT &&
        call_fetch(t)) {
        const struct product one = product_nth(t->seen, 0);
        a->d = take(&one.gemm.d, one.gemm.m, one.gemm.n, HALF_BOTH, a->row,
                    a->excerpt.rows, a->col, a->excerpt.cols);
        if (a->d) write_excerpt(a, t);
    }
    const double seconds = seconds_now() - start;
    t->own_seconds += seconds;
    run_lock();
    spent += a->seconds + seconds;
    run_unlock();
}

void audit_note(struct call_log_site *p, const struct audit *a)
{
    for (int i = 0; i < 2; i++) call_log_values_add(&p->values[i], &a->values[i]);
    if (*a->excerpt.name && p->excerpts < CALL_LOG_EXCERPTS_MAX)
        p->excerpt[p->excerpts++] = a->excerpt;
}

void audit_free(struct audit *a)
{
    if (!a) return;
    free(a->row);
    free(a->col);
    free(a->a);
    free(a->b);
    free(a->c);
    free(a->d);
    free(a);
}
