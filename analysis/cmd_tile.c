/* bitcut tile: rank the tiles of a GEMM kernel on a described GPU, or the kernels that
   there are on this machine's. */
#include "analysis/command.h"
#include "analysis/gpu_file.h"
#include "analysis/kernel_trial.h"
#include "gpu/choose.h"
#include "lib/recipe.h"

#include <stdio.h>
#include <stdlib.h>

static const char *gpu_name, *kernel_name, *recipe_name = "legemm";
static struct option_texts given;
static size_t m = 8192, n = 8192, k = 8192, top;
static int waves, stages = 2, accumulators = 1;
static bool operands_shared;

static const struct option_row options[] = {
    { "gpu", "a name (a100, a800, h100, h200, mi210) or a file that describes one",
      OPTION_TEXT, &gpu_name, "GPU" },
    { "kernel", "instead: the kernels that give the bits of this one, on this device",
      OPTION_TEXT, &kernel_name, "K" },
    { "m", "rows of A and C (default 8192)", OPTION_COUNT, &m, "M" },
    { "n", "columns of B and C (default 8192)", OPTION_COUNT, &n, "N" },
    { "k", "columns of A, rows of B (default 8192)", OPTION_COUNT, &k, "K" },
    { "recipe", "whose words and products are counted (default legemm)", OPTION_TEXT,
      &recipe_name, "R" },
    { "tile", "rank this one, not the usual ones; may be repeated", OPTION_TEXTS, &given,
      "MxNxK" },
    { "waves", "waves of a group (default: as many as suit the tile)", OPTION_INT, &waves,
      "N" },
    { "stages", "buffers in shared memory (default 2)", OPTION_INT, &stages, "N" },
    { "accumulators", "registers an output (default 1, as Eq. 16 counts)", OPTION_INT,
      &accumulators, "N" },
    { "operands-shared", "instructions read A and B from shared memory, as wgmma does",
      OPTION_FLAG, &operands_shared, NULL },
    { "top", "print so many rows (default: all)", OPTION_COUNT, &top, "N" },
    { 0 }
};

/* What is ranked. */
enum { TILES = 1, KERNELS = 2 };

#define KERNELS_HAVE_THEIRS "is not for --kernel: kernels have their own"

static const struct option_use uses[] = {
    /* clang-format off */
    { "gpu",             TILES, "is not for --kernel: that is for this device" },
    { "recipe",          TILES, KERNELS_HAVE_THEIRS },
    { "tile",            TILES, KERNELS_HAVE_THEIRS },
    { "waves",           TILES, KERNELS_HAVE_THEIRS },
    { "stages",          TILES, KERNELS_HAVE_THEIRS },
    { "accumulators",    TILES, KERNELS_HAVE_THEIRS },
    { "operands-shared", TILES, KERNELS_HAVE_THEIRS },
    { 0 }
    /* clang-format on */
};

/* --- what to rank ----------------------------------------------------------------- */

enum { PATH_MOST = KEPT_PATH_MOST + KEPT_NAME_MOST + 8 };

/* The file of a kept description. */
static int find_kept(char path[PATH_MOST])
{
    static struct kept_files files;
    struct fault f;
    if (gpu_files_find(&files, &f) != BITCUT_OK) return fail("--gpu", &f);
    if (!table_find(TABLE(files.rows), gpu_name))
        return fail_unknown("--gpu", gpu_name, TABLE(files.rows));
    snprintf(path, PATH_MOST, "%s/%s.json", files.folder, gpu_name);
    return EXIT_GOOD;
}

static int read_gpu(struct tile_gpu *gpu)
{
    char path[PATH_MOST];
    struct fault f;
    if (!gpu_name)
        return complain("--gpu", "missing; a name such as a100, or a description .json");
    snprintf(path, sizeof path, "%s", gpu_name);
    const int status = gpu_is_path(gpu_name) ? EXIT_GOOD : find_kept(path);
    if (status != EXIT_GOOD) return status;
    return gpu_file_read(gpu, path, &f) == BITCUT_OK ? EXIT_GOOD : fail(path, &f);
}

static int read_method(struct tile_method *method)
{
    const struct bitcut_recipe *r = table_find(TABLE(recipes), recipe_name);
    if (!r) return fail_unknown("--recipe", recipe_name, TABLE(recipes));
    const struct bitcut_split *s = r->split ? r->split : &splits[SPLIT_HALF];
    *method = (struct tile_method){ .terms = r->terms + r->keeps_low_low,
                                    .words = s->words,
                                    .word_bytes = s->format->bits / 8,
                                    .accumulators = accumulators,
                                    .operands_shared = operands_shared };
    return EXIT_GOOD;
}

static int check_numbers(void)
{
    const size_t sides[] = { m, n, k };
    for (int i = 0; i < 3; i++)
        if (!sides[i] || sides[i] > TILE_PROBLEM_MOST)
            return complain("-m, -n, -k", "must be 1 to 2147483648");
    if (waves < 0 || waves > TILE_COUNT_MOST)
        return complain("--waves", "must be 1 to 4096, or 0 for as many as suit");
    if (stages < 1 || stages > TILE_COUNT_MOST)
        return complain("--stages", "must be 1 to 4096");
    if (accumulators < 1 || accumulators > 16)
        return complain("--accumulators", "must be 1 to 16");
    return EXIT_GOOD;
}

enum { TILES_MOST = (int)OPTION_TEXTS_MOST + (int)TILE_GRID };

static int make_tiles(struct tile tiles[TILES_MOST], size_t *count,
                      const struct tile_gpu *gpu, const struct tile_method *method)
{
    *count = given.count ? (size_t)given.count : TILE_GRID;
    if (!given.count) tile_grid(tiles, gpu, method, stages);
    for (int i = 0; i < given.count; i++) {
        struct tile *t = &tiles[i];
        int side[3];
        if (!option_tile(side, given.text[i], 3, TILE_COUNT_MOST))
            return complain("--tile", "not three sides like 128x256x32, each 1 to 4096");
        t->m = side[0], t->n = side[1], t->k = side[2];
        t->waves = tile_waves(t->m, t->n, gpu, method);
        t->stages = stages;
    }
    for (size_t i = 0; waves && i < *count; i++) tiles[i].waves = waves;
    return EXIT_GOOD;
}

/* --- the answer ------------------------------------------------------------------- */

static json_t *tile_text(const struct tile *t)
{
    return json_sprintf("%dx%dx%d", t->m, t->n, t->k);
}

static json_t *factor_text(const struct tile_choice *c, const struct tile_choice *best)
{
    const struct tile_factor_row *row = &tile_factors[c->by];
    return json_sprintf("%s: %.3g, the best has %.3g", row->name, c->factor[c->by],
                        best->factor[c->by]);
}

/* The best stands where it does by its factors. */
static json_t *best_text(const struct tile_choice *c)
{
    return json_sprintf("the highest score: %s %.3g, %s %.3g, %s %.3g",
                        tile_factors[TILE_BUSY].name, c->factor[TILE_BUSY],
                        tile_factors[TILE_USEFUL].name, c->factor[TILE_USEFUL],
                        tile_factors[TILE_RATIO].name, c->factor[TILE_RATIO]);
}

static json_t *limit_text(const struct tile_choice *c)
{
    const struct tile_limit_row *row = &tile_limits[c->limit];
    char text[160];
    snprintf(text, sizeof text, row->what, (unsigned long long)c->need,
             (unsigned long long)c->have);
    return json_sprintf("does not fit, %s: %s", row->name, text);
}

static json_t *why(const struct tile_choice *c, const struct tile_choice *best)
{
    switch (c->reason) {
    case TILE_BEST: return best_text(c);
    case TILE_BY_FACTOR: return factor_text(c, best);
    case TILE_BY_LOAD:
        return json_sprintf("work_dl: %.6g, the best has %.6g", c->work_dl,
                            best->work_dl);
    case TILE_BY_ORDER: return json_string("as good as the best, later in order");
    case TILE_BY_LIMIT: break;
    }
    return limit_text(c);
}

static void emit_choice(struct context *x, const struct tile_choice *c, size_t rank,
                        const struct tile_choice *best)
{
    json_t *row = json_pack("{s:o, s:I, s:I, s:I, s:o, s:i, s:i, s:o, s:o}", "gpu",
                            json_text(gpu_name), "m", (json_int_t)m, "n", (json_int_t)n,
                            "k", (json_int_t)k, "tile", tile_text(&c->tile), "waves",
                            c->tile.waves, "stages", c->tile.stages, "rank",
                            c->limit == TILE_FITS ? json_count(rank) : json_null(),
                            "score", json_number(c->score));
    for (int i = 0; i < TILE_FACTORS; i++)
        json_object_set_new(row, tile_factors[i].name, json_number(c->factor[i]));
    json_object_update_new(
        row, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                       "groups", json_count(c->groups), "busiest", json_count(c->busiest),
                       "resident", json_count(c->resident), "tlp", json_number(c->tlp),
                       "memory", json_count(c->memory), "flops", json_count(c->flops),
                       "work_dl", json_number(c->work_dl), "work_cp",
                       json_number(c->work_cp), "shared", json_count(c->shared),
                       "registers", json_count(c->registers), "why", why(c, best)));
    emit_row(&x->emitter, row);
}

static int rank_tiles(struct context *x)
{
    static struct tile tiles[TILES_MOST];
    static struct tile_choice choices[TILES_MOST];
    struct tile_gpu gpu;
    struct tile_method method;
    size_t count;
    int status = read_method(&method);
    if (status == EXIT_GOOD) status = read_gpu(&gpu);
    if (status == EXIT_GOOD) status = make_tiles(tiles, &count, &gpu, &method);
    if (status != EXIT_GOOD) return status;
    const struct tile_problem problem = { m, n, k };
    tile_rank(choices, tiles, count, &gpu, &method, &problem);
    for (size_t i = 0; i < count && (!top || i < top); i++)
        emit_choice(x, &choices[i], i + 1, choices);
    return EXIT_GOOD;
}

/* --- kernels ---------------------------------------------------------------------- */

static json_t *why_kernel(const struct gpu_choice *c, const struct gpu_choice *best)
{
    const double *f = c->factor;
    const enum gpu_factor by = gpu_factor_worst(c, best);
    if (c == best)
        return json_sprintf("the highest score: %s %.3g, %s %.3g, %s %.3g",
                            gpu_factors[GPU_BUSY].name, f[GPU_BUSY],
                            gpu_factors[GPU_USEFUL].name, f[GPU_USEFUL],
                            gpu_factors[GPU_RATE].name, f[GPU_RATE]);
    if (c->score == best->score)
        return json_string("as good as the best, later in order");
    return json_sprintf("%s: %.3g, the best has %.3g", gpu_factors[by].name, f[by],
                        best->factor[by]);
}

static void emit_kernel(struct context *x, const struct recorder *r,
                        const struct gpu_choice *c, size_t rank,
                        const struct gpu_choice *best)
{
    json_t *row = json_pack("{s:s, s:I, s:I, s:I, s:o, s:o}", "kernel", c->kernel->name,
                            "m", (json_int_t)m, "n", (json_int_t)n, "k", (json_int_t)k,
                            "rank", json_count(rank), "score", json_number(c->score));
    for (int i = 0; i < GPU_FACTORS; i++)
        json_object_set_new(row, gpu_factors[i].name, json_number(c->factor[i]));
    json_object_update_new(
        row,
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "tiles",
                  json_count((size_t)c->tiles), "busiest", json_count((size_t)c->busiest),
                  "resident", json_count((size_t)c->resident), "steps",
                  json_count((size_t)c->steps), "products", json_number(c->products),
                  "shared", json_number(c->shared), "cache", json_number(c->cache), "why",
                  why_kernel(c, best), "device", json_text(r->device.name)));
    emit_row(&x->emitter, row);
}

static int rank_kernels_of(struct context *x, const struct recorder *r)
{
    const struct bitcut_gemm gemm = { .m = m, .n = n, .k = k };
    const struct gpu_kernel *like = NULL;
    struct gpu_choice c[GPU_CHOICES_MOST];
    struct fault f;
    while ((like = gpu_kernel_next(&r->gpu, like)))
        if (like->tile_m && kernel_is_called(like->name, kernel_name) &&
            gpu_kernel_fits(&r->device, like))
            break;
    if (!like) return complain("--kernel", "the device has none of that name");
    const size_t count = gpu_kernel_rank(c, &r->gpu, &r->device, like, &gemm);
    if (!count) {
        fault_set(&f, BITCUT_CANNOT, "none takes this m, n and k");
        return fail(like->name, &f);
    }
    for (size_t i = 0; i < count && (!top || i < top); i++)
        emit_kernel(x, r, &c[i], i + 1, c);
    return EXIT_GOOD;
}

static int rank_kernels(struct context *x)
{
    struct recorder r;
    struct fault f;
    if (recorder_open(&r, &f) != BITCUT_OK) return fail("tile", &f);
    const int status = rank_kernels_of(x, &r);
    recorder_close(&r);
    return status;
}

static int run(struct context *x)
{
    int status = check_use(x, uses, kernel_name ? KERNELS : TILES);
    if (status == EXIT_GOOD) status = check_numbers();
    if (status != EXIT_GOOD) return status;
    return kernel_name ? rank_kernels(x) : rank_tiles(x);
}

const struct command command_tile = {
    .name = "tile",
    .what =
        "Rank the tiles of a GEMM kernel on a GPU by LE-GEMM's thread parallelism model",
    .run = run,
    .own = options,
    .operands = "",
};
