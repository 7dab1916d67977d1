/* SPDX-License-Identifier: BSD-3-Clause */
/* Code objects for the executor's tests: files with one kernel, k, of given code, with a
   descriptor and notes that may be wrong, and any number of sections. */
#ifndef BITCUT_TESTS_GFX9_GFX9_FILE_H
#define BITCUT_TESTS_GFX9_GFX9_FILE_H

#include "emu/gfx9/gfx9.h"

/* A kernel's descriptor; `resources1` is beside what executed kernels must ask for. */
struct code_descriptor {
    uint32_t lds, scratch, arguments, resources1, resources2;
    int64_t entry; /* from where code begins */
    uint16_t properties;
};

/* An argument in the notes; `hidden`: one that the runtime fills in. */
struct code_argument {
    uint64_t offset, bytes;
    bool address, hidden;
};

enum { CODE_ARGUMENTS_MAX = 80 };

struct code_file {
    const struct gfx9_target *target;
    const uint32_t *code;
    size_t dwords;
    struct code_descriptor descriptor;
    struct code_argument argument[CODE_ARGUMENTS_MAX];
    int arguments;
    uint32_t items_most;

    /* What a file may have too much of. */
    uint64_t zeros;         /* of the segment behind its bytes                     */
    uint64_t code_zeros;    /* of them in the section of code                      */
    size_t more_sections;   /* of the same code                                    */
    size_t more_segments;   /* loaded, of the same bytes                           */
    size_t more_notes;      /* segments of the same note                           */
    size_t more_kernels;    /* in the note: with names of their own, or all k      */
    size_t more_symbols;    /* in the table, of other names, before that of k      */
    size_t more_tables;     /* of the same symbols                                 */
    size_t nested;          /* lists in each other in the note                     */
    size_t repeated;        /* times a key of the kernel is there again            */
    size_t name_bytes;      /* that symbols' names end after; 0: short ones        */
    bool same_names, apart; /* kernels are all k; repeated parts are at addresses and
                               places of the file of their own                     */
    uint32_t claimed;       /* entries that a list says it has, and has not        */
};

/* A file in memory, to be freed; returns its bytes. */
uint8_t *code_file_make(size_t *bytes, const struct code_file *x);

#endif
