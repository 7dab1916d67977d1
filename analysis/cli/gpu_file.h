/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that describe GPUs for the tile model. */
#ifndef BITCUT_ANALYSIS_CLI_GPU_FILE_H
#define BITCUT_ANALYSIS_CLI_GPU_FILE_H

#include "analysis/cli/data_files.h"
#include "gpu/api/tile.h"
#include "lib/base/status.h"

/* Read a description: a JSON object with an integer for each field of struct tile_gpu, by
   its name and within its range.  Other keys are ignored.  Returns BITCUT_BAD_FILE with
   the wrong field; *gpu is set only on success. */
enum bitcut_status gpu_file_parse(struct tile_gpu *gpu, const void *bytes, size_t size,
                                  struct fault *f);

/* The same for the file `path`.  Returns BITCUT_UNSUPPORTED if it cannot be read. */
enum bitcut_status gpu_file_read(struct tile_gpu *gpu, const char *path, struct fault *f);

/* The descriptions that come with bitcut: files NAME.json in the folder gpu, found by
   data_files_find(). */
enum bitcut_status gpu_files_find(struct data_files *files, struct fault *f);

/* Whether --gpu TEXT names a file rather than a description that comes with bitcut: it
   contains a '/' or ends in .json. */
bool gpu_is_path(const char *text);

#endif
