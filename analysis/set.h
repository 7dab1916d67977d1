/* Recorded sets: a folder with the operands and results of one instruction. */
#ifndef BITCUT_ANALYSIS_SET_H
#define BITCUT_ANALYSIS_SET_H

#include "emu/fragment.h"

/* A set: A.npy, B.npy, C.npy and D.npy (raw encodings in the layout of struct fragments)
   and meta.json, which holds the unit's parts ("arch", "family", "shape", "output",
   "input") or its whole name ("unit"). */
struct set {
    const struct bitcut_unit *unit;
    struct array a, b, c, d;
    struct fragment_shape shape;
};

/* Read the set in `folder` and check it against its unit.  BITCUT_CANNOT or
   BITCUT_BAD_FILE with the file at fault in the text; *s is set only on success. */
enum bitcut_status set_read(struct set *s, const char *folder, struct fault *f);
void set_clear(struct set *s);

#endif
