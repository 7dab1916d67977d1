/* The sets that an operand of the command line means. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_SET_FIND_H
#define BITCUT_ANALYSIS_EVIDENCE_SET_FIND_H

#include "lib/progress.h"
#include "lib/status.h"

/* A folder, or line of a file (FILE:N), to be read as a set; or, if `fault.status` is not BITCUT_OK, one that cannot
   be searched for sets or has none. */
struct found {
    char *folder;
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

void found_clear(struct found_list *list);

#endif
