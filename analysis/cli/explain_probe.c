/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/explain_probe.h"

#include "analysis/cli/probe_command.h"
#include "analysis/cli/setup.h"
#include "analysis/order/probe.h"
#include "analysis/verify/kernel_trial.h"
#include "lib/io/json_record.h"

#include <string.h>

/* --- options ---------------------------------------------------------------------- */

enum { OF_FILES = 1, OF_COMMAND = 2, OF_KERNEL = 4, OF_STATISTICS = 8 };

#define MADE_BY_PROBE                                                                    \
    "cannot be combined with --probe, --kernel or --torch-shape, which make their "      \
    "inputs"
#define FILES_HAVE                                                                       \
    "requires --probe or --kernel; files and --torch-shape have their own sizes"
#define OF_TENSORS "requires --torch-shape, without --probe and --kernel"

static const struct option_use uses[] = {
    /* clang-format off */
    { "a",       OF_FILES,               MADE_BY_PROBE                       },
    { "b",       OF_FILES,               MADE_BY_PROBE                       },
    { "c",       OF_FILES,               MADE_BY_PROBE                       },
    { "d",       OF_FILES,               MADE_BY_PROBE                       },
    { "alpha",   OF_FILES,               MADE_BY_PROBE                       },
    { "beta",    OF_FILES,               MADE_BY_PROBE                       },
    { "samples", OF_FILES,               "requires a D from a file"            },
    { "effort",  OF_FILES | OF_STATISTICS, "requires a D from a file, or --torch-shape" },
    { "seconds", OF_FILES,               "requires a D from a file"            },
    { "m",       OF_COMMAND | OF_KERNEL, FILES_HAVE                          },
    { "n",       OF_COMMAND | OF_KERNEL, FILES_HAVE                          },
    { "k",       OF_COMMAND | OF_KERNEL, FILES_HAVE                          },
    { "format",  OF_FILES | OF_COMMAND,  "requires --probe or a D from a file" },
    { "format-a", OF_FILES,              MADE_BY_PROBE                       },
    { "format-b", OF_FILES,              MADE_BY_PROBE                       },
    { "format-c", OF_FILES,              MADE_BY_PROBE                       },
    { "format-d", OF_FILES,              MADE_BY_PROBE                       },
    EPILOGUE_USES(OF_FILES,              MADE_BY_PROBE),
    { "zero-a",  OF_FILES,               MADE_BY_PROBE                       },
    { "zero-b",  OF_FILES,               MADE_BY_PROBE                       },
    { "offsets", OF_FILES,               MADE_BY_PROBE                       },
    { "sparse-a", OF_FILES,              MADE_BY_PROBE                       },
    { "positions-a", OF_FILES,           MADE_BY_PROBE                       },
    { "offsets-k", OF_FILES,             MADE_BY_PROBE                       },
    { "index",   OF_FILES,               MADE_BY_PROBE                       },
    { "shape-a", OF_FILES,               MADE_BY_PROBE                       },
    { "shape-b", OF_FILES,               MADE_BY_PROBE                       },
    { "shape-c", OF_FILES,               MADE_BY_PROBE                       },
    { "shape-d", OF_FILES,               MADE_BY_PROBE                       },
    { "device",  OF_FILES | OF_KERNEL,   "requires --kernel or a D from a file"         },
    { "split-k", OF_KERNEL,              "requires --kernel"                   },
    { "kernel",  OF_KERNEL,              "cannot be combined with --probe"          },
    { "rms",     OF_STATISTICS,          OF_TENSORS                          },
    { "max",     OF_STATISTICS,          OF_TENSORS                          },
    { "mean",    OF_STATISTICS,          OF_TENSORS                          },
    { "largest", OF_STATISTICS,          OF_TENSORS                          },
    { "torch-seed", OF_STATISTICS,       OF_TENSORS                          },
    { "torch-shape", OF_STATISTICS,      OF_TENSORS                          },
    { 0 }
    /* clang-format on */
};

bool explain_probe_asked(const struct explain_probe_options *o)
{
    return o->command || o->kernel;
}

int explain_probe_misused(const struct context *x, const struct explain_probe_options *o,
                          bool statistics)
{
    return check_use(x, uses,
                     o->command   ? OF_COMMAND
                     : o->kernel  ? OF_KERNEL
                     : statistics ? OF_STATISTICS
                                  : OF_FILES);
}

/* The row of inputs with that format, or NULL. */
static const struct probe_input *find_input(const struct bitcut_format *format)
{
    const struct probe_input *row = probe_inputs;
    while (row->format && row->format != format) row++;
    return row->format ? row : NULL;
}

/* --- running ---------------------------------------------------------------------- */

static int probe(struct context *x, const struct explain_probe_options *o,
                 const char *what, const struct bitcut_format *format, probe_program *run,
                 void *context)
{
    const struct probe p = { run,     context,    o->m,
                             o->n,    o->k,       find_input(format),
                             x->seed, x->threads, &x->progress };
    struct probe_result r;
    struct fault f;
    if (probe_run(&r, &p, &f) != BITCUT_OK) return fail(what, &f);
    json_t *const row = json_object();
    record_json(row, probe_fields, &r);
    emit_answer(&x->emitter, row, probe_lines, &r);
    return r.found && r.fit.units ? EXIT_GOOD : EXIT_FOUND;
}

static int probe_shell(struct context *x, const struct explain_probe_options *o,
                       const char *name)
{
    const struct bitcut_format *format = bitcut_format_find(name ? name : "f32");
    struct probe_command command;
    struct fault f;
    if (!format || !find_input(format))
        return complain("--format", "must be f16, bf16, tf32 or f32");
    if (probe_command_open(&command, o->command, &x->progress, &f) != BITCUT_OK)
        return fail("--probe", &f);
    const int status = probe(x, o, "--probe", format, probe_command_run, &command);
    probe_command_close(&command);
    return status;
}

/* A kernel on its device, with FP32 matrices. */
struct probed_kernel {
    struct recorder recorder;
    const struct gpu_kernel *kernel;
    struct bitcut_gemm gemm;
};

static struct gpu_memory memory_of(const struct matrix *m)
{
    return (struct gpu_memory){ m->at, m->rows * m->cols * sizeof *m->at };
}

static enum bitcut_status run_kernel(struct matrix *to, void *context,
                                     const struct matrix *a, const struct matrix *b,
                                     struct fault *f)
{
    const struct probed_kernel *x = context;
    const struct recorder *r = &x->recorder;
    struct bitcut_gemm g = x->gemm;
    struct gpu_work w;
    struct matrix d;
    enum bitcut_status status = matrix_init(&d, a->rows, b->cols, f);
    if (status != BITCUT_OK) return status;
    gemm_set_dense(&g, d.at, d.rows, d.cols, a->cols, a->at, b->at, NULL);
    const struct gpu_memory memory[4] = {
        memory_of(a), memory_of(b), { 0 }, memory_of(&d)
    };
    status = gpu_work_make(&w, &g, x->kernel, &r->device, f);
    if (status == BITCUT_OK) status = gpu_work_check(&w, f);
    if (status == BITCUT_OK) status = gpu_work_run(&w, memory, &r->gpu, &r->device, f);
    if (status == BITCUT_OK) *to = d;
    else matrix_clear(&d);
    return status;
}

static int find_kernel(struct probed_kernel *x, const struct explain_probe_options *o)
{
    struct fault f;
    while ((x->kernel = gpu_kernel_next(&x->recorder.gpu, x->kernel)))
        if (!strcmp(x->kernel->name, o->kernel)) break;
    if (!x->kernel)
        return complain("--kernel", "names no known kernel; see bitcut list kernels");
    if (kernel_gemm(&x->gemm, &x->recorder, x->kernel, &f) != BITCUT_OK)
        return fail("--kernel", &f);
    if (x->kernel->matrices != FORMAT_F32)
        return complain(
            "--kernel",
            "names a kernel whose matrices are not f32; probing requires f32");
    if (!find_input(&formats[x->kernel->format]))
        return complain("--kernel",
                        "names a kernel whose parts have too few bits to be probed");
    x->gemm.order.slices = o->slices;
    return EXIT_GOOD;
}

static int probe_kernel(struct context *x, const struct explain_probe_options *o,
                        const char *device)
{
    struct probed_kernel k = { .kernel = NULL };
    if (o->slices < 1) return complain("--split-k", "must be at least 1");
    int status = device_open(&k.recorder, device, "explain");
    if (status != EXIT_GOOD) return status;
    status = find_kernel(&k, o);
    if (status == EXIT_GOOD)
        status = probe(x, o, "--kernel", &formats[k.kernel->format], run_kernel, &k);
    recorder_close(&k.recorder);
    return status;
}

int explain_probe(struct context *x, const struct explain_probe_options *o,
                  const char *format, const char *device)
{
    return o->command ? probe_shell(x, o, format) : probe_kernel(x, o, device);
}
