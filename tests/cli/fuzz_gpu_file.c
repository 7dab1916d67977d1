/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer target for the reader of GPU descriptions, and for the model on accepted
   descriptions; data/gpu has seeds. clang -fsanitize=fuzzer,address,undefined. */
#include "analysis/cli/gpu_file.h"
#include "tests/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct tile_task task = { .model = &tile_models[TILE_MODEL_LEGEMM],
                              .gpu = { .units = -1 },
                              .method = tile_legemm,
                              .problem = { TILE_PROBLEM_MAX, TILE_PROBLEM_MAX,
                                           TILE_PROBLEM_MAX } };
    struct tile tiles[TILE_GRID];
    struct tile_choice choices[TILE_GRID];
    struct fault f = { .status = BITCUT_OK, .text = "" };
    const enum bitcut_status status = gpu_file_parse(&task.gpu, bytes, size, &f);
    if (status) {
        must(status == BITCUT_BAD_FILE && task.gpu.units == -1);
        fault_check(&f, status);
        return 0;
    }
    tile_grid(tiles, &task.gpu, &tile_legemm, 2);
    tile_rank(choices, tiles, NULL, TILE_GRID, &task);
    for (int i = 0; i < TILE_GRID; i++)
        must((choices[i].resident > 0) == (choices[i].limit == TILE_FITS));
    return 0;
}
