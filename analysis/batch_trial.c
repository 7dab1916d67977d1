#include "analysis/batch_trial.h"

#include "analysis/emit.h"
#include "analysis/show.h"
#include "lib/fma.h"
#include "lib/rand.h"

#include <stdlib.h>
#include <string.h>

/* --- the grid --------------------------------------------------------------------- */

/* Around the sizes of fragments, kernels and vectors; large counts go round more than
   once in the kernels' loops. */
static const struct batch_shape {
    struct kernel_shape size;
    size_t count, configurations;
} shapes[] = {
    { { 0, 5, 7 }, 5, 7 },       { { 5, 0, 7 }, 5, 7 },      { { 5, 7, 0 }, 5, 56 },
    { { 1, 1, 1 }, 37, 56 },     { { 2, 2, 2 }, 37, 56 },    { { 3, 3, 3 }, 37, 56 },
    { { 4, 4, 4 }, 37, 56 },     { { 5, 5, 5 }, 37, 56 },    { { 8, 4, 2 }, 37, 56 },
    { { 7, 3, 6 }, 37, 56 },     { { 8, 8, 8 }, 37, 56 },    { { 4, 8, 16 }, 37, 56 },
    { { 9, 10, 11 }, 19, 56 },   { { 12, 12, 12 }, 19, 56 }, { { 16, 16, 16 }, 19, 56 },
    { { 16, 8, 24 }, 19, 56 },   { { 24, 24, 24 }, 19, 56 }, { { 17, 31, 32 }, 9, 56 },
    { { 32, 32, 32 }, 9, 56 },   { { 20, 36, 44 }, 9, 56 },  { { 48, 48, 48 }, 5, 56 },
    { { 63, 61, 33 }, 5, 56 },   { { 64, 64, 64 }, 5, 56 },  { { 1, 64, 64 }, 9, 56 },
    { { 64, 1, 64 }, 9, 56 },    { { 64, 64, 1 }, 9, 56 },   { { 4, 4, 4 }, 100003, 2 },
    { { 16, 12, 16 }, 5003, 2 },
};

enum { ASKED_COUNT = 37 }; /* of a shape that the command line names */

/* An element from 32 random bits. */
static uint16_t with_exponent(uint32_t w, uint32_t exponent)
{
    return (uint16_t)((w & 0x83ff) | exponent << 10);
}

static uint16_t normal(uint32_t w) { return with_exponent(w, 11 + (w >> 16) % 8); }
static uint16_t like_one(uint32_t w) { return with_exponent(w, 15); }
static uint16_t wide(uint32_t w) { return with_exponent(w, (w >> 16) % 31); }
static uint16_t subnormal(uint32_t w) { return with_exponent(w, 0); }
static uint16_t large(uint32_t w) { return with_exponent(w, 24 + (w >> 16) % 7); }
static uint16_t zero(uint32_t w) { return (uint16_t)(w & 0x8000); }
static uint16_t any(uint32_t w) { return (uint16_t)w; }

/* One of 64 is an infinity, a NaN, a zero or the largest value. */
static uint16_t special(uint32_t w)
{
    static const uint16_t some[4] = { 0x7c00, 0x7e01, 0, 0x7bff };
    return w >> 26 ? normal(w) : (uint16_t)((w & 0x8000) | some[w & 3]);
}

static const struct class
{
    const char *name;
    uint16_t (*element)(uint32_t w);
} classes[] = {
    { "normal", normal },       { "like_one", like_one },
    { "wide", wide },           { "large", large },
    { "subnormal", subnormal }, { "specials", special },
    { "zeros", zero },          { "any", any },
};

/* How matrices lie in memory: elements between rows and between matrices, and before the
   first.  With pointers they are in no order, and pointer i is i % move elements further.
 */
static const struct layout {
    const char *name;
    size_t gap, apart, before;
    bool pointers, one_b;
    size_t move;
} layouts[] = {
    /* clang-format off */
    { "dense",           0, 0, 0, false, false, 1 },
    { "dense-one-b",     0, 0, 0, false, true,  1 },
    { "rows-by-8",       8, 8, 8, false, false, 1 },
    { "rows-by-4",       4, 4, 4, false, false, 1 },
    { "rows-by-1",       1, 3, 5, false, false, 1 },
    { "pointers",        0, 8, 0, true,  false, 1 },
    { "pointers-moved",  0, 8, 8, true,  true,  8 },
    /* clang-format on */
};

/* FP32 encodings; C is not read where beta is a zero. */
static const struct scalars {
    uint32_t alpha, beta;
} scalars[] = {
    { F32_ONE, 0 },             /* 1, 0      */
    { F32_ONE, F32_ONE },       /* 1, 1      */
    { 0xbf400000, 0x80000000 }, /* -0.75, -0 */
    { 0x40466666, 0xbf99999a }, /* 3.1, -1.2 */
    { 0, 0x39800000 },          /* 0, 2^-12  */
};

enum {
    CLASSES = sizeof classes / sizeof classes[0],
    LAYOUTS = sizeof layouts / sizeof layouts[0],
    SCALARS = sizeof scalars / sizeof scalars[0],
    EACH = CLASSES * LAYOUTS
};

/* One batch of the grid. */
struct configuration {
    struct kernel_shape size;
    size_t count;
    const struct class *input;
    const struct layout *layout;
    bool transposed_a, transposed_b, in_place;
    struct scalars scalars;
    uint64_t seed;
};

/* Shape s, configuration i of it. */
static struct configuration configuration_of(const struct batch_shape *s, size_t shape,
                                             size_t i, uint64_t seed)
{
    const size_t layout = i % LAYOUTS, class = i / LAYOUTS % CLASSES;
    const size_t turn = i + shape, transposes = turn % 4;
    return (struct configuration){
        .size = s->size,
        .count = s->count,
        .input = &classes[class],
        .layout = &layouts[layout],
        .transposed_a = transposes & 1,
        .transposed_b = transposes >> 1,
        .in_place = turn / 4 % 2,
        .scalars = scalars[turn % SCALARS],
        .seed = seed + EACH * shape + i,
    };
}

/* --- the matrices of a configuration ---------------------------------------------- */

/* What lies between matrices, and in D before: a NaN that no arithmetic gives. */
enum { GAP = 0x7da5 };

/* Matrices as the kernel finds them, and without gaps. */
struct stored {
    size_t rows, cols; /* of a matrix, as it is multiplied */
    bool transposed, pointers;
    size_t ld, stride, elements; /* elements: in all */
    uint16_t *memory, *dense;
    size_t *begin;         /* of every matrix in memory */
    const uint16_t **each; /* the same as pointers */
};

static void stored_clear(struct stored *s)
{
    free(s->each);
    free(s->begin);
    free(s->dense);
    free(s->memory);
}

/* Where matrix i begins: by pointers in another order. */
static size_t begin_of(const struct layout *l, const struct stored *s, size_t i,
                       size_t count)
{
    static const size_t prime = 1000003;
    const size_t slot = l->pointers ? (i * prime + 1) % count : i;
    return l->before + slot * s->stride + (l->pointers ? i % l->move : 0);
}

static size_t place(const struct stored *s, size_t matrix, size_t i, size_t j)
{
    return s->begin[matrix] + (s->transposed ? j * s->ld + i : i * s->ld + j);
}

/* Fill the matrices from a stream of random words; all are the first one if `one`. */
static bool fill(struct stored *s, const struct configuration *now, uint64_t stream,
                 bool one)
{
    const size_t each = s->rows * s->cols, count = now->count;
    const size_t distinct = one ? each : count * each;
    uint32_t *words = memory_allocate(distinct + 1, sizeof *words);
    if (!words) return false;
    rand_fill(words, distinct, now->seed, stream, 0);
    for (size_t at = 0; at < count * each; at++)
        s->dense[at] = now->input->element(words[at % distinct]);
    free(words);
    for (size_t x = 0; x < count; x++)
        for (size_t i = 0; i < s->rows; i++)
            for (size_t j = 0; j < s->cols; j++)
                s->memory[place(s, x, i, j)] = s->dense[x * each + i * s->cols + j];
    return true;
}

static bool stored_init(struct stored *s, const struct configuration *now, size_t rows,
                        size_t cols, bool transposed, bool one)
{
    const struct layout *l = now->layout;
    const size_t row = transposed ? rows : cols, height = transposed ? cols : rows;
    const size_t count = now->count;
    *s = (struct stored){ .rows = rows,
                          .cols = cols,
                          .transposed = transposed,
                          .pointers = l->pointers,
                          .ld = row + l->gap };
    s->stride = one && !l->pointers ? 0 : height * s->ld + l->apart;
    s->elements = l->before + count * s->stride + height * s->ld + l->apart;
    s->memory = memory_allocate(s->elements, sizeof *s->memory);
    s->dense = memory_allocate(count * rows * cols + 1, sizeof *s->dense);
    s->begin = memory_allocate(count, sizeof *s->begin);
    s->each = memory_allocate(count, sizeof *s->each);
    if (!s->memory || !s->dense || !s->begin || !s->each) return false;
    for (size_t i = 0; i < s->elements; i++) s->memory[i] = GAP;
    for (size_t i = 0; i < count; i++) {
        s->begin[i] = begin_of(l, s, one ? 0 : i, count);
        s->each[i] = s->memory + s->begin[i];
    }
    return true;
}

/* A batch on its way. */
struct live {
    const struct batch_trial *trial;
    struct configuration now;
    struct stored a, b, c, d;
    uint16_t *want; /* all of D's memory as it should become */
};

static bool live_matrices(struct live *x)
{
    const struct configuration *now = &x->now;
    const struct kernel_shape s = now->size;
    const bool one_b = now->layout->one_b;
    x->want = NULL;
    return stored_init(&x->a, now, s.m, s.k, now->transposed_a, false) &&
           stored_init(&x->b, now, s.k, s.n, now->transposed_b, one_b) &&
           stored_init(&x->c, now, s.m, s.n, false, false) &&
           stored_init(&x->d, now, s.m, s.n, false, false) &&
           fill(&x->a, now, 0, false) && fill(&x->b, now, 1, one_b) &&
           fill(&x->c, now, 2, false) &&
           (x->want = memory_allocate(x->d.elements, sizeof *x->want));
}

static void live_clear(struct live *x)
{
    free(x->want);
    stored_clear(&x->d);
    stored_clear(&x->c);
    stored_clear(&x->b);
    stored_clear(&x->a);
}

/* --- both sides ------------------------------------------------------------------- */

static struct bitcut_matrix matrix_of(const struct stored *s)
{
    struct bitcut_matrix x = { .format = &formats[FORMAT_F16],
                               .layout =
                                   s->transposed ? BITCUT_COLUMN_MAJOR : BITCUT_ROW_MAJOR,
                               .ld = s->ld,
                               .stride = s->stride };
    if (s->pointers) x.each = (const void *const *)s->each;
    else x.at = s->memory + s->begin[0];
    return x;
}

static struct gpu_memory memory_of(const struct stored *s)
{
    return (struct gpu_memory){ s->memory, s->elements * sizeof *s->memory };
}

/* D by the kernel, in the memory of D; that has C before if D is C. */
static enum bitcut_status run_device(struct live *x, struct fault *f)
{
    const struct batch_trial *t = x->trial;
    const struct recorder *r = t->recorder;
    const struct stored *c = x->now.in_place ? &x->d : &x->c;
    const struct gpu_memory memory[4] = { memory_of(&x->a), memory_of(&x->b),
                                          memory_of(c), memory_of(&x->d) };
    struct bitcut_gemm g = kernel_asked(&t->gemm);
    struct gpu_work w;
    g.count = x->now.count;
    g.m = x->now.size.m;
    g.n = x->now.size.n;
    g.k = x->now.size.k;
    g.alpha = x->now.scalars.alpha;
    g.beta = x->now.scalars.beta;
    g.a = matrix_of(&x->a);
    g.b = matrix_of(&x->b);
    g.c = matrix_of(c);
    g.d = matrix_of(&x->d);
    if (x->now.in_place)
        memcpy(x->d.memory, x->c.memory, x->d.elements * sizeof *x->d.memory);
    enum bitcut_status status = gpu_work_make(&w, &g, t->kernel, &r->device, f);
    if (status == BITCUT_OK) status = gpu_work_check(&w, f);
    return status == BITCUT_OK ? gpu_work_run(&w, memory, &r->gpu, &r->device, f)
                               : status;
}

/* D by the model, into what D's memory should become. */
static enum bitcut_status run_model(struct live *x, struct fault *f)
{
    const struct kernel_shape s = x->now.size;
    struct gemm gemm = x->trial->gemm;
    gemm.alpha = x->now.scalars.alpha;
    gemm.beta = x->now.scalars.beta;
    for (size_t i = 0; i < x->d.elements; i++) x->want[i] = GAP;
    const enum bitcut_status status =
        batch_model_run(x->d.dense, &gemm, x->now.count, s.m, s.n, s.k, x->a.dense,
                        x->b.dense, x->c.dense, x->trial->threads, f);
    for (size_t at = 0; status == BITCUT_OK && at < x->now.count * s.m * s.n; at++) {
        const size_t in = at % (s.m * s.n);
        x->want[place(&x->d, at / (s.m * s.n), in / s.n, in % s.n)] = x->d.dense[at];
    }
    return status;
}

/* --- a difference ----------------------------------------------------------------- */

/* The matrix, row and column of an element of D's memory, or null. */
static void describe_place(json_t *row, const struct live *x, size_t element)
{
    const struct kernel_shape s = x->now.size;
    json_object_set_new(row, "matrix", json_null());
    json_object_set_new(row, "at", json_null());
    for (size_t at = 0; at < x->now.count * s.m * s.n; at++) {
        const size_t matrix = at / (s.m * s.n), i = at % (s.m * s.n) / s.n, j = at % s.n;
        if (place(&x->d, matrix, i, j) != element) continue;
        json_object_set_new(row, "matrix", json_count(matrix));
        json_object_set_new(row, "at", json_pack("[o,o]", json_count(i), json_count(j)));
        return;
    }
}

static json_t *describe(const struct live *x, size_t element)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32], *f16 = &formats[FORMAT_F16];
    const struct configuration *c = &x->now;
    char transposes[] = "nn";
    if (c->transposed_a) transposes[0] = 't';
    if (c->transposed_b) transposes[1] = 't';
    json_t *row = json_pack(
        "{s:o, s:o, s:o, s:o, s:s, s:s, s:b, s:o, s:o, s:s}", "m", json_count(c->size.m),
        "n", json_count(c->size.n), "k", json_count(c->size.k), "count",
        json_count(c->count), "layout", c->layout->name, "transposes", transposes,
        "in_place", (int)c->in_place, "alpha",
        json_number(format_to_double(f32, c->scalars.alpha)), "beta",
        json_number(format_to_double(f32, c->scalars.beta)), "input", c->input->name);
    describe_place(row, x, element);
    json_object_set_new(row, "model", show_encoding(f16, x->want[element]));
    json_object_set_new(row, "device", show_encoding(f16, x->d.memory[element]));
    return row;
}

static void compare(struct kernel_result *r, const struct live *x)
{
    r->configurations++;
    r->compared += x->now.count * x->now.size.m * x->now.size.n;
    for (size_t i = 0; i < x->d.elements; i++) {
        if (x->d.memory[i] == x->want[i]) continue;
        if (!r->mismatches++) r->first = describe(x, i);
    }
}

/* What lies around the matrices of C is GAP as well, so that D may be C. */
static enum bitcut_status try_one(struct kernel_result *r, const struct batch_trial *t,
                                  struct configuration now, struct fault *f)
{
    struct live x = { .trial = t, .now = now };
    enum bitcut_status status =
        live_matrices(&x) ? BITCUT_OK : fault_set(f, BITCUT_NO_MEMORY, "no memory");
    if (status == BITCUT_OK) status = run_device(&x, f);
    if (status == BITCUT_OK) status = run_model(&x, f);
    if (status == BITCUT_OK) compare(r, &x);
    live_clear(&x);
    return status;
}

/* --- all of them ------------------------------------------------------------------ */

static enum bitcut_status try_shape(struct kernel_result *r, const struct batch_trial *t,
                                    const struct batch_shape *s, size_t number,
                                    const struct progress *progress, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    for (size_t i = 0; i < s->configurations && status == BITCUT_OK; i++)
        status = progress_stopped(progress)
                     ? fault_set(f, BITCUT_CANNOT, "stopped")
                     : try_one(r, t, configuration_of(s, number, i, t->seed), f);
    return status;
}

static bool is_taken(const struct batch_shape *s, const struct gpu_kernel *k)
{
    const size_t most = k->size_most;
    return s->size.m <= most && s->size.n <= most && s->size.k <= most;
}

enum bitcut_status batch_trial_run(struct kernel_result *result,
                                   const struct batch_trial *t,
                                   const struct progress *progress, struct fault *f)
{
    const struct batch_shape asked = { t->shape ? *t->shape : shapes[0].size, ASKED_COUNT,
                                       EACH };
    const size_t count = t->shape ? 1 : sizeof shapes / sizeof shapes[0];
    struct kernel_result r = { 0 };
    enum bitcut_status status = BITCUT_OK;
    for (size_t s = 0; s < count && status == BITCUT_OK; s++) {
        const struct batch_shape *shape = t->shape ? &asked : &shapes[s];
        progress_report(progress, s, count);
        if (t->shape || is_taken(shape, t->kernel))
            status = try_shape(&r, t, shape, s, progress, f);
    }
    if (status != BITCUT_OK) json_decref(r.first);
    else if (!r.first) r.first = json_null();
    if (status == BITCUT_OK) *result = r;
    return status;
}
