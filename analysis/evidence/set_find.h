/* SPDX-License-Identifier: BSD-3-Clause */
/* The sets that an operand of the command line names. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_SET_FIND_H
#define BITCUT_ANALYSIS_EVIDENCE_SET_FIND_H

#include "analysis/evidence/set.h"
#include "analysis/evidence/set_line.h"
#include "lib/base/progress.h"

/* A folder, or a line of a file (FILE:N), to be read as a set; or, if `fault.status` is
   not BITCUT_OK, a folder or file that cannot be searched for sets or has none. */
struct found {
    char *folder;
    /* a line of FILE; length 0: it is no line, or was not looked up */
    struct set_line line;
    struct fault fault;
};

/* All zeros: an empty list. */
struct found_list {
    struct found *at;
    size_t count, room;
};

/* Append the sets that `operand` names, at least one entry:
   - for a folder with meta.json, and for anything that is neither a folder nor a file,
     itself;
   - for a file, its lines;
   - for any other folder, the sets below it, at any depth, in the order of their names.
     Links are followed, but no folder is searched twice; names that begin with '.' are
     skipped; a set found by two names is two sets.

   Ends early if asked to stop.  Returns BITCUT_NO_MEMORY; the list is valid even then. */
enum bitcut_status set_find(struct found_list *list, const char *operand,
                            const struct progress *progress, struct fault *f);

/* Read a set that was found, as set_read() does; for a file only its line is read.
   Returns the fault of the entry if it has one. */
enum bitcut_status found_read(struct set *s, const struct found *x, unsigned needs,
                              struct fault *f);

void found_clear(struct found_list *list);

#endif
