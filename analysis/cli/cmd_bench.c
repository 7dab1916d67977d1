/* bitcut bench: verify, then time, as a ratio to a peer in the same run. */
#include "analysis/cli/bench_emu.h"
#include "analysis/cli/bench_emu_device.h"
#include "analysis/cli/bench_gpu.h"
#include "analysis/cli/device_option.h"
#include "analysis/device/blas.h"
#include "analysis/device/race_plan.h"
#include "analysis/error/judge.h"
#include "analysis/cli/command.h"
#include "lib/clock.h"
#include "lib/file/source.h"
#include "lib/exact/oracle.h"
#include "lib/threads.h"

#include <stdlib.h>
#include <string.h>

static size_t size = 512; /* of exact and emu */
static struct option_counts sizes, batches;
static const char *input_text = "urand(-1,1)";
static const char *unit_name, *recipe_name;
static struct option_texts shapes;
static struct bench_gpu gpu = { .shapes = &shapes,
                                .sizes = &sizes,
                                .batches = &batches,
                                .rounds = 5,
                                .energy_milliseconds = 1000 };

static const struct option_row options[] = {
    { "n", "size (default 512; gpu: 1024 to 16384, and may be repeated)", OPTION_COUNTS,
      &sizes, "N" },
    { "input", "family of A and B (bitcut list inputs; default urand(-1,1))", OPTION_TEXT,
      &input_text, "I" },
    { "unit", "emu: this one (bitcut list units; default: all with a fast path)",
      OPTION_TEXT, &unit_name, "U" },
    { "recipe", "emu on a device: this one (bitcut list recipes; default plain)",
      OPTION_TEXT, &recipe_name, "R" },
    DEVICE_OPTION("of emu: emulator, of gpu: cuda"),
    { "kernel", "gpu: this one, its name or how that begins, or all", OPTION_TEXT,
      &gpu.kernel, "K" },
    { "tile", "gpu: kernels with this tile alone (default: what suits the shape)",
      OPTION_TEXT, &gpu.tile, "MxN[xK]" },
    { "study", "gpu: kernels and shapes by name (bitcut list benches)", OPTION_TEXT,
      &gpu.study, "S" },
    { "shapes", "gpu: instead of the study's (bitcut list shapes); may be repeated",
      OPTION_TEXTS, &shapes, "S" },
    { "batch", "gpu: GEMMs at a time, for a study of batches; may be repeated",
      OPTION_COUNTS, &batches, "N" },
    { "rounds", "gpu: timings of each kernel (default 5)", OPTION_COUNT, &gpu.rounds,
      "N" },
    { "energy", "gpu: ms of the loop whose energy is read (default 1000; 0: none)",
      OPTION_COUNT, &gpu.energy_milliseconds, "MS" },
    { "equilibrate", "gpu: kernels on lines scaled by powers of two", OPTION_FLAG,
      &gpu.equilibrate, NULL },
    { 0 }
};

/* What is timed: by a suite, and by bench gpu whole GEMMs or a study of small ones. */
enum { EXACT = 1, EMU = 2, GEMMS = 4, SMALL = 8, EMU_DEVICE = 16 };

#define OF_GPU   "is for bench gpu"
#define OF_GEMMS "is for bench gpu, but not for batches of small GEMMs"

static const struct option_use uses[] = {
    /* clang-format off */
    { "unit",        EMU | EMU_DEVICE, "is for bench emu" },
    { "recipe",      EMU_DEVICE,    "is for bench emu on a device" },
    { "device",      GEMMS | SMALL | EMU | EMU_DEVICE, "is for bench emu and bench gpu" },
    { "kernel",      GEMMS | SMALL, OF_GPU             },
    { "study",       GEMMS | SMALL, OF_GPU             },
    { "shapes",      GEMMS | SMALL, OF_GPU             },
    { "batch",       GEMMS | SMALL, OF_GPU             },
    { "rounds",      GEMMS | SMALL, OF_GPU             },
    { "tile",        GEMMS,         OF_GEMMS           },
    { "energy",      GEMMS,         OF_GEMMS           },
    { "equilibrate", GEMMS,         OF_GEMMS           },
    { 0 }
    /* clang-format on */
};

/* The slow peer and the layers are timed on the same matrices; MPFR on fewer rows. */
enum { PEER_PRODUCTS = 1 << 22, REPEATS = 3 };

struct task {
    struct matrix a, b;
    uint32_t *want, *got; /* n x n FP32 results: of bins, and of what is being timed */
    int threads;
    const struct progress *progress;
};

/* --- the methods ------------------------------------------------------------------ */

/* Compute rows x n results into t->got; which of them were settled goes to *counts. */
typedef enum bitcut_status method(struct task *t, size_t rows, unsigned layers,
                                  struct exact_counts *counts, struct fault *f);

static enum bitcut_status by_layers(struct task *t, size_t rows, unsigned layers,
                                    struct exact_counts *counts, struct fault *f)
{
    const struct exact_options o = { .layers = layers,
                                     .threads = t->threads,
                                     .progress = t->progress };
    return exact_gemm(t->got, NULL, NULL, counts, &o, rows, size, size, t->a.at, t->b.at,
                      f);
}

static enum bitcut_status by_fma_loop(struct task *t, size_t rows, unsigned layers,
                                      struct exact_counts *counts, struct fault *f)
{
    struct oracle *o = malloc(sizeof *o);
    uint32_t *column = memory_allocate(size, sizeof *column);
    enum bitcut_status status = BITCUT_OK;
    (void)layers;
    if (!o || !column) status = fault_set(f, BITCUT_NO_MEMORY, "out of memory");
    if (status == BITCUT_OK) oracle_init(o);
    for (size_t j = 0; status == BITCUT_OK && j < size; j++) {
        if (progress_stopped(t->progress)) break;
        for (size_t k = 0; k < size; k++) column[k] = t->b.at[k * size + j];
        for (size_t i = 0; i < rows; i++)
            t->got[i * size + j] = (uint32_t)oracle_fma_loop(
                o, &formats[FORMAT_F32], size, t->a.at + i * size, column);
    }
    if (status == BITCUT_OK) oracle_clear(o);
    *counts = (struct exact_counts){ .unsettled = { 0 } };
    free(column);
    free(o);
    return status;
}

struct bench {
    const char *name, *what;
    method *run;
    unsigned layers;
    bool slow; /* one thread and few rows will do */
};

static const struct bench benches[] = {
    { "mpfr-fma", "MPFR fma loop, 600 bits, one thread: the peer", by_fma_loop, 0, true },
    { "mpfr", "mpfr_sum of exact products", by_layers, 1u << LAYER_MPFR, true },
    { "bins", "exact integer bins", by_layers, 1u << LAYER_BINS, false },
    { "dot2", "compensated sums, unsettled left", by_layers, 1u << LAYER_DOT2, false },
    { "double", "binary64 sums, unsettled left", by_layers, 1u << LAYER_DOUBLE, false },
    { "cascade", "double, dot2, bins in turn", by_layers, 0, false },
    { 0 }
};

/* --- verify, then time ------------------------------------------------------------ */

/* Whether every result is that of the bins, but for as many NaNs as were not settled. */
static bool verified(const struct task *t, size_t rows, const struct exact_counts *counts)
{
    uint64_t missing = 0;
    for (size_t i = 0; i < rows * size; i++) {
        if (t->got[i] == t->want[i]) continue;
        if (t->got[i] != format_nan(&formats[FORMAT_F32])) return false;
        missing++;
    }
    return missing <= counts->unsettled[EXACT_F32];
}

/* The best of a few runs, in seconds, after one that is verified. */
static enum bitcut_status time_method(double *seconds, struct task *t,
                                      const struct bench *b, size_t rows,
                                      struct exact_counts *counts, struct fault *f)
{
    enum bitcut_status status = b->run(t, rows, b->layers, counts, f);
    if (progress_stopped(t->progress)) return fault_set(f, BITCUT_CANNOT, "stopped");
    if (status == BITCUT_OK && !verified(t, rows, counts))
        status = fault_set(f, BITCUT_CANNOT, "%s gives a wrong result", b->name);
    for (int i = 0; status == BITCUT_OK && i < (b->slow ? 1 : REPEATS); i++) {
        const double start = seconds_now();
        status = b->run(t, rows, b->layers, counts, f);
        const double taken = seconds_now() - start;
        if (i == 0 || taken < *seconds) *seconds = taken;
    }
    if (progress_stopped(t->progress)) return fault_set(f, BITCUT_CANNOT, "stopped");
    return status;
}

static json_t *describe(const struct bench *b, size_t rows, double rate, double peer,
                        const struct exact_counts *counts, int threads)
{
    json_t *row = json_pack("{s:s, s:I, s:i, s:I, s:f, s:f}", "method", b->name, "n",
                            (json_int_t)size, "threads", threads, "results",
                            (json_int_t)(rows * size), "products_per_second", rate,
                            "ratio", rate / peer);
    for (int i = 0; i < LAYERS; i++)
        json_object_set_new(row, exact_layers[i].name,
                            json_integer((json_int_t)counts->settled[EXACT_F32][i]));
    json_object_set_new(row, "unsettled",
                        json_integer((json_int_t)counts->unsettled[EXACT_F32]));
    json_object_set_new(row, "what", json_string(b->what));
    return row;
}

static int run_benches(struct context *x, struct task *t)
{
    const int threads = threads_for(t->threads, SIZE_MAX);
    double peer = 0, dgemm;
    struct fault f;
    struct exact_counts counts;
    struct blas blas;
    if (by_layers(t, size, 1u << LAYER_BINS, &counts, &f) != BITCUT_OK)
        return fail("bins", &f);
    memcpy(t->want, t->got, size * size * sizeof *t->want);
    blas_open(&blas);
    int status = blas_rate(&dgemm, &blas, BLAS_DOUBLE, size, t->a.at, t->b.at, threads,
                           &f) == BITCUT_OK
                     ? EXIT_GOOD
                     : fail("bench", &f);
    for (const struct bench *b = benches; b->name && status == EXIT_GOOD; b++) {
        const size_t few = PEER_PRODUCTS / (size * size) + 1;
        const size_t rows = b->slow && few < size ? few : size;
        double seconds = 0;
        if (time_method(&seconds, t, b, rows, &counts, &f) != BITCUT_OK) {
            status = fail(b->name, &f);
            break;
        }
        const double rate = (double)rows * (double)size * (double)size / seconds;
        if (peer == 0) peer = rate;
        json_t *row = describe(b, rows, rate, peer, &counts, threads);
        blas_describe(row, &blas, rate, dgemm);
        emit_row(&x->emitter, row);
    }
    blas_close(&blas);
    return status;
}

/* The one size of a suite on the host. */
static int take_size(void)
{
    if (sizes.count > 1) return complain("-n", "only bench gpu takes several");
    if (sizes.count) size = sizes.at[0];
    return size ? EXIT_GOOD : complain("-n", "must be 1 or more");
}

static int run_exact(struct context *x)
{
    struct fault f;
    struct input input;
    struct task t = { .threads = x->threads, .progress = &x->progress };
    if (take_size() != EXIT_GOOD) return EXIT_USAGE;
    if (input_parse(&input, input_text, &f) != BITCUT_OK)
        return fail_input("--input", "inputs", &f);
    enum bitcut_status status =
        source_generate(&t.a, &input, INPUT_A, size, size, x->seed, x->threads, &f);
    if (status == BITCUT_OK)
        status =
            source_generate(&t.b, &input, INPUT_B, size, size, x->seed, x->threads, &f);
    t.want = memory_allocate(size * size, sizeof *t.want);
    t.got = memory_allocate(size * size, sizeof *t.got);
    if (status == BITCUT_OK && (!t.want || !t.got))
        status = fault_set(&f, BITCUT_NO_MEMORY, "out of memory");
    const int exit_status = status == BITCUT_OK ? run_benches(x, &t) : fail("bench", &f);
    free(t.want);
    free(t.got);
    matrix_clear(&t.a);
    matrix_clear(&t.b);
    return exit_status;
}

/* --- the table of suites ---------------------------------------------------------- */

struct suite {
    const char *name, *what;
    unsigned use;
    int (*run)(struct context *x);
};

static int run_emu_device(struct context *x, const struct input *input)
{
    const char *name = recipe_name ? recipe_name : recipes[RECIPE_PLAIN].name;
    const struct bitcut_recipe *recipe = bitcut_recipe_find(name);
    if (!recipe) return fail_unknown("--recipe", name, TABLE(recipes));
    return bench_emu_device(x, &sizes, input, recipe, unit_name);
}

static int run_emu(struct context *x)
{
    struct fault f;
    struct input input;
    if (input_parse(&input, input_text, &f) != BITCUT_OK)
        return fail_input("--input", "inputs", &f);
    if (!device_is_emulator()) return run_emu_device(x, &input);
    if (take_size() != EXIT_GOOD) return EXIT_USAGE;
    return bench_emu(x, size, &input, unit_name);
}

static int run_gpu(struct context *x)
{
    gpu.input = input_text;
    return bench_gpu(x, &gpu);
}

static const struct suite suites[] = {
    { "exact", "the layers of the exact reference against an MPFR loop", EXACT,
      run_exact },
    { "emu", "emulated GEMMs against a host's SGEMM, if OpenBLAS or BLIS is there", EMU,
      run_emu },
    { "gpu", "kernels on the device against cuBLAS", GEMMS, run_gpu },
    { 0 }
};

static unsigned use_of(const struct suite *suite)
{
    const struct bench_study *study =
        gpu.study ? table_find(TABLE(bench_studies), gpu.study) : NULL;
    if (suite->use == EMU && !device_is_emulator()) return EMU_DEVICE;
    return suite->use == GEMMS && study && study->matrices != FORMAT_F32 ? SMALL
                                                                         : suite->use;
}

static int run(struct context *x)
{
    if (x->operand_count == 0)
        return complain("bench", "name a suite: exact, emu or gpu");
    const struct suite *suite = table_find(TABLE(suites), x->operands[0]);
    if (!suite) return fail_unknown("bench", x->operands[0], TABLE(suites));
    const int status = check_use(x, uses, use_of(suite));
    return status == EXIT_GOOD ? suite->run(x) : status;
}

const struct command command_bench = {
    .name = "bench",
    .what = "Verify, then time, as a ratio to a peer in the same run",
    .run = run,
    .own = options,
    .operands = "exact|emu|gpu",
    .operands_most = 1,
};
