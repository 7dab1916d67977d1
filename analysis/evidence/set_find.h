/* SPDX-License-Identifier: BSD-3-Clause */
/* The sets that an operand of the command line means. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_SET_FIND_H
#define BITCUT_ANALYSIS_EVIDENCE_SET_FIND_H

#include "analysis/evidence/set.h"
#include "analysis/evidence/set_line.h"
#include "lib/base/progress.h"

/* A folder, or line of a file (FILE:N), to be read as a set; or, if `fault.status` is not BITCUT_OK, one that cannot
   be searched for sets or has none. */
struct found {
    char *folder;
    struct set_line line; /* of FILE; its length 0: it is none, or not looked up */
    struct fault fault;
};

/* An empty list is all zeros. */
struct found_list {
    struct found *at;
    size_t count, room;
};

/* Append what `operand` means, at least one entry.  A folder that holds meta.json, and
   whatever is neither a folder nor a file: itself.  A file: its lines.  Any other folder: the sets below it, at any depth, in
   the order of their names; links are followed, but no folder is searched twice, and
   names that begin with '.' are passed by; a set reached by two names is two sets.  Ends
   early if asked to stop. BITCUT_NO_MEMORY; the list is whole all the same. */
enum bitcut_status set_find(struct found_list *list, const char *operand,
                            const struct progress *progress, struct fault *f);

/* Read a set that was found, as set_read() does, but of a file only its line.  The fault
   that it was found with, if there is one. */
enum bitcut_status found_read(struct set *s, const struct found *x, unsigned needs,
                              struct fault *f);

void found_clear(struct found_list *list);

#endif
