/* SPDX-License-Identifier: BSD-3-Clause */
/* Files to write: there whole or not at all. */
#ifndef BITCUT_LIB_IO_OUTPUT_H
#define BITCUT_LIB_IO_OUTPUT_H

#include "lib/base/status.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* A file being written.  What goes to `file` lands in a temporary file of the same
   folder; output_commit() gives it its name. */
struct output {
    FILE *file;
    char *path;      /* the name it will have, symbolic links followed            */
    char *temporary; /* the name it has meanwhile; NULL: `path` is written itself */
};

/* Begin to write `path`.  A file that is there keeps its permissions.  If it is no
   regular file (a device, a pipe), it is written directly, for it must not be replaced.
   BITCUT_UNSUPPORTED with the system's reason: the folder or file may not be written;
   BITCUT_NO_MEMORY.  *o is set only on success, and then ends with output_commit() or
   output_abandon(). */
enum bitcut_status output_open(struct output *o, const char *path, struct fault *f);

/* Finish: the file is written to the disk, then replaces any older one of its name at
   once.  BITCUT_UNSUPPORTED if any write since output_open() or the renaming failed (a
   full disk): then nothing of the file is left and an older one is untouched.  Either way
   *o is cleared. */
enum bitcut_status output_commit(struct output *o, struct fault *f);

/* Drop what was written.  Nothing happens if *o is cleared already. */
void output_abandon(struct output *o);

/* Flush what was written to `file`: 0, or the error (errno) if that or any write before
   failed; of one long before, it is found by writing one more end of a line. */
int output_flush(FILE *file);

/* The file or folder that a path leads to: by device and inode, or, if it is not there
   yet, by those of its folder and the last part of the path, or without a folder by all of
   it.  `name` is of the path. */
struct output_identity {
    dev_t device;
    ino_t inode;
    const char *name;
};
void output_identify(struct output_identity *to, const char *path);

/* In some order; 0: they are one. */
int output_identity_compare(const struct output_identity *a,
                            const struct output_identity *b);

/* Whether two paths lead to one file or folder. */
bool output_same(const char *a, const char *b);

/* A lock of a file, of its own name with ".lock" behind, for one who reads the file and
   replaces it later. */
struct output_lock {
    char *path;
    int descriptor; /* -1: nothing is locked */
};

/* Lock the file `path`, which may not be there yet.  BITCUT_UNSUPPORTED: another process
   has locked it, or the system's reason; BITCUT_NO_MEMORY.  A device or a pipe is not
   locked, nor is anything on a file system without flock(), such as some of NFS.  *l is
   set only on success, and then ends with output_unlock(). */
enum bitcut_status output_lock(struct output_lock *l, const char *path, struct fault *f);

/* Remove the lock.  Nothing happens if *l is unlocked. */
void output_unlock(struct output_lock *l);

/* Remove the temporary files and locks of this process, for one that is about to end while
   threads write files; what they do with them after this fails.  A signal handler may call
   it. */
void output_sweep(void);

#endif
