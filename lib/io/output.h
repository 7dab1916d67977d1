/* SPDX-License-Identifier: BSD-3-Clause */
/* Files to write.  A file is written completely or not at all. */
#ifndef BITCUT_LIB_IO_OUTPUT_H
#define BITCUT_LIB_IO_OUTPUT_H

#include "lib/base/status.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* A file being written.  `file` is a temporary file in the same folder; output_commit()
   renames it. */
struct output {
    FILE *file;
    char *path;      /* its final name, with symbolic links resolved              */
    char *temporary; /* its temporary name; NULL: `path` is written directly      */
};

/* Begin to write `path`.  A file that exists keeps its permissions.  If it is not a
   regular file (a device, a pipe), it is written directly, because it must not be
   replaced.  BITCUT_UNSUPPORTED, with the reason of the system: the folder or file is not
   writable.  BITCUT_NO_MEMORY.  *o is set only on success; then output_commit() or
   output_abandon() must end it. */
enum bitcut_status output_open(struct output *o, const char *path, struct fault *f);

/* Finish: the file is written to the disk, and then replaces an older file of its name
   atomically.  BITCUT_UNSUPPORTED if any write since output_open() failed, or the
   renaming (a full disk): then the new file is removed and an older file is untouched.
   *o is cleared in any case. */
enum bitcut_status output_commit(struct output *o, struct fault *f);

/* Drop everything written.  Nothing happens if *o is cleared already. */
void output_abandon(struct output *o);

/* Check, before the work, that output_open() would succeed.  A temporary file may be made
   and removed; a device or a pipe is not opened. */
enum bitcut_status output_check(const char *path, struct fault *f);

/* Check that files can be made in a folder, or that the folder, which does not exist yet,
   and its parents can be made. */
enum bitcut_status output_check_folder(const char *path, struct fault *f);

/* Flush what was written to `file`.  Returns 0, or the error (errno) of the flush or of
   any write before.  An error of an early write is found by writing one more newline. */
int output_flush(FILE *file);

/* The identity of the file or folder that a path leads to: device and inode.  If it does
   not exist yet: device and inode of its folder, and the last component of the path;
   without a folder, the whole path.  `name` points into the path. */
struct output_identity {
    dev_t device;
    ino_t inode;
    const char *name;
};
void output_identify(struct output_identity *to, const char *path);

/* Compare in some order; 0: both are the same file. */
int output_identity_compare(const struct output_identity *a,
                            const struct output_identity *b);

/* Whether two paths lead to the same file or folder. */
bool output_same(const char *a, const char *b);

/* A lock for a file, for a process that reads the file and replaces it later.  The lock
   file has the name of the file with ".lock" appended. */
struct output_lock {
    char *path;
    int descriptor; /* -1: no lock           */
};

/* Lock the file `path`, which need not exist.  BITCUT_UNSUPPORTED: another process has
   locked it, or the reason of the system.  BITCUT_NO_MEMORY.  A device or a pipe is not
   locked, nor a file on a file system without flock(), such as some NFS servers.  *l is
   set only on success; then output_unlock() must end it. */
enum bitcut_status output_lock(struct output_lock *l, const char *path, struct fault *f);

/* Remove the lock.  Nothing happens if *l is unlocked. */
void output_unlock(struct output_lock *l);

/* Remove the temporary files and locks of this process, before it ends while threads
   write files.  Later operations of these threads on the files fail.  A signal handler
   may call this function. */
void output_sweep(void);

#endif
