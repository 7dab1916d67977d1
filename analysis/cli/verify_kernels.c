/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/verify_kernels.h"

#include "analysis/cli/device_option.h"
#include "analysis/cli/explain_text.h"
#include "analysis/cli/setup.h"
#include "analysis/cli/terminal.h"
#include "analysis/cli/verify_fp64.h"
#include "analysis/verify/kernel_difference.h"
#include "analysis/verify/verified.h"
#include "gpu/api/choose.h"
#include "lib/base/text.h"
#include "lib/io/json_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The command line, with the name of the kernel once it is found, and the device on which
   it is tried. */
struct asked {
    struct context *context;
    struct verify_kernels what;
    const struct recorder *recorder;
};

static bool has_shape(const struct asked *q) { return q->what.shape.k != SIZE_MAX; }

/* --- kernels on the device -------------------------------------------------------- */

static struct verified_on on_device(const struct asked *q, const char *kernel)
{
    struct verified_on on = { .kernel = kernel,
                              .device = q->recorder->device.name,
                              .driver = q->recorder->device.driver,
                              .seed = q->context->seed };
    date_today(on.date);
    return on;
}

/* What the kernel did instead, for its first mismatch. */
static int explain_kernel(struct verified_kernel *v, const struct asked *q)
{
    const struct kernel_failure *const from = &v->result.failure;
    const struct problem what = { .a = from->a,
                                  .b = from->b,
                                  .c = from->c,
                                  .d = from->d,
                                  .format = from->format,
                                  .alpha = from->alpha,
                                  .beta = from->c.at ? from->beta : 0 };
    if (!from->d.at) return EXIT_GOOD;
    return explain_briefly(&v->explained, &what, NULL, q->what.seconds, q->context);
}

static json_t *describe_counts(const struct kernel_result *r)
{
    json_t *counts = json_object();
    for (int i = 0; i < r->counts; i++)
        json_object_set_new(counts, r->count[i].name, json_count(r->count[i].value));
    return counts;
}

/* Some faults begin with the kernel's name; it is printed once. */
static int fail_kernel(const struct asked *q, const char *name, const struct fault *f)
{
    const size_t length = strlen(name);
    struct fault rest = { .status = f->status };
    const bool named = !strncmp(f->text, name, length) && f->text[length] == ' ';
    snprintf(rest.text, sizeof rest.text, "%s", f->text + (named ? length + 1 : 0));
    return fail(progress_stopped(&q->context->progress) ? "verify" : name, &rest);
}

/* The kernel's GEMM with the options' variations, and its plan, if the device supports
   it. */
static enum bitcut_status vary_gemm(struct bitcut_gemm *g, struct gemm_plan *plan,
                                    const struct asked *q,
                                    const struct gpu_kernel *kernel, struct fault *f)
{
    const struct setup_options *const o = q->what.setup;
    const struct kernel_shape *const shape = &q->what.shape;
    const struct recorder *const r = q->recorder;
    struct gpu_work w;
    enum bitcut_status status = kernel_gemm(g, r, kernel, f);
    if (status != BITCUT_OK) return status;
    g->split_a = g->split_b = bitcut_split_find(o->split);
    g->high = bitcut_rounding_find(o->high);
    g->low = bitcut_rounding_find(o->low);
    if (o->scale != SETUP_UNSET) g->scale = o->scale;
    g->order.slices = o->slices;
    g->equilibrate = o->equilibrate;
    struct bitcut_gemm sized = *g;
    if (has_shape(q)) sized.m = shape->m, sized.n = shape->n, sized.k = shape->k;
    status = gpu_work_make(&w, &sized, kernel, &r->device, f);
    return status == BITCUT_OK ? gemm_plan_on_unit(plan, g, f) : status;
}

/* Whether the kernel supports the requested split, slices and shape. */
static bool suits(const struct asked *q, const struct gpu_kernel *kernel)
{
    struct bitcut_gemm gemm;
    struct gemm_plan plan;
    struct fault f;
    return vary_gemm(&gemm, &plan, q, kernel, &f) != BITCUT_BAD_ARGUMENT;
}

/* The splits with which the kernel would support the request. */
static void suitable_splits(char *names, size_t size, const struct asked *q,
                            const struct gpu_kernel *kernel)
{
    struct setup_options o = *q->what.setup;
    struct asked other = *q;
    other.what.setup = &o;
    names[0] = 0;
    for (const struct bitcut_split *row = splits; row->name; row++) {
        o.split = row->name;
        if (suits(&other, kernel)) text_append(names, size, row->name);
    }
}

/* Report a kernel that does not support the request, with the splits that it supports. */
static int fail_gemm(const struct asked *q, const struct gpu_kernel *kernel,
                     const struct fault *f)
{
    struct fault more = *f;
    char names[120];
    suitable_splits(names, sizeof names, q, kernel);
    if (q->what.setup->split && f->status == BITCUT_BAD_ARGUMENT && *names)
        fault_set(&more, f->status, "%s; --split can be %s", f->text, names);
    return fail_kernel(q, kernel->name, &more);
}

/* --- kernels together ------------------------------------------------------------- */

/* A kernel that is tried, and its result. */
struct tried {
    struct kernel_trial trial;
    struct gemm_plan plan;
    struct kernel_result result;
    bool done;
};

enum { KERNELS_MAX = 1024 };

/* All requested kernels. */
struct trying {
    const struct asked *asked;
    struct tried *kernel;
    size_t count;
    size_t cases, before; /* of the kernels' grids: all, and those before this group */
    size_t now;           /* of this group */
    const struct gpu_kernel
        *unfit; /* the kernel that ends the group because it cannot be tried, or NULL */
    struct fault fault; /* its fault */
    char label[160];
};

/* Convert progress of this group to progress of all groups. */
static void report_part(void *trying, double part)
{
    const struct trying *const t = trying;
    const struct progress *const all = &t->asked->context->progress;
    if (all->report)
        all->report(all->context,
                    ((double)t->before + part * (double)t->now) / (double)t->cases);
}

/* A kernel, and those after it that are tried together with it. */
static size_t group_of(size_t group[KERNELS_MAX], const struct trying *t, size_t first)
{
    size_t count = 0;
    for (size_t i = first; i < t->count; i++)
        if (!t->kernel[i].done &&
            kernel_trials_alike(&t->kernel[first].trial, &t->kernel[i].trial))
            group[count++] = i;
    return count;
}

/* "sm90.ootomo.f16.128x128x64.3 and 4 similar ones" */
static void label_group(struct trying *t, size_t first, size_t count)
{
    char more[40] = "";
    if (count > 1) snprintf(more, sizeof more, " and %zu similar ones", count - 1);
    snprintf(t->label, sizeof t->label, "%s%s", t->kernel[first].trial.kernel->name,
             more);
    terminal_label(t->label);
}

/* Try a kernel and those like it. */
static int try_group(struct trying *t, size_t first)
{
    static size_t group[KERNELS_MAX];
    static struct kernel_trial trial[KERNELS_MAX];
    static struct kernel_result result[KERNELS_MAX];
    const size_t count = group_of(group, t, first);
    const struct progress progress = { report_part, t, t->asked->context->progress.stop };
    struct fault f;
    size_t failed;
    t->now = 0;
    for (size_t i = 0; i < count; i++) {
        trial[i] = t->kernel[group[i]].trial;
        t->now += kernel_trial_size(&trial[i]);
    }
    label_group(t, first, count);
    if (kernel_trials_run(result, &failed, trial, count, &progress, &f) != BITCUT_OK)
        return fail_gemm(t->asked, trial[failed].kernel, &f);
    for (size_t i = 0; i < count; i++) {
        t->kernel[group[i]].result = result[i];
        t->kernel[group[i]].done = true;
    }
    t->before += t->now;
    return EXIT_GOOD;
}

static int print_kernel(struct trying *t, struct tried *k)
{
    struct context *const x = t->asked->context;
    struct verified_kernel v = { .on = on_device(t->asked, k->trial.kernel->name),
                                 .result = k->result };
    v.on.gemm = (struct gemm_description){ .gemm = &k->trial.gemm,
                                           .plan = &k->plan,
                                           .kernel = v.on.kernel,
                                           .device = v.on.device };
    const int status = explain_kernel(&v, t->asked);
    json_t *const row = json_object();
    record_json(row, verified_on_fields, &v);
    if (v.result.counts) json_object_set_new(row, "counts", describe_counts(&v.result));
    setup_describe(row, &k->trial.gemm, &k->plan);
    json_object_del(row, "alpha"); /* the grid has several */
    json_object_del(row, "beta");
    record_json(row, verified_kernel_fields, &v);
    emit_answer(&x->emitter, row, verified_kernel_lines, &v);
    kernel_failure_clear(&v.result.failure);
    return status != EXIT_GOOD ? status : v.result.mismatches ? EXIT_FOUND : EXIT_GOOD;
}

/* Add a kernel, whose GEMM the options vary; or record why it cannot be tried.  A kernel
   without GEMMs in the shard is left out. */
static void add_kernel(struct trying *t, const struct gpu_kernel *kernel)
{
    const struct asked *const q = t->asked;
    struct tried *const k = &t->kernel[t->count];
    k->trial = (struct kernel_trial){ .recorder = q->recorder,
                                      .kernel = kernel,
                                      .shape = has_shape(q) ? &q->what.shape : NULL,
                                      .seed = q->context->seed,
                                      .shard = q->what.shard,
                                      .threads = q->context->threads };
    if (vary_gemm(&k->trial.gemm, &k->plan, q, kernel, &t->fault) != BITCUT_OK) {
        t->unfit = kernel;
        return;
    }
    const size_t cases = kernel_trial_size(&k->trial);
    t->cases += cases;
    t->count += cases > 0;
}

/* Try all of them, and print their rows in the order of the table. */
static int try_all(struct trying *t)
{
    int worst = EXIT_GOOD, status = EXIT_GOOD;
    size_t i = 0;
    for (; i < t->count && worst < EXIT_USAGE; i++) {
        struct tried *const k = &t->kernel[i];
        status = k->done ? EXIT_GOOD : try_group(t, i);
        if (status == EXIT_GOOD) status = print_kernel(t, k);
        if (status > worst) worst = status;
    }
    for (; i < t->count; i++) { /* tried together with others, and not printed */
        if (t->kernel[i].done) kernel_failure_clear(&t->kernel[i].result.failure);
    }
    return worst;
}

/* Select the kernel with exactly that name, or those that the device can run and that
   support the options; if there is none, the last one, with the reason.  Returns false if
   no kernel has that name. */
static bool choose_kernels(struct trying *t)
{
    const struct asked *const q = t->asked;
    const struct recorder *const r = q->recorder;
    const struct gpu_kernel *kernel = NULL, *last = NULL;
    while ((kernel = gpu_kernel_next(&r->gpu, kernel)) && !t->unfit &&
           t->count < KERNELS_MAX) {
        if (!kernel_is_called(kernel->name, q->what.name)) continue;
        const bool exact = !strcmp(kernel->name, q->what.name);
        last = kernel;
        if (exact || (gpu_kernel_fits(&r->device, kernel) && suits(q, kernel)))
            add_kernel(t, kernel);
    }
    if (last && !t->count && !t->unfit) add_kernel(t, last);
    return last;
}

/* Kernels of FP64 GEMMs that have the name too.  Of several kernels, those that the
   device cannot run are not tried. */
static int try_fp64(const struct asked *q, bool several, int status)
{
    const struct recorder *const r = q->recorder;
    const struct gpu_fp64_kernel *k = NULL;
    bool fits = !several;
    while ((k = gpu_fp64_next(&r->gpu, k)))
        fits |= (k->architectures & r->device.architectures) != 0;
    if (!fits) return status;
    const int fp64 = verify_fp64_kernels(
        q->context, r, q->what.name, has_shape(q) ? &q->what.shape : NULL, q->what.shard);
    return fp64 > status ? fp64 : status;
}

/* Whether the shard has GEMMs of FP64 kernels, which all have the same number of them. */
static bool has_fp64_cases(const struct asked *q)
{
    const struct fp64_trial any = { .shape = has_shape(q) ? &q->what.shape : NULL,
                                    .shard = q->what.shard };
    return fp64_trial_size(&any) > 0;
}

static int try_kernels(const struct asked *q)
{
    struct trying t = { .asked = q };
    int status = EXIT_GOOD;
    t.kernel = calloc(KERNELS_MAX, sizeof *t.kernel);
    if (!t.kernel) {
        fault_set(&t.fault, BITCUT_NO_MEMORY, "not enough memory");
        return fail("verify", &t.fault);
    }
    const bool chosen = choose_kernels(&t),
               fp64 = has_fp64_kernel(q->recorder, q->what.name);
    if (!chosen && !fp64)
        status = complain("--kernel", "names no known kernel; see bitcut list kernels");
    else if (!t.unfit && !t.cases && !(fp64 && has_fp64_cases(q)))
        status = complain("--shard", "has no GEMM of the kernels; use fewer shards");
    else if (chosen) status = try_all(&t);
    if (t.unfit && status < EXIT_USAGE) status = fail_gemm(q, t.unfit, &t.fault);
    free(t.kernel);
    return fp64 && status < EXIT_USAGE ? try_fp64(q, chosen, status) : status;
}

/* --- the split -------------------------------------------------------------------- */

static int try_split(const struct asked *q, const struct bitcut_split *split)
{
    struct context *const x = q->context;
    struct verified_split v = { .on = on_device(q, "split"),
                                .plan = { .split_a = *split,
                                          .split_b = *split,
                                          .equilibrate = q->what.setup->equilibrate } };
    const struct split_trial t = {
        q->recorder, split, v.plan.equilibrate, q->what.samples, x->seed, x->threads
    };
    struct fault f;
    v.on.gemm.plan = &v.plan;
    terminal_label(split->name);
    if (split_trial_run(&v.result, &t, &x->progress, &f) != BITCUT_OK)
        return fail(progress_stopped(&x->progress) ? "verify" : split->name, &f);
    json_t *const row = json_object();
    record_json(row, verified_on_fields, &v);
    record_json(row, verified_split_fields, &v);
    emit_answer(&x->emitter, row, verified_split_lines, &v);
    return v.result.mismatches ? EXIT_FOUND : EXIT_GOOD;
}

/* Whether a kernel of the device multiplies such parts in two formats. */
static bool has_mixed(const struct recorder *r, const struct bitcut_split *split)
{
    const struct gpu_kernel *kernel = NULL;
    struct bitcut_gemm gemm;
    struct gpu_work w;
    struct fault f;
    while ((kernel = gpu_kernel_next(&r->gpu, kernel))) {
        if (!kernel->low_format || kernel_gemm(&gemm, r, kernel, &f) != BITCUT_OK)
            continue;
        gemm.split_a = gemm.split_b = split;
        if (gpu_work_make(&w, &gemm, kernel, &r->device, &f) == BITCUT_OK) return true;
    }
    return false;
}

/* Whether the device computes such parts. */
static bool is_made(const struct recorder *r, const struct bitcut_split *split)
{
    const struct bitcut_format *f = split->part[0].format;
    if (!split_is_uniform(split)) return has_mixed(r, split);
    return f == &formats[FORMAT_F16] || f == &formats[FORMAT_BF16] ||
           f == &formats[FORMAT_TF32];
}

/* Select the requested split, with its variations, or all splits of the device. */
static int try_splits(const struct asked *q)
{
    const struct setup_options *const o = q->what.setup;
    const struct recorder *const r = q->recorder;
    const struct bitcut_split *row = NULL;
    int worst = EXIT_GOOD;
    while ((row = table_next(TABLE(splits), row)) && worst < EXIT_USAGE) {
        struct bitcut_split split = *row;
        struct fault f;
        if (o->split ? strcmp(o->split, row->name) != 0 : !is_made(r, row)) continue;
        if (!is_made(r, row)) {
            fault_set(&f, BITCUT_BAD_ARGUMENT, "no kernel on %.100s has parts in %s%s%s",
                      r->device.name, row->part[0].format->name,
                      split_is_uniform(row) ? "" : " and ",
                      split_is_uniform(row) ? ""
                                            : row->part[row->parts - 1].format->name);
            return fail(row->name, &f);
        }
        int status = setup_split(&split, NULL, o->high, o->low, o->scale);
        if (status == EXIT_GOOD) status = try_split(q, &split);
        if (status > worst) worst = status;
    }
    return worst;
}

/* Check sizes and split, independent of the kernel. */
static int check_options(const struct verify_kernels *what)
{
    const struct setup_options *const o = what->setup;
    const struct kernel_shape s = what->shape;
    const int sizes = (s.m != SIZE_MAX) + (s.n != SIZE_MAX) + (s.k != SIZE_MAX);
    struct bitcut_split any = splits[SPLIT_HALF];
    if (sizes && sizes != 3) return complain("-m, -n, -k", "must be given together");
    return setup_split(&any, o->split, o->high, o->low, o->scale);
}

/* Whether the device belongs to the backend with that name. */
static bool has_kernels_of(const struct recorder *r, const char *name, size_t length)
{
    const struct gpu_backend *b = table_find(TABLE(gpu_backends), r->gpu.module->name);
    if (b && !b->tables) return gpu_backend_is(b, name, length);
    const char *tables = b ? b->tables : r->gpu.module->name;
    return strlen(tables) == length && !strncmp(tables, name, length);
}

/* The kernel that the device would run for the recipe at this size. */
static int name_best(struct asked *q, const char *recipe)
{
    const struct kernel_shape *const shape = &q->what.shape;
    const struct recorder *const r = q->recorder;
    struct bitcut_gemm g;
    struct gpu_work w;
    struct fault f;
    bitcut_gemm_init(&g, sizeof g);
    g.recipe = bitcut_recipe_find(recipe);
    if (!g.recipe)
        return complain("--kernel", "names no known recipe; see bitcut list recipes");
    if (has_shape(q)) g.m = shape->m, g.n = shape->n, g.k = shape->k;
    if (gpu_work_choose(&w, &r->gpu, &r->device, &g, &f) != BITCUT_OK)
        return fail("--kernel", &f);
    q->what.name = w.kernel->name;
    return EXIT_GOOD;
}

/* Whether any kernel of the device's module has that name. */
static bool has_kernel(const struct recorder *r, const char *name)
{
    const struct gpu_kernel *k = NULL;
    while ((k = gpu_kernel_next(&r->gpu, k)))
        if (kernel_is_called(k->name, name)) return true;
    return has_fp64_kernel(r, name);
}

/* BACKEND/NAME means the kernels with that name, or else the best kernel for that recipe.
 */
static int name_kernel(struct asked *q)
{
    const char *const name = q->what.name, *const slash = strchr(name, '/');
    if (!slash) return EXIT_GOOD;
    if (!has_kernels_of(q->recorder, name, (size_t)(slash - name)))
        return complain("--kernel", "names another device than --device");
    if (!has_kernel(q->recorder, slash + 1)) return name_best(q, slash + 1);
    q->what.name = slash + 1;
    return EXIT_GOOD;
}

/* BACKEND/NAME is run on the backend's first device, unless --device names another. */
static const char *find_device(const char *name)
{
    const size_t length = strcspn(name, "/");
    for (const struct gpu_backend *b = gpu_backends; name[length] && b->name; b++)
        if (gpu_backend_is(b, name, length)) return b->name;
    return NULL;
}

int verify_kernels(struct context *x, const struct verify_kernels *what)
{
    struct recorder r;
    struct asked q = { x, *what, &r };
    const char *const device = what->device ? what->device : find_device(what->name);
    int status = check_options(what);
    device_warn_renamed(what->name);
    if (status == EXIT_GOOD) status = device_open(&r, device, "verify");
    if (status != EXIT_GOOD) return status;
    if (!strcmp(what->name, "split")) status = try_splits(&q);
    else if ((status = name_kernel(&q)) == EXIT_GOOD) status = try_kernels(&q);
    recorder_close(&r);
    return status;
}
