/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut bench: verify, then time, relative to a peer in the same run. */
#include "analysis/bench/benchmark_plan.h"
#include "analysis/cli/bench_emu.h"
#include "analysis/cli/bench_emu_device.h"
#include "analysis/cli/bench_exact.h"
#include "analysis/cli/bench_fp64.h"
#include "analysis/cli/bench_gpu.h"
#include "analysis/cli/command.h"
#include "analysis/cli/device_option.h"

static const struct bench_options defaults = { .input = "urand(-1,1)",
                                               .rounds = 5,
                                               .sustained_milliseconds = 1000 };

static const struct option_row options[] = {
    { "n",
      "size (default 512; gpu: 1024 to 16384, on the cpu 512 to 4096; may be repeated)",
      OPTION(bench, sizes, COUNTS, "N") },
    { "input",
      "generate A and B by this family (bitcut list inputs; default urand(-1,1))",
      OPTION(bench, input, TEXT, "I") },
    { "unit", "emu: unit (bitcut list units; default: all with a fast path)",
      OPTION(bench, unit, TEXT, "U") },
    { "recipe", "emu on a device: recipe (bitcut list recipes; default plain)",
      OPTION(bench, recipe, TEXT, "R") },
    DEVICE_OPTION(bench, "emu and exact: emulator; gpu and fp64: cuda"),
    { "kernel", "gpu and fp64: kernel, by its name or the beginning of it, or all",
      OPTION(bench, kernel, TEXT, "K") },
    { "tile", "gpu: only kernels with this tile (default: chosen for the shape)",
      OPTION(bench, tile, TEXT, "MxN[xK]") },
    { "study", "gpu: a named set of kernels and shapes (bitcut list benches)",
      OPTION(bench, study, TEXT, "S") },
    { "shapes",
      "gpu: shapes instead of those of the study (bitcut list shapes); may be repeated",
      OPTION(bench, shapes, TEXTS, "S") },
    { "batch", "gpu: batch size, for a study of batches; may be repeated",
      OPTION(bench, batches, COUNTS, "N") },
    { "rounds", "gpu and fp64: number of timings of each kernel (default 5)",
      OPTION(bench, rounds, COUNT, "N") },
    { "sustained",
      "gpu: ms of sustained load (3/10 warm up) to measure speed, clock and power "
      "(default 1000; 0: none)",
      OPTION(bench, sustained_milliseconds, COUNT, "MS") },
    { "equilibrate", "gpu: scale rows of A and columns of B by powers of two first",
      OPTION(bench, equilibrate, FLAG, NULL) },
    { 0 }
};

/* The subjects of timing: a suite; for bench gpu whole GEMMs or a study of small ones. */
enum { EXACT = 1, EMU = 2, GEMMS = 4, SMALL = 8, EMU_DEVICE = 16, FP64 = 32 };

#define OF_GPU   "requires bench gpu"
#define OF_GEMMS "requires bench gpu and is not supported for batches of small GEMMs"

static const struct option_use uses[] = {
    /* clang-format off */
    { "unit",        EMU | EMU_DEVICE, "requires bench emu" },
    { "recipe",      EMU_DEVICE,    "requires bench emu with a device" },
    { "kernel",      GEMMS | SMALL | FP64, "requires bench gpu or fp64" },
    { "study",       GEMMS | SMALL, OF_GPU             },
    { "shapes",      GEMMS | SMALL, OF_GPU             },
    { "batch",       GEMMS | SMALL, OF_GPU             },
    { "rounds",      GEMMS | SMALL | FP64, "requires bench gpu or fp64" },
    { "tile",        GEMMS,         OF_GEMMS           },
    { "sustained",   GEMMS,         OF_GEMMS           },
    { "equilibrate", GEMMS,         OF_GEMMS           },
    { 0 }
    /* clang-format on */
};

/* The single size of a suite on the CPU. */
static int take_size(size_t *size, const struct bench_options *o)
{
    if (o->sizes.count > 1) return complain("-n", "can be repeated with bench gpu only");
    *size = o->sizes.count ? o->sizes.at[0] : 512;
    return *size ? EXIT_GOOD : complain("-n", "must be at least 1");
}

static int run_exact(struct context *x)
{
    static struct emulating_device device;
    const struct bench_options *const o = x->own;
    struct fault f;
    struct input input;
    size_t size;
    if (take_size(&size, o) != EXIT_GOOD) return EXIT_USAGE;
    if (input_parse(&input, o->input, &f) != BITCUT_OK)
        return fail_input("--input", "inputs", &f);
    int status = emulating_device_open(&device, x, o->device, "bench");
    if (status == EXIT_GOOD) status = bench_exact(x, size, &input);
    emulating_device_close(&device, x);
    return status;
}

/* --- the table of suites ---------------------------------------------------------- */

struct suite {
    const char *name, *what;
    unsigned use;
    int (*run)(struct context *x);
};

static int run_emu_device(struct context *x, const struct input *input)
{
    const struct bench_options *const o = x->own;
    const char *name = o->recipe ? o->recipe : recipes[RECIPE_PLAIN].name;
    const struct bitcut_recipe *recipe = bitcut_recipe_find(name);
    if (!recipe) return fail_unknown("--recipe", name, TABLE(recipes));
    return bench_emu_device(x, input, recipe);
}

static int run_emu(struct context *x)
{
    const struct bench_options *const o = x->own;
    struct fault f;
    struct input input;
    size_t size;
    if (input_parse(&input, o->input, &f) != BITCUT_OK)
        return fail_input("--input", "inputs", &f);
    if (!device_is_emulator(o->device)) return run_emu_device(x, &input);
    if (take_size(&size, o) != EXIT_GOOD) return EXIT_USAGE;
    return bench_emu(x, size, &input, o->unit);
}

static const struct suite suites[] = {
    { "exact", "the stages of the exact reference against an MPFR loop", EXACT,
      run_exact },
    { "emu", "emulated GEMMs against the SGEMM of OpenBLAS or BLIS, if installed", EMU,
      run_emu },
    { "gpu", "kernels on the device against its vendor's libraries", GEMMS, bench_gpu },
    { "fp64", "kernels for FP64 GEMMs by slices against DGEMM of the vendor's library", FP64,
      bench_fp64 },
    { 0 }
};

static unsigned use_of(const struct suite *suite, const struct bench_options *o)
{
    const struct bench_study *study =
        o->study ? table_find(TABLE(bench_studies), o->study) : NULL;
    if (suite->use == EMU && !device_is_emulator(o->device)) return EMU_DEVICE;
    return suite->use == GEMMS && study && study->matrices != FORMAT_F32 ? SMALL
                                                                         : suite->use;
}

static int run(struct context *x)
{
    if (x->operand_count == 0)
        return complain("bench", "requires a suite: exact, emu, gpu or fp64");
    const struct suite *suite = table_find(TABLE(suites), x->operands[0]);
    if (!suite) return fail_unknown("bench", x->operands[0], TABLE(suites));
    const int status = check_use(x, uses, use_of(suite, x->own));
    return status == EXIT_GOOD ? suite->run(x) : status;
}

const struct command command_bench = {
    .name = "bench",
    .what = "Verify and time, relative to a peer in the same run",
    .run = run,
    .own = options,
    .own_size = sizeof defaults,
    .defaults = &defaults,
    .operands = "exact|emu|gpu|fp64",
    .operands_most = 1,
    .task = TASK_CHOOSE,
    .examples = {
        { "Time the exact reference on this processor",
          "bitcut bench exact -n 128" },
        { "Time kernels on a GPU",
          "bitcut bench gpu -n 4096 --device cuda" },
    },
};
