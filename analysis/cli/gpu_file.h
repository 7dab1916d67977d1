/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptions of GPUs: what the tile model has to know, as files. */
#ifndef BITCUT_ANALYSIS_CLI_GPU_FILE_H
#define BITCUT_ANALYSIS_CLI_GPU_FILE_H

#include "analysis/cli/data_files.h"
#include "gpu/api/tile.h"
#include "lib/base/status.h"

/* Read a description: a JSON object with an integer for each field of struct tile_gpu,
   by its name and in its range.  Other keys are for the reader.  BITCUT_BAD_FILE with the
   field at fault; *gpu is set only on success. */
enum bitcut_status gpu_file_parse(struct tile_gpu *gpu, const void *bytes, size_t size,
                                  struct fault *f);

/* The same for the file `path`.  BITCUT_UNSUPPORTED: it cannot be read. */
enum bitcut_status gpu_file_read(struct tile_gpu *gpu, const char *path, struct fault *f);

/* The kept descriptions: files NAME.json in the folder gpu, as data_files_find() says. */
enum bitcut_status gpu_files_find(struct data_files *files, struct fault *f);

/* Whether --gpu TEXT names a file, not a kept description: it has a '/' or ends in
   .json. */
bool gpu_is_path(const char *text);

#endif
