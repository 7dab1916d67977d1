/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut: bit-exact models of GPU matrix units, the FP32 GEMM recipes that run on them,
   and exact references.

   Numbers travel as encodings: unsigned integers holding the bits of a format.  Every
   function gives the same bits on any host, for any number of threads and whatever
   rounding mode or flush-to-zero setting its caller has.  Rows are opaque and constant;
   pointers to them stay valid for the life of the program.  The library never prints or
   exits, and keeps no state but what bitcut_stop_on() sets and, from when it was loaded,
   BITCUT_SIMD.

   A function that cannot have its memory returns BITCUT_NO_MEMORY; one without a status
   needs none.  None allocates through GMP or MPFR, which would abort.  But those with an
   argument `threads`, and GEMMs on the device "cpu", run on OpenMP: if its runtime lacks
   memory of its own, or cannot start a thread, it ends the process (GCC's prints a line
   and calls exit(1)).  In a child that was forked behind such a call GCC's waits for
   threads that only the parent has: call from a thread that the child has started.

   A call that returns a status refuses what it can see, with BITCUT_BAD_ARGUMENT: NULL
   for a row, or for an array or a place that it reads or writes; and arrays of more bytes
   than a size_t counts.  An array of no elements may be NULL.  Undefined are: NULL where
   a call returns no status, but for names; pointers to anything but what is asked for;
   arrays with less in them than the sizes say, or misaligned; names without their final
   0; and arrays written that overlap others, where their call does not say they may. */
#ifndef BITCUT_H
#define BITCUT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library, as "0.2.0". */
const char *bitcut_version(void);

/* Why a call failed. */
enum bitcut_status {
    BITCUT_OK,
    BITCUT_BAD_ARGUMENT, /* shapes, counts or names that do not fit together */
    BITCUT_BAD_FILE,     /* a file that is not what it should be             */
    BITCUT_UNSUPPORTED,  /* a file or device that cannot be used             */
    BITCUT_NO_MEMORY
};

/* One line of English for a status. */
const char *bitcut_status_text(enum bitcut_status status);

/* Room for the line that says why a call failed, with its 0.  Such an array is the last
   argument of calls that have much to say; it is written only then, and may be NULL. */
enum { BITCUT_TEXT_MAX = 240 };

/* From now on calls of this thread that take `threads` look at *stop now and then, and
   once it is not 0 come back before they are done: with BITCUT_UNSUPPORTED and "stopped";
   but bitcut_explain() with what it has found by then, where `complete` is false.  A
   signal handler may set it, or another thread.  What a call writes is then as its
   contract says of failure; of bitcut_mma() and bitcut_exact_gemm() it is undefined.
   `stop` is NULL at first, for calls that run to their end; else it stays valid until
   another is set or the thread ends.  The one before comes back. */
const volatile sig_atomic_t *bitcut_stop_on(const volatile sig_atomic_t *stop);

/* --- tables ----------------------------------------------------------------------- */

struct bitcut_format;   /* f16, bf16, tf32, e4m3, f32, ...       */
struct bitcut_rounding; /* rn, rna, rz, ru, rd, odd, cut, ...    */
struct bitcut_split;    /* markidis, halfhalf, bitcut, ...       */
struct bitcut_recipe;   /* plain, ootomo, legemm, ...            */
struct bitcut_unit;     /* hopper/mma.m16n8k16.f32.f16, ...      */

/* The row of that name, or NULL; of NULL, NULL.  `bitcut list` prints the names. */
const struct bitcut_format *bitcut_format_find(const char *name);
const struct bitcut_rounding *bitcut_rounding_find(const char *name);
const struct bitcut_split *bitcut_split_find(const char *name);
const struct bitcut_recipe *bitcut_recipe_find(const char *name);

/* The unit of that name; or, for a chip (a100, h100, mi210, ...), its first instruction
   for operands of `input` with an f32 accumulator; fma/f32 for f32 operands on a chip
   without one.  NULL if there is none. */
const struct bitcut_unit *bitcut_unit_find(const char *name,
                                           const struct bitcut_format *input);

/* The full name of a unit, as `bitcut list units` prints it. */
const char *bitcut_unit_name(const struct bitcut_unit *unit);

/* The shape of the instruction: A is m x k, B k x n. */
void bitcut_unit_shape(int *m, int *n, int *k, const struct bitcut_unit *unit);

/* --- walking tables --------------------------------------------------------------- */

/* Every table of the library as `bitcut list` prints it: its rows, of each its name, its
   purpose and its fields.  `bitcut list` has more tables, which are the program's. */
struct bitcut_table; /* units, chips, formats, roundings, splits, recipes, ... */

/* The table after `table`, or the first for NULL; NULL after the last. */
const struct bitcut_table *bitcut_table_next(const struct bitcut_table *table);

/* The table of that name, or NULL; of NULL, NULL. */
const struct bitcut_table *bitcut_table_find(const char *name);

/* Its name, and one line on what its rows are. */
const char *bitcut_table_name(const struct bitcut_table *table);
const char *bitcut_table_what(const struct bitcut_table *table);

/* The row after `row`, a row of that table, or the first for NULL; NULL after the last. A
   row of "formats" is a struct bitcut_format, one of "roundings", "splits", "recipes" and
   "units" what it is called as well. */
const void *bitcut_row_next(const struct bitcut_table *table, const void *row);

/* Its name, and one line on what it is. */
const char *bitcut_row_name(const void *row);
const char *bitcut_row_what(const void *row);

/* What the text of a field is. */
enum bitcut_kind {
    BITCUT_NULL,    /* empty: the row has no such field           */
    BITCUT_BOOL,    /* true or false                              */
    BITCUT_NUMBER,  /* an integer, or a real with a '.' or an 'e' */
    BITCUT_TEXT,    /* itself                                     */
    BITCUT_NUMBERS, /* a line for each, ended by '\n'             */
    BITCUT_TEXTS    /* likewise                                   */
};

enum { BITCUT_FIELD_MAX = 1024 }; /* room for the text of any field, with its 0 */

struct bitcut_field {
    const char *name; /* valid for the life of the program */
    enum bitcut_kind kind;
    char text[BITCUT_FIELD_MAX]; /* the same in any locale */
};

/* The field of a row at `index`, counted from 0: the same names in the same order for all
   rows of a table.  False, and *field is as it was, if there are no more. */
bool bitcut_row_field(struct bitcut_field *field, const struct bitcut_table *table,
                      const void *row, size_t index);

/* A member of a struct below that a function fills in, such as "bitcut_tolerances", for
   callers without a C compiler: its name, in place of a value its type in C, "double" or
   "size_t[2]", and where it lies.  Members come in no particular order; the first of the
   struct, `size`, is not among them.  A size_t stands for every integer of that size.
   False, and nothing is set, from the last one on, and of a struct that has no table. */
bool bitcut_struct_member(struct bitcut_field *member, size_t *offset, const char *name,
                          size_t index);

/* --- numbers ---------------------------------------------------------------------- */

/* The encoding in `to` of the value that `encoding` has in `from`, whose bits above those
   of the format do not matter, rounded once.  NaN gives the quiet NaN of `to`; infinities
   and overflow give what the rounding rule says (a format without infinity gives its NaN,
   without NaN its largest value).  A format without a sign, ue8m0 or ue4m3, gives its NaN
   for what is below zero, and +0 for -0; ue8m0, which has no zero, 2^-127 for what is
   rounded to it.  IEEE 754-2019 section 5.4.2, and 4.3.1 for a tie between powers of two,
   which goes to the larger. */
uint64_t bitcut_format_convert(const struct bitcut_format *to,
                               const struct bitcut_rounding *rounding,
                               const struct bitcut_format *from, uint64_t encoding);

/* The same of `count` encodings, each in 1, 2, 4 or 8 bytes, the fewest that hold its
   format.  Into *changed, or NULL, goes how many are another number than before: a zero
   is another one with the other sign, a NaN is none with other bits.  The arrays may be
   one if their elements have one size.  BITCUT_BAD_ARGUMENT as at the top. */
enum bitcut_status bitcut_format_convert_array(size_t *changed, void *to_array,
                                               const struct bitcut_format *to,
                                               const struct bitcut_rounding *rounding,
                                               const void *from_array,
                                               const struct bitcut_format *from,
                                               size_t count);

/* The words of the FP32 encoding x under a split, high word first; returns how many (1 to
   3).  A word carries 2^(l s), s the split's scale and l its level; x is about the sum of
   those that are not copies.  `bitcut list splits` has levels, copies, and the format of
   each word, whose encoding it is. */
int bitcut_split_apply(uint64_t word[3], const struct bitcut_split *split, uint32_t x);

/* The same of `count` FP32 encodings: array[w][i] becomes word w of x[i], in 1, 2, 4 or 8
   bytes, the fewest that hold the word's format.  array[w] is not read from the number of
   words on, and may be NULL, for a word that is not wanted. BITCUT_BAD_ARGUMENT as at the
   top. */
enum bitcut_status bitcut_split_array(void *const array[3],
                                      const struct bitcut_split *split, const uint32_t *x,
                                      size_t count);

/* What a split keeps of FP32 values, exponent by exponent: value p of exponent e goes to
   values[(e - from) count + p], for from <= e <= to, -127 (zero and what is below 2^-126)
   to 127, and p < count; behind them all of these together, of each p.  The values are x,
   an array of so many elements of any signs, or if x is NULL all 2^23 positive ones of
   each exponent.  `unit` reads the words, if it flushes those below the normal range of
   their format as zeros; or NULL: none does.

   bitcut_split_measure_name(p) is one of the keys of `bitcut split` (the manual says what
   they are), which prints the same: "count", "exact", "bits", "max_ulp", ...; NULL from
   the last one on.  NaN: of no values, errors of values
   all of which overflow, theory where it does not hold, or from the last p on.
   Of x, "zeros", "infinite" and "nan" count all elements, in the last row; "count" has
   none of these, nor has -127 the zeros then.  The same for any number of threads; threads = 0 uses all processors.
   BITCUT_BAD_ARGUMENT as at the top, and a line in `why`, an array of BITCUT_TEXT_MAX or
   NULL: no such exponents; negative threads.  BITCUT_NO_MEMORY.  Unless BITCUT_OK comes
   back, values are undefined. */
enum bitcut_status bitcut_split_measure(double *values, size_t count,
                                        const struct bitcut_split *split,
                                        const struct bitcut_unit *unit, int from, int to,
                                        const uint32_t *x, size_t elements, int threads,
                                        char *why);
const char *bitcut_split_measure_name(size_t p);

/* The four 32-bit outputs of Philox 4x32-10 (Salmon et al., SC'11) for a counter and key:
   the generator behind every input family. */
void bitcut_philox(uint32_t output[4], const uint32_t counter[4], const uint32_t key[2]);

/* --- one GEMM --------------------------------------------------------------------- */

/* What a number that may be left open is until it is set: 0 says something else. */
enum { BITCUT_UNSET = -1 };

/* How the elements of a matrix lie in memory: row by row, or column by column. */
enum bitcut_layout { BITCUT_ROW_MAJOR, BITCUT_COLUMN_MAJOR };

/* A matrix of a GEMM, or of each GEMM of a batch: at strides, or where pointers point to.
   Elements are encodings of the format, in 1, 2, 4 or 8 bytes, the fewest that hold it,
   and are aligned to them.  A transposed matrix is one of the other layout. */
struct bitcut_matrix {
    union {
        const void *at; /* the first one                                   */
        void *to;       /* the same, of D: nothing else is written         */
    };
    union {
        const void *const *each; /* NULL; or as many pointers as GEMMs, and then neither
                                    `at` nor `stride` is read                           */
        void *const *each_to;    /* the same, of D                                      */
    };
    const struct bitcut_format *format; /* NULL: f32 */
    enum bitcut_layout layout;
    size_t ld;     /* elements from one row, or column, in memory to the next; 0: none
                      lie between them                                                  */
    size_t stride; /* elements from one matrix to the next; 0: all GEMMs have the same  */
    const void *prepared;   /* of A and B on a device: NULL, or what bitcut_gemm_prepare()
                            wrote, and then nothing above is read                       */
    size_t prepared_stride; /* bytes from those of one matrix to the next */
};

/* How partial sums that were computed apart are added in FP32, to nearest. */
enum bitcut_reduction {
    BITCUT_ASCENDING,  /* the first and the second, then the third, ...                */
    BITCUT_DESCENDING, /* the last and the one before, then the one before that, ...   */
    BITCUT_TREE        /* neighbours, then neighbours among these, ...; one left over
                          waits                                                        */
};

/* The order in which the products of one output are added, beyond what recipe and unit
   say of it; all zeros: k ascending, one sum.  k is taken in k-steps, as many k as the
   instruction has, of several the most, padded with +0.

   k is cut into tiles of so many k that a tile begins at every multiple, counted from the
   end that has no rest: with partial_first the tile of k mod tile elements, if there are
   any, comes before the others.  Slices have ceil(tiles / slices) whole tiles each, the
   last of them what is left; there may be fewer of them than were asked for.  In a slice
   turns of so many k go to lane 0, 1, ..., and to lane 0 again; a short tile takes the
   turns of a whole one.  With `cut`, slices have whole multiples of so many k instead,
   the last of them what is left, and tiles, with what is not whole, begin anew in each.
   With `balance_tail` they do so, too, and where the last slice would be shorter than the
   others, it and the one before have half each of what both have: that one the larger
   half if it is 1, else the smaller one rounded up to whole multiples of so many k, but
   never more than the slices before.  Each lane of each slice is computed apart, as
   struct bitcut_recipe says of slices (`bitcut list recipes`), from +0; then the lanes of
   every slice are reduced, and then the slices.  The sum of each lane, and every sum of
   two, is FP32 rounded to nearest even; with `partial_format` it is rounded once more, to
   nearest even of that format.  Of f16 and bf16 that is what an addition in this format
   gives. */
struct bitcut_order {
    int slices;         /* of k: split-K; 0 is 1                                        */
    int tile;           /* k of a tile, rounded up to whole k-steps; 0: a k-step        */
    bool partial_first; /* the partial tile comes first                                 */
    int cut;            /* k that slices are whole multiples of; 0: tiles of all of k   */
    int balance_tail;   /* k that half of the last two slices is a multiple of; 0: they
                           stay as they are                                             */
    int lanes;          /* sums that take turns; 0 is 1                                 */
    int chunk;          /* k of a turn, rounded up to whole k-steps; 0: a k-step        */
    enum bitcut_reduction reduction; /* of lanes, and of slices                         */
    const struct bitcut_format *partial_format; /* of sums of lanes and slices; NULL: f32 */
};

enum { BITCUT_ORDER_MAX = 200 }; /* room for the line of any order, with its 0 */

/* Take into *order, whose other fields stay as they are, what a line says, as option
   --order of `bitcut gemm` takes it: "slices=2,tile=32,partial-first,reduction=tree". The
   items are the fields, partial_first as "partial-first" without a value, and
   `partial_format` with the name of a format.  BITCUT_BAD_ARGUMENT, and a line in `why`:
   there is no such item, or its value is none; *order is as it was. */
enum bitcut_status bitcut_order_read(struct bitcut_order *order, const char *line,
                                     char *why);

/* The line that bitcut_order_read() takes for it: only what an order of all zeros does not
   say, which has an empty one. */
void bitcut_order_write(char line[BITCUT_ORDER_MAX], const struct bitcut_order *order);

/* D = alpha A B + beta C for a batch of `count` GEMMs: A is m x k, B k x n, C and D m x
   n, each size 0 and more.  bitcut_gemm_init() leaves everything open; the recipe, or a
   kernel, the sizes and the matrices must be set.

   The same filled struct goes to the emulator and to a device, and gives the same bits
   wherever the unit is the same.  What is left open, the recipe's row says, or the device
   chooses; calls return the GEMM as it ran, with nothing open (roundings that are NULL
   are those of the splits).

   A, B and C hold values of formats that f32 holds; what f32 cannot hold of D is rounded
   once more, to nearest even, and a NaN in D has the leading bits of the unit's NaN in
   f32.  beta = +-0 never reads C.  D may be C, in the same place and format, or pointers;
   it overlaps nothing else that is read, and no two matrices of it overlap.  Nothing
   between the rows or columns of D is written. */
struct bitcut_gemm {
    size_t size; /* of this struct, in bytes, as its caller was compiled with          */

    const struct bitcut_recipe *recipe;           /* NULL: that of `kernel`            */
    const struct bitcut_split *split_a, *split_b; /* NULL: the recipe's; of a recipe
                                                     without one, a single word of the
                                                     unit's operand format              */
    const struct bitcut_rounding *high, *low;     /* of the words; NULL: the splits'   */
    int scale;        /* low words carry 2^scale; BITCUT_UNSET: the splits'            */
    int dropped_term;      /* 1: with the product of two low words, 0: without;
                         BITCUT_UNSET: as the recipe                                   */
    int promote;      /* instructions of accumulator 0 between promotions, 0: never;
                         BITCUT_UNSET: as the recipe                                   */
    int tile_k;       /* k that a term runs through before the next, 0: a k-step;
                         BITCUT_UNSET: as the recipe                                   */
    bool equilibrate; /* lines of A and B are scaled by powers of two before the split,
                         see below                                                     */
    bool any_promotion; /* a device may promote up to every 4th time that the recipe
                           does, where that is faster: other bits, near the same error */
    bool any_slices; /* without slices in `order`, a device may cut k into as many as one
                        cluster of its blocks adds, where that is faster: other bits, near the
                        same error, as shorter sums have                                 */
    struct bitcut_order order;

    const struct bitcut_unit *unit; /* of the product of the high words, see below; NULL:
                                       the device's, of `kernel` or its own choice      */
    const char *kernel; /* NULL, or its name; not besides a unit             */

    size_t count, m, n, k; /* count: 1 until it is set      */
    uint32_t alpha, beta;  /* FP32 encodings; 1 and 0       */
    struct bitcut_matrix a, b, c, d;
};

/* Words of one split may have several formats.  The unit takes the high words, other
   words of their format and, where its operand is wider than the high word, all that it
   holds.  A product with another word runs on the first unit of `bitcut list units` for
   just the formats of its two words, of the same architecture and family (the name up to
   its first '.', as hopper/mma), with the same accumulator format and no block scales: so
   `unit` fixes them all, and bitcut_gemm_unit() names them.  A k-step has the largest k
   of theirs, and the others execute as many instructions as make one, k ascending. */

/* What the product at position `index` runs on, counted from 0 in the order of the terms,
   that of two low words first if it is kept.  The GEMM has a recipe and a unit.  NULL
   from the last one on, and if bitcut_gemm() would refuse recipe, splits or unit. */
const struct bitcut_unit *bitcut_gemm_unit(const struct bitcut_gemm *gemm, size_t index);

/* With `equilibrate`, before the split, each row of A and column of B is multiplied by
   the power of two 2^r that puts its largest finite magnitude into [2^14, 2^15), or into
   the binade before the last one of the high word's format, or of a copy's, if that is
   lower: exactly, or rounded to nearest where the product is below 2^-126.  r = 0 for a
   row or column without finite values other than zeros.  Before alpha, the output is
   multiplied by 2^-(r + r') of its row and its column and rounded once, to nearest, with
   subnormals and infinity.  No word of a finite value overflows; no sum of them does. */

/* A GEMM with everything left open.  `size` is sizeof(struct bitcut_gemm): a library that
   has grown takes the struct of a program compiled before as it was then. */
void bitcut_gemm_init(struct bitcut_gemm *gemm, size_t size);

enum { BITCUT_GEMM_MAX = 512 }; /* room for the line of any GEMM, with its 0 */

/* A GEMM from a line that says how it is computed, and everything else is left open:
   RECIPE@UNIT, the unit or a chip, and what is varied: "legemm@mi210",
   "ootomo@a100,split=halfhalf,scale=10,promote=4,slices=2".  The items have the names of
   options of `bitcut gemm` (split, split-a, split-b, high, low, scale, terms, promote,
   tile-k, equilibrate); items of an order stand by themselves (bitcut_order_read()).
   Into *to, whose size bitcut_gemm_init() has set, only on success.  BITCUT_BAD_ARGUMENT,
   and a line in `why`: what is unknown, or does not fit together. */
enum bitcut_status bitcut_gemm_read(struct bitcut_gemm *to, const char *line, char *why);

/* The line of a GEMM whose recipe and unit are set, without sizes and matrices, of which
   bitcut_gemm_read() makes the same.  BITCUT_BAD_ARGUMENT: they are not. */
enum bitcut_status bitcut_gemm_write(char line[BITCUT_GEMM_MAX],
                                     const struct bitcut_gemm *gemm);

/* --- matrix units and GEMMs ------------------------------------------------------- */

/* A batch of fragments: D[f] = A[f] B[f] + C[f] for f < count, to the bit of the unit.
   Arrays hold one encoding an element, row-major: A[count][m][k], B[count][k][n],
   C and D[count][m][n], k that of the instruction, m and n any.  D may be C.
   BITCUT_BAD_ARGUMENT also if k is not the instruction's, the unit needs block scales,
   threads is negative, or an encoding has bits outside its format. */
enum bitcut_status bitcut_mma(uint64_t *d, const struct bitcut_unit *unit, size_t count,
                              size_t m, size_t n, size_t k, const uint64_t *a,
                              const uint64_t *b, const uint64_t *c, int threads);

/* Compute the GEMMs of a batch on their unit: every bit that a kernel following the
   recipe gives there.  gemm->unit must be set, and none of its words.  D may be C.
   threads = 0 uses all processors.  Into *ran, whose size bitcut_gemm_init() has set,
   goes the GEMM with nothing open; it may be `gemm` or NULL. BITCUT_BAD_ARGUMENT, and a
   line in `why`, an array of BITCUT_TEXT_MAX or NULL: what does not fit together; a
   leading dimension is too small; a matrix that is read or written is missing or
   misaligned; negative threads; the unit's operands do not hold the high words, or there
   is no unit for others; it accumulates in f16 and lines are equilibrated.
   BITCUT_NO_MEMORY.  The environment variable BITCUT_SIMD, read when the library is
   loaded, may be avx512, avx2, plain or none (the level changes no bit); another value is
   BITCUT_BAD_ARGUMENT, a level that the processor lacks BITCUT_UNSUPPORTED.  Unless
   BITCUT_OK comes back, a D is as it was or, in a batch, done. */
enum bitcut_status bitcut_gemm(struct bitcut_gemm *ran, const struct bitcut_gemm *gemm,
                               int threads, char *why);

/* Where a D differs; `size` is set by the caller, to sizeof(struct bitcut_difference). */
struct bitcut_difference {
    size_t size;              /* of this struct, as its caller was compiled with       */
    size_t compared, differ;  /* elements of all D, and those of other bits            */
    size_t gemm, row, column; /* of the first that differs, by GEMM and row; else 0    */
    uint64_t given, expected; /* its encoding, and that of bitcut_gemm()               */
};

/* D of `gemm`, which is read here, against what bitcut_gemm() computes, every bit of each
   element, of NaN as well.  All else is as in bitcut_gemm().  If D is C, C is no longer
   there: keep it.  *to and *ran are set only on success; `ran` may be NULL.
   BITCUT_BAD_ARGUMENT also: a size of a struct that no library had.  BITCUT_NO_MEMORY
   also for a D of the emulator's. */
enum bitcut_status bitcut_gemm_verify(struct bitcut_difference *to,
                                      struct bitcut_gemm *ran,
                                      const struct bitcut_gemm *gemm, int threads,
                                      char *why);

/* How far GEMM i of a batch, as it has been computed, is from the exact alpha A B + beta
   C of its operands: values[p] becomes that of metric p, for p < count, NaN beyond those
   there are.  Everything is as in bitcut_gemm(), but D is only read, and recipe and unit
   are needed for what grades a result alone: without a unit these are NaN.  If D is C, C
   is no longer there: judge A B, with beta = 0, or keep C.
   BITCUT_BAD_ARGUMENT, and a line in `why`, as bitcut_gemm(); or there is no GEMM i.
   BITCUT_NO_MEMORY. */
enum bitcut_status bitcut_gemm_judge(double *values, size_t count,
                                     const struct bitcut_gemm *gemm, size_t i,
                                     int threads, char *why);

/* The name of metric i, counted from 0, as `bitcut list metrics` describes them in this
   order; NULL from the last one on. */
const char *bitcut_metric_name(size_t i);

/* C = A B exactly, then rounded once, to nearest even: to FP32 in `c32` and to binary64
   in `c64` (either may be NULL).  FP32 encodings, row-major and without gaps: A is m x k,
   B k x n, C m x n.  NaN and infinities as in IEEE 754 with any order of the sum: NaN if
   any term is NaN or infinities of both signs meet, as 0x7fc00000 and 0x7ff8000000000000.
   A zero sum is +0 unless every term is a negative zero.  threads = 0 uses all
   processors. A negative count of threads is as 0.
   BITCUT_BAD_ARGUMENT also if k is above 2^46 and C has elements; BITCUT_NO_MEMORY. */
enum bitcut_status bitcut_exact_gemm(uint32_t *c32, uint64_t *c64, size_t m, size_t n,
                                     size_t k, const uint32_t *a, const uint32_t *b,
                                     int threads);

/* --- what computed a matrix ------------------------------------------------------- */

/* How much bitcut_explain() looks at.  What is 0 is the default, and `size` is
   sizeof(struct bitcut_explain_options). */
struct bitcut_explain_options {
    size_t size;    /* of this struct, in bytes, as its caller was compiled with       */
    size_t samples; /* outputs on which a hypothesis is confirmed; 0: 4096             */
    double seconds; /* for the search, and again for comparing all of D; 0: 60         */
    uint64_t seed;  /* of which outputs are looked at                                  */
};

enum { BITCUT_EXPLANATION_MAX = 1024 }; /* room for the sentence, with its 0 */

/* What bitcut_explain() found; `size` is set by the caller, as of a struct above. */
struct bitcut_explanation {
    size_t size;
    bool found;        /* something gives everything that was compared, what it says of
                          faults and of places included                                */
    bool runs;         /* bitcut_gemm() gives it, of the GEMM that came back           */
    bool complete;     /* the search had the time that it needs                        */
    const char *fault; /* its name, as "k lost": of the hypothesis, or of a place that
                          differs; NULL: there is none.  Valid for the life of the
                          program                                                      */
    size_t matched, sampled;        /* outputs of the sample that it gives to the bit  */
    size_t compared, differ, total; /* outputs of D that were compared, those of them
                                       that differ from it, and all that D has         */
    size_t tried;                   /* hypotheses                                      */
    char text[BITCUT_EXPLANATION_MAX]; /* one sentence of English with all of it      */
};

/* What computed D of `gemm`, which is read here: the recipe, its unit, its words, how it
   is promoted, the order of k, and what a kernel may do wrong (the manual, "bitcut
   explain").  Of the GEMM its sizes, alpha, beta and matrices count, and recipe and unit:
   one that is set is the only one that is tried.  All else is what is looked for, and not
   read.  Each matrix has any format and layout that bitcut_gemm() takes; one that only
   fits, or gives D far nearer, with its rows as columns is read so.  In D of a format
   other than f32 any NaN is as good as another.  If D is C, C is no longer there: keep
   it.

   *found, whose size bitcut_gemm_init() has set, becomes the GEMM with nothing open, of
   the matrices as they were read: what gives all of D, or the most of it.  Where `runs`
   is false some of what was found is nothing that a GEMM says, as another order of the
   products, or D differs in places: `text` says it.  *report and *found are set only on
   success; each may be NULL, as may `options`.  threads = 0 uses all processors.

   With the same seed it says the same, unless time ran out: `complete` is false then, or
   `compared` is below `total`.  BITCUT_BAD_ARGUMENT, and a line in `why`: as
   bitcut_gemm() of matrices; `count` is not 1; D has no elements; no GEMM runs on the
   unit; a size that no library had; seconds below 0 or NaN.  BITCUT_NO_MEMORY;
   BITCUT_UNSUPPORTED as bitcut_gemm(). */
enum bitcut_status bitcut_explain(struct bitcut_explanation *report,
                                  struct bitcut_gemm *found,
                                  const struct bitcut_gemm *gemm,
                                  const struct bitcut_explain_options *options,
                                  int threads, char *why);

/* --- which rows explain an instruction -------------------------------------------- */

/* Outputs of one instruction as they were recorded; `size` is sizeof(struct
   bitcut_recording).  Arrays are those of bitcut_mma(), with D, and for a unit with block
   scales scale_a[count][m][blocks], scale_b[count][blocks][n]; k is that of the
   instruction. */
struct bitcut_recording {
    size_t size; /* of this struct, in bytes, as its caller was compiled with           */
    const struct bitcut_unit *unit; /* whose formats, k and block scales they have      */
    size_t count, m, n, k;          /* fragments, and sizes of each                     */
    size_t blocks; /* of k that have a scale each; 0 for a unit without                 */
    const uint64_t *a, *b, *c, *d;
    const uint64_t *scale_a, *scale_b; /* NULL for a unit without                       */
    size_t outputs; /* that are looked at, spread evenly over all; 0: 1000              */
};

struct bitcut_fit; /* the rows that were found */

/* What bitcut_fit() found; `size` is set by the caller, as of a struct above. */
struct bitcut_fit_report {
    size_t size;
    bool unit_survives; /* the unit's own row gives every output                       */
    bool complete;      /* false: in some part of the space too many rows survive, or
                           had to be run, and the rest of it was not searched          */
    bool near;          /* no row survives, and there is one that gives some outputs   */
    size_t outputs;     /* that were looked at                                         */
    size_t tried;       /* rows that were run                                          */
    size_t groups;      /* of rows that survive: in each, every combination of the
                           values of its fields does                                   */
    uint64_t space, survivors; /* rows that there are, and those that survive          */
    size_t misses;         /* outputs that the nearest row does not give; else 0       */
    size_t explains_first; /* and how many it gives before the first of them, in the
                              order in which rows are tested                           */
};

/* Which rows explain recorded outputs, of all that the fields of a unit can make with its
   formats, k and block scales (the manual, "bitcut fit"): all of them are searched,
   though few are run.  A row survives if it gives every output to the bit, of NaN as
   well.

   *found is set only on success; bitcut_fit_close() ends it.  `report` and `found` may be
   NULL.  The same for any number of threads; threads = 0 uses all processors.
   BITCUT_BAD_ARGUMENT, and a line in `why`, an array of BITCUT_TEXT_MAX or NULL: there
   are no outputs, or no unit; k or blocks are not the unit's; an array is missing, or one
   of scales is there that the unit does not have; an encoding has bits outside its
   format; negative threads; a size of a struct that no library had.  BITCUT_NO_MEMORY. */
enum bitcut_status bitcut_fit(struct bitcut_fit_report *report, struct bitcut_fit **found,
                              const struct bitcut_recording *recording, int threads,
                              char *why);
void bitcut_fit_close(struct bitcut_fit *found); /* or NULL */

/* The unit at `index`, counted from 0, of those in `bitcut list units` that survive; NULL
   from the last one on. */
const struct bitcut_unit *bitcut_fit_unit(const struct bitcut_fit *found, size_t index);

/* In place of a group's number: all rows that survive, and the nearest one. */
enum { BITCUT_FIT_ALL = -1, BITCUT_FIT_NEAREST = -2 };

/* The field at `index` of rows of a group, counted from 0, of those that they read, in
   the order of `bitcut list units`: its name, and all of its values in one text for
   people, "25", "-166..-131", "IEEE, Inf".  False, and *field is as it was, if there are
   no more, or no such group. */
bool bitcut_fit_field(struct bitcut_field *field, const struct bitcut_fit *found,
                      int group, size_t index);

/* Its value at `place`, counted from 0, as bitcut_row_field() has those of a unit's row.
   Of all rows that survive, a field with one value is decided, others are open. */
bool bitcut_fit_value(struct bitcut_field *value, const struct bitcut_fit *found,
                      int group, size_t index, size_t place);

/* --- where an error comes from, and what it may be -------------------------------- */

/* A part of the error of all outputs: its signed mean, the root of its mean square and its
   largest magnitude, in u (|alpha| |A||B| + |beta C|), u = 2^-24.  NaN of no outputs. */
struct bitcut_part {
    double mean, rms, max;
};

/* Where the error of GEMM i of a batch, as the emulator computes it, comes from: parts[p]
   becomes part p, for p < count, and behind the last one the error itself; NaN beyond.
   Of each output the parts add up to its error exactly (the manual, "Error budget").  Of m
   n k up to 2^30 all outputs count, else as many as have that many products, spread
   evenly; those in which an input, a word, a sum or the result is infinite or NaN do not.
   D is not read.  The same for any number of threads; threads = 0 uses all processors.
   BITCUT_BAD_ARGUMENT, and a line in `why`, as bitcut_gemm(); or there is no GEMM i.
   BITCUT_NO_MEMORY. */
enum bitcut_status bitcut_budget(struct bitcut_part *parts, size_t count,
                                 const struct bitcut_gemm *gemm, size_t i, int threads,
                                 char *why);

/* The name of part p, "representation" for 0; NULL behind "error". */
const char *bitcut_budget_part(size_t p);

/* What each output of GEMM i of a batch may err by: limit[row n + column], m n numbers in
   binary64, rounded upward, in the units of D, so that |D - (alpha A B + beta C)| is at
   most that where D is finite: for certain by a rigorous bound, of which the others say
   when (`bitcut list bounds`; the manual, "Error bounds", has formulas and sources).  NaN
   where there is no limit: an input or a word is infinite, NaN, or too large.  `name` is
   a bound's, or NULL for "aligned".  Those that follow the emulator step by step,
   "running", "biased" and "underflow" (which bounds that part of a budget alone), take
   some 1 us a product.  D is not read, neither is its format known: what D is rounded to
   besides FP32 comes on top.  Threads as above.
   BITCUT_BAD_ARGUMENT, and a line in `why`, as bitcut_gemm(); or there is no GEMM i, or
   no such bound.  BITCUT_UNSUPPORTED, and the reason in `why`: the bound does not hold
   for this recipe on this unit.  BITCUT_NO_MEMORY. */
enum bitcut_status bitcut_bound(double *limit, const struct bitcut_gemm *gemm, size_t i,
                                const char *name, int threads, char *why);

/* The name of bound b, counted from 0; NULL from the last one on. */
const char *bitcut_bound_name(size_t b);

/* --- what a test should accept ---------------------------------------------------- */

/* How bitcut_tolerance() looks.  What is 0 is the default, and `size` is
   sizeof(struct bitcut_tolerance_options). */
struct bitcut_tolerance_options {
    size_t size;    /* of this struct, in bytes, as its caller was compiled with        */
    size_t runs;    /* that limits are observed in; 0: 100                              */
    double false_alarm; /* probability, below 1, that a correct result is above an
                     observed limit; 0: 10^-6 */
    uint64_t seed;  /* of what runs are                                                 */
    bool any_order; /* k in any order, not only that of the GEMM                        */
    bool two;       /* D is compared with another correct result, not the exact one     */
};

/* Limits that a correct D keeps; `size` is set by the caller, as of a struct above.  u =
   2^-24, C is the exact alpha A B + beta C, and |A||B| the sum of magnitudes |alpha|
   |A||B| + |beta C|.  A limit is infinite where there is none.  With `two` C is the other
   result, and all limits but `most` and `norm_max` are those of both together. */
enum { BITCUT_DECADES = 7 };
struct bitcut_tolerances {
    size_t size;
    size_t runs, outputs; /* of each run so many                                       */
    double bound;         /* |D - C| <= bound u |A||B| + what underflows, for certain  */
    double underflow;     /* that is so many u |A||B| at most in the runs              */
    double limit;      /* |D - C| <= observed u |A||B|, if `known`, ...             */
    double max;          /* ... and the largest of all runs                           */
    double norm_bound;    /* ||D - C|| <= that u (||A|| ||B||), Frobenius norms        */
    double norm_limit, norm_max; /* ||D - C|| likewise, if `norm_known`           */
    double rtol, atol; /* |D - C| <= atol + rtol |C|, by the observed limit ...         */
    double bound_rtol, bound_atol; /* ... and by the bound                              */
    double slack; /* how many times wider these are than the limit in |A||B|, at nine of
                     ten outputs at most; above 8 they are not worth having            */
    double rtol_alone; /* with atol = 0, observed; infinite where terms cancel          */
    double rtol_slack; /* likewise                                                      */
    double cancelling; /* share of outputs with |A||B| above 10 |C|                     */
    size_t wrong; /* outputs of correct runs that are NaN or infinite where C is not    */

    /* What follows came later: a struct of the size that ends here will do. */
    double with_underflow; /* |D - C| <= that u |A||B| + what underflows, always known  */
    double norm_with_underflow; /* ||D - C||, with the norm of what underflows         */
    size_t zeros; /* runs in which D = 0, or D = 2 C, keeps all limits that are known    */
    bool known, norm_known;

    /* Likewise. */
    double false_alarm;          /* this and the last two as the options had them          */
    size_t orders, arrangements; /* of k in each run: random ones, and chosen ones       */
    double with_underflow_max, norm_with_underflow_max; /* the largest of all runs     */
    double underflow_absolute; /* `underflow` in the units of D                          */
    double bound_rtol_alone;   /* with atol = 0, by the bound                            */
    double over[BITCUT_DECADES]; /* shares of outputs with |A||B| above 10^i |C|         */
    bool any_order, two;
};

/* What a test of D, of a GEMM like `gemm`, should accept: limits that the recipe on the
   unit keeps, with everything else that the GEMM says.  D is not read.

   The bound is a priori: it follows from recipe, unit, order and k (the manual, "Error
   bounds").  Observed limits come from runs on the matrices at hand, of some rows and
   columns with k in random orders.  Of the largest errors of n runs let t be the median,
   with r = n/2 above it, by e on average.  Then limits are

     t + r e (((r + 1) / ((n + 1) p))^(1/r) - 1),

   p the alarm, divided by how many runs have as many outputs as D: a correct D with k in a
   random order is above with a probability of p at most, what the runs do not tell
   included, if the tail of largest errors falls no slower than exponentially.  The same
   rows and columns also have k in its own order and, with any_order, reversed, and by the
   size of products descending and ascending: limits are at least those of these runs, and
   1.25 times the largest error of these, and the largest of all runs.  They are no more
   than the bound.

   Where the runs have a heavier tail, `known` or `norm_known` is false: then the limit is
   at least twice the largest of all runs, and has no probability.  It is false, too, where
   what underflows may be much of an error and was perhaps in no run.  Limits with what
   underflows hold then; where their own tail is heavy they are the bound.  What underflows
   at an output is a sum over those of its products that have an element below a threshold
   (the manual, "Tolerances"): bitcut_tolerance_judge() adds it.  A limit that D = 0 keeps
   says nothing: then `zeros` is above 0.

   The same for any number of threads; threads = 0 uses all processors.  `options` may be
   NULL.  *to is set only on success.  BITCUT_BAD_ARGUMENT, and a line in `why`: as
   bitcut_gemm() of the GEMM and its matrices; `count` is not 1, or a size is 0; a size of
   a struct that no library had; an alarm that is no probability.  BITCUT_NO_MEMORY;
   BITCUT_UNSUPPORTED as bitcut_gemm(). */
enum bitcut_status bitcut_tolerance(struct bitcut_tolerances *to,
                                    const struct bitcut_gemm *gemm,
                                    const struct bitcut_tolerance_options *options,
                                    int threads, char *why);

/* What a D is by such limits; `size` is set by the caller, as of a struct above. */
struct bitcut_tolerance_verdict {
    size_t size;
    bool accepted;         /* it keeps all limits that are known, and is NaN or infinite
                              only where C is                                          */
    bool zeros_accepted;   /* so is a D of zeros, and 2 C: the limits say nothing here   */
    double component;      /* the largest |D - C| / |A||B|, u                          */
    double with_underflow; /* the same without what underflows: may be negative         */
    double norm;           /* ||D - C|| / (||A|| ||B||), u                              */
    size_t worst;          /* the output of `component`, i n + j                       */
    size_t above;          /* outputs above a componentwise limit that is known        */
    size_t beyond;         /* ... above the bound                                      */
    size_t wrong;          /* ... NaN or infinite where C is not, or the other way     */

    /* What follows came later: a struct of the size that ends here will do. */
    size_t worst_at[2]; /* row and column of `worst`                                    */
    double relres;      /* ||D - C|| / ||C||                                            */
};

/* Judge D, which is read, of a GEMM by the limits that bitcut_tolerance() found for it with
   these options; of these only `any_order` is read, and `two` is false.  As
   bitcut_tolerance(), and BITCUT_BAD_ARGUMENT if D is not there or `two` is set. */
enum bitcut_status bitcut_tolerance_judge(struct bitcut_tolerance_verdict *to,
                                          const struct bitcut_tolerances *limits,
                                          const struct bitcut_gemm *gemm,
                                          const struct bitcut_tolerance_options *options,
                                          int threads, char *why);

/* --- which recipe will do --------------------------------------------------------- */

/* What bitcut_advise() looks for.  What is 0 is the default, and `size` is
   sizeof(struct bitcut_advice_options). */
struct bitcut_advice_options {
    size_t size;        /* of this struct, in bytes, as its caller was compiled with     */
    const char *metric; /* "relres" or "backward_max"; NULL: relres                      */
    double want;        /* at most so much of it; 0: 10^-6 of relres, 16 of backward_max */
    uint64_t seed;      /* of which outputs are looked at                                */
};

/* What it found; `size` is set by the caller, as of a struct above. */
struct bitcut_advice {
    size_t size;
    bool reaches;   /* the GEMM that came back does what is wanted; else it errs least  */
    double cost;    /* its products for each of A B, as of f16 words on that chip       */
    double error;   /* of a sample of outputs; infinite if a word of A or B overflows   */
    double high;    /* below that it is of all, as far as the samples tell              */
    double checked; /* of a second sample, which had no part in the choice              */
    double bound;   /* what that is at most for certain; NaN: nothing is                */
    size_t outputs, checks; /* of the samples                                           */
    size_t tried;           /* GEMMs                                                    */
};

/* Which recipe multiplies A B of `gemm` accurately enough, for the fewest products, and on
   what: of the GEMM sizes, A and B count, and recipe and unit: one that is set is the only
   one that is tried.  If the unit is NULL, every chip is looked at (`bitcut list chips`).
   The manual, "bitcut advise", says what is tried, and what a product costs.

   *found, whose size bitcut_gemm_init() has set, becomes the GEMM with nothing open: what
   does it, or errs least if nothing does.  *to and *found are set only on success; each
   may be NULL, as may `options`.  The same for any number of threads; threads = 0 uses all
   processors.  BITCUT_BAD_ARGUMENT, and a line in `why`: as bitcut_gemm() of A and B;
   `count` is not 1, or a size is 0; a size of a struct that no library had; no such
   metric; `want` is negative or NaN; no GEMM of the recipe runs on the unit.
   BITCUT_NO_MEMORY; BITCUT_UNSUPPORTED as bitcut_gemm(). */
enum bitcut_status bitcut_advise(struct bitcut_advice *to, struct bitcut_gemm *found,
                                 const struct bitcut_gemm *gemm,
                                 const struct bitcut_advice_options *options,
                                 int threads, char *why);

/* --- GEMMs on a device ------------------------------------------------------------ */

/* A device and its kernels.  Threads may share one.  `why` is as that of bitcut_gemm().
 */
struct bitcut_device;

/* Open a device by its name: "cuda" or "cuda:1", the first GPU that CUDA shows or the
   second, by the module bitcut-cuda.so in the folder that the environment variable
   BITCUT_MODULES names, or else beside the library, or where `make install` puts it.
   *device is set only on success; bitcut_device_close() ends it, but not GEMMs that still
   run.  Any number of threads may use it at a time.  BITCUT_UNSUPPORTED: the backend
   ("hip", "cpu", ...) is not built in, there is no module, it is of another version, or
   there is no such device, or none that it knows; BITCUT_BAD_ARGUMENT: no device can be
   called so.

   BITCUT_MODULES is read at each call, so no other thread may change the environment
   meanwhile.  It is not read in a process with rights that its caller does not have
   (setuid, setgid, capabilities).

   "cpu" is this machine's processor, if it has AMX or AVX512-BF16, and needs no module.
   Its memory is the process's; a stream is not read; and what is started is done when the
   call returns, by as many threads as OpenMP has for the caller (OMP_NUM_THREADS). */
enum bitcut_status bitcut_device_open(struct bitcut_device **device, const char *name,
                                      char *why);
void bitcut_device_close(struct bitcut_device *device); /* or NULL */

/* What its maker calls it. */
const char *bitcut_device_name(const struct bitcut_device *device);

/* What runs a GEMM is a kernel (`bitcut list kernels`).  `kernel` names it.  Else it is
   of the recipe, and does what the row and the variations `promote` and `dropped_term`
   say. The first in the order of the list that does, takes the matrices, splits, slices
   and sizes, and runs on the device, on `unit` if that is set, fixes the unit, and so the
   bits.  Of those with these bits the one is taken whose tile suits the sizes and the
   device best (the manual, "Tile model"); with `any_promotion` also of those that promote
   less often, with `any_slices` of all slices of k that one launch adds.  The unit may be
   another on another device, so set it, or name the kernel, where bits must never change.
   A device remembers what it chose for the last 100 GEMMs or so: to choose takes longer
   than to start.

   Where `unit` is set, no kernel is named, and no kernel does all this, the device
   emulates the unit, whichever it is, if its module can (that for CUDA): with every
   recipe, split, variation and order, and all matrices, at strides or by pointers, that
   bitcut_gemm() takes, to the same bits, NaN included, but without prepared words.  How,
   it chooses by the numbers of the unit's row, of which bitcut_gemm_method() tells the
   outcome.

   Most kernels take f32 matrices at strides; k is taken ascending, in one slice or
   several of whole k-steps.  Those for batches of small GEMMs take f16 matrices, at
   strides or by pointers: by the recipe plain, or by fp32 on the unit fma/f32.  Each
   matrix is in either layout; column-major C and D have the bits of row-major ones.

   All calls check every argument before they do anything.  BITCUT_BAD_ARGUMENT: as the
   contract of struct bitcut_gemm says; an unknown kernel, one of another recipe, or one
   that does not do or take what is asked for; a matrix that the device does not reach, as
   in the memory of the host or of another device; pointers that are in an array on the
   device are not looked at.  BITCUT_UNSUPPORTED: the device has no kernel for the GEMM,
   or cannot run the one named, or not on the unit; or the device's own reason. */

/* What would run: the GEMM with nothing open, and both its unit and its kernel.  To
   emulate it, make the kernel NULL; to run no other than it, the unit.  `ran` may be
   `gemm`; ran->size must be set, as by bitcut_gemm_init().  No place of a matrix is read,
   only whether words and pointers are NULL. */
enum bitcut_status bitcut_gemm_choose(struct bitcut_gemm *ran,
                                      const struct bitcut_device *device,
                                      const struct bitcut_gemm *gemm, char *why);

/* How the device computes the product at position `index`, counted as bitcut_gemm_unit()
   does: "kernel" if a kernel runs; else, where it emulates the unit, "native", by its own
   instruction that adds alike; "tensor", by one that adds more products to more bits;
   "cut", by integers; "simt", by FP32 operations; or "steps", as the emulator does it.
   NULL from the last one on, and if bitcut_gemm_choose() would refuse the GEMM. */
const char *bitcut_gemm_method(const struct bitcut_device *device,
                               const struct bitcut_gemm *gemm, size_t index);

/* Bytes of device memory that one GEMM of the batch works in.  A batch needs no more, and
   takes as many GEMMs at a time as it has been given that memory for.  Places are read as
   by bitcut_gemm_choose(). */
enum bitcut_status bitcut_gemm_workspace(size_t *bytes,
                                         const struct bitcut_device *device,
                                         const struct bitcut_gemm *gemm, char *why);

/* Start the batch of GEMMs on a stream of the device's runtime (a cudaStream_t or a
   hipStream_t; NULL is the default stream) and return without waiting: D is there when
   the stream has come so far.  Any device may be the thread's current one, and stays so.
   Nothing is allocated or synchronised, but the first call for a kernel loads it, which
   may do both; and the stream may be capturing a graph, which can run any number of times
   while the memory lasts.

   `workspace`, aligned to 256, has `bytes` bytes, as many as the query says or more, for
   this batch alone until it is done: those of one stream can share one.  It may be NULL
   if none are needed.  With what all need together, `count` times what one does if they
   share nothing, all are computed by the same launches as one, up to 65535 with their
   slices; with less, so many at a time, and the words of an operand that they share are
   made again each time unless they are prepared ("cpu" needs what one does).  Batches of
   small GEMMs are one launch always.  Emulated ones are started one after the other, in
   the memory of one; the first of a unit may synchronise, too.

   *ran is what bitcut_gemm_choose() gives, unless it is NULL.  NaN in D is 0x7fffffff, of
   f16 0x7fff, but on "cpu" and where the unit is emulated that of bitcut_gemm();
   infinities, zeros and subnormals are those of the unit.  NaN and infinities of one GEMM
   change no other one.  If the device fails, D is undefined. */
enum bitcut_status bitcut_gemm_start(struct bitcut_gemm *ran,
                                     const struct bitcut_device *device,
                                     const struct bitcut_gemm *gemm, void *workspace,
                                     size_t bytes, void *stream, char *why);

enum bitcut_operand { BITCUT_A, BITCUT_B };

/* Bytes of the words of one operand, a multiple of 256.  They depend on its size, k, the
   split, and whether it is equilibrated, alone. */
enum bitcut_status bitcut_gemm_prepared_size(size_t *bytes,
                                             const struct bitcut_device *device,
                                             const struct bitcut_gemm *gemm,
                                             enum bitcut_operand operand, char *why);

/* Start making the words of the first matrix of gemm->a or gemm->b (`words` there is not
   read), in device memory aligned to 256, as bitcut_gemm_start() starts a GEMM.  They
   serve any number of GEMMs, later in the stream, whose operand has the same values, with
   the same split and equilibration. */
enum bitcut_status bitcut_gemm_prepare(void *words, const struct bitcut_device *device,
                                       const struct bitcut_gemm *gemm,
                                       enum bitcut_operand operand, void *stream,
                                       char *why);

#ifdef __cplusplus
}
#endif

#endif
