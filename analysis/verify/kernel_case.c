/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/verify/kernel_case.h"

#include "analysis/verify/matrix_excerpt.h"
#include "lib/input/input.h"
#include "lib/number/bits.h"
#include "lib/number/rand.h"

#include <stdlib.h>
#include <string.h>

enum { LINES = 8 }; /* rows, and columns, of a large one that are compared */

static const size_t whole_products = (size_t)1 << 22;

/* --- the matrices of a configuration ---------------------------------------------- */

/* The contents between matrices, and of D initially: a NaN that no arithmetic gives. */
static uint32_t gap_of(const struct bitcut_format *format)
{
    return format->bits == 16 ? 0x7da5 : 0x7fa5a5a5;
}

static void stored_clear(struct stored *s)
{
    free(s->each);
    free(s->begin);
    free(s->memory);
}

uint32_t stored_get(const struct stored *s, size_t i)
{
    uint32_t bits = 0;
    memcpy(&bits, s->memory + i * s->bytes, s->bytes);
    return bits;
}

static void put(const struct stored *s, size_t i, uint32_t bits)
{
    memcpy(s->memory + i * s->bytes, &bits, s->bytes);
}

/* Relative to the first element of a matrix. */
static size_t offset_of(const struct stored *s, size_t i, size_t j)
{
    return s->is.layout == BITCUT_COLUMN_MAJOR ? j * s->is.ld + i : i * s->is.ld + j;
}

static size_t place(const struct stored *s, size_t matrix, size_t i, size_t j)
{
    return s->begin[matrix] + offset_of(s, i, j);
}

size_t case_element(const struct kernel_case *x, size_t matrix, size_t i, size_t j)
{
    return place(&x->d, matrix, i, j);
}

enum bitcut_status stored_read(struct matrix *to, const struct stored *s, size_t matrix,
                               struct fault *f)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32], *format = s->is.format;
    const enum bitcut_status status = matrix_init(to, s->rows, s->cols, f);
    for (size_t i = 0; status == BITCUT_OK && i < s->rows; i++)
        for (size_t j = 0; j < s->cols; j++) {
            const uint32_t x = stored_get(s, place(s, matrix, i, j));
            /* a conversion would lose the bits of a NaN */
            to->at[i * s->cols + j] =
                format == f32 ? x
                              : (uint32_t)bitcut_format_convert(
                                    f32, &roundings[ROUND_RN], format, x);
        }
    return status;
}

/* The properties of a matrix. */
struct wanted {
    size_t rows, cols;
    bool down, one, beside;
};

/* Set leading dimension, stride and elements.  Returns false if they overflow. */
static bool stored_measure(struct stored *s, const struct configuration *now,
                           struct wanted x)
{
    const struct room *room = now->room;
    const size_t row = x.down ? x.rows : x.cols, height = x.down ? x.cols : x.rows;
    const size_t across = x.beside ? now->count : 1;
    size_t matrix, all;
    if (!size_multiply(&s->is.ld, across, row) ||
        __builtin_add_overflow(s->is.ld, room->gap, &s->is.ld) ||
        !size_multiply(&matrix, height, s->is.ld) ||
        __builtin_add_overflow(matrix, room->apart, &matrix))
        return false;
    s->is.stride = x.beside ? row : x.one && !room->pointers ? 0 : matrix;
    return size_multiply(&all, x.beside ? 1 : now->count + 1, matrix) &&
           !__builtin_add_overflow(all, room->before + room->move, &s->elements);
}

/* Put the matrices in another order, for pointers. */
static size_t begin_of(const struct room *room, const struct stored *s, size_t i,
                       size_t count)
{
    static const size_t prime = 1000003;
    const size_t slot = room->pointers ? (i * prime + 1) % count : i;
    return room->before + slot * s->is.stride + (room->pointers ? i % room->move : 0);
}

static enum bitcut_status stored_init(struct stored *s, const struct configuration *now,
                                      const struct bitcut_format *format, struct wanted x,
                                      struct fault *f)
{
    const struct room *room = now->room;
    *s = (struct stored){ .rows = x.rows,
                          .cols = x.cols,
                          .bytes = (size_t)format_bytes(format) };
    s->is.format = format;
    s->is.layout = x.down ? BITCUT_COLUMN_MAJOR : BITCUT_ROW_MAJOR;
    if (stored_measure(s, now, x)) s->memory = memory_allocate(s->elements, s->bytes);
    s->begin = memory_allocate(now->count, sizeof *s->begin);
    s->each = memory_allocate(now->count, sizeof *s->each);
    if (!s->memory || !s->begin || !s->each)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the matrices");
    for (size_t i = 0; i < s->elements; i++) put(s, i, gap_of(format));
    for (size_t i = 0; i < now->count; i++) {
        s->begin[i] = begin_of(room, s, x.one ? 0 : i, now->count);
        s->each[i] = s->memory + s->begin[i] * s->bytes;
    }
    s->is.at = s->memory + room->before * s->bytes;
    if (room->pointers) s->is.each = s->each;
    return BITCUT_OK;
}

/* The values of a matrix, encodings of its format. */
static enum bitcut_status make(struct matrix *m, const struct configuration *now,
                               enum input_role role, uint64_t seed, uint64_t stream,
                               int threads, struct fault *f)
{
    struct input input;
    if (now->values->element) {
        rand_fill(m->at, m->rows * m->cols, seed, stream, 0);
        for (size_t i = 0; i < m->rows * m->cols; i++)
            m->at[i] = now->values->element(m->at[i]);
        return BITCUT_OK;
    }
    const enum bitcut_status status = input_parse(&input, now->values->name, f);
    return status == BITCUT_OK
               ? input_fill(m, &input, role, stream == 2 ? ~seed : seed, threads, f)
               : status;
}

/* Fill the matrices; with `one` all equal the first. */
static enum bitcut_status fill(struct stored *s, const struct configuration *now,
                               uint64_t stream, bool one, int threads, struct fault *f)
{
    struct matrix m = { 0 };
    enum bitcut_status status = matrix_init(&m, s->rows, s->cols, f);
    for (size_t e = 0; e < (one ? 1 : now->count) && status == BITCUT_OK; e++) {
        status = make(&m, now, stream == 1 ? INPUT_B : INPUT_A,
                      now->seed ^ (uint64_t)e << 32, stream, threads, f);
        for (size_t i = 0; i < s->rows && status == BITCUT_OK; i++)
            for (size_t j = 0; j < s->cols; j++)
                put(s, place(s, e, i, j), m.at[i * s->cols + j]);
    }
    matrix_clear(&m);
    return status;
}

enum bitcut_status case_init(struct kernel_case *x, const struct kernel_trial *t,
                             struct configuration now, int threads, struct fault *f)
{
    const struct kernel_shape s = now.shape;
    const struct room *room = now.room;
    const struct bitcut_format *format = &formats[t->kernel->matrices];
    const struct wanted a = { s.m, s.k, now.down_a, room->one_a, false },
                        b = { s.k, s.n, now.down_b, room->one_b, false },
                        d = { s.m, s.n, now.down_d, false, room->beside },
                        c = { s.m, s.n, now.down_c, room->one_c, room->beside };
    *x = (struct kernel_case){ .trial = t, .threads = threads, .now = now };
    enum bitcut_status status = stored_init(&x->a, &x->now, format, a, f);
    if (status == BITCUT_OK) status = stored_init(&x->b, &x->now, format, b, f);
    if (status == BITCUT_OK) status = stored_init(&x->c, &x->now, format, c, f);
    if (status == BITCUT_OK) status = stored_init(&x->d, &x->now, format, d, f);
    if (status == BITCUT_OK) status = stored_init(&x->want, &x->now, format, d, f);
    if (status == BITCUT_OK) status = fill(&x->a, &now, 0, room->one_a, threads, f);
    if (status == BITCUT_OK) status = fill(&x->b, &now, 1, room->one_b, threads, f);
    if (status == BITCUT_OK) status = fill(&x->c, &now, 2, room->one_c, threads, f);
    if (status != BITCUT_OK) return status;
    x->known = memory_allocate(x->d.elements, 1);
    return x->known ? BITCUT_OK : fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
}

void case_clear(struct kernel_case *x)
{
    free(x->known);
    stored_clear(&x->want);
    stored_clear(&x->d);
    stored_clear(&x->c);
    stored_clear(&x->b);
    stored_clear(&x->a);
}

/* --- kernel and model ------------------------------------------------------------- */

static bool reads_c(const struct kernel_case *x)
{
    return !f32_is_zero(x->now.scalars.beta);
}

bool case_is_in_place(const struct kernel_case *x)
{
    return x->now.in_place && reads_c(x);
}

/* The GEMMs, without C and D. */
static struct bitcut_gemm gemm_now(const struct kernel_case *x)
{
    struct bitcut_gemm g = x->trial->gemm;
    g.count = x->now.count;
    g.m = x->now.shape.m;
    g.n = x->now.shape.n;
    g.k = x->now.shape.k;
    g.alpha = x->now.scalars.alpha;
    g.beta = x->now.scalars.beta;
    g.a = x->a.is;
    g.b = x->b.is;
    return g;
}

static struct gpu_memory memory_of(const struct stored *s)
{
    return (struct gpu_memory){ s->memory, s->elements * s->bytes };
}

/* The initial contents of D's memory. */
static void reset(const struct stored *to, const struct kernel_case *x)
{
    for (size_t i = 0; i < to->elements; i++) put(to, i, gap_of(to->is.format));
    if (case_is_in_place(x)) memcpy(to->memory, x->c.memory, to->elements * to->bytes);
}

enum bitcut_status case_run(struct kernel_case *x, size_t k, struct fault *f)
{
    const struct recorder *r = x->trial->recorder;
    const struct stored *const c = case_is_in_place(x) ? &x->d : &x->c;
    const struct gpu_memory none = { 0 };
    const struct gpu_memory memory[4] = { memory_of(&x->a), memory_of(&x->b),
                                          reads_c(x) ? memory_of(c) : none,
                                          memory_of(&x->d) };
    struct bitcut_gemm g = gemm_now(x);
    struct gpu_work w;
    g.k = k;
    g.c = c->is;
    g.d = x->d.is;
    reset(&x->d, x);
    enum bitcut_status status = gpu_work_make(&w, &g, x->trial->kernel, &r->device, f);
    if (status == BITCUT_OK) status = gpu_work_check(&w, f);
    return status == BITCUT_OK ? gpu_work_run(&w, memory, &r->gpu, &r->device, f)
                               : status;
}

/* The matrix from element (i, j) on; with pointers only the whole matrix. */
static struct bitcut_matrix from(const struct stored *s, size_t i, size_t j)
{
    struct bitcut_matrix x = s->is;
    x.at = (const char *)x.at + offset_of(s, i, j) * s->bytes;
    return x;
}

/* Compute some outputs by the model: m x n of every GEMM, from (i, j) on. */
static enum bitcut_status run_model(struct kernel_case *x, size_t i, size_t j, size_t m,
                                    size_t n, size_t k, struct fault *f)
{
    const struct gemm_options options = { .threads = x->threads };
    struct bitcut_gemm g = gemm_now(x);
    g.m = m;
    g.n = n;
    g.k = k;
    g.a = from(&x->a, i, 0);
    g.b = from(&x->b, 0, j);
    g.c = from(&x->c, i, j);
    g.d = from(&x->want, i, j);
    for (size_t e = 0; e < g.count; e++)
        for (size_t p = 0; p < m; p++)
            for (size_t q = 0; q < n; q++) x->known[case_element(x, e, i + p, j + q)] = 1;
    return gemm_run(&g, &options, f);
}

enum bitcut_status case_run_models(struct kernel_case *x, struct fault *f)
{
    const struct kernel_shape s = x->now.shape;
    enum bitcut_status status = BITCUT_OK;
    reset(&x->want, x);
    memset(x->known, 1, x->want.elements);
    if (s.m * s.n * s.k <= whole_products) return run_model(x, 0, 0, s.m, s.n, s.k, f);
    const struct excerpt rows = excerpt_some(s.m, LINES, x->now.seed, 0),
                         cols = excerpt_some(s.n, LINES, x->now.seed, 1);
    for (size_t e = 0; e < x->now.count; e++)
        for (size_t i = 0; i < s.m; i++)
            for (size_t j = 0; j < s.n; j++) x->known[case_element(x, e, i, j)] = 0;
    for (size_t i = 0; i < rows.count && status == BITCUT_OK; i++)
        status = run_model(x, excerpt_line(&rows, i), 0, 1, s.n, s.k, f);
    for (size_t j = 0; j < cols.count && status == BITCUT_OK; j++)
        status = run_model(x, 0, excerpt_line(&cols, j), s.m, 1, s.k, f);
    return status;
}

enum bitcut_status case_run_model_at(struct kernel_case *x, size_t i, size_t j, size_t k,
                                     struct fault *f)
{
    const struct kernel_shape s = x->now.shape;
    reset(&x->want, x);
    return x->now.room->pointers ? run_model(x, 0, 0, s.m, s.n, k, f)
                                 : run_model(x, i, j, 1, 1, k, f);
}
