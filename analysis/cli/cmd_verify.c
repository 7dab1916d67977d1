/* bitcut verify: a dumped GEMM result, or a kernel on a device, against the emulator, bit
   for bit. */
#include "analysis/device/kernel_trial.h"
#include "analysis/cli/place.h"
#include "analysis/cli/setup.h"
#include "analysis/device/split_trial.h"
#include "analysis/cli/terminal.h"
#include "lib/fma.h"
#include "lib/text.h"

#include <stdio.h>
#include <string.h>

static const char *dump, *kernel_name;
static size_t samples, m = SIZE_MAX, n = SIZE_MAX, k = SIZE_MAX;

static const struct option_row options[] = {
    SETUP_OPTIONS,
    { "d", "the result to check, .npy or .mtx", OPTION_TEXT, &dump, "FILE" },
    { "kernel", "run this one on the device: its name or how that begins, all, or split",
      OPTION_TEXT, &kernel_name, "K" },
    { "m", "--kernel: rows of D, with -n and -k (default: a grid of shapes)",
      OPTION_COUNT, &m, "M" },
    { "n", "columns of D", OPTION_COUNT, &n, "N" },
    { "k", "columns of A", OPTION_COUNT, &k, "K" },
    { "samples", "--kernel split: FP32 values at random (default: all)", OPTION_COUNT,
      &samples, "N" },
    { 0 }
};

/* What the result is of. */
enum { OF_FILE = 1, OF_KERNELS = 2, OF_SPLIT = 4 };

#define KERNEL_HAS_ONE    "is not for --kernel: a kernel has its own"
#define KERNEL_TAKES_NONE "is not for --kernel, which makes its own inputs"
#define OF_ONE_SHAPE      "is for --kernel (not split); else files have sizes"

static const struct option_use uses[] = {
    /* clang-format off */
    { "recipe",  OF_FILE,              KERNEL_HAS_ONE           },
    { "unit",    OF_FILE,              KERNEL_HAS_ONE           },
    { "terms",   OF_FILE,              KERNEL_HAS_ONE           },
    { "promote", OF_FILE,              KERNEL_HAS_ONE           },
    { "tile-k",  OF_FILE,              KERNEL_HAS_ONE           },
    { "a",       OF_FILE,              KERNEL_TAKES_NONE        },
    { "b",       OF_FILE,              KERNEL_TAKES_NONE        },
    { "c",       OF_FILE,              KERNEL_TAKES_NONE        },
    { "d",       OF_FILE,              KERNEL_TAKES_NONE        },
    { "alpha",   OF_FILE,              KERNEL_TAKES_NONE        },
    { "beta",    OF_FILE,              KERNEL_TAKES_NONE        },
    { "m",       OF_KERNELS,           OF_ONE_SHAPE             },
    { "n",       OF_KERNELS,           OF_ONE_SHAPE             },
    { "k",       OF_KERNELS,           OF_ONE_SHAPE             },
    { "split-k", OF_FILE | OF_KERNELS, "is not for the split"   },
    { "samples", OF_SPLIT,             "is for --kernel split"  },
    { 0 }
    /* clang-format on */
};

/* --- a result from a file --------------------------------------------------------- */

static json_t *first_difference(const struct matrix *want, const struct matrix *got,
                                size_t at)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32];
    json_t *first = json_pack("{s:[I,I], s:o, s:o}", "at", (json_int_t)(at / want->cols),
                              (json_int_t)(at % want->cols), "emulator",
                              json_decoded(f32, want->at[at]), "file",
                              json_decoded(f32, got->at[at]));
    json_set_distance(first, f32, want->at[at], got->at[at]);
    return first;
}

static int report(struct context *x, const struct setup *s, const struct matrix *want,
                  const struct matrix *got)
{
    const size_t count = want->rows * want->cols;
    size_t mismatches = 0, first = 0;
    for (size_t i = 0; i < count; i++)
        if (want->at[i] != got->at[i] && !mismatches++) first = i;
    json_t *row = json_object();
    setup_describe(row, &s->gemm, &s->plan);
    json_object_update_new(
        row, json_pack("{s:I, s:I, s:o}", "compared", (json_int_t)count, "mismatches",
                       (json_int_t)mismatches, "first",
                       mismatches ? first_difference(want, got, first) : json_null()));
    emit_row(&x->emitter, row);
    return mismatches ? EXIT_FOUND : EXIT_GOOD;
}

static int compare(struct context *x, const struct setup *s, const struct matrix *got)
{
    struct matrix want = { 0 };
    int status = setup_check_shape("D", got, s->a.rows, s->b.cols);
    if (status == EXIT_GOOD) status = setup_run(&want, s, x);
    if (status == EXIT_GOOD) status = report(x, s, &want, got);
    matrix_clear(&want);
    return status;
}

static int run_file(struct context *x)
{
    struct setup s = { 0 };
    struct matrix got = { 0 };
    int status = setup_gemm(&s);
    if (status == EXIT_GOOD) status = setup_read(&s.a, "-a", setup_options.a);
    if (status == EXIT_GOOD) status = setup_read(&s.b, "-b", setup_options.b);
    if (status == EXIT_GOOD) status = setup_read(&got, "-d", dump);
    if (status == EXIT_GOOD) status = setup_finish(&s);
    if (status == EXIT_GOOD) status = compare(x, &s, &got);
    matrix_clear(&got);
    setup_clear(&s);
    return status;
}

/* --- kernels on the device -------------------------------------------------------- */

static json_t *describe_trial(const struct context *x, const struct recorder *r,
                              const char *kernel)
{
    return json_pack("{s:s, s:o, s:s, s:o, s:o}", "kernel", kernel, "device",
                     json_text(r->device.name), "driver", r->device.driver, "date",
                     json_today(), "seed", json_seed(x->seed));
}

/* Print the row of a trial. */
static int found(struct context *x, json_t *row, const struct kernel_result *r)
{
    json_object_update_new(row, json_pack("{s:o, s:o, s:o, s:o}", "configurations",
                                          json_count(r->configurations), "compared",
                                          json_count(r->compared), "mismatches",
                                          json_count(r->mismatches), "first", r->first));
    emit_row(&x->emitter, row);
    return r->mismatches ? EXIT_FOUND : EXIT_GOOD;
}

/* Some faults begin with the kernel's name: it is said once. */
static int fail_kernel(const struct context *x, const char *name, const struct fault *f)
{
    const size_t length = strlen(name);
    struct fault rest = { .status = f->status };
    const bool named = !strncmp(f->text, name, length) && f->text[length] == ' ';
    snprintf(rest.text, sizeof rest.text, "%s", f->text + (named ? length + 1 : 0));
    return fail(progress_stopped(&x->progress) ? "verify" : name, &rest);
}

/* The kernel's GEMM as the options vary it, and its plan; the device takes it. */
static enum bitcut_status vary_gemm(struct bitcut_gemm *g, struct gemm_plan *plan,
                                    const struct recorder *r,
                                    const struct gpu_kernel *kernel, struct fault *f)
{
    const struct setup_options *o = &setup_options;
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
    if (k != SIZE_MAX) sized.m = m, sized.n = n, sized.k = k;
    status = gpu_work_make(&w, &sized, kernel, &r->device, f);
    return status == BITCUT_OK ? gemm_plan_on_unit(plan, g, f) : status;
}

/* Whether the kernel takes the split, the slices and the one shape asked for. */
static bool suits(const struct recorder *r, const struct gpu_kernel *kernel)
{
    struct bitcut_gemm gemm;
    struct gemm_plan plan;
    struct fault f;
    return vary_gemm(&gemm, &plan, r, kernel, &f) != BITCUT_BAD_ARGUMENT;
}

/* The splits with which the kernel would do what was asked for. */
static void suitable_splits(char *names, size_t size, const struct recorder *r,
                            const struct gpu_kernel *kernel)
{
    struct setup_options *o = &setup_options;
    const char *asked = o->split;
    names[0] = 0;
    for (const struct bitcut_split *row = splits; row->name; row++) {
        o->split = row->name;
        if (suits(r, kernel)) text_append(names, size, row->name);
    }
    o->split = asked;
}

/* A kernel that does not take what was asked for, with the splits that it does take. */
static int fail_gemm(const struct context *x, const struct recorder *r,
                     const struct gpu_kernel *kernel, const struct fault *f)
{
    struct fault more = *f;
    char names[120];
    suitable_splits(names, sizeof names, r, kernel);
    if (setup_options.split && f->status == BITCUT_BAD_ARGUMENT && *names)
        fault_set(&more, f->status, "%s; --split can be %s", f->text, names);
    return fail_kernel(x, kernel->name, &more);
}

static int try_kernel(struct context *x, const struct recorder *r,
                      const struct gpu_kernel *kernel)
{
    const struct kernel_shape shape = { m, n, k };
    struct kernel_trial t = { .recorder = r,
                              .kernel = kernel,
                              .shape = k == SIZE_MAX ? NULL : &shape,
                              .seed = x->seed,
                              .threads = x->threads };
    struct gemm_plan plan;
    struct kernel_result result;
    struct fault f;
    if (vary_gemm(&t.gemm, &plan, r, kernel, &f) != BITCUT_OK)
        return fail_gemm(x, r, kernel, &f);
    terminal_label(kernel->name);
    if (kernel_trial_run(&result, &t, &x->progress, &f) != BITCUT_OK)
        return fail_gemm(x, r, kernel, &f);
    json_t *row = describe_trial(x, r, kernel->name);
    setup_describe(row, &t.gemm, &plan);
    json_object_del(row, "alpha"); /* the grid has several */
    json_object_del(row, "beta");
    return found(x, row, &result);
}

/* The kernel of exactly that name, or those that the device can run and the options suit;
   without any the last of them is told. */
static int try_kernels(struct context *x, const struct recorder *r)
{
    const struct gpu_kernel *kernel = NULL, *unfit = NULL;
    int worst = EXIT_GOOD, tried = 0;
    while ((kernel = gpu_kernel_next(&r->gpu, kernel)) && worst < EXIT_USAGE) {
        if (!kernel_is_called(kernel->name, kernel_name)) continue;
        const bool exact = !strcmp(kernel->name, kernel_name);
        unfit = kernel;
        if (!exact && !(gpu_kernel_fits(&r->device, kernel) && suits(r, kernel)))
            continue;
        const int status = try_kernel(x, r, kernel);
        if (status > worst) worst = status;
        tried++;
    }
    if (tried) return worst;
    return unfit ? try_kernel(x, r, unfit)
                 : complain("--kernel", "unknown; bitcut list kernels has all");
}

static int try_split(struct context *x, const struct recorder *r,
                     const struct bitcut_split *split)
{
    const bool equilibrate = setup_options.equilibrate;
    const struct split_trial t = { r, split, equilibrate, samples, x->seed, x->threads };
    struct split_result result;
    struct fault f;
    terminal_label(split->name);
    if (split_trial_run(&result, &t, &x->progress, &f) != BITCUT_OK)
        return fail(progress_stopped(&x->progress) ? "verify" : split->name, &f);
    json_t *row = describe_trial(x, r, "split");
    json_object_update_new(
        row,
        json_pack("{s:s, s:s, s:s, s:s, s:i, s:b, s:I, s:I, s:o}", "split", split->name,
                  "format", split->format->name, "high", split->high->name, "low",
                  split->low->name, "scale", split->scale, "equilibrate",
                  (int)equilibrate, "compared", (json_int_t)result.compared, "mismatches",
                  (json_int_t)result.mismatches, "first", result.first));
    emit_row(&x->emitter, row);
    return result.mismatches ? EXIT_FOUND : EXIT_GOOD;
}

/* Whether devices make words of its format. */
static bool is_of_words(const struct bitcut_split *split)
{
    return split->format == &formats[FORMAT_F16] ||
           split->format == &formats[FORMAT_BF16] ||
           split->format == &formats[FORMAT_TF32];
}

/* The split asked for, with its variations, or all that a device has. */
static int try_splits(struct context *x, const struct recorder *r)
{
    const struct setup_options *o = &setup_options;
    const struct bitcut_split *row = NULL;
    int worst = EXIT_GOOD;
    while ((row = table_next(TABLE(splits), row)) && worst < EXIT_USAGE) {
        struct bitcut_split split = *row;
        struct fault f;
        if (o->split ? strcmp(o->split, row->name) != 0 : !is_of_words(row)) continue;
        if (!is_of_words(row)) {
            fault_set(&f, BITCUT_BAD_ARGUMENT, "kernels have no words of %s",
                      row->format->name);
            return fail(row->name, &f);
        }
        int status = setup_split(&split, NULL, o->high, o->low, o->scale);
        if (status == EXIT_GOOD) status = try_split(x, r, &split);
        if (status > worst) worst = status;
    }
    return worst;
}

/* Sizes and a split that can be, of whatever kernel. */
static int check_kernel_options(void)
{
    const struct setup_options *o = &setup_options;
    const int sizes = (m != SIZE_MAX) + (n != SIZE_MAX) + (k != SIZE_MAX);
    struct bitcut_split any = splits[SPLIT_HALF];
    if (sizes && sizes != 3) return complain("-m, -n, -k", "all three or none");
    return setup_split(&any, o->split, o->high, o->low, o->scale);
}

static int run_kernels(struct context *x)
{
    char folder[PLACE_MOST];
    struct recorder r;
    struct fault f;
    int status = check_kernel_options();
    if (status != EXIT_GOOD) return status;
    if (recorder_open(&r, place_module(folder), &f) != BITCUT_OK) return fail("verify", &f);
    status = strcmp(kernel_name, "split") ? try_kernels(x, &r) : try_splits(x, &r);
    recorder_close(&r);
    return status;
}

/* --- the command ------------------------------------------------------------------ */

static int run(struct context *x)
{
    const unsigned use = !kernel_name                   ? OF_FILE
                         : strcmp(kernel_name, "split") ? OF_KERNELS
                                                        : OF_SPLIT;
    const int status = check_use(x, uses, use);
    if (status != EXIT_GOOD) return status;
    return kernel_name ? run_kernels(x) : run_file(x);
}

const struct command command_verify = {
    .name = "verify",
    .what = "Compare a GEMM, from a file or by a kernel, with the emulator, bit for bit",
    .run = run,
    .own = options,
    .operands = "",
};
