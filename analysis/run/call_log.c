/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L

#include "analysis/run/call_log.h"

#include "lib/base/text.h"
#include "lib/io/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char magic[8] = "bitcut1";

const char call_log_ending[] = ".ledger";

/* clang-format off */
const struct table_row call_ends[] = {
    [CALL_TAKEN]   = { "taken",   "computed by bitcut" },
    [CALL_PASSED]  = { "passed",  "computed by the program's own library, as requested" },
    [CALL_EMPTY]   = { "empty",   "without a product (a size or alpha is 0), left to the "
                                  "library" },
    [CALL_ILLEGAL] = { "illegal", "with arguments that are invalid for the routine, left "
                                  "to the library" },
    [CALL_FAILED]  = { "failed",  "COMPUTED BY THE PROGRAM'S OWN LIBRARY, because bitcut "
                                  "could not: see fault" },
    [CALL_LEFT]    = { "left",    "left to the library" },
    [CALL_ENDS]    = { 0 }
};

const struct table_row left_reasons[] = {
    [LEFT_SMALL]    = { "small",    "fewer products than --least" },
    [LEFT_SCALARS]  = { "scalars",  "alpha and beta are in the device's memory" },
    [LEFT_TYPES]    = { "types",    "matrices or scalars that are not FP32" },
    [LEFT_COMPUTE]  = { "compute",  "the program requests another arithmetic than FP32" },
    [LEFT_EPILOGUE] = { "epilogue", "the routine does more with the result than alpha "
                                    "and beta" },
    [LEFT_LAYOUT]   = { "layout",   "matrices that are neither column-major nor row-major" },
    [LEFT_CAPTURE]  = { "capture",  "a graph is being captured, and the device has no "
                                    "memory for it, or pointers of a batch would have to "
                                    "be read" },
    [LEFT_MEMORY]   = { "memory",   "the device has no memory for a workspace" },
    [LEFT_KERNEL]   = { "kernel",   "no device computes it: see fault" },
    [LEFT_DEVICE]   = { "device",   "there is no module, or none for the device: see fault" },
    [LEFT_REASONS]  = { 0 }
};
/* clang-format on */

/* --- writing ---------------------------------------------------------------------- */

static void name_program(struct call_log *l)
{
    const ssize_t n = readlink("/proc/self/exe", l->program, sizeof l->program - 1);
    l->program[n > 0 ? n : 0] = 0;
}

/* The file of this process's call_log. */
static char own_path[4096];

/* The same file, open: a program may forbid itself to open files, or be ended when it
   does. */
static struct {
    int file;
    dev_t device;
    ino_t inode;
} own = { .file = -1 };

/* Whether it is still that file: a program may also close descriptors that it did not
   open. */
static bool own_is_open(void)
{
    struct stat s;
    return own.file >= 0 && fstat(own.file, &s) == 0 && s.st_dev == own.device &&
           s.st_ino == own.inode;
}

/* Move an open file to a number that the program is unlikely to use.  It replaces the
   file of a parent process. */
static void own_keep(int file)
{
    enum { NUMBER = 500 };
    struct stat s;
    if (own_is_open()) close(own.file);
    own.file = -1;
    if (fstat(file, &s) != 0) return;
    own.file = fcntl(file, F_DUPFD_CLOEXEC, NUMBER);
    own.device = s.st_dev;
    own.inode = s.st_ino;
}

enum { SUFFIX_MAX = 8 };
static const char begun[SUFFIX_MAX] = ".begun";

/* Create a new file named own_path and `begun`.  Returns -1 on failure. */
static int new_file(char path[sizeof own_path + SUFFIX_MAX], const char *folder)
{
    struct timespec now;
    for (int tries = 0; tries < 100; tries++) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        const int n =
            snprintf(own_path, sizeof own_path, "%s/%ld-%lld%09ld%s", folder,
                     (long)getpid(), (long long)now.tv_sec, now.tv_nsec, call_log_ending);
        if (n < 0 || n >= (int)sizeof own_path) return errno = ENAMETOOLONG, -1;
        snprintf(path, sizeof own_path + SUFFIX_MAX, "%s%s", own_path, begun);
        const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file >= 0 || errno != EEXIST) return file;
    }
    return -1;
}

/* Make sure that there is space on the disk, since writing to a mapping cannot report
   that there is none.  Returns 0, or the error. */
static int reserve(int file, size_t at, size_t bytes)
{
    return posix_fallocate(file, (off_t)at, (off_t)bytes);
}

/* Give a file the size of a log, and its head disk space.  Returns 0, or the error.  A
   file beyond the process's own limit would end the process. */
static int make_room(int file)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur < sizeof(struct call_log))
        return EFBIG;
    return ftruncate(file, sizeof(struct call_log)) == 0
               ? reserve(file, 0, offsetof(struct call_log, site))
               : errno;
}

static struct call_log *map_new(int file, int *error)
{
    *error = make_room(file);
    if (*error) return NULL;
    struct call_log *const l =
        mmap(NULL, sizeof *l, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (l != MAP_FAILED) return l;
    *error = errno;
    return NULL;
}

struct call_log *call_log_open(const char *folder, struct fault *f)
{
    char path[sizeof own_path + SUFFIX_MAX];
    int error;
    const int file = new_file(path, folder);
    if (file < 0) return fault_set(f, BITCUT_UNSUPPORTED, "%s", strerror(errno)), NULL;
    struct call_log *const l = map_new(file, &error);
    if (l) own_keep(file);
    close(file);
    if (l) {
        l->bytes = sizeof *l;
        l->process = getpid();
        name_program(l);
        memcpy(l->magic, magic, sizeof magic);
        if (rename(path, own_path) == 0) return l;
        error = errno;
        call_log_close(l);
    }
    unlink(path);
    fault_set(f, BITCUT_UNSUPPORTED, "%s", strerror(error));
    return NULL;
}

struct call_log_site *call_log_new_site(struct call_log *l)
{
    const uint32_t n = l->sites;
    if (n == CALL_LOG_SITES_MAX) return NULL;
    if (!own_is_open()) {
        const int file = open(own_path, O_RDWR | O_CLOEXEC);
        if (file < 0) return NULL;
        own_keep(file);
        close(file);
    }
    const bool room = reserve(own.file, (size_t)((char *)&l->site[n] - (char *)l),
                              sizeof l->site[n]) == 0;
    return room ? &l->site[n] : NULL;
}

bool call_log_excerpt_name(char name[CALL_LOG_NAME_MAX], char *stem, size_t size,
                           unsigned number)
{
    const size_t length = text_stem(own_path, call_log_ending);
    const char *const slash = strrchr(own_path, '/');
    if (!length || !slash) return false;
    const int n = snprintf(stem, size, "%.*s-%u", (int)length, own_path, number);
    if (n < 0 || (size_t)n >= size) return false;
    const size_t folder = (size_t)(slash + 1 - own_path);
    return snprintf(name, CALL_LOG_NAME_MAX, "%s", stem + folder) < CALL_LOG_NAME_MAX;
}

/* --- reading ---------------------------------------------------------------------- */

/* Make a text of an untrusted file terminated and safe to print. */
static void clean(char *text, size_t size)
{
    text[size - 1] = 0;
    text_clean(text);
}

#define CLEAN(text) clean(text, sizeof(text))

static void clean_site(struct call_log_site *p)
{
    CLEAN(p->routine), CLEAN(p->where), CLEAN(p->native), CLEAN(p->configuration);
    CLEAN(p->against), CLEAN(p->fault);
    if (p->excerpts > CALL_LOG_EXCERPTS_MAX) p->excerpts = CALL_LOG_EXCERPTS_MAX;
    for (uint32_t n = 0; n < p->excerpts; n++) CLEAN(p->excerpt[n].name);
}

static void clean_call_log(struct call_log *l)
{
    CLEAN(l->program), CLEAN(l->fault), CLEAN(l->libraries);
    CLEAN(l->device), CLEAN(l->device_fault);
    for (int i = 0; i < CALL_LOG_ROUTINES_MAX; i++) CLEAN(l->routine[i].name);
    if (l->sites > CALL_LOG_SITES_MAX) l->sites = CALL_LOG_SITES_MAX;
    for (uint32_t i = 0; i < l->sites; i++) clean_site(&l->site[i]);
}

static enum bitcut_status map_file(struct call_log **to, int file, uint64_t size,
                                   struct fault *f)
{
    struct call_log *l = MAP_FAILED;
    if (size == sizeof *l)
        l = mmap(NULL, sizeof *l, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    if (l != MAP_FAILED && memcmp(l->magic, magic, sizeof magic) == 0 &&
        l->bytes == sizeof *l) {
        clean_call_log(l);
        *to = l;
        return BITCUT_OK;
    }
    if (l != MAP_FAILED) munmap(l, sizeof *l);
    return fault_set(f, BITCUT_BAD_FILE, "not written by this version of bitcut run");
}

enum bitcut_status call_log_read(struct call_log **to, const char *path, struct fault *f)
{
    uint64_t size;
    const int file = file_open(&size, path, f);
    if (file < 0) return BITCUT_UNSUPPORTED;
    const enum bitcut_status status = map_file(to, file, size, f);
    close(file);
    return status;
}

void call_log_close(struct call_log *l) { munmap(l, sizeof *l); }

/* --- adding ----------------------------------------------------------------------- */

void call_log_difference_add(struct call_log_difference *to,
                             const struct call_log_difference *more)
{
    to->outputs += more->outputs;
    to->differ += more->differ;
    to->not_finite += more->not_finite;
    to->square += more->square;
    for (int i = 0; i < 2; i++) to->norm[i] += more->norm[i];
    if (more->most > to->most) to->most = more->most;
    if (more->largest > to->largest) to->largest = more->largest;
}

void call_log_values_add(struct call_log_values *to, const struct call_log_values *more)
{
    for (int e = 0; e < CALL_LOG_EXPONENTS; e++) to->count[e] += more->count[e];
    to->zeros += more->zeros;
    to->infinite += more->infinite;
}

void call_log_site_add(struct call_log_site *to, const struct call_log_site *more)
{
    for (int i = 0; i < CALL_ENDS; i++) to->ended[i] += more->ended[i];
    for (int i = 0; i < LEFT_REASONS; i++) to->left[i] += more->left[i];
    for (int i = 0; i < 3; i++) {
        if (more->least[i] < to->least[i]) to->least[i] = more->least[i];
        if (more->most[i] > to->most[i]) to->most[i] = more->most[i];
    }
    if (*more->fault) memcpy(to->fault, more->fault, sizeof to->fault);
    to->captured += more->captured;
    to->gemms += more->gemms;
    to->on_device += more->on_device;
    to->scaled += more->scaled;
    to->added += more->added;
    to->products += more->products;
    to->seconds += more->seconds;
    to->own_seconds += more->own_seconds;
    to->watched += more->watched;
    call_log_difference_add(&to->difference, &more->difference);
    for (int i = 0; i < 2; i++) call_log_values_add(&to->values[i], &more->values[i]);
    for (uint32_t i = 0; i < more->excerpts && to->excerpts < CALL_LOG_EXCERPTS_MAX; i++)
        to->excerpt[to->excerpts++] = more->excerpt[i];
}
