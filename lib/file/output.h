/* Files to write: there whole or not at all. */
#ifndef BITCUT_LIB_FILE_OUTPUT_H
#define BITCUT_LIB_FILE_OUTPUT_H

#include "lib/status.h"

#include <stdbool.h>
#include <stdio.h>

/* A file being written.  What goes to `file` lands in a temporary file of the same
   folder; output_commit() gives it its name. */
struct output {
    FILE *file;
    char *path;      /* the name it will have, symbolic links followed            */
    char *temporary; /* the name it has meanwhile; NULL: `path` is written itself */
};

/* Begin to write `path`.  A file that is there keeps its permissions.  If it is no
   regular file (a device, a pipe), it is written directly, for it must not be replaced.
   BITCUT_CANNOT with the system's reason: the folder or file may not be written;
   BITCUT_NO_MEMORY.  *o is set only on success, and then ends with output_commit() or
   output_abandon(). */
enum bitcut_status output_open(struct output *o, const char *path, struct fault *f);

/* Finish: the file replaces any older one of its name at once.  BITCUT_CANNOT if any
   write since output_open() or the renaming failed (a full disk): then nothing of the
   file is left and an older one is untouched.  Either way *o is cleared. */
enum bitcut_status output_commit(struct output *o, struct fault *f);

/* Drop what was written.  Nothing happens if *o is cleared already. */
void output_abandon(struct output *o);

/* Flush what was written to `file`: 0, or the error (errno) if that or any write before
   failed; of one long before, it is found by writing one more end of a line. */
int output_flush(FILE *file);

/* Whether two paths lead to one file or folder: by device and inode, or, if neither is
   there yet, by the folder and the last part of the path. */
bool output_same(const char *a, const char *b);

/* Remove the temporary files that this process is writing, for one that is about to end
   while other threads write them; what they do with them after this fails.  Nothing
   happens where the system has no /proc. */
void output_sweep(void);

#endif
