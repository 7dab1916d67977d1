/* SPDX-License-Identifier: BSD-3-Clause */
/* Recorded sets: a folder with the operands and results of one instruction. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_SET_H
#define BITCUT_ANALYSIS_EVIDENCE_SET_H

#include "emu/fragment.h"

#include <jansson.h>

/* A set: A.npy, B.npy and C.npy; for a unit with block scales also scale_a.npy and
   scale_b.npy; once it is recorded, D.npy; and meta.json.  All arrays are raw encodings
   in the layout of struct fragments.

   meta.json has the unit's full name ("unit") or its parts ("arch", "family", "shape",
   "output", "input").  A unit that is not in the table also needs its formats: "a", "b",
   "c" and for block scales "scale" and "scale_block"; without them, they are read from a
   name like arch/family.shape.output.input or ...output.input_a.input_b.  "nan" is
   "negative" if only the sign of NaN results was recorded.  A line of a file can be a set
   too: analysis/evidence/set_line.h. */
struct set {
    struct bitcut_unit unit; /* the row of the table, or only name, m, n, k and formats */
    bool known;              /* whether the table has the unit */
    bool recorded;           /* whether D exists */
    struct array a, b, c, d, scale_a, scale_b; /* empty where the file does not exist */
    bool negative_nan; /* a negative NaN in D stands for any negative NaN */
    struct fragment_shape shape;
    json_t *meta; /* all of meta.json; "unit" is always set */
};

/* The requirements of a command on a set: a unit of the table; a D; or the operands
   alone, so that D is not read. */
enum { SET_KNOWN = 1, SET_RECORDED = 2, SET_OPERANDS = 4 };

/* Read the set in `folder`, which may be FILE:N, check it against its unit, and check
   that it has outputs and satisfies `needs`. meta.json has at most 2^20 bytes.  Returns
   BITCUT_UNSUPPORTED or BITCUT_BAD_FILE with the file in the text; *s is set only on
   success. */
enum bitcut_status set_read(struct set *s, const char *folder, unsigned needs,
                            struct fault *f);

/* The same for an object in the form of a line of a file. */
enum bitcut_status set_read_line(struct set *s, json_t *line, unsigned needs,
                                 struct fault *f);
void set_clear(struct set *s);

/* Whether `got` equals the recorded result at that position of D. */
bool set_has(const struct set *s, size_t at, uint64_t got);

/* The operands of the set as the unit reads them. */
struct fragments set_fragments(const struct set *s);

/* Allocate a set of `shape` for `unit`: arrays of zeros, with a D if `recorded`, and a
   meta.json with the unit's name.  *s is set only on success. */
enum bitcut_status set_init(struct set *s, const struct bitcut_unit *unit,
                            struct fragment_shape shape, bool recorded, struct fault *f);

/* Make a folder and its missing parents.  Returns BITCUT_UNSUPPORTED with the reason. */
enum bitcut_status folder_make(const char *folder, struct fault *f);

/* Write the set into `folder`, which is created with its parents if it does not exist.
   meta.json is removed first and written last: a folder without it is no set, so an
   interrupted run leaves none.  Returns BITCUT_UNSUPPORTED if a file cannot be written.
 */
enum bitcut_status set_write(const char *folder, const struct set *s, struct fault *f);

#endif
