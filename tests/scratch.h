/* SPDX-License-Identifier: BSD-3-Clause */
/* A temporary folder for a test that writes files. */
#ifndef BITCUT_TESTS_SCRATCH_H
#define BITCUT_TESTS_SCRATCH_H

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/test.h"

/* `path` is a file in `folder`, which is in the current one. */
struct scratch {
    char folder[32], path[64];
};

static inline struct scratch scratch_make(void)
{
    struct scratch s = { .folder = "scratch.XXXXXX" };
    ck_assert_msg(mkdtemp(s.folder) != NULL, "no folder can be made here");
    snprintf(s.path, sizeof s.path, "%s/file", s.folder);
    return s;
}

/* How many files are in the folder; each is removed if `empty`. */
static inline int scratch_files(const struct scratch *s, int empty)
{
    DIR *folder = opendir(s->folder);
    ck_assert_msg(folder != NULL, "no folder %s", s->folder);
    int n = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        char path[sizeof s->folder + sizeof entry->d_name];
        snprintf(path, sizeof path, "%s/%s", s->folder, entry->d_name);
        n++;
        if (empty) remove(path);
    }
    closedir(folder);
    return n;
}

static inline void scratch_remove(const struct scratch *s)
{
    scratch_files(s, 1);
    ck_assert_msg(rmdir(s->folder) == 0, "%s is not empty", s->folder);
}

/* Make `path` a file of these bytes. */
static inline void scratch_write(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    ck_assert_msg(file != NULL, "cannot write %s", path);
    const size_t written = fwrite(bytes, 1, size, file);
    ck_assert_msg(fclose(file) == 0 && written == size, "cannot write %s", path);
}

/* Let no file grow beyond `bytes`: writes then fail with EFBIG, as on a full disk. */
static inline void scratch_limit(rlim_t bytes)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* The bytes of the file `path`, to be freed. */
static inline unsigned char *scratch_read(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "cannot read %s", path);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*size + 1);
    ck_assert(bytes && fread(bytes, 1, *size, file) == *size);
    bytes[*size] = 0;
    fclose(file);
    return bytes;
}

#endif
