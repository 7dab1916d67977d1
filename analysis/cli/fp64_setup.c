/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/fp64_setup.h"

#include "analysis/cli/device_option.h"
#include "gpu/api/fp64.h"

#include <stdio.h>
#include <string.h>

void fp64_setup_clear(struct fp64_setup *s)
{
    encoded_clear(&s->a);
    encoded_clear(&s->b);
    encoded_clear(&s->c);
    encoded_clear(&s->d);
    worst_inputs_clear(&s->worst);
    budget_answer_clear(&s->budget);
    if (s->recorder.gpu.module) recorder_close(&s->recorder);
}

static int check_kernel(const struct fp64_request *r)
{
    if (!r->kernel || r->device) return EXIT_GOOD;
    return complain("--kernel", "requires --device, for example --device cuda, with "
                                "--scheme");
}

int fp64_check(const struct fp64_options *o)
{
    if (o->worst_range != SETUP_UNSET && !o->worst_inputs)
        return complain("--worst-range", "requires --worst-inputs");
    if (!o->scheme && o->worst_inputs)
        return complain("--worst-inputs", "requires --scheme");
    if (o->scheme || o->parts == SETUP_UNSET) return EXIT_GOOD;
    return complain("--parts", "requires --scheme");
}

int fp64_check_options(const struct context *x, const char *const *taken,
                       const char *with)
{
    for (size_t i = 0; x->options[i].name; i++) {
        const char *const *name = taken;
        while (*name && strcmp(*name, x->options[i].name)) name++;
        if (!x->given[i] || *name) continue;
        struct fault f;
        fault_set(&f, BITCUT_BAD_ARGUMENT,
                  "belongs to FP32 GEMMs; it cannot be combined with %s", with);
        char option[80];
        snprintf(option, sizeof option, "--%s", x->options[i].name);
        return fail(option, &f);
    }
    return EXIT_GOOD;
}

/* Complain about the first given option that describes inputs, which the search finds. */
static int check_worst(const struct context *x, const struct fp64_options *o)
{
    static const char *const found[] = { "a",       "b",       "c",    "alpha", "beta",
                                         "input-a", "input-b", "pair", "index", NULL };
    for (size_t i = 0; o->worst_inputs && x->options[i].name; i++) {
        const char *const *name = found;
        while (*name && strcmp(*name, x->options[i].name)) name++;
        if (!x->given[i] || !*name) continue;
        struct fault f;
        fault_set(
            &f, BITCUT_BAD_ARGUMENT,
            "cannot be combined with --worst-inputs, which finds A and B of D = A B");
        char option[80];
        snprintf(option, sizeof option, strlen(*name) > 1 ? "--%s" : "-%s", *name);
        return fail(option, &f);
    }
    if (o->worst_range != SETUP_UNSET &&
        (o->worst_range < 0 || o->worst_range > WORST_RANGE_MAX))
        return complain("--worst-range", "must be 0 to 250");
    return EXIT_GOOD;
}

int fp64_choose(struct bitcut_gemm *g, int *parts, const struct fp64_options *o,
                const char *unit)
{
    struct fault f;
    *g = gemm_of(NULL, NULL);
    g->scheme = bitcut_scheme_find(o->scheme);
    if (!g->scheme) return fail_unknown("--scheme", o->scheme, TABLE(schemes));
    if (!unit)
        return complain("--unit", "is required with --scheme, for example --unit h100");
    g->unit = fp64_unit_find(g->scheme, unit);
    if (!g->unit && !table_find(TABLE(chips), unit)) return fail_unit(unit, true);
    if (!g->unit) {
        fault_set(&f, BITCUT_BAD_ARGUMENT,
                  "%s has no instruction for %s, the format of the parts of %s; choose "
                  "another chip or scheme",
                  unit, g->scheme->part->name, g->scheme->name);
        return fail("--unit", &f);
    }
    if (o->parts != SETUP_UNSET) g->parts = o->parts;
    if (o->parts != SETUP_UNSET && o->parts < 0)
        return complain("--parts", "must not be negative");
    return fp64_plan(parts, g, &f) == BITCUT_OK ? EXIT_GOOD : fail_about("--scheme", &f);
}

static bool is_given(const struct context *x, const char *option)
{
    for (size_t i = 0; x->options[i].name; i++)
        if (x->given[i] && !strcmp(x->options[i].name, option)) return true;
    return false;
}

/* --- the device ------------------------------------------------------------------- */

/* The GEMM that a kernel computes for g: A B of matrices in FP64 without gaps. */
static struct bitcut_gemm gemm_on_device(const struct bitcut_gemm *g, const char *kernel)
{
    const struct bitcut_matrix f64 = { .format = &formats[FORMAT_F64] };
    struct bitcut_gemm own = *g;
    own.a = own.b = own.c = own.d = f64;
    own.order.slices = 0;
    own.kernel = kernel;
    return own;
}

/* Open the device and choose its kernel; *unit is then the unit of the kernel. */
static int open_device(struct fp64_setup *s, const char **unit)
{
    const struct fp64_request *const r = s->r;
    const struct bitcut_scheme *const scheme = bitcut_scheme_find(r->fp64->scheme);
    struct bitcut_gemm g = gemm_of(NULL, NULL);
    struct gpu_fp64 w;
    struct fault f;
    if (!scheme) return EXIT_GOOD; /* fp64_choose() reports it */
    const int status = device_open(&s->recorder, r->device, r->d ? "verify" : "gemm");
    if (status != EXIT_GOOD) return status;
    g.scheme = scheme;
    g.unit = *unit ? fp64_unit_find(scheme, *unit) : NULL;
    if (*unit && !g.unit) return EXIT_GOOD; /* the same */
    g = gemm_on_device(&g, r->kernel);
    if (gpu_fp64_choose(&w, &s->recorder.gpu, &s->recorder.device, &g, &f) != BITCUT_OK)
        return fail(r->kernel ? "--kernel" : "--device", &f);
    gpu_offload_init(&s->offload, &s->recorder.gpu, &s->recorder.device);
    s->offload.fp64 = s->kernel = w.kernel;
    *unit = w.gemm.unit->name;
    return EXIT_GOOD;
}

/* Whether the kernel takes the sizes and the parts. */
static int check_device(const struct fp64_setup *s)
{
    const struct bitcut_gemm g = gemm_on_device(&s->gemm, NULL);
    struct gpu_fp64 w;
    struct fault f;
    if (!s->kernel ||
        gpu_fp64_make(&w, &g, s->kernel, &s->recorder.device, &f) == BITCUT_OK)
        return EXIT_GOOD;
    return fail("--device", &f);
}

struct gemm_options fp64_setup_options(const struct fp64_setup *s,
                                       const struct context *x)
{
    struct gemm_options options = context_options(x);
    if (s->kernel) options.offload = &s->offload.offload;
    return options;
}

/* --- the GEMM --------------------------------------------------------------------- */

/* Of explain: the errors of D are those of the scheme fp64's GEMM. */
static int choose(struct fp64_setup *s, const struct context *x)
{
    static const struct fp64_options explained = { .scheme = "fp64",
                                                   .parts = SETUP_UNSET };
    const struct setup_options *const o = s->r->setup;
    const struct fp64_options *const own = s->r->fp64;
    struct bitcut_gemm *const g = &s->gemm;
    const char *unit = own ? o->unit : "fma/f64";
    int status = s->r->device ? open_device(s, &unit) : EXIT_GOOD;
    if (status == EXIT_GOOD)
        status = fp64_choose(g, &s->parts, own ? own : &explained, unit);
    if (status != EXIT_GOOD) return status;
    if (is_given(x, "split-k") && o->slices < 1)
        return complain("--split-k", "must be at least 1");
    if (is_given(x, "split-k")) g->order.slices = o->slices;
    g->alpha_f64 = o->alpha.f64;
    g->beta_f64 = o->beta.f32 != SETUP_BETA_UNSET ? o->beta.f64 : o->c ? 1 : 0;
    if (g->beta_f64 != 0 && !o->c) return complain("--beta", "must be 0 without -c");
    return EXIT_GOOD;
}

/* Elements of files are FP64 values unless an option names their format. */
static int read(struct encoded_matrix *to, const struct fp64_setup *s, const char *option,
                const char *path)
{
    struct matrix_options files = s->r->setup->files;
    if (!files.format) files.format = "f64";
    if (!files.format_of[MATRIX_C]) files.format_of[MATRIX_C] = "f64";
    return matrix_read(to, option, path, &files);
}

static int draw(struct encoded_matrix *to, const struct input *in, enum input_role role,
                size_t rows, size_t cols, const char *option, const struct context *x)
{
    struct fault f;
    if (encoded_init(to, rows, cols, &formats[FORMAT_F64], &f) != BITCUT_OK)
        return fail(option, &f);
    if (input_fill_f64(to->at, rows, cols, in, role, x->seed, x->threads, &f) !=
        BITCUT_OK)
        return fail(option, &f);
    return EXIT_GOOD;
}

static int take(struct encoded_matrix *to, size_t rows, size_t cols, const double *from)
{
    struct fault f;
    if (encoded_init(to, rows, cols, &formats[FORMAT_F64], &f) != BITCUT_OK)
        return fail("--worst-inputs", &f);
    memcpy(to->at, from, rows * cols * sizeof *from);
    return EXIT_GOOD;
}

/* A and B by the search. */
static int search(struct fp64_setup *s, const struct context *x)
{
    const struct operand_options *const of = s->r->operands;
    const struct fp64_options *const o = s->r->fp64;
    struct fault f;
    if (!of->m || !of->n || !of->k)
        return complain("--worst-inputs", "requires m, n and k of at least 1");
    s->problem = (struct worst_problem){ .scheme = s->gemm.scheme,
                                         .unit = s->gemm.unit,
                                         .parts = s->parts,
                                         .m = of->m,
                                         .n = of->n,
                                         .k = of->k,
                                         .range = o->worst_range == SETUP_UNSET
                                                      ? WORST_RANGE_DEFAULT
                                                      : o->worst_range,
                                         .steps = WORST_STEPS_DEFAULT,
                                         .seed = x->seed,
                                         .threads = x->threads,
                                         .progress = &x->progress };
    if (worst_inputs_find(&s->worst, &s->problem, &f) != BITCUT_OK)
        return fail("--worst-inputs", &f);
    snprintf(s->from[0], sizeof s->from[0], "from a search that began with %s",
             s->worst.from_a);
    snprintf(s->from[1], sizeof s->from[1], "from a search that began with %s",
             s->worst.from_b);
    s->input_a = s->from[0];
    s->input_b = s->from[1];
    s->drawn = true;
    const int status = take(&s->a, of->m, of->k, s->worst.a);
    return status == EXIT_GOOD ? take(&s->b, of->k, of->n, s->worst.b) : status;
}

static int make_operands(struct fp64_setup *s, const struct context *x)
{
    if (s->r->operands && s->r->fp64 && s->r->fp64->worst_inputs) {
        if (!s->gemm.scheme->bits) return search(s, x);
        return complain("--worst-inputs",
                        "requires a number of parts that does not depend on the inputs; "
                        "give cublas-fixed");
    }
    const struct setup_options *const o = s->r->setup;
    const struct operand_options *const of = s->r->operands;
    struct setup names = { .options = o };
    struct input a, b;
    int status = of ? operands_parse(&a, &b, &names, of) : EXIT_GOOD;
    s->input_a = o->a ? o->a : names.input_a;
    s->input_b = o->b ? o->b : names.input_b;
    s->drawn = !o->a || !o->b;
    if (status == EXIT_GOOD && o->a) status = read(&s->a, s, "-a", o->a);
    else if (status == EXIT_GOOD)
        status = draw(&s->a, &a, INPUT_A, of->m, of->k, "--input-a", x);
    if (status == EXIT_GOOD && o->b) status = read(&s->b, s, "-b", o->b);
    else if (status == EXIT_GOOD)
        status = draw(&s->b, &b, INPUT_B, s->a.cols, of->n, "--input-b", x);
    return status == EXIT_GOOD && o->c ? read(&s->c, s, "-c", o->c) : status;
}

/* Keep matrix `index` of a batch. */
static void take_one(struct encoded_matrix *m, size_t index)
{
    if (!m->at || !m->is_batch) return;
    const size_t bytes = m->rows * m->cols * (size_t)format_bytes(m->format);
    const size_t i = m->count == 1 ? 0 : index;
    memmove(m->at, (char *)m->at + i * bytes, bytes);
    m->is_batch = false;
}

/* The number of GEMMs, from matrices with one or as many. */
static int count_gemms(struct fp64_setup *s)
{
    struct encoded_matrix *const all[] = { &s->a, &s->b, &s->c, &s->d };
    const size_t index = s->r->setup->files.index;
    size_t count = 1;
    for (int i = 0; i < 4; i++)
        if (all[i]->at && all[i]->is_batch) {
            s->is_batch = true;
            if (count > 1 && all[i]->count > 1 && all[i]->count != count)
                return complain("matrices", "have different numbers of GEMMs");
            if (all[i]->count != 1) count = all[i]->count;
        }
    if (index != SIZE_MAX && !s->is_batch)
        return complain("--index", "requires a batch: arrays of three dimensions");
    if (index != SIZE_MAX && index >= count)
        return complain("--index", "must be below the number of GEMMs of the batch");
    for (int i = 0; i < 4 && index != SIZE_MAX; i++) take_one(all[i], index);
    if (index != SIZE_MAX) s->is_batch = false, count = 1;
    s->gemm.count = count;
    return EXIT_GOOD;
}

static struct bitcut_matrix view(const struct encoded_matrix *m)
{
    struct bitcut_matrix v = encoded_view(m);
    v.stride = m->is_batch && m->count > 1 ? m->rows * m->cols : 0;
    return v;
}

static int check_shape(const char *name, const struct encoded_matrix *m, size_t rows,
                       size_t cols)
{
    const struct matrix shape = { .rows = m->rows, .cols = m->cols };
    return setup_check_shape(name, &shape, rows, cols);
}

/* Set sizes and matrices of the GEMM; D is allocated unless it was read. */
static int set_matrices(struct fp64_setup *s)
{
    struct bitcut_gemm *const g = &s->gemm;
    const struct matrix a = { .rows = s->a.rows, .cols = s->a.cols },
                        b = { .rows = s->b.rows, .cols = s->b.cols };
    struct fault f;
    int status = count_gemms(s);
    if (status == EXIT_GOOD) status = setup_check_pair(&a, &b);
    if (status == EXIT_GOOD && s->c.at)
        status = check_shape("C", &s->c, s->a.rows, s->b.cols);
    if (status == EXIT_GOOD && s->d.at)
        status = check_shape("D", &s->d, s->a.rows, s->b.cols);
    if (status != EXIT_GOOD) return status;
    g->m = s->a.rows, g->n = s->b.cols, g->k = s->a.cols;
    const bool fresh = !s->d.at;
    if (fresh &&
        (s->is_batch
             ? encoded_init_batch(&s->d, g->count, g->m, g->n, &formats[FORMAT_F64], &f)
             : encoded_init(&s->d, g->m, g->n, &formats[FORMAT_F64], &f)) != BITCUT_OK)
        return fail("D", &f);
    g->a = view(&s->a);
    g->b = view(&s->b);
    if (s->c.at) g->c = view(&s->c);
    g->d = view(&s->d);
    return EXIT_GOOD;
}

int fp64_setup_make(struct fp64_setup *s, const struct context *x)
{
    static const char *const taken[] = {
        "device",      "kernel",  "scheme",   "parts",     "unit",
        "a",           "b",       "c",        "d",         "alpha",
        "beta",        "format",  "format-a", "format-b",  "format-c",
        "shape-a",     "shape-b", "shape-c",  "shape-d",   "m",
        "n",           "k",       "input-a",  "input-b",   "pair",
        "index",       "save-a",  "save-b",   "reference", "verbose",
        "json",        "threads", "seed",     "o",         "worst-inputs",
        "worst-range", "split-k", "budget",   "worst",     "at",
        NULL
    };
    const bool given = s->r->fp64; /* explain, which has no scheme, has no device */
    const char *const *const own = s->r->taken;
    int status = fp64_check_options(x,
                                    own     ? own
                                    : given ? taken
                                            : taken + 2,
                                    given ? "--scheme" : "a D in FP64");
    if (status == EXIT_GOOD && s->r->fp64) status = fp64_check(s->r->fp64);
    if (status == EXIT_GOOD && s->r->fp64) status = check_worst(x, s->r->fp64);
    if (status == EXIT_GOOD) status = check_kernel(s->r);
    if (status == EXIT_GOOD) status = choose(s, x);
    if (status == EXIT_GOOD) status = make_operands(s, x);
    if (status == EXIT_GOOD && s->r->d) {
        struct matrix_options files = s->r->setup->files;
        files.format = NULL;
        files.format_of[MATRIX_D] = "f64";
        status = matrix_read(&s->d, "-d", s->r->d, &files);
    }
    if (status == EXIT_GOOD) status = set_matrices(s);
    if (status == EXIT_GOOD) status = check_device(s);
    struct fault f;
    if (status == EXIT_GOOD && fp64_settle(&s->by, &s->gemm, x->threads, &f) != BITCUT_OK)
        status = fail_about("--scheme", &f);
    if (status != EXIT_GOOD || !s->r->budget) return status;
    return budget_check_sizes(s->r->budget, s->is_batch, s->gemm.m, s->gemm.n);
}

struct fp64_answer fp64_setup_answer(const struct fp64_setup *s, const struct context *x)
{
    struct fp64_answer a = fp64_answer_of(&s->gemm, &s->by);
    a.input_a = s->input_a;
    a.input_b = s->input_b;
    a.is_batch = s->is_batch;
    a.seeded = s->drawn;
    a.seed = x->seed;
    a.worst = s->worst.a ? &s->worst : NULL;
    a.device = s->kernel ? s->recorder.device.name : NULL;
    a.kernel = s->kernel ? s->kernel->name : NULL;
    return a;
}
