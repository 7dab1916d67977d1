#include "analysis/device/kernel_trial.h"

#include "analysis/evidence/json_value.h"
#include "analysis/device/matrix_excerpt.h"
#include "lib/fma.h"
#include "lib/file/input.h"
#include "lib/rand.h"

#include <stdlib.h>
#include <string.h>

/* --- what a kernel computes ------------------------------------------------------- */

bool kernel_is_called(const char *kernel, const char *name)
{
    const size_t length = strlen(name);
    if (!strcmp(name, "all")) return true;
    return !strncmp(kernel, name, length) && (!kernel[length] || kernel[length] == '.');
}

enum bitcut_status kernel_gemm(struct bitcut_gemm *gemm, const struct recorder *r,
                               const struct gpu_kernel *k, struct fault *f)
{
    struct gpu_work w;
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.a.format = g.b.format = g.c.format = g.d.format = &formats[k->matrices];
    const enum bitcut_status status = gpu_work_make(&w, &g, k, &r->device, f);
    if (status != BITCUT_OK) return status;
    *gemm = w.gemm;
    gemm->a.ld = gemm->b.ld = gemm->c.ld = gemm->d.ld = 0;
    return BITCUT_OK;
}

/* --- the grid --------------------------------------------------------------------- */

struct trial_shape {
    struct kernel_shape size;
    size_t count, configurations; /* 0: batches in turn; by their size */
};

/* Around tiles of blocks, warps, instructions and runs of words. */
static const struct trial_shape shapes_of_words[] = {
    { { 0, 5, 7 }, 0, 0 },       { { 5, 0, 7 }, 0, 0 },      { { 5, 7, 0 }, 0, 0 },
    { { 1, 1, 1 }, 0, 0 },       { { 1, 3, 16 }, 0, 0 },     { { 17, 9, 15 }, 0, 0 },
    { { 32, 24, 40 }, 0, 0 },    { { 2, 3, 1000 }, 0, 0 },   { { 1, 515, 64 }, 0, 0 },
    { { 150, 2, 40 }, 0, 0 },    { { 33, 70, 130 }, 0, 0 },  { { 129, 65, 33 }, 0, 0 },
    { { 131, 140, 97 }, 0, 0 },  { { 260, 270, 24 }, 0, 0 }, { { 20, 30, 2049 }, 0, 0 },
    { { 0, 0, 0 }, SIZE_MAX, 0 }
};

/* Around the sizes of fragments, kernels and vectors; large counts go round more than
   once in the kernels' loops. */
static const struct trial_shape small_shapes[] = {
    { { 0, 5, 7 }, 5, 7 },       { { 5, 0, 7 }, 5, 7 },        { { 5, 7, 0 }, 5, 56 },
    { { 1, 1, 1 }, 37, 56 },     { { 2, 2, 2 }, 37, 56 },      { { 3, 3, 3 }, 37, 56 },
    { { 4, 4, 4 }, 37, 56 },     { { 5, 5, 5 }, 37, 56 },      { { 8, 4, 2 }, 37, 56 },
    { { 7, 3, 6 }, 37, 56 },     { { 8, 8, 8 }, 37, 56 },      { { 4, 8, 16 }, 37, 56 },
    { { 9, 10, 11 }, 19, 56 },   { { 12, 12, 12 }, 19, 56 },   { { 16, 16, 16 }, 19, 56 },
    { { 16, 8, 24 }, 19, 56 },   { { 24, 24, 24 }, 19, 56 },   { { 17, 31, 32 }, 9, 56 },
    { { 32, 32, 32 }, 9, 56 },   { { 20, 36, 44 }, 9, 56 },    { { 48, 48, 48 }, 5, 56 },
    { { 63, 61, 33 }, 5, 56 },   { { 64, 64, 64 }, 5, 56 },    { { 1, 64, 64 }, 9, 56 },
    { { 64, 1, 64 }, 9, 56 },    { { 64, 64, 1 }, 9, 56 },     { { 4, 4, 4 }, 100003, 2 },
    { { 16, 12, 16 }, 5003, 2 }, { { 0, 0, 0 }, SIZE_MAX, 0 },
};

enum { ASKED_COUNT = 37 }; /* of small ones of a shape that the command line names */

/* An element of f16 from 32 random bits. */
static uint32_t with_exponent(uint32_t w, uint32_t exponent)
{
    return (w & 0x83ff) | exponent << 10;
}

static uint32_t normal(uint32_t w) { return with_exponent(w, 11 + (w >> 16) % 8); }
static uint32_t like_one(uint32_t w) { return with_exponent(w, 15); }
static uint32_t wide(uint32_t w) { return with_exponent(w, (w >> 16) % 31); }
static uint32_t subnormal(uint32_t w) { return with_exponent(w, 0); }
static uint32_t large(uint32_t w) { return with_exponent(w, 24 + (w >> 16) % 7); }
static uint32_t zero(uint32_t w) { return w & 0x8000; }
static uint32_t any(uint32_t w) { return w & 0xffff; }

/* One of 64 is an infinity, a NaN, a zero or the largest value. */
static uint32_t special(uint32_t w)
{
    static const uint16_t some[4] = { 0x7c00, 0x7e01, 0, 0x7bff };
    return w >> 26 ? normal(w) : (w & 0x8000) | some[w & 3];
}

/* Values of matrices: a family of inputs for f32, or elements of f16. */
struct values {
    const char *name;
    uint32_t (*element)(uint32_t w);
};

enum { CLASSES = 8 };

static const struct values classes_of_words[CLASSES] = {
    { "nrand", NULL },     { "urand(-1,1)", NULL },
    { "positive", NULL },  { "exp_rand(-60,60)", NULL },
    { "subnormal", NULL }, { "specials(200)", NULL },
    { "zeros", NULL },     { "anybits", NULL },
};

static const struct values small_classes[CLASSES] = {
    { "normal", normal },       { "like_one", like_one },
    { "wide", wide },           { "large", large },
    { "subnormal", subnormal }, { "specials", special },
    { "zeros", zero },          { "any", any },
};

/* How matrices lie in memory: elements between lines and between matrices, and before the
   first.  With pointers they are in no order, and pointer i is i % move elements further.
   Whether all share A, B or C, which D is not then; and whether matrices of D lie side by
   side, so that a line in memory is one of each. */
struct room {
    const char *name;
    size_t count; /* of GEMMs; 0: the shape's */
    size_t gap, apart, before;
    bool pointers;
    size_t move;
    bool one_a, one_b, one_c, beside;
};

enum { ROOMS = 7 };

static const struct room rooms_of_words[ROOMS] = {
    /* clang-format off */
    { "dense",       1, 0, 0, 0, false, 1, false, false, false, false },
    { "one-b",       2, 1, 1, 0, false, 1, false, true,  false, false },
    { "rows-by-2",   1, 2, 2, 3, false, 1, false, false, false, false },
    { "beside",      3, 3, 0, 1, false, 1, false, false, false, true  },
    { "rows-by-4",   1, 4, 4, 4, false, 1, false, false, false, false },
    { "one-c",       3, 1, 2, 0, false, 1, false, false, true,  false },
    { "one-a",       2, 2, 1, 2, false, 1, true,  false, false, false },
    /* clang-format on */
};

static const struct room small_rooms[ROOMS] = {
    /* clang-format off */
    { "dense",          0, 0, 0, 0, false, 1, false, false, false, false },
    { "dense-one-b",    0, 0, 0, 0, false, 1, false, true,  false, false },
    { "rows-by-8",      0, 8, 8, 8, false, 1, false, false, false, false },
    { "rows-by-4",      0, 4, 4, 4, false, 1, false, false, false, false },
    { "rows-by-1",      0, 1, 3, 5, false, 1, false, false, false, false },
    { "pointers",       0, 0, 8, 0, true,  1, false, false, false, false },
    { "pointers-moved", 0, 0, 8, 8, true,  8, false, true,  false, false },
    /* clang-format on */
};

/* FP32 encodings; C is not read where beta is a zero. */
static const struct scalars {
    uint32_t alpha, beta;
} scalars[] = {
    { F32_ONE, 0 },             /* 1, 0       */
    { F32_ONE, F32_ONE },       /* 1, 1       */
    { 0xbf400000, 0x80000000 }, /* -0.75, -0  */
    { 0x40466666, 0xbf99999a }, /* 3.1, -1.2  */
    { 0, 0x00000001 },          /* 0, 2^-149  */
    { 0, 0x39800000 },          /* 0, 2^-12   */
};

enum {
    SCALARS = 5, /* of words the first, of small ones the last instead of that before */
    LAYOUTS = 4, /* of two matrices */
    EACH_OF_WORDS = CLASSES * SCALARS * LAYOUTS,
    EACH_SMALL = CLASSES * ROOMS,
    LINES = 8 /* rows, and columns, of a large one */
};

static const size_t small_products = (size_t)1 << 18, whole_products = (size_t)1 << 22;

/* One of the grid. */
struct configuration {
    struct kernel_shape shape;
    size_t count;
    const struct values *values;
    const struct room *room;
    bool down_a, down_b, down_c, down_d; /* column-major */
    bool in_place;                       /* D is C       */
    struct scalars scalars;
    uint64_t seed;
};

static size_t products_of(struct kernel_shape s) { return s.m * s.n * s.k; }

/* Of a small shape all classes, layouts of A and B, and scalars; of a larger one each
   class.  The others, in turn. */
static struct configuration of_words(const struct trial_shape *s, size_t i, uint64_t seed)
{
    const bool small = products_of(s->size) <= small_products;
    const size_t turn = i / CLASSES, class = i % CLASSES;
    const size_t layout = small ? turn % LAYOUTS : class % LAYOUTS;
    const size_t down = (i + turn) / 3 % LAYOUTS;
    const struct room *room = &rooms_of_words[small ? i % ROOMS : 0];
    const bool in_place = (i & 1) && !room->one_c;
    return (struct configuration){
        .shape = s->size,
        .count = room->count,
        .values = &classes_of_words[class],
        .room = room,
        .down_a = layout & 1,
        .down_b = layout >> 1,
        .down_c = in_place ? down & 1 : down >> 1,
        .down_d = down & 1,
        .in_place = in_place,
        .scalars = scalars[small ? turn / LAYOUTS : class % SCALARS],
        .seed = seed + i,
    };
}

/* Of each shape all classes in all rooms, the others in turn. */
static struct configuration of_small(const struct trial_shape *s, size_t shape, size_t i,
                                     uint64_t seed)
{
    const size_t turn = i + shape, layout = turn % LAYOUTS, scalar = turn % SCALARS;
    const bool down = turn / 8 % 2;
    return (struct configuration){
        .shape = s->size,
        .count = s->count,
        .values = &small_classes[i / ROOMS % CLASSES],
        .room = &small_rooms[i % ROOMS],
        .down_a = layout & 1,
        .down_b = layout >> 1,
        .down_c = down,
        .down_d = down,
        .in_place = turn / LAYOUTS % 2,
        .scalars = scalars[scalar + 1 == SCALARS ? SCALARS : scalar],
        .seed = seed + EACH_SMALL * shape + i,
    };
}

/* --- the matrices of a configuration ---------------------------------------------- */

/* What lies between matrices, and in D before: a NaN that no arithmetic gives. */
static uint32_t gap_of(const struct bitcut_format *format)
{
    return format->bits == 16 ? 0x7da5 : 0x7fa5a5a5;
}

/* Matrices of a batch as the kernel finds them. */
struct stored {
    struct bitcut_matrix is; /* at strides or by pointers */
    size_t rows, cols, bytes, elements;
    unsigned char *memory;
    size_t *begin; /* of every matrix, elements in memory */
    const void **each;
};

static void stored_clear(struct stored *s)
{
    free(s->each);
    free(s->begin);
    free(s->memory);
}

static uint32_t get(const struct stored *s, const unsigned char *memory, size_t i)
{
    uint32_t bits = 0;
    memcpy(&bits, memory + i * s->bytes, s->bytes);
    return bits;
}

static void put(const struct stored *s, size_t i, uint32_t bits)
{
    memcpy(s->memory + i * s->bytes, &bits, s->bytes);
}

/* From the first element of a matrix. */
static size_t offset_of(const struct stored *s, size_t i, size_t j)
{
    return s->is.layout == BITCUT_COLUMN_MAJOR ? j * s->is.ld + i : i * s->is.ld + j;
}

static size_t place(const struct stored *s, size_t matrix, size_t i, size_t j)
{
    return s->begin[matrix] + offset_of(s, i, j);
}

/* What a matrix is to be like. */
struct wanted {
    size_t rows, cols;
    bool down, one, beside;
};

/* Leading dimension, stride and elements; false if nothing can count them. */
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

/* By pointers in another order. */
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
        return fault_set(f, BITCUT_NO_MEMORY, "no memory for the matrices");
    for (size_t i = 0; i < s->elements; i++) put(s, i, gap_of(format));
    for (size_t i = 0; i < now->count; i++) {
        s->begin[i] = begin_of(room, s, x.one ? 0 : i, now->count);
        s->each[i] = s->memory + s->begin[i] * s->bytes;
    }
    s->is.at = s->memory + room->before * s->bytes;
    if (room->pointers) s->is.each = s->each;
    return BITCUT_OK;
}

/* Values of a matrix, encodings of its format. */
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

/* Fill the matrices; all are the first one if `one`. */
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

/* A batch on its way.  C, where D is to be, lies as D does. */
struct live {
    const struct kernel_trial *trial;
    struct configuration now;
    struct stored a, b, c, d;
    struct stored want;   /* as D should become              */
    unsigned char *known; /* of every element of it: whether */
};

static enum bitcut_status live_init(struct live *x, const struct kernel_trial *t,
                                    struct configuration now, struct fault *f)
{
    const struct kernel_shape s = now.shape;
    const struct room *room = now.room;
    const struct bitcut_format *format = &formats[t->kernel->matrices];
    const struct wanted a = { s.m, s.k, now.down_a, room->one_a, false },
                        b = { s.k, s.n, now.down_b, room->one_b, false },
                        d = { s.m, s.n, now.down_d, false, room->beside },
                        c = { s.m, s.n, now.down_c, room->one_c, room->beside };
    *x = (struct live){ .trial = t, .now = now };
    enum bitcut_status status = stored_init(&x->a, &x->now, format, a, f);
    if (status == BITCUT_OK) status = stored_init(&x->b, &x->now, format, b, f);
    if (status == BITCUT_OK) status = stored_init(&x->c, &x->now, format, c, f);
    if (status == BITCUT_OK) status = stored_init(&x->d, &x->now, format, d, f);
    if (status == BITCUT_OK) status = stored_init(&x->want, &x->now, format, d, f);
    if (status == BITCUT_OK) status = fill(&x->a, &now, 0, room->one_a, t->threads, f);
    if (status == BITCUT_OK) status = fill(&x->b, &now, 1, room->one_b, t->threads, f);
    if (status == BITCUT_OK) status = fill(&x->c, &now, 2, room->one_c, t->threads, f);
    if (status != BITCUT_OK) return status;
    x->known = memory_allocate(x->d.elements, 1);
    return x->known ? BITCUT_OK : fault_set(f, BITCUT_NO_MEMORY, "no memory");
}

static void live_clear(struct live *x)
{
    free(x->known);
    stored_clear(&x->want);
    stored_clear(&x->d);
    stored_clear(&x->c);
    stored_clear(&x->b);
    stored_clear(&x->a);
}

/* --- both sides ------------------------------------------------------------------- */

static bool reads_c(const struct live *x)
{
    return (x->now.scalars.beta & 0x7fffffff) != 0;
}

static bool is_in_place(const struct live *x) { return x->now.in_place && reads_c(x); }

/* The GEMMs, without C and D. */
static struct bitcut_gemm gemm_now(const struct live *x)
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

/* What D's memory is before. */
static void reset(const struct stored *to, const struct live *x)
{
    for (size_t i = 0; i < to->elements; i++) put(to, i, gap_of(to->is.format));
    if (is_in_place(x)) memcpy(to->memory, x->c.memory, to->elements * to->bytes);
}

/* D by the kernel, of the first k of A and B. */
static enum bitcut_status run_device(struct live *x, size_t k, struct fault *f)
{
    const struct recorder *r = x->trial->recorder;
    const struct stored *const c = is_in_place(x) ? &x->d : &x->c;
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

/* The matrix from element (i, j) on; by pointers only all of it. */
static struct bitcut_matrix from(const struct stored *s, size_t i, size_t j)
{
    struct bitcut_matrix x = s->is;
    x.at = (const char *)x.at + offset_of(s, i, j) * s->bytes;
    return x;
}

/* Some outputs by the model: m x n of every GEMM from (i, j) on. */
static enum bitcut_status run_model(struct live *x, size_t i, size_t j, size_t m,
                                    size_t n, size_t k, struct fault *f)
{
    const struct gemm_options options = { .threads = x->trial->threads };
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
            for (size_t q = 0; q < n; q++) x->known[place(&x->want, e, i + p, j + q)] = 1;
    return gemm_run(&g, &options, f);
}

/* What D's memory should be: whole, or of large ones in some rows and columns. */
static enum bitcut_status run_models(struct live *x, struct fault *f)
{
    const struct kernel_shape s = x->now.shape;
    enum bitcut_status status = BITCUT_OK;
    reset(&x->want, x);
    memset(x->known, 1, x->want.elements);
    if (products_of(s) <= whole_products) return run_model(x, 0, 0, s.m, s.n, s.k, f);
    const struct excerpt rows = excerpt_some(s.m, LINES, x->now.seed, 0),
                         cols = excerpt_some(s.n, LINES, x->now.seed, 1);
    for (size_t e = 0; e < x->now.count; e++)
        for (size_t i = 0; i < s.m; i++)
            for (size_t j = 0; j < s.n; j++) x->known[place(&x->want, e, i, j)] = 0;
    for (size_t i = 0; i < rows.count && status == BITCUT_OK; i++)
        status = run_model(x, excerpt_line(&rows, i), 0, 1, s.n, s.k, f);
    for (size_t j = 0; j < cols.count && status == BITCUT_OK; j++)
        status = run_model(x, 0, excerpt_line(&cols, j), s.m, 1, s.k, f);
    return status;
}

/* --- a difference ----------------------------------------------------------------- */

/* An output; or an element of D's memory that is none. */
struct output {
    size_t element, matrix, i, j;
    bool is;
};

static struct output find_output(const struct live *x, size_t element)
{
    struct output o = { .element = element };
    for (o.matrix = 0; o.matrix < x->now.count; o.matrix++)
        for (o.i = 0; o.i < x->now.shape.m; o.i++)
            for (o.j = 0; o.j < x->now.shape.n; o.j++) {
                o.is = place(&x->d, o.matrix, o.i, o.j) == element;
                if (o.is) return o;
            }
    return o;
}

/* Whether the output differs after the first `steps` k-steps. */
static enum bitcut_status differs(bool *yes, struct live *x, struct output at,
                                  size_t steps, struct fault *f)
{
    const size_t all = x->now.shape.k, k = steps * (size_t)x->trial->gemm.unit->k;
    const size_t first = k < all ? k : all;
    enum bitcut_status status = run_device(x, first, f);
    if (status != BITCUT_OK) return status;
    reset(&x->want, x);
    status =
        run_model(x, x->now.room->pointers ? 0 : at.i, x->now.room->pointers ? 0 : at.j,
                  x->now.room->pointers ? x->now.shape.m : 1,
                  x->now.room->pointers ? x->now.shape.n : 1, first, f);
    *yes = get(&x->d, x->d.memory, at.element) != get(&x->d, x->want.memory, at.element);
    return status;
}

/* The step after which an output that differs in the end begins to. */
static enum bitcut_status find_step(size_t *step, struct live *x, struct output at,
                                    struct fault *f)
{
    const size_t each = (size_t)x->trial->gemm.unit->k;
    size_t same = 0, other = (x->now.shape.k + each - 1) / each;
    bool yes = false;
    enum bitcut_status status = differs(&yes, x, at, 0, f);
    if (yes) other = 0;
    while (status == BITCUT_OK && other > same + 1) {
        const size_t middle = same + (other - same) / 2;
        status = differs(&yes, x, at, middle, f);
        if (yes) other = middle;
        else same = middle;
    }
    *step = other;
    return status;
}

static const char *letters(char text[3], bool first, bool second)
{
    text[0] = first ? 't' : 'n';
    text[1] = second ? 't' : 'n';
    text[2] = 0;
    return text;
}

static json_t *describe(const struct live *x, struct output at)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32], *format = x->d.is.format;
    const struct configuration *c = &x->now;
    const uint32_t model = get(&x->d, x->want.memory, at.element),
                   device = get(&x->d, x->d.memory, at.element);
    char ab[3], cd[3];
    json_t *first = json_pack(
        "{s:o, s:o, s:o, s:s, s:s, s:s, s:b, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o}",
        "m", json_count(c->shape.m), "n", json_count(c->shape.n), "k",
        json_count(c->shape.k), "layout", c->room->name, "transposes",
        letters(ab, c->down_a, c->down_b), "outputs", letters(cd, c->down_c, c->down_d),
        "in_place", (int)is_in_place(x), "alpha",
        json_number(format_to_double(f32, c->scalars.alpha)), "beta",
        json_number(format_to_double(f32, c->scalars.beta)), "input", c->values->name,
        "count", json_count(c->count), "gemm",
        at.is ? json_count(at.matrix) : json_null(), "at",
        at.is ? json_pack("[o,o]", json_count(at.i), json_count(at.j)) : json_null(),
        "model", json_decoded(format, model), "device", json_decoded(format, device));
    json_set_distance(first, format, model, device);
    return first;
}

/* Describe a mismatch and follow it back, which runs the kernel again: x->d is lost. */
static enum bitcut_status found(struct kernel_result *r, struct live *x, size_t element,
                                struct fault *f)
{
    const struct output at = find_output(x, element);
    const bool steps = at.is && x->trial->gemm.order.slices <= 1;
    enum bitcut_status status = BITCUT_OK;
    size_t step = 0;
    r->first = describe(x, at);
    if (steps) status = find_step(&step, x, at, f);
    json_object_set_new(r->first, "k_step", steps ? json_count(step) : json_null());
    return status;
}

/* --- a configuration -------------------------------------------------------------- */

static void count_compared(struct kernel_result *r, const struct live *x)
{
    for (size_t e = 0; e < x->now.count; e++)
        for (size_t i = 0; i < x->now.shape.m; i++)
            for (size_t j = 0; j < x->now.shape.n; j++)
                r->compared += x->known[place(&x->d, e, i, j)];
}

static enum bitcut_status compare(struct kernel_result *r, struct live *x,
                                  struct fault *f)
{
    size_t mismatches = 0, first = 0;
    for (size_t i = 0; i < x->d.elements; i++)
        if (x->known[i] &&
            memcmp(x->d.memory + i * x->d.bytes, x->want.memory + i * x->d.bytes,
                   x->d.bytes) &&
            !mismatches++)
            first = i;
    count_compared(r, x);
    r->configurations++;
    const bool is_first = mismatches && !r->mismatches;
    r->mismatches += mismatches;
    return is_first ? found(r, x, first, f) : BITCUT_OK;
}

static enum bitcut_status try_one(struct kernel_result *r, const struct kernel_trial *t,
                                  struct configuration now, struct fault *f)
{
    struct live x;
    enum bitcut_status status = live_init(&x, t, now, f);
    if (status == BITCUT_OK) status = run_device(&x, now.shape.k, f);
    if (status == BITCUT_OK) status = run_models(&x, f);
    if (status == BITCUT_OK) status = compare(r, &x, f);
    live_clear(&x);
    return status;
}

/* --- all of them ------------------------------------------------------------------ */

static size_t configurations_of(const struct trial_shape *s)
{
    if (s->configurations) return s->configurations;
    return products_of(s->size) <= small_products ? EACH_OF_WORDS : CLASSES;
}

static enum bitcut_status try_shape(struct kernel_result *r, const struct kernel_trial *t,
                                    const struct trial_shape *s, size_t number,
                                    const struct progress *progress, struct fault *f)
{
    const bool words = gpu_kernel_splits(t->kernel);
    const size_t count = configurations_of(s);
    enum bitcut_status status = BITCUT_OK;
    for (size_t i = 0; i < count && status == BITCUT_OK; i++) {
        progress_report(progress, number * EACH_OF_WORDS + i,
                        EACH_OF_WORDS * sizeof small_shapes / sizeof small_shapes[0]);
        status = progress_stopped(progress)
                     ? fault_set(f, BITCUT_CANNOT, "stopped")
                     : try_one(r, t,
                               words ? of_words(s, i, t->seed)
                                     : of_small(s, number, i, t->seed),
                               f);
    }
    return status;
}

static bool is_taken(const struct trial_shape *s, const struct gpu_kernel *k)
{
    const size_t most = k->size_most ? k->size_most : SIZE_MAX;
    return s->size.m <= most && s->size.n <= most && s->size.k <= most;
}

enum bitcut_status kernel_trial_run(struct kernel_result *result,
                                    const struct kernel_trial *t,
                                    const struct progress *progress, struct fault *f)
{
    const bool words = gpu_kernel_splits(t->kernel);
    const struct trial_shape asked[] = {
        { t->shape ? *t->shape : (struct kernel_shape){ 0 }, words ? 0 : ASKED_COUNT,
          words ? 0 : EACH_SMALL },
        { { 0, 0, 0 }, SIZE_MAX, 0 }
    };
    const struct trial_shape *s = t->shape ? asked
                                  : words  ? shapes_of_words
                                           : small_shapes;
    struct kernel_result r = { 0 };
    enum bitcut_status status = BITCUT_OK;
    for (size_t i = 0; s[i].count != SIZE_MAX && status == BITCUT_OK; i++)
        if (t->shape || is_taken(&s[i], t->kernel))
            status = try_shape(&r, t, &s[i], i, progress, f);
    if (status != BITCUT_OK) json_decref(r.first);
    else if (!r.first) r.first = json_null();
    if (status == BITCUT_OK) *result = r;
    return status;
}
