/* SPDX-License-Identifier: BSD-3-Clause */
/* The operands of a GEMM cut into words: whole matrices of raw encodings. */
#ifndef BITCUT_EMU_WORDS_H
#define BITCUT_EMU_WORDS_H

#include "emu/fast/fast.h"
#include "lib/gemm/plan.h"

/* What a line of a matrix, a row of A or a column of B, holds in all its words: the least
   of the magnitudes that are not zero, as encodings without sign (INT32_MAX if all are
   zero), and the largest one.  The NaN of fnuz formats counts as the largest.  Of words
   of several formats it says nothing. */
struct magnitudes {
    uint32_t least, most;
};

/* Words as units read them, in format_bytes() each.  Lines are padded with +0 to at least
   `length`, and they lie in runs of WORDS_RUN elements, in the direction in which their
   source lay: runs of k one line after the other, then the next k of all lines; or runs
   of lines one k after the other, then the next lines.  WORDS_RUN more elements can be
   read. */
struct words {
    void *at[SPLIT_WORDS_MAX];
    const struct bitcut_format *format[SPLIT_WORDS_MAX];
    int count;
    bool columns;
    size_t lines, length;
    struct magnitudes *magnitudes; /* of each line                                    */
    int *exponents;                /* by which it is equilibrated; NULL: it is not   */
};

enum { WORDS_RUN = FAST_RUN };

/* A row-major matrix of FP32 encodings with leading dimension ld, of which the rows or
   the columns are the lines. */
struct words_source {
    const uint32_t *at;
    size_t ld;
    bool columns;
};

/* How words are made. */
struct words_rule {
    const struct bitcut_format *operand; /* of the unit that reads the high words: if it
                                            is wider than they are, all are widened   */
    const struct bitcut_split *split;
    const struct fast_kernels *kernels; /* NULL: by split_words()                   */
    bool equilibrate;                   /* lines, as lib/number/equilibrate.h says,
                                           before */
    const size_t *element;              /* the k of each place of a line, where splits
                                           round at random; NULL: as they lie         */
};

/* Make the words of `lines` lines of k elements, padded to `length`.  BITCUT_NO_MEMORY
   leaves *w cleared.  Neither kernels nor threads change a bit. */
enum bitcut_status words_make(struct words *w, const struct words_rule *r,
                              struct words_source x, size_t lines, size_t k,
                              size_t length, int threads);
void words_clear(struct words *w);

/* Change all words as faults->respell does, but those of padding.  Element p of a line is
   its k element[p], SIZE_MAX for padding; NULL: p, padding from k on. */
void words_respell(struct words *w, const struct gemm_faults *faults,
                   enum bitcut_operand operand, const size_t *element, size_t k);

/* Words kept for the next run on the same matrix, and what they were made by. */
struct kept_words {
    struct words words;
    struct bitcut_split split;
    const struct bitcut_format *operand; /* NULL: there are none */
    const void *at;                      /* the matrix           */
    size_t lines, k;
    bool equilibrate;
};

/* Whether the words that are kept are those that the rule makes of it. */
bool words_serve(const struct kept_words *kept, const struct words_rule *r,
                 const void *at, size_t lines, size_t k, size_t length);

/* Where element k of a line is in at[]. */
static inline size_t words_index(const struct words *w, size_t line, size_t k)
{
    if (w->columns)
        return (line / WORDS_RUN * w->length + k) * WORDS_RUN + line % WORDS_RUN;
    return (k / WORDS_RUN * w->lines + line) * WORDS_RUN + k % WORDS_RUN;
}

/* Elements [from, from + count) of word `word` of a line, as `unit` reads them. */
void words_read(struct number *to, const struct words *w, const struct bitcut_unit *unit,
                int word, size_t line, size_t from, size_t count);

/* Whether a line holds a NaN or an infinity.  They are words of one format, with a sign.
 */
bool words_special(const struct words *w, size_t line);

#endif
