/* SPDX-License-Identifier: BSD-3-Clause */
/* Recorded sets: a folder with the operands and results of one instruction. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_SET_H
#define BITCUT_ANALYSIS_EVIDENCE_SET_H

#include "emu/fragment.h"

#include <jansson.h>

/* A set: A.npy, B.npy and C.npy, for a unit with block scales scale_a.npy and
   scale_b.npy, and once it is recorded D.npy (all raw encodings in the layout of struct
   fragments); and meta.json.  The latter holds the unit's whole name ("unit") or its
   parts ("arch", "family", "shape", "output", "input").  A unit that the table does not
   have needs its formats too: "a", "b", "c" and for block scales "scale" and
   "scale_block"; without them, they are read from a name like
   arch/family.shape.output.input or ...output.input_a.input_b.  "nan" is "negative" where
   it was not recorded which NaN the results are, only their sign.  A line of a file is a
   set too: analysis/evidence/set_line.h. */
struct set {
    struct bitcut_unit unit; /* the table's row, or only name, m, n, k and formats   */
    bool known;              /* whether the table has it                             */
    bool recorded;           /* whether there is a D                                 */
    struct array a, b, c, d, scale_a, scale_b; /* empty where there is no file       */
    bool negative_nan;           /* a negative NaN in D stands for any other         */
    struct fragment_shape shape;
    json_t *meta; /* all of meta.json; "unit" is always there */
};

/* What a command needs of a set: a unit of the table; a D; or the operands alone, so that
   a D is not even looked at. */
enum { SET_KNOWN = 1, SET_RECORDED = 2, SET_OPERANDS = 4 };

/* Read the set in `folder`, which may be FILE:N, check it against its unit, and see that it has outputs and is
   all that `needs` says.  meta.json has at most 2^20 bytes.  BITCUT_UNSUPPORTED or
   BITCUT_BAD_FILE with the file at fault in the text; *s is set only on success. */
enum bitcut_status set_read(struct set *s, const char *folder, unsigned needs,
                            struct fault *f);

/* The same of an object as a line of a file has it. */
enum bitcut_status set_read_line(struct set *s, json_t *line, unsigned needs,
                                 struct fault *f);
void set_clear(struct set *s);

/* Whether `got` is the recorded result at that place of D. */
bool set_has(const struct set *s, size_t at, uint64_t got);

/* The operands of the set as the unit takes them. */
struct fragments set_fragments(const struct set *s);

/* Allocate a set of `shape` for `unit`: arrays of zeros, with a D if `recorded`, and a
   meta.json that holds the unit's name.  *s is set only on success. */
enum bitcut_status set_init(struct set *s, const struct bitcut_unit *unit,
                            struct fragment_shape shape, bool recorded, struct fault *f);

/* Make a folder and those above it that are missing.  BITCUT_UNSUPPORTED with the reason.
 */
enum bitcut_status folder_make(const char *folder, struct fault *f);

/* Write the set into `folder`, which is made if it is not there, with those above it.
   meta.json goes first
   and comes last: a folder without it is no set, so a broken run leaves none.
   BITCUT_UNSUPPORTED: a file cannot be written. */
enum bitcut_status set_write(const char *folder, const struct set *s, struct fault *f);

#endif
