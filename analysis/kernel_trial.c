#include "analysis/kernel_trial.h"

#include "analysis/emit.h"
#include "analysis/excerpt.h"
#include "analysis/show.h"
#include "lib/fma.h"
#include "lib/input.h"
#include "lib/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what a kernel computes ------------------------------------------------------- */

bool kernel_is_called(const char *kernel, const char *name)
{
    const size_t length = strlen(name);
    if (!strcmp(name, "all")) return true;
    return !strncmp(kernel, name, length) && (!kernel[length] || kernel[length] == '.');
}

enum bitcut_status kernel_gemm(struct gemm *gemm, const struct recorder *r,
                               const struct gpu_kernel *k, struct fault *f)
{
    const struct bitcut_unit *unit = gpu_kernel_unit(k, &r->device);
    const struct bitcut_recipe *recipe = bitcut_recipe_find(k->recipe);
    if (!gpu_kernel_fits(&r->device, k))
        return fault_set(f, BITCUT_CANNOT, "%.100s cannot run it", r->device.name);
    if (!unit || !recipe)
        return fault_set(f, BITCUT_CANNOT, "there is no %s %.120s",
                         unit ? "recipe" : "unit", unit ? k->recipe : k->instruction);
    if (!gpu_kernel_implements(k, recipe))
        return fault_set(f, BITCUT_CANNOT, "its terms are not those of recipe %s",
                         k->recipe);
    *gemm = gemm_of(recipe, unit);
    gemm->promote = k->program.promote;
    gemm->low_low = k->program.terms > recipe->terms;
    return BITCUT_OK;
}

struct bitcut_gemm kernel_asked(const struct gemm *model)
{
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.recipe = model->recipe;
    g.split_a = g.split_b = &model->split;
    g.low_low = model->low_low;
    g.promote = model->promote;
    g.equilibrate = model->equilibrate;
    g.order.slices = model->slices;
    g.alpha = model->alpha;
    g.beta = model->beta;
    return g;
}

/* --- the grid --------------------------------------------------------------------- */

/* Around tiles of blocks, warps, instructions and runs of words. */
static const struct kernel_shape shapes[] = {
    { 0, 5, 7 },      { 5, 0, 7 },      { 5, 7, 0 },      { 1, 1, 1 },
    { 1, 3, 16 },     { 17, 9, 15 },    { 32, 24, 40 },   { 2, 3, 1000 },
    { 1, 515, 64 },   { 150, 2, 40 },   { 33, 70, 130 },  { 129, 65, 33 },
    { 131, 140, 97 }, { 260, 270, 24 }, { 20, 30, 2049 },
};

static const char *const classes[] = {
    "nrand",     "urand(-1,1)",   "positive", "exp_rand(-60,60)",
    "subnormal", "specials(200)", "zeros",    "anybits",
};

/* FP32 encodings; C is not read where beta is a zero. */
static const struct scalars {
    uint32_t alpha, beta;
} scalars[] = {
    { F32_ONE, 0 },             /* 1, 0        */
    { F32_ONE, F32_ONE },       /* 1, 1        */
    { 0xbf400000, 0x80000000 }, /* -0.75, -0   */
    { 0x40466666, 0xbf99999a }, /* 3.1, -1.2   */
    { 0, 0x00000001 },          /* 0, 2^-149   */
};

/* How many GEMMs; whether all of them share A, B or C, a C that D is not then; and
   whether matrices of D lie side by side, so that a row in memory is one of each. */
static const struct batch {
    size_t count;
    bool one_a, one_b, one_c, beside;
} batches[] = {
    { 1, false, false, false, false }, { 2, false, true, false, false },
    { 1, false, false, false, false }, { 3, false, false, false, true },
    { 1, false, false, false, false }, { 3, false, false, true, false },
    { 2, true, false, false, false },
};

enum {
    CLASSES = sizeof classes / sizeof classes[0],
    SCALARS = sizeof scalars / sizeof scalars[0],
    BATCHES = sizeof batches / sizeof batches[0],
    COUNT_MOST = 3,
    TRANSPOSES = 4,
    EACH = CLASSES * SCALARS * TRANSPOSES, /* configurations of a small shape     */
    LINES = 8                              /* rows, and columns, of a large one   */
};

static const size_t small_products = (size_t)1 << 18, whole_products = (size_t)1 << 22;

/* One of the grid. */
struct configuration {
    struct kernel_shape shape;
    const char *input;
    bool transposed_a, transposed_b;
    struct scalars scalars;
    struct batch batch;
    bool in_place; /* D is C                        */
    size_t gap;    /* between the rows, and matrices */
    uint64_t seed;
};

static size_t products_of(struct kernel_shape s) { return s.m * s.n * s.k; }

static size_t configurations_of(struct kernel_shape s)
{
    return products_of(s) <= small_products ? EACH : CLASSES;
}

static struct configuration configuration_of(struct kernel_shape s, size_t at,
                                             uint64_t seed)
{
    const size_t turn = at / CLASSES, class = at % CLASSES;
    const bool small = products_of(s) <= small_products;
    const size_t t = small ? turn % TRANSPOSES : class % TRANSPOSES;
    return (struct configuration){
        .shape = s,
        .input = classes[class],
        .transposed_a = t & 1,
        .transposed_b = t >> 1,
        .scalars = scalars[small ? turn / TRANSPOSES : class % SCALARS],
        .batch = batches[small ? at % BATCHES : 0],
        .in_place = (at & 1) && !(small && batches[at % BATCHES].one_c),
        .gap = at % 4,
        .seed = seed + at,
    };
}

/* --- the matrices of a configuration ---------------------------------------------- */

/* What lies between rows, and in D before: a NaN that no arithmetic gives. */
#define GAP 0x7fa5a5a5u

/* Matrices of a batch as the kernel finds them. */
struct stored {
    uint32_t *at;
    size_t ld, stride;
    size_t elements; /* of memory */
};

/* One of them. */
struct matrices {
    struct matrix a, b, c;
};

struct live {
    const struct kernel_trial *trial;
    struct configuration now;
    struct matrices of[COUNT_MOST];
    struct stored a, b, c, d;
};

static enum bitcut_status stored_init(struct stored *s, size_t elements, size_t ld,
                                      size_t stride, struct fault *f)
{
    *s = (struct stored){ NULL, ld, stride, elements };
    s->at = memory_allocate(elements, sizeof *s->at);
    for (size_t i = 0; s->at && i < elements; i++) s->at[i] = GAP;
    return s->at ? BITCUT_OK
                 : fault_set(f, BITCUT_NO_MEMORY, "no memory for the matrices");
}

/* One after the other. */
static enum bitcut_status stored_apart(struct stored *s, size_t count, size_t rows,
                                       size_t cols, size_t gap, struct fault *f)
{
    size_t stride, elements;
    if (!size_multiply(&stride, rows, cols + gap) || stride > SIZE_MAX - gap ||
        !size_multiply(&elements, count, stride + gap))
        return fault_set(f, BITCUT_NO_MEMORY, "no memory for the matrices");
    return stored_init(s, elements, cols + gap, stride + gap, f);
}

/* C or D. */
static enum bitcut_status stored_output(struct stored *s, const struct configuration *now,
                                        struct fault *f)
{
    const size_t count = now->batch.count, m = now->shape.m, n = now->shape.n;
    const size_t row = count * n + now->gap;
    return now->batch.beside ? stored_init(s, m * row, row, n, f)
                             : stored_apart(s, count, m, n, now->gap, f);
}

static size_t place(const struct stored *s, size_t matrix, size_t i, size_t j)
{
    return matrix * s->stride + i * s->ld + j;
}

static void stored_copy(struct stored *s, size_t matrix, const struct matrix *m,
                        bool transposed)
{
    for (size_t i = 0; i < m->rows; i++)
        for (size_t j = 0; j < m->cols; j++)
            s->at[transposed ? place(s, matrix, j, i) : place(s, matrix, i, j)] =
                m->at[i * m->cols + j];
}

static enum bitcut_status stored_operand(struct stored *s, size_t count, size_t rows,
                                         size_t cols, bool transposed, size_t gap,
                                         struct fault *f)
{
    return stored_apart(s, count, transposed ? cols : rows, transposed ? rows : cols, gap,
                        f);
}

static enum bitcut_status make(struct matrix *m, size_t rows, size_t cols,
                               const char *text, enum input_role role, uint64_t seed,
                               int threads, struct fault *f)
{
    struct input input;
    enum bitcut_status status = input_parse(&input, text, f);
    if (status == BITCUT_OK) status = matrix_init(m, rows, cols, f);
    return status == BITCUT_OK ? input_fill(m, &input, role, seed, threads, f) : status;
}

/* GEMM i of the batch.  An operand that all share is that of GEMM 0. */
static enum bitcut_status matrices_init(struct live *x, size_t i, struct fault *f)
{
    const struct configuration *now = &x->now;
    const struct kernel_shape s = now->shape;
    const int threads = x->trial->gemm.threads;
    const uint64_t seed = now->seed ^ (uint64_t)i << 32, first = now->seed;
    struct matrices *to = &x->of[i];
    enum bitcut_status status = make(&to->a, s.m, s.k, now->input, INPUT_A,
                                     now->batch.one_a ? first : seed, threads, f);
    if (status == BITCUT_OK)
        status = make(&to->b, s.k, s.n, now->input, INPUT_B,
                      now->batch.one_b ? first : seed, threads, f);
    if (status == BITCUT_OK)
        status = make(&to->c, s.m, s.n, now->input, INPUT_A,
                      ~(now->batch.one_c ? first : seed), threads, f);
    if (status != BITCUT_OK) return status;
    stored_copy(&x->a, now->batch.one_a ? 0 : i, &to->a, now->transposed_a);
    stored_copy(&x->b, now->batch.one_b ? 0 : i, &to->b, now->transposed_b);
    stored_copy(&x->c, now->batch.one_c ? 0 : i, &to->c, false);
    return status;
}

static enum bitcut_status live_init(struct live *x, const struct kernel_trial *t,
                                    struct configuration now, struct fault *f)
{
    const struct kernel_shape s = now.shape;
    const size_t count = now.batch.count;
    *x = (struct live){ .trial = t, .now = now };
    enum bitcut_status status =
        stored_operand(&x->a, count, s.m, s.k, now.transposed_a, now.gap, f);
    if (status == BITCUT_OK)
        status = stored_operand(&x->b, count, s.k, s.n, now.transposed_b, now.gap / 2, f);
    if (status == BITCUT_OK) status = stored_output(&x->c, &now, f);
    if (status == BITCUT_OK) status = stored_output(&x->d, &now, f);
    for (size_t i = 0; i < count && status == BITCUT_OK; i++)
        status = matrices_init(x, i, f);
    return status;
}

static void live_clear(struct live *x)
{
    for (size_t i = 0; i < COUNT_MOST; i++) {
        matrix_clear(&x->of[i].c);
        matrix_clear(&x->of[i].b);
        matrix_clear(&x->of[i].a);
    }
    free(x->d.at);
    free(x->c.at);
    free(x->b.at);
    free(x->a.at);
}

/* --- both sides ------------------------------------------------------------------- */

static struct bitcut_matrix matrix_of(const struct stored *s, bool turned, bool one)
{
    return (struct bitcut_matrix){ .at = s->at,
                                   .layout =
                                       turned ? BITCUT_COLUMN_MAJOR : BITCUT_ROW_MAJOR,
                                   .ld = s->ld,
                                   .stride = one ? 0 : s->stride };
}

static struct gpu_memory memory_of(const struct stored *s)
{
    return (struct gpu_memory){ s->at, s->elements * sizeof *s->at };
}

/* D by the kernel, of the first k of A and B. */
static enum bitcut_status run_device(struct live *x, size_t k, struct fault *f)
{
    const struct kernel_trial *t = x->trial;
    const bool reads_c = x->now.scalars.beta & 0x7fffffff;
    const bool in_place = x->now.in_place && reads_c;
    const struct batch batch = x->now.batch;
    const struct stored *const c = in_place ? &x->d : &x->c;
    struct bitcut_gemm g = kernel_asked(&t->gemm);
    struct gpu_work w;
    g.count = batch.count;
    g.m = x->now.shape.m;
    g.n = x->now.shape.n;
    g.k = k;
    g.alpha = x->now.scalars.alpha;
    g.beta = x->now.scalars.beta;
    g.a = matrix_of(&x->a, x->now.transposed_a, batch.one_a);
    g.b = matrix_of(&x->b, x->now.transposed_b, batch.one_b);
    g.c = matrix_of(c, false, batch.one_c);
    g.d = matrix_of(&x->d, false, false);
    const struct gpu_memory memory[4] = { memory_of(&x->a), memory_of(&x->b),
                                          reads_c ? memory_of(c)
                                                  : (struct gpu_memory){ 0 },
                                          memory_of(&x->d) };
    for (size_t i = 0; i < x->d.elements; i++) x->d.at[i] = GAP;
    for (size_t i = 0; i < batch.count && in_place; i++)
        stored_copy(&x->d, i, &x->of[i].c, false);
    enum bitcut_status status = gpu_work_make(&w, &g, t->kernel, &t->recorder->device, f);
    if (status == BITCUT_OK) status = gpu_work_check(&w, f);
    return status == BITCUT_OK
               ? gpu_work_run(&w, memory, &t->recorder->gpu, &t->recorder->device, f)
               : status;
}

/* The outputs of some rows and columns of a matrix, of the first k: as a GEMM of their
   own. */
static enum bitcut_status run_model(struct matrix *d, const struct live *x, size_t matrix,
                                    const struct excerpt *rows,
                                    const struct excerpt *cols, size_t k, struct fault *f)
{
    const struct excerpt first = { .count = k };
    const struct matrices *of = &x->of[matrix];
    struct matrix a = { 0 }, b = { 0 }, c = { 0 };
    struct gemm g = x->trial->gemm;
    g.alpha = x->now.scalars.alpha;
    g.beta = x->now.scalars.beta;
    enum bitcut_status status = excerpt_gather(&a, &of->a, rows, &first, f);
    if (status == BITCUT_OK) status = excerpt_gather(&b, &of->b, &first, cols, f);
    if (status == BITCUT_OK) status = excerpt_gather(&c, &of->c, rows, cols, f);
    if (status == BITCUT_OK) status = matrix_init(d, rows->count, cols->count, f);
    if (status == BITCUT_OK)
        status = gemm_run(d->at, d->cols, &g, d->rows, d->cols, k, a.at, a.cols, b.at,
                          b.cols, c.at, c.cols, NULL, f);
    matrix_clear(&c);
    matrix_clear(&b);
    matrix_clear(&a);
    return status;
}

/* --- a difference ----------------------------------------------------------------- */

/* An element of the memory that D lies in; j may be behind the row, in a gap. */
struct output {
    size_t matrix, i, j;
};

/* Whether the output differs after the first `steps` k-steps. */
static enum bitcut_status differs(bool *yes, struct live *x, struct output at,
                                  size_t steps, struct fault *f)
{
    const struct excerpt row = { 1, { at.i }, true }, col = { 1, { at.j }, true };
    const size_t all = x->now.shape.k, k = steps * (size_t)x->trial->gemm.unit->k;
    struct matrix want = { 0 };
    enum bitcut_status status = run_device(x, k < all ? k : all, f);
    if (status == BITCUT_OK)
        status = run_model(&want, x, at.matrix, &row, &col, k < all ? k : all, f);
    if (status == BITCUT_OK)
        *yes = want.at[0] != x->d.at[place(&x->d, at.matrix, at.i, at.j)];
    matrix_clear(&want);
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

static json_t *describe(const struct live *x, struct output at, uint32_t model,
                        uint32_t device)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32];
    const struct configuration *c = &x->now;
    char transposes[] = "nn";
    if (c->transposed_a) transposes[0] = 't';
    if (c->transposed_b) transposes[1] = 't';
    json_t *first = json_pack(
        "{s:o, s:o, s:o, s:s, s:b, s:o, s:o, s:s, s:o, s:o, s:[o,o], s:o, s:o}", "m",
        json_count(c->shape.m), "n", json_count(c->shape.n), "k", json_count(c->shape.k),
        "transposes", transposes, "in_place", (int)c->in_place, "alpha",
        json_number(format_to_double(f32, c->scalars.alpha)), "beta",
        json_number(format_to_double(f32, c->scalars.beta)), "input", c->input, "count",
        json_count(c->batch.count), "gemm", json_count(at.matrix), "at", json_count(at.i),
        json_count(at.j), "model", show_encoding(f32, model), "device",
        show_encoding(f32, device));
    show_distance(first, f32, model, device);
    return first;
}

/* Count a mismatch; the first one is described and followed back, which runs the kernel
   again: x->d is lost. */
static enum bitcut_status found(struct kernel_result *r, struct live *x, struct output at,
                                uint32_t model, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    size_t step = 0;
    r->first = describe(x, at, model, x->d.at[place(&x->d, at.matrix, at.i, at.j)]);
    const bool steps =
        at.i < x->now.shape.m && at.j < x->now.shape.n && x->trial->gemm.slices == 1;
    if (steps) status = find_step(&step, x, at, f);
    json_object_set_new(r->first, "k_step", steps ? json_count(step) : json_null());
    return status;
}

/* --- a configuration -------------------------------------------------------------- */

/* What a look at D found. */
struct tally {
    size_t mismatches;
    struct output first;
    uint32_t model;
};

static void tally_add(struct tally *t, const struct live *x, struct output at,
                      uint32_t model)
{
    if (model == x->d.at[place(&x->d, at.matrix, at.i, at.j)]) return;
    if (!t->mismatches++) t->first = at, t->model = model;
}

static enum bitcut_status compare(struct kernel_result *r, struct tally *t,
                                  const struct live *x, size_t matrix,
                                  const struct excerpt *rows, const struct excerpt *cols,
                                  struct fault *f)
{
    struct matrix want = { 0 };
    const enum bitcut_status status =
        run_model(&want, x, matrix, rows, cols, x->now.shape.k, f);
    for (size_t i = 0; i < rows->count && status == BITCUT_OK; i++)
        for (size_t j = 0; j < cols->count; j++)
            tally_add(
                t, x,
                (struct output){ matrix, excerpt_line(rows, i), excerpt_line(cols, j) },
                want.at[i * want.cols + j]);
    if (status == BITCUT_OK) r->compared += rows->count * cols->count;
    matrix_clear(&want);
    return status;
}

/* What lies behind the rows of a matrix of D, and between it and the next.  Of those side
   by side the last has the gaps of all. */
static void compare_gaps(struct tally *t, const struct live *x, size_t matrix)
{
    const struct kernel_shape s = x->now.shape;
    const bool beside = x->now.batch.beside, last = matrix + 1 == x->now.batch.count;
    const size_t end = !beside ? x->d.ld : last ? s.n + x->now.gap : s.n;
    for (size_t i = 0; i < s.m; i++)
        for (size_t j = s.n; j < end; j++)
            tally_add(t, x, (struct output){ matrix, i, j }, GAP);
    for (size_t j = 0; !beside && j < x->now.gap; j++)
        tally_add(t, x, (struct output){ matrix, s.m, j }, GAP);
}

static enum bitcut_status compare_all(struct kernel_result *r, struct tally *t,
                                      const struct live *x, size_t matrix,
                                      struct fault *f)
{
    const struct kernel_shape s = x->now.shape;
    const struct excerpt rows = { .count = s.m }, cols = { .count = s.n };
    compare_gaps(t, x, matrix);
    if (products_of(s) <= whole_products)
        return compare(r, t, x, matrix, &rows, &cols, f);
    const struct excerpt some_rows = excerpt_some(s.m, LINES, x->now.seed, 0),
                         some_cols = excerpt_some(s.n, LINES, x->now.seed, 1);
    const enum bitcut_status status = compare(r, t, x, matrix, &some_rows, &cols, f);
    return status == BITCUT_OK ? compare(r, t, x, matrix, &rows, &some_cols, f) : status;
}

static enum bitcut_status try_one(struct kernel_result *r, const struct kernel_trial *t,
                                  struct configuration now, struct fault *f)
{
    struct live x;
    struct tally tally = { 0 };
    enum bitcut_status status = live_init(&x, t, now, f);
    if (status == BITCUT_OK) status = run_device(&x, now.shape.k, f);
    for (size_t i = 0; i < now.batch.count && status == BITCUT_OK; i++)
        status = compare_all(r, &tally, &x, i, f);
    if (status == BITCUT_OK && tally.mismatches && !r->mismatches)
        status = found(r, &x, tally.first, tally.model, f);
    r->configurations++;
    r->mismatches += tally.mismatches;
    live_clear(&x);
    return status;
}

/* --- all of them ------------------------------------------------------------------ */

enum bitcut_status kernel_trial_run(struct kernel_result *result,
                                    const struct kernel_trial *t,
                                    const struct progress *progress, struct fault *f)
{
    const struct kernel_shape *const first = t->shape ? t->shape : shapes;
    const size_t count = t->shape ? 1 : sizeof shapes / sizeof shapes[0];
    struct kernel_result r = { 0 };
    enum bitcut_status status = BITCUT_OK;
    for (size_t s = 0; s < count && status == BITCUT_OK; s++)
        for (size_t i = 0; i < configurations_of(first[s]) && status == BITCUT_OK; i++) {
            progress_report(progress, s * EACH + i, count * EACH);
            status = progress_stopped(progress)
                         ? fault_set(f, BITCUT_CANNOT, "stopped")
                         : try_one(&r, t, configuration_of(first[s], i, t->seed), f);
        }
    if (status != BITCUT_OK) json_decref(r.first);
    else if (!r.first) r.first = json_null();
    if (status == BITCUT_OK) *result = r;
    return status;
}
