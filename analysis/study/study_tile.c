/* SPDX-License-Identifier: BSD-3-Clause */
/* Table 2 and Eq. 12-17 of LE-GEMM: the tile that its model chooses. */
#include "analysis/study/compare.h"
#include "analysis/study/study.h"

#include "gpu/api/tile.h"

#include <string.h>

/* GPUs, and their tiles in Table 2. */
static const struct {
    const char *gpu;
    struct tile printed;
} chosen[] = { { "mi210", { .m = 128, .n = 128, .k = 32 } },
               { "a800", { .m = 128, .n = 256, .k = 32 } } };

enum { CHOSEN = sizeof chosen / sizeof chosen[0] };

/* n x n x n. */
static const uint64_t sizes[] = { 1024, 2048, 4096, 8192, 16384 };

enum { SIZES = sizeof sizes / sizeof sizes[0], STAGES = 2 };

static size_t tile_points(const struct study *study, enum study_scale scale)
{
    (void)study, (void)scale;
    return (size_t)CHOSEN * SIZES;
}

static bool same_tile(const struct tile *a, const struct tile *b)
{
    return a->m == b->m && a->n == b->n && a->k == b->k;
}

/* A tile with the values of Eq. 12 to 17; Eq. 15 is checked against Eq. 13 and 14. */
static void tile_row(struct study_point *p, const char *gpu, uint64_t n, int rank,
                     const struct tile_choice *c, const struct tile *printed, int shared)
{
    const struct tile *t = &c->tile;
    const bool fits = c->limit == TILE_FITS;
    const double eq15 = 3.0 * t->m * t->n / (2.0 * (t->m + t->n));
    study_row(p, json_pack("{s:s, s:I, s:o, s:i, s:i, s:b, s:o, s:f, s:f, s:I, s:I, "
                           "s:f, s:f, s:f, s:b, s:b, s:b}",
                           "gpu", gpu, "n", (json_int_t)n, "tile",
                           json_sprintf("%dx%dx%d", t->m, t->n, t->k), "waves", t->waves,
                           "stages", t->stages, "fits", fits, "rank",
                           fits ? json_integer(rank) : json_null(), "score", c->score,
                           "tlp", c->tlp, "memory", (json_int_t)c->memory, "flops",
                           (json_int_t)c->flops, "ratio", eq15, "work_dl", c->work_dl,
                           "work_cp", c->work_cp, "as_printed", same_tile(t, printed),
                           "eq15_holds", (double)c->flops == eq15 * (double)c->memory,
                           "room", c->costs.shared <= (uint64_t)shared));
}

static enum bitcut_status run_tile(const struct study *study, struct study_point *p,
                                   struct fault *f)
{
    (void)study;
    const int which = (int)p->at / SIZES;
    const uint64_t n = sizes[p->at % SIZES];
    const struct study_gpu *g = p->sources->gpus;
    while (g && g->name && strcmp(g->name, chosen[which].gpu) != 0) g++;
    if (!g || !g->name) return BITCUT_OK;
    struct tile tiles[TILE_GRID];
    struct tile_choice choices[TILE_GRID];
    const struct tile_task task = { .model = &tile_models[TILE_MODEL_LEGEMM],
                                    .gpu = g->gpu,
                                    .method = tile_legemm,
                                    .problem = { n, n, n } };
    (void)f;
    tile_grid(tiles, &g->gpu, &tile_legemm, STAGES);
    tile_rank(choices, tiles, NULL, TILE_GRID, &task);
    for (int i = 0; i < TILE_GRID; i++)
        tile_row(p, g->name, n, i + 1, &choices[i], &chosen[which].printed,
                 g->gpu.shared);
    return BITCUT_OK;
}

/* --- claims ----------------------------------------------------------------------- */

#define CHOSEN_TILE(WHERE)                                                               \
    &(const struct claim_flags) { "as_printed", WHERE, "tile" }
#define ROOM(TILES)                                                                      \
    &(const struct claim_flags) { "room", "gpu=mi210 tile=" TILES, NULL }

#define A800_SIZES "gpu=a800 n=2048|4096|8192|16384 "

static const struct claim tile_claims[] = {
    /* clang-format off */
    { .name = "table2-mi210", .printed = "(128, 128, 32)",
      .what = "the model of Eq. 12-17 chooses this tile on MI210",
      .paper = "LE-GEMM, Table 2", .judge = claim_judge_flags,
      .about = CHOSEN_TILE("gpu=mi210 rank=1"),
      .other = CHOSEN_TILE("gpu=mi210 rank=2"), .otherwise = "the second tile of the model",
      .beside = "the paper has no formula that weighs Eq. 12 against Eq. 15: busy units, "
                "useful outputs and the ratio are multiplied here" },
    { .name = "table2-a800", .printed = "(128, 256, 32)",
      .what = "the model of Eq. 12-17 chooses this tile on A800, for n of 2048 and more",
      .paper = "LE-GEMM, Table 2", .judge = claim_judge_flags,
      .about = CHOSEN_TILE(A800_SIZES "rank=1"),
      .other = CHOSEN_TILE(A800_SIZES "rank=2"), .otherwise = "the second tile of the model",
      .beside = "at n = 1024 it is 128x128x32; the paper has no formula that weighs Eq. "
                "12 against Eq. 15: busy units, useful outputs and the ratio are "
                "multiplied here" },
    { .name = "eq15", .printed = "3 T_M T_N / (2 (T_M + T_N))", .described = true,
      .what = "operations over bytes of a step, Eq. 14 over Eq. 13, are Eq. 15",
      .paper = "LE-GEMM, Eq. 15", .judge = claim_judge_flags,
      .about = &(const struct claim_flags){ "eq15_holds", "", NULL },
      .otherwise = "two formulas that are computed independently" },
    { .name = "mi210-overflow", .printed = "smaller size such as 16 or 32",
      .what = "on MI210 tiles of 128 x 256 with T_K 16 or 32 have room for both buffers",
      .paper = "LE-GEMM, section 4.3", .judge = claim_judge_flags,
      .about = ROOM("128x256x16|128x256x32"),
      .other = ROOM("256x256x16|256x256x32"), .otherwise = "tiles of 256 x 256",
      .beside = "with T_K = 32 both buffers of four parts take 96 KiB of 64 KiB; Table 2 "
                "has 128 x 128 for this GPU" },
    { 0 }
    /* clang-format on */
};

const struct study study_tile = {
    /* clang-format off */
    .name = "tile",
    .chapter = CHAPTER_SPEED,
    .what = "tiles by LE-GEMM's model (Table 2 and Eq. 12-17)",
    .title = "LE-GEMM's tile model",
    .text = "The typical tiles, ranked by LE-GEMM's model on the descriptions of both "
            "GPUs for square GEMMs, with two buffers in shared memory: threads of the "
            "whole GEMM (tlp, Eq. 12), bytes and operations of a step (Eq. 13, 14), "
            "their ratio (Eq. 15), and the accumulators and operations of a thread (Eq. "
            "16, 17).",
    .plot = { .sees = "rank 1 is the tile that the model chooses for a GPU and an n." },
    .claims = tile_claims, .reads = READS_GPUS, .points = tile_points, .run = run_tile,
    /* clang-format on */
};
