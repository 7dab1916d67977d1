/* SPDX-License-Identifier: BSD-3-Clause */
/* The operands of a GEMM split into parts: whole matrices of encodings. */
#ifndef BITCUT_EMU_WORDS_H
#define BITCUT_EMU_WORDS_H

#include "emu/fast/fast.h"
#include "lib/gemm/plan.h"

/* The range of magnitudes in all parts of a line of a matrix, a row of A or a column of
   B, as encodings without sign: the smallest magnitude other than zero (INT32_MAX if all
   are zero), and the largest.  The NaN of fnuz formats counts as the largest magnitude.
   Undefined for parts in several formats. */
struct magnitudes {
    uint32_t least, most;
};

/* Parts as units read them, format_bytes() each.  Lines are padded with +0 to at least
   `length`.  Elements lie in runs of WORDS_RUN, in the direction of the source: runs of
   k, one line after the other, then the next k of all lines; or runs of lines, one k
   after the other, then the next lines.  WORDS_RUN more elements can be read. */
struct words {
    void *at[SPLIT_WORDS_MAX];
    const struct bitcut_format *format[SPLIT_WORDS_MAX];
    int count;
    bool columns;
    size_t lines, length;
    struct magnitudes *magnitudes; /* of each line                                    */
    int *exponents;                /* exponents of the equilibration; NULL: not
                                      equilibrated                                   */
};

enum { WORDS_RUN = FAST_RUN };

/* A row-major matrix of FP32 encodings with leading dimension ld.  Its rows or its
   columns are the lines. */
struct words_source {
    const uint32_t *at;
    size_t ld;
    bool columns;
};

/* How parts are made. */
struct words_rule {
    const struct bitcut_format *operand; /* operand format of the unit that reads the high
                                            parts; if it is wider than they are, all parts
                                            are widened                               */
    const struct bitcut_split *split;
    const struct fast_kernels *kernels; /* NULL: made by split_words()              */
    bool equilibrate;                   /* whether lines are equilibrated before
                                           (lib/number/equilibrate.h) */
    const size_t *element; /* the k of each position of a line, for splits that round
                              stochastically; NULL: the position itself             */
};

/* Make the parts of `lines` lines of k elements, padded to `length`.  BITCUT_NO_MEMORY
   leaves *w cleared.  Neither kernels nor threads change a bit. */
enum bitcut_status words_make(struct words *w, const struct words_rule *r,
                              struct words_source x, size_t lines, size_t k,
                              size_t length, int threads);
void words_clear(struct words *w);

/* Change all parts by faults->respell, except padding.  Element p of a line is k number
   element[p], SIZE_MAX for padding; NULL: k number p, padding from k on. */
void words_respell(struct words *w, const struct gemm_faults *faults,
                   enum bitcut_operand operand, const size_t *element, size_t k);

/* Parts stored for the next run on the same matrix, and the data from which they were
   made. */
struct kept_words {
    struct words words;
    struct bitcut_split split;
    const struct bitcut_format *operand; /* NULL: no parts are stored */
    const void *at;                      /* the matrix           */
    size_t lines, k;
    bool equilibrate;
};

/* Whether the stored parts equal the parts that the rule makes of this matrix. */
bool words_serve(const struct kept_words *kept, const struct words_rule *r,
                 const void *at, size_t lines, size_t k, size_t length);

/* The position of element k of a line in at[]. */
static inline size_t words_index(const struct words *w, size_t line, size_t k)
{
    if (w->columns)
        return (line / WORDS_RUN * w->length + k) * WORDS_RUN + line % WORDS_RUN;
    return (k / WORDS_RUN * w->lines + line) * WORDS_RUN + k % WORDS_RUN;
}

/* Read elements [from, from + count) of part `word` of a line, as `unit` reads them. */
void words_read(struct number *to, const struct words *w, const struct bitcut_unit *unit,
                int word, size_t line, size_t from, size_t count);

/* Whether a line has a NaN or an infinity.  Its parts have one format, with a sign. */
bool words_special(const struct words *w, size_t line);

#endif
