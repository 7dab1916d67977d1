/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut mma: a batch of fragments on a unit, with raw encodings as input and output. */
#include "analysis/cli/command.h"
#include "emu/fragment.h"
#include "lib/io/npy.h"

enum { A, B, C, SCALE_A, SCALE_B, FILES };

struct mma_options {
    const char *unit, *path[FILES];
};

static const struct option_row options[] = {
    { "unit", "matrix unit (bitcut list units)", OPTION(mma, unit, TEXT, "U") },
    { "a", "A[count][m][k], .npy of encodings", OPTION(mma, path[A], TEXT, "FILE") },
    { "b", "B[count][k][n]", OPTION(mma, path[B], TEXT, "FILE") },
    { "c", "C[count][m][n]", OPTION(mma, path[C], TEXT, "FILE") },
    { "scale-a", "block scales [count][m][k / block]",
      OPTION(mma, path[SCALE_A], TEXT, "FILE") },
    { "scale-b", "block scales [count][k / block][n]",
      OPTION(mma, path[SCALE_B], TEXT, "FILE") },
    { 0 }
};

/* Compute D of checked operands and write it. */
static int write_result(const struct context *x, const struct bitcut_unit *u,
                        const struct fragments *in, struct fragment_shape shape)
{
    struct array d;
    struct fault f;
    const size_t dim[3] = { shape.count, shape.m, shape.n };
    enum bitcut_status status = array_init(&d, 3, dim, in->c->bytes, in->c->floating, &f);
    if (status != BITCUT_OK) return fail(x->output, &f);
    status = fragments_run(&d, u, in, shape, x->threads, &x->progress, &f);
    if (status == BITCUT_OK) status = npy_write(x->output, &d, &f);
    array_clear(&d);
    return status == BITCUT_OK ? EXIT_GOOD : fail(x->output, &f);
}

static int run_on(struct context *x, const struct bitcut_unit *u,
                  const struct array *arrays)
{
    const struct mma_options *const o = x->own;
    const struct fragments in = { &arrays[A], &arrays[B], &arrays[C],
                                  o->path[SCALE_A] ? &arrays[SCALE_A] : NULL,
                                  o->path[SCALE_B] ? &arrays[SCALE_B] : NULL };
    struct fragment_shape shape;
    struct fault f;
    if (fragments_check(&shape, u, &in, &f) != BITCUT_OK) return fail("mma", &f);
    const int status = write_result(x, u, &in, shape);
    if (status != EXIT_GOOD) return status;
    emit_row(&x->emitter, json_pack("{s:s, s:s, s:I, s:o}", "unit", u->name, "evidence",
                                    unit_evidence(u), "outputs",
                                    (json_int_t)(shape.count * shape.m * shape.n),
                                    "written",
                       json_text(x->output)));
    return EXIT_GOOD;
}

/* The result may not replace an operand. */
static int check_output(const struct context *x)
{
    const struct mma_options *const o = x->own;
    const struct used_file files[] = { { "-a", o->path[A], false },
                                       { "-b", o->path[B], false },
                                       { "-c", o->path[C], false },
                                       { "--scale-a", o->path[SCALE_A], false },
                                       { "--scale-b", o->path[SCALE_B], false },
                                       { "-o", x->output, true },
                                       { 0 } };
    return check_files(files);
}

static int run(struct context *x)
{
    const struct mma_options *const o = x->own;
    if (!o->unit) return complain("--unit", "is required; see bitcut list units");
    if (!o->path[A] || !o->path[B] || !o->path[C])
        return complain("-a, -b or -c", "is missing; all three are required");
    if (!x->output) return complain("-o", "is required, a .npy file for D");
    const struct bitcut_unit *u = table_find(TABLE(units), o->unit);
    if (!u) return fail_unit(o->unit, false);

    struct array arrays[FILES] = { 0 };
    int status = check_output(x);
    for (int i = 0; i < FILES && status == EXIT_GOOD; i++) {
        struct fault f;
        if (o->path[i] && npy_read(&arrays[i], o->path[i], &f) != BITCUT_OK)
            status = fail(o->path[i], &f);
    }
    if (status == EXIT_GOOD) status = run_on(x, u, arrays);
    for (int i = 0; i < FILES; i++) array_clear(&arrays[i]);
    return status;
}

const struct command command_mma = {
    .name = "mma",
    .what = "Compute a batch of fragments on a matrix unit, to the bit",
    .run = run,
    .own = options,
    .own_size = sizeof(struct mma_options),
    .operands = "",
    .output = "D, a file .npy",
    .task = TASK_COMPUTE,
    .examples = {
        { "Compute recorded inputs on the model of a unit",
          "bitcut mma --unit hopper/mma.m16n8k16.f32.f16 -a "
          "data/h200/mma_m16n8k16_f16_f32/A.npy -b "
          "data/h200/mma_m16n8k16_f16_f32/B.npy -c "
          "data/h200/mma_m16n8k16_f16_f32/C.npy -o D.npy" },
        { "The same on the model of another architecture",
          "bitcut mma --unit ampere/mma.m16n8k16.f32.f16 -a "
          "data/h200/mma_m16n8k16_f16_f32/A.npy -b "
          "data/h200/mma_m16n8k16_f16_f32/B.npy -c "
          "data/h200/mma_m16n8k16_f16_f32/C.npy -o E.npy" },
    },
};
