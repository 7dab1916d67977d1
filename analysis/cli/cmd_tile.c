/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut tile: rank the tiles of a GEMM kernel on a described GPU, or the available
   kernels on a device. */
#include "analysis/cli/command.h"
#include "analysis/cli/device_option.h"
#include "analysis/cli/gpu_file.h"
#include "analysis/verify/kernel_trial.h"
#include "gpu/api/choose.h"
#include "lib/gemm/recipe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tile_options {
    const char *gpu, *kernel, *device, *model, *recipe;
    struct option_texts tiles;
    size_t m, n, k, top;
    int waves, stages, accumulators;
    bool operands_shared;
};

static const struct tile_options defaults = {
    .recipe = "legemm", .m = 8192, .n = 8192, .k = 8192, .stages = 2, .accumulators = 1
};

static const struct option_row options[] = {
    { "gpu",
      "a name (a100, a800, h100, h200, mi210) or a .json file that describes a GPU",
      OPTION(tile, gpu, TEXT, "GPU") },
    { "kernel",
      "instead of tiles: rank the kernels on --device that give the same bits as this "
      "one",
      OPTION(tile, kernel, TEXT, "K") },
    DEVICE_OPTION(tile, "with --kernel: cuda"),
    { "model",
      "tile model: clocks, legemm (default: chosen by the known rates of the device)",
      OPTION(tile, model, TEXT, "M") },
    { "m", "rows of A and C (default 8192)", OPTION(tile, m, COUNT, "M") },
    { "n", "columns of B and C (default 8192)", OPTION(tile, n, COUNT, "N") },
    { "k", "columns of A, rows of B (default 8192)", OPTION(tile, k, COUNT, "K") },
    { "recipe", "recipe (bitcut list recipes; default legemm)",
      OPTION(tile, recipe, TEXT, "R"), .has_default = true },
    { "tile", "rank this tile instead of the default tiles; may be repeated",
      OPTION(tile, tiles, TEXTS, "MxNxK") },
    { "waves", "waves in a group (default: chosen for the tile)",
      OPTION(tile, waves, INT, "N") },
    { "stages", "number of buffers in shared memory (default 2)",
      OPTION(tile, stages, INT, "N") },
    { "accumulators", "accumulator registers per output (default 1, as in Eq. 16)",
      OPTION(tile, accumulators, INT, "N") },
    { "operands-shared", "instructions read A and B from shared memory, as wgmma does",
      OPTION(tile, operands_shared, FLAG, NULL) },
    { "top", "print the first N rows (default: all)", OPTION(tile, top, COUNT, "N") },
    { 0 }
};

/* The input of the ranking. */
enum { TILES = 1, KERNELS = 2 };

#define KERNELS_HAVE_THEIRS "cannot be combined with --kernel, which sets it"

static const struct option_use uses[] = {
    /* clang-format off */
    { "gpu",             TILES, "cannot be combined with --kernel; use --device" },
    { "device",          KERNELS, "requires --kernel; without it, --gpu names the GPU" },
    { "recipe",          TILES, KERNELS_HAVE_THEIRS },
    { "tile",            TILES, KERNELS_HAVE_THEIRS },
    { "waves",           TILES, KERNELS_HAVE_THEIRS },
    { "stages",          TILES, KERNELS_HAVE_THEIRS },
    { "accumulators",    TILES, KERNELS_HAVE_THEIRS },
    { "operands-shared", TILES, KERNELS_HAVE_THEIRS },
    { 0 }
    /* clang-format on */
};

/* --- the input -------------------------------------------------------------------- */

enum { PATH_LENGTH_MAX = DATA_PATH_MAX + DATA_NAME_MAX + 8 };

/* The file of a description that comes with bitcut. */
static int find_recorded(char path[PATH_LENGTH_MAX], const char *name)
{
    static struct data_files files;
    struct fault f;
    if (gpu_files_find(&files, &f) != BITCUT_OK) return fail("--gpu", &f);
    if (!table_find(TABLE(files.rows), name))
        return fail_unknown("--gpu", name, TABLE(files.rows));
    snprintf(path, PATH_LENGTH_MAX, "%s/%s.json", files.folder, name);
    return EXIT_GOOD;
}

static int read_gpu(struct tile_gpu *gpu, const char *name)
{
    char path[PATH_LENGTH_MAX];
    struct fault f;
    if (!name)
        return complain("--gpu", "is required, a name such as a100 or a .json file");
    snprintf(path, sizeof path, "%s", name);
    const int status = gpu_is_path(name) ? EXIT_GOOD : find_recorded(path, name);
    if (status != EXIT_GOOD) return status;
    return gpu_file_read(gpu, path, &f) == BITCUT_OK ? EXIT_GOOD : fail(path, &f);
}

static int read_method(struct tile_method *method, const struct tile_options *o)
{
    const struct bitcut_recipe *r = table_find(TABLE(recipes), o->recipe);
    if (!r) return fail_unknown("--recipe", o->recipe, TABLE(recipes));
    const struct bitcut_split *s = r->split ? r->split : &splits[SPLIT_HALF];
    if (!split_is_uniform(s))
        return complain("--recipe",
                        "has parts of two formats; tile models require one format");
    *method = (struct tile_method){ .terms = r->terms + r->keeps_dropped_term,
                                    .parts = s->parts,
                                    .part_bytes = s->part[0].format->bits / 8,
                                    .accumulators = o->accumulators,
                                    .operands_shared = o->operands_shared };
    return EXIT_GOOD;
}

static int check_numbers(const struct tile_options *o)
{
    const size_t sides[] = { o->m, o->n, o->k };
    for (int i = 0; i < 3; i++)
        if (!sides[i] || sides[i] > TILE_PROBLEM_MAX)
            return complain("-m, -n, -k", "must be 1 to 2147483648");
    if (o->waves < 0 || o->waves > TILE_COUNT_MAX)
        return complain("--waves", "must be 1 to 4096, or 0 to choose automatically");
    if (o->stages < 1 || o->stages > TILE_COUNT_MAX)
        return complain("--stages", "must be 1 to 4096");
    if (o->accumulators < 1 || o->accumulators > 16)
        return complain("--accumulators", "must be 1 to 16");
    return EXIT_GOOD;
}

enum { TILES_MAX = (int)OPTION_TEXTS_MAX + (int)TILE_GRID };

static int make_tiles(struct tile tiles[TILES_MAX], size_t *count,
                      const struct tile_gpu *gpu, const struct tile_method *method,
                      const struct tile_options *o)
{
    const struct option_texts *const given = &o->tiles;
    *count = given->count ? (size_t)given->count : TILE_GRID;
    if (!given->count) tile_grid(tiles, gpu, method, o->stages);
    for (int i = 0; i < given->count; i++) {
        struct tile *t = &tiles[i];
        int side[3];
        if (!option_tile(side, given->text[i], 3, 1, TILE_COUNT_MAX))
            return complain("--tile",
                            "requires three sides such as 128x256x32, each 1 to 4096");
        t->m = side[0], t->n = side[1], t->k = side[2];
        t->waves = tile_waves(t->m, t->n, gpu, method);
        t->stages = o->stages;
    }
    for (size_t i = 0; o->waves && i < *count; i++) tiles[i].waves = o->waves;
    return EXIT_GOOD;
}

/* --- the answer ------------------------------------------------------------------- */

static json_t *factor_text(const struct tile_factor_row *names,
                           const struct tile_choice *c, const struct tile_choice *best)
{
    return json_sprintf("%s: %.3g, the best has %.3g", names[c->by].name,
                        c->factor[c->by], best->factor[c->by]);
}

/* The factors that put the best one first. */
static json_t *best_text(const struct tile_factor_row *names, const struct tile_choice *c)
{
    return json_sprintf("the highest score: %s %.3g, %s %.3g, %s %.3g", names[0].name,
                        c->factor[0], names[1].name, c->factor[1], names[2].name,
                        c->factor[2]);
}

static json_t *limit_text(const struct tile_choice *c)
{
    const struct tile_limit_row *row = &tile_limits[c->limit];
    char text[160];
    snprintf(text, sizeof text, row->what, (unsigned long long)c->need,
             (unsigned long long)c->have);
    return json_sprintf("does not fit, %s: %s", row->name, text);
}

static json_t *why(const struct tile_model *model, const struct tile_choice *c,
                   const struct tile_choice *best)
{
    switch (c->reason) {
    case TILE_BEST: return best_text(model->factor, c);
    case TILE_BY_FACTOR: return factor_text(model->factor, c, best);
    case TILE_BY_LOAD:
        return json_sprintf("work_dl: %.6g, the best has %.6g", c->work_dl,
                            best->work_dl);
    case TILE_BY_ORDER: return json_string("equal to the best, but later in the list");
    case TILE_BY_LIMIT: break;
    }
    return limit_text(c);
}

static json_t *detail(const struct tile_choice *c, const struct tile_detail *d)
{
    const char *at = (const char *)c + d->offset;
    uint64_t count;
    double number;
    memcpy(&count, at, sizeof count);
    memcpy(&number, at, sizeof number);
    return d->counts ? json_count(count) : json_number(number);
}

/* Add the model's numbers for a choice to the row. */
static void describe(json_t *row, const struct tile_model *model,
                     const struct tile_choice *c, size_t rank,
                     const struct tile_choice *best)
{
    json_object_set_new(row, "rank",
                        c->limit == TILE_FITS ? json_count(rank) : json_null());
    json_object_set_new(row, "score", json_number(c->score));
    for (int i = 0; i < TILE_FACTORS; i++)
        json_object_set_new(row, model->factor[i].name, json_number(c->factor[i]));
    for (const struct tile_detail *d = model->details; d->name; d++)
        json_object_set_new(row, d->name, detail(c, d));
    json_object_set_new(row, "why", why(model, c, best));
}

/* --- tiles ------------------------------------------------------------------------ */

static json_t *identify(const char *key, const char *name, const struct tile_options *o)
{
    return json_pack("{s:o, s:I, s:I, s:I}", key, json_text(name), "m", (json_int_t)o->m,
                     "n", (json_int_t)o->n, "k", (json_int_t)o->k);
}

static void emit_choice(struct context *x, const struct tile_task *task,
                        const struct tile_choice *c, size_t rank,
                        const struct tile_choice *best)
{
    const struct tile_options *const o = x->own;
    const struct tile *t = &c->tile;
    json_t *row = identify("gpu", o->gpu, o);
    json_object_update_new(
        row, json_pack("{s:o, s:i, s:i}", "tile",
                       json_sprintf("%dx%dx%d", t->m, t->n, t->k), "waves", t->waves,
                       "stages", t->stages));
    describe(row, task->model, c, rank, best);
    emit_row(&x->emitter, row);
}

static int rank_tiles(struct context *x, const struct tile_model *model)
{
    static struct tile tiles[TILES_MAX];
    static struct tile_choice choices[TILES_MAX];
    const struct tile_options *const o = x->own;
    struct tile_task task = { .problem = { o->m, o->n, o->k } };
    size_t count;
    int status = read_method(&task.method, o);
    if (status == EXIT_GOOD) status = read_gpu(&task.gpu, o->gpu);
    if (status == EXIT_GOOD)
        status = make_tiles(tiles, &count, &task.gpu, &task.method, o);
    if (status != EXIT_GOOD) return status;
    task.model = model ? model : tile_model_of(&task.gpu);
    if (task.model->rates) return complain("--model", "clocks requires --kernel");
    tile_rank(choices, tiles, NULL, count, &task);
    for (size_t i = 0; i < count && (!o->top || i < o->top); i++)
        emit_choice(x, &task, &choices[i], i + 1, choices);
    return EXIT_GOOD;
}

/* --- kernels ---------------------------------------------------------------------- */

static int rank_kernels_of(struct context *x, const struct recorder *r,
                           const struct tile_model *model)
{
    const struct tile_options *const o = x->own;
    const struct bitcut_gemm gemm = { .m = o->m, .n = o->n, .k = o->k };
    const struct gpu_kernel *like = NULL;
    struct gpu_choice c[GPU_CHOICES_MAX];
    struct fault f;
    while ((like = gpu_kernel_next(&r->gpu, like)))
        if (like->tile_m && kernel_is_called(like->name, o->kernel) &&
            gpu_kernel_fits(&r->device, like))
            break;
    if (!like) return complain("--kernel", "names no kernel with tiles on this device");
    const size_t count = gpu_kernel_rank_by(c, model, &r->gpu, &r->device, like, &gemm);
    if (!count) {
        fault_set(&f, BITCUT_UNSUPPORTED, "no kernel supports this m, n and k");
        return fail(like->name, &f);
    }
    for (size_t i = 0; i < count && (!o->top || i < o->top); i++) {
        json_t *row = identify("kernel", c[i].kernel->name, o);
        describe(row, model, &c[i].judged, i + 1, &c->judged);
        json_object_set_new(row, "device", json_text(r->device.name));
        emit_row(&x->emitter, row);
    }
    return EXIT_GOOD;
}

static int rank_kernels(struct context *x, const struct tile_model *model)
{
    const struct tile_options *const o = x->own;
    struct recorder r;
    int status = device_open(&r, o->device, "tile");
    if (status != EXIT_GOOD) return status;
    status = rank_kernels_of(x, &r, model ? model : gpu_model(&r.device));
    recorder_close(&r);
    return status;
}

static int run(struct context *x)
{
    const struct tile_options *const o = x->own;
    const struct tile_model *model = NULL;
    int status = check_use(x, uses, o->kernel ? KERNELS : TILES);
    if (status == EXIT_GOOD) status = check_numbers(o);
    if (status != EXIT_GOOD) return status;
    if (o->model && !(model = table_find(TABLE(tile_models), o->model)))
        return fail_unknown("--model", o->model, TABLE(tile_models));
    return o->kernel ? rank_kernels(x, model) : rank_tiles(x, model);
}

const struct command command_tile = {
    .name = "tile",
    .what = "Rank tiles or kernels of a GEMM on a GPU by a tile model",
    .run = run,
    .own = options,
    .own_size = sizeof defaults,
    .defaults = &defaults,
    .operands = "",
    .task = TASK_CHOOSE,
    .examples = {
        { "Rank the tiles of a GEMM on an H100",
          "bitcut tile --gpu h100 -m 4096 -n 4096 -k 4096 --top 5" },
        { "Look at one tile",
          "bitcut tile --gpu a100 --tile 128x128x32" },
    },
};
