/* SPDX-License-Identifier: BSD-3-Clause */
/* Data that come with bitcut, found by name. */
#ifndef BITCUT_ANALYSIS_CLI_DATA_FILES_H
#define BITCUT_ANALYSIS_CLI_DATA_FILES_H

#include "lib/base/status.h"
#include "lib/base/table.h"

#include <stdbool.h>

enum { DATA_FILES_MAX = 256, DATA_NAME_MAX = 64, DATA_PATH_MAX = 4096 + 64 };

/* The files with one ending in a folder of data.  The parent folder is named by the
   environment variable BITCUT_DATA.  Without it, it is the program's data: in a build
   tree the data of the source tree, otherwise the folder of `make install`
   (analysis/cli/install_path.h). */
struct data_files {
    char folder[DATA_PATH_MAX];
    bool missing; /* the folder does not exist */
    char name[DATA_FILES_MAX][DATA_NAME_MAX]; /* without the ending */
    struct table_row rows[DATA_FILES_MAX + 1]; /* sorted by name, ended by {0} */
};

/* Find the files with this ending in the folder with this name.  Returns
   BITCUT_UNSUPPORTED if there is none, if files->folder cannot be read (with the system's
   reason), or if it has more files or longer names than fit. */
enum bitcut_status data_files_find(struct data_files *files, const char *folder,
                                   const char *ending, struct fault *f);

#endif
