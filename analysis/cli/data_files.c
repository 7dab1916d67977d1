/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* secure_getenv() */

#include "analysis/cli/data_files.h"

#include "analysis/cli/install_path.h"
#include "lib/base/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_names(const void *a, const void *b)
{
    return strcmp((const char *)a, (const char *)b);
}

static void find_folder(char to[DATA_PATH_MAX], const char *folder)
{
    char data[PLACE_MAX];
    const char *named = secure_getenv("BITCUT_DATA");
    place_find(data, SOURCE_FOLDER "/data", PKGDATADIR);
    snprintf(to, DATA_PATH_MAX, "%s/%s", named && *named ? named : data, folder);
}

/* Read the names in an open folder.  Returns NULL, or the reason why not all could be
   read. */
static const char *take_names(size_t *count, struct data_files *files, DIR *from,
                              const char *ending)
{
    const struct dirent *e;
    while (errno = 0, (e = readdir(from))) {
        const size_t length = text_stem(e->d_name, ending);
        if (!length) continue;
        if (length >= DATA_NAME_MAX) return "a file in the folder has too long a name";
        if (*count == DATA_FILES_MAX) return "the folder has too many files";
        memcpy(files->name[(*count)++], e->d_name, length);
    }
    return errno ? strerror(errno) : NULL;
}

/* The same for files->folder; a missing folder has no files. */
static const char *list_names(size_t *count, struct data_files *files, const char *ending)
{
    DIR *const open = opendir(files->folder);
    files->missing = !open && errno == ENOENT;
    if (!open) return files->missing ? NULL : strerror(errno);
    const char *const why = take_names(count, files, open, ending);
    closedir(open);
    return why;
}

enum bitcut_status data_files_find(struct data_files *files, const char *folder,
                                   const char *ending, struct fault *f)
{
    size_t count = 0;
    memset(files, 0, sizeof *files);
    find_folder(files->folder, folder);
    const char *const why = list_names(&count, files, ending);
    if (why)
        return fault_set(f, BITCUT_UNSUPPORTED, "%.*s: %s", text_fit(files->folder, 120),
                         files->folder, why);
    qsort(files->name, count, sizeof files->name[0], compare_names);
    for (size_t i = 0; i < count; i++) files->rows[i].name = files->name[i];
    if (count) return BITCUT_OK;
    return fault_set(f, BITCUT_UNSUPPORTED,
                     "no file *%s in %.*s (BITCUT_DATA sets another data folder)", ending,
                     text_fit(files->folder, 120), files->folder);
}
