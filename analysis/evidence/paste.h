/* SPDX-License-Identifier: BSD-3-Clause */
/* What kit/settle.py prints on a device: products of seeded matrices, as text that may
   come by mail or from a chat. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_PASTE_H
#define BITCUT_ANALYSIS_EVIDENCE_PASTE_H

#include "lib/base/status.h"
#include "lib/base/table.h"
#include "lib/number/format.h"

enum {
    PASTE_BYTES_MAX = 1 << 20,
    PASTE_LINES_MAX = 256,
    PASTE_WORD_MAX = 128, /* bytes of a word, with its 0 */
    PASTE_GROUPS = 8,     /* groups of rows of D: row i belongs to group i % 8 */
    PASTE_RANGES = 6,
    PASTE_SHORT_MAX = 128, /* largest k for which D has one accumulator, k ascending */
    PASTE_SIDE_MAX = 64    /* most rows and columns that are digested */
};

/* The operations and the kinds of inputs: positions in the tables below. */
enum { PASTE_MM, PASTE_LINEAR, PASTE_SCALED, PASTE_SDPA };
enum { PASTE_TERMS, PASTE_TINY, PASTE_EDGE, PASTE_TIES, PASTE_FLAT };
extern const struct table_row paste_operations[], paste_inputs[];

/* The ranges of the inputs, in the order in which a line has them: exponents of A and of
   B (values of integers), the largest exponent of a product and the span of exponents of
   products. */
enum { RANGE_A_MIN, RANGE_A_MAX, RANGE_B_MIN, RANGE_B_MAX, RANGE_TOP, RANGE_SPAN };

/* A line: a product of an m x k and a k x n matrix. */
struct paste_line {
    size_t number; /* from 1 */
    int op, inputs;
    const struct bitcut_format *a, *b, *d;
    size_t m, n, k, seed;
    int range[PASTE_RANGES];
    const struct bitcut_format *acc;  /* accumulator that was requested, or NULL */
    const struct bitcut_format *math; /* format to which PyTorch may round operands, or
                                         NULL */
    size_t fast; /* 0: PyTorch was asked for more accurate sums; else 1 */
    const struct bitcut_format *scale; /* of block scales, or NULL */
    size_t scale_block, scale_max;     /* k of a block; largest exponent of a scale */
    bool ran;
    uint32_t digest[PASTE_GROUPS]; /* start of the SHA-256 of a group of rows of D */
    uint64_t word[PASTE_GROUPS];   /* one result of each group */
    char missing[PASTE_WORD_MAX];  /* why it did not run, else empty */
    char rms[PASTE_WORD_MAX], max[PASTE_WORD_MAX]; /* of the errors, or empty */
};

/* All lines, and what the program says about the device, each in one word or empty. */
struct paste {
    struct paste_line *at;
    size_t count;
    char device[PASTE_WORD_MAX], name[PASTE_WORD_MAX], arch[PASTE_WORD_MAX],
        machine[PASTE_WORD_MAX], torch[PASTE_WORD_MAX], runtime[PASTE_WORD_MAX];
};

/* Whether a text has the start of a line of a paste. */
bool paste_is(const char *bytes, size_t size);

/* Read a paste.  Ends of lines, blanks, signs of a quotation at the start of lines, and
   text around it do not matter.  BITCUT_BAD_FILE names the line: it is missing, cut,
   changed (its checksum differs), or nothing that a version of the program prints; or the
   work would be out of proportion.  BITCUT_NO_MEMORY.  *p is set only on success. */
enum bitcut_status paste_read(struct paste *p, const char *bytes, size_t size,
                              struct fault *f);
void paste_clear(struct paste *p);

/* The number of rows or columns that are digested, and the index of the i-th. */
size_t paste_side(size_t size, size_t k);
size_t paste_side_at(size_t i, size_t size, size_t k);

/* Whether all is added in one accumulator, in the order of k. */
static inline bool paste_is_short(const struct paste_line *x)
{
    return x->k <= PASTE_SHORT_MAX;
}

/* Write a line as the program does, with its checksum. */
void paste_write(char *text, size_t size, const struct paste_line *x);

#endif
