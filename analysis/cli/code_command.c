/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/code_command.h"

#include "lib/io/stream.h"
#include "lib/number/round.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1 << 28 };

static const char backend[] = "executor";

/* The options that --hsaco requires. */
static int check_options(const struct code_options *o)
{
    const struct {
        const char *option, *value, *why;
    } needed[] = {
        { "--symbol", o->symbol, "is required, the name of a kernel in the code" },
        { "--args", o->arguments,
          "is required, the arguments of the kernel, such as a,b,d,m,n,k" },
        { "--grid", o->grid,
          "is required, the number of work-groups, such as n/128,m/128" },
        { "--block", o->block,
          "is required, the number of work-items in a work-group, such as 256" }
    };
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!needed[i].value) return complain(needed[i].option, needed[i].why);
    return EXIT_GOOD;
}

/* --device may name where the code would run anyway. */
static int check_device(const char *device, const struct gfx9_target *target)
{
    const size_t length = strlen(backend);
    if (!device) return EXIT_GOOD;
    if (strncmp(device, backend, length) != 0)
        return complain(
            "--device",
            "cannot be combined with --hsaco; give a result from a GPU by -d");
    if (device[length] == ':' && !strcmp(device + length + 1, target->name))
        return EXIT_GOOD;
    return device[length]
               ? complain("--device", "does not match the processor of the code")
               : EXIT_GOOD;
}

static int load(struct gfx9_object **to, const char *file)
{
    char *bytes;
    size_t size;
    struct fault f;
    if (stream_read_file(&bytes, &size, file, FILE_MAX, &f) != BITCUT_OK)
        return fail(file, &f);
    const enum bitcut_status status = gfx9_load(to, bytes, size, &f);
    free(bytes);
    return status == BITCUT_OK ? EXIT_GOOD : fail(file, &f);
}

static int run(struct code_result *to, struct setup *s, const struct gfx9_object *object,
               const struct code_options *o, size_t seconds, const struct context *x)
{
    const struct code_call call = { .symbol = o->symbol,
                                    .arguments = o->arguments,
                                    .grid = o->grid,
                                    .block = o->block,
                                    .shared_bytes = o->shared,
                                    .threads = x->threads,
                                    .seconds = (double)seconds,
                                    .progress = &x->progress };
    const uint32_t scalars[2] = { s->gemm.alpha, s->gemm.beta };
    struct fault f;
    if (code_gemm_run(to, &s->a, &s->b, &s->c, scalars, object, &call, &f) == BITCUT_OK)
        return EXIT_GOOD;
    return fail("--hsaco", &f);
}

int code_command_run(struct code_result *to, struct setup *s,
                     const struct code_options *o, const char *device, size_t seconds,
                     const struct context *x)
{
    struct gfx9_object *object = NULL;
    int status = check_options(o);
    if (status == EXIT_GOOD) status = load(&object, o->file);
    if (status == EXIT_GOOD) status = check_device(device, gfx9_target_of(object));
    if (status == EXIT_GOOD) status = run(to, s, object, o, seconds, x);
    gfx9_unload(object);
    return status;
}

void code_command_describe(json_t *row, const struct code_result *r)
{
    json_t *counts = json_object();
    for (const struct gfx9_counter *c = gfx9_counters; c->name; c++)
        json_object_set_new(counts, c->name, json_count(gfx9_count(&r->counts, c)));
    json_object_set_new(row, "counts", counts);
}
