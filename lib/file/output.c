#define _XOPEN_SOURCE 700 /* realpath() */

#include "lib/file/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAMES_TRIED = 100, SUFFIX_MOST = 40, PATH_MOST = 4096 };

static enum bitcut_status system_fault(int error, struct fault *f)
{
    return fault_set(f, error == ENOMEM ? BITCUT_NO_MEMORY : BITCUT_CANNOT, "%s",
                     strerror(error));
}

/* The file that `path` leads to, or `path` itself if there is none yet; NULL with errno
   set if there cannot be one. */
static char *path_resolve(const char *path)
{
    char *real = realpath(path, NULL);
    return real || errno != ENOENT || !*path ? real : strdup(path);
}

/* The end of the name of this process's temporary file number i. */
static void suffix_make(char suffix[SUFFIX_MOST], int i)
{
    snprintf(suffix, SUFFIX_MOST, ".%ld.%d.tmp", (long)getpid(), i);
}

/* Create a file of a name not yet used in the folder of o->path, with these permissions
   but for those that the mask of the process takes away. */
static int temporary_create(struct output *o, mode_t mode)
{
    const size_t size = strlen(o->path) + SUFFIX_MOST;
    o->temporary = malloc(size);
    if (!o->temporary) return -1;
    int descriptor = -1;
    errno = EEXIST;
    for (int i = 0; i < NAMES_TRIED && descriptor < 0 && errno == EEXIST; i++) {
        char suffix[SUFFIX_MOST];
        suffix_make(suffix, i);
        snprintf(o->temporary, size, "%s%s", o->path, suffix);
        descriptor = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    }
    return descriptor;
}

/* Open what o->path is to be written to; o->file is NULL and errno set if that fails. */
static void file_open(struct output *o)
{
    enum { PERMISSIONS = 0777 };
    struct stat old;
    const bool exists = !stat(o->path, &old);
    if (exists && !S_ISREG(old.st_mode)) { /* renaming must not replace it */
        o->file = fopen(o->path, "wb");
        return;
    }
    /* Renaming would not ask whether the file may be written. */
    if (faccessat(AT_FDCWD, o->path, W_OK, AT_EACCESS) && errno != ENOENT) return;
    const int descriptor = temporary_create(o, exists ? old.st_mode & PERMISSIONS : 0666);
    if (descriptor < 0) return;
    if (exists) fchmod(descriptor, old.st_mode & PERMISSIONS); /* where there are any */
    o->file = fdopen(descriptor, "wb");
    if (o->file) return;
    const int error = errno;
    close(descriptor);
    unlink(o->temporary);
    errno = error;
}

static void output_clear(struct output *o)
{
    free(o->temporary);
    free(o->path);
    *o = (struct output){ 0 };
}

enum bitcut_status output_open(struct output *o, const char *path, struct fault *f)
{
    struct output new = { .path = path_resolve(path) };
    if (new.path) file_open(&new);
    if (!new.file) {
        const int error = errno;
        output_clear(&new);
        return system_fault(error, f);
    }
    *o = new;
    return BITCUT_OK;
}

int output_flush(FILE *file)
{
    if (fflush(file)) return errno;
    if (!ferror(file)) return 0;
    /* The reason of a write that failed is gone by now: another fails for the same. */
    return write(fileno(file), "\n", 1) < 0 ? errno : EIO;
}

/* Flush and close the file: 0, or the error (errno) of a write that failed. */
static int file_finish(struct output *o)
{
    const int error = output_flush(o->file);
    const bool closed = !fclose(o->file);
    o->file = NULL;
    return !error && !closed ? errno : error;
}

enum bitcut_status output_commit(struct output *o, struct fault *f)
{
    /* The file stays open until it has its name, for output_sweep() to see. */
    const int open_still = fcntl(fileno(o->file), F_DUPFD_CLOEXEC, 0);
    int error = file_finish(o);
    if (!error && o->temporary && rename(o->temporary, o->path)) error = errno;
    if (error && o->temporary) unlink(o->temporary);
    if (open_still >= 0) close(open_still);
    output_clear(o);
    return error ? system_fault(error, f) : BITCUT_OK;
}

void output_abandon(struct output *o)
{
    if (!o->file) return;
    fclose(o->file);
    if (o->temporary) unlink(o->temporary);
    output_clear(o);
}

/* --- names ------------------------------------------------------------------------ */

/* What lies behind the last slash of a path. */
static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The folder that a path is in. */
static bool folder_stat(struct stat *about, const char *path)
{
    const size_t length = (size_t)(last_part(path) - path);
    char *folder = length ? strndup(path, length) : strdup(".");
    const bool found = folder && !stat(folder, about);
    free(folder);
    return found;
}

bool output_same(const char *a, const char *b)
{
    struct stat at_a, at_b;
    const bool is_a = !stat(a, &at_a), is_b = !stat(b, &at_b);
    if (!strcmp(a, b)) return true;
    if (is_a != is_b) return false;
    if (!is_a && (strcmp(last_part(a), last_part(b)) || !folder_stat(&at_a, a) ||
                  !folder_stat(&at_b, b)))
        return false;
    return at_a.st_dev == at_b.st_dev && at_a.st_ino == at_b.st_ino;
}

/* --- the end of the process --------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), end_length = strlen(end);
    return length > end_length && !strcmp(text + length - end_length, end);
}

static bool is_temporary(const char *path)
{
    char suffix[SUFFIX_MOST];
    for (int i = 0; i < NAMES_TRIED; i++) {
        suffix_make(suffix, i);
        if (ends_with(path, suffix)) return true;
    }
    return false;
}

void output_sweep(void)
{
    char path[PATH_MOST];
    DIR *descriptors = opendir("/proc/self/fd"); /* links to open files */
    for (const struct dirent *e; descriptors && (e = readdir(descriptors));) {
        const ssize_t length =
            readlinkat(dirfd(descriptors), e->d_name, path, sizeof path - 1);
        if (length < 0) continue;
        path[length] = 0;
        if (is_temporary(path)) unlink(path);
    }
    if (descriptors) closedir(descriptors);
}
