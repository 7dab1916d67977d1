/* Descriptions of GPUs: what the tile model has to know, as files. */
#ifndef BITCUT_ANALYSIS_GPU_FILE_H
#define BITCUT_ANALYSIS_GPU_FILE_H

#include "gpu/tile.h"
#include "lib/status.h"
#include "lib/table.h"

/* Read a description: a JSON object with an integer for each field of struct tile_gpu,
   by its name and in its range.  Other keys are for the reader.  BITCUT_BAD_FILE with the
   field at fault; *gpu is set only on success. */
enum bitcut_status gpu_file_parse(struct tile_gpu *gpu, const void *bytes, size_t size,
                                  struct fault *f);

/* The same for the file `path`.  BITCUT_CANNOT: it cannot be read. */
enum bitcut_status gpu_file_read(struct tile_gpu *gpu, const char *path, struct fault *f);

enum { GPU_FILES_MOST = 256, GPU_NAME_MOST = 64, GPU_PATH_MOST = 4096 };

/* The kept descriptions: files NAME.json in the folder gpu of the one that the
   environment variable BITCUT_DATA names, or else of where `make install` puts data. */
struct gpu_files {
    char folder[GPU_PATH_MOST];
    char name[GPU_FILES_MOST][GPU_NAME_MOST];
    struct table_row rows[GPU_FILES_MOST + 1]; /* sorted by name, ended by {0} */
};

/* Look what there is; no row if the folder cannot be read. */
void gpu_files_find(struct gpu_files *files);

/* Whether --gpu TEXT names a file, not a kept description: it has a '/' or ends in
   .json. */
bool gpu_is_path(const char *text);

#endif
