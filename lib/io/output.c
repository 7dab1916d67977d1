/* SPDX-License-Identifier: BSD-3-Clause */
#define _XOPEN_SOURCE 700 /* realpath() */

#include "lib/io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAMES_TRIED = 100, SUFFIX_MAX = 40, PATH_LENGTH_MAX = 4096 };

/* --- files to remove if the process ends early ------------------------------------- */

/* The temporary files and locks that exist.  The memory is never freed, so a signal
   handler may read it while a thread changes it.  A path that is changed meanwhile names
   another file to remove, or none. */
static struct {
    atomic_flag taken;
    atomic_bool there;
    char path[PATH_LENGTH_MAX];
} leftovers[16];

enum { LEFTOVERS = sizeof leftovers / sizeof *leftovers };

/* Note a file that was created.  If the table is full, the file is not removed after a
   signal. */
static void leftover_add(const char *path)
{
    for (int i = 0; i < LEFTOVERS && strlen(path) < PATH_LENGTH_MAX; i++) {
        if (atomic_flag_test_and_set(&leftovers[i].taken)) continue;
        strcpy(leftovers[i].path, path);
        leftovers[i].there = true;
        return;
    }
}

/* Forget a file that was renamed or removed. */
static void leftover_drop(const char *path)
{
    for (int i = 0; i < LEFTOVERS; i++) {
        if (!leftovers[i].there || strcmp(leftovers[i].path, path) != 0) continue;
        leftovers[i].there = false;
        atomic_flag_clear(&leftovers[i].taken);
        return;
    }
}

void output_sweep(void)
{
    for (int i = 0; i < LEFTOVERS; i++)
        if (leftovers[i].there) unlink(leftovers[i].path);
}

/* --- one file ---------------------------------------------------------------------- */

static enum bitcut_status system_fault(int error, struct fault *f)
{
    return fault_set(f, error == ENOMEM ? BITCUT_NO_MEMORY : BITCUT_UNSUPPORTED, "%s",
                     strerror(error));
}

/* The file that `path` leads to, or `path` itself if the file does not exist yet; NULL
   with errno set if it cannot exist. */
static char *path_resolve(const char *path)
{
    char *real = realpath(path, NULL);
    return real || errno != ENOENT || !*path ? real : strdup(path);
}

/* Make the suffix of temporary file number i of this process. */
static void suffix_make(char suffix[SUFFIX_MAX], int i)
{
    snprintf(suffix, SUFFIX_MAX, ".%ld.%d.tmp", (long)getpid(), i);
}

/* Create a file with an unused name in the folder of o->path, with these permissions less
   the ones that the umask of the process removes. */
static int temporary_create(struct output *o, mode_t mode)
{
    const size_t size = strlen(o->path) + SUFFIX_MAX;
    o->temporary = malloc(size);
    if (!o->temporary) return -1;
    int descriptor = -1;
    errno = EEXIST;
    for (int i = 0; i < NAMES_TRIED && descriptor < 0 && errno == EEXIST; i++) {
        char suffix[SUFFIX_MAX];
        suffix_make(suffix, i);
        snprintf(o->temporary, size, "%s%s", o->path, suffix);
        descriptor = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    }
    return descriptor;
}

/* Open the file for writing to o->path; o->file is NULL and errno is set on failure. */
static void file_open(struct output *o)
{
    enum { PERMISSIONS = 0777 };
    struct stat old;
    const bool exists = !stat(o->path, &old);
    if (exists && !S_ISREG(old.st_mode)) { /* renaming must not replace it */
        o->file = fopen(o->path, "wb");
        return;
    }
    /* Renaming would not check whether the file may be written. */
    if (faccessat(AT_FDCWD, o->path, W_OK, AT_EACCESS) && errno != ENOENT) return;
    const int descriptor = temporary_create(o, exists ? old.st_mode & PERMISSIONS : 0666);
    if (descriptor < 0) return;
    leftover_add(o->temporary);
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
    if (o->temporary) leftover_drop(o->temporary);
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

enum bitcut_status output_check(const char *path, struct fault *f)
{
    struct output o;
    struct stat is;
    if (!stat(path, &is) && !S_ISREG(is.st_mode)) {
        if (S_ISDIR(is.st_mode)) return system_fault(EISDIR, f);
        return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) ? system_fault(errno, f)
                                                           : BITCUT_OK;
    }
    const enum bitcut_status status = output_open(&o, path, f);
    if (status == BITCUT_OK) output_abandon(&o);
    return status;
}

enum bitcut_status output_check_folder(const char *path, struct fault *f)
{
    struct stat is;
    char at[PATH_LENGTH_MAX];
    if (strlen(path) >= sizeof at) return system_fault(ENAMETOOLONG, f);
    if (!*path) return system_fault(ENOENT, f);
    strcpy(at, path);
    while (stat(at, &is)) {
        char *const slash = strrchr(at, '/');
        if (errno != ENOENT) return system_fault(errno, f);
        if (!lstat(at, &is)) return system_fault(ENOENT, f); /* a link to nothing */
        if (!slash) strcpy(at, ".");
        else slash[slash == at] = 0;
    }
    if (!S_ISDIR(is.st_mode)) return system_fault(ENOTDIR, f);
    return faccessat(AT_FDCWD, at, W_OK | X_OK, AT_EACCESS) ? system_fault(errno, f)
                                                            : BITCUT_OK;
}

int output_flush(FILE *file)
{
    if (fflush(file)) return errno;
    if (!ferror(file)) return 0;
    /* The reason of the failed write is no longer known.  Another write fails for the
       same reason. */
    return write(fileno(file), "\n", 1) < 0 ? errno : EIO;
}

/* Flush and close the file.  Returns 0, or the error (errno) of a write that failed.  A
   file that will replace another one is written to the disk first, because a crash after
   the renaming must not leave an empty file. */
static int file_finish(struct output *o)
{
    int error = output_flush(o->file);
    if (!error && o->temporary && fsync(fileno(o->file))) error = errno;
    const bool closed = !fclose(o->file);
    o->file = NULL;
    return !error && !closed ? errno : error;
}

/* Write the folder of a renamed file to the disk.  If this fails, a crash may bring back
   the older file, which is complete. */
static void folder_sync(const char *path)
{
    const char *const slash = strrchr(path, '/');
    char *const folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    const int descriptor = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    free(folder);
    if (descriptor < 0) return;
    fsync(descriptor);
    close(descriptor);
}

enum bitcut_status output_commit(struct output *o, struct fault *f)
{
    int error = file_finish(o);
    if (!error && o->temporary && rename(o->temporary, o->path)) error = errno;
    if (error && o->temporary) unlink(o->temporary);
    if (!error && o->temporary) folder_sync(o->path);
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

/* --- locks ------------------------------------------------------------------------ */

/* Whether a write to `path` replaces or creates a file; false for devices and pipes. */
static bool is_replaced(const char *path)
{
    struct stat about;
    return stat(path, &about) || S_ISREG(about.st_mode);
}

/* The path of the lock of a file; NULL with errno set on failure. */
static char *lock_path(const char *path)
{
    static const char ending[] = ".lock";
    char *const real = path_resolve(path);
    char *const all = real ? realloc(real, strlen(real) + sizeof ending) : NULL;
    if (real && !all) free(real);
    return all ? strcat(all, ending) : NULL;
}

/* Check that a file that this process has locked still has its name.  Returns 0, or the
   error. */
static int lock_look(const struct output_lock *l)
{
    struct stat own, there;
    if (fstat(l->descriptor, &own)) return errno;
    if (stat(l->path, &there)) return errno == ENOENT ? EAGAIN : errno;
    return own.st_dev == there.st_dev && own.st_ino == there.st_ino ? 0 : EAGAIN;
}

/* Create or open the lock file and lock it.  Returns 0, or the error.  EBUSY: another
   process holds the lock.  EAGAIN: another process removed the file meanwhile, so that a
   new one must be created.  After other errors no file is left. */
static int lock_try(struct output_lock *l)
{
    l->descriptor = open(l->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (l->descriptor < 0) return errno;
    int error = flock(l->descriptor, LOCK_EX | LOCK_NB) ? errno : 0;
    if (error == EWOULDBLOCK) error = EBUSY;
    else if (!error) error = lock_look(l);
    if (!error) return 0;
    if (error != EBUSY && error != EAGAIN) unlink(l->path);
    close(l->descriptor);
    l->descriptor = -1;
    return error;
}

/* Whether an error of flock() means that the file system does not support it. */
static bool has_no_locks(int error)
{
    return error == ENOLCK || error == EOPNOTSUPP || error == ENOSYS;
}

enum bitcut_status output_lock(struct output_lock *l, const char *path, struct fault *f)
{
    struct output_lock new = { .descriptor = -1 };
    if (is_replaced(path)) {
        new.path = lock_path(path);
        int error = new.path ? EAGAIN : errno;
        for (int i = 0; i < NAMES_TRIED && error == EAGAIN; i++) error = lock_try(&new);
        if (has_no_locks(error)) error = 0;
        if (error) free(new.path);
        if (error == EBUSY)
            return fault_set(f, BITCUT_UNSUPPORTED,
                             "another process is writing this file");
        if (error) return system_fault(error, f);
        if (new.descriptor >= 0) leftover_add(new.path);
    }
    *l = new;
    return BITCUT_OK;
}

void output_unlock(struct output_lock *l)
{
    if (l->descriptor >= 0) {
        unlink(l->path); /* first, so that a process that locks the file after this sees
                            that it was removed                                     */
        leftover_drop(l->path);
        close(l->descriptor);
    }
    free(l->path);
    *l = (struct output_lock){ .descriptor = -1 };
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

void output_identify(struct output_identity *to, const char *path)
{
    struct stat at;
    *to = (struct output_identity){ .name = "" };
    if (stat(path, &at) != 0) {
        const bool is_placed = folder_stat(&at, path);
        to->name = is_placed ? last_part(path) : path;
        if (!is_placed) return;
    }
    to->device = at.st_dev;
    to->inode = at.st_ino;
}

int output_identity_compare(const struct output_identity *a,
                            const struct output_identity *b)
{
    if (a->device != b->device) return a->device < b->device ? -1 : 1;
    if (a->inode != b->inode) return a->inode < b->inode ? -1 : 1;
    return strcmp(a->name, b->name);
}

bool output_same(const char *a, const char *b)
{
    struct output_identity at_a, at_b;
    output_identify(&at_a, a);
    output_identify(&at_b, b);
    return !output_identity_compare(&at_a, &at_b);
}
