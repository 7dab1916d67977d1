#define _GNU_SOURCE /* secure_getenv() */

#include "analysis/cli/data_files.h"

#include "analysis/cli/place.h"
#include "lib/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_names(const void *a, const void *b)
{
    return strcmp((const char *)a, (const char *)b);
}

static void find_folder(char to[DATA_PATH_MOST], const char *folder)
{
    char data[PLACE_MOST];
    const char *named = secure_getenv("BITCUT_DATA");
    place_find(data, SOURCE_FOLDER "/data", PKGDATADIR);
    snprintf(to, DATA_PATH_MOST, "%s/%s", named && *named ? named : data, folder);
}

enum bitcut_status data_files_find(struct data_files *files, const char *folder,
                                   const char *ending, struct fault *f)
{
    size_t count = 0;
    memset(files, 0, sizeof *files);
    find_folder(files->folder, folder);
    DIR *open = opendir(files->folder);
    if (!open && errno != ENOENT)
        return fault_set(f, BITCUT_CANNOT, "%.*s: %s", text_fit(files->folder, 120),
                         files->folder, strerror(errno));
    for (struct dirent *e; open && count < DATA_FILES_MOST && (e = readdir(open));) {
        const size_t length = text_stem(e->d_name, ending);
        if (length && length < DATA_NAME_MOST)
            memcpy(files->name[count++], e->d_name, length);
    }
    if (open) closedir(open);
    qsort(files->name, count, sizeof files->name[0], compare_names);
    for (size_t i = 0; i < count; i++) files->rows[i].name = files->name[i];
    if (count) return BITCUT_OK;
    return fault_set(f, BITCUT_CANNOT,
                     "no file *%s in %.*s (BITCUT_DATA names another folder of data)",
                     ending, text_fit(files->folder, 120), files->folder);
}
