/* SPDX-License-Identifier: BSD-3-Clause */
/* The operands of a GEMM split into parts: whole matrices of encodings. */
#ifndef BITCUT_EMU_PARTS_H
#define BITCUT_EMU_PARTS_H

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
   `length`.  Elements lie in runs of PARTS_RUN, in the direction of the source: runs of
   k, one line after the other, then the next k of all lines; or runs of lines, one k
   after the other, then the next lines.  PARTS_RUN more elements can be read. */
struct parts {
    void *at[SPLIT_PARTS_MAX];
    const struct bitcut_format *format[SPLIT_PARTS_MAX];
    int count;
    bool columns;
    size_t lines, length;
    struct magnitudes *magnitudes; /* of each line                                    */
    int *exponents;                /* exponents of the equilibration; NULL: not
                                      equilibrated                                   */
};

enum { PARTS_RUN = FAST_RUN };

/* A row-major matrix of FP32 encodings with leading dimension ld.  Its rows or its
   columns are the lines. */
struct parts_source {
    const uint32_t *at;
    size_t ld;
    bool columns;
};

/* How parts are made. */
struct parts_rule {
    const struct bitcut_format *operand; /* operand format of the unit that reads the high
                                            parts; if it is wider than they are, all parts
                                            are widened                               */
    const struct bitcut_split *split;
    const struct fast_kernels *kernels; /* NULL: made by split_apply()              */
    bool equilibrate;                   /* whether lines are equilibrated before
                                           (lib/number/equilibrate.h) */
    const size_t *element; /* the k of each position of a line, for splits that round
                              stochastically; NULL: the position itself             */
};

/* Make the parts of `lines` lines of k elements, padded to `length`.  BITCUT_NO_MEMORY
   leaves *w cleared.  Neither kernels nor threads change a bit. */
enum bitcut_status parts_make(struct parts *w, const struct parts_rule *r,
                              struct parts_source x, size_t lines, size_t k,
                              size_t length, int threads);
void parts_clear(struct parts *w);

/* Make the parts of the same lines with other elements: position p of a line has
   element at[p], or +0 if that is not below `from->length`.  Magnitudes and exponents are
   those of `from`, which must outlive *w: magnitudes may be smaller and larger than those
   of the elements.  BITCUT_NO_MEMORY leaves *w cleared.  parts_clear_gathered() frees
   *w. */
enum bitcut_status parts_gather(struct parts *w, const struct parts *from,
                                const size_t *at, size_t length);
void parts_clear_gathered(struct parts *w);

/* Change all parts by faults->respell, except padding.  Element p of a line is k number
   element[p], SIZE_MAX for padding; NULL: k number p, padding from k on. */
void parts_respell(struct parts *w, const struct gemm_faults *faults,
                   enum bitcut_operand operand, const size_t *element, size_t k);

/* The values of the parts of `lines` lines of k FP32 encodings, as split_apply() makes
   them: part i of element p of a line in to[i][line * k + p].  NaN and infinities are
   those of the host.  Uses the vector instructions of simd_choose().  False: no memory.
 */
bool parts_values(double *const to[SPLIT_PARTS_MAX], const struct bitcut_split *split,
                  const uint32_t *x, size_t lines, size_t k);

/* Parts stored for the next run on the same matrix, and the data from which they were
   made. */
struct kept_parts {
    struct parts parts;
    struct bitcut_split split;
    const struct bitcut_format *operand; /* NULL: no parts are stored */
    const void *at;                      /* the matrix           */
    size_t lines, k;
    bool equilibrate;
};

/* Whether the stored parts equal the parts that the rule makes of this matrix, whatever
   length they are padded to. */
bool parts_serve(const struct kept_parts *kept, const struct parts_rule *r,
                 const void *at, size_t lines, size_t k);

/* The position of element k of a line in at[]. */
static inline size_t parts_index(const struct parts *w, size_t line, size_t k)
{
    if (w->columns)
        return (line / PARTS_RUN * w->length + k) * PARTS_RUN + line % PARTS_RUN;
    return (k / PARTS_RUN * w->lines + line) * PARTS_RUN + k % PARTS_RUN;
}

/* Read elements [from, from + count) of part `part` of a line, as `unit` reads them. */
void parts_read(struct number *to, const struct parts *w, const struct bitcut_unit *unit,
                int part, size_t line, size_t from, size_t count);

/* Whether a line has a NaN or an infinity.  Its parts have one format, with a sign. */
bool parts_special(const struct parts *w, size_t line);

#endif
