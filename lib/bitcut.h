/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut: bit-exact models of the matrix units of GPUs, the FP32 GEMM recipes that run on
   them, and exact reference results.

   How to read a contract.  The first sentence says what the function computes.  Then
   follow:
     Returns:  each status or value, and its meaning.
     Args:     handles, rows of tables, sizes and options.
     In:       memory that the function reads.
     Out:      memory that the function writes.
     In/Out:   memory that the function reads and writes.
   Then special cases follow as a list.

   General rules.  They hold for every function unless its contract says otherwise.

   - Encodings.  Numbers are encodings: unsigned integers that hold the bits of a format.
   - Reproducibility.  Every function gives the same bits on any host and for any number
     of threads.  The caller's rounding mode and flush-to-zero setting have no effect.
   - Ownership.  The caller owns every array and struct that it passes.
   - Rows of tables are opaque and constant.  Pointers to rows are
     valid for the life of the program.
   - Output.  The library never prints and never exits.
   - State.  The library has no global state except the stop flag of bitcut_stop_on(),
     which belongs to a thread, and BITCUT_SIMD, which is read when the library is loaded.
   - Memory.  BITCUT_NO_MEMORY: a function could not allocate memory.  Functions that
     return no status allocate no memory.  Only bitcut_attention_exact() and
     bitcut_attention_judge() allocate through MPFR, which ends the process if there is no
     memory.
   - Refusals.  A function that returns a status checks what it can see.  It returns
     BITCUT_BAD_ARGUMENT if a required row, array or struct is NULL, or if an array has
     more bytes than a size_t can count.  These causes come in addition to the causes that
     a contract names.
   - NULL.  An array without elements may be NULL.  The argument `why` and every argument
     marked "or NULL" may be NULL.  Behaviour is undefined if a function that returns no
     status receives NULL, except for name arguments and where its contract allows NULL.
   - Undefined behaviour.  Behaviour is also undefined if a pointer points to another type
     than the declared one; if an array is shorter than its sizes say, or misaligned; if a
     name has no final 0; or if an array that is written overlaps another one, unless the
     contract allows it.
   - Argument `threads`: the number of threads; 0 uses all processors.  A negative number
     is refused with BITCUT_BAD_ARGUMENT.
   - Argument `why`: an array of BITCUT_TEXT_MAX characters, or NULL.  If the function
     fails, it holds one line with the reason; otherwise it is not written.
   - Structs with a member `size`: the caller sets `size` to sizeof the struct, directly
     or by bitcut_gemm_init(), before the call.  A size that no version of the library had
     is refused with BITCUT_BAD_ARGUMENT.
   - Positions (index, i, p) count from 0.
   - OpenMP.  Functions with an argument `threads`, and GEMMs on the device "cpu", run on
     OpenMP.  If the OpenMP runtime has no memory or cannot start a thread, it ends the
     process; GCC's runtime prints a line and calls exit(1).  After such a call, GCC's
     runtime in a forked child waits for threads that exist only in the parent.  In the
     child, make such calls from a thread that the child has started. */
#ifndef BITCUT_H
#define BITCUT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Attributes by which gcc and clang check callers.  Other compilers ignore them.
   - BITCUT_CHECK_RESULT: the compiler warns if the caller ignores the result.
   - BITCUT_NONNULL(i, ...): the arguments at these positions, counted from 1, must not be
     NULL, and the compiler warns where it sees NULL.  Functions without it check for NULL
     themselves or accept it. */
#ifdef __GNUC__
#define BITCUT_CHECK_RESULT __attribute__((warn_unused_result))
#define BITCUT_NONNULL(...) __attribute__((nonnull(__VA_ARGS__)))
#else
#define BITCUT_CHECK_RESULT
#define BITCUT_NONNULL(...)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* --- status ----------------------------------------------------------------------- */

/* Return the version of the library, such as "0.2.0". */
const char *bitcut_version(void);

/* The reason why a call failed. */
enum bitcut_status {
    BITCUT_OK,           /* success                                             */
    BITCUT_BAD_ARGUMENT, /* shapes, counts or names that do not fit together    */
    BITCUT_BAD_FILE,     /* malformed file                                      */
    BITCUT_UNSUPPORTED,  /* file or device that cannot be used, or stopped call */
    BITCUT_NO_MEMORY     /* not enough memory                                   */
};

/* Describe a status.

   Returns: one line of English. */
const char *bitcut_status_text(enum bitcut_status status);

/* Characters of an array `why`, with the final 0. */
enum { BITCUT_TEXT_MAX = 240 };

/* Set the stop flag of the calling thread.

   From now on, calls of this thread with an argument `threads` read *stop at intervals.
   Once *stop is not 0, such a call returns before it is done.

   Returns: the previous flag; NULL at first.
   In:      stop: the flag, or NULL, so that calls run to their end.  It must stay valid
                  until another flag is set or the thread ends.
   - A stopped call returns BITCUT_UNSUPPORTED, and `why` is "stopped".
   - bitcut_explain() instead returns what it has found; `complete` is false then.
   - The outputs of a stopped call are what its contract says for a failure.  Outputs of
     bitcut_mma() and bitcut_exact_gemm() are undefined.
   - A signal handler or another thread may set *stop. */
const volatile sig_atomic_t *bitcut_stop_on(const volatile sig_atomic_t *stop);

/* --- tables ----------------------------------------------------------------------- */

struct bitcut_format;   /* number format: f16, bf16, tf32, e4m3, f32, ... */
struct bitcut_rounding; /* rounding rule: rn, rna, rz, ru, rd, odd, cut, sr, ... */
struct bitcut_split;    /* split: markidis, halfhalf, bitcut, ...         */
struct bitcut_quantizer; /* quantizer: fp8-rows, mxfp8, nvfp4, ...        */
struct bitcut_recipe;   /* recipe of a GEMM: plain, ootomo, legemm, ...   */
struct bitcut_scheme;   /* scheme of an FP64 GEMM: ozimmu, gemmul8, ...   */
struct bitcut_function; /* approximate function: ex2.approx.ftz.f32, ...  */
struct bitcut_unit;     /* matrix unit: hopper/mma.m16n8k16.f32.f16, ...  */
struct bitcut_attention_row; /* algorithm of attention: flash-attention-2, ... */

/* Find a format by its name.

   Returns: the row; NULL if no row has this name, or name is NULL.
   In:      name: a name of `bitcut list formats`, or NULL. */
const struct bitcut_format *bitcut_format_find(const char *name);

/* Find a rounding rule by its name.

   Returns: the row; NULL if no row has this name, or name is NULL.
   In:      name: a name of `bitcut list roundings`, or NULL. */
const struct bitcut_rounding *bitcut_rounding_find(const char *name);

/* Find a split by its name.

   Returns: the row; NULL if no row has this name, or name is NULL.
   In:      name: a name of `bitcut list splits`, or NULL. */
const struct bitcut_split *bitcut_split_find(const char *name);

/* Find a quantizer by its name.

   Returns: the row; NULL if no row has this name, or name is NULL.
   In:      name: a name of `bitcut list quantizers`, or NULL. */
const struct bitcut_quantizer *bitcut_quantizer_find(const char *name);

/* Find a recipe by its name.

   Returns: the row; NULL if no row has this name, or name is NULL.
   In:      name: a name of `bitcut list recipes`, or NULL. */
const struct bitcut_recipe *bitcut_recipe_find(const char *name);

/* Find a scheme of FP64 GEMMs by its name.

   Returns: the row; NULL if no row has this name, or name is NULL.
   In:      name: a name of `bitcut list schemes`, or NULL. */
const struct bitcut_scheme *bitcut_scheme_find(const char *name);

/* Find an approximate function by its name.

   Returns: the row; NULL if no row has this name, or name is NULL.
   In:      name: a name of `bitcut list functions`, or NULL. */
const struct bitcut_function *bitcut_function_find(const char *name);

/* Find an algorithm of attention by its name.

   Returns: the row; NULL if no row has this name, or name is NULL.
   In:      name: a name of `bitcut list attentions`, or NULL. */
const struct bitcut_attention_row *bitcut_attention_find(const char *name);

/* Find a unit by its name or by a chip.

   Returns: the unit of this name; for a chip (a100, h100, mi210, ...) its first
            instruction with operands of the format `input` and an f32 accumulator; NULL
            if there is none.
   Args:    input: the operand format; read only if `name` is a chip.
   In:      name:  a name of `bitcut list units` or `bitcut list chips`, or NULL.
   - f32 operands on a chip without such an instruction: the unit fma/f32. */
const struct bitcut_unit *bitcut_unit_find(const char *name,
                                           const struct bitcut_format *input);

/* Return the full name of a unit, as `bitcut list units` prints it.

   Returns: the name.
   Args:    unit: the unit. */
const char *bitcut_unit_name(const struct bitcut_unit *unit) BITCUT_NONNULL(1);

/* Return the shape of the instruction: A is m x k, B is k x n.

   Args: unit:    the unit.
   Out:  m, n, k: the sizes. */
void bitcut_unit_shape(int *m, int *n, int *k, const struct bitcut_unit *unit)
    BITCUT_NONNULL(1, 2, 3, 4);

/* --- walking tables --------------------------------------------------------------- */

/* A table of the library, as `bitcut list` prints it.  A table has rows; a row has a
   name, a purpose and fields.  `bitcut list` also prints tables that belong to the
   program. */
struct bitcut_table; /* units, chips, formats, roundings, splits, recipes, ... */

/* Step to the next table.

   Returns: the table after `table`; NULL after the last one.
   Args:    table: a table, or NULL: the first table is returned. */
const struct bitcut_table *bitcut_table_next(const struct bitcut_table *table);

/* Find a table by its name.

   Returns: the table; NULL if no table has this name, or name is NULL.
   In:      name: the name, or NULL. */
const struct bitcut_table *bitcut_table_find(const char *name);

/* Return the name of a table.

   Returns: the name.
   Args:    table: the table. */
const char *bitcut_table_name(const struct bitcut_table *table) BITCUT_NONNULL(1);

/* Describe the rows of a table.

   Returns: one line on what the rows are.
   Args:    table: the table. */
const char *bitcut_table_what(const struct bitcut_table *table) BITCUT_NONNULL(1);

/* Step to the next row of a table.

   Returns: the row after `row`; NULL after the last one.
   Args:    table: the table.
            row:   a row of this table, or NULL: the first row is returned.
   - A row of "formats" is a struct bitcut_format.  Rows of "roundings", "splits",
     "recipes", "schemes", "functions" and "units" are structs bitcut_rounding,
     bitcut_split, bitcut_recipe, bitcut_scheme, bitcut_function and bitcut_unit,
     respectively.  */
const void *bitcut_row_next(const struct bitcut_table *table, const void *row)
    BITCUT_NONNULL(1);

/* Return the name of a row.

   Returns: the name.
   Args:    row: a row of any table. */
const char *bitcut_row_name(const void *row) BITCUT_NONNULL(1);

/* Describe a row.

   Returns: one line on what the row is.
   Args:    row: a row of any table. */
const char *bitcut_row_what(const void *row) BITCUT_NONNULL(1);

/* The meaning of a field's text. */
enum bitcut_kind {
    BITCUT_NULL,    /* empty: the row does not have the field      */
    BITCUT_BOOL,    /* "true" or "false"                           */
    BITCUT_NUMBER,  /* integer, or real with a '.' or an 'e'       */
    BITCUT_TEXT,    /* the text itself                             */
    BITCUT_NUMBERS, /* several numbers, each on a line ended by \n */
    BITCUT_TEXTS    /* several texts, each on a line ended by \n   */
};

/* Characters of the text of any field, with the final 0. */
enum { BITCUT_FIELD_MAX = 1024 };

/* A field of a row. */
struct bitcut_field {
    const char *name;            /* name, valid for the life of the program */
    enum bitcut_kind kind;       /* meaning of the text                     */
    char text[BITCUT_FIELD_MAX]; /* value, the same in any locale           */
};

/* Read a field of a row.

   Returns: true; false if the row has no more fields.
   Args:    table: the table.
            row:   a row of this table.
            index: position of the field.  All rows of a table have the same names in the
                   same order.
   Out:     field: the field; unchanged if the result is false. */
bool bitcut_row_field(struct bitcut_field *field, const struct bitcut_table *table,
                      const void *row, size_t index) BITCUT_NONNULL(1, 2, 3)
    BITCUT_CHECK_RESULT;

/* Describe a member of a struct below that a function fills in, for callers without a C
   compiler.

   Returns: true; false from the position after the last member on, and for a struct
            without such a table.
   Args:    index:  position of the member.
   In:      name:   name of the struct, such as "bitcut_tolerances", or NULL.
   Out:     member: name of the member, and its type in C as the text: "double" or
                    "size_t[2]"; unchanged if the result is false.
            offset: bytes from the start of the struct; unchanged if the result is false.
   - Members come in no particular order.
   - The first member, `size`, is not described.
   - A size_t stands for every integer type of that size. */
bool bitcut_struct_member(struct bitcut_field *member, size_t *offset, const char *name,
                          size_t index) BITCUT_NONNULL(1, 2) BITCUT_CHECK_RESULT;

/* --- numbers ---------------------------------------------------------------------- */

/* Convert an encoding from one format to another, rounded once.

   Returns: the encoding in `to` of the value that `encoding` has in `from`.
   Args:    to:       format of the result.
            rounding: rounding rule.
            from:     format of the argument.
            encoding: the number; bits above those of `from` are ignored.
   - NaN gives the quiet NaN of `to`.
   - Infinities and overflow give what the rounding rule says.  If `to` has no infinity,
     they give its NaN; if it has no NaN either, they give its largest value.
   - A format without a sign (ue8m0, ue4m3) gives its NaN for negative values, and +0 for
     -0.
   - ue8m0 has no zero.  It gives 2^-127 for values that round to zero.
   - A tie between powers of two goes to the larger one.
   - The rule "sr" rounds away from zero with the probability of the discarded fraction of a
     step, cut to 64 bits.  Its random bits are a function of the value; of an array, see
     below.
   - Source: IEEE 754-2019, section 5.4.2; section 4.3.1 for ties. */
uint64_t bitcut_format_convert(const struct bitcut_format *to,
                               const struct bitcut_rounding *rounding,
                               const struct bitcut_format *from, uint64_t encoding)
    BITCUT_NONNULL(1, 2, 3);

/* Convert an array of encodings, each as bitcut_format_convert() does.

   Returns: BITCUT_OK; BITCUT_BAD_ARGUMENT only for the general causes.
   Args:    to, rounding, from: as for bitcut_format_convert().
            count:      number of elements.
   In:      from_array: `count` encodings.
   Out:     changed:    number of elements whose value changed, or NULL.
            to_array:   `count` encodings.
   - An element has 1, 2, 4 or 8 bytes, the fewest that hold its format.
   - For `changed`, a zero with the other sign is another value; a NaN with other bits is
     not.
   - The random bits of the rule "sr" are a function of the value and of its index, with the
     seed 0.
   - Both arrays may be the same array if their elements have the same size. */
enum bitcut_status bitcut_format_convert_array(size_t *changed, void *to_array,
                                               const struct bitcut_format *to,
                                               const struct bitcut_rounding *rounding,
                                               const void *from_array,
                                               const struct bitcut_format *from,
                                               size_t count) BITCUT_CHECK_RESULT;

/* Count the blocks of a quantizer in a matrix.

   Args:    quantizer: the quantizer.
            lines, k:  size of the matrix.
   Out:     line_blocks, k_blocks: number of blocks along lines and along k. */
void bitcut_quantizer_blocks(size_t *line_blocks, size_t *k_blocks,
                             const struct bitcut_quantizer *quantizer, size_t lines,
                             size_t k) BITCUT_NONNULL(1, 2, 3);

/* What a quantizer keeps of a matrix x.  x' stands for the elements times the scales of
   their blocks and of the matrix, exactly. */
struct bitcut_quantization {
    size_t size;      /* sizeof this struct, as the caller was compiled                 */
    size_t elements;  /* elements of the matrix                                         */
    double error;     /* ||x - x'|| / ||x||, Frobenius norms; 0 if x is zero            */
    double bits;      /* -log2 of `error`; infinite if it is 0                          */
    double retained;  /* mean of the retained bits of elements other than zero, of 24;
                         NaN if x is zero                                               */
    double max_error; /* largest |x - x'| / |x| of these elements; 0 if x is zero       */
    size_t zeros;     /* elements that became zero and were not zero                    */
    size_t saturated; /* elements whose quotient was too large for the format           */
    size_t subnormal; /* elements that became subnormal numbers of the format           */
    double scale_min, scale_max; /* smallest and largest scale of a block; NaN without
                                    blocks                                              */
    double matrix_scale; /* scale of the matrix; 1 if the quantizer has none            */
};

/* Quantize a matrix: A, or B transposed.

   Returns: BITCUT_OK; BITCUT_BAD_ARGUMENT if an element is an infinity or a NaN, or the
            size of the struct is unknown; then nothing is written.
   Args:    quantizer: the quantizer.
            lines, k:  size of x: rows of A or columns of B, and k.
   In:      x: lines x k FP32 encodings, the k of a line one after the other.
   Out:     elements:     lines x k FP32 encodings of values of the element format, or
                          NULL.  May be x.
            scales:       FP32 encodings of values of the scale format, [block of
                          lines][block of k], or NULL.
            matrix_scale: FP32 encoding of the scale of the matrix; 1 if the quantizer has
                          none.  Or NULL.
            kept:         what the quantizer keeps of x, or NULL.
            why:          text for people, or NULL.
   - x is approximately element times scale of its block times matrix_scale.
   - The element is the quotient of x and (scale times matrix_scale), both rounded to FP32,
     rounded to the element format, to nearest even.  Quotients above the largest value
     become the largest value.
   - A block of zeros has the scale 1.  A scale that would round to 0 is the smallest value
     above 0.  A scale that is too large is the largest value of its format.
   - An element retains 24 bits if it is exact.  Otherwise it retains 23 - floor(log2 of its
     error in ulps of x) bits, at least 0, as bitcut_split_measure() counts them.
   - Elements of integer formats have no subnormal numbers.
   - `bitcut list quantizers` has the formats, the blocks, the rule for scales, and the
     source of each quantizer.
   - In a GEMM, scale_a and scale_b take the scales, with `lines` and `depth` of the row;
     alpha takes the product of the scales of the matrices. */
enum bitcut_status bitcut_quantize(uint32_t *elements, uint32_t *scales,
                                   uint32_t *matrix_scale,
                                   struct bitcut_quantization *kept,
                                   const struct bitcut_quantizer *quantizer,
                                   const uint32_t *x, size_t lines, size_t k,
                                   char why[BITCUT_TEXT_MAX]) BITCUT_CHECK_RESULT
    BITCUT_NONNULL(5);

/* Split an FP32 value into parts, the high part first.

   Returns: the number of parts, 1 to 3.
   Args:    split: the split.
            x:     FP32 encoding.
   Out:     part:  encodings of the parts, each in the format of its part.
   - A part of level l carries the factor 2^(l s), where s is the scale of the split.
   - x is approximately the sum of the parts, without this factor and without copies.
   - `bitcut list splits` has the levels, the copies and the format of each part. */
int bitcut_split_apply(uint64_t part[3], const struct bitcut_split *split, uint32_t x)
    BITCUT_NONNULL(1, 2);

/* Split an array of FP32 values, each as bitcut_split_apply() does.

   Returns: BITCUT_OK; BITCUT_BAD_ARGUMENT only for the general causes.
   Args:    split: the split.
            count: number of values.
   In:      x:     `count` FP32 encodings.
   Out:     array: array[w][i] is part w of x[i].
   - An element has 1, 2, 4 or 8 bytes, the fewest that hold the format of its part.
   - array[w] may be NULL: part w is not written.
   - array[w] is not read if the split has no part w. */
enum bitcut_status bitcut_split_array(void *const array[3],
                                      const struct bitcut_split *split, const uint32_t *x,
                                      size_t count) BITCUT_CHECK_RESULT;

/* Measure what a split retains of FP32 values, for each exponent.

   Returns: BITCUT_OK.
            BITCUT_BAD_ARGUMENT: not -127 <= from <= to <= 127, or negative threads.
            BITCUT_NO_MEMORY.
   Args:    count:    number of measures.
            split:    the split.
            unit:     the unit that reads the parts, or NULL.  If the unit flushes inputs
                      below the normal range of their format to zero, parts are flushed.
                      NULL: they are not flushed.
            from, to: the exponents, from <= e <= to.  The range is -127 to 127, where
                      -127 stands for zero and values below 2^-126.
            elements: number of values in x; not read if x is NULL.
            threads:  number of threads.
   In:      x:        FP32 encodings of any sign, or NULL: all 2^23 positive values of
                      each exponent.
   Out:     values:   (to - from + 2) count numbers.  Measure p < count of exponent e is
                      values[(e - from) count + p].  After them, the last row has measure
                      p of all exponents together.
            why:      the reason.
   - bitcut_split_measure_name() names the measures; `bitcut split` prints them, and the
     manual describes them.
   - NaN: the exponent has no values; the measure is an error and all values overflow; the
     measure is a theory that does not hold; or p is beyond the last measure.
   - "zeros", "infinite" and "nan" count all elements of x.  They stand in the last row.
   - With x, "count" excludes zeros, infinities and NaN, and exponent -127 has no zeros.
   - The numbers are the same for any number of threads.
   - If the result is not BITCUT_OK, values are undefined. */
enum bitcut_status bitcut_split_measure(double *values, size_t count,
                                        const struct bitcut_split *split,
                                        const struct bitcut_unit *unit, int from, int to,
                                        const uint32_t *x, size_t elements, int threads,
                                        char *why) BITCUT_CHECK_RESULT;

/* Name a measure of bitcut_split_measure().

   Returns: a key of `bitcut split` ("count", "exact", "bits", "max_ulp", ...); NULL from
            the position after the last measure on.
   Args:    p: position of the measure. */
const char *bitcut_split_measure_name(size_t p);

/* Compute an approximate function of NVIDIA GPUs, to the bit.

   Returns: BITCUT_OK; BITCUT_BAD_ARGUMENT only for the general causes.
   Args:    function: the function, a PTX instruction such as ex2.approx.ftz.f32.
            count:    number of elements.
   In:      x: `count` encodings in the format of the function.
   Out:     y: `count` encodings in the same format.  May be x.
   - An element has 2, 4 or 8 bytes, as many as the format.
   - The results are those of the GPU for every argument, special values included; the
     field "evidence" of `bitcut list functions` says for which arguments they were
     recorded.
   - NaN gives 0x7fffffff; a format of 16 bits gives 0x7fff, f64 0x7fffffff00000000.
   - With .ftz, except of sin, cos and tanh, a subnormal argument is taken as a zero with its
     sign, and a subnormal result is a zero with its sign.  Without .ftz, subnormals are
     preserved.
   - ex2: +Inf for +Inf, +0 for -Inf, 1 for zeros and subnormals.
   - rcp: infinite for a zero, zero for an infinity, with the sign of x.
   - rsqrt: +Inf for +0, -Inf for -0, +0 for +Inf, NaN for x < 0.
   - sqrt: x for zeros and +Inf, NaN for x < 0.
   - lg2: -Inf for zeros, +Inf for +Inf, NaN for x < 0, +0 for 1.
   - sin, cos: NaN for infinities.  Subnormals are multiplied by 1 / (2 pi), then truncated
     to a multiple of 2^-25.
   - tanh: x itself for |x| < 2^-8, also a subnormal or a zero; 1 with the sign of x for
     |x| >= 8.
   - f64: only the upper half of x is read, and the lower half of the result is 0.
   - Source: results of all arguments on an NVIDIA H200 (data/mufu).  Oberman and Siu, "A
     high-performance area-efficient multifunction interpolator", ARITH-17 (2005), has the
     structure: a table, a quadratic polynomial, a truncated square. */
enum bitcut_status bitcut_function_apply(void *y, const struct bitcut_function *function,
                                         const void *x, size_t count) BITCUT_CHECK_RESULT;

/* Compute Philox 4x32-10, the random generator of every input family.

   Out: output:  four 32-bit numbers.
   In:  counter: the counter.
        key:     the key.
   - Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC'11. */
void bitcut_philox(uint32_t output[4], const uint32_t counter[4], const uint32_t key[2])
    BITCUT_NONNULL(1, 2, 3);

/* --- one GEMM --------------------------------------------------------------------- */

/* Value of a number that is left open; 0 has another meaning. */
enum { BITCUT_UNSET = -1 };

/* Order of the elements of a matrix in memory. */
enum bitcut_layout {
    BITCUT_ROW_MAJOR,   /* row by row       */
    BITCUT_COLUMN_MAJOR /* column by column */
};

/* A matrix of a GEMM, or one matrix for each GEMM of a batch, either at a stride or by an
   array of pointers.
   - An element is an encoding of the format.  It has 1, 2, 4 or 8 bytes, the fewest that
     hold the format, and is aligned to its size.
   - A transposed matrix is the same memory with the other layout.
   - Of D, only the elements are written. */
struct bitcut_matrix {
    union {
        const void *at; /* first matrix                                                 */
        void *to;       /* first matrix, for D                                          */
    };
    union {
        const void *const *each; /* one pointer for each GEMM, or NULL; if set, `at`
                                    and `stride` are not read                           */
        void *const *each_to;    /* the same, for D                                     */
    };
    const struct bitcut_format *format; /* format of the elements; NULL: f32            */
    enum bitcut_layout layout;          /* order of the elements                        */
    size_t ld;     /* leading dimension: elements from the start of one row (row-major)
                      or column (column-major) to the next; 0: no gaps                  */
    size_t stride; /* elements from one matrix to the next; 0: all GEMMs share one
                      matrix                                                            */
    const void *prepared; /* prepared parts of A or B on a device, as
                             bitcut_gemm_prepare() writes them, or NULL; if set, no
                             member above is read                                       */
    size_t prepared_stride; /* bytes from the prepared parts of one matrix to the next  */
};

/* Order in which partial sums that were computed independently are added, in FP32 rounded
   to nearest. */
enum bitcut_reduction {
    BITCUT_ASCENDING,  /* the first and the second sum, then the third, ...             */
    BITCUT_DESCENDING, /* the last sum and the one before it, then the next one before,
                          ...                                                           */
    BITCUT_TREE,       /* neighbours, then neighbours of the results, ...; a sum
                          without a neighbour waits                                     */
    BITCUT_HALVES      /* sums i and i + h, where h is the largest power of two below
                          the number of sums; then the same with h / 2, ..., 1; a sum
                          i < h without a sum i + h waits.  So the lanes of a warp are
                          added by shuffles (down or xor)                               */
};

/* The most lanes whose order an order of k can list. */
enum { BITCUT_LANE_ORDER_MAX = 16 };

/* The order in which the products of one output are added, beyond what recipe and unit
   define.  All zeros mean: k ascending, one sum.
   - k-step: as many k as the instruction has; with several instructions, as many as the
     largest one has.  Missing k are padded with +0.
   - Tiles: k is divided into tiles of `tile` k.  Each tile begins at a multiple of
     `tile`.  The partial tile of k mod tile elements, if any, is the last tile.  With
     `partial_first` it is the first tile, and multiples count from the end of k.
   - Slices: each slice has ceil(tiles / slices) tiles; the last slice takes the
     remainder.  There may be fewer slices than requested.
   - `cut` > 0: the length of each slice is a multiple of `cut` instead; the last slice
     takes the remainder.  Tiles and the partial tile restart in each slice.
   - `balance_tail` > 0: tiles and the partial tile restart in each slice, too.  If the
     last slice would be shorter than the others, it and the slice before it share their k
     in two halves.  The earlier slice takes the larger half if `balance_tail` is 1;
     otherwise it takes the smaller half, rounded up to a multiple of `balance_tail`.  It
     is never longer than the slices before it.
   - Lanes: in a slice, chunks of `chunk` k go to lane 0, 1, ..., and then to lane 0
     again.  A partial tile takes the chunks of a whole tile.
   - Sums: each lane of each slice is computed independently from +0, as the recipe
     defines for slices (`bitcut list recipes`).  Then the lanes of every slice are
     reduced, and then the slices: both by `reduction`, or the slices by BITCUT_ASCENDING
     with `slices_ascending`.
   - `lane_order`: the reduction of lanes takes lane lane_order[0] as its first sum, then
     lane_order[1], and so on.  All zeros: 0, 1, 2, ...  Otherwise it lists each of the
     `lanes` lanes once, and further elements are 0.  Lanes without k are left out of any
     reduction.
   - `unroll` > 0: the order of a loop that is unrolled by rounds of `unroll` k, and of
     the loop after it for the remainder.  In each slice the lanes share the k of whole
     rounds, that is the first floor(length / unroll) unroll of its k, and are reduced.
     Then the remaining k are added, one k-step after the other, by an accumulator that
     starts from the reduced sum, rounded to nearest even of the accumulator's format.
     Without a whole round it starts as a first lane does.  With one lane, or without a
     remainder, this changes nothing.
   - `narrow` > 0: with `unroll`, a second loop with fewer sums follows the rounds.  The
     reduction of the lanes stops when `narrow` sums remain.  They are numbered in their
     order: with BITCUT_TREE, sum 0 has the lanes that are taken first; with BITCUT_HALVES,
     sum i has the lane that is taken i-th.  Whole rounds of `narrow` chunks of the
     remaining k go to these sums as k go to lanes, and each sum continues from its value.
     Then the reduction is completed, and the k that still remain are added to its result.
     `lanes` and `narrow` are powers of two, narrow < lanes, the reduction is BITCUT_TREE or
     BITCUT_HALVES, and a round has k for every lane.
   - `narrow_apart`: with `narrow`, loops with lanes, lanes / 2, lanes / 4, ..., `narrow`
     lanes follow the rounds, each with as many chunks for each of its lanes as the
     remaining k have.  Each has sums of its own from +0, which are reduced like the lanes,
     by `lane_order` without larger lanes, and are then added to the sum so far.  The k
     that still remain are added to the result.
   - `remainder_in_lane`: with `unroll`, the remaining k are added by lane 0 after its own
     k, before the lanes are reduced.  It excludes `narrow`.
   - `unroll` requires a recipe with one accumulator that is neither scaled nor cleared,
     unless `remainder_in_lane` is set, and excludes `partial_first`.
   - Rounding: the sum of each lane, and every sum of two, is FP32 rounded to nearest
     even.  With `partial_format` it is rounded once more, to nearest even of that format.
     For f16 and bf16 this equals an addition in that format.  With `unroll`, a sum
     after remaining k is rounded like the sum of a lane.
   - `partial_store`: partial_format is the format of a workspace that stores the sums of
     slices.  The sum of each slice is rounded to it once, after its lanes and its
     remaining k were added, and every addition is FP32.  Without a partial_format it has
     no effect. */
struct bitcut_order {
    int slices;         /* number of slices of k (split-K); 0: 1                       */
    int tile;           /* k of a tile, rounded up to a multiple of the k-step; 0: one
                           k-step                                                      */
    bool partial_first; /* whether the partial tile is the first one                   */
    int cut;            /* divisor of the length of slices; 0: slices consist of tiles */
    int balance_tail;   /* divisor of the last slice but one; 0: the last two slices
                           are not balanced                                            */
    int lanes;          /* number of sums in a slice, see Lanes above; 0: 1            */
    int chunk;          /* k that a lane takes in a row, rounded up to a multiple of
                           the k-step; 0: one k-step                                   */
    enum bitcut_reduction reduction; /* order of the sums of lanes, and of slices      */
    const struct bitcut_format *partial_format; /* format of these sums; NULL: f32     */
    bool partial_store; /* whether only the stored sums of slices have partial_format  */
    unsigned char lane_order[BITCUT_LANE_ORDER_MAX]; /* order of the lanes, see above  */
    int unroll;         /* k of a round of an unrolled loop, rounded up to a multiple of
                           the k-step; 0: no such loop                                 */
    int narrow;         /* sums of the loop after it; 0: no second loop                */
    bool remainder_in_lane; /* whether lane 0 adds the k after the rounds              */
    bool narrow_apart;      /* whether loops with fewer sums have sums of their own    */
    bool slices_ascending;  /* whether slices are added by BITCUT_ASCENDING            */
};

/* Characters of the line of any order, with the final 0. */
enum { BITCUT_ORDER_MAX = 352 };

/* Parse an order from a line, as option --order of `bitcut gemm` does.

   Returns: BITCUT_OK.
            BITCUT_BAD_ARGUMENT: an item is unknown, or its value is invalid.
   In:      line:  items with commas between them, such as
                   "slices=2,tile=32,partial-first,reduction=tree".
   In/Out:  order: the order.  Members that the line does not name are unchanged.
   Out:     why:   the reason.
   - The items are the members of the struct.
   - `partial_first` and `partial_store` are "partial-first" and "partial-store", without
     a value.
   - The value of "lane-order" is a list of lanes such as "0.2.1".
   - The value of "partial-format" is the name of a format.
   - On failure, *order is unchanged. */
enum bitcut_status bitcut_order_read(struct bitcut_order *order, const char *line,
                                     char *why) BITCUT_CHECK_RESULT;

/* Write the line of an order, from which bitcut_order_read() makes the same order.

   In:  order: the order.
   Out: line:  the members that differ from an order of all zeros; empty for all zeros. */
void bitcut_order_write(char line[BITCUT_ORDER_MAX], const struct bitcut_order *order)
    BITCUT_NONNULL(1, 2);

/* A step of an epilogue.  It changes the sum of an output, v, which is an FP32 value.
   Every operation is rounded to nearest even in FP32. */
enum bitcut_step {
    BITCUT_STEP_END,      /* the list ends                                              */
    BITCUT_STEP_FUSED,    /* SCALES if there are factors and `scaling` is
                             BITCUT_SCALING_EPILOGUE; ALPHA; C unless accumulators start
                             from C; BIAS if there is a bias and no accumulator starts
                             from it                                                    */
    BITCUT_STEP_ALPHA,    /* v = alpha v                                                */
    BITCUT_STEP_C,        /* v = beta c + v, rounded once                               */
    BITCUT_STEP_ALPHA_C,  /* v = alpha v + beta c; beta c is rounded first, then the sum,
                             once; beta c is +0 where beta is +-0                       */
    BITCUT_STEP_SCALES_C, /* the same with ((alpha s_a) s_b) instead of alpha; each of
                             the two products is rounded                                */
    BITCUT_STEP_C_APART,  /* v = v + beta c; beta c is rounded before the addition      */
    BITCUT_STEP_C_SHORT,  /* v = v + beta c; beta c is rounded to FP32, and then to the
                             format of D, before the addition                           */
    BITCUT_STEP_BIAS,     /* v = v + the bias of the row or column                      */
    BITCUT_STEP_SCALES,   /* v = v (s_a s_b), with the factors of the row and of the
                             column; their product is rounded first                     */
    BITCUT_STEP_SCALE_A,  /* v = v s_a                                                  */
    BITCUT_STEP_SCALE_B,  /* v = v s_b                                                  */
    BITCUT_STEP_SCALE_D,  /* v = v scale_d                                              */
    BITCUT_STEP_RELU,     /* v = +0 unless v > 0; NaN stays                             */
    BITCUT_STEP_CLAMP,    /* v = the nearest value from clamp_low to clamp_high; NaN
                             stays                                                      */
    BITCUT_STEP_ROUND,    /* v is rounded to the format of D                            */
    BITCUT_STEP_SATURATE, /* a v beyond the largest value of the format of D becomes
                             that value with the sign of v; NaN stays                   */
    BITCUT_STEP_AMAX,     /* *amax = the largest |v| of all outputs, NaN excluded; v
                             stays                                                      */
    BITCUT_STEP_FLOAT,    /* v, an s32 sum of a GEMM of integers, becomes an FP32 value,
                             to nearest even; see "Integers" below                      */
    BITCUT_STEP_ZEROS,    /* v, an s32 sum, is corrected by the zero points of A and B,
                             modulo 2^32: v - zero_b sum_p a_p - zero_a sum_p b_p +
                             k zero_a zero_b                                            */
    BITCUT_STEP_ZERO_D    /* v = v + zero_d, of an s32 sum modulo 2^32                  */
};

/* Largest number of steps of an epilogue, with the final BITCUT_STEP_END. */
enum { BITCUT_EPILOGUE_MAX = 16 };

/* Where the factors of A and B are applied.  s_a and s_b are the factors of the row of A
   and of the column of B, and of the block of k. */
enum bitcut_scaling {
    BITCUT_SCALING_EPILOGUE, /* by the steps of the epilogue; all k have one factor     */
    BITCUT_SCALING_OPERAND,  /* each element of A and B is multiplied by its factor,
                                rounded to FP32, before the split                       */
    BITCUT_SCALING_UNIT,     /* by the instruction, which has block scales              */
    BITCUT_SCALING_PROMOTED, /* at each promotion, register = (s_a s_b) v + register,
                                where v is the sum of the accumulator.  s_a s_b is
                                rounded first, then the result, once                    */
    BITCUT_SCALING_PROMOTED_APART, /* the same, but (s_a s_b) v is rounded before the
                                      addition                                          */
    BITCUT_SCALING_PROMOTED_TURNS, /* the same, but (v s_a) is rounded, and register =
                                      (v s_a) s_b + register is rounded once            */
    BITCUT_SCALING_PROMOTED_TURNS_B /* the same with s_b first: (v s_b) s_a             */
};

/* Factors of the elements of A or of B, one for each block.
   - Factors of A are a matrix of ceil(m / lines) x ceil(k / depth), factors of B one of
     ceil(k / depth) x ceil(n / lines); where `lines` or `depth` is 0, there is one.
   - The format must have values that f32 can represent; with BITCUT_SCALING_UNIT it is
     the format of the unit's scales.
   - With BITCUT_SCALING_UNIT, blocks without any k that complete the last k-step have the
     factor 1. */
struct bitcut_scales {
    struct bitcut_matrix at; /* the factors; no factors if `at` and `each` are NULL     */
    size_t lines; /* rows of A, or columns of B, that share a factor; 0: all of them    */
    size_t depth; /* k that share a factor; 0: all of them                              */
};

/* Whether A is 2:4 sparse, see "Sparsity" below. */
enum bitcut_sparsity {
    BITCUT_DENSE,       /* every element of A is multiplied                             */
    BITCUT_SPARSE_A,    /* A is m x k, and two elements of each four of k are kept      */
    BITCUT_COMPRESSED_A /* A is m x k/2: the kept elements alone                        */
};

/* What the accumulators of an output start from. */
enum bitcut_start {
    BITCUT_START_ZERO, /* +0                                                            */
    BITCUT_START_C,    /* accumulator 0 of the first lane of the first slice starts from
                          beta c, rounded to FP32 and then to the accumulator's format  */
    BITCUT_START_BIAS, /* the same, from the bias                                       */
    BITCUT_START_SLICE_C,   /* beta c, rounded, is added to the sum of the first lane of
                               the first slice before sums are reduced                  */
    BITCUT_START_SLICE_BIAS /* the same with the bias                                   */
};

/* D = alpha A B + beta C for a batch of `count` GEMMs: A is m x k, B is k x n, C and D
   are m x n.  Each size may be 0.  "Epilogue" below says what may follow or replace alpha
   and beta C.
   - bitcut_gemm_init() leaves every member open.  The caller must set the recipe or a
     kernel, the sizes and the matrices.
   - The emulator and a device take the same filled struct.  They give the same bits
     wherever the unit is the same.
   - The row of the recipe decides what is left open, or the device chooses it.  Calls
     return the GEMM as it ran, with nothing open.  Where roundings are NULL in that GEMM,
     the roundings of the splits apply.
   - A, B and C have formats whose values f32 can represent.
   - If the format of D cannot represent an f32 result, the result is rounded once more,
     to nearest even.  A NaN in D has the leading bits of the unit's NaN in f32.
   - beta = +-0: C is never read.
   - D may be C: the same memory and format, or the same pointers.  D must not overlap
     other memory that is read.  Two matrices of D must not overlap.
   - Nothing between the rows or columns of D is written. */
struct bitcut_gemm {
    size_t size; /* sizeof this struct, as the caller was compiled                      */

    const struct bitcut_recipe *recipe; /* the recipe; NULL: the kernel's               */
    const struct bitcut_split *split_a, *split_b; /* splits of A and B; NULL: the
                                                     recipe's; a recipe without a split
                                                     has one part in the operand format
                                                     of the unit                        */
    const struct bitcut_rounding *high, *low; /* rounding rules of the parts; NULL:
                                                 the rules of the splits                */
    int round_seed; /* seed of the rounding rule "sr", 0 or more                        */
    int scale;        /* low parts carry 2^scale; BITCUT_UNSET: the scale of the splits */
    int dropped_term; /* product of two low parts: 1 computed, 0 dropped; BITCUT_UNSET:
                         as the recipe                                                  */
    int promote;      /* instructions of accumulator 0 between promotions, 0: never;
                         BITCUT_UNSET: as the recipe                                    */
    int tile_k;       /* k that a term covers before the next term, 0: one k-step;
                         BITCUT_UNSET: as the recipe                                    */
    bool equilibrate; /* whether rows of A and columns of B are scaled by powers of two
                         before the split, see "Equilibration" below                    */
    bool any_promotion; /* whether a device may promote less often if that is faster, at
                           every 4th promotion of the recipe or more often; the bits
                           change; the error is similar                                 */
    bool any_slices; /* whether a device may choose the slices of k if that is faster and
                        `order` has none; the bits change; the error is similar, because
                        sums are shorter                                                */
    struct bitcut_order order; /* order of k                                            */

    const struct bitcut_unit *unit; /* unit of the product of the high parts, see "Units
                                       of a recipe" below; NULL: the unit of the kernel,
                                       or a unit that the device chooses                */
    const char *kernel; /* name of a kernel, or NULL; excludes a unit                   */

    size_t count, m, n, k; /* number of GEMMs, initially 1, and their sizes             */
    uint32_t alpha, beta;  /* FP32 encodings, initially 1 and 0                         */
    struct bitcut_matrix a, b, c, d; /* the matrices                                    */

    unsigned char epilogue[BITCUT_EPILOGUE_MAX]; /* steps (enum bitcut_step), ended by
                                                    BITCUT_STEP_END, see "Epilogue"
                                                    below; no steps: FUSED              */
    struct bitcut_matrix bias; /* 1 x n: a bias for each column of D; no bias if `at` and
                                  `each` are NULL                                       */
    bool bias_rows;            /* the bias is 1 x m: one for each row of D              */
    enum bitcut_start start;   /* what accumulators start from                          */
    enum bitcut_scaling scaling;            /* where the factors are applied            */
    struct bitcut_scales scale_a, scale_b;  /* factors of A and B                       */
    uint32_t scale_d;               /* FP32 encoding, initially 1                       */
    uint32_t clamp_low, clamp_high; /* FP32 encodings, initially -inf and +inf; no NaN */
    uint32_t *amax; /* where step AMAX writes an FP32 encoding for each GEMM, or NULL   */
    const struct bitcut_rounding *sum_rounding; /* rounding rule of every step of the
                                                   units, see "Rounding of sums" below;
                                                   NULL: the units' own                 */
    int32_t zero_a, zero_b; /* zero points: A stands for A - zero_a, B for B - zero_b, see
                               "Integers" below                                         */
    int32_t zero_d;         /* the zero point of D, for the step ZERO_D                 */
    const int32_t *offsets; /* the ends of `count` groups of rows, or of k, see "Groups"
                               below, or NULL                                           */
    enum bitcut_sparsity sparsity;  /* whether A is 2:4 sparse                          */
    struct bitcut_matrix positions; /* m x k/2 of the format u8: positions of the kept
                                       elements of A; no positions if `at` and `each` are
                                       NULL                                             */
    bool offsets_of_k; /* the offsets are ends of groups of k, see "Groups of k" below;
                          no effect without offsets                                     */
    const struct bitcut_scheme *scheme; /* the scheme of an FP64 GEMM, see "FP64" below;
                                           NULL: an FP32 GEMM                           */
    int parts; /* parts of an element in a scheme; BITCUT_UNSET: as the scheme          */
    double alpha_f64, beta_f64; /* the factors of an FP64 GEMM, initially 1 and 0       */
};

/* FP64.  With a `scheme`, the GEMM is an FP64 GEMM on matrix units for short numbers:
   elements of A and B are cut into `parts` parts, products of parts are computed by
   `unit`, and everything else is FP64, rounded to nearest even.
   - D = alpha A B + beta C, where alpha and beta are alpha_f64 and beta_f64: t = alpha v
   is rounded, then D = beta c + t, once.  If beta is +-0, D = t and C is not read.
   - A, B and C have formats whose values f64 can represent; D has the format f64.
   - The parts have one format, which the operands of `unit` represent.  A unit of
   integers whose sums are taken modulo 2^32 gives exact sums of products.  Other units
   round as they do.  k is limited so that exact sums fit the accumulators; the format of
   the scheme "fp64" is f64, and its unit an FP64 unit.
   - The scheme "cublas-dynamic" has at most `parts` parts: as many as A and B require.
   The GEMM that ran has their number; of a batch, the largest.
   - `recipe` is NULL.  Every member that only FP32 GEMMs have is left open: splits,
     roundings, order, promotion, epilogue, bias, factors, start, zero points, groups,
     sparsity, alpha and beta.
   - NaN are those of the unit fma/f64.  Elements that are NaN or infinite are cut as the
     library of the scheme cuts them, and need not give NaN or infinity.
   - bitcut_gemm(), bitcut_gemm_verify(), bitcut_gemm_judge(), bitcut_gemm_read(),
     bitcut_gemm_write(), bitcut_budget(), bitcut_bound(), bitcut_tolerance() and
     bitcut_tolerance_judge() take schemes, and bitcut_gemm_choose(),
     bitcut_gemm_method(), bitcut_gemm_workspace() and bitcut_gemm_start() if the device
     has a kernel of the scheme (`bitcut list fp64-kernels`), which takes matrices in f64
     at strides and no slices of k.  `unit` may then be NULL, or a unit of the device with
     the same formats.  The GEMMs of a batch start one after the other, in the workspace
     of one.  Other calls refuse schemes.
   - bitcut_gemm_judge() also takes a D in f64 without recipe and scheme.  Its metrics are
     in u = 2^-53, and grades compare D with FP64 multiply-adds on the same data.
   - Source: that of the scheme (`bitcut list schemes`). */

/* Sparsity.  A 2:4 sparse A keeps two elements of each four elements of a row whose k are
   4 q to 4 q + 3.  Only kept elements are multiplied, as by the instructions mma.sp and
   wgmma.sp.
   - Kept element p of a row, counted from 0, has k = 4 floor(p / 2) + its position.
     Positions are 0 to 3, and the second position of a four is above the first.
   - BITCUT_SPARSE_A without positions: at most two elements of a four differ from +-0.
     They are kept.  Of a four with fewer, the last zeros are kept, too.
   - BITCUT_SPARSE_A with positions: elements that are not kept are not read.
   - BITCUT_COMPRESSED_A has positions.
   - k is a multiple of 4.
   - The GEMM sums the k/2 kept elements of a row, p ascending, as a GEMM of k/2 sums its
     k.  So a k-step of 16 takes 16 kept elements, which are 32 k; `promote`, `tile_k` and
     the numbers of the order count kept elements.
   - B is split and equilibrated as a whole.  Random bits of the rule "sr" in splits are
     functions of p for A, and of k for B.
   - An element that is not kept adds nothing, also where B is infinite or NaN.  A kept
     zero times an infinity is NaN.
   - The exact result of such a GEMM is that of the kept elements.  Norms of columns of B
     in metrics, and the error of parts, are those of the whole B.
   - All k share the factors of A and of B, and there are no zero points of A or B.
   - For a sparse B, multiply the transposed matrices: the sparse matrix is A then.
   - bitcut_gemm(), bitcut_gemm_verify(), bitcut_gemm_judge(), bitcut_bound(),
     bitcut_budget(), bitcut_tolerance(), bitcut_tolerance_judge(), bitcut_explain(),
     bitcut_explain_pair() and bitcut_advise() take a sparse A.  Other calls, and devices,
     refuse it.
   - Source: PTX ISA 8.7, section 9.7.14.6, "Matrix multiply-accumulate operation using
     mma.sp instruction with sparse matrix A".  Which zeros are kept, and the order of the
     sum: recordings of cuSPARSELt 0.8 on an H200 (the manual, "Sparse matrices"). */

/* Groups.  With `offsets`, GEMM i of `count` has rows offsets[i - 1] to offsets[i] - 1 of
   A, C and D, where offsets[-1] stands for 0; so A is m x k, C and D are m x n, where m is
   the number of rows of all groups, and B is one k x n matrix for each group.
   - offsets ascends, and ends with m.  A group may be empty.
   - A, C, D, and a bias or factors of rows, have no stride and no array of pointers.
   - A group consists of blocks of factors of A, except the last one.
   - This is the grouped GEMM of torch._grouped_mm, with a 2-D A and a 3-D B.
   - bitcut_gemm(), bitcut_gemm_verify(), bitcut_gemm_judge(), bitcut_tolerance(),
     bitcut_tolerance_judge(), bitcut_explain(), bitcut_bound() and bitcut_budget() take
     groups; the last two compute one group, which has its own m or k.  Other calls, and
     devices, refuse them.

   Groups of k.  With `offsets_of_k`, GEMM i of `count` has columns offsets[i - 1] to
   offsets[i] - 1 of A, and these rows of B; so A is m x k and B is k x n, where k is the sum
   of the groups' k, and C and D are one m x n matrix for each group.
   - offsets ascends, and ends with k.  The sum of an empty group is +0 in each output, as
     for k = 0.
   - Each group is computed as a GEMM of its own: its k is counted from the group's start,
     by slices, tiles, promotions and the random bits of "sr" alike.
   - A and B have no stride and no array of pointers.  C belongs to all groups if it has
     neither.  Factors that depend on k have neither; each group begins with a block of them.
   - A is not sparse.  Where k of integers has a limit, the limit holds for the whole k.
   - This is the grouped GEMM of torch._grouped_mm, with a 2-D A and a 2-D B, which gives the
     gradients of the weights of a mixture of experts.
   - The calls that take groups take groups of k. */

/* Epilogue.  The sum of an output is v, after the sums of slices are added and the
   equilibration is undone.  The steps of `epilogue` change v, one after the other.  Then v
   is rounded to the format of D, to nearest even.
   - Without steps, the only step is FUSED.
   - `bitcut list epilogues` has named lists with their sources.
   - A step whose operand is missing is refused: BIAS without a bias, SCALES without
     factors.  Of SCALES, a missing s_a or s_b is 1.
   - An operand that no step reads is refused: a bias, factors, alpha other than 1, beta
     other than +-0, scale_d other than 1, clamp_low or clamp_high that is finite, amax,
     a zero_a, zero_b or zero_d other than 0.
   - alpha = 1 changes no v.  A step C with beta = +-0 changes no v and does not read C.
   - A NaN is the NaN of the unit's FP32 results after every step.
   - With factors at promotions, the recipe has one accumulator; k is promoted at least
     at the end of each block of k; tiles (`tile_k`) divide the blocks.  If `promote` and
     tile_k are 0, tile_k is the depth of a block.
   - Devices compute "fused" with alpha and beta C alone; they refuse everything else. */

/* Integers.  On a unit of integers, whose accumulator is s32, no FP32 value takes part
   until BITCUT_STEP_FLOAT.
   - A and B have the format of the unit's operands, or values that are rounded to it, to
     nearest, and limited to its range.  The recipe is plain; slices and lanes of k are
   the only variation.
   - Sums are exact modulo 2^32, or limited to the range of s32 after each instruction and
     each addition of slices, as the unit does.  Modulo 2^32 the order does not matter.
   - A list without BITCUT_STEP_FLOAT begins with it if D has no integers or there are
     factors.  Before it, the steps ALPHA, C, ALPHA_C, C_APART, BIAS and RELU compute
     modulo 2^32, SATURATE limits to the range of the format of D, and other steps are
     refused; alpha and beta are integers, and C and the bias have integers (s8, u8, s16
   or s32).  After it, steps are those of FP32.
   - With zero points of A or B, the sum is that of (a - zero_a) (b - zero_b) modulo 2^32:
     the step ZEROS corrects the unit's sum, which is of a b.  A list without ZEROS begins
     with it.  Source: Jacob et al. 2018, arXiv 1712.05877, equation 7.
   - D of an s32 is taken modulo 2^bits of its format.  D of an FP32 value is, in a format
     of integers, rounded to nearest even and taken modulo 2^bits; NaN gives 0.  SATURATE
     limits to the range before.  s32 requires a v that is no FP32 value.
   - bitcut_gemm(), bitcut_gemm_verify() and bitcut_explain() take integers.
     bitcut_gemm_judge(), bitcut_bound(), bitcut_budget(), bitcut_tolerance(),
     bitcut_tolerance_judge() and bitcut_advise() take them if FLOAT is the first step except ZEROS, D has no integers, accumulators start
     from zero, and zero points are at most 2^22 in magnitude: the exact sum is that of
     (a - zero_a) (b - zero_b), and only FLOAT and the steps after it round.  Other calls
     refuse them.
   - Source: the unit's; of alpha and beta, cuBLAS, CUBLAS_COMPUTE_32I with scale type
     CUDA_R_32I, whose alpha and beta are int32. */

/* Rounding of sums.  With `sum_rounding`, each step of an instruction rounds its sums,
   and its products if it rounds them, by this rule instead of the rule of its unit.
   - The rule is one of rn, rna, rz, ru, rd, odd and sr: a rule that flushes, saturates or
     looks at a bit is refused.  What overflows and what is flushed is as in the unit.
   - Sums of integers are exact under every rule.
   - The rule does not apply to bits that a unit cuts when it aligns terms, to an addition
     of C at the end of an instruction, to promotions, and to sums of lanes and slices.
   - The random bits of "sr" are a function of round_seed, of the row and the column of
     the output, of the term, of the k of the first product of the instruction, of the
     number of values that the instruction rounded before, and of the value.  So the result
     does not depend on the number of threads.  All GEMMs of a batch have the same seed.
   - Devices do not compute it. */

/* Units of a recipe.  The parts of one split may have several formats.
   - The unit takes the high parts and other parts of the same format.  If its operand is
     wider than the high part, it takes every part that its operand holds.
   - A product with another part runs on the first unit of `bitcut list units` that has
     exactly the formats of its two parts, the same architecture and family (the name up
     to its first '.', such as hopper/mma), the same accumulator format and no block
     scales.  So `unit` determines all units; bitcut_gemm_unit() names them.
   - A k-step has the largest k of these units.  The others execute as many instructions
     as make one k-step, k ascending. */

/* Equilibration.  With `equilibrate`, each row of A and each column of B is multiplied by
   a power of two, 2^r, before the split.
   - 2^r puts the largest finite magnitude into [2^14, 2^15), or into the last binade but
     one of the format of the high part or of a copy, if that is lower.
   - The product is exact, or rounded to nearest where it is below 2^-126.
   - r = 0 for a row or column that has no finite values except zeros.
   - Before alpha, the output is multiplied by 2^-(r + r') of its row and column, and
     rounded once, to nearest, with subnormals and infinity.
   - No part of a finite value overflows, and no sum of parts does. */

/* Return the unit on which a product of parts runs.

   Returns: the unit; NULL from the position after the last product on, if gemm is NULL,
            and if bitcut_gemm() would refuse the recipe, the splits or the unit.
   Args:    index: position in the order of the terms; the product of two low parts is the
                   first one if it is computed.
   In:      gemm:  the GEMM, or NULL; it has a recipe and a unit. */
const struct bitcut_unit *bitcut_gemm_unit(const struct bitcut_gemm *gemm, size_t index);

/* Initialise a GEMM with every member left open.

   Args: size: sizeof(struct bitcut_gemm).
   Out:  gemm: the GEMM.
   - A newer library accepts the struct of a program compiled with an older header, with
     the meaning that it had then. */
void bitcut_gemm_init(struct bitcut_gemm *gemm, size_t size) BITCUT_NONNULL(1);

/* Characters of the line of any GEMM, with the final 0. */
enum { BITCUT_GEMM_MAX = 768 };

/* Parse a line that says how a GEMM is computed, and leave every other member open.

   Returns: BITCUT_OK.
            BITCUT_BAD_ARGUMENT: an item is unknown, or items do not fit together.
   In:      line: RECIPE@UNIT, where UNIT is a unit or a chip, and variations after it,
                  such as "legemm@mi210" and
                  "ootomo@a100,split=halfhalf,scale=10,promote=4,slices=2".
   In/Out:  to:   the GEMM; bitcut_gemm_init() has set its size.  On failure it is
                  unchanged.
   Out:     why:  the reason.
   - The items have the names of options of `bitcut gemm`: split, split-a, split-b, high,
     low, scale, terms, promote, tile-k, equilibrate, epilogue, start, scaling,
     sum-rounding.
   - Items of bitcut_order_read() are items of this line, too. */
enum bitcut_status bitcut_gemm_read(struct bitcut_gemm *to, const char *line, char *why)
    BITCUT_CHECK_RESULT;

/* Write the line of a GEMM, from which bitcut_gemm_read() makes the same GEMM.

   Returns: BITCUT_OK.
            BITCUT_BAD_ARGUMENT: the recipe or the unit is not set.
   In:      gemm: the GEMM.
   Out:     line: the line, without sizes and matrices. */
enum bitcut_status bitcut_gemm_write(char line[BITCUT_GEMM_MAX],
                                     const struct bitcut_gemm *gemm) BITCUT_CHECK_RESULT;

/* --- matrix units and GEMMs ------------------------------------------------------- */

/* Execute one instruction for a batch of fragments, D[f] = A[f] B[f] + C[f] for f <
   count, bit for bit as the unit does.

   Returns: BITCUT_OK.
            BITCUT_BAD_ARGUMENT: k is not the k of the instruction; the unit needs block
            scales; threads is negative; or an encoding has bits outside its format.
            BITCUT_NO_MEMORY.
   Args:    unit:    the unit.
            count:   number of fragments.
            m, n:    sizes of a fragment, any number.
            k:       k of the instruction.
            threads: number of threads.
   In:      a, b, c: A[count][m][k], B[count][k][n] and C[count][m][n], row-major, one
                     encoding an element.
   Out:     d:       D[count][m][n].
   - D may be C. */
enum bitcut_status bitcut_mma(uint64_t *d, const struct bitcut_unit *unit, size_t count,
                              size_t m, size_t n, size_t k, const uint64_t *a,
                              const uint64_t *b, const uint64_t *c, int threads)
    BITCUT_CHECK_RESULT;

/* Compute the GEMMs of a batch on their unit, bit for bit as a kernel that follows the
   recipe computes them there.

   Returns: BITCUT_OK.
            BITCUT_BAD_ARGUMENT: members do not fit together; a leading dimension is too
            small; a matrix that is read or written is NULL or misaligned; threads is
            negative; the operands of the unit do not hold the high parts, or no unit
            takes the other parts; the unit accumulates in f16 or bf16 and `equilibrate`
            is set; sum_rounding is not a rule of sums;
            or BITCUT_SIMD has an invalid value.
            BITCUT_UNSUPPORTED: the processor lacks the level that BITCUT_SIMD names.
            BITCUT_NO_MEMORY.
   Args:    threads: number of threads.
   In:      gemm:    the GEMM.  gemm->unit must be set, and no matrix has prepared parts.
   Out:     gemm->d: the results.
            ran:     the GEMM with nothing open, or NULL; bitcut_gemm_init() has set its
                     size.  It may be `gemm`.
            why:     the reason.
   - D may be C.
   - If the result is not BITCUT_OK, each D is unchanged or, in a batch, complete.
   - The environment variable BITCUT_SIMD is read when the library is loaded.  It may be
     avx512, avx2, plain or none.  The level changes no bit. */
enum bitcut_status bitcut_gemm(struct bitcut_gemm *ran, const struct bitcut_gemm *gemm,
                               int threads, char *why) BITCUT_CHECK_RESULT;

/* Differences between D and the result of the emulator.  */
struct bitcut_difference {
    size_t size;              /* sizeof this struct, as the caller was compiled         */
    size_t compared, differ;  /* elements of all D, and elements with other bits        */
    size_t gemm, row, column; /* first element that differs, by GEMM and then by row; 0 if
                                 no element differs                                     */
    uint64_t given, expected; /* its encodings in D and in the result of bitcut_gemm()  */
};

/* Compare D with the results of bitcut_gemm(), bit for bit, NaN included.

   Returns: as bitcut_gemm(); BITCUT_NO_MEMORY also if there is no memory for the
            emulator's D.
   Args:    threads: number of threads.
   In:      gemm:    the GEMM, as for bitcut_gemm(), except that D is read.
   Out:     to:      the differences.
            ran:     as for bitcut_gemm(), or NULL.
            why:     the reason.
   - If D is C, the call cannot read the original C: keep a copy of C.
   - *to and *ran are written only on success. */
enum bitcut_status bitcut_gemm_verify(struct bitcut_difference *to,
                                      struct bitcut_gemm *ran,
                                      const struct bitcut_gemm *gemm, int threads,
                                      char *why) BITCUT_CHECK_RESULT;

/* Measure how far D is from the exact alpha A B + beta C of its operands.

   Returns: as bitcut_gemm(); BITCUT_BAD_ARGUMENT also if the batch has no GEMM i.
   Args:    count:   number of metrics.
            i:       position of the GEMM in the batch.
            threads: number of threads.
   In:      gemm:    the GEMM as it was computed, as for bitcut_gemm(), except that D is
                     read and that recipe and unit may be missing.
   Out:     values:  values[p] is metric p, for p < count; NaN beyond the last metric.
            why:     the reason.
   - Recipe and unit are needed only for metrics that grade a result.  Without a unit
     these metrics are NaN.
   - Metrics are in units of the format of D: u is its unit roundoff, 2^-(fraction bits +
     1), 2^-24 for f32, and ulps are those of the format.  If D has fewer bits than f32,
   the grade applies to the value before the rounding (bitcut_tolerance_judge()).  Where
   the exact result is beyond the range of the format, D is right if it is infinite, NaN
   in a format without infinities, or the largest value, with the sign of the result.
   - With a bias, factors, a start or other steps of an epilogue, C stands for what the
     GEMM gives in exact arithmetic, correct to a few units of 2^-53 of the sum of all
     magnitudes; steps that only round change nothing.  Metrics that grade a result are
     NaN, and `normwise` is relative to the Frobenius norm of the magnitudes.
   - If D is C, the call cannot read the original C: keep a copy of C, or measure A B with
     beta = 0. */
enum bitcut_status bitcut_gemm_judge(double *values, size_t count,
                                     const struct bitcut_gemm *gemm, size_t i,
                                     int threads, char *why) BITCUT_CHECK_RESULT;

/* Name a metric.

   Returns: the name; NULL from the position after the last metric on.
   Args:    i: position of the metric, in the order of `bitcut list metrics`, which
               describes them. */
const char *bitcut_metric_name(size_t i);

/* Compute C = A B exactly, rounded once to nearest even.

   Returns: BITCUT_OK.
            BITCUT_BAD_ARGUMENT: k is above 2^46 and C has elements.
            BITCUT_NO_MEMORY.
   Args:    m, n, k: A is m x k, B is k x n, C is m x n.
            threads: number of threads; a negative number acts like 0.
   In:      a, b:    FP32 encodings, row-major and without gaps.
   Out:     c32:     C rounded to FP32, or NULL.
            c64:     C rounded to binary64, or NULL.
   - NaN and infinities follow IEEE 754 with any order of the sum: the result is NaN if
     any term is NaN, or if infinities of both signs meet.
   - NaN is 0x7fc00000 and 0x7ff8000000000000.
   - A zero sum is +0, except that it is -0 if every term is -0. */
enum bitcut_status bitcut_exact_gemm(uint32_t *c32, uint64_t *c64, size_t m, size_t n,
                                     size_t k, const uint32_t *a, const uint32_t *b,
                                     int threads) BITCUT_CHECK_RESULT;

/* --- attention -------------------------------------------------------------------- */

/* Attention, O = softmax(scale Q K^T) V, for `heads` heads: Q is queries x head_dim, K is
   keys x head_dim, V is keys x value_dim, O is queries x value_dim.  Head h reads K and V
   of head h / (heads / kv_heads), rounded down.  A batch is more heads.
   - bitcut_attention_init() leaves every member open.  The caller must set the row, the
     sizes and the matrices.
   - Head h of a matrix is matrix h of its stride or of its pointers.  Q and K have one
     format.  The values of all formats are FP32 values; O may have another format.
   - Query i sees key j if i + keys - queries - window_left <= j <= i + keys - queries +
     window_right: the last query is aligned with the last key.  BITCUT_UNSET is no limit.
     A causal mask has window_right 0.
   - The row of the algorithm determines every bit: tiles, roundings, exponential, order
     of sums.  `bitcut list attentions` has the rows, their sources and the evidence for
     each.  `vary` changes fields of the row, by items such as
     "block-n=64,direction=ascending"; `bitcut list attentions --json` has all fields.
   - The units are those of the row, of the same architecture and family for the formats
     at hand, unless unit_qk and unit_pv are set.
   - Operands that the format of a product cannot represent are rounded to it, to nearest
     even. */
struct bitcut_attention {
    size_t size; /* sizeof this struct, as the caller was compiled                      */

    const struct bitcut_attention_row *row; /* the algorithm                            */
    const char *vary;                       /* items that change the row, or NULL       */
    const struct bitcut_unit *unit_qk, *unit_pv; /* units of Q K^T and of P V; NULL: the
                                                    row's                               */
    size_t heads, kv_heads;     /* initially 1                                    */
    size_t queries, keys;       /* sizes                                          */
    size_t head_dim, value_dim; /* columns of Q and K, and of V and O; value_dim 0:
                                   head_dim                                       */
    int64_t window_left, window_right; /* initially BITCUT_UNSET                        */
    uint32_t scale; /* FP32 encoding; initially 0: 1 / sqrt(head_dim), rounded to FP32  */
    struct bitcut_matrix q, k, v, o; /* the matrices; their format is f32 if NULL       */
    uint32_t *lse; /* for each query of each head, the logarithm of the sum of
                      exp(scale Q K^T), an FP32 encoding; or NULL                       */
};

/* Initialise an attention with every member left open.

   Args: size: sizeof(struct bitcut_attention).
   Out:  attention: the attention. */
void bitcut_attention_init(struct bitcut_attention *attention, size_t size)
    BITCUT_NONNULL(1);

/* Compute attention on its units, bit for bit as the algorithm of the row computes it.

   Returns: BITCUT_OK.
            BITCUT_BAD_ARGUMENT: members do not fit together; heads is not a multiple of
            kv_heads; there is no unit for the operands; an item of `vary` is unknown; a
            matrix that is read or written is NULL or misaligned; threads is negative; or
            BITCUT_SIMD has an invalid value.
            BITCUT_UNSUPPORTED: the processor lacks the level that BITCUT_SIMD names.
            BITCUT_NO_MEMORY.
   Args:    threads: number of threads.
   In:      attention: the attention.
   Out:     attention->o, attention->lse: the results.
            why:     the reason.
   - A query that sees no key has O = 0.  Its lse is +Inf.
   - NaN and infinities pass through the operations of the algorithm: the maximum of a row
     ignores NaN, P is 0 for masked keys, and 0 times an infinity or NaN of V is NaN.  A
     NaN of O is 0x7fffffff in f32, and in shorter formats it has the leading bits of that.
   - A subnormal is preserved, unless the row flushes or the unit does.
   - If the result is not BITCUT_OK, O and lse are undefined.
   - Source: that of the row; of the units, `bitcut list units`. */
enum bitcut_status bitcut_attention(const struct bitcut_attention *attention, int threads,
                                    char *why) BITCUT_CHECK_RESULT;

/* Characters of the line of any row, with the final 0. */
enum { BITCUT_ATTENTION_MAX = 1024 };

/* Write the fields by which an attention is computed, as items of `vary`: those of its
   row, with its variations, and with tiles, splits and units as they are chosen for its
   sizes.

   Returns: as bitcut_attention(), except that matrices are not read.
   In:      attention: the attention.
   Out:     line: the items.
            why:  the reason. */
enum bitcut_status bitcut_attention_write(char line[BITCUT_ATTENTION_MAX],
                                          const struct bitcut_attention *attention,
                                          char *why) BITCUT_CHECK_RESULT;

/* Compare O with the result of bitcut_attention(), bit for bit, NaN included.

   Returns: as bitcut_attention().
   Args:    threads: number of threads.
   In:      attention: the attention, as for bitcut_attention(), except that O is read,
                       and lse is not.
   Out:     to:      the differences; `gemm` is the head.
            why:     the reason.
   - *to is written only on success. */
enum bitcut_status bitcut_attention_verify(struct bitcut_difference *to,
                                           const struct bitcut_attention *attention,
                                           int threads, char *why) BITCUT_CHECK_RESULT;

/* Compute attention exactly, rounded once to nearest even of the format of O.

   Returns: as bitcut_attention(); the row, its variations and units are not read.
   Args:    threads: number of threads.
   In:      attention: the attention.
   Out:     attention->o: the results.
            why:     the reason.
   - The scale is the FP32 value, also if it is left open.  lse is not written.
   - A query that sees no key has +0.
   - If a score that a query sees, or an operand of it, is infinite or NaN, all outputs of
     the query are NaN.  If a value of V that it sees is infinite or NaN, the output is NaN if there is a NaN or there are infinities of both signs, else infinite.
   - An exact zero is +0.
   - Layers: binary64 with an error bound; where the bound does not decide the rounding,
     MPFR with growing precision (Ziv's strategy).  A value half way between two results
     is recognised exactly: exponentials of different rational scores are linearly
     independent over the rationals (Lindemann and Weierstrass), so O is rational only if
     the mean of V over the keys of each score is the same. */
enum bitcut_status bitcut_attention_exact(const struct bitcut_attention *attention,
                                          int threads, char *why) BITCUT_CHECK_RESULT;

/* Errors of O, see bitcut_attention_judge().  u is the unit roundoff of the format of O,
   2^-(fraction bits + 1). */
struct bitcut_attention_errors {
    size_t size; /* sizeof this struct, as the caller was compiled            */
    size_t outputs,
        correct;   /* outputs of O, and those that are the exact result, rounded */
    size_t unlike; /* outputs that are infinite or NaN and not the Inf or NaN of the
                      exact result, rounded, or the reverse                     */
    double max_ulp, mean_ulp; /* largest and mean distance, in ulps of the format of O at
                                 the exact result */
    double bias_ulp; /* mean of the signed distances                             */
    double relres;   /* ||O - exact|| / ||exact||, Frobenius norms               */
    double max_u; /* largest distance relative to the largest |exact| of its head, in u */
    size_t head, row, column; /* the output with the largest distance in ulps */
};

/* Measure how far O is from exact attention.

   Returns: as bitcut_attention_exact().
   Args:    threads: number of threads.
   In:      attention: the attention, as for bitcut_attention_exact(), except that O is
                       read.
   Out:     to:  the errors.
            why: the reason.
   - Distances are measured from the exact result in binary64, whose error is below 2^-35
     of the largest |V|, and `correct` counts outputs that are equal to the exact result
     rounded to the format of O.  Zeros of both signs are equal.
   - Outputs counted by `unlike`, and outputs where both are not finite, have no distance.
   - *to is written only on success. */
enum bitcut_status bitcut_attention_judge(struct bitcut_attention_errors *to,
                                          const struct bitcut_attention *attention,
                                          int threads, char *why) BITCUT_CHECK_RESULT;

/* Result of bitcut_attention_explain(). */
enum { BITCUT_ATTENTION_TEXT_MAX = 1024 };
struct bitcut_attention_explanation {
    size_t size;   /* sizeof this struct, as the caller was compiled                   */
    bool found;    /* whether a hypothesis, with its fault, gives every output that was
                      compared                                                         */
    bool complete; /* whether every hypothesis was tried that the search would try
                      without a limit of work                                          */
    const char *row;   /* the algorithm of the hypothesis that gives most outputs.  This
                          text and the next two are valid for the life of the program   */
    const char *fault; /* name of its fault, such as "mask off by one"; NULL: none    */
    const char *diagnosis; /* "identical": every bit; "places": at most 5 % of the outputs
                              differ, some by more than 64 ulps or without a finite
                              value; "rounding": O is as far from the
                              attention in FP32 as algorithms are; "fault": the distance
                              is the effect of a fault; or "unexplained"   */
    size_t matched, sampled; /* outputs of the sample with its bits, and size of the
                                sample                                            */
    size_t compared, differ, total; /* outputs that were compared, outputs among them that
                                       differ, and all outputs */
    size_t tried; /* number of hypotheses tried                         */
    double ulps;  /* largest distance of an output that was compared, in ulps         */
    double distance; /* root mean square, over the queries, of ||O - hypothesis|| / ||O||,
                        at most 4 for a query */
    double by_chance; /* how many of the hypotheses tried would give as many outputs by
                         chance */
    char vary[BITCUT_ATTENTION_TEXT_MAX]; /* items of `vary` that change the row, or "" */
    char fields[BITCUT_ATTENTION_MAX];    /* all its fields: bitcut_attention_write()   */
    char same[BITCUT_ATTENTION_TEXT_MAX]; /* items, separated by spaces, that change no
                                             output, and rows                          */
    char text[BITCUT_ATTENTION_TEXT_MAX]; /* the result in one sentence of English      */
};

struct bitcut_explain_options;

/* Find what computed the O of an attention: the algorithm, its tiles, splits, formats and
   order of sums, or a fault of its kernel (the manual, "bitcut attention").

   Returns: BITCUT_OK.
            BITCUT_BAD_ARGUMENT: as bitcut_attention() for sizes and matrices; O has no
            elements; there is no key; the size of a struct is unknown; `seconds` or
            `effort` is negative or NaN; a chip is given; or a row is set that cannot be
            computed.
            BITCUT_UNSUPPORTED: as bitcut_attention(), or stopped.
            BITCUT_NO_MEMORY.
   Args:    threads: number of threads.
   In:      attention: the attention.  O is read, lse is not.  A row that is set, with its
                       `vary`, is the only one tried; units that are set are those of
                       every hypothesis.  The window and the scale are those that were
                       intended: others are faults.
            options:   the options, or NULL.
   Out:     report:    the result.
            why:       the reason.
   - Rows are tried on a sample of queries, then rows with faults.  Each of the best ones
     makes the best change of one field while that is better.  A hypothesis that gives the
     sample is compared with all of O, and queries that differ join the sample.
   - All NaN are equal.
   - A fault is named if a hypothesis with it gives every output, which none without it
     does and which is not by chance; or if O is not a result up to rounding, and is 4
     times as near with the fault.
   - If all of O takes more than 2^36 products times `effort`, spread queries are compared,
     and `compared` is below `total`.
   - *report is written only on success.
   - The same seed gives the same result, unless time ran out. */
enum bitcut_status bitcut_attention_explain(struct bitcut_attention_explanation *report,
                                            const struct bitcut_attention *attention,
                                            const struct bitcut_explain_options *options,
                                            int threads, char *why) BITCUT_CHECK_RESULT;

/* --- what computed a matrix ------------------------------------------------------- */

/* Options of bitcut_explain().  A member that is 0 has its default. */
struct bitcut_explain_options {
    size_t size;    /* sizeof this struct, as the caller was compiled                   */
    size_t samples; /* number of outputs that confirm a hypothesis; 0: 4096             */
    double seconds; /* time limit of the search, and again of comparing all of D; 0: none,
                       so that the answer does not depend on the machine                */
    uint64_t seed;  /* seed of the sample of outputs                                    */
    /* Since size 2: */
    double effort;  /* factor of the work of the search, and of comparing all of D; 0: 1 */
    const char *chip; /* a chip of `bitcut list chips`: only its units, and units of no
                         hardware, are tried, except for D in a format of integers; NULL:
                         all.  A GEMM with a unit has none */
};

/* Characters of the sentence of an explanation, with the final 0. */
enum { BITCUT_EXPLANATION_MAX = 1024 };

/* What a check of D against the exact result found, before any hypothesis was tried. */
enum { BITCUT_FINDINGS_MAX = 6, BITCUT_FINDING_MAX = 400, BITCUT_FINDING_OPTION_MAX = 64 };
struct bitcut_finding {
    size_t size;      /* sizeof this struct in the library */
    const char *name; /* what was found, such as "bias" or "rows moved".  Valid for the life
                         of the program                                                  */
    char text[BITCUT_FINDING_MAX]; /* the same as a sentence                              */
    char option[BITCUT_FINDING_OPTION_MAX]; /* option of `bitcut explain` that gives what
                                               was not given, or ""                       */
    size_t rows[2], columns[2]; /* first row and column that it concerns, and those after
                                   the last                                               */
    size_t outputs;             /* outputs that it concerns, among those examined          */
};

/* Result of bitcut_explain().  A struct may end before "Since size 2" or "Since size 3";
   then these members are not written. */
struct bitcut_explanation {
    size_t size;       /* sizeof this struct, as the caller was compiled               */
    bool found;        /* whether a hypothesis, with its faults and the places that
                          differ, gives every output that was compared                 */
    bool runs;         /* whether bitcut_gemm() gives it for the GEMM that is returned */
    bool complete;     /* whether the search had the time that it needs                */
    const char *fault; /* name of the fault of the hypothesis, of a place that differs, or
                          of the diagnosis, such as "k lost"; NULL: none. Valid for the
                          life of the program                                          */
    size_t matched, sampled;        /* outputs of the sample that the hypothesis gives bit
                                       for bit, and size of the sample                 */
    size_t compared, differ, total; /* outputs of D that were compared, outputs among
                                       them that differ, and all outputs               */
    size_t tried;                   /* number of hypotheses tried                      */
    char text[BITCUT_EXPLANATION_MAX]; /* the result in one sentence of English        */

    /* Since size 2. */
    size_t gemms, explained;        /* GEMMs, and GEMMs whose D the hypothesis gives   */
    size_t gemm; /* first GEMM whose D it does not give; `gemms` if it gives all       */

    /* Since size 3.  Of a batch: of the GEMM on which the hypothesis was searched. */
    size_t findings;                /* what the checks before the search found         */
    struct bitcut_finding finding[BITCUT_FINDINGS_MAX];
    size_t rounded;   /* outputs that were compared with the exact result, correctly rounded
                         to the format of D; 0 for integers                            */
    size_t within[4]; /* outputs among them within 0, 1, 2 and 8 ulps of it            */

    const char *diagnosis; /* what the distance of D from the exact result consists of:
                              "identical": a hypothesis gives every bit; "rounding": only
                              rounding differs, as of a correct kernel in another order;
                              "operands": the same, for rounded operands or their parts;
                              "fault": the effect of a fault; "unexplained"; or "none":
                              there is no diagnosis.  Valid for the life of the program */
    double before, after;  /* median distance of D from the exact result, and from the
                              same with these effects, in 2^-24 |A||B|; 0 for "none" and
                              "identical"                                              */
    double by_chance;      /* how many of the hypotheses tried would give as many outputs as
                              the nearest one does by chance, if their order of k were
                              another one; 0 if D has more than 256 outputs or a short
                              format                                                   */
};

/* Find what computed D of a GEMM: the recipe, its unit, its parts, its promotion, the
   order of k, its epilogue, and faults of the kernel (the manual, "bitcut explain").

   Returns: BITCUT_OK.
            BITCUT_BAD_ARGUMENT: as bitcut_gemm() for matrices; D has no
            elements; no GEMM runs on the unit; the size of a struct is unknown;
            `seconds` or `effort` is negative or NaN; the chip is unknown, or there is a
            unit as well; or A, B and D have integers and the GEMM is a
            batch, or has groups, a bias, factors, a start or steps of an epilogue; or the
            GEMM has zero points and A, B or D has no integers, or a zero point of D.
            BITCUT_UNSUPPORTED: as bitcut_gemm().
            BITCUT_NO_MEMORY.
   Args:    threads: number of threads.
   In:      gemm:    the GEMM.  Its sizes, alpha, beta and matrices are read, also D, and
                     its bias and factors.  A start and steps of the epilogue, and a
                     scaling, that are set are those of every hypothesis; otherwise they
                     are searched for.  A recipe or unit that is set is the only one tried, except for D in a
                     format of integers, which rules of integers explain.  Variations of
                     the recipe and the order are searched for, and not read.
            options: the options, or NULL.
   Out:     report:  the result, or NULL.
            found:   the GEMM with nothing open, or NULL; bitcut_gemm_init() has set its
                     size.  It reproduces all of D, or more outputs than any other GEMM
                     tried, and has the matrices as they were read.
            why:     the reason.
   - A matrix has any format and layout that bitcut_gemm() accepts.  It is read transposed
     if its shape fits only then, or if D is much closer to the exact result then; never
     if the GEMM has a bias, factors, a start or steps; of groups only B.
   - The step AMAX is left out.
   - If D has another format than f32, all NaN are equal.
   - A result of integers has no recipe and no unit in `found`.
   - With zero points of A and B, the product of integers is that of A - zero_a and
     B - zero_b, and the faults of these zero points are tried.  Zero points that were not
     given are found from D if it has at least 6 outputs.
   - Of a batch or groups, the hypothesis is searched on the first GEMM with rows, and
     compared with all GEMMs.  If it does not give all of them, the first other GEMM is
     searched too, and the hypothesis that gives more GEMMs is returned.  `compared`, `differ` and `total` count
     the outputs of all GEMMs; `text` names the GEMMs that the hypothesis does not give,
     and says what computed one of them.  A GEMM without rows has every hypothesis, unless
     no other GEMM has it.
   - If D is C, the call cannot read the original C: keep a copy of C.
   - D is first checked against the exact result: outputs that were not written; a bias or
     factors that were not given; rows, columns, tiles or a k at other positions; a sum that
     stops growing; negative results that are zeros.  `finding` has what was found.  If D is
     a power of two times the result, or has lines at other positions, the hypothesis is
     searched for what remains, and `runs` is false if only the order of lines differs.  If
     no hypothesis gives D although there is a finding, nothing is said of the nearest one,
     and `compared`, `matched` and `sampled` are 0.
   - `runs` is false if the GEMM cannot express a part of the result, such as another
     order of the products, or if D differs at some outputs.  `text` says so.
   - *report and *found are written only on success.
   - The same seed gives the same result, unless time ran out.  If time ran out,
     `complete` is false or `compared` is below `total`. */
enum bitcut_status bitcut_explain(struct bitcut_explanation *report,
                                  struct bitcut_gemm *found,
                                  const struct bitcut_gemm *gemm,
                                  const struct bitcut_explain_options *options,
                                  int threads, char *why) BITCUT_CHECK_RESULT;

/* Result of bitcut_explain_pair(): how two results of one GEMM differ. */
struct bitcut_result_pair {
    size_t size;          /* sizeof this struct, as the caller was compiled              */
    size_t differ, total; /* outputs whose bits differ, and all outputs                  */
    bool measured;        /* whether some differing outputs are numbers in both results  */
    size_t ulps;          /* the largest distance of such an output, in ulps of the format
                             of both results, or of f32 if they have two formats; else 0 */
    size_t row, column;   /* the first output with this distance                         */
    size_t sampled;       /* outputs that were compared with the exact result, and       */
    size_t nearer[2];     /* outputs among them in which each result is nearer to it     */
    double error[2];      /* median distance of each from it, in 2^-24 |A||B|            */
    char text[BITCUT_EXPLANATION_MAX]; /* the answer in one sentence of English          */
};

/* Explain two results of one GEMM, and how they differ: where, by how many ulps, why, and
   which one is nearer to the exact result.

   Returns: as bitcut_explain(); BITCUT_BAD_ARGUMENT also if the GEMM is a batch or has
            groups, or if a result has integers.
   Args:    threads: number of threads.
   In:      gemm:    the GEMM, as for bitcut_explain(); D is the first result.
            second:  the second result, of the shape of D; any format and layout.
            options: as for bitcut_explain(); a time limit holds for each result.
   Out:     pair:    the comparison, or NULL.
            report:  two explanations, one for each result; each may be NULL.
            found:   two GEMMs as from bitcut_explain(), one for each result; each may be
                     NULL.
            why:     the reason.
   - The hypothesis for the first result is tried first for the second one.
   - Everything is written only on success. */
enum bitcut_status bitcut_explain_pair(struct bitcut_result_pair *pair,
                                       struct bitcut_explanation *const report[2],
                                       struct bitcut_gemm *const found[2],
                                       const struct bitcut_gemm *gemm,
                                       const struct bitcut_matrix *second,
                                       const struct bitcut_explain_options *options,
                                       int threads, char *why) BITCUT_CHECK_RESULT;

/* --- which rows explain an instruction -------------------------------------------- */

/* Recorded outputs of one instruction.  The arrays are the arguments a, b, c and d of
   bitcut_mma(). For a unit with block scales there are also scale_a[count][m][blocks] and
   scale_b[count][blocks][n]. */
struct bitcut_recording {
    size_t size; /* sizeof this struct, as the caller was compiled                      */
    const struct bitcut_unit *unit; /* unit with the formats, k and block scales        */
    size_t count, m, n, k; /* number of fragments, and their sizes; k is the k of the
                              instruction                                               */
    size_t blocks; /* number of blocks of k, each with a scale; 0 for a unit without block
                      scales                                                            */
    const uint64_t *a, *b, *c, *d; /* encodings of the fragments                        */
    const uint64_t *scale_a, *scale_b; /* encodings of the scales; NULL for a unit without
                                          block scales                                  */
    size_t outputs; /* number of outputs that are used, spread evenly over all; 0: 1000 */
};

struct bitcut_fit; /* rows that bitcut_fit() found */

/* Result of bitcut_fit(). */
struct bitcut_fit_report {
    size_t size;        /* sizeof this struct, as the caller was compiled             */
    bool unit_survives; /* whether the unit's own row gives every output              */
    bool complete;      /* false: a part of the space was not searched to its end,
                           because too many of its rows survive or had to be run      */
    bool near;          /* whether no row survives and some row gives some outputs    */
    size_t outputs;     /* number of outputs used                                     */
    size_t tried;       /* number of rows run                                         */
    size_t groups;      /* number of groups of surviving rows; in a group every
                           combination of the values of its fields survives           */
    uint64_t space, survivors; /* number of rows, and of rows that survive            */
    size_t misses;         /* outputs that the nearest row does not give; otherwise 0 */
    size_t explains_first; /* outputs that the nearest row gives before its first miss, in
                              the order in which rows are tested                      */
};

/* Find the rows that explain recorded outputs, among all rows that the fields of a unit
   can form with its formats, k and block scales (the manual, "bitcut fit").

   Returns: BITCUT_OK.
            BITCUT_BAD_ARGUMENT: there is no unit, or no output; k or the number of blocks
            differs from the unit; an array is NULL, or an array of scales is given for a
            unit without block scales; an encoding has bits outside its format; threads is
            negative; or the size of a struct is unknown.
            BITCUT_NO_MEMORY.
   Args:    threads:   number of threads.
   In:      recording: the recorded outputs.
   Out:     report:    the result, or NULL.
            found:     the rows, or NULL.  The caller owns them; bitcut_fit_close() frees
                       them.
            why:       the reason.
   - A row survives if it gives every output bit for bit, NaN included.
   - The search covers all rows, although it runs only a few of them.
   - *found is written only on success.
   - The result is the same for any number of threads. */
enum bitcut_status bitcut_fit(struct bitcut_fit_report *report, struct bitcut_fit **found,
                              const struct bitcut_recording *recording, int threads,
                              char *why) BITCUT_CHECK_RESULT;

/* Free the rows of bitcut_fit().

   Args: found: the rows, or NULL. */
void bitcut_fit_close(struct bitcut_fit *found);

/* Return a surviving unit of `bitcut list units`.

   Returns: the unit; NULL from the position after the last one on.
   Args:    found: the rows.
            index: position among the units that survive. */
const struct bitcut_unit *bitcut_fit_unit(const struct bitcut_fit *found, size_t index)
    BITCUT_NONNULL(1);

/* Values for the number of a group. */
enum {
    BITCUT_FIT_ALL = -1,    /* all rows that survive */
    BITCUT_FIT_NEAREST = -2 /* the nearest row       */
};

/* Read a field of the rows of a group, with all of its values in one text for people:
   "25", "-166..-131", "IEEE, Inf".

   Returns: true; false if there are no more fields, or the group does not exist.
   Args:    found: the rows.
            group: position of the group, or BITCUT_FIT_ALL or BITCUT_FIT_NEAREST.
            index: position among the fields that these rows read, in the order of
                   `bitcut list units`.
   Out:     field: the name and the text; unchanged if the result is false. */
bool bitcut_fit_field(struct bitcut_field *field, const struct bitcut_fit *found,
                      int group, size_t index) BITCUT_NONNULL(1, 2) BITCUT_CHECK_RESULT;

/* Read one value of a field of the rows of a group, as bitcut_row_field() reads a field
   of the row of a unit.

   Returns: true; false if there are no more values or fields, or the group does not
            exist.
   Args:    found, group, index: as for bitcut_fit_field().
            place: position of the value.
   Out:     value: the value; unchanged if the result is false.
   - With BITCUT_FIT_ALL, a field with one value is decided; other fields are open. */
bool bitcut_fit_value(struct bitcut_field *value, const struct bitcut_fit *found,
                      int group, size_t index, size_t place) BITCUT_NONNULL(1, 2)
    BITCUT_CHECK_RESULT;

/* --- where an error comes from, and what it may be -------------------------------- */

/* One part of the error, over all outputs, of a GEMM in u (|alpha| |A||B| + |beta C|), u
   the unit roundoff of the format of D, 2^-24 for f32.  With a bias, factors, a start or
   other steps, the sum of the magnitudes of all terms takes the place of |alpha| |A||B| +
   |beta C|.  The members are NaN if there are no outputs. */
struct bitcut_part {
    double mean; /* signed mean             */
    double rms;  /* root of the mean square */
    double max;  /* largest magnitude       */
};

/* Compute the error budget of a GEMM, as the emulator computes it: the parts of its
   error.

   Returns: BITCUT_OK.
            BITCUT_BAD_ARGUMENT: as bitcut_gemm(); the batch has no GEMM or group i; or the
            GEMM has integers and bitcut_gemm_judge() does not take it.
            BITCUT_NO_MEMORY.
   Args:    count:   number of parts wanted.
            i:       position of the GEMM in the batch.
            threads: number of threads.
   In:      gemm:    the GEMM.  Of D only the format is read.
   Out:     parts:   parts[p] is part p, for p < count.  The entry after the last part is
                     the error itself; later entries are NaN.
            why:     the reason.
   - For each output the parts add up to its error exactly (the manual, "Error budget").
   - The error is D less the exact alpha A B + beta C.  With a bias, factors, a start or
     other steps, it is D less the exact value of all steps, as for bitcut_gemm_judge().
   - Of alpha A B + beta C, the rounding to the format of D belongs to the part "epilogue",
     and the parts "factors", "start" and "result" are 0.  With a bias, factors, a start or
     other steps, it belongs to the part "result".
   - Of an FP64 GEMM with a scheme the parts are "representation_a", "representation_b",
     "dropped", "unit", "overflow", "additions", "slices" (of k) and "epilogue", with u =
     2^-53.  Parts of another kind of GEMM are 0 (the manual, "FP64").
   - On a unit of integers, elements are less their zero points.  "representation" is the
     rounding of elements to integers, "saturation" their limits and those of sums: what
     the s32 sum differs from the exact sum of the integers, modulo 2^32 or limited.  The
     conversion of the sum to FP32 belongs to "epilogue".  Other sums are exact.
   - relu, clamp and saturate apply to the exact value, too, so they have no part.  An error
     that they remove is in no part.  amax is not written.
   - If m n k <= 2^30, all outputs count.  Otherwise a sample of outputs counts, spread
     evenly, with 2^30 products in total.
   - An output does not count if an input, a part of a split, a sum, a value between two
     steps or the result is infinite or NaN.
   - The result is the same for any number of threads. */
enum bitcut_status bitcut_budget(struct bitcut_part *parts, size_t count,
                                 const struct bitcut_gemm *gemm, size_t i, int threads,
                                 char *why) BITCUT_CHECK_RESULT;

/* Name a part of the error budget.

   Returns: the name, "representation" for part 0; the last name is "error"; NULL after
            it.
   Args:    p: position of the part. */
const char *bitcut_budget_part(size_t p);

/* Compute the error budget of an attention, as the emulator computes it.

   Returns: BITCUT_OK; a status of bitcut_attention(); BITCUT_UNSUPPORTED also if P V is
            computed on a unit of integers.
   Args:    count:     number of parts wanted.
            samples:   outputs that count, spread over all queries; 0: as many as have
                       about 2^20 products with V, at least 16.
            threads:   number of threads.
   In:      attention: the attention.  O is not written; only its format is read.
   Out:     parts:     parts[p] is part p, for p < count.  The entry after the last part
   is the error itself; later entries are NaN. why:       the reason.
   - Parts are in u times the mean of |V| by the exact weights of the query, u the unit
     roundoff of the format of O.
   - For each output the parts add up to its error (the manual, "Error budget of
     attention").
   - An output does not count if an input, an intermediate value or O is infinite or NaN.
 */
enum bitcut_status bitcut_attention_budget(struct bitcut_part *parts, size_t count,
                                           const struct bitcut_attention *attention,
                                           size_t samples, int threads,
                                           char *why) BITCUT_CHECK_RESULT;

/* Name a part of the error budget of an attention.

   Returns: the name, "operands" for part 0; the last name is "error"; NULL after it.
   Args:    p: position of the part. */
const char *bitcut_attention_part(size_t p);

/* Compute an error bound for each output of an attention: where O is finite, its distance
   from exact attention is at most the bound.

   Returns: BITCUT_OK; a status of bitcut_attention(); BITCUT_BAD_ARGUMENT also if the
   bound is unknown; BITCUT_UNSUPPORTED: the row quantizes its operands or rounds them to
            other formats, or P may exceed its format.
   Args:    threads:   number of threads.
   In:      attention: the attention.  Of O only the format is read.
            name:      "apriori", from norms of rows of Q and K and the largest |V|;
                       "weighted", from scores and weights; or NULL: "weighted".
   Out:     limit:     heads x queries x value_dim numbers in binary64, rounded upward, in
                       the units of O, the rounding to its format included.
            why:       the reason.
   - NaN: there is no limit, because an input is infinite or NaN, or O may overflow.
   - A query that sees no key has the limit 0.
   - Source: the manual, "Bounds of attention". */
enum bitcut_status bitcut_attention_bound(double *limit,
                                          const struct bitcut_attention *attention,
                                          const char *name, int threads,
                                          char *why) BITCUT_CHECK_RESULT;

/* Compute an error bound for each output of a GEMM.

   Where D is finite, |D - (alpha A B + beta C)| is at most the bound.  With a bias,
   factors, a start or other steps, the exact value of all steps takes the place of alpha
   A B + beta C, as for bitcut_gemm_judge().

   Returns: BITCUT_OK.
            BITCUT_BAD_ARGUMENT: as bitcut_gemm(); the batch has no GEMM i; or the bound
            is unknown.
            BITCUT_UNSUPPORTED: the bound does not hold for this recipe on this unit, for
            the reason in `why`.
            BITCUT_NO_MEMORY.
   Args:    i:       position of the GEMM in the batch.
            threads: number of threads.
   In:      gemm:    the GEMM.  Of D only the format is read.
            name:    name of a bound of `bitcut list bounds`, or NULL: "aligned".
   Out:     limit:   limit[row n + column]: m n numbers in binary64, rounded upward, in
                     the units of D.  Of a group of rows, m is its own.
            why:     the reason.
   - A rigorous bound holds in the worst case.  The description of every other bound says
     when it holds (`bitcut list bounds`).
   - NaN: there is no limit, because an input or a part is infinite, NaN or too large.
   - If the format of D has fewer bits than f32, a limit includes the rounding: with L the
     limit of the f32 result and C the exact result, half an ulp of the format at |C| + L,
     and half of the smallest subnormal number below the normal numbers.  An output for
     which |C| + L rounds beyond the largest number may overflow and has no limit (NaN).
     The bound "underflow" does not include the rounding.
   - "running", "biased" and "underflow" follow the emulator step by step, and take about
     1 us for each product.
   - "underflow" bounds only the part of the error budget with this name.
   - An FP64 GEMM with a scheme has one rigorous bound, for `name` NULL; other names are
     refused.  There is none if k is in slices (BITCUT_UNSUPPORTED).
   - With a bias, factors, a start or other steps, these three do not apply, and an output
     also has no limit if a magnitude of its sum is above a 16th of the largest number of
     its accumulators, since a step may hide an overflow; if a step may overflow; or if
     the start is multiplied after it entered a sum.  amax is not written.
   - The result is the same for any number of threads.
   - Source: the manual, "Error bounds", has the formulas and their sources. */
enum bitcut_status bitcut_bound(double *limit, const struct bitcut_gemm *gemm, size_t i,
                                const char *name, int threads,
                                char *why) BITCUT_CHECK_RESULT;

/* Name a bound.

   Returns: the name; NULL from the position after the last bound on.
   Args:    b: position of the bound. */
const char *bitcut_bound_name(size_t b);

/* --- what a test should accept ---------------------------------------------------- */

/* Options of bitcut_tolerance().  A member that is 0 has its default. */
struct bitcut_tolerance_options {
    size_t size;    /* sizeof this struct, as the caller was compiled                */
    size_t runs;    /* number of runs from which limits are observed; 0: 100         */
    double false_alarm;   /* probability, below 1, that a correct result exceeds an
                             observed limit; 0: 10^-6                                */
    uint64_t seed;  /* seed of the runs                                              */
    bool any_order; /* whether k may have any order, not only that of the GEMM       */
    bool two;       /* whether D is compared with another correct result, instead of
                       the exact one                                                 */
};

/* Number of entries of `over`. */
enum { BITCUT_DECADES = 7 };

/* Limits that a correct D keeps.
   - u = 2^-24; of an FP64 GEMM with a scheme u = 2^-53, and nothing underflows.  C is the
     exact alpha A B + beta C.  |A||B| is the sum of magnitudes |alpha| |A||B| + |beta C|.
   - A limit is infinite where there is none.
   - With a bias, factors, a start or other steps, C is the exact value of all steps, |A||B|
     the sum of the magnitudes of all its terms, as bitcut_gemm_judge() has it, and ||A||
     ||B|| the Frobenius norm of these sums.
   - If the format of D has fewer bits than f32, all limits except rtol and atol are for
   the f32 result before it is rounded to D: the limits do not depend on the format, and
   |D - C| may be half an ulp of D more.  rtol and atol include the rounding.
   - With `two`, C is the other result, and all limits except `max` and `norm_max` apply
     to the errors of both results together.
   - A struct may end before "Since size 2" or "Since size 3"; then these members are not
     written. */
struct bitcut_tolerances {
    size_t size;          /* sizeof this struct, as the caller was compiled            */
    size_t runs, outputs; /* number of runs, and of outputs of each run                */
    double bound;         /* worst case: |D - C| <= bound u |A||B| + underflow terms   */
    double underflow;     /* largest sum of underflow terms in the runs, u |A||B|      */
    double limit;      /* |D - C| <= limit u |A||B|, if `known`                        */
    double max;           /* largest error of all runs, u |A||B|                       */
    double norm_bound;    /* ||D - C|| <= norm_bound u (||A|| ||B||), Frobenius norms  */
    double norm_limit; /* the same limit from the runs, if `norm_known`                */
    double norm_max;     /* largest ||D - C|| of all runs, u (||A|| ||B||)             */
    double rtol, atol;    /* |D - C| <= atol + rtol |C|, by the observed limit         */
    double bound_rtol, bound_atol; /* the same, by the bound                           */
    double slack; /* rtol and atol are at most this many times wider than the limit in
                     |A||B| at nine of ten outputs; useless above 8                    */
    double rtol_alone; /* rtol with atol = 0, observed; infinite where terms cancel    */
    double rtol_slack; /* slack of rtol_alone                                          */
    double cancelling; /* share of outputs with |A||B| above 10 |C|                    */
    size_t wrong; /* outputs of correct runs that are NaN or infinite where C is not   */

    /* Since size 2. */
    double with_underflow; /* |D - C| <= with_underflow u |A||B| + underflow terms;
                              always known                                             */
    double norm_with_underflow; /* the same for ||D - C|| and the norm of these terms  */
    size_t zeros; /* runs in which D = 0, or D = 2 C, keeps all limits that are known  */
    bool known, norm_known; /* whether the observed limits have their probability      */

    /* Since size 3. */
    double false_alarm; /* as in the options                                           */
    size_t orders, arrangements; /* orders of k in each run: random ones, chosen ones  */
    double with_underflow_max, norm_with_underflow_max; /* largest values of all runs  */
    double underflow_absolute; /* `underflow` in the units of D                        */
    double bound_rtol_alone;   /* rtol with atol = 0, by the bound                     */
    double over[BITCUT_DECADES]; /* shares of outputs with |A||B| above 10^i |C|       */
    bool any_order, two; /* as in the options                                          */
};

/* Compute the limits that a test of D should accept, for a GEMM like `gemm`: limits that
   the recipe keeps on the unit, with every other member of the GEMM.

   Returns: BITCUT_OK.
            BITCUT_BAD_ARGUMENT: as bitcut_gemm() for the GEMM and its matrices; `count`
            or a size is 0; the size of a struct is unknown; or `false_alarm` is no
            probability.
            BITCUT_UNSUPPORTED: as bitcut_gemm().
            BITCUT_NO_MEMORY.
   Args:    threads: number of threads.
   In:      gemm:    the GEMM.  Of D only the format is read.
            options: the options, or NULL.
   Out:     to:      the limits; written only on success.
            why:     the reason.
   - The bound is a priori: it follows from the recipe, the unit, the steps, the order, k and
     the formats of A and B (the manual, "Error bounds").
   - amax is not written.
   - Observed limits come from runs on the given matrices.  A run computes some rows and
     columns with k in random orders.
   - Formula: of the largest errors of n runs let t be the median, let r = n/2 of them be
     above t, and let e be the mean of their excess over t.  The limit is
       t + r e (((r + 1) / ((n + 1) p))^(1/r) - 1),
     where p is the alarm divided by the number of runs that have as many outputs as D.
   - A correct D with k in a random order exceeds this limit with a probability of at most
     p, including the uncertainty of the runs, if the tail of the largest errors falls no
     slower than exponentially.
   - The same rows and columns are also computed with k in its own order and, with
     `any_order`, reversed and by the size of products, descending and ascending.  A limit
     is at least the result of the formula for these runs, at least 1.25 times their
     largest error, and at least the largest error of all runs.
   - With `any_order` no limit is below the limit without it: runs have the same outputs.
   - An observed limit is at most the bound.
   - `known` or `norm_known` is false if the runs have a heavier tail.  Then the limit is
     at least twice the largest error of all runs, and has no probability.
   - `known` or `norm_known` is also false if underflow may be a large part of an error
     and perhaps occurred in no run.  The limits with underflow hold then.  If their own
     tail is heavy, they equal the bound.
   - The underflow terms of an output are a sum over its products with an element below a
     threshold (the manual, "Tolerances").  bitcut_tolerance_judge() adds them.
   - A limit that even D = 0 satisfies tests nothing.  `zeros` is above 0 then.
   - A batch has one set of limits, which hold for every D; p counts the outputs of all D.
     Each run has one GEMM of the batch, and runs are spread evenly over the rows of all D.
   - The result is the same for any number of threads. */
enum bitcut_status bitcut_tolerance(struct bitcut_tolerances *to,
                                    const struct bitcut_gemm *gemm,
                                    const struct bitcut_tolerance_options *options,
                                    int threads, char *why) BITCUT_CHECK_RESULT;

/* Verdict of bitcut_tolerance_judge().  A struct may end before "Since size 2" or "Since
   size 3"; then these members are not written. */
struct bitcut_tolerance_verdict {
    size_t size;           /* sizeof this struct, as the caller was compiled           */
    bool accepted;         /* whether D keeps all limits that are known, and is NaN or
                              infinite only where C is                                 */
    bool zeros_accepted;   /* whether D = 0, or D = 2 C, is accepted too: the limits
                              say nothing                                              */
    double component;      /* largest |D - C| / |A||B|, u                              */
    double with_underflow; /* the same without underflow terms, u; may be negative     */
    double norm;           /* ||D - C|| / (||A|| ||B||), u                             */
    size_t worst;          /* output of `component`, i n + j                           */
    size_t above;          /* number of outputs above a known componentwise limit      */
    size_t beyond;         /* number of outputs above the bound                        */
    size_t wrong;          /* number of outputs that are NaN or infinite where C is
                              not, or the reverse                                      */

    /* Since size 2. */
    size_t worst_at[2]; /* row and column of `worst`                                   */
    double relres;      /* ||D - C|| / ||C||                                           */

    /* Since size 3. */
    size_t gemm; /* GEMM of a batch to which `component` and `worst` belong            */
};

/* Judge D of a GEMM by the limits of bitcut_tolerance().

   Returns: as bitcut_tolerance(); BITCUT_BAD_ARGUMENT also if D is NULL or `two` is set.
   Args:    threads: number of threads.
   In:      limits:  the limits that bitcut_tolerance() found for this GEMM with these
                     options.
            gemm:    the GEMM.  D is read.
            options: the options, or NULL.  Only `any_order` and `two` are read; `two`
                     must be false.
   Out:     to:      the verdict; written only on success.
            why:     the reason.
   - If the format of D has fewer bits than f32, |D - C| in the verdict stands for the
   error before the rounding to it: the distance of C from the nearest value that rounds,
   to nearest even, to D.  It is in u = 2^-24 as well.  Values beyond the range of the
   format round to an infinity, to NaN in a format without infinities, or to the largest
   value.
   - Of a batch, every D is compared.  A D that is rejected rejects the batch.  Errors are
     the largest of all D, and numbers of outputs are those of all D. */
enum bitcut_status bitcut_tolerance_judge(struct bitcut_tolerance_verdict *to,
                                          const struct bitcut_tolerances *limits,
                                          const struct bitcut_gemm *gemm,
                                          const struct bitcut_tolerance_options *options,
                                          int threads, char *why) BITCUT_CHECK_RESULT;

/* Options of bitcut_attention_tolerance().  A member that is 0 has its default. */
struct bitcut_attention_options {
    size_t size;        /* sizeof this struct, as the caller was compiled           */
    size_t runs;        /* runs of the emulator from which limits are computed; 0: 100 */
    double false_alarm; /* probability that a correct O exceeds a limit; 0: 1e-6    */
    uint64_t seed;      /* of the runs                                              */
    bool any_tiles;     /* whether the tested kernel may have other tiles, another order
                           of them, and 1 to 4 splits                               */
};

/* Limits for the errors of an attention.  |V| is the mean of the magnitudes of V by the
   exact weights, u the unit roundoff of the format of O; of two results, the larger u. */
struct bitcut_attention_tolerances {
    size_t size;          /* sizeof this struct, as the caller was compiled          */
    size_t runs, outputs; /* runs of the emulator, and outputs of each               */
    double false_alarm;   /* probability that a correct O exceeds a known limit      */
    double max, limit;    /* of |O - reference| / (u |V|): largest of the runs, and
                             the limit                                               */
    bool known;           /* whether the limit has this probability; false: it is twice
                             the largest error of the runs                           */
    double norm_max, norm_limit; /* the same of ||O - reference|| / ||u |V|||           */
    bool norm_known;
    size_t wrong; /* outputs of a run that are infinite or NaN and not the Inf or NaN of
                     the reference, or the reverse, at most; an O with b times the outputs
                     of a run may have b times as many                                 */
    size_t zeros; /* of the first 8 runs, those in which O = 0 is within both limits   */
};

/* Compute the limits that a test of an attention should have: of O against exact
   attention, or against another attention, such as decoding against prefill or fp8
   against bf16.

   Returns: BITCUT_OK; a status of bitcut_attention(); BITCUT_BAD_ARGUMENT also if both
            attentions have other sizes or masks, or there are no outputs.
   Args:    threads:   number of threads.
   In:      attention: the attention that is tested.
            other:     the attention with which it is compared, with matrices of its own,
   or NULL: exact attention of the tested one's Q, K and V. options:   the options, or
   NULL. Out:     to:        the limits; written only on success. why:       the reason.
   - Each run has some queries of one head and all keys that they see, with the keys (and
     their rows of V) in a random order; the first run has the order of the data.
   - The limits hold for kernels that compute as the rows say, with `any_tiles` also for
     other tiles.
   - The result does not depend on the number of threads.
   - Source: the manual, "Tolerance of attention". */
enum bitcut_status bitcut_attention_tolerance(
    struct bitcut_attention_tolerances *to, const struct bitcut_attention *attention,
    const struct bitcut_attention *other, const struct bitcut_attention_options *options,
    int threads, char *why) BITCUT_CHECK_RESULT;

/* Verdict of bitcut_attention_tolerance_judge(). */
struct bitcut_attention_verdict {
    size_t size;            /* sizeof this struct, as the caller was compiled         */
    bool accepted;          /* whether O is within both limits                        */
    bool zeros_accepted;    /* whether O = 0 would be                                 */
    double component, norm; /* the largest |O - reference| / (u |V|), and the norm    */
    size_t above;           /* outputs above the limit                                */
    size_t wrong;           /* outputs that are infinite or NaN and not the Inf or NaN of
                               the reference, or the reverse                          */
    size_t numbers;         /* outputs that are numbers in both                       */
    size_t head, row, column; /* the output with the largest error                    */
};

/* Judge O of an attention by the limits of bitcut_attention_tolerance().

   Returns: as bitcut_attention_tolerance().
   Args:    threads:   number of threads.
   In:      limits:    the limits for this attention.
            attention: the attention.  O is read.
            other:     the attention with which it is compared, whose O is read, or NULL:
                       exact attention.
   Out:     to:        the verdict; written only on success.
            why:       the reason. */
enum bitcut_status bitcut_attention_tolerance_judge(
    struct bitcut_attention_verdict *to, const struct bitcut_attention_tolerances *limits,
    const struct bitcut_attention *attention, const struct bitcut_attention *other,
    int threads, char *why) BITCUT_CHECK_RESULT;

/* --- what a library will compute -------------------------------------------------- */

/* The call of a library that is predicted. */
struct bitcut_predict_options {
    size_t size;         /* sizeof this struct, as the caller was compiled             */
    const char *library; /* a name of `bitcut list libraries`                          */
    const char *chip;    /* a chip of the library, as `bitcut list libraries` names it */
    const char *types;   /* types of the call, as that list names them; NULL: the first
                            with the formats of A, B and D                             */
    int library_threads; /* threads of the library; 0: 1                               */
    const char *fields;  /* the algorithm that the library chooses, if the program knows it,
                            such as "id=66,stages=35,splits=9,scheme=2" of cuBLAS; NULL: as
                            the sizes determine it                                     */
    const char *call;    /* a call of a program that uses the library, as that list names
                            it, such as "linear" of torch-2.11; NULL: the first        */
};

/* The most computations that the outputs of one call have, and the characters of a sentence
   on one, with the final 0. */
enum { BITCUT_PREDICTED_MAX = 4, BITCUT_PREDICTED_TEXT_MAX = 480 };

/* One computation of a prediction. */
struct bitcut_predicted {
    size_t size;                /* sizeof this struct in the library                   */
    size_t outputs;             /* number of outputs that are computed so              */
    char gemm[BITCUT_GEMM_MAX]; /* how, as bitcut_gemm_read() takes it                 */
    char text[BITCUT_PREDICTED_TEXT_MAX]; /* its order of k, as a sentence             */
};

/* What a library will compute. */
struct bitcut_prediction {
    size_t size;         /* sizeof this struct, as the caller was compiled             */
    size_t computations; /* number of computations, 1 or more                          */
    struct bitcut_predicted computation[BITCUT_PREDICTED_MAX]; /* them                 */
};

/* Predict how a library computes a GEMM, from tables of rules that were compared with
   results of the library.

   Returns: BITCUT_OK.
            BITCUT_UNSUPPORTED: the rules do not cover this call; nothing is guessed.
            BITCUT_BAD_ARGUMENT: the library, the chip, the types or the call is unknown,
            or the library has no such formats; library_threads is negative; or a number
            of the GEMM is invalid.
            BITCUT_NO_MEMORY.
   In:      gemm:    the GEMM, or a batch.  The sizes, formats and layouts of the matrices,
                     alpha, beta, the bias, the factors and the steps are read; elements,
                     recipe, unit, order and other variations are not.
            options: the call.
   Out:     to:      the computations; written only on success.
            why:     the reason.
   - If an edge of D, or part of it, is computed in another order of k than the rest, there
     are several computations.  Each output has one of them.
   - The prediction is for a program that calls the function that `bitcut list libraries`
     names, on a machine for which the library selects this chip. */
enum bitcut_status bitcut_predict(struct bitcut_prediction *to,
                                  const struct bitcut_gemm *gemm,
                                  const struct bitcut_predict_options *options, char *why)
    BITCUT_CHECK_RESULT;

/* Compute D as a library will compute it, bit for bit.

   Returns: as bitcut_predict(), and a status of bitcut_gemm().
   Args:    threads: number of threads.
   In:      gemm:    the GEMM, with its matrices.
            options: the call.
   Out:     the D of `gemm`; undefined if the result is not BITCUT_OK.
            why:     the reason.
   - D must not be C if there are several computations. */
enum bitcut_status bitcut_predict_gemm(const struct bitcut_gemm *gemm,
                                       const struct bitcut_predict_options *options,
                                       int threads, char *why) BITCUT_CHECK_RESULT;

/* --- which recipe will do --------------------------------------------------------- */

/* Options of bitcut_advise().  A member that is 0 has its default.  A struct may end before
   "Since size 2" or "Since size 3". */
struct bitcut_advice_options {
    size_t size;        /* sizeof this struct, as the caller was compiled              */
    const char *metric; /* "relres" or "backward_max"; NULL: relres                    */
    double want;        /* largest acceptable value of the metric; 0: 10^-6 of relres,
                           16 of backward_max                                          */
    uint64_t seed;      /* seed of the sample of outputs                               */

    /* Since size 2. */
    const struct bitcut_quantizer *quantize_a, *quantize_b; /* quantizers of A and B in every
                                                               GEMM; NULL: not quantized */
    bool quantizers; /* whether every row of `bitcut list quantizers` is tried, too, for A
                        and B, on units that multiply its elements; only without
                        quantize_a and quantize_b                                      */

    /* Since size 3. */
    const char *chip; /* a chip of `bitcut list chips`, whose units are tried; the GEMM has
                         no unit then.  NULL: all chips, or the unit of the GEMM       */
};

/* Result of bitcut_advise().  A struct may end before "Since size 2"; then these members
   are not written. */
struct bitcut_advice {
    size_t size;    /* sizeof this struct, as the caller was compiled                 */
    bool reaches;   /* whether the GEMM that is returned reaches `want`; otherwise it
                       has the smallest error                                         */
    double cost;    /* its products for each product of A B, converted to the time of
                       products of f16 parts on its chip                              */
    double error;   /* metric of a sample of outputs; infinite if a part of A or B
                       overflows                                                      */
    double high;    /* upper estimate of the metric of all outputs, from the samples  */
    double checked; /* metric of a second sample, which was not used for the choice   */
    double bound;   /* error bound of the second sample; NaN: there is no bound       */
    size_t outputs, checks; /* sizes of the two samples                               */
    size_t tried;           /* number of GEMMs tried                                  */

    /* Since size 2. */
    const struct bitcut_quantizer *quantize_a, *quantize_b; /* of A and B; NULL: not
                                                               quantized               */
    double quantization; /* metric that quantization alone gives to the first sample: of
                            the exact product of the quantized operands; NaN: none     */
    double rounding;     /* metric that the rounding of D to its format alone gives to it:
                            of the rounded exact product; NaN: f32                     */
};

/* Find the recipe and unit that compute a GEMM accurately enough with the fewest products.

   Returns: BITCUT_OK.
            BITCUT_BAD_ARGUMENT: as bitcut_gemm() for A, B, C, the bias and the factors;
            no GEMM of the batch has an output and a product; the size of a struct is
            unknown; the metric is unknown; `want` is negative or NaN; D cannot have its
            format; `quantizers` is set together with a quantizer, or either with factors;
            an element that is quantized is not finite; A or B has a zero point, and one of
            them no format of integers or A is sparse; a zero point is not from -2^22 to 2^22;
            the chip is unknown, or the GEMM has a unit, too; or no GEMM of the recipe runs on
            the unit.
            BITCUT_UNSUPPORTED: as bitcut_gemm().
            BITCUT_NO_MEMORY.
   Args:    threads: number of threads.
   In:      gemm:    the GEMM, or the batch or groups.  Its sizes, matrices, alpha and beta,
                     the bias, the factors, the start, the steps of the epilogue and the
                     sparsity are read, and of D the format.  A recipe or unit that is set is the only one tried.
            options: the options, or NULL.
   Out:     to:      the result, or NULL; written only on success.
            found:   the GEMM with nothing open, or NULL; written only on success.
                     bitcut_gemm_init() has set its size.  It reaches `want`, or has the
                     smallest error if none does.
            why:     the reason.
   - If the unit and the chip are NULL, every chip of `bitcut list chips` is tried.
   - Errors are those of D, rounded to its format, against what the GEMM gives in exact
     arithmetic (bitcut_gemm_judge()) of the operands as they are given, so they include
     what quantization makes.  Step AMAX is left out.  With quantizers or a D of
     fewer bits than f32 there is no bound.
   - The error of a batch, or of groups, is the largest error of its GEMMs.  GEMMs without
     outputs or products have none.
   - Units of integers are tried if A and B have their formats.
   - With zero points, units of integers correct them; all others multiply A and B less
     their zero points, which are FP32 values.  If `found` has such a unit, it has no zero
     points, and its A and B are to be replaced by these values.  Quantizers quantize these
     values.
   - If the result has quantizers, `found` has the unit and where the factors are applied,
     and no factors: bitcut_quantize() makes them and the elements.
   - Quantized operands are not equilibrated.  A quantizer runs on a unit with its block
     scales if there is one.
   - The manual, "bitcut advise", says what is tried and what a product costs.
   - The result is the same for any number of threads. */
enum bitcut_status bitcut_advise(struct bitcut_advice *to, struct bitcut_gemm *found,
                                 const struct bitcut_gemm *gemm,
                                 const struct bitcut_advice_options *options,
                                 int threads, char *why) BITCUT_CHECK_RESULT;

/* --- GEMMs on a device ------------------------------------------------------------ */

/* A device and its kernels.  Threads may share one. */
struct bitcut_device;

/* Open a device by its name.

   Returns: BITCUT_OK.
            BITCUT_BAD_ARGUMENT: the name is not a device name.
            BITCUT_UNSUPPORTED: the backend ("hip", "cpu", ...) is not built in; its
            module is missing or has another version; the device does not exist; or its
            architecture is not supported.
            BITCUT_NO_MEMORY.
   In:      name:   "cuda" or "cuda:0" for the first GPU that CUDA shows, "cuda:1" for the
                    second; "cpu" for the processor of this machine.
   Out:     device: the device; written only on success.  The caller owns it;
                    bitcut_device_close() frees it.
            why:    the reason.
   - The module of CUDA is bitcut-cuda.so.  It is searched for in the folder that the
     environment variable BITCUT_MODULES names; otherwise in the folder of the library,
     and where `make install` puts it.
   - BITCUT_MODULES is read at each call, so no other thread may change the environment
     meanwhile.  It is not read in a process with rights that its caller does not have
     (setuid, setgid, capabilities).
   - Any number of threads may use the device at a time.
   - "cpu" needs AMX or AVX512-BF16, and no module.  Its memory is the memory of the
     process, and streams are not read.  A GEMM that is started is complete when the call
     returns.  It uses as many threads as OpenMP has for the caller (OMP_NUM_THREADS).  */
enum bitcut_status bitcut_device_open(struct bitcut_device **device, const char *name,
                                      char *why) BITCUT_CHECK_RESULT;

/* Free a device.

   Args: device: the device, or NULL.
   - GEMMs that still run are not stopped. */
void bitcut_device_close(struct bitcut_device *device);

/* Return the name that the manufacturer gives the device.

   Returns: the name, valid until the device is closed.
   Args:    device: the device. */
const char *bitcut_device_name(const struct bitcut_device *device) BITCUT_NONNULL(1);

/* Kernels.  A GEMM on a device is computed by a kernel (`bitcut list kernels`).

   - If `kernel` is set, this kernel computes the GEMM.
   - Otherwise a kernel is suitable if it belongs to the recipe; does what the row and the
     variations `promote` and `dropped_term` describe; takes the matrices, splits, slices
     and sizes; and runs on the device, on `unit` if that is set, or on a unit whose
     arithmetic is the same: a chip's mma.sync stands for its wgmma.
   - The first suitable kernel in the order of the list determines the unit, and so the
     bits.  Among the suitable kernels with these bits, the device chooses the one whose
     tile suits the sizes and the device best (the manual, "Tile model").
   - With `any_promotion`, it also chooses among kernels that promote less often.  With
     `any_slices`, it also chooses the number of slices of k, by the sizes: the bits are
     those of the GEMM that bitcut_gemm_choose() returns.
   - Another device may have another unit.  If bits must never change, set the unit or the
     kernel.
   - A device remembers its choice for about the last 100 GEMMs, because choosing takes
     longer than starting.

   Emulation.  If `unit` is set, `kernel` is not, and no kernel is suitable, the device
   emulates the unit.

   - The module must support emulation; the module of CUDA does.
   - It takes every unit, recipe, split, variation and order, and all matrices that
     bitcut_gemm() takes, at strides or by pointers, but no prepared parts.  The bits are
     the same as from bitcut_gemm(), NaN included.
   - The device chooses a method by the numbers of the row of the unit.
     bitcut_gemm_method() returns it.

   Matrices of kernels.

   - Most kernels take f32 matrices at strides.  They take k ascending, in one slice or in
     several slices whose lengths are multiples of the k-step.
   - Kernels for batches of small GEMMs take f16 matrices, at strides or by pointers.
     Their recipe is plain, or fp32 on the unit fma/f32.
   - Each matrix has either layout.  Column-major C and D have the bits of row-major ones.

   Returns, for all calls below.  All arguments are checked before anything is done.
     BITCUT_BAD_ARGUMENT: a rule of struct bitcut_gemm is violated; the kernel is unknown,
     belongs to another recipe, or does not do or take what the GEMM asks for; or the
     device cannot reach a matrix, because it is in the memory of the host or of another
     device.  Pointers in an array on the device are not checked.
     BITCUT_UNSUPPORTED: the device has no kernel for the GEMM; it cannot run the named
     kernel, or not on the unit; or the device reports a failure, which is the reason.
     BITCUT_NO_MEMORY. */

/* Choose what would run, without starting it.

   Returns: as "Kernels" says.
   Args:    device: the device.
   In:      gemm:   the GEMM.
   Out:     ran:    the GEMM with nothing open, with both unit and kernel set;
                    bitcut_gemm_init() has set its size.  It may be `gemm`.
            why:    the reason.
   - To emulate the same GEMM, set `kernel` of the result to NULL.  To run no other
     kernel, set its `unit` to NULL.
   - Matrices are not read.  Of their pointers, the call only checks whether `prepared`
     and `each` are NULL. */
enum bitcut_status bitcut_gemm_choose(struct bitcut_gemm *ran,
                                      const struct bitcut_device *device,
                                      const struct bitcut_gemm *gemm,
                                      char *why) BITCUT_CHECK_RESULT;

/* Return the method by which the device computes a product of parts.

   Returns: "kernel": a kernel runs.
            "native": emulated by an instruction of the device that adds in the same way.
            "tensor": emulated by an instruction that adds more products to more bits.
            "cut":    emulated by integers.
            "simt":   emulated by FP32 operations.
            "steps":  emulated as the emulator does it.
            NULL from the position after the last product on, and if bitcut_gemm_choose()
            would refuse the GEMM.
   Args:    device: the device.
            index:  position of the product, as for bitcut_gemm_unit().
   In:      gemm:   the GEMM. */
const char *bitcut_gemm_method(const struct bitcut_device *device,
                               const struct bitcut_gemm *gemm, size_t index);

/* Return the size of the workspace that one GEMM of the batch needs.

   Returns: as "Kernels" says.
   Args:    device: the device.
   In:      gemm:   the GEMM; its matrices are not read, as for bitcut_gemm_choose().
   Out:     bytes:  bytes of device memory.
            why:    the reason.
   - A batch needs no more than one GEMM.  It computes as many GEMMs at a time as its
     workspace holds.  */
enum bitcut_status bitcut_gemm_workspace(size_t *bytes,
                                         const struct bitcut_device *device,
                                         const struct bitcut_gemm *gemm,
                                         char *why) BITCUT_CHECK_RESULT;

/* Start the batch of GEMMs on a stream, and return without waiting.

   Returns: as "Kernels" says.
   Args:    device:    the device.
            bytes:     bytes of the workspace, at least as many as bitcut_gemm_workspace()
                       returns.
            stream:    a cudaStream_t or hipStream_t of the runtime of the device; NULL is
                       the default stream.
   In:      gemm:      the GEMM.
   In/Out:  workspace: device memory aligned to 256; NULL if no bytes are needed.  It
                       belongs to this batch alone until the batch is done; batches of one
                       stream can share a workspace.
   Out:     gemm->d:   the results, when the stream has reached this point.
            ran:       the GEMM that bitcut_gemm_choose() returns, or NULL.
            why:       the reason.
   - Any device may be current in the thread.  It stays current.
   - The call allocates nothing and synchronises nothing, except that the first call for a
     kernel loads it, which may do both.
   - The stream may be capturing a graph.  The graph can run any number of times while the
     memory exists.
   - With the workspace of all GEMMs together, the same launches compute all GEMMs as
     compute one, up to 65535 GEMMs with their slices.  The GEMMs together need `count`
     times the bytes of one GEMM if they share no operand.
   - With a smaller workspace, as many GEMMs are computed at a time as it holds.  The
     parts of a shared operand are then computed again each time, unless they are
     prepared.
   - "cpu" needs the workspace of one GEMM.
   - A batch of small GEMMs is always one launch.
   - Emulated GEMMs start one after the other, in the workspace of one.  The first GEMM of
     a unit may also synchronise.
   - NaN in D is 0x7fffffff, and 0x7fff in f16.  On "cpu", and where the unit is emulated,
     it is the NaN of bitcut_gemm().
   - Infinities, zeros and subnormals are treated as the unit treats them.
   - NaN and infinities of one GEMM affect no other GEMM.
   - If the device fails, D is undefined. */
enum bitcut_status bitcut_gemm_start(struct bitcut_gemm *ran,
                                     const struct bitcut_device *device,
                                     const struct bitcut_gemm *gemm, void *workspace,
                                     size_t bytes, void *stream,
                                     char *why) BITCUT_CHECK_RESULT;

/* A plan: everything that bitcut_gemm_start() chooses and checks for a GEMM, except the
   addresses, done once.  Threads may share one. */
struct bitcut_plan;

/* Make a plan.

   Returns: as "Kernels" says.
   Args:    device: the device.  It must stay open as long as the plan is used.
   In:      gemm:   the GEMM; its matrices are not read, as for bitcut_gemm_choose().
   Out:     plan:   the plan; written only on success.  The caller owns it;
                    bitcut_plan_free() frees it.
            why:    the reason.
   - bitcut_gemm_choose() returns the GEMM that the plan computes, and
     bitcut_gemm_workspace() its workspace. */
enum bitcut_status bitcut_plan_make(struct bitcut_plan **plan,
                                    const struct bitcut_device *device,
                                    const struct bitcut_gemm *gemm,
                                    char *why) BITCUT_CHECK_RESULT;

/* Start the GEMM of a plan with these matrices.

   Returns: as "Kernels" says, except that the device is not asked whether it can access
            the addresses.
   Args:    plan:      the plan.
            bytes:     bytes of the workspace, as for bitcut_gemm_start().
            stream:    the stream, as for bitcut_gemm_start().
   In:      a, b:      the matrices A and B: first elements, or the array of pointers or
                       the prepared parts if the GEMM of the plan had them.
            c:         the same for C; not read if beta of the plan is 0.
   In/Out:  workspace: the workspace, as for bitcut_gemm_start().
   Out:     d:         the results, as for bitcut_gemm_start().
            why:       the reason.
   - All addresses must be in memory that the device can access; otherwise the device
     reports a failure when it reaches this point of the stream.
   - alpha, beta, sizes, layouts, leading dimensions and strides are those of the plan.
   - The bits are those of bitcut_gemm_start(). */
enum bitcut_status bitcut_plan_start(const struct bitcut_plan *plan, void *d,
                                     const void *a, const void *b, const void *c,
                                     void *workspace, size_t bytes, void *stream,
                                     char *why) BITCUT_CHECK_RESULT BITCUT_NONNULL(1);

/* Free a plan.

   Args: plan: the plan, or NULL.
   - GEMMs that still run are not stopped. */
void bitcut_plan_free(struct bitcut_plan *plan);

/* An operand of a GEMM. */
enum bitcut_operand {
    BITCUT_A, /* matrix A */
    BITCUT_B  /* matrix B */
};

/* Return the size of the prepared parts of one operand.

   Returns: as "Kernels" says.
   Args:    device:  the device.
            operand: the operand.
   In:      gemm:    the GEMM.
   Out:     bytes:   bytes of device memory, a multiple of 256.
            why:     the reason.
   - The size depends only on the size of the operand, k, the split, and whether the
     operand is equilibrated. */
enum bitcut_status bitcut_gemm_prepared_size(size_t *bytes,
                                             const struct bitcut_device *device,
                                             const struct bitcut_gemm *gemm,
                                             enum bitcut_operand operand,
                                             char *why) BITCUT_CHECK_RESULT;

/* Start preparing the parts of the first matrix of an operand, as bitcut_gemm_start()
   starts a GEMM.

   Returns: as "Kernels" says.
   Args:    device:  the device.
            operand: the operand.
            stream:  the stream, as for bitcut_gemm_start().
   In:      gemm:    the GEMM.  `prepared` of the operand is not read.
   Out:     parts:   the prepared parts, in device memory aligned to 256, of
                     bitcut_gemm_prepared_size() bytes.
            why:     the reason.
   - The parts serve any number of GEMMs later in the stream, if their operand has the
     same values, the same split and the same equilibration. */
enum bitcut_status bitcut_gemm_prepare(void *parts, const struct bitcut_device *device,
                                       const struct bitcut_gemm *gemm,
                                       enum bitcut_operand operand, void *stream,
                                       char *why) BITCUT_CHECK_RESULT;

#ifdef __cplusplus
}
#endif

#endif
