/* SPDX-License-Identifier: BSD-3-Clause */
/* Data that come with bitcut, found by name. */
#ifndef BITCUT_ANALYSIS_CLI_DATA_FILES_H
#define BITCUT_ANALYSIS_CLI_DATA_FILES_H

#include "lib/base/status.h"
#include "lib/base/table.h"

#include <stdbool.h>

enum { DATA_FILES_MAX = 256, DATA_NAME_MAX = 64, DATA_PATH_MAX = 4096 + 64 };

/* The files of one kind: those with an ending in a folder of the one that the environment
   variable BITCUT_DATA names, or else of the program's data: in a build tree those of the
   source tree, or where `make install` puts them (analysis/cli/install_path.h). */
struct data_files {
    char folder[DATA_PATH_MAX];
    bool missing; /* the folder does not exist */
    char name[DATA_FILES_MAX][DATA_NAME_MAX]; /* without the ending */
    struct table_row rows[DATA_FILES_MAX + 1]; /* sorted by name, ended by {0} */
};

/* Look what there is with this ending in the folder of this name.  BITCUT_UNSUPPORTED:
   there is none; files->folder cannot be read, with the system's reason; or it has more
   files, or longer names, than there is room for. */
enum bitcut_status data_files_find(struct data_files *files, const char *folder,
                                   const char *ending, struct fault *f);

#endif
