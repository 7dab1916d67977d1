#include "analysis/kernel_trial.h"

#include "analysis/emit.h"
#include "analysis/excerpt.h"
#include "analysis/metric.h"
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
    char name[256];
    snprintf(name, sizeof name, "%s/%s", r->architecture->name, k->instruction);
    const struct bitcut_unit *unit = table_find(TABLE(units), name);
    const struct bitcut_recipe *recipe = bitcut_recipe_find(k->recipe);
    if (!gpu_kernel_fits(&r->device, k))
        return fault_set(f, BITCUT_CANNOT, "%.100s cannot run it", r->device.name);
    if (!unit || !recipe)
        return fault_set(f, BITCUT_CANNOT, "there is no %s %.120s",
                         unit ? "recipe" : "unit", unit ? k->recipe : name);
    if (!gpu_kernel_implements(k, recipe))
        return fault_set(f, BITCUT_CANNOT, "its terms are not those of recipe %s",
                         k->recipe);
    *gemm = gemm_of(recipe, unit);
    gemm->promote = k->program.promote;
    gemm->low_low = k->program.terms > recipe->terms;
    return BITCUT_OK;
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

enum {
    CLASSES = sizeof classes / sizeof classes[0],
    SCALARS = sizeof scalars / sizeof scalars[0],
    TRANSPOSES = 4,
    EACH = CLASSES * SCALARS * TRANSPOSES, /* configurations of a small shape     */
    LINES = 8                              /* rows, and columns, of a large one   */
};

static const size_t small_products = (size_t)1 << 18, whole_products = (size_t)1 << 22;

/* One GEMM of the grid. */
struct configuration {
    struct kernel_shape shape;
    const char *input;
    bool transposed_a, transposed_b;
    struct scalars scalars;
    bool in_place; /* D is C            */
    size_t gap;    /* between the rows  */
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
        .in_place = at & 1,
        .gap = at % 4,
        .seed = seed + at,
    };
}

/* --- the matrices of a configuration ---------------------------------------------- */

/* What lies between rows, and in D before: a NaN that no arithmetic gives. */
#define GAP 0x7fa5a5a5u

/* A matrix as the kernel finds it. */
struct stored {
    uint32_t *at;
    size_t rows, cols, ld;
};

struct live {
    const struct kernel_trial *trial;
    struct configuration now;
    struct matrix a, b, c;
    struct stored to_a, to_b, to_c, d;
};

static bool stored_init(struct stored *s, size_t rows, size_t cols, size_t gap)
{
    size_t count;
    *s = (struct stored){ NULL, rows, cols, cols + gap };
    if (!size_multiply(&count, rows, s->ld)) return false;
    s->at = memory_allocate(count, sizeof *s->at);
    for (size_t i = 0; s->at && i < count; i++) s->at[i] = GAP;
    return s->at != NULL;
}

static void stored_copy(struct stored *s, const struct matrix *m, bool transposed)
{
    for (size_t i = 0; i < m->rows; i++)
        for (size_t j = 0; j < m->cols; j++)
            s->at[transposed ? j * s->ld + i : i * s->ld + j] = m->at[i * m->cols + j];
}

static bool store(struct stored *s, const struct matrix *m, bool transposed, size_t gap)
{
    const size_t rows = transposed ? m->cols : m->rows;
    if (!stored_init(s, rows, transposed ? m->rows : m->cols, gap)) return false;
    stored_copy(s, m, transposed);
    return true;
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

static enum bitcut_status live_init(struct live *x, const struct kernel_trial *t,
                                    struct configuration now, struct fault *f)
{
    const struct kernel_shape s = now.shape;
    const int threads = t->gemm.threads;
    *x = (struct live){ .trial = t, .now = now };
    enum bitcut_status status =
        make(&x->a, s.m, s.k, now.input, INPUT_A, now.seed, threads, f);
    if (status == BITCUT_OK)
        status = make(&x->b, s.k, s.n, now.input, INPUT_B, now.seed, threads, f);
    if (status == BITCUT_OK)
        status = make(&x->c, s.m, s.n, now.input, INPUT_A, ~now.seed, threads, f);
    if (status != BITCUT_OK) return status;
    return store(&x->to_a, &x->a, now.transposed_a, now.gap) &&
                   store(&x->to_b, &x->b, now.transposed_b, now.gap / 2) &&
                   store(&x->to_c, &x->c, false, now.gap) &&
                   stored_init(&x->d, s.m, s.n, now.gap)
               ? BITCUT_OK
               : fault_set(f, BITCUT_NO_MEMORY, "no memory for the matrices");
}

static void live_clear(struct live *x)
{
    free(x->d.at);
    free(x->to_c.at);
    free(x->to_b.at);
    free(x->to_a.at);
    matrix_clear(&x->c);
    matrix_clear(&x->b);
    matrix_clear(&x->a);
}

/* --- both sides ------------------------------------------------------------------- */

/* D by the kernel, of the first k of A and B. */
static enum bitcut_status run_device(struct live *x, size_t k, struct fault *f)
{
    const struct kernel_trial *t = x->trial;
    const bool in_place = x->now.in_place && (x->now.scalars.beta & 0x7fffffff);
    struct gpu_gemm g = {
        .m = x->now.shape.m,
        .n = x->now.shape.n,
        .k = k,
        .alpha = x->now.scalars.alpha,
        .beta = x->now.scalars.beta,
        .a = { x->to_a.at, x->to_a.ld, x->now.transposed_a, NULL },
        .b = { x->to_b.at, x->to_b.ld, !x->now.transposed_b, NULL },
        .c = in_place ? x->d.at : x->to_c.at,
        .ldc = x->to_c.ld,
        .d = x->d.at,
        .ldd = x->d.ld,
        .slices = t->gemm.slices,
    };
    for (size_t i = 0; i < x->d.rows * x->d.ld; i++) x->d.at[i] = GAP;
    if (in_place) stored_copy(&x->d, &x->c, false);
    enum bitcut_status status =
        gpu_split_of(&g.split, &t->gemm.split, t->gemm.equilibrate, f);
    if (status == BITCUT_OK) status = gpu_gemm_check(&g, t->kernel, f);
    return status == BITCUT_OK ? gpu_gemm_run(&g, &t->recorder->gpu, t->kernel, f)
                               : status;
}

/* The outputs of some rows and columns, of the first k: as a GEMM of their own. */
static enum bitcut_status run_model(struct matrix *d, const struct live *x,
                                    const struct excerpt *rows,
                                    const struct excerpt *cols, size_t k, struct fault *f)
{
    const struct excerpt first = { .count = k };
    struct matrix a = { 0 }, b = { 0 }, c = { 0 };
    struct gemm g = x->trial->gemm;
    g.alpha = x->now.scalars.alpha;
    g.beta = x->now.scalars.beta;
    enum bitcut_status status = excerpt_gather(&a, &x->a, rows, &first, f);
    if (status == BITCUT_OK) status = excerpt_gather(&b, &x->b, &first, cols, f);
    if (status == BITCUT_OK) status = excerpt_gather(&c, &x->c, rows, cols, f);
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

/* Whether the output (i, j) of the first `steps` k-steps differs. */
static enum bitcut_status differs(bool *yes, struct live *x, size_t i, size_t j,
                                  size_t steps, struct fault *f)
{
    const struct excerpt row = { 1, { i }, true }, col = { 1, { j }, true };
    const size_t all = x->now.shape.k, k = steps * (size_t)x->trial->gemm.unit->k;
    struct matrix want = { 0 };
    enum bitcut_status status = run_device(x, k < all ? k : all, f);
    if (status == BITCUT_OK)
        status = run_model(&want, x, &row, &col, k < all ? k : all, f);
    if (status == BITCUT_OK) *yes = want.at[0] != x->d.at[i * x->d.ld + j];
    matrix_clear(&want);
    return status;
}

/* The step after which an output that differs in the end begins to. */
static enum bitcut_status find_step(size_t *step, struct live *x, size_t i, size_t j,
                                    struct fault *f)
{
    const size_t each = (size_t)x->trial->gemm.unit->k;
    size_t same = 0, other = (x->now.shape.k + each - 1) / each;
    bool yes = false;
    enum bitcut_status status = differs(&yes, x, i, j, 0, f);
    if (yes) other = 0;
    while (status == BITCUT_OK && other > same + 1) {
        const size_t middle = same + (other - same) / 2;
        status = differs(&yes, x, i, j, middle, f);
        if (yes) other = middle;
        else same = middle;
    }
    *step = other;
    return status;
}

static json_t *describe(const struct live *x, size_t i, size_t j, uint32_t model,
                        uint32_t device)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32];
    const struct configuration *c = &x->now;
    char transposes[] = "nn";
    if (c->transposed_a) transposes[0] = 't';
    if (c->transposed_b) transposes[1] = 't';
    return json_pack(
        "{s:o, s:o, s:o, s:s, s:b, s:o, s:o, s:s, s:[o,o], s:o, s:o, s:I}", "m",
        json_count(c->shape.m), "n", json_count(c->shape.n), "k", json_count(c->shape.k),
        "transposes", transposes, "in_place", (int)c->in_place, "alpha",
        json_number(format_to_double(f32, c->scalars.alpha)), "beta",
        json_number(format_to_double(f32, c->scalars.beta)), "input", c->input, "at",
        json_count(i), json_count(j), "model", show_encoding(f32, model), "device",
        show_encoding(f32, device), "ulps", (json_int_t)ulp_distance(model, device));
}

/* Count a mismatch; the first one is described and followed back, which runs the kernel
   again: x->d is lost. */
static enum bitcut_status found(struct kernel_result *r, struct live *x, size_t i,
                                size_t j, uint32_t model, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    size_t step = 0;
    r->first = describe(x, i, j, model, x->d.at[i * x->d.ld + j]);
    const bool steps = j < x->now.shape.n && x->trial->gemm.slices == 1;
    if (steps) status = find_step(&step, x, i, j, f);
    json_object_set_new(r->first, "k_step", steps ? json_count(step) : json_null());
    return status;
}

/* --- a configuration -------------------------------------------------------------- */

/* What a look at D found. */
struct tally {
    size_t mismatches, i, j; /* where the first one is */
    uint32_t model;
};

static void tally_add(struct tally *t, size_t i, size_t j, uint32_t model,
                      uint32_t device)
{
    if (model == device) return;
    if (!t->mismatches++) t->i = i, t->j = j, t->model = model;
}

static enum bitcut_status compare(struct kernel_result *r, struct tally *t,
                                  const struct live *x, const struct excerpt *rows,
                                  const struct excerpt *cols, struct fault *f)
{
    struct matrix want = { 0 };
    const enum bitcut_status status = run_model(&want, x, rows, cols, x->now.shape.k, f);
    for (size_t i = 0; i < rows->count && status == BITCUT_OK; i++)
        for (size_t j = 0; j < cols->count; j++)
            tally_add(t, excerpt_line(rows, i), excerpt_line(cols, j),
                      want.at[i * want.cols + j],
                      x->d.at[excerpt_line(rows, i) * x->d.ld + excerpt_line(cols, j)]);
    if (status == BITCUT_OK) r->compared += rows->count * cols->count;
    matrix_clear(&want);
    return status;
}

static enum bitcut_status compare_all(struct kernel_result *r, struct tally *t,
                                      const struct live *x, struct fault *f)
{
    const struct kernel_shape s = x->now.shape;
    const struct excerpt rows = { .count = s.m }, cols = { .count = s.n };
    for (size_t i = 0; i < s.m; i++)
        for (size_t j = s.n; j < x->d.ld; j++)
            tally_add(t, i, j, GAP, x->d.at[i * x->d.ld + j]);
    if (products_of(s) <= whole_products) return compare(r, t, x, &rows, &cols, f);
    const struct excerpt some_rows = excerpt_some(s.m, LINES, x->now.seed, 0),
                         some_cols = excerpt_some(s.n, LINES, x->now.seed, 1);
    const enum bitcut_status status = compare(r, t, x, &some_rows, &cols, f);
    return status == BITCUT_OK ? compare(r, t, x, &rows, &some_cols, f) : status;
}

static enum bitcut_status try_one(struct kernel_result *r, const struct kernel_trial *t,
                                  struct configuration now, struct fault *f)
{
    struct live x;
    struct tally tally = { 0 };
    enum bitcut_status status = live_init(&x, t, now, f);
    if (status == BITCUT_OK) status = run_device(&x, now.shape.k, f);
    if (status == BITCUT_OK) status = compare_all(r, &tally, &x, f);
    if (status == BITCUT_OK && tally.mismatches && !r->mismatches)
        status = found(r, &x, tally.i, tally.j, tally.model, f);
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
